import type { Json } from '../../document/document.ts';
import { isOfType } from '../../document/values.ts';
import type { Shape } from '../../parts/shape.ts';

/** The JSON types that a schema states; undefined where it states none. */
export function typesOf({ type }: Shape): ReadonlySet<string> | undefined {
  if (typeof type === 'string') return new Set([type]);
  if (!Array.isArray(type)) return undefined;
  return new Set(type.filter((word): word is string => typeof word === 'string'));
}

/** Whether a value is of one of these types; an integer is a number too. */
export function isOfTypes(value: Json, types: ReadonlySet<string>): boolean {
  return [...types].some((type) => isOfType(value, type));
}

/** The only type but `null` that a schema admits. */
export function onlyType(schema: Shape): string | undefined {
  const types = [...(typesOf(schema) ?? [])].filter((type) => type !== 'null');
  return types.length === 1 ? types[0] : undefined;
}

/** A value in a message as its writer knows it: a text without quotes, anything else as JSON. */
export function asWritten(value: Json): string {
  return typeof value === 'string' ? `\`${value}\`` : shortJson(value);
}

/** A value in a message, cut short. */
export function shortJson(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return `\`${text.length > 60 ? `${text.slice(0, 60)}…` : text}\``;
}
