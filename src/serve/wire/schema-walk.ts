import { fragmentStepOf } from '../../document/pointer.ts';
import { mapInner } from '../../parts/shapes/inner.ts';
import { isSchema, type Schema } from './schema.ts';

/** Edits one schema object whose inner schemas are edited already; `pointer` is its place in the whole, as a URI fragment. */
export type Edit = (schema: Record<string, unknown>, pointer: string) => Record<string, unknown>;

/**
 * Copies a schema, all its inner schemas with it, and lets each copy be edited (JSON Schema 2020-12 section 10). Values under
 * other keywords are shared, not copied. Booleans stay. A name `__proto__` stays an own key.
 */
export function editSchema(schema: Schema | boolean, edit: Edit, pointer = ''): Record<string, unknown> | boolean {
  if (typeof schema === 'boolean') return schema;
  const copy: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${pointer}/${fragmentStepOf(keyword)}`;
    copy.push([
      keyword,
      mapInner(
        keyword,
        value,
        (inner, key) => editInner(inner, key === undefined ? at : `${at}/${fragmentStepOf(String(key))}`, edit),
        true,
      ),
    ]);
  }
  return edit(Object.fromEntries(copy), pointer);
}

function editInner(value: unknown, at: string, edit: Edit): unknown {
  return isSchema(value) || typeof value === 'boolean' ? editSchema(value, edit, at) : value;
}
