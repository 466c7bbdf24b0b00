import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../src/check/check.ts';
import { part, type Source, take } from './import/source.ts';

type Words = Readonly<Record<string, unknown>>;

/** What an operation of a source states, whatever it does. */
function stated(operation: Words, more: Words = {}): unknown {
  const source: Source = { paths: { '/a': { post: operation } }, ...more };
  const endpoints = part(source, 'endpoints') as Record<string, unknown>;
  return endpoints['POST /a'];
}

const ok = { responses: { 200: { description: 'ok' } } };
const swagger = { openapi: undefined, swagger: '2.0' };
const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });

const cases: readonly (readonly [says: string, operation: Words, endpoint: Words, more?: Words])[] = [
  ['an identifier is its name', { operationId: 'makeA', ...ok }, { as: 'makeA', response: { 200: 'none' } }],
  [
    'parameters keep their place, style and schema',
    {
      parameters: [
        {
          name: 'q',
          in: 'query',
          required: true,
          style: 'form',
          explode: false,
          schema: { type: 'array', items: { type: 'string' } },
          description: 'D',
        },
      ],
      ...ok,
    },
    {
      parameters: {
        q: { in: 'query', required: true, style: 'form', explode: false, type: 'array', items: 'string', description: 'D' },
      },
      response: { 200: 'none' },
    },
  ],
  [
    'a parameter whose schema has a list of required properties has a shape',
    {
      parameters: [
        { name: 'q', in: 'query', schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      ],
      ...ok,
    },
    {
      parameters: { q: { in: 'query', shape: { type: 'object', properties: { a: 'string' }, required: ['a'] } } },
      response: { 200: 'none' },
    },
  ],
  [
    'headers that the format describes elsewhere are no parameters',
    { parameters: [{ name: 'Authorization', in: 'header', schema: { type: 'string' } }], ...ok },
    { response: { 200: 'none' } },
  ],
  [
    'a body is the request, in its media types where they are not JSON alone',
    {
      requestBody: {
        required: true,
        content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { a: { type: 'string' } } } } },
      },
      ...ok,
    },
    {
      request: { type: 'object', properties: { a: 'string' } },
      consumes: ['application/x-www-form-urlencoded'],
      response: { 200: 'none' },
    },
  ],
  [
    'of media types with different schemas that of JSON is taken',
    {
      requestBody: {
        content: { 'text/plain': { schema: { type: 'string' } }, 'application/json': { schema: { type: 'integer' } } },
      },
      ...ok,
    },
    { request: 'integer', body: 'optional', consumes: ['text/plain', 'application/json'], response: { 200: 'none' } },
  ],
  [
    'answers stand by status, with their headers, failures too',
    {
      responses: {
        200: { ...json({ type: 'string' }), headers: { 'X-Left': { schema: { type: 'integer' }, description: 'D' } } },
        '4XX': json({ type: 'object' }),
        default: { description: 'else' },
      },
    },
    {
      response: {
        200: { shape: 'string', headers: { 'X-Left': { shape: { type: 'integer', description: 'D' }, required: false } } },
        '4XX': 'object',
        default: 'none',
      },
    },
  ],
  [
    'other media types of answers are told',
    { responses: { 200: { content: { 'image/png': { schema: { type: 'string', format: 'binary' } } } } } },
    { response: { 200: { shape: { type: 'string', format: 'binary' } } }, produces: ['image/png'] },
  ],
  ['what is deprecated is', { deprecated: true, ...ok }, { response: { 200: 'none' }, deprecated: true }],
  [
    'forms of Swagger 2.0 are bodies with all words of their fields',
    {
      consumes: ['application/x-www-form-urlencoded'],
      parameters: [{ name: 'a', in: 'formData', type: 'string', enum: ['x', 'y'], default: 'x', required: true }],
      ...ok,
    },
    {
      request: { type: 'object', properties: { a: { type: 'string', enum: ['x', 'y'], default: 'x' } }, required: ['a'] },
      consumes: ['application/x-www-form-urlencoded'],
      response: { 200: 'none' },
    },
    swagger,
  ],
  [
    'bodies, lists and answers of Swagger 2.0 are what they are later',
    {
      parameters: [
        { name: 'b', in: 'body', schema: { type: 'integer' } },
        { name: 'q', in: 'query', type: 'array', items: { type: 'string' } },
      ],
      responses: { 200: { schema: { type: 'string' }, headers: { 'X-Left': { type: 'integer' } } } },
    },
    {
      parameters: { q: { in: 'query', style: 'form', explode: false, type: 'array', items: 'string' } },
      request: 'integer',
      body: 'optional',
      response: { 200: { shape: 'string', headers: { 'X-Left': { shape: 'integer', required: false } } } },
    },
    swagger,
  ],
];

for (const [says, operation, expected, more] of cases) {
  test(says, () => {
    assert.deepEqual(stated(operation, more), JSON.parse(JSON.stringify(expected)));
  });
}

test('what a source says of itself is purpose; servers have their variables at their defaults', () => {
  const servers = [{ url: 'https://{region}.api.example/v{n}/', variables: { region: { default: 'eu' }, n: { default: '2' } } }];
  assert.deepEqual(part({ info: { title: 'T', version: '1', description: 'Does things.' }, servers }, 'purpose'), {
    purpose: 'Does things.',
    base_url: 'https://eu.api.example/v2',
  });
  assert.deepEqual(part({ ...swagger, host: 'api.example', basePath: '/v1/', schemes: ['https'] }, 'purpose'), {
    base_url: 'https://api.example/v1',
  });
});

test('a long description is prose, with its place', () => {
  const { prose, tree } = take({ info: { title: 'T', version: '1', description: `${'Long. '.repeat(60)}\n\nMore.` } });
  assert.equal(tree.purpose, undefined);
  assert.deepEqual(
    prose.map(({ at, place }) => `${at} ${place.line}`),
    ['/purpose 6'],
  );
});

test('schemes, which are accepted, and what asks for none', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'query', name: 'k' },
    bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    basic: { type: 'http', scheme: 'Basic' },
    oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.example/t', scopes: { 'a:read': 'Read.' } } } },
    mutual: { type: 'mutualTLS' },
  };
  const paths = { '/open': { get: { operationId: 'open', security: [], ...ok } }, '/shut': { get: ok } };
  assert.deepEqual(part({ components: { securitySchemes }, security: [{ key: [] }, { bearer: [] }], paths }, 'authentication'), {
    schemes: {
      key: { type: 'api_key', query: 'k' },
      bearer: { type: 'api_key', header: 'Authorization', prefix: 'Bearer', format: 'JWT' },
      basic: { type: 'basic' },
      oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.example/t' } }, scopes: { 'a:read': 'Read.' } },
      mutual: { type: 'unverifiable', says: { type: 'mutualTLS' } },
    },
    accept: ['key', 'bearer'],
    public: ['open'],
  });
});

test('webhooks and callbacks are kinds of event', () => {
  const paths = {
    '/subscribe': {
      post: {
        operationId: 'subscribe',
        ...ok,
        callbacks: { told: { '{$request.body#/url}': { post: { requestBody: json({ type: 'string' }), ...ok } } } },
      },
    },
  };
  assert.deepEqual(part({ paths, webhooks: { born: { post: { requestBody: json({ type: 'integer' }), ...ok } } } }, 'events'), {
    delivery: { webhook: {}, envelope: 'none' },
    kinds: { born: { payload: 'integer' }, told: { on: ['subscribe'], payload: 'string' } },
  });
});

test('an example of JSON beside a schema in any type, or in JSON of another name, is one of its answer', () => {
  const shown = (type: string, beside: string) => ({
    openapi: '3.0.0',
    paths: {
      '/a': {
        get: {
          responses: {
            200: { description: 'ok', content: { [type]: { schema: { type: 'string' } }, [beside]: { example: 'x' } } },
          },
        },
      },
    },
  });
  const examplesOf = (source: Source) =>
    (part(source, 'endpoints') as Record<string, { response: Record<string, { examples?: unknown }> }>)['GET /a']?.response['200']
      ?.examples;
  assert.deepEqual(examplesOf(shown('*/*', 'application/json')), { example: 'x' });
  assert.deepEqual(examplesOf(shown('application/json; charset=utf-8', 'application/json')), { example: 'x' });
  assert.equal(examplesOf(shown('application/json', 'text/csv')), undefined);
});

test('an operation whose identifier another has is called by its key', () => {
  const document = take({ paths: { '/a': { get: { operationId: 'x', ...ok } }, '/b': { get: { operationId: 'x', ...ok } } } });
  assert.deepEqual(
    check(document).findings.map(({ code, place }) => `${code} ${place.line}`),
    ['import/contradiction 20'],
  );
});
