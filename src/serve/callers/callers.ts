import type { JsonMap } from '../../document/document.ts';
import type { Scheme } from '../../parts/authentication.ts';
import { type Named, statedValue } from '../../parts/fact.ts';
import { type Compilation, isFailed } from '../exchange/compilation.ts';
import type { Caller, Value } from '../exchange/exchange.ts';
import { compileAttributes, withAttributes } from './attributes.ts';

/** Who a token's claims are about; nothing where the mapping fails or comes to no stated user. */
export type CallerOf = (claims: JsonMap, nowMs: number) => Caller | undefined;

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
