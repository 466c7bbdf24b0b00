/** A field that rows are sorted by. */
export interface Order {
  readonly field: string;
  readonly descending: boolean;
}

/** Reads `-updated_at`: a leading - turns the order. */
export function readSortWord(word: string): Order {
  return word.startsWith('-') ? { field: word.slice(1), descending: true } : { field: word, descending: false };
}
