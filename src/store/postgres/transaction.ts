import { Duplicate } from '../failures.ts';
import type { Erased, Erasure } from '../maintenance.ts';
import type { Outbox } from '../outbox.ts';
import type { NewRow, Row, Scalar, StoredCredential, StoredRecord, Timer, Transaction } from '../store.ts';
import type { Entry } from './facts.ts';
import { erasedOf, eraseSql } from './flush.ts';
import { PostgresOutboxChange } from './outbox.ts';
import { PostgresReader } from './reader.ts';

/** What one body of a change is given. It writes while the body runs, and never after. */
export class PostgresTransaction extends PostgresReader implements Transaction {
  #ended = false;
  #outbox: Outbox | undefined;

  end(): void {
    this.#ended = true;
  }

  insert(table: string, row: NewRow): Row {
    this.#check();
    const shape = this.#shapeFor(table, row);
    if (this.state.point({ sort: 'row', table, name: row.id }, true) !== null) throw new Duplicate(table, 'id');
    const uniques = this.#takeUniques(table, row, undefined);
    const rev = this.#next();
    const made: Row = { id: row.id, seq: rev, rev, entered: row.entered, doc: row.doc };
    this.#store(shape.name, { row: made, uniques, columns: row.columns });
    return made;
  }

  update(table: string, row: NewRow): Row {
    this.#check();
    this.#shapeFor(table, row);
    const before = this.state.point({ sort: 'row', table, name: row.id }, false);
    if (!before) throw new Error(`table ${table} has no row ${row.id} to update; insert it`);
    const uniques = this.#takeUniques(table, row, before);
    const made: Row = { id: row.id, seq: before.row.seq, rev: this.#next(), entered: row.entered, doc: row.doc };
    this.#store(table, { row: made, uniques, columns: row.columns });
    return made;
  }

  remove(table: string, id: string): void {
    this.#check();
    const before = this.state.point({ sort: 'row', table, name: id }, true);
    this.#forgetTimers(table, id);
    if (!before) return;
    for (const [index, { name }] of this.state.shapes.of(table).uniques.entries()) {
      const value = before.uniques[index] ?? null;
      if (value !== null) this.state.know({ sort: 'holder', table, column: name, value }, null);
    }
    this.state.write({ sort: 'row', table, name: id }, null, rowsOf(table));
  }

  keep(key: string, record: StoredRecord): void {
    this.#check();
    this.state.write({ sort: 'record', name: key }, record, undefined);
  }

  setTimer(timer: Timer): void {
    this.#check();
    this.state.does({ kind: 'setTimer', touches: touchedBy(timer), exact: exactOf(timer), of: timer }, undefined);
  }

  timerFired(timer: Timer): void {
    this.#check();
    this.state.does({ kind: 'timerFired', touches: touchedBy(timer), exact: exactOf(timer), of: timer }, undefined);
  }

  clearTimers(resource: string, id: string, name?: string): void {
    this.#check();
    const touches = touchedBy({ resource, id });
    if (name === undefined) this.state.does({ kind: 'clearTimers', touches, exact: touches, of: { resource, id } }, undefined);
    else
      this.state.does(
        { kind: 'clearTimer', touches, exact: exactOf({ resource, id, name }), of: { resource, id, name } },
        undefined,
      );
  }

  addTo(counter: string, amount: number, nowMs: number, expiresMs: number): number {
    this.#check();
    const point = { sort: 'counter', name: counter } as const;
    const before = this.state.point(point, true);
    const count = (before && before.expiresMs > nowMs ? before.count : 0) + amount;
    this.latest.countersMs = nowMs;
    this.state.write(point, { count, expiresMs }, undefined);
    return count;
  }

  next(sequence: string): number {
    this.#check();
    const point = { sort: 'sequence', name: sequence } as const;
    const last = (this.state.point(point, true) ?? 0) + 1;
    this.state.write(point, last, undefined);
    return last;
  }

  putCredential(credential: StoredCredential): void {
    this.#check();
    this.state.does({ kind: 'putCredential', touches: 'credentials', exact: '', of: credential }, 'credentials');
  }

  removeCredential(name: string, serial: number): void {
    this.#check();
    this.state.does({ kind: 'removeCredential', touches: 'credentials', exact: '', of: { name, serial } }, 'credentials');
  }

  clear(): void {
    this.#check();
    this.state.clear();
  }

  erase(erasure: Erasure): Erased {
    this.#check();
    // What it will find is found out by doing it and taking it back; it is done for good with all else.
    const erased = this.state.ask({
      key: `erase\n${JSON.stringify(erasure)}`,
      concerns: ['outbox', 'subscribers', 'erasing'],
      sql: eraseSql(this.state.shapes.names, erasure),
      value: erasedOf,
      isUndone: true,
    });
    this.state.does({ kind: 'erase', touches: '*', exact: '*', of: erasure }, 'outbox');
    this.state.wrote('subscribers');
    return erased;
  }

  get batch(): number {
    return this.state.bodies;
  }

  override get outbox(): Outbox {
    this.#outbox ??= new PostgresOutboxChange(this.state, () => this.#check());
    return this.#outbox;
  }

  /** Sees to it that no other row holds one of its unique values, and makes them its own. */
  #takeUniques(table: string, row: NewRow, before: Entry | undefined): Scalar[] {
    const { uniques } = this.state.shapes.of(table);
    const values = uniques.map(({ at }) => row.columns[at] ?? null);
    const moved = uniques.flatMap(({ name }, index) => {
      const [value, had] = [values[index] ?? null, before?.uniques[index] ?? null];
      return sameValue(value, had) ? [] : [{ column: name, value, had }];
    });
    for (const { column, value } of moved) {
      if (value === null) continue;
      const holder = this.state.point({ sort: 'holder', table, column, value }, true);
      if (holder !== null && holder !== row.id) throw new Duplicate(table, column);
    }
    for (const { column, value, had } of moved) {
      if (had !== null) this.state.know({ sort: 'holder', table, column, value: had }, null);
      if (value !== null) this.state.know({ sort: 'holder', table, column, value }, row.id);
    }
    return values;
  }

  #store(table: string, entry: Entry): void {
    this.state.write({ sort: 'row', table, name: entry.row.id }, entry, rowsOf(table));
  }

  #forgetTimers(resource: string, id: string): void {
    const touches = touchedBy({ resource, id });
    this.state.does({ kind: 'forgetTimers', touches, exact: touches, of: { resource, id } }, undefined);
  }

  #next(): number {
    this.state.revision += 1;
    return this.state.revision;
  }

  #check(): void {
    if (this.#ended) throw new Error('the change that this transaction was given to has ended; start another');
  }

  /** @throws where a row has more or fewer values than its table has columns, or a text that no index takes. */
  #shapeFor(table: string, row: NewRow) {
    const shape = this.state.shapes.of(table);
    const width = shape.stated.length;
    if (row.columns.length !== width)
      throw new RangeError(`table ${table} has ${width} columns, and ${row.columns.length} values came for row ${row.id}`);
    for (const at of shape.indexed) {
      const value = row.columns[at];
      if (typeof value === 'string' && value.length > 600 && Buffer.byteLength(value) > indexedBytesMost)
        throw new RangeError(
          `PostgreSQL indexes no text of more than ${indexedBytesMost} bytes, and one of row ${row.id} of ${table} is filtered, sorted or unique by; state a maxLength`,
        );
    }
    return shape;
  }
}

/** A page of an index holds three entries (https://www.postgresql.org/docs/current/btree.html). */
const indexedBytesMost = 2600;

/** What tells of the rows of a table. */
function rowsOf(table: string): string {
  return `rows ${table}`;
}

function sameValue(a: Scalar, b: Scalar): boolean {
  return a === b || (a !== null && b !== null && typeof a !== 'string' && typeof b !== 'string' && String(a) === String(b));
}

function touchedBy({ resource, id }: Pick<Timer, 'resource' | 'id'>): string {
  return `timers ${resource}\n${id}`;
}

function exactOf({ resource, id, name }: Pick<Timer, 'resource' | 'id' | 'name'>): string {
  return `${resource}\n${id}\n${name}`;
}
