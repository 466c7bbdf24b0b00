import type { Json } from '../../document/document.ts';
import type { Condition, QuerySpec, Reader, Scalar } from '../../store/store.ts';
import type { Emitted } from '../events/setting.ts';
import type { RowModel } from '../resources/model.ts';
import type { Plain } from './handlers.ts';

/** What a handler did: what it read, with the revisions it saw, and what it wants stored. */
export interface HandlerEffects {
  readonly reads: Map<string, { readonly resource: string; readonly id: string; readonly rev: number | undefined }>;
  readonly lists: Listed[];
  readonly writes: WantedChange[];
  readonly emitted: Emitted[];
}

export type WantedChange =
  | { readonly kind: 'create'; readonly resource: string; readonly fields: Plain; readonly id: string }
  | { readonly kind: 'update'; readonly resource: string; readonly id: string; readonly patch: Plain }
  | { readonly kind: 'delete'; readonly resource: string; readonly id: string }
  | { readonly kind: 'fire'; readonly resource: string; readonly id: string; readonly transition: string };

/** How often a handler runs when others change what it read. */
export const triesMax = 3;

/** A list that a handler read: asked again before its change is applied, so that a new row is a conflict too. */
export interface Listed {
  readonly model: RowModel;
  readonly where: Readonly<Record<string, Json>>;
  readonly most: number;
  readonly seen: string;
}

/** Whether nothing that a handler read has changed since. */
export function isUnchanged(rows: Reader, { reads, lists }: HandlerEffects): boolean {
  for (const { resource, id, rev } of reads.values()) if (rows.get(resource, id)?.rev !== rev) return false;
  return lists.every(({ model, where, most, seen }) => seenOf(rowsWhere(rows, model, where, most)) === seen);
}

export interface StoredPlain {
  readonly id: string;
  readonly rev: number;
  readonly fields: Plain;
}

/** What a list looked like. */
export function seenOf(rows: readonly StoredPlain[]): string {
  return rows.map(({ id, rev }) => `${id}@${rev}`).join('\n');
}

/** How many rows are looked at together. */
const pageMost = 500;

/** The rows whose fields equal what is given, in creation order. What the table has columns of, it is asked for; the rest is looked at in each row. */
export function rowsWhere(rows: Reader, model: RowModel, where: Readonly<Record<string, Json>>, most: number): StoredPlain[] {
  const found: StoredPlain[] = [];
  const wanted = Object.entries(where);
  const { query, values } = columnsAsked(model, wanted);
  for (let after = 0; ; ) {
    const page = rows.all(query, [...values, pageMost, after]);
    for (const { id, rev, doc } of page) {
      const fields = model.parse({ doc }) as Plain;
      if (wanted.every(([field, value]) => fields[field] === value)) found.push({ id, rev, fields });
      if (found.length === most) return found;
    }
    const last = page.at(-1);
    if (!last || page.length < pageMost) return found;
    after = last.seq;
  }
}

/** Equal values have equal columns; null is in none. */
function columnsAsked(model: RowModel, wanted: readonly (readonly [string, Json])[]): { query: QuerySpec; values: Scalar[] } {
  const values: Scalar[] = [];
  const fields: string[] = [];
  for (const [field, value] of wanted) {
    const code = model.table.columns.some(({ name }) => name === field) ? model.code(field) : undefined;
    const encoded = code && value !== null && typeof value !== 'object' ? code.encode(value) : null;
    if (encoded === null || Number.isNaN(encoded)) continue;
    fields.push(field);
    values.push(encoded);
  }
  return { query: queryBy(model, fields), values };
}

/** A store prepares a question once for each object that asks it. */
function queryBy(model: RowModel, fields: readonly string[]): QuerySpec {
  const known = queries.get(model) ?? new Map<string, QuerySpec>();
  queries.set(model, known);
  const key = fields.join('\n');
  const found = known.get(key);
  if (found) return found;
  const of = fields.map((column, at): Condition => ({ op: '=', left: { column }, right: { param: at } }));
  const query = { table: model.name, where: { op: 'and' as const, of }, limit: fields.length, after: fields.length + 1 };
  // A handler may ask for its fields in any order: who asks in ever other ones has each question prepared anew.
  if (known.size < queriesMost) known.set(key, query);
  return query;
}

const queriesMost = 256;
const queries = new WeakMap<RowModel, Map<string, QuerySpec>>();
