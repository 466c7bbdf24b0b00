import { bareSql, type Connection, type Sql } from './connection.ts';
import type { StoreNames } from './names.ts';

/**
 * Each batch leaves a receipt in its transaction: its number, in the one row that its process has for that. Where the answer to a commit is lost,
 * the receipt says what became of the batch. The number of a transaction would not: one that a crash of the database has undone is
 * given to another transaction after it, and so is one that a standby never heard of.
 */
export class Receipts {
  readonly #names: StoreNames;
  readonly #holder: string;
  #last = 0;

  /** @param holder What tells this process from others. */
  constructor(names: StoreNames, holder: string) {
    this.#names = names;
    this.#holder = holder;
  }

  /** A number that no batch of this process has had, nor an earlier try at this one. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** What leaves the receipt of a batch. */
  leave(batch: number): Sql {
    return {
      text: `INSERT INTO ${this.#names.own('receipts')} (holder, batch, at) VALUES ($1, $2::int8, now())
        ON CONFLICT (holder) DO UPDATE SET batch = excluded.batch, at = excluded.at`,
      values: [this.#holder, String(batch)],
    };
  }

  /** Whether the newest batch of this process is stored; its transaction is over by then, or never gets to its end. */
  async isLeft(connection: Connection, batch: number): Promise<boolean> {
    // A batch holds the store's row until it is over. It is written, for a database may hold that against one whose lock it has lost.
    const over = bareSql(`UPDATE ${this.#names.own('store')} SET last = last`);
    const find = { text: `SELECT batch FROM ${this.#names.own('receipts')} WHERE holder = $1`, values: [this.#holder] };
    const [, [found] = []] = await connection.send([over, find]);
    return Number(found?.[0]) === batch;
  }
}

/** What removes the receipts of processes that ended long ago: nobody waits so long for the answer to a commit. */
export function oldReceipts(names: StoreNames): Sql {
  return { ...bareSql(`DELETE FROM ${names.own('receipts')} WHERE at < now() - interval '30 days'`), isOnce: true };
}
