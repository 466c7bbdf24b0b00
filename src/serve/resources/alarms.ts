import { entriesOf } from '../../parts/fact.ts';
import { instantMicroseconds } from '../exchange/column.ts';
import { type Compilation, isFailed } from '../exchange/compilation.ts';
import type { TimedTransition } from './states.ts';

/** An event that the clock tells of a row at its time. */
export interface EventAlarm extends TimedTransition {
  /** Its kind. */
  readonly kind: string;
}

/** Compiles when the clock tells of the rows of a resource. */
export function compileAlarms(resource: string, compilation: Compilation): EventAlarm[] {
  return entriesOf(compilation.spec.events.kinds).flatMap(([kind, { clock }]) => {
    if (clock?.of !== resource) return [];
    const evaluate = compilation.expression(clock.at);
    return [
      {
        kind,
        // No transition has a blank in its name.
        name: `event ${kind}`,
        leaves: () => true,
        due(_fields, _enteredMs, scope) {
          const value = evaluate(scope);
          if (isFailed(value) || typeof value !== 'string') return undefined;
          const ms = instantMicroseconds(value);
          return ms === null ? undefined : { ms: Math.ceil(ms / 1000), token: value };
        },
      },
    ];
  });
}
