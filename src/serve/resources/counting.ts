import { canonical } from '../exchange/column.ts';
import type { Fields } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import type { Work } from './act.ts';
import type { MadeLast } from './made-last.ts';
import type { RowModel } from './model.ts';

/** A new row with what is made last, as it would be; nothing is counted by that, so a row that is refused leaves no gap. */
export function withMadeLast(work: Work, model: RowModel, given: Fields): Fields {
  const fields = withoutPrototype(given);
  for (const one of model.madeLast) {
    const { field, made } = one;
    // What holds something that is not there yet waits for it.
    if (fields[field] !== undefined || made.fields.some((name) => fields[name] === undefined)) continue;
    const draw = { ...drawOf(work), field: (name: string) => String(fields[name]) };
    if (!made.counts) fields[field] = made.make(draw);
    else nextOf(work, model, one, fields, (number) => made.make({ ...draw, count: () => number }));
  }
  return fields;
}

/** The same for a row that is about to be stored, whose numbers are taken by it; those that came with it are counted from there on. */
export function takeMadeLast(work: Work, model: RowModel, given: Fields): Fields {
  const fields = withMadeLast(work, model, given);
  for (const { field, within, made } of model.madeLast) {
    const number = made.counts ? made.numberIn(fields[field]) : undefined;
    if (number === undefined) continue;
    const name = counterName(model, field, within, fields);
    const counted = work.rows.addTo(name, 0, work.nowMs, forever);
    if (number > counted) work.rows.addTo(name, number - counted, work.nowMs, forever);
  }
  return fields;
}

/** The last instant that a date can be. */
const forever = 8_640_000_000_000_000;

/** One more than was counted; numbers of rows that were stored under a number of their own are passed over. */
function nextOf(
  { rows, nowMs }: Work,
  model: RowModel,
  { field, within, unique }: MadeLast,
  fields: Fields,
  make: (number: number) => string | number,
): void {
  const at = model.table.columns.findIndex(({ name }) => name === unique);
  let number = rows.addTo(counterName(model, field, within, fields), 0, nowMs, forever);
  for (;;) {
    number += 1;
    fields[field] = make(number);
    const key = model.columnsOf(fields)[at];
    if (key === undefined || key === null || rows.holder(model.name, unique, key) === undefined) return;
  }
}

function counterName({ name }: RowModel, field: string, within: string | undefined, fields: Fields): string {
  return `number\n${name}\n${field}${within === undefined ? '' : `\n${canonical(fields[within])}`}`;
}

function drawOf({ draw }: Work) {
  return {
    nowMs: draw.nowMs,
    bytes: (length: number) => draw.bytes(length),
    uuid: () => draw.uuid(),
    rising: () => draw.rising?.(),
  };
}
