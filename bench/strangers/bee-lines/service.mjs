// Bee Lines: sailings, bookings, freight slips and watches of remote islands. Standard library only, in memory.
import http from 'node:http';
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

const argv = process.argv.slice(2);
const arg = (n, d) => { const i = argv.indexOf('--' + n); return i < 0 ? d : argv[i + 1]; };
const PORT = Number(arg('port', 8080)), DOOR = Number(arg('clock-port', 8081)), FAULT = arg('fault', '');
const F = (id) => FAULT === id;
const BASE = '/quay';

// ---- clock ---------------------------------------------------------------------------------------------------
let ahead = Date.parse('2031-03-03T07:00:00Z') - Date.now();
let frozen = null; // while the door moves time step by step
const now = () => frozen ?? Date.now() + ahead;
const iso = (ms) => new Date(ms).toISOString();
const MIN = 60e3, HOUR = 3600e3, DAY = 86400e3;

// ---- callers -------------------------------------------------------------------------------------------------
const CALLERS = [
  ['traveller', 'tova', 'badge', 'badge_tovakQ7vB2xT9mZ4cW8pL5sD3f01', [], 'skag'],
  ['traveller', 'tarn', 'pass', 'pass_tarnkQ7vB2xT9mZ4cW8pL502', [], 'skag'],
  ['traveller', 'tilde', 'badge', 'badge_tildekQ7vB2xT9mZ4cW8pL5sD303', [], 'brim'],
  ['traveller', 'tilde', 'pass', 'pass_tildekQ7vB2xT9mZ4cW8pL03', [], 'brim'],
  ['shipper', 'sela', 'badge', 'badge_selakQ7vB2xT9mZ4cW8pL5sD3f04', ['freight'], 'skag'],
  ['shipper', 'sten', 'pass', 'pass_stenkQ7vB2xT9mZ4cW8pL505', ['freight'], 'skag'],
  ['shipper', 'siri', 'badge', 'badge_sirikQ7vB2xT9mZ4cW8pL5sD3f06', ['freight'], 'brim'],
  ['shipper', 'solo', 'badge', 'badge_solokQ7vB2xT9mZ4cW8pL5sD3f07', [], 'skag'],
  ['mate', 'mikkel', 'badge', 'badge_mikkelkQ7vB2xT9mZ4cW8pL5sD08', [], 'skag'],
  ['mate', 'mona', 'badge', 'badge_monakQ7vB2xT9mZ4cW8pL5sD3f09', [], 'skag'],
  ['mate', 'mona', 'pass', 'pass_monakQ7vB2xT9mZ4cW8pL509', [], 'skag'],
  ['mate', 'milo', 'badge', 'badge_milokQ7vB2xT9mZ4cW8pL5sD3f10', [], 'brim'],
  ['harbourmaster', 'hedda', 'badge', 'badge_heddakQ7vB2xT9mZ4cW8pL5sD311', [], 'skag'],
  ['harbourmaster', 'hakon', 'pass', 'pass_hakonkQ7vB2xT9mZ4cW8pL12', [], 'brim'],
  ['harbourmaster', 'hilde', 'badge', 'badge_hildekQ7vB2xT9mZ4cW8pL5sD313', [], 'skag'],
].map(([user, id, scheme, credential, scopes, isle]) => ({ user, id, scheme, credential, scopes, isle }));

// ---- errors --------------------------------------------------------------------------------------------------
const CODES = {
  garbled: [400, 'The body could not be read.'], wrong_cargo: [415, 'Bodies come as JSON.'], odd_flag: [400, 'A parameter is not as it is stated.'],
  gap: [422, '{name} is missing'], stowaway: [422, '{name} is not known here'], misfit: [422, 'The body does not fit.'],
  no_colours: [401, 'Show a badge or a pass.'], false_colours: [401, 'That badge or pass is not good.'], barred: [403, 'That is not for you.'],
  wrong_ticket: [403, 'That takes a scope that you lack.'], not_on_watch: [403, 'You do not stand a watch on that sailing.'],
  lost_at_sea: [404, 'There is nothing here.'], sunk: [410, 'That was here once.'], no_such_berth: [422, 'What that refers to is not there.'],
  moored_fast: [409, 'Something still refers to that.'], wrong_rope: [405, 'Not by that method.'], name_taken: [409, 'That is there already.'],
  wrong_watch: [409, 'Not in the state that it is in.'], not_cleared: [409, 'Customs has not cleared that.'], tide_shut: [409, 'The tide window is shut.'],
  already_sailed: [409, 'It has sailed or is off.'], too_late: [409, 'It is too late for that.'], sold_out: [409, 'Not that many berths are left.'],
  voucher_declined: [402, 'The voucher was declined.'], tide_gone: [422, 'That tide is over.'], not_bookable: [409, 'That sailing takes no bookings.'],
  too_heavy: [422, 'Flammable goods go in lots of half a ton.'], drifted: [412, 'It has changed since.'], no_anchor: [428, 'Send If-Match.'],
  key_twice: [409, 'That key was used for something else.'], key_busy: [409, 'Ask again in a moment.'], slow_down: [429, 'Too many in this time.'],
  no_more_today: [429, 'There is no more of that.'], overloaded: [413, 'That is too large.'], long_name: [414, 'That address is too long.'],
  top_heavy: [431, 'Those header fields are too large.'], becalmed: [408, 'That took too long.'], storm: [503, 'Not now.'], leak: [500, 'Something broke here.'],
  old_chart: [410, 'That version is over.'], no_chart: [400, 'There is no such version.'],
};
if (F('x-declined-status')) CODES.voucher_declined[0] = 400;
class Refusal extends Error {
  constructor(code, more = {}) { super(code); this.code = code; Object.assign(this, more); }
}
const no = (code, more) => { throw new Refusal(code, more); };
const OWN = new Set(['tide_shut', 'already_sailed', 'too_late', 'sold_out', 'voucher_declined', 'tide_gone', 'not_bookable', 'too_heavy']);

// ---- resources -----------------------------------------------------------------------------------------------
const S = (o = {}) => ({ t: 'string', ...o }), I = (o = {}) => ({ t: 'integer', ...o }), T = (o = {}) => ({ t: 'string', format: 'date-time', ...o });
const RES = {
  line: { id: 'code', f: {
    code: S({ pattern: /^[a-z]{2,5}-[0-9]{1,3}$/u, req: 1, ident: 1 }), name: S({ minL: 3, maxL: F('r-name-length') ? 61 : 60, req: 1 }),
    kind: S({ enum: ['ferry', 'cable_car'], imm: 1, req: 1 }), home: S({ ro: 1, req: 1 }), fare: I({ min: 0, max: 100000, def: 900, req: 1 }), blurb: S({ maxL: 240 }) } },
  sailing: { id: 'id', f: {
    id: I({ ro: 1, req: 1 }), line: { t: 'ref', to: 'line', imm: 1, req: 1 }, vessel: S({ minL: 2, maxL: 40, req: 1 }), departs_at: T({ req: 1 }),
    tide: { t: 'value', of: 'tide', req: 1 }, berths: I({ min: 1, max: 400, req: 1 }), berths_left: I({ ro: 1, req: 1 }), state: S({ ro: 1, req: 1, enum: ['planned', 'boarding', 'underway', 'scrubbed'] }),
    reason: S({ ro: 1 }), sailed_at: T({ ro: 1 }) } },
  tide: { f: { opens_at: T({ req: 1 }), closes_at: T({ req: 1 }) } },
  passenger: { f: { name: S({ minL: 1, maxL: 60, req: 1 }), cabin: S({ enum: ['deck', 'berth', 'suite'], def: F('r-cabin-default') ? 'berth' : 'deck', req: 1 }) } },
  booking: { id: 'id', f: {
    id: S({ ro: 1, req: 1 }), number: I({ ro: 1, req: 1 }), sailing: { t: 'ref', to: 'sailing', imm: 1, req: 1 }, traveller: S({ ro: 1, req: 1 }),
    passengers: { t: 'array', items: { t: 'value', of: 'passenger' }, min: 1, max: 6, req: 1 }, berths: I({ ro: 1, req: 1 }), price: I({ ro: 1, req: 1, vis: ['traveller', 'harbourmaster'] }),
    pin: S({ pattern: /^[0-9]{4}$/u, wo: 1 }), state: S({ ro: 1, req: 1, enum: ['held', 'paid', 'declined', 'released', 'lapsed', 'annulled'] }) } },
  slip: { id: 'id', f: {
    id: S({ ro: 1, req: 1 }), number: S({ ro: 1, req: 1 }), sailing: { t: 'ref', to: 'sailing', imm: 1, req: 1 }, shipper: S({ ro: 1, req: 1 }), isle: S({ ro: 1, req: 1 }),
    goods: S({ minL: 2, maxL: 80, req: 1 }), weight: I({ min: 1, max: 9000000, req: 1 }), hazard: S({ enum: ['plain', 'flammable', 'livestock'], def: 'plain', req: 1 }),
    remarks: S({ maxL: 200, vis: ['harbourmaster'], wr: ['harbourmaster'] }), stage: S({ ro: 1, req: 1, enum: ['filed', 'accepted', 'loaded', 'withdrawn'] }),
    customs: S({ ro: 1, req: 1, enum: ['unseen', 'cleared'] }), touched_at: T({ ro: 1, req: 1 }) } },
  watch: { id: 'id', f: {
    id: S({ ro: 1, req: 1 }), sailing: { t: 'ref', to: 'sailing', imm: 1, req: 1 }, mate: S({ imm: 1, minL: 1, maxL: 40, wr: ['harbourmaster'], req: 1 }),
    post: S({ enum: ['bridge', 'engine', 'deck', 'winch'], wr: ['harbourmaster'], req: 1 }), duty: S({ enum: ['rostered', 'standing', 'relieved'], state: 1, req: 1 }) } },
  hook: { id: 'id', f: {
    id: S({ ro: 1, req: 1 }), owner: S({ ro: 1, req: 1 }), url: S({ format: 'uri', maxL: 300, req: 1 }), kinds: { t: 'array', items: { t: 'string', kind: 1 }, max: 12 },
    secret: S({ ro: 1, req: 1, once: 1 }), live: { t: 'boolean', def: true, req: 1 } } },
};
// what a resource looks like in a version: [name there, stored name (null: gone since), definition]
const VERSIONS = ['ebb', 'slack', 'flood'];
function fieldsIn(res, v) {
  const out = [];
  for (const [n, d] of Object.entries(RES[res].f)) {
    if (v !== 'flood' && res === 'line' && n === 'fare') continue;
    if (v === 'ebb' && res === 'sailing' && n === 'vessel') { out.push(['ship', n, d]); continue; }
    if (v === 'ebb' && res === 'slip' && n === 'weight') { out.push([n, n, { t: 'number', min: 0.001, max: 9000, req: 1, mapped: 1 }]); continue; }
    if (v !== 'flood' && res === 'slip' && n === 'hazard') { out.push([n, n, { ...d, enum: ['harmless', 'flammable', 'livestock'], def: 'harmless' }]); continue; }
    out.push([n, n, d]);
  }
  if (v !== 'flood' && res === 'watch') out.push(['shift', null, { t: 'string' }]);
  return out;
}
const roundAway = (x) => Math.sign(x) * Math.round(Math.abs(x));
const up = (res, n, val, v) => {
  if (res === 'slip' && n === 'weight' && v === 'ebb') return F('n-weight-floor') ? Math.floor(val * 1000) : roundAway(val * 1000);
  if (res === 'slip' && n === 'hazard' && v !== 'flood' && val === 'harmless') return 'plain';
  return val;
};
const down = (res, n, val, v) => {
  if (res === 'slip' && n === 'weight' && v === 'ebb') return val / 1000;
  if (res === 'slip' && n === 'hazard' && v !== 'flood' && val === 'plain') return 'harmless';
  return val;
};

// ---- store ---------------------------------------------------------------------------------------------------
const DB = { line: new Map(), sailing: new Map(), booking: new Map(), slip: new Map(), watch: new Map(), hook: new Map() };
let seq = 0, sailingNo = 0, slipNo = 0;
const bookingNo = new Map();
const alive = (row) => row && row.gone === undefined;
const get = (res, id) => { const r = DB[res].get(id); return alive(r) ? r : undefined; };
const all = (res) => [...DB[res].values()].filter(alive);
const findWatch = (sailing, mate) => all('watch').find((w) => w.f.sailing === sailing && w.f.mate === mate);
const homeOf = (sailingId) => get('line', get('sailing', sailingId)?.f.line)?.f.home;
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (n) => { let s = ''; while (s.length < n) for (const b of randomBytes(n * 2)) if (b < 248 && s.length < n) s += ALNUM[b % 62]; return s; };
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
function ulid() {
  let t = now(), s = '';
  for (let i = 0; i < 10; i++) { s = B32[t % 32] + s; t = Math.floor(t / 32); }
  for (const b of randomBytes(16)) s += B32[b % 32];
  return s;
}
function berthsLeft(s) {
  let used = 0;
  for (const b of all('booking')) if (b.f.sailing === s.f.id && (b.f.state === 'paid' || (F('r-berths-held') && b.f.state === 'held'))) used += b.f.berths;
  return s.f.berths - used;
}

// ---- who may do what -----------------------------------------------------------------------------------------
const HM = 'harbourmaster', isleOfSailing = (r, c) => homeOf(r.f.sailing) === c.isle;
const RULES = [
  { allow: ['list line', 'read line'], to: null },
  { allow: ['upsert line'], to: [HM], next: (n, c) => n.home === c.isle },
  { allow: ['update line', 'delete line'], to: [HM], row: (r, c) => r.f.home === c.isle },
  { allow: ['list sailing', 'read sailing'], to: ['traveller', 'shipper', 'mate', HM] },
  { allow: ['create sailing'], to: [HM], next: (n, c) => get('line', n.line)?.f.home === c.isle },
  { allow: ['update sailing', 'board sailing', 'scrub sailing', 'cast_off sailing'], to: [HM], row: (r, c) => get('line', r.f.line)?.f.home === c.isle },
  { allow: ['cast_off sailing'], to: ['mate'], row: (r, c) => { const w = findWatch(r.f.id, c.id); return !!w && (F('a-castoff-any-duty') || w.f.duty === 'standing'); }, else: 'not_on_watch' },
  { allow: ['create booking'], to: ['traveller'] },
  { allow: ['list booking', 'read booking', 'settle booking', 'release booking'], to: ['traveller'], row: (r, c) => r.f.traveller === c.id },
  { allow: ['list booking', 'read booking'], to: ['mate'], row: (r, c) => (F('a-manifest-isle') ? isleOfSailing(r, c) : !!findWatch(r.f.sailing, c.id)) },
  { allow: ['list booking', 'read booking', 'release booking'], to: [HM], row: isleOfSailing },
  { allow: ['create slip'], to: ['shipper'], scopes: ['freight'] },
  { allow: F('a-lookup-any-isle') ? ['list slip', 'read slip'] : ['list slip', 'read slip', 'look up slip'], to: ['shipper'], row: (r, c) => r.f.isle === c.isle },
  ...(F('a-lookup-any-isle') ? [{ allow: ['look up slip'], to: ['shipper'] }] : []),
  { allow: ['update slip', 'withdraw slip'], to: ['shipper'], scopes: F('a-scope-skipped') ? undefined : ['freight'], row: (r, c) => r.f.shipper === c.id },
  { allow: ['list slip', 'read slip', 'look up slip', 'update slip', 'accept slip', 'load slip', 'clear slip'], to: [HM], row: isleOfSailing },
  { allow: ['create watch'], to: [HM], next: (n, c) => homeOf(n.sailing) === c.isle },
  { allow: ['read watch', 'update watch', 'delete watch'], to: [HM], row: isleOfSailing },
  { allow: ['read watch', 'update watch'], to: ['mate'], row: (r, c) => r.f.mate === c.id },
  { allow: ['create hook'], to: ['traveller', 'shipper', HM] },
  { allow: ['list hook', 'read hook', 'update hook', 'delete hook'], to: ['traveller', 'shipper', HM], row: (r, c) => r.f.owner === c.id },
];
const rulesFor = (op, c) => RULES.filter((r) => r.allow.includes(op) && (r.to === null || (c && r.to.includes(c.user))));
const scoped = (r, c) => !r.scopes || r.scopes.every((s) => c.scopes.includes(s));
const passes = (op, c, row) => rulesFor(op, c).some((r) => scoped(r, c) && (!r.row || r.row(row, c)));
const mayRead = (res, row, c) => passes('read ' + res, c, row) || (res === 'slip' && passes('look up slip', c, row) && !F('a-lookup-any-isle'));

// ---- representations -----------------------------------------------------------------------------------------
function show(res, row, c, v, { once = false } = {}) {
  const out = {};
  for (const [name, stored, d] of fieldsIn(res, v)) {
    if (stored === null) { out[name] = 'long'; continue; }
    if (d.wo) continue;
    if (d.once && !once) continue;
    if (d.vis && !(c && d.vis.includes(c.user)) && !(F('r-price-mate') && name === 'price')) continue;
    let val = stored === 'berths_left' ? berthsLeft(row) : row.f[stored];
    if (val === undefined) continue;
    out[name] = down(res, stored, val, v);
  }
  return out;
}
const hash = (...x) => createHash('sha256').update(JSON.stringify(x)).digest('base64url').slice(0, 22);
const tagOf = (res, row, c, v) => hash(res, v, show(res, row, c, v));

// ---- validation ----------------------------------------------------------------------------------------------
const DT = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function isDateTime(s) {
  const m = DT.exec(s);
  if (!m) return false;
  const [y, mo, d, h, mi, se] = m.slice(1, 7).map(Number);
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(y, mo, 0)).getUTCDate() || h > 23 || mi > 59 || se > 59) return false;
  if (!/z/i.test(m[8])) { const [oh, om] = m[8].slice(1).split(':').map(Number); if (oh > 23 || om > 59) return false; }
  return !Number.isNaN(Date.parse(s));
}
const isUri = (s) => /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*$/.test(s) && !/%(?![0-9A-Fa-f]{2})/.test(s) && URL.canParse(s);
const KINDS = ['sailing.announced', 'sailing.left', 'sailing.scrubbed', 'booking.held', 'booking.paid', 'booking.ended', 'slip.handled', 'tide.turning'];
const knownKind = (k) => k === '*' || KINDS.includes(k) || (k.endsWith('.*') && KINDS.some((x) => x.startsWith(k.slice(0, -1))));
const len = (s) => [...s].length;
const told = (x) => { const s = x === undefined ? 'nothing' : JSON.stringify(x); return s.length > 200 ? s.slice(0, 199) + '…' : s; };
const bad = (path, kind, found, expected) => ({ path, kind, found: told(found), expected });
const isMap = (x) => x !== null && typeof x === 'object' && !Array.isArray(x);

function checkValue(d, val, path, out) { // pushes violations; gives the value as it would be stored
  const wrong = (kind, expected) => { out.push(bad(path, kind, val, expected)); return undefined; };
  if (val === null) return wrong('type', 'a value');
  switch (d.t) {
    case 'string': {
      if (typeof val !== 'string') return wrong('type', 'a text');
      if (d.enum && !d.enum.includes(val)) return wrong('value', 'one of ' + d.enum.join(', '));
      if (d.minL !== undefined && len(val) < d.minL) return wrong('value', `at least ${d.minL} characters`);
      if (d.maxL !== undefined && len(val) > d.maxL) return wrong('value', `at most ${d.maxL} characters`);
      if (d.pattern && !d.pattern.test(val)) return wrong('value', 'a text of the form ' + d.pattern.source);
      if (d.format === 'date-time' && !isDateTime(val)) return wrong('value', 'a date-time');
      if (d.format === 'uri' && (!isUri(val) || !/^https?:\/\//i.test(val))) return wrong('value', 'an address of the web');
      if (d.kind && !knownKind(val)) return wrong('value', 'a kind of event');
      return val;
    }
    case 'integer': case 'number': {
      if (typeof val !== 'number' || (d.t === 'integer' && !Number.isInteger(val))) return wrong('type', d.t === 'integer' ? 'a whole number' : 'a number');
      if (d.min !== undefined && val < d.min) return wrong('value', `at least ${d.min}`);
      if (d.max !== undefined && val > d.max) return wrong('value', `at most ${d.max}`);
      return val;
    }
    case 'boolean': return typeof val === 'boolean' ? val : wrong('type', 'true or false');
    case 'ref': {
      if (d.to === 'sailing') return Number.isInteger(val) ? val : wrong('type', 'the identifier of a sailing');
      if (typeof val !== 'string') return wrong('type', 'the identifier of a line');
      return RES.line.f.code.pattern.test(val) ? val : wrong('value', 'the identifier of a line');
    }
    case 'array': {
      if (!Array.isArray(val)) return wrong('type', 'a list');
      if (d.min !== undefined && val.length < d.min) return wrong('value', `at least ${d.min} items`);
      if (d.max !== undefined && val.length > d.max) return wrong('value', `at most ${d.max} items`);
      return val.map((x, i) => checkValue(d.items, x, `${path}.${i}`, out));
    }
    case 'value': {
      if (!isMap(val)) return wrong('type', 'a map');
      const f = RES[d.of].f, made = {};
      for (const k of Object.keys(val)) {
        if (!Object.hasOwn(f, k)) { out.push(bad(`${path}.${k}`, 'unknown', val[k], 'no such field')); continue; }
        made[k] = checkValue(f[k], val[k], `${path}.${k}`, out);
      }
      for (const [k, fd] of Object.entries(f)) if (!Object.hasOwn(val, k)) {
        if (fd.def !== undefined) made[k] = fd.def;
        else if (fd.req) out.push(bad(`${path}.${k}`, 'missing', undefined, 'a value'));
      }
      return made;
    }
  }
}
function refuseInvalid(v) {
  if (!v.length) return;
  const first = F('x-missing-first') ? v.find((x) => x.kind === 'missing') ?? v[0] : v[0];
  const code = first.kind === 'missing' ? 'gap' : first.kind === 'unknown' ? 'stowaway' : 'misfit';
  const path = (p) => (F('x-pointer-paths') ? (p === '' ? '' : '/' + p.replaceAll('.', '/')) : p);
  no(code, { name: first.path, marks: v.map((x) => ({ in: x.in ?? 'body', path: path(x.path), found: x.found, expected: x.expected })) });
}
const mergePatch = (a, b) => {
  if (!isMap(b)) return b;
  const out = isMap(a) ? { ...a } : {};
  for (const [k, x] of Object.entries(b)) if (x === null) delete out[k]; else out[k] = mergePatch(out[k], x);
  return out;
};
const same = (a, b) => JSON.stringify(canon(a)) === JSON.stringify(canon(b));
const canon = (x) => (Array.isArray(x) ? x.map(canon) : isMap(x) ? Object.fromEntries(Object.keys(x).sort().map((k) => [k, canon(x[k])])) : x);

// mode: create | update | replace. Gives the fields as they would be stored (without what is set).
function take(res, v, body, mode, c, row, bound, opts = {}) {
  const out = [];
  if (!isMap(body)) { out.push(bad('', 'type', body, 'a map')); refuseInvalid(out); }
  const fields = fieldsIn(res, v), byName = new Map(fields.map((x) => [x[0], x]));
  const next = mode === 'create' ? {} : { ...row.f };
  const cantWrite = (d, n) => d.ro || (d.wr && !d.wr.includes(c.user)) || (d.state && mode !== 'update');
  const sent = new Set();
  for (const name of Object.keys(body)) {
    const entry = byName.get(name);
    if (!entry) { out.push(bad(name, 'unknown', body[name], 'no such field')); continue; }
    const [, stored, d] = entry;
    let val = body[name];
    if (cantWrite(d, name)) {
      if (opts.refuseReadOnly) out.push(bad(name, 'read_only', val, 'nothing: it is read-only'));
      continue;
    }
    sent.add(name);
    if (bound && Object.hasOwn(bound, stored)) { if (val !== bound[stored]) out.push(bad(name, 'value', val, 'what the path says')); continue; }
    if (d.ident && row) { if (val !== row.f[stored]) out.push(bad(name, 'value', val, 'what the path says')); continue; }
    if (val === null && mode === 'update') {
      if (d.req || d.imm) { out.push(bad(name, 'value', null, 'a value')); continue; }
      if (stored && !F('e-null-kept')) delete next[stored];
      continue;
    }
    if (d.t === 'value' && mode === 'update' && isMap(val)) {
      for (const k of Object.keys(val)) if (val[k] === null && RES[d.of].f[k]?.req) out.push(bad(`${name}.${k}`, 'value', null, 'a value'));
      val = mergePatch(row.f[stored], val);
    }
    const n = out.length, made = checkValue(d, val, name, out);
    if (out.length > n || stored === null) continue;
    if (row && d.imm) { if (!same(made, row.f[stored]) && !(F('r-kind-mutable') && name === 'kind')) { out.push(bad(name, 'value', val, 'what it is: it is immutable')); continue; } }
    if (row && same(made, down(res, stored, row.f[stored], v))) continue; // reads as before: stays as it is stored
    const stays = up(res, stored, made, v), now2 = RES[res].f[stored];
    const m = out.length;
    if (stays !== made) checkValue(now2, stays, name, out);
    if (out.length === m) next[stored] = stays;
  }
  for (const [name, stored, d] of fields) {
    if (sent.has(name) || stored === null || cantWrite(d, name) || d.state) continue;
    if (bound && Object.hasOwn(bound, stored)) continue;
    if (mode === 'update') continue;
    if (mode === 'replace' && (d.imm || d.ident || d.wo)) continue;
    if (d.def !== undefined) { next[stored] = up(res, stored, d.def, v); continue; }
    if (mode === 'replace' && !d.req && !F('e-put-keeps')) delete next[stored];
    if (d.req) out.push(bad(name, 'missing', undefined, 'a value'));
  }
  if (mode === 'create') {
    for (const [n, d] of Object.entries(RES[res].f)) if (next[n] === undefined && d.def !== undefined && !fields.some((x) => x[1] === n)) next[n] = d.def;
    Object.assign(next, bound);
  }
  if (mode === 'replace' && F('n-put-resets-fare') && v !== 'flood') next.fare = 900;
  if (res === 'sailing' && isMap(next.tide) && !out.some((x) => x.path.startsWith('tide'))) {
    const a = Date.parse(next.tide.opens_at), b = Date.parse(next.tide.closes_at);
    if (b <= a) out.push(bad('tide', 'value', next.tide, 'a window that closes after it opens'));
  }
  if (opts.also) out.unshift(...opts.also);
  refuseInvalid(out);
  return next;
}

// ---- events --------------------------------------------------------------------------------------------------
const queues = new Map(); // hook id + row -> deliveries
const wants = (h, kind) => h.f.kinds === undefined || h.f.kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))));
let flying = 0;
function emit(kind, res, row, make, to) {
  const event = { id: 'bzz_' + random(20), kind, at: iso(now()) };
  for (const h of all('hook')) {
    if (!h.f.live || !wants(h, kind)) continue;
    if (!(to ? to(h) : mayRead(res, row, h.maker))) continue;
    const load = make ? make() : show(res, row, h.maker, F('v-newest-shape') ? 'flood' : h.version);
    const key = h.f.id + ' ' + res + ' ' + row.f[RES[res].id];
    if (!queues.has(key)) queues.set(key, []);
    queues.get(key).push({ event, hook: h, body: { buzz: event.id, kind, at: event.at, load }, tries: 0, due: now(), busy: false });
  }
}
const RETRY = F('v-second-wait') ? [10e3, 12 * MIN, 30 * MIN] : [10e3, 2 * MIN, 30 * MIN];
function dropHook(h) { for (const k of [...queues.keys()]) if (k.startsWith(h.f.id + ' ')) queues.delete(k); }
function disable(h) { h.f.live = false; h.failing = undefined; dropHook(h); }
async function attempt(key, d) {
  d.busy = true; flying++;
  const h = d.hook;
  if (F('v-new-id')) d.body.buzz = d.event.id = 'bzz_' + random(20);
  const body = JSON.stringify(d.body), t = Math.floor(now() / 1000);
  const over = F('v-sign-no-id') ? `${t}.${body}` : `${d.event.id}.${t}.${body}`;
  const sig = createHmac('sha256', h.f.secret).update(over).digest('hex');
  let ok = false, gone = false, after = 0;
  try {
    const r = await fetch(h.f.url, { method: 'POST', redirect: 'manual', body, signal: AbortSignal.timeout(5000),
      headers: { 'Content-Type': 'application/json', 'Bee-Sting': `t=${t},s=${sig}`, 'Bee-Kind': d.event.kind } });
    ok = r.status >= 200 && r.status < 300; gone = r.status === 410;
    const ra = r.headers.get('retry-after');
    if (!ok && ra) { after = /^\d+$/.test(ra) ? Number(ra) * 1000 : Date.parse(ra) - now(); after = Math.min(Math.max(after || 0, 0), DAY); }
    r.body?.cancel().catch(() => {});
  } catch { /* a failure like others */ }
  d.busy = false; flying--;
  const q = queues.get(key);
  if (!q || q[0] !== d || !alive(h)) return;
  if (ok) { q.shift(); h.failing = undefined; if (!q.length) queues.delete(key); return; }
  h.failing ??= now();
  if (after) h.notBefore = now() + after;
  if (gone || now() - h.failing >= 2 * DAY) { disable(h); return; }
  if (d.tries < RETRY.length) d.due = now() + RETRY[d.tries] * (0.8 + Math.random() * 0.4);
  else { q.shift(); if (!q.length) queues.delete(key); }
  d.tries++;
}
const dueOf = (d) => Math.max(d.due, d.hook.notBefore ?? 0);
function send() {
  const t = now(), busyFailing = new Set();
  for (const q of queues.values()) if (q[0]?.busy && q[0].hook.failing) busyFailing.add(q[0].hook);
  for (const [key, q] of queues) {
    const d = q[0];
    if (!d || d.busy || dueOf(d) > t) continue;
    if (d.hook.failing) { if (busyFailing.has(d.hook)) continue; busyFailing.add(d.hook); }
    attempt(key, d).then(send, () => {});
  }
}

// ---- what the clock brings about -----------------------------------------------------------------------------
const LAPSE = F('s-lapse-late') ? 30 * MIN : 20 * MIN, TURN = F('v-turning-late') ? 30 * MIN : 45 * MIN;
function annulAll(s, onlyHeld) {
  for (const b of all('booking').filter((x) => x.f.sailing === s.f.id).sort((a, z) => a.seq - z.seq)) {
    if (b.f.state !== 'held' && (b.f.state !== 'paid' || onlyHeld)) continue;
    b.f.state = 'annulled';
    emit('booking.ended', 'booking', b);
  }
}
function* duties() {
  for (const b of all('booking')) if (b.f.state === 'held') yield [b.entered + LAPSE, () => { b.f.state = 'lapsed'; emit('booking.ended', 'booking', b); }];
  for (const s of all('sailing')) {
    const closes = Date.parse(s.f.tide.closes_at);
    if (s.turned !== closes) yield [closes - TURN, () => {
      s.turned = closes;
      if (['planned', 'boarding'].includes(s.f.state)) emit('tide.turning', 'sailing', s, () => ({ sailing: s.f.id, closes_at: s.f.tide.closes_at }));
    }];
    if (['planned', 'boarding'].includes(s.f.state)) yield [closes, () => {
      s.f.state = 'scrubbed'; s.f.reason = 'the tide went out';
      annulAll(s, F('s-tide-keeps-paid')); // first: what is derived of bookings is told as it is in the end
      emit('sailing.scrubbed', 'sailing', s);
    }];
  }
  for (const w of DB.watch.values()) if (w.gone !== undefined) yield [w.gone + 3 * DAY, () => DB.watch.delete(w.f.id)];
}
function nextDuty() { let best; for (const d of duties()) if (!best || d[0] < best[0]) best = d; return best; }
function tick() {
  for (let d; (d = nextDuty()) && d[0] <= now();) d[1]();
  send();
}
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function settle() { send(); for (let i = 0; flying && i < 600; i++) { await sleep(i < 50 ? 2 : 10); } }
async function moveTo(target) {
  frozen = now();
  for (;;) {
    await settle();
    let at = Infinity;
    const d = nextDuty();
    if (d) at = Math.max(d[0], frozen);
    for (const q of queues.values()) if (q[0] && !q[0].busy) at = Math.min(at, Math.max(dueOf(q[0]), frozen));
    if (at > target) break;
    frozen = at;
    for (let x; (x = nextDuty()) && x[0] <= frozen;) x[1]();
  }
  ahead = target - Date.now(); frozen = null;
  tick();
  await settle();
}

// ---- limits --------------------------------------------------------------------------------------------------
const RATES = [
  { kind: 'fixed', limit: 900, window: MIN, key: (c, a) => (c ? c.user + ' ' + c.id : '@' + a), when: () => true },
  { kind: 'sliding', limit: F('l-booking-rate') ? 13 : 12, window: 10 * MIN, key: (c) => c.user + ' ' + c.id, when: (c, op) => c?.user === 'traveller' && op === 'create booking' },
  { kind: 'bucket', limit: 20, window: 10 * MIN, burst: 30, key: (c) => c.isle, when: (c, op) => c?.user === 'shipper' && op === 'create slip', uncounted: F('l-422-counts') ? [] : [422] },
  { kind: 'fixed', limit: 120, window: MIN, key: (c, a) => a, when: (c) => !c },
].map((r) => ({ ...r, seen: new Map() }));
function rateState(r, key) { // { left, wait: ms until there is more }
  const t = now();
  let s = r.seen.get(key);
  if (r.kind === 'fixed') {
    if (!s || t >= s.start + r.window) s = { start: t, used: 0 };
    r.seen.set(key, s);
    return { s, left: r.limit - s.used, wait: s.start + r.window - t };
  }
  if (r.kind === 'sliding') {
    s = (s ?? []).filter((x) => x > t - r.window);
    r.seen.set(key, s);
    return { s, left: r.limit - s.length, wait: s.length ? s[0] + r.window - t : 0 };
  }
  s ??= { units: r.burst * r.window, at: t }; // in units of 1/window of one request
  s.units = Math.min(r.burst * r.window, s.units + (t - s.at) * r.limit); s.at = t;
  r.seen.set(key, s);
  const left = Math.floor(s.units / r.window);
  return { s, left, wait: left >= r.burst ? 0 : ((left + 1) * r.window - s.units) / r.limit };
}
function countRates(ctx) {
  const rates = RATES.filter((r) => r.when(ctx.caller, ctx.op)).map((r) => ({ r, key: r.key(ctx.caller, ctx.address) }));
  const full = rates.map((x) => ({ ...x, st: rateState(x.r, x.key) })).filter((x) => x.st.left < 1);
  if (full.length) {
    ctx.rates = rates;
    no('slow_down', { headers: { 'Retry-After': String(Math.max(1, Math.ceil(Math.max(...full.map((x) => x.st.wait)) / 1000))) } });
  }
  for (const x of rates) {
    const { s } = rateState(x.r, x.key);
    if (x.r.kind === 'fixed') s.used++;
    else if (x.r.kind === 'sliding') { x.mark = now(); s.push(x.mark); }
    else s.units -= x.r.window;
  }
  ctx.rates = rates;
}
function rateHeaders(ctx, status) {
  if (!ctx.rates?.length) return {};
  let best;
  for (const x of ctx.rates) {
    if (x.r.uncounted?.includes(status)) { const { s } = rateState(x.r, x.key); s.units = Math.min(x.r.burst * x.r.window, s.units + x.r.window); }
    const st = rateState(x.r, x.key);
    if (!best || st.left < best.st.left) best = { x, st };
  }
  return { 'Tide-Limit': String(best.x.r.limit), 'Tide-Left': String(Math.max(0, best.st.left)), 'Tide-Turn': String(Math.ceil(best.st.wait / 1000)) };
}
const ZONE = new Intl.DateTimeFormat('en-CA', { timeZone: F('l-quota-utc') ? 'UTC' : 'Atlantic/Faroe', year: 'numeric', month: '2-digit', day: '2-digit' });
const localDay = (t) => ZONE.format(t);
function dayEnd(t) { const day = localDay(t); let a = t, b = t + 26 * HOUR; while (b - a > 1) { const m = Math.floor((a + b) / 2); if (localDay(m) === day) a = m; else b = m; } return b; }
const quota = new Map();

// ---- credentials ---------------------------------------------------------------------------------------------
const CHALLENGE = { badge: 'Badge realm="Bee Lines"', pass: 'ApiKey realm="Bee Lines", in="header", name="Isle-Pass"' };
const digest = (s) => createHash('sha256').update(s).digest();
const KEYS = CALLERS.map((c) => ({ ...c, digest: digest(c.credential) }));
function lookUp(scheme, credential) {
  const d = digest(credential);
  const k = KEYS.find((x) => x.scheme === scheme && timingSafeEqual(x.digest, d));
  if (F('p-mate-pass') && k?.user === 'mate' && scheme === 'pass') return undefined;
  return k;
}
function identify(ctx, req) {
  const accept = ctx.ep.accept ?? ['badge', 'pass'];
  const refuse = (code) => no(code, { headers: { 'WWW-Authenticate': accept.map((s) => CHALLENGE[s] + (code === 'false_colours' ? ', error="invalid_key"' : '')) } });
  const found = [];
  const values = (name) => { const out = []; for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === name) out.push(req.rawHeaders[i + 1]); return out; };
  if (accept.includes('badge')) {
    const h = values('authorization');
    if (h.length > 1) refuse('false_colours');
    if (h.length) {
      const m = /^badge +(\S+)$/i.exec(h[0]);
      found.push(m ? lookUp('badge', m[1]) : undefined);
    }
  }
  if (accept.includes('pass')) {
    const h = values('isle-pass');
    if (h.length > 1) refuse('false_colours');
    if (h.length) found.push(lookUp('pass', h[0]));
  }
  if (!found.length) { if (rulesFor(ctx.op, null).length) return null; refuse('no_colours'); }
  if (found.some((x) => !x)) refuse('false_colours');
  if (!F('a-two-callers') && found.some((x) => x.user !== found[0].user || x.id !== found[0].id)) refuse('false_colours');
  return { user: found[0].user, id: found[0].id, isle: found[0].isle, scopes: [...new Set(found.flatMap((x) => x.scopes))] };
}

// ---- endpoints -----------------------------------------------------------------------------------------------
const EP = [];
const ep = (method, path, does, o = {}) => EP.push({ method, parts: path.slice(1).split('/'), op: o.as ?? does, verb: does.split(' ')[0], res: does.split(' ')[1], key: method === 'POST', ...o });
ep('GET', '/tariff', 'reply', { as: 'show tariff', public: true, deprecated: true });
ep('PUT', '/lines/{code}', 'upsert line', { body: true });
ep('GET', '/lines', 'list line', { params: {
  kind: { filter: (r, x) => r.f.kind === x, enum: ['ferry', 'cable_car'] }, home: { filter: (r, x) => r.f.home.startsWith(x) },
  q: { minL: 1, words: true, filter: (r, x) => x.toLowerCase().split(/\s+/).filter(Boolean).every((w) => r.f.name.toLowerCase().includes(w) || ((r.f.blurb ?? '').toLowerCase().includes(w))) },
  sort: { sort: { title: 'name', '-title': '-name', isle: 'home', '-isle': '-home' } } }, order: 'code' });
ep('GET', '/lines/{code}', 'read line', { etag: true, cache: 'public, max-age=45' });
ep('PATCH', '/lines/{code}', 'update line', { body: true, ifMatch: 'required' });
ep('DELETE', '/lines/{code}', 'delete line');
ep('POST', '/lines/{line}/sailings', 'create sailing', { body: true, parent: 'line' });
const STATES = RES.sailing.f.state.enum;
ep('GET', '/sailings', 'list sailing', { params: {
  line: { check: (x) => RES.line.f.code.pattern.test(x), filter: (r, x) => r.f.line === x },
  state: { list: true, check: (x) => x.every((s) => STATES.includes(s)), filter: (r, x) => (F('e-state-first') ? x[0] === r.f.state : x.includes(r.f.state)) },
  after: { check: isDateTime, filter: (r, x) => Date.parse(r.f.departs_at) >= Date.parse(x) },
  before: { check: isDateTime, filter: (r, x) => (F('e-before-through') ? Date.parse(r.f.departs_at) <= Date.parse(x) : Date.parse(r.f.departs_at) < Date.parse(x)) },
  sort: { sort: { departs_at: 'departs_at', '-departs_at': '-departs_at' } } }, order: 'departs_at', select: 'only' });
ep('GET', '/sailings/{id}', 'read sailing', { etag: true, expand: 'with' });
ep('PATCH', '/sailings/{id}', 'update sailing', { body: true, in: ['planned'], ifMatch: 'accepted' });
ep('POST', '/sailings/{id}/board', 'board sailing');
ep('POST', '/sailings/{id}/cast-off', 'cast_off sailing');
ep('POST', '/sailings/{id}/scrub', 'scrub sailing', { body: true, request: { reason: { t: 'string', minL: 3, maxL: 100 } }, closed: true });
ep('POST', '/sailings/{sailing}/bookings', 'create booking', { body: true, parent: 'sailing' });
const whole = (x) => /^-?\d+$/.test(x) && Number.isSafeInteger(Number(x));
ep('GET', '/bookings', 'list booking', { params: {
  sailing: { check: whole, filter: (r, x) => r.f.sailing === Number(x) }, state: { enum: RES.booking.f.state.enum, filter: (r, x) => r.f.state === x },
  min_berths: { check: whole, filter: (r, x) => r.f.berths >= Number(x) } }, order: '-id' });
ep('GET', '/bookings/{id}', 'read booking', { etag: true });
ep('POST', '/bookings/{id}/settle', 'settle booking', { body: true, request: { voucher: { t: 'string', minL: 4, maxL: 30 } }, keyRequired: true });
ep('POST', '/bookings/{id}/release', 'release booking');
ep('POST', '/slips', 'create slip', { body: true });
ep('GET', '/slips', 'list slip', { params: {
  hazard: { enumIn: (v) => fieldsIn('slip', v).find((x) => x[0] === 'hazard')[2].enum, filter: (r, x, v) => r.f.hazard === up('slip', 'hazard', x, v) },
  weight: { checkIn: (x, v) => (v === 'ebb' ? /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(x) && Number(x) >= 0.001 && Number(x) <= 9000 : whole(x) && Number(x) >= 1 && Number(x) <= 9000000), filter: (r, x, v) => down('slip', 'weight', r.f.weight, v) === Number(x) },
  stage: { enum: RES.slip.f.stage.enum, filter: (r, x) => r.f.stage === x } },
  page: { style: 'offset', start: 'skip', def: 15, max: 30, clamp: true } });
ep('GET', '/slips/{id}', 'read slip', { etag: true });
if (!F('p-no-lookup')) ep('GET', '/slip-numbers/{number}', 'read slip', { as: 'look up slip', by: 'number', since: 'slack' });
ep('PATCH', '/slips/{id}', 'update slip', { body: true, in: ['filed'], ifMatch: 'accepted' });
ep('POST', '/slips/{id}/accept', 'accept slip');
ep('POST', '/slips/{id}/load', 'load slip');
if (!F('p-no-withdraw')) ep('POST', '/slips/{id}/withdraw', 'withdraw slip');
ep('POST', '/slips/{id}/clear', 'clear slip');
ep('POST', '/watches', 'create watch', { body: true });
ep('GET', '/watches/{id}', 'read watch', { accept: F('a-watch-pass') ? undefined : ['badge'] });
ep('PATCH', '/watches/{id}', 'update watch', { body: true });
ep('DELETE', '/watches/{id}', 'delete watch');
ep('POST', '/hooks', 'create hook', { body: true });
ep('GET', '/hooks', 'list hook', { newest: true, page: { style: 'page', start: 'leaf', def: 2, max: 40 } });
ep('GET', '/hooks/{id}', 'read hook');
ep('PATCH', '/hooks/{id}', 'update hook', { body: true, refuseReadOnly: true });
ep('DELETE', '/hooks/{id}', 'delete hook');

function route(path) {
  if (path !== BASE && !path.startsWith(BASE + '/')) return [];
  let parts;
  try { parts = path.slice(BASE.length + 1).split('/').map(decodeURIComponent); } catch { return []; }
  const hits = EP.filter((e) => e.parts.length === parts.length && e.parts.every((p, i) => (p[0] === '{' ? parts[i] !== '' : p === parts[i])));
  return hits.map((e) => ({ e, params: Object.fromEntries(e.parts.flatMap((p, i) => (p[0] === '{' ? [[p.slice(1, -1), parts[i]]] : []))) }));
}
const parseId = (res, s) => (res === 'sailing' ? (/^(0|[1-9]\d{0,15})$/.test(s) ? Number(s) : undefined) : s);

// ---- parameters, pages ---------------------------------------------------------------------------------------
const SIGN = randomBytes(32);
function parameters(ctx) {
  const e = ctx.ep, v = ctx.version, got = new Map();
  const flag = (name, found, expected) => no('odd_flag', { marks: [{ in: 'query', path: name, found: told(found), expected }] });
  for (const piece of ctx.query ? ctx.query.split('&') : []) {
    if (piece === '') continue;
    const i = piece.indexOf('=');
    let k, x;
    try { k = decodeURIComponent((i < 0 ? piece : piece.slice(0, i)).replaceAll('+', ' ')); x = i < 0 ? '' : piece.slice(i + 1); decodeURIComponent(x.replaceAll('+', ' ')); } catch { flag('', piece, 'a query that can be read'); }
    if (!got.has(k)) got.set(k, []);
    got.get(k).push(decodeURIComponent(x.replaceAll('+', ' ')));
  }
  const P = e.params ?? {}, page = e.verb === 'list' ? e.page ?? { style: 'cursor', start: 'bookmark', def: 10, max: 50 } : null;
  const out = { filters: [], page: null };
  for (const [k, xs] of got) {
    if (page && (k === 'take' || k === page.start)) { if (xs.length > 1) flag(k, xs, 'one value'); continue; }
    if (e.select === k) { out.only = xs.flatMap((x) => x.split(',')); continue; }
    if (e.expand === k) { for (const x of xs.flatMap((y) => y.split(','))) if (x !== 'line') flag(k, x, 'line'); out.expand = true; continue; }
    if (!Object.hasOwn(P, k)) flag(k, xs[0], 'no such parameter');
    const p = P[k];
    if (xs.length > 1 && !p.list) flag(k, xs, 'one value');
    const x = p.list ? xs.flatMap((y) => y.split(',')) : xs[0];
    if (p.list && x.length > 100) flag(k, x.length, 'at most 100 values');
    const en = p.enumIn ? p.enumIn(v) : p.enum;
    if (en && !en.includes(x)) flag(k, x, 'one of ' + en.join(', '));
    if (p.minL && len(x) < p.minL) flag(k, x, 'a text');
    if (p.words && x.split(/\s+/).filter(Boolean).length > 16) flag(k, x, 'at most 16 words');
    if ((p.check && !p.check(x)) || (p.checkIn && !p.checkIn(x, v))) flag(k, x, 'a value that it can have');
    if (p.sort) { if (!Object.hasOwn(p.sort, x)) flag(k, x, 'one of ' + Object.keys(p.sort).join(', ')); out.sort = p.sort[x]; continue; }
    out.filters.push([k, x, p.filter]);
  }
  if (out.only) {
    const names = new Set(fieldsIn(e.res, v).filter((x) => !x[2].wo).flatMap(([n, , d]) => (d.t === 'value' ? [n, ...Object.keys(RES[d.of].f).map((k) => n + '.' + k)] : [n])));
    if (out.only.length > 100) flag(e.select, out.only.length, 'at most 100 names');
    for (const n of out.only) if (!names.has(n)) flag(e.select, n, 'a field');
  }
  if (page) {
    let size = page.def;
    if (got.has('take')) {
      const x = got.get('take')[0];
      if (!/^\d{1,9}$/.test(x) || Number(x) < 1) flag('take', x, 'a size');
      size = Number(x);
      if (size > page.max) { if (page.clamp) size = page.max; else flag('take', x, `at most ${page.max}`); }
    }
    out.page = { ...page, size };
    const s = got.get(page.start)?.[0];
    if (page.style === 'offset') { if (s !== undefined && !/^\d{1,12}$/.test(s)) flag(page.start, s, 'a number'); out.page.skip = Number(s ?? 0); }
    if (page.style === 'page') { if (s !== undefined && (!/^\d{1,9}$/.test(s) || Number(s) < 1)) flag(page.start, s, 'a number from 1'); out.page.leaf = Number(s ?? 1); }
    out.bound = hash(ctx.version, e.op, F('l-cursor-unbound') ? [] : out.filters.map(([k, x]) => [k, x]).sort(), out.sort ?? e.order ?? '', e.res === 'booking' ? [ctx.caller.user, ctx.caller.user === HM ? ctx.caller.isle : ctx.caller.id] : []);
    if (page.style === 'cursor' && s !== undefined) {
      const [a, b] = s.split('.');
      let place;
      if (b !== undefined && createHmac('sha256', SIGN).update(a).digest('base64url') === b) place = JSON.parse(Buffer.from(a, 'base64url').toString());
      if (!place || place.b !== out.bound) flag(page.start, s, 'a bookmark of this list');
      out.page.from = place;
    }
  }
  return out;
}
const cmp = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
function list(ctx, p) {
  const e = ctx.ep, c = ctx.caller, v = ctx.version;
  let rows = all(e.res).filter((r) => passes('list ' + e.res, c, r) && p.filters.every(([, x, f]) => f(r, x, v)));
  const by = p.sort ?? e.order;
  const field = by?.replace('-', ''), dir = by?.[0] === '-' ? -1 : 1;
  const keyOf = (r) => (!field ? 0 : field === 'departs_at' ? Date.parse(r.f.departs_at) : r.f[field]);
  const order = (ka, sa, kb, sb) => dir * cmp(ka, kb) || (e.newest ? sb - sa : sa - sb);
  rows.sort((a, b) => order(keyOf(a), a.seq, keyOf(b), b.seq));
  const total = rows.length, pg = p.page, path = BASE + '/' + e.parts.join('/');
  let start = 0;
  if (pg.style === 'offset') start = pg.skip;
  if (pg.style === 'page') start = (pg.leaf - 1) * pg.size;
  if (pg.from) { start = rows.findIndex((r) => order(keyOf(r), r.seq, pg.from.k, pg.from.s) > 0); if (start < 0) start = total; }
  const page = rows.slice(start, start + pg.size), more = start + pg.size < total;
  let items = page.map((r) => show(e.res, r, c, v));
  if (p.only) items = items.map((o) => {
    const out = F('e-select-no-id') ? {} : { [RES[e.res].id]: o[RES[e.res].id] };
    for (const n of p.only) { const [a, b] = n.split('.'); if (o[a] === undefined) continue; if (b === undefined) out[a] = o[a]; else if (o[a][b] !== undefined) out[a] = { ...out[a], [b]: o[a][b] }; }
    return out;
  });
  if (pg.style === 'offset') return { status: 200, body: { slips: items, total } };
  if (pg.style === 'page') {
    const at = (n) => `<${path}?leaf=${n}&take=${pg.size}>`;
    const links = [`${at(1)}; rel="first"`];
    if (pg.leaf > 1) links.push(`${at(pg.leaf - 1)}; rel="prev"`);
    if (more) links.push(`${at(pg.leaf + 1)}; rel="next"`);
    return { status: 200, links, body: { hooks: items, more, self: path } };
  }
  let bookmark = null;
  if (more) {
    const last = page.at(-1), a = Buffer.from(JSON.stringify({ k: keyOf(last), s: last.seq, b: p.bound })).toString('base64url');
    bookmark = a + '.' + createHmac('sha256', SIGN).update(a).digest('base64url');
  }
  return { status: 200, body: { rows: items, bookmark, more } };
}

// ---- operations ----------------------------------------------------------------------------------------------
function load(ctx) { // the row that the path names, and whether this may be done with it
  const { ep: e, caller: c } = ctx, last = e.parts.filter((p) => p[0] === '{').at(-1).slice(1, -1);
  let row = e.by ? all(e.res).find((r) => r.f[e.by] === ctx.params[last]) : DB[e.res].get(parseId(e.res, ctx.params[last]));
  if (!row) no('lost_at_sea');
  if (row.gone !== undefined) { if (mayRead(e.res, row, c)) no('sunk'); no('lost_at_sea'); }
  const rules = rulesFor(ctx.op, c).filter((r) => scoped(r, c));
  if (!rules.some((r) => !r.row || r.row(row, c))) {
    if (!mayRead(e.res, row, c)) no('lost_at_sea');
    no(rules.find((r) => r.else)?.else ?? 'barred');
  }
  return row;
}
function precondition(ctx, row) {
  const e = ctx.ep, h = ctx.req.headers['if-match'];
  if (!e.ifMatch) return;
  if (h === undefined) { if (e.ifMatch === 'required') no('no_anchor'); return; }
  if (h.trim() === '*') return;
  const mine = [tagOf(e.res, row, ctx.caller, ctx.version), ...(mayRead(e.res, row, null) ? [tagOf(e.res, row, null, ctx.version)] : [])];
  const tags = h.match(/(W\/)?"[^"]*"/g) ?? [];
  if (!tags.some((t) => !t.startsWith('W/') && mine.includes(t.slice(1, -1).split('.')[0]))) no('drifted');
}
function requestBody(ctx) {
  const e = ctx.ep, b = ctx.body, out = [];
  if (!isMap(b)) { out.push(bad('', 'type', b, 'a map')); refuseInvalid(out); }
  for (const k of Object.keys(b)) {
    if (!Object.hasOwn(e.request, k)) { if (e.closed) out.push(bad(k, 'unknown', b[k], 'no such field')); continue; }
    checkValue(e.request[k], b[k], k, out);
  }
  for (const k of Object.keys(e.request)) if (!Object.hasOwn(b, k)) out.push(bad(k, 'missing', undefined, 'a value'));
  refuseInvalid(out);
}
const nextRule = (ctx, n) => { const rs = rulesFor(ctx.op, ctx.caller).filter((r) => scoped(r, ctx.caller)); if (!rs.some((r) => !r.next || r.next(n, ctx.caller))) no('barred'); };
const uniqueLine = (n, row) => { if (all('line').some((r) => r !== row && r.f.home === n.home && r.f.name === n.name)) no('name_taken'); };
const tideGone = (n) => { if (Date.parse(n.tide.closes_at) <= now()) no('tide_gone'); };
const tooHeavy = (n) => { if (n.hazard === 'flammable' && n.weight > 500000) no('too_heavy'); };
function store(res, f, extra = {}) { const row = { f, seq: ++seq, ...extra }; DB[res].set(f[RES[res].id], row); return row; }
const where = (res, row) => { const p = { line: 'lines', sailing: 'sailings', booking: 'bookings', slip: 'slips', watch: 'watches', hook: 'hooks' }[res]; return `${F('p-location-no-base') ? '' : BASE}/${p}/${encodeURIComponent(row.f[RES[res].id])}`; };

function create(ctx) {
  const { ep: e, caller: c, version: v, op } = ctx, res = e.res;
  let bound;
  if (e.parent) {
    const id = parseId(e.parent, ctx.params[e.parent]), parent = id === undefined ? undefined : get(e.parent, id);
    if (!parent || !mayRead(e.parent, parent, c)) no('lost_at_sea');
    bound = { [e.parent]: id };
  }
  const n = take(res, v, ctx.body, 'create', c, null, bound);
  if (n.sailing !== undefined && !get('sailing', n.sailing)) no('no_such_berth');
  let extra = {};
  if (res === 'sailing') Object.assign(n, { state: 'planned' });
  if (res === 'booking') {
    const line = get('line', get('sailing', n.sailing).f.line);
    Object.assign(n, { id: 'bkg_' + random(14), traveller: c.id, berths: n.passengers.length, price: line.f.fare * n.passengers.length, state: 'held' });
    extra.entered = now();
  }
  if (res === 'slip') Object.assign(n, { id: randomUUID(), shipper: c.id, isle: c.isle, stage: 'filed', customs: 'unseen', touched_at: iso(now()) });
  if (res === 'watch') Object.assign(n, { id: 'wch_' + ulid(), duty: 'rostered' });
  if (res === 'hook') { Object.assign(n, { id: 'hok_' + random(12), owner: c.id, secret: 'bee_' + random(40) }); extra = { maker: c, version: v }; }
  nextRule(ctx, n);
  if (res === 'sailing') tideGone(n);
  if (res === 'booking' && !['planned', 'boarding'].includes(get('sailing', n.sailing).f.state)) no('not_bookable');
  if (res === 'slip') tooHeavy(n);
  if (res === 'watch' && all('watch').some((w) => w.f.sailing === n.sailing && w.f.mate === n.mate)) no('name_taken');
  if (res === 'booking') {
    if (all('booking').filter((b) => b.f.traveller === c.id && (F('l-held-counts-all') || b.f.state === 'held')).length >= 4) no('no_more_today');
    const key = `${localDay(now())} ${c.user} ${c.id}`;
    if ((quota.get(key) ?? 0) >= 25) no('no_more_today', { headers: { 'Retry-After': String(Math.ceil((dayEnd(now()) - now()) / 1000)) } });
    quota.set(key, (quota.get(key) ?? 0) + 1);
    n.number = (bookingNo.get(n.sailing) ?? 0) + 1;
    bookingNo.set(n.sailing, n.number);
  }
  if (res === 'hook' && all('hook').filter((h) => h.f.owner === c.id).length >= 3) no('no_more_today');
  if (res === 'sailing') n.id = ++sailingNo;
  if (res === 'slip') n.number = 'FS-' + String(++slipNo).padStart(5, '0');
  const row = store(res, n, extra);
  if (res === 'sailing') emit('sailing.announced', 'sailing', row);
  if (res === 'booking') emit('booking.held', 'booking', row);
  return { status: 201, headers: { Location: where(res, row) }, body: show(res, row, c, v, { once: true }), again: show(res, row, c, v) };
}
function upsert(ctx) {
  const { caller: c, version: v } = ctx, code = ctx.params.code, row = get('line', code);
  if (!row) {
    const also = RES.line.f.code.pattern.test(code) ? [] : [{ ...bad('code', 'value', code, 'a code of a line'), in: 'path' }];
    const n = take('line', v, ctx.body, 'create', c, null, { code }, { also });
    n.home = c.isle;
    nextRule(ctx, n);
    uniqueLine(n);
    const made = store('line', n);
    return { status: 201, headers: { Location: where('line', made) }, body: show('line', made, c, v) };
  }
  const n = take('line', v, ctx.body, 'replace', c, row);
  nextRule(ctx, n);
  uniqueLine(n, row);
  row.f = n;
  return { status: 200, body: show('line', row, c, v) };
}
const DUTY = { rostered: F('s-duty-skips') ? ['standing', 'relieved'] : ['standing'], standing: ['relieved'], relieved: [] };
function update(ctx) {
  const { ep: e, caller: c, version: v } = ctx, res = e.res, row = load(ctx);
  if (!F('x-precondition-late')) precondition(ctx, row);
  const n = take(res, v, ctx.body, 'update', c, row, undefined, { refuseReadOnly: e.refuseReadOnly });
  if (F('x-precondition-late')) precondition(ctx, row);
  if (e.in && !e.in.includes(res === 'slip' ? row.f.stage : row.f.state)) no('wrong_watch');
  if (res === 'watch' && n.duty !== row.f.duty && !DUTY[row.f.duty].includes(n.duty)) no('wrong_watch');
  if (!same(n, row.f)) {
    if (res === 'sailing' && !F('x-tide-update')) tideGone(n);
    if (res === 'slip') tooHeavy(n);
    if (res === 'line') uniqueLine(n, row);
    if (res === 'slip') n.touched_at = iso(now());
    if (res === 'hook' && n.live && !row.f.live) row.failing = undefined;
    row.f = n;
  }
  return { status: 200, body: show(res, row, c, v) };
}
function remove(ctx) {
  const res = ctx.ep.res, row = load(ctx);
  if (res === 'line' && all('sailing').some((s) => s.f.line === row.f.code)) no('moored_fast');
  if (res === 'watch') row.gone = now();
  else DB[res].delete(row.f[RES[res].id]);
  if (res === 'hook') dropHook(row);
  return { status: 204 };
}
function transition(ctx) {
  const { ep: e, caller: c, version: v } = ctx, row = load(ctx), f = row.f, from = (field, states, code = 'wrong_watch') => { if (!states.includes(f[field])) no(code); };
  if (e.request) requestBody(ctx);
  const touch = () => { if (!F('r-touched-late')) f.touched_at = iso(now()); };
  switch (ctx.op) {
    case 'board sailing': from('state', ['planned']); f.state = 'boarding'; break;
    case 'cast_off sailing': {
      from('state', ['boarding']);
      const t = now();
      if (t < Date.parse(f.tide.opens_at) || t >= Date.parse(f.tide.closes_at)) no('tide_shut');
      f.state = 'underway'; f.sailed_at = iso(t);
      emit('sailing.left', 'sailing', row, () => ({ sailing: f.id, vessel: f.vessel, left_at: f.sailed_at }));
      break;
    }
    case 'scrub sailing':
      from('state', F('s-scrub-underway') ? ['planned', 'boarding', 'underway'] : ['planned', 'boarding'], 'already_sailed');
      f.state = 'scrubbed'; f.reason = ctx.body.reason;
      annulAll(row, false);
      emit('sailing.scrubbed', 'sailing', row);
      break;
    case 'settle booking': {
      from('state', ['held']);
      const left = berthsLeft(get('sailing', f.sailing));
      if (F('s-last-berth') ? left <= f.berths : left < f.berths) no('sold_out');
      if (!ctx.body.voucher.startsWith('BEE-')) {
        if (!F('s-declined-held')) f.state = 'declined';
        no('voucher_declined');
      }
      f.state = 'paid';
      emit('booking.paid', 'booking', row);
      break;
    }
    case 'release booking': from('state', ['held', 'paid'], 'too_late'); f.state = 'released'; emit('booking.ended', 'booking', row); break;
    case 'accept slip': from('stage', ['filed']); f.stage = 'accepted'; touch(); break;
    case 'load slip': from('stage', ['accepted']); if (f.customs !== 'cleared') no('not_cleared'); f.stage = 'loaded'; touch(); break;
    case 'withdraw slip': from('stage', ['filed', 'accepted'], 'too_late'); f.stage = 'withdrawn'; touch(); break;
    case 'clear slip': from('customs', ['unseen']); f.customs = 'cleared'; touch(); break;
  }
  if (['accept slip', 'load slip', 'clear slip'].includes(ctx.op)) emit('slip.handled', 'slip', row, null, F('v-slip-to-all') ? undefined : (h) => h.f.owner === f.shipper);
  if (ctx.op === 'clear slip') return { status: 200, headers: { 'Bee-Stamp': 'cleared ' + f.number }, body: { number: f.number, customs: f.customs } };
  return { status: 200, body: show(e.res, row, c, v) };
}
function read(ctx, p) {
  const { ep: e, caller: c, version: v } = ctx, row = load(ctx), body = show(e.res, row, c, v);
  if (!e.etag) return { status: 200, body };
  let tag = tagOf(e.res, row, c, v);
  if (p.expand) { const line = get('line', row.f.line); if (mayRead('line', line, c)) { body.line = show('line', line, c, v); tag += '.' + hash(body.line); } }
  const headers = { ETag: `"${tag}"` };
  if (e.cache) headers['Cache-Control'] = e.cache;
  const inm = ctx.req.headers['if-none-match'];
  if (inm !== undefined && (inm.trim() === '*' || (inm.match(/"[^"]*"/g) ?? []).includes(`"${tag}"`))) return { status: 304, headers };
  return { status: 200, headers, body };
}

// ---- one request ---------------------------------------------------------------------------------------------
const remembered = new Map();
function perform(ctx) {
  const p = parameters(ctx), e = ctx.ep;
  let slot;
  if (e.key) {
    const key = ctx.req.headers['crossing-key'];
    if (key === undefined || key === '') { if (e.keyRequired) no('odd_flag', { marks: [{ in: 'header', path: 'Crossing-Key', found: 'nothing', expected: 'a key' }] }); }
    else {
      slot = `${ctx.caller.user} ${ctx.caller.id} ${ctx.op} ${key}`;
      const print = hash(ctx.path, ctx.query, ctx.version, F('e-key-body') || !e.body ? null : canon(ctx.body)), was = remembered.get(slot);
      if (was && now() < was.until) { if (was.print !== print) no('key_twice'); if (was.refusal) throw was.refusal; return was.answer; }
      slot = { slot, print };
    }
  }
  const keep = (x) => { if (slot) remembered.set(slot.slot, { print: slot.print, until: now() + 12 * HOUR, ...x }); };
  try {
    const a = e.verb === 'list' ? list(ctx, p) : e.verb === 'read' ? read(ctx, p) : e.verb === 'create' ? create(ctx) : e.verb === 'upsert' ? upsert(ctx)
      : e.verb === 'update' ? update(ctx) : e.verb === 'delete' ? remove(ctx) : e.verb === 'reply' ? { status: 200, body: { currency: 'ISK', bicycle: 450, dog: 300 } } : transition(ctx);
    if (a.status < 300) keep({ answer: { ...a, body: a.again ?? a.body } });
    return a;
  } catch (err) {
    if (err instanceof Refusal && OWN.has(err.code)) keep({ refusal: err });
    throw err;
  }
}
const SUNSET = Date.parse('2032-10-01T00:00:00Z');
function readBody(req) {
  const limit = 8192;
  return new Promise((resolve, reject) => {
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > limit) { req.resume(); return reject(new Refusal('overloaded', { close: true })); }
    const parts = []; let size = 0;
    const timer = setTimeout(() => reject(new Refusal('becalmed', { close: true })), 10e3);
    req.on('data', (b) => { size += b.length; if (size > limit) { clearTimeout(timer); reject(new Refusal('overloaded', { close: true })); } else parts.push(b); });
    req.on('end', () => { clearTimeout(timer); resolve(Buffer.concat(parts)); });
    req.on('error', () => { clearTimeout(timer); reject(new Refusal('garbled', { close: true })); });
  });
}
const MEDIA = (e) => (e.verb === 'update' ? ['application/json', 'application/merge-patch+json'] : ['application/json']);
const envelope = (err, ref) => {
  const [status, text] = CODES[err.code], name = err.name2 ?? err.name;
  return { foghorn: { signal: err.code, blasts: status, says: text.replace('{name}', () => String(name).slice(0, 200)), ref, ...(err.marks?.length ? { marks: err.marks } : {}) } };
};
async function handle(req, res) {
  const ref = 'ref_' + random(12);
  const ctx = { req, ref, address: (req.socket.remoteAddress ?? '').replace(/^::ffff:/, '') };
  let answer;
  try { answer = await steps(ctx); } catch (e) {
    let err = e;
    if (!(err instanceof Refusal)) { process.stderr.write(String(e?.stack ?? e) + '\n'); err = new Refusal('leak'); }
    answer = { status: CODES[err.code][0], body: envelope(err, ref), headers: { ...err.headers, 'Bee-Signal': err.code }, close: err.close };
  }
  tick();
  const h = { Date: new Date(now()).toUTCString(), 'Bee-Ref': ref, ...answer.headers };
  h['Bee-Chart'] = ctx.version ?? 'flood';
  h.Vary = ctx.ep?.public ? 'Bee-Chart' : 'Bee-Chart, Authorization, Isle-Pass';
  const links = [...(answer.links ?? [])];
  let deprecated;
  if (ctx.ep?.deprecated) { deprecated = Date.parse('2030-09-01T00:00:00Z'); links.push('<https://beelines.example/tariff>; rel="deprecation"'); }
  if (ctx.version === 'ebb') {
    deprecated = Math.min(deprecated ?? Infinity, Date.parse('2030-10-01T00:00:00Z'));
    h.Sunset = new Date(SUNSET).toUTCString();
    links.push('<https://beelines.example/charts>; rel="deprecation"', `<${req.url}>; rel="successor-version"`);
  }
  if (deprecated !== undefined) h.Deprecation = '@' + deprecated / 1000;
  if (links.length) h.Link = links.join(', ');
  Object.assign(h, rateHeaders(ctx, answer.status));
  const unread = !req.complete && !ctx.ignoredBody && (req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0);
  if (answer.close || unread) h.Connection = 'close';
  let body = answer.body === undefined ? undefined : Buffer.from(JSON.stringify(answer.body));
  if (body) { h['Content-Type'] = 'application/json'; h['Content-Length'] = body.length; }
  res.sendDate = false;
  res.writeHead(answer.status, h);
  res.end(req.method === 'HEAD' ? undefined : body);
  if (!req.complete) req.resume();
}
async function steps(ctx) {
  const { req } = ctx;
  tick();
  if (Buffer.byteLength(req.url, 'latin1') > 2048) no('long_name', { close: true });
  let hs = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) hs += req.rawHeaders[i].length + req.rawHeaders[i + 1].length + 4;
  if (hs > 8192) no('top_heavy', { close: true });
  const i = req.url.indexOf('?');
  ctx.path = i < 0 ? req.url : req.url.slice(0, i); ctx.query = i < 0 ? '' : req.url.slice(i + 1);
  const hits = route(ctx.path);
  if (!hits.length) no('lost_at_sea');
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  const methods = [...new Set(hits.flatMap((x) => (x.e.method === 'GET' ? ['GET', 'HEAD'] : [x.e.method])))];
  const allow = [...methods, 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
  const hit = hits.find((x) => x.e.method === method);
  if (!hit) no('wrong_rope', { headers: { Allow: allow } });
  const asked = req.headers['bee-chart'];
  if (asked !== undefined && !VERSIONS.includes(asked) && !F('n-unknown-current')) no('no_chart');
  ctx.version = VERSIONS.includes(asked) ? asked : 'flood';
  if (ctx.version === 'ebb' && now() >= SUNSET && !F('n-sunset-serves')) no('old_chart');
  if (hit.e.since === 'slack' && ctx.version === 'ebb') no('lost_at_sea');
  ctx.ep = hit.e; ctx.params = hit.params; ctx.op = hit.e.op;
  ctx.caller = ctx.ep.public ? null : identify(ctx, req);
  countRates(ctx);
  if (!ctx.ep.public) {
    const rules = rulesFor(ctx.op, ctx.caller);
    if (!rules.length) no('barred');
    if (!rules.some((r) => scoped(r, ctx.caller))) no('wrong_ticket');
  }
  if (ctx.ep.body) {
    const type = req.headers['content-type'], hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
    if (!hasBody) no('garbled');
    const media = type?.split(';')[0].trim().toLowerCase(), charset = /;\s*charset="?([^";\s]+)/i.exec(type ?? '')?.[1]?.toLowerCase();
    if (!media || !MEDIA(ctx.ep).includes(media) || (charset && !['utf-8', 'utf8', 'us-ascii'].includes(charset)) || (req.headers['content-encoding'] ?? 'identity') !== 'identity') no('wrong_cargo');
    const raw = await readBody(req);
    if (!raw.length) no('garbled');
    try { ctx.body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)); } catch { no('garbled'); }
    tick();
  } else ctx.ignoredBody = true;
  return perform(ctx);
}

const server = http.createServer({ maxHeaderSize: 128 * 1024, requestTimeout: 30e3, headersTimeout: 10e3, connectionsCheckingInterval: 1000, keepAliveTimeout: 60e3 }, (req, res) => {
  handle(req, res).catch((e) => { process.stderr.write(String(e?.stack ?? e) + '\n'); res.destroy(); });
});
server.on('clientError', (err, socket) => {
  if (!socket.writable) return socket.destroy();
  const code = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'becalmed' : err.code === 'HPE_HEADER_OVERFLOW' ? 'top_heavy' : 'garbled';
  const ref = 'ref_' + random(12), body = JSON.stringify(envelope(new Refusal(code), ref));
  socket.end(`HTTP/1.1 ${CODES[code][0]} ${http.STATUS_CODES[CODES[code][0]]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nBee-Ref: ${ref}\r\nBee-Signal: ${code}\r\nConnection: close\r\n\r\n${body}`);
});

// ---- the door of the clock -----------------------------------------------------------------------------------
const DURATION = /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
function plus(t, text) {
  const m = DURATION.exec(text);
  if (!m) return undefined;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((x) => Number(x ?? 0)), at = new Date(t);
  if (y || mo) {
    const day = at.getUTCDate();
    at.setUTCDate(1); at.setUTCMonth(at.getUTCMonth() + mo + 12 * y);
    at.setUTCDate(Math.min(day, new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()));
  }
  return at.getTime() + (w * 7 + d) * DAY + h * HOUR + mi * MIN + Math.round(s * 1000);
}
let moving = Promise.resolve();
const door = http.createServer((req, res) => {
  const say = (status, body) => { const b = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(b) }); res.end(b); };
  if (req.method === 'GET') { req.resume(); return say(200, { now: iso(now()) }); }
  if (req.method !== 'POST') { req.resume(); return say(400, { error: 'GET or POST' }); }
  let text = '';
  req.setEncoding('utf8');
  req.on('data', (x) => { if (text.length < 10000) text += x; });
  req.on('end', () => {
    moving = moving.then(async () => {
      let b, to;
      try { b = JSON.parse(text); } catch { return say(400, { error: 'no JSON' }); }
      if (!isMap(b) || Object.keys(b).length !== 1) return say(400, { error: 'advance or now' });
      const t = now();
      if (typeof b.advance === 'string') to = plus(t, b.advance);
      else if (typeof b.now === 'string' && isDateTime(b.now)) to = Date.parse(b.now);
      if (to === undefined || Number.isNaN(to)) return say(400, { error: 'no time' });
      if (to < t) return say(422, { error: 'that time has passed' });
      await moveTo(to);
      say(200, { now: iso(now()) });
    }).catch((e) => { process.stderr.write(String(e?.stack ?? e) + '\n'); say(500, { error: 'broken' }); });
  });
});
setInterval(() => { if (frozen === null) tick(); }, 250);
server.listen(PORT, '127.0.0.1', () => door.listen(DOOR, '127.0.0.1', () => process.stdout.write(`listening on ${PORT}, clock on ${DOOR}\n`)));
for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => process.exit(0));
