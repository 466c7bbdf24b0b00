import type { Json } from '../../document/document.ts';
import { readTemplate, sortableTemplate, type Template } from '../../kinds/generators/template.ts';
import { statedValue } from '../../parts/fact.ts';
import type { NewEvent } from '../../store/outbox.ts';
import { type Evaluate, isFailed } from '../exchange/compilation.ts';
import type { Caller, Fields, Recorded, Value } from '../exchange/exchange.ts';
import { toJson } from '../http/json.ts';
import type { StoredChange, Work } from '../resources/act.ts';
import { withDerived } from '../resources/derive.ts';
import { type Altered, compileAltered } from './altered.ts';
import { newHandshake } from './confirming.ts';
import { compileKinds, type Kinds, pushOf, type RecordedKind } from './event-kinds.ts';
import { type CompiledLog, compileLog } from './log.ts';
import {
  compileMayRead,
  compileNeeds,
  type Image,
  imageOf,
  isStillKnown,
  type MayRead,
  type NeedsOf,
  scopeKept,
  wholeOf,
  writeImage,
} from './row-image.ts';
import type { Emitted, EventsSetting, TimedRow } from './setting.ts';
import type { Subscriber, Subscribers } from './subscribers.ts';

/** What recording needs of a document, compiled once. */
export interface Recording {
  readonly kinds: Kinds;
  readonly mayRead: MayRead;
  /** Inside a change: records what it emits, and for whom. */
  record(work: Work, caller: Caller | undefined, emitted: readonly Emitted[], subscribers: Subscribers): Recorded | undefined;
  /** Inside a change of the clock's: records that a time of a row has come. */
  recordTimed(work: Work, kind: string, row: TimedRow, subscribers: Subscribers): Recorded | undefined;
}

/** What an event is about, and what was asked of it while it was made. */
interface Occasion {
  readonly operation: string;
  readonly change: StoredChange | undefined;
  readonly scope: Readonly<Record<string, Value>>;
}

const none: readonly StoredChange[] = [];
const nothing: Image = { fields: {}, near: {} };
/** How much chance is in a challenge. */
const challengeBytes = 24;
const read = readTemplate(`evt_${sortableTemplate}`);
const usual = 'template' in read ? read.template : (undefined as never as Template);

/** Compiles what a change records of events, and for whom. */
export function compileRecording(engine: EventsSetting, hasGiven: boolean): Recording {
  return new Recorder(engine, hasGiven);
}

/** What is known of the receivers while one change is recorded. */
interface Reaching {
  readonly subscribers: Subscribers;
  /** The subscribers that the change itself has stored. */
  readonly stored: readonly string[];
  /** For whom there is something by now. */
  readonly reached: Set<string>;
  /** Of each subscriber, whether its maker is still known. */
  readonly makers: Map<string, boolean>;
}

class Recorder implements Recording {
  readonly kinds: Kinds;
  readonly mayRead: MayRead;
  readonly #engine: EventsSetting;
  readonly #needs: NeedsOf;
  readonly #altered: Altered;
  readonly #subscriberModel: string | undefined;
  /** Whether a subscriber asks for one event, where that is stated. */
  readonly #isTold: Evaluate | undefined;
  readonly #hasSubscribers: boolean;
  readonly #isOrdered: boolean;
  readonly #log: CompiledLog | undefined;
  readonly #newId: Template['make'];

  constructor(engine: EventsSetting, hasGiven: boolean) {
    const delivery = statedValue(engine.compilation.spec.events.delivery);
    const push = pushOf(engine);
    this.#engine = engine;
    this.#log = compileLog(engine);
    this.#newId = this.#log?.newId ?? usual.make;
    const isHeard = hasGiven || delivery?.push !== undefined || delivery?.pull !== undefined || this.#log !== undefined;
    this.kinds = compileKinds(engine, isHeard);
    this.#needs = compileNeeds(engine);
    this.#altered = compileAltered(engine);
    this.mayRead = compileMayRead(engine, this.#needs);
    this.#subscriberModel = push?.subscribers?.resource;
    this.#isTold = push?.subscribers?.if && engine.compilation.expression(push.subscribers.if);
    this.#hasSubscribers = hasGiven || this.#subscriberModel !== undefined;
    this.#isOrdered = push?.order !== 'any';
  }

  record(work: Work, caller: Caller | undefined, emitted: readonly Emitted[], subscribers: Subscribers): Recorded | undefined {
    if (this.kinds.isEmpty && this.#subscriberModel === undefined) return undefined;
    const subscriberModel = this.#subscriberModel;
    const changed = subscriberModel === undefined ? none : work.stored.filter(({ model }) => model.name === subscriberModel);
    const reaching: Reaching = { subscribers, stored: changed.map(({ id }) => id), reached: new Set(), makers: new Map() };
    const { stored, reached } = reaching;
    for (const change of changed)
      subscribers.keep(work, change, caller, this.#engine, this.kinds, (id) => this.#ask(work, id, reached));
    if (this.kinds.isEmpty) return { reached, subscribers: stored };
    // Rows of the log are stored besides, and emit nothing.
    const until = work.stored.length;
    // The cast holds: nothing that was stored is taken away.
    for (let at = 0; at < until; at++) this.#recordChange(work, work.stored[at] as StoredChange, reaching);
    for (const one of emitted) this.#recordEmitted(work, one, reaching);
    return { reached, subscribers: stored };
  }

  /** Asks the address of a subscriber whether it wants to be told of anything; the handshake by which that is. */
  #ask(work: Work, subscriber: string, reached: Set<string>): string {
    const id = this.#newId(work.draw);
    const challenge = Buffer.from(work.draw.bytes(challengeBytes)).toString('base64url');
    const event = work.rows.outbox.addEvent(newHandshake(id, work.nowMs, challenge));
    work.rows.outbox.addDelivery({ event, subscriber, lane: null, dueMs: work.nowMs });
    reached.add(subscriber);
    return id;
  }

  recordTimed(work: Work, name: string, { model, id, fields }: TimedRow, subscribers: Subscribers): Recorded | undefined {
    const kind = this.kinds.named(name);
    if (!kind) return undefined;
    const reaching: Reaching = { subscribers, stored: [], reached: new Set(), makers: new Map() };
    const event = { ...kind.told, at: new Date(work.nowMs).toISOString() };
    const change: StoredChange = {
      operation: String(work.scope.operation),
      transitions: [],
      model,
      id,
      before: fields,
      after: fields,
    };
    this.#recordOne(work, kind, change, event, { ...work.scope, resource: fields }, reaching);
    return { reached: reaching.reached, subscribers: [] };
  }

  #recordChange(work: Work, stored: StoredChange, reaching: Reaching): void {
    const kinds = this.kinds.emittedBy(stored);
    if (kinds.length === 0) return;
    const change = asCommitted(work, stored);
    for (const kind of kinds) {
      const told: Fields = { ...kind.told, at: new Date(work.nowMs).toISOString() };
      if (kind.readsBefore) told.before = this.#altered(change);
      if (!kind.items) this.#recordOne(work, kind, change, told, scopeOf(work, change), reaching);
      else {
        const scope = scopeOf(work, change);
        for (const item of kind.items(change.operation, { ...scope, event: told }))
          this.#recordOne(work, kind, change, told, { ...scope, item }, reaching);
      }
    }
  }

  /** `scope` is this event's alone. */
  #recordOne(
    work: Work,
    kind: RecordedKind,
    change: StoredChange,
    told: Fields,
    scope: Record<string, Value>,
    reaching: Reaching,
  ): void {
    const id = this.#newId(work.draw);
    scope.event = { id, ...told };
    if (!kind.holds(change.operation, scope)) return;
    const occasion: Occasion = { operation: change.operation, change, scope };
    const whole = wholeOf(change);
    const image = imageOf(work, change, whole, this.#needs);
    this.#add(work, kind, id, kind.make(change, scope, whole), image, occasion, reaching);
  }

  /** What a handler emits. */
  #recordEmitted(work: Work, { kind: name, data }: Emitted, reaching: Reaching): void {
    const kind = this.kinds.named(name);
    if (!kind) return;
    const event = { id: this.#newId(work.draw), ...kind.told, at: new Date(work.nowMs).toISOString() };
    const operation = String(work.scope.operation);
    const change = rowOf(work, this.#engine, kind, data, operation);
    const occasion: Occasion = { operation, change, scope: { ...work.scope, event } };
    this.#add(
      work,
      kind,
      event.id,
      kind.seen(data),
      change && imageOf(work, change, wholeOf(change), this.#needs),
      occasion,
      reaching,
    );
  }

  #add(
    work: Work,
    kind: RecordedKind,
    id: string,
    value: Value,
    image: Image | undefined,
    occasion: Occasion,
    reaching: Reaching,
  ): void {
    const payload = toJson(value);
    const { change, operation, scope } = occasion;
    const recorded: NewEvent = {
      id,
      kind: kind.name,
      atMs: work.nowMs,
      operation,
      payload,
      resource: change?.model.name ?? null,
      row: change?.id ?? null,
      image: kind.to
        ? writeImage({ ...(image ?? nothing), scope: scopeKept(work.scope, change, kind.asked) }, value)
        : image
          ? writeImage(image, value)
          : null,
      ...(work.trace !== undefined && { trace: work.trace }),
    };
    const seq = work.rows.outbox.addEvent(recorded);
    // Whoever makes an event's scope gives it its members.
    const told = scope.event as Fields;
    this.#log?.add(work, { kind, event: { ...told, id }, payload: value, change, caller: work.scope.caller });
    if (!this.#hasSubscribers) return;
    const full = { ...scope, event: { ...told, payload: value } };
    this.#reach(work, seq, recorded, kind, image, { ...occasion, scope: full }, reaching);
  }

  /** Adds a delivery for each subscriber that receives an event. */
  #reach(
    work: Work,
    event: number,
    recorded: NewEvent,
    kind: RecordedKind,
    image: Image | undefined,
    occasion: Occasion,
    { subscribers, stored, reached, makers }: Reaching,
  ): void {
    for (const subscriber of subscribers.all(work.rows, this.#engine, stored)) {
      const { id, maker } = subscriber;
      if (!subscriber.isEnabled || subscriber.asked !== undefined || !subscriber.wants(kind)) continue;
      const isKnown = makers.get(id) ?? isStillKnown(this.#engine, maker, work.rows, work.nowMs);
      makers.set(id, isKnown);
      if (!isKnown || !this.#receives(work, kind, recorded, image, occasion, subscriber)) continue;
      const { resource, row } = recorded;
      const isOrdered = this.#isOrdered || subscriber.isBroker === true;
      const lane = isOrdered && resource !== null ? `${id}\n${resource}\n${row}` : null;
      work.rows.outbox.addDelivery({ event, subscriber: id, lane, dueMs: work.nowMs });
      reached.add(id);
    }
  }

  /** Who receives is decided here, for webhooks: by `to`, or by whether the maker may read the row. */
  #receives(
    work: Work,
    kind: RecordedKind,
    { resource }: NewEvent,
    image: Image | undefined,
    { operation, scope }: Occasion,
    { fields, maker }: Subscriber,
  ): boolean {
    if (fields === undefined) return true;
    if (this.#isTold && this.#isTold({ subscriber: fields, event: scope.event }) !== true) return false;
    if (kind.to) {
      const value = kind.to(operation)({ ...scope, subscriber: fields, caller: maker });
      return !isFailed(value) && value === true;
    }
    return resource !== null && image !== undefined && this.mayRead(maker, resource, image, work.rows, work.nowMs);
  }
}

/** What an event of a change may read, but for the event itself. */
function scopeOf(work: Work, { operation, before, after }: StoredChange): Record<string, Value> {
  return { ...work.scope, operation, resource: before, next: after };
}

/**
 * A change as it is told: what is derived of other rows is what is committed with it. Rows that are made with this one, or follow from it, came
 * after it was stored.
 */
function asCommitted(work: Work, change: StoredChange): StoredChange {
  const { model, id, after } = change;
  if (!after || !model.derived.isOfOthers || !work.rows.get(model.name, id)) return change;
  return { ...change, after: withDerived(work.rows, model, id, after, false) };
}

/** The row that an event of a handler is about: its payload is a resource, and names one that is stored. */
function rowOf(work: Work, engine: EventsSetting, kind: RecordedKind, data: Json, operation: string): StoredChange | undefined {
  const name = kind.payload.resource;
  const model = typeof name === 'string' ? engine.models.get(name) : undefined;
  if (!model || typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const id = (data as Readonly<Record<string, Json>>)[model.identifier.field];
  const row = id === undefined || id === null ? undefined : work.rows.get(model.name, String(id));
  return row && { operation, transitions: [], model, id: row.id, before: undefined, after: model.parse(row) };
}
