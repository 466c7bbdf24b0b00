import { clockOperation } from '../../parts/event-telling.ts';
import { type Operation, operationsOf } from '../../parts/operations.ts';
import type { Row, Timer, Transaction } from '../../store/store.ts';
import { freePass } from '../callers/operation-access.ts';
import { type Fields, type Recorded, Refused } from '../exchange/exchange.ts';
import type { Engine } from '../operations/engine.ts';
import { ownWork, type Work } from '../resources/act.ts';
import { enteredOf, timedOf } from '../resources/kept-row.ts';
import type { RowModel } from '../resources/model.ts';
import type { Drawn } from '../resources/setters.ts';
import { compileFiring, type FireTransition } from '../resources/transition.ts';
import { fire } from '../serve.ts';

/** The transitions that nobody calls, each compiled when it is first fired. */
export class Firings {
  readonly #engine: () => Engine;
  readonly #known = new WeakMap<Engine, Map<string, FireTransition>>();

  constructor(engine: () => Engine) {
    this.#engine = engine;
  }

  of(resource: string, transition: string): FireTransition | undefined {
    const current = this.#engine();
    const known = this.#known.get(current) ?? new Map<string, FireTransition>();
    this.#known.set(current, known);
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

  /** Fires one timer; a condition that is false when it is due cancels it. @throws {Refused} for what may come right later. */
  fireDue(rows: Transaction, timer: Timer, draw: Drawn): Recorded | undefined {
    const { models, events } = this.#engine();
    const model = models.get(timer.resource);
    const alarm = model?.alarms.find(({ name }) => name === timer.name);
    const firing = alarm ? undefined : this.of(timer.resource, timer.name);
    const row = model && rows.get(timer.resource, timer.id);
    if (!model || !row || !(firing || alarm)) {
      rows.clearTimers(timer.resource, timer.id, timer.name);
      return undefined;
    }
    const work = ownWork(rows, models, draw, alarm ? clockOperation(alarm.kind) : `${timer.name} ${timer.resource}`);
    const fields = model.parse(row);
    if (!isStillSet(work, model, row, fields, timer)) return undefined;
    rows.timerFired(timer);
    if (alarm) return events.recordTimed(work, alarm.kind, { model, id: row.id, fields });
    if (!firing) return undefined;
    const found = { row, fields, pass: freePass };
    if (firing.take(work, found).illegal) return undefined;
    const outcome = fire(work, firing, found);
    if ('refusal' in outcome) throw new Refused(outcome.refusal);
    return events.record(work, undefined);
  }
}

/** Since a timer was read as due, another change may have moved the row: what is not asked for any more is set right instead of fired. */
function isStillSet(work: Work, model: RowModel, row: Row, fields: Fields, timer: Timer): boolean {
  const timed = timedOf(model).find(({ name }) => name === timer.name);
  const scope = { ...work.scope, resource: fields, next: fields };
  const due = timed?.leaves(fields) ? timed.due(fields, enteredOf(work.rows, model, row)(timed), scope) : undefined;
  if (!due) work.rows.clearTimers(timer.resource, timer.id, timer.name);
  else if (due.token !== timer.token) work.rows.setTimer({ ...timer, dueMs: due.ms, token: due.token });
  return due !== undefined && due.token === timer.token;
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
