import { isToken } from '../../kinds/http-token.ts';
import type { Authentication } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Call, Reply } from '../http/call.ts';
import { acceptedSchemes } from './accepted-schemes.ts';

/**
 * Where a request comes from: of a page of another site, and what its browser is told that it may do (the CORS protocol of Fetch), or of
 * this machine alone.
 */

/** Methods that change nothing (RFC 9110 section 9.2.1, RFC 10008). */
const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY']);
const looking = new Set(['read', 'list', 'handler', 'reply']);

/** Whether a call may change something: by its method, or by what the endpoint does. */
export function isWrite({ method }: Call, endpoint: Endpoint | undefined): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return !safe.has(method) || (verb !== undefined && !looking.has(verb));
}

/**
 * Whether a browser sends a call on behalf of another site: by `Sec-Fetch-Site` (W3C Fetch Metadata), where a browser is too
 * old for it by `Origin` against `Host`. What neither header is on does not come from a browser's page. The stated origins may.
 */
function isCrossSite({ headers }: Call, origins: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site === undefined && origin === undefined) return false;
  if (typeof origin === 'string' && origins.has(origin.toLowerCase())) return false;
  return site !== undefined || typeof origin !== 'string' || hostOf(origin) !== host?.toString().toLowerCase();
}

function hostOf(origin: string): string | undefined {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match?.[1]?.toLowerCase();
}

/** Whether a page of a site that may not sends a call; by a cookie those of this machine may as little as others. */
type IsForeign = (call: Call, isByCookie?: boolean) => boolean;

/** What decides which pages may call. */
export interface PagesSetting {
  readonly compilation: { readonly spec: Spec };
  /** Whether pages of this machine may call where the document does not say which may: a stand-in for trials. */
  readonly takesLocalPages?: boolean;
}

export function compileForeign(engine: PagesSetting): IsForeign {
  const origins = statedOrigins(engine.compilation.spec.authentication);
  const isLocalPage = compileLocalPages(engine);
  return (call, isByCookie = false) => isCrossSite(call, origins) && (isByCookie || !isLocalPage?.(call));
}

/** Whether a call is of a page of this machine, to this machine, where such pages may call; nothing where none may. */
function compileLocalPages({ compilation: { spec }, takesLocalPages }: PagesSetting): ((call: Call) => boolean) | undefined {
  if (!takesLocalPages || spec.authentication.origins.standing !== 'open') return undefined;
  return (call) => typeof call.headers.origin === 'string' && localOrigin.test(call.headers.origin) && isOnLoopback(call);
}

const localOrigin = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;

/** The origins that a document states, as browsers write them. */
function statedOrigins({ origins }: Authentication): ReadonlySet<string> {
  return new Set((statedValue(origins) ?? []).map((origin) => origin.toLowerCase()));
}

type AnswerCall = (call: Call) => PromiseOrValue<Reply>;

/** Headers that a page may read without being told so (Fetch section 2.2.2), and those that no page reads. */
const readable = new Set([
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]);
const unread = new Set(['vary', 'set-cookie', 'date', 'connection']);

/**
 * Lets pages of the stated origins call and read what is answered (CORS, Fetch section 3.2). Where no origins are stated,
 * nothing of it is there, but for pages of this machine where those may call. A named origin is given back as it came; cookies go along to a
 * named origin, never to `*`, nor to one that is not stated.
 */
export function withCors(engine: PagesSetting, answer: AnswerCall): AnswerCall {
  const { spec } = engine.compilation;
  const named = statedOrigins(spec.authentication);
  const isLocalPage = compileLocalPages(engine);
  if (named.size === 0 && !isLocalPage) return answer;
  const isForAll = named.has('*');
  const takesCookies = acceptedSchemes(spec).some((one) => one.in === 'cookie');

  /** Which origin is let in: the caller's own, or all of them. */
  function allowed(call: Call): string | undefined {
    const { origin } = call.headers;
    if (typeof origin !== 'string') return undefined;
    if (named.has(origin.toLowerCase()) || isLocalPage?.(call)) return origin;
    return isForAll ? '*' : undefined;
  }

  function dress(call: Call, reply: Reply, origin: string | undefined): Reply {
    const { headers } = reply;
    if (origin !== '*' && !isForAll) headers.vary = headers.vary === undefined ? 'Origin' : `${headers.vary}, Origin`;
    else if (isForAll && named.size > 1) headers.vary = headers.vary === undefined ? 'Origin' : `${headers.vary}, Origin`;
    if (origin === undefined) return reply;
    headers['access-control-allow-origin'] = origin;
    if (takesCookies && origin !== '*' && !isLocalPage) headers['access-control-allow-credentials'] = 'true';
    if (isPreflight(call)) return preflight(call, reply);
    const exposed = Object.keys(headers).filter(
      (name) => !readable.has(name) && !unread.has(name) && !name.startsWith('access-control-'),
    );
    if (exposed.length > 0) headers['access-control-expose-headers'] = exposed.join(', ');
    return reply;
  }

  return (call) => {
    const origin = allowed(call);
    return after(answer(call), (reply) => dress(call, reply, origin));
  };
}

function isPreflight({ method, headers }: Call): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** What a browser asks before it calls: which methods the path has, and whether its headers may be sent. Those of a stated origin may. */
function preflight({ headers: asked }: Call, reply: Reply): Reply {
  const { headers } = reply;
  if (headers.allow === undefined) return reply;
  headers['access-control-allow-methods'] = headers.allow;
  const names = String(asked['access-control-request-headers'] ?? '');
  if (names.split(',').every((name) => isToken(name.trim()))) headers['access-control-allow-headers'] = names;
  return reply;
}

/** What proxies say of whom they pass on (RFC 7239, RFC 9110 section 7.6.3, and what stood before them). */
const passedOn = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** Whether an address or host name is of this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Whether a call comes from this machine to a name of this machine: a page of elsewhere that is led here bears its own name, and
 * what a proxy of this machine passes on comes from wherever it came from.
 */
export function isOnLoopback({ address, headers }: Call): boolean {
  return !isPassedOn(headers) && isLoopback(address) && isLoopback(calledName(headers));
}

/**
 * Whether a call came by a socket of this machine, and to a name of elsewhere: a page made that name lead here. Names without a point are of
 * this network, and an address leads where it says.
 */
export function isLedHere({ address, headers, isDirect }: Call): boolean {
  if (isDirect !== true || isPassedOn(headers) || !isLoopback(address)) return false;
  const host = calledName(headers);
  return host.includes('.') && !/^[\d.]+$/.test(host) && !host.endsWith('.localhost');
}

function isPassedOn(headers: Call['headers']): boolean {
  return passedOn.some((name) => headers[name] !== undefined);
}

function calledName({ host }: Call['headers']): string {
  const name = typeof host === 'string' ? host.toLowerCase() : '';
  return name.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}
