/** Values that a client makes of described schemas: an example where there is one, else of the shape, another one for another number. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import type { Described } from './description.ts';
import { plainName } from './families.ts';
import { misfitOf, typesOf } from './fitting.ts';
import { textOfPattern } from './pattern-texts.ts';
import { endsThings, isMomentOfEnd } from './things.ts';

/** Nothing can be made of the schema here. */
export class CannotMake extends Error {}

export interface Making {
  readonly described: Described;
  /** Which of several values. */
  readonly n: number;
  /** Members that are the answer's too go before others. */
  readonly shown: ReadonlySet<string>;
  /** The value of a member that names another thing; nothing where there is none. */
  readonly named: (name: string) => Json | undefined;
}

const depthMax = 6;
const optionalMax = 4;
const namesAnother = /(?:[a-z]I[dD]s?|_ids?|Ref|ARN|Arn)$/;
const shownNever = /password|secret|token|credential|captcha|signature/i;

/** A value of a schema. @throws {CannotMake} */
export function madeOf(making: Making, schema: Json | undefined, name: string, depth = 0): Json {
  const { described, n } = making;
  const here = described.flat(schema);
  if (depth > depthMax) throw new CannotMake(`${name} has no end`);
  if (here.const !== undefined) return here.const;
  if (Array.isArray(here.enum)) {
    const all = here.enum.filter((one) => one !== null && one !== '');
    if (all.length === 0) throw new CannotMake(`${name} has no words`);
    // What is made is to stay.
    const some = all.filter((one) => !endsThings.test(String(one)));
    const words = some.length > 0 ? some : all;
    return words[n % words.length]!;
  }
  const example = here.example ?? here['x-example'] ?? (Array.isArray(here.examples) ? here.examples[0] : undefined);
  if (example !== undefined && example !== null && example !== '' && !misfitOf(described, example, here))
    return variedOf(making, example, here, name, depth);
  const [form] = [here.oneOf, here.anyOf].flatMap((some) =>
    Array.isArray(some) ? some.filter((one) => !isNothing(described, one)) : [],
  );
  const types = typesOf(here).filter((type) => type !== 'null');
  if (form !== undefined && (types.length === 0 || types[0] === 'object')) return ofForm(making, here, form, name, depth);
  return ofType(making, here, types[0] ?? 'string', name, depth);
}

function isNothing(described: Described, form: Json): boolean {
  const types = typesOf(described.flat(form));
  return types.length > 0 && types.every((type) => type === 'null');
}

/** One of the first of several forms, with the word that tells which it is. */
function ofForm(making: Making, here: JsonMap, form: Json, name: string, depth: number): Json {
  const made = madeOf(making, form, name, depth + 1);
  if (!isMap(made)) return made;
  const own = isMap(here.properties) ? ofType(making, here, 'object', name, depth) : {};
  const tells = isMap(here.discriminator) ? here.discriminator : {};
  const mapped = isMap(tells.mapping) ? Object.entries(tells.mapping) : [];
  const reference = isMap(form) ? form.$ref : undefined;
  const word =
    mapped.find(([, to]) => to === reference)?.[0] ?? (typeof reference === 'string' ? reference.split('/').at(-1) : undefined);
  const told = typeof tells.propertyName === 'string' && word !== undefined && { [tells.propertyName]: word };
  return { ...(isMap(own) && own), ...made, ...told };
}

function ofType(making: Making, here: JsonMap, type: string, name: string, depth: number): Json {
  const { n } = making;
  if (type === 'object') return objectOf(making, here, depth);
  if (type === 'array') {
    const least = typeof here.minItems === 'number' ? here.minItems : 1;
    if (least > 3) throw new CannotMake(`${name} has many items`);
    return Array.from({ length: Math.max(1, least) }, (_, at) =>
      madeOf({ ...making, n: n + at * 3 }, here.items, name.replace(/s$/, ''), depth + 1),
    );
  }
  if (type === 'boolean') return typeof here.default === 'boolean' ? here.default : n % 2 === 0;
  return type === 'string' ? textOf(here, name, n) : numberOf(here, type, n);
}

function numberOf(here: JsonMap, type: string, n: number): Json {
  const least =
    typeof here.minimum === 'number' ? here.minimum : typeof here.exclusiveMinimum === 'number' ? here.exclusiveMinimum + 1 : 1;
  const step = typeof here.multipleOf === 'number' ? here.multipleOf : 1;
  const from = Math.ceil((least + (here.exclusiveMinimum === true ? 1 : 0)) / step) * step;
  const made = from + n * step;
  const most = typeof here.maximum === 'number' ? here.maximum : Number.POSITIVE_INFINITY;
  const within = made > most ? Math.min(from, most) : made;
  return type === 'integer' ? Math.round(within) : within;
}

function textOf(here: JsonMap, name: string, n: number): string {
  const { format, pattern, minLength, maxLength } = here;
  if (format === 'binary') throw new CannotMake(`${name} is bytes`);
  if (typeof pattern === 'string') {
    const likely = [ofFormat(String(format), n), byName(name, n), `${plainName(name)}-${n}`];
    const made = likely.find((one) => one !== undefined && isLike(one, here)) ?? textOfPattern(pattern, n);
    if (made === undefined) throw new CannotMake(`${name} has a pattern`);
    return made;
  }
  const made = ofFormat(String(format), n) ?? byName(name, n) ?? `${plainName(name) || 'text'}-${n}`;
  const long = typeof minLength === 'number' ? made.padEnd(minLength, 'x') : made;
  if (typeof maxLength !== 'number' || long.length <= maxLength) return long;
  return maxLength <= 3 ? 'abcdefghij'.slice(n, n + maxLength) : `${long.slice(0, maxLength - 2)}-${n % 10}`;
}

function isLike(text: string, { pattern, minLength, maxLength }: JsonMap): boolean {
  try {
    if (!new RegExp(String(pattern)).test(text)) return false;
  } catch {
    return false;
  }
  return text.length >= Number(minLength ?? 0) && text.length <= Number(maxLength ?? text.length);
}

function ofFormat(format: string, n: number): string | undefined {
  const formats: Record<string, string> = {
    date: `2026-03-0${(n % 9) + 1}`,
    'date-time': `2026-03-0${(n % 9) + 1}T10:00:00Z`,
    time: '10:00:00Z',
    duration: `P${n + 1}D`,
    email: `ada${n}@example.com`,
    uuid: `00000000-0000-4000-8000-00000000000${n % 10}`,
    uri: `https://example.com/${n}`,
    url: `https://example.com/${n}`,
    hostname: `host${n}.example.com`,
    ipv4: `192.0.2.${n + 1}`,
    ipv6: `2001:db8::${n + 1}`,
    byte: 'YWJj',
    password: `Correct-Horse-${n}`,
  };
  return Object.hasOwn(formats, format) ? formats[format] : undefined;
}

function byName(name: string, n: number): string | undefined {
  if (/email/i.test(name)) return `ada${n}@example.com`;
  if (/(?:url|uri|website|webhook)$/i.test(name)) return `https://example.com/${n}`;
  if (/phone|mobile/i.test(name)) return `+1555555010${n % 10}`;
  if (/currency/i.test(name)) return 'USD';
  if (/country/i.test(name)) return 'US';
  if (/locale|language/i.test(name)) return 'en';
  return /date$|(?:_at|[a-z]At)$/i.test(name) ? `2026-03-0${(n % 9) + 1}` : undefined;
}

/** Its required members, and a few others that answers show. */
function objectOf(making: Making, here: JsonMap, depth: number): Json {
  const { described, shown } = making;
  const properties = described.membersOf(here);
  const required = new Set(Array.isArray(here.required) ? here.required.map(String) : []);
  const made: Record<string, Json> = Object.create(null);
  for (const name of required) {
    const schema = Object.hasOwn(properties, name) ? described.flat(properties[name]) : {};
    if (schema.readOnly === true) continue;
    const other = namesAnother.test(name) ? making.named(name) : undefined;
    made[name] = other ?? madeOf(making, schema, name, depth + 1);
  }
  if (isMap(here.oneOf) || Array.isArray(here.oneOf) || Array.isArray(here.anyOf)) return made;
  const optional = Object.keys(properties)
    .filter((name) => !required.has(name) && isSendable(described.flat(properties[name]), name))
    .sort((one, other) => Number(shown.has(other)) - Number(shown.has(one)));
  for (const name of depth > 2 ? [] : optional.slice(0, optionalMax))
    try {
      made[name] = madeOf(making, properties[name], name, depth + 1);
    } catch (error) {
      if (!(error instanceof CannotMake)) throw error;
    }
  // What is wrapped is no scalar: without anything else, the one object is what is meant.
  if (Object.keys(made).length === 0)
    for (const [name, schema] of Object.entries(properties))
      if (typesOf(described.flat(schema))[0] === 'object' && described.flat(schema).readOnly !== true) {
        made[name] = madeOf(making, schema, name, depth + 1);
        break;
      }
  return made;
}

/** A plain value that names nothing else and keeps nothing secret. */
function isSendable(schema: JsonMap, name: string): boolean {
  const [type = ''] = typesOf(schema).filter((one) => one !== 'null');
  if (schema.readOnly === true || schema.deprecated === true || /^(?:binary|byte)$/.test(String(schema.format))) return false;
  if (namesAnother.test(name) || shownNever.test(name) || plainName(name) === 'id' || isMomentOfEnd(name)) return false;
  return ['string', 'integer', 'number', 'boolean'].includes(type) && typeof schema.pattern !== 'string';
}

/** An example without what only answers have, and with other plain words for another number. */
export function variedOf(making: Making, value: Json, schema: Json | undefined, name: string, depth = 0): Json {
  const { described, n } = making;
  const here = described.flat(schema);
  if (Array.isArray(value)) return value.map((item) => variedOf(making, item, here.items, name, depth + 1));
  if (isMap(value)) return variedMap(making, value, here, depth);
  if (n === 0) return value;
  if (Array.isArray(here.enum) && here.enum.length > 0)
    return here.enum.filter((one) => typeof one === typeof value && !endsThings.test(String(one)))[n] ?? value;
  const made = typeof value === 'number' ? value + n : typeof value === 'string' ? otherText(value, here, n) : value;
  return misfitOf(described, made, here) ? value : made;
}

function variedMap(making: Making, value: JsonMap, here: JsonMap, depth: number): Json {
  const { described } = making;
  const properties = described.membersOf(here);
  const required = Array.isArray(here.required) ? here.required.map(String) : [];
  const made: Record<string, Json> = Object.create(null);
  for (const [name, member] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (described.flat(schema).readOnly === true) continue;
    if (namesAnother.test(name) && !required.includes(name)) continue;
    const other = namesAnother.test(name) ? making.named(name) : undefined;
    made[name] = other ?? variedOf(making, member, schema, name, depth + 1);
  }
  return made;
}

function otherText(value: string, here: JsonMap, n: number): string {
  const given = typeof here.format === 'string' ? ofFormat(here.format, n) : undefined;
  if (given !== undefined) return given;
  if (/^[^@\s]+@[^@\s]+$/.test(value)) return value.replace('@', `${n}@`);
  // What reads as a moment, an address, a code or a number is left as it is.
  if (/^\d{4}-\d\d|^[A-Z]{2,4}$|^[-+]?[\d.,:]+$/.test(value)) return value;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(value)) return `${value.slice(0, -1)}${n % 10 === Number(value.at(-1)) ? 'a' : n % 10}`;
  if (/^[0-9a-f]{16,}$/i.test(value)) return `${value.slice(0, -1)}${n % 10 === Number(value.at(-1)) ? 'a' : n % 10}`;
  return /^[a-z]+:\/\//.test(value) ? `${value.replace(/\/$/, '')}/${n}` : `${value}-${n}`;
}
