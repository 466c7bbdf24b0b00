import type { Json } from '../../document/document.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';
import { isMaking } from '../model/row-known.ts';
import { rowIn } from '../model/row-shown.ts';
import { keysKnown } from './path-keys.ts';

/** A row that was made. */
export interface MadeRow {
  readonly resource: string;
  readonly id: Json;
  readonly path: Readonly<Record<string, Json>>;
  /** As it was shown last. */
  fields: Readonly<Record<string, Json>> | undefined;
  readonly caller: TrialCaller | undefined;
  /** The run that made it. */
  readonly owner: unknown;
  /** Whether the document has an operation that deletes it. */
  readonly isRemovable: boolean;
}

/** Everything that was made at the service and is still there, as far as its answers tell. */
export class Made {
  readonly #rows = new Map<string, MadeRow>();
  /** How many rows of each resource were removed. */
  readonly #removed = new Map<string, number>();
  readonly #refused = new Map<MadeRow, { readonly why: string; readonly holders: readonly string[]; readonly removed: number }>();
  #owed = 0;

  /** Notes what an exchange made or removed. */
  note(exchange: TrialExchange, model: Model, owner: unknown): void {
    const effect = exchange.endpoint && statedValue(exchange.endpoint.does);
    const resource = resourceOfEffect(effect);
    if (!exchange.endpoint || resource === undefined || !isDone(exchange)) return;
    const last = identifierParameter(exchange.endpoint);
    if (effect?.verb === 'delete' && last !== undefined)
      this.#remove(madeKey({ resource, id: exchange.sent.path[last] ?? null }));
    else if (effect?.verb === 'delete') this.#removeByKey(resource, keysIn(model, exchange));
    if (!isMaking(exchange)) {
      this.#see(exchange, resource, last);
      return;
    }
    const field = statedValue(model.resource(resource)?.identifier)?.field ?? 'id';
    const id = rowIn(exchange)?.[field] ?? (last === undefined ? undefined : exchange.sent.path[last]);
    if (id === undefined || id === null) return;
    this.#add({
      resource,
      id,
      path: { ...rowIn(exchange), ...(exchange.endpoint.rows ? keysIn(model, exchange) : exchange.sent.path) },
      fields: rowIn(exchange),
      caller: exchange.caller,
      owner,
      isRemovable: model.endpointsThat('delete', resource).length > 0,
    });
  }

  /** Removes the row that a path named by what it is told apart by. */
  #removeByKey(resource: string, keys: Readonly<Record<string, Json>>): void {
    const named = Object.entries(keys);
    if (named.length === 0) return;
    const row = this.#rows
      .values()
      .find((one) => one.resource === resource && named.every(([key, value]) => one.path[key] === value));
    if (row) this.#remove(madeKey(row));
  }

  /** A row that is shown again is in another state by now. */
  #see(exchange: TrialExchange, resource: string, last: string | undefined): void {
    const row = last === undefined ? undefined : this.#rows.get(madeKey({ resource, id: exchange.sent.path[last] ?? null }));
    const fields = row && rowIn(exchange);
    if (row && fields) row.fields = { ...row.fields, ...fields };
  }

  /** How many requests it takes at least to remove what can be removed. */
  get owed(): number {
    return this.#owed;
  }

  /** Whether another run than this has made a row, so that what is seen of it does not come of what this one did. */
  isOthers(resource: string, id: Json, owner: unknown): boolean {
    const row = this.#rows.get(madeKey({ resource, id }));
    return row !== undefined && row.owner !== owner;
  }

  /** Whether a run has made a row of a resource that can be removed and is still there. */
  hasOf(resource: string, owner: unknown): boolean {
    return this.#rows.values().some((row) => row.owner === owner && row.resource === resource && row.isRemovable);
  }

  forget(row: MadeRow): void {
    this.#remove(madeKey(row));
  }

  /** Whether it is still there, as far as is known. */
  has(row: MadeRow): boolean {
    return this.#rows.get(madeKey(row)) === row;
  }

  /** Notes that a row could not be removed, and of which resources there may be rows that hold it. */
  refuse(row: MadeRow, why: string, holders: readonly string[]): void {
    this.#refused.set(row, { why, holders, removed: this.#removedOf(holders) });
  }

  /** Why a row could not be removed, where nothing that may hold it was removed since. */
  refusedBefore(row: MadeRow): string | undefined {
    const refused = this.#refused.get(row);
    return refused && refused.removed === this.#removedOf(refused.holders) ? refused.why : undefined;
  }

  #removedOf(resources: readonly string[]): number {
    return resources.reduce((sum, name) => sum + (this.#removed.get(name) ?? 0), 0);
  }

  #add(row: MadeRow): void {
    const key = madeKey(row);
    this.#remove(key);
    this.#rows.set(key, row);
    if (row.isRemovable) this.#owed += 1;
  }

  #remove(key: string): void {
    const row = this.#rows.get(key);
    if (!row) return;
    if (row.isRemovable) this.#owed -= 1;
    this.#removed.set(row.resource, (this.#removed.get(row.resource) ?? 0) + 1);
    this.#refused.delete(row);
    this.#rows.delete(key);
  }

  /** What is left, the youngest first: it may refer to what is older. */
  get left(): readonly MadeRow[] {
    return [...this.#rows.values()].reverse();
  }
}

/** What the path of an exchange says of its row by keys: `owner.login`. */
function keysIn(model: Model, { endpoint, sent }: TrialExchange): Record<string, Json> {
  const known: Record<string, Json> = {};
  if (!endpoint) return known;
  for (const [name, key] of keysKnown(model, endpoint)) {
    const value = sent.path[name];
    if (value !== undefined) known[key] = value;
  }
  return known;
}

/** What a row is told apart from all others by. */
export function madeKey({ resource, id }: Pick<MadeRow, 'resource' | 'id'>): string {
  return `${resource}\n${String(id)}`;
}
