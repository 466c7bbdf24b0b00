/** Query parameters and pages. */
import { Refused } from './house.ts';

export type Query = URLSearchParams;

export function queryOf(url: string): Query {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}

/** Reads the text of a parameter; nothing where it does not fit. */
export type Read<T> = (text: string) => T | undefined;

export const text: Read<string> = (sent) => sent;
export const integer: Read<number> = (sent) => (/^-?\d{1,15}$/.test(sent) ? Number(sent) : undefined);
export const integerIn =
  (min: number, max: number): Read<number> =>
  (sent) => {
    const value = integer(sent);
    return value === undefined || value < min || value > max ? undefined : value;
  };
export const word =
  (...words: readonly string[]): Read<string> =>
  (sent) =>
    words.find((one) => one === sent);
export const date: Read<string> = (sent) =>
  /^\d{4}-\d\d-\d\d$/.test(sent) && !Number.isNaN(Date.parse(sent)) && new Date(sent).toISOString().startsWith(sent)
    ? sent
    : undefined;

/** Refuses parameters that an operation does not have. */
export function only(query: Query, names: readonly string[]): void {
  for (const name of query.keys()) if (!names.includes(name)) throw wrong(name);
}

export function one<T>(query: Query, name: string, read: Read<T>): T | undefined {
  const values = query.getAll(name);
  if (values.length === 0) return undefined;
  const value = values.length === 1 ? read(values[0]!) : undefined;
  if (value === undefined) throw wrong(name);
  return value;
}

export function wrong(name: string): Refused {
  return new Refused('PARAMETER', [{ path: name, expected: 'a parameter that this operation takes' }]);
}

/** A whole number of a page, in its range. */
export function within(query: Query, name: string, usual: number, min: number, max: number, clamps = false): number {
  const asked = one(query, name, integer) ?? usual;
  if (asked < min || (asked > max && !clamps)) throw wrong(name);
  return Math.min(asked, max);
}
