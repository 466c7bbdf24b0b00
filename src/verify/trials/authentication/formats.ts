import { kindOfScheme, type Scheme } from '../../../parts/authentication.ts';
import { credentialParts, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { acceptable, guardedDoors, knockableSchemes, knocking } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { isUnknown } from './carriers.ts';

/** What is accepted as a credential has the form that its scheme states. */
export const credentialFormats: Trial = {
  name: 'authentication/token formats',
  part: 'authentication',
  about: 'A token that is accepted is signed with a stated algorithm, by the stated issuer, for the stated audience.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const scheme of knockableSchemes(model)) yield caseOf(model, scheme);
  },
};

function caseOf(model: Model, scheme: Scheme): Case {
  const fact = { kind: 'token formats', subject: scheme.name };
  const placeholder = { kind: 'credential placeholders', subject: scheme.name };
  return {
    name: `${scheme.name}: the form of what is accepted`,
    facts: [fact, placeholder],
    async run(session: Session) {
      const callers = model.callers.filter(({ credential }) => credential?.scheme.name === scheme.name);
      session.need(callers.length > 0, `no credential of the scheme ${scheme.name} was given`);
      for (const caller of callers) {
        const door = guardedDoors(model).find(({ operation }) => model.access.allows(operation, caller) !== 'no');
        if (!door) continue;
        const done = await session.send((await acceptable(session, door, caller)) ?? knocking(model, door.endpoint, caller));
        const judge = (seen: TrialExchange): Judgement =>
          isUnknown(model, refusalFor(model, 'caller.unknown', door.operation), seen) && isRefused(model, seen)
            ? moot('it is not accepted')
            : flawOf(scheme, seen.caller);
        session.claim({ fact, reason: 'form', of: [done], judge });
      }
      session.need(false, 'a placeholder stands in examples, and no answer shows it');
    },
  };
}

/** What is wrong with the form of a credential that the service accepts. */
function flawOf(scheme: Scheme, { credential }: Partial<TrialCaller> = {}): Judgement {
  if (!credential) return moot('there is none');
  const flaw = kindOfScheme(scheme)?.formFlaw(scheme, credentialParts(credential).text);
  return flaw && 'moot' in flaw ? moot(flaw.moot) : flaw;
}
