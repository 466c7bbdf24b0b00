import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request and its answer, as they went by. */
export interface Exchange {
  readonly request: string;
  readonly status: number;
  readonly type: string;
  /** The members of a JSON body with the types of their values, as `value[].name string`; of another body nothing. */
  readonly members: readonly string[];
}

/** A server between a client and a service, which writes down what goes by. */
export interface Relay {
  readonly port: number;
  /** What went by since this was last asked. */
  take(): Exchange[];
  close(): Promise<void>;
}

/** Hands everything on to a port of this machine, host fields included. */
export async function relayTo(port: number): Promise<Relay> {
  let seen: Exchange[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        const [type = ''] = String(answer.headers['content-type'] ?? '').split(';');
        seen.push({ request: `${method} ${url}`, status: answer.statusCode ?? 0, type, members: membersOf(body, type) });
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.end(body);
      });
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // It listens on a port, so it has an address of that form.
    port: (server.address() as AddressInfo).port,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function membersOf(body: Buffer, type: string): string[] {
  if (!/json/.test(type) || body.length === 0) return [];
  try {
    const found = new Set<string>();
    gather(JSON.parse(body.toString('utf8')), '', found, 0);
    return [...found].sort();
  } catch {
    return ['no JSON'];
  }
}

const depthMost = 6;

function gather(value: unknown, at: string, found: Set<string>, depth: number): void {
  const type = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  if (at !== '') found.add(`${at} ${type}`);
  if (depth > depthMost || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) for (const item of value.slice(0, 100)) gather(item, `${at}[]`, found, depth + 1);
  else for (const [key, inner] of Object.entries(value)) gather(inner, at === '' ? key : `${at}.${key}`, found, depth + 1);
}
