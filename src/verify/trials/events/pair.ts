import type { Endpoint } from '../../../parts/endpoints.ts';
import { askedFor } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { machineIn, machinesOf, machineWith, type Transition, transitionNamed } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFrom } from '../../make/row-made.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { kindsComingOf, kindsOn } from './expected.ts';
import { changing } from './reached.ts';

/** Two operations on one row, one after the other, each of which surely emits one event. */
export interface Pair {
  readonly resource: string;
  /** What comes first: a creation, or an act where no creation is told of. */
  readonly create: Operation;
  readonly first: EventKind;
  readonly then: Operation;
  readonly second: EventKind;
  /** Whether the second is done to what the first has made: what is told of one row comes in its order. */
  readonly isOneRow: boolean;
}

/** A pair of a document: something is made and at once moved on, and both are told, or else another row is; nothing where there is none. */
export function pairOf(model: Model): Pair | undefined {
  const operations = changing(model);
  const apart: Pair[] = [];
  for (const create of operations) {
    if (verbOf(create) !== 'create' || create.resource === undefined) continue;
    const first = sureKind(model, create);
    if (!first) continue;
    const then = operations.find(
      (other) => other.resource === create.resource && follows(model, other) && sureKind(model, other),
    );
    const second = then && sureKind(model, then);
    if (then && second) return { resource: create.resource, create, first, then, second, isOneRow: true };
    apart.push(...operations.flatMap((then) => apartFrom(model, { resource: create.resource ?? '', create, first }, then)));
  }
  return apart[0] ?? actedPair(model, operations);
}

/** Two acts, of rows of one resource where there are two, where nothing that is made is told of: an order is told of once it is placed. */
function actedPair(model: Model, operations: readonly Operation[]): Pair | undefined {
  const acts = operations.flatMap((operation) => {
    const verb = verbOf(operation);
    const kind = verb === 'transition' || verb === 'delete' ? sureKind(model, operation) : undefined;
    const isAlone = kind !== undefined && kindsComingOf(model, operation).length === 1;
    return isAlone && operation.resource !== undefined ? [{ operation, kind, resource: operation.resource }] : [];
  });
  // What asks nothing of a row is done the soonest.
  const asks = ({ operation }: (typeof acts)[number]) => Number(transitionOf(model, operation)?.if !== undefined);
  const [first, ...others] = acts.sort((one, other) => asks(one) - asks(other));
  const apart = others.filter(({ kind }) => kind !== first?.kind);
  const second = apart.find(({ resource }) => resource === first?.resource) ?? apart[0];
  if (!first || !second) return undefined;
  const { operation: create, kind, resource } = first;
  const { operation: then } = second;
  return { resource, create, first: kind, then, second: second.kind, isOneRow: false };
}

/** Something else that surely emits one event of another kind, and nothing that comes of it another one. */
function apartFrom(model: Model, made: Pick<Pair, 'resource' | 'create' | 'first'>, then: Operation): Pair[] {
  const second = sureKind(model, then);
  const isAlone = second !== undefined && second !== made.first && kindsComingOf(model, then).length === 1;
  return isAlone ? [{ ...made, then, second, isOneRow: false }] : [];
}

function verbOf(operation: Operation): string | undefined {
  return operation.endpoint && statedValue(operation.endpoint.does)?.verb;
}

/** The one kind that an operation emits whatever else is so. */
export function sureKind(model: Model, operation: Operation): EventKind | undefined {
  const kinds = kindsOn(model, operation);
  return kinds.length === 1 && kinds.every((kind) => !kind.if && !kind.to) ? kinds[0] : undefined;
}

/** Whether an operation can come right after the creation: a transition without a condition from the first state, or a deletion in it. */
function follows(model: Model, operation: Operation): boolean {
  const { resource = '' } = operation;
  const verb = verbOf(operation);
  const transition = transitionOf(model, operation);
  const { states } = model.spec;
  const machine = transition
    ? machineWith(states, resource, transition.name)
    : machineIn(states, resource, operation.endpoint?.in?.[0]);
  const initial = machine?.initial.length === 1 ? machine.initial[0]?.state : undefined;
  if (transition)
    return !transition.if && initial !== undefined && (transition.from === '*' || transition.from.includes(initial));
  const { endpoint } = operation;
  if (verb !== 'delete' || !endpoint) return false;
  return endpoint.in === undefined || (initial !== undefined && endpoint.in.includes(initial));
}

function transitionOf(model: Model, { endpoint, resource }: Operation): Transition | undefined {
  const effect = endpoint && statedValue(endpoint.does);
  return effect?.verb === 'transition' ? transitionNamed(model.spec.states, resource ?? '', effect.transition) : undefined;
}

/** Somebody who may make the row of a pair and hear of it. */
export function makerOf(
  model: Model,
  { create, resource }: Pair,
  listeners: readonly (TrialCaller | undefined)[],
): TrialCaller | undefined {
  // Who makes it may read it; of what others do somebody hears who may read whatever there is.
  const asked = verbOf(create) === 'create' ? [create.endpoint as Endpoint] : model.endpointsThat('read', resource);
  const able = listeners.filter(
    (caller) =>
      caller !== undefined && asked.some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) === 'yes'),
  );
  return able[0] ?? listeners[0];
}

/** Makes the row, with `listen` between what it needs and its creation, and moves it on. @throws {Untestable} */
export async function actTwice<T>(
  session: Session,
  { create, then, resource, isOneRow }: Pair,
  listen: () => Promise<T>,
): Promise<{ readonly ear: T; readonly made: Done<TrialExchange>; readonly moved: Done<TrialExchange> }> {
  const { model } = session;
  if (!create.endpoint || !then.endpoint) throw new Untestable('no caller reaches the operations');
  const { request } = await ready(session, create.endpoint, { style: 'whole' });
  const other = isOneRow ? undefined : (await ready(session, then.endpoint)).request;
  const ear = await listen();
  let made = await session.send(request);
  // What is drawn with everything in it may be more than the service's own rules allow.
  // What is kept though it is answered with an error is told of all the same.
  const isKept = machinesOf(model.spec.states, resource).some(({ initial }) =>
    initial.some(({ answer }) => answer !== undefined),
  );
  session.need(isDone(made.value) || !isKept, `${create.name} was answered ${made.value.status}, and may have made its row`);
  if (!isDone(made.value)) made = await session.send((await ready(session, create.endpoint)).request);
  session.need(isDone(made.value), `${create.name} was answered ${made.value.status}`);
  const moved = await session.send(
    other ?? (await movingOn(session, rowFrom(session, resource, create.endpoint, made), then, then.endpoint)),
  );
  session.need(isDone(moved.value), `${then.name} was answered ${moved.value.status}`);
  return { ear, made, moved };
}

async function movingOn(session: Session, row: TrialRow, then: Operation, endpoint: Endpoint): Promise<RequestPlan> {
  const [caller] = callersFor(session, endpoint, row);
  const transition = transitionOf(session.model, then);
  return requestAbout(session, row, endpoint, { caller, ...(transition && { transition }) });
}

/** The kinds of a document, as subscribers ask for them. */
export function kindNames(model: Model): string[] {
  return entriesOf(model.spec.events.kinds).map(([, kind]) => askedFor(kind));
}
