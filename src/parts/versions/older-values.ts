import type { Json } from '../../document/document.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap } from '../source.ts';

/** A shape with older names of its values: those that a change of allowed values names. */
export function withOlderValues(shape: Shape, values: Readonly<Record<string, Json>>): Shape {
  const names = new Map<Json, Json>();
  for (const [old, value] of Object.entries(values)) if (!names.has(value)) names.set(value, olderValue(old, value) as Json);
  const older = (value: Json): Json => names.get(value) ?? value;
  const out: Record<string, Json> = { ...shape };
  if (Array.isArray(shape.enum)) out.enum = [...new Set(shape.enum.map(older))];
  if (shape.const !== undefined) out.const = older(shape.const);
  if (isPlainMap(shape.items)) out.items = withOlderValues(shape.items, values);
  return out;
}

/** The name of an older value is a key, so a text; it is of the newer value's type. */
export function olderValue(name: string, value: unknown): unknown {
  if (typeof value === 'number') return Number.isNaN(Number(name)) ? name : Number(name);
  return typeof value === 'boolean' && (name === 'true' || name === 'false') ? name === 'true' : name;
}

/** A value that has members: no list, no bytes. */
export function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** JSON Merge Patch (RFC 7396 section 2). */
export function mergeJson(target: unknown, patch: unknown): unknown {
  if (!isMembers(patch)) return patch;
  const result: Record<string, unknown> = { ...(isMembers(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else put(result, name, mergeJson(result[name], value));
  }
  return result;
}

/** Sets a member whatever its name is: `__proto__` is only a name. */
export function put(members: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
  else members[name] = value;
}
