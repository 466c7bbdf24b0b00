import type { Comparison } from '../comparison.ts';
import type { BrokerKind, StatedBroker } from './broker.ts';
import { cloudevents } from './cloudevents.ts';
import { nats } from './nats.ts';

/** Every kind of broker that events may be published to. */
export const brokerKinds = [nats, cloudevents] as const satisfies readonly [BrokerKind, ...BrokerKind[]];

export type BrokerWord = (typeof brokerKinds)[number]['word'];

const known: readonly (BrokerKind & { readonly word: BrokerWord })[] = brokerKinds;

/** The words that belong to kinds of brokers. */
export const brokerMembers: readonly string[] = known.flatMap(({ members }) => Object.keys(members));

/** The kind of broker of this name; nothing for a word that is none. */
export function brokerKind(word: string | undefined): (BrokerKind & { readonly word: BrokerWord }) | undefined {
  return known.find((kind) => kind.word === word);
}

/** How a later statement of a broker stands to an earlier one. */
export function compareBrokers(
  before: StatedBroker & { readonly word: BrokerWord },
  after: StatedBroker & { readonly word: BrokerWord },
): Comparison {
  return before.word === after.word ? (brokerKind(before.word)?.compare(before, after) ?? 'other') : 'other';
}
