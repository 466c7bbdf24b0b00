import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import { callersFor } from '../make/callers-for.ts';
import { showsWhole } from '../make/look.ts';
import { requestAbout } from '../make/request-about.ts';
import type { TrialRow } from '../make/row.ts';
import type { Allowed } from '../model/access.ts';
import type { TrialCaller } from '../model/callers.ts';
import type { Known } from '../model/expressions.ts';
import { followedIn } from '../model/followed.ts';
import type { Model } from '../model/model.ts';
import { isRefused } from '../model/refused-as.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { bodyFields, isDone, isExchange, type TrialExchange } from '../script/exchange.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Case, Trial } from '../trial.ts';
import { Untestable } from '../untestable.ts';
import { difference } from '../values/difference.ts';
import { identified } from './identities.ts';
import type { Door } from './knocking.ts';
import { missingIdentifier, telltale } from './missing.ts';
import { about, foreignJudgement, ownCode, ownJudgement, readability } from './row-rules.ts';

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
      for (const door of doorsTo(model, resource)) {
        for (const caller of model.callers) {
          if (hasConditions(model, door.operation, caller)) yield caseOf(model, resource, door, caller);
        }
      }
    }
  },
};

/** The operations whose path names a row of a resource. */
function doorsTo(model: Model, resource: string): Door[] {
  return model.operations.flatMap((operation) => {
    const { endpoint } = operation;
    if (!endpoint || resourceOfEffect(statedValue(endpoint.does)) !== resource) return [];
    return identifierParameter(endpoint) === undefined || statedValue(endpoint.does)?.verb === 'upsert'
      ? []
      : [{ operation, endpoint }];
  });
}

/** Whether a rule for this user asks about the row before anything is changed. */
function hasConditions(model: Model, operation: Operation, caller: TrialCaller): boolean {
  if (!caller.credential || model.access.isPublic(operation)) return false;
  const stated = (model.access.rules(operation, caller) ?? []).filter((rule) => rule.if !== undefined);
  return stated.some((rule) => rule.if && model.expressions.reads(rule.if, operation.name, 'resource'));
}

function caseOf(model: Model, resource: string, door: Door, caller: TrialCaller): Case {
  const fact = { kind: 'permission rules', subject: door.operation.name };
  return {
    name: `${door.endpoint.key} as ${caller.name} on rows that others made, and on its own`,
    facts: [fact],
    async run(session: Session) {
      const makers = [...model.callers].sort((one, other) => Number(one === caller) - Number(other === caller));
      // One row that it may act on, and one that it may not.
      const tried = new Set<Allowed>();
      for (const maker of makers) {
        if (tried.has('yes') && tried.has('no')) break;
        const row = await made(session, resource, maker);
        const allowed = row && (await allowedOn(session, door, caller, row));
        if (!row || !allowed || allowed === 'unknown' || tried.has(allowed)) continue;
        if (await tryRow(session, door, caller, row, allowed)) tried.add(allowed);
      }
      session.need(tried.size > 0, `of no ${resource} it could be known whether ${caller.name} may`);
    },
  };
}

async function made(session: Session, resource: string, caller: TrialCaller): Promise<TrialRow | undefined> {
  const { model } = session;
  const ways = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  if (ways.every((endpoint) => model.access.allows(model.operationOf(endpoint), caller) === 'no')) return undefined;
  try {
    const row = await session.make(resource, { caller });
    return row.fields === undefined ? undefined : row;
  } catch (error) {
    if (error instanceof Untestable) return undefined;
    throw error;
  }
}

/** Whether the rules allow an operation on a row, as far as it can be known. */
async function allowedOn(session: Session, { operation }: Door, caller: TrialCaller, row: TrialRow): Promise<Allowed> {
  return session.model.access.allows(operation, await identified(session, caller), knownOf(session, row));
}

/** Tries an operation on one row; whether there was a request for it. */
async function tryRow(session: Session, door: Door, caller: TrialCaller, row: TrialRow, allowed: Allowed): Promise<boolean> {
  const { model } = session;
  const { operation } = door;
  const plan = about(model, door, row, caller);
  if (!plan) return false;
  if (allowed === 'no') {
    await tryForeign(
      session,
      door,
      caller,
      row,
      plan,
      readability(model, row, await identified(session, caller), knownOf(session, row)),
    );
    return true;
  }
  const done = await session.send(plan);
  session.claim({
    fact: { kind: 'permission rules', subject: operation.name },
    reason: 'own',
    of: [...(row.made ? [row.made] : []), done],
    judge: (...seen: readonly TrialExchange[]) =>
      ownJudgement(model, operation, caller, seen.at(-1) as TrialExchange, seen.length > 1 ? seen[0] : undefined),
  });
  return true;
}

/** What is known of a row, and of the rows that it refers to, for conditions. */
function knownOf(session: Session, row: TrialRow): Known {
  const { model } = session;
  const seen = session.run.results.filter((result) => isExchange(result));
  return {
    context: { resource: row.fields ?? {}, follow: followedIn(model, seen) },
    unseen: { resource: model.unseenBy(row.resource, row.caller) },
  };
}

async function tryForeign(
  session: Session,
  door: Door,
  caller: TrialCaller,
  row: TrialRow,
  plan: RequestPlan,
  readable: Allowed,
): Promise<void> {
  const { model } = session;
  const { operation, endpoint } = door;
  const fact = { kind: 'permission rules', subject: operation.name };
  const looking = await ownLook(session, row);
  const before = looking && (await session.send(looking));
  const done = await session.send(plan);
  const code = ownCode(model, operation, caller);
  session.claim({
    fact,
    reason: 'foreign',
    of: [...(row.made ? [row.made] : []), done],
    judge: (...seen: readonly TrialExchange[]) => foreignJudgement(model, operation, caller, readable, code, seen),
  });
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
        return difference(bodyFields(was) ?? null, bodyFields(is) ?? null, 'the row as it was before the refused request');
      },
    });
  }
  if (readable !== 'no' || code !== undefined) return;
  const missing = missingIdentifier(model, row.resource);
  const last = identifierParameter(endpoint);
  if (!missing || last === undefined) return;
  const other = await session.send({ ...plan, path: { ...plan.path, [last]: missing } });
  session.claim({
    fact,
    reason: 'tells',
    of: [done, other],
    judge: (hidden: TrialExchange, none: TrialExchange): Judgement => {
      if (!isRefused(model, hidden) || !isRefused(model, none)) return moot('one of them was not refused');
      const told = telltale(hidden, none);
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
