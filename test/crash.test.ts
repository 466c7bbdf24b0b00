import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bundleCommand } from './crash/bundle.ts';
import { experiments } from './crash/experiments.ts';
import { killServers } from './crash/kills.ts';
import { sellOut } from './crash/seats.ts';
import { times } from './long.ts';

/**
 * What `npm run crash` does, with fewer kills. `NINEFOLD_KILLS=500` kills more often, `NINEFOLD_SEED=…` chooses the same requests and
 * moments again.
 */
const kills = Number(process.env.NINEFOLD_KILLS ?? times(5, 8, 25));
const seed = Number(process.env.NINEFOLD_SEED ?? randomInt(2 ** 31));
const folder = mkdtempSync(join(tmpdir(), 'ninefold-crash-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const command = await bundleCommand(join(folder, 'command'));

test(`what was acknowledged is there after each of ${kills} kills`, async (t) => {
  t.diagnostic(`NINEFOLD_SEED=${seed}`);
  t.diagnostic(JSON.stringify(await killServers({ kills, seed, command, folder })));
});

test('seats that orders race for are sold once each, and all that were told to be are, through kills', async (t) => {
  const [orders, seats] = [times(150, 150, 400), times(24, 24, 60)];
  const sold = await sellOut({ orders, seats, kills: 2, seed, command, folder: mkdtempSync(join(folder, 'seats-')) });
  t.diagnostic(JSON.stringify(sold));
  assert.deepEqual([sold.sold, sold.taken, sold.kills], [seats, orders - seats, 2]);
});

for (const { name, holds, carryOut } of experiments)
  test(`${name}: ${holds}`, async (t) => {
    t.diagnostic(await carryOut({ command, folder: mkdtempSync(join(folder, 'experiment-')), seed, rounds: 1 }));
  });
