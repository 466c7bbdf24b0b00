import type { MockCase } from './documents.ts';

/** What is asked for and answered: media types, statuses, examples, and which operation it is. */
const json = (example: string | Record<string, unknown>) => ({ 'application/json': { example: example as string } });
const plain = { 'text/plain': { example: 'hello' } };
const xml = { 'application/xml': { example: '<project><foo>1</foo></project>' } };
const accepting = (accept: string) => ({ headers: { accept } });
const pet = {
  type: 'object',
  required: ['name'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string', example: 'doggie' },
    status: { enum: ['available', 'sold'], type: 'string' },
  },
};

export const negotiated: readonly MockCase[] = [
  { name: 'the one type that is asked for', responses: { 200: json('hello') }, sent: accepting('application/json'), status: 200 },
  {
    name: 'the first of two that is there',
    responses: { 200: { ...plain, ...xml } },
    sent: accepting('application/xml, application/json'),
    status: 200,
  },
  {
    name: 'text before JSON',
    responses: { 200: { ...xml, ...plain } },
    sent: accepting('text/plain, application/json'),
    status: 200,
  },
  {
    name: 'the second where the first is not there',
    responses: { 200: json('hello') },
    sent: accepting('application/xml, application/json'),
    status: 200,
  },
  { name: 'any of a kind', responses: { 200: { ...json('hello'), ...xml } }, sent: accepting('application/*'), status: 200 },
  { name: 'a type that is not there', responses: { 200: plain }, sent: accepting('application/json'), status: 406 },
  { name: 'any type, of one', responses: { 200: plain }, sent: accepting('*/*'), status: 200 },
  { name: 'any type, of two', responses: { 200: { ...plain, ...json('hello') } }, sent: accepting('*/*'), status: 200 },
  {
    name: 'by weights',
    responses: { 200: { ...json('hello'), ...xml } },
    sent: accepting('application/json;q=0.8, application/xml;q=0.9'),
    status: 200,
  },
  {
    name: 'by one weight',
    responses: { 200: { ...json('hello'), ...xml } },
    sent: accepting('application/json;q=0.8, application/xml'),
    status: 200,
  },
  {
    name: 'the least of three',
    responses: { 200: plain },
    sent: accepting('application/json;q=0.8, application/xml, text/plain;q=0.5'),
    status: 200,
  },
  {
    name: 'a type of a vendor',
    responses: { 200: { ...json('hello'), 'application/vnd.api+json': { example: 'vendor' } } },
    sent: accepting('application/vnd.api+json'),
    status: 200,
  },
  {
    name: 'no wish, of two',
    responses: { 200: { ...json('hello'), 'application/vnd.api+json': { example: 'vendor' } } },
    status: 200,
  },
  {
    name: 'no wish, XML first',
    path: '/pet/{petId}',
    parameters: [{ in: 'path', name: 'petId', required: true, schema: { type: 'integer' } }],
    responses: { 200: { 'application/xml': { schema: pet }, 'application/json': { schema: pet } } },
    sent: { path: '/pet/123' },
    status: 200,
  },
  {
    name: 'several wishes',
    path: '/check-email',
    responses: { 200: { 'application/json': { schema: { type: 'string' } } } },
    sent: accepting('application/json, text/plain, */*'),
    status: 200,
  },
  {
    name: 'a type with a parameter that is not stated',
    responses: {
      200: {
        'application/vnd.archa.api+json': {
          schema: { type: 'object', required: ['value'], properties: { value: { type: 'string' } } },
        },
      },
    },
    sent: accepting('application/vnd.archa.api+json; version=1'),
    status: 200,
  },
  {
    name: 'an answer without a body, asked for as JSON',
    method: 'delete',
    responses: { 204: undefined },
    sent: { method: 'DELETE', ...accepting('application/json') },
    status: 204,
  },
  {
    name: 'what a browser sends',
    responses: {
      200: { 'application/json': { schema: { type: 'object', required: ['honey'], properties: { honey: { type: 'string' } } } } },
    },
    sent: accepting(
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3',
    ),
    status: 200,
  },
  {
    name: 'an empty wish',
    responses: { 200: { 'text/plain': { schema: { type: 'string' } } } },
    sent: accepting(''),
    status: 200,
  },
  {
    name: 'a wish that is none',
    responses: { 200: { 'text/plain': { schema: { type: 'string' } } } },
    sent: accepting('inv/alid'),
    status: 406,
  },
  {
    name: 'XML by an example',
    responses: {
      200: {
        'application/json': { schema: pet, example: { id: 2, name: 'Fluffy' } },
        'application/xml': { schema: pet, example: { id: 1, name: 'Sharik' } },
      },
    },
    sent: accepting('application/xml'),
    status: 200,
  },
  {
    name: 'XML by a schema',
    path: '/pets',
    responses: { 200: { 'application/json': { schema: pet }, 'application/xml': { schema: pet } } },
    sent: accepting('application/xml'),
    status: 200,
  },
  {
    name: 'text of one value',
    path: '/text',
    responses: { 200: { 'text/plain': { schema: { type: 'number' } } } },
    sent: accepting('text/plain'),
    status: 200,
  },
  {
    name: 'text of a map',
    path: '/text',
    responses: { 200: { 'text/plain': { schema: pet } } },
    sent: accepting('text/plain'),
    status: 500,
  },
];

const code = (status: number) => ({ headers: { 'ninefold-scenario': `status=${status}` } });
const ranges = {
  503: { 'text/plain': { example: 'unavailable' } },
  '5XX': { 'text/plain': { example: 'some failure' } },
  default: { 'text/plain': { example: 'any' } },
};

export const statuses: readonly MockCase[] = [
  { name: 'only a default', responses: { default: json('test') }, status: 200 },
  {
    name: 'a code that is not stated, beside a default',
    responses: { 200: json('ok'), default: json('test') },
    sent: code(201),
    status: 201,
  },
  { name: 'a code that is not stated', responses: { 200: json('ok') }, sent: code(304), status: 404 },
  { name: 'no success at all', responses: { 405: undefined }, status: 500 },
  { name: 'the second of two codes', responses: { 200: json('ok'), 201: json('more') }, sent: code(201), status: 201 },
  { name: 'the least of three', responses: { 204: undefined, 210: undefined, 202: json('ok') }, status: 202 },
  { name: 'a code that is not stated, beside a failure', responses: { 400: undefined }, sent: code(404), status: 404 },
  {
    name: 'a code by a word of its own',
    responses: { 200: json('ok'), 201: json('more') },
    sent: { headers: { prefer: 'code=201' } },
    status: 201,
  },
  { name: 'a code beside its range', format: 'openapi', responses: ranges, sent: code(503), status: 503 },
  { name: 'a code of a range', format: 'openapi', responses: ranges, sent: code(502), status: 502 },
  { name: 'a code of no range, beside a default', format: 'openapi', responses: ranges, sent: code(401), status: 401 },
  {
    name: 'a code of no range',
    format: 'openapi',
    responses: { 503: ranges[503], '5XX': ranges['5XX'] },
    sent: code(401),
    status: 404,
  },
  { name: 'a code before its range', format: 'openapi', responses: { 201: plain, '2XX': plain, default: plain }, status: 201 },
  { name: 'a default before a range of failures', format: 'openapi', responses: { '4XX': plain, default: plain }, status: 200 },
  { name: 'two ranges of failures', format: 'openapi', responses: { '4XX': plain, '5XX': plain }, status: 400 },
  { name: 'two ranges of failures, the other way', format: 'openapi', responses: { '5XX': plain, '4XX': plain }, status: 500 },
  {
    name: 'a failure by its code',
    path: '/status/501',
    responses: { 501: undefined },
    sent: { headers: { prefer: 'code=501' } },
    status: 501,
  },
  { name: 'no content', path: '/path', responses: { 204: undefined }, status: 204 },
  {
    name: 'nothing stated, asked for as text',
    path: '/path',
    responses: { 200: undefined },
    sent: accepting('text/plain'),
    status: 200,
  },
  {
    name: 'text beside no content',
    path: '/path',
    responses: { 204: undefined, 200: plain },
    sent: accepting('text/plain'),
    status: 200,
  },
  {
    name: 'a head that is stated',
    method: 'head',
    responses: { 200: undefined },
    sent: { method: 'HEAD', ...accepting('application/json') },
    status: 200,
  },
  { name: 'a head that is not stated', responses: { default: plain }, sent: { method: 'HEAD' }, status: 405 },
  {
    name: 'a sample of three thousand',
    responses: { default: { 'application/json': { schema: { type: 'array', items: { type: 'string' }, minItems: 3000 } } } },
    status: 500,
  },
  { name: 'options that are not stated', responses: { 200: json('ok') }, sent: { method: 'OPTIONS' }, status: 204 },
];

const cats = { cat: { value: { id: 2, name: 'Fluffy' } }, dog: { value: { id: 1, name: 'Sharik' } } };
const example = (name: string) => ({ headers: { prefer: `example=${name}` } });

export const chosen: readonly MockCase[] = [
  {
    name: 'an example by its name',
    format: 'openapi',
    responses: { 200: { 'application/json': { examples: cats } } },
    sent: example('dog'),
    status: 200,
  },
  { name: 'the one example', responses: { 200: json({ id: 1, name: 'Sharik' }) }, sent: example('default'), status: 200 },
  {
    name: 'an example beside one without a name',
    format: 'openapi',
    responses: { 200: { 'application/json': { example: cats.dog.value, examples: cats } } },
    sent: example('cat'),
    status: 200,
  },
  {
    name: 'what else a map may have',
    path: '/resources/{resource_id}',
    format: 'openapi',
    responses: {
      200: {
        'application/json': {
          schema: { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: { type: 'string' } },
        },
      },
    },
    sent: { path: '/resources/5' },
    status: 200,
  },
  {
    name: 'a schema within itself',
    path: '/',
    responses: {
      200: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { prop: { type: 'object', properties: { children: { type: 'array', items: { type: 'object' } } } } },
          },
        },
      },
    },
    sent: { path: '/' },
    status: 200,
  },
];

const number = { 'application/json': { schema: { type: 'number' } } };

export const routed: readonly MockCase[] = [
  {
    name: 'a word and a parameter in one part',
    path: '/test/fixed.{format}',
    format: 'openapi',
    responses: { 200: json('{}') },
    others: { '/test/fixed': plain },
    sent: { path: '/test/fixed.json' },
    status: 200,
  },
  {
    name: 'a colon and a parameter in one part',
    path: '/test:{rpc}',
    format: 'openapi',
    responses: { 200: number },
    others: { '/test': plain, '/test/yes': plain },
    sent: { path: '/test:yes' },
    status: 200,
  },
  {
    name: 'a word before a parameter',
    path: '/test/{id}',
    format: 'openapi',
    responses: { 200: number },
    others: { '/test/fixed': number },
    sent: { path: '/test/fixed' },
    status: 200,
  },
  {
    name: 'a path of odd letters',
    path: '/test path > with | unsafe % characters',
    format: 'openapi',
    responses: { 200: json('ok') },
    sent: { path: '/test%20path%20%3E%20with%20%7C%20unsafe%20%25%20characters' },
    status: 200,
  },
  {
    name: 'a path that lacks its last part',
    path: '/pet/a/{b}',
    parameters: [{ in: 'path', name: 'b', required: true }],
    responses: { 200: json('abc') },
    sent: { path: '/pet/a' },
    status: 404,
  },
  {
    name: 'an empty part',
    path: '/path/{param}/foo',
    parameters: [{ in: 'path', name: 'param', required: true, schema: { type: 'string' } }],
    responses: { 200: { 'application/json': { schema: { type: 'object' } } } },
    sent: { path: '/path//foo' },
    status: 422,
  },
  {
    name: 'a part that breaks its pattern',
    path: '/path/{param}',
    parameters: [{ in: 'path', name: 'param', required: true, schema: { type: 'string', pattern: '^[A-Z]+$' } }],
    responses: { 200: { 'application/json': { schema: { type: 'object' } } } },
    sent: { path: '/path/fp' },
    status: 422,
  },
  {
    name: 'a parameter behind a colon',
    path: '/pet/a:{b}',
    format: 'openapi',
    parameters: [{ in: 'path', name: 'b', required: true, schema: { type: 'string' } }],
    responses: { 200: json('ok') },
    sent: { path: '/pet/a:run' },
    status: 200,
  },
  {
    name: 'a parameter with a hyphen',
    path: '/pet/a/{b-id}',
    parameters: [{ in: 'path', name: 'b-id', required: true, schema: { type: 'number' } }],
    responses: { 200: json('ok') },
    sent: { path: '/pet/a/1' },
    status: 200,
  },
];
