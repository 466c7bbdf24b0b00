import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import type { Reader, Store, Transaction } from '../../src/store/store.ts';

/** What a transaction does instead of what it should; `super`-like: each is given what it would have done. */
export type Bent<T> = {
  readonly [K in keyof T]?: T[K] extends (...given: infer A) => infer R ? (own: (...given: A) => R, ...given: A) => R : never;
};

/** What is wrong with a store. */
export interface StoreFault {
  /** Wrong wherever rows are read, inside changes too. */
  readonly reading?: Bent<Reader>;
  readonly changing?: Bent<Transaction>;
  readonly outbox?: Bent<Transaction['outbox']>;
  readonly store?: Bent<Store>;
}

/** A store in memory that does what it should, but for this. */
export function brokenStore({ reading = {}, changing = {}, outbox = {}, store = {} }: StoreFault): Store {
  const sound = openSqlite(':memory:');
  const readerOf = <T extends Reader>(rows: T, more: object): T =>
    bent(rows, { ...reading, ...more }, { outbox: bent(rows.outbox, outbox) });
  return bent(sound, {
    // The casts hold: what is handed to a body is what the store would have handed to it, bent.
    read: (_own: unknown, body: (rows: Reader) => unknown) => sound.read((rows) => body(readerOf(rows, {}))),
    change: (_own: unknown, body: (rows: Transaction) => unknown) => sound.change((rows) => body(readerOf(rows, changing))),
    ...store,
  });
}

/** The same thing, with some of its methods doing something else and some of its members replaced. */
function bent<T extends object>(thing: T, methods: object, members: object = {}): T {
  return new Proxy(thing, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const own: unknown = Reflect.get(target, name, target);
      if (typeof own !== 'function') return own;
      const real = (...given: unknown[]): unknown => Reflect.apply(own, target, given);
      const other: unknown = Object.hasOwn(methods, name) ? Reflect.get(methods, name) : undefined;
      return typeof other === 'function' ? (...given: unknown[]) => Reflect.apply(other, undefined, [real, ...given]) : real;
    },
  });
}
