import type { Draw } from '../../kinds/generators/kind.ts';
import type { Reader, Row, Store, Transaction } from '../../store/store.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';

export type Models = ReadonlyMap<string, RowModel>;

/** Rows as they are kept, and what is known of them. */
export interface Stored {
  readonly store: Store;
  readonly models: Models;
}

/** What one change or one reading of rows has at hand. It is repeatable: time and chance are drawn once, before it starts. */
export interface Work<Rows extends Reader = Transaction> {
  readonly rows: Rows;
  readonly models: Models;
  readonly nowMs: number;
  readonly draw: Draw;
  /** Names for expressions: request, params, caller, now, operation, version, follow. */
  readonly scope: Readonly<Record<string, Value>>;
  /** What the change stored, in order; events are made of it. */
  readonly stored: StoredChange[];
  /** The fields of rows that a stand-in made up, for the answer to name. */
  sampled?: readonly string[];
}

/** One thing that a change stored. */
export interface StoredChange {
  readonly operation: string;
  readonly model: RowModel;
  readonly id: string;
  readonly before: Fields | undefined;
  readonly after: Fields | undefined;
}

/** What came of an act. */
export type Outcome =
  | { readonly refusal: Refusal }
  | {
      readonly did: 'created' | 'changed' | 'unchanged' | 'deleted' | 'read';
      readonly row: Row;
      readonly fields: Fields;
    };

/** An act on rows, compiled for one endpoint. */
export type Act = (work: Work, exchange: Exchange, hook?: Hook) => Outcome | Pause;

/** Where a `before` handler stands: the act stops with what it would store, and is run again with what the handler made of it. */
export interface Hook {
  readonly next: Fields | undefined;
}
/** What a `before` handler is shown. */
export interface Paused {
  readonly resource: Fields | undefined;
  readonly next: Fields;
  /** The stored row that `next` was made of, as it was then. */
  readonly seen?: Seen;
}
/** A stored row in one revision. */
export interface Seen {
  readonly resource: string;
  readonly id: string;
  readonly rev: number;
}
export interface Pause {
  readonly paused: Paused;
}

/** The row as it is now, for whoever looks later whether it has changed. */
export function seen(model: RowModel, { id, rev }: Row): Seen {
  return { resource: model.name, id, rev };
}

export function refuse(when: NonNullable<Refusal['when']>, more: Omit<Refusal, 'when'> = {}): { readonly refusal: Refusal } {
  return { refusal: { when, ...more } };
}

/** Follows a reference for an expression: the fields of the row it names. */
export function follower(rows: Reader, models: Models): (resource: string, id: Value) => Fields | undefined {
  return (resource, id) => {
    const model = models.get(resource);
    const row = model && rows.get(resource, String(id));
    return row && model.parse(row);
  };
}
