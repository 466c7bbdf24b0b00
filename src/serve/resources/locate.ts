import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { type Operation, resourceOfEffect } from '../../parts/operations.ts';
import { boundRows, ownRow, parentRows } from '../../parts/path-keys.ts';
import { fieldParameters, identifierParameter } from '../../parts/payload.ts';
import type { Reader, Row, Transaction } from '../../store/store.ts';
import type { Pass } from '../callers/operation-access.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { type Models, refuse, type Work } from './act.ts';
import { type DeletedRow, deletedRow } from './kept-row.ts';
import type { RowModel } from './model.ts';
import { boundValue, compilePathRows, compileWhyNotFound } from './path-rows.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** How an endpoint finds its row, and what its path binds. */
export interface Locator {
  /**
   * The row that is meant, with its parents checked and the rules over it; a parent that does not fit, and a row that has to
   * stay hidden, are as good as a missing row.
   */
  find(work: Work<Reader>, exchange: Exchange): LocatedRow | UnlocatedRow;
  /** The identifier that the request names. */
  idOf(work: Work<Reader>, exchange: Exchange): string | undefined;
  /** The fields that the path sets on what is created, and narrows a list to. */
  readonly bound: readonly BoundFields[];
  /** Whether the row is just the one whose identifier is a path parameter, and which. */
  readonly isDirect: boolean;
  readonly parameter: string | undefined;
  /** Finds the rows that the path names by keys, where it names any. */
  readonly place: Place | undefined;
  /** Parents that the path names must be there, and the caller must be able to read them. */
  parents(work: Work<Reader>, exchange: Exchange): Refusal | undefined;
  /** The parents, and the rules that are asked where no row is meant yet. */
  enter(work: Work<Reader>, exchange: Exchange): Pass | { readonly refusal: Refusal };
  /** Whether rules look at the row before it is shown. */
  readonly isGuarded: boolean;
}

/** Finds the rows that the path names by keys; what follows speaks of them by their identifiers. */
type Place = (work: Work<Reader>, exchange: Exchange) => void;

/** A row that the caller may go on with. */
export interface LocatedRow {
  readonly row: Row;
  readonly fields: Fields;
  readonly pass: Pass;
  /** Whether it was deleted, and is to be brought back. */
  readonly isDeleted?: boolean;
}

/** Why there is none, and the row that there was where it was deleted and is kept. */
interface UnlocatedRow {
  readonly refusal: Refusal;
  readonly deleted?: DeletedRow;
}

export interface BoundFields {
  readonly parameter: string;
  readonly field: string;
  readonly target: string | undefined;
}

export function compileLocator(endpoint: Endpoint, model: RowModel, models: Models, compilation: ViewCompilation): Locator {
  const locator = compileAtPath(endpoint, model, models, compilation);
  const whyNot = compileWhyNotFound(endpoint, model, models, compilation, locator.find);
  if (!whyNot) return locator;
  return {
    ...locator,
    isDirect: false,
    find(work, exchange) {
      const found = locator.find(work, exchange);
      return 'refusal' in found && found.refusal.when === 'resource.missing' ? whyNot(work, exchange) : found;
    },
  };
}

/** The row that a path names as it stands. */
function compileAtPath(endpoint: Endpoint, model: RowModel, models: Models, compilation: ViewCompilation): Locator {
  const identifier = identifierParameter(endpoint);
  const identity = endpoint.identity && compilation.expression(endpoint.identity, endpoint.operation);
  const bound = boundBy(endpoint, model, identifier, compilation);
  const own = endpoint.rows && ownRow(endpoint);
  const place = compilePlacing(endpoint, models, compilation) ?? compileCalledParents(bound, models, compilation);
  const rowOf = compileRowOf(endpoint, model, bound, compilation);
  const isUpsert = statedValue(endpoint.does)?.verb === 'upsert';
  const gone = compileDeleted(endpoint, model);
  const found = compilation.access.of(operationAt(endpoint), compilation.user, isUpsert ? 'replace' : undefined);
  const made = isUpsert ? compilation.access.of(operationAt(endpoint), compilation.user, 'create') : found;
  const parents = compileParents(endpoint, bound, models, compilation);
  const even = evening(model);

  function idOf(work: Work<Reader>, exchange: Exchange): string | undefined {
    if (identity) {
      const value = identity(work.scope);
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
    }
    const named = own?.prefix ?? identifier;
    return named === undefined ? undefined : exchange.pathParams[named];
  }

  return {
    bound,
    isDirect: bound.length === 0 && !identity && !place && identifier !== undefined && !model.resource.kept,
    isGuarded: !found.isSimple,
    parameter: identifier,
    idOf,
    parents,
    place,
    enter(work, exchange) {
      place?.(work, exchange);
      const refusal = parents(work, exchange);
      return refusal ? { refusal } : made.enter(work.scope, undefined);
    },
    find(work, exchange) {
      place?.(work, exchange);
      const id = idOf(work, exchange);
      const there = id === undefined ? undefined : rowOf(work, exchange, id);
      const deleted = there || id === undefined ? undefined : gone?.find(work, id);
      const row = there ?? deleted?.row;
      if (!row) {
        if (!found.isSimple) even.missing(work, (fields) => found.pretend(work.scope, fields));
        return missing;
      }
      const fields = model.parse(row);
      if (bound.some(({ parameter, field }) => textOf(fields[field]) !== exchange.pathParams[parameter])) {
        found.pretend(work.scope, fields);
        return missing;
      }
      const refusal = bound.length > 0 || place ? parents(work, exchange) : undefined;
      if (refusal) return { refusal };
      const pass = found.enter(work.scope, fields);
      if (!('refusal' in pass)) return deleted && gone ? gone.meet(deleted, pass) : { row, fields, pass };
      even.hidden(work, row);
      return pass;
    },
  };
}

const missing = refuse('resource.missing');

/** Compiles the meeting of rows that were deleted and are kept: who might see one is told that it is gone, and who may brings it back. */
function compileDeleted({ does }: Endpoint, model: RowModel) {
  const effect = statedValue(does);
  const { kept } = model.resource;
  // What is put under the name of a deleted row is another one.
  if (!kept || effect?.verb === 'upsert') return undefined;
  const isRestoring = effect?.verb === 'transition' && effect.transition === kept.restore;
  return {
    find: (work: Work<Reader>, id: string) => deletedRow(work, model, id),
    meet: (deleted: DeletedRow, pass: Pass): LocatedRow | UnlocatedRow =>
      isRestoring ? { ...deleted, pass, isDeleted: true } : { ...refuse('resource.gone'), deleted },
  };
}

function compilePlacing(endpoint: Endpoint, models: Models, { spec }: ViewCompilation): Place | undefined {
  const place = compilePathRows(endpoint, models, spec);
  return (
    place &&
    ((work, exchange) => {
      exchange.pathParams = place(work, exchange.pathParams);
    })
  );
}

/** What the path binds of the row: the fields of its parameters' names, and those that refer to rows which it names by keys. */
function boundBy(
  endpoint: Endpoint,
  model: RowModel,
  identifier: string | undefined,
  { spec, standIn }: ViewCompilation,
): readonly BoundFields[] {
  const isCopied = standIn?.compileCopied(endpoint, model) !== undefined;
  const own: BoundFields[] = fieldParameters(endpoint).flatMap((name) => {
    const field = model.fields.get(name);
    // A copy has an identifier of its own.
    if (isCopied && name === model.identifier.field) return [];
    return name === identifier || !field ? [] : [{ parameter: name, field: name, target: field.ref }];
  });
  const rows = boundRows(spec, endpoint).map(({ row, field }) => ({ parameter: row.prefix, field, target: row.resource }));
  return [...own, ...rows];
}

/** The row of an identifier; inside a change of a stand-in, one that nothing makes is there when it is asked for. */
function compileRowOf(endpoint: Endpoint, model: RowModel, bound: readonly BoundFields[], { standIn }: ViewCompilation) {
  const given = standIn?.given.has(model.name) ? standIn.given : undefined;
  const restored = standIn?.isRestoring(endpoint) ? standIn.given : undefined;
  const toldBy = standIn?.compileToldBy(endpoint, model);
  return (work: Work<Reader>, exchange: Exchange, id: string): Row | undefined => {
    const called = toldBy?.(work.rows, id) ?? work.rows.get(model.name, id) ?? standIn?.given.called(work.rows, model, id);
    const change = (given ?? restored) && asChange(work);
    const there = called ?? (change && restored?.back(change, model, id));
    return there ?? (change && given ? given.find(change, model, id, boundFields(model, bound, exchange)) : undefined);
  };
}

/** Of a stand-in: what follows speaks of a parent by its identifier, where the path calls it by its name or its number. */
function compileCalledParents(bound: readonly BoundFields[], models: Models, { standIn }: ViewCompilation): Place | undefined {
  const parents = bound.flatMap(({ parameter, target }) => {
    const parent = target === undefined ? undefined : models.get(target);
    return parent ? [{ parameter, parent }] : [];
  });
  if (!standIn || parents.length === 0) return undefined;
  return (work, exchange) => {
    for (const { parameter, parent } of parents) {
      const name = exchange.pathParams[parameter] ?? '';
      const row = work.rows.get(parent.name, name) ?? standIn.given.called(work.rows, parent, name, exchange.pathParams);
      if (row && row.id !== name) exchange.pathParams = { ...exchange.pathParams, [parameter]: row.id };
    }
  };
}

/** Parents that a path names must be there, and the caller must be able to read them. */
function compileParents(
  endpoint: Endpoint,
  bound: readonly BoundFields[],
  models: Models,
  compilation: ViewCompilation,
): Locator['parents'] {
  const { access, user, standIn } = compilation;
  const isBound = new Set(bound.map(({ parameter }) => parameter));
  const above = parentRows(endpoint).flatMap(({ prefix, resource }) =>
    isBound.has(prefix) ? [] : [{ parameter: prefix, target: resource }],
  );
  const tests = [...bound, ...above].flatMap(({ parameter, target }) => {
    const parent = target === undefined ? undefined : models.get(target);
    return parent ? [{ parameter, parent, even: evening(parent), reading: access.reading(parent.name, user) }] : [];
  });
  const missing: Refusal = { when: 'resource.missing' };
  return (work, exchange) => {
    for (const { parameter, parent, reading, even } of tests) {
      const id = exchange.pathParams[parameter];
      const row = id === undefined ? undefined : work.rows.get(parent.name, id);
      if (!row && id !== undefined && standIn?.given.mayBeNamed(work.rows, parent.name, id)) continue;
      if (row && (reading.isFree || reading.allows(work.scope, parent.parse(row)))) continue;
      if (row) even.hidden(work, row);
      else if (!reading.isFree) even.missing(work, (fields) => reading.allows(work.scope, fields, true));
      return missing;
    }
    return undefined;
  };
}

/** Compiles the looking for the rows that a path names by keys, where its operation is about no row; nothing where it names none. */
export function compilePathGuard(
  endpoint: Endpoint,
  models: Models,
  compilation: ViewCompilation,
): ((work: Work<Reader>, exchange: Exchange) => Refusal | undefined) | undefined {
  const place = compilePlacing(endpoint, models, compilation);
  if (!place) return undefined;
  const parents = compileParents(endpoint, [], models, compilation);
  return (work, exchange) => {
    place(work, exchange);
    return parents(work, exchange);
  };
}

/** The fields that a path sets, with their values. */
export function boundFields(model: RowModel, bound: readonly BoundFields[], { pathParams }: Exchange): Fields {
  return Object.fromEntries(bound.map(({ parameter, field }) => [field, boundValue(model, field, pathParams[parameter] ?? '')]));
}

/** Inside a change rows can be made as well; while reading they cannot. */
export function asChange(work: Pick<Work<Reader>, 'rows'>): Work | undefined {
  // What can insert is a transaction, and then this is the work of a change.
  return 'insert' in (work.rows as Partial<Transaction>) ? (work as Work) : undefined;
}

/** What a rule calls the operation of an endpoint. */
export function operationAt(endpoint: Endpoint): Operation {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  return { name: endpoint.operation, ...(resource !== undefined && { resource }), endpoint };
}

/** Makes what is missing and what stays hidden take equally long: one row is found and looked at, one is looked for in vain. */
function evening(model: RowModel) {
  let top = 1;
  let turn = 0;
  return {
    /** A row is missing: does with some other row what would be done with it, each time with another, as hidden rows are many. */
    missing({ rows }: Work<Reader>, act: (fields: Fields) => void): void {
      turn = (turn + 7919) % (top + 2);
      const row = rows.scan(model.name, turn, 1)[0] ?? rows.scan(model.name, 0, 1)[0];
      if (!row) return;
      top = Math.max(top, row.seq);
      act(model.parse(row));
    },
    hidden({ rows }: Work<Reader>, row: Row): void {
      top = Math.max(top, row.seq);
      rows.get(model.name, `${row.id} `);
    },
  };
}

function textOf(value: Value): string | undefined {
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}
