import type { Effect } from './effects.ts';
import type { Endpoint } from './endpoints.ts';
import { entriesOf, isStated, statedValue } from './fact.ts';
import type { Spec } from './spec.ts';
import { machineOf, type Transition } from './states.ts';

/** Whatever has a name of its own that other parts may speak of. */
export interface Operation {
  readonly name: string;
  /** The resource it is about, if any. */
  readonly resource?: string;
  /** The endpoint that a caller reaches it by. */
  readonly endpoint?: Endpoint;
  /** Fired by the clock or the service itself, or done by the engine; no caller reaches it. */
  readonly by?: 'clock' | 'service' | 'engine';
  readonly transition?: Transition;
}

/** Every operation of a document: its endpoints', the stream, the transitions that no caller fires, and the engine's own. */
export function operationsOf(spec: Spec): Operation[] {
  return [...endpointOperations(spec), ...streamOperation(spec), ...uncalledTransitions(spec), ...engineOperations(spec)];
}

/** The operations that a caller can reach. */
export function callableOperations(spec: Spec): Operation[] {
  return [...endpointOperations(spec), ...streamOperation(spec), ...ledgerOperation(spec)];
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
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  return effect === undefined || !['read', 'list', 'delete'].includes(effect.verb);
}

function endpointOperations(spec: Spec): Operation[] {
  return entriesOf(spec.endpoints.all).map(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    const resource = resourceOfEffect(effect);
    const machine = resource !== undefined ? machineOf(spec.states, resource) : undefined;
    const transitions = machine ? statedValue(machine.transitions) : undefined;
    const transition = effect?.verb === 'transition' ? transitions?.[effect.transition] : undefined;
    return { name: endpoint.operation, ...(resource !== undefined && { resource }), endpoint, ...(transition && { transition }) };
  });
}

function streamOperation(spec: Spec): Operation[] {
  return statedValue(spec.events.delivery)?.stream ? [{ name: 'stream events' }] : [];
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
  if (!isStated(spec.states.all)) return [];
  return Object.keys(spec.states.all.value).flatMap((resource) => {
    const machine = machineOf(spec.states, resource);
    const transitions = machine ? entriesOf(machine.transitions) : [];
    return transitions.flatMap(([, transition]): Operation[] => {
      const by = transition.by ?? (transition.after || transition.atTime ? ('clock' as const) : undefined);
      return by ? [{ name: `${transition.name} ${resource}`, resource, by, transition }] : [];
    });
  });
}

function engineOperations(spec: Spec): Operation[] {
  const subscribers = statedValue(spec.events.delivery)?.webhook?.subscribers;
  const disable: Operation[] = subscribers
    ? [{ name: `disable ${subscribers.resource}`, resource: subscribers.resource, by: 'engine' }]
    : [];
  return [...disable, ...ledgerOperation(spec)];
}
