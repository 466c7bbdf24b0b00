import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import { machinesOf, statesNamed, transitionNamed } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor, contextOfRow, identified } from '../../make/callers-for.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import type { Door } from '../../make/knocking.ts';
import { showsWhole } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { stateOf } from '../../make/walk.ts';
import type { Allowed } from '../../model/access.ts';
import { steady } from '../../model/clock-changes.ts';
import { missingIdentifier } from '../../model/missing-identifier.ts';
import type { Model } from '../../model/model.ts';
import { isRefused } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { difference } from '../../values/difference.ts';
import { type MovedRow, rowAfterActs, rowLettingIn, rowShuttingOut } from './letting-in.ts';
import {
  foreignJudgement,
  isOfFirstTwo,
  makersFor,
  namedFor,
  ownCode,
  ownJudgement,
  readability,
  staysAllowed,
  telltale,
} from './row-rules.ts';

/** Rows of one's own and of others: what conditions over the row allow and refuse, and that what is hidden is as good as missing. */
export const rows: Trial = {
  name: 'authentication/rows',
  part: 'authentication',
  about:
    'Each operation on a row by each caller: allowed, forbidden, or missing to the letter; and what is refused changes nothing.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [resource] of entriesOf(model.spec.resources.all)) {
      for (const caller of model.callers) {
        const doors = doorsTo(model, resource).filter(({ operation }) => hasConditions(model, operation, caller));
        if (doors.length > 0) yield caseOf(resource, doors, caller);
      }
    }
  },
};

/** The operations whose path names a row of a resource, those that leave it as it is first and those that take it away last. */
export function doorsTo(model: Model, resource: string): Door[] {
  const doors = model.operations.flatMap((operation) => {
    const { endpoint } = operation;
    if (!endpoint || resourceOfEffect(statedValue(endpoint.does)) !== resource) return [];
    return identifierParameter(endpoint) === undefined || statedValue(endpoint.does)?.verb === 'upsert'
      ? []
      : [{ operation, endpoint }];
  });
  const rank = ({ endpoint }: Door) => ['read', 'update', 'replace', 'transition', 'delete'].indexOf(verbOf(endpoint));
  return doors.sort((one, other) => rank(one) - rank(other));
}

function verbOf({ does }: Endpoint): string {
  return statedValue(does)?.verb ?? '';
}

/** Whether a rule for this user asks about the row before anything is changed. */
function hasConditions(model: Model, operation: Operation, caller: TrialCaller): boolean {
  if (!caller.credential || model.access.isPublic(operation)) return false;
  const stated = (model.access.rules(operation, caller) ?? []).filter((rule) => rule.if !== undefined);
  return stated.some((rule) => rule.if && model.expressions.reads(rule.if, operation.name, 'resource'));
}

function caseOf(resource: string, doors: readonly Door[], caller: TrialCaller): Case {
  return {
    name: `${resource} as ${caller.name}, of others and its own`,
    facts: doors.map(({ operation }) => ({ kind: 'permission rules', subject: operation.name })),
    async run(session: Session) {
      // Of each operation one row that the rules allow it on, one of another of the same user, and one of each other user.
      const tried = new Set<string>();
      const met = new Set<string>();
      const ways = makersFor(session.model, caller).flatMap((maker) =>
        namedFor(session.model, resource, caller).map((named) => ({ maker, named })),
      );
      for (const { maker, named } of ways) {
        let row: TrialRow | undefined;
        /** One of this maker's, whatever became of it: what the rules say of it they say of the next. */
        let last: TrialRow | undefined;
        for (const door of doors) {
          const keyOf = (allowed: Allowed) => `${door.operation.name} ${allowed === 'no' ? maker.user : ''}`;
          // In a state in which it may be done: else it would be refused for that.
          if (!row || !isReady(session.model, row, door)) {
            if (last && tried.has(keyOf(await allowedOn(session, door, caller, last)))) continue;
            row = await made(session, resource, { caller: maker, named }, door);
            last = row ?? last;
          }
          if (!row) continue;
          const allowed = await allowedOn(session, door, caller, row);
          const key = keyOf(allowed);
          if (allowed === 'unknown' || tried.has(key)) continue;
          const done = await ifTestable(tryRow(session, door, caller, row, allowed));
          if (done) tried.add(key);
          if (done && (allowed === 'no' || isDone(done.value))) met.add(`${door.operation.name} ${allowed}`);
          if (done && door.endpoint.method !== 'GET' && isDone(done.value)) row = undefined;
        }
      }
      const moved = new Set<MovedRow>();
      for (const [ends, bringAbout] of [
        ['yes', rowLettingIn],
        ['no', rowShuttingOut],
      ] as const)
        for (const door of doors) {
          // What two of a user show of a rule, others show as well.
          if (met.has(`${door.operation.name} ${ends}`) || !isOfFirstTwo(session.model, door.operation, caller)) continue;
          const isWanted = async (one: TrialRow) => (await allowedOn(session, door, caller, one)) === ends;
          const brought = await ifTestable(bringAbout(session, door, caller));
          const row =
            brought && (await isWanted(brought)) ? brought : await rowAfterActs(session, door, caller, { isWanted, moved });
          if (row && (await ifTestable(tryRow(session, door, caller, row, ends)))) tried.add(`${door.operation.name} `);
        }
      session.need(tried.size > 0, `of no ${resource} it could be known whether ${caller.name} may`);
    },
  };
}

async function made(
  session: Session,
  resource: string,
  { caller, named }: { readonly caller: TrialCaller; readonly named: TrialCaller | undefined },
  door: Door,
): Promise<TrialRow | undefined> {
  const { model } = session;
  const ways = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  // What follows from changes of other rows is whose these are.
  const isAlong = ways.length === 0;
  if (!isAlong && ways.every((endpoint) => model.access.allows(model.operationOf(endpoint), caller) === 'no')) return undefined;
  for (const state of new Set([statesFor(door)?.[0], undefined])) {
    const row = await ifTestable(
      session.make(resource, {
        ...(isAlong ? { for: caller } : { caller }),
        ...(named && { named }),
        ...(state !== undefined && { state }),
      }),
    );
    if (row?.fields) return row;
  }
  return undefined;
}

/** The states in which an operation may be done, where it is bound to some. */
function statesFor({ operation, endpoint }: Door): readonly string[] | undefined {
  const from = operation.transition?.from ?? endpoint.in;
  return from === '*' ? undefined : from;
}

function isReady(model: Model, row: TrialRow, door: Door): boolean {
  const states = statesFor(door);
  const { transition } = door.operation;
  const all = machinesOf(model.spec.states, row.resource);
  const machines = transition ? all.filter((one) => entryOf(one.transitions, transition.name)) : all;
  return machines.every((machine) => {
    const named = statesNamed(model.spec.states, machine, states ?? []);
    return named.length === 0 || named.includes(stateOf(row, machine) ?? '');
  });
}

/** Whether the rules allow an operation on a row, as far as it can be known. */
async function allowedOn(session: Session, { operation }: Door, caller: TrialCaller, row: TrialRow): Promise<Allowed> {
  return session.model.access.allows(operation, await identified(session, caller), contextOfRow(session, row));
}

/** Tries an operation on one row. @throws {Untestable} where no request can be made of it */
async function tryRow(session: Session, door: Door, caller: TrialCaller, row: TrialRow, allowed: Allowed) {
  const { model } = session;
  const { operation, endpoint } = door;
  const effect = statedValue(endpoint.does);
  const transition =
    effect?.verb === 'transition' ? transitionNamed(model.spec.states, effect.resource, effect.transition) : undefined;
  // That nothing else is wrong with it leaves the rules alone to refuse it.
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  const plan = await requestAbout(session, row, endpoint, { caller, headers, ...(transition && { transition }) });
  if (allowed === 'no') {
    const readable = readability(model, row, await identified(session, caller), contextOfRow(session, row) ?? { context: {} });
    return tryForeign(session, door, caller, row, plan, readable);
  }
  const done = await session.send(plan);
  session.claim({
    fact: { kind: 'permission rules', subject: operation.name },
    reason: 'own',
    of: [done, row.made ?? done, row.shown ?? row.made ?? done] as const,
    judge: (seen: TrialExchange, made: TrialExchange, last: TrialExchange): Judgement => {
      if (!staysAllowed(model, operation, caller, { resource: row.resource, made, last, seen }))
        return moot('it may be otherwise by now');
      return ownJudgement(model, operation, caller, seen, made === seen ? undefined : made);
    },
  });
  return done;
}

/** What is told who may read a row and not act on it, where errors tell that from other refusals of callers. */
function claimTold(session: Session, operation: Operation, done: Done<TrialExchange>, control: RequestPlan | undefined): void {
  if (session.model.refusals.among('caller.forbidden', operation).length < 2) return;
  claimRefusedAs(session, done, { by: { when: 'caller.forbidden.row' }, what: `${operation.name} on this row`, control });
}

async function tryForeign(
  session: Session,
  door: Door,
  caller: TrialCaller,
  row: TrialRow,
  plan: RequestPlan,
  readable: Allowed,
): Promise<Done<TrialExchange>> {
  const { model } = session;
  const { operation, endpoint } = door;
  const fact = { kind: 'permission rules', subject: operation.name };
  const looking = await ownLook(session, row);
  const before = looking && (await session.send(looking));
  const done = await session.send(plan);
  const code = ownCode(model, operation, caller);
  const control = row.caller && { ...plan, caller: row.caller };
  session.claim({
    fact,
    reason: 'foreign',
    control,
    of: [...(row.made ? [row.made] : []), done],
    judge: (...seen: readonly TrialExchange[]) => foreignJudgement(model, operation, caller, readable, code, seen),
  });
  if (readable === 'yes' && code === undefined) claimTold(session, operation, done, control);
  const after = looking && endpoint.method !== 'GET' ? await session.send(looking) : undefined;
  if (before && after) {
    session.claim({
      fact,
      reason: 'acted',
      of: [before, done, after],
      judge: (was: TrialExchange, act: TrialExchange, is: TrialExchange): Judgement => {
        if (!isDone(was)) return moot('the row was not shown before');
        if (!isRefused(model, act)) return moot('it was not refused');
        if (!isDone(is))
          return { promised: 'what is refused leaves the row as it was', seen: `the row was then answered ${is.status}` };
        const [old, now] = [was, is].map((shown) => steady(model.spec, row.resource, bodyFields(shown) ?? null));
        return difference(old, now, 'the row as it was before the refused request');
      },
    });
  }
  if (readable === 'no' && code === undefined) await compareWithMissing(session, door, row, plan, done);
  return done;
}

/** What is hidden is answered as what is not there. */
async function compareWithMissing(
  session: Session,
  { operation, endpoint }: Door,
  row: TrialRow,
  plan: RequestPlan,
  done: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  const missing = missingIdentifier(model, row.resource);
  const last = identifierParameter(endpoint);
  if (!missing || last === undefined) return;
  const ofMissing = { ...plan, path: { ...plan.path, [last]: missing } };
  const other = await session.send(ofMissing);
  const isTold = telltale(done.value, other.value) !== undefined;
  session.claim({
    fact: { kind: 'permission rules', subject: operation.name },
    reason: 'tells',
    of: [done, other, ...(isTold ? [await session.send(ofMissing)] : [])],
    judge: (...[hidden, none, again]: readonly TrialExchange[]): Judgement => {
      // The first two are always there.
      if (!hidden || !none || !isRefused(model, hidden) || !isRefused(model, none)) return moot('one of them was not refused');
      // Who has too much to do says so of either.
      if ([hidden, none].some((one) => one.status >= 500 || model.refusals.isHurried(one)))
        return moot('one of them could not be answered');
      const told = telltale(hidden, none, again);
      return told === undefined
        ? undefined
        : { promised: 'a row that the caller may not read is answered as one that is not there', seen: told };
    },
  });
}

/** A look at a row by somebody who may. */
async function ownLook(session: Session, row: TrialRow): Promise<RequestPlan | undefined> {
  const { model } = session;
  for (const endpoint of model.endpointsThat('read', row.resource).filter(showsWhole)) {
    const [caller] = callersFor(session, endpoint, row);
    if (caller || namesOperation(model.spec.authentication.public, model.operationOf(endpoint)))
      return requestAbout(session, row, endpoint, { caller });
  }
  return undefined;
}
