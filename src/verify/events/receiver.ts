import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Json } from '../../document/document.ts';

/** A delivery as it came. */
export interface ReceivedDelivery {
  /** By names in lower case; several of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body to the byte, which is what is signed. */
  readonly text: string;
  /** The body as JSON; nothing where it is none. */
  readonly body: Json | undefined;
  readonly method: string;
  /** When it had come, by the clock of this machine. */
  readonly atMs: number;
  /** What it was answered with. */
  readonly status: number;
}

/** What a receiver answers a delivery with; nothing = 204. */
export type React = (delivery: Omit<ReceivedDelivery, 'status'>, earlier: readonly ReceivedDelivery[]) => number;

/** A listener on this machine that web hooks are sent to; every subscriber has an address of its own below it. */
export interface Receiver {
  readonly origin: string;
  /** What has come to a path so far, in order. */
  at(path: string): readonly ReceivedDelivery[];
  /** Says what deliveries to a path are answered with; 204 unless said. */
  react(path: string, react: React): void;
  /** Resolves once what has come to a path is enough, or so many milliseconds have gone by. */
  until(path: string, isEnough: (deliveries: readonly ReceivedDelivery[]) => boolean, ms: number): Promise<void>;
  /** How many connections there were, to whatever path. */
  readonly connections: number;
  close(): Promise<void>;
}

const bytesMost = 4 * 1024 * 1024;

/** Opens one on a free port of a loopback address. */
export async function openReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const received = new Map<string, ReceivedDelivery[]>();
  const reactions = new Map<string, React>();
  const waiting = new Set<() => void>();
  let connections = 0;

  function take(request: IncomingMessage, text: string, response: ServerResponse): void {
    const path = request.url ?? '';
    const earlier = received.get(path) ?? [];
    received.set(path, earlier);
    const { method = '' } = request;
    const come = { headers: headersOf(request), text, body: jsonIn(text), method, atMs: Date.now() };
    const status = reactions.get(path)?.(come, earlier) ?? 204;
    earlier.push({ ...come, status });
    response.writeHead(status).end();
    for (const look of [...waiting]) look();
  }

  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on('error', () => {});
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > bytesMost) request.destroy();
      else pieces.push(piece);
    });
    request.on('end', () => take(request, Buffer.concat(pieces).toString('utf8'), response));
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    at: (path) => received.get(path) ?? [],
    react: (path, react) => void reactions.set(path, react),
    until: (path, isEnough, ms) =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        const look = () => {
          if (isEnough(received.get(path) ?? [])) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(look);
        look();
      }),
    get connections() {
      return connections;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const entries = Object.entries(request.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')] as const);
  return Object.fromEntries(entries);
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
