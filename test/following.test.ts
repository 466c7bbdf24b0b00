import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonMap, movableClock, type ServeOptions, serve } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { times } from './long.ts';
import { reluctant } from './stores/reluctant.ts';

const word = 'then';
const then = (...acts: JsonMap[]): JsonMap => ({ [word]: acts });

/** Crates of boxes, which are opened and closed with what they hold. */
function cellar(change: { readonly states?: JsonMap; readonly crate?: JsonMap; readonly errors?: JsonMap } = {}) {
  const text = (more: JsonMap = {}): JsonMap => ({ type: 'string', ...more });
  return {
    title: 'Cellar',
    resources: {
      crate: {
        identifier: { field: 'id', generate: 'client' },
        fields: {
          id: text(),
          names: { type: 'array', items: text(), maxItems: 2000, default: [] },
          state: text({ readOnly: true }),
        },
        required: ['id', 'names', 'state'],
        ...change.crate,
      },
      box: {
        identifier: { field: 'id', generate: 'integer' },
        fields: {
          id: 'integer',
          crate: { ref: 'crate', onDelete: 'cascade' },
          name: text({ maxLength: 8 }),
          opened: { type: 'integer', readOnly: true, default: 0, set: { open: 'next.opened + 1' } },
          state: text({ readOnly: true }),
        },
        required: ['id', 'crate', 'name', 'opened', 'state'],
        unique: [['crate', 'name']],
      },
      line: {
        identifier: { field: 'id', generate: 'integer' },
        fields: { id: 'integer', text: text({ readOnly: true }) },
        required: ['id', 'text'],
      },
    },
    states: {
      line: 'none',
      crate: {
        field: 'state',
        initial: 'shut',
        states: ['shut', 'open'],
        transitions: {
          open: { from: 'shut', to: 'open', ...then({ do: 'open box', each: 'box.crate' }) },
          shut: { from: 'open', to: 'shut', ...then({ do: 'shut box', each: 'box.crate', else: 'skip' }) },
        },
      },
      box: {
        field: 'state',
        initial: 'shut',
        states: ['shut', 'open'],
        transitions: {
          open: { from: 'shut', to: 'open', else: 'stuck', ...then({ create: 'line', set: { text: "'opened ' + next.name" } }) },
          shut: 'open -> shut',
        },
      },
      ...change.states,
    },
    endpoints: {
      'POST /crates': { does: 'create crate' },
      'GET /crates/{id}': { does: 'read crate' },
      'PATCH /crates/{id}': { does: 'update crate' },
      'DELETE /crates/{id}': { does: 'delete crate' },
      'POST /crates/{id}/open': { does: 'open crate' },
      'POST /crates/{id}/shut': { does: 'shut crate' },
      'POST /crates/{crate}/boxes': { does: 'create box' },
      'GET /boxes': { does: 'list box' },
      'POST /boxes/{id}/open': { does: 'open box' },
      'GET /lines': { does: 'list line' },
    },
    authentication: 'none',
    errors: {
      payload: 'problem',
      codes: { stuck: { status: 423 }, twice: { status: 409, when: 'resource.exists', on: ['create box'] }, ...change.errors },
    },
    limits: { pagination: 'none' },
  };
}

async function started(document: object, options: ServeOptions = {}) {
  const failures: unknown[] = [];
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const service = await serve(document as Parameters<typeof serve>[0], {
    clock,
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  const send = async (method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...json }));
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const texts = async () => (await send('GET', '/lines')).body.map((line: { text: string }) => line.text);
  return { service, clock, send, texts, failures };
}

test('acts are done in order, each with what follows from it before the next', async () => {
  const { send, texts } = await started(
    cellar({
      crate: {
        created: {
          ...then(
            { create: 'line', set: { text: "'first ' + next.id" } },
            { create: 'box', each: 'next.names', set: { crate: 'next.id', name: 'item' } },
            { do: 'open box', each: 'box.crate', if: "item.name != 'b'" },
            { create: 'line', set: { text: "'last'" } },
          ),
        },
        deleted: { ...then({ create: 'line', set: { text: "'gone ' + resource.id" } }) },
      },
    }),
  );
  assert.equal((await send('POST', '/crates', { id: 'c', names: ['a', 'b', 'd'] })).status, 201);
  assert.deepEqual(await texts(), ['first c', 'opened a', 'opened d', 'last']);
  const boxes = (await send('GET', '/boxes')).body.map((box: JsonMap) => [box.name, box.state, box.opened]);
  assert.deepEqual(boxes, [
    ['a', 'open', 1],
    ['b', 'shut', 0],
    ['d', 'open', 1],
  ]);
  assert.equal((await send('DELETE', '/crates/c')).status, 204);
  assert.equal((await texts()).at(-1), 'gone c');
});

test('one that is refused refuses everything, with the error that names it; one that may be is passed over', async () => {
  const { send, texts } = await started(cellar());
  await send('POST', '/crates', { id: 'c' });
  for (const name of ['a', 'b']) await send('POST', '/crates/c/boxes', { name });
  assert.equal((await send('POST', '/boxes/2/open')).status, 200);
  const refused = await send('POST', '/crates/c/open');
  assert.deepEqual([refused.status, refused.body.code], [423, 'stuck']);
  assert.deepEqual(await texts(), ['opened b']);
  assert.equal((await send('GET', '/crates/c')).body.state, 'shut');
  const twice = cellar({
    crate: { updated: { ...then({ create: 'box', set: { crate: 'next.id', name: "'same'" } }) } },
  });
  const other = await started(twice);
  await other.send('POST', '/crates', { id: 'c' });
  assert.equal((await other.send('PATCH', '/crates/c', { names: ['x'] })).status, 200);
  const again = await other.send('PATCH', '/crates/c', { names: ['y'] });
  assert.deepEqual([again.status, again.body.code], [409, 'twice']);
  assert.deepEqual((await other.send('GET', '/crates/c')).body.names, ['x']);
  assert.equal((await other.send('POST', '/crates/c/open')).status, 200);
  assert.equal((await other.send('POST', '/crates/c/shut')).status, 200);
});

test('what is not whole, too much or too deep is our failure, and nothing of it is stored', async () => {
  const unfit = await started(
    cellar({ crate: { created: { ...then({ create: 'box', each: 'next.names', set: { crate: 'next.id', name: 'item' } }) } } }),
  );
  for (const names of [['a', 'much too long a name'], Array.from({ length: 1001 }, (_, n) => `n${n}`)]) {
    assert.equal((await unfit.send('POST', '/crates', { id: 'c', names })).status, 500);
    assert.deepEqual((await unfit.send('GET', '/boxes')).body, []);
    assert.equal((await unfit.send('GET', '/crates/c')).status, 404);
  }
  const endless = await started(
    cellar({ crate: { created: { ...then({ create: 'crate', if: 'size(next.id) < 64', set: { id: "next.id + 'x'" } }) } } }),
  );
  assert.equal((await endless.send('POST', '/crates', { id: 'c' })).status, 500);
  assert.equal((await endless.send('GET', '/crates/c')).status, 404);
  assert.equal((await endless.send('POST', '/crates', { id: 'c'.padEnd(60, 'x') })).status, 201);
  assert.equal((await endless.send('GET', `/crates/${'c'.padEnd(64, 'x')}`)).status, 200);
});

test('the answer shows the row as it is after what followed, and its ETag is that of a read', async () => {
  const document = cellar({ crate: { created: { ...then({ update: 'crate', to: 'next.id', set: { names: "['made']" } }) } } });
  const { send } = await started(document);
  assert.deepEqual((await send('POST', '/crates', { id: 'c' })).body.names, ['made']);
  assert.deepEqual((await send('GET', '/crates/c')).body.names, ['made']);
});

test('what is derived from the rows that follow is in the answer, and decides in the same change', async () => {
  const document = cellar({
    crate: { created: then({ create: 'box', each: 'next.names', set: { crate: 'next.id', name: 'item' } }) },
    errors: { full: { status: 409, on: ['create box'], if: 'next.crate.held > 2' } },
  });
  const { crate } = document.resources;
  const fields = { ...crate.fields, held: { type: 'integer', derive: 'count(box.crate)' } };
  const resources = { ...document.resources, crate: { ...crate, fields, required: [...crate.required, 'held'] } };
  const { send } = await started({ ...document, resources });
  const made = await send('POST', '/crates', { id: 'c', names: ['a', 'b', 'd'] });
  assert.deepEqual([made.status, made.body?.held], [201, 3]);
  assert.equal((await send('GET', '/crates/c')).body.held, 3);
  assert.equal((await send('POST', '/crates', { id: 'e', names: ['a', 'b', 'd', 'f'] })).status, 409);
  assert.equal((await send('GET', '/boxes')).body.length, 3);
});

test('what handlers write, and the clock fires, is followed as well', async () => {
  const document = cellar({
    crate: { created: { ...then({ create: 'line', set: { text: "'made ' + next.id" } }) } },
    states: {
      crate: {
        field: 'state',
        initial: 'shut',
        states: ['shut', 'open'],
        transitions: {
          open: { from: 'shut', to: 'open', after: '1h', ...then({ create: 'line', set: { text: "'by itself'" } }) },
          shut: 'open -> shut',
        },
      },
    },
  });
  const endpoints = {
    ...document.endpoints,
    'POST /crates': { does: 'handler pack', request: { type: 'object' }, response: { 200: { type: 'object' } } },
    'POST /crates/{id}/open': undefined,
  };
  const handlers = {
    pack: async ({ store }: { store: { create: (name: string, fields: JsonMap) => Promise<JsonMap> } }) =>
      store.create('crate', { id: 'h' }),
  };
  const { service, send, texts, clock } = await started(JSON.parse(JSON.stringify({ ...document, endpoints })), {
    handlers,
  } as unknown as ServeOptions);
  const packed = await send('POST', '/crates', {});
  assert.equal(packed.status, 200, JSON.stringify(packed));
  assert.deepEqual(await texts(), ['made h']);
  clock.set(Date.parse('2026-06-01T10:00:01Z'));
  await service.settled();
  assert.deepEqual(await texts(), ['made h', 'by itself']);
});

for (const [name, store] of [
  ['SQLite', () => openSqlite(':memory:')],
  ['a store that waits', () => reluctant(openSqlite(':memory:'), 7)],
] as const) {
  test(`under racing callers all of a chain is there or nothing, on ${name}`, async () => {
    const document = cellar({
      crate: {
        created: {
          ...then({ create: 'line', set: { text: "'tried ' + next.id" } }, { do: 'open box', each: 'next.names', to: 'item' }),
        },
      },
    });
    const { send, texts } = await started(document, { store: store() });
    const rows = times(8, 32);
    await send('POST', '/crates', { id: 'all' });
    for (let at = 0; at < rows; at++) await send('POST', '/crates/all/boxes', { name: `b${at}` });
    const wanted = Array.from({ length: 4 * rows }, (_, at) => [at % rows, (at * 3 + 1) % rows].map((box) => String(box + 1)));
    const answers = await Promise.all(
      wanted.map((names, at) => send('POST', '/crates', { id: `r${at}`, names: [...new Set(names)] })),
    );
    const won = answers.flatMap(({ status }, at) => (status === 201 ? [at] : []));
    assert.ok(won.length > 0 && answers.every(({ status }) => status === 201 || status === 423));
    const opened = won.flatMap((at) => [...new Set(wanted[at])]);
    assert.equal(new Set(opened).size, opened.length);
    const open = (await send('GET', '/boxes')).body.filter((box: JsonMap) => box.state === 'open');
    assert.deepEqual(open.map(({ id }: { id: number }) => String(id)).toSorted(), opened.toSorted());
    const told = await texts();
    assert.deepEqual(
      told.filter((text: string) => text.startsWith('tried')).toSorted(),
      ['tried all', ...won.map((at) => `tried r${at}`)].toSorted(),
    );
    assert.equal(told.length, 1 + won.length + opened.length);
  });
}
