import type { Fields } from '../../exchange/exchange.ts';
import type { RowModel } from '../../resources/model.ts';

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
