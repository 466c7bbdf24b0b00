import type { JsonMap } from '../../document/document.ts';
import { jsonTypeOf } from '../../document/values.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import type { Field, Resource } from '../resources.ts';
import { identifierType } from '../schemas.ts';
import type { Shape } from '../shape.ts';
import { valueShape } from '../shape-level.ts';
import { conjunctsOf, hasMeaning, unionOf, withoutConjunction } from '../shapes/branches.ts';
import { keywords } from '../shapes/keywords.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';
import {
  bool,
  type CelMember,
  type CelType,
  celList,
  double,
  dyn,
  int,
  mapOf,
  nullable,
  type ObjectType,
  string,
  unify,
} from './cel-type.ts';

/** The type of the values that fit a shape. The same shape and the same resource always give the same type. */
export function typeOfShape(spec: Spec, shape: Shape): CelType {
  const types = typesOf(spec);
  const known = types.shapes.get(shape);
  if (known) return known;
  const type = make(spec, shape);
  types.shapes.set(shape, type);
  return type;
}

/** A resource as an object. Fields that are never kept are in it, and say so. */
function typeOfResource(spec: Spec, name: string): ObjectType | undefined {
  const resource = entryOf(spec.resources.all, name);
  if (!resource) return undefined;
  const types = typesOf(spec);
  const known = types.resources.get(name);
  if (known) return known;
  const type = resourceType(spec, resource);
  types.resources.set(name, type);
  return type;
}

/**
 * Whether a shape asks no more of a value than the form that expressions give values of its type, so that what was reckoned for it
 * need not be judged: times are written as RFC 3339 has them.
 */
export function isSaidByType(shape: Shape): boolean {
  const asks = Object.entries(shape).filter(([word]) => keywords.get(word)?.means !== 'note');
  return asks.every(([word, value]) => {
    if (word === 'type') return value === 'boolean' || value === 'integer' || value === 'string';
    return word === 'format' && shape.type === 'string' && formatNamed(value)?.time !== undefined;
  });
}

interface Types {
  readonly shapes: WeakMap<Shape, CelType>;
  readonly resources: Map<string, ObjectType>;
}

const byDocument = new WeakMap<Spec['document'], Types>();

function typesOf(spec: Spec): Types {
  const known = byDocument.get(spec.document);
  if (known) return known;
  const types: Types = { shapes: new WeakMap(), resources: new Map() };
  byDocument.set(spec.document, types);
  return types;
}

function make(spec: Spec, shape: Shape): CelType {
  if (isShownReference(shape)) return typeOfShown(spec, shape);
  if (typeof shape.resource === 'string') return typeOfNamed(spec, shape.resource);
  const resource = shape.ref;
  if (typeof resource === 'string') {
    const isInteger = identifierType(spec, resource) === 'integer';
    const ref: CelType = { is: 'ref', resource, isInteger, target: () => typeOfResource(spec, resource) };
    return allowsNull(shape) ? nullable(ref) : ref;
  }
  const union = unionOf(shape);
  if (union) return typeOfUnion(spec, union.branches.filter(isPlainMap));
  if (hasMeaning(shape, 'conjunction')) return typeOfConjunction(spec, shape);
  const words = typeWords(shape);
  const bare = words.filter((word) => word !== 'null');
  if (bare.length !== 1) return bare.length === 0 ? (words.length === 0 ? dyn : { is: 'null' }) : unstated;
  const type = ofWord(spec, bare[0] as string, shape);
  return allowsNull(shape) ? nullable(type) : type;
}

/** The shape of what is shown in place of a reference to a resource. */
export function shownReference(resource: string, shown: Shape): Shape {
  return { ...shown, ref: resource };
}

function isShownReference({ ref, resource, type, properties }: Shape): boolean {
  return typeof ref === 'string' && (resource !== undefined || type === 'object' || properties !== undefined);
}

function typeOfShown(spec: Spec, { ref: _ref, ...shown }: Shape): CelType {
  const type = make(spec, shown);
  if (type.is !== 'object') return type;
  return {
    is: 'object',
    name: type.name,
    get members() {
      return type.members;
    },
    ...(type.rest && { rest: type.rest }),
    orIdentifier: true,
  };
}

/** A resource that is a value with a shape has the type of that shape; inside itself, none that is known. */
function typeOfNamed(spec: Spec, name: string): CelType {
  const whole = valueShape(spec, name);
  if (!whole) return typeOfResource(spec, name) ?? dyn;
  const types = typesOf(spec);
  if (!types.shapes.has(whole)) types.shapes.set(whole, dyn);
  else return types.shapes.get(whole) as CelType;
  const type = make(spec, whole);
  types.shapes.set(whole, type);
  return type;
}

function ofWord(spec: Spec, word: string, shape: Shape): CelType {
  switch (word) {
    case 'boolean':
      return bool;
    case 'integer':
    case 'number':
      return formatNamed(shape.format)?.time ? { is: 'timestamp', as: 'seconds' } : word === 'integer' ? int : double;
    case 'string':
      return formatNamed(shape.format)?.time ? { is: 'timestamp', as: 'text' } : string;
    case 'array':
      return celList(isPlainMap(shape.items) ? itemType(spec, shape.items) : dyn);
    case 'object':
      return objectType(spec, shape);
    default:
      return dyn;
  }
}

/** An item that may be null can only be known when it is there. */
function itemType(spec: Spec, shape: Shape): CelType {
  const type = typeOfShape(spec, shape);
  return type.is === 'nullable' ? unstated : type;
}

function objectType(spec: Spec, shape: Shape): CelType {
  const { properties, additionalProperties } = shape;
  const rest = isPlainMap(additionalProperties)
    ? itemType(spec, additionalProperties)
    : additionalProperties === true
      ? dyn
      : undefined;
  if (!isPlainMap(properties)) return mapOf(rest ?? dyn);
  const required = Array.isArray(shape.required) ? shape.required : [];
  return lazily(titleOf(shape, properties), rest, () =>
    Object.entries(properties).map(([name, property]) => [
      name,
      memberOf(spec, isPlainMap(property) ? property : {}, required.includes(name)),
    ]),
  );
}

function titleOf(shape: Shape, properties: JsonMap): string {
  if (typeof shape.title === 'string') return shape.title;
  const names = Object.keys(properties);
  return names.length > 4 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ');
}

function memberOf(spec: Spec, shape: Shape, required: boolean): CelMember {
  const type = typeOfShape(spec, shape);
  if (type.is === 'nullable') return { type: type.of, optional: true };
  return { type, optional: !required || type.is === 'null' };
}

function resourceType(spec: Spec, resource: Resource): ObjectType {
  return lazily(resource.name, restOf(resource), () =>
    entriesOf(resource.fields).map(([name, field]) => {
      const member = memberOf(spec, shapeOfField(field), statedValue(field.required) === true);
      return [name, field.stored ? member : { ...member, unstored: true }];
    }),
  );
}

function restOf(resource: Resource): CelType | undefined {
  return resource.additionalProperties || !isStated(resource.fields) ? dyn : undefined;
}

function shapeOfField(field: Field): Shape {
  return statedValue(field.shape) ?? {};
}

/** A union of objects has the members of all; one that some lack may be absent. Other unions are known when they are there. */
function typeOfUnion(spec: Spec, shapes: readonly Shape[]): CelType {
  const types = shapes.map((shape) => typeOfShape(spec, shape));
  const mayBeNull = types.some((type) => type.is === 'null' || type.is === 'nullable');
  const real = types.flatMap((type) => (type.is === 'null' ? [] : [type.is === 'nullable' ? type.of : type]));
  const merged = mergeTypes(real);
  return mayBeNull ? nullable(merged) : merged;
}

/** What all of several shapes say together: the members of all, or the first that says a type. */
function typeOfConjunction(spec: Spec, shape: Shape): CelType {
  const parts: readonly Shape[] = [...conjunctsOf(shape), withoutConjunction(shape)];
  const types = parts.map((part) => typeOfShape(spec, part)).filter((type) => type.is !== 'dyn');
  const objects = types.flatMap((type) => (type.is === 'object' ? [type] : []));
  if (objects.length < 2) return objects[0] ?? types[0] ?? dyn;
  const rest = objects.find((type) => type.rest)?.rest;
  return lazily(objects.map((type) => type.name).join(' and '), rest, () => objects.flatMap((type) => [...type.members]));
}

function typeWords(shape: Shape): string[] {
  const { type } = shape;
  if (Array.isArray(type)) return type.filter((name) => typeof name === 'string');
  if (typeof type === 'string') return [type];
  if ('const' in shape) return [jsonTypeOf(shape.const)];
  if (isPlainMap(shape.properties)) return ['object'];
  return shape.items !== undefined ? ['array'] : [];
}

function allowsNull(shape: Shape): boolean {
  return Array.isArray(shape.type) && shape.type.includes('null');
}

/** The type of what a shape leaves between several types: known only when it is there. */
const unstated: CelType = { is: 'dyn', open: false };

/** An object whose members are read when first asked for. */
function lazily(name: string, rest: CelType | undefined, members: () => Iterable<readonly [string, CelMember]>): ObjectType {
  let made: ReadonlyMap<string, CelMember> | undefined;
  return {
    is: 'object',
    name,
    get members() {
      made ??= new Map(members());
      return made;
    },
    ...(rest && { rest }),
  };
}

/** One type for several shapes of one value. Objects have the members of all, and one that some lack may be absent. */
function mergeTypes(types: readonly CelType[]): CelType {
  const [first] = types;
  if (!first) return unstated;
  if (types.length === 1) return first;
  const objects = types.flatMap((type) => (type.is === 'object' ? [type] : []));
  if (objects.length < types.length) return types.reduce((a, b) => unify(a, b) ?? unstated);
  const rest = objects.some((type) => type.rest) ? dyn : undefined;
  return lazily(objects.map((type) => type.name).join(' or '), rest, () => mergedMembers(objects));
}

function mergedMembers(objects: readonly ObjectType[]): [string, CelMember][] {
  const names = new Set(objects.flatMap((type) => [...type.members.keys()]));
  return [...names].map((name) => {
    const held = objects.flatMap((type) => type.members.get(name) ?? []);
    const type = held.map((member) => member.type).reduce((a, b) => unify(a, b) ?? unstated);
    return [name, { type, optional: held.length < objects.length || held.some((member) => member.optional) }];
  });
}

/** An object that may be absent as a whole: then all its members are. */
export function maybeAbsent(type: CelType): CelType {
  if (type.is !== 'object') return type;
  return lazily(type.name, type.rest, () => [...type.members].map(([name, member]) => [name, { ...member, optional: true }]));
}
