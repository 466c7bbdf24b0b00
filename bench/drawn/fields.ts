/** The members that a drawn resource may have: how each is stated, kept in a column by hand, and filled. */
import type { Chance } from './chance.ts';

/** A JSON value that a row is made of. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  /** Its shape, as the document states it and as Fastify validates and serialises it. */
  readonly shape: Readonly<Record<string, Json>>;
  /** The column that a good engineer gives it. */
  readonly column: 'TEXT' | 'INTEGER' | 'REAL';
  /** How a value goes into the column and comes out again. */
  readonly kept: 'as it is' | 'as 0 and 1' | 'as JSON text';
  /** Whether lists can be in its order. */
  readonly isOrdered: boolean;
  /** The value of the row of a number. */
  value(n: number): Json;
}

type Kind = Omit<Field, 'name' | 'isRequired'>;

const plainNames = 'title label code city owner brand colour rank weight height stock grade ref lane phase zone'.split(' ');
const words = 'amber basin cedar delta ember fjord grove harbor inlet jetty knoll ledge marsh north orchard pier'.split(' ');
const word = (n: number): string => words[n % words.length]!;
const text = (n: number, length: number): string =>
  Array.from({ length: Math.ceil(length / 6) }, (_, at) => word(n * 7 + at * 3))
    .join(' ')
    .slice(0, length);

/** Every kind of member, each with what chance decides about it. */
const kinds: readonly ((chance: Chance) => Kind)[] = [
  (chance) => {
    const length = chance.between(8, 60);
    const shape = { type: 'string', minLength: 1, maxLength: chance.between(80, 200) };
    return { shape, column: 'TEXT', kept: 'as it is', isOrdered: true, value: (n) => `${text(n, length)} ${n}` };
  },
  (chance) => {
    const digits = chance.between(6, 14);
    const shape = { type: 'string', pattern: `^[A-Z][0-9]{${digits}}$` };
    const value = (n: number): string => `${'ABCDEFGH'[n % 8]!}${String(n).padStart(digits, '0')}`;
    return { shape, column: 'TEXT', kept: 'as it is', isOrdered: true, value };
  },
  (chance) => {
    const members = words.slice(0, chance.between(3, 9));
    const value = (n: number): string => members[n % members.length]!;
    return { shape: { type: 'string', enum: members }, column: 'TEXT', kept: 'as it is', isOrdered: true, value };
  },
  (chance) => {
    const maximum = chance.between(100, 1_000_000);
    // 7919 is prime, so values come in no order of the numbers.
    const value = (n: number): number => (n * 7919) % maximum;
    return { shape: { type: 'integer', minimum: 0, maximum }, column: 'INTEGER', kept: 'as it is', isOrdered: true, value };
  },
  () => {
    const value = (n: number): number => ((n * 7919) % 100_000) / 100;
    const shape = { type: 'number', minimum: 0, maximum: 10_000 };
    return { shape, column: 'REAL', kept: 'as it is', isOrdered: true, value };
  },
  () => ({
    shape: { type: 'boolean' },
    column: 'INTEGER',
    kept: 'as 0 and 1',
    isOrdered: false,
    value: (n) => n % 3 === 0,
  }),
  () => {
    const value = (n: number): string => new Date(1_700_000_000_000 + ((n * 7919) % 10_000_000) * 1000).toISOString();
    return { shape: { type: 'string', format: 'date-time' }, column: 'TEXT', kept: 'as it is', isOrdered: false, value };
  },
  (chance) => {
    const most = chance.between(2, 6);
    const shape = { type: 'array', items: { type: 'string', maxLength: 30 }, maxItems: 20 };
    const value = (n: number): Json => Array.from({ length: n % (most + 1) }, (_, at) => word(n + at));
    return { shape, column: 'TEXT', kept: 'as JSON text', isOrdered: false, value };
  },
  (chance) => {
    const names = ['street', 'town', 'post', 'floor'].slice(0, chance.between(2, 4));
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 80 }]));
    const shape = { type: 'object', properties, required: names, additionalProperties: false };
    const value = (n: number): Json => Object.fromEntries(names.map((name, at) => [name, text(n + at, 18)]));
    return { shape, column: 'TEXT', kept: 'as JSON text', isOrdered: false, value };
  },
  (chance) => {
    const most = chance.between(1, 4);
    const properties = { sku: { type: 'string', maxLength: 20 }, count: { type: 'integer', minimum: 1, maximum: 1000 } };
    const items = { type: 'object', properties, required: ['sku', 'count'], additionalProperties: false };
    const value = (n: number): Json =>
      Array.from({ length: 1 + (n % most) }, (_, at) => ({ sku: `${word(n + at)}-${n % 1000}`, count: 1 + ((n + at) % 90) }));
    const shape = { type: 'array', items, maxItems: 20 };
    return { shape, column: 'TEXT', kept: 'as JSON text', isOrdered: false, value };
  },
];

/** The members of a resource: 4 to 14 of any kinds, about a quarter of them not required. */
export function drawFields(chance: Chance): readonly Field[] {
  const names = chance.shuffled(plainNames).slice(0, chance.between(4, 14));
  return names.map((name) => ({ name, isRequired: chance.between(1, 4) > 1, ...chance.one(kinds)(chance) }));
}
