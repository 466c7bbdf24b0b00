/** Stored rows renewed for the document that is served now, and the counting of those that do not fit it. */

import { statedValue } from '../../../parts/fact.ts';
import type { ResourceCarry } from '../../../parts/versions/carry.ts';
import { CannotCarry } from '../../../parts/versions/change-values.ts';
import type { RenewedRow, Row } from '../../../store/store.ts';
import type { Fields } from '../../exchange/exchange.ts';
import { copy, toJson } from '../../http/json.ts';
import { keptFields } from '../../resources/kept-row.ts';
import type { RowModel } from '../../resources/model.ts';

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

/** Rows that do not fit the document, counted and named; serving does not start over them unless told to. */
export class Misfits extends Error {
  readonly rows: readonly { readonly resource: string; readonly count: number; readonly examples: readonly string[] }[];
  /** What else stands in the way of the stored rows, each with what to do. */
  readonly reasons: readonly string[];
  constructor(rows: Misfits['rows'], reasons: readonly string[] = []) {
    const list = rows.map(({ resource, count, examples }) => `${count} of ${resource} (${examples.join('; ')})`);
    super([...(list.length > 0 ? [`Stored rows do not fit this document: ${list.join(', ')}.`] : []), ...reasons].join(' '));
    this.rows = rows;
    this.reasons = reasons;
  }
}

/** How many misfits are told of each resource. */
const examplesMost = 3;

/** Counts what does not fit, and remembers a few examples of each resource. */
export class MisfitCount {
  readonly #counts = new Map<string, { count: number; readonly examples: string[] }>();

  add(resource: string, id: string, wrong: string, times = 1): void {
    const found = this.#counts.get(resource) ?? { count: 0, examples: [] };
    this.#counts.set(resource, found);
    found.count += times;
    if (found.examples.length < examplesMost) found.examples.push(`${id}: ${wrong}`);
  }

  /** The same count, which goes on by itself. */
  copy(): MisfitCount {
    const made = new MisfitCount();
    for (const [resource, { count, examples }] of this.#counts) made.#counts.set(resource, { count, examples: [...examples] });
    return made;
  }

  get rows(): Misfits['rows'] {
    return [...this.#counts].map(([resource, found]) => ({ resource, ...found }));
  }
}

/** What is wrong with a stored row, in a few words. */
export function misfitOf(model: RowModel, fields: Fields): string | undefined {
  const violation = model.validateStored(fields)[0];
  if (violation) return `${violation.path === '' ? 'it' : violation.path} is ${violation.found}, not ${violation.expected}`;
  for (const { field, states } of model.machines) {
    const state = fields[field];
    if (states.size > 0 && !(typeof state === 'string' && states.has(state)))
      return `its state ${String(state)} is none of ${[...states].join(', ')}`;
  }
  return undefined;
}
