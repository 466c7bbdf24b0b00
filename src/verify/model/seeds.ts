import type { Json } from '../../document/document.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { machineOf } from '../../parts/states.ts';
import type { TrialRow, WantedRow } from '../make/row.ts';

/** Rows that are there already, by resource: what a service's own operations cannot make. */
export type GivenRows = Readonly<Record<string, readonly Readonly<Record<string, Json>>[]>>;

/** Hands out the given rows in turn. */
export class Seeds {
  readonly #spec: Spec;
  readonly #rows: GivenRows;
  readonly #next = new Map<string, number>();

  constructor(spec: Spec, rows: GivenRows) {
    this.#spec = spec;
    this.#rows = rows;
  }

  /** A given row, where some are and one is in the wanted state. */
  take(resource: string, wanted: WantedRow): TrialRow | undefined {
    const machine = machineOf(this.#spec.states, resource);
    const rows = (this.#rows[resource] ?? []).filter(
      (row) => wanted.state === undefined || !machine || row[machine.field] === undefined || row[machine.field] === wanted.state,
    );
    if (rows.length === 0) return undefined;
    const at = this.#next.get(resource) ?? 0;
    this.#next.set(resource, at + 1);
    const row = rows[at % rows.length] ?? {};
    const field =
      statedValue(entryOf(this.#spec.resources.all, resource)?.identifier ?? { standing: 'open', at: '' })?.field ?? 'id';
    return { resource, id: row[field] ?? null, known: row, caller: wanted.caller, shown: undefined, fields: row };
  }
}
