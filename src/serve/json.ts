import { newBare } from './wire/bare.ts';
import { parseJson, stringifyJson } from './wire/json.ts';

/** The fields of a stored row; integers beyond 2^53 come back as bigint, exactly. */
export function parseStored(text: string): Record<string, unknown> {
  if (!/\d{16}/.test(text)) return bare(JSON.parse(text) as Record<string, unknown>);
  const parsed = parseJson(Buffer.from(text), { depth: 1000 });
  // What was stored was made by stringifyJson, so it parses.
  return bare(('value' in parsed ? parsed.value : JSON.parse(text)) as Record<string, unknown>);
}

/** The same fields in an object that inherits nothing: one that is named `constructor` is absent unless it is there. */
export function bare(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.assign(newBare<unknown>(), fields);
}

/** JSON text of a value, integers beyond 2^53 exactly. */
export function toJson(value: unknown): string {
  return stringifyJson(value);
}

/** A deep copy of a JSON value. */
export function copy<T>(value: T): T {
  return structuredClone(value);
}
