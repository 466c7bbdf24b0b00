import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check, parseDocument, serve, type VerifyReport } from '../src/index.ts';
import { verify } from '../src/verify/verify.ts';
import { isLong } from './long.ts';
import { notes } from './verify/notes.ts';
import { openStand, type Stand } from './verify/stand.ts';
import { assertWhole } from './verify/trouble.ts';

/** Longer than the time that is given, what may be looked at again, and cleaning up: who is here then hangs. */
const timeout = 60_000;

/** What came of a request, and a way to hand it on. */
interface Passing {
  /** Counts from 1. */
  readonly number: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The answer of the service behind. */
  answer(): Promise<{ readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: Buffer }>;
  /** Hands it on as it is. */
  pass(): Promise<void>;
}

/** Verdicts on a good service behind something that does this with what passes. */
async function verdictsBehind(
  bend: (passing: Passing) => unknown,
  options: Parameters<Stand['verify']>[0] = {},
): Promise<VerifyReport> {
  const stand = await openStand(notes);
  const port = Number(new URL(stand.url).port);
  let number = 0;
  const front = createServer(async (request, response) => {
    number += 1;
    response.on('error', () => {});
    const sent: Buffer[] = [];
    for await (const chunk of request) sent.push(chunk as Buffer);
    const answer: Passing['answer'] = () =>
      new Promise((resolve, reject) => {
        const { method, url, headers } = request;
        const forward = ask({ port, host: '127.0.0.1', method, path: url, headers }, async (answered) => {
          const chunks: Buffer[] = [];
          for await (const chunk of answered) chunks.push(chunk as Buffer);
          resolve({ status: answered.statusCode ?? 0, headers: answered.headers, body: Buffer.concat(chunks) });
        });
        forward.on('error', reject);
        forward.end(Buffer.concat(sent));
      });
    const pass = async () => {
      const { status, headers, body } = await answer();
      response.writeHead(status, headers).end(body);
    };
    await bend({ number, request, response, answer, pass });
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  try {
    // The cast holds: a server that listens on a port has an address with one.
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    return await stand.verify({ url, only: ['resources', 'states'], requests: 600, timeMs: 15_000, ...options });
  } finally {
    front.closeAllConnections();
    front.close();
    await stand.close();
  }
}

/** What is wrong now and then, and which claims are about that alone. */
const rows: readonly (readonly [what: string, bend: (passing: Passing) => unknown])[] = [
  [
    'drops every ninth connection before it is asked',
    ({ number, request, pass }) => (number % 9 ? pass() : request.socket.destroy()),
  ],
  [
    'drops every ninth connection when it has done what was asked',
    async ({ number, request, answer, pass }) => {
      if (number % 9) return pass();
      await answer();
      request.socket.destroy();
    },
  ],
  [
    'stops in the middle of every ninth answer',
    async ({ number, request, response, answer, pass }) => {
      if (number % 9) return pass();
      const { status, headers, body } = await answer();
      response.writeHead(status, headers).write(body.subarray(0, body.length / 2));
      setTimeout(() => request.socket.destroy(), 5);
    },
  ],
  [
    'is not there for every ninth request',
    ({ number, response, pass }) => (number % 9 ? pass() : response.writeHead(503, { 'retry-after': '1' }).end()),
  ],
  [
    'sends every ninth request elsewhere',
    ({ number, response, pass }) => (number % 9 ? pass() : response.writeHead(302, { location: '/' }).end()),
  ],
  [
    'ends connections whenever it likes',
    async ({ number, request, response, pass }) => {
      if (number % 2) response.shouldKeepAlive = false;
      await pass();
      if (number % 3 === 0) request.socket.destroySoon();
    },
  ],
  [
    'takes its time for every ninth answer',
    async ({ number, pass }) => {
      if (number % 9 === 0) await new Promise((resolve) => setTimeout(resolve, 400));
      return pass();
    },
  ],
  [
    'answers in pieces of three bytes',
    async ({ response, answer }) => {
      const { status, headers, body } = await answer();
      response.writeHead(status, headers);
      for (let at = 0; at < body.length; at += 3) response.write(body.subarray(at, at + 3));
      response.end();
    },
  ],
];

describe('a service', { concurrency: 2 }, () => {
  for (const [what, bend] of isLong ? rows : rows.slice(1, 3)) {
    test(`that ${what} is not said to break what it keeps`, { timeout }, async () => {
      const report = await verdictsBehind(bend);
      assertWhole(report);
      const wrong = report.breaches.filter(({ reason }) => !['answers', 'status', 'stated'].includes(reason));
      assert.deepEqual(
        wrong.map(({ id, promised, seen }) => `${id}: ${promised}; ${seen}`),
        [],
      );
      assert.ok(report.total.held > 20, `${report.total.held} are held`);
    });
  }
});

/** How many requests it answers before it starts again, and how often it does. */
const restartEvery = 100;
const restartsMax = 2;

/** Serves the notes on one port; closes and serves them again every so many requests, with its rows or without. */
async function verdictsOnRestarting(store: string | undefined): Promise<{ report: VerifyReport; restarts: number }> {
  const document = parseDocument(notes, 'notes.yaml');
  let asked = 0;
  let restarts = 0;
  let restarting: Promise<void> | undefined;
  const start = async (port: number) => {
    const onExchange = () => {
      asked += 1;
      if (asked % restartEvery !== 0 || restarts === restartsMax) return;
      restarts += 1;
      // What has come in is answered while it stops, and may be enough for it to start again.
      restarting = Promise.resolve(restarting).then(restart);
    };
    const service = await serve(document, { development: true, onExchange, ...(store !== undefined && { store }) });
    const server = await service.listen({ port, host: '127.0.0.1' });
    const stop = async () => {
      await server.close();
      await service.close();
    };
    return { port: server.port, stop };
  };
  const restart = async () => {
    await running.stop();
    await new Promise((resolve) => setTimeout(resolve, 200));
    running = await start(running.port);
  };
  let running = await start(0);
  try {
    const url = `http://127.0.0.1:${running.port}`;
    const options = { url, seed: 1, requests: 1_500, timeMs: 20_000, only: ['resources', 'states'] };
    return { report: await verify(check(document).spec, options), restarts };
  } finally {
    await restarting;
    await running.stop();
  }
}

test('a service that starts again now and then, with its rows, is not said to break what it keeps', { timeout }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ninefold-flaky-'));
  try {
    const { report, restarts } = await verdictsOnRestarting(join(folder, 'notes.sqlite'));
    assert.equal(restarts, restartsMax);
    assertWhole(report);
    assert.deepEqual(
      report.breaches.filter(({ reason }) => reason !== 'answers').map(({ id, promised, seen }) => `${id}: ${promised}; ${seen}`),
      [],
    );
    assert.ok(report.total.held > 20, `${report.total.held} are held`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a service that starts again without its rows gets verdicts', { timeout }, async () => {
  const { report, restarts } = await verdictsOnRestarting(undefined);
  assert.equal(restarts, restartsMax);
  assertWhole(report);
  assert.ok(report.total.held > 20, `${report.total.held} are held`);
});

test('a service that goes away is not waited for again and again', { timeout }, async () => {
  let answered = 0;
  let gone: Promise<void> | undefined;
  const onExchange = (): void => {
    answered += 1;
    if (answered === 60) gone = stand.close();
  };
  const stand = await openStand(notes, { serve: { onExchange } });
  try {
    const report = await stand.verify({ only: ['resources', 'states'], timeMs: 20_000 });
    assert.ok(gone, 'it went away in between');
    assertWhole(report);
    assert.match(report.stopped ?? '', /no longer answers/);
  } finally {
    await (gone ?? stand.close());
  }
});
