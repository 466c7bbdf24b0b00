/** Signed tokens: what they have to be, and the keys that they are verified with. */

import { hash } from 'node:crypto';
import type * as Jose from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import type { JsonMap } from '../../document/document.ts';
import { durationMs } from '../../kinds/measures.ts';
import type { Scheme } from '../../parts/authentication.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Clock } from '../http/clock.ts';
import { Remembered } from './remembered.ts';

/** What a token has to be, as its scheme states it. */
interface TokenRules {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  /** What it has to say that it is (RFC 8725 section 3.11). */
  readonly typ: string | undefined;
  /** Whether it has to say its end. */
  readonly mustEnd: boolean;
  /** How long one holds at most; then it has to say its end. */
  readonly lifetimeMs: number | undefined;
  /** Those that the document names, and no other. */
  readonly algorithms: readonly string[];
  /** The keys that may have signed it; of those that were made for this run, the name is known. */
  readonly keysOf: (kid: string | undefined, algorithm: string) => KeySet | undefined;
  readonly callerOf: (claims: JsonMap, nowMs: number) => Caller | undefined;
}

/** Who shows a token: nobody where it is not good, `expired` where it was and has ended, `unavailable` where its issuer's keys cannot be had. */
type Shown = { readonly caller: Caller } | undefined | 'expired' | 'unavailable';

/** How long tokens of a scheme hold at most, in milliseconds; nothing where it does not say. */
export function lifetimeMsOf({ own: { lifetime } }: Pick<Scheme, 'own'>): number | undefined {
  return typeof lifetime === 'string' ? durationMs(lifetime) : undefined;
}

/** Verifies a token once, and knows it again until it ends or its key goes. */
type VerifyToken = (token: string, nowMs: number) => Shown | Promise<Shown>;

interface Known {
  readonly shown: { readonly caller: Caller };
  readonly untilMs: number;
  readonly keys: KeySet;
  readonly mark: string;
}

/** How far the clocks of an issuer and of this service may be apart. */
const leewaySeconds = 5;
const rememberedMost = 16_384;
/** How many keys a token without a key's name is tried with. */
const triesMost = 8;

/** Verifies the tokens of one scheme: JWS compact serialization, signed, never encrypted and never `none` (RFC 7519, RFC 8725). */
export function compileTokens(rules: TokenRules): VerifyToken {
  const remembered = new Remembered<Known>(rememberedMost);
  const claimsOf = compileClaims(rules);

  async function verify(token: string, nowMs: number, mark: string): Promise<Shown> {
    const header = headerOf(token);
    if (!header || !rules.algorithms.includes(header.alg)) return undefined;
    const keys = rules.keysOf(header.kid, header.alg);
    const found = await keys?.find(header.kid, header.alg);
    if (!keys || found === undefined) return undefined;
    if (found === 'unavailable') return 'unavailable';
    for (const key of found.slice(0, triesMost)) {
      const claims = await claimsOf(token, key, header.alg, nowMs);
      if (claims === 'another key') continue;
      if (claims === 'expired') return claims;
      const caller = claims && isWithin(claims, rules.lifetimeMs, nowMs) && rules.callerOf(claims as JsonMap, nowMs);
      if (!claims || !caller) return undefined;
      const shown = { caller };
      const untilMs = claims.exp === undefined ? Number.POSITIVE_INFINITY : (claims.exp + leewaySeconds) * 1000;
      remembered.set(mark, { shown, untilMs, keys, mark: key.mark });
      return shown;
    }
    return undefined;
  }

  return (token, nowMs) => {
    const mark = hash('sha256', token, 'base64url');
    const known = remembered.get(mark);
    if (known && nowMs < known.untilMs && known.keys.has(known.mark)) return known.shown;
    if (known) remembered.delete(mark);
    return verify(token, nowMs, mark);
  };
}

/** Whether a token ends soon enough, counted from when it was made or, where it does not say that, from now (RFC 7519 sections 4.1.4 and 4.1.6). */
function isWithin({ exp, iat }: JWTPayload, lifetimeMs: number | undefined, nowMs: number): boolean {
  if (lifetimeMs === undefined) return true;
  return exp !== undefined && (exp - leewaySeconds) * 1000 - (iat === undefined ? nowMs : iat * 1000) <= lifetimeMs;
}

/** What a token says, if this key has signed it and it is for us and for now. */
type ClaimsOf = (
  token: string,
  key: PublicKey,
  algorithm: string,
  nowMs: number,
) => Promise<JWTPayload | undefined | 'expired' | 'another key'>;

function compileClaims({ issuer, audience, typ, mustEnd }: TokenRules): ClaimsOf {
  const jose = lazily(() => import('jose'));
  const imported = importingKeys(jose);
  return async (token, key, algorithm, nowMs) => {
    const { jwtVerify, errors } = await jose();
    try {
      const { payload } = await jwtVerify(token, await imported(key, algorithm), {
        algorithms: [algorithm],
        clockTolerance: leewaySeconds,
        currentDate: new Date(nowMs),
        ...(issuer !== undefined && { issuer }),
        ...(audience !== undefined && { audience }),
        ...(typ !== undefined && { typ }),
        ...(mustEnd && { requiredClaims: ['exp'] }),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) return 'another key';
      if (error instanceof errors.JWTExpired) return 'expired';
      // A token that is not good, or a key that is none of its algorithm's: jose says which, and nobody is told.
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException) return undefined;
      throw error;
    }
  };
}

/** Imports a key once for each algorithm. */
function importingKeys(jose: () => Promise<typeof Jose>): (key: PublicKey, algorithm: string) => Promise<CryptoKey | Uint8Array> {
  const imported = new Map<string, CryptoKey | Uint8Array>();
  return async ({ jwk, mark }, algorithm) => {
    const name = `${algorithm}\n${mark}`;
    const known = imported.get(name);
    if (known) return known;
    const { importJWK } = await jose();
    const key = await importJWK(jwk, algorithm);
    // Keys that have gone are few; there is no need to find out which.
    if (imported.size >= 128) imported.clear();
    imported.set(name, key);
    return key;
  };
}

/** What a token says of its signature; nothing where it is no token. */
function headerOf(token: string): { readonly alg: string; readonly kid: string | undefined } | undefined {
  const [first = '', ...rest] = token.split('.', 4);
  if (rest.length !== 2 || !/^[\w-]+$/.test(first)) return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(first, 'base64url').toString('utf8'));
    if (typeof header !== 'object' || header === null || !('alg' in header) || typeof header.alg !== 'string') return undefined;
    const kid = 'kid' in header ? header.kid : undefined;
    return kid === undefined || typeof kid === 'string' ? { alg: header.alg, kid } : undefined;
  } catch {
    return undefined;
  }
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** A key that signatures can be verified with. */
interface PublicKey {
  /** Tells it from every other key: its whole text. */
  readonly mark: string;
  readonly jwk: JWK;
}

/** The keys of one issuer, which come and go. */
export interface KeySet {
  /** The keys that a token's header can mean; `unavailable` where the set cannot be had. */
  find(kid: string | undefined, algorithm: string): readonly PublicKey[] | Promise<readonly PublicKey[] | 'unavailable'>;
  /** Whether a key is still in the set. */
  has(mark: string): boolean;
}

/** How long a set is taken for current, and how long it stands in where its source cannot be reached. */
const currentMs = 600_000;
const standsInMs = 3_600_000;
/** How long after asking for a set it is not asked for again, whatever the tokens say. */
const coolDownMs = 30_000;

/**
 * A key set (RFC 7517 section 5) that is loaded when it is first needed, again when it is ten minutes old or a token names a
 * key that is not in it, and not more than once in half a minute.
 */
export function startKeySet(load: () => Promise<unknown>, clock: Clock, onFailure: (failure: unknown) => void): KeySet {
  let keys = new Map<string, PublicKey>();
  let loadedMs = Number.NEGATIVE_INFINITY;
  let askedMs = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;

  function reload(): Promise<void> {
    loading ??= take().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function take(): Promise<void> {
    askedMs = clock.now();
    try {
      keys = new Map(keysOf(await load()).map((key) => [key.mark, key]));
      loadedMs = clock.now();
    } catch (failure) {
      onFailure(new Error('A key set cannot be had.', { cause: failure }));
    }
  }

  const mayAsk = () => loading !== undefined || clock.now() - askedMs >= coolDownMs;
  const standsIn = () => clock.now() - loadedMs < standsInMs;

  return {
    find(kid, algorithm) {
      const fitting = () => [...keys.values()].filter(({ jwk }) => fits(jwk, kid, algorithm));
      const found = fitting();
      if (found.length > 0 && standsIn()) {
        if (clock.now() - loadedMs >= currentMs && mayAsk()) void reload();
        return found;
      }
      if (!mayAsk()) return standsIn() ? [] : Promise.resolve('unavailable');
      return reload().then(() => (standsIn() ? fitting() : 'unavailable'));
    },
    has(mark) {
      if (clock.now() - loadedMs >= currentMs && mayAsk()) void reload();
      return standsIn() && keys.has(mark);
    },
  };
}

/** A set of keys that never changes. */
export function fixedKeys(jwks: readonly JWK[]): KeySet {
  const keys = jwks.map((jwk) => ({ mark: JSON.stringify(jwk), jwk }));
  return {
    find: (kid, algorithm) => keys.filter(({ jwk }) => fits(jwk, kid, algorithm)),
    has: (mark) => keys.some((key) => key.mark === mark),
  };
}

/** How many keys of a set are looked at. */
const keysMost = 64;

function keysOf(set: unknown): PublicKey[] {
  const list = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : undefined;
  if (!Array.isArray(list)) throw new Error('It is no key set: it has no list of keys.');
  return list.slice(0, keysMost).flatMap((jwk: unknown) => {
    // A published set holds public keys: a shared secret in it is none.
    if (typeof jwk !== 'object' || jwk === null || !('kty' in jwk) || typeof jwk.kty !== 'string' || jwk.kty === 'oct') return [];
    return [{ mark: JSON.stringify(jwk), jwk: jwk as JWK }];
  });
}

/** Whether a key can have made a signature (RFC 7517 section 4): of its kind, for that use, and of that name where one is given. */
function fits(jwk: JWK, kid: string | undefined, algorithm: string): boolean {
  if (kid !== undefined && jwk.kid !== kid) return false;
  if (jwk.alg !== undefined && jwk.alg !== algorithm && !(jwk.alg === 'EdDSA' && algorithm === 'Ed25519')) return false;
  if (jwk.use !== undefined && jwk.use !== 'sig') return false;
  if (Array.isArray(jwk.key_ops) && !jwk.key_ops.includes('verify')) return false;
  const [kty, crv] = kinds.get(algorithm) ?? [];
  return jwk.kty === kty && (crv === undefined || jwk.crv === crv);
}

/** The type and curve of the keys of each algorithm (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
const kinds: ReadonlyMap<string, readonly [kty: string, crv?: string]> = new Map<string, readonly [string, string?]>([
  ...['RS', 'PS'].flatMap((family) => ['256', '384', '512'].map((bits): [string, readonly [string]] => [family + bits, ['RSA']])),
  ['ES256', ['EC', 'P-256']],
  ['ES384', ['EC', 'P-384']],
  ['ES512', ['EC', 'P-521']],
  ['EdDSA', ['OKP', 'Ed25519']],
  ['Ed25519', ['OKP', 'Ed25519']],
  ...['256', '384', '512'].map((bits): [string, readonly [string]] => [`HS${bits}`, ['oct']]),
]);
