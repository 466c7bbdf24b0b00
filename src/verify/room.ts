import type { Json } from '../document/document.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../parts/operations.ts';
import { fieldCountedApart } from '../parts/row-limits.ts';
import type { Spec } from '../parts/spec.ts';
import { cleanUp } from './clean-up.ts';
import { Spent } from './exchange/budget.ts';
import type { TrialCaller } from './exchange/callers.ts';
import type { TrialExchange } from './exchange/exchange.ts';
import type { TrialRow } from './exchange/row.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import type { Made, MadeRow } from './make/made.ts';
import { counts, statesLeft } from './make/moved-on.ts';
import { isOfMaker, makerMember } from './make/of-maker.ts';
import { walkTo } from './make/walk.ts';
import type { Model } from './model/model.ts';
import type { Session } from './session/session.ts';
import { roomOf } from './values/fresh.ts';
import { NoValue } from './values/scalars.ts';

/** So much of what there may be is left to cases that are over, before theirs make room; nothing of what is little. */
const shareMost = 0.5;
const littleMost = 10;

/** How many rows of a resource there may be that have these fields in common, of those for which the condition holds. */
interface Bound {
  readonly of: string;
  readonly fields: readonly string[];
  readonly while?: Expression;
  readonly limit: number;
  /** The condition that one too many is refused under. */
  readonly refused: 'limit.quota' | 'resource.exists';
}

/** The stated limits of rows; that there is one row alone of whoever makes it, where rows are unique by nothing but that; and what few values tell apart. */
function boundsOf({ spec }: Model): readonly Bound[] {
  const limited = (statedValue(spec.limits.rows) ?? []).map((limit): Bound => {
    const stated = entryOf(spec.resources.all, limit.of);
    const field = stated && fieldCountedApart(limit, stated);
    return { ...limit, fields: field === undefined ? [] : [field], refused: 'limit.quota' };
  });
  const single = entriesOf(spec.resources.all).flatMap(([of, { fields, unique }]) =>
    unique
      .filter((one) => isOfMaker({ fields }, one.fields))
      .map(
        (one): Bound => ({
          of,
          fields: one.fields,
          ...(one.while && { while: one.while }),
          limit: 1,
          refused: 'resource.exists',
        }),
      ),
  );
  return [...limited, ...single, ...fewOf(spec)];
}

/** Of more combinations than these there are enough for all cases. */
const fewMost = 2_000;

/** What is unique by few values, such as a row of eight and a place of forty: there are no more rows than these can tell apart. */
function fewOf({ resources }: Spec): readonly Bound[] {
  return entriesOf(resources.all).flatMap(([of, { fields, unique }]) =>
    unique.flatMap((one): Bound[] => {
      const limit = one.fields.reduce((product, name) => {
        const field = entryOf(fields, name);
        const room = field && field.ref === undefined && !field.readOnly ? roomOf(statedValue(field.shape) ?? {}) : undefined;
        return product * (room ?? Number.POSITIVE_INFINITY);
      }, 1);
      return limit > fewMost
        ? []
        : [{ of, fields: [], ...(one.while && { while: one.while }), limit, refused: 'resource.exists' }];
    }),
  );
}

/** Rows of which there may be only so many: those of cases that are over make room for the others'. */
export class Room {
  readonly #model: Model;
  readonly #made: Made;
  readonly #start: () => Session;
  readonly #isKept: (row: MadeRow) => boolean;
  readonly #limits: readonly Bound[];
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
    this.#limits = boundsOf(model);
  }

  /** Makes room once a case is over, where there is little left; waits for whoever does so already. */
  ended(owner: object): Promise<void> {
    if (this.#limits.length === 0) return Promise.resolve();
    this.#ended.add(owner);
    this.#making = this.#making.then(() => this.#make());
    return this.#making;
  }

  /** Whether a caller may make another row, or have one by a transition, as far as what was made tells: where rows are counted by who does that. */
  hasRoom(resource: string, caller: TrialCaller | undefined, transition = 'create'): boolean {
    return this.#limits.every((limit) => {
      const fields = limit.of === resource ? entryOf(this.#model.spec.resources.all, resource)?.fields : undefined;
      const own = limit.fields.map((name) => {
        const member = makerMember(entryOf(fields, name)?.set[transition]);
        return member === 'id' ? caller?.id : caller?.attributes?.[member ?? ''];
      });
      if (!fields || own.length === 0 || own.includes(undefined)) return true;
      const isCounted = (row: MadeRow) =>
        limit.fields.every((name, at) => row.fields?.[name] === own[at]) && this.#counts(limit, row.fields);
      return this.#made.of(resource).filter(isCounted).take(limit.limit).toArray().length < limit.limit;
    });
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
        given.fields = { ...given.fields, ...row.fields, [machine.field]: state };
        return;
      } catch (error) {
        if (![Untestable, Missing, NoValue, Spent].some((known) => error instanceof known)) throw error;
      }
    }
    this.#stuck.add(given);
  }
}
