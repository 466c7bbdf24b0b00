import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** How long a server has to be there. */
const waitMs = 20_000;

/** A server that was started for a test on a port of its own, and can be made to vanish and to come back. */
export interface OwnServer {
  readonly address: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Lets it hang, as one does that is swapped out, or go on. */
  pause(isPaused: boolean): void;
  /** Kills it, and removes what it has kept. */
  stop(): Promise<void>;
}

interface Program {
  readonly command: string;
  /** How it is told its port and the folder for what outlives it. */
  readonly words: (port: string, folder: string) => readonly string[];
  /** The scheme of its address. */
  readonly scheme: string;
  /** What is said to it, where it does not speak first, and how what it says begins. */
  readonly said?: string;
  readonly heard: string;
}

const redis: Program = {
  command: 'redis-server',
  words: (port) => ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
  scheme: 'redis',
  said: 'PING\r\n',
  heard: '+PONG',
};
const nats: Program = {
  command: 'nats-server',
  words: (port, folder) => ['-a', '127.0.0.1', '-p', port, '-js', '-sd', folder],
  scheme: 'nats',
  heard: 'INFO',
};

/** Starts the Redis, or Valkey, that is installed, which keeps nothing on disk. @throws where none is, or it does not start */
export const startOwnRedis = (): Promise<OwnServer> => startOwn(redis);

/** Starts the NATS that is installed, with JetStream, whose streams outlive it being killed. @throws where none is, or it does not start */
export const startOwnNats = (): Promise<OwnServer> => startOwn(nats);

async function startOwn(program: Program): Promise<OwnServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-server-'));
  let server: ChildProcess | undefined;
  const own: OwnServer = {
    address: `${program.scheme}://127.0.0.1:${port}`,
    async start() {
      const { command, words } = program;
      server = spawn(command, words(String(port), folder), { stdio: 'ignore' });
      let failure: unknown;
      server.once('error', (error) => {
        failure = error;
      });
      for (const until = Date.now() + waitMs; !(await answers(port, program)); await delay(20))
        if (failure !== undefined || Date.now() > until)
          throw new Error(`there is no ${command}: install one (Debian: apt-get install ${command})`, { cause: failure });
    },
    async kill() {
      const running = server;
      server = undefined;
      if (!running || running.exitCode !== null) return;
      const gone = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGKILL');
      await gone;
    },
    pause: (isPaused) => void server?.kill(isPaused ? 'SIGSTOP' : 'SIGCONT'),
    async stop() {
      await own.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await own.start();
  return own;
}

/** Whether it speaks as such a server does. */
function answers(port: number, { said, heard }: Program): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    if (said !== undefined) socket.once('connect', () => socket.write(said));
    socket.once('data', (bytes) => {
      socket.destroy();
      resolve(String(bytes).startsWith(heard));
    });
    socket.once('error', () => resolve(false));
  });
}
