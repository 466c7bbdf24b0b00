import { type Operation, operationsOf } from '../../parts/operations.ts';
import type { Row, Timer, Transaction } from '../../store/store.ts';
import { freePass } from '../callers/operation-access.ts';
import { after } from '../exchange/after.ts';
import { type Fields, type Recorded, Refused } from '../exchange/exchange.ts';
import type { Engine } from '../operations/engine.ts';
import { type Drawn, drawOnce, follower, type Work } from '../resources/act.ts';
import type { RowModel } from '../resources/model.ts';
import { compileFiring, type FireTransition } from '../resources/transition.ts';
import { fire } from '../serve.ts';

/** The clock's part of the machines: transitions that are due are fired, in order, once, and late rather than not at all. */
export interface Timers {
  /** Looks anew at what is due first. */
  changed(): void;
  /** Fires a transition on a row now, as the service itself. */
  fire(resource: string, id: string, transition: string): Promise<Fields>;
  /** Resolves once nothing that is due is left to be fired. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** How many timers fire in one change. */
const batch = 64;
/** How long nothing is fired after the store could not say what is due. */
const storeRestMs = 1000;

export function startTimers(engine: () => Engine): Timers {
  const firings = new WeakMap<Engine, Map<string, FireTransition>>();
  let cancel = () => {};
  let running: Promise<void> | undefined;
  /** The newest look at what is due first, while the store is waited for. */
  let looking: Promise<void> | undefined;
  let looks = 0;
  let isStopped = false;

  function firingOf(resource: string, transition: string): FireTransition | undefined {
    const current = engine();
    const known = firings.get(current) ?? new Map<string, FireTransition>();
    firings.set(current, known);
    const key = `${resource}\n${transition}`;
    const found = known.get(key);
    if (found) return found;
    const model = current.models.get(resource);
    if (!model) return undefined;
    const operation: Operation = uncalled(current, resource, transition);
    const made = compileFiring(transition, operation, model, current.compilation);
    known.set(key, made);
    return made;
  }

  function workAt(rows: Transaction, draw: Drawn, operation: string): Work {
    const { models } = engine();
    const { nowMs } = draw;
    draw.restart();
    return {
      rows,
      models,
      nowMs,
      draw,
      scope: { now: nowMs, operation, version: '', follow: follower(rows, models) },
      stored: [],
    };
  }

  /** Fires one timer; a condition that is false when it is due cancels it. */
  function fireDue(rows: Transaction, timer: Timer, draw: Drawn): Recorded | undefined {
    const model = engine().models.get(timer.resource);
    const firing = firingOf(timer.resource, timer.name);
    const row = model && rows.get(timer.resource, timer.id);
    if (!model || !firing || !row) {
      rows.clearTimers(timer.resource, timer.id, timer.name);
      return undefined;
    }
    const work = workAt(rows, draw, `${timer.name} ${timer.resource}`);
    const fields = model.parse(row);
    if (!isStillSet(work, model, row, fields, timer)) return undefined;
    rows.timerFired(timer);
    fire(work, firing, { row, fields, pass: freePass });
    return engine().events.record(work, undefined);
  }

  /** Since a timer was read as due, another change may have moved the row: what is not asked for any more is set right instead of fired. */
  function isStillSet(work: Work, model: RowModel, row: Row, fields: Fields, timer: Timer): boolean {
    const timed = model.machine?.timed.find(({ name }) => name === timer.name);
    const scope = { ...work.scope, resource: fields, next: fields };
    const due = model.machine && timed?.leaves(fields[model.machine.field]) ? timed.due(fields, row.entered, scope) : undefined;
    if (!due) work.rows.clearTimers(timer.resource, timer.id, timer.name);
    else if (due.token !== timer.token) work.rows.setTimer({ ...timer, dueMs: due.ms, token: due.token });
    return due !== undefined && due.token === timer.token;
  }

  async function run(): Promise<void> {
    for (;;) {
      const nowMs = engine().clock.now();
      const due = await engine().store.due(nowMs, batch);
      if (due.length === 0) return;
      for (const timer of due) await fireSafely(timer, nowMs);
    }
  }

  /** A timer whose transition fails is done with, so that it does not hold up the others; the failure is noted down. */
  async function fireSafely(timer: Timer, nowMs: number): Promise<void> {
    try {
      const draw = drawOnce(engine().chance, nowMs);
      engine().events.recorded(await engine().store.change((rows) => fireDue(rows, timer, draw)));
    } catch (failure) {
      engine().onFailure(
        failure instanceof Refused ? new Error(failure.refusal.message ?? failure.refusal.when ?? 'refused') : failure,
        `timer ${timer.name} ${timer.resource} ${timer.id}`,
      );
      await engine().store.change((rows) => rows.timerFired(timer));
    }
  }

  function schedule(): void {
    if (isStopped) return;
    const mine = ++looks;
    // A look that was begun later knows more.
    const look = after(engine().store.nextDue(), (next) => {
      if (mine === looks) wakeAt(next);
    });
    const over = () => {
      if (mine === looks) looking = undefined;
    };
    looking = look instanceof Promise ? look.catch(rest).finally(over) : undefined;
  }

  function wakeAt(next: number | undefined): void {
    cancel();
    if (isStopped || next === undefined) return;
    cancel = engine().clock.at(next, wake);
    if (next <= engine().clock.now()) wake();
  }

  function wake(): void {
    if (isStopped || running) return;
    cancel();
    running = run().then(
      () => {
        running = undefined;
        schedule();
      },
      (failure: unknown) => {
        running = undefined;
        rest(failure);
      },
    );
  }

  /** The store could not say what is due: it is asked again after a while. */
  function rest(failure: unknown): void {
    engine().onFailure(failure, 'timers');
    cancel();
    if (!isStopped) cancel = engine().clock.at(engine().clock.now() + storeRestMs, schedule);
  }

  return {
    changed: () => {
      if (!running) schedule();
    },
    async fire(resource, id, transition) {
      const model = engine().models.get(resource);
      const firing = firingOf(resource, transition);
      if (!model || !firing) throw new Error(`There is no ${transition} of ${resource}.`);
      const draw = drawOnce(engine().chance, engine().clock.now());
      const { fields, recorded } = await engine().store.change((rows) => {
        const row = rows.get(resource, id);
        if (!row) throw new Refused({ when: 'resource.missing' });
        const work = workAt(rows, draw, `${transition} ${resource}`);
        const outcome = fire(work, firing, { row, fields: model.parse(row), pass: freePass });
        if (!('did' in outcome)) throw new Refused('refusal' in outcome ? outcome.refusal : { when: 'internal' });
        return { fields: outcome.fields, recorded: engine().events.record(work, undefined) };
      });
      schedule();
      engine().events.recorded(recorded);
      return fields;
    },
    async settled() {
      for (let busy = running ?? looking; busy; busy = running ?? looking) await busy;
    },
    async stop() {
      isStopped = true;
      cancel();
      await looking;
      await running;
    },
  };
}

function uncalled({ compilation }: Engine, resource: string, transition: string): Operation {
  const name = `${transition} ${resource}`;
  return (
    operationsOf(compilation.spec).find((operation) => operation.name === name && operation.by !== undefined) ?? {
      name,
      resource,
    }
  );
}
