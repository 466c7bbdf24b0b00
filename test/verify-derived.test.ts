import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { shop } from './values/shop.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  [
    'what is held does not count',
    "item.status in ['held', 'paid']",
    "item.status == 'paid'",
    'allowed values:trip.seats_left',
    /derived/,
  ],
  [
    'not all are counted',
    'count(booking.trip)',
    'count(booking.trip, item.seats > 1)',
    'allowed values:trip.bookings',
    /derived/,
  ],
  [
    'a count stays as it began',
    'derive: "count(booking.trip)"',
    'readOnly: true, set: { create: "0" }',
    'allowed values:trip.bookings',
    /derived/,
  ],
  [
    'whether there is one is told too early',
    "exists(booking.trip, item.status == 'paid')",
    'exists(booking.trip)',
    'allowed values:trip.is_taken',
    /derived/,
  ],
  [
    'the dearest is told',
    'min(booking.trip, item.amount)',
    'max(booking.trip, item.amount)',
    'allowed values:trip.cheapest',
    /derived/,
  ],
  [
    'what is derived of something derived is left out',
    ' + sum(extra.booking, item.price)',
    '',
    'allowed values:booking.amount',
    /derived/,
  ],
  [
    'a row alone is reckoned otherwise',
    'resource.seats * 1250',
    'resource.seats * 1200',
    'allowed values:booking.amount',
    /derived/,
  ],
  [
    'a guard lets one seat too few go',
    'next.trip.seats_left < next.seats',
    'next.trip.seats_left <= next.seats',
    'conditions:sold_out',
    /not else/,
  ],
  [
    'a guard sells what is not there',
    'next.trip.seats_left < next.seats',
    'next.trip.seats_left + 1 < next.seats',
    'conditions:sold_out',
    /arises/,
  ],
];

servedOtherwise(
  shop,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

test('a service that keeps what it derives is found without a fault, and each derived field is held', {
  skip: !isLong,
}, async () => {
  const stand = await openStand(shop);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const derived = facts.filter(
      ({ kind, subject }) =>
        kind === 'allowed values' && /seats_left|bookings|is_taken|cheapest|last_at|takings|amount/.test(subject),
    );
    assert.deepEqual([...new Set(derived.map(({ verdict }) => verdict))], ['held']);
  } finally {
    await stand.close();
  }
});

test('rows that follow from the making of what they refer to are no fault of what is derived of them', {
  skip: !isLong,
}, async () => {
  const stand = await openStand(
    shop
      .replace(
        'required: [id, name, seats, seats_left, bookings, is_taken, takings]',
        (required) =>
          `${required}\n    created: { then: { create: booking, set: { id: "next.id + '_first'", trip: next.id, seats: "1" } } }`,
      )
      .replace('seats: { type: integer, minimum: 0 }', 'seats: { type: integer, minimum: 1 }'),
  );
  try {
    const { breaches } = await stand.verify({ only: ['resources'] });
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
