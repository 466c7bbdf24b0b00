import { hash } from 'node:crypto';
import type { Endpoint, Idempotency } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Reader, Transaction } from '../../store/store.ts';
import {
  type Exchange,
  type Fields,
  type Keyed,
  type OperationRun,
  type Refusal,
  Refused,
  refusalReply,
  type Value,
} from '../exchange/exchange.ts';
import { warn } from '../exchange/warn.ts';
import type { Reply } from '../http/call.ts';
import { type Act, type AnsweredOutcome, changeFor, type Hook, type Pause, type Work, workFor } from '../resources/act.ts';
import { isFields } from '../resources/body.ts';
import { timedOf } from '../resources/kept-row.ts';
import type { RowModel } from '../resources/model.ts';
import { compileRepresentation } from '../resources/representation.ts';
import type { Drawn } from '../resources/setters.ts';
import type { UsualKey } from '../resources/stand-in.ts';
import { type ChangeSteps, changeRows } from '../serve.ts';
import type { Engine } from './engine.ts';
import { type HandlerEffects, handlerContext, isUnchanged, triesMax } from './handler-context.ts';
import type { BeforeHandlers, Handler } from './handlers.ts';
import { compileRowReply } from './row-reply.ts';

/**
 * Compiles an operation that changes rows: steps 9 to 15 of the road, in one transaction. A `before` handler stands between two
 * runs of the same steps: the first finds out what would be stored.
 */
export function compileChange(operation: Operation, endpoint: Endpoint, model: RowModel, act: Act, engine: Engine): OperationRun {
  const before = engine.before[operation.name];
  const stated = endpoint.idempotency ?? engine.compilation.standIn?.usualKey(endpoint);
  const steps = compileSteps(operation, endpoint, model, act, engine, stated !== undefined);
  const hasTimers = [...engine.models.values()].some((one) => timedOf(one).length > 0);
  const store = before ? compileBefore(before, steps, engine) : once;

  function once(exchange: Exchange): Promise<Reply> {
    return changeFor(engine, exchange, (rows, draw) => changeOnce(rows, exchange, steps, draw, undefined));
  }

  function done(exchange: Exchange, answer: Reply): Reply {
    if (hasTimers) engine.timersChanged();
    engine.events.recorded(exchange.recorded);
    return answer;
  }

  function failed(exchange: Exchange, failure: unknown): Reply {
    if (failure instanceof Refused) return refusalReply(exchange, failure.refusal);
    throw failure;
  }

  /** The key is held while its first request is under way. */
  async function withKey(exchange: Exchange): Promise<Reply> {
    const keyed = idempotencyKey(stated, exchange, engine);
    if (keyed && !endpoint.idempotency && isUnstated(endpoint, stated, exchange))
      warn(exchange, [`header ${stated?.header} is not stated`]);
    if (keyed && 'refusal' in keyed) return refusalReply(exchange, keyed.refusal);
    if (keyed) {
      if (engine.inFlight.has(keyed.key)) return refusalReply(exchange, { when: 'idempotency.busy' });
      engine.inFlight.add(keyed.key);
      exchange.keyed = keyed;
      exchange.deadline?.whenOver(() => engine.inFlight.delete(keyed.key));
    }
    try {
      return done(exchange, await store(exchange));
    } catch (failure) {
      return failed(exchange, failure);
    } finally {
      // Once its time was over the key was let go of, and may be another request's.
      if (keyed && !exchange.deadline?.isOver) engine.inFlight.delete(keyed.key);
    }
  }

  if (before || stated) return withKey;
  return (exchange) =>
    once(exchange).then(
      (answer) => done(exchange, answer),
      (failure) => failed(exchange, failure),
    );
}

/** What the steps of the road ask in a change at one endpoint. */
function compileSteps(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  act: Act,
  engine: Engine,
  takesKey: boolean,
): ChangeSteps {
  const { models, events } = engine;
  const reply = compileRowReply(endpoint, model, engine);
  const shown = compileShown(endpoint, model, engine);
  const spend = engine.limits.spendOf(operation);
  return {
    act,
    replay: takesKey
      ? (rows, exchange) => {
          const replayed = exchange.keyed && replay(rows, exchange.keyed, exchange.nowMs);
          return replayed && ('refusal' in replayed ? refusalReply(exchange, replayed.refusal) : replayed);
        }
      : undefined,
    workFor: (rows, exchange, draw) => workFor(rows, models, exchange, draw),
    refuse(rows, exchange, refusal) {
      const answer = refusalReply(exchange, refusal);
      if (exchange.keyed && refusal.code !== undefined) keep(rows, exchange.keyed, answer);
      return answer;
    },
    answer(work, exchange, outcome) {
      const made =
        outcome.answer === undefined
          ? reply(work, exchange, outcome)
          : keptError(exchange, outcome.answer, shown?.(work, exchange, outcome));
      if ('refusal' in made) throw new Refused(made.refusal);
      spend?.(work.rows, exchange, made.reply.status);
      exchange.recorded = events.record(work, exchange.caller);
      if (exchange.cost) exchange.cost.rows = work.stored.length;
      if (exchange.keyed) keep(work.rows, exchange.keyed, made.again);
      return made.reply;
    },
  };
}

/** A change that is kept, and answered with an error. */
function keptError(exchange: Exchange, code: string, result: Value): { readonly reply: Reply; readonly again: Reply } {
  const reply = refusalReply(exchange, { code, ...(result !== undefined && { result }) });
  return { reply, again: reply };
}

/** Compiles the row of such a change as its caller may read it, in the words of its version; nothing where no payload of errors reads it. */
function compileShown(endpoint: Endpoint, model: RowModel, { compilation, models }: Engine) {
  const payload = statedValue(compilation.spec.errors.payload);
  if (payload === undefined || payload === 'problem' || !/\bresult\b/.test(JSON.stringify(payload.data))) return undefined;
  const representation = compileRepresentation(model, endpoint, models, compilation, false);
  const reading = compilation.access.reading(model.name, compilation.user);
  return (work: Work, exchange: Exchange, { row, fields }: AnsweredOutcome): Value =>
    reading.isFree || reading.allows(work.scope, fields) ? JSON.parse(representation.text(work, exchange, row.doc)) : undefined;
}

/** The steps in a change that is kept. */
function changeOnce(rows: Transaction, exchange: Exchange, steps: ChangeSteps, draw: Drawn, hook: Hook | undefined): Reply {
  exchange.deadline?.apply();
  const answer = changeRows(rows, exchange, steps, draw, hook);
  if ('paused' in answer) throw new Error('An act stopped for a handler that was asked already.');
  return answer;
}

/** Compiles what goes around a `before` handler: a rehearsal, the handler, and the change with what the handler made of it. */
function compileBefore(before: Handler, steps: ChangeSteps, engine: Engine): (exchange: Exchange) => Promise<Reply> {
  /** What would be stored, found out without storing it. */
  function rehearse(exchange: Exchange): Promise<Pause | Reply> {
    return changeFor(engine, exchange, (rows, draw): Pause | Reply => {
      throw new Rehearsed(changeRows(rows, exchange, steps, draw, { next: undefined }));
    }).catch((failure: unknown) => {
      if (failure instanceof Rehearsed) return failure.found;
      throw failure;
    });
  }

  return async (exchange) => {
    for (let tries = 0; tries < triesMax; tries++) {
      const rehearsed = await rehearse(exchange);
      if (!('paused' in rehearsed)) return rehearsed;
      const { resource, next, seen } = rehearsed.paused;
      const changed = await runBefore(engine, exchange, before, resource, next);
      if ('refusal' in changed) return refusalReply(exchange, changed.refusal);
      const answer = await changeFor(engine, exchange, (rows, draw) => {
        // What the handler was shown must still be there too, or another's change would be lost.
        if (seen && rows.get(seen.resource, seen.id)?.rev !== seen.rev) return undefined;
        if (!isUnchanged(rows, changed.collected)) return undefined;
        return changeOnce(rows, exchange, steps, draw, { next: structuredClone(changed.next) });
      });
      if (answer) return answer;
    }
    return refusalReply(exchange, { when: 'write.conflict' });
  };
}

/** Takes back a rehearsal, and tells what was found out by it. */
class Rehearsed {
  readonly found: Pause | Reply;
  constructor(found: Pause | Reply) {
    this.found = found;
  }
}

/**
 * Runs what stands in front of a stated operation: it may fail, or change what would be stored. What it writes besides
 * goes with the change in a handler alone, so writes here are refused by name.
 */
async function runBefore(
  engine: Engine,
  exchange: Exchange,
  before: BeforeHandlers[string],
  resource: Fields | undefined,
  next: Fields,
): Promise<{ readonly next: Fields; readonly collected: HandlerEffects } | { readonly refusal: Refusal }> {
  const draft = structuredClone(next);
  const { context, collected } = handlerContext(engine, exchange, resource && structuredClone(resource), draft);
  try {
    await before(context);
  } catch (failure) {
    if (failure instanceof Refused) return { refusal: failure.refusal };
    throw failure;
  }
  if (collected.writes.length > 0 || collected.emitted.length > 0) {
    throw new Error(
      `The handler before "${exchange.plan.operation.name}" wrote to the store; it may change next or fail, and nothing else.`,
    );
  }
  return { next: draft, collected };
}

/** How long an answer is kept where the document does not say: a day. */
const keepMsUnstated = 86_400_000;

/** Reads the idempotency key of a request: nothing where none is sent or taken. */
export function idempotencyKey(
  stated: (Idempotency & Pick<UsualKey, 'member' | 'query'>) | undefined,
  exchange: Exchange,
  { limits, identify, compilation }: Engine,
): Keyed | { readonly refusal: Refusal } | undefined {
  if (!stated) return undefined;
  const name = stated.header.toLowerCase();
  const { headers } = exchange.call;
  const beside = (stated.member && keyIn(exchange.request, stated.member)) ?? (stated.query && exchange.params[stated.query]);
  const sent = Object.hasOwn(headers, name) ? headers[name] : beside;
  const text = typeof sent === 'string' ? sent.trim() : undefined;
  const expected = { in: 'header' as const, path: stated.header, expected: 'a key of 1 to 255 characters' };
  if (text === undefined || text === '') {
    return stated.required
      ? { refusal: { when: 'request.parameter', violations: [{ ...expected, found: 'nothing' }] } }
      : undefined;
  }
  if (text.length > 255)
    return { refusal: { when: 'request.parameter', violations: [{ ...expected, found: `${text.length} characters` }] } };
  const { caller, plan, call, bytes, nowMs, view } = exchange;
  // Those whom nobody knows are told apart by where they come from.
  const isKnown = caller !== undefined && (identify !== undefined || isStated(compilation.spec.authentication.schemes));
  const who = isKnown ? `${caller.user}\n${caller.id}` : `\n${limits.addressOf(call)}`;
  const head = Buffer.from(`${call.method} ${call.path}?${call.query}\n${view.version ?? ''}\n`);
  // At once: an object that is told piece by piece costs more than what it reckons.
  const fingerprint = hash('sha256', bytes ? Buffer.concat([head, bytes]) : head, 'base64url');
  return {
    key: `idempotency\n${who}\n${plan.operation.name}\n${text}`,
    fingerprint,
    expiresMs: nowMs + (stated.keepMs ?? keepMsUnstated),
  };
}

/** Whether a key came in a header that the document does not name. */
function isUnstated(endpoint: Endpoint, key: Idempotency | undefined, { call }: Exchange): boolean {
  const name = key?.header ?? '';
  const isNamed = entriesOf(endpoint.parameters).some(([stated]) => stated.toLowerCase() === name.toLowerCase());
  return !isNamed && Object.hasOwn(call.headers, name.toLowerCase());
}

/** The key that a member of a body holds. */
function keyIn(request: Value, member: string): Value {
  return isFields(request) && Object.hasOwn(request, member) ? request[member] : undefined;
}

/** What was answered to this key before: the same answer again, or a refusal where it was another request. */
export function replay(rows: Reader, keyed: Keyed, nowMs: number): Reply | { readonly refusal: Refusal } | undefined {
  const record = rows.record(keyed.key, nowMs);
  if (!record) return undefined;
  if (record.fingerprint !== keyed.fingerprint) return { refusal: { when: 'idempotency.reused' } };
  const { status, headers, body } = JSON.parse(record.body) as {
    status: number;
    headers: Record<string, string>;
    body: string | null;
  };
  return { status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: body ?? undefined };
}

/** Keeps an answer with the change that it answers. */
export function keep(rows: Transaction, keyed: Keyed, { status, headers, body }: Reply): void {
  const text = typeof body === 'string' ? body : body === undefined ? null : Buffer.from(body).toString();
  rows.keep(keyed.key, {
    fingerprint: keyed.fingerprint,
    expiresMs: keyed.expiresMs,
    body: JSON.stringify({ status, headers, body: text }),
  });
}
