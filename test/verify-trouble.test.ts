import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { isLong } from './long.ts';
import { assertWhole, verdictsOn } from './verify/trouble.ts';

/** Longer than the time that is given, what may be looked at again, and cleaning up: who is here then hangs. */
const timeout = 30_000;

const http = (head: string, body = '') => `HTTP/1.1 ${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const json = (body: string, status = '200 OK') => http(`${status}\r\nContent-Type: application/json`, body);

/** Writes one piece after another for as long as somebody reads. */
function flood(socket: Socket, piece: string | Buffer, everyMs = 0): void {
  const more = () => {
    while (!socket.destroyed && everyMs === 0 && socket.write(piece));
    if (!socket.destroyed && everyMs > 0 && socket.write(piece)) setTimeout(more, everyMs);
  };
  socket.on('drain', more);
  more();
}

/** Writes a text sign by sign. */
function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || at >= text.length) clearInterval(timer);
    else socket.write(text.charAt(at));
    at += 1;
  }, everyMs);
}

type Answer = (socket: Socket, request: string) => void;

/** What shows nothing. */
const mute: readonly (readonly [what: string, answer: Answer])[] = [
  ['never answers', () => {}],
  ['closes every connection', (socket) => socket.destroy()],
  ['resets every connection', (socket) => socket.resetAndDestroy()],
  ['answers what is no HTTP', (socket) => socket.end('\u0000\u0001garbage\r\n\r\n')],
  ['greets in another protocol', (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
  ['stops in the middle of a status line', (socket) => socket.end('HTTP/1.1 20')],
  ['stops in the middle of its headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: applica')],
  ['stops in the middle of an answer', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id":')],
  ['stops in the middle of a chunk', (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"id"')],
  ['waits in the middle of its headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Type: applica')],
  ['waits in the middle of an answer', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id":')],
  ['announces less than it sends', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"id":"a","text":"b"}')],
  ['announces a length that is none', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}')],
  [
    'announces a length that no number has',
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(40)}\r\n\r\n{}`),
  ],
  ['announces two lengths', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ')],
  [
    'ends no body',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[');
      flood(socket, Buffer.alloc(65_536, '1,'));
    },
  ],
  [
    'ends no headers',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, 'X-More: and more\r\n'.repeat(1_000));
    },
  ],
  ['goes on saying that one shall go on', (socket) => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100), 1)],
  [
    'speaks another protocol from here on',
    (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  ],
  ['answers sign by sign', (socket) => drip(socket, json('{"id":"a","text":"b","stars":1}'), 20)],
  ['answers with nothing but a trickle', (socket) => flood(socket, ' ', 20)],
  [
    'answers a page for people to everything',
    (socket) => socket.write(http('200 OK\r\nContent-Type: text/html', '<h1>Hello</h1>')),
  ],
  ['answers null to everything', (socket) => socket.write(json('null', '201 Created'))],
  ['answers a list of lists to everything', (socket) => socket.write(json('[[[]]]'))],
  [
    'answers bytes that are no text',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n');
      socket.write(Buffer.from([0x22, 0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0x22]));
    },
  ],
  ['sends on in a circle', (socket) => socket.write(http('302 Found\r\nLocation: /notes'))],
  ['sends on to another machine', (socket) => socket.write(http('307 Elsewhere\r\nLocation: http://192.0.2.1/notes'))],
  ['has a status that is none', (socket) => socket.write(http('999 Well\r\nContent-Type: application/json', '{}'))],
  ['asks for years of patience', (socket) => socket.write(http('429 Slow\r\nRetry-After: 99999999999', ''))],
  ['asks for patience until a day that is none', (socket) => socket.write(http('503 No\r\nRetry-After: tomorrow', ''))],
  [
    'answers 500 with a stack to everything',
    (socket) => socket.write(http('500 Oops\r\nContent-Type: text/plain', 'Error: x\n    at f (/srv/app.js:1:2)')),
  ],
  ['answers nothing in particular', (socket) => socket.write(http('299 Well\r\nContent-Type: application/json', '{"a":'))],
  ['sends a body where there is none', (socket) => socket.write('HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n{}')],
];

/** What shows something, if little. */
const odd: readonly (readonly [what: string, answer: Answer])[] = [
  ['answers two hundred thousand lists in each other', (socket) => socket.write(json(`${'['.repeat(2e5)}${']'.repeat(2e5)}`))],
  [
    'answers maps in each other, which nobody closes',
    (socket) => socket.write(json(`{"id":"a","data":${'{"data":'.repeat(50_000)}`)),
  ],
  [
    'answers numbers that no machine has',
    (socket) => socket.write(json(`{"id":1e999,"stars":-1e999,"length":${'9'.repeat(5_000)}}`)),
  ],
  [
    'answers names that objects have',
    (socket) => socket.write(json('{"__proto__":{"id":1},"constructor":1,"hasOwnProperty":2,"toString":3}')),
  ],
  [
    'says that its text is packed',
    (socket) => socket.write(http('200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip', '{}')),
  ],
  [
    'says that it is in a charset that is none',
    (socket) => socket.write(http('200 OK\r\nContent-Type: application/json; charset=klingon', '{}')),
  ],
  [
    'is of another time',
    (socket) => socket.write(http('200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: application/json', '{}')),
  ],
  ['closes whatever it has answered', (socket) => socket.end(json('{"id":"a"}'))],
];

/** Some of them, but in the long run. */
function everyThird<T>(rows: readonly T[]): readonly T[] {
  return rows.filter((_, at) => isLong || at % 3 === 0);
}

describe('a service', { concurrency: 4 }, () => {
  for (const [what, answer] of everyThird(mute)) {
    test(`that ${what} gets verdicts, and none that something is held which it does not show`, { timeout }, async () => {
      const report = await verdictsOn(answer);
      assertWhole(report);
      const held = report.facts.filter(({ verdict, part }) => verdict === 'held' && (part === 'states' || part === 'resources'));
      assert.deepEqual(
        held.map(({ kind, subject }) => `${kind} ${subject}`),
        [],
      );
    });
  }
  for (const [what, answer] of everyThird(odd)) {
    test(`that ${what} gets verdicts, and something is said to be broken`, { timeout }, async () => {
      const report = await verdictsOn(answer);
      assertWhole(report);
      assert.ok(report.total.broken > 0);
    });
  }
});
