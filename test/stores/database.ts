import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { startOwnPostgres } from './own-postgres.ts';

/** Where PostgreSQL is for tests: they make databases of their own there, and drop them. */
const stated = process.env.NINEFOLD_TEST_POSTGRES;
const usual = 'postgres://postgres@127.0.0.1:5432/postgres';

/** A database that was made for tests. */
export interface TestDatabase {
  readonly address: string;
  readonly drop: () => Promise<void>;
}

/**
 * Makes a database on the server of `NINEFOLD_TEST_POSTGRES`, on that of the usual port, or else on one that is started for it, and says
 * what drops it. @throws where there is no PostgreSQL, with what to do.
 */
export async function makeDatabase(): Promise<TestDatabase> {
  const isThere = (address: string) =>
    onServer(address, 'SELECT 1').then(
      () => true,
      () => false,
    );
  if (stated === undefined && !(await isThere(usual))) {
    const own = await startOwnPostgres(isThere);
    return { ...(await databaseOn(own.address)), drop: own.stop };
  }
  return databaseOn(stated ?? usual);
}

async function databaseOn(server: string): Promise<TestDatabase> {
  const name = `ninefold_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  // Where nothing is asked of it that others lack that speak its protocol.
  if (process.env.NINEFOLD_TEST_POSTGRES_PLAIN !== undefined) address.searchParams.set('plain', 'true');
  return { address: address.href, drop: () => onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(server: string, sql: string): Promise<void> {
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
