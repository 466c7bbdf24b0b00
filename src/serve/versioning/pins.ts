import type { Store } from '../../store/store.ts';
import { after, type PromiseOrValue } from '../after.ts';
import type { Caller } from '../exchange.ts';

/** The version of each key's first call. */
export interface Pins {
  /** The version that a caller is pinned to; its first call pins it to the one that this call is made in. */
  of(caller: Caller, version: string): PromiseOrValue<string>;
}

/** How many pins are remembered; the others are looked up. */
const rememberedMost = 10_000;

/** Opens the pins of a store: each is written once and outlives a restart. */
export function openPins(store: Store): Pins {
  const remembered = new Map<string, string>();
  return {
    of({ user, id, key }, version) {
      const name = `version pin\n${JSON.stringify([user, id, key ?? null])}`;
      const known = remembered.get(name);
      if (known !== undefined) return known;
      return after(
        store.setting(name, () => version),
        (pinned) => {
          if (remembered.size >= rememberedMost) remembered.delete(remembered.keys().next().value as string);
          remembered.set(name, pinned);
          return pinned;
        },
      );
    },
  };
}
