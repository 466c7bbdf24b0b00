/** The types of JSON Schema (2020-12, Validation section 6.1.1). */
export const jsonTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

/** The type of a value, whole numbers apart; integers beyond 2^53 come as BigInts. JSON has no number that is not finite. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : Number.isFinite(value) ? 'number' : 'none';
  return typeof value;
}

/** Whether a value is of a type; an integer is a number too. */
export function isOfType(value: unknown, type: string): boolean {
  const own = jsonTypeOf(value);
  return own === type || (own === 'integer' && type === 'number');
}
