import { placeOf } from '../document/place.ts';
import type { Endpoint } from '../parts/endpoints.ts';
import { entriesOf, isStated } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import { type PlannedCase, planOf } from './asked.ts';
import { Model } from './model/model.ts';
import type { VerifyOptions } from './options.ts';
import type { Untried } from './report.ts';
import type { Trial } from './session/trial.ts';

/** What a stated answer or body keeps trials from: they know only what the rules of the language say of it. */
const stating = ['request', 'response'] as const;

/** The trials that would have more to try if endpoints did not state their bodies and answers in their own words. */
export function untriedOf(trials: readonly Trial[], model: Model, options: VerifyOptions): Untried[] {
  if (options.replay !== undefined) return [];
  const { spec } = model;
  const planned = new Set(planOf(trials, model, options).map(nameOf));
  return stating.flatMap((word) => {
    const stated = model.endpoints.filter((endpoint) => isStated<unknown>(endpoint[word]));
    if (stated.length === 0) return [];
    const plainer = new Model(without(spec, word), [...model.callers, ...model.strangers], model.basePath, {
      conventions: model.conventions,
    });
    const more = planOf(trials, plainer, options).filter((one) => !planned.has(nameOf(one)));
    return stated.flatMap((endpoint) => {
      const names = more.filter((one) => isAbout(one, endpoint)).map(({ trial }) => trial.name);
      if (names.length === 0) return [];
      const place = placeOf(spec.document, endpoint[word].at);
      return [{ stated: `${word} of ${endpoint.key}`, place, trials: [...new Set(names)].sort() }];
    });
  });
}

function nameOf({ trial, testCase }: PlannedCase): string {
  return `${trial.name}@${testCase.name}`;
}

function isAbout({ testCase }: PlannedCase, { key, operation }: Endpoint): boolean {
  return [testCase.name, ...testCase.facts.map(({ subject }) => subject)].some((name) =>
    [key, operation].some((one) => ` ${name},`.includes(` ${one} `) || ` ${name},`.includes(` ${one},`)),
  );
}

/** The same document, in which no endpoint states this. */
function without(spec: Spec, word: (typeof stating)[number]): Spec {
  const { all } = spec.endpoints;
  if (!('value' in all)) return spec;
  const value = Object.assign(
    Object.create(null),
    Object.fromEntries(
      entriesOf(all).map(([key, endpoint]) => [key, { ...endpoint, [word]: { standing: 'open', at: endpoint[word].at } }]),
    ),
  );
  return { ...spec, endpoints: { ...spec.endpoints, all: { ...all, value } } };
}
