import type { Reader, Store, Transaction } from '../../src/store/store.ts';

/** What a reluctant store has done so far. */
export interface Reluctance {
  /** Bodies that were run, taken back or thrown away, and run again. */
  readonly again: number;
  /** Of those, the ones that were stopped by an exception somewhere on their first way. */
  readonly stopped: number;
  /** Answers that had to be waited for. */
  readonly later: number;
}

/**
 * A store that does all that the contract allows an engine that waits: what may be answered later is, after a turn of
 * the microtasks or of the event loop, and each body is run twice: first to its end or until an exception stops it at one of its
 * calls, with all that it wrote undone, and then once more, which counts. What is drawn follows from the seed.
 */
export function reluctant(store: Store, seed = 1): Store & { readonly reluctance: Reluctance } {
  const draw = chanceOf(seed);
  const done = { again: 0, stopped: 0, later: 0 };
  const underWay = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  async function pause(): Promise<void> {
    done.later += 1;
    if (draw() < 0.5) await null;
    else await new Promise<void>((resolve) => setImmediate(resolve));
  }

  function counted<T>(work: () => Promise<T>): Promise<T> {
    if (closed) return Promise.reject(new Error('the store is closed'));
    const promise = work();
    underWay.add(promise);
    const over = () => underWay.delete(promise);
    promise.then(over, over);
    return promise;
  }

  function later<T>(answer: () => T | Promise<T>): Promise<T> {
    return counted(async () => {
      await pause();
      return answer();
    });
  }

  /** Nothing of a first run is kept: neither what it returns nor what it throws. */
  function tryOut<R extends Reader>(body: (rows: R) => unknown, rows: R): void {
    done.again += 1;
    const stopAt = draw() < 0.5 ? 1 + Math.floor(draw() * 6) : Number.POSITIVE_INFINITY;
    try {
      const made: unknown = body(stopping(rows, stopAt));
      if (made instanceof Promise) made.catch(() => {});
    } catch (failure) {
      if (failure instanceof Stopped) done.stopped += 1;
    }
  }

  return {
    reluctance: done,
    prepare: (tables, columnsOf, renewal) => later(() => store.prepare(tables, columnsOf, renewal)),
    tablesBeside: (known) => later(() => store.tablesBeside(known)),
    copyTo: (path) => later(() => store.copyTo(path)),
    timers: (most, search) => later(() => store.timers(most, search)),
    due: (nowMs, most) => later(() => store.due(nowMs, most)),
    nextDue: () => later(() => store.nextDue()),
    setting: (name, make) => later(() => store.setting(name, make)),
    compact: () => later(() => store.compact()),
    read: (body, goesOn) =>
      counted(async () => {
        await pause();
        await store.read((rows) => tryOut(body, rows), goesOn);
        await pause();
        return store.read(body, goesOn);
      }),
    change: (body) =>
      counted(async () => {
        await store
          .change((rows) => {
            tryOut<Transaction>(body, rows);
            throw new Undone();
          })
          .catch(() => {});
        const made = await store.change(body);
        await pause();
        return made;
      }),
    close() {
      closed ??= Promise.allSettled([...underWay]).then(() => store.close());
      return closed;
    },
  };
}

/** Takes back what a first run wrote. */
class Undone {}

/** Stops a body, as an engine does that has to fetch something first. */
class Stopped {}

/** The same rows, of which the call of this number and all later ones are not answered. */
function stopping<R extends object>(rows: R, stopAt: number): R {
  let calls = 0;
  const over = (thing: object): object =>
    new Proxy(thing, {
      get(target, name) {
        const own: unknown = Reflect.get(target, name, target);
        if (typeof own === 'object' && own !== null) return over(own);
        if (typeof own !== 'function') return own;
        return (...given: unknown[]) => {
          calls += 1;
          if (calls >= stopAt) throw new Stopped();
          return Reflect.apply(own, target, given);
        };
      },
    });
  // It has every member of `rows`, with its type.
  return over(rows) as R;
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
