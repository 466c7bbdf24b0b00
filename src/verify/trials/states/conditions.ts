import type { Endpoint } from '../../../parts/endpoints.ts';
import { refusingActs } from '../../../parts/possible-errors.ts';
import { type Machine, machineOn, machinesOf, type Transition } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Control, type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { resolve } from '../../exchange/symbol.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { imagine } from '../../make/imagined.ts';
import { lookAt } from '../../make/look.ts';
import { referredTo } from '../../make/own-rules.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { ConditionSubject, Scene } from '../../make/scene.ts';
import { shutByOthers } from '../../make/shut.ts';
import { stage } from '../../make/staged.ts';
import { claimUnchanged, factsOfMachine, fireable } from '../../make/transitions.ts';
import { fireOnRow, openToFire, statesOf, walkTo } from '../../make/walk.ts';
import { outcomeOf } from '../../model/access.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { followedIn } from '../../model/row-known.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isRefusedAs } from './fired.ts';
import { outcomeFor } from './outcome.ts';

const rowsMax = 4;
const drawsMax = 16;
const firesMax = 5;

/** A transition whose condition does not hold is blocked, and changes nothing. */
export const transitionConditions: Trial = {
  name: 'states/conditions',
  part: 'states',
  about: 'A transition whose condition does not hold is refused and changes nothing.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      const isConditional = transition.if !== undefined || transition.to.every((target) => target.if !== undefined);
      if (isConditional)
        yield {
          name: `${transition.name} ${machine.resource}`,
          facts: factsOfMachine(machine),
          run: (session) => block(session, machine, transition),
        };
    }
  },
};

/** Draws rows and bodies, and fires what leads back to where it began, until the condition fails as far as it can be reckoned here. */
async function block(session: Session, machine: Machine, transition: Transition): Promise<void> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const [state] = transition.from === '*' ? [] : transition.from;
  // What it asks of another machine is brought about by moving that one.
  const asked = statesAsked(session.model, machine, transition);
  for (let at = 0; at < rowsMax + asked.length; at++) {
    const wanted = { style: 'full', machine, ...(state !== undefined && { state }) } as const;
    // A row that is to be shut from the beginning may be one that nobody can make.
    const shut = await ifTestable(session.make(machine.resource, { ...wanted, blocking: transition.name }));
    const row = shut ?? (await session.make(machine.resource, wanted));
    const other = asked[at];
    if (other) await ifTestable(walkTo(session, row, other.state, { machine: other.machine }));
    // What was open when the row was made may be shut by others afterwards.
    else if (at > 0 || !shut) await shutByOthers(session, row, transition, endpoint.operation);
    for (let fires = 0; fires < firesMax; fires++) {
      const [caller] = callersFor(session, endpoint, row);
      const before = (await lookAt(session, row)).done;
      const plan = await blockedRequest(session, row, endpoint, transition, caller);
      const control = () => openRequest(session, machine, transition, endpoint);
      if (plan) return claimBlocked(session, row, { machine, transition, before, done: await session.send(plan), control });
      const isBack = transition.from !== '*' && transition.to.every((target) => transition.from.includes(target.state));
      if (!isBack || !isDone((await fireOnRow(session, row, endpoint, transition)).value)) break;
    }
  }
  throw new Untestable(`nothing was drawn for which the condition of ${transition.name} fails`);
}

/** The same asked of another row, of which the condition holds. @throws {Untestable} */
async function openRequest(session: Session, machine: Machine, transition: Transition, endpoint: Endpoint): Promise<RequestPlan> {
  const [state] = transition.from === '*' ? [] : transition.from;
  const row = await session.make(machine.resource, { machine, ...(state !== undefined && { state }) });
  await openToFire(session, row, transition);
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  return requestAbout(session, row, endpoint, { caller, headers, transition });
}

/** The states of other machines of the row that a transition's conditions read. */
function statesAsked(
  { spec, expressions }: Model,
  machine: Machine,
  { if: condition, to }: Transition,
): readonly { readonly machine: Machine; readonly state: string }[] {
  const read = new Set(
    [condition, ...to.map((target) => target.if)]
      .flatMap((one) => (one ? expressions.readsOf(one, undefined) : []))
      .map(({ path }) => path[0]),
  );
  return machinesOf(spec.states, machine.resource)
    .filter((other) => other !== machine && read.has(other.field))
    .flatMap((other) => statesOf(other).map((state) => ({ machine: other, state })));
}

async function blockedRequest(
  session: Session,
  row: TrialRow,
  endpoint: Endpoint,
  transition: Transition,
  caller: TrialCaller | undefined,
): Promise<RequestPlan | undefined> {
  const headers = await session.preconditions(endpoint, row, caller);
  for (let draw = 0; draw < drawsMax; draw++) {
    const plan = await requestAbout(session, row, endpoint, { caller, headers, style: 'full' });
    const json = plan.body && 'value' in plan.body ? plan.body.value : undefined;
    const request = json === undefined ? undefined : resolve(json, session.run);
    const firing = {
      operation: endpoint.operation,
      row: row.fields ?? {},
      unseen: session.model.unseenBy(row.resource, row.caller),
      request,
      caller,
      follow: followedIn(session.model, session.exchanges),
    };
    const nowMs = session.run.clock.toService(Date.now());
    if (outcomeOf(session.model.expressions, transition, { ...firing, nowMs }) === 'blocked') return plan;
    if (json === undefined) return undefined;
  }
  return undefined;
}

interface Blocked {
  readonly machine: Machine;
  readonly transition: Transition;
  readonly before: Done<TrialExchange>;
  readonly done: Done<TrialExchange>;
  /** As a claim's. */
  readonly control?: Control;
}

/** Claims of a transition whose condition does not hold that it was refused, and changed nothing. */
export async function claimBlocked(
  session: Session,
  row: TrialRow,
  { machine, transition, before, done, control }: Blocked,
): Promise<void> {
  const { model } = session;
  const fact = { kind: 'transitions', subject: machine.key };
  const isSo = (exchange: TrialExchange, was?: TrialExchange, ...beside: readonly TrialExchange[]) =>
    was !== undefined && outcomeFor(model, { machine, transition }, { exchange, was, beside }) === 'blocked';
  claimRefused(session, done, {
    by: transition.ifElse === undefined ? { when: 'transition.illegal.condition' } : { code: transition.ifElse },
    fact,
    reason: `${transition.name} blocked`,
    at: transition.if?.at ?? transition.at,
    control,
    beside: [before, ...referredTo(session, machine.resource, [row.fields])],
    isSo,
    isOvertaken: (exchange, ...was) => movedByClock(model, machine, exchange, ...was),
    what: `${transition.name} where ${transition.if?.source ?? 'none of its conditions'} does not hold`,
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}

/** At the very edge of its condition a transition is carried out, and just beyond it is blocked. */
export const edges: Trial = {
  name: 'states/edges',
  part: 'states',
  about: 'A transition is carried out at the edge of its condition, and blocked just beyond it.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      // What only the service sets is brought about by states/conditions, or by nobody.
      if (!transition.if || !isChosen(model, machine, transition)) continue;
      yield {
        name: `${transition.name} ${machine.resource}`,
        facts: factsOfMachine(machine),
        run: (session) => severalTimes(() => atTheEdge(session, machine, transition)),
      };
    }
  },
};

/** Whether callers choose everything that a condition reads of the row itself. */
function isChosen(model: Model, { resource, field }: Machine, { name, if: condition }: Transition): boolean {
  const operation = model.endpointOfTransition(resource, name)?.operation;
  const reads = condition ? model.expressions.readsOf(condition, operation) : [];
  return reads.every(({ root, path, follows }) => {
    const [member = ''] = path;
    // What another machine writes is moved by that one.
    if (member !== field && machineOn(model.spec.states, resource, member)) return false;
    return root !== 'resource' || follows !== undefined || member === field || isSendable(model, resource, member);
  });
}

/** Whether rows can be made as they were imagined is not known: the service's own rules may refuse some, and not others. */
async function severalTimes(attempt: () => Promise<void>): Promise<void> {
  for (let left = attemptsMax; ; left--) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (!(error instanceof Untestable) || left <= 1) throw error;
    }
  }
}

const attemptsMax = 5;

async function atTheEdge(session: Session, machine: Machine, transition: Transition): Promise<void> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined && transition.if !== undefined, 'no caller can fire it');
  const [imagined] = imagine(session, endpoint, { rule: { if: transition.if } });
  session.need(imagined !== undefined, `nothing was found for which ${transition.if.source} holds`);
  const { slots, met, unmet } = imagined;
  await inside(session, { machine, transition, endpoint, slots, scene: met });
  session.need(unmet !== undefined, `no edge of ${transition.if.source} was found`);
  await beyond(session, { machine, transition, endpoint, slots, scene: unmet });
}

interface Edge {
  readonly machine: Machine;
  readonly transition: Transition;
  readonly endpoint: Endpoint;
  readonly slots: readonly ConditionSubject[];
  readonly scene: Scene;
}

async function inside(session: Session, edge: Edge): Promise<void> {
  const { machine, transition, endpoint } = edge;
  const { model } = session;
  const staged = await stage(session, endpoint, edge.slots, { scene: edge.scene, resource: machine.resource });
  const [before] = staged.beside;
  session.need(before !== undefined, `a ${machine.resource} is not shown`);
  const done = await session.send(staged.request);
  const code =
    transition.ifElse ??
    transition.else ??
    model.refusals.of('transition.illegal.condition', model.operationOf(endpoint))?.code.name;
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${transition.name} at its edge`,
    at: transition.if?.at ?? transition.at,
    of: [done, before, ...staged.beside.slice(1)] as const,
    judge(exchange: TrialExchange, was: TrialExchange, ...beside: readonly TrialExchange[]): Judgement {
      const outcome = outcomeFor(session.model, edge, { exchange, was, beside });
      if (outcome === undefined || outcome === 'unknown' || outcome === 'blocked') return moot('its condition does not hold');
      if (isDone(exchange)) return undefined;
      const isElsewhere =
        refusingActs(model.spec, model.operationOf(endpoint)).length > 0 || movedByClock(model, machine, exchange, was);
      return !isElsewhere && isRefusedAs(model, exchange, code)
        ? { promised: `${transition.name} where ${transition.if?.source}`, seen: `${exchange.status}${briefly(exchange)}` }
        : moot('something else stood in its way');
    },
  });
}

async function beyond(session: Session, edge: Edge): Promise<void> {
  const { machine, transition, endpoint } = edge;
  const staged = await stage(session, endpoint, edge.slots, { scene: edge.scene, resource: machine.resource });
  const [before] = staged.beside;
  session.need(before !== undefined && staged.row !== undefined, `a ${machine.resource} is not shown`);
  const done = await session.send(staged.request);
  const fact = { kind: 'transitions', subject: machine.key };
  claimRefused(session, done, {
    by: transition.ifElse === undefined ? { when: 'transition.illegal.condition' } : { code: transition.ifElse },
    fact,
    reason: `${transition.name} blocked`,
    at: transition.if?.at ?? transition.at,
    beside: staged.beside,
    isSo: (exchange, was, ...beside) =>
      was !== undefined && outcomeFor(session.model, edge, { exchange, was, beside }) === 'blocked',
    isOvertaken: (exchange, ...was) => movedByClock(session.model, machine, exchange, ...was),
    what: `${transition.name} where ${transition.if?.source} does not hold`,
  });
  await claimUnchanged(session, staged.row, { before, attempt: done, fact });
}
