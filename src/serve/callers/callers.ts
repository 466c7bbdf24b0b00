/** Callers, and the claims that make them: who claims are about, what is known of a caller, and claims that would make it. */

import type { Json, JsonMap } from '../../document/document.ts';
import type { Scheme } from '../../parts/authentication.ts';
import { type Named, statedValue } from '../../parts/fact.ts';
import { named } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { expressionUses } from '../../parts/uses/all.ts';
import { type Compilation, isFailed } from '../exchange/compilation.ts';
import type { Caller, Value } from '../exchange/exchange.ts';

/** Who a token's claims are about; nothing where the mapping fails or comes to no stated user. */
type CallerOf = (claims: JsonMap, nowMs: number) => Caller | undefined;

/**
 * Compiles a scheme's `caller`. What it leaves out is what the standards say: `sub` is who it is (RFC 7519 section 4.1.2),
 * `scope` its scopes (RFC 8693 section 4.2); and the user is the one that is stated, where there is only one.
 */
export function compileCaller(scheme: Scheme, compilation: Compilation): CallerOf {
  const users = usersOf(compilation);
  const evaluate = (word: 'id' | 'user' | 'scopes') => {
    const expression = scheme.caller[word];
    return expression && compilation.expression(expression);
  };
  const attributesOf = compileAttributes(scheme, compilation);
  const [id, user, scopes] = [evaluate('id'), evaluate('user'), evaluate('scopes')];
  return (claims, nowMs) => {
    const scope = { claims, now: nowMs, operation: '', version: '' };
    const callerId = id ? id(scope) : claims.sub;
    const name = userOf(user ? user(scope) : users?.[0], users);
    const words = scopes ? scopes(scope) : scopesIn(claims.scope);
    if (typeof callerId !== 'string' || callerId === '' || name === undefined || (!user && (users?.length ?? 0) > 1))
      return undefined;
    if (isFailed(words) || !Array.isArray(words) || !words.every((word) => typeof word === 'string')) return undefined;
    const caller = { id: callerId, user: name, scopes: [...words], claims: structuredClone(claims) };
    return deeplyFrozen(withAttributes(caller, attributesOf(claims, scope)));
  };
}

/** The stated users; nothing where it is open which there are. */
export function usersOf({ spec }: Pick<Compilation, 'spec'>): readonly string[] | undefined {
  const users: Named<string> | undefined = statedValue(spec.purpose.users);
  return users && Object.keys(users);
}

/** A caller bears one user: of several, the first that is stated. */
function userOf(value: Value, users: readonly string[] | undefined): string | undefined {
  const names = Array.isArray(value) ? value : [value];
  const stated = names.find((name) => typeof name === 'string' && (users === undefined || users.includes(name)));
  return stated ?? (value === undefined && users === undefined ? '' : undefined);
}

function scopesIn(claim: Value): string[] {
  return typeof claim === 'string' ? claim.split(' ').filter((word) => word !== '') : [];
}

/** A caller is handed to every request that shows the same token. */
function deeplyFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deeplyFrozen(inner);
  }
  return value;
}

type Attributes = Readonly<Record<string, string>>;

/** A caller with what is known of it: each attribute is a member, as expressions read it. None hides what every caller has. */
export function withAttributes(caller: Caller, attributes: Attributes | undefined): Caller {
  return attributes && Object.keys(attributes).length > 0 ? { ...attributes, ...caller, attributes } : caller;
}

/** Whether a caller has every attribute that the document states. */
export function compileComplete({ authentication }: Spec): ((caller: Caller) => boolean) | undefined {
  const names = Object.keys(authentication.attributes);
  if (names.length === 0) return undefined;
  return ({ attributes = {} }) => names.every((name) => Object.hasOwn(attributes, name));
}

/** The attributes of a caller that is made up for this run: all the same. */
export function madeUpAttributes({ authentication }: Spec): Attributes {
  return named(Object.keys(authentication.attributes).map((name) => [name, 'dev'] as const));
}

/** What the claims of a token say of its bearer's attributes; one that they do not say is missing. */
function compileAttributes(
  scheme: Scheme,
  { spec, expression }: Compilation,
): (claims: JsonMap, scope: Readonly<Record<string, Value>>) => Attributes {
  const readers = Object.keys(spec.authentication.attributes).map((name) => {
    const stated = scheme.caller.attributes[name];
    const evaluate = stated && expression(stated);
    return [
      name,
      (claims: JsonMap, scope: Readonly<Record<string, Value>>) => (evaluate ? evaluate(scope) : claims[name]),
    ] as const;
  });
  return (claims, scope) =>
    named(
      readers.flatMap(([name, read]) => {
        const value = read(claims, scope);
        return typeof value === 'string' && value !== '' ? [[name, value] as const] : [];
      }),
    );
}

/** The claims that anything in a document reads of its callers (`caller.claims.tenant`), each with a value of nobody in particular. */
export function madeUpClaims(spec: Spec): JsonMap {
  const claims: JsonTree = {};
  for (const { source } of expressionUses(spec))
    if (source.includes('caller.claims')) for (const path of pathsIn(source)) put(claims, path, 'dev');
  return claims;
}

/**
 * Claims that a scheme's `caller` makes this caller of, beside others: the paths that its expressions read are filled in, and what comes
 * out is compared. Nothing where the mapping is not so simple that this finds them.
 */
export function claimsFor(
  scheme: Scheme,
  callerOf: CallerOf,
  caller: Caller,
  { nowMs, others }: { readonly nowMs: number; readonly others: JsonMap },
): JsonMap | undefined {
  const ids = pathsIn(scheme.caller.id?.source ?? 'claims.sub');
  const users = pathsIn(scheme.caller.user?.source ?? '');
  const scopes = pathsIn(scheme.caller.scopes?.source ?? 'claims.scope');
  const none = caller.scopes.length === 0 ? [undefined] : [];
  const attributes = Object.entries(caller.attributes ?? {}).flatMap(([name, value]) =>
    pathsIn(scheme.caller.attributes[name]?.source ?? `claims.${name}`).map((path) => [path, value] as const),
  );
  for (const words of [...none, caller.scopes.join(' '), [...caller.scopes]]) {
    for (const user of [caller.user, [caller.user]]) {
      const claims: JsonTree = structuredClone(others);
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
