/** How derived fields follow the rows that they are reckoned of, in sums that lose nothing. */

import { isSame } from '../../document/values.ts';
import { Failed } from '../../parts/expressions/cel-value.ts';
import type { Reader, Row, Transaction } from '../../store/store.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { parseStored, withoutPrototype } from '../http/json.ts';
import { describeValue } from '../http/violation.ts';
import type { Work } from './act.ts';
import { type DerivedField, isExtreme, type RowAggregate } from './derived.ts';
import { newRow, setTimers } from './kept-row.ts';
import { identifierText, type RowModel } from './model.ts';

/** The running state of a row's aggregates by their keys, as text. */
type Tallied = Readonly<Record<string, string>>;

/**
 * A row with what is derived of it. A row that is being made (`id` absent) is referred to by none. What cannot be reckoned yet, of
 * a row of which more is to be set, is left out.
 * @throws {Refused} `internal` where it fails or does not fit its field.
 */
export function withDerived(
  rows: Reader,
  model: RowModel,
  id: string | undefined,
  fields: Fields,
  isWhole: boolean,
  { level = Number.POSITIVE_INFINITY, tallied }: { readonly level?: number; tallied?: Tallied | undefined } = {},
): Fields {
  const { derived } = model;
  if (derived.fields.length === 0) return fields;
  const next = withoutPrototype(fields);
  for (const one of derived.fields) {
    if (one.level > level) continue;
    const names: Record<string, Value> = { resource: next };
    for (const aggregate of one.aggregates) {
      tallied ??= id === undefined ? {} : talliedOf(rows, model, id);
      names[aggregate.name] = aggregated(rows, model, id, fields, aggregate, tallied);
    }
    const value = reckoned(one, names, isWhole);
    if (value === undefined || value === null) delete next[one.field];
    else next[one.field] = value;
  }
  return next;
}

function reckoned({ field, source, evaluate, validate }: DerivedField, names: Record<string, Value>, isWhole: boolean): Value {
  const value = evaluate(names);
  const failed = (why: string) => new Refused({ when: 'internal', message: `What ${field} is derived of (${source}) ${why}` });
  if (value instanceof Failed) {
    if (isWhole) throw failed(`failed: ${value.message}`);
    return undefined;
  }
  if (isWhole && value !== undefined && value !== null && validate(value).length > 0)
    throw failed(`gave ${describeValue(value)}, which is no ${field}.`);
  return value;
}

function aggregated(
  rows: Reader,
  model: RowModel,
  id: string | undefined,
  fields: Fields,
  aggregate: RowAggregate,
  tallied: Tallied,
): Value {
  if (isExtreme(aggregate)) {
    const identifier = fields[model.identifier.field] ?? id;
    const found = id === undefined ? undefined : rows.all(aggregate.query, [aggregate.encode(identifier), 1])[0];
    return found ? aggregate.contribution(parseStored(found.doc)) : null;
  }
  const state = tallied[aggregate.key];
  if (aggregate.word === 'exists') return state !== undefined && state !== '0';
  const sum = readSum(state);
  return aggregate.isWhole || aggregate.word === 'count' ? wholeValue(sum.units) : nearestDouble(sum);
}

function wholeValue(units: bigint): Value {
  const number = Number(units);
  return Number.isSafeInteger(number) ? number : units;
}

function talliesKey({ name }: RowModel, id: string): string {
  return `derived\n${name}\n${id}`;
}

function talliedOf(rows: Reader, model: RowModel, id: string): Tallied {
  const record = rows.record(talliesKey(model, id), 0);
  // What is kept under that key is written below alone.
  return record ? (JSON.parse(record.body) as Tallied) : {};
}

/** Keeps the running state of a row. */
function keepTallied(rows: Transaction, model: RowModel, id: string, tallied: Tallied): void {
  rows.keep(talliesKey(model, id), { fingerprint: '', body: JSON.stringify(tallied), expiresMs: Number.MAX_SAFE_INTEGER });
}

/** Forgets the running state of a row that is gone. */
export function forgetTallied(rows: Transaction, model: RowModel, id: string): void {
  if (model.derived.fields.some(({ aggregates }) => aggregates.length > 0))
    rows.keep(talliesKey(model, id), { fingerprint: '', body: '{}', expiresMs: 0 });
}

/**
 * Brings up what is derived of a row elsewhere, once it is stored or gone: the rows that it referred to and those that it refers to
 * now, and what is derived of those. Nobody is told of it and nothing is set: it is no change of theirs. It comes to an end, since no field is
 * derived of itself.
 */
export function bringUpDerived(
  work: Pick<Work, 'rows' | 'models' | 'scope'>,
  model: RowModel,
  before: Fields | undefined,
  after: Fields | undefined,
): void {
  for (const { by, target, aggregates } of model.derived.tallies) {
    const from = before && identifierText(before[by]);
    const to = after && identifierText(after[by]);
    const owner = work.models.get(target);
    if (!owner) continue;
    if (from !== undefined) adjust(work, owner, from, aggregates, before, from === to ? after : undefined);
    if (to !== undefined && to !== from) adjust(work, owner, to, aggregates, undefined, after);
  }
}

function adjust(
  work: Pick<Work, 'rows' | 'models' | 'scope'>,
  model: RowModel,
  id: string,
  aggregates: readonly RowAggregate[],
  before: Fields | undefined,
  after: Fields | undefined,
): void {
  const row = work.rows.get(model.name, id);
  if (!row) return;
  let tallied: Tallied | undefined;
  let isMoved = false;
  for (const aggregate of aggregates) {
    const gone = before && aggregate.contribution(before);
    const come = after && aggregate.contribution(after);
    if (isSame(gone ?? null, come ?? null)) continue;
    isMoved = true;
    if (isExtreme(aggregate)) continue;
    tallied ??= talliedOf(work.rows, model, id);
    tallied = { ...tallied, [aggregate.key]: moved(tallied[aggregate.key], gone, come) };
  }
  if (tallied) keepTallied(work.rows, model, id, tallied);
  if (isMoved) rederiveRow(work, model, row, tallied);
}

/** The running state of a count or sum, without what is gone and with what came. */
function moved(state: string | undefined, gone: Value, come: Value): string {
  let sum = readSum(state);
  if (gone !== undefined && gone !== null) sum = plus(sum, exactly(gone as number | bigint), -1);
  if (come !== undefined && come !== null) sum = plus(sum, exactly(come as number | bigint), 1);
  return sumText(sum);
}

/** `tallied` is the running state of its aggregates, where that was read already. */
function rederiveRow(
  work: Pick<Work, 'rows' | 'models' | 'scope'>,
  model: RowModel,
  row: Row,
  tallied: Tallied | undefined,
): void {
  const before = model.parse(row);
  const next = withDerived(work.rows, model, row.id, before, true, { tallied });
  if (isDerivedSame(model, before, next)) return;
  const written = work.rows.update(model.name, newRow(model, row.id, next, row.entered));
  setTimers(work, model, written, next);
  bringUpDerived(work, model, before, next);
}

function isDerivedSame(model: RowModel, before: Fields, next: Fields): boolean {
  return model.derived.fields.every(({ field }) => isSame(before[field] ?? null, next[field] ?? null));
}

/**
 * Reckons anew what is derived of a stored row, of all rows that refer to it, up to a level: what lies below has to be true already, and
 * nothing above is brought up.
 */
export function recountRow(rows: Transaction, model: RowModel, row: Row, level: number): void {
  const before = model.parse(row);
  const tallied = recounted(rows, model, before, level);
  keepTallied(rows, model, row.id, tallied);
  const next = withDerived(rows, model, row.id, before, true, { level, tallied });
  if (!isDerivedSame(model, before, next)) rows.update(model.name, newRow(model, row.id, next, row.entered));
}

/** The running state of a row's aggregates, of all rows that refer to it: a bounded page of them at a time. */
function recounted(rows: Reader, model: RowModel, fields: Fields, level: number): Tallied {
  const tallied: Record<string, string> = {};
  const ready = model.derived.fields.filter((one) => one.level <= level);
  for (const aggregate of ready.flatMap(({ aggregates }) => aggregates)) {
    if (isExtreme(aggregate)) continue;
    let sum = noSum;
    for (let last = 0; ; ) {
      const page = rows.all(aggregate.query, [aggregate.encode(fields[model.identifier.field]), last, pageMost]);
      for (const row of page) {
        const value = aggregate.contribution(parseStored(row.doc));
        if (value !== undefined && value !== null) sum = plus(sum, exactly(value as number | bigint), 1);
      }
      last = page.at(-1)?.seq ?? last;
      if (page.length < pageMost) break;
    }
    tallied[aggregate.key] = sumText(sum);
  }
  return tallied;
}

const pageMost = 500;

/**
 * A sum of numbers in which nothing is lost, so that what was added can be taken away again: a whole number of units of a
 * power of two. Sums of doubles would depend on the order in which they were made.
 */
interface ExactSum {
  readonly units: bigint;
  /** A unit is two to this power. */
  readonly power: number;
}

export const noSum: ExactSum = { units: 0n, power: 0 };

/** A finite number as a sum of its own. */
export function exactly(value: number | bigint): ExactSum {
  if (typeof value === 'bigint') return { units: value, power: 0 };
  if (Number.isSafeInteger(value)) return { units: BigInt(value), power: 0 };
  let power = 0;
  let scaled = value;
  // Doubling is exact as long as nothing overflows, and a double has no more than 1074 places after the point.
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    power -= 1;
  }
  return { units: BigInt(scaled), power };
}

export function plus(one: ExactSum, other: ExactSum, times: 1 | -1): ExactSum {
  const power = Math.min(one.power, other.power);
  const unitsOf = (sum: ExactSum) => sum.units << BigInt(sum.power - power);
  return trimmed(unitsOf(one) + BigInt(times) * unitsOf(other), power);
}

function trimmed(units: bigint, power: number): ExactSum {
  if (units === 0n) return noSum;
  let [rest, up] = [units, power];
  while (up < 0 && (rest & 1n) === 0n) {
    rest >>= 1n;
    up += 1;
  }
  return { units: rest, power: up };
}

/** The nearest double, ties to even (IEEE 754 section 4.3.1). */
export function nearestDouble({ units, power }: ExactSum): number {
  if (power >= 0) return Number(units);
  const size = (units < 0n ? -units : units).toString(2).length;
  // What has no more than 53 bits is exact, and so is dividing it in two steps where the power is beyond a double.
  const spare = Math.max(0, size - 64);
  const dropped = spare > 0 && (units & ((1n << BigInt(spare)) - 1n)) !== 0n;
  // A bit that stands for all that were dropped keeps a tie from being seen where there is none.
  const kept = (units >> BigInt(spare)) | (dropped ? 1n : 0n);
  const up = power + spare;
  const half = Math.trunc(up / 2);
  return Number(kept) * 2 ** half * 2 ** (up - half);
}

export function sumText({ units, power }: ExactSum): string {
  return power === 0 ? String(units) : `${units} ${power}`;
}

export function readSum(text: string | undefined): ExactSum {
  if (text === undefined) return noSum;
  const [units = '0', power = '0'] = text.split(' ');
  return { units: BigInt(units), power: Number(power) };
}
