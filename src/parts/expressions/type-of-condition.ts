import { bool, type CelType, double, dyn, typeName, unify } from './cel-type.ts';
import type { Node, NodeOf } from './node.ts';
import { binaryType } from './operators.ts';
import { both, type Consequences, noConsequences, nothingKnown, pathKey, shared } from './presence.ts';
import { type Around, keysAround, known, type Typed, type TypeWalk } from './type-walk.ts';

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

function noOperator(walking: TypeWalk, node: NodeOf<'binary'>, left: CelType, right: CelType): void {
  const mixed = [left.is, right.is].includes('int') && [left.is, right.is].includes('double');
  const remedy = mixed ? 'Mixed arithmetic needs a cast: `double(…)` or `int(…)`.' : undefined;
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
