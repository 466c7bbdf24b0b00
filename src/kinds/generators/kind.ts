/** What a generator may draw on: the time and chance that it is handed. */
export interface Draw {
  readonly nowMs: number;
  bytes(length: number): Uint8Array;
  uuid(): string;
}

/** One way of making an identifier or a secret: the word in a template, `{ulid}` or `{random:24}`. */
export interface Generator {
  readonly word: string;
  readonly meaning: string;
  /** Whether the word takes a length, as `{random:24}` does. */
  readonly takesLength: boolean;
  make(draw: Draw, length: number): string;
  /** What it makes, as a regular expression without anchors. */
  pattern(length: number): string;
}
