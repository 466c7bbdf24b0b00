import * as fc from 'fast-check';
import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { writableShape } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { conjunctsOf, type Union, unionOf, without, withoutConjunction } from '../../parts/shapes/branches.ts';
import type { Spec } from '../../parts/spec.ts';
import type { SampleStyle } from '../exchange/row.ts';
import { fitting, NoValue, numbers, texts } from './scalars.ts';

/** A place where the identifier of an existing row has to stand. */
export class Reference {
  readonly resource: string;
  constructor(resource: string) {
    this.resource = resource;
  }
}

/** JSON in which references stand for rows that have to be made first. */
export type Draft = Json | Reference | readonly Draft[] | { readonly [key: string]: Draft };

const depthMax = 5;

/**
 * Values of a shape as a caller may send them: a maker beside that of samples on purpose, for it draws whatever is admitted, with
 * fast-check's bias towards edges and its way of making what fails smaller. @throws {NoValue} where the shape is beyond us.
 */
export function arbitraryValuesOf(spec: Spec, shape: Shape | JsonMap, style: SampleStyle, depth = 0): fc.Arbitrary<Draft> {
  if (depth > 0) return valuesOf(spec, shape, style, depth);
  const byShape = made.get(spec) ?? new WeakMap<object, Map<SampleStyle, fc.Arbitrary<Draft>>>();
  made.set(spec, byShape);
  const byStyle = byShape.get(shape) ?? new Map<SampleStyle, fc.Arbitrary<Draft>>();
  byShape.set(shape, byStyle);
  const values = byStyle.get(style) ?? valuesOf(spec, shape, style, depth);
  byStyle.set(style, values);
  return values;
}

/** What draws the values of a shape is made once: those of one shape are drawn again and again. */
const made = new WeakMap<Spec, WeakMap<object, Map<SampleStyle, fc.Arbitrary<Draft>>>>();

function valuesOf(spec: Spec, shape: Shape | JsonMap, style: SampleStyle, depth: number): fc.Arbitrary<Draft> {
  if (typeof shape.ref === 'string') return fc.constant(new Reference(shape.ref));
  if ('const' in shape) return fc.constant(shape.const as Json);
  if (Array.isArray(shape.enum)) return fc.constantFrom(...(style === 'plain' ? shape.enum.slice(0, 1) : shape.enum));
  if (typeof shape.resource === 'string') return ofResource(spec, shape.resource, style, depth);
  const union = unionOf<Json>(shape);
  if (union && union.branches.length > 0) return ofBranches(spec, shape, union, style, depth);
  const every = conjunctsOf<JsonMap>(shape);
  if (every.length > 0) return arbitraryValuesOf(spec, merged([withoutConjunction<Json>(shape), ...every]), style, depth);
  for (const word of ['not', 'if', 'contains', 'dependentSchemas', 'dependentRequired', '$ref', '$dynamicRef']) {
    if (word in shape) throw new NoValue(`values with \`${word}\` are not made here`);
  }
  const types = typesOf(shape).filter((type) => style === 'full' || type !== 'null' || shape.type === 'null');
  return fc.oneof(...types.map((type) => ofType(spec, shape, type, style, depth)));
}

function ofResource(spec: Spec, name: string, style: SampleStyle, depth: number): fc.Arbitrary<Draft> {
  const resource = entryOf(spec.resources.all, name);
  if (!resource || depth > depthMax) throw new NoValue(`the resource ${name} is not stated, or goes too deep`);
  const own = resource.shape && statedValue(resource.shape);
  const isValue = own !== undefined && !isStated(resource.fields);
  return arbitraryValuesOf(spec, isValue ? own : writableShape(spec, resource, []), style, depth + 1);
}

function ofBranches(spec: Spec, shape: JsonMap, union: Union<Json>, style: SampleStyle, depth: number): fc.Arbitrary<Draft> {
  const around = without(shape, union.keyword);
  const known: fc.Arbitrary<Draft>[] = [];
  for (const branch of union.branches.filter(isMap)) {
    if (style === 'plain' && branch.type === 'null') continue;
    try {
      known.push(arbitraryValuesOf(spec, merged([around, branch]), style, depth + 1));
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
    if (style === 'plain' && known.length > 0) break;
  }
  if (known.length === 0) throw new NoValue('no branch of the union is one whose values are made here');
  return fc.oneof(...known);
}

function ofType(spec: Spec, shape: JsonMap, type: string, style: SampleStyle, depth: number): fc.Arbitrary<Draft> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return style === 'plain' ? fc.constant(false) : fc.boolean();
    case 'integer':
    case 'number':
      return numbers(shape, type, style);
    case 'string':
      return texts(shape, style);
    case 'array':
      return lists(spec, shape, style, depth);
    default:
      return maps(spec, shape, style, depth);
  }
}

function lists(spec: Spec, shape: JsonMap, style: SampleStyle, depth: number): fc.Arbitrary<Draft> {
  const least = typeof shape.minItems === 'number' ? shape.minItems : 0;
  const most = Math.min(typeof shape.maxItems === 'number' ? shape.maxItems : least + 4, least + 40);
  if (least > 200) throw new NoValue('a list of more than 200 items');
  const isDeep = depth >= depthMax;
  if (isDeep && least === 0) return fc.constant([]);
  const prefix = listOf(shape.prefixItems);
  if (prefix.length > 0) return fc.tuple(...prefix.map((item) => arbitraryValuesOf(spec, item, style, depth + 1)));
  const items = arbitraryValuesOf(
    spec,
    isMap(shape.items) ? shape.items : { type: 'string', minLength: 1, maxLength: 8 },
    style,
    depth + 1,
  );
  const bounds = { minLength: least, maxLength: style === 'plain' ? least : most };
  return shape.uniqueItems === true
    ? fc.uniqueArray(items, { ...bounds, selector: (item) => JSON.stringify(item) })
    : fc.array(items, bounds);
}

function maps(spec: Spec, shape: JsonMap, style: SampleStyle, depth: number): fc.Arbitrary<Draft> {
  const properties = isMap(shape.properties) ? shape.properties : {};
  const required = listOfText(shape.required);
  const least = typeof shape.minProperties === 'number' ? shape.minProperties : 0;
  const model: Record<string, fc.Arbitrary<Draft>> = {};
  for (const name of new Set([...required, ...Object.keys(properties)])) {
    const inner = properties[name];
    if (inner === false) continue;
    const isNeeded = required.includes(name);
    const isEnough = Object.keys(model).length >= least;
    if (!isNeeded && isEnough && (style === 'plain' || depth >= depthMax)) continue;
    try {
      const stated = isMap(inner) ? inner : {};
      const shapeOfIt = style === 'whole' ? filled(stated) : stated;
      const values = arbitraryValuesOf(spec, shapeOfIt, style === 'whole' ? insideWhole(isNeeded) : style, depth + 1);
      model[name] = style === 'whole' ? butDefault(shapeOfIt, values) : values;
    } catch (error) {
      if (!(error instanceof NoValue) || isNeeded) throw error;
    }
  }
  const needed = Object.keys(model).filter(
    (name) => style === 'whole' || required.includes(name) || Object.keys(model).length <= least,
  );
  return fitting(fc.record(model, { requiredKeys: needed, noNullPrototype: true }), (map) => Object.keys(map).length >= least);
}

/** A list with something in it, where it may have: what its items have to be is seen of one that is there. */
function filled(shape: JsonMap): JsonMap {
  const { type, minItems, maxItems } = shape;
  return type === 'array' && !minItems && maxItems !== 0 ? { ...shape, minItems: 1 } : shape;
}

/** Another value than the default, where one is found: what goes back to its default is seen then. */
function butDefault({ default: usual }: JsonMap, values: fc.Arbitrary<Draft>): fc.Arbitrary<Draft> {
  if (usual === undefined) return values;
  const several = fc.array(values, { minLength: 8, maxLength: 8 });
  // The cast holds: none of them is undefined, for the list has eight.
  return several.map((drawn) => drawn.find((one) => !isSame(one as Json, usual)) ?? (drawn[0] as Draft));
}

function insideWhole(isNeeded: boolean): SampleStyle {
  return isNeeded ? 'plain' : 'full';
}

/** Schemas that must all hold, as one. Bounds are the narrower ones. */
function merged(shapes: readonly JsonMap[]): JsonMap {
  const out: Record<string, Json> = {};
  for (const shape of shapes) {
    for (const [word, value] of Object.entries(shape)) {
      const known = out[word];
      if (known === undefined) out[word] = value;
      else if (word === 'properties' && isMap(known) && isMap(value)) out[word] = mergedProperties(known, value);
      else if (word === 'required') out[word] = [...new Set([...listOfText(known), ...listOfText(value)])];
      else if (/^(?:min|exclusiveMin)/.test(word)) out[word] = Math.max(Number(known), Number(value));
      else if (/^(?:max|exclusiveMax)/.test(word)) out[word] = Math.min(Number(known), Number(value));
      else if (word !== 'type' && JSON.stringify(known) !== JSON.stringify(value)) throw new NoValue(`two of \`${word}\``);
    }
  }
  return out;
}

function mergedProperties(one: JsonMap, other: JsonMap): JsonMap {
  const out: Record<string, Json> = { ...one };
  for (const [name, shape] of Object.entries(other)) {
    const known = out[name];
    out[name] = isMap(known) && isMap(shape) ? merged([known, shape]) : shape;
  }
  return out;
}

function typesOf({ type, properties, items, pattern, minLength, minimum, maximum }: JsonMap): string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.map(String);
  if (properties !== undefined) return ['object'];
  if (items !== undefined) return ['array'];
  if (minimum !== undefined || maximum !== undefined) return ['number'];
  return pattern !== undefined || minLength !== undefined ? ['string'] : ['string'];
}

function listOf(value: Json | undefined): JsonMap[] {
  return Array.isArray(value) ? value.filter((item: Json): item is JsonMap => isMap(item)) : [];
}

function listOfText(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item: Json): item is string => typeof item === 'string') : [];
}
