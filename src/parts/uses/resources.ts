import { operationScope, resourceShape } from '../expressions/operation-scope.ts';
import { callerVariable, everywhere, type Scope, scopeOf } from '../expressions/scope.ts';
import { aBoolean, type ExpressionUse, type UseScope } from '../expressions/use.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import { type Operation, operationsOf } from '../operations.ts';
import type { Field, Resource } from '../resources.ts';
import type { Spec } from '../spec.ts';

/** The expressions of part 2: what sets fields, and for which rows a value is unique. */
export function resourceUses(spec: Spec): ExpressionUse[] {
  const operations = operationsOf(spec);
  return entriesOf(spec.resources.all).flatMap(([, resource]) => [
    ...entriesOf(resource.fields).flatMap(([, field]) => setUses(spec, operations, resource, field)),
    ...uniqueUses(resource),
  ]);
}

function setUses(spec: Spec, operations: readonly Operation[], resource: Resource, field: Field): ExpressionUse[] {
  return Object.entries(field.set).map(([key, { source, at }]) => ({
    at,
    source,
    name: `what \`${key}\` sets ${field.name} of ${resource.name} to`,
    role: 'value',
    expected: { shape: statedValue(field.shape) ?? {}, optional: statedValue(field.required) !== true },
    failure: 'internal',
    scopes: setScopes(spec, operations, resource, key),
  }));
}

function setScopes(spec: Spec, operations: readonly Operation[], resource: Resource, key: string): UseScope[] {
  const setting = operations.filter((operation) => sets(operation, resource.name, key));
  if (setting.length === 0) return [{ scope: handledScope(spec, resource.name) }];
  return setting.map((operation) => ({ operation: operation.name, scope: setScope(spec, operation, resource) }));
}

/** The scope of a `set` in an operation. All of one change read `next` as it was sent: what they set is not in a new row yet. */
function setScope(spec: Spec, operation: Operation, resource: Resource): Scope {
  const scope = operationScope(spec, operation);
  const verb = operation.endpoint && statedValue(operation.endpoint.does)?.verb;
  if (verb !== 'create' && verb !== 'upsert') return scope;
  const fields = statedValue(resource.fields);
  const isSet = (name: string) => Object.keys(fields?.[name]?.set ?? {}).some((key) => sets(operation, resource.name, key));
  return scopeOf({ ...scope, next: { shape: resourceShape(spec, resource.name, isSet) } });
}

/** Whether a key of `set` is about this operation. `write` is every change that is stored, the clock's included. */
function sets(operation: Operation, resource: string, key: string): boolean {
  if (operation.name === key) return true;
  if (operation.resource !== resource) return false;
  if (operation.transition?.name === key) return true;
  const verb = operation.by ? 'transition' : operation.endpoint && statedValue(operation.endpoint.does)?.verb;
  if (verb === undefined) return false;
  if (key === 'write') return !['read', 'list', 'delete', 'handler', 'reply'].includes(verb);
  return verb === key || (verb === 'upsert' && (key === 'create' || key === 'replace'));
}

/** A change that no endpoint makes is a handler's. */
function handledScope(spec: Spec, resource: string): Scope {
  const row = { shape: { resource } };
  return scopeOf({
    ...everywhere,
    resource: { ...row, maybeAbsent: true },
    next: row,
    caller: callerVariable(isStated(spec.authentication.schemes)),
  });
}

/** Whether a value has to be unique is a matter of the row alone, since it is kept with it. */
function uniqueUses(resource: Resource): ExpressionUse[] {
  const scope = scopeOf({ next: { shape: { resource: resource.name } } });
  return resource.unique.flatMap(({ while: condition, fields }) =>
    condition
      ? [
          {
            at: condition.at,
            source: condition.source,
            name: `the condition under which ${fields.join(' and ')} of ${resource.name} is unique`,
            role: 'condition' as const,
            expected: aBoolean,
            failure: 'internal' as const,
            scopes: [{ scope }],
          },
        ]
      : [],
  );
}
