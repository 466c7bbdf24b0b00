import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseJson, toJson } from '../src/serve/http/json.ts';

function parse(text: string | Uint8Array): unknown {
  const parsed = parseJson(Buffer.from(text));
  return 'value' in parsed ? parsed.value : `!${parsed.problem.found}`;
}

describe('JSON is parsed strictly', () => {
  for (const [text, value] of [
    ['{"a":[1,-2.5e1,true,null,"x"]}', { a: [1, -25, true, null, 'x'] }],
    [' 5 ', 5],
    ['""', ''],
    ['', '!no text'],
    ['  ', '!no text'],
    ['{', '!text that is not JSON, at character 2'],
    ['{"a":1,}', '!text that is not JSON, at character 8'],
    ['NaN', '!text that is not JSON'],
    ['[1e999]', '!a number that is too large'],
    ['[-1e999]', '!a number that is too large'],
    ['9'.repeat(400), '!a number that is too large'],
    ['{"a":1,"b":{"a":2}}', { a: 1, b: { a: 2 } }],
    ['{"a":1,"a":1}', '!the key "a" twice in one object'],
    ['[{"x":{"k":1,"\\u006b":2}}]', '!the key "k" twice in one object'],
    ['{"a:":"{\\"a:\\":1","b":":::"}', { 'a:': '{"a:":1', b: ':::' }],
    ['{"__proto__":1,"__proto__":2}', '!the key "__proto__" twice in one object'],
    ['"\\ud800"', '!half a surrogate pair'],
    ['{"\\uDFFF":1}', '!half a surrogate pair'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\\\ud800"', '\\ud800'],
    ['9007199254740991', 9007199254740991],
    ['[9007199254740993]', [9007199254740993n]],
    [
      '{"a":-12345678901234567890,"b":1.0000000000000000001,"c":"12345678901234567890"}',
      { a: -12345678901234567890n, b: 1, c: '12345678901234567890' },
    ],
    ['\ufeff{}', '!text that is not JSON'],
    [Buffer.from([0x22, 0xff, 0x22]), '!octets that are no UTF-8'],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), '!octets that are no UTF-8'],
    ['['.repeat(64) + ']'.repeat(64), '-'],
    ['['.repeat(65) + ']'.repeat(65), '!more than 64 levels'],
    ['['.repeat(1_000_000), '!more than 64 levels'],
    ['{"a":'.repeat(1_000_000), '!more than 64 levels'],
    [`"${'['.repeat(100)}"`, '['.repeat(100)],
  ] as const) {
    test(String(text).slice(0, 60), () =>
      value === '-' ? assert.ok(Array.isArray(parse(text))) : assert.deepEqual(parse(text), value),
    );
  }

  test('a key __proto__ is an own key', () => {
    const value = parse('{"__proto__":{"admin":true},"constructor":1}');
    assert.deepEqual(Object.keys(Object(value)), ['__proto__', 'constructor']);
    assert.equal(Object(value).admin, undefined);
  });

  test('a twice-stated key is named however long the text is', () => {
    assert.equal(parse(`{"a":"${'\\n'.repeat(2_000_000)}","b":1,"b":2}`), '!the key "b" twice in one object');
  });
});

describe('JSON is written', () => {
  test('with BigInts as integers', () => {
    assert.equal(toJson({ a: [12345678901234567890n, 1], b: undefined }), '{"a":[12345678901234567890,1]}');
    assert.equal(toJson(-1n), '-1');
    assert.equal(toJson(undefined), 'null');
  });
  test('but not what runs in a circle', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    assert.throws(() => toJson(circle));
  });
});

describe('properties', () => {
  test('any bytes are parsed or refused, never thrown at', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => void parse(bytes)));
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\\',
      '\\ud800',
      '1',
      '-',
      'e9',
      '9'.repeat(20),
      'null',
      '"a"',
      '"__proto__"',
      ' ',
    );
    fc.assert(fc.property(fc.array(token), (tokens) => void parse(tokens.join(''))));
  });
  test('what JSON.parse takes and no rule here forbids comes out the same', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, stringUnit: 'grapheme' }), (text) => {
        const value: unknown = JSON.parse(text);
        const seen = parse(text);
        // Integers past 2^53 differ on purpose.
        assert.equal(toJson(seen).replace(/\d{16,}/g, ''), JSON.stringify(value).replace(/\d{16,}/g, ''));
      }),
    );
  });
  test('a value with BigInts goes round', () => {
    const big = fc.oneof(fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }), fc.bigInt({ min: -(2n ** 80n), max: -(2n ** 53n) }));
    const scalar = fc.oneof(big, fc.integer(), fc.boolean(), fc.constant(null), fc.string({ unit: 'grapheme' }));
    const value = fc.oneof(
      scalar,
      fc.array(scalar),
      fc.dictionary(fc.string({ unit: 'grapheme' }), fc.oneof(scalar, fc.array(scalar))),
    );
    fc.assert(fc.property(value, (one) => assert.equal(toJson(parse(toJson(one))), toJson(one))));
  });
});
