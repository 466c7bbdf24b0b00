import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { freshText } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { endsWithin } from '../../make/ends.ts';
import { saysAlone } from '../../model/refused-as.ts';
import { idIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** Clocks are read to the second, and moved a little late. */
const marginMs = 60_000;
const keepMsMost = 8 * 24 * 3_600_000;

/** A key is known for as long as it is kept, and no longer. */
export const keysLater: Trial = {
  name: 'endpoints/keys later',
  part: 'endpoints',
  about: 'A key is known until the time is over for which it is kept, and says nothing afterwards.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const { keepMs } = endpoint.idempotency ?? {};
      if (keepMs === undefined || statedValue(endpoint.does)?.verb !== 'create') continue;
      const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => sendLater(session, endpoint, keepMs) };
    }
  },
};

async function sendLater(session: Session, endpoint: Endpoint, keepMs: number): Promise<void> {
  session.need(
    session.run.clock.advance !== undefined,
    'it takes as long as keys are kept: say how the clock is moved with --clock',
  );
  session.need(keepMs > 2 * marginMs && keepMs <= keepMsMost, 'keys are kept for too short or too long a time');
  session.need(!endsWithin(session.model, session, keepMs + 2 * marginMs), 'the tokens that were given end before that');
  const begun = await beginBody(session, endpoint, 'plain');
  const other = await beginBody(session, endpoint, 'plain');
  const key = freshText('nf-key-');
  const withKey = (plan: RequestPlan) => ({ ...plan, headers: { ...plan.headers, [endpoint.idempotency?.header ?? '']: key } });
  const first = await session.send(withKey(begun.request(begun.json)));
  session.need(isDone(first.value), `${endpoint.key} was answered ${first.value.status}${briefly(first.value)}`);
  await session.wait(keepMs - marginMs);
  const kept = await session.send(withKey(begun.request(begun.json)));
  await session.wait(2 * marginMs);
  const anew = await session.send(withKey(begun.request(other.json)));
  claimKept(session, endpoint, [first, kept]);
  claimForgotten(session, endpoint, [first, kept, anew]);
}

type Sent = Done<TrialExchange>;

function claimKept(session: Session, endpoint: Endpoint, of: readonly [Sent, Sent]): void {
  const { model } = session;
  session.claim({
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: 'key kept',
    ...(endpoint.idempotency && { at: endpoint.idempotency.at }),
    of,
    judge(one: TrialExchange, again: TrialExchange): Judgement {
      if (!isSentTwice(endpoint, one, again) || !isSame(one.sent.json, again.sent.json)) return moot('it was not sent twice');
      if (again.fromMs - one.toMs > (endpoint.idempotency?.keepMs ?? 0) || model.refusals.isHurried(again))
        return moot('the time was over');
      const isAgain = again.status === one.status && isSame(idIn(model, one), idIn(model, again));
      const promised = `the first answer again: ${one.status} ${asText(idIn(model, one) ?? '')}`;
      return isAgain ? undefined : { promised, seen: `${again.status}${briefly(again)}` };
    },
  });
}

function claimForgotten(session: Session, endpoint: Endpoint, of: readonly [Sent, Sent, Sent]): void {
  const { model } = session;
  session.claim({
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: 'key forgotten',
    ...(endpoint.idempotency && { at: endpoint.idempotency.at }),
    of,
    judge(one: TrialExchange, kept: TrialExchange, anew: TrialExchange): Judgement {
      if (!isSentTwice(endpoint, one, anew) || anew.fromMs - one.toMs <= (endpoint.idempotency?.keepMs ?? 0))
        return moot('the time was not over');
      // What was carried out anew is kept from then on.
      if (isDone(kept) && !isSame(idIn(model, one), idIn(model, kept))) return moot('it was used anew in between');
      const isKnown =
        saysAlone(model, anew, 'idempotency.reused') ||
        (isDone(anew) && idIn(model, one) !== undefined && isSame(idIn(model, one), idIn(model, anew)));
      if (isKnown) return { promised: 'a key says nothing once it is kept no longer', seen: `${anew.status}${briefly(anew)}` };
      return isDone(anew) ? undefined : moot('something else stood in its way');
    },
  });
}

function isSentTwice({ idempotency }: Endpoint, one: TrialExchange, other: TrialExchange): boolean {
  const header = idempotency?.header.toLowerCase() ?? '';
  return isDone(one) && one.sent.headers[header] !== undefined && one.sent.headers[header] === other.sent.headers[header];
}
