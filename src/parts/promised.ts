import { named } from './source.ts';
import type { Spec } from './spec.ts';

/** A document in which shapes of answers that a tool read off examples are open: they say what a client may see, and promise nothing. */
export function promisedOf(spec: Spec): Spec {
  const { all } = spec.endpoints;
  if (all.standing !== 'stated' && all.standing !== 'inferred') return spec;
  const endpoints = Object.entries(all.value).map(([key, endpoint]) => {
    const { response } = endpoint;
    if (response.standing !== 'stated' || !response.value.some(({ shape }) => shape.standing === 'inferred'))
      return [key, endpoint] as const;
    const value = response.value.map((answer) =>
      answer.shape.standing === 'inferred' ? { ...answer, shape: { standing: 'open' as const, at: answer.shape.at } } : answer,
    );
    return [key, { ...endpoint, response: { ...response, value } }] as const;
  });
  return { ...spec, endpoints: { ...spec.endpoints, all: { ...all, value: named(endpoints) } } };
}
