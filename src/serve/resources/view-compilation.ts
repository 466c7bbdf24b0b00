import { basePath } from '../../parts/purpose.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Access, compileAccess } from '../callers/access.ts';
import { type Compilation, startCompilation } from '../exchange/compilation.ts';
import type { StandIn } from './stand-in.ts';

/** What compiling the operations of a document shares, for one view. */
export interface ViewCompilation extends Compilation {
  /** Who may do what. */
  readonly access: Access;
  /** What stands before the paths of the endpoints, with the version where that is in the path. */
  readonly basePath: string;
  /** What fills in what is open, where a stand-in is served. */
  readonly standIn: StandIn | undefined;
}

/** Starts the compiling of a document as everybody sees it; a view has a user and a version besides. */
export function startViewCompilation(spec: Spec, user: string | undefined, standIn: StandIn | undefined): ViewCompilation {
  const compilation = startCompilation(spec, user);
  return {
    ...compilation,
    access: compileAccess(spec, compilation.facts, compilation.prepare),
    basePath: basePath(spec.purpose),
    standIn,
  };
}
