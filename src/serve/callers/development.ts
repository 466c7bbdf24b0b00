import type { JWK } from 'jose';
import type { Json, JsonMap } from '../../document/document.ts';
import { tokenDemands } from '../../kinds/schemes/token.ts';
import { acceptedSets } from '../../parts/accepted.ts';
import type { Scheme, SchemeSet } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Caller } from '../exchange/exchange.ts';
import { type Clock, type Entropy, makeKeyPair } from '../http/clock.ts';
import { type Accepted, acceptedSchemes, algorithmsOf, unsupportedBy } from './accepted-schemes.ts';
import { madeUpAttributes, withAttributes } from './attributes.ts';
import { type CallerOf, compileCaller, usersOf } from './callers.ts';
import { type Credentials, newKey } from './credentials.ts';
import { fixedKeys, type KeySet } from './key-set.ts';
import { lifetimeMsOf } from './tokens.ts';

/** A credential that was made for one run of a service, ready to be sent. */
export interface DevelopmentCredential {
  readonly user: string;
  readonly id: string;
  readonly scheme: string;
  readonly in: 'header' | 'query' | 'cookie';
  /** The name of the header, query parameter or cookie, and the whole of its value. */
  readonly name: string;
  readonly value: string;
  /** When a token ends. */
  readonly expires?: string;
}

interface Issuer {
  readonly kid: string;
  readonly algorithm: string;
  readonly keys: KeySet;
  readonly privateKey: Parameters<InstanceType<typeof import('jose')['SignJWT']>['sign']>[0];
}

const tokenMs = 12 * 3_600_000;
const preferred: readonly string[] = ['ES256', 'EdDSA', 'Ed25519', 'HS256', 'HS384', 'HS512', 'ES384', 'ES512', 'RS256', 'PS256'];

/** One credential for each user, for as long as this process runs: keys in memory, tokens of an issuer of its own. None is ever stored. */
export class Development {
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  readonly #chance: Entropy;
  readonly #issuers = new Map<string, Issuer>();
  /** By user and scheme. */
  readonly #made = new Map<string, ReadonlyMap<string, DevelopmentCredential>>();
  /** Whether this run signs tokens also of schemes for which the document states no keys. */
  readonly signsAll: boolean;
  #lacking: readonly string[] = [];

  constructor(credentials: Credentials, clock: Clock, chance: Entropy, signsAll = false) {
    this.signsAll = signsAll;
    this.#credentials = credentials;
    this.#clock = clock;
    this.#chance = chance;
  }

  /** The keys of tokens that this run has signed, by the name that such a token gives. */
  keysOf(scheme: string, kid: string | undefined): KeySet | undefined {
    const issuer = kid === undefined ? undefined : this.#issuers.get(scheme);
    return issuer?.kid === kid ? issuer?.keys : undefined;
  }

  /** Makes what the users of a document do not have yet: what lets them in everywhere, and on a stand-in one of every scheme. */
  async issue(compilation: Compilation): Promise<void> {
    const { spec } = compilation;
    const accepted = new Map(
      acceptedSchemes(spec).flatMap((one) => (unsupportedBy(one, this) === undefined ? [[one.scheme.name, one]] : [])),
    );
    const users = accepted.size === 0 ? [] : (usersOf(compilation) ?? ['']);
    const made = new Map<string, ReadonlyMap<string, DevelopmentCredential>>();
    for (const user of users) {
      const own = await this.#issueTo(user, accepted, compilation);
      if (own.size > 0) made.set(user, own);
    }
    this.#lacking = users.filter((user) => !made.has(user));
    this.#made.clear();
    for (const [user, own] of made) this.#made.set(user, own);
  }

  get made(): readonly DevelopmentCredential[] {
    return [...this.#made.values()].flatMap((own) => [...own.values()]);
  }

  /** The users for whom none could be made. */
  get lacking(): readonly string[] {
    return this.#lacking;
  }

  async #issueTo(
    user: string,
    accepted: ReadonlyMap<string, Accepted>,
    compilation: Compilation,
  ): Promise<ReadonlyMap<string, DevelopmentCredential>> {
    const known = this.#made.get(user);
    const tried = new Map<string, DevelopmentCredential | undefined>();
    const issueOf = async (name: string): Promise<boolean> => {
      const one = accepted.get(name);
      if (one === undefined) return false;
      if (!tried.has(name)) {
        const before = known?.get(name);
        tried.set(name, before?.name === one.carrier ? before : await this.#credentialOf(user, one, compilation));
      }
      return tried.get(name) !== undefined;
    };
    const used = new Set<string>();
    const take = async (set: SchemeSet): Promise<boolean> => {
      for (const name of set) if (!(await issueOf(name))) return false;
      for (const name of set) used.add(name);
      return true;
    };
    for (const sets of setsOf(compilation.spec)) {
      for (const set of sets) if (await take(set)) break;
    }
    if (this.signsAll) for (const name of accepted.keys()) await take([name]);
    return new Map([...tried].flatMap(([name, one]) => (one && used.has(name) ? [[name, one] as const] : [])));
  }

  async #credentialOf(user: string, one: Accepted, compilation: Compilation): Promise<DevelopmentCredential | undefined> {
    const id = user === '' ? 'dev' : `dev-${user}`;
    const scopes = scopesOf(compilation.spec, one.scheme);
    const caller = withAttributes({ id, user, scopes }, madeUpAttributes(compilation.spec));
    const text = await this.#textFor(one, caller, compilation);
    if (text === undefined) return undefined;
    const value = `${one.prefix ?? ''}${one.prefix !== undefined && /\w$/.test(one.prefix) ? ' ' : ''}${text}`;
    const expires = one.kind.proof?.by === 'token' ? new Date(this.#clock.now() + tokenMs).toISOString() : undefined;
    return {
      user,
      id,
      scheme: one.scheme.name,
      in: one.in,
      name: one.carrier,
      value,
      ...(expires !== undefined && { expires }),
    };
  }

  async #textFor(one: Accepted, caller: Caller, compilation: Compilation): Promise<string | undefined> {
    const { scheme, kind } = one;
    const key = Object.freeze({ ...caller, key: 'development' });
    if (kind.proof?.by === 'asking') {
      const token = newKey({}, this.#chance, this.#clock.now());
      this.#credentials.lendKey(scheme.name, token, key);
      return token;
    }
    if (kind.proof?.by === 'key') {
      const { form } = kind.proof;
      const secret = newKey({ ...(form !== undefined && { generate: form }), ...scheme }, this.#chance, this.#clock.now());
      for (const alike of this.signsAll ? carriedAlike(one, compilation.spec) : [one])
        this.#credentials.lendKey(alike.scheme.name, secret, key);
      return kind.proof.write?.(secret) ?? secret;
    }
    if (kind.proof?.by === 'password') {
      const password = newKey({}, this.#chance, this.#clock.now());
      this.#credentials.lendPassword(scheme.name, caller.id, password, key);
      return kind.proof.write(caller.id, password);
    }
    const claims = claimsFor(scheme, compileCaller(scheme, compilation), caller, this.#clock.now());
    return claims && this.#sign(scheme, claims);
  }

  async #sign(scheme: Scheme, claims: JsonMap): Promise<string | undefined> {
    const algorithms = algorithmsOf(scheme, this.signsAll);
    const algorithm = preferred.find((name) => algorithms.includes(name));
    if (algorithm === undefined) return undefined;
    const { kid, privateKey } = await this.#issuerOf(scheme.name, algorithm);
    const { SignJWT } = await import('jose');
    const { typ } = tokenDemands(scheme);
    const seconds = Math.floor(this.#clock.now() / 1000);
    const token = new SignJWT({ ...claims })
      .setProtectedHeader({ alg: algorithm, kid, ...(typ !== undefined && { typ }) })
      .setIssuedAt(seconds);
    token.setExpirationTime(seconds + Math.floor(Math.min(tokenMs, lifetimeMsOf(scheme) ?? tokenMs) / 1000));
    if (scheme.issuer !== undefined) token.setIssuer(scheme.issuer);
    if (scheme.audience !== undefined) token.setAudience(scheme.audience);
    return token.sign(privateKey);
  }

  async #issuerOf(scheme: string, algorithm: string): Promise<Issuer> {
    const known = this.#issuers.get(scheme);
    if (known?.algorithm === algorithm) return known;
    const kid = `ninefold-development-${Buffer.from(this.#chance.bytes(6)).toString('hex')}`;
    const issuer: Issuer = algorithm.startsWith('HS')
      ? this.#sharing(kid, algorithm)
      : await makeKeyPair(algorithm).then(({ publicJwk, privateKey }) => ({
          kid,
          algorithm,
          privateKey,
          keys: fixedKeys([{ ...publicJwk, kid }]),
        }));
    this.#issuers.set(scheme, issuer);
    return issuer;
  }

  #sharing(kid: string, algorithm: string): Issuer {
    const secret = Buffer.from(this.#chance.bytes(64));
    const jwk: JWK = { kty: 'oct', k: secret.toString('base64url'), kid };
    return { kid, algorithm, privateKey: secret, keys: fixedKeys([jwk]) };
  }
}

/** The schemes of keys whose credentials nobody can tell from those of one: they stand in the same place, after the same word. */
function carriedAlike({ in: place, carrier, prefix }: Accepted, spec: Spec): Accepted[] {
  const isAlike = (other: Accepted) => other.in === place && other.carrier === carrier && other.prefix === prefix;
  return acceptedSchemes(spec).filter((other) => other.kind.proof?.by === 'key' && isAlike(other));
}

/** Takes what a stand-in gives out as a token for a key of the caller that everybody is; so many of them at most. */
export function lendingTo(credentials: Credentials, spec: Spec, as: string | undefined): (token: string) => void {
  const user = as ?? entriesOf(spec.purpose.users)[0]?.[0] ?? '';
  const lent = new Set<string>();
  const schemes = acceptedSchemes(spec).filter(({ kind }) => kind.proof?.by === 'key');
  return (token) => {
    if (lent.has(token) || lent.size >= lentMost) return;
    lent.add(token);
    for (const { scheme } of schemes)
      credentials.lendKey(
        scheme.name,
        token,
        withAttributes({ id: 'dev', user, scopes: scopesOf(spec, scheme), key: 'given' }, madeUpAttributes(spec)),
      );
  };
}

const lentMost = 1000;

/** What is accepted, by the document and at endpoints, without repeats; operations at which anybody may call ask for nothing. */
function setsOf({ authentication, endpoints }: Spec): readonly (readonly SchemeSet[])[] {
  const all = [acceptedSets(authentication), ...entriesOf(endpoints.all).flatMap(([, { accept }]) => (accept ? [accept] : []))];
  return [...new Map(all.map((sets) => [JSON.stringify(sets), sets])).values()];
}

/** Every scope that a permission asks for or a scheme lists. */
export function scopesOf(spec: Spec, scheme: Scheme): string[] {
  const asked = (statedValue(spec.authentication.permissions) ?? []).flatMap(({ scopes }) => scopes);
  return [...new Set([...asked, ...Object.keys(scheme.scopes)])];
}

/**
 * Claims that a scheme's `caller` makes this caller of: the paths that its expressions read are filled in, and what comes
 * out is compared. Nothing where the mapping is not so simple that this finds them.
 */
function claimsFor(scheme: Scheme, callerOf: CallerOf, caller: Caller, nowMs: number): JsonMap | undefined {
  const ids = pathsIn(scheme.caller.id?.source ?? 'claims.sub');
  const users = pathsIn(scheme.caller.user?.source ?? '');
  const scopes = pathsIn(scheme.caller.scopes?.source ?? 'claims.scope');
  const none = caller.scopes.length === 0 ? [undefined] : [];
  const attributes = Object.entries(caller.attributes ?? {}).flatMap(([name, value]) =>
    pathsIn(scheme.caller.attributes[name]?.source ?? `claims.${name}`).map((path) => [path, value] as const),
  );
  for (const words of [...none, caller.scopes.join(' '), [...caller.scopes]]) {
    for (const user of [caller.user, [caller.user]]) {
      const claims: JsonTree = {};
      if (words !== undefined) for (const path of scopes) put(claims, path, words);
      for (const path of users) put(claims, path, user);
      for (const path of ids) put(claims, path, caller.id);
      for (const [path, value] of attributes) put(claims, path, value);
      const made = callerOf(claims, nowMs);
      const has = new Set(made?.scopes);
      if (made?.id === caller.id && made.user === caller.user && caller.scopes.every((scope) => has.has(scope))) return claims;
    }
  }
  return undefined;
}

type JsonTree = { [key: string]: Json };

/** The paths that an expression reads of `claims`; what is called is no member. */
function pathsIn(source: string): string[][] {
  const member = String.raw`\s*\.\s*[A-Za-z_]\w*(?!\w|\s*\()|\[\s*(?:"[^"\\]+"|'[^'\\]+')\s*\]`;
  return [...source.matchAll(new RegExp(String.raw`\bclaims((?:${member})+)`, 'g'))].map(([, members = '']) =>
    [...members.matchAll(/[A-Za-z_]\w*|"[^"]+"|'[^']+'/g)].map(([word]) => word.replace(/^["'](.*)["']$/s, '$1')),
  );
}

function put(claims: JsonTree, path: readonly string[], value: Json): void {
  let at = claims;
  for (const [index, name] of path.entries()) {
    if (name === '__proto__') return;
    if (index === path.length - 1) at[name] = value;
    else {
      const inner = at[name];
      at[name] = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
      // It is a map: it was one, or has just been made.
      at = at[name] as JsonTree;
    }
  }
}
