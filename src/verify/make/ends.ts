import { readToken } from '../../kinds/schemes/token.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { credentialParts } from '../exchange/callers.ts';
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

/** Whether everybody can still be spoken for after a time, and each version is what it was. */
export function staysWithin(model: Model, session: Session, ms: number): boolean {
  return !endsWithin(model, session, ms) && !turnsWithin(model, session, ms);
}

/** Whether a version is stated to be deprecated or to end within a time: then it would not be the service that it was. */
function turnsWithin({ spec }: Model, session: Session, ms: number): boolean {
  const nowMs = session.run.clock.toService(Date.now());
  return entriesOf(spec.versioning.versions).some(([, { deprecation }]) => {
    const stated = statedValue(deprecation);
    const dates = [stated?.deprecated, stated?.sunset].map((date) => Date.parse(date ?? ''));
    // A day has begun somewhere, and ends somewhere else.
    return dates.some((dateMs) => dateMs >= nowMs - dayMs && dateMs <= nowMs + ms + dayMs);
  });
}

const dayMs = 86_400_000;
