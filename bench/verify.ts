/** How many requests a second `verify` sends to a service that can take them, beside a generator that does nothing else. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { check, parseDocument, type VerifyReport } from '../src/index.ts';
import { trials } from '../src/verify/trials.ts';
import { verify } from '../src/verify/verify.ts';
import { pinned } from './cores.ts';
import { startGenerator } from './generator.ts';
import { startServer } from './server-process.ts';
import { asMarkdown, asText, figure, type Table } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { documentOf } from './verify-document.ts';

const cli = join(import.meta.dirname, '../bin/ninefold.js');
/** The same as `verify` has by default. */
const connections = 32;

/** What the quiet trials of one whole run came to: those that wait for nothing. */
interface Round {
  readonly requests: number;
  readonly perSecond: number;
  /** The same for each second of processor time that `verify` used itself. */
  readonly perCpuSecond: number;
  readonly broken: number;
}

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      resources: { type: 'string', default: '24' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const text = documentOf(Number(values.resources));
  const { rounds, plain } = await inTemporaryFolder(async (folder) => {
    const path = join(folder, 'shelves.yaml');
    await writeFile(path, text);
    const server = await startServer({ name: 'shelves', args: [cli, 'serve', path], folder });
    try {
      const url = `http://127.0.0.1:${server.port}`;
      const measured: Round[] = [];
      for (let seed = 1; seed <= Number(values.rounds); seed++) measured.push(await roundOf(text, url, seed));
      return { rounds: measured, plain: await plainLoad(url, server.port, Number(values.seconds)) };
    } finally {
      await server.stop();
    }
  });
  return report(rounds, plain, values.markdown, values.strict);
}

const quiet = new Set(trials.filter(({ noise }) => noise === 'quiet').map(({ name }) => name));

/** One whole run; counted from its first case to its last quiet one. */
async function roundOf(text: string, url: string, seed: number): Promise<Round> {
  const { spec } = check(parseDocument(text, 'shelves.yaml'));
  const fromMs = performance.now();
  const cpu = process.cpuUsage();
  let last = { requests: 0, seconds: 1, cpuSeconds: 1 };
  const report: VerifyReport = await verify(spec, {
    url,
    seed,
    requests: 1_000_000,
    timeMs: 300_000,
    onProgress({ done, requests, now }) {
      // What it costs to ask for the processor's time is not what is measured.
      if (!quiet.has(now) || done % 20 !== 0) return;
      const { user, system } = process.cpuUsage(cpu);
      last = { requests, seconds: (performance.now() - fromMs) / 1000, cpuSeconds: (user + system) / 1e6 };
    },
  });
  const { requests, seconds, cpuSeconds } = last;
  const broken = report.breaches.length + report.unsteady.length;
  return { requests, perSecond: requests / seconds, perCpuSecond: requests / cpuSeconds, broken };
}

/** What the same service answers a second where nothing is looked at: reads of one row. */
async function plainLoad(url: string, port: number, seconds: number): Promise<number> {
  const body = JSON.stringify({ title: 'A', code: 'abcd', genre: 'novel', price: 1 });
  const headers = { 'content-type': 'application/json' };
  const made = await fetch(`${url}/book1`, { method: 'POST', headers, body });
  // What is made answers the row, which has a text as its id.
  const { id } = (await made.json()) as { readonly id: string };
  const generator = startGenerator();
  try {
    const request = `GET /book1/${id} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    const { perSecond } = await generator.run({ port, connections, requests: [request], status: 200, seconds, warmSeconds: 0.5 });
    return perSecond;
  } finally {
    generator.stop();
  }
}

function report(rounds: readonly Round[], plain: number, markdown: boolean, strict: boolean): number {
  console.log(
    `${pinned ? 'The service has a core of its own.' : 'The service shares the cores with verify.'} A generator that reads one row gets ${figure(plain)} answers a second.\n`,
  );
  const table: Table = [
    ['run', 'requests', 'a second', 'of the generator', 'a second of its own processor time', 'broken'],
    ...rounds.map(({ requests, perSecond, perCpuSecond, broken }, at) => [
      ...[`seed ${at + 1}`, figure(requests), figure(perSecond), `${figure((100 * perSecond) / plain)} %`],
      ...[figure(perCpuSecond), String(broken)],
    ]),
  ];
  console.log(`${markdown ? asMarkdown(table) : asText(table)}\n`);
  const goals: Target[] = [
    {
      what: 'requests of verify a second',
      bound: 'at least',
      value: 3000,
      measured: rounds.map(({ perSecond }) => perSecond),
    },
    { what: 'broken facts', bound: 'at most', value: 0, measured: [Math.max(...rounds.map(({ broken }) => broken))] },
  ];
  console.log(targetReport(goals, markdown));
  return exitCode(goals, strict);
}
