import type { Json } from '../document/document.ts';
import type { Spec } from '../parts/spec.ts';
import { openSqlite } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { systemClock } from './clock.ts';
import { fetchDoor } from './doors/fetch.ts';
import { type DoorRefusal, doorRefusals, type RefuseRaw } from './doors/refusals.ts';
import { createListener, listen } from './doors/socket.ts';
import type { Engine } from './engine.ts';
import { startEngine } from './engine-start.ts';
import { compileRefusals } from './errors.ts';
import { startEvents } from './events.ts';
import type { Call, Exchange, Refusal, Reply } from './exchange.ts';
import { notesOf } from './notes.ts';
import { seedRows } from './seed.ts';
import { type AnswerCall, compileServe, type Note, refuseCall } from './serve.ts';
import type { ExchangeEntry, ServeOptions, Service } from './service.ts';
import { startTimers } from './timers.ts';

/** Opens a SQLite file, or `:memory:`. @throws {Locked} where another process holds it. */
export function openStore(path: string): Store {
  return openSqlite(path);
}

/**
 * Runs the service that a sound document describes.
 * @throws {Misfits} where stored rows do not fit it.
 * @throws {BadRows} where the rows to start with do not.
 */
export async function serveSpec(spec: Spec, options: ServeOptions = {}): Promise<Service> {
  const store = options.store ?? openSqlite(':memory:');
  const clock = options.clock ?? systemClock;
  const inFlight = new Set<string>();
  const timers = startTimers(() => engine);
  const events = startEvents(() => engine);
  const note = options.onExchange && compileNote(options.onExchange, clock);
  let engine: Engine = await startEngine(spec, store, inFlight, () => timers.changed(), events, options);
  let road: AnswerCall = compileServe(engine, note);
  let refuseRaw = compileRawRefusals(engine);
  if (options.rows) await seedRows(engine, options.rows);
  timers.changed();

  const answer: AnswerCall = (call) => road(call);
  const doorOptions = {
    refuseRaw: (kind: DoorRefusal, path: string) => refuseRaw(kind, path),
    onFailure: (failure: unknown) => engine.onFailure(failure, 'door'),
  };

  return {
    listener: createListener(answer, doorOptions),
    fetch: fetchDoor(answer),
    listen: (at) => listen(answer, { ...doorOptions, host: '127.0.0.1', ...at }),
    fire: async (resource, id, transition) => (await timers.fire(resource, id, transition)) as Json,
    async replace(next) {
      const made = await startEngine(next, store, inFlight, () => timers.changed(), events, options);
      road = compileServe(made, note);
      refuseRaw = compileRawRefusals(made);
      engine = made;
      timers.changed();
    },
    get notes() {
      return notesOf(engine);
    },
    get basePath() {
      return engine.basePath;
    },
    async close() {
      await timers.stop();
      await events.stop();
      if (!options.store) await store.close();
    },
  };
}

/** Refusals of what never becomes a call: the parser's own, in the stated shape. */
function compileRawRefusals({ compilation, chance }: Engine): RefuseRaw {
  const table = compileRefusals(compilation.spec, undefined, compilation.facts, (expression) =>
    compilation.expression(expression),
  );
  return (kind, path) => refuseCall(table, { path }, doorRefusals[kind], `req_${chance.uuid()}`);
}

function compileNote(onExchange: (entry: ExchangeEntry) => void, clock: { now(): number }): Note {
  return (call: Call, exchange: Exchange | undefined, reply: Reply, refusal: Refusal | undefined) => {
    const now = clock.now();
    const open = refusal?.open ?? exchange?.accepted;
    const code = refusal && (refusal.code ?? refusal.when ?? (refusal.unsupported ? 'unsupported' : undefined));
    onExchange({
      at: new Date(now).toISOString(),
      requestId: exchange?.requestId() ?? '',
      method: call.method,
      target: call.query === '' ? call.path : `${call.path}?${call.query}`,
      status: reply.status,
      operation: exchange?.plan.operation.name,
      ms: exchange ? now - exchange.nowMs : 0,
      ...(code !== undefined && { refused: code }),
      ...(open && { open: open.map(({ kind, subject }) => `${kind} (${subject})`) }),
    });
  };
}
