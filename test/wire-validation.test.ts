import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createValidator } from '../src/serve/http/ajv.ts';
import { parseJson } from '../src/serve/http/json.ts';
import type { Schema } from '../src/serve/http/schema.ts';
import { WireFile } from '../src/serve/http/violation.ts';

const shared: Record<string, Schema> = {
  card: {
    type: 'object',
    required: ['kind', 'number'],
    properties: { kind: { const: 'card' }, number: { type: 'string', minLength: 4 } },
  },
  node: { type: 'object', properties: { v: { type: 'integer' }, next: { $ref: 'node' } }, additionalProperties: false },
};
const validator = createValidator({ shared });

/** What is wrong, one line each. */
function wrong(schema: Schema | boolean, value: unknown): string[] {
  return validator
    .compile(schema)(value)
    .map(({ path, found, expected }) => `${path}: ${found} -> ${expected}`);
}

const pay: Schema = {
  oneOf: [
    { $ref: 'card' },
    {
      type: 'object',
      required: ['kind', 'iban'],
      properties: { kind: { const: 'bank' }, iban: { type: 'string' }, b: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    },
    { type: 'null' },
  ],
};

describe('a violation says what is wrong in clear words', () => {
  for (const [schema, value, lines] of [
    [{ type: 'string' }, 5, [': 5 -> a string']],
    [{ type: ['integer', 'null'] }, 'x', [': "x" -> an integer or null']],
    [{ type: 'string' }, { a: 1 }, [': an object -> a string']],
    [{ type: 'object' }, [1, 2], [': a list of 2 -> an object']],
    [{ type: 'integer' }, 'x'.repeat(99), [`: "${'x'.repeat(64)}…" -> an integer`]],
    [{ type: 'string', maxLength: 2 }, 'abc', [': 3 characters -> a string of at most 2 characters']],
    [{ type: 'string', maxLength: 2 }, '😀😀', []],
    [{ type: 'string', minLength: 1 }, '', [': 0 characters -> a string of at least 1 character']],
    [{ type: 'string', maxLength: 2, pattern: '^a$' }, 'bbbbb', [': 5 characters -> a string of at most 2 characters']],
    [{ type: 'string', pattern: '^a$' }, 'b', [': "b" -> a string that matches ^a$']],
    [{ type: 'string', pattern: '^\\-$' }, '-', []],
    [{ enum: ['standard', 'express'] }, 'slow', [': "slow" -> one of standard, express']],
    [{ enum: [{ a: [1] }] }, { a: [1] }, []],
    [{ const: 5 }, 6, [': 6 -> exactly 5']],
    [{ type: 'integer', minimum: 1 }, 0, [': 0 -> at least 1']],
    [{ exclusiveMaximum: 1 }, 1, [': 1 -> less than 1']],
    [{ multipleOf: 0.5 }, 0.7, [': 0.7 -> a multiple of 0.5']],
    [{ type: 'string', format: 'date-time' }, 'now', [': "now" -> a date and time such as 2026-01-31T12:00:00Z']],
    [{ type: 'string', format: 'email' }, 'x', [': "x" -> a mail address']],
    [{ format: 'email' }, 5, []],
    [{ type: 'object', required: ['a/b'], properties: { 'a/b': { type: 'integer' } } }, {}, ['/a~1b: nothing -> an integer']],
    [
      { type: 'object', properties: {}, additionalProperties: false },
      { 'x~': 1 },
      ['/x~0: a field that is not stated -> no such field'],
    ],
    [
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { b: 1 },
      ['/b: a field that is not stated -> no such field'],
    ],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['/b: nothing -> a value']],
    [
      { type: 'array', minItems: 2, items: { type: 'integer' } },
      ['x'],
      [': a list of 1 -> at least 2 items', '/0: "x" -> an integer'],
    ],
    [{ type: 'array', uniqueItems: true }, [1, 2, 1], [': items 0 and 2 alike -> items that differ']],
    [{ contains: { type: 'string' } }, [1, 2], [': a list of 2 -> an item that is a string']],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, ['/ab: the name "ab" -> a name that is a string of at most 1 character']],
    [{ minProperties: 1 }, {}, [': 0 fields -> at least 1 field']],
    [{ not: { type: 'string' } }, 'x', [': "x" -> anything but a string']],
    [JSON.parse('{"if":{"type":"string"},"then":{"minLength":2}}'), 'x', [': 1 character -> a string of at least 2 characters']],
    [false, 1, [': 1 -> nothing']],
    [{ type: 'string', writeOnly: true, pattern: '^x$' }, 'secret', [': a string -> a string that matches ^x$']],
    [
      { $ref: 'node' },
      { v: 1, next: { v: '2', next: { x: 1 } } },
      ['/next/v: "2" -> an integer', '/next/next/x: a field that is not stated -> no such field'],
    ],
    [{ allOf: [{ minimum: 5 }, { minimum: 5 }] }, 1, [': 1 -> at least 5']],
    [
      {
        $id: 'urn:x',
        $schema: 'http://json-schema.org/draft-07/schema#',
        id: 'y',
        $async: true,
        type: 'string',
        example: 1,
        ref: 'x',
      },
      5,
      [': 5 -> a string'],
    ],
  ] as [Schema | boolean, unknown, string[]][]) {
    test(`${JSON.stringify(schema).slice(0, 70)} <- ${JSON.stringify(value).slice(0, 30)}`, () =>
      assert.deepEqual(wrong(schema, value), lines));
  }

  test('at most fifty times', () => {
    const values = Array.from({ length: 500 }, () => 'x');
    assert.equal(validator.compile({ items: { type: 'integer' } })(values).length, 50);
  });
  test('and the same empty list where nothing is wrong', () => {
    const validate = validator.compile({ type: 'string' });
    assert.equal(validate('a'), validate('b'));
  });
});

describe('of a union, the branch that was meant is told', () => {
  const schema: Schema = { type: 'object', properties: { pay, z: { type: 'integer' } }, required: ['pay'] };
  for (const [value, lines] of [
    [{ pay: { kind: 'card', number: '1' } }, ['/pay/number: 1 character -> a string of at least 4 characters']],
    [{ pay: { kind: 'bank' } }, ['/pay/iban: nothing -> a string']],
    [{ pay: { kind: 'bank', iban: 'x', b: 'y' } }, ['/pay/b: "y" -> an integer or null']],
    [{ pay: { kind: 'cash' } }, ['/pay/kind: "cash" -> one of card, bank']],
    [{ pay: {} }, ['/pay/kind: nothing -> one of card, bank']],
    [{ pay: 5, z: 'x' }, ['/pay: 5 -> a card or an object or null', '/z: "x" -> an integer']],
    [{ pay: null }, []],
    [{}, ['/pay: nothing -> a value']],
  ] as const) {
    test(JSON.stringify(value), () => assert.deepEqual(wrong(schema, value), lines));
  }
  test('where two fit, that one is wanted', () => {
    assert.deepEqual(wrong({ oneOf: [{ type: 'string' }, { minLength: 2 }, { type: 'null' }] }, 'abc'), [
      ': a value that fits 2 of them -> exactly one of the stated forms',
    ]);
  });
  test('the errors around it stay', () => {
    assert.deepEqual(
      wrong({ required: ['a'], minProperties: 2, anyOf: [{ required: ['x', 'y'] }, { required: ['z'] }] }, { b: 1 }),
      ['/z: nothing -> a value', ': 1 field -> at least 2 fields', '/a: nothing -> a value'],
    );
  });
});

describe('an integer past 2^53 is an integer, kept exactly', () => {
  const int64: Schema = { type: 'integer', format: 'int64' };
  for (const [schema, value, lines] of [
    [int64, 9223372036854775807n, []],
    [int64, 9223372036854775808n, [': 9223372036854775808 -> an integer of 64 bits']],
    [int64, -9223372036854775808n, []],
    [{ type: 'integer', format: 'int32' }, 9007199254740993n, [': 9007199254740993 -> an integer of 32 bits']],
    [{ type: 'number' }, 9007199254740993n, []],
    [{ type: ['integer', 'null'] }, 9007199254740993n, []],
    [{ type: 'string' }, 9007199254740993n, [': 9007199254740993 -> a string']],
    [{ type: 'integer', minimum: 1, maximum: 30000 }, 9007199254740993n, [': 9007199254740993 -> at most 30000']],
    [{ maximum: 9007199254740992 }, 9007199254740993n, [': 9007199254740993 -> at most 9007199254740992']],
    [{ minimum: 0 }, -9007199254740993n, [': -9007199254740993 -> at least 0']],
    [{ maximum: 9223372036854775807n }, 9223372036854775807n, []],
    [{ maximum: 9223372036854775807n }, 5, []],
    [{ type: 'integer', multipleOf: 10 }, 9007199254740993n, [': 9007199254740993 -> a multiple of 10']],
    [{ type: 'integer', multipleOf: 0.25 }, 9007199254740993n, []],
    [{ type: 'integer', multipleOf: 1e21 }, 3000000000000000000000n, []],
    [{ enum: [1, 9007199254740993n] }, 9007199254740993n, []],
    [{ enum: [9007199254740992] }, 9007199254740993n, [': 9007199254740993 -> exactly 9007199254740992']],
    [{ const: 9007199254740993n }, 9007199254740993n, []],
    [{ not: { type: 'integer' } }, 9007199254740993n, [': 9007199254740993 -> anything but an integer']],
    [
      { oneOf: [{ type: 'integer' }, {}] },
      9007199254740993n,
      [': a value that fits 2 of them -> exactly one of the stated forms'],
    ],
    [{ $ref: 'node' }, { v: 9007199254740993n, next: { v: 'x' } }, ['/next/v: "x" -> an integer']],
  ] as const) {
    const name = JSON.stringify(schema, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
    test(`${name} <- ${String(value)}`, () => assert.deepEqual(wrong(schema as Schema, value), lines));
  }
});

describe('what a validator takes besides', () => {
  test('files and strings stand where a shape says binary', () => {
    const schema: Schema = { type: 'object', properties: { f: { type: 'string', format: 'binary', maxLength: 2 } } };
    assert.deepEqual(wrong(schema, { f: new WireFile('a', 'b', Buffer.from('ab')) }), []);
    assert.deepEqual(wrong(schema, { f: new WireFile('a', 'b', Buffer.from('abc')) }), [
      '/f: a file of 3 bytes -> bytes, at most 2 bytes',
    ]);
    assert.deepEqual(wrong(schema, { f: 'ab' }), []);
    assert.deepEqual(wrong(schema, { f: 5 }), ['/f: 5 -> bytes, at most 2 bytes']);
    assert.deepEqual(wrong({ type: ['string', 'null'], format: 'binary' }, null), []);
    // Were its bytes walked one by one, this would not end in time.
    const large = { f: new WireFile('a', 'b', Buffer.alloc(50_000_000)), n: 5n };
    assert.deepEqual(wrong({ properties: { f: { not: { type: 'null' } }, n: { type: 'string' } } }, large), [
      '/n: 5 -> a string',
    ]);
  });
  test('an unknown format constrains nothing and is told once', () => {
    const told: string[] = [];
    const { compile } = createValidator({ onUnknownFormat: (format) => told.push(format) });
    const validate = compile({ items: { format: 'shoe-size' }, contains: { format: 'shoe-size' } });
    assert.deepEqual(told, []);
    assert.deepEqual(validate(['x', 9007199254740993n]), []);
    assert.deepEqual(told, ['shoe-size']);
  });
  test('names that every object inherits are only names', () => {
    const schema: Schema = {
      type: 'object',
      properties: { constructor: { type: 'string' }, toString: { type: 'integer' } },
      required: ['constructor', 'valueOf'],
      additionalProperties: false,
    };
    assert.deepEqual(wrong(schema, { toString: 1 }), ['/constructor: nothing -> a string', '/valueOf: nothing -> a value']);
    assert.deepEqual(
      wrong({ type: 'object', properties: { a: true }, additionalProperties: false }, JSON.parse('{"__proto__":{"a":1}}')),
      ['/__proto__: a field that is not stated -> no such field'],
    );
  });
  test('members named like methods are compared as any other', () => {
    const body: unknown = JSON.parse('[{"valueOf":1},{"toString":2},{"valueOf":1}]');
    assert.deepEqual(wrong({ uniqueItems: true }, body), [': items 0 and 2 alike -> items that differ']);
    assert.deepEqual(wrong({ items: { enum: [{ valueOf: 1 }, { toString: 2 }] } }, body), []);
    assert.deepEqual(wrong({ items: { const: {} } }, [JSON.parse('{"valueOf":1}')]), ['/0: an object -> exactly an object']);
    assert.deepEqual(wrong({ uniqueItems: true }, [1, '1', [1], [[1]], { a: 1, b: 2 }, null, true, 2n, { b: 2, a: 1 }]), [
      ': items 4 and 8 alike -> items that differ',
    ]);
  });
  test('long lists of objects are compared in proportion to their length', () => {
    const items = Array.from({ length: 200_000 }, (_, i) => ({ i }));
    assert.deepEqual(wrong({ uniqueItems: true }, items), []);
  });
  test('schemas without a prototype', () => {
    const bare = (object: object): Schema => Object.assign(Object.create(null), object);
    assert.deepEqual(wrong(bare({ properties: bare({ a: bare({ enum: [bare({ x: 1 })] }) }) }), { a: { x: 1 } }), []);
  });
  test('parameters are named, and their places asked', () => {
    const schema: Schema = {
      type: 'object',
      properties: { limit: { type: 'integer' }, 'a/b': { type: 'array', items: { type: 'integer' } } },
    };
    const validate = validator.compile(schema, (name) => (name === 'limit' ? 'query' : 'header'));
    assert.deepEqual(validate({ limit: 'x', 'a/b': [1, 'y'] }), [
      { in: 'query', path: 'limit', found: '"x"', expected: 'an integer' },
      { in: 'header', path: 'a/b', found: '"y"', expected: 'an integer' },
    ]);
  });
  test('a schema is compiled at its first use and no earlier', () => {
    const validate = validator.compile({ $ref: 'nowhere' });
    assert.throws(() => validate(1));
  });
});

describe('properties', () => {
  test('any JSON against any of these schemas is judged without a throw, BigInts as their text says', () => {
    const validates = [
      pay,
      { $ref: 'node' },
      { anyOf: [pay, { $ref: 'card' }] },
      { contains: pay },
      { not: pay },
      { items: pay, uniqueItems: true },
    ].map((schema) => validator.compile(schema));
    const leaf = fc.oneof(
      fc.integer(),
      fc.bigInt({ max: 2n ** 70n, min: -(2n ** 70n) }),
      fc.string(),
      fc.constant(null),
      fc.constantFrom('card', 'bank'),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value')),
        fc.dictionary(fc.constantFrom('kind', 'number', 'iban', 'v', 'next', '__proto__'), tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, (one) => {
        for (const validate of validates) assert.ok(validate(one).length <= 50);
      }),
    );
  });
  test('a small integer is judged the same as a BigInt of its value', () => {
    const keyword = fc.constantFrom('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'const');
    fc.assert(
      fc.property(
        keyword,
        fc.integer({ min: -9, max: 9 }),
        fc.integer({ min: -9, max: 9 }),
        fc.integer({ min: 1, max: 5 }),
        (word, bound, value, factor) => {
          const validate = validator.compile({ type: 'integer', [word]: bound, multipleOf: factor / 2 });
          assert.equal(validate(value).length, validate(BigInt(value)).length);
        },
      ),
      { numRuns: 50 },
    );
  });
  test('a body of JSON text with an exact integer passes to its validator', () => {
    const parsed = parseJson(Buffer.from('{"v":12345678901234567890}'));
    assert.ok('value' in parsed);
    assert.deepEqual(wrong({ $ref: 'node' }, parsed.value), []);
  });
});
