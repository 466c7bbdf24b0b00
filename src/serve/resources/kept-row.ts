/** Rows as they are kept: begun in their states, written with their timers, and kept after they were deleted. */

import type { NewRow, Reader, Row, Transaction } from '../../store/store.ts';
import type { Fields } from '../exchange/exchange.ts';
import { Bare, copy, toJson, withoutPrototype } from '../http/json.ts';
import type { Names, Work } from './act.ts';
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
  const entered = enteredOf(work.rows, model, row);
  for (const one of timed) {
    const scope = { ...work.scope, resource: fields, next: fields };
    const due = one.leaves(fields) ? one.due(fields, entered(one), scope) : undefined;
    if (due) work.rows.setTimer({ resource: model.name, id: row.id, name: one.name, dueMs: due.ms, token: due.token });
    else work.rows.clearTimers(model.name, row.id, one.name);
  }
}

/** What the clock does to rows of a resource, and what it tells of them. */
export function timedOf({ machines, alarms }: Pick<RowModel, 'machines' | 'alarms'>): readonly TimedTransition[] {
  const [only] = machines;
  if (alarms.length === 0 && machines.length < 2) return only?.timed ?? [];
  return [...machines.flatMap(({ timed }) => timed), ...alarms];
}

/** When a row entered the state that a timer of it is counted from. */
type Entered = (timed: TimedTransition) => number;

export function enteredOf(rows: Reader, model: RowModel, row: Row): Entered {
  if (!keepsEntries(model)) return () => row.entered;
  const known = entriesOfRow(rows, model, row.id);
  return ({ since }) => (since === undefined ? undefined : known[since]) ?? row.entered;
}

/**
 * Keeps beside a row when it entered the state of each of its machines, where there are several and time is counted from that: all of
 * them where it is made, and those whose transitions moved it.
 */
export function keepEntries(
  rows: Transaction,
  model: RowModel,
  id: string,
  before: Row | undefined,
  now: number,
  moved: readonly string[],
): void {
  if (!keepsEntries(model) || (before && moved.length === 0)) return;
  const known = before ? entriesOfRow(rows, model, id) : {};
  const entries = model.machines.map(({ field, has }) => {
    const isEntered = !before || moved.some((transition) => has(transition));
    return [field, isEntered ? now : (known[field] ?? before.entered)] as const;
  });
  const body = JSON.stringify(Object.fromEntries(entries));
  rows.keep(entriesKey(model, id), { fingerprint: '', body, expiresMs: Number.MAX_SAFE_INTEGER });
}

/** Forgets it of a row that is gone. */
export function forgetEntries(rows: Transaction, model: RowModel, id: string): void {
  if (keepsEntries(model)) rows.keep(entriesKey(model, id), { fingerprint: '', body: '{}', expiresMs: 0 });
}

function keepsEntries({ machines }: RowModel): boolean {
  return machines.length > 1 && machines.some(({ timed }) => timed.some(({ since }) => since !== undefined));
}

function entriesOfRow(rows: Reader, model: RowModel, id: string): Readonly<Record<string, number>> {
  const record = rows.record(entriesKey(model, id), 0);
  // What is kept under that key is written above alone.
  return record ? (JSON.parse(record.body) as Record<string, number>) : {};
}

function entriesKey({ name }: RowModel, id: string): string {
  return `entered\n${name}\n${id}`;
}

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
  work.rows.keep(deletedKey(model, row.id), { fingerprint: '', body: row.doc, expiresMs });
}

/** The row that was deleted under an identifier, while it is kept. */
export function deletedRow(
  { rows, nowMs }: Pick<Work<Reader>, 'rows' | 'nowMs'>,
  model: RowModel,
  id: string,
): DeletedRow | undefined {
  const doc = model.resource.kept && rows.record(deletedKey(model, id), nowMs)?.body;
  return doc ? { row: { id, seq: 0, rev: 0, doc, entered: 0 }, fields: model.parse({ doc }) } : undefined;
}

/** Keeps a deleted row no more: it is back, or nothing of it may be left. */
export function forgetDeleted(rows: Transaction, model: RowModel, id: string): void {
  if (model.resource.kept) rows.keep(deletedKey(model, id), { fingerprint: '', body: '', expiresMs: 0 });
}

function deletedKey({ name }: RowModel, id: string): string {
  return `deleted\n${name}\n${id}`;
}

/** A new row in the states that it starts in, one machine after the other, with the error that it is answered with; nothing where no target of one holds. */
type Begin = (scope: Names, sent: Fields) => { readonly next: Fields; readonly answer?: string | undefined } | undefined;

/** Compiles it for one operation. Where it is open what a row starts in, `isLeftOpen` leaves it as it was sent. */
export function compileBegin({ machines }: RowModel, operation: string, isLeftOpen = false): Begin {
  const beginning = machines
    .filter(({ hasInitial }) => hasInitial || !isLeftOpen)
    .map((machine) => ({ field: machine.field, initial: machine.initial(operation) }));
  if (beginning.length === 0) return (_scope, sent) => ({ next: sent });
  return (scope, sent) => {
    const next = withoutPrototype(sent);
    let answer: string | undefined;
    for (const { field, initial } of beginning) {
      const target = initial({ ...scope, next });
      if (target === undefined) return undefined;
      next[field] = target.state;
      answer ??= target.answer;
    }
    return { next, answer };
  };
}
