import type { CelType } from './cel-type.ts';
import type { Inferred } from './infer.ts';
import { childNodes, type Node } from './node.ts';
import type { Scope } from './scope.ts';

/** A path that an expression reads of one of its variables. */
export interface Read {
  /** The variable: `resource`, `request`, `caller` … */
  readonly root: string;
  /** The fields on the way, up to a list, a value without a type or a reference; empty = the whole. */
  readonly path: readonly string[];
  /** Where the path goes on through a reference: what it refers to, and the fields read there. */
  readonly follows?: readonly string[];
}

/** Every path that an expression reads of the variables of its scope, each once. */
export function readsOf(node: Node, { types, links }: Pick<Inferred, 'types' | 'links'>, scope: Scope): Read[] {
  const reads = new Map<string, Read>();
  collect(node, new Set(), (read) => reads.set(JSON.stringify(read), read));
  return [...reads.values()];

  function collect(part: Node, bound: ReadonlySet<string>, add: (read: Read) => void): void {
    const steps = stepsOf(part);
    const link = links.get(part);
    if (link) {
      // Of the row it reads what its path names.
      for (const piece of link) if (typeof piece !== 'string') collect(piece, bound, add);
      return;
    }
    if (steps && !bound.has(steps.root) && scope[steps.root]) {
      add(readOf(steps, types));
      return;
    }
    if (part.op === 'loop' || part.op === 'let') {
      const inside = new Set(bound).add(part.name);
      collect(part.op === 'loop' ? part.over : part.value, bound, add);
      if (part.op === 'loop' && part.where) collect(part.where, inside, add);
      collect(part.body, inside, add);
      return;
    }
    for (const child of childNodes(part)) collect(child, bound, add);
  }
}

/** The resources whose rows an expression looks up, each once. */
export function soughtIn(node: Node): string[] {
  const below = childNodes(node).flatMap(soughtIn);
  return [...new Set(node.op === 'find' ? [node.resource, ...below] : below)];
}

interface Steps {
  readonly root: string;
  /** The nodes of the path after its root, in order. */
  readonly fields: readonly Extract<Node, { op: 'field' }>[];
}

function stepsOf(node: Node): Steps | undefined {
  if (node.op === 'name') return { root: node.name, fields: [] };
  if (node.op !== 'field') return undefined;
  const of = stepsOf(node.of);
  return of && { root: of.root, fields: [...of.fields, node] };
}

function readOf({ root, fields }: Steps, types: ReadonlyMap<Node, CelType>): Read {
  const through = fields.findIndex((field) => types.get(field.of)?.is === 'ref');
  const names = fields.map((field) => field.name);
  return through < 0 ? { root, path: names } : { root, path: names.slice(0, through), follows: names.slice(through) };
}
