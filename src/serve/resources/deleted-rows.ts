import type { Reader, Row, Transaction } from '../../store/store.ts';
import type { Fields } from '../exchange/exchange.ts';
import type { Work } from './act.ts';
import type { RowModel } from './model.ts';

/** A row that was deleted and is kept, as it was then. */
export interface DeletedRow {
  readonly row: Row;
  readonly fields: Fields;
}

/** Keeps a row that is being deleted, as long as its resource says. It stands beside the rows, so that nothing that looks at these finds it. */
export function keepDeleted(work: Work, model: RowModel, row: Row): void {
  const { keepMs } = model.resource.kept ?? {};
  if (keepMs === undefined) return;
  const expiresMs = Number.isFinite(keepMs) ? work.nowMs + keepMs : Number.MAX_SAFE_INTEGER;
  work.rows.keep(keyOf(model, row.id), { fingerprint: '', body: row.doc, expiresMs });
}

/** The row that was deleted under an identifier, while it is kept. */
export function deletedRow(
  { rows, nowMs }: Pick<Work<Reader>, 'rows' | 'nowMs'>,
  model: RowModel,
  id: string,
): DeletedRow | undefined {
  const doc = model.resource.kept && rows.record(keyOf(model, id), nowMs)?.body;
  return doc ? { row: { id, seq: 0, rev: 0, doc, entered: 0 }, fields: model.parse({ doc }) } : undefined;
}

/** Keeps a deleted row no more: it is back, or nothing of it may be left. */
export function forgetDeleted(rows: Transaction, model: RowModel, id: string): void {
  if (model.resource.kept) rows.keep(keyOf(model, id), { fingerprint: '', body: '', expiresMs: 0 });
}

function keyOf({ name }: RowModel, id: string): string {
  return `deleted\n${name}\n${id}`;
}
