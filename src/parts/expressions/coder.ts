import type { CelType } from './cel-type.ts';
import { checkInt, Failed, type Value } from './cel-value.ts';
import { type Code, type Coding, crossed, type Locals, type Run } from './code.ts';
import { codeLoop } from './code-loop.ts';
import { codeBinary, codeCall } from './code-operator.ts';
import { codeField, codeHas, codeIndex, codeName } from './code-path.ts';
import type { Inferred } from './infer.ts';
import type { Node, NodeOf } from './node.ts';
import { isSameForm } from './outcome.ts';
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

  value(node: Node, locals: Locals): Run<Value> {
    return crossed(this.code(node, locals));
  }

  condition(node: Node, locals: Locals): Run<boolean> {
    if (node.op === 'and' || node.op === 'or') return this.logic(node, locals);
    if (node.op === 'has') return codeHas(this, node, locals);
    const run = this.value(node, locals);
    // An operator of type bool over typed values gives nothing else.
    if (node.op === 'binary' && this.typeOf(node).is === 'bool') return run as Run<boolean>;
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

  reckon(node: Exclude<Node, NodeOf<'name' | 'field' | 'index' | 'loop' | 'let' | 'choose'>>, locals: Locals): Run<Value> {
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
  logic(node: NodeOf<'and'> | NodeOf<'or'>, locals: Locals): Run<boolean> {
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
    const bound = (frame: Parameters<Run<unknown>>[0]) => {
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

function negated(of: Run<Value>): Run<Value> {
  return (frame) => {
    const value = of(frame);
    if (typeof value === 'bigint') return checkInt(-value);
    if (typeof value === 'number') return -value;
    throw new Failed('type', '`-` before something that is no number');
  };
}

function keyOf(value: Value): string {
  if (typeof value === 'string') return value;
  throw new Failed('type', 'a key that is no text');
}
