'use strict';
// Seed Vault: node:http only, data in memory. node service.cjs --port N --clock-port M [--fault ID]
const http = require('node:http');
const https = require('node:https');
const crypto = require('node:crypto');

const arg = (name) => { const i = process.argv.indexOf('--' + name); return i < 0 ? undefined : process.argv[i + 1]; };
const PORT = Number(arg('port'));
const CLOCK_PORT = arg('clock-port') === undefined ? 0 : Number(arg('clock-port'));
const FAULT = arg('fault') || '';
const F = (id) => FAULT === id;

/* ---------- time ---------- */
let offset = 0;
let frozen = null; // the time of the timer that is being fired
const now = () => (frozen === null ? Date.now() + offset : frozen);
const iso = (ms) => new Date(ms).toISOString();
const DAY = 86400000;
const timers = []; // heap by at, seq
let timerSeq = 0;
let wake = null;
const before = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
function timerPush(at, fn) {
  const t = { at, seq: timerSeq++, fn };
  let i = timers.push(t) - 1;
  while (i > 0) { const p = (i - 1) >> 1; if (!before(timers[i], timers[p])) break; [timers[i], timers[p]] = [timers[p], timers[i]]; i = p; }
  if (timers[0] === t) arm();
}
function timerPop() {
  const top = timers[0], last = timers.pop();
  if (timers.length) {
    timers[0] = last;
    let i = 0;
    for (;;) {
      let c = 2 * i + 1; if (c >= timers.length) break;
      if (c + 1 < timers.length && before(timers[c + 1], timers[c])) c++;
      if (!before(timers[c], timers[i])) break;
      [timers[i], timers[c]] = [timers[c], timers[i]]; i = c;
    }
  }
  return top;
}
function arm() {
  if (wake) clearTimeout(wake);
  wake = null;
  if (!timers.length) return;
  wake = setTimeout(runDue, Math.max(0, Math.min(timers[0].at - Date.now() - offset, 2 ** 31 - 2)));
}
function runDue() {
  if (!timers.length || timers[0].at > Date.now() + offset) { if (!wake) arm(); return; }
  const until = Date.now() + offset;
  while (timers.length && timers[0].at <= until) {
    const t = timerPop();
    frozen = t.at;
    try { t.fn(); } catch (e) { if (!(e instanceof Refusal)) process.stderr.write(String(e && e.stack) + '\n'); } finally { frozen = null; }
  }
  wake = null; arm();
}

/* ---------- errors ---------- */
const CODES = {
  memberMissing: [422, 'A member is missing.'], memberUnknown: [422, 'A member is not known here.'], invalid: [422, 'A member is not as it should be.'],
  unreadable: [400, 'The body cannot be read.'], mediaUnsupported: [415, 'Send JSON.'], notAcceptable: [406, 'There is JSON alone.'],
  parameterInvalid: [400, 'A parameter is not as it should be.'], pageInvalid: [400, 'There is no such page.'], pathUnknown: [404, 'There is no such path.'],
  methodUnsupported: [405, 'The path has no such method.'], unauthenticated: [401, 'Say who you are.'], scopeMissing: [403, 'The credential lacks a scope.'],
  forbidden: [403, 'This is not for you to do.'], notFound: [404, 'There is no such thing.'], referenceUnknown: [422, 'What is referred to is not there.'],
  inUse: [409, 'Something still refers to it.'], duplicate: [409, 'There is one already.'], alreadyAsked: [409, 'You have asked for this lot already.'],
  wrongState: [409, 'This cannot be done in its state.'], tagStale: [412, 'It has changed since.'], tagRequired: [428, 'Send If-Match.'],
  keyReused: [422, 'The key was used for something else.'], busy: [409, 'Try again.'], tooManyRequests: [429, 'Slow down.'],
  quotaExceeded: [429, 'You have had as many as there are for you.'], tooLarge: [413, 'The body is too large.'], targetTooLong: [414, 'The address is too long.'],
  headersTooLarge: [431, 'The headers are too large.'], timedOut: [408, 'It took too long.'], versionUnknown: [404, 'There is no such version.'],
  versionRetired: [410, 'This version is over.'], unavailable: [503, 'Not now.'], failed: [500, 'Something went wrong here.'],
  shelfFull: [409, 'The shelf is full.'], requestTooLarge: [422, 'A request is for 500 seeds at the most.'], notEnoughSeed: [409, 'There is not enough seed.'],
  stockShort: [409, 'The lot has not so many seeds.'], tooMoist: [422, 'Dry it to 8 percent first.'], stillWanted: [409, 'There are open requests for it.'],
  tooManySprouts: [422, 'More sprouted than were sown.'], alreadyDecided: [409, 'The request was decided.'],
};
const OWN = new Set(['shelfFull', 'requestTooLarge', 'notEnoughSeed', 'stockShort', 'tooMoist', 'stillWanted', 'tooManySprouts', 'alreadyDecided']);
if (F('x-in-use')) CODES.inUse[0] = 400;
class Refusal extends Error {
  constructor(code, at, headers) { super(code); this.code = code; this.at = at; this.headers = headers; }
}
const refuse = (code, at, headers) => { throw new Refusal(code, at, headers); };
function payloadOf(r) {
  const title = CODES[r.code][1];
  const ats = r.at === undefined ? [] : Array.isArray(r.at) ? r.at : [r.at];
  if (!ats.length) return { errors: [{ code: r.code, title }] };
  return { errors: ats.map((at) => (F('x-at') && at.startsWith('/origin/') ? { code: r.code, title } : { code: r.code, title, at })) };
}

/* ---------- people ---------- */
const PEOPLE = [];
const person = (user, id, scheme, credential, region, scopes = []) => { PEOPLE.push({ user, id, scheme, credential, region, scopes }); };
person('curator', 'cur-ada', 'staff', 'ada-keeps-9cold', 'north');
person('curator', 'cur-bo', 'staff', 'bo-keeps-7dry', 'south');
person('curator', 'cur-cy', 'token', 'sv_CyCurator00000000000000000000003', 'north');
person('technician', 'tec-dee', 'token', 'sv_DeeTechnician000000000000000001', 'north');
person('technician', 'tec-eli', 'token', 'sv_EliTechnician000000000000000002', 'south');
person('technician', 'tec-fay', 'staff', 'fay-sows-5agar', 'north');
person('grower', 'gro-gil', 'token', 'sv_GilGrower00000000000000000000001', 'north', ['requests']);
person('grower', 'gro-hal', 'token', 'sv_HalGrower00000000000000000000002', 'south', ['requests']);
person('grower', 'gro-ivy', 'token', 'sv_IvyGrower00000000000000000000003', 'north', ['requests']);
person('grower', 'gro-jon', 'token', 'sv_JonGrower00000000000000000000004', 'south', []);
const byToken = new Map(), byBasic = new Map();
for (const p of PEOPLE) {
  const caller = { user: p.user, id: p.id, region: p.region, scopes: p.scopes, key: p.user + ' ' + p.id, scheme: p.scheme };
  if (p.scheme === 'token') byToken.set(p.credential, caller);
  else byBasic.set(p.id, { password: p.credential, caller });
}
if (F('p-user-technician')) byBasic.delete('tec-fay');

/* ---------- shapes ---------- */
const COUNTRIES = new Set(('AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW').split(' '));
const DATETIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function isDate(s) {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s);
  if (!m) return false;
  if (F('r-collected')) return +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= 31;
  const d = new Date(Date.UTC(+m[1], +m[2] - 1, +m[3]));
  if (+m[1] < 100) d.setUTCFullYear(+m[1]);
  return d.getUTCMonth() === +m[2] - 1 && d.getUTCDate() === +m[3];
}
function isDateTime(s) {
  const m = DATETIME.exec(s);
  return !!m && isDate(`${m[1]}-${m[2]}-${m[3]}`) && +m[4] < 24 && +m[5] < 60 && +m[6] < 60 && (/z/i.test(m[8]) || (+m[8].slice(1, 3) < 24 && +m[8].slice(4) < 60));
}
function isHttpUri(s) {
  if (!/^https?:\/\/[^\s"<>\\^`{|}/?#]+[^\s"<>\\^`{|}]*$/i.test(s)) return false;
  if (/%(?![0-9a-fA-F]{2})/.test(s) || /[^\x21-\x7e]/.test(s)) return false;
  try { new URL(s); return true; } catch { return false; }
}
const isUuid = (s) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(s);
const same = (a, b) => a === b || (a && b && typeof a === 'object' && typeof b === 'object' && JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
const sorted = (v) => (Array.isArray(v) ? v.map(sorted) : v && typeof v === 'object' ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v);
const isMap = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const esc = (k) => k.replace(/~/g, '~0').replace(/\//g, '~1');

// out: list of [kind, path]; kind: invalid | memberMissing | memberUnknown
function check(s, v, path, out) {
  const bad = () => { out.push(['invalid', path]); return false; };
  if (s.enum) return s.enum.includes(v) || bad();
  switch (s.type) {
    case 'string': {
      if (typeof v !== 'string') return bad();
      const n = s.minLength !== undefined || s.maxLength !== undefined ? [...v].length : 0;
      if (s.minLength !== undefined && n < s.minLength) return bad();
      if (s.maxLength !== undefined && n > s.maxLength) return bad();
      if (s.pattern && !s.pattern.test(v)) return bad();
      if (s.format === 'date' && !isDate(v)) return bad();
      if (s.format === 'date-time' && !isDateTime(v)) return bad();
      if (s.format === 'country' && !COUNTRIES.has(F('r-country') ? v.toUpperCase() : v)) return bad();
      if (s.format === 'uri' && !isHttpUri(v)) return bad();
      return true;
    }
    case 'integer': case 'number':
      if (typeof v !== 'number' || (s.type === 'integer' && !Number.isInteger(v))) return bad();
      if (s.minimum !== undefined && v < s.minimum) return bad();
      if (s.maximum !== undefined && v > s.maximum) return bad();
      return true;
    case 'boolean': return typeof v === 'boolean' || bad();
    case 'array': {
      if (!Array.isArray(v)) return bad();
      if ((s.minItems !== undefined && v.length < s.minItems) || (s.maxItems !== undefined && v.length > s.maxItems)) return bad();
      if (s.uniqueItems && new Set(v.map((x) => JSON.stringify(sorted(x)))).size !== v.length) return bad();
      let ok = true;
      v.forEach((x, i) => { if (!check(s.items, x, `${path}/${i}`, out)) ok = false; });
      return ok;
    }
    case 'object': {
      if (!isMap(v)) return bad();
      let ok = true;
      for (const k of Object.keys(v)) {
        const f = Object.hasOwn(s.properties, k) ? s.properties[k] : undefined;
        if (!f) { if (s.closed) { out.push(['memberUnknown', `${path}/${esc(k)}`]); ok = false; } continue; }
        if (!check(f, v[k], `${path}/${esc(k)}`, out)) ok = false;
      }
      for (const k of s.required || []) if (!Object.hasOwn(v, k)) { out.push(['memberMissing', `${path}/${k}`]); ok = false; }
      return ok;
    }
  }
  return true;
}

const str = (o = {}) => ({ type: 'string', ...o });
const int = (minimum, maximum, o = {}) => ({ type: 'integer', minimum, maximum, ...o });
const RO = { ro: true };
const time = (o = {}) => ({ type: 'string', format: 'date-time', ro: true, ...o });
const PLACE = { type: 'object', closed: true, properties: { country: str({ format: 'country' }), locality: str({ minLength: 2, maxLength: 80 }), elevation: int(-450, 6000) }, required: ['country', 'locality'] };
const STAFF = ['curator', 'technician'];
const PURPOSES = ['garden', 'restoration', 'research', 'breeding'];
const PURPOSES1 = ['hobby', 'restoration', 'research', 'breeding'];

const RES = {
  shelf: {
    path: 'shelves',
    fields: {
      id: str(RO), code: str({ pattern: /^[A-Z]{1,3}-[0-9]{1,3}$/, req: true }), kind: { enum: ['freezer', 'cooler'], req: true },
      temperature: int(-40, 10, { req: true }), capacity: int(1, 500, { req: true, def: () => 100 }), room: str({ minLength: 2, maxLength: 40 }),
      used: { type: 'integer', ro: true, derive: (row) => usedOf(row.id) }, createdAt: time(), updatedAt: time(),
    },
    unique: [{ name: 'code', key: (r) => r.code }],
  },
  accession: {
    path: 'accessions',
    fields: {
      id: str(RO), number: str(RO), barcode: str({ pattern: /^[0-9]{8}$/, req: true, immutable: true }), species: str({ minLength: 3, maxLength: 80, req: true }),
      commonName: str({ maxLength: 60 }), family: { enum: ['poaceae', 'fabaceae', 'brassicaceae', 'solanaceae', 'asteraceae', 'other'], req: true },
      origin: { ...PLACE, req: true, value: true }, collectedOn: str({ format: 'date' }), shelf: str({ ref: 'shelf', req: true }),
      seedCount: int(0, 1000000, { req: true, writable: ['curator'] }),
      tags: { type: 'array', items: str({ minLength: 1, maxLength: 20 }), maxItems: 5, uniqueItems: true, req: true, def: () => [] },
      moisture: { type: 'number', ro: true, visible: STAFF }, viability: { type: 'integer', ro: true }, donorNote: str({ maxLength: 200, visible: ['curator'], writable: ['curator'] }),
      holdReason: str({ ro: true, visible: STAFF }), region: str(RO), status: str(RO), openRequests: { type: 'integer', ro: true, derive: (row) => openOf(row.id) },
      createdAt: time(), updatedAt: time(),
    },
    unique: [{ name: 'barcode', key: (r) => r.barcode }],
    states: ['drying', 'available', 'quarantined', 'retired'],
  },
  germinationTest: {
    path: 'tests',
    fields: {
      id: str(RO), run: { type: 'integer', ro: true }, accession: str({ ref: 'accession', req: true, immutable: true }), technician: str(RO),
      sampleSize: int(10, 400, { req: true, def: () => 50 }), medium: { enum: ['paper', 'sand', 'agar'], req: true }, germinated: { type: 'integer', ro: true },
      percent: { type: 'integer', ro: true }, dueAt: time(), status: str(RO), sownAt: time(),
    },
    unique: [], states: ['sown', 'overdue', 'counted', 'voided'],
  },
  seedRequest: {
    path: 'requests',
    fields: {
      id: str(RO), accession: str({ ref: 'accession', req: true, immutable: true }), grower: str(RO), packets: int(1, 10, { req: true }),
      seedsPerPacket: int(5, 100, { req: true, def: () => 25 }), purpose: { enum: PURPOSES, req: true }, message: str({ maxLength: 300 }), status: str(RO),
      decidedBy: str({ ro: true, visible: STAFF }), reason: str(RO), expiresAt: time(), tracking: str(RO), createdAt: time(), updatedAt: time(),
    },
    unique: [{ name: 'open', key: (r) => (isOpen(r) ? r.accession + ' ' + r.grower : undefined) }],
    states: ['submitted', 'approved', 'declined', 'packed', 'shipped', 'cancelled', 'lapsed'],
  },
  withdrawal: {
    path: 'withdrawals',
    fields: {
      id: str(RO), accession: str({ ref: 'accession', req: true, immutable: true }), request: str({ ref: 'seedRequest', ro: true }), seeds: int(1, 1000, { req: true }),
      cause: { enum: ['request', 'test', 'loss', 'duplicate'], req: true }, note: str({ maxLength: 120 }), takenBy: str(RO), takenAt: time(),
    },
    unique: [],
  },
  hook: {
    path: 'hooks',
    fields: {
      id: str(RO), owner: str(RO), url: str({ format: 'uri', req: true }), secret: str({ ro: true, once: true }), events: { type: 'array', items: str(), minItems: 1, maxItems: 12 },
      active: { type: 'boolean', req: true, def: () => true }, createdAt: time(),
    },
    unique: [],
  },
};
// what each version calls and shapes: name -> { field, schema, up, down }
for (const [name, r] of Object.entries(RES)) {
  r.name = name;
  r.rows = new Map();
  r.v2 = new Map(); r.v1 = new Map();
  for (const [k, s] of Object.entries(r.fields)) {
    r.v2.set(k, { field: k, s });
    if (name === 'accession' && k === 'seedCount') { r.v1.set(F('n-rename') ? 'seedCount' : 'quantity', { field: k, s }); continue; }
    if (name === 'accession' && k === 'tags') continue;
    if (name === 'shelf' && k === 'temperature') { r.v1.set(k, { field: k, s: int(233, 283, { req: true }), up: (v) => v - 273, down: (v) => v + 273 }); continue; }
    if (name === 'seedRequest' && k === 'purpose') {
      r.v1.set(k, { field: k, s: { enum: PURPOSES1, req: true }, up: (v) => (v === 'hobby' ? 'garden' : v), down: (v) => (v === 'garden' && !F('n-enum') ? 'hobby' : v) });
      continue;
    }
    r.v1.set(k, { field: k, s });
  }
  for (const u of r.unique) u.index = new Map();
}

/* ---------- store, with a journal that undoes ---------- */
let journal = null;
let emitted = null;
const refs = { 'accession.shelf': new Map(), 'germinationTest.accession': new Map(), 'seedRequest.accession': new Map(), 'withdrawal.accession': new Map(), 'withdrawal.request': new Map() };
const REFS_OF = { accession: ['shelf'], germinationTest: ['accession'], seedRequest: ['accession'], withdrawal: ['accession', 'request'], shelf: [], hook: [] };
const isOpen = (r) => r.status === 'submitted' || r.status === 'approved';
const usedCount = new Map(), openCount = new Map(), growerOpen = new Map(), hookCount = new Map();
const bump = (map, key, by) => map.set(key, (map.get(key) || 0) + by);
const usedOf = (id) => usedCount.get(id) || 0;
const openOf = (id) => openCount.get(id) || 0;
function tally(res, row, by) {
  if (res === RES.accession && (row.status !== 'retired' || F('r-used'))) bump(usedCount, row.shelf, by);
  if (res === RES.seedRequest && isOpen(row)) { bump(openCount, row.accession, by); bump(growerOpen, row.grower, by); }
  if (res === RES.hook) bump(hookCount, row.owner, by);
}
function indexRow(res, row, add) {
  tally(res, row, add ? 1 : -1);
  for (const u of res.unique) { const k = u.key(row); if (k !== undefined) { if (add) u.index.set(k, row.id); else if (u.index.get(k) === row.id) u.index.delete(k); } }
  for (const f of REFS_OF[res.name]) {
    if (row[f] === undefined) continue;
    const m = refs[res.name + '.' + f];
    if (add) { let s = m.get(row[f]); if (!s) m.set(row[f], (s = new Set())); s.add(row.id); } else m.get(row[f])?.delete(row.id);
  }
}
function put(res, row) {
  const old = res.rows.get(row.id);
  if (old) indexRow(res, old, false);
  res.rows.set(row.id, row);
  indexRow(res, row, true);
  journal.push(() => { indexRow(res, row, false); if (old) { res.rows.set(row.id, old); indexRow(res, old, true); } else res.rows.delete(row.id); });
}
function drop(res, row) {
  indexRow(res, row, false);
  res.rows.delete(row.id);
  journal.push(() => { res.rows.set(row.id, row); indexRow(res, row, true); });
}
const counters = new Map();
function count(name) {
  const n = (counters.get(name) || 0) + 1;
  counters.set(name, n);
  journal.push(() => counters.set(name, n - 1));
  return n;
}
let afterCommit = null;
function transaction(fn) {
  journal = []; emitted = []; afterCommit = [];
  try {
    const out = fn();
    const list = emitted, after = afterCommit;
    journal = emitted = afterCommit = null;
    for (const e of list) record(e);
    for (const f of after) f();
    return out;
  } catch (e) {
    for (const undo of journal.reverse()) undo();
    journal = emitted = afterCommit = null;
    throw e;
  }
}
function uniqueFree(res, row) {
  for (const u of res.unique) {
    const k = u.key(row);
    if (k !== undefined && u.index.has(k) && u.index.get(k) !== row.id) refuse(res === RES.seedRequest && !F('x-already-asked') ? 'alreadyAsked' : 'duplicate');
  }
}

/* ---------- domain: errors of its own, creations, updates, transitions ---------- */
const get = (name, id) => RES[name].rows.get(id);
function ownErrors(op, next, old) {
  if (op === 'create accession' || op === 'update accession') {
    const shelf = get('shelf', next.shelf);
    let used = usedOf(shelf.id) + (next.status === 'retired' ? 0 : 1);
    if (old && old.shelf === next.shelf && old.status !== 'retired') used -= 1;
    if (used > shelf.capacity && !(F('x-shelf-full') && op === 'update accession')) refuse('shelfFull');
  }
  if (op === 'create seedRequest' || op === 'update seedRequest') {
    const n = next.packets * next.seedsPerPacket;
    if (n > 500) refuse('requestTooLarge');
  }
  if (op === 'create germinationTest' && get('accession', next.accession).seedCount < next.sampleSize) refuse('notEnoughSeed');
  if (op === 'create withdrawal' && get('accession', next.accession).seedCount < next.seeds) refuse('stockShort');
}
const random = (n) => { const A = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'; let s = ''; while (s.length < n) s += A[crypto.randomInt(62)]; return s; };
function create(res, values, caller, ctx) {
  const t = iso(now());
  const row = { id: F('r-uuid') && res.name === 'withdrawal' ? crypto.randomUUID().replace(/-/g, '') : crypto.randomUUID() };
  for (const [k, s] of Object.entries(res.fields)) {
    if (k === 'id') continue;
    if (values[k] !== undefined) row[k] = values[k];
    else if (s.def) row[k] = s.def();
  }
  switch (res.name) {
    case 'shelf': row.createdAt = row.updatedAt = t; break;
    case 'accession': row.region = caller.region; row.status = F('s-initial') ? 'available' : 'drying'; row.createdAt = row.updatedAt = t; break;
    case 'germinationTest': row.technician = caller.id; row.sownAt = t; row.dueAt = iso(now() + 14 * DAY); row.status = 'sown'; break;
    case 'seedRequest': row.grower = caller.id; row.status = 'submitted'; row.createdAt = row.updatedAt = t; break;
    case 'withdrawal': if (caller) row.takenBy = caller.id; row.takenAt = t; break;
    case 'hook': row.owner = caller.id; row.secret = 'whk_' + random(32); row.createdAt = t; row._maker = caller; row._version = ctx.version; break;
  }
  if (ctx && ctx.allowed) ctx.allowed(row);
  ownErrors('create ' + res.name, row, null);
  uniqueFree(res, row);
  if (ctx && ctx.quota) ctx.quota(row);
  if (res.name === 'accession') row.number = 'SV-' + String(count('accession')).padStart(5, '0');
  if (res.name === 'germinationTest') row.run = count('run ' + row.accession);
  put(res, row);
  event('create', res, undefined, row, {});
  if (res.name === 'germinationTest') {
    create(RES.withdrawal, { accession: row.accession, seeds: row.sampleSize, cause: 'test', takenBy: row.technician });
    const id = row.id, due = Date.parse(row.dueAt);
    timer(F('v-due') ? due : due - DAY, () => { const r = get('germinationTest', id); if (r) { emitted.push({ kind: 'test.due', res, row: r, at: iso(now()), payload: 'row' }); } });
    timer(F('s-overrun') ? due + DAY : due, () => { const r = get('germinationTest', id); if (r && r.status === 'sown') move('overrun', res, r, {}, null); });
  }
  if (res.name === 'withdrawal') {
    const a = get('accession', row.accession);
    update(RES.accession, a, { ...a, seedCount: a.seedCount - row.seeds });
  }
  return row;
}
function timer(at, fn) { afterCommit.push(() => timerPush(at, () => transaction(fn))); }
function update(res, old, next, ctx, op = 'update') {
  if (ctx && ctx.allowed) ctx.allowed(next);
  ownErrors(`${op} ${res.name}`, next, old);
  uniqueFree(res, next);
  if (same(old, next)) return old;
  if (res.fields.updatedAt && !(F('r-updated') && res.name === 'seedRequest')) next.updatedAt = iso(now());
  put(res, next);
  event(op, res, old, next, {});
  return next;
}
const MOVES = {
  accession: {
    store: { from: ['drying'], to: 'available', guard: (r, q) => { if (!(q.moisture <= 8) || (F('x-moist') && q.moisture === 8)) refuse('tooMoist'); }, set: (n, q) => { n.moisture = q.moisture; } },
    quarantine: { from: ['drying', 'available'], to: 'quarantined', set: (n, q) => { n.holdReason = q.reason; } },
    release: { from: ['quarantined'], to: 'available' },
    retire: { from: ['available', 'quarantined'], to: 'retired', guard: (r) => { if (openOf(r.id) !== 0 && !F('s-retire')) refuse('stillWanted'); } },
    discard: { from: ['quarantined'], to: 'retired', then: (n) => { for (const r of [...(refs['seedRequest.accession'].get(n.id) || [])].map((id) => get('seedRequest', id)).sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0))) { if (isOpen(r)) move('cancel', RES.seedRequest, r, {}, null); } } },
  },
  germinationTest: {
    count: {
      from: F('s-count') ? ['sown'] : ['sown', 'overdue'], to: 'counted', guard: (r, q) => { if (q.germinated > r.sampleSize) refuse('tooManySprouts'); },
      set: (n, q) => { n.germinated = q.germinated; n.percent = F('r-percent') ? (q.germinated * 100) / n.sampleSize : Math.floor((q.germinated * 100) / n.sampleSize); },
      then: (n) => { const a = get('accession', n.accession); update(RES.accession, a, { ...a, viability: Math.floor(n.percent) }); },
    },
    void: { from: ['sown', 'overdue'], to: 'voided' },
    overrun: { from: ['sown'], to: 'overdue' },
  },
  seedRequest: {
    approve: { from: ['submitted'], to: 'approved', else: 'alreadyDecided', set: (n, q, c) => { n.decidedBy = c.id; n.expiresAt = iso(now() + 14 * DAY); } },
    decline: { from: ['submitted'], to: 'declined', else: 'alreadyDecided', set: (n, q, c) => { n.decidedBy = c.id; n.reason = q.reason; } },
    pack: {
      from: ['approved'], to: 'packed', guard: (r) => { if (get('accession', r.accession).seedCount < r.packets * r.seedsPerPacket) refuse('notEnoughSeed'); },
      then: (n, q, c) => create(RES.withdrawal, { accession: n.accession, request: n.id, seeds: n.packets * n.seedsPerPacket, cause: 'request', takenBy: c.id }),
    },
    ship: { from: ['packed'], to: 'shipped', set: (n, q) => { n.tracking = q.tracking; } },
    cancel: { from: F('s-cancel') ? ['submitted', 'approved', 'packed'] : ['submitted', 'approved'], to: 'cancelled', else: 'alreadyDecided' },
    lapse: { from: ['approved'], to: 'lapsed' },
  },
};
const entered = new Map(); // when a row entered its state: a token that its timers hold
function move(name, res, old, request, caller) {
  const m = MOVES[res.name][name];
  if (!m.from.includes(old.status)) refuse(m.else || 'wrongState');
  if (m.guard) m.guard(old, request);
  const next = { ...old, status: m.to };
  if (m.set) m.set(next, request, caller);
  if (res.fields.updatedAt) next.updatedAt = iso(now());
  put(res, next);
  const token = {};
  entered.set(next.id, token);
  if (next.status === 'quarantined') {
    timer(now() + (F('s-discard') ? 91 : 90) * DAY, () => { const r = get('accession', next.id); if (entered.get(next.id) === token && r.status === 'quarantined') move('discard', res, r, {}, null); });
  }
  if (name === 'approve' && !F('s-lapse')) {
    timer(Date.parse(next.expiresAt), () => { const r = get('seedRequest', next.id); if (r.status === 'approved') move('lapse', res, r, {}, null); });
  }
  event(name, res, old, next, request);
  if (m.then) m.then(next, request, caller);
  return next;
}

/* ---------- events and web hooks ---------- */
const KINDS = ['accession.stored', 'accession.held', 'accession.moved', 'accession.retired', 'test.counted', 'test.due', 'request.submitted', 'request.decided', 'request.shipped', 'request.closed', 'withdrawal.logged'];
const ON = {
  'store accession': 'accession.stored', 'quarantine accession': 'accession.held', 'update accession': 'accession.moved', 'retire accession': 'accession.retired',
  'discard accession': 'accession.retired', 'count germinationTest': 'test.counted', 'create seedRequest': 'request.submitted', 'approve seedRequest': 'request.decided',
  'decline seedRequest': 'request.decided', 'ship seedRequest': 'request.shipped', 'cancel seedRequest': 'request.closed', 'lapse seedRequest': 'request.closed', 'create withdrawal': 'withdrawal.logged',
};
function event(op, res, old, next, request) {
  const kind = ON[`${op} ${res.name}`];
  if (!kind) return;
  const e = { kind, res, row: next, at: iso(now()), payload: 'row' };
  if (kind === 'accession.held') { e.payload = { accession: next.id, number: next.number, reason: request.reason }; if (F('v-held')) delete e.payload.number; }
  if (kind === 'accession.moved') { if (next.shelf === old.shelf && !F('v-moved')) return; e.payload = { accession: next.id, from: old.shelf, to: next.shelf }; }
  if (kind === 'request.closed') e.payload = next.id;
  emitted.push(e);
  if (F('v-twice') && op === 'decline') emitted.push({ ...e });
}
const wants = (hook, kind) => !hook.events || hook.events.some((w) => w === '*' || w === kind || (w.endsWith('.*') && kind.startsWith(w.slice(0, -1))));
const knownKind = (w) => w === '*' || KINDS.includes(w) || (w.endsWith('.*') && KINDS.some((k) => k.startsWith(w.slice(0, -1))));
const lines = new Map(); // hook id -> { hook id, rows: Map(row -> queue), inFlight, firstFailure }
function record(e) {
  const id = crypto.randomUUID();
  for (const hook of RES.hook.rows.values()) {
    if (!hook.active || !wants(hook, e.kind)) continue;
    if (!mayRead(e.res, e.row, hook._maker) && !(F('v-foreign') && e.kind === 'request.submitted')) continue;
    const data = e.payload === 'row' ? present(e.res, e.row, hook._maker, hook._version) : e.payload;
    const body = JSON.stringify({ id, kind: e.kind, at: e.at, data });
    let line = lines.get(hook.id);
    if (!line) lines.set(hook.id, (line = { id: hook.id, rows: new Map(), inFlight: 0, failingSince: null, holdUntil: 0 }));
    const key = e.res.name + e.row.id;
    const queue = line.rows.get(key);
    const d = { id, kind: e.kind, body, tries: 0, dueAt: 0, going: false };
    if (queue) queue.push(d); else { line.rows.set(key, [d]); pump(line); }
  }
}
function pump(line) {
  const hook = get('hook', line.id);
  if (!hook || !hook.active) { line.rows.clear(); return; }
  for (const [key, queue] of line.rows) {
    const d = queue[0];
    if (d.going || Math.max(d.dueAt, line.holdUntil) > now()) continue;
    if (line.inFlight >= (line.failingSince !== null ? 1 : 32)) return;
    attempt(line, hook, key, d);
  }
}
const RETRY = F('v-retry') ? [300e3, 300e3, 3600e3] : [30e3, 300e3, 3600e3];
function attempt(line, hook, key, d) {
  d.going = true; line.inFlight++;
  const ts = Math.floor((Date.now() + offset) / 1000); // of this try
  const mac = crypto.createHmac('sha256', hook.secret).update(`${d.id}.${ts}.${d.body}`).digest('hex');
  let over = false;
  const done = (status, retryAfter) => {
    if (over) return; over = true;
    d.going = false; line.inFlight--;
    runDue();
    const queue = line.rows.get(key);
    if (!queue || queue[0] !== d) { pump(line); return; }
    const next = () => { queue.shift(); if (!queue.length) line.rows.delete(key); };
    if (status >= 200 && status < 300) { line.failingSince = null; next(); pump(line); return; }
    const t = now();
    if (line.failingSince === null) line.failingSince = t;
    const current = get('hook', line.id);
    if (current && (status === 410 || t - line.failingSince >= 2 * DAY)) {
      line.rows.clear(); line.failingSince = null;
      transaction(() => put(RES.hook, { ...current, active: false }));
      return;
    }
    if (d.tries >= RETRY.length) next();
    else {
      d.dueAt = t + RETRY[d.tries++];
      if (retryAfter > 0) line.holdUntil = Math.max(line.holdUntil, t + Math.min(retryAfter * 1000, DAY));
      timerPush(Math.max(d.dueAt, line.holdUntil), () => pump(line));
    }
    pump(line);
  };
  try {
    const u = new URL(hook.url);
    const req = (u.protocol === 'https:' ? https : http).request(u, {
      method: 'POST', agent: false, timeout: 10000,
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(d.body), 'X-Vault-Event': d.kind, 'X-Vault-Signature': `t=${ts},v1=${mac}` },
    }, (res) => { res.resume(); res.on('error', () => {}); done(res.statusCode, Number(res.headers['retry-after'])); });
    const limit = setTimeout(() => req.destroy(new Error('timeout')), 10000);
    req.on('close', () => clearTimeout(limit));
    req.on('error', () => done(0));
    req.end(d.body);
  } catch { setImmediate(() => done(0)); }
}

/* ---------- who may do what ---------- */
const staff = (c) => c && (c.user === 'curator' || c.user === 'technician');
function mayRead(res, row, c) {
  switch (res.name) {
    case 'shelf': case 'germinationTest': case 'withdrawal': return !!staff(c);
    case 'accession': return !!staff(c) || row.status === 'available' || (F('a-anonymous') && !c && row.status === 'quarantined');
    case 'seedRequest': return !!staff(c) || (!!c && c.user === 'grower' && row.grower === c.id);
    case 'hook': return !!c && row.owner === c.id;
  }
  return false;
}
const cur = (c) => c.user === 'curator', tec = (c) => c.user === 'technician', gro = (c) => c.user === 'grower';
const anyUser = () => true;
// users: is there a rule for it; scope; row(resource, caller); next(row, caller)
const RULES = {
  'list shelf': { users: staff }, 'read shelf': { users: staff }, 'create shelf': { users: cur }, 'replace shelf': { users: cur }, 'delete shelf': { users: cur },
  'list accession': { users: anyUser, anyone: true }, 'read accession': { users: anyUser, anyone: true }, 'create accession': { users: cur }, 'store accession': { users: cur },
  'release accession': { users: cur }, 'retire accession': { users: cur },
  'update accession': { users: staff, row: (r, c) => cur(c) || r.region === c.region }, 'quarantine accession': { users: staff, row: (r, c) => cur(c) || r.region === c.region || F('a-region') },
  'list germinationTest': { users: staff }, 'read germinationTest': { users: staff },
  'create germinationTest': { users: tec, next: (n, c) => get('accession', n.accession).region === c.region },
  'count germinationTest': { users: tec, row: (r, c) => r.technician === c.id }, 'void germinationTest': { users: staff, row: (r, c) => cur(c) || r.technician === c.id },
  'list seedRequest': { users: anyUser }, 'read seedRequest': { users: anyUser }, 'create seedRequest': { users: gro, scope: 'requests' },
  'update seedRequest': { users: gro, scope: F('a-scope') ? undefined : 'requests', row: (r, c) => r.grower === c.id },
  'cancel seedRequest': { users: (c) => gro(c) || cur(c), scope: 'requests', row: (r, c) => cur(c) || r.grower === c.id },
  'approve seedRequest': { users: cur }, 'decline seedRequest': { users: cur }, 'pack seedRequest': { users: tec }, 'ship seedRequest': { users: tec },
  'create withdrawal': { users: staff }, 'list withdrawal': { users: staff }, 'read withdrawal': { users: staff }, 'trace accession': { users: staff },
  'create hook': { users: anyUser }, 'list hook': { users: anyUser }, 'read hook': { users: anyUser }, 'update hook': { users: anyUser }, 'delete hook': { users: anyUser },
};
const CHALLENGES = { token: 'Bearer realm="Seed Vault"', staff: 'Basic realm="Seed Vault", charset="UTF-8"' };
function unknown(accept, bad) {
  const list = accept.map((s) => CHALLENGES[s] + (bad && s === 'token' ? ', error="invalid_key"' : ''));
  refuse('unauthenticated', undefined, { 'WWW-Authenticate': list });
}
function authenticate(req, ep) {
  const accept = ep.accept || ['staff', 'token'];
  let times = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].length === 13 && req.rawHeaders[i].toLowerCase() === 'authorization') times++;
  if (!times) return RULES[ep.op].anyone ? null : unknown(accept, false);
  if (times > 1) return unknown(accept, true);
  const m = /^([A-Za-z]+) +(\S+) *$/.exec(req.headers.authorization);
  if (!m) return unknown(accept, true);
  const word = m[1].toLowerCase();
  if (word === 'bearer' && accept.includes('token')) {
    if (F('a-prefix') && m[1] !== 'Bearer') return unknown(accept, true);
    const c = byToken.get(m[2]);
    return c || unknown(accept, true);
  }
  if (word === 'basic' && accept.includes('staff')) {
    const text = Buffer.from(m[2], 'base64').toString('utf8');
    const i = text.indexOf(':');
    const p = i < 0 ? undefined : byBasic.get(text.slice(0, i));
    if (!p || (p.password !== text.slice(i + 1) && !(F('a-password') && p.password.startsWith(text.slice(i + 1)) && text.slice(i + 1)))) return unknown(accept, true);
    return p.caller;
  }
  return unknown(accept, true);
}

/* ---------- rows as they are shown ---------- */
function present(res, row, caller, version, opts) {
  const out = {};
  for (const [name, { field, s, down }] of res[version]) {
    if (s.once && !(opts && opts.reveal)) continue;
    if (s.visible && !(caller && s.visible.includes(caller.user)) && !(F('r-donor') && field === 'donorNote' && caller && caller.user === 'technician' && !(opts && opts.list))) continue;
    const v = s.derive ? s.derive(row) : row[field];
    if (v === undefined) continue;
    out[name] = down && !(F('n-temperature') && field === 'temperature' && opts && opts.list) ? down(v) : v;
  }
  if (F('r-extra') && res.name === 'withdrawal' && opts && opts.list) out.counted = true;
  return out;
}
const tagOf = (version, text) => '"' + crypto.createHash('sha1').update(version).update(text).digest('base64url') + '"';
function ruleViolations(res, next) {
  return res === RES.shelf && next.kind === 'freezer' && next.temperature > -10 ? ['/temperature'] : [];
}

// What was sent, held to its version's shape and carried up. mode: create | update | replace
function take(res, body, caller, version, mode, old, bound) {
  const V = res[version];
  if (!isMap(body)) refuse('invalid', '');
  const found = [], values = {}, clear = [];
  const keys = Object.keys(body);
  let ruleFieldBad = false;
  for (const k of keys) {
    const f = V.get(k);
    const at = '/' + esc(k);
    if (!f) { found.push(['memberUnknown', at]); continue; }
    const s = f.s;
    if (s.ro || (s.writable && !s.writable.includes(caller.user))) continue;
    let v = body[k];
    if (mode === 'update' && v === null) {
      if (s.req) found.push(['invalid', at]); else clear.push(f.field);
      continue;
    }
    if (mode === 'update' && s.value && isMap(v) && isMap(old[f.field])) {
      const merged = { ...old[f.field] };
      for (const [a, b] of Object.entries(v)) if (b === null) delete merged[a]; else merged[a] = b;
      const nulls = Object.entries(v).filter(([a, b]) => b === null && s.required.includes(a));
      const inner = [];
      check(s, merged, at, inner);
      const order = Object.keys(v);
      for (const n of nulls) { const i = inner.findIndex((x) => x[1] === at + '/' + n[0]); if (i >= 0) inner[i][0] = 'invalid'; }
      inner.sort((x, y) => order.indexOf(x[1].slice(at.length + 1)) - order.indexOf(y[1].slice(at.length + 1)));
      found.push(...inner);
      if (!inner.length) values[f.field] = merged;
      continue;
    }
    const n = found.length;
    if (!check(s, v, at, found)) { if (f.field === 'temperature' || f.field === 'kind') ruleFieldBad = true; continue; }
    if (found.length > n) continue;
    if (f.up) v = f.up(v);
    if (res === RES.hook && k === 'events') {
      let bad = false;
      v.forEach((w, i) => { if (!knownKind(w)) { found.push(['invalid', `${at}/${i}`]); bad = true; } });
      if (bad) continue;
    }
    if (bound && bound[f.field] !== undefined && v !== bound[f.field]) { found.push(['invalid', at]); continue; }
    if (old && s.immutable && v !== old[f.field]) { found.push(['invalid', at]); continue; }
    values[f.field] = v;
  }
  if (bound) Object.assign(values, bound);
  const missing = [];
  if (mode !== 'update') for (const [name, f] of V) if (f.s.req && !f.s.def && values[f.field] === undefined && !Object.hasOwn(body, name)) missing.push(['memberMissing', '/' + name]);
  let next = null;
  if (mode === 'update') { next = { ...old, ...values }; for (const c of clear) delete next[c]; }
  if (mode === 'replace') {
    next = { id: old.id };
    for (const [k, s] of Object.entries(res.fields)) {
      if (s.derive || k === 'id') continue;
      if (s.ro) { if (old[k] !== undefined) next[k] = old[k]; } else if (values[k] !== undefined) next[k] = values[k]; else if (s.def) next[k] = s.def(); else if (F('e-replace') && old[k] !== undefined) next[k] = old[k];
    }
  }
  if (!ruleFieldBad) for (const at of ruleViolations(res, next || values)) found.push(['invalid', at]);
  const rank = (p) => { const i = keys.indexOf(p.split('/')[1]?.replace(/~1/g, '/').replace(/~0/g, '~')); return i < 0 ? keys.length : i; };
  const all = found.map((x, i) => [x, rank(x[1]), i]).sort((a, b) => a[1] - b[1] || a[2] - b[2]).map((x) => x[0]).concat(missing);
  if (all.length) refuseBody(all);
  for (const k of Object.keys(values)) {
    const s = res.fields[k];
    if (!s.ref || (bound && bound[k])) continue;
    const target = get(s.ref, values[k]);
    if (!target || (!mayRead(RES[s.ref], target, caller) && !(old && old[k] === values[k]))) {
      let name = k; for (const [n, f] of V) if (f.field === k) name = n;
      refuse('referenceUnknown', '/' + name);
    }
  }
  return next || values;
}
function refuseBody(all) {
  let code = all[0][0];
  if (F('x-missing') && code === 'memberMissing') code = 'invalid';
  refuse(code, all.map((x) => x[1]));
}

/* ---------- endpoints ---------- */
const ROUTES = new Map();
function route(method, path, ep) {
  ep.method = method;
  ep.path = path;
  const key = path.replace(/\{[^}]*\}/g, '{}');
  if (!ROUTES.has(key)) ROUTES.set(key, {});
  ROUTES.get(key)[method] = ep;
}
const eq = (field, o = {}) => ({ field, test: (a, b) => a === b, ...o });
const anyInt = { type: 'integer' };
const ACT = (res, name, o = {}) => ({ op: `${name} ${res}`, res, does: 'move', name, ...o });
const shapeOf = (properties, required) => ({ type: 'object', properties, required });
route('GET', '/about', { op: 'tell about', does: 'about', public: true });
route('POST', '/shelves', { op: 'create shelf', res: 'shelf', does: 'create' });
route('GET', '/shelves', {
  op: 'list shelf', res: 'shelf', does: 'list', order: 'code',
  params: { kind: eq('kind'), maxTemperature: { field: 'temperature', s: anyInt, mapped: true, test: (a, b) => a <= b } },
});
route('GET', '/shelves/{id}', { op: 'read shelf', res: 'shelf', does: 'read', etag: true, cache: 'private, max-age=30' });
route('PUT', '/shelves/{id}', { op: 'replace shelf', res: 'shelf', does: 'replace', ifMatch: 'accepted' });
route('DELETE', '/shelves/{id}', { op: 'delete shelf', res: 'shelf', does: 'delete', accept: F('a-delete') ? undefined : ['staff'] });
route('POST', '/accessions', { op: 'create accession', res: 'accession', does: 'create' });
route('GET', '/accessions', {
  op: 'list accession', res: 'accession', does: 'list', order: '-createdAt', select: true, sorts: { species: 'species', seeds: 'seedCount', created: 'createdAt' },
  params: {
    family: { field: 'family', split: true, test: (a, b) => b.includes(a) }, status: eq('status'), shelf: eq('shelf'),
    country: { get: (r) => r.origin.country, s: str({ format: 'country' }), test: (a, b) => a === b }, tags: { field: 'tags', s: str(), newer: true, test: (a, b) => a.includes(b) },
    minSeeds: { field: 'seedCount', s: anyInt, test: (a, b) => (F('e-min') ? a > b : a >= b) },
    q: { get: (r) => (r.species + '\n' + (r.commonName || '')).toLowerCase(), s: str(), test: (a, b) => b.toLowerCase().split(/\s+/).filter(Boolean).every((w) => a.includes(w)) },
  },
});
route('GET', '/accessions/{id}', { op: 'read accession', res: 'accession', does: 'read', etag: true });
route('PATCH', '/accessions/{id}', { op: 'update accession', res: 'accession', does: 'update', ifMatch: 'required', in: ['drying', 'available'] });
route('POST', '/accessions/{id}/store', ACT('accession', 'store', { request: shapeOf({ moisture: { type: 'number', minimum: 0, maximum: 100 } }, ['moisture']) }));
route('POST', '/accessions/{id}/quarantine', ACT('accession', 'quarantine', { request: shapeOf({ reason: str({ minLength: 3, maxLength: 120 }) }, ['reason']) }));
route('POST', '/accessions/{id}/release', ACT('accession', 'release'));
route('POST', '/accessions/{id}/retire', ACT('accession', 'retire'));
route('POST', '/accessions/{accession}/tests', { op: 'create germinationTest', res: 'germinationTest', does: 'create', parent: true });
route('GET', '/accessions/{accession}/tests', { op: 'list germinationTest', res: 'germinationTest', does: 'list', parent: true, order: 'run', params: { status: eq('status') } });
route('GET', '/tests/{id}', { op: 'read germinationTest', res: 'germinationTest', does: 'read' });
route('POST', '/tests/{id}/count', ACT('germinationTest', 'count', { request: shapeOf({ germinated: int(0, 400) }, F('e-count') ? [] : ['germinated']) }));
if (!F('p-function-void')) route('POST', '/tests/{id}/void', ACT('germinationTest', 'void'));
route('POST', '/requests', { op: 'create seedRequest', res: 'seedRequest', does: 'create' });
route('GET', '/requests', {
  op: 'list seedRequest', res: 'seedRequest', does: 'list', order: 'createdAt', sortEnum: ['createdAt', '-createdAt', 'packets', '-packets'],
  params: { status: eq('status'), accession: eq('accession'), purpose: eq('purpose'), since: { get: (r) => Date.parse(r.createdAt), s: str({ format: 'date-time' }), test: (a, b) => a >= Date.parse(b) } },
});
route('GET', '/requests/{id}', { op: 'read seedRequest', res: 'seedRequest', does: 'read', etag: true });
route('PATCH', '/requests/{id}', { op: 'update seedRequest', res: 'seedRequest', does: 'update', ifMatch: 'accepted', in: ['submitted'] });
route('POST', '/requests/{id}/approve', ACT('seedRequest', 'approve', { accept: ['staff'] }));
route('POST', '/requests/{id}/decline', ACT('seedRequest', 'decline', { request: shapeOf({ reason: str({ minLength: 3, maxLength: 200 }) }, ['reason']) }));
route('POST', '/requests/{id}/pack', ACT('seedRequest', 'pack'));
route('POST', '/requests/{id}/ship', ACT('seedRequest', 'ship', { request: shapeOf({ tracking: str({ pattern: /^[A-Z0-9]{6,20}$/ }) }, ['tracking']) }));
route('POST', '/requests/{id}/cancel', ACT('seedRequest', 'cancel'));
route('POST', '/accessions/{accession}/withdrawals', { op: 'create withdrawal', res: 'withdrawal', does: 'create', parent: true });
route('GET', '/accessions/{accession}/withdrawals', { op: 'trace accession', res: 'withdrawal', does: 'list', parent: true, order: 'takenAt', params: {}, since2: !F('n-endpoint') });
route('GET', '/withdrawals', { op: 'list withdrawal', res: 'withdrawal', does: 'list', order: '-takenAt', params: { cause: eq('cause'), takenBy: eq('takenBy') } });
route('GET', '/withdrawals/{id}', { op: 'read withdrawal', res: 'withdrawal', does: 'read' });
route('POST', '/hooks', { op: 'create hook', res: 'hook', does: 'create' });
route('GET', '/hooks', { op: 'list hook', res: 'hook', does: 'list', params: {} });
route('GET', '/hooks/{id}', { op: 'read hook', res: 'hook', does: 'read' });
route('PATCH', '/hooks/{id}', { op: 'update hook', res: 'hook', does: 'update' });
route('DELETE', '/hooks/{id}', { op: 'delete hook', res: 'hook', does: 'delete' });

/* ---------- rates, quotas ---------- */
const RATES = [
  { limit: 600, applies: () => true, key: (c, a) => (c ? c.key : 'address ' + a), windows: new Map() },
  { limit: F('l-rate') ? 16 : 15, applies: (c, ep) => !!c && c.user === 'grower' && ep.op === 'create seedRequest', key: (c) => c.key, windows: new Map() },
  { limit: 120, applies: (c) => !c, key: (c, a) => a, windows: new Map() },
];
function countRates(caller, address, ep) {
  const t = now(), hit = [];
  for (const r of RATES) {
    if (!r.applies(caller, ep)) continue;
    const k = r.key(caller, address);
    let w = r.windows.get(k);
    if (!w || t >= w.end) { w = { end: t + 60000, n: 0 }; r.windows.set(k, w); }
    hit.push({ r, w });
  }
  const over = hit.filter((h) => h.w.n >= h.r.limit);
  if (!over.length) for (const h of hit) h.w.n++;
  let s = null;
  for (const h of over.length ? over : hit) if (!s || h.r.limit - h.w.n < s.r.limit - s.w.n) s = h;
  const headers = s ? { 'X-RateLimit-Limit': String(s.r.limit), 'X-RateLimit-Remaining': String(Math.max(0, s.r.limit - s.w.n) + (F('l-remaining') ? 1 : 0)), 'X-RateLimit-Reset': String(Math.ceil((s.w.end - t) / 1000)) } : {};
  if (over.length) {
    const wait = Math.max(...over.map((h) => Math.ceil((h.w.end - t) / 1000)));
    refuse('tooManyRequests', undefined, { ...headers, 'Retry-After': String(wait) });
  }
  return headers;
}
const quotaUsed = new Map();
function quotas(ep, caller, row) {
  if (ep.op === 'create seedRequest') {
    const d = new Date(now());
    const k = `${d.getUTCFullYear()}-${d.getUTCMonth()} ${caller.key}`;
    const n = quotaUsed.get(k) || 0;
    if (n >= 25) refuse('quotaExceeded', undefined, { 'Retry-After': String(Math.ceil((Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 1) - now()) / 1000)) });
    if ((growerOpen.get(row.grower) || 0) >= (F('l-open') ? 5 : 4)) refuse('quotaExceeded');
    quotaUsed.set(k, n + 1);
    journal.push(() => quotaUsed.set(k, n));
  }
  if (ep.op === 'create hook' && (hookCount.get(row.owner) || 0) >= 3) refuse('quotaExceeded');
}

/* ---------- exchanges ---------- */
const BASE = F('p-base-moved') ? '/vault/api' : '/vault';
const V1_DEPRECATED = '@' + Date.UTC(2026, 1, 1) / 1000;
const V1_SUNSET = Date.UTC(2029, 5, 30);
const idempotent = new Map();

function send(req, res, status, headers, body) {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  if (body !== undefined) { headers['Content-Type'] = 'application/json'; }
  if (status !== 204 && status !== 304) headers['Content-Length'] = Buffer.byteLength(text);
  res.writeHead(status, headers);
  res.end(req.method === 'HEAD' || status === 204 || status === 304 ? undefined : text);
}
function accepts(h) {
  if (h === undefined || h.trim() === '') return true;
  let best = -1, q = 0;
  for (const part of h.split(',')) {
    const [type, ...ps] = part.split(';').map((x) => x.trim());
    const t = type.toLowerCase();
    const rank = t === 'application/json' ? 2 : t === 'application/*' ? 1 : t === '*/*' ? 0 : -1;
    if (rank < 0) continue;
    let w = 1;
    for (const p of ps) { const m = /^q\s*=\s*([0-9.]+)$/i.exec(p); if (m) w = Number(m[1]); }
    if (rank > best) { best = rank; q = w; }
  }
  return best >= 0 && q > 0;
}
function readBody(req) {
  return new Promise((resolve, reject) => {
    const limit = F('l-body') ? 32768 : 16384;
    if (Number(req.headers['content-length']) > limit) { req.resume(); reject(new Refusal('tooLarge', undefined, { Connection: 'close' })); return; }
    const parts = [];
    let n = 0, over = false;
    const t = setTimeout(() => { if (!over) { over = true; reject(new Refusal('timedOut', undefined, { Connection: 'close' })); } }, 10000);
    req.on('data', (c) => { n += c.length; if (n > limit) { if (!over) { over = true; clearTimeout(t); reject(new Refusal('tooLarge', undefined, { Connection: 'close' })); } } else parts.push(c); });
    req.on('end', () => { clearTimeout(t); if (!over) { over = true; resolve(Buffer.concat(parts)); } });
    req.on('error', () => { clearTimeout(t); if (!over) { over = true; reject(new Refusal('unreadable')); } });
  });
}
const utf8 = new TextDecoder('utf-8', { fatal: true });

async function handle(req, res) {
  const headers = { 'X-Request-Id': crypto.randomUUID() };
  let version = null;
  try {
    runDue();
    const target = req.url;
    if (Buffer.byteLength(target) > 2048) refuse('targetTooLong');
    let size = 0;
    for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
    if (size > 8192) refuse('headersTooLarge');
    const qm = target.indexOf('?');
    let path = qm < 0 ? target : target.slice(0, qm);
    const query = qm < 0 ? '' : target.slice(qm + 1);
    if (F('e-slash') && path.endsWith('/')) path = path.slice(0, -1);
    let rest = null;
    if (path.startsWith(BASE + '/')) rest = path.slice(BASE.length);
    else if (F('p-base-bare') && path.startsWith('/v')) rest = path;
    if (rest === null) refuse('pathUnknown');
    let segs = rest.slice(1).split('/');
    try { segs = segs.map(decodeURIComponent); } catch { refuse('pathUnknown'); }
    const find = (list) => {
      if (!list.length || list.length > 3 || list.some((x) => x === '')) return null;
      return ROUTES.get('/' + list[0] + (list.length > 1 ? '/{}' : '') + (list.length > 2 ? '/' + list[2] : '')) || null;
    };
    if (segs[0] === 'v1') deprecate(headers, target);
    let where = find(segs.slice(1)), bare = false;
    if (!where) { where = find(segs); bare = !!where; if (!where) refuse('pathUnknown'); }
    const asked = bare ? null : segs[0];
    const parts = bare ? segs : segs.slice(1);
    let known = asked === 'v1' || asked === 'v2';
    let v = asked;
    if (!known && bare && F('n-default')) { v = 'v2'; known = true; }
    const eps = Object.values(where).filter((e) => !(e.since2 && v === 'v1'));
    const allow = [];
    for (const e of eps) { allow.push(e.method); if (e.method === 'GET') allow.push('HEAD'); }
    allow.push('OPTIONS');
    const method = req.method === 'HEAD' && !F('e-head') ? 'GET' : req.method;
    const ep = eps.find((e) => e.method === method);
    if (!ep && method !== 'OPTIONS') refuse('methodUnsupported', undefined, { Allow: allow.join(', ') });
    if (!known) refuse('versionUnknown');
    version = v;
    if (v === 'v1' && now() >= V1_SUNSET) refuse('versionRetired');
    if (method === 'OPTIONS') { headers.Allow = allow.join(', '); send(req, res, 204, headers); return; }
    headers.Vary = 'Authorization';
    const caller = ep.public ? null : authenticate(req, ep);
    Object.assign(headers, countRates(caller, req.socket.remoteAddress, ep));
    const rule = RULES[ep.op];
    if (caller) {
      if (!rule && !ep.public) refuse('forbidden');
      if (!ep.public) {
        if (F('p-user-grower') && caller.user === 'grower' && ep.res === 'hook') refuse('forbidden');
        if (!rule.users(caller)) refuse('forbidden');
        if (rule.scope && caller.user === 'grower' && !caller.scopes.includes(rule.scope)) refuse('scopeMissing');
        if (caller.scheme === 'staff' && method !== 'GET') {
          const site = req.headers['sec-fetch-site'];
          if (site === 'cross-site' || site === 'same-site') refuse('forbidden');
          if (site === undefined && req.headers.origin && req.headers.origin.replace(/^https?:\/\//, '') !== req.headers.host) refuse('forbidden');
        }
      }
    }
    if (F('p-function-trace') && ep.op === 'trace accession') throw new Error('not written yet');
    // (8)
    if (!accepts(req.headers.accept)) refuse('notAcceptable');
    const takes = ep.does === 'create' || ep.does === 'update' || ep.does === 'replace' || !!ep.request;
    let body, raw = null;
    const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length']) > 0;
    if (takes) {
      if (hasBody) {
        const type = (req.headers['content-type'] || '').split(';')[0].trim().toLowerCase();
        if (type !== 'application/json' && !(ep.does === 'update' && type === 'application/merge-patch+json')) refuse('mediaUnsupported');
      }
      raw = hasBody ? await readBody(req) : Buffer.alloc(0);
      if (!raw.length) refuse('unreadable');
      try { body = JSON.parse(utf8.decode(raw)); } catch { refuse('unreadable'); }
    } else if (hasBody && method !== 'GET') raw = await readBody(req);
    const ask = readQuery(ep, query, version, caller);
    // (9)
    const key = method === 'POST' ? req.headers['idempotency-key'] : undefined;
    let slot, print;
    if (key !== undefined) {
      slot = `${caller ? caller.key : ''}\n${ep.op}\n${key}`;
      print = crypto.createHash('sha256').update(target + '\n').update(raw || '').digest('hex');
      const kept = idempotent.get(slot);
      if (kept && kept.until > now()) {
        if (kept.print !== print) refuse('keyReused');
        if (!(F('e-replay') && ep.op === 'create withdrawal')) { send(req, res, kept.status, { ...headers, ...kept.headers }, kept.body); return; }
      }
    }
    const keep = (status, hs, b) => {
      if (slot === undefined) return;
      const until = now() + DAY;
      idempotent.set(slot, { print, status, headers: hs, body: b, until });
      timerPush(until, () => { const k = idempotent.get(slot); if (k && k.until <= now()) idempotent.delete(slot); });
    };
    let answer;
    try { answer = perform(req, ep, version, caller, parts, body, ask, target); } catch (e) {
      if (e instanceof Refusal && OWN.has(e.code)) keep(CODES[e.code][0], {}, payloadOf(e));
      throw e;
    }
    if (answer.status < 300) keep(answer.status, answer.headers || {}, answer.replay || answer.body);
    const link = headers.Link;
    Object.assign(headers, answer.headers);
    if (link && answer.headers && answer.headers.Link) headers.Link = `${answer.headers.Link}, ${link}`;
    send(req, res, answer.status, headers, answer.body);
  } catch (e) {
    let r = e;
    if (!(e instanceof Refusal)) { process.stderr.write(FAULT ? '' : String(e && e.stack) + '\n'); r = new Refusal('failed'); }
    send(req, res, CODES[r.code][0], { ...headers, ...(r.headers || {}) }, payloadOf(r));
  }
}
function deprecate(headers, target) {
  headers.Deprecation = V1_DEPRECATED;
  if (!F('n-sunset')) headers.Sunset = new Date(V1_SUNSET).toUTCString();
  headers.Link = `<https://seedvault.example/upgrade>; rel="deprecation", <${target.replace('/v1/', '/v2/')}>; rel="successor-version"`;
}

function readQuery(ep, query, version, caller) {
  const sent = new Map();
  if (query !== '') {
    for (const [k, v] of new URLSearchParams(query)) { if (!sent.has(k)) sent.set(k, []); sent.get(k).push(v); }
  }
  const bad = (name) => refuse('parameterInvalid', name);
  const out = { tests: [], page: 1, pageSize: 20, sort: ep.order, fields: null, rest: [] };
  const res = ep.res && RES[ep.res];
  let pageBad = null;
  for (const [name, vs] of sent) {
    if (ep.does === 'list' && (name === 'page' || name === 'pageSize')) {
      const n = /^\d{1,15}$/.test(vs[0]) ? Number(vs[0]) : 0;
      if (vs.length > 1) bad(name);
      if (n < 1 || (name === 'pageSize' && n > 100 && !(F('l-max') && ep.op === 'list shelf'))) pageBad = pageBad || name;
      out[name] = name === 'pageSize' ? Math.min(n, 100) : n;
      continue;
    }
    out.rest.push([name, vs]);
    if (ep.select && name === 'fields') { out.fields = choose(res, vs, version, caller) || bad(name); continue; }
    if (vs.length > 1) bad(name);
    const v = vs[0];
    if (name === 'sort' && ep.sorts) {
      const f = ep.sorts[v.replace(/^-/, '')];
      if (!f || !Object.hasOwn(ep.sorts, v.replace(/^-/, ''))) bad(name);
      out.sort = (v[0] === '-' ? '-' : '') + f;
      continue;
    }
    if (name === 'sort' && ep.sortEnum) { if (!ep.sortEnum.includes(v)) bad(name); out.sort = v; continue; }
    const p = ep.params && Object.hasOwn(ep.params, name) ? ep.params[name] : undefined;
    if (!p) { if (F('e-unknown') && ep.op === 'list withdrawal') continue; bad(name); }
    if ((p.mapped || p.newer) && version === 'v1') bad(name);
    let f = p.s ? { s: p.s } : res[version].get(name);
    let s = f.s;
    if (p.field === 'status') s = { enum: res.states };
    const one = (text) => {
      let x = text;
      if (s.type === 'integer') { if (!/^-?\d{1,15}$/.test(text)) bad(name); x = Number(text); }
      if (!check(s, x, '', [])) bad(name);
      return f.up ? f.up(x) : x;
    };
    let x;
    if (p.split) { const list = v.split(','); if (list.length > 100) bad(name); x = list.map(one); } else x = one(v);
    out.tests.push([p, x]);
  }
  if (pageBad) refuse('pageInvalid', pageBad);
  return out;
}
// a tree of chosen names: Map(name -> null | Set of members)
function choose(res, vs, version, caller) {
  const names = vs.join(',').split(',');
  if (names.length > 100) return null;
  const out = new Map();
  for (const n of names) {
    const [a, b, ...more] = n.split('.');
    const f = res[version].get(a);
    if (!f || more.length) return null;
    if (f.s.visible && !(caller && f.s.visible.includes(caller.user))) return null;
    if (b !== undefined) {
      if (!f.s.value || !Object.hasOwn(f.s.properties, b)) return null;
      if (out.get(a) !== null) { if (!out.has(a)) out.set(a, new Set()); out.get(a).add(b); }
    } else out.set(a, null);
  }
  return out;
}
function chosen(shown, tree) {
  const out = {};
  for (const [k, v] of Object.entries(shown)) {
    if (k === 'id') { out.id = v; continue; }
    if (!tree.has(k)) continue;
    const inner = tree.get(k);
    out[k] = inner ? Object.fromEntries(Object.entries(v).filter(([a]) => inner.has(a))) : v;
  }
  return out;
}

function perform(req, ep, version, caller, parts, body, ask, target) {
  if (ep.does === 'about') return { status: 200, body: { name: 'Seed Vault', seasons: ['spring', 'autumn'] } };
  const res = RES[ep.res];
  const rule = RULES[ep.op];
  let bound;
  if (ep.parent) {
    const a = get('accession', parts[1]);
    if (!a || !mayRead(RES.accession, a, caller)) refuse('notFound');
    bound = { accession: a.id };
  }
  if (ep.does === 'list') return list(req, ep, res, version, caller, bound, ask, target);
  if (ep.does === 'create') {
    const row = transaction(() => {
      const values = take(res, body, caller, version, 'create', null, bound);
      return create(res, values, caller, { version, allowed: (n) => { if (rule.next && !rule.next(n, caller)) refuse('forbidden'); }, quota: (n) => quotas(ep, caller, n) });
    });
    const headers = { Location: `${BASE}/${version}/${res.path}/${row.id}` };
    const answer = { status: 201, headers, body: present(res, row, caller, version, { reveal: true }) };
    if (res === RES.hook) answer.replay = present(res, row, caller, version);
    return answer;
  }
  const row = res.rows.get(parts[1]);
  const readable = row && mayRead(res, row, caller);
  if (!row || !readable) refuse('notFound');
  if (rule.row && !rule.row(row, caller)) refuse('forbidden');
  if (ep.does === 'read') {
    const text = JSON.stringify(present(res, row, caller, version));
    const headers = {};
    if (ep.etag) headers.ETag = F('e-etag') && res === RES.seedRequest ? tagOf(version, row.id) : tagOf(version, text);
    if (ep.cache) headers['Cache-Control'] = ep.cache;
    const inm = req.headers['if-none-match'];
    if (ep.etag && inm !== undefined && (inm.trim() === '*' || inm.split(',').some((t) => t.trim().replace(/^W\//, '') === headers.ETag))) return { status: 304, headers };
    return { status: 200, headers, body: text };
  }
  if (ep.ifMatch) {
    const im = req.headers['if-match'];
    if (im === undefined) { if (ep.ifMatch === 'required') refuse('tagRequired'); }
    else {
      const tag = tagOf(version, JSON.stringify(present(res, row, caller, version)));
      if (im.trim() !== '*' && !im.split(',').some((t) => t.trim() === tag)) refuse('tagStale');
    }
  }
  if (ep.does === 'delete') {
    transaction(() => {
      if (res === RES.shelf && refs['accession.shelf'].get(row.id)?.size) refuse('inUse');
      drop(res, row);
    });
    if (res === RES.hook) lines.delete(row.id);
    return { status: 204 };
  }
  if (ep.does === 'update' || ep.does === 'replace') {
    const next = transaction(() => {
      const n = take(res, body, caller, version, ep.does, row);
      if (rule.row && !rule.row(n, caller)) refuse('forbidden');
      if (ep.in && !ep.in.includes(row.status)) refuse('wrongState');
      return update(res, row, n, null, ep.does);
    });
    if (res === RES.hook && next.active && lines.has(row.id)) { const l = lines.get(row.id); setImmediate(() => pump(l)); }
    return { status: 200, body: present(res, next, caller, version) };
  }
  // a transition
  const next = transaction(() => {
    if (ep.request) { const out = []; if (!check(ep.request, body, '', out)) refuseBody(out); }
    move(ep.name, res, row, F('e-count') && ep.name === 'count' ? { germinated: 0, ...body } : body || {}, caller);
    return res.rows.get(row.id);
  });
  return { status: 200, body: present(res, next, caller, version) };
}
function list(req, ep, res, version, caller, bound, ask, target) {
  let source = res.rows.values();
  if (bound) source = [...(refs[res.name + '.accession'].get(bound.accession) || [])].map((id) => res.rows.get(id));
  const rows = [];
  each: for (const r of source) {
    if (!mayRead(res, r, caller) && !(F('a-list-others') && res === RES.seedRequest)) continue;
    for (const [p, x] of ask.tests) { const v = p.get ? p.get(r) : r[p.field]; if (v === undefined || !p.test(v, x)) continue each; }
    rows.push(r);
  }
  if (ask.sort) {
    const down = ask.sort[0] === '-' ? -1 : 1;
    const f = ask.sort.replace(/^-/, '');
    rows.sort((a, b) => (a[f] < b[f] ? -down : a[f] > b[f] ? down : 0));
  }
  const start = (ask.page - 1) * ask.pageSize;
  const page = rows.slice(start, start + ask.pageSize);
  const hasMore = F('l-has-more') && res === RES.accession ? start + ask.pageSize <= rows.length : start + ask.pageSize < rows.length;
  const items = page.map((r) => { const s = present(res, r, caller, version, { list: true }); return ask.fields ? chosen(s, ask.fields) : s; });
  const base = target.split('?')[0];
  const at = (n, rel) => {
    const q = new URLSearchParams();
    for (const [k, vs] of ask.rest) for (const v of vs) q.append(k, v);
    q.set('page', String(n)); q.set('pageSize', String(ask.pageSize));
    return `<${base}?${q}>; rel="${rel}"`;
  };
  const links = [];
  if (hasMore) links.push(at(ask.page + 1, 'next'));
  if (ask.page > 1) links.push(at(ask.page - 1, 'prev'));
  links.push(at(1, 'first'));
  return { status: 200, headers: { Link: links.join(', ') }, body: { items, total: rows.length, hasMore } };
}

/* ---------- the service ---------- */
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 0, headersTimeout: 10000, keepAliveTimeout: 60000, connectionsCheckingInterval: 1000 }, (req, res) => {
  handle(req, res).catch(() => { try { res.destroy(); } catch {} });
});
server.keepAliveTimeoutBuffer = 0;
server.on('clientError', (e, socket) => {
  if (!socket.writable || e.code === 'ECONNRESET') { socket.destroy(); return; }
  const code = e.code === 'HPE_HEADER_OVERFLOW' ? 'headersTooLarge' : e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timedOut' : 'unreadable';
  const text = JSON.stringify(payloadOf(new Refusal(code)));
  socket.end(`HTTP/1.1 ${CODES[code][0]} ${http.STATUS_CODES[CODES[code][0]]}\r\nContent-Type: application/json\r\nX-Request-Id: ${crypto.randomUUID()}\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(PORT, '127.0.0.1');

/* ---------- the door of the clock ---------- */
function later(from, duration) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(duration);
  if (!m || duration === 'P' || duration.endsWith('T')) return NaN;
  const n = (i) => Number(m[i] || 0);
  const d = new Date(from);
  const day = d.getUTCDate();
  d.setUTCDate(1); d.setUTCMonth(d.getUTCMonth() + n(1) * 12 + n(2));
  d.setUTCDate(Math.min(day, new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate()));
  return d.getTime() + ((n(3) * 7 + n(4)) * 86400 + n(5) * 3600 + n(6) * 60 + n(7)) * 1000;
}
if (CLOCK_PORT) {
  http.createServer((req, res) => {
    const say = (status, body) => { const t = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
    if (req.method === 'GET') { runDue(); say(200, { now: iso(now()) }); return; }
    if (req.method !== 'POST') { say(400, { error: 'GET or POST' }); return; }
    let text = '';
    req.on('data', (c) => { text += c; });
    req.on('end', () => {
      let b; try { b = JSON.parse(text); } catch { return say(400, { error: 'not JSON' }); }
      const t = now();
      let to = NaN;
      if (isMap(b) && typeof b.advance === 'string' && Object.keys(b).length === 1) to = later(t, b.advance);
      else if (isMap(b) && typeof b.now === 'string' && Object.keys(b).length === 1 && isDateTime(b.now)) to = Date.parse(b.now);
      if (Number.isNaN(to)) return say(400, { error: 'advance or now' });
      if (to < t) return say(422, { error: 'that time has passed' });
      offset += to - t;
      runDue();
      setImmediate(() => say(200, { now: iso(now()) }));
    });
  }).listen(CLOCK_PORT, '127.0.0.1');
}
