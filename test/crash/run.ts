/** `npm run crash -- --kills 300`: kills and other faults of a machine, and what holds through them. Ends with 1 where something does not. */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleCommand } from './bundle.ts';
import { experiments } from './experiments.ts';
import { killServers } from './kills.ts';
import { sellOut } from './seats.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '10' },
    orders: { type: 'string', default: '10000' },
    seats: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    only: { type: 'string' },
  },
});
const [kills, rounds, seed] = [Number(values.kills), Number(values.rounds), Number(values.seed)];
const folder = mkdtempSync(join(tmpdir(), 'ninefold-crash-'));
let wrong = 0;

async function tell(name: string, work: () => Promise<string>): Promise<void> {
  if (values.only !== undefined && values.only !== name) return;
  const began = performance.now();
  let told: string;
  try {
    told = `held   ${await work()}`;
  } catch (failure) {
    wrong += 1;
    told = `WRONG  ${failure instanceof Error ? failure.message : failure}`;
  }
  console.log(`${name.padEnd(14)}${told}  (${Math.round((performance.now() - began) / 100) / 10} s)`);
}

try {
  console.log(`--seed ${seed}`);
  const command = await bundleCommand(join(folder, 'command'));
  await tell('kills', async () => JSON.stringify(await killServers({ kills, seed, command, folder })));
  await tell('seats', async () => {
    const [orders, seats] = [Number(values.orders), Number(values.seats)];
    return JSON.stringify(await sellOut({ orders, seats, kills: 5, seed, command, folder: mkdtempSync(join(folder, 'seats-')) }));
  });
  for (const { name, carryOut } of experiments)
    await tell(name, () => carryOut({ command, folder: mkdtempSync(join(folder, 'experiment-')), seed, rounds }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(wrong === 0 ? '0 wrong' : `${wrong} wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
