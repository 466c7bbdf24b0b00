import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import type { Json } from '../../document/document.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import type { Draw } from '../../kinds/generators/kind.ts';
import { textsOf } from '../../parts/patterns/count.ts';
import { compilePattern } from '../../parts/patterns/pattern.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { asText } from '../exchange/as-text.ts';
import { DrawnValues, Fresh, freshText } from '../exchange/symbol.ts';
import { boundsOf, NoValue } from './scalars.ts';
import { arbitraryValuesOf } from './values.ts';

/** Of few values there are, one that this run has not had yet is drawn for so often. */
const anewMost = 30;
/** Of so many texts that a pattern admits the longest is taken: among short ones two are soon the same. */
const longestOf = 8;

/** A value of a shape that no other row has, as far as chance can see to it; nothing where the shape is beyond us. */
export function freshOf(spec: Spec, shape: Shape): Fresh | undefined {
  const isText = shape.type === 'string' && shape.enum === undefined && shape.const === undefined;
  if (isText && shape.pattern === undefined && (shape.format === undefined || isEmail(shape.format))) {
    const most = typeof shape.maxLength === 'number' ? shape.maxLength : 64;
    const least = typeof shape.minLength === 'number' ? shape.minLength : 1;
    if (shape.format !== undefined) {
      if (most >= 30) return new Fresh((draw) => `nf-${Buffer.from(draw.bytes(6)).toString('hex')}@example.com`);
    } else if (most >= 14) return freshText(`nf-${'x'.repeat(Math.max(0, least - 14))}`);
  }
  const counted = countedFrom(shape);
  if (counted) return counted;
  const prefix = isText && shape.format === undefined ? once(prefixOf, shape, prefixFor) : undefined;
  if (prefix !== undefined) return freshText(prefix);
  try {
    // What is drawn with a bias towards bounds comes twice before long.
    const values = once(drawnOf, shape, (one) => fc.noBias(arbitraryValuesOf(spec, one, 'full')));
    const count = isText && shape.pattern !== undefined ? longestOf : 1;
    return new Fresh((draw, { fresh }) => {
      let value = longest(values, draw, count);
      for (let again = 0; again < anewMost && fresh.holds(value); again++) value = longest(values, draw, count);
      return value;
    });
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}

/** What is reckoned of a shape is so for each value that is drawn of it. */
function once<T>(known: WeakMap<Shape, { readonly of: T }>, shape: Shape, reckon: (shape: Shape) => T): T {
  const found = known.get(shape) ?? { of: reckon(shape) };
  known.set(shape, found);
  return found.of;
}

const prefixOf = new WeakMap<Shape, { readonly of: string | undefined }>();
const drawnOf = new WeakMap<Shape, { readonly of: ReturnType<typeof arbitraryValuesOf> }>();
const rooms = new WeakMap<Shape, { readonly of: number }>();

/** Of so many whole numbers and fewer one comes twice before long where they are drawn: each is taken in its turn. */
const countedMost = 100_000;

const turns = new WeakMap<Shape, number>();

/** Whole numbers between narrow bounds, one after the other, from one that is drawn; nothing for other shapes. */
function countedFrom(shape: Shape): Fresh | undefined {
  if (shape.type !== 'integer' || shape.enum !== undefined || shape.const !== undefined) return undefined;
  const { min, max, step } = boundsOf(shape, 'integer');
  const first = Math.ceil(min / step);
  const count = Math.floor(max / step) - first + 1;
  if (!(count > 0 && count <= countedMost)) return undefined;
  return new Fresh((draw) => {
    const turn = turns.get(shape) ?? Buffer.from(draw.bytes(4)).readUInt32BE() % count;
    turns.set(shape, (turn + 1) % count);
    return (first + turn) * step;
  });
}

/** How many values of a shape there are, as far as that is plain: who has to choose one that is new chooses among the most. */
export function roomOf(shape: Shape): number {
  return once(rooms, shape, roomIn);
}

function roomIn(shape: Shape): number {
  if (shape.const !== undefined) return 1;
  if (Array.isArray(shape.enum)) return shape.enum.length;
  if (shape.type === 'boolean') return 2;
  if (typeof shape.pattern === 'string') return textsOf(shape.pattern);
  if (shape.type !== 'integer') return Number.POSITIVE_INFINITY;
  const { min, max, step } = boundsOf(shape, 'integer');
  return (max - min) / step + 1;
}

/** So many values that are drawn of a shape have to differ for one to tell a row from all others. */
const apartLeast = 200;

const telling = new WeakMap<Shape, boolean>();

/** Whether a value that is drawn anew tells a row from all that there may be: one of few, such as a word of an enumeration, does not. */
export function tellsApart(spec: Spec, shape: Shape): boolean {
  const known = telling.get(shape) ?? hasMany(spec, shape);
  telling.set(shape, known);
  return known;
}

function hasMany(spec: Spec, shape: Shape): boolean {
  if (shape.enum !== undefined || shape.const !== undefined || shape.type === 'boolean') return false;
  const fresh = freshOf(spec, shape);
  if (!fresh || fresh.prefix !== undefined) return fresh !== undefined;
  const draw = runDraw();
  const drawn = Array.from({ length: apartLeast }, () => fresh.make(draw, { results: [], fresh: new DrawnValues(), draw }));
  return new Set(drawn.map((value) => JSON.stringify(value))).size === apartLeast;
}

function isEmail(format: unknown): boolean {
  return (formatNamed(format)?.covers ?? format) === 'email';
}

function longest(values: Parameters<typeof fc.sample>[0], draw: Draw, count: number): Json {
  // The cast holds: what is drawn of a shape without references is JSON.
  const drawn = fc.sample(values, { seed: Buffer.from(draw.bytes(4)).readInt32BE(), numRuns: count }) as Json[];
  return drawn.reduce((one, other) => (asText(other).length > asText(one).length ? other : one), drawn[0] ?? null);
}

const prefixes = ['nf-', 'nf_', 'nf.', 'nf'] as const;
/** What may follow a prefix: letters alone, digits alone, both, the same one again. */
const tokens = [
  'abcdefghij',
  '0123456789',
  'a0b1c2d3e4',
  '9z8y7x6w5v',
  'zzzzzzzzzz',
  '0000000000',
  '1a1a1a1aaa',
  'klmnopqrst',
] as const;

/** What a text of the usual form begins with that a pattern admits, whatever letters and digits follow. */
function prefixFor({ pattern, minLength, maxLength }: Shape): string | undefined {
  const compiled = typeof pattern === 'string' ? compilePattern(pattern) : undefined;
  return prefixes.find((prefix) => {
    const length = prefix.length + 10;
    const isWithin =
      !(typeof minLength === 'number' && length < minLength) && !(typeof maxLength === 'number' && length > maxLength);
    return isWithin && tokens.every((token) => compiled?.test(`${prefix}${token}`) === true);
  });
}

/** Everything that a case draws, made of a seed and the case's name, so that the same comes again whatever ran before. */
export class Draws {
  readonly #seed: string;
  #drawn = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** One value. */
  value<T>(arbitrary: fc.Arbitrary<T>): T {
    return this.values(arbitrary, 1)[0] as T;
  }

  values<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
    return fc.sample(arbitrary, { seed: this.#next(), numRuns: count });
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items.length === 0 ? undefined : items[this.whole(items.length)];
  }

  /** A whole number from 0 on, below this. */
  whole(below: number): number {
    return (this.#next() >>> 0) % below;
  }

  #next(): number {
    this.#drawn += 1;
    return numberOf(`${this.#seed}\n${this.#drawn}`);
  }
}

/** A number of 32 bits from a text, always the same. */
function numberOf(text: string): number {
  return hash('sha256', text, 'buffer').readInt32BE(0);
}

/** What is new in one run: never the same twice, and drawn from the machine's own chance. */
export function runDraw(): Draw {
  return {
    nowMs: Date.now(),
    bytes: chanceBytes,
    uuid: () => crypto.randomUUID(),
  };
}

/** So many bytes are drawn from the machine at once. */
const drawnAtOnce = 4_096;
let drawn = new Uint8Array(0);

/** Bytes that nobody was given before: asking the machine for a few costs as much as for many. */
function chanceBytes(length: number): Uint8Array {
  if (drawn.length < length) drawn = crypto.getRandomValues(new Uint8Array(Math.max(length, drawnAtOnce)));
  const given = drawn.slice(0, length);
  drawn = drawn.subarray(length);
  return given;
}
