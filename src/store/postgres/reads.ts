/** The reads of a store, by how long they may take: in lanes where they are asked together, or each alone. */

import { ReadFailed, ReadTooLong } from '../failures.ts';
import { bareSql, type Connection, isOfMachine, isOutOfTime, overSessions } from './connection.ts';
import { ReadBatch, type ReadsMeans, type WaitingRead } from './read-batch.ts';

/** How many long reads are under way at once; others wait for one of them. */
const lanesMost = 4;
/** How many wait at most. */
const waitingMost = 1000;
/** How long one may take, where nobody ends it before. */
const mostMs = 30_000;
/** How often it is asked whether anybody waits still. */
const lookMs = 20;

/** What long reads need of their store besides. */
export interface LongReadsMeans<B> extends ReadsMeans<B> {
  /** A connection over which others are told to stop. */
  readonly free: () => Promise<Connection>;
}

interface LongLane {
  connection: Connection | undefined;
  /** The process of the database that serves it. */
  backend: string;
}

/** Reads whose questions take long: each alone, over a connection of its own, and ended in the database where nobody waits for it any more. */
class PostgresLongReads<B> {
  readonly #means: LongReadsMeans<B>;
  readonly #free: LongLane[] = Array.from({ length: lanesMost }, () => ({ connection: undefined, backend: '' }));
  readonly #waiting: WaitingRead<B>[] = [];
  readonly #drained: (() => void)[] = [];
  #isClosed = false;

  constructor(means: LongReadsMeans<B>) {
    this.#means = means;
  }

  add(one: WaitingRead<B>): void {
    if (this.#isClosed) one.reject(this.#closed());
    else if (this.#waiting.length >= waitingMost) one.reject(new ReadTooLong());
    else {
      this.#waiting.push(one);
      const lane = this.#free.pop();
      if (lane) void this.#run(lane);
    }
  }

  /** Ends those that are under way, each with a failure. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#closed());
    return new Promise((resolve) => {
      if (this.#free.length === lanesMost) resolve();
      else this.#drained.push(resolve);
    });
  }

  #closed(): Error {
    return new Error(`${this.#means.name} is closed`);
  }

  async #run(lane: LongLane): Promise<void> {
    for (let one = this.#waiting.shift(); one; one = this.#waiting.shift()) await this.#read(lane, one);
    this.#free.push(lane);
    if (this.#free.length === lanesMost) for (const tell of this.#drained.splice(0)) tell();
  }

  async #read(lane: LongLane, one: WaitingRead<B>): Promise<void> {
    const watch = this.#watch(lane, one);
    try {
      await overSessions(() => new ReadBatch(this.#means, [one], undefined).carryOut(() => this.#connected(lane)));
    } catch (error) {
      if (isOutOfTime(error)) one.reject(new ReadTooLong());
      else one.reject(isOfMachine(error) ? new ReadFailed(this.#means.name, error) : error);
    } finally {
      await watch.end();
    }
  }

  /** Looks now and then whether anybody waits for a read, and ends it in the database where not. */
  #watch(lane: LongLane, { goesOn, reject }: WaitingRead<B>): { end(): Promise<void> } {
    const until = performance.now() + mostMs;
    let stopping: Promise<void> | undefined;
    const look = setInterval(() => {
      try {
        if (this.#isClosed) throw this.#closed();
        goesOn();
        if (performance.now() > until) throw new ReadTooLong();
      } catch (error) {
        reject(error);
        // A question that had come to its end meanwhile is followed by others, which are ended the next time.
        stopping ??= this.#stop(lane).finally(() => (stopping = undefined));
      }
    }, lookMs);
    look.unref();
    return {
      async end() {
        clearInterval(look);
        await stopping;
      },
    };
  }

  async #stop({ connection, backend }: LongLane): Promise<void> {
    try {
      if (connection?.interrupt) await connection.interrupt();
      else await (await this.#means.free()).send([{ text: 'SELECT pg_cancel_backend($1::int4)', values: [backend] }]);
    } catch {
      // It is asked again soon, and ends by itself at worst.
    }
  }

  async #connected(lane: LongLane): Promise<Connection> {
    if (lane.connection && !lane.connection.isLost) return lane.connection;
    const connection = await this.#means.connect('anything', mostMs);
    if (!connection.interrupt) {
      const [[row] = []] = await connection.send([bareSql('SELECT pg_backend_pid()::text')]);
      lane.backend = String(row?.[0]);
    }
    lane.connection = connection;
    return connection;
  }
}

/** What some lanes are for. */
export interface LaneUse<B> {
  /** How many batches are under way at once. */
  readonly lanes: number;
  /** How many bodies a batch has at most. */
  readonly bodiesMost: number;
  /** Takes a body that asks what may be long, where these lanes are not for that. */
  readonly putOff?: (one: WaitingRead<B>) => void;
  /** How long a question may take, in milliseconds, and what takes a body whose question took longer. */
  readonly bounded?: { readonly questionMs: number; readonly tooLong: (one: WaitingRead<B>) => void };
}

interface Lane {
  connection: Connection | undefined;
  isBusy: boolean;
}

/** Reads that wait while the last ones are under way are asked together. */
class ReadLanes<B> {
  readonly #means: ReadsMeans<B>;
  readonly #use: LaneUse<B>;
  readonly #waiting: WaitingRead<B>[] = [];
  readonly #lanes: readonly Lane[];
  #isScheduled = false;
  readonly #drained: (() => void)[] = [];

  constructor(means: ReadsMeans<B>, use: LaneUse<B>) {
    this.#means = means;
    this.#use = use;
    this.#lanes = Array.from({ length: use.lanes }, () => ({ connection: undefined, isBusy: false }));
  }

  add(one: WaitingRead<B>): void {
    this.#waiting.push(one);
    this.#schedule();
  }

  drain(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isIdle) resolve();
      else this.#drained.push(resolve);
    });
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && !this.#isScheduled && this.#lanes.every(({ isBusy }) => !isBusy);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const lane = this.#lanes.find(({ isBusy }) => !isBusy);
      if (lane && this.#waiting.length > 0) void this.#runLane(lane);
      this.#tellIdle();
    });
  }

  async #runLane(lane: Lane): Promise<void> {
    lane.isBusy = true;
    while (this.#waiting.length > 0) {
      const late = await this.#runBatch(lane, this.#waiting.splice(0, this.#use.bodiesMost));
      // Which of them took so long shows where each is asked alone.
      if (late.length > 1) for (const one of late) for (const alone of await this.#runBatch(lane, [one])) this.#tooLong(alone);
      else for (const alone of late) this.#tooLong(alone);
    }
    lane.isBusy = false;
    this.#tellIdle();
  }

  /** Gives those that took longer than a question may. */
  async #runBatch(lane: Lane, waiting: readonly WaitingRead<B>[]): Promise<readonly WaitingRead<B>[]> {
    const batch = new ReadBatch(this.#means, waiting, this.#use.putOff);
    try {
      await overSessions(() => batch.carryOut(() => this.#connected(lane)));
      return [];
    } catch (error) {
      if (this.#use.bounded && isOutOfTime(error)) return batch.left;
      const told = isOfMachine(error) ? new ReadFailed(this.#means.name, error) : error;
      for (const { reject } of batch.left) reject(told);
      return [];
    }
  }

  #tooLong(one: WaitingRead<B>): void {
    this.#use.bounded?.tooLong(one);
  }

  #tellIdle(): void {
    if (this.#isIdle) for (const resolve of this.#drained.splice(0)) resolve();
  }

  async #connected(lane: Lane): Promise<Connection> {
    if (lane.connection && !lane.connection.isLost) return lane.connection;
    lane.connection = await this.#means.connect('by index', this.#use.bounded?.questionMs);
    return lane.connection;
  }
}

/** How long a question has before its body is one of the long reads, in milliseconds. */
const questionMs = 25;

/**
 * The reads of a store, by how long they may take, so that none waits for one that takes longer than it: rows by their keys are asked
 * together, lists in batches of their own, and what takes long alone.
 */
export class Reads<B> {
  readonly #means: LongReadsMeans<B>;
  readonly #points: ReadLanes<B>;
  readonly #lists: ReadLanes<B>;
  readonly #long: PostgresLongReads<B>;

  constructor(means: LongReadsMeans<B>) {
    this.#means = means;
    this.#long = new PostgresLongReads(means);
    this.#lists = new ReadLanes(means, {
      lanes: 2,
      bodiesMost: 32,
      bounded: { questionMs, tooLong: (one) => this.#long.add(one) },
    });
    this.#points = new ReadLanes(means, { lanes: 2, bodiesMost: 512, putOff: (one) => this.#lists.add(one) });
  }

  add(body: B, goesOn: () => void = () => {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#points.add({ body, goesOn, generation: this.#means.generation(), resolve, reject });
    });
  }

  /** Ends the long ones that are under way, and all that become long from now on, each with a failure. */
  endLong(): Promise<void> {
    return this.#long.close();
  }

  /** Waits for the others. */
  async drain(): Promise<void> {
    await this.#points.drain();
    await this.#lists.drain();
  }
}
