import type { Draw } from '../../kinds/generators/kind.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Entropy } from '../http/clock.ts';

/** Time and chance for a body that may be run again: it begins with `restart`, draws the same, and so comes to the same. */
export interface Drawn extends Draw {
  restart(): void;
}

/** Time and chance drawn once for one change. */
export function drawOnce(chance: Entropy, nowMs: number): Drawn {
  return new DrawnOnce(chance, nowMs);
}

class DrawnOnce implements Drawn {
  readonly nowMs: number;
  readonly #chance: Entropy;
  #drawn: (Uint8Array | string | number | undefined)[] | undefined;
  #next = 0;

  constructor(chance: Entropy, nowMs: number) {
    this.#chance = chance;
    this.nowMs = nowMs;
  }

  bytes(length: number): Uint8Array {
    this.#drawn ??= [];
    if (this.#next === this.#drawn.length) this.#drawn.push(this.#chance.bytes(length));
    // What was drawn at this place the first time is of the same kind: the body is the same.
    return this.#drawn[this.#next++] as Uint8Array;
  }

  uuid(): string {
    this.#drawn ??= [];
    if (this.#next === this.#drawn.length) this.#drawn.push(this.#chance.uuid());
    return this.#drawn[this.#next++] as string;
  }

  rising(): number | undefined {
    this.#drawn ??= [];
    if (this.#next === this.#drawn.length) this.#drawn.push(this.#chance.rising?.(this.nowMs));
    return this.#drawn[this.#next++] as number | undefined;
  }

  restart(): void {
    this.#next = 0;
  }
}

/** The same for one exchange: it puts back, too, what the exchange told of itself before the body was run. */
export class DrawnFor extends DrawnOnce {
  readonly #exchange: Exchange;
  readonly #accepted: Exchange['accepted'];
  readonly #refusedWith: Exchange['refusedWith'];
  readonly #sampled: Exchange['sampled'];
  readonly #warnings: Exchange['warnings'];

  constructor(exchange: Exchange, chance: Entropy) {
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
