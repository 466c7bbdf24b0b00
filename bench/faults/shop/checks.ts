/** What bodies may hold, field by field, checked by hand. */
import { Refusal, type Violation } from './exchange.ts';

/** Says what is wrong with a value; nothing where it is right. */
export type Check = (value: unknown, path: string) => readonly Violation[];

export interface Field {
  readonly check: Check;
  /** Needed in a new one, and never taken away. */
  readonly isRequired?: boolean;
  /** Cannot be taken away although a new one may leave it out. */
  readonly isKept?: boolean;
}

export type Fields = Readonly<Record<string, Field>>;

/** The values of a new one. Fields that callers cannot write are dropped first. */
export function checkNew(body: unknown, fields: Fields, readOnly: readonly string[]): Record<string, unknown> {
  const sent = writable(body, readOnly);
  const violations = [
    ...unknown(sent, fields),
    ...Object.entries(fields).flatMap(([name, field]) => {
      if (Object.hasOwn(sent, name)) return field.check(sent[name], `/${name}`);
      return field.isRequired ? [wrong(`/${name}`, undefined, 'a value')] : [];
    }),
  ];
  if (violations.length > 0) throw new Refusal('invalid', violations);
  return sent;
}

/** What a merge patch (RFC 7396) changes: null takes a field away. */
export function checkPatch(body: unknown, fields: Fields, readOnly: readonly string[]): Record<string, unknown> {
  const sent = writable(body, readOnly);
  const violations = [
    ...unknown(sent, fields),
    ...Object.entries(fields).flatMap(([name, field]) => {
      if (!Object.hasOwn(sent, name)) return [];
      if (sent[name] !== null) return field.check(sent[name], `/${name}`);
      return field.isRequired || field.isKept ? [wrong(`/${name}`, null, 'a value')] : [];
    }),
  ];
  if (violations.length > 0) throw new Refusal('invalid', violations);
  return sent;
}

function writable(body: unknown, readOnly: readonly string[]): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal('invalid', [wrong('', body, 'an object')]);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !readOnly.includes(name)));
}

function unknown(sent: object, fields: Fields): Violation[] {
  return Object.keys(sent)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => wrong(`/${name}`, 'a field that is not known', 'no such field'));
}

export function text({ min = 0, max = Number.POSITIVE_INFINITY, pattern = /^/ } = {}): Check {
  return (value, path) => {
    if (typeof value !== 'string') return [wrong(path, value, 'a string')];
    const { length } = [...value];
    if (length < min || length > max) return [wrong(path, `${length} characters`, `from ${min} to ${max} characters`)];
    return pattern.test(value) ? [] : [wrong(path, value, `a string that matches ${pattern.source}`)];
  };
}

export function whole(min: number, max: number): Check {
  return (value, path) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? []
      : [wrong(path, value, `a whole number from ${min} to ${max}`)];
}

export function decimal(min: number, max: number): Check {
  return (value, path) =>
    typeof value === 'number' && value >= min && value <= max ? [] : [wrong(path, value, `a number from ${min} to ${max}`)];
}

export const flag: Check = (value, path) => (typeof value === 'boolean' ? [] : [wrong(path, value, 'true or false')]);

export function oneOf(...words: readonly string[]): Check {
  return (value, path) => (words.some((word) => word === value) ? [] : [wrong(path, value, `one of ${words.join(', ')}`)]);
}

export function list(item: Check, max = Number.POSITIVE_INFINITY): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return [wrong(path, value, 'a list')];
    if (value.length > max) return [wrong(path, `${value.length} items`, `at most ${max} items`)];
    return value.flatMap((one, index) => item(one, `${path}/${index}`));
  };
}

export const date: Check = (value, path) => {
  const isDate =
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d$/.test(value) &&
    !Number.isNaN(Date.parse(value)) &&
    new Date(value).toISOString().startsWith(value);
  return isDate ? [] : [wrong(path, value, 'a date such as 2026-01-31')];
};

const word = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const address = new RegExp(`^${word}(?:\\.${word})*@(?:${label}\\.)+${label}$`, 'i');

export const email: Check = (value, path) =>
  typeof value === 'string' && address.test(value) ? [] : [wrong(path, value, 'a mail address')];

export const uri: Check = (value, path) =>
  typeof value === 'string' && /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(value)
    ? []
    : [wrong(path, value, 'a URI with its scheme')];

export function wrong(path: string, found: unknown, expected: string): Violation {
  const told = typeof found === 'string' ? found : (JSON.stringify(found) ?? 'nothing');
  return { in: 'body', path, found: told.slice(0, 80), expected };
}
