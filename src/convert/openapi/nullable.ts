import type { Json, JsonMap } from '../../document/document.ts';
import { newMap, type OpenMap } from '../../document/values.ts';
import { jsonTypes } from './keywords.ts';

/** The shape of what a shape admits, or null. */
export function orNull(shape: OpenMap): OpenMap {
  const { type } = shape;
  if (typeof type === 'string' && jsonTypes.has(type)) {
    if (type !== 'null') shape.type = [type, 'null'];
    return withNullAllowed(shape);
  }
  if (Array.isArray(type)) {
    shape.type = type.includes('null') ? type : [...type, 'null'];
    return withNullAllowed(shape);
  }
  if (Array.isArray(shape.enum)) return withNullAllowed(shape);
  const branches = Array.isArray(shape.anyOf) ? 'anyOf' : Array.isArray(shape.oneOf) ? 'oneOf' : undefined;
  if (branches !== undefined && shape.properties === undefined && shape.allOf === undefined) {
    shape[branches] = [...(shape[branches] as Json[]), 'null'];
    return shape;
  }
  if (Object.keys(shape).every((key) => described.has(key))) return shape;
  const inner: OpenMap = newMap();
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(shape)) (described.has(key) ? out : inner)[key] = value;
  out.anyOf = [shortened(inner), 'null'];
  return out;
}

/** Words that say the same of a shape and of the shape or null. */
const described: ReadonlySet<string> = new Set([
  'title',
  'description',
  'example',
  'examples',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

function withNullAllowed(shape: OpenMap): OpenMap {
  if (Array.isArray(shape.enum) && !shape.enum.includes(null)) shape.enum = [...shape.enum, null];
  return shape;
}

/** The short form of a shape that says no more than its type: `string`, `customer?`, `[customer]`. */
export function shortened(shape: JsonMap): Json {
  const [key, ...more] = Object.keys(shape);
  const { type, items } = shape;
  if (key === 'type' && more.length === 0) {
    if (typeof type === 'string') return type;
    if (Array.isArray(type) && type.length === 2 && type[1] === 'null' && typeof type[0] === 'string') return `${type[0]}?`;
  }
  return type === 'array' && typeof items === 'string' && Object.keys(shape).length === 2 ? [items] : shape;
}
