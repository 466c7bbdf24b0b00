import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { Call, Reply } from '../src/serve/http/call.ts';
import { listen } from '../src/serve/http/socket.ts';

const ok = (body: string): Reply => ({ status: 200, headers: { 'content-type': 'text/plain' }, body });

/** Sends bytes, and gives all that comes back until the connection ends or so many answers have come. */
async function exchange(port: number, bytes: string, answers: number): Promise<readonly string[]> {
  const socket = connect({ port, host: '127.0.0.1' });
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (piece: string) => {
    text += piece;
    if (text.split('HTTP/1.1 200').length > answers) socket.end();
  });
  socket.write(bytes);
  await once(socket, 'close');
  return [...text.matchAll(/\r\n\r\n([^H]*)/g)].map(([, body = '']) => body);
}

const asked = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

test('of requests that are sent ahead few are at work at a time, and all are answered in their order', async () => {
  let atWork = 0;
  let most = 0;
  const answer = async ({ path }: Call) => {
    most = Math.max(most, ++atWork);
    await new Promise((resolve) => setImmediate(resolve));
    atWork -= 1;
    return ok(path);
  };
  const server = await listen(answer, { port: 0, host: '127.0.0.1' });
  const paths = Array.from({ length: 3000 }, (_, n) => `/${n}`);
  const bodies = await exchange(server.port, paths.map((path) => asked(path)).join(''), paths.length);
  assert.deepEqual(bodies, paths);
  assert.ok(most > 1 && most <= 65, `${most} were at work at once`);
  await server.close();
});

test('requests behind one that says that it is the last are not carried out', async () => {
  const seen: string[] = [];
  const answer = async ({ path }: Call) => {
    seen.push(path);
    await new Promise((resolve) => setImmediate(resolve));
    return ok(path);
  };
  const server = await listen(answer, { port: 0, host: '127.0.0.1' });
  const bodies = await exchange(server.port, asked('/a') + asked('/b', 'Connection: close\r\n') + asked('/c') + asked('/d'), 9);
  assert.deepEqual(bodies, ['/a', '/b']);
  assert.deepEqual(seen, ['/a', '/b']);
  await server.close();
});
