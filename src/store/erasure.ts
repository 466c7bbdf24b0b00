/** What is taken out of a store for good, beside rows: all that tells of somebody, by what it is known by. */
export interface Erasure {
  /** Rows of which nothing is to be told any more. */
  readonly rows: readonly { readonly resource: string; readonly id: string }[];
  /** Identifiers, which count where they stand alone: as a whole text, as a line, or as a segment of an address. */
  readonly identifiers: readonly string[];
  /** Texts that count wherever they stand. */
  readonly texts: readonly string[];
}

/** How much of each went. */
export interface Erased {
  readonly events: number;
  readonly deliveries: number;
  /** Attempts of deliveries that stay, whose answer was taken out. */
  readonly answers: number;
  readonly records: number;
  readonly counters: number;
}
