import type { Engine } from './engine.ts';
import type { Seen } from './exchange.ts';

/** Who is looking, at which version: plans are compiled for each view, when its first request comes. */
export interface View extends Seen {
  /** The engine as this view sees it: its compilation knows the user. */
  readonly engine: Engine;
}

export interface Views {
  of(user: string | undefined, version: string | undefined): View;
}

export function startViews(engine: Engine): Views {
  const known = new Map<string, View>();
  return {
    of(user, version) {
      const key = `${user ?? ''}\n${version ?? ''}`;
      const found = known.get(key);
      if (found) return found;
      const view = {
        index: known.size,
        user,
        version,
        onFailure: engine.onFailure,
        engine: { ...engine, compilation: { ...engine.compilation, user } },
      };
      known.set(key, view);
      return view;
    },
  };
}
