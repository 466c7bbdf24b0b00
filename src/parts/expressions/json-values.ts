import type { CelType, ObjectType } from './cel-type.ts';
import { checkTimestamp, Failed, type Value } from './cel-value.ts';
import { charge, chargeItems, type Frame, type Raw } from './frame.ts';
import { instantOf } from './instant.ts';

/** Takes a value from its JSON form to the one that expressions handle. @throws {Failed} where it does not fit the type. */
export type FromJson = (raw: Raw, frame: Frame) => Value;

/** How values of a type cross. Null is a value inside lists alone; an absent field of an object stays absent. */
export function crossingOf(type: CelType): FromJson {
  switch (type.is) {
    case 'bool':
      return (raw) => (typeof raw === 'boolean' ? raw : misfit('a boolean'));
    case 'int':
      return (raw) => toInt(raw);
    case 'double':
      return (raw) => (typeof raw === 'number' ? raw : typeof raw === 'bigint' ? Number(raw) : misfit('a number'));
    case 'string':
    case 'ref':
      return (raw) => (typeof raw === 'string' ? raw : misfit('a string'));
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
    return mapOf(raw, frame, (name) => known.get(name) ?? rest);
  };
}

function mapOf(raw: Raw, frame: Frame, crossing: (name: string) => FromJson | undefined): Value {
  if (!isRawMap(raw)) return misfit('an object');
  const map = new Map<string, Value>();
  const entries = Object.entries(raw);
  charge(frame, entries.length);
  for (const [name, item] of entries) {
    const cross = item === null || item === undefined ? undefined : crossing(name);
    if (cross) map.set(name, cross(item, frame));
  }
  return map;
}

/** A value without a type: numbers are doubles, as in JSON. */
function fromAnything(raw: Raw | Date, frame: Frame): Value {
  if (raw === undefined) return misfit('there');
  if (raw === null || typeof raw !== 'object' || raw instanceof Date) return raw;
  if (isRawMap(raw)) return mapOf(raw, frame, () => fromAnything);
  return rawList(raw, frame).map((item) => fromAnything(item, frame));
}
