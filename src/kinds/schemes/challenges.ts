import { quotedString } from '../http-token.ts';
import type { ChallengeSubject } from './kind.ts';

/** A challenge by its scheme's name and its parameters. */
export function challengeOf(name: string, parameters: readonly (readonly [name: string, value: string])[]): string {
  return `${name} ${parameters.map(([key, value]) => `${key}=${quotedString(value)}`).join(', ')}`;
}

/** RFC 6750 section 3: bare without a credential, `invalid_token` for one that is not good. */
export function bearerChallenge(asked: ChallengeSubject): string {
  const error = asked.isBad ? [['error', 'invalid_token'] as const] : [];
  if (isInAuthorization(asked)) return challengeOf(asked.prefix ?? 'Bearer', [['realm', asked.realm], ...error]);
  return challengeOf('Bearer', [['realm', asked.realm], ['in', asked.in], ['name', asked.name], ...error]);
}

/** Whether the credential stands where HTTP has it. */
export function isInAuthorization(asked: Pick<ChallengeSubject, 'in' | 'name'>): boolean {
  return asked.in === 'header' && asked.name.toLowerCase() === 'authorization';
}
