import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, JsonMap } from '../../src/document/document.ts';

/** An address of the story's own, at which a service tells what has happened. */
export interface StoryListener {
  readonly url: string;
  /** What is answered from now on: a status, or `challenge`, which gives back what it was asked with. */
  answers(word: Json): void;
  /** What came since this was asked last, each as the value of its body. */
  heard(): Json[];
  close(): Promise<void>;
}

/** Listens on this machine. */
export async function openListener(): Promise<StoryListener> {
  const came: Json[] = [];
  let answer: Json = 200;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => {});
    request.on('end', () => {
      const body = jsonOf(Buffer.concat(pieces).toString('utf8'));
      came.push(body);
      const { challenge = '' } = body as JsonMap;
      response.writeHead(typeof answer === 'number' ? answer : 200).end(answer === 'challenge' ? String(challenge) : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast holds: a server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    answers: (word) => {
      answer = word;
    },
    heard: () => came.splice(0),
    close: () => closed(server),
  };
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });
}
