/** The reference services: their documents, their faults, and who can be spoken for. */
import { join } from 'node:path';
import type { GivenCaller } from '../../src/verify/exchange/callers.ts';
import type { Start } from './command.ts';
import type { Fault } from './fault.ts';
import { type Claims, type Person, people, tokenFor } from './rooms/callers.ts';
import { roomsFaults } from './rooms/faults.ts';
import { startRooms } from './rooms/start.ts';
import { shopFaults } from './shop/faults.ts';
import { revokedShopKeys, shopKeys, startShop } from './shop/start.ts';

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
    callers: async () => [
      ...[...shopKeys].map(([credential, { id, user }]) => ({ user, id, credential, scheme: 'key' })),
      ...[...revokedShopKeys].map(([credential, { id, user }]) => ({ user, id, credential, scheme: 'key', bad: 'revoked' })),
    ],
  },
  {
    name: 'rooms',
    document: join(import.meta.dirname, 'rooms/rooms.yaml'),
    faults: roomsFaults,
    start: startRooms,
    callers: async () => [...(await Promise.all(people.map(credentialOf))), ...(await badTokens())],
  },
];

async function credentialOf(person: Person): Promise<GivenCaller> {
  const { id, user, scopes, password } = person;
  if (password !== undefined) return { user, id, scopes, credential: `${id}:${password}`, scheme: 'desk' };
  return { user, id, scopes, credential: await tokenFor(person), scheme: 'token' };
}

/** Tokens that are not good at the meeting rooms, each for one reason. */
function badTokens(): Promise<GivenCaller[]> {
  const mia = people[0]!;
  const reasons: [string, Claims][] = [
    ['expired', { endsMs: Date.now() - 86_400_000 }],
    ['of another issuer', { issuer: 'https://id.other.example' }],
    ['of another service', { audience: 'kitchens' }],
    ['signed by somebody else', { secret: 'a secret that nobody at the house has' }],
  ];
  return Promise.all(
    reasons.map(async ([bad, claims]) => ({
      user: mia.user,
      id: mia.id,
      credential: await tokenFor(mia, claims),
      scheme: 'token',
      bad,
    })),
  );
}
