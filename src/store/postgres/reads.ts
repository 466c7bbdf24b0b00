import { type LongReadsMeans, PostgresLongReads } from './long-reads.ts';
import { ReadLanes } from './read-lanes.ts';

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
