import type { Json } from '../../../document/document.ts';
import type { Following, FollowingEffect } from '../../../parts/effects.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { type Followed, fieldNaming, followedOf, followingName, transitionOf } from '../../../parts/followed.ts';
import { type Machine, machineWith, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow, WantedRow } from '../../exchange/row.ts';
import { Captured, type Symbolic } from '../../exchange/symbol.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { imaginedOf, valuesThatFit } from '../../make/fitting-values.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import { openToFire, stateSent, statesOf, walkTo } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { claimMade, claimMoved, claimSet, claimTarget } from './follow-claims.ts';
import { type Chain, listReferring, rowsTiedTo, type Tie, tiedId, tiedTo, tieOf } from './tied-rows.ts';

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

/** Beside one row that refers to what changes there are so many, each in another state. */
const othersMost = 2;

async function carriedOut(session: Session, chain: Chain): Promise<void> {
  const { followed, act, does, endpoint } = chain;
  const { model } = session;
  const fact = factOf(followed, endpoint);
  const named = { model, act, does, followed, fact, reason: `${followingName(does)} follows ${endpoint.operation}` };
  const tie = tieOf(model, chain);
  const row = followed.change === 'created' ? undefined : await changing(session, followed, bodyUnder(session, chain));
  if (tie && row && does.verb !== 'create') {
    const transition = transitionOf(model.spec, does);
    const other = await session.make(does.resource, { parents: { [tie.field]: row }, ...leaving(transition) });
    if (transition) await ifTestable(openToFire(session, other, transition));
    // Of each state that it may be done in there is one, as far as it can be brought there.
    const others = transition && transition.from !== '*' ? transition.from.slice(1, 1 + othersMost) : [];
    for (const state of others) await ifTestable(session.make(does.resource, { parents: { [tie.field]: row }, state }));
  }
  const was = row && (await lookAt(session, row)).done;
  const [firing] = row ? callersFor(session, endpoint, row) : [];
  const listOf = (one: TrialRow, { field }: Tie) =>
    listReferring(session, does.resource, field, tiedTo(session, tie ?? { field }, one, chain), firing ?? one.caller);
  const before = row && tie ? await listOf(row, tie) : undefined;
  const target = !tie && row ? await targetOf(session, chain, row) : undefined;
  if (target && act.skips) await openAlong(session, target, does);
  const then = target && (await lookAt(session, target)).done;
  const made = row ?? (await session.make(followed.resource, { body: bodyUnder(session, chain) }));
  const change = row ? await session.send(await asking(session, row, chain)) : made.made;
  session.need(change !== undefined, `rows of ${followed.resource} are given, not made`);
  if (tie) {
    const after = await listOf(made, tie);
    session.need(after !== undefined, `no list shows the rows of ${does.resource} that refer to a ${followed.resource}`);
    if (does.verb === 'create') claimMade(session, named, { tie, change, was, before, after });
    else if (before) claimMoved(session, named, { tie, change, was, before, after });
    return;
  }
  const row2 = target ?? (await targetOf(session, chain, made));
  if (does.verb === 'update') await claimSet(session, named, { change, target: row2, was, then });
  else await claimTarget(session, named, { change, target: row2, then });
}

/** Brings what something is to be done to, and is passed over where it cannot be, to where it can. */
async function openAlong(session: Session, target: TrialRow, does: FollowingEffect): Promise<void> {
  const transition = transitionOf(session.model.spec, does);
  const machine = transition && machineWith(session.model.spec.states, does.resource, transition.name);
  if (!machine || transition.from === '*' || transition.from.includes(asText(target.fields?.[machine.field]))) return;
  for (const state of transition.from) {
    await ifTestable(walkTo(session, target, state, { machine }));
    if (target.fields?.[machine.field] === state) return;
  }
}

/** A row to which the change can be done. */
async function changing(session: Session, { resource, change }: Followed, body: WantedRow['body'] = {}): Promise<TrialRow> {
  if (typeof change === 'string') return session.make(resource, { style: 'full', body });
  const row = await session.make(resource, { style: 'full', body, ...leaving(change.transition) });
  await openToFire(session, row, change.transition);
  return row;
}

/** What of a new row makes the condition of an act hold, as far as it is sent with the row: an order is made for an outage of the third degree alone. */
function bodyUnder(session: Session, { act, followed }: Chain): Readonly<Record<string, Json>> {
  const { model } = session;
  const { if: condition } = act;
  const fields = model.resource(followed.resource)?.fields;
  const reads = condition ? model.expressions.readsOf(condition, undefined) : [];
  const isPlain = reads.every(({ root, follows }) => (root === 'next' || root === 'resource') && !follows);
  if (!condition || !isPlain) return {};
  const names = [...new Set(reads.map(({ path: [name = ''] }) => name))];
  const choices = names.flatMap((name): [string, Json[]][] => {
    const stated = entryOf(fields, name);
    const shape = stated && !stated.ref && isSendable(model, followed.resource, name) ? statedValue(stated.shape) : undefined;
    return shape ? [[name, [...valuesThatFit(session, shape, condition.source)]]] : [];
  });
  const isSo = (row: Readonly<Record<string, Json>>): boolean => {
    const told = model.expressions.evaluate(condition, undefined, { context: { resource: row, next: row } });
    return typeof told === 'object' && told.value === true;
  };
  return [...imaginedOf(choices)].find(isSo) ?? {};
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
  const shown = row.known[fieldNaming(path) ?? ''];
  session.need(shown instanceof Captured, `which ${does.resource} is meant is not shown`);
  const { spot, step } = shown;
  const id: Symbolic =
    act.each && path !== source && spot.in === 'body' ? new Captured(step, { ...spot, pointer: [...spot.pointer, 0] }) : shown;
  const target: TrialRow = { resource: does.resource, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
  await lookAt(session, target);
  return target;
}

/** Whether a row can be named that an act cannot be done to. */
function refusable(model: Model, { to, each, if: condition, skips }: Following, does: FollowingEffect): boolean {
  const transition = transitionOf(model.spec, does);
  const isNamed = fieldNaming(to?.source) !== undefined && each === undefined;
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
  const tie = tieOf(model, chain);
  session.need(typeof change !== 'string' && machine !== undefined && tie !== undefined, 'it is in no state');
  const { from } = change.transition;
  const wrong = statesOf(machine).filter((state) => from !== '*' && !from.includes(state));
  const row = await session.make(resource);
  if (from === '*' || from.includes(asText(row.fields?.[machine.field]))) await walkToAny(session, row, machine, wrong);
  const seen = (await lookAt(session, row)).done;
  const to = tiedTo(session, tie, row, chain);
  const before = await listReferring(session, does.resource, tie.field, to);
  const done = await session.send(await asking(session, row, chain));
  const after = await listReferring(session, does.resource, tie.field, to);
  session.need(before !== undefined && after !== undefined, `no list shows the rows of ${does.resource} of a ${resource}`);
  session.claim({
    fact: factOf(followed, endpoint),
    reason: `${endpoint.operation} refused without what follows`,
    at: act.at,
    of: [done, before, after, seen] as const,
    control: async () => asking(session, await changing(session, followed), chain),
    judge(tried: TrialExchange, then: TrialExchange, now: TrialExchange, shown: TrialExchange) {
      if (isDone(tried) || tried.status >= 500) return moot('it was not refused');
      // What others make meanwhile is of other rows.
      const id = tiedId(model, tie, shown);
      const [old, fresh] = [then, now].map((list) => rowsTiedTo(model, list, does.resource, tie.field, id)?.length);
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
