import assert from 'node:assert/strict';
import { readDocument } from '../../src/index.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { tryDocument } from '../serving/tried.ts';

/** A row as an answer shows it. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: unknown;
}

/** Where the document is. */
export const path = 'examples/trains.md';
/** How long a booking holds its seats, in milliseconds. */
export const quarterMs = 15 * 60_000;
/** Who calls, as user and id. */
export const [desk, ann, bob, bank] = ['operator desk', 'passenger ann', 'passenger bob', 'bank acme'];

/** The service with two stations; a caller is `user id`. */
export async function openTrains(store = openSqlite(':memory:')) {
  const tried = await tryDocument(await readDocument(path), {
    store,
    identify: ({ headers }) => {
      const [user = '', id = ''] = String(headers.authorization ?? '').split(' ');
      return user === '' ? undefined : { user, id, scopes: [], claims: {} };
    },
  });
  const send = (who: string, method: string, target: string, body?: unknown, headers = {}): Promise<Answer> =>
    tried.send(method, `/v1${target}`, {
      headers: { ...(who && { authorization: who }), ...headers },
      ...(body !== undefined && { body }),
    });
  for (const code of ['ULM', 'BRN'])
    assert.equal(
      (await send(desk, 'POST', '/stations', { code, name: `Station ${code}`, country: 'DE', timezone: 'Europe/Berlin' })).status,
      201,
    );
  const run = async (places: readonly string[], more = {}): Promise<{ id: string; seats: readonly string[] }> => {
    const made = await send(desk, 'POST', '/trips', {
      origin: 'ULM',
      destination: 'BRN',
      departs_at: '2026-06-03T09:00:00Z',
      arrives_at: '2026-06-03T12:30:00Z',
      price: 3000,
      coaches: [{ number: 1, places }],
      ...more,
    });
    assert.equal(made.status, 201, JSON.stringify(made.json));
    const { id } = made.json as Row;
    const seats = await rows(send(ann, 'GET', `/trips/${id}/seats?limit=100`));
    return { id, seats: seats.map((seat) => seat.id) };
  };
  const book = (who: string, trip: string, seats: readonly (string | undefined)[], more = {}) =>
    send(who, 'POST', '/bookings', { trip, travellers: seats.map((seat, at) => ({ seat, name: `Traveller ${at}` })), ...more });
  const pay = async (who: string, booking: string) => row(await send(who, 'POST', `/bookings/${booking}/payments`, {}), 201);
  const read = async (who: string, target: string) => row(await send(who, 'GET', target), 200);
  const wait = async (ms: number) => {
    tried.clock.advance(ms);
    await tried.service.settled();
  };
  const close = async () => {
    await tried.close();
    assert.deepEqual(tried.failures, []);
  };
  return { send, run, book, pay, read, wait, close };
}

/** The row of an answer with this status. */
export function row({ status, json }: Answer, expected: number): Row {
  assert.equal(status, expected, JSON.stringify(json));
  return json as Row;
}

/** The rows of a page that was answered with 200. */
export async function rows(answer: Promise<Answer>): Promise<readonly Row[]> {
  return (row(await answer, 200) as unknown as { data: readonly Row[] }).data;
}

/** Holds an answer to be this refusal. */
export function refused({ status, json }: Answer, expected: number, code: string): void {
  assert.deepEqual([status, (json as { code?: string }).code], [expected, code], JSON.stringify(json));
}
