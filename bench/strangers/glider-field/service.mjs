// Glider Field: one file, node: modules alone. See service.yaml for what it promises.
import http from 'node:http';
import https from 'node:https';
import fs from 'node:fs';
import path from 'node:path';
import { createHmac, createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

const arg = (n, d) => { const i = process.argv.indexOf('--' + n); return i < 0 ? d : process.argv[i + 1]; };
const PORT = +arg('port', 20000), CLOCK = +arg('clock-port', 20001), FAULT = arg('fault', '');
const F = (id) => FAULT === id;
const HERE = path.dirname(fileURLToPath(import.meta.url));
const BASE = '/field', REALM = 'Glider Field';
const MIN = 60e3, HOUR = 3600e3, DAY = 24 * HOUR;

// ---------- clock and what falls due ----------
let offset = 0, frozen = null;
const now = () => frozen ?? Date.now() + offset;
const iso = (t = now()) => new Date(t).toISOString();
const heap = []; let heapSeq = 0, timer = null;
const less = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
function due(at, fn) {
  const x = { at, seq: ++heapSeq, fn }; let i = heap.push(x) - 1;
  while (i > 0) { const p = (i - 1) >> 1; if (!less(heap[i], heap[p])) break; [heap[i], heap[p]] = [heap[p], heap[i]]; i = p; }
  if (heap[0] === x) arm();
}
function popDue() {
  const top = heap[0], last = heap.pop();
  if (heap.length) {
    heap[0] = last; let i = 0;
    for (;;) { let m = i; const l = 2 * i + 1, r = l + 1; if (l < heap.length && less(heap[l], heap[m])) m = l; if (r < heap.length && less(heap[r], heap[m])) m = r; if (m === i) break; [heap[i], heap[m]] = [heap[m], heap[i]]; i = m; }
  }
  return top;
}
function arm() { clearTimeout(timer); if (heap.length) timer = setTimeout(() => { runDue(now()); }, Math.max(0, Math.min(heap[0].at - now(), 2 ** 31 - 1))); }
function runDue(until, moving) {
  while (heap.length && heap[0].at <= until) {
    const x = popDue(); const before = frozen; if (moving) frozen = Math.max(x.at, now0);
    try { x.fn(); } catch (e) { console.error('due', e); }
    if (moving) now0 = frozen; frozen = before;
  }
  arm();
}
let now0 = 0; // the latest time that anything fired at
function moveTo(t) { now0 = now(); runDue(t, true); offset = t - Date.now(); now0 = 0; arm(); }

// ---------- callers ----------
const cfg = JSON.parse(fs.readFileSync(path.join(HERE, 'stranger.json'), 'utf8'));
const CREDS = { badge: new Map(), desk: new Map(), tablet: new Map() };
for (const c of cfg.callers) {
  let user = c.user;
  if (F('users-tablet-inspector') && c.scheme === 'tablet' && user === 'inspector') user = 'marshal';
  CREDS[c.scheme].set(c.credential, { user, id: c.id, scopes: c.scopes ?? [], site: c.attributes?.site });
}

// ---------- errors ----------
const CODES = {
  garbled: [400, 'JSON alone is read here.'], cannot_answer_so: [406, 'JSON alone is written here.'], bad_parameter: [400, 'That cannot be asked so.'],
  incomplete: [400, '{name} is missing, or not known here.'], not_right: [422, 'Something in it is not right.'], nowhere: [404, 'Nothing is here.'],
  no_such_move: [405, 'That cannot be done here.'], show_badge: [401, 'Show who you are.'], stranger: [401, 'Nobody knows you.'], not_yours: [403, 'That is not for you.'],
  lacks_scope: [403, 'Your badge does not allow that.'], not_found: [404, 'There is none.'], taken: [409, 'That is there already.'], not_on_file: [422, 'What is named is not on file.'],
  in_use: [409, 'Others refer to it.'], wrong_moment: [409, 'Not in the state that it is in.'], voucher_gone: [409, 'The voucher is used up or over.'],
  glider_not_free: [409, 'The glider is grounded or in the air.'], still_airborne: [409, 'The glider is in the air.'], inspection_over: [422, 'The inspection has run out.'],
  needs_inspection: [409, 'Have it inspected first.'], day_over: [409, 'The day is closed.'], day_not_open: [409, 'The day is not open.'], not_rated: [422, 'The pilot is not rated for that launch.'],
  not_the_holder: [422, "The voucher is somebody else's."], voucher_dated: [422, 'A voucher has to last.'], changed: [412, 'It has changed since.'], say_which: [428, 'Say by If-Match what you read.'],
  key_reused: [409, 'The key was used for something else.'], slow_down: [429, 'Too many at once.'], enough: [403, 'That is as many as there may be.'], too_big: [413, 'Too large.'],
  too_slow: [408, 'That took too long.'], no_such_edition: [400, 'There is no such edition.'], edition_over: [410, 'That edition is over.'], broken: [500, 'Something broke.'],
};
class Refusal extends Error { constructor(code, o = {}) { super(code); this.code = code; this.o = o; } }
const no = (code, o) => { throw new Refusal(code, o); };
const own = (code) => { throw new Refusal(code, { own: true }); };
const payload = (code, trace, viol) => {
  let m = CODES[code][1]; if (viol?.length) m = m.replace('{name}', () => String(viol[0].path).slice(0, 200)); else m = m.replace('{name}', 'It');
  const o = { fault: code, say: m };
  if (viol?.length) o.where = viol.map((v) => ({ in: v.in, path: v.path, found: v.found, expected: v.expected }));
  o.trace = trace; return o;
};

// ---------- what there is ----------
const RE_DT = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const dateOk = (y, m, d) => m >= 1 && m <= 12 && d >= 1 && d <= new Date(Date.UTC(y, m, 0)).getUTCDate();
const FORMATS = {
  'date-time': (s) => { const m = RE_DT.exec(s); return !!m && dateOk(+m[1], +m[2], +m[3]) && +m[4] < 24 && +m[5] < 60 && +m[6] < 60 && !Number.isNaN(Date.parse(s)); },
  date: (s) => { const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s); return !!m && dateOk(+m[1], +m[2], +m[3]); },
  phone: (s) => /^\+[1-9]\d{1,14}$/.test(s),
  uri: (s) => /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/.test(s) && URL.canParse(s),
};
const S = (o) => ({ t: 'string', ...o }), I = (o) => ({ t: 'integer', ...o });
const aloft = (p) => p === 'airborne' || p === 'overdue';
const KINDS = ['glider.grounded', 'glider.cleared', 'day.closed', 'flight.queued', 'flight.reassigned', 'flight.launched', 'flight.landed', 'flight.scrubbed', 'voucher.spent', 'voucher.expiring'];
const RES = {
  glider: { id: 'tail', order: { tail: S({ pat: /^[A-Z]{1,2}-[A-Z0-9]{3,4}$/, req: 1, imm: 1 }), model: S({ min: 2, max: 40, req: 1 }), seats: I({ enum: [1, 2], req: 1 }), site: S({ ro: 1 }),
    inspected_until: S({ fmt: 'date-time', req: 1 }), hourly_cents: I({ min: 0, max: 50000, def: 0, req: 1, vis: ['marshal', 'inspector'] }), condition: S({ ro: 1, enum: ['serviceable', 'grounded', 'retired'] }), airborne: I({ ro: 1, der: 'airborne' }) } },
  member: { id: 'number', order: { number: I({ ro: 1 }), login: S({ pat: /^[a-z][a-z0-9-]{1,19}$/, imm: 1, req: 1 }), name: S({ min: 1, max: 60, req: 1 }),
    ratings: { t: 'array', items: S({ enum: ['winch', 'aerotow', 'instructor'] }), uniq: 1, maxItems: 3, def: [], req: 1, wr: ['marshal'] }, weight_kg: I({ min: 40, max: 130, vis: ['marshal'], wr: ['marshal'] }),
    kin_phone: S({ fmt: 'phone', wo: 1 }), vouchers_left: I({ ro: 1, der: 'left' }) } },
  day: { id: 'id', order: { id: S({ ro: 1 }), date: S({ fmt: 'date', imm: 1, req: 1 }), site: S({ ro: 1 }), state: S({ ro: 1, enum: ['planned', 'open', 'closed'] }), aloft: I({ ro: 1, der: 'aloft' }) } },
  flight: { id: 'id', order: { id: S({ ro: 1 }), number: I({ ro: 1 }), day: S({ ref: 'day', imm: 1, req: 1, path: 1 }), glider: S({ ref: 'glider', req: 1 }), pilot: I({ ref: 'member', imm: 1, req: 1 }), site: S({ ro: 1 }),
    launch: S({ enum: ['winch', 'aerotow'], def: 'winch', req: 1 }), release_m: I({ min: 150, max: 1500 }), voucher: S({ ref: 'voucher' }), remark: S({ max: 120 }), phase: S({ ro: 1, enum: ['queued', 'airborne', 'landed', 'scrubbed', 'overdue'] }),
    launched_at: S({ ro: 1 }), minutes: I({ ro: 1 }) } },
  voucher: { id: 'id', order: { id: S({ ro: 1 }), serial: S({ ro: 1 }), holder: I({ ref: 'member', imm: 1, req: 1 }), site: S({ ro: 1 }), price_cents: I({ min: 100, max: 20000, req: 1 }), pin: S({ ro: 1, once: 1 }),
    valid_until: S({ fmt: 'date-time', req: 1 }), state: S({ ro: 1, enum: ['issued', 'spent', 'lapsed', 'refunded'] }) } },
  hook: { id: 'id', order: { id: S({ ro: 1 }), owner: S({ ro: 1 }), url: S({ fmt: 'uri', max: 300, req: 1 }), kinds: { t: 'array', items: S({}), maxItems: 10 }, live: { t: 'boolean', def: true, req: 1 }, secret: S({ ro: 1, once: 1 }) } },
};
for (const [n, r] of Object.entries(RES)) { r.name = n; r.rows = new Map(); r.list = []; r.k = 0; }
const { glider: GL, member: ME, day: DA, flight: FL, voucher: VO, hook: HO } = RES;
const push = (m, k, v) => { const a = m.get(k); if (a) a.push(v); else m.set(k, [v]); };
const IX = { login: new Map(), siteDate: new Map(), fDay: new Map(), fGlider: new Map(), fPilot: new Map(), vHolder: new Map(), hOwner: new Map() };
let memberNo = 0, voucherNo = 0;

// ---------- versions ----------
const VERSIONS = ['2025-04', '2026-03', '2026-09'], CURRENT = '2026-09';
const VINFO = { '2025-04': { dep: Date.UTC(2026, 2, 1), sunset: Date.UTC(2031, 2, 1), link: 'https://glider-field.example/editions' }, '2026-03': { dep: Date.UTC(2026, 8, 15) }, '2026-09': {} };
const shapes = new Map();
function shape(res, ver) {
  const key = res.name + ver; let s = shapes.get(key); if (s) return s;
  s = { list: [], by: new Map() };
  for (const [k, sp] of Object.entries(res.order)) {
    let f = { key: k, name: k, sp, down: (v) => v, up: (v) => v };
    if (ver === '2025-04') { if (res === FL && k === 'remark') f.name = 'note'; if (res === GL && k === 'hourly_cents') continue; }
    if (ver !== CURRENT) {
      if (res === VO && k === 'price_cents') f = { ...f, sp: { t: 'number', req: 1 }, down: (v) => v / 100, up: (v) => { const x = Math.sign(v) * Math.round(Math.abs(v) * 100); return x >= 100 && x <= 20000 ? x : undefined; } };
      if (res === FL && k === 'launch') f = { ...f, sp: { ...sp, enum: ['winch', 'tow'] }, down: (v) => v === 'aerotow' ? 'tow' : v, up: (v) => v === 'tow' ? 'aerotow' : v };
    }
    s.list.push(f); s.by.set(f.name, f);
  }
  shapes.set(key, s); return s;
}

// ---------- permissions ----------
const ALL = ['pilot', 'marshal', 'inspector'];
const sameSite = (r, c) => r.d.site === c.site;
const memberLogin = (no_) => ME.rows.get(no_)?.d.login;
const daySite = (n, c) => DA.rows.get(n.day)?.d.site === c.site;
const RULES = {};
const allow = (ops, to, o = {}) => { for (const op of ops) (RULES[op] ??= []).push({ to, scopes: [], ...o }); };
allow(['list glider', 'read glider'], null);
allow(['create glider'], ['inspector']);
allow(['update glider', 'delete glider', 'clear glider', 'retire glider'], ['inspector'], { row: sameSite });
allow(['ground glider'], ['inspector', 'marshal'], { row: sameSite });
allow(['list member', 'read member'], ['marshal']);
allow(['create member', 'update member'], ['marshal'], { scopes: ['roster'] });
allow(['list member', 'read member', 'update member'], ['pilot'], { row: (r, c) => r.d.login === c.id });
allow(['list member', 'read member'], ['inspector'], { fields: ['number', 'name', 'ratings'] });
allow(['list day', 'read day'], ALL);
allow(['create day'], ['marshal']);
allow(['open day', 'close day'], ['marshal'], { row: sameSite });
allow(['create flight'], ['pilot'], { scopes: ['fly'], next: daySite });
allow(['create flight'], ['marshal'], { next: daySite });
const myFlight = (r, c) => memberLogin(r.d.pilot) === c.id;
allow(['list flight', 'daily list', 'read flight'], ['pilot'], { row: myFlight });
allow(['update flight', 'scrub flight'], ['pilot'], { scopes: ['fly'], row: myFlight });
allow(['list flight', 'daily list', 'read flight'], ['marshal', 'inspector']);
allow(['update flight', 'launch flight', 'land flight', 'scrub flight'], ['marshal'], { row: sameSite });
allow(['create voucher'], ['marshal'], { scopes: ['till'] });
allow(['list voucher', 'read voucher'], ['marshal']);
allow(['refund voucher'], ['marshal'], { scopes: ['till'], row: sameSite });
allow(['list voucher', 'read voucher'], ['pilot'], { row: (r, c) => memberLogin(r.d.holder) === c.id });
allow(['create hook'], ALL);
allow(['list hook', 'read hook', 'delete hook'], ALL, { row: (r, c) => r.d.owner === c.id });
allow(['stream events'], ALL);
if (F('roster-scope-unasked')) for (const r of RULES['update member']) r.scopes = [];
if (F('scrub-any-site')) RULES['scrub flight'].find((r) => r.to.includes('marshal')).row = undefined;
if (F('pilot-sees-all-vouchers')) RULES['list voucher'].find((r) => r.to.includes('pilot')).row = undefined;
if (F('daily-list-not-for-marshal')) RULES['daily list'] = RULES['daily list'].map((r) => ({ ...r, to: r.to.filter((u) => u !== 'marshal') }));
const rulesFor = (op, c) => (RULES[op] ?? []).filter((r) => r.to === null || (c && r.to.includes(c.user)));
const scoped = (rules, c) => rules.filter((r) => r.scopes.every((s) => c?.scopes.includes(s)));
const holds = (r, row, c) => !r.row || r.row(row, c);
const canRead = (res, row, c) => scoped(rulesFor('read ' + res.name, c), c).some((r) => holds(r, row, c));
function shownFields(res, row, c) {
  let set = null;
  for (const r of scoped(rulesFor('read ' + res.name, c), c)) if (holds(r, row, c)) { if (!r.fields) return null; set = new Set([...(set ?? []), ...r.fields]); }
  return set;
}
function show(res, row, c, ver, o = {}) {
  const out = {}, only = o.all ? null : shownFields(res, row, c);
  for (const f of shape(res, ver).list) {
    const sp = f.sp; let v = sp.der ? row.n[sp.der] : row.d[f.key];
    if (v === undefined || v === null) continue;
    if (sp.wo) continue;
    if (sp.once && !(o.made && !o.replay) && !(F('pin-in-list') && o.list && res === VO)) continue;
    if (sp.vis && !sp.vis.includes(c?.user) && !(F('event-shows-hourly') && o.event)) continue;
    if (only && !only.has(f.key)) continue;
    if (F('airborne-left-out') && o.list && f.key === 'airborne' && v === 0) continue;
    out[f.name] = o.event && F('event-not-carried-down') ? v : f.down(v);
  }
  return out;
}

// ---------- checks of what is sent ----------
const brief = (v) => { const s = typeof v === 'string' ? v : JSON.stringify(v) ?? ''; return s.slice(0, 200); };
const typeOf = (v) => v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'object' ? 'object' : typeof v === 'number' ? (Number.isInteger(v) ? 'integer' : 'number') : typeof v;
function check(sp, v, at, out) {
  const bad = (kind, expected, p = at) => out.push({ in: 'body', path: p, found: brief(v), expected, kind });
  const t = typeOf(v);
  if (t !== sp.t && !(sp.t === 'number' && t === 'integer')) return bad('type', sp.t);
  if (sp.enum && !sp.enum.includes(v)) return bad('value', 'one of ' + sp.enum.join(', '));
  if (t === 'string') {
    const n = sp.min !== undefined || sp.max !== undefined ? [...v].length : 0;
    if (sp.min !== undefined && n < sp.min) return bad('value', `at least ${sp.min} characters`);
    if (sp.max !== undefined && n > sp.max) return bad('value', `at most ${sp.max} characters`);
    if (sp.pat && !sp.pat.test(v)) return bad('value', 'text of the form ' + sp.pat.source);
    if (sp.fmt && !FORMATS[sp.fmt](v)) return bad('value', sp.fmt);
  } else if (t === 'integer' || t === 'number') {
    if (sp.min !== undefined && v < sp.min) return bad('value', `at least ${sp.min}`);
    if (sp.max !== undefined && v > sp.max) return bad('value', `at most ${sp.max}`);
  } else if (t === 'array') {
    if (sp.maxItems !== undefined && v.length > sp.maxItems) return bad('value', `at most ${sp.maxItems} items`);
    if (sp.uniq && new Set(v.map((x) => JSON.stringify(x))).size !== v.length) return bad('value', 'items that differ');
    v.forEach((x, i) => check(sp.items, x, `${at}.${i}`, out));
  }
}
// Reads a body in its version's shape: the fields to be stored (null = taken away), or violations.
function readBody(res, body, ver, c, { cur, bound = {} }) {
  const viol = [], data = {}, sh = shape(res, ver);
  if (typeOf(body) !== 'object') return { viol: [{ in: 'body', path: '', found: brief(body), expected: 'object', kind: 'type' }], data };
  for (const [name, v0] of Object.entries(body)) {
    const f = sh.by.get(name); let v = v0;
    if (!f) { viol.push({ in: 'body', path: name, found: brief(v), expected: 'no such field', kind: 'unknown' }); continue; }
    const sp = f.sp;
    if (sp.ro || (sp.wr && !sp.wr.includes(c.user))) continue;
    if (v === null && cur && !sp.req) { if (!(F('null-not-taken-away') && res === FL)) data[f.key] = null; continue; }
    if (F('tail-upper-cased') && res === GL && f.key === 'tail' && typeof v === 'string' && !cur) v = v.toUpperCase();
    const n = viol.length; check(sp, v, name, viol); if (viol.length > n) continue;
    const up = f.up(v);
    if (up === undefined) { viol.push({ in: 'body', path: name, found: brief(v), expected: 'a value that can be carried', kind: 'value' }); continue; }
    if (cur && sp.imm && cur.d[f.key] !== up) { if (!(F('login-changes') && f.key === 'login')) { viol.push({ in: 'body', path: name, found: brief(v), expected: 'what it was made with', kind: 'value' }); continue; } }
    if (f.key in bound && bound[f.key] !== up) { viol.push({ in: 'body', path: name, found: brief(v), expected: 'what the path says', kind: 'value' }); continue; }
    if (res === HO && f.key === 'url' && !/^https?:\/\//i.test(v)) viol.push({ in: 'body', path: name, found: brief(v), expected: 'an address of http or https', kind: 'value' });
    if (res === HO && f.key === 'kinds') up.forEach((k, i) => { if (!(k === '*' || KINDS.includes(k) || (k.endsWith('.*') && KINDS.some((x) => x.startsWith(k.slice(0, -1)))))) viol.push({ in: 'body', path: `${name}.${i}`, found: brief(k), expected: 'a kind of event', kind: 'value' }); });
    data[f.key] = cur && JSON.stringify(f.down(cur.d[f.key] ?? null)) === JSON.stringify(v) ? cur.d[f.key] : up;
  }
  if (!cur) {
    const miss = [];
    for (const f of sh.list) if (f.sp.req && f.sp.def === undefined && !f.sp.ro && !(f.key in bound) && !Object.hasOwn(body, f.name)) miss.push({ in: 'body', path: f.name, found: 'nothing', expected: f.sp.t, kind: 'missing' });
    if (F('missing-told-first')) viol.unshift(...miss); else viol.push(...miss);
    for (const [k, sp] of Object.entries(res.order)) if (sp.def !== undefined && data[k] === undefined) data[k] = Array.isArray(sp.def) ? [...sp.def] : sp.def;
    Object.assign(data, bound);
  }
  return { viol, data, sh };
}
const refuseBody = (viol) => { if (viol.length) no(viol[0].kind === 'missing' || viol[0].kind === 'unknown' ? 'incomplete' : 'not_right', { viol }); };
function flightRule(d, sh, viol) {
  if (d.release_m !== undefined && d.release_m !== null && d.launch === 'winch' && (d.release_m > 600 || (F('winch-600-refused') && d.release_m >= 600))) viol.push({ in: 'body', path: 'release_m', found: brief(d.release_m), expected: 'at most 600 on the winch', kind: 'value' });
}
function references(res, data, c, ver, sent) {
  for (const f of shape(res, ver).list) {
    const v = data[f.key]; if (!f.sp.ref || v === undefined || v === null || !sent.has(f.key)) continue;
    const t = RES[f.sp.ref], row = t.rows.get(v);
    if (!row || !canRead(t, row, c)) no('not_on_file', { viol: [{ in: 'body', path: f.name, found: brief(v), expected: 'a ' + f.sp.ref + ' that is on file', kind: 'ref' }], status: F('reference-404-on-update') && sent.update ? 404 : undefined });
  }
}

// ---------- identifiers ----------
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ', AN = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
let ulidLast = -1, ulidRand = 0n;
function ulid() {
  let t = now(), s = '';
  if (t <= ulidLast) { t = ulidLast; ulidRand++; } else { ulidLast = t; ulidRand = BigInt('0x' + randomBytes(9).toString('hex')); }
  for (let i = 0; i < 10; i++) { s = B32[t % 32] + s; t = Math.floor(t / 32); }
  let r = ulidRand, q = ''; for (let i = 0; i < 16; i++) { q = B32[Number(r & 31n)] + q; r >>= 5n; }
  return s + q;
}
const rnd = (n, set = AN) => { let s = ''; for (let i = 0; i < n; i++) s += set[randomInt(set.length)]; return s; };

// ---------- rows ----------
function store(res, id, d, n) { const row = { k: ++res.k, d, n, tok: {} }; res.rows.set(id, row); if (res === FL || res === VO || res === DA || res === ME) res.list.push(row); return row; }
function phase(row, to) {
  const was = row.d.phase; row.d.phase = to;
  const g = GL.rows.get(row.d.glider), day = DA.rows.get(row.d.day), m = ME.rows.get(row.d.pilot);
  const dA = (aloft(to) ? 1 : 0) - (aloft(was) ? 1 : 0), dQ = (to === 'queued' ? 1 : 0) - (was === 'queued' ? 1 : 0);
  g.n.airborne += dA; day.n.aloft += dA;
  if (!(F('scrubbed-still-counts') && to === 'scrubbed')) m.n.queued += dQ;
}
function voucherState(row, to) { const m = ME.rows.get(row.d.holder); m.n.left += (to === 'issued' ? 1 : 0) - (row.d.state === 'issued' ? 1 : 0); row.d.state = to; }
function armLapse(row) {
  const tok = {}; row.tok.lapse = tok;
  due(Date.parse(row.d.inspected_until), () => {
    if (row.tok.lapse !== tok || row.gone || row.d.condition !== 'serviceable') return;
    row.d.condition = 'grounded'; if (!F('lapse-not-told')) emit('glider.grounded', GL, row, { tail: row.d.tail, until: row.d.inspected_until });
  });
}
function spend(row) { voucherState(row, 'spent'); emit('voucher.spent', VO, row); }
function scrub(row) { phase(row, 'scrubbed'); emit('flight.scrubbed', FL, row); }
function closeDay(row) {
  row.d.state = 'closed'; row.tok.dusk = null; emit('day.closed', DA, row);
  const q = (IX.fDay.get(row.d.id) ?? []).filter((f) => f.d.phase === 'queued');
  if (F('close-leaves-last')) q.pop();
  for (const f of q) scrub(f);
}

// ---------- events ----------
const events = [], streams = new Set();
function emit(kind, res, row, data) {
  const snap = { k: row.k, d: { ...row.d }, n: { ...row.n } };
  const ev = { id: 'evt_' + ulid(), kind, at: iso(), t: now(), res, snap, data, key: res.name + '/' + row.d[res.id] };
  events.push(ev); let i = 0; while (i < events.length && events[i].t < now() - 2 * HOUR) i++; if (i > 64 || i === events.length) events.splice(0, i);
  for (const h of HO.rows.values()) {
    if (!h.d.live || !wants(h, kind)) continue;
    if (!canRead(res, snap, h.maker) && !(F('told-to-one-too-many') && kind === 'flight.launched')) continue;
    queue(h, ev);
  }
  for (const s of streams) if (canRead(res, snap, s.caller)) s.write(ev);
}
const wants = (h, kind) => !h.d.kinds || h.d.kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))));
const bodyOf = (ev, c, ver) => ({ id: ev.id, kind: ev.kind, at: ev.at, body: ev.kind === 'voucher.expiring' ? ev.snap.d.id : ev.data ?? show(ev.res, ev.snap, c, ver, { event: true }) });

const RETRY = F('third-retry-left-out') ? [10e3, MIN] : [10e3, MIN, 10 * MIN];
function queue(h, ev) {
  const d = { h, ev, body: JSON.stringify(bodyOf(ev, h.maker, h.ver)), tries: 0 };
  if (F('row-order-lost')) { attempt(d); return; }
  const q = h.queues.get(ev.key); if (q) { q.push(d); return; }
  h.queues.set(ev.key, [d]); attempt(d);
}
function done(d) {
  if (F('row-order-lost')) return;
  const q = d.h.queues.get(d.ev.key); if (!q || q[0] !== d) return;
  q.shift(); if (q.length) attempt(q[0]); else d.h.queues.delete(d.ev.key);
}
function attempt(d) {
  const h = d.h; if (h.gone || !h.d.live) return;
  d.tries++; let settled = false;
  const ts = Math.floor(now() / 1000);
  const body = d.body;
  const sig = createHmac('sha256', h.d.secret).update(F('timestamp-unsigned') ? body : ts + '.' + body).digest('hex');
  const end = (status, retryAfter) => {
    if (settled) return; settled = true; clearTimeout(t);
    if (h.gone || !h.d.live) return;
    if (status >= 200 && status < 300) { h.failSince = null; done(d); return; }
    h.failSince ??= now();
    if (status === 410 || now() - h.failSince >= DAY) { h.d.live = false; h.queues.clear(); return; }
    const wait = RETRY[d.tries - 1];
    if (wait === undefined) { done(d); return; }
    let at = now() + Math.round(wait * (0.8 + 0.4 * Math.random()));
    if (retryAfter > 0) h.notBefore = Math.max(h.notBefore ?? 0, now() + Math.min(retryAfter * 1000, DAY));
    if (h.notBefore > at) at = h.notBefore;
    due(at, () => attempt(d));
  };
  let req; const t = setTimeout(() => { req?.destroy(); end(0); }, 5000);
  try {
    const u = new URL(h.d.url);
    req = (u.protocol === 'https:' ? https : http).request(u, { method: 'POST', agent: false, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'Field-Event': d.ev.kind, 'Field-Signature': `t=${ts},v1=${sig}` } }, (r) => { r.on('error', () => {}); r.resume(); const ra = /^\d+$/.test(r.headers['retry-after'] ?? '') ? +r.headers['retry-after'] : 0; end(r.statusCode, ra); setTimeout(() => r.destroy(), 3000).unref(); });
    req.on('error', () => end(0)); req.end(body);
  } catch { end(0); }
}

// ---------- limits ----------
const RATES = [
  { per: 'caller', kind: 'fixed', limit: 600 }, { per: 'address', kind: 'fixed', limit: 120, anyone: true },
  { per: 'caller', kind: 'sliding', limit: 30, on: 'launch flight' }, { per: 'caller', kind: 'bucket', limit: 30, burst: 40, on: 'create day' },
].map((r) => ({ ...r, m: new Map() }));
function rates(op, c, addr) {
  const t = now(), take = []; let wait = 0;
  for (const r of RATES) {
    if (r.on && r.on !== op) continue; if (r.anyone && c) continue;
    const key = r.per === 'address' || !c ? '@' + addr : c.user + ' ' + c.id; let e = r.m.get(key);
    if (r.kind === 'fixed') {
      if (!e || t >= e.end) { e = { n: 0, end: t + MIN }; }
      if (e.n + 1 > r.limit) wait = Math.max(wait, e.end - t); take.push(() => { e.n++; r.m.set(key, e); });
    } else if (r.kind === 'sliding') {
      e ??= []; while (e.length && e[0] <= t - MIN) e.shift();
      if (e.length >= r.limit) { wait = Math.max(wait, e[0] + MIN - t); if (F('refused-launches-count')) { e.push(t); e.shift(); } }
      take.push(() => { e.push(t); r.m.set(key, e); });
    } else {
      e ??= { n: r.burst, t }; const level = Math.min(r.burst, e.n + (t - e.t) * r.limit / MIN);
      if (level < 1) wait = Math.max(wait, (1 - level) * MIN / r.limit); take.push(() => r.m.set(key, { n: level - 1, t }));
    }
  }
  if (wait > 0) no('slow_down', { headers: { 'Retry-After': String(Math.ceil(wait / 1000)) } });
  for (const f of take) f();
}
const zone = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin', year: 'numeric', month: '2-digit', day: '2-digit' });
const dayIn = (t) => zone.format(t);
const quota = new Map();
function nextMidnight(t) { const d = dayIn(t); let lo = t, hi = t + 26 * HOUR; while (hi - lo > 1) { const m = Math.floor((lo + hi) / 2); if (dayIn(m) === d) lo = m; else hi = m; } return hi; }
function quotaEntry(c) { const k = c.user + ' ' + c.id, d = dayIn(now()); let e = quota.get(k); if (!e || e.day !== d) { e = { day: d, n: 0 }; quota.set(k, e); } return e; }

// ---------- idempotency ----------
const idem = new Map(), idemQ = [];
function idemSweep() { const t = now(); let i = 0; while (i < idemQ.length && idemQ[i].exp <= t) { if (idem.get(idemQ[i].k) === idemQ[i].e) idem.delete(idemQ[i].k); i++; } if (i) idemQ.splice(0, i); }

// ---------- parameters ----------
const BAD = Symbol('bad');
const asInt = (v) => /^-?(0|[1-9]\d{0,15})$/.test(v) ? Number(v) : BAD;
const field = (res, key) => (v, ver) => {
  const f = shape(res, F('tow-filter-not-carried') && key === 'launch' ? CURRENT : ver).list.find((x) => x.key === key); let sp = f.sp; if (sp.t === 'array') sp = sp.items;
  const x = sp.t === 'integer' ? asInt(v) : v; if (x === BAD) return BAD;
  const out = []; check(sp, x, key, out); return out.length ? BAD : f.up(x);
};
const fmt = (f) => (v) => FORMATS[f](v) ? v : BAD;
const same = (k) => (row, v) => row.d[k] === v;
const anyOf = (k) => (row, v) => v.includes(row.d[k]);
const T = (s) => Date.parse(s);
const Q = {
  gliders: { seats: { read: field(GL, 'seats'), keep: same('seats') }, condition: { many: 1, read: field(GL, 'condition'), keep: anyOf('condition') }, model: { read: (v) => v, keep: (r, v) => r.d.model.startsWith(v) },
    due_before: { read: fmt('date-time'), keep: (r, v) => T(r.d.inspected_until) < T(v) },
    q: { read: (v) => { const w = v.toLowerCase().split(/\s+/).filter(Boolean); return w.length > 16 ? BAD : w; }, keep: (r, w) => { const a = r.d.tail.toLowerCase(), b = r.d.model.toLowerCase(); return w.every((x) => a.includes(x) || b.includes(x)); } },
    sort: { read: (v) => ['tail', '-tail', 'inspected_until'].includes(v) ? v : BAD, sort: (v) => v === 'inspected_until' ? (a, b) => T(a.d.inspected_until) - T(b.d.inspected_until) : (a, b) => (a.d.tail < b.d.tail ? -1 : 1) * (v === 'tail' ? 1 : -1) } },
  members: { ratings: { read: field(ME, 'ratings'), keep: (r, v) => r.d.ratings.includes(v) }, login: { read: field(ME, 'login'), keep: same('login'), not: ['inspector'], ix: (v) => { const m = IX.login.get(v); return m ? [m] : []; } } },
  days: { site: { read: (v) => v, keep: same('site') }, state: { read: field(DA, 'state'), keep: same('state') }, from: { read: fmt('date'), keep: (r, v) => r.d.date >= v }, to: { read: fmt('date'), keep: (r, v) => F('to-shuts-out-its-day') ? r.d.date < v : r.d.date <= v } },
  daily: { phase: { read: field(FL, 'phase'), keep: same('phase') } },
  flights: { glider: { read: (v) => v, keep: same('glider'), ix: (v) => IX.fGlider.get(v) ?? [] }, pilot: { read: asInt, keep: same('pilot'), ix: (v) => IX.fPilot.get(v) ?? [] }, phase: { many: 1, read: field(FL, 'phase'), keep: anyOf('phase') }, launch: { read: field(FL, 'launch'), keep: same('launch') } },
  vouchers: { holder: { read: asInt, keep: same('holder'), ix: (v) => IX.vHolder.get(v) ?? [] }, state: { read: field(VO, 'state'), keep: same('state') },
    sort: { read: (v) => ['price', '-price', 'until', '-until'].includes(v) ? v : BAD, sort: (v) => { const s = v[0] === '-' && !(F('until-sorts-one-way') && v === '-until') ? -1 : 1; return v.endsWith('price') ? (a, b) => s * (a.d.price_cents - b.d.price_cents) : (a, b) => s * (T(a.d.valid_until) - T(b.d.valid_until)); } } },
};
const bp = (name, found, expected = 'a good value') => no('bad_parameter', { viol: [{ in: 'query', path: name, found: brief(found), expected }] });
function parameters(rt, search, c, ver) {
  const got = new Map(); for (const [k, v] of new URLSearchParams(search)) push(got, k, v);
  const specs = rt.q ?? {}, p = { keep: [], sort: null, ix: null, raw: [] };
  for (const [k, vs] of got) {
    if (rt.page === 'offset' && (k === 'skip' || k === 'take')) {
      if (vs.length > 1) bp(k, vs.join()); const n = asInt(vs[0]); if (n === BAD || n < (k === 'take' ? 1 : 0)) bp(k, vs[0], 'a whole number');
      if (k === 'take' && n > 100 && F('clamp-refuses')) bp(k, vs[0], 'up to 100');
      p[k] = k === 'take' ? Math.min(n, 100) : n; continue;
    }
    if (rt.page === 'cursor' && (k === 'from' || k === 'take')) {
      if (vs.length > 1) bp(k, vs.join());
      if (k === 'from') { p.from = vs[0]; continue; }
      const n = asInt(vs[0]); if (n === BAD || n < 1 || n > 50) bp(k, vs[0], '1 to 50'); p.take = n; continue;
    }
    const s = Object.hasOwn(specs, k) ? specs[k] : null;
    if (!s || (s.not && s.not.includes(c?.user))) bp(k, vs[0], 'no such parameter');
    if (!s.many && vs.length > 1) bp(k, vs.join(), 'one value');
    const parts = s.many ? vs.flatMap((v) => v.split(',')) : vs, vals = parts.map((v) => s.read(v, ver));
    const i = vals.indexOf(BAD); if (i >= 0) bp(k, parts[i]);
    const v = s.many ? vals : vals[0];
    p.raw.push([k, v]);
    if (s.sort) p.sort = s.sort(v); else { p.keep.push((r) => s.keep(r, v)); if (s.ix) { const a = s.ix(v); if (!p.ix || a.length < p.ix.length) p.ix = a; } }
  }
  p.raw.sort(); return p;
}
function pageFrom(rt, p, c, ver) {   // is a cursor of this query?
  if (rt.page !== 'cursor') return;
  p.fp = createHash('sha256').update(JSON.stringify([p.raw, c.user, c.id, ver])).digest('base64url').slice(0, 16);
  if (p.from === undefined) return;
  const [b, s] = p.from.split('.');
  if (!s || createHmac('sha256', SECRET).update(b).digest('base64url').slice(0, 22) !== s) bp('from', p.from, 'a cursor');
  const [k, f] = JSON.parse(Buffer.from(b, 'base64url').toString()); if (f !== p.fp) bp('from', p.from, 'a cursor of this query');
  p.before = k;
}
const SECRET = randomBytes(32);
const cursorOf = (k, fp) => { const b = Buffer.from(JSON.stringify([k, fp])).toString('base64url'); return b + '.' + createHmac('sha256', SECRET).update(b).digest('base64url').slice(0, 22); };

// ---------- endpoints ----------
const ROUTES = [], TREE = new Map();
const on = (method, pattern, op, res, kind, o = {}) => { const segs = pattern.slice(1).split('/'); const r = { method, segs, op, res, kind, pattern, ...o }; ROUTES.push(r); push(TREE, segs[0] + segs.length, r); };
on('GET', '/gliders', 'list glider', GL, 'list', { q: Q.gliders, page: 'offset' });
on('POST', '/gliders', 'create glider', GL, 'create');
on('GET', '/gliders/{}', 'read glider', GL, 'read', { etag: 1, cache: 'private, max-age=30' });
on('PATCH', '/gliders/{}', 'update glider', GL, 'update', { etag: 1, ifMatch: 'required' });
on('DELETE', '/gliders/{}', 'delete glider', GL, 'delete');
on('POST', '/gliders/{}/ground', 'ground glider', GL, 'move', { req: { defect: S({ min: 3, max: 200, req: 1 }) } });
on('POST', '/gliders/{}/clear', 'clear glider', GL, 'move');
on('POST', '/gliders/{}/retire', 'retire glider', GL, 'move', { accept: F('retire-by-badge') ? ['desk', 'badge'] : ['desk'] });
on('GET', '/members', 'list member', ME, 'list', { q: Q.members, page: 'offset' });
on('POST', '/members', 'create member', ME, 'create');
on('GET', '/members/{}', 'read member', ME, 'read', { etag: 1 });
on('PATCH', '/members/{}', 'update member', ME, 'update', { etag: 1 });
on('GET', '/days', 'list day', DA, 'list', { q: Q.days, page: 'offset', order: (a, b) => a.d.date < b.d.date ? 1 : a.d.date > b.d.date ? -1 : 0 });
on('POST', '/days', 'create day', DA, 'create');
on('GET', '/days/{}', 'read day', DA, 'read');
on('POST', '/days/{}/open', 'open day', DA, 'move');
on('POST', '/days/{}/close', 'close day', DA, 'move');
on('POST', '/days/{}/flights', 'create flight', FL, 'create', { parent: DA });
on('GET', '/days/{}/flights', 'daily list', FL, 'list', { q: Q.daily, parent: DA });
on('GET', '/flights', 'list flight', FL, 'list', { q: Q.flights, page: 'cursor' });
on('GET', '/flights/{}', 'read flight', FL, 'read', { etag: 1 });
on('PATCH', '/flights/{}', 'update flight', FL, 'update', { etag: 1 });
on('POST', '/flights/{}/launch', 'launch flight', FL, 'move');
on('POST', '/flights/{}/land', 'land flight', FL, 'move');
on('POST', '/flights/{}/scrub', 'scrub flight', FL, 'move');
on('POST', '/vouchers', 'create voucher', VO, 'create', { keyed: 'required' });
on('GET', '/vouchers', 'list voucher', VO, 'list', { q: Q.vouchers, page: 'offset' });
on('GET', '/vouchers/{}', 'read voucher', VO, 'read');
on('POST', '/vouchers/{}/refund', 'refund voucher', VO, 'move', { since: '2026-09', req: { reason: S({ min: 3, max: 120, req: 1 }) } });
on('POST', '/hooks', 'create hook', HO, 'create');
on('GET', '/hooks', 'list hook', HO, 'list', {});
on('GET', '/hooks/{}', 'read hook', HO, 'read');
on('DELETE', '/hooks/{}', 'delete hook', HO, 'delete');
on('GET', '/live', 'stream events', null, 'stream');

const idOf = (res, seg) => res === ME ? (/^[1-9]\d{0,14}$/.test(seg) ? +seg : null) : seg;
const etagOf = (rep, ver) => '"' + createHash('sha256').update(ver + JSON.stringify(rep)).digest('base64url').slice(0, 22) + '"';
const location = (res, row) => (F('location-without-base') ? '' : BASE) + '/' + res.name + 's/' + encodeURIComponent(row.d[res.id]);

const CREATE = {
  glider(d, c) { if (T(d.inspected_until) <= now()) own('inspection_over'); if (GL.rows.has(d.tail)) no('taken'); d.site = c.site; d.condition = 'serviceable'; const row = store(GL, d.tail, d, { airborne: 0 }); armLapse(row); return row; },
  member(d) { if (IX.login.has(d.login)) no('taken'); d.number = ++memberNo; const row = store(ME, d.number, d, { left: 0, queued: 0 }); IX.login.set(d.login, row); return row; },
  day(d, c) {
    const k = c.site + ' ' + d.date; if (IX.siteDate.has(k)) no('taken');
    d.id = 'day_' + ulid(); d.site = c.site; d.state = F('today-begins-open') && d.date === iso().slice(0, 10) ? 'open' : 'planned';
    const row = store(DA, d.id, d, { aloft: 0, last: 0 }); IX.siteDate.set(k, row); return row;
  },
  flight(d, c) {
    const day = DA.rows.get(d.day), m = ME.rows.get(d.pilot);
    if (day.d.state === 'closed') own('day_over');
    flightOwn(d, c);
    if (m.n.queued >= 3) no('enough');
    d.id = 'flt_' + ulid(); d.number = ++day.n.last; d.site = c.site;
    const row = store(FL, d.id, d, {}); phase(row, 'queued'); push(IX.fDay, d.day, row); push(IX.fGlider, d.glider, row); push(IX.fPilot, d.pilot, row);
    row.made = now(); emit('flight.queued', FL, row); return row;
  },
  voucher(d, c) {
    if (T(d.valid_until) <= now()) { if (F('refused-vouchers-use-quota')) quotaEntry(c).n++; own('voucher_dated'); }
    const e = quotaEntry(c); if (e.n >= 60) no('enough', { headers: { 'Retry-After': String(Math.ceil((nextMidnight(now()) - now()) / 1000)) } });
    e.n++; d.id = 'vch_' + rnd(12); d.serial = 'TV-' + String(++voucherNo).padStart(5, '0'); d.site = c.site; d.pin = rnd(6, '0123456789');
    const row = store(VO, d.id, d, {}); voucherState(row, 'issued'); push(IX.vHolder, d.holder, row);
    due(T(d.valid_until) - 72 * HOUR, () => { if (row.d.state === 'issued') emit('voucher.expiring', VO, row); });
    due(T(d.valid_until), () => { if (row.d.state === 'issued') voucherState(row, 'lapsed'); });
    return row;
  },
  hook(d, c, ver) {
    const mine = IX.hOwner.get(c.id) ?? new Set(); if (mine.size >= 5) no('enough');
    d.id = 'hk_' + randomBytes(8).toString('hex'); d.owner = c.id; d.secret = 'hks_' + rnd(32);
    const row = store(HO, d.id, d, {}); Object.assign(row, { maker: c, ver, queues: new Map() }); mine.add(row); IX.hOwner.set(c.id, mine); return row;
  },
};
function flightOwn(d, c, update) {
  const m = ME.rows.get(d.pilot);
  if (!m.d.ratings.includes(d.launch) && !(F('rating-unasked-on-update') && update)) own('not_rated');
  if (d.voucher && VO.rows.get(d.voucher).d.holder !== d.pilot) own('not_the_holder');
}
const MOVES = {
  'ground glider'(r) { if (r.d.condition !== 'serviceable') no('wrong_moment'); if (r.n.airborne) own('still_airborne'); r.d.condition = 'grounded'; emit('glider.grounded', GL, r, { tail: r.d.tail, until: r.d.inspected_until }); },
  'clear glider'(r) { if (r.d.condition !== 'grounded') no('wrong_moment'); if (T(r.d.inspected_until) <= now()) own('needs_inspection'); r.d.condition = 'serviceable'; emit('glider.cleared', GL, r); },
  'retire glider'(r) { if (r.d.condition === 'retired') no('wrong_moment'); if (r.n.airborne) own('still_airborne'); r.d.condition = 'retired'; },
  'open day'(r) { if (r.d.state !== 'planned') no('wrong_moment'); r.d.state = 'open'; const tok = {}; r.tok.dusk = tok; due(now() + 14 * HOUR, () => { if (r.tok.dusk === tok && r.d.state === 'open') closeDay(r); }); },
  'close day'(r) { if (r.d.state !== 'open' || r.n.aloft) no('wrong_moment'); closeDay(r); },
  'launch flight'(r) {
    if (r.d.phase !== 'queued') no('wrong_moment');
    const g = GL.rows.get(r.d.glider); if (g.d.condition !== 'serviceable' || (g.n.airborne && !F('launch-twice'))) own('glider_not_free');
    if (DA.rows.get(r.d.day).d.state !== 'open') own('day_not_open');
    const v = r.d.voucher ? VO.rows.get(r.d.voucher) : null; if (v && v.d.state !== 'issued') no('voucher_gone');
    phase(r, 'airborne'); r.d.launched_at = iso();
    due((F('overdue-from-queueing') ? r.made : now()) + 6 * HOUR, () => { if (r.d.phase === 'airborne') phase(r, 'overdue'); });
    emit('flight.launched', FL, r); if (v) spend(v);
  },
  'land flight'(r) {
    if (!aloft(r.d.phase) || (F('overdue-cannot-land') && r.d.phase === 'overdue')) no('wrong_moment');
    phase(r, 'landed'); const s = Math.floor(now() / 1000) - Math.floor(T(r.d.launched_at) / 1000); r.d.minutes = F('minutes-rounded-up') ? Math.ceil(s / 60) : Math.floor(s / 60); emit('flight.landed', FL, r);
  },
  'scrub flight'(r) { if (r.d.phase !== 'queued') no('wrong_moment'); scrub(r); },
  'refund voucher'(r) { if (r.d.state !== 'issued') no('wrong_moment'); voucherState(r, 'refunded'); },
};

// ---------- who calls ----------
function challenge(rt, shown) {
  const bad = (s, e) => shown.has(s) ? `, error="${e}"` : '';
  const c = { badge: `ApiKey realm="${REALM}", in="header", name="X-Field-Badge"` + bad('badge', 'invalid_key'), desk: `Basic realm="${REALM}", charset="UTF-8"` + bad('desk', 'invalid_token'), tablet: `Tablet realm="${REALM}"` + bad('tablet', 'invalid_key') };
  return { 'WWW-Authenticate': (rt.accept ?? ['badge', 'desk', 'tablet']).map((s) => c[s]).join(', ') };
}
function identify(rt, req) {
  const accept = rt.accept ?? ['badge', 'desk', 'tablet'], raw = { 'x-field-badge': [], authorization: [] };
  for (let i = 0; i < req.rawHeaders.length; i += 2) raw[req.rawHeaders[i].toLowerCase()]?.push?.(req.rawHeaders[i + 1]);
  const shown = new Set(), found = []; let bad = false;
  if (accept.includes('badge') && raw['x-field-badge'].length) { shown.add('badge'); const c = raw['x-field-badge'].length === 1 ? CREDS.badge.get(raw['x-field-badge'][0]) : null; if (c) found.push(c); else bad = true; }
  if ((accept.includes('desk') || accept.includes('tablet')) && raw.authorization.length) {
    const m = /^([A-Za-z]+) +(\S+)$/.exec(raw.authorization[0]), word = m?.[1].toLowerCase(); let c = null;
    if (m && word === 'basic' && accept.includes('desk')) { shown.add('desk'); const t = Buffer.from(m[2], 'base64').toString('utf8'); c = CREDS.desk.get(t); rt.viaDesk = true; }
    else if (m && word === 'tablet' && !(F('tablet-word-minds-case') && m[1] !== 'Tablet') && accept.includes('tablet')) { shown.add('tablet'); c = CREDS.tablet.get(m[2]); }
    else for (const s of accept) if (s !== 'badge') shown.add(s);
    if (c && raw.authorization.length === 1) found.push(c); else bad = true;
  }
  if (!bad && found.length > 1 && (found[0].user !== found[1].user || found[0].id !== found[1].id)) bad = true;
  const open = (RULES[rt.op] ?? []).some((r) => r.to === null);
  if (bad && F('bad-badge-let-in') && open) return null;
  if (bad) no(F('bad-password-told-missing') && shown.has('desk') ? 'show_badge' : 'stranger', { headers: challenge(rt, shown) });
  if (!found.length) { if (open) return null; no('show_badge', { headers: challenge(rt, new Set()) }); }
  return found.length === 1 ? found[0] : { ...found[0], scopes: [...new Set(found.flatMap((c) => c.scopes))] };
}
function accepts(header, type) {
  if (header === undefined || header.trim() === '') return true;
  let best = -1, q = 0; const [a] = type.split('/');
  for (const part of header.split(',')) {
    const [m, ...ps] = part.split(';').map((s) => s.trim().toLowerCase()); const level = m === type ? 2 : m === a + '/*' ? 1 : m === '*/*' ? 0 : -1;
    if (level < 0 || level < best) continue; let v = 1; for (const p of ps) if (p.startsWith('q=')) v = +p.slice(2) || 0;
    if (level > best) { best = level; q = v; } else q = Math.max(q, v);
  }
  return best >= 0 && q > 0;
}

// ---------- one request ----------
const server = http.createServer({ maxHeaderSize: 96 * 1024, requestTimeout: 0, headersTimeout: 10000, keepAliveTimeout: 30000, connectionsCheckingInterval: 1000 }, (req, res) => {
  handle(req, res).catch((e) => { if (!(e instanceof Refusal)) console.error(e); try { if (!res.headersSent) { res.writeHead(500, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(payload('broken', randomUUID()))); } else res.destroy(); } catch { /* gone */ } });
});
async function handle(req, res) {
  const trace = randomUUID(), x = { ver: CURRENT, h: {}, trace };
  req.on('error', () => {}); res.on('error', () => {});
  let out;
  try { out = await serve(req, res, x); } catch (e) {
    if (!(e instanceof Refusal)) { console.error(e); e = new Refusal('broken'); }
    out = refusal(e, x);
    if (x.keep && e.o.own) x.keep(out);
  }
  if (!out) return;
  const h = { 'Field-Trace': trace, 'Field-Edition': x.ver, Vary: 'Field-Edition, X-Field-Badge, Authorization', ...editionHeaders(x, req, out.status), ...out.headers };
  let body = out.body === undefined ? undefined : Buffer.from(JSON.stringify(out.body));
  if (body) { h['Content-Type'] = 'application/json'; h['Content-Length'] = body.length; } else if (out.status !== 204 && out.status !== 304) h['Content-Length'] = 0;
  if (!req.complete) { h.Connection = 'close'; }
  res.writeHead(out.status, h); res.end(req.method === 'HEAD' ? undefined : body);
  if (!req.complete) { let n = 0; req.on('data', (c) => { n += c.length; if (n > 2 ** 20) req.destroy(); }); req.resume(); setTimeout(() => req.destroy(), 2000).unref(); }
  if (heap.length && heap[0].at <= now()) runDue(now());
}
function editionHeaders(x, req, status) {
  const v = VINFO[x.ver], h = {}; if (!v.dep || (F('refusals-not-deprecated') && status >= 400)) return h;
  h.Deprecation = '@' + v.dep / 1000; if (v.sunset) h.Sunset = new Date(v.sunset).toUTCString();
  h.Link = (v.link ? `<${v.link}>; rel="deprecation", ` : '') + `<${req.url}>; rel="successor-version"`; return h;
}
function refusal(e, x) {
  const h = { ...(e.o.headers ?? {}) }; if (!(F('fault-header-left-out') && e.code === 'not_found')) h['Field-Fault'] = e.code;
  return { status: e.o.status ?? CODES[e.code][0], headers: h, body: payload(e.code, x.trace, e.o.viol) };
}
async function readAll(req, limit) {
  if (+req.headers['content-length'] > limit) no('too_big');
  const parts = []; let n = 0;
  return await new Promise((ok, bad) => {
    const t = setTimeout(() => bad(new Refusal('too_slow')), 10000);
    req.on('data', (c) => { n += c.length; if (n > limit) { clearTimeout(t); bad(new Refusal('too_big')); } else parts.push(c); });
    req.on('end', () => { clearTimeout(t); ok(Buffer.concat(parts)); }); req.on('error', (e) => { clearTimeout(t); bad(e); });
  });
}
async function serve(req, res, x) {
  // (1) sizes
  if (Buffer.byteLength(req.url) > 2048) no('too_big');
  let hs = 0; for (let i = 0; i < req.rawHeaders.length; i += 2) hs += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
  if (hs > 8192) no('too_big');
  // (2) route, method, version
  const qi = req.url.indexOf('?'), pathname = qi < 0 ? req.url : req.url.slice(0, qi), search = qi < 0 ? '' : req.url.slice(qi + 1);
  let rest;
  if (pathname.startsWith(BASE + '/')) rest = pathname.slice(BASE.length); else if (F('served-without-base')) rest = pathname; else no('nowhere');
  let segs; try { segs = rest.slice(1).split('/').map(decodeURIComponent); } catch { no('nowhere'); }
  const said = req.headers['field-edition']; let ver = said === undefined ? CURRENT : said;
  const known = VERSIONS.includes(ver);
  const fits = (TREE.get(segs[0] + segs.length) ?? []).filter((r) => r.segs.every((s, i) => s === '{}' ? segs[i] !== '' : s === segs[i]) && (!r.since || !known || ver >= r.since));
  if (!fits.length) no('nowhere');
  const methods = new Set(fits.map((r) => r.method)); if (methods.has('GET')) methods.add('HEAD'); methods.add('OPTIONS');
  const Allow = [...methods].join(', ');
  if (req.method === 'OPTIONS') return { status: 204, headers: { Allow } };
  if (!methods.has(req.method)) no('no_such_move', { headers: { Allow } });
  const rt = { ...fits.find((r) => r.method === (req.method === 'HEAD' ? 'GET' : req.method)) };
  if (!known) { if (!F('unknown-edition-is-current')) no('no_such_edition'); ver = CURRENT; }
  x.ver = ver;
  if (VINFO[ver].sunset && now() >= VINFO[ver].sunset) no('edition_over');
  // (4) caller, (5) rates, parameters, (6) user
  const c = identify(rt, req);
  rates(rt.op, c, req.socket.remoteAddress);
  const p = parameters(rt, search, c, ver);
  const key = rt.method === 'POST' ? req.headers['idempotency-key'] : undefined;
  if (rt.method === 'POST' && (key === '' || (rt.keyed === 'required' && key === undefined))) no('bad_parameter', { viol: [{ in: 'header', path: 'Idempotency-Key', found: 'nothing', expected: 'a key' }] });
  pageFrom(rt, p, c ?? { user: '', id: '' }, ver);
  const rules = rulesFor(rt.op, c); if (!rules.length) no('not_yours');
  const mine = scoped(rules, c); if (!mine.length) no('lacks_scope');
  if (rt.viaDesk && rt.method !== 'GET') { const s = req.headers['sec-fetch-site']; if (s ? s === 'cross-site' || s === 'same-site' : req.headers.origin !== undefined && (!URL.canParse(req.headers.origin) || new URL(req.headers.origin).host !== req.headers.host)) no('not_yours'); }
  // accept
  if (rt.kind !== 'delete' && !accepts(req.headers.accept, rt.kind === 'stream' ? 'text/event-stream' : 'application/json')) no('cannot_answer_so');
  // (8) body
  let body, rawBody = '';
  if (rt.method !== 'GET') {
    const buf = await readAll(req, 8192); rawBody = buf.toString('utf8');
    if (rt.kind === 'create' || rt.kind === 'update' || rt.req) {
      if (!buf.length) no('garbled');
      const ct = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
      if (ct !== 'application/json' && !(rt.kind === 'update' && ct === 'application/merge-patch+json')) no('garbled');
      try { body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(buf)); } catch { no('garbled'); }
    }
  }
  // (9) idempotency
  if (key !== undefined) {
    idemSweep();
    const ik = JSON.stringify([c.user, c.id, rt.op, key]), fp = JSON.stringify([rest, search, ver, body === undefined ? rawBody : body]), had = idem.get(ik);
    if (had) { if (had.fp !== fp) no('key_reused'); return had.out; }
    x.keep = (out) => { const e = { fp, out: { ...out, body: out.replay ?? out.body } }; idem.set(ik, e); idemQ.push({ k: ik, e, exp: now() + DAY }); };
  }
  const out = act(rt, segs, p, c, ver, body, req, mine, res, x);
  if (out && x.keep && out.status < 300) x.keep(out);
  return out;
}
function act(rt, segs, p, c, ver, body, req, mine, res, x) {
  const R = rt.res;
  if (rt.kind === 'stream') return stream(req, res, c, ver, x);
  // (10) parents and the row
  let parent, row;
  if (rt.parent) { parent = rt.parent.rows.get(segs[1]); if (!(parent && canRead(rt.parent, parent, c)) && !(F('no-such-day-is-empty') && rt.kind === 'list')) no('not_found'); }
  else if (segs.length > 1) {
    const id = idOf(R, segs[1]); row = id === null ? undefined : R.rows.get(id);
    if (!row || !canRead(R, row, c)) no('not_found');
    if (!mine.some((r) => holds(r, row, c))) no(rulesFor(rt.op, c).some((r) => !mine.includes(r) && holds(r, row, c)) ? 'lacks_scope' : 'not_yours');
  }
  if (rt.kind === 'list') return list(rt, parent ? parent.d.id : rt.parent ? segs[1] : null, p, c, ver, mine);
  if (rt.kind === 'read') {
    const rep = show(R, row, c, ver), h = {}; if (rt.cache) h['Cache-Control'] = rt.cache;
    if (rt.etag) { h.ETag = etagOf(rep, ver); const inm = req.headers['if-none-match']; if (inm && (inm.trim() === '*' || inm.split(',').some((t) => t.trim().replace(/^W\//, '') === h.ETag))) return { status: 304, headers: h }; }
    return { status: 200, headers: h, body: rep };
  }
  // (11) preconditions
  if (rt.kind === 'update') {
    const im = req.headers['if-match'];
    if (im === undefined) { if (rt.ifMatch === 'required') no('say_which'); }
    else if (im.trim() !== '*' && !im.split(',').some((t) => t.trim() === etagOf(show(R, row, c, ver), ver))) no('changed');
  }
  if (rt.kind === 'create') {
    const bound = parent ? { day: parent.d.id } : {};
    const { viol, data, sh } = readBody(R, body, ver, c, { bound });
    if (R === FL) flightRule(data, sh, viol);
    refuseBody(viol);
    references(R, data, c, ver, new Set(Object.keys(data)));
    if (!mine.some((r) => !r.next || r.next(data, c))) no('not_yours');
    const made = CREATE[R.name](data, c, ver);
    const o = { status: 201, headers: { Location: location(R, made) }, body: show(R, made, c, ver, { made: true, all: false }) };
    o.replay = show(R, made, c, ver, { made: true, replay: true }); return o;
  }
  if (rt.kind === 'update') {
    const { viol, data, sh } = readBody(R, body, ver, c, { cur: row });
    const next = { ...row.d, ...data }; for (const k of Object.keys(data)) if (data[k] === null) delete next[k];
    if (R === FL) flightRule(next, sh, viol);
    refuseBody(viol);
    const sent = new Set(Object.keys(data).filter((k) => data[k] !== row.d[k])); sent.update = true; references(R, data, c, ver, sent);
    if (R === GL && row.d.condition === 'retired') no('wrong_moment');
    if (R === FL && row.d.phase !== 'queued') no('wrong_moment');
    if (R === GL && T(next.inspected_until) <= now()) own('inspection_over');
    if (R === FL) flightOwn(next, c, true);
    if (JSON.stringify(sorted(next)) !== JSON.stringify(sorted(row.d))) {
      const was = row.d; row.d = next;
      if (R === GL && was.inspected_until !== next.inspected_until) armLapse(row);
      if (R === FL) {
        if (was.glider !== next.glider) { const a = IX.fGlider.get(was.glider); a.splice(a.indexOf(row), 1); insertByK(IX.fGlider, next.glider, row); }
        if (was.glider !== next.glider || F('reassigned-by-any-update')) emit('flight.reassigned', FL, row, { flight: next.id, was: was.glider, is: next.glider });
      }
      if (R === ME && F('login-changes')) { IX.login.delete(was.login); IX.login.set(next.login, row); }
    }
    const rep = show(R, row, c, ver); return { status: 200, headers: { ETag: etagOf(rep, ver) }, body: rep };
  }
  if (rt.kind === 'delete') {
    if (R === GL) {
      const refs = IX.fGlider.get(row.d.tail) ?? [];
      if (refs.length && !(F('landed-do-not-hold') && refs.every((f) => f.d.phase === 'landed'))) no('in_use');
    } else IX.hOwner.get(row.d.owner).delete(row);
    row.gone = true; R.rows.delete(row.d[R.id]); return { status: 204, headers: {} };
  }
  // moves
  if (rt.req) {
    const viol = [];
    if (typeOf(body) !== 'object') viol.push({ in: 'body', path: '', found: brief(body), expected: 'object', kind: 'type' });
    else { for (const [k, v] of Object.entries(body)) if (Object.hasOwn(rt.req, k)) check(rt.req[k], v, k, viol); for (const k of Object.keys(rt.req)) if (!Object.hasOwn(body, k)) viol.push({ in: 'body', path: k, found: 'nothing', expected: 'string', kind: 'missing' }); }
    refuseBody(viol);
  }
  MOVES[rt.op](row, c);
  if (rt.op === 'land flight') return { status: 200, headers: {}, body: { flight: row.d.id, minutes: row.d.minutes ?? 0 } };
  return { status: 200, headers: {}, body: show(R, row, c, ver) };
}
const sorted = (o) => Object.fromEntries(Object.entries(o).sort(([a], [b]) => a < b ? -1 : 1));
function insertByK(m, k, row) { const a = m.get(k); if (!a) { m.set(k, [row]); return; } let i = a.length; while (i > 0 && a[i - 1].k > row.k) i--; a.splice(i, 0, row); }
const EMPTY = [];
function list(rt, dayId, p, c, ver, mine) {
  const R = rt.res; let src = p.ix;
  if (dayId !== null) src = IX.fDay.get(dayId) ?? EMPTY;
  if (c?.user === 'pilot' && mine.every((r) => r.row)) {   // a pilot's own rows, by index
    const m = IX.login.get(c.id); if (R === ME) src = m ? [m] : EMPTY;
    else if (R === FL || R === VO) { const a = m ? (R === FL ? IX.fPilot : IX.vHolder).get(m.d.number) ?? EMPTY : EMPTY; if (!src || a.length < src.length) src = a; }
  }
  if (R === HO) src = [...(IX.hOwner.get(c.id) ?? [])];
  const every = mine.some((r) => !r.row);
  const ok = (r) => (every || mine.some((m) => holds(m, r, c))) && p.keep.every((k) => k(r));
  const put = (r) => show(R, r, c, ver, { list: true });
  if (rt.page === 'cursor') {
    const a = src ?? R.list, take = p.take ?? (F('flights-page-of-twenty') ? 20 : 10), got = []; let i = a.length - 1;
    if (p.before !== undefined) { let lo = 0, hi = a.length; while (lo < hi) { const m = (lo + hi) >> 1; if (a[m].k < p.before) lo = m + 1; else hi = m; } i = lo - 1; }
    for (; i >= 0 && got.length <= take; i--) if (ok(a[i])) got.push(a[i]);
    const more = got.length > take; if (more) got.pop();
    return { status: 200, headers: {}, body: { flights: got.map(put), onward: more ? cursorOf(got.at(-1).k, p.fp) : null } };
  }
  const skip = p.skip ?? 0, take = p.take ?? 20; let rows, total;
  const plain = every && !p.keep.length && !p.sort && !rt.order && !src;
  if (plain && R !== GL) { total = R.list.length; rows = R.list.slice(skip, skip + take); }
  else if (plain) { total = R.rows.size; rows = []; let i = 0; for (const r of R.rows.values()) { if (i >= skip + take) break; if (i++ >= skip) rows.push(r); } }
  else {
    let all = []; for (const r of src ?? R.rows.values()) if (ok(r)) all.push(r);
    if (R === FL && dayId !== null) all.sort((a, b) => a.d.number - b.d.number);
    const by = p.sort ?? rt.order; if (by) all.sort((a, b) => by(a, b) || a.k - b.k);
    if (R === HO) return { status: 200, headers: {}, body: all.map(put) };
    if (R === FL) return { status: 200, headers: {}, body: { list: all.map(put) } };
    total = all.length; rows = all.slice(skip, skip + take);
  }
  return { status: 200, headers: {}, body: { rows: rows.map(put), total, more: F('no-more-after-first') && skip > 0 ? false : skip + rows.length < total && rows.length > 0 } };
}
function stream(req, res, c, ver, x) {
  const mine = [...streams].filter((s) => s.caller.user === c.user && s.caller.id === c.id); if (mine.length >= 32) no('slow_down', { headers: { 'Retry-After': '1' } });
  const edition = editionHeaders(x, req, 200);
  const h = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'Field-Trace': x.trace, 'Field-Edition': ver, Vary: 'Field-Edition, X-Field-Badge, Authorization', ...edition };
  res.writeHead(200, h); if (req.method === 'HEAD') { res.end(); return null; }
  res.flushHeaders(); res.write(':\n\n');
  const s = { caller: c, write: (ev) => { if (res.writableLength > 256 * 1024) { res.destroy(); return; } res.write(`id: ${ev.id}\nevent: ${ev.kind}\ndata: ${JSON.stringify(bodyOf(ev, c, ver))}\n\n`); } };
  const last = req.headers['last-event-id'];
  if (last !== undefined) {
    let i = events.length - 1; while (i >= 0 && events[i].id !== last) i--;
    if (i >= 0 && events[i].t < now() - 2 * HOUR) i = -1;
    for (const ev of events.slice(i + 1)) if (ev.t >= now() - 2 * HOUR && canRead(ev.res, ev.snap, c)) s.write(ev);
  }
  streams.add(s); const t = setInterval(() => res.write(':\n\n'), 15000);
  res.on('close', () => { clearInterval(t); streams.delete(s); }); return null;
}
server.on('clientError', (e, sock) => {
  if (!sock.writable) { sock.destroy(); return; }
  const code = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : e.code === 'HPE_HEADER_OVERFLOW' ? 'too_big' : 'garbled';
  const b = JSON.stringify(payload(code, randomUUID()));
  sock.end(`HTTP/1.1 ${CODES[code][0]} ${http.STATUS_CODES[CODES[code][0]]}\r\nContent-Type: application/json\r\nField-Fault: ${code}\r\nContent-Length: ${Buffer.byteLength(b)}\r\nConnection: close\r\n\r\n${b}`);
});
server.listen(PORT, '127.0.0.1');

// ---------- the clock's door ----------
const RE_DUR = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
http.createServer((req, res) => {
  const say = (s, o) => { res.writeHead(s, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(o)); };
  if (req.method === 'GET') return say(200, { now: iso() });
  let b = ''; req.on('data', (d) => { b += d; if (b.length > 1e5) req.destroy(); }); req.on('error', () => {});
  req.on('end', () => {
    try {
      const o = req.method === 'POST' ? JSON.parse(b) : null; let t;
      if (typeof o?.advance === 'string') {
        const m = RE_DUR.exec(o.advance); if (!m) return say(400, { error: 'a duration' });
        const n = m.slice(1).map((v) => +(v ?? 0)), d = new Date(now()), dom = d.getUTCDate();
        if (n[0] || n[1]) { d.setUTCDate(1); d.setUTCMonth(d.getUTCMonth() + n[0] * 12 + n[1]); d.setUTCDate(Math.min(dom, new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate())); }
        t = d.getTime() + n[2] * 7 * DAY + n[3] * DAY + n[4] * HOUR + n[5] * MIN + n[6] * 1000;
      } else if (typeof o?.now === 'string' && FORMATS['date-time'](o.now)) t = Date.parse(o.now);
      else return say(400, { error: 'advance or now' });
      if (Number.isNaN(t) || t > 8.6e15) return say(400, { error: 'a time' });
      if (t < now()) return say(422, { error: 'the clock goes forward alone' });
      moveTo(Math.round(t)); setTimeout(() => say(200, { now: iso() }), 5);
    } catch { say(400, { error: 'JSON' }); }
  });
}).listen(CLOCK, '127.0.0.1');
process.on('uncaughtException', (e) => console.error(e));
process.on('unhandledRejection', (e) => console.error(e));
