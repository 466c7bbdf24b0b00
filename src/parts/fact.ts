import type { Pointer } from '../document/document.ts';

/** How a fact stands: promised, promised absent, left to the implementation, not decided, or read off by a tool. */
export type Standing = 'stated' | 'none' | 'any' | 'inferred' | 'open';

export interface Stated<T> {
  readonly standing: 'stated' | 'inferred';
  readonly value: T;
  readonly at: Pointer;
}

export interface Unstated {
  readonly standing: 'none' | 'any' | 'open';
  readonly at: Pointer;
  /** The question that an open fact asks, where its author wrote one. */
  readonly question?: string;
}

/** One fact of the interface and how it stands. What is absent from the document is open at the place where it would stand. */
export type Fact<T> = Stated<T> | Unstated;

/** A CEL expression as written; `at` is its place. */
export interface Expression {
  readonly source: string;
  readonly at: Pointer;
  /** The expressions that it is made of, where a map or a list of them is written: by member, or by place. */
  readonly parts?: Named<Expression>;
}

/** A map from words of the document; it has no prototype. */
export type Named<T> = Readonly<Record<string, T>>;

/** Narrows a fact to one that has a value. */
export function isStated<T>(fact: Fact<T>): fact is Stated<T> {
  return fact.standing === 'stated' || fact.standing === 'inferred';
}

/** The value of a stated or inferred fact; nothing for none, any and open, and where there is no fact. */
export function statedValue<T>(fact: Fact<T> | undefined): T | undefined {
  return fact && isStated(fact) ? fact.value : undefined;
}

/** The stated map, or an empty one. */
export function entriesOf<T>(fact: Fact<Named<T>> | undefined): readonly [string, T][] {
  if (!fact || !isStated(fact)) return [];
  // A fact never changes, and the large maps are gone through once for each of their entries.
  const known = entries.get(fact.value);
  // What is kept under a map are the entries of that very map.
  if (known) return known as [string, T][];
  const listed = Object.entries(fact.value);
  entries.set(fact.value, listed);
  return listed;
}

const entries = new WeakMap<Named<unknown>, readonly [string, unknown][]>();

/** One entry of a stated map. */
export function entryOf<T>(fact: Fact<Named<T>> | undefined, name: string): T | undefined {
  return fact && isStated(fact) ? fact.value[name] : undefined;
}
