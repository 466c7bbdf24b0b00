import fc from 'fast-check';
import type { Json } from '../../src/document/document.ts';

/** Draws one value of an arbitrary inside a property; what is drawn is shrunk. */
export type Draw = fc.GeneratorValue;

/** A JSON value as it is sent: integers past 2^53 are BigInts. */
export type Value = unknown;

/** One sort of field: its shape, values that fit it and values that do not, and how a list compares them. */
export interface Kind {
  readonly shape: Json;
  readonly valid: (draw: Draw) => Value;
  readonly wrong: (draw: Draw) => Value;
  /** What a list compares: numbers and BigInts by size, texts by code point. Nothing = it cannot be filtered by. */
  readonly rank?: (value: Value) => number | bigint | string;
  /** Whether order is stated for it, besides equality. */
  readonly isOrdered?: boolean;
}

/** One of several values. */
export function pick<T>(draw: Draw, values: readonly T[]): T {
  return values[draw(fc.nat, { max: values.length - 1 })] as T;
}

const text = (options: fc.StringConstraints) => fc.string({ unit: 'grapheme', maxLength: 12, ...options });
const words = [
  '',
  ' ',
  'a',
  'A',
  'ä',
  '\u0000',
  '%',
  '_',
  "'",
  '"',
  '\\',
  '/',
  '..',
  'null',
  '1',
  '__proto__',
  '\u{1F600}',
  'e\u0301',
];
const notText: readonly Value[] = [1, true, [], {}, ['a']];
const notNumber: readonly Value[] = ['1', true, [], {}, ''];

const plainText: () => Kind = () => ({
  shape: 'string',
  valid: (draw) => (draw(fc.boolean) ? pick(draw, words) : draw(text, {})),
  wrong: (draw) => pick(draw, notText),
  rank: String,
  isOrdered: true,
});

const boundedText = (draw: Draw): Kind => {
  const least = draw(fc.nat, { max: 3 });
  const most = least + draw(fc.nat, { max: 6 });
  return {
    shape: { type: 'string', minLength: least, maxLength: most },
    valid: (next) => next(fc.string, { minLength: least, maxLength: most }),
    wrong: (next) => (next(fc.boolean) ? 'x'.repeat(most + 1) : pick(next, notText)),
    rank: String,
    isOrdered: true,
  };
};

const patternedText: () => Kind = () => ({
  shape: { type: 'string', pattern: '^[a-z]{1,4}$' },
  valid: (draw) => draw(fc.stringMatching, /^[a-z]{1,4}$/),
  wrong: (draw) => pick<Value>(draw, ['', 'A', 'abcde', 'a b', 1]),
  rank: String,
  isOrdered: true,
});

const boundedInteger = (draw: Draw): Kind => {
  const least = draw(fc.integer, { min: -1000, max: 1000 });
  const most = least + draw(fc.nat, { max: 20 });
  return {
    shape: { type: 'integer', minimum: least, maximum: most },
    valid: (next) => next(fc.integer, { min: least, max: most }),
    wrong: (next) => (next(fc.boolean) ? most + 1 : pick(next, notNumber)),
    rank: Number,
    isOrdered: true,
  };
};

const longInteger: () => Kind = () => ({
  shape: { type: 'integer', format: 'int64' },
  valid: (draw) => draw(fc.bigInt, { min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  wrong: (draw) => pick<Value>(draw, [2n ** 63n, '1', 1.5]),
  rank: (value) => BigInt(value as number | bigint),
  isOrdered: true,
});

const anyInteger: () => Kind = () => ({
  shape: 'integer',
  valid: (draw) => (draw(fc.boolean) ? draw(fc.integer) : draw(fc.bigInt, { min: -(2n ** 62n), max: 2n ** 62n })),
  wrong: (draw) => pick(draw, notNumber),
  rank: (value) => BigInt(value as number | bigint),
  isOrdered: true,
});

const anyNumber: () => Kind = () => ({
  shape: 'number',
  valid: (draw) => draw(fc.double, { noNaN: true, noDefaultInfinity: true }),
  wrong: (draw) => pick(draw, notNumber),
  rank: Number,
  isOrdered: true,
});

const flag: () => Kind = () => ({
  shape: 'boolean',
  valid: (draw) => draw(fc.boolean),
  wrong: (draw) => pick<Value>(draw, [0, 'true', []]),
  rank: String,
});

const instant: () => Kind = () => ({
  shape: { type: 'string', format: 'date-time' },
  valid: (draw) => {
    const date = draw(fc.date, {
      min: new Date('1800-01-01T00:00:00Z'),
      max: new Date('2200-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    const iso = date.toISOString();
    return pick(draw, [iso, iso.replace('Z', '+00:00'), iso.replace('Z', '-05:30'), iso.replace(/\.\d+Z$/, 'Z')]);
  },
  wrong: (draw) => pick<Value>(draw, ['2026-01-01', '2026-02-30T00:00:00Z', 'now', 1]),
  rank: (value) => Date.parse(String(value)),
  isOrdered: true,
});

const day: () => Kind = () => ({
  shape: { type: 'string', format: 'date' },
  valid: (draw) => pick<Value>(draw, ['2024-02-29', '1999-12-31', '2026-06-01', '0001-01-01']),
  wrong: (draw) => pick<Value>(draw, ['2023-02-29', '1-1-1', 20260101]),
  rank: String,
  isOrdered: true,
});

const money: () => Kind = () => ({
  shape: { type: 'string', format: 'decimal' },
  valid: (draw) => pick<Value>(draw, ['0', '0.10', '0.1', '-12.5', '1000000', '99.99']),
  wrong: (draw) => pick<Value>(draw, ['1,5', '', 'x', 1.5]),
  rank: Number,
  isOrdered: true,
});

const choice: () => Kind = () => ({
  shape: { enum: ['red', 'green', 'none', 'any', 'null'] },
  valid: (draw) => pick<Value>(draw, ['red', 'green', 'none', 'any', 'null']),
  wrong: (draw) => pick<Value>(draw, ['RED', 'blue', 1, ['red']]),
  rank: String,
});

const scalars = [
  plainText,
  boundedText,
  patternedText,
  boundedInteger,
  longInteger,
  anyInteger,
  anyNumber,
  flag,
  instant,
  day,
  money,
  choice,
];

const list = (draw: Draw): Kind => {
  const item = scalarKind(draw);
  return {
    shape: { type: 'array', items: shapeOf(item), maxItems: 4 },
    valid: (next) => Array.from({ length: next(fc.nat, { max: 4 }) }, () => item.valid(next)),
    wrong: (next) => (next(fc.boolean) ? [item.wrong(next)] : 'a'),
  };
};

const inline = (draw: Draw): Kind => {
  const one = scalarKind(draw);
  const two = scalarKind(draw);
  return {
    shape: {
      type: 'object',
      properties: { one: shapeOf(one), two: shapeOf(two) },
      required: ['one'],
      additionalProperties: false,
    },
    valid: (next) => ({ one: one.valid(next), ...(next(fc.boolean) && { two: two.valid(next) }) }),
    wrong: (next) => (next(fc.boolean) ? { one: one.wrong(next) } : { one: one.valid(next), three: 1 }),
  };
};

const point: () => Kind = () => ({
  shape: 'point',
  valid: (draw) => ({
    x: draw(fc.integer, { min: -9, max: 9 }),
    ...(draw(fc.boolean) && { y: draw(fc.integer, { min: -9, max: 9 }) }),
  }),
  wrong: (draw) => pick<Value>(draw, [{}, { x: 'a' }, { x: 1, z: 1 }, [], 1]),
});

const union: () => Kind = () => ({
  shape: { oneOf: ['circle', 'square'] },
  valid: (draw) =>
    draw(fc.boolean)
      ? { kind: 'circle', radius: draw(fc.integer, { min: 0, max: 9 }) }
      : { kind: 'square', side: draw(fc.integer, { min: 0, max: 9 }) },
  wrong: (draw) => pick<Value>(draw, [{}, { kind: 'circle', side: 1 }, { kind: 'line' }, { radius: 1 }, null, 1]),
});

const anything: () => Kind = () => ({
  shape: { type: 'object' },
  valid: (draw) => draw(fc.dictionary, fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
  wrong: (draw) => pick<Value>(draw, [[], 1, 'a']),
});

const nullable = (draw: Draw): Kind => {
  const inner = pick(draw, [plainText, anyInteger, anyNumber])();
  return {
    shape: `${String(inner.shape)}?`,
    valid: (next) => (next(fc.boolean) ? null : inner.valid(next)),
    wrong: inner.wrong,
  };
};

/** What kinds like `point` are made of: resources that are values. */
export const valueResources: Readonly<Record<string, Json>> = {
  point: { identifier: 'none', fields: { x: 'integer', y: 'integer' }, required: ['x'] },
  circle: { identifier: 'none', fields: { kind: { const: 'circle' }, radius: 'integer' }, required: ['kind', 'radius'] },
  square: { identifier: 'none', fields: { kind: { const: 'square' }, side: 'integer' }, required: ['kind', 'side'] },
};

export function scalarKind(draw: Draw): Kind {
  return pick(draw, scalars)(draw);
}

export function anyKind(draw: Draw): Kind {
  const isScalar = draw(fc.nat, { max: 2 }) > 0;
  return isScalar ? scalarKind(draw) : pick(draw, [list, inline, point, union, anything, nullable])(draw);
}

function shapeOf({ shape }: Kind): Json {
  return shape;
}
