import { rateKind } from '../../kinds/limits/all.ts';
import type { RateFacts, RateKind } from '../../kinds/limits/kind.ts';
import type { Rate } from '../../parts/limits.ts';
import type { Entropy } from '../http/clock.ts';
import { addressRoom, type Index, nameRoom, pageBits, pageSlots, RateCounter, Slots, slotMask } from './usage.ts';
import type { AddressBits } from './whom.ts';

/** What one rate has counted, apart by address and by name. */
export interface RateTables {
  /** What it is kept under: all that it states, so that one that states something else begins anew. */
  readonly name: string;
  readonly kind: RateKind;
  readonly facts: RateFacts;
  /** How many units one request is, so that costs such as 0.1 are whole numbers too. */
  readonly unit: number;
  readonly addresses: RateCounter<AddressBits>;
  readonly names: RateCounter<string>;
}

/** What all rates of a service have counted. It outlives the document: a rate that is still stated goes on where it was. */
export class RateCounters {
  readonly #seeds: readonly [number, number];
  #byRate = new Map<string, RateTables>();
  /** How often everything was forgotten: what others count with this process is then kept under names of its own. */
  #forgotten = 0;
  readonly #run: string;

  constructor(chance: Pick<Entropy, 'bytes'>) {
    const bytes = Buffer.from(chance.bytes(8));
    this.#run = bytes.toString('hex');
    this.#seeds = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
  }

  /** The tables of these rates; those of others are let go of. */
  tablesOf(rates: readonly Rate[]): RateTables[] {
    const kept = new Map<string, RateTables>();
    const tables = rates.map((rate) => {
      const { kind, per, by, to, on, limit, windowMs, own, cost } = rate;
      const stated = JSON.stringify([kind, per, to, on, limit, windowMs, own, cost, by?.source, rate.if?.source]);
      let name = stated;
      for (let n = 2; kept.has(name); n++) name = `${stated} ${n}`;
      const found = this.#byRate.get(name) ?? this.#make(rate, name);
      kept.set(name, found);
      return found;
    });
    this.#byRate = kept;
    return tables;
  }

  /** What was counted is counted no more; whoever has these tables asks for them anew. */
  forget(): void {
    this.#byRate = new Map();
    this.#forgotten += 1;
  }

  #make(rate: Rate, stated: string): RateTables {
    const kind = rateKind(rate.kind);
    const capacity = kind.capacity(rate);
    const unit = unitOf([rate.limit, capacity, ...Object.values(rate.cost)]);
    const facts = {
      limit: Math.round(rate.limit * unit),
      windowMs: rate.windowMs,
      capacity: Math.round(capacity * unit),
    };
    return {
      name: this.#forgotten === 0 ? stated : `${stated} ${this.#run} ${this.#forgotten}`,
      kind,
      facts,
      unit,
      addresses: new RateCounter(kind, facts, new AddressIndex(this.#seeds), addressRoom),
      names: new RateCounter(kind, facts, new NameIndex(), nameRoom),
    };
  }
}

/** The smallest power of ten that makes all of the numbers whole, up to a million. */
function unitOf(numbers: readonly number[]): number {
  let unit = 1;
  while (unit < 1_000_000 && !numbers.every((number) => Number.isInteger(Number((number * unit).toPrecision(15))))) unit *= 10;
  return unit;
}

const sharedCount = 1024;
/** The upper half of what stands for addresses that share a counter: no address has it. */
const sharedHigh = 0xfffffffe;
/** The upper half of a number that nothing has. */
const goneHigh = 0xfffffffd;

/** Addresses by small numbers: a hash table of numbers alone, 16 to 20 bytes for each entry where there are many. */
export class AddressIndex implements Index<AddressBits> {
  readonly #slots = new Slots();
  readonly #seeds: readonly [number, number];
  /** Slots plus one, at the place that the hash says or after it; 0 = nothing here. */
  #places = new Uint32Array(64);
  readonly #keys: Uint32Array[] = [];
  #size = 0;

  /** The seeds keep others from choosing addresses that meet in one place. */
  constructor(seeds: readonly [number, number]) {
    this.#seeds = seeds;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#places.byteLength + this.#keys.length * pageSlots * 8 + this.#slots.bytes;
  }

  get made(): number {
    return this.#slots.made;
  }

  shared({ high, low }: AddressBits): AddressBits {
    return { high: sharedHigh, low: this.#hash(high, low) % sharedCount };
  }

  has(slot: number): boolean {
    return this.#keys[slot >>> pageBits]![(slot & slotMask) * 2] !== goneHigh;
  }

  #hash(high: number, low: number): number {
    let mixed = Math.imul(high ^ this.#seeds[0], 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ low, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13) ^ this.#seeds[1], 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }

  find({ high, low }: AddressBits): number {
    const places = this.#places;
    const mask = places.length - 1;
    for (let place = this.#hash(high, low) & mask; ; place = (place + 1) & mask) {
      const slot = places[place]! - 1;
      if (slot === -1) return -1;
      const page = this.#keys[slot >>> pageBits]!;
      const at = (slot & slotMask) * 2;
      if (page[at] === high && page[at + 1] === low) return slot;
    }
  }

  add({ high, low }: AddressBits): number {
    const slot = this.#slots.take();
    if (slot >= this.#keys.length * pageSlots) this.#keys.push(new Uint32Array(2 * pageSlots));
    const page = this.#keys[slot >>> pageBits]!;
    page[(slot & slotMask) * 2] = high;
    page[(slot & slotMask) * 2 + 1] = low;
    if (++this.#size > this.#places.length * 0.75) this.#grow();
    this.#put(slot, high, low);
    return slot;
  }

  /** Those after it move up, so that none is behind an empty place. */
  remove(slot: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let empty = this.#home(slot);
    while (places[empty] !== slot + 1) empty = (empty + 1) & mask;
    for (let place = (empty + 1) & mask; places[place] !== 0; place = (place + 1) & mask) {
      const home = this.#home(places[place]! - 1);
      if (((place - home) & mask) < ((place - empty) & mask)) continue;
      places[empty] = places[place]!;
      empty = place;
    }
    places[empty] = 0;
    this.#keys[slot >>> pageBits]![(slot & slotMask) * 2] = goneHigh;
    this.#size--;
    this.#slots.giveBack(slot);
  }

  #home(slot: number): number {
    const page = this.#keys[slot >>> pageBits]!;
    const at = (slot & slotMask) * 2;
    return this.#hash(page[at]!, page[at + 1]!) & (this.#places.length - 1);
  }

  #put(slot: number, high: number, low: number): void {
    const mask = this.#places.length - 1;
    let place = this.#hash(high, low) & mask;
    while (this.#places[place] !== 0) place = (place + 1) & mask;
    this.#places[place] = slot + 1;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Uint32Array(before.length * 2);
    for (const entry of before) {
      if (entry === 0) continue;
      const page = this.#keys[(entry - 1) >>> pageBits]!;
      const at = ((entry - 1) & slotMask) * 2;
      this.#put(entry - 1, page[at]!, page[at + 1]!);
    }
  }
}

/** Names of callers and users, by small numbers. */
export class NameIndex implements Index<string> {
  readonly #slots = new Slots();
  readonly #slotOf = new Map<string, number>();
  readonly #names: (string | undefined)[] = [];

  get size(): number {
    return this.#slotOf.size;
  }

  get made(): number {
    return this.#slots.made;
  }

  /** What can be told of it; a map's own size cannot. */
  get bytes(): number {
    return this.#names.length * 8 + this.#slots.bytes;
  }

  find(name: string): number {
    return this.#slotOf.get(name) ?? -1;
  }

  add(name: string): number {
    const slot = this.#slots.take();
    this.#slotOf.set(name, slot);
    this.#names[slot] = name;
    return slot;
  }

  has(slot: number): boolean {
    return this.#names[slot] !== undefined;
  }

  remove(slot: number): void {
    this.#slotOf.delete(this.#names[slot]!);
    this.#names[slot] = undefined;
    this.#slots.giveBack(slot);
  }

  /** No caller's name begins like this. */
  shared(): string {
    return '\nshared';
  }
}
