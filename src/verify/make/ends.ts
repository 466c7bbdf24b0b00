import { readToken } from '../../kinds/schemes/token.ts';
import { credentialParts } from '../model/credential-parts.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';

/** Whether a token that was given ends within a time: then nobody could be spoken for afterwards. */
export function endsWithin(model: Model, session: Session, ms: number): boolean {
  const untilSeconds = (session.run.clock.toService(Date.now()) + ms) / 1000;
  return model.callers.some(({ credential }) => {
    const exp = credential && readToken(credentialParts(credential).text)?.claims.exp;
    return typeof exp === 'number' && exp < untilSeconds;
  });
}
