import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import { Remembered } from './remembered.ts';

/** How many wrong passwords may come from one address within a window, where the document has no rate for that. */
const failuresMost = 20;
const windowMs = 60_000;
const addressesMost = 8_192;

interface Failures {
  readonly count: number;
  readonly untilMs: number;
}

/** Looks at a password, unless too many from there were wrong lately: `hurried` then. */
export type Throttled = <Good>(
  from: string,
  nowMs: number,
  look: () => PromiseOrValue<Good | undefined>,
) => PromiseOrValue<Good | undefined | 'hurried'>;

/** Slows down who guesses passwords. A document that counts every request of an address sees to it itself. */
export function throttleLogins({ limits }: Spec): Throttled {
  if (
    (statedValue(limits.rate) ?? []).some((rate) => rate.per === 'address' && !rate.on && !rate.to && !rate.if && !rate.uncounted)
  )
    return (_from, _nowMs, look) => look();
  const failed = new Remembered<Failures>(addressesMost);
  return (from, nowMs, look) => {
    const known = failed.get(from);
    const lately = known && known.untilMs > nowMs ? known : { count: 0, untilMs: nowMs + windowMs };
    if (lately.count >= failuresMost) return 'hurried';
    return after(look(), (good) => {
      if (good === undefined) {
        // Others of the same address may have failed meanwhile.
        const now = failed.get(from);
        const current = now && now.untilMs > nowMs ? now : lately;
        failed.set(from, { ...current, count: current.count + 1 });
      }
      return good;
    });
  };
}
