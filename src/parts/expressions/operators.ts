/** The types that operators give, over types and over conditions. */

import {
  bool,
  type CelType,
  celList,
  double,
  duration,
  dyn,
  int,
  isText,
  string,
  timestamp,
  typeName,
  unify,
} from './cel-type.ts';
import {
  type CelValue,
  chargeItems,
  chargeText,
  checkInt,
  checkTimestamp,
  compare,
  Duration,
  equal,
  Failed,
  type Frame,
} from './cel-value.ts';
import {
  type Around,
  both,
  type Consequences,
  keysAround,
  known,
  noConsequences,
  nothingKnown,
  pathKey,
  shared,
  type Typed,
  type TypeWalk,
} from './member.ts';
import type { BinaryOperator, Node, NodeOf } from './node.ts';

const ordered = new Set(['bool', 'int', 'double', 'string', 'ref', 'timestamp', 'duration']);

/** The type that an operator gives over two types; nothing where it has no meaning. */
function binaryType(operator: BinaryOperator, left: CelType, right: CelType): CelType | undefined {
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

type Operate = (left: CelValue, right: CelValue, frame: Frame) => CelValue;

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

function equalCharged(left: CelValue, right: CelValue, frame: Frame): boolean {
  if (Array.isArray(left)) chargeItems(frame, left.length);
  return equal(left, right);
}

function isIn(left: CelValue, right: CelValue, frame: Frame): boolean {
  if (right instanceof Map) return right.has(left);
  if (!Array.isArray(right)) throw new Failed('type', '`in` something that is neither list nor map');
  chargeItems(frame, right.length);
  return right.some((item) => equal(left, item));
}

function plus(left: CelValue, right: CelValue, frame: Frame): CelValue {
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

function minus(left: CelValue, right: CelValue): CelValue {
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
  left: CelValue,
  right: CelValue,
  ints: (a: bigint, b: bigint) => bigint,
  doubles?: (a: number, b: number) => number,
): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkInt(ints(left, right));
  if (doubles && typeof left === 'number' && typeof right === 'number') return doubles(left, right);
  throw new Failed('type', 'two values that cannot be reckoned together');
}

function divisor(value: bigint): bigint {
  if (value === 0n) throw new Failed('division', 'a division by zero');
  return value;
}

/** What an operator between two values gives. */
export function typeOfBinary(walking: TypeWalk, node: NodeOf<'binary'>, around: Around): Typed {
  const asked = fieldAgainstNull(node);
  if (asked) {
    // Whether it is there is what is meant to be asked, so it is not held against it that it may be absent.
    walking.walk({ ...asked, op: 'has', field: asked }, around);
    const type = walking.types.get(asked);
    if (type && type.is !== 'dyn') {
      const remedy = `Null counts as absent: write \`${node.operator === '==' ? '!' : ''}has(${walking.textOf(asked)})\`.`;
      walking.report(node, 'type', `\`${walking.textOf(asked)}\` is never null.`, remedy);
      return { type: bool, ...noConsequences };
    }
  }
  const left = walking.walk(node.left, around);
  const right = walking.walk(node.right, around);
  const type = binaryType(node.operator, left.type, right.type);
  if (!type) noOperator(walking, node, left.type, right.type);
  const consequences = nullTest(node, left.type, right.type, around) ?? membership(node, right.type, around);
  return { type: type ?? dyn, ...consequences };
}

function fieldAgainstNull({ operator, left, right }: NodeOf<'binary'>): NodeOf<'field'> | undefined {
  if (operator !== '==' && operator !== '!=') return undefined;
  const isNull = (node: Node) => node.op === 'literal' && node.value === null;
  if (left.op === 'field' && isNull(right)) return left;
  return right.op === 'field' && isNull(left) ? right : undefined;
}

/** Whether it is a reference to what is told apart by numbers. */
function isCounted(type: CelType | undefined): boolean {
  return type?.is === 'ref' && type.isInteger;
}

function noOperator(walking: TypeWalk, node: NodeOf<'binary'>, left: CelType, right: CelType): void {
  const mixed = [left.is, right.is].includes('int') && [left.is, right.is].includes('double');
  const counted = [node.left, node.right].find((_, at) => isCounted([left, right][at]));
  const asNumber = counted && [left.is, right.is].includes('int') ? counted : undefined;
  const remedy = mixed
    ? 'Mixed arithmetic needs a cast: `double(…)` or `int(…)`.'
    : asNumber && `A reference is read as a text: write \`int(${walking.textOf(asNumber)})\`.`;
  walking.report(node, 'type', `\`${node.operator}\` has no meaning between ${typeName(left)} and ${typeName(right)}.`, remedy);
}

/** `x != null`, where x is a variable that may be null. */
function nullTest(node: NodeOf<'binary'>, left: CelType, right: CelType, around: Around): Consequences | undefined {
  if (node.operator !== '!=' && node.operator !== '==') return undefined;
  const tested =
    right.is === 'null' && left.is === 'nullable'
      ? node.left
      : left.is === 'null' && right.is === 'nullable'
        ? node.right
        : undefined;
  const key = tested && pathKey(tested, keysAround(around));
  if (key === undefined) return undefined;
  const there = new Set([key]);
  return node.operator === '!=' ? { yes: there, no: nothingKnown } : { yes: nothingKnown, no: there };
}

/** `'colour' in request.labels`. */
function membership(node: NodeOf<'binary'>, right: CelType, around: Around): Consequences {
  const { left } = node;
  if (node.operator !== 'in' || right.is !== 'map' || left.op !== 'literal' || typeof left.value !== 'string')
    return noConsequences;
  const key = pathKey({ ...node, op: 'field', of: node.right, name: left.value }, keysAround(around));
  return key === undefined ? noConsequences : { yes: new Set([key]), no: nothingKnown };
}

/** What `&&` and `||` give; what the left side asked for is there on the right. */
export function typeOfLogic(walking: TypeWalk, node: NodeOf<'and' | 'or'>, around: Around): Typed {
  const left = walking.walk(node.left, around);
  const goesOn = node.op === 'and' ? left.yes : left.no;
  const right = walking.walk(node.right, { ...around, present: both(around.present, goesOn) });
  walking.wantBool(node.left, left.type);
  walking.wantBool(node.right, right.type);
  if (node.op === 'and') return { type: bool, yes: both(left.yes, right.yes), no: shared(left.no, right.no) };
  return { type: bool, yes: shared(left.yes, right.yes), no: both(left.no, right.no) };
}

/** What `? :` gives. */
export function typeOfChoice(walking: TypeWalk, node: NodeOf<'choose'>, around: Around): Typed {
  const condition = walking.walk(node.if, around);
  walking.wantBool(node.if, condition.type);
  const then = walking.walk(node.yes, { ...around, present: both(around.present, condition.yes) });
  const other = walking.walk(node.no, { ...around, present: both(around.present, condition.no) });
  const type = unify(then.type, other.type);
  if (!type)
    walking.report(node, 'type', `The two sides of \`? :\` differ: ${typeName(then.type)}, and ${typeName(other.type)}.`);
  const yes = shared(both(condition.yes, then.yes), both(condition.no, other.yes));
  return { type: type ?? dyn, yes, no: shared(both(condition.yes, then.no), both(condition.no, other.no)) };
}

/** What `-` before a value gives. */
export function typeOfMinus(walking: TypeWalk, node: NodeOf<'minus'>, around: Around): Typed {
  const { type } = walking.walk(node.of, around);
  if (type.is === 'int' || type.is === 'double' || type.is === 'dyn') return known(type);
  walking.report(node, 'type', `\`-\` goes before a number, not ${typeName(type)}.`);
  return known(double);
}
