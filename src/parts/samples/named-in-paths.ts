import { entriesOf, entryOf, statedValue } from '../fact.ts';
import { identifierParameter } from '../payload.ts';
import type { Shape } from '../shape.ts';
import { fitsAll } from '../shapes/branches.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';

/** What the operations about a resource say of its identifier, besides its own field. */
export interface NamedInPaths {
  readonly spec: Spec;
  readonly resource: string;
  readonly identifier: string;
  /** A shape with its resource or its parts written out at the top. */
  whole(shape: Shape): Shape;
}

/** The shape of an identifier, which has to fit the parameters of paths and the members of bodies that name it, and answers that tell what was made, too. */
export function shapeAsNamed(named: NamedInPaths, shape: Shape): Shape {
  const { type, pattern } = named.whole(shape);
  const told = [...parametersOf(named), ...membersThatName(named), ...toldAsMade(named)];
  const first = told.find((one) => named.whole(one).type === type);
  if (first === undefined) return shape;
  // Of two patterns the first is followed, and the text held to both.
  return { ...fitsAll(typeof pattern === 'string' && admitsAny.test(pattern) ? [first, shape] : [shape, first]) };
}

/** Patterns that any text has. */
const admitsAny = /^\^?(?:\.|\[\\s\\S\])[*+]\$?$/;

/** Whether a text that may be any is a number all the same: by the parameter of the paths that name it, or by the answer that tells what was made. */
export function isNumberedText(named: NamedInPaths, shape: Shape, examples: readonly unknown[]): boolean {
  const { type, format, pattern, enum: listed } = shape;
  const isAny = type === 'string' && format === undefined && pattern === undefined && listed === undefined;
  if (!isAny || examples.some((one) => !/^\d+$/.test(String(one)))) return false;
  return [...parametersOf(named), ...toldAsMade(named)].some((one) => numbers.has(String(named.whole(one).type)));
}

const numbers: ReadonlySet<string> = new Set(['integer', 'number']);

function parametersOf({ spec, resource }: NamedInPaths): Shape[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]): Shape[] => {
    const effect = statedValue(endpoint.does);
    const parameter = effect && 'resource' in effect && effect.resource === resource ? identifierParameter(endpoint) : undefined;
    const stated = parameter === undefined ? undefined : entryOf(endpoint.parameters, parameter);
    const shape = stated && statedValue(stated.shape);
    return shape ? [shape] : [];
  });
}

/** The members of bodies by which operations say which thing they are about: `identity: request.JobId`. */
function membersThatName({ spec, resource, whole }: NamedInPaths): Shape[] {
  return entriesOf(spec.endpoints.all).flatMap(([, { does, identity, request }]): Shape[] => {
    const effect = statedValue(does);
    const [, name = ''] = /\brequest\.(\w+)/.exec(identity?.source ?? '') ?? [];
    if (name === '' || !effect || !('resource' in effect) || effect.resource !== resource) return [];
    const { properties } = whole(statedValue(request) ?? {});
    const member = isPlainMap(properties) ? properties[name] : undefined;
    return isPlainMap(member) ? [member] : [];
  });
}

/** The member of the identifier's name in the answers of creations. */
function toldAsMade({ spec, resource, identifier, whole }: NamedInPaths): Shape[] {
  return entriesOf(spec.endpoints.all).flatMap(([, { does, response }]): Shape[] => {
    const effect = statedValue(does);
    if (effect?.verb !== 'create' || effect.resource !== resource) return [];
    return (statedValue(response) ?? []).flatMap(({ status, shape }): Shape[] => {
      const { properties } = status.startsWith('2') ? whole(statedValue(shape) ?? {}) : {};
      const told = isPlainMap(properties) ? properties[identifier] : undefined;
      return isPlainMap(told) ? [told] : [];
    });
  });
}
