import type { Draw } from '../kinds/generators/kind.ts';
import type { Reader, Store, Transaction } from '../store/store.ts';
import { follower, type Models, type Work } from './acts/act.ts';
import type { PromiseOrValue } from './after.ts';
import type { Chance } from './clock.ts';
import type { Exchange } from './exchange.ts';

/** Time and chance for a body that may be run again: it begins with `restart`, draws the same, and so comes to the same. */
export interface Drawn extends Draw {
  restart(): void;
}

/** What bodies are run on. */
interface Running {
  readonly store: Store;
  readonly chance: Chance;
}

/** Time and chance drawn once for one change. */
export function drawOnce(chance: Chance, nowMs: number): Drawn {
  return new DrawnOnce(chance, nowMs);
}

/** Reads for one exchange. Whatever the body tells the exchange besides its value, only its last run has told. */
export function readFor<T>(
  { store, chance }: Running,
  exchange: Exchange,
  body: (rows: Reader, draw: Drawn) => T,
): PromiseOrValue<T> {
  const draw = new DrawnFor(exchange, chance);
  return store.read((rows) => {
    draw.restart();
    return body(rows, draw);
  });
}

/** Changes for one exchange, as `readFor` reads. What is to be done after the commit goes with the body's value. */
export function changeFor<T>(
  { store, chance }: Running,
  exchange: Exchange,
  body: (rows: Transaction, draw: Drawn) => T,
): Promise<T> {
  const draw = new DrawnFor(exchange, chance);
  return store.change((rows) => {
    draw.restart();
    return body(rows, draw);
  });
}

class DrawnOnce implements Drawn {
  readonly nowMs: number;
  readonly #chance: Chance;
  #drawn: (Uint8Array | string)[] | undefined;
  #next = 0;

  constructor(chance: Chance, nowMs: number) {
    this.#chance = chance;
    this.nowMs = nowMs;
  }

  bytes(length: number): Uint8Array {
    return this.#again(() => this.#chance.bytes(length));
  }

  uuid(): string {
    return this.#again(() => this.#chance.uuid());
  }

  restart(): void {
    this.#next = 0;
  }

  #again<T extends Uint8Array | string>(make: () => T): T {
    this.#drawn ??= [];
    if (this.#next === this.#drawn.length) this.#drawn.push(make());
    // What was drawn at this place the first time is of the same kind: the body is the same.
    return this.#drawn[this.#next++] as T;
  }
}

/** Puts back, too, what the exchange told of itself before the body was run. */
class DrawnFor extends DrawnOnce {
  readonly #exchange: Exchange;
  readonly #accepted: Exchange['accepted'];
  readonly #refusedWith: Exchange['refusedWith'];
  readonly #sampled: Exchange['sampled'];
  readonly #warnings: Exchange['warnings'];

  constructor(exchange: Exchange, chance: Chance) {
    super(chance, exchange.nowMs);
    this.#exchange = exchange;
    this.#accepted = exchange.accepted;
    this.#refusedWith = exchange.refusedWith;
    this.#sampled = exchange.sampled;
    this.#warnings = exchange.warnings;
  }

  override restart(): void {
    super.restart();
    const exchange = this.#exchange;
    exchange.accepted = this.#accepted;
    exchange.refusedWith = this.#refusedWith;
    exchange.sampled = this.#sampled;
    exchange.warnings = this.#warnings;
    exchange.recorded = undefined;
  }
}

/** What a change or a reading has at hand for one exchange. */
export function workFor<Rows extends Reader>(rows: Rows, models: Models, exchange: Exchange, draw: Work['draw']): Work<Rows> {
  return {
    rows,
    models,
    nowMs: exchange.nowMs,
    draw,
    scope: {
      request: exchange.request,
      params: exchange.params,
      caller: exchange.caller,
      now: exchange.nowMs,
      operation: exchange.plan.operation.name,
      version: exchange.view.version ?? '',
      follow: follower(rows, models),
    },
    stored: [],
  };
}
