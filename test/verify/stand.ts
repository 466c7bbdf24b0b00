import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  check,
  type Document,
  parseDocument,
  readDocument,
  type ServeOptions,
  serve,
  type VerifyOptions,
} from '../../src/index.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';

const root = join(import.meta.dirname, '../..');

/** An answer of the service on its way to whoever asked; a spoiler gives it back changed. */
export interface Passing {
  readonly method: string;
  readonly target: string;
  readonly sent: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A clock that goes by itself and can be moved on, as a service in development has it. */
export interface RunningClock extends NonNullable<ServeOptions['clock']> {
  advance(ms: number): void;
}

export function runningClock(): RunningClock {
  let offsetMs = 0;
  const waiting = new Set<{ readonly ms: number; readonly wake: () => void }>();
  const now = () => Date.now() + offsetMs;
  const wakeDue = () => {
    for (const one of [...waiting].filter(({ ms }) => ms <= now()).sort((a, b) => a.ms - b.ms)) {
      if (waiting.delete(one)) one.wake();
    }
  };
  return {
    now,
    at(ms, wake) {
      const entry = { ms, wake };
      waiting.add(entry);
      const timer = ms - now() < 60_000 ? setTimeout(wakeDue, Math.max(0, ms - now())) : undefined;
      timer?.unref();
      return () => void waiting.delete(entry);
    },
    advance(ms) {
      offsetMs += ms;
      wakeDue();
    },
  };
}

export interface Stand {
  /** Holds the service to its document. */
  verify(options?: Partial<VerifyOptions>): Promise<VerifyReport>;
  readonly url: string;
  /** Where its clock is moved. */
  readonly clockUrl: string;
  readonly failures: readonly unknown[];
  close(): Promise<void>;
}

/** A request on its way to the service. */
export interface Bent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface StandOptions {
  readonly handlers?: string;
  /** Bends requests on their way in, so that the service does something else than was asked. */
  readonly bend?: (request: Bent) => Partial<Bent>;
  /** Spoils answers on their way, so that a trial has something to find. */
  readonly spoil?: (passing: Passing) => Partial<Passing>;
  readonly serve?: ServeOptions;
}

/** Our own service over a document, the path of one from the project's root or its text, on a free port. */
export async function openStand(given: string, { handlers, bend, spoil, serve: more }: StandOptions = {}): Promise<Stand> {
  const document = await documentOf(given);
  const code = handlers === undefined ? {} : await import(pathToFileURL(join(root, handlers)).href);
  const failures: unknown[] = [];
  const clock = runningClock();
  const service = await serve(document, {
    clock,
    ...{ development: true, environment: { CLINIC_TOKEN_SECRET: 'x'.repeat(64) } },
    onFailure: (failure) => failures.push(failure),
    ...(code.handlers && { handlers: code.handlers, before: code.before ?? {} }),
    ...more,
  });
  const server = await service.listen({ port: 0, host: '127.0.0.1' });
  const clockDoor = await openClock(clock, () => service.settled());
  const proxy = (bend || spoil) && (await openProxy(server.port, { ...(bend && { bend }), ...(spoil && { spoil }) }));
  const url = `http://127.0.0.1:${proxy?.port ?? server.port}`;
  const callers = service.credentials.map(({ user, id, scheme, value }) => ({ user, id, scheme, credential: value }));
  return {
    url,
    clockUrl: clockDoor.url,
    failures,
    verify: (options = {}) => verify(check(document).spec, { url, callers, seed: 1, clockUrl: clockDoor.url, ...options }),
    async close() {
      await clockDoor.close();
      await proxy?.close();
      await server.close();
      await service.close();
    },
  };
}

/** The address that `--clock` is told: GET says the time, POST moves it on. */
async function openClock(clock: RunningClock, settled: () => Promise<void>) {
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    if (request.method === 'POST') {
      const { advance_ms: ms }: { advance_ms: number } = JSON.parse(text);
      clock.advance(ms);
      // A receiver that does not answer would be waited for.
      await Promise.race([settled(), new Promise((resolve) => setTimeout(resolve, 50))]);
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ now: new Date(clock.now()).toISOString() }));
  });
  const { port, close } = await listening(server);
  return { url: `http://127.0.0.1:${port}/`, close };
}

async function documentOf(given: string): Promise<Document> {
  if (!given.includes('\n')) return readDocument(join(root, given));
  return parseDocument(given, /^#{1,2} /.test(given) ? 'stand.md' : 'stand.yaml');
}

/** A proxy in front of a port, which changes answers on their way back. */
async function openProxy(port: number, { bend, spoil }: Pick<StandOptions, 'bend' | 'spoil'>) {
  const server = createServer(async (request, response) => {
    const sent = await textOf(request);
    const { method: asked = 'GET', url = '/', headers: given } = request;
    const original = { method: asked, target: url, headers: given, text: sent };
    const { method, target, headers: bent, text: body } = { ...original, ...bend?.(original) };
    const { 'content-length': _given, ...rest } = bent;
    const sentHeaders = body === '' ? rest : { ...rest, 'content-length': String(Buffer.byteLength(body)) };
    const forward = httpRequest({ host: '127.0.0.1', port, method, path: target, headers: sentHeaders }, async (answer) => {
      const passing = {
        method,
        target,
        sent,
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text: await textOf(answer),
      };
      const { status, headers, text } = { ...passing, ...spoil?.(passing) };
      const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = headers;
      const isBodiless = method === 'HEAD' || status === 204 || status === 304;
      response.writeHead(status, { ...kept, ...(!isBodiless && { 'content-length': String(Buffer.byteLength(text)) }) });
      response.end(isBodiless ? undefined : text);
    });
    forward.on('error', () => response.destroy());
    forward.end(body);
  });
  return listening(server);
}

async function listening(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // The cast holds: a server that listens on a port has an address with one.
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
