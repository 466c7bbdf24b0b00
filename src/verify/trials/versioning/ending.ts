import { statedValue } from '../../../parts/fact.ts';
import { endOf, type Version } from '../../../parts/versioning.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { endsWithin } from '../../make/ends.ts';
import { dateMs, doorOf, inVersion, isToldOver, type RequestVersions, versionsOf } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

/** A day has ended everywhere after so long. */
const settledMs = 25 * 3_600_000;

/** Versions whose last day is still to come are asked for after it, once all else is over: nothing is what it was afterwards. */
export const ending: Trial = {
  name: 'versioning/ended',
  part: 'versioning',
  about: 'A version whose last day is still to come is gone after it, or served where that is stated.',
  noise: 'last',
  *cases(model) {
    const versions = versionsOf(model);
    if (!versions) return;
    const ending = versions.all.flatMap((version) => {
      const lastMs = lastMsOf(version);
      // One that is long over owes nothing here: `versioning/selected` looks at it.
      return lastMs === undefined || lastMs + settledMs < Date.now() ? [] : [{ version, lastMs }];
    });
    // The clock goes on and never back.
    for (const { version, lastMs } of ending.sort((one, other) => one.lastMs - other.lastMs))
      yield endingCase(model, versions, version, lastMs);
  },
};

function lastMsOf({ deprecation }: Version): number | undefined {
  const stated = statedValue(deprecation);
  return stated && dateMs(stated.sunset ?? endOf(stated));
}

function endingCase(model: Model, { history }: RequestVersions, version: Version, lastMs: number): Case {
  const rules: FactName = { kind: 'deprecation rules', subject: version.name };
  return {
    name: `${version.name} after its last day`,
    facts: [rules],
    async run(session: Session) {
      const { clock } = session.run;
      const door = doorOf(model);
      session.need(door !== undefined, 'no operation can be asked in every version');
      const waitMs = lastMs + settledMs - clock.toService(Date.now());
      // What others have let go by may have taken the clock past it.
      const isStillServed = waitMs > settledMs;
      session.need(waitMs <= 0 || clock.advance !== undefined, 'its last day is still to come, and the clock cannot be moved');
      session.need(!endsWithin(model, session, Math.max(0, waitMs)), 'nobody could be spoken for after its last day');
      const { endpoint, operation, caller } = door;
      const current = model.request(endpoint, { caller });
      const { endpoint: _endpoint, ...plan } = inVersion(model, current, version.name);
      if (isStillServed) {
        const before = await session.send(plan);
        session.need(isDone(before.value), 'it is not served before');
      }
      const waited = await session.waitUntil(lastMs + settledMs);
      const asked = await session.send(plan);
      const control = await session.send({ ...inVersion(model, current, history.current), endpoint });
      // What ends for another reason, such as a session, ends for the current version too.
      session.need(isDone(control.value), `${history.current} is no longer served to whoever asks`);
      const isServed = statedValue(version.deprecation)?.isAnnouncedOnly === true;
      session.claim({
        fact: rules,
        reason: 'ended',
        of: [asked, control, waited],
        control: current,
        judge: (seen: TrialExchange, other: TrialExchange, _waited: null): Judgement => {
          if (!isDone(other) || model.refusals.isHurried(seen) || seen.status >= 500) return moot('it could not be asked now');
          const isGone = isToldOver(model, operation, seen);
          const says = `${operation.name} in ${version.name}`;
          if (isServed && !isDone(seen))
            return { promised: `${says} is served, though its end is announced`, seen: `it was answered ${seen.status}` };
          if (!isServed && !isGone)
            return { promised: `${says} is gone after its last day: \`version.sunset\``, seen: `it was answered ${seen.status}` };
          return undefined;
        },
      });
      if (!isServed)
        claimRefusedAs(session, asked, {
          by: { when: 'version.sunset' },
          what: `${operation.name} in ${version.name}`,
          control: current,
        });
    },
  };
}
