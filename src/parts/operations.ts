import type { Effect, Following, FollowingEffect, ResourceVerb } from './effects.ts';
import type { Endpoint } from './endpoints.ts';
import { logOf } from './event-telling.ts';
import { pullOf } from './events.ts';
import { entriesOf, statedValue } from './fact.ts';
import { followedOf, followingName, transitionOf } from './followed.ts';
import type { Spec } from './spec.ts';
import { allMachines, type Transition, transitionNamed } from './states.ts';

/** Whatever has a name of its own that other parts may speak of. */
export interface Operation {
  readonly name: string;
  /** The resource it is about, if any. */
  readonly resource?: string;
  /** The endpoint that a caller reaches it by. */
  readonly endpoint?: Endpoint;
  /** Fired by the clock or the service itself, done by the engine, or with another change; no caller reaches it. */
  readonly by?: 'clock' | 'service' | 'engine' | 'change';
  readonly transition?: Transition;
  /** What follows from a change: what it does, and the fields that it is given each time. */
  readonly follows?: {
    readonly verb: FollowingEffect['verb'];
    readonly gives: readonly string[];
    /** The resources with which it is sent, where it follows from nothing else: whoever makes one of these makes it too. */
    readonly sentWith?: readonly string[];
  };
}

/** Every operation of a document: its endpoints', the stream, the transitions that no caller fires, what follows from changes, and the engine's own. */
export function operationsOf(spec: Spec): Operation[] {
  return [
    ...endpointOperations(spec),
    ...pullOperation(spec),
    ...uncalledTransitions(spec),
    ...followingOperations(spec),
    ...loggingOperation(spec),
    ...engineOperations(spec),
  ];
}

/** What an operation does to the rows of its resource. */
export function verbOf({ by, follows, endpoint }: Operation): ResourceVerb | 'transition' | 'handler' | 'reply' | undefined {
  if (follows) return follows.verb;
  return by ? 'transition' : endpoint && statedValue(endpoint.does)?.verb;
}

/** The operations that a caller can reach. */
export function callableOperations(spec: Spec): Operation[] {
  return [...endpointOperations(spec), ...pullOperation(spec), ...ledgerOperation(spec)];
}

/** The resource that an effect is about. */
export function resourceOfEffect(effect: Effect | undefined): string | undefined {
  return effect && 'resource' in effect ? effect.resource : undefined;
}

/**
 * Whether a list of operation names as written names this operation; `all parcel` names all of a resource's. In the `on`
 * of an event, `all parcel` is everything that stores a parcel, the clock's and the service's transitions included, and not its deletion.
 */
export function namesOperation(names: readonly string[], operation: Operation, use: 'any' | 'event' = 'any'): boolean {
  if (names.includes(operation.name)) return true;
  if (operation.resource === undefined || !names.includes(`all ${operation.resource}`)) return false;
  if (use === 'any') return operation.by === undefined;
  const verb = verbOf(operation);
  return verb === undefined || !['read', 'list', 'delete'].includes(verb);
}

function endpointOperations(spec: Spec): Operation[] {
  return entriesOf(spec.endpoints.all).map(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    const resource = resourceOfEffect(effect);
    const transition =
      effect?.verb === 'transition' ? transitionNamed(spec.states, effect.resource, effect.transition) : undefined;
    return { name: endpoint.operation, ...(resource !== undefined && { resource }), endpoint, ...(transition && { transition }) };
  });
}

function pullOperation({ events }: Spec): Operation[] {
  const pull = pullOf(events);
  return pull ? [pull.operation] : [];
}

/** `read ledger` counts only where a document names it. */
function ledgerOperation(spec: Spec): Operation[] {
  const named = [
    ...spec.authentication.public,
    ...(statedValue(spec.authentication.permissions) ?? []).flatMap((rule) => rule.allow),
    ...entriesOf(spec.purpose.functions).flatMap(([, list]) => list),
  ];
  return named.includes('read ledger') ? [{ name: 'read ledger' }] : [];
}

function uncalledTransitions(spec: Spec): Operation[] {
  const called = new Set(endpointOperations(spec).map(({ transition }) => transition));
  return allMachines(spec.states).flatMap(({ resource, transitions }) =>
    entriesOf(transitions).flatMap(([, transition]): Operation[] => {
      const clock = transition.after || transition.atTime ? ('clock' as const) : undefined;
      const by = transition.by ?? clock ?? (transition.on && !called.has(transition) ? ('change' as const) : undefined);
      return by ? [{ name: `${transition.name} ${resource}`, resource, by, transition }] : [];
    }),
  );
}

/** What acts that follow from changes do, each once. */
function followingOperations(spec: Spec): Operation[] {
  const acts = Map.groupBy(
    followedOf(spec).flatMap(({ acts: all, resource }) => all.filter(({ does }) => does).map((act) => ({ act, resource }))),
    ({ act: { does } }) => followingName(does as FollowingEffect),
  );
  return [...acts].map(([name, same]): Operation => {
    // Those without are left out above.
    const first = same[0]?.act as Following & { readonly does: FollowingEffect };
    const { does } = first;
    const transition = transitionOf(spec, does);
    const gives = Object.keys(first.set).filter((field) => same.every(({ act: { set } }) => set[field] !== undefined));
    const isSent = same.every(({ act: { children } }) => children !== undefined);
    return {
      name,
      resource: does.resource,
      by: 'change',
      ...(transition && { transition }),
      follows: { verb: does.verb, gives, ...(isSent && { sentWith: same.map(({ resource }) => resource) }) },
    };
  });
}

/** The making of a row for each event, with the change that emits it. */
function loggingOperation(spec: Spec): Operation[] {
  const log = logOf(spec);
  if (!log) return [];
  const follows = { verb: 'create' as const, gives: Object.keys(log.set) };
  return [{ name: `create ${log.resource}`, resource: log.resource, by: 'change', follows }];
}

function engineOperations(spec: Spec): Operation[] {
  const subscribers = statedValue(spec.events.delivery)?.push?.subscribers;
  const disable: Operation[] = subscribers
    ? [{ name: `disable ${subscribers.resource}`, resource: subscribers.resource, by: 'engine' }]
    : [];
  const isTold = subscribers?.confirmed !== undefined && statedValue(spec.events.delivery)?.push?.confirm !== undefined;
  const confirm: Operation[] = isTold
    ? [{ name: `confirm ${subscribers.resource}`, resource: subscribers.resource, by: 'engine' }]
    : [];
  return [...disable, ...confirm, ...ledgerOperation(spec)];
}
