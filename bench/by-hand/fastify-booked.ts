/**
 * The service of `bench/booked.md` as a good engineer writes it by hand: an API key looked up by its hash and cached, and creates that take
 * their seats off a counter in the trip's row, only where there are as many, and store the booking, its ticket, its event and its idempotency key
 * in the same transaction.
 *
 * node bench/by-hand/fastify-booked.ts --port N --store FILE --key KEY --rows FILE
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { parseArgs } from 'node:util';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { newBooking, pageOfBookings, pageQuery, storedBooking } from './schemas.ts';
import { ulid } from './ulid.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '3000' },
    store: { type: 'string', default: ':memory:' },
    key: { type: 'string', default: 'pk_bench' },
    rows: { type: 'string', default: '' },
  },
});

const db = new DatabaseSync(values.store);
db.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS trip (id TEXT PRIMARY KEY, seats INTEGER NOT NULL, seats_left INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS booking (
    id TEXT PRIMARY KEY,
    trip TEXT NOT NULL REFERENCES trip,
    seller TEXT NOT NULL,
    passenger TEXT NOT NULL,
    seats INTEGER NOT NULL,
    created_at TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS booking_seller ON booking (seller, id);
  CREATE INDEX IF NOT EXISTS booking_trip ON booking (trip);
  CREATE TABLE IF NOT EXISTS ticket (
    id TEXT PRIMARY KEY, booking TEXT NOT NULL REFERENCES booking, passenger TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS ticket_booking ON ticket (booking);
  CREATE TABLE IF NOT EXISTS outbox (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL, payload TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS replay (
    caller TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL, location TEXT NOT NULL,
    body TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (caller, key)
  ) WITHOUT ROWID, STRICT;
`);
const columns = 'id, trip, seller, passenger, seats, created_at';
const one = db.prepare(`SELECT ${columns} FROM booking WHERE id = ?`);
// Identifiers are ULIDs, so their order is the order of creation.
const page = db.prepare(`SELECT ${columns} FROM booking WHERE seller = ? AND id < ? ORDER BY id DESC LIMIT ?`);
const trip = db.prepare('SELECT id FROM trip WHERE id = ?');
const take = db.prepare('UPDATE trip SET seats_left = seats_left - ? WHERE id = ? AND seats_left >= ?');
const book = db.prepare(`INSERT INTO booking (${columns}) VALUES (?, ?, ?, ?, ?, ?)`);
const issue = db.prepare('INSERT INTO ticket (id, booking, passenger) VALUES (?, ?, ?)');
const emit = db.prepare('INSERT INTO outbox (id, kind, at, payload) VALUES (?, ?, ?, ?)');
const replayed = db.prepare('SELECT fingerprint, status, location, body FROM replay WHERE caller = ? AND key = ?');
const keep = db.prepare('INSERT INTO replay VALUES (?, ?, ?, ?, ?, ?, ?)');
if (values.rows !== '') {
  const { trip: trips }: { trip: readonly { id: string; seats: number }[] } = JSON.parse(readFileSync(values.rows, 'utf8'));
  const add = db.prepare('INSERT OR IGNORE INTO trip (id, seats, seats_left) VALUES (?, ?, ?)');
  for (const { id, seats } of trips) add.run(id, seats, seats);
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64');
const keys = new Map([[hash(values.key), 's1']]);

declare module 'fastify' {
  interface FastifyRequest {
    buyer: string;
  }
}

interface NewBooking {
  readonly trip: string;
  readonly passenger: string;
  readonly seats: number;
}

const app = Fastify<Server>();
app.decorateRequest('buyer', '');
app.addHook('onRequest', async (request, reply) => {
  const key = request.headers['x-api-key'];
  const caller = typeof key === 'string' ? keys.get(hash(key)) : undefined;
  if (caller === undefined) return problem(reply.header('www-authenticate', 'ApiKey'), 401, 'unknown_caller');
  request.buyer = caller;
  reply.header('vary', 'X-API-Key');
});
app.setNotFoundHandler((_request, reply) => problem(reply, 404, 'not_found'));

app.get<{ Params: { id: string } }>('/bookings/:id', { schema: { response: { 200: storedBooking } } }, (request, reply) => {
  const row = one.get(request.params.id);
  return row === undefined || row.seller !== request.buyer ? problem(reply, 404, 'not_found') : reply.send(row);
});

app.get<{ Querystring: { limit: number; cursor?: string } }>(
  '/bookings',
  { schema: { querystring: pageQuery, response: { 200: pageOfBookings } } },
  ({ query, buyer }, reply) => {
    const before = query.cursor === undefined ? '~' : Buffer.from(query.cursor, 'base64url').toString();
    const rows = page.all(buyer, before, query.limit + 1);
    const data = rows.slice(0, query.limit);
    const last = rows.length > data.length ? data.at(-1) : undefined;
    return reply.send({ data, next_cursor: last === undefined ? null : Buffer.from(String(last.id)).toString('base64url') });
  },
);

app.post<{ Body: NewBooking }>(
  '/bookings',
  { schema: { body: newBooking, response: { 201: storedBooking } } },
  (request, reply) => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const answer = create(request, reply);
      db.exec(reply.statusCode < 300 ? 'COMMIT' : 'ROLLBACK');
      return answer();
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  },
);

/** What is stored of a booking, in the transaction that is open; the answer is sent once it is committed. */
function create(
  { buyer, headers, body }: Pick<FastifyRequest<{ Body: NewBooking }>, 'buyer' | 'headers' | 'body'>,
  reply: FastifyReply,
) {
  const key = headers['idempotency-key'];
  const fingerprint = typeof key === 'string' ? hash(JSON.stringify(body)) : '';
  const before: Record<string, SQLOutputValue> | undefined = typeof key === 'string' ? replayed.get(buyer, key) : undefined;
  if (before !== undefined) {
    if (before.fingerprint !== fingerprint) return refused(reply, 422, 'invalid');
    reply.code(Number(before.status)).header('location', before.location);
    return () => reply.send(JSON.parse(String(before.body)));
  }
  if (trip.get(body.trip) === undefined) return refused(reply, 422, 'invalid');
  if (take.run(body.seats, body.trip, body.seats).changes === 0) return refused(reply, 409, 'sold_out');
  const nowMs = Date.now();
  const at = new Date(nowMs).toISOString();
  const row = { id: ulid(nowMs), trip: body.trip, seller: buyer, passenger: body.passenger, seats: body.seats, created_at: at };
  book.run(row.id, row.trip, row.seller, row.passenger, row.seats, at);
  issue.run(ulid(nowMs), row.id, row.passenger);
  emit.run(ulid(nowMs), 'booking.created', at, JSON.stringify(row));
  const location = `/bookings/${row.id}`;
  if (typeof key === 'string') keep.run(buyer, key, fingerprint, 201, location, JSON.stringify(row), at);
  reply.code(201).header('location', location);
  return () => reply.send(row);
}

function refused(reply: FastifyReply, status: number, code: string) {
  reply.code(status);
  return () => problem(reply, status, code);
}

function problem(reply: FastifyReply, status: number, code: string): FastifyReply {
  return reply.code(status).type('application/problem+json').send({ type: 'about:blank', status, code });
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
await app.listen({ host: '127.0.0.1', port: Number(values.port) });
