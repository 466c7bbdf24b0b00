/** A request as it comes through either door. */
export interface Call {
  readonly method: string;
  /** The raw path, still encoded. */
  readonly path: string;
  /** The raw query without its `?`. */
  readonly query: string;
  /** By lower-case name, as node:http folds them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether a header came more than once; absent where nobody can tell any more. */
  repeats?(name: string): boolean;
  /** The size of the header block in bytes, roughly as sent. */
  readonly headerBytes: number;
  readonly address: string;
  /** Whether it came by a socket that is listened on here. */
  readonly isDirect?: true;
  /** Reads the body, up to a number of bytes; `too large` beyond it. */
  body(bytesMax: number): Promise<Buffer | 'too large'> | Buffer;
  readonly hasBody: boolean;
  /** Whether it can be begun anew, where another document took the place of this one before anything came of it. */
  mayBeginAnew?: boolean;
  /** What was let pass on the way to its operation. */
  readonly warnings?: readonly string[];
}

/** What goes back. Header names are lower-case. */
export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | undefined;
  /** How many bytes the body is, where whoever made it knows: a text that was put together of others need not be gone through again. */
  readonly bodyLength?: number;
  /** In place of a body: one that goes on. */
  readonly stream?: ReplyStream;
  /** How it fails to arrive, where a trial asks for that. */
  readonly broken?: Broken;
}

/** `cut`: the connection ends in place of it. `truncated`: in its middle. `silent`: nothing comes for as long as the client waits. */
export type Broken = 'cut' | 'truncated' | 'silent';

/** A body that is written as it comes, for as long as somebody reads it. */
export interface ReplyStream {
  /** Whether it comes to an end of its own, which is waited for when the service stops; one without an end is ended then. */
  readonly hasEnd?: true;
  start(sink: ReplySink): ReplyReader;
}

/** Where a stream is written to: a door. */
export interface ReplySink {
  /** Takes a piece, and says how many bytes wait to be taken by the client. */
  write(piece: Uint8Array): number;
  /** Whether so much waits that it is better to stop for a while; `drained` is called after it. */
  isFull(): boolean;
  /** Ends the body. */
  end(): void;
  /** Lets go of a client that is too slow. */
  cut(): void;
}

/** What a door tells a stream. */
export interface ReplyReader {
  drained(): void;
  /** The client has gone, or the body has ended. */
  gone(): void;
}

/** A body as it was read. */
export interface BodyRead {
  readonly value: unknown;
  /** A key that came twice, and was let pass. */
  readonly repeated?: string;
  /** Whether its members stood in the query, and that was let pass. */
  readonly isInQuery?: boolean;
  /** Parameters that stood in it. */
  readonly params?: Readonly<Record<string, unknown>>;
}
