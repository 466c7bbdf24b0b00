/** The expressions of part 6: when an event is emitted, what it says, who receives it, and what a log keeps of it. */

import { timeFormat } from '../../kinds/formats/all.ts';
import { clockOperation, loggedOf, logOf } from '../event-telling.ts';
import type { EventKind, Push } from '../events.ts';
import { operationScope } from '../expressions/operation-scope.ts';
import {
  aBoolean,
  callerVariable,
  type ExpressionUse,
  everywhere,
  type Scope,
  scopeOf,
  type UseScope,
  type Variable,
} from '../expressions/scope.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import { altersInSight } from '../left-out.ts';
import { namesOperation, type Operation, operationsOf } from '../operations.ts';
import type { Shape } from '../shape.ts';
import { named } from '../source.ts';
import type { Spec } from '../spec.ts';
import { headerUses, valueUses } from './endpoints.ts';
import { aList, itemShape } from './states.ts';

/** The expressions of part 6: when an event is emitted, what it says, who receives it, and how it is wrapped. */
export function eventUses(spec: Spec): ExpressionUse[] {
  const delivery = statedValue(spec.events.delivery);
  const scopes = [{ scope: deliveryScope(spec) }];
  const place = 'every delivery';
  return [
    ...entriesOf(spec.events.kinds).flatMap(([, kind]) => kindUses(spec, kind)),
    ...(delivery?.push ? headerUses(delivery.push.headers, place, scopes) : []),
    ...subscriberUses(spec, delivery?.push?.subscribers),
    ...logUses(spec, (more, isCertain) => eventVariable({ payload: {}, action: actionOfAny(spec), more, isCertain })),
    ...valueUses(delivery?.envelope.expressions, {}, 'the envelope of events', [
      { scope: scopeOf({ ...everywhere, event: eventVariable({ payload: {}, action: actionOfAny(spec) }) }) },
    ]),
  ];
}

/** Whether a subscriber is told of anything, and of one event. */
function subscriberUses(spec: Spec, subscribers: Push['subscribers']): ExpressionUse[] {
  const subscriber = subscriberVariable(spec);
  const event = eventVariable({ payload: {}, action: actionOfAny(spec) });
  return [
    ...(subscribers?.isEnabled
      ? [condition(subscribers.isEnabled, 'whether a subscriber is enabled', 'unsent', [{ scope: scopeOf({ subscriber }) }])]
      : []),
    ...(subscribers?.if
      ? [condition(subscribers.if, 'what a subscriber is told of', 'unsent', [{ scope: scopeOf({ subscriber, event }) }])]
      : []),
  ];
}

/** The expressions of an event that the clock tells: all over the row as it is then. */
function clockUses(spec: Spec, kind: EventKind, { of, at }: NonNullable<EventKind['clock']>): ExpressionUse[] {
  const payload = statedValue(kind.payload) ?? {};
  const operation = clockOperation(kind.name);
  const resource: Variable = { shape: { resource: of } };
  const scopesOf = (more: Readonly<Record<string, Variable>>): UseScope[] => [
    { operation, scope: scopeOf({ ...everywhere, resource, ...more }) },
  ];
  const own = scopesOf({ event: eventVariable({ action: actionOf(kind) }) });
  const name = `the event ${kind.name}`;
  const time = { shape: { type: 'string', format: timeFormat }, optional: true };
  return [
    { ...condition(at, `the time of ${name}`, 'internal', [{ scope: scopeOf({ resource }) }]), role: 'value', expected: time },
    ...(kind.if ? [condition(kind.if, `the condition of ${name}`, 'internal', own)] : []),
    ...valueUses(kind.data, payload, `the payload of ${name}`, own),
    ...(kind.to ? [condition(kind.to, `who receives ${name}`, 'unsent', scopesOf(receiverVariables(spec, kind, payload)))] : []),
  ];
}

function kindUses(spec: Spec, kind: EventKind): ExpressionUse[] {
  if (kind.clock) return clockUses(spec, kind, kind.clock);
  const all = operationsOf(spec);
  const named = all.filter((operation) => namesOperation(statedValue(kind.on) ?? [], operation, 'event'));
  // An event that no operation is named for can only be a handler's; one that is named may be of an endpoint that is open.
  const isOfOpen = isStated(kind.on) && all.some(({ endpoint }) => endpoint && !isStated(endpoint.does));
  const operations = named.length > 0 || isOfOpen ? named : all.filter(isHandler);
  const scopesOf = (more: (operation: Operation) => Readonly<Record<string, Variable>>): UseScope[] =>
    operations.map((operation) => ({
      operation: operation.name,
      scope: scopeOf({ ...operationScope(spec, operation), ...more(operation) }),
    }));
  const payload = statedValue(kind.payload) ?? {};
  const making = (hasId: boolean) =>
    scopesOf(({ resource }) => ({
      event: eventVariable({ before: alteredShape(spec, resource), action: actionOf(kind), hasId }),
    }));
  const bare = making(true);
  const name = `the event ${kind.name}`;
  const { each } = kind;
  const own = each ? bare.map((use) => ({ ...use, scope: withItem(spec, use.scope, each) })) : bare;
  return [
    ...(each
      ? [
          {
            ...condition(each, `the list for which ${name} is emitted`, 'internal', making(false)),
            role: 'value' as const,
            expected: aList,
          },
        ]
      : []),
    ...(kind.if ? [condition(kind.if, `the condition of ${name}`, 'internal', own)] : []),
    ...valueUses(kind.data, payload, `the payload of ${name}`, own),
    ...(kind.to
      ? [
          condition(
            kind.to,
            `who receives ${name}`,
            'unsent',
            scopesOf(() => receiverVariables(spec, kind, payload)),
          ),
        ]
      : []),
  ];
}

/** The scope with what stands in the list for each of whose items one is emitted. */
function withItem(spec: Spec, scope: Scope, { source }: Expression): Scope {
  return scopeOf({ ...scope, item: { shape: itemShape(spec, scope, source) } });
}

function isHandler({ endpoint }: Operation): boolean {
  return endpoint !== undefined && statedValue(endpoint.does)?.verb === 'handler';
}

function condition(
  { at, source }: { at: string; source: string },
  name: string,
  failure: ExpressionUse['failure'],
  scopes: readonly UseScope[],
): ExpressionUse {
  return { at, source, name, role: 'condition', expected: aBoolean, failure, scopes };
}

const text: Shape = { type: 'string' };

/** What an event has besides its identifier, kind and time. */
interface EventMembers {
  readonly payload?: Shape;
  /** What its change altered, as it was. */
  readonly before?: Shape | undefined;
  readonly action?: 'always' | 'maybe' | undefined;
  /** What it has besides, and whether for certain. */
  readonly more?: Readonly<Record<string, Shape>>;
  readonly isCertain?: boolean;
  /** False while it is reckoned how many there are. */
  readonly hasId?: boolean;
}

/** An event; while its payload is being made it has none, and what its change altered is there. */
function eventVariable({ payload, before, action, more, isCertain, hasId = true }: EventMembers): Variable {
  const certain = {
    ...(hasId && { id: text }),
    kind: text,
    at: { type: 'string', format: timeFormat },
    ...(action === 'always' && { action: text }),
    ...(payload && { payload }),
    ...(before && { before }),
    ...(isCertain && more),
  };
  const properties = { ...certain, ...more, ...(action === 'maybe' && { action: text }) };
  return { shape: { title: 'event', type: 'object', properties, required: Object.keys(certain) } };
}

function actionOf({ action }: EventKind): EventMembers['action'] {
  return action === undefined ? undefined : 'always';
}

/** Whether an event of any kind has an action. */
function actionOfAny(spec: Spec): EventMembers['action'] {
  const kinds = entriesOf(spec.events.kinds).map(([, kind]) => actionOf(kind));
  if (spec.events.others === undefined && kinds.length > 0 && kinds.every((action) => action === 'always')) return 'always';
  return kinds.includes('always') ? 'maybe' : undefined;
}

/** What a change altered of a row, as it was: any of the fields that everybody sees. */
function alteredShape(spec: Spec, resource: string | undefined): Shape | undefined {
  const fields = entriesOf(entryOf(spec.resources.all, resource ?? '')?.fields);
  if (fields.length === 0) return undefined;
  const seen = fields.filter(([, field]) => altersInSight(spec, field));
  return {
    title: 'before',
    type: 'object',
    properties: named(seen.map(([name, { shape }]) => [name, statedValue(shape) ?? {}] as const)),
    required: [],
    additionalProperties: false,
  };
}

/** Who receives is asked once for each subscriber; the caller is then its maker. */
function receiverVariables(spec: Spec, kind: EventKind, payload: Shape): Readonly<Record<string, Variable>> {
  const caller = callerVariable(spec, isStated(spec.authentication.schemes));
  return { event: eventVariable({ payload, action: actionOf(kind) }), subscriber: subscriberVariable(spec), caller };
}

function subscriberVariable(spec: Spec): Variable {
  const subscribers = statedValue(spec.events.delivery)?.push?.subscribers;
  return { shape: subscribers ? { resource: subscribers.resource } : {} };
}

/** What the headers of a delivery read. */
function deliveryScope(spec: Spec): Scope {
  return scopeOf({
    ...everywhere,
    event: eventVariable({ payload: {}, action: actionOfAny(spec) }),
    subscriber: subscriberVariable(spec),
  });
}

/** The expressions of the log: what of an event a field holds, for each resource that events are about. */
function logUses(spec: Spec, eventOf: MakeEvent): ExpressionUse[] {
  const log = logOf(spec);
  if (!log) return [];
  const scopes = [...loggedResources(spec, operationsOf(spec))].map((resource) => ({
    operation: loggedOf(resource),
    scope: scopeFor(spec, resource, eventOf),
  }));
  const fields = entriesOf(entryOf(spec.resources.all, log.resource)?.fields);
  const shape: Shape = {
    type: 'object',
    properties: named(fields.map(([name, field]) => [name, statedValue(field.shape) ?? {}] as const)),
    required: fields.flatMap(([name, field]) => (statedValue(field.required) === true ? [name] : [])),
  };
  return valueUses(log.set, shape, 'the log of events', scopes);
}

/** Makes the variable of an event with members besides, which it has for certain, or may have. */
type MakeEvent = (more: Readonly<Record<string, Shape>>, isCertain: boolean) => Variable;

function scopeFor(spec: Spec, resource: string | undefined, eventOf: MakeEvent): Scope {
  return scopeOf({
    ...everywhere,
    event: eventOf({ resource: text, row: text }, resource !== undefined),
    row: resource === undefined ? { shape: {}, maybeAbsent: true } : { shape: { resource } },
    caller: callerVariable(spec, false),
  });
}

/** The resources that events are about; nothing among them where some may be about no row. */
export function loggedResources(spec: Spec, operations: readonly Operation[]): ReadonlySet<string | undefined> {
  return new Set(entriesOf(spec.events.kinds).flatMap(([, kind]) => aboutOf(kind, operations)));
}

function aboutOf(kind: EventKind, operations: readonly Operation[]): readonly (string | undefined)[] {
  if (kind.clock) return [kind.clock.of];
  const emitters = operations.filter((operation) => namesOperation(statedValue(kind.on) ?? [], operation, 'event'));
  const about = emitters.map(({ resource }) => resource);
  if (about.length > 0 && !about.includes(undefined)) return about;
  // What a handler emits is about the row that its payload is, where that is stored.
  const { resource } = statedValue(kind.payload) ?? {};
  return [...about, undefined, ...(typeof resource === 'string' ? [resource] : [])];
}
