import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The command line's own launcher, in the checkout. */
const launcher = join(import.meta.dirname, '../../bin/ninefold.js');

/** A service that runs as a process of its own, as a user starts it. */
export interface Server {
  /** Where it listens; rejects where it ends before that. */
  readonly address: Promise<string>;
  readonly pid: number | undefined;
  /** What it wrote that was no exchange. */
  readonly said: readonly string[];
  /** Ends it at once, as the machine would, and waits until it is gone. */
  kill(): Promise<void>;
  /** Its exit code, once it has ended by itself. */
  readonly ended: Promise<number | null>;
}

/** Starts a command line on a store: the launcher, unless another is given. */
export function startServer(document: string, store: string, more: readonly string[] = [], command = launcher): Server {
  const words = ['serve', document, '--store', store, '--port', '0', '--log', 'json', ...more];
  const child = spawn(process.execPath, [command, ...words], {
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  const closed = once(child, 'close');
  child.stderr.on('data', (text: Buffer) => said.push(String(text)));
  const address = listening(child, said);
  // A start that is killed on purpose has nobody who waits for its address.
  address.catch(() => {});
  return {
    address,
    pid: child.pid,
    said,
    ended: closed.then(([code]) => code as number | null),
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

function listening(child: ChildProcess, said: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.startsWith('{"event":"exchange"')) return;
      said.push(line);
      if (line.startsWith('{"event":"listening"')) resolve(JSON.parse(line).url);
    });
    child.once('close', (code, signal) => reject(new Error(`The server ended (${signal ?? code}): ${said.join('\n')}`)));
  });
}

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** Connections that are kept alive, to one server. */
export interface Line {
  /** The answer, once all of it has come in; nothing where the connection broke before that. */
  send(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer | undefined>;
  /** Ends its connections once what was asked by them is answered, or they have broken. */
  close(): void;
}

/** @param broke Told why a connection broke. Of requests that nobody answers others do not wait: there are as many connections as it takes, and so many are kept. */
export function openLine(url: string, connections: number, broke: (why: string) => void = () => {}): Line {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: connections });
  const { hostname, port } = new URL(url);
  let underWay = 0;
  let isClosed = false;
  return {
    send: (method, path, headers, body) =>
      new Promise((settle) => {
        underWay += 1;
        const sentMs = performance.now();
        let isOver = false;
        const resolve = (answer: Answer | undefined, why = '') => {
          if (isOver) return;
          isOver = true;
          underWay -= 1;
          if (isClosed && underWay === 0) agent.destroy();
          const afterMs = Math.round(performance.now() - sentMs);
          if (!answer)
            broke(`${method} ${path}: ${why} after ${afterMs} ms, over ${call.reusedSocket ? 'a kept' : 'a new'} connection`);
          settle(answer);
        };
        const sent = body === undefined ? headers : { 'content-type': mediaType(method), ...headers };
        const call = request({ agent, host: hostname, port, method, path, headers: sent }, (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
          });
          response.on('end', () =>
            resolve(
              response.complete ? { status: response.statusCode ?? 0, headers: response.headers, text } : undefined,
              'broke off',
            ),
          );
          response.on('error', () => resolve(undefined, `broke off behind ${response.statusCode}`));
        });
        call.on('error', ({ code, message }: NodeJS.ErrnoException) => resolve(undefined, `${code} ${message}`));
        call.end(body);
      }),
    close() {
      isClosed = true;
      if (underWay === 0) agent.destroy();
    },
  };
}

function mediaType(method: string): string {
  return method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
}
