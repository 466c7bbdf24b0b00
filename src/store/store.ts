import type { Erased, Erasure, Migration, StoredTable } from './maintenance.ts';
import type { Outbox, OutboxReader } from './outbox.ts';
import type { SharedStore, SharedWork } from './sharing.ts';

/**
 * What serving needs of a database, in words that SQLite and PostgreSQL can both meet.
 *
 * A body handed to `read` or `change` is synchronous and repeatable: it touches nothing but its argument. An engine that has to wait may stop it
 * by an exception of its own, or undo it at its end, and run it again once what it asked for has arrived; what the last run returned counts.
 * What an engine may have to wait for is `T | Promise<T>`: whoever asks goes on with it by `after` (`serve/exchange/after.ts`).
 */

/** A column that rows are looked up, filtered, sorted or referred to by. Values are made by the caller, never by the engine. */
export interface ColumnSpec {
  readonly name: string;
  /** `integer` holds up to 64 bits, `real` a double, `text` compares by code point. */
  readonly type: 'integer' | 'real' | 'text';
  /** How the caller makes the value, in any words; when they change, the column of stored rows is filled anew. */
  readonly made?: string;
}

/** A column of an index; a bare name ascends. */
export type IndexColumn = string | { readonly column: string; readonly descending: boolean };
/**
 * One resource's rows. The engine adds `seq` (creation order), `id` (unique), `rev`, `entered` and `doc`; the first four
 * can be named wherever a column can, unless the table states a column of that name.
 */
export interface TableSpec {
  readonly name: string;
  readonly columns: readonly ColumnSpec[];
  /** Columns of which no two rows may hold the same value; null is not a value. */
  readonly unique: readonly string[];
  /** Column lists to index; creation order, ascending, is appended. A list with the same or all turned directions is read off the index. */
  readonly indexes: readonly (readonly IndexColumn[])[];
}

export type Scalar = string | number | bigint | null;

/** A stored row. */
export interface Row {
  readonly id: string;
  /** Creation order inside the table; never reused. */
  readonly seq: number;
  /** Changes with every write, and no two writes of a store share one. */
  readonly rev: number;
  /** When the row entered its state, in milliseconds since 1970; 0 where there is no machine. */
  readonly entered: number;
  /** The resource as JSON text. */
  readonly doc: string;
}

/** What is written of a row. `columns` follows the order of the table's `columns`. */
export interface NewRow {
  readonly id: string;
  readonly entered: number;
  readonly doc: string;
  readonly columns: readonly Scalar[];
}

/**
 * A test on columns, as data. `param` is an index into the values handed over when the query runs. A test of an absent
 * value is neither true nor false, and `not` leaves it so; `and` and `or` are decided by what is known. Only rows for
 * which the whole is true are found.
 */
export type Condition =
  | { readonly op: 'and' | 'or'; readonly of: readonly Condition[] }
  | { readonly op: 'not'; readonly of: Condition }
  | { readonly op: Compared; readonly left: Operand; readonly right: Operand }
  | { readonly op: 'absent'; readonly of: Operand }
  /** The row of `table` that the column `to` refers to meets `of`, or one of those whose column `from` refers to this row. */
  | { readonly op: 'some'; readonly table: string; readonly by: RowLink; readonly of: Condition }
  | { readonly op: 'any'; readonly column: string; readonly of: Condition } // of one scalar of a JSON array in the column
  | { readonly op: 'true' | 'false' };
/** `in` is of a list parameter: a JSON array text of scalars. */
type Compared = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'prefix' | 'contains' | 'in';
export type RowLink = { readonly to: string } | { readonly from: string };
export type Operand =
  | { readonly column: string }
  | { readonly item: ColumnSpec['type'] } // a scalar of the array that an `any` looks into
  /** A column of the row that `via` (a column holding an identifier of `table`) refers to. */
  | { readonly via: string; readonly table: string; readonly then: Operand }
  /** A column of the row of `table` whose columns are these: one at the most. */
  | { readonly by: readonly FoundBy[]; readonly table: string; readonly then: Operand }
  | { readonly param: number }
  | { readonly value: Scalar };

/** A column of the row that is looked for, and what it is: a column of the row that is asked about, or a value. */
export interface FoundBy {
  readonly column: string;
  readonly is: Operand;
}

/** A compiled-once question over one table. */
export interface QuerySpec {
  readonly table: string;
  readonly where?: Condition;
  /** Ends with creation order always; `seq` may be named to set its direction. Absent values come first ascending, last descending. */
  readonly order?: readonly { readonly column: string; readonly descending?: boolean }[];
  /** Creation order, where it decides, goes newest first; the same as `seq` descending at the end of `order`. */
  readonly newestFirst?: boolean;
  /**
   * Continue strictly after a row: its values in the order of `order`, `seq` left out, and then its `seq` come as the
   * parameters from this index on: `[...keys, seq]` of the last row. The row itself need not be there any more.
   */
  readonly after?: number;
  /** Index of the parameter with the most rows to give. */
  readonly limit?: number;
  readonly offset?: number;
  /** Add the values of `order`'s columns, `seq` left out, to each row, so that a cursor can be made of the last. */
  readonly keys?: boolean;
  /** Give `doc`, `seq` and `keys` alone, and leave the rest of a row empty: what a page of many rows needs, for half the cost. */
  readonly lean?: boolean;
}
export interface FoundRow extends Row {
  readonly keys?: readonly Scalar[] | undefined;
}

/** Rows that are only passed on, as one text, and where it begins and ends. */
export interface JoinedRows {
  /** The `doc` of each row, with commas between them. */
  readonly docs: string;
  /** Whether more rows follow. */
  readonly isMore: boolean;
  /** The last row, without its `doc` where the question is lean; there where more rows follow. */
  readonly last: FoundRow | undefined;
  /** The first row in the same way, where it was asked for and there is one. */
  readonly first: FoundRow | undefined;
}

export interface Query {
  all(params: readonly Scalar[]): FoundRow[];
  joined(params: readonly Scalar[], wantsFirst: boolean): JoinedRows;
  count(params: readonly Scalar[]): number;
}

/** The creation numbers of rows, which may be very many: a list, or what gives parts of one. */
export type RowNumbers = Pick<readonly number[], 'length' | 'slice'>;

/** Read access to the committed rows; inside a change, to what the change itself sees. */
export interface Reader {
  get(table: string, id: string): Row | undefined;
  /** What a row that is only passed on is: its text and its revision. */
  text(table: string, id: string): Pick<Row, 'doc' | 'rev'> | undefined;
  /** The id of the row that holds `value` in a unique column. */
  holder(table: string, column: string, value: Scalar): string | undefined;
  all(query: QuerySpec, params: readonly Scalar[]): FoundRow[];
  /** The same rows joined, for a question with a limit. */
  joined(query: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows;
  /** How many rows meet `where`, whatever `after`, `limit` and `offset` say. */
  count(query: QuerySpec, params: readonly Scalar[]): number;
  /** The creation numbers of all rows that meet `where`, in their order, whatever `after`, `limit` and `offset` say. */
  numbers(query: QuerySpec, params: readonly Scalar[]): RowNumbers;
  /** Those of some rows, by their creation numbers, that meet `where` now, in the order of the question. */
  among(query: QuerySpec, params: readonly Scalar[], numbers: readonly number[]): FoundRow[];
  /** The rows after a creation number, oldest first: all rows of a table, a bounded page at a time. From 0. */
  scan(table: string, afterSeq: number, most: number): Row[];
  /** A stored answer under a key, or nothing once it has expired. One that never does is asked for at 0, which says nothing of the time. */
  record(key: string, nowMs: number): StoredRecord | undefined;
  credentials(search: CredentialSearch): StoredCredential[];
  /** Whether this process is the one that does some work. It always is where no other has the store. */
  holds(work: SharedWork): boolean;
  /** Events, and what became of them. */
  readonly outbox: OutboxReader;
}

export interface Transaction extends Reader {
  /** @throws {Duplicate} when the id or a unique column is taken; nothing was written then. */
  insert(table: string, row: NewRow): Row;
  /** @throws {Duplicate} as insert. Gives the row its next `rev`. The row must be there. */
  update(table: string, row: NewRow): Row;
  /** Removes the row, and its timers with what they remember. A row that is not there is nothing. */
  remove(table: string, id: string): void;
  keep(key: string, record: StoredRecord): void;
  /** Sets or replaces the timer of this name. For the token that it last fired for, the timer is cleared instead. */
  setTimer(timer: Timer): void;
  /** The timer has fired: it is due no more, and its token is remembered. */
  timerFired(timer: Timer): void;
  /** Makes timers due no more; what they fired for is remembered. */
  clearTimers(resource: string, id: string, name?: string): void;
  /** Adds to a named counter and gives what it holds then. It starts at 0, is nothing from `expiresMs` on, and starts anew then. */
  addTo(counter: string, amount: number, nowMs: number, expiresMs: number): number;
  /** The next number of a named sequence, from 1. */
  next(sequence: string): number;
  /** Keeps a credential; one of the same name and serial is replaced. */
  putCredential(credential: StoredCredential): void;
  /** Removes all rows, timers, records, counters, sequences and events with what is to be sent of them; credentials and settings stay. */
  clear(): void;
  removeCredential(name: string, serial: number): void;
  /** Takes out whatever tells of somebody beside rows: events with their deliveries, kept answers, counters. It looks through all of them. */
  erase(erasure: Erasure): Erased;
  readonly outbox: Outbox;
  readonly batch: number; // How many changes are brought to disk together, this one among them.
}

/** What a caller shows who it is with, as it is kept: never the credential itself. */
export interface StoredCredential {
  /** What it is called by whoever keeps it; the old and the new secret of a rotation share it. */
  readonly name: string;
  /** Tells the secrets of one name apart. */
  readonly serial: number;
  readonly scheme: string;
  /** What it is found by inside its scheme; several may share one. */
  readonly lookup: string;
  readonly user: string;
  /** The caller's identifier. */
  readonly caller: string;
  /** The rest, as JSON text. */
  readonly doc: string;
}

/** Which credentials are meant; all of them a page at a time, by name, from the empty one. A page holds its last name whole. */
export type CredentialSearch =
  | { readonly scheme: string; readonly lookup: string }
  | { readonly user: string; readonly caller: string }
  | { readonly name: string }
  | { readonly after: string; readonly most: number };

/** A kept answer, such as an idempotency record. */
export interface StoredRecord {
  readonly fingerprint: string;
  readonly body: string;
  readonly expiresMs: number;
}

/** Which timers are meant: from the first, after one, or of a row. */
export interface TimerSearch {
  readonly after?: Timer;
  readonly row?: { readonly resource: string; readonly id: string };
}

/** A change that is due at a time. One exists for each (resource, id, name). */
export interface Timer {
  readonly resource: string;
  readonly id: string;
  readonly name: string;
  readonly dueMs: number;
  /** What the timer was set for; a timer that fired for it is not set for it again. */
  readonly token: string;
}

/** What a stored row becomes. `columns` follows the order of the table's `columns`. */
export type RenewedRow = Pick<NewRow, 'doc' | 'columns'>;

/** What becomes of stored rows while tables are brought up: all of it or, where anything throws, none. */
export interface Renewal {
  /** Tables that are called otherwise from now on, with their rows and timers. */
  readonly renamed?: readonly { readonly from: string; readonly to: string }[];
  readonly isTrial?: boolean; // All of it is taken back in the end: nothing may be done before.
  /** Tables that go, with their rows and timers. */
  readonly dropped?: readonly string[];
  /** By table, what each of its rows becomes; nothing where it stays as it is. A row that becomes another gets its next `rev`. */
  readonly rows?: ReadonlyMap<string, (row: Row) => RenewedRow | undefined>;
  /** Told now and then how many rows were gone through. */
  readonly progress?: (table: string, done: number) => void;
  /** Called when all is done but the commit, with the rows as they are then and whether tables became others; gives what is to be remembered with it. */
  readonly settle?: (rows: Reader, areOthers?: boolean) => Iterable<readonly [key: string, record: StoredRecord]>;
}

export interface Store {
  /** Where several processes can have the store at a time. */
  readonly shared?: SharedStore;
  /**
   * Brings tables, columns and indexes up to what is asked, dropping nothing: a table or column that is no longer asked
   * for stays. `columnsOf` gives the column values of rows that were stored before a column existed, or while it was not
   * asked for, had another type or was made otherwise. Without an error all of it is done, with one nothing.
   * Once it is done, later calls of `read` and `change` use these tables.
   * @throws {Duplicates} when existing rows break a new unique column; the store is as it was then.
   */
  prepare(
    tables: readonly TableSpec[],
    columnsOf: (table: string, row: Row) => readonly Scalar[],
    renewal?: Renewal,
  ): Migration | Promise<Migration>;
  /** The tables with rows, but for these. */
  tablesBeside(known: readonly string[]): readonly StoredTable[] | Promise<readonly StoredTable[]>;
  /** Writes what is committed into a new file, which is there once it is whole and on disk. A file of that name is not touched. */
  copyTo(path: string): void | Promise<void>;
  /** What the body makes of the committed rows. Where that takes long, `goesOn` is called now and then, to throw. @throws {ReadTooLong} */
  read<T>(body: (reader: Reader) => T, goesOn?: () => void): T | Promise<T>;
  /**
   * Runs the body in its own savepoint inside the transaction shared by all changes of this turn of the event loop, and
   * of those right after it while changes keep coming, and settles once the commit is on disk. A body that throws has
   * changed nothing and rejects alone, and so does one that returns a promise. When the commit fails, all of them reject.
   * @throws {CommitFailed} as the rejection.
   */
  change<T>(body: (transaction: Transaction) => T): Promise<T>;
  /** Timers due at or before the time, earliest first. */
  due(nowMs: number, most: number): Timer[] | Promise<Timer[]>;
  /** Timers that are set, earliest first: all after one of them, or those of a row. */
  timers(most: number, search: TimerSearch): Timer[] | Promise<Timer[]>;
  /** When the earliest timer is due. */
  nextDue(): number | undefined | Promise<number | undefined>;
  /** A small named value that outlives a restart, such as a signing key. Whoever asks first has it made; all get the same. */
  setting(name: string, make: () => string): string | Promise<string>;
  /** Waits for the changes under way, then sees to it that nothing deleted is left in any file of the store. Takes as long as copying it. */
  compact(): Promise<void>;
  /** Waits for the changes under way, then closes. Later calls fail. */
  close(): Promise<void>;
}
