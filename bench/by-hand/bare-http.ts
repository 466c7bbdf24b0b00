/**
 * The limit of what a server on node:http can do: it answers the same bytes as the service of `bench/small.md`, always
 * the same ones, and reads nothing but a sent body.
 *
 * node bench/by-hand/bare-http.ts --port N
 */
import { createServer, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { book } from '../books.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '3000' } } });

const stored = (n: number) => ({
  id: `01KAAAAAAAAAAAAAAAAAAA${String(n).padStart(4, '0')}`,
  ...book(n),
  created_at: '2026-01-01T00:00:00.000Z',
});
const one = Buffer.from(JSON.stringify(stored(9000)));
const page = Buffer.from(
  JSON.stringify({ data: Array.from({ length: 20 }, (_, n) => stored(9000 + n)), next_cursor: stored(9019).id }),
);

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString());
      answer(response, 201, one);
    });
  } else answer(response, 200, request.url?.startsWith('/books/') ? one : page);
});

function answer(response: ServerResponse, status: number, body: Buffer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
server.listen(Number(values.port), '127.0.0.1');
