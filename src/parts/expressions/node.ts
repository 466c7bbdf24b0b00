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
