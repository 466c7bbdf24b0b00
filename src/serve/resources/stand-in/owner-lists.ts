import { statedValue } from '../../../parts/fact.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import type { Models, Work } from '../act.ts';
import { isFields } from '../body.ts';
import { updateRow } from '../create.ts';
import type { RowModel } from '../model.ts';
import type { Sampling } from './sampling.ts';

/** So many things a list of their owner shows. */
const shownMost = 1000;

/**
 * Shows a thing in the list that its owner has of such things, as it is now, or takes it out once it is gone: what
 * `POST /assets/{asset}/tracks` makes stands in the `tracks` of the asset.
 */
export function showInOwners(sampling: Sampling, work: Work, model: RowModel, row: Fields, isGone: boolean): void {
  for (const { field, owner, list } of ownersOf(sampling, model, work.models)) {
    const id = row[field];
    const there = id === undefined || id === null ? undefined : work.rows.get(owner.name, String(id));
    if (!there) continue;
    const before = owner.parse(there);
    const own = row[model.identifier.field];
    const idOf = (one: Value) => (isFields(one) ? one[model.identifier.field] : undefined);
    const listed: readonly Value[] = Array.isArray(before[list]) ? before[list] : [];
    // What was made up for the list gives way to what is its owner's.
    const known = listed.filter((one) => idOf(one) === own || isOf(work, model, idOf(one), field, id));
    const at = known.findIndex((one) => idOf(one) === own);
    const shown = isGone ? [] : [shownOf(model, row)];
    const next = at < 0 ? [...known, ...shown] : [...known.slice(0, at), ...shown, ...known.slice(at + 1)];
    if (next.length > shownMost || (isGone && at < 0)) continue;
    updateRow(work, owner, there, before, { ...before, [list]: next }, `show ${model.name}`);
  }
}

/** Whether there is a row that says it is of this owner. */
function isOf({ rows }: Work, model: RowModel, id: Value, field: string, owner: Value): boolean {
  const row = id === undefined ? undefined : rows.get(model.name, String(id));
  return row !== undefined && model.parse(row)[field] === owner;
}

interface OwnerList {
  /** The field that says whose the thing is, and is not shown. */
  readonly field: string;
  readonly owner: RowModel;
  /** The owner's one field that lists such things. */
  readonly list: string;
}

/** Found once for each resource. */
const known = new WeakMap<RowModel, readonly OwnerList[]>();

function ownersOf(sampling: Sampling, model: RowModel, models: Models): readonly OwnerList[] {
  const found = known.get(model) ?? findOwners(sampling, model, models);
  known.set(model, found);
  return found;
}

function findOwners({ samples }: Sampling, model: RowModel, models: Models): readonly OwnerList[] {
  return [...model.fields].flatMap(([field, { visible, ref }]): OwnerList[] => {
    const owner = visible?.length === 0 && ref !== undefined ? models.get(ref) : undefined;
    if (!owner || owner === model) return [];
    const lists = [...owner.fields].flatMap(([name, { shape }]) => {
      const items = samples.whole(statedValue(shape) ?? {}).items;
      return isPlainMap(items) && items.resource === model.name ? [name] : [];
    });
    const [list, ...others] = lists;
    return list === undefined || others.length > 0 ? [] : [{ field, owner, list }];
  });
}

function shownOf(model: RowModel, row: Fields): Fields {
  return Object.fromEntries(Object.entries(row).filter(([name]) => model.fields.get(name)?.visible?.length !== 0));
}
