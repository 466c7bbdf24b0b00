import { type ChildProcess, fork } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDatabase } from '../../test/stores/database.ts';
import { type LoadJob, load } from '../load.ts';
import { exitCode, type Target, targetReport } from '../targets.ts';

/** How many times what a service by hand does, with one process each. */
const goals = { 'durable create': 2.5, transition: 2.5, 'GET one': 1.5, 'page of 20': 1.5 } as const;
type Act = keyof typeof goals;
const acts = Object.keys(goals) as Act[];
const unique = 'xxxxxxxxxxxx';

interface Side {
  readonly port: number;
  readonly secret: string;
  readonly ids: readonly string[];
  readonly child: ChildProcess;
}

/** `npm run bench scale`: Ninefold over PostgreSQL beside a service by hand over the same server, in turns. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      connections: { type: 'string', default: '64' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const [rounds, seconds, connections] = [Number(values.rounds), Number(values.seconds), Number(values.connections)];
  const database = await makeDatabase();
  const sides: Side[] = [];
  try {
    console.log(
      `PostgreSQL on this machine, ${connections} connections, ${rounds} rounds of ${seconds} s in turns, load ${loadavg()[0]?.toFixed(1)}`,
    );
    sides.push(await started('ninefold-process.ts', database.address), await started('by-hand-process.ts', database.address));
    const [ours, theirs] = sides as [Side, Side];
    const targets: Target[] = [];
    for (const act of acts) {
      const ratios: number[] = [];
      const rates: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        const measured = [0, 0];
        for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const side = [ours, theirs][at]!;
          const { perSecond, errors, firstError } = await load(jobOf(act, side, connections, seconds));
          if (errors > 0) throw new Error(`${act}: ${errors} errors, the first: ${firstError}`);
          measured[at] = perSecond;
          rates[at]!.push(perSecond);
        }
        ratios.push(measured[0]! / measured[1]!);
      }
      const [our, their] = rates.map((all) => Math.round(middle(all)));
      console.log(
        `${act}: ${our}/s by Ninefold, ${their}/s by hand, ratio ${middle(ratios).toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(' ')})`,
      );
      targets.push({ what: `${act}, by hand = 1`, bound: 'at least', value: goals[act], measured: ratios });
    }
    console.log(targetReport(targets, values.markdown));
    return exitCode(targets, values.strict);
  } finally {
    for (const { child } of sides) child.disconnect();
    await Promise.all(sides.map(({ child }) => new Promise((resolve) => child.once('exit', resolve))));
    await database.drop();
  }
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Starts a process, and makes the rows that are asked for. */
async function started(file: string, address: string): Promise<Side> {
  const child = fork(join(import.meta.dirname, file), ['first'], { env: { ...process.env, NINEFOLD_STORE: address } });
  const { port, made } = await new Promise<{ port: number; made: { secret: string } }>((resolve, reject) => {
    child.once('message', (told) => resolve(told as { port: number; made: { secret: string } }));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  const { secret } = made;
  const ids = await Promise.all(
    Array.from({ length: 256 }, async (_, at) => {
      const answer = await fetch(`http://127.0.0.1:${port}/notes`, {
        method: 'POST',
        headers: { 'x-key': secret, 'content-type': 'application/json', 'idempotency-key': `first-${at}` },
        body: JSON.stringify({ text: `note ${at}` }),
      });
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  return { port, secret, ids, child };
}

function jobOf(act: Act, { port, secret, ids }: Side, connections: number, seconds: number): LoadJob {
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
