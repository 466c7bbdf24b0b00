import type { Json, JsonMap, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap, isStanding } from '../../document/values.ts';
import type { Answer } from '../../parts/answers.ts';
import { entriesOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { expand, type Shape } from '../../parts/shape.ts';
import { besideNull, innerOf } from '../../parts/shapes/branches.ts';
import type { Spec } from '../../parts/spec.ts';

/** A shape that the document states, and where. */
export interface ShapeRoot {
  readonly at: Pointer;
  /** As written. */
  readonly raw: Json;
  /** Written out, without the words of a field or a parameter. */
  readonly shape: Shape;
  readonly role: 'value' | 'field' | 'parameter' | 'request' | 'answer' | 'payload' | 'error' | 'was' | 'show';
  /** The resource and the field that it is the shape of. */
  readonly resource?: Resource;
  readonly field?: Field;
  /** What stands where nothing is sent. */
  readonly default?: { readonly value: Json };
}

/** One schema of a shape, at any depth. */
export interface ShapeNode {
  readonly at: Pointer;
  /** Written out. */
  readonly schema: Shape;
  readonly root: ShapeRoot;
  /** The resources that it speaks of. */
  readonly names: readonly ShapeName[];
}

export interface ShapeName {
  readonly word: string;
  readonly at: Pointer;
  /** A whole resource, or its identifier. */
  readonly as: 'resource' | 'ref';
}

/** Every shape of a document, part by part. */
export function shapeRootsOf(spec: Spec): ShapeRoot[] {
  const roots: ShapeRoot[] = [];
  const add = (fact: Fact<Shape>, role: ShapeRoot['role'], more: Partial<ShapeRoot> = {}): void => {
    const raw = isStated(fact) ? valueAt(spec.document.tree, fact.at) : undefined;
    if (isStated(fact) && raw !== undefined) roots.push({ at: fact.at, raw, shape: fact.value, role, ...more });
  };
  const addAnswer = ({ at, shape, headerShapes, stream }: Answer): void => {
    add(shape, 'answer');
    for (const [name, header] of Object.entries(headerShapes))
      add(stated(header, below(below(below(at, 'headers'), name), 'shape')), 'answer');
    if (stream) add(stated(stream, below(at, 'stream')), 'answer');
  };
  for (const [, resource] of entriesOf(spec.resources.all)) {
    if (resource.shape) add(resource.shape, 'value', { resource });
    for (const answer of resource.kept?.answers ?? []) addAnswer(answer);
    for (const [, field] of entriesOf(resource.fields)) {
      add(field.shape, 'field', { resource, field, ...(field.default && { default: field.default }) });
      if (typeof field.show === 'object') add(stated(field.show, below(field.at, 'show')), 'show');
    }
  }
  for (const [, endpoint] of entriesOf(spec.endpoints.all)) {
    for (const [, parameter] of entriesOf(endpoint.parameters)) {
      add(parameter.shape, 'parameter', parameter.default ? { default: parameter.default } : {});
    }
    add(endpoint.request, 'request');
    for (const answer of statedValue(endpoint.response) ?? []) addAnswer(answer);
  }
  for (const [, kind] of entriesOf(spec.events.kinds)) add(kind.payload, 'payload');
  const payload = statedValue(spec.errors.payload);
  if (typeof payload === 'object') add(payload.shape, 'error');
  for (const [, changes] of entriesOf(spec.versioning.changes)) {
    for (const change of statedValue(changes) ?? []) {
      if ('was' in change && change.was) add(stated(change.was, below(change.at, 'was')), 'was');
    }
  }
  return roots;
}

/** Every schema of these shapes, each with the place at which it was written. */
export function shapeNodesOf(roots: readonly ShapeRoot[]): ShapeNode[] {
  const nodes: ShapeNode[] = [];
  for (const root of roots) visit(root.raw, root.shape, root.at, root, nodes);
  return nodes;
}

function stated(value: Shape, at: Pointer): Fact<Shape> {
  return { standing: 'stated', value, at };
}

/** What was written and what it was written out to are walked side by side: the one has the places, the other the meaning. */
function visit(raw: Json | undefined, schema: Json | undefined, at: Pointer, root: ShapeRoot, nodes: ShapeNode[]): void {
  if (raw === undefined || !isMap(schema) || isStanding(raw)) return;
  if (typeof raw === 'string') nodes.push({ at, schema, root, names: resourceName(raw, at) });
  else if (Array.isArray(raw)) visit(raw[0], schema.items, below(at, 0), root, nodes);
  else if (isMap(raw)) visitMap(raw, schema, at, root, nodes);
}

function visitMap(raw: JsonMap, schema: JsonMap, at: Pointer, root: ShapeRoot, nodes: ShapeNode[]): void {
  // Words of a field may stand beside its shape.
  if (Object.hasOwn(raw, 'shape') && (raw === root.raw || Object.keys(raw).length === 1)) {
    visit(raw.shape, schema, below(at, 'shape'), root, nodes);
    return;
  }
  nodes.push({ at, schema, root, names: namesIn(raw, at) });
  for (const { keyword, key, schema: written } of innerOf(raw)) {
    const place = below(at, keyword);
    const meant = schema[keyword];
    if (key === undefined) visit(written, meant, place, root, nodes);
    else visit(written, memberOf(meant, key), below(place, key), root, nodes);
  }
}

/** What stands under a name of a map, or at an index of a list. */
function memberOf(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  return isMap(value) ? value[key] : undefined;
}

function namesIn(raw: JsonMap, at: Pointer): ShapeName[] {
  const { type, ref, resource } = raw;
  const names: ShapeName[] = [];
  if (typeof type === 'string') names.push(...resourceName(type, below(at, 'type')));
  else if (Array.isArray(type) && type.length === 1 && typeof type[0] === 'string') {
    names.push(...resourceName(type[0], below(below(at, 'type'), 0)));
  }
  if (typeof ref === 'string') names.push({ word: ref.replace(/\?$/, ''), at: below(at, 'ref'), as: 'ref' });
  if (typeof resource === 'string') names.push({ word: resource, at: below(at, 'resource'), as: 'resource' });
  return names;
}

/** A short name that is no JSON type names a resource. */
function resourceName(word: string, at: Pointer): ShapeName[] {
  const shape = expand(word) ?? {};
  const { resource } = besideNull(shape) ?? shape;
  return typeof resource === 'string' ? [{ word: resource, at, as: 'resource' }] : [];
}
