import type { Json } from '../document/document.ts';
import { statedValue } from '../parts/fact.ts';
import { resourceOfEffect } from '../parts/operations.ts';
import { identifierParameter } from '../parts/payload.ts';
import type { TrialCaller } from './model/callers.ts';
import type { Model } from './model/model.ts';
import { rowIn } from './model/row-shown.ts';
import { isDone, type TrialExchange } from './script/exchange.ts';

/** A row that was made, as its creation answered it. */
export interface MadeRow {
  readonly resource: string;
  readonly id: Json;
  readonly path: Readonly<Record<string, Json>>;
  readonly fields: Readonly<Record<string, Json>> | undefined;
  readonly caller: TrialCaller | undefined;
  /** The run that made it. */
  readonly owner: unknown;
  /** Whether the document has an operation that deletes it. */
  readonly isRemovable: boolean;
}

/** Everything that was made at the service and is still there, as far as its answers tell. */
export class Made {
  readonly #rows = new Map<string, MadeRow>();
  #owed = 0;

  /** Notes what an exchange made or removed. */
  note(exchange: TrialExchange, model: Model, owner: unknown): void {
    const effect = exchange.endpoint && statedValue(exchange.endpoint.does);
    const resource = resourceOfEffect(effect);
    if (!exchange.endpoint || resource === undefined || !isDone(exchange)) return;
    const last = identifierParameter(exchange.endpoint);
    if (effect?.verb === 'delete' && last !== undefined) this.#remove(keyOf(resource, exchange.sent.path[last] ?? null));
    if (effect?.verb !== 'create' && !(effect?.verb === 'upsert' && exchange.status === 201)) return;
    const field = statedValue(model.resource(resource)?.identifier ?? { standing: 'open', at: '' })?.field ?? 'id';
    const id = rowIn(exchange)?.[field] ?? (last === undefined ? undefined : exchange.sent.path[last]);
    if (id === undefined || id === null) return;
    this.#add({
      resource,
      id,
      path: { ...rowIn(exchange), ...exchange.sent.path },
      fields: rowIn(exchange),
      caller: exchange.caller,
      owner,
      isRemovable: model.endpointsThat('delete', resource).length > 0,
    });
  }

  /** How many requests it takes at least to remove what can be removed. */
  get owed(): number {
    return this.#owed;
  }

  /** Whether another run than this has made a row, so that what is seen of it does not come of what this one did. */
  isOthers(resource: string, id: Json, owner: unknown): boolean {
    const row = this.#rows.get(keyOf(resource, id));
    return row !== undefined && row.owner !== owner;
  }

  forget({ resource, id }: MadeRow): void {
    this.#remove(keyOf(resource, id));
  }

  #add(row: MadeRow): void {
    const key = keyOf(row.resource, row.id);
    this.#remove(key);
    this.#rows.set(key, row);
    if (row.isRemovable) this.#owed += 1;
  }

  #remove(key: string): void {
    if (this.#rows.get(key)?.isRemovable) this.#owed -= 1;
    this.#rows.delete(key);
  }

  /** What is left, the youngest first: it may refer to what is older. */
  get left(): readonly MadeRow[] {
    return [...this.#rows.values()].reverse();
  }
}

function keyOf(resource: string, id: Json): string {
  return `${resource}\n${String(id)}`;
}
