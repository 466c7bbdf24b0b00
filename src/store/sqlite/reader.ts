import type { Erased, Erasure } from '../erasure.ts';
import type { OutboxReader } from '../outbox.ts';
import type {
  CredentialSearch,
  FoundRow,
  JoinedRows,
  QuerySpec,
  Reader,
  Row,
  RowNumbers,
  Scalar,
  StoredCredential,
  StoredRecord,
} from '../store.ts';
import type { OutboxReads } from './outbox.ts';
import type { CounterTable, CredentialTable, Records, Revisions, TimerRecords } from './records.ts';
import type { Statement } from './statement.ts';
import type { Tables } from './tables.ts';

/** Everything that is read through, as it is at the moment. */
interface ReadContents {
  tables: Tables;
  readonly records: Records;
  readonly credentials: CredentialTable;
  readonly outbox: OutboxReads;
}

/** Everything that is read and written through. */
export interface Contents extends ReadContents {
  readonly revisions: Revisions;
  readonly timers: TimerRecords;
  readonly counters: CounterTable;
  readonly erase: (erasure: Erasure) => Erased;
  readonly sequence: Statement<[number]>;
  /** Empties every table of what clients made. */
  readonly clear: () => void;
}

/** What answers questions that may look at very many rows. */
export type Answers = Pick<Reader, 'all' | 'joined' | 'count' | 'numbers'>;

/** Reads what the connection sees: committed rows, and inside a change those that it has written. */
export class SqliteReader implements Reader {
  protected readonly contents: ReadContents;
  readonly #long: Answers | undefined;

  /** `long` is asked whatever may take long; without it everything is answered at once. */
  constructor(contents: ReadContents, long?: Answers) {
    this.contents = contents;
    this.#long = long;
  }

  get(table: string, id: string): Row | undefined {
    return this.contents.tables.rows(table).get(id);
  }

  text(table: string, id: string): Pick<Row, 'doc' | 'rev'> | undefined {
    return this.contents.tables.rows(table).text(id);
  }

  holder(table: string, column: string, value: Scalar): string | undefined {
    return this.contents.tables.rows(table).holder(column, value);
  }

  all(query: QuerySpec, params: readonly Scalar[]): FoundRow[] {
    const asked = this.contents.tables.query(query);
    return this.#long && asked.mayBeLong(params) ? this.#long.all(query, params) : asked.all(params);
  }

  joined(query: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    const asked = this.contents.tables.query(query);
    return this.#long && asked.mayBeLong(params)
      ? this.#long.joined(query, params, wantsFirst)
      : asked.joined(params, wantsFirst);
  }

  count(query: QuerySpec, params: readonly Scalar[]): number {
    return this.#long && query.where ? this.#long.count(query, params) : this.contents.tables.query(query).count(params);
  }

  numbers(query: QuerySpec, params: readonly Scalar[]): RowNumbers {
    return this.#long ? this.#long.numbers(query, params) : this.contents.tables.query(query).numbers(params);
  }

  among(query: QuerySpec, params: readonly Scalar[], numbers: readonly number[]): FoundRow[] {
    return this.contents.tables.query(query).among(params, numbers);
  }

  scan(table: string, afterSeq: number, most: number): Row[] {
    return this.contents.tables.rows(table).scan(afterSeq, most);
  }

  record(key: string, nowMs: number): StoredRecord | undefined {
    return this.contents.records.find(key, nowMs);
  }

  credentials(search: CredentialSearch): StoredCredential[] {
    return this.contents.credentials.find(search);
  }

  readonly holds = () => true; // One process has a file.

  get outbox(): OutboxReader {
    return this.contents.outbox;
  }
}
