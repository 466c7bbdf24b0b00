import type { Json, JsonMap } from '../document/document.ts';
import { type Children, type ChildrenTaker, childrenTakers } from './children.ts';
import type { Effect } from './effects.ts';
import type { Endpoint } from './endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue } from './fact.ts';
import { leftOutOf } from './left-out.ts';
import { boundRows, keyParameters, ownRow, parametersApart } from './path-keys.ts';
import type { Field, Resource } from './resources.ts';
import type { Shape } from './shape.ts';
import { fitsAny } from './shapes/branches.ts';
import { named } from './source.ts';
import type { Spec } from './spec.ts';
import { isMovedByUpdate, machineOn } from './states.ts';

/**
 * The shape of an operation's request body: the stated one, or the one that follows by rule. None = the operation takes no
 * body. Open = the effect is open and nothing is stated, or what the effect needs is open.
 */
export function requestShape(spec: Spec, endpoint: Endpoint): Fact<Shape> {
  if (endpoint.request.standing !== 'open' || endpoint.request.question !== undefined) return endpoint.request;
  const at = endpoint.at;
  const effect = statedValue(endpoint.does);
  if (!effect)
    return endpoint.method === 'GET' || endpoint.method === 'HEAD' || endpoint.method === 'DELETE'
      ? { standing: 'none', at }
      : { standing: 'open', at };
  if (effect.verb !== 'create' && effect.verb !== 'replace' && effect.verb !== 'upsert' && effect.verb !== 'update') {
    return { standing: 'none', at };
  }
  const resource = entryOf(spec.resources.all, effect.resource);
  if (!resource || !isStated(resource.fields)) return { standing: 'open', at: resource?.fields.at ?? at };
  // What replaces a row and leaves out what was set once keeps it.
  const kept =
    effect.verb === 'replace' ? entriesOf(resource.fields).flatMap(([name, one]) => (one.immutable ? [name] : [])) : [];
  const optional = effect.verb === 'update' ? 'all' : [...boundByPath(spec, endpoint), ...kept];
  return { standing: 'stated', value: writableShape(spec, resource, optional, childrenTakerOf(effect)), at };
}

/** What an operation is to the children that may be sent with its row. */
export function childrenTakerOf({ verb }: Effect): ChildrenTaker | undefined {
  return verb === 'upsert' ? 'replace' : childrenTakers.find((taker) => taker === verb);
}

/** The shape of what a caller may send of a resource: what it cannot write left out, and what it may leave out not required. */
export function writableShape(
  spec: Spec,
  resource: Resource,
  optional: readonly string[] | 'all',
  taker: ChildrenTaker = optional === 'all' ? 'update' : 'create',
): Shape {
  const properties: Record<string, Json> = Object.create(null);
  const required: string[] = [];
  for (const [name, field] of entriesOf(resource.fields)) {
    const isMoved = optional === 'all' && isStateSent(spec, resource, field);
    const isTaken = takesChildren(field, taker);
    if (!isMoved && !isTaken && !isWritable(spec, resource, field)) continue;
    const states = isMoved ? statedValue(machineOn(spec.states, resource.name, name)?.states) : undefined;
    properties[name] = {
      ...sentShape(spec, field, taker),
      ...(states && { enum: [...states] }),
      ...(field.default && { default: field.default.value }),
    };
    const mayLackIt = optional === 'all' || optional.includes(name) || isSuppliedByService(field, 'create');
    if (!mayLackIt && statedValue(field.required) === true) required.push(name);
  }
  return { type: 'object', properties, required, ...(!resource.additionalProperties && { additionalProperties: false }) };
}

/** Whether the rows that a field shows are taken with the row that is made or changed. */
export function takesChildren({ children, readOnly }: Field, taker: ChildrenTaker = 'create'): boolean {
  return children !== undefined && !readOnly && children.takenBy.includes(taker);
}

/** Whether children are sent with a row that is put in place, where they may be others than those that it is made with. */
export function replacesChildren(spec: Spec, effect: Effect): boolean {
  if (childrenTakerOf(effect) !== 'replace' || !('resource' in effect)) return false;
  const fields = entriesOf(entryOf(spec.resources.all, effect.resource)?.fields);
  return fields.some(([, field]) => takesChildren(field, 'replace'));
}

/** The shape of a field as it is sent: its own, or of one with children a list of what makes or changes each of them. */
export function sentShape(spec: Spec, { shape, children }: Field, taker: ChildrenTaker = 'create'): Shape {
  if (!children) return statedValue(shape) ?? {};
  const { least, most } = children;
  const { made, changed } = childShapes(spec, children);
  const items = taker === 'create' || !made || !changed ? made : fitsAny<Json>([made, changed]);
  return { type: 'array', items: items ?? {}, ...(least > 0 && { minItems: least }), maxItems: most };
}

/** What a child is sent as where it is made, and where it is there already and is named. */
export function childShapes(
  spec: Spec,
  { resource: name, field }: Children,
): { readonly made?: Shape; readonly changed?: Shape } {
  const child = entryOf(spec.resources.all, name);
  if (!child) return {};
  // A child is of the row that it is sent with, and takes no children of its own.
  const isOwn = (one: Field) => one.name !== field && one.children === undefined;
  const fields = named(entriesOf(child.fields).filter(([, one]) => isOwn(one)));
  const alone: Resource = { ...child, fields: { standing: 'stated', value: fields, at: child.at } };
  const patch = writableShape(spec, alone, 'all');
  const identifier = fields[statedValue(child.identifier)?.field ?? ''];
  const changed = identifier && {
    ...patch,
    properties: { [identifier.name]: statedValue(identifier.shape) ?? {}, ...(patch.properties as JsonMap) },
    required: [identifier.name],
  };
  return { made: writableShape(spec, alone, []), ...(changed && { changed }) };
}

/** Whether a caller may write the field at all: not read-only, not the state field, not a generated identifier, no children. */
export function isWritable(spec: Spec, resource: Resource, field: Field): boolean {
  if (field.readOnly || field.children) return false;
  if (machineOn(spec.states, resource.name, field.name)) return false;
  const identifier = statedValue(resource.identifier);
  return !(identifier?.field === field.name && identifier.generate !== undefined && identifier.generate !== 'client');
}

/** Whether the field holds the state, and an update that sends it is a transition. */
export function isStateSent({ states }: Spec, { name }: Resource, field: Field): boolean {
  return isMovedByUpdate(machineOn(states, name, field.name));
}

/** Whether the service supplies the field when a request leaves it out. */
export function isSuppliedByService(field: Field, change: 'create' | 'replace'): boolean {
  return (
    field.default !== undefined ||
    field.generate !== undefined ||
    field.derive !== undefined ||
    field.set.write !== undefined ||
    field.set[change] !== undefined
  );
}

/** Whether an answer may hold the field at all. */
export function isEverShown(field: Field): boolean {
  return (field.stored || field.children !== undefined) && !field.writeOnly && field.visible?.length !== 0;
}

/** Whether every answer holds the field where it has a value: nothing hides it from some callers or after the first answer. */
export function isAlwaysShown(spec: Spec, field: Field): boolean {
  if (leftOutOf(spec, 'anybody').has(field)) return false;
  return !field.writeOnly && field.reveal === undefined && field.visible === undefined && field.stored;
}

/** The fields that the path of an endpoint binds: its parameters but for the one that is the identifier, and the rows that it names by keys. */
export function boundByPath(spec: Spec, endpoint: Endpoint): string[] {
  const effect = statedValue(endpoint.does);
  if (!effect || !('resource' in effect)) return [];
  const resource = entryOf(spec.resources.all, effect.resource);
  const last = identifierParameter(endpoint);
  const identifier = statedValue(resource?.identifier);
  const own = fieldParameters(endpoint).flatMap((name) => (name === last ? (identifier ? [identifier.field] : []) : [name]));
  return [...own, ...boundRows(spec, endpoint).map(({ field }) => field)];
}

/** The path parameter that is the identifier of the row that is meant: the last one, on operations about one row that no key names. */
export function identifierParameter(endpoint: Endpoint): string | undefined {
  const effect = statedValue(endpoint.does);
  const verbs = ['read', 'update', 'replace', 'upsert', 'delete', 'transition'];
  if (!effect || !verbs.includes(effect.verb) || endpoint.identity || (endpoint.rows && ownRow(endpoint))) return undefined;
  return fieldParameters(endpoint).at(-1);
}

/** Whether the path of an endpoint names the row that is meant: by its identifier, or by a key. */
export function namesRow(endpoint: Endpoint): boolean {
  return identifierParameter(endpoint) !== undefined || (endpoint.rows !== undefined && ownRow(endpoint) !== undefined);
}

/** The parameters of an endpoint's path that stand for the row it is about: its identifier, or a field of their name. */
export function fieldParameters(endpoint: Endpoint): readonly string[] {
  const names = pathParameters(endpoint.path);
  const keyed = keyParameters(endpoint);
  const apart = parametersApart(endpoint);
  return keyed.size + apart.size === 0 ? names : names.filter((name) => !keyed.has(name) && !apart.has(name));
}

/** The names of a path template's parameters, in order. */
export function pathParameters(path: string): readonly string[] {
  const known = parametersKnown.get(path);
  if (known) return known;
  const real = path.replace(/[?#].*$/, '');
  const names = [...real.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] as string);
  // Whoever reads one document after another has no use for those before.
  if (parametersKnown.size >= pathsMost) parametersKnown.clear();
  parametersKnown.set(path, names);
  return names;
}

const parametersKnown = new Map<string, readonly string[]>();
/** The parameters of so many templates are remembered: more than a document has. */
const pathsMost = 10_000;
