// Kingsmere Ice: see service.yaml. One file, node: modules alone.
import http from 'node:http';
import https from 'node:https';
import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';

const arg = n => { const i = process.argv.indexOf('--' + n); return i < 0 ? undefined : process.argv[i + 1]; };
const PORT = Number(arg('port')), CLOCK = Number(arg('clock-port')), FAULT = arg('fault') ?? '';
const F = id => FAULT === id;
const CALLERS = JSON.parse(readFileSync(new URL('./stranger.json', import.meta.url), 'utf8')).callers;
const BASE = '/desk', TITLE = 'Kingsmere Ice', OLD = 'winter-25', NEW = 'winter-26';
const MIN = 60e3, HOUR = 3600e3, DAY = 86400e3;

// ---- time -------------------------------------------------------------------------------------------------------
let offset = 0, frozen = null;
const now = () => frozen ?? Date.now() + offset;
const iso = t => new Date(t).toISOString();
const heap = []; let heapSeq = 0;
const less = (a, b) => a.t < b.t || (a.t === b.t && a.s < b.s);
function at(t, run) {
  const e = { t, s: ++heapSeq, run, off: false };
  let i = heap.push(e) - 1;
  while (i) { const p = (i - 1) >> 1; if (!less(heap[i], heap[p])) break; [heap[i], heap[p]] = [heap[p], heap[i]]; i = p; }
  arm(); return e;
}
function pop() {
  const top = heap[0], last = heap.pop();
  if (heap.length) {
    heap[0] = last; let i = 0;
    for (;;) {
      let c = 2 * i + 1; if (c >= heap.length) break;
      if (c + 1 < heap.length && less(heap[c + 1], heap[c])) c++;
      if (!less(heap[c], heap[i])) break;
      [heap[i], heap[c]] = [heap[c], heap[i]]; i = c;
    }
  }
  return top;
}
let alarm = null, alarmAt = Infinity;
function arm() {
  if (frozen !== null || !heap.length || heap[0].t >= alarmAt) return;
  clearTimeout(alarm); alarmAt = heap[0].t;
  alarm = setTimeout(() => { alarmAt = Infinity; due(now()); arm(); }, Math.max(1, Math.min(alarmAt - now(), 2e9)));
}
function due(until) {
  while (heap.length && heap[0].t <= until) {
    const e = pop(); if (e.off) continue;
    const was = frozen; frozen = Math.max(e.t, was ?? 0);
    try { e.run(); } catch (x) { console.error(x); } finally { frozen = was; }
  }
}
function moveTo(target) {
  due(target);
  offset += target - now();
  alarmAt = Infinity; clearTimeout(alarm); arm();
}

// ---- identifiers ------------------------------------------------------------------------------------------------
const pick = (n, abc) => { let s = ''; while (s.length < n) s += abc[crypto.randomInt(abc.length)]; return s; };
const AZ09 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', A62 = AZ09 + 'abcdefghijklmnopqrstuvwxyz', B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ulid = () => { let t = now(), s = ''; for (let i = 0; i < 10; i++) { s = B32[t % 32] + s; t = Math.floor(t / 32); } return s + pick(16, B32); };
const uuid7 = () => { const h = now().toString(16).padStart(12, '0'), r = crypto.randomBytes(10).toString('hex'); return `${h.slice(0, 8)}-${h.slice(8)}-7${r.slice(0, 3)}-${'89ab'[parseInt(r[3], 16) & 3]}${r.slice(4, 7)}-${r.slice(7, 19)}`; };

// ---- shapes -----------------------------------------------------------------------------------------------------
const len = s => [...s].length;
const T = {
  text: (min = 0, max = Infinity, re) => v => typeof v !== 'string' ? 'a string' : len(v) < min || len(v) > max ? `${min} to ${max} characters` : re && !re.test(v) ? `a text like ${re.source}` : null,
  int: (min, max) => v => !Number.isInteger(v) ? 'an integer' : v < min || v > max ? `${min} to ${max}` : null,
  num: (min, max) => v => typeof v !== 'number' ? 'a number' : v < min || v > max ? `${min} to ${max}` : null,
  of: (...l) => v => l.includes(v) ? null : `one of ${l.join(', ')}`,
  bool: v => typeof v === 'boolean' ? null : 'a boolean',
  time: v => typeof v === 'string' && instant(v) !== null ? null : 'a date-time',
};
function instant(v) {
  const m = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(v);
  if (!m) return null;
  const [y, mo, d, h, mi, s] = m.slice(1, 7).map(Number);
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(y, mo, 0)).getUTCDate() || h > 23 || mi > 59 || s > 59) return null;
  const z = m[8].toUpperCase();
  if (z !== 'Z' && (Number(z.slice(1, 3)) > 23 || Number(z.slice(4)) > 59)) return null;
  const t = Date.parse(v.toUpperCase()); return Number.isNaN(t) ? null : t;
}
const KINDS = ['sheet.turned', 'session.up', 'session.scrapped', 'booking.moved', 'incident.grave'];
const knownKind = v => typeof v === 'string' && (v === '*' || KINDS.includes(v) || (v.endsWith('.*') && KINDS.some(k => k.startsWith(v.slice(0, -1)))));
const upPence = v => { const x = v * 100; return Math.sign(x) * Math.round(Math.abs(x)); };
// fields in order; w = what a caller may write, req = required of requests, imm = immutable, ref, def = default
const SHAPE = {
  sheet: { id: 'code', fields: { code: { w: T.text(0, Infinity, /^[a-z]{2,8}-[0-9]{1,2}$/), req: 1, imm: 1 }, hall: { w: T.of('north', 'south'), req: 1, imm: 1 }, places: { w: T.int(1, 400), req: 1 }, condition: {}, resurfaced_at: {} } },
  session: { id: 'id', fields: { id: {}, number: {}, sheet: { w: T.text(), req: 1, imm: 1, ref: 'sheet' }, club: { w: T.text(), ref: 'club' },
    title: { w: T.text(3, 60), req: 1, old: 'name' }, kind: { w: T.of('open', 'hockey', 'figure', 'curling'), req: 1 }, starts_at: { w: T.time, req: 1 },
    places: { w: F('places-edge') ? T.int(1, 399) : T.int(1, 400), req: 1 },
    pence: { w: T.int(0, 100000), def: 0, down: v => v / 100, up: upPence, oldW: T.num(0, 1000) }, host: {}, phase: {}, taken: {} } },
  booking: { id: 'id', fields: { id: {}, session: { w: T.text(), req: 1, imm: 1, ref: 'session' }, skater: {}, people: { w: T.int(1, 8), def: 1, since: NEW },
    locker: { w: T.int(1, 60) }, remark: { w: T.text(0, 120), only: ['steward', 'warden'] }, status: {} } },
  club: { id: 'id', fields: { id: {}, name: { w: T.text(2, 40), req: 1 } } },
  membership: { id: 'id', fields: { id: {}, club: { w: T.text(), req: 1, imm: 1, ref: 'club' }, person: { w: T.text(1, 40), req: 1, imm: 1 }, role: { w: T.of('captain', 'player'), def: 'player' } } },
  skate: { id: 'number', fields: { number: {}, size: { w: T.int(25, 50), req: 1 }, style: { w: T.of('figure', 'hockey', 'leisure'), req: 1,
    down: v => v === 'leisure' && !F('style-words') ? 'recreation' : v, up: v => v === 'recreation' ? 'leisure' : v, oldW: F('style-words') ? T.of('figure', 'hockey', 'leisure') : T.of('figure', 'hockey', 'recreation') }, status: {}, borrower: {}, outings: {} } },
  incident: { id: 'id', fields: { id: {}, sheet: { w: T.text(), req: 1, imm: 1, ref: 'sheet' }, what: { w: T.text(5, 500), req: 1 }, gravity: { w: T.of('slight', 'serious', 'grave'), req: 1 },
    reporter: {}, findings: { w: T.text(0, 500), only: ['warden'] }, status: {}, touched_at: {} } },
  hook: { id: 'id', fields: { id: {}, owner: {}, url: { w: v => { try { return typeof v === 'string' && /^https?:$/.test(new URL(v).protocol) && /^https?:\/\/\S+$/i.test(v) ? null : 'a uri'; } catch { return 'a uri'; } }, req: 1 },
    secret: { once: 1 }, events: { w: 'events' }, enabled: { w: T.bool, def: true } } },
};
const has = (o, k) => Object.prototype.hasOwnProperty.call(o, k);
for (const [name, s] of Object.entries(SHAPE)) {
  s.name = name; s.list = Object.entries(s.fields).map(([n, f]) => Object.assign(f, { n }));
  s.byName = { [OLD]: new Map(), [NEW]: new Map() };
  for (const f of s.list) { s.byName[NEW].set(f.n, f); if (!f.since) s.byName[OLD].set(f.old ?? f.n, f); }
}

// ---- stores -----------------------------------------------------------------------------------------------------
class Sorted {
  constructor(cmp) { this.cmp = cmp; this.a = []; }
  find(x) { let l = 0, h = this.a.length; while (l < h) { const m = (l + h) >> 1; if (this.cmp(this.a[m], x) < 0) l = m + 1; else h = m; } return l; }
  add(x) { this.a.splice(this.find(x), 0, x); }
  del(x) { const i = this.find(x); if (this.a[i] === x) this.a.splice(i, 1); }
}
const DB = Object.fromEntries(Object.keys(SHAPE).map(k => [k, new Map()]));
let rowSeq = 0;
const byText = k => (a, b) => a[k] < b[k] ? -1 : a[k] > b[k] ? 1 : a.$.seq - b.$.seq;
const sheetsSorted = new Sorted(byText('code')), clubsSorted = new Sorted(byText('name')), skatesSorted = new Sorted((a, b) => a.size - b.size || a.$.seq - b.$.seq);
const upCmp = (a, b) => a.$.t - b.$.t || a.$.seq - b.$.seq, downCmp = (a, b) => b.$.t - a.$.t || a.$.seq - b.$.seq;
const textDown = (a, b) => a.starts_at < b.starts_at ? 1 : a.starts_at > b.starts_at ? -1 : a.$.seq - b.$.seq;
const mkSessions = () => ({ up: new Sorted(upCmp), down: new Sorted(F('sort-as-text') ? textDown : downCmp) });
const allSessions = mkSessions(), sessionsOf = new Map();
const multi = () => { const m = new Map(); return { get: k => m.get(k) ?? [], add(k, v) { const l = m.get(k); l ? l.push(v) : m.set(k, [v]); }, m }; };
const bookingsBySkater = multi(), bookingsBySession = multi(), membersByClub = multi();
const bookingsAll = [], lockerHeld = new Map(), heldCount = new Map(), clubByName = new Map(), memberOf = new Map();
const sheetUse = new Map(), sheetIncidents = new Map(), sheetNumber = new Map(), hooksByOwner = new Map();
const bump = (m, k, d = 1) => { const n = (m.get(k) ?? 0) + d; n ? m.set(k, n) : m.delete(k); return n; };
function born(res, row) { Object.defineProperty(row, '$', { value: { seq: ++rowSeq, res }, enumerable: false }); DB[res].set(String(row[SHAPE[res].id]), row); return row; }
function placeSession(row, add) {
  row.$.t = add ? instant(row.starts_at) : row.$.t;
  let s = sessionsOf.get(row.sheet); if (!s) sessionsOf.set(row.sheet, s = mkSessions());
  for (const g of [allSessions, s]) for (const k of ['up', 'down']) add ? g[k].add(row) : g[k].del(row);
}
const stop = row => { if (row.$.timer) { row.$.timer.off = true; row.$.timer.run = null; row.$.timer = null; } };

// ---- refusals ---------------------------------------------------------------------------------------------------
const CODES = { garbled: [400, 'The body cannot be read.'], not_json: [415, 'Send JSON.'], bad_query: [400, 'A parameter is not as it should be.'], lacking: [422, 'Something is missing.'], unfit: [422, 'Something does not fit.'],
  no_such_verb: [405, 'Not by this method.'], who_are_you: [401, 'Show a pass.'], no_scope: [403, 'The pass does not go that far.'], not_yours: [403, 'This is not for you.'], not_here: [404, 'There is none.'],
  nobody_there: [422, 'What is referred to is not there.'], taken: [409, 'There is one already.'], needed: [409, 'Something still needs it.'], not_now: [409, 'Not in this state.'], changed: [412, 'It is another by now.'],
  tag_first: [428, 'Say which one you read.'], key_reused: [422, 'This key was for something else.'], slow_down: [429, 'Too often.'], enough: [403, 'That is all there is for you.'], too_big: [413, 'Too large.'],
  old_edition: [410, 'This edition is over.'], down: [503, 'Closed for the moment.'], too_long: [408, 'That took too long.'], broken: [500, 'Something broke.'], not_shut: [409, 'The sheet is not shut.'],
  too_late: [409, 'It is too late for that.'], full: [F('full-422') ? 422 : 409, 'Too few places are left.'], blunt: [409, 'These have to be ground first.'], not_on: [409, 'This session takes no bookings.'], no_ice: [409, 'The sheet is shut.'] };
const OWN = new Set(['not_shut', 'too_late', 'full', 'blunt', 'not_on', 'no_ice']);
class Refusal { constructor(code, wrong, headers) { this.code = code; this.wrong = wrong; this.headers = headers; } }
const no = (code, wrong, headers) => { throw new Refusal(code, wrong, headers); };

// ---- who reads what ---------------------------------------------------------------------------------------------
const staff = c => c && (c.user === 'steward' || c.user === 'warden');
const membership = (club, person) => memberOf.get(club + '\n' + person);
const READ = {
  sheet: () => true,
  session: (r, c) => r.phase !== 'draft' || staff(c) || (c?.user === 'skater' && r.host === c.id),
  booking: (r, c) => staff(c) || (c?.user === 'skater' && (r.skater === c.id || F('booking-any'))),
  club: (r, c) => !!c,
  membership: (r, c) => staff(c) || (c?.user === 'skater' && !!membership(r.club, c.id)),
  skate: (r, c) => !!c,
  incident: (r, c) => c && (c.user === 'warden' || r.reporter === c.id),
  hook: (r, c) => c && r.owner === c.id,
};
function show(row, res, c, v, once) {
  const out = {}, s = SHAPE[res];
  const part = res === 'skate' && c?.user === 'skater' && row.borrower !== c.id && !F('skate-all');
  for (const f of s.list) {
    const val = row[f.n];
    if (val === undefined || val === null) continue;
    if (f.once && !once) continue;
    if (f.only && !f.only.includes(c?.user)) continue;
    if (part && (f.n === 'borrower' || f.n === 'outings')) continue;
    if (v === OLD) { if (f.since) continue; out[f.old ?? f.n] = f.down ? f.down(val) : val; } else out[f.n] = val;
  }
  if (F('people-left-out') && res === 'booking' && out.people === 1) delete out.people;
  return out;
}
const tagOf = (row, res, c, v) => '"' + crypto.createHash('sha1').update(v + res + JSON.stringify(show(row, res, c, v))).digest('base64url').slice(0, 22) + '"';

// ---- events -----------------------------------------------------------------------------------------------------
const kept = []; let keptFrom = 0; const streams = new Set();
function emit(kind, res, row, payload, readers) {
  const snap = { ...row }, e = { id: 'evt_' + ulid(), kind, at: iso(now()), t: now(), res, key: res + ':' + row[SHAPE[res].id], snap };
  const tell = (c, v) => ({ no: e.id, what: kind, when: e.at, about: payload ?? show(snap, res, c, v) });
  e.tell = tell; e.reads = c => READ[res](snap, c);
  kept.push(e);
  while (keptFrom < kept.length && kept[keptFrom].t < now() - 6 * HOUR) keptFrom++;
  if (keptFrom > 5000) { kept.splice(0, keptFrom); keptFrom = 0; }
  for (const s of streams) sendStream(s, e);
  for (const h of DB.hook.values()) {
    if (!h.enabled || !listens(h.events, kind)) continue;
    const maker = h.$.maker;
    if (!e.reads(maker) && !(F('grave-to-stewards') && kind === 'incident.grave' && maker.user === 'steward')) continue;
    const v = F('hook-edition') && kind === 'session.up' ? NEW : h.$.v;
    queue(h, { id: e.id, kind, key: F('no-order') ? e.id : e.key, tries: 0, body: JSON.stringify(tell(maker, v)) });
  }
}
const listens = (l, kind) => !l || l.some(p => p === '*' || p === kind || (p.endsWith('.*') && kind.startsWith(p.slice(0, -1))));
function sendStream(s, e) { if (e.reads(s.caller)) s.res.write(`id: ${e.id}\nevent: ${e.kind}\ndata: ${JSON.stringify(e.tell(s.caller, s.v))}\n\n`); }
function queue(h, d) { const q = h.$.queues.get(d.key); if (q) q.push(d); else { h.$.queues.set(d.key, [d]); attempt(h, d); } }
const WAITS = [10e3, 2 * MIN, 15 * MIN];
function done(h, d) { const q = h.$.queues.get(d.key); if (!q) return; q.shift(); if (q.length) attempt(h, q[0]); else h.$.queues.delete(d.key); }
const agent = new http.Agent({ keepAlive: false });
function attempt(h, d) {
  if (h.$.gone || !h.enabled) { h.$.queues.clear(); return; }
  d.tries++;
  const ts = Math.floor(now() / 1000), id = F('retry-new-id') && d.tries > 1 ? 'evt_' + ulid() : d.id;
  const body = id === d.id ? d.body : d.body.replace(d.id, id);
  const mac = crypto.createHmac('sha256', h.secret).update(`${ts}.${id}.${body}`).digest('hex');
  let over = false;
  const end = (ok, status, after) => {
    if (over) return; over = true; clearTimeout(timer);
    if (h.$.gone) return;
    if (ok) { h.$.failing = null; return done(h, d); }
    h.$.failing ??= now();
    if (status === 410 || now() - h.$.failing >= DAY) { h.enabled = false; h.$.queues.clear(); return; }
    if (d.tries > WAITS.length) return done(h, d);
    at(now() + Math.max(WAITS[d.tries - 1], Math.min(after, DAY)), () => attempt(h, d));
  };
  let req;
  const timer = setTimeout(() => { req?.destroy(); end(false, 0, 0); }, 10e3);
  try {
    const u = new URL(h.url);
    req = (u.protocol === 'https:' ? https : http).request(u, { method: 'POST', ...(u.protocol === 'http:' && { agent }), headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Rink-Seal': `at=${ts},mac=${mac}`, 'X-Rink-Event': d.kind } }, res => {
      const ra = Number(res.headers['retry-after']);
      res.resume(); res.on('error', () => {});
      end(res.statusCode >= 200 && res.statusCode < 300, res.statusCode, ra > 0 ? ra * 1000 : 0);
    });
    req.on('error', () => end(false, 0, 0)); req.end(body);
  } catch { end(false, 0, 0); }
}

// ---- machines ---------------------------------------------------------------------------------------------------
const turned = row => emit('sheet.turned', 'sheet', row);
function setBooking(b, to) {
  const was = b.status, s = DB.session.get(b.session);
  if (was === 'held') { bump(heldCount, b.skater, F('lapsed-count') && to === 'lapsed' ? 0 : -1); stop(b); }
  if (was === 'paid') s.taken -= b.people;
  if (to === 'paid') s.taken += b.people;
  if (to !== 'paid' && b.locker !== undefined && !(F('locker-kept') && to === 'released')) lockerHeld.delete(b.session + '/' + b.locker);
  b.status = to;
  if (to === 'lapsed' && F('lapse-silent')) return;
  emit('booking.moved', 'booking', b, { booking: b.id, was: was, is: to });
}
const MOVE = {
  sheet: {
    resurface(r) { if (r.condition !== 'open') no('not_now'); r.condition = 'resurfacing'; r.$.timer = at(now() + 20 * MIN, () => { r.$.timer = null; r.condition = 'open'; r.resurfaced_at = iso(now()); turned(r); }); turned(r); },
    shut(r) { if (r.condition !== 'open' && r.condition !== 'resurfacing') no('not_now'); if (!F('ready-anyway')) stop(r); r.condition = 'shut'; turned(r); },
    reopen(r) { if (r.condition !== 'shut') no('not_shut'); r.condition = 'open'; turned(r); },
  },
  session: {
    announce(r) {
      if (r.phase !== 'draft') no('not_now');
      if (r.$.t <= now()) no('too_late');
      if (DB.sheet.get(r.sheet).condition === 'shut') no('no_ice');
      r.phase = 'up';
      r.$.timer = at(r.$.t, () => { r.phase = 'live'; r.$.timer = at(now() + 90 * MIN, () => { r.$.timer = null; r.phase = 'over'; }); });
      emit('session.up', 'session', r);
    },
    scrap(r, ctx) {
      if (r.phase !== 'draft' && r.phase !== 'up') no('not_now');
      stop(r); r.phase = 'scrapped';
      emit('session.scrapped', 'session', r, { session: r.id, sheet: r.sheet, why: ctx.body.why });
      for (const b of bookingsBySession.get(r.id)) if (b.status === 'held' || (b.status === 'paid' && !F('scrap-held-only'))) setBooking(b, 'released');
    },
  },
  booking: {
    pay(r) { if (r.status !== 'held') no('not_now'); const s = DB.session.get(r.session); if (s.taken + (F('pay-last-place') ? 1 : r.people) > s.places) no('full'); setBooking(r, 'paid'); },
    release(r) { if (r.status !== 'held' && (r.status !== 'paid' || F('release-paid'))) no('too_late'); setBooking(r, 'released'); },
  },
  skate: {
    lend(r, ctx) { if (r.status !== 'racked') no('not_now'); if (r.outings >= 3) no('blunt'); r.status = 'lent'; r.borrower = ctx.caller.id; r.outings++; },
    return(r) { if (r.status !== 'lent') no('not_now'); r.status = 'racked'; },
    grind(r) { if (r.status !== 'racked') no('not_now'); r.status = 'grinding'; r.outings = 0; r.$.timer = at(now() + 30 * MIN, () => { r.$.timer = null; r.status = 'racked'; }); },
  },
  incident: {
    look(r) { if (r.status !== 'reported') no('not_now'); r.status = 'looked_into'; r.touched_at = iso(now()); },
    settle(r) { if (r.status !== 'looked_into' || (r.findings === undefined)) no('not_now'); r.status = 'settled'; r.touched_at = iso(now()); },
  },
};

// ---- who may do what: the rule for a user, 'yes', or over the row (res) / over what would be (next) ------------------
const own = k => (r, c) => r[k] === c.id;
const sameHall = (r, c) => r.hall === c.hall, sheetHall = (r, c) => DB.sheet.get(r.sheet)?.hall === c.hall;
const captain = (r, c) => r.club !== undefined && (F('player-host') ? !!membership(r.club, c.id) : membership(r.club, c.id)?.role === 'captain');
const yes = () => true;
const MAY = {
  'upsert sheet': { next: { steward: sameHall, warden: yes } },
  'list sheet': { any: 1 }, 'read sheet': { any: 1 }, 'list session': { any: 1 }, 'read session': { any: 1 },
  'delete sheet': { row: { warden: yes }, scope: 'ice.remove' },
  'resurface sheet': { row: { steward: sameHall } }, 'shut sheet': { row: { steward: sameHall, warden: yes } }, 'reopen sheet': { row: { steward: sameHall, warden: yes } },
  'update session': { row: { skater: own('host'), steward: sheetHall } }, 'announce session': { row: { skater: own('host'), steward: sheetHall } }, 'scrap session': { row: { skater: own('host'), steward: yes, warden: yes } },
  'create session': { next: { steward: sheetHall, skater: captain } },
  'create booking': { next: { skater: yes, steward: yes } },
  'list booking': { row: { skater: yes, steward: yes, warden: yes } }, 'read booking': { row: { skater: yes, steward: yes, warden: yes } },
  'pay booking': { row: { skater: own('skater'), steward: own('skater') } }, 'release booking': { row: { skater: own('skater'), steward: yes } },
  'create club': { next: { warden: yes }, scope: 'clubs' }, 'list club': { row: { skater: yes, steward: yes, warden: yes } },
  'create membership': { next: { warden: yes, skater: (r, c) => r.role === 'player' && membership(r.club, c.id)?.role === 'captain' } }, 'list membership': { row: { skater: yes, steward: yes, warden: yes } },
  'create skate': { next: { steward: yes, warden: yes } }, 'list skate': { row: { skater: yes, steward: yes, warden: yes } },
  'lend skate': { row: { skater: yes, steward: yes } }, 'return skate': { row: { skater: own('borrower'), steward: yes } }, 'grind skate': { row: { steward: yes } },
  'create incident': { next: { skater: yes, steward: yes } }, 'read incident': { row: { skater: yes, steward: yes, warden: yes } },
  'update incident': { row: { warden: yes } }, 'look incident': { row: { warden: yes } }, 'settle incident': { row: { warden: yes } },
  'create hook': { next: { skater: yes, steward: yes, warden: yes } }, 'read hook': { row: { skater: yes, steward: yes, warden: yes } }, 'delete hook': { row: { skater: yes, steward: yes, warden: yes } },
  'stream events': { row: { steward: yes, warden: yes } },
};

// ---- bodies -----------------------------------------------------------------------------------------------------
function checkValue(f, v, name, old) {
  if (f.w === 'events') {
    if (!Array.isArray(v)) return [[name, 'an array']];
    if (v.length > 8) return [[name, 'at most 8']];
    return v.map((x, i) => knownKind(x) ? null : [name + '.' + i, 'a kind of event']).filter(Boolean);
  }
  const w = (old && f.oldW) || f.w, e = w(v);
  if (e) return [[name, e]];
  if (old && f.up) { const e2 = f.w(f.up(v)); if (e2) return [[name, e2]]; }
  return [];
}
// gives { values, nulls }; refuses. mode: create | update | replace; bound: what the path says; row: as it is
function take(ctx, res, mode, bound = {}, row) {
  const s = SHAPE[res], names = s.byName[ctx.v], old = ctx.v === OLD, b = ctx.body, bad = [], lacks = [];
  if (typeof b !== 'object' || b === null || Array.isArray(b)) no('unfit', [{ in: 'body', path: '', expected: 'an object' }]);
  const values = {}, nulls = new Set();
  for (const k of Object.keys(b)) {
    const f = names.get(k), v = b[k];
    if (!f) { bad.push([k, 'no such field']); continue; }
    if (!f.w || (f.only && !f.only.includes(ctx.caller.user))) continue;
    if (v === null) { if (mode === 'update' && !f.req && f.def === undefined) { if (!(F('null-kept') && f.n === 'club')) nulls.add(f.n); } else bad.push([k, 'a value']); continue; }
    const e = checkValue(f, v, k, old);
    if (e.length) { bad.push(...e); continue; }
    let val = old && f.up ? (F('old-pence-patch') && mode === 'update' && f.n === 'pence' ? Math.round(v) : f.up(v)) : v;
    if (old && f.down && row && row[f.n] !== undefined && f.down(row[f.n]) === v) val = row[f.n];
    if (f.n in bound && bound[f.n] !== val) { bad.push([k, 'what the path says']); continue; }
    if (f.imm && row && row[f.n] !== val) { bad.push([k, 'what it was']); continue; }
    values[f.n] = val;
  }
  Object.assign(values, bound);
  if (mode !== 'update') for (const [k, f] of names) if (f.req && !(f.n in values) && !has(b, k) && !(row && f.imm)) lacks.push([k, 'a value']);
  const next = mode === 'update' ? { ...row, ...values } : values;
  if (res === 'session' && next.kind === 'curling' && next.places > 64 && !bad.some(x => x[0] === 'places')) bad.push(['places', 'at most 64 for curling']);
  if (bad.length || lacks.length) no(bad.length ? 'unfit' : 'lacking', F('patch-wrong') && mode === 'update' ? undefined : [...bad, ...lacks].map(([path, expected]) => ({ in: 'body', path, expected })));
  if (mode !== 'update') for (const f of s.list) if (f.def !== undefined && !(f.n in values)) values[f.n] = f.def;
  for (const f of s.list) if (f.ref && f.n in values && !(f.n in bound) && !(row && row[f.n] === values[f.n])) {
    const r = DB[f.ref].get(values[f.n]);
    if (!r || !READ[f.ref](r, ctx.caller)) no('nobody_there', [{ in: 'body', path: f.n, expected: 'one that there is' }]);
  }
  return { values, nulls };
}
function mayNext(ctx, next) { if (!MAY[ctx.op].next[ctx.caller.user](next, ctx.caller)) no('not_yours'); }
function find(ctx, res, id) {
  const row = DB[res].get(id);
  if (!row || !READ[res](row, ctx.caller)) no('not_here');
  const rule = MAY[ctx.op];
  if (rule.row && !rule.row[ctx.caller.user](row, ctx.caller)) no('not_yours');
  return row;
}
function ifMatch(ctx, row, res, needed) {
  const h = ctx.req.headers['if-match'];
  if (h === undefined) { if (needed) no('tag_first'); return; }
  if (F('stale-tag') && ctx.op === 'update incident') return;
  if (!row) no('changed');
  if (h.trim() === '*') return;
  const tags = h.split(',').map(x => x.trim());
  if (!tags.includes(tagOf(row, res, ctx.caller, ctx.v)) && !tags.includes(READ[res](row, null) ? tagOf(row, res, null, ctx.v) : 0)) no('changed');
}
const where = p => (F('location-bare') && p.startsWith('/sessions') ? '' : BASE) + p;
const ok = (ctx, status, row, res, extra = {}) => ({ status, body: READ[res](row, ctx.caller) ? show(row, res, ctx.caller, ctx.v, status === 201) : undefined, row, res, ...extra });

// ---- lists ------------------------------------------------------------------------------------------------------
const whole = v => /^(0|[1-9]\d{0,14})$/.test(v ?? '');
function offsetPage(ctx, rows, res, keep) {
  const p = ctx.params;
  const skip = p.skip === undefined ? 0 : whole(p.skip) ? Number(p.skip) : no('bad_query', [{ in: 'query', path: 'skip', expected: 'a whole number' }]);
  const n = p.take === undefined ? 25 : whole(p.take) && Number(p.take) >= 1 && Number(p.take) <= 100 ? Number(p.take) : no('bad_query', [{ in: 'query', path: 'take', expected: '1 to 100' }]);
  return () => {
    if (keep) rows = rows.filter(keep);
    const from = F('second-page') && skip > 0 && res === 'booking' ? skip - 1 : skip;
    return { status: 200, body: { rows: rows.slice(from, from + n).map(r => show(r, res, ctx.caller, ctx.v)), more: from + n < rows.length, all: rows.length } };
  };
}
const oneOf = (ctx, name, l) => { const v = ctx.params[name]; if (v !== undefined && !l.includes(v)) no('bad_query', [{ in: 'query', path: name, expected: l.join(', ') }]); return v; };
const MACKEY = crypto.randomBytes(32);
const mac = s => crypto.createHmac('sha256', MACKEY).update(s).digest('base64url').slice(0, 20);

// ---- operations -------------------------------------------------------------------------------------------------
// each: [method, path, operation, { query, body, key, run(ctx) }]; `early(ctx)` judges parameters
const move = (res, verb, idName, extra = {}) => ({ run(ctx) { const row = find(ctx, res, ctx.path[idName]); if (extra.ask) extra.ask(ctx); MOVE[res][verb](row, ctx); return extra.answer ? extra.answer(row) : ok(ctx, 200, row, res); }, ...extra });
const reading = (res, idName, etag, extra = {}) => ({ etag, run: ctx => ok(ctx, 200, find(ctx, res, ctx.path[idName]), res), ...extra });
const london = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/London', year: 'numeric', month: '2-digit', day: '2-digit' });
const quotaUsed = new Map();
function quota(ctx) {
  if (ctx.caller.user !== 'skater') return null;
  const day = london.format(now()), key = ctx.caller.id; let q = quotaUsed.get(key);
  if (!q || q.day !== day) quotaUsed.set(key, q = { day, n: 0 });
  if (q.n >= 25) { let lo = now(), hi = lo + 26 * HOUR; while (hi - lo > 500) { const m = (lo + hi) / 2; if (london.format(m) === day) lo = m; else hi = m; } no('enough', undefined, { 'Retry-After': String(Math.max(1, Math.ceil((hi - now()) / 1000))) }); }
  return q;
}
const ROUTES = [
  ['PUT', '/sheets/:code', 'upsert sheet', { body: 1, etag: 1, run(ctx) {
    const code = ctx.path.code, row = DB.sheet.get(code);
    ifMatch(ctx, row, 'sheet'); if (row && ctx.req.headers['if-none-match']?.trim() === '*') no('changed');
    if (!row && SHAPE.sheet.fields.code.w(code)) no('unfit', [{ in: 'path', path: 'code', expected: 'a code like ice-1' }]);
    const { values } = take(ctx, 'sheet', 'replace', { code }, row);
    mayNext(ctx, { ...row, ...values });
    if (row) { row.places = values.places; return ok(ctx, 200, row, 'sheet'); }
    const r = born('sheet', { code, hall: values.hall, places: values.places, condition: F('begins-shut') ? 'shut' : 'open' });
    sheetsSorted.add(r);
    return ok(ctx, 201, r, 'sheet', { location: where('/sheets/' + code) });
  } }],
  ['GET', '/sheets', 'list sheet', { query: ['hall', 'condition', 'skip', 'take'], early(ctx) {
    const hall = oneOf(ctx, 'hall', ['north', 'south']); let cs = ctx.params.condition?.split(',');
    if (cs && (cs.length > 100 || !cs.every(x => ['open', 'resurfacing', 'shut'].includes(x)))) no('bad_query', [{ in: 'query', path: 'condition', expected: 'open, resurfacing, shut' }]);
    if (cs && F('first-condition')) cs = cs.slice(0, 1);
    ctx.page = offsetPage(ctx, sheetsSorted.a, 'sheet', hall || cs ? r => (!hall || r.hall === hall) && (!cs || cs.includes(r.condition)) : null);
  }, run: ctx => ctx.page() }],
  ['GET', '/sheets/:code', 'read sheet', reading('sheet', 'code', 1)],
  ['DELETE', '/sheets/:code', 'delete sheet', { run(ctx) {
    const r = find(ctx, 'sheet', ctx.path.code);
    if (r.condition !== 'shut') no('not_now');
    if (sheetUse.get(r.code) || (sheetIncidents.get(r.code) && !F('incident-orphan'))) no('needed');
    stop(r); DB.sheet.delete(r.code); sheetsSorted.del(r); return { status: 204 };
  } }],
  ['POST', '/sheets/:code/resurface', 'resurface sheet', move('sheet', 'resurface', 'code')],
  ['POST', '/sheets/:code/shut', 'shut sheet', move('sheet', 'shut', 'code')],
  ['POST', '/sheets/:code/reopen', 'reopen sheet', move('sheet', 'reopen', 'code')],
  ['POST', '/sessions', 'create session', { body: 1, run(ctx) {
    const { values } = take(ctx, 'session', 'create'); mayNext(ctx, values);
    let id; do id = F('short-id') ? 'S' + pick(9, AZ09) : 'S' + pick(10, AZ09); while (DB.session.has(id));
    const counter = F('number-overall') ? '*' : values.sheet;
    const r = born('session', { id, number: bump(sheetNumber, counter), sheet: values.sheet, club: values.club, title: values.title, kind: values.kind, starts_at: values.starts_at, places: values.places, pence: values.pence, host: ctx.caller.id, phase: 'draft', taken: 0 });
    bump(sheetUse, r.sheet); placeSession(r, true);
    return ok(ctx, 201, r, 'session', { location: where('/sessions/' + id) });
  } }],
  ['GET', '/sessions', 'list session', { query: ['sheet', 'kind', 'from', 'q', 'sort', 'take', 'after'], early(ctx) {
    const p = ctx.params, kind = oneOf(ctx, 'kind', ['open', 'hockey', 'figure', 'curling']), sort = oneOf(ctx, 'sort', ['starts_at', '-starts_at']) ?? '-starts_at';
    const from = p.from === undefined ? null : instant(p.from) ?? no('bad_query', [{ in: 'query', path: 'from', expected: 'a date-time' }]);
    const words = (p.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length > 16) no('bad_query', [{ in: 'query', path: 'q', expected: 'up to 16 words' }]);
    let n = 10;
    if (p.take !== undefined) { if (!/^[1-9]\d*$/.test(p.take) || (F('clamp-refuses') && Number(p.take) > 40)) no('bad_query', [{ in: 'query', path: 'take', expected: '1 to 40' }]); n = Math.min(40, Number(p.take)); }
    const print = JSON.stringify([p.sheet, p.kind, p.from, p.q, sort, ctx.v, ctx.caller?.user, ctx.caller?.id]);
    let place = null;
    if (p.after !== undefined) {
      const [a, m] = p.after.split('.');
      if (!m || m !== mac(a + print)) no('bad_query', [{ in: 'query', path: 'after', expected: 'a cursor of this list' }]);
      place = JSON.parse(Buffer.from(a, 'base64url').toString());
    }
    ctx.page = () => {
      const g = p.sheet === undefined ? allSessions : sessionsOf.get(p.sheet) ?? mkSessions(), up = sort === 'starts_at', ix = up ? g.up : g.down;
      let i = 0; const out = []; let more = false;
      if (place) { const probe = { starts_at: place[2], $: { t: place[0], seq: place[1] } }; i = ix.find(probe); if (i < ix.a.length && ix.cmp(ix.a[i], probe) === 0 && !F('cursor-repeats')) i++; }
      else if (up && from !== null) i = ix.find({ starts_at: p.from, $: { t: from, seq: 0 } });
      for (; i < ix.a.length; i++) {
        const r = ix.a[i];
        if (from !== null && r.$.t < from) { if (up || F('sort-as-text')) continue; break; }
        if ((kind && r.kind !== kind) || !READ.session(r, ctx.caller)) continue;
        if (words.length && !words.every(w => r.title.toLowerCase().includes(w))) continue;
        if (out.length === n) { more = true; break; }
        out.push(r);
      }
      let after = null;
      if (more) { const l = out.at(-1), a = Buffer.from(JSON.stringify([l.$.t, l.$.seq, l.starts_at])).toString('base64url'); after = a + '.' + mac(a + print); }
      return { status: 200, body: { rows: out.map(r => show(r, 'session', ctx.caller, ctx.v)), after } };
    };
  }, run: ctx => ctx.page() }],
  ['GET', '/sessions/:id', 'read session', reading('session', 'id', 1)],
  ['PATCH', '/sessions/:id', 'update session', { body: 1, run(ctx) {
    const r = find(ctx, 'session', ctx.path.id); ifMatch(ctx, r, 'session', true);
    const { values, nulls } = take(ctx, 'session', 'update', {}, r);
    if (r.phase !== 'draft') no('not_now');
    if (values.starts_at !== undefined && values.starts_at !== r.starts_at) { placeSession(r, false); r.starts_at = values.starts_at; placeSession(r, true); }
    Object.assign(r, values); for (const k of nulls) r[k] = undefined;
    return ok(ctx, 200, r, 'session');
  } }],
  ['POST', '/sessions/:id/announce', 'announce session', move('session', 'announce', 'id')],
  ['POST', '/sessions/:id/scrap', 'scrap session', move('session', 'scrap', 'id', { body: 1, ask(ctx) {
    const b = ctx.body;
    if (typeof b !== 'object' || b === null || Array.isArray(b)) no('unfit', [{ in: 'body', path: '', expected: 'an object' }]);
    if (!has(b, 'why')) no('lacking', [{ in: 'body', path: 'why', expected: 'a value' }]);
    const e = T.text(3, 80)(b.why); if (e) no('unfit', [{ in: 'body', path: 'why', expected: e }]);
  } })],
  ['POST', '/sessions/:session/bookings', 'create booking', { body: 1, keyNeeded: 1, run(ctx) {
    const s = DB.session.get(ctx.path.session); if (!s || !READ.session(s, ctx.caller)) no('not_here');
    const { values } = take(ctx, 'booking', 'create', { session: s.id });
    if (F('quota-refused') && ctx.caller.user === 'skater') quota(ctx).n++;
    if (s.phase !== 'up') no('not_on');
    const lk = values.locker === undefined ? null : s.id + '/' + values.locker;
    if (lk && lockerHeld.has(lk)) no('taken');
    if ((heldCount.get(ctx.caller.id) ?? 0) >= 4) no('enough');
    const q = quota(ctx);
    const r = born('booking', { id: crypto.randomUUID(), session: s.id, skater: ctx.caller.id, people: values.people, locker: values.locker, remark: values.remark, status: 'held' });
    if (q && !F('quota-refused')) q.n++;
    if (lk) lockerHeld.set(lk, r.id);
    bump(heldCount, r.skater); bookingsAll.push(r); bookingsBySkater.add(r.skater, r); bookingsBySession.add(s.id, r);
    r.$.timer = at(now() + 15 * MIN, () => { r.$.timer = null; setBooking(r, 'lapsed'); });
    return ok(ctx, 201, r, 'booking', { location: where('/bookings/' + r.id) });
  } }],
  ['GET', '/bookings', 'list booking', { query: ['status', 'least', 'skip', 'take'], early(ctx) {
    const status = oneOf(ctx, 'status', ['held', 'paid', 'released', 'lapsed']); let least = null;
    if (ctx.params.least !== undefined) { if (!/^-?(0|[1-9]\d{0,14})$/.test(ctx.params.least)) no('bad_query', [{ in: 'query', path: 'least', expected: 'an integer' }]); least = Number(ctx.params.least); }
    const rows = ctx.caller.user === 'skater' ? bookingsBySkater.get(ctx.caller.id) : bookingsAll;
    ctx.page = offsetPage(ctx, rows, 'booking', status || least !== null ? r => (!status || r.status === status) && (least === null || r.people >= least) : null);
  }, run: ctx => ctx.page() }],
  ['GET', '/bookings/:id', 'read booking', { query: ['with'], early(ctx) { if (ctx.params.with !== undefined && ctx.params.with !== 'session') no('bad_query', [{ in: 'query', path: 'with', expected: 'session' }]); }, run(ctx) {
    const r = find(ctx, 'booking', ctx.path.id), a = ok(ctx, 200, r, 'booking');
    if (ctx.params.with) { const s = DB.session.get(r.session); if (READ.session(s, ctx.caller)) a.body.session = show(s, 'session', ctx.caller, ctx.v); }
    return a;
  } }],
  ['POST', '/bookings/:id/pay', 'pay booking', move('booking', 'pay', 'id')],
  ['POST', '/bookings/:id/release', 'release booking', move('booking', 'release', 'id', { answer: r => ({ status: 200, body: { booking: r.id, given_up: r.people } }) })],
  ['POST', '/clubs', 'create club', { body: 1, run(ctx) {
    const { values } = take(ctx, 'club', 'create'); mayNext(ctx, values);
    const there = clubByName.get(values.name); if (there) return ok(ctx, F('club-again-201') ? 201 : 200, there, 'club');
    const r = born('club', { id: 'club-' + crypto.randomBytes(4).toString('hex'), name: values.name }); clubByName.set(r.name, r); clubsSorted.add(r);
    return ok(ctx, 201, r, 'club');
  } }],
  ['GET', '/clubs', 'list club', { query: ['skip', 'take'], early(ctx) { ctx.page = offsetPage(ctx, clubsSorted.a, 'club'); }, run: ctx => ctx.page() }],
  ['POST', '/clubs/:club/members', 'create membership', { body: 1, run(ctx) {
    const c = DB.club.get(ctx.path.club); if (!c) no('not_here');
    const { values } = take(ctx, 'membership', 'create', { club: c.id }); mayNext(ctx, values);
    const key = c.id + '\n' + values.person; if (memberOf.has(key)) no('taken');
    const r = born('membership', { id: crypto.randomUUID(), club: c.id, person: values.person, role: values.role });
    memberOf.set(key, r); membersByClub.add(c.id, r);
    return ok(ctx, 201, r, 'membership');
  } }],
  ['GET', '/clubs/:club/members', 'list membership', { query: ['role', 'skip', 'take'], early(ctx) {
    const role = oneOf(ctx, 'role', ['captain', 'player']), club = ctx.path.club;
    const all = ctx.caller.user !== 'skater' || !!membership(club, ctx.caller.id);
    ctx.page = offsetPage(ctx, all ? membersByClub.get(club) : [], 'membership', role ? r => r.role === role : null);
  }, run(ctx) { if (!DB.club.has(ctx.path.club)) no('not_here'); return ctx.page(); } }],
  ['POST', '/skates', 'create skate', { body: 1, run(ctx) {
    const { values } = take(ctx, 'skate', 'create'); mayNext(ctx, values);
    const r = born('skate', { number: DB.skate.size + 1, size: values.size, style: values.style, status: 'racked', borrower: undefined, outings: 0 }); skatesSorted.add(r);
    return ok(ctx, 201, r, 'skate');
  } }],
  ['GET', '/skates', 'list skate', { query: ['style', 'size', 'skip', 'take'], early(ctx) {
    const old = ctx.v === OLD; let style = oneOf(ctx, 'style', old && !F('style-words') ? ['figure', 'hockey', 'recreation'] : ['figure', 'hockey', 'leisure']), size = ctx.params.size;
    if (old && style === 'recreation') style = 'leisure';
    if (size !== undefined) { if (!whole(size) || size < 25 || size > 50) no('bad_query', [{ in: 'query', path: 'size', expected: '25 to 50' }]); size = Number(size); }
    ctx.page = offsetPage(ctx, skatesSorted.a, 'skate', style || size !== undefined ? r => (!style || r.style === style) && (size === undefined || r.size === size) : null);
  }, run: ctx => ctx.page() }],
  ['POST', '/skates/:number/lend', 'lend skate', move('skate', 'lend', 'number')],
  ['POST', '/skates/:number/return', 'return skate', move('skate', 'return', 'number')],
  ['POST', '/skates/:number/grind', 'grind skate', move('skate', 'grind', 'number', { accept: F('grind-by-pass') ? ['desk', 'pass'] : ['desk'], since: NEW })],
  ['POST', '/incidents', 'create incident', { body: 1, run(ctx) {
    const { values } = take(ctx, 'incident', 'create'); mayNext(ctx, values);
    const r = born('incident', { id: ulid(), sheet: values.sheet, what: values.what, gravity: values.gravity, reporter: ctx.caller.id, findings: undefined, status: 'reported', touched_at: iso(now()) });
    bump(sheetIncidents, r.sheet);
    if (r.gravity === 'grave') emit('incident.grave', 'incident', r);
    return ok(ctx, 201, r, 'incident', { location: where('/incidents/' + r.id) });
  } }],
  ['GET', '/incidents/:id', 'read incident', reading('incident', 'id', 1)],
  ['PATCH', '/incidents/:id', 'update incident', { body: 1, run(ctx) {
    const r = find(ctx, 'incident', ctx.path.id); ifMatch(ctx, r, 'incident', true);
    const { values, nulls } = take(ctx, 'incident', 'update', {}, r);
    if (r.status === 'settled') no('not_now');
    let differs = false;
    for (const k in values) if (r[k] !== values[k]) { r[k] = values[k]; differs = true; }
    for (const k of nulls) if (r[k] !== undefined) { r[k] = undefined; differs = true; }
    if (differs) r.touched_at = iso(now());
    return ok(ctx, 200, r, 'incident');
  } }],
  ['POST', '/incidents/:id/look', 'look incident', move('incident', 'look', 'id')],
  ['POST', '/incidents/:id/settle', 'settle incident', move('incident', 'settle', 'id')],
  ['POST', '/hooks', 'create hook', { body: 1, run(ctx) {
    const { values } = take(ctx, 'hook', 'create');
    const mine = hooksByOwner.get(ctx.caller.id) ?? 0; if (mine >= 3) no('enough');
    const r = born('hook', { id: uuid7(), owner: ctx.caller.id, url: values.url, secret: 'seal_' + pick(32, A62), events: values.events, enabled: values.enabled });
    Object.assign(r.$, { maker: ctx.caller, v: ctx.v, queues: new Map(), failing: null }); bump(hooksByOwner, r.owner);
    return ok(ctx, 201, r, 'hook', { location: where('/hooks/' + r.id), again: show(r, 'hook', ctx.caller, ctx.v) });
  } }],
  ['GET', '/hooks/:id', 'read hook', reading('hook', 'id', 0)],
  ['DELETE', '/hooks/:id', 'delete hook', { run(ctx) {
    const r = find(ctx, 'hook', ctx.path.id);
    if (!F('hook-stays')) { r.$.gone = true; r.$.queues.clear(); DB.hook.delete(r.id); bump(hooksByOwner, r.owner, -1); }
    return { status: 204 };
  } }],
  ['GET', '/feed', 'stream events', { stream: 1 }],
];
const TREE = { lit: new Map() };
for (const [m, p, op, o] of ROUTES) {
  if (F('no-look') && op === 'look incident') continue;
  let n = TREE;
  for (const s of p.slice(1).split('/')) {
    let next;
    if (s[0] === ':') next = n.par ??= { lit: new Map() };
    else { next = n.lit.get(s); if (!next) n.lit.set(s, next = { lit: new Map() }); }
    n = next;
  }
  (n.methods ??= new Map()).set(m, { op, o, names: p.slice(1).split('/').map(s => s[0] === ':' ? s.slice(1) : null) });
}
function route(path) {
  let n = TREE; const parts = [];
  for (const raw of path.slice(1).split('/')) {
    let s; try { s = decodeURIComponent(raw); } catch { return null; }
    n = n.lit.get(s) ?? (s ? n.par : undefined); if (!n) return null; parts.push(s);
  }
  return n.methods ? { n, parts } : null;
}

// ---- callers ----------------------------------------------------------------------------------------------------
const sha = s => crypto.createHash('sha256').update(s).digest('base64');
const PASSES = new Map(), DESKS = new Map(), PEOPLE = new Map();
for (const c of CALLERS) {
  const k = c.user + '\n' + c.id; let p = PEOPLE.get(k);
  if (!p) PEOPLE.set(k, p = { user: c.user, id: c.id, hall: c.attributes?.hall });
  (c.scheme === 'desk' ? DESKS : PASSES).set(sha(F('any-case') && c.scheme !== 'desk' ? c.credential.toLowerCase() : c.credential), { ...p, ...(F('desk-stewards') && c.scheme === 'desk' && { user: 'steward' }), scopes: new Set(c.scopes ?? []) });
}
function challenge(accept, shown) {
  const l = [];
  if (accept.includes('pass')) l.push(`Pass realm="${TITLE}"` + (shown ? ', error="invalid_key"' : ''));
  if (accept.includes('desk')) l.push(`Basic realm="${TITLE}", charset="UTF-8"`);
  return { 'WWW-Authenticate': l };
}
function who(ctx, accept) {
  const all = []; const raw = ctx.req.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) if (raw[i].toLowerCase() === 'authorization') all.push(raw[i + 1]);
  if (!all.length) { if (ctx.rule.any) return null; no('who_are_you', undefined, challenge(accept, false)); }
  const bad = () => no('who_are_you', undefined, challenge(accept, true));
  if (all.length > 1) bad();
  const m = /^(\S+) +(\S+) *$/.exec(all[0]); if (!m) bad();
  const word = m[1].toLowerCase();
  let c;
  if (word === 'pass' && accept.includes('pass')) c = PASSES.get(sha(F('any-case') ? m[2].toLowerCase() : m[2]));
  else if (word === 'basic' && accept.includes('desk')) c = DESKS.get(sha(Buffer.from(m[2], 'base64').toString('utf8')));
  return c && c.hall !== undefined ? c : bad();
}

// ---- rates ------------------------------------------------------------------------------------------------------
const RATES = [
  { name: 'caller-1m', q: 240, w: MIN, key: ctx => ctx.caller ? ctx.caller.user + '\n' + ctx.caller.id : 'at ' + ctx.addr, m: new Map() },
  { name: 'caller-10m-create-incident', q: 6, w: 10 * MIN, sliding: 1, key: ctx => ctx.op === 'create incident' ? ctx.caller.user + '\n' + ctx.caller.id : null, m: new Map() },
  { name: 'address-1m-anyone', q: 90, w: MIN, key: ctx => ctx.caller ? null : ctx.addr, m: new Map() },
];
function rates(ctx) {
  const t = now(), hits = [];
  for (const r of RATES) {
    const k = r.key(ctx); if (k === null) continue;
    let c = r.m.get(k);
    if (r.sliding) { if (!c) r.m.set(k, c = []); while (c.length && c[0] + r.w <= t) c.shift(); }
    else if (!c || c.at + r.w <= t) { if (r.m.size > 20000) r.m.clear(); r.m.set(k, c = { at: t, n: 0 }); }
    hits.push({ r, c, used: r.sliding ? c.length : c.n });
  }
  const limit = h => h.r.sliding && F('seventh-incident') ? 7 : h.r.q;
  const full = hits.filter(h => h.used >= limit(h));
  if (!full.length) for (const h of hits) { h.r.sliding ? h.c.push(t) : h.c.n++; h.used++; }
  const wait = h => Math.max(1, Math.ceil(((h.r.sliding ? (h.c[0] ?? t) : h.c.at) + h.r.w - t) / 1000));
  ctx.out['RateLimit-Policy'] = hits.map(h => `"${h.r.name}";q=${h.r.q};w=${h.r.w / 1000}`).join(', ');
  ctx.out['RateLimit'] = hits.map(h => `"${h.r.name}";r=${Math.max(0, h.r.q - h.used)};t=${wait(h)}`).join(', ');
  if (full.length) no('slow_down', undefined, { 'Retry-After': String(Math.max(...full.map(wait))) });
}

// ---- idempotency ------------------------------------------------------------------------------------------------
const KEYS = new Map();

// ---- one request ------------------------------------------------------------------------------------------------
const SUNSET = Date.parse('2031-05-01T00:00:00Z');
const OLD_HEADERS = { Deprecation: '@' + Date.parse('2026-05-01T00:00:00Z') / 1000, Sunset: new Date(SUNSET).toUTCString() };
function send(ctx, status, body, headers = {}) {
  const { res } = ctx; if (res.headersSent || res.destroyed) return;
  const h = { ...ctx.out, ...headers };
  if (body !== undefined) { h['Content-Type'] = 'application/json'; body = Buffer.from(JSON.stringify(body)); h['Content-Length'] = body.length; }
  else if (status !== 204 && status !== 304) h['Content-Length'] = 0;
  res.writeHead(status, h); res.end(ctx.req.method === 'HEAD' ? undefined : body);
}
function refuse(ctx, x) {
  if (!(x instanceof Refusal)) { console.error(x); x = new Refusal('broken'); }
  const [status, text] = CODES[x.code];
  const a = { status, body: { fault: { code: x.code, text, trace: ctx.id, ...(x.wrong && { wrong: x.wrong }) } }, headers: x.headers };
  const headers = { ...x.headers };
  if (F('refusal-sunset')) { delete ctx.out.Sunset; }
  send(ctx, status, a.body, headers);
  return a;
}
function readBody(ctx) {
  const { req } = ctx;
  return new Promise((yes, nay) => {
    if (!(Number(req.headers['content-length']) > 0) && !req.headers['transfer-encoding']) return yes(Buffer.alloc(0));
    const max = F('body-4095') ? 4095 : 4096, parts = []; let n = 0;
    if (Number(req.headers['content-length']) > max) { ctx.out.Connection = 'close'; req.resume(); return nay(new Refusal('too_big')); }
    const timer = setTimeout(() => { ctx.out.Connection = 'close'; nay(new Refusal('too_long')); }, 15e3);
    req.on('data', d => { n += d.length; if (n > max) { clearTimeout(timer); ctx.out.Connection = 'close'; nay(new Refusal('too_big')); } else parts.push(d); });
    req.on('end', () => { clearTimeout(timer); yes(Buffer.concat(parts)); });
    req.on('error', () => { clearTimeout(timer); nay(new Refusal('garbled')); });
  });
}
function params(ctx, search, names) {
  const p = {};
  if (search) for (const [k, v] of new URLSearchParams(search)) {
    if (!names.includes(k)) no('bad_query', [{ in: 'query', path: k, expected: 'no such parameter' }]);
    if (has(p, k)) no('bad_query', [{ in: 'query', path: k, expected: 'one value' }]);
    p[k] = v;
  }
  ctx.params = p;
}
async function handle(req, res) {
  if (frozen === null) due(now());
  const ctx = { req, res, id: 'r-' + crypto.randomBytes(8).toString('hex'), v: NEW, caller: null, addr: req.socket.remoteAddress, out: {} };
  ctx.out['X-Trace'] = ctx.id;
  let record = null;
  try {
    if (Buffer.byteLength(req.url) > 2048) no('too_big');
    let hs = 0; const raw = req.rawHeaders; for (let i = 0; i < raw.length; i += 2) hs += raw[i].length + raw[i + 1].length + 4;
    if (hs > 8192) no('too_big');
    const qm = req.url.indexOf('?'), path = qm < 0 ? req.url : req.url.slice(0, qm), search = qm < 0 ? '' : req.url.slice(qm + 1);
    const rest = path.startsWith(BASE + '/') ? path.slice(BASE.length) : null;
    const hit = rest === null ? null : route(rest);
    if (!hit) no('not_here');
    const said = req.headers['rink-edition'];
    let methods = hit.n.methods;
    if (said === OLD && [...methods.values()].some(m => m.o.since)) { Object.assign(ctx.out, OLD_HEADERS); methods = new Map([...methods].filter(([, m]) => !m.o.since)); if (!methods.size) no('not_here'); }
    const allow = [...methods.keys()]; if (methods.has('GET')) allow.push('HEAD'); allow.push('OPTIONS');
    if (req.method === 'OPTIONS') return send(ctx, 204, undefined, { Allow: allow.join(', ') });
    const found = methods.get(req.method === 'HEAD' ? 'GET' : req.method);
    if (!found) no('no_such_verb', undefined, { Allow: allow.join(', ') });
    ctx.out.Vary = 'Rink-Edition, Authorization';
    if (said !== undefined) { if (said !== OLD && said !== NEW) { if (!F('edition-any')) no('bad_query', [{ in: 'header', path: 'Rink-Edition', expected: OLD + ', ' + NEW }]); } else ctx.v = said; }
    ctx.out['Rink-Edition'] = ctx.v;
    if (ctx.v === OLD) {
      Object.assign(ctx.out, OLD_HEADERS, { Link: `<https://ice.kingsmere.example/editions>; rel="deprecation", <${req.url}>; rel="successor-version"` });
      if (now() >= SUNSET && !F('past-sunset')) no('old_edition');
    }
    const { op, o, names } = found;
    ctx.op = op; ctx.rule = MAY[op];
    ctx.path = {}; names.forEach((n, i) => { if (n) ctx.path[n] = hit.parts[i]; });
    ctx.caller = who(ctx, o.accept ?? ['pass', 'desk']);
    if (!ctx.rule.any) {
      if (!(ctx.rule.row ?? ctx.rule.next)[ctx.caller.user]) no('not_yours');
      if (ctx.rule.scope && !ctx.caller.scopes.has(ctx.rule.scope) && !(F('scope-unasked') && op === 'delete sheet')) no('no_scope');
    }
    rates(ctx);
    params(ctx, search, o.query ?? []);
    let key = null;
    if (req.method === 'POST') {
      key = req.headers['idempotency-key'];
      if (!key && o.keyNeeded) no('bad_query', [{ in: 'header', path: 'Idempotency-Key', expected: 'a key' }]);
    }
    o.early?.(ctx);
    if (o.stream) return openStream(ctx);
    let bytes = Buffer.alloc(0);
    if (o.body) {
      const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
      const sent = Number(req.headers['content-length']) > 0 || req.headers['transfer-encoding'];
      if (sent && type !== 'application/json' && !(req.method === 'PATCH' && type === 'application/merge-patch+json')) { no('not_json'); }
      bytes = await readBody(ctx);
      if (!bytes.length) no('garbled');
      try { ctx.body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)); } catch { no('garbled'); }
    } else if (Number(req.headers['content-length']) > 0 || req.headers['transfer-encoding']) bytes = await readBody(ctx);
    if (key) {
      const k = [F('key-shared') ? '' : ctx.caller.user, F('key-shared') ? '' : ctx.caller.id, op, key].join('\n'), print = sha([path, search, ctx.v, bytes.toString('base64')].join('\n'));
      const was = KEYS.get(k);
      if (was) {
        if (was.print !== print && !F('key-any-body')) no('key_reused');
        return send(ctx, was.status, was.body, was.headers);
      }
      record = { k, print };
    }
    const a = o.run(ctx), headers = {};
    if (a.location) headers.Location = a.location;
    let status = a.body === undefined && a.status !== 201 ? 204 : a.status;
    if (o.etag) {
      headers.ETag = tagOf(a.row, a.res, ctx.caller, ctx.v);
      const inm = req.headers['if-none-match'];
      if (inm && (req.method === 'GET' || req.method === 'HEAD') && (inm.trim() === '*' || inm.split(',').some(x => x.trim().replace(/^W\//, '') === headers.ETag))) return send(ctx, 304, undefined, headers);
    }
    if (record) keep(record, { status, body: a.again ?? a.body, headers });
    send(ctx, status, a.body, headers);
  } catch (x) {
    const a = refuse(ctx, x);
    if (record && x instanceof Refusal && OWN.has(x.code) && !F('own-anew')) keep(record, a);
  }
}
function keep({ k, print }, { status, body, headers }) {
  KEYS.set(k, { print, status, body, headers }); at(now() + 12 * HOUR, () => KEYS.delete(k));
}
function openStream(ctx) {
  let mine = 0; for (const s of streams) if (s.caller.id === ctx.caller.id && s.caller.user === ctx.caller.user) mine++;
  if (mine >= 32) no('slow_down');
  const s = { res: ctx.res, caller: ctx.caller, v: ctx.v };
  ctx.res.writeHead(200, { ...ctx.out, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  if (ctx.req.method === 'HEAD') return ctx.res.end();
  ctx.res.write(': here\n\n');
  const last = ctx.req.headers['last-event-id'];
  if (last !== undefined) {
    while (keptFrom < kept.length && kept[keptFrom].t < now() - 6 * HOUR) keptFrom++;
    let i = kept.length - 1; while (i >= keptFrom && kept[i].id !== last) i--;
    for (i = Math.max(keptFrom, i + 1); i < kept.length; i++) sendStream(s, kept[i]);
  }
  streams.add(s); ctx.res.on('close', () => streams.delete(s)); ctx.res.on('error', () => streams.delete(s));
}
setInterval(() => { for (const s of streams) s.res.write(':\n\n'); }, 15e3).unref();

const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 0, keepAliveTimeout: 60e3, joinDuplicateHeaders: false }, (q, s) => { handle(q, s).catch(x => { console.error(x); try { s.destroy(); } catch {} }); });
server.on('clientError', (e, sock) => { if (sock.writable) sock.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'); });
server.listen(PORT, '127.0.0.1');

// ---- the clock door ---------------------------------------------------------------------------------------------
function later(d) {
  const m = /^P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(d);
  if (!m) return null;
  const n = m.slice(1).map(x => Number(x ?? 0)), b = new Date(now());
  if (n[0] || n[1]) { const day = b.getUTCDate(); b.setUTCDate(1); b.setUTCMonth(b.getUTCMonth() + n[0] * 12 + n[1]); b.setUTCDate(Math.min(day, new Date(Date.UTC(b.getUTCFullYear(), b.getUTCMonth() + 1, 0)).getUTCDate())); }
  return b.getTime() + n[2] * 7 * DAY + n[3] * DAY + n[4] * HOUR + n[5] * MIN + Math.round(n[6] * 1000);
}
http.createServer((req, res) => {
  const say = (status, body) => { const b = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(b) }); res.end(b); };
  if (req.method === 'GET') return say(200, { now: iso(now()) });
  let s = ''; req.on('data', d => { if (s.length < 10000) s += d; });
  req.on('end', () => {
    if (req.method !== 'POST') return say(400, {});
    let b; try { b = JSON.parse(s); } catch { return say(400, {}); }
    if (typeof b !== 'object' || !b || Object.keys(b).length !== 1) return say(400, {});
    const t = typeof b.advance === 'string' ? later(b.advance) : typeof b.now === 'string' ? instant(b.now) : null;
    if (t === null || !(t < 8e15)) return say(400, {});
    if (t < now()) return say(422, { now: iso(now()) });
    moveTo(t); setImmediate(() => say(200, { now: iso(now()) }));
  });
}).listen(CLOCK, '127.0.0.1');
process.on('uncaughtException', x => console.error(x));
process.on('unhandledRejection', x => console.error(x));
