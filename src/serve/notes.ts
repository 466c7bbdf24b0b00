import { entriesOf, statedValue } from '../parts/fact.ts';
import { authenticationNotes } from './authentication/notes.ts';
import type { Engine } from './engine.ts';
import { protectingBounds } from './limits/stated-bounds.ts';

/** What a person should know when a service starts: what is stated and not enforced, what is missing, what protects the process. */
export function notesOf(engine: Engine): string[] {
  const { compilation, handlers } = engine;
  const { spec } = compilation;
  const missing = entriesOf(spec.endpoints.all).flatMap(([, { does }]) => {
    const effect = statedValue(does);
    return effect?.verb === 'handler' && !handlers[effect.name] ? [effect.name] : [];
  });
  return [
    ...authenticationNotes(engine),
    ...(missing.length > 0
      ? [
          `No handler is supplied for ${[...new Set(missing)].join(', ')}: ${missing.length === 1 ? 'it answers' : 'they answer'} 501.`,
        ]
      : []),
    protectingBounds(spec.limits),
  ];
}
