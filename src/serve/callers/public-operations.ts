import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { after } from '../exchange/after.ts';
import type { Identified, Identify } from './presented.ts';

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
