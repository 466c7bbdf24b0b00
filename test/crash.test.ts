import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { seeded } from './crash/chance.ts';
import { runLane } from './crash/lane.ts';
import type { Tally } from './crash/life.ts';
import { times } from './long.ts';

/**
 * Kills servers at random moments under load, starts them again on the same store, and holds what they have to all that
 * was ever acknowledged. `NINEFOLD_KILLS=500` kills more often, `NINEFOLD_SEED=…` chooses the same requests and moments again.
 */
const kills = Number(process.env.NINEFOLD_KILLS ?? times(5, 80));
const seed = Number(process.env.NINEFOLD_SEED ?? randomInt(2 ** 31));
/** Servers at once: a test machine has two cores. */
const lanes = 2;
const clients = 24;

const document = join(import.meta.dirname, 'crash/accounts.yaml');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-crash-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test(`what was acknowledged is there after each of ${kills} kills`, async (t) => {
  t.diagnostic(`NINEFOLD_SEED=${seed}`);
  const tally: Tally = {
    kills: 0,
    answers: 0,
    acknowledged: 0,
    refused: 0,
    inDoubt: 0,
    inDoubtMade: 0,
    fired: 0,
    told: 0,
    usedUp: 0,
  };
  const stores = Array.from({ length: lanes }, (_, lane) => join(folder, `${lane}.sqlite`));
  const failed = new AbortController();
  const done = await Promise.allSettled(
    stores.map((store, lane) => {
      const share = Math.ceil((kills - lane) / lanes);
      return runLane({ document, store, chance: seeded(seed + lane), kills: share, clients, signal: failed.signal }, tally).catch(
        (failure) => {
          failed.abort();
          throw failure;
        },
      );
    }),
  );
  t.diagnostic(JSON.stringify(tally));
  for (const [lane, outcome] of done.entries())
    if (outcome.status === 'rejected') assert.fail(`NINEFOLD_SEED=${seed}, server ${lane}. ${outcome.reason}`);
  assert.equal(tally.kills, kills);
  // Whether anything was made whose answer a kill cut off is up to the moments of a few kills.
  const { inDoubtMade: _byChance, ...certain } = tally;
  for (const [what, count] of Object.entries(certain)) assert.ok(count > 0, `The load has no ${what}.`);
});
