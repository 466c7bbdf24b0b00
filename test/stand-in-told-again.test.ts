import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What clients of many vendors stumbled over: examples taken for answers, names told twice, pages, and lists that begin with something. */

const shownAs = (example: unknown, status = '200') => ({
  responses: { [status]: { description: 'ok', content: { 'application/json': { examples: { response: { value: example } } } } } },
});

test('a thing that is made where only one example is known is answered as it was sent, each under its own name, and is there below', async () => {
  const org = { id: '0356f641-c55c-488f-af05-c2122590f369', name: 'new-org', slug: 'new-org' };
  const paths = {
    '/org': { post: { ...sends(object({ name: string }, ['name'])), ...shownAs(org, '201') } },
    '/org/{orgId}': { ...within('orgId'), delete: { responses: { 204: { description: 'gone' } } } },
    '/org/{orgId}/units': {
      ...within('orgId'),
      post: { ...sends(object({ kind: string })), ...answers(object({ id: string, kind: string })) },
    },
    '/org/{orgId}/units/{unitId}': { ...within('orgId', 'unitId'), get: answers(object({ id: string, kind: string })) },
  };
  await standIn(paths, {}, async (ask) => {
    const { json: left } = await ask('POST', '/org', { name: 'Left' });
    const { json: right } = await ask('POST', '/org', { name: 'Right' });
    assert.deepEqual([left.name, right.name], ['Left', 'Right']);
    assert.notEqual(left.id, right.id);
    assert.equal((await ask('POST', `/org/${left.id}/units`, { kind: 'crane' })).status, 200);
    assert.equal((await ask('POST', '/org/nobody/units', { kind: 'crane' })).status, 404);
  });
});

test('an example that refers to one which stands elsewhere in the document is that one', async () => {
  const example = { names: ['ada', 'bob'] };
  const schema = { ...object({ names: list(string) }), example };
  const paths = {
    '/names': { get: answers(schema, { example: { $ref: '#/components/schemas/Names/example' } }) },
    '/odd': { get: answers(object({ $ref: string }), { example: { $ref: '#/nowhere' } }) },
  };
  await standIn(paths, { Names: schema }, async (ask) => {
    assert.deepEqual((await ask('GET', '/names')).json, example);
    assert.deepEqual((await ask('GET', '/odd')).json, { $ref: '#/nowhere' });
  });
});

test('an answer that may be null is none, and a thing in it is told by its identifier; what else may be null is', async () => {
  const playlist = object({ Id: { ...string, nullable: true }, Note: { ...string, nullable: true } });
  const paths = {
    '/devices': { get: answers({ nullable: true, allOf: [ref('Devices')] }) },
    '/playlists/queue': { post: { ...sends(object({ Ids: list(string) })), ...answers(playlist) } },
  };
  await standIn(paths, { Devices: object({ devices: list(string), duration: string }, ['duration']) }, async (ask) => {
    assert.equal(typeof (await ask('GET', '/devices')).json.duration, 'string');
    const { json } = await ask('POST', '/playlists/queue', { Ids: [] });
    assert.equal(typeof json.Id, 'string');
    assert.equal(json.Note, null);
  });
});

const toy = object({ id: integer, name: string });
const toys = (get: unknown) => ({ '/toys': { post: { ...sends(object({ name: string })), ...answers(toy) }, get }, ...oneToy });
const oneToy = { '/toys/{id}': { ...within('id'), get: answers(toy) } };
const query = (name: string, schema: unknown) => ({ name, in: 'query', schema });
const makeFive = async (ask: (method: string, path: string, body?: unknown) => Promise<unknown>) => {
  for (const name of ['A', 'B', 'C', 'D', 'E']) await ask('POST', '/toys', { name });
};

test('a count beside what leads both ways is that of all pages, and a number that leads nowhere is nought', async () => {
  const number = { type: 'number' };
  const around = object({ next: number, previous: number, count: number, current: number, total_pages: number });
  const required = ['next', 'previous', 'count', 'current', 'total_pages'];
  const page = object({ pagination: { ...around, required }, results: list(toy) }, ['pagination', 'results']);
  const parameters = [query('page', integer), query('page_size', integer)];
  await standIn(toys({ parameters, ...answers(page) }), {}, async (ask) => {
    await makeFive(ask);
    const { pagination } = (await ask('GET', '/toys?page=1&page_size=2')).json;
    assert.deepEqual(pagination, { next: 2, previous: 0, count: 5, current: 1, total_pages: 3 });
    assert.equal((await ask('GET', '/toys?page=3&page_size=2')).json.pagination.next, 0);
  });
  const plain = object({
    count: integer,
    next: { ...string, format: 'uri' },
    previous: { ...string, format: 'uri' },
    results: list(toy),
  });
  await standIn(toys({ parameters, ...answers(plain) }), {}, async (ask) => {
    await makeFive(ask);
    assert.equal((await ask('GET', '/toys?page=2&page_size=2')).json.count, 5);
  });
  const alone = object({ count: integer, results: list(toy) });
  await standIn(toys({ parameters, ...answers(alone) }), {}, async (ask) => {
    await makeFive(ask);
    assert.equal((await ask('GET', '/toys?page=2&page_size=2')).json.count, 2);
  });
});

test('the next page has a number, though nothing says by what it is asked for', async () => {
  const next_page = { type: 'number', nullable: true };
  const page = object({
    meta: object({ pagination: object({ next_page, page: integer }, ['next_page', 'page']) }),
    toys: list(toy),
  });
  await standIn(toys(answers(page)), {}, async (ask) => {
    await makeFive(ask);
    const at = async (asked: string) => (await ask('GET', `/toys?${asked}`)).json.meta.pagination.next_page;
    assert.deepEqual([await at('page=1&per_page=2'), await at('page=2&per_page=2'), await at('page=3&per_page=2')], [2, 3, null]);
  });
});

test('an offset whose first value is one says which row is the first', async () => {
  const asked = (first: number) => [query('offset', { ...integer, minimum: first, default: first }), query('limit', integer)];
  const names = (json: readonly { readonly name: string }[]) => json.map(({ name }) => name);
  await standIn(toys({ parameters: asked(1), ...answers(list(toy)) }), {}, async (ask) => {
    await makeFive(ask);
    assert.deepEqual(names((await ask('GET', '/toys?limit=2')).json), ['A', 'B']);
    assert.deepEqual(names((await ask('GET', '/toys?limit=2&offset=3')).json), ['C', 'D']);
  });
  await standIn(toys({ parameters: asked(0), ...answers(list(toy)) }), {}, async (ask) => {
    await makeFive(ask);
    assert.deepEqual(names((await ask('GET', '/toys?limit=2&offset=3')).json), ['D', 'E']);
  });
});

test('a list below a thing that was made begins with nothing, where something can be put there or taken out', async () => {
  const member = object({ objectId: string, objectType: string });
  const paths = {
    ...toys(answers(list(toy))),
    '/toys/{id}/members': { ...within('id'), get: answers(object({ value: list(member) })) },
    '/toys/{id}/$links/members/{member}': {
      ...within('id', 'member'),
      put: { responses: { 204: { description: 'bound' } } },
      delete: { responses: { 204: { description: 'gone' } } },
    },
    '/toys/{id}/measures': { ...within('id'), get: answers(object({ value: list(member) })) },
  };
  await standIn(paths, {}, async (ask) => {
    const { json: made } = await ask('POST', '/toys', { name: 'A' });
    assert.deepEqual((await ask('GET', `/toys/${made.id}/members`)).json, { value: [] });
    assert.equal((await ask('GET', `/toys/${made.id}/measures`)).json.value.length, 1);
    await ask('DELETE', `/toys/${made.id}/$links/members/m1`);
    assert.deepEqual((await ask('GET', `/toys/${made.id}/members`)).json, { value: [] });
    await ask('PUT', `/toys/${made.id}/$links/members/m1`);
    assert.equal((await ask('GET', `/toys/${made.id}/members`)).json.value.length, 1);
  });
});

test('what is sent again is another thing, with another name, unless it only asks or comes again under its key', async () => {
  const sent = object({ To: string });
  const example = { id: '1589228074636lm4k2je7j7jklbn2', To: 'ada' };
  const paths = {
    '/email': { post: { ...sends(sent), ...answers(object({ MessageID: string, To: string })) } },
    '/messages': { post: { ...sends(sent), ...answers(object({ id: string, To: string }), { example }) } },
    '/messages/search': { post: { ...sends(sent), ...answers(object({ id: string, To: string })) } },
    '/jobs/{job}/cancel': { ...within('job'), post: answers(object({ id: string, To: string }), { example }) },
  };
  await standIn(paths, {}, async (ask) => {
    const twice = async (path: string, member: string, headers = {}) => {
      const one = await ask('POST', path, { To: 'ada' }, headers);
      const other = await ask('POST', path, { To: 'ada' }, headers);
      return [one.json[member], other.json[member]];
    };
    const [first, second] = await twice('/messages', 'id');
    assert.equal(first, example.id);
    assert.match(second, /^\d{13}[a-z]{2}/);
    assert.notEqual(second, first);
    const [one, other] = await twice('/email', 'MessageID');
    assert.notEqual(one, other);
    for (const path of ['/messages/search', '/jobs/j1/cancel']) {
      const [asked, again] = await twice(path, 'id');
      assert.equal(asked, again);
    }
    const [kept, same] = await twice('/email', 'MessageID', { 'idempotency-key': 'k1' });
    assert.equal(kept, same);
  });
});

test('JSON that comes as plain text is taken, and the name of a domain is the same with a dot at its end', async () => {
  const zone = object({ id: string, name: string, kind: string, dnssec: { type: 'boolean' } });
  const flag = {
    ...query('dnssec', { type: 'boolean', default: true }),
    description: 'Whether to include the dnssec fields in the zones.',
  };
  const paths = {
    '/zones': {
      post: { ...sends(object({ name: string, kind: string })), ...answers(zone) },
      get: { parameters: [flag], ...answers(list(zone)) },
    },
    '/zones/{zone_id}': {
      ...within('zone_id'),
      get: answers(zone),
      patch: { ...sends(object({ kind: string, name: string }, ['kind', 'name'])), ...answers(zone) },
    },
  };
  await standIn(paths, {}, async (ask) => {
    await ask('POST', '/zones', { name: 'one.org.', kind: 'Native' });
    await ask('POST', '/zones', { name: 'Dots...', kind: 'Native' });
    assert.equal((await ask('GET', '/zones/one.org')).json.name, 'one.org.');
    assert.equal((await ask('GET', '/zones/Dots..')).status, 404);
    assert.equal((await ask('GET', '/zones')).json.length, 2);
    const asText = { 'content-type': 'text/plain;charset=UTF-8' };
    const changed = await ask('PATCH', '/zones/one.org', { kind: 'Master', name: 'one.org.' }, asText);
    assert.deepEqual([changed.status, changed.json.kind], [200, 'Master']);
    const partly = await ask('PATCH', '/zones/one.org', { kind: 'Slave' });
    assert.deepEqual([partly.status, partly.json.name, partly.json.kind], [200, 'one.org.', 'Slave']);
    assert.match(partly.headers.get('ninefold-warning') ?? '', /name is required and was not sent/);
  });
});

test('JSON that calls itself a form is JSON, and what is a form is one; with --strict it is refused', async () => {
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = { name: 'a=1&b', tags: ['x'] };
  const thing = object({ name: string, tags: list(string) });
  const paths = { '/things': { post: { ...sends(thing), ...answers(thing) } } };
  await standIn(paths, {}, async (ask) => {
    assert.deepEqual((await ask('POST', '/things', sent, asForm)).json, sent);
  });
  const strictly = async (ask: Parameters<Parameters<typeof standIn>[2]>[0]) =>
    assert.equal((await ask('POST', '/things', sent, asForm)).status, 415);
  await standIn(paths, {}, strictly, {}, true);
});

test('a search finds things that nobody can make, whatever it asks for; of what is made it finds what has its words', async () => {
  const asked = { parameters: [query('q', string), query('name', string)], ...answers(list(toy)) };
  const found = async (paths: Parameters<typeof standIn>[0], at: string) => {
    let count = 0;
    await standIn(paths, {}, async (ask) => {
      count = (await ask('GET', `/toys?${at}`)).json.length;
    });
    return count;
  };
  assert.deepEqual(
    [await found({ '/toys': { get: asked }, ...oneToy }, 'q=gargron'), await found(toys(asked), 'q=gargron')],
    [3, 0],
  );
  assert.equal(await found({ '/toys': { get: asked }, ...oneToy }, 'name=gargron'), 0);
});

test('a POST on a thing that is called an update changes it beside a PUT that replaces it, and another one does not', async () => {
  const kind = object({ id: string, name: string, note: string });
  const one = (operationId: string) => ({
    '/kinds': { post: { ...sends(object({ name: string, note: string })), ...answers(ref('Kind')) } },
    '/kinds/{id}': {
      ...within('id'),
      get: answers(ref('Kind')),
      post: { operationId, ...sends(object({ note: string })), ...answers(ref('Kind')) },
      put: { ...sends(object({ name: string, note: string }, ['name', 'note'])), ...answers(ref('Kind')) },
    },
  });
  const noteAfter = async (operationId: string) => {
    let note: unknown;
    await standIn(one(operationId), { Kind: kind }, async (ask) => {
      const { json: made } = await ask('POST', '/kinds', { name: 'Own', note: 'old' });
      await ask('POST', `/kinds/${made.id}`, { note: 'new' });
      note = (await ask('GET', `/kinds/${made.id}`)).json.note;
    });
    return note;
  };
  assert.deepEqual([await noteAfter('updateKind'), await noteAfter('addActors')], ['new', 'old']);
});

test('what a body states is replaced, though answers call it read-only, and held in the member that the answer has too', async () => {
  const board = object({ id: { ...string, readOnly: true }, name: { ...string, readOnly: true }, size: integer });
  const sent = object({ name: string, insert_after: string, insert_before: string, near: string });
  const paths = {
    '/boards': { post: { ...sends(object({ name: string })), ...answers(ref('Board')) } },
    '/boards/{id}': {
      ...within('id'),
      get: answers(ref('Board')),
      put: { ...sends(object({ name: string, size: integer }, ['name', 'size'])), ...answers(ref('Board')) },
    },
    '/parts': { post: { ...sends(object({ data: sent })), ...answers(object({ data: ref('Part') })) } },
    '/parts/{id}': {
      ...within('id'),
      get: answers(object({ data: ref('Part') })),
      patch: { ...sends(object({ data: sent })), ...answers(object({ data: ref('Part') })) },
    },
  };
  await standIn(paths, { Board: board, Part: object({ id: string, name: string }) }, async (ask) => {
    const { json: made } = await ask('POST', '/boards', { name: 'Auditors' });
    assert.equal((await ask('PUT', `/boards/${made.id}`, { name: 'Inspectors', size: 2 })).json.name, 'Inspectors');
    const { json: part } = await ask('POST', '/parts', { data: { name: 'First' } });
    assert.equal((await ask('PATCH', `/parts/${part.data.id}`, { data: { name: 'Done' } })).json.data.name, 'Done');
  });
});
