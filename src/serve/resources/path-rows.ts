/** Rows and their paths: the rows that a path names, where a row is, and why it is not found there. */

import type { Endpoint, PathRow } from '../../parts/endpoints.ts';
import { pathPieces, readersOf } from '../../parts/expressions/find.ts';
import { type BadKey, type KeyField, lookupOf, type PathLookup, referringField } from '../../parts/path-keys.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Reader } from '../../store/store.ts';
import { credentialQueries } from '../callers/accepted-schemes.ts';
import { valueAlong } from '../callers/operation-access.ts';
import { isFailed } from '../exchange/compilation.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { follower, type Models, refuse, type Work } from './act.ts';
import { identifierValue, type RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

type PathParams = Exchange['pathParams'];

/** Finds the rows that a path names by keys, and gives their identifiers by prefix beside its parameters; no identifier where there is no such row. */
type PlaceRows = (work: Work<Reader>, given: PathParams) => PathParams;

/** Compiles the finding of the rows that a path names; nothing where it names none. Each is one look into a unique index. */
export function compilePathRows(endpoint: Endpoint, models: Models, spec: Spec): PlaceRows | undefined {
  const { rows } = endpoint;
  if (!rows) return undefined;
  const finders = rows.map((row, at) => compileRow(row, rows.slice(0, at), models, spec));
  const names = pathParameters(endpoint.path);
  return (work, given) => {
    const placed: Record<string, string> = Object.create(null);
    for (const name of names) placed[name] = given[name] as string;
    for (const { prefix, find } of finders) {
      const id = find(work, placed);
      if (id !== undefined) placed[prefix] = id;
    }
    return placed;
  };
}

/** Finds one row; it is one of those rows before it to which it has a reference. */
function compileRow(row: PathRow, before: readonly PathRow[], models: Models, spec: Spec) {
  const { prefix } = row;
  const model = models.get(row.resource);
  const lookup: PathLookup | BadKey = lookupOf(spec, row, before);
  if (!model || 'wrong' in lookup) return { prefix, find: () => undefined };
  const find = compileLookup(lookup, models);
  const held = before.flatMap(({ prefix: name, resource }) => {
    const field = referringField(spec, row.resource, resource);
    const isLooked = lookup.fields.some(({ field: one, from }) => one === field && 'row' in from && from.row === name);
    return field === undefined || isLooked ? [] : [{ field, name }];
  });
  return {
    prefix,
    find(work: Work<Reader>, placed: PathParams): string | undefined {
      const id = find(work, placed);
      if (id === undefined || held.length === 0) return id;
      const stored = work.rows.get(row.resource, id);
      const fields = stored && model.parse(stored);
      return fields && held.every(({ field, name }) => String(fields[field]) === placed[name]) ? id : undefined;
    },
  };
}

type Find = (work: Work<Reader>, placed: PathParams) => string | undefined;

function compileLookup({ resource, unique, fields }: PathLookup, models: Models): Find {
  const model = models.get(resource);
  if (!model) return () => undefined;
  const values = fields.map((field) => ({ name: field.field, read: compileValue(field, model, models) }));
  const [only] = values;
  if (unique === undefined) {
    return (work, placed) => {
      const id = only?.read(work, placed);
      return id === undefined ? undefined : work.rows.get(resource, String(id))?.id;
    };
  }
  return (work, placed) => {
    const known: Fields = {};
    for (const { name, read } of values) {
      const value = read(work, placed);
      if (value === undefined) return undefined;
      known[name] = value;
    }
    return work.rows.holder(resource, model.uniqueColumn(unique), model.uniqueKey(unique, known));
  };
}

/** Where the value of one field of a key comes from; nothing where what it names is not there. */
function compileValue(
  { field, from }: KeyField,
  model: RowModel,
  models: Models,
): (work: Work<Reader>, placed: PathParams) => Value {
  if ('parameter' in from) {
    return (_work, placed) => {
      const text = placed[from.parameter] as string;
      const value = boundValue(model, field, text);
      // A number that is written otherwise names no row.
      return typeof value !== 'string' && String(value) !== text ? undefined : value;
    };
  }
  const isInteger = models.get(model.fields.get(field)?.ref ?? '')?.identifier.isInteger ?? false;
  const asValue = (id: string | undefined): Value => (id === undefined ? undefined : identifierValue(id, isInteger));
  if ('row' in from) return (_work, placed) => asValue(placed[from.row]);
  const find = compileLookup(from.lookup, models);
  return (work, placed) => asValue(find(work, placed));
}

/** The value that a path parameter stands for in its field. */
export function boundValue(model: RowModel, field: string, text: string): Value {
  const column = model.code(field);
  if (column?.holds === 'number' && /^-?\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) || text.includes('.') ? number : BigInt(text);
  }
  if (column?.holds === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Why a row is not found at a path: it is missing, or it is at another one by now. */
type WhyNotFound = (work: Work<Reader>, exchange: Exchange) => { readonly refusal: Refusal };

/** Looks for a row as if another path had been asked for. */
type FindAt = (work: Work<Reader>, exchange: Exchange) => object | { readonly refusal: Refusal };

/**
 * Compiles where the row that a path does not name has gone; nothing where that is not stated. It is told to who may read that row alone, and
 * only where the endpoint finds it at its new address: anybody else is told what it would have been told without.
 */
export function compileWhyNotFound(
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
  findAt: FindAt,
): WhyNotFound | undefined {
  if (!endpoint.moved) return undefined;
  const meant = compilation.expression(endpoint.moved, endpoint.operation);
  const addressOf = compileAddressAt(endpoint, models, compilation);
  const reading = compilation.access.reading(model.name, compilation.user);
  const secrets = credentialQueries(compilation.spec);

  function addressNow(work: Work<Reader>, exchange: Exchange): string | undefined {
    const id = meant(work.scope);
    if (id === undefined || id === null || isFailed(id)) return undefined;
    const row = work.rows.get(model.name, String(id));
    const fields = row && model.parse(row);
    if (!fields || (!reading.isFree && !reading.allows(work.scope, fields))) return undefined;
    const address = addressOf(work, fields);
    if (!address) return undefined;
    const { path, params } = address;
    const pathParams = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
    const there = { ...work, scope: { ...work.scope, params: { ...exchange.params, ...params } } };
    const found = findAt(there, { ...exchange, pathParams, params: there.scope.params });
    // Who may read it and not do this is told at its address.
    if ('refusal' in found && isAbsent(found.refusal)) return undefined;
    return path + queryOf(exchange.call.query, secrets);
  }

  return (work, exchange) => {
    const location = addressNow(work, exchange);
    return location === undefined ? refuse('resource.missing') : refuse('resource.moved', { headers: { location } });
  };
}

function isAbsent({ when }: Refusal): boolean {
  return when === 'resource.missing' || when === 'resource.gone';
}

/** What was asked besides goes with it; a credential is not said again, as whoever follows shows it anew. */
function queryOf(query: string, secrets: readonly string[]): string {
  if (query === '') return '';
  const asked = new URLSearchParams(query);
  for (const name of secrets) asked.delete(name);
  const text = asked.toString();
  return text === '' ? '' : `?${text}`;
}

/** Where a row is: its path below the host, and the parameters of that. */
interface RowAddress {
  readonly path: string;
  readonly params: Readonly<Record<string, Value>>;
}

/** The address of a row; nothing where the row does not fill it. */
type RowAddressOf = (work: Pick<Work<Reader>, 'rows'>, fields: Fields) => RowAddress | undefined;

/** Compiles the address of a row below the host: that of the endpoint that reads it by its path, where there is one. */
export function compileAddress(model: RowModel, models: Models, compilation: ViewCompilation): RowAddressOf | undefined {
  const [reader] = readersOf(compilation.spec, model.name);
  return reader && compileAddressAt(reader, models, compilation);
}

/** Compiles the address of a row at an endpoint that is about one row by its path. */
function compileAddressAt(endpoint: Endpoint, models: Models, { spec, basePath }: ViewCompilation): RowAddressOf {
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
