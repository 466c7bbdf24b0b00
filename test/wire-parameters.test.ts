import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseDocument, serve } from '../src/index.ts';
import type { ParameterSpec } from '../src/serve/http/parameter-reader.ts';
import { compileParameters, type ParameterOptions } from '../src/serve/http/parameters.ts';
import type { Schema } from '../src/serve/http/schema.ts';
import { parseCookies } from '../src/serve/http/target.ts';
import { anyCodePoint } from './fixtures/letters.ts';

const integers: Schema = { type: 'array', items: { type: 'integer' } };
const strings: Schema = { type: 'array', items: { type: 'string' } };
const numbers = { type: 'array', items: { type: 'string', pattern: '^[0-9]{1,19}$' } };
const signs = { type: 'array', items: { type: 'string', pattern: '^[!-~]{1,19}$' } };
const pairs = { type: 'array', items: { type: 'string', pattern: '^[0-9,]{1,19}$' } };
const rgb: Schema = { type: 'object', properties: { R: { type: 'integer' }, G: { type: 'integer' } } };

function query(name: string, shape: Schema, more: Partial<ParameterSpec> = {}): ParameterSpec {
  return { name, in: 'query', shape, required: false, ...more };
}

/** The value of the first parameter, or the violations in one line each. */
function readQuery(specs: ParameterSpec[], raw: string, options?: ParameterOptions): unknown {
  const { values, violations } = compileParameters(specs, options)({}, raw, {});
  if (violations.length > 0) return violations.map((one) => `${one.in} ${one.path}: ${one.found} -> ${one.expected}`);
  return simple(values[specs[0]?.name ?? '']);
}

/** A name that every usual object has is there only where it was read. */
function inheritsNothing(value: object): void {
  for (const name of ['constructor', 'toString', '__proto__']) assert.equal(name in value, Object.hasOwn(value, name));
}

/** Plain objects for comparison: what is read inherits nothing. */
function simple(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simple);
  if (typeof value !== 'object' || value === null) return value;
  inheritsNothing(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, simple(part)]));
}

describe('a text becomes the value its shape means', () => {
  for (const [shape, raw, value] of [
    [{ type: 'string' }, 'a=5', '5'],
    [{ type: 'string' }, 'a=', ''],
    [{ type: 'string' }, 'a', ''],
    [{ type: 'string' }, 'a=b=c', 'b=c'],
    [{ type: 'string' }, 'a=x+y%2Bz%20%C3%B6', 'x y+z ö'],
    [{ type: 'integer' }, 'a=5', 5],
    [{ type: 'integer' }, 'a=-0', 0],
    [{ type: 'integer' }, 'a=007', '007'],
    [{ type: 'integer' }, 'a=5.0', '5.0'],
    [{ type: 'integer' }, 'a=1e3', '1e3'],
    [{ type: 'integer' }, 'a=NaN', 'NaN'],
    [{ type: 'integer', format: 'int64' }, 'a=9223372036854775807', 9223372036854775807n],
    [{ type: 'integer' }, 'a=9007199254740991', 9007199254740991],
    [{ type: 'integer' }, `a=${'9'.repeat(400)}`, '9'.repeat(400)],
    [{ type: 'number' }, 'a=-1.5e3', -1500],
    [{ type: 'number' }, 'a=1e999', '1e999'],
    [{ type: 'number' }, 'a=0x10', '0x10'],
    [{ type: 'number' }, 'a=', ''],
    [{ type: 'boolean' }, 'a=true', true],
    [{ type: 'boolean' }, 'a=1', '1'],
    [{ type: ['integer', 'null'] }, 'a=', null],
    [{ type: ['integer', 'null'] }, 'a=null', null],
    [{ type: ['string', 'null'] }, 'a=null', 'null'],
    [{ type: ['integer', 'string'] }, 'a=7', 7],
    [{ type: ['integer', 'string'] }, 'a=7x', '7x'],
    [{ enum: [1, 'two', true] }, 'a=1', 1],
    [{ enum: [1, 'two', true] }, 'a=two', 'two'],
    [{ enum: [1, 'two', true] }, 'a=three', 'three'],
    [{ type: 'string', enum: ['1', '2'] }, 'a=1', '1'],
    [{ const: 5 }, 'a=5', 5],
    [{ oneOf: [{ type: 'integer' }, { type: 'null' }] }, 'a=5', 5],
    [{ $ref: 'count' }, 'a=5', 5],
    [{}, 'a=5', '5'],
    [{ type: 'string' }, 'b=1', undefined],
  ] as const) {
    test(`${raw.slice(0, 40)} as ${JSON.stringify(shape)}`, () => {
      const resolve = (ref: string) => (ref === 'count' ? { type: 'integer' } : undefined);
      assert.deepEqual(readQuery([query('a', shape)], raw, { resolve, undeclared: 'ignore' }), value);
    });
  }
});

describe('each style of a query is taken apart', () => {
  for (const [more, shape, raw, value] of [
    [{}, integers, 'a=1&a=2', [1, 2]],
    [{}, integers, 'a=1', [1]],
    [{}, strings, 'a=1,2', ['1,2']],
    [{}, rgb, 'R=1&G=2', { R: 1, G: 2 }],
    [{ explode: false }, integers, 'a=1,2,3', [1, 2, 3]],
    [{ explode: false }, integers, 'a=1%2C2', [1, 2]],
    [{ explode: false }, strings, 'a=x%2Cy,z', ['x,y', 'z']],
    [{ explode: false }, numbers, 'a=1%2C22', ['1', '22']],
    [{ explode: false }, pairs, 'a=1%2C22', ['1,22']],
    [{ explode: false }, signs, 'a=1%2C22', ['1,22']],
    [{ explode: false }, rgb, 'a=R,1,G,2', { R: 1, G: 2 }],
    [{ explode: false }, rgb, 'a=R,1,G', ['query a: a name without a value -> names and values in turn']],
    [{ explode: false }, integers, 'a=1&a=2', ['query a: 2 values -> one value']],
    [{ style: 'spaceDelimited' }, integers, 'a=1%202+3', [1, 2, 3]],
    [{ style: 'spaceDelimited' }, rgb, 'a=R%201%20G%202', { R: 1, G: 2 }],
    [{ style: 'spaceDelimited', explode: true }, integers, 'a=1&a=2', [1, 2]],
    [{ style: 'pipeDelimited' }, integers, 'a=1|2%7C3%7c4', [1, 2, 3, 4]],
    [{ style: 'deepObject' }, rgb, 'a[R]=1&a%5BG%5D=2', { R: 1, G: 2 }],
    [{ style: 'deepObject' }, { type: 'object' }, 'a[x][y]=1&a[z]=', { x: { y: '1' }, z: '' }],
    [{ style: 'deepObject' }, rgb, 'a[R]=1&a[R]=2', ['query a: 2 values -> one value']],
    [{ style: 'deepObject' }, rgb, 'a=1', ['query a: a parameter that is not stated -> one of a[…]']],
    [{}, { type: 'object', additionalProperties: { type: 'integer' } }, 'x=1&__proto__=2', { x: 1, ['__proto__']: 2 }],
  ] as [Partial<ParameterSpec>, Schema, string, unknown][]) {
    test(`${JSON.stringify(more)} ${raw}`, () => {
      assert.deepEqual(Object.entries(Object(readQuery([query('a', shape, more)], raw))), Object.entries(Object(value)));
    });
  }
});

describe('what is wrong with a query is said', () => {
  const list = [
    query('status', { type: 'string' }),
    query('limit', { type: 'integer' }, { required: true }),
    query('f[x]', { type: 'string' }),
  ];
  for (const [raw, wrong] of [
    ['', ['query limit: nothing -> a value']],
    ['limit=1&limit=2', ['query limit: 2 values -> one value']],
    [
      'limit=1&limit=2&status=%zz',
      ['query status: a bad percent-encoding -> UTF-8, percent-encoded', 'query limit: 2 values -> one value'],
    ],
    ['limit=1&status=%C3', ['query status: a bad percent-encoding -> UTF-8, percent-encoded']],
    ['limit=1&x=2', ['query x: a parameter that is not stated -> one of cursor, status, limit, f[x]']],
    ['limit=1&%zz=2', ['query %zz: a bad percent-encoding -> UTF-8, percent-encoded']],
    ['limit=1&__proto__=2', ['query __proto__: a parameter that is not stated -> one of cursor, status, limit, f[x]']],
    ['limit=1&cursor=x&&f[x]=1', undefined],
  ] as const) {
    test(raw, () => assert.deepEqual(readQuery(list, raw, { known: ['cursor'] }), wrong));
  }

  test('at most fifty are said', () => {
    const raw = Array.from({ length: 500 }, (_, i) => `x${i}`).join('&');
    assert.equal(compileParameters([])({}, raw, {}).violations.length, 50);
  });
});

describe('each style of a path is taken apart', () => {
  for (const [style, explode, shape, raw, value] of [
    ['simple', false, integers, '1,2', [1, 2]],
    ['simple', true, integers, '1,2', [1, 2]],
    ['simple', false, strings, 'a%2Cb,c', ['a,b', 'c']],
    ['simple', false, rgb, 'R,1,G,2', { R: 1, G: 2 }],
    ['simple', true, rgb, 'R=1,G=2', { R: 1, G: 2 }],
    ['label', false, { type: 'integer' }, '.5', 5],
    ['label', false, integers, '.1,2', [1, 2]],
    ['label', true, integers, '.1.2', [1, 2]],
    ['label', false, rgb, '.R,1,G,2', { R: 1, G: 2 }],
    ['label', true, rgb, '.R=1.G=2', { R: 1, G: 2 }],
    ['label', false, { type: 'integer' }, '5', 'a text without its dot'],
    ['matrix', false, { type: 'integer' }, ';a=5', 5],
    ['matrix', false, { type: 'string' }, ';a', ''],
    ['matrix', false, integers, ';a=1,2', [1, 2]],
    ['matrix', true, integers, ';a=1;a=2', [1, 2]],
    ['matrix', false, rgb, ';a=R,1,G,2', { R: 1, G: 2 }],
    ['matrix', true, rgb, ';R=1;G=2', { R: 1, G: 2 }],
    ['matrix', false, integers, ';b=1', 'a text of another form'],
  ] as const) {
    test(`${style} ${explode ? 'exploded ' : ''}${raw}`, () => {
      const read = compileParameters([{ name: 'a', in: 'path', shape, required: true, style, explode }]);
      const { values, violations } = read({ a: decodeURIComponent(raw) }, '', {}, { a: raw });
      assert.deepEqual(violations[0]?.found ?? simple(values.a), value);
    });
  }
});

describe('headers and cookies are read', () => {
  const list: ParameterSpec[] = [
    { name: 'X-Ids', in: 'header', shape: integers, required: false },
    { name: 'X-Text', in: 'header', shape: { type: 'string' }, required: false, default: 'none' },
    { name: 'session', in: 'cookie', shape: { type: 'string' }, required: true },
    { name: 'n', in: 'cookie', shape: integers, required: false, explode: false },
  ];
  const read = compileParameters(list);
  test('by names without case, and by name', () => {
    const { values, violations } = read({}, '', {
      'x-ids': '1, 2',
      'x-text': 'a%20b',
      cookie: 'n=1,2; session="a%3Db"; session=c',
    });
    assert.deepEqual(violations, [{ in: 'cookie', path: 'session', found: '2 values', expected: 'one value' }]);
    assert.deepEqual(simple(values), { 'X-Ids': [1, 2], 'X-Text': 'a%20b', n: [1, 2] });
  });
  test('with defaults and required ones missed', () => {
    const { values, violations } = read({}, '', {});
    assert.deepEqual(violations, [{ in: 'cookie', path: 'session', found: 'nothing', expected: 'a value' }]);
    assert.deepEqual(simple(values), { 'X-Text': 'none' });
  });
  test('a cookie that is not percent-encoded stands as it is', () => {
    assert.equal(read({}, '', { cookie: 'session=100%' }).values.session, '100%');
  });
  test('a Cookie header in any form', () => {
    assert.deepEqual(
      [...parseCookies('a=1; b = "x" ;c;=d; a=2; __proto__=p')],
      [
        ['a', '1'],
        ['b', 'x'],
        ['', 'd'],
        ['__proto__', 'p'],
      ],
    );
    assert.equal(parseCookies(undefined).size, 0);
  });
});

describe('path parameters', () => {
  test('of strings alone are handed through as they are', () => {
    const read = compileParameters([
      { name: 'id', in: 'path', shape: { type: 'string' }, required: true },
      query('q', { type: 'string' }),
    ]);
    const path = { id: 'x', other: 'y' };
    const { values, violations } = read(path, '', {});
    assert.equal(values, path);
    assert.equal(violations.length, 0);
    assert.deepEqual(simple(read(path, 'q=1', {}).values), { id: 'x', q: '1', other: 'y' });
  });
  test('are coerced from the decoded text, once', () => {
    const read = compileParameters([{ name: 'id', in: 'path', shape: { type: ['integer', 'string'] }, required: true }]);
    assert.equal(read({ id: '12' }, '', {}).values.id, 12);
    assert.equal(read({ id: '%2F' }, '', {}).values.id, '%2F');
  });
});

describe('properties', () => {
  const text = fc.string({ unit: anyCodePoint, maxLength: 8 }).filter((one) => one.isWellFormed());
  const encoded = (one: string) => encodeURIComponent(one);

  test('any query, header and cookie is read without a throw', () => {
    const shapes: Schema[] = [{ type: 'integer' }, integers, rgb, { type: 'object' }, { type: ['array', 'null'] }, {}];
    const styles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const;
    const specs = shapes.flatMap((shape, i) =>
      styles.flatMap((style) => [true, false].map((explode) => query(`${style}${i}${explode}`, shape, { style, explode }))),
    );
    const read = compileParameters([
      ...specs,
      { name: 'c', in: 'cookie', shape: integers, required: false },
      { name: 'h', in: 'header', shape: rgb, required: false },
    ]);
    const name = fc.constantFrom(...specs.map((spec) => spec.name), 'R', '__proto__', 'constructor', '');
    const piece = fc
      .tuple(name, fc.constantFrom('', '[', '[]', '[a]', '[__proto__]', '[0][', ']'), fc.string())
      .map((parts) => `${parts[0]}${parts[1]}=${parts[2]}`);
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), fc.string(), fc.string(), (pieces, cookie, h) => {
        const { values } = read({}, pieces.join('&'), { cookie, h });
        inheritsNothing(values);
      }),
    );
  });

  for (const [title, more, encode] of [
    ['form exploded', {}, (items: string[]) => items.map((one) => `a=${encoded(one)}`).join('&')],
    ['form', { explode: false }, (items: string[]) => `a=${items.map(encoded).join(',')}`],
    [
      'spaceDelimited',
      { style: 'spaceDelimited' },
      (items: string[]) => `a=${items.map((one) => encoded(one.replaceAll(' ', ''))).join('%20')}`,
    ],
    [
      'pipeDelimited',
      { style: 'pipeDelimited' },
      (items: string[]) => `a=${items.map((one) => encoded(one.replaceAll('|', ''))).join('%7C')}`,
    ],
  ] as [string, Partial<ParameterSpec>, (items: string[]) => string][]) {
    test(`a list comes back as it was sent, ${title}`, () => {
      // What parts the items cannot stand in one; of a form it is written otherwise there.
      const unsaid = title.startsWith('space') ? ' ' : title.startsWith('pipe') ? '|' : undefined;
      fc.assert(
        fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (items) => {
          assert.deepEqual(
            readQuery([query('a', strings, more)], encode(items)),
            unsaid === undefined ? items : items.map((one) => one.replaceAll(unsaid, '')),
          );
        }),
      );
    });
  }

  test('an object comes back as it was sent, deepObject', () => {
    const name = text.filter((one) => one !== '' && !/[[\]]/.test(one));
    fc.assert(
      fc.property(fc.dictionary(name, text, { minKeys: 1, maxKeys: 4 }), (object) => {
        const raw = Object.entries(object).map(([key, value]) => `a[${encoded(key)}]=${encoded(value)}`);
        const shape = { type: 'object', additionalProperties: { type: 'string' } };
        assert.deepEqual(readQuery([query('a', shape, { style: 'deepObject' })], raw.join('&')), { ...object });
      }),
    );
  });

  for (const style of ['simple', 'label', 'matrix'] as const) {
    test(`a list in a path comes back as it was sent, ${style}`, () => {
      const read = compileParameters([{ name: 'a', in: 'path', shape: strings, required: true, style }]);
      const before = { simple: '', label: '.', matrix: ';a=' }[style];
      fc.assert(
        fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (items) => {
          const raw = before + items.map(encoded).join(',');
          assert.deepEqual(read({ a: decodeURIComponent(raw) }, '', {}, { a: raw }).values.a, items);
        }),
      );
    });
  }
});

test('what was not asked for is refused where it is known what may be, and open where that is asked', async () => {
  const text = `
title: Open
resources: none
endpoints:
  GET /asked: { does: handler say, as: asked, parameters: !open "Which?", response: { 200: { type: object } } }
  GET /unsaid: { does: handler say, as: unsaid, response: { 200: { type: object } } }
  GET /none: { does: handler say, as: nothing, parameters: none, response: { 200: { type: object } } }
authentication: none
`;
  for (const [open, asked] of [
    ['refuse', 501],
    ['accept', 200],
  ] as const) {
    const service = await serve(parseDocument(text, 'open.yaml'), { open, handlers: { say: () => ({}) } });
    const status = async (target: string) => (await service.fetch(new Request(`http://127.0.0.1${target}`))).status;
    assert.deepEqual([await status('/asked'), await status('/asked?x=1')], [200, asked]);
    assert.deepEqual([await status('/unsaid'), await status('/unsaid?x=1')], [200, 400]);
    assert.deepEqual([await status('/none'), await status('/none?x=1')], [200, 400]);
    await service.close();
  }
});
