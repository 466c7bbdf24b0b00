import type { DatabaseSync } from 'node:sqlite';
import type { CredentialSearch, StoredCredential, StoredRecord, Timer, TimerSearch } from '../store.ts';
import { type Statement, statement } from './statement.ts';

const PURGED_PER_KEPT = 2;
/** Small records that never expire are asked for again and again: the sums over the rows of one that others refer to. */
const LASTING_MOST = 4096;
const LASTING_LENGTH_MOST = 1024;

/** Kept answers under their keys. Each one that is added makes room by removing two that have expired, at most. */
export class Records {
  /** Records that never expire and were kept here, as they are in the file or will be with this transaction. Whoever only reads remembers none: others write. */
  readonly #lasting = new Map<string, StoredRecord>();
  readonly #find: Statement<[fingerprint: string, body: string, expires: number]>;
  readonly #keep: Statement;
  readonly #renew: Statement;
  readonly #purge: Statement;
  #latestMs = Number.NEGATIVE_INFINITY;
  #kept = 0;

  constructor(database: DatabaseSync) {
    this.#find = statement(database, 'SELECT fingerprint, body, expires FROM ninefold_records WHERE key = ?');
    this.#keep = statement(
      database,
      'INSERT OR REPLACE INTO ninefold_records (key, fingerprint, body, expires) VALUES (?, ?, ?, ?)',
    );
    this.#renew = statement(database, 'UPDATE ninefold_records SET fingerprint = ?, body = ? WHERE key = ?');
    this.#purge = statement(
      database,
      `DELETE FROM ninefold_records WHERE rowid IN
       (SELECT rowid FROM ninefold_records WHERE expires <= ? ORDER BY expires LIMIT CAST(? AS INTEGER))`,
    );
  }

  find(key: string, nowMs: number): StoredRecord | undefined {
    const lasting = this.#lasting.get(key);
    if (lasting) return lasting;
    // What never expires is asked for without a time.
    if (nowMs !== 0) this.#latestMs = nowMs;
    const found = this.#find.get(key);
    if (!found || found[2] <= nowMs) return undefined;
    return { fingerprint: found[0], body: found[1], expiresMs: found[2] };
  }

  keep(key: string, record: StoredRecord): void {
    this.#kept += 1;
    // One that is there and stays for ever is changed where it is: no index has to know.
    if (record.expiresMs === this.#lasting.get(key)?.expiresMs) this.#renew.get(record.fingerprint, record.body, key);
    else this.#keep.get(key, record.fingerprint, record.body, record.expiresMs);
    this.#know(key, record);
  }

  /** Looks into the file again: something was undone, or written past this. */
  forget(): void {
    this.#lasting.clear();
  }

  #know(key: string, record: StoredRecord): void {
    if (record.expiresMs < Number.MAX_SAFE_INTEGER || record.body.length > LASTING_LENGTH_MOST)
      return void this.#lasting.delete(key);
    if (this.#lasting.size >= LASTING_MOST) this.#lasting.clear();
    this.#lasting.set(key, record);
  }

  /** The store has no clock: what has expired is judged by the last time that a record was asked for. */
  purge(): void {
    if (this.#kept === 0) return;
    const most = this.#kept * PURGED_PER_KEPT;
    this.#kept = 0;
    this.#purge.get(this.#latestMs, most);
  }
}

const PURGED_PER_ADDED = 2;

/** Counters that end at a time. Each one that is added to makes room by removing two that have ended, at most. */
export class CounterTable {
  readonly #add: Statement<[count: number]>;
  readonly #purge: Statement;
  #latestMs = Number.NEGATIVE_INFINITY;
  #added = 0;

  constructor(database: DatabaseSync) {
    this.#add = statement(
      database,
      `INSERT INTO ninefold_counters (name, count, expires) VALUES (?1, ?2, ?4)
       ON CONFLICT DO UPDATE SET count = iif(expires <= ?3, 0, count) + ?2, expires = ?4 RETURNING count`,
    );
    this.#purge = statement(
      database,
      `DELETE FROM ninefold_counters WHERE name IN
       (SELECT name FROM ninefold_counters WHERE expires <= ? ORDER BY expires LIMIT CAST(? AS INTEGER))`,
    );
  }

  add(name: string, amount: number, nowMs: number, expiresMs: number): number {
    this.#added += 1;
    this.#latestMs = nowMs;
    // The statement returns the row that it made or changed.
    return this.#add.get(name, amount, nowMs, expiresMs)![0];
  }

  /** The store has no clock: what has ended is judged by the last time that a counter was added to. */
  purge(): void {
    if (this.#added === 0) return;
    const most = this.#added * PURGED_PER_ADDED;
    this.#added = 0;
    this.#purge.get(this.#latestMs, most);
  }
}

const RESERVED_AT_ONCE = 4096;

/**
 * The store's one counter, which gives each write its `rev` and each new row its `seq`. It is counted in memory below a
 * mark on disk, so that a commit seldom has to write it; what was reserved and not used before a restart is skipped.
 */
export class Revisions {
  #last: number;
  #reserved: number;
  readonly #save: Statement;

  constructor(database: DatabaseSync) {
    this.#reserved = statement<[number]>(database, 'SELECT reserved FROM ninefold_revision').get()![0];
    this.#last = this.#reserved;
    this.#save = statement(database, 'UPDATE ninefold_revision SET reserved = ?');
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Raises the mark above what was counted, inside the transaction that uses it. Returns what it will be once that is committed. */
  reserve(): number {
    if (this.#last <= this.#reserved) return this.#reserved;
    const mark = this.#last + RESERVED_AT_ONCE;
    this.#save.get(mark);
    return mark;
  }

  committed(mark: number): void {
    this.#reserved = mark;
  }
}

type TimerValues = readonly [resource: string, id: string, name: string, dueMs: number, token: string];

/** Timers that are due at a time, and the tokens that they last fired for. */
export class TimerRecords {
  readonly #set: Statement;
  readonly #fired: Statement;
  readonly #clear: Statement;
  readonly #clearAll: Statement;
  readonly #forget: Statement;
  readonly #due: Statement<TimerValues>;
  readonly #next: Statement<[number]>;
  readonly #list: Statement<TimerValues>;
  readonly #ofRow: Statement<TimerValues>;

  constructor(database: DatabaseSync) {
    this.#set = statement(
      database,
      `INSERT INTO ninefold_timers (resource, id, name, due, token) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET due = iif(fired IS excluded.token, NULL, excluded.due), token = excluded.token`,
    );
    this.#fired = statement(
      database,
      `INSERT INTO ninefold_timers (resource, id, name, fired) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET due = iif(token IS excluded.fired, NULL, due), fired = excluded.fired`,
    );
    this.#clear = statement(database, 'UPDATE ninefold_timers SET due = NULL WHERE resource = ? AND id = ? AND name = ?');
    this.#clearAll = statement(database, 'UPDATE ninefold_timers SET due = NULL WHERE resource = ? AND id = ?');
    this.#forget = statement(database, 'DELETE FROM ninefold_timers WHERE resource = ? AND id = ?');
    this.#due = statement(
      database,
      `SELECT resource, id, name, due, token FROM ninefold_timers
       WHERE due <= ? ORDER BY due, resource, id, name LIMIT CAST(? AS INTEGER)`,
    );
    this.#ofRow = statement(
      database,
      `SELECT resource, id, name, due, token FROM ninefold_timers
       WHERE resource = ? AND id = ? AND due IS NOT NULL ORDER BY due, name LIMIT CAST(? AS INTEGER)`,
    );
    this.#list = statement(
      database,
      `SELECT resource, id, name, due, token FROM ninefold_timers
       WHERE due >= ?1 AND (due, resource, id, name) > (?1, ?2, ?3, ?4) ORDER BY due, resource, id, name LIMIT CAST(?5 AS INTEGER)`,
    );
    this.#next = statement(database, 'SELECT due FROM ninefold_timers WHERE due IS NOT NULL ORDER BY due LIMIT 1');
  }

  set(timer: Timer): void {
    this.#set.get(timer.resource, timer.id, timer.name, timer.dueMs, timer.token);
  }

  fired(timer: Timer): void {
    this.#fired.get(timer.resource, timer.id, timer.name, timer.token);
  }

  clear(resource: string, id: string, name: string | undefined): void {
    if (name === undefined) this.#clearAll.get(resource, id);
    else this.#clear.get(resource, id, name);
  }

  forget(resource: string, id: string): void {
    this.#forget.get(resource, id);
  }

  due(nowMs: number, most: number): Timer[] {
    return this.#due.all(nowMs, most).map(timerOf);
  }

  list(most: number, { after, row }: TimerSearch): Timer[] {
    if (row) return this.#ofRow.all(row.resource, row.id, most).map(timerOf);
    const { dueMs, resource, id, name } = after ?? { dueMs: Number.MIN_SAFE_INTEGER, resource: '', id: '', name: '' };
    return this.#list.all(dueMs, resource, id, name, most).map(timerOf);
  }

  next(): number | undefined {
    return this.#next.get()?.[0];
  }
}

function timerOf([resource, id, name, dueMs, token]: TimerValues): Timer {
  return { resource, id, name, dueMs, token };
}

type Values = readonly [name: string, serial: number, scheme: string, lookup: string, user: string, caller: string, doc: string];

const COLUMNS = 'name, serial, scheme, lookup, user, caller, doc';

/** The table of credentials; stores that were made before there was one get it when they are opened. */
export const CREDENTIAL_TABLES = `
  CREATE TABLE IF NOT EXISTS ninefold_credentials (
    name TEXT, serial INTEGER, scheme TEXT NOT NULL, lookup TEXT NOT NULL, user TEXT NOT NULL, caller TEXT NOT NULL, doc TEXT NOT NULL,
    PRIMARY KEY (name, serial)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS ninefold_credentials_lookup ON ninefold_credentials (lookup, scheme);
  CREATE INDEX IF NOT EXISTS ninefold_credentials_caller ON ninefold_credentials (caller, user);`;

/** What callers show who they are with, as it is kept. */
export class CredentialTable {
  readonly #byLookup: Statement<Values>;
  readonly #byCaller: Statement<Values>;
  readonly #byName: Statement<Values>;
  readonly #page: Statement<Values>;
  readonly #put: Statement;
  readonly #remove: Statement;

  constructor(database: DatabaseSync) {
    const find = (where: string) => statement<Values>(database, `SELECT ${COLUMNS} FROM ninefold_credentials WHERE ${where}`);
    this.#byLookup = find('lookup = ? AND scheme = ? ORDER BY name, serial');
    this.#byCaller = find('caller = ? AND user = ? ORDER BY name, serial');
    this.#byName = find('name = ? ORDER BY serial');
    this.#page = find('name > ? ORDER BY name, serial LIMIT CAST(? AS INTEGER)');
    this.#put = statement(database, `INSERT OR REPLACE INTO ninefold_credentials (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#remove = statement(database, 'DELETE FROM ninefold_credentials WHERE name = ? AND serial = ?');
  }

  find(search: CredentialSearch): StoredCredential[] {
    if ('lookup' in search) return this.#byLookup.all(search.lookup, search.scheme).map(credentialOf);
    if ('caller' in search) return this.#byCaller.all(search.caller, search.user).map(credentialOf);
    if ('name' in search) return this.#byName.all(search.name).map(credentialOf);
    return this.#whole(this.#page.all(search.after, search.most).map(credentialOf), search.most);
  }

  put({ name, serial, scheme, lookup, user, caller, doc }: StoredCredential): void {
    this.#put.get(name, serial, scheme, lookup, user, caller, doc);
  }

  remove(name: string, serial: number): void {
    this.#remove.get(name, serial);
  }

  /** A page ends with a whole name, so that the next begins after it. */
  #whole(page: StoredCredential[], most: number): StoredCredential[] {
    const last = page.at(-1);
    if (!last || page.length < most) return page;
    return [...page.filter(({ name }) => name !== last.name), ...this.find({ name: last.name })];
  }
}

function credentialOf([name, serial, scheme, lookup, user, caller, doc]: Values): StoredCredential {
  return { name, serial, scheme, lookup, user, caller, doc };
}
