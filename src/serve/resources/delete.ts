import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Row, Scalar } from '../../store/store.ts';
import { type Fields, Refused } from '../exchange/exchange.ts';
import type { Act, Changing, Models, Work } from './act.ts';
import { compileStatedBody } from './body.ts';
import { updateRow } from './create.ts';
import { bringUpDerived, forgetTallied } from './derive.ts';
import { forgetEntries, keepDeleted } from './kept-row.ts';
import { compileLocator } from './locate.ts';
import { identifierValue, type Referrer, type RowModel } from './model.ts';
import { compileAllowed, compileOwnErrors, compilePrecondition } from './precondition.ts';
import { applySetters } from './setters.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Compiles `delete RESOURCE`. */
export function compileDelete(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const badBody = compileStatedBody(endpoint, compilation);
  return {
    model,
    find: (work, exchange) => locator.find(work, exchange),
    precondition: compilePrecondition(endpoint, model, compilation),
    take(work, exchange, { fields }) {
      const bad = badBody(work, exchange);
      return bad ? { refusal: bad } : { next: { ...fields } };
    },
    change: compileRemoval(operation, model, compilation, compileAllowed(endpoint, model)),
  };
}

/** A deletion of a row that is there, whoever asks for it. */
export function compileRemoval(
  operation: Operation,
  model: RowModel,
  compilation: ViewCompilation,
  illegalIn?: Changing['illegalIn'],
): Changing {
  return {
    model,
    asStored: undefined,
    illegalIn,
    set: (_work, _found, _taken, _names, next) => next,
    ownErrors: compileOwnErrors(operation, compilation),
    store(work, { row, fields }) {
      // A deletion is of a row that was found.
      removeRow(work, model, row!, fields!, operation.name);
      const given = compilation.standIn?.given;
      given?.gone(work.rows, model, row!.id, fields!);
      for (const below of given?.below(work, row!.id) ?? [])
        if (work.rows.get(below.model.name, below.row.id)) {
          const before = below.model.parse(below.row);
          removeRow(work, below.model, below.row, before, `delete ${below.model.name}`);
          given?.gone(work.rows, below.model, below.row.id, before);
        }
      compilation.standIn?.showInOwners(work, model, fields!, true);
      return { did: 'deleted', row: row!, fields: fields! };
    },
  };
}

/**
 * Deletes a row with all that its references ask for: what restricts is refused, what cascades goes too, what clears lets go.
 * @throws {Refused} `reference.held`; the change is undone then.
 */
export function removeRow(work: Work, model: RowModel, row: Row, fields: Fields, operation: string): void {
  const leaving = new Map<string, { readonly model: RowModel; readonly row: Row; readonly fields: Fields }>();
  gather(work, model, row, fields, leaving);
  for (const { model: gone, row: goneRow } of leaving.values()) refuseHeld(work, gone, goneRow, leaving);
  for (const { model: gone, row: goneRow } of leaving.values()) clearReferences(work, gone, goneRow, leaving);
  // What letting go has changed in a row counts as it is now.
  const counted: { readonly model: RowModel; readonly fields: Fields }[] = [];
  for (const { model: gone, row: goneRow, fields: before } of [...leaving.values()].reverse()) {
    const last = gone.derived.tallies.length > 0 ? work.rows.get(gone.name, goneRow.id) : undefined;
    if (last) counted.push({ model: gone, fields: gone.parse(last) });
    keepDeleted(work, gone, goneRow);
    work.rows.remove(gone.name, goneRow.id);
    forgetTallied(work.rows, gone, goneRow.id);
    forgetEntries(work.rows, gone, goneRow.id);
    const name = gone === model && goneRow.id === row.id ? operation : `delete ${gone.name}`;
    work.stored.push({ operation: name, transitions: [], model: gone, id: goneRow.id, before, after: undefined });
  }
  // Of those that are gone themselves nothing is derived any more.
  for (const { model: gone, fields: last } of counted) bringUpDerived(work, gone, last, undefined);
}

function gather(
  work: Work,
  model: RowModel,
  row: Row,
  fields: Fields,
  leaving: Map<string, { model: RowModel; row: Row; fields: Fields }>,
): void {
  const key = `${model.name}\n${row.id}`;
  if (leaving.has(key)) return;
  leaving.set(key, { model, row, fields });
  for (const referrer of model.referrers) {
    if (referrer.onDelete !== 'cascade') continue;
    const from = work.models.get(referrer.from) as RowModel;
    for (const child of referringRows(work, referrer, row.id)) gather(work, from, child, from.parse(child), leaving);
  }
}

function refuseHeld(work: Work, model: RowModel, row: Row, leaving: ReadonlyMap<string, unknown>): void {
  for (const referrer of model.referrers) {
    if (referrer.onDelete !== 'restrict') continue;
    const holder = referringRows(work, referrer, row.id).find((child) => !leaving.has(`${referrer.from}\n${child.id}`));
    if (holder) throw new Refused({ when: 'reference.held', message: `A ${referrer.from} still refers to this ${model.name}.` });
  }
}

function clearReferences(work: Work, model: RowModel, row: Row, leaving: ReadonlyMap<string, unknown>): void {
  for (const entry of model.referrers) {
    const { from, field, onDelete, keepsNull } = entry;
    if (onDelete !== 'clear') continue;
    const referrer = work.models.get(from) as RowModel;
    for (const child of referringRows(work, entry, row.id)) {
      if (leaving.has(`${from}\n${child.id}`)) continue;
      const before = referrer.parse(child);
      const { [field]: _gone, ...left } = before;
      const rest = keepsNull ? { ...left, [field]: null } : left;
      const scope = { ...work.scope, resource: before, next: rest };
      updateRow(work, referrer, child, before, applySetters(referrer.setters(['write']), scope, rest), `update ${from}`);
    }
  }
}

function referringRows(work: Work, referrer: Referrer, id: string): Row[] {
  // An integer, or a text that is none: what a column compares.
  return work.rows.all(referrer.query, [identifierValue(id, referrer.isInteger) as Scalar]);
}
