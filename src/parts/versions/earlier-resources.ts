import type { Json, JsonMap } from '../../document/document.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import type { Field, Resource } from '../resources.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap, named } from '../source.ts';
import type { Spec } from '../spec.ts';
import type { Change } from '../versioning.ts';
import { type History, type VersionStep, withOlderValues } from './carry.ts';
import { CannotCarry, type ChangeValues } from './change-values.ts';

/** The resources of a document as they were at each level of its history: the newest with the changes above undone, the last first. */
export class EarlierResources {
  readonly #spec: Spec;
  readonly #values: ChangeValues;
  readonly #steps = new Map<string, VersionStep[]>();
  readonly #known = new Map<string, Resource>();

  constructor(spec: Spec, history: History, values: ChangeValues) {
    this.#spec = spec;
    this.#values = values;
    for (const step of history.steps) {
      if (!('resource' in step.change)) continue;
      const { resource } = step.change;
      const list = this.#steps.get(resource);
      if (list) list.push(step);
      else this.#steps.set(resource, [step]);
    }
  }

  /** The changes of a resource between two levels, the newest first. */
  changes(name: string, top: number, bottom: number): (VersionStep & { readonly change: FieldChange })[] {
    // Those with a resource are of a field.
    const steps = (this.#steps.get(name) ?? []) as (VersionStep & { readonly change: FieldChange })[];
    return steps.filter(({ level }) => level >= bottom && level < top).reverse();
  }

  at(name: string, level: number): Resource | undefined {
    const step = this.#steps.get(name)?.find((candidate) => candidate.level >= level);
    if (!step) return entryOf(this.#spec.resources.all, name);
    const key = `${name}\n${step.level}`;
    const known = this.#known.get(key);
    if (known) return known;
    const later = this.at(name, step.level + 1);
    if (!later) return undefined;
    // Those with a resource are of a field.
    const earlier = this.#undo(later, step.change as FieldChange, step.level);
    this.#known.set(key, earlier);
    return earlier;
  }

  shapeOf(name: string, field: string, level: number): Shape {
    const resource = this.at(name, level);
    const stated = resource && entryOf(resource.fields, field);
    return (stated && statedValue(stated.shape)) ?? {};
  }

  #undo(resource: Resource, change: FieldChange, level: number): Resource {
    if (!isStated(resource.fields)) return resource;
    const inside = insideOf(change.field);
    if (inside.length > 0) {
      const root = change.field.slice(0, change.field.indexOf('.'));
      const inline = (name: string) => this.#inline(name, level + 1);
      return this.#withFields(resource, (field) =>
        field.name === root ? withShape(field, (shape) => undoInside(shape, inside, change, inline)) : field,
      );
    }
    switch (change.kind) {
      case 'rename':
        return renamed(
          this.#withFields(resource, (field) => (field.name === change.to ? { ...field, name: change.field } : field)),
          newName(change.to),
          change.field,
        );
      case 'add':
        return {
          ...this.#withFields(resource, (field) => (field.name === change.field ? undefined : field)),
          unique: resource.unique.filter(({ fields }) => !fields.includes(change.field)),
        };
      case 'remove': {
        const removed = removedField(change.field, change.at, change.was ?? {});
        return {
          ...resource,
          fields: { ...resource.fields, value: named([...entriesOf(resource.fields), [change.field, removed]]) },
        };
      }
      case 'map':
      case 'enum':
        return this.#withFields(resource, (field) => {
          if (field.name !== change.field) return field;
          const shape = change.kind === 'enum' ? withOlderValues(statedValue(field.shape) ?? {}, change.values) : change.was;
          return this.#withOlderDefault(shape ? withShape(field, () => shape) : field, change);
        });
    }
  }

  #withFields(resource: Resource, make: (field: Field) => Field | undefined): Resource {
    if (!isStated(resource.fields)) return resource;
    const fields = Object.values(resource.fields.value).flatMap((field) => make(field) ?? []);
    return { ...resource, fields: { ...resource.fields, value: named(fields.map((field) => [field.name, field] as const)) } };
  }

  /** A default goes down as any value does; one that cannot is no default there. */
  #withOlderDefault(field: Field, change: Extract<FieldChange, { kind: 'map' | 'enum' }>): Field {
    if (!field.default || field.default.value === null) return field;
    const { default: usual, ...rest } = field;
    try {
      // What comes out of a JSON value is one, but for integers past 2^53, which no default is.
      return { ...rest, default: { value: this.#values.of(change).down(usual.value) as Json } };
    } catch (failure) {
      if (!(failure instanceof CannotCarry)) throw failure;
      return { ...rest, required: { standing: 'stated', value: false, at: field.at } };
    }
  }

  #inline(name: string, level: number): Shape {
    const fields = entriesOf(this.at(name, level)?.fields);
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(([field, { shape }]) => [field, statedValue(shape) ?? {}])),
      required: fields.filter(([, field]) => statedValue(field.required) === true).map(([field]) => field),
      additionalProperties: this.at(name, level)?.additionalProperties ?? true,
    };
  }
}

function withShape(field: Field, make: (shape: Shape) => Shape): Field {
  const { ref: _ref, ...rest } = field;
  const shape = make(statedValue(field.shape) ?? {});
  const ref = typeof shape.ref === 'string' ? { ref: shape.ref } : {};
  return { ...rest, ...ref, shape: { standing: 'stated', value: shape, at: field.shape.at } };
}

function renamed(resource: Resource, now: string, before: string): Resource {
  const { identifier } = resource;
  return {
    ...resource,
    ...(isStated(identifier) &&
      identifier.value.field === now && { identifier: { ...identifier, value: { ...identifier.value, field: before } } }),
    unique: resource.unique.map((rule) => ({ ...rule, fields: rule.fields.map((name) => (name === now ? before : name)) })),
  };
}

/** A field that is there no more: nothing is known of it but its shape. A request may leave it out. */
function removedField(name: string, at: string, shape: Shape): Field {
  return {
    name,
    at,
    shape: { standing: 'stated', value: shape, at },
    required: { standing: 'stated', value: false, at },
    readOnly: false,
    writeOnly: false,
    immutable: false,
    keepsNull: false,
    set: named([]),
    stored: true,
    ignoreCase: false,
    extensible: false,
    ...(typeof shape.ref === 'string' && { ref: shape.ref }),
  };
}

/** A change of a field that lies inside another: `parcel.size.height`. */
export type FieldChange = Exclude<Change, { readonly kind: 'endpoint' }>;

/** The words after the field: `['height']` of `parcel.size.height`. */
export function insideOf(field: string): string[] {
  return field.split('.').slice(1);
}

/** The name that a renamed field has now; inside a field its last word counts. */
export function newName(to: string): string {
  return to.slice(to.lastIndexOf('.') + 1);
}

/** Undoes a change that lies inside a shape. `inline` writes a resource out, since only this one place of it changes. */
function undoInside(shape: Shape, path: readonly string[], change: FieldChange, inline: (resource: string) => Shape): Shape {
  if (typeof shape.resource === 'string') {
    const { resource, ...rest } = shape;
    return undoInside({ ...rest, ...inline(resource) }, path, change, inline);
  }
  if (isPlainMap(shape.items)) return { ...shape, items: undoInside(shape.items, path, change, inline) };
  const [name, ...rest] = path;
  const properties: Record<string, Json> = { ...(isPlainMap(shape.properties) ? shape.properties : {}) };
  if (name === undefined) return shape;
  if (rest.length > 0) {
    const inner = properties[name];
    if (isPlainMap(inner)) properties[name] = undoInside(inner, rest, change, inline);
    return { ...shape, properties };
  }
  const required = Array.isArray(shape.required) ? [...shape.required] : [];
  return { ...shape, ...undoMember(properties, required, name, change) };
}

function undoMember(properties: Record<string, Json>, required: Json[], name: string, change: FieldChange): JsonMap {
  const stated = (shape: Json | undefined): Shape => (isPlainMap(shape ?? null) ? (shape as Shape) : {});
  switch (change.kind) {
    case 'rename': {
      const now = newName(change.to);
      const entries = Object.entries(properties).map(([key, value]) => [key === now ? name : key, value] as const);
      return { properties: Object.fromEntries(entries), required: required.map((key) => (key === now ? name : key)) };
    }
    case 'add': {
      const { [name]: _added, ...rest } = properties;
      return { properties: rest, required: required.filter((key) => key !== name) };
    }
    case 'remove':
      return { properties: { ...properties, [name]: change.was ?? {} }, required };
    case 'map':
      return { properties: { ...properties, [name]: change.was ?? stated(properties[name]) }, required };
    case 'enum':
      return { properties: { ...properties, [name]: withOlderValues(stated(properties[name]), change.values) }, required };
  }
}
