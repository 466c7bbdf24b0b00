import { itemOf, type Resolve, type Schema, schemaTypesOf } from './schema.ts';

/** Whether no item of a list can hold a comma, so that an encoded one must be a border too. */
export function areCommaFree(list: Schema, resolve: Resolve): boolean {
  const item = itemOf(list, resolve);
  if (item === undefined) return false;
  if (Array.isArray(item.enum)) return item.enum.every((value) => !String(value).includes(','));
  if (typeof item.pattern === 'string' && admitsNoComma(item.pattern)) return true;
  const types = schemaTypesOf(item, resolve);
  return types !== undefined && !types.has('string');
}

/** Whether a pattern for the whole of a text is so plain that it is seen to have no room for a comma. */
function admitsNoComma(pattern: string): boolean {
  const inner = /^\^(.*)\$$/s.exec(pattern)?.[1]?.replaceAll(/\\[.\-_/dw]/g, '0');
  // A bound such as {1,19} holds a comma that is no character, and a range of letters or digits none; one of other characters may.
  const rest = inner?.replaceAll(/\{\d+,\d*\}/g, '').replaceAll(/[A-Za-z0-9]-[A-Za-z0-9]/g, '0');
  return rest !== undefined && !/[,.|\\^$]|[^[]-[^\]]/.test(rest);
}
