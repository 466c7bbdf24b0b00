import type { Store } from '../../store/store.ts';
import type { Chance } from '../clock.ts';
import type { GivenWebhook } from './subscribers.ts';

/** The addresses given at the start, each with a secret that stays the same from start to start. */
export async function givenWebhooks(
  given: readonly { readonly url: string; readonly secret?: string }[],
  store: Store,
  chance: Chance,
): Promise<GivenWebhook[]> {
  const made = () => `whsec_${Buffer.from(chance.bytes(32)).toString('base64')}`;
  const webhooks: GivenWebhook[] = [];
  for (const { url, secret } of given)
    webhooks.push({ url, secret: secret ?? (await store.setting(`webhook secret ${url}`, made)) });
  return webhooks;
}
