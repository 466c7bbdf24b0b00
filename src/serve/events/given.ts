import type { Store } from '../../store/store.ts';
import type { Chance } from '../clock.ts';
import type { GivenWebhook } from './subscribers.ts';

/** The addresses given at the start, each with a secret that stays the same from start to start. */
export function givenWebhooks(
  given: readonly { readonly url: string; readonly secret?: string }[],
  store: Store,
  chance: Chance,
): GivenWebhook[] {
  return given.map(({ url, secret }) => ({
    url,
    secret: secret ?? store.setting(`webhook secret ${url}`, () => `whsec_${Buffer.from(chance.bytes(32)).toString('base64')}`),
  }));
}
