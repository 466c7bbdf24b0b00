import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readDocument, serve } from '../../src/index.ts';
import { seeded } from './chance.ts';
import { type Answer, type Line, openLine, type Server, startServer } from './server.ts';

/** How many orders race for how many seats, and how often the server is killed meanwhile. */
interface Sale {
  readonly orders: number;
  readonly seats: number;
  readonly kills: number;
  readonly seed: number;
  readonly command: string;
  readonly folder: string;
}

/** What came of a sale, all of it counted over the orders. */
export interface Sold {
  readonly seats: number;
  readonly sold: number;
  readonly taken: number;
  readonly kills: number;
  /** Requests that a kill left without an answer, each of which was sent again under its key. */
  readonly resent: number;
  readonly perSecond: number;
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly seat?: string;
}

const document = join(import.meta.dirname, '../../examples/trains.md');
const clients = 64;
/** A caller has a rate of its own; enough of them stay below it. */
const callers = { passenger: 256, bank: 8, operator: 8 };
const placesOfCoach = 40;
const coachesOfTrip = 5;

/**
 * Sells the seats of `examples/trains.md` to whoever asks, killing the server meanwhile; every order goes on until it is told that its seats are
 * paid or taken. @throws where a seat was sold twice, or what was acknowledged is not there.
 */
export async function sellOut(sale: Sale): Promise<Sold> {
  const store = join(sale.folder, 'trains.sqlite');
  const keys = await giveKeys(store);
  const house = new House(store, sale.command);
  try {
    const seats = await openTrips(house, keys, sale.seats);
    const began = performance.now();
    const told = await raceOrders(house, keys, seats, sale);
    const seconds = (performance.now() - began) / 1000;
    await lookAtAll(house, keys, seats, told.paid);
    return {
      seats: seats.length,
      sold: told.paid.size,
      taken: told.taken,
      kills: house.kills,
      resent: house.resent,
      perSecond: Math.round(sale.orders / seconds),
    };
  } finally {
    await house.close();
  }
}

type Keys = Readonly<Record<keyof typeof callers, readonly string[]>>;

/** A key of each caller, as `ninefold keys add` gives them out. */
async function giveKeys(store: string): Promise<Keys> {
  const service = await serve(await readDocument(document), { store });
  const keys: Record<string, string[]> = {};
  for (const [user, count] of Object.entries(callers)) {
    keys[user] = [];
    for (let n = 0; n < count; n++) {
      const { secret } = (await service.administer('keys add', { user, id: `${user}${n}` })) as { secret: string };
      keys[user].push(secret);
    }
  }
  await service.close();
  // One list for each user was made above.
  return keys as unknown as Keys;
}

/** One server over one store, begun anew after each kill. */
class House {
  readonly #store: string;
  readonly #command: string;
  #life: Promise<{ readonly server: Server; readonly line: Line }>;
  kills = 0;
  resent = 0;

  constructor(store: string, command: string) {
    this.#store = store;
    this.#command = command;
    this.#life = this.#begin();
  }

  async #begin() {
    const server = startServer(document, this.#store, [], this.#command);
    return { server, line: openLine(await server.address, clients) };
  }

  /** Asks until there is an answer: what a kill left without one is sent again as it was. */
  async ask(key: string, method: string, path: string, body?: unknown, once?: string): Promise<Answer> {
    for (;;) {
      const { line } = await this.#life;
      const headers = { authorization: `Bearer ${key}`, ...(once !== undefined && { 'idempotency-key': once }) };
      const answer = await line.send(method, `/v1${path}`, headers, body === undefined ? undefined : JSON.stringify(body));
      if (answer !== undefined) return answer;
      this.resent += 1;
    }
  }

  async kill(): Promise<void> {
    const life = await this.#life;
    this.kills += 1;
    const over = life.server.kill();
    this.#life = over.then(() => this.#begin());
    await this.#life;
    life.line.close();
  }

  async close(): Promise<void> {
    const { server, line } = await this.#life;
    line.close();
    await server.kill();
  }
}

function rowOf({ status, text }: Answer, expected: number): Row {
  assert.equal(status, expected, text);
  return JSON.parse(text);
}

async function listOf(house: House, keys: readonly string[], path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = 1; ; page++) {
    const key = keys[page % keys.length]!;
    const { data } = rowOf(await house.ask(key, 'GET', `${path}?limit=100&page=${page}`), 200) as unknown as { data: Row[] };
    rows.push(...data);
    if (data.length < 100) return rows;
  }
}

interface Seat {
  readonly trip: string;
  readonly id: string;
}

/** Trips with so many seats together, and their seats. */
async function openTrips(house: House, { operator }: Keys, count: number): Promise<Seat[]> {
  const key = operator[0]!;
  for (const code of ['AAA', 'BBB'])
    rowOf(
      await house.ask(key, 'POST', '/stations', { code, name: `Town ${code}`, country: 'CH', timezone: 'Europe/Zurich' }),
      201,
    );
  const seats: Seat[] = [];
  while (seats.length < count) {
    const coaches = [];
    for (let left = count - seats.length; left > 0 && coaches.length < coachesOfTrip; left -= placesOfCoach) {
      const places = Array.from({ length: Math.min(left, placesOfCoach) }, (_, n) => `${Math.floor(n / 4) + 1}${'ABCD'[n % 4]}`);
      coaches.push({ number: coaches.length + 1, places });
    }
    const trip = { origin: 'AAA', destination: 'BBB', departs_at: '2999-01-01T08:00:00Z', arrives_at: '2999-01-01T10:00:00Z' };
    const { id } = rowOf(await house.ask(key, 'POST', '/trips', { ...trip, price: 4500, coaches }), 201);
    for (const seat of await listOf(house, operator, `/trips/${id}/seats`)) seats.push({ trip: id, id: seat.id });
  }
  return seats;
}

interface Told {
  /** Of each seat that was paid, its booking. */
  readonly paid: Map<string, string>;
  taken: number;
}

/** Orders of so many clients at once for seats by chance; the last are for those that chance left. */
async function raceOrders(house: House, keys: Keys, seats: readonly Seat[], { orders, kills, seed }: Sale): Promise<Told> {
  const chance = seeded(seed);
  const told: Told = { paid: new Map(), taken: 0 };
  const free = new Set(seats);
  let begun = 0;
  let killing: Promise<void> | undefined;
  const client = async (who: number) => {
    while (begun < orders) {
      const order = begun++;
      if (kills > 0 && order % Math.ceil(orders / (kills + 1)) === 0 && order > 0) {
        killing = (killing ?? Promise.resolve()).then(() => house.kill());
      }
      const last = orders - order <= free.size + clients ? [...free][0] : undefined;
      const seat = last ?? seats[chance.below(seats.length)]!;
      // A client is several passengers by turns, so that none of them comes near to its rate.
      const passenger = keys.passenger[who + clients * (order % (callers.passenger / clients))]!;
      const booking = await orderSeat(house, keys, passenger, seat, order);
      free.delete(seat);
      if (booking === undefined) told.taken += 1;
      else {
        assert.equal(told.paid.get(seat.id), undefined, `seat ${seat.id} was sold twice`);
        told.paid.set(seat.id, booking);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, who) => client(who)));
  await killing;
  return told;
}

/** Books a seat, and pays for it: the booking, or nothing where somebody else has the seat. */
async function orderSeat(house: House, keys: Keys, passenger: string, seat: Seat, order: number): Promise<string | undefined> {
  const body = { trip: seat.trip, travellers: [{ seat: seat.id, name: `Traveller ${order}` }] };
  const booked = await house.ask(passenger, 'POST', '/bookings', body, `book-${order}`);
  if (booked.status === 409 && booked.text.includes('"seat_taken"')) return undefined;
  const { id } = rowOf(booked, 201);
  const payment = rowOf(await house.ask(passenger, 'POST', `/bookings/${id}/payments`, {}, `pay-${order}`), 201);
  const bank = keys.bank[order % keys.bank.length]!;
  const paid = rowOf(await house.ask(bank, 'POST', `/payments/${payment.id}/succeed`, undefined, `bank-${order}`), 200);
  assert.equal(paid.status, 'succeeded');
  return id;
}

/** Every booking that was told to be paid is there, with the one ticket for its seat, and there is no other. */
async function lookAtAll(
  house: House,
  { operator }: Keys,
  seats: readonly Seat[],
  paid: ReadonlyMap<string, string>,
): Promise<void> {
  const bookings = new Map((await listOf(house, operator, '/bookings')).map((row) => [row.id, row.status]));
  for (const booking of paid.values()) assert.equal(bookings.get(booking), 'confirmed', `booking ${booking} was acknowledged`);
  assert.equal(bookings.size, paid.size, 'there is no booking that nobody was told of');
  let turn = 0;
  for (const [seat, booking] of paid) {
    const key = operator[turn++ % operator.length]!;
    const { data } = rowOf(await house.ask(key, 'GET', `/bookings/${booking}/tickets`), 200) as unknown as { data: Row[] };
    assert.deepEqual(
      data.map((ticket) => [ticket.seat, ticket.status]),
      [[seat, 'valid']],
    );
  }
  for (const trip of new Set(seats.map((seat) => seat.trip))) {
    for (const { id, status } of await listOf(house, operator, `/trips/${trip}/seats`))
      assert.equal(status, paid.has(id) ? 'sold' : 'free');
  }
}
