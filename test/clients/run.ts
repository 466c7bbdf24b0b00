import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startExample } from './example.ts';
import { blank, fitting, told, type Vendor } from './kit.ts';
import { brief, reasonOf, type Server, type StandIn, start, stepLimit, within } from './server.ts';

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

/**
 * Every flow of a vendor, each on a stand-in as it is at its start: one of its own, or, where that is asked for, the same one reset.
 * A service that prints no credential takes any of the declared form.
 */
async function runVendor(name: string, corpus: string, isReset: boolean): Promise<VendorEnd> {
  const { vendor } = (await import(`./flows/${name}.ts`)) as { vendor: Vendor<unknown> };
  const document = join(corpus, vendor.document);
  const flows: FlowEnd[] = [];
  let flags: readonly string[] = [];
  let kept: StandIn | undefined;
  try {
    const first = await start(document, flags);
    // Who signs with a credential shows none, also where one is printed that it could send.
    if (!vendor.hides && told(first.place, vendor)) kept = first;
    else {
      await first.stop();
      flags = vendor.hides ? ['--relax', 'auth'] : ['--accept-credential', vendor.made];
    }
    for (const flow of Object.keys(vendor.flows)) {
      const own = vendor.hides && vendor.strict?.includes(flow) ? [] : flags;
      const server = own === flags && kept ? kept : await start(document, own);
      try {
        flows.push(await runFlow(vendor, flow, server));
      } finally {
        if (own === flags) kept = await leave(server, isReset);
        else await server.stop();
      }
    }
  } catch (thrown) {
    return { vendor: name, flags, flows, unserved: brief((thrown as Error).message) };
  } finally {
    await kept?.stop();
  }
  return { vendor: name, flags, flows };
}

/** A vendor in a process of its own: a client may put another `fetch` in the place of the one that there is. */
async function runApart(name: string, flags: readonly string[]): Promise<VendorEnd> {
  const child = fork(import.meta.filename, [name, ...flags]);
  let ends: readonly VendorEnd[] = [];
  child.on('message', (told: readonly VendorEnd[]) => {
    ends = told;
  });
  await once(child, 'exit');
  return ends[0] ?? { vendor: name, flags: [], flows: [], unserved: 'its clients ended the process' };
}

/** The stand-in for the next flow, or none where each has its own. One that cannot be reset is stopped. */
async function leave(server: StandIn, isReset: boolean): Promise<StandIn | undefined> {
  try {
    if (!isReset) throw new Error('each flow has its own');
    await within(stepLimit, server.reset());
    return server;
  } catch {
    await server.stop();
    return undefined;
  }
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

const usage = 'Usage  node test/clients/run.ts [VENDOR…] [--corpus DIR [--reset] | --examples [--flow WORDS]] [--json FILE]';

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      corpus: { type: 'string' },
      examples: { type: 'boolean', default: false },
      flow: { type: 'string', default: '' },
      json: { type: 'string' },
      reset: { type: 'boolean', default: false },
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
  const runOne = (name: string): Promise<VendorEnd> =>
    values.examples ? runExample(name, values.flow) : runVendor(name, corpus, values.reset);
  const flags = [
    ...(values.examples ? ['--examples', '--flow', values.flow] : ['--corpus', corpus]),
    ...(values.reset ? ['--reset'] : []),
  ];
  for (const name of vendors) {
    if (!process.send) console.error(name);
    ends.push(vendors.length === 1 ? await runOne(name) : await runApart(name, flags));
  }
  // The process that started this one prints for all of them.
  process.send?.(ends);
  if (!process.send) console.log(report(ends));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(ends, null, 2)}\n`);
  return 0;
}

/** A client may throw outside of the call that a step waits for; the step has its own end. */
// A client may throw where nobody waits for it, even in a listener of its own: the other steps are run all the same.
for (const outside of ['unhandledRejection', 'uncaughtException'])
  process.on(outside, (thrown) => console.error(`outside of a step: ${reasonOf(thrown)}`));
process.exitCode = await main();
process.exit();
