import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

/** A session of the database that nothing is done to; where the database is restarted it is begun anew. */
export interface Database {
  query(text: string, values?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  end(): Promise<void>;
}

const triesMost = 600;
const againMs = 100;

export function openDatabase(address: string): Database {
  let client: Client | undefined;
  async function connected(): Promise<Client> {
    if (client) return client;
    const made = new Client({ connectionString: address });
    made.on('error', () => {
      client = undefined;
    });
    await made.connect();
    client = made;
    return made;
  }
  return {
    async query(text, values = []) {
      for (let tries = 1; ; tries++) {
        try {
          return (await (await connected()).query(text, [...values])).rows;
        } catch (failure) {
          // An answer of the database that has a severity of its own is none of a session that ended.
          const state = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
          if ((/^[0-9A-Z]{5}$/.test(state) && !/^(?:57|08|E)/.test(state)) || tries === triesMost) throw failure;
          client = undefined;
          await delay(againMs);
        }
      }
    },
    async end() {
      await client?.end();
    },
  };
}
