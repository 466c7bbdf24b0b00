/** `npm run bench soak`: half of what a service can answer, for as long as is said; its memory, descriptors, times and outbox have to stay flat. */
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDatabase } from '../../test/stores/database.ts';
import { forked } from '../forked.ts';
import { load } from '../load.ts';
import { asMarkdown, asText, figure, median } from '../table.ts';
import { exitCode, type Target, targetReport } from '../targets.ts';
import { inTemporaryFolder } from '../temporary-folder.ts';
import { openLoad, type StretchResult } from './open-load.ts';

const unique = 'xxxxxxxxxxxx';
/** Of so many requests one makes a row, whose event goes to the receiver; the others read. */
const requestsOfOneMade = 20;

/** How the service is, when it is asked. */
interface Standing {
  /** Resident memory, but for files that are mapped. */
  readonly ownMib: number;
  readonly mappedMib: number;
  readonly heapMib: number;
  readonly descriptors: number;
  readonly lagSeconds: number;
}

type Minute = StretchResult & Standing;

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '20' },
      store: { type: 'string', default: 'SQLite' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error('--minutes needs a number above 0.');
  if (!['SQLite', 'PostgreSQL'].includes(values.store))
    throw new Error(`--store takes SQLite or PostgreSQL, not "${values.store}".`);
  if (values.store === 'SQLite') return inTemporaryFolder((folder) => soaked(join(folder, 'parcels.sqlite'), minutes, values));
  const database = await makeDatabase();
  try {
    return await soaked(database.address, minutes, values);
  } finally {
    await database.drop();
  }
}

interface Told {
  readonly markdown: boolean;
  readonly strict: boolean;
}

async function soaked(address: string, minutes: number, { markdown, strict }: Told): Promise<number> {
  const receiver = await forked<{ port: number }>(join(import.meta.dirname, '../events-receiver.ts'), {});
  const service = await forked<{ port: number; secret: string }>(join(import.meta.dirname, 'soak-process.ts'), {
    env: { NINEFOLD_STORE: address },
  });
  try {
    const { port, secret } = service.told;
    const job = { port, ...(await requestsOf(port, secret, receiver.told.port)) };
    const perSecond = (await capacityOf(job)) / 2;
    console.log(`${Math.round(perSecond)} requests a second, for ${minutes} min, load ${loadavg()[0]?.toFixed(1)}`);
    const head = [
      'minute',
      'good/s',
      'not good',
      'p50 ms',
      'p99 ms',
      'own MiB',
      'mapped MiB',
      'heap MiB',
      'descriptors',
      'delivery lag s',
    ];
    const table: string[][] = [head];
    const all: Minute[] = [];
    for (let minute = 1; minute <= minutes; minute++) {
      const stretches = [{ perSecond, seconds: 60 }];
      const [result] = await openLoad({ ...job, connections: 2_000, statuses: [200, 201], deadlineMs: 1000, stretches });
      service.child.send('how is it?');
      const [standing] = (await once(service.child, 'message')) as [Standing];
      const one = { ...result!, ...standing };
      all.push(one);
      table.push(rowOf(minute, one));
      if (process.stdout.isTTY) console.log(table.at(-1)!.join('  '));
    }
    console.log(markdown ? asMarkdown(table) : asText(table));
    const targets = targetsOf(all);
    console.log(targetReport(targets, markdown));
    return exitCode(targets, strict);
  } finally {
    await service.stop();
    await receiver.stop();
  }
}

interface Asked {
  readonly port: number;
  readonly unique: string;
  readonly requests: readonly string[];
}

/** How many requests a second of the mixture it can answer, from what it can of each. */
async function capacityOf({ port, unique, requests }: Asked): Promise<number> {
  const most = async (request: string, status: number, seconds: number) => {
    const { perSecond, errors, firstError } = await load({
      ...{ port, unique, status, seconds, requests: [request] },
      connections: 64,
      warmSeconds: 0.5,
    });
    if (errors > 0) throw new Error(firstError);
    return perSecond;
  };
  const reads = await most(requests[0]!, 200, 4);
  const made = await most(requests.at(-1)!, 201, 1);
  return requestsOfOneMade / ((requestsOfOneMade - 1) / reads + 1 / made);
}

/** Makes the hook and a row, and gives what is asked over and over; the last of it makes a row. */
async function requestsOf(port: number, secret: string, receiver: number) {
  const post = async (path: string, body: unknown) => {
    const headers = { 'x-key': secret, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`POST ${path} was answered with ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  await post('/hooks', { url: `http://127.0.0.1:${receiver}/`, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` });
  const { id } = await post('/parcels', { to: 'Kade 1, Delft', weight_g: 500 });
  const head = `HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Key: ${secret}\r\n`;
  const body = JSON.stringify({
    to: 'Kade 1, Delft',
    weight_g: 500,
    note: `number ${unique} of the parcels that are booked here`,
  });
  const read = `GET /parcels/${id} ${head}\r\n`;
  const make = `POST /parcels ${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return { unique, requests: [...Array<string>(requestsOfOneMade - 1).fill(read), make] };
}

function notGood({ due, good }: StretchResult): number {
  return due - good;
}

function rowOf(minute: number, one: Minute): string[] {
  const { goodP50Ms, goodP99Ms, ownMib, mappedMib, heapMib, descriptors, lagSeconds } = one;
  const counts = [minute, Math.round(one.good / 60), notGood(one)].map(String);
  return [...counts, ...[goodP50Ms, goodP99Ms, ownMib, mappedMib, heapMib, descriptors, lagSeconds].map(figure)];
}

/** The last quarter against the second one, by their medians: the first is for what has yet to be compiled. */
function targetsOf(all: readonly Minute[]): Target[] {
  const quarter = Math.max(1, Math.floor(all.length / 4));
  const [early, late] = [all.slice(quarter, 2 * quarter), all.slice(-quarter)];
  const growth = (of: (minute: Minute) => number) =>
    early.length === 0 ? [] : [median(late.map(of)) / Math.max(median(early.map(of)), Number.EPSILON)];
  // Connections to receivers come and go, 32 of them at the most.
  const most = (minutes: readonly Minute[]) => Math.max(...minutes.map((one) => one.descriptors));
  const mostDescriptors = early.length === 0 ? [] : [most(late) / most(early)];
  return [
    {
      what: 'own memory of the last quarter, the second = 1',
      bound: 'at most',
      value: 1.1,
      measured: growth((one) => one.ownMib),
    },
    { what: 'most descriptors', bound: 'at most', value: 1.25, measured: mostDescriptors },
    { what: 'median time of an answer', bound: 'at most', value: 1.25, measured: growth((one) => one.goodP50Ms) },
    { what: 'requests that were not answered in time, of a minute', bound: 'at most', value: 0, measured: late.map(notGood) },
    { what: 'delivery lag', bound: 'at most', value: 1, unit: 's', measured: late.map((one) => one.lagSeconds) },
  ];
}
