import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readDocument } from '../src/index.ts';
import { startReceiver } from './events/receiver.ts';
import { listenTo, openUnread } from './events/stream-reader.ts';
import { startTrial, type Trial, type TrialOptions, things } from './events/trial.ts';
import { heldReads } from './serving/held-reads.ts';

const hour = 3_600_000;
const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

async function streaming(context: TestContext, document = things(), options: TrialOptions = {}) {
  const trial = await startTrial(context, document, options);
  const listen = async (who: string, lastId?: string, extra: Readonly<Record<string, string>> = {}) => {
    const headers = { 'x-who': who, ...(lastId !== undefined && { 'last-event-id': lastId }), ...extra };
    const listener = listenTo(await trial.service.fetch(new Request('http://127.0.0.1/stream', { headers })));
    await soon();
    return listener;
  };
  return { trial, listen };
}

const make = async (trial: Trial, who = 'owner/o1', name = 'a') => (await trial.send(who, 'POST', '/things', { name })).json.id;
const names = (heard: readonly { readonly data: { readonly data: Record<string, unknown> } }[]) =>
  heard.map(({ data }) => data.data.name);

test('a stream tells each caller of what it may read, from now on, in the envelope', async (context) => {
  const { trial, listen } = await streaming(context);
  await make(trial, 'owner/o1', 'before');
  const [o1, o2, clerk] = [await listen('owner/o1'), await listen('owner/o2'), await listen('clerk/c1')];
  await make(trial, 'owner/o1', 'one');
  await make(trial, 'owner/o2', 'two');
  await clerk.until(2);
  assert.deepEqual(names(o1.heard), ['one']);
  assert.deepEqual(names(o2.heard), ['two']);
  assert.deepEqual(names(clerk.heard), ['one', 'two']);
  const [first] = clerk.heard;
  assert.deepEqual([first!.event, first!.id], ['thing.made', first!.data.id]);
  assert.equal(first!.data.data.cost, 5, 'a clerk sees the cost');
  assert.equal(o1.heard[0]!.data.data.cost, undefined, 'an owner does not');
  assert.ok(clerk.heard.every(({ data }) => data.data.token === undefined && data.data.pin === undefined));
});

test('the operation asks for a caller and a rule like any other, and its answer is one of server-sent events', async (context) => {
  const { trial } = await streaming(
    context,
    things().replace('- { allow: [stream events], to: [owner, clerk] }', '- { allow: [stream events], to: clerk }'),
  );
  assert.equal((await trial.send('', 'GET', '/stream')).status, 401);
  assert.equal((await trial.send('owner/o1', 'GET', '/stream')).status, 403);
  assert.equal((await trial.send('clerk/c1', 'POST', '/stream')).status, 405);
  assert.equal((await trial.send('clerk/c1', 'GET', '/stream?x=1')).status, 400);
  const open = (method: string, accept: string) =>
    trial.service.fetch(new Request('http://127.0.0.1/stream', { method, headers: { 'x-who': 'clerk/c1', accept } }));
  assert.equal((await open('GET', 'application/json')).status, 406);
  const head = await open('HEAD', '*/*');
  assert.deepEqual([head.status, head.headers.get('content-type'), head.body], [200, 'text/event-stream', null]);
  const response = await open('GET', 'text/event-stream');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('content-length'), null);
  await response.body?.cancel();
});

test('a reader that comes back is told what it has missed, in order and without a gap, while more comes', async (context) => {
  const { trial, listen } = await streaming(context);
  const first = await listen('clerk/c1');
  await make(trial, 'owner/o1', 'n0');
  await first.until(1);
  await first.close();
  for (let n = 1; n <= 400; n++) await make(trial, n % 2 ? 'owner/o1' : 'owner/o2', `n${n}`);
  const again = listen('owner/o1', first.heard[0]!.id);
  for (let n = 401; n <= 420; n++) await make(trial, 'owner/o1', `n${n}`);
  const listener = await again;
  await listener.until(220);
  const expected = Array.from({ length: 420 }, (_, n) => n + 1).filter((n) => n > 400 || n % 2 === 1);
  assert.deepEqual(
    names(listener.heard),
    expected.map((n) => `n${n}`),
  );
});

test('what a reader was not told of yet is not pruned, however far the clock jumps', async (context) => {
  const { trial, listen } = await streaming(context);
  const clerk = await listen('clerk/c1');
  const reads = heldReads(trial.store);
  reads.hold('looks');
  await make(trial, 'owner/o1', 'one');
  await soon();
  trial.clock.advance(8 * 24 * hour);
  await make(trial, 'owner/o1', 'two');
  await soon();
  reads.release();
  await clerk.until(2);
  assert.deepEqual(names(clerk.heard), ['one', 'two']);
});

test('an id that is not kept any more resumes at the oldest kept', async (context) => {
  const { trial, listen } = await streaming(context);
  await make(trial, 'owner/o1', 'old');
  await trial.advance(25 * hour);
  await make(trial, 'owner/o1', 'kept');
  for (const id of ['evt_unknown', 'x'.repeat(300)]) {
    const listener = await listen('owner/o1', id);
    assert.deepEqual(names(listener.heard), ['kept'], id);
  }
  const none = await listen('owner/o1', '');
  assert.deepEqual(names(none.heard), []);
});

test('what a row was when the event was recorded decides, also for who comes later', async (context) => {
  const { trial, listen } = await streaming(context);
  const start = await listen('clerk/c1');
  const id = await make(trial, 'owner/o1', 'mine');
  const note = (await trial.send('owner/o1', 'POST', '/notes', { thing: id, text: 't' })).json.id;
  await trial.send('owner/o1', 'DELETE', `/things/${id}`);
  await start.until(4);
  const kinds = (heard: typeof start.heard) => heard.map(({ event }) => event).sort();
  assert.deepEqual(kinds(start.heard), ['note.gone', 'note.made', 'thing.gone', 'thing.made']);
  const later = await listen('owner/o1', 'evt_unknown');
  assert.deepEqual(
    kinds(later.heard),
    ['note.gone', 'note.made', 'thing.gone', 'thing.made'],
    'the thing of the note went with it',
  );
  const foreign = await listen('owner/o2', 'evt_unknown');
  assert.deepEqual(foreign.heard, []);
  assert.ok(note);
});

test('`to` decides on the stream too; one that reads the subscriber sends nothing there', async (context) => {
  const kinds = `thing.forall: { on: [create thing], payload: thing, to: "caller.user == 'clerk' || next.name == 'open'" }
thing.hooked: { on: [create thing], payload: thing, to: "subscriber.owner == next.owner" }`;
  const { trial, listen } = await streaming(context, things('', kinds));
  const [o2, clerk] = [await listen('owner/o2'), await listen('clerk/c1')];
  await make(trial, 'owner/o1', 'closed');
  await make(trial, 'owner/o1', 'open');
  await clerk.until(4);
  assert.deepEqual(
    o2.heard.map(({ event, data }) => `${event} ${data.data.name}`),
    ['thing.forall open'],
  );
  assert.deepEqual(
    clerk.heard.map(({ event }) => event),
    ['thing.made', 'thing.forall', 'thing.made', 'thing.forall'],
  );
  const again = await listen('owner/o2', 'evt_unknown');
  assert.deepEqual(
    again.heard.map(({ event, data }) => `${event} ${data.data.name}`),
    ['thing.forall open'],
  );
});

test('a comment comes every fifteen seconds of the clock, however far it jumps', async (context) => {
  const { trial, listen } = await streaming(context);
  const listener = await listen('owner/o1');
  for (let n = 0; n < 3; n++) {
    await trial.advance(15_000);
    await soon();
  }
  assert.equal(listener.comments(), 3);
  await trial.advance(1000 * hour);
  await soon();
  assert.equal(listener.comments(), 4);
});

test('a stream ends with its token, with its last key, and with the service', async (context) => {
  const { trial, listen } = await streaming(context);
  const key = (await trial.service.administer('keys add', { user: 'owner', id: 'o1' })) as { key: string };
  const [keyed, other] = [await listen('owner/o1/key'), await listen('owner/o2')];
  await trial.advance(15_000);
  await soon();
  assert.deepEqual([keyed.isOver(), other.isOver()], [false, false]);
  await trial.service.administer('keys revoke', { key: key.key });
  await trial.advance(15_000);
  await soon();
  assert.deepEqual([keyed.isOver(), other.isOver()], [true, false]);
  await trial.service.close();
  await soon();
  assert.equal(other.isOver(), true);
});

test('streams go on over another document', async (context) => {
  const { trial, listen } = await streaming(context);
  const listener = await listen('owner/o1');
  await make(trial);
  await listener.until(1);
  const { check, parseDocument } = await import('../src/index.ts');
  const next = things().replace('cost: { type: integer, visible: [clerk], default: 5 }', 'cost: { type: integer, default: 5 }');
  await trial.service.replace(check(parseDocument(next, 'next.yaml')).spec);
  await make(trial);
  await listener.until(2);
  assert.deepEqual(
    listener.heard.map(({ data }) => data.data.cost),
    [undefined, 5],
  );
});

test('through a socket: a slow reader is let go after a bounded buffer and goes on from where it was, and closing ends all', async (context) => {
  const { trial } = await streaming(context);
  const at = await trial.service.listen({ port: 0 });
  const url = `${at.url}/stream`;
  const quick = listenTo(await fetch(url, { headers: { 'x-who': 'clerk/quick' } }));
  const slow = await openUnread(context, url, { 'x-who': 'clerk/slow' });
  let isClosed = false;
  slow.on('close', () => {
    isClosed = true;
  });
  await soon();
  const big = 'x'.repeat(20_000);
  const count = 800;
  for (let n = 0; n < count; n++) await make(trial, 'owner/o1', `${n} ${big}`);
  await quick.until(count);
  assert.equal(quick.heard.length, count);
  let text = '';
  slow.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  slow.resume();
  for (let n = 0; n < 200 && !isClosed; n++) await soon();
  assert.ok(isClosed, 'it was let go');
  const lastId = [...text.matchAll(/^id: (\S+)$/gm)].at(-2)?.[1] ?? '';
  const got = [...text.matchAll(/"name":"(\d+) x+"/g)].map((match) => Number(match[1]));
  assert.ok(got.length > 0 && got.length < count, `${got.length}`);
  const again = listenTo(await fetch(url, { headers: { 'x-who': 'clerk/slow', 'last-event-id': lastId } }));
  const seen = quick.heard.findIndex(({ id }) => id === lastId) + 1;
  await again.until(count - seen);
  assert.deepEqual(
    again.heard.map(({ id }) => id),
    quick.heard.slice(seen).map(({ id }) => id),
  );
  await at.close();
  await soon();
  assert.deepEqual([quick.isOver(), again.isOver()], [true, true]);
});

test('a reader and a subscriber are told in the version that they came with', async (context) => {
  const document = await readDocument(join(import.meta.dirname, '..', 'examples', 'parcels.md'));
  const trial = await startTrial(context, document);
  const receiver = await startReceiver(context);
  const old = { 'parcels-version': '2026-01-15', 'content-type': 'application/json' };
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) =>
    trial.service.fetch(
      new Request(`http://127.0.0.1/v1${path}`, {
        method,
        headers: { 'x-who': 'merchant/m1', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  const [older, newer] = [listenTo(await ask('GET', '/events', old)), listenTo(await ask('GET', '/events', {}))];
  assert.equal((await ask('POST', '/webhooks', old, { url: receiver.url })).status, 201);
  await soon();
  const to = { name: 'A', street: 'S', city: 'C', country: 'NL' };
  const json = { 'content-type': 'application/json' };
  const made = (await (await ask('POST', '/parcels', json, { to, weight_g: 700 })).json()) as { id: string };
  await ask('POST', `/parcels/${made.id}/buy`, {});
  await newer.until(2);
  await older.until(2);
  await trial.service.settled();
  const told = (data: Record<string, unknown>) => [data.weight, data.weight_g, data.service, data.price];
  assert.deepEqual(
    newer.heard.map(({ data }) => told(data.data)),
    [
      [undefined, 700, 'standard', undefined],
      [undefined, 700, 'standard', 400],
    ],
  );
  const before = [
    [700, undefined, undefined, undefined],
    [700, undefined, undefined, 4],
  ];
  assert.deepEqual(
    older.heard.map(({ data }) => told(data.data)),
    before,
  );
  assert.deepEqual(
    receiver.received.map(({ json: { data } }) => told(data)),
    before,
  );
});

test('a payload that is a reference is the identifier in every version', async (context) => {
  const document = things('', 'thing.named: { on: create thing, payload: { ref: thing } }').replace(
    'versioning: { versions: none }\n',
    `versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: X-Version, default: current }
  guarantee: additive
  changes: { "2": [{ rename: thing.title, to: name }] }
`,
  );
  const { trial, listen } = await streaming(context, document);
  const [newest, oldest] = [await listen('clerk/c1'), await listen('clerk/c1', undefined, { 'x-version': '1' })];
  const id = await make(trial);
  const told = async (listener: typeof newest) => {
    await listener.until(2);
    return listener.heard.find(({ event }) => event === 'thing.named')?.data.data;
  };
  assert.equal(await told(newest), id);
  assert.equal(await told(oldest), id);
});
