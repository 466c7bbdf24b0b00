/** How each fault of the meeting rooms is seen in a few requests. */
import type { Act, Demonstration } from '../demonstration.ts';
import { carries, is, lacks, listing, lists, type Right, shows, tells, tellsOf } from '../seen.ts';
import type { RoomsFault } from './faults.ts';

interface More {
  readonly headers?: Record<string, string>;
  readonly keep?: string;
}

const hourMs = 3_600_000;
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** Hilda opens a room with four seats. */
function room(keep = 'r', more: object = {}, as = 'hilda'): Act {
  return {
    as,
    send: 'POST /api/rooms',
    body: { name: `Room ${keep}`, floor: 1, seats: 4, rate: 1000, kind: 'meeting', ...more },
    keep,
  };
}

/** Mia books it at nine. A value such as 1 is the room's number. */
function booking(keep = 'b', more: object = {}, as = 'mia', headers: Record<string, string> = {}): Act {
  return {
    as,
    send: 'POST /api/bookings',
    body: { room: 1, title: 'Talk', day: '2030-01-31', hour: 9, people: 3, ...more },
    keep,
    headers,
  };
}

const get = (path: string, as = 'mia', more: More = {}): Act => ({ as, send: `GET /api${path}`, ...more });
const post = (path: string, as = 'mia', body?: unknown, more: More = {}): Act => ({
  as,
  send: `POST /api${path}`,
  ...(body !== undefined && { body }),
  ...more,
});
const patch = (path: string, body: unknown, as = 'mia', more: More = {}): Act => ({
  as,
  send: `PATCH /api${path}`,
  body,
  ...more,
});
const put = (path: string, body: object, headers: Record<string, string> = { 'If-Match': '*' }): Act => ({
  as: 'hilda',
  send: `PUT /api${path}`,
  headers,
  body: { name: 'Room r', floor: 1, seats: 4, rate: 1000, kind: 'meeting', ...body },
});
const remove = (path: string, as = 'mia'): Act => ({ as, send: `DELETE /api${path}` });
const move = (name: string, as = 'hilda', body?: unknown): Act => post(`/bookings/$b/${name}`, as, body);
const guest = (keep = 'g', more: object = {}): Act => post('/bookings/$b/guests', 'mia', { name: 'Gina', ...more }, { keep });
const key = (keep = 'k', more: object = {}): Act => post('/keys', 'hilda', { label: 'Front', ...more }, { keep });
const times = (count: number, act: Act): Act[] => Array.from({ length: count }, () => act);
const listen = (as = 'mia', path = '/events'): Act => ({ stream: `/api${path}`, as, events: 0 });
const hear = (events: number): Act => ({ stream: '', as: '', events });

const booked = [room(), booking()];
const confirmed = [...booked, move('confirm')];
const checkedIn = [...confirmed, move('check-in', 'mia', { people: 3 })];
const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, at) => room(name, { seats: at + 1 }));
const jsonText = { 'Content-Type': 'application/json' };

function see(right: Right, ...acts: readonly Act[]): Demonstration {
  return { acts, right };
}

/** A token by its claims, under a key that nobody has. */
function forged(header: object, claims: object, signature = 'AAAA'): Record<string, string> {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return { Authorization: `Bearer ${part(header)}.${part(claims)}.${signature}` };
}

const claims = { sub: 'mia', role: 'member', iss: 'https://id.rooms.example', aud: 'rooms', exp: 4_000_000_000 };
const basic = (text: string): Record<string, string> => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const rooms = (headers: Record<string, string>): Act => ({ send: 'GET /api/rooms', headers });

export const roomsDemonstrations: Readonly<Record<RoomsFault, Demonstration>> = {
  'hosts-not-known': see(is(200), get('/rooms', 'hilda')),

  'members-suspended': see(is(200), get('/rooms')),
  'finishing-switched-off': see(is(200), ...checkedIn, move('finish', 'hilda', { damaged: false })),
  'key-machine-not-connected': see(is(201), key()),
  'plans-not-drawn': see(is(200), get('/floors/1')),
  'number-given-again': see(({ kept }) => kept.get('r') !== kept.get('s'), room('r'), remove('/rooms/$r', 'hilda'), room('s')),
  'uuid-without-hyphens': see(({ kept }) => /^[0-9a-f]{8}-/.test(kept.get('b') ?? ''), ...booked),
  'name-taken-in-capitals': see(is(409, 'DUPLICATE'), room('r', { name: 'Oak' }), room('s', { name: 'OAK' })),
  'no-cellar': see(is(201), room('r', { floor: -1 })),
  'room-of-any-kind': see(is(400), room('r', { kind: 'disco' })),
  'equipment-twice': see(is(400), room('r', { equipment: ['board', 'board'] })),
  'remark-shown-to-all': see(lacks('remark'), room('r', { remark: 'leaks' }), get('/rooms/$r')),
  'opened-on-any-text': see(is(400), room('r', { opened_on: 'long ago' })),
  'booked-room-deleted': see(is(423), ...booked, remove('/rooms/$r', 'hilda')),
  'title-one-longer': see(is(400), room(), booking('b', { title: 't'.repeat(81) })),
  'hour-24': see(is(400), room(), booking('b', { hour: 24 })),
  'another-colour': see(shows({ colour: 'green' }), ...booked),
  'pin-shown': see(lacks('pin'), room(), booking('b', { pin: '1234' })),
  'price-null-until-confirmed': see(lacks('price'), ...booked),
  'people-as-text': see(shows({ people: 3 }), ...booked),
  'price-of-one-hour': see(shows({ price: 2000 }), room(), booking('b', { hours: 2 }), move('confirm')),
  'reason-lost': see(shows({ reason: 'full' }), ...booked, move('decline', 'hilda', { reason: 'full' })),
  'changed-at-forgotten': see(
    ({ answers }) => Object(answers.at(-1)?.body).changed_at > Object(answers.at(-2)?.body).changed_at,
    ...[...booked, { wait: 1000 }, patch('/bookings/$b', { title: 'Tale' })],
  ),
  'room-exchanged': see(is(400), room('r'), room('s'), booking(), patch('/bookings/$b', { room: 2 })),
  'member-from-body': see(shows({ member: 'mia' }), ...booked, patch('/bookings/$b', { member: 'max', title: 'Tale' })),
  'room-booked-twice': see(is(409, 'ROOM_TAKEN'), ...booked, booking('c')),
  'guest-mail-unchecked': see(is(400), ...booked, guest('g', { email: 'nobody' })),
  'guests-stay-behind': see(
    is(404),
    ...booked,
    guest(),
    move('cancel', 'mia'),
    remove('/bookings/$b'),
    get('/guests/$g', 'hilda'),
  ),
  'guest-change-not-stored': see(
    shows({ name: 'Gus' }),
    ...booked,
    guest(),
    patch('/guests/$g', { name: 'Gus' }),
    get('/guests/$g'),
  ),
  'key-keeps-booking': see(
    lacks('booking'),
    ...booked,
    key('k', { booking: '$b' }),
    move('cancel', 'mia'),
    remove('/bookings/$b'),
    get('/keys/$k', 'hilda'),
  ),
  'short-key-codes': see(({ last }) => /^rk_[A-Za-z0-9]{24}$/.test(Object(last.body).code), key()),
  'code-told-again': see(lacks('code'), key(), get('/keys/$k', 'hilda')),

  'cancelled-after-check-in': see(is(409, 'too_late'), ...checkedIn, move('cancel')),
  'cancelled-is-reopened': see(is(409, 'WRONG_STATE'), ...booked, move('cancel', 'mia'), move('reopen', 'mia')),
  'checked-in-unconfirmed': see(is(409, 'WRONG_STATE'), ...booked, move('check-in', 'mia', { people: 3 })),
  'confirmations-race': see(
    ({ answers }) => answers.filter(({ status }) => status === 200).length === 1,
    ...[...booked, { together: [move('confirm'), move('confirm', 'hugo')] }],
  ),
  'more-people-let-in': see(is(422, 'too_many_people'), ...confirmed, move('check-in', 'mia', { people: 4 })),
  'full-house-refused': see(is(200), ...confirmed, move('check-in', 'mia', { people: 3 })),
  'damage-not-inspected': see(shows({ status: 'inspection' }), ...checkedIn, move('finish', 'hilda', { damaged: true })),
  'clearing-not-stored': see(
    shows({ status: 'finished' }),
    ...checkedIn,
    move('finish', 'hilda', { damaged: true }),
    move('clear'),
    get('/bookings/$b'),
  ),
  'requests-never-lapse': see(shows({ status: 'lapsed' }), ...booked, { wait: 2.1 * hourMs }, get('/bookings/$b')),
  'lapse-after-a-day': see(shows({ status: 'lapsed' }), ...booked, { wait: 2.1 * hourMs }, get('/bookings/$b')),
  'reopened-never-lapses': see(
    shows({ status: 'lapsed' }),
    ...[
      ...booked,
      move('decline', 'hilda', { reason: 'full' }),
      move('reopen', 'mia'),
      { wait: 2.1 * hourMs },
      get('/bookings/$b'),
    ],
  ),
  'confirmed-booking-changed': see(is(409, 'WRONG_STATE'), ...confirmed, patch('/bookings/$b', { people: 1 })),
  'running-booking-deleted': see(is(409, 'WRONG_STATE'), ...booked, remove('/bookings/$b')),
  'cancelled-spelt-otherwise': see(shows({ status: 'cancelled' }), ...booked, move('cancel', 'mia')),

  'metrics-left-open': see(is(405), { as: 'mia', send: 'DELETE /api/house' }),
  'slash-ignored': see(is(404), get('/rooms/')),
  'floor-filter-ignored': see(lists(0, 'items'), room(), get('/rooms?floor=2')),
  'min-seats-excluded': see(lists(1, 'items'), room(), get('/rooms?min_seats=4')),
  'name-found-anywhere': see(lists(0, 'items'), room(), get('/rooms?name=oom')),
  'sort-other-way-round': see(listing('seats', [6, 5, 4], 'items'), ...six, get('/rooms?sort=-seats&per_page=3')),
  'first-status-alone': see(lists(1, 'items'), ...booked, get('/bookings?status=confirmed,requested')),
  'from-excluded': see(lists(1, 'items'), ...booked, get('/bookings?from=2030-01-31')),
  'large-plan-by-default': see(shows({ scale: 'small' }), get('/floors/1')),
  'floor-below-the-house': see(is(400, 'PARAMETER'), get('/floors/-3')),
  'plan-without-rooms': see(shows({ rooms: 0 }), get('/floors/1')),
  'types-are-coerced': see(is(400), room(), booking('b', { people: '3' })),
  'misspelt-fields-pass': see(is(400), room('r', { colour: 'red' })),
  'damage-not-asked': see(is(400), ...checkedIn, move('finish', 'hilda', {})),
  'forms-not-taken': see(is(200), ...booked, post('/bookings/$b/decline', 'hilda', 'reason=full', { headers: form })),
  'replace-keeps-the-rest': see(lacks('remark'), room('r', { remark: 'leaks' }), put('/rooms/$r', {})),
  'patch-replaces-contact': see(
    shows({ contact: { name: 'Al', email: 'al@example.org' } }),
    ...[
      room(),
      booking('b', { contact: { name: 'Bo', email: 'al@example.org' } }),
      patch('/bookings/$b', { contact: { name: 'Al' } }),
    ],
  ),
  'guest-added-200': see(is(201), ...booked, guest()),
  'guest-only-hidden': see(is(404), ...booked, guest(), remove('/guests/$g'), get('/guests/$g')),
  'location-without-prefix': see(carries('location', '/api/v3/rooms/1'), room()),
  'if-match-ignored': see(is(412), room(), put('/rooms/$r', { seats: 9 }, { 'If-Match': '"old"' })),
  'tag-of-the-second': see(
    ({ kept }) => kept.get('one.tag') !== kept.get('two.tag'),
    ...[
      ...booked,
      get('/bookings/$b', 'mia', { keep: 'one' }),
      patch('/bookings/$b', { people: 1 }),
      get('/bookings/$b', 'mia', { keep: 'two' }),
    ],
  ),
  'tag-is-weak': see(carries('etag', /^"/), room(), get('/rooms/$r')),
  'if-none-match-ignored': see(
    is(304),
    room(),
    get('/rooms/$r', 'mia', { keep: 't' }),
    get('/rooms/$r', 'mia', { headers: { 'If-None-Match': '$t.tag' } }),
  ),
  'idempotency-ignored': see(is(201), room(), ...times(2, booking('b', {}, 'mia', { 'Idempotency-Key': 'one' }))),
  'keys-shared-by-all': see(
    is(409, 'ROOM_TAKEN'),
    room(),
    ...['mia', 'max'].map((who) => booking('b', {}, who, { 'Idempotency-Key': 'one' })),
  ),

  'unsigned-token-taken': see(is(401), rooms(forged({ alg: 'none' }, claims, ''))),
  'signature-not-verified': see(is(401), rooms(forged({ alg: 'HS256' }, claims))),
  'audience-not-looked-at': see(is(401), get('/rooms', 'mia for another service')),
  'issuer-not-looked-at': see(is(401), get('/rooms', 'mia of another issuer')),
  'token-never-ends': see(is(401), get('/rooms', 'mia of last year')),
  'token-under-any-word': see(is(401), get('/rooms', 'mia under another word')),
  'password-in-any-case': see(is(401), rooms(basic('max:BLUE DOOR'))),
  'empty-password-taken': see(is(401), rooms(basic('max:'))),
  'scope-not-asked': see(is(403), room('r', {}, 'hanna')),
  'member-deletes-key': see(is(403), key(), remove('/keys/$k')),
  'member-confirms': see(is(403), ...booked, move('confirm', 'mia')),
  'host-cannot-finish': see(is(200), ...checkedIn, move('finish', 'hilda', { damaged: false })),
  'foreign-booking-read': see(is(404), ...booked, get('/bookings/$b', 'max')),
  'foreign-booking-cancelled': see(is(404), ...booked, move('cancel', 'max')),
  'foreign-booking-is-forbidden': see(is(404), ...booked, get('/bookings/$b', 'max')),
  'all-bookings-listed': see(lists(0, 'items'), ...booked, get('/bookings', 'max')),
  'foreign-guest-read': see(is(404), ...booked, guest(), get('/guests/$g', 'max')),
  'foreign-guest-changed': see(is(404), ...booked, guest(), patch('/guests/$g', { name: 'Gus' }, 'max')),

  'lapse-told-to-nobody': see(tells('booking.decided'), ...booked, listen(), { wait: 2.1 * hourMs }, hear(1)),
  'decline-told-to-nobody': see(
    tells('booking.decided'),
    ...booked,
    listen(),
    move('decline', 'hilda', { reason: 'full' }),
    hear(1),
  ),
  'decided-told-twice': see(tells('booking.decided'), ...booked, listen(), move('confirm'), hear(1)),
  'moved-at-every-change': see(tells(), ...booked, listen(), patch('/bookings/$b', { people: 1 }), hear(1)),
  'room-told-unchanged': see(tells(), room(), listen(), put('/rooms/$r', {}), hear(1)),
  'guest-added-under-old-name': see(tells('guest.added'), ...booked, listen(), guest(), hear(1)),
  'checked-in-without-time': see(
    ({ told }) => typeof told[0]?.payload.at === 'string',
    ...confirmed,
    listen(),
    move('check-in', 'mia', { people: 3 }),
    hear(1),
  ),
  'people-booked-not-come': see(tellsOf({ people: 2 }), ...confirmed, listen(), move('check-in', 'mia', { people: 2 }), hear(1)),
  'deleted-without-status': see(
    tellsOf({ status: 'cancelled' }),
    ...booked,
    move('cancel', 'mia'),
    listen(),
    remove('/bookings/$b'),
    hear(1),
  ),
  'remark-in-events': see(tellsOf({ remark: undefined }), listen(), room('r', { remark: 'leaks' }), hear(1)),
  'pin-in-events': see(tellsOf({ pin: undefined }), room(), listen(), booking('b', { pin: '1234' }), hear(1)),
  'foreign-events-streamed': see(tells(), room(), listen('max'), booking(), hear(1)),
  'missed-events-lost': see(
    tells('room.changed', 'room.changed'),
    ...[listen(), room('r'), hear(1), { stream: '/api/events', as: 'max', after: 'long gone', events: 2 }],
  ),
  'last-event-again': see(tells('room.changed'), listen(), room('r'), hear(1), {
    stream: '/api/events',
    as: 'max',
    after: '0',
    events: 2,
  }),
  'events-kept-a-minute': see(
    tells('room.changed', 'room.changed', 'room.changed', 'room.changed'),
    ...[
      listen(),
      room('r'),
      { wait: 120_000 },
      room('s'),
      hear(2),
      { stream: '/api/events', as: 'max', after: 'long gone', events: 4 },
    ],
  ),
  'another-id-each-time': see(
    ({ told: [first, second] }) => first !== undefined && first.id === second?.id,
    ...[listen(), room('r'), hear(1), { stream: '/api/events', as: 'max', after: 'long gone', events: 2 }],
  ),
  'stream-as-text': see(carries('content-type', 'text/event-stream'), listen()),
  'events-without-name': see(tells('room.changed'), listen(), room(), hear(1)),
  'envelope-of-another-shape': see(
    ({ told: [first] }) => JSON.parse(first?.text ?? '{}').kind === 'room.changed',
    listen(),
    room(),
    hear(1),
  ),

  'held-is-409': see(is(423, 'STILL_BOOKED'), ...booked, remove('/rooms/$r', 'hilda')),
  'quota-is-429': see(is(402, 'QUOTA'), ...times(51, key())),
  'codes-in-small-letters': see(is(404, 'NOT_FOUND'), get('/rooms/9')),
  'taken-is-duplicate': see(is(409, 'ROOM_TAKEN'), ...booked, booking('c')),
  'too-late-is-wrong-state': see(is(409, 'too_late'), ...checkedIn, move('cancel')),
  'room-too-small': see(is(422, 'too_small'), room(), booking('b', { people: 5 })),
  'method-answered-501': see(is(405), { as: 'mia', send: 'DELETE /api/rooms' }),
  'envelope-flattened': see(({ last }) => Object(Object(last.body).error).code === 'NOT_FOUND', get('/rooms/9')),
  'errors-as-html': see(carries('content-type', /json/), get('/rooms/9')),
  'request-not-named': see(({ last }) => typeof Object(Object(last.body).error).request === 'string', get('/rooms/9')),
  'fields-left-out': see(({ last }) => Array.isArray(Object(Object(last.body).error).fields), get('/rooms/9')),
  'any-booking-passes': see(is(404, 'NO_SUCH_REFERENCE'), key('k', { booking: 'nothing' })),
  'if-match-not-needed': see(is(428), room(), put('/rooms/$r', { seats: 9 }, {})),
  'key-for-anything': see(
    is(422, 'KEY_REUSED'),
    ...[
      room(),
      booking('b', {}, 'mia', { 'Idempotency-Key': 'one' }),
      booking('b', { hour: 10 }, 'mia', { 'Idempotency-Key': 'one' }),
    ],
  ),
  'reopened-into-taken': see(
    is(409, 'ROOM_TAKEN'),
    ...booked,
    move('decline', 'hilda', { reason: 'full' }),
    booking('c'),
    move('reopen', 'mia'),
  ),
  'no-challenge': see(carries('www-authenticate', /Bearer/), rooms({})),

  'front-page-without-rate': see(({ answers }) => answers.some(({ status }) => status === 429), {
    together: times(150, { send: 'GET /api/house' }),
  }),
  'plans-without-rate': see(is(429), ...times(21, get('/floors/1'))),
  'plans-fewer-than-stated': see(is(200), ...times(20, get('/floors/1'))),
  'wait-not-told': see(carries('retry-after', /^\d+$/), ...times(21, get('/floors/1'))),
  'wait-in-milliseconds': see(carries('retry-after', /^\d\d?$/), ...times(21, get('/floors/1'))),
  'body-four-times': see(is(413), post('/bookings', 'mia', `"${'x'.repeat(4095)}"`, { headers: jsonText })),
  'any-address-length': see(is(413), get(`/rooms?name=${'x'.repeat(1024)}`)),
  'slow-request-awaited': see(is(408), { dawdle: 'POST /api/bookings mia' }),
  'page-of-four': see(lists(5, 'items'), ...six, get('/rooms')),
  'page-of-any-size': see(is(400), get('/rooms?per_page=26')),
  'page-of-none': see(is(400), get('/rooms?per_page=0')),
  'pages-from-nought': see(lists(5, 'items'), ...six, get('/rooms')),
  'more-always-false': see(shows({ more: true }), ...six, get('/rooms')),
  'total-of-everything': see(shows({ total: 0 }), ...booked, get('/bookings', 'max')),
  'link-skips-one': see(carries('link', /offset=1>/), ...booked, guest(), guest(), get('/bookings/$b/guests?limit=1')),
  'no-next-link': see(carries('link', /rel="next"/), ...booked, guest(), guest(), get('/bookings/$b/guests?limit=1')),
  'large-limit-refused': see(is(200), ...booked, get('/bookings/$b/guests?limit=11')),
  'first-keys-alone': see(lists(4, 'keys'), ...times(4, key()), get('/keys', 'hilda')),
  'quota-one-less': see(is(201), ...times(50, key())),
  'quota-for-ever': see(is(201), ...times(50, key()), { wait: 32 * 24 * hourMs }, key()),

  'old-version-by-default': see(shows({ seats: 4 }), room('r'), get('/v3/rooms/1'), get('/rooms/1')),
  'unknown-version-not-told': see(is(404, 'NO_SUCH_VERSION'), get('/v9/rooms')),
  'ended-version-served': see(is(410), get('/v1/rooms')),
  'nothing-is-deprecated': see(carries('deprecation', '@1738368000'), get('/v2/rooms')),
  'deprecation-as-a-word': see(carries('deprecation', '@1738368000'), get('/v2/rooms')),
  'sunset-as-iso': see(carries('sunset', 'Mon, 01 Feb 2094 00:00:00 GMT'), get('/v2/rooms')),
  'seats-not-renamed': see(shows({ places: 4, seats: undefined }), room(), get('/v2/rooms/1')),
  'rate-in-new-unit': see(shows({ rate: 10 }), room(), get('/v2/rooms/1')),
  'rate-cut-not-rounded': see(
    shows({ rate: 1235 }),
    post('/v2/rooms', 'hilda', { name: 'Old', floor: 1, places: 4, rate: 12.345, kind: 'meeting' }),
    get('/rooms/1'),
  ),
  'requested-in-old-version': see(shows({ status: 'pending' }), ...booked, get('/v2/bookings/$b')),
  'colour-in-old-version': see(lacks('colour'), ...booked, get('/v2/bookings/$b')),
  'new-endpoint-in-old-version': see(is(404), get('/v2/floors/1')),
  'stream-in-newest-version': see(tellsOf({ places: 4 }), listen('mia', '/v2/events'), room(), hear(1)),
};
