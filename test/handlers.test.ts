import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Answer, type GivenHandlers, type HandlerContext, serve } from '../src/index.ts';

const document = {
  title: 'Desk',
  resources: {
    ticket: {
      identifier: { field: 'number', generate: 'integer' },
      fields: {
        number: 'integer',
        subject: { type: 'string', maxLength: 40 },
        secret: { type: 'string', readOnly: true, generate: 's_{random:8}', reveal: 'once' },
        priority: { enum: ['low', 'high'], default: 'low' },
        state: { type: 'string', readOnly: true },
      },
      required: ['number', 'subject', 'priority', 'state'],
    },
  },
  states: {
    ticket: { field: 'state', initial: 'open', states: ['open', 'closed'], transitions: { close: 'open -> closed' } },
  },
  endpoints: {
    'POST /tickets': { does: 'create ticket' },
    'GET /tickets': { does: 'list ticket' },
    'GET /tickets/{number}': { does: 'read ticket' },
    'PATCH /tickets/{number}': { does: 'update ticket' },
    'POST /work': {
      does: 'handler work',
      request: { type: 'object', properties: { subject: 'string' } },
      response: { 200: { type: 'object' }, 202: { type: 'object', properties: { later: 'boolean' }, required: ['later'] } },
    },
    'POST /tickets/{number}/close': { does: 'close ticket' },
  },
  errors: { payload: 'problem', codes: { busy: { status: 409 } } },
  limits: { pagination: { style: 'none' } },
  authentication: 'none',
};

async function desk(handlers: GivenHandlers, before: GivenHandlers = {}) {
  const failures: unknown[] = [];
  const service = await serve(document, { handlers, before, onFailure: (failure) => failures.push(failure) });
  const send = async (method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...json }));
    return { status: answer.status, body: JSON.parse((await answer.text()) || 'null') };
  };
  return { service, send, failures };
}

test('what others change while a handler stands before a change is kept', async () => {
  let times = 0;
  const { send } = await desk(
    {},
    {
      'close ticket': async ({ next }: HandlerContext) => {
        if (++times === 1) await send('PATCH', '/tickets/1', { subject: 'Printer is on fire' });
        assert.ok(next);
      },
    },
  );
  await send('POST', '/tickets', { subject: 'Printer' });
  const { status, body } = await send('POST', '/tickets/1/close');
  assert.deepEqual([status, body.state, body.subject, times], [200, 'closed', 'Printer is on fire', 2]);
});

test('what a handler creates has its identifier, defaults, generated fields and first state at once', async () => {
  const { service, send } = await desk({
    work: async ({ store }: HandlerContext) => {
      const made = await store.create('ticket', { subject: 'Printer' });
      return { made, read: await store.get('ticket', String(made.number)) };
    },
  });
  const { body } = await send('POST', '/work', {});
  assert.deepEqual(body.made, body.read);
  assert.match(body.made.secret, /^s_\w{8}$/);
  const { secret: _secret, ...shown } = body.made;
  assert.deepEqual(shown, { number: 1, subject: 'Printer', priority: 'low', state: 'open' });
  assert.deepEqual((await send('GET', '/tickets/1')).body, shown);
  await service.close();
});

test('a handler whose list has grown since runs again, and gives up after three times', async () => {
  let runs = 0;
  const { service, send } = await desk({
    work: async ({ store, request }: HandlerContext) => {
      runs += 1;
      const rows = await store.list('ticket', { subject: 'Queue' });
      const isHeldUp = (request as { subject?: string }).subject === 'always' || runs === 1;
      if (isHeldUp) await send('POST', '/tickets', { subject: 'Queue' });
      await store.create('ticket', { subject: `after ${rows.length}` });
      return { seen: rows.length };
    },
  });
  assert.deepEqual(await send('POST', '/work', {}), { status: 200, body: { seen: 1 } });
  assert.equal(runs, 2);
  runs = 0;
  const { status } = await send('POST', '/work', { subject: 'always' });
  assert.deepEqual([status, runs], [409, 3]);
  const subjects = (await send('GET', '/tickets')).body.map((row: { subject: string }) => row.subject);
  assert.deepEqual(
    subjects.filter((subject: string) => subject.startsWith('after')),
    ['after 1'],
  );
  await service.close();
});

test('what stands before an operation runs again when what it read has changed', async () => {
  let runs = 0;
  let bothHaveRead = () => {};
  const gate = new Promise<void>((resolve) => {
    bothHaveRead = resolve;
  });
  const { service, send } = await desk(
    {},
    {
      'create ticket': async ({ next, store, fail }: HandlerContext) => {
        runs += 1;
        const rows = await store.list('ticket', { priority: 'high' });
        if (runs === 2) bothHaveRead();
        await gate;
        if (next.priority === 'high' && rows.length >= 1) fail('busy');
      },
    },
  );
  const both = await Promise.all([1, 2].map(() => send('POST', '/tickets', { subject: 'Fire', priority: 'high' })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
  assert.equal(runs, 3);
  await service.close();
});

test('a state is written by transitions alone, in a handler too', async () => {
  const { service, send, failures } = await desk({
    work: async ({ store, fire, request }: HandlerContext) => {
      if ((request as { subject?: string }).subject === 'fire') fire('ticket', '1', 'close');
      else await store.update('ticket', '1', { state: 'closed' });
      return {};
    },
  });
  await send('POST', '/tickets', { subject: 'Printer' });
  assert.equal((await send('POST', '/work', {})).status, 500);
  assert.match(String(failures[0]), /fire a transition/);
  assert.equal((await send('GET', '/tickets/1')).body.state, 'open');
  assert.equal((await send('POST', '/work', { subject: 'fire' })).status, 200);
  assert.equal((await send('GET', '/tickets/1')).body.state, 'closed');
  await service.close();
});

test('an answer that is not stated does not leave, and a stated one other than the first is an Answer', async () => {
  const { service, send, failures } = await desk({
    work: ({ request }: HandlerContext) =>
      new Answer(202, { later: (request as { subject?: string }).subject === undefined ? 'no boolean' : true }),
  });
  assert.equal((await send('POST', '/work', {})).status, 500);
  assert.match(String(failures[0]), /later/);
  assert.deepEqual(await send('POST', '/work', { subject: 'x' }), { status: 202, body: { later: true } });
  await service.close();
});

test('a handler shows a secret in the answer to the run that made it, and at no other', async () => {
  const withTicket = {
    ...document.endpoints['POST /work'],
    response: { 200: 'ticket' },
    idempotency: { header: 'Key', keep: '1d' },
  };
  const service = await serve(
    { ...document, endpoints: { ...document.endpoints, 'POST /work': withTicket } },
    {
      handlers: {
        work: async ({ request, store }: HandlerContext) => {
          const { subject } = request as { subject?: string };
          return subject ? store.create('ticket', { subject }) : store.get('ticket', '1');
        },
      },
    },
  );
  const work = async (body: unknown, key?: string) => {
    const headers = { 'content-type': 'application/json', ...(key && { key }) };
    const answer = await service.fetch(
      new Request('http://127.0.0.1/work', { method: 'POST', body: JSON.stringify(body), headers }),
    );
    return (await answer.json()) as { number: number; secret?: string };
  };
  const made = await work({ subject: 'Printer' }, 'k1');
  assert.match(made.secret ?? '', /^s_/);
  assert.deepEqual(await work({ subject: 'Printer' }, 'k1'), {
    number: made.number,
    subject: 'Printer',
    priority: 'low',
    state: 'open',
  });
  assert.equal((await work({})).secret, undefined);
  await service.close();
});

test('a header that cannot be sent as it is says its bytes in percent, and the change is answered', async () => {
  const create = { does: 'create ticket', response: { 201: { headers: { 'X-Subject': 'result.subject' } } } };
  const work = { does: 'handler work', response: { 204: {} } };
  const service = await serve(
    { ...document, endpoints: { 'POST /tickets': create, 'POST /work': work } },
    { handlers: { work: async () => new Answer(204, undefined, { 'X-Subject': 'a\r\nSet-Cookie: b' }) } },
  );
  const door = await service.listen({ port: 0, host: '127.0.0.1' });
  for (const [path, subject, told] of [
    ['/tickets', 'zażółć\nX: 1', 'za%C5%BC%C3%B3%C5%82%C4%87%0AX: 1'],
    ['/tickets', 'café', 'caf%C3%A9'],
    ['/work', '', 'a%0D%0ASet-Cookie: b'],
  ] as const) {
    const answer = await fetch(door.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ subject }),
    });
    assert.deepEqual([answer.ok, answer.headers.get('x-subject'), answer.headers.get('x')], [true, told, null]);
  }
  await door.close();
  await service.close();
});

test('a handler lists the rows whose fields equal what it names, those that lists filter by and others alike', async () => {
  const kept = {
    title: 'Shelf',
    resources: {
      thing: {
        identifier: { field: 'id', generate: 'client' },
        fields: {
          id: 'string',
          at: { type: 'string', format: 'date-time' },
          size: { type: 'string', format: 'decimal' },
          name: { type: 'string', ignore_case: true },
          count: 'integer',
          isSold: 'boolean',
          note: 'string',
        },
        required: ['id'],
      },
    },
    endpoints: {
      'GET /things': {
        does: 'list thing',
        parameters: Object.fromEntries(['at', 'size', 'name', 'count', 'isSold'].map((name) => [name, { in: 'query' }])),
      },
      'POST /found': { does: 'handler find', request: { type: 'object' }, response: { 200: { type: 'array' } } },
    },
    limits: { pagination: { style: 'none' } },
    authentication: 'none',
  };
  const noon = '2026-06-01T12:00:00.000Z';
  const first = { id: 'a', at: noon, size: '1.50', name: 'Ann', count: 3, isSold: true, note: 'x' };
  const things = [first, { ...first, id: 'b', size: '1.5', name: 'ann', note: 'y' }, { id: 'c', count: 3 }];
  const service = await serve(kept, {
    rows: { thing: things },
    handlers: {
      find: async ({ store, request }: HandlerContext) =>
        (await store.list('thing', request as Record<string, never>)).map(({ id }) => id),
    },
  });
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, ['a', 'b', 'c']],
    [{ count: 3 }, ['a', 'b', 'c']],
    [{ size: '1.5' }, ['b']],
    [{ name: 'Ann', at: noon }, ['a']],
    [{ note: 'y', isSold: true }, ['b']],
    [{ count: 'three' }, []],
    [{ size: 'no decimal' }, []],
    [{ isSold: null }, []],
    [{ nothing: 1 }, []],
  ];
  for (const [where, ids] of cases) {
    const body = JSON.stringify(where);
    const sent = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    assert.deepEqual(await (await service.fetch(new Request('http://127.0.0.1/found', sent))).json(), ids, body);
  }
  await service.close();
});
