import type { CelType } from './cel-type.ts';
import { compareText, Failed, type Value } from './cel-value.ts';
import type { Code, Coding, Locals, Run } from './code.ts';
import { crossed } from './code.ts';
import { rawInteger } from './crossing.ts';
import type { BinaryOperator, NodeOf } from './node.ts';
import { operators } from './operators.ts';
import { slotHolds, slotsOf } from './overload.ts';

/** An operator between two values; between two integers or two texts without making values of them first. */
export function codeBinary(coding: Coding, node: NodeOf<'binary'>, locals: Locals): Run<Value> {
  const left = coding.code(node.left, locals);
  const right = coding.code(node.right, locals);
  return (
    inList(coding, node, left, locals) ??
    ofIntegers(node.operator, integers(left, node.left), integers(right, node.right)) ??
    ofTexts(node.operator, left, right) ??
    general(node.operator, crossed(left), crossed(right))
  );
}

function general(operator: BinaryOperator, left: Run<Value>, right: Run<Value>): Run<Value> {
  const operate = operators[operator];
  return (frame) => operate(left(frame), right(frame), frame);
}

/** `x in ['a', 'b']` over literals is one look-up. */
function inList(coding: Coding, node: NodeOf<'binary'>, left: Code, locals: Locals): Run<Value> | undefined {
  const { right } = node;
  if (node.operator !== 'in' || right.op !== 'list' || !isText(left.type)) return undefined;
  const words = right.items.map((item) => (item.op === 'literal' && typeof item.value === 'string' ? item.value : undefined));
  if (words.includes(undefined)) return undefined;
  const set = new Set<Value>(words as string[]);
  const value = coding.value(node.left, locals);
  return (frame) => set.has(value(frame));
}

/** A side that gives integers as plain numbers where they are small enough; comparing a number with a bigint is exact. */
function integers(code: Code, node: NodeOf<'binary'>['left']): Run<number | bigint> | undefined {
  if (code.type.is !== 'int') return undefined;
  if (code.raw) {
    const { run } = code;
    return (frame) => rawInteger(run(frame));
  }
  if (node.op === 'literal' && typeof node.value === 'bigint') {
    const value = Number.isSafeInteger(Number(node.value)) ? Number(node.value) : node.value;
    return () => value;
  }
  // The type says int, so the value is a bigint.
  return code.run as Run<bigint>;
}

type Integers = Run<number | bigint> | undefined;

function ofIntegers(operator: BinaryOperator, left: Integers, right: Integers): Run<Value> | undefined {
  if (!left || !right) return undefined;
  switch (operator) {
    case '==':
      return (frame) => same(left(frame), right(frame));
    case '!=':
      return (frame) => !same(left(frame), right(frame));
    case '<':
      return (frame) => left(frame) < right(frame);
    case '<=':
      return (frame) => left(frame) <= right(frame);
    case '>':
      return (frame) => left(frame) > right(frame);
    case '>=':
      return (frame) => left(frame) >= right(frame);
    default:
      return undefined;
  }
}

function same(left: number | bigint, right: number | bigint): boolean {
  return left === right || (typeof left !== typeof right && left >= right && left <= right);
}

function isText(type: CelType): boolean {
  return type.is === 'string' || type.is === 'ref';
}

function ofTexts(operator: BinaryOperator, leftCode: Code, rightCode: Code): Run<Value> | undefined {
  if (!isText(leftCode.type) || !isText(rightCode.type)) return undefined;
  // The type says string, and crossing sees to it.
  const left = crossed(leftCode) as Run<string>;
  const right = crossed(rightCode) as Run<string>;
  switch (operator) {
    case '==':
      return (frame) => left(frame) === right(frame);
    case '!=':
      return (frame) => left(frame) !== right(frame);
    case '<':
      return (frame) => compareText(left(frame), right(frame)) < 0;
    case '<=':
      return (frame) => compareText(left(frame), right(frame)) <= 0;
    case '>':
      return (frame) => compareText(left(frame), right(frame)) > 0;
    case '>=':
      return (frame) => compareText(left(frame), right(frame)) >= 0;
    default:
      return undefined;
  }
}

/** A call: the one way in which it can go, or the one that the values show. */
export function codeCall(coding: Coding, node: NodeOf<'call'>, locals: Locals): Run<Value> {
  const parts = (node.on ? [node.on, ...node.args] : node.args).map((part) => coding.value(part, locals));
  const overloads = coding.inferred.overloads.get(node) ?? [];
  const failed = new Failed('type', `\`${node.name}\` cannot be called with these values`);
  return (frame) => {
    const values = parts.map((part) => part(frame));
    for (const overload of overloads) {
      if (slotsOf(overload).every((slot, index) => slotHolds(slot, values[index] as Value))) return overload.run(values, frame);
    }
    throw failed;
  };
}
