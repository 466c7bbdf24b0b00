import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { handlers } from '../examples/parcels.handlers.ts';
import { check, movableClock, parseDocument, type ServeOptions, serve } from '../src/index.ts';
import { isStated } from '../src/parts/fact.ts';

/** Every error code of `examples/parcels.md`, each produced once through the whole of the service, with its status and media type. */

const text = readFileSync(new URL('../examples/parcels.md', import.meta.url), 'utf8');
const spec = check(parseDocument(text, 'parcels.md')).spec;
const draft = { to: { name: 'Ann', street: 'Long Street 5', city: 'Bremen', country: 'DE' }, weight_g: 500 };

interface Sent {
  readonly as?: 'merchant' | 'courier' | 'nobody';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body as it is, in place of JSON. */
  readonly raw?: string;
}

type Desk = Awaited<ReturnType<typeof open>>;

/** Serves the document with one credential for each user. */
async function open(options: ServeOptions = {}, document = text) {
  const clock = movableClock(Date.parse('2026-06-10T09:00:00Z'));
  const service = await serve(parseDocument(document, 'parcels.md'), { clock, handlers, development: true, ...options });
  const keys = new Map(service.credentials.filter(({ scheme }) => scheme === 'key').map(({ user, value }) => [user, value]));
  const send = async (line: string, { as = 'merchant', headers = {}, body, raw }: Sent = {}) => {
    const [method = '', path = ''] = line.split(' ');
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const request = new Request(`http://127.0.0.1${service.basePath}${path}`, {
      method,
      headers: {
        ...(as !== 'nobody' && { 'x-api-key': keys.get(as)! }),
        ...(content !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
    });
    const answer = await service.fetch(request);
    const answered = await answer.text();
    return { status: answer.status, type: answer.headers.get('content-type'), body: JSON.parse(answered || 'null') };
  };
  const book = async (fields: object = {}): Promise<string> => {
    const made = await send('POST /parcels', { body: { ...draft, ...fields } });
    assert.equal(made.status, 201);
    return made.body.id;
  };
  return { clock, send, book, close: () => service.close() };
}

/** What a code answers to: the requests that lead there, the last of which is refused. */
type Way = (desk: Desk) => ReturnType<Desk['send']>;

interface Case {
  readonly way: Way;
  readonly options?: () => ServeOptions;
  readonly document?: () => string;
}

/** Stands in front of an operation until it is let go. */
function gate() {
  let letGo = (): void => undefined;
  let arrived = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  return {
    letGo: () => letGo(),
    reached,
    wait: async () => {
      arrived();
      await held;
    },
  };
}

const busy = gate();
const slow = gate();
/** Somebody else's change, made each time that a purchase is about to be stored. */
let meanwhile = async (): Promise<unknown> => undefined;
const brokenKeySet = createServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
after(() => brokenKeySet.close());

const cases: Readonly<Record<string, Case>> = {
  malformed: { way: ({ send }) => send('POST /parcels', { raw: '{' }) },
  unsupported_media: { way: ({ send }) => send('POST /parcels', { raw: 'a', headers: { 'content-type': 'text/plain' } }) },
  not_acceptable: { way: ({ send }) => send('GET /parcels', { headers: { accept: 'image/png' } }) },
  invalid: { way: ({ send }) => send('POST /parcels', { body: { ...draft, weight_g: 0 } }) },
  unknown_caller: { way: ({ send }) => send('GET /parcels', { as: 'nobody' }) },
  forbidden: { way: ({ send }) => send('POST /parcels', { as: 'courier', body: draft }) },
  not_found: { way: ({ send }) => send('GET /parcels/pcl_01ARZ3NDEKTSV4RRFFQ69G5FAV') },
  method_not_allowed: { way: ({ send }) => send('PUT /parcels') },
  exists: {
    way: async ({ send, book }) => {
      await book({ reference: 'A 1' });
      return send('POST /parcels', { body: { ...draft, reference: 'A 1' } });
    },
  },
  wrong_state: { way: async ({ send, book }) => send(`POST /parcels/${await book()}/collect`, { as: 'courier' }) },
  stale: {
    way: async ({ send, book }) =>
      send(`PATCH /parcels/${await book()}`, { body: { weight_g: 600 }, headers: { 'if-match': '"another"' } }),
  },
  key_reused: {
    way: async ({ send }) => {
      const headers = { 'idempotency-key': 'k1' };
      await send('POST /parcels', { body: draft, headers });
      return send('POST /parcels', { body: { ...draft, weight_g: 600 }, headers });
    },
  },
  key_busy: {
    options: () => ({ before: { 'create parcel': () => busy.wait() } }),
    way: async ({ send }) => {
      const headers = { 'idempotency-key': 'k2' };
      const first = send('POST /parcels', { body: draft, headers });
      await busy.reached;
      const second = await send('POST /parcels', { body: draft, headers });
      busy.letGo();
      assert.equal((await first).status, 201);
      return second;
    },
  },
  conflict: {
    options: () => ({ before: { 'buy parcel': () => meanwhile() } }),
    way: async ({ send, book }) => {
      const id = await book();
      let weight_g = 500;
      meanwhile = () => send(`PATCH /parcels/${id}`, { body: { weight_g: ++weight_g } });
      return send(`POST /parcels/${id}/buy`);
    },
  },
  slow_down: {
    way: async ({ send }) => {
      for (let times = 0; times < 600; times++) assert.equal((await send('GET /parcels')).status, 200);
      return send('GET /parcels');
    },
  },
  quota_used: {
    // The same quota of a month, in a number that a test reaches.
    document: () => changed('limit: 10000, window: month', 'limit: 2, window: month'),
    way: async ({ send, book }) => {
      for (let times = 0; times < 2; times++) assert.equal((await send(`POST /parcels/${await book()}/buy`)).status, 200);
      return send(`POST /parcels/${await book()}/buy`);
    },
  },
  too_large: { way: ({ send }) => send('POST /parcels', { raw: ' '.repeat(64 * 1024 + 1) }) },
  bad_page: { way: ({ send }) => send('GET /parcels?limit=101') },
  timed_out: {
    options: () => ({ handlers: { quote: () => slow.wait() } }),
    way: async ({ send, clock }) => {
      const asked = send('GET /quotes?weight_g=500');
      await slow.reached;
      clock.advance(10_000);
      const answered = await asked;
      slow.letGo();
      return answered;
    },
  },
  unknown_version: { way: ({ send }) => send('GET /parcels', { headers: { 'parcels-version': '2020-01-01' } }) },
  retired_version: {
    way: ({ send, clock }) => {
      clock.set(Date.parse('2027-06-01T00:00:00Z'));
      return send('GET /parcels', { headers: { 'parcels-version': '2026-01-15' } });
    },
  },
  unavailable: {
    // The issuer of the tokens, which cannot say its keys.
    document: () =>
      changed(
        'https://id.parcels.example/.well-known/jwks.json',
        `http://127.0.0.1:${(brokenKeySet.address() as AddressInfo).port}/jwks.json`,
      ),
    way: ({ send }) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const token = `${part({ alg: 'ES256', kid: 'k' })}.${part({ sub: 'm1' })}.c2ln`;
      return send('GET /parcels', { as: 'nobody', headers: { authorization: `Bearer ${token}` } });
    },
  },
  broken: {
    options: () => ({ handlers: { quote: () => Promise.reject(new Error('A fault of the code.')) }, onFailure: () => undefined }),
    way: ({ send }) => send('GET /quotes?weight_g=500'),
  },
  too_late: {
    way: async ({ send, book }) => {
      const id = await book();
      await send(`POST /parcels/${id}/buy`);
      await send(`POST /parcels/${id}/collect`, { as: 'courier' });
      return send(`POST /parcels/${id}/cancel`);
    },
  },
  too_heavy: {
    way: async ({ send, book }) => send(`POST /parcels/${await book({ service: 'express', weight_g: 10_001 })}/buy`),
  },
};

/** The document with one place of it put otherwise. */
function changed(from: string, to: string): string {
  assert.ok(text.includes(from), `${from} stands in the document`);
  return text.replace(from, to);
}

const { codes } = spec.errors;
assert.ok(isStated(codes));

test('there is a way to every code that the document states, and to no other', () => {
  assert.deepEqual(Object.keys(cases).sort(), Object.keys(codes.value).sort());
});

for (const [code, { way, options, document }] of Object.entries(cases)) {
  test(`a request is answered with ${code}`, async () => {
    const desk = await open(options?.(), document?.());
    try {
      const { status, type, body } = await way(desk);
      const statuses = codes.value[code]!.rules.map((one) => isStated(one.status) && one.status.value);
      assert.deepEqual([body.code, type], [code, 'application/problem+json']);
      assert.ok(statuses.includes(status), `${status} is a status of ${code}`);
      assert.equal(body.status, status);
      assert.match(body.request_id, /^req_/);
    } finally {
      await desk.close();
    }
  });
}
