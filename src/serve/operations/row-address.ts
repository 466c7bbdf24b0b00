import type { Endpoint } from '../../parts/endpoints.ts';
import { pathPieces, readersOf } from '../../parts/row-address.ts';
import type { Reader } from '../../store/store.ts';
import type { Fields } from '../exchange/exchange.ts';
import { valueAlong } from '../exchange/way.ts';
import type { Work } from '../resources/act.ts';
import { follower } from '../resources/follower.ts';
import type { RowModel } from '../resources/model.ts';
import type { Engine } from './engine.ts';

/** Compiles the address of a row below the host: the path of the endpoint that reads it by its path, where there is one. Nothing where the row does not fill it. */
export function compileAddress(model: RowModel, engine: Engine): RowAddress | undefined {
  const [reader] = readersOf(engine.compilation.spec, model.name);
  return reader && compilePath(reader, engine);
}

/** The address of a row below the host; nothing where the row does not fill it. */
export type RowAddress = (work: Pick<Work<Reader>, 'rows'>, fields: Fields) => string | undefined;

/** Compiles the address of a row at an endpoint that is about one row by its path. */
function compilePath(endpoint: Endpoint, { compilation: { spec }, basePath, models }: Engine): RowAddress {
  const pieces = pathPieces(spec, endpoint);
  return ({ rows }, fields) => {
    let filled = basePath;
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        filled += piece;
        continue;
      }
      const { way } = piece;
      const [first, ...more] = way ?? [];
      // Nothing is followed for what the row itself has.
      const value = way && more.length > 0 ? valueAlong(way, fields, follower(rows, models)) : first && fields[first.field];
      if (value === undefined || value === null || typeof value === 'object') return undefined;
      filled += encodeURIComponent(String(value));
    }
    return filled;
  };
}
