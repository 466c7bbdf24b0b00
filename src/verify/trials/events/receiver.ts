import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Json } from '../../../document/document.ts';
import { pushKinds } from '../../../kinds/deliveries/all.ts';
import type { Handshake } from '../../../kinds/handshakes/kind.ts';
import { type HandshakeAnswer, rightAnswer, wordsIn, wrongAnswer } from '../../../kinds/handshakes/requests.ts';
import { bareMapsIn, jsonIn } from '../../exchange/parse-body.ts';

/** A delivery as it came. */
export interface ReceivedDelivery {
  /** By names in lower case; several of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body to the byte, which is what is signed. */
  readonly text: string;
  /** The event in the body, by what the body says that it is; nothing where there is none. */
  readonly body: Json | undefined;
  readonly method: string;
  /** When it had come, by the clock of this machine. */
  readonly atMs: number;
  /** What it was answered with. */
  readonly status: number;
}

/** What asked an address whether it wants to be told of anything, and whether it was answered rightly. */
export interface AskedAddress {
  readonly isConfirmed: boolean;
  readonly atMs: number;
}

/** What a receiver answers a delivery with; nothing = 204. */
export type React = (delivery: Omit<ReceivedDelivery, 'status'>, earlier: readonly ReceivedDelivery[]) => number;

/** A listener on this machine that web hooks are sent to; every subscriber has an address of its own below it. */
export interface Receiver {
  readonly origin: string;
  /** What has come to a path so far, in order. */
  at(path: string): readonly ReceivedDelivery[];
  /** How addresses are asked before anything is delivered to them: that is answered rightly, and is no delivery. */
  confirms(handshake: Handshake): void;
  /** What asks this path is answered wrongly. */
  denies(path: string): void;
  /** What has asked a path so far. */
  asked(path: string): readonly AskedAddress[];
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
  const kept = new Deliveries();
  let connections = 0;
  const server = createServer((request, response) => {
    readText(request, (text) => {
      const answer = kept.asks(request, text);
      if (answer) response.writeHead(answer.status).end(answer.text);
      else response.writeHead(kept.take(request, text)).end();
      kept.look();
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  const port = await portOf(server, host);

  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    at: (path) => kept.at(path),
    confirms: (handshake) => kept.confirms(handshake),
    denies: (path) => kept.denies(path),
    asked: (path) => kept.asked(path),
    react: (path, react) => kept.react(path, react),
    until: (path, isEnough, ms) => kept.until(path, isEnough, ms),
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

/** Listens on a free port, and says which. */
async function portOf(server: Server, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Reads a whole body; one that is too long is cut off with its connection. */
function readText(request: IncomingMessage, then: (text: string) => void): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  request.on('error', () => {});
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > bytesMost) request.destroy();
    else pieces.push(piece);
  });
  request.on('end', () => then(Buffer.concat(pieces).toString('utf8')));
}

/** What has come to each path, and who waits for more of it. */
class Deliveries {
  readonly #received = new Map<string, ReceivedDelivery[]>();
  readonly #reactions = new Map<string, React>();
  readonly #waiting = new Set<() => void>();
  readonly #asked = new Map<string, AskedAddress[]>();
  readonly #denied = new Set<string>();
  #handshake: Handshake | undefined;

  confirms(handshake: Handshake): void {
    this.#handshake = handshake;
  }

  denies(path: string): void {
    this.#denied.add(path);
  }

  asked(path: string): readonly AskedAddress[] {
    return this.#asked.get(path) ?? [];
  }

  /** The answer to what asks an address; nothing where it is a delivery. */
  asks(request: IncomingMessage, text: string): HandshakeAnswer | undefined {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://receiver');
    const came = { method: request.method ?? '', query, headers: headersOf(request), body: jsonIn(text) };
    const words = this.#handshake && wordsIn(this.#handshake, came);
    if (!this.#handshake || !words) return undefined;
    const isConfirmed = !this.#denied.has(path);
    this.#asked.set(path, [...this.asked(path), { isConfirmed, atMs: Date.now() }]);
    return isConfirmed ? rightAnswer(this.#handshake, words) : wrongAnswer(this.#handshake, words);
  }

  /** Writes down what came, and says the status that it is answered with. */
  take(request: IncomingMessage, text: string): number {
    const path = request.url ?? '';
    const earlier = this.#received.get(path) ?? [];
    this.#received.set(path, earlier);
    const { method = '' } = request;
    const headers = headersOf(request);
    const come = { headers, text, body: eventIn(headers['content-type'] ?? '', text), method, atMs: Date.now() };
    const status = this.#reactions.get(path)?.(come, earlier) ?? 204;
    earlier.push({ ...come, status });
    return status;
  }

  /** Lets those who wait look at what has come. */
  look(): void {
    for (const look of [...this.#waiting]) look();
  }

  at(path: string): readonly ReceivedDelivery[] {
    return this.#received.get(path) ?? [];
  }

  react(path: string, react: React): void {
    this.#reactions.set(path, react);
  }

  until(path: string, isEnough: (deliveries: readonly ReceivedDelivery[]) => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const look = () => {
        if (isEnough(this.at(path))) done();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(look);
      look();
    });
  }
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const entries = Object.entries(request.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')] as const);
  return Object.fromEntries(entries);
}

/** What a body holds: as the way of delivery reads it whose bodies are of this type, else as JSON. */
function eventIn(type: string, text: string): Json | undefined {
  const kind = pushKinds.find(({ mediaType, read }) => read && type.toLowerCase().startsWith(mediaType));
  return kind?.read ? bareMapsIn(kind.read(text)) : jsonIn(text);
}
