import type { Store } from '../../store/store.ts';
import type { GivenWebhook } from '../events/subscribers.ts';
import type { WebhookTargets } from '../events/targets.ts';
import type { Entropy } from '../http/clock.ts';
import type { ServeOptions } from './service.ts';

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
