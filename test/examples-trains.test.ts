import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { check, readDocument } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { reluctant } from './stores/reluctant.ts';
import { ann, bank, bob, desk, openTrains, path, quarterMs, type Row, refused, row, rows } from './values/trains.ts';

test('trains are stated whole: nothing to be mended, nothing open, in 600 lines', async () => {
  const document = await readDocument(path);
  const { findings, ledger } = check(document);
  assert.deepEqual([findings, ledger.total.open], [[], 0]);
  assert.ok((await readFile(path, 'utf8')).split('\n').length <= 600);
});

for (const [name, store] of [
  ['SQLite', () => openSqlite(':memory:')],
  ['a store that waits and runs bodies twice', () => reluctant(openSqlite(':memory:'))],
] as const)
  test(`sixty-four passengers who race for ten seats get each of them once, on ${name}`, async () => {
    const { send, run, book, read, close } = await openTrains(store() as ReturnType<typeof openSqlite>);
    const trip = await run(Array.from({ length: 10 }, (_, at) => `${at + 1}A`));
    const wanted = Array.from({ length: 64 }, (_, at) => (at % 3 === 0 ? [at % 10, (at + 1) % 10] : [at % 10]));
    const tried = await Promise.all(
      wanted.map((seats, at) =>
        book(
          `passenger p${at}`,
          trip.id,
          seats.map((seat) => trip.seats[seat]),
        ),
      ),
    );
    const won = tried.filter(({ status }) => status === 201).map(({ json }) => json as Row & { travellers: readonly Row[] });
    for (const answer of tried) if (answer.status !== 201) refused(answer, 409, 'seat_taken');
    const held = won.flatMap(({ travellers }) => travellers.map(({ seat }) => seat));
    assert.equal(new Set(held).size, held.length, 'a seat was held twice');
    const seats = await rows(send(desk, 'GET', `/trips/${trip.id}/seats?limit=100`));
    assert.deepEqual(
      seats
        .filter(({ status }) => status === 'held')
        .map(({ id }) => id)
        .sort(),
      [...held].sort(),
    );
    assert.equal((await read(ann, `/trips/${trip.id}`)).seats_left, 10 - held.length);
    assert.equal(held.length, 10);
    // No refusal left a gap in the numbers.
    const numbers = won.map(({ number }) => number).sort();
    assert.deepEqual(
      numbers,
      won.map((_, at) => `TR-${String(at + 1).padStart(6, '0')}`),
    );
    await close();
  });

test('sixty-four passengers who race for the places of bicycles never get more than there are', async () => {
  const { run, book, read, close } = await openTrains();
  const places = Array.from({ length: 32 }, (_, at) => `${at + 1}B`);
  const trip = await run(places, {
    bicycles: 5,
    coaches: [
      { number: 1, places },
      { number: 2, places },
    ],
  });
  const tried = await Promise.all(
    trip.seats.map((seat, at) => book(`passenger p${at}`, trip.id, [seat], { bicycles: 1 + (at % 2) })),
  );
  const taken = tried.reduce((sum, { status }, at) => sum + (status === 201 ? 1 + (at % 2) : 0), 0);
  for (const answer of tried) if (answer.status !== 201) refused(answer, 409, 'no_bicycles');
  assert.equal(taken, 5);
  assert.partialDeepStrictEqual(await read(ann, `/trips/${trip.id}`), {
    bicycles_left: 0,
    seats_left: 64 - tried.filter(({ status }) => status === 201).length,
  });
  await close();
});

test('a hold expires by the clock and releases its seats, and money that comes later is kept and goes back', async () => {
  const { send, run, book, pay, read, wait, close } = await openTrains();
  const trip = await run(['1A', '1B']);
  const held = row(await book(ann, trip.id, trip.seats), 201);
  assert.partialDeepStrictEqual(held, { status: 'held', price: 6000, expires_at: '2026-06-01T09:15:00.000Z', passenger: 'ann' });
  const payment = await pay(ann, held.id);
  await wait(quarterMs - 1);
  assert.equal((await read(ann, `/bookings/${held.id}`)).status, 'held');
  refused(await book(bob, trip.id, [trip.seats[1]]), 409, 'seat_taken');
  await wait(1);
  assert.equal((await read(ann, `/bookings/${held.id}`)).status, 'expired');
  assert.equal((await read(ann, `/trips/${trip.id}`)).seats_left, 2);
  const next = row(await book(bob, trip.id, [trip.seats[1]]), 201);
  refused(await send(bank, 'POST', `/payments/${payment.id}/succeed`), 409, 'hold_over');
  assert.equal((await read(ann, `/payments/${payment.id}`)).status, 'late');
  const [refund, ...others] = await rows(send(ann, 'GET', '/refunds'));
  assert.partialDeepStrictEqual(refund, { number: 1, payment: payment.id, amount: 6000, reason: 'too_late', status: 'pending' });
  assert.deepEqual(others, []);
  assert.deepEqual(await rows(send(ann, 'GET', `/bookings/${held.id}/tickets`)), []);
  // Whoever has the seat by now keeps it.
  assert.equal((await read(bob, `/bookings/${next.id}`)).status, 'held');
  assert.equal((await read(bob, `/seats/${trip.seats[1]}`)).status, 'held');
  refused(await send(ann, 'POST', `/bookings/${held.id}/cancel`), 409, 'booking_over');
  refused(await send(ann, 'POST', `/bookings/${held.id}/payments`, {}), 409, 'not_payable');
  await close();
});

test('a payment confirms its booking, sells the seats and issues a ticket for each traveller', async () => {
  const { send, run, book, pay, read, wait, close } = await openTrains();
  const trip = await run(['1A', '1B'], {
    coaches: [
      { number: 1, class: 'first', supplement: 1500, places: ['1A', '1B'] },
      { number: 2, places: ['1A'] },
    ],
  });
  const booking = row(await book(ann, trip.id, [trip.seats[0], trip.seats[2]]), 201);
  assert.equal(booking.price, 7500);
  const failed = await pay(ann, booking.id);
  refused(await send(ann, 'POST', `/bookings/${booking.id}/payments`, {}), 409, 'exists');
  refused(await send(ann, 'POST', `/payments/${failed.id}/succeed`), 403, 'forbidden');
  row(await send(bank, 'POST', `/payments/${failed.id}/fail`, { reason: 'The card was declined.' }), 200);
  assert.partialDeepStrictEqual(await read(ann, `/payments/${failed.id}`), {
    status: 'failed',
    failure: 'The card was declined.',
  });
  assert.equal((await read(ann, `/bookings/${booking.id}`)).status, 'held');
  const payment = await pay(ann, booking.id);
  const twice = await Promise.all(Array.from({ length: 8 }, () => send(bank, 'POST', `/payments/${payment.id}/succeed`)));
  assert.deepEqual(twice.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)]);
  assert.equal((await read(ann, `/bookings/${booking.id}`)).status, 'confirmed');
  const tickets = await rows(send(ann, 'GET', `/bookings/${booking.id}/tickets`));
  assert.deepEqual(
    tickets.map(({ seat, name, passenger, status }) => [seat, name, passenger, status]),
    [
      [trip.seats[0], 'Traveller 0', 'ann', 'valid'],
      [trip.seats[2], 'Traveller 1', 'ann', 'valid'],
    ],
  );
  const [ticket] = tickets;
  assert.ok(ticket);
  refused(await send(bob, 'GET', `/tickets/${ticket.id}`), 404, 'not_found');
  const seats = await rows(send(desk, 'GET', `/trips/${trip.id}/seats?class=first`));
  assert.deepEqual(
    seats.map(({ place, status }) => [place, status]),
    [
      ['1A', 'sold'],
      ['1B', 'free'],
    ],
  );
  // What is paid does not expire; on board a ticket is used once, and keeps its booking from being given back.
  await wait(quarterMs);
  assert.equal((await read(ann, `/bookings/${booking.id}`)).status, 'confirmed');
  refused(await send(desk, 'POST', `/tickets/${ticket.id}/check-in`), 409, 'too_early');
  await wait(46 * 3_600_000);
  row(await send(desk, 'POST', `/tickets/${ticket.id}/check-in`), 200);
  refused(await send(desk, 'POST', `/tickets/${ticket.id}/check-in`), 409, 'wrong_state');
  refused(await send(ann, 'POST', `/bookings/${booking.id}/cancel`), 409, 'ticket_used');
  assert.equal((await read(ann, `/bookings/${booking.id}`)).status, 'confirmed');
  assert.deepEqual(await rows(send(ann, 'GET', '/refunds')), []);
  await wait(2 * 3_600_000);
  refused(await send(ann, 'POST', `/bookings/${booking.id}/cancel`), 409, 'train_gone');
  refused(await book(bob, trip.id, [trip.seats[1]]), 409, 'not_running');
  await close();
});

for (const [when, hours, amount] of [
  ['a day before gives all the money back', 0, 3000],
  ['later gives half of it back', 40, 1500],
] as const)
  test(`cancelling ${when}, which the bank settles once`, async () => {
    const { send, run, book, pay, read, wait, close } = await openTrains();
    const trip = await run(['1A']);
    const booking = row(await book(ann, trip.id, trip.seats), 201);
    const payment = await pay(ann, booking.id);
    row(await send(bank, 'POST', `/payments/${payment.id}/succeed`), 200);
    await wait(hours * 3_600_000);
    refused(await send(bob, 'POST', `/bookings/${booking.id}/cancel`), 404, 'not_found');
    row(await send(ann, 'POST', `/bookings/${booking.id}/cancel`), 200);
    assert.deepEqual(
      (await rows(send(ann, 'GET', `/bookings/${booking.id}/tickets`))).map(({ status }) => status),
      ['void'],
    );
    assert.equal((await read(ann, `/trips/${trip.id}`)).seats_left, 1);
    const [refund] = await rows(send(bank, 'GET', `/refunds?status=pending&booking=${booking.id}`));
    assert.partialDeepStrictEqual(refund, { payment: payment.id, passenger: 'ann', amount, reason: 'cancelled' });
    assert.equal((await read(ann, `/payments/${payment.id}`)).status, 'succeeded');
    row(await send(bank, 'POST', `/refunds/${refund?.id}/settle`), 200);
    refused(await send(bank, 'POST', `/refunds/${refund?.id}/settle`), 409, 'wrong_state');
    assert.equal((await read(ann, `/payments/${payment.id}`)).status, 'refunded');
    row(await book(bob, trip.id, trip.seats), 201);
    await close();
  });

test('a trip that is called off voids its tickets, gives all the money back and sells nothing more', async () => {
  const { send, run, book, pay, read, wait, close } = await openTrains();
  const trip = await run(['1A', '1B', '1C']);
  const paid = row(await book(ann, trip.id, [trip.seats[0]]), 201);
  row(await send(bank, 'POST', `/payments/${(await pay(ann, paid.id)).id}/succeed`), 200);
  const expired = row(await book(bob, trip.id, [trip.seats[1]]), 201);
  await wait(quarterMs);
  const held = row(await book(bob, trip.id, [trip.seats[2]]), 201);
  refused(await send(ann, 'POST', `/trips/${trip.id}/cancel`), 403, 'forbidden');
  row(await send(desk, 'POST', `/trips/${trip.id}/cancel`), 200);
  const statuses = (await rows(send(desk, 'GET', `/bookings?trip=${trip.id}`))).map(({ id, status }) => [id, status]);
  assert.deepEqual(statuses, [
    [paid.id, 'called_off'],
    [expired.id, 'expired'],
    [held.id, 'called_off'],
  ]);
  assert.deepEqual(
    (await rows(send(ann, 'GET', `/bookings/${paid.id}/tickets`))).map(({ status }) => status),
    ['void'],
  );
  const refunds = await rows(send(bank, 'GET', '/refunds'));
  assert.deepEqual(
    refunds.map(({ amount, reason }) => [amount, reason]),
    [[3000, 'called_off']],
  );
  assert.equal((await read(ann, `/trips/${trip.id}`)).seats_left, 0);
  refused(await book(ann, trip.id, [trip.seats[1]]), 409, 'not_running');
  await close();
});

test('what a train does not take is refused with the whole booking, and nothing is held', async () => {
  const { send, run, book, read, close } = await openTrains();
  const trip = await run(['1A', '1B'], { dogs_allowed: false });
  const other = await run(['1A']);
  refused(await book(ann, trip.id, [trip.seats[0], other.seats[0]]), 422, 'other_train');
  const travellers = [
    { seat: trip.seats[0], name: 'Ann' },
    { seat: trip.seats[1], name: 'Ben', has_dog: true },
  ];
  refused(await send(ann, 'POST', '/bookings', { trip: trip.id, travellers }), 422, 'no_dogs');
  refused(await book(ann, trip.id, [trip.seats[0]], { bicycles: 1 }), 409, 'no_bicycles');
  refused(await book(ann, trip.id, []), 422, 'invalid');
  refused(await book(ann, trip.id, [trip.seats[0], trip.seats[0]]), 409, 'seat_taken');
  refused(await book('', trip.id, [trip.seats[0]]), 401, 'unknown_caller');
  assert.partialDeepStrictEqual(await read(ann, `/trips/${trip.id}`), { seats_left: 2 });
  assert.deepEqual(await rows(send(desk, 'GET', '/bookings')), []);
  await close();
});

test('one passenger holds three bookings at the most, and a key makes one booking of several tries', async () => {
  const { send, run, book, close } = await openTrains();
  const trip = await run(['1A', '1B', '1C', '1D']);
  const body = { trip: trip.id, travellers: [{ seat: trip.seats[0], name: 'Ann' }] };
  const tries = await Promise.all([1, 2, 3].map(() => send(ann, 'POST', '/bookings', body, { 'idempotency-key': 'k1' })));
  const made = tries.filter(({ status }) => status === 201).map(({ json }) => (json as Row).id);
  assert.equal(new Set(made).size, 1);
  for (const seat of trip.seats.slice(1, 3)) row(await book(ann, trip.id, [seat]), 201);
  refused(await book(ann, trip.id, [trip.seats[3]]), 429, 'too_many_holds');
  row(await book(bob, trip.id, [trip.seats[3]]), 201);
  await close();
});

test('trips are found by where they go, when, and what is left', async () => {
  const { send, run, book, close } = await openTrains();
  const early = await run(['1A'], { departs_at: '2026-06-03T07:00:00Z', bicycles: 2, price: 5000 });
  const late = await run(['1A', '1B']);
  const found = async (query: string) => (await rows(send(ann, 'GET', `/trips?${query}`))).map(({ id }) => id);
  assert.deepEqual(await found('origin=ULM&destination=BRN'), [early.id, late.id]);
  assert.deepEqual(await found('sort=price'), [late.id, early.id]);
  assert.deepEqual(await found('after=2026-06-03T08:00:00Z&country=DE'), [late.id]);
  assert.deepEqual(await found('bicycles=1&dogs=true'), [early.id]);
  row(await book(ann, early.id, early.seats), 201);
  assert.deepEqual(await found('seats=1'), [late.id]);
  assert.deepEqual(await found('origin=BRN'), []);
  const trip = await send(desk, 'GET', `/trips/${late.id}`);
  const moved = { departs_at: '2026-06-03T09:30:00Z' };
  refused(await send(desk, 'PATCH', `/trips/${late.id}`, moved), 428, 'tag_missing');
  row(await send(desk, 'PATCH', `/trips/${late.id}`, moved, { 'if-match': trip.headers.etag }), 200);
  refused(await send(desk, 'PATCH', `/trips/${late.id}`, moved, { 'if-match': trip.headers.etag }), 412, 'changed');
  const gone = { departs_at: '2026-05-31T09:00:00Z' };
  refused(await send(desk, 'PATCH', `/trips/${late.id}`, gone, { 'if-match': '*' }), 422, 'in_the_past');
  await close();
});
