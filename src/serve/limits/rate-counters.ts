import { rateKind } from '../../kinds/limits/all.ts';
import type { RateFacts, RateKind } from '../../kinds/limits/kind.ts';
import type { Rate } from '../../parts/limits.ts';
import type { Chance } from '../clock.ts';
import type { AddressBits } from './address.ts';
import { AddressIndex } from './address-index.ts';
import { addressRoom, Counters, nameRoom } from './counters.ts';
import { NameIndex } from './name-index.ts';

/** What one rate has counted, apart by address and by name. */
export interface RateTables {
  readonly kind: RateKind;
  readonly facts: RateFacts;
  /** How many units one request is, so that costs such as 0.1 are whole numbers too. */
  readonly unit: number;
  readonly addresses: Counters<AddressBits>;
  readonly names: Counters<string>;
}

/** What all rates of a service have counted. It outlives the document: a rate that is still stated goes on where it was. */
export class RateCounters {
  readonly #seeds: readonly [number, number];
  #byRate = new Map<string, RateTables>();

  constructor(chance: Pick<Chance, 'bytes'>) {
    const bytes = Buffer.from(chance.bytes(8));
    this.#seeds = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
  }

  /** The tables of these rates; those of others are let go of. */
  tablesOf(rates: readonly Rate[]): RateTables[] {
    const kept = new Map<string, RateTables>();
    const tables = rates.map((rate) => {
      const stated = JSON.stringify([rate.kind, rate.per, rate.to, rate.on, rate.limit, rate.windowMs, rate.own, rate.cost]);
      let name = stated;
      for (let n = 2; kept.has(name); n++) name = `${stated} ${n}`;
      const found = this.#byRate.get(name) ?? this.#make(rate);
      kept.set(name, found);
      return found;
    });
    this.#byRate = kept;
    return tables;
  }

  #make(rate: Rate): RateTables {
    const kind = rateKind(rate.kind);
    const capacity = kind.capacity(rate);
    const unit = unitOf([rate.limit, capacity, ...Object.values(rate.cost)]);
    const facts = {
      limit: Math.round(rate.limit * unit),
      windowMs: rate.windowMs,
      capacity: Math.round(capacity * unit),
    };
    return {
      kind,
      facts,
      unit,
      addresses: new Counters(kind, facts, new AddressIndex(this.#seeds), addressRoom),
      names: new Counters(kind, facts, new NameIndex(), nameRoom),
    };
  }
}

/** The smallest power of ten that makes all of the numbers whole, up to a million. */
function unitOf(numbers: readonly number[]): number {
  let unit = 1;
  while (unit < 1_000_000 && !numbers.every((number) => Number.isInteger(Number((number * unit).toPrecision(15))))) unit *= 10;
  return unit;
}
