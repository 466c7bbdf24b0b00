import type { Endpoint } from './endpoints.ts';
import { entriesOf, isStated, statedValue } from './fact.ts';
import { pathWays, type WayStep } from './path-keys.ts';
import { identifierParameter, namesRow } from './payload.ts';
import type { Spec } from './spec.ts';
import { currentVersion, versionedPath } from './versioning.ts';

/** The endpoints that read a row of a resource by their path, in the order of the document. */
export function readersOf(spec: Spec, resource: string): Endpoint[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    return effect?.verb === 'read' && effect.resource === resource && namesRow(endpoint) ? [endpoint] : [];
  });
}

/** A piece of a path: a text, or the way from the row to the value of a parameter; nothing where none of the row leads to it. */
export type PathPiece = string | { readonly parameter: string; readonly way: readonly WayStep[] | undefined };

/** The path of an endpoint that is about one row, in pieces. */
export function pathPieces(spec: Spec, endpoint: Endpoint): PathPiece[] {
  const ways = pathWays(spec, endpoint, identifierParameter(endpoint));
  // Texts and the names of parameters in turn: `/books/`, `id`, ``.
  const pieces = endpoint.path.replace(/[?#].*$/, '').split(/\{([^{}]+)\}/);
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : { parameter: piece, way: ways.get(piece) }));
}

/** What stands before the paths of a service, seen from outside: its first base address, with the current version where that is in the path. */
export function linkBase(spec: Spec): string {
  const [url = ''] = statedValue(spec.purpose.baseUrls) ?? [];
  const base = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const select = isStated(spec.versioning.select) ? spec.versioning.select.value : undefined;
  const current = currentVersion(spec.versioning);
  return select?.by === 'path' && current !== undefined ? base + versionedPath(select.carrier, current) : base;
}
