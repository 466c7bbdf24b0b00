import type { PullKind } from '../../kinds/deliveries/kind.ts';
import type { StreamKind } from '../../kinds/streams/kind.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import { type Caller, type Exchange, refusalReply } from '../exchange/exchange.ts';
import type { Reply, ReplyReader, ReplySink, ReplyStream } from '../http/call.ts';
import { Alarm } from './alarm.ts';
import { type Listeners, type StreamRules, type ToldTo, tellTo } from './listeners.ts';
import type { EventsSetting } from './setting.ts';

/** How much may wait for one reader; one that is slower is let go, and can resume. */
const waitingBytesMax = 256 * 1024;
const pageMost = 128;
const storeRestMs = 1000; // After it could not be asked.

/** Server-sent events (WHATWG HTML section 9.2): each event that its caller may hear of, from now on or from where it left. */
export class Streams {
  readonly #engine: () => EventsSetting;
  readonly #rules: () => StreamRules;
  readonly #groups = new Map<string, Group>();
  #count = 0;
  /** How many of them have caught up: only they are told of what is recorded. */
  live = 0;
  /** The last event that was told to those who listen. */
  #position = 0;
  #telling: Promise<void> | undefined;
  #again = false;
  #isStopped = false;
  readonly #heartbeat = new Alarm(
    () => this.#engine().clock,
    // However far the clock jumps, one comment tells that somebody is there.
    () => setImmediate(() => this.#beat()),
  );

  constructor(engine: () => EventsSetting, rules: () => StreamRules) {
    this.#engine = engine;
    this.#rules = rules;
  }

  /** The answer to `stream events`. From where it tells is known before its head goes out. */
  readonly open = (exchange: Exchange): PromiseOrValue<Reply> => {
    const { caller, call, view } = exchange;
    const { kind, way } = this.#rules();
    const from = this.#engine().limits.addressOf(call);
    if (this.#count >= streamsMost)
      return refusalReply(exchange, { when: 'service.unavailable', headers: { 'retry-after': '60' } });
    if (this.#openOf(caller, from) >= (caller ? streamsMostOfOne : streamsMostOfAddress))
      return refusalReply(exchange, { when: 'limit.rate', headers: { 'retry-after': '60' } });
    const last = call.headers[kind.resumeHeader.toLowerCase()];
    const lastId = typeof last === 'string' && last !== '' ? last : undefined;
    return after(
      this.#engine().store.read(({ outbox }) =>
        lastId === undefined ? outbox.lastEvent() : (outbox.eventNamed(lastId)?.seq ?? 0),
      ),
      (position) => streamReply(kind, way, (sink) => this.#start(sink, caller, view.version ?? '', position, from)),
    );
  };

  /** The last event that all who listen were told of. */
  get toldThrough(): number {
    return this.live === 0 ? Number.MAX_SAFE_INTEGER : this.#position;
  }

  /** There may be something to tell. */
  recorded(): void {
    if (this.live === 0 || this.#isStopped) return;
    this.#again = true;
    this.#telling ??= this.#tell()
      .catch((failure: unknown) => this.#restAfter(failure))
      .finally(() => {
        this.#telling = undefined;
        if (this.#again) this.recorded();
      });
  }

  async settled(): Promise<void> {
    while (this.#telling) await this.#telling;
  }

  stop(): void {
    this.#isStopped = true;
    this.#heartbeat.stop();
    for (const { connections } of this.#groups.values()) for (const connection of [...connections]) connection.sink.end();
    this.#groups.clear();
    [this.#count, this.live] = [0, 0];
  }

  #start(sink: ReplySink, caller: Caller | undefined, version: string, position: number, from: string): ReplyReader {
    if (this.#isStopped) {
      sink.end();
      return { drained: () => {}, gone: () => {} };
    }
    const group = this.#groupOf(caller, version);
    const connection: Connection = { group, sink, position, from, isLive: false, resume: undefined };
    group.connections.add(connection);
    this.#count += 1;
    if (this.#count === 1) this.#heartbeat.set(this.#engine().clock.now() + this.#rules().way.beatMs);
    this.#join(connection);
    return {
      drained() {
        const { resume } = connection;
        connection.resume = undefined;
        resume?.();
      },
      gone: () => this.#leave(connection),
    };
  }

  /** How many a caller has open; of those that nobody knows, how many come from there. */
  #openOf(caller: Caller | undefined, from: string): number {
    let count = 0;
    for (const { caller: other, connections } of this.#groups.values()) {
      if (caller && other?.id === caller.id && other.user === caller.user) count += connections.size;
      if (!caller && !other) for (const one of connections) if (one.from === from) count += 1;
    }
    return count;
  }

  #groupOf(caller: Caller | undefined, version: string): Group {
    const key = JSON.stringify([caller, version]);
    let group = this.#groups.get(key);
    if (!group) {
      group = { key, caller, version, connections: new Set() };
      this.#groups.set(key, group);
    }
    return group;
  }

  #leave(connection: Connection): void {
    const { group } = connection;
    if (!group.connections.delete(connection)) return;
    this.#count -= 1;
    if (group.connections.size === 0) this.#groups.delete(group.key);
    if (connection.isLive) this.live -= 1;
    connection.isLive = false;
    const { resume } = connection;
    connection.resume = undefined;
    resume?.();
    if (this.#count === 0) this.#heartbeat.stop();
  }

  #join(connection: Connection): void {
    void this.#catchUp(connection).catch((failure: unknown) => {
      this.#engine().onFailure(failure, 'stream');
      connection.sink.cut();
    });
  }

  /** What was recorded is told once it can be read again. */
  async #restAfter(failure: unknown): Promise<void> {
    this.#engine().onFailure(failure, 'stream');
    this.#again = true;
    await new Promise((resolve) => setTimeout(resolve, storeRestMs).unref());
  }

  /** Lets a connection hear what it has missed, as fast as it takes it, and then what comes. */
  async #catchUp(connection: Connection): Promise<void> {
    const { group, sink } = connection;
    const isHere = () => group.connections.has(connection) && !this.#isStopped;
    while (isHere()) {
      const oldestMs = this.#engine().clock.now() - this.#rules().keptMs;
      const { told, last, isWhole } = await this.#read(connection.position, oldestMs, [group]);
      if (!isHere()) return;
      for (const { pieces } of told) for (const piece of pieces.values()) sink.write(piece);
      connection.position = last;
      if (!isWhole && (this.live === 0 || connection.position >= this.#position)) {
        this.#goLive(connection);
        return;
      }
      if (sink.isFull()) await new Promise<void>((resolve) => (connection.resume = resolve));
    }
  }

  /** Some of the events after one, as groups of readers are told of them. */
  async #read(from: number, oldestMs: number, groups: readonly Group[]): Promise<Page> {
    const page = await this.#engine().store.read((rows) => {
      const events = rows.outbox.events(from, pageMost);
      const told = events.filter(({ atMs }) => atMs >= oldestMs).map((event) => tellTo(groups, event, rows, this.#rules()));
      return { told, last: events.at(-1)?.seq ?? from, isWhole: events.length === pageMost };
    });
    for (const { id, wrong } of page.told) for (const words of wrong) this.#engine().onFailure(new Error(words), `event ${id}`);
    return page;
  }

  #goLive(connection: Connection): void {
    if (!connection.group.connections.has(connection)) return;
    if (this.live++ === 0) this.#position = connection.position;
    connection.isLive = true;
    // Something may have been recorded since it last looked.
    this.recorded();
  }

  /** Tells what was recorded since to those who listen. */
  async #tell(): Promise<void> {
    while (this.#again && !this.#isStopped) {
      this.#again = false;
      await new Promise<void>((resolve) => setImmediate(resolve));
      const from = this.#position;
      const groups = [...this.#groups.values()];
      const { told, last, isWhole } = await this.#read(from, Number.NEGATIVE_INFINITY, groups);
      if (this.#isStopped) return;
      // Everybody who listened has gone meanwhile, and others came who stand elsewhere.
      const isElsewhere = this.#position !== from;
      if (isWhole || isElsewhere) this.#again = true;
      if (isElsewhere) continue;
      for (const one of told) this.#tellAll(one);
      this.#position = last;
      this.#takeBack(last, new Set(groups));
    }
  }

  #tellAll({ seq, pieces }: ToldTo<Group>): void {
    for (const [group, piece] of pieces) {
      for (const connection of group.connections) {
        if (!connection.isLive || connection.position >= seq) continue;
        connection.position = seq;
        if (connection.sink.write(piece) > waitingBytesMax) connection.sink.cut();
      }
    }
  }

  /** Those who began to listen while it was read what the others are told catch up by themselves. */
  #takeBack(last: number, told: ReadonlySet<Group>): void {
    for (const group of this.#groups.values()) {
      if (told.has(group)) continue;
      for (const connection of group.connections) {
        if (!connection.isLive || connection.position >= last) continue;
        connection.isLive = false;
        this.live -= 1;
        this.#join(connection);
      }
    }
  }

  /** A comment now and then shows that the connection is there; those who are nobody any more are let go. */
  #beat(): void {
    if (this.#count === 0 || this.#isStopped) return;
    const { clock } = this.#engine();
    for (const group of this.#groups.values())
      void this.#beatFor(group).catch((failure: unknown) => this.#engine().onFailure(failure, 'stream'));
    this.#heartbeat.set(clock.now() + this.#rules().way.beatMs);
  }

  /** Where it cannot be found out whether somebody is still good, it is not. */
  async #beatFor({ caller, connections }: Group): Promise<void> {
    const { comment } = this.#rules();
    let isGood = false;
    try {
      isGood = caller === undefined || (!isExpired(caller, this.#engine().clock.now()) && (await this.#rules().isGood(caller)));
    } finally {
      for (const { sink } of [...connections]) {
        if (!isGood) sink.end();
        else if (!sink.isFull()) sink.write(comment);
      }
    }
  }
}

/** How many streams one caller may have open. */
const streamsMostOfOne = 32;
const streamsMostOfAddress = 128; // By callers that nobody knows.
const streamsMost = 8192; // Over all.

/** Some of what was recorded. */
interface Page {
  readonly told: readonly ToldTo<Group>[];
  /** The last event that was looked at. */
  readonly last: number;
  /** Whether there may be more. */
  readonly isWhole: boolean;
}

/** One open stream. */
interface Connection {
  readonly group: Group;
  readonly sink: ReplySink;
  /** The address that it is counted under. */
  readonly from: string;
  /** The last event that was looked at for it. */
  position: number;
  isLive: boolean;
  /** Goes on with what it has missed, once there is room. */
  resume: (() => void) | undefined;
}

/** Callers that are the same caller in the same version hear the same. */
interface Group extends Listeners {
  readonly key: string;
  readonly connections: Set<Connection>;
}

/** A token says when it ends; a stream that it opened ends with it. */
function isExpired({ claims }: Caller, nowMs: number): boolean {
  const exp = claims?.exp;
  return typeof exp === 'number' && exp * 1000 <= nowMs;
}

function streamReply({ mediaType }: StreamKind, way: PullKind, start: ReplyStream['start']): Reply {
  const headers = { 'content-type': mediaType, ...way.headers };
  return { status: 200, headers, body: undefined, stream: { start } };
}
