import type { Json, JsonMap } from '../../document/document.ts';
import { alternativesOf, isComposed, unionOf } from '../../parts/shapes/branches.ts';
import { fitsAny } from '../../parts/shapes/compose.ts';

/** A schema that takes null as well. */
export function nullable(schema: JsonMap): JsonMap {
  if (takesNull(schema)) return schema;
  const { type, ...rest } = schema;
  const isPlain = !isComposed(schema) && schema.enum === undefined && schema.const === undefined;
  if (isPlain && typeof type === 'string') return { type: [type, 'null'], ...rest };
  if (isPlain && isList(type)) return { type: [...type, 'null'], ...rest };
  return fitsAny([schema, { type: 'null' }]);
}

function takesNull(schema: JsonMap): boolean {
  const { type, enum: values } = schema;
  if (type !== undefined) return isList(type) && type.includes('null') && (!isList(values) || values.includes(null));
  if (unionOf(schema)) return alternativesOf(schema).some((branch) => branch.type === 'null');
  return !isComposed(schema) && schema.const === undefined && (!isList(values) || values.includes(null));
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
