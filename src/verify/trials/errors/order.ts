import { type ErrorCondition, ownAnswer } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { OrderWord } from '../../../parts/errors.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { canShow, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { callersFor, contextOfRow, identified } from '../../make/callers-for.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, refusalFor, statedOrder } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { ownCode, readability } from '../authentication/row-rules.ts';
import { type WrongStep, wrongsOfStep } from './order-wrongs.ts';

/** Of two things that are wrong in one request, the one that is asked first in the stated order is what it is refused for. */
export const refusalOrder: Trial = {
  name: 'errors/order',
  part: 'errors',
  about: 'A request in which two things are wrong is refused for the one that the stated order asks first.',
  noise: 'quiet',
  *cases(model) {
    const order = statedOrder(model);
    if (!order) return;
    for (const endpoint of model.endpoints) {
      const pairs = pairsAt(model, endpoint, order);
      const [untouched, done] = [false, true].map((isOnceDone) =>
        pairs.filter(([, two]) => (two.isOnceDone ?? false) === isOnceDone),
      );
      // What is refused changes nothing: all of these are asked of one row.
      const [anywhere, elsewhere] = [false, true].map((isIn) =>
        (untouched ?? []).filter((pair) => pair.some(({ inState }) => inState !== undefined) === isIn),
      );
      if (anywhere?.length) yield caseOf(endpoint, `${endpoint.key}, two things wrong`, anywhere);
      if (elsewhere?.length) yield caseOf(endpoint, `${endpoint.key} in a state in which it is not done`, elsewhere);
      for (const pair of done ?? []) yield caseOf(endpoint, `${endpoint.key} with ${told(pair)}`, [pair]);
    }
  },
};

/** Two things that are wrong in one request, of which the first is asked first. */
type Pair = readonly [first: WrongStep, second: WrongStep];

function pairsAt(model: Model, endpoint: Endpoint, order: readonly OrderWord[]): Pair[] {
  const wrongs = order.flatMap((word) => wrongsOfStep(model, endpoint, word));
  return wrongs.flatMap((first, at) =>
    wrongs.slice(at + 1).flatMap((second): Pair[] => {
      // A state is wrong for a row that is there, and told by an error of its own where it has one.
      const isOfState = second.isOnceDone || second.inState !== undefined;
      // Of one step nothing says which of its questions is asked first.
      const isMoot = first.word === second.word || first.isOnceDone || (first.word === 'row' && isOfState);
      return !isMoot && areTold(model, endpoint, first, second) ? [[first, second]] : [];
    }),
  );
}

const fact = { kind: 'conditions', subject: 'order' } as const;

const told = ([first, second]: Pair): string => `${first.what} and ${second.what}`;

function caseOf(endpoint: Endpoint, name: string, pairs: readonly Pair[]): Case {
  return {
    name,
    facts: [fact],
    async run(session: Session) {
      const { model } = session;
      const { request, row } = await ready(session, endpoint);
      const headers = row ? await session.preconditions(endpoint, row, request.caller) : {};
      const valid = { ...request, headers: { ...request.headers, ...headers } };
      const state = pairs[0]?.find(({ inState }) => inState !== undefined)?.inState;
      const begun = state === undefined ? valid : await aboutOneIn(session, endpoint, state, valid);
      const barred = row && state === undefined ? await barredFrom(session, endpoint, row) : undefined;
      for (const pair of pairs) {
        const [first, second] = pair;
        if (!barred && (first.needsBarred || second.needsBarred)) continue;
        if (second.isOnceDone) {
          const moved = await session.send(valid);
          session.need(isDone(moved.value), `${endpoint.key} was answered ${moved.value.status}`);
        }
        const done = await session.send(first.make(second.make(begun, barred), barred));
        session.claim({
          fact,
          reason: `${first.word} before ${second.word} at ${endpoint.key}`,
          of: [done],
          // What was done has been accepted, and is no more.
          ...(!second.isOnceDone && { control: valid }),
          judge: (exchange) => judged(model, exchange, endpoint, first, told(pair)),
        });
      }
    },
  };
}

/** Somebody who surely may read a row, and not do to it what an endpoint does, whatever is sent; nobody where none is known. */
async function barredFrom(session: Session, endpoint: Endpoint, row: TrialRow): Promise<TrialCaller | undefined> {
  const { model } = session;
  const operation = model.operationOf(endpoint);
  const known = contextOfRow(session, row) ?? { context: {} };
  for (const caller of model.callers) {
    if (!caller.credential || !canShow(caller, endpoint) || !model.access.rules(operation, caller)?.length) continue;
    const one = await identified(session, caller);
    if (model.access.allows(operation, one, known) === 'no' && readability(model, row, one, known) === 'yes') return caller;
  }
  return undefined;
}

/** The same of another row, in a state. @throws {Untestable} where none can be brought there, or nobody would be let through to it. */
async function aboutOneIn(session: Session, endpoint: Endpoint, state: string, valid: RequestPlan): Promise<RequestPlan> {
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const row = await session.make(resource, { state, for: valid.caller });
  const may = callersFor(session, endpoint, row);
  const caller = may.find((one) => one === valid.caller) ?? may[0];
  session.need(caller !== undefined || may.length > 0, `nobody may call ${endpoint.key} about it`);
  const headers = await session.preconditions(endpoint, row, caller);
  const about = await requestAbout(session, row, endpoint, { caller });
  return { ...about, headers: { ...about.headers, ...headers }, ...(valid.body && { body: valid.body }) };
}

function judged(
  model: Model,
  exchange: TrialExchange,
  endpoint: Endpoint,
  { when, needsBarred }: WrongStep,
  what: string,
): Judgement {
  if (model.refusals.isHurried(exchange) || model.refusals.isOpen(exchange)) return moot('it was not done now');
  const own = needsBarred && exchange.caller ? ownCode(model, model.operationOf(endpoint), exchange.caller) : undefined;
  if (own !== undefined && model.refusals.codeIn(exchange) === own) return undefined;
  const form = formOf(model, endpoint, when);
  if (isRefusal(model, exchange, form)) return undefined;
  const promised = `${form.status ?? 'a refusal'} ${form.code}, for ${what}`;
  return { promised, seen: `${exchange.status}${briefly(exchange)}` };
}

function formOf(model: Model, endpoint: Endpoint, when: ErrorCondition) {
  return refusalFor(model, when, model.operationOf(endpoint)) ?? { code: when, status: ownAnswer(when).status };
}

/** Whether the refusals of two things can be told apart. */
function areTold(model: Model, endpoint: Endpoint, first: WrongStep, second: WrongStep): boolean {
  const [one, other] = [formOf(model, endpoint, first.when), formOf(model, endpoint, second.when)];
  const isByCode =
    model.refusals.showsCodes && one.code !== other.code && refusalFor(model, first.when, model.operationOf(endpoint));
  return Boolean(isByCode) || one.status !== other.status;
}
