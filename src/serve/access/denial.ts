import { kindOfScheme, schemePrefix } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Caller, Refusal } from '../exchange.ts';
import { hasScopes, type Rule } from './rules.ts';

/** How one operation is refused where no rule lets a caller do it. */
export interface Denial {
  /** Step 6: no rule is for this user, or each needs scopes that the caller does not have. */
  outright(caller: Caller | undefined): Refusal;
  /** No rule holds; what the caller may not read is as good as missing. */
  of(caller: Caller | undefined, isReadable: boolean): Refusal;
}

export function compileDenial(spec: Spec, operation: Operation, rules: readonly Rule[]): Denial {
  const scopes = [...new Set(rules.flatMap((rule) => rule.scopes))];
  const prefix = bearerPrefix(spec);
  const orElse = (caller: Caller | undefined, strict: boolean): Refusal | undefined => {
    const code = rules.find((rule) => rule.orElse !== undefined && (!strict || hasScopes(caller, rule.scopes)))?.orElse;
    return code === undefined ? undefined : refusalOf(spec, operation, code);
  };
  return {
    outright(caller) {
      const own = orElse(caller, false);
      if (own || rules.length === 0 || prefix === undefined || caller?.key !== undefined)
        return own ?? { when: 'caller.forbidden' };
      const challenge = `${prefix} error="insufficient_scope", scope="${scopes.join(' ')}"`;
      return { when: 'caller.forbidden', headers: { 'www-authenticate': challenge } };
    },
    of: (caller, isReadable) => orElse(caller, true) ?? { when: isReadable ? 'caller.forbidden' : 'resource.missing' },
  };
}

/** How tokens are presented, where any are accepted in `Authorization` (RFC 6750 section 3.1). */
function bearerPrefix({ authentication }: Spec): string | undefined {
  const { accept } = authentication;
  const bearer = entriesOf(authentication.schemes).find(
    ([name, scheme]) =>
      kindOfScheme(scheme)?.proof?.by === 'token' &&
      statedValue(scheme.carrier)?.toLowerCase() === 'authorization' &&
      (accept === undefined || accept.includes(name)),
  );
  return bearer && schemePrefix(bearer[1])?.trim();
}

/** A code that also answers for what is missing must look just like it, its message too. */
function refusalOf(spec: Spec, operation: Operation, code: string): Refusal {
  const same = (['resource.missing', 'caller.forbidden'] as const).find((when) => codeOf(spec, operation, when) === code);
  return same ? { when: same } : { code };
}

/** The code that answers a condition at an operation: the one that names it before the one for all. */
function codeOf(spec: Spec, operation: Operation, when: 'resource.missing' | 'caller.forbidden'): string | undefined {
  const candidates = entriesOf(spec.errors.codes).flatMap(([name, { rules }]) =>
    rules.filter((rule) => statedValue(rule.when)?.includes(when)).map(({ on }) => ({ name, on })),
  );
  const named = candidates.find(({ on }) => on !== undefined && namesOperation(on, operation));
  return (named ?? candidates.find(({ on }) => on === undefined))?.name;
}
