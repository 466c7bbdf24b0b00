import type { Json, JsonMap } from '../../document/document.ts';
import { isOfType } from '../../document/values.ts';
import { standsFor } from '../../kinds/formats/all.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import { conjunctionOf, unionsOf } from '../../parts/shapes/branches.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { literal } from '../spec/words.ts';
import {
  anyString,
  intersectionOf,
  listType,
  neverType,
  type ObjectMember,
  objectOf,
  type Type,
  union,
  unknownType,
  word,
} from './syntax.ts';

/**
 * What a value is looked at for. `shown`: as an answer has it. `row`: as it is kept. `create`: as a caller sends it whole.
 * `update`: as a caller sends a change of it. `next`: as it would be stored, before the service sets its own fields.
 */
export type TypeView = 'shown' | 'row' | 'create' | 'update' | 'next';

/** Where a shape is read: whose document, for what, and how the resources in it are called. */
export interface ShapeReading {
  readonly spec: Spec;
  readonly view: TypeView;
  /** The type of a resource; nothing for one that is not stated. */
  readonly typeOf: (resource: string, view: TypeView) => Type | undefined;
  /** The definitions that `$ref` names, and those that are being read. */
  readonly definitions?: JsonMap;
  readonly within?: readonly string[];
}

/** The TypeScript type of a shape. What types cannot say (bounds, patterns, `not`) is left out. */
export function shapeType(shape: JsonMap, reading: ShapeReading): Type {
  const inside = isPlainMap(shape.$defs) && !reading.definitions ? { ...reading, definitions: shape.$defs } : reading;
  const composed = [
    ...shapes(conjunctionOf(shape)).map((part) => shapeType(part, inside)),
    ...unionsOf(shape).map(({ branches }) => union(shapes(branches).map((part) => shapeType(part, inside)))),
    ...(typeof shape.$ref === 'string' ? [definedType(shape.$ref, inside)] : []),
    ...(isPlainMap(shape.not) && Object.keys(shape.not).length === 0 ? [neverType] : []),
  ];
  return intersectionOf([ownType(shape, inside, composed.length > 0), ...composed]);
}

function shapes(listed: readonly Json[]): JsonMap[] {
  return listed.map((part) => (isPlainMap(part) ? part : part === false ? { not: {} } : {}));
}

function definedType(ref: string, reading: ShapeReading): Type {
  const name = /^#\/\$defs\/([^/]+)$/.exec(ref)?.[1];
  const { definitions = {}, within = [] } = reading;
  if (name === undefined || within.includes(name) || !Object.hasOwn(definitions, name)) return unknownType;
  const target = definitions[name];
  return isPlainMap(target) ? shapeType(target, { ...reading, within: [...within, name] }) : unknownType;
}

/** The type that a shape's own words make, what it is composed of aside. */
function ownType(shape: JsonMap, reading: ShapeReading, isComposed: boolean): Type {
  if (typeof shape.resource === 'string') return reading.typeOf(shape.resource, reading.view) ?? unknownType;
  if (shape.const !== undefined) return literalType(shape.const);
  const types = typesOf(shape);
  if (Array.isArray(shape.enum)) {
    const values = shape.enum.filter((value: Json) => types === undefined || types.some((type) => isOfType(value, type)));
    return union([...values.map(literalType), ...(shape.extensible === true && reading.view === 'shown' ? [anyString] : [])]);
  }
  if (typeof shape.ref === 'string') return referenceType(shape.ref, shape, types, reading);
  if (!types) return unknownType;
  if (isComposed && types.every((type) => type === 'object') && !hasObjectWords(shape)) return unknownType;
  return union(types.map((type) => typed(type, shape, reading)));
}

function referenceType(target: string, shape: JsonMap, types: readonly string[] | undefined, reading: ShapeReading): Type {
  const own = types?.filter((type) => type !== 'null') ?? [];
  const scalars = shape.type !== undefined && own.length > 0 ? own : [String(identifierType(reading.spec, target))];
  return union([...scalars.map((type) => typed(type, shape, reading)), ...(types?.includes('null') ? [word('null')] : [])]);
}

/** The JSON types that are stated, or that its words are about; nothing where any may stand. */
function typesOf(shape: JsonMap): string[] | undefined {
  if (typeof shape.type === 'string') return [shape.type];
  if (Array.isArray(shape.type)) return shape.type.filter((type: Json): type is string => typeof type === 'string');
  if (hasObjectWords(shape)) return ['object'];
  if (shape.items !== undefined || shape.prefixItems !== undefined) return ['array'];
  return undefined;
}

function hasObjectWords(shape: JsonMap): boolean {
  const words = ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'];
  return words.some((name) => shape[name] !== undefined);
}

function typed(type: string, shape: JsonMap, reading: ShapeReading): Type {
  switch (type) {
    case 'string':
      return standsFor(shape.format, 'bytes') ? union([word('Uint8Array'), word('string')]) : word('string');
    case 'integer':
      return standsFor(shape.format, 'wide integer') ? union([word('number'), word('bigint')]) : word('number');
    case 'array':
      return arrayType(shape, { ...reading, view: reading.view === 'update' ? 'create' : reading.view });
    case 'object':
      return objectType(shape, reading);
    case 'number':
    case 'boolean':
    case 'null':
      return word(type);
    default:
      return unknownType;
  }
}

function arrayType(shape: JsonMap, reading: ShapeReading): Type {
  const items = shape.items === false ? undefined : isPlainMap(shape.items) ? shapeType(shape.items, reading) : unknownType;
  if (!Array.isArray(shape.prefixItems) || shape.prefixItems.length === 0) return listType(items ?? neverType);
  const front = shapes(shape.prefixItems).map((part) => shapeType(part, reading));
  const least = typeof shape.minItems === 'number' ? shape.minItems : 0;
  const most = typeof shape.maxItems === 'number' ? shape.maxItems : Number.POSITIVE_INFINITY;
  return { kind: 'tuple', items: front, required: least, ...(items && most > front.length && { rest: items }) };
}

function objectType(shape: JsonMap, reading: ShapeReading): Type {
  const properties = isPlainMap(shape.properties) ? shape.properties : {};
  const required = new Set(needsAll(shape, properties) ? Object.keys(properties) : namesIn(shape.required));
  const unlisted = [...required].filter((name) => !Object.hasOwn(properties, name));
  const isSent = reading.view === 'create' || reading.view === 'update' || reading.view === 'next';
  const members = [
    ...Object.entries(properties).map(([name, inner]): ObjectMember => {
      const part: JsonMap = isPlainMap(inner) ? inner : inner === false ? { not: {} } : {};
      const isFilled = isSent && part.default !== undefined;
      const isOptional = reading.view === 'update' || !required.has(name) || isFilled;
      const type = shapeType(part, reading);
      const isRemovable = reading.view === 'update' && !required.has(name);
      const description = typeof part.description === 'string' ? [part.description] : [];
      return { name, type: isRemovable ? union([type, word('null')]) : type, optional: isOptional, doc: description };
    }),
    ...unlisted.map((name): ObjectMember => ({ name, type: unknownType, optional: reading.view === 'update' })),
  ];
  const rest = restType(shape, members, reading);
  return objectOf(members, rest);
}

/** Whether as many properties are asked for as there may be. */
function needsAll({ additionalProperties, minProperties }: JsonMap, properties: JsonMap): boolean {
  return additionalProperties === false && typeof minProperties === 'number' && minProperties >= Object.keys(properties).length;
}

function namesIn(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((name: Json): name is string => typeof name === 'string') : [];
}

/** The type of properties without a name, which has to hold for those with one too. Unless they are stated, none is shown. */
function restType(shape: JsonMap, members: readonly ObjectMember[], reading: ShapeReading): Type | undefined {
  const patterns = isPlainMap(shape.patternProperties) ? Object.values(shape.patternProperties).filter(isPlainMap) : [];
  const more = shape.additionalProperties;
  if (more === true || (more === undefined && (members.length === 0 || patterns.length > 0))) return unknownType;
  if (more === false && members.length === 0 && patterns.length === 0) return neverType;
  const rest = [...patterns, ...(isPlainMap(more) ? [more] : [])].map((part) => shapeType(part, reading));
  if (rest.length === 0) return undefined;
  const optional = members.some((member) => member.optional) ? [word('undefined')] : [];
  return union([...rest, ...members.map(({ type }) => type), ...optional]);
}

/** The type that one value alone has. */
export function literalType(value: Json): Type {
  if (typeof value === 'string') return word(literal(value));
  if (typeof value === 'number') return word(Number.isFinite(value) ? String(value) : 'number');
  if (value === null || typeof value === 'boolean') return word(String(value));
  if (Array.isArray(value)) return { kind: 'tuple', items: value.map(literalType), required: value.length };
  return objectOf(Object.entries(value).map(([name, inner]) => ({ name, type: literalType(inner) })));
}

/** Which resources speak of each one in their fields, as a whole or by reference. */
export function speakersOf(resources: readonly Resource[]): ReadonlyMap<string, readonly string[]> {
  return speakers(resources, ({ shape, show, ref }) => [
    ...wholeIn(statedValue(shape)),
    ...(typeof show === 'object' ? wholeIn(show) : []),
    ...(ref === undefined ? [] : [ref]),
  ]);
}

/** The resources that have, at any depth, a field that is handed on and never kept. */
export function passingResources(resources: readonly Resource[]): ReadonlySet<string> {
  const holders = speakers(resources, ({ shape }) => wholeIn(statedValue(shape)));
  const passing = resources.filter(({ fields }) => entriesOf(fields).some(([, { stored }]) => !stored));
  const reached = new Set(passing.map(({ name }) => name));
  // What is added while this goes on is visited too.
  for (const name of reached) for (const holder of holders.get(name) ?? []) reached.add(holder);
  return reached;
}

function speakers(
  resources: readonly Resource[],
  mentioned: (field: Field) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, fields, shape } of resources) {
    const whole = shape === undefined ? [] : wholeIn(statedValue(shape));
    for (const target of new Set([...entriesOf(fields).flatMap(([, field]) => mentioned(field)), ...whole])) {
      const list = found.get(target);
      if (list) list.push(name);
      else found.set(target, [name]);
    }
  }
  return found;
}

function wholeIn(shape: Json | undefined): string[] {
  if (typeof shape !== 'object' || shape === null) return [];
  const own = isPlainMap(shape) && typeof shape.resource === 'string' ? [shape.resource] : [];
  return [...own, ...Object.values(shape).flatMap(wholeIn)];
}
