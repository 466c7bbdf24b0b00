import type { Json } from '../../../document/document.ts';
import type { Following, FollowingEffect } from '../../../parts/effects.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type Expression, entryOf, statedValue } from '../../../parts/fact.ts';
import { type Followed, followedOf, followingName, referringRows, transitionOf } from '../../../parts/followed.ts';
import { type Machine, machineWith, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Captured, type Symbolic } from '../../exchange/symbol.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import { openToFire, stateSent, statesOf, walkTo } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowsShown, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { claimMade, claimMoved, listReferring } from './follow-claims.ts';

/** What is stated to follow from a change is there after it, once; and where it is refused, so is the change. */
export const following: Trial = {
  name: 'states/following',
  part: 'states',
  about: 'What is to follow from a change is there after it, once; where it is refused nothing of the change is.',
  noise: 'quiet',
  *cases(model) {
    for (const followed of followedOf(model.spec)) {
      const endpoint = bringingAbout(model, followed);
      if (!endpoint) continue;
      const facts = [factOf(followed, endpoint)];
      for (const act of followed.acts) {
        const { does } = act;
        // What is sent with a row is a trial of its own.
        if (!does || act.children !== undefined) continue;
        const name = `${followingName(does)} after ${endpoint.operation}`;
        yield { name, facts, run: (session) => carriedOut(session, { followed, act, does, endpoint }) };
        if (does.verb === 'create' && typeof followed.change !== 'string' && followed.change.transition.from !== '*')
          yield {
            name: `${name}, in a wrong state`,
            facts,
            run: (session) => nothingMade(session, { followed, act, does, endpoint }),
          };
        if (refusable(model, act, does))
          yield { name: `${name}, refused`, facts, run: (session) => refused(session, { followed, act, does, endpoint }) };
      }
    }
  },
};

/** An act that follows from what a caller does. */
interface Chain {
  readonly followed: Followed;
  readonly act: Following;
  readonly does: FollowingEffect;
  readonly endpoint: Endpoint;
}

/** The endpoint by which a caller brings the change about. */
function bringingAbout(model: Model, { resource, change }: Followed): Endpoint | undefined {
  if (typeof change !== 'string') {
    const { transition } = change;
    return model.endpointOfTransition(resource, transition.name) ?? model.updatesOf(resource, transition)[0];
  }
  // What an update changes, and whether it changes anything, is drawn: too little to say what follows.
  return change === 'updated' ? undefined : model.endpointsThat(change === 'created' ? 'create' : 'delete', resource)[0];
}

/** What follows from a transition is a matter of the machine; what follows from another change, of the endpoint's effect. */
function factOf({ resource, change }: Followed, endpoint: Endpoint): FactName {
  return typeof change === 'string'
    ? { kind: 'response payload shapes', subject: endpoint.key }
    : { kind: 'transitions', subject: resource };
}

async function carriedOut(session: Session, chain: Chain): Promise<void> {
  const { followed, act, does, endpoint } = chain;
  const { model } = session;
  const fact = factOf(followed, endpoint);
  const named = { model, act, does, followed, fact, reason: `${followingName(does)} follows ${endpoint.operation}` };
  const field = tieOf(model, chain);
  const row = followed.change === 'created' ? undefined : await changing(session, followed);
  if (field !== undefined && row && does.verb !== 'create') {
    const transition = transitionOf(model.spec, does);
    const other = await session.make(does.resource, { parents: { [field]: row }, ...leaving(transition) });
    if (transition) await ifTestable(openToFire(session, other, transition));
  }
  const was = row && (await lookAt(session, row)).done;
  const before = row && field !== undefined ? await listReferring(session, does.resource, field, row) : undefined;
  const target = field === undefined && row ? await targetOf(session, chain, row) : undefined;
  const made = row ?? (await session.make(followed.resource));
  const change = row ? await session.send(await asking(session, row, chain)) : made.made;
  session.need(change !== undefined, `rows of ${followed.resource} are given, not made`);
  if (field !== undefined) {
    const after = await listReferring(session, does.resource, field, made);
    session.need(after !== undefined, `no list shows the rows of ${does.resource} that refer to a ${followed.resource}`);
    if (does.verb === 'create') claimMade(session, named, { field, change, was, before, after });
    else if (before) claimMoved(session, named, { field, change, was, before, after });
    return;
  }
  const row2 = target ?? (await targetOf(session, chain, made));
  await claimTarget(session, chain, change, row2, fact);
}

/** The field by which rows that are made, or that something is done to, refer to what changed. */
function tieOf(model: Model, { followed, act, does }: Chain): string | undefined {
  if (does.verb !== 'create') return act.each && !act.to ? referringRows(model.spec, act.each)?.field : undefined;
  const own = `next.${model.identifierField(followed.resource)}`;
  const resource = model.resource(does.resource);
  const tied = Object.entries(act.set).find(
    ([name, { source }]) => source.trim() === own && resource && entryOf(resource.fields, name)?.ref === followed.resource,
  );
  if (!tied) throw new Untestable(`nothing of a new ${does.resource} says from which ${followed.resource} it came`);
  return tied[0];
}

/** A row to which the change can be done. */
async function changing(session: Session, { resource, change }: Followed): Promise<TrialRow> {
  if (typeof change === 'string') return session.make(resource, { style: 'full' });
  const row = await session.make(resource, { style: 'full', ...leaving(change.transition) });
  await openToFire(session, row, change.transition);
  return row;
}

function leaving(transition: Transition | undefined): { readonly state?: string } {
  const [state] = !transition || transition.from === '*' ? [] : transition.from;
  return state === undefined ? {} : { state };
}

async function asking(session: Session, row: TrialRow, { endpoint, followed }: Chain): Promise<RequestPlan> {
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const transition = typeof followed.change === 'string' ? undefined : followed.change.transition;
  const machine = transition && machineWith(session.model.spec.states, row.resource, transition.name);
  const [target] = transition?.to ?? [];
  // An update is a transition by the state that it sends.
  if (machine && target && statedValue(endpoint.does)?.verb === 'update')
    return requestAbout(session, row, endpoint, { caller, headers, json: stateSent(endpoint, machine, target.state) });
  return requestAbout(session, row, endpoint, { caller, headers, ...(transition && { transition }) });
}

/** The row that something is done to, as a field of what changed names it: the field itself, or the first in its list. */
async function targetOf(session: Session, { act, does }: Chain, row: TrialRow): Promise<TrialRow> {
  const source = act.to?.source.trim() ?? '';
  const path = source === 'item' || source === '' ? act.each?.source.trim() : source;
  const [, name = ''] = /^(?:next|resource)\.(\w+)$/.exec(path ?? '') ?? [];
  const shown = row.known[name];
  session.need(shown instanceof Captured, `which ${does.resource} is meant is not shown`);
  const { spot, step } = shown;
  const id: Symbolic =
    act.each && path !== source && spot.in === 'body' ? new Captured(step, { ...spot, pointer: [...spot.pointer, 0] }) : shown;
  const target: TrialRow = { resource: does.resource, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
  await lookAt(session, target);
  return target;
}

/** What something was to be done to is where the transition leads. */
async function claimTarget(
  session: Session,
  { act, does, endpoint }: Chain,
  change: Done<TrialExchange>,
  target: TrialRow,
  fact: FactName,
): Promise<void> {
  const { model } = session;
  const transition = transitionOf(model.spec, does);
  const machine = transition && machineWith(model.spec.states, does.resource, transition.name);
  session.need(transition !== undefined && machine !== undefined && act.if === undefined, 'whether it is done cannot be told');
  const after = (await lookAt(session, target)).done;
  const targets = transition.to.map(({ state }) => state);
  session.claim({
    fact,
    reason: `${followingName(does)} follows ${endpoint.operation}`,
    at: act.at,
    of: [change, after] as const,
    judge(changed: TrialExchange, seen: TrialExchange) {
      if (!isDone(changed)) return moot('the change was not made');
      const row = rowWith(model, seen, idIn(model, seen));
      const state = row?.[machine.field];
      if (row === undefined || state === undefined) return moot(`the ${does.resource} is not shown`);
      if (transition.if && !allows(model, transition.if, row)) return moot(`${followingName(does)} has a condition of its own`);
      if (targets.includes(asText(state))) return undefined;
      return { promised: `${followingName(does)} after ${endpoint.operation}: ${targets.join(' or ')}`, seen: asText(state) };
    },
  });
}

/** Whether a condition of a transition holds for a row, as it is shown after what could have fired it. */
function allows(model: Model, condition: Expression, row: ShownFields): boolean {
  const told = model.expressions.evaluate(condition, undefined, { context: { resource: row as Json, next: row as Json } });
  return typeof told === 'object' && told.value === true;
}

/** Whether a row can be named that an act cannot be done to. */
function refusable(model: Model, { to, each, if: condition, skips }: Following, does: FollowingEffect): boolean {
  const transition = transitionOf(model.spec, does);
  const isNamed = /^\s*(?:next|resource)\.\w+\s*$/.test(to?.source ?? '') && each === undefined;
  return isNamed && !condition && !skips && transition !== undefined && transition.from !== '*';
}

/** Where the row that something is to be done to does not allow it, the change is refused and nothing of it is there. */
async function refused(session: Session, chain: Chain): Promise<void> {
  const { followed, does, endpoint, act } = chain;
  const { model } = session;
  const transition = transitionOf(model.spec, does);
  const machine = transition && machineWith(model.spec.states, does.resource, transition.name);
  session.need(transition !== undefined && machine !== undefined && followed.change !== 'created', 'it is made by the change');
  const row = await changing(session, followed);
  const target = await targetOf(session, chain, row);
  const wrong = statesOf(machine).filter((state) => transition.from !== '*' && !transition.from.includes(state));
  await walkToAny(session, target, machine, wrong);
  const before = (await lookAt(session, row)).done;
  const [seen] = [(await lookAt(session, target)).done];
  const done = await session.send(await asking(session, row, chain));
  const fact = factOf(followed, endpoint);
  session.claim({
    fact,
    reason: `${endpoint.operation} refused with what follows`,
    at: act.at,
    of: [done, seen] as const,
    control: async () => asking(session, await changing(session, followed), chain),
    judge(tried: TrialExchange, shown: TrialExchange) {
      const state = rowWith(model, shown, idIn(model, shown))?.[machine.field];
      if (typeof state !== 'string' || !wrong.includes(state)) return moot('it was in another state');
      if (!isDone(tried)) return tried.status >= 500 ? moot('the service failed') : undefined;
      return {
        promised: `${endpoint.operation} is refused with a ${does.resource} that is ${state}`,
        seen: `${tried.status}${briefly(tried)}`,
      };
    },
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}

/** In a state that does not allow the change nothing follows from it. */
async function nothingMade(session: Session, chain: Chain): Promise<void> {
  const { followed, act, does, endpoint } = chain;
  const { model } = session;
  const { change, resource } = followed;
  const machine = typeof change === 'string' ? undefined : machineWith(model.spec.states, resource, change.transition.name);
  const field = tieOf(model, chain);
  session.need(typeof change !== 'string' && machine !== undefined && field !== undefined, 'it is in no state');
  const { from } = change.transition;
  const wrong = statesOf(machine).filter((state) => from !== '*' && !from.includes(state));
  const row = await session.make(resource);
  if (from === '*' || from.includes(asText(row.fields?.[machine.field]))) await walkToAny(session, row, machine, wrong);
  const before = await listReferring(session, does.resource, field, row);
  const done = await session.send(await asking(session, row, chain));
  const after = await listReferring(session, does.resource, field, row);
  session.need(before !== undefined && after !== undefined, `no list shows the rows of ${does.resource} of a ${resource}`);
  session.claim({
    fact: factOf(followed, endpoint),
    reason: `${endpoint.operation} refused without what follows`,
    at: act.at,
    of: [done, before, after] as const,
    control: async () => asking(session, await changing(session, followed), chain),
    judge(tried: TrialExchange, then: TrialExchange, now: TrialExchange) {
      if (isDone(tried) || tried.status >= 500) return moot('it was not refused');
      // What others make meanwhile is of other rows.
      const id = asText(idIn(model, tried));
      const [old, fresh] = [then, now].map(
        (shown) => rowsShown(model, shown)?.rows.filter((one) => one[field] === undefined || asText(one[field]) === id).length,
      );
      if (old === undefined || fresh === undefined) return moot('the rows are not shown');
      return fresh === old ? undefined : { promised: `${old} ${does.resource} as before what was refused`, seen: `${fresh}` };
    },
  });
}

/** @throws {Untestable} where nobody can bring it into any of the states. */
async function walkToAny(session: Session, target: TrialRow, machine: Machine, states: readonly string[]): Promise<void> {
  let why: unknown = new Untestable(`a ${target.resource} is in no other state`);
  for (const state of states) {
    try {
      await walkTo(session, target, state, { machine });
      return;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      why = error;
    }
  }
  throw why;
}
