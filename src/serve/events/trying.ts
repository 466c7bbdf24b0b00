import type { StoredEvent } from '../../store/outbox.ts';
import type { Post, Posted } from './posting.ts';
import type { Subscriber } from './subscribers.ts';

/** Nothing was sent. */
export const nothingCame: Posted = { status: undefined, error: undefined, response: undefined, retryAfter: undefined };

/** What cannot be made fails like what cannot be sent: it is tried again, by then perhaps under another document. */
export function made(make: () => Post | { readonly wrong: string }): Post | { readonly wrong: string } {
  try {
    return make();
  } catch (failure) {
    return { wrong: failure instanceof Error ? failure.message : String(failure) };
  }
}

/** Why a delivery is not tried any more. */
export function whyNot(subscriber: Subscriber | undefined, event: StoredEvent | undefined, isKnown: boolean): string | undefined {
  if (!event) return 'The event is not kept any more.';
  if (!subscriber) return 'The subscriber is gone.';
  if (!subscriber.isEnabled) return 'The subscriber is disabled.';
  return isKnown ? undefined : 'Whoever made the subscriber has no key any more.';
}
