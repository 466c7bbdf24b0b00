import type { Field } from '../../parts/resources.ts';
import type { Fields } from '../exchange.ts';
import { type ColumnCode, canonical } from './column.ts';

/** Several fields of which no two rows may agree, as one text; null where one of them is absent. */
export function uniqueKey(
  names: readonly string[],
  values: Fields,
  fields: ReadonlyMap<string, Field>,
  codes: ReadonlyMap<string, ColumnCode>,
): string | null {
  const parts: unknown[] = [];
  for (const name of names) {
    const value = values[name];
    if (value === undefined || value === null) return null;
    const field = fields.get(name);
    const code = field && codes.get(name);
    // A column bends integers beyond 64 bits; here they are told apart.
    parts.push(typeof value === 'number' || typeof value === 'bigint' ? value : (code?.encode(value) ?? value));
  }
  return canonical(parts);
}
