/** Webhooks a second against a bare loop, with few and with many rows in the outbox, and what a reader of the stream costs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { onCore } from './cores.ts';
import { asMarkdown, asText, figure, median } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

interface EventsRun {
  readonly bare: readonly number[];
  readonly few: readonly number[];
  readonly many: readonly number[];
  readonly readers: number;
  /** KiB of resident memory for each reader. */
  readonly readerKib: readonly number[];
  /** How long it took until every reader had one event. */
  readonly toldMs: readonly number[];
}

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      count: { type: 'string', default: '20000' },
      rows: { type: 'string', default: '1000000' },
      readers: { type: 'string', default: '10000' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const result = await inTemporaryFolder(async (folder) => ({
    ...(await deliveries(folder, Number(values.rounds), Number(values.count), Number(values.rows))),
    ...(await readers(Number(values.readers))),
  }));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  return report(result, Number(values.rows), values.markdown, values.strict);
}

function report(result: EventsRun, rows: number, markdown: boolean, strict: boolean): number {
  const ratio = (over: readonly number[], under: readonly number[]) => over.map((value, i) => value / under[i]!);
  const table = [
    ['signed webhooks a second', 'median'],
    ['bare undici loop', figure(median(result.bare))],
    ['Ninefold, 1,000 rows in the outbox', figure(median(result.few))],
    [`Ninefold, ${rows.toLocaleString('en')} rows in the outbox`, figure(median(result.many))],
  ];
  console.log(markdown ? asMarkdown(table) : asText(table));
  console.log(
    `\n${result.readers.toLocaleString('en')} readers of the stream were told of an event in ${figure(median(result.toldMs))} ms.\n`,
  );
  const targets: Target[] = [
    { what: 'recorded deliveries against a bare loop', bound: 'at least', value: 0.5, measured: ratio(result.few, result.bare) },
    { what: 'with many rows against few', bound: 'at least', value: 0.9, measured: ratio(result.many, result.few) },
    { what: 'memory (RSS) for each reader of the stream', bound: 'at most', value: 20, unit: 'KiB', measured: result.readerKib },
  ];
  console.log(targetReport(targets, markdown));
  return exitCode(targets, strict);
}

type Rates = Pick<EventsRun, 'bare' | 'few' | 'many'>;

async function deliveries(folder: string, rounds: number, count: number, rows: number): Promise<Rates> {
  const receiver = start(1, 'events-receiver.ts');
  const port = String((await told<{ port: number }>(receiver)).port);
  const senders = {
    bare: start(0, 'events-sender.ts', 'bare', port),
    few: start(0, 'events-sender.ts', 'ninefold', port, join(folder, 'few.sqlite'), '1000'),
    many: start(0, 'events-sender.ts', 'ninefold', port, join(folder, 'many.sqlite'), String(rows)),
  };
  try {
    await Promise.all(Object.values(senders).map((sender) => told(sender)));
    const rates = { bare: [] as number[], few: [] as number[], many: [] as number[] };
    for (let round = -1; round < rounds; round++) {
      for (const name of ['bare', 'few', 'many'] as const) {
        const rate = told<{ perSecond: number }>(receiver);
        receiver.send({ expected: count });
        const done = told(senders[name]);
        senders[name].send({ count });
        const { perSecond } = await rate;
        await done;
        // The first round warms all of them up.
        if (round >= 0) rates[name].push(perSecond);
      }
    }
    return rates;
  } finally {
    for (const child of [receiver, ...Object.values(senders)]) child.kill('SIGKILL');
  }
}

async function readers(count: number): Promise<Pick<EventsRun, 'readers' | 'readerKib' | 'toldMs'>> {
  const server = start(0, 'events-streams.ts');
  const sockets: Socket[] = [];
  try {
    const { port } = await told<{ port: number }>(server);
    let heads = 0;
    let events = 0;
    const open = async (): Promise<void> => {
      const socket = connect({ host: '127.0.0.1', port });
      sockets.push(socket);
      socket.on('data', (piece: Buffer) => {
        if (piece.includes('HTTP/1.1 200')) heads += 1;
        if (piece.includes('event: parcel.created')) events += 1;
      });
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.once('connect', resolve);
      });
      socket.write(`GET /stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
    };
    // Some first, so that what is loaded and compiled once is not counted.
    for (let n = 0; n < 200; n++) await open();
    await until(() => heads === 200);
    await delay(1_000);
    const before = kib(server);
    for (let n = 0; n < count; n += 100) await Promise.all(Array.from({ length: 100 }, open));
    await until(() => heads === count + 200);
    await delay(2_000);
    const grown = (kib(server) - before) / count;
    const fromMs = performance.now();
    server.send({});
    await until(() => events === count + 200);
    return { readers: count, readerKib: [grown], toldMs: [performance.now() - fromMs] };
  } finally {
    for (const socket of sockets) socket.destroy();
    server.kill('SIGKILL');
  }
}

function start(core: 0 | 1, file: string, ...args: readonly string[]): ChildProcess {
  const [command, ...rest] = onCore(core, [process.execPath, join(import.meta.dirname, file), ...args]);
  const child = spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

function told<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`a process of the benchmark ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      // Each process sends what its first line says.
      resolve(message as T);
    });
  });
}

async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error('the readers were not all told in a minute');
    await delay(2);
  }
}

function kib({ pid }: ChildProcess): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
