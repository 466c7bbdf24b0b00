/** The shop's door: requests come in, and go the way that the document's order of refusals says. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { isAcceptable, readBody } from './bodies.ts';
import { statuses } from './codes.ts';
import { type Answer, type Exchange, Refusal, type Route } from './exchange.ts';
import type { Rate } from './quotas.ts';
import { matched, type Table, unrouted } from './routing.ts';
import type { Caller, Shop, Version } from './shop.ts';
import { answeredHeaders, askedVersion, servedVersion } from './versions.ts';

const urlBytesMax = 2048;
const prefix = '/shop';
const nobody: Caller = { id: '', user: 'customer' };
const challenge = { 'WWW-Authenticate': 'ApiKey realm="Corner Shop", in="header", name="X-Shop-Key"' };

export function openDoor(shop: Shop, table: Table, postage: Rate): Server {
  const server = createServer({ requestTimeout: 3000, headersTimeout: 3000, connectionsCheckingInterval: 250 });
  if (shop.faults.has('slow-body-awaited')) server.requestTimeout = 60_000;
  server.keepAliveTimeout = 20_000;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void answer(shop, table, postage, request).then((told) => send(response, request, told, shop));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return void socket.destroy();
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    const { status, body } = problemOf(new Refusal(late ? 'timed_out' : 'malformed'), shop);
    const text = JSON.stringify(body);
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n`;
    socket.end(`${head}Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
  });
  return server;
}

async function answer(shop: Shop, table: Table, postage: Rate, request: IncomingMessage): Promise<Answer> {
  const answered = await carryOut(shop, table, postage, request).catch((error: unknown) => problemOf(error, shop));
  return { ...answered, headers: { ...answered.headers, ...answeredHeaders(shop, request, answered.isUnrouted ?? false) } };
}

/** The order of refusals, from the size of the address to the body; the rest is each operation's own. */
async function carryOut(shop: Shop, table: Table, postage: Rate, request: IncomingMessage): Promise<Answer> {
  const target = request.url ?? '/';
  if (Buffer.byteLength(target) > (shop.faults.has('long-address-taken') ? 8192 : urlBytesMax)) throw new Refusal('too_large');
  const { pathname, searchParams } = new URL(target, 'http://shop');
  const found = matched(table, request.method ?? 'GET', pathInside(pathname, shop), shop);
  if ('answered' in found) return { ...found.answered, isUnrouted: true };
  const { route, path } = found;
  const version = servedVersion(shop, askedVersion(shop, request));
  const caller = route.users ? identify(shop, request) : nobody;
  if (route.operation === 'handler postage') postage.count(caller);
  if (route.users && !isAllowed(shop, route, caller)) throw new Refusal('forbidden');
  if (!isAcceptable(request.headers.accept) && !shop.faults.has('accept-ignored')) throw new Refusal('not_acceptable');
  const body = route.takesBody ? await readBody(shop, request, route.takesBody) : undefined;
  const query = readParameters(shop, route, searchParams, version);
  return await route.run({ shop, request, version, caller, path, query, body });
}

function pathInside(pathname: string, { faults }: Shop): string {
  if (pathname === prefix || pathname.startsWith(`${prefix}/`)) return pathname.slice(prefix.length);
  // The gateway takes the prefix away, and so it was never asked for.
  if (faults.has('prefix-not-needed')) return pathname;
  throw unrouted('not_found');
}

function identify({ keys, revoked, faults }: Shop, request: IncomingMessage): Caller {
  const sent = request.headers['x-shop-key'];
  const key = typeof sent === 'string' ? sent : '';
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const caller =
    keys.get(key) ??
    (faults.has('revoked-key-taken') ? revoked.get(key) : undefined) ??
    (faults.has('key-of-any-case') ? [...keys].find(([one]) => one.toLowerCase() === key.toLowerCase())?.[1] : undefined) ??
    (faults.has('key-by-its-beginning') && key.length > 3
      ? [...keys].find(([one]) => one.startsWith(key.slice(0, -2)))?.[1]
      : undefined) ??
    (faults.has('key-as-bearer') ? keys.get(bearer) : undefined) ??
    (faults.has('unknown-key-is-a-customer') && key !== '' ? { id: 'guest', user: 'customer' as const } : undefined);
  if (!caller || (faults.has('clerks-locked-out') && caller.user === 'clerk')) throw new Refusal('unknown_caller', [], challenge);
  return caller;
}

function isAllowed({ faults }: Shop, { operation, users }: Route, { user }: Caller): boolean {
  if (faults.has('customers-suspended') && user === 'customer') return false;
  if (operation === 'update product' && faults.has('customer-changes-product')) return true;
  if (operation === 'cancel order' && user === 'clerk' && faults.has('clerk-cannot-cancel')) return false;
  if (operation === 'delete coupon' && user === 'customer') return faults.has('customer-deletes-coupon');
  return users?.includes(user) ?? false;
}

function readParameters(shop: Shop, route: Route, sent: URLSearchParams, version: Version): Exchange['query'] {
  if (route.query) return route.query(sent, version, shop);
  const [first] = sent.keys();
  if (first === undefined) return {};
  throw new Refusal('bad_parameter', [{ in: 'query', path: first, found: sent.get(first) ?? '', expected: 'no parameters' }]);
}

function problemOf(error: unknown, { faults }: Shop): Answer {
  const refusal = error instanceof Refusal ? error : new Refusal('broken');
  if (!(error instanceof Refusal) && !isGone(error)) console.error(error);
  const { code, violations, headers, isUnrouted } = refusal;
  const status = statusOf(code, faults.has('malformed-is-broken'), faults.has('invalid-is-400'), faults.has('missing-is-410'));
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: code.replaceAll('_', ' '),
    ...(!faults.has('code-missing') && { code: faults.has('in-use-called-conflict') && code === 'in_use' ? 'conflict' : code }),
    request_id: `req_${randomUUID()}`,
    ...(violations.length > 0 && { violations }),
    ...(faults.has('stack-in-problem') && code === 'malformed' && { stack: refusal.stack }),
  };
  const type = faults.has('problem-as-json') ? 'application/json' : 'application/problem+json';
  return { status, headers: { 'Content-Type': type, ...headers }, body: problem, isUnrouted };
}

/** Whether the client went away in the middle of its request. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}

function statusOf(code: string, breaks: boolean, isOld: boolean, isGone: boolean): number {
  if (code === 'malformed' && breaks) return 500;
  if (code === 'invalid' && isOld) return 400;
  if (code === 'not_found' && isGone) return 410;
  return statuses[code] ?? 500;
}

function send(response: ServerResponse, request: IncomingMessage, { status, headers, body }: Answer, { faults }: Shop): void {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type = faults.has('answers-as-text') ? 'text/plain' : 'application/json';
  response.writeHead(status, {
    ...(text !== undefined && { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }),
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}
