import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { EventKind } from '../../parts/events.ts';
import { type Expression, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { creationsOf } from '../make/creations.ts';
import { lookAt } from '../make/look.ts';
import { type Readied, ready } from '../make/readied.ts';
import type { Model } from '../model/model.ts';
import { rowIn } from '../model/row-shown.ts';
import type { Judgement } from '../script/claim.ts';
import { briefly, isDone, type TrialExchange } from '../script/exchange.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import { resolve, type Symbolic } from '../script/symbol.ts';
import type { Case, Trial } from '../trial.ts';
import { Untestable } from '../untestable.ts';
import { canListen, changing, deliveryFact, everybody, kindsFact } from './changing.ts';
import { type Ear, endAll, eventMs, type Listening as Heard, type Waiting } from './ear.ts';
import { kindsOn } from './expected.ts';
import {
  type ChangeHeard,
  emissionJudgement,
  eventsIn,
  kindsAbout,
  kindsJudgement,
  payloadJudgement,
  strangerJudgement,
} from './heard.ts';
import { hearAll } from './reached.ts';

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

const none = { standing: 'open', at: '' } as const;

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
      const { ears, shown, acted } = await carriedOut(session, operation, style);
      const row = { ...shown?.fields, ...(isDone(acted.value) ? rowIn(acted.value) : {}) };
      const beside = creationsOf(session, operation.resource ?? '', row);
      const listenings = ears.map((ear) => ({ operation, kinds, ear, shown: shown?.done, acted, beside }));
      const heard = await hearAll(
        session,
        listenings.map((one) => ({
          ear: one.ear,
          after: [...(shown ? [shown.done] : []), acted],
          waiting: waitingFor(model, one),
        })),
      );
      for (const [at, one] of listenings.entries()) judgeAll(session, one, heard[at] as Done<Heard>);
    },
  };
}

/** The operation, with everybody listening; what the service's own rules refuse is drawn anew. @throws {Untestable} */
async function carriedOut(session: Session, operation: Operation, style: 'plain' | 'full') {
  const { endpoint, name } = operation;
  if (!endpoint) throw new Untestable(`no caller reaches ${name}`);
  const verb = statedValue(endpoint.does)?.verb;
  // Of a body of the resource's fields all is told; another is drawn, so that its values are others than those of the row.
  const first = verb === 'transition' || verb === 'delete' ? 'full' : 'whole';
  let why = '';
  for (const drawn of [first, 'full', 'plain'] as const) {
    const readied = await tellingOf(session, operation, () => ready(session, endpoint, { style: drawn }));
    const { row } = readied;
    const request = style === 'full' ? readied.request : withLittle(session, operation, readied);
    const shown = row && (await lookAt(session, row));
    const ears = await everybody(session);
    const acted = await session.send(request);
    if (isDone(acted.value)) return { ears, shown, acted };
    await endAll(session);
    why = `${name} was answered ${acted.value.status}${briefly(acted.value)}`;
  }
  throw new Untestable(why);
}

/** How often a request is drawn until payloads show what they are made of. */
const drawsMax = 6;

/** Draws until what payloads take of the request is another value than the row has under the same name. @throws {Untestable} */
async function tellingOf(session: Session, operation: Operation, draw: () => Promise<Readied>): Promise<Readied> {
  const sources = kindsOn(session.model, operation).flatMap(({ data }) =>
    data && !('source' in data) ? Object.values(data).map(({ source }) => String(source)) : [],
  );
  const names = sources.flatMap((source) => [...source.matchAll(/\brequest\.(\w+)/g)].map(([, name = '']) => name));
  const conditions = kindsOn(session.model, operation).flatMap((kind) => kind.if ?? []);
  const isDue = (drawn: Readied) => conditions.every((condition) => isMet(session, operation, condition, drawn) !== false);
  let drawn = await draw();
  for (let draws = 1; draws < drawsMax && !(isTelling(session, names, drawn) && isDue(drawn)); draws++) drawn = await draw();
  return drawn;
}

/** Whether a condition of an event holds for a request that makes or changes a row of its own fields; nothing where that cannot be said. */
function isMet(
  session: Session,
  { name }: Operation,
  condition: Expression,
  { request: { body }, row }: Readied,
): Json | undefined {
  const sent = body && 'value' in body ? resolve(body.value, session.run) : undefined;
  if (!isMap(sent)) return undefined;
  const context = { next: { ...row?.fields, ...sent }, ...(row?.fields && { resource: row.fields }) };
  const evaluated = session.model.expressions.evaluate(condition, name, { context });
  return typeof evaluated === 'object' ? evaluated.value : undefined;
}

function isTelling(session: Session, names: readonly string[], { request: { body }, row }: Readied): boolean {
  const sent = body && 'value' in body ? resolve(body.value, session.run) : undefined;
  return !isMap(sent) || names.every((name) => !row?.fields || !isSame(sent[name], row.fields[name]));
}

/** One member of the body is left, which changes the row and which no condition of an event asks for, where there is one. */
function withLittle(session: Session, operation: Operation, { request, row }: Readied): RequestPlan {
  const { body } = request;
  if (!body || !('value' in body) || typeof body.value !== 'object' || body.value === null) return request;
  const conditions = kindsOn(session.model, operation).map((kind) => kind.if?.source ?? '');
  const isAsked = (name: string) => conditions.some((source) => new RegExp(`\\.${RegExp.escape(name)}\\b`).test(source));
  const members = Object.entries(body.value as Readonly<Record<string, Symbolic>>);
  const others = members.filter(([name, value]) => !isSame(resolve(value, session.run), row?.fields?.[name]));
  const chosen = others.find(([name]) => !isAsked(name)) ?? others[0] ?? members[0];
  return chosen ? { ...request, body: { ...body, value: Object.fromEntries([chosen]) } } : request;
}

interface Listening {
  readonly operation: Operation;
  readonly kinds: readonly EventKind[];
  readonly ear: Ear;
  readonly shown: Done<TrialExchange> | undefined;
  readonly acted: Done<TrialExchange>;
  readonly beside: readonly Done<TrialExchange>[];
}

/** A subscriber waits for what has to come, and listens a moment longer for what must not. */
function waitingFor(model: Model, { operation, kinds, ear, shown, acted, beside }: Listening): Waiting {
  const nothing = { deliveries: [], nowSeconds: undefined };
  const wanted = kinds.filter((kind) => {
    const others = beside.map(({ value }) => value);
    const seen = { created: ear.opened.value, shown: shown?.value, acted: acted.value, heard: nothing, beside: others };
    // Nothing has come yet, so what is missed by now is what has to come.
    const judged = emissionJudgement(model, operation, kind, ear.maker, seen);
    return judged !== undefined && 'promised' in judged;
  });
  const isEnough = (deliveries: Heard['deliveries']) => {
    const came = new Set(eventsIn(model, deliveries).map((event) => event.kind));
    return wanted.every(({ name }) => came.has(name));
  };
  return { isEnough, ms: wanted.length === 0 ? 0 : eventMs, quietMs };
}

/** The exchange that subscribed, one that showed the row, the change, what was heard of it, and what made the row and those that it refers to. */
type Seen = readonly [TrialExchange, TrialExchange, TrialExchange, Heard, ...TrialExchange[]];

/** Holds what one subscriber was told of a change to everything that is stated of it. */
function judgeAll(session: Session, { operation, kinds, ear, shown, acted, beside }: Listening, heard: Done<Heard>): void {
  const { model } = session;
  const { maker, opened: created } = ear;
  const of = [created, shown ?? created, acted, heard, ...beside] as const;
  const seenIn = (...[one, look, act, come, ...others]: Seen): ChangeHeard => ({
    created: one,
    shown: shown && look,
    acted: act,
    heard: come,
    beside: others,
  });
  for (const kind of kinds) {
    const judge = (...all: Seen): Judgement => emissionJudgement(model, operation, kind, maker, seenIn(...all));
    session.claim({ shrinkingRuns: 2, fact: { kind: 'emitting operations', subject: kind.name }, reason: 'emitted', of, judge });
    const judgePayload = (...all: Seen): Judgement => payloadJudgement(model, operation, kind, maker, seenIn(...all));
    session.claim({
      shrinkingRuns: 2,
      fact: { kind: 'payload shapes', subject: kind.name },
      reason: 'payload',
      of,
      judge: judgePayload,
    });
  }
  const judgeKinds = (...all: Seen) => kindsJudgement(model, seenIn(...all));
  session.claim({ shrinkingRuns: 2, fact: kindsFact, reason: 'kinds', of, judge: judgeKinds });
  const judgeDelivery = (one: TrialExchange, come: Heard) => ear.judge(one, come);
  session.claim({ shrinkingRuns: 2, fact: deliveryFact, reason: 'sent as stated', of: [created, heard], judge: judgeDelivery });
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: 'to nobody else',
    of,
    judge: (...all) => strangerJudgement(model, operation, kinds, maker, seenIn(...all)),
  });
}
