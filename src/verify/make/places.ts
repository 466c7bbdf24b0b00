import { type Expression, entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { fieldCountedApart } from '../../parts/row-limits.ts';
import type { Spec } from '../../parts/spec.ts';
import type { CountedIn, HeldPlace, Newcomer, RowPlaces } from '../exchange/step.ts';
import type { Model } from '../model/model.ts';
import type { ShownFields } from '../model/row-shown.ts';
import { roomOf } from '../values/fresh.ts';
import { identifiedByMaker } from './entrusted.ts';
import type { Made, MadeRow } from './made.ts';
import { isOfMaker } from './of-maker.ts';

/** How many rows of a resource there may be that have these fields in common, of those for which the condition holds. */
export interface Bound {
  readonly of: string;
  readonly fields: readonly string[];
  readonly while?: Expression;
  readonly limit: number;
  /** The condition that one too many is refused under. */
  readonly refused: 'limit.quota' | 'resource.exists';
}

/** The stated limits of rows; that there is one row alone of whoever makes it, where rows are unique by nothing but that; and what few values tell apart. */
export function rowBounds(model: Model): readonly Bound[] {
  const { spec } = model;
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
  // What has to be called as whoever makes it is there once for each.
  const named = entriesOf(spec.resources.all).flatMap(([of]): Bound[] => {
    const one = identifiedByMaker(model, of);
    return one ? [{ of, fields: [one.field], limit: 1, refused: 'resource.exists' }] : [];
  });
  return [...limited, ...single, ...named, ...fewOf(spec)];
}

/** Whether there may be only so many rows of a resource, whoever makes them. */
export function isScarce(model: Model, resource: string): boolean {
  const known = scarce.get(model) ?? new Set(rowBounds(model).flatMap(({ of, fields }) => (fields.length === 0 ? [of] : [])));
  scarce.set(model, known);
  return known.has(resource);
}

const scarce = new WeakMap<Model, ReadonlySet<string>>();

/** Of more combinations than these there are enough for all cases. */
export const fewMost = 2_000;

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

/** Which rows count in a limit. */
export interface RowsThatCount {
  readonly of: string;
  readonly while?: Expression;
}

/** Whether a row of these fields counts, unless it is known not to. */
export function counts({ expressions }: Model, { while: condition }: RowsThatCount, fields: ShownFields | undefined): boolean {
  if (!condition || !fields) return true;
  const told = expressions.evaluate(condition, undefined, { context: { next: fields } });
  return typeof told === 'string' || told.value !== false;
}

interface Waiting {
  readonly keys: ReadonlySet<string>;
  readonly goOn: (isMore: boolean) => void;
}

/**
 * The places for rows of which there may be only so many, as far as what was made tells: a case holds one before it asks for a row, and where
 * there is none it waits for the rows of cases that come to their end.
 */
export class HeldPlaces implements RowPlaces {
  readonly #model: Model;
  readonly #bounds: readonly Bound[];
  /** How many rows count together, and how many are asked for. */
  readonly #taken = new Map<string, number>();
  readonly #counted = new Map<MadeRow, readonly string[]>();
  #waiting: Waiting[] = [];
  readonly #elsewhere: () => number;
  #underWay = 0;

  /** `elsewhere` says how many cases wait for something else that does not come before those that wait here go on. */
  constructor(model: Model, made: Made, bounds: readonly Bound[], elsewhere: () => number = () => 0) {
    this.#model = model;
    this.#bounds = bounds;
    this.#elsewhere = elsewhere;
    if (bounds.length > 0) made.watch((row, isThere) => this.#note(row, isThere));
  }

  /** A case is under way until its rows have made room. */
  begin(): void {
    this.#underWay += 1;
  }

  end(): void {
    this.#underWay -= 1;
    this.look();
  }

  /** What a row that is to come counts in, in each of its states: nothing of what it counts in already. */
  countedIn(newcomers: readonly Newcomer[]): CountedIn {
    return new Map(newcomers.flatMap((one) => this.#keysOf(one)));
  }

  /** Holds a place until it is given back; nothing where there is none. */
  hold(counted: CountedIn): HeldPlace | undefined {
    for (const [key, limit] of counted) if ((this.#taken.get(key) ?? 0) >= limit) return undefined;
    for (const key of counted.keys()) this.#add(key, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const key of counted.keys()) this.#add(key, -1);
      this.#wake(counted.keys());
    };
  }

  /** Waits until others have given something back of what these count in; false where all who are under way wait. */
  more(wanted: readonly CountedIn[]): Promise<boolean> {
    const keys = new Set(wanted.flatMap((counted) => [...counted.keys()]));
    return new Promise((goOn) => {
      this.#waiting.push({ keys, goOn });
      this.look();
    });
  }

  /** Lets whoever came last go on without, where nobody is left who could give anything back. */
  look(): void {
    if (this.#waiting.length > 0 && this.#waiting.length + this.#elsewhere() >= this.#underWay) this.#waiting.pop()?.goOn(false);
  }

  /** A row whose state nobody knows any more counts as none. */
  forget(row: MadeRow): void {
    this.#note(row, false);
  }

  #wake(freed: Iterable<string>): void {
    for (const key of freed) {
      const woken = this.#waiting.filter(({ keys }) => keys.has(key));
      if (woken.length === 0) continue;
      this.#waiting = this.#waiting.filter(({ keys }) => !keys.has(key));
      for (const { goOn } of woken) goOn(true);
    }
  }

  #keysOf({ resource, fields, was }: Newcomer): [key: string, limit: number][] {
    return this.#bounds.flatMap((bound, at) => {
      const key = bound.of === resource ? this.#keyOf(bound, at, fields) : undefined;
      if (key === undefined || (was && key === this.#keyOf(bound, at, was))) return [];
      return [[key, bound.limit]];
    });
  }

  /** Under what a row counts, where it does and that is known. */
  #keyOf(bound: Bound, at: number, fields: ShownFields | undefined): string | undefined {
    const values = bound.fields.map((name) => fields?.[name]);
    if (values.includes(undefined) || !counts(this.#model, bound, fields)) return undefined;
    return JSON.stringify([at, ...values]);
  }

  #note(row: MadeRow, isThere: boolean): void {
    const before = this.#counted.get(row) ?? [];
    const now = isThere
      ? this.#bounds.flatMap((bound, at) => (bound.of === row.resource ? (this.#keyOf(bound, at, row.fields) ?? []) : []))
      : [];
    for (const key of now) this.#add(key, 1);
    for (const key of before) this.#add(key, -1);
    if (now.length > 0) this.#counted.set(row, now);
    else this.#counted.delete(row);
    this.#wake(before.filter((key) => !now.includes(key)));
  }

  #add(key: string, more: number): void {
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + more);
  }
}
