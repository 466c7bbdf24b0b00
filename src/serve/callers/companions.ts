import type { SchemeSet } from '../../parts/authentication.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Accepted } from './accepted-schemes.ts';
import type { Presented } from './carriers.ts';
import type { ProofOutcome } from './proof.ts';

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
