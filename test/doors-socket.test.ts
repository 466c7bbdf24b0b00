import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { ClientGone, doorBounds } from '../src/serve/http/bounds.ts';
import type { Call, Reply } from '../src/serve/http/call.ts';
import { createListener, type ListenOptions, listen } from '../src/serve/http/socket.ts';
import type { Answering } from '../src/serve/http/socket-door.ts';

interface Received {
  readonly status: number;
  readonly phrase: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A client that sends what it likes over one connection, and reads replies one by one. */
class Client {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  error: Error | undefined;
  #read = '';
  #isOver = false;
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text) => {
      this.#read += text;
      this.#wake();
    });
    const over = () => {
      this.#isOver = true;
      this.#wake();
    };
    this.socket.on('end', over);
    this.socket.on('error', (error) => {
      this.error = error;
      over();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => resolve());
    });
    this.socket.on('close', over);
  }

  send(...lines: readonly string[]): this {
    this.socket.write(lines.join('\r\n'), 'latin1');
    return this;
  }

  /** A request without a body. */
  ask(target: string, method = 'GET'): this {
    return this.send(`${method} ${target} HTTP/1.1`, 'Host: x', '', '');
  }

  /** The next reply; `bodiless` for one to HEAD. */
  async next(bodiless = false): Promise<Received> {
    const match = await this.#until(() => /^HTTP\/1\.1 (\d{3}) ([^\r]*)\r\n((?:[^\r]+\r\n)*)\r\n/.exec(this.#read));
    const lines = match[3]!
      .split('\r\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line] as const);
    const headers = Object.fromEntries(lines.map(([name, line]) => [name, line.slice(name.length + 1).trim()]));
    this.#read = this.#read.slice(match[0].length);
    const length = bodiless ? 0 : Number(headers['content-length'] ?? 0);
    await this.#until(() => this.#read.length >= length);
    const body = this.#read.slice(0, length);
    this.#read = this.#read.slice(length);
    return { status: Number(match[1]), phrase: match[2]!, headers, body };
  }

  /** Whatever is still to come until the server ends the connection. */
  async rest(): Promise<string> {
    await this.#until(() => this.#isOver);
    return this.#read;
  }

  async #until<T>(look: () => T): Promise<NonNullable<T>> {
    for (;;) {
      const found = look();
      if (found) return found;
      assert.ok(!this.#isOver, `the connection ended; left over: ${JSON.stringify(this.#read.slice(0, 200))}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Says what came in, and reads the body only of `/read`. */
const echo: Answering = async (call) => {
  const body = call.path.startsWith('/read') ? await call.body(1024) : Buffer.from('-');
  return text(200, `${call.method} ${call.path}?${call.query} ${body}`);
};

function text(status: number, body: string): Reply {
  return { status, headers: { 'content-type': 'text/plain' }, body };
}

async function opened(t: TestContext, answer: Answering, options: Partial<ListenOptions> = {}) {
  const failures: unknown[] = [];
  const onFailure = (failure: unknown) => failures.push(failure);
  const refuseRaw = (kind: string, path: string) => text(kind === 'tunnel' ? 501 : statuses[kind]!, `${kind} ${path}`.trim());
  const server = await listen(answer, { port: 0, host: '127.0.0.1', refuseRaw, onFailure, ...options });
  const clients: Client[] = [];
  t.after(async () => {
    for (const client of clients) client.socket.destroy();
    await server.close();
  });
  const client = () => {
    const made = new Client(server.port);
    clients.push(made);
    return made;
  };
  return { ...server, failures, client };
}

// None is what the door itself would say, so that a reply shows where it comes from.
const statuses: Readonly<Record<string, number>> = {
  malformed: 460,
  'headers too large': 461,
  'url too large': 462,
  timeout: 463,
  expectation: 464,
  internal: 560,
};

/** A promise and what settles it. */
function gate<T = void>() {
  return Promise.withResolvers<T>();
}

describe('a call', () => {
  const calls: readonly { readonly sent: string; readonly says: (call: Call) => unknown; readonly said: unknown }[] = [
    {
      sent: 'GET /a/%2e%2e//b?c=%20&d?e HTTP/1.1',
      says: ({ path, query }) => [path, query],
      said: ['/a/%2e%2e//b', 'c=%20&d?e'],
    },
    { sent: 'GET http://other/a?b HTTP/1.1', says: ({ path, query }) => [path, query], said: ['/a', 'b'] },
    { sent: 'OPTIONS * HTTP/1.1', says: ({ method, path }) => [method, path], said: ['OPTIONS', '*'] },
    { sent: 'GET / HTTP/1.1', says: ({ address }) => address, said: '127.0.0.1' },
    { sent: 'GET / HTTP/1.1\r\nX-A: 1\r\nx-a: 2', says: ({ headers }) => headers['x-a'], said: '1, 2' },
    { sent: 'GET / HTTP/1.1\r\nX-A: 1', says: ({ headerBytes }) => headerBytes, said: 'Host: x\r\nX-A: 1\r\n'.length },
    { sent: 'GET / HTTP/1.1', says: ({ hasBody, body }) => [hasBody, typeof body], said: [false, 'function'] },
    { sent: 'GET / HTTP/1.1', says: (call) => (call.body(1) as Buffer).length, said: 0 },
    { sent: 'POST / HTTP/1.1\r\nContent-Length: 0', says: ({ hasBody }) => hasBody, said: false },
    { sent: 'GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c', says: ({ path }) => path, said: '/' },
  ];
  for (const { sent, says, said } of calls) {
    test(`of ${JSON.stringify(sent)} says what was sent`, async (t) => {
      const { client } = await opened(t, (call) => text(200, JSON.stringify(says(call))));
      const reply = await client().send(sent, 'Host: x', '', '').next();
      assert.deepEqual(JSON.parse(reply.body), said);
    });
  }

  const bodies: readonly { readonly name: string; readonly send: readonly string[]; readonly get: string }[] = [
    { name: 'with its length', send: ['Content-Length: 3', '', 'abc'], get: 'abc' },
    { name: 'in chunks', send: ['Transfer-Encoding: chunked', '', '1', 'a', '2;x=y', 'bc', '0', '', ''], get: 'abc' },
    {
      name: 'of one byte a chunk',
      send: ['Transfer-Encoding: chunked', '', `${'1\r\na\r\n'.repeat(1024)}0`, '', ''],
      get: 'a'.repeat(1024),
    },
    { name: 'over the bound, by its length', send: ['Content-Length: 1025', '', 'a'.repeat(1025)], get: 'too large' },
    {
      name: 'over the bound, in chunks',
      send: ['Transfer-Encoding: chunked', '', '401', 'a'.repeat(1025), '0', '', ''],
      get: 'too large',
    },
  ];
  for (const { name, send, get } of bodies) {
    test(`gives a body ${name}, and the connection goes on`, async (t) => {
      const { client } = await opened(t, echo);
      const one = client().send('POST /read HTTP/1.1', 'Host: x', ...send);
      assert.equal((await one.next()).body, `POST /read? ${get}`);
      if (get === 'too large' && name.endsWith('chunks')) return;
      assert.equal((await one.ask('/next').next()).body, 'GET /next? -');
    });
  }

  test('gives a body that comes after its head, or in pieces, or with the next requests', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send('POST /read HTTP/1.1', 'Host: x', 'Content-Length: 3', '', '');
    const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
    await pause();
    one.send('a');
    await pause();
    one.send('bc');
    assert.equal((await one.next()).body, 'POST /read? abc');
    const head = ['POST /read HTTP/1.1', 'Host: x', 'Content-Length: 3', ''];
    one.send(...head, `ab1${head.join('\r\n')}\r\nab2${head.join('\r\n')}\r\nab`);
    assert.equal((await one.next()).body, 'POST /read? ab1');
    assert.equal((await one.next()).body, 'POST /read? ab2');
    assert.equal((await one.send('3').next()).body, 'POST /read? ab3');
    assert.equal((await one.ask('/next').next()).body, 'GET /next? -');
  });

  test('may ask for its body later and twice', async (t) => {
    const { client } = await opened(t, async (call) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const [first, second] = [await call.body(10), await call.body(10)];
      return text(200, `${first} ${first === second}`);
    });
    const reply = await client().send('POST / HTTP/1.1', 'Host: x', 'Content-Length: 3', '', 'abc').next();
    assert.equal(reply.body, 'abc true');
  });
});

describe('a reply', () => {
  test('has its length in bytes, and headers of its own that cannot break it', async (t) => {
    const headers = { 'x-a': '1', 'content-length': '1', 'transfer-encoding': 'chunked', connection: 'close' };
    const { client } = await opened(t, () => ({ status: 201, headers, body: 'ä' }));
    const one = client();
    const first = await one.ask('/').next();
    assert.deepEqual([first.status, first.headers['content-length'], first.headers['x-a']], [201, '2', '1']);
    assert.deepEqual([first.headers.connection, first.headers['transfer-encoding']], ['keep-alive', undefined]);
    assert.equal((await one.ask('/').next()).status, 201);
  });

  const cases: readonly {
    readonly reply: Partial<Reply>;
    readonly method?: string;
    readonly length: string | undefined;
    readonly body: string;
  }[] = [
    { reply: { body: new TextEncoder().encode('bytes') }, length: '5', body: 'bytes' },
    { reply: { body: undefined }, length: '0', body: '' },
    { reply: { body: '' }, length: '0', body: '' },
    { reply: { body: 'text' }, method: 'HEAD', length: '4', body: '' },
    { reply: { status: 204, body: undefined }, length: undefined, body: '' },
    { reply: { status: 204, body: 'not to be sent' }, length: undefined, body: '' },
    { reply: { status: 304, body: undefined }, length: undefined, body: '' },
  ];
  for (const { reply, method = 'GET', length, body } of cases) {
    test(`to ${method} of ${JSON.stringify(reply)} is framed right, at once and later, kept or not, read or not`, async (t) => {
      const made = { status: 200, headers: {}, body: undefined, ...reply };
      const { client } = await opened(t, ({ path }) => (path === '/later' ? Promise.resolve(made) : made));
      const one = client();
      for (const path of ['/', '/later', '/']) {
        const got = await one.ask(path, method).next(method === 'HEAD');
        assert.deepEqual([got.status, got.headers['content-length'], got.body], [made.status, length, body]);
      }
      // The body is on its way after the reply.
      one.send(`${method} / HTTP/1.1`, 'Host: x', 'Content-Length: 4', '', '');
      assert.equal((await one.next(method === 'HEAD')).body, body);
      one.send('body').ask('/', method);
      assert.equal((await one.next(method === 'HEAD')).body, body);
    });
  }

  test('comes in the order of the requests, whichever is ready first', async (t) => {
    const slow = gate();
    const { client } = await opened(t, async ({ path }) => {
      if (path === '/1') await slow.promise;
      if (path === '/3') slow.resolve();
      return text(200, path);
    });
    const one = client().ask('/1').ask('/2').ask('/3');
    assert.deepEqual([(await one.next()).body, (await one.next()).body, (await one.next()).body], ['/1', '/2', '/3']);
  });

  test('to HTTP/1.0 ends the connection, unless it is asked to stay', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send('GET /a HTTP/1.0', 'Connection: keep-alive', '', '');
    assert.equal((await one.next()).body, 'GET /a? -');
    one.send('GET /b HTTP/1.0', '', '');
    const last = await one.next();
    assert.deepEqual([last.body, last.headers.connection], ['GET /b? -', 'close']);
    assert.equal(await one.rest(), '');
  });

  test('reaches a client that has ended its own side', async (t) => {
    const { client } = await opened(t, async ({ path }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return text(200, path);
    });
    const one = client().ask('/a').ask('/b');
    one.socket.end();
    assert.deepEqual([(await one.next()).body, (await one.next()).body, await one.rest()], ['/a', '/b', '']);
  });
});

describe('what fails', () => {
  const failing: Readonly<Record<string, Answering>> = {
    'an answer that throws': () => {
      throw new Error('lost');
    },
    'an answer that rejects': () => Promise.reject(new Error('lost')),
    'a header that cannot be sent': () => ({ status: 200, headers: { 'x-a': 'a\r\nb: c' }, body: 'lost' }),
    'a header that cannot be sent, later': async () => ({ status: 200, headers: { 'x-a': '\u{1f4a5}' }, body: 'lost' }),
    'a status that is none': () => ({ status: 7, headers: {}, body: 'lost' }),
  };
  for (const [name, answer] of Object.entries(failing)) {
    test(`as ${name} is told and answered as internal, and the connection goes on`, async (t) => {
      const { client, failures } = await opened(t, (call) => (call.path === '/well' ? text(200, 'well') : answer(call)));
      const one = client().ask('/a?b');
      const reply = await one.next();
      assert.deepEqual([reply.status, reply.phrase, reply.body, failures.length], [560, 'unknown', 'internal /a', 1]);
      assert.equal((await one.ask('/well').next()).body, 'well');
    });
  }

  test('as a shape that cannot be given leaves the own one', async (t) => {
    for (const refuseRaw of [
      () => {
        throw new Error('shape');
      },
      () => ({ status: 500, headers: { 'x-a': '\n' }, body: '' }),
    ]) {
      const { client } = await opened(t, () => Promise.reject(new Error('lost')), { refuseRaw });
      const reply = await client().ask('/').next();
      assert.deepEqual([reply.status, JSON.parse(reply.body).title], [500, 'Internal Server Error']);
      const broken = await client().send('nonsense\r\n\r\n').next();
      assert.equal(broken.status, 400);
    }
  });

  test('as a port that is taken rejects', async (t) => {
    const { port } = await opened(t, echo);
    await assert.rejects(listen(echo, { port, host: '127.0.0.1' }), { code: 'EADDRINUSE' });
  });
});

describe('what is no request', () => {
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n';
  const post = 'POST /read HTTP/1.1\r\nHost: x\r\n';
  const wrong: readonly { readonly name: string; readonly sent: string; readonly kind: string }[] = [
    { name: 'nonsense', sent: 'nonsense\r\n\r\n', kind: 'malformed' },
    { name: 'TLS', sent: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(512, '\x00'), kind: 'malformed' },
    { name: 'an unknown method', sent: 'NOPE / HTTP/1.1\r\nHost: x\r\n\r\n', kind: 'malformed' },
    { name: 'a target with a blank', sent: 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', kind: 'malformed' },
    { name: 'no Host', sent: 'GET / HTTP/1.1\r\n\r\n', kind: 'malformed /' },
    { name: 'two Hosts', sent: `${get}HOST: y\r\n\r\n`, kind: 'malformed /' },
    { name: 'an unknown version', sent: 'GET / HTTP/3.7\r\nHost: x\r\n\r\n', kind: 'malformed' },
    { name: 'a header name with a blank', sent: `${get}X A: b\r\n\r\n`, kind: 'malformed' },
    { name: 'a header value with NUL', sent: `${get}X-A: a\x00b\r\n\r\n`, kind: 'malformed' },
    { name: 'two lengths', sent: `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc`, kind: 'malformed' },
    { name: 'a length that is none', sent: `${post}Content-Length: -1\r\n\r\nabc`, kind: 'malformed' },
    {
      name: 'a length and chunks',
      sent: `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      kind: 'malformed',
    },
    { name: 'a coding that is not chunked', sent: `${post}Transfer-Encoding: gzip\r\n\r\nabc`, kind: 'malformed /read' },
    { name: 'a chunk without a size', sent: `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n`, kind: 'malformed /read' },
    {
      name: 'a chunk that is longer than it says',
      sent: `${post}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n`,
      kind: 'malformed /read',
    },
    { name: 'a header block over its size', sent: `${get}X-A: ${'a'.repeat(17_000)}\r\n\r\n`, kind: 'headers too large' },
    { name: 'headers over their number', sent: `${get}${'x:y\r\n'.repeat(200)}\r\n`, kind: 'headers too large /' },
    { name: 'a flood of headers', sent: `${get}${'x:y\r\n'.repeat(100_000)}\r\n`, kind: 'headers too large' },
    {
      name: 'a target over the size of headers',
      sent: `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      kind: 'url too large',
    },
    { name: 'an expectation of something else', sent: `${get}Expect: a-miracle\r\n\r\n`, kind: 'expectation /' },
    { name: 'a tunnel', sent: 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\nabc', kind: 'tunnel' },
  ];
  for (const { name, sent, kind } of wrong) {
    test(`as ${name} is refused in the stated shape and the connection closed`, async (t) => {
      const { client, failures } = await opened(t, echo);
      const one = client().send(sent);
      const reply = await one.next();
      assert.equal(reply.body, kind);
      assert.equal(reply.headers.connection, 'close');
      assert.ok(reply.headers.date);
      assert.equal(await one.rest(), '');
      assert.deepEqual(failures, []);
      assert.equal((await client().ask('/next').next()).status, 200);
    });
  }

  test('as the preface of HTTP/2 ends the connection', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    await one.rest();
    assert.equal((await client().ask('/next').next()).status, 200);
  });

  test('as a target over its own bound is refused, and a header block has its own size', async (t) => {
    const { client } = await opened(t, echo, { urlBytesMax: 100, headerBytesMax: 1000 });
    const longest = `/${'a'.repeat(99)}`;
    assert.equal((await client().ask(longest).next()).status, 200);
    assert.equal((await client().ask(`${longest}a`).next()).status, 462);
    assert.equal(
      (
        await client()
          .ask(`${longest}${'a'.repeat(2000)}`)
          .next()
      ).status,
      462,
    );
    assert.equal(
      (
        await client()
          .send(`GET ${longest} HTTP/1.1`, 'Host: x', `X: ${'a'.repeat(990)}`, '', '')
          .next()
      ).status,
      200,
    );
    assert.equal(
      (
        await client()
          .send(`GET ${longest} HTTP/1.1`, 'Host: x', `X: ${'a'.repeat(1100)}`, '', '')
          .next()
      ).status,
      461,
    );
  });

  test('has the own shape where none is stated', async (t) => {
    const { client } = await opened(t, echo, { refuseRaw: undefined });
    const reply = await client().send('nonsense\r\n\r\n').next();
    assert.deepEqual([reply.status, reply.headers['content-type']], [400, 'application/problem+json']);
    assert.equal(JSON.parse(reply.body).status, 400);
  });

  test('is refused after the replies to what was asked before it', async (t) => {
    const slow = gate();
    const { client } = await opened(t, async ({ path }) => {
      if (path === '/1') await slow.promise;
      return text(200, path);
    });
    const one = client().ask('/1').ask('/2').send('nonsense\r\n\r\n');
    setTimeout(() => one.send('more nonsense\r\n\r\n'), 20);
    setTimeout(slow.resolve, 50);
    const replies = [await one.next(), await one.next(), await one.next()];
    assert.deepEqual(
      replies.map(({ body }) => body),
      ['/1', '/2', 'malformed'],
    );
    assert.equal(await one.rest(), '');
  });

  test('is not refused where the request was answered before its body broke', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send('POST /a HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', '', '');
    assert.equal((await one.next()).body, 'POST /a? -');
    assert.equal(await one.send('zz\r\n').rest(), '');
  });

  test('reaches a client that goes on sending', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send(`GET /${'a'.repeat(2_000_000)} HTTP/1.1`, 'Host: x', '', '');
    assert.equal((await one.next()).body, 'url too large');
    one.send('a'.repeat(2_000_000)).socket.end();
    await one.closed;
    assert.equal(one.error, undefined);
  });
});

describe('a slow or lost client', () => {
  test('that says nothing is told so and let go', async (t) => {
    const { client } = await opened(t, echo, { headersTimeoutMs: 50 });
    const one = client();
    assert.equal((await one.next()).body, 'timeout');
    assert.equal(await one.rest(), '');
  });

  test('that does not end its headers is told so and let go', async (t) => {
    const { client } = await opened(t, echo, { headersTimeoutMs: 100 });
    const one = client().send('GET / HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => one.send('X: y\r\n'), 10);
    t.after(() => clearInterval(drip));
    assert.equal((await one.next()).body, 'timeout');
    clearInterval(drip);
    assert.equal(await one.rest(), '');
  });

  test('that does not end its body is told so and let go, and its exchange ends', async (t) => {
    const ended = gate<unknown>();
    const answer: Answering = async (call) => {
      const body = await Promise.resolve(call.body(10)).catch((error: unknown) => {
        ended.resolve(error);
        throw error;
      });
      return text(200, String(body));
    };
    const { client, failures } = await opened(t, answer, { requestTimeoutMs: 100 });
    const one = client().send('POST /slow?a HTTP/1.1', 'Host: x', 'Content-Length: 3', '', 'a');
    assert.equal((await one.next()).body, 'timeout /slow');
    one.socket.end();
    assert.ok((await ended.promise) instanceof ClientGone);
    assert.deepEqual(failures, []);
  });

  test('that does not end a body nobody reads has its reply, once', async (t) => {
    const { client } = await opened(t, echo, { requestTimeoutMs: 100 });
    const one = client().send('POST /a HTTP/1.1', 'Host: x', 'Content-Length: 3', '', 'a');
    assert.equal((await one.next()).body, 'POST /a? -');
    assert.equal(await one.rest(), '');
  });

  test('whose answer takes long is not let go', async (t) => {
    const answer: Answering = async (call) => {
      await call.body(10);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return text(200, 'late');
    };
    const { client } = await opened(t, answer, { headersTimeoutMs: 50, requestTimeoutMs: 50, keepAliveTimeoutMs: 50 });
    const one = client().send('POST / HTTP/1.1', 'Host: x', 'Content-Length: 1', '', 'a');
    assert.equal((await one.next()).body, 'late');
  });

  test('that asks nothing more is let go', async (t) => {
    const { client } = await opened(t, echo, { keepAliveTimeoutMs: 50 });
    const one = client().ask('/');
    await one.next();
    assert.equal(await one.rest(), '');
  });

  test('that takes no reply is cut off', async (t) => {
    const { client } = await opened(t, () => text(200, 'a'.repeat(64 * 1024 * 1024)), { requestTimeoutMs: 100 });
    const one = client().ask('/');
    one.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    one.socket.resume();
    await assert.rejects(one.next(), /the connection ended/);
  });

  for (const [name, sent] of Object.entries({
    nothing: '',
    'half a request line': 'GET /',
    'half a header block': 'GET / HTTP/1.1\r\nHost: x\r\nX-A',
    'half a body': 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na',
    'half a chunk': 'POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na',
  })) {
    test(`that ends its side after ${name} is let go, refused where it had begun`, async (t) => {
      const { client, failures } = await opened(t, echo);
      const one = client().send(sent);
      one.socket.end();
      assert.match(await one.rest(), sent === '' ? /^$/ : /^HTTP\/1\.1 460 .*\r\n\r\nmalformed/s);
      assert.deepEqual(failures, []);
    });

    test(`that breaks off after ${name} harms nobody`, async (t) => {
      const { client, failures } = await opened(t, echo);
      const one = client().send(sent);
      await new Promise((resolve) => setTimeout(resolve, 20));
      one.socket.resetAndDestroy();
      await one.closed;
      assert.equal((await client().ask('/next').next()).status, 200);
      assert.deepEqual(failures, []);
    });
  }

  const gone = [
    { name: 'that breaks off while it is read', waits: false },
    { name: 'that is gone before its body is asked for', waits: true },
  ];
  for (const { name, waits } of gone) {
    test(`${name} ends its exchange quietly`, async (t) => {
      const ended = gate<unknown>();
      const { client, failures } = await opened(t, async (call) => {
        one.socket.resetAndDestroy();
        if (waits) await new Promise((resolve) => setTimeout(resolve, 50));
        const body = await Promise.resolve(call.body(1024)).catch((error: unknown) => {
          ended.resolve(error);
          throw error;
        });
        return text(200, String(body));
      });
      const one = client().send('POST / HTTP/1.1', 'Host: x', 'Content-Length: 3', '', 'a');
      assert.ok((await ended.promise) instanceof ClientGone);
      assert.deepEqual(failures, []);
    });
  }

  test('that is gone when its answer comes harms nobody', async (t) => {
    const answered = gate();
    const { client, failures } = await opened(t, async ({ path }) => {
      if (path === '/next') return text(200, '');
      one.socket.resetAndDestroy();
      await new Promise((resolve) => setTimeout(resolve, 50));
      answered.resolve();
      return text(200, 'a'.repeat(1_000_000));
    });
    const one = client().ask('/').ask('/');
    await answered.promise;
    assert.equal((await client().ask('/next').next()).status, 200);
    assert.deepEqual(failures, []);
  });
});

describe('a body that nobody reads', () => {
  test('of a known length is read away, and the connection goes on', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send('POST /a HTTP/1.1', 'Host: x', 'Content-Length: 3000000', '', '');
    const reply = await one.next();
    assert.deepEqual([reply.body, reply.headers.connection], ['POST /a? -', 'keep-alive']);
    one.send('a'.repeat(3_000_000)).ask('/b');
    assert.equal((await one.next()).body, 'GET /b? -');
  });

  for (const length of ['Content-Length: 3000000', 'Transfer-Encoding: chunked']) {
    test(`with ${length}, too long to be kept, leaves its reply readable`, async (t) => {
      const { client } = await opened(t, echo, { drainBytesMax: 2_999_999 });
      const one = client().send('POST /read HTTP/1.1', 'Host: x', length, '', '');
      // All of it is sent before the reply is looked at.
      const chunk = length.startsWith('T') ? `1e8480\r\n${'a'.repeat(2_000_000)}\r\n0\r\n\r\n` : 'a'.repeat(2_000_000);
      await new Promise<void>((resolve) => one.socket.write(chunk, () => resolve()));
      const reply = await one.next();
      assert.deepEqual([reply.body, reply.headers.connection], ['POST /read? too large', 'close']);
      if (length.startsWith('C')) one.send('a'.repeat(1_000_000));
      assert.equal(await one.rest(), '');
    });
  }

  test('any further is left unread until its reply is made', async (t) => {
    const ready = gate();
    const { client } = await opened(t, async (call) => {
      const body = await call.body(10);
      await ready.promise;
      return text(200, String(body));
    });
    const one = client().send(
      'POST / HTTP/1.1',
      'Host: x',
      'Transfer-Encoding: chunked',
      '',
      `1e84800\r\n${'a'.repeat(32_000_000)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(one.socket.writableLength > 0);
    ready.resolve();
    assert.equal((await one.next()).body, 'too large');
  });

  test('and never ends is read no further than the bound, and no longer', async (t) => {
    const sent = 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n';
    const byBytes = (await opened(t, echo, { drainBytesMax: 1000 })).client().send(sent);
    assert.equal((await byBytes.next()).body, 'POST /a? -');
    await byBytes.send('a'.repeat(2000)).rest();
    const byTime = (await opened(t, echo, { drainBytesMax: 1000, lingerMs: 50 })).client().send(sent);
    assert.equal((await byTime.next()).body, 'POST /a? -');
    await byTime.rest();
  });
});

describe('a client that expects 100-continue', () => {
  const head = (length: number) => [
    'POST /read HTTP/1.1',
    'Host: x',
    'Expect: 100-continue',
    `Content-Length: ${length}`,
    '',
    '',
  ];

  test('is told to go on when its body is read', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send(...head(3));
    assert.equal((await one.next()).status, 100);
    assert.equal((await one.send('abc').next()).body, 'POST /read? abc');
    assert.equal((await one.ask('/next').next()).status, 200);
  });

  test('is refused before it sends a body that is too large', async (t) => {
    const { client } = await opened(t, echo);
    const one = client().send(...head(1025));
    const reply = await one.next();
    assert.deepEqual([reply.status, reply.body, reply.headers.connection], [200, 'POST /read? too large', 'close']);
    assert.equal(await one.rest(), '');
  });
});

describe('close', () => {
  test('ends idle connections at once', async (t) => {
    const { client, close, port } = await opened(t, echo, { graceMs: 60_000 });
    const [idle, silent, half] = [client().ask('/'), client(), client().send('GET / HT')];
    await idle.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await close();
    for (const one of [idle, silent, half]) assert.equal(await one.rest(), '');
    await assert.rejects(new Client(port).ask('/').next());
  });

  test('lets a running request finish, and tells its client', async (t) => {
    const [begun, slow] = [gate(), gate()];
    const { client, close, port } = await opened(t, async ({ path }) => {
      begun.resolve();
      await slow.promise;
      return text(200, path);
    });
    const one = client().ask('/running');
    await begun.promise;
    const closing = close();
    // Connections that were made before it listens no more are taken.
    for (let late = new Client(port); ; late = new Client(port)) {
      const isRefused = await Promise.race([
        late.closed.then(() => true),
        once(late.socket, 'connect').then(
          () => false,
          () => true,
        ),
      ]);
      late.socket.destroy();
      if (isRefused) break;
    }
    slow.resolve();
    const reply = await one.next();
    assert.deepEqual([reply.body, reply.headers.connection], ['/running', 'close']);
    await closing;
    assert.equal(await one.rest(), '');
    assert.equal(await close(), undefined);
  });

  test('waits for a reply that is being taken', async (t) => {
    const { client, close } = await opened(t, () => text(200, 'a'.repeat(12 * 1024 * 1024)), { graceMs: 60_000 });
    const one = client();
    one.socket.pause();
    one.ask('/');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closing = close();
    one.socket.resume();
    assert.equal((await one.next()).body.length, 12 * 1024 * 1024);
    await closing;
  });

  test('cuts off what takes longer than its grace', async (t) => {
    const begun = gate();
    const { client, close } = await opened(
      t,
      () => {
        begun.resolve();
        return new Promise(() => {});
      },
      { graceMs: 50 },
    );
    const one = client().ask('/');
    await begun.promise;
    await close();
    assert.equal(await one.rest(), '');
  });
});

test('a listener answers for a server of somebody else', async (t) => {
  const server = createServer(createListener(echo, { urlBytesMax: 10 }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  assert.equal(await (await fetch(`${url}/read?q`, { method: 'POST', body: 'abc' })).text(), 'POST /read?q abc');
  assert.equal((await fetch(`${url}/long/path/`)).status, 414);
});

test('an address in words is one that can be asked', async (t) => {
  for (const host of ['0.0.0.0', '127.0.0.1']) {
    const { url, port } = await opened(t, echo, { host });
    assert.equal(url, `http://127.0.0.1:${port}`);
    assert.equal((await fetch(url)).status, 200);
  }
});

test('the bounds are told in words', () => {
  assert.deepEqual(doorBounds({ urlBytesMax: 8192, headersTimeoutMs: 1500 }), [
    'The target of a request takes up to 8 KiB (414).',
    'The headers take up to 16 KiB, in 200 headers (431).',
    'The headers of a request have 1500 ms to arrive, the whole request 120 s (408).',
    'A reply that is not taken for 120 s is cut off.',
    'A connection on which nothing is asked for 60 s is closed.',
    '16,384 connections are open at a time, 1,024 of them from one address; more are closed.',
    'Of a body that is refused, up to 16 MiB are read away before the connection is closed.',
  ]);
  assert.match(doorBounds()[0]!, /^The target and the headers take up to 16 KiB/);
});

test('whatever bytes come in, the next proper request is answered', async (t) => {
  const { client, failures } = await opened(t, echo, { requestTimeoutMs: 1000, graceMs: 100 });
  const words = [
    'GET',
    'POST',
    'CONNECT',
    ' ',
    '/',
    '/read',
    '?',
    '*',
    'http://x',
    'HTTP/1.1',
    'HTTP/1.0',
    '\r\n',
    '\r\n\r\n',
    '\n',
  ];
  const names = ['Host: x', 'Content-Length: 3', 'Transfer-Encoding: chunked', 'Expect: 100-continue', 'Upgrade: h2c'];
  const more = ['Connection: upgrade', 'Connection: close', '3\r\nabc\r\n', '0\r\n\r\n', 'abc', '\x00', '\xff', ':'];
  const grammar = fc.array(fc.constantFrom(...words, ...names, ...more), { maxLength: 30 }).map((pieces) => pieces.join(''));
  const request = fc
    .tuple(fc.constantFrom('GET', 'POST', 'HEAD', 'PUT'), fc.array(fc.constantFrom(...names, ...more)), grammar)
    .map(([method, headers, rest]) => `${method} /read HTTP/1.1\r\n${['Host: x', ...headers].join('\r\n')}\r\n\r\n${rest}`);
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString('latin1'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(grammar, request, bytes), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (pieces, ends) => {
        const one = client();
        for (const piece of pieces) one.send(piece);
        if (ends) {
          one.socket.end();
          await one.rest();
        } else {
          one.socket.destroySoon();
        }
        assert.equal((await client().ask('/next').next()).body, 'GET /next? -');
        one.socket.destroy();
      },
    ),
    { numRuns: 300 },
  );
  assert.deepEqual(failures, []);
});
