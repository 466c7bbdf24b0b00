import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { operationScope } from '../expressions/operation-scope.ts';
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
import { type Expression, entryOf, statedValue } from '../fact.ts';
import { type Followed, followingName, isChangedAlong, referringRows } from '../followed.ts';
import type { Following } from '../following.ts';
import { type Operation, operationsOf, verbOf } from '../operations.ts';
import { levelOf } from '../shape-level.ts';
import type { Spec } from '../spec.ts';

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
