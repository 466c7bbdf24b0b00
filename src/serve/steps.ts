/** What the steps of the road do, compiled once for a document. */

import { statedValue } from '../parts/fact.ts';
import { ReadTooLong, StoreUnavailable, Superseded } from '../store/failures.ts';
import { acceptedSchemes } from './callers/accepted-schemes.ts';
import type { Identified, Identify } from './callers/presented.ts';
import { after, type PromiseOrValue } from './exchange/after.ts';
import {
  type Caller,
  type Exchange,
  type Refusal,
  type Routed,
  refusalReply,
  startExchange,
  type View,
} from './exchange/exchange.ts';
import { newCost, type TracedRequest, traceChannels, traceRequest } from './exchange/observations.ts';
import { nameFacts } from './exchange/open.ts';
import { warn } from './exchange/warn.ts';
import { ClientGone } from './http/bounds.ts';
import type { Call, Reply } from './http/call.ts';
import type { Surroundings } from './http/clock.ts';
import { addHeaders } from './http/send.ts';
import type { CompiledLimits } from './limits/limits.ts';
import { bodyBytesMaxOf } from './limits/stated-bounds.ts';
import type { ViewCompilation } from './resources/view-compilation.ts';
import type { Steps } from './serve.ts';

/** What the steps need of the service that they are part of. */
export interface StepsSetting extends Surroundings {
  readonly compilation: ViewCompilation;
  readonly limits: CompiledLimits;
  /** Whether what exchanges cost is measured, for their lines in the log. */
  readonly measures: boolean;
  /** Whether requests in doubt are let through. */
  readonly acceptsOpen: boolean;
}

/** What is kept of an exchange for the log, once it is answered. */
export type Note = (call: Call, exchange: Exchange | undefined, reply: Reply, refusal: Refusal | undefined) => void;

/** Where a call leads in which version, and as whose. */
export interface Leading {
  readonly route: Steps['route'];
  /** The same in the version that a caller is pinned to; nothing where nobody is. */
  readonly pinned: ((call: Call, caller: Caller, routed: Routed) => PromiseOrValue<Routed>) | undefined;
  readonly viewOf: (user: string | undefined, version: string | undefined) => View;
  /** What every answer tells of its version and of what is deprecated; nothing where the document says nothing of either. */
  readonly told: ((exchange: Exchange, reply: Reply) => Readonly<Record<string, string>> | undefined) | undefined;
}

/** Compiles the steps that a call goes through from its size to its answer. */
export function compileSteps(
  setting: StepsSetting,
  identify: Identify,
  leading: Leading,
  note: Note | undefined,
): Omit<Steps, 'answerUnrouted' | 'refuseCall' | 'play' | 'order'> {
  return {
    ...routing(setting, leading),
    ...asking(setting, identify, leading),
    ...reading(setting),
    ...answering(setting, leading, note),
  };
}

/** Steps 1 to 3. */
function routing(
  { compilation, clock, chance, limits, measures }: StepsSetting,
  { route, pinned, viewOf }: Leading,
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
    route,
    start(call, routed) {
      const { plan, endpoint } = routed.found.value;
      const isFollowed = traceChannels.requestStart.hasSubscribers;
      const trace = isFollowed ? traceRequest(call, plan.operation.name, endpoint.key) : undefined;
      const view = viewOf(undefined, routed.version);
      const cost = measures ? newCost() : undefined;
      return startExchange({ call, routed, nowMs: clock.now(), view, cost, trace }, newRequestId);
    },
    version: ({ refusal, isAsked }) => (isAsked || !pinned ? refusal : undefined),
    ratesOfAddress: limits.first,
  };
}

const asItIs = (who: Identified): Identified => who;

/** Steps 4 to 7. */
function asking(
  { limits, compilation }: StepsSetting,
  identify: Identify,
  { pinned, viewOf }: Leading,
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
      exchange.view = viewOf(bad ? undefined : caller?.user, version);
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
function reading({
  compilation,
  acceptsOpen,
}: StepsSetting): Pick<Steps, 'accept' | 'parameters' | 'body' | 'take' | 'openFactsOf'> {
  const bodyBytesMax = bodyBytesMaxOf(compilation.spec.limits);
  const { forgive, isLenient } = compilation.standIn ?? {};

  /** What is wrong with the type of a body comes before its size, also where nothing of it was read. */
  function tooLarge({ plan, call }: Exchange): Refusal {
    const decoded = plan.input.body(call, Buffer.from(' '));
    return 'refusal' in decoded && (decoded.refusal.when === 'request.media' || decoded.refusal.when === 'request.untyped')
      ? decoded.refusal
      : { when: 'limit.size' };
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
    body: (exchange) => exchange.call.body(bodyBytesMax),
    take(bytes, exchange) {
      if (bytes === 'too large') return tooLarge(exchange);
      const decoded = exchange.plan.input.body(exchange.call, bytes);
      if ('refusal' in decoded) return decoded.refusal;
      exchange.request = decoded.value;
      if (decoded.params) {
        exchange.paramsInBody = decoded.params;
        exchange.params = { ...exchange.params, ...decoded.params };
      }
      if (decoded.repeated !== undefined) warn(exchange, [`the body has ${decoded.repeated}: the last one counts`]);
      if (decoded.isInQuery) warn(exchange, ['members of the body are taken from the query']);
      exchange.bytes = bytes;
      return undefined;
    },
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
  { limits, compilation, onFailure }: StepsSetting,
  { told }: Leading,
  note: Note | undefined,
): Pick<Steps, 'inTime' | 'failed' | 'finish'> {
  const { standIn } = compilation;

  /** Header fields that do not come from the answer itself: of a deprecated endpoint, the version, the rates, facts taken as they came. */
  function finish(exchange: Exchange, reply: Reply): Reply {
    const { headers } = reply;
    const { headers: own, tell } = exchange.plan;
    if (own) addHeaders(headers, own);
    if (tell) addHeaders(headers, tell(exchange, reply));
    if (told) addHeaders(headers, told(exchange, reply));
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
    onFailure(failure, exchange.requestId());
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
