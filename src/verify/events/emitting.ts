import type { EventKind } from '../../parts/events.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { lookAt } from '../make/look.ts';
import { type Readied, ready } from '../make/readied.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';
import type { Judgement } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Case, Trial } from '../trial.ts';
import { Untestable } from '../untestable.ts';
import { type Ear, eventMs, type Heard } from './ear.ts';
import { emissionJudgement, eventsIn, kindsAbout, kindsJudgement, payloadJudgement, type Seen } from './heard.ts';
import { openEar, streaming, streamOf } from './stream-ears.ts';
import { subscribe, subscribersOf, subscribing } from './subscribing.ts';

export const kindsFact: FactName = { kind: 'kinds of event', subject: 'service' };
export const deliveryFact: FactName = { kind: 'delivery mechanism', subject: 'service' };

/** How long it is listened for what must not come. */
const quietMs = 120;

/** Every operation that changes something, with everybody subscribed who can. */
export const emitting: Trial = {
  name: 'events/emitted',
  part: 'events',
  about: 'Each operation emits exactly its events, as stated, to those who may read the row, and to nobody else.',
  noise: 'alone',
  *cases(model) {
    if (!canListen(model)) return;
    for (const operation of changing(model)) {
      yield caseOf(model, operation, 'full');
      // With as little as it takes, conditions on what changed do not hold.
      if (statedValue(operation.endpoint?.does ?? none)?.verb === 'update') yield caseOf(model, operation, 'plain');
    }
  },
};

/** Whether anybody can be told of anything. */
export function canListen(model: Model): boolean {
  return (
    (subscribersOf(model) !== undefined && subscribing(model).length > 0) ||
    (streamOf(model) !== undefined && streaming(model).length > 0)
  );
}

const none = { standing: 'open', at: '' } as const;

/** The operations that change rows of a resource, but for those that subscribers are kept with. */
export function changing(model: Model): Operation[] {
  const verbs = ['create', 'update', 'replace', 'upsert', 'delete', 'transition'];
  return model.operations.filter(({ endpoint, resource }) => {
    const verb = endpoint && statedValue(endpoint.does)?.verb;
    return verb !== undefined && verbs.includes(verb) && resource !== subscribersOf(model)?.resource;
  });
}

function caseOf(model: Model, operation: Operation, style: 'plain' | 'full'): Case {
  const kinds = kindsAbout(model, operation);
  const facts = kinds.flatMap(({ name: subject }) => [
    { kind: 'emitting operations', subject },
    { kind: 'payload shapes', subject },
  ]);
  return {
    name: `${operation.name}, ${style === 'full' ? 'with all that can be sent' : 'with little'}`,
    facts: [...facts, kindsFact, deliveryFact],
    async run(session: Session) {
      const { request, row } = await readied(session, operation, style);
      const shown = row && (await lookAt(session, row));
      const ears: Ear[] = [];
      for (const maker of subscribing(model)) ears.push(await subscribe(session, maker, { events: ['*'] }));
      if (streamOf(model)) for (const caller of streaming(model)) ears.push(await openEar(session, caller));
      const acted = await session.send(request);
      session.need(isDone(acted.value), `${operation.name} was answered ${acted.value.status}`);
      await Promise.all(ears.map((ear) => listen(session, { operation, kinds, ear, shown: shown?.done, acted })));
    },
  };
}

async function readied(session: Session, operation: Operation, style: 'plain' | 'full'): Promise<Readied> {
  if (!operation.endpoint) throw new Untestable(`no caller reaches ${operation.name}`);
  const made = await ready(session, operation.endpoint, { style: 'full' });
  return style === 'full' ? made : { ...made, request: withLittle(made.request) };
}

/** One member of the body is left: the first text, which conditions hardly ever ask for. */
function withLittle(request: RequestPlan): RequestPlan {
  const { body } = request;
  if (!body || !('value' in body) || typeof body.value !== 'object' || body.value === null) return request;
  const members = Object.entries(body.value);
  const chosen = members.find(([, value]) => typeof value === 'string') ?? members[0];
  return chosen ? { ...request, body: { ...body, value: Object.fromEntries([chosen]) } } : request;
}

interface Listening {
  readonly operation: Operation;
  readonly kinds: readonly EventKind[];
  readonly ear: Ear;
  readonly shown: Done<Exchange> | undefined;
  readonly acted: Done<Exchange>;
}

/** Listens for what one subscriber is told of a change, and holds it to everything that is stated of it. */
async function listen(session: Session, { operation, kinds, ear, shown, acted }: Listening): Promise<void> {
  const { model } = session;
  const { maker, opened: created } = ear;
  const wanted = kinds.filter((kind) => {
    const seen = {
      created: created.value,
      shown: shown?.value,
      acted: acted.value,
      heard: { deliveries: [], nowSeconds: undefined },
    };
    // Nothing has come yet, so what is missed by now is what has to come.
    const judged = emissionJudgement(model, operation, kind, maker, seen);
    return judged !== undefined && 'promised' in judged;
  });
  const isEnough = (deliveries: Heard['deliveries']) => {
    const came = new Set(eventsIn(model, deliveries).map((event) => event.kind));
    return wanted.every(({ name }) => came.has(name));
  };
  const before = [...(shown ? [shown] : []), acted];
  const heard = await session.do(ear.hearing(before, { isEnough, ms: wanted.length === 0 ? 0 : eventMs, quietMs }));
  const of = [created, shown ?? created, acted, heard] as const;
  const seenIn = (one: Exchange, look: Exchange, act: Exchange, come: Heard): Seen => ({
    ...{ created: one, shown: shown && look, acted: act, heard: come },
  });
  for (const kind of kinds) {
    const judge = (...all: readonly [Exchange, Exchange, Exchange, Heard]): Judgement =>
      emissionJudgement(model, operation, kind, maker, seenIn(...all));
    session.claim({ shrinkingRuns: 2, fact: { kind: 'emitting operations', subject: kind.name }, reason: 'emitted', of, judge });
    const judgePayload = (...all: readonly [Exchange, Exchange, Exchange, Heard]): Judgement =>
      payloadJudgement(model, operation, kind, maker, seenIn(...all));
    session.claim({
      shrinkingRuns: 2,
      fact: { kind: 'payload shapes', subject: kind.name },
      reason: 'payload',
      of,
      judge: judgePayload,
    });
  }
  const judgeKinds = (...all: readonly [Exchange, Exchange, Exchange, Heard]) => kindsJudgement(model, seenIn(...all));
  session.claim({ shrinkingRuns: 2, fact: kindsFact, reason: 'kinds', of, judge: judgeKinds });
  const judgeDelivery = (one: Exchange, come: Heard) => ear.judge(one, come);
  session.claim({ shrinkingRuns: 2, fact: deliveryFact, reason: 'sent as stated', of: [created, heard], judge: judgeDelivery });
}
