/** One event as it is told over a connection that stays open. */
export interface StreamedEvent {
  readonly id: string;
  /** Its kind. */
  readonly event: string;
  /** What it says, as JSON text on one line. */
  readonly data: string;
}

/** Reads what comes over such a connection, piece by piece. */
export interface StreamReader {
  /** The events that this piece completes. */
  push(text: string): StreamedEvent[];
  /** How many pieces came that say nothing but that somebody is there. */
  readonly comments: number;
}

/** How events are written one after another over a connection that stays open: a word that may stand as a stream's `format`. */
export interface StreamKind {
  readonly word: string;
  readonly meaning: string;
  /** What an answer of it says it is (RFC 9110 section 8.3). */
  readonly mediaType: string;
  /** The header field in which a reader names the last event that it has heard. */
  readonly resumeHeader: string;
  /** An event as it goes out. */
  write(told: StreamedEvent): string;
  /** What goes out now and then, so that the connection does not look dead. */
  readonly comment: string;
  /** Reads it as a stranger does: it shares no code with `write`. */
  reader(): StreamReader;
  /** What nearly is such a stream: each tells no event, or another one. */
  nearMisses(told: StreamedEvent): readonly { readonly how: string; readonly text: string }[];
}
