import { ReadFailed } from '../failures.ts';
import { bareSql, type Connection, isOfMachine, isOutOfTime, overSessions } from './connection.ts';
import { ReadBatch, type ReadsMeans, type WaitingRead } from './read-batch.ts';

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
export class ReadLanes<B> {
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
    const connection = await this.#means.connect('by index');
    const { bounded } = this.#use;
    if (bounded) await connection.send([bareSql(`SET statement_timeout = ${bounded.questionMs}`)]);
    lane.connection = connection;
    return connection;
  }
}
