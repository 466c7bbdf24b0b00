import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tried, type TriedOptions, tryService } from './serving/tried.ts';

/** An interface of procedures, as vendors have them: everything under one word, told by a flag in the body, by GET or by POST. */
const procedures = `
resources:
  group:
    identifier: { field: id, generate: "grp_{random:12}" }
    fields: { id: string, name: string, kind: { shape: { oneOf: [{ type: string, maxLength: 5 }, { type: string, pattern: ^a }] } }, owner: { ref: group }, parts: parts, leader: leader }
    required: [id, name, parts]
  parts: { identifier: none, fields: { object: { const: list }, data: [part], more: boolean }, required: [object, data, more] }
  part: { identifier: none, fields: { count: integer, leader: leader }, required: [count, leader] }
  leader: { identifier: { field: id, generate: client }, fields: { id: string, name: string }, required: [id, name] }
states: none
endpoints:
  POST /group.create:
    does: create group
    request: { type: object, properties: { name: string, kind: { oneOf: [{ type: string, maxLength: 5 }, { type: string, pattern: ^a }] }, owner: string, parts: { type: array, items: { type: object } }, expand: [string] }, required: [name] }
    consumes: [application/json, application/x-www-form-urlencoded]
    expand: { parameter: expand, depth: 2 }
    response:
      200: { shape: { type: object, properties: { ok: { const: true }, group: group }, required: [ok, group] }, data: { ok: "true", group: result } }
      default: { type: object, properties: { ok: { const: false }, error: { enum: [not_found, already_exists, fatal] } }, required: [ok, error] }
  GET /group.info:
    does: read group
    identity: "has(params.group) ? params.group : ''"
    parameters: { group: { in: query, type: string } }
    response:
      200: { shape: { type: object, properties: { ok: { const: true }, group: group }, required: [ok, group] }, data: { ok: "true", group: result } }
      default: { type: object, properties: { ok: { const: false }, error: { enum: [not_found, already_exists, fatal] } }, required: [ok, error] }
  POST /leaders: { does: create leader }
evidence:
  - { fact: /resources/group/identifier, rule: trial, from: "", confidence: 1 }
`;

async function served<T>(options: TriedOptions, body: (tried: Tried) => Promise<T>): Promise<T> {
  const tried = await tryService(procedures, { sample: true, ...options });
  try {
    const result = await body(tried);
    assert.deepEqual(tried.failures, []);
    return result;
  } finally {
    await tried.close();
  }
}

type Row = Readonly<Record<string, unknown>>;
const groupIn = (json: unknown): Row => (json as { group: Row }).group;
const form = { 'content-type': 'application/x-www-form-urlencoded' };

test('a form that is posted to a path that has GET alone is its query; with --strict the method is refused', async () => {
  await served({}, async ({ send }) => {
    const { id } = groupIn((await send('POST', '/group.create', { body: { name: 'Looms' } })).json);
    const read = await send('POST', '/group.info', { headers: form, body: `group=${id}` });
    assert.deepEqual([read.status, groupIn(read.json).name], [200, 'Looms']);
    assert.equal(read.headers['ninefold-warning'], 'method POST is not stated');
    assert.equal((await send('POST', '/group.info', { body: { group: id } })).status, 405);
    assert.equal((await send('DELETE', '/group.info')).status, 405);
  });
  await served({ strict: true }, async ({ send }) => {
    assert.equal((await send('POST', '/group.info', { headers: form, body: 'group=x' })).status, 405);
  });
});

test('where a flag in the body tells failure from success, a refusal has the status of success and the word that says most', async () => {
  await served({}, async ({ send }) => {
    const missing = await send('GET', '/group.info?group=nobody');
    assert.deepEqual([missing.status, missing.json], [200, { ok: false, error: 'not_found' }]);
  });
});

test('a key that the document does not name makes one thing of a request that is sent twice', async () => {
  const twice = (options: TriedOptions) =>
    served(options, async ({ send }) => {
      const post = () => send('POST', '/group.create', { headers: { 'idempotency-key': 'k1' }, body: { name: 'Looms' } });
      const [first, second] = [await post(), await post()];
      return { isSame: groupIn(first.json).id === groupIn(second.json).id, warning: first.headers['ninefold-warning'] };
    });
  assert.deepEqual(await twice({}), { isSame: true, warning: 'header Idempotency-Key is not stated' });
  assert.deepEqual(await twice({ strict: true }), { isSame: false, warning: undefined });
});

test('forms that overlap are no reason to refuse a value, but with --strict', async () => {
  const body = { name: 'Looms', kind: 'abc' };
  const lenient = await served({}, ({ send }) => send('POST', '/group.create', { body }));
  assert.deepEqual(
    [groupIn(lenient.json).name, lenient.headers['ninefold-warning']],
    ['Looms', 'body kind fits more of its forms than one'],
  );
  const strict = await served({ strict: true }, ({ send }) => send('POST', '/group.create', { body }));
  assert.equal((strict.json as Row).ok, false);
});

test('what breaks the document in any other way is refused', async () => {
  const { json } = await served({}, ({ send }) => send('POST', '/group.create', { body: { name: 7 } }));
  assert.equal((json as Row).ok, false);
});

test('an identifier that was inferred is the same for the same seed', async () => {
  const id = (seedValue: string) =>
    served({ seedValue }, async ({ send }) => groupIn((await send('POST', '/group.create', { body: { name: 'x' } })).json).id);
  assert.match(String(await id('1')), /^grp_[A-Za-z0-9]{12}$/);
  assert.equal(await id('1'), await id('1'));
  assert.notEqual(await id('1'), await id('2'));
});

test('a list given where an envelope of it stands goes into it, and an identifier where a thing stands is that thing', async () => {
  await served({}, async ({ send }) => {
    await send('POST', '/leaders', { body: { id: 'ada', name: 'Ada' } });
    const made = await send('POST', '/group.create', { body: { name: 'Looms', parts: [{ count: 2, leader: 'ada' }] } });
    assert.deepEqual(groupIn(made.json).parts, {
      object: 'list',
      data: [{ count: 2, leader: { id: 'ada', name: 'Ada' } }],
      more: false,
    });
  });
});

test('where a body is sent, what is to be shown whole may stand in it', async () => {
  await served({}, async ({ send }) => {
    const { id } = groupIn((await send('POST', '/group.create', { body: { name: 'Looms' } })).json);
    const made = await send('POST', '/group.create', { body: { name: 'Mills', owner: id, expand: ['owner'] } });
    assert.equal((groupIn(made.json).owner as Row).name, 'Looms');
  });
});

const namesakes = `
resources:
  template: { identifier: { field: id, generate: ulid }, fields: { id: string, row: { type: object, example: { $id: "0123", a: 1 } } }, required: [id] }
endpoints:
  POST /templates:
    does: create template
    request: { type: object, properties: { row: { type: object, example: { $id: "0123", b: 2 } }, other: { type: object, example: { $id: "0123", c: 3 } }, example: { type: integer } } }
`;

test('examples with a key that names schemas are no schemas', async () => {
  const tried = await tryService(namesakes, { sample: true });
  try {
    assert.equal((await tried.send('POST', '/templates', { body: { row: { d: 4 } } })).status, 201);
    assert.equal((await tried.send('POST', '/templates', { body: { example: 'five' } })).status, 400);
    assert.deepEqual(tried.failures, []);
  } finally {
    await tried.close();
  }
});

test('a name that no header can carry is told in percent-encoding, whatever its characters', async () => {
  for (const [name, told] of [
    ['q😀', 'q%F0%9F%98%80'],
    ['é', '%C3%A9'],
    ['\ud83d', '%EF%BF%BD'],
  ] as const) {
    await served({}, async ({ send }) => {
      const made = await send('POST', `/group.create?${encodeURIComponent(name.toWellFormed())}=1`, { body: { name: 'Looms' } });
      assert.deepEqual([made.status, made.headers['ninefold-warning']], [200, `query ${told} is not stated`]);
    });
  }
});
