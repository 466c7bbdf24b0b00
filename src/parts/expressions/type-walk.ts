import type { CelType } from './cel-type.ts';
import type { ExpressionProblem, Node } from './node.ts';
import type { Overload } from './overload.ts';
import { type Consequences, noConsequences, type Present } from './presence.ts';

/** A walk over an expression that finds types, as the files that each know some of the nodes see it. */
export interface TypeWalk {
  walk(node: Node, around: Around): Typed;
  wantBool(node: Node, type: CelType): void;
  textOf(node: Node): string;
  report(node: Node, kind: ExpressionProblem['kind'], message: string, remedy?: string): void;
  readonly types: Map<Node, CelType>;
  readonly overloads: Map<Node, readonly Overload[]>;
}

/** The variables of loops, and what is known to be there. */
export interface Around {
  readonly bound: ReadonlyMap<string, Bound>;
  readonly present: Present;
}

export interface Bound {
  readonly type: CelType;
  readonly key: string;
}

export interface Typed extends Consequences {
  readonly type: CelType;
  /** How many references were followed to get here. */
  readonly follows?: number;
}

export function known(type: CelType): Typed {
  return { type, ...noConsequences };
}

export function keysAround(around: Around): (name: string) => string {
  return (name) => around.bound.get(name)?.key ?? name;
}

export function bind(around: Around, name: string, type: CelType, place: number): Around {
  return { ...around, bound: new Map(around.bound).set(name, { type, key: `${name}@${place}` }) };
}
