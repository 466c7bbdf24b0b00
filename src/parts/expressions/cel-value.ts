/** The values that expressions handle, and the frame that they are evaluated in. */

import type { Json } from '../../document/document.ts';

/** The values that expressions handle: what CEL calls int is a bigint, double a number, and a map or object a Map. */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Date
  | Duration
  | readonly CelValue[]
  | ReadonlyMap<string, CelValue>;

/** A span of time, exact to the nanosecond. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** What an evaluation came to nothing by. It is handed back, never thrown out of an evaluation. */
export class Failed {
  readonly reason: 'absent' | 'type' | 'conversion' | 'overflow' | 'division' | 'index' | 'reference' | 'size';
  readonly message: string;
  constructor(reason: Failed['reason'], message: string) {
    this.reason = reason;
    this.message = message;
  }
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -int64Max - 1n;

/** An int of 64 bits. @throws {Failed} beyond them. */
export function checkInt(value: bigint): bigint {
  if (value <= int64Max && value >= int64Min) return value;
  throw new Failed('overflow', 'an integer beyond 64 bits');
}

/** A timestamp of the years 1 to 9999. @throws {Failed} beyond them. */
export function checkTimestamp(ms: number): Date {
  if (ms >= -62_135_596_800_000 && ms <= 253_402_300_799_999) return new Date(ms);
  throw new Failed('overflow', 'a time outside the years 1 to 9999');
}

/** Whether two values are equal, at every depth. Values of different kinds are not, but numbers compare by what they count. */
export function equal(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' || typeof a === 'number') {
    return (typeof b === 'bigint' || typeof b === 'number') && a >= b && a <= b;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  return (
    a instanceof Map &&
    b instanceof Map &&
    a.size === b.size &&
    [...a].every(([key, item]) => b.has(key) && equal(item, b.get(key)))
  );
}

/** Below zero, zero or above as the first is less, equal or more; NaN where one is NaN. @throws {Failed} where there is no order. */
export function compare(a: CelValue, b: CelValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if ((typeof a === 'bigint' || typeof a === 'number') && (typeof b === 'bigint' || typeof b === 'number')) {
    return a < b ? -1 : a > b ? 1 : a >= b ? 0 : Number.NaN;
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (a instanceof Duration && b instanceof Duration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  throw new Failed('type', 'two values that have no order');
}

/** Text by code point; JavaScript's own order is by UTF-16 unit, which puts surrogates below U+E000 to U+FFFF. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return left < 0xd800 || right < 0xd800 ? left - right : rank(left) - rank(right);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** A value as JSON has it. Integers past 2^53 come and go as bigints; a field may be undefined where it is absent. */
export type Raw = Json | bigint | undefined | readonly Raw[] | { readonly [key: string]: Raw };

/** What an evaluation is about: the variables of its scope as plain JSON values. */
export interface EvaluationContext {
  readonly now?: Date | number;
  readonly follow?: Follow;
  readonly [variable: string]: Raw | Date | Follow;
}

/**
 * The row of a resource as it is stored: that with an identifier, or that whose fields have these values, which are unique together by this one of
 * the resource's rules (`uniquesOf`).
 */
type Follow = (resource: string, key: string | FieldValues, unique?: number) => Raw;

/** The values by which a row is found, as JSON has them. */
export type FieldValues = { readonly [field: string]: Raw };

/** One evaluation under way. */
export interface Frame {
  readonly context: EvaluationContext;
  /** The variables of loops, by slot. */
  readonly locals: unknown[];
  steps: number;
}

/** Counts work. @throws {Failed} when the evaluation has had enough of it. */
export function charge(frame: Frame, steps: number): void {
  frame.steps += steps;
  if (frame.steps > bounds.stepsMax) throw new Failed('size', 'more work than one evaluation may be');
}

/** @throws {Failed} where a list is longer than an expression may handle. */
export function chargeItems(frame: Frame, length: number): void {
  if (length > bounds.itemsMax) throw new Failed('size', `a list of more than ${bounds.itemsMax} items`);
  charge(frame, length);
}

/** @throws {Failed} where a text is longer than an expression may handle. */
export function chargeText(frame: Frame, length: number): void {
  if (length > bounds.textMax) throw new Failed('size', `a text of more than ${bounds.textMax} characters`);
  charge(frame, length >> 6);
}

/** What one expression may cost, so that no document and no request can make an evaluation long. */
export const bounds = {
  /** Characters of the source. */
  sourceMax: 4096,
  /** Nodes of the syntax tree. */
  nodesMax: 1000,
  /** Nesting of the syntax tree. */
  depthMax: 50,
  /** Items of any list that an expression walks or makes. */
  itemsMax: 10_000,
  /** Characters of any string that an expression makes. */
  textMax: 1_000_000,
  /** Steps of one evaluation: one for each turn of a loop, item compared, or 64 characters handled. */
  stepsMax: 200_000,
  /** Steps that one `find` counts for: so at most 1000 of them in one evaluation. */
  findSteps: 200,
  /** References that one path may follow. */
  followsMax: 3,
} as const;
