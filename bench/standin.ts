/** A stand-in of a document of 468 operations: from the command to its first answer, the first call of each operation, and reads beside Prism. */
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { load as parseYaml } from 'js-yaml';
import { get } from './books.ts';
import { type Generator, startGenerator } from './generator.ts';
import { besideOthers, installRivals } from './rivals/rivals.ts';
import { DidNotStart, type ServerProcess, startServer } from './server-process.ts';
import { unpack } from './start.ts';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** The documents that are served, as paths in the folder of the corpus. */
const stripe = 'stripe/spec3.yaml.gz';
const small = 'petstore3/openapi.yaml';
const authorization = { Authorization: 'Bearer sk_test_bench' };

interface StandInRun {
  readonly jsonMs: readonly number[];
  readonly yamlMs: readonly number[];
  readonly cachedMs: readonly number[];
  readonly jsonMib: readonly number[];
  readonly yamlMib: readonly number[];
  /** The first call of each operation. */
  readonly firstCalls: readonly { readonly operation: string; readonly status: number; readonly ms: number }[];
  /** Reads of one thing a second, in turn. */
  readonly ours: readonly number[];
  readonly prism: readonly number[];
  /** Why Prism was not measured. */
  readonly withoutPrism?: string;
}

/** In how many fresh processes each operation is called first. */
const processes = 3;

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      corpus: { type: 'string' },
      starts: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1.2' },
      json: { type: 'string' },
      rivals: { type: 'string' },
      only: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const { corpus } = values;
  if (corpus === undefined) {
    console.log(`Say where the documents are: --corpus DIR, with ${stripe} and ${small} in it.`);
    return 2;
  }
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  const code = await inTemporaryFolder((folder) => tellBeside(folder, corpus, values, rounds, seconds));
  if (values.only === 'beside') return code;
  const result = await inTemporaryFolder((folder) =>
    measure(folder, corpus, Number(values.starts), Number(values.rounds), Number(values.seconds)),
  );
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  return report(result, values);
}

/** Prints the table of all stand-ins on the same two documents; the others are installed in `rivals`, or anew. */
async function tellBeside(
  folder: string,
  corpus: string,
  { rivals = join(folder, 'rivals'), markdown }: { readonly rivals?: string | undefined; readonly markdown: boolean },
  rounds: number,
  seconds: number,
): Promise<number> {
  const installed = await unpack(folder);
  const large = join(folder, 'stripe.json');
  const text = gunzipSync(await readFile(join(corpus, stripe))).toString('utf8');
  await writeFile(large, JSON.stringify(parseYaml(text)));
  const why = await installRivals(rivals);
  const table = await besideOthers({
    folder,
    rivals: why === undefined ? rivals : undefined,
    own: (document) => ['bin/ninefold.js', 'serve', document, '--sample', '--relax', 'auth', '--no-cache'],
    cwd: installed,
    small: resolve(corpus, small),
    large,
    rounds,
    seconds,
  });
  if (why !== undefined) console.log(`The others were not measured: ${why}`);
  console.log(`\n${markdown ? asMarkdown(table) : asText(table)}\n`);
  return 0;
}

function report(result: StandInRun, { markdown, strict }: { readonly markdown: boolean; readonly strict: boolean }): number {
  const { firstCalls, ours, prism } = result;
  const slowest = firstCalls.toSorted((a, b) => b.ms - a.ms);
  const targets: Target[] = [
    { what: 'command to first answer, from JSON', bound: 'at most', value: 500, unit: 'ms', measured: result.jsonMs },
    { what: 'command to first answer, from YAML', bound: 'at most', value: 2000, unit: 'ms', measured: result.yamlMs },
    { what: 'command to first answer, from the cache', bound: 'at most', value: 400, unit: 'ms', measured: result.cachedMs },
    {
      what: `slowest first call of ${firstCalls.length} operations`,
      bound: 'at most',
      value: 60,
      unit: 'ms',
      measured: slowest.slice(0, 1).map(({ ms }) => ms),
    },
    { what: 'memory (RSS) after 2 s, from JSON', bound: 'at most', value: 180, unit: 'MiB', measured: result.jsonMib },
    { what: 'memory (RSS) after 2 s, from YAML', bound: 'at most', value: 350, unit: 'MiB', measured: result.yamlMib },
    {
      what: 'GET one of 468 operations, × Prism of 19',
      bound: 'at least',
      value: 4,
      measured: prism.length === 0 ? [] : ours.map((each, round) => each / prism[round]!),
    },
  ];
  const table: Table = [
    ['GET one, 64 connections', 'requests/s'],
    ['Ninefold, Stripe, 468 operations', figure(median(ours))],
    ...(prism.length === 0 ? [] : [['Prism, petstore, 19 operations', figure(median(prism))]]),
  ];
  console.log(`Node ${process.versions.node}; the built package without a compile cache; any core, reads on the first.\n`);
  console.log(markdown ? asMarkdown(table) : asText(table));
  const middle = median(firstCalls.map(({ ms }) => ms));
  const worst = slowest.slice(0, 3).map(({ operation, ms }) => `${operation} ${figure(ms)} ms`);
  console.log(`\nFirst calls: median ${figure(middle)} ms; slowest ${worst.join(', ')}.\n`);
  if (result.withoutPrism !== undefined) console.log(`Prism was not measured: ${result.withoutPrism}\n`);
  console.log(targetReport(targets, markdown));
  // Without Prism there is nothing to hold the reads against, which is no failure.
  return exitCode(result.withoutPrism === undefined ? targets : targets.slice(0, -1), strict);
}

async function measure(folder: string, corpus: string, starts: number, rounds: number, seconds: number): Promise<StandInRun> {
  const installed = await unpack(folder);
  const yaml = join(folder, 'stripe.yaml');
  const json = join(folder, 'stripe.json');
  const text = gunzipSync(await readFile(join(corpus, stripe))).toString('utf8');
  const document = parseYaml(text) as Described;
  await writeFile(yaml, text);
  await writeFile(json, JSON.stringify(document));
  const prismFolder = join(folder, 'prism');
  const withoutPrism = await installPrism(prismFolder);

  const start = (name: string, path: string, ...more: readonly string[]) =>
    startServer({
      name,
      folder,
      cwd: installed,
      pinned: false,
      env: { NODE_DISABLE_COMPILE_CACHE: '1', XDG_CACHE_HOME: join(folder, 'cache') },
      args: ['bin/ninefold.js', 'serve', path, '--sample', '--relax', 'auth', ...more],
    });
  const [jsonMs, yamlMs, cachedMs]: [number[], number[], number[]] = [[], [], []];
  const [jsonMib, yamlMib]: [number[], number[]] = [[], []];
  // The first start keeps the document that was taken over, and is not counted.
  await (await start('first', yaml)).stop();
  for (let round = 0; round < starts; round++) {
    for (const [name, path, more, ms, mib] of [
      ['json', json, ['--no-cache'], jsonMs, jsonMib],
      ['yaml', yaml, ['--no-cache'], yamlMs, yamlMib],
      ['cached', yaml, [], cachedMs, undefined],
    ] as const) {
      const server = await start(name, path, ...more);
      ms.push(server.firstAnswerMs);
      if (mib && round < 3) {
        await delay(2_000);
        const held = server.memoryMib();
        if (held !== undefined) mib.push(held);
      }
      await server.stop();
    }
  }
  const called: StandInRun['firstCalls'][] = [];
  for (let process = 0; process < processes; process++) {
    const server = await start(`calls ${process}`, json, '--no-cache');
    called.push(await callEach(server.port, document));
    await server.stop();
  }
  // A call is the first one only once in a process, so whatever else runs shows: it counts as the median of the processes.
  const firstCalls = called[0]!.map((call, index) => ({ ...call, ms: median(called.map((each) => each[index]!.ms)) }));
  const reads = await readsBeside(
    folder,
    installed,
    json,
    join(corpus, small),
    withoutPrism === undefined ? prismFolder : undefined,
    rounds,
    seconds,
  );
  return {
    jsonMs,
    yamlMs,
    cachedMs,
    jsonMib,
    yamlMib,
    firstCalls,
    ...reads,
    ...(withoutPrism !== undefined && { withoutPrism }),
  };
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Calls each operation of the document once, with made-up identifiers and an empty form. */
async function callEach(port: number, { paths }: Described): Promise<StandInRun['firstCalls']> {
  const called: { operation: string; status: number; ms: number }[] = [];
  for (const [path, item] of Object.entries(paths)) {
    for (const method of ['get', 'post', 'delete'].filter((one) => one in item)) {
      const url = `http://127.0.0.1:${port}${path.replaceAll(/\{[^{}]+\}/g, 'x')}`;
      const form = method === 'post' ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {};
      const began = performance.now();
      const answer = await fetch(url, {
        method: method.toUpperCase(),
        headers: { ...authorization, ...form },
        ...(method === 'post' && { body: 'metadata[bench]=1' }),
      });
      await answer.text();
      called.push({ operation: `${method.toUpperCase()} ${path}`, status: answer.status, ms: performance.now() - began });
    }
  }
  const failed = called.find(({ status }) => status >= 500);
  if (failed) throw new Error(`${failed.operation} answered ${failed.status}`);
  return called;
}

/** Reads of one customer of the stand-in and of one order of Prism's, in turn. */
async function readsBeside(
  folder: string,
  installed: string,
  json: string,
  petstore: string,
  prismFolder: string | undefined,
  rounds: number,
  seconds: number,
): Promise<Pick<StandInRun, 'ours' | 'prism'>> {
  const generator = startGenerator();
  const servers: ServerProcess[] = [];
  try {
    const ours = await startServer({
      name: 'Ninefold',
      folder,
      cwd: installed,
      args: ['bin/ninefold.js', 'serve', json, '--sample', '--relax', 'auth', '--no-cache'],
    });
    servers.push(ours);
    const made = await fetch(`http://127.0.0.1:${ours.port}/v1/customers`, {
      method: 'POST',
      headers: authorization,
      body: new URLSearchParams({ name: 'Ada' }),
    });
    const { id } = (await made.json()) as { id: string };
    const prism =
      prismFolder === undefined
        ? undefined
        : await startServer({
            name: 'Prism',
            folder,
            args: [join(prismFolder, 'node_modules/@stoplight/prism-cli/dist/index.js'), 'mock', petstore, '--host', '127.0.0.1'],
          });
    if (prism) servers.push(prism);
    const result: { ours: number[]; prism: number[] } = { ours: [], prism: [] };
    for (let round = 0; round <= rounds; round++) {
      const each = await perSecond(generator, ours, get(`/v1/customers/${id}`, authorization), seconds);
      const other = prism && (await perSecond(generator, prism, get('/store/order/1'), seconds));
      // The first round warms both up.
      if (round === 0) continue;
      result.ours.push(each);
      if (other !== undefined) result.prism.push(other);
    }
    return result;
  } finally {
    generator.stop();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function perSecond(generator: Generator, { name, port }: ServerProcess, request: string, seconds: number): Promise<number> {
  const result = await generator.run({ port, connections: 64, requests: [request], status: 200, seconds, warmSeconds: 0.2 });
  if (result.errors > 0) throw new DidNotStart(`${name} answered wrongly: ${result.firstError}`);
  return result.perSecond;
}

/** Installs Prism in a folder of its own; gives why that was not possible. */
async function installPrism(folder: string): Promise<string | undefined> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '@stoplight/prism-cli'],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: 240_000,
    },
  );
  return status === 0 ? undefined : `npm could not install @stoplight/prism-cli. ${stderr.trim().split('\n').at(-1) ?? ''}`;
}
