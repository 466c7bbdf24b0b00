import type { ColumnSpec, Scalar } from '../store.ts';

/**
 * PostgreSQL's text holds everything but U+0000. It is written as U+0001 U+0001, and U+0001 as U+0001 U+0002: what was equal, less or
 * a beginning stays so.
 */
export function written(text: string): string {
  if (!text.includes('\0') && !text.includes('\u0001')) return text;
  return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\0', '\u0001\u0001');
}

/** The text that `written` was made of. */
export function read(text: string): string {
  if (!text.includes('\u0001')) return text;
  return text.replaceAll('\u0001\u0001', '\0').replaceAll('\u0001\u0002', '\u0001');
}

/** Half of a surrogate pair is no text: it becomes U+FFFD, as SQLite makes it. */
export function valueText(value: Scalar): string | null {
  return value === null ? null : written(typeof value === 'string' ? value : String(value));
}

/** A list of values as PostgreSQL writes an array. */
export function arrayText(values: readonly (string | number | bigint | null)[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (index > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (typeof value === 'string') text += quoted(value);
    else text += String(value);
  }
  return `${text}}`;
}

function quoted(value: string): string {
  if (!value.includes('"') && !value.includes('\\')) return `"${value}"`;
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** What a stated type is called in PostgreSQL. */
export const sqlTypes = { integer: 'int8', real: 'float8', text: 'text' } as const satisfies Record<ColumnSpec['type'], string>;

/** A value of a column as it was given. */
export function readScalar(value: unknown): Scalar {
  // The driver gives numbers, big integers, texts and nulls for the types of columns.
  return typeof value === 'string' ? read(value) : (value as Scalar);
}
