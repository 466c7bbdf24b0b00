import type { Engine } from './engine.ts';

/** Who is looking, at which version: plans are compiled for each view, when its first request comes. */
export interface View {
  /** A small number, so that what is compiled for a view is found by index. */
  readonly index: number;
  readonly user: string | undefined;
  readonly version: string | undefined;
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
      const view = { index: known.size, user, version, engine: { ...engine, compilation: { ...engine.compilation, user } } };
      known.set(key, view);
      return view;
    },
  };
}
