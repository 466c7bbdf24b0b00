// Oyster Beds: the register, the beds, the tanks and the trade of a cooperative. Plain node:http, everything in memory.
import http from 'node:http';
import https from 'node:https';
import { createHash, createHmac, randomBytes, randomUUID, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const arg = name => { const i = process.argv.indexOf('--' + name); return i < 0 ? undefined : process.argv[i + 1]; };
const FAULT = arg('fault');
const bug = id => FAULT === id;
const BASE = '/coop', TITLE = 'Oyster Beds';
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// ---------------------------------------------------------------- the clock, and what falls due by it
let ahead = 0, frozen = null, latest = 0;              // latest: when something was last told of
const now = () => frozen ?? Date.now() + ahead;
const iso = ms => new Date(ms).toISOString();
class Agenda {
  heap = []; n = 0;
  before(a, b) { return a.at < b.at || (a.at === b.at && a.n < b.n); }
  add(at, run) {
    const h = this.heap, it = { at: Math.max(at, now()), n: this.n++, run };
    at = it.at;
    let i = h.push(it) - 1;
    while (i > 0) { const p = (i - 1) >> 1; if (!this.before(it, h[p])) break; h[i] = h[p]; i = p; }
    h[i] = it;
  }
  take() {
    const h = this.heap, top = h[0], last = h.pop();
    if (h.length) {
      let i = 0;
      for (;;) {
        let c = 2 * i + 1;
        if (c >= h.length) break;
        if (c + 1 < h.length && this.before(h[c + 1], h[c])) c++;
        if (!this.before(h[c], last)) break;
        h[i] = h[c]; i = c;
      }
      h[i] = last;
    }
    return top;
  }
  due(t) { return this.heap.length > 0 && this.heap[0].at <= t; }
}
const agenda = new Agenda();
function runDue(target = now()) {                       // each at its own time, in order
  while (agenda.due(target)) {
    const it = agenda.take();
    frozen = Math.max(it.at, latest);
    try { it.run(); } catch (e) { console.error(e); } finally { frozen = null; }
  }
}
setInterval(runDue0, 50).unref();
function runDue0() { runDue(); }

// ---------------------------------------------------------------- rows and their indexes
class Line {                                            // rows in the order in which they were made
  rows = [];
  at(seq) { let a = 0, b = this.rows.length; while (a < b) { const m = (a + b) >> 1; if (this.rows[m].seq < seq) a = m + 1; else b = m; } return a; }
  add(r) { const l = this.rows; if (!l.length || l[l.length - 1].seq < r.seq) l.push(r); else l.splice(this.at(r.seq), 0, r); }
  del(r) { const i = this.at(r.seq); if (this.rows[i] === r) this.rows.splice(i, 1); }
}
const NOTHING = new Line();
class Shelf {
  byId = new Map(); all = new Line(); ix = {}; static seq = 0;
  constructor(name, keys) { this.name = name; this.keys = keys; for (const k in keys) this.ix[k] = new Map(); }
  of(k, value) { return this.ix[k].get(value) ?? NOTHING; }
  get(id) { const r = this.byId.get(id); return r && !r.gone ? r : undefined; }
  put(k, value, r, how) { if (value === undefined) return; let l = this.ix[k].get(value); if (!l) this.ix[k].set(value, l = new Line()); l[how](r); if (!l.rows.length) this.ix[k].delete(value); }
  add(id, f) {
    const r = { res: this.name, seq: ++Shelf.seq, id: String(id), f, turn: 0, keys: {} };
    this.byId.set(r.id, r); this.all.add(r);
    for (const k in this.keys) this.put(k, r.keys[k] = this.keys[k](f), r, 'add');
    return r;
  }
  changed(r) { for (const k in this.keys) { const v = this.keys[k](r.f); if (v !== r.keys[k]) { this.put(k, r.keys[k], r, 'del'); this.put(k, r.keys[k] = v, r, 'add'); } } }
  drop(r) { for (const k in this.keys) this.put(k, r.keys[k], r, 'del'); this.all.del(r); }
}
const shelves = {
  parcel: new Shelf('parcel', { house: f => f.house, code: f => f.code }),
  batch: new Shelf('batch', { house: f => f.house, state: f => f.state, parcel: f => f.parcel, tank: f => f.tank }),
  tank: new Shelf('tank', {}),
  closure: new Shelf('closure', { parcel: f => f.parcel, state: f => f.state }),
  inspection: new Shelf('inspection', { batch: f => f.batch, house: f => shelves.batch.get(f.batch).f.house }),
  order: new Shelf('order', { buyer: f => f.buyer, batch: f => f.batch, house: f => shelves.batch.get(f.batch).f.house }),
  hook: new Shelf('hook', { owner: f => f.owner }),
  entry: new Shelf('entry', {}),
};
const row = (res, id) => shelves[res].get(id);

// ---------------------------------------------------------------- fields
const S = (min = 0, max = Infinity, more = {}) => ({ t: 'string', min, max, ...more });
const I = (min = -Infinity, max = Infinity, more = {}) => ({ t: 'integer', min, max, ...more });
const RO = { ro: true }, REQ = { req: true }, stamp = { t: 'string', format: 'date-time' };
const fields = {
  parcel: {
    id: S(0, Infinity, { ...RO, ...REQ }), code: { t: 'string', re: /^[A-Z]{2}-[0-9]{3}$/, req: true, im: true }, house: S(3, 24, REQ),
    water: { enum: ['A', 'B', 'C'], req: true }, area_m2: I(50, 40000, REQ), standing: { t: 'string', ...RO, ...REQ },
    closures: { t: 'integer', ...RO, ...REQ, derive: r => shelves.closure.of('parcel', r.id).rows.reduce((n, c) => n + (inForce(c) ? 1 : 0), 0) },
  },
  batch: {
    id: S(0, Infinity, RO), number: I(-Infinity, Infinity, RO), parcel: { t: 'string', ref: 'parcel', req: true, im: true }, house: S(0, Infinity, RO), label: S(1, 60, REQ),
    species: { enum: ['gigas', 'edulis'], def: 'gigas', req: true }, dozens: I(1, 5000, REQ), price_cents: I(100, 9000, REQ),
    cost_cents: I(0, Infinity, { visible: ['grower'] }), state: S(0, Infinity, RO), dozens_left: { t: 'integer', ...RO, derive: r => r.f.dozens - (r.sold ?? 0) },
    tank: { t: 'string', ...RO }, changed_at: { ...stamp, ...RO },
  },
  tank: { code: { t: 'string', re: /^T[0-9]{2}$/, req: true, key: true }, capacity: I(10, 9000, REQ), load: { t: 'integer', ...RO, derive: r => shelves.batch.of('tank', r.id).rows.reduce((n, b) => n + (b.f.state === 'purifying' ? b.f.dozens : 0), 0) } },
  closure: {
    id: I(-Infinity, Infinity, RO), parcel: { t: 'string', ref: 'parcel', req: true, im: true }, reason: { enum: ['norovirus', 'alexandrium', 'coliforms', 'spill'], req: true, im: true },
    until: { ...stamp, req: true }, state: S(0, Infinity, RO),
  },
  inspection: {
    id: S(0, Infinity, RO), batch: { t: 'string', ref: 'batch', req: true, im: true },
    readings: { t: 'array', min: 1, max: 8, req: true, items: { t: 'map', of: 'reading' } }, verdict: { enum: ['pass', 'watch', 'fail'], req: true },
  },
  reading: { test: { enum: ['ecoli', 'salmonella', 'lead'], req: true }, amount: { t: 'number', min: 0, req: true }, over: { t: 'boolean', ...RO } },
  order: {
    id: S(0, Infinity, RO), batch: { t: 'string', ref: 'batch', req: true, im: true }, buyer: S(0, Infinity, RO), dozens: I(1, 300, REQ), total_cents: I(-Infinity, Infinity, RO),
    deliver_to: { t: 'map', of: 'address', req: true }, door_code: S(0, 12, { wo: true }), state: S(0, Infinity, RO), placed_at: { ...stamp, ...RO },
  },
  address: { line: S(1, 80, { req: !bug('address-line') }), town: S(1, 40, REQ) },
  hook: { id: S(0, Infinity, RO), owner: S(0, Infinity, RO), url: { t: 'string', format: 'uri', req: true }, events: { t: 'array', max: 12, items: { t: 'string', kind: true } }, secret: S(0, Infinity, { ...RO, once: true }) },
  entry: { id: S(0, Infinity, RO), kind: S(0, Infinity, RO), about: S(0, Infinity, RO), at: { ...stamp, ...RO } },
};

// ---------------------------------------------------------------- editions: how each field is called and shown in each
const EDITIONS = ['2025-04', '2025-12', '2026-06'], NEWEST = 2;
const OLD = { deprecated: '@' + Date.UTC(2026, 0, 1) / 1000, sunset: new Date(Date.UTC(2031, 0, 1)).toUTCString(), end: Date.UTC(2031, 0, 1) };
const flip = o => Object.fromEntries(Object.entries(o).map(([a, b]) => [b, a]));
const SPECIES = { hollow: 'gigas', flat: 'edulis' };
function inEdition(res, v) {
  const out = [];
  for (const [key, shape] of Object.entries(fields[res])) {
    const it = { name: key, key, shape, up: x => x, down: x => x };
    if (v < 1 && res === 'parcel' && key === 'area_m2') it.name = 'surface';
    if (v < 1 && res === 'batch' && key === 'species') { const d = flip(SPECIES); it.shape = { ...shape, enum: Object.keys(SPECIES), def: 'hollow' }; it.up = x => SPECIES[x]; it.down = x => d[x]; }
    if (v < 2 && res === 'batch' && key === 'price_cents') { it.shape = { ...shape, t: 'number', min: 1, max: 90 }; it.up = x => Math.round(x * 100); it.down = bug('old-price-cents') && v === 1 ? x => x : x => x / 100; it.mapped = true; }
    if (v < 2 && res === 'batch' && key === 'cost_cents') continue;
    if (v < 2 && res === 'order' && key === 'deliver_to') it.name = 'for';
    out.push(it);
  }
  if (v < 2 && res === 'parcel') out.push({ name: 'cadastre', key: null, shape: { t: 'string', min: 0, max: Infinity }, constant: 'unlisted' });
  return out;
}
const views = EDITIONS.map((_, v) => Object.fromEntries(Object.keys(fields).map(res => { const list = inEdition(res, v); return [res, { list, byName: new Map(list.map(f => [f.name, f])), byKey: new Map(list.map(f => [f.key, f])) }]; })));

// ---------------------------------------------------------------- refusals
const CODES = {
  'request.malformed': ['unreadable', 400], 'request.media': ['unreadable', 400], 'request.parameter': ['bad_parameter', 400], 'limit.page': ['bad_parameter', 400],
  'request.invalid.missing': ['missing_field', 422], 'request.invalid': ['invalid', 422], 'caller.unknown': ['bad_credential', 401], 'caller.forbidden': ['forbidden', 403],
  'resource.missing': ['not_found', 404], 'route.unknown': ['not_found', 404], 'resource.gone': ['not_found', 410, 'It was taken away.'], 'method.unsupported': ['not_found', 405, 'Not by this method.'],
  'reference.missing': ['not_found', 422, 'It refers to nothing.'], 'resource.exists': ['taken', 409], 'reference.held': ['taken', 409, 'Something refers to it.'], 'transition.illegal': ['wrong_state', 409],
  'precondition.failed': ['changed', 412], 'precondition.required': ['changed', 428, 'Send If-Match.'], 'idempotency.reused': ['key_reused', 409],
  'limit.rate': ['too_much', 429], 'limit.size': ['too_much', 413, 'It is too large.'], 'limit.time': ['too_much', 408, 'It took too long.'], 'limit.quota': ['too_much', 403, 'No more of these.'],
  'version.unknown': ['no_edition', 400], 'version.sunset': ['no_edition', 410, 'This edition has ended.'], internal: ['failed', 500],
};
const OWN = { closed_ground: 423, tank_full: 409, too_late: 409, until_past: bug('until-past-400') ? 400 : 422, too_many: 409 };
const SAYS = {
  unreadable: 'Send JSON.', bad_parameter: 'A parameter is wrong.', missing_field: 'Something is missing.', invalid: 'Something is not as it has to be.', bad_credential: 'This credential is not good.',
  forbidden: 'This is not yours to do.', not_found: 'There is none.', taken: 'There is one already.', wrong_state: 'Not in this state.', closed_ground: 'The parcel is closed.', tank_full: 'The tank has no room for it.',
  too_late: 'It is on its way, or over.', until_past: 'It would be over already.', too_many: 'The batch has fewer dozens left.', changed: 'It was changed meanwhile.', key_reused: 'The key was used for something else.',
  too_much: 'Too many requests.', no_edition: 'There is no such edition.', failed: 'It failed.',
};
class Refusal extends Error {
  constructor(what, { wrong, headers } = {}) {
    super(what);
    this.own = what in OWN;
    [this.code, this.status, this.says] = this.own ? [what, OWN[what]] : CODES[what];
    this.says ??= SAYS[this.code]; this.wrong = wrong; this.headers = headers;
  }
}
const refuse = (what, more) => { throw new Refusal(what, more); };

// ---------------------------------------------------------------- what is sent, held to its shape
const isMap = x => x !== null && typeof x === 'object' && !Array.isArray(x);
const same = (a, b) => a === b || (a && b && typeof a === 'object' && typeof b === 'object' && Array.isArray(a) === Array.isArray(b) && Object.keys(a).length === Object.keys(b).length && Object.keys(a).every(k => Object.hasOwn(b, k) && same(a[k], b[k])));
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function instant(s) {
  const m = typeof s === 'string' && RFC3339.exec(s);
  if (!m || m[2] < 1 || m[2] > 12 || m[3] < 1 || m[3] > new Date(Date.UTC(+m[1], +m[2], 0)).getUTCDate() || m[4] > 23 || m[5] > 59 || m[6] > 59) return NaN;
  return Date.parse(s.toUpperCase());
}
const isUri = s => { if (!/^https?:\/\/[^\s/?#]+[^\s<>"{}|\\^`]*$/i.test(s)) return false; try { new URL(s); return true; } catch { return false; } };
const typeName = x => x === null ? 'null' : Array.isArray(x) ? 'array' : typeof x;
function expectation(x, s) {                            // what is expected instead, or null where it fits
  if (s.enum) return s.enum.includes(x) ? null : 'one of ' + s.enum.join(', ');
  if (s.t === 'string') {
    if (typeof x !== 'string') return 'a string';
    const n = s.min || s.max < Infinity ? [...x].length : 0;
    if (n < (s.min ?? 0) || n > (s.max ?? Infinity)) return `a text of ${s.min} to ${s.max} characters`;
    if (s.re && !s.re.test(x)) return 'a text like ' + s.re.source;
    if (s.format === 'date-time' && Number.isNaN(instant(x))) return 'a date-time';
    if (s.format === 'uri' && !isUri(x)) return 'an address';
    if (s.kind && !knownKind(x)) return 'a kind of event';
    return null;
  }
  if (s.t === 'integer' || s.t === 'number') {
    if (typeof x !== 'number' || (s.t === 'integer' && !Number.isSafeInteger(x))) return 'a ' + s.t;
    return x < (s.min ?? -Infinity) || x > (s.max ?? Infinity) ? `${s.min} to ${s.max}` : null;
  }
  if (s.t === 'boolean') return typeof x === 'boolean' ? null : 'a boolean';
  if (s.t === 'array') return !Array.isArray(x) ? 'an array' : x.length < (s.min ?? 0) || x.length > s.max ? `${s.min ?? 0} to ${s.max} items` : null;
  return isMap(x) ? null : 'a map';
}
function violation(out, at, x, expected, missing) {
  out.push({ in: 'body', path: bug('pointer-paths') && at.length > 1 ? '/' + at.join('/') : at.join('.'), ...(missing ? {} : { found: x === undefined ? 'nothing' : typeof x === 'object' ? typeName(x) : String(x).slice(0, 200) }), expected, missing: !!missing, top: at[0] });
}
function held(x, s, at, v, out) {                       // the value, without what is read-only in it
  const e = expectation(x, s);
  if (e) { violation(out, at, x, e); return x; }
  if (s.t === 'array') return x.map((y, i) => held(y, s.items, [...at, i], v, out));
  if (s.t !== 'map') return x;
  const view = views[v][s.of], got = {};
  for (const [name, y] of Object.entries(x)) {
    const f = view.byName.get(name);
    if (!f) violation(out, [...at, name], y, 'no such field');
    else if (!f.shape.ro) got[f.key] = held(y, f.shape, [...at, name], v, out);
  }
  for (const f of view.list) if (f.shape.req && !f.shape.ro && !Object.hasOwn(x, f.name)) violation(out, [...at, f.name], undefined, 'there', true);
  return got;
}
function mergePatch(into, patch) {
  if (!isMap(patch)) return patch;
  const out = isMap(into) ? { ...into } : {};
  for (const [k, x] of Object.entries(patch)) if (x === null) delete out[k]; else out[k] = mergePatch(out[k], x);
  return out;
}
function judge(out, sent) {
  if (!out.length) return;
  const keys = Object.keys(sent), place = x => x.missing && !keys.includes(x.top) ? Infinity : keys.indexOf(x.top);
  out.sort((a, b) => place(a) - place(b));
  const code = out[0].missing ? 'request.invalid.missing' : 'request.invalid';
  refuse(code, { wrong: out.map(({ missing, top, ...x }) => x) });
}
/** The fields of a row out of what was sent: all of them (`old` absent) or a merge patch over `old`. */
function taken(res, sent, { v, old, bound = {}, caller, whole }) {
  if (!isMap(sent)) refuse('request.invalid', { wrong: [{ in: 'body', path: '', found: typeName(sent), expected: 'a map' }] });
  const view = views[v][res], out = [], f = {}, seen = new Set();
  for (const [name, x] of Object.entries(sent)) {
    const it = view.byName.get(name);
    if (!it || (it.shape.visible && !it.shape.visible.includes(caller.user))) { if (it) continue; if (!(bug('unknown-passes') && res === 'inspection')) violation(out, [name], x, 'no such field'); continue; }
    const s = it.shape, k = it.key;
    if (s.ro) continue;
    if (k === null) { if (!(old && x === null)) held(x, s, [name], v, out); continue; }
    seen.add(k);
    if (Object.hasOwn(bound, k)) { if (x !== bound[k]) violation(out, [name], x, 'what the path says'); continue; }
    if (old) {
      if (x === null) { if (s.req) violation(out, [name], x, 'a value'); else f[k] = undefined; continue; }
      if (s.im) { if (!same(x, it.down(old[k])) && !(bug('code-mutable') && k === 'code')) violation(out, [name], x, 'what it was'); else if (bug('code-mutable') && k === 'code') f[k] = x; continue; }
      const next = s.t === 'map' ? mergePatch(old[k], x) : x, n = out.length, got = held(next, s, [name], v, out);
      if (out.length === n) f[k] = same(got, old[k] === undefined ? undefined : it.down(old[k])) ? old[k] : it.up(got);
    } else {
      const n = out.length, got = held(x, s, [name], v, out);
      if (out.length === n) f[k] = it.up(got);
    }
  }
  if (!old) for (const it of view.list) {
    const s = it.shape, k = it.key;
    if (k === null || s.ro || seen.has(k)) continue;
    if (Object.hasOwn(bound, k)) continue;
    if (s.def !== undefined) f[k] = it.up(s.def);
    else if (s.req) violation(out, [it.name], undefined, 'there', true);
  }
  if (res === 'inspection') {
    for (const r of f.readings ?? []) r.over = r.amount > (r.test === 'ecoli' ? 230 : 0.5);
    if (f.verdict === 'fail' && f.readings && !f.readings.some(r => r.over)) violation(out, ['verdict'], 'fail', 'pass or watch where nothing is over');
  }
  judge(out, sent);
  return { ...f, ...bound };
}
function plain(sent, shape) {                           // the written body of a transition: named properties are held, others pass
  if (!isMap(sent)) refuse('request.invalid', { wrong: [{ in: 'body', path: '', found: typeName(sent), expected: 'a map' }] });
  const out = [];
  for (const [k, x] of Object.entries(sent)) if (shape[k]) held(x, shape[k], [k], NEWEST, out);
  for (const k in shape) if (!Object.hasOwn(sent, k)) violation(out, [k], undefined, 'there', true);
  judge(out, sent);
  return sent;
}

// ---------------------------------------------------------------- who may do and see what
const ours = (r, c) => r.f.house === c.house;
const orderHouse = r => row('batch', r.f.batch).f.house;
const inForce = r => r.f.state === 'in_force';
const BUYERS = ['id', 'house', 'label', 'species', 'price_cents', 'dozens_left', 'state'], ANYONE = ['id', 'parcel', 'reason', 'until', 'state'];
const RULES = [
  [['create parcel', 'update parcel'], ['steward']],
  [['list parcel', 'read parcel'], ['steward', 'grower', 'inspector']],
  [['create batch'], ['grower'], { next: (f, c) => row('parcel', f.parcel).f.house === c.house }],
  [['list batch', 'read batch', 'update batch', 'harvest batch', 'soak batch'], ['grower'], { when: ours, index: c => ['house', c.house] }],
  [['list batch', 'read batch'], ['steward', 'inspector']],
  [['list batch', 'read batch'], ['buyer'], { when: r => r.f.state === 'cleared', index: () => ['state', 'cleared'], fields: BUYERS }],
  [['upsert tank', 'delete tank'], ['steward']],
  [['list tank', 'read tank'], ['steward', 'grower', 'inspector']],
  [['create closure', 'lift closure'], ['inspector'], { scopes: ['sanitary'] }],
  [['update closure'], ['inspector'], { scopes: bug('closure-no-scope') ? [] : ['sanitary'] }],
  [['list closure', 'read closure'], ['inspector', 'steward', 'grower']],
  [['list closure', 'read closure'], 'anyone', { when: inForce, index: () => ['state', 'in_force'], fields: ANYONE }],
  [['create inspection', 'list inspection'], ['inspector']],
  [['list inspection'], ['steward']],
  [['list inspection'], ['grower'], bug('inspections-of-all') ? {} : { when: (r, c) => orderHouse(r) === c.house, index: c => ['house', c.house] }],
  [['create order'], ['buyer']],
  [['list order', 'read order', 'cancel order'], ['buyer'], { when: (r, c) => r.f.buyer === c.id, index: c => ['buyer', c.id] }],
  [['update order'], ['buyer'], { when: (r, c) => r.f.buyer === c.id }],
  [['list order', 'read order', 'confirm order'], ['grower'], { when: (r, c) => orderHouse(r) === c.house, index: c => ['house', c.house] }],
  [['list order', 'read order', 'cancel order'], ['steward']],
  [['create hook'], ['grower', 'steward', 'buyer']],
  [['delete hook'], ['grower', 'steward', 'buyer'], { when: (r, c) => r.f.owner === c.id }],
  [['list entry'], ['steward']],
].map(([allow, to, more = {}]) => ({ allow, to, ...more }));
const memo = new Map();
function rulesFor(op, user) {
  const k = op + '|' + user;
  let l = memo.get(k);
  if (!l) memo.set(k, l = RULES.filter(r => r.allow.includes(op) && (r.to === 'anyone' || r.to.includes(user))));
  return l;
}
const READS = { parcel: 'read parcel', batch: 'read batch', tank: 'read tank', closure: 'read closure', inspection: 'list inspection', order: 'read order', hook: 'read hook', entry: 'list entry' };
const holding = (op, r, c) => rulesFor(op, c?.user).filter(x => !x.when || x.when(r, c));
const mayRead = (r, c) => holding(READS[r.res], r, c).length > 0;
function shown(r, c, v, { rules, once, every } = {}) {
  rules ??= every ? rulesFor(READS[r.res], c?.user) : holding(READS[r.res], r, c);
  const only = rules.length && (every ? rules.some(x => x.fields) : rules.every(x => x.fields)) ? rules.find(x => x.fields).fields : null;
  const out = {};
  for (const it of views[v][r.res].list) {
    const s = it.shape;
    if (it.key === null) { if (!only) out[it.name] = it.constant; continue; }
    if (only && !only.includes(it.key)) continue;
    if ((s.wo && !bug('door-code-shown')) || (s.once && !once)) continue;
    if (s.visible && !s.visible.includes(c?.user) && !(bug('cost-to-steward') && c?.user === 'steward' && once === undefined)) continue;
    const x = s.derive ? s.derive(r) : r.f[it.key];
    if (x !== undefined) out[it.name] = it.down(x);
  }
  if (bug('total-text') && 'total_cents' in out) out.total_cents = String(out.total_cents);
  return out;
}

// ---------------------------------------------------------------- identifiers
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ', ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
let lastMs = 0, tail = [];
function ulid() {
  const t = Math.max(now(), lastMs);
  if (t === lastMs && tail.length) { let i = 15; while (i >= 0 && ++tail[i] > 31) tail[i--] = 0; } else { lastMs = t; tail = [...randomBytes(16)].map(b => b & 31); tail[0] &= 15; }
  let head = '';
  for (let i = 0, n = t; i < 10; i++) { head = B32[n % 32] + head; n = Math.floor(n / 32); }
  return head + tail.map(i => B32[i]).join('');
}
const random = n => Array.from({ length: n }, () => ALNUM[randomInt(62)]).join('');
const drawn = new Map();
const count = key => { const n = (drawn.get(key) ?? 0) + 1; drawn.set(key, n); return n; };
const newId = { parcel: () => 'par_' + ulid(), batch: () => 'bat_' + ulid(), closure: () => count('closure'), inspection: () => randomUUID(), order: () => 'ord_' + ulid(), hook: () => 'hok_' + ulid() };

// ---------------------------------------------------------------- changes: makes, updates, moves; what follows; what is told
const LAST = { parcel: 'standing', batch: 'state', closure: 'state', order: 'state' };
const MOVES = {
  parcel: { close: { from: ['open'], to: 'closed' }, reopen: { from: ['closed'], to: 'open', guard: r => bug('reopens-early') || fields.parcel.closures.derive(r) === 0 } },
  batch: {
    harvest: { from: ['growing'], to: r => row('parcel', r.f.parcel).f.water === 'A' && !bug('a-not-cleared') ? 'cleared' : 'harvested', guard: r => row('parcel', r.f.parcel).f.standing === 'open', otherwise: 'closed_ground', set: (f, q) => { f.dozens = q.counted; } },
    soak: { from: ['harvested'], to: 'purifying', guard: (r, q) => { const t = row('tank', q.tank); return !!t && fields.tank.load.derive(t) + r.f.dozens <= t.f.capacity; }, otherwise: 'tank_full', set: (f, q) => { f.tank = q.tank; } },
    clear: { from: ['purifying'], to: 'cleared', after: 48 * HOUR },
    condemn: { from: ['harvested', 'purifying', 'cleared'], to: 'condemned', then: r => { if (bug('no-recall')) return; for (const o of [...shelves.order.of('batch', r.id).rows]) attempt(o, 'recall'); } },
    wilt: { from: ['harvested'], to: 'spoiled', after: bug('wilts-late') ? 73 * HOUR : 72 * HOUR },
    spoil: { from: ['cleared'], to: 'spoiled', after: 10 * DAY },
  },
  closure: {
    lift: { from: ['in_force'], to: 'lifted', elseFrom: 'too_late', then: r => attempt(row('parcel', r.f.parcel), 'reopen') },
    lapse: { from: ['in_force'], to: 'lapsed', at: r => instant(r.f.until), then: r => attempt(row('parcel', r.f.parcel), 'reopen') },
  },
  order: {
    confirm: { from: ['placed'], to: 'confirmed', guard: r => { const left = fields.batch.dozens_left.derive(row('batch', r.f.batch)); return bug('confirm-short') ? left > r.f.dozens : left >= r.f.dozens; }, otherwise: 'too_many' },
    cancel: { from: ['placed', 'confirmed'], to: 'cancelled', elseFrom: 'too_late' },
    lapse: { from: ['placed'], to: 'lapsed', after: 48 * HOUR },
    settle: { from: ['confirmed'], to: 'received', after: 5 * DAY },
    recall: { from: ['placed', 'confirmed'], to: 'recalled' },
  },
};
const SOLD = ['confirmed', 'received'];
function stored(r, before) {                            // counters beside what changed
  shelves[r.res].changed(r);
  if (r.res !== 'order') return;
  const b = row('batch', r.f.batch);
  b.sold = (b.sold ?? 0) + (SOLD.includes(r.f.state) ? r.f.dozens : 0) - (before && SOLD.includes(before.state) ? before.dozens : 0);
}
function timers(r, entered) {
  if (entered) r.turn++;
  const turn = r.turn, state = r.f[LAST[r.res]];
  for (const [name, m] of Object.entries(MOVES[r.res] ?? {})) {
    if (m.after && entered && m.from.includes(state)) agenda.add(now() + m.after, () => { if (!r.gone && r.turn === turn) attempt(r, name); });
    if (m.at && m.from.includes(state)) {
      const at = m.at(r);
      if (r.set_at === at || (bug('until-not-retimed') && r.set_at)) continue;
      r.set_at = at;
      agenda.add(at, () => { if (!r.gone && r.set_at === at) attempt(r, name); });
    }
  }
  if (r.res === 'closure' && state === 'in_force') {
    const at = instant(r.f.until) - (bug('ending-5h') ? 5 : 6) * HOUR;
    if (r.told_at !== at) { r.told_at = at; agenda.add(at, () => { if (r.told_at === at && inForce(r)) tell('closure.ending', r, () => r.f.id); }); }
  }
}
function make(res, f, id) {
  if (res === 'batch') { f.number = count('batch ' + f.parcel); f.state = 'growing'; f.changed_at = iso(now()); }
  if (res === 'parcel') f.standing = 'open';
  if (res === 'closure') f.state = 'in_force';
  if (res === 'order') f.state = 'placed';
  f[res === 'tank' ? 'code' : 'id'] = id;
  const r = shelves[res].add(id, f);
  stored(r, null); timers(r, true); emit('create ' + res, r, null);
  if (res === 'closure') attempt(row('parcel', f.parcel), 'close');
  if (res === 'inspection' && f.verdict === 'fail') attempt(row('batch', f.batch), 'condemn');
  return r;
}
function alter(r, f) {                                  // an update that changes something
  const before = r.f;
  r.f = { ...before, ...f };
  if (r.res === 'batch') r.f.changed_at = iso(now());
  stored(r, before); timers(r, false); emit('update ' + r.res, r, before);
}
function mayMove(r, name, q = {}) {
  const m = MOVES[r.res][name];
  if (!m.from.includes(r.f[LAST[r.res]])) return m.elseFrom ?? 'transition.illegal';
  return m.guard && !m.guard(r, q) ? m.otherwise ?? 'transition.illegal' : null;
}
function move(r, name, q = {}) {
  const m = MOVES[r.res][name], before = r.f, to = typeof m.to === 'function' ? m.to(r) : m.to;
  r.f = { ...before, [LAST[r.res]]: to };
  m.set?.(r.f, q);
  if (r.res === 'batch' && !(bug('stale-changed') && name === 'harvest')) r.f.changed_at = iso(now());
  if (bug('stamp-plain') && r.res === 'batch' && name === 'soak') r.f.changed_at = r.f.changed_at.replace('T', ' ').replace('Z', '');
  stored(r, before); timers(r, true); emit(name + ' ' + r.res, r, before);
  m.then?.(r);
}
const attempt = (r, name) => { if (!mayMove(r, name)) move(r, name); };

const KINDS = {
  'batch.harvested': { on: ['harvest batch'], body: (r, c, v) => shown(r, c, v, { every: true, once: false }) },
  'batch.cleared': { on: bug('harvest-not-cleared') ? ['clear batch'] : ['harvest batch', 'clear batch'], if: r => r.f.state === 'cleared', body: (r, c, v) => shown(r, c, v, { every: true, once: false }) },
  'batch.condemned': { on: ['condemn batch'], body: (r, c, v, was) => ({ batch: r.f.id, was: bug('was-is') ? r.f.state : was.state, dozens: r.f.dozens }) },
  'closure.declared': { on: ['create closure'], body: r => ({ closure: r.f.id, parcel: r.f.parcel, reason: r.f.reason }) },
  'closure.ended': { on: ['lift closure', 'lapse closure'], body: r => ({ closure: r.f.id, state: r.f.state }) },
  'closure.ending': { on: [], body: r => r.f.id },
  'order.placed': { on: ['create order'], body: (r, c, v) => shown(r, c, v, { every: true, once: false }) },
  'order.moved': { on: ['confirm order', 'settle order', 'cancel order', 'lapse order', 'recall order'], body: (r, c, v) => shown(r, c, v, { every: true, once: false }) },
};
const knownKind = k => k === '*' || k in KINDS || (k.endsWith('.*') && Object.keys(KINDS).some(x => x.startsWith(k.slice(0, -1))));
function emit(op, r, before) {
  for (const [kind, k] of Object.entries(KINDS)) if (k.on.includes(op) && (!k.if || k.if(r))) {
    tell(kind, r, k.body, before);
    if (bug('cancel-told-twice') && op === 'cancel order') tell(kind, r, k.body, before);
  }
}
const LOG_KEEP = 90 * DAY;
function tell(kind, r, body, before) {
  latest = now();
  const id = 'ent_' + ulid(), at = iso(latest);
  shelves.entry.add(id, { id, kind, about: r.id, at });
  for (const h of shelves.hook.all.rows) {
    const want = h.f.events;
    if (h.dead || (want && !want.some(w => w === '*' || w === kind || (w.endsWith('.*') && kind.startsWith(w.slice(0, -1))))) || !mayRead(r, h.maker)) continue;
    const d = { id, kind, text: JSON.stringify({ id, kind, at, body: body(r, h.maker, h.v, before) }), tries: 0, key: r.res + ' ' + r.id };
    const q = h.queues.get(d.key);
    if (q) q.push(d); else { h.queues.set(d.key, [d]); agenda.add(now(), () => send(h, d)); }
  }
}
function purge() { const rows = shelves.entry.all.rows; let n = 0; while (n < rows.length && Date.parse(rows[n].f.at) + LOG_KEEP <= now()) shelves.entry.byId.delete(rows[n++].id); if (n) rows.splice(0, n); }

// ---------------------------------------------------------------- webhooks
const RETRY = [10 * SECOND, 2 * MINUTE, HOUR], agents = { 'http:': new http.Agent({ keepAlive: true, maxSockets: 32 }), 'https:': new https.Agent({ keepAlive: true, maxSockets: 32 }) };
const onTheirWay = new Set();
function send(h, d) {
  if (h.gone || h.dead) return;
  const started = now();
  if (h.notBefore > started) return agenda.add(h.notBefore, () => send(h, d));
  const t = Math.floor(started / 1000), mac = createHmac('sha256', h.f.secret).update(bug('sign-no-id') ? `${t}.${d.text}` : `${t}.${d.id}.${d.text}`).digest('hex');
  const url = new URL(h.f.url), lib = url.protocol === 'https:' ? https : http;
  let done = false, limit;
  const job = new Promise(resolve => {
    const end = (status, wait) => {
      if (done) return; done = true; clearTimeout(limit); onTheirWay.delete(job); resolve();
      if (h.gone) return;
      if (status >= 200 && status < 300) return after(h, d);
      if (status === 410) { h.dead = true; h.queues.clear(); return; }
      if (wait > 0) h.notBefore = Math.max(h.notBefore ?? 0, started + Math.min(wait * SECOND, DAY));
      if (d.tries > RETRY.length) return after(h, d);
      agenda.add(Math.max(started + RETRY[d.tries - 1], h.notBefore ?? 0), () => send(h, d));
    };
    d.tries++;
    try {
      const req = lib.request(url, { method: 'POST', agent: agents[url.protocol], timeout: 5000, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(d.text), 'beds-event': d.kind, 'beds-signature': `t=${t},v1=${mac}` } }, res => { res.resume(); end(res.statusCode, /^\d+$/.test(res.headers['retry-after'] ?? '') ? +res.headers['retry-after'] : 0); });
      req.on('error', () => end(0)); req.on('timeout', () => { end(0); req.destroy(); });
      limit = setTimeout(() => { end(0); req.destroy(); }, 5000); limit.unref();
      req.end(d.text);
    } catch { end(0); }
  });
  if (!done) onTheirWay.add(job);
}
function after(h, d) {
  const q = h.queues.get(d.key);
  if (!q) return;
  q.shift();
  if (q.length) { send(h, q[0]); } else h.queues.delete(d.key);
}

// ---------------------------------------------------------------- callers
const keys = new Map(), passwords = new Map();
for (const c of JSON.parse(readFileSync(join(HERE, 'stranger.json'), 'utf8')).callers) {
  const who = { user: c.user, id: c.id, scopes: c.scopes ?? [], house: c.attributes?.house, name: c.user + ' ' + c.id };
  if (c.scheme === 'login') passwords.set(c.credential, who); else keys.set(c.credential, who);
}
function identify(req, accept) {
  const shownKey = accept.includes('key') ? req.headersDistinct['x-beds-key'] : undefined, shownLogin = req.headersDistinct.authorization;
  const found = [];
  let bad = false, badKey = false;
  if (shownKey) { const c = shownKey.length === 1 && keys.get(shownKey[0]); if (c) found.push(c); else bad = badKey = true; }
  if (shownLogin) {
    const m = shownLogin.length === 1 && /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(shownLogin[0]);
    const c = m && passwords.get(Buffer.from(m[1], 'base64').toString('utf8'));
    if (c && c.house !== undefined && !(bug('steward-login') && c.user === 'steward')) found.push(c); else bad = true;
  }
  if (found.length === 2 && found[0].name !== found[1].name) bad = true;
  if (bad || !found.length) return { bad, challenge: [...(accept.includes('key') ? [`ApiKey realm="${TITLE}", in="header", name="X-Beds-Key"` + (badKey ? ', error="invalid_key"' : '')] : []), `Basic realm="${TITLE}", charset="UTF-8"`] };
  return { caller: found.length === 2 ? { ...found[0], scopes: [...new Set([...found[0].scopes, ...found[1].scopes])] } : found[0] };
}

// ---------------------------------------------------------------- rates and quotas
class Fixed {
  who = new Map();
  constructor(limit, window) { this.limit = limit; this.window = window; }
  look(k) { let w = this.who.get(k); const t = now(); if (!w || t >= w.start + this.window) this.who.set(k, w = { start: t, used: 0 }); return w; }
  left(k) { return this.limit - this.look(k).used; }
  use(k) { this.look(k).used++; }
  back(k) { this.look(k).used--; }
  wait(k) { return this.look(k).start + this.window - now(); }
}
class Sliding {
  who = new Map();
  constructor(limit, window) { this.limit = limit; this.window = window; }
  look(k) { let l = this.who.get(k); if (!l) this.who.set(k, l = []); const t = now(); while (l.length && l[0] + this.window <= t) l.shift(); return l; }
  left(k) { return this.limit - this.look(k).length; }
  use(k) { this.look(k).push(now()); }
  wait(k) { const l = this.look(k); return l.length ? l[0] + this.window - now() : 0; }
}
const RATES = { address: new Fixed(300000, MINUTE), caller: new Fixed(90000, MINUTE), orders: new Sliding(bug('rate-41') ? 41 : 40, 10 * MINUTE) };
function rateHeaders(out, counted) {
  let best = null;
  for (const [rate, k] of counted) { const left = Math.max(0, rate.left(k)); if (!best || left < best.left) best = { left, rate, k }; }
  if (best) { out['X-Rate-Limit'] = best.rate.limit; out['X-Rate-Remaining'] = best.left; out['X-Rate-Reset'] = Math.ceil(Math.max(0, best.rate.wait(best.k)) / 1000); }
}
const PARIS = new Intl.DateTimeFormat('en-CA', { timeZone: bug('quota-utc') ? 'UTC' : 'Europe/Paris', year: 'numeric', month: '2-digit', day: '2-digit' });
let parisDay = { from: 1, to: 0, day: '' };
function today() {
  const t = now();
  if (t >= parisDay.from && t < parisDay.to) return parisDay;
  const day = PARIS.format(t); let a = t, b = t + 26 * HOUR;
  while (b - a > 1) { const m = Math.floor((a + b) / 2); if (PARIS.format(m) === day) a = m; else b = m; }
  return parisDay = { from: t, to: b, day };
}
const quota = new Map();
const QUOTA = 25;

// ---------------------------------------------------------------- lists
const by = (field, op = '=', more = {}) => ({ field, op, ...more });
const LISTS = {
  parcel: { house: by('house', '=', { ix: 'house' }), water: by('water', 'in', { split: ',' }), area_m2: by('area_m2'), sort: { sorts: ['area_m2', 'code'], named: true } },
  batch: {
    parcel: by('parcel', '=', { ix: 'parcel' }), species: by('species'), state: by('state', 'in', { split: '|', ix: 'state' }), min_left: by('dozens_left', '>=', { shape: I() }),
    q: { search: ['label', 'house'] }, sort: { sorts: { left: 'dozens_left', changed: 'changed_at' } },
  },
  tank: {},
  closure: { parcel: by('parcel', '=', { ix: 'parcel' }), ends_before: by('until', '<'), over: { keeps: (r, value) => value ? r.f.state !== 'in_force' : r.f.state === 'in_force', field: 'state', shape: { t: 'boolean' } }, sort: { sorts: ['until'], named: true } },
  inspection: { batch: by('batch', '=', { ix: 'batch' }), verdict: by('verdict') },
  order: { batch: by('batch', '=', { ix: 'batch' }), state: by('state', 'in', { split: ',' }), since: by('placed_at', '>='), town: by('deliver_to', '~', { shape: fields.address.town, of: r => r.f.deliver_to.town }), sort: { sorts: { placed: 'placed_at', size: 'dozens' } }, way: { way: true } },
  entry: { kind: by('kind', 'prefix'), about: by('about') },
};
const STATES = {
  batch: ['growing', 'harvested', 'purifying', 'cleared', 'condemned', 'spoiled'], closure: ['in_force', 'lifted', 'lapsed'],
  order: ['placed', 'confirmed', 'received', 'cancelled', 'lapsed', 'recalled'],
};
const PAGED = { cursor: ['limit', 'after'], offset: ['limit', 'offset'] };
const bad = (name, found) => refuse('request.parameter', { wrong: [{ in: 'query', path: name, found, expected: 'a stated parameter with a value that it takes' }] });
function scalar(text, s) {
  if (s.t === 'integer') return /^-?\d+$/.test(text) ? Number(text) : NaN;
  if (s.t === 'boolean') return text === 'true' ? true : text === 'false' ? false : null;
  return text;
}
const valueOf = (r, key) => { const s = fields[r.res][key]; const x = s.derive ? s.derive(r) : r.f[key]; return s.format === 'date-time' && x !== undefined ? instant(x) : x; };
function query(op, search, v, caller) {                 // what a request asks for, or the refusal of it
  const plan = { keeps: [], ix: [], sort: null, text: [] };
  const spec = op.verb === 'list' ? LISTS[op.res] : {}, style = op.verb !== 'list' ? [] : op.res === 'tank' ? PAGED.offset : PAGED.cursor;
  const given = new Map();
  for (const [k, x] of search) { if (given.has(k)) bad(k); given.set(k, x); }
  const hides = field => rulesFor(op.name, caller?.user).some(r => r.fields && !r.fields.includes(field));
  const known = new Map(Object.entries(spec).map(([name, p]) => [p.field === name ? views[v][op.res].byKey.get(name)?.name : name, p]));
  let way = 1, page = {};
  for (const [name, text] of given) {
    if (style.includes(name)) { page[name] = text; continue; }
    const p = known.get(name);
    if (!p) bad(name);
    plan.text.push(name + '=' + text);
    if (p.way) { if (text !== 'asc' && text !== 'desc') bad(name); way = text === 'desc' && !bug('way-ignored') ? -1 : 1; continue; }
    if (p.sorts) {
      const desc = text.startsWith('-'), bare = desc ? text.slice(1) : text;
      const key = p.named ? p.sorts.find(k => views[v][op.res].byKey.get(k).name === bare) : Object.hasOwn(p.sorts, bare) ? p.sorts[bare] : undefined;
      if (!key || hides(key)) bad(name);
      plan.sort = { key, way: desc ? -1 : 1 }; continue;
    }
    if (p.search) {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length > 16) bad(name);
      plan.keeps.push(r => { const there = p.search.map(k => r.f[k].toLowerCase()); return words.every(w => there.some(t => t.includes(w))); }); continue;
    }
    if (hides(p.field)) bad(name);
    const f = views[v][op.res].byKey.get(p.field), shape = p.shape ?? (p.field === 'state' && STATES[op.res] ? { enum: STATES[op.res] } : f.shape), up = p.shape ? x => x : f.up;
    let texts = p.split ? text.split(p.split) : [text];
    if (texts.length > 100) bad(name);
    if (bug('split-first') && op.res === 'batch') texts = texts.slice(0, 1);
    const values = texts.map(t => { const x = scalar(t, shape); if (p.op !== 'prefix' && expectation(x, shape)) bad(name, t.slice(0, 200)); return shape.format === 'date-time' ? instant(x) : up(x); });
    const [x] = values, get = p.of ?? (r => valueOf(r, p.field));
    plan.keeps.push(p.keeps ? r => p.keeps(r, x) : {
      '=': r => get(r) === x, in: r => values.includes(get(r)), '>=': r => get(r) >= x, '<': r => get(r) < x, prefix: r => get(r).startsWith(x), '~': r => get(r).toLowerCase() === x.toLowerCase(),
    }[p.op]);
    if (p.ix && values.length === 1) plan.ix.push([p.ix, x]);
  }
  if (op.verb !== 'list') return plan;
  if (op.res === 'order') { plan.sort ??= way < 0 ? { key: 'placed_at', way: 1 } : null; if (plan.sort) plan.sort.way *= way; }
  if (op.res === 'tank') plan.sort = { key: 'capacity', way: -1 };
  plan.newest = op.res === 'entry';
  const whole = (text, least, most, otherwise) => { if (text === undefined) return otherwise; if (!/^\d+$/.test(text) || +text < least || +text > most) refuse('limit.page'); return +text; };
  if (op.res === 'tank') { plan.size = Math.min(50, whole(page.limit, 1, Number.MAX_SAFE_INTEGER, 10)); plan.offset = whole(page.offset, 0, Number.MAX_SAFE_INTEGER, 0); return plan; }
  plan.size = whole(page.limit, 1, bug('limit-101') && op.res === 'batch' ? 101 : 100, 20);
  plan.print = createHash('sha1').update(JSON.stringify([op.name, v, plan.text.sort(), caller?.user, caller?.id, caller?.house])).digest('base64url').slice(0, 12);
  if (page.after !== undefined) plan.after = openCursor(page.after, plan.print);
  return plan;
}
const CURSOR_KEY = randomBytes(16);
const seal = text => createHmac('sha256', CURSOR_KEY).update(text).digest('base64url').slice(0, 16);
const cursor = (print, key, seq) => { const text = Buffer.from(JSON.stringify([print, key ?? null, seq])).toString('base64url'); return text + '.' + seal(text); };
function openCursor(text, print) {
  const [body, mac] = text.split('.');
  if (!mac || seal(body) !== mac || text !== body + '.' + mac) refuse('limit.page');
  const [p, key, seq] = JSON.parse(Buffer.from(body, 'base64url').toString());
  if (p !== print) refuse('limit.page');
  return { key, seq };
}
function list(op, plan, caller, v, bound) {
  const rules = rulesFor(op.name, caller?.user), free = rules.some(r => !r.when), shelf = shelves[op.res];
  let line = shelf.all;
  const narrower = l => { if (l.rows.length < line.rows.length) line = l; };
  if (!free && rules.length === 1 && rules[0].index) { const [k, x] = rules[0].index(caller); narrower(shelf.of(k, x)); }
  for (const [k, x] of plan.ix) narrower(shelf.of(k, x));
  const fits = r => (free || rules.some(x => x.when(r, caller))) && plan.keeps.every(k => k(r));
  const tell1 = r => shown(r, caller, v, { rules: rules.filter(x => !x.when || x.when(r, caller)) });
  if (plan.offset !== undefined) {
    const rows = line.rows.filter(fits).sort((a, b) => b.f.capacity - a.f.capacity || a.seq - b.seq);
    return { tanks: rows.slice(plan.offset, plan.offset + plan.size).map(tell1), total: rows.length };
  }
  const got = [], { sort, after, size } = plan, rows = line.rows;
  if (!sort && !plan.newest) for (let i = after ? line.at(after.seq + 1) : 0; i < rows.length && got.length <= size; i++) { if (fits(rows[i])) got.push(rows[i]); }
  else if (!sort) for (let i = (after ? line.at(after.seq) : rows.length) - 1; i >= 0 && got.length <= size; i--) { if (fits(rows[i])) got.push(rows[i]); }
  else {
    const cmp = (a, aSeq, b, bSeq) => (a < b ? -sort.way : a > b ? sort.way : aSeq - bSeq);
    const all = rows.filter(fits).map(r => ({ r, k: valueOf(r, sort.key) })).filter(x => !after || cmp(x.k, x.r.seq, after.key, after.seq) > 0).sort((a, b) => cmp(a.k, a.r.seq, b.k, b.r.seq));
    for (const x of all.slice(0, size + 1)) got.push(x.r);
  }
  const more = got.length > size;
  if (more) got.pop();
  const last = got[got.length - 1];
  return { items: got.map(tell1), next: more || (bug('next-on-last') && last && op.res === 'order') ? cursor(plan.print, sort ? valueOf(last, sort.key) : null, last.seq) : null, more };
}

// ---------------------------------------------------------------- the routes
const OPS = `
POST /parcels                      create parcel
GET /parcels                       list parcel
GET /parcels/{id}                  read parcel
PATCH /parcels/{id}                update parcel
POST /parcels/{parcel}/batches     create batch
GET /batches                       list batch
GET /batches/{id}                  read batch
PATCH /batches/{id}                update batch
POST /batches/{id}/harvest         harvest batch
POST /batches/{id}/soak            soak batch
PUT /tanks/{code}                  upsert tank
GET /tanks                         list tank
GET /tanks/{code}                  read tank
DELETE /tanks/{code}               delete tank
POST /parcels/{parcel}/closures    create closure
GET /closures                      list closure
GET /closures/{id}                 read closure
PATCH /closures/{id}               update closure
POST /closures/{id}/lift           lift closure
POST /batches/{batch}/inspections  create inspection
GET /inspections                   list inspection
POST /orders                       create order
GET /orders                        list order
GET /orders/{id}                   read order
PATCH /orders/{id}                 update order
POST /orders/{id}/confirm          confirm order
POST /orders/{id}/cancel           cancel order
POST /hooks                        create hook
DELETE /hooks/{id}                 delete hook
GET /journal                       list entry
GET /grades                        grades`.trim().split('\n').map(l => l.trim().split(/\s+/));
const MORE = {
  'read parcel': { etag: true, cache: 'private, max-age=30' }, 'read batch': { etag: true }, 'update parcel': { match: 'required' }, 'update batch': { match: 'accepted', in: ['growing'] },
  'update closure': { in: ['in_force'] }, 'update order': { in: ['placed'] }, 'create inspection': { accept: bug('key-inspects') ? ['key', 'login'] : ['login'], parent: 'batch' }, 'create batch': { parent: 'parcel' }, 'create closure': { parent: 'parcel' },
  'harvest batch': { body: { counted: I(1, 5000) } }, 'soak batch': { body: { tank: { t: 'string' } } }, grades: { public: true },
};
const AT = { parcel: '/parcels/', batch: '/batches/', tank: '/tanks/', closure: '/closures/', order: '/orders/' };
const GRADES = { grades: [{ calibre: 1, grams: '121-150' }, { calibre: 2, grams: '86-120' }, { calibre: 3, grams: '66-85' }] };
const VERBS = ['create', 'list', 'read', 'update', 'upsert', 'delete'];
const routes = new Map();                               // number of steps and first step -> paths
for (const [method, path, verb, res] of OPS) {
  const name = res ? verb + ' ' + res : verb, steps = path.slice(1).split('/'), at = steps.length + steps[0];
  if (bug('lift-lost') && name === 'lift closure') continue;
  const op = { name, method, res, verb: !res ? 'reply' : VERBS.includes(verb) ? verb : 'move', move: verb, accept: ['key', 'login'], ...MORE[name] };
  op.takes = ['create', 'update', 'upsert'].includes(op.verb) || !!op.body;
  let list = routes.get(at); if (!list) routes.set(at, list = []);
  let p = list.find(x => x.path === path); if (!p) list.push(p = { path, steps, ops: {} });
  p.ops[method] = op;
}
function route(pathname) {
  if (!pathname.startsWith(BASE + '/')) return null;
  const steps = pathname.slice(BASE.length + 1).split('/');
  if (bug('slash-passes') && steps.length > 1 && steps[steps.length - 1] === '') steps.pop();
  for (const p of routes.get(steps.length + steps[0]) ?? []) {
    const params = {};
    if (p.steps.every((s, i) => { if (s[0] !== '{') return s === steps[i]; if (!steps[i]) return false; try { params[s.slice(1, -1)] = decodeURIComponent(steps[i]); return true; } catch { return false; } })) return { p, params };
  }
  return null;
}

// ---------------------------------------------------------------- one exchange
const tagOf = (r, c, v) => { const x = shown(r, c, v); if (bug('tag-blind')) delete x.closures, delete x.standing; return '"' + createHash('sha1').update(v + JSON.stringify(x)).digest('base64url').slice(0, 20) + '"'; };
const tagsIn = text => text.match(/(?:W\/)?"[^"]*"/g) ?? [];
const replies = new Map(), KEEP = 24 * HOUR;
const GONE_KEEP = 7 * DAY;
function find(res, id, caller) {                        // the row that a path names, to who may read it
  const r = shelves[res].byId.get(bug('zeros-named') && res === 'closure' ? id.replace(/^0+/, '') : id);
  if (!r || (r.gone && now() - r.gone >= GONE_KEEP) || !mayRead(r, caller)) refuse('resource.missing');
  if (r.gone) refuse('resource.gone');
  return r;
}
function reference(res, id, caller) { const r = row(res, id); if (!r || !mayRead(r, caller)) refuse('reference.missing'); return r; }
function precondition(op, req, r, caller, v) {
  const text = req.headers['if-match'];
  if (!op.match) return;
  if (text === undefined) { if (op.match === 'required') refuse('precondition.required'); return; }
  if (text.trim() !== '*' && !tagsIn(text).includes(tagOf(r, caller, v))) refuse('precondition.failed');
}
const answerOf = (r, caller, v, more) => shown(r, caller, v, more);
const created = (r, caller, v, more) => ({ status: 201, body: answerOf(r, caller, v, more), headers: AT[r.res] ? { Location: (bug('base-lost') ? '' : BASE) + AT[r.res] + encodeURIComponent(r.id) } : {} });
const overSold = f => f.dozens > fields.batch.dozens_left.derive(row('batch', f.batch));

const effects = {
  create({ op, req, params, body, caller, v }) {
    const { res, parent } = op, bound = {};
    if (parent) bound[parent] = find(parent, params[parent], caller).id;
    const f = taken(res, body, { v, bound, caller });
    if (res === 'order') reference('batch', f.batch, caller);
    if (!rulesFor(op.name, caller.user).some(r => !r.next || r.next(f, caller))) refuse('caller.forbidden');
    if (res === 'closure' && instant(f.until) <= now()) refuse('until_past');
    if (res === 'order' && overSold(f)) refuse('too_many');
    if (res === 'parcel' && shelves.parcel.of('code', f.code).rows.length) refuse('resource.exists');
    if (res === 'hook' && shelves.hook.of('owner', caller.id).rows.length >= (bug('hooks-9') ? 9 : 8)) refuse('limit.quota');
    if (res === 'batch') f.house = caller.house;
    if (res === 'order') { f.buyer = caller.id; f.total_cents = f.dozens * row('batch', f.batch).f.price_cents; f.placed_at = iso(now()); }
    if (res === 'hook') { f.owner = caller.id; f.secret = 'obs_' + random(32); }
    if (res === 'inspection') {
      const day = today(), k = day.day + ' ' + caller.name, used = quota.get(k) ?? 0;
      if (used >= QUOTA) refuse('limit.quota', { headers: { 'Retry-After': Math.ceil((day.to - now()) / 1000) } });
      quota.set(k, used + 1);
    }
    const r = make(res, f, newId[res]());
    if (res === 'hook') { r.maker = caller; r.v = v; r.queues = new Map(); }
    return created(r, caller, v, res === 'hook' ? { rules: [], once: true } : {});
  },
  read({ op, req, params, caller, v }) {
    const r = (bug('order-of-others') && op.res === 'order' && row('order', params.id)) || find(op.res, params.id ?? params.code, caller), headers = op.cache ? { 'Cache-Control': op.cache } : {};
    if (op.etag) {
      headers.ETag = tagOf(r, caller, v);
      const seen = req.headers['if-none-match'];
      if (seen !== undefined && (seen.trim() === '*' || tagsIn(seen).some(t => t.replace(/^W\//, '') === headers.ETag))) return { status: 304, headers };
    }
    return { status: 200, body: answerOf(r, caller, v), headers };
  },
  list({ op, plan, caller, v }) { if (op.res === 'entry') purge(); return { status: 200, body: list(op, plan, caller, v) }; },
  update({ op, req, params, body, caller, v }) {
    const r = find(op.res, params.id, caller), allows = () => rulesFor(op.name, caller.user).some(x => !x.when || x.when(r, caller));
    if (!allows()) refuse('caller.forbidden');
    precondition(op, req, r, caller, v);
    const f = taken(op.res, body, { v, old: r.f, caller });
    if (op.in && !op.in.includes(r.f.state)) refuse('transition.illegal');
    const next = { ...r.f, ...f };
    if (op.res === 'closure' && instant(next.until) <= now()) refuse('until_past');
    if (op.res === 'order') { if (overSold(next)) refuse('too_many'); if (!bug('total-stale')) f.total_cents = next.dozens * row('batch', r.f.batch).f.price_cents; }
    const was = bug('patch-stale') && op.res === 'parcel' ? answerOf(r, caller, v) : null;
    if (Object.keys(f).some(k => !same(f[k], r.f[k]))) alter(r, f);
    return { status: 200, body: was ?? answerOf(r, caller, v) };
  },
  upsert({ op, params, body, caller, v }) {
    const id = params.code, f0 = { code: id };
    const wrong = expectation(id, fields.tank.code);
    if (wrong) refuse('request.invalid', { wrong: [{ in: 'path', path: 'code', found: id, expected: wrong }] });
    const f = taken('tank', body, { v, bound: f0, caller });
    const r = row('tank', id);
    if (!r) return created(make('tank', f, id), caller, v);
    if (!same(f.capacity, r.f.capacity)) alter(r, f);
    return { status: 200, body: answerOf(r, caller, v) };
  },
  delete({ op, params, caller }) {
    if (op.res === 'hook') {
      const h = row('hook', params.id);
      if (!h || !rulesFor(op.name, caller.user).some(x => x.when(h, caller))) refuse('resource.missing');
      h.gone = now(); h.queues.clear(); shelves.hook.drop(h); shelves.hook.byId.delete(h.id);
    } else {
      const r = find('tank', params.code, caller);
      if (shelves.batch.of('tank', r.id).rows.length && !bug('held-lost')) refuse('reference.held');
      r.gone = now(); shelves.tank.drop(r);
    }
    return { status: 204 };
  },
  move({ op, params, body, caller, v }) {
    const r = find(op.res, params.id, caller);
    if (!rulesFor(op.name, caller.user).some(x => !x.when || x.when(r, caller))) refuse('caller.forbidden');
    const sent = op.body ? plain(body, op.body) : {};
    const no = mayMove(r, op.move, sent);
    if (no) refuse(no);
    move(r, op.move, sent);
    return { status: 200, body: answerOf(r, caller, v) };
  },
  reply() { return { status: 200, body: GRADES }; },
};
const utf8 = new TextDecoder('utf-8', { fatal: true });
const BODY = 16 * 1024, URL_MAX = bug('url-2049') ? 2049 : 2048, HEADERS = 8 * 1024;
function exchange(req, sent, out) {
  runDue();
  const target = req.url, cut = target.indexOf('?'), pathname = cut < 0 ? target : target.slice(0, cut);
  let v = EDITIONS.indexOf(req.headers['beds-edition'] ?? EDITIONS[NEWEST]);
  out.v = v < 0 ? NEWEST : v;
  if (Buffer.byteLength(target) > URL_MAX) refuse('limit.size');
  let bytes = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) bytes += req.rawHeaders[i].length + req.rawHeaders[i + 1].length + 4;
  if (bytes > HEADERS) refuse('limit.size');
  const hit = route(pathname);
  if (!hit || (out.v === 0 && hit.p.path === '/grades')) refuse('route.unknown');
  const methods = Object.keys(hit.p.ops), allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  if (req.method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
  const op = hit.p.ops[req.method === 'HEAD' && !(bug('head-refused') && hit.p.path === '/parcels/{id}') ? 'GET' : req.method];
  if (!op) refuse('method.unsupported', { headers: { Allow: allow } });
  if (v < 0) { if (bug('edition-guessed')) v = NEWEST; else refuse('version.unknown'); }
  if (v === 0 && now() >= OLD.end) refuse('version.sunset');
  const address = req.socket.remoteAddress, counted = out.counted = [];
  const charge = (rate, k) => {
    if (rate.left(k) < 1) { for (const [r, x] of counted) r.back?.(x); out.counted = [[rate, k]]; refuse('limit.rate', { headers: { 'Retry-After': Math.ceil(rate.wait(k) / 1000) } }); }
  };
  charge(RATES.address, address); RATES.address.use(address); counted.push([RATES.address, address]);
  let caller = null;
  out.public = op.public;
  if (!op.public) {
    const who = identify(req, op.accept);
    if (who.bad || (!who.caller && !rulesFor(op.name, undefined).length)) refuse('caller.unknown', { headers: { 'WWW-Authenticate': who.challenge } });
    caller = who.caller ?? null;
  }
  const person = caller ? caller.name : address, rated = [[RATES.caller, person]];
  if (op.name === 'create order' && caller.user === 'buyer') rated.push([RATES.orders, person]);
  for (const [rate, k] of rated) charge(rate, k);
  for (const [rate, k] of rated) { rate.use(k); counted.push([rate, k]); }
  const allowed = () => {
    if (op.public) return;
    const rules = rulesFor(op.name, caller?.user);
    if (!rules.length || !rules.some(r => (r.scopes ?? []).every(s => caller.scopes.includes(s)))) refuse('caller.forbidden');
  };
  if (bug('user-first')) allowed();
  const plan = query(op, new URLSearchParams(cut < 0 ? '' : target.slice(cut + 1)), v, caller);
  allowed();
  let body;
  if (op.takes) {
    if (!sent.length && !sent.over) refuse('request.malformed');
    const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
    if (type !== 'application/json' && !(op.verb === 'update' && type === 'application/merge-patch+json')) refuse('request.media');
  }
  if (sent.over) refuse('limit.size');
  if (op.takes) { try { body = JSON.parse(utf8.decode(sent.bytes)); } catch { refuse('request.malformed'); } }
  const idem = req.method === 'POST' && caller && req.headers['idempotency-key'], slot = idem && (bug('keys-shared') && op.name === 'create order' ? op.name + ' ' + idem : caller.name + ' ' + op.name + ' ' + idem);
  let print;
  if (idem) {
    print = createHash('sha1').update(target + '\n' + v + '\n').update(sent.bytes ?? '').digest('base64');
    const old = replies.get(slot);
    if (old && now() - old.at < KEEP) { if (old.print !== print) refuse('idempotency.reused'); return old.answer; }
  }
  const keep = answer => { if (idem) replies.set(slot, { print, at: now(), answer }); };
  try {
    const answer = effects[op.verb]({ op, req, params: hit.params, body, caller, v, plan });
    if (idem) { const { secret, ...rest } = answer.body ?? {}; keep(op.res === 'hook' ? { ...answer, body: rest } : answer); }
    return answer;
  } catch (e) {
    if (e instanceof Refusal && e.own) { const kept = refusalAnswer(e, null); keep({ ...kept, refusal: e }); }
    throw e;
  }
}
const refusalAnswer = (e, id) => ({ status: e.status, body: { fault: { code: e.code, says: e.says, request: id, ...(e.wrong ? { wrong: e.wrong } : {}) } }, headers: { ...e.headers, 'X-Fault': e.code } });
function respond(req, res, sent) {
  const id = 'req_' + randomBytes(9).toString('base64url'), out = { v: NEWEST, counted: [] };
  let a;
  try { a = sent.late ? refuse('limit.time', { headers: { Connection: 'close' } }) : exchange(req, sent, out); if (a.refusal) a = refusalAnswer(a.refusal, id); }
  catch (e) { if (!(e instanceof Refusal)) { console.error(e); e = new Refusal('internal'); } a = refusalAnswer(e, id); }
  const h = { 'X-Request-Id': id, 'Beds-Edition': EDITIONS[out.v], Vary: out.public ? 'Beds-Edition' : 'Beds-Edition, X-Beds-Key, Authorization', ...a.headers };
  if (out.v === 0) { h.Deprecation = OLD.deprecated; if (!(bug('sunset-unsaid') && a.status >= 400)) h.Sunset = OLD.sunset; h.Link = `<https://oyster-beds.example/editions>; rel="deprecation", <${req.url}>; rel="successor-version"`; }
  rateHeaders(h, out.counted);
  if (a.body !== undefined) { const text = Buffer.from(JSON.stringify(a.body)); h['Content-Type'] = 'application/json'; h['Content-Length'] = text.length; res.writeHead(a.status, h); res.end(req.method === 'HEAD' ? undefined : text); }
  else { res.writeHead(a.status, h); res.end(); }
  runDue();
}
const server = http.createServer({ maxHeaderSize: 64 * 1024, keepAliveTimeout: 60 * SECOND, headersTimeout: 10 * SECOND, requestTimeout: 11 * SECOND, connectionsCheckingInterval: 1000 }, (req, res) => {
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) return respond(req, res, { length: 0 });
  const parts = []; let length = 0, done = false;
  const finish = sent => { if (done) return; done = true; clearTimeout(timer); respond(req, res, sent); };
  const timer = setTimeout(() => finish({ late: true, length: 0 }), 10 * SECOND);
  req.on('data', d => { length += d.length; if (length <= BODY) parts.push(d); });
  req.on('end', () => finish(length > BODY ? { over: true, length } : { bytes: Buffer.concat(parts), length }));
  req.on('error', () => clearTimeout(timer)); req.on('close', () => clearTimeout(timer));
});
server.on('clientError', (e, socket) => {
  if (!socket.writable) return socket.destroy();
  const r = new Refusal(e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'limit.time' : e.code === 'HPE_HEADER_OVERFLOW' ? 'limit.size' : 'request.malformed'), a = refusalAnswer(r, 'req_' + randomBytes(9).toString('base64url')), text = JSON.stringify(a.body);
  socket.end(`HTTP/1.1 ${a.status} ${http.STATUS_CODES[a.status]}\r\nContent-Type: application/json\r\nX-Fault: ${a.headers['X-Fault']}\r\nX-Request-Id: ${a.body.fault.request}\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(Number(arg('port')), '127.0.0.1', () => console.log('Oyster Beds on ' + server.address().port));

// ---------------------------------------------------------------- the door of the clock
const settled = () => onTheirWay.size ? Promise.race([Promise.allSettled([...onTheirWay]), new Promise(ok => setTimeout(ok, 400))]) : null;
const DURATION = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
async function moveClock(to) {
  await settled();
  ahead += to - now();
  for (let i = 0; i < 20; i++) { runDue(); await settled(); if (!agenda.due(now())) break; }
  purge();
}
if (arg('clock-port') !== undefined) http.createServer((req, res) => {
  const say = (status, body) => { const text = JSON.stringify(body ?? {}); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }); res.end(text); };
  let text = '';
  req.on('data', d => { text += d; });
  req.on('end', async () => {
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    let to = NaN;
    try {
      const b = JSON.parse(text), m = typeof b.advance === 'string' && DURATION.exec(b.advance);
      if (m) { const [y, mo, w, d, h, mi, s] = m.slice(1).map(x => Number(x ?? 0)), t = new Date(now()), day = t.getUTCDate(); t.setUTCDate(1); t.setUTCMonth(t.getUTCMonth() + 12 * y + mo); t.setUTCDate(Math.min(day, new Date(Date.UTC(t.getUTCFullYear(), t.getUTCMonth() + 1, 0)).getUTCDate())); to = t.getTime() + (7 * w + d) * DAY + h * HOUR + mi * MINUTE + s * SECOND; }
      else if (b.advance === undefined) to = instant(b.now);
    } catch { /* 400 */ }
    if (req.method !== 'POST' || Number.isNaN(to)) return say(400, { error: 'advance or now' });
    if (to < now() - 1) return say(422, { error: 'the clock goes forward alone' });
    await moveClock(Math.max(to, now()));
    say(200, { now: iso(now()) });
  });
}).listen(Number(arg('clock-port')), '127.0.0.1');
