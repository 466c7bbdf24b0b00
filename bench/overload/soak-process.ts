/** Serves parcels with a hook over the store of the environment, tells its parent where, and how it is whenever it is asked. */
import { readdirSync, readFileSync } from 'node:fs';
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
  const heapMib = process.memoryUsage().heapUsed / 2 ** 20;
  const descriptors = readdirSync('/proc/self/fd').length;
  process.send?.({
    ownMib: memoryMib('RssAnon'),
    mappedMib: memoryMib('RssFile'),
    heapMib,
    descriptors,
    lagSeconds: Number(lag),
  });
}

/** Resident memory of one sort (proc_pid_status(5)): the process's own, or that of files that are mapped, which the system takes back when it likes. */
function memoryMib(sort: 'RssAnon' | 'RssFile'): number {
  const kib = new RegExp(`^${sort}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kib) / 1024;
}
