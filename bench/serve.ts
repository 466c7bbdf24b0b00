/** Requests a second: Ninefold, the same service by hand, and bare node:http, in one interleaved run a setting. */
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Contestant, startContestant } from './contestants.ts';
import { drawnSettings } from './drawn/settings.ts';
import { flushCounter } from './flushes.ts';
import { type Generator, startGenerator } from './generator.ts';
import { drawnReport, serveReport } from './serve-report.ts';
import type { SecondReading, ServeRun, Trial } from './serve-run.ts';
import { DidNotStart } from './server-process.ts';
import { type Act, connectionCounts, type Setting, settings, uniqueText } from './settings.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { wrk, wrkIsThere } from './wrk.ts';

const rows = 10_000;
/** How long nobody asks before memory is read again. */
const settleSeconds = 15;

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1.2' },
      only: { type: 'string' },
      documents: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const names = [...settings.map(({ name }) => name), 'drawn'];
  if (values.only !== undefined && !names.includes(values.only)) {
    console.log(`There is no setting "${values.only}": there are ${names.join(', ')}.`);
    return 2;
  }
  const takes = (name: string): boolean => values.only === undefined || values.only === name;
  const length = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
  const results: ServeRun[] = [];
  let code = 0;
  for (const setting of settings.filter(({ name }) => takes(name))) {
    const result = await inTemporaryFolder((folder) => measure(folder, { setting, ...length }));
    if (results.push(result) > 1) console.log('');
    code = Math.max(code, serveReport(result, values.markdown, values.strict));
  }
  if (takes('drawn')) {
    const drawn = await inTemporaryFolder(async (folder) => {
      const runs: ServeRun[] = [];
      for (const setting of drawnSettings(folder, Number(values.seed), Number(values.documents), rows))
        runs.push(await measure(folder, { setting, ...length }));
      return runs;
    });
    if (results.length > 0) console.log('');
    results.push(...drawn);
    code = Math.max(code, drawnReport(drawn, values.markdown, values.strict));
  }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, undefined, 2)}\n`);
  return code;
}

interface Measuring {
  readonly setting: Setting;
  readonly rounds: number;
  readonly seconds: number;
}

async function measure(folder: string, { setting, rounds, seconds }: Measuring): Promise<ServeRun> {
  const cells = cellsOf(setting);
  const generator = startGenerator();
  const contestants: Contestant[] = [];
  const missing: string[] = [];
  const trials: Trial[] = [];
  const tell = (text: string): void => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`));
  try {
    for (const side of setting.sides) {
      tell(`starting and filling: ${side}`);
      try {
        contestants.push(await startContestant(setting, side, folder, rows, generator));
      } catch (error) {
        if (side !== 'Ninefold' || !(error instanceof Error)) throw error;
        missing.push(error instanceof DidNotStart ? error.message : `Ninefold could not be measured: ${error.message}`);
      }
    }
    const flushes = flushCounter(folder);
    for (const cell of cells) for (const contestant of contestants) await trial(generator, contestant, cell, 0, 0.5);
    const idle = contestants.map(({ reads }) => reads.memoryMib());
    for (let round = 0; round < rounds; round++) {
      for (const cell of rotated(cells, round)) {
        for (const contestant of rotated(contestants, round)) {
          tell(`round ${round + 1} of ${rounds}: ${contestant.side}, ${cell.act}, ${cell.connections} connections`);
          trials.push(await trial(generator, contestant, cell, round, seconds, flushes));
        }
      }
    }
    const loaded = contestants.map(({ reads, writes }) => ({
      afterReads: reads.memoryMib(),
      afterCreates: writes.memoryMib(),
    }));
    tell(`nobody asks for ${settleSeconds} s`);
    await delay(settleSeconds * 1000);
    const memory = contestants.map(({ side, startMib, reads, writes }, i) => ({
      side,
      start: startMib,
      idle: idle[i],
      ...loaded[i],
      settledReads: reads.memoryMib(),
      settledCreates: writes.memoryMib(),
    }));
    const second = wrkIsThere ? await readAgain(folder, contestants, setting, rounds, seconds, tell) : [];
    const bytes = Object.fromEntries(contestants.map((contestant) => [contestant.side, contestant.bytes]));
    return { setting, rounds, seconds, trials, memory, second, bytes, missing };
  } finally {
    tell('');
    generator.stop();
    await Promise.all(contestants.flatMap(({ reads, writes }) => [reads.stop(), writes.stop()]));
  }
}

/** The same requests once more at 64 connections, by wrk; those that have to differ each time are left to our own. */
async function readAgain(
  folder: string,
  contestants: readonly Contestant[],
  { acts, createHeaders }: Setting,
  rounds: number,
  seconds: number,
  tell: (text: string) => void,
): Promise<SecondReading[]> {
  const mustDiffer = Object.values(createHeaders).includes(uniqueText);
  const asked = [...acts.keys()].filter((act) => !(act === 'durable create' && mustDiffer));
  const readings: SecondReading[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const act of asked) {
      for (const { side, reads, writes, requests } of rotated(contestants, round)) {
        tell(`wrk, round ${round + 1} of ${rounds}: ${side}, ${act}`);
        const { port } = act === 'durable create' ? writes : reads;
        const result = await wrk({ port, connections: 64, seconds, requests: requests[act], folder });
        readings.push({ round, side, act, ...result });
      }
    }
  }
  return readings;
}

interface Cell {
  readonly act: Act;
  readonly connections: number;
}

function cellsOf({ acts }: Setting): Cell[] {
  return connectionCounts.flatMap((connections) => [...acts.keys()].map((act) => ({ act, connections })));
}

async function trial(
  generator: Generator,
  { side, reads, writes, requests }: Contestant,
  { act, connections }: Cell,
  round: number,
  seconds: number,
  flushes?: () => number,
): Promise<Trial> {
  const creates = act === 'durable create';
  const server = creates ? writes : reads;
  const warmSeconds = 0.2;
  const flushesBefore = flushes?.();
  const cpuBefore = server.cpuSeconds();
  const result = await generator.run({
    port: server.port,
    connections,
    status: creates ? 201 : 200,
    seconds,
    warmSeconds,
    requests: requests[act],
    ...(creates && { unique: uniqueText }),
  });
  const cpuAfter = server.cpuSeconds();
  const cpu = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore;
  const flushed = flushes === undefined || flushesBefore === undefined ? undefined : flushes() - flushesBefore;
  return {
    round,
    side,
    act,
    connections,
    ...result,
    flushesPerSecond: flushed === undefined ? undefined : flushed / (seconds + warmSeconds),
    cpuMicros: cpu === undefined ? undefined : (cpu * 1e6) / result.allAnswers,
    serverBusy: cpu === undefined ? undefined : cpu / (seconds + warmSeconds),
  };
}

/** The same list begun further along, so that nobody always goes first. */
function rotated<T>(list: readonly T[], by: number): T[] {
  return list.map((_, i) => list[(i + by) % list.length]!);
}
