import { statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Spec } from '../../parts/spec.ts';
import { resolvedShape } from '../../parts/value-shape.ts';
import { type ColumnCode, columnCode } from './column.ts';

/** How a field's values become a column; a reference without a type of its own has that of what it refers to. */
export function fieldCode(spec: Spec, { shape, ref, ignoreCase }: Pick<Field, 'shape' | 'ref' | 'ignoreCase'>): ColumnCode {
  const stated = resolvedShape(spec, statedValue(shape) ?? {});
  const type = stated.type === undefined && ref !== undefined ? { type: identifierType(spec, ref) } : {};
  return columnCode({ ...stated, ...type }, ignoreCase);
}
