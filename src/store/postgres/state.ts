import type { TableShapes } from './dialect.ts';
import { type FactPoint, type PointValues, pointKey, type StoreAsk, Wanted } from './facts.ts';
import { marks, type Op } from './ops.ts';

/** Stops a body that asked for what is not known yet; it is run again once that is. */
const unanswered = Object.freeze({ name: 'Unanswered', message: 'what was asked for is not there yet; let this pass' });

/** What bodies wrote and the database does not have yet: what points are by now, and what is done besides, in order. */
export interface WrittenFacts {
  readonly points: Map<string, FactPoint>;
  ops: Op[];
}

/** What one body wrote, taken back since. */
export interface OwnWritten extends WrittenFacts {
  readonly values: ReadonlyMap<string, unknown>;
}

interface Answer {
  readonly value: unknown;
  readonly epochs: number;
}

/**
 * What a batch of bodies knows: what was fetched of the database, and what they have written over it. A body that asks for more stops;
 * what it wrote until then is taken back.
 */
export class State {
  readonly shapes: TableShapes;
  /** Points by key; null = not there. What is missing has not been asked for. */
  readonly facts = new Map<string, unknown>();
  /** What the database holds of the points that were written. */
  readonly stored = new Map<string, unknown>();
  readonly done: WrittenFacts = { points: new Map(), ops: [] };
  /** What of the store is another by what was kept, by the marks of its row; empty where nothing was written. */
  readonly touched = new Set<string>();
  own: WrittenFacts = { points: new Map(), ops: [] };
  wanted = new Wanted();
  /** The last revision that was given. */
  revision = 0;
  /** How many bodies the batch has. */
  bodies = 1;
  /** Nobody knows yet what is stored: what is most likely is taken for it, so that a body tells more of what it will need. */
  isGuessing = false;
  /** Whether the body has asked for what is not known. */
  isStopped = false;
  /** A question that may be long is not asked for this batch: its body is put off. */
  readonly putsOffAsks: boolean;
  /** Whether the body is put off for a question that may be long. */
  isPutOff = false;
  /** Everything was cleared: what was not written since is not there. */
  isCleared = false;
  readonly #answers = new Map<string, Answer>();
  #ownAnswers = new Map<string, unknown>();
  readonly #epochs = new Map<string, number>();
  #ownWrites = new Map<string, number>();
  #undo: [key: string, had: boolean, value: unknown][] = [];
  #before = { revision: 0, isCleared: false };

  constructor(shapes: TableShapes, putsOffAsks = false) {
    this.shapes = shapes;
    this.putsOffAsks = putsOffAsks;
  }

  /** Begins a body; what is known for it alone is kept where it is run again. */
  begin(isAgain: boolean): void {
    this.own = { points: new Map(), ops: [] };
    this.isStopped = false;
    this.isPutOff = false;
    this.#undo = [];
    this.#ownWrites = new Map();
    this.#before = { revision: this.revision, isCleared: this.isCleared };
    if (!isAgain) this.#ownAnswers = new Map();
  }

  /** Takes back what the body wrote. */
  undo(): void {
    for (let index = this.#undo.length - 1; index >= 0; index--) {
      const [key, had, value] = this.#undo[index]!;
      if (had) this.facts.set(key, value);
      else this.facts.delete(key);
    }
    this.revision = this.#before.revision;
    this.isCleared = this.#before.isCleared;
    this.begin(true);
  }

  /** Keeps what the body wrote. */
  keep(): void {
    for (const [key, point] of this.own.points) this.done.points.set(key, point);
    if (this.own.ops.some(({ kind }) => kind === 'clear')) this.done.ops = [];
    for (const op of this.own.ops) {
      this.done.ops.push(op);
      this.touched.add(marks[op.kind] ?? 'rows');
    }
    if (this.own.points.size > 0) this.touched.add('rows');
    for (const concern of this.#ownWrites.keys()) this.#epochs.set(concern, (this.#epochs.get(concern) ?? 0) + 1);
    this.begin(false);
  }

  /** What a point is; `guess` is taken for it where nobody can know yet. */
  point<S extends FactPoint['sort']>(point: FactPoint & { readonly sort: S }, canGuess: boolean): PointValues[S] | null {
    const key = pointKey(point);
    const found = this.facts.get(key);
    // Facts under a key of a sort are of that sort.
    if (found !== undefined) return found as PointValues[S] | null;
    if (this.isCleared) return null;
    this.wanted.points.set(key, point);
    if (this.isGuessing && canGuess) return null;
    return this.#stop();
  }

  /** What a question was answered with. */
  ask<T>(ask: StoreAsk<T>): T {
    const own = this.#ownCount(ask);
    if (own > 0) {
      const key = `${own}\n${ask.key}`;
      if (this.#ownAnswers.has(key)) return this.#ownAnswers.get(key) as T;
    } else {
      const known = this.#answers.get(ask.key);
      if (known && known.epochs === this.#epochsOf(ask)) return known.value as T;
    }
    if (this.putsOffAsks) {
      this.isPutOff = true;
      return this.#stop();
    }
    // While it is guessed, what a body wrote itself cannot be looked through.
    if (!this.isGuessing || own === 0) this.wanted.asks.set(ask.key, { ask, own });
    return this.#stop();
  }

  /** Keeps an answer for a body that had written so often what it depends on. */
  learn(ask: StoreAsk<unknown>, own: number, value: unknown): void {
    if (own > 0) this.#ownAnswers.set(`${own}\n${ask.key}`, value);
    else this.#answers.set(ask.key, { value, epochs: this.#epochsOf(ask) });
  }

  /** A body writes a point. */
  write(point: FactPoint, value: unknown, concern: string | undefined): void {
    const key = pointKey(point);
    // What is only guessed says nothing of what is stored.
    if (!this.isGuessing && !this.stored.has(key)) this.stored.set(key, this.facts.get(key));
    this.#set(key, value);
    this.own.points.set(key, point);
    if (concern !== undefined) this.wrote(concern);
  }

  /** What follows of a write is known, and not written itself. */
  know(point: FactPoint, value: unknown): void {
    this.#set(pointKey(point), value);
  }

  does(op: Op, concern: string | undefined): void {
    this.own.ops.push(op);
    if (concern !== undefined) this.wrote(concern);
  }

  wrote(concern: string): void {
    this.#ownWrites.set(concern, (this.#ownWrites.get(concern) ?? 0) + 1);
  }

  /** Everything that is known is gone. */
  clear(): void {
    for (const [key, value] of this.facts) if (value !== null) this.#set(key, null);
    this.isCleared = true;
    this.own.ops = [{ kind: 'clear', touches: '*', exact: '*' }];
    this.wrote('*');
  }

  /** What bodies that are done have written is in the database by now. */
  flushed(): void {
    const kinds = new Set(this.done.ops.map(({ kind }) => kind));
    if (kinds.has('clear')) this.stored.clear();
    for (const key of this.done.points.keys()) this.stored.set(key, this.facts.get(key) ?? null);
    // What is erased of answers and counters is looked up anew.
    if (kinds.has('erase')) for (const key of this.facts.keys()) if (/^(?:record|counter)\n/.test(key)) this.#forget(key);
    this.done.points.clear();
    this.done.ops = [];
  }

  forgetWanted(): void {
    this.wanted = new Wanted();
  }

  /** What the body has written so far, apart from what others did. */
  takeOwn(): OwnWritten {
    const { points, ops } = this.own;
    return { points, ops, values: new Map([...points.keys()].map((key) => [key, this.facts.get(key)])) };
  }

  #forget(key: string): void {
    this.facts.delete(key);
    this.stored.delete(key);
  }

  #set(key: string, value: unknown): void {
    this.#undo.push([key, this.facts.has(key), this.facts.get(key)]);
    this.facts.set(key, value);
  }

  #ownCount({ concerns }: StoreAsk<unknown>): number {
    let count = this.#ownWrites.get('*') ?? 0;
    for (const concern of concerns) count += this.#ownWrites.get(concern) ?? 0;
    return count;
  }

  #epochsOf({ concerns }: StoreAsk<unknown>): number {
    let sum = this.#epochs.get('*') ?? 0;
    for (const concern of concerns) sum += this.#epochs.get(concern) ?? 0;
    return sum;
  }

  #stop(): never {
    this.isStopped = true;
    throw unanswered;
  }
}
