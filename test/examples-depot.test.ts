import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { check, readDocument } from '../src/index.ts';
import { isLong } from './long.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { openStand } from './verify/stand.ts';

const path = join(import.meta.dirname, '../examples/depot.md');

test('a service that was built otherwise is stated whole: nothing to be mended, nothing open, in 600 lines', async () => {
  const { findings, ledger } = check(await readDocument(path));
  assert.deepEqual([findings, ledger.total.open], [[], 0]);
  assert.ok((await readFile(path, 'utf8')).split('\n').length <= 600);
});

test('its oddities go through OpenAPI and come back', async () => {
  const document = await readDocument(path);
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});

/** Who is asked what a token is worth, and knows none. */
async function openServerOfTokens(context: TestContext): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ active: false }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect`;
}

test('it keeps its document', { skip: !isLong }, async (context) => {
  const address = await openServerOfTokens(context);
  const text = (await readFile(path, 'utf8')).replace('https://id.depot.example/introspect', address);
  const stand = await openStand(text, { inPairs: true, serve: { environment: { DEPOT_SECRET: 'a secret' } } });
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, promised, seen }) => `${kind}:${subject} ${reason}: ${promised}; ${seen}`),
      [],
    );
    assert.deepEqual(stand.failures, []);
  } finally {
    await stand.close();
  }
});
