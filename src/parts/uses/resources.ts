import { itemScope, itemValueScope } from '../derived/aggregates.ts';
import { type Derivation, derivationsOf } from '../derived/derivations.ts';
import { operationScope, resourceShape } from '../expressions/operation-scope.ts';
import {
  aBoolean,
  callerVariable,
  type ExpressionUse,
  everywhere,
  type Scope,
  scopeOf,
  type UseScope,
} from '../expressions/scope.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import { followedOf } from '../followed.ts';
import { type Operation, operationsOf, verbOf } from '../operations.ts';
import { isWritable } from '../payload.ts';
import type { Field, Resource } from '../resources.ts';
import type { Spec } from '../spec.ts';
import { transitionNamed } from '../states.ts';
import { deletedUses } from './endpoints.ts';
import { followingUses } from './states.ts';

/** The expressions of part 2: what sets fields, and for which rows a value is unique. */
export function resourceUses(spec: Spec): ExpressionUse[] {
  const operations = operationsOf(spec);
  const followed = followedOf(spec).filter(({ change }) => typeof change === 'string');
  return [
    ...entriesOf(spec.resources.all).flatMap(([, resource]) => [
      ...entriesOf(resource.fields).flatMap(([, field]) => setUses(spec, operations, resource, field)),
      ...uniqueUses(resource),
      ...ruleUses(spec, resource),
      ...deletedUses(spec, operations, resource),
      ...derivationsOf(spec)
        .of(resource.name)
        .flatMap((derivation) => derivedUses(spec, derivation)),
    ]),
    ...followingUses(spec, followed),
  ];
}

/** A derived field has one expression over its row, and one or two for each aggregate over the rows that refer to it. */
function derivedUses(spec: Spec, { resource, field, at, source, scope, aggregates }: Derivation): ExpressionUse[] {
  const name = `what ${field.name} of ${resource} is derived of`;
  const one = { at, failure: 'internal' as const };
  const optional = statedValue(field.required) !== true;
  return [
    { ...one, source, name, role: 'value', expected: { shape: statedValue(field.shape) ?? {}, optional }, scopes: [{ scope }] },
    ...aggregates.flatMap(({ word, from, value, where }): ExpressionUse[] => {
      const over = `what \`${word}\` goes over in ${name}`;
      const values = { expected: anything, scopes: [{ scope: itemValueScope(spec, from) }] };
      const counts = { expected: aBoolean, scopes: [{ scope: itemScope(from) }] };
      return [
        ...(value === undefined ? [] : [{ ...one, source: value, name: over, role: 'value' as const, ...values }]),
        ...(where === undefined
          ? []
          : [{ ...one, source: where, name: `which rows count in ${name}`, role: 'condition' as const, ...counts }]),
      ];
    }),
  ];
}

const anything = { shape: {}, optional: true };

function setUses(spec: Spec, operations: readonly Operation[], resource: Resource, field: Field): ExpressionUse[] {
  return Object.entries(field.set).map(([key, { source, at }]) => ({
    at,
    source,
    name: `what \`${key}\` sets ${field.name} of ${resource.name} to`,
    role: 'value',
    expected: { shape: statedValue(field.shape) ?? {}, optional: statedValue(field.required) !== true },
    failure: 'internal',
    // What an act gives is not set besides.
    scopes:
      resource.identifier.standing === 'none'
        ? [{ scope: valueScope(spec, resource, key) }]
        : setScopes(
            spec,
            operations.filter(({ follows }) => !follows?.gives.includes(field.name)),
            resource,
            key,
          ),
  }));
}

/** What is set inside a value reads the value around it, of whatever row that is; what it was sent with may not be there. */
function valueScope(spec: Spec, resource: Resource, key: string): Scope {
  const fields = statedValue(resource.fields);
  // Of a value that was there a change may send a part, and what is never stored is in nothing but what is sent.
  const isPartial = key !== 'create';
  const mayLack = (name: string) =>
    (isPartial && fields?.[name]?.stored === false) || Object.keys(fields?.[name]?.set ?? {}).length > 0;
  return scopeOf({
    ...everywhere,
    value: { shape: resourceShape(spec, resource.name, mayLack) },
    caller: callerVariable(spec, false),
  });
}

function setScopes(spec: Spec, operations: readonly Operation[], resource: Resource, key: string): UseScope[] {
  const moving = transitionNamed(spec.states, resource.name, key)?.on;
  const setting = operations.filter((operation) => sets(operation, resource.name, key) || moving?.includes(operation.name));
  if (setting.length === 0) return [{ scope: handledScope(spec, resource.name) }];
  return setting.map((operation) => ({ operation: operation.name, scope: setScope(spec, operation, resource) }));
}

/** The scope of a `set` in an operation. All of one change read `next` as it was sent: what they set is not in a new row yet. */
function setScope(spec: Spec, operation: Operation, resource: Resource): Scope {
  const scope = operationScope(spec, operation);
  const verb = verbOf(operation);
  if (verb !== 'create' && verb !== 'upsert') return scope;
  const fields = statedValue(resource.fields);
  const isSet = (name: string) =>
    fields?.[name]?.derive !== undefined ||
    Object.keys(fields?.[name]?.set ?? {}).some((key) => sets(operation, resource.name, key));
  return scopeOf({ ...scope, next: { shape: resourceShape(spec, resource.name, isSet) } });
}

/** Whether a key of `set` is about this operation. `write` is every change that is stored, the clock's included. */
function sets(operation: Operation, resource: string, key: string): boolean {
  if (operation.name === key) return true;
  if (operation.resource !== resource) return false;
  if (operation.transition?.name === key) return true;
  const verb = verbOf(operation);
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
    caller: callerVariable(spec, isStated(spec.authentication.schemes)),
  });
}

/** A rule speaks of what can be sent: what the service adds to it may not be there yet. */
function ruleUses(spec: Spec, resource: Resource): ExpressionUse[] {
  const fields = statedValue(resource.fields);
  const isAdded = (name: string) => {
    const field = fields?.[name];
    return !field || !isWritable(spec, resource, field) || field.generate !== undefined || Object.keys(field.set).length > 0;
  };
  const scope = scopeOf({ next: { shape: resourceShape(spec, resource.name, isAdded) } });
  return Object.values(resource.rules).map((rule) => ({
    at: rule.if.at,
    source: rule.if.source,
    name: `the rule ${rule.name} of ${resource.name}`,
    role: 'condition',
    expected: aBoolean,
    failure: 'internal',
    scopes: [{ scope }],
  }));
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
