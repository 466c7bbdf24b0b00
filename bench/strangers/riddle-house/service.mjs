// Riddle House: escape rooms over Maps. `node service.mjs --port N --clock-port M [--fault ID]`
import http from 'node:http';
import https from 'node:https';
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const arg = (n) => { const i = process.argv.indexOf('--' + n); return i < 0 ? undefined : process.argv[i + 1]; };
const FAULT = arg('fault');
const bug = (id) => FAULT === id;
const BASE = '/house', MIN = 60e3, HOUR = 36e5, DAY = 864e5;
const VERSIONS = ['2025-02', '2025-08', '2026-01'], CURRENT = 2;
const ORIGINS = new Set(['https://book.riddlehouse.example']);
const SECRET = randomBytes(32);

// ---------------------------------------------------------------- clock and timers
let offset = 0, frozen = null, timerSeq = 0, waker = null, wakeAt = Infinity;
const now = () => frozen ?? Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();
const heap = [];
const before = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
function at(when, fn) {
  const t = { at: when, seq: ++timerSeq, fn, dead: false }; let i = heap.push(t) - 1;
  for (let p; i > 0 && before(t, heap[p = (i - 1) >> 1]); i = p) { heap[i] = heap[p]; heap[p] = t; }
  wake(); return t;
}
function pop() {
  const top = heap[0], last = heap.pop();
  if (heap.length) {
    let i = 0;
    for (;;) {
      let k = 2 * i + 1; if (k >= heap.length) break; if (k + 1 < heap.length && before(heap[k + 1], heap[k])) k++;
      if (!before(heap[k], last)) break; heap[i] = heap[k]; i = k;
    }
    heap[i] = last;
  }
  return top;
}
function pump() {
  for (let t; heap.length && heap[0].at <= now();) { t = pop(); if (!t.dead) t.fn(t.at); }
}
function wake() {
  if (frozen !== null || !heap.length || heap[0].at === wakeAt) return; clearTimeout(waker); wakeAt = heap[0].at;
  waker = setTimeout(() => { wakeAt = Infinity; pump(); wake(); }, Math.max(0, Math.min(wakeAt - now(), 2 ** 31 - 1)));
}
async function moveTo(target) {
  for (;;) {
    while (heap.length && heap[0].dead) pop(); if (!heap.length || heap[0].at > target) break; const t = pop();
    frozen = Math.max(t.at, now()); const p = t.fn(t.at);
    if (p?.then) await Promise.race([p, new Promise((r) => setTimeout(r, 300))]);
  }
  offset = target - Date.now(); frozen = null; wakeAt = Infinity; wake();
}

// ---------------------------------------------------------------- small helpers
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ', ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (n, set = ALNUM) => { let s = ''; for (let i = 0; i < n; i++) s += set[randomInt(set.length)]; return s; };
function ulid() {
  let t = now(), s = '';
  for (let i = 0; i < 10; i++) { s = B32[t % 32] + s; t = Math.floor(t / 32); }
  for (const b of randomBytes(16)) s += B32[b & 31]; return s;
}
const DT = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function instant(s) {
  const m = DT.exec(s); if (!m) return NaN; const [y, mo, d] = [+m[1], +m[2], +m[3]];
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(y, mo, 0)).getUTCDate() || +m[4] > 23 || +m[5] > 59 || +m[6] > 59) return NaN;
  return Date.parse(s.toUpperCase());
}
const push = (map, key, row) => { let s = map.get(key); if (!s) map.set(key, s = new Set()); s.add(row); };
const drop = (map, key, row) => map.get(key)?.delete(row);
const NONE = new Set();

// ---------------------------------------------------------------- refusals
const CONDITIONS = {
  'request.malformed': ['unreadable', 400], 'request.parameter': ['unreadable', 400], 'limit.page': ['unreadable', 400], 'version.unknown': ['unreadable', 400],
  'request.media': ['wrong_media', 415], 'request.accept': ['wrong_media', 406],
  'request.invalid.missing': ['field_missing', 422], 'request.invalid': ['field_wrong', 422],
  'caller.unknown.missing': ['no_credential', 401], 'caller.unknown': ['bad_credential', 401], 'caller.forbidden': ['forbidden', 403],
  'resource.missing': ['not_there', 404], 'route.unknown': ['not_there', 404], 'reference.missing': ['no_such_reference', 422],
  'resource.gone': ['gone', 410], 'version.sunset': ['gone', 410], 'method.unsupported': ['wrong_method', 405],
  'resource.exists': ['taken', 409], 'reference.held': ['taken', 409], 'transition.illegal': ['not_now', 409],
  'precondition.failed': ['changed', 412], 'precondition.required': ['tag_missing', 428],
  'idempotency.reused': ['key_clash', 422], 'limit.rate': ['slow_down', 429], 'limit.quota': ['slow_down', 429],
  'limit.size': ['too_large', 413], 'limit.time': ['failed', 503], internal: ['failed', 500],
};
const OWN = {
  slot_taken: [409, 'Somebody else has this slot.'], too_late: [409, 'It is too late for that.'], props_broken: [409, 'A prop of this room is broken.'],
  voucher_dead: [409, 'This voucher is spent or over.'], slot_begun: [422, 'A slot starts later than now.'], room_closed: [409, 'This room is closed.'],
  too_many_players: [422, 'The room has fewer seats.'],
};
class Refusal extends Error {
  constructor(code, status, message, more = {}) { super(message); Object.assign(this, { code, status }, more); }
}
const no = (condition, more) => {
  const [code, status] = CONDITIONS[condition]; throw new Refusal(code, status, condition, more);
};
const own = (code) => {
  const [status, message] = OWN[code];
  throw new Refusal(code, bug('slot-taken-status') && code === 'slot_taken' ? 400 : status, message, { own: true });
};
const badParam = (name, found, expected) => no('request.parameter', { violations: [{ in: 'query', path: name, found: String(found), expected }] });

// ---------------------------------------------------------------- shapes
const S = (min, max, more) => ({ t: 'string', min, max, ...more });
const I = (min, max, more) => ({ t: 'integer', min, max, ...more });
const STATES = {
  room: ['open', 'closed'], slot: ['free', 'held', 'booked', 'over'], prop: ['working', 'broken', 'in_repair'], voucher: ['active', 'spent', 'expired'],
  booking: ['held', 'confirmed', 'playing', 'escaped', 'failed', 'missed', 'cancelled', 'lapsed'], incident: ['open', 'settled'],
};
const THEMES = ['horror', 'heist', 'fantasy', 'science'], KINDS = ['padlock', 'projector', 'maglock', 'costume'];
const PARTY = { name: S(1, 40, { req: 1 }), size: I(1, 12, { req: 1 }) };
const SHAPES = {
  room: {
    ro: new Set(['id', 'house', 'state', 'broken_props']),
    fields: { name: S(2, 40, { req: 1 }), theme: { t: 'string', enum: THEMES, req: 1 }, seats: I(2, 12, { def: 6, req: 1 }), price_cents: I(500, 20000, { req: 1 }) },
  },
  slot: {
    ro: new Set(['id', 'state']),
    fields: { room: { t: 'string', ref: 'room', req: 1, imm: 1 }, starts_at: { t: 'string', dt: 1, req: 1 }, ends_at: { t: 'string', dt: 1, req: 1 } },
  },
  booking: {
    ro: new Set(['id', 'number', 'guest', 'state', 'price_cents', 'ends_at', 'master', 'hints_given', 'last_hint']),
    fields: { slot: { t: 'string', ref: 'slot', req: 1, imm: 1 }, party: { t: 'object', fields: PARTY, req: 1 }, voucher: { t: 'string', ref: 'voucher', imm: 1 } },
  },
  prop: {
    ro: new Set(['id', 'state', 'times_broken']),
    fields: { room: { t: 'string', ref: 'room', req: 1, imm: 1 }, name: S(2, 60, { req: 1 }), kind: { t: 'string', enum: KINDS, def: 'padlock', req: 1 }, cost_cents: I(0, Infinity) },
  },
  voucher: {
    ro: new Set(['id', 'code', 'house', 'state']),
    fields: { holder: S(1, 60, { req: bug('holder-optional') ? 0 : 1 }), value_cents: I(100, 50000, { req: 1 }), valid_until: { t: 'string', dt: 1, req: 1 } },
  },
  incident: {
    ro: new Set(['id', 'state']),
    fields: { room: { t: 'string', ref: 'room', req: 1, imm: 1 }, text: S(3, 300, { req: 1 }) },
  },
  hook: {
    ro: new Set(['id', 'owner', 'secret', 'enabled']),
    fields: { url: { t: 'string', min: 0, max: 200, uri: 1, req: 1 }, events: { t: 'array', maxItems: 10, kinds: 1 } },
  },
};
const EVENT_KINDS = ['room.repriced', 'booking.made', 'booking.confirmed', 'booking.freed', 'booking.over', 'booking.soon', 'prop.broken'];
const EVENT_WORDS = new Set(['*', 'room.*', 'booking.*', 'prop.*', ...EVENT_KINDS]);
/** the shapes as each version has them: what was renamed, added or mapped since is as it was */
const VERSIONED = VERSIONS.map((_, v) => {
  const all = { ...SHAPES }, room = { ...SHAPES.room.fields };
  if (v < 2) {
    delete room.theme; const { value_cents, ...rest } = SHAPES.voucher.fields;
    all.voucher = { ...SHAPES.voucher, fields: { ...rest, value: { t: 'number', req: 1 } } };
  }
  if (v < 1) {
    room.people = room.seats; delete room.seats;
    all.prop = { ...SHAPES.prop, fields: { ...SHAPES.prop.fields, kind: { t: 'string', enum: ['lock', ...KINDS.slice(1)], def: 'lock', req: 1 } } };
  }
  all.room = { ...SHAPES.room, fields: room }; return all;
});
const typeOf = (v) => v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'number' ? (Number.isInteger(v) ? 'integer' : 'number') : typeof v;
const length = (s) => { let n = 0; for (const _ of s) n++; return n; };
/** what is wrong with one value, told into `out` */
function fault(spec, value, path, out) {
  const t = typeOf(value), wrong = (expected, kind = 'value') => out.push({ kind, path, found: kind === 'type' ? t : JSON.stringify(value).slice(0, 60), expected });
  if (bug('seats-text') && spec === SHAPES.room.fields.seats && t === 'string' && /^\d+$/.test(value)) return;
  if (t !== spec.t && !(spec.t === 'number' && t === 'integer')) return wrong(spec.t, 'type');
  if (spec.t === 'string') {
    if (spec.enum && !spec.enum.includes(value)) wrong('one of ' + spec.enum.join(', '));
    else if (spec.max !== undefined && (length(value) > spec.max || length(value) < spec.min)) wrong(`${spec.min} to ${spec.max} characters`);
    else if (spec.dt && Number.isNaN(instant(value)) && !(bug('date-alone') && /^\d{4}-\d\d-\d\d$/.test(value))) wrong('a date-time');
    else if (spec.uri && !(/^https?:\/\/[^\s"<>\\^`{|}]+$/i.test(value) && URL.canParse(value))) wrong('an address');
  } else if (spec.t === 'integer') {
    if (value < spec.min || value > spec.max) wrong(`${spec.min} to ${spec.max}`);
  } else if (spec.t === 'array') {
    if (value.length > spec.maxItems) wrong(`at most ${spec.maxItems} items`);
    value.forEach((x, i) => {
      if (typeof x !== 'string') out.push({ kind: 'type', path: `${path}/${i}`, found: typeOf(x), expected: 'string' });
      else if (spec.kinds && !EVENT_WORDS.has(x)) out.push({ kind: 'value', path: `${path}/${i}`, found: JSON.stringify(x), expected: 'a kind of event' });
    });
  } else if (spec.t === 'object') members(spec.fields, NONE, value, path, out, {});
}
const escape = (k) => k.replaceAll('~', '~0').replaceAll('/', '~1');
function members(fields, ro, body, path, out, { patch, kept, open }) {
  for (const [k, value] of Object.entries(body)) {
    if (ro.has(k)) continue;
    const spec = Object.hasOwn(fields, k) ? fields[k] : undefined, p = `${path}/${escape(k)}`;
    if (!spec) { if (!open && !(bug('incident-unknown') && fields === SHAPES.incident.fields)) out.push({ kind: 'unknown', path: p, found: k, expected: 'no such field' }); continue; }
    if (patch && value === null) { if (spec.req) out.push({ kind: 'type', path: p, found: 'null', expected: spec.t }); continue; }
    fault(spec, value, p, out);
  }
  if (!patch) for (const [k, spec] of Object.entries(fields)) if (spec.req && spec.def === undefined && !Object.hasOwn(body, k) && !kept?.has(k)) out.push({ kind: 'missing', path: `${path}/${k}`, found: 'nothing', expected: spec.t });
}
function refuseAll(out) {
  if (!out.length) return; const late = (o) => o.kind === 'missing' && o.path.lastIndexOf('/') === 0;
  out = [...out.filter((o) => !late(o)), ...out.filter(late)];
  const violations = out.map((o) => ({ in: 'body', path: o.path, found: o.found, expected: o.expected }));
  no(out[0].kind === 'missing' ? 'request.invalid.missing' : 'request.invalid', { violations });
}
/** a body for a resource: held to its version's shape, carried up */
function fieldsOf(c, res, how = {}) {
  const { fields, ro } = VERSIONED[c.v][res], out = []; let body = c.body;
  if (typeOf(body) !== 'object') refuseAll([{ kind: 'type', path: '', found: typeOf(body), expected: 'object' }]);
  if (how.patch && body.party !== undefined && res === 'booking' && typeOf(body.party) === 'object') {
    const party = { ...how.row.party };
    for (const [k, v] of Object.entries(body.party)) if (v === null) delete party[k]; else party[k] = v;
    body = { ...body, party };
  }
  if (how.bound) body = { ...how.bound, ...body }; members(fields, ro, body, '', out, how); const bound = how.bound ?? {};
  for (const k of Object.keys(bound)) if (body[k] !== bound[k] && !out.some((o) => o.path === '/' + k)) out.push({ kind: 'value', path: '/' + k, found: JSON.stringify(body[k]), expected: bound[k] });
  if (how.row) {
    for (const [k, spec] of Object.entries(fields)) {
      if (!spec.imm || !Object.hasOwn(body, k) || (body[k] ?? undefined) === how.row[k] || out.some((o) => o.path === '/' + k)) continue;
      if (bug('slot-moves') && k === 'slot') continue;
      out.push({ kind: 'value', path: '/' + k, found: JSON.stringify(body[k]), expected: 'what it was' });
    }
  }
  const row = {}; for (const k of Object.keys(fields)) if (Object.hasOwn(body, k)) row[k] = body[k];
  if (!out.length) {
    if (res === 'voucher' && c.v < 2 && row.value !== undefined) {
      row.value_cents = Math.round(row.value * 100); delete row.value;
      fault(SHAPES.voucher.fields.value_cents, row.value_cents, '/value', out);
    }
    if (res === 'room' && c.v < 1 && Object.hasOwn(row, 'people')) { row.seats = row.people; delete row.people; }
    if (res === 'prop' && c.v < 1 && row.kind === 'lock') row.kind = 'padlock';
    if (res === 'slot' && (bug('half-hour') ? instant(row.ends_at) <= instant(row.starts_at) + 30 * MIN : instant(row.ends_at) < instant(row.starts_at) + 30 * MIN)) {
      out.push({ kind: 'value', path: '/ends_at', found: JSON.stringify(row.ends_at), expected: 'half an hour after it starts or later' });
    }
  }
  refuseAll(out); return row;
}
const CLOSE = { reason: S(0, 100, { req: 1 }) }, FINISH = { solved: { t: 'boolean', req: 1 } }, HINT = { text: S(1, 140, { req: 1 }) }, BREAK = { fault: S(3, 120, { req: 1 }) };
function plainBody(c, fields) {
  const out = [];
  if (typeOf(c.body) !== 'object') refuseAll([{ kind: 'type', path: '', found: typeOf(c.body), expected: 'object' }]);
  members(fields, NONE, c.body, '', out, { open: true }); refuseAll(out);
}

// ---------------------------------------------------------------- rows
const rooms = new Map(), slots = new Map(), bookings = new Map(), props = new Map(), vouchers = new Map(), incidents = new Map(), hooks = new Map(), gone = new Map();
const TABLES = { room: rooms, slot: slots, booking: bookings, prop: props, voucher: vouchers, incident: incidents, hook: hooks };
const roomNames = new Map(), propNames = new Map(), slotsOf = new Map(), bookingsOf = new Map(), bookingsBy = new Map(), propsOf = new Map(), incidentsOf = new Map(), vouchersBy = new Map(), hooksBy = new Map();
let seq = 0, bookingNumber = 0;
const broken = (room) => { let n = 0; for (const p of propsOf.get(room.id) ?? NONE) if (p.state === 'broken' || (bug('broken-repair') && p.state === 'in_repair')) n++; return n; };
const meta = (row) => Object.defineProperty(row, '$', { value: { seq: ++seq }, enumerable: false });
const houseOf = {
  room: (r) => r.house, voucher: (r) => r.house, slot: (r) => rooms.get(r.room).house, booking: (r) => rooms.get(slots.get(r.slot).room).house,
  prop: (r) => rooms.get(r.room).house, incident: (r) => rooms.get(r.room).house,
};

/** how a row is shown to a caller in a version */
const VIEWS = {
  room(r, c, v) {
    const o = { id: r.id, house: r.house, name: r.name }; if (v > 1) o.theme = r.theme;
    o[v > 0 ? 'seats' : 'people'] = r.seats; o.price_cents = r.price_cents; o.state = r.state; o.broken_props = broken(r);
    return o;
  },
  slot: (r) => ({ id: r.id, room: r.room, starts_at: r.starts_at, ends_at: r.ends_at, state: r.state }),
  booking(r, c) {
    const o = { id: r.id, number: r.number, slot: r.slot, guest: r.guest, party: { name: r.party.name, size: r.party.size } };
    if (r.voucher) o.voucher = r.voucher; o.state = r.state; o.price_cents = r.price_cents; o.ends_at = r.ends_at;
    if (r.master) o.master = r.master; o.hints_given = r.hints_given;
    if (r.last_hint !== undefined && c?.user !== 'manager') o.last_hint = r.last_hint; return o;
  },
  prop(r, c, v, how) {
    const o = { id: r.id, room: r.room, name: r.name, kind: v < 1 && r.kind === 'padlock' ? 'lock' : r.kind };
    if (r.cost_cents !== undefined && (c?.user === 'manager' || (bug('cost-in-list') && how === 'list'))) o.cost_cents = r.cost_cents;
    o.state = r.state; o.times_broken = r.times_broken; return o;
  },
  voucher(r, c, v, how) {
    const value = v > 1 || (bug('value-in-list') && how === 'list') ? r.value_cents : r.value_cents / 100, name = v > 1 ? 'value_cents' : 'value';
    if (c.user === 'master') return { id: r.id, house: r.house, [name]: value, valid_until: r.valid_until, state: r.state };
    const o = { id: r.id }; if (how === 'made' || (bug('code-again') && how === 'read')) o.code = r.code;
    return Object.assign(o, { house: r.house, holder: r.holder, [name]: value, valid_until: r.valid_until, state: r.state });
  },
  incident: (r) => ({ id: r.id, room: r.room, text: r.text, state: r.state }),
  hook(r, c, v, how) {
    const o = { id: r.id, owner: r.owner, url: r.url }; if (how === 'made') o.secret = r.secret;
    if (r.events) o.events = r.events; o.enabled = r.enabled; return o;
  },
};

// ---------------------------------------------------------------- who may
const sameHouse = (res) => (r, c) => houseOf[res](r) === c.house;
const STAFF = ['master', 'manager'];
const rule = (to, test, scopes) => ({ to: to && [].concat(to), test, scopes });
const RULES = {};
const allow = (ops, ...rest) => { for (const op of ops) (RULES[op] ??= []).push(rule(...rest)); };
allow(['list room', 'read room'], null, (r) => r.state === 'open');
allow(['list room', 'read room'], STAFF, sameHouse('room'));
allow(['create room'], 'manager', null, ['rooms']);
allow(['update room', 'close room', 'reopen room'], 'manager', sameHouse('room'), ['rooms']);
allow(['list slot'], null, null);
allow(['create slot'], 'manager', bug('slot-any-house') ? null : sameHouse('slot'));
allow(['delete slot'], 'manager', sameHouse('slot'));
allow(['create booking'], 'guest', null, ['play']);
allow(['list booking', 'read booking', 'update booking', 'confirm booking', 'cancel booking'], 'guest', (r, c) => r.guest === c.id);
allow(['list booking', 'read booking'], STAFF, sameHouse('booking'));
allow(['cancel booking'], 'manager', sameHouse('booking'));
allow(['begin booking'], 'master', sameHouse('booking'));
allow(['finish booking'], 'master', bug('any-master') ? sameHouse('booking') : (r, c) => r.master === c.id);
allow(['hint booking'], 'master', (r, c) => r.master === c.id);
allow(['create prop'], 'manager', sameHouse('prop'));
allow(['list prop', 'read prop', 'break prop'], STAFF, sameHouse('prop'));
allow(['replace prop', 'repair prop'], 'manager', sameHouse('prop'));
allow(['create voucher'], 'manager', null);
allow(['list voucher', 'read voucher'], 'guest', (r, c) => r.holder === c.id);
allow(['read voucher'], STAFF, sameHouse('voucher'));
allow(['list voucher'], 'manager', sameHouse('voucher'));
allow(['list voucher'], 'master', bug('vouchers-of-all') ? null : sameHouse('voucher'));
allow(['create incident', 'list incident', 'read incident'], STAFF, sameHouse('incident'));
allow(['settle incident'], 'manager', sameHouse('incident'));
allow(['delete incident'], 'manager', (r, c) => houseOf.incident(r) === c.house && r.state === 'settled');
allow(['create hook'], STAFF, null);
allow(['read hook', 'delete hook'], STAFF, (r, c) => r.owner === c.id);
allow(['stream events'], STAFF, null);
const fits = (r, c) => (!r.to || (c && r.to.includes(c.user))) && (!r.scopes || r.scopes.every((s) => c?.scopes.includes(s)));
const may = (op, row, c) => RULES[op].some((r) => fits(r, c) && (!r.test || r.test(row, c)));
const mayRead = (res, row, c) => may(RULES['read ' + res] ? 'read ' + res : 'list ' + res, row, c);

/** the row that the path names: found, readable, and its caller may do this */
function load(c, res) {
  const id = c.params.id, row = TABLES[res].get(id);
  if (!row) {
    const was = res === 'incident' && gone.get(id);
    if (was && now() - was.at < 7 * DAY && mayRead(res, was.row, c.caller)) no('resource.gone'); no('resource.missing');
  }
  if (!mayRead(res, row, c.caller)) no('resource.missing'); if (!may(c.op, row, c.caller)) no('caller.forbidden');
  return row;
}
/** a reference that was sent: there, and readable */
function refer(c, res, id) {
  const row = TABLES[res].get(id);
  if (!row || !(mayRead(res, row, c.caller) || (bug('foreign-voucher') && res === 'voucher'))) no('reference.missing');
  return row;
}
const tagOf = (view, v) => '"' + createHash('sha1').update(v + JSON.stringify(view)).digest('base64url') + '"';
function precondition(c, res, row, required) {
  const given = c.req.headers['if-match'];
  if (given === undefined) { if (required) no('precondition.required'); return; }
  if (given.trim() === '*') return; const tag = tagOf(VIEWS[res](row, c.caller, c.v), c.v);
  if (!given.split(',').some((t) => (bug('weak-tag') ? t.trim().replace(/^W\//, '') : t.trim()) === tag)) no('precondition.failed');
}

// ---------------------------------------------------------------- events
const history = [], readers = new Set();
const kindFits = (words, kind) => !words || words.some((w) => w === '*' || w === kind || (w.endsWith('.*') && kind.startsWith(w.slice(0, -1)) && !bug('no-wildcard')));
function emit(kind, res, row, data) {
  const e = { id: 'evt_' + ulid(), kind, at: iso(now()), ms: now(), res, row: { ...row }, data };
  const tell = (c, v) => JSON.stringify({ event: e.id, kind, at: e.at, body: data ?? VIEWS[res](e.row, c, v, 'event') });
  e.tell = tell; history.push(e); while (history[0].ms < now() - HOUR) history.shift();
  for (const h of hooks.values()) if (h.enabled && kindFits(h.events, kind) && mayRead(res, e.row, h.$.maker)) enqueue(h, e, tell(h.$.maker, h.$.v));
  for (const r of readers) if (mayRead(res, e.row, r.caller)) r.send(e);
}
const RETRY = [10e3, 2 * MIN, 15 * MIN];
function enqueue(hook, e, body) {
  const lines = hook.$.lines, key = e.res + e.row.id, d = { e, body, tries: 0 }; const line = lines.get(key);
  if (line) return void line.push(d); lines.set(key, [d]); at(now(), () => attempt(hook, key));
}
const agents = { 'http:': new http.Agent({ maxSockets: 32 }), 'https:': new https.Agent({ maxSockets: 32 }) };
function attempt(hook, key) {
  const line = hook.$.lines.get(key), d = line?.[0], began = now();
  if (!d || !hook.enabled || hook.$.deleted) return hook.$.lines.delete(key);
  if (began < hook.$.hold) return void at(hook.$.hold, () => attempt(hook, key));
  const t = Math.floor(began / 1000), url = new URL(hook.url);
  const mac = createHmac('sha256', hook.secret).update(bug('signs-body') ? d.body : `${t}.${d.body}`).digest('hex');
  return new Promise((done) => {
    let settled = false;
    const end = (status, wait) => {
      if (settled) return; settled = true; delivered(hook, key, d, began, status, wait); done();
    };
    const r = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST', timeout: 5000, agent: agents[url.protocol],
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(d.body), 'Riddle-Signature': `t=${t},v1=${mac}`, 'Riddle-Event': d.e.kind },
    }, (res) => { res.resume(); end(res.statusCode, res.headers['retry-after']); });
    const limit = setTimeout(() => r.destroy(new Error('late')), 5000); r.on('close', () => clearTimeout(limit));
    r.on('error', () => end(0)); r.end(d.body);
  });
}
function delivered(hook, key, d, began, status, wait) {
  const line = hook.$.lines.get(key); if (!line || hook.$.deleted) return;
  if (status >= 200 && status < 300) hook.$.failing = null;
  else {
    hook.$.failing ??= began;
    if (status === 410 || began - hook.$.failing >= 2 * DAY) { hook.enabled = false; hook.$.lines.clear(); return; }
    if (d.tries < RETRY.length) {
      if (/^\d+$/.test(wait ?? '')) hook.$.hold = began + Math.min(+wait * 1000, DAY); const pause = RETRY[d.tries++];
      return void at(began + pause, () => attempt(hook, key));
    }
  }
  line.shift(); if (line.length) at(now(), () => attempt(hook, key)); else hook.$.lines.delete(key);
}

// ---------------------------------------------------------------- machines and what follows
const arm = (row, name, when, fn) => { if (row.$[name]) row.$[name].dead = true; row.$[name] = at(when, fn); };
const releaseSlot = (slot) => { if (slot.state === 'held' || slot.state === 'booked') slot.state = 'free'; };
const priceOf = (slot, party, voucher) => Math.max(0, rooms.get(slot.room).price_cents * party.size - (voucher ? voucher.value_cents : 0));
function overrunAfter(b) {
  arm(b, 'overrun', now() + 3 * HOUR, () => { if (b.state === 'playing') { b.state = 'failed'; emit('booking.over', 'booking', b); } });
}
function lapseAfter(b) {
  arm(b, 'lapse', now() + 15 * MIN, () => {
    if (b.state !== 'held') return; b.state = 'lapsed'; releaseSlot(slots.get(b.slot));
    if (!bug('lapse-silent')) emit('booking.freed', 'booking', b);
  });
}
function addIncident(room, text) {
  const row = meta({ id: 'inc_' + ulid(), room, text, state: 'open' }); incidents.set(row.id, row);
  push(incidentsOf, room, row); return row;
}

// ---------------------------------------------------------------- pages
const byText = (a, b) => a < b ? -1 : a > b ? 1 : 0;
function pageSize(c, name, dflt, max, clamp) {
  const s = c.query.get(name); if (s === undefined) return dflt;
  if (!/^\d{1,15}$/.test(s) || +s < 1 || (!clamp && +s > max)) no('limit.page', { violations: [{ in: 'query', path: name, found: s, expected: `1 to ${max}` }] });
  return Math.min(+s, max);
}
function readPage(c) {
  const limit = pageSize(c, 'limit', 20, 50);
  const bound = JSON.stringify([c.op, c.v, c.caller?.user, c.caller?.id, [...c.query].filter(([k]) => k !== 'limit' && k !== 'cursor').sort()]);
  const mac = (s) => createHmac('sha256', SECRET).update(s + bound).digest('base64url').slice(0, 22);
  const given = c.query.get('cursor'); let from = null;
  if (given !== undefined) {
    const [body, sig] = given.split('.');
    if (!sig || given.split('.').length !== 2 || mac(body) !== sig) no('limit.page', { violations: [{ in: 'query', path: 'cursor', found: given.slice(0, 60), expected: 'a cursor of this list' }] });
    from = JSON.parse(Buffer.from(body, 'base64url'));
  }
  c.page = { limit, from, cursor: (k) => { const body = Buffer.from(JSON.stringify(k)).toString('base64url'); return body + '.' + mac(body); } };
}
function paged(c, rows, key, desc, show) {
  const { limit, from, cursor } = c.page, cmp = (ka, sa, kb, sb) => (desc ? byText(kb, ka) : byText(ka, kb)) || sa - sb;
  const keyed = rows.map((r) => [key(r), r.$.seq, r]).sort((a, b) => cmp(a[0], a[1], b[0], b[1])); let i = 0;
  if (from) { let lo = 0, hi = keyed.length; while (lo < hi) { const m = (lo + hi) >> 1; if (cmp(keyed[m][0], keyed[m][1], from[0], from[1]) <= 0) lo = m + 1; else hi = m; } i = lo; }
  const part = keyed.slice(i, i + limit), more = i + limit < keyed.length, last = part.at(-1);
  if (bug('cursor-skips') && c.op === 'list room' && more) { const skip = keyed[i + limit]; return { items: part.map((k) => show(k[2])), next: cursor([skip[0], skip[1]]), more }; }
  return { items: part.map((k) => show(k[2])), next: more ? cursor([last[0], last[1]]) : null, more };
}
/** a parameter that filters: of the field's own shape */
const filterText = (spec) => (name, s) => {
  const out = []; let value = s;
  if (spec.t === 'integer') { if (!/^-?\d{1,15}$/.test(s)) badParam(name, s, 'integer'); value = Number(s); }
  fault(spec, value, name, out); if (out.length) badParam(name, s, out[0].expected); return value;
};
const several = (spec) => { const one = filterText(spec); return (name, s) => { const l = s.split(','); if (l.length > 100) badParam(name, s.slice(0, 60), 'at most 100 values'); return l.map((x) => one(name, x)); }; };
const P = {
  text: filterText({ t: 'string' }), int: filterText(I(-Infinity, Infinity)), time: filterText({ t: 'string', dt: 1 }), oneOf: (...l) => filterText({ t: 'string', enum: l }),
};
const seats = filterText(SHAPES.room.fields.seats), CURSOR = { limit: (n, s) => s, cursor: (n, s) => s };

// ---------------------------------------------------------------- the operations
const ENDPOINTS = {};
const on = (line, op, o) => { const [method, path] = line.split(' '); ENDPOINTS[line] = { method, path, op, params: () => ({}), ...o }; };
const ok = (body, headers) => ({ status: 200, body, headers });
const made = (res, row, c, place) => ({
  status: 201, body: VIEWS[res](row, c.caller, c.v, 'made'), headers: place ? { Location: `${bug('location-base') && res === 'booking' ? '' : BASE}/${place}/${row.id}` } : {},
  again: () => VIEWS[res](row, c.caller, c.v, 'again'),
});
function show(c, res, row, headers = {}) {
  const body = VIEWS[res](row, c.caller, c.v, 'read'), tag = tagOf(bug('tag-derived') && res === 'room' ? { ...body, broken_props: 0 } : body, c.v), seen = c.req.headers['if-none-match'];
  const match = seen !== undefined && (seen.trim() === '*' || seen.split(',').some((t) => t.trim().replace(/^W\//, '') === tag));
  return match ? { status: 304, headers: { ETag: tag, ...headers } } : ok(body, { ETag: tag, ...headers });
}

on('GET /about', 'read house', { open: true, run: () => ok({ name: 'Riddle House', rooms_from: 500 }) });
on('POST /rooms', 'create room', { takes: true, run(c) {
  const sent = fieldsOf(c, 'room'), row = { id: 'rom_' + ulid(), house: c.caller.house, theme: 'fantasy', seats: 6, ...sent, state: 'open' };
  const key = row.house + '\n' + row.name; if (roomNames.has(key)) no('resource.exists'); roomNames.set(key, row.id);
  rooms.set(row.id, meta(row)); return made('room', row, c, 'rooms');
} });
on('GET /rooms', 'list room', {
  params: (c) => ({
    ...(c.v > 1 && { theme: several({ t: 'string', enum: THEMES }) }), [c.v > 0 ? 'seats' : 'people']: seats, cheaper: P.int, q: P.text, sort: P.oneOf('name', '-name', 'price_cents', '-price_cents'), ...CURSOR,
  }),
  page: readPage,
  run(c) {
    const f = c.filters, least = f.seats ?? f.people, words = f.q?.toLowerCase().split(/\s+/).filter(Boolean), rows = [];
    for (const r of rooms.values()) {
      if (!may('list room', r, c.caller) && !(bug('closed-listed') && c.caller)) continue;
      if (f.theme && !f.theme.includes(r.theme)) continue; if (least !== undefined && r.seats < least) continue;
      if (f.cheaper !== undefined && r.price_cents > f.cheaper) continue;
      if (words) { const name = r.name.toLowerCase(); if (!words.every((w) => name.includes(w))) continue; }
      rows.push(r);
    }
    const sort = f.sort ?? 'name', field = sort.replace('-', '');
    return ok(paged(c, rows, (r) => r[field], sort[0] === '-', (r) => VIEWS.room(r, c.caller, c.v)));
  },
});
on('GET /rooms/{id}', 'read room', { run: (c) => show(c, 'room', load(c, 'room'), { 'Cache-Control': 'private, max-age=30' }) });
on('PATCH /rooms/{id}', 'update room', { takes: true, run(c) {
  const row = load(c, 'room'); precondition(c, 'room', row, true);
  const sent = fieldsOf(c, 'room', { patch: true, row }), was = row.price_cents;
  if (sent.name !== undefined && sent.name !== row.name) {
    if (roomNames.has(row.house + '\n' + sent.name)) no('resource.exists'); roomNames.delete(row.house + '\n' + row.name);
    roomNames.set(row.house + '\n' + sent.name, row.id);
  }
  Object.assign(row, sent);
  if (row.price_cents !== was) emit('room.repriced', 'room', row, { room: row.id, was: bug('repriced-was') ? row.price_cents : was, is: row.price_cents });
  return ok(VIEWS.room(row, c.caller, c.v));
} });
/** a transition: the row, what is sent, from which states, and what becomes of it */
const step = (line, op, res, from, sends, then, tell) => on(line, op, {
  takes: !!sends,
  run(c) {
    const row = load(c, res); if (sends) plainBody(c, sends); if (!from.includes(row.state)) no('transition.illegal');
    then(row, c); return ok((tell ?? VIEWS[res])(row, c.caller, c.v));
  },
});
step('POST /rooms/{id}/close', 'close room', 'room', ['open'], CLOSE, (row, c) => {
  if (c.body.reason === '') no('transition.illegal'); row.state = 'closed';
});
step('POST /rooms/{id}/reopen', 'reopen room', 'room', ['closed'], null, (row) => {
  if (broken(row) > 0) own('props_broken'); row.state = 'open';
});
on('POST /rooms/{room}/slots', 'create slot', { takes: true, run(c) {
  const room = rooms.get(c.params.room); if (!room || !mayRead('room', room, c.caller)) no('resource.missing');
  const sent = fieldsOf(c, 'slot', { bound: { room: room.id } }), row = { id: 'slt_' + ulid(), ...sent, state: 'free' };
  if (!may('create slot', row, c.caller)) no('caller.forbidden'); if (instant(row.starts_at) <= now()) own('slot_begun');
  slots.set(row.id, meta(row)); push(slotsOf, room.id, row);
  row.$.start = bug('date-alone') ? Date.parse(row.starts_at) : instant(row.starts_at); row.$.end = instant(row.ends_at);
  arm(row, 'pass', row.$.end, () => { if (row.state !== 'over') row.state = 'over'; }); return made('slot', row, c);
} });
on('GET /slots', 'list slot', {
  params: () => ({ room: P.text, state: P.oneOf(...STATES.slot), since: P.time, until: P.time, ...CURSOR }),
  page: readPage,
  run(c) {
    const f = c.filters, since = f.since && instant(f.since), until = f.until && instant(f.until), rows = [];
    for (const r of f.room === undefined ? slots.values() : slotsOf.get(f.room) ?? NONE) {
      if (f.state && r.state !== f.state) continue; if (since !== undefined && r.$.start < since) continue;
      if (until !== undefined && r.$.start >= until) continue; rows.push(r);
    }
    return ok(paged(c, rows, (r) => r.$.start, false, VIEWS.slot));
  },
});
on('DELETE /slots/{id}', 'delete slot', { run(c) {
  const row = load(c, 'slot'); if (row.state !== 'free') no('transition.illegal');
  if (bookingsOf.get(row.id)?.size) no('reference.held'); slots.delete(row.id); drop(slotsOf, row.room, row);
  row.$.pass.dead = true; return { status: 204 };
} });

const COUNTED = new Set(['held', 'confirmed']);
on('POST /bookings', 'create booking', { takes: true, run(c) {
  const sent = fieldsOf(c, 'booking'), slot = refer(c, 'slot', sent.slot), voucher = sent.voucher && refer(c, 'voucher', sent.voucher), room = rooms.get(slot.room);
  if (bug('number-gap')) bookingNumber++; if (voucher && voucher.state !== 'active') own('voucher_dead');
  if (room.state !== 'open') own('room_closed'); if (sent.party.size > room.seats) own('too_many_players'); let n = 0;
  for (const b of bookingsBy.get(c.caller.id) ?? NONE) if (COUNTED.has(b.state)) n++;
  if (n >= (bug('seventh-booking') ? 7 : 6)) no('limit.quota'); if (slot.state !== 'free') own('slot_taken');
  const row = meta({
    id: (bug('booking-prefix') ? 'bok_' : 'bkg_') + ulid(), number: 'RH-' + String(bug('number-gap') ? bookingNumber : ++bookingNumber).padStart(5, '0'), slot: slot.id, guest: c.caller.id, party: { name: sent.party.name, size: sent.party.size },
    ...(voucher && { voucher: voucher.id }), state: 'held', price_cents: priceOf(slot, sent.party, voucher), ends_at: slot.ends_at, hints_given: 0,
  });
  row.$.end = slot.$.end; bookings.set(row.id, row); push(bookingsOf, slot.id, row); push(bookingsBy, row.guest, row);
  slot.state = 'held'; lapseAfter(row);
  arm(row, 'soon', slot.$.end - DAY, () => { if (row.state === 'confirmed') emit('booking.soon', 'booking', row); });
  arm(row, 'miss', slot.$.end, () => { if (row.state === 'confirmed') { row.state = 'missed'; emit('booking.over', 'booking', row); } });
  emit('booking.made', 'booking', row); if (bug('made-twice')) emit('booking.made', 'booking', row);
  return made('booking', row, c, 'bookings');
} });
on('GET /bookings', 'list booking', {
  params: () => ({ state: several({ t: 'string', enum: STATES.booking }), slot: P.text, show: P.oneOf('all', 'coming'), sort: P.oneOf('ends_at', '-ends_at', 'price_cents', '-price_cents'), ...CURSOR }),
  page: readPage,
  run(c) {
    const f = c.filters, rows = [], me = c.caller;
    for (const r of f.slot !== undefined ? bookingsOf.get(f.slot) ?? NONE : me.user === 'guest' ? bookingsBy.get(me.id) ?? NONE : bookings.values()) {
      if (!may('list booking', r, me)) continue; if (f.state && !f.state.includes(r.state)) continue;
      if (f.show === 'coming' && !COUNTED.has(r.state) && !(bug('coming-playing') && r.state === 'playing')) continue;
      rows.push(r);
    }
    const sort = f.sort ?? '-ends_at', by = sort.endsWith('ends_at') ? (r) => r.$.end : (r) => r.price_cents;
    return ok(paged(c, rows, by, sort[0] === '-', (r) => VIEWS.booking(r, me)));
  },
});
on('GET /bookings/{id}', 'read booking', { run: (c) => show(c, 'booking', load(c, 'booking')) });
on('PATCH /bookings/{id}', 'update booking', { takes: true, run(c) {
  const row = load(c, 'booking'); precondition(c, 'booking', row, false);
  const sent = fieldsOf(c, 'booking', { patch: true, row }), party = sent.party ?? row.party;
  if (!COUNTED.has(row.state)) no('transition.illegal'); const slot = slots.get(row.slot);
  if (party.size > rooms.get(slot.room).seats && !bug('crowd-later')) own('too_many_players');
  if (bug('slot-moves') && slots.has(sent.slot)) row.slot = sent.slot; row.party = { name: party.name, size: party.size };
  if (!bug('price-stale')) row.price_cents = priceOf(slot, party, row.voucher && vouchers.get(row.voucher));
  return ok(VIEWS.booking(row, c.caller));
} });
step('POST /bookings/{id}/confirm', 'confirm booking', 'booking', ['held'], null, (row) => {
  const slot = slots.get(row.slot), voucher = row.voucher && vouchers.get(row.voucher);
  if (now() >= slot.$.start) own('too_late'); if (slot.state !== 'held') no('transition.illegal');
  if (voucher && voucher.state !== 'active') own('voucher_dead'); row.state = 'confirmed'; slot.state = 'booked';
  if (voucher) voucher.state = 'spent'; emit('booking.confirmed', 'booking', row);
});
step('POST /bookings/{id}/cancel', 'cancel booking', 'booking', ['held', 'confirmed'], null, (row) => {
  const slot = slots.get(row.slot), held = row.state === 'held';
  if (!held && now() >= (bug('cancel-by-end') ? slot.$.end : slot.$.start) - DAY) own('too_late'); row.state = 'cancelled';
  if (held || !bug('cancel-keeps-slot')) releaseSlot(slot); emit('booking.freed', 'booking', row);
});
step('POST /bookings/{id}/begin', 'begin booking', 'booking', ['confirmed'], null, (row, c) => {
  Object.assign(row, { state: 'playing', master: c.caller.id }); overrunAfter(row);
});
step('POST /bookings/{id}/hint', 'hint booking', 'booking', ['playing'], HINT, (row, c) => {
  row.hints_given++; row.last_hint = c.body.text; if (!bug('hint-no-restart')) overrunAfter(row);
});
step('POST /bookings/{id}/finish', 'finish booking', 'booking', ['playing'], FINISH, (row, c) => {
  row.state = c.body.solved ? 'escaped' : 'failed'; emit('booking.over', 'booking', row);
}, (row) => ({ booking: row.id, escaped: row.state === 'escaped', hints: row.hints_given }));

const propKey = (p) => p.room + '\n' + p.name;
on('POST /props', 'create prop', { takes: true, run(c) {
  const sent = fieldsOf(c, 'prop'); refer(c, 'room', sent.room);
  const row = { id: 'prp_' + ulid(), kind: 'padlock', ...sent, state: 'working', times_broken: 0 };
  if (!may('create prop', row, c.caller)) no('caller.forbidden'); if (propNames.has(propKey(row))) no('resource.exists');
  propNames.set(propKey(row), row.id); props.set(row.id, meta(row)); push(propsOf, row.room, row);
  return made('prop', row, c, 'props');
} });
on('GET /props', 'list prop', {
  params: (c) => ({ room: P.text, kind: filterText(VERSIONED[c.v].prop.fields.kind), state: P.oneOf(...STATES.prop), ...CURSOR }),
  page: readPage,
  run(c) {
    const f = c.filters, kind = f.kind === 'lock' ? 'padlock' : f.kind, rows = [];
    for (const r of f.room === undefined ? props.values() : propsOf.get(f.room) ?? NONE) {
      if (may('list prop', r, c.caller) && (!kind || r.kind === kind) && (!f.state || r.state === f.state)) rows.push(r);
    }
    return ok(paged(c, rows, (r) => r.name, false, (r) => VIEWS.prop(r, c.caller, c.v, 'list')));
  },
});
on('GET /props/{id}', 'read prop', { run: (c) => show(c, 'prop', load(c, 'prop')) });
on('PUT /props/{id}', 'replace prop', { takes: true, run(c) {
  const row = load(c, 'prop'); precondition(c, 'prop', row, false);
  const sent = fieldsOf(c, 'prop', { kept: new Set(['room']), row }), next = { room: row.room, kind: bug('kind-kept') ? row.kind : 'padlock', ...sent };
  if (next.name !== row.name) {
    if (propNames.has(propKey(next))) no('resource.exists'); propNames.delete(propKey(row));
    propNames.set(propKey(next), row.id);
  }
  Object.assign(row, { name: next.name, kind: next.kind });
  if (next.cost_cents === undefined) delete row.cost_cents; else row.cost_cents = next.cost_cents;
  return ok(VIEWS.prop(row, c.caller, c.v));
} });
step('POST /props/{id}/break', 'break prop', 'prop', ['working'], BREAK, (row, c) => {
  row.state = 'broken'; row.times_broken++;
  addIncident(row.room, `${row.name}: ${c.body.fault}`); emit('prop.broken', 'prop', row);
});
step('POST /props/{id}/repair', 'repair prop', 'prop', ['broken'], null, (row) => {
  row.state = 'in_repair';
  arm(row, 'mend', now() + 3 * DAY, () => { if (row.state === 'in_repair') row.state = 'working'; });
});

const quotas = new Map();
on('POST /vouchers', 'create voucher', { takes: true, run(c) {
  const sent = fieldsOf(c, 'voucher'), day = Math.floor(now() / DAY), q = quotas.get(c.caller.id);
  const used = q?.day === day || (bug('quota-stays') && q) ? q.used : 0;
  if (used >= 30) no('limit.quota', { headers: { 'Retry-After': String(Math.ceil(((day + 1) * DAY - now()) / 1000)) } });
  quotas.set(c.caller.id, { day, used: used + 1 });
  const row = meta({ id: randomUUID(), code: 'RID-' + random(8, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'), house: c.caller.house, ...sent, state: 'active' });
  vouchers.set(row.id, row); push(vouchersBy, row.holder, row); row.$.until = instant(row.valid_until);
  arm(row, 'expire', row.$.until, () => { if (row.state === 'active' || bug('spent-expires')) row.state = 'expired'; });
  return made('voucher', row, c, 'vouchers');
} });
on('GET /vouchers', 'list voucher', {
  since: 1,
  params: (c) => ({ ...(c.caller.user !== 'master' && { holder: filterText(SHAPES.voucher.fields.holder) }), state: P.oneOf(...STATES.voucher), ...CURSOR }),
  page: readPage,
  run(c) {
    const f = c.filters, holder = c.caller.user === 'guest' ? c.caller.id : f.holder, rows = [];
    for (const r of holder === undefined ? vouchers.values() : vouchersBy.get(holder) ?? NONE) {
      if (may('list voucher', r, c.caller) && (f.holder === undefined || r.holder === f.holder) && (!f.state || r.state === f.state)) rows.push(r);
    }
    return ok(paged(c, rows, (r) => r.$.until, false, (r) => VIEWS.voucher(r, c.caller, c.v, 'list')));
  },
});
on('GET /vouchers/{id}', 'read voucher', { run: (c) => ok(VIEWS.voucher(load(c, 'voucher'), c.caller, c.v, 'read')) });

on('POST /incidents', 'create incident', { takes: true, run(c) {
  const sent = fieldsOf(c, 'incident'); refer(c, 'room', sent.room);
  if (!may('create incident', sent, c.caller)) no('caller.forbidden');
  return made('incident', addIncident(sent.room, sent.text), c, 'incidents');
} });
on('GET /incidents', 'list incident', {
  params: () => ({ room: P.text, state: P.oneOf(...STATES.incident), page: (n, s) => s, size: (n, s) => s }),
  page(c) { c.page = { page: pageSize(c, 'page', 1, 1e15), size: pageSize(c, 'size', 5, 20, true) }; },
  run(c) {
    const f = c.filters, rows = [], { page, size } = c.page;
    for (const r of f.room === undefined ? incidents.values() : incidentsOf.get(f.room) ?? NONE) if (may('list incident', r, c.caller) && (!f.state || r.state === f.state)) rows.push(r);
    rows.reverse(); const part = rows.slice((page - 1) * size, page * size);
    return ok({ incidents: part.map(VIEWS.incident), total: rows.length });
  },
});
on('GET /incidents/{id}', 'read incident', { run: (c) => ok(VIEWS.incident(load(c, 'incident'))) });
step('POST /incidents/{id}/settle', 'settle incident', 'incident', ['open'], null, (row) => { row.state = 'settled'; });
on('DELETE /incidents/{id}', 'delete incident', { run(c) {
  const row = load(c, 'incident'); incidents.delete(row.id); drop(incidentsOf, row.room, row);
  gone.set(row.id, { row, at: now() }); at(now() + 7 * DAY, () => gone.delete(row.id)); return { status: 204 };
} });

on('POST /hooks', 'create hook', { takes: true, keyOnly: true, run(c) {
  const row = meta({ id: 'hok_' + ulid(), owner: c.caller.id, ...fieldsOf(c, 'hook'), secret: random(32), enabled: true });
  Object.assign(row.$, { maker: c.caller, v: c.v, lines: new Map(), failing: null, hold: 0 }); hooks.set(row.id, row);
  push(hooksBy, row.owner, row); return made('hook', row, c, 'hooks');
} });
on('GET /hooks/{id}', 'read hook', { keyOnly: true, run: (c) => ok(VIEWS.hook(load(c, 'hook'), c.caller, c.v, 'read')) });
on('DELETE /hooks/{id}', 'delete hook', { keyOnly: true, run(c) {
  const row = load(c, 'hook'); hooks.delete(row.id); drop(hooksBy, row.owner, row); row.$.deleted = true;
  return { status: 204 };
} });
on('GET /stream', 'stream events', { stream: true });

// ---------------------------------------------------------------- routes
const tree = new Map();
for (const e of Object.values(ENDPOINTS)) {
  if (bug('no-reopen') && e.op === 'reopen room') continue;
  const key = e.path.split('/').slice(1).map((s) => s[0] === '{' ? '*' : s).join('/');
  if (!tree.has(key)) tree.set(key, { methods: {}, names: [] }); const node = tree.get(key); node.methods[e.method] = e;
  e.names = e.path.split('/').slice(1).map((s) => s[0] === '{' ? s.slice(1, -1) : null);
}
function route(path) {
  if (!path.startsWith(BASE + '/')) return null; if (bug('slash-end') && path.endsWith('/')) path = path.slice(0, -1);
  const parts = path.slice(BASE.length + 1).split('/');
  const node = tree.get(parts.join('/')) ?? (parts.length > 1 && parts[1] && tree.get([parts[0], '*', ...parts.slice(2)].join('/')));
  return node ? { node, parts } : null;
}

// ---------------------------------------------------------------- callers
const people = JSON.parse(readFileSync(new URL('./stranger.json', import.meta.url))).callers;
const byKey = new Map(), byLogin = new Map(), same = new Map();
for (const p of people) {
  const name = p.user + '\n' + p.id, caller = { user: p.user, id: p.id, scopes: p.scopes, house: p.attributes.house, name };
  (p.scheme === 'key' ? byKey : byLogin).set(p.credential, caller);
}
const count = (raw, name) => { let n = 0; for (let i = 0; i < raw.length; i += 2) if (raw[i].toLowerCase() === name) n++; return n; };
function identify(c) {
  const { headers, rawHeaders } = c.req, given = [], keyOnly = c.e.keyOnly && !bug('hook-login');
  const challenge = (bad) => ({ 'WWW-Authenticate': [`ApiKey realm="Riddle House", in="header", name="X-House-Key"${bad ? ', error="invalid_key"' : ''}`, ...(keyOnly ? [] : ['Basic realm="Riddle House", charset="UTF-8"'])].join(', ') });
  const bad = () => no('caller.unknown', { headers: challenge(true) }); const key = headers['x-house-key'];
  if (key !== undefined) given.push((count(rawHeaders, 'x-house-key') === 1 && byKey.get(bug('key-case') ? key.toLowerCase() : key)) || bad());
  if (!keyOnly && headers.authorization !== undefined) {
    const m = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headers.authorization);
    const who = m && count(rawHeaders, 'authorization') === 1 && byLogin.get(Buffer.from(m[1], 'base64').toString());
    given.push(who || bad()); const site = headers['sec-fetch-site'], from = headers.origin;
    if (who && c.req.method !== 'GET' && c.req.method !== 'HEAD' && !ORIGINS.has(from) && (site ? site !== 'same-origin' && site !== 'none' : from !== undefined && from.replace(/^https?:\/\//, '') !== headers.host)) c.elsewhere = true;
  }
  if (!given.length) {
    if (!c.e.open && !RULES[c.op].some((r) => !r.to)) no('caller.unknown.missing', { headers: challenge(false) });
    return null;
  }
  if (given.length > 1) {
    if (given[0].name !== given[1].name) bad();
    return { ...given[0], scopes: [...new Set([...given[0].scopes, ...given[1].scopes])] };
  }
  return given[0];
}

// ---------------------------------------------------------------- rates
const fixed = new Map(), sliding = new Map(), buckets = new Map();
function rates(c) {
  const t = now(), who = c.caller ? c.caller.name : '@' + c.address, told = [], refused = []; let w = fixed.get(who);
  if (!w || t >= w.from + MIN) fixed.set(who, w = { from: t, n: 0 }); const reset = Math.ceil((w.from + MIN - t) / 1000);
  if (w.n >= 1200) refused.push([1200, reset]); else told.push([1200, 1199 - w.n, reset]); let list, bucket;
  if (c.op === 'hint booking') {
    const limit = bug('thirteen-hints') ? 13 : 12;
    sliding.set(who, list = (sliding.get(who) ?? []).filter((x) => x > t - 10e3));
    if (list.length >= limit) refused.push([limit, Math.ceil((list[0] + 10e3 - t) / 1000)]); else told.push([12, 11 - list.length, list.length ? Math.ceil((list[0] + 10e3 - t) / 1000) : 10]);
  }
  if (!c.caller) {
    bucket = buckets.get(c.address); if (!bucket) buckets.set(c.address, bucket = { has: 400, t });
    bucket.has = Math.min(400, bucket.has + (t - bucket.t) / 200); bucket.t = t;
    if (bucket.has < 1) refused.push([300, Math.ceil((1 - bucket.has) * 0.2)]); else told.push([300, Math.floor(bucket.has - 1), 1]);
  }
  if (refused.length) {
    const [limit, wait] = refused.sort((a, b) => b[1] - a[1])[0];
    c.headers['X-RateLimit-Limit'] = String(limit); c.headers['X-RateLimit-Remaining'] = '0'; c.headers['X-RateLimit-Reset'] = String(wait);
    no('limit.rate', { headers: { 'Retry-After': String(wait) } });
  }
  w.n++; list?.push(t); if (bucket) bucket.has--; const [limit, left, when] = told.sort((a, b) => a[1] - b[1])[0];
  c.headers['X-RateLimit-Limit'] = String(limit); c.headers['X-RateLimit-Remaining'] = String(left); c.headers['X-RateLimit-Reset'] = String(when);
}

// ---------------------------------------------------------------- one request
const kept = new Map();
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const unplus = (s) => { try { return decodeURIComponent(s.replaceAll('+', ' ')); } catch { return badParam(s.slice(0, 60), s.slice(0, 60), 'percent-encoding'); } };
function parameters(c) {
  const specs = c.e.params(c); c.query = new Map(); c.filters = {};
  for (const pair of c.search ? c.search.split('&') : []) {
    if (!pair) continue;
    const i = pair.indexOf('='), name = unplus(i < 0 ? pair : pair.slice(0, i)), value = i < 0 ? '' : unplus(pair.slice(i + 1));
    if (!Object.hasOwn(specs, name)) badParam(name, value, 'no such parameter');
    if (c.query.has(name)) badParam(name, value, 'one value'); c.query.set(name, value);
    c.filters[name] = specs[name](name, value);
  }
  c.e.page?.(c);
}
function accepts(header, type) {
  if (header === undefined) return true; const [main] = type.split('/'); let best = -1, found = 0;
  for (const part of header.split(',')) {
    const [range, ...rest] = part.trim().toLowerCase().split(';').map((s) => s.trim());
    const rank = range === type ? 2 : range === main + '/*' ? 1 : range === '*/*' ? 0 : -1; if (rank <= best) continue;
    best = rank; const q = rest.find((r) => r.startsWith('q=')); found = q ? Number(q.slice(2)) : 1;
  }
  return best >= 0 && found > 0;
}
function bodyOf(c) {
  if (c.raw === null) return no('limit.size'); if (!c.e.takes) return; if (!c.raw.length) no('request.malformed');
  const type = (c.req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  if (type !== 'application/json' && !(c.e.method === 'PATCH' && type === 'application/merge-patch+json')) no('request.media');
  try { c.body = JSON.parse(UTF8.decode(c.raw)); } catch { no('request.malformed'); }
}
function userMay(c) {
  if (c.elsewhere) no('caller.forbidden');
  if (!c.e.open && !RULES[c.op].some((r) => fits(r, c.caller))) no('caller.forbidden');
}
/** the keys of idempotency: what was answered is answered again */
function once(c) {
  const key = c.e.method === 'POST' && c.req.headers['idempotency-key']; if (!key) return c.e.run(c);
  const name = [c.caller.name, c.op, key].join('\n'), print = createHash('sha1').update([c.req.url, c.v].join('\n') + '\n').update(c.raw).digest('base64'), was = kept.get(name);
  if (was && now() < was.until) {
    if (was.print !== print && !(bug('key-any-body') && c.op === 'create booking')) no('idempotency.reused');
    return was.answer;
  }
  const keep = (answer) => { kept.set(name, { print, answer, until: now() + DAY }); at(now() + DAY, () => { if (kept.get(name)?.until <= now()) kept.delete(name); }); };
  try {
    const a = c.e.run(c); keep(a.again ? { ...a, body: a.again() } : a); return a;
  } catch (e) {
    if (e.own) keep({ status: e.status, body: errorBody(e, c), headers: {} }); throw e;
  }
}
const errorBody = (e, c) => ({ error: { code: e.code, status: e.status, message: e.message, ...(!(bug('no-trace') && e.status === 403) && { trace: c.trace }), ...(e.violations?.length && { problems: e.violations }) } });
function versionOf(c) {
  const given = c.req.headers['riddle-version']; if (given === undefined) return; const v = VERSIONS.indexOf(given);
  if (v < 0) { if (bug('version-any')) return; no('version.unknown'); }
  c.v = v; if (v === 0 && now() >= Date.UTC(2028, 9, 1)) no('version.sunset');
}
function answer(c) {
  const { req } = c; if (req.url.length > 2048) no('limit.size'); let size = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) size += req.rawHeaders[i].length + req.rawHeaders[i + 1].length + 4;
  if (size > 8192) no('limit.size'); const q = req.url.indexOf('?'), path = q < 0 ? req.url : req.url.slice(0, q);
  c.search = q < 0 ? '' : req.url.slice(q + 1); const found = route(path); if (!found) no('route.unknown');
  const { methods } = found.node, verbs = () => { const l = Object.keys(methods).filter((m) => !((methods[m].since ?? 0) > c.v)); if (l.includes('GET') && !methods.GET.stream) l.push('HEAD'); return [...l, 'OPTIONS'].join(', '); };
  if (req.method === 'OPTIONS') {
    const headers = { Allow: verbs() };
    if (req.headers['access-control-request-method'] && ORIGINS.has(req.headers.origin)) Object.assign(headers, { 'Access-Control-Allow-Methods': verbs(), 'Access-Control-Allow-Headers': req.headers['access-control-request-headers'] ?? '*', 'Access-Control-Max-Age': '600' });
    return { status: 204, headers };
  }
  c.e = methods[req.method === 'HEAD' && !methods.GET?.stream ? 'GET' : req.method];
  if (!c.e) no('method.unsupported', { headers: { Allow: verbs() } }); versionOf(c);
  if ((c.e.since ?? 0) > c.v) no('method.unsupported', { headers: { Allow: verbs() } }); c.op = c.e.op; c.params = {};
  c.e.names.forEach((n, i) => { if (n) try { c.params[n] = decodeURIComponent(found.parts[i]); } catch { c.params[n] = ''; } });
  c.caller = c.e.open ? null : identify(c); rates(c); if (bug('user-first')) userMay(c); parameters(c); userMay(c);
  if (!accepts(req.headers.accept, 'application/json') && !(c.e.stream && accepts(req.headers.accept, 'text/event-stream'))) no('request.accept');
  bodyOf(c); if (c.e.stream) return { stream: true }; return once(c);
}
const SUNSET = new Date(Date.UTC(2028, 9, 1)).toUTCString();
function common(c) {
  const h = { 'X-Trace': c.trace, 'Riddle-Version': VERSIONS[c.v], Vary: 'Riddle-Version, X-House-Key, Authorization, Origin', ...c.headers };
  if (c.v === 0 && !(bug('no-deprecation') && c.failed)) {
    h.Deprecation = '@' + Date.UTC(2025, 9, 1) / 1000; h.Sunset = SUNSET;
    h.Link = `<https://riddlehouse.example/upgrade>; rel="deprecation", <${c.req.url.slice(0, 2048)}>; rel="successor-version"`;
  }
  if (ORIGINS.has(c.req.headers.origin)) {
    h['Access-Control-Allow-Origin'] = c.req.headers.origin;
    h['Access-Control-Expose-Headers'] = 'X-Trace, Riddle-Version, ETag, Location, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Deprecation, Sunset, Link, Allow, WWW-Authenticate';
  }
  return h;
}
function respond(req, res, raw) {
  pump();
  const c = { req, raw, v: CURRENT, headers: {}, trace: 'req_' + randomBytes(9).toString('base64url'), address: req.socket.remoteAddress };
  let a;
  try { a = answer(c); } catch (e) {
    if (!(e instanceof Refusal)) { console.error(e); e = new Refusal('failed', 500, 'Something went wrong.'); }
    c.failed = true; a = { status: e.status, body: errorBody(e, c), headers: e.headers };
  }
  if (a.stream) return stream(c, res); const headers = { ...common(c), ...a.headers };
  if (a.body === undefined) { res.writeHead(a.status, headers); return res.end(); }
  const text = JSON.stringify(a.body); headers['Content-Type'] = 'application/json';
  headers['Content-Length'] = Buffer.byteLength(text); res.writeHead(a.status, headers);
  res.end(req.method === 'HEAD' ? undefined : text);
}
function stream(c, res) {
  res.writeHead(200, { ...common(c), 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }); res.write(':\n\n');
  const reader = { caller: c.caller, send: (e) => res.write(`id: ${e.id}\nevent: ${e.kind}\ndata: ${e.tell(c.caller, c.v)}\n\n`) }, last = c.req.headers['last-event-id'];
  if (last !== undefined) {
    const fresh = history.filter((e) => e.ms >= now() - HOUR);
    for (const e of fresh.slice(fresh.findIndex((x) => x.id === last) + 1)) if (mayRead(e.res, e.row, c.caller)) reader.send(e);
  }
  readers.add(reader); const beat = setInterval(() => res.write(':\n\n'), 15e3);
  res.on('close', () => { clearInterval(beat); readers.delete(reader); });
}
const LIMIT = bug('body-8191') ? 8191 : 8192;
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 10e3, headersTimeout: 10e3, connectionsCheckingInterval: 1000, keepAliveTimeout: 60e3 }, (req, res) => {
  let size = 0; const parts = []; req.on('data', (d) => { size += d.length; if (size <= LIMIT) parts.push(d); });
  req.on('end', () => respond(req, res, size > LIMIT ? null : Buffer.concat(parts)));
});
server.on('clientError', (e, socket) => {
  if (!socket.writable) return socket.destroy();
  const [code, status] = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? ['failed', 503] : e.code === 'HPE_HEADER_OVERFLOW' ? ['too_large', 413] : ['unreadable', 400];
  const trace = 'req_' + randomBytes(9).toString('base64url'), body = JSON.stringify({ error: { code, status, message: http.STATUS_CODES[status], trace } });
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Trace: ${trace}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
});

// ---------------------------------------------------------------- the door of the clock
function later(text) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!m || text.length < 3 || text.endsWith('T')) return NaN;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((x) => Number(x ?? 0)), t = new Date(now()), day = t.getUTCDate();
  t.setUTCDate(1); t.setUTCMonth(t.getUTCMonth() + mo + 12 * y);
  t.setUTCDate(Math.min(day, new Date(Date.UTC(t.getUTCFullYear(), t.getUTCMonth() + 1, 0)).getUTCDate()));
  return t.getTime() + (w * 7 + d) * DAY + h * HOUR + mi * MIN + Math.round(s * 1000);
}
const door = http.createServer((req, res) => {
  let text = ''; req.on('data', (d) => { text += d; });
  req.on('end', async () => {
    const say = (status, body) => { res.writeHead(status, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(body)); };
    if (req.method === 'GET') return say(200, { now: iso(now()) }); let to = NaN;
    try {
      const b = JSON.parse(text);
      to = req.method !== 'POST' || Object.keys(b).length !== 1 ? NaN : typeof b.advance === 'string' ? later(b.advance) : typeof b.now === 'string' ? instant(b.now) : NaN;
    } catch { /* 400 */ }
    if (Number.isNaN(to)) return say(400, { error: 'advance or now' });
    if (to < now()) return say(422, { error: 'the clock goes forward alone' }); await moveTo(to);
    say(200, { now: iso(now()) });
  });
});
server.listen(Number(arg('port') ?? 0), '127.0.0.1', () => console.log(`riddle house on ${server.address().port}`));
if (arg('clock-port') !== undefined) door.listen(Number(arg('clock-port')), '127.0.0.1');
