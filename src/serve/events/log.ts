/** The log of events as rows of a resource: how an event becomes a row, and how rows go that were kept long enough. */

import type { Draw } from '../../kinds/generators/kind.ts';
import { loggedOf, logOf } from '../../parts/event-telling.ts';
import { toldShape } from '../../parts/expressions/operation-scope.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { leftOutOf, showingOperations } from '../../parts/left-out.ts';
import { namesOperation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Evaluate, isFailed } from '../exchange/compilation.ts';
import { type Fields, type Recorded, type Refusal, Refused, type Value } from '../exchange/exchange.ts';
import { compilePrune, type Prune } from '../exchange/visibility.ts';
import { compileDoing } from '../following/doing.ts';
import { parseStoredValue, toJson, withoutPrototype } from '../http/json.ts';
import { ownWork, type StoredChange, type Work } from '../resources/act.ts';
import { isFields } from '../resources/body.ts';
import { removeRow } from '../resources/delete.ts';
import { drawOnce } from '../resources/setters.ts';
import { Alarm } from './alarm.ts';
import type { RecordedKind } from './event-kinds.ts';
import type { EventsSetting } from './setting.ts';

/** The events of a document as rows of a resource. */
export interface CompiledLog {
  /** An identifier of a row, which is that of its event; nothing where the resource says no form for it. */
  readonly newId: ((draw: Draw) => string) | undefined;
  /** Inside a change: makes the row of an event. @throws {Refused} `internal` where that cannot be. */
  add(work: Work, logged: Logged): void;
}

/** An event that is to be a row. */
interface Logged {
  readonly kind: RecordedKind;
  /** Its identifier, kind, time and action. */
  readonly event: Readonly<Record<string, Value>> & { readonly id: string };
  readonly payload: Value;
  /** The change of the row that it is about. */
  readonly change: StoredChange | undefined;
  readonly caller: Value;
}

/** Compiles it; nothing where a document states none. */
export function compileLog(engine: EventsSetting): CompiledLog | undefined {
  const { compilation } = engine;
  const log = logOf(compilation.spec);
  const model = log && engine.models.get(log.resource);
  if (!log || !model) return undefined;
  const { generate } = model.identifier;
  const set = Object.entries(log.set).filter(([field]) => model.fields.has(field));
  const doing = compileDoing({ verb: 'create', resource: log.resource }, Object.keys(log.set), model, compilation);
  const seen = compileSeen(engine, log.resource);
  const compiled = new Map<string | undefined, readonly LoggedField[]>();
  // Compiled once for each resource that an event is about.
  const fieldsFor = (resource: string | undefined): readonly LoggedField[] => {
    const known = compiled.get(resource) ?? set.map(([field, one]) => compileField(field, one, resource, compilation));
    compiled.set(resource, known);
    return known;
  };
  return {
    newId: generate.by === 'template' ? generate.make : undefined,
    add(work, { kind, event, payload, change, caller }) {
      const about = change && { resource: change.model.name, row: change.id };
      const row = change && (change.after ?? change.before);
      const { now, follow } = work.scope;
      const scope = {
        now,
        follow,
        operation: change?.operation ?? work.scope.operation,
        version: '',
        caller,
        event: { ...event, ...about, payload: seen(kind, payload) },
        ...(row && { row }),
      };
      const given: Fields = withoutPrototype({});
      for (const { field, payloadAt, read } of fieldsFor(about?.resource)) {
        const value = read(scope);
        if (isFailed(value)) throw unlogged(event, `${field} of it failed: ${value.reason}`);
        const whole = payloadAt.reduce((held, place) => placed(held, place, scope.event.payload), value);
        if (whole !== undefined && whole !== null) given[field] = whole;
      }
      const own = { now, operation: doing.name, version: '', follow };
      const refusal = refusalOf(() => doing.act({ ...work, scope: own }, event.id, given));
      if (refusal) throw unlogged(event, wordsOf(refusal));
    },
  };
}

/** What a field of a row of the log holds. */
interface LoggedField {
  readonly field: string;
  /** Where the payload stands as a whole, which is kept as it was: an expression reads its nulls as absent. */
  readonly payloadAt: readonly (readonly string[])[];
  readonly read: Evaluate;
}

function compileField(
  field: string,
  expression: Expression,
  resource: string | undefined,
  compilation: EventsSetting['compilation'],
): LoggedField {
  const payloadAt = payloadPlaces(expression);
  const isAll = payloadAt.some((place) => place.length === 0);
  return { field, payloadAt, read: isAll ? () => null : compilation.expression(expression, loggedOf(resource)) };
}

/** The places of the whole payload in what an expression makes, by the keys that lead there. */
function payloadPlaces({ source, parts }: Expression): string[][] {
  if (source.trim() === 'event.payload') return [[]];
  return Object.entries(parts ?? {}).flatMap(([key, part]) => payloadPlaces(part).map((place) => [key, ...place]));
}

/** A value with another one at a place in it; itself where nothing stands there. */
function placed(value: Value, [first, ...rest]: readonly string[], other: Value): Value {
  if (first === undefined) return other;
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === first ? placed(one, rest, other) : one));
  if (!isFields(value) || !Object.hasOwn(value, first)) return value;
  return Object.assign(withoutPrototype({}), value, { [first]: placed(value[first], rest, other) });
}

function refusalOf(act: () => Refusal | undefined): Refusal | undefined {
  try {
    return act();
  } catch (failure) {
    if (failure instanceof Refused) return failure.refusal;
    throw failure;
  }
}

function wordsOf({ message, when, code, violations: [first] = [] }: Refusal): string {
  if (first) return `${first.path || '/'} is ${first.found}, not ${first.expected}`;
  return message ?? code ?? when ?? 'it is refused';
}

function unlogged({ kind }: Logged['event'], why: string): Refused {
  return new Refused({ when: 'internal', message: `The row of the event ${String(kind)} cannot be made: ${why}` });
}

/** Leaves out of a payload what some of those who may read the log do not see. */
function compileSeen({ compilation }: EventsSetting, resource: string): (kind: RecordedKind, payload: Value) => Value {
  const { spec } = compilation;
  const known = new Map<string, readonly Prune[]>();
  const prunesOf = (kind: string): readonly Prune[] => {
    const stated = entryOf(spec.events.kinds, kind);
    const shape = stated && toldShape(spec, stated);
    if (!shape) return [];
    return readersOf(spec, resource, compilation.user).flatMap(
      (user) => compilePrune(spec, shape, { user, reveals: false, leftOut: leftOutOf(spec, { user }) }) ?? [],
    );
  };
  return ({ name }, payload) => {
    const prunes = known.get(name) ?? prunesOf(name);
    known.set(name, prunes);
    if (prunes.length === 0) return payload;
    const own: Value = parseStoredValue(toJson(payload));
    for (const prune of prunes) prune(own);
    return own;
  };
}

/** The users who may read rows of a resource; nothing among them for whoever shows no credential. */
function readersOf(spec: Spec, resource: string, everybody: string | undefined): readonly (string | undefined)[] {
  const { schemes, permissions, public: open } = spec.authentication;
  if (!isStated(schemes)) return [everybody];
  const operations = showingOperations(spec, resource);
  if (operations.some((operation) => namesOperation(open, operation))) return [undefined];
  if (!isStated(permissions)) return entriesOf(spec.purpose.users).map(([user]) => user);
  const rules = (statedValue(permissions) ?? []).filter(({ allow }) => operations.some((one) => namesOperation(allow, one)));
  return [...new Set(rules.flatMap(({ to }): readonly (string | undefined)[] => (to === 'anyone' ? [undefined] : to)))];
}

/** How many rows go in one change. */
const stepMost = 100;
/** How long nothing is done after the store could not be asked. */
const storeRestMs = 1000;

/** What one step came to. */
interface Step {
  readonly recorded: Recorded | undefined;
  /** The last row that is not looked at again, as it was not made by the log. */
  readonly passed: number;
  /** When the first of those that stay has been kept long enough; nothing where there is none. */
  readonly nextMs: number | undefined;
  readonly isDone: boolean;
}

/** Takes rows out of the log of events that were kept long enough, oldest first, a bounded number in one change. */
export class LogKeeping {
  readonly #engine: () => EventsSetting;
  readonly #alarm: Alarm;
  #isMine = true;
  #isStopped = false;
  #running: Promise<void> | undefined;
  /** Whether it is known when the first one goes, or that there is none. */
  #isSet = false;
  /** Whether a row may have come that what is under way did not see. */
  #isAsked = false;
  #passed = 0;

  constructor(engine: () => EventsSetting) {
    this.#engine = engine;
    this.#alarm = new Alarm(
      () => engine().clock,
      () => this.#begin(),
    );
  }

  /** There may be a row to wait for. */
  look(): void {
    this.#isAsked = this.#running !== undefined;
    if (!this.#isSet) this.#begin();
  }

  /** The document may be another one, or this process the one that looks after rows. */
  resume(isMine = this.#isMine): void {
    this.#isMine = isMine;
    this.#isSet = false;
    this.#passed = 0;
    this.#alarm.stop();
    this.#begin();
  }

  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#alarm.stop();
    await this.#running;
  }

  #begin(): void {
    // Where the work is another process's, there may be no engine yet: a shared store says so before the service has started.
    if (this.#running || this.#isStopped || !this.#isMine) return;
    const keepMs = logOf(this.#engine().compilation.spec)?.keepMs;
    this.#isSet = true;
    // Nothing ever goes, until the document is another one.
    if (keepMs === undefined || !Number.isFinite(keepMs)) return;
    this.#running = this.#run()
      .catch((failure: unknown) => {
        const { clock, onFailure } = this.#engine();
        onFailure(failure, 'the log of events');
        this.#alarm.set(clock.now() + storeRestMs);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && this.#isMine) {
      const { recorded, passed, nextMs, isDone } = await this.#step();
      this.#passed = passed;
      this.#engine().events.recorded(recorded);
      const isAsked = nextMs === undefined && this.#isAsked;
      this.#isAsked = false;
      if (!isDone || isAsked) continue;
      if (nextMs === undefined) this.#isSet = false;
      else this.#alarm.set(nextMs);
      return;
    }
  }

  async #step(): Promise<Step> {
    const engine = this.#engine();
    const { store, models, chance, clock, events, compilation } = engine;
    const { resource = '', keepMs = Number.POSITIVE_INFINITY } = logOf(compilation.spec) ?? {};
    const model = models.get(resource);
    const nothing: Step = { recorded: undefined, passed: this.#passed, nextMs: undefined, isDone: true };
    if (!model) return nothing;
    const draw = drawOnce(chance, clock.now());
    return store.change((rows) => {
      if (!rows.holds('deliveries')) return nothing;
      const work = ownWork(rows, models, draw, `delete ${resource}`);
      const page = rows.scan(resource, this.#passed, stepMost);
      let passed = this.#passed;
      for (const row of page) {
        const dueMs = row.entered + keepMs;
        // What has no time was not made by the log.
        if (row.entered > 0 && dueMs > work.nowMs)
          return { recorded: events.record(work, undefined), passed, nextMs: dueMs, isDone: true };
        if (row.entered > 0) removeRow(work, model, row, model.parse(row), `delete ${resource}`);
        else passed = row.seq;
      }
      return { recorded: events.record(work, undefined), passed, nextMs: undefined, isDone: page.length < stepMost };
    });
  }
}
