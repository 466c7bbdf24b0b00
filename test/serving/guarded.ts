import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type ExchangeEntry, movableClock, parseDocument, type ServeOptions, type Service, serve } from '../../src/index.ts';
import { cheapPasswords } from './cheap-passwords.ts';

cheapPasswords();

/** When the clock of these tests starts. */
export const startMs = Date.parse('2026-06-01T09:00:00Z');
export const startSeconds = startMs / 1000;

/** A document of notes with these words under `authentication`, and other parts after them. */
export function notes(authentication: string, more = ''): string {
  return `title: Notes
purpose: { purpose: Keeps notes., base_url: none, users: { reader: Reads., writer: Writes. }, functions: none }
resources:
  note:
    identifier: { field: id, generate: client }
    fields: { id: string, owner: { type: string, readOnly: true, set: { create: caller.id } } }
    required: [id]
states: none
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  GET /notes: { does: list note }
  GET /who: { does: handler who, response: { 200: { type: object } } }
  GET /open: { does: handler who, as: ask openly, response: { 200: { type: object } } }
  GET /free: { does: handler who, as: ask freely, response: { 200: { type: object } } }
authentication:
${authentication.replace(/^(?=.)/gm, '  ')}
  public: [ask openly]
  permissions:
    - { allow: [all note, handler who], to: [reader, writer] }
    - { allow: [ask freely], to: anyone }
${more}`;
}

export const keyScheme = 'schemes: { key: { type: api_key, header: X-API-Key, generate: "nk_{random:40}" } }';

/** What came back. */
export interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [name: string]: unknown };
}

export interface Guarded {
  readonly service: Service;
  readonly clock: ReturnType<typeof movableClock>;
  readonly failures: unknown[];
  readonly log: ExchangeEntry[];
  /** `GET /who` unless said otherwise: the handler answers with the caller. */
  ask(headers?: Readonly<Record<string, string>>, line?: string, body?: unknown): Promise<Said>;
  close(): Promise<void>;
}

/** Starts a service whose handler answers with who is asking. */
export async function guard(text: string, options: Partial<ServeOptions> = {}): Promise<Guarded> {
  const clock = movableClock(startMs);
  const failures: unknown[] = [];
  const log: ExchangeEntry[] = [];
  const who = ({ caller }: { readonly caller: unknown }) => ({ caller: caller ?? 'nobody' });
  const service = await serve(parseDocument(text, 'guarded.yaml'), {
    clock,
    handlers: { who },
    onFailure: (failure) => failures.push(failure),
    onExchange: (entry) => log.push(entry),
    ...options,
  });
  return {
    service,
    clock,
    failures,
    log,
    async ask(headers = {}, line = 'GET /who', body) {
      const [method = '', target = ''] = line.split(' ');
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const request = new Request(`http://127.0.0.1${target}`, {
        method,
        headers: { ...type, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await service.fetch(request);
      const said = await response.text();
      return { status: response.status, headers: response.headers, body: said === '' ? {} : JSON.parse(said) };
    },
    close: () => service.close(),
  };
}

/** Gives out a key. */
export async function addKey(guarded: Guarded, input: Readonly<Record<string, string | number | string[]>>) {
  const made = await guarded.service.administer('keys add', { user: 'reader', id: 'r1', ...input });
  return made as { readonly key: string; readonly secret: string };
}

/** An issuer's key pair, and tokens of it. */
export interface TokenKey {
  readonly jwk: JWK;
  sign(claims: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Claims that are good in these tests. */
export const goodClaims = {
  iss: 'https://id.example',
  aud: 'notes',
  sub: 'u1',
  role: 'reader',
  scope: 'a b',
  exp: startSeconds + 600,
};

export async function tokenKey(kid: string | undefined, alg = 'ES256'): Promise<TokenKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), ...(kid !== undefined && { kid }), alg, use: 'sig' };
  return {
    jwk,
    sign: (claims, header = {}) =>
      new SignJWT({ ...goodClaims, ...claims })
        .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
        .sign(privateKey),
  };
}

/** A key set at a loopback address, which can be exchanged, taken away and counted. */
export interface KeySetServer {
  readonly url: string;
  keys: readonly JWK[];
  status: number;
  readonly asked: number;
  close(): Promise<void>;
}

export async function serveKeySet(keys: readonly JWK[]): Promise<KeySetServer> {
  let asked = 0;
  const server: Server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(told.status, { 'content-type': 'application/json', location: '/elsewhere' });
    response.end(JSON.stringify({ keys: told.keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const told = {
    url: `http://127.0.0.1:${port}/jwks.json`,
    keys,
    status: 200,
    get asked() {
      return asked;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return told;
}

/** A scheme of tokens; more words of it can be said. */
export function tokenScheme(words: string, name = 'token'): string {
  return `${name}: { type: jwt, issuer: https://id.example, audience: notes, ${words}, caller: { id: claims.sub, user: claims.role, scopes: "has(claims.scope) ? claims.scope.split(' ') : []" } }`;
}
