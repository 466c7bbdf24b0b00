import type { Endpoint } from '../../parts/endpoints.ts';
import { identifierParameter, pathParameters } from '../../parts/payload.ts';
import type { Reader, Row } from '../../store/store.ts';
import type { Compilation } from '../compilation.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';
import { type Models, refuse, type Work } from './act.ts';

/** How an endpoint finds its row, and what its path binds. */
export interface Locator {
  /** The row that is meant, with its parents checked; a parent that does not fit is as good as a missing row. */
  find(work: Work<Reader>, exchange: Exchange): { readonly row: Row; readonly fields: Fields } | { readonly refusal: Refusal };
  /** The identifier that the request names. */
  idOf(work: Work<Reader>, exchange: Exchange): string | undefined;
  /** The fields that the path sets on what is created, and narrows a list to. */
  readonly bound: readonly Bound[];
  /** Whether the row is just the one whose identifier is a path parameter, and which. */
  readonly isDirect: boolean;
  readonly parameter: string | undefined;
  /** Parents that the path names must be there. */
  parents(work: Work<Reader>, exchange: Exchange): Refusal | undefined;
}

export interface Bound {
  readonly parameter: string;
  readonly field: string;
  readonly target: string | undefined;
}

export function compileLocator(endpoint: Endpoint, model: RowModel, models: Models, compilation: Compilation): Locator {
  const identifier = identifierParameter(endpoint);
  const identity = endpoint.identity && compilation.expression(endpoint.identity, endpoint.operation);
  const bound: Bound[] = pathParameters(endpoint.path).flatMap((name) => {
    const field = model.fields.get(name);
    return name === identifier || !field ? [] : [{ parameter: name, field: name, target: field.ref }];
  });
  const missing = refuse('resource.missing');

  function idOf(work: Work<Reader>, exchange: Exchange): string | undefined {
    if (identity) {
      const value = identity(work.scope);
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
    }
    return identifier === undefined ? undefined : exchange.pathParams[identifier];
  }

  return {
    bound,
    isDirect: bound.length === 0 && !identity && identifier !== undefined,
    parameter: identifier,
    idOf,
    parents(work, exchange) {
      for (const { parameter, target } of bound) {
        if (target === undefined || !models.has(target)) continue;
        if (!work.rows.get(target, exchange.pathParams[parameter] as string)) return missing.refusal;
      }
      return undefined;
    },
    find(work, exchange) {
      const id = idOf(work, exchange);
      const row = id === undefined ? undefined : work.rows.get(model.name, id);
      if (!row) return missing;
      const fields = model.parse(row);
      for (const { parameter, field } of bound) if (textOf(fields[field]) !== exchange.pathParams[parameter]) return missing;
      const parents = bound.length > 0 ? this.parents(work, exchange) : undefined;
      return parents ? { refusal: parents } : { row, fields };
    },
  };
}

/** The value that a path parameter stands for in its field. */
export function boundValue(model: RowModel, field: string, text: string): Value {
  const column = model.code(field);
  if ((column?.made === 'integer' || column?.made === 'number') && /^-?\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) || text.includes('.') ? number : BigInt(text);
  }
  if (column?.made === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function textOf(value: Value): string | undefined {
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}
