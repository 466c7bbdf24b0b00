/** A page by cursor, filtered by one field and sorted by another, in the middle of many rows and of few. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { book, get, post } from './books.ts';
import { mixed, readPage } from './contestants.ts';
import { type Generator, startGenerator } from './generator.ts';
import type { LoadResult } from './load.ts';
import { multiplyRows } from './multiply-rows.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { asMarkdown, asText, figure, median } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** A server filled with so many rows, and the pages to ask it for. */
interface Shelf {
  readonly rows: number;
  readonly server: ServerProcess;
  readonly fillSeconds: number;
  /** How many pages were gone through to reach the middle. */
  readonly walked: number;
  readonly requests: readonly string[];
}

interface PagesRun {
  readonly shelves: readonly Omit<Shelf, 'server' | 'requests'>[];
  /** By shelf, the fewest rows first; one result for each round. */
  readonly results: readonly (readonly LoadResult[])[];
}

const fewRows = 10_000;
/** The middle is reached by going through pages; where they are slow, this bounds it. */
const longestWalkMs = 20_000;

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
  let result: PagesRun;
  try {
    const { rows, rounds, seconds } = values;
    result = await inTemporaryFolder((folder) => measure(folder, Number(rows), Number(rounds), Number(seconds)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.log(`The pages could not be measured: ${error.message}`);
    return 1;
  }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  return report(result, values.markdown, values.strict);
}

async function measure(folder: string, manyRows: number, rounds: number, seconds: number): Promise<PagesRun> {
  const generator = startGenerator();
  const shelves: Shelf[] = [];
  try {
    for (const rows of [fewRows, manyRows]) shelves.push(await fill(folder, rows, generator));
    const results: LoadResult[][] = shelves.map(() => []);
    for (let round = 0; round <= rounds; round++) {
      for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const { server, requests } = shelves[i]!;
        const job = { port: server.port, connections: 8, status: 200, seconds, warmSeconds: 0.2, requests };
        const result = await generator.run(job);
        if (round > 0) results[i]!.push(result); // round 0 warms up
      }
    }
    return { shelves: shelves.map(({ rows, fillSeconds, walked }) => ({ rows, fillSeconds, walked })), results };
  } finally {
    generator.stop();
    await Promise.all(shelves.map(({ server }) => server.stop()));
  }
}

/** Starts a server over so many rows, and goes through the pages of one genre up to the middle. */
async function fill(folder: string, rows: number, generator: Generator): Promise<Shelf> {
  const own = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  const name = `${rows} rows`;
  const store = join(folder, `${rows}.sqlite`);
  const start = () =>
    startServer({
      name,
      folder,
      args: [own('../bin/ninefold.js'), 'serve', own('catalogue.md'), '--store', store],
    });
  const startMs = performance.now();
  let server = await start();
  try {
    // The first rows come in by the server's own door; more are copies of them, made in the store.
    const { answers, errors, firstError } = await generator.run({
      port: server.port,
      connections: 64,
      status: 201,
      count: fewRows,
      seconds: 60,
      warmSeconds: 0,
      requests: Array.from({ length: fewRows }, (_, n) => post('/books', book(n))),
    });
    if (answers !== fewRows || errors > 0) throw new Error(`${answers} of ${fewRows} rows were created; ${firstError}`);
    if (rows > fewRows) {
      await server.stop();
      multiplyRows(store, rows / fewRows);
      server = await start();
    }
    const fillSeconds = (performance.now() - startMs) / 1000;
    const paths = await walkToMiddle(server.port, rows / 5);
    return {
      rows,
      server,
      fillSeconds,
      walked: paths.length,
      requests: mixed(paths.slice(paths.length / 2).slice(-1000)).map((path) => get(path)),
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function walkToMiddle(port: number, rowsOfGenre: number): Promise<string[]> {
  const first = '/books?genre=history&limit=20';
  const paths = [first];
  const untilMs = performance.now() + longestWalkMs;
  while (paths.length < rowsOfGenre / 20 / 2 && performance.now() < untilMs) {
    const { next } = await readPage(port, paths.at(-1)!, { items: 'data', next: 'next_cursor' });
    if (next === null) throw new Error(`the pages ended after ${paths.length}, before the middle`);
    paths.push(`${first}&cursor=${encodeURIComponent(next)}`);
  }
  return paths;
}

function report({ shelves, results }: PagesRun, markdown: boolean, strict: boolean): number {
  const table = [
    ['rows', 'filled in s', 'pages gone through', 'pages/s', 'p50 ms', 'p99 ms'],
    ...shelves.map(({ rows, fillSeconds, walked }, i) => {
      const middle = (of: (result: LoadResult) => number): string => figure(median(results[i]!.map(of)));
      const measured = [middle((r) => r.perSecond), middle((r) => r.p50Ms), middle((r) => r.p99Ms)];
      return [rows.toLocaleString('en'), figure(fillSeconds), String(walked), ...measured];
    }),
  ];
  const [few = [], many = []] = results;
  const targets: Target[] = [
    {
      what: `cost of a page, ${shelves[1]!.rows.toLocaleString('en')} rows against 10,000`,
      bound: 'at most',
      value: 2,
      measured: many.map(({ perSecond }, round) => few[round]!.perSecond / perSecond),
    },
  ];
  console.log(`Pages of 20, one of five genres, sorted by price; 8 connections; Node ${process.versions.node}.\n`);
  console.log(`${(markdown ? asMarkdown : asText)(table)}\n\n${targetReport(targets, markdown)}`);
  const errors = results.flat().reduce((sum, result) => sum + result.errors, 0);
  if (errors > 0) console.log(`\n${errors} answers were wrong.`);
  return errors > 0 ? 1 : exitCode(targets, strict);
}
