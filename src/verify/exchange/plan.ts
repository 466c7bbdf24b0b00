import type { Endpoint } from '../../parts/endpoints.ts';
import type { TrialCaller } from './callers.ts';
import type { Symbolic } from './symbol.ts';

/** A request that is to be sent, with values in it that only a run knows. `Model.request` begins one for an endpoint. */
export interface RequestPlan {
  readonly method: string;
  /** The path's template from the prefix on, and the values for it. A template without braces is sent as it is. */
  readonly template: string;
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly query: Readonly<Record<string, Symbolic>>;
  readonly headers: Readonly<Record<string, Symbolic>>;
  readonly body?: SentBody;
  readonly caller?: TrialCaller;
  readonly endpoint?: Endpoint;
  /** The address, where it is not that of the service under the prefix of its version. */
  readonly prefix?: string;
  /** How long is waited before it is sent, in milliseconds. */
  readonly afterMs?: number;
  /** Whether it says what it means only as a whole, such as one page of many, and is not made smaller. */
  readonly isWhole?: boolean;
}

/** What is sent: a value in a media type, which may go unsaid, or a text as it is, of a length that is told or in chunks (RFC 9112 section 7.1), in UTF-8 or otherwise. */
export type SentBody =
  | { readonly value: Symbolic; readonly type: string; readonly isUntold?: true }
  | { readonly text: string; readonly type?: string | undefined; readonly isChunked?: true; readonly octets?: 'latin1' };
