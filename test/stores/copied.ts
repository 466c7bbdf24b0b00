import assert from 'node:assert/strict';
import { movableClock, serve } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';

/** A service that keeps something of everything that a store can keep. */
const copiedDocument = {
  title: 'Lamps',
  purpose: { users: { keeper: 'Keeps lamps.' } },
  resources: {
    lamp: {
      identifier: { field: 'id', generate: 'client' },
      fields: {
        id: 'string',
        number: { type: 'integer', readOnly: true, generate: 'integer' },
        at: { type: 'string', format: 'date-time' },
        colour: 'string',
        state: { type: 'string', readOnly: true },
      },
      required: ['id', 'number', 'at', 'colour', 'state'],
      unique: [['colour']],
    },
  },
  states: {
    lamp: {
      field: 'state',
      initial: 'off',
      states: ['off', 'on'],
      transitions: { light: { from: 'off', to: 'on', at: 'resource.at' } },
    },
  },
  endpoints: {
    'POST /lamps': { does: 'create lamp', idempotency: { header: 'Idempotency-Key', keep: '24h' } },
    'GET /lamps/{id}': { does: 'read lamp' },
    'GET /lamps': { does: 'list lamp', parameters: { colour: { in: 'query' } } },
  },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key' } },
    permissions: [{ allow: ['create lamp', 'read lamp', 'list lamp', 'stream events'], to: ['keeper'] }],
  },
  events: {
    delivery: { stream: { path: 'GET /events/stream', format: 'sse', keep: '24h' } },
    kinds: { 'lamp.made': { on: ['create lamp'], payload: 'lamp' } },
  },
  limits: {
    pagination: { style: 'cursor', cursor: 'cursor', size: 'limit', default: 50, max: 200, items: 'items', next: 'next' },
  },
};

const startMs = Date.parse('2026-06-01T09:00:00Z');
const at = '2026-06-01T10:00:00Z';

/** What is looked at of an answer. */
interface Told {
  readonly items?: readonly { readonly id: string }[];
  readonly number?: number;
  readonly state?: string;
}

type Serving = Awaited<ReturnType<typeof serve>>;

async function ask(service: Serving, secret: string, method: string, path: string, body?: unknown, key?: string) {
  const headers = {
    'x-key': secret,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, sent));
  return { status: answer.status, replayed: answer.headers.get('idempotency-replayed'), body: (await answer.json()) as Told };
}

/** Fills a store, and gives the secret of a key. */
export async function fillForCopy(path: string, open: (path: string) => Store, rows: number): Promise<string> {
  const store = open(path);
  const service = await serve(copiedDocument, { store, clock: movableClock(startMs) });
  // What comes back of `keys add` is the key and its secret.
  const { secret } = (await service.administer('keys add', { user: 'keeper', id: 'k' })) as { secret: string };
  const made = Array.from({ length: rows }, (_, n) =>
    ask(service, secret, 'POST', '/lamps', { id: `l${n}`, at, colour: `\u0001${n}\u0000"\\é` }, `key ${n}`),
  );
  for (const { status } of await Promise.all(made)) assert.equal(status, 201);
  await service.close();
  await store.close();
  return secret;
}

/** What a service over a copy goes on with: rows, filters, uniqueness, numbers, kept answers, keys and timers. */
export async function lookAtCopy(path: string, open: (path: string) => Store, secret: string, rows: number): Promise<void> {
  const store = open(path);
  const clock = movableClock(startMs);
  const service = await serve(copiedDocument, { store, clock });
  try {
    const colour = encodeURIComponent('\u00011\u0000"\\é');
    const found = await ask(service, secret, 'GET', `/lamps?colour=${colour}`);
    assert.deepEqual(
      found.body.items?.map(({ id }) => id),
      ['l1'],
    );
    const again = await ask(service, secret, 'POST', '/lamps', { id: 'l1', at, colour: '\u00011\u0000"\\é' }, 'key 1');
    assert.deepEqual([again.status, again.replayed], [201, 'true']);
    const taken = await ask(service, secret, 'POST', '/lamps', { id: 'other', at, colour: '\u00011\u0000"\\é' });
    assert.equal(taken.status, 409);
    const next = await ask(service, secret, 'POST', '/lamps', { id: 'next', at, colour: 'new' });
    assert.equal(next.body.number, rows + 1);
    clock.advance(3_600_000);
    await service.settled();
    assert.equal((await ask(service, secret, 'GET', '/lamps/l0')).body.state, 'on');
  } finally {
    await service.close();
    await store.close();
  }
}
