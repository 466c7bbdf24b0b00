import type { Engine } from './engine.ts';
import type { Seen } from './exchange.ts';
import { pathOf } from './versioning/selection.ts';

/** Who is looking, at which version: plans are compiled for each view, when its first request comes. */
export interface View extends Seen {
  /** The engine as this view sees it: its compilation knows the user and the version, its base path what chooses the version. */
  readonly engine: Engine;
}

export interface Views {
  of(user: string | undefined, version: string | undefined): View;
}

export function startViews(engine: Engine): Views {
  const known = new Map<string, View>();
  let last: View | undefined;
  return {
    of(user, version) {
      if (last && last.user === user && last.version === version) return last;
      last = viewOf(user, version);
      return last;
    },
  };

  function viewOf(user: string | undefined, version: string | undefined): View {
    const key = `${user ?? ''}\n${version ?? ''}`;
    const found = known.get(key);
    if (found) return found;
    const view = {
      index: known.size,
      user,
      version,
      onFailure: engine.onFailure,
      engine: seenBy(engine, user, version),
    };
    known.set(key, view);
    return view;
  }
}

function seenBy(engine: Engine, user: string | undefined, version: string | undefined): Engine {
  const { versions, basePath, compilation } = engine;
  const select = versions?.selection;
  const isInPath = version !== undefined && select?.by === 'path';
  const older = version === undefined ? undefined : versions?.older(version);
  return {
    ...engine,
    basePath: isInPath ? basePath + pathOf(select.carrier, version) : basePath,
    compilation: { ...compilation, user, version: older },
  };
}
