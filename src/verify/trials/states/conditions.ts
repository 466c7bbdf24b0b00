import type { Endpoint } from '../../../parts/endpoints.ts';
import type { Read } from '../../../parts/expressions/compile.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { conditionsOfTransition, type Machine, machinesOf, type Transition } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { Control } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
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
import { knownRow } from '../../make/sent-with.ts';
import { shutByOthers } from '../../make/shut.ts';
import { besideNow, stage } from '../../make/staged.ts';
import { claimUnchanged, factsOfMachine, fireable } from '../../make/transitions.ts';
import { fireOnRow, openToFire, stateOfAim, stateSent, statesOf, walkTo } from '../../make/walk.ts';
import { outcomeOf } from '../../model/access.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import { isOfRow } from '../../model/guards.ts';
import type { Model } from '../../model/model.ts';
import { followedIn } from '../../model/row-known.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
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
          run: (session) => blockSomehow(session, machine, transition),
        };
    }
  },
};

/** As rows are imagined for which the condition fails where it reads other rows, such as the places that are left of a session; else as they are drawn. */
async function blockSomehow(session: Session, machine: Machine, transition: Transition): Promise<void> {
  const { model } = session;
  const condition = transition.if;
  const fails = condition && model.expressions.composed(condition, `!(${condition.source})`);
  const reads = condition ? model.expressions.readsOf(condition, undefined) : [];
  const isOfOthers = reads.some(({ path: [name = ''], follows }) => follows || isDerived(model, machine.resource, name));
  if (fails && isOfOthers && (await blockAsImagined(session, machine, transition, { fails }))) return;
  await block(session, machine, transition);
}

function isDerived(model: Model, resource: string, name: string): boolean {
  return entryOf(model.resource(resource)?.fields, name)?.derive !== undefined;
}

/** How often rows are imagined for which a condition fails. */
const scenesMost = 3;

/** Whether a row and a request could be made as they are imagined for a condition to fail, of which it is claimed that nothing changed then. */
export async function blockAsImagined(
  session: Session,
  machine: Machine,
  transition: Transition,
  { fails, as = transition, reason }: { readonly fails: Expression; readonly as?: Transition; readonly reason?: string },
): Promise<boolean> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  let tries = 0;
  for (const { slots, met } of imagine(session, endpoint, { rule: { if: fails } })) {
    tries += 1;
    const staged = await ifTestable(stage(session, endpoint, slots, { scene: met, resource: machine.resource }));
    const [before] = staged?.beside ?? [];
    if (staged?.row && before) {
      await besideNow(session, staged);
      const done = await session.send(staged.request);
      const control = () => openRequest(session, machine, transition, endpoint);
      await claimBlocked(session, staged.row, { machine, transition, as, reason, before, done, isLatest: true, control });
      return true;
    }
    if (tries === scenesMost) break;
  }
  return false;
}

/**
 * Draws rows and bodies, and fires what leads back to where it began, until the condition fails as far as it can be reckoned here: the whole of it, or
 * as `narrowed` has it fail, a part of it alone.
 */
export async function block(
  session: Session,
  machine: Machine,
  transition: Transition,
  narrowed?: { readonly as: Transition; readonly reason: string },
): Promise<void> {
  const { as = transition, reason } = narrowed ?? {};
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const [state] = transition.from === '*' ? [] : transition.from;
  const isBack = transition.from !== '*' && transition.to.every((target) => transition.from.includes(target.state));
  const isCounted = readsOfRow(session.model, transition).some((name) => isSetByActs(session.model, machine.resource, name));
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
    else if (at > 0 || !shut) await shutByOthers(session, row, as, endpoint.operation);
    for (let fires = 0; fires < firesMax; fires++) {
      const before = (await lookAt(session, row)).done;
      const plan = await blockedForAny(session, row, endpoint, as);
      const control = () => openRequest(session, machine, transition, endpoint);
      if (plan) {
        const done = await session.send(plan);
        return claimBlocked(session, row, {
          machine,
          transition,
          as,
          before,
          done,
          control,
          ...(reason !== undefined && { reason }),
        });
      }
      if (!isBack && !isCounted) break;
      if (!isDone((await fireOnRow(session, row, endpoint, transition)).value)) break;
      // Skates are lent so often until they have to be ground.
      if (!isBack && (state === undefined || !(await leadsBack(walkTo(session, row, state, { machine }))))) break;
    }
  }
  throw new Untestable(`nothing was drawn for which the condition of ${transition.name} fails`);
}

/** The same asked of another row, of which the condition holds. @throws {Untestable} */
export async function openRequest(
  session: Session,
  machine: Machine,
  transition: Transition,
  endpoint: Endpoint,
): Promise<RequestPlan> {
  const [state] = transition.from === '*' ? [] : transition.from;
  const row = await session.make(machine.resource, { machine, ...(state !== undefined && { state }) });
  await openToFire(session, row, transition);
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const isUpdate = statedValue(endpoint.does)?.verb === 'update';
  const sent = isUpdate ? { json: stateSent(endpoint, machine, stateOfAim(undefined, transition)) } : { transition };
  return requestAbout(session, row, endpoint, { caller, headers, ...sent });
}

/** Whether a row could be brought there, as far as anybody may. */
async function leadsBack(walk: Promise<unknown>): Promise<boolean> {
  return (await ifTestable(walk.then(() => true))) ?? false;
}

/** The fields of the row that a transition's conditions read. */
function readsOfRow({ expressions }: Model, transition: Transition): readonly string[] {
  const reads = conditionsOfTransition(transition).flatMap((one) => expressions.readsOf(one, undefined));
  return reads.flatMap(({ root, path: [name], follows }) => (isOfRow(root) && name !== undefined && !follows ? [name] : []));
}

/** Whether some transition of its own sets a field by what it was: what is counted. */
function isSetByActs(model: Model, resource: string, name: string): boolean {
  const set = entryOf(model.resource(resource)?.fields, name)?.set ?? {};
  const names = machinesOf(model.spec.states, resource).flatMap(({ transitions }) => entriesOf(transitions).map(([one]) => one));
  const reads = names.flatMap((one) => (set[one] ? model.expressions.readsOf(set[one], undefined) : []));
  return reads.some(({ root, path }) => isOfRow(root) && path[0] === name);
}

/** The states of other machines of the row that a transition's conditions read. */
function statesAsked(
  { spec, expressions }: Model,
  machine: Machine,
  transition: Transition,
): readonly { readonly machine: Machine; readonly state: string }[] {
  const read = new Set(
    conditionsOfTransition(transition)
      .flatMap((one) => expressions.readsOf(one, undefined))
      .map(({ path }) => path[0]),
  );
  return machinesOf(spec.states, machine.resource)
    .filter((other) => other !== machine && read.has(other.field))
    .flatMap((other) => statesOf(other).map((state) => ({ machine: other, state })));
}

/** The same for whoever may as for whom it is blocked: an order that was given to somebody is not begun by another. */
async function blockedForAny(
  session: Session,
  row: TrialRow,
  endpoint: Endpoint,
  transition: Transition,
): Promise<RequestPlan | undefined> {
  const { model } = session;
  const callers = callersFor(session, endpoint, row);
  const nobody = model.access.allows(model.operationOf(endpoint), undefined) === 'no' ? [] : [undefined];
  for (const caller of callers.length > 0 ? new Set([callers[0], callers.at(-1)]) : nobody) {
    const plan = await blockedRequest(session, row, endpoint, transition, caller);
    if (plan) return plan;
  }
  return undefined;
}

async function blockedRequest(
  session: Session,
  row: TrialRow,
  endpoint: Endpoint,
  transition: Transition,
  caller: TrialCaller | undefined,
): Promise<RequestPlan | undefined> {
  const headers = await session.preconditions(endpoint, row, caller);
  const known = knownRow(session.model, row);
  for (let draw = 0; draw < drawsMax; draw++) {
    const plan = await requestAbout(session, row, endpoint, { caller, headers, style: 'full' });
    const json = plan.body && 'value' in plan.body ? plan.body.value : undefined;
    const request = json === undefined ? undefined : resolve(json, session.run);
    const firing = {
      operation: endpoint.operation,
      row: known.fields,
      unseen: known.unseen,
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
  /** The same with the condition by which it is known to be blocked, where that is narrower than its own. */
  readonly as?: Transition | undefined;
  readonly reason?: string | undefined;
  /** Whether what it refers to was shown since it was made. */
  readonly isLatest?: boolean;
  readonly before: Done<TrialExchange>;
  readonly done: Done<TrialExchange>;
  /** As a claim's. */
  readonly control?: Control;
}

/** What made a row, where a transition asks for what that alone reveals. */
function revealing(model: Model, { resource, made }: TrialRow, transition: Transition): readonly Done<TrialExchange>[] {
  const reads = conditionsOfTransition(transition).flatMap((one) => model.expressions.readsOf(one, undefined));
  const isRevealed = ({ path: [name = ''] }: Read) => entryOf(model.resource(resource)?.fields, name)?.reveal === 'once';
  return made && reads.some(isRevealed) ? [made] : [];
}

/** Claims of a transition whose condition does not hold that it was refused, and changed nothing. */
export async function claimBlocked(
  session: Session,
  row: TrialRow,
  { machine, transition, as = transition, reason = `${transition.name} blocked`, before, done, isLatest, control }: Blocked,
): Promise<void> {
  const { model } = session;
  const fact = { kind: 'transitions', subject: machine.key };
  const isSo = (exchange: TrialExchange, was?: TrialExchange, ...beside: readonly TrialExchange[]) =>
    was !== undefined &&
    [transition, as].every(
      (one) => outcomeFor(model, { machine, transition: one }, { exchange, was, beside, isLatest }) === 'blocked',
    );
  claimRefused(session, done, {
    by: transition.ifElse === undefined ? { when: 'transition.illegal.condition' } : { code: transition.ifElse },
    fact,
    reason,
    at: transition.if?.at ?? transition.at,
    control,
    beside: [before, ...referredTo(session, machine.resource, [row.fields]), ...revealing(session.model, row, transition)],
    isSo,
    isOvertaken: (exchange, ...was) => movedByClock(model, machine, exchange, ...was),
    what: `${transition.name} where ${transition.if?.source ?? 'none of its conditions'} does not hold`,
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}
