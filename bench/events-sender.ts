/** Sends signed webhooks, as a process of its own: a bare loop over undici, or Ninefold with so many rows in its outbox. */
import { createHmac } from 'node:crypto';
import { Pool } from 'undici';
import { openStore, serve } from '../src/index.ts';
import { eventsDocument } from './events-document.ts';

const connections = 32;
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const merchant = { user: 'merchant', id: 'm1', scopes: [] };
const [how = 'bare', port = '0', file = '', rows = '0'] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}/hook`;

const payload = (n: number) =>
  JSON.stringify({ id: `pcl_${n}`, merchant: 'm1', to: 'Kade 1, Delft', weight_g: 500, note: 'x'.repeat(120) });

/** What anybody would write: sign, post, look at the status; so many at a time. */
async function bare(count: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const key = Buffer.alloc(32, 7);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const id = `evt_${n}`;
      const now = Date.now();
      const timestamp = Math.floor(now / 1000);
      const body = JSON.stringify({
        id,
        type: 'parcel.created',
        timestamp: new Date(now).toISOString(),
        data: JSON.parse(payload(n)),
      });
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`,
      };
      const answer = await pool.request({ path: '/hook', method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 204) throw new Error(`it answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  await pool.close();
}

async function prepareStore(): Promise<(count: number) => Promise<void>> {
  const store = openStore(file);
  const options = {
    store,
    allowPrivateWebhooks: true,
    identify: () => merchant,
    onFailure: (failure: unknown) => console.error(failure),
  };
  const service = await serve(eventsDocument, options);
  const made = await service.fetch(
    new Request('http://127.0.0.1/hooks', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url, secret }),
    }),
  );
  const hook = ((await made.json()) as { id: string }).id;
  await service.close();
  let n = 0;
  const add = async (count: number, isDone: boolean): Promise<void> => {
    for (let from = 0; from < count; from += 1000) {
      const nowMs = Date.now();
      await store.change(({ outbox }) => {
        for (let i = from; i < Math.min(count, from + 1000); i++) {
          n += 1;
          const about = { resource: 'parcel', row: `pcl_${n}`, payload: payload(n), image: null };
          const event = outbox.addEvent({
            id: `evt_${n}`,
            kind: 'parcel.created',
            atMs: nowMs,
            operation: 'create parcel',
            ...about,
          });
          const delivery = outbox.addDelivery({ event, subscriber: hook, lane: `${hook}\nparcel\npcl_${n}`, dueMs: nowMs });
          if (!isDone) continue;
          outbox.attempted(delivery, { atMs: nowMs, tookMs: 1, status: 204, error: null, response: null });
          outbox.settle(delivery, 'accepted', nowMs);
        }
      });
    }
  };
  await add(Number(rows), true);
  return async (count) => {
    await add(count, false);
    const running = await serve(eventsDocument, options);
    await running.settled();
    await running.close();
  };
}

const run = how === 'bare' ? bare : await prepareStore();
process.send?.({ ready: true });
process.on('message', (message: { readonly count: number }) => {
  void run(message.count).then(() => process.send?.({ done: true }));
});
process.on('disconnect', () => process.exit(0));
