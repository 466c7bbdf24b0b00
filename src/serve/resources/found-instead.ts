import type { Row } from '../../store/store.ts';
import type { Fields } from '../exchange/exchange.ts';
import type { Changing, Work } from './act.ts';
import type { RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/**
 * Where a row that is there holds what is unique, that row is what comes out, and nothing is changed. Who may not read it is told that
 * the value is taken.
 */
export function orFound(change: Changing, { access, user }: ViewCompilation): Changing {
  const { model } = change;
  const reading = access.reading(model.name, user);
  return {
    ...change,
    store(work, found, taken, next) {
      const row = holderOf(work, model, next);
      const fields = row && model.parse(row);
      const isTold = fields && (reading.isFree || reading.allows(work.scope, fields));
      return isTold ? { did: 'unchanged', row, fields } : change.store(work, found, taken, next);
    },
  };
}

/** The row that has one of the unique values of another, or its identifier. */
function holderOf({ rows }: Work, model: RowModel, fields: Fields): Row | undefined {
  const known = rows.get(model.name, String(fields[model.identifier.field]));
  if (known) return known;
  const { columns, unique } = model.table;
  const values = model.columnsOf(fields);
  for (const [at, { name }] of columns.entries()) {
    const value = values[at];
    if (!unique.includes(name) || value === undefined || value === null) continue;
    const id = rows.holder(model.name, name, value);
    if (id !== undefined) return rows.get(model.name, id);
  }
  return undefined;
}
