import type { CaseSent } from './evidence/control.ts';
import { Spent } from './exchange/budget.ts';
import type { Control } from './exchange/claim.ts';
import type { TrialExchange } from './exchange/exchange.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import type { Session } from './session/session.ts';
import { NoValue } from './values/no-value.ts';

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
