import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Transaction } from '../../store/store.ts';
import { compileStatedBody } from '../acts/body.ts';
import { compileOwnErrors } from '../acts/own-errors.ts';
import { encodeReply } from '../answers.ts';
import type { Reply } from '../call.ts';
import type { Engine } from '../engine.ts';
import { type Exchange, type Keyed, type Refusal, Refused, type Run, refused, type Value } from '../exchange.ts';
import type { Handler } from '../handlers.ts';
import { changeFor, readFor, workFor } from '../scope.ts';
import { compilePrune } from '../shown.ts';
import { isUnchanged, triesMax } from './collected.ts';
import { handlerContext } from './handler-context.ts';
import { applyWanted } from './handler-writes.ts';
import { keep, keyOf, replay } from './idempotency.ts';

/**
 * Compiles `handler NAME` (section 8 of the language): the handler runs outside the transaction; what it read is checked
 * by revision and what it wrote is applied in one; on a conflict it runs again.
 */
export function compileHandlerRun(operation: Operation, endpoint: Endpoint, handler: Handler, engine: Engine): Run {
  const early = compileEarly(operation, endpoint, engine);
  const attempt = compileAttempt(operation, endpoint, handler, engine);

  async function replayed(exchange: Exchange, keyed: Keyed): Promise<Reply | undefined> {
    const found = await engine.store.read((rows) => replay(rows, keyed, exchange.nowMs));
    return found && ('refusal' in found ? refused(exchange, found.refusal) : found);
  }

  return async (exchange) => {
    const keyed = keyOf(endpoint.idempotency, exchange);
    if (keyed && 'refusal' in keyed) return refused(exchange, keyed.refusal);
    if (keyed) {
      if (engine.inFlight.has(keyed.key)) return refused(exchange, { when: 'idempotency.busy' });
      engine.inFlight.add(keyed.key);
      exchange.deadline?.whenOver(() => engine.inFlight.delete(keyed.key));
    }
    try {
      const known = keyed && (await replayed(exchange, keyed));
      if (known) return known;
      const bad = await early(exchange);
      if (bad) throw new Refused(bad);
      for (let tries = 0; tries < triesMax; tries++) {
        const done = await attempt(exchange, keyed);
        if (done === 'conflict') {
          exchange.deadline?.release();
          continue;
        }
        engine.timersChanged();
        engine.events.recorded(exchange.recorded);
        return done;
      }
      return refused(exchange, { when: 'write.conflict' });
    } catch (failure) {
      if (!(failure instanceof Refused)) throw failure;
      const reply = refused(exchange, failure.refusal);
      if (keyed && failure.refusal.code !== undefined)
        await engine.store.change((rows) => keepInTime(rows, exchange, keyed, reply));
      return reply;
    } finally {
      // Once its time was over the key was let go of, and may be another request's.
      if (keyed && !exchange.deadline?.isOver) engine.inFlight.delete(keyed.key);
    }
  };
}

/** What is refused before the handler runs; the service's own errors that it knows itself it fails with. */
function compileEarly(
  operation: Operation,
  endpoint: Endpoint,
  engine: Engine,
): (exchange: Exchange) => Promise<Refusal | undefined> {
  const { compilation, models } = engine;
  const badBody = compileStatedBody(endpoint, compilation);
  const ownErrors = compileOwnErrors(operation, compilation);
  const access = compilation.access.of(operation, compilation.user);
  return async (exchange) =>
    readFor(engine, exchange, (rows, draw) => {
      const work = workFor(rows, models, exchange, draw);
      const pass = access.enter(work.scope, undefined);
      if ('refusal' in pass) return pass.refusal;
      return badBody(work, exchange) ?? pass.settle() ?? ownErrors?.(work.scope);
    });
}

/** One run of the handler, and the change that applies what it wrote. */
function compileAttempt(
  operation: Operation,
  endpoint: Endpoint,
  handler: Handler,
  engine: Engine,
): (exchange: Exchange, keyed: Keyed | undefined) => Promise<Reply | 'conflict'> {
  const answer = compileHandlerAnswer(endpoint, engine);
  const spend = engine.limits.spendOf(operation);
  return async (exchange, keyed) => {
    const { context, collected } = handlerContext(engine, exchange, undefined, {});
    const value = await handler(context);
    const reply = answer(exchange, value);
    if (collected.writes.length === 0 && collected.emitted.length === 0 && !keyed && !spend) return reply;
    return changeFor(engine, exchange, (rows, draw) => {
      exchange.deadline?.apply();
      const replayed = keyed && replay(rows, keyed, exchange.nowMs);
      if (replayed) return 'refusal' in replayed ? refused(exchange, replayed.refusal) : replayed;
      if (!isUnchanged(rows, collected)) return 'conflict';
      const work = workFor(rows, engine.models, exchange, draw);
      for (const wanted of collected.writes) applyWanted(work, wanted, operation, engine);
      spend?.(rows, exchange, reply.status);
      exchange.recorded = engine.events.record(work, exchange.caller, collected.emitted);
      if (keyed) keep(rows, keyed, reply);
      return reply;
    });
  };
}

function keepInTime(rows: Transaction, { deadline }: Exchange, keyed: Keyed, reply: Reply): void {
  deadline?.apply();
  keep(rows, keyed, reply);
}

/** The answer of a handler is validated before it leaves; one that does not fit is our failure, not the caller's. */
function compileHandlerAnswer(endpoint: Endpoint, engine: Engine): (exchange: Exchange, value: Value) => Reply {
  const { compilation } = engine;
  const answers = (statedValue(endpoint.response) ?? []).filter(({ status }) => /^[23]\d\d$/.test(status));
  const candidates = answers.map((answer) => ({
    status: Number(answer.status),
    hasBody: isStated(answer.shape) && answer.status !== '204',
    validate: isStated(answer.shape) ? compilation.validate(answer.shape.value, 'shown') : undefined,
    carry: isStated(answer.shape) ? compilation.version?.carries.expanding.shape(answer.shape.value) : undefined,
    prune: isStated(answer.shape)
      ? compilePrune(compilation.spec, answer.shape.value, { user: compilation.user, reveals: true })
      : undefined,
  }));
  const contentType = endpoint.produces?.[0] ?? 'application/json';
  return (exchange, value) => {
    const own = isOwnAnswer(value) ? value : undefined;
    const body = own ? own.body : value;
    const candidate = own ? candidates.find(({ status }) => status === own.status) : candidates[0];
    if (!candidate)
      throw new Error(
        `The handler of "${exchange.plan.operation.name}" answered ${own ? own.status : 'something'}, which ${endpoint.key} does not state.`,
      );
    if (!candidate.hasBody) return { status: candidate.status, headers: { ...own?.headers }, body: undefined };
    const copy = typeof body === 'object' && body !== null && !(body instanceof Uint8Array) ? structuredClone(body) : body;
    candidate.prune?.(copy);
    const violation = copy instanceof Uint8Array ? undefined : candidate.validate?.(copy)[0];
    if (violation) {
      throw new Error(
        `The handler of "${exchange.plan.operation.name}" answered what ${endpoint.key} does not state: ${violation.path || '/'} is ${violation.found}, not ${violation.expected}.`,
      );
    }
    const told = candidate.carry ? candidate.carry.down(copy) : copy;
    return encodeReply(candidate.status, { ...own?.headers }, told, contentType);
  };
}

/** A handler that wants another status than the first stated one answers with an `Answer`. */
export class Answer {
  readonly status: number;
  readonly body: Value;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, body?: Value, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

function isOwnAnswer(value: Value): value is Answer {
  return value instanceof Answer;
}
