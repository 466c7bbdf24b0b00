import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type Passing, type StandOptions } from './verify/stand.ts';

/** What `verify` says where something is always said to be missing, where a row is shown twice, and where a map stands for a text. */
const shelves = (conditions: string): string => `
title: Shelves
purpose: { purpose: Keeps shelves., base_url: none, users: { clerk: Sorts. }, functions: { sort: [create shelf, read shelf, list shelf, delete shelf] } }
resources:
  shelf:
    identifier: { field: name, generate: client }
    fields: { name: { type: string, pattern: "^[a-z0-9-]{3,40}$" }, width: { type: integer, minimum: 1, maximum: 90 } }
    required: [name, width]
states: none
endpoints:
  POST /shelves: { does: create shelf }
  GET /shelves: { does: list shelf, order: name, pagination: { style: none, items: rows } }
  GET /shelves/{name}: { does: read shelf }
  DELETE /shelves/{name}: { does: delete shelf }
authentication:
  schemes: { key: { type: api_key, header: Shelf-Key, generate: "key_{random:20}" } }
  accept: [key]
  permissions: none
events: none
errors:
  payload: { shape: { type: object, properties: { fault: string }, required: [fault] }, data: { fault: "code == null ? '' : code" } }
  codes:
    missing: { status: 404, when: [resource.missing, route.unknown] }
    invalid: { status: 400, when: [request.invalid, request.malformed, request.parameter] }
    taken: { status: 409, when: resource.exists }
    unknown: { status: 401, when: caller.unknown }
  conditions: { ${conditions} }
limits: { rate: none }
versioning: none
`;

const inPages = (document: string): string =>
  document.replace('style: none, items: rows', 'style: offset, offset: skip, size: limit, default: 4, max: 8, items: rows');

async function told(
  stand: StandOptions,
  only: readonly string[] = [],
  conditions = 'write.conflict: any',
  otherwise = (document: string): string => document,
): Promise<string[]> {
  const { verify, close } = await openStand(otherwise(shelves(conditions)), stand);
  try {
    const { breaches } = await verify({ only });
    return breaches.map(({ kind, subject, reason }) => `${kind} (${subject}), ${reason}`);
  } finally {
    await close();
  }
}

const isAsked = ({ method, target }: Pick<Passing, 'method' | 'target'>, asked: RegExp): boolean =>
  asked.test(`${method} ${target}`);

for (const [operation, asked] of [
  ['create shelf', /^POST \/shelves$/],
  ['list shelf', /^GET \/shelves$/],
  ['read shelf', /^GET \/shelves\/./],
  ['delete shelf', /^DELETE /],
] as const)
  test(`${operation} that always says that it is missing cannot be done`, async () => {
    const spoil = (passing: Passing): Partial<Passing> =>
      isAsked(passing, asked) && passing.status < 300 ? { status: 404, text: '{"fault":"missing"}' } : {};
    const found = await told({ spoil }, ['functions']);
    assert.deepEqual(
      found.filter((one) => one.startsWith('functions')),
      [`functions (service), ${operation} succeeds`],
    );
  });

test('an operation that lets nobody in cannot be done, also where no rule says who may do it', async () => {
  const spoil = (passing: Passing): Partial<Passing> =>
    isAsked(passing, /^DELETE /) && passing.status < 300 ? { status: 401, text: '{"fault":"unknown"}' } : {};
  assert.ok((await told({ spoil }, ['functions'])).includes('functions (service), delete shelf succeeds'));
});

test('a row that is shown twice on the one page of a list is told', async () => {
  const spoil = (passing: Passing): Partial<Passing> => {
    if (!isAsked(passing, /^GET \/shelves$/) || passing.status >= 300) return {};
    const { rows } = JSON.parse(passing.text) as { readonly rows: readonly unknown[] };
    return { text: JSON.stringify({ rows: [...rows, ...rows.slice(-1)] }) };
  };
  assert.ok((await told({ spoil })).includes('pagination bounds (GET /shelves), once on one page'));
});

test('pages that never come to an end are told by what they show twice', async () => {
  const bend = ({ target }: { readonly target: string }) => ({ target: target.replace(/skip=\d+/, 'skip=0') });
  const found = await told({ bend }, ['pagination bounds'], undefined, inPages);
  assert.ok(found.includes('pagination bounds (GET /shelves), once'), found.join('\n'));
});

test('a map that stands for an identifier is a wrong type, and nothing fails over it', async () => {
  const spoil = ({ text, status }: Passing): Partial<Passing> =>
    status < 300 ? { text: text.replaceAll(/"name":("[^"]*")/g, '"name":{"text":$1}') } : {};
  assert.ok((await told({ spoil })).some((one) => one.startsWith('types (shelf.name)')));
});

test('what a request is refused for is not asked where that is left to the implementation', async () => {
  const bend = ({ target }: { readonly target: string }) => ({ target: target.split('?')[0] ?? '' });
  const unstated = (all: readonly string[]) => all.filter((one) => one.endsWith('unstated refused'));
  assert.notDeepEqual(unstated(await told({ bend }, ['parameters'])), []);
  assert.deepEqual(unstated(await told({ bend }, ['parameters'], 'request.parameter: any')), []);
});

test('a refusal that is left to the implementation has whatever payload', async () => {
  // Where no credential came the challenge is bare.
  const spoil = ({ status, headers }: Passing): Partial<Passing> =>
    status === 401 && !String(headers['www-authenticate']).includes('error=') ? { text: '' } : {};
  const payload = (all: readonly string[]) => all.filter((one) => one.startsWith('error payload shapes'));
  const only = ['schemes', 'permission rules', 'error payload shapes'];
  assert.notDeepEqual(payload(await told({ spoil }, only)), []);
  assert.deepEqual(payload(await told({ spoil }, only, 'caller.unknown.missing: any')), []);
});
