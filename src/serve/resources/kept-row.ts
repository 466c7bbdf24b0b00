import type { NewRow, Row } from '../../store/store.ts';
import type { Fields } from '../exchange/exchange.ts';
import { Bare, copy, toJson } from '../http/json.ts';
import type { Work } from './act.ts';
import type { RowModel } from './model.ts';
import type { TimedTransition } from './states.ts';

/** A row as it is written. `entered` is when it entered its state. */
export function newRow(model: RowModel, id: string, fields: Fields, entered: number): NewRow {
  return { id, entered, doc: toJson(keptFields(model, fields)), columns: model.columnsOf(fields) };
}

/** The fields as they are kept: in the order of the document, without what is never stored. */
export function keptFields(model: RowModel, fields: Fields): Fields {
  const source = model.forget ? copy(fields) : fields;
  model.forget?.(source);
  const ordered: Fields = new Bare();
  for (const name of model.fields.keys())
    if (Object.hasOwn(source, name) && source[name] !== undefined) ordered[name] = source[name];
  if (model.resource.additionalProperties) {
    for (const name of Object.keys(source)) {
      if (!model.fields.has(name)) ordered[name] = source[name];
    }
  }
  return ordered;
}

/** Sets the timers that the row's state asks for and clears the others. */
export function setTimers(work: Pick<Work, 'rows' | 'scope'>, model: RowModel, row: Row, fields: Fields): void {
  const timed = timedOf(model);
  if (timed.length === 0) return;
  const state = model.machine && fields[model.machine.field];
  for (const one of timed) {
    const due = one.leaves(state) ? one.due(fields, row.entered, { ...work.scope, resource: fields, next: fields }) : undefined;
    if (due) work.rows.setTimer({ resource: model.name, id: row.id, name: one.name, dueMs: due.ms, token: due.token });
    else work.rows.clearTimers(model.name, row.id, one.name);
  }
}

/** What the clock does to rows of a resource, and what it tells of them. */
export function timedOf({ machine, alarms }: Pick<RowModel, 'machine' | 'alarms'>): readonly TimedTransition[] {
  if (alarms.length === 0) return machine?.timed ?? [];
  return [...(machine?.timed ?? []), ...alarms];
}
