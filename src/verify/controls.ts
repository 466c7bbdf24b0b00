import type { CaseSent } from './evidence/control.ts';
import { Spent } from './exchange/budget.ts';
import type { Control } from './exchange/claim.ts';
import type { TrialExchange } from './exchange/exchange.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import type { Session } from './session/session.ts';
import { NoValue } from './values/scalars.ts';

/** What a case sent that was never carried out. */
export const nothingSent: CaseSent = { exchanges: [], controls: new Map() };

/** Sends what has to be accepted beside what was refused, one after another, and says what the case sent in all. */
export async function sendControls(
  session: Session,
  course: { control(sent: CaseSent): Control | undefined },
): Promise<CaseSent> {
  const controls = new Map<Control, TrialExchange | undefined>();
  const sent = (): CaseSent => ({ exchanges: session.exchanges, controls });
  for (let next = course.control(sent()); next; next = course.control(sent())) {
    controls.set(next, undefined);
    try {
      controls.set(next, (await session.send(typeof next === 'function' ? await next() : next)).value);
    } catch (error) {
      if (!withoutControl.some((one) => error instanceof one)) throw error;
    }
  }
  return sent();
}

/** Without a control what was refused shows nothing, and that is all. */
const withoutControl = [Untestable, Missing, NoValue, Spent];

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
