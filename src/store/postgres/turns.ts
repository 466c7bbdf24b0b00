import { bareSql, type Connection, type Server } from './connection.ts';
import type { StoreNames } from './names.ts';
import { foundBy } from './schema-change.ts';

/** How long a process has its turn without saying so again, how often it does, and how often one that waits asks. */
const turnMs = 5000;
const renewMs = 1000;
const askMs = 100;
const work = 'bring up';

interface TurnMeans {
  readonly server: Server;
  readonly connection: Connection;
  readonly names: StoreNames;
  readonly holder: string;
}

/**
 * Does what one process at a time may do, also outside of transactions; one that is left open is taken back. A row says whose turn it is, and until when: so it holds over poolers and ends with
 * a process that is killed. Whoever waits, waits as long as another says that it goes on.
 */
export async function whileAlone<T>(means: TurnMeans, act: () => Promise<T>): Promise<T> {
  const { names, holder, connection, server } = means;
  const table = names.own('leases');
  const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::int8';
  const take = {
    text: `INSERT INTO ${table} AS l (name, holder, fence, expires) VALUES ($1, $2, 1, ${nowMs} + ${turnMs})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = l.fence + 1, expires = excluded.expires
      WHERE l.holder = excluded.holder OR l.expires <= ${nowMs} RETURNING fence`,
    values: [work, holder],
  };
  while ((await foundBy({ connection }, take)).length === 0) await new Promise((resolve) => setTimeout(resolve, askMs));
  // The connection itself is busy for as long as an index takes.
  let keeper: Promise<Connection> | undefined;
  let renewed: Promise<unknown> | undefined;
  const renewing = setInterval(() => {
    keeper ??= server.connect('anything');
    renewed = keeper.then((session) => session.send([take])).catch(() => {});
  }, renewMs);
  try {
    return await act();
  } finally {
    clearInterval(renewing);
    // What is said last is not said after it was given back.
    await renewed;
    const give = { text: `UPDATE ${table} SET expires = 0, holder = '' WHERE name = $1 AND holder = $2`, values: [work, holder] };
    // Where it cannot be given back, it ends by itself.
    await connection.send([bareSql('ROLLBACK'), give]).catch(() => {});
    await keeper?.then((session) => session.close()).catch(() => {});
  }
}
