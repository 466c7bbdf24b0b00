import { type CelType, slotHolds, slotsOf } from './cel-type.ts';
import { type CelValue, checkInt, compareText, Failed } from './cel-value.ts';
import { codeFind, codeLink } from './code-look-ups.ts';
import { type Coding, codeField, codeHas, codeIndex, codeLoop, codeName, type Locals } from './code-path.ts';
import type { Inferred } from './infer.ts';
import { type Code, crossed, type Evaluation, isSameForm, rawInteger } from './json-values.ts';
import type { BinaryOperator, Node, NodeOf } from './node.ts';
import { operators } from './operators.ts';
import type { Scope } from './scope.ts';

/** Turns the nodes of one expression into code. */
export class Coder implements Coding {
  readonly scope: Scope;
  readonly inferred: Inferred;
  slots = 0;

  constructor(scope: Scope, inferred: Inferred) {
    this.scope = scope;
    this.inferred = inferred;
  }

  slot(): number {
    return this.slots++;
  }

  value(node: Node, locals: Locals): Evaluation<CelValue> {
    return crossed(this.code(node, locals));
  }

  condition(node: Node, locals: Locals): Evaluation<boolean> {
    if (node.op === 'and' || node.op === 'or') return this.logic(node, locals);
    if (node.op === 'has') return codeHas(this, node, locals);
    const run = this.value(node, locals);
    // An operator of type bool over typed values gives nothing else.
    if (node.op === 'binary' && this.typeOf(node).is === 'bool') return run as Evaluation<boolean>;
    return (frame) => {
      const value = run(frame);
      if (typeof value !== 'boolean') throw new Failed('type', 'a condition that is no boolean');
      return value;
    };
  }

  typeOf(node: Node): CelType {
    return this.inferred.types.get(node) ?? { is: 'dyn', open: true };
  }

  code(node: Node, locals: Locals): Code {
    switch (node.op) {
      case 'name':
        return codeName(this, node, locals);
      case 'field':
        return codeField(this, node, locals);
      case 'index':
        return codeIndex(this, node, locals);
      case 'find':
        return codeFind(this, node, locals);
      case 'loop':
        return codeLoop(this, node, locals);
      case 'let':
        return this.letIn(node, locals);
      case 'choose':
        return this.choose(node, locals);
      default:
        return { raw: false, type: this.typeOf(node), run: this.reckon(node, locals) };
    }
  }

  reckon(
    node: Exclude<Node, NodeOf<'name' | 'field' | 'index' | 'find' | 'loop' | 'let' | 'choose'>>,
    locals: Locals,
  ): Evaluation<CelValue> {
    switch (node.op) {
      case 'literal': {
        const { value } = node;
        return () => value;
      }
      case 'has':
      case 'and':
      case 'or':
        return this.condition(node, locals);
      case 'not': {
        const of = this.condition(node.of, locals);
        return (frame) => !of(frame);
      }
      case 'minus':
        return negated(this.value(node.of, locals));
      case 'binary':
        return codeBinary(this, node, locals);
      case 'link':
        return codeLink(this, node, locals);
      case 'call':
        return codeCall(this, node, locals);
      case 'list': {
        const items = node.items.map((item) => this.value(item, locals));
        return (frame) => items.map((item) => item(frame));
      }
      case 'map': {
        const entries = node.entries.map(([key, value]) => [this.value(key, locals), this.value(value, locals)] as const);
        return (frame) => new Map(entries.map(([key, value]) => [keyOf(key(frame)), value(frame)]));
      }
    }
  }

  /** In `&&` and `||` the side that decides outweighs one that fails, whichever comes first. */
  logic(node: NodeOf<'and'> | NodeOf<'or'>, locals: Locals): Evaluation<boolean> {
    const left = this.condition(node.left, locals);
    const right = this.condition(node.right, locals);
    const decisive = node.op === 'or';
    return (frame) => {
      try {
        if (left(frame) === decisive) return decisive;
      } catch (error) {
        if (!(error instanceof Failed) || error.reason === 'size' || right(frame) !== decisive) throw error;
        return decisive;
      }
      return right(frame);
    };
  }

  /** Two sides that have not crossed leave it so, and what is sent goes through untouched. */
  choose(node: NodeOf<'choose'>, locals: Locals): Code {
    const type = this.typeOf(node);
    const condition = this.condition(node.if, locals);
    // One for each of the two.
    const [yes, no] = [node.yes, node.no].map((side) => uncrossed(side, this.code(side, locals), type)) as [Code, Code];
    if (yes.raw && no.raw) return { raw: true, type, run: (frame) => (condition(frame) ? yes.run(frame) : no.run(frame)) };
    const [first, second] = [crossed(yes), crossed(no)];
    return { raw: false, type, run: (frame) => (condition(frame) ? first(frame) : second(frame)) };
  }

  letIn(node: NodeOf<'let'>, locals: Locals): Code {
    const value = this.code(node.value, locals);
    const slot = this.slot();
    const body = this.code(node.body, new Map(locals).set(node.name, { slot, raw: value.raw, type: value.type }));
    const { run } = body;
    const bound = (frame: Parameters<Evaluation<unknown>>[0]) => {
      frame.locals[slot] = value.run(frame);
      return run(frame);
    };
    // The body's own code, run with one more variable.
    return { ...body, run: bound } as Code;
  }
}

/** A side of `? :` in JSON form, where the whole can stay so: null is the same in both. */
function uncrossed(side: Node, code: Code, whole: CelType): Code {
  if (side.op === 'literal' && side.value === null) return { raw: true, type: code.type, run: () => null };
  return code.raw && !isSameForm(code.type, whole) ? { raw: false, type: code.type, run: crossed(code) } : code;
}

function negated(of: Evaluation<CelValue>): Evaluation<CelValue> {
  return (frame) => {
    const value = of(frame);
    if (typeof value === 'bigint') return checkInt(-value);
    if (typeof value === 'number') return -value;
    throw new Failed('type', '`-` before something that is no number');
  };
}

function keyOf(value: CelValue): string {
  if (typeof value === 'string') return value;
  throw new Failed('type', 'a key that is no text');
}

/** An operator between two values; between two integers or two texts without making values of them first. */
function codeBinary(coding: Coding, node: NodeOf<'binary'>, locals: Locals): Evaluation<CelValue> {
  const left = coding.code(node.left, locals);
  const right = coding.code(node.right, locals);
  return (
    inList(coding, node, left, locals) ??
    ofIntegers(node.operator, integers(left, node.left), integers(right, node.right)) ??
    ofTexts(node.operator, left, right) ??
    general(node.operator, crossed(left), crossed(right))
  );
}

function general(operator: BinaryOperator, left: Evaluation<CelValue>, right: Evaluation<CelValue>): Evaluation<CelValue> {
  const operate = operators[operator];
  return (frame) => operate(left(frame), right(frame), frame);
}

/** `x in ['a', 'b']` over literals is one look-up. */
function inList(coding: Coding, node: NodeOf<'binary'>, left: Code, locals: Locals): Evaluation<CelValue> | undefined {
  const { right } = node;
  if (node.operator !== 'in' || right.op !== 'list' || !isText(left.type)) return undefined;
  const words = right.items.map((item) => (item.op === 'literal' && typeof item.value === 'string' ? item.value : undefined));
  if (words.includes(undefined)) return undefined;
  const set = new Set<CelValue>(words as string[]);
  const value = coding.value(node.left, locals);
  return (frame) => set.has(value(frame));
}

/** A side that gives integers as plain numbers where they are small enough; comparing a number with a bigint is exact. */
function integers(code: Code, node: NodeOf<'binary'>['left']): Evaluation<number | bigint> | undefined {
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
  return code.run as Evaluation<bigint>;
}

type Integers = Evaluation<number | bigint> | undefined;

function ofIntegers(operator: BinaryOperator, left: Integers, right: Integers): Evaluation<CelValue> | undefined {
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

function ofTexts(operator: BinaryOperator, leftCode: Code, rightCode: Code): Evaluation<CelValue> | undefined {
  if (!isText(leftCode.type) || !isText(rightCode.type)) return undefined;
  // The type says string, and crossing sees to it.
  const left = crossed(leftCode) as Evaluation<string>;
  const right = crossed(rightCode) as Evaluation<string>;
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
function codeCall(coding: Coding, node: NodeOf<'call'>, locals: Locals): Evaluation<CelValue> {
  const parts = (node.on ? [node.on, ...node.args] : node.args).map((part) => coding.value(part, locals));
  const overloads = coding.inferred.overloads.get(node) ?? [];
  const failed = new Failed('type', `\`${node.name}\` cannot be called with these values`);
  return (frame) => {
    const values = parts.map((part) => part(frame));
    for (const overload of overloads) {
      if (slotsOf(overload).every((slot, index) => slotHolds(slot, values[index] as CelValue)))
        return overload.run(values, frame);
    }
    throw failed;
  };
}
