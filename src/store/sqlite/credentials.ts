import type { DatabaseSync } from 'node:sqlite';
import type { CredentialSearch, StoredCredential } from '../store.ts';
import { type Statement, statement } from './statement.ts';

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
