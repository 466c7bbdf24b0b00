import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { TrialCaller } from './callers.ts';

/** One request and its answer, or the trouble that came instead: then the status is 0. */
export interface TrialExchange {
  /** The endpoint that was meant, where it was a stated one. */
  readonly endpoint?: Endpoint;
  /** Who sent it; absent = nobody, without a credential. */
  readonly caller?: TrialCaller;
  readonly sent: Sent;
  readonly status: number;
  /** By names in lower case; several of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; nothing where it is none. Integers past 2^53 lose digits here; `text` has them. */
  readonly body: Json | undefined;
  /** The clock of the service when it was sent and when the answer had come, in milliseconds, as far as it is known. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly trouble?: Trouble;
  /** Whether a row that it may show was made by another run, which will not be there when this one is replayed. */
  readonly isOthers?: ((resource: string, id: Json) => boolean) | undefined;
}

/** A request as it went out. */
export interface Sent {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The values of the path's parameters. */
  readonly path: Readonly<Record<string, Json>>;
  /** The query parameters as they were meant, before they were written. */
  readonly query: Readonly<Record<string, Json>>;
  /** The body as JSON, where it was sent as JSON or a form. */
  readonly json?: Json;
  readonly text?: string;
  /** The header fields that sign it, which are others each time. */
  readonly signed?: readonly string[];
}

/** What came instead of an answer. */
export interface Trouble {
  readonly kind: 'refused' | 'broken off' | 'timed out' | 'garbage' | 'too large';
  readonly message: string;
}

export function isExchange(value: unknown): value is TrialExchange {
  return typeof value === 'object' && value !== null && 'sent' in value && 'status' in value;
}

/** Whether the service did what was asked. */
export function isDone({ status }: TrialExchange): boolean {
  return status >= 200 && status < 300;
}

/** The body, where it is a map. */
export function bodyFields(exchange: Pick<TrialExchange, 'body'>): Readonly<Record<string, Json>> | undefined {
  const { body } = exchange;
  // The cast holds: what is an object and no list is a map.
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Readonly<Record<string, Json>>) : undefined;
}

/** What an answer says, cut to a line. */
export function briefly({ text, trouble }: TrialExchange): string {
  const said = trouble?.message ?? text;
  return said === '' ? '' : `: ${said.length > 160 ? `${said.slice(0, 160)}…` : said}`;
}
