import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactly, nearestDouble, noSum, plus, readSum, sumText } from '../src/serve/resources/derive.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { times } from './long.ts';
import { type Tried, tryService } from './serving/tried.ts';
import { reluctant } from './stores/reluctant.ts';
import { shop } from './values/shop.ts';

const runs = { numRuns: Number(process.env.FC_RUNS ?? times(20, 30)) };

/** One thing that somebody does; what it is about may be there or not. */
type Deed = readonly [method: string, path: string, body?: Readonly<Record<string, unknown>>] | 'a while';

const trips = fc.constantFrom('a', 'b');
const bookings = fc.constantFrom('p', 'q', 'r', 's');
const extras = fc.constantFrom('e', 'f', 'g');
const seats = fc.integer({ min: 1, max: 5 });

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.tuple(bookings, trips, seats).map(([id, trip, n]): Deed => ['POST', '/bookings', { id, trip, seats: n }]),
  fc.tuple(bookings, trips).map(([id, trip]): Deed => ['PATCH', `/bookings/${id}`, { trip }]),
  fc.tuple(bookings, seats).map(([id, n]): Deed => ['PATCH', `/bookings/${id}`, { seats: n }]),
  bookings.map((id): Deed => ['POST', `/bookings/${id}/pay`]),
  bookings.map((id): Deed => ['DELETE', `/bookings/${id}`]),
  fc
    .tuple(extras, bookings, fc.option(fc.integer({ min: -9, max: 900 }), { nil: undefined }))
    .map(([id, booking, price]): Deed => ['POST', '/extras', { id, booking, price }]),
  extras.map((id): Deed => ['PATCH', `/extras/${id}`, { price: null }]),
  fc.tuple(extras, fc.option(bookings)).map(([id, booking]): Deed => ['PATCH', `/extras/${id}`, { booking }]),
  extras.map((id): Deed => ['DELETE', `/extras/${id}`]),
  fc.tuple(trips, fc.integer({ min: 0, max: 40 })).map(([id, n]): Deed => ['PATCH', `/trips/${id}`, { seats: n }]),
  trips.map((id): Deed => ['DELETE', `/trips/${id}`]),
  trips.map((id): Deed => ['POST', '/trips', { id, name: id, seats: 30 }]),
  fc.constant<Deed>('a while'),
);

/** Rows to begin with, so that most deeds are about something. */
const start: readonly Deed[] = [
  ...['a', 'b'].map((id): Deed => ['POST', '/trips', { id, name: id, seats: 30 }]),
  ...['p', 'q'].map((id): Deed => ['POST', '/bookings', { id, trip: 'a', seats: 2 }]),
  ['POST', '/extras', { id: 'e', booking: 'p', price: 5 }],
];

interface Booking {
  readonly id: string;
  readonly trip: string;
  readonly status: string;
  readonly at: string;
  readonly seats: number;
  readonly amount: number;
}

interface Rows {
  readonly trips: readonly Record<string, unknown>[];
  readonly bookings: readonly Booking[];
  readonly extras: readonly { readonly booking?: string; readonly price?: number }[];
}

async function rowsOf({ send }: Tried): Promise<Rows> {
  const list = async (path: string) => (await send('GET', path)).json as never;
  return { trips: await list('/trips'), bookings: await list('/bookings'), extras: await list('/extras') };
}

/** What the shop's document says, written once more by hand. */
function recount({ trips, bookings, extras }: Rows): Pick<Rows, 'trips' | 'bookings'> {
  const charged = bookings.map((booking) => ({
    ...booking,
    amount:
      booking.seats * 1250 + extras.reduce((sum, extra) => sum + (extra.booking === booking.id ? (extra.price ?? 0) : 0), 0),
  }));
  return {
    bookings: charged,
    trips: trips.map(({ id, name, seats }) => {
      const own = charged.filter(({ trip }) => trip === id);
      const paid = own.filter(({ status }) => status === 'paid');
      const held = own.filter(({ status }) => status !== 'expired').reduce((sum, booking) => sum + booking.seats, 0);
      return {
        id,
        name,
        seats,
        seats_left: Number(seats) - held,
        bookings: own.length,
        is_taken: paid.length > 0,
        ...(own.length > 0 && {
          cheapest: Math.min(...own.map(({ amount }) => amount)),
          last_at: own
            .map(({ at }) => String(at))
            .sort()
            .at(-1),
        }),
        takings: nearestDouble(paid.reduce((sum, { amount }) => plus(sum, exactly(amount / 100), 1), noSum)),
      };
    }),
  };
}

async function live(tried: Tried, history: readonly Deed[]): Promise<void> {
  for (const step of history) {
    if (step === 'a while') {
      tried.clock.advance(300_000);
      await tried.service.settled();
      continue;
    }
    const [method, path, body] = step;
    const { status, text } = await tried.send(method, path, { body });
    assert.ok(status < 500, text);
  }
}

for (const [name, wrap] of [
  ['SQLite', (store: Store) => store],
  ['a store that waits', (store: Store) => reluctant(store)],
] as const)
  test(`derived fields equal a recount after any history, on ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 40 }), async (history) => {
        const tried = await tryService(shop, { store: wrap(openSqlite(':memory:')) });
        await live(tried, [...start, ...history]);
        const rows = await rowsOf(tried);
        assert.partialDeepStrictEqual(recount(rows), { trips: rows.trips, bookings: rows.bookings });
        assert.partialDeepStrictEqual(rows, recount(rows));
        assert.deepEqual(tried.failures, []);
        await tried.close();
      }),
      runs,
    );
  });

test('what is derived is reckoned of rows that were stored under a document without it, and anew under one that derives otherwise', async () => {
  const plain = shop
    .replaceAll(/, derive: "[^"]*"/g, '')
    .replace('required: [id, name, seats, seats_left, bookings, is_taken, takings]', 'required: [id, name, seats]')
    .replace('required: [id, trip, seats, at, status, amount]', 'required: [id, trip, seats, at, status]')
    .replace(/errors:[\s\S]*/, '');
  await fc.assert(
    fc.asyncProperty(
      fc.array(deed, { minLength: 5, maxLength: 25 }),
      fc.array(deed, { maxLength: 10 }),
      async (first, second) => {
        const store = openSqlite(':memory:');
        const before = await tryService(plain, { store });
        await live(before, [...start, ...first]);
        await before.close();
        const derived = await tryService(shop, { store });
        await live(derived, second);
        const rows = await rowsOf(derived);
        assert.partialDeepStrictEqual(rows, recount(rows));
        await derived.close();
        // Rows that changed while nobody counted are counted again.
        const between = await tryService(plain, { store });
        await live(between, first);
        await between.close();
        const again = await tryService(shop.replace('* 1250', '* 1000'), { store });
        const { trips, bookings, extras } = await rowsOf(again);
        const cheaper = recount({ trips, extras, bookings });
        assert.deepEqual(
          bookings.map(({ amount }) => amount),
          cheaper.bookings.map(({ amount, seats: n }) => amount - n * 250),
        );
        assert.deepEqual(
          trips.map(({ seats_left }) => seats_left),
          cheaper.trips.map(({ seats_left }) => seats_left),
        );
        await again.close();
        await store.close();
      },
    ),
    runs,
  );
});

test('an exact sum loses nothing: whatever is added and taken away again leaves what was there', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(number, { maxLength: 20 }), fc.array(number, { maxLength: 20 }), (kept, passing) => {
      let sum = noSum;
      for (const value of [...kept, ...passing]) sum = plus(sum, exactly(value), 1);
      for (const value of passing.toReversed()) sum = plus(readSum(sumText(sum)), exactly(value), -1);
      assert.deepEqual(
        sum,
        kept.reduce((all, value) => plus(all, exactly(value), 1), noSum),
      );
      for (const value of kept) assert.equal(nearestDouble(exactly(value)), value + 0);
    }),
  );
});
