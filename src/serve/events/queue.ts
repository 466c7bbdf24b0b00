import type { DuePlace, StoredDelivery } from '../../store/outbox.ts';
import type { Store } from '../../store/store.ts';
import type { Underway } from './posts.ts';

/** What is being done for one subscriber. */
export interface SubscriberQueue {
  readonly subscriber: string;
  /** Read and not yet sent. */
  ready: StoredDelivery[];
  /** The last one that was read; nothing = the next reading begins with the first. */
  readUpTo: DuePlace | undefined;
  /** Sent or read, and not yet settled in the store: reading what is due gives these again. */
  readonly known: Set<number>;
  /** Those that were settled while what is due was read, which may give them once more; nothing = it is not being read. */
  settled: number[] | undefined;
  flying: number;
  /** When something is due that is not being done; nothing = that is to be found out. */
  nextMs: number | undefined;
  /** Until then nothing is sent: it asked for that. */
  heldUntilMs: number;
  /** Whether the last thing that came of it was a failure: then it is asked with one try at a time. */
  isFailing: boolean;
}

export function newLine(subscriber: string): SubscriberQueue {
  return {
    subscriber,
    ready: [],
    readUpTo: undefined,
    known: new Set<number>(),
    settled: undefined,
    flying: 0,
    nextMs: undefined,
    heldUntilMs: 0,
    isFailing: false,
  };
}

/** The tries under way, in the order in which they run out of time: all have the same. */
export class Deadlines {
  readonly #at = new Map<Underway, number>();

  add(underway: Underway, ms: number): void {
    this.#at.set(underway, ms);
  }

  remove(underway: Underway): void {
    this.#at.delete(underway);
  }

  get first(): number | undefined {
    for (const ms of this.#at.values()) return ms;
    return undefined;
  }

  get size(): number {
    return this.#at.size;
  }

  /** Breaks off those whose time is up. */
  expire(nowMs: number): void {
    for (const [underway, ms] of [...this.#at]) {
      if (ms > nowMs) return;
      this.#at.delete(underway);
      underway.expire('No answer came in time.');
    }
  }

  clear(): void {
    this.#at.clear();
  }
}

/** How many deliveries of one subscriber are read at once. */
const readMost = 256;

/** Reads on where it stopped; at the end it begins anew, for what became due before that. */
export async function readDue(store: Store, line: SubscriberQueue, nowMs: number): Promise<void> {
  const from = line.readUpTo;
  const most = from ? readMost : line.known.size + readMost;
  const settled: number[] = [];
  line.settled = settled;
  try {
    const due = await store.read((rows) => rows.outbox.due(line.subscriber, nowMs, most, from));
    const last = due.length < most ? undefined : due.at(-1);
    line.readUpTo = last && { dueMs: last.dueMs ?? nowMs, seq: last.seq };
    line.ready = due.filter(({ seq }) => !line.known.has(seq)).reverse();
    for (const { seq } of line.ready) line.known.add(seq);
  } finally {
    line.settled = undefined;
    for (const seq of settled) line.known.delete(seq);
  }
  if (line.ready.length === 0 && from) await readDue(store, line, nowMs);
}

/** Gives back what was read and not sent: it is read again when it can be. */
export function letGo(line: SubscriberQueue): void {
  for (const { seq } of line.ready) line.known.delete(seq);
  line.ready = [];
  line.readUpTo = undefined;
}

/** Rests until then after something failed, and tries again what was left undone. */
export function restUntil(lines: Iterable<SubscriberQueue>, ms: number): void {
  for (const line of lines) {
    letGo(line);
    line.nextMs = Math.max(ms, line.heldUntilMs);
  }
}

/** When something is due first. */
export function firstNext(lines: Iterable<SubscriberQueue>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { nextMs } of lines) if (nextMs !== undefined && nextMs < first) first = nextMs;
  return first;
}

/** Whether nothing is being done for it, and nothing is due. */
export function isAtRest({ flying, known, nextMs }: SubscriberQueue, nowMs: number): boolean {
  return flying === 0 && known.size === 0 && (nextMs === undefined || nextMs > nowMs);
}

/** How long things are gathered: where more of the same is under way, and where somebody may wait for them. */
const laterMs = 50;
const soonMs = 4;
const gatherMost = 1024;

/** Gathers things for a while, and hands them over together, one batch after another. */
export class Batches<Thing> {
  readonly #take: (things: readonly Thing[]) => Promise<void>;
  #things: Thing[] = [];
  #timer: NodeJS.Timeout | undefined;
  #dueMs = 0;
  #taking: Promise<void> | undefined;

  /** `take` must not reject. */
  constructor(take: (things: readonly Thing[]) => Promise<void>) {
    this.#take = take;
  }

  /** How many wait. */
  get size(): number {
    return this.#things.length;
  }

  get isIdle(): boolean {
    return this.#things.length === 0 && this.#taking === undefined;
  }

  add(thing: Thing, when: 'now' | 'soon' | 'later'): void {
    this.#things.push(thing);
    const isMuch = this.#things.length >= gatherMost;
    this.#in(when === 'now' || isMuch ? 0 : when === 'soon' ? soonMs : laterMs);
  }

  /** Hands over what there is, and waits until it is taken. */
  async flush(): Promise<void> {
    await this.#taking;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#things.length > 0) await this.#hand();
  }

  #in(ms: number): void {
    if (this.#taking || (this.#timer && this.#dueMs <= ms)) return;
    clearTimeout(this.#timer);
    this.#dueMs = ms;
    this.#timer = setTimeout(() => void this.#hand(), ms);
  }

  async #hand(): Promise<void> {
    this.#timer = undefined;
    const things = this.#things;
    this.#things = [];
    this.#taking = this.#take(things);
    await this.#taking;
    this.#taking = undefined;
    if (this.#things.length > 0) this.#in(0);
  }
}
