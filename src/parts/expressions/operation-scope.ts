/** What an expression can read in an operation, and what is told of rows by an event. */

import type { Json } from '../../document/document.ts';
import type { Endpoint, PathRow } from '../endpoints.ts';
import type { EventKind } from '../events.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import { callableOperations, namesOperation, type Operation, operationsOf, resourceOfEffect } from '../operations.ts';
import type { Parameter } from '../parameters.ts';
import { identifierParameter, pathParameters, requestShape } from '../payload.ts';
import { choosingShape } from '../reach.ts';
import type { Shape } from '../shape.ts';
import { fitsAll } from '../shapes/branches.ts';
import { named } from '../source.ts';
import type { Spec } from '../spec.ts';
import { type Node, parseExpression } from './node.ts';
import { callerVariable, everywhere, type Scope, scopeOf, type Variable } from './scope.ts';

const reading = ['read', 'list', 'update', 'replace', 'delete', 'transition'];
const changing = ['create', 'update', 'replace', 'upsert', 'transition'];

/** What an expression can read in an operation, as section 4 of the language says. */
export function operationScope(spec: Spec, operation: Operation): Scope {
  const row: Variable | undefined = operation.resource === undefined ? undefined : { shape: { resource: operation.resource } };
  if (operation.follows) {
    const { verb, sentWith } = operation.follows;
    const resource = verb === 'create' ? undefined : row;
    const next = verb === 'delete' ? undefined : row;
    return scopeOf({
      ...everywhere,
      resource,
      next,
      ...(sentWith && { caller: callerVariable(spec, isMakerKnown(spec, sentWith)) }),
    });
  }
  if (operation.by !== undefined && (operation.by !== 'engine' || row)) {
    return scopeOf({ ...everywhere, resource: row, next: row });
  }
  const { endpoint } = operation;
  const caller = callerVariable(spec, isCallerKnown(spec, operation));
  if (!endpoint) return scopeOf({ ...everywhere, caller });
  const verb = statedValue(endpoint.does)?.verb ?? '';
  return scopeOf({
    ...everywhere,
    request: requestVariable(spec, endpoint),
    params: { shape: paramsShape(spec, endpoint) },
    resource: reading.includes(verb) ? row : verb === 'upsert' && row ? { ...row, maybeAbsent: true } : undefined,
    next: changing.includes(verb) ? row : undefined,
    caller,
  });
}

/** Whether a caller has shown who it is wherever the operation goes on: schemes are stated, and nobody may do it without. */
export function isCallerKnown(spec: Spec, operation: Operation): boolean {
  if (!isStated(spec.authentication.schemes) || namesOperation(spec.authentication.public, operation)) return false;
  const rules = statedValue(spec.authentication.permissions) ?? [];
  return !rules.some((rule) => rule.to === 'anyone' && namesOperation(rule.allow, operation));
}

/** Whether it is known who makes rows of these, whichever way. */
function isMakerKnown(spec: Spec, resources: readonly string[]): boolean {
  const making = callableOperations(spec).filter(
    ({ resource, endpoint }) => resources.includes(resource ?? '') && statedValue(endpoint?.does)?.verb === 'create',
  );
  return making.every((operation) => isCallerKnown(spec, operation));
}

function requestVariable(spec: Spec, endpoint: Endpoint): Variable {
  const shape = requestShape(spec, endpoint);
  if (isStated(shape)) return { shape: shape.value };
  return { shape: shape.standing === 'none' ? { title: 'no body', type: 'object', properties: {} } : {} };
}

/** All parameters of an endpoint as one object, those of its path included. */
export function paramsShape(spec: Spec, endpoint: Endpoint): Shape {
  const properties: Record<string, Json> = Object.create(null);
  const required: string[] = [];
  for (const name of pathParameters(endpoint.path)) {
    properties[name] = pathShape(spec, endpoint, name);
    required.push(name);
  }
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    if (isStated(parameter.shape) || !Object.hasOwn(properties, name))
      properties[name] = parameterShape(spec, endpoint, parameter);
    if ((parameter.required || parameter.default) && !required.includes(name)) required.push(name);
  }
  return { title: 'params', type: 'object', properties, required };
}

/** A path parameter has the shape of its field: the identifier, the field of its name, or of the row that it is a key of. */
function pathShape(spec: Spec, endpoint: Endpoint, name: string): Shape {
  const key = endpoint.rows && keyShape(spec, endpoint.rows, name);
  if (key) return key;
  const resource = entryOf(spec.resources.all, resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const identifier = resource && statedValue(resource.identifier);
  const field = name === identifierParameter(endpoint) ? identifier?.field : name;
  return fieldShape(spec, endpoint, field ?? name) ?? { type: 'string' };
}

function keyShape(spec: Spec, rows: readonly PathRow[], name: string): Shape | undefined {
  for (const { resource, key } of rows) {
    const path = Object.keys(key)
      .find((one) => key[one] === name)
      ?.split('.');
    const last = path?.pop();
    const target = path?.reduce<string | undefined>((at, field) => fieldOf(spec, at, field)?.ref, resource);
    const shape = last === undefined ? undefined : fieldOf(spec, target, last)?.shape;
    if (shape) return statedValue(shape);
  }
  return undefined;
}

function fieldOf(spec: Spec, resource: string | undefined, field: string) {
  return entryOf(entryOf(spec.resources.all, resource ?? '')?.fields, field);
}

/** A filter without a schema has its field's; `in` takes a list of them. */
export function parameterShape(spec: Spec, endpoint: Endpoint, parameter: Parameter): Shape {
  if (parameter.chooses) return choosingShape(spec, endpoint, parameter);
  const shape =
    statedValue(parameter.shape) ??
    fieldShape(spec, endpoint, parameter.filters ?? parameter.name) ??
    (parameter.sorts ? { type: 'string' } : {});
  return parameter.op === 'in' && shape.type !== 'array' ? { type: 'array', items: shape } : shape;
}

function fieldShape(spec: Spec, endpoint: Endpoint, name: string): Shape | undefined {
  const resource = entryOf(spec.resources.all, resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const field = resource && entryOf(resource.fields, name);
  return field && statedValue(field.shape);
}

/** A resource of which some fields are not there for certain. */
export function resourceShape(spec: Spec, name: string, mayLack: (field: string) => boolean): Shape {
  const resource = entryOf(spec.resources.all, name);
  if (!resource || !isStated(resource.fields)) return { resource: name };
  const fields = entriesOf(resource.fields);
  return {
    title: name,
    type: 'object',
    properties: named(fields.map(([field, { shape }]) => [field, statedValue(shape) ?? {}] as const)),
    required: fields.flatMap(([field, { required }]) => (statedValue(required) === true && !mayLack(field) ? [field] : [])),
    additionalProperties: resource.additionalProperties,
  };
}

/**
 * The stated shape of a kind's payload, with the rows that its `data` puts into it as they are (`{'object': next}`): whoever is told of them sees
 * of them what it sees of any row. Nothing where no payload is stated.
 */
export function toldShape(spec: Spec, kind: EventKind): Shape | undefined {
  const stated = statedValue(kind.payload);
  if (!stated || !kind.data) return stated;
  const rows = rowsIn(kind.data, resourcesOf(spec, kind));
  return rows ? fitsAll<Json>([stated, rows]) : stated;
}

/** The resources whose changes a kind tells of. */
function resourcesOf(spec: Spec, { on, clock }: EventKind): readonly string[] {
  if (clock) return [clock.of];
  const names = statedValue(on) ?? [];
  const told = operationsOf(spec).filter((operation) => namesOperation(names, operation));
  return [...new Set(told.flatMap(({ resource }) => resource ?? []))];
}

function rowsIn(data: NonNullable<EventKind['data']>, resources: readonly string[]): Shape | undefined {
  if ('source' in data && typeof data.source === 'string') return rowsAt(nodeOf(data as Expression), resources);
  return membersOf(Object.entries(data).map(([name, one]) => [name, rowsAt(nodeOf(one as Expression), resources)]));
}

function nodeOf({ source }: Expression): Node | undefined {
  const parsed = parseExpression(source);
  return 'unparsed' in parsed ? undefined : parsed.node;
}

/** The shape of what an expression makes, as far as rows stand in it whole. */
function rowsAt(node: Node | undefined, resources: readonly string[]): Shape | undefined {
  switch (node?.op) {
    case 'name':
      return node.name === 'next' || node.name === 'resource' ? eitherOf(resources.map((resource) => ({ resource }))) : undefined;
    case 'find':
      return { resource: node.resource };
    case 'choose':
      return eitherOf([rowsAt(node.yes, resources), rowsAt(node.no, resources)]);
    case 'list': {
      const items = eitherOf(node.items.map((item) => rowsAt(item, resources)));
      return items && { type: 'array', items };
    }
    case 'map':
      return membersOf(
        node.entries.flatMap(([key, value]) =>
          key.op === 'literal' && typeof key.value === 'string' ? [[key.value, rowsAt(value, resources)]] : [],
        ),
      );
    default:
      return undefined;
  }
}

function eitherOf(shapes: readonly (Shape | undefined)[]): Shape | undefined {
  const known = shapes.filter((shape) => shape !== undefined);
  return known.length < 2 ? known[0] : fitsAll<Json>(known);
}

function membersOf(members: readonly (readonly [string, Shape | undefined])[]): Shape | undefined {
  const known = members.flatMap(([name, shape]): [string, Json][] => (shape ? [[name, shape]] : []));
  return known.length === 0 ? undefined : { type: 'object', properties: Object.fromEntries(known) };
}
