import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from './crash/server.ts';
import { times } from './long.ts';

const boxes = 12;
const word = 'then';

/** Crates that are made with their boxes, each of which writes a line. */
const document = {
  title: 'Cellar',
  resources: {
    crate: {
      identifier: { field: 'id', generate: 'client' },
      fields: { id: 'string', names: { type: 'array', items: { type: 'string' }, maxItems: 20 } },
      required: ['id', 'names'],
      created: { [word]: { create: 'box', each: 'next.names', set: { crate: 'next.id', name: 'item' } } },
    },
    box: {
      identifier: { field: 'id', generate: 'integer' },
      fields: { id: 'integer', crate: { ref: 'crate', onDelete: 'restrict' }, name: 'string' },
      required: ['id', 'crate', 'name'],
      created: { [word]: { create: 'line', set: { crate: 'next.crate' } } },
    },
    line: {
      identifier: { field: 'id', generate: 'integer' },
      fields: { id: 'integer', crate: { ref: 'crate', onDelete: 'restrict' } },
      required: ['id', 'crate'],
    },
  },
  endpoints: {
    'POST /crates': { does: 'create crate' },
    'GET /crates': { does: 'list crate' },
    'GET /boxes': { does: 'list box' },
    'GET /lines': { does: 'list line' },
  },
  authentication: 'none',
  limits: { pagination: 'none' },
};

const kills = times(2, 6);

test(`through ${kills} kills of the server, what follows from a change is there whole, or not at all`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-following-'));
  const path = join(folder, 'cellar.json');
  writeFileSync(path, JSON.stringify(document));
  const store = join(folder, 'cellar.sqlite');
  const acknowledged = new Set<string>();
  try {
    for (let round = 0; round <= kills; round++) {
      const server = startServer(path, store);
      const url = await server.address;
      const list = async (name: string) => (await (await fetch(`${url}${name}`)).json()) as { id: string; crate: string }[];
      const crates = await list('/crates');
      for (const id of acknowledged) assert.ok(crates.some((crate) => crate.id === id));
      for (const name of ['/boxes', '/lines']) {
        const by = Map.groupBy(await list(name), ({ crate }) => crate);
        assert.deepEqual(
          crates.map(({ id }) => by.get(id)?.length),
          crates.map(() => boxes),
        );
        assert.equal(by.size, crates.length);
      }
      if (round < kills) await writeUntilKilled(url, round, acknowledged, () => server.kill());
      else await server.kill();
    }
    assert.ok(acknowledged.size >= kills);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Several clients at once; after some answers the server is killed in the middle of the others' requests. */
async function writeUntilKilled(url: string, round: number, acknowledged: Set<string>, kill: () => Promise<void>): Promise<void> {
  const names = Array.from({ length: boxes }, (_, at) => `b${at}`);
  let left = 10 + 7 * round;
  let over: Promise<void> | undefined;
  const client = async (who: number) => {
    for (let at = 0; !over; at++) {
      const id = `c${round}-${who}-${at}`;
      const body = JSON.stringify({ id, names });
      const answer = await fetch(`${url}/crates`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      if (answer.status === 201) acknowledged.add(id);
      await answer.text();
      left -= 1;
      if (left <= 0) over ??= kill();
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, (_, who) => client(who)));
  await over;
}
