/** The type of a member that is read, what is known to be there, and the walk that finds types. */

import { nearest } from '../../document/nearest.ts';
import { type CelMember, type CelType, dyn, type ObjectType, type Overload, typeName } from './cel-type.ts';
import { bounds } from './cel-value.ts';
import type { ExpressionProblem, Node, NodeOf } from './node.ts';

/** What is known to be there: paths by a key that two readings of the same thing share. */
export type Present = ReadonlySet<string>;

/** What follows for presence when a condition holds, and when it does not. */
export interface Consequences {
  readonly yes: Present;
  readonly no: Present;
}

export const nothingKnown: Present = new Set();
export const noConsequences: Consequences = { yes: nothingKnown, no: nothingKnown };

export function both(a: Present, b: Present): Present {
  return a.size === 0 ? b : b.size === 0 ? a : a.union(b);
}

export function shared(a: Present, b: Present): Present {
  return a.intersection(b);
}

/** A key of a path: a variable with fields and fixed places after it. `nameOf` tells apart variables that share a name. */
export function pathKey(node: Node, nameOf: (name: string) => string): string | undefined {
  if (node.op === 'name') return nameOf(node.name);
  if (node.op === 'field') {
    const of = pathKey(node.of, nameOf);
    return of === undefined ? undefined : `${of}.${JSON.stringify(node.name)}`;
  }
  if (node.op === 'find') {
    const keys = node.keys.map(({ field, value }) => {
      const key = value.op === 'literal' ? JSON.stringify(String(value.value)) : pathKey(value, nameOf);
      return key === undefined ? undefined : `${field}: ${key}`;
    });
    return keys.includes(undefined) ? undefined : `find(${node.resource}, ${keys.toSorted().join(', ')})`;
  }
  if (node.op !== 'index') return undefined;
  const of = pathKey(node.of, nameOf);
  const index = node.index.op === 'literal' ? String(node.index.value) : pathKey(node.index, nameOf);
  return of === undefined || index === undefined ? undefined : `${of}[${index}]`;
}

interface Reading {
  readonly text: (node: Node) => string;
  /** Whether it is read of what is stored. */
  readonly isStored: boolean;
}

/** What a field is, read of a value of this type; or why it cannot be read. A field of a reference is one of what it refers to. */
export function typedMemberOf(
  node: NodeOf<'field'>,
  of: CelType,
  follows: number,
  reading: Reading,
): CelMember | { readonly wrong: ExpressionProblem } {
  const path = reading.text(node.of);
  switch (of.is) {
    case 'dyn':
      return { type: dyn, optional: false };
    case 'map':
      return { type: of.of, optional: true };
    case 'object':
      return memberOfObject(node, of, reading);
    case 'ref': {
      if (follows > bounds.followsMax) {
        return wrong(
          node,
          'field',
          `\`${reading.text(node)}\` follows more than ${bounds.followsMax} references.`,
          'A path follows up to three.',
        );
      }
      const target = of.target();
      return target ? memberOfObject(node, target, { ...reading, isStored: true }) : { type: dyn, optional: false };
    }
    case 'nullable':
      return wrong(node, 'absent', `\`${path}\` may be null here.`, `Write \`${path} != null && …\`.`);
    default:
      return wrong(node, 'field', `\`${path}\` is ${typeName(of)} and has no field \`${node.name}\`.`);
  }
}

function memberOfObject(
  node: NodeOf<'field'>,
  of: ObjectType,
  reading: Reading,
): CelMember | { readonly wrong: ExpressionProblem } {
  const member = of.members.get(node.name);
  if (member?.unstored && reading.isStored) {
    const remedy = `Read it of the body: \`request.${node.name}\`.`;
    return wrong(node, 'field', `\`${node.name}\` is not stored, so \`${reading.text(node.of)}\` never has it.`, remedy);
  }
  if (member) return member;
  if (of.rest) return { type: of.rest, optional: true };
  const names = [...of.members.keys()];
  const listed = names.length === 0 ? 'It has no fields.' : `It has ${names.map((name) => `\`${name}\``).join(', ')}.`;
  const message = `\`${reading.text(node.of)}\` has no field \`${node.name}\`.`;
  return wrong(node, 'field', message, nearestRemedy(node.name, names) ?? listed);
}

/** `Did you mean …?`, where something is near. */
export function nearestRemedy(word: string, candidates: readonly string[]): string | undefined {
  const near = nearest(word, candidates);
  return near === undefined ? undefined : `Did you mean \`${near}\`?`;
}

function wrong(
  node: NodeOf<'field'>,
  kind: ExpressionProblem['kind'],
  message: string,
  remedy?: string,
): { readonly wrong: ExpressionProblem } {
  return { wrong: { kind, message, ...(remedy !== undefined && { remedy }), offset: node.start, length: node.end - node.start } };
}

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

interface Bound {
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
