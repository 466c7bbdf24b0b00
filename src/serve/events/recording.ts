import type { Json } from '../../document/document.ts';
import { readTemplate, sortableTemplate, type Template } from '../../kinds/generators/template.ts';
import { statedValue } from '../../parts/fact.ts';
import type { NewEvent } from '../../store/outbox.ts';
import { isFailed } from '../exchange/compilation.ts';
import type { Caller, Recorded, Value } from '../exchange/exchange.ts';
import { toJson } from '../http/json.ts';
import type { StoredChange, Work } from '../resources/act.ts';
import {
  compileChains,
  compileKinds,
  compileMayRead,
  type Image,
  imageOf,
  isStillKnown,
  type Kinds,
  type MayRead,
  type RecordedKind,
  scopeKept,
  webhookOf,
  writeImage,
} from './row-image.ts';
import type { Emitted, EventsSetting } from './setting.ts';
import type { Subscriber, Subscribers } from './subscribers.ts';

/** What recording needs of a document, compiled once. */
export interface Recording {
  readonly kinds: Kinds;
  readonly mayRead: MayRead;
  /** Inside a change: records what it emits, and for whom. */
  record(work: Work, caller: Caller | undefined, emitted: readonly Emitted[], subscribers: Subscribers): Recorded | undefined;
}

/** What an event is about, and what was asked of it while it was made. */
interface Occasion {
  readonly operation: string;
  readonly change: StoredChange | undefined;
  readonly scope: Readonly<Record<string, Value>>;
}

const nothing: Image = { fields: {}, near: {} };
const nobody: ReadonlySet<string> = new Set();
const read = readTemplate(`evt_${sortableTemplate}`);
const identifier = 'template' in read ? read.template : (undefined as never as Template);

export function compileRecording(engine: EventsSetting, hasGiven: boolean): Recording {
  const delivery = statedValue(engine.compilation.spec.events.delivery);
  const kinds = compileKinds(engine, hasGiven || delivery?.webhook !== undefined || delivery?.stream !== undefined);
  const mayRead = compileMayRead(engine);
  const chains = compileChains(engine);
  const webhook = webhookOf(engine);
  const subscriberModel = webhook?.subscribers?.resource;
  const hasSubscribers = hasGiven || subscriberModel !== undefined;

  function record(
    work: Work,
    caller: Caller | undefined,
    emitted: readonly Emitted[],
    subscribers: Subscribers,
  ): Recorded | undefined {
    if (kinds.isEmpty && subscriberModel === undefined) return undefined;
    const changed = work.stored.filter(({ model }) => model.name === subscriberModel);
    for (const change of changed) subscribers.keep(work, change, caller, engine, kinds);
    const stored = changed.map(({ id }) => id);
    if (kinds.isEmpty) return { reached: nobody, subscribers: stored };
    const reached = new Set<string>();
    const makers = new Map<string, boolean>();
    const isKnown = ({ id, maker }: Subscriber) => {
      const held = makers.get(id) ?? isStillKnown(engine, maker, work.rows, work.nowMs);
      makers.set(id, held);
      return held;
    };
    const reach = (event: number, recorded: NewEvent, kind: RecordedKind, image: Image | undefined, occasion: Occasion) => {
      if (!hasSubscribers) return;
      for (const subscriber of subscribers.all(work.rows, engine, stored)) {
        if (!subscriber.isEnabled || !subscriber.wants(kind.name)) continue;
        if (!isKnown(subscriber) || !receives(work, kind, recorded, image, occasion, subscriber)) continue;
        const { resource, row } = recorded;
        const isOrdered = webhook?.order !== 'any' && resource !== null;
        const lane = isOrdered ? `${subscriber.id}\n${resource}\n${row}` : null;
        work.rows.outbox.addDelivery({ event, subscriber: subscriber.id, lane, dueMs: work.nowMs });
        reached.add(subscriber.id);
      }
    };
    for (const change of work.stored) {
      for (const kind of kinds.emittedBy(change)) {
        const event = { id: identifier.make(work.draw), kind: kind.name, at: new Date(work.nowMs).toISOString() };
        const scope = { ...work.scope, operation: change.operation, resource: change.before, next: change.after, event };
        if (!kind.holds(change.operation, scope)) continue;
        const occasion: Occasion = { operation: change.operation, change, scope };
        add(work, kind, event.id, kind.make(change, scope), imageOf(work, change, chains), occasion, reach);
      }
    }
    for (const { kind: name, data } of emitted) {
      const kind = kinds.named(name);
      if (!kind) continue;
      const event = { id: identifier.make(work.draw), kind: name, at: new Date(work.nowMs).toISOString() };
      const operation = String(work.scope.operation);
      const change = rowOf(work, engine, kind, data, operation);
      const occasion: Occasion = { operation, change, scope: { ...work.scope, event } };
      add(work, kind, event.id, data, change && imageOf(work, change, chains), occasion, reach);
    }
    return { reached, subscribers: stored };
  }

  function add(
    work: Work,
    kind: RecordedKind,
    id: string,
    value: Value,
    image: Image | undefined,
    occasion: Occasion,
    reach: (event: number, recorded: NewEvent, kind: RecordedKind, image: Image | undefined, occasion: Occasion) => void,
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
        ? writeImage({ ...(image ?? nothing), scope: scopeKept(work.scope, change) }, payload)
        : image
          ? writeImage(image, payload)
          : null,
    };
    const full = { ...scope, event: { ...(scope.event as object), payload: value } };
    reach(work.rows.outbox.addEvent(recorded), recorded, kind, image, { ...occasion, scope: full });
  }

  /** Who receives is decided here, for webhooks: by `to`, or by whether the maker may read the row. */
  function receives(
    work: Work,
    kind: RecordedKind,
    { resource }: NewEvent,
    image: Image | undefined,
    { operation, scope }: Occasion,
    { fields, maker }: Subscriber,
  ): boolean {
    if (fields === undefined) return true;
    if (kind.to) {
      const value = kind.to(operation)({ ...scope, subscriber: fields, caller: maker });
      return !isFailed(value) && value === true;
    }
    return resource !== null && image !== undefined && mayRead(maker, resource, image, work.rows, work.nowMs);
  }

  return { kinds, mayRead, record };
}

/** The row that an event of a handler is about: its payload is a resource, and names one that is stored. */
function rowOf(work: Work, engine: EventsSetting, kind: RecordedKind, data: Json, operation: string): StoredChange | undefined {
  const name = kind.payload.resource;
  const model = typeof name === 'string' ? engine.models.get(name) : undefined;
  if (!model || typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const id = (data as Readonly<Record<string, Json>>)[model.identifier.field];
  const row = id === undefined || id === null ? undefined : work.rows.get(model.name, String(id));
  return row && { operation, model, id: row.id, before: undefined, after: model.parse(row) };
}
