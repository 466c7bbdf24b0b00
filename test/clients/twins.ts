import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { blank, type Place, type Vendor } from './kit.ts';
import { reasonOf, start, stepLimit, within } from './server.ts';
import { differences, type StepSide } from './twins/compare.ts';
import { relayTo } from './twins/exchanges.ts';

/** A real server beside a stand-in of its description: where it is, and the path that its operations begin with. */
interface Real {
  readonly port: number;
  readonly path: string;
  readonly stop: () => Promise<void>;
}

interface Twin {
  /** The flows, by their file. */
  readonly flows: string;
  /** Where it is installed. */
  readonly installed: string;
  readonly start: (installed: string) => Promise<Real>;
}

const servers = join(import.meta.dirname, '../servers');

/** Real servers, each started anew for every flow. */
const twins: Readonly<Record<string, Twin>> = {
  azurite: {
    flows: 'azure-tables',
    installed: join(servers, 'node_modules/.bin/azurite-table'),
    async start(installed) {
      const port = await freePort();
      const child = spawn(
        process.execPath,
        [
          installed,
          '--inMemoryPersistence',
          '--disableTelemetry',
          '--silent',
          '--tableHost',
          '127.0.0.1',
          '--tablePort',
          String(port),
        ],
        // The account and the key of the flows.
        { stdio: ['ignore', 'ignore', 'ignore'], env: { ...process.env, AZURITE_ACCOUNTS: 'acct:a2V5' } },
      );
      const stop = () => ended(child);
      await untilThere(port, stop);
      return { port, path: '/acct', stop };
    },
  },
};

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  await gone;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port, so it has an address of that form.
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

/** Asks until somebody answers; half a minute at most. */
async function untilThere(port: number, stop: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    try {
      await (await fetch(`http://127.0.0.1:${port}/`)).text();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  await stop();
  throw new Error('the real server does not answer');
}

interface StepEnd {
  readonly flow: string;
  readonly step: string;
  readonly differences: readonly string[];
  /** Whether the client met the same: the same outcome and the same statuses. */
  readonly isAlike: boolean;
}

/** The steps of a flow on one side, in their order. */
async function sideOf(vendor: Vendor<unknown>, flow: string, real: Real): Promise<Map<string, StepSide>> {
  const relay = await relayTo(real.port);
  const url = `http://127.0.0.1:${relay.port}`;
  const place: Place = { url, base: `${url}${real.path}`, port: relay.port, printed: [] };
  const client = (token: string): unknown => vendor.client(place, token);
  const make = vendor.flows[flow];
  if (make === undefined) throw new Error(`there is no flow ${flow}`);
  const sides = new Map<string, StepSide>();
  try {
    for (const [step, work] of Object.entries(make(client(vendor.made), blank(), client, place))) {
      let reason: string | undefined;
      try {
        await within(stepLimit, (async () => work())());
      } catch (thrown) {
        reason = reasonOf(thrown);
      }
      sides.set(step, { exchanges: relay.take(), ...(reason !== undefined && { reason }) });
    }
  } finally {
    await relay.close();
  }
  return sides;
}

async function standIn(document: string): Promise<Real> {
  const { place, stop } = await start(document, ['--relax', 'auth']);
  return { port: place.port, path: place.base.slice(place.url.length), stop };
}

async function withServer<T>(started: Promise<Real>, use: (real: Real) => Promise<T>): Promise<T> {
  const real = await started;
  try {
    return await use(real);
  } finally {
    await real.stop();
  }
}

async function runTwin({ flows, installed, start: startReal }: Twin, corpus: string): Promise<StepEnd[]> {
  // The flows of a vendor are those of its clients.
  const { vendor } = (await import(`./flows/${flows}.ts`)) as { vendor: Vendor<unknown> };
  const ends: StepEnd[] = [];
  for (const flow of Object.keys(vendor.flows)) {
    console.error(`${flows} · ${flow}`);
    const there = await withServer(startReal(installed), (real) => sideOf(vendor, flow, real));
    const here = await withServer(standIn(join(corpus, vendor.document)), (real) => sideOf(vendor, flow, real));
    for (const [step, side] of there) {
      const other = here.get(step) ?? { exchanges: [] };
      const found = differences(side, other);
      const isAlike = !found.some((one) => / status \d|^the step |: only (?:there|here)$/.test(one));
      ends.push({ flow, step, differences: found, isAlike });
    }
  }
  return ends;
}

function report(name: string, ends: readonly StepEnd[]): string {
  const share = (part: number) => `${part}/${ends.length} (${((100 * part) / Math.max(1, ends.length)).toFixed(1)} %)`;
  const alike = ends.filter(({ isAlike }) => isAlike).length;
  const same = ends.filter(({ differences: found }) => found.length === 0).length;
  return [
    `${name}: steps of the same end and statuses ${share(alike)}; of the same members and types too ${share(same)}`,
    ...ends.flatMap(({ flow, step, differences: found }) => found.map((one) => `  ${flow} · ${step}: ${one}`)),
  ].join('\n');
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { corpus: { type: 'string' }, json: { type: 'string' } },
  });
  const corpus = values.corpus ?? process.env.NINEFOLD_CORPUS;
  const names = positionals.length > 0 ? positionals : Object.keys(twins);
  if (corpus === undefined || !existsSync(corpus) || names.some((name) => !Object.hasOwn(twins, name))) {
    console.error(`Usage  node test/clients/twins.ts [${Object.keys(twins).join('|')}…] --corpus DIR [--json FILE]`);
    return 2;
  }
  const all: Record<string, StepEnd[]> = {};
  for (const name of names) {
    const twin = twins[name];
    if (twin === undefined) continue;
    if (!existsSync(twin.installed)) {
      console.error('The servers are not installed: npm ci --ignore-scripts --prefix test/servers');
      return 2;
    }
    all[name] = await runTwin(twin, corpus);
    console.log(report(name, all[name]));
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all, undefined, 2)}\n`);
  return 0;
}

/** A client may throw outside of the call that a step waits for; the step has its own end. */
process.on('unhandledRejection', (thrown) => console.error(`outside of a step: ${reasonOf(thrown)}`));
process.exitCode = await main();
process.exit();
