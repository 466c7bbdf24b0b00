import type { JsonMap } from '../document/document.ts';
import type { Endpoint } from '../parts/endpoints.ts';
import type { ErrorCondition } from '../parts/errors.ts';
import type { Operation } from '../parts/operations.ts';
import type { Counted } from './limits/counted.ts';
import type { Deadline } from './limits/deadline.ts';
import type { OpenFact } from './open.ts';
import type { Violation } from './wire/violation.ts';

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
  /** Reads the body, up to a number of bytes; `too large` beyond it. */
  body(bytesMax: number): Promise<Buffer | 'too large'> | Buffer;
  readonly hasBody: boolean;
  /** What the rates have made of it so far. */
  counted?: Counted;
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
}

/** A body that is written as it comes, for as long as somebody reads it. */
export interface ReplyStream {
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

/** Who is asking. */
export interface Caller {
  readonly id: string;
  readonly user: string;
  readonly scopes: readonly string[];
  readonly claims?: JsonMap;
  readonly key?: string;
}

/** Why a request is not carried out, before it has a shape. */
export interface Refusal {
  readonly when?: ErrorCondition;
  /** The service's own code, where another part names one. */
  readonly code?: string;
  readonly message?: string;
  readonly violations?: readonly Violation[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Open facts that this exchange would need: 501. */
  readonly open?: readonly OpenFact[];
  /** Something that this service cannot do: 501 with a type of its own. */
  readonly unsupported?: { readonly type: string; readonly detail: string };
  /** A status that HTTP gives to a case of the condition: 414, 431. */
  readonly status?: number;
  /** Whether the violations speak in the words of the request's version already. */
  readonly inVersion?: true;
}

/** Thrown inside a change so that it is undone; caught where the change was asked for. */
export class Refused {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    this.refusal = refusal;
  }
}

/** A JSON value while it is being worked on: it may hold integers beyond 2^53 as bigint. */
export type Value = unknown;
export type Fields = Record<string, Value>;

/** What an exchange tells of the plan that it goes by. */
export interface Meant {
  readonly endpoint: Endpoint;
  readonly operation: Operation;
  readonly refusals: { answer(refusal: Refusal, request: RefusedRequest): Reply };
  /** Tells a refusal in the words of the request's version. */
  readonly lower?: ((refusal: Refusal, exchange: Exchange) => Refusal) | undefined;
}

/** What a refusal's payload may speak of besides the refusal. */
export interface RefusedRequest {
  readonly path: string;
  readonly requestId: string;
  readonly caller: Caller | undefined;
  /** Whether prose of open facts may be told: not to unknown callers where schemes are stated. */
  readonly tellsProse: boolean;
}

/** Who is looking, at which version: plans are compiled for each view, when its first request comes. */
export interface Seen {
  /** A small number, so that what is compiled for a view is found by index. */
  readonly index: number;
  readonly user: string | undefined;
  readonly version: string | undefined;
  readonly onFailure: (failure: unknown, requestId: string) => void;
}

/** A body in the words of an older version, and what is wrong with it there. */
export interface OlderRequest {
  readonly body: Value;
  readonly violations: readonly Violation[];
}

/** One request on its way through the nine parts. */
export interface Exchange {
  readonly call: Call;
  readonly plan: Meant;
  caller: Caller | undefined;
  /** Which plans are meant: those of this user and version. */
  view: Seen;
  pathParams: Readonly<Record<string, string>>;
  readonly nowMs: number;
  /** All parameters by name, once read. */
  params: Readonly<Record<string, Value>>;
  /** The body's value, once read. */
  request: Value;
  /** The body as its older version has it, where the newest has it otherwise. */
  older: OlderRequest | undefined;
  /** The bytes of the body, for fingerprints. */
  bytes: Buffer | undefined;
  /** The identifier of this request, made when it is first asked for. */
  requestId(): string;
  /** What it was refused with, for the log. */
  refusedWith: Refusal | undefined;
  /** Facts that were taken as they came, under `--open accept`. */
  accepted: OpenFact[] | undefined;
  /** What a stand-in made up in the answer. */
  sampled: readonly string[] | undefined;
  /** What was let pass although the document says otherwise. */
  warnings: readonly string[] | undefined;
  /** The time that it has, where that is stated. */
  deadline: Deadline | undefined;
}
