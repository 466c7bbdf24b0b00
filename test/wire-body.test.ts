import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type BodyOptions, compileBody } from '../src/serve/http/body.ts';
import { matchesRange, parseMediaType } from '../src/serve/http/media-type.ts';
import { WireFile } from '../src/serve/http/violation.ts';

const form = 'application/x-www-form-urlencoded';
const parcel: BodyOptions = {
  accepted: ['application/json', form, 'multipart/form-data', 'application/merge-patch+json', 'text/*', 'image/png'],
  shape: {
    type: 'object',
    properties: {
      n: { type: 'integer' },
      ok: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      ids: { type: 'array', items: { type: 'integer' } },
      to: { type: 'object', properties: { zip: { type: 'integer' }, lines: { type: 'array', items: { type: 'string' } } } },
      items: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' }, n: { type: 'integer' } } } },
      map: { type: 'object', additionalProperties: { type: 'integer' } },
    },
  },
};

/** The value as plain objects, or `kind: what was found`. */
function decode(text: string | Buffer, type: string | undefined, options: BodyOptions = parcel, coding?: string): unknown {
  const decoded = compileBody(options)(Buffer.from(text), type, coding);
  if (decoded.kind === 'value') return simple(decoded.value);
  return decoded.violations.map(({ path, found }) => `${decoded.kind} ${path}: ${found}`).join('; ');
}

function simple(value: unknown): unknown {
  if (value instanceof WireFile) return [value.filename, value.type, Buffer.from(value.bytes).toString('latin1')];
  if (Array.isArray(value)) return value.map(simple);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, simple(part)]));
}

describe('a body is read by its type', () => {
  for (const [text, type, value] of [
    ['{"n":1}', 'application/json', { n: 1 }],
    ['{"n":1}', 'Application/JSON; charset="UTF-8"', { n: 1 }],
    ['{"n":null}', 'application/merge-patch+json', { n: null }],
    ['{}', 'application/json; charset=latin1', 'media : the charset latin1'],
    ['{}', 'application/problem+json', 'media : application/problem+json'],
    ['{}', undefined, 'untyped : no Content-Type'],
    ['', undefined, 'missing : no body'],
    ['', 'application/json', 'missing : no body'],
    ['{"a":1,"a":2}', 'application/json', 'malformed : the key "a" twice in one object'],
    ['{}', 'nonsense', 'media : nonsense'],
    ['{}', 'application/json; charset', 'media : application/json; charset'],
    ['{}', 'application/json; a=1; a=2', 'media : application/json; a=1; a=2'],
    ['{}', 'x'.repeat(100), `media : ${'x'.repeat(64)}…`],
    ['grüße', 'text/plain; charset=utf-8', 'grüße'],
    [Buffer.from('gr\xfc\xdfe', 'latin1'), 'text/plain; charset=ISO-8859-1', 'grüße'],
    [Buffer.from([0xff]), 'text/plain', 'malformed : octets that are no UTF-8'],
    ['x', 'text/plain; charset=klingon', 'media : the charset klingon'],
    ['', 'text/plain', ''],
    ['x', 'image/png', [undefined, 'image/png', 'x']],
    ['x', 'image/gif', 'media : image/gif'],
  ] as const) {
    test(`${type?.slice(0, 60)} ${String(text).slice(0, 30)}`, () => assert.deepEqual(decode(text, type), value));
  }

  test('a text is coerced by its shape', () =>
    assert.equal(decode('5', 'text/plain', { accepted: ['text/plain'], shape: { type: 'integer' } }), 5));
  test('a text that is the JSON of a map or a list is that, where no text may stand', () => {
    assert.deepEqual(decode('to={"zip":1,"lines":["a"]}&ids=[1,2]&items={"sku":"x"}', form), {
      to: { zip: 1, lines: ['a'] },
      ids: [1, 2],
      items: [{ sku: 'x' }],
    });
    assert.deepEqual(decode('tags=["a"]&to={zip', form), { tags: ['["a"]'], to: '{zip' });
    assert.equal(decode('to={"zip":1}&to={"zip":2}', form), 'malformed /to: 2 values');
  });
  test('a coding other than identity is not taken', () => {
    assert.equal(decode('{}', 'application/json', parcel, 'gzip'), 'media : the coding gzip');
    assert.deepEqual(decode('{}', 'application/json', parcel, 'Identity'), {});
  });
});

describe('a form is read by its brackets and its shape', () => {
  for (const [text, value] of [
    ['', {}],
    ['n=1&ok=true&x=2', { n: 1, ok: true, x: '2' }],
    ['n=12345678901234567890', { n: 12345678901234567890n }],
    ['tags=a', { tags: ['a'] }],
    ['tags=a&tags=b', { tags: ['a', 'b'] }],
    ['tags[]=a&tags[]=b', { tags: ['a', 'b'] }],
    ['ids[1]=2&ids[0]=1&ids[7]=3', { ids: [1, 2, 3] }],
    ['ids[999999999]=1', { ids: { 999999999: '1' } }],
    ['to[zip]=1&to%5Blines%5D%5B%5D=x+y', { to: { zip: 1, lines: ['x y'] } }],
    ['items[0][sku]=a&items[0][n]=1&items[1][sku]=b', { items: [{ sku: 'a', n: 1 }, { sku: 'b' }] }],
    ['items[][sku]=a&items[][n]=1&items[][sku]=b', { items: [{ sku: 'a', n: 1 }, { sku: 'b' }] }],
    ['map[1]=1&map[2]=2', { map: { 1: 1, 2: 2 } }],
    ['free[0]=a&free[1]=b', { free: ['a', 'b'] }],
    ['n=1&n=2', 'malformed /n: 2 values'],
    ['to=1&to[zip]=2', 'malformed /to: a value and a group of values'],
    ['to[]=1', 'malformed /to: a list'],
    ['a[b=1&c]=2&[d]=3', { 'a[b': '1', 'c]': '2', '[d]': '3' }],
    ['a%C3%B6=%F0%9F%98%80', { aö: '😀' }],
    ['aö=😀', { aö: '😀' }],
    ['n=%zz', 'malformed : a bad percent-encoding'],
    ['%ff=1', 'malformed : a bad percent-encoding'],
    [`a${'[b]'.repeat(17)}=1`, 'malformed /a: 18 levels'],
    ['a=1&'.repeat(1001), 'malformed : 1001 pairs'],
  ] as const) {
    test(text.slice(0, 60), () => assert.deepEqual(decode(text, form), value));
  }

  test('no key reaches a prototype', () => {
    const decoded = compileBody(parcel)(Buffer.from('__proto__[x]=1&constructor[prototype][x]=2&a[__proto__][y]=3'), form);
    assert.ok(decoded.kind === 'value');
    assert.deepEqual(Object.keys(Object(decoded.value)), ['__proto__', 'constructor', 'a']);
    assert.equal(Object.hasOwn({}, 'x') || 'x' in {} || 'y' in {}, false);
    assert.equal(Object.getPrototypeOf(decoded.value), null);
  });
});

/** A multipart body from its parts, each its headers and content. */
function multipart(...parts: [headers: string, content: string][]): string {
  return `${parts.map(([headers, content]) => `--XX\r\n${headers}\r\n\r\n${content}\r\n`).join('')}--XX--\r\n`;
}
const named = (name: string, more = '') => `Content-Disposition: form-data; name="${name}"${more}`;

describe('a multipart form is taken apart', () => {
  const type = 'multipart/form-data; boundary=XX';
  for (const [title, text, value] of [
    [
      'fields',
      multipart([named('n'), '5'], [named('to[zip]'), '7'], [named('tags'), 'a'], [named('tags'), 'b\r\nc']),
      { n: 5, to: { zip: 7 }, tags: ['a', 'b\r\nc'] },
    ],
    [
      'a file',
      multipart([`${named('f', '; filename="C:\\x\\a b.txt"')}\r\nContent-Type: text/plain`, 'hi']),
      { f: ['a b.txt', 'text/plain', 'hi'] },
    ],
    [
      'a file without a type',
      multipart([named('f', '; filename=../../etc/passwd'), 'hi']),
      { f: ['passwd', 'application/octet-stream', 'hi'] },
    ],
    ['an empty file', multipart([named('f', '; filename=""'), '']), { f: ['', 'application/octet-stream', ''] }],
    ['a part in JSON', multipart([`${named('j')}\r\ncontent-type: application/json`, '{"a":[1]}']), { j: { a: [1] } }],
    [
      'a part in bad JSON',
      multipart([`${named('j')}\r\ncontent-type: application/json`, '{"a"']),
      'malformed /j: text that is not JSON, at character 5',
    ],
    [
      'bytes without a name',
      multipart([`${named('b')}\r\ncontent-type: image/png`, '\x00\x01']),
      { b: [undefined, 'image/png', '\x00\x01'] },
    ],
    ['a quoted name', multipart([`content-disposition: Form-Data; name="a\\"b%22"`, '1']), { 'a"b"': '1' }],
    ['a name in UTF-8', multipart([named('ö'), 'ü']), { ö: 'ü' }],
    ['no parts', '--XX--\r\n', {}],
    ['a preamble and an epilogue', `hello\r\n${multipart([named('n'), '1'])}--XX\r\nbye`, { n: 1 }],
    ['a boundary within the text', multipart([named('x'), 'a--XX\r\n--XXX\r\n--X']), { x: 'a--XX\r\n--XXX\r\n--X' }],
    ['half a body', multipart([named('n'), '1']).slice(0, -8), 'malformed : a body that ends too early'],
    [
      'no closing boundary',
      '--XX\r\ncontent-disposition: form-data; name=n\r\n\r\n1\r\n--XX\r\n',
      'malformed : a body that ends too early',
    ],
    ['headers that do not end', '--XX\r\na: b\r\n', 'malformed : a body that ends too early'],
    ['a part without headers', '--XX\r\n\r\nx\r\n--XX--', 'malformed : a part without a name'],
    ['a part without a name', multipart(['content-disposition: form-data', 'x']), 'malformed : a part without a name'],
    [
      'a transfer encoding',
      multipart([`${named('n')}\r\ncontent-transfer-encoding: base64`, 'MQ==']),
      'malformed : the transfer encoding base64',
    ],
    ['no boundary at all', 'hello', 'malformed : a body that ends too early'],
    ['nothing', '', 'malformed : a body that ends too early'],
  ] as const) {
    test(title, () => assert.deepEqual(decode(text, type), value));
  }

  test('by its boundary', () => {
    assert.equal(decode('', 'multipart/form-data'), 'malformed : a type without its boundary');
    assert.equal(decode('', `multipart/form-data; boundary="${'x'.repeat(71)}"`), 'malformed : a type without its boundary');
    assert.deepEqual(decode(multipart([named('n'), '1']), 'multipart/form-data; boundary="XX"'), { n: 1 });
  });
  test('within its bounds', () => {
    const file = multipart([named('f', '; filename=a'), '123456']);
    assert.equal(decode(file, type, { ...parcel, fileBytes: 5 }), 'size /f: 6 bytes');
    assert.deepEqual(decode(file, type, { ...parcel, fileBytes: 6 }), { f: ['a', 'application/octet-stream', '123456'] });
    assert.equal(
      decode(multipart([named('a'), ''], [named('b'), '']), type, { ...parcel, partsMax: 1 }),
      'size : more than 1 parts',
    );
  });
  test('and a file writes itself as base64', () =>
    assert.equal(JSON.stringify(new WireFile('a', 'b', Buffer.from('hi'))), '"aGk="'));
});

test('media types and ranges', () => {
  const parsed = parseMediaType(' Text/HTML ;charset="a\\"b" ; ; Q=1');
  assert.deepEqual([parsed?.essence, ...(parsed?.parameters ?? [])], ['text/html', ['charset', 'a"b'], ['q', '1']]);
  for (const [essence, range, matches] of [
    ['text/html', 'text/*', true],
    ['application/a+json', 'application/*+json', true],
    ['application/json', 'application/*+json', false],
    ['a/b', '*/*', true],
    ['text/plain', 'TEXT/Plain; charset=x', true],
  ] as const) {
    assert.equal(matchesRange(essence, range), matches, `${essence} in ${range}`);
  }
});

describe('properties', () => {
  test('any bytes of any type are a value or a refusal', () => {
    const types = fc.constantFrom(
      undefined,
      'application/json',
      form,
      'multipart/form-data; boundary=XX',
      'text/plain',
      'image/png',
      'a',
    );
    const piece = fc.oneof(
      fc.uint8Array(),
      fc
        .constantFrom(
          '--XX',
          '\r\n',
          '\r\n\r\n',
          '--XX--',
          'content-disposition: form-data; name="a"',
          'a[b]=',
          '&',
          '[]',
          '%',
          '__proto__',
          '[__proto__]=1',
        )
        .map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(
        fc.array(piece),
        types,
        fc.string(),
        (pieces, type, coding) => void compileBody(parcel)(Buffer.concat(pieces), type, coding || undefined),
      ),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.string(), (type) => void parseMediaType(type)));
  });

  test('a form comes back as it was sent', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => !/[[\]]/.test(one) && !/^\d/.test(one));
    const text = fc.string({ unit: 'grapheme' });
    const value = fc.dictionary(
      name,
      fc.oneof(text, fc.array(text, { minLength: 1 }), fc.dictionary(name, text, { minKeys: 1 })),
    );
    fc.assert(
      fc.property(value, (object) => {
        const pairs = Object.entries(object).flatMap(([key, part]): [string, string][] => {
          if (typeof part === 'string') return [[key, part]];
          if (Array.isArray(part)) return part.map((item) => [`${key}[]`, item]);
          return Object.entries(part).map(([inner, item]) => [`${key}[${inner}]`, item]);
        });
        assert.deepEqual(decode(new URLSearchParams(pairs).toString(), form, { accepted: [form] }), simple(object));
      }),
    );
  });

  test('the parts of a FormData come back as they were sent', async () => {
    const form = new FormData();
    form.append('n', '5');
    form.append('to[lines][]', 'ä"b\r\n');
    form.append('f', new File([new Uint8Array([0, 13, 10, 255])], 'ü"x.bin', { type: 'application/x-y' }));
    const request = new Request('http://x', { method: 'POST', body: form });
    const bytes = Buffer.from(await request.clone().arrayBuffer());
    assert.deepEqual(decode(bytes, request.headers.get('content-type') ?? ''), {
      n: 5,
      to: { lines: ['ä"b\r\n'] },
      f: ['ü"x.bin', 'application/x-y', '\0\r\n\xff'],
    });
  });
});
