import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { schemaKeys, schemaListKeys, schemaMapKeys } from '../../../parts/schema-keys.ts';

/**
 * A schema of 2020-12 in the words of draft 07, which AsyncAPI's own schemas extend: a reference has no siblings there, a tuple
 * stands under `items`, and what one property asks of others under `dependencies`.
 */
export function toDraft07(schema: JsonMap): JsonMap {
  const { $ref, prefixItems, items, dependentRequired, dependentSchemas, ...rest } = schema;
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(rest)) out[key] = inside(key, value);
  if (Array.isArray(prefixItems)) {
    out.items = prefixItems.map(one);
    if (items !== undefined) out.additionalItems = one(items);
  } else if (items !== undefined) out.items = one(items);
  const dependencies = { ...mapOf(dependentRequired), ...mapped(mapOf(dependentSchemas)) };
  if (Object.keys(dependencies).length > 0) out.dependencies = dependencies;
  if (typeof $ref !== 'string') return out;
  if (Object.keys(out).length === 0) return { $ref };
  const parts = Array.isArray(out.allOf) ? out.allOf : [];
  return { ...out, allOf: [{ $ref }, ...parts] };
}

function inside(key: string, value: Json): Json {
  if (schemaKeys.has(key)) return one(value);
  if (schemaListKeys.has(key) && Array.isArray(value)) return (value as readonly Json[]).map(one);
  return schemaMapKeys.has(key) && isMap(value) ? mapped(value) : value;
}

function one(value: Json): Json {
  return isMap(value) ? toDraft07(value) : value;
}

function mapped(map: JsonMap): JsonMap {
  const out: OpenMap = newMap();
  for (const [name, value] of Object.entries(map)) out[name] = one(value);
  return out;
}

function mapOf(value: Json | undefined): JsonMap {
  return isMap(value) ? value : newMap();
}
