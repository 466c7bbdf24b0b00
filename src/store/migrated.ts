/** A table with rows that nobody asked for. */
export interface StoredTable {
  readonly name: string;
  /** How many rows, where there are at most 100,000. */
  readonly count: number;
}

/** What bringing a store up to a document's tables did. */
export interface Migration {
  /** New tables, as `parcel`, and new columns of tables that were there, as `parcel.weight_g`. */
  readonly added: readonly string[];
  /** How many rows had columns filled. */
  readonly refilled: number;
  /** How many rows became others. */
  readonly renewed: number;
}
