/** The values that expressions handle: what CEL calls int is a bigint, double a number, and a map or object a Map. */
export type Value = null | boolean | bigint | number | string | Date | Duration | readonly Value[] | ReadonlyMap<string, Value>;

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
export function equal(a: Value, b: Value): boolean {
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
export function compare(a: Value, b: Value): number {
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
