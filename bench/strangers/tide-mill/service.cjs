'use strict';
const http = require('node:http'), https = require('node:https'), crypto = require('node:crypto');
const { isUtf8 } = require('node:buffer');
const arg = n => { const i = process.argv.indexOf('--' + n); return i < 0 ? undefined : process.argv[i + 1]; };
const F = {}; if (arg('fault')) F[arg('fault')] = true;

// ---- the clock
let offset = 0;
const now = () => Date.now() + offset;
const setNow = t => { const d = t - now(); if (d > 0) offset += d; };
const iso = t => new Date(t).toISOString();
const heap = []; let tseq = 0, tick = null;
const less = (a, b) => a.t < b.t || (a.t === b.t && a.n < b.n);
function push(x) { let i = heap.push(x) - 1; while (i) { const p = (i - 1) >> 1; if (!less(heap[i], heap[p])) break; [heap[i], heap[p]] = [heap[p], heap[i]]; i = p; } }
function pop() {
  const top = heap[0], last = heap.pop();
  if (heap.length) { heap[0] = last; let i = 0; for (;;) { let c = 2 * i + 1; if (c >= heap.length) break; if (c + 1 < heap.length && less(heap[c + 1], heap[c])) c++; if (!less(heap[c], heap[i])) break; [heap[i], heap[c]] = [heap[c], heap[i]]; i = c; } }
  return top;
}
function at(t, run) { const x = { t, n: tseq++, run }; push(x); if (heap[0] === x) arm(); return x; }
function arm() { clearTimeout(tick); if (heap.length) tick = setTimeout(fire, Math.min(Math.max(heap[0].t - now(), 0), 1e9)); }
let moving = false;
function fire() { if (moving) return; while (heap.length && heap[0].t <= now()) { const x = pop(); if (x.run) x.run(); } arm(); }
const drop = x => { if (x) x.run = null; };
async function settle(ms) { const end = Date.now() + ms; while (inflight > 0 && Date.now() < end) await new Promise(r => setTimeout(r, 3)); }
async function moveTo(target) {
  moving = true;
  try {
    pumpAll(); await settle(400);
    while (heap.length && heap[0].t <= target) { const x = pop(); if (!x.run) continue; setNow(x.t); x.run(); pumpAll(); if (inflight) await settle(400); }
    setNow(target); pumpAll();
  } finally { moving = false; }
  fire();
}
const DAY = 864e5;

// ---- callers
const CALLERS = [
  ['farmer', 'f-aldous', 'brand', 'brand_aldousAldousAldous12345678', ['bring'], 'north'],
  ['farmer', 'f-brida', 'brand', 'brand_bridaBridaBridaBri12345678', ['bring'], 'south'],
  ['farmer', 'f-hob', 'brand', 'brand_hobHobHobHobHobHob12345678', [], 'north'],
  ['miller', 'm-corb', 'brand', 'brand_corbCorbCorbCorbCo12345678', ['works'], 'north'],
  ['miller', 'm-dunn', 'brand', 'brand_dunnDunnDunnDunnDu12345678', [], 'south'],
  ['reeve', 'r-ede', 'tally', 'tally_edeEdeEdeEdeEdeEde12345678', ['works', 'accounts'], 'north'],
  ['reeve', 'r-fenn', 'tally', 'tally_fennFennFennFennFe12345678', ['works', 'accounts'], 'south'],
  ['reeve', 'r-gale', 'tally', 'tally_galeGaleGaleGaleGa12345678', [], 'north'],
].map(([user, id, scheme, key, scopes, parish]) => ({ user, id, scheme, key, scopes, parish, ck: user + ' ' + id }));
const KEYS = { brand: new Map(), tally: new Map() };
for (const c of CALLERS) KEYS[c.scheme].set(c.key, c);

// ---- shapes
const dt = { type: 'string', dt: true };
const RES = {
  stone: { id: 'id', f: {
    id: { type: 'string', ro: 1 }, name: { type: 'string', minL: 2, maxL: 30, req: 1 }, pair: { type: 'string', en: ['french_burr', 'derbyshire_peak', 'cullin'], req: 1 },
    diameter_cm: { type: 'integer', min: 60, max: 180, req: 1 }, cost_pence: { type: 'integer', min: 0, max: 1000000, vis: ['reeve'], wr: ['reeve'] },
    face: { type: 'string', ro: 1, en: ['sharp', 'worn', 'dressing'] }, gear: { type: 'string', ro: 1, en: ['lifted', 'engaged'] }, waiting: { type: 'integer', ro: 1 } } },
  tide: { id: 'key', f: {
    key: { type: 'string', pat: /^[0-9]{8}-[ab]$/, pt: '^[0-9]{8}-[ab]$', req: 1 }, high_at: { ...dt, req: 1 }, low_at: { ...dt, req: 1 }, height_cm: { type: 'integer', min: 100, max: 900, req: 1 },
    span: { type: 'string', ro: 1, en: ['neap', 'spring'] }, recorded_by: { type: 'string', ro: 1, vis: ['miller', 'reeve'] } } },
  grist: { id: 'id', f: {
    id: { type: 'string', ro: 1 }, ticket: { type: 'string', ro: 1 }, turn: { type: 'integer', ro: 1 }, stone: { type: 'string', ref: 'stone', imm: 1, req: 1 }, farmer: { type: 'string', ro: 1 }, parish: { type: 'string', ro: 1 },
    corn: { type: 'string', en: ['wheat', 'barley', 'rye', 'oats'], req: 1 }, bushels: { type: 'integer', min: 1, max: 60, req: 1 }, fineness: { type: 'string', en: ['coarse', 'middling', 'fine'], def: 'coarse', req: 1 },
    note: { type: 'string', minL: 1, maxL: 200 }, miller_note: { type: 'string', maxL: 200, vis: ['miller', 'reeve'], wr: ['miller'] },
    toll: { type: 'integer', ro: 1 }, sacks_out: { type: 'integer', ro: 1 }, stage: { type: 'string', ro: 1, en: ['queued', 'grinding', 'ground', 'collected', 'withdrawn', 'spoiled'] }, brought_at: { ...dt, ro: 1 } } },
  delivery: { id: 'id', f: {
    id: { type: 'string', ro: 1 }, grist: { type: 'string', ref: 'grist', imm: 1, req: 1, path: 1 }, owner: { type: 'string', ro: 1 }, sacks: { type: 'integer', min: 1, max: 80, req: 1 },
    to: { type: 'object', req: 1, f: { lane: { type: 'string', minL: 1, maxL: 60, req: 1 }, village: { type: 'string', minL: 2, maxL: 40, req: 1 } } },
    status: { type: 'string', ro: 1, en: ['loaded', 'on_road', 'arrived', 'lost', 'cancelled'] }, left_at: { ...dt, ro: 1 }, received_by: { type: 'string', ro: 1 } } },
  due: { id: 'no', f: {
    no: { type: 'integer', ro: 1 }, grist: { type: 'string', ro: 1 }, payer: { type: 'string', ro: 1 }, parish: { type: 'string', ro: 1 }, pence: { type: 'integer', ro: 1 },
    status: { type: 'string', ro: 1, en: ['owing', 'overdue', 'paid', 'waived'] }, pay_by: { ...dt, ro: 1 }, paid_at: { ...dt, ro: 1 }, waived_for: { type: 'string', ro: 1 } } },
  crier: { id: 'id', f: {
    id: { type: 'string', ro: 1 }, owner: { type: 'string', ro: 1 }, url: { type: 'string', uri: 1, maxL: 300, req: 1 }, kinds: { type: 'array', maxI: 10 }, enabled: { type: 'boolean', def: true, req: 1 }, secret: { type: 'string', ro: 1, once: 1 } } },
  entry: { id: 'id', f: { id: { type: 'string', ro: 1 }, kind: { type: 'string', ro: 1 }, about: { type: 'string', ro: 1 }, at: { ...dt, ro: 1 } } },
};
for (const r in RES) { RES[r].name = r; RES[r].rows = new Map(); RES[r].list = Object.entries(RES[r].f); }
RES.grist.f.turn.within = 1;
const KINDS = ['grist.brought', 'grist.changed', 'grist.ground', 'grist.spoiled', 'due.raised', 'due.settled', 'due.nearing', 'delivery.arrived', 'stone.worn', 'crier.hushed'];
const kindOk = k => k === '*' || KINDS.includes(k) || (k.endsWith('.*') && KINDS.some(x => x.startsWith(k.slice(0, -1))));
const kindFits = (list, kind) => !list || list.some(k => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))));
const PAIR_DOWN = { french_burr: 'burr', derbyshire_peak: 'peak' }, PAIR_UP = { burr: 'french_burr', peak: 'derbyshire_peak' };
// fields of a version: name shown -> [stored name, shape]
const fieldsIn = (res, ver) => RES[res].vf[ver];
for (const r in RES) {
  RES[r].vf = { neap: new Map(RES[r].list.map(([n, s]) => [n, [n, s]])) };
  RES[r].vf.spring = new Map(RES[r].list.filter(([n]) => !(r === 'grist' && n === 'fineness')).map(([n, s]) =>
    r === 'grist' && n === 'bushels' ? ['measures', [n, s]] : r === 'stone' && n === 'pair' ? [n, [n, { ...s, en: ['burr', 'peak', 'cullin'] }]] : [n, [n, s]]));
}
const DTRE = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function instant(s) {
  const m = DTRE.exec(s); if (!m) return NaN;
  if (+m[2] < 1 || +m[2] > 12 || +m[3] < 1 || +m[3] > new Date(Date.UTC(+m[1], +m[2], 0)).getUTCDate() || +m[4] > 23 || +m[5] > 59 || +m[6] > 60) return NaN;
  if (m[8].length > 1 && (+m[8].slice(1, 3) > 23 || +m[8].slice(4) > 59)) return NaN;
  return Date.parse(s.toUpperCase().replace(/:60(\.\d+)?(?=[Z+-])/, ':59.999'));
}
const len = s => { let n = 0; for (const _ of s) n++; return n; };
function want(s) {
  if (s.en) return 'one of ' + s.en.join(', ');
  if (s.type === 'integer') return `an integer from ${s.min} to ${s.max}`;
  if (s.dt) return 'a date-time'; if (s.uri) return 'a URI'; if (s.pt) return 'a text like ' + s.pt;
  if (s.type === 'string') return `a text of ${s.minL || 0} to ${s.maxL || 'any number of'} characters`;
  return 'a value of type ' + s.type;
}
const told = v => { const t = JSON.stringify(v); return t === undefined ? 'nothing' : t.length > 60 ? t.slice(0, 60) + '…' : t; };
const bad = (vs, kind, path, found, expected) => { vs.push({ kind, in: 'body', path: F['x3'] ? '/' + path.replace(/\./g, '/') : path, found: told(found), expected }); };
function fits(v, s, path, vs) {
  const t = v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'number' ? (Number.isInteger(v) ? 'integer' : 'number') : typeof v;
  if (t !== s.type) { bad(vs, 'type', path, v, want(s)); return; }
  if (t === 'string') {
    if ((s.en && !s.en.includes(v)) || (s.minL && len(v) < s.minL) || (s.maxL && len(v) > s.maxL) || (s.pat && !s.pat.test(v)) || (s.dt && Number.isNaN(instant(v))) || (s.uri && !uriOk(v))) bad(vs, 'value', path, v, want(s));
  } else if (t === 'integer') { if (v < s.min || v > s.max) bad(vs, 'value', path, v, want(s)); }
  else if (t === 'array') {
    if (v.length > s.maxI) bad(vs, 'value', path, v, 'at most ' + s.maxI + ' items');
    else v.forEach((x, i) => { if (typeof x !== 'string') bad(vs, 'type', path + '.' + i, x, 'a text'); else if (!kindOk(x)) bad(vs, 'value', path + '.' + i, x, 'a kind of event'); });
  } else if (t === 'object') {
    for (const k in v) { const fs = Object.hasOwn(s.f, k) ? s.f[k] : undefined; if (!fs) bad(vs, 'unknown', path + '.' + k, v[k], 'no such field'); else fits(v[k], fs, path + '.' + k, vs); }
    for (const k in s.f) if (s.f[k].req && !Object.hasOwn(v, k) && !(F['r12'] && k === 'village')) bad(vs, 'missing', path + '.' + k, undefined, want(s.f[k]));
  }
}
function uriOk(v) { if (!/^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]*$/.test(v) || /[<>"{}|\\^`]/.test(v)) return false; try { const u = new URL(v); return u.protocol === 'http:' || u.protocol === 'https:'; } catch { return false; } }

// ---- errors
class No extends Error { constructor(code, more) { super(code); this.code = code; Object.assign(this, more); } }
No.prototype.stack = '';
Error.stackTraceLimit = 0;
const STATUS = { lacks_field: 400, odd_field: 400, unfit: 422, unreadable: 400, no_body: 400, wrong_kind: 415, no_such_answer: 406, odd_query: 400, odd_page: 416, no_road: 404, not_that_way: 405, who_goes: 401, false_mark: 401, not_yours: 403, lacks_grant: 403, not_here: 404, name_taken: 409, leads_nowhere: 422, still_used: 409, not_in_turn: 409, too_late: 409, stone_idle: 409, blunt_stone: 409, still_engaged: 409, already_gone: 409, settled_already: 409, worn_stone: 409, too_much_fine: 422, not_ground: 409, too_many_sacks: 422, changed_since: 412, tag_wanted: 428, docket_reused: 422, docket_busy: 409, slow_down: 429, enough: 403, too_big: 413, long_road: 414, too_slow: 408, no_edition: 400, old_edition: 410, closed: 503, broken: 500 };
if (F['x1']) STATUS.too_late = 400;
const SAY = { too_late: 'The corn is on the stone already or gone.', stone_idle: 'The stone of this grist does not turn.', blunt_stone: 'A stone that is not sharp is not engaged.', still_engaged: 'Lift the stone before it is dressed.', already_gone: 'The cart has left.', settled_already: 'Nothing is owed any more.', worn_stone: 'That stone takes no corn now.', too_much_fine: 'Fine meal is ground up to 40 bushels.', not_ground: 'There is no meal to carry.', too_many_sacks: 'Two sacks for each bushel at the most.' };
const OWN = new Set(['worn_stone', 'too_much_fine', 'not_ground', 'too_many_sacks']);
const invalid = vs => {
  const first = vs[0];
  throw new No(first.kind === 'missing' ? 'lacks_field' : first.kind === 'unknown' ? 'odd_field' : 'unfit', { wrong: vs.map(({ in: i, path, found, expected }) => ({ in: i, path, found, expected })) });
};

// ---- rows
const S = RES.stone.rows, T = RES.tide.rows, G = RES.grist.rows, D = RES.delivery.rows, U = RES.due.rows, C = RES.crier.rows, E = RES.entry.rows;
const names = new Map(), byStone = new Map(), byGrist = new Map(), duesOf = new Map(), queuedOf = new Map();
const into = (m, k, v) => { const s = m.get(k); if (s) s.add(v); else m.set(k, new Set([v])); };
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', LOW = 'abcdefghijklmnopqrstuvwxyz0123456789';
let pool = Buffer.alloc(0), pp = 0;
const rnd = n => { for (;;) { if (pp >= pool.length) { pool = crypto.randomBytes(4096); pp = 0; } const b = pool[pp++]; if (b < 256 - 256 % n) return b % n; } };
const random = (n, from = ALNUM) => { let s = ''; while (n--) s += from[rnd(from.length)]; return s; };
let tickets = 0, dues = 0, seq = 0; const turns = new Map();
const waiting = s => { let n = 0; const set = byStone.get(s.id); if (set) for (const g of set) if (g.stage === 'queued' || (F['r13'] && g.stage === 'grinding')) n++; return n; };
const sacksOut = id => { let n = 0; const set = byGrist.get(id); if (set) for (const d of set) if (d.status !== 'cancelled') n += d.sacks; return n; };
const META = new WeakMap(); const meta = row => { let m = META.get(row); if (!m) META.set(row, m = {}); return m; };
function view(res, row, user, ver, once, list) {
  const out = {}, limited = res === 'due' && user === 'miller';
  const fs = F['w1'] && list ? RES[res].vf.neap : RES[res].vf[ver];
  for (const [shown, [name, s]] of fs) {
    if (s.vis && !s.vis.includes(user) && !(F['r4'] && name === 'cost_pence' && user === 'miller')) continue;
    if (s.once && !once && !F['r8']) continue;
    if (limited && name !== 'no' && name !== 'grist' && name !== 'status' && !(F['a2'] && name === 'pence')) continue;
    let v = row[name];
    if (name === 'waiting' && res === 'stone') v = waiting(row); else if (name === 'sacks_out') v = sacksOut(row.id);
    if (v === undefined) continue;
    if (ver === 'spring') { if (res === 'stone' && name === 'pair') v = PAIR_DOWN[v] || v; else if (res === 'due' && name === 'pence') v = v / 12; }
    out[shown] = v;
  }
  return out;
}
const etag = o => '"' + crypto.createHash('sha1').update(JSON.stringify(o)).digest('base64url') + '"';
const MAYREAD = {
  stone: () => true, tide: () => true,
  grist: (c, r) => c.user === 'miller' || (c.user === 'farmer' ? r.farmer === c.id : r.parish === c.parish),
  delivery: (c, r) => c.user === 'miller' || (c.user === 'farmer' && r.owner === c.id),
  due: (c, r) => c.user === 'miller' || (c.user === 'farmer' ? r.payer === c.id : r.parish === c.parish),
  crier: (c, r) => r.owner === c.id, entry: c => c.user === 'reeve',
};

// ---- events
function emit(kind, res, row, data) {
  const id = 'ev_' + random(20), t = now(), about = String(row[RES[res].id]);
  const e = { id, kind, about, at: iso(t) }; purge(); E.set(id, e); meta(e).t = t;
  for (const sub of C.values()) {
    if (!sub.enabled || !kindFits(sub.kinds, kind)) continue;
    const m = meta(sub);
    if (!MAYREAD[res](m.maker, row) && !(F['v7'] && kind === 'grist.brought')) continue;
    let load = kind === 'crier.hushed' ? about : data || view(res, row, m.maker.user, m.ver);
    if (F['v3'] && kind === 'due.raised') load = about;
    const key = res + ' ' + about, q = m.queues.get(key) || { items: [], ready: 0, busy: false };
    m.queues.set(key, q);
    q.items.push({ id, kind, tries: 0, body: JSON.stringify({ news: id, kind, cried_at: e.at, load }) });
    m.pending = true;
  }
  if (!pumpWanted) { pumpWanted = true; setImmediate(pumpAll); }
}
let pumpWanted = false;
function pumpAll() { if (!pumpWanted) return; pumpWanted = false; for (const s of C.values()) { const m = meta(s); if (m.pending) { m.pending = false; pump(s); } } }
function purge() { const t = now() - 30 * DAY; for (const e of E.values()) { if (meta(e).t > t) break; E.delete(e.id); } }
let inflight = 0; const RETRY = [10e3, 120e3, 1200e3];
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 }), agents = new https.Agent({ keepAlive: true });
function pump(sub) {
  const m = meta(sub); if (!m.queues || !sub.enabled || m.gone) return;
  if (m.hold > now()) return;
  for (const [key, q] of m.queues) {
    if (m.out >= (m.failing ? 1 : 32)) return;
    if (q.busy) continue;
    if (!q.items.length) { m.queues.delete(key); continue; }
    if (q.ready > now()) continue;
    send(sub, m, q);
  }
}
function send(sub, m, q) {
  const d = q.items[0]; q.busy = true; m.out++; inflight++; d.tries++;
  const stamp = String(Math.floor(now() / 1000));
  const wax = crypto.createHmac('sha256', sub.secret).update(F['v1'] ? `${stamp}.${d.body}` : `${stamp}.${d.id}.${d.body}`).digest('hex');
  let over = false, limit = null, rq = null;
  const end = (ok, status, after) => {
    if (over) return; over = true; drop(limit); inflight--; m.out--; q.busy = false;
    if (m.gone || !sub.enabled) return;
    if (ok) { m.failing = 0; q.items.shift(); q.ready = 0; }
    else {
      if (!m.failing) m.failing = now();
      if (status === 410 || now() - m.failing >= 2 * DAY) return disable(sub);
      if (d.tries > (F['v5'] ? 1 : RETRY.length)) { q.items.shift(); q.ready = 0; }
      else {
        let wait = RETRY[d.tries - 1];
        if (after > 0) { const h = Math.min(after * 1000, DAY); m.hold = Math.max(m.hold, now() + h); wait = Math.max(wait, h); at(m.hold, () => pump(sub)); }
        q.ready = now() + wait; at(q.ready, () => pump(sub));
      }
    }
    pump(sub);
  };
  limit = at(now() + 5000, () => { if (rq) rq.destroy(); end(false, 0, 0); });
  try {
    const u = new URL(sub.url), s = u.protocol === 'https:';
    rq = (s ? https : http).request(u, { method: 'POST', agent: s ? agents : agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(d.body), 'mill-seal': `at=${stamp},wax=${wax}`, 'x-mill-news': d.kind } }, rs => {
      const st = rs.statusCode, ra = rs.headers['retry-after']; rs.resume(); rs.on('error', () => {});
      const after = ra === undefined ? 0 : /^\d+$/.test(ra) ? +ra : Math.max(0, (Date.parse(ra) - now()) / 1000) || 0;
      end(st >= 200 && st < 300, st, after);
    });
    rq.on('error', () => end(false, 0, 0)); rq.end(d.body);
  } catch { end(false, 0, 0); }
}
function disable(sub) { sub.enabled = false; const m = meta(sub); m.queues.clear(); m.failing = 0; emit('crier.hushed', 'crier', sub); }

// ---- machines
function enterFace(s, face) {
  s.face = face; const m = meta(s); drop(m.wear);
  if (face === 'sharp') m.wear = at(now() + 60 * DAY, () => { if (!S.has(s.id) || s.face !== 'sharp') return; enterFace(s, 'worn'); emit('stone.worn', 'stone', s); if (s.gear === 'engaged' && !F['s2']) s.gear = 'lifted'; });
}
function enterStage(g, stage) {
  if (g.stage === 'queued') queuedOf.set(g.farmer, queuedOf.get(g.farmer) - 1);
  g.stage = stage; const m = meta(g); drop(m.spoil);
  if (stage === 'queued') queuedOf.set(g.farmer, (queuedOf.get(g.farmer) || 0) + 1);
  if (stage === 'ground') m.spoil = at(now() + (F['s1'] ? 15 : 14) * DAY, () => { if (!G.has(g.id) || g.stage !== 'ground') return; enterStage(g, 'spoiled'); emit('grist.spoiled', 'grist', g); });
}
function makeDue(g) {
  const t = now(), d = { no: ++dues, grist: g.id, payer: g.farmer, parish: g.parish, pence: g.toll, status: 'owing', pay_by: iso(t + 504 * 36e5) };
  U.set(d.no, d); into(duesOf, g.id, d); emit('due.raised', 'due', d);
  at(t + 504 * 36e5 - (F['v6'] ? 48 : 72) * 36e5, () => { if (d.status === 'owing') emit('due.nearing', 'due', d); });
  at(t + 504 * 36e5, () => { if (d.status === 'owing') d.status = F['s9'] ? 'late' : 'overdue'; });
}
const illegal = () => { throw new No('not_in_turn'); };
const MOVES = {
  engage: s => { if (s.gear !== 'lifted') illegal(); if (s.face !== 'sharp' && !F['s6']) throw new No('blunt_stone'); s.gear = 'engaged'; },
  lift: s => { if (s.gear !== 'engaged') illegal(); s.gear = 'lifted'; },
  dress: s => { if (s.face !== 'sharp' && s.face !== 'worn') illegal(); if (s.gear !== 'lifted') throw new No('still_engaged'); enterFace(s, 'dressing'); },
  true: s => { if (s.face !== 'dressing') illegal(); enterFace(s, 'sharp'); },
  start: g => { if (g.stage !== 'queued') illegal(); if (S.get(g.stone).gear !== 'engaged' && !F['s3']) throw new No('stone_idle'); enterStage(g, 'grinding'); },
  finish: g => { if (g.stage !== 'grinding') illegal(); enterStage(g, 'ground'); emit('grist.ground', 'grist', g); if (!F['s5']) makeDue(g); },
  collect: g => { if (g.stage !== 'ground') illegal(); enterStage(g, 'collected'); },
  withdraw: g => { if (g.stage !== 'queued' && !(F['s4'] && g.stage === 'grinding')) throw new No('too_late'); enterStage(g, 'withdrawn'); },
  depart: d => { if (d.status !== 'loaded') illegal(); d.status = 'on_road'; d.left_at = iso(now()); if (!F['s8']) loseLater(d, now()); else loseLater(d, meta(d).made); },
  arrive: (d, c, b) => { if (d.status !== 'on_road') illegal(); d.status = 'arrived'; d.received_by = b.received_by; emit('delivery.arrived', 'delivery', d); },
  cancel: d => { if (d.status !== 'loaded') throw new No('already_gone'); d.status = 'cancelled'; },
  pay: d => { if (d.status !== 'owing' && (d.status !== 'overdue' || F['s7'])) throw new No('settled_already'); d.status = 'paid'; d.paid_at = iso(now()); emit('due.settled', 'due', d); },
  waive: (d, c, b) => { if (d.status !== 'owing' && d.status !== 'overdue') throw new No('settled_already'); d.status = 'waived'; d.waived_for = b.reason; if (!F['v4']) emit('due.settled', 'due', d); },
};
const loseLater = (d, from) => at(from + 3 * DAY, () => { if (D.has(d.id) && d.status === 'on_road') d.status = 'lost'; });

// ---- taking a body
function take(res, body, ctx, patch, row) {
  const vs = [], got = {}, fs = fieldsIn(res, ctx.ver), user = ctx.caller.user;
  if (body === null || typeof body !== 'object' || Array.isArray(body)) { bad(vs, 'type', '', body, 'a map'); invalid(vs); }
  for (const k in body) {
    const e = fs.get(k); if (!e) { bad(vs, 'unknown', k, body[k], 'no such field'); continue; }
    const [name, s] = e; let v = body[k];
    if (s.ro || (s.wr && !s.wr.includes(user))) continue;
    if (patch && v === null) { if (s.req) bad(vs, 'value', k, v, want(s)); else got[name] = null; continue; }
    const n = vs.length; fits(v, s, k, vs); if (vs.length > n) continue;
    if (patch && s.imm) { if (v !== row[name] && !F['r10']) bad(vs, 'value', k, v, 'what it was'); continue; }
    if (s.path && v !== ctx.parent.id) { bad(vs, 'value', k, v, 'what the path says'); continue; }
    if (ctx.ver === 'spring' && res === 'stone' && name === 'pair') v = PAIR_UP[v] || v;
    got[name] = v;
  }
  if (res === 'tide' && !F['r9'] && got.low_at !== undefined && got.high_at !== undefined && instant(got.low_at) <= instant(got.high_at)) bad(vs, 'value', 'low_at', got.low_at, 'a time after high water');
  if (!patch) for (const [k, [name, s]] of fs) if (s.req && !s.ro && s.def === undefined && !s.path && !Object.hasOwn(body, k)) bad(vs, 'missing', k, undefined, want(s));
  if (vs.length) invalid(vs);
  if (!patch) for (const [name, s] of RES[res].list) if (s.def !== undefined && got[name] === undefined) got[name] = s.def;
  return got;
}
function takeInline(body, field, s) {
  const vs = [];
  if (body === null || typeof body !== 'object' || Array.isArray(body)) bad(vs, 'type', '', body, 'a map');
  else if (!Object.hasOwn(body, field)) bad(vs, 'missing', field, undefined, want(s)); else fits(body[field], s, field, vs);
  if (vs.length) invalid(vs);
}
const toll = g => g.bushels * (g.fineness === 'fine' ? 3 : 2);
function fineCheck(g) { if (g.fineness === 'fine' && g.bushels > 40) throw new No('too_much_fine'); }
const quotas = new Map();

const CREATE = {
  stone(b, ctx) {
    const g = take('stone', b, ctx);
    if (names.has(g.name) && !F['r3']) throw new No('name_taken');
    const s = { id: 'st' + crypto.randomBytes(4).toString('hex'), ...g, face: 'sharp', gear: 'lifted' };
    S.set(s.id, s); names.set(s.name, s); enterFace(s, 'sharp'); return s;
  },
  tide(b, ctx) {
    const g = take('tide', b, ctx), was = T.get(g.key);
    if (was && !F['e7']) { ctx.found = true; return was; }
    const t = { ...g, span: g.height_cm >= (F['r1'] ? 500 : 480) ? 'spring' : 'neap', recorded_by: ctx.caller.id };
    meta(t).t = instant(t.high_at); meta(t).seq = seq++; T.set(t.key, t); return t;
  },
  grist(b, ctx) {
    const g = take('grist', b, ctx), c = ctx.caller, s = S.get(g.stone);
    if (!s) throw new No('leads_nowhere', { wrong: [{ in: 'body', path: 'stone', found: told(g.stone), expected: 'a stone that is there' }] });
    if (s.face !== 'sharp') throw new No('worn_stone');
    fineCheck(g);
    if ((queuedOf.get(c.id) || 0) >= 25) throw new No('enough');
    const tk = F['r5'] ? '*' : s.id, n = (turns.get(tk) || 0) + 1; turns.set(tk, n);
    const r = { id: 'gr-' + random(10, LOW), ticket: 'T-' + String(++tickets).padStart(5, '0'), turn: n, farmer: c.id, parish: c.parish, ...g, toll: toll(g), brought_at: iso(now()) };
    G.set(r.id, r); meta(r).seq = seq++; into(byStone, r.stone, r); enterStage(r, 'queued'); emit('grist.brought', 'grist', r); return r;
  },
  delivery(b, ctx) {
    const g = take('delivery', b, ctx), p = ctx.parent, t = now();
    if (p.stage !== 'ground') throw new No('not_ground');
    if (sacksOut(p.id) + g.sacks > p.bushels * 2) throw new No('too_many_sacks');
    const day = Math.floor(t / DAY), q = quotas.get(ctx.caller.ck), used = q && q.day === day ? q.n : 0;
    if (used >= (F['l2'] ? 31 : 30)) throw new No('enough', { wait: Math.ceil(((day + 1) * DAY - t) / 1000) });
    quotas.set(ctx.caller.ck, { day, n: used + 1 });
    const d = { id: crypto.randomUUID(), grist: p.id, owner: p.farmer, sacks: g.sacks, to: g.to, status: 'loaded' };
    D.set(d.id, d); into(byGrist, p.id, d); meta(d).made = t; return d;
  },
  crier(b, ctx) {
    const g = take('crier', b, ctx), c = ctx.caller; let n = 0;
    for (const x of C.values()) if (x.owner === c.id) n++;
    if (n >= (F['l4'] ? 7 : 6)) throw new No('enough');
    const r = { id: 'cr_' + random(16), owner: c.id, ...g, secret: 'cry_' + random(32) };
    Object.assign(meta(r), { maker: c, ver: ctx.ver, queues: new Map(), out: 0, failing: 0, hold: 0 }); C.set(r.id, r); return r;
  },
};
function apply(row, got) { let changed = false; for (const k in got) { const v = got[k]; if (v === null ? row[k] !== undefined : JSON.stringify(row[k]) !== JSON.stringify(v)) changed = true; } return changed; }
const merge = (row, got) => { for (const k in got) if (got[k] === null) { if (F['r11'] && k === 'note') row[k] = null; else delete row[k]; } else row[k] = got[k]; };
const UPDATE = {
  stone(row, b, ctx) {
    const got = take('stone', b, ctx, true, row); if (!apply(row, got)) return;
    if (got.name !== undefined && got.name !== row.name) { if (names.has(got.name) && !F['r3']) throw new No('name_taken'); names.delete(row.name); names.set(got.name, row); }
    merge(row, got);
  },
  grist(row, b, ctx) {
    const got = take('grist', b, ctx, true, row);
    if (row.stage !== 'queued') illegal();
    fineCheck({ ...row, ...got });
    if (!apply(row, got)) return;
    const was = row.bushels; merge(row, got); if (!F['r2']) row.toll = toll(row);
    if (row.bushels !== was || F['v2']) emit('grist.changed', 'grist', row, { grist: row.id, was, is: row.bushels });
  },
  crier(row, b, ctx) {
    const got = take('crier', b, ctx, true, row); if (!apply(row, got)) return;
    const m = meta(row), was = row.enabled; merge(row, got);
    if (!row.enabled) m.queues.clear(); if (row.enabled && !was) { m.failing = 0; m.hold = 0; }
  },
};
const DELETE = {
  stone(s) { const set = byStone.get(s.id); if (set && set.size) throw new No('still_used'); S.delete(s.id); if (names.get(s.name) === s) names.delete(s.name); drop(meta(s).wear); },
  grist(g) {
    if (g.stage !== 'withdrawn' && g.stage !== 'spoiled') illegal();
    if (duesOf.get(g.id)?.size && !F['r7']) throw new No('still_used');
    G.delete(g.id); byStone.get(g.stone)?.delete(g); for (const d of byGrist.get(g.id) || []) D.delete(d.id); byGrist.delete(g.id);
  },
  crier(c) { C.delete(c.id); const m = meta(c); m.gone = true; m.queues.clear(); },
};

// ---- permissions
const own = (c, r) => MAYREAD.grist(c, r), ALL = ['farmer', 'miller', 'reeve'], yes = true;
const PERM = {};
const rule = (ops, users, scope, cond) => { for (const o of ops.split(',')) for (const u of [].concat(users)) (PERM[o.trim()] ||= {})[u] = { scope, cond }; };
rule('list tide,read tide', ALL); rule('create tide', 'miller'); rule('list stone,read stone', ALL);
rule('create stone', 'reeve', F['a3'] ? undefined : 'works'); rule('delete stone', 'reeve', 'works'); rule('update stone', ['miller', 'reeve'], 'works');
rule('engage stone,lift stone,dress stone,true stone', 'miller'); rule('create grist', 'farmer', 'bring');
rule('list grist,read grist,update grist,withdraw grist,collect grist,delete grist', 'farmer', undefined, (c, r) => r.farmer === c.id);
rule('list grist,read grist,start grist,finish grist,update grist', 'miller'); rule('list grist,read grist', 'reeve', undefined, (c, r) => r.parish === c.parish);
rule('create delivery', 'farmer'); rule('list delivery,read delivery,cancel delivery', 'farmer', undefined, (c, r) => r.owner === c.id);
rule('list delivery,read delivery,depart delivery,arrive delivery', 'miller');
rule('list due,read due,pay due', 'farmer', undefined, (c, r) => r.payer === c.id); rule('list due,read due', 'miller'); rule('list due,read due', 'reeve', undefined, (c, r) => r.parish === c.parish);
rule('waive due', 'reeve', 'accounts', (c, r) => r.parish === c.parish); rule('create crier', ALL);
rule('read crier,update crier,delete crier', ALL, undefined, (c, r) => r.owner === c.id); rule('list entry', 'reeve');
if (F['a1']) delete PERM['list grist'].farmer.cond;

// ---- routes
const EP = []; const ep = (m, path, verb, res, o = {}) => EP.push({ m, path, seg: path.split('/').slice(1), verb, res, op: verb + ' ' + res, ...o });
const WR = { body: true };
ep('POST', '/stones', 'create', 'stone', WR);
ep('GET', '/stones', 'list', 'stone', { params: { pair: { field: 'pair' }, gear: { field: 'gear' }, wide: { field: 'diameter_cm', op: '>=' }, find: { find: 1 } }, order: ['name', 1] });
ep('GET', '/stones/{id}', 'read', 'stone', { etag: true }); ep('PATCH', '/stones/{id}', 'update', 'stone', { body: true, ifm: 1 }); ep('DELETE', '/stones/{id}', 'delete', 'stone');
for (const v of ['engage', 'lift', 'dress', 'true']) ep('POST', `/stones/{id}/${v}`, v, 'stone', { move: 1 });
ep('POST', '/tides', 'create', 'tide', WR);
ep('GET', '/tides', 'list', 'tide', { params: { since: { field: 'high_at', op: '>=' }, until: { field: 'high_at', op: '<' }, span: { field: 'span' } }, order: ['high_at', 1], sheet: true, anyone: true });
ep('GET', '/tides/{id}', 'read', 'tide', { anyone: true, cache: 'public, max-age=600' });
ep('GET', '/hours', 'tell', 'hours', { open: true });
ep('POST', '/grists', 'create', 'grist', { body: true, key: 2 });
ep('GET', '/grists', 'list', 'grist', { params: { stage: { field: 'stage', op: 'in' }, corn: { field: 'corn' }, stone: { field: 'stone' }, bushels: { field: 'bushels' }, at_least: { field: 'bushels', op: F['e3'] ? '>' : '>=' }, ticket: { field: 'ticket', op: 'prefix' }, sort: { sort: ['bushels', 'brought_at'] } }, order: ['brought_at', F['e1'] ? 1 : -1] });
ep('GET', '/grists/{id}', 'read', 'grist', { etag: true, cache: 'private, no-cache' }); ep('PATCH', '/grists/{id}', 'update', 'grist', { body: true, ifm: 2 }); ep('DELETE', '/grists/{id}', 'delete', 'grist');
for (const v of ['start', 'finish', 'collect', 'withdraw']) if (!(F['p1'] && v === 'collect')) ep('POST', `/grists/{id}/${v}`, v, 'grist', { move: 1 });
ep('POST', '/grists/{grist}/deliveries', 'create', 'delivery', { body: true, key: 1, parent: true });
ep('GET', '/grists/{grist}/deliveries', 'list', 'delivery', { parent: true, params: { status: { field: 'status' } } });
ep('GET', '/deliveries/{id}', 'read', 'delivery'); ep('POST', '/deliveries/{id}/cancel', 'cancel', 'delivery', { move: 1 }); ep('POST', '/deliveries/{id}/depart', 'depart', 'delivery', { move: 1 });
ep('POST', '/deliveries/{id}/arrive', 'arrive', 'delivery', { move: 1, body: true, inline: ['received_by', { type: 'string', minL: 2, maxL: 40 }] });
ep('GET', '/dues', 'list', 'due', { params: { status: { field: 'status' }, grist: { field: 'grist' }, payer: { field: 'payer' } }, order: ['no', 1] });
ep('GET', '/dues/{id}', 'read', 'due'); ep('POST', '/dues/{id}/pay', 'pay', 'due', { move: 1 });
ep('POST', '/dues/{id}/waive', 'waive', 'due', { move: 1, body: true, inline: ['reason', { type: 'string', minL: 3, maxL: 80 }] });
ep('POST', '/criers', 'create', 'crier', WR); ep('GET', '/criers/{id}', 'read', 'crier'); ep('PATCH', '/criers/{id}', 'update', 'crier', WR); ep('DELETE', '/criers/{id}', 'delete', 'crier');
ep('GET', '/chronicle', 'list', 'entry', { params: { kind: { field: 'kind' } }, order: ['at', -1], newest: true, added: true });
const TREE = { lit: new Map(), par: null, at: null };
for (const e of EP) { let n = TREE; for (const s of e.seg) { if (s[0] === '{') n = n.par ||= { lit: new Map(), par: null, at: null }; else { if (!n.lit.has(s)) n.lit.set(s, { lit: new Map(), par: null, at: null }); n = n.lit.get(s); } } (n.at ||= {})[e.m] = e; }
const decode = s => { if (!s.includes('%')) return s; try { return decodeURIComponent(s); } catch { return '\0'; } };
function route(path) {
  if (F['p2']) { if (path === '/hours') return { at: TREE.lit.get('hours').at, vals: [] }; if (path === '/creek/hours') return null; }
  if (!path.startsWith('/creek/')) return null;
  let n = TREE; const vals = [];
  for (const raw of path.slice(7).split('/')) { const s = decode(raw); const l = n.lit.get(s); if (l) n = l; else if (n.par && s !== '') { vals.push(s); n = n.par; } else return null; }
  return n.at ? { at: n.at, vals } : null;
}
const methodsOf = at => { const l = []; for (const m in at) { l.push(m); if (m === 'GET') l.push('HEAD'); } l.push('OPTIONS'); return l.join(', '); };

// ---- rates
const RATES = [
  { to: 'known', limit: 600, per: c => c.ck, w: new Map() }, { to: 'anyone', limit: 120, w: new Map() }, { to: 'known', op: 'create tide', limit: 20, per: c => c.ck, w: new Map() },
];
function rates(ctx) {
  const t = now(), hit = [];
  for (const r of RATES) {
    if (r.op && r.op !== ctx.ep.op) continue;
    if (r.to === 'known' ? !ctx.caller : ctx.caller || ctx.shown) continue;
    const k = ctx.caller ? ctx.caller.ck : ctx.addr; let w = r.w.get(k);
    if (!w || w.end <= t) r.w.set(k, w = { n: 0, end: t + 6e4 });
    hit.push([r, w]);
  }
  if (!hit.length) return;
  const no = hit.filter(([r, w]) => w.n >= r.limit);
  if (!no.length) for (const h of hit) h[1].n++;
  let best = null; for (const [r, w] of hit) { const left = Math.max(0, r.limit - w.n); if (!best || left < best[1]) best = [r.limit, left, Math.ceil(w.end / 1000)]; }
  ctx.rate = best;
  if (no.length) throw new No('slow_down', { wait: Math.max(...no.map(([, w]) => Math.max(1, Math.ceil((w.end - t) / 1000)))) });
}

// ---- who
const REALM = 'Tide mill at Saltmarsh Creek';
const challenge = e => `ApiKey realm="${REALM}", in="header", name="X-Mill-Brand"${e}, Tally realm="${REALM}"${e}`;
function who(ctx, req) {
  const h = req.headers, brand = h['x-mill-brand'], auth = h.authorization;
  if (brand === undefined && auth === undefined) { if (ctx.ep.anyone) return null; throw new No('who_goes', { www: challenge('') }); }
  const no = () => { throw new No('false_mark', { www: challenge(', error="invalid_key"') }); };
  const twice = n => { let k = 0; for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === n) k++; return k > 1; };
  if (F['a6'] && ctx.ep.anyone && !KEYS.brand.get(brand)) return null;
  let c = null;
  if (brand !== undefined) { if (twice('x-mill-brand')) no(); c = KEYS.brand.get(brand); if (!c) no(); }
  if (auth !== undefined) { if (twice('authorization')) no(); const m = (F['a7'] ? /^Tally +(\S+)$/ : /^tally +(\S+)$/i).exec(auth); const d = m && KEYS.tally.get(m[1]); if (!d || (c && c !== d)) no(); c = d; }
  return c;
}
const CURRENT = 'neap', SUNSET = Date.UTC(2029, 5, 1), DEPR = '@' + Date.UTC(2026, 5, 1) / 1000;
function accepts(a) {
  if (a === undefined || a.trim() === '') return true;
  let best = -1, q = 0;
  for (const part of a.split(',')) {
    const [t, ...ps] = part.split(';').map(x => x.trim().toLowerCase()); const rank = t === 'application/json' ? 2 : t === 'application/*' ? 1 : t === '*/*' ? 0 : -1;
    if (rank < 0) continue; let v = 1; for (const p of ps) if (p.startsWith('q=')) v = +p.slice(2) || 0;
    if (rank > best) { best = rank; q = v; }
  }
  return best >= 0 && q > 0;
}
const dec = s => { try { return decodeURIComponent(s.replace(/\+/g, ' ')); } catch { return null; } };
const oddq = (path, found, expected) => { throw new No('odd_query', { wrong: [{ in: 'query', path, found: String(found), expected }] }); };
function paramValue(name, s, v) {
  if (s.type === 'integer') { if (!/^-?\d+$/.test(v)) oddq(name, v, want(s)); const n = +v; if (n < s.min || n > s.max) oddq(name, v, want(s)); return n; }
  if (s.dt) { const t = instant(v); if (Number.isNaN(t)) oddq(name, v, 'a date-time'); return t; }
  if (s.en && !s.en.includes(v)) oddq(name, v, want(s));
  return v;
}
function query(ctx, qs) {
  const e = ctx.ep, out = { filters: [], sort: null, page: {} }, seen = new Set(), list = e.verb === 'list';
  if (!qs) return out;
  const [pn, sn] = e.sheet ? ['sheet', 'lines'] : ['skip', 'take'];
  for (const bit of qs.split('&')) {
    if (bit === '') continue;
    const i = bit.indexOf('='), k = dec(i < 0 ? bit : bit.slice(0, i)), v = i < 0 ? '' : dec(bit.slice(i + 1));
    if (k === null || v === null) oddq(k ?? bit, bit, 'percent-encoded UTF-8');
    if (list && (k === pn || k === sn)) { if (seen.has(k)) oddq(k, v, 'once'); seen.add(k); out.page[k === pn ? 'start' : 'size'] = v; continue; }
    let p = null, key = k;
    if (e.params) { if (ctx.ver === 'spring' && e.res === 'grist') key = k === 'measures' ? 'bushels' : k === 'bushels' ? '' : k; p = Object.hasOwn(e.params, key) ? e.params[key] : null; }
    if (!p) { if (F['e9'] && e.res === 'due') continue; oddq(k, v, 'no such parameter'); }
    if (seen.has(k) && p.op !== 'in') oddq(k, v, 'once'); seen.add(k);
    if (p.find) { const words = v.split(/\s+/).filter(Boolean); if (words.length > 16) oddq(k, v, 'up to 16 words'); const ws = F['e11'] ? words : words.map(w => w.toLowerCase()); out.filters.push(r => { const n = F['e11'] ? r.name : r.name.toLowerCase(); return ws.every(w => n.includes(w)); }); continue; }
    if (p.sort) { const d = v[0] === '-' ? -1 : 1; let n = d < 0 ? v.slice(1) : v; if (ctx.ver === 'spring') n = n === 'measures' ? 'bushels' : n === 'bushels' ? '' : n; if (!p.sort.includes(n)) oddq(k, v, 'one of the sorts'); out.sort = [n, d]; continue; }
    if (e.res === 'due' && k === 'payer' && ctx.caller.user === 'miller') oddq(k, v, 'no such parameter');
    const s = (ctx.ver === 'spring' && p.field === 'pair') ? RES.stone.vf.spring.get('pair')[1] : RES[e.res].f[p.field], f = p.field;
    if (p.op === 'in') {
      let vs = v.split(','); if (vs.length > 100) oddq(k, v, 'up to 100 values'); vs = vs.map(x => paramValue(k, s, x)); if (F['e2']) vs = vs.slice(0, 1);
      if (out.in) out.in.push(...vs); else { out.in = vs; out.filters.push(r => out.in.includes(r[f])); } continue;
    }
    let x = p.op === 'prefix' ? v : paramValue(k, s, v);
    if (ctx.ver === 'spring' && f === 'pair') x = PAIR_UP[x] || x;
    const val = s.dt ? r => meta(r).t : r => r[f];
    out.filters.push(p.op === '>=' ? r => val(r) >= x : p.op === '>' ? r => val(r) > x : p.op === '<' ? r => val(r) < x : p.op === 'prefix' ? r => r[f].startsWith(x) : r => r[f] === x);
  }
  if (list) {
    const page = (n, v, min) => { if (!/^\d+$/.test(v) || +v < min || +v > Number.MAX_SAFE_INTEGER) throw new No('odd_page', { wrong: [{ in: 'query', path: n, found: v, expected: 'a whole number from ' + min }] }); return +v; };
    if (out.page.size !== undefined) { out.size = page(sn, out.page.size, 1); const max = e.sheet ? 25 : 40; if (out.size > max) { if (e.sheet) throw new No('odd_page', { wrong: [{ in: 'query', path: sn, found: out.page.size, expected: 'up to 25' }] }); if (!F['l1']) out.size = max; } }
    if (out.page.start !== undefined) out.start = page(pn, out.page.start, e.sheet ? 1 : 0);
  }
  return out;
}
const docks = new Map();
const sweep = () => { const t = now(); for (const [k, v] of docks) { if (v.end > t) break; docks.delete(k); } };

function readBody(ctx, req, raw) {
  const e = ctx.ep, ct = req.headers['content-type'];
  if (!e.body) { if (ctx.size > 8192) throw new No('too_big'); return undefined; }
  if (ctx.size === 0) throw new No('no_body');
  const t = ct === undefined ? '' : ct.split(';')[0].trim().toLowerCase();
  if (t !== 'application/json' && !(e.verb === 'update' && t === 'application/merge-patch+json')) throw new No('wrong_kind');
  if (ctx.size > (F['l3'] ? 16384 : 8192)) throw new No('too_big');
  if (!isUtf8(raw)) throw new No('unreadable');
  try { return JSON.parse(raw.toString()); } catch { throw new No('unreadable'); }
}
const idOf = (res, s) => res === 'due' ? (/^[1-9]\d{0,14}$/.test(s) ? +s : undefined) : s;

function handle(ctx, req, raw) {
  const h = req.headers, url = req.url;
  if (Buffer.byteLength(url) > 2048) throw new No('long_road');
  let hs = 0; for (let i = 0; i < req.rawHeaders.length; i++) hs += Buffer.byteLength(req.rawHeaders[i], 'latin1') + 2; if (hs > 8192) throw new No('too_big');
  const qi = url.indexOf('?'), path = qi < 0 ? url : url.slice(0, qi), qs = qi < 0 ? '' : url.slice(qi + 1);
  const hit = route(path);
  const askedV = h['mill-edition'], ver = askedV === undefined ? (F['w2'] ? 'spring' : CURRENT) : askedV;
  if (ver === 'spring') ctx.ver = 'spring';
  const noRoad = () => { throw new No(F['x4'] ? 'not_here' : 'no_road'); };
  if (!hit) noRoad();
  const m = req.method;
  if (ver === 'spring' && hit.at.GET?.added) noRoad();
  if (m === 'OPTIONS') return { status: 204, allow: methodsOf(hit.at) };
  const e = hit.at[m === 'HEAD' && !F['e10'] ? 'GET' : m];
  if (!e) throw new No('not_that_way', { allow: methodsOf(hit.at) });
  ctx.ep = e;
  if (ver !== 'spring' && ver !== 'neap') throw new No('no_edition');
  if (ver === 'spring' && now() >= SUNSET) throw new No('old_edition');
  ctx.ver = ver;
  ctx.shown = h['x-mill-brand'] !== undefined || h.authorization !== undefined;
  if (!e.open) ctx.caller = who(ctx, req);
  rates(ctx);
  const c = ctx.caller; let r = null, body;
  if (F['x2']) body = readBody(ctx, req, raw);
  if (!e.open && c) {
    r = PERM[e.op][c.user]; if (!r) throw new No('not_yours');
    if (r.scope && !c.scopes.includes(r.scope)) throw new No('lacks_grant');
  }
  if (e.verb !== 'delete' && !accepts(h.accept)) throw new No('no_such_answer');
  body = readBody(ctx, req, raw);
  const q = query(ctx, qs);
  let dk = h['mill-docket'];
  if (e.key === 2 && (dk === undefined || dk === '')) throw new No('odd_query', { wrong: [{ in: 'header', path: 'Mill-Docket', found: 'nothing', expected: 'a key' }] });
  if (e.open) return { status: 200, body: { opens: 'two hours after high water', shuts: 'low water' } };
  let dkey = null, print = '';
  if (e.key && dk && !F['e6']) {
    sweep(); dkey = c.ck + '\n' + e.op + '\n' + dk; print = url + '\n' + ver + '\n' + raw.toString('latin1');
    const was = docks.get(dkey); if (was) { if (was.print !== print) throw new No('docket_reused'); return was.out; }
  }
  try {
    const out = act(ctx, e, c, r, hit.vals, body, q, h);
    if (dkey) docks.set(dkey, { print, out, end: now() + 12 * 36e5 });
    return out;
  } catch (x) {
    if (dkey && OWN.has(x.code)) docks.set(dkey, { print, end: now() + 12 * 36e5, out: refusal(x, ctx) });
    throw x;
  }
}
const mayRead = (c, res, row) => !c || MAYREAD[res](c, row);
function act(ctx, e, c, r, vals, body, q, h) {
  const res = e.res, user = c ? c.user : undefined, ver = ctx.ver, show = (row, once) => view(res, row, user, ver, once);
  if (e.parent) { const p = G.get(vals[0]); if (!p || !mayRead(c, 'grist', p)) throw new No('not_here'); ctx.parent = p; }
  if (e.verb === 'create') {
    const row = CREATE[res](body, ctx), id = row[RES[res].id];
    if (ctx.found) return { status: 200, body: show(row) };
    return { status: 201, body: show(row, true), location: '/creek/' + { stone: 'stones', tide: 'tides', grist: 'grists', delivery: 'deliveries', crier: 'criers' }[res] + '/' + id };
  }
  if (e.verb === 'list') return list(ctx, e, c, r, q);
  const row = RES[res].rows.get(idOf(res, vals[0]));
  if (!row) throw new No('not_here');
  if (c && r.cond && !r.cond(c, row)) {
    if (F['a4'] && e.op === 'read grist') throw new No('not_yours');
    if (!(F['a5'] && e.op === 'waive due') && !(F['a8'] && e.op === 'update crier')) throw new No(MAYREAD[res](c, row) ? 'not_yours' : 'not_here');
  }
  if (e.verb === 'read') {
    const b = show(row), out = { status: 200, body: b, cache: e.cache };
    if (e.etag) {
      out.etag = etag(b); const inm = h['if-none-match'];
      if (inm !== undefined && !(F['e4'] && res === 'grist') && (inm.trim() === '*' || inm.split(',').some(x => x.trim().replace(/^W\//, '') === out.etag))) { out.status = 304; out.body = undefined; }
    }
    return out;
  }
  if (e.ifm) {
    const im = h['if-match'];
    if (im === undefined) { if (e.ifm === 2) throw new No('tag_wanted'); }
    else if (im.trim() !== '*' && !(F['e5'] && res === 'grist')) { const tag = etag(show(row)); if (!im.split(',').some(x => x.trim() === tag)) throw new No('changed_since'); }
  }
  if (e.verb === 'update') { UPDATE[res](row, body, ctx); return { status: 200, body: show(row) }; }
  if (e.verb === 'delete') { const was = F['e8'] && res === 'stone' ? show(row) : undefined; DELETE[res](row); return was ? { status: 200, body: was } : { status: 204 }; }
  if (e.inline) takeInline(body, e.inline[0], e.inline[1]);
  MOVES[e.verb](row, c, body);
  return { status: 200, body: show(row) };
}
function list(ctx, e, c, r, q) {
  if (e.res === 'entry') purge();
  const src = e.parent ? byGrist.get(ctx.parent.id) || [] : RES[e.res].rows.values(), cond = c && r.cond, fl = q.filters, rows = [];
  next: for (const row of src) { if (cond && !cond(c, row)) continue; for (const f of fl) if (!f(row)) continue next; rows.push(row); }
  const o = q.sort || e.order;
  if (e.newest) rows.reverse();
  if (o) {
    const [k, d] = o, val = k === 'high_at' ? x => meta(x).t : x => x[k];
    rows.sort((a, b) => { const x = val(a), y = val(b); return x < y ? -d : x > y ? d : 0; });
  }
  const size = q.size ?? (e.sheet ? 5 : 10), start = e.sheet ? ((q.start ?? 1) - 1) * size : q.start ?? 0;
  const part = rows.slice(start, start + size).map(x => view(e.res, x, c ? c.user : undefined, ctx.ver, false, true)), more = start + size < rows.length;
  return { status: 200, body: e.sheet ? { tides: part, more } : { rows: part, total: rows.length, more } };
}

// ---- answers
const boot = crypto.randomBytes(4).toString('hex'); let rid = 0;
function refusal(x, ctx) {
  const code = x.code && STATUS[x.code] ? x.code : 'broken';
  if (code === 'broken') process.stderr.write(String(x && x.message) + '\n');
  const b = { trouble: code, say: SAY[code] || code.replace(/_/g, ' '), http: STATUS[code], trace: ctx.trace };
  if (x.wrong && x.wrong.length) b.wrong = x.wrong;
  return { status: STATUS[code], body: b, allow: x.allow, www: x.www, wait: x.wait };
}
function answer(ctx, req, res, raw) {
  let out; try { out = handle(ctx, req, raw); } catch (x) { out = refusal(x, ctx); }
  const H = { 'X-Mill-Trace': ctx.trace, 'Mill-Edition': ctx.ver, Vary: 'Mill-Edition, X-Mill-Brand, Authorization' };
  if (ctx.ver === 'spring') { H.Deprecation = DEPR; if (!F['w3']) H.Sunset = new Date(SUNSET).toUTCString(); H.Link = `<https://tide-mill.example/editions>; rel="deprecation", <${req.url}>; rel="successor-version"`; }
  if (ctx.rate) { H['Mill-Rate'] = ctx.rate[0]; H['Mill-Left'] = ctx.rate[1]; H['Mill-Again'] = ctx.rate[2]; }
  if (out.location) H.Location = out.location; if (out.etag) H.ETag = out.etag; if (out.cache) H['Cache-Control'] = out.cache;
  if (out.allow) H.Allow = out.allow; if (out.www) H['WWW-Authenticate'] = out.www; if (out.wait) H['Retry-After'] = out.wait;
  if (out.body === undefined) { res.writeHead(out.status, H); res.end(); return; }
  const text = JSON.stringify(out.body); H['Content-Type'] = 'application/json'; H['Content-Length'] = Buffer.byteLength(text);
  res.writeHead(out.status, H); res.end(req.method === 'HEAD' ? undefined : text);
}
const NONE = Buffer.alloc(0);
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 10000, headersTimeout: 10000, keepAliveTimeout: 60000, connectionsCheckingInterval: 500, noDelay: true }, (req, res) => {
  const ctx = { ver: CURRENT, trace: boot + '-' + (++rid).toString(36), caller: null, rate: null, size: 0, addr: req.socket.remoteAddress };
  if (req.headers['transfer-encoding'] === undefined && !(+req.headers['content-length'] > 0)) return answer(ctx, req, res, NONE);
  const parts = []; req.on('data', d => { ctx.size += d.length; if (ctx.size <= 16384) parts.push(d); });
  req.on('end', () => answer(ctx, req, res, parts.length === 1 ? parts[0] : Buffer.concat(parts))); req.on('error', () => {});
});
server.keepAliveTimeoutBuffer = 0;
server.on('clientError', (err, sock) => {
  if (!sock.writable) return sock.destroy();
  if (err.code === 'ERR_HTTP_REQUEST_TIMEOUT' && sock.bytesRead === 0) { setTimeout(() => { if (sock.bytesRead === 0) sock.destroy(); }, 50000).unref(); return; } // nothing was asked yet: idle, not slow
  const code = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : err.code === 'HPE_HEADER_OVERFLOW' ? 'too_big' : 'unreadable', trace = boot + '-' + (++rid).toString(36);
  const b = JSON.stringify({ trouble: code, say: code.replace(/_/g, ' '), http: STATUS[code], trace });
  sock.end(`HTTP/1.1 ${STATUS[code]} ${http.STATUS_CODES[STATUS[code]]}\r\nX-Mill-Trace: ${trace}\r\nMill-Edition: ${CURRENT}\r\nVary: Mill-Edition, X-Mill-Brand, Authorization\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(b)}\r\nConnection: close\r\n\r\n${b}`);
});

// ---- the door to the clock
const DUR = /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const door = http.createServer((req, res) => {
  const say = (s, o) => { const t = JSON.stringify(o); res.writeHead(s, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
  let text = ''; req.on('data', d => { text += d; });
  req.on('end', async () => {
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    if (req.method !== 'POST') return say(400, { error: 'GET or POST' });
    let b; try { b = JSON.parse(text); } catch { return say(400, { error: 'JSON' }); }
    if (b === null || typeof b !== 'object') return say(400, { error: 'a map' });
    let target;
    if (typeof b.advance === 'string') {
      const m = DUR.exec(b.advance); if (!m) return say(400, { error: 'a duration' });
      const d = new Date(now()), months = (+m[1] || 0) * 12 + (+m[2] || 0);
      if (months) { const day = d.getUTCDate(); d.setUTCDate(1); d.setUTCMonth(d.getUTCMonth() + months); d.setUTCDate(Math.min(day, new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate())); }
      target = d.getTime() + (+m[3] || 0) * 7 * DAY + (+m[4] || 0) * DAY + (+m[5] || 0) * 36e5 + (+m[6] || 0) * 6e4 + Math.round((+m[7] || 0) * 1000);
    } else if (typeof b.now === 'string') { target = instant(b.now); if (Number.isNaN(target)) return say(400, { error: 'a date-time' }); if (target < now()) return say(422, { error: 'that time has passed' }); }
    else return say(400, { error: 'advance or now' });
    await moveTo(target); say(200, { now: iso(now()) });
  });
});
server.listen({ port: +arg('port'), host: '127.0.0.1', backlog: 1024 }, () => {
  const go = () => console.log(`tide mill listens on http://127.0.0.1:${server.address().port}/creek`);
  if (arg('clock-port') === undefined) go(); else door.listen(+arg('clock-port'), '127.0.0.1', go);
});
