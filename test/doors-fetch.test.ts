import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientGone } from '../src/serve/http/bounds.ts';
import type { Call, Reply } from '../src/serve/http/call.ts';
import { type FetchDoorOptions, fetchDoor } from '../src/serve/http/fetch.ts';

/** What a call says, as it comes back. */
async function said(says: (call: Call) => unknown, url: string, init?: RequestInit): Promise<unknown> {
  const door = fetchDoor(async (call) => reply({ body: JSON.stringify(await says(call)) }));
  return (await door(new Request(url, init))).json();
}

function reply(some: Partial<Reply>): Reply {
  return { status: 200, headers: {}, body: undefined, ...some };
}

/** A body that comes in pieces, and what became of it. */
function stream(pieces: readonly (string | Error)[]) {
  const seen = { isCancelled: false };
  const rest = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = rest.shift();
      if (piece === undefined) controller.close();
      else if (piece instanceof Error) controller.error(piece);
      else controller.enqueue(new TextEncoder().encode(piece));
    },
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { init: { method: 'POST', body, duplex: 'half' } as const, seen };
}

describe('a call through fetch', () => {
  const calls: readonly {
    readonly url: string;
    readonly init?: RequestInit;
    readonly says: (call: Call) => unknown;
    readonly is: unknown;
  }[] = [
    {
      url: 'http://h/a/%2e%2E%2f//b?c=%20&d?e#f?g',
      says: ({ path, query }) => [path, query],
      is: ['/a/%2e%2E%2f//b', 'c=%20&d?e'],
    },
    { url: 'http://h', says: ({ path, query }) => [path, query], is: ['/', ''] },
    { url: 'http://h?a', says: ({ path, query }) => [path, query], is: ['/', 'a'] },
    { url: 'http://h:8080/', says: ({ headers, address }) => [headers.host, address], is: ['h:8080', '127.0.0.1'] },
    {
      url: 'http://h/',
      init: {
        headers: [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
      },
      says: ({ headers }) => headers['x-a'],
      is: '1, 2',
    },
    { url: 'http://h/', says: ({ headers }) => headers.constructor === undefined, is: true },
    {
      url: 'http://h/',
      init: { headers: { 'X-A': '1' } },
      says: ({ headerBytes }) => headerBytes,
      is: 'host: h\r\nx-a: 1\r\n'.length,
    },
    { url: 'http://h/', says: ({ hasBody, body }) => [hasBody, String(body(1))], is: [false, ''] },
    {
      url: 'http://h/',
      init: { method: 'POST', body: 'abc' },
      says: async (call) => [call.hasBody, String(await call.body(3))],
      is: [true, 'abc'],
    },
    {
      url: 'http://h/',
      init: { method: 'POST', body: 'abc' },
      says: async (call) => String(await call.body(2)),
      is: 'too large',
    },
    {
      url: 'http://h/',
      init: { method: 'POST', body: 'abc' },
      says: async (call) => `${await call.body(3)} ${await call.body(3)}`,
      is: 'abc abc',
    },
    { url: 'http://h/', init: stream(['ab', 'c']).init, says: async (call) => String(await call.body(3)), is: 'abc' },
  ];
  for (const { url, init, says, is } of calls) {
    test(`says what ${url} ${JSON.stringify(init ?? {})} is: ${JSON.stringify(is)}`, async () => {
      assert.deepEqual(await said(says, url, init), is);
    });
  }

  test('stops a body that is too large', async () => {
    const { init, seen } = stream(['ab', 'cd', 'ef']);
    assert.equal(await said(async (call) => String(await call.body(3)), 'http://h/', init), 'too large');
    assert.equal(seen.isCancelled, true);
  });

  test('does not read a body that says it is too large', async () => {
    const { init, seen } = stream([new Error('read')]);
    const answer = said(async (call) => String(await call.body(3)), 'http://h/', { ...init, headers: { 'content-length': '4' } });
    assert.equal(await answer, 'too large');
    assert.equal(seen.isCancelled, false);
  });
});

describe('a reply through fetch', () => {
  const replies: readonly {
    readonly made: Partial<Reply>;
    readonly method?: string;
    readonly headers: Record<string, string>;
    readonly body: string | null;
  }[] = [
    { made: { body: 'ä' }, headers: { 'content-length': '2' }, body: 'ä' },
    { made: { body: new TextEncoder().encode('bytes') }, headers: { 'content-length': '5' }, body: 'bytes' },
    {
      made: { body: 'a', headers: { 'content-length': '9', 'x-a': '1' } },
      headers: { 'content-length': '1', 'x-a': '1' },
      body: 'a',
    },
    { made: {}, headers: { 'content-length': '0' }, body: null },
    { made: { body: 'text' }, method: 'HEAD', headers: { 'content-length': '4' }, body: null },
    { made: { status: 204, body: 'not to be sent' }, headers: {}, body: null },
    { made: { status: 304 }, headers: {}, body: null },
  ];
  for (const { made, method = 'GET', headers, body } of replies) {
    test(`to ${method} of ${JSON.stringify(made)} has the same headers and body as on a socket`, async () => {
      const response = await fetchDoor(() => reply(made))(new Request('http://h/', { method }));
      assert.equal(response.status, made.status ?? 200);
      assert.deepEqual(Object.fromEntries(response.headers), headers);
      assert.equal(response.body === null ? null : await response.text(), body);
    });
  }
});

describe('what fails behind fetch', () => {
  async function failed(answer: (call: Call) => Reply | Promise<Reply>, options: FetchDoorOptions = {}) {
    const failures: unknown[] = [];
    const refuseRaw = (kind: string, path: string) => reply({ status: 560, body: `${kind} ${path}` });
    const door = fetchDoor(answer, { refuseRaw, onFailure: (failure) => failures.push(failure), ...options });
    const response = await door(new Request('http://h/a?b'));
    return { answer: `${response.status} ${await response.text()}`, failures: failures.length };
  }
  const lost = () => {
    throw new Error('lost');
  };

  test('is told and answered as internal', async () => {
    for (const answer of [
      lost,
      () => Promise.reject(new Error('lost')),
      () => reply({ headers: { 'x-a': 'a\nb' } }),
      () => reply({ status: 7 }),
    ])
      assert.deepEqual(await failed(answer), { answer: '560 internal /a', failures: 1 });
  });

  test('has the own shape where the stated one fails', async () => {
    const { answer, failures } = await failed(lost, { refuseRaw: lost });
    assert.match(answer, /^500 \{"type":"about:blank","title":"Internal Server Error"/);
    assert.equal(failures, 2);
  });

  test('is a rejection where the body of the request breaks off', async () => {
    const failures: unknown[] = [];
    const door = fetchDoor(async (call) => reply({ body: String(await call.body(9)) }), {
      onFailure: (failure) => failures.push(failure),
    });
    await assert.rejects(door(new Request('http://h/', stream(['a', new Error('gone')]).init)), ClientGone);
    assert.deepEqual(failures, []);
  });
});
