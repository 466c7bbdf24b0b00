import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import type { Model } from '../model/model.ts';
import { hasMade } from '../model/row-known.ts';
import { idIn, isMaking, rowIn, type ShownFields, wholeRowIn } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
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
  /** The rows that it goes with, by their keys: what refers to a row with `onDelete: cascade`. */
  readonly goesWith: readonly string[];
}

/** Everything that was made at the service and is still there, as far as its answers tell. */
export class Made {
  readonly #rows = new Map<string, MadeRow>();
  readonly #byResource = new Map<string, Set<MadeRow>>();
  /** What goes with a row, by the key of that row. */
  readonly #along = new Map<string, Set<MadeRow>>();
  readonly #watching: ((row: MadeRow, isThere: boolean) => void)[] = [];
  /** How many rows of each resource were removed. */
  readonly #removed = new Map<string, number>();
  readonly #refused = new Map<MadeRow, { readonly why: string; readonly holders: readonly string[]; readonly removed: number }>();
  readonly #staying = new WeakMap<MadeRow, { readonly why: string; readonly fields: MadeRow['fields'] }>();
  #owed = 0;

  /** Notes what an exchange made or removed. */
  note(exchange: TrialExchange, model: Model, owner: unknown): void {
    const effect = exchange.endpoint && statedValue(exchange.endpoint.does);
    const resource = resourceOfEffect(effect);
    if (!exchange.endpoint || resource === undefined || !isDone(exchange)) return;
    const last = identifierParameter(exchange.endpoint);
    if (effect?.verb === 'delete' && last !== undefined) {
      const removed = madeKey({ resource, id: exchange.sent.path[last] ?? null });
      this.#remove(removed);
      this.#removeAlong(removed);
    } else if (effect?.verb === 'delete') this.#removeByKey(resource, keysIn(model, exchange));
    if (!isMaking(exchange)) {
      this.#see(exchange, resource, last);
      return;
    }
    const field = statedValue(model.resource(resource)?.identifier)?.field ?? 'id';
    const id = rowIn(exchange)?.[field] ?? (last === undefined ? undefined : exchange.sent.path[last]);
    if (id === undefined || id === null) return;
    const path = { ...rowIn(exchange), ...(exchange.endpoint.rows ? keysIn(model, exchange) : exchange.sent.path) };
    this.#add({
      resource,
      id,
      path,
      goesWith: goesWith(model, resource, path),
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
    const row = this.of(resource).find((one) => named.every(([key, value]) => one.path[key] === value));
    if (row) this.forget(row);
  }

  /** A row that is shown again is in another state by now. */
  #see(exchange: TrialExchange, resource: string, last: string | undefined): void {
    const row = last === undefined ? undefined : this.#rows.get(madeKey({ resource, id: exchange.sent.path[last] ?? null }));
    const fields = row && rowIn(exchange);
    if (row && fields) this.see(row, fields);
  }

  /** Notes what was seen of a row. */
  see(row: MadeRow, fields: Readonly<Record<string, Json>>): void {
    row.fields = { ...row.fields, ...fields };
    if (this.has(row)) for (const told of this.#watching) told(row, true);
  }

  /** Tells of every row that comes, is seen otherwise, or goes. */
  watch(told: (row: MadeRow, isThere: boolean) => void): void {
    this.#watching.push(told);
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
    return this.of(resource).some((row) => row.owner === owner && row.isRemovable);
  }

  forget(row: MadeRow): void {
    this.#remove(madeKey(row));
    this.#removeAlong(madeKey(row));
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

  /** Notes that nobody may remove a row as it is. */
  leave(row: MadeRow, why: string): void {
    this.#staying.set(row, { why, fields: row.fields });
  }

  /** Why nobody may remove a row, where it has not been shown since. */
  staysFor(row: MadeRow): string | undefined {
    const staying = this.#staying.get(row);
    return staying && staying.fields === row.fields ? staying.why : undefined;
  }

  #removedOf(resources: readonly string[]): number {
    return resources.reduce((sum, name) => sum + (this.#removed.get(name) ?? 0), 0);
  }

  #add(row: MadeRow): void {
    const key = madeKey(row);
    this.#remove(key);
    this.#rows.set(key, row);
    const alike = this.#byResource.get(row.resource) ?? new Set();
    this.#byResource.set(row.resource, alike.add(row));
    if (row.isRemovable) this.#owed += 1;
    for (const one of row.goesWith) this.#along.set(one, (this.#along.get(one) ?? new Set()).add(row));
    for (const told of this.#watching) told(row, true);
  }

  #remove(key: string): void {
    const row = this.#rows.get(key);
    if (!row) return;
    if (row.isRemovable) this.#owed -= 1;
    this.#removed.set(row.resource, (this.#removed.get(row.resource) ?? 0) + 1);
    this.#refused.delete(row);
    this.#rows.delete(key);
    this.#byResource.get(row.resource)?.delete(row);
    for (const one of row.goesWith) this.#along.get(one)?.delete(row);
    for (const told of this.#watching) told(row, false);
  }

  /** A row that was removed takes with it what refers to it and goes along, as the document says. */
  #removeAlong(key: string): void {
    const along = this.#along.get(key);
    this.#along.delete(key);
    for (const row of along ?? []) {
      this.#remove(madeKey(row));
      this.#removeAlong(madeKey(row));
    }
  }

  /** What is left of a resource, the oldest first. */
  of(resource: string): IteratorObject<MadeRow, undefined> {
    return (this.#byResource.get(resource) ?? new Set<MadeRow>()).values();
  }

  /** What is left, the youngest first: it may refer to what is older. */
  get left(): readonly MadeRow[] {
    return [...this.#rows.values()].reverse();
  }
}

/** The rows that one goes with when they are deleted, as far as what is known of it tells. */
function goesWith(model: Model, resource: string, known: Readonly<Record<string, Json>>): string[] {
  const stated = model.resource(resource);
  return (stated ? entriesOf(stated.fields) : []).flatMap(([name, { ref, onDelete }]) => {
    const shown = ref !== undefined && onDelete === 'cascade' ? known[name] : undefined;
    // What is referred to may be shown whole.
    const id = isMap(shown) && ref !== undefined ? shown[model.identifierField(ref)] : shown;
    return ref !== undefined && (typeof id === 'string' || typeof id === 'number') ? [madeKey({ resource: ref, id })] : [];
  });
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
  return `${resource}\n${asText(id)}`;
}

/** References from row to row are followed so far. */
const depthMax = 3;

/** The exchanges of a session that made what a row refers to and, by its identifier, the row itself; and those that changed what it refers to last. */
export function creationsOf(session: Session, resource: string, row: ShownFields): Done<TrialExchange>[] {
  const { model, run } = session;
  const found = new Map<number, Done<TrialExchange>>();
  let front = [{ resource, row }];
  for (let depth = 0; depth <= depthMax && front.length > 0; depth++) {
    front = front.flatMap(({ resource: name, row: fields }) => {
      const stated = model.resource(name);
      const references = (stated ? entriesOf(stated.fields) : []).flatMap(([field, { ref }]) =>
        ref === undefined ? [] : [{ ref, id: fields[field] }],
      );
      const meant = [...references, { ref: name, id: fields[model.identifierField(name)] }];
      return meant.flatMap(({ ref, id }) => {
        if (typeof id !== 'string' && typeof id !== 'number') return [];
        const step = run.results.findIndex((result) => isExchange(result) && hasMade(model, result, ref, id));
        const value = run.results[step];
        if (found.has(step) || !isExchange(value)) return [];
        found.set(step, { step, value });
        const changed = ref === name && id === fields[model.identifierField(name)] ? -1 : lastChange(session, ref, id);
        const last = run.results[changed];
        if (isExchange(last)) found.set(changed, { step: changed, value: last });
        return [{ resource: ref, row: (isExchange(last) ? wholeRowIn(last) : undefined) ?? rowIn(value) ?? {} }];
      });
    });
  }
  return [...found.values()].sort((one, other) => one.step - other.step);
}

/** The step that changed a row last and showed it; -1 where none did. */
function lastChange({ model, run }: Session, resource: string, id: Json): number {
  return run.results.findLastIndex((result) => {
    if (!isExchange(result) || !isDone(result)) return false;
    const effect = result.endpoint && statedValue(result.endpoint.does);
    const isChange = effect?.verb === 'transition' || effect?.verb === 'update' || effect?.verb === 'replace';
    return (
      isChange && effect.resource === resource && wholeRowIn(result) !== undefined && asText(idIn(model, result)) === asText(id)
    );
  });
}
