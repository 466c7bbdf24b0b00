/** Stand-ins of others beside ours: what each takes to start and to answer, and which uses of a service it keeps up. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { get } from '../books.ts';
import { startGenerator } from '../generator.ts';
import { DidNotStart, type ServerProcess, startServer } from '../server-process.ts';
import { figure, median, type Table } from '../table.ts';
import { flows } from './flows.ts';

interface Rival {
  readonly name: string;
  /** The words of its command, in whose end a port is put. */
  readonly words: (folder: string, document: string) => readonly string[];
}

const here = import.meta.dirname;

/** Installs the others in a folder of their own; gives why that was not possible. */
export async function installRivals(folder: string): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  if (existsSync(join(folder, 'node_modules'))) return undefined;
  await copyFile(join(here, 'package.json'), join(folder, 'package.json'));
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];
  const { status, stderr } = spawnSync('npm', words, { cwd: folder, encoding: 'utf8', timeout: 400_000 });
  return status === 0 ? undefined : `npm could not install them. ${stderr.trim().split('\n').at(-1) ?? ''}`;
}

const rivals: readonly Rival[] = [
  {
    name: 'Prism',
    words: (folder, document) => [inside(folder, '@stoplight/prism-cli/dist/index.js'), 'mock', document, '--host', '127.0.0.1'],
  },
  {
    name: 'Mockoon',
    words: (folder, document) => [
      inside(folder, '@mockoon/cli/bin/run.js'),
      ...['start', '-X', '--disable-admin-api', '--hostname', '127.0.0.1', '--data', document],
    ],
  },
  { name: "Scalar's mock server", words: (folder, document) => [join(here, 'scalar.ts'), folder, document] },
];

function inside(folder: string, file: string): string {
  return join(folder, 'node_modules', file);
}

/** Some read a large document for long. */
const withinMs = 60_000;

interface Beside {
  readonly folder: string;
  /** Where the others are installed; nothing where they could not be. */
  readonly rivals: string | undefined;
  /** The command of our own, from the built package. */
  readonly own: (document: string) => readonly string[];
  readonly cwd: string;
  /** The small document, and the large one. */
  readonly small: string;
  readonly large: string;
  readonly rounds: number;
  readonly seconds: number;
}

/** A row for each stand-in: starts and memory with both documents, reads a second and uses that work with the small one. */
export async function besideOthers(beside: Beside): Promise<Table> {
  const own: Rival = { name: 'Ninefold', words: (_folder, document) => beside.own(document) };
  const rows: string[][] = [];
  for (const rival of beside.rivals === undefined ? [own] : [own, ...rivals]) rows.push(await rowOf(rival, beside));
  return [['', 'start, 19 operations', 'memory', 'reads a second', 'uses that work', 'start, 468 operations', 'memory'], ...rows];
}

async function rowOf(rival: Rival, beside: Beside): Promise<string[]> {
  const small = await measured(rival, beside, beside.small, (server) => used(server, beside));
  const large = await measured(rival, beside, beside.large, async () => []);
  return [rival.name, ...small, ...large.slice(0, 2)];
}

/** The start, the memory after two seconds, and what else is asked of it. */
async function measured(
  { name, words }: Rival,
  { folder, rivals: packages = '', cwd }: Beside,
  document: string,
  more: (server: ServerProcess) => Promise<string[]>,
): Promise<string[]> {
  let server: ServerProcess;
  try {
    const env = { NODE_DISABLE_COMPILE_CACHE: '1', HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') };
    server = await startServer({ name, folder, args: words(packages, document), env, cwd, pinned: false, withinMs });
  } catch (error) {
    if (error instanceof DidNotStart)
      return [error.message.includes('did not answer in') ? `more than ${withinMs / 1000} s` : 'none', '–', '–', '–'];
    throw error;
  }
  try {
    await delay(2_000);
    const memory = server.memoryMib();
    return [`${figure(server.firstAnswerMs)} ms`, memory === undefined ? '–' : `${figure(memory)} MiB`, ...(await more(server))];
  } finally {
    await server.stop();
  }
}

/** Reads a second of one thing, and how many uses work. */
async function used({ port, name }: ServerProcess, { rounds, seconds }: Beside): Promise<string[]> {
  const base = await baseOf(port);
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { ...credentials, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await fetch(`http://127.0.0.1:${port}${base}${path}`, init);
    const text = await answer.text();
    return { status: answer.status, body: parsed(text) };
  };
  const failed: string[] = [];
  for (const [use, works] of Object.entries(flows)) {
    if (!(await works(ask).catch(() => false))) failed.push(use);
  }
  if (failed.length > 0) console.log(`${name} does not do: ${failed.join('; ')}.`);
  // What is read has to be there with those that keep what is made.
  const made = await ask('POST', '/pet', { name: 'Ida', photoUrls: ['https://pets.example/2.png'], status: 'available' });
  const id = (made.body as { id?: unknown } | undefined)?.id;
  const path = `${base}/pet/${typeof id === 'number' && name === 'Ninefold' ? id : 1}`;
  const generator = startGenerator();
  const perSecond: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const request = get(path, credentials);
      const result = await generator.run({ port, connections: 64, requests: [request], status: 200, seconds, warmSeconds: 0.5 });
      if (result.errors === 0) perSecond.push(result.perSecond);
    }
  } finally {
    generator.stop();
  }
  const all = Object.keys(flows).length;
  return [perSecond.length === 0 ? '–' : figure(median(perSecond)), `${all - failed.length} of ${all}`];
}

const credentials = { Authorization: 'Bearer bench', api_key: 'bench', Accept: 'application/json' };

/** The path of the description's server, which some serve below and others leave out. */
async function baseOf(port: number): Promise<string> {
  for (const base of ['', '/api/v3']) {
    const { status } = await fetch(`http://127.0.0.1:${port}${base}/pet/findByStatus?status=sold`, { headers: credentials });
    if (status !== 404) return base;
  }
  return '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
