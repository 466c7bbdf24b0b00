import { isSame } from '../../document/values.ts';
import type { SchemeSet } from '../../parts/authentication.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import type { Accepted } from './accepted-schemes.ts';
import { withAttributes } from './callers.ts';
import type { Presented } from './carriers.ts';

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
 * own, and a stand-in takes it as it is. What is no key, such as a token or a password, has to be good itself.
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
    return one.outcome === undefined && by ? { outcome: good.outcome, by } : one;
  });
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
