import type { Reader } from '../../store/store.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import type { RowModel } from './model.ts';

/** Reads a row for an expression: that with an identifier, or that whose fields are these, which one of its rules says are unique together. */
export type FollowRow = (resource: string, key: Value, unique?: number) => Fields | undefined;

/** Follows references and looks rows up for expressions: each is one look into an index. */
export function follower(rows: Reader, models: ReadonlyMap<string, RowModel>): FollowRow {
  return (resource, key, unique) => {
    const model = models.get(resource);
    if (!model) return undefined;
    const id = unique === undefined ? String(key) : holderOf(rows, model, key, unique);
    const row = id === undefined ? undefined : rows.get(resource, id);
    return row && model.parse(row);
  };
}

function holderOf(rows: Reader, model: RowModel, key: Value, unique: number): string | undefined {
  // Who asks by a rule gives the fields of it, each with a value.
  const value = model.uniqueKey(unique, key as Fields);
  return value === null ? undefined : rows.holder(model.name, model.uniqueColumn(unique), value);
}
