import { people, tokenFor } from '../bench/faults/rooms/callers.ts';
import { roomsDemonstrations } from '../bench/faults/rooms/demonstrations.ts';
import { roomsFaults } from '../bench/faults/rooms/faults.ts';
import { startRooms } from '../bench/faults/rooms/start.ts';
import { demonstrate } from './faults/demonstrate.ts';

const mia = people.find(({ id }) => id === 'mia')!;
const credentials = new Map<string, string>([
  ['mia for another service', `Bearer ${await tokenFor(mia, { audience: 'kitchens' })}`],
  ['mia of another issuer', `Bearer ${await tokenFor(mia, { issuer: 'https://id.other.example' })}`],
  ['mia of last year', `Bearer ${await tokenFor(mia, { endsMs: Date.now() - 365 * 86_400_000 })}`],
  ['mia under another word', `Token ${await tokenFor(mia)}`],
]);
for (const person of people) {
  const { id, password } = person;
  const token =
    password === undefined ? `Bearer ${await tokenFor(person)}` : `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`;
  credentials.set(id, token);
}

demonstrate('rooms', roomsFaults, startRooms, roomsDemonstrations, (who) => ({ Authorization: credentials.get(who) ?? '' }));
