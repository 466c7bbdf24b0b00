import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { check, parseDocument, type VerifyOptions, type VerifyReport } from '../../src/index.ts';
import { verify } from '../../src/verify/verify.ts';
import { notes } from './notes.ts';

const { spec } = check(parseDocument(notes, 'notes.yaml'));

/** A server on a free port of this machine that does this with everything that comes; gives its address. */
export async function openTrouble(answer: (socket: Socket, request: string) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => answer(socket, chunk.toString('latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // The cast holds: a server that listens on a port has an address with one.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** What is said of a service that does this with every connection. */
export async function verdictsOn(
  answer: (socket: Socket, request: string) => void,
  options: Partial<VerifyOptions> = {},
): Promise<VerifyReport> {
  const { url, close } = await openTrouble(answer);
  try {
    return await verify(spec, { url, seed: 1, answerMs: 150, timeMs: 3_000, requests: 400, ...options });
  } finally {
    close();
  }
}

/** Every fact has its verdict, and nothing went wrong in ourselves. */
export function assertWhole({ notes: told, facts, total }: VerifyReport): void {
  assert.deepEqual(
    told.filter((note) => note.includes('fault')),
    [],
  );
  assert.equal(facts.length, total.held + total.partly + total.broken + total['not testable'] + total.open);
}
