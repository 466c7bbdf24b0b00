import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Server, startExample } from './example.ts';
import { blank, fitting, type Place, type PrintedHeader, statusOf, told, type Vendor } from './kit.ts';

const here = import.meta.dirname;
const root = join(here, '../..');

const vendorsOf = (folder: string): string[] => readdirSync(join(here, folder)).map((file) => file.replace(/\.ts$/, ''));

/** One step's end: whole when there is no reason. */
interface StepEnd {
  readonly step: string;
  readonly reason?: string;
}

interface FlowEnd {
  readonly flow: string;
  readonly steps: readonly StepEnd[];
}

interface VendorEnd {
  readonly vendor: string;
  readonly flags: readonly string[];
  readonly flows: readonly FlowEnd[];
  /** Why the description was not served at all. */
  readonly unserved?: string;
}

const stepLimit = 20_000;
const startLimit = 60_000;

/** Ends with an error when the work takes longer than `limit` milliseconds. */
async function within<T>(limit: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${limit / 1000} s`)), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The place a stand-in prints at its start, as far as it has printed it. */
function placeOf(text: string): Place | undefined {
  const url = /^\s+address\s+(\S+)$/m.exec(text)?.[1]?.replace(/\/$/, '');
  if (url === undefined || !text.includes('curl ')) return undefined;
  const base = /^\s+base\s+(\S+)$/m.exec(text)?.[1]?.replace(/\/$/, '') ?? url;
  const printed: PrintedHeader[] = [];
  const block = /^\s+credentials[^\n]*\n((?:[ \t]+[^\n]*\n)*)/m.exec(text)?.[1] ?? '';
  for (const [, name = '', word = '', value = ''] of block.matchAll(/\s([\w-]+): (?:([\w-]+) )?(\S+)[ \t]*$/gm)) {
    printed.push({ name: name.toLowerCase(), word, value });
  }
  return { url, base, port: Number(new URL(url).port), printed };
}

/** Starts a stand-in on a free port of this machine and waits until it has said where it is. */
async function start(document: string, flags: readonly string[]): Promise<Server> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(root, 'bin/ninefold.js'), 'serve', document, '--sample', '--port', '0', ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  let printed = '';
  const place = new Promise<Place>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      printed += chunk.toString();
      const found = placeOf(printed);
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${brief(printed)}`)));
  });
  try {
    return { place: await within(startLimit, place), stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

const brief = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 120);

/** An error's own words, those of what caused it, or else what it holds. */
function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return JSON.stringify(thrown) ?? String(thrown);
  const { cause, validationError } = thrown as { cause?: unknown; validationError?: unknown };
  const under = cause ?? validationError;
  const own = thrown.message || `${thrown.constructor.name} ${JSON.stringify(thrown)}`;
  return under instanceof Error ? `${own}: ${under.message}` : own;
}

/** What a client threw, in one line: its status, if it has one, and at most 120 characters of its words. */
const reasonOf = (thrown: unknown): string => `${statusOf(thrown) ?? '-'} ${brief(wordsOf(thrown))}`;

async function runFlow(vendor: Vendor<unknown>, name: string, server: Server): Promise<FlowEnd> {
  const { place } = server;
  const client = (token: string): unknown => vendor.client(place, token);
  const token = fitting(place, vendor)[0] ?? vendor.made;
  const steps = vendor.flows[name]!(client(token), blank(), client, place);
  const ends: StepEnd[] = [];
  for (const [step, work] of Object.entries(steps)) {
    try {
      await within(stepLimit, (async () => work())());
      ends.push({ step });
    } catch (thrown) {
      ends.push({ step, reason: reasonOf(thrown) });
    }
  }
  return { flow: name, steps: ends };
}

/** Every flow against one of the project's own services, each on one of its own. */
async function runExample(name: string, wanted: string): Promise<VendorEnd> {
  const { vendor } = (await import(`./examples/${name}.ts`)) as { vendor: Vendor<unknown> };
  const flows: FlowEnd[] = [];
  for (const flow of Object.keys(vendor.flows).filter((title) => title.includes(wanted))) {
    const server = await startExample(join(root, vendor.document), vendor);
    try {
      flows.push(await runFlow(vendor, flow, server));
    } finally {
      await server.stop();
    }
  }
  return { vendor: name, flags: [], flows };
}

/** Every flow of a vendor, each on a server of its own. A service that prints no credential takes any of the declared form. */
async function runVendor(name: string, corpus: string): Promise<VendorEnd> {
  const { vendor } = (await import(`./flows/${name}.ts`)) as { vendor: Vendor<unknown> };
  const document = join(corpus, vendor.document);
  const flows: FlowEnd[] = [];
  let flags: readonly string[] = [];
  try {
    const first = await start(document, flags);
    await first.stop();
    if (!told(first.place, vendor)) flags = ['--relax', 'auth'];
    for (const flow of Object.keys(vendor.flows)) {
      const server = await start(document, vendor.strict?.includes(flow) ? [] : flags);
      try {
        flows.push(await runFlow(vendor, flow, server));
      } finally {
        await server.stop();
      }
    }
  } catch (thrown) {
    return { vendor: name, flags, flows, unserved: brief((thrown as Error).message) };
  }
  return { vendor: name, flags, flows };
}

const whole = (flow: FlowEnd): boolean => flow.steps.every(({ reason }) => reason === undefined);
const percent = (part: number, of: number): string => (of === 0 ? '-' : `${((100 * part) / of).toFixed(1)} %`);

function line(name: string, flows: readonly FlowEnd[], note: string): string {
  const steps = flows.flatMap((flow) => flow.steps);
  const ok = steps.filter(({ reason }) => reason === undefined).length;
  const good = flows.filter(whole).length;
  const cells = [
    name.padEnd(16),
    `flows ${good}/${flows.length}`.padEnd(14),
    percent(good, flows.length).padStart(7),
    `  steps ${ok}/${steps.length}`.padEnd(17),
    percent(ok, steps.length).padStart(7),
  ];
  return `${cells.join(' ')}  ${note}`.trimEnd();
}

/** The table, and under it one line for each step that failed. */
function report(ends: readonly VendorEnd[]): string {
  const lines = ends.map((end) => line(end.vendor, end.flows, end.unserved ?? end.flags.join(' ')));
  lines.push(
    line(
      'all',
      ends.flatMap((end) => end.flows),
      '',
    ),
    '',
  );
  for (const { vendor, flows } of ends) {
    for (const { flow, steps } of flows) {
      for (const { step, reason } of steps) if (reason !== undefined) lines.push(`${vendor} · ${flow} · ${step}: ${reason}`);
    }
  }
  return lines.join('\n');
}

const usage = 'Usage  node test/clients/run.ts [VENDOR…] [--corpus DIR | --examples [--flow WORDS]] [--json FILE]';

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      corpus: { type: 'string' },
      examples: { type: 'boolean', default: false },
      flow: { type: 'string', default: '' },
      json: { type: 'string' },
    },
  });
  const corpus = values.examples ? root : (values.corpus ?? process.env.NINEFOLD_CORPUS);
  const all = vendorsOf(values.examples ? 'examples' : 'flows');
  const vendors = positionals.length > 0 ? positionals : all;
  const unknown = vendors.filter((name) => !all.includes(name));
  if (corpus === undefined || !existsSync(corpus) || unknown.length > 0) {
    const why =
      unknown.length > 0 ? `No flows for ${unknown.join(', ')}.` : 'Say where the corpus is: --corpus DIR or NINEFOLD_CORPUS.';
    console.error(`${why}\n${usage}\nVendors: ${all.join(', ')}`);
    return 2;
  }
  if (!existsSync(join(here, 'node_modules'))) {
    console.error('The clients are not installed: npm ci --ignore-scripts --prefix test/clients');
    return 2;
  }
  const ends: VendorEnd[] = [];
  for (const name of vendors) {
    console.error(name);
    ends.push(values.examples ? await runExample(name, values.flow) : await runVendor(name, corpus));
  }
  console.log(report(ends));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(ends, null, 2)}\n`);
  return 0;
}

/** A client may throw outside of the call that a step waits for; the step has its own end. */
process.on('unhandledRejection', (thrown) => console.error(`outside of a step: ${reasonOf(thrown)}`));
process.exitCode = await main();
process.exit();
