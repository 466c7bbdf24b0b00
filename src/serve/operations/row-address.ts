import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { pathWays } from '../../parts/path-keys.ts';
import { identifierParameter, namesRow } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Reader } from '../../store/store.ts';
import type { Fields } from '../exchange/exchange.ts';
import { valueAlong } from '../exchange/way.ts';
import type { Work } from '../resources/act.ts';
import { follower } from '../resources/follower.ts';
import type { RowModel } from '../resources/model.ts';
import type { Engine } from './engine.ts';

/** Compiles the address of a row below the host: the path of the endpoint that reads it by its path, where there is one. Nothing where the row does not fill it. */
export function compileAddress(
  model: RowModel,
  { compilation: { spec }, basePath, models }: Engine,
): ((work: Pick<Work<Reader>, 'rows'>, fields: Fields) => string | undefined) | undefined {
  const reader = readerOf(spec, model.name);
  if (!reader) return undefined;
  // Texts and the names of parameters in turn: `/books/`, `id`, ``.
  const pieces = reader.path.replace(/[?#].*$/, '').split(/\{([^{}]+)\}/);
  const ways = pathWays(spec, reader, identifierParameter(reader));
  return ({ rows }, fields) => {
    let filled = basePath;
    for (const [index, piece] of pieces.entries()) {
      if (index % 2 === 0) {
        filled += piece;
        continue;
      }
      const way = ways.get(piece);
      const [first, ...more] = way ?? [];
      // Nothing is followed for what the row itself has.
      const value = way && more.length > 0 ? valueAlong(way, fields, follower(rows, models)) : first && fields[first.field];
      if (value === undefined || value === null || typeof value === 'object') return undefined;
      filled += encodeURIComponent(String(value));
    }
    return filled;
  };
}

/** The first endpoint that reads a row of a resource by its path. */
function readerOf(spec: Spec, resource: string): Endpoint | undefined {
  return entriesOf(spec.endpoints.all)
    .map(([, endpoint]) => endpoint)
    .find((endpoint) => {
      const effect = statedValue(endpoint.does);
      return effect?.verb === 'read' && effect.resource === resource && namesRow(endpoint);
    });
}
