import { below } from '../../document/pointer.ts';
import type { Problem } from '../../kinds/problem.ts';
import type { Wrong } from './rule.ts';

/** Those of a kind's problems that one rule is about, at their places below the statement of the kind. */
export function problemsOf(problems: readonly Problem[], at: string, code: string): Wrong[] {
  return problems
    .filter((problem) => problem.code === code)
    .map(({ message, remedy, at: keys, onKey }) => ({
      message,
      ...(remedy !== undefined && { remedy }),
      at: keys.reduce(below, at),
      ...(onKey !== undefined && { onKey }),
    }));
}
