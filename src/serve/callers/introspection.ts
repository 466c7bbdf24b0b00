/** What other servers are asked about tokens (RFC 7662), and how they are asked. */

import { hash } from 'node:crypto';
import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Caller } from '../exchange/exchange.ts';
import { Remembered } from './remembered.ts';

/** What is asked about tokens, and what they have to be. */
interface IntrospectionRules {
  readonly address: string;
  /** Who asks; absent = nobody in particular. */
  readonly client: { readonly id: string; readonly secret: string } | undefined;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  /** How long an answer is taken for true. */
  readonly cacheMs: number;
  readonly callerOf: (claims: JsonMap, nowMs: number) => Caller | undefined;
  readonly onFailure: (failure: unknown) => void;
}

type Shown = { readonly caller: Caller } | undefined;
type AskAboutToken = (token: string, nowMs: number) => Shown | 'busy' | Promise<Shown | 'unavailable'>;

/** How much the server may say, and how many tokens it is asked about at a time. */
const bytesMost = 64 * 1024;
const askingMost = 64;
const rememberedMost = 16_384;
/** What is longer is no token. */
const tokenMost = 8_192;

/**
 * Asks an authorization server about tokens (RFC 7662 section 2). Whatever it does not say clearly is no token: one that is not
 * active, that has ended or not begun, or is of another issuer or audience. Where it cannot be asked, nobody is let in.
 */
export function compileIntrospection(rules: IntrospectionRules): AskAboutToken {
  const remembered = new Remembered<{ readonly shown: Shown; readonly untilMs: number }>(rememberedMost);
  const asking = new Map<string, Promise<Shown | 'unavailable'>>();

  async function ask(token: string, nowMs: number, mark: string): Promise<Shown | 'unavailable'> {
    try {
      const claims = await introspected(rules, token);
      const caller = isGood(claims, rules, nowMs) ? rules.callerOf(claims, nowMs) : undefined;
      const shown = caller && { caller };
      const endMs = shown && typeof claims.exp === 'number' ? claims.exp * 1000 : Number.POSITIVE_INFINITY;
      if (rules.cacheMs > 0) remembered.set(mark, { shown, untilMs: Math.min(nowMs + rules.cacheMs, endMs) });
      return shown;
    } catch (failure) {
      rules.onFailure(new Error('An authorization server cannot be asked about a token.', { cause: failure }));
      return 'unavailable';
    }
  }

  return (token, nowMs) => {
    if (token.length > tokenMost || !/^[\x21-\x7e]+$/.test(token)) return undefined;
    const mark = hash('sha256', token, 'base64url');
    const known = remembered.get(mark);
    if (known && nowMs < known.untilMs) return known.shown;
    if (known) remembered.delete(mark);
    const underWay = asking.get(mark);
    if (underWay) return underWay;
    if (asking.size >= askingMost) return 'busy';
    const asked = ask(token, nowMs, mark).finally(() => asking.delete(mark));
    asking.set(mark, asked);
    return asked;
  };
}

/** Whether the server says that a token is good, now and here (RFC 7662 section 2.2). */
function isGood({ active, exp, nbf, iss, aud }: JsonMap, { issuer, audience }: IntrospectionRules, nowMs: number): boolean {
  if (active !== true) return false;
  if (exp !== undefined && !(typeof exp === 'number' && nowMs < exp * 1000)) return false;
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf * 1000 <= nowMs)) return false;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return (issuer === undefined || iss === issuer) && (audience === undefined || audiences.includes(audience));
}

/** What the server says of a token. */
async function introspected({ address, client }: IntrospectionRules, token: string): Promise<JsonMap> {
  const said = await fetchJson(address, bytesMost, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(client && { authorization: `Basic ${basicOf(client)}` }),
    },
    body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
  });
  // What is parsed is JSON.
  if (!isMap(said as JsonMap)) throw new Error(`${address} answered no map.`);
  return said as JsonMap;
}

/** A client's name and secret, each written as a form has it (RFC 6749 section 2.3.1). */
function basicOf({ id, secret }: { readonly id: string; readonly secret: string }): string {
  const written = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length);
  return Buffer.from(`${written(id)}:${written(secret)}`).toString('base64');
}

/** How long another server may take to answer. */
const timeoutMs = 5_000;

/**
 * Fetches a JSON document of so many bytes at the most. Redirects are not followed: the address is the one that the document states.
 * @throws where the server answers otherwise than with such a document, or not in time.
 */
export async function fetchJson(url: string, bytesMost: number, asked: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, { ...asked, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}.`);
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body) {
    length += piece.length;
    if (length > bytesMost) throw new Error(`${url} answered more than ${bytesMost} bytes.`);
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'));
}
