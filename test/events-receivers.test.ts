import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Document, type Json, parseDocument, readDocument } from '../src/index.ts';
import { startReceiver } from './events/receiver.ts';
import { type Listener, listenTo } from './events/stream-reader.ts';
import { startTrial, type Trial, things } from './events/trial.ts';

/**
 * Nobody hears of what it may not read. For every kind of event of every example, on an own and on a foreign row, each
 * caller hears of it if, and only if, the service lets it read the row at that moment, as its own answers show.
 */
interface Scene {
  readonly example: string;
  readonly base: string;
  readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, Json>>[]>>;
  readonly callers: readonly string[];
  readonly stream: string;
  /** Where hooks are made, and by whom they can be; the service of others has none. */
  readonly hooks?: { readonly path: string; readonly body: object };
  /** Where a row is read, or the list that shows it. */
  readonly reads: Readonly<Record<string, (row: Row) => string>>;
  play(stage: Stage): Promise<void>;
}
interface Row {
  readonly id: string;
  readonly [field: string]: unknown;
}
interface Stage {
  readonly trial: Trial;
  send(who: string, method: string, path: string, body?: object): Promise<Row>;
  /** Does something that emits these kinds about a row; `gone` = they are judged by what could be read before it. */
  expect(kinds: readonly string[], resource: string, row: Row, act: () => Promise<unknown>, gone?: 'gone'): Promise<void>;
  /** As `expect`, for a row that the act itself makes. */
  made(kinds: readonly string[], resource: string, act: () => Promise<Row>): Promise<Row>;
}

const time = '2026-01-01T00:00:00Z';
const to = { name: 'A', street: 'S', city: 'C', country: 'NL' };
const person = (id: string, name: string) => ({
  id,
  name,
  born_on: '1980-05-01',
  contact: { by: 'email', address: 'a@example.org' },
  allergies: [],
  registered_at: time,
  changed_at: time,
});
const practitioner = (id: string) => ({
  id,
  name: id,
  speciality: 'eyes',
  timezone: 'Europe/Amsterdam',
  consultation: 'PT30M',
  joined_at: time,
  changed_at: time,
});
const ada = '01JADA00000000000000000001';
const bob = '01JB0B00000000000000000002';
const bo = '3f2c0b7e-94c1-4a53-8d6b-0c1f5e6a7b80';
const cleo = '5a1d9c3e-0f2b-4c6d-9e8f-7a6b5c4d3e2f';
const librarian = 'librarian/l1//catalogue+loans+members';

const scenes: readonly Scene[] = [
  {
    example: 'examples/parcels.md',
    base: '/v1',
    stream: '/v1/events',
    callers: ['merchant/m1', 'merchant/m2', 'courier/c1', 'courier/m1'],
    hooks: { path: '/webhooks', body: {} },
    reads: { parcel: ({ id }) => `/parcels/${id}`, scan: ({ parcel }) => `/parcels/${parcel}/scans` },
    async play({ trial, send, expect, made }) {
      for (const merchant of ['merchant/m1', 'merchant/m2']) {
        const book = () => made(['parcel.created'], 'parcel', () => send(merchant, 'POST', '/parcels', { to, weight_g: 1 }));
        const act = (row: Row, who: string, name: string, body?: object) => () =>
          send(who, 'POST', `/parcels/${row.id}/${name}`, body);
        const [sent, back, left] = [await book(), await book(), await book()];
        await expect(['parcel.changed'], 'parcel', sent, () => send(merchant, 'PATCH', `/parcels/${sent.id}`, { weight_g: 2 }));
        for (const row of [sent, back]) {
          await expect(['parcel.changed'], 'parcel', row, act(row, merchant, 'buy'));
          await expect(['parcel.changed'], 'parcel', row, act(row, 'courier/c1', 'collect'));
        }
        await made(['parcel.seen'], 'scan', () => send('courier/c1', 'POST', `/parcels/${sent.id}/scans`, { place: 'here' }));
        await expect(['parcel.delivered'], 'parcel', sent, act(sent, 'courier/c1', 'deliver'));
        await expect(['parcel.changed'], 'parcel', back, act(back, 'courier/c1', 'return', { reason: 'nobody in' }));
        await expect(['parcel.deleted'], 'parcel', left, () => send(merchant, 'DELETE', `/parcels/${left.id}`), 'gone');
        const stale = await book();
        await expect(['parcel.changed'], 'parcel', stale, () => trial.advance(30 * 86_400_000));
      }
    },
  },
  {
    example: 'examples/clinic.yaml',
    base: '',
    stream: '/events',
    callers: ['receptionist/r1', 'doctor/dr-vos', 'doctor/dr-bos', `patient/${ada}`, `patient/${bob}`, 'device/d1'],
    rows: { practitioner: [practitioner('dr-vos'), practitioner('dr-bos')], patient: [person(ada, 'Ada'), person(bob, 'Bob')] },
    reads: { appointment: ({ id }) => `/appointments/${id}`, reading: ({ device }) => `/devices/${device}/readings` },
    async play({ trial, send, expect, made }) {
      for (const [patient, doctor] of [
        [ada, 'dr-vos'],
        [bob, 'dr-bos'],
      ] as const) {
        const day = (n: number) => new Date(trial.clock.now() + n * 86_400_000).toISOString();
        const book = (starts_at: string, urgent = false) =>
          made(['appointment.booked'], 'appointment', () =>
            send('receptionist/r1', 'POST', '/appointments', { patient, practitioner: doctor, starts_at, urgent }),
          );
        const act = (row: Row, who: string, name: string, body?: object) => () =>
          send(who, 'POST', `/appointments/${row.id}:${name}`, body);
        const moved = await book(day(5));
        await expect(['appointment.moved'], 'appointment', moved, () =>
          send('receptionist/r1', 'PATCH', `/appointments/${moved.id}`, { starts_at: day(6) }),
        );
        await expect(['appointment.over'], 'appointment', moved, act(moved, 'receptionist/r1', 'cancel'));
        const lapsing = await book(day(9));
        await expect(['appointment.over'], 'appointment', lapsing, () => trial.advance(2 * 86_400_000));
        const kept = await book(day(2), true);
        await expect(['appointment.reminder'], 'appointment', kept, () => trial.advance(86_400_000));
        await trial.advance(86_400_000 - 1_800_000);
        await send('receptionist/r1', 'POST', `/appointments/${kept.id}:arrive`);
        await expect(['appointment.over'], 'appointment', kept, act(kept, `doctor/${doctor}`, 'complete', { follow_up: false }));
        const missed = await book(new Date(trial.clock.now() + 3_600_000).toISOString(), true);
        await expect(['appointment.reminder', 'appointment.over'], 'appointment', missed, () => trial.advance(2 * 3_600_000));
      }
    },
  },
  {
    example: 'examples/library.md',
    base: '/v2',
    stream: '/v2/stream',
    callers: [librarian, 'librarian/l2', `reader/${bo}`, `reader/${cleo}`, 'kiosk/k1'],
    hooks: { path: '/subscriptions', body: {} },
    rows: {
      book: ['9789000000001', '9789000000002'].map((isbn) => ({
        isbn,
        title: isbn,
        contributors: [{ kind: 'person', name: 'Ida', role: 'author' }],
        kind: 'print',
        language: 'en',
        currency: 'EUR',
        added_at: time,
        changed_at: time,
      })),
      copy: [1, 2].map((number) => ({
        number,
        book: `978900000000${number}`,
        shelf: `NF ${number}`,
        condition: 'good',
        short_loan: false,
        status: 'shelved',
      })),
      member: [
        [bo, 'a'],
        [cleo, 'b'],
      ].map(([id, letter]) => ({
        id: id as string,
        card: `AL-${(letter as string).repeat(24)}`,
        name: 'N',
        email: `${letter}@example.org`,
        address: { street: 'K', city: 'D', country: 'NL' },
        interests: [],
        status: 'active',
        joined_at: time,
      })),
    },
    reads: { loan: ({ id }) => `/loans/${id}`, hold: ({ about }) => `/books/${about}/holds` },
    async play({ trial, send, expect, made }) {
      for (const [copy, member] of [
        [1, bo],
        [2, cleo],
      ] as const) {
        const lend = () => made(['loan.opened'], 'loan', () => send(librarian, 'POST', '/loans', { copy, member }));
        const first = await lend();
        await expect(['loan.closed'], 'loan', first, () => send(librarian, 'POST', `/loans/${first.id}/return`));
        const second = await lend();
        await expect(['loan.overdue'], 'loan', second, () => trial.advance(22 * 86_400_000));
        await expect(['loan.closed'], 'loan', second, () => trial.advance(60 * 86_400_000));
        const book = `978900000000${copy}`;
        const about = { about: book };
        await made(['hold.ready'], 'hold', async () => ({
          ...(await send(librarian, 'POST', `/books/${book}/holds`, { member, copy })),
          ...about,
        }));
      }
    },
  },
];

for (const scene of scenes) {
  test(`of ${scene.example} each caller hears of what it may read, and of nothing else`, async (context) => {
    const trial = await startTrial(context, await withStreamForAll(scene), {
      ...(scene.rows && { rows: scene.rows }),
      handlers: {},
    });
    const send: Stage['send'] = async (who, method, path, body) => {
      const headers = { 'x-who': who, 'idempotency-key': `k${++keys}`, ...(body && { 'content-type': 'application/json' }) };
      const request = new Request(`http://127.0.0.1${scene.base}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const response = await trial.service.fetch(request);
      const text = await response.text();
      assert.ok(response.status < 300, `${who} ${method} ${path}: ${response.status} ${text}`);
      return text === '' ? {} : JSON.parse(text);
    };
    let keys = 0;
    const listeners = new Map<string, Listener>();
    for (const who of scene.callers) {
      const request = new Request(`http://127.0.0.1${scene.stream}`, { headers: { 'x-who': who } });
      listeners.set(who, listenTo(await trial.service.fetch(request)));
    }
    const receivers = new Map<string, Awaited<ReturnType<typeof startReceiver>>>();
    for (const who of scene.hooks ? scene.callers : []) {
      const receiver = await startReceiver(context);
      const hook = await trial.service.fetch(
        new Request(`http://127.0.0.1${scene.base}${scene.hooks?.path}`, {
          method: 'POST',
          body: JSON.stringify({ url: receiver.url }),
          headers: { 'x-who': who, 'content-type': 'application/json', 'idempotency-key': `h${++keys}` },
        }),
      );
      // Whoever may not make one hears nothing by it.
      if (hook.status === 201) receivers.set(who, receiver);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    const expected = new Map<string, string[]>(scene.callers.map((who) => [who, []]));
    const readers = async (resource: string, row: Row): Promise<string[]> => {
      const all: string[] = [];
      for (const who of scene.callers) {
        const path = scene.reads[resource]!(row);
        const response = await trial.service.fetch(
          new Request(`http://127.0.0.1${scene.base}${path}`, { headers: { 'x-who': who } }),
        );
        const text = await response.text();
        if (response.status === 200 && (text.includes(String(row.id)) || /"outcome"/.test(text))) all.push(who);
      }
      return all;
    };
    const note = (kinds: readonly string[], who: readonly string[]) => {
      for (const one of who) expected.get(one)?.push(...kinds);
    };
    await scene.play({
      trial,
      send,
      async expect(kinds, resource, row, act, gone) {
        const before = gone && (await readers(resource, row));
        await act();
        note(kinds, before ?? (await readers(resource, row)));
      },
      async made(kinds, resource, act) {
        const row = await act();
        note(kinds, await readers(resource, row));
        return row;
      },
    });
    await trial.service.settled();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const hears = Object.fromEntries([...listeners].map(([who, { heard }]) => [who, heard.map(({ event }) => event)]));
    assert.deepEqual(hears, Object.fromEntries(expected));
    for (const [who, { received }] of receivers) {
      const kinds = received.map(({ json }) => json.type ?? (json as unknown as { kind: string }).kind);
      assert.deepEqual(kinds.sort(), [...(expected.get(who) ?? [])].sort(), `the hook of ${who}`);
    }
    const counts = [...expected.values()].map((kinds) => kinds.length);
    assert.ok(Math.max(...counts) > 6 && Math.min(...counts) < Math.max(...counts), 'the scene tells callers apart');
    assert.deepEqual(trial.failures, []);
  });
}

/** The example, with a stream that every user may open. */
async function withStreamForAll({ example }: Scene): Promise<Document> {
  const path = join(import.meta.dirname, '..', example);
  if (example.endsWith('.yaml')) {
    const resources = readFileSync(join(path, '..', 'clinic', 'resources.yaml'), 'utf8');
    const errors = readFileSync(join(path, '..', 'clinic', 'errors.json'), 'utf8');
    const text = readFileSync(path, 'utf8').replace(
      'allow: [stream events, read ledger], to: [receptionist, doctor]',
      'allow: [stream events, read ledger], to: [receptionist, doctor, patient, device]',
    );
    return parseDocument(text, 'clinic.yaml', { include: (file) => (file.endsWith('.json') ? errors : resources) });
  }
  if (!example.includes('library')) return readDocument(path);
  const text = readFileSync(path, 'utf8')
    .replace('\n  envelope: {', '\n  stream: { path: GET /stream, format: sse, keep: 24h }\n  envelope: {')
    .replace('  envelope: { id: event.id, kind: event.kind,', '  envelope: { id: event.id, type: event.kind, kind: event.kind,')
    .replace(
      '\n  - { allow: [read ledger], to: [librarian, reader] }',
      '\n  - { allow: [stream events, read ledger], to: [librarian, reader, kiosk] }',
    )
    .replace(/(\w+: \[)read ledger\]/, '$1read ledger, stream events]');
  return parseDocument(text, 'library.md');
}

test('a kind about no resource is received as `to` says, and by nobody without it', async (context) => {
  const kinds = `news: { on: [], payload: { type: object, properties: { text: string }, required: [text] }, to: "caller.user == 'clerk' && event.payload.text != ''" }
rumour: { on: [], payload: { type: object, properties: { text: string } } }
thing.praised: { on: [], payload: thing }`;
  const document = things('', kinds)
    .replace(
      '  POST /notes:',
      '  POST /tell: { does: handler tell, request: { type: object, properties: { kind: string, data: {} }, required: [kind, data] }, response: { 204: none } }\n  POST /notes:',
    )
    .replace('create note, delete note, read note]', 'create note, delete note, read note, handler tell]')
    .replace('- { allow: [create thing,', '- { allow: [handler tell], to: clerk }\n    - { allow: [create thing,');
  const handlers = {
    tell: ({ request, emit }: { request: unknown; emit: (kind: string, data: Json) => void }) => {
      const { kind, data } = request as { kind: string; data: Json };
      emit(kind, data);
    },
  };
  const trial = await startTrial(context, document, { handlers: handlers as never });
  const hooks = new Map<string, Awaited<ReturnType<typeof startReceiver>>>();
  for (const who of ['owner/o1', 'owner/o2', 'clerk/c1']) {
    const receiver = await startReceiver(context);
    await trial.send(who, 'POST', '/hooks', { url: receiver.url, kinds: ['news', 'rumour', 'thing.praised'] });
    hooks.set(who, receiver);
  }
  const tell = (kind: string, data: unknown) => trial.send('clerk/c1', 'POST', '/tell', { kind, data });
  const thing = (await trial.send('owner/o1', 'POST', '/things', { name: 'a' })).json;
  assert.equal((await tell('news', { text: 'hear' })).status, 204);
  assert.equal((await tell('rumour', { text: 'hush' })).status, 204);
  assert.equal((await tell('thing.praised', { ...thing, token: undefined, pin: 'secret' })).status, 204);
  await trial.service.settled();
  const heard = (who: string) =>
    hooks
      .get(who)!
      .received.map(({ json }) => `${json.type} ${json.data.text ?? json.data.pin ?? ''}`.trim())
      .sort();
  assert.deepEqual(heard('owner/o1'), ['thing.praised']);
  assert.deepEqual(heard('owner/o2'), []);
  assert.deepEqual(heard('clerk/c1'), ['news hear', 'thing.praised']);
  const before = await trial.outbox((outbox) => outbox.lastEvent());
  assert.equal((await tell('nothing', {})).status, 500);
  assert.equal((await tell('news', { text: 3 })).status, 500);
  assert.equal(await trial.outbox((outbox) => outbox.lastEvent()), before);
});

test('a maker known by keys receives until its last key is revoked, and a subscriber without a maker nothing', async (context) => {
  const receiver = await startReceiver(context);
  const orphan = await startReceiver(context);
  const row = {
    id: 'hok_1',
    owner: 'c1',
    url: orphan.url,
    secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    enabled: true,
  };
  const trial = await startTrial(context, things(), { rows: { hook: [row] } });
  const add = async () => (await trial.service.administer('keys add', { user: 'owner', id: 'o1' })) as { key: string };
  const [one, two] = [await add(), await add()];
  await trial.send('owner/o1/key', 'POST', '/hooks', { url: receiver.url });
  const make = async () => {
    await trial.send('owner/o1/key', 'POST', '/things', { name: 'a' });
    await trial.service.settled();
    return receiver.received.length;
  };
  assert.equal(await make(), 1);
  await trial.service.administer('keys revoke', { key: one.key });
  assert.equal(await make(), 2);
  receiver.react(500);
  assert.equal(await make(), 3);
  await trial.service.administer('keys revoke', { key: two.key });
  receiver.react(200);
  await trial.advance(60_000);
  assert.equal(receiver.received.length, 3, 'what was still to be sent is not');
  assert.equal(await make(), 3);
  assert.equal(orphan.received.length, 0);
});
