import type { CelType } from './cel-type.ts';
import { Duration, Failed, type Value } from './cel-value.ts';
import type { Raw } from './frame.ts';

/** What an expression has to come to. `optional` = null, which counts as absent, is welcome too. */
export interface ResultType {
  readonly type: CelType;
  readonly optional: boolean;
}

/** Takes a value back to JSON as it is wanted. @throws {Failed} where it is not what is wanted. */
export type Return = (value: Value) => Raw;

/** How values go back to JSON. Computed times are UTC with milliseconds, or whole seconds where a `unix-time` is wanted. */
export function returnOf({ type, optional }: ResultType): Return {
  const inner = returnAs(type);
  return (value) => {
    if (value !== null) return inner(value);
    if (optional || type.is === 'nullable' || type.is === 'null' || type.is === 'dyn') return null;
    throw new Failed('absent', 'null where a value is wanted');
  };
}

function returnAs(type: CelType): Return {
  switch (type.is) {
    case 'nullable':
      return returnAs(type.of);
    case 'bool':
      return (value) => (typeof value === 'boolean' ? value : unwanted('a boolean'));
    case 'int':
      return (value) => (typeof value === 'bigint' ? fromInt(value) : wholeNumber(value));
    case 'double':
      return (value) =>
        typeof value === 'number' ? finite(value) : typeof value === 'bigint' ? fromInt(value) : unwanted('a number');
    case 'string':
    case 'ref':
      return (value) => (typeof value === 'string' ? value : unwanted('a string'));
    case 'timestamp':
      return type.as === 'seconds' ? toUnixTime : (value) => (value instanceof Date ? textOf(value) : unwanted('a time'));
    case 'list': {
      const item = returnOf({ type: type.of, optional: false });
      return (value) => (Array.isArray(value) ? value.map(item) : unwanted('a list'));
    }
    case 'map': {
      const item = returnOf({ type: type.of, optional: true });
      return (value) => returnMap(value, () => item);
    }
    case 'object': {
      let members: ReadonlyMap<string, Return> | undefined;
      return (value) => {
        members ??= new Map([...type.members].map(([name, member]) => [name, returnOf(member)]));
        const known = members;
        return returnMap(value, (name) => known.get(name) ?? asItIs);
      };
    }
    default:
      return asItIs;
  }
}

function unwanted(what: string): never {
  throw new Failed('type', `a result that is not ${what}`);
}

function fromInt(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A value without a type may be a double that counts something whole. */
function wholeNumber(value: Value): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : unwanted('an integer');
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new Failed('overflow', 'a number that is not finite');
}

/** Times that are written one after the other are often the same. */
let written = { ms: Number.NaN, text: '' };

function textOf(time: Date): string {
  const ms = time.getTime();
  if (ms !== written.ms) written = { ms, text: time.toISOString() };
  return written.text;
}

function toUnixTime(value: Value): number {
  return value instanceof Date ? Math.floor(value.getTime() / 1000) : unwanted('a time');
}

function returnMap(value: Value, returnOfMember: (name: string) => Return): Raw {
  if (!(value instanceof Map)) return unwanted('an object');
  const out: Record<string, Raw> = Object.create(null);
  for (const [name, item] of value) if (item !== null) out[name] = returnOfMember(name)(item);
  return out;
}

/** A value in its own form, where nothing says which. */
function asItIs(value: Value): Raw {
  if (typeof value === 'bigint') return fromInt(value);
  if (typeof value === 'number') return finite(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return textOf(value);
  if (value instanceof Duration) return unwanted('a JSON value');
  if (value instanceof Map) return returnMap(value, () => asItIs);
  // What is left is a list: `instanceof Map` cannot tell the compiler so of a read-only one.
  return (value as readonly Value[]).map(asItIs);
}

/** Whether JSON of one type is JSON of the other as it stands. */
export function isSameForm(actual: CelType, wanted: CelType): boolean {
  if (wanted.is === 'dyn') return true;
  if (wanted.is === 'nullable' || actual.is === 'nullable') {
    return isSameForm(actual.is === 'nullable' ? actual.of : actual, wanted.is === 'nullable' ? wanted.of : wanted);
  }
  if (actual.is === 'timestamp' && wanted.is === 'timestamp') return actual.as === wanted.as;
  if (wanted.is === 'list') return actual.is === 'list' && isSameForm(actual.of, wanted.of);
  if (wanted.is === 'map' || wanted.is === 'object') return actual.is === 'map' || actual.is === 'object';
  return false;
}
