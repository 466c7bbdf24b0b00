import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore, parseDocument, serve } from '../../src/index.ts';

/** The vault in a process of its own, which tells its parent where it listens, its keys, and how much memory it takes. */
const store = openStore(process.argv[2] ?? ':memory:');
const failures: string[] = [];
let peakBytes = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 100).unref();

const service = await serve(parseDocument(readFileSync(join(import.meta.dirname, 'vault.yaml'), 'utf8'), 'vault.yaml'), {
  store,
  environment: { VAULT_SECRET: process.env.VAULT_SECRET },
  handlers: { count: () => ({ count: 1 }) },
  onFailure: (failure) => failures.push(failure instanceof Error ? String(failure.stack) : String(failure)),
});
const keys: Record<string, string> = {};
const add = async (name: string, input: Record<string, string>) => {
  const made = (await service.administer('keys add', input)) as { readonly secret: string };
  keys[name] = made.secret;
};
await add('ann', { user: 'owner', id: 'ann', scheme: 'key' });
await add('bob', { user: 'owner', id: 'bob', scheme: 'key' });
await add('cleo', { user: 'clerk', id: 'cleo', scheme: 'key' });
await add('annSession', { user: 'owner', id: 'ann', scheme: 'session' });
await add('annPassword', { user: 'owner', id: 'ann', scheme: 'login', secret: 'correct horse battery' });
const { port } = await service.listen({ port: 0 });

process.on('message', (asked) => {
  if (asked === 'memory') {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    process.send?.({ heapBytes: heapUsed, rssBytes: rss, peakBytes: Math.max(peakBytes, rss), failures: failures.splice(0) });
  }
  if (asked === 'stop') void service.close().then(() => process.exit(0));
});
process.send?.({ port, keys });
