/** The syntax tree of an expression, and how a text is read into one. */

import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { bounds } from './cel-value.ts';

/** The syntax tree of an expression: plain values, with macros written out. `start` and `end` are offsets into the source. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type Literal = string | number | bigint | boolean | null;

/** `&&` and `||` are apart from the other operators, since they do not need both sides. */
export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%';

export type LoopKind = 'all' | 'exists' | 'exists_one' | 'map' | 'filter';

export type Node = Span &
  (
    | { readonly op: 'literal'; readonly value: Literal }
    | { readonly op: 'name'; readonly name: string }
    | { readonly op: 'field'; readonly of: Node; readonly name: string }
    | { readonly op: 'index'; readonly of: Node; readonly index: Node }
    | { readonly op: 'has'; readonly field: Extract<Node, { op: 'field' | 'find' }> }
    /** The row of a resource whose fields have these values: `find(member, { team: resource.team, user: caller.id })`. */
    | { readonly op: 'find'; readonly resource: string; readonly keys: readonly FindKey[] }
    /** The address at which a row is read: `link(next)`. */
    | { readonly op: 'link'; readonly of: Node }
    | { readonly op: 'call'; readonly name: string; readonly on?: Node; readonly args: readonly Node[] }
    | { readonly op: 'not'; readonly of: Node }
    | { readonly op: 'minus'; readonly of: Node }
    | { readonly op: 'binary'; readonly operator: BinaryOperator; readonly left: Node; readonly right: Node }
    | { readonly op: 'and'; readonly left: Node; readonly right: Node }
    | { readonly op: 'or'; readonly left: Node; readonly right: Node }
    | { readonly op: 'choose'; readonly if: Node; readonly yes: Node; readonly no: Node }
    | { readonly op: 'list'; readonly items: readonly Node[] }
    | { readonly op: 'map'; readonly entries: readonly (readonly [Node, Node])[] }
    | {
        readonly op: 'loop';
        readonly kind: LoopKind;
        readonly over: Node;
        readonly name: string;
        /** The condition of a `map` with three arguments. */
        readonly where?: Node;
        readonly body: Node;
      }
    | { readonly op: 'let'; readonly name: string; readonly value: Node; readonly body: Node }
  );

/** One field that a row is found by, at its place, and the value that it has to have. */
export interface FindKey extends Span {
  readonly field: string;
  readonly value: Node;
}

export type NodeOf<Op extends Node['op']> = Extract<Node, { op: Op }>;

/** The nodes directly below a node, in the order in which they are written. */
export function childNodes(node: Node): readonly Node[] {
  switch (node.op) {
    case 'literal':
    case 'name':
      return [];
    case 'field':
    case 'not':
    case 'minus':
    case 'link':
      return [node.of];
    case 'has':
      return [node.field];
    case 'find':
      return node.keys.map(({ value }) => value);
    case 'index':
      return [node.of, node.index];
    case 'call':
      return node.on ? [node.on, ...node.args] : node.args;
    case 'binary':
    case 'and':
    case 'or':
      return [node.left, node.right];
    case 'choose':
      return [node.if, node.yes, node.no];
    case 'list':
      return node.items;
    case 'map':
      return node.entries.flat();
    case 'loop':
      return node.where ? [node.over, node.where, node.body] : [node.over, node.body];
    case 'let':
      return [node.value, node.body];
  }
}

/** Something wrong with an expression. Offsets count into its text. */
export interface ExpressionProblem {
  readonly kind: 'parse' | 'type' | 'scope' | 'field' | 'absent' | 'result' | 'constant' | 'size' | 'find' | 'link';
  /** What is wrong, as one sentence. */
  readonly message: string;
  /** What to write instead. */
  readonly remedy?: string;
  readonly offset?: number;
  readonly length?: number;
  /** The operations in which it is wrong, where the expression stands for several and is not wrong in all. */
  readonly operations?: readonly string[];
}

/** What keeps a text from being an expression of this language. */
export interface Unparsed extends Span {
  readonly kind: 'parse' | 'size';
  readonly message: string;
  readonly remedy?: string;
}

const grammar = new Environment({
  limits: {
    maxAstNodes: bounds.nodesMax,
    maxDepth: bounds.depthMax,
    maxListElements: 500,
    maxMapEntries: 200,
    maxCallArguments: 8,
  },
});

/** Reads an expression (https://github.com/google/cel-spec). It never throws. */
export function parseExpression(source: string): { readonly node: Node } | { readonly unparsed: Unparsed } {
  if (source.length > bounds.sourceMax) {
    const message = `The expression has ${source.length} characters; ${bounds.sourceMax} are the most.`;
    return { unparsed: { kind: 'size', message, start: 0, end: source.length } };
  }
  try {
    return { node: new Reader().read(grammar.parse(source).ast, 0) };
  } catch (error) {
    if (error instanceof Refusal) return { unparsed: error.unparsed };
    if (error instanceof ParseError) return { unparsed: fromParseError(error, source) };
    throw error;
  }
}

function fromParseError(error: ParseError, source: string): Unparsed {
  const start = Math.min(error.range?.start ?? 0, source.length);
  const end = Math.max(start, Math.min(error.range?.end ?? start, source.length));
  if (error.code === 'limit_exceeded') {
    const message = 'The expression is too large or nested too deep.';
    return { kind: 'size', message, remedy: `At most ${bounds.nodesMax} parts, ${bounds.depthMax} deep.`, start, end };
  }
  const message = `The expression cannot be read: ${lowerFirst(error.summary)}.`;
  const remedy = source[start] === '=' ? 'CEL compares with `==`.' : undefined;
  return { kind: 'parse', message, ...(remedy && { remedy }), start, end };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

class Refusal extends Error {
  readonly unparsed: Unparsed;
  constructor(span: Span, message: string, remedy?: string) {
    super(message);
    this.unparsed = { kind: 'parse', message, ...(remedy !== undefined && { remedy }), start: span.start, end: span.end };
  }
}

const loopKinds = new Set<string>(['all', 'exists', 'exists_one', 'map', 'filter']);
const int64Max = 2n ** 63n - 1n;

/** Turns the library's tree, with its macros as they were written, into the plain one. */
class Reader {
  read(ast: ASTNode, depth: number): Node {
    const span = { start: ast.start, end: ast.end };
    if (depth > bounds.nodesMax) throw new Refusal(span, 'The expression is nested too deep.');
    const of = (child: ASTNode) => this.read(child, depth + 1);
    switch (ast.op) {
      case 'value':
        return { ...span, op: 'literal', value: literal(ast.args, span) };
      case 'id':
        return { ...span, op: 'name', name: ast.args };
      case '.':
        return { ...span, op: 'field', of: of(ast.args[0]), name: ast.args[1] };
      case '[]':
        return indexed(span, of(ast.args[0]), of(ast.args[1]));
      case '!_':
        return { ...span, op: 'not', of: of(ast.args) };
      case '-_':
        return negated(ast.args, span) ?? { ...span, op: 'minus', of: of(ast.args) };
      case '&&':
        return { ...span, op: 'and', left: of(ast.args[0]), right: of(ast.args[1]) };
      case '||':
        return { ...span, op: 'or', left: of(ast.args[0]), right: of(ast.args[1]) };
      case '?:':
        return { ...span, op: 'choose', if: of(ast.args[0]), yes: of(ast.args[1]), no: of(ast.args[2]) };
      case 'list':
        return { ...span, op: 'list', items: ast.args.map(of) };
      case 'map':
        return { ...span, op: 'map', entries: ast.args.map(([key, value]) => [of(key), of(value)] as const) };
      case 'call':
        return this.call(span, ast.args[0], undefined, ast.args[1], of);
      case 'rcall':
        return this.call(span, ast.args[0], ast.args[1], ast.args[2], of);
      case '.?':
      case '[?]':
        throw new Refusal(span, 'Optional access is not part of this language.', 'Write `has(…) && …`.');
      default:
        return {
          ...span,
          op: 'binary',
          operator: ast.op satisfies BinaryOperator,
          left: of(ast.args[0]),
          right: of(ast.args[1]),
        };
    }
  }

  call(span: Span, name: string, on: ASTNode | undefined, args: readonly ASTNode[], of: (ast: ASTNode) => Node): Node {
    const [first, second, third] = args;
    if (!on && name === 'has') {
      const field = first && args.length === 1 ? of(first) : undefined;
      if (field?.op !== 'field' && field?.op !== 'find')
        throw new Refusal(span, '`has` asks for one field.', 'Write `has(resource.reference)`.');
      return { ...span, op: 'has', field } satisfies NodeOf<'has'>;
    }
    if (!on && name === 'find') return found(span, args, of);
    if (!on && name === 'link') return linked(span, args, of);
    if (on && isNamespace(on) && name === 'bind' && first && second && third) {
      return { ...span, op: 'let', name: nameOf(first), value: of(second), body: of(third) };
    }
    if (on && loopKinds.has(name) && first && second && (!third || name === 'map')) {
      // A name among the five loops.
      const kind = name as LoopKind;
      return {
        ...span,
        op: 'loop',
        kind,
        over: of(on),
        name: nameOf(first),
        ...(third ? { where: of(second), body: of(third) } : { body: of(second) }),
      };
    }
    return { ...span, op: 'call', name, ...(on && { on: of(on) }), args: args.map(of) };
  }
}

/** `find(member, { team: resource.team, user: caller.id })`. */
function found(span: Span, [resource, by, ...more]: readonly ASTNode[], of: (ast: ASTNode) => Node): NodeOf<'find'> {
  const wrong = (at: Span, message: string) =>
    new Refusal(at, message, 'Write `find(member, { team: resource.team, user: caller.id })`.');
  if (resource?.op !== 'id' || by?.op !== 'map' || by.args.length === 0 || more.length > 0)
    throw wrong(span, '`find` takes the name of a resource, and the fields that its row has.');
  const keys = by.args.map(([key, value]) => {
    const field = key.op === 'id' ? key.args : key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
    if (field === undefined) throw wrong({ start: key.start, end: key.end }, 'What a row is found by are fields by their names.');
    return { field, start: key.start, end: key.end, value: of(value) };
  });
  const twice = keys.find(({ field }, index) => keys.findIndex((one) => one.field === field) < index);
  if (twice) throw wrong({ start: twice.start, end: twice.end }, `\`${twice.field}\` is given twice.`);
  return { ...span, op: 'find', resource: resource.args, keys };
}

/** `link(next)`. */
function linked(span: Span, [row, ...more]: readonly ASTNode[], of: (ast: ASTNode) => Node): NodeOf<'link'> {
  if (row === undefined || more.length > 0)
    throw new Refusal(span, '`link` takes one row, or a reference to one.', 'Write `link(next)`.');
  return { ...span, op: 'link', of: of(row) };
}

/** `resource['in']` is `resource.in`, which the grammar cannot say. */
function indexed(span: Span, of: Node, index: Node): Node {
  if (index.op === 'literal' && typeof index.value === 'string') return { ...span, op: 'field', of, name: index.value };
  return { ...span, op: 'index', of, index };
}

function isNamespace(ast: ASTNode): boolean {
  return ast.op === 'id' && ast.args === 'cel';
}

function nameOf(ast: ASTNode): string {
  if (ast.op === 'id') return ast.args;
  throw new Refusal({ start: ast.start, end: ast.end }, 'The first argument names the variable.', 'Write `list.all(item, …)`.');
}

function negated(ast: ASTNode, span: Span): Node | undefined {
  return ast.op === 'value' && ast.args === int64Max + 1n ? { ...span, op: 'literal', value: -int64Max - 1n } : undefined;
}

function literal(value: unknown, span: Span): Literal {
  if (typeof value === 'bigint' && value > int64Max) throw new Refusal(span, `${value} is beyond 64 bits.`);
  if (value instanceof Uint8Array) throw new Refusal(span, 'No value of this language is bytes.', 'Leave out the `b`.');
  if (typeof value === 'object' && value !== null)
    throw new Refusal(span, 'No value of this language is unsigned.', 'Leave out the `u`.');
  // What the library's lexer makes beside bytes and unsigned numbers.
  return value as Literal;
}
