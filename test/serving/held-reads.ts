import type { Reader, Store } from '../../src/store/store.ts';

/** Reads of a store that answer later, as those of an engine on another machine do. */
export interface HeldReads {
  /** From now on a read looks at once and its answer waits, or it waits before it looks. */
  hold(what: 'answers' | 'looks'): void;
  /** Lets everything go that waits, and holds no more. */
  release(): void;
}

/** Takes the reads of a store in hand. */
export function heldReads(store: Store): HeldReads {
  const read = store.read.bind(store);
  let gate: PromiseWithResolvers<void> | undefined;
  let held: 'answers' | 'looks' = 'answers';
  store.read = <T>(body: (reader: Reader) => T): T | Promise<T> => {
    if (gate === undefined) return read(body);
    if (held === 'looks') return gate.promise.then(() => read(body));
    const found = read(body);
    return gate.promise.then(() => found);
  };
  return {
    hold(what) {
      held = what;
      gate ??= Promise.withResolvers();
    },
    release() {
      gate?.resolve();
      gate = undefined;
    },
  };
}
