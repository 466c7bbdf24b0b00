import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { tryService } from './serving/tried.ts';

/** A shape may name its own definitions, itself, and resources, wherever it comes to stand among others. */
const document = `
resources:
  list:
    identifier: { field: id, generate: ulid }
    fields:
      id: string
      tree: { $ref: '#/$defs/tree', $defs: { tree: { type: array, items: { $ref: '#/$defs/tree' } } } }
      other: { $ref: '#/$defs/tree', $defs: { tree: { type: integer } } }
      odd: { $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': { type: boolean } } }
    required: [id]
  address: { identifier: none, fields: { city: { type: string, minLength: 2 } }, required: [city] }
  size: { shape: { enum: [small, large] } }
  count: { shape: { type: integer } }
endpoints:
  POST /lists: { does: create list }
  POST /nests: { does: reply, request: { type: object, properties: { inner: { $ref: '#' } }, additionalProperties: false }, response: { 200: { example: 1 } } }
  POST /both: { does: reply, request: { type: object, properties: { list: list, a: { $ref: '#/$defs/tree' } }, $defs: { tree: string } }, response: { 200: { example: 1 } } }
  GET /places:
    does: reply
    parameters:
      at: { in: query, type: address, style: deepObject, explode: true }
      size: { in: query, type: size }
      count: { in: query, type: count }
      own: { in: query, $ref: '#/$defs/n', $defs: { n: { type: integer } } }
    response: { 200: { example: 1 } }
`;

const asked: readonly (readonly [method: string, target: string, body: unknown, status: number])[] = [
  ['POST', '/lists', { tree: [[], [[]]], other: 3, odd: true }, 201],
  ['POST', '/lists', { tree: [1] }, 422],
  ['POST', '/lists', { other: [] }, 422],
  ['POST', '/lists', { odd: 1 }, 422],
  ['POST', '/nests', { inner: { inner: {} } }, 200],
  ['POST', '/nests', { inner: { outer: {} } }, 422],
  ['POST', '/both', { list: { tree: [[]], other: 1 }, a: 'x' }, 200],
  ['POST', '/both', { a: [] }, 422],
  ['POST', '/both', { list: { other: 'x' } }, 422],
  ['GET', '/places?at[city]=Rome&size=small&count=3&own=4', undefined, 200],
  ['GET', '/places?at[city]=R', undefined, 400],
  ['GET', '/places?size=huge', undefined, 400],
  ['GET', '/places?count=many', undefined, 400],
  ['GET', '/places?own=x', undefined, 400],
];

suite('references of shapes lead where their author meant', () => {
  for (const [method, target, body, status] of asked) {
    test(`${method} ${target} ${body === undefined ? '' : JSON.stringify(body)} is ${status}`, async () => {
      const tried = await tryService(document);
      try {
        const answer = await tried.send(method, target, { ...(body !== undefined && { body }) });
        assert.deepEqual(tried.failures, []);
        assert.equal(answer.status, status, answer.text);
      } finally {
        await tried.close();
      }
    });
  }
});
