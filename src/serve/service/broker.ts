/** Where events go besides subscribers that are rows: a broker, and addresses that were given at the start. */

import { brokerKind } from '../../kinds/deliveries/all-brokers.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookTargets } from '../events/addresses.ts';
import type { GivenWebhook } from '../events/subscribers.ts';
import type { Entropy } from '../http/clock.ts';
import type { ServeOptions } from './service.ts';

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

/** Where webhooks may go that rows ask for. */
export function webhookTargets(options: ServeOptions): WebhookTargets {
  const { allowPrivateWebhooks: allowsPrivate = false, webhookHosts: hosts, httpsWebhooks: isHttpsOnly = false } = options;
  return { allowsPrivate, hosts, isHttpsOnly, refusesPrivate: options.production === true && !allowsPrivate };
}

/** The addresses given at the start, each with a secret that stays the same from start to start. */
export async function givenWebhooks(
  given: readonly { readonly url: string; readonly secret?: string }[],
  store: Store,
  chance: Entropy,
): Promise<GivenWebhook[]> {
  const made = () => `whsec_${Buffer.from(chance.bytes(32)).toString('base64')}`;
  const webhooks: GivenWebhook[] = [];
  for (const { url, secret } of given)
    webhooks.push({ url, secret: secret ?? (await store.setting(`webhook secret ${url}`, made)) });
  return webhooks;
}
