import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { VerifyReport } from '../src/index.ts';
import { command } from './verify/command.ts';
import { notes } from './verify/notes.ts';
import { assertWhole, openTrouble } from './verify/trouble.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-hostile-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Whoever is here for so long hangs. */
const timeout = 30_000;
const timeMs = 1_200;

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const whole = (body: string, more = '') => `${head}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Writes for as long as somebody reads. */
function flood(socket: Socket, piece: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

/** Writes a sign now and then for as long as somebody is there. */
function drip(socket: Socket, sign: string): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(sign)), 50);
}

type Answer = (socket: Socket, request: string, asked: number) => void;

const hostile: Readonly<Record<string, Answer>> = {
  'takes connections and says nothing': () => {},
  'never ends its first answer': (socket, _request, asked) => {
    if (asked > 1) socket.write(whole('{}'));
    else {
      socket.write(`${head}\r\n`);
      drip(socket, ' ');
    }
  },
  'lets a body drip': (socket) => {
    socket.write(`${head}Content-Length: 1000000\r\n\r\n{`);
    drip(socket, ' ');
  },
  'never ends a header': (socket) => {
    socket.write(`${head}X-Long: `);
    drip(socket, 'x');
  },
  'has a header of any length': (socket) => {
    socket.write(`${head}X-Long: `);
    flood(socket, 'x'.repeat(65_536));
  },
  'has thousands of headers': (socket) => socket.write(whole('{}', 'A: b\r\n'.repeat(2_500))),
  'has more headers than anybody reads': (socket) => socket.write(whole('{}', 'A: b\r\n'.repeat(200_000))),
  'answers garbage': (socket) => socket.end(Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 151) % 256))),
  'sends ten gigabytes': (socket) => {
    socket.write(`${head}Content-Length: 10737418240\r\n\r\n`);
    flood(socket, Buffer.alloc(65_536, '['));
  },
  'sends on in a circle': (socket) => socket.write('HTTP/1.1 308 On\r\nLocation: /v1/notes\r\nContent-Length: 0\r\n\r\n'),
  'answers a million lists in each other': (socket) => socket.write(whole(`${'['.repeat(1e6)}${']'.repeat(1e6)}`)),
  'answers two million numbers': (socket) => socket.write(whole(`{"data":[1${',1'.repeat(2e6)}]}`)),
  'answers a text of seven megabytes': (socket) => socket.write(whole(`{"id":"${'SELECT FROM '.repeat(6e5)}"}`)),
  'refuses with a text that takes long to look through': (socket) =>
    socket.write(whole(`{"detail":"${'\\n'.repeat(2e6)}"}`).replace('200 OK', '500 No')),
  'links to pages that take long to look through': (socket) => socket.write(whole('{}', `Link: ${'<'.repeat(14_000)}\r\n`)),
  'is gone after a while': (socket, _request, asked) => {
    if (asked > 30) socket.destroy();
    else socket.write(whole('{"id":"a"}'));
  },
  'says no to everything for years': (socket) =>
    socket.write('HTTP/1.1 429 No\r\nRetry-After: 999999999\r\nContent-Length: 0\r\n\r\n'),
  'says no to everything for a second': (socket) =>
    socket.write('HTTP/1.1 429 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n'),
};

// Most of the time goes into waiting for what does not come.
describe('a service', { concurrency: 6 }, () => {
  for (const [what, answer] of Object.entries(hostile)) {
    test(`that ${what} gets a report in time, and an exit code that says so`, { timeout }, async () => {
      let asked = 0;
      const { url, close } = await openTrouble((socket, request) => {
        asked += 1;
        answer(socket, request, asked);
      });
      const path = join(folder, 'notes.yaml');
      writeFileSync(path, notes);
      try {
        const words = ['verify', path, '--url', url, '--seed', '1', '--time', `${timeMs}ms`, '--requests', '500', '--json'];
        const { code, out, err } = await command(words);
        const report: VerifyReport = JSON.parse(out);
        assertWhole(report);
        assert.doesNotMatch(err, /fault/);
        assert.equal(code, report.breaches.length > 0 ? 1 : 2, err);
        assert.ok(report.requests <= 500);
      } finally {
        close();
      }
    });
  }
});

test('a document whose patterns take for ever is verified, and what cannot be judged is not held', { timeout }, async () => {
  const document = notes.replace(
    'text: {',
    'odd: { type: string, pattern: "^(?!x)(a+)+\\\\1$" }\n      plain: { type: string, pattern: "^(a+)+$" }\n      text: {',
  );
  assert.notEqual(document, notes);
  const path = join(folder, 'patterns.yaml');
  writeFileSync(path, document);
  const body = JSON.stringify({ id: 'a', text: 'b', odd: `${'a'.repeat(60)}!`, plain: `${'a'.repeat(60)}!` });
  const { url, close } = await openTrouble((socket) => socket.write(whole(body).replace('200 OK', '201 Created')));
  try {
    const words = ['verify', path, '--url', url, '--seed', '1', '--time', '6s', '--json'];
    const { out } = await command(words);
    const report: VerifyReport = JSON.parse(out);
    const told = (subject: string) => report.breaches.filter((one) => one.subject === subject).map(({ promised }) => promised);
    assert.ok(told('note.plain').some((promised) => promised.includes('pattern')));
    assert.ok(!told('note.odd').some((promised) => promised.includes('pattern')));
    const odd = report.facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'note.odd');
    assert.notEqual(odd?.verdict, 'held');
  } finally {
    close();
  }
});
