/** What a scenario plays at a request: an answer of the document, or a fault. */

import type { ErrorCondition } from '../../parts/conditions.ts';
import type { ErrorCode } from '../../parts/errors.ts';
import { entriesOf, isStated } from '../../parts/fact.ts';
import { nothing } from '../../parts/samples/sampler.ts';
import { Samples } from '../../parts/samples/samples.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import { type Exchange, type Refusal, refusalReply } from '../exchange/exchange.ts';
import type { Broken, Reply } from '../http/call.ts';
import { sentTypes } from '../http/media-type.ts';
import { encodeReply } from '../operations/answers.ts';
import type { Engine } from '../operations/engine.ts';
import { problem } from '../operations/error-payloads.ts';
import { nameOf, sampledHeader } from '../resources/stand-in/sampling.ts';
import { type AnswerInput, BadScenario, type Scenario } from './scenario.ts';
import { chance, type Played, type Stage } from './stage.ts';
import { answersOf, isOf, namedExamples, statusesOf, unstatedIn } from './stated-answers.ts';

/** Plays what a trial asks for at a request: the reply that it is given, or nothing where the service goes on, a delay later. */
type Play = (exchange: Exchange) => PromiseOrValue<Reply | undefined>;

/** Compiles the scenarios of a service into the step between who calls and what is asked. */
export function compilePlay(stage: Stage, engine: Engine): Play {
  const { spec } = engine.compilation;
  const answers = new PlayedAnswers(spec);

  function act({ name, scenario }: Played, exchange: Exchange): Reply | undefined {
    const { answer, fault, force } = scenario;
    const unstated = answer && unstatedIn(spec, answer, exchange.plan);
    if (unstated !== undefined && !force)
      return scenarioRefused(`${unstated}. Add force to have it all the same.`, name, exchange);
    exchange.scenario = { name: unstated === undefined ? name : `${name}; unstated`, broken: fault && brokenBy[fault] };
    if (fault === 'cut' || fault === 'silence') return { status: 200, headers: {}, body: undefined };
    if (!answer) return undefined;
    const made = answers.make(answer, exchange);
    return typeof made === 'string' ? scenarioRefused(`${made}.`, name, exchange) : made;
  }

  return (exchange) => {
    let played: Played | undefined;
    try {
      played = stage.find(exchange);
    } catch (failure) {
      if (!(failure instanceof BadScenario)) throw failure;
      return scenarioRefused(failure.message, undefined, exchange);
    }
    if (!played) return undefined;
    const found = played;
    exchange.scenario = { name: found.name, broken: undefined };
    return after(waited(delayOf(found)), () => act(found, exchange));
  };
}

const brokenBy = { cut: 'cut', lose: 'cut', truncate: 'truncated', silence: 'silent' } as const satisfies Readonly<
  Record<NonNullable<Scenario['fault']>, Broken>
>;

/** A scenario that cannot be played is told as such: nothing else is done. */
function scenarioRefused(detail: string, name: string | undefined, exchange: Exchange): Reply {
  exchange.scenario = { name: name === undefined ? 'not played' : `${name}; not played`, broken: undefined };
  return problem({ type: 'urn:ninefold:scenario', status: 400, detail, request_id: exchange.requestId() });
}

/** How long one is waited for, in milliseconds: drawn by its name and its number. */
function delayOf({ name, met, scenario: { delayMs } }: Played): number | undefined {
  if (!delayMs) return undefined;
  const { from, to } = delayMs;
  return from === to ? from : from + chance(`${name}\n${met}\ndelay`) * (to - from);
}

function waited(ms: number | undefined): PromiseOrValue<void> {
  if (ms === undefined) return undefined;
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Makes the answers that a document states, for trials that ask for one of them by its status, its code or its example. */
class PlayedAnswers {
  readonly #spec: Spec;
  readonly #codes: readonly ErrorCode[];
  #samples: Samples | undefined;

  constructor(spec: Spec) {
    this.#spec = spec;
    this.#codes = entriesOf(spec.errors.codes).map(([, code]) => code);
  }

  /** Makes the answer; a text says why none can be made. */
  make(answer: AnswerInput, exchange: Exchange): Reply | string {
    const { error, status, example, body, headers } = answer;
    if (error !== undefined) return withHeaders(this.#refuse({ code: error }, exchange), headers);
    if (example !== undefined) return withHeaders(this.#example(example, status, exchange), headers);
    // One of the three is always there.
    const wanted = status as number;
    if (body !== undefined) return withHeaders(encodeReply(wanted, {}, body, mediaOf(exchange, wanted)), headers);
    if (wanted >= 400) return withHeaders(this.#fail(wanted, exchange), headers);
    const made = this.#succeed(wanted, exchange);
    return typeof made === 'string' ? made : withHeaders(made, headers);
  }

  #refuse(refusal: Refusal, exchange: Exchange): Reply {
    return refusalReply(exchange, refusal);
  }

  /** The stated error of a status, else the condition that is usually answered so. */
  #fail(status: number, exchange: Exchange): Reply {
    const { plan } = exchange;
    const code = this.#codes.find((one) => isOf(one, plan) && statusesOf(one, plan).includes(String(status)));
    if (code) return this.#refuse({ code: code.name }, exchange);
    const when = usual[status];
    if (!when) return problem({ status, detail: 'This is played.', request_id: exchange.requestId() });
    return { ...this.#refuse({ when, status }, exchange), status };
  }

  #example(name: string, status: number | undefined, exchange: Exchange): Reply {
    const found = namedExamples(exchange.plan, status).find(([known]) => known === name);
    const [, answer, value] = found ?? [];
    const code = answer && /^\d{3}$/.test(answer.status) ? Number(answer.status) : (status ?? 200);
    return encodeReply(code, {}, value, mediaOf(exchange, code));
  }

  #succeed(status: number, exchange: Exchange): Reply | string {
    const stated = answersOf(exchange.plan);
    const found =
      stated.find((one) => one.status === String(status)) ??
      stated.find((one) => one.status.toUpperCase() === `${Math.floor(status / 100)}XX`) ??
      stated.find((one) => one.status.toLowerCase() === 'default');
    if (status === 204 || status === 304 || !found) return { status, headers: {}, body: undefined };
    if (found.example) return encodeReply(status, {}, found.example.value, mediaOf(exchange, status));
    if (!isStated(found.shape)) return { status, headers: {}, body: undefined };
    return this.#sample(found.shape.value, status, exchange);
  }

  #sample(shape: Shape, status: number, exchange: Exchange): Reply | string {
    this.#samples ??= new Samples(this.#spec);
    const names: string[] = [];
    const made = this.#samples
      .of(shape)
      .complete(undefined, { seed: '', identifierOf: () => undefined, sampled: (path) => names.push(nameOf(path)) }, '');
    if (made === nothing) return `nothing can be made up that fits the answer ${status}; give it a body`;
    const headers: Record<string, string> = names.length > 0 ? { 'ninefold-sampled': sampledHeader(names) } : {};
    return encodeReply(status, headers, made, mediaOf(exchange, status));
  }
}

/** The condition that a status usually stands for. */
const usual: Readonly<Record<number, ErrorCondition | undefined>> = {
  400: 'request.malformed',
  401: 'caller.unknown',
  403: 'caller.forbidden',
  404: 'resource.missing',
  406: 'request.accept',
  408: 'limit.time',
  409: 'write.conflict',
  410: 'resource.missing',
  412: 'precondition.failed',
  413: 'limit.size',
  415: 'request.media',
  422: 'request.invalid',
  428: 'precondition.required',
  429: 'limit.rate',
  503: 'service.unavailable',
};

function mediaOf({ plan }: Exchange, status: number): string {
  const answer = answersOf(plan).find((one) => one.status === String(status));
  return sentTypes(answer?.produces ?? (status < 400 ? plan.endpoint.produces : undefined)).structured;
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>> | undefined): Reply {
  return headers ? { ...reply, headers: { ...reply.headers, ...headers } } : reply;
}
