/** Keys of doors: handed out by hosts, shown once; and the plans of the floors. */
import type { FastifyInstance } from 'fastify';
import { randomText } from '../identifiers.ts';
import { json } from './bodies.ts';
import type { Row } from './database.ts';
import { type House, Refused, type User } from './house.ts';
import { integer, one, only, queryOf, word, wrong } from './pages.ts';
import { locationOf, type Parts } from './parts.ts';
import { noQuery } from './rooms.ts';
import { tellKey } from './told.ts';

const hosts: readonly User[] = ['host'];

interface ByNumber {
  readonly Params: { readonly number: string };
}

export function keyRoutes(app: FastifyInstance, { house, schemas, quota }: Parts): void {
  const { db, faults } = house;

  app.post('/keys', { config: { operation: 'create key', users: hosts, takes: json } }, async (request, reply) => {
    noQuery(request);
    const sent = schemas.whole('key', request.version, request.body);
    if (sent.booking !== undefined && !db.find('booking', String(sent.booking)) && !faults.has('any-booking-passes')) {
      throw new Refused('NO_SUCH_REFERENCE', [{ path: '/booking', expected: 'the identifier of a booking' }]);
    }
    if (faults.has('key-machine-not-connected')) throw new Refused('UNAVAILABLE');
    quota(request.caller);
    const row = db.insert('key', {
      ...sent,
      code: faults.has('short-key-codes') ? `rk_${randomText(8)}` : `rk_${randomText(24)}`,
    });
    reply.code(201).header('Location', locationOf(house, request, `/keys/${row.number}`));
    return tellKey(row, true, house);
  });

  app.get('/keys', { config: { operation: 'list key', users: hosts } }, async (request) => {
    noQuery(request);
    const rows = db.all('key', '1', [], faults.has('first-keys-alone') ? 'ORDER BY number LIMIT 3' : 'ORDER BY number');
    return { keys: rows.map((row) => tellKey(row, false, house)) };
  });

  app.get<ByNumber>('/keys/:number', { config: { operation: 'read key', users: hosts } }, async (request) => {
    noQuery(request);
    return tellKey(find(house, request.params.number), false, house);
  });

  app.delete<ByNumber>('/keys/:number', { config: { operation: 'delete key', users: hosts } }, async (request, reply) => {
    noQuery(request);
    db.remove('key', Number(find(house, request.params.number).number));
    return reply.code(204).send();
  });

  const plan = { operation: 'handler floor plan', users: ['member', 'host'] as const, isNew: true };
  app.get<{ Params: { floor: string } }>('/floors/:floor', { config: plan }, async (request) => {
    const query = queryOf(request.originalUrl);
    only(query, ['scale']);
    const floor = integer(request.params.floor);
    const lowest = faults.has('floor-below-the-house') ? -9 : -2;
    if (floor === undefined || floor < lowest || floor > 30) throw wrong('floor');
    const scale = one(query, 'scale', word('small', 'large')) ?? (faults.has('large-plan-by-default') ? 'large' : 'small');
    if (faults.has('plans-not-drawn')) throw new Refused('UNAVAILABLE');
    const rooms = db.count('room', 'floor = ?', [floor]);
    return { floor, scale, ...(!faults.has('plan-without-rooms') && { rooms }) };
  });
}

function find({ db }: House, number: string): Row {
  const row = /^\d{1,15}$/.test(number) ? db.find('key', Number(number)) : undefined;
  if (!row) throw new Refused('NOT_FOUND');
  return row;
}
