import type { Json, JsonMap } from '../../document/document.ts';
import type { Shape } from '../shape.ts';
import { isMap } from '../source.ts';
import type { Change } from '../versioning.ts';
import { withOlderValues } from './older-values.ts';

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
export function undoInside(
  shape: Shape,
  path: readonly string[],
  change: FieldChange,
  inline: (resource: string) => Shape,
): Shape {
  if (typeof shape.resource === 'string') {
    const { resource, ...rest } = shape;
    return undoInside({ ...rest, ...inline(resource) }, path, change, inline);
  }
  if (isMap(shape.items)) return { ...shape, items: undoInside(shape.items, path, change, inline) };
  const [name, ...rest] = path;
  const properties: Record<string, Json> = { ...(isMap(shape.properties) ? shape.properties : {}) };
  if (name === undefined) return shape;
  if (rest.length > 0) {
    const inner = properties[name];
    if (isMap(inner)) properties[name] = undoInside(inner, rest, change, inline);
    return { ...shape, properties };
  }
  const required = Array.isArray(shape.required) ? [...shape.required] : [];
  return { ...shape, ...undoMember(properties, required, name, change) };
}

function undoMember(properties: Record<string, Json>, required: Json[], name: string, change: FieldChange): JsonMap {
  const stated = (shape: Json | undefined): Shape => (isMap(shape ?? null) ? (shape as Shape) : {});
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
