import type { DatabaseSync } from 'node:sqlite';
import type { QuerySpec, TableSpec } from '../store.ts';
import { CompiledQuery } from './query.ts';
import { Rows } from './rows.ts';

/** The prepared tables and the queries compiled over them. A change of tables makes a new one. */
export class Tables {
  readonly #database: DatabaseSync;
  readonly #rows = new Map<string, Rows>();
  readonly #queries = new WeakMap<QuerySpec, CompiledQuery>();

  constructor(database: DatabaseSync, specs: readonly TableSpec[]) {
    this.#database = database;
    for (const spec of specs) this.#rows.set(spec.name, new Rows(database, spec));
  }

  rows(name: string): Rows {
    const found = this.#rows.get(name);
    if (!found) throw new Error(`the store has no table ${name}; prepare it first`);
    return found;
  }

  query(spec: QuerySpec): CompiledQuery {
    let compiled = this.#queries.get(spec);
    if (!compiled) {
      compiled = new CompiledQuery(this.#database, (name) => this.rows(name), spec);
      this.#queries.set(spec, compiled);
    }
    return compiled;
  }
}
