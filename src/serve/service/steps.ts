import { type OrderWord, wholeOrder } from '../../parts/errors.ts';
import { statedValue } from '../../parts/fact.ts';
import { ReadTooLong, StoreUnavailable, Superseded } from '../../store/failures.ts';
import { acceptedSchemes } from '../callers/accepted-schemes.ts';
import { compileAuthentication } from '../callers/authentication.ts';
import { withCors } from '../callers/origin.ts';
import type { Identified, Identify } from '../callers/presented.ts';
import { after, afterFor, type PromiseOrValue } from '../exchange/after.ts';
import { type Exchange, type Refusal, refusalReply, startExchange } from '../exchange/exchange.ts';
import { newCost, type TracedRequest, traceChannels, traceRequest } from '../exchange/observations.ts';
import { nameFacts } from '../exchange/open.ts';
import { warn } from '../exchange/warn.ts';
import { ClientGone } from '../http/bounds.ts';
import type { Reply } from '../http/call.ts';
import { addHeaders } from '../http/send.ts';
import { bodyBytesMaxOf } from '../limits/stated-bounds.ts';
import type { Engine } from '../operations/engine.ts';
import { plansOf, startViews, type Views } from '../operations/plans.ts';
import { type CompiledVersions, compileVersions } from '../operations/versioning.ts';
import { compilePlay } from '../scenarios/play.ts';
import type { Stage } from '../scenarios/stage.ts';
import { type AnswerCall, compileRoad, type Steps } from '../serve.ts';
import { compileUnrouted, type Note } from './unrouted.ts';

/** Compiles a document into the road that every request takes. */
export function compileServe(engine: Engine, note: Note | undefined, stage: Stage | undefined): AnswerCall {
  const views = startViews(engine);
  const identify = compileAuthentication(engine);
  const versions = compileVersions(engine, plansOf(engine, views));
  const road: AnswerCall = compileRoad({
    ...compileUnrouted(engine, identify, versions, note, (call) => road(call)),
    ...routing(engine, versions, views),
    ...asking(engine, identify, versions, views),
    ...reading(engine),
    play: stage && compilePlay(stage, engine),
    ...answering(engine, versions, note),
    order: statedOrder(engine),
  });
  return withCors(engine, road);
}

/** The order that is stated, where it is one; `any` is that of section 6. */
function statedOrder({ compilation }: Engine): readonly OrderWord[] | undefined {
  const named = statedValue(compilation.spec.errors.order);
  return named && wholeOrder(named);
}

/** Steps 1 to 3. */
function routing(
  { compilation, clock, chance, limits, measures }: Engine,
  versions: CompiledVersions,
  views: Views,
): Pick<Steps, 'sizes' | 'route' | 'start' | 'version' | 'ratesOfAddress'> {
  const { url, headers } = statedValue(compilation.spec.limits.size) ?? {};
  const newRequestId = () => `req_${chance.uuid()}`;
  return {
    sizes(call) {
      // A query has its question mark besides.
      const urlBytes = call.query === '' ? call.path.length : call.path.length + 1 + call.query.length;
      if (url !== undefined && urlBytes > url) return { when: 'limit.size.url', status: 414 };
      if (headers !== undefined && call.headerBytes > headers) return { when: 'limit.size.headers', status: 431 };
      return undefined;
    },
    route: versions.route,
    start(call, routed) {
      const { plan, endpoint } = routed.found.value;
      const trace = traceRequest(call, plan.operation.name, endpoint.key);
      const view = views.of(undefined, routed.version);
      const cost = measures ? newCost() : undefined;
      return startExchange({ call, routed, nowMs: clock.now(), view, cost, trace }, newRequestId);
    },
    version: ({ refusal, isAsked }) => (isAsked || !versions.pinned ? refusal : undefined),
    ratesOfAddress: limits.first,
  };
}

const asItIs = (who: Identified): Identified => who;

/** Steps 4 to 7. */
function asking(
  { limits, compilation }: Engine,
  identify: Identify,
  { pinned }: CompiledVersions,
  views: Views,
): Pick<Steps, 'identify' | 'pin' | 'caller' | 'ratesOfCaller' | 'openFacts'> {
  const readsBodies = acceptedSchemes(compilation.spec).some(({ kind }) => kind.proof?.by === 'signing');

  /** A client may be gone before all is there that it has signed. */
  function whoSigned({ call, plan, trace }: Exchange): PromiseOrValue<Identified> {
    return after(identify(call, plan), asItIs, (failure) => {
      if (trace) traceChannels.requestEnd.publish(trace);
      throw failure;
    });
  }

  return {
    identify: readsBodies ? whoSigned : ({ call, plan }) => identify(call, plan),
    pin: pinned && ((call, routed, who) => ('caller' in who && who.caller ? pinned(call, who.caller, routed) : routed)),
    caller(exchange, reached, who) {
      const { found, version, refusal } = reached;
      if (reached !== exchange.routed) exchange.plan = found.value.plan;
      const caller = 'caller' in who ? who.caller : undefined;
      const bad = 'refusal' in who ? who.refusal : refusal;
      exchange.view = views.of(bad ? undefined : caller?.user, version);
      exchange.pathParams = found.params;
      exchange.params = found.params;
      if (bad) return bad;
      exchange.caller = caller;
      exchange.mayNotWrite = 'mayNotWrite' in who;
      if ('warning' in who && who.warning) warn(exchange, [who.warning]);
      return undefined;
    },
    ratesOfCaller: limits.second,
    openFacts({ inDoubt, unsupported }) {
      // An effect that is open cannot be acted on, whatever is accepted.
      if (inDoubt.length > 0) return { open: inDoubt };
      return unsupported && { unsupported };
    },
  };
}

/** Step 8, and what it tells of step 7. */
function reading({ compilation, acceptsOpen }: Engine): Pick<Steps, 'accept' | 'parameters' | 'body' | 'openFactsOf'> {
  const bodyBytesMax = bodyBytesMaxOf(compilation.spec.limits);
  const { forgive, isLenient } = compilation.standIn ?? {};

  /** What is wrong with the type of a body comes before its size, also where nothing of it was read. */
  function tooLarge({ plan, call }: Exchange): Refusal {
    const decoded = plan.input.body(call, Buffer.from(' '));
    return 'refusal' in decoded && (decoded.refusal.when === 'request.media' || decoded.refusal.when === 'request.untyped')
      ? decoded.refusal
      : { when: 'limit.size' };
  }

  function take(bytes: Buffer | 'too large', exchange: Exchange): Refusal | undefined {
    if (bytes === 'too large') return tooLarge(exchange);
    const decoded = exchange.plan.input.body(exchange.call, bytes);
    if ('refusal' in decoded) return decoded.refusal;
    exchange.request = decoded.value;
    if (decoded.params) {
      exchange.paramsInBody = decoded.params;
      exchange.params = { ...exchange.params, ...decoded.params };
    }
    if (decoded.repeated !== undefined) warn(exchange, [`the body has ${decoded.repeated}: the last one counts`]);
    exchange.bytes = bytes;
    return undefined;
  }

  return {
    accept(exchange) {
      const { plan, call } = exchange;
      const { accept } = call.headers;
      // Whoever says nothing takes whatever there is.
      if (accept === undefined && plan.endpoint.produces?.length !== 0) return undefined;
      const type = plan.negotiate(typeof accept === 'string' ? accept : undefined);
      if (type !== undefined) return undefined;
      if (!isLenient) return { when: 'request.accept' };
      warn(exchange, ['the answer is in no media type that was asked for']);
      return undefined;
    },
    parameters(exchange) {
      const { plan, call, pathParams } = exchange;
      const taken = plan.input.parameters(call, pathParams, forgive && ((violations) => forgive(exchange, violations)));
      if ('refusal' in taken) return taken.refusal;
      // What stands in a body was read before, where that order is stated.
      exchange.params = exchange.paramsInBody ? { ...taken.params, ...exchange.paramsInBody } : taken.params;
      return undefined;
    },
    body: (exchange) => afterFor(exchange, exchange.call.body(bodyBytesMax), take),
    openFactsOf(exchange) {
      exchange.plan.raise?.(exchange);
      const doubts = exchange.plan.doubtsOf?.(exchange) ?? none;
      if (doubts.length === 0) return undefined;
      if (!acceptsOpen) return { open: doubts };
      exchange.accepted = [...doubts];
      return undefined;
    },
  };
}

const none: readonly never[] = [];

/** What stands around the steps: the time that they have, and what is told with every answer. */
function answering(
  engine: Engine,
  versions: CompiledVersions,
  note: Note | undefined,
): Pick<Steps, 'inTime' | 'failed' | 'finish'> {
  const { limits, compilation } = engine;
  const { standIn } = compilation;

  /** Header fields that do not come from the answer itself: of a deprecated endpoint, the version, the rates, facts taken as they came. */
  function finish(exchange: Exchange, reply: Reply): Reply {
    const { headers } = reply;
    const { headers: own, tell } = exchange.plan;
    if (own) addHeaders(headers, own);
    if (tell) addHeaders(headers, tell(exchange, reply));
    addHeaders(headers, versions.headers(exchange, reply));
    if (limits.leave) limits.leave(exchange);
    if (limits.answered) limits.answered(exchange, reply.status);
    if (limits.headers) addHeaders(headers, limits.headers(exchange));
    if (exchange.accepted) headers['ninefold-open'] = nameFacts(exchange.accepted);
    standIn?.tell(exchange, headers);
    if (exchange.scenario) headers['ninefold-scenario'] = exchange.scenario.name;
    if (exchange.refusedWith) reportRefusal(exchange);
    note?.(exchange.call, exchange, reply, exchange.refusedWith);
    if (exchange.trace) endTrace(exchange, exchange.trace, reply);
    const broken = exchange.scenario?.broken;
    return broken ? { ...reply, broken } : reply;
  }

  /** A failure is ours: it is noted down with the request's identifier, and the caller learns nothing else. */
  function failed(exchange: Exchange, failure: unknown): Reply {
    if (limits.leave) limits.leave(exchange);
    // Nobody is left to answer, or it begins anew; nothing of ours failed.
    if (failure instanceof ClientGone || (failure instanceof Superseded && exchange.call.mayBeginAnew)) {
      if (exchange.trace) traceChannels.requestEnd.publish(exchange.trace);
      throw failure;
    }
    engine.onFailure(failure, exchange.requestId());
    // Nothing was read or stored, and the same request may be sent again.
    if (failure instanceof StoreUnavailable || failure instanceof ReadTooLong)
      return refusalReply(exchange, { when: 'service.unavailable', headers: { 'retry-after': '5' } });
    return refusalReply(exchange, { when: 'internal' });
  }

  return {
    inTime(exchange, carryOut) {
      const { takesBody } = exchange.plan.input;
      const reply = limits.within ? limits.within(exchange, carryOut, takesBody) : carryOut(exchange);
      return after(
        reply,
        (done) => finish(exchange, done),
        (failure) => finish(exchange, failed(exchange, failure)),
      );
    },
    failed,
    finish,
  };
}

function endTrace({ refusedWith }: Exchange, trace: TracedRequest, { status }: Reply): void {
  trace.status = status;
  trace.refused = refusedWith?.code ?? refusedWith?.when;
  traceChannels.requestEnd.publish(trace);
}

/** Notes down a refusal that is a failure of ours, once the exchange is over. */
function reportRefusal({ refusedWith, plan, requestId }: Exchange): void {
  if (refusedWith?.when === 'internal' && refusedWith.message !== undefined)
    plan.onFailure(new Error(refusedWith.message), requestId());
}
