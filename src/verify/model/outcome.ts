import type { Json } from '../../document/document.ts';
import type { Transition } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { callerContext } from './access.ts';
import type { Follow } from './expectation.ts';
import type { Evaluated, Expressions, Known } from './expressions.ts';

/** What is known when a transition is about to be fired. */
export interface FiringCase {
  readonly operation: string;
  readonly row: Readonly<Record<string, Json>>;
  readonly unseen: ReadonlySet<string>;
  readonly request: Json | undefined;
  readonly caller: TrialCaller | undefined;
  readonly nowMs: number;
  /** Reads what the row refers to, as far as it was shown. */
  readonly follow?: Follow;
}

/** The state that a transition leads to, `blocked` where its condition or all of its targets do not hold, or unknown. */
export function outcomeOf(expressions: Expressions, transition: Transition, firing: FiringCase): string {
  const { row, request, unseen } = firing;
  const known: Known = {
    context: {
      ...callerContext(firing.caller),
      resource: row,
      next: row,
      now: firing.nowMs,
      operation: firing.operation,
      ...(request !== undefined && { request }),
      ...(firing.follow && { follow: firing.follow }),
    },
    unseen: { resource: unseen, next: unseen },
  };
  const ask = (condition: NonNullable<Transition['if']>): Evaluated => expressions.evaluate(condition, firing.operation, known);
  const guard = transition.if && ask(transition.if);
  if (guard === 'unknown') return 'unknown';
  if (guard !== undefined && !holds(guard)) return 'blocked';
  for (const target of transition.to) {
    if (!target.if) return target.state;
    const holding = ask(target.if);
    if (holding === 'unknown') return 'unknown';
    if (holds(holding)) return target.state;
  }
  return 'blocked';
}

function holds(evaluated: Evaluated): boolean {
  return typeof evaluated === 'object' && evaluated.value === true;
}
