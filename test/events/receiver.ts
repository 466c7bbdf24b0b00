import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A delivery as it came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body's value; undefined where it is no JSON. */
  readonly json: {
    readonly id: string;
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

/** What a receiver does with a delivery: the status to answer with, or a body of its own to write, or nothing ever. */
export type Reaction = number | ((response: ServerResponse, received: Received) => void);

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** How many connections were opened to it. */
  readonly connections: () => number;
  /** What the next deliveries are answered with, by order; the last one stays. */
  react(...reactions: Reaction[]): void;
  /** The ids as they came. */
  ids(): string[];
}

/** Listens on this machine for webhooks, until the test is over. */
export async function startReceiver(test: TestContext, first: Reaction = 200): Promise<Receiver> {
  const received: Received[] = [];
  let reactions: Reaction[] = [first];
  let connections = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('utf8');
      const one: Received = { path: request.url ?? '', headers: request.headers, body, json: jsonOf(body) };
      received.push(one);
      const reaction = (reactions.length > 1 ? reactions.shift() : reactions[0]) as Reaction;
      if (typeof reaction === 'number') response.writeHead(reaction).end(`answered ${reaction}`);
      else reaction(response, one);
    });
    request.on('error', () => {});
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    connections: () => connections,
    react: (...next) => {
      reactions = next;
    },
    ids: () => received.map(({ headers }) => String(headers['webhook-id'])),
  };
}

function jsonOf(body: string): Received['json'] {
  try {
    return JSON.parse(body);
  } catch {
    return undefined as never;
  }
}
