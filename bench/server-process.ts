/** Starting, asking and ending the servers that a benchmark measures. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onCore } from './cores.ts';

export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** From starting the process to the first byte of its first answer. */
  readonly firstAnswerMs: number;
  /** Memory in use (resident set), in MiB; nothing where the system does not tell. */
  memoryMib(): number | undefined;
  /** Processor time used since its start, in all its threads; nothing where the system does not tell. */
  cpuSeconds(): number | undefined;
  stop(): Promise<void>;
}

/** A server that could not be measured, and what it said. */
export class DidNotStart extends Error {}

/** Starts `node ARGS --port N` on the first core, and waits until it answers HTTP on 127.0.0.1. */
export async function startServer(options: {
  readonly name: string;
  readonly args: readonly string[];
  /** Where its output goes, as `NAME.log`. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether it is kept to the first core; it is, unless this says otherwise. */
  readonly pinned?: boolean;
  /** How long it may take to answer; 20 s unless this says otherwise. */
  readonly withinMs?: number;
}): Promise<ServerProcess> {
  const { withinMs = 20_000 } = options;
  const port = await freePort();
  const log = join(options.folder, `${options.name.replaceAll(' ', '-')}.log`);
  const out = openSync(log, 'w');
  const line = [process.execPath, ...options.args, '--port', String(port)] as const;
  const [command, ...args] = options.pinned === false ? line : onCore(0, line);
  const startMs = performance.now();
  const child = spawn(command, args, {
    stdio: ['ignore', out, out],
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  closeSync(out);
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  child.once('exit', () => process.off('exit', killOnExit));
  while (!(await answers(port))) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() - startMs > withinMs) {
      child.kill('SIGKILL');
      const why =
        child.exitCode === null ? `it did not answer in ${withinMs / 1000} s` : `it ended with exit code ${child.exitCode}`;
      throw new DidNotStart(`${options.name} did not start: ${why}. Its last lines:\n${lastLines(log)}`);
    }
    await delay(1);
  }
  const pid = child.pid!; // it answered, so it was started
  return {
    name: options.name,
    pid,
    port,
    firstAnswerMs: performance.now() - startMs,
    memoryMib: () => memoryMib(pid),
    cpuSeconds: () => cpuSeconds(pid),
    stop: () => stop(child),
  };
}

/** A port of 127.0.0.1 that is free now. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** Whether anything answers a request for `/`, whatever it answers. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const settle = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.setTimeout(5_000, () => settle(false));
    socket.once('connect', () => socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'));
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}

function memoryMib(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** Linux counts it in hundredths of a second, as the 14th and 15th field of `stat` (proc(5)). */
function cpuSeconds(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(kill);
}

function lastLines(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-12);
  return lines.map((line) => `  ${line}`).join('\n');
}
