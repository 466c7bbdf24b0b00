/** `npm run chaos -- --kills 300 --minutes 30`: several processes over one database that are killed, paused and cut off. Ends with 1 where something does not hold. */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleCommand } from '../crash/bundle.ts';
import { makeDatabase } from '../stores/database.ts';
import { chaos } from './chaos.ts';
import { measure } from './measures.ts';
import { startRecord, writeRecord } from './recorded.ts';
import { rolling } from './rolling.ts';
import { startSurroundings } from './surroundings.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    minutes: { type: 'string', default: '0' },
    processes: { type: 'string', default: '3' },
    rolling: { type: 'string' },
    record: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});
const [kills, minutes, places, seed] = [values.kills, values.minutes, values.processes, values.seed].map(Number) as [
  number,
  number,
  number,
  number,
];
const folder = mkdtempSync(join(tmpdir(), 'ninefold-chaos-'));
const ends: (() => Promise<void>)[] = [];
try {
  console.log(`--seed ${seed}`);
  const command = await bundleCommand(join(folder, 'command'));
  const began = performance.now();
  const record = values.record === undefined ? undefined : startRecord();
  const asked = { command, places, seed, folder, told: console.log };
  const { address, drop } = await makeDatabase();
  ends.push(drop);
  const surroundings = values.rolling === undefined ? await startSurroundings() : undefined;
  if (surroundings) ends.push(surroundings.stop);
  const report = surroundings
    ? await chaos({ ...asked, surroundings, kills, minutes, ...(record && { record: record.add }) })
    : await rolling({ ...asked, database: address, restarts: Number(values.rolling) });
  console.log(JSON.stringify({ seconds: Math.round((performance.now() - began) / 1000), ...report }, undefined, 2));
  if (record && values.record !== undefined) writeRecord(values.record, record.entries);
  console.log('0 wrong');
  console.log(JSON.stringify(await measure({ command, database: address, places, folder }), undefined, 2));
} catch (failure) {
  console.error(failure instanceof Error ? failure.message : failure);
  process.exitCode = 1;
} finally {
  for (const end of ends) await end();
  rmSync(folder, { recursive: true, force: true });
}
