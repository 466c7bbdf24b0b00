import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';

/** A node of the tree that acorn makes (ESTree): its members are looked at by name. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** A file as Node runs it: every type replaced by as many spaces, so that an offset in one is the same offset in the other. */
export function stripped(text: string): string {
  const script = stripTypeScriptTypes(text, { mode: 'strip' });
  if (script.length !== text.length) throw new Error('Types were not replaced by as many spaces.');
  return script;
}

/** The tree of a script; a script that cannot be read throws. */
export function syntaxTree(script: string): SyntaxNode {
  return asNode(parse(script, { ecmaVersion: 'latest', sourceType: 'module' }));
}

export function isScript(script: string): boolean {
  try {
    syntaxTree(script);
    return true;
  } catch {
    return false;
  }
}

/** The nodes right below a node, in the order of the text. */
export function children(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .sort((a, b) => a.start - b.start);
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function asNode(node: Node): SyntaxNode {
  // Every member of acorn's nodes is reached by name through an index signature that its own type does not have.
  return node as unknown as SyntaxNode;
}
