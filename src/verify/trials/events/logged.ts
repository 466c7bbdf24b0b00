import { setTimeout as pause } from 'node:timers/promises';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type EventLog, logOf } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { creationsOf } from '../../make/made.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { rowIn, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';
import { changeIn, emittedFor, kindsOn } from './expected.ts';
import { kindsAbout } from './heard.ts';
import { freshRows, loggedCount, loggedField, loggedFlaw, loggedKind, loggedPayload, readingLog } from './logged-rows.ts';
import { sureKind } from './pair.ts';
import { changing, deliveryFact, kindsFact } from './reached.ts';

/** The reasons of what is claimed of the log, by which it is known what was looked at. */
export const loggedReasons = { rows: 'rows of the log', kept: 'kept in the log' } as const;

/** Each change has its rows in the log of events, as they are stated, and none else. */
export const logged: Trial = {
  name: 'events/logged',
  part: 'events',
  about: 'Each operation makes exactly the rows of its events in the log, as stated, for those who may read them.',
  noise: 'alone',
  *cases(model) {
    const log = logOf(model.spec);
    const [list] = log ? model.endpointsThat('list', log.resource) : [];
    if (!log || !list) return;
    for (const operation of changing(model)) if (kindsOn(model, operation).length > 0) yield caseOf(model, log, list, operation);
  },
};

function caseOf(model: Model, log: EventLog, list: Endpoint, operation: Operation): Case {
  const kinds = kindsAbout(model, operation);
  const facts = kinds.flatMap(({ name: subject }) => [
    { kind: 'emitting operations', subject },
    { kind: 'payload shapes', subject },
  ]);
  return {
    name: `${operation.name}, in the log`,
    facts: [...facts, kindsFact, deliveryFact],
    async run(session: Session) {
      session.need(
        loggedField(log, 'event.kind') !== undefined || kinds.length === 1,
        'the log does not say of which kind an event is',
      );
      const seen = await carriedOut(session, log, list, operation);
      for (const read of seen.reads) for (const kind of kinds) claimRows(session, log, operation, kind, { ...seen, ...read });
      for (const read of seen.reads) claimKinds(session, log, { ...seen, ...read });
    },
  };
}

/** Who reads the log, and its pages before a change. */
interface Begun {
  readonly reader: TrialCaller | undefined;
  readonly before: Done<readonly TrialExchange[]>;
}

/** Its pages before and after a change. */
interface Read extends Begun {
  readonly after: Done<readonly TrialExchange[]>;
}

/** What was seen of a change: the row before, and what made the row. */
interface Acted {
  readonly shown: Done<TrialExchange> | undefined;
  readonly acted: Done<TrialExchange>;
  readonly beside: readonly Done<TrialExchange>[];
}

type Seen = Acted & Read;

/** The operation, with the log read before and after it by some who may. @throws {Untestable} */
async function carriedOut(
  session: Session,
  log: EventLog,
  list: Endpoint,
  operation: Operation,
): Promise<Acted & { readonly reads: readonly Read[] }> {
  const { model } = session;
  const { endpoint, name } = operation;
  if (!endpoint) throw new Untestable(`no caller reaches ${name}`);
  let why = '';
  for (const style of ['whole', 'full', 'plain'] as const) {
    const { request, row } = await ready(session, endpoint, { style });
    const look = row && (await lookAt(session, row));
    const readers = logReaders(session, list, row, request.caller);
    const pagesOf = (reader: TrialCaller | undefined) => session.do(readingLog(model, log, list, reader, row));
    const begun: Begun[] = [];
    for (const reader of readers) begun.push({ reader, before: await pagesOf(reader) });
    const acted = await session.send(request);
    if (isDone(acted.value)) {
      const reads: Read[] = [];
      for (const read of begun) reads.push({ ...read, after: await pagesOf(read.reader) });
      const fields = { ...look?.fields, ...rowIn(acted.value) };
      return { reads, shown: look?.done, acted, beside: creationsOf(session, operation.resource ?? '', fields) };
    }
    why = `${name} was answered ${acted.value.status}${briefly(acted.value)}`;
  }
  throw new Untestable(why);
}

/** Who reads the log: whoever acts or made the row, where it may, and somebody else by chance, of another user where there is one. @throws {Untestable} */
export function logReaders(
  session: Session,
  list: Endpoint,
  row: TrialRow | undefined,
  actor: TrialCaller | undefined,
): readonly (TrialCaller | undefined)[] {
  const { model, chance } = session;
  const readers = callersFor(session, list);
  if (readers.length === 0 && model.access.allows(model.operationOf(list), undefined) !== 'no') return [undefined];
  session.need(readers.length > 0, 'nobody who can be spoken for may read the log');
  const [first = chance.pick(readers)] = [actor, row?.caller].filter((one) => one && readers.includes(one));
  const others = readers.filter((one) => one !== first);
  const ofOthers = others.filter(({ user }) => user !== first?.user);
  return others.length === 0 ? [first] : [first, chance.pick(ofOthers.length > 0 ? ofOthers : others)];
}

type Exchanges = readonly [readonly TrialExchange[], TrialExchange, readonly TrialExchange[], TrialExchange, ...TrialExchange[]];

function claimRows(session: Session, log: EventLog, operation: Operation, kind: EventKind, seen: Seen): void {
  const { model } = session;
  const { shown, before, acted, after, beside, reader } = seen;
  const of = [before, acted, after, shown ?? acted, ...beside] as const;
  const found = (...[old, act, now, look, ...others]: Exchanges) => {
    const change = changeIn(model, operation, { shown: shown && look, acted: act, beside: others });
    const fresh = isDone(act) ? freshRows(model, log, old, now) : undefined;
    const id = (change.after ?? change.before)?.[model.identifierField(operation.resource ?? '')];
    const field = loggedField(log, 'event.row');
    // What the clock or somebody else tells of meanwhile is of other rows.
    const isOwn = (row: ShownFields) => field === undefined || id === undefined || row[field] === asText(id);
    return { change, rows: fresh?.filter((row) => loggedKind(model, log, row) === kind && isOwn(row)) };
  };
  const both = { shrinkingRuns: 2, reason: loggedReasons.rows, at: log.at, of };
  session.claim({
    ...both,
    fact: { kind: 'emitting operations', subject: kind.name },
    judge: (...all: Exchanges): Judgement => loggedCount(model, log, kind, reader, found(...all)),
  });
  session.claim({
    ...both,
    fact: { kind: 'payload shapes', subject: kind.name },
    judge(...all: Exchanges): Judgement {
      const { change, rows } = found(...all);
      const items = emittedFor(model, kind, change);
      if (!rows || rows.length === 0 || rows.length !== items?.length) return moot('none came, or not as many as stated');
      return loggedPayload(model, log, kind, change, items, rows, reader);
    },
  });
  session.claim({
    ...both,
    fact: deliveryFact,
    judge(...all: Exchanges): Judgement {
      const { change, rows } = found(...all);
      if (!rows || rows.length === 0 || kind.each) return moot('none came');
      return rows.map((row) => loggedFlaw(model, log, kind, change, row)).find((flaw) => flaw !== undefined);
    },
  });
}

/** That no row is of a kind that no document states. */
function claimKinds(session: Session, log: EventLog, { before, acted, after }: Seen): void {
  const { model } = session;
  session.claim({
    shrinkingRuns: 2,
    fact: kindsFact,
    reason: loggedReasons.rows,
    at: log.at,
    of: [before, acted, after] as const,
    judge(old: readonly TrialExchange[], act: TrialExchange, now: readonly TrialExchange[]): Judgement {
      const name = loggedField(log, 'event.kind');
      const fresh = isDone(act) && name !== undefined && !model.spec.events.others ? freshRows(model, log, old, now) : undefined;
      if (!fresh || fresh.length === 0) return moot('no row came');
      const called = entriesOf(model.spec.events.kinds).map(([, kind]) => kind.called);
      const stranger = fresh.find((row) => !called.includes(asText(row[name ?? ''])));
      return (
        stranger && { promised: `events are of these kinds: ${called.join(', ')}`, seen: oneLine(stranger[name ?? ''] ?? null) }
      );
    },
  });
}

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
  const plan = () => readingLog(model, log, list, reader);
  const before = await session.do(plan());
  const acted = await session.send(request);
  const made = await session.do(plan());
  const first = await session.wait(Math.floor(keepMs * 0.8));
  // What goes too soon has gone by the second look.
  const looked = await session.do(plan());
  const still = await session.wait(Math.floor(keepMs * 0.1));
  const nearly = await session.do(plan());
  const passed = await session.wait(Math.ceil(keepMs * 0.2));
  let over = await session.do(plan());
  // Where much goes at once it takes its time.
  for (let looks = 0; looks < looksMost && hasRow(session, log, over.value, made.value, before.value); looks++) {
    await pause(100);
    over = await session.do(plan());
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
