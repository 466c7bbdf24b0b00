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

/** A day has ended everywhere after so long, and begun nowhere so long before. */
const settledMs = 25 * 3_600_000;
/** What is told as a moment has come after so long, however the clocks go. */
const tickMs = 60_000;

/** Versions whose last day is still to come are asked for around it, once all else is over: nothing is what it was afterwards. */
export const ending: Trial = {
  name: 'versioning/ended',
  part: 'versioning',
  about: 'A version whose end is still to come is served until then, and gone after it, or served where that is stated.',
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
    for (const { version, lastMs } of ending.sort((one, other) => one.lastMs - other.lastMs)) {
      yield servedCase(model, versions, version, lastMs);
      yield endingCase(model, versions, version, lastMs);
    }
  },
};

function lastMsOf({ deprecation }: Version): number | undefined {
  const stated = statedValue(deprecation);
  return stated && dateMs(stated.sunset ?? endOf(stated));
}

/** How far from its end a version is asked for: a day has other ends elsewhere, a moment that is stated, or told in `Sunset`, has not. */
function spareMsOf({ deprecation }: Version, lastMs: number, before: TrialExchange | undefined): number {
  const isMoment = /\d[Tt]\d/.test(statedValue(deprecation)?.sunset ?? '');
  return isMoment || dateMs(before?.headers.sunset) === Math.floor(lastMs / 1000) * 1000 ? tickMs : settledMs;
}

/** What asks for a version, and the same for the current one. */
function asksFor(model: Model, { history }: RequestVersions, version: Version) {
  const door = doorOf(model);
  if (!door) return undefined;
  const { endpoint, operation, caller } = door;
  const current = model.request(endpoint, { caller });
  const { endpoint: _endpoint, ...plan } = inVersion(model, current, version.name);
  return { operation, current, plan, newest: { ...inVersion(model, current, history.current), endpoint } };
}

/** It is not over before its end has come. */
function servedCase(model: Model, versions: RequestVersions, version: Version, lastMs: number): Case {
  const rules: FactName = { kind: 'deprecation rules', subject: version.name };
  return {
    name: `${version.name} before its end`,
    facts: [rules],
    async run(session: Session) {
      const { clock } = session.run;
      const asks = asksFor(model, versions, version);
      session.need(asks !== undefined, 'no operation can be asked in every version');
      const leftMs = () => lastMs - clock.toService(Date.now());
      // Others have let it go by: how it ends is looked at all the same.
      if (leftMs() <= tickMs) return;
      session.need(clock.advance !== undefined, 'its last day is still to come, and the clock cannot be moved');
      session.need(!endsWithin(model, session, leftMs()), 'nobody could be spoken for until its last day');
      const { plan, newest, operation, current } = asks;
      const before = await session.send(plan);
      session.need(isDone(before.value), 'it is not served before');
      const waited = await session.waitUntil(lastMs - spareMsOf(version, lastMs, before.value));
      const asked = await session.send(plan);
      const control = await session.send(newest);
      session.claim({
        fact: rules,
        reason: 'served to its end',
        of: [asked, control, waited],
        control: current,
        judge: (seen: TrialExchange, other: TrialExchange, _waited: null): Judgement => {
          if (!isDone(other) || seen.toMs >= lastMs) return moot('it could not be asked in time');
          const isGone = isDone(seen) ? false : isToldOver(model, operation, seen);
          return isGone
            ? { promised: `${operation.name} in ${version.name} is served until its end`, seen: `it was answered ${seen.status}` }
            : undefined;
        },
      });
    },
  };
}

function endingCase(model: Model, versions: RequestVersions, version: Version, lastMs: number): Case {
  const rules: FactName = { kind: 'deprecation rules', subject: version.name };
  return {
    name: `${version.name} after its last day`,
    facts: [rules],
    async run(session: Session) {
      const { clock } = session.run;
      const asks = asksFor(model, versions, version);
      session.need(asks !== undefined, 'no operation can be asked in every version');
      const waitMs = lastMs + settledMs - clock.toService(Date.now());
      // What others have let go by may have taken the clock past it.
      const isStillServed = waitMs > settledMs;
      session.need(waitMs <= 0 || clock.advance !== undefined, 'its last day is still to come, and the clock cannot be moved');
      session.need(!endsWithin(model, session, Math.max(0, waitMs)), 'nobody could be spoken for after its last day');
      const { operation, current, plan, newest } = asks;
      const before = isStillServed ? (await session.send(plan)).value : undefined;
      session.need(before === undefined || isDone(before), 'it is not served before');
      const waited = await session.waitUntil(lastMs + spareMsOf(version, lastMs, before));
      const asked = await session.send(plan);
      const control = await session.send(newest);
      // What ends for another reason, such as a session, ends for the current version too.
      session.need(isDone(control.value), `${versions.history.current} is no longer served to whoever asks`);
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
            return { promised: `${says} is gone after its end: \`version.sunset\``, seen: `it was answered ${seen.status}` };
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
