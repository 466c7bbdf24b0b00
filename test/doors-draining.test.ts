import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Reply } from '../src/serve/http/call.ts';
import { type ListenOptions, listen } from '../src/serve/http/socket.ts';
import type { Answering } from '../src/serve/http/socket-door.ts';
import { times } from './long.ts';

const text = (body: string): Reply => ({ status: 200, headers: { 'content-type': 'text/plain' }, body });

async function opened(t: TestContext, answer: Answering, options: Partial<ListenOptions> = {}) {
  const server = await listen(answer, { port: 0, host: '127.0.0.1', ...options });
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  /** A connection that notes all that comes by it. */
  const client = () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true });
    sockets.push(socket);
    let read = '';
    let wake = () => {};
    socket.setEncoding('latin1').on('data', (piece) => {
      read += piece;
      wake();
    });
    socket.on('error', () => {}).on('close', () => wake());
    const answers = () => read.split(/(?=HTTP\/1\.1 )/).filter((one) => one !== '');
    return {
      socket,
      ask: (...paths: readonly string[]) =>
        void socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')),
      /** What was answered to each request: its body, and `close` where the connection ends with it. */
      async answered(count: number): Promise<string[]> {
        while (answers().length < count && !socket.destroyed) await new Promise<void>((resolve) => (wake = resolve));
        return answers().map((one) => `${one.split('\r\n\r\n')[1]}${/^connection: close\r$/im.test(one) ? ' close' : ''}`);
      },
      async ended(): Promise<void> {
        if (!socket.destroyed) await once(socket, 'close');
      },
    };
  };
  return { ...server, client };
}

describe('a server that is closed', () => {
  test('answers what has come in by then, also what it had no time to read yet', async (t) => {
    const { client, close } = await opened(t, ({ path }) => text(path));
    const clients = Array.from({ length: 20 }, client);
    for (const one of clients) one.ask('/first');
    for (const one of clients) assert.deepEqual(await one.answered(1), ['/first']);
    for (const one of clients) one.ask('/second');
    // Nobody has let the event loop read in between.
    await close();
    for (const one of clients) assert.deepEqual(await one.answered(2), ['/first', '/second close']);
  });

  test('takes the connections that the machine has made for it', async (t) => {
    const { client, close } = await opened(t, ({ path }) => text(path));
    const clients = Array.from({ length: 20 }, client);
    for (const one of clients) one.ask('/first');
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await close();
    for (const one of clients) assert.deepEqual(await one.answered(1), ['/first close']);
  });

  test('keeps connections that rest for a while, and tells who asks meanwhile that they end', async (t) => {
    const { client, close, port } = await opened(t, ({ path }) => text(path), { graceMs: 600_000, restMs: 600_000 });
    const [kept, fresh] = [client(), client()];
    await once(fresh.socket, 'connect');
    kept.ask('/first');
    await kept.answered(1);
    const closing = close();
    for (;;) {
      const late = connect({ port, host: '127.0.0.1' });
      const isRefused = await new Promise((resolve) => late.on('connect', () => resolve(false)).on('error', () => resolve(true)));
      late.destroy();
      if (isRefused) break;
    }
    kept.ask('/second');
    fresh.ask('/first');
    assert.deepEqual(await kept.answered(2), ['/first', '/second close']);
    assert.deepEqual(await fresh.answered(1), ['/first close']);
    await closing;
  });

  test('answers each of several requests that one connection has sent, and tells with the last that it ends', async (t) => {
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const gate = (path: string) => {
      const found = gates.get(path) ?? Promise.withResolvers<void>();
      gates.set(path, found);
      return found;
    };
    const { client, leave, close } = await opened(t, async ({ path }) => {
      await gate(path).promise;
      return text(path);
    });
    const one = client();
    one.ask('/a', '/b', '/c');
    while (gates.size < 3) await new Promise((resolve) => setImmediate(resolve));
    leave();
    // The last is ready first, and has to wait; what comes behind it is not carried out.
    gate('/c').resolve();
    gate('/b').resolve();
    await new Promise((resolve) => setImmediate(resolve));
    one.ask('/d');
    await new Promise((resolve) => setTimeout(resolve, 20));
    gate('/a').resolve();
    assert.deepEqual(await one.answered(3), ['/a', '/b', '/c close']);
    await one.ended();
    assert.equal(gates.has('/d'), false);
    await close();
  });
});

test('a server that will be closed takes connections, and each answer is the last of its own', async (t) => {
  const { client, leave } = await opened(t, ({ path }) => text(path));
  const [kept, fresh] = [client(), client()];
  kept.ask('/first');
  assert.deepEqual(await kept.answered(1), ['/first']);
  leave();
  kept.ask('/second');
  fresh.ask('/first');
  assert.deepEqual(await kept.answered(2), ['/first', '/second close']);
  assert.deepEqual(await fresh.answered(1), ['/first close']);
  await Promise.all([kept.ended(), fresh.ended()]);
});

test('a connection that has rested too long is not ended over a request that the process was too busy to read', async (t) => {
  const { client } = await opened(t, ({ path }) => text(path), { keepAliveTimeoutMs: 1 });
  const one = client();
  one.ask('/first');
  await one.answered(1);
  one.ask('/second');
  // Node gives a second besides.
  for (const until = performance.now() + 1_100; performance.now() < until; );
  assert.deepEqual(await one.answered(2), ['/first', '/second']);
  await one.ended();
});

describe('under load nothing that was sent goes without an answer, however often a server is closed,', () => {
  for (const isAnnounced of [false, true])
    test(
      isAnnounced ? 'where a balancer has heard of it, and new connections are made too' : 'by connections that are kept',
      async (t) => {
        const child = fork(join(import.meta.dirname, 'serving/closed-again.ts'), { stdio: 'inherit' });
        t.after(() => child.kill());
        const unanswered: string[] = [];
        let answered = 0;
        for (let drain = 0; drain < times(10, 100); drain++) {
          const [port] = (await once(child, 'message')) as [number];
          const agent = new Agent({ keepAlive: true });
          let asked = 0;
          let isLeaving = false;
          const asks = async (isKept: boolean): Promise<void> => {
            for (;;) {
              // Once a balancer has heard of it, it makes no connection.
              if (isLeaving && !isKept) return;
              const outcome = await ask(port, isKept ? agent : false);
              // Nothing was sent.
              if (outcome === 'ECONNREFUSED') return;
              if (outcome === 'answered' || outcome === 'answered last') answered += 1;
              else unanswered.push(outcome);
              if (isLeaving && outcome === 'answered last') return;
              asked += 1;
              if (asked === 50 + ((drain * 37) % 200)) {
                isLeaving = isAnnounced;
                child.send(isAnnounced ? 'leave' : 'close');
              }
            }
          };
          const clients = (count: number, isKept: boolean) => Array.from({ length: count }, () => asks(isKept));
          const [kept, made] = [clients(20, true), clients(isAnnounced ? 4 : 0, false)];
          await Promise.all(made);
          if (isAnnounced) child.send('close');
          await Promise.all(kept);
          agent.destroy();
        }
        t.diagnostic(`${answered} answered`);
        assert.deepEqual(unanswered, []);
      },
    );
});

/** What became of a request: whether it was answered, and whether as the last of its connection, or what was in the way. */
function ask(port: number, agent: Agent | false): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', agent, method: 'POST', headers: { 'content-length': 2 } }, (response) => {
      const answered = response.headers.connection === 'close' ? 'answered last' : 'answered';
      response.resume().on('close', () => resolve(response.complete ? answered : 'broken off'));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end('{}');
  });
}
