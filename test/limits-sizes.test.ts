import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { parseDocument, type Service, serve } from '../src/index.ts';

/** Bounds of sizes, each met exactly and passed by one byte, through both doors. */
const bodyMax = 4096;
const fileMax = 1024;
const urlMax = 200;

const document = (sizes: string) =>
  parseDocument(
    `
purpose: { purpose: Tries sizes., users: { anybody: Asks. } }
resources: { note: { identifier: { field: id, generate: "{uuid}" }, fields: { id: string, text: string }, required: [id, text] } }
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note, parameters: { text: { in: query } } }
  POST /files: { does: handler keep file, as: keep file, consumes: [multipart/form-data], request: { type: object, properties: { file: { type: string, format: binary } } }, response: { 200: {} } }
authentication: none
errors: { payload: problem, codes: { too_large: { status: 418, when: limit.size } } }
limits: ${sizes}
`.replace('handler keep file', 'handler keep'),
    'sizes.yaml',
  );

let service: Service;
let wide: Service;
let door: Awaited<ReturnType<Service['listen']>>;
let wideDoor: Awaited<ReturnType<Service['listen']>>;
const handlers = { keep: async () => ({}) };

before(async () => {
  service = await serve(document(`{ size: { body: ${bodyMax}, url: ${urlMax}, headers: 1KiB, file: ${fileMax} } }`), {
    handlers,
  });
  wide = await serve(document('{ size: { body: 64KiB, url: 40KiB, headers: 50KiB } }'), { handlers });
  door = await service.listen({ port: 0, host: '127.0.0.1' });
  wideDoor = await wide.listen({ port: 0, host: '127.0.0.1' });
});
after(async () => {
  await door.close();
  await wideDoor.close();
  await service.close();
  await wide.close();
});

/** Sends bytes as they are; gives the status of the first answer and its body. */
function raw(port: number, text: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(text));
    socket.on('data', (piece) => {
      answer += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve([Number(answer.slice(9, 12)), answer]));
  });
}

/** A note whose body has so many bytes. */
function noteOf(bytes: number): string {
  return JSON.stringify({ text: 'x'.repeat(bytes - JSON.stringify({ text: '' }).length) });
}

const json = 'Content-Type: application/json';

test('a body is taken up to its last byte, and not one byte more, with a length or in chunks', async () => {
  for (const [bytes, status] of [
    [bodyMax, 201],
    [bodyMax + 1, 418],
  ] as const) {
    const body = noteOf(bytes);
    assert.equal(body.length, bytes);
    const headers = { 'content-type': 'application/json' };
    const fetched = await service.fetch(new Request('http://127.0.0.1/notes', { method: 'POST', headers, body }));
    assert.equal(fetched.status, status);
    const head = `POST /notes HTTP/1.1\r\nHost: a\r\n${json}\r\nConnection: close\r\n`;
    const [sized, answer] = await raw(door.port, `${head}Content-Length: ${bytes}\r\n\r\n${body}`);
    assert.equal(sized, status, answer);
    const chunks = [body.slice(0, 1000), body.slice(1000)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
    const [chunked] = await raw(door.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`);
    assert.equal(chunked, status);
    if (status === 418) assert.match(answer, /"code":"too_large"/);
  }
});

test('a target is taken up to its last byte, with and without a query', async () => {
  for (const start of ['/notes?text=', '/']) {
    for (const [bytes, isTaken] of [
      [urlMax, true],
      [urlMax + 1, false],
    ] as const) {
      const target = start.padEnd(bytes, 'x');
      const expected = isTaken ? (start === '/' ? 404 : 200) : 418;
      assert.equal((await service.fetch(new Request(`http://127.0.0.1${target}`))).status, expected);
      const [status] = await raw(door.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      assert.equal(status, expected);
    }
  }
});

test('headers are taken up to their last byte: names, values, and four bytes for each line', async () => {
  const lines = ['Host: a', 'Connection: close', 'X-Filler: '];
  const bytes = lines.reduce((sum, line) => sum + line.length + 2, 0);
  for (const [more, expected] of [
    [1024 - bytes, 200],
    [1025 - bytes, 418],
  ] as const) {
    const [status] = await raw(door.port, `GET /notes HTTP/1.1\r\n${lines.join('\r\n')}${'x'.repeat(more)}\r\n\r\n`);
    assert.equal(status, expected);
  }
});

test('what is stated larger than a door usually takes comes through the door', async () => {
  const filler = 'x'.repeat(49 * 1024);
  const target = '/notes?text='.padEnd(40 * 1024, 'x');
  const send = (line: string, header: string) =>
    raw(wideDoor.port, `GET ${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Filler: ${header}\r\n\r\n`);
  assert.equal((await send('/notes', filler))[0], 200);
  assert.equal((await send(target, filler))[0], 200);
  assert.equal((await send(`${target}x`, 'x'))[0], 418);
  assert.equal((await send('/notes', `${filler}${'x'.repeat(1024)}`))[0], 418);
});

test('a file is taken up to its last byte, and a text beside it as far as the body goes', async () => {
  const upload = async (fields: Record<string, Blob | string>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const response = await service.fetch(new Request('http://127.0.0.1/files', { method: 'POST', body }));
    return [response.status, ((await response.json()) as { code?: string }).code];
  };
  const file = (bytes: number) => new Blob([new Uint8Array(bytes)]);
  assert.deepEqual(await upload({ file: file(fileMax) }), [200, undefined]);
  assert.deepEqual(await upload({ file: file(fileMax + 1) }), [418, 'too_large']);
  assert.deepEqual(await upload({ file: file(1), note: 'x'.repeat(fileMax + 1) }), [200, undefined]);
});

test('bounds that nobody states are told at start, and those that are stated are not', async () => {
  const [open] = await Promise.all([serve(document('{}'), { handlers })]);
  const told = async (one: Service) => {
    const ledger = await one.fetch(new Request('http://127.0.0.1/.well-known/ninefold'));
    return ((await ledger.json()) as { bounds: string[] }).bounds.join(' ');
  };
  assert.deepEqual(
    open.notes.filter((note) => note.startsWith('To protect')),
    ['To protect the process: Bodies take up to 1 MiB (413). The ledger has 6 more such bounds.'],
  );
  assert.match(await told(open), /Bodies take up to 1 MiB.*headers take up to 16 KiB.*30 s.*120 s.*60 s/);
  assert.doesNotMatch(await told(open), /A rate/);
  assert.doesNotMatch(await told(service), /Bodies|The target/);
  const timed = await serve(document('{ size: { headers: 8KiB }, timeout: { request: 120s, idle: 60s } }'), { handlers });
  assert.match(await told(timed), /^Bodies .* The target of a request takes up to 16 KiB \(414\)\. .* Of a body/);
  await timed.close();
  await open.close();
});
