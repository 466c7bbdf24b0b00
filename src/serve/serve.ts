import { statedValue } from '../parts/fact.ts';
import { addHeaders, nameFacts } from './added-headers.ts';
import { after } from './after.ts';
import { compileAuthentication, type Identified } from './authentication.ts';
import { withCors } from './cors.ts';
import { ClientGone } from './doors/client-gone.ts';
import type { Engine } from './engine.ts';
import { compileRefusals, type RefusalTable } from './errors.ts';
import type { Call, Exchange, Refusal, Reply } from './exchange.ts';
import { startJourney } from './journey.ts';
import { bodyBytesProtected } from './limits/stated-bounds.ts';
import type { Journey, Plan, Planned } from './plan.ts';
import { plansOf } from './plans.ts';
import { refused, reportRefusal } from './runs/refused.ts';
import { asMeant } from './sampling/as-meant.ts';
import { compileForgiving, warningHeader } from './sampling/forgiving.ts';
import { sampledHeader } from './sampling/names.ts';
import { openRoutesOf } from './unlisted.ts';
import { compileVersions, type Routed } from './versioning.ts';
import { startViews } from './views.ts';
import { compileWellKnown, type Own } from './well-known.ts';
import type { Found } from './wire/route-leaf.ts';

/** Answers calls: the nine parts, met in the order of refusals (section 6 of the language). */
export type AnswerCall = (call: Call) => Reply | Promise<Reply>;

/** What is kept of an exchange for the log, once it is answered. */
export type Note = (call: Call, exchange: Exchange | undefined, reply: Reply, refusal: Refusal | undefined) => void;

/**
 * Compiles a document into the road that every request takes. It is this list, and the order is the order of refusals:
 *
 *  1. sizes of URL and headers          5. rates of caller and user        9–15. the plan's own run, in one transaction:
 *  2. route, method, open list          6. no rule for user and operation        idempotency, the rows, preconditions,
 *  3. rates of address and everyone     7. open facts, missing handlers          the body, states, own errors, unique
 *  4. who is calling                    8. media types, body, parameters
 *
 */
export function compileServe(engine: Engine, note: Note | undefined): AnswerCall {
  const { compilation, clock, chance, acceptsOpen } = engine;
  const { spec, facts } = compilation;
  const sizes = statedValue(spec.limits.size) ?? {};
  const bodyBytesMax = sizes.body ?? bodyBytesProtected;
  const identify = compileAuthentication(engine);
  const versions = compileVersions(engine, plansOf(engine));
  const { limits } = engine;
  const forgive = compileForgiving(compilation);
  const unrouted = compileRefusals(spec, undefined, facts, (expression) => compilation.expression(expression));
  const views = startViews(engine);
  const wellKnown = compileWellKnown(engine, identify);
  const openRoutes = openRoutesOf(engine);
  const newRequestId = () => `req_${chance.uuid()}`;

  function answer(call: Call): Reply | Promise<Reply> {
    const large = tooLarge(call);
    if (large) return refuseUnrouted(call, large);
    const routed = versions.route(call);
    const { found, version, refusal } = routed;
    if (found.kind !== 'found') return answerUnrouted(call, found, version);
    const { plan } = found.value;
    if (refusal && (routed.isAsked || !versions.pinned)) return refusePlanned(call, plan, refusal, version);
    const nowMs = clock.now();
    const hurried = limits.first?.(call, plan, nowMs);
    if (hurried) return refusePlanned(call, plan, hurried, version);
    return after(identify(call, plan), (who) => select(call, routed, nowMs, who));
  }

  /** The version that the caller is pinned to, now that it is known. */
  function select(call: Call, routed: Routed, nowMs: number, who: Identified): Reply | Promise<Reply> {
    if (!versions.pinned || !('caller' in who) || !who.caller) return enter(call, routed, nowMs, who);
    return after(versions.pinned(call, who.caller, routed), (pinned) => enter(call, pinned, nowMs, who));
  }

  /** From step 4 on. */
  function enter(call: Call, { found, version, refusal }: Routed, nowMs: number, who: Identified): Reply | Promise<Reply> {
    const caller = 'caller' in who ? who.caller : undefined;
    if (found.kind !== 'found') return answerUnrouted(call, found, version);
    const { plan } = found.value;
    const bad = 'refusal' in who ? who.refusal : refusal;
    if (bad) return refusePlanned(call, plan, bad, version);
    const exchange = startJourney(
      { call, plan, pathParams: found.params, nowMs, caller, view: views.of(caller?.user, version) },
      newRequestId,
    );
    const early = limits.second?.(exchange) ?? plan.forbids(exchange) ?? inDoubt(plan) ?? read(exchange);
    if (early) return finish(exchange, refused(exchange, early));
    const { takesBody } = plan.input;
    const carry = takesBody ? withBody : carryOut;
    return settle(exchange, limits.within ? limits.within(exchange, carry, takesBody) : carry(exchange));
  }

  function tooLarge(call: Call): Refusal | undefined {
    // A query has its question mark besides.
    const urlBytes = call.query === '' ? call.path.length : call.path.length + 1 + call.query.length;
    if (sizes.url !== undefined && urlBytes > sizes.url) return { when: 'limit.size', status: 414 };
    if (sizes.headers !== undefined && call.headerBytes > sizes.headers) return { when: 'limit.size', status: 431 };
    return undefined;
  }

  /** Step 7. An effect that is open cannot be acted on, whatever is accepted. */
  function inDoubt(plan: Plan): Refusal | undefined {
    if (plan.inDoubt.length > 0) return { open: plan.inDoubt };
    return plan.unsupported && { unsupported: plan.unsupported };
  }

  /** Step 8, but for the body: what can be answered, and the parameters. */
  function read(exchange: Journey): Refusal | undefined {
    const { plan, call } = exchange;
    const accept = call.headers.accept;
    if (plan.negotiate(typeof accept === 'string' ? accept : undefined) === undefined) return { when: 'request.accept' };
    if (plan.input.takesBody) return undefined;
    return readParameters(exchange);
  }

  function readParameters(exchange: Journey): Refusal | undefined {
    const taken = exchange.plan.input.parameters(exchange.call, exchange.pathParams, (violations) =>
      forgive(exchange, violations),
    );
    if ('refusal' in taken) return taken.refusal;
    exchange.params = taken.params;
    return undefined;
  }

  function withBody(exchange: Journey): Reply | Promise<Reply> {
    const bytes = exchange.call.body(bodyBytesMax);
    return bytes instanceof Promise ? bytes.then((read) => withBytes(exchange, read)) : withBytes(exchange, bytes);
  }

  function withBytes(exchange: Journey, bytes: Buffer | 'too large'): Reply | Promise<Reply> {
    if (bytes === 'too large') return refused(exchange, badMedia(exchange) ?? { when: 'limit.size' });
    const decoded = exchange.plan.input.body(exchange.call, bytes);
    if ('refusal' in decoded) return refused(exchange, decoded.refusal);
    exchange.request = decoded.value;
    exchange.bytes = bytes;
    const bad = readParameters(exchange);
    return bad ? refused(exchange, bad) : carryOut(exchange);
  }

  /** What is wrong with the type of a body comes before its size, also where nothing of it was read. */
  function badMedia({ plan, call }: Journey): Refusal | undefined {
    const decoded = plan.input.body(call, Buffer.from(' '));
    return 'refusal' in decoded && decoded.refusal.when === 'request.media' ? decoded.refusal : undefined;
  }

  /** Steps 9 to 15. */
  function carryOut(exchange: Journey): Reply | Promise<Reply> {
    try {
      exchange.plan.raise?.(exchange);
      const doubts = exchange.plan.doubtsOf?.(exchange) ?? [];
      if (doubts.length > 0) {
        if (!acceptsOpen) return refused(exchange, { open: doubts });
        exchange.accepted = [...doubts];
      }
      return exchange.plan.run(exchange);
    } catch (failure) {
      return failed(exchange, failure);
    }
  }

  function settle(exchange: Journey, reply: Reply | Promise<Reply>): Reply | Promise<Reply> {
    if (!(reply instanceof Promise)) return finish(exchange, reply);
    return reply.then(
      (done) => finish(exchange, done),
      (failure: unknown) => {
        // Nobody is left to answer, and nothing of ours failed.
        if (failure instanceof ClientGone) throw failure;
        return finish(exchange, failed(exchange, failure));
      },
    );
  }

  /** Header fields that do not come from the answer itself: of a deprecated endpoint, the version, the rates, facts taken as they came. */
  function finish(exchange: Journey, reply: Reply): Reply {
    const { headers } = reply;
    addHeaders(headers, exchange.plan.headers);
    addHeaders(headers, versions.headers(exchange, reply));
    if (limits.headers) addHeaders(headers, limits.headers(exchange));
    if (exchange.accepted) headers['ninefold-open'] = nameFacts(exchange.accepted);
    if (exchange.sampled) headers['ninefold-sampled'] = sampledHeader(exchange.sampled);
    if (exchange.warnings) headers['ninefold-warning'] = warningHeader(exchange.warnings);
    if (exchange.refusedWith) reportRefusal(exchange);
    note?.(exchange.call, exchange, reply, exchange.refusedWith);
    return reply;
  }

  /** A failure is ours: it is noted down with the request's identifier, and the caller learns nothing else. */
  function failed(exchange: Journey, failure: unknown): Reply {
    engine.onFailure(failure, exchange.requestId());
    return refused(exchange, { when: 'internal' });
  }

  /** A refusal that comes before the caller is known, in the shape of the operation that was meant. */
  function refusePlanned(call: Call, plan: Plan, refusal: Refusal, version: string | undefined): Reply {
    const exchange = startJourney(
      { call, plan, pathParams: {}, nowMs: clock.now(), caller: undefined, view: views.of(undefined, version) },
      newRequestId,
    );
    return finish(exchange, refused(exchange, refusal));
  }

  /** Step 2, where no endpoint is meant: the service's own addresses, another method's path, an open list, nothing. */
  function answerUnrouted(
    call: Call,
    found: Exclude<Found<Planned>, { readonly kind: 'found' }>,
    version: string | undefined,
  ): Reply | Promise<Reply> {
    const own = wellKnown(call);
    if (own) return own instanceof Promise ? own.then((made) => answerOwn(call, made)) : answerOwn(call, own);
    if (found.kind === 'method') {
      const allow = [...new Set([...found.allow, 'OPTIONS'])].join(', ');
      const meant = compilation.sampling && asMeant(call, found.allow, compilation.sampling, bodyBytesMax);
      if (meant)
        return Promise.resolve(meant).then((other) =>
          other === 'too large' ? refuseUnrouted(call, { when: 'limit.size' }) : answer(other),
        );
      if (call.method !== 'OPTIONS') return refuseUnrouted(call, { when: 'method.unsupported', headers: { allow } }, version);
      const reply: Reply = { status: 204, headers: { allow, ...versions.unrouted(version) }, body: undefined };
      note?.(call, undefined, reply, undefined);
      return reply;
    }
    return refuseUnrouted(call, openRoutes ? { open: openRoutes } : { when: 'route.unknown' }, version);
  }

  function answerOwn(call: Call, own: Own): Reply {
    if ('refusal' in own) return refuseUnrouted(call, own.refusal);
    note?.(call, undefined, own, undefined);
    return own;
  }

  function refuseUnrouted(call: Call, refusal: Refusal, version?: string): Reply {
    const reply = refuseCall(unrouted, call, refusal, newRequestId());
    addHeaders(reply.headers, versions.unrouted(version));
    note?.(call, undefined, reply, refusal);
    return reply;
  }

  return withCors(engine, answer);
}

/** The answer to a call that reaches no endpoint. */
export function refuseCall(table: RefusalTable, call: Pick<Call, 'path'>, refusal: Refusal, requestId: string): Reply {
  return table.answer(refusal, { path: call.path, requestId, caller: undefined, tellsProse: true });
}
