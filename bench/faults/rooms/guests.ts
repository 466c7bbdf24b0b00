/** Guests: who comes to a booking, kept by the member whose it is. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { uuidv7 } from '../identifiers.ts';
import { jsonOrForm, patch } from './bodies.ts';
import { findBooking } from './bookings.ts';
import type { Row } from './database.ts';
import { type Caller, type House, nowText, Refused, type User } from './house.ts';
import { only, queryOf, within } from './pages.ts';
import { type ByBooking, type ById, locationOf, type Parts } from './parts.ts';
import { isSame, noQuery } from './rooms.ts';

const everybody: readonly User[] = ['member', 'host'];
const members: readonly User[] = ['member'];
const fields = ['booking', 'name', 'email', 'vip'];

export function guestRoutes(app: FastifyInstance, { house, schemas }: Parts): void {
  const { db, faults } = house;

  app.post<ByBooking>(
    '/bookings/:booking/guests',
    { config: { operation: 'create guest', users: members, takes: jsonOrForm } },
    async (request, reply) => {
      noQuery(request);
      const booking = findBooking(house, request.params.booking, request.caller);
      const sent = schemas.whole('guest', request.version, request.body);
      if (sent.booking !== undefined && sent.booking !== booking.id)
        throw new Refused('INVALID', [{ path: '/booking', expected: 'that of the path' }]);
      const row = db.insert('guest', { ...sent, id: uuidv7(), booking: booking.id, added_at: nowText(house) });
      const kind = faults.has('guest-added-under-old-name') ? 'guest.created' : 'guest.added';
      house.emit({ kind, resource: 'guest', row, member: String(booking.member) });
      reply.code(faults.has('guest-added-200') ? 200 : 201).header('Location', locationOf(house, request, `/guests/${row.id}`));
      return row;
    },
  );

  app.get<ByBooking>(
    '/bookings/:booking/guests',
    { config: { operation: 'list guest', users: everybody } },
    async (request, reply) => {
      const query = queryOf(request.originalUrl);
      only(query, ['offset', 'limit']);
      const limit = within(query, 'limit', 5, 1, 10, !faults.has('large-limit-refused'));
      const offset = within(query, 'offset', 0, 0, Number.MAX_SAFE_INTEGER);
      const { id } = findBooking(house, request.params.booking, request.caller);
      const rows = db.all('guest', 'booking = ?', [String(id), limit + 1, offset], 'ORDER BY seq LIMIT ? OFFSET ?');
      const link = links(request, { offset, limit, count: rows.length }, house);
      if (link !== '') reply.header('Link', link);
      return rows.slice(0, limit);
    },
  );

  app.get<ById>('/guests/:id', { config: { operation: 'read guest', users: everybody } }, async (request) => {
    noQuery(request);
    return find(house, request.params.id, request.caller, faults.has('foreign-guest-read'));
  });

  app.patch<ById>('/guests/:id', { config: { operation: 'update guest', users: members, takes: patch } }, async (request) => {
    noQuery(request);
    const old = find(house, request.params.id, request.caller, faults.has('foreign-guest-changed'));
    const next = patched(old, request, schemas);
    if (next.booking !== old.booking) throw new Refused('INVALID', [{ path: '/booking', expected: 'its value unchanged' }]);
    if (!isSame(next, old)) db.put('guest', faults.has('guest-change-not-stored') ? { ...next, name: old.name } : next);
    return next;
  });

  app.delete<ById>('/guests/:id', { config: { operation: 'delete guest', users: members } }, async (request, reply) => {
    noQuery(request);
    const { id } = find(house, request.params.id, request.caller);
    if (!faults.has('guest-only-hidden')) db.remove('guest', String(id));
    return reply.code(204).send();
  });
}

function patched(old: Row, { body, version }: FastifyRequest, schemas: Parts['schemas']): Row {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Refused('INVALID');
  const sent = Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'id' && name !== 'added_at'));
  const nulls = Object.entries(sent).filter(([name, value]) => value === null && name !== 'email');
  if (nulls.length > 0)
    throw new Refused(
      'INVALID',
      nulls.map(([name]) => ({ path: `/${name}`, expected: 'a value' })),
    );
  const merged = {
    ...Object.fromEntries(fields.flatMap((name) => (old[name] === undefined ? [] : [[name, old[name]]]))),
    ...sent,
  };
  const present = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
  return { id: old.id, ...schemas.whole('guest', version, present), added_at: old.added_at };
}

interface Shown {
  readonly offset: number;
  readonly limit: number;
  /** How many rows there are from here on, up to one more than the limit. */
  readonly count: number;
}

/** Where the pages beside this one are (RFC 8288). */
function links({ originalUrl }: FastifyRequest, { offset, limit, count }: Shown, { faults }: House): string {
  const [path = '', query = ''] = originalUrl.split('?');
  const to = (start: number): string => {
    const next = new URLSearchParams(query);
    next.set('offset', String(start));
    return `<${path}?${next}>`;
  };
  const step = faults.has('link-skips-one') ? limit + 1 : limit;
  return [
    ...(count > limit && !faults.has('no-next-link') ? [`${to(offset + step)}; rel="next"`] : []),
    ...(offset > 0 && count > 0 ? [`${to(Math.max(0, offset - limit))}; rel="prev"`] : []),
  ].join(', ');
}

function find({ db }: House, id: string, caller: Caller, isOpen = false): Row {
  const row = db.find('guest', id);
  const booking = row && db.find('booking', String(row.booking));
  if (row && (caller.user === 'host' || booking?.member === caller.id || isOpen)) return row;
  throw new Refused('NOT_FOUND');
}
