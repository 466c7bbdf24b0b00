/** A pattern as it is put together. A group is what stands in it: what it captures is of no use to who asks whether it is found. */
export type Tree =
  | Point
  | Where
  | { readonly op: 'row'; readonly of: readonly Tree[] }
  | { readonly op: 'either'; readonly ways: readonly Tree[] }
  | { readonly op: 'repeat'; readonly of: Tree; readonly least: number; readonly most: number }
  | { readonly op: 'look'; readonly isAhead: boolean; readonly isWanted: boolean; readonly of: Tree }
  /** The text that a group before it took, again. */
  | { readonly op: 'back' };

/** One character: which it may be, and the same as a set. */
export interface Point {
  readonly op: 'point';
  readonly takes: (point: number) => boolean;
  readonly set: CharacterSet;
}

export interface Where {
  readonly op: 'where';
  readonly where: 'start' | 'end' | 'edge' | 'inside';
}

/** A bit for each character of ASCII, and one for all others together: sets that share no bit share no character. */
export type CharacterSet = bigint;

export const beyondAscii: CharacterSet = 1n << 128n;
export const everything: CharacterSet = (1n << 129n) - 1n;

/** The set of a table of ASCII. */
export function asciiOf(table: Uint8Array): CharacterSet {
  let set = 0n;
  for (let point = 0; point < 128; point++) if (table[point] === 1) set |= 1n << BigInt(point);
  return set;
}
