/** The reference services: their documents, their faults, and who can be spoken for. */
import { join } from 'node:path';
import type { GivenCaller } from '../../src/verify/model/callers.ts';
import type { Start } from './command.ts';
import type { Fault } from './fault.ts';
import { people, tokenFor } from './rooms/callers.ts';
import { roomsFaults } from './rooms/faults.ts';
import { startRooms } from './rooms/start.ts';
import { shopFaults } from './shop/faults.ts';
import { shopKeys, startShop } from './shop/start.ts';

export interface ReferenceService {
  readonly name: string;
  /** The path of its document. */
  readonly document: string;
  readonly faults: readonly Fault[];
  readonly start: Start;
  callers(): Promise<readonly GivenCaller[]>;
}

export const services: readonly ReferenceService[] = [
  {
    name: 'shop',
    document: join(import.meta.dirname, 'shop/shop.md'),
    faults: shopFaults,
    start: startShop,
    callers: async () => [...shopKeys].map(([credential, { id, user }]) => ({ user, id, credential, scheme: 'key' })),
  },
  {
    name: 'rooms',
    document: join(import.meta.dirname, 'rooms/rooms.yaml'),
    faults: roomsFaults,
    start: startRooms,
    callers: () =>
      Promise.all(
        people.map(async (person) => {
          const { id, user, scopes, password } = person;
          if (password !== undefined) return { user, id, scopes, credential: `${id}:${password}`, scheme: 'desk' };
          return { user, id, scopes, credential: await tokenFor(person), scheme: 'token' };
        }),
      ),
  },
];
