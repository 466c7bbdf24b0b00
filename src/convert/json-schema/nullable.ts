import type { Json, JsonMap } from '../../document/document.ts';

/** A schema that takes null as well. */
export function nullable(schema: JsonMap): JsonMap {
  if (takesNull(schema)) return schema;
  const { type, ...rest } = schema;
  const isPlain = !['enum', 'const', '$ref', 'oneOf', 'anyOf', 'allOf', 'not', 'if'].some((word) => Object.hasOwn(schema, word));
  if (isPlain && typeof type === 'string') return { type: [type, 'null'], ...rest };
  if (isPlain && isList(type)) return { type: [...type, 'null'], ...rest };
  return { anyOf: [schema, { type: 'null' }] };
}

function takesNull({ type, enum: values, anyOf, oneOf, ...rest }: JsonMap): boolean {
  if (type !== undefined) return isList(type) && type.includes('null') && (!isList(values) || values.includes(null));
  const branches = anyOf ?? oneOf;
  if (isList(branches)) return branches.some((branch) => isSchema(branch) && branch.type === 'null');
  const asks = ['const', '$ref', 'allOf', 'not', 'if'].some((word) => Object.hasOwn(rest, word));
  return !asks && (!isList(values) || values.includes(null));
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isSchema(value: Json): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
