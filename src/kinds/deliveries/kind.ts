import type { Json } from '../../document/document.ts';
import type { Comparison } from '../comparison.ts';
import type { Problem } from '../member.ts';

/** How AsyncAPI speaks of a way of delivery: a channel and the operation that sends over it. */
export interface ChannelWords {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly operation: string;
  readonly summary: string;
}

/** What is stated of a push, as far as its kind has to know. */
export interface StatedPush {
  /** The waits between tries. */
  readonly retryMs: readonly number[];
  readonly timeoutMs?: number | undefined;
  readonly disableAfterMs?: number | undefined;
  readonly order?: 'any' | undefined;
}

/** One event as it came to whoever subscribed. */
export interface PushedEvent {
  readonly method: string;
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Events are sent, each with a request to the address of everybody who has subscribed. */
export interface PushKind {
  readonly manner: 'push';
  readonly word: string;
  readonly meaning: string;
  /** What several of its deliveries are called: `web hooks`. */
  readonly noun: string;
  /** The method of the request (RFC 9110 section 9). */
  readonly method: string;
  /** What a request says that it carries (RFC 9110 section 8.3). */
  readonly mediaType: string;
  /** The body of a request that carries an event, of the event's JSON; absent = the JSON as it is. */
  write?(json: string): string;
  /** The event in a body that came; nothing where there is none. Absent = the body is its JSON. It shares no code with what writes. */
  read?(body: string): Json | undefined;
  /** The waits between tries, and how long a try may take, where a document does not say. */
  readonly usual: { readonly retryMs: readonly number[]; readonly timeoutMs: number };
  /** What an answer of this status says: it was taken, it is to be tried again, or there is nobody any more. */
  verdict(status: number): 'accepted' | 'again' | 'gone';
  /** What is wrong with the request of a delivery that came, apart from what it carries; it shares no code with what sends. */
  flaw(came: PushedEvent): { readonly promised: string; readonly seen: string } | undefined;
  /** What nearly is such a request: of each, something is wrong. */
  readonly nearMisses: readonly { readonly how: string; readonly came: PushedEvent }[];
  readonly channel: ChannelWords;
  /** How a later statement stands to an earlier one, for those who receive. */
  compare(before: StatedPush, after: StatedPush): Comparison;
}

/** What is stated of a pull, as far as its kind has to know. */
export interface StatedPull {
  readonly method: string;
  readonly path: string;
  /** How long what was told is kept. */
  readonly keepMs?: number | undefined;
}

/** Events are told over a connection that whoever listens has opened, by an operation of the service. */
export interface PullKind {
  readonly manner: 'pull';
  readonly word: string;
  readonly meaning: string;
  /** What it is called where a sentence begins: `The stream of events`. */
  readonly noun: string;
  /** The operation that opens it, as other parts speak of it. */
  readonly operation: string;
  /** Its method where only a path is written. */
  readonly method: string;
  /** What is wrong with where it is stated to be. */
  problems(stated: StatedPull): readonly Problem[];
  /** How long what was told is kept where a document does not say. */
  readonly usualKeepMs: number;
  /** How often something goes out that tells that somebody is there. */
  readonly beatMs: number;
  /** What an answer of it has in its head besides its media type. */
  readonly headers: Readonly<Record<string, string>>;
  readonly channel: ChannelWords;
  /** How a later statement stands to an earlier one, for those who listen. */
  compare(before: StatedPull, after: StatedPull): Comparison;
}

/** How events reach whoever listens: a word that may stand under `delivery`. What is stated beside it, its manner says. */
export type DeliveryKind = PushKind | PullKind;
