import { Duplicate, type NewRow, type Row } from '../../store/store.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { isFailed } from '../exchange/expressions.ts';
import { bare, copy, newBare, toJson } from '../http/json.ts';
import { describeValue } from '../http/violation.ts';
import type { Work } from './act.ts';
import type { RowModel, Setter } from './model.ts';

/** Stores a new row with its timers. @throws {Refused} `resource.exists` where its identifier or a unique value is taken. */
export function insertRow(work: Work, model: RowModel, id: string, fields: Fields, operation: string): Row {
  const row = write(work, model, fields, () =>
    work.rows.insert(model.name, newRow(model, id, fields, model.machine ? work.nowMs : 0)),
  );
  setTimers(work, model, row, fields);
  work.stored.push({ operation, model, id, before: undefined, after: fields });
  return row;
}

/** Stores a changed row with its timers. `entered` is when it entered its state. */
export function updateRow(
  work: Work,
  model: RowModel,
  row: Row,
  before: Fields,
  fields: Fields,
  entered: number,
  operation: string,
): Row {
  const written = write(work, model, fields, () => work.rows.update(model.name, newRow(model, row.id, fields, entered)));
  setTimers(work, model, written, fields);
  work.stored.push({ operation, model, id: row.id, before, after: fields });
  return written;
}

/** What is set on a change, all of it over the same scope. @throws {Refused} `internal` where it fails or does not fit its field. */
export function applySetters(setters: readonly Setter[], scope: Readonly<Record<string, Value>>, fields: Fields): Fields {
  if (setters.length === 0) return fields;
  const values = setters.map(({ field, expression, evaluate, validate }) => {
    const value = evaluate(scope);
    if (isFailed(value))
      throw new Refused({ when: 'internal', message: `What sets ${field} failed (${expression.source}): ${value.reason}` });
    if (value !== undefined && value !== null && validate(value).length > 0) {
      throw new Refused({
        when: 'internal',
        message: `What sets ${field} (${expression.source}) gave ${describeValue(value)}, which is no ${field}.`,
      });
    }
    return value;
  });
  const next = bare(fields);
  for (const [index, { field }] of setters.entries()) {
    const value = values[index];
    if (value === undefined || value === null) delete next[field];
    else next[field] = value;
  }
  return next;
}

/** A row with what would be set on it, for those who ask before it is known whether it can be stored. */
export function asStored(setters: readonly Setter[], scope: Readonly<Record<string, Value>>, fields: Fields): Fields {
  try {
    return applySetters(setters, scope, fields);
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    return fields;
  }
}

function newRow(model: RowModel, id: string, fields: Fields, entered: number): NewRow {
  return { id, entered, doc: toJson(kept(model, fields)), columns: model.columnsOf(fields) };
}

/** The fields as they are kept: in the order of the document, without what is never stored. */
export function kept(model: RowModel, fields: Fields): Fields {
  const source = model.forget ? copy(fields) : fields;
  model.forget?.(source);
  const ordered: Fields = newBare();
  for (const name of model.fields.keys())
    if (Object.hasOwn(source, name) && source[name] !== undefined) ordered[name] = source[name];
  if (model.resource.additionalProperties) {
    for (const name of Object.keys(source)) {
      if (!model.fields.has(name)) ordered[name] = source[name];
    }
  }
  return ordered;
}

function write(_work: Work, model: RowModel, fields: Fields, act: () => Row): Row {
  try {
    return act();
  } catch (failure) {
    if (!(failure instanceof Duplicate)) throw failure;
    const rule = model.resource.unique[Number(failure.column.slice('unique '.length))];
    const names = rule?.fields ?? [model.identifier.field];
    const violations = names.map((name) => ({
      in: 'body' as const,
      path: `/${name}`,
      found: describeValue(fields[name]),
      expected: 'a value that no other one holds',
    }));
    throw new Refused({ when: 'resource.exists', violations });
  }
}

/** Sets the timers that the row's state asks for and clears the others. */
function setTimers(work: Work, model: RowModel, row: Row, fields: Fields): void {
  const { machine } = model;
  if (!machine || machine.timed.length === 0) return;
  const state = fields[machine.field];
  for (const timed of machine.timed) {
    const due = timed.leaves(state)
      ? timed.due(fields, row.entered, { ...work.scope, resource: fields, next: fields })
      : undefined;
    if (due) work.rows.setTimer({ resource: model.name, id: row.id, name: timed.name, dueMs: due.ms, token: due.token });
    else work.rows.clearTimers(model.name, row.id, timed.name);
  }
}
