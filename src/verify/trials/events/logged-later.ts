import { setTimeout as pause } from 'node:timers/promises';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type EventLog, logOf } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { type Operation, operationsOf } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { dueIn } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { kindsOn } from './expected.ts';
import { hasMoved, isMetBy, rowBefore } from './later.ts';
import { logReaders } from './logged.ts';
import { freshRows, loggedField, loggedKind, readingLog } from './logged-rows.ts';

/** What the clock does is in the log as what callers do. */
export const loggedLater: Trial = {
  name: 'events/logged later',
  part: 'events',
  about: 'A transition that the clock fires has its row in the log.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    const log = logOf(model.spec);
    const [list] = log ? model.endpointsThat('list', log.resource) : [];
    if (!log || !list || loggedField(log, 'event.kind') === undefined || loggedField(log, 'event.row') === undefined) return;
    for (const operation of operationsOf(model.spec)) {
      const { transition } = operation;
      if (operation.by !== 'clock' || !(transition?.after ?? transition?.atTime)) continue;
      for (const kind of kindsOn(model, operation))
        if (!kind.to && !kind.each) yield caseOf(model, { log, list, operation, kind });
    }
  },
};

/** A transition of the clock, an event that it is told by, and the log where that is told. */
interface ToldInLog {
  readonly log: EventLog;
  readonly list: Endpoint;
  readonly operation: Operation;
  readonly kind: EventKind;
}

/** How often is looked whether a row has moved, and how long apart: where much falls due at once it takes its time. */
const looksMost = 10;
const looksApartMs = 100;

function caseOf(model: Model, told: ToldInLog): Case {
  const { log, list, operation, kind } = told;
  const fact: FactName = { kind: 'emitting operations', subject: kind.name };
  return {
    name: `${operation.name}, in the log`,
    facts: [fact],
    async run(session: Session) {
      session.need(session.run.clock.advance !== undefined, 'it comes later: say how the clock is moved with --clock');
      const row = await rowBefore(session, operation);
      await lookAt(session, row);
      const afterMs = operation.transition && dueIn(session, row, operation.transition);
      session.need(afterMs !== undefined && afterMs > 0, `when ${operation.name} is due is not shown, or over already`);
      session.need(!endsWithin(model, session, afterMs), 'the tokens that were given end before that');
      const [reader] = logReaders(session, list, row, row.caller);
      const mayLack = model.access.rules(model.operationOf(list), reader)?.some((rule) => rule.if) === true;
      const pages = () => session.do(readingLog(model, log, list, reader, row));
      const before = await pages();
      await session.wait(afterMs + 1_000);
      let look = await lookAt(session, row);
      for (let looks = 0; looks < looksMost && !hasMoved(operation, look.done.value); looks++) {
        await pause(looksApartMs);
        look = await lookAt(session, row);
      }
      session.claim({
        shrinkingRuns: 2,
        fact,
        reason: `${operation.name} in the log`,
        at: log.at,
        of: [before, look.done, await pages()] as const,
        judge: (old: readonly TrialExchange[], shown: TrialExchange, now: readonly TrialExchange[]) =>
          judged(model, told, { old, shown, now }, mayLack),
      });
    },
  };
}

/** The log before and after, and the row as it was shown then. */
interface Seen {
  readonly old: readonly TrialExchange[];
  readonly shown: TrialExchange;
  readonly now: readonly TrialExchange[];
}

/** `mayLack`: who reads the log may not be shown all of it. */
function judged(model: Model, { log, operation, kind }: ToldInLog, { old, shown, now }: Seen, mayLack: boolean): Judgement {
  if (!isDone(shown) || !hasMoved(operation, shown)) return moot('the clock has not fired it');
  if (kind.if && !isMetBy(model, operation, kind.if, shown)) return moot('whether its condition holds is not known');
  const fresh = freshRows(model, log, old, now);
  const field = loggedField(log, 'event.row') ?? '';
  const id = rowIn(shown)?.[model.identifierField(operation.resource ?? '')];
  if (!fresh || id === undefined) return moot('the log was not read to its end');
  const own = fresh.filter((row) => row[field] === asText(id));
  // What the log says of no kind, or somebody may not read, nobody can tell.
  if (own.some((row) => loggedKind(model, log, row) === undefined))
    return moot('of which kind a row of the log is, it does not say');
  const count = own.filter((row) => loggedKind(model, log, row) === kind).length;
  if (count === 0 && mayLack) return moot('whether its reader may read it is not known');
  return count === 1 ? undefined : { promised: `${operation.name} has one ${kind.name} in the log`, seen: `${count} of it` };
}
