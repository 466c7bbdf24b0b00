import type { NearMiss } from '../../kinds/schemes/kind.ts';
import { endedBy, misfitOf, readToken } from '../../kinds/schemes/token.ts';
import type { Caller } from '../model/callers.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';
import type { Exchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Case } from '../trial.ts';
import { unknownFlaw } from './carriers.ts';
import { type Door, knocking, partsOf } from './knocking.ts';
import { isTokenScheme, tamperedWith } from './tampered.ts';

/** The fact that whatever nobody gave out breaks. */
export const schemesFact: FactName = { kind: 'schemes', subject: 'service' };

/** A credential that was good once, or is good elsewhere. */
export function strangerAt(model: Model, { operation, endpoint }: Door, stranger: Caller): Case {
  const fact = factOfStranger(model, stranger);
  return {
    name: `a credential that is ${stranger.bad}: ${stranger.name}`,
    facts: [fact],
    async run(session: Session) {
      const done = await session.send(knocking(model, endpoint, { ...stranger, user: '' }));
      const judge = (seen: Exchange) => unknownFlaw(model, operation, seen, `with a credential that is ${stranger.bad}`);
      session.claim({ fact, reason: `${stranger.bad}`, of: [done], judge });
    },
  };
}

/** What a token says of itself, and the scheme does not take, is a matter of its format; whatever else is bad about it of the scheme. */
function factOfStranger(model: Model, { credential }: Caller): FactName {
  const token = credential && isTokenScheme(credential.scheme) ? readToken(partsOf(credential).text) : undefined;
  const isSelfEvident = token !== undefined && (endedBy(token, Date.now()) || misfitOf(credential?.scheme, token) !== undefined);
  return isSelfEvident ? factOfTampering(model, credential?.scheme.name ?? '', 'token formats') : schemesFact;
}

/** The fact that a bad credential would break; where its format is no promise, that of the schemes. */
export function factOfTampering(model: Model, scheme: string, kind: NearMiss['breaks']): FactName {
  const format = { kind: 'token formats', subject: scheme };
  return kind === 'token formats' && model.facts.isPromised(format) ? format : schemesFact;
}

/** Whether a credential can be made into one of a form that its scheme does not have. */
export function breaksFormat(good: Caller | undefined): boolean {
  const { credential } = good ?? {};
  return (
    credential !== undefined &&
    tamperedWith(credential.scheme, partsOf(credential).text).some(({ breaks }) => breaks === 'token formats')
  );
}
