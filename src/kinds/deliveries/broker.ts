import type { Comparison } from '../comparison.ts';
import type { Members, Problem } from '../member.ts';
import type { ChannelWords } from './kind.ts';

/** The values of the words that belong to kinds of brokers, as they are written. */
export interface StatedBroker {
  readonly own: Readonly<Record<string, unknown>>;
}

/** An event as it is to be published. */
export interface PublishedEvent {
  readonly id: string;
  readonly kind: string;
  /** When it happened (RFC 3339). */
  readonly at: string;
  /** The row that it is about, `parcel/pcl_1`; nothing where it is about none. */
  readonly row: string | undefined;
  /** What it carries, as JSON text. */
  readonly payload: string;
  /** The same in the envelope of the service, as JSON text. */
  readonly enveloped: string;
}

/** What a broker is given. */
export interface BrokerMessage {
  /** Where it goes inside the broker; nothing where the address alone says it. */
  readonly subject: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A message as a description of it says: the schema of what it carries is given, and what stands around that by the service. */
export interface DescribedMessage {
  readonly contentType: string;
  /** The schema of what is published; nothing where it is what the service tells everybody. */
  readonly payload: Readonly<Record<string, unknown>> | undefined;
  /** Each header field with what it says. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Events are published to a broker, whose address whoever runs the service knows: a word that may stand as the `kind` of `broker`. Each event is
 * published at least once, under its identifier, those of one row one after the other.
 */
export interface BrokerKind {
  readonly word: string;
  readonly meaning: string;
  /** How it is spoken to. */
  readonly transport: 'jetstream' | 'http';
  /** What its address begins with. */
  readonly protocols: readonly string[];
  /** The words beside `kind` that belong to it. */
  readonly members: Members;
  /** What is wrong with how it is stated, beyond the form of its members. */
  problems(stated: StatedBroker): readonly Problem[];
  /** What is published of an event. */
  message(stated: StatedBroker, event: PublishedEvent): BrokerMessage;
  /** How AsyncAPI speaks of it: its protocol, where messages go, `{kind}` standing for the kind of event, and the bindings of the operation. */
  readonly channel: ChannelWords & {
    readonly protocol: string;
    readonly bindings: Readonly<Record<string, Readonly<Record<string, string>>>>;
    address(stated: StatedBroker): string | null;
  };
  /** What a message of a kind of event is, as a schema says it. */
  describes(stated: StatedBroker, kind: string, data: Readonly<Record<string, unknown>>): DescribedMessage;
  /** How a later statement stands to an earlier one, for those who listen. */
  compare(before: StatedBroker, after: StatedBroker): Comparison;
}
