import { statedValue } from '../../../parts/fact.ts';
import type { ResourceCarry } from '../../../parts/versions/carry.ts';
import { CannotCarry } from '../../../parts/versions/change-values.ts';
import type { RenewedRow, Row } from '../../../store/store.ts';
import type { Fields } from '../../exchange/exchange.ts';
import { copy, toJson } from '../../http/json.ts';
import { keptFields } from '../../resources/kept-row.ts';
import type { RowModel } from '../../resources/model.ts';
import { type MisfitCount, misfitOf } from './misfits.ts';

/**
 * Compiles what becomes of a stored row: it is carried up, required fields that it lacks get their defaults, and it is held to what it is
 * to fit. One that does not is counted, and stays as it is.
 */
export function compileRenewal(
  model: RowModel,
  carry: ResourceCarry | undefined,
  misfits: MisfitCount,
): (row: Row) => RenewedRow | undefined {
  const filled = requiredDefaults(model);
  return (row) => {
    const fields = model.parse(row);
    let next: Fields;
    try {
      next = carried(model, carry, fields);
    } catch (failure) {
      if (!(failure instanceof CannotCarry)) throw failure;
      misfits.add(model.name, row.id, `${failure.path.map((step) => `/${step}`).join('') || 'it'}: ${failure.message}`);
      return undefined;
    }
    let isFilled = false;
    for (const { field, value } of filled) {
      if (next[field] !== undefined) continue;
      next[field] = copy(value);
      isFilled = true;
    }
    const wrong = misfitOf(model, next);
    if (wrong !== undefined) {
      misfits.add(model.name, row.id, wrong);
      return undefined;
    }
    if (!carry && !isFilled) return undefined;
    const doc = toJson(keptFields(model, next));
    return doc === row.doc ? undefined : { doc, columns: model.columnsOf(next) };
  };
}

/** @throws {CannotCarry} also for a field that no change speaks of: it would be lost. */
function carried(model: RowModel, carry: ResourceCarry | undefined, fields: Fields): Fields {
  if (!carry) return fields;
  if (!model.resource.additionalProperties) {
    const lost = Object.keys(fields).find((name) => !carry.older(name));
    if (lost !== undefined)
      throw Object.assign(new CannotCarry(`no change says what becomes of it; state { remove: ${model.name}.${lost} }.`), {
        path: [lost],
      });
  }
  // What comes of members is members.
  return carry.up(fields) as Fields;
}

/** The fields that every row has to have, and that have a default. */
export function requiredDefaults({ defaults, fields }: RowModel): RowModel['defaults'] {
  return defaults.filter(({ field }) => statedValue(fields.get(field)?.required) === true);
}
