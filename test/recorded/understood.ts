import { conditions } from '../../src/parts/conditions.ts';
import { compileDefaults } from '../../src/parts/defaults.ts';
import { derivationsOf } from '../../src/parts/derived/derivations.ts';
import type { Endpoint } from '../../src/parts/endpoints.ts';
import { entriesOf, statedValue } from '../../src/parts/fact.ts';
import { countsOf, ledgerOf } from '../../src/parts/facts/ledger.ts';
import { actsAfter, comingOf, followedOf, isChangedAlong, referringRows } from '../../src/parts/followed.ts';
import { uniquesOf } from '../../src/parts/inner-values.ts';
import { altersInSight, leftOutOf, mayBeUntold, neverShownTo } from '../../src/parts/left-out.ts';
import { callableOperations, operationsOf, verbOf } from '../../src/parts/operations.ts';
import { boundRows, lookupOf, ownRow, parentRows, pathWays, referringField } from '../../src/parts/path-keys.ts';
import {
  boundByPath,
  identifierParameter,
  isAlwaysShown,
  isWritable,
  replacesChildren,
  requestShape,
  writableShape,
} from '../../src/parts/payload.ts';
import { arisesAt, arisingConditions, isGivenInParts, refusingActs, ruleFor } from '../../src/parts/possible-errors.ts';
import { choosingShape, reachOf } from '../../src/parts/reach.ts';
import type { Resource } from '../../src/parts/resources.ts';
import { resourcesIn, shapesOf, valueShape } from '../../src/parts/shape-level.ts';
import type { Spec } from '../../src/parts/spec.ts';
import { stateOfDeleted, transitionsOf } from '../../src/parts/states.ts';

/** What reading makes of a document, and what follows from that alone, by what it is about. */
export function understood(whole: Spec): Readonly<Record<string, unknown>> {
  const { document: _, ...spec } = whole;
  return {
    spec,
    ledger: [ledgerOf(whole), countsOf(whole)],
    operations: operationsOf(whole).map((operation) => [operation.name, verbOf(operation), ...refusals(whole, operation)]),
    endpoints: entriesOf(whole.endpoints.all).map(([key, endpoint]) => [key, ofEndpoint(whole, endpoint)]),
    resources: entriesOf(whole.resources.all).map(([name, resource]) => [name, ofResource(whole, resource)]),
    follows: follows(whole),
    shown: [...userNames(whole), undefined].map((user) => [
      fieldsOf(leftOutOf(whole, { user })),
      fieldsOf(neverShownTo(whole, { user })),
    ]),
    errors: [arisingConditions(whole), conditions.filter((one) => isGivenInParts(whole, one, new Set(conditions.slice(0, 40))))],
  };
}

function userNames({ purpose }: Spec): string[] {
  return entriesOf(purpose.users).map(([name]) => name);
}

function fieldsOf(fields: ReadonlySet<{ readonly at: string }>): string[] {
  return [...fields].map(({ at }) => at);
}

function refusals(spec: Spec, operation: ReturnType<typeof operationsOf>[number]): unknown[] {
  return [
    conditions
      .filter((condition) => arisesAt(spec, condition, operation))
      .map((condition) => [condition, ruleFor(spec.errors, condition, operation)?.code.name]),
    refusingActs(spec, operation).map(({ at }) => at),
  ];
}

function ofEndpoint(spec: Spec, endpoint: Endpoint): unknown[] {
  const does = statedValue(endpoint.does);
  const rows = endpoint.rows ?? [];
  const identifier = identifierParameter(endpoint);
  return [
    [requestShape(spec, endpoint), boundByPath(spec, endpoint), identifier, mayBeUntold(spec, endpoint)],
    [ownRow(endpoint), parentRows(endpoint), boundRows(spec, endpoint), [...pathWays(spec, endpoint, identifier)]],
    rows.map((row, at) => lookupOf(spec, row, rows.slice(0, at))),
    does && [replacesChildren(spec, does), actsAfter(spec, does, endpoint.operation).map(({ at }) => at)],
    entriesOf(endpoint.parameters).map(([name, one]) => [name, one.chooses && choosingShape(spec, endpoint, one)]),
  ];
}

function ofResource(spec: Spec, resource: Resource): unknown[] {
  const { name } = resource;
  const fields = entriesOf(resource.fields);
  const others = entriesOf(spec.resources.all).map(([other]) => other);
  return [
    fields.map(([field, one]) => [field, isWritable(spec, resource, one), isAlwaysShown(spec, one), altersInSight(spec, one)]),
    fields
      .flatMap(([field]) => [field, ...others.map((other) => `${other}.${name}.${field}`)])
      .map((path) => reachOf(spec, name, path)),
    others.map((other) => referringField(spec, name, other)),
    [uniquesOf(resource), valueShape(spec, name), shapesOf(spec, name).map((shape) => [...resourcesIn(shape)])],
    [writableShape(spec, resource, []), writableShape(spec, resource, 'all'), writableShape(spec, resource, ['id'], 'replace')],
    [stateOfDeleted(spec, resource), transitionsOf(spec.states, name).map(([key]) => key)],
    [isChangedAlong(spec, name, 'cascade'), isChangedAlong(spec, name, 'clear'), filled(spec, name)],
  ];
}

/** An empty value of a resource, with its defaults. */
function filled(spec: Spec, resource: string): unknown {
  const value = {};
  compileDefaults(spec, { resource })?.(value);
  return value;
}

function follows(spec: Spec): unknown[] {
  const derived = derivationsOf(spec);
  return [
    followedOf(spec).map(({ at, acts }) => [
      at,
      comingOf(spec, acts).map((act) => act.at),
      acts.map(({ each }) => each && referringRows(spec, each)),
    ]),
    derived.all.map(({ field, ...rest }) => [field.name, { ...rest, resource: rest.resource }]),
    entriesOf(spec.resources.all).map(([name]) => derived.of(name).map(({ field }) => field.name)),
    callableOperations(spec).map(({ name }) => name),
  ];
}
