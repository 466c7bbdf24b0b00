/** An expression made ready to run, and the paths that it reads. */

import type { Spec } from '../spec.ts';
import type { CelType } from './cel-type.ts';
import { type CelValue, type EvaluationContext, Failed, type Raw } from './cel-value.ts';
import { Coder } from './coder.ts';
import { type Inferred, inferTypes } from './infer.ts';
import { crossed, type Evaluation, outcome } from './json-values.ts';
import { childNodes, type Node, parseExpression } from './node.ts';
import type { Expected, Scope } from './scope.ts';
import { typeOfShape } from './shape-type.ts';

export interface CompiledExpression {
  readonly source: string;
  /** Every path that it reads of its variables. */
  readonly reads: readonly Read[];
  /** The resources whose rows it looks up. */
  readonly seeks: readonly string[];
  /** What it comes to, as JSON; or why it came to nothing. It never throws but what `follow` throws. */
  evaluate(context: EvaluationContext): Raw | Failed;
  /** What it comes to as the value that expressions handle, for what has no form in JSON. */
  value(context: EvaluationContext): CelValue | Failed;
}

/** Makes an expression ready to run in one scope. One that cannot be read fails at every evaluation; `checkExpression` says why. */
export function compileExpression(
  spec: Spec,
  use: { readonly source: string; readonly scope: Scope; readonly expected: Expected },
): CompiledExpression {
  const parsed = parseExpression(use.source);
  if ('unparsed' in parsed) return broken(use.source, parsed.unparsed.message);
  return compileNode(spec, use.source, parsed.node, inferTypes(spec, use.scope, use.source, parsed.node), use);
}

/** As `compileExpression`, for an expression or a part of one whose types are known already. */
export function compileNode(
  spec: Spec,
  source: string,
  node: Node,
  inferred: Inferred,
  use: { readonly scope: Scope; readonly expected: Expected },
): CompiledExpression {
  const coder = new Coder(use.scope, inferred);
  const code = coder.code(node, new Map());
  const give = outcome(code, { type: typeOfShape(spec, use.expected.shape), optional: use.expected.optional ?? false });
  return {
    source,
    reads: readsOf(node, inferred, use.scope),
    seeks: soughtIn(node),
    evaluate: attempting(give),
    value: attempting(crossed(code)),
  };
}

/** Runs it; what fails is why there is no value. */
function attempting<T>(run: Evaluation<T>): (context: EvaluationContext) => T | Failed {
  return (context) => {
    try {
      return run({ context, locals: [], steps: 0 });
    } catch (error) {
      if (error instanceof Failed) return error;
      throw error;
    }
  };
}

function broken(source: string, message: string): CompiledExpression {
  const failed = new Failed('type', message);
  return { source, reads: [], seeks: [], evaluate: () => failed, value: () => failed };
}

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
