import type { Client } from '../exchange/client.ts';
import type { WantedRow } from '../exchange/row.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';

/** How often in a row no row could be made that was wanted so, and why. */
interface Tries {
  failures: number;
  why: string;
}

/** What so many cases after each other did not come to, each with several draws, the next will not. */
const failuresMost = 4;

const known = new WeakMap<Client, Map<string, Tries>>();

/** Makes a row, unless enough cases have tried in vain to make one that is wanted so. @throws {Untestable} */
export async function unlessFruitless<T>(
  session: Session,
  resource: string,
  wanted: WantedRow,
  make: () => Promise<T>,
): Promise<T> {
  const tries = triesOf(session, resource, wanted);
  if (tries && tries.failures >= failuresMost) throw new Untestable(tries.why);
  try {
    const row = await make();
    if (tries) tries.failures = 0;
    return row;
  } catch (error) {
    if (tries && error instanceof Untestable && saysSomething(session))
      Object.assign(tries, { failures: tries.failures + 1, why: error.message });
    throw error;
  }
}

/** What a limit stopped, or the rows of others, or nobody answered, may go well the next time. */
function saysSomething({ exchanges, model, run }: Session): boolean {
  return (
    run.client.owedMs === undefined &&
    !run.wasFull?.(exchanges) &&
    !exchanges.some((one) => one.trouble || model.refusals.isHurried(one))
  );
}

/** Nothing where it depends on rows that it is wanted below. */
function triesOf({ run }: Session, resource: string, wanted: WantedRow): Tries | undefined {
  const { state, machine, byClock, style, body, caller, parents, blocking, named, asked = [] } = wanted;
  if (Object.keys(parents ?? {}).length > 0) return undefined;
  const all = known.get(run.client) ?? new Map<string, Tries>();
  known.set(run.client, all);
  const who = (caller ?? wanted.for)?.name;
  const through = asked.map(({ field, demand }) => [field, demand.way, demand.source]);
  const key = JSON.stringify([resource, machine?.field, state, byClock, style, body, who, blocking, named?.name, through]);
  const tries = all.get(key) ?? { failures: 0, why: '' };
  all.set(key, tries);
  return tries;
}
