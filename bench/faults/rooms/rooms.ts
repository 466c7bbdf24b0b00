/** Rooms: what hosts keep and everybody may book. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { json } from './bodies.ts';
import type { Row } from './database.ts';
import { holdToTag, tagged } from './etags.ts';
import { type House, nowText, Refused, type RouteConfig, type User } from './house.ts';
import { integer, integerIn, one, only, queryOf, text, within, word } from './pages.ts';
import { type ById, locationOf, type Parts } from './parts.ts';
import { raised, tellRoom } from './told.ts';

const everybody: readonly User[] = ['member', 'host'];
const rule = (operation: string, more: Partial<RouteConfig> = {}): { config: RouteConfig } => ({
  config: { operation, users: everybody, ...more },
});
const byHosts: Partial<RouteConfig> = { users: ['host'], scopes: { host: 'rooms' } };

export function roomRoutes(app: FastifyInstance, { house, schemas }: Parts): void {
  const { db, faults } = house;
  const tell = (row: Row, { caller, version }: FastifyRequest): Row => tellRoom(row, caller.user, version, house);

  app.post('/rooms', rule('create room', { ...byHosts, takes: json }), (request, reply) => {
    noQuery(request);
    const sent = raised(schemas.whole('room', request.version, request.body), request.version, house);
    refuseTaken(house, sent.name, 0);
    const row = db.insert('room', { ...sent, added_by: request.caller.id, changed_at: nowText(house) });
    house.emit({ kind: 'room.changed', resource: 'room', row });
    reply.code(201).header('Location', locationOf(house, request, `/rooms/${row.id}`));
    return reply.send(tell(row, request));
  });

  app.get('/rooms', rule('list room'), async (request) => {
    const query = queryOf(request.originalUrl);
    const isOlder = request.version === 'v2';
    const seats = isOlder ? 'places' : 'seats';
    only(query, ['kind', 'floor', 'min_seats', 'name', 'sort', 'page', 'per_page']);
    const kind = one(query, 'kind', word('meeting', isOlder ? 'theatre' : 'lecture', 'lounge'));
    const [floor, least, name] = [
      one(query, 'floor', integerIn(-2, 30)),
      one(query, 'min_seats', integer),
      one(query, 'name', text),
    ];
    const sort = one(query, 'sort', word(seats, `-${seats}`, 'name', '-name'));
    const page = pageOf(house, query);
    const tests = [
      ...(kind === undefined ? [] : [['kind = ?', kind === 'theatre' ? 'lecture' : kind] as const]),
      ...(floor === undefined || faults.has('floor-filter-ignored') ? [] : [['floor = ?', floor] as const]),
      ...(least === undefined ? [] : [[faults.has('min-seats-excluded') ? 'seats > ?' : 'seats >= ?', least] as const]),
      ...(name === undefined ? [] : [[nameTest(house), name] as const]),
    ];
    const where = ['1', ...tests.map(([test]) => test)].join(' AND ');
    const values = tests.map(([, value]) => value);
    return pageIn(house, where, values, order(house, sort), page, request);
  });

  app.get<ById>('/rooms/:id', rule('read room'), async (request, reply) => {
    noQuery(request);
    const row = find(house, request.params.id);
    return tagged(house, request, reply, tell(row, request));
  });

  app.put<ById>('/rooms/:id', rule('replace room', { ...byHosts, takes: json }), async (request, reply) => {
    noQuery(request);
    const old = find(house, request.params.id);
    holdToTag(house, request, tell(old, request), true);
    const sent = raised(schemas.whole('room', request.version, request.body), request.version, house);
    refuseTaken(house, sent.name, Number(old.id));
    const kept = faults.has('replace-keeps-the-rest') ? old : {};
    const next: Row = { ...kept, ...sent, id: old.id, added_by: old.added_by, changed_at: old.changed_at };
    if (isSame(next, old) && !faults.has('room-told-unchanged')) return tagged(house, request, reply, tell(old, request));
    const row = { ...next, changed_at: nowText(house) };
    db.put('room', row);
    house.emit({ kind: 'room.changed', resource: 'room', row });
    return tagged(house, request, reply, tell(row, request));
  });

  app.delete<ById>('/rooms/:id', rule('delete room', byHosts), async (request, reply) => {
    noQuery(request);
    const { id } = find(house, request.params.id);
    if (db.count('booking', 'room = ?', [Number(id)]) > 0 && !faults.has('booked-room-deleted'))
      throw new Refused('STILL_BOOKED');
    db.remove('room', Number(id));
    return reply.code(204).send();
  });
}

interface Page {
  readonly page: number;
  readonly size: number;
}

/** Pages of the list: how many, and which. */
export function pageOf({ faults }: House, query: URLSearchParams): Page {
  const max = faults.has('page-of-any-size') ? 1000 : 25;
  const size = within(query, 'per_page', faults.has('page-of-four') ? 4 : 5, faults.has('page-of-none') ? 0 : 1, max);
  return { page: within(query, 'page', 1, 1, Number.MAX_SAFE_INTEGER), size };
}

function pageIn(
  house: House,
  where: string,
  values: readonly (string | number)[],
  by: string,
  { page, size }: Page,
  request: FastifyRequest,
): object {
  const { db, faults } = house;
  const total = db.count('room', where, values);
  const from = faults.has('pages-from-nought') ? page * size : (page - 1) * size;
  const rows = db.all('room', where, [...values, size, from], `ORDER BY ${by} LIMIT ? OFFSET ?`);
  const items = rows.map((row) => tellRoom(row, request.caller.user, request.version, house));
  return { items, more: faults.has('more-always-false') ? false : from + size < total, total };
}

function nameTest({ faults }: House): string {
  return faults.has('name-found-anywhere') ? 'instr(fold(name), fold(?)) > 0' : 'instr(fold(name), fold(?)) = 1';
}

function order({ faults }: House, sort: string | undefined): string {
  if (sort === undefined) return 'id';
  const field = sort.endsWith('name') ? 'fold(name)' : 'seats';
  const down = sort.startsWith('-') !== faults.has('sort-other-way-round') ? 'DESC' : 'ASC';
  return `${field} ${down}, id`;
}

export function noQuery({ originalUrl }: FastifyRequest): void {
  only(queryOf(originalUrl), []);
}

function find({ db }: House, id: string): Row {
  // A number that is written otherwise (`007`) names nothing.
  const row = /^[1-9]\d{0,14}$/.test(id) ? db.find('room', Number(id)) : undefined;
  if (!row) throw new Refused('NOT_FOUND');
  return row;
}

function refuseTaken({ db, faults }: House, name: unknown, but: number): void {
  const test = faults.has('name-taken-in-capitals') ? 'name = ?' : 'fold(name) = fold(?)';
  if (db.count('room', `${test} AND id <> ?`, [String(name), but]) > 0) {
    throw new Refused('DUPLICATE', [{ path: '/name', expected: 'a name that no other room has' }]);
  }
}

/** Whether a change changes anything. */
export function isSame(next: Row, old: Row): boolean {
  const sorted = (row: Row): string => JSON.stringify(Object.entries(row).sort(([name], [other]) => (name < other ? -1 : 1)));
  return sorted(next) === sorted(old);
}
