import { type ErrorCondition, ownAnswer } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { OrderWord } from '../../../parts/errors.ts';
import { entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import { machineIn, machineWith, statesNamed } from '../../../parts/states.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { freshText } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import { statesOf } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, refusalFor, statedOrder } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

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
type Pair = readonly [first: Wrong, second: Wrong];

function pairsAt(model: Model, endpoint: Endpoint, order: readonly OrderWord[]): Pair[] {
  const wrongs = order.flatMap((word) => wrongAt(model, endpoint, word));
  return wrongs.flatMap((first, at) =>
    wrongs.slice(at + 1).flatMap((second): Pair[] => {
      // A state is wrong for a row that is there, and told by an error of its own where it has one.
      const isOfState = second.isOnceDone || second.inState !== undefined;
      const isMoot = first.isOnceDone || (first.word === 'row' && isOfState);
      return !isMoot && areTold(model, endpoint, first, second) ? [[first, second]] : [];
    }),
  );
}

/** One thing that can be wrong in a request to an endpoint. */
interface Wrong {
  readonly word: OrderWord;
  readonly when: ErrorCondition;
  readonly what: string;
  make(plan: RequestPlan): RequestPlan;
  /** Whether it is wrong once the request was sent as it should be. */
  readonly isOnceDone?: true;
  /** The state of another row, for which it is wrong. */
  readonly inState?: string;
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
      for (const pair of pairs) {
        const [first, second] = pair;
        if (second.isOnceDone) {
          const moved = await session.send(valid);
          session.need(isDone(moved.value), `${endpoint.key} was answered ${moved.value.status}`);
        }
        const done = await session.send(first.make(second.make(begun)));
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

function judged(model: Model, exchange: TrialExchange, endpoint: Endpoint, { when }: Wrong, what: string): Judgement {
  if (model.refusals.isHurried(exchange) || model.refusals.isOpen(exchange)) return moot('it was not done now');
  const form = formOf(model, endpoint, when);
  if (isRefusal(model, exchange, form)) return undefined;
  const promised = `${form.status ?? 'a refusal'} ${form.code}, for ${what}`;
  return { promised, seen: `${exchange.status}${briefly(exchange)}` };
}

function formOf(model: Model, endpoint: Endpoint, when: ErrorCondition) {
  return refusalFor(model, when, model.operationOf(endpoint)) ?? { code: when, status: ownAnswer(when).status };
}

/** Whether the refusals of two things can be told apart. */
function areTold(model: Model, endpoint: Endpoint, first: Wrong, second: Wrong): boolean {
  const [one, other] = [formOf(model, endpoint, first.when), formOf(model, endpoint, second.when)];
  const isByCode =
    model.refusals.showsCodes && one.code !== other.code && refusalFor(model, first.when, model.operationOf(endpoint));
  return Boolean(isByCode) || one.status !== other.status;
}

/** What can be made wrong on purpose for a step; nothing where the step asks nothing here, or nobody can make it wrong alone. */
function wrongAt(model: Model, endpoint: Endpoint, word: OrderWord): Wrong[] {
  const made = wrongs[word]?.(model, endpoint);
  return made ? [{ word, ...made }] : [];
}

/** Whether success is answered without a body, so that there is nothing of which a kind could be asked for. */
function isSilent({ does, response }: Endpoint): boolean {
  const answers = statedValue(response);
  if (!answers) return statedValue(does)?.verb === 'delete';
  return answers.filter(({ status }) => /^2/.test(status)).every(({ status }) => status === '204');
}

type Making = (model: Model, endpoint: Endpoint) => Omit<Wrong, 'word'> | undefined;

const wrongs: Readonly<Partial<Record<OrderWord, Making>>> = {
  caller: (model, endpoint) =>
    isStated(model.spec.authentication.schemes) && model.access.allows(model.operationOf(endpoint), undefined) === 'no'
      ? { when: 'caller.unknown', what: 'no credential', make: ({ caller: _caller, ...plan }) => plan }
      : undefined,
  user(model, endpoint) {
    const operation = model.operationOf(endpoint);
    const excluded = model.callers.find(
      (caller) => caller.credential !== undefined && model.access.rules(operation, caller)?.length === 0,
    );
    return excluded && !model.access.isPublic(operation)
      ? {
          when: 'caller.forbidden',
          what: `${excluded.name}, for whom no rule is`,
          make: (plan) => ({ ...plan, caller: excluded }),
        }
      : undefined;
  },
  accept: (model, endpoint) =>
    endpoint.acceptIgnored || isSilent(endpoint) || model.refusals.standingOf('request.accept') !== 'refused'
      ? undefined
      : {
          when: 'request.accept',
          what: 'Accept: image/png',
          make: (plan) => ({ ...plan, headers: { ...plan.headers, Accept: 'image/png' } }),
        },
  body: (model, endpoint) =>
    takesJson(model, endpoint)
      ? {
          when: 'request.malformed',
          what: 'a body that ends too soon',
          make: (plan) => ({ ...plan, body: { text: '{"nf":', type: 'application/json' } }),
        }
      : undefined,
  parameters: (_model, endpoint) =>
    statedValue(endpoint.does)?.verb === undefined || (endpoint.parameters.standing === 'open' && endpoint.parameters.question)
      ? undefined
      : {
          when: 'request.parameter',
          what: 'a parameter that is not stated',
          make: (plan) => ({ ...plan, query: { ...plan.query, nf_not_stated: '1' } }),
        },
  row(_model, endpoint) {
    const parameter = identifierParameter(endpoint);
    const verb = statedValue(endpoint.does)?.verb;
    return parameter === undefined || verb === 'upsert'
      ? undefined
      : {
          when: 'resource.missing',
          what: 'a row that there is not',
          make: (plan) => ({ ...plan, path: { ...plan.path, [parameter]: freshText('nf-') } }),
        };
  },
  precondition: (_model, { ifMatch, etag }) =>
    ifMatch === 'accepted' || ifMatch === 'required'
      ? {
          when: 'precondition.failed',
          what: `a tag of another time${etag === 'weak' ? ', a strong one' : ''}`,
          make: (plan) => ({ ...plan, headers: { ...plan.headers, 'If-Match': '"nf-no-such-tag"' } }),
        }
      : undefined,
  request: (model, endpoint) =>
    takesJson(model, endpoint)
      ? {
          when: 'request.invalid',
          what: 'a body that is a list',
          // A broken body is no body of the wrong shape: whoever makes both wrong has the broken one.
          make: (plan) => (plan.body && 'text' in plan.body ? plan : { ...plan, body: { value: [], type: 'application/json' } }),
        }
      : undefined,
  state: (model, endpoint) =>
    leadsAway(model, endpoint)
      ? { when: 'transition.illegal', what: 'a state that it has led out of', make: (plan) => plan, isOnceDone: true }
      : inWrongState(model, endpoint),
};

/** What is changed or deleted in some states alone, in another. */
function inWrongState(model: Model, { does, in: allowed }: Endpoint): Omit<Wrong, 'word'> | undefined {
  const effect = statedValue(does);
  if (!allowed || !effect || !('resource' in effect) || effect.verb === 'transition') return undefined;
  const machine = machineIn(model.spec.states, effect.resource, allowed[0]);
  const state = machine && statesOf(machine).find((one) => !statesNamed(model.spec.states, machine, allowed).includes(one));
  return state === undefined
    ? undefined
    : { when: 'transition.illegal', what: `the state ${state}`, make: (plan) => plan, inState: state };
}

/** A transition that cannot be fired where it has led to: once it is done, the state is wrong. A tag would be of another time then. */
function leadsAway(model: Model, { does, ifMatch, idempotency }: Endpoint): boolean {
  const effect = statedValue(does);
  if (effect?.verb !== 'transition' || ifMatch || idempotency?.required) return false;
  const machine = machineWith(model.spec.states, effect.resource, effect.transition);
  const transition = machine && entryOf(machine.transitions, effect.transition);
  if (!transition || transition.from === '*' || transition.to.length !== 1) return false;
  return transition.to.every(({ state, answer }) => answer === undefined && !transition.from.includes(state));
}

function takesJson(model: Model, endpoint: Endpoint): boolean {
  const shape = model.requestShape(endpoint);
  return isStated(shape) && (endpoint.consumes === undefined || endpoint.consumes.includes('application/json'));
}
