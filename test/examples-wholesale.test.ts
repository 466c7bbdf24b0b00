import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { check, movableClock, readDocument, serve } from '../src/index.ts';
import { type Received, startReceiver } from './events/receiver.ts';
import { signedMessage } from './request-signatures/signer.ts';

const path = join(import.meta.dirname, '../examples/wholesale.md');
const startMs = Date.parse('2026-06-01T05:00:00Z');

type Row = Readonly<Record<string, unknown>> & { readonly id: string };
interface Order extends Row {
  readonly total: number;
  readonly lines: readonly (Row & { readonly sacks: number; readonly amount: number })[];
}
interface Key {
  readonly key: string;
  readonly secret: string;
}

test('a mill and its bakeries are stated whole: nothing to be mended, nothing open, in 600 lines', async () => {
  const { findings, ledger } = check(await readDocument(path));
  assert.deepEqual([findings, ledger.total.open], [[], 0]);
  assert.ok((await readFile(path, 'utf8')).split('\n').length <= 600);
});

/** The service, with a till of one bakery, the system of another, and a product that the mill has. */
async function open(context: TestContext) {
  const clock = movableClock(startMs);
  const failures: unknown[] = [];
  const service = await serve(await readDocument(path), {
    clock,
    store: ':memory:',
    allowPrivateWebhooks: true,
    onFailure: (failure) => failures.push(failure),
  });
  context.after(async () => {
    await service.close();
    assert.deepEqual(failures, []);
  });
  const keyOf = async (user: string, id: string, scheme: string) =>
    (await service.administer('keys add', { user, id, scheme })) as unknown as Key;
  const [mill, till, system] = [
    await keyOf('mill', 'mill', 'till'),
    await keyOf('bakery', 'harbour', 'till'),
    await keyOf('bakery', 'market', 'system'),
  ];
  const send = async (method: string, target: string, headers: Record<string, string>, text?: string) => {
    const answer = await service.fetch(
      new Request(`https://orders.mill.example${target}`, {
        method,
        headers: { ...headers, ...(text !== undefined && { 'content-type': 'application/json' }) },
        ...(text !== undefined && { body: text }),
      }),
    );
    const got = await answer.text();
    return { status: answer.status, headers: answer.headers, json: (got === '' ? undefined : JSON.parse(got)) as Order };
  };
  const seconds = () => Math.floor(clock.now() / 1000);
  let nonces = 0;
  const signedByTill = ({ key, secret }: Key, method: string, target: string, text = '') => {
    const nonce = `n${nonces++}`;
    const made = createHmac('sha256', secret).update(`${method}\n${target}\n${seconds()}\n${nonce}\n${text}`).digest('hex');
    return { 'x-till': key, 'x-signature': `t=${seconds()},n=${nonce},v1=${made}` };
  };
  const as = (who: Key, method: string, target: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return send(method, target, { ...headers, ...signedByTill(who, method, target, text) }, text);
  };
  const bySystem = (method: string, target: string, body?: unknown) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const asked = { method, target, ...(text !== undefined && { body: text }) };
    const held = { keyId: system.key, secret: system.secret, algorithm: 'ed25519' };
    const covered = ['@method', '@target-uri', ...(text === undefined ? [] : ['content-digest'])];
    return send(
      method,
      target,
      signedMessage(asked, held, 'orders.mill.example', covered, { created: seconds(), scheme: 'https' }),
      text,
    );
  };
  const rye = (await as(mill, 'POST', '/v1/products', { name: 'Rye', price: 30 })).json;
  const spelt = (await as(mill, 'POST', '/v1/products', { name: 'Spelt', price: 45 })).json;
  return { service, send, as, bySystem, signedByTill, mill, till, rye, spelt };
}

test('a till and a system sign each in its own way, and neither sees what the other has ordered', async (context) => {
  const { send, as, bySystem, signedByTill, till, rye } = await open(context);
  const order = { lines: [{ product: rye.id, position: 1, sacks: 2 }] };
  const mine = await as(till, 'POST', '/v1/orders', order);
  const other = await bySystem('POST', '/v1/orders', order);
  assert.deepEqual([mine.status, mine.json.bakery, other.status, other.json.bakery], [201, 'harbour', 201, 'market']);
  assert.equal((await bySystem('GET', `/v1/orders/${mine.json.id}`)).status, 404);
  assert.equal((await bySystem('GET', `/v1/orders/${other.json.id}`)).status, 200);
  // What was signed is what is sent, and once.
  const headers = signedByTill(till, 'POST', '/v1/orders', JSON.stringify(order));
  const changed = await send('POST', '/v1/orders', headers, JSON.stringify({ lines: [{ ...order.lines[0], sacks: 200 }] }));
  const first = await send('POST', '/v1/orders', headers, JSON.stringify(order));
  const again = await send('POST', '/v1/orders', headers, JSON.stringify(order));
  assert.deepEqual(
    [changed, first, again].map(({ status, json }) => [status, json.code]),
    [
      [401, 'bad_signature'],
      [201, undefined],
      [401, 'bad_signature'],
    ],
  );
});

test('a change takes the lines: those that it names, a new one, and one less', async (context) => {
  const { as, mill, till, rye, spelt } = await open(context);
  const { json: placed } = await as(till, 'POST', '/v1/orders', {
    lines: [
      { product: rye.id, position: 1, sacks: 2 },
      { product: spelt.id, position: 2 },
    ],
  });
  assert.deepEqual([placed.total, placed.lines.map(({ amount }) => amount)], [105, [60, 45]]);
  const target = `/v1/orders/${placed.id}`;
  const lines = [
    { id: placed.lines[0]?.id, sacks: 3 },
    { product: spelt.id, position: 3, sacks: 10 },
  ];
  assert.equal((await as(till, 'PATCH', target, { lines })).status, 428);
  const etag = (await as(till, 'GET', target)).headers.get('etag') ?? '';
  const changed = await as(till, 'PATCH', target, { lines }, { 'if-match': etag });
  assert.deepEqual(
    [changed.status, changed.json.total, changed.json.lines.map(({ sacks }) => sacks), changed.json.lines[0]?.id],
    [200, 540, [3, 10], placed.lines[0]?.id],
  );
  assert.equal((await as(till, 'PATCH', target, { lines: [] }, { 'if-match': '*' })).status, 422);
  assert.equal((await as(till, 'PATCH', target, { lines }, { 'if-match': etag })).status, 412);
  const chosen = await as(till, 'GET', `${target}?fields=total,lines.sacks`);
  assert.deepEqual(chosen.json, {
    id: placed.id,
    total: 540,
    lines: changed.json.lines.map(({ id, sacks }) => ({ id, sacks })),
  });
  await as(mill, 'POST', `${target}/pack`);
  assert.equal((await as(till, 'PATCH', target, { wanted_on: '2026-06-02' }, { 'if-match': '*' })).status, 409);
});

test('who listens is asked first, and told of an order with what it comes to; the log leads to it', async (context) => {
  const { service, as, till, rye } = await open(context);
  const order = () => as(till, 'POST', '/v1/orders', { lines: [{ product: rye.id, position: 1, sacks: 4 }] });
  const receiver = await startReceiver(context, (response, { json }: Received) => {
    const { challenge } = json as unknown as { challenge?: string };
    response.writeHead(200).end(challenge ?? '');
  });
  receiver.react(503);
  const hook = (await as(till, 'POST', '/v1/webhooks', { url: receiver.url })).json;
  await service.settled();
  await order();
  assert.equal((await as(till, 'GET', `/v1/webhooks/${hook.id}`)).json.confirmed, false);
  receiver.react((response, { json }) =>
    response.writeHead(200).end(String((json as unknown as { challenge?: string }).challenge ?? '')),
  );
  const again = await as(till, 'PATCH', `/v1/webhooks/${hook.id}`, { url: `${receiver.url}/again` });
  assert.equal(again.status, 200);
  await service.settled();
  assert.equal((await as(till, 'GET', `/v1/webhooks/${hook.id}`)).json.confirmed, true);
  const { json: placed } = await order();
  await service.settled();
  const told = receiver.received.map(({ json }) => json.type);
  assert.deepEqual(told, ['url_verification', 'url_verification', 'order.placed']);
  const event = receiver.received.at(-1)?.json;
  assert.deepEqual([event?.data.id, event?.data.total], [placed.id, 120]);
  const entry = (await as(till, 'GET', `/v1/entries/${event?.id}`)).json;
  assert.partialDeepStrictEqual(entry, {
    kind: 'order.placed',
    at: `https://orders.mill.example/v1/orders/${placed.id}`,
    data: { object: { id: placed.id, total: 120 } },
  });
});
