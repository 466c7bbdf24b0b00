import type { Json } from '../document/document.ts';
import { entryOf, statedValue } from '../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../parts/operations.ts';
import { fieldCountedApart, type RowLimit } from '../parts/row-limits.ts';
import { machinesOf } from '../parts/states.ts';
import { cleanUp } from './clean-up.ts';
import { Spent } from './exchange/budget.ts';
import type { TrialCaller } from './exchange/callers.ts';
import type { TrialExchange } from './exchange/exchange.ts';
import type { TrialRow } from './exchange/row.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import type { Made, MadeRow } from './make/made.ts';
import { statesOf, walkTo } from './make/walk.ts';
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
  readonly #limits: readonly RowLimit[];
  /** Those whose case is over. */
  readonly #ended = new WeakSet<object>();
  /** What could be moved nowhere stays, and is asked about no more. */
  readonly #stuck = new WeakSet<MadeRow>();
  #making: Promise<void> = Promise.resolve();

  constructor(model: Model, made: Made, start: () => Session, isKept: (row: MadeRow) => boolean = () => false) {
    this.#isKept = isKept;
    this.#model = model;
    this.#made = made;
    this.#start = start;
    this.#limits = statedValue(model.spec.limits.rows) ?? [];
  }

  /** Makes room once a case is over, where there is little left; waits for whoever does so already. */
  ended(owner: object): Promise<void> {
    if (this.#limits.length === 0) return Promise.resolve();
    this.#ended.add(owner);
    this.#making = this.#making.then(() => this.#make());
    return this.#making;
  }

  /** Whether a caller may make another row, as far as what was made tells: where rows are counted by who makes them. */
  hasRoom(resource: string, caller: TrialCaller | undefined): boolean {
    return this.#limits.every((limit) => {
      const stated = limit.of === resource ? this.#model.resource(resource) : undefined;
      const field = stated && fieldCountedApart(limit, stated);
      const set = field === undefined ? undefined : entryOf(stated?.fields, field)?.set.create?.source;
      const [, member = ''] = /^\s*caller\.(\w+)\s*$/.exec(set ?? '') ?? [];
      const own = member === 'id' ? caller?.id : caller?.attributes?.[member];
      if (field === undefined || own === undefined) return true;
      const counted = this.#made.left.filter(
        (row) => row.resource === resource && row.fields?.[field] === own && this.#counts(limit, row.fields),
      );
      return counted.length < limit.limit;
    });
  }

  /** Whether something was refused since there are as many rows as there may be. */
  wasFull(exchanges: readonly TrialExchange[]): boolean {
    if (this.#limits.length === 0) return false;
    const { refusals } = this.#model;
    return exchanges.some((one) => {
      const code = one.status >= 400 ? refusals.codeIn(one) : undefined;
      const operation = one.endpoint && this.#model.operationOf(one.endpoint);
      return code !== undefined && refusals.codesFor('limit.quota', operation).includes(code) && this.#mayBeOfRows(operation);
    });
  }

  /** Quotas are refused under the same condition: what one counts, and no limit of rows does, waits for its window, not for room. */
  #mayBeOfRows(operation: Operation | undefined): boolean {
    const does = operation?.endpoint?.does;
    const resource = resourceOfEffect(does && statedValue(does));
    if (!operation || this.#limits.some(({ of }) => of === resource)) return true;
    const quotas = statedValue(this.#model.spec.limits.quota) ?? [];
    return !quotas.some(({ on }) => on === undefined || namesOperation(on, operation));
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
  #crowded(limit: RowLimit): readonly MadeRow[] {
    const stated = this.#model.resource(limit.of);
    const field = stated && fieldCountedApart(limit, stated);
    const counted = this.#made.left.filter((row) => row.resource === limit.of && this.#counts(limit, row.fields));
    const apart = Map.groupBy(counted, (row) => JSON.stringify(field === undefined ? null : (row.fields?.[field] ?? null)));
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

  #counts({ while: condition }: RowLimit, fields: Readonly<Record<string, Json>> | undefined): boolean {
    if (!condition || !fields) return true;
    const counts = this.#model.expressions.evaluate(condition, undefined, { context: { next: fields } });
    return typeof counts === 'string' || counts.value !== false;
  }

  /** Brings a row that nobody deletes to a state in which it does not count. */
  async #moveOn(limit: RowLimit, given: MadeRow): Promise<void> {
    for (const machine of limit.while ? machinesOf(this.#model.spec.states, given.resource) : []) {
      for (const state of statesOf(machine)) {
        if (this.#counts(limit, { ...given.fields, [machine.field]: state })) continue;
        const row: TrialRow = { ...given, known: given.path, shown: undefined, fields: given.fields };
        try {
          await walkTo(this.#start(), row, state, { machine });
          given.fields = { ...given.fields, ...row.fields, [machine.field]: state };
          return;
        } catch (error) {
          if (![Untestable, Missing, NoValue, Spent].some((known) => error instanceof known)) throw error;
        }
      }
    }
    this.#stuck.add(given);
  }
}
