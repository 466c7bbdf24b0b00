import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

/** Where PostgreSQL is for tests: they make databases of their own there, and drop them. */
const server = process.env.NINEFOLD_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** Makes a database, and says what drops it. @throws where there is no PostgreSQL, with what to do. */
export async function makeDatabase(): Promise<{ readonly address: string; readonly drop: () => Promise<void> }> {
  const name = `ninefold_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name}`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  return { address: address.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: server, connectionTimeoutMillis: 5000 });
  try {
    await client.connect();
    await client.query(sql);
  } catch (cause) {
    const shown = server.replace(/:[^:@/]*@/, ':…@');
    throw new Error(
      `${shown} was asked to ${sql.split(' ').slice(0, 2).join(' ').toLowerCase()}: ${String(cause)}. Name another server in NINEFOLD_TEST_POSTGRES.`,
      { cause },
    );
  } finally {
    await client.end().catch(() => {});
  }
}
