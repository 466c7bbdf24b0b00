import type { Endpoint } from '../../parts/endpoints.ts';
import { pathPieces, readersOf } from '../../parts/row-address.ts';
import type { Reader } from '../../store/store.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import { valueAlong } from '../exchange/way.ts';
import type { Models, Work } from './act.ts';
import { follower } from './follower.ts';
import type { RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Where a row is: its path below the host, and the parameters of that. */
export interface RowAddress {
  readonly path: string;
  readonly params: Readonly<Record<string, Value>>;
}

/** The address of a row; nothing where the row does not fill it. */
export type RowAddressOf = (work: Pick<Work<Reader>, 'rows'>, fields: Fields) => RowAddress | undefined;

/** Compiles the address of a row below the host: that of the endpoint that reads it by its path, where there is one. */
export function compileAddress(model: RowModel, models: Models, compilation: ViewCompilation): RowAddressOf | undefined {
  const [reader] = readersOf(compilation.spec, model.name);
  return reader && compileAddressAt(reader, models, compilation);
}

/** Compiles the address of a row at an endpoint that is about one row by its path. */
export function compileAddressAt(endpoint: Endpoint, models: Models, { spec, basePath }: ViewCompilation): RowAddressOf {
  const pieces = pathPieces(spec, endpoint);
  return ({ rows }, fields) => {
    let path = basePath;
    const params: Record<string, Value> = Object.create(null);
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        path += piece;
        continue;
      }
      const { way } = piece;
      const [first, ...more] = way ?? [];
      // Nothing is followed for what the row itself has.
      const value = way && more.length > 0 ? valueAlong(way, fields, follower(rows, models)) : first && fields[first.field];
      // Clients take such steps out of a path, and it would lead elsewhere (RFC 3986 section 5.2.4).
      if (value === undefined || value === null || typeof value === 'object' || leadsElsewhere.has(value)) return undefined;
      path += encodeURIComponent(String(value));
      params[piece.parameter] = value;
    }
    return { path, params };
  };
}

const leadsElsewhere: ReadonlySet<Value> = new Set(['', '.', '..']);
