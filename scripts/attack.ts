import { parseArgs } from 'node:util';
import { runAttacks, runRaw, strangeStatuses } from '../test/attack/run.ts';
import { startTarget } from '../test/attack/target.ts';
import { kinds } from '../test/bounds/kinds.ts';
import { standInKinds } from '../test/bounds/of-stand-ins.ts';
import { runBounds } from '../test/bounds/run.ts';

/**
 * Attacks a service of our own and a stand-in, each in a process of 256 MiB: every attack with its control, every kind of request that asks for
 * too much, and requests drawn from a seed that are nearly right. Exits with 1 where anything succeeds.
 */
const { values } = parseArgs({
  options: { raw: { type: 'string', default: '3000' }, seed: { type: 'string', default: '1' } },
});
const target = await startTarget();
const standIn = await startTarget('shelf');
const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`;
let isBroken = false;
const broken = (words: string) => {
  isBroken = true;
  console.log(words);
};
try {
  const came = await runAttacks(target);
  for (const { attack, won, control } of came) {
    if (won !== undefined) broken(`${attack.risk} ${attack.name}: succeeded: ${won}`);
    if (control !== undefined) broken(`${attack.risk} ${attack.name}: the right request failed: ${control}`);
  }
  console.log(`${came.filter(({ won }) => won === undefined).length} of ${came.length} attacks failed`);
  const bounds = await runBounds(target);
  for (const { kind, wrong } of bounds) if (wrong !== undefined) broken(`${kind}: ${wrong}`);
  console.log(`${bounds.filter(({ wrong }) => wrong === undefined).length} of ${bounds.length} kinds of too much were bounded`);
  const sampled = await runBounds(standIn, { ...kinds, ...standInKinds });
  for (const { kind, wrong } of sampled) if (wrong !== undefined) broken(`of a stand-in, ${kind}: ${wrong}`);
  console.log(
    `${sampled.filter(({ wrong }) => wrong === undefined).length} of ${sampled.length} kinds of too much were bounded by a stand-in`,
  );
  for (const status of strangeStatuses(standIn.statuses)) broken(`a stand-in answered ${status}`);
  const health = await runRaw(target, Number(values.raw), Number(values.seed));
  console.log(
    `${values.raw} raw requests (seed ${values.seed}): ${health.map(({ heapBytes, rssBytes }) => `heap ${mebibytes(heapBytes)}, resident ${mebibytes(rssBytes)}`).join('; ')}`,
  );
  console.log(
    `statuses: ${[...target.statuses]
      .toSorted(([a], [b]) => a - b)
      .map(([status, count]) => `${status} × ${count}`)
      .join(', ')}`,
  );
  const last = await target.health();
  console.log(`at most ${mebibytes(last.peakBytes)} resident`);
  for (const failure of health.flatMap(({ failures }) => failures)) broken(`it failed: ${failure}`);
  for (const status of strangeStatuses(target.statuses)) broken(`it answered ${status}`);
} finally {
  await target.stop();
  await standIn.stop();
}
process.exitCode = isBroken ? 1 : 0;
