/** What is done to a whole store: it is brought up to a document's tables, and erased from. */

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

/** The texts of which none may be left in what is kept. */
export function needlesOf({ identifiers, texts }: Pick<Erasure, 'identifiers' | 'texts'>): string[] {
  return [...identifiers.flatMap(standingAlone), ...texts.flatMap(anywhere)];
}

/** The ways in which an identifier stands alone in what is kept: as JSON, as JSON inside JSON, as a line, as a segment of a path. */
function standingAlone(identifier: string): string[] {
  const once = quotedInside(identifier);
  const twice = quotedInside(once);
  return [
    `"${once}"`,
    `\\"${twice}\\"`,
    `\\n${once}"`,
    `\n${identifier}\n`,
    ...['"', '\\"', '/', '?'].map((end) => `/${once}${end}`),
  ];
}

/** A text wherever it stands in what is kept: as it is, in JSON, in JSON inside JSON. */
function anywhere(text: string): string[] {
  return [...new Set([text, quotedInside(text), quotedInside(quotedInside(text))])];
}

/** As it stands inside a text of JSON. */
function quotedInside(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
