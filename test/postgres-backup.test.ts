import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { notesDocument } from '../bench/scale/document.ts';
import { type JsonMap, openStore, serve } from '../src/index.ts';
import { makeDatabase } from './stores/database.ts';

const shell = promisify(execFile);

/** The commands under "Backup and restore" of the page, as they stand there. */
async function commandsOf(page: string): Promise<{ readonly dump: string; readonly restore: string }> {
  const text = await readFile(new URL(`../${page}`, import.meta.url), 'utf8');
  const dump = /^pg_dump .+$/m.exec(text)?.[0];
  const restore = /^pg_restore .+$/m.exec(text)?.[0];
  assert.ok(dump && restore);
  return { dump, restore };
}

/** Serves the notes over a database while something is asked of them. */
async function withNotes<T>(address: string, ask: (send: (request: Request) => Promise<Response>) => Promise<T>): Promise<T> {
  const identify = () => ({ user: 'writer', id: 'w1', scopes: [] });
  // A document as JSON is what `serve` takes.
  const service = await serve(notesDocument as unknown as JsonMap, { store: openStore(address), identify });
  try {
    return await ask((request) => service.fetch(request));
  } finally {
    await service.close();
  }
}

function make(text: string, key: string): Request {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return new Request('http://127.0.0.1/notes', { method: 'POST', headers, body: JSON.stringify({ text }) });
}

const list = () => new Request('http://127.0.0.1/notes?limit=100');

test('the commands of docs/operate.md bring back what was there, with its kept answers, and nothing that came later', async (t) => {
  const database = await makeDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'ninefold-'));
  t.after(async () => {
    await rm(folder, { recursive: true });
    await database.drop();
  });
  const { dump, restore } = await commandsOf('docs/operate.md');
  const run = (command: string) => {
    const address = new URL(database.address);
    // Those are Ninefold's own, which PostgreSQL's programs refuse.
    address.search = '';
    return shell('sh', ['-c', command], { cwd: folder, env: { ...process.env, NINEFOLD_STORE: address.href } });
  };
  const before = await withNotes(database.address, async (send) => {
    for (let at = 0; at < 20; at++) assert.equal((await send(make(`note ${at}`, `key-${at}`))).status, 201);
    return (await send(list())).json();
  });
  await run(dump);
  await withNotes(database.address, async (send) => {
    const { id } = (await (await send(make('later', 'key-later'))).json()) as { id: string };
    assert.equal((await send(new Request(`http://127.0.0.1/notes/${id}/shut`, { method: 'POST' }))).status, 200);
    const first = (before as { data: { id: string }[] }).data[0];
    assert.equal((await send(new Request(`http://127.0.0.1/notes/${first?.id}/shut`, { method: 'POST' }))).status, 200);
  });
  await run(restore);
  await withNotes(database.address, async (send) => {
    assert.deepEqual(await (await send(list())).json(), before);
    const again = (await (await send(make('note 7', 'key-7'))).json()) as { id: string };
    const kept = (before as { data: { id: string; text: string }[] }).data.find(({ id }) => id === again.id);
    assert.equal(kept?.text, 'note 7');
    assert.equal(((await (await send(list())).json()) as { data: unknown[] }).data.length, 20);
    assert.equal((await send(make('later', 'key-later'))).status, 201);
  });
});
