/** The expressions of transitions, and of what follows from a change. */

import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { timeFormat } from '../../kinds/formats/all.ts';
import type { Following } from '../effects.ts';
import { operationScope, resourceShape } from '../expressions/operation-scope.ts';
import {
  aBoolean,
  type Expected,
  type ExpressionUse,
  everywhere,
  type Scope,
  scopeOf,
  type UseScope,
  type Variable,
} from '../expressions/scope.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import { type Followed, followedOf, followingName, isChangedAlong, referringRows } from '../followed.ts';
import { type Operation, operationsOf, verbOf } from '../operations.ts';
import { levelOf } from '../shape-level.ts';
import type { Spec } from '../spec.ts';
import { allMachines, type Machine, machinesOf, type Transition } from '../states.ts';

/** The expressions of part 3: what lets a transition happen, where it leads, and when the clock fires it. */
export function stateUses(spec: Spec): ExpressionUse[] {
  if (!isStated(spec.states.all)) return [];
  const operations = operationsOf(spec);
  const rows = allMachines(spec.states).flatMap((machine) => {
    const transitions = entriesOf(machine.transitions).flatMap(([, transition]) =>
      transitionUses(spec, operations, machine.resource, transition),
    );
    return [...initialUses(spec, operations, machine), ...transitions];
  });
  const followed = followedOf(spec).filter(({ change }) => typeof change !== 'string');
  return [...rows, ...followingUses(spec, followed)];
}

function initialUses(spec: Spec, operations: readonly Operation[], machine: Machine): ExpressionUse[] {
  const { resource, field } = machine;
  // The machines stand in the order of the document: where one begins, what stands before it has begun.
  const all = machinesOf(spec.states, resource).map((one) => one.field);
  const later = all.slice(Math.max(0, all.indexOf(field)));
  const next = { shape: resourceShape(spec, resource, (name) => later.includes(name)) };
  const scopes = operations.flatMap((operation): UseScope[] => {
    const verb = verbOf(operation);
    if (operation.resource !== resource || (verb !== 'create' && verb !== 'upsert')) return [];
    return [{ operation: operation.name, scope: scopeOf({ ...operationScope(spec, operation), next }) }];
  });
  const some = scopes.length > 0 ? scopes : [{ scope: scopeOf({ ...everywhere, next }) }];
  return machine.initial.flatMap((target) =>
    target.if ? [condition(target.if, `the condition of the first state ${target.state} of ${resource}`, 'internal', some)] : [],
  );
}

function transitionUses(spec: Spec, operations: readonly Operation[], resource: string, transition: Transition): ExpressionUse[] {
  const firing = operations.filter(
    (operation) =>
      operation.resource === resource && (operation.transition === transition || transition.on?.includes(operation.name)),
  );
  const row = { shape: { resource } };
  const scopes: UseScope[] =
    firing.length > 0
      ? firing.map((operation) => ({ operation: operation.name, scope: operationScope(spec, operation) }))
      : [{ scope: scopeOf({ ...everywhere, resource: row, next: row }) }];
  const name = `the transition ${transition.name} of ${resource}`;
  return [
    ...(transition.if ? [condition(transition.if, `the condition of ${name}`, 'blocked', scopes)] : []),
    ...transition.to.flatMap((target) =>
      target.if ? [condition(target.if, `the condition of the state ${target.state} of ${name}`, 'blocked', scopes)] : [],
    ),
    ...(transition.atTime ? [timeUse(transition.atTime, name, resource)] : []),
  ];
}

const aTime: Expected = { shape: { type: 'string', format: timeFormat }, optional: true };

/** When the clock fires is a matter of the row as it is stored; null = never. */
function timeUse({ at, source }: Expression, name: string, resource: string): ExpressionUse {
  const scope = scopeOf({ ...everywhere, resource: { shape: { resource } } });
  return { at, source, name: `the time of ${name}`, role: 'value', expected: aTime, failure: 'internal', scopes: [{ scope }] };
}

function condition(
  { at, source }: Expression,
  name: string,
  failure: ExpressionUse['failure'],
  scopes: readonly UseScope[],
): ExpressionUse {
  return { at, source, name, role: 'condition', expected: aBoolean, failure, scopes };
}

/** The expressions of what follows from changes: for which rows it is done, whether, and what it gives them. */
export function followingUses(spec: Spec, followed: readonly Followed[]): ExpressionUse[] {
  if (followed.length === 0) return [];
  const operations = operationsOf(spec);
  return followed.flatMap((one) => {
    const scopes = followingScopes(spec, operations, one);
    return one.acts.flatMap((act) => actUses(spec, act, scopes));
  });
}

function actUses(spec: Spec, act: Following, scopes: readonly UseScope[]): ExpressionUse[] {
  const { does, each, to, if: condition, set } = act;
  const name = does ? followingName(does) : 'what follows';
  const rows = each && referringRows(spec, each);
  const inside = each ? scopes.map(({ scope, ...rest }) => ({ ...rest, scope: withItem(spec, scope, each) })) : scopes;
  const resource = does && entryOf(spec.resources.all, does.resource);
  const value = ({ at, source }: Expression, what: string, expected: Expected, own: readonly UseScope[]): ExpressionUse => ({
    at,
    source,
    name: what,
    role: 'value',
    expected,
    failure: 'internal',
    scopes: own,
  });
  return [
    ...(each && !rows ? [value(each, `the list for which ${name} is done`, aList, scopes)] : []),
    ...(condition
      ? [{ ...value(condition, `the condition under which ${name} is done`, aBoolean, inside), role: 'condition' as const }]
      : []),
    ...(to
      ? [value(to, `the row that ${name} is done to`, { shape: { ref: does?.resource ?? '' }, optional: true }, inside)]
      : []),
    ...Object.entries(set).map(([name, given]) => {
      const field = resource && entryOf(resource.fields, name);
      const expected = {
        shape: (field && statedValue(field.shape)) ?? {},
        optional: statedValue(field?.required) !== true,
      };
      return value(given, `what is given to ${name} of ${does?.resource ?? 'the row'}`, expected, inside);
    }),
  ];
}

/** A list, or nothing. */
export const aList: Expected = { shape: { type: 'array' }, optional: true };

/** What acts can read: what the change itself could, and the row before it and as it was stored. */
export function followingScopes(spec: Spec, operations: readonly Operation[], followed: Followed): UseScope[] {
  const { resource, change } = followed;
  const row: Variable = { shape: { resource } };
  const rows = { resource: change === 'created' ? undefined : row, next: change === 'deleted' ? undefined : row };
  const causing = operations.filter((operation) => isCausing(operation, followed));
  const scopes = causing.map((operation) => ({
    operation: operation.name,
    scope: scopeOf({ ...operationScope(spec, operation), ...rows }),
  }));
  const along = change === 'deleted' ? 'cascade' : change === 'updated' ? 'clear' : undefined;
  const isAlone = scopes.length === 0 || (along !== undefined && isChangedAlong(spec, resource, along));
  return isAlone ? [...scopes, { scope: scopeOf({ ...everywhere, ...rows }) }] : scopes;
}

const verbsOf = {
  created: ['create', 'upsert'],
  updated: ['update', 'replace', 'upsert'],
  deleted: ['delete'],
} as const;

/** Whether an operation brings about the change. */
function isCausing(operation: Operation, { resource, change }: Followed): boolean {
  if (operation.resource !== resource) return false;
  if (typeof change !== 'string') return operation.transition === change.transition;
  if (operation.by === 'engine') return change === 'updated';
  const verbs: readonly (string | undefined)[] = verbsOf[change];
  return verbs.includes(verbOf(operation));
}

/** The scope with `item`: a row, or what stands in the list. */
function withItem(spec: Spec, scope: Scope, each: Expression): Scope {
  const rows = referringRows(spec, each);
  const item: Variable = { shape: rows ? { resource: rows.resource } : itemShape(spec, scope, each.source) };
  return scopeOf({ ...scope, item });
}

/** The shape of what stands in a list that a path leads to, also where only some of it is taken. */
export function itemShape(spec: Spec, scope: Scope, source: string): JsonMap {
  const shape = shapeAlong(spec, scope, source.split('.filter(', 1)[0] ?? source);
  const items = shape && levelOf(spec, shape).items;
  return isMap(items) ? items : {};
}

/** The shape that a path leads to; nothing where it is reckoned. */
export function shapeAlong(spec: Spec, scope: Scope, source: string): JsonMap | undefined {
  const [first = '', ...steps] = source.trim().split('.');
  const variable = Object.hasOwn(scope, first) ? scope[first] : undefined;
  let shape: JsonMap | undefined = variable && 'shape' in variable ? variable.shape : undefined;
  for (const step of steps) {
    const followedShape: JsonMap | undefined = typeof shape?.ref === 'string' ? { resource: shape.ref } : shape;
    shape = followedShape && levelOf(spec, followedShape).members.find(({ name }) => name === step)?.shape;
  }
  return shape;
}
