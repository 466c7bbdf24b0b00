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
export class PostgresLongReads<B> {
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

  async #stop({ backend }: LongLane): Promise<void> {
    try {
      await (await this.#means.free()).send([{ text: 'SELECT pg_cancel_backend($1::int4)', values: [backend] }]);
    } catch {
      // It is asked again soon, and ends by itself at worst.
    }
  }

  async #connected(lane: LongLane): Promise<Connection> {
    if (lane.connection && !lane.connection.isLost) return lane.connection;
    const connection = await this.#means.connect('anything');
    const [[row] = []] = await connection.send([bareSql('SELECT pg_backend_pid()::text')]);
    lane.backend = String(row?.[0]);
    lane.connection = connection;
    return connection;
  }
}
