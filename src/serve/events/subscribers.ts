import type { Push } from '../../parts/events.ts';
import { statedValue } from '../../parts/fact.ts';
import { along } from '../../parts/reach.ts';
import type { Reader, Transaction } from '../../store/store.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import { type Caller, type Fields, Refused, type Value } from '../exchange/exchange.ts';
import type { StoredChange, Work } from '../resources/act.ts';
import type { WebhookTargets } from './addresses.ts';
import { type Kinds, pushOf, type RecordedKind } from './event-kinds.ts';
import { brokerSubscriber } from './publishing.ts';
import type { EventsSetting } from './setting.ts';
import { demandKnown, demandTarget } from './subscriber-demands.ts';

/** Who is sent webhooks: a row of the subscribers' resource, or an address given at the start. */
export interface Subscriber {
  readonly id: string;
  readonly url: string;
  /** The newest first; an older one until the time that it is still good. */
  secrets(nowMs: number): readonly string[];
  readonly isEnabled: boolean;
  /** The handshake by which its address is asked, and which it has not answered yet; nothing where it may be told of things. */
  readonly asked?: string | undefined;
  wants(kind: RecordedKind): boolean;
  /** Who made it; nobody knows of a row that no caller made. */
  readonly maker: Caller | undefined;
  /** The version that it was made under; empty for the newest. */
  readonly version: string;
  /** Since when nothing but failures came of its deliveries. */
  readonly failingMs: number | undefined;
  /** The row, for expressions; nothing of one given at the start, which receives everything. */
  readonly fields: Fields | undefined;
  /** Whether it is the broker that the document states. */
  readonly isBroker?: boolean;
}

/** A receiver of everything, for development. */
export interface GivenWebhook {
  readonly url: string;
  readonly secret: string;
}

/** What is remembered of a subscriber beside its row. */
interface State {
  readonly maker?: Caller;
  readonly version?: string;
  readonly previous?: readonly { readonly secret: string; readonly untilMs: number }[];
  readonly failingMs?: number;
  /** The handshake that its address has not answered; empty where it is not asked, for it is not enabled. */
  readonly asked?: string;
  /** Set where the row has no field that says so. */
  readonly disabled?: boolean;
}

/** How many subscribers one caller may have; those that nobody knows are one. */
const subscribersMostOfOne = 256;

/** How long a secret is good beside the one that took its place. */
const rotationMs = 86_400_000;

/**
 * The subscribers of a service, kept in memory as they were committed. Bodies of the store only look: what one of them changes is
 * told by `changed` once it is committed, and read by `load` outside of them.
 */
export class Subscribers {
  readonly #given: readonly Subscriber[];
  readonly #broker: Subscriber | undefined;
  readonly #targets: WebhookTargets;
  #rows: Map<string, Subscriber> | undefined;
  /** Those that have changed since they were read. */
  readonly #stale = new Set<string>();
  #changes = 0;

  constructor(given: readonly GivenWebhook[], targets: WebhookTargets, broker: string | undefined) {
    this.#broker = broker === undefined ? undefined : { ...givenOne(brokerSubscriber, broker, []), isBroker: true };
    this.#targets = targets;
    this.#given = given.map(({ url, secret }) => givenOne(`given ${url}`, url, [secret]));
  }

  /** All of them as a body sees them, with those that it has stored itself. */
  all(rows: Reader, engine: EventsSetting, stored: readonly string[]): Iterable<Subscriber> {
    const isPublished = this.#broker && statedValue(engine.compilation.spec.events.delivery)?.broker !== undefined;
    const given = isPublished ? [...this.#given, this.#broker] : this.#given;
    return [...given, ...this.#seen(rows, engine, stored).values()];
  }

  find(id: string, rows: Reader, engine: EventsSetting): Subscriber | undefined {
    const given = id === brokerSubscriber ? this.#broker : this.#given.find((one) => one.id === id);
    if (given) return given;
    return this.#rows && !this.#stale.has(id) ? this.#rows.get(id) : readOne(rows, engine, id);
  }

  /** These were changed, and that is committed. */
  changed(ids: Iterable<string>): void {
    for (const id of ids) this.#stale.add(id);
    this.#changes += 1;
  }

  /** All of them may be others: so is the document. */
  forget(): void {
    this.#rows = undefined;
    this.#changes += 1;
  }

  get isLoaded(): boolean {
    return this.#rows !== undefined && this.#stale.size === 0;
  }

  /** Reads what is not known of them. What changes while it is read is left to the next time. */
  load(engine: EventsSetting): PromiseOrValue<void> {
    const changes = this.#changes;
    const [before, stale] = [this.#rows, [...this.#stale]];
    return after(
      engine.store.read((rows) => (before ? overlaid(before, rows, engine, stale) : readAll(rows, engine))),
      (read) => {
        if (changes !== this.#changes) return;
        this.#rows = read;
        this.#stale.clear();
      },
    );
  }

  #seen(rows: Reader, engine: EventsSetting, stored: readonly string[]): ReadonlyMap<string, Subscriber> {
    if (!this.#rows) return readAll(rows, engine);
    if (this.#stale.size === 0 && stored.length === 0) return this.#rows;
    return overlaid(this.#rows, rows, engine, [...this.#stale, ...stored]);
  }

  /**
   * Inside a change that stored a subscriber: keeps who made it and its last secret.
   * @throws {Refused} `request.invalid` for a kind that there is not.
   */
  keep(
    work: Work,
    change: StoredChange,
    caller: Caller | undefined,
    engine: EventsSetting,
    kinds: Kinds,
    ask: (id: string) => string,
  ): void {
    const { id, before, after } = change;
    const fields = pushOf(engine)?.subscribers;
    if (!fields) return;
    if (!after) {
      work.rows.outbox.forgetSubscriber(id);
      return;
    }
    if (fields.events !== undefined) demandKnown(after, before, fields.events, kinds);
    if (fields.url !== undefined) demandTarget(after, before, fields.url, this.#targets);
    if (!before) this.#demandRoom(work, engine, caller);
    const { version } = work.scope;
    const isAsked = pushOf(engine)?.confirm !== undefined && fields.url !== undefined;
    const isElsewhere = isAsked && along(before, fields.url ?? '') !== along(after, fields.url ?? '');
    const asking = () => (isOn(after, fields, engine) ? ask(id) : '');
    if (!before) {
      const made: State = {
        ...(caller && { maker: caller }),
        ...(typeof version === 'string' && version !== '' && { version }),
        ...(isElsewhere && { asked: asking() }),
      };
      work.rows.outbox.keepSubscriber(id, JSON.stringify(made));
      return;
    }
    const isAgain = !isOn(before, fields, engine) && isOn(after, fields, engine);
    const old = fields.secret === undefined ? undefined : along<Value>(before, fields.secret);
    const isRotated = typeof old === 'string' && along<Value>(after, fields.secret as string) !== old;
    const known = stateOf(work.rows, id);
    const isToAsk = isElsewhere || (isAsked && isAgain && known.asked !== undefined);
    const state: State = isToAsk ? { ...known, asked: asking() } : known;
    if (!isAgain && !isRotated) {
      // Other processes that have the store hear of a subscriber by what is kept of it beside its row.
      work.rows.outbox.keepSubscriber(id, JSON.stringify(state));
      return;
    }
    const previous = isRotated
      ? [{ secret: old, untilMs: work.nowMs + rotationMs }, ...stillGood(state, work.nowMs)]
      : state.previous;
    const { failingMs, disabled, ...rest } = state;
    const kept = isAgain ? {} : { ...(failingMs !== undefined && { failingMs }), ...(disabled !== undefined && { disabled }) };
    const next: State = { ...rest, ...kept, ...(previous && { previous }) };
    work.rows.outbox.keepSubscriber(id, JSON.stringify(next));
  }

  /** @throws {Refused} `limit.quota` where a caller has as many subscribers as one may have. */
  #demandRoom(work: Work, engine: EventsSetting, caller: Caller | undefined): void {
    let own = 0;
    for (const { maker, fields } of this.#seen(work.rows, engine, []).values())
      if (fields && maker?.id === caller?.id && maker?.user === caller?.user) own += 1;
    if (own >= subscribersMostOfOne) throw new Refused({ when: 'limit.quota', message: `${own} subscribers are yours already.` });
  }

  /** Remembers since when nothing but failures came of what was sent; nothing = the last was taken. */
  failing(rows: Transaction, id: string, failingMs: number | undefined): void {
    const { failingMs: _before, ...rest } = stateOf(rows, id);
    rows.outbox.keepSubscriber(id, JSON.stringify({ ...rest, ...(failingMs !== undefined && { failingMs }) }));
  }

  /** Its address has answered this handshake; false where it is not the one by which it is asked. */
  confirm(rows: Transaction, id: string, handshake: string): boolean {
    const { asked, ...rest } = stateOf(rows, id);
    if (asked !== handshake) return false;
    rows.outbox.keepSubscriber(id, JSON.stringify(rest));
    return true;
  }

  /** For subscribers whose rows have no field that says so. */
  disable(rows: Transaction, id: string): void {
    rows.outbox.keepSubscriber(id, JSON.stringify({ ...stateOf(rows, id), disabled: true }));
  }
}

/** One that was given at the start, and receives everything. */
function givenOne(id: string, url: string, secrets: readonly string[]): Subscriber {
  return {
    id,
    url,
    isEnabled: true,
    maker: undefined,
    version: '',
    failingMs: undefined,
    fields: undefined,
    secrets: () => secrets,
    wants: () => true,
  };
}

type Names = NonNullable<Push['subscribers']>;

/** Whether a row says of itself that it is told of things. */
function isOn(row: Fields, { enabled, isEnabled }: Names, { compilation }: EventsSetting): boolean {
  if (isEnabled) return compilation.expression(isEnabled)({ subscriber: row }) === true;
  return enabled === undefined || along<Value>(row, enabled) !== false;
}

function stateOf(rows: Reader, id: string): State {
  const text = rows.outbox.subscriber(id);
  // What is kept there was written here.
  return text === undefined ? {} : (JSON.parse(text) as State);
}

function stillGood({ previous = [] }: State, nowMs: number) {
  return previous.filter(({ untilMs }) => untilMs > nowMs);
}

function readAll(rows: Reader, engine: EventsSetting): Map<string, Subscriber> {
  const found = new Map<string, Subscriber>();
  const fields = pushOf(engine)?.subscribers;
  const model = fields && engine.models.get(fields.resource);
  if (!fields || !model) return found;
  for (let after = 0; ; ) {
    const page = rows.scan(model.name, after, 500);
    for (const row of page) {
      found.set(row.id, subscriberOf(row.id, model.parse(row), stateOf(rows, row.id), fields, engine));
      after = row.seq;
    }
    if (page.length < 500) return found;
  }
}

/** What was known, but for some of them, which are read. */
function overlaid(
  known: ReadonlyMap<string, Subscriber>,
  rows: Reader,
  engine: EventsSetting,
  ids: readonly string[],
): Map<string, Subscriber> {
  const found = new Map(known);
  for (const id of ids) {
    const one = readOne(rows, engine, id);
    if (one) found.set(id, one);
    else found.delete(id);
  }
  return found;
}

function readOne(rows: Reader, engine: EventsSetting, id: string): Subscriber | undefined {
  const fields = pushOf(engine)?.subscribers;
  const model = fields && engine.models.get(fields.resource);
  const row = model && rows.get(model.name, id);
  return fields && model && row && subscriberOf(id, model.parse(row), stateOf(rows, id), fields, engine);
}

function subscriberOf(id: string, row: Fields, state: State, names: Names, engine: EventsSetting): Subscriber {
  const word = (name: string | undefined): Value => (name === undefined ? undefined : along(row, name));
  const [url, secret, events] = [word(names.url), word(names.secret), word(names.events)];
  const list = Array.isArray(events) ? events.map(String) : undefined;
  return {
    id,
    url: typeof url === 'string' ? url : '',
    secrets: (nowMs) => [...(typeof secret === 'string' ? [secret] : []), ...stillGood(state, nowMs).map((old) => old.secret)],
    isEnabled: isOn(row, names, engine) && state.disabled !== true,
    ...(state.asked !== undefined && pushOf(engine)?.confirm && { asked: state.asked }),
    wants: (kind) => list === undefined || list.some((entry) => kind.isMeantBy(entry)),
    maker: state.maker,
    version: state.version ?? '',
    failingMs: state.failingMs,
    fields: row,
  };
}
