import { setTimeout as pause } from 'node:timers/promises';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type EventLog, logOf } from '../../../parts/event-log.ts';
import type { Operation } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { callersFor } from '../../make/callers-for.ts';
import { endsWithin } from '../../make/ends.ts';
import { walkingPages, widest } from '../../make/pages.ts';
import { ready } from '../../make/readied.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { changing, deliveryFact } from './changing.ts';
import { loggedReasons } from './logged.ts';
import { freshRows } from './logged-rows.ts';
import { sureKind } from './pair.ts';

/** A row of the log is there for its time, and then no more. */
export const logKept: Trial = {
  name: 'events/log kept',
  part: 'events',
  about: 'Just before the stated time is over a row of the log is still there; a while after it is gone.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    const log = logOf(model.spec);
    const [list] = log ? model.endpointsThat('list', log.resource) : [];
    const operation = changing(model).find((one) => one.endpoint?.does && sureKind(model, one));
    if (!log?.keepMs || !Number.isFinite(log.keepMs) || !list || !operation) return;
    const { keepMs } = log;
    yield {
      name: `${operation.name}, ${keepMs / 1000} s later`,
      facts: [deliveryFact],
      run: (session) => keptFor(session, { log, list, operation, keepMs }),
    };
  },
};

interface Keeping {
  readonly log: EventLog;
  readonly list: Endpoint;
  readonly operation: Operation;
  readonly keepMs: number;
}

async function keptFor(session: Session, { log, list, operation, keepMs }: Keeping): Promise<void> {
  const { model, run } = session;
  session.need(run.clock.advance !== undefined, `rows are kept for ${keepMs / 1000} s: say how the clock is moved with --clock`);
  session.need(!endsWithin(model, session, 1.5 * keepMs), 'the tokens that were given end before that');
  session.need(operation.endpoint !== undefined, `no caller reaches ${operation.name}`);
  const { request } = await ready(session, operation.endpoint);
  const readers = callersFor(session, list);
  const reader = readers.includes(request.caller as (typeof readers)[number]) ? request.caller : readers[0];
  const plan = model.request(list, { query: widest(model, list), caller: reader });
  const before = await session.do(walkingPages(model, plan));
  const acted = await session.send(request);
  const made = await session.do(walkingPages(model, plan));
  const first = await session.wait(Math.floor(keepMs * 0.8));
  // What goes too soon has gone by the second look.
  const looked = await session.do(walkingPages(model, plan));
  const still = await session.wait(Math.floor(keepMs * 0.1));
  const nearly = await session.do(walkingPages(model, plan));
  const passed = await session.wait(Math.ceil(keepMs * 0.2));
  let over = await session.do(walkingPages(model, plan));
  // Where much goes at once it takes its time.
  for (let looks = 0; looks < looksMost && hasRow(session, log, over.value, made.value, before.value); looks++) {
    await pause(100);
    over = await session.do(walkingPages(model, plan));
  }
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: loggedReasons.kept,
    at: log.at,
    of: [before, acted, made, first, looked, still, nearly, passed, over] as const,
    judge(old: Pages, act: TrialExchange, now: Pages, _first, _looked, _still, late: Pages, _passed, gone: Pages): Judgement {
      const fresh = isDone(act) ? freshRows(model, log, old, now) : undefined;
      const [there, left] = [freshRows(model, log, old, late), freshRows(model, log, old, gone)];
      const key = model.identifierField(log.resource);
      const [row] = fresh ?? [];
      if (!row || !there || !left) return moot('no row was shown');
      const isIn = (rows: typeof there) => rows.some((one) => one[key] === row[key]);
      if (!isIn(there)) return { promised: `a row of the log is kept for ${keepMs / 1000} s`, seen: 'it is gone before' };
      return isIn(left)
        ? { promised: `a row of the log is gone after ${keepMs / 1000} s`, seen: 'it is still there' }
        : undefined;
    },
  });
}

type Pages = readonly TrialExchange[];

const looksMost = 10;

/** Whether the row that was made is among some others. */
function hasRow({ model }: Session, log: EventLog, rows: Pages, now: Pages, old: Pages): boolean {
  const key = model.identifierField(log.resource);
  const [row] = freshRows(model, log, old, now) ?? [];
  return row !== undefined && freshRows(model, log, old, rows)?.some((one) => one[key] === row[key]) === true;
}
