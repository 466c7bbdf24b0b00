import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { chaos } from './chaos/chaos.ts';
import { startSurroundings } from './chaos/surroundings.ts';
import { bundleCommand } from './crash/bundle.ts';
import { times } from './long.ts';

/** What `npm run chaos` does, with fewer kills. `NINEFOLD_SEED=…` chooses the same requests and faults again. */
const kills = Number(process.env.NINEFOLD_KILLS ?? times(5, 12, 50));
const seed = Number(process.env.NINEFOLD_SEED ?? randomInt(2 ** 31));
const folder = mkdtempSync(join(tmpdir(), 'ninefold-chaos-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test(`over one database all that was acknowledged and told holds through ${kills} kills of three processes, cuts, and restarts of what they stand on`, async (t) => {
  t.diagnostic(`NINEFOLD_SEED=${seed}`);
  const command = await bundleCommand(join(folder, 'command'));
  const surroundings = await startSurroundings();
  t.after(() => surroundings.stop());
  const report = await chaos({ command, surroundings, folder, places: 3, kills, seed, minutes: 0 });
  t.diagnostic(JSON.stringify(report));
});
