/** Paths of fields: what stands at their end in a value, in a row or in rows around it, and the shape of a parameter that asks for one. */

import type { Endpoint } from './endpoints.ts';
import { type Expression, entryOf, type Named, statedValue } from './fact.ts';
import { resourceOfEffect } from './operations.ts';
import type { Choosing, Parameter } from './parameters.ts';
import { identifierType } from './schemas.ts';
import type { Shape } from './shape.ts';
import { resolvedShape } from './shape-level.ts';
import { isPlainMap } from './source.ts';
import type { Spec } from './spec.ts';

/** A value of a row, or of rows around it, as a path names it: `city`, `address.city`, `customer.email`, `line.invoice.price`. */
export interface Reach {
  /** From row to row, the first one from the row itself. */
  readonly steps: readonly ReachStep[];
  /** The resource whose rows have the value. */
  readonly resource: string;
  /** Where it stands in them. */
  readonly names: readonly string[];
  /** The shape of one value. */
  readonly shape: Shape;
  /** Whether there are several of it in one row, along a list. */
  readonly isList: boolean;
  /** Whether its field is told apart without case. */
  readonly ignoreCase: boolean;
}

/** To the row that a reference leads to, or to the rows of a resource that refer to this one. */
export type ReachStep =
  | { readonly to: string; readonly names: readonly string[] }
  | { readonly of: string; readonly field: string };

/** So many rows may lie between. */
const stepsMost = 3;

/** Why a path leads nowhere, and the resource at which it ends; open ones may have what is looked for. */
interface Unreached {
  readonly wrong: string;
  readonly of: string;
}

/** Follows a path from the rows of a resource: through values and references, and, by `RESOURCE.FIELD`, to the rows whose field refers here. */
export function reachOf(spec: Spec, resource: string, path: string): Reach | Unreached {
  const words = path.split('.');
  const steps: ReachStep[] = [];
  let at = resource;
  for (let next = 0; next < words.length; ) {
    const word = words[next] as string;
    const field = fieldOf(spec, at, word);
    const child = field || next + 2 >= words.length ? undefined : fieldOf(spec, word, words[next + 1] as string);
    if (child?.ref === at) {
      steps.push({ of: word, field: words[next + 1] as string });
      at = word;
      next += 2;
    } else {
      const found = alongValue(spec, at, words.slice(next));
      if ('wrong' in found) return found;
      if (!('to' in found)) {
        if (steps.length > stepsMost) return { wrong: `It goes through ${steps.length} rows; ${stepsMost} are the most`, of: at };
        return {
          steps,
          resource: at,
          names: found.names,
          shape: found.shape,
          isList: found.isList,
          ignoreCase: found.ignoreCase,
        };
      }
      steps.push({ to: found.to, names: found.names });
      at = found.to;
      next += found.names.length;
    }
  }
  return { wrong: `\`${path}\` ends at a row, and names no value of it`, of: at };
}

/** Whether a row may have several such values, each in another row that refers to it. */
export function isOfSeveralRows({ steps, isList }: Reach): boolean {
  return !isList && steps.some((step) => 'of' in step);
}

type Along =
  | { readonly to: string; readonly names: readonly string[] }
  | Pick<Reach, 'names' | 'shape' | 'isList' | 'ignoreCase'>
  | Unreached;

/** Goes on inside one row, to a value or to a reference with more behind it. */
function alongValue(spec: Spec, resource: string, words: readonly string[]): Along {
  const [first = '', ...rest] = words;
  const field = fieldOf(spec, resource, first);
  if (!field) return { wrong: `\`${resource}\` has no field \`${first}\``, of: resource };
  let shape = resolvedShape(spec, statedValue(field.shape) ?? {});
  let ref = field.ref;
  let isList = false;
  const names = [first];
  for (const word of [...rest, undefined]) {
    if (shape.type === 'array' && isPlainMap(shape.items)) {
      isList = true;
      shape = resolvedShape(spec, shape.items);
      ref = typeof shape.ref === 'string' ? shape.ref : undefined;
    }
    if (word === undefined) break;
    if (ref !== undefined)
      return isList ? { wrong: `\`${names.join('.')}\` is a list of references`, of: resource } : { to: ref, names };
    const inner = memberOf(spec, shape, word);
    if (!inner) return { wrong: `\`${names.join('.')}\` has no \`${word}\``, of: resource };
    shape = resolvedShape(spec, inner);
    ref = typeof shape.ref === 'string' ? shape.ref : undefined;
    names.push(word);
  }
  if (ref !== undefined && shape.type === undefined) shape = { ...shape, type: identifierType(spec, ref) };
  return { names, shape, isList, ignoreCase: field.ignoreCase };
}

/** What a member of a value is, where it is a map or a resource without an identifier of its own. */
function memberOf(spec: Spec, shape: Shape, word: string): Shape | undefined {
  if (typeof shape.resource === 'string') return statedValue(fieldOf(spec, shape.resource, word)?.shape);
  const inner = isPlainMap(shape.properties) ? shape.properties[word] : undefined;
  return isPlainMap(inner) ? (inner as Shape) : undefined;
}

function fieldOf(spec: Spec, resource: string, name: string) {
  const stated = entryOf(spec.resources.all, resource);
  return stated && entryOf(stated.fields, name);
}

/** So many values may stand in one parameter that chooses. */
const valuesMost = 100;

/** The shape of the values of a parameter that chooses: a list where several may be sent, what is stated or what it is compared with. */
export function choosingShape(spec: Spec, endpoint: Endpoint, { chooses, shape, op }: Parameter): Shape {
  const own = statedValue(shape);
  if (chooses?.by !== 'path') return own ?? { type: 'string' };
  const one = own ?? comparedShape(spec, endpoint, chooses, op);
  const isList = chooses.split !== undefined || op === 'in';
  return isList && one.type !== 'array' ? { type: 'array', items: one, maxItems: valuesMost } : one;
}

function comparedShape(
  spec: Spec,
  endpoint: Endpoint,
  { path, zone }: Extract<Choosing, { by: 'path' }>,
  op: Parameter['op'],
): Shape {
  if (zone !== undefined) return { type: 'string', format: 'date' };
  if (op === 'prefix') return { type: 'string' };
  const reached = reachOf(spec, resourceOfEffect(statedValue(endpoint.does)) ?? '', path);
  if ('wrong' in reached) return { type: 'string' };
  return op === 'contains' && !reached.isList ? { type: 'string' } : reached.shape;
}

/** What stands at the end of a path of fields, parted by dots; nothing where one on the way is no map. */
export function along<T>(value: T | undefined, path: string): T | undefined {
  let at: unknown = value;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  // What is inside a value of its sort is one.
  return at as T;
}

/** A copy of a map with another value at the end of a path; what is not there on the way is made. */
export function withPlaced<T extends Readonly<Record<string, unknown>>>(map: T, path: string, value: unknown): T {
  const [first = '', ...rest] = path.split('.');
  const held = map[first];
  const inner =
    typeof held === 'object' && held !== null && !Array.isArray(held) ? (held as Readonly<Record<string, unknown>>) : {};
  return { ...map, [first]: rest.length === 0 ? value : withPlaced(inner, rest.join('.'), value) };
}

/** The members that lead to the first value which is made by an expression of this text, in a map of made values; nothing where none is, or in a list. */
export function placeMadeBy(data: Named<Expression>, text: string): readonly string[] | undefined {
  for (const [name, { source, parts }] of Object.entries(data)) {
    if (source.trim() === text) return [name];
    const inner = parts && !source.startsWith('[') ? placeMadeBy(parts, text) : undefined;
    if (inner) return [name, ...inner];
  }
  return undefined;
}
