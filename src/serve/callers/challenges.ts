import type { ErrorCondition } from '../../parts/conditions.ts';
import type { Refusal } from '../exchange/exchange.ts';
import type { Accepted } from './accepted-schemes.ts';

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
