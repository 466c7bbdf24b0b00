import type { CelType } from './cel-type.ts';
import type { Value } from './cel-value.ts';
import type { Frame, Raw } from './frame.ts';
import type { Inferred } from './infer.ts';
import { crossingOf, type FromJson } from './json-values.ts';
import type { Node } from './node.ts';
import type { Scope } from './scope.ts';

/** A piece of an expression ready to run. @throws {Failed} */
export type Evaluation<T> = (frame: Frame) => T;

/** What a node was turned into: one that gives JSON as it came in and has not crossed yet, or one that gives a value. */
export type Code =
  | { readonly raw: true; readonly run: Evaluation<Raw>; readonly type: CelType }
  | { readonly raw: false; readonly run: Evaluation<Value>; readonly type: CelType };

/** What the files that each turn some nodes into code share. */
export interface Coding {
  readonly scope: Scope;
  readonly inferred: Inferred;
  code(node: Node, locals: Locals): Code;
  /** The node as a value, crossed where it is not one yet. */
  value(node: Node, locals: Locals): Evaluation<Value>;
  condition(node: Node, locals: Locals): Evaluation<boolean>;
  /** A free slot for the variable of a loop. */
  slot(): number;
}

/** The variables of loops: their slots in the frame, and whether what is in them has crossed. */
export type Locals = ReadonlyMap<string, { readonly slot: number; readonly raw: boolean; readonly type: CelType }>;

/** A node's value, crossed. */
export function crossed(code: Code): Evaluation<Value> {
  if (!code.raw) return code.run;
  const { run } = code;
  const cross: FromJson = crossingOf(code.type);
  return (frame) => cross(run(frame), frame);
}
