import type { Reply, ReplyReader, ReplySink } from '../call.ts';
import type { Caller, Exchange } from '../exchange.ts';
import { Alarm } from './alarm.ts';
import { type Connection, type Group, isExpired, keptMs, streamReply } from './connection.ts';
import type { EventsSetting } from './setting.ts';
import { type StreamRules, Told } from './told.ts';

/** How much may wait for one reader; one that is slower is let go, and can resume. */
const waitingBytesMax = 256 * 1024;
const heartbeatMs = 15_000;
const pageMost = 128;

/** Server-sent events (WHATWG HTML section 9.2): each event that its caller may hear of, from now on or from where it left. */
export class Streams {
  readonly #engine: () => EventsSetting;
  readonly #rules: () => StreamRules;
  readonly #groups = new Map<string, Group>();
  #count = 0;
  /** How many of them have caught up. */
  #live = 0;
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

  /** The answer to `stream events`. */
  readonly open = ({ caller, call, view }: Exchange): Reply => {
    const { kind } = this.#rules();
    const last = call.headers[kind.resumeHeader];
    const lastId = typeof last === 'string' && last !== '' ? last : undefined;
    return streamReply(kind, (sink) => this.#start(sink, caller, view.version ?? '', lastId));
  };

  /** The last event that all who listen were told of. */
  get toldThrough(): number {
    return this.#live === 0 ? Number.MAX_SAFE_INTEGER : this.#position;
  }

  /** There may be something to tell. */
  recorded(): void {
    if (this.#live === 0 || this.#isStopped) return;
    this.#again = true;
    this.#telling ??= this.#tell()
      .catch((failure: unknown) => this.#engine().onFailure(failure, 'stream'))
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
    this.#count = 0;
    this.#live = 0;
  }

  #start(sink: ReplySink, caller: Caller | undefined, version: string, lastId: string | undefined): ReplyReader {
    if (this.#isStopped) {
      sink.end();
      return { drained: () => {}, gone: () => {} };
    }
    const group = this.#groupOf(caller, version);
    const connection: Connection = { group, sink, position: 0, isLive: false, resume: undefined };
    group.connections.add(connection);
    this.#count += 1;
    if (this.#count === 1) this.#heartbeat.set(this.#engine().clock.now() + heartbeatMs);
    void this.#join(connection, lastId).catch((failure: unknown) => {
      this.#engine().onFailure(failure, 'stream');
      sink.cut();
    });
    return {
      drained() {
        const { resume } = connection;
        connection.resume = undefined;
        resume?.();
      },
      gone: () => this.#leave(connection),
    };
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
    if (connection.isLive) this.#live -= 1;
    connection.isLive = false;
    const { resume } = connection;
    connection.resume = undefined;
    resume?.();
    if (this.#count === 0) this.#heartbeat.stop();
  }

  /** Lets a connection hear what it has missed, as fast as it takes it, and then what comes. */
  async #join(connection: Connection, lastId: string | undefined): Promise<void> {
    const { group, sink } = connection;
    connection.position = await this.#engine().store.read(({ outbox }) =>
      lastId === undefined ? outbox.lastEvent() : (outbox.eventNamed(lastId)?.seq ?? 0),
    );
    while (group.connections.has(connection)) {
      const { store, clock } = this.#engine();
      const oldestMs = clock.now() - keptMs(this.#engine());
      const isShort = await store.read((rows) => {
        const page = rows.outbox.events(connection.position, pageMost);
        for (const event of page) {
          connection.position = event.seq;
          const piece = event.atMs < oldestMs ? undefined : new Told(event, rows, this.#rules()).pieceFor(group);
          if (piece) sink.write(piece);
        }
        return page.length < pageMost;
      });
      if (isShort && (this.#live === 0 || connection.position >= this.#position)) {
        this.#goLive(connection);
        return;
      }
      if (sink.isFull()) await new Promise<void>((resolve) => (connection.resume = resolve));
    }
  }

  #goLive(connection: Connection): void {
    if (!connection.group.connections.has(connection)) return;
    if (this.#live === 0) this.#position = connection.position;
    this.#live += 1;
    connection.isLive = true;
    // Something may have been recorded since it last looked.
    this.recorded();
  }

  /** Tells what was recorded since to those who listen. */
  async #tell(): Promise<void> {
    while (this.#again && !this.#isStopped) {
      this.#again = false;
      await new Promise<void>((resolve) => setImmediate(resolve));
      const isWhole = await this.#engine().store.read((rows) => {
        const page = rows.outbox.events(this.#position, pageMost);
        for (const event of page) {
          this.#position = event.seq;
          this.#tellAll(new Told(event, rows, this.#rules()));
        }
        return page.length === pageMost;
      });
      if (isWhole) this.#again = true;
    }
  }

  #tellAll(told: Told): void {
    const { seq } = told.event;
    for (const group of this.#groups.values()) {
      const piece = told.pieceFor(group);
      if (!piece) continue;
      for (const connection of group.connections) {
        if (!connection.isLive || connection.position >= seq) continue;
        connection.position = seq;
        if (connection.sink.write(piece) > waitingBytesMax) connection.sink.cut();
      }
    }
  }

  /** A comment now and then shows that the connection is there; those who are nobody any more are let go. */
  #beat(): void {
    if (this.#count === 0 || this.#isStopped) return;
    const { clock } = this.#engine();
    const { isGood, comment } = this.#rules();
    for (const { caller, connections } of this.#groups.values()) {
      const isOver = caller !== undefined && (isExpired(caller, clock.now()) || !isGood(caller));
      for (const { sink } of [...connections]) {
        if (isOver) sink.end();
        else if (!sink.isFull()) sink.write(comment);
      }
    }
    this.#heartbeat.set(clock.now() + heartbeatMs);
  }
}
