import type { Endpoint } from '../../parts/endpoints.ts';
import { type BadKey, type KeyField, lookupOf, type PathLookup, referringField } from '../../parts/path-keys.ts';
import type { PathRow } from '../../parts/path-rows.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Reader } from '../../store/store.ts';
import type { Exchange, Fields, Value } from '../exchange/exchange.ts';
import type { Models, Work } from './act.ts';
import { identifierValue, type RowModel } from './model.ts';
import { boundValue } from './path-values.ts';

type PathParams = Exchange['pathParams'];

/** Finds the rows that a path names by keys, and gives their identifiers by prefix beside its parameters; no identifier where there is no such row. */
export type PlaceRows = (work: Work<Reader>, given: PathParams) => PathParams;

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
