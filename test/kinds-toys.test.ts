import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOfRecipe } from './kinds/recipe.ts';
import { addKinds, type Toy } from './kinds/toy.ts';

const fixture = (name: string) => new URL(`fixtures/kinds/${name}.ts`, import.meta.url);

/** A kind of each sort from outside, each as one file and one row. */
const toys: readonly Toy[] = [
  { sort: 'limits', name: 'aligned', source: { text: kindOfRecipe() } },
  { sort: 'pages', name: 'start', source: fixture('start') },
  { sort: 'formats', name: 'isbn', source: fixture('isbn') },
  { sort: 'generators', name: 'octal', source: fixture('octal') },
];

await addKinds(toys);
const { check, movableClock, parseDocument, serve } = await import('../src/index.ts');
const { openStand } = await import('./verify/stand.ts');
const { exported, plain, readBack } = await import('./openapi/harness.ts');

const books = `
title: Books
purpose: { purpose: Lends books., users: { reader: Reads. }, functions: { read: [create book, read book, list book] } }
resources:
  book:
    identifier: { field: id, generate: "bk_{octal:12}" }
    fields: { id: string, isbn: { type: string, format: isbn }, title: { type: string, maxLength: 40 } }
    required: [id, isbn, title]
states: none
endpoints:
  POST /books: { does: create book }
  GET /books: { does: list book }
  GET /books/{id}: { does: read book }
authentication: none
events: none
errors: { payload: problem, codes: { bad_page: { status: 422, when: limit.page }, slow_down: { status: 429, when: limit.rate } } }
limits:
  rate: [{ per: everyone, on: [read book], kind: aligned, limit: 4, window: 10s, spare: 1 }]
  pagination: { style: start, start: startIndex, size: count, default: 2, max: 4, over_max: clamp, items: data, total: totalResults, next: next }
versioning: none
`;

/** What is wrong where the document is changed so, one finding a sort at least: its code, and what is said. */
const misuses: readonly (readonly [what: string, stated: string, otherwise: string, code: string, says: RegExp])[] = [
  ['a rate of an unknown kind', 'aligned', 'alinged', 'form/wrong-value', /`aligned`/],
  ['a spare of nothing', 'spare: 1', 'spare: 0', 'limits/of-nothing', /spare of nothing/],
  ['a spare that is a text', 'spare: 1', 'spare: some', 'form/wrong-value', /some/],
  ['a cost above what there ever is', 'spare: 1', 'spare: 1, cost: { read book: 6 }', 'limits/burst', /never more than 5/],
  ['the word of another rate', 'spare: 1', 'burst: 3', 'limits/idle-burst', /A window on the clock has no burst/],
  ['an unknown style of pages', 'style: start', 'style: strat', 'form/wrong-value', /`start`/],
  ['pages without their parameter', 'start: startIndex, ', '', 'limits/page-parameter', /`start: start`/],
  [
    'pages with the parameter of another style',
    'size: count',
    'size: count, offset: skip',
    'limits/page-word',
    /pages of style start/,
  ],
  ['an unknown format', 'format: isbn', 'format: isnb', 'shapes/unknown-format', /`isbn`/],
  ['an example of no such format', 'format: isbn', 'format: isbn, example: "9780306406158"', 'shapes/example-misfit', /isbn/],
  ['a generator without its length', '{octal:12}', '{octal}', 'resources/identifier-template', /\{octal:24\}/],
];

test('a document that names kinds from outside is sound', () => {
  assert.deepEqual(
    check(parseDocument(books, 'books.yaml')).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
});

for (const [what, stated, otherwise, code, says] of misuses) {
  test(`${what} is found`, () => {
    assert.ok(books.includes(stated));
    const { findings } = check(parseDocument(books.replace(stated, otherwise), 'books.yaml'));
    const found = findings.filter((finding) => finding.code === code);
    assert.match(
      found.map(({ message, remedy }) => `${message} ${remedy}`).join('\n'),
      says,
      JSON.stringify(findings.map((one) => [one.code, one.message])),
    );
  });
}

test('kinds from outside are served', async () => {
  const clock = movableClock(Date.parse('2026-06-01T09:00:04Z'));
  const service = await serve(parseDocument(books, 'books.yaml'), { clock });
  const send = async (path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await service.fetch(new Request(`http://127.0.0.1${path}`, init));
    return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
  };
  const wrong = await send('/books', { isbn: '9780306406158', title: 'a' });
  assert.equal(wrong.status, 422);
  assert.match(JSON.stringify(wrong.body), /an ISBN of thirteen digits/);
  const ids: unknown[] = [];
  for (const title of ['a', 'b', 'c', 'd', 'e']) ids.push((await send('/books', { isbn: '9780306406157', title })).body.id);
  for (const id of ids) assert.match(String(id), /^bk_[0-9a-f]{12}$/);
  const titles = async (query: string) => {
    const { body } = await send(`/books${query}`);
    return [(body.data as { title: string }[]).map(({ title }) => title).join(''), body.next, body.totalResults];
  };
  assert.deepEqual(await titles(''), ['ab', 3, 5]);
  assert.deepEqual(await titles('?startIndex=3'), ['cd', 5, 5]);
  assert.deepEqual(await titles('?startIndex=2&count=4'), ['bcde', null, 5]);
  for (const value of ['0', 'many']) assert.equal((await send(`/books?startIndex=${value}`)).status, 422, value);
  const read = () => send(`/books/${ids[0]}`);
  const first = await read();
  assert.match(String(first.headers.get('ratelimit-policy')), /;q=4;w=10;ninefold-capacity=5/);
  for (let count = 2; count <= 5; count++) assert.equal((await read()).status, 200, `${count}`);
  const refused = await read();
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '6']);
  clock.advance(5_999);
  assert.equal((await read()).status, 429);
  clock.advance(1);
  assert.equal((await read()).status, 200);
  await service.close();
});

/** What is served otherwise than it is stated, and the fact that is broken for this reason. */
const faults: readonly (readonly [what: string, stated: string, otherwise: string, fact: RegExp])[] = [
  ['a rate lets more through', 'spare: 1', 'spare: 8', /^rate limits:service$/],
  ['a rate lets less through', 'limit: 4', 'limit: 2', /^rate limits:service$/],
  [
    'pages are counted from 0',
    'style: start, start: startIndex',
    'style: offset, offset: startIndex',
    /^pagination bounds:GET \/books$/,
  ],
  ['a format is not looked at', ', format: isbn', '', /^formats/],
  ['identifiers are made otherwise', '{octal:12}', '{random:12}', /identifier/],
];

test('kinds from outside are verified: a service that keeps them breaks nothing', { timeout: 120_000 }, async () => {
  const stand = await openStand(books);
  const report = await stand.verify();
  await stand.close();
  assert.deepEqual(
    report.facts.filter(({ verdict }) => verdict === 'broken'),
    [],
  );
  for (const fact of [/^rate limits:service$/, /^pagination bounds:GET \/books$/]) {
    const held = report.facts.find(({ kind, subject }) => fact.test(`${kind}:${subject}`));
    assert.equal(held?.verdict, 'held', JSON.stringify(held));
  }
});

for (const [what, stated, otherwise, fact] of faults) {
  test(`a service is caught: ${what}`, { timeout: 120_000 }, async () => {
    assert.ok(books.includes(stated));
    const stand = await openStand(books, { served: books.replace(stated, otherwise) });
    const report = await stand.verify();
    await stand.close();
    const broken = report.facts.filter(({ verdict }) => verdict === 'broken').map(({ kind, subject }) => `${kind}:${subject}`);
    assert.ok(
      broken.some((one) => fact.test(one)),
      broken.join('\n'),
    );
  });
}

test('kinds from outside are exported, and read back as they were', () => {
  const document = parseDocument(books, 'books.yaml');
  const openapi = exported(document);
  const text = JSON.stringify(openapi);
  assert.ok(text.includes(JSON.stringify('^97[89]\\d{10}$')));
  const asked = { name: 'startIndex', in: 'query', description: 'The number of the first row, counted from 1.' };
  const whole = { type: 'integer', minimum: 1, default: 1 };
  assert.ok(text.includes(JSON.stringify({ ...asked, schema: whole }).slice(0, -1)), text);
  assert.ok(text.includes('"kind":"aligned"') && text.includes('"spare":1'));
  assert.deepEqual(readBack(openapi), plain(document.tree));
});

test('a style of pages from outside is recognised in a document of others', () => {
  const foreign = {
    openapi: '3.1.0',
    info: { title: 'Users', version: '1' },
    paths: {
      '/users': {
        get: {
          parameters: [
            { name: 'startIndex', in: 'query', schema: { type: 'integer' } },
            { name: 'count', in: 'query', schema: { type: 'integer', maximum: 50 } },
          ],
          responses: { 200: { description: 'Users.', content: { 'application/json': { schema: list } } } },
        },
      },
      '/users/{id}': {
        get: {
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: {
            200: { description: 'A user.', content: { 'application/json': { schema: { $ref: '#/components/schemas/user' } } } },
          },
        },
      },
    },
    components: { schemas: { user } },
  };
  const { tree } = parseDocument(JSON.stringify(foreign), 'users.json');
  assert.match(JSON.stringify(tree), /"style":"start","start":"startIndex","size":"count","max":50/);
});

const user = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } }, required: ['id'] };
const list = {
  type: 'object',
  properties: { Resources: { type: 'array', items: { $ref: '#/components/schemas/user' } }, totalResults: { type: 'integer' } },
};
