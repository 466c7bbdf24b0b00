/** What a generator may draw on: the time and chance that it is handed. */
export interface Draw {
  readonly nowMs: number;
  bytes(length: number): Uint8Array;
  uuid(): string;
  /** Forty bits by chance that rise within a millisecond, where whoever hands it can tell what came before. */
  rising?(): number | undefined;
  /** The next number, where something is counted. */
  count?(): number;
  /** What another field of the same row holds, where there is one. */
  field?(name: string): string;
}

/** What a document of others says of a text. */
export interface TextShape {
  readonly format: unknown;
  readonly pattern: unknown;
}

export interface Recognised {
  /** The template that makes such texts. */
  readonly template: string;
  /** A text that it makes, which has to fit whatever else is said; none where nothing else can be. */
  readonly sample?: string;
  readonly confidence: number;
}

/** One way of making an identifier or a secret: the word in a template, `{ulid}` or `{random:24}`. */
export interface Generator {
  readonly word: string;
  readonly meaning: string;
  /** Whether the word takes a length, as `{random:24}` does; an optional one is 1 where none is said. */
  readonly takesLength: boolean | 'optional';
  /** Whether it counts, and so can be made for a row alone. */
  readonly counts?: true;
  /** Whether it may be said which characters it draws on, as in `{random:8:A-Z0-9}`. */
  readonly takesAlphabet?: true;
  make(draw: Draw, length: number, alphabet?: string): string;
  /** What it makes, as a regular expression without anchors. */
  pattern(length: number, alphabet?: string): string;
  /** Whether it draws on letters of both cases, so that a text in the other case is another one. */
  readonly mixesCases: boolean;
  /** How an identifier of this shape, in a document that does not say so, is most likely made; nothing where not by this. */
  recognise?(shape: TextShape): Recognised | undefined;
}
