import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { conjunctionOf } from '../../../parts/shapes/branches.ts';
import { fitsAll } from '../../../parts/shapes/compose.ts';
import { mapInner } from '../../../parts/shapes/inner.ts';

/**
 * A schema of 2020-12 in the words of draft 07, which AsyncAPI's own schemas extend: a reference has no siblings there, a tuple
 * stands under `items`, and what one property asks of others under `dependencies`.
 */
export function toDraft07(schema: JsonMap): JsonMap {
  const { $ref, prefixItems, items, dependentRequired, dependentSchemas, ...rest } = schema;
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(rest)) out[key] = mapInner(key, value, one);
  if (Array.isArray(prefixItems)) {
    out.items = prefixItems.map(one);
    if (items !== undefined) out.additionalItems = one(items);
  } else if (items !== undefined) out.items = one(items);
  const dependencies = {
    ...mapOf(dependentRequired),
    ...mapOf(mapInner<Json>('dependentSchemas', mapOf(dependentSchemas), one)),
  };
  if (Object.keys(dependencies).length > 0) out.dependencies = dependencies;
  if (typeof $ref !== 'string') return out;
  if (Object.keys(out).length === 0) return { $ref };
  return { ...out, ...fitsAll<Json>([{ $ref }, ...conjunctionOf(out)]) };
}

function one(value: Json): Json {
  return isMap(value) ? toDraft07(value) : value;
}

function mapOf(value: Json | undefined): JsonMap {
  return isMap(value) ? value : newMap();
}
