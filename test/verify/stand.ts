import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  check,
  type Document,
  parseDocument,
  readDocument,
  type ServeOptions,
  type Service,
  serve,
  type VerifyOptions,
} from '../../src/index.ts';
import { kindOfScheme } from '../../src/parts/authentication.ts';
import { entryOf, statedValue } from '../../src/parts/fact.ts';
import type { Spec } from '../../src/parts/spec.ts';
import { settableClock } from '../../src/serve/http/clock.ts';
import { openClock } from '../../src/serve/service/trial-doors.ts';
import type { GivenCaller } from '../../src/verify/exchange/callers.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';
import { knowReservedNames } from './no-such-names.ts';

const root = join(import.meta.dirname, '../..');
knowReservedNames();

/** An answer of the service on its way to whoever asked; a spoiler gives it back changed. */
export interface Passing {
  readonly method: string;
  readonly target: string;
  readonly sent: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Stand {
  /** A credential of each user, whole as a request carries it but for its prefix. */
  readonly credentials: readonly { readonly user: string; readonly value: string }[];
  /** Holds the service to its document. */
  verify(options?: Partial<VerifyOptions>): Promise<VerifyReport>;
  readonly url: string;
  /** Where its clock is moved. */
  readonly clockUrl: string;
  readonly failures: readonly unknown[];
  /** Who can be spoken for. */
  readonly callers: readonly GivenCaller[];
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
  /** Changes pieces of event streams on their way. */
  readonly tell?: (text: string) => string;
  readonly serve?: ServeOptions;
  /** Another document to be served than the one that is held against it: what it states otherwise is the fault. */
  readonly served?: string;
  /** Whether each user has a second caller, where keys are given out. */
  readonly inPairs?: boolean;
  /** Callers besides, by credentials that it gives out. */
  readonly besides?: (service: Service) => Promise<readonly GivenCaller[]>;
  /** The scheme of the second callers, where it is another one. */
  readonly secondScheme?: string;
}

/** Our own service over a document, the path of one from the project's root or its text, on a free port. */
export async function openStand(given: string, stand: StandOptions = {}): Promise<Stand> {
  const { handlers, bend, spoil, tell, serve: more, served = given } = stand;
  const document = await documentOf(given);
  const clock = settableClock();
  const code = handlers === undefined ? {} : await import(pathToFileURL(join(root, handlers)).href);
  const failures: unknown[] = [];
  const service = await serve(await documentOf(served), {
    clock,
    development: true,
    environment: { CLINIC_TOKEN_SECRET: 'x'.repeat(64) },
    onFailure: (failure) => failures.push(failure),
    ...(code.handlers && { handlers: code.handlers, before: code.before ?? {} }),
    ...more,
  });
  const server = await service.listen({ port: 0, host: '127.0.0.1' });
  const clockDoor = await openClock({ clock, settled: () => service.settled() }, 0);
  const changes = { ...(bend && { bend }), ...(spoil && { spoil }), ...(tell && { tell }) };
  const proxy = Object.keys(changes).length > 0 ? await openProxy(server.port, changes) : undefined;
  const url = `http://127.0.0.1:${proxy?.port ?? server.port}`;
  // A credential that is made for a run has every scope that a rule asks for.
  const rules = statedValue(check(document).spec.authentication.permissions) ?? [];
  const scopes = [...new Set(rules.flatMap((rule) => rule.scopes))];
  const first = service.credentials.map(({ user, id, scheme, value }) => ({ user, id, scheme, scopes, credential: value }));
  const second = stand.inPairs ? await secondCallers(service, check(document).spec, scopes, stand.secondScheme) : [];
  const callers = [...first, ...second, ...((await stand.besides?.(service)) ?? [])];
  return {
    url,
    clockUrl: clockDoor.url,
    failures,
    credentials: service.credentials,
    callers,
    verify: (options = {}) =>
      verify(check(document).spec, {
        url,
        callers,
        seed: 1,
        // Whoever has much else to do meanwhile comes to as much.
        timeMs: 300_000,
        // Whoever only reads moves no clock.
        ...(!options.readOnly && { clockUrl: clockDoor.url }),
        ...options,
      }),
    async close() {
      await clockDoor.close();
      await proxy?.close();
      await server.close();
      await service.close();
    },
  };
}

/** A second caller of each user, by a key that was given out. */
async function secondCallers(service: Service, spec: Spec, scopes: readonly string[], wanted?: string) {
  const made = service.credentials.map(async ({ user }) => {
    const id = `${user}-the-second`;
    const key = await service
      .administer('keys add', { user, id, scopes: [...scopes], ...(wanted !== undefined && { scheme: wanted }) })
      .catch(() => undefined);
    // What `keys add` gives: the key beside what is told of it.
    const {
      key: name,
      secret,
      scheme,
    } = (key ?? {}) as { readonly key?: string; readonly secret?: string; readonly scheme?: string };
    if (secret === undefined) return [];
    // Who signs requests needs the name of the key too, and a password goes with the name that it is shown under.
    const stated = scheme === undefined ? undefined : entryOf(spec.authentication.schemes, scheme);
    const proof = stated && kindOfScheme(stated)?.proof?.by;
    const [isSigning, isPassword] = [proof === 'signing', proof === 'password'];
    const credential = isSigning ? `${name}:${secret}` : isPassword ? `Basic ${btoa(`${id}:${secret}`)}` : secret;
    return [{ user, id, scopes, credential, ...(scheme !== undefined && { scheme }) }];
  });
  return (await Promise.all(made)).flat();
}

async function documentOf(given: string): Promise<Document> {
  if (!given.includes('\n')) return readDocument(join(root, given));
  return parseDocument(given, /^#{1,2} /.test(given) ? 'stand.md' : 'stand.yaml');
}

/** A proxy in front of a port, which changes answers on their way back. */
export async function openProxy(port: number, { bend, spoil, tell }: Pick<StandOptions, 'bend' | 'spoil' | 'tell'>) {
  // What is too long is for the service to say.
  const server = createServer({ maxHeaderSize: 128 * 1024 }, async (request, response) => {
    const sent = await textOf(request).catch(() => undefined);
    // Whoever asked is gone.
    if (sent === undefined) return;
    const { method: asked = 'GET', url = '/', headers: given } = request;
    const original = { method: asked, target: url, headers: given, text: sent };
    const { method, target, headers: bent, text: body } = { ...original, ...bend?.(original) };
    const { 'content-length': _given, 'transfer-encoding': _coding, ...rest } = bent;
    const sentHeaders = body === '' ? rest : { ...rest, 'content-length': String(Buffer.byteLength(body)) };
    const told = async (answer: IncomingMessage): Promise<void> => {
      if (answer.headers['content-type']?.startsWith('text/event-stream')) return passOn(answer, response, tell);
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
    };
    const ask = (): void => {
      const forward = httpRequest({ host: '127.0.0.1', port, method, path: target, headers: sentHeaders }, told);
      // A connection that was kept may be closed by the service just now: then nothing of it was read.
      forward.on('error', () => (forward.reusedSocket ? ask() : response.destroy()));
      forward.end(body);
    };
    ask();
  });
  return listening(server);
}

/** An event stream does not end: it is passed on piece by piece. */
function passOn(answer: IncomingMessage, response: ServerResponse, tell: (text: string) => string = (text) => text): void {
  response.writeHead(answer.statusCode ?? 0, answer.headers);
  response.flushHeaders();
  answer.on('data', (piece: Buffer) => response.write(tell(piece.toString('utf8'))));
  answer.on('close', () => response.end());
  response.on('close', () => answer.destroy());
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
