import type { Json } from '../../../document/document.ts';
import { along, withPlaced } from '../../../parts/reach.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { type Look, lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { eventMs, type Listening } from './ear.ts';
import { deliveryOf } from './envelope.ts';
import { beingAsked, denying, newAddress } from './own-addresses.ts';
import { makerOf, type Pair, pairOf } from './pair.ts';
import { deliveryFact, hear } from './reached.ts';
import { earOf, type SubscribedEar, subscribe, subscribersOf, subscribing } from './subscribing.ts';

/** The reasons of what is claimed of handshakes, by which it is known what was looked at. */
export const confirmingReasons = {
  asked: 'asked before the first delivery',
  denied: 'nothing to who did not confirm',
  moved: 'another address is asked anew',
} as const;

/** Nothing is delivered to an address that was not asked, or did not answer as it has to. */
export const confirmingTrial: Trial = {
  name: 'events/confirmed',
  part: 'events',
  about:
    'An address is asked before anything is delivered to it; one that answers wrongly is told of nothing, and another one is asked anew.',
  noise: 'alone',
  *cases(model) {
    const pair = pairOf(model);
    if (!deliveryOf(model.spec)?.push?.confirm || !pair || subscribing(model).length === 0) return;
    yield caseOf('an address that answers rightly', (session) => answersRightly(session, model, pair));
    yield caseOf('an address that answers wrongly, beside one that does not', (session) => answersWrongly(session, model, pair));
    const resource = subscribersOf(model)?.resource ?? '';
    if (model.endpointsThat('update', resource).length > 0)
      yield caseOf('another address, which answers wrongly', (session) => elsewhere(session, model, pair));
  },
};

function caseOf(name: string, run: Case['run']): Case {
  return { name, facts: [deliveryFact], run };
}

const quietMs = 300;

/** Makes a row that has to be told of. @throws {Untestable} */
async function made(session: Session, { create }: Pair): Promise<Done<TrialExchange>> {
  session.need(create.endpoint !== undefined, `no caller reaches ${create.name}`);
  const { request } = await ready(session, create.endpoint);
  const done = await session.send(request);
  session.need(isDone(done.value), `${create.name} was answered ${done.value.status}`);
  return done;
}

const isSome = ({ length }: Listening['deliveries']) => length > 0;

async function answersRightly(session: Session, model: Model, pair: Pair): Promise<void> {
  const ear = await subscribe(session, makerOf(model, pair, subscribing(model)), { events: ['*'] });
  const done = await made(session, pair);
  const heard = await hear(session, ear, [done], { isEnough: isSome, ms: eventMs, quietMs: 0 });
  const look = await lookAt(session, ear.row, ear.maker);
  claimTold(session, model, { ear, look, isConfirmed: true, heard });
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: confirmingReasons.asked,
    of: [ear.opened, done, heard],
    judge(opened: TrialExchange, acted: TrialExchange, come: Listening): Judgement {
      const [first] = come.deliveries;
      if (!isDone(opened) || !isDone(acted)) return moot('nobody subscribed, or the change was refused');
      const [asked] = come.asked ?? [];
      if (asked && first && asked.atMs <= first.atMs) return undefined;
      if (asked)
        return first
          ? { promised: 'an address is asked before anything comes to it', seen: 'an event came first' }
          : { promised: 'who confirms its address is told of events', seen: 'it was asked, answered, and nothing came' };
      return first
        ? { promised: 'an address is asked before anything comes to it', seen: 'it was never asked' }
        : moot('nothing came');
    },
  });
}

async function answersWrongly(session: Session, model: Model, pair: Pair): Promise<void> {
  const maker = makerOf(model, pair, subscribing(model));
  const denied = await subscribe(session, maker, { events: ['*'], isDenied: true });
  const good = await subscribe(session, maker, { events: ['*'] });
  const done = await made(session, pair);
  const loud = await hear(session, good, [done], { isEnough: isSome, ms: eventMs, quietMs });
  const still = await session.do(denied.hearing([loud], { isEnough: () => true, ms: 0, quietMs: 0 }));
  const look = await lookAt(session, denied.row, denied.maker);
  claimTold(session, model, { ear: denied, look, isConfirmed: false, heard: still });
  claimSilence(session, confirmingReasons.denied, denied.opened, loud, still);
}

/** A subscriber that has confirmed is moved to an address that does not. */
async function elsewhere(session: Session, model: Model, pair: Pair): Promise<void> {
  const names = subscribersOf(model);
  const maker = makerOf(model, pair, subscribing(model));
  const moved = await subscribe(session, maker, { events: ['*'] });
  const good = await subscribe(session, maker, { events: ['*'] });
  const [endpoint] = model.endpointsThat('update', names?.resource ?? '');
  session.need(endpoint !== undefined && names?.url !== undefined, 'no address can be changed');
  const url = await newAddress(session);
  await session.do(denying(url));
  const [caller] = callersFor(session, endpoint, moved.row);
  const headers = await session.preconditions(endpoint, moved.row, caller);
  const nothing: Readonly<Record<string, Symbolic>> = {};
  const json = withPlaced(nothing, names.url, url);
  const changed = await session.send(await requestAbout(session, moved.row, endpoint, { caller, headers, json }));
  session.need(isDone(changed.value), `the address could not be changed: ${changed.value.status}`);
  const asked = await session.do(beingAsked(url, changed));
  const done = await made(session, pair);
  const loud = await hear(session, good, [done], { isEnough: isSome, ms: eventMs, quietMs });
  const ear = earOf(model, url, changed, maker, [asked]);
  const still = await session.do(ear.hearing([loud], { isEnough: () => true, ms: 0, quietMs: 0 }));
  claimSilence(session, confirmingReasons.moved, changed, loud, still);
}

/** Claims that nothing came to who answered wrongly, while something came to somebody else. */
function claimSilence(
  session: Session,
  reason: string,
  opened: Done<TrialExchange>,
  loud: Done<Listening>,
  still: Done<Listening>,
): void {
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason,
    of: [opened, loud, still],
    judge(done: TrialExchange, others: Listening, own: Listening): Judgement {
      if (!isDone(done) || others.deliveries.length === 0) return moot('nobody was told of anything');
      if ((own.asked ?? []).some(({ isConfirmed }) => isConfirmed)) return moot('it was answered rightly');
      if (own.deliveries.length === 0) return undefined;
      const seen = own.asked?.length ? 'it answered wrongly, and was told' : 'it was not asked, and was told';
      return { promised: 'nothing is delivered to an address that has not confirmed', seen };
    },
  });
}

interface Told {
  readonly ear: SubscribedEar;
  readonly look: Look;
  readonly isConfirmed: boolean;
  readonly heard: Done<Listening>;
}

/** Claims that the row says whether its address has confirmed, where a field does. */
function claimTold(session: Session, model: Model, { ear, look, isConfirmed, heard }: Told): void {
  const field = subscribersOf(model)?.confirmed;
  if (field === undefined) return;
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: isConfirmed ? 'told as confirmed' : 'told as not confirmed',
    of: [ear.opened, heard, look.done],
    judge(opened: TrialExchange, come: Listening, shown: TrialExchange): Judgement {
      const row = rowWith(model, shown, idIn(model, opened));
      const value = along<Json>(row, field);
      const asked = come.asked ?? [];
      if (!isDone(opened) || !row || asked.length === 0) return moot('nobody subscribed, or it is not shown, or was not asked');
      if (asked.some((one) => one.isConfirmed) !== isConfirmed || value === isConfirmed) return undefined;
      return { promised: `${field} is ${isConfirmed}`, seen: JSON.stringify(value ?? null) };
    },
  });
}
