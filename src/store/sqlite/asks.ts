import type { JoinedRows, QuerySpec, Scalar } from '../store.ts';
import type { Answers } from './reader.ts';
import { SlicedRead } from './slices.ts';
import { type CompiledQuery, joinedOf, type Tables } from './tables.ts';
import type { Slices } from './walk.ts';
import { type LongReadOptions, OutOfTurn, type TurnBudget } from './walk.ts';

/** Questions that are asked within the time of a turn; the first for which that does not suffice stops the body that asked it. */
export class Asks {
  readonly #budget: TurnBudget;
  readonly #tables: () => Tables;
  readonly #options: LongReadOptions;
  /** What questions were answered in slices. */
  readonly answers = new Map<string, unknown>();
  stopped: { readonly key: string; readonly slices: Slices<unknown> } | undefined;

  constructor(budget: TurnBudget, tables: () => Tables, options: LongReadOptions) {
    this.#budget = budget;
    this.#tables = tables;
    this.#options = options;
  }

  all(spec: QuerySpec, params: readonly Scalar[]): ReturnType<Answers['all']> {
    return this.#ask(
      ['all', spec, params],
      (query) => query.all(params),
      (query) => this.#rows(query, params, 0),
    );
  }

  joined(spec: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    return this.#ask(
      ['joined', spec, params],
      (query) => query.joined(params, wantsFirst),
      (query) => joinedSlices(this.#rows(query, params, 1), query.most(params)),
    );
  }

  count(spec: QuerySpec, params: readonly Scalar[]): number {
    return this.#ask(
      ['count', spec, params],
      (query) => query.count(params),
      (query) => new SlicedRead(query.sliced(), params, this.#options).count(),
    );
  }

  numbers(spec: QuerySpec, params: readonly Scalar[]): readonly number[] {
    return this.#ask(
      ['numbers', spec, params],
      (query) => query.numbers(params),
      (query) => new SlicedRead(query.sliced(), params, this.#options).numbers(),
    );
  }

  #rows(query: CompiledQuery, params: readonly Scalar[], more: number): ReturnType<SlicedRead['rows']> {
    const most = query.most(params);
    return new SlicedRead(query.sliced(), params, this.#options).rows(
      most < 0 ? most : most + more,
      query.skipped(params),
      query.after,
    );
  }

  #ask<T>(
    [how, spec, params]: readonly [string, QuerySpec, readonly Scalar[]],
    atOnce: (query: CompiledQuery) => T,
    inSlices: (query: CompiledQuery) => Slices<T>,
  ): T {
    const key = this.answers.size > 0 ? keyOf(how, spec, params) : undefined;
    // What was kept under a key is what the same question was answered.
    if (key !== undefined && this.answers.has(key)) return this.answers.get(key) as T;
    try {
      return this.#budget.spend(() => atOnce(this.#tables().guarded(spec)));
    } catch (error) {
      if (error instanceof OutOfTurn)
        this.stopped ??= { key: keyOf(how, spec, params), slices: inSlices(this.#tables().query(spec)) };
      throw error;
    }
  }
}

/** The same question in two runs of a body need not be the same object. */
function keyOf(how: string, spec: QuerySpec, params: readonly Scalar[]): string {
  return JSON.stringify([how, spec, params], (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

function* joinedSlices(rows: ReturnType<SlicedRead['rows']>, most: number): Slices<JoinedRows> {
  return joinedOf(yield* rows, most);
}

/** Runs a body until it ends or one of its questions stops it; what it made of being stopped counts for nothing. */
export function runAsking<T>(
  asks: Asks,
  body: () => T,
): { readonly value: T } | { readonly stopped: NonNullable<Asks['stopped']> } {
  asks.stopped = undefined;
  let value: T;
  try {
    value = body();
  } catch (error) {
    if (asks.stopped) return { stopped: asks.stopped };
    throw error;
  }
  return asks.stopped ? { stopped: asks.stopped } : { value };
}
