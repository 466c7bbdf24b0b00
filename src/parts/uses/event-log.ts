import { loggedOf, logOf } from '../event-log.ts';
import { callerVariable, everywhere, type Scope, scopeOf, type Variable } from '../expressions/scope.ts';
import type { ExpressionUse } from '../expressions/use.ts';
import { entriesOf, entryOf, statedValue } from '../fact.ts';
import { loggedResources } from '../logged.ts';
import { operationsOf } from '../operations.ts';
import type { Shape } from '../shape.ts';
import { named } from '../source.ts';
import type { Spec } from '../spec.ts';
import { valueUses } from './endpoints.ts';

/** The expressions of the log: what of an event a field holds, for each resource that events are about. */
export function logUses(spec: Spec, eventOf: MakeEvent): ExpressionUse[] {
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

const text: Shape = { type: 'string' };

function scopeFor(spec: Spec, resource: string | undefined, eventOf: MakeEvent): Scope {
  return scopeOf({
    ...everywhere,
    event: eventOf({ resource: text, row: text }, resource !== undefined),
    row: resource === undefined ? { shape: {}, maybeAbsent: true } : { shape: { resource } },
    caller: callerVariable(spec, false),
  });
}
