import { Client } from 'pg';

/** How many copies go into one statement. */
const copiesAtOnce = 10;

/**
 * Copies every row of the one table of rows in a database until there are `times` as many. The copies differ in their identifiers (which must be
 * ULIDs), their creation order and their revision. Its indexes are taken away before, for whoever serves the rows next to make them again.
 */
export async function multiplyInDatabase(address: string, times: number): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    const table = `ninefold.${quoted(await only(client, `SELECT tablename FROM pg_tables WHERE tablename LIKE 'rows:%'`))}`;
    const { rows: indexes } = await client.query(`SELECT indexname FROM pg_indexes WHERE indexname LIKE 'index:%'`);
    for (const { indexname } of indexes) await client.query(`DROP INDEX ninefold.${quoted(indexname)}`);
    const { rows: columns } = await client.query(
      'SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum',
      [table],
    );
    const names = columns.map(({ attname }) => quoted(attname));
    await client.query(`CREATE TEMP TABLE first AS SELECT *, (SELECT max(seq) FROM ${table}) AS last FROM ${table}`);
    // The time of a ULID, its first ten letters, becomes the number of the copy.
    const id = `lpad(n::text, 10, '0') || substr(id, 11)`;
    const values = names.map((name) => {
      if (name === '"id"') return id;
      if (name === '"seq"' || name === '"rev"') return `${name} + n * last`;
      return name === '"doc"' ? `replace(doc, id, ${id})` : name;
    });
    for (let from = 1; from < times; from += copiesAtOnce)
      await client.query(
        `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM first, generate_series(${from}, ${Math.min(from + copiesAtOnce, times) - 1}) AS n`,
      );
    await client.query(`UPDATE ninefold.ninefold_store SET last = (SELECT max(seq) + 1 FROM ${table})`);
    await client.query(`VACUUM ANALYZE ${table}`);
  } finally {
    await client.end();
  }
}

async function only(client: Client, sql: string): Promise<string> {
  const { rows } = await client.query<Record<string, string>>(sql);
  const [name] = Object.values(rows[0] ?? {});
  if (rows.length !== 1 || name === undefined) throw new Error(`${sql} found ${rows.length} and not one`);
  return name;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
