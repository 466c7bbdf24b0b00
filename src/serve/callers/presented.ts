/**
 * What a request presents of who calls: the credentials that it carries, what is asked for where they are missing, what each of
 * them came to, and the one caller that all of them are, or nobody.
 */

import { isSame } from '../../document/values.ts';
import type { SchemeSet } from '../../parts/authentication.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Caller, Refusal } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import { cookiePairs, decodeFormText, splitQuery } from '../http/target.ts';
import type { Accepted } from './accepted-schemes.ts';
import { withAttributes } from './callers.ts';
import { isAuthorization, signingKeyIn, withoutWord } from './key-words.ts';

/** A credential that a request carries, and the schemes that it can be of: none where it has no form that is taken there. */
export interface Presented {
  readonly text: string;
  readonly schemes: readonly Accepted[];
  /** All schemes that put their credentials where it stands. */
  readonly around: readonly Accepted[];
}

/** Reads the credentials that a request carries, wherever an accepted scheme puts one. */
type ReadCredentials = (call: Call) => readonly Presented[];

const nothing: readonly Presented[] = Object.freeze([]);

/** @param takesAny Whether any credential is taken, also in a header that no scheme names, where none is shown in a declared place. */
export function compileCarriers(accepted: readonly Accepted[], takesAny = false, takesWords = false): ReadCredentials {
  const carriers = new Map<string, Accepted[]>();
  for (const scheme of accepted) {
    const name = scheme.in === 'header' ? scheme.carrier.toLowerCase() : scheme.carrier;
    const key = `${scheme.in}\n${name}`;
    carriers.set(key, [...(carriers.get(key) ?? []), scheme]);
  }
  const readers = [...carriers.keys()].map((key) => {
    const [place = '', name = ''] = key.split('\n');
    return place === 'header'
      ? (call: Call) => textsInHeader(call, name)
      : place === 'query'
        ? (call: Call) => textsInQuery(call, name)
        : (call: Call) => textsInCookie(call, name);
  });
  const nameless = accepted.filter(({ kind }) => kind.proof?.by !== 'password');
  const assignments = [...carriers.values()].map((schemes) => compileAssignment(schemes, takesAny, takesWords));
  return (call) => {
    let presented: Presented[] | undefined;
    for (let at = 0; at < readers.length; at++) {
      const texts = readers[at]!(call);
      if (texts === undefined) continue;
      presented ??= [];
      for (const text of texts) presented.push(assignments[at]!(text));
    }
    return presented ?? (takesAny ? elsewhere(call, nameless) : nothing);
  };
}

/** What stands in a header that is called as credentials are, whatever its description calls it: some descriptions name another one than their clients send. */
function elsewhere({ headers }: Call, schemes: readonly Accepted[]): readonly Presented[] {
  if (schemes.length === 0) return nothing;
  for (const name in headers) {
    const text = headers[name];
    if (typeof text === 'string' && text.trim() !== '' && isCalledCredential(name)) return [{ text, schemes, around: schemes }];
  }
  return nothing;
}

/** Whether a header is called as credentials are. */
export function isCalledCredential(name: string): boolean {
  return credentialName.test(name) && name !== 'idempotency-key';
}

const credentialName = /^(?:[\w-]+[-_])?(?:authorization|auth|(?:api|access|secret)?[-_]?(?:token|key)|secret)$/;

function textsInHeader(call: Call, name: string): readonly string[] | undefined {
  const value = call.headers[name];
  if (value === undefined) return undefined;
  // node:http keeps the first of several and says nothing: which of them was meant, nobody knows.
  if (call.repeats?.(name)) return [ambiguous];
  return typeof value === 'string' ? [value] : value;
}

/** A text that is no credential. */
const ambiguous = '\0';

function textsInQuery({ query }: Call, name: string): readonly string[] | undefined {
  if (query === '') return undefined;
  return splitQuery(query)
    .values.get(name)
    ?.map((value) => decodeFormText(value) ?? ambiguous);
}

function textsInCookie({ headers }: Call, name: string): readonly string[] | undefined {
  const { cookie } = headers;
  if (cookie === undefined) return undefined;
  const texts = cookiePairs(typeof cookie === 'string' ? cookie : cookie.join('; ')).flatMap(([key, value]) =>
    key === name ? [value] : [],
  );
  return texts.length === 0 ? undefined : texts;
}

/**
 * Which schemes a text of one carrier is for: those with the longest prefix that it begins with, in any case (RFC 9110 section 11.1). `takesWords`: a key that is
 * described as the whole of `Authorization` may have a word before it, since that is how such descriptions mean `Bearer`.
 */
function compileAssignment(schemes: readonly Accepted[], takesAny: boolean, takesWords: boolean): (text: string) => Presented {
  const prefixes = [...new Set(schemes.map(({ prefix }) => prefix?.toLowerCase() ?? ''))].sort((a, b) => b.length - a.length);
  const choices = prefixes.map((prefix) => ({
    prefix,
    schemes: schemes.filter((scheme) => (scheme.prefix?.toLowerCase() ?? '') === prefix),
  }));
  const isWordTaken = takesWords && schemes.every(({ in: place, carrier }) => isAuthorization(place, carrier));
  // Of a name with a password the form says who it is.
  const nameless = schemes.filter(({ kind }) => kind.proof?.by !== 'password');
  return (text) => {
    for (const { prefix, schemes: fitting } of choices) {
      const own = withoutPrefix(text, prefix);
      const rest = own !== undefined && isWordTaken ? (prefix === '' ? withoutWord(own) : (signingKeyIn(own) ?? own)) : own;
      if (rest !== undefined) {
        return { text: rest, schemes: rest === '' || rest === ambiguous ? [] : fitting, around: schemes };
      }
    }
    const isAnything = takesAny && text !== ambiguous && text.trim() !== '';
    return isAnything ? { text, schemes: nameless, around: schemes } : { text: '', schemes: [], around: schemes };
  };
}

/** What follows a prefix; one that ends with a letter or digit is parted from it by blanks. */
function withoutPrefix(text: string, prefix: string): string | undefined {
  if (prefix === '') return text.trim();
  if (text.length < prefix.length || text.slice(0, prefix.length).toLowerCase() !== prefix) return undefined;
  const rest = text.slice(prefix.length);
  return /\w$/.test(prefix) && !/^[ \t]/.test(rest) ? undefined : rest.trim();
}

/** Step 4's refusals, each with what a client may show instead (RFC 9110 section 15.5.2). */
export interface Challenges {
  readonly missing: Refusal;
  /** A credential that came is not good: of these schemes. `isOver`: each was good once, and its time is over. */
  bad(schemes: readonly Accepted[], isOver?: boolean): Refusal;
}

/** Compiles them for the schemes that are accepted together. */
export function compileChallenges(accepted: readonly Accepted[], title: string): Challenges {
  const realm = title === '' ? 'service' : title;
  const refuse = (when: ErrorCondition, isBad: (scheme: Accepted) => boolean): Refusal => {
    const challenges = accepted.map((scheme) =>
      scheme.kind.challenge({ realm, in: scheme.in, name: scheme.carrier, prefix: scheme.prefix, isBad: isBad(scheme) }),
    );
    const unique = [...new Set(challenges)];
    return { when, ...(unique.length > 0 && { headers: { 'www-authenticate': unique.join(', ') } }) };
  };
  return {
    missing: refuse('caller.unknown.missing', () => false),
    bad: (schemes, isOver) =>
      refuse(isOver ? 'caller.unknown.expired' : 'caller.unknown.bad', (scheme) => schemes.includes(scheme)),
  };
}

/** Who shows a credential: nobody where it is not good; `expired`: somebody whose time is over; or why nobody can tell, such as that the body that is signed is `too large`. */
export type ProofOutcome =
  | { readonly caller: Caller }
  | undefined
  | 'expired'
  | 'unavailable'
  | 'busy'
  | 'hurried'
  | 'too large'
  | 'unsupported';
export type Prove = (text: string, nowMs: number, call: Call) => ProofOutcome | Promise<ProofOutcome>;

/** What a credential came to, and by which scheme, where it is good. */
export interface Proven {
  readonly outcome: ProofOutcome;
  readonly by: Accepted | undefined;
}

/**
 * Beside a key that is good, another one that is asked for with it says for whom it is, as the name of an application does: a client has its
 * own, and a stand-in takes it as it is. What is no key, such as a token or a password, has to be good itself, and so has what is called more of a
 * secret than the one that is good: `X-Api-Key` beside `X-Api-Id`.
 */
export function withCompanions(
  presented: readonly Presented[],
  proven: readonly Proven[],
  sets: readonly SchemeSet[],
): readonly Proven[] {
  const good = proven.find(({ outcome, by }) => isGood(outcome) && by?.kind.proof?.by === 'key');
  if (!good || proven.every(({ outcome }) => outcome !== undefined)) return proven;
  const beside = new Set(sets.filter((set) => set.some((name) => name === good.by?.scheme.name)).flat());
  return proven.map((one, at) => {
    const by = presented[at]?.schemes.find(({ scheme, kind }) => kind.proof?.by === 'key' && beside.has(scheme.name));
    return one.outcome === undefined && by && secrecyOf(by) <= secrecyOf(good.by) ? { outcome: good.outcome, by } : one;
  });
}

/** How much of a secret the place of a key is called: a token more than a key, and a name not at all. */
function secrecyOf(by: Accepted | undefined): number {
  const place = by?.carrier ?? '';
  if (/(?:token|secret|password)$/i.test(place)) return 2;
  return /key$/i.test(place) ? 1 : 0;
}

/** Whether a credential is good. */
export function isGood(outcome: ProofOutcome): outcome is { readonly caller: Caller } {
  return typeof outcome === 'object';
}

/** Several credentials name one caller, with the scopes of all of them; or nobody. */
export function oneCaller(callers: readonly Caller[]): Caller | undefined {
  const [first, ...others] = callers;
  if (!first || others.length === 0) return first;
  const { id, user } = first;
  const { attributes } = first;
  if (others.some((other) => other.id !== id || other.user !== user || !isSame(other.attributes, attributes))) return undefined;
  const scopes = [...new Set(callers.flatMap((caller) => caller.scopes))];
  const claims = callers.find((caller) => caller.claims)?.claims;
  const key = callers.find((caller) => caller.key !== undefined)?.key;
  return withAttributes({ id, user, scopes, ...(claims && { claims }), ...(key !== undefined && { key }) }, attributes);
}

/** Where any credential is good, several of them are one caller: the one of the first that shows all of them. */
export function joinedCaller(callers: readonly Caller[]): Caller | undefined {
  const [first, ...others] = callers;
  if (!first || others.length === 0) return first;
  const scopes = [...new Set(callers.flatMap((caller) => caller.scopes))];
  return { ...first, id: callers.map(({ id }) => id).join('+'), scopes };
}

/**
 * Who is calling, as step 4 finds out. Nobody, where the operation asks for no credential and none is looked at. `mayNotWrite`: a page of
 * another site asks, with what its browser sends by itself. `warning`: what was let pass.
 */
export type Identified =
  | { readonly caller: Caller | undefined; readonly mayNotWrite?: true; readonly warning?: string }
  | { readonly refusal: Refusal };

/** Step 4: finds out who is calling. */
export type Identify = (call: Call, plan: { readonly operation: Operation }) => PromiseOrValue<Identified>;

/** Nobody in particular calls. */
export const nobody: Identified = Object.freeze({ caller: undefined });

/**
 * No credential is looked at where an operation is public. A stand-in that lets things pass looks at one all the same where a description says nothing of
 * security for what is read, though it asks for credentials elsewhere: a client shows its key at every operation, and a wrong one is refused.
 */
export function withPublic(identify: Identify, spec: Spec, looksAtSilent: boolean): Identify {
  const { public: names, isPublicInferred } = spec.authentication;
  if (names.length === 0) return identify;
  const known = new Map<Operation, boolean>();
  const isPublic = (operation: Operation): boolean => {
    const found = known.get(operation) ?? namesOperation(names, operation);
    known.set(operation, found);
    return found;
  };
  return (call, plan) => {
    if (!isPublic(plan.operation)) return identify(call, plan);
    const isSilent = looksAtSilent && isPublicInferred && plan.operation.endpoint?.method === 'GET';
    return isSilent ? after(identify(call, plan), (found) => (isWrong(found) ? found : nobody)) : nobody;
  };
}

/** Whether a credential was shown that is none. */
function isWrong(found: Identified): boolean {
  return 'refusal' in found && 'when' in found.refusal && wrong.has(String(found.refusal.when));
}

const wrong: ReadonlySet<string> = new Set(['caller.unknown.bad', 'caller.unknown.expired']);

/** Whether a browser sends a credential by itself, whatever page asks for it: a cookie, and what it asked for as a name and a password. */
export function isAmbient({ schemes }: Presented): boolean {
  return schemes.some(
    ({ in: place, kind: { proof } }) =>
      place === 'cookie' || proof?.by === 'password' || (proof?.by === 'key' && proof.write !== undefined),
  );
}

/** Whether it came in a cookie. */
export function isByCookie({ schemes }: Presented): boolean {
  return schemes.some((one) => one.in === 'cookie');
}
