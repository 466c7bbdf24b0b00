import type { Json, JsonMap } from '../../document/document.ts';
import { jsonTypes } from '../../document/json-type.ts';
import { newMap, type OpenMap } from '../../document/values.ts';
import { hasMeaning, unionsOf } from '../../parts/shapes/branches.ts';
import { fitsAny } from '../../parts/shapes/compose.ts';

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
  const unions = unionsOf(shape);
  const union = unions.find(({ isExclusive }) => !isExclusive) ?? unions[0];
  if (union && shape.properties === undefined && !hasMeaning(shape, 'conjunction')) {
    shape[union.keyword] = [...union.branches, 'null'];
    return shape;
  }
  if (Object.keys(shape).every((key) => described.has(key))) return shape;
  const inner: OpenMap = newMap();
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(shape)) (described.has(key) ? out : inner)[key] = value;
  return Object.assign(out, fitsAny([shortened(inner), 'null']));
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
