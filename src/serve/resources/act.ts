/** What all acts on rows share: their steps, the work of one change, and how its expressions reach other rows. */

import type { Draw } from '../../kinds/generators/kind.ts';
import type { OrderWord } from '../../parts/errors.ts';
import type { Reader, Row, Store, Transaction } from '../../store/store.ts';
import type { Pass } from '../callers/operation-access.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { changeWatched, readWatched } from '../exchange/observations.ts';
import type { Entropy } from '../http/clock.ts';
import type { RowModel } from './model.ts';
import { type Drawn, DrawnFor } from './setters.ts';

export interface Models extends ReadonlyMap<string, RowModel> {
  /** Carries out what follows from the changes that were stored since. @throws {Refused} for all of it. Nothing where nothing follows. */
  readonly follow?: (work: Work, since: number) => void;
}

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
  /** How events that come of it name the trace that it is part of, where somebody follows it. */
  readonly trace?: string | undefined;
  /** How much followed from the change so far, and how deep it stands in what follows. */
  following?: { acts: number; depth: number };
  /** The fields of rows that a stand-in made up, for the answer to name. */
  sampled?: readonly string[];
}

/** The rows that are sent with a row, by the field that holds them. */
export type SentChildren = ReadonlyMap<string, SentRows>;

/** What becomes of the children of one field. */
export interface SentRows {
  /** Those that are made, each as its own creation takes it. */
  readonly made: readonly SentChild[];
  /** Those that are there, and become others. */
  readonly changed: readonly ChangedChild[];
  /** The identifiers of those that are left out, and so deleted. */
  readonly gone: readonly string[];
}

/** One row that was sent, and its place in the list. */
export interface SentChild {
  readonly index: number;
  readonly fields: Fields;
}

/** A child that was named in the list. */
export interface ChangedChild {
  readonly index: number;
  readonly id: string;
  /** What it would be, as it is by now. */
  take(work: Work, found: Found): TakenRow | { readonly refusal: Refusal };
}

/** One thing that a change stored. */
export interface StoredChange {
  readonly operation: string;
  /** The transitions that it is: an update may be one of each machine. */
  readonly transitions: readonly string[];
  readonly model: RowModel;
  readonly id: string;
  readonly before: Fields | undefined;
  readonly after: Fields | undefined;
  /** What was sent of its children. */
  readonly children?: SentChildren | undefined;
}

/** What came of an act. */
export type Outcome =
  | { readonly refusal: Refusal }
  | {
      readonly did: 'created' | 'changed' | 'unchanged' | 'deleted' | 'read';
      readonly row: Row;
      readonly fields: Fields;
      /** The error that it is answered with. */
      readonly answer?: string | undefined;
    };

/** An outcome that is answered. */
export type AnsweredOutcome = Exclude<Outcome, { readonly refusal: Refusal }>;

/** What is there when an act begins: no row where one is to be made. */
export interface Found {
  readonly row: Row | undefined;
  readonly fields: Fields | undefined;
  readonly pass: Pass;
  /** Whether it was deleted, and is to be brought back. */
  readonly isDeleted?: boolean;
  /** The identifier that the path gives to a row which is made. */
  readonly id?: string;
}

/** What would be stored, before anybody else has a say in it. */
export interface TakenRow {
  readonly next: Fields;
  /** Why the state does not allow it. */
  readonly illegal?: Refusal | undefined;
  /** The fields of it that a stand-in made up. */
  readonly names?: readonly string[] | undefined;
  /** Whether the row stays as it is, told once it is set. */
  isUnchanged?: boolean;
  /** The error that the change is answered with, though it is kept. */
  readonly answer?: string | undefined;
  /** The transitions that an update is, at most one of each machine. */
  readonly transitions?: readonly string[] | undefined;
  /** What was sent of its children; nothing where nothing becomes of them. */
  readonly children?: SentChildren | undefined;
}

/** Names for expressions. */
export type Names = Readonly<Record<string, Value>>;

/** An act on rows, compiled for one endpoint: what each of the steps 10 to 15 asks there. */
export interface Act {
  readonly model: RowModel;
  /** Step 10: the parents and the row, with the rules over them. */
  find(work: Work, exchange: Exchange): Found | { readonly refusal: Refusal };
  /** Step 11. */
  readonly precondition: Precondition | undefined;
  /** Step 12: what was sent, and what the row would be with it. */
  take(work: Work, exchange: Exchange, found: Found): TakenRow | { readonly refusal: Refusal };
  readonly change: Changing;
  /** The stated order of steps 11 to 13; nothing where it is that of section 6. */
  readonly order?: readonly OrderWord[] | undefined;
  /** Step 13, where what was sent says nothing of it: why the state of the row does not allow it. */
  readonly illegal?: (work: Work, found: Found) => Refusal | undefined;
  /** In place of `change` where no row was found: an upsert makes it. */
  readonly making?: Changing;
}

/** The steps of an act from where it is known what would be stored; whoever fires a transition begins here. */
export interface Changing {
  readonly model: RowModel;
  /** Step 12: the row as rules over `next` see it; nothing where there is none. */
  readonly asStored: ((names: Names, next: Fields, taken: TakenRow) => Fields) | undefined;
  /** Step 13: the states in which it is allowed. */
  readonly illegalIn: ((found: Found) => Refusal | undefined) | undefined;
  /** What the service itself sets, generates and makes up. */
  set(work: Work, found: Found, taken: TakenRow, names: Names, next: Fields): Fields;
  /** Step 14. */
  readonly ownErrors: ((names: Names, taken: TakenRow) => Refusal | undefined) | undefined;
  /** Step 15. @throws {Refused} where a unique value is taken, or the row is held. */
  store(work: Work, found: Found, taken: TakenRow, fields: Fields): Outcome;
}

/** Whether a request's If-Match and If-None-Match let it change what was found (RFC 9110 section 13.1). */
export type Precondition = (work: Work, exchange: Exchange, found: Found) => Refusal | undefined;

/** Where a `before` handler stands: the act stops with what it would store, and is run again with what the handler made of it. */
export interface Hook {
  readonly next: Fields | undefined;
}
/** What a `before` handler is shown. */
interface Paused {
  readonly resource: Fields | undefined;
  readonly next: Fields;
  /** The stored row that `next` was made of, as it was then. */
  readonly seen?: RowRevision;
}
/** A stored row in one revision. */
interface RowRevision {
  readonly resource: string;
  readonly id: string;
  readonly rev: number;
}
export interface Pause {
  readonly paused: Paused;
}

/** The row as it is now, for whoever looks later whether it has changed. */
function seen(model: RowModel, { id, rev }: Row): RowRevision {
  return { resource: model.name, id, rev };
}

/** Where a `before` handler has its say. */
export function pausedAt(model: RowModel, { row, fields }: Found, next: Fields): Pause {
  return { paused: { resource: fields, next, ...(row && { seen: seen(model, row) }) } };
}

export function refuse(when: NonNullable<Refusal['when']>, more: Omit<Refusal, 'when'> = {}): { readonly refusal: Refusal } {
  return { refusal: { when, ...more } };
}

/** What bodies are run on. */
interface Running {
  readonly store: Store;
  readonly chance: Entropy;
}

/** Reads for one exchange. Whatever the body tells the exchange besides its value, only its last run has told. */
export function readFor<T>(
  { store, chance }: Running,
  exchange: Exchange,
  body: (rows: Reader, draw: Drawn) => T,
): PromiseOrValue<T> {
  const draw = new DrawnFor(exchange, chance);
  const read = (rows: Reader) => {
    draw.restart();
    return body(rows, draw);
  };
  const ask = () => store.read(read, exchange.deadline && (() => exchange.deadline?.goOn()));
  return exchange.cost || exchange.trace ? readWatched(exchange, ask) : ask();
}

/** Changes for one exchange, as `readFor` reads. What is to be done after the commit goes with the body's value. */
export function changeFor<T>(
  { store, chance }: Running,
  exchange: Exchange,
  body: (rows: Transaction, draw: Drawn) => T,
): Promise<T> {
  const draw = new DrawnFor(exchange, chance);
  const change = (rows: Transaction) => {
    draw.restart();
    return body(rows, draw);
  };
  return exchange.cost || exchange.trace ? changeWatched(exchange, store, change) : store.change(change);
}

/** What a change or a reading has at hand for one exchange. */
export function workFor<Rows extends Reader>(rows: Rows, models: Models, exchange: Exchange, draw: Work['draw']): Work<Rows> {
  return {
    rows,
    models,
    nowMs: exchange.nowMs,
    draw,
    scope: {
      request: exchange.request,
      params: exchange.params,
      caller: exchange.caller,
      now: exchange.nowMs,
      operation: exchange.plan.operation.name,
      version: exchange.view.version ?? '',
      follow: follower(rows, models),
    },
    stored: [],
    trace: exchange.trace?.traceparent,
  };
}

/** Reads a row for an expression: that with an identifier, or that whose fields are these, which one of its rules says are unique together. */
export type FollowRow = (resource: string, key: Value, unique?: number) => Fields | undefined;

/** Follows references and looks rows up for expressions: each is one look into an index. */
export function follower(rows: Reader, models: ReadonlyMap<string, RowModel>): FollowRow {
  return (resource, key, unique) => {
    const model = models.get(resource);
    if (!model) return undefined;
    const id = unique === undefined ? String(key) : holderOf(rows, model, key, unique);
    const row = id === undefined ? undefined : rows.get(resource, id);
    return row && model.parse(row);
  };
}

function holderOf(rows: Reader, model: RowModel, key: Value, unique: number): string | undefined {
  // Who asks by a rule gives the fields of it, each with a value.
  const value = model.uniqueKey(unique, key as Fields);
  return value === null ? undefined : rows.holder(model.name, model.uniqueColumn(unique), value);
}

/** A change that the service itself makes, and no caller: by the clock, at the start, in a trial. */
export function ownWork(rows: Transaction, models: Models, draw: Drawn, operation: string): Work {
  const { nowMs } = draw;
  draw.restart();
  const scope = { now: nowMs, operation, version: '', follow: follower(rows, models) };
  return { rows, models, nowMs, draw, scope, stored: [] };
}
