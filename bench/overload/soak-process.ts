/** Serves parcels with a hook over the store of the environment, tells its parent where, and how it is whenever it is asked. */
import { readdirSync } from 'node:fs';
import { openStore, serve } from '../../src/index.ts';
import { eventsDocument } from '../events-document.ts';

const service = await serve(eventsDocument, {
  store: openStore(String(process.env.NINEFOLD_STORE)),
  allowPrivateWebhooks: true,
  watch: true,
});
const { secret } = (await service.administer('keys add', { user: 'merchant', id: 'm1' })) as { secret: string };
const { url } = await service.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: Number(new URL(url).port), secret });
process.on('message', () => void tell());
process.on('disconnect', () => process.exit());

async function tell(): Promise<void> {
  const metrics = (await service.watched?.metrics()) ?? '';
  const lag = /^ninefold_delivery_lag_seconds(?:\{[^}]*\})? (\S+)/m.exec(metrics)?.[1];
  const { rss, heapUsed } = process.memoryUsage();
  const descriptors = readdirSync('/proc/self/fd').length;
  process.send?.({ residentMib: rss / 2 ** 20, heapMib: heapUsed / 2 ** 20, descriptors, lagSeconds: Number(lag) });
}
