import type { Json } from '../../../document/document.ts';
import { formatNamed } from '../../../kinds/formats/all.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Field } from '../../../parts/resources.ts';

/** A value of a field's type that nobody but a caller would give it; nothing for a field of another type. */
export function foreignValue(field: Field): Json | undefined {
  const shape = statedValue(field.shape);
  const [enumerated] = Array.isArray(shape?.enum) ? shape.enum : [];
  if (enumerated !== undefined) return enumerated;
  if (shape?.type === 'integer' || shape?.type === 'number')
    return typeof shape.maximum === 'number' ? Math.min(shape.maximum, 7) : 7;
  if (shape?.type === 'boolean') return true;
  if (shape?.type !== 'string' || field.ref !== undefined) return undefined;
  if (shape.format === undefined) return 'nf-foreign';
  return formatNamed(shape.format)?.time?.write(Date.UTC(2001, 0, 1));
}
