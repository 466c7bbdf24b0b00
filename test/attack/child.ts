import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore, parseDocument, serve } from '../../src/index.ts';

/** A service in a process of its own, which tells its parent where it listens, its keys, and how much memory it takes. */
const [, , path = ':memory:', which = 'vault'] = process.argv;
const store = openStore(path);
const failures: string[] = [];
let peakBytes = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 100).unref();

const document = parseDocument(readFileSync(join(import.meta.dirname, `${which}.yaml`), 'utf8'), `${which}.yaml`);
const onFailure = (failure: unknown) => failures.push(failure instanceof Error ? String(failure.stack) : String(failure));
const keys: Record<string, string> = {};
const service = which === 'shelf' ? await serveShelf() : await serveVault();
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

/** A stand-in for what somebody else describes. */
async function serveShelf() {
  const made = await serve(document, { store, sample: true, development: true, onFailure });
  for (const name of ['ann', 'bob', 'cleo']) keys[name] = made.credentials[0]?.value ?? '';
  return made;
}

/** A service of our own, with all there is to win in it. */
async function serveVault() {
  const made = await serve(document, {
    store,
    environment: { VAULT_SECRET: process.env.VAULT_SECRET },
    handlers: { count: () => ({ count: 1 }) },
    onFailure,
  });
  const add = async (name: string, input: Record<string, string>) => {
    const added = (await made.administer('keys add', input)) as { readonly secret: string };
    keys[name] = added.secret;
  };
  await add('ann', { user: 'owner', id: 'ann', scheme: 'key' });
  await add('bob', { user: 'owner', id: 'bob', scheme: 'key' });
  await add('cleo', { user: 'clerk', id: 'cleo', scheme: 'key' });
  await add('annSession', { user: 'owner', id: 'ann', scheme: 'session' });
  await add('annPassword', { user: 'owner', id: 'ann', scheme: 'login', secret: 'correct horse battery' });
  return made;
}
