import type { Json } from '../../document/document.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { machineIn } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';

/** Rows that are there already, by resource: what a service's own operations cannot make. */
export type GivenRows = Readonly<Record<string, readonly Readonly<Record<string, Json>>[]>>;

/** Hands out the given rows in turn, and those that are there from the start where nothing makes others. */
export class Seeds {
  readonly #spec: Spec;
  readonly #rows: GivenRows;
  readonly #next = new Map<string, number>();
  /** The resources of which the service would not make a row. */
  readonly #needed = new Set<string>();

  constructor(spec: Spec, rows: GivenRows) {
    this.#spec = spec;
    this.#rows = { ...statedRows(spec), ...rows };
  }

  /** Whether a row has to be a given one: none can be made, as far as is known. */
  isNeeded(resource: string): boolean {
    return this.#needed.has(resource);
  }

  needs(resource: string): void {
    if (this.#rows[resource] !== undefined) this.#needed.add(resource);
  }

  /** The resources of the given rows that a value names. */
  resourcesOf(id: Json): string[] {
    return Object.keys(this.#rows).filter((resource) => this.isGiven(resource, id));
  }

  isGiven(resource: string, id: Json): boolean {
    const field = this.#identifierOf(resource);
    return (this.#rows[resource] ?? []).some((row) => row[field] !== undefined && asText(row[field]) === asText(id));
  }

  /** A given row, where some are and one is in the wanted state. */
  take(resource: string, wanted: WantedRow): TrialRow | undefined {
    const machine = wanted.machine ?? machineIn(this.#spec.states, resource, wanted.state);
    const rows = (this.#rows[resource] ?? []).filter(
      (row) => wanted.state === undefined || !machine || row[machine.field] === undefined || row[machine.field] === wanted.state,
    );
    if (rows.length === 0) return undefined;
    const at = this.#next.get(resource) ?? 0;
    this.#next.set(resource, at + 1);
    const row = rows[at % rows.length] ?? {};
    const id = row[this.#identifierOf(resource)] ?? null;
    return { resource, id, known: row, caller: wanted.caller, shown: undefined, fields: row };
  }

  #identifierOf(resource: string): string {
    return statedValue(entryOf(this.#spec.resources.all, resource)?.identifier)?.field ?? 'id';
  }
}

/** The rows that a document states are there from the start, of resources of which no operation makes one. */
function statedRows(spec: Spec): GivenRows {
  const made = new Set(
    entriesOf(spec.endpoints.all).flatMap(([, { does }]) => {
      const effect = statedValue(does);
      return effect && 'resource' in effect && (effect.verb === 'create' || effect.verb === 'upsert') ? [effect.resource] : [];
    }),
  );
  return Object.fromEntries(
    entriesOf(spec.resources.all).flatMap(([name, { rows }]) =>
      rows && rows.length > 0 && !made.has(name) ? [[name, rows.map(({ fields }) => fields)]] : [],
    ),
  );
}
