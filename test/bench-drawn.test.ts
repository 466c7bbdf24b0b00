import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drawnDocument, drawnRow, drawService, storedRow } from '../bench/drawn/service.ts';
import { drawnSettings } from '../bench/drawn/settings.ts';
import { startServer } from '../bench/server-process.ts';
import { inTemporaryFolder } from '../bench/temporary-folder.ts';
import { check, parseDocument } from '../src/index.ts';

test('every document that a benchmark draws is sound and leaves nothing open', () => {
  for (let seed = 0; seed < 40; seed++) {
    const report = check(parseDocument(drawnDocument(drawService(seed)), 'drawn.json'));
    assert.ok(report.sound, `seed ${seed}: ${JSON.stringify(report.findings)}`);
    assert.equal(report.ledger.total.open, 0, `seed ${seed}`);
  }
});

test('a seed draws the same service each time, and another one another', () => {
  assert.equal(drawnDocument(drawService(7)), drawnDocument(drawService(7)));
  assert.notEqual(drawnDocument(drawService(7)), drawnDocument(drawService(8)));
});

test('what is written by hand answers as the service of the drawn document does', async () => {
  // Between them: an order by a member, by time and none, rows that are handed over, and every kind of member.
  for (const seed of [1, 5, 7]) {
    await inTemporaryFolder(async (folder) => {
      const rows = 45;
      const service = drawService(seed);
      const [setting] = drawnSettings(folder, seed, 1, rows);
      assert.ok(setting);
      const file = join(folder, 'rows.json');
      writeFileSync(file, JSON.stringify({ [service.noun]: Array.from({ length: rows }, (_, n) => storedRow(service, n)) }));
      const told: unknown[] = [];
      for (const side of ['Ninefold', 'by hand'] as const) {
        const args = [...setting.command(side, join(folder, `${side}.sqlite`)), '--rows', file];
        const server = await startServer({ name: side, folder, args, pinned: false });
        try {
          told.push(await walk(`http://127.0.0.1:${server.port}`, service));
        } finally {
          await server.stop();
        }
      }
      assert.deepEqual(told[1], told[0], `seed ${seed}`);
    });
  }
});

/** All pages of the rows, one row read, one made, and one refused, without what is made anew each time. */
async function walk(base: string, service: ReturnType<typeof drawService>): Promise<unknown> {
  const { path, page: words } = service;
  const pages: Record<string, unknown>[][] = [];
  let query = `${words.size}=20`;
  for (;;) {
    const page = await json(fetch(`${base}${path}?${query}`));
    const { [words.items]: items, [words.next]: next } = page;
    assert.ok(Array.isArray(items));
    pages.push(items);
    if (next === null) break;
    query = `${words.size}=20&${words.cursor}=${encodeURIComponent(String(next))}`;
  }
  const id = String(pages[0]?.[0]?.id);
  const read = await json(fetch(`${base}${path}/${id}`));
  const post = (body: object) =>
    fetch(base + path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const made = await post(drawnRow(service, 1000));
  const { id: newId, created_at, ...rest } = await json(made);
  assert.equal(made.headers.get('location'), `${path}/${newId}`);
  const again = await fetch(`${base}${path}/${newId}`);
  assert.deepEqual(await again.json(), { id: newId, ...rest, created_at });
  const bad = await post({});
  assert.ok(bad.status === 422 || bad.status === 400);
  // Which of two rows with the same value comes first is for each to say.
  return {
    ids: pages
      .flat()
      .map((row) => row.id)
      .sort(),
    sizes: pages.map((rows) => rows.length),
    read,
    status: made.status,
    rest,
  };
}

/** An answer's body: a row, or a page of them. */
async function json(answer: Response | Promise<Response>): Promise<Record<string, unknown>> {
  // Every body that these services answer with success is an object.
  return (await (await answer).json()) as Record<string, unknown>;
}
