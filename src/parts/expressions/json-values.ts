/** How values cross from JSON into expressions, and what came out goes back. */

import type { CelType, ObjectType } from './cel-type.ts';
import { type CelValue, charge, chargeItems, checkTimestamp, Duration, Failed, type Frame, type Raw } from './cel-value.ts';
import { instantOf } from './time-functions.ts';

/** Takes a value from its JSON form to the one that expressions handle. @throws {Failed} where it does not fit the type. */
export type FromJson = (raw: Raw, frame: Frame) => CelValue;

/** How values of a type cross. Null is a value inside lists alone; an absent field of an object stays absent. */
function crossingOf(type: CelType): FromJson {
  switch (type.is) {
    case 'bool':
      return (raw) => (typeof raw === 'boolean' ? raw : misfit('a boolean'));
    case 'int':
      return (raw) => toInt(raw);
    case 'double':
      return (raw) => (typeof raw === 'number' ? raw : typeof raw === 'bigint' ? Number(raw) : misfit('a number'));
    case 'string':
      return text;
    case 'ref':
      return type.isInteger ? (raw) => (typeof raw === 'string' ? raw : String(toInt(raw))) : text;
    case 'timestamp':
      return type.as === 'seconds' ? fromUnixTime : fromDateTime;
    case 'duration':
      return () => misfit('a duration');
    case 'null':
      return (raw) => (raw === null || raw === undefined ? null : misfit('null'));
    case 'nullable': {
      const cross = crossingOf(type.of);
      return (raw, frame) => (raw === null || raw === undefined ? null : cross(raw, frame));
    }
    case 'list': {
      const cross = crossingOf(type.of);
      return (raw, frame) => rawList(raw, frame).map((item) => cross(item, frame));
    }
    case 'map': {
      const cross = crossingOf(type.of);
      return (raw, frame) => mapOf(raw, frame, () => cross);
    }
    case 'object':
      return objectCrossing(type);
    case 'dyn':
      return fromAnything;
  }
}

/** An integer as JSON has it, without the cost of a bigint where a number says the same. */
export function rawInteger(raw: Raw): number | bigint {
  if (typeof raw === 'number' && Number.isInteger(raw)) return raw;
  return typeof raw === 'bigint' ? raw : misfit('an integer');
}

function text(raw: Raw): string {
  return typeof raw === 'string' ? raw : misfit('a string');
}

function rawList(raw: Raw, frame: Frame): readonly Raw[] {
  if (!Array.isArray(raw)) return misfit('a list');
  chargeItems(frame, raw.length);
  return raw;
}

function misfit(wanted: string): never {
  throw new Failed('type', `a value that is not ${wanted}`);
}

/** Whether a value is a map in its JSON form. */
export function isRawMap(raw: unknown): raw is { readonly [key: string]: Raw } {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);
}

function toInt(raw: Raw): bigint {
  const value = rawInteger(raw);
  const wide = BigInt(value);
  if (BigInt.asIntN(64, wide) !== wide) throw new Failed('overflow', 'an integer beyond 64 bits');
  return wide;
}

function fromDateTime(raw: Raw): Date {
  const ms = typeof raw === 'string' ? instantOf(raw) : undefined;
  return ms === undefined ? misfit('a date-time') : checkTimestamp(ms);
}

function fromUnixTime(raw: Raw): Date {
  return typeof raw === 'number' || typeof raw === 'bigint' ? checkTimestamp(Number(raw) * 1000) : misfit('a time in seconds');
}

function objectCrossing(type: ObjectType): FromJson {
  // Made on first use: an object may hold another of its own kind.
  let crossings: Map<string, FromJson> | undefined;
  const rest = type.rest && crossingOf(type.rest);
  return (raw, frame) => {
    crossings ??= new Map([...type.members].map(([name, member]) => [name, crossingOf(member.type)]));
    const known = crossings;
    if (type.orIdentifier && !isRawMap(raw)) return fromAnything(raw, frame);
    return mapOf(raw, frame, (name) => known.get(name) ?? rest);
  };
}

function mapOf(raw: Raw, frame: Frame, crossing: (name: string) => FromJson | undefined): CelValue {
  if (!isRawMap(raw)) return misfit('an object');
  const map = new Map<string, CelValue>();
  const entries = Object.entries(raw);
  charge(frame, entries.length);
  for (const [name, item] of entries) {
    const cross = item === null || item === undefined ? undefined : crossing(name);
    if (cross) map.set(name, cross(item, frame));
  }
  return map;
}

/** A value without a type: numbers are doubles, as in JSON. */
function fromAnything(raw: Raw | Date, frame: Frame): CelValue {
  if (raw === undefined) return misfit('there');
  if (raw === null || typeof raw !== 'object' || raw instanceof Date) return raw;
  if (isRawMap(raw)) return mapOf(raw, frame, () => fromAnything);
  return rawList(raw, frame).map((item) => fromAnything(item, frame));
}

/** What an expression has to come to. `optional` = null, which counts as absent, is welcome too. */
export interface ResultType {
  readonly type: CelType;
  readonly optional: boolean;
}

/** Takes a value back to JSON as it is wanted. @throws {Failed} where it is not what is wanted. */
type Return = (value: CelValue) => Raw;

/** How values go back to JSON. Computed times are UTC with milliseconds, or whole seconds where a `unix-time` is wanted. */
function returnOf({ type, optional }: ResultType): Return {
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
    case 'ref':
      if (type.isInteger) return toIdentifier;
      return (value) => (typeof value === 'string' ? value : unwanted('a string'));
    case 'string':
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
        if (type.orIdentifier && !(value instanceof Map)) return asItIs(value);
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

/** An identifier that is an integer, from its digits or as it is. */
function toIdentifier(value: CelValue): number | bigint {
  if (typeof value === 'string' && /^(?:0|-?[1-9]\d{0,18})$/.test(value)) return fromInt(BigInt(value));
  return typeof value === 'bigint' ? fromInt(value) : unwanted('an integer');
}

function fromInt(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A value without a type may be a double that counts something whole. */
function wholeNumber(value: CelValue): number {
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

function toUnixTime(value: CelValue): number {
  return value instanceof Date ? Math.floor(value.getTime() / 1000) : unwanted('a time');
}

function returnMap(value: CelValue, returnOfMember: (name: string) => Return): Raw {
  if (!(value instanceof Map)) return unwanted('an object');
  const out: Record<string, Raw> = Object.create(null);
  for (const [name, item] of value) if (item !== null) out[name] = returnOfMember(name)(item);
  return out;
}

/** A value in its own form, where nothing says which. */
function asItIs(value: CelValue): Raw {
  if (typeof value === 'bigint') return fromInt(value);
  if (typeof value === 'number') return finite(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return textOf(value);
  if (value instanceof Duration) return unwanted('a JSON value');
  if (value instanceof Map) return returnMap(value, () => asItIs);
  // What is left is a list: `instanceof Map` cannot tell the compiler so of a read-only one.
  return (value as readonly CelValue[]).map(asItIs);
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

/** A piece of an expression ready to run. @throws {Failed} */
export type Evaluation<T> = (frame: Frame) => T;

/** What a node was turned into: one that gives JSON as it came in and has not crossed yet, or one that gives a value. */
export type Code =
  | { readonly raw: true; readonly run: Evaluation<Raw>; readonly type: CelType }
  | { readonly raw: false; readonly run: Evaluation<CelValue>; readonly type: CelType };

/** A node's value, crossed. */
export function crossed(code: Code): Evaluation<CelValue> {
  if (!code.raw) return code.run;
  const { run } = code;
  const cross: FromJson = crossingOf(code.type);
  return (frame) => cross(run(frame), frame);
}

/** What goes through untouched stays as it was sent; what was reckoned takes the form that is wanted. */
export function outcome(code: Code, wanted: ResultType): Evaluation<Raw> {
  if (code.raw && isSameForm(code.type, wanted.type)) {
    const { run } = code;
    return (frame) => {
      const raw = run(frame);
      if ((raw === null || raw === undefined) && !wanted.optional) throw new Failed('absent', 'nothing where a value is wanted');
      return raw ?? null;
    };
  }
  const run = crossed(code);
  const give = returnOf(wanted);
  return (frame) => give(run(frame));
}
