import type { SharedRates } from '../sharing.ts';
import type { Store } from '../store.ts';
import { readAddress } from './connection.ts';

/**
 * A store in a schema of a PostgreSQL database, made where it is not there: `postgres://user@host:port/database?schema=ninefold`. Any number
 * of processes have it at a time. It is connected to when it is first asked for something, and what stands in the way is told then.
 * @throws where the address is none.
 */
export function openPostgres(address: string): Store {
  const { url, name, settings } = readAddress(address);
  return laterStore(name, async () => {
    const [{ openOn }, { pgServer }] = await Promise.all([import('./postgres.ts'), import('./server.ts')]);
    return openOn(pgServer(url, name, settings), settings);
  });
}

/** Whoever asks for something is told of it. */
function ignored(): undefined {}

/** A store that is opened when it is first asked for something. */
export function laterStore(name: string, open: () => Promise<Store>): Store {
  let opening: Promise<Store> | undefined;
  let isClosed = false;
  const opened = (): Promise<Store> => {
    if (opening) return opening;
    if (isClosed) return Promise.reject(new Error(`${name} is closed`));
    const trying = open();
    // Whoever asks again after a failure may find it there.
    trying.catch(() => {
      if (opening === trying) opening = undefined;
    });
    opening = trying;
    return trying;
  };
  return {
    shared: {
      remembered: async (key) => (await opened()).shared?.remembered(key),
      watch(changed) {
        let end: (() => void) | undefined;
        let isOver = false;
        void opened().then(({ shared }) => {
          if (!isOver) end = shared?.watch(changed);
        }, ignored);
        return () => {
          isOver = true;
          end?.();
        };
      },
      share(work, held) {
        const sharing = opened().then(({ shared }) => shared?.share(work, held));
        sharing.catch(() => held(false));
        return async () => (await sharing.catch(ignored))?.();
      },
      rates: (rulesOf) => laterRates(async () => (await opened()).shared?.rates(rulesOf)),
    },
    prepare: async (...given) => (await opened()).prepare(...given),
    tablesBeside: async (known) => (await opened()).tablesBeside(known),
    copyTo: async (path) => (await opened()).copyTo(path),
    read: async (body, goesOn) => (await opened()).read(body, goesOn),
    change: async (body) => (await opened()).change(body),
    due: async (nowMs, most) => (await opened()).due(nowMs, most),
    timers: async (most, search) => (await opened()).timers(most, search),
    nextDue: async () => (await opened()).nextDue(),
    setting: async (...given) => (await opened()).setting(...given),
    compact: async () => (await opened()).compact(),
    async close() {
      isClosed = true;
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}

/** Rates of a store that is opened when something is first counted; they are closed with it. */
function laterRates(open: () => Promise<SharedRates | undefined>): SharedRates {
  let opening: Promise<SharedRates | undefined> | undefined;
  return {
    async count(asked) {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      const rates = await opening;
      if (!rates) throw new Error('the store counts no rates');
      return rates.count(asked);
    },
    close: async () => {},
  };
}
