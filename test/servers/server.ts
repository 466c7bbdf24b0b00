import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { GivenCaller } from '../../src/verify/exchange/callers.ts';
import type { Skip } from '../../src/verify/options.ts';

/** A real server of others: the document of ours that states it, and how it is started. */
export interface RealServer {
  readonly name: string;
  /** Its path from the project's root. */
  readonly document: string;
  /** What of the document is narrower than the server, for lack of a word, and is not held to it. */
  readonly skips?: readonly Skip[];
  /** What `verify` tells of it, each a breach by its own documentation. */
  readonly breaches: readonly KnownBreach[];
  /** The alterations of what passes that are not found, for reasons that its readme has. */
  readonly missed?: readonly string[];
  /** Whether it is there within a second or two, so that each alteration may have one of its own. */
  readonly startsSoon?: boolean;
  /** What has to be installed and is not. */
  lacks(): string | undefined;
  start(): Promise<RunningServer>;
}

/** A breach that a real server has, and what shows that it is one. */
export interface KnownBreach {
  /** `kind (subject), reason` */
  readonly breach: string;
  readonly because: string;
}

/** One that runs on this machine alone, with what its document takes for granted made. */
export interface RunningServer {
  readonly port: number;
  readonly callers: readonly GivenCaller[];
  /** Ends it, and removes what it kept. */
  stop(): Promise<void>;
}

/** What a program is started with. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Where it is started. */
  readonly folder: string;
}

export interface RunningProgram {
  /** Waits for an answer below 500. @throws where the program ends, or half a minute goes by */
  untilThere(url: string, headers?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it, with all that it started, and removes its folder. */
  stop(): Promise<void>;
}

/** What is done first with a program that was started, which is ended where that fails. */
export async function orStopped<T>(running: RunningProgram, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** The folder in which the packages of the npm registry are. */
export const installedPackages = join(import.meta.dirname, 'node_modules');

/** The first of several paths that there is. */
export const firstThere = (...paths: readonly string[]): string | undefined => paths.find((path) => existsSync(path));

/** A folder that goes with what is started over it. */
export const ownFolder = (): string => mkdtempSync(join(tmpdir(), 'ninefold-real-'));

/** Starts a program in a process group of its own, with all that it starts itself. */
export function startProgram({ command, args, environment = {}, folder }: Program): RunningProgram {
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000);
  });
  child.once('error', (error) => {
    said += String(error);
  });
  const kill = (): void => killGroup(child);
  process.once('exit', kill);
  return {
    async untilThere(url, headers = {}) {
      for (let tries = 0; !(await answers(url, headers)); tries++) {
        if (child.exitCode !== null || tries > 300) throw new Error(`${command} did not start: ${said}`);
        await delay(100);
      }
    },
    async stop() {
      process.off('exit', kill);
      const isOver = child.exitCode !== null || child.signalCode !== null;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      kill();
      if (!isOver) await gone;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended already.
  }
}

async function answers(url: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    const answer = await fetch(url, { headers });
    await answer.arrayBuffer();
    return answer.status < 500;
  } catch {
    return false;
  }
}

/** Asks something of a server before anything is tried, and gives the answer's text. @throws where it is refused */
export async function prepare(url: string, request: RequestInit): Promise<string> {
  const answer = await fetch(url, request);
  const text = await answer.text();
  if (answer.status >= 400) throw new Error(`${request.method} ${url}: ${answer.status} ${text}`);
  return text;
}

/** What is written by hand beside a document, and read by nothing else. */
export function notesBeside(document: string): Pick<RealServer, 'breaches' | 'skips' | 'missed'> {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../..', document, '../notes.json'), 'utf8'));
}
