/** `npm run bench overload`: five times as many requests as a service can answer, and how soon it is itself again. */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDatabase } from '../../test/stores/database.ts';
import { forked } from '../forked.ts';
import { load } from '../load.ts';
import { type ProcessorTime, perRequest, processorTime } from '../scale/processor-time.ts';
import { asMarkdown, asText, figure } from '../table.ts';
import { exitCode, type Target, targetReport } from '../targets.ts';
import { inTemporaryFolder } from '../temporary-folder.ts';
import { openLoad, type StretchResult } from './open-load.ts';

const unique = 'xxxxxxxxxxxx';
const acts = {
  'durable create': { line: 'POST /notes', status: 201 },
  'page of 100': { line: 'GET /notes?limit=100', status: 200 },
} as const;
type Act = keyof typeof acts;

interface Served {
  readonly port: number;
  readonly secret: string;
  /** Reads how much of the processor it and its database have taken so far. */
  readonly taken: () => Promise<ProcessorTime>;
}

interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly times: number;
  readonly connections: number;
}

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      times: { type: 'string', default: '5' },
      connections: { type: 'string', default: '4000' },
      'at-once': { type: 'string' },
      only: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const settings: Settings = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    times: Number(values.times),
    connections: Number(values.connections),
  };
  const wrong = Object.entries(settings).find(([, value]) => !(value > 0));
  if (wrong) throw new Error(`--${wrong[0]} needs a number above 0.`);
  const stores = ['SQLite', 'PostgreSQL'].filter((name) => name === (values.only ?? name));
  if (stores.length === 0) throw new Error(`--only takes SQLite or PostgreSQL, not "${values.only}".`);
  console.log(`${settings.times} times what is answered at 64 connections, load ${loadavg()[0]?.toFixed(1)}`);
  const targets: Target[] = [];
  const over = (name: string, address: string) =>
    serving(address, values['at-once'], async (served) => {
      for (const act of Object.keys(acts) as Act[])
        targets.push(...(await overloaded(`${name}, ${act}`, act, served, settings, values.markdown)));
    });
  if (stores.includes('SQLite')) await inTemporaryFolder((folder) => over('SQLite', join(folder, 'notes.sqlite')));
  if (stores.includes('PostgreSQL')) {
    const database = await makeDatabase();
    await over('PostgreSQL', database.address).finally(() => database.drop());
  }
  console.log(targetReport(targets, values.markdown));
  return exitCode(targets, values.strict);
}

/** Has a process of its own serve the notes while something is done. */
async function serving(address: string, atOnce: string | undefined, body: (served: Served) => Promise<void>): Promise<void> {
  const env = { NINEFOLD_STORE: address, ...(atOnce !== undefined && { AT_ONCE: atOnce }) };
  const service = await forked<Omit<Served, 'taken'>>(join(import.meta.dirname, 'service-process.ts'), { env });
  const database = address.startsWith('postgres') ? address : undefined;
  try {
    await body({ ...service.told, taken: () => processorTime([service.child.pid], database) });
  } finally {
    await service.stop();
  }
}

/** In each round: what it can do, five times that, and half of it, in which it has to be itself again. */
async function overloaded(
  what: string,
  act: Act,
  { port, secret, taken }: Served,
  { rounds, seconds, times, connections }: Settings,
  markdown: boolean,
): Promise<Target[]> {
  const { line, status } = acts[act];
  const body = JSON.stringify({ text: 'a note of about forty characters in all', stars: 3 });
  const more = line.startsWith('POST')
    ? `Content-Type: application/json\r\nIdempotency-Key: ${process.pid}-${unique}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    : '\r\n';
  const request = `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Key: ${secret}\r\n${more}`;
  const goodput: number[] = [];
  const recovery: number[] = [];
  const rows: string[][] = [];
  for (let round = 0; round < rounds; round++) {
    const calmTaken = await taken();
    const peak = await load({ port, connections: 64, requests: [request], unique, status, seconds, warmSeconds: 0.5 });
    if (peak.errors > 0) throw new Error(`${what}: ${peak.firstError}`);
    const stretches = [
      { perSecond: peak.perSecond * times, seconds },
      { perSecond: peak.perSecond / 2, seconds: 4 },
    ];
    const peakTaken = await taken();
    let overTaken: Promise<ProcessorTime> | undefined;
    const [over, calm] = (await openLoad({
      ...{ port, connections, unique, stretches, requests: [request], statuses: [status] },
      deadlineMs: 1000,
      stretchEnded: () => {
        overTaken ??= taken();
      },
    })) as [StretchResult, StretchResult];
    const costs = [perGood(calmTaken, peakTaken, peak.allAnswers), perGood(peakTaken, (await overTaken)!, over.good)];
    goodput.push(over.good / seconds / peak.perSecond);
    recovery.push(calm.settledMs / 1000);
    rows.push([String(Math.round(peak.perSecond)), ...tellStretch(over, seconds), figure(calm.settledMs / 1000), ...costs]);
  }
  const head = ['peak/s', 'asked/s', 'good/s', 'refused/s', 'late/s', 'not sent/s', 'failed/s', 'good p99 ms', 'refused p99 ms'];
  const table = [[...head, 'recovered after s', 'µs a good answer at the peak', 'and under it'], ...rows];
  console.log(`\n${what}\n${markdown ? asMarkdown(table) : asText(table)}`);
  return [
    { what: `${what}: good answers under it, peak = 1`, bound: 'at least', value: 0.8, measured: goodput },
    { what: `${what}: itself again`, bound: 'at most', value: 2, unit: 's', measured: recovery },
  ];
}

/** Microseconds of the processor for each good answer: of the service, and of its database. */
function perGood(before: ProcessorTime, after: ProcessorTime, answers: number): string {
  const [service, database] = (['services', 'database'] as const).map((of) => perRequest(before[of], after[of], answers));
  return after.database === undefined ? String(service) : `${service} + ${database}`;
}

function tellStretch(result: StretchResult, seconds: number): string[] {
  if (result.firstFailure !== undefined) console.log(`the first of ${result.failed} that failed: ${result.firstFailure}`);
  const { due, good, refused, late, unsent, failed, goodP99Ms, refusedP99Ms } = result;
  const each = [due, good, refused, late, unsent, failed].map((count) => String(Math.round(count / seconds)));
  return [...each, figure(goodP99Ms), figure(refusedP99Ms)];
}
