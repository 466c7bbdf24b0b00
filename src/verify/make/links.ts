import type { Json, JsonMap } from '../../document/document.ts';
import { plainName } from '../../document/nearest.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, isSuppliedByService, writableShape } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import { heldShape } from '../model/own-body.ts';
import { isByRule } from '../model/promises.ts';

/** The shape that a body is drawn by: with what it refers to, what it may hold, and what may have to be sent. */
export function drawnShape(model: Model, endpoint: Endpoint, shape: Shape): Shape {
  return withOpenFlags(model.spec, endpoint, heldShape(model, endpoint, linkedShape(model, endpoint, shape)));
}

/**
 * The shape of a body in which members that are called like a resource, and may be its identifier, refer to it: `berth`, `berth_id`.
 * It is a guess that draws better bodies, and no claim is founded on it; the shape as it is where somebody stated what the operation does.
 */
function linkedShape(model: Model, endpoint: Endpoint, shape: Shape): Shape {
  if (isByRule(endpoint)) return shape;
  const named = typeof shape.resource === 'string' ? model.resource(shape.resource) : undefined;
  const whole: Shape = named && isStated(named.fields) ? writableShape(model.spec, named, []) : shape;
  if (!isMap(whole.properties)) return shape;
  let isLinked = false;
  const properties = Object.entries(whole.properties).map(([name, inner]): [string, Json] => {
    const target = isMap(inner) ? linkOf(model, name, inner) : undefined;
    isLinked ||= target !== undefined;
    return [name, target === undefined ? inner : { ref: target }];
  });
  return isLinked ? { ...whole, properties: Object.fromEntries(properties) } : shape;
}

/** The resource that a member is called after, where rows of it can be made and its identifier is of the member's type. */
function linkOf(model: Model, name: string, shape: JsonMap): string | undefined {
  const word = plainName(name.replace(/[_-]?(?:id|uuid|ref)$/i, ''));
  if (word === '' || shape.enum !== undefined) return undefined;
  const found = entriesOf(model.spec.resources.all).find(([resource, { identifier }]) => {
    const isMade = statedValue(identifier) !== undefined && model.endpointsThat('create', resource).length > 0;
    return isMade && plainName(resource) === word;
  });
  if (!found) return undefined;
  const [resource, { fields }] = found;
  const own = entryOf(fields, model.identifierField(resource));
  return own && statedValue(own.shape)?.type === shape.type ? resource : undefined;
}

/**
 * The shape of a body with what may have to be sent required in it: where it is open whether a field is required, a body without it is in
 * doubt, and one that has it is not. It draws better bodies, and no claim is founded on it.
 */
function withOpenFlags(spec: Spec, endpoint: Endpoint, shape: Shape): Shape {
  const effect = statedValue(endpoint.does);
  const isWhole = effect?.verb === 'create' || effect?.verb === 'upsert' || effect?.verb === 'replace';
  const resource = entryOf(spec.resources.all, resourceOfEffect(effect) ?? '');
  const { properties, required } = shape;
  if (!isWhole || !resource || !isByRule(endpoint) || endpoint.request.standing !== 'open' || !isMap(properties)) return shape;
  const bound = new Set(boundByPath(spec, endpoint));
  const open = entriesOf(resource.fields)
    .filter(
      ([name, field]) =>
        Object.hasOwn(properties, name) && !bound.has(name) && isOpen(field) && !isEndless(spec, resource, field),
    )
    .map(([name]) => name);
  return open.length === 0 ? shape : { ...shape, required: [...(Array.isArray(required) ? required : []), ...open] };
}

function isOpen(field: Field): boolean {
  return field.required.standing === 'open' && !isSuppliedByService(field, 'create');
}

/** Whether a row that it refers to would need one of this resource in turn, and so on without an end. */
function isEndless(spec: Spec, { name }: Resource, { ref }: Field): boolean {
  const met = new Set<string>();
  const leadsBack = (target: string): boolean => {
    if (target === name) return true;
    if (met.has(target)) return false;
    met.add(target);
    return entriesOf(entryOf(spec.resources.all, target)?.fields).some(
      ([, field]) => field.ref !== undefined && statedValue(field.required) !== false && leadsBack(field.ref),
    );
  };
  return ref !== undefined && leadsBack(ref);
}

/** The rows that a body refers to: made for its first draw, and taken again for the next. */
export class RowsReferred {
  readonly #make: (resource: string) => Promise<Symbolic>;
  readonly #known = new Map<string, Symbolic[]>();
  readonly #taken = new Map<string, number>();

  constructor(make: (resource: string) => Promise<Symbolic>) {
    this.#make = make;
  }

  async one(resource: string): Promise<Symbolic> {
    const known = this.#known.get(resource) ?? [];
    this.#known.set(resource, known);
    const at = this.#taken.get(resource) ?? 0;
    this.#taken.set(resource, at + 1);
    const row = known[at] ?? (await this.#make(resource));
    known[at] = row;
    return row;
  }

  again(): void {
    this.#taken.clear();
  }
}
