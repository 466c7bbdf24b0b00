import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formats } from '../src/kinds/formats/all.ts';
import { createValidator } from '../src/serve/http/ajv.ts';

const validator = createValidator();
const passes = (format: string, value: unknown) => validator.compile({ format })(value).length === 0;

describe('every format of ours', () => {
  for (const { word: name, type, meaning, example, test: fits } of formats) {
    test(`${name} says what it is and knows its example`, () => {
      assert.equal(typeof example, type);
      assert.ok(fits(example) && passes(name, example));
      assert.notEqual(meaning, '');
    });
  }
  test('has a name of its own', () => assert.equal(new Set(formats.map(({ word }) => word)).size, formats.length));
});

describe('a format asks for', () => {
  for (const [format, right, wrong] of [
    [
      'ulid',
      ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '01arz3ndektsv4rrffq69g5fav'],
      ['', '81ARZ3NDEKTSV4RRFFQ69G5FAV', '01ARZ3NDEKTSV4RRFFQ69G5FAI', '01ARZ3NDEKTSV4RRFFQ69G5FA'],
    ],
    ['int32', [0, -2147483648, 2147483647], [2147483648, -2147483649, 0.5]],
    ['int64', [0, 2 ** 53, 9223372036854775807n], [0.5, 2 ** 63, 9223372036854775808n]],
    ['decimal', ['0', '-1.50', '123456789012345678901234567890.5'], ['', '.5', '1.', '01', '+1', '1e3', '1,5']],
    ['unix-time', [0, -1, 1767225600.5], [1767225600000000, 9007199254740993n]],
    ['currency', ['EUR', 'USD', 'JPY'], ['eur', 'EU', 'XYZ', '', '__proto__']],
    ['country', ['DE', 'US', 'GB', 'XK'], ['de', 'ZZ', 'EU', 'SU', 'UK', 'DEU', '']],
    ['phone', ['+4930901820'], ['4930901820', '+0123456789', '+49 30 90', '+1234567890123456', '+']],
    ['timezone', ['Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Asia/Calcutta'], ['', '+01:00', 'Mars/Base', 'Europe/', 'UTC\n']],
    [
      'date-time',
      ['2026-01-31T12:00:00Z', '2024-02-29t23:59:59.123456789+23:59', '2016-12-31T23:59:60Z', '2016-12-31T18:59:60-05:00'],
      [
        '2026-02-29T12:00:00Z',
        '2026-01-31 12:00:00Z',
        '2026-01-31T12:00:00',
        '2026-01-31T24:00:00Z',
        '2026-01-31T12:00:00+01',
        '2026-01-31T12:00:00.Z',
        '2026-01-31T12:00:60Z',
        '2026-13-01T00:00:00Z',
        '２026-01-31T12:00:00Z',
        '',
      ],
    ],
    ['time', ['12:00:00Z', '12:00:00.5+01:00'], ['12:00:00', '12:00:00+01', '25:00:00Z']],
    ['date', ['2026-01-31'], ['2026-02-30', '31.1.2026']],
    ['idn-email', ['jörg@example.com', 'a@ü'], ['a', '@b', 'a@', 'a b@c', 'a@b@c', `a@${'b'.repeat(300)}`]],
    ['idn-hostname', ['müller.example', '例え.jp', 'xn--mller-kva.example'], ['', '-a', 'a-', 'a..b', 'a_b', 'x'.repeat(64)]],
    [
      'iri',
      ['https://müller.example/ß?q=ü#ä', 'mailto:a@b', 'http://[::1]:80/'],
      ['', '/a', 'http://a b', 'http://a/%zz', 'a:b#c#d', 'a:<'],
    ],
    ['iri-reference', ['', '/ß', '#ä', '../a', 'a:b'], ['1:2', 'a b', '#a#b', '%']],
    ['uuid', ['2f1a9d30-5b1e-4c5e-8f42-0a3f1c9d7e11'], ['2f1a9d30']],
    ['uri', ['https://a.example/b?c#d'], ['a', 'http://ü']],
    ['hostname', ['a.example'], ['-a', 'a b']],
    ['regex', ['^a+$'], ['(']],
    ['json-pointer', ['/a~1b'], ['a', '/~2']],
    ['duration', ['P1DT2H'], ['P', '1D']],
    ['ipv4', ['127.0.0.1'], ['256.0.0.1', '1.2.3']],
  ] as const) {
    test(format, () => {
      for (const value of right) assert.ok(passes(format, value), `${value}`);
      for (const value of wrong) assert.ok(!passes(format, value), `${value}`);
    });
  }
});

test('no format takes time out of proportion to a long text', () => {
  const beginnings = ['', 'http://', 'a@', '/', 'P', '2026-01-31T12:00:00.', '{', 'a:'];
  const repeated = ['a', 'a-', 'a.', '1', '%41', '0:', '/', 'é', '[', '::', ' ', '+', '{a}'];
  const names = [
    ...formats.filter(({ type }) => type === 'string').map(({ word }) => word),
    'email',
    'uri',
    'uri-reference',
    'url',
    'hostname',
    'ipv6',
    'uri-template',
    'regex',
    'duration',
    'time',
  ];
  for (const name of names) {
    const validate = validator.compile({ format: name });
    // What is quadratic here would take hours, so that the test never ends rather than measures.
    for (const beginning of beginnings)
      for (const part of repeated)
        for (const end of ['', '!', '\n']) validate(beginning + part.repeat(100_000 / part.length) + end);
  }
});
