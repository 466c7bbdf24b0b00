import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { check, parseDocument, type VerifyReport } from '../src/index.ts';
import { verify } from '../src/verify/verify.ts';
import { notes } from './verify/notes.ts';
import { openStand } from './verify/stand.ts';

const { spec } = check(parseDocument(notes, 'notes.yaml'));

/** What is said of a service that does this with every connection. */
async function verdictsOn(answer: (socket: Socket, request: string) => void): Promise<VerifyReport> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => answer(socket, chunk.toString('latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    // The cast holds: a server that listens on a port has an address with one.
    const { port } = server.address() as AddressInfo;
    return await verify(spec, { url: `http://127.0.0.1:${port}`, seed: 1, answerMs: 150, timeMs: 8_000, requests: 400 });
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

const http = (head: string, body = '') => `HTTP/1.1 ${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const troubles: readonly (readonly [what: string, answer: (socket: Socket, request: string) => void])[] = [
  ['never answers', () => {}],
  ['closes every connection', (socket) => socket.destroy()],
  ['answers what is no HTTP', (socket) => socket.end('\u0000\u0001garbage\r\n\r\n')],
  ['stops in the middle of an answer', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id":')],
  [
    'answers a page for people to everything',
    (socket) => socket.write(http('200 OK\r\nContent-Type: text/html', '<h1>Hello</h1>')),
  ],
  ['answers null to everything', (socket) => socket.write(http('201 Created\r\nContent-Type: application/json', 'null'))],
  ['answers a list of lists to everything', (socket) => socket.write(http('200 OK\r\nContent-Type: application/json', '[[[]]]'))],
  [
    'answers 500 with a stack to everything',
    (socket) => socket.write(http('500 Oops\r\nContent-Type: text/plain', 'Error: x\n    at f (/srv/app.js:1:2)')),
  ],
  ['answers nothing in particular', (socket) => socket.write(http('299 Well\r\nContent-Type: application/json', '{"a":'))],
];

for (const [what, answer] of troubles) {
  test(`a service that ${what} gets verdicts, and none that something is held which it does not show`, async () => {
    const report = await verdictsOn(answer);
    assert.deepEqual(
      report.notes.filter((note) => note.includes('fault')),
      [],
    );
    assert.equal(report.facts.length, report.total.held + report.total.broken + report.total['not testable'] + report.total.open);
    const held = report.facts.filter(({ verdict, part }) => verdict === 'held' && (part === 'states' || part === 'resources'));
    assert.deepEqual(
      held.map(({ kind, subject }) => `${kind} ${subject}`),
      [],
    );
  });
}

test('a service that drops every ninth connection is not said to break what it keeps', async () => {
  const stand = await openStand(notes);
  let count = 0;
  const flaky = createHttpServer(async (request, response) => {
    count += 1;
    if (count % 9 === 0) {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const {
      host: _host,
      'content-length': _length,
      connection: _connection,
      'transfer-encoding': _encoding,
      ...headers
    } = request.headers;
    const answered = await fetch(stand.url + request.url, {
      ...{ method: request.method ?? 'GET', headers: headers as Record<string, string> },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(Buffer.from(await answered.arrayBuffer()));
  });
  await new Promise<void>((resolve) => flaky.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = flaky.address() as AddressInfo;
    const report = await stand.verify({ url: `http://127.0.0.1:${port}`, only: ['resources', 'states'], requests: 600 });
    const wrong = report.breaches.filter(({ reason }) => reason !== 'answers');
    assert.deepEqual(
      wrong.map(({ id }) => id),
      [],
    );
    assert.ok(report.total.held > 20);
  } finally {
    flaky.closeAllConnections();
    flaky.close();
    await stand.close();
  }
});
