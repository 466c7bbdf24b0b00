/** A service in a folder of its own, in any language: how it is started, who can be spoken for, what can be broken in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { VerifyOptions } from '../../src/verify/options.ts';

export interface StrangeFault {
  readonly id: string;
  /** The fact that it breaks, as the ledger names it, where its writer knew a ledger: one of a document in another language does not. */
  readonly fact?: { readonly part: string; readonly kind: string; readonly subject: string };
  /** What it breaks in other words: a promise, what a user of states expects, or the service itself. */
  readonly sort?: string;
  readonly operation?: string;
  readonly bug: string;
}

/** A fault as `stranger.json` has it. */
interface WrittenFault extends Omit<StrangeFault, 'fact'> {
  readonly part?: string;
  readonly kind?: string;
  readonly subject?: string;
}

export interface Stranger {
  readonly name: string;
  readonly folder: string;
  /** The command line; `node` is the Node that runs this. */
  readonly command: readonly string[];
  /** The path of its document. */
  readonly document: string;
  readonly callers: NonNullable<VerifyOptions['callers']>;
  /** Whether it opens the door by which its clock is moved. */
  readonly hasClock: boolean;
  readonly faults: readonly StrangeFault[];
}

/** Reads `stranger.json`: `command`, `document`, `callers`, `faults`, and `hasClock: false` where there is no door to its clock. */
export function readStranger(folder: string): Stranger {
  // Written by hand beside its service, and read by nothing else.
  const told = JSON.parse(readFileSync(join(folder, 'stranger.json'), 'utf8')) as Omit<
    Stranger,
    'name' | 'folder' | 'faults' | 'hasClock'
  > & {
    readonly faults: readonly WrittenFault[];
    readonly hasClock?: boolean;
  };
  const faults = told.faults.map(({ part, kind, subject, ...fault }) => ({
    ...fault,
    ...(part !== undefined && kind !== undefined && subject !== undefined && { fact: { part, kind, subject } }),
  }));
  return {
    ...told,
    hasClock: told.hasClock ?? true,
    faults,
    name: basename(folder),
    folder,
    document: join(folder, told.document),
  };
}

export interface RunningStranger {
  readonly url: string;
  readonly clockUrl?: string;
  stop(): Promise<void>;
}

/** Starts it as `COMMAND --port N --clock-port M [--fault ID]`, and waits until both answer; anew where another process took one of the ports meanwhile. */
export async function startStranger(stranger: Stranger, fault: string | undefined): Promise<RunningStranger> {
  for (let tries = 1; ; tries++) {
    try {
      return await startOnce(stranger, fault);
    } catch (error) {
      if (tries === triesMost || !/EADDRINUSE|address already in use/i.test(String(error))) throw error;
    }
  }
}

const triesMost = 5;

async function startOnce({ name, folder, command, hasClock }: Stranger, fault: string | undefined): Promise<RunningStranger> {
  const [port, clockPort] = [await freePort(), await freePort()];
  const [program = '', ...given] = command;
  const args = [...given, '--port', String(port), '--clock-port', String(clockPort), ...(fault ? ['--fault', fault] : [])];
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000);
  });
  for (const one of hasClock ? [port, clockPort] : [port]) {
    for (let tries = 0; !(await answers(one)); tries++) {
      if (child.exitCode !== null || tries > 1200) throw new Error(`${name} did not start: ${said}`);
      await delay(50);
    }
  }
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    await ended(child);
  };
  return { url: `http://127.0.0.1:${port}`, ...(hasClock && { clockUrl: `http://127.0.0.1:${clockPort}/` }), stop };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function answers(port: number): Promise<boolean> {
  try {
    await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
