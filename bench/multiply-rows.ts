/** Filling a store with more rows than could be created one by one in the time. */
import { DatabaseSync } from 'node:sqlite';

/**
 * Copies every row of a store's table until there are `times` as many, in one transaction. The copies differ in their
 * identifiers (which must be ULIDs), their creation order and their revision; it reads the rest of the columns off the
 * file. No server may have the file open, and afterwards it is only good for reading: the counters of the store do not
 * know of the copies.
 */
export function multiplyRows(file: string, times: number): void {
  const db = new DatabaseSync(file);
  try {
    const [table, columns] = rowTable(db);
    // Without a journal this is twice as fast, and a store that is left broken is only thrown away.
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; BEGIN');
    // The time of a ULID, its first ten letters, becomes the number of the copy.
    const newId = `printf('%010d', $copy) || substr(id, 11)`;
    const values = columns.map((column) => {
      if (column === 'id') return newId;
      if (column === 'seq' || column === 'rev') return `"${column}" + $copy * (SELECT max("${column}") FROM temp.first)`;
      return column === 'doc' ? `replace(doc, id, ${newId})` : `"${column}"`;
    });
    const names = columns.map((column) => `"${column}"`).join(', ');
    db.exec(`CREATE TEMP TABLE first AS SELECT ${names} FROM "${table}"`);
    const copy = db.prepare(`INSERT INTO "${table}" (${names}) SELECT ${values.join(', ')} FROM temp.first`);
    for (let n = 1; n < times; n++) copy.run({ copy: n });
    db.exec('COMMIT; PRAGMA journal_mode = WAL');
  } finally {
    db.close();
  }
}

/** The table that holds the rows, known by the columns that every store's table of rows has, and all its columns. */
function rowTable(db: DatabaseSync): [string, string[]] {
  for (const { name } of db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()) {
    const columns = db.prepare('SELECT name FROM pragma_table_info(?)').all(name!);
    const names = columns.map((column) => String(column.name));
    if (['seq', 'id', 'doc'].every((needed) => names.includes(needed))) return [String(name), names];
  }
  throw new Error('the store holds no table with the columns seq, id and doc');
}
