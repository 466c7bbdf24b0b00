import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readScenariosFile } from '../src/cli/data-files.ts';
import { Misuse } from '../src/cli/verb.ts';
import { BadScenario, parseDocument, type Scenario, type Service, serve } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { openWorkbench } from '../src/serve/service/trial-doors.ts';

/** A shop of tickets, with an error of its own. */
const shop = {
  title: 'Shop',
  purpose: { purpose: 'Sells tickets.', users: { buyer: 'Buys.' } },
  resources: {
    ticket: {
      identifier: { field: 'id', generate: 'client' },
      fields: { id: 'string', seat: 'string', status: { type: 'string', enum: ['held', 'sold'] } },
      required: ['id', 'seat'],
    },
  },
  states: { ticket: { field: 'status', initial: 'held', transitions: { sell: { from: 'held', to: 'sold', by: 'service' } } } },
  endpoints: {
    'POST /tickets': { does: 'create ticket', idempotency: { header: 'Idempotency-Key', keep: '1h' } },
    'GET /tickets': { does: 'list ticket', order: ['id'] },
    'GET /tickets/{id}': { does: 'read ticket' },
    'GET /weather': {
      does: 'reply',
      response: { 200: { shape: { type: 'object', properties: { sky: 'string' }, required: ['sky'] } } },
    },
  },
  authentication: 'none',
  errors: {
    payload: 'problem',
    codes: {
      sold_out: { status: 409, on: 'create ticket', message: 'Nothing is left.' },
      gone_away: { status: 503, when: 'service.unavailable' },
    },
  },
};

const running = new Set<Service>();
after(() => Promise.all([...running].map((service) => service.close())));

async function open(scenarios: readonly Scenario[] = [], rows?: Parameters<typeof serve>[1]): Promise<Service> {
  const service = await serve(shop, {
    scenarios,
    identify: ({ headers }) => (headers['x-who'] ? { user: 'buyer', id: String(headers['x-who']), scopes: [] } : undefined),
    ...rows,
  });
  running.add(service);
  return service;
}

function ask(
  service: Service,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Response> {
  const init = { method, headers: { 'content-type': 'application/json', ...headers } };
  return service.fetch(
    new Request(`http://127.0.0.1${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) }),
  );
}

async function statuses(
  service: Service,
  count: number,
  path = '/tickets',
  headers: Record<string, string> = {},
): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < count; n++) found.push((await ask(service, 'GET', path, headers)).status);
  return found;
}

test('the n-th request, a caller, a row and a share of all are met, and nobody else; each answer names its scenario', async () => {
  const service = await open([
    { name: 'second list', on: 'list ticket', calls: 2, answer: { status: 503 } },
    { name: 'for ada', on: ['GET /tickets'], caller: 'ada', calls: { from: 2 }, answer: { status: 500 } },
    { name: 'one row', row: 'a', answer: { status: 404 } },
  ]);
  assert.deepEqual(await statuses(service, 3), [200, 503, 200]);
  assert.deepEqual(await statuses(service, 3, '/tickets', { 'x-who': 'bob' }), [200, 200, 200]);
  assert.deepEqual(await statuses(service, 3, '/tickets', { 'x-who': 'ada' }), [200, 500, 500]);
  await ask(service, 'POST', '/tickets', {}, { id: 'a', seat: '1' });
  await ask(service, 'POST', '/tickets', {}, { id: 'b', seat: '2' });
  const [a, b] = [await ask(service, 'GET', '/tickets/a'), await ask(service, 'GET', '/tickets/b')];
  assert.deepEqual(
    [a.status, a.headers.get('ninefold-scenario'), b.status, b.headers.get('ninefold-scenario')],
    [404, 'one row', 200, null],
  );
  const told = service.workbench?.stage.list() ?? [];
  assert.deepEqual(
    told.map(({ name, met, played }) => [name, met, played]),
    [
      ['second list', 9, 1],
      ['for ada', 3, 2],
      ['one row', 1, 1],
    ],
  );
});

test('a share is drawn by the seed: the same again, and another seed another', async () => {
  const drawn = async (seedValue: string) =>
    (await statuses(await open([{ name: 'unlucky', share: 0.5, answer: { status: 503 } }], { seedValue }), 40)).join(' ');
  const first = await drawn('one');
  assert.equal(await drawn('one'), first);
  assert.notEqual(await drawn('two'), first);
  assert.ok(first.includes('200') && first.includes('503'), first);
});

test('a request asks for its own: a status, an error, a name; what is not stated only by force, which is told', async () => {
  const service = await open([{ name: 'on request', asked: true, answer: { error: 'sold_out' } }]);
  const play = async (asked: string, method = 'GET', path = '/tickets') => {
    const answer = await ask(
      service,
      method,
      path,
      { 'ninefold-scenario': asked },
      method === 'POST' ? { id: 'x', seat: '1' } : undefined,
    );
    const body = answer.headers.get('content-type')?.includes('json')
      ? ((await answer.json()) as { code?: string; detail?: string; sky?: string })
      : {};
    return { status: answer.status, scenario: answer.headers.get('ninefold-scenario'), body, headers: answer.headers };
  };
  assert.deepEqual(await statuses(service, 1), [200]);
  const own = await play('error=sold_out', 'POST');
  assert.deepEqual(
    [own.status, own.body.code, own.body.detail, own.scenario],
    [409, 'sold_out', 'Nothing is left.', 'error=sold_out'],
  );
  assert.equal((await ask(service, 'GET', '/tickets/x')).status, 404);
  assert.equal((await play('on request', 'POST')).body.code, 'sold_out');
  assert.equal((await play('status=503')).body.code, 'gone_away');
  const unstated = await play('status=418');
  assert.deepEqual([unstated.status, unstated.scenario], [400, 'status=418; not played']);
  assert.match(unstated.body.detail ?? '', /^list ticket states no answer 418; it has .* Add force/);
  assert.match((await play('error=sold_out')).body.detail ?? '', /list ticket has no error "sold_out"/);
  const forced = await play('status=418; force');
  assert.deepEqual([forced.status, forced.scenario], [418, 'status=418; force; unstated']);
  const sampled = await play('status=200', 'GET', '/weather');
  assert.deepEqual([sampled.status, typeof sampled.body.sky, sampled.headers.get('ninefold-sampled')], [200, 'string', '*']);
  assert.match((await play('on reqest')).body.detail ?? '', /did you mean "on request"/);
  assert.match((await play('colour=red')).body.detail ?? '', /"colour=red" is none of its parts: status=503/);
});

test('an answer is lost after all was done: its key replays what was stored; cut off before, nothing is', async () => {
  const service = await open();
  const make = (id: string, asked?: string) =>
    ask(
      service,
      'POST',
      '/tickets',
      { 'idempotency-key': id, ...(asked !== undefined && { 'ninefold-scenario': asked }) },
      { id, seat: '1' },
    );
  await assert.rejects(make('lost', 'fault=lose'), TypeError);
  assert.equal((await make('lost')).status, 201);
  assert.equal((await ask(service, 'GET', '/tickets/lost')).status, 200);
  await assert.rejects(make('cut', 'fault=cut'), TypeError);
  assert.equal((await ask(service, 'GET', '/tickets/cut')).status, 404);
  const half = await make('half', 'fault=truncate');
  assert.equal(half.status, 201);
  await assert.rejects(half.text());
  const abort = new AbortController();
  const silent = service.fetch(
    new Request('http://127.0.0.1/tickets', { headers: { 'ninefold-scenario': 'fault=silence' }, signal: abort.signal }),
  );
  abort.abort(new Error('enough'));
  await assert.rejects(silent, /enough/);
});

test('over a socket a connection is cut, an answer ends in its middle, and silence lasts until the client or the service goes', async () => {
  const service = await open();
  const { port, close } = await service.listen({ port: 0 });
  const over = (fault: string) =>
    new Promise<string>((resolve) => {
      const socket = createConnection(port, '127.0.0.1', () =>
        socket.write(`GET /tickets HTTP/1.1\r\nHost: a\r\nNinefold-Scenario: fault=${fault}\r\n\r\n`),
      );
      let text = '';
      socket.on('data', (piece) => {
        text += String(piece);
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
      if (fault === 'silence') socket.once('ready', () => setImmediate(() => void close()));
    });
  assert.equal(await over('cut'), '');
  const half = await over('truncate');
  const length = Number(/content-length: (\d+)/i.exec(half)?.[1]);
  assert.ok(half.startsWith('HTTP/1.1 200') && half.split('\r\n\r\n')[1]!.length === length >> 1, half);
  assert.equal(await over('silence'), '');
});

test('a delay is waited for before anything is done, and what is wrong with a scenario is told with its place', async () => {
  const service = await open([{ name: 'slow', delay: { from: '1ms', to: '20ms' } }]);
  const answer = await ask(service, 'GET', '/tickets');
  assert.deepEqual([answer.status, answer.headers.get('ninefold-scenario')], [200, 'slow']);
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{}, /scenario 1 does nothing: give it an answer, a delay or a fault \(cut, lose, truncate, silence\)/],
    [{ delay: 'soon' }, /delay is a duration such as 200ms/],
    [{ delay: '1h' }, /ten minutes are the most/],
    [{ fault: 'trunkate' }, /did you mean truncate\?/],
    [{ answr: {} }, /there is no `answr`; did you mean `answer`\?/],
    [{ answer: { status: 99 } }, /`status` is a number from 200 to 599/],
    [{ answer: { error: 'a', status: 400 } }, /leave the others out/],
    [{ answer: { status: 500 }, fault: 'cut' }, /with cut nothing is answered/],
    [{ answer: { status: 500, headers: { 'a b': 'c' } } }, /`headers` is a map of header fields/],
    [{ answer: { status: 500, headers: { a: 'b\r\nc: d' } } }, /`headers` is a map of header fields/],
    [{ calls: 0, fault: 'cut' }, /calls is a number from 1/],
    [{ share: 2, fault: 'cut' }, /`share` is a number from 0 to 1/],
    [{ name: 'a"b', fault: 'cut' }, /a name has 1 to 100 characters/],
  ];
  for (const [wrong, words] of cases) {
    assert.throws(
      () => service.workbench?.stage.replace([wrong as Scenario]),
      (error) => error instanceof BadScenario && words.test(error.message),
      JSON.stringify(wrong),
    );
  }
  const many = Array.from({ length: 1001 }, (_, at) => ({ name: `s${at}`, fault: 'cut' as const }));
  assert.throws(() => service.workbench?.stage.replace(many), /1000 are the most/);
  assert.deepEqual(await statuses(service, 1), [200]);
});

test('nothing is played where nobody asked for trials, and never in production', async () => {
  const plain = await serve(shop);
  running.add(plain);
  assert.equal(plain.workbench, undefined);
  assert.equal((await ask(plain, 'GET', '/tickets', { 'ninefold-scenario': 'status=503' })).status, 200);
  await assert.rejects(plain.administer('scenarios list', {}), /This is for trials/);
  await assert.rejects(serve(shop, { production: true, scenarios: [] }), /nothing is played in production/);
});

test('the workbench plays, resets to the rows of the start, makes rows, fires and moves nothing that it may not', async () => {
  const service = await open([{ name: 'first', calls: 1, answer: { status: 503 } }], {
    rows: { ticket: [{ id: 'seed', seat: '0' }] },
  });
  const { url, close } = await openWorkbench((command, input) => service.administer(command, input), 0);
  const bench = async (path: string, input?: unknown) => {
    const answer = await fetch(`${url}${path}`, input === undefined ? {} : { method: 'POST', body: JSON.stringify(input) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  try {
    assert.deepEqual(await statuses(service, 2), [503, 200]);
    await ask(service, 'POST', '/tickets', { 'idempotency-key': 'k' }, { id: 'mine', seat: '1' });
    assert.deepEqual((await bench('/reset', {})).body, { reset: true });
    assert.deepEqual(await statuses(service, 2), [503, 200]);
    assert.deepEqual(
      [(await ask(service, 'GET', '/tickets/mine')).status, (await ask(service, 'GET', '/tickets/seed')).status],
      [404, 200],
    );
    assert.equal((await ask(service, 'POST', '/tickets', { 'idempotency-key': 'k' }, { id: 'other', seat: '1' })).status, 201);
    assert.deepEqual((await bench('/rows/add', { ticket: [{ id: 'more', seat: '9' }] })).body, { made: 1 });
    assert.equal((await bench('/transitions/fire', { resource: 'ticket', id: 'more', transition: 'sell' })).body.status, 'sold');
    assert.equal((await bench('/transitions/fire', { resource: 'ticket', id: 'more', transition: 'sell' })).status, 422);
    assert.equal((await bench('/scenarios/add', { name: 'now', answer: { status: 500 } })).status, 200);
    assert.deepEqual(await statuses(service, 1), [500]);
    assert.equal((await bench('/scenarios/remove', { name: 'now' })).status, 200);
    assert.deepEqual(await statuses(service, 1), [200]);
    assert.match(String((await bench('/scenarios/add', { delay: 'x' })).body.error), /delay is a duration/);
    assert.match(String((await bench('/clock/set', { advance: 'PT1H' })).body.error), /cannot be set/);
    assert.match(String((await bench('/scenarios/replace', {})).body.error), /Scenarios are a list/);
    assert.match(String((await bench('/events/emit', { kind: 'nothing' })).body.error), /no kind of event/);
    assert.equal((await bench('/keys/add', { id: 'x' })).status, 404);
    assert.equal((await fetch(url, { headers: { origin: 'http://evil.example' } })).status, 403);
  } finally {
    await close();
  }
});

test('a scenario that can never be played is refused with the nearest that there is, by the library, the workbench and the command', async () => {
  const service = await open();
  const cases: readonly (readonly [Scenario, string])[] = [
    [{ on: 'list tickets', fault: 'cut' }, 'scenario 1: there is no operation "list tickets"; the nearest is "list ticket".'],
    [{ on: 'GET /tickts', fault: 'cut' }, 'scenario 1: there is no endpoint "GET /tickts"; the nearest is "GET /tickets".'],
    [
      { on: 'GET /tickts', answer: { status: 418 }, force: true },
      'scenario 1: there is no endpoint "GET /tickts"; the nearest is "GET /tickets".',
    ],
    [
      { on: 'create ticket', answer: { error: 'sold_ot' } },
      'scenario 1: create ticket has no error "sold_ot"; the nearest is "sold_out". Add force to have it all the same.',
    ],
    [
      { on: ['create ticket', 'list ticket'], answer: { error: 'sold_out' } },
      'scenario 1: list ticket has no error "sold_out"; it has gone_away. Add force to have it all the same.',
    ],
    [
      { answer: { example: 'nope' } },
      'scenario 1: no operation can answer so: create ticket has no example "nope". Add force to have it all the same.',
    ],
  ];
  for (const [scenario, message] of cases) {
    assert.throws(() => service.workbench?.stage.replace([scenario]), { message });
    await assert.rejects(open([scenario]), (error) => error instanceof BadScenario && error.message === message);
    await assert.rejects(service.administer('scenarios replace', { scenarios: [scenario as never] }), { name: 'Error', message });
  }
  assert.throws(
    () => service.workbench?.stage.add({ on: 'list ticket', answer: { status: 418 } }),
    /list ticket states no answer 418; it has/,
  );
  assert.deepEqual(service.workbench?.stage.list(), []);
  // Which callers and rows there will be, nobody knows; what is forced need not be stated, and what one operation of all states can come.
  for (const scenario of [
    { caller: 'nobody yet', row: 'none', fault: 'cut' },
    { on: 'list ticket', answer: { status: 418 }, force: true },
    { answer: { error: 'sold_out' } },
  ] as const)
    service.workbench?.stage.add(scenario);
  await assert.rejects(
    readScenariosFile(scenariosFile([{ on: 'list tickets', fault: 'cut' }]), readSpec(shopDocument)),
    (error) =>
      error instanceof Misuse && /there is no operation "list tickets"; the nearest is "list ticket"/.test(error.message),
  );
});

test('a header that cannot be read is not played, and that is said once', async () => {
  const answer = await ask(await open(), 'GET', '/tickets', { 'ninefold-scenario': 'staus=500' });
  assert.deepEqual([answer.status, answer.headers.get('ninefold-scenario')], [400, 'not played']);
});

const shopDocument = parseDocument(JSON.stringify(shop), 'shop.json');

function scenariosFile(scenarios: readonly Scenario[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-scenarios-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'scenarios.json');
  writeFileSync(path, JSON.stringify(scenarios));
  return path;
}
