import type { JWK } from 'jose';
import type { Clock } from '../http/clock.ts';

/** A key that signatures can be verified with. */
export interface PublicKey {
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
