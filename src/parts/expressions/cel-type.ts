/** The types of expressions, and the types that functions take. */

import { type CelValue, Duration, type Frame } from './cel-value.ts';

/** The type of an expression. Objects come from shapes; a `ref` is a string that a further field follows. */
export type CelType =
  | { readonly is: 'bool' | 'int' | 'double' | 'string' | 'duration' | 'null' }
  /** `as` is how JSON writes it; a computed one is a `date-time`. */
  | { readonly is: 'timestamp'; readonly as: 'text' | 'seconds' }
  /** Known only when it is there. `open` = nothing is said of it at all, so its absence cannot be known either. */
  | { readonly is: 'dyn'; readonly open: boolean }
  | {
      readonly is: 'ref';
      readonly resource: string;
      /** JSON has a number, of which expressions have the digits. */
      readonly isInteger: boolean;
      readonly target: () => ObjectType | undefined;
    }
  | { readonly is: 'list'; readonly of: CelType }
  | { readonly is: 'map'; readonly of: CelType }
  | ObjectType
  /** A value or null; it can be handed on where a value may be absent, and compared with null. */
  | { readonly is: 'nullable'; readonly of: CelType };

export interface ObjectType {
  readonly is: 'object';
  readonly name: string;
  /** Read lazily, since shapes may recur. */
  readonly members: ReadonlyMap<string, CelMember>;
  /** What the members that are not named have, where they may be there. */
  readonly rest?: CelType;
  /** Set where it is shown in place of a reference, which stays an identifier for whoever may not read it. */
  readonly orIdentifier?: true;
}

export interface CelMember {
  readonly type: CelType;
  /** Whether it may be absent or null. */
  readonly optional: boolean;
  /** Set where the field is checked and handed on but never kept: it is in requests alone. */
  readonly unstored?: true;
}

export const bool: CelType = { is: 'bool' };
export const int: CelType = { is: 'int' };
export const double: CelType = { is: 'double' };
export const string: CelType = { is: 'string' };
export const duration: CelType = { is: 'duration' };
export const nullType: CelType = { is: 'null' };
export const timestamp: CelType = { is: 'timestamp', as: 'text' };
export const dyn: CelType = { is: 'dyn', open: true };
export const celList = (of: CelType): CelType => ({ is: 'list', of });
export const mapOf = (of: CelType): CelType => ({ is: 'map', of });
export const nullable = (of: CelType): CelType => (of.is === 'nullable' || of.is === 'null' ? of : { is: 'nullable', of });

/** A type in the document's own words. */
export function typeName(type: CelType): string {
  switch (type.is) {
    case 'bool':
      return 'a boolean';
    case 'int':
      return 'an integer';
    case 'double':
      return 'a number';
    case 'string':
    case 'ref':
      return 'a string';
    case 'timestamp':
    case 'duration':
    case 'map':
      return `a ${type.is}`;
    case 'null':
      return 'null';
    case 'dyn':
      return 'any value';
    case 'list':
      return 'a list';
    case 'object':
      return `an object (${type.name})`;
    case 'nullable':
      return `${typeName(type.of)} or null`;
  }
}

/** The type that both have, where there is one; a list or map literal that mixes types holds any value. */
export function unify(a: CelType, b: CelType): CelType | undefined {
  if (a.is === 'dyn') return a;
  if (b.is === 'dyn') return b;
  if (a.is === 'null' && b.is === 'null') return a;
  if (a.is === 'null') return nullable(b);
  if (b.is === 'null') return nullable(a);
  if (a.is === 'nullable' || b.is === 'nullable') {
    const of = unify(a.is === 'nullable' ? a.of : a, b.is === 'nullable' ? b.of : b);
    return of && nullable(of);
  }
  if (isText(a) && isText(b)) return a.is === 'ref' && b.is === 'ref' && a.resource === b.resource ? a : string;
  if (a.is === 'timestamp' && b.is === 'timestamp') return a.as === b.as ? a : timestamp;
  if ((a.is === 'list' && b.is === 'list') || (a.is === 'map' && b.is === 'map')) {
    const of = unify(a.of, b.of);
    return of && { is: a.is, of };
  }
  if (a.is === 'object' && b.is === 'object') return a === b || a.name === b.name ? a : undefined;
  return a.is === b.is ? a : undefined;
}

/** Whether the type is a string to every operator and function. */
export function isText(type: CelType): boolean {
  return type.is === 'string' || type.is === 'ref';
}

/** Whether a value of one type can stand where another is wanted, its presence aside. What only the value shows is checked there. */
export function fitsType(actual: CelType, wanted: CelType, depth = 0): boolean {
  if (actual.is === 'dyn' || wanted.is === 'dyn' || depth > 8) return true;
  if (wanted.is === 'nullable')
    return actual.is === 'null' || fitsType(actual.is === 'nullable' ? actual.of : actual, wanted.of, depth);
  if (isText(wanted)) return isText(actual) || (wanted.is === 'ref' && wanted.isInteger && actual.is === 'int');
  if (wanted.is === 'double') return actual.is === 'double' || actual.is === 'int';
  if (wanted.is === 'list') return actual.is === 'list' && fitsType(actual.of, wanted.of, depth + 1);
  if (wanted.is === 'map') {
    if (actual.is === 'map') return fitsType(actual.of, wanted.of, depth + 1);
    return actual.is === 'object' && [...actual.members.values()].every((member) => fitsType(member.type, wanted.of, depth + 1));
  }
  if (wanted.is === 'object') return actual.is === 'map' || (actual.is === 'object' && fitsObject(actual, wanted, depth));
  return actual.is === wanted.is;
}

function fitsObject(actual: ObjectType, wanted: ObjectType, depth: number): boolean {
  if (actual === wanted) return true;
  return [...wanted.members].every(([name, member]) => {
    const held = actual.members.get(name);
    if (!held) return member.optional || actual.rest !== undefined;
    return fitsType(held.type, member.type, depth + 1);
  });
}

/** What an argument of a function has to be. `texts` is a list of strings. */
export type ArgumentType = 'bool' | 'int' | 'double' | 'string' | 'timestamp' | 'duration' | 'list' | 'texts' | 'map' | 'any';

/** One way in which a function can be called. */
export interface Overload {
  readonly name: string;
  /** What it is called on, where it is written with a dot. */
  readonly on?: ArgumentType;
  readonly args: readonly ArgumentType[];
  readonly result: CelType;
  /** The values come with what it is called on first. @throws {Failed} */
  readonly run: (values: readonly CelValue[], frame: Frame) => CelValue;
}

/** What a function takes, as one list: what it is called on comes first. */
export function slotsOf(overload: Overload): readonly ArgumentType[] {
  return overload.on ? [overload.on, ...overload.args] : overload.args;
}

/** Whether a value of this type can stand in the slot; what has no type yet can stand in any. */
export function slotTakes(slot: ArgumentType, type: CelType): boolean {
  if (type.is === 'dyn' || slot === 'any') return true;
  if (slot === 'string') return type.is === 'string' || type.is === 'ref';
  if (slot === 'map') return type.is === 'map' || type.is === 'object';
  if (slot === 'texts') return type.is === 'list' && slotTakes('string', type.of);
  return type.is === slot;
}

/** Whether this value can stand in the slot. */
export function slotHolds(slot: ArgumentType, value: CelValue): boolean {
  switch (slot) {
    case 'any':
      return true;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'double':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string';
    case 'timestamp':
      return value instanceof Date;
    case 'duration':
      return value instanceof Duration;
    case 'list':
      return Array.isArray(value);
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'map':
      return value instanceof Map;
  }
}
