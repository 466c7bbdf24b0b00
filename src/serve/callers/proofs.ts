import { hash } from 'node:crypto';
import { introspectionCacheMs } from '../../kinds/schemes/introspection.ts';
import { tokenDemands } from '../../kinds/schemes/token.ts';
import { placed } from '../../parts/authentication.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import type { Clock } from '../http/clock.ts';
import { type Accepted, algorithmsOf, unsupportedBy } from './accepted-schemes.ts';
import { compileCaller, compileComplete, madeUpAttributes, withAttributes } from './callers.ts';
import type { Credentials } from './credentials.ts';
import { type Development, scopesOf } from './development.ts';
import { compileIntrospection, fetchJson } from './introspection.ts';
import type { ProofOutcome, Prove } from './presented.ts';
import { Remembered } from './remembered.ts';
import { compileSignedRequests, signedHead } from './request-signatures.ts';
import { compileTokens, fixedKeys, type KeySet, lifetimeMsOf, startKeySet } from './tokens.ts';

/** What shows that a credential is good, and what slows down whoever guesses one. */

/** What credentials are looked at with. */
export interface Means {
  readonly compilation: Compilation;
  readonly clock: Clock;
  readonly credentials: Credentials;
  /** What signs tokens for this run alone. */
  readonly development: Development | undefined;
  /** Whether any credential of the declared form is good. */
  readonly relaxesAuth: boolean;
  /** What a client of a trial shows anyhow, and is good. */
  readonly brought?: readonly string[] | undefined;
  /** Whether tokens are those that this run has signed where the document states no keys for them. */
  readonly signsAll?: boolean;
  /** Whether a key that is asked for beside one that is good is good too. */
  readonly takesCompanions?: boolean;
  /** Whether pages of this machine may call where the document does not say which may. */
  readonly takesLocalPages?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a file that stands beside the document. */
  readonly readFile: ((path: string) => string) | undefined;
  readonly onFailure: (failure: unknown, requestId: string) => void;
  /** Whom a call comes from. */
  readonly limits: {
    readonly addressOf: (call: Call) => string;
    readonly isFromProxy: (call: Call) => boolean;
    readonly bodyBytesMax: number;
  };
}

/** Compiles what shows that a credential of a scheme is good: whoever lacks an attribute that the document states is nobody. */
export function compileProof(accepted: Accepted, means: Means): Prove {
  const prove = compileShowing(accepted, means);
  const isComplete = compileComplete(means.compilation.spec);
  if (!isComplete) return prove;
  const whole = (outcome: ProofOutcome): ProofOutcome =>
    typeof outcome === 'object' && !isComplete(outcome.caller) ? undefined : outcome;
  return (text, nowMs, call) => after(prove(text, nowMs, call), whole);
}

function compileShowing({ scheme, kind }: Accepted, means: Means): Prove {
  const { credentials } = means;
  if (means.relaxesAuth) return compileRelaxedProof({ scheme, kind }, means.compilation);
  const { proof } = kind;
  if (proof?.by === 'key') {
    const { read, isToldByProxy } = proof;
    return (text, nowMs, call) => {
      if (isToldByProxy && !means.limits.isFromProxy(call)) return undefined;
      const key = read ? read(text) : text;
      return key === undefined ? undefined : credentials.ofKey(scheme.name, key, nowMs);
    };
  }
  if (proof?.by === 'password') {
    const throttled = throttleLogins(means.compilation.spec);
    return (text, nowMs, call) => {
      const sent = proof.read(text);
      const from = means.limits.addressOf(call);
      return sent && throttled(from, nowMs, () => credentials.ofPassword(scheme.name, sent, nowMs, from));
    };
  }
  if (proof?.by === 'signing') {
    if (unsupportedBy({ scheme, kind }, means) !== undefined) return () => 'unsupported';
    const { bodyBytesMax } = means.limits;
    return compileSignedRequests({
      scheme: scheme.name,
      signing: proof.compile(placed(scheme)),
      signers: credentials.signers,
      bodyBytesMax,
    });
  }
  if (proof?.by === 'asking') return compileAsking(scheme, means);
  if (proof === undefined || unsupportedBy({ scheme, kind }, means) !== undefined) return () => 'unsupported';
  const [shared, published] = [sharedSecret(scheme, means), keySetOf(scheme, means)];
  return compileTokens({
    issuer: scheme.issuer,
    audience: scheme.audience,
    ...tokenDemands(scheme),
    lifetimeMs: lifetimeMsOf(scheme),
    algorithms: algorithmsOf(scheme, means.signsAll ?? false),
    keysOf(kid, algorithm) {
      const own = means.development?.keysOf(scheme.name, kid);
      if (own) return own;
      // A key pair's public half is no secret: HMAC knows the shared secret alone.
      return algorithm.startsWith('HS') ? shared : published;
    },
    callerOf: compileCaller(scheme, means.compilation),
  });
}

/** Tokens that this run has lent are known here; its server is asked about every other one. */
function compileAsking(scheme: Accepted['scheme'], means: Means): Prove {
  const { own, secretEnv, issuer, audience } = scheme;
  const secret = secretEnv === undefined ? undefined : means.environment[secretEnv];
  if (secretEnv !== undefined && !secret) return () => 'unavailable';
  const ask = compileIntrospection({
    address: String(own.introspect),
    client: secret === undefined ? undefined : { id: String(own.client), secret },
    issuer,
    audience,
    cacheMs: introspectionCacheMs(scheme),
    callerOf: compileCaller(scheme, means.compilation),
    onFailure: (failure) => means.onFailure(failure, 'authentication'),
  });
  return (text, nowMs) => (means.development && means.credentials.ofLent(scheme.name, text)) || ask(text, nowMs);
}

function sharedSecret({ secretEnv }: Accepted['scheme'], { environment }: Means): KeySet {
  const secret = secretEnv === undefined ? undefined : environment[secretEnv];
  if (secret === undefined || secret === '') {
    return { find: () => (secretEnv === undefined ? [] : Promise.resolve('unavailable')), has: () => false };
  }
  return withoutName(fixedKeys([{ kty: 'oct', k: Buffer.from(secret, 'utf8').toString('base64url') }]));
}

/** A shared secret is one key, whatever a token calls it. */
function withoutName(keys: KeySet): KeySet {
  return { ...keys, find: (_kid, algorithm) => keys.find(undefined, algorithm) };
}

function keySetOf({ jwks }: Accepted['scheme'], { clock, readFile, onFailure }: Means): KeySet | undefined {
  if (jwks === undefined) return undefined;
  const told = (failure: unknown) => onFailure(failure, 'authentication');
  if (isAddress(jwks))
    return startKeySet(
      () => fetchJson(jwks, bytesMost, { headers: { accept: 'application/jwk-set+json, application/json' } }),
      clock,
      told,
    );
  return startKeySet(async () => JSON.parse(fileOf(jwks, readFile)), clock, told);
}

/** Whether a key set is fetched; what is no address is a file. */
function isAddress(jwks: string): boolean {
  return /^https?:\/\//i.test(jwks);
}

function fileOf(path: string, readFile: Means['readFile']): string {
  if (!readFile) throw new Error(`The key set ${path} is a file, and nobody reads files here: give serve a \`readFile\`.`);
  return readFile(path);
}

/** Why the keys that tokens of a scheme are verified with are not there, where that can be known at the start. */
export function keyFlaw(
  { scheme, kind }: Accepted,
  { environment, readFile }: Pick<Means, 'environment' | 'readFile'>,
): string | undefined {
  const lacks = scheme.secretEnv !== undefined && !environment[scheme.secretEnv];
  if (kind.proof?.by === 'asking') return lacks ? `the environment has no ${scheme.secretEnv}` : undefined;
  if (kind.proof?.by !== 'token') return undefined;
  const { jwks, secretEnv, algorithms = [] } = scheme;
  if (secretEnv !== undefined && algorithms.some((name) => name.startsWith('HS'))) {
    const secret = environment[secretEnv];
    if (secret === undefined || secret === '') return `the environment has no ${secretEnv}`;
    const least = Math.max(...algorithms.map((name) => (name.startsWith('HS') ? Number(name.slice(2)) / 8 : 0)));
    // RFC 7518 section 3.2.
    if (Buffer.byteLength(secret) < least)
      return `${secretEnv} is shorter than the ${least} bytes that ${algorithms.join(', ')} asks for`;
  }
  if (jwks === undefined || isAddress(jwks)) return undefined;
  try {
    JSON.parse(fileOf(jwks, readFile));
    return undefined;
  } catch (error) {
    return error instanceof SyntaxError
      ? `${jwks} is not JSON`
      : error instanceof Error
        ? error.message.replace(/\.$/, '')
        : String(error);
  }
}

/**
 * Takes any credential of the declared form: a name with whatever password, a key, a token. One credential is one caller, of the
 * user that callers are taken for, with every scope; whoever shows the same is the same caller.
 */
function compileRelaxedProof(
  { scheme, kind }: Pick<Accepted, 'scheme' | 'kind'>,
  { spec, user }: Compilation,
): (text: string, nowMs: number, call: Call) => { readonly caller: Caller } | undefined {
  const scopes = Object.freeze(scopesOf(spec, scheme));
  const attributes = madeUpAttributes(spec);
  const { proof } = kind;
  const signing = proof?.by === 'signing' ? proof.compile(placed(scheme)) : undefined;
  return (text, _nowMs, call) => {
    // Each request is signed otherwise: it is the key's identifier that is the same.
    const shown = signing ? signing.read(signedHead(call), text)?.keyId : text;
    if (shown === undefined) return undefined;
    const id = proof?.by === 'password' ? proof.read(text)?.name : `${scheme.name}-${hash('sha256', shown, 'hex').slice(0, 12)}`;
    return id === undefined
      ? undefined
      : { caller: Object.freeze(withAttributes({ id, user: user ?? '', scopes, key: 'relaxed' }, attributes)) };
  };
}

/** How large a key set may be. */
const bytesMost = 1024 * 1024;

/** How many wrong passwords may come from one address within a window, where the document has no rate for that. */
const failuresMost = 20;
const windowMs = 60_000;
const addressesMost = 8_192;

interface Failures {
  readonly count: number;
  readonly untilMs: number;
}

/** Looks at a password, unless too many from there were wrong lately: `hurried` then. */
type Throttled = <Good>(
  from: string,
  nowMs: number,
  look: () => PromiseOrValue<Good | undefined>,
) => PromiseOrValue<Good | undefined | 'hurried'>;

/** Slows down who guesses passwords. A document that counts every request of an address sees to it itself. */
function throttleLogins({ limits }: Spec): Throttled {
  if (
    (statedValue(limits.rate) ?? []).some((rate) => rate.per === 'address' && !rate.on && !rate.to && !rate.if && !rate.uncounted)
  )
    return (_from, _nowMs, look) => look();
  const failed = new Remembered<Failures>(addressesMost);
  return (from, nowMs, look) => {
    const known = failed.get(from);
    const lately = known && known.untilMs > nowMs ? known : { count: 0, untilMs: nowMs + windowMs };
    if (lately.count >= failuresMost) return 'hurried';
    return after(look(), (good) => {
      if (good === undefined) {
        // Others of the same address may have failed meanwhile.
        const now = failed.get(from);
        const current = now && now.untilMs > nowMs ? now : lately;
        failed.set(from, { ...current, count: current.count + 1 });
      }
      return good;
    });
  };
}
