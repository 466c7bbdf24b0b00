import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch, type Headers } from 'undici';

/** How much memory the service takes, and what failed in it since that was last asked. */
export interface Health {
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** The most that it took by now. */
  readonly peakBytes: number;
  readonly failures: readonly string[];
}

/** An answer, as far as an attack looks at it. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The service under attack, in a process of 256 MiB. */
export interface Target {
  readonly port: number;
  readonly url: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly secret: string;
  /** Every status that came, and how often. */
  readonly statuses: Map<number, number>;
  send(
    method: string,
    path: string,
    options?: { readonly as?: string; readonly headers?: Record<string, string>; readonly body?: unknown },
  ): Promise<Got>;
  /** Sends bytes as they are, and gives what comes back until the connection ends or nothing has come for `quietMs`; `isAll` says that no more will come. */
  raw(bytes: string | Uint8Array | readonly (string | Uint8Array)[], quietMs?: number, isAll?: boolean): Promise<string>;
  health(): Promise<Health>;
  stop(): Promise<void>;
}

/** A connection for each request: one that was kept may be closed by the other side just as it is used again. */
const apart = new Agent({ pipelining: 0 });

/** Starts it: a service of our own, or a stand-in of a description. */
export async function startTarget(which: 'vault' | 'shelf' = 'vault'): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-attack-'));
  const secret = 'a secret of thirty-two bytes, or so';
  const child = fork(join(import.meta.dirname, 'child.ts'), [join(folder, 'store.sqlite'), which], {
    execArgv: ['--max-old-space-size=256', '--expose-gc', '--disable-warning=ExperimentalWarning'],
    env: { ...process.env, VAULT_SECRET: secret },
  });
  const [told] = (await once(child, 'message')) as [{ port: number; keys: Record<string, string> }];
  const { port, keys } = told;
  const statuses = new Map<number, number>();
  const note = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    keys,
    secret,
    statuses,
    async send(method, path, { as, headers = {}, body } = {}) {
      const key = as === undefined ? undefined : keys[as];
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        dispatcher: apart,
        method,
        redirect: 'manual',
        headers: {
          ...(key !== undefined && { 'x-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
      });
      note(answer.status);
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    },
    async raw(bytes, quietMs = 250, isAll = false) {
      const text = await sendRaw(port, bytes, quietMs, isAll);
      for (const [, status] of text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) note(Number(status));
      return text;
    },
    async health() {
      child.send('memory');
      const [health] = (await once(child, 'message')) as [Health];
      return health;
    },
    async stop() {
      const ended = once(child, 'exit');
      if (child.exitCode === null) {
        child.send('stop');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function sendRaw(
  port: number,
  bytes: string | Uint8Array | readonly (string | Uint8Array)[],
  quietMs: number,
  isAll: boolean,
): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      const list = typeof bytes === 'string' || bytes instanceof Uint8Array ? [bytes] : bytes;
      for (const piece of list) socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
      if (isAll) socket.end();
    });
    const end = () => {
      socket.destroy();
      resolve(Buffer.concat(pieces).toString('latin1'));
    };
    socket.setTimeout(quietMs, end);
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('error', () => {});
    socket.on('close', end);
  });
}
