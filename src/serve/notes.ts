import { entriesOf, isStated, statedValue } from '../parts/fact.ts';
import type { Engine } from './engine.ts';
import { bodyBytesProtected } from './serve.ts';

/** What a person should know when a service starts: what is stated and not enforced, what is missing, what protects the process. */
export function notesOf(engine: Engine): string[] {
  const { compilation, handlers } = engine;
  const { spec } = compilation;
  const unenforced = [
    isStated(spec.authentication.schemes) || isStated(spec.authentication.permissions) ? 'authentication' : undefined,
    isStated(spec.events.kinds) ? 'events' : undefined,
    isStated(spec.limits.rate) ? 'rate limits' : undefined,
    isStated(spec.limits.quota) ? 'quotas' : undefined,
    isStated(spec.limits.timeout) ? 'time-outs' : undefined,
    isStated(spec.versioning.versions) ? 'versioning' : undefined,
  ].filter((part) => part !== undefined);
  const user = compilation.user;
  const missing = entriesOf(spec.endpoints.all).flatMap(([, { does }]) => {
    const effect = statedValue(does);
    return effect?.verb === 'handler' && !handlers[effect.name] ? [effect.name] : [];
  });
  const sizes = statedValue(spec.limits.size);
  return [
    ...(unenforced.length > 0 ? [`Stated and not enforced yet: ${unenforced.join(', ')}.`] : []),
    `Every caller is taken for { id: 'local', user: ${user === undefined ? 'none' : `'${user}'`}, scopes: [] }.`,
    ...(missing.length > 0
      ? [
          `No handler is supplied for ${[...new Set(missing)].join(', ')}: ${missing.length === 1 ? 'it answers' : 'they answer'} 501.`,
        ]
      : []),
    ...(sizes?.body === undefined
      ? [`Bodies of more than ${bodyBytesProtected / 1024 / 1024} MiB are refused, to protect the process.`]
      : []),
  ];
}
