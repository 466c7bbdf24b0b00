import { Spent } from './exchange/budget.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import { NoValue } from './values/no-value.ts';

/** Why a case came to nothing. */
interface Nothing {
  readonly why: string;
  /** What nobody thought of is our own fault: it is told, and says nothing of the service. */
  readonly ownFault?: string;
}

const known = [Untestable, Missing, Spent, NoValue];

/** Why a case of a trial came to nothing, by what it threw. */
export function cameToNothing(error: unknown, trial: string): Nothing {
  const message = error instanceof Error ? error.message : String(error);
  if (known.some((one) => error instanceof one)) return { why: message };
  const where =
    error instanceof Error
      ? (error.stack
          ?.split('\n')
          .slice(1, 4)
          .map((line) => line.trim())
          .join(' ') ?? '')
      : '';
  return {
    why: `ninefold failed: ${message}`,
    ownFault: `A case of ${trial} failed by a fault of ninefold's own: ${message} ${where}`,
  };
}
