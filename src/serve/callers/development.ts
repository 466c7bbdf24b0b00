import type { JWK } from 'jose';
import type { JsonMap } from '../../document/document.ts';
import { sortableTemplate } from '../../kinds/generators/template.ts';
import type { SignatureProof } from '../../kinds/schemes/kind.ts';
import { tokenDemands } from '../../kinds/schemes/token.ts';
import { acceptedSets, placed, type Scheme, type SchemeSet } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Caller } from '../exchange/exchange.ts';
import { type Clock, type Entropy, makeKeyPair } from '../http/clock.ts';
import { type Accepted, acceptedSchemes, algorithmsOf, unsupportedBy } from './accepted-schemes.ts';
import { claimsFor, compileCaller, madeUpAttributes, madeUpClaims, usersOf, withAttributes } from './callers.ts';
import { type Credentials, newKey, newRequestKey } from './credentials.ts';
import { usualWord } from './key-words.ts';
import { fixedKeys, type KeySet, lifetimeMsOf } from './tokens.ts';

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
  /** The algorithm that requests are signed by, where they are: `value` is then the key's identifier, a colon, and the secret or private key. */
  readonly signs?: string;
}

interface Issuer {
  readonly kid: string;
  readonly algorithm: string;
  readonly keys: KeySet;
  readonly privateKey: Parameters<InstanceType<typeof import('jose')['SignJWT']>['sign']>[0];
}

/** Longer than a month, so that the window of a quota goes by on a clock that is moved; the keys are gone with the process all the same. */
const tokenMs = 40 * 24 * 3_600_000;
const preferred: readonly string[] = ['ES256', 'EdDSA', 'Ed25519', 'HS256', 'HS384', 'HS512', 'ES384', 'ES512', 'RS256', 'PS256'];

/** One credential for each user, for as long as this process runs: keys in memory, tokens of an issuer of its own. None is ever stored. */
export class Development {
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  readonly #chance: Entropy;
  readonly #issuers = new Map<string, Issuer>();
  /** Tokens by their scheme and user. */
  readonly #signed = new Map<string, string>();
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
    this.#signed.clear();
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
    if (one.kind.proof?.by === 'signing') return this.#signerFor(one, caller, one.kind.proof);
    const text = await this.#textFor(one, caller, compilation);
    if (text === undefined) return undefined;
    const word = this.signsAll ? usualWord(one) : one.prefix;
    const value = `${word ?? ''}${word !== undefined && /\w$/.test(word) ? ' ' : ''}${text}`;
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

  /** A key to sign requests with: what is told of it is its identifier and its secret, which `ninefold verify --as` takes as they are. */
  async #signerFor(
    { scheme, in: place, carrier }: Accepted,
    caller: Caller,
    proof: SignatureProof,
  ): Promise<DevelopmentCredential> {
    const { algorithms } = proof.compile(placed(scheme));
    const { kept, secret } = await newRequestKey(algorithms, this.#chance, this.#clock.now());
    const keyId = newKey({ generate: `key_${sortableTemplate}` }, this.#chance, this.#clock.now());
    this.#credentials.signers.lend(scheme.name, keyId, kept, Object.freeze({ ...caller, key: 'development' }));
    const { user, id } = caller;
    return { user, id, scheme: scheme.name, in: place, name: carrier, value: `${keyId}:${secret}`, signs: kept.algorithm };
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
      const secret = await this.#secretOf(one, form, caller, compilation);
      for (const alike of this.signsAll ? carriedAlike(one, compilation.spec) : [one])
        this.#credentials.lendKey(alike.scheme.name, secret, key);
      return kind.proof.write?.(secret) ?? secret;
    }
    if (kind.proof?.by === 'password') {
      const password = newKey({}, this.#chance, this.#clock.now());
      this.#credentials.lendPassword(scheme.name, caller.id, password, key);
      return kind.proof.write(caller.id, password);
    }
    return this.#tokenFor(one, caller, compilation);
  }

  /** One token of a scheme for each user and run: another key that stands in its place is the same text. */
  async #tokenFor({ scheme }: Accepted, caller: Caller, compilation: Compilation): Promise<string | undefined> {
    const of = `${scheme.name}\n${caller.user}`;
    const known = this.#signed.get(of);
    if (known !== undefined) return known;
    const { spec } = compilation;
    const given = { nowMs: this.#clock.now(), others: madeUpClaims(spec) };
    const claims = claimsFor(scheme, compileCaller(scheme, compilation), caller, given);
    const text = claims && (await this.#sign(scheme, claims));
    if (text !== undefined) this.#signed.set(of, text);
    return text;
  }

  /**
   * What a key of a stand-in is: where a token of another scheme stands in the same place, that token, so that whoever has one credential for a header
   * has the one for all that is asked for there.
   */
  async #secretOf(one: Accepted, form: string | undefined, caller: Caller, compilation: Compilation): Promise<string> {
    const alike = this.signsAll
      ? acceptedSchemes(compilation.spec).find((other) => other.kind.proof?.by === 'token' && isInPlaceOf(one, other))
      : undefined;
    const token =
      alike && unsupportedBy(alike, this) === undefined ? await this.#tokenFor(alike, caller, compilation) : undefined;
    return token ?? newKey({ ...(form !== undefined && { generate: form }), ...one.scheme }, this.#chance, this.#clock.now());
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
function carriedAlike(one: Accepted, spec: Spec): Accepted[] {
  return acceptedSchemes(spec).filter((other) => other.kind.proof?.by === 'key' && isInPlaceOf(one, other));
}

function isInPlaceOf(one: Pick<Accepted, 'in' | 'carrier' | 'prefix'>, other: Accepted): boolean {
  return other.in === one.in && other.carrier === one.carrier && other.prefix === one.prefix;
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
