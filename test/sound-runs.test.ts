import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check, parseDocument } from '../src/index.ts';
import { times } from './long.ts';
import { type Answered, tryDocument, tryService } from './serving/tried.ts';
import { askAll, type Came } from './sound/asked.ts';
import { twistedDocument } from './sound/twisted.ts';

/**
 * What is sound runs: no document that checks answers 500 for reasons of its own. `NINEFOLD_RUNS=1000` draws more; `NINEFOLD_SEED` and
 * `NINEFOLD_PATH` take what a failure names.
 */
const { NINEFOLD_RUNS: runs = times(20, 25), NINEFOLD_SEED: given, NINEFOLD_PATH: path } = process.env;
const seed = given ?? '13';

/** What comes of a document; nothing where it is not sound. */
async function cameOf(
  text: string,
): Promise<{ readonly came: readonly Came[]; readonly failures: readonly string[] } | undefined> {
  const document = parseDocument(text, 'twisted.json');
  const { sound, spec } = check(document);
  if (!sound) return undefined;
  const failures: string[] = [];
  const users = Object.keys(JSON.parse(text).purpose?.users ?? {});
  const tried = await tryDocument(document, {
    environment: { STRANGE_SECRET: 'x'.repeat(64) },
    handlers: { twice: () => ({ twice: 2, tone: 'low' }) },
    identify: ({ headers }) => ({ user: String(headers['x-who']), id: 'ann', scopes: [] }),
  });
  try {
    const send = (method: string, target: string, sent = {}): Promise<Answered> => tried.send(method, target, sent);
    const came = await askAll(spec, send, users[0] ?? 'anyone');
    await tried.service.settled();
    failures.push(...tried.failures.map((one) => (one instanceof Error ? `${one.stack}` : String(one))));
    return { came, failures };
  } finally {
    await tried.close();
  }
}

test('whatever document is sound, nothing that is asked of it fails within the service', async () => {
  let sound = 0;
  let good = 0;
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const text = JSON.stringify({ title: 'Twisted', ...twistedDocument(draw) }, undefined, 1);
      const held = await cameOf(text);
      if (!held) return;
      sound += 1;
      good += held.came.filter(({ status }) => status < 300).length;
      const wrong = held.came.filter(({ status }) => status >= 500 && status !== 501 && status !== 503).map(({ told }) => told);
      // What an expression comes to is known when it has: what it makes of a stored row alone, and not of what was sent, is a failure, and told as one.
      const other = held.failures.filter((failure) => !isOfStoredRow(failure));
      if (other.length > 0 || wrong.length > held.failures.length) assert.deepEqual([...wrong, ...other], [], text);
    }),
    { numRuns: Number(runs), seed: Number(seed), ...(path !== undefined && { path }), endOnFailure: given === undefined },
  );
  if (path === undefined)
    assert.ok(sound > Number(runs) / 10 && good > sound, `${sound} were sound, and ${good} requests went well`);
  if (process.env.NINEFOLD_RUNS) console.log(`${sound} sound, ${good} well`);
});

/** Whether an expression that reads nothing of the request came to what its field does not take. */
function isOfStoredRow(failure: string): boolean {
  const [, source] = /^Error: What sets \w+ \((.*?)\)(?: gave | failed)/.exec(failure) ?? [];
  return source !== undefined && !/\brequest\b|\bparams\b/.test(source);
}

const users = `user: { identifier: { field: id, generate: integer }, fields: { id: integer, login: string }, required: [id, login] }`;

/** Documents that answered 500, or never what they state: what is asked of each, and what comes. */
const mended: Readonly<
  Record<string, { readonly text: string; readonly asks: readonly (readonly [string, unknown, unknown])[] }>
> = {
  'what is set may read the identifier that is made': {
    text: `title: A
resources:
  user: { identifier: { field: id, generate: integer }, fields: { id: integer, link: { type: string, readOnly: true, set: { create: "'/users/' + string(next.id)" } } }, required: [id, link] }
endpoints: { POST /users: { does: create user } }
authentication: none`,
    asks: [['POST /users', {}, { id: 1, link: '/users/1' }]],
  },
  'an answer may read what is stored': {
    text: `title: C
resources: { note: { identifier: { field: id, generate: integer }, fields: { id: integer, text: string }, required: [id, text] } }
endpoints:
  POST /notes: { does: create note, response: { 201: { data: { it: next.id } } } }
  PUT /notes/{id}: { does: replace note, response: { 200: { data: { it: next.id, text: next.text } } } }
  PATCH /notes/{id}: { does: update note, response: { 200: { data: { text: next.text } } } }
authentication: none`,
    asks: [
      ['POST /notes', { text: 'a' }, { it: 1 }],
      ['PUT /notes/1', { text: 'b' }, { it: 1, text: 'b' }],
      ['PATCH /notes/1', { text: 'c' }, { text: 'c' }],
    ],
  },
  'a reference to a number is set from text or a number, compared as text, and decides who sees a row': {
    text: `title: B
purpose: { users: { m: M } }
resources:
  ${users}
  repo:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      owner: { ref: user, readOnly: true, set: { create: caller.id } }
      first: { ref: user, readOnly: true, set: { create: "1" } }
    required: [id, owner, first]
endpoints:
  POST /users: { does: create user }
  POST /repos: { does: create repo }
  GET /repos: { does: list repo }
  GET /repos/{id}: { does: read repo }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  public: [create user]
  permissions: [{ allow: [create repo], to: m }, { allow: [read repo, list repo], to: m, if: "resource.owner == caller.id" }]`,
    asks: [
      ['POST /users', { login: 'ann' }, { id: 1, login: 'ann' }],
      ['POST /repos', {}, { id: 1, owner: 1, first: 1 }],
      ['GET /repos/1', undefined, { id: 1, owner: 1, first: 1 }],
      ['GET /repos', undefined, [{ id: 1, owner: 1, first: 1 }]],
    ],
  },
};

/** What makes other values of what is sent, which do not always fit: the fields that set, and what is sent, to be refused at which place. */
const reckoned = `title: Reckoned
resources:
  note:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      text: string
      count: integer
      inner: { type: object, properties: { deep: integer }, required: [deep] }
      short: { type: string, maxLength: 4, readOnly: true, set: { write: "next.text + '!'" } }
      below: { type: integer, maximum: 9, readOnly: true, set: { create: "request.count * 2" } }
      parts: { type: integer, readOnly: true, set: { create: "100 / next.count" } }
      whole: { type: integer, readOnly: true, set: { create: "int(next.text)", update: "1" } }
      depth: { type: integer, minimum: 0, readOnly: true, set: { create: "request.inner.deep - 5", update: "1" } }
      seen: { type: integer, maximum: 3, readOnly: true, set: { create: "0", shut: "resource.seen + 9" } }
      status: { type: string, readOnly: true }
    required: [id, text, count, inner, short, below, parts, whole, depth, seen, status]
    rules: { shares: { if: "60 / (next.count - 3) > 60", field: count, message: a count that shares } }
states: { note: { field: status, initial: open, states: [open, shut], transitions: { shut: open -> shut } } }
endpoints:
  POST /notes: { does: create note }
  PATCH /notes/{id}: { does: update note }
  POST /notes/{id}/shut: { does: shut note }
authentication: none
errors: { payload: problem, codes: { halved: { status: 409, if: "10 / (request.count - 2) > 100", on: [create note] } } }
`;
const fine = { text: '12', count: 1, inner: { deep: 7 } };
for (const [what, line, sent, status, places] of [
  ['what fits', 'POST /notes', fine, 201, []],
  ['too long', 'POST /notes', { ...fine, text: '1234' }, 422, ['/text']],
  ['too much', 'POST /notes', { ...fine, count: 5 }, 422, ['/count']],
  ['what cannot be divided by', 'POST /notes', { ...fine, count: 0 }, 422, ['/count']],
  ['no number', 'POST /notes', { ...fine, text: 'a' }, 422, ['/text']],
  ['deep inside', 'POST /notes', { ...fine, inner: { deep: 1 } }, 422, ['/inner/deep']],
  ['what a condition of an error cannot be told of', 'POST /notes', { ...fine, count: 2 }, 422, ['/count']],
  ['what a rule cannot be told of', 'POST /notes', { ...fine, count: 3 }, 422, ['/count']],
  ['a change', 'PATCH /notes/1', { text: 'abcd' }, 422, ['/text']],
  ['a change that fits', 'PATCH /notes/1', { text: '7' }, 200, []],
  ['a stored row alone', 'POST /notes/1/shut', undefined, 500, []],
] as const) {
  test(`what is set of what was sent and does not fit is refused at its place: ${what}`, async () => {
    const tried = await tryService(reckoned, { rows: {} } as never);
    await tried.send('POST', '/notes', { body: fine });
    const [method = '', path = ''] = line.split(' ');
    const answer = await tried.send(method, path, sent === undefined ? {} : { body: sent });
    const { violations = [] } = answer.json as { violations?: readonly { in: string; path: string }[] };
    assert.deepEqual([answer.status, violations.map((one) => one.path)], [status, places]);
    assert.equal(tried.failures.length, status === 500 ? 1 : 0);
    await tried.close();
  });
}

test('a parameter that what is set is made of is refused as a parameter', async () => {
  const tried = await tryService(`title: P
resources: { note: { identifier: { field: id, generate: integer }, fields: { id: integer, share: { type: integer, readOnly: true, set: { create: "10 / params.by" } } }, required: [id] } }
endpoints: { POST /notes: { does: create note, parameters: { by: { in: header, type: integer, required: true } } } }
authentication: none`);
  const answer = await tried.send('POST', '/notes', { body: {}, headers: { by: '0' } });
  const { violations } = answer.json as { violations: readonly { in: string; path: string; found: string }[] };
  assert.deepEqual(
    [answer.status, violations.map(({ in: place, path, found }) => [place, path, found])],
    [400, [['header', 'by', '0']]],
  );
  await tried.close();
});

for (const [what, { text, asks }] of Object.entries(mended)) {
  test(what, async () => {
    const tried = await tryService(text, { identify: () => ({ user: 'm', id: '1', scopes: [] }) });
    for (const [target, body, comes] of asks) {
      const [method = '', path = ''] = target.split(' ');
      const { json } = await tried.send(method, path, body === undefined ? {} : { body });
      assert.deepEqual(json, comes, target);
    }
    assert.deepEqual(tried.failures, []);
    await tried.close();
  });
}
