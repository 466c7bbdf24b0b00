/** What a permission rule is compiled of: its expressions, and what they need of a row in a column. */

import type { Permission } from '../../parts/authentication.ts';
import type { FilterKind } from '../../parts/expressions/filter-form.ts';
import { instantOf } from '../../parts/expressions/time-functions.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { ColumnSpec, Scalar } from '../../store/store.ts';
import { type ColumnCode, fieldCode } from '../exchange/column.ts';
import type { Evaluate, PreparedExpression } from '../exchange/compilation.ts';
import type { Caller, Fields, Value } from '../exchange/exchange.ts';
import { toJson } from '../http/json.ts';

/** Prepares an expression in the scope of one operation. */
export type Prepare = (expression: Expression, operation?: string) => PreparedExpression;

/** A permission as it concerns one user in one operation. */
export interface UserPermission {
  /** Its place in the document, and the operation in whose scope its condition is read. */
  readonly key: string;
  readonly scopes: readonly string[];
  /** Nothing = it holds whoever asks for what. */
  readonly condition: PreparedExpression | undefined;
  /** Whether it is decided once the body was found right: it reads the body, or the row as it would be stored. */
  readonly isLate: boolean;
  readonly readsRow: boolean;
  /** The fields that it shows; all where none are named. */
  readonly fields: readonly string[] | undefined;
  /** The code of a refusal that it asks for. */
  readonly orElse: string | undefined;
}

/** The rules that allow an operation to a user, in document order; no user = nobody is known. */
export function rulesOf(
  spec: Spec,
  operations: readonly Operation[],
  user: string | undefined,
  prepare: Prepare,
): UserPermission[] {
  const { permissions } = spec.authentication;
  // `permissions: none`: every known caller may do everything.
  if (permissions.standing === 'none') return user === undefined ? [] : [{ ...unconditional, key: permissions.at }];
  return (statedValue(permissions) ?? []).flatMap((permission) => {
    const operation = operations.find((candidate) => namesOperation(permission.allow, candidate));
    return operation && isFor(permission, user) ? [compileRule(permission, operation, prepare)] : [];
  });
}

const unconditional = { fields: undefined, scopes: [], condition: undefined, isLate: false, readsRow: false, orElse: undefined };

function isFor({ to }: Permission, user: string | undefined): boolean {
  return to === 'anyone' || (user !== undefined && to.includes(user));
}

function compileRule(
  { at, scopes, fields, if: condition, else: orElse }: Permission,
  operation: Operation,
  prepare: Prepare,
): UserPermission {
  const prepared = condition && prepare(condition, operation.name);
  const roots = new Set(prepared?.reads().map(({ root }) => root));
  return {
    key: `${at}\n${operation.name}`,
    scopes,
    fields,
    condition: prepared,
    isLate: !isLooking(operation) && (roots.has('next') || roots.has('request')),
    readsRow: roots.has('resource'),
    orElse,
  };
}

/** Reading and listing take no body and store nothing, so that all of a rule can be decided at once. */
function isLooking({ endpoint }: Operation): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return verb === 'read' || verb === 'list';
}

/** Whether a condition holds; one that cannot be evaluated does not. */
export function holds(condition: { readonly evaluate: Evaluate }, scope: Readonly<Record<string, Value>>): boolean {
  return condition.evaluate(scope) === true;
}

/** All of a rule's scopes must be the caller's. */
export function hasScopes(caller: Caller | undefined, scopes: readonly string[]): boolean {
  return scopes.length === 0 || (caller !== undefined && scopes.every((scope) => caller.scopes.includes(scope)));
}

/** The operations of a resource with one of these verbs. */
export function operationsOn(spec: Spec, resource: string, verb: string): Operation[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    return effect?.verb === verb && resourceOfEffect(effect) === resource
      ? [{ name: endpoint.operation, resource, endpoint }]
      : [];
  });
}

/** What a request brings to its rules: request, params, caller, now, operation, version, follow. */
export type Bindings = Readonly<Record<string, Value>>;

export function callerOf(scope: Bindings): Caller | undefined {
  // Whoever makes a scope puts the exchange's caller in it, or nobody.
  return scope.caller as Caller | undefined;
}

/** What a rule needs of a row in a column: a value as conditions compare it, the id that a reference holds, or whether something is there. */
export type ColumnUse = Exclude<FilterKind, 'any'> | 'presence';

/** A column that is there for the rules of lists alone. */
export interface RuleColumn extends ColumnSpec {
  read(fields: Fields): Scalar;
}

/** The columns that the rules of lists need, by resource: plain fields by their names, and columns of their own. */
export class RuleColumns {
  readonly #spec: Spec;
  readonly #fields = new Map<string, Set<string>>();
  readonly #own = new Map<string, Map<string, RuleColumn>>();
  readonly #sought = new Map<string, Map<string, readonly string[]>>();

  constructor(spec: Spec) {
    this.#spec = spec;
  }

  fieldsOf(resource: string): readonly string[] {
    return [...(this.#fields.get(resource) ?? [])];
  }

  ownOf(resource: string): readonly RuleColumn[] {
    return [...(this.#own.get(resource)?.values() ?? [])];
  }

  /** The columns by which rows of a resource are looked up together. */
  soughtOf(resource: string): readonly (readonly string[])[] {
    return [...(this.#sought.get(resource)?.values() ?? [])];
  }

  /** Rows of a resource are looked up by these columns. */
  seek(resource: string, columns: readonly string[]): void {
    entry(this.#sought, resource, () => new Map<string, readonly string[]>()).set(columns.toSorted().join('\n'), columns);
  }

  /** The name of the column that holds a path of a resource, which is there from now on. */
  name(resource: string, path: readonly string[], use: ColumnUse): string {
    const [first = ''] = path;
    if (path.length === 1 && this.#isPlain(resource, first, use)) {
      entry(this.#fields, resource, () => new Set<string>()).add(first);
      return first;
    }
    const name = `rule ${use} ${path.join('.')}`;
    const { type, encode } = codes[use];
    const read = (fields: Fields) => encode(valueAt(fields, path));
    entry(this.#own, resource, () => new Map<string, RuleColumn>()).set(name, { name, type, made: `rule ${use}`, read });
    return name;
  }

  /** The name of the column that holds what a parameter compares: one value, or all that stand along a list, as a JSON array. */
  chosen(resource: string, names: readonly string[], code: ColumnCode, isList: boolean): string {
    const [first = ''] = names;
    const stated = entryOf(this.#spec.resources.all, resource);
    const field = names.length === 1 && !isList ? stated && entryOf(stated.fields, first) : undefined;
    if (field && fieldCode(this.#spec, field).made === code.made) {
      entry(this.#fields, resource, () => new Set<string>()).add(first);
      return first;
    }
    const made = `${isList ? 'chosen list' : 'chosen'} ${code.made}`;
    const name = `${made} ${names.join('.')}`;
    const read = isList
      ? (fields: Fields) => listAlong(fields, names, code)
      : (fields: Fields) => code.encode(valueAt(fields, names));
    const type = isList ? 'text' : code.type;
    entry(this.#own, resource, () => new Map<string, RuleColumn>()).set(name, { name, type, made, read });
    return name;
  }

  /** Whether the field's own column holds what a condition compares: not so for a text without case, a decimal or an instant. */
  #isPlain(resource: string, name: string, use: ColumnUse): boolean {
    const stated = entryOf(this.#spec.resources.all, resource);
    const field = stated && entryOf(stated.fields, name);
    if (!field) return false;
    const { made } = fieldCode(this.#spec, field);
    // Whether something is there, any column of the field tells that there is already.
    return use === 'presence' ? this.#fields.get(resource)?.has(name) === true : made === plainly[use];
  }
}

/** The word of the column code that keeps a value as conditions compare it. */
const plainly: Readonly<Record<ColumnUse, string | undefined>> = {
  string: 'text',
  int: 'integer',
  double: 'number',
  bool: 'boolean',
  timestamp: undefined,
  id: 'text',
  presence: undefined,
};

/** A value of another type than the expected one fails a condition, and null does so in a database. */
const codes: Readonly<Record<ColumnUse, { readonly type: ColumnSpec['type']; encode(value: Value): Scalar }>> = {
  string: { type: 'text', encode: (value) => (typeof value === 'string' ? value : null) },
  int: { type: 'integer', encode: integer },
  double: { type: 'real', encode: (value) => (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null) },
  bool: { type: 'integer', encode: (value) => (typeof value === 'boolean' ? Number(value) : null) },
  timestamp: { type: 'integer', encode: milliseconds },
  id: { type: 'text', encode: (value) => (isIdentifier(value) ? String(value) : null) },
  presence: { type: 'integer', encode: (value) => (value === undefined || value === null ? null : 1) },
};

function integer(value: Value): Scalar {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : null;
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

/** A date-time, or a time in seconds. */
function milliseconds(value: Value): Scalar {
  if (typeof value === 'string') return instantOf(value) ?? null;
  return typeof value === 'number' || typeof value === 'bigint' ? Math.trunc(Number(value) * 1000) : null;
}

function isIdentifier(value: Value): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

function valueAt(fields: Fields, path: readonly string[]): Value {
  let at: Value = fields;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    // An object that has a member of this name.
    at = (at as Fields)[name];
  }
  return at;
}

/** All values that stand along a path with lists in it; null where there are none. Texts that hold U+0000 are in no array of PostgreSQL. */
function listAlong(fields: Fields, names: readonly string[], code: ColumnCode): string | null {
  let values: readonly Value[] = [fields];
  for (const name of names) values = values.flatMap((value) => valueAt(isFields(value) ? value : {}, [name]) ?? []);
  const encoded = values.map((value) => code.encode(value)).filter((one) => one !== null && !String(one).includes('\0'));
  return encoded.length === 0 ? null : toJson(encoded);
}

function isFields(value: Value): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entry<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}
