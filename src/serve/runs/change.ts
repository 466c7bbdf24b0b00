import type { Endpoint, Idempotency } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Transaction } from '../../store/store.ts';
import type { Act, Hook, Outcome, Pause, Paused } from '../acts/act.ts';
import type { Engine } from '../engine.ts';
import { type Exchange, type Refusal, Refused, type Reply } from '../exchange.ts';
import type { Recorded } from '../hooks.ts';
import type { Run } from '../plan.ts';
import type { RowModel } from '../rows/model.ts';
import { warn } from '../sampling/forgiving.ts';
import { changeFor, type Drawn, workFor } from '../scope.ts';
import { runBefore } from './before.ts';
import { isUnchanged, triesMax } from './collected.ts';
import { type Keyed, keep, keyOf, replay } from './idempotency.ts';
import { refused } from './refused.ts';
import { compileRowReply } from './row-reply.ts';

/**
 * Compiles an operation that changes rows: steps 9 to 15 of the order of refusals, in one transaction with its idempotency
 * record. A `before` handler stands between two runs of the same act: the first finds out what would be stored.
 */
export function compileChange(operation: Operation, endpoint: Endpoint, model: RowModel, act: Act, engine: Engine): Run {
  const reply = compileRowReply(endpoint, model, engine);
  const before = engine.before[operation.name];
  const spend = engine.limits.spendOf(operation);
  const stated = endpoint.idempotency ?? usualIdempotency(endpoint, engine);
  const hasTimers = [...engine.models.values()].some(({ machine }) => (machine?.timed.length ?? 0) > 0);

  function once(exchange: Exchange, keyed: Keyed | undefined): Promise<Done> {
    return changeFor(engine, exchange, (rows, draw) => carryOut(rows, exchange, keyed, undefined, draw));
  }

  function carryOut(rows: Transaction, exchange: Exchange, keyed: Keyed | undefined, hook: Hook | undefined, draw: Drawn): Done {
    exchange.deadline?.apply();
    const replayed = keyed && replay(rows, keyed, exchange.nowMs);
    if (replayed) return { reply: 'refusal' in replayed ? refused(exchange, replayed.refusal) : replayed };
    const work = workFor(rows, engine.models, exchange, draw);
    const outcome = act(work, exchange, hook);
    if ('paused' in outcome) throw new Error('An act stopped for a handler that was asked already.');
    if ('refusal' in outcome) return { reply: refuseAndKeep(rows, exchange, keyed, outcome.refusal) };
    const made = reply(work, exchange, outcome);
    if ('refusal' in made) throw new Refused(made.refusal);
    spend?.(rows, exchange, made.reply.status);
    const recorded = engine.events.record(work, exchange.caller);
    if (keyed) keep(rows, keyed, made.again);
    return { reply: made.reply, recorded };
  }

  /** The service's own errors are kept like answers: the same key gets the same refusal. */
  function refuseAndKeep(rows: Transaction, exchange: Exchange, keyed: Keyed | undefined, refusal: Refusal): Reply {
    const answer = refused(exchange, refusal);
    if (keyed && refusal.code !== undefined) keep(rows, keyed, answer);
    return answer;
  }

  /** What would be stored, found out without storing it. */
  async function rehearse(exchange: Exchange, keyed: Keyed | undefined): Promise<Paused | Reply> {
    return changeFor(engine, exchange, (rows, draw) => {
      const replayed = keyed && replay(rows, keyed, exchange.nowMs);
      if (replayed) throw new Rehearsed('refusal' in replayed ? refused(exchange, replayed.refusal) : replayed);
      const outcome: Outcome | Pause = act(workFor(rows, engine.models, exchange, draw), exchange, { next: undefined });
      if ('paused' in outcome) throw new Rehearsed(outcome.paused);
      if ('refusal' in outcome) throw new Rehearsed(refused(exchange, outcome.refusal));
      throw new Error('An act went on where a handler stands before it.');
    }).catch((failure: unknown) => {
      if (failure instanceof Rehearsed) return failure.found;
      throw failure;
    });
  }

  async function withBefore(exchange: Exchange, keyed: Keyed | undefined): Promise<Done> {
    for (let tries = 0; tries < triesMax; tries++) {
      const paused = await rehearse(exchange, keyed);
      if ('status' in paused && 'headers' in paused) return { reply: paused as Reply };
      const { resource, next, seen } = paused as Paused;
      const changed = await runBefore(engine, exchange, before as NonNullable<typeof before>, resource, next);
      if ('refusal' in changed) return { reply: refused(exchange, changed.refusal) };
      const answer = await changeFor(engine, exchange, (rows, draw) => {
        // What the handler was shown must still be there too, or another's change would be lost.
        if (seen && rows.get(seen.resource, seen.id)?.rev !== seen.rev) return undefined;
        if (!isUnchanged(rows, changed.collected)) return undefined;
        return carryOut(rows, exchange, keyed, { next: structuredClone(changed.next) }, draw);
      });
      if (answer) return answer;
    }
    return { reply: refused(exchange, { when: 'write.conflict' }) };
  }

  function done({ reply: answer, recorded }: Done): Reply {
    if (hasTimers) engine.timersChanged();
    engine.events.recorded(recorded);
    return answer;
  }

  function failed(exchange: Exchange, failure: unknown): Reply {
    if (failure instanceof Refused) return refused(exchange, failure.refusal);
    throw failure;
  }

  async function whole(exchange: Exchange): Promise<Reply> {
    const keyed = keyOf(stated, exchange);
    if (keyed && !endpoint.idempotency) warn(exchange, [`header ${stated?.header} is not stated`]);
    if (keyed && 'refusal' in keyed) return refused(exchange, keyed.refusal);
    if (keyed) {
      if (engine.inFlight.has(keyed.key)) return refused(exchange, { when: 'idempotency.busy' });
      engine.inFlight.add(keyed.key);
      exchange.deadline?.whenOver(() => engine.inFlight.delete(keyed.key));
    }
    try {
      return done(before ? await withBefore(exchange, keyed) : await once(exchange, keyed));
    } catch (failure) {
      return failed(exchange, failure);
    } finally {
      // Once its time was over the key was let go of, and may be another request's.
      if (keyed && !exchange.deadline?.isOver) engine.inFlight.delete(keyed.key);
    }
  }

  if (before || stated) return whole;
  return (exchange) => once(exchange, undefined).then(done, (failure) => failed(exchange, failure));
}

/** Vendors' clients send keys that their documents do not name; a stand-in takes them as the IETF's draft of the header has it. */
function usualIdempotency({ method, at }: Endpoint, { compilation: { sampling } }: Engine): Idempotency | undefined {
  return sampling && !sampling.isStrict && method === 'POST' ? { at, header: 'Idempotency-Key', required: false } : undefined;
}

/** The answer to a change, and what the change recorded. */
interface Done {
  readonly reply: Reply;
  readonly recorded?: Recorded | undefined;
}

/** Takes back a rehearsal, and tells what was found out by it. */
class Rehearsed {
  readonly found: Paused | Reply;
  constructor(found: Paused | Reply) {
    this.found = found;
  }
}
