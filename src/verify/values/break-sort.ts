import type { Json, JsonMap } from '../../document/document.ts';
import { jsonTypeOf } from '../../document/json-type.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import { conjunctionWord, isUnion } from '../../parts/shapes/keywords.ts';

/** The condition below `request.invalid` that a value of such a shape comes to; the general one where its shape has several forms. */
export function conditionOfBreak(shape: JsonMap, value: Json): ErrorCondition {
  const { type } = shape;
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : [];
  const isScalar = types.length > 0 && types.every((one) => typeof one === 'string' && scalars.has(one));
  if (!isScalar || Object.keys(shape).some((word) => isUnion(word) || word === conjunctionWord || word === '$ref'))
    return 'request.invalid';
  const own = jsonTypeOf(value);
  const isOfType = types.includes(own) || (own === 'integer' && types.includes('number')) || isWhole(value, types);
  return isOfType ? 'request.invalid.value' : 'request.invalid.type';
}

const scalars: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'null']);

function isWhole(value: Json, types: readonly Json[]): boolean {
  return types.includes('integer') ? Number.isInteger(value) : types.includes('number') && typeof value === 'number';
}
