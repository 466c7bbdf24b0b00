/** What becomes of a booking: decided, begun, over. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { json, jsonOrForm } from './bodies.ts';
import { findBooking, refuseTaken } from './bookings.ts';
import type { Row } from './database.ts';
import { type House, type HouseEvent, nowText, Refused, type User } from './house.ts';
import { lapseLater, stopLapse } from './lapses.ts';
import type { ById, Parts } from './parts.ts';
import { noQuery } from './rooms.ts';
import type { SchemaName } from './schemas.ts';
import { tellBooking } from './told.ts';

interface Move {
  readonly name: string;
  readonly path: string;
  readonly users: readonly User[];
  readonly from: readonly string[];
  /** The code of a booking that is in another state. */
  readonly otherwise: string;
  readonly form?: SchemaName;
  readonly takes?: readonly string[];
  /** What the booking becomes; refuses where a condition does not hold. */
  readonly to: (row: Row, sent: Row, house: House) => Row;
  readonly event?: string;
  readonly own?: (row: Row, sent: Row, house: House) => Row;
}

const moves: readonly Move[] = [
  {
    name: 'confirm',
    path: 'confirm',
    users: ['host'],
    from: ['requested'],
    otherwise: 'WRONG_STATE',
    event: 'booking.decided',
    to: (row, _sent, house) => ({ status: 'confirmed', price: priceOf(row, house), confirmed_at: nowText(house) }),
  },
  {
    name: 'decline',
    path: 'decline',
    users: ['host'],
    from: ['requested'],
    otherwise: 'already_decided',
    form: 'decline',
    takes: jsonOrForm,
    event: 'booking.decided',
    to: (_row, sent, { faults }) => ({ status: 'declined', ...(!faults.has('reason-lost') && { reason: sent.reason }) }),
  },
  {
    name: 'check_in',
    path: 'check-in',
    users: ['member', 'host'],
    from: ['confirmed'],
    otherwise: 'WRONG_STATE',
    form: 'check_in',
    takes: json,
    event: 'booking.checked_in',
    to: (row, sent, { faults }) => {
      const isMore = faults.has('full-house-refused')
        ? Number(sent.people) >= Number(row.people)
        : Number(sent.people) > Number(row.people);
      if (isMore && !faults.has('more-people-let-in')) throw new Refused('too_many_people');
      return { status: 'checked_in' };
    },
    own: (row, sent, house) => ({
      booking: row.id,
      people: house.faults.has('people-booked-not-come') ? row.people : sent.people,
      ...(!house.faults.has('checked-in-without-time') && { at: nowText(house) }),
    }),
  },
  {
    name: 'finish',
    path: 'finish',
    users: ['host'],
    from: ['checked_in'],
    otherwise: 'WRONG_STATE',
    form: 'finish',
    takes: json,
    to: (_row, sent, { faults }) => ({
      status: sent.damaged === true && !faults.has('damage-not-inspected') ? 'inspection' : 'finished',
    }),
  },
  {
    name: 'clear',
    path: 'clear',
    users: ['host'],
    from: ['inspection'],
    otherwise: 'WRONG_STATE',
    to: () => ({ status: 'finished' }),
  },
  {
    name: 'cancel',
    path: 'cancel',
    users: ['member', 'host'],
    from: ['requested', 'confirmed'],
    otherwise: 'too_late',
    event: 'booking.decided',
    to: (_row, _sent, { faults }) => ({ status: faults.has('cancelled-spelt-otherwise') ? 'canceled' : 'cancelled' }),
  },
  {
    name: 'reopen',
    path: 'reopen',
    users: ['member'],
    from: ['declined', 'lapsed'],
    otherwise: 'WRONG_STATE',
    to: () => ({ status: 'requested' }),
  },
];

export function transitionRoutes(app: FastifyInstance, { house, schemas }: Parts): void {
  for (const move of moves) {
    const { name, path, users, form, takes } = move;
    const config = { operation: `${name} booking`, users, ...(takes && { takes }) };
    app.post<ById>(`/bookings/:id/${path}`, { config }, async (request) => {
      noQuery(request);
      const before = findBooking(house, request.params.id, request.caller, isForeign(house, name));
      const sent = form ? schemas.whole(form, request.version, request.body) : {};
      if (!statesBefore(move, house).includes(String(before.status))) throw new Refused(codeOf(move, house));
      if (name === 'confirm' && house.faults.has('confirmations-race')) await delay(25);
      return moved(house, move, before, sent, request);
    });
  }
}

function moved(house: House, { name, to, event, own }: Move, before: Row, sent: Row, { version }: FastifyRequest): Row {
  const { db, faults } = house;
  if (name === 'finish' && faults.has('finishing-switched-off')) throw new Refused('UNAVAILABLE');
  const next: Row = { ...before, ...to(before, sent, house), changed_at: nowText(house) };
  if (name === 'reopen' && !faults.has('reopened-into-taken')) refuseTaken(house, next);
  stopLapse(house, next.id);
  if (!(name === 'clear' && faults.has('clearing-not-stored'))) db.put('booking', next);
  if (name === 'reopen' && !faults.has('reopened-never-lapses')) lapseLater(house, next);
  if (event !== undefined && !(name === 'decline' && faults.has('decline-told-to-nobody'))) {
    emit(house, {
      kind: event,
      resource: 'booking',
      row: next,
      member: String(next.member),
      ...(own && { own: own(next, sent, house) }),
    });
  }
  return tellBooking(next, version, house);
}

function emit(house: House, event: HouseEvent): void {
  house.emit(event);
  if (event.kind === 'booking.decided' && house.faults.has('decided-told-twice')) house.emit(event);
}

function isForeign({ faults }: House, name: string): boolean {
  return name === 'cancel' && faults.has('foreign-booking-cancelled');
}

function statesBefore({ name, from }: Move, { faults }: House): readonly string[] {
  if (name === 'cancel' && faults.has('cancelled-after-check-in')) return [...from, 'checked_in'];
  if (name === 'reopen' && faults.has('cancelled-is-reopened')) return [...from, 'cancelled'];
  if (name === 'check_in' && faults.has('checked-in-unconfirmed')) return [...from, 'requested'];
  return from;
}

function codeOf({ name, otherwise }: Move, { faults }: House): string {
  if (name === 'cancel' && faults.has('too-late-is-wrong-state')) return 'WRONG_STATE';
  return otherwise;
}

function priceOf({ room, hours }: Row, { db, faults }: House): number {
  const rate = Number(db.find('room', Number(room))?.rate ?? 0);
  return faults.has('price-of-one-hour') ? rate : rate * Number(hours);
}
