import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answered, type Tried, tryService } from './serving/tried.ts';

/** What docs/language.md answers of what a request comes to; each test holds one answer. */
const plants = `
resources:
  plant:
    identifier: { field: id, generate: client }
    fields:
      id: { type: string, pattern: "^[a-z]{2,8}$" }
      name: { type: string, minLength: 2 }
      kind: { enum: [tree, herb] }
      height: { type: integer, minimum: 0, maximum: 100 }
      found: { type: string, immutable: true }
      note: { type: "string?" }
    required: [id, name, note]
  sheet:
    identifier: { field: id, generate: uuid }
    fields: { id: { type: string, format: uuid }, plant: { ref: plant } }
    required: [id, plant]
endpoints:
  POST /plants: { does: create plant }
  GET /plants:
    does: list plant
    parameters:
      kind: { in: query }
      height: { in: query }
      starts: { in: query, filters: name, op: prefix }
      holds: { in: query, filters: name, op: contains }
  GET /plants/{id}: { does: read plant, etag: strong }
  PUT /plants/{id}: { does: upsert plant }
  PATCH /plants/{id}: { does: update plant }
  POST /sheets: { does: create sheet, idempotency: { header: Idempotency-Key, keep: 1h, required: true } }
  GET /sheets/{id}: { does: read sheet }
authentication: none
limits: { pagination: { style: cursor, cursor: cursor, size: limit, default: 2, max: 5, over_max: refuse, items: data, next: next, told: both } }
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid }, unreadable: { status: 400, when: [request.malformed, request.media] }, parameter: { status: 400, when: request.parameter }, missing: { status: 404, when: [resource.missing, route.unknown] } } }
`;

let tried: Tried;
before(async () => {
  tried = await tryService(plants);
  for (const [id, name] of [
    ['aa', 'Ash'],
    ['bb', 'ash'],
    ['cc', 'Oak'],
  ])
    await tried.send('POST', '/plants', { body: { id, name, kind: 'tree', note: '' } });
});
after(() => tried.close());

const told = ({ status, json }: Answered) => {
  const { code, violations } = (json ?? {}) as { code?: string; violations?: readonly { in: string; path: string }[] };
  return [status, code, violations?.map((one) => `${one.in} ${one.path}`)];
};
const ask = async (...sent: Parameters<Tried['send']>) => told(await tried.send(...sent));

test('a body that is no map is a violation of the whole, and one that lacks a field a violation where it would stand', async () => {
  assert.deepEqual(await ask('POST', '/plants', { body: [] }), [422, 'invalid', ['body ']]);
  assert.deepEqual(await ask('POST', '/plants', { body: { id: 'dd', note: '' } }), [422, 'invalid', ['body /name']]);
});

test('there are no violations where nothing is violated', async () => {
  assert.deepEqual(await ask('GET', '/plants/zz'), [404, 'missing', undefined]);
});

test('a filter takes the values of its field, once; prefix and contains mind case', async () => {
  assert.deepEqual(await ask('GET', '/plants?kind=bush'), [400, 'parameter', ['query kind']]);
  assert.deepEqual(await ask('GET', '/plants?height=200'), [400, 'parameter', ['query height']]);
  assert.deepEqual(await ask('GET', '/plants?kind=tree&kind=herb'), [400, 'parameter', ['query kind']]);
  const found = async (query: string) =>
    ((await tried.send('GET', `/plants?${query}`)).json as { data: { id: string }[] }).data.map(({ id }) => id);
  assert.deepEqual([await found('starts=a'), await found('holds=sh'), await found('holds=SH')], [['bb'], ['aa', 'bb'], []]);
});

test('an identifier that no row may have is a row that there is not, and a violation of what would make it', async () => {
  assert.deepEqual(await ask('GET', '/plants/NOT'), [404, 'missing', undefined]);
  assert.deepEqual(await ask('GET', '/sheets/no-uuid'), [404, 'missing', undefined]);
  assert.deepEqual(await ask('PUT', '/plants/NOT', { body: { name: 'Elm', note: '' } }), [422, 'invalid', ['body /id']]);
});

test('an immutable field is set by what makes the row alone, and no patch takes a required field away', async () => {
  assert.deepEqual(await ask('PATCH', '/plants/aa', { body: { found: 'here' } }), [422, 'invalid', ['body /found']]);
  assert.deepEqual(await ask('PATCH', '/plants/aa', { body: { note: null } }), [422, 'invalid', ['body /note']]);
});

test('a key that is required and missing is a parameter', async () => {
  assert.deepEqual(await ask('POST', '/sheets', { body: { plant: 'aa' } }), [400, 'parameter', ['header Idempotency-Key']]);
});

test('HEAD, OPTIONS and If-None-Match need no stating', async () => {
  const read = await tried.send('GET', '/plants/aa');
  const head = await tried.send('HEAD', '/plants/aa');
  assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', read.headers.etag]);
  const options = await tried.send('OPTIONS', '/plants/aa');
  assert.deepEqual([options.status, options.headers.allow], [204, 'GET, PUT, PATCH, HEAD, OPTIONS']);
  const again = await tried.send('GET', '/plants/aa', { headers: { 'if-none-match': String(read.headers.etag) } });
  assert.deepEqual([again.status, again.text], [304, '']);
});

test('Link has the next, the previous and the first page, as paths', async () => {
  const { headers } = await tried.send('GET', '/plants');
  assert.match(String(headers.link), /^<\/plants\?cursor=[^>]+>; rel="next", <\/plants>; rel="first"$/);
});
