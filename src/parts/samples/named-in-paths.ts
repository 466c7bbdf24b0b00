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

/** The shape of an identifier, which has to fit the parameters of paths that name it, too. */
export function shapeAsNamed(named: NamedInPaths, shape: Shape): Shape {
  const { type } = named.whole(shape);
  const first = parametersOf(named).find((one) => named.whole(one).type === type);
  return first === undefined ? shape : { ...fitsAll([shape, first]) };
}

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
