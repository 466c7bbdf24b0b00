import { brokerKind } from '../../kinds/deliveries/all-brokers.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';

/** What is wrong with the address of a broker for this document; nothing where events can be published there. */
export function brokerFlaw(spec: Spec, address: string): string | undefined {
  const broker = statedValue(spec.events.delivery)?.broker;
  const kind = brokerKind(broker?.word);
  if (!kind) return 'the document states no broker under `delivery`';
  const url = URL.parse(address);
  if (url && url.hostname !== '' && kind.protocols.includes(url.protocol)) return undefined;
  return `a broker of the kind ${kind.word} has an address that begins with ${kind.protocols.map((one) => `${one}//`).join(' or ')}`;
}

/** What a person should know of a broker that is stated. */
export function brokerNotes(spec: Spec, address: string | undefined): string[] {
  if (!statedValue(spec.events.delivery)?.broker) return [];
  if (address === undefined) return ['Events are published to no broker: none was given (--broker).'];
  const flaw = brokerFlaw(spec, address);
  if (flaw !== undefined) return [`Events are published to no broker: ${flaw}.`];
  return [`Every event is published to the broker at ${URL.parse(address)?.host ?? 'its address'}.`];
}
