/** Bookings: who has which room, and when. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { json, patch } from './bodies.ts';
import type { Row } from './database.ts';
import { holdToTag, tagged } from './etags.ts';
import { type Caller, type House, nowText, Refused, type User, type Version } from './house.ts';
import { startIdempotency } from './idempotency.ts';
import { lapseLater } from './lapses.ts';
import { date, integer, one, only, queryOf, text, word } from './pages.ts';
import { type ById, locationOf, type Parts } from './parts.ts';
import { isSame, noQuery, pageOf } from './rooms.ts';
import { raised, tellBooking } from './told.ts';

const everybody: readonly User[] = ['member', 'host'];
const members: readonly User[] = ['member'];
const readOnly = ['id', 'member', 'status', 'price', 'reason', 'confirmed_at', 'created_at', 'changed_at'];
const over = ['finished', 'declined', 'cancelled', 'lapsed'];
const holding = "status IN ('requested', 'confirmed', 'checked_in')";

export function bookingRoutes(app: FastifyInstance, { house, schemas }: Parts): void {
  const { db, faults } = house;
  const idempotency = startIdempotency(house);

  app.post('/bookings', { config: { operation: 'create booking', users: members, takes: json } }, async (request, reply) => {
    noQuery(request);
    return idempotency.once(request, reply, () => {
      const sent = raised(schemas.whole('booking', request.version, request.body), request.version, house);
      const room = db.find('room', Number(sent.room));
      if (!room) throw new Refused('NO_SUCH_REFERENCE', [{ path: '/room', expected: 'the identifier of a room' }]);
      if (Number(sent.people) > Number(room.seats) && !faults.has('room-too-small')) throw new Refused('too_small');
      const at = nowText(house);
      const row: Row = {
        id: faults.has('uuid-without-hyphens') ? randomUUID().replaceAll('-', '') : randomUUID(),
        ...sent,
        colour: sent.colour ?? 'green',
        member: request.caller.id,
        status: 'requested',
        created_at: at,
        changed_at: at,
      };
      if (!faults.has('room-booked-twice')) refuseTaken(house, row);
      db.insert('booking', row);
      lapseLater(house, row);
      house.emit({ kind: 'booking.requested', resource: 'booking', row, member: request.caller.id });
      return { location: locationOf(house, request, `/bookings/${row.id}`), body: tellBooking(row, request.version, house) };
    });
  });

  app.get('/bookings', { config: { operation: 'list booking', users: everybody } }, async (request) =>
    listBookings(house, request),
  );

  app.get<ById>('/bookings/:id', { config: { operation: 'read booking', users: everybody } }, async (request, reply) => {
    noQuery(request);
    const row = findBooking(house, request.params.id, request.caller, faults.has('foreign-booking-read'));
    return tagged(house, request, reply, tellBooking(row, request.version, house));
  });

  app.patch<ById>(
    '/bookings/:id',
    { config: { operation: 'update booking', users: members, takes: patch } },
    async (request, reply) => {
      noQuery(request);
      const old = findBooking(house, request.params.id, request.caller);
      holdToTag(house, request, tellBooking(old, request.version, house), false);
      const next = patched(old, request, { house, schemas });
      if (old.status !== 'requested' && !(old.status === 'confirmed' && faults.has('confirmed-booking-changed')))
        throw new Refused('WRONG_STATE');
      if (isSame(next, old)) return tagged(house, request, reply, tellBooking(old, request.version, house));
      refuseTaken(house, next);
      const row: Row = { ...next, ...(!faults.has('changed-at-forgotten') && { changed_at: nowText(house) }) };
      db.put('booking', row);
      if (row.day !== old.day || row.hour !== old.hour || faults.has('moved-at-every-change')) {
        house.emit({ kind: 'booking.moved', resource: 'booking', row, member: String(row.member) });
      }
      return tagged(house, request, reply, tellBooking(row, request.version, house));
    },
  );

  app.delete<ById>('/bookings/:id', { config: { operation: 'delete booking', users: members } }, async (request, reply) => {
    noQuery(request);
    const { id, status, member } = findBooking(house, request.params.id, request.caller);
    if (!over.includes(String(status)) && !faults.has('running-booking-deleted')) throw new Refused('WRONG_STATE');
    db.transaction(() => {
      if (!faults.has('guests-stay-behind'))
        for (const guest of db.all('guest', 'booking = ?', [String(id)])) db.remove('guest', String(guest.id));
      for (const key of db.all('key', 'booking = ?', [String(id)])) {
        const { booking: _booking, ...rest } = key;
        if (!faults.has('key-keeps-booking')) db.put('key', rest);
      }
      db.remove('booking', String(id));
    });
    const own = { booking: id, ...(!faults.has('deleted-without-status') && { status }) };
    house.emit({ kind: 'booking.deleted', resource: 'booking', row: { id, member }, member: String(member), own });
    return reply.code(204).send();
  });
}

/** What a merge patch makes of a row (RFC 7396), held to the shape of a whole one. */
function patched(old: Row, request: FastifyRequest, { house, schemas }: Pick<Parts, 'house' | 'schemas'>): Row {
  const { version, body } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Refused('INVALID');
  const { room, title, day, hour, hours, people, contact, colour, pin } = old;
  const before: Row = { room, title, day, hour, hours, people, contact, pin, ...(version === 'v3' && { colour }) };
  const present = Object.fromEntries(Object.entries(before).filter(([, value]) => value !== undefined));
  const removable = [...Object.keys(before).filter((name) => name !== 'hours' && name !== 'colour'), ...readOnly];
  const nulls = Object.entries(body).filter(([name, value]) => value === null && !removable.includes(name));
  if (nulls.length > 0)
    throw new Refused(
      'INVALID',
      nulls.map(([name]) => ({ path: `/${name}`, expected: 'a value' })),
    );
  const merged = merge(house.faults.has('patch-replaces-contact') ? { ...present, contact: undefined } : present, body);
  const sent = raised(schemas.whole('booking', version, merged), version, house);
  if (sent.room !== room && !house.faults.has('room-exchanged'))
    throw new Refused('INVALID', [{ path: '/room', expected: 'its value unchanged' }]);
  const { member, status, id, price, reason, confirmed_at, created_at, changed_at } = old;
  const kept: Row = { id, member, status, price, reason, confirmed_at, created_at, changed_at, colour };
  const next = { ...kept, ...sent, ...(house.faults.has('member-from-body') && 'member' in body && { member: body.member }) };
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
}

function merge(target: Row, patch: object): Row {
  const out: Row = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    const old = out[name];
    if (value === null) delete out[name];
    else if (typeof value === 'object' && !Array.isArray(value)) out[name] = merge(isRow(old) ? old : {}, value);
    else out[name] = value;
  }
  return out;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listBookings(house: House, { originalUrl, caller, version }: FastifyRequest): object {
  const { db, faults } = house;
  const query = queryOf(originalUrl);
  only(query, ['status', 'room', 'from', 'sort', 'page', 'per_page']);
  const states = one(query, 'status', text)
    ?.split(',')
    .map((state) => newerState(state, version));
  const [room, from] = [one(query, 'room', integer), one(query, 'from', date)];
  const sort = one(query, 'sort', word('people', '-people', 'created_at', '-created_at')) ?? '-created_at';
  const { page, size } = pageOf(house, query);
  const tests = [
    ...(caller.user === 'host' || faults.has('all-bookings-listed') ? [] : [['member = ?', caller.id] as const]),
    ...(room === undefined ? [] : [['room = ?', room] as const]),
    ...(from === undefined ? [] : [[faults.has('from-excluded') ? 'day > ?' : 'day >= ?', from] as const]),
    ...(states === undefined
      ? []
      : [
          [
            `status IN (SELECT value FROM json_each(?))`,
            JSON.stringify(faults.has('first-status-alone') ? states.slice(0, 1) : states),
          ] as const,
        ]),
  ];
  const where = ['1', ...tests.map(([test]) => test)].join(' AND ');
  const values = tests.map(([, value]) => value);
  const total = db.count(
    'booking',
    faults.has('total-of-everything') ? '1' : where,
    faults.has('total-of-everything') ? [] : values,
  );
  const by = `${sort.replace('-', '')} ${sort.startsWith('-') ? 'DESC' : 'ASC'}, seq`;
  const rows = db.all('booking', where, [...values, size, (page - 1) * size], `ORDER BY ${by} LIMIT ? OFFSET ?`);
  return { items: rows.map((row) => tellBooking(row, version, house)), more: page * size < total, total };
}

/** A state as the newest version calls it; one that the older version does not know is none. */
function newerState(state: string, version: Version): string {
  if (version === 'v3') return state;
  return state === 'requested' ? '' : state === 'pending' ? 'requested' : state;
}

/** The booking that a path names, if this caller may know of it. */
export function findBooking({ db, faults }: House, id: string, caller: Caller, isOpen = false): Row {
  const row = db.find('booking', id);
  if (row && (caller.user === 'host' || row.member === caller.id || isOpen)) return row;
  throw new Refused(row && faults.has('foreign-booking-is-forbidden') ? 'FORBIDDEN' : 'NOT_FOUND');
}

/** A room is booked once at a time, by whoever may still come. */
export function refuseTaken({ db }: House, { id, room, day, hour }: Row): void {
  const values = [Number(room), String(day), Number(hour), String(id)];
  if (db.count('booking', `room = ? AND day = ? AND hour = ? AND id <> ? AND ${holding}`, values) > 0) {
    throw new Refused(
      'ROOM_TAKEN',
      ['/room', '/day', '/hour'].map((path) => ({ path, expected: 'another room or time' })),
    );
  }
}
