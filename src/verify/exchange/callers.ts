import type { JsonMap } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import type { RequestSigning, SigningMiss } from '../../kinds/schemes/signing.ts';
import { readToken } from '../../kinds/schemes/token.ts';
import {
  acceptedNames,
  acceptedSets,
  kindOfScheme,
  placed,
  type Scheme,
  type SchemeSet,
  schemePrefix,
} from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { Failed } from '../../parts/expressions/cel-value.ts';
import { compileExpression } from '../../parts/expressions/compile.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { claimsScope } from '../../parts/uses/callers.ts';

/** A credential as it is given: for `--as`, in a file, or by code. */
export interface GivenCaller {
  readonly user: string;
  /** The caller's identifier, as `caller.id` has it; unknown unless said. */
  readonly id?: string;
  readonly scopes?: readonly string[];
  /** What the service knows of the caller besides, by the names of the document's attributes. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** The scheme that the credential is of; the first accepted one that it can be of, unless said. */
  readonly scheme?: string;
  /** The key, token, or `user:password`, without the scheme's prefix. */
  readonly credential: string;
  /** Why it must not be good any more, or is not good here: `revoked`, `expired`, `of another service`. */
  readonly bad?: string;
}

/** Somebody that requests are sent as. */
export interface TrialCaller {
  /** For people, and for the variable of a shell: `merchant`, `merchant-2`. */
  readonly name: string;
  readonly user: string;
  readonly id?: string;
  readonly scopes?: readonly string[];
  /** What its token says of it, where it is one. */
  readonly claims?: JsonMap;
  /** What it says of its bearer's attributes, or what was given with it. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly credential?: Credential;
  /** Credentials of other schemes that the same person was given. */
  readonly others?: readonly Credential[];
  /** What the document accepts: all schemes of one of these sets. */
  readonly accepts?: readonly SchemeSet[];
  /** Why the credential is not good; absent = it is. */
  readonly bad?: string;
}

/** A credential as it is sent. */
export interface Credential {
  readonly scheme: Scheme;
  readonly in: 'header' | 'query' | 'cookie';
  readonly carrier: string;
  /** Prefix and all; of a key that requests are signed with, its identifier, a colon and its secret, which are never sent. */
  readonly value: string;
  /** How requests are signed with it, where they are. */
  readonly signs?: SignsWith;
}

/** How requests are signed with a credential. */
export interface SignsWith {
  readonly signing: RequestSigning;
  /** What is done to them that must not be taken. */
  readonly miss?: SigningMiss;
  /** Requests of one run that name the same moment are signed at one, with one nonce. */
  readonly moment?: string;
}

/** A credential that no scheme of the document takes. */
export class NoScheme extends Error {
  override readonly name = 'NoScheme';
}

/** A user that the document does not state. */
export class NoUser extends Error {
  override readonly name = 'NoUser';
}

/**
 * Everybody that requests can be sent as. Where no scheme is stated there is one, who shows nothing; where one is, nobody but
 * the given. @throws {NoScheme} @throws {NoUser}
 */
export function callersOf(spec: Spec, given: readonly GivenCaller[]): TrialCaller[] {
  const seen = new Map<string, number>();
  const nameOf = (user: string) => {
    const count = (seen.get(user) ?? 0) + 1;
    seen.set(user, count);
    return count === 1 ? user : `${user}-${count}`;
  };
  if (given.length === 0 && entriesOf(spec.authentication.schemes).length === 0) {
    const [user = ''] = entriesOf(spec.purpose.users).map(([name]) => name);
    return [{ name: user === '' ? 'anyone' : user, user }];
  }
  const accepts = acceptedSets(spec.authentication);
  const all = given.map(({ user, id, scopes, attributes, scheme, credential, bad }): TrialCaller => {
    if (bad === undefined) checkUser(spec, user);
    const sent = credentialOf(spec, scheme, credential);
    return {
      name: nameOf(bad === undefined ? user : `${user}-${bad.replaceAll(/\W+/g, '-')}`),
      user,
      credential: sent,
      ...saidBy(spec, sent.scheme, credential),
      ...(id !== undefined && { id }),
      ...(scopes && { scopes }),
      ...(attributes && { attributes }),
      ...(bad !== undefined && { bad }),
      accepts,
    };
  });
  return all.map((caller) => (caller.bad === undefined ? { ...caller, others: othersOf(caller, all) } : caller));
}

/** The credentials of other schemes that show the same person, as far as it is known who that is. */
function othersOf(caller: TrialCaller, all: readonly TrialCaller[]): Credential[] {
  return all.flatMap((other) => {
    const isOther = other.bad === undefined && other.credential?.scheme.name !== caller.credential?.scheme.name;
    return isOther && isSamePerson(caller, other) && other.credential ? [other.credential] : [];
  });
}

/**
 * What somebody shows at an endpoint: all of the first accepted set that holds the credential that is meant; that credential alone where no set
 * is whole, and nothing where there is none.
 */
export function shownAt(
  { credential, others = [], accepts = [] }: TrialCaller,
  endpoint: Endpoint | undefined,
): readonly Credential[] {
  if (!credential) return [];
  return wholeSet(credential, others, endpoint?.accept ?? accepts) ?? [credential];
}

/** Whether somebody has all that one of the accepted sets asks for. */
export function canShow({ credential, others = [], accepts }: TrialCaller, endpoint: Endpoint | undefined): boolean {
  const sets = endpoint?.accept ?? accepts;
  return credential === undefined || sets === undefined || wholeSet(credential, others, sets) !== undefined;
}

function wholeSet(
  credential: Credential,
  others: readonly Credential[],
  sets: readonly SchemeSet[],
): readonly Credential[] | undefined {
  const own = [credential, ...others];
  const inSet = (set: SchemeSet) => set.map((name) => own.find(({ scheme }) => scheme.name === name));
  const isWhole = (set: SchemeSet) => set.length > 0 && inSet(set).every((one) => one !== undefined);
  // With another credential somebody may have other scopes: whoever was given that one is another caller.
  const set = sets.find((one) => one.includes(credential.scheme.name) && isWhole(one));
  return set && inSet(set).flatMap((one) => one ?? []);
}

/** Whoever means a user by another name would hear that all of its rights are missing. @throws {NoUser} */
function checkUser({ purpose }: Spec, user: string): void {
  const stated = statedValue(purpose.users);
  if (!stated || Object.hasOwn(stated, user)) return;
  const meant = nearest(user, Object.keys(stated));
  const hint = meant === undefined ? `There is ${Object.keys(stated).join(', ')}.` : `Did you mean ${meant}?`;
  throw new NoUser(`${user} is no user of the document. ${hint}`);
}

/** The claims of a token, and the identifier and scopes that it gives its bearer, by its scheme's `caller` or by what the standards say; the name before a password. */
function saidBy(spec: Spec, scheme: Scheme, text: string): Pick<TrialCaller, 'id' | 'scopes' | 'claims' | 'attributes'> {
  const kind = kindOfScheme(scheme);
  const name = kind?.presented(text).name;
  if (name !== undefined) return { id: name };
  const claims = kind?.proof?.by === 'token' ? readToken(text.replace(/^\S+ +/, ''))?.claims : undefined;
  if (!claims) return {};
  const evaluate = (expression: Expression | undefined, shape: Shape) => {
    if (!expression) return undefined;
    const value = compileExpression(spec, { source: expression.source, scope: claimsScope, expected: { shape } }).evaluate({
      claims,
    });
    return value instanceof Failed ? undefined : value;
  };
  const id = scheme.caller.id ? evaluate(scheme.caller.id, { type: 'string' }) : claims.sub;
  const usual = typeof claims.scope === 'string' ? claims.scope.split(' ').filter((word) => word !== '') : [];
  const scopes = scheme.caller.scopes ? evaluate(scheme.caller.scopes, { type: 'array', items: { type: 'string' } }) : usual;
  const attributes = Object.keys(spec.authentication.attributes).flatMap((name) => {
    const stated = scheme.caller.attributes[name];
    const value = stated ? evaluate(stated, { type: 'string' }) : claims[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return {
    claims,
    attributes: Object.fromEntries(attributes),
    ...(typeof id === 'string' && { id }),
    ...(Array.isArray(scopes) && { scopes: scopes.map(String) }),
  };
}

/** A credential of a scheme, where it is sent. @throws {NoScheme} */
function credentialOf(spec: Spec, name: string | undefined, text: string): Credential {
  const names = acceptedNames(spec);
  const accepted = entriesOf(spec.authentication.schemes).filter(([one]) => names.has(one));
  const scheme =
    name === undefined
      ? accepted.find(([, one]) => kindOfScheme(one)?.takes(text))?.[1]
      : accepted.find(([one]) => one === name)?.[1];
  const carrier = scheme && statedValue(scheme.carrier);
  if (!scheme || carrier === undefined) {
    const known = accepted.map(([one]) => one).join(', ');
    throw new NoScheme(`${name ?? 'a credential'} is of no scheme that the document accepts${known === '' ? '' : `: ${known}`}`);
  }
  const signs = signsWith(scheme);
  if (signs) return { scheme, in: scheme.in, carrier, value: text, signs };
  const prefix = schemePrefix(scheme) ?? '';
  // What is given as it is sent has its prefix already.
  const sent = kindOfScheme(scheme)?.presented(text).text ?? text;
  const value = prefix === '' || text.toLowerCase().startsWith(`${prefix.toLowerCase()} `) ? sent : joined(prefix, sent);
  return { scheme, in: scheme.in, carrier, value: prefix !== '' && sent !== text ? joined(prefix, sent) : value };
}

/** How requests of a scheme are signed; nothing where they are not, or too much of it is open. */
export function signsWith(scheme: Scheme): SignsWith | undefined {
  const proof = kindOfScheme(scheme)?.proof;
  return proof?.by === 'signing' && proof.lacks(scheme) === undefined ? { signing: proof.compile(placed(scheme)) } : undefined;
}

function joined(prefix: string, text: string): string {
  return /\w$/.test(prefix) ? `${prefix} ${text}` : `${prefix}${text}`;
}

/** Whether two credentials are one caller's, as far as it is known who they are. */
export function isSamePerson(one: TrialCaller, other: TrialCaller): boolean {
  return one === other || (one.user === other.user && (one.id === undefined || other.id === undefined || one.id === other.id));
}

/** What stands before a credential, and the credential without it. */
export function credentialParts({ value, scheme }: Credential): { readonly prefix: string; readonly text: string } {
  const prefix = /^[A-Za-z]+ +/.exec(value)?.[0] ?? scheme.prefix ?? '';
  return value.startsWith(prefix) ? { prefix, text: value.slice(prefix.length) } : { prefix: '', text: value };
}
