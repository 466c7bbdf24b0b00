import type { Children } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { directorOf, type Parameter, sortKeyOf } from '../../parts/parameters.ts';
import { boundByPath } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import type { IndexColumn } from '../../store/store.ts';
import type { ListAsking } from '../callers/access.ts';
import { columnCode } from '../exchange/column.ts';

/** The fields of a resource that are looked up, filtered, sorted by or refer to something, and the indexes that lists ask for. */
export interface Indexed {
  readonly columns: readonly string[];
  readonly indexes: readonly (readonly IndexColumn[])[];
}

/** What the rules of lists ask of a table. */
export interface AskedByRules {
  /** Fields that have to be columns, and columns that are no fields. */
  readonly columns: readonly string[];
  readonly own: readonly string[];
  /** The columns by which rows are looked up together. */
  readonly sought: readonly (readonly string[])[];
  /** Which rows whoever asks for a list is shown. */
  readonly lists: Pick<ListAsking, 'equalIn' | 'alwaysNarrows'>;
}

export function indexedFields(spec: Spec, resource: Resource, asked: AskedByRules): Indexed {
  const known = new Map(entriesOf(resource.fields));
  const columns = new Set<string>();
  const indexes = new Map<string, readonly IndexColumn[]>();
  const isThere = (name: string) => known.has(name) || asked.own.includes(name);
  const index = (names: readonly IndexColumn[]) => {
    if (names.every((name) => isThere(typeof name === 'string' ? name : name.column))) indexes.set(JSON.stringify(names), names);
  };
  for (const [name, field] of known) {
    if (field.ref === undefined) continue;
    columns.add(name);
    index([name]);
  }
  for (const { field, order } of shownInParents(spec, resource.name)) {
    for (const one of order) columns.add(one.field);
    index([field, ...order.map((one) => ({ column: one.field, descending: one.descending }))]);
  }
  const both: (readonly IndexColumn[])[] = [];
  for (const endpoint of listsOf(spec, resource.name)) {
    const { equal, ranged, sorted } = wordsOf(spec, endpoint);
    const leading = asked.lists.equalIn(endpoint.operation);
    // Nobody walks through all rows of such a list: the index that begins with the column it is narrowed by does for it.
    const isNarrowed = asked.lists.alwaysNarrows(endpoint.operation) && leading.every(isThere);
    if (sortsByAny(endpoint)) for (const name of sortableFields(resource)) columns.add(name);
    for (const name of [...equal, ...ranged, ...sorted.flat().map(({ column }) => column)])
      if (known.has(name)) columns.add(name);
    for (const sort of sorted) {
      if (!isNarrowed) index(sort);
      for (const filter of [...equal, ...leading]) both.push([filter, ...sort]);
    }
    // Where rows never go by creation, an index that begins with the field does for it alone.
    if (endpoint.order.length === 0) for (const filter of [...equal, ...leading]) index([filter]);
    for (const filter of ranged) index([filter]);
  }
  // In the order of their endpoints, and of each the stated order first.
  for (const names of both) if (indexes.size < indexesMost) index(names);
  for (const [first] of both) if (!leads(indexes, first)) index([first!]);
  for (const name of asked.columns) columns.add(name);
  for (const names of asked.sought) index(names);
  return { columns: [...columns], indexes: [...indexes.values()] };
}

/**
 * So many indexes of one table are made for a filter and an order together, which every write has to keep: what has none is sorted, or
 * read in slices along the index of its filter.
 */
const indexesMost = 24;

function leads(indexes: ReadonlyMap<string, readonly IndexColumn[]>, column: IndexColumn | undefined): boolean {
  return [...indexes.values()].some(([first]) => first === column);
}

/** Where rows of a resource are shown in those that they refer to. */
function shownInParents(spec: Spec, resource: string): Children[] {
  return entriesOf(spec.resources.all).flatMap(([, { fields }]) =>
    entriesOf(fields).flatMap(([, { children }]) => (children?.resource === resource ? [children] : [])),
  );
}

/** The endpoints that list a resource; gone through once for all resources of a document. */
function listsOf(spec: Spec, resource: string): readonly Endpoint[] {
  const lists = listsBySpec.get(spec) ?? listsIn(spec);
  listsBySpec.set(spec, lists);
  return lists.get(resource) ?? [];
}

const listsBySpec = new WeakMap<Spec, ReadonlyMap<string, readonly Endpoint[]>>();

function listsIn(spec: Spec): ReadonlyMap<string, readonly Endpoint[]> {
  const lists = new Map<string, Endpoint[]>();
  for (const [, endpoint] of entriesOf(spec.endpoints.all)) {
    const effect = statedValue(endpoint.does);
    const resource = effect?.verb === 'list' ? resourceOfEffect(effect) : undefined;
    if (resource === undefined) continue;
    const known = lists.get(resource);
    if (known) known.push(endpoint);
    else lists.set(resource, [endpoint]);
  }
  return lists;
}

function wordsOf(spec: Spec, endpoint: Endpoint) {
  const parameters = entriesOf(endpoint.parameters).map(([, parameter]) => parameter);
  const filters = parameters.filter((parameter) => parameter.filters !== undefined);
  const sorts = parameters.filter((parameter) => parameter.sorts).flatMap(sortWords);
  const orders = [
    endpoint.order.map(({ field, descending }) => ({ column: field, descending })),
    ...sorts.map((sort) => [sort]),
  ].filter((order) => order.length > 0);
  const turned = directorOf(endpoint) ? orders.map((order) => order.map(turn)) : [];
  return {
    equal: [
      ...boundByPath(spec, endpoint),
      ...filters.filter(({ op }) => op === '=' || op === 'in').map(({ filters: field }) => field as string),
    ],
    ranged: filters.filter(({ op }) => op !== '=' && op !== 'in').map(({ filters: field }) => field as string),
    sorted: [...orders, ...turned],
  };
}

/** Whether a list has a parameter that sorts and does not say by which fields. */
export function sortsByAny(endpoint: Endpoint): boolean {
  const parameters = entriesOf(endpoint.parameters).map(([, parameter]) => parameter);
  return parameters.some((parameter) => parameter.sorts && sortWords(parameter).length === 0);
}

/** What such a list can be sorted by: fields of one value that everybody sees. */
export function sortableFields(resource: Resource): string[] {
  return entriesOf(resource.fields).flatMap(([name, { shape, ignoreCase, visible, writeOnly, reveal }]) => {
    const isShown = visible === undefined && !writeOnly && reveal === undefined;
    return isShown && columnCode(statedValue(shape) ?? {}, ignoreCase).made !== 'json' ? [name] : [];
  });
}

function turn({ column, descending }: { column: string; descending: boolean }): { column: string; descending: boolean } {
  return { column, descending: !descending };
}

function sortWords(parameter: Parameter): { column: string; descending: boolean }[] {
  const text = JSON.stringify(statedValue(parameter.shape) ?? {});
  const words = [...text.matchAll(/"(?:enum|const)":(\[[^\]]*\]|"[^"]*")/g)].flatMap(
    (match) => JSON.parse(match[1] as string) as string | string[],
  );
  return words.flatMap((word) => {
    if (typeof word !== 'string') return [];
    const { field, descending } = sortKeyOf(parameter, word);
    return [{ column: field, descending }];
  });
}
