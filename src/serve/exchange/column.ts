import { formatNamed, standsFor } from '../../kinds/formats/all.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import { resolvedShape } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import type { ColumnSpec, Scalar } from '../../store/store.ts';
import type { Value } from './exchange.ts';

/** How the values of a field become values that a database compares as the language does. */
export interface ColumnCode {
  readonly type: ColumnSpec['type'];
  /** How the value is made: another word means that stored rows need it made anew. */
  readonly made: string;
  /** The type of the values, where it is neither text nor anything. */
  readonly holds?: 'number' | 'boolean';
  /** Null for what is absent, or of another type. */
  encode(value: Value): Scalar;
}

/** Date-times compare as instants, booleans as 0 and 1, decimals as numbers, `ignore_case` texts in lower case, lists and objects as canonical JSON. */
export function columnCode(shape: Shape, ignoreCase: boolean): ColumnCode {
  const types = new Set(typeof shape.type === 'string' ? [shape.type] : Array.isArray(shape.type) ? shape.type : []);
  const format = shape.format;
  if (types.has('string') || (types.size === 0 && shape.ref !== undefined)) {
    if (formatNamed(format)?.time) return { type: 'integer', made: 'instant', encode: instantMicroseconds };
    if (standsFor(format, 'digits'))
      return { type: 'real', made: 'decimal', encode: (value) => (typeof value === 'string' ? Number(value) : null) };
    if (types.has('integer') || types.has('number')) return { type: 'text', made: 'json', encode: anyText };
    return { type: 'text', made: ignoreCase ? 'lower' : 'text', encode: ignoreCase ? lowerText : text };
  }
  if (types.has('number')) return { type: 'real', made: 'number', holds: 'number', encode: number };
  if (types.has('integer')) return { type: 'integer', made: 'integer or double', holds: 'number', encode: integer };
  if (types.has('boolean'))
    return {
      type: 'integer',
      made: 'boolean',
      holds: 'boolean',
      encode: (value) => (typeof value === 'boolean' ? Number(value) : null),
    };
  return { type: 'text', made: 'json', encode: anyText };
}

/** Microseconds since 1970 of an RFC 3339 date-time; finer fractions are cut. */
export function instantMicroseconds(value: Value): number | null {
  if (typeof value !== 'string') return null;
  // With three digits of a second, as times are set here, there is nothing to cut.
  const isWhole = value.length === 24 && value[19] === '.' && value[23] === 'Z';
  const ms = Date.parse(isWhole ? value : value.replace(/(\.\d{3})\d+/, '$1'));
  if (Number.isNaN(ms)) return null;
  if (isWhole) return ms * 1000;
  const fraction = /\.\d{3}(\d{1,3})/.exec(value)?.[1] ?? '';
  return ms * 1000 + Number(fraction.padEnd(3, '0'));
}

function text(value: Value): Scalar {
  return typeof value === 'string' ? value : null;
}

function lowerText(value: Value): Scalar {
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function number(value: Value): Scalar {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : null;
}

/** A column holds 64 bits exactly; what is beyond them is the nearest double, which a database compares with them by value. */
function integer(value: Value): Scalar {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const exact = typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (typeof exact !== 'bigint') return null;
  return exact > int64Max || exact < -int64Max - 1n ? Number(exact) : exact;
}

const int64Max = 2n ** 63n - 1n;

function anyText(value: Value): Scalar {
  return value === undefined || value === null ? null : canonical(value);
}

/** JSON text in which equal values are equal: keys in order, integers as integers. */
export function canonical(value: Value): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && Number.isInteger(value)) return String(BigInt(value));
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** How a field's values become a column; a reference without a type of its own has that of what it refers to. */
export function fieldCode(spec: Spec, { shape, ref, ignoreCase }: Pick<Field, 'shape' | 'ref' | 'ignoreCase'>): ColumnCode {
  const stated = resolvedShape(spec, statedValue(shape) ?? {});
  const type = stated.type === undefined && ref !== undefined ? { type: identifierType(spec, ref) } : {};
  return columnCode({ ...stated, ...type }, ignoreCase);
}
