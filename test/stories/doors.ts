import { request as httpRequest } from 'node:http';
import type { Json, JsonMap } from '../../src/document/document.ts';
import type { StoryRequest } from './request.ts';

/** What came back. Header names are in lower case; a header that came several times is joined by a comma. */
export interface StoryAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** A service that a story speaks to. */
export interface StoryServer {
  send(request: StoryRequest): Promise<StoryAnswer>;
  /** Moves the clock and waits until what became due is done. */
  advance(ms: number): Promise<void>;
  /** Fires a `by: service` transition; rejects where it is blocked. */
  fire(resource: string, id: string, transition: string): Promise<void>;
  /** Has the service carry out a command of its administrator's. */
  administer(command: string, input: JsonMap): Promise<Json>;
  /** Stops and starts again on the same store, taking callers for another user where one is named. */
  restart(as?: Json): Promise<void>;
  close(): Promise<void>;
}

/** The part of a running service that the doors lead to. */
export interface Service {
  fetch(request: Request): Promise<Response>;
  listen(address: { port: number; host: string }): Promise<{ readonly url: string; close(): Promise<void> }>;
  fire(resource: string, id: string, transition: string): Promise<unknown>;
  administer(command: string, input: JsonMap): Promise<Json>;
  /** Resolves once what is due is done. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export type Door = 'in process' | 'through a socket';
export const doors: readonly Door[] = ['in process', 'through a socket'];

/** What tells a story's time: it stands still until it is moved. */
export interface StoryClock {
  now(): number;
  advance(ms: number): void;
}

/** Opens a service by one of its doors; `start` is called again for a restart, with the user that callers are taken for. */
export async function openDoor(door: Door, clock: StoryClock, start: (as?: Json) => Promise<Service>): Promise<StoryServer> {
  let running = await begin();

  async function begin(as?: Json) {
    const service = await start(as);
    const listener = door === 'in process' ? undefined : await service.listen({ port: 0, host: '127.0.0.1' });
    return { service, listener };
  }
  async function end() {
    await running.listener?.close();
    await running.service.close();
  }

  return {
    send: (request) =>
      running.listener ? sendThroughSocket(running.listener.url, request) : sendInProcess(running.service, request),
    async advance(ms) {
      // What is under way would run out of time.
      await running.service.settled();
      clock.advance(ms);
      await running.service.settled();
    },
    async fire(resource, id, transition) {
      await running.service.fire(resource, id, transition);
    },
    administer: (command, input) => running.service.administer(command, input),
    async restart(as) {
      await end();
      running = await begin(as);
      await running.service.settled();
    },
    close: end,
  };
}

async function sendInProcess(service: Service, { method, target, headers, body }: StoryRequest): Promise<StoryAnswer> {
  const response = await service.fetch(new Request(`http://127.0.0.1${target}`, { method, headers, ...(body && { body }) }));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
}

/** By node:http and not by fetch, which would tidy the target up and refuse a body on GET. */
function sendThroughSocket(url: string, { method, target, headers, body }: StoryRequest): Promise<StoryAnswer> {
  const { hostname, port } = new URL(url);
  const length = body ? { 'content-length': body.byteLength } : {};
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, method, path: target, headers: { ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(
              Object.entries(response.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')]),
            ),
            bytes: new Uint8Array(Buffer.concat(chunks)),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
