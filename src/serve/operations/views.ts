import type { View } from '../exchange/exchange.ts';
import { pathOf } from '../exchange/versions.ts';
import type { Engine } from './engine.ts';

/** The views of a service, each made when its first request comes. */
export interface Views {
  of(user: string | undefined, version: string | undefined): View;
  /** The engine as a view sees it: its compilation knows the user and the version, its base path what chooses the version. */
  engineOf(view: View): Engine;
}

export function startViews(engine: Engine): Views {
  const known = new Map<string, View>();
  const engines: Engine[] = [];
  // A request is seen as nobody's first, and then as its caller's.
  let lastOfNobody: View | undefined;
  let last: View | undefined;

  function viewOf(user: string | undefined, version: string | undefined): View {
    const key = `${user ?? ''}\n${version ?? ''}`;
    const found = known.get(key);
    if (found) return found;
    const view = { index: known.size, user, version };
    known.set(key, view);
    engines[view.index] = seenBy(engine, view);
    return view;
  }

  return {
    of(user, version) {
      const near = user === undefined ? lastOfNobody : last;
      if (near && near.user === user && near.version === version) return near;
      const view = viewOf(user, version);
      if (user === undefined) lastOfNobody = view;
      else last = view;
      return view;
    },
    engineOf: ({ index }) => engines[index] as Engine,
  };
}

function seenBy(engine: Engine, { user, version }: View): Engine {
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
