import type { ChildProcess } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDatabase, type TestDatabase } from '../../test/stores/database.ts';
import { type Forked, forked } from '../forked.ts';
import { type LoadJob, load } from '../load.ts';
import { exitCode, type Target, targetReport } from '../targets.ts';
import { type ProcessorTime, perRequest, processorTime } from './processor-time.ts';

/** How many times what a service by hand does, with one process each. */
const goals = { 'durable create': 2.5, transition: 2.5, 'GET one': 1.5, 'page of 20': 1.5 } as const;
type Act = keyof typeof goals;
const acts = Object.keys(goals) as Act[];
const unique = 'xxxxxxxxxxxx';

interface Side {
  readonly name: string;
  readonly database: TestDatabase;
  readonly secret: string;
  readonly ids: readonly string[];
  readonly services: readonly Service[];
  readonly children: readonly Forked<unknown>[];
}

interface Service {
  readonly port: number;
  readonly made: { readonly secret: string };
  readonly child: ChildProcess;
}

/** Who is measured: a program, and how many processes of it. */
interface Contestant {
  readonly name: string;
  readonly file: string;
  readonly processes: number;
}

/**
 * `npm run bench scale`: Ninefold over PostgreSQL beside a service by hand over the same server, in turns; with `--processes N` so many of Ninefold
 * beside one of it.
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      connections: { type: 'string', default: '64' },
      network: { type: 'string', default: '0' },
      processes: { type: 'string', default: '1' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const [rounds, seconds, connections] = [Number(values.rounds), Number(values.seconds), Number(values.connections)];
  const [networkMs, processes] = [Number(values.network), Number(values.processes)];
  const ninefold = (count: number): Contestant => ({
    name: count > 1 ? `${count} of Ninefold` : 'Ninefold',
    file: 'ninefold-process.ts',
    processes: count,
  });
  const other = processes > 1 ? ninefold(1) : { name: 'by hand', file: 'by-hand-process.ts', processes: 1 };
  const sides: Side[] = [];
  try {
    const network = networkMs > 0 ? `, ${networkMs} ms of network` : '';
    console.log(
      `PostgreSQL on this machine${network}, ${connections} connections, ${rounds} rounds of ${seconds} s in turns, load ${loadavg()[0]?.toFixed(1)}`,
    );
    for (const contestant of [ninefold(processes), other]) sides.push(await started(contestant, networkMs));
    const targets: Target[] = [];
    for (const act of acts) {
      const ratios = await compare(act, sides, { rounds, seconds, connections });
      const what = `${act}, ${other.name} = 1`;
      if (processes === 1) targets.push({ what, bound: 'at least', value: goals[act], measured: ratios });
    }
    if (targets.length > 0) console.log(targetReport(targets, values.markdown));
    return exitCode(targets, values.strict);
  } finally {
    for (const { children, database } of sides) {
      for (const child of children) await child.stop();
      await database.drop();
    }
  }
}

interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Has both do the same in turns, tells what came of it, and gives how many times as much the first did in each round. */
async function compare(act: Act, sides: readonly Side[], { rounds, seconds, connections }: Rounds): Promise<number[]> {
  const measured = sides.map(() => ({ rates: [] as number[], requests: 0, times: [] as ProcessorTime[] }));
  const times = async (at: number) => {
    const { services, database } = sides[at]!;
    measured[at]!.times.push(
      await processorTime(
        services.map(({ child }) => child.pid),
        database.address,
      ),
    );
  };
  for (const at of sides.keys()) await times(at);
  for (let round = 0; round < rounds; round++) {
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const side = sides[at]!;
      const share = connections / side.services.length;
      const results = await Promise.all(side.services.map(({ port }) => load(jobOf(act, side, port, share, seconds))));
      const failed = results.find(({ errors }) => errors > 0);
      if (failed) throw new Error(`${act}: ${failed.errors} errors, the first: ${failed.firstError}`);
      measured[at]!.rates.push(results.reduce((sum, { perSecond }) => sum + perSecond, 0));
      measured[at]!.requests += results.reduce((sum, { allAnswers }) => sum + allAnswers, 0);
    }
  }
  for (const at of sides.keys()) await times(at);
  const [ours, theirs] = measured.map(({ rates }) => rates) as [number[], number[]];
  const ratios = ours.map((one, round) => one / theirs[round]!);
  const told = sides.map(({ name }, at) => {
    const { rates, requests, times: taken } = measured[at]!;
    const [before, after] = taken as [ProcessorTime, ProcessorTime];
    const service = perRequest(before.services, after.services, requests);
    return `${Math.round(middle(rates))}/s ${name} (µs of a core for each: ${service} the service, ${perRequest(before.database, after.database, requests)} the database)`;
  });
  console.log(
    `${act}: ${told.join(', ')}: ${middle(ratios).toFixed(2)} times (${ratios.map((one) => one.toFixed(2)).join(' ')})`,
  );
  return ratios;
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Starts its processes over a database of its own, and makes the rows that are asked for. */
async function started({ name, file, processes }: Contestant, networkMs: number): Promise<Side> {
  const database = await makeDatabase();
  const address = new URL(database.address);
  const children: Forked<unknown>[] = [];
  const start = async <T>(
    program: string,
    words: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<T & { child: ChildProcess }> => {
    const one = await forked<T>(join(import.meta.dirname, program), { words, env });
    children.push(one);
    return { ...one.told, child: one.child };
  };
  if (networkMs > 0) {
    const env = { NINEFOLD_STORE: database.address, DELAY_MS: String(networkMs) };
    const { port } = await start<{ port: number }>('delaying-process.ts', [], env);
    address.port = String(port);
  }
  const services: Service[] = [];
  for (let n = 0; n < processes; n++) {
    services.push(await start<Omit<Service, 'child'>>(file, n === 0 ? ['first'] : [], { NINEFOLD_STORE: address.href }));
  }
  const [{ port, made }] = services as [Service];
  const ids = await Promise.all(
    Array.from({ length: 256 }, async (_, at) => {
      const answer = await fetch(`http://127.0.0.1:${port}/notes`, {
        method: 'POST',
        headers: { 'x-key': made.secret, 'content-type': 'application/json', 'idempotency-key': `first-${at}` },
        body: JSON.stringify({ text: `note ${at}` }),
      });
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  return { name, database, secret: made.secret, ids, services, children };
}

function jobOf(act: Act, { secret, ids }: Side, port: number, connections: number, seconds: number): LoadJob {
  const head = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Key: ${secret}\r\n${more}\r\n`;
  const body = JSON.stringify({ text: 'a note of about forty characters in all', stars: 3 });
  const sent = `Idempotency-Key: key-${unique}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const requests: Record<Act, readonly string[]> = {
    'durable create': [head('POST /notes', sent) + body],
    transition: ids.map((id) => head(`POST /notes/${id}/shut`, 'Content-Length: 0\r\n')),
    'GET one': ids.map((id) => head(`GET /notes/${id}`)),
    'page of 20': [head('GET /notes?limit=20')],
  };
  const status = act === 'durable create' ? 201 : 200;
  return { port, connections, requests: requests[act], unique, status, seconds, warmSeconds: 0.4 };
}
