import type { Json } from '../document/document.ts';
import { statedValue } from '../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../parts/operations.ts';
import { cleanUp } from './clean-up.ts';
import { Spent } from './exchange/budget.ts';
import type { TrialExchange } from './exchange/exchange.ts';
import type { TrialRow } from './exchange/row.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import type { Made, MadeRow } from './make/made.ts';
import { statesLeft } from './make/moved-on.ts';
import { type Bound, counts, HeldPlaces, rowBounds } from './make/places.ts';
import { walkTo } from './make/walk.ts';
import type { Model } from './model/model.ts';
import type { Session } from './session/session.ts';
import { NoValue } from './values/scalars.ts';

/** So much of what there may be is left to cases that are over, before theirs make room; nothing of what is little. */
const shareMost = 0.5;
const littleMost = 10;

/** Rows of which there may be only so many: those of cases that are over make room for the others'. */
export class Room {
  readonly #model: Model;
  readonly #made: Made;
  readonly #start: () => Session;
  readonly #isKept: (row: MadeRow) => boolean;
  readonly #limits: readonly Bound[];
  /** What there is room for. */
  readonly places: HeldPlaces;
  /** Those whose case is over. */
  readonly #ended = new WeakSet<object>();
  /** What could be moved nowhere stays, and is asked about no more. */
  readonly #stuck = new WeakSet<MadeRow>();
  #making: Promise<void> = Promise.resolve();

  /** `elsewhere` says how many cases that are under way wait until no other is, but those that wait for room. */
  constructor(model: Model, made: Made, start: () => Session, isKept: (row: MadeRow) => boolean, elsewhere: () => number) {
    this.#isKept = isKept;
    this.#model = model;
    this.#made = made;
    this.#start = start;
    this.#limits = rowBounds(model);
    this.places = new HeldPlaces(model, made, this.#limits, elsewhere);
  }

  /** Makes room once a case is over, where there is little left; waits for whoever does so already. */
  ended(owner: object): Promise<void> {
    if (this.#limits.length === 0) return Promise.resolve();
    this.#ended.add(owner);
    this.#making = this.#making.then(() => this.#make());
    return this.#making;
  }

  /** Whether something was refused since there are as many rows as there may be. */
  wasFull(exchanges: readonly TrialExchange[]): boolean {
    if (this.#limits.length === 0) return false;
    const { refusals } = this.#model;
    return exchanges.some((one) => {
      const code = one.status >= 400 ? refusals.codeIn(one) : undefined;
      const operation = one.endpoint && this.#model.operationOf(one.endpoint);
      if (code === undefined) return false;
      const isOfLimit = refusals.codesFor('limit.quota', operation).includes(code) && this.#mayBeOfRows(operation);
      return isOfLimit || (refusals.codesFor('resource.exists', operation).includes(code) && this.#isSingle(operation));
    });
  }

  /** Quotas are refused under the same condition: what one counts, and no limit of rows does, waits for its window, not for room. */
  #mayBeOfRows(operation: Operation | undefined): boolean {
    const does = operation?.endpoint?.does;
    const resource = resourceOfEffect(does && statedValue(does));
    if (!operation || this.#limits.some(({ of, refused }) => of === resource && refused === 'limit.quota')) return true;
    const quotas = statedValue(this.#model.spec.limits.quota) ?? [];
    return !quotas.some(({ on }) => on === undefined || namesOperation(on, operation));
  }

  /** Whether there is one row alone of whoever makes it. */
  #isSingle(operation: Operation | undefined): boolean {
    const does = operation?.endpoint?.does;
    const resource = resourceOfEffect(does && statedValue(does));
    return this.#limits.some(({ of, refused }) => of === resource && refused === 'resource.exists');
  }

  async #make(): Promise<void> {
    for (const limit of this.#limits) {
      const leaving = new Set(this.#crowded(limit));
      if (leaving.size === 0) continue;
      await cleanUp(this.#made, this.#start, { among: (row) => leaving.has(row) });
      for (const row of leaving) if (this.#made.has(row)) await this.#moveOn(limit, row);
    }
  }

  /** The rows of cases that are over, where there are so many that count together. */
  #crowded(limit: Bound): readonly MadeRow[] {
    const counted = this.#made.of(limit.of).filter((row) => this.#counts(limit, row.fields));
    const apart = Map.groupBy(counted, (row) => JSON.stringify(limit.fields.map((name) => row.fields?.[name] ?? null)));
    return [...apart.values()]
      .filter(({ length }) => limit.limit <= littleMost || length >= limit.limit * shareMost)
      .flat()
      .filter((row) => this.#isOver(row) && !this.#stuck.has(row));
  }

  #isOver(row: MadeRow): boolean {
    const { owner } = row;
    if (this.#isKept(row)) return false;
    return typeof owner === 'object' && owner !== null && this.#ended.has(owner);
  }

  #counts(limit: Bound, fields: Readonly<Record<string, Json>> | undefined): boolean {
    return counts(this.#model, limit, fields);
  }

  /** Brings a row that nobody deletes to a state in which it does not count. */
  async #moveOn(limit: Bound, given: MadeRow): Promise<void> {
    for (const { machine, state } of statesLeft(this.#start, limit, given.fields)) {
      const row: TrialRow = { ...given, known: given.path, shown: undefined, fields: given.fields };
      try {
        await walkTo(this.#start(), row, state, { machine });
        this.#made.see(given, { ...row.fields, [machine.field]: state });
        return;
      } catch (error) {
        if (![Untestable, Missing, NoValue, Spent].some((known) => error instanceof known)) throw error;
      }
    }
    this.#stuck.add(given);
    this.places.forget(given);
  }
}
