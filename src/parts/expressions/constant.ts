import type { Spec } from '../spec.ts';
import { compileNode } from './compile.ts';
import { infer } from './infer.ts';
import { type Node, partsOf } from './node.ts';
import { scopeOf } from './scope.ts';
import { aBoolean } from './use.ts';

/** What a condition always is, whatever it is asked of; nothing where that depends. */
export function constantOf(spec: Spec, node: Node, source: string): boolean | undefined {
  switch (node.op) {
    case 'not': {
      const of = constantOf(spec, node.of, source);
      return of === undefined ? undefined : !of;
    }
    case 'and':
    case 'or': {
      const decisive = node.op === 'or';
      const sides = [constantOf(spec, node.left, source), constantOf(spec, node.right, source)];
      if (sides.includes(decisive)) return decisive;
      return sides.includes(undefined) ? undefined : !decisive;
    }
    case 'choose': {
      const condition = constantOf(spec, node.if, source);
      const [yes, no] = [constantOf(spec, node.yes, source), constantOf(spec, node.no, source)];
      if (condition !== undefined) return condition ? yes : no;
      return yes === no ? yes : undefined;
    }
    default:
      return readsNothing(node, new Set()) ? evaluated(spec, node, source) : undefined;
  }
}

function evaluated(spec: Spec, node: Node, source: string): boolean | undefined {
  const scope = scopeOf({});
  const value = compileNode(spec, source, node, infer(spec, scope, source, node), { scope, expected: aBoolean }).evaluate({});
  return typeof value === 'boolean' ? value : undefined;
}

function readsNothing(node: Node, bound: ReadonlySet<string>): boolean {
  if (node.op === 'name') return bound.has(node.name);
  const inside = node.op === 'loop' || node.op === 'let' ? new Set(bound).add(node.name) : bound;
  return partsOf(node).every((part) => readsNothing(part, inside));
}
