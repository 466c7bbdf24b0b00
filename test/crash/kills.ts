import { join } from 'node:path';
import { seeded } from './chance.ts';
import { runLane } from './lane.ts';
import { noTally, type Tally } from './life.ts';

/** How often servers are killed, and what is drawn. */
export interface Killing {
  readonly kills: number;
  readonly seed: number;
  readonly command: string;
  readonly folder: string;
}

/** Servers at once: a test machine has two cores. */
const lanes = 2;
const clients = 24;
const document = join(import.meta.dirname, 'accounts.yaml');

/**
 * Kills servers at random moments under load, starts them again on the same store, and holds what they have to all that was ever
 * acknowledged. @throws where something does not hold, or where the load had nothing of what is to be held.
 */
export async function killServers({ kills, seed, command, folder }: Killing): Promise<Tally> {
  const tally = noTally();
  const failed = new AbortController();
  const done = await Promise.allSettled(
    Array.from({ length: lanes }, (_, lane) => {
      const share = Math.ceil((kills - lane) / lanes);
      const store = join(folder, `${lane}.sqlite`);
      const all = { command, document, store, chance: seeded(seed + lane), kills: share, clients, signal: failed.signal };
      return runLane(all, tally).catch((failure) => {
        failed.abort();
        throw failure;
      });
    }),
  );
  for (const [lane, outcome] of done.entries())
    if (outcome.status === 'rejected') throw new Error(`NINEFOLD_SEED=${seed}, server ${lane}. ${outcome.reason}`);
  if (tally.kills !== kills) throw new Error(`${tally.kills} of ${kills} kills were carried out.`);
  // Whether anything was made whose answer a kill cut off is up to the moments of a few kills.
  const { inDoubtMade: _byChance, ...certain } = tally;
  for (const [what, count] of Object.entries(certain)) if (count === 0) throw new Error(`The load has no ${what}.`);
  return tally;
}
