import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../src/check/check.ts';
import { fromForeign } from '../src/convert/foreign.ts';
import { writeMarkdown } from '../src/convert/nine-parts/markdown.ts';
import type { Document } from '../src/document/document.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';

const taken = (value: unknown): Document =>
  parseDocument(
    typeof value === 'string'
      ? value
      : JSON.stringify({ openapi: '3.0.3', info: { title: 'T', version: '1' }, ...(value as object) }),
    'api.json',
    { isKey, foreign: fromForeign },
  );

const errorsOf = (document: Document): string[] =>
  check(document)
    .findings.filter(({ severity }) => severity === 'error')
    .map(({ code, message }) => `${code} ${message}`);

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Sources that are large, deep or go round, each of which has to be taken over and sound. */
const hostile: Readonly<Record<string, unknown>> = {
  'schemas that hold each other in a ring of a hundred': {
    components: {
      schemas: Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [
          `s${n}`,
          { type: 'object', properties: { next: ref(`s${(n + 1) % 100}`), all: { anyOf: [ref('s0'), ref(`s${n}`)] } } },
        ]),
      ),
    },
  },
  'a default and an example that a pattern could part in many ways': {
    components: {
      schemas: {
        s: {
          type: 'object',
          properties: {
            a: { type: 'string', pattern: '^([a-z]+)+$', default: `${'a'.repeat(60)}!`, example: `${'b'.repeat(60)}!` },
          },
        },
      },
    },
  },
  'parts that double at each step': {
    components: {
      schemas: Object.fromEntries([
        ...Array.from({ length: 60 }, (_, n) => [`s${n}`, { allOf: [ref(`s${n + 1}`), ref(`s${n + 1}`)] }]),
        ['s60', { type: 'object', properties: { a: { type: 'string' } } }],
      ]),
    },
  },
  'parts that are made of themselves': {
    components: { schemas: { a: { allOf: [ref('b')] }, b: { allOf: [ref('a')], properties: { c: { type: 'string' } } } } },
  },
  'a union of eighty alternatives': {
    components: {
      schemas: {
        all: {
          oneOf: Array.from({ length: 80 }, (_, n) => ({
            type: 'object',
            properties: { kind: { type: 'string', enum: [`k${n}`] } },
            required: ['kind'],
          })),
        },
      },
    },
  },
  'an enum of six hundred values': {
    components: { schemas: { all: { type: 'string', enum: Array.from({ length: 600 }, (_, n) => `v${n}`) } } },
  },
  'references that go round without ever saying anything': {
    components: {
      schemas: { a: ref('b'), b: ref('a'), c: { type: 'object', properties: { a: ref('a') } } },
      responses: { r: { $ref: '#/components/responses/r' } },
    },
    paths: { '/a': { get: { responses: { 200: { $ref: '#/components/responses/r' } } } } },
  },
  'names that every object has': {
    components: {
      schemas: {
        constructor: { type: 'object', properties: { toString: { type: 'string' }, hasOwnProperty: { type: 'string' } } },
      },
    },
    paths: {
      '/constructor': {
        get: { operationId: 'valueOf', parameters: [{ name: 'toString', in: 'query' }], responses: { 200: { description: '' } } },
      },
    },
  },
  'words where maps should stand': {
    paths: {
      '/a': 'get',
      '/b': { get: 'x', parameters: 'y' },
      '/c': { get: { parameters: [1, null], responses: [], requestBody: 'z', security: 'none' } },
    },
    components: { schemas: { a: 'b', c: { properties: [], items: 3, required: 'x', enum: 'y', allOf: {} } } },
    servers: 'x',
    security: {},
    webhooks: [],
  },
};

for (const [says, source] of Object.entries(hostile)) {
  test(`${says} are taken over`, () => {
    assert.deepEqual(errorsOf(taken(source)), []);
  });
}

test('a key called __proto__ is only a key', () => {
  const document = taken(
    '{ "openapi": "3.0.3", "components": { "schemas": { "a": { "type": "object", "properties": { "__proto__": { "type": "string" } } } } } }',
  );
  assert.equal(({} as Record<string, unknown>).type, undefined);
  assert.deepEqual(errorsOf(document), []);
});

test('schemas nested hundreds deep are taken over whole, the inner ones by names of their own, and read back', () => {
  const deep = Array.from({ length: 400 }).reduce<unknown>((inner) => ({ type: 'array', items: inner }), { type: 'string' });
  const document = taken({ components: { schemas: { deep } } });
  assert.deepEqual(document.findings, []);
  const { resources } = document.tree;
  assert.equal(Object.keys(resources as object).length, 20);
  const again = parseDocument(writeMarkdown(document), 'api.md', { isKey });
  assert.deepEqual(errorsOf(again), []);
});

test('a document of thirteen megabytes is taken over', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [
      `field_${n}`,
      { type: 'string', description: 'A sentence of some length. '.repeat(6) },
    ]),
  );
  const schemas = Object.fromEntries(Array.from({ length: 1050 }, (_, n) => [`schema_${n}`, { type: 'object', properties }]));
  const text = JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, components: { schemas } });
  assert.ok(text.length > 13_000_000);
  const { tree, findings } = taken(text);
  assert.deepEqual(findings, []);
  assert.equal(Object.keys(tree.resources as object).length, 1050);
});

test('aliases that double at each step are not followed to the end', () => {
  const lines = Array.from({ length: 40 }, (_, n) => `a${n}: &a${n} [${n === 0 ? 'x' : `*a${n - 1}, *a${n - 1}`}]`);
  const { findings } = parseDocument(`openapi: 3.1.0\n${lines.join('\n')}\n`, 'api.yaml', { isKey, foreign: fromForeign });
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['document/too-many-copies'],
  );
});

test('aliases of YAML are bounded, also those that stand in themselves', () => {
  const { findings } = parseDocument('openapi: 3.1.0\na: &a [*a]\npaths: *b\n', 'api.yaml', { isKey, foreign: fromForeign });
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['document/alias', 'document/alias'],
  );
});
