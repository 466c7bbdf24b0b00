/** What many rows in PostgreSQL cost: rows by their identifier, pages, filters, starts and memory, over so many rows and over 10,000. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDatabase, type TestDatabase } from '../test/stores/database.ts';
import { book, get, post } from './books.ts';
import { mixed, readPage } from './contestants.ts';
import { load } from './load.ts';
import { multiplyInDatabase } from './rows/multiply.ts';
import { asMarkdown, asText, figure, median } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

/** What the image gives to Node. */
const imageFlags = [
  ...readFileSync(join(import.meta.dirname, '../deploy/Dockerfile'), 'utf8').matchAll(/^ENTRYPOINT .*$/gm),
].flatMap(([line]) => [...line.matchAll(/"(--[^"]+)"/g)].map(([, flag]) => String(flag)));

const fewRows = 10_000;
const pagesWalked = 200;
const acts = ['read one', 'first page', 'page by cursor', 'page of a filter', 'rare value'] as const;
type Act = (typeof acts)[number];

/** A database with so many rows, served by a process of its own. */
interface Shelf {
  readonly rows: number;
  readonly database: TestDatabase;
  readonly fillSeconds: number;
  /** Making the indexes and starting for the first time. */
  readonly indexSeconds: number;
  readonly requests: Readonly<Record<Act, readonly string[]>>;
}

interface RowsRun {
  readonly shelves: readonly Pick<Shelf, 'rows' | 'fillSeconds' | 'indexSeconds'>[];
  /** By shelf, the fewest rows first: seconds from the process to its port, for each round. */
  readonly startSeconds: readonly (readonly number[])[];
  /** By shelf: MiB of resident memory at the most, after everything was asked of it, for each round. */
  readonly residentMib: readonly (readonly number[])[];
  /** By act and shelf: answers a second, for each round. */
  readonly perSecond: Readonly<Record<Act, readonly (readonly number[])[]>>;
}

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const shelves: Shelf[] = [];
  try {
    for (const rows of [fewRows, Number(values.rows)]) shelves.push(await filled(rows));
    const result = await measure(shelves, Number(values.rounds), Number(values.seconds));
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
    return report(result, values.markdown, values.strict);
  } finally {
    for (const { database } of shelves) await database.drop();
  }
}

async function filled(rows: number): Promise<Shelf> {
  const database = await makeDatabase();
  const began = performance.now();
  const first = await started(database);
  const made = await load({
    port: first.port,
    connections: 64,
    status: 201,
    count: fewRows,
    seconds: 120,
    warmSeconds: 0,
    requests: Array.from({ length: fewRows }, (_, n) => post('/books', book(n))),
  });
  await first.stop();
  if (made.allAnswers !== fewRows || made.errors > 0)
    throw new Error(`${made.allAnswers} of ${fewRows} rows were created; ${made.firstError}`);
  await multiplyInDatabase(database.address, rows / fewRows);
  const filledAt = performance.now();
  const server = await started(database);
  const indexedAt = performance.now();
  const requests = await requestsOf(server.port);
  await server.stop();
  return { rows, database, fillSeconds: (filledAt - began) / 1000, indexSeconds: (indexedAt - filledAt) / 1000, requests };
}

async function requestsOf(port: number): Promise<Record<Act, readonly string[]>> {
  const first = '/books?genre=history&limit=100';
  const names = { items: 'data', next: 'next_cursor' };
  const paths = [first];
  const ids: string[] = [];
  const prices = [120, 2500, 5000, 7500, 9900];
  while (paths.length < Math.min(pagesWalked, fewRows / 5 / 100)) {
    const { next } = await readPage(port, paths.at(-1)!, names);
    if (next === null) break;
    paths.push(`${first}&cursor=${encodeURIComponent(next)}`);
  }
  for (const price of prices) {
    const answer = await fetch(`http://127.0.0.1:${port}/books?price=${price}&limit=100`);
    ids.push(...((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id));
  }
  return {
    'read one': mixed(ids).map((id) => get(`/books/${id}`)),
    'first page': [get('/books?limit=20')],
    'page by cursor': mixed(paths.slice(1)).map((path) => get(path.replace('limit=100', 'limit=20'))),
    'page of a filter': ['novel', 'poetry', 'history', 'science', 'travel'].map((genre) => get(`/books?genre=${genre}&limit=20`)),
    'rare value': prices.map((price) => get(`/books?price=${price}&limit=1`)),
  };
}

async function measure(shelves: readonly Shelf[], rounds: number, seconds: number): Promise<RowsRun> {
  const startSeconds: number[][] = shelves.map(() => []);
  const residentMib: number[][] = shelves.map(() => []);
  const perSecond = Object.fromEntries(acts.map((act) => [act, shelves.map((): number[] => [])])) as Record<Act, number[][]>;
  for (let round = 0; round <= rounds; round++) {
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const { database, requests } = shelves[at]!;
      const server = await started(database);
      try {
        if (round > 0) startSeconds[at]!.push(server.seconds);
        for (const act of acts) {
          const job = { port: server.port, connections: 8, status: 200, seconds, warmSeconds: 0.4, requests: requests[act] };
          const result = await load(job);
          if (result.errors > 0) throw new Error(`${act}: ${result.errors} errors, the first: ${result.firstError}`);
          if (round > 0) perSecond[act][at]!.push(result.perSecond);
        }
        if (round > 0) residentMib[at]!.push(await server.mib());
      } finally {
        await server.stop();
      }
    }
  }
  const told = shelves.map(({ rows, fillSeconds, indexSeconds }) => ({ rows, fillSeconds, indexSeconds }));
  return { shelves: told, startSeconds, residentMib, perSecond };
}

async function started(database: TestDatabase) {
  const began = performance.now();
  const child: ChildProcess = fork(join(import.meta.dirname, 'rows', 'process.ts'), [], {
    execArgv: imageFlags,
    env: { ...process.env, NINEFOLD_STORE: database.address },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (told) => resolve((told as { port: number }).port));
    void ended.then(() => reject(new Error('the service ended before it listened')));
  });
  const stop = async () => {
    child.disconnect();
    await ended;
  };
  const mib = () =>
    new Promise<number>((resolve) => {
      child.once('message', (told) => resolve((told as { mib: number }).mib));
      child.send('memory');
    });
  return { port, seconds: (performance.now() - began) / 1000, mib, stop };
}

function report({ shelves, startSeconds, residentMib, perSecond }: RowsRun, markdown: boolean, strict: boolean): number {
  const [few, many] = [0, 1];
  const named = shelves.map(({ rows }) => `${rows.toLocaleString('en')} rows`);
  const table = [
    ['', ...named],
    ['filled, s', ...shelves.map(({ fillSeconds }) => figure(fillSeconds))],
    ['indexes made and started, s', ...shelves.map(({ indexSeconds }) => figure(indexSeconds))],
    ['started, s', ...startSeconds.map((all) => figure(median(all)))],
    ['memory of the process at the most, MiB', ...residentMib.map((all) => figure(median(all)))],
    ...acts.map((act) => [`${act}, answers/s`, ...perSecond[act].map((all) => figure(median(all)))]),
  ];
  const against = `${named[many]} against 10,000`;
  const targets: Target[] = [
    { what: `memory of a process over ${named[many]}`, bound: 'at most', value: 200, unit: 'MiB', measured: residentMib[many]! },
    {
      what: `time of a start, ${against}`,
      bound: 'at most',
      value: 2,
      measured: startSeconds[many]!.map((one, round) => one / startSeconds[few]![round]!),
    },
    ...acts.map(
      (act): Target => ({
        what: `cost of ${act}, ${against}`,
        bound: 'at most',
        value: 2,
        measured: perSecond[act][many]!.map((one, round) => perSecond[act][few]![round]! / one),
      }),
    ),
  ];
  console.log(`PostgreSQL on this machine; 8 connections; Node ${process.versions.node} ${imageFlags.join(' ')}.\n`);
  console.log(`${(markdown ? asMarkdown : asText)(table)}\n\n${targetReport(targets, markdown)}`);
  return exitCode(targets, strict);
}
