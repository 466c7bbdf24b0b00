import { bool, type CelType, celList, double, duration, dyn, int, isText, string, timestamp, unify } from './cel-type.ts';
import { checkInt, checkTimestamp, compare, Duration, equal, Failed, type Value } from './cel-value.ts';
import { chargeItems, chargeText, type Frame } from './frame.ts';
import type { BinaryOperator } from './node.ts';

const ordered = new Set(['bool', 'int', 'double', 'string', 'ref', 'timestamp', 'duration']);

/** The type that an operator gives over two types; nothing where it has no meaning. */
export function binaryType(operator: BinaryOperator, left: CelType, right: CelType): CelType | undefined {
  switch (operator) {
    case '==':
    case '!=':
      return unify(left, right) && !isHalfNull(left, right) ? bool : undefined;
    case '<':
    case '<=':
    case '>':
    case '>=':
      return areOrdered(left, right) ? bool : undefined;
    case 'in':
      if (right.is === 'dyn') return bool;
      if (right.is === 'map') return left.is === 'dyn' || isText(left) ? bool : undefined;
      return right.is === 'list' && unify(left, right.of) && !isHalfNull(left, right.of) ? bool : undefined;
    default:
      return arithmeticType(operator, left, right);
  }
}

/** A value that is never null is never equal to null: only what may be null can be compared with it. */
function isHalfNull(left: CelType, right: CelType): boolean {
  const maybe = (type: CelType) => type.is === 'null' || type.is === 'nullable' || type.is === 'dyn';
  return (left.is === 'null' && !maybe(right)) || (right.is === 'null' && !maybe(left));
}

function areOrdered(left: CelType, right: CelType): boolean {
  const each = (type: CelType) => type.is === 'dyn' || ordered.has(type.is);
  const numeric = (type: CelType) => type.is === 'int' || type.is === 'double';
  return each(left) && each(right) && ((numeric(left) && numeric(right)) || unify(left, right) !== undefined);
}

const arithmetic: readonly (readonly [string, CelType['is'], CelType['is'], CelType])[] = [
  ['+-*/%', 'int', 'int', int],
  ['+-*/', 'double', 'double', double],
  ['+', 'string', 'string', string],
  ['+-', 'duration', 'duration', duration],
  ['+-', 'timestamp', 'duration', timestamp],
  ['+', 'duration', 'timestamp', timestamp],
  ['-', 'timestamp', 'timestamp', duration],
];

function arithmeticType(operator: string, left: CelType, right: CelType): CelType | undefined {
  if (operator === '+' && left.is === 'list' && right.is === 'list') return unify(left, right) ?? celList(dyn);
  const rows = arithmetic.filter(([words, a, b]) => words.includes(operator) && takes(a, left) && takes(b, right));
  if (rows.length === 1) return rows[0]?.[3];
  const mayBeList =
    operator === '+' &&
    (left.is === 'dyn' || right.is === 'dyn') &&
    [left, right].every(({ is }) => is === 'dyn' || is === 'list');
  return rows.length > 1 || mayBeList ? dyn : undefined;
}

function takes(wanted: CelType['is'], type: CelType): boolean {
  return type.is === 'dyn' || type.is === wanted || (wanted === 'string' && isText(type));
}

export type Operate = (left: Value, right: Value, frame: Frame) => Value;

/** What an operator does with two values of whatever kind. @throws {Failed} where it has no meaning for them. */
export const operators: Readonly<Record<BinaryOperator, Operate>> = {
  '==': (left, right, frame) => equalCharged(left, right, frame),
  '!=': (left, right, frame) => !equalCharged(left, right, frame),
  '<': (left, right) => compare(left, right) < 0,
  '<=': (left, right) => compare(left, right) <= 0,
  '>': (left, right) => compare(left, right) > 0,
  '>=': (left, right) => compare(left, right) >= 0,
  in: isIn,
  '+': plus,
  '-': minus,
  '*': (left, right) =>
    numbers(
      left,
      right,
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  '/': (left, right) =>
    numbers(
      left,
      right,
      (a, b) => a / divisor(b),
      (a, b) => a / b,
    ),
  '%': (left, right) => numbers(left, right, (a, b) => a % divisor(b)),
};

function equalCharged(left: Value, right: Value, frame: Frame): boolean {
  if (Array.isArray(left)) chargeItems(frame, left.length);
  return equal(left, right);
}

function isIn(left: Value, right: Value, frame: Frame): boolean {
  if (right instanceof Map) return right.has(left);
  if (!Array.isArray(right)) throw new Failed('type', '`in` something that is neither list nor map');
  chargeItems(frame, right.length);
  return right.some((item) => equal(left, item));
}

function plus(left: Value, right: Value, frame: Frame): Value {
  if (typeof left === 'string' && typeof right === 'string') {
    chargeText(frame, left.length + right.length);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    chargeItems(frame, left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof Duration && right instanceof Duration) return new Duration(left.nanos + right.nanos);
  if (left instanceof Date && right instanceof Duration) return later(left, right.nanos);
  if (left instanceof Duration && right instanceof Date) return later(right, left.nanos);
  return numbers(
    left,
    right,
    (a, b) => a + b,
    (a, b) => a + b,
  );
}

function minus(left: Value, right: Value): Value {
  if (left instanceof Duration && right instanceof Duration) return new Duration(left.nanos - right.nanos);
  if (left instanceof Date && right instanceof Duration) return later(left, -right.nanos);
  if (left instanceof Date && right instanceof Date) return new Duration(BigInt(left.getTime() - right.getTime()) * 1_000_000n);
  return numbers(
    left,
    right,
    (a, b) => a - b,
    (a, b) => a - b,
  );
}

function later(time: Date, nanos: bigint): Date {
  return checkTimestamp(time.getTime() + Number(nanos / 1_000_000n));
}

function numbers(
  left: Value,
  right: Value,
  ints: (a: bigint, b: bigint) => bigint,
  doubles?: (a: number, b: number) => number,
): Value {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkInt(ints(left, right));
  if (doubles && typeof left === 'number' && typeof right === 'number') return doubles(left, right);
  throw new Failed('type', 'two values that cannot be reckoned together');
}

function divisor(value: bigint): bigint {
  if (value === 0n) throw new Failed('division', 'a division by zero');
  return value;
}
