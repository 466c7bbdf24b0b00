import { ReadTooLong } from '../../store/failures.ts';
import type { Reader, RowNumbers, Store } from '../../store/store.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { ReplySink, ReplyStream } from '../http/call.ts';
import type { Clock } from '../http/clock.ts';
import { readFor } from '../resources/act.ts';
import type { LongRows } from '../resources/lists/envelope.ts';
import type { Drawn } from '../resources/setters.ts';
import type { Engine } from './engine.ts';

/** The texts of some rows as they are shown, with commas between them. */
export type ShowRows = (rows: Reader, draw: Drawn, numbers: readonly number[]) => string;

/** So many numbers of rows are held for all lists of a service that are being written, 8 bytes each. */
const heldMost = 8_000_000;
/** About how much text one piece has. */
const pieceLength = 64 * 1024;
/** How many rows a piece has at first, and at most. */
const pieceRows = [16, 512] as const;

/** How long a list waits for a client that takes nothing of it, where no time is stated for its request. */
const silentMsMost = 60_000;

/** How many numbers of rows are held by the lists that are being written, by the store that they are of. */
const heldBy = new WeakMap<Store, { numbers: number }>();

/** Writes lists of very many rows as they are read, a piece at a time between other requests. */
export class LongLists {
  readonly #engine: Engine;
  readonly #held: { numbers: number };

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#held = heldBy.get(engine.store) ?? { numbers: 0 };
    heldBy.set(engine.store, this.#held);
  }

  /**
   * The body of a list: what comes before its rows, those of them that are still to be shown when their piece is read, and what comes after.
   * It is cut off where reading fails, and where the time of its request is over.
   * @throws {ReadTooLong} where lists under way hold too many rows already.
   */
  stream(exchange: Exchange, { numbers }: LongRows, show: ShowRows, [head, tail]: readonly [string, string]): ReplyStream {
    if (this.#held.numbers + numbers.length > heldMost)
      throw new ReadTooLong(
        `a list without pages was given up: with those that are being written it has more than ${heldMost.toLocaleString('en')} rows; state pagination`,
      );
    return {
      hasEnd: true,
      start: (sink) => {
        const { clock, limits } = this.#engine;
        const reading = new Reading(clock, limits.requestMs === undefined ? undefined : exchange.nowMs + limits.requestMs);
        this.#held.numbers += numbers.length;
        void this.#write(exchange, numbers, show, [head, tail], sink, reading).finally(
          () => (this.#held.numbers -= numbers.length),
        );
        return { drained: () => reading.wake(), gone: () => reading.end() };
      },
    };
  }

  /** The text of all rows, where it is not too long. */
  async text(exchange: Exchange, { numbers }: LongRows, show: ShowRows, lengthMost: number): Promise<string | undefined> {
    let text = '';
    for await (const piece of this.#pieces(exchange, numbers, show)) {
      text += text !== '' && piece !== '' ? `,${piece}` : piece;
      if (text.length > lengthMost) return undefined;
      exchange.deadline?.goOn();
    }
    return text;
  }

  async #write(
    exchange: Exchange,
    numbers: RowNumbers,
    show: ShowRows,
    [head, tail]: readonly [string, string],
    sink: ReplySink,
    reading: Reading,
  ): Promise<void> {
    try {
      let before = head;
      for await (const piece of this.#pieces(exchange, numbers, show)) {
        if (sink.isFull()) await reading.room();
        if (reading.isGone) return;
        reading.goOn();
        if (piece === '') continue;
        sink.write(Buffer.from(before + piece));
        before = ',';
      }
      sink.write(Buffer.from(before === head ? head + tail : tail));
      sink.end();
    } catch (failure) {
      sink.cut();
      this.#engine.onFailure(failure, exchange.requestId());
    }
  }

  /** The texts of the rows, about as long each, with a turn of the event loop between them. */
  async *#pieces(exchange: Exchange, numbers: RowNumbers, show: ShowRows): AsyncGenerator<string> {
    let [rows] = pieceRows as readonly [number, number];
    for (let at = 0; at < numbers.length; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const some = numbers.slice(at, at + rows);
      const piece = await readFor(this.#engine, exchange, (reader, draw) => show(reader, draw, some));
      yield piece;
      at += some.length;
      rows = Math.max(1, Math.min(pieceRows[1], 2 * rows, Math.floor((rows * pieceLength) / (piece.length + 1))));
    }
  }
}

/** How far the client of one list is, and how long it may take. */
class Reading {
  isGone = false;
  readonly #clock: Clock;
  readonly #untilMs: number | undefined;
  #wake: (() => void) | undefined;

  /** @param untilMs When the time of its request is over; nothing where none is stated. */
  constructor(clock: Clock, untilMs: number | undefined) {
    this.#clock = clock;
    this.#untilMs = untilMs;
  }

  /** @throws {ReadTooLong} where the time is over. */
  goOn(): void {
    if (this.#untilMs !== undefined && this.#clock.now() > this.#untilMs)
      throw new ReadTooLong('a list was cut off: the time of its request was over before all of it was written');
  }

  /** Waits until the client takes more, or has gone. @throws {ReadTooLong} where it takes too long over it. */
  async room(): Promise<void> {
    if (this.isGone) return;
    let isLate = false;
    await new Promise<void>((resolve) => {
      const stop = this.#clock.at(this.#untilMs ?? this.#clock.now() + silentMsMost, () => {
        isLate = true;
        resolve();
      });
      this.#wake = () => {
        stop();
        resolve();
      };
    });
    this.#wake = undefined;
    if (isLate) throw new ReadTooLong('a list was cut off: its client took nothing of it until its time was over');
  }

  wake(): void {
    this.#wake?.();
  }

  end(): void {
    this.isGone = true;
    this.wake();
  }
}
