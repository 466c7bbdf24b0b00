import { timeFormat } from '../../kinds/formats/all.ts';
import type { EventKind } from '../events.ts';
import { operationScope } from '../expressions/operation-scope.ts';
import { callerVariable, everywhere, type Scope, scopeOf, type Variable } from '../expressions/scope.ts';
import { aBoolean, type ExpressionUse, type UseScope } from '../expressions/use.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import { namesOperation, type Operation, operationsOf } from '../operations.ts';
import type { Shape } from '../shape.ts';
import type { Spec } from '../spec.ts';
import { headerUses, valueUses } from './endpoints.ts';

/** The expressions of part 6: when an event is emitted, what it says, who receives it, and how it is wrapped. */
export function eventUses(spec: Spec): ExpressionUse[] {
  const delivery = statedValue(spec.events.delivery);
  const scopes = [{ scope: deliveryScope(spec) }];
  const place = 'every delivery';
  return [
    ...entriesOf(spec.events.kinds).flatMap(([, kind]) => kindUses(spec, kind)),
    ...(delivery?.push ? headerUses(delivery.push.headers, place, scopes) : []),
    ...valueUses(delivery?.envelope.expressions, {}, 'the envelope of events', [
      { scope: scopeOf({ ...everywhere, event: eventVariable({}) }) },
    ]),
  ];
}

function kindUses(spec: Spec, kind: EventKind): ExpressionUse[] {
  const all = operationsOf(spec);
  const named = all.filter((operation) => namesOperation(statedValue(kind.on) ?? [], operation, 'event'));
  // An event that no operation is named for can only be a handler's.
  const operations = named.length > 0 ? named : all.filter(isHandler);
  const scopesOf = (more: Readonly<Record<string, Variable>>): UseScope[] =>
    operations.map((operation) => ({
      operation: operation.name,
      scope: scopeOf({ ...operationScope(spec, operation), ...more }),
    }));
  const payload = statedValue(kind.payload) ?? {};
  const bare = scopesOf({ event: eventVariable() });
  const name = `the event ${kind.name}`;
  return [
    ...(kind.if ? [condition(kind.if, `the condition of ${name}`, 'internal', bare)] : []),
    ...valueUses(kind.data, payload, `the payload of ${name}`, bare),
    ...(kind.to ? [condition(kind.to, `who receives ${name}`, 'unsent', scopesOf(receiverVariables(spec, payload)))] : []),
  ];
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

/** An event; while its payload is being made it has none. */
function eventVariable(payload?: Shape): Variable {
  const properties = { id: text, kind: text, at: { type: 'string', format: timeFormat }, ...(payload && { payload }) };
  return { shape: { title: 'event', type: 'object', properties, required: Object.keys(properties) } };
}

/** Who receives is asked once for each subscriber; the caller is then its maker. */
function receiverVariables(spec: Spec, payload: Shape): Readonly<Record<string, Variable>> {
  const caller = callerVariable(isStated(spec.authentication.schemes));
  return { event: eventVariable(payload), subscriber: subscriberVariable(spec), caller };
}

function subscriberVariable(spec: Spec): Variable {
  const subscribers = statedValue(spec.events.delivery)?.push?.subscribers;
  return { shape: subscribers ? { resource: subscribers.resource } : {} };
}

/** What the headers of a delivery read. */
function deliveryScope(spec: Spec): Scope {
  return scopeOf({ ...everywhere, event: eventVariable({}), subscriber: subscriberVariable(spec) });
}
