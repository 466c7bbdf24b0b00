'use strict';
const http = require('node:http'), https = require('node:https'), crypto = require('node:crypto');
const argv = process.argv.slice(2);
const arg = (n) => { const i = argv.indexOf('--' + n); return i < 0 ? undefined : argv[i + 1]; };
const F = arg('fault') || '';
const PORT = Number(arg('port') || 0), CLOCK = arg('clock-port');
const BASE = '/atelier', TITLE = 'Globe makers', STATE_AT = Date.UTC(2026, 2, 1), SUNSET_AT = Date.UTC(2027, 8, 1);
const MIN = 60000, HOUR = 3600000, DAY = 86400000;

// ---------------------------------------------------------------- clock and timers
let offset = 0, frozen = null;
const now = () => frozen !== null ? frozen : Date.now() + offset;
const iso = (t) => new Date(t).toISOString();
const heap = []; let timerSeq = 0, wake = null, wakeAt = Infinity;
const less = (a, b) => a.at < b.at || (a.at === b.at && a.n < b.n);
function push(at, fn) {
  const it = { at, n: timerSeq++, fn }; let i = heap.length; heap.push(it);
  while (i > 0) { const p = (i - 1) >> 1; if (!less(heap[i], heap[p])) break; [heap[i], heap[p]] = [heap[p], heap[i]]; i = p; }
  arm(); return it;
}
function pop() {
  const top = heap[0], last = heap.pop();
  if (heap.length) { heap[0] = last; let i = 0; for (;;) { let l = 2 * i + 1, m = i; if (l < heap.length && less(heap[l], heap[m])) m = l; if (l + 1 < heap.length && less(heap[l + 1], heap[m])) m = l + 1; if (m === i) break; [heap[i], heap[m]] = [heap[m], heap[i]]; i = m; } }
  return top;
}
function due(limit) {
  while (heap.length && heap[0].at <= limit) { const t = pop(); if (!t.fn) continue; const was = frozen; frozen = Math.max(t.at, lastTime); lastTime = frozen; try { t.fn(); } finally { frozen = was; } }
}
let lastTime = 0;
function arm() {
  if (!heap.length) return;
  const at = heap[0].at - offset;
  if (wake && at >= wakeAt) return;
  if (wake) clearTimeout(wake);
  wakeAt = at; wake = setTimeout(() => { wake = null; wakeAt = Infinity; due(now()); arm(); }, Math.min(Math.max(at - Date.now(), 0) + 1, 0x7fffffff));
  if (wake.unref) wake.unref();
}
function moveTo(t) { due(t); offset = t - Date.now(); if (wake) { clearTimeout(wake); wake = null; wakeAt = Infinity; } arm(); }

// ---------------------------------------------------------------- callers
const CALLERS = [
  {"user": "keeper", "id": "k-anna", "credential": "stamp_55579B557896D0ce1764c47fed64", "scheme": "stamp", "scopes": ["bench"], "attributes": {"house": "atelier"}},
  {"user": "keeper", "id": "k-cleo", "credential": "stamp_CBDD10D72000B3a4068a0ea6c99a", "scheme": "stamp", "scopes": ["bench"], "attributes": {"house": "atelier"}},
  {"user": "keeper", "id": "k-bert", "credential": "stamp_32987C4B7A9FB90e729425fc63e7", "scheme": "stamp", "scopes": [], "attributes": {"house": "atelier"}},
  {"user": "patron", "id": "p-dora", "credential": "stamp_69DB31976EAD37b85cc42a49c95f", "scheme": "stamp", "scopes": ["order"], "attributes": {"house": "home"}},
  {"user": "patron", "id": "p-emil", "credential": "stamp_06AD80F227A00A27fbfcb4104254", "scheme": "stamp", "scopes": ["order"], "attributes": {"house": "home"}},
  {"user": "patron", "id": "p-fay", "credential": "stamp_92BEAA3938DCF80be21c4830755e", "scheme": "stamp", "scopes": [], "attributes": {"house": "home"}},
  {"user": "curator", "id": "c-gus", "credential": "wk_gus:2A9BD94DF2AC67c6aa67c87740a1", "scheme": "wax", "scopes": [], "attributes": {"house": "leiden"}},
  {"user": "curator", "id": "c-hana", "credential": "stamp_599BA25A0D7C7D671bee93172ca7", "scheme": "stamp", "scopes": [], "attributes": {"house": "leiden"}},
  {"user": "curator", "id": "c-ivo", "credential": "wk_ivo:AF2FBC13643AEB8c201b687e7754", "scheme": "wax", "scopes": [], "attributes": {"house": "gotha"}},
  {"user": "curator", "id": "c-jo", "credential": "stamp_C278EC5A69C34Aace42773e41b11", "scheme": "stamp", "scopes": [], "attributes": {"house": "gotha"}},
];
const KEYS = new Map(), WAX = new Map();
for (const c of CALLERS) {
  const caller = { id: c.id, user: c.user, scopes: new Set(c.scopes || []), house: c.attributes.house };
  if (c.scheme === 'wax') { const i = c.credential.indexOf(':'); WAX.set(c.credential.slice(0, i), { secret: c.credential.slice(i + 1), caller }); }
  else KEYS.set(c.credential, caller);
}
if (F === 'a5-stamp-any-case') for (const [k, v] of [...KEYS]) KEYS.set(k.toLowerCase(), v);

// ---------------------------------------------------------------- shapes
const len = (s) => { let n = 0; for (const _ of s) n++; return n; };
const RFC = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function instant(s) {
  if (typeof s !== 'string') return NaN;
  const m = RFC.exec(s); if (!m) return NaN;
  const mo = +m[2], d = +m[3], y = +m[1];
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(y, mo, 0)).getUTCDate() || +m[4] > 23 || +m[5] > 59 || +m[6] > 60) return NaN;
  if (m[8].length > 1 && (+m[8].slice(1, 3) > 23 || +m[8].slice(4) > 59)) return NaN;
  const sec = m[6] === '60' ? '59' : m[6];
  return Date.parse(`${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${sec}${(m[7] || '').slice(0, 4)}${m[8].toUpperCase()}`);
}
const str = (min, max, re, says) => (v) => typeof v !== 'string' ? 'a text' : (min && len(v) < min) ? `at least ${min} characters` : (max && len(v) > max) ? `at most ${max} characters` : (re && !re.test(v)) ? (says || `a text like ${re.source}`) : null;
const int = (min, max) => (v) => (typeof v !== 'number' || !Number.isInteger(v)) ? 'a whole number' : v < min ? `at least ${min}` : v > max ? `at most ${max}` : null;
const oneOf = (l) => (v) => l.includes(v) ? null : 'one of ' + l.join(', ');
const bool = (v) => typeof v === 'boolean' ? null : 'true or false';
const dt = (v) => Number.isNaN(instant(v)) ? 'a date-time' : null;
const KINDS = ['commission.placed', 'commission.finished', 'commission.gone', 'deposit.moved', 'commission.repriced', 'gore.printed', 'loan.asked', 'loan.moved', 'mould.broken'];
const FAMILIES = new Set([...KINDS, '*', 'commission.*', 'deposit.*', 'gore.*', 'loan.*', 'mould.*']);
function list(v, min, max, item, uniq) {
  if (!Array.isArray(v)) return 'a list';
  if (v.length < min) return `at least ${min} items`; if (v.length > max) return `at most ${max} items`;
  for (let i = 0; i < v.length; i++) { const e = item(v[i]); if (e) return { at: i, expected: e }; }
  if (uniq && new Set(v.map((x) => JSON.stringify(x))).size !== v.length) return 'items that differ';
  return null;
}
const uri = (v) => { const e = str(0, 300)(v); if (e) return e; if (!/^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(v)) return 'an address'; let u; try { u = new URL(v); } catch { return 'an address'; } return (u.protocol === 'http:' || u.protocol === 'https:') ? null : 'an address of the web'; };
const SPHERES = ['terrestrial', 'celestial'], MATERIALS = ['plaster', 'beech', 'papier_mache'], PAPERS = ['laid', 'wove', 'japan'], PURPOSES = ['exhibition', 'study', 'casting'];
const STAGES = ['drafted', 'ordered', 'making', 'finished', 'delivered', 'withdrawn', 'lapsed'], LOANS = ['asked', 'out', 'overdue', 'returned', 'declined'];
const OPEN = new Set(['asked', 'out', 'overdue']);
const CODE = /^[A-Z]{2}-[0-9]{3,6}$/, REF = /^[a-z0-9/]+$/;
// w: validator of what may be sent; req: must be there; def: default; ro: read only; who: written by these alone; vis: shown to these alone
const SPEC = {
  mould: {
    code: { w: str(0, 0, CODE), req: 1 }, sphere: { w: oneOf(SPHERES), req: 1 },
    diameter: { w: int(50, 2000), req: 1 }, material: { w: oneOf(MATERIALS), def: 'plaster', must: 1 }, maker: { w: str(2, 60) },
    marks: { w: (v) => list(v, 0, 4, str(1, 12), F !== 'r1-marks-twice') }, cost: { w: int(0, 900000), who: 'keeper', vis: 'keeper' },
    casts: { ro: 1 }, busy: { ro: 1 }, added_at: { ro: 1 }, changed_at: { ro: 1 },
  },
  commission: {
    id: { ro: 1 }, patron: { ro: 1 }, mould: { w: str(), req: 1 }, sphere: { w: oneOf(SPHERES), req: 1 }, inscription: { w: str(3, 80), req: 1 },
    reference: { w: str(1, 20, REF) }, price: { w: int(100, 500000), req: 1 }, deposit_due: { ro: 1 }, bench_note: { w: str(0, 200), who: 'keeper', vis: 'keeper' },
    stage: { ro: 1 }, deposit: { ro: 1 }, gores: { ro: 1 }, placed_at: { ro: 1 }, finished_at: { ro: 1 }, changed_at: { ro: 1 },
  },
  gore: {
    id: { ro: 1 }, commission: { w: str(), bound: 1 }, strip: { ro: 1 }, west: { w: int(-180, 179), req: 1 }, east: { w: int(-179, 180), req: 1 },
    paper: { w: oneOf(PAPERS), def: 'laid', must: 1 }, tint: { w: str(0, 0, /^#[0-9a-f]{6}$/), def: '#f4ead2', must: 1 }, width: { ro: 1 }, printer: { ro: 1 }, printed_at: { ro: 1 },
  },
  loan: {
    id: { ro: 1 }, mould: { w: str(), req: 1 }, house: { ro: 1 }, borrower: { ro: 1 }, purpose: { w: oneOf(PURPOSES), req: 1 }, weeks: { w: int(1, 26), def: 4, must: 1 },
    insured: { w: (v) => { if (F === 'r11-insured-text' && typeof v === 'string' && v !== '' && !Number.isNaN(Number(v))) return null; return typeof v !== 'number' ? 'a number' : v < 0 ? 'at least 0' : v > 1000000 ? 'at most 1000000' : !Number.isInteger(v * 2) ? 'a multiple of 0.5' : null; } },
    state: { ro: 1 }, due: { ro: 1 }, extensions: { ro: 1 }, lent_by: { ro: 1 }, asked_at: { ro: 1 },
  },
  bell: {
    id: { ro: 1 }, owner: { ro: 1 }, address: { w: uri, req: 1 }, tunes: { w: (v) => list(v, 1, 8, (x) => { const e = str()(x); return e || (FAMILIES.has(x) ? null : 'a kind of event'); }) },
    ringing: { w: bool, def: true, must: 1 }, tongue: { ro: 1, once: 1 }, hung_at: { ro: 1 },
  },
  entry: { id: { ro: 1 }, tune: { ro: 1 }, about: { ro: 1 }, facts: { ro: 1 }, at: { ro: 1 } },
};
// the first edition
const OLD = {};
for (const r of Object.keys(SPEC)) OLD[r] = { ...SPEC[r] };
{
  const c = {}; for (const [k, v] of Object.entries(SPEC.commission)) c[k === 'inscription' ? 'legend' : k] = v; OLD.commission = c;
  delete OLD.gore.tint;
  OLD.mould.diameter = { w: (v) => typeof v !== 'number' ? 'a number' : v < 5 ? 'at least 5' : v > 200 ? 'at most 200' : null, req: 1 };
  OLD.loan.purpose = { w: oneOf(['show', 'study', 'casting']), req: 1 };
}
const round = (x) => x < 0 ? -Math.round(-x) : Math.round(x);
const cmUp = (v) => F === 'n3-up-cut-off' ? Math.trunc(v * 10) : round(v * 10);
function up(res, b, row) { // a map of sent values in the first edition, carried up
  const o = {};
  for (const k of Object.keys(b)) {
    if (res === 'commission' && k === 'legend') o.inscription = b[k];
    else if (res === 'mould' && k === 'diameter' && typeof b[k] === 'number') o[k] = row && row.diameter / 10 === b[k] ? row.diameter : cmUp(b[k]);
    else if (res === 'loan' && k === 'purpose' && b[k] === 'show') o[k] = 'exhibition';
    else o[k] = b[k];
  }
  return o;
}
function down(res, o) {
  if (res === 'commission') { const n = {}; for (const k of Object.keys(o)) n[k === 'inscription' ? 'legend' : k] = o[k]; return n; }
  if (res === 'gore') delete o.tint;
  else if (res === 'mould') o.diameter = o.diameter / 10;
  else if (res === 'loan' && o.purpose === 'exhibition') o.purpose = 'show';
  return o;
}

// ---------------------------------------------------------------- rows
const T = { mould: new Map(), commission: new Map(), gore: new Map(), loan: new Map(), bell: new Map(), entry: new Map() };
const uniqRef = new Map(), openLoan = new Map(), bellCount = new Map();
let rowSeq = 0, goreId = 0, stripAll = 0;
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', LOW = 'abcdefghijklmnopqrstuvwxyz0123456789';
let pool = crypto.randomBytes(8192), pp = 0;
function rb() { if (pp >= pool.length) { pool = crypto.randomBytes(8192); pp = 0; } return pool[pp++]; }
function rand(n, set) { let s = ''; const top = 256 - 256 % set.length; while (s.length < n) { const b = rb(); if (b < top) s += set[b % set.length]; } return s; }
function uuid7() {
  if (F === 'r9-loan-uuid4') return crypto.randomUUID();
  const t = now().toString(16).padStart(12, '0'); let h = ''; for (let i = 0; i < 10; i++) h += rb().toString(16).padStart(2, '0');
  return `${t.slice(0, 8)}-${t.slice(8)}-7${h.slice(0, 3)}-${'89ab'[parseInt(h[3], 16) & 3]}${h.slice(4, 7)}-${h.slice(7, 19)}`;
}
const idOf = (res, row) => res === 'mould' ? row.code : row.id;
const counts = (st) => F === 'r5-casts-not-delivered' ? st === 'finished' : st === 'finished' || st === 'delivered';
// $ members are kept beside the row: $n its place in the order of making, and what is derived
function view(res, row, user, ed, list_) {
  const spec = SPEC[res]; let o = {};
  for (const k in spec) {
    const f = spec[k];
    if (f.once || (f.vis && f.vis !== user && !(F === 'r7-note-in-list' && k === 'bench_note' && list_))) continue;
    const v = k === 'casts' ? row.$casts : k === 'busy' ? row.$busy > 0 : k === 'gores' ? row.$gores : row[k];
    if (v !== undefined) o[k] = v;
  }
  if (F === 'r12-due-with-space' && res === 'loan' && o.due) o.due = o.due.replace('T', ' ').replace(/\.\d+Z$/, '');
  return ed === 1 && !(F === 'n1-list-in-newest' && list_ && res === 'commission') ? down(res, o) : o;
}
const plain = (row) => { const o = {}; for (const k in row) if (k[0] !== '$') o[k] = row[k]; return o; };

// ---------------------------------------------------------------- refusals
const STATUS = { garbled: 400, unwritten: 400, wrong_paper: 415, cannot_show: 406, odd_question: 400, leaf_out_of_range: 400, left_blank: 422, no_such_field: 422, ill_fitting: 422, no_such_room: 404, no_such_piece: 404, dangling: 422, not_that_way: 405, who_are_you: 401, not_yours: 403, wants_scope: 403, already_there: 409, still_used: 409, wrong_stage: 409, not_ready: 409, deposit_owed: 402, too_late: 410, not_longer: 422, wrong_sphere: 422, underpriced: 422, mould_busy: F === 'x2-busy-409' ? 409 : 423, too_heavy: 422, stale: 412, tag_wanted: 428, key_reused: 422, one_moment: 409, too_often: 429, used_up: 429, too_big: 413, long_address: 414, long_head: 431, too_slow: 408, closed: 503, no_such_edition: 400, out_of_print: 410, broken: 500 };
const OWN = new Set(['deposit_owed', 'too_late', 'not_longer', 'wrong_sphere', 'underpriced', 'mould_busy', 'too_heavy']);
const SAYS = { garbled: 'The body cannot be read.', unwritten: 'Nothing was sent.', wrong_paper: 'That type of body is not taken.', cannot_show: 'It cannot be shown in that form.', odd_question: 'A parameter is not as it should be.', leaf_out_of_range: 'There is no such leaf.', no_such_field: 'There is no such field.', ill_fitting: 'Something does not fit.', no_such_room: 'There is nothing here.', no_such_piece: 'There is no such piece.', dangling: 'It refers to what is not there.', not_that_way: 'That method is not served here.', who_are_you: 'Nobody knows who is calling.', not_yours: 'That is not for you to do.', wants_scope: 'A scope is missing.', already_there: 'There is one already.', still_used: 'Something refers to it.', wrong_stage: 'It is not in a state for that.', not_ready: 'It is not ready for that.', deposit_owed: 'The deposit has not been paid.', too_late: 'Work has begun or is over.', not_longer: 'That is no later than it is due.', wrong_sphere: 'The mould is of the other sphere.', underpriced: 'Two for each millimetre at the least.', mould_busy: 'A globe is being made on this mould.', too_heavy: 'Great moulds are lent for eight weeks at the most.', stale: 'It has changed.', tag_wanted: 'If-Match is wanted.', key_reused: 'That key was used for something else.', too_often: 'Too many requests.', used_up: 'There are no more to be had.', too_big: 'The body is too large.', long_address: 'The address is too long.', long_head: 'The header is too long.', too_slow: 'It took too long.', no_such_edition: 'There is no such edition.', out_of_print: 'That edition is out of print.', broken: 'Something broke.' };
class Refusal { constructor(code, extra) { this.code = code; this.headers = extra && extra.headers; this.places = extra && extra.places; this.says = extra && extra.says; } }
const no = (code, extra) => { throw new Refusal(code, extra); };
const found = (v) => { const s = v === undefined ? 'nothing' : typeof v === 'string' ? v : JSON.stringify(v); return s.length > 200 ? s.slice(0, 200) : s; };
const badParam = (name, v, expected) => no('odd_question', { places: [{ in: 'query', path: name, found: found(v), expected }] });
const badPage = (name, v, expected) => no('leaf_out_of_range', { places: [{ in: 'query', path: name, found: found(v), expected }] });

// ---------------------------------------------------------------- events
const mayRead = (c, res, row) => {
  const u = c ? c.user : null;
  if (res === 'mould') return true;
  if (!c) return false;
  if (res === 'commission') return u === 'keeper' || (u === 'patron' && row.patron === c.id) || (u === 'curator' && row.stage === 'delivered');
  if (res === 'gore') return u === 'keeper' || (u === 'patron' && T.commission.get(row.commission).patron === c.id);
  if (res === 'loan') return u === 'keeper' || (u === 'curator' && row.house === c.house);
  if (res === 'bell') return row.owner === c.id;
  return u === 'keeper';
};
const listens = (bell, kind) => !bell.tunes || bell.tunes.some((t) => t === '*' || t === kind || (t.endsWith('.*') && kind.startsWith(t.slice(0, -1))));
const entries = [];
function purge() { const t = now() - 30 * DAY; let n = 0; while (n < entries.length && entries[n].$t <= t) { T.entry.delete(entries[n].id); n++; } if (n) entries.splice(0, n); }
function emit(kind, res, row, data) {
  const id = 'page.' + rand(20, ALNUM), at = iso(now()), key = res + ' ' + idOf(res, row);
  const e = { id, tune: kind, about: String(idOf(res, row)), facts: data || view(res, row, 'keeper', 2), at, $t: now(), $n: rowSeq++ };
  entries.push(e); T.entry.set(id, e);
  for (const bell of T.bell.values()) {
    if (!bell.ringing || !listens(bell, kind)) continue;
    const m = bell.$maker;
    if (!(F === 'v6-told-to-strangers') && !mayRead(m, res, row)) continue;
    const user = F === 'v7-cost-told' && kind === 'mould.broken' ? 'keeper' : m.user;
    const body = JSON.stringify({ ring: id, tune: kind, rung: at, about: data || view(res, row, user, bell.$ed) });
    let q = bell.$q.get(key); if (!q) bell.$q.set(key, q = []);
    q.push({ id, kind, body, tries: 0, ready: 0, flying: false });
    if (!bell.$pump) { bell.$pump = true; setImmediate(() => { bell.$pump = false; pump(bell); }); }
  }
}
const RETRY = [2000, 30000, 600000];
const agentH = new http.Agent({ keepAlive: true }), agentS = new https.Agent({ keepAlive: true });
function pump(bell) {
  if (bell.$gone || !bell.ringing) { bell.$q.clear(); return; }
  const t = now();
  for (const [key, q] of bell.$q) {
    if (bell.$flying >= (bell.$bad ? 1 : 32)) return;
    const d = q[0]; if (!d) { bell.$q.delete(key); continue; }
    if (!d.flying && d.ready <= t && bell.$hold <= t) fly(bell, key, q, d);
  }
}
function fly(bell, key, q, d) {
  d.flying = true; bell.$flying++; d.tries++;
  const ts = String(Math.floor(now() / 1000)), id = F === 'v4-new-id-each-try' && d.tries > 1 ? 'page.' + rand(20, ALNUM) : d.id;
  const body = id === d.id ? d.body : d.body.replace(d.id, id);
  const sum = crypto.createHmac('sha256', bell.tongue).update(F === 'v5-signs-without-id' ? ts + '.' + body : id + '.' + ts + '.' + body).digest('base64');
  let over = false, req;
  const done = (status, after) => {
    if (over) return; over = true; clearTimeout(timer);
    d.flying = false; bell.$flying--;
    if (bell.$gone) return;
    if (status >= 200 && status < 300) { bell.$bad = 0; if (q[0] === d) q.shift(); pump(bell); return; }
    if (!bell.$bad) { const since = bell.$bad = now(); push(since + 6 * HOUR, () => { if (bell.$bad === since) disable(bell); }); }
    if (status === 410) { disable(bell); return; }
    if (d.tries > RETRY.length) { if (q[0] === d) q.shift(); pump(bell); return; }
    d.ready = now() + RETRY[d.tries - 1];
    if (after > 0) { bell.$hold = now() + after; d.ready = Math.max(d.ready, bell.$hold); }
    push(d.ready, () => pump(bell)); pump(bell);
  };
  const timer = setTimeout(() => { if (req) req.destroy(); done(0, 0); }, 8000); timer.unref();
  try {
    const u = new URL(bell.address), s = u.protocol === 'https:';
    req = (s ? https : http).request(u, { method: 'POST', agent: s ? agentS : agentH, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Globe-Seal': `at=${ts},sum=${sum}`, 'X-Globe-Tune': d.kind } }, (r) => {
      r.on('error', () => {}); r.resume();
      const ra = r.headers['retry-after']; let after = 0;
      if (ra) after = /^\d+$/.test(ra) ? Number(ra) * 1000 : (Date.parse(ra) || 0) - now();
      done(r.statusCode, Math.min(Math.max(after, 0), DAY));
    });
    req.on('error', () => done(0, 0)); req.end(body);
  } catch { done(0, 0); }
}
function disable(bell) { if (!bell.ringing || bell.$gone) return; bell.ringing = false; bell.$bad = 0; bell.$q.clear(); }

// ---------------------------------------------------------------- machines
function stageTo(c, to) {
  const m = T.mould.get(c.mould), from = c.stage;
  if (m) { m.$busy += (to === 'making') - (from === 'making'); m.$casts += (counts(to) ? 1 : 0) - (counts(from) ? 1 : 0); }
  c.stage = to;
  if (c.$timer) { c.$timer.fn = null; c.$timer = null; }
}
const depositDue = (p) => Math.trunc(p >= 10000 ? p / 4 : p / 2);
function loanTo(l, to) {
  const was = OPEN.has(l.state); l.state = to;
  const counted = F === 'r10-overdue-frees-mould' ? to === 'asked' || to === 'out' : OPEN.has(to);
  if (was && !counted && openLoan.get(l.mould) === l.id) openLoan.delete(l.mould);
  if (l.$timer) { l.$timer.fn = null; l.$timer = null; }
}
function armDue(l, at) { if (l.$timer) l.$timer.fn = null; l.$timer = push(at, () => { l.$timer = null; loanTo(l, 'overdue'); emit('loan.moved', 'loan', l); }); }
function gone(c, was) { emit('commission.gone', 'commission', c, { commission: c.id, was: F === 'v3-was-is-new' ? c.stage : was, is: c.stage }); }
const wrote = (c) => { c.changed_at = iso(now()); if (F !== 'r3-deposit-not-reckoned-anew') c.deposit_due = depositDue(c.price); };
const MOVES = {
  place: { from: ['drafted'], do: (c) => { stageTo(c, 'ordered'); c.placed_at = iso(now()); wrote(c); emit('commission.placed', 'commission', c); } },
  begin: { from: ['ordered'], if: (c) => c.deposit === 'paid' ? null : 'deposit_owed', do: (c) => { stageTo(c, 'making'); wrote(c); } },
  finish: { from: ['making'], if: (c) => c.$gores >= (F === 's2-one-gore-enough' ? 1 : 2) ? null : 'not_ready', do: (c) => { stageTo(c, 'finished'); c.finished_at = iso(now()); wrote(c); emit('commission.finished', 'commission', c); } },
  rework: { from: ['finished'], do: (c) => { stageTo(c, 'making'); wrote(c); } },
  deliver: { from: ['finished'], do: (c) => { stageTo(c, 'delivered'); wrote(c); } },
  withdraw: { from: F === 's1-withdraw-from-making' ? ['drafted', 'ordered', 'making'] : ['drafted', 'ordered'], else: 'too_late', do: (c) => { const was = c.stage; stageTo(c, 'withdrawn'); wrote(c); gone(c, was); if (c.deposit === 'paid' && F !== 's7-no-refund') MOVES.refund.do(c); } },
  pay: { on: 'deposit', from: ['unpaid'], if: (c) => c.stage === 'ordered' || F === 's6-pay-at-any-stage' ? null : 'not_ready', do: (c) => { c.deposit = 'paid'; wrote(c); emit('deposit.moved', 'commission', c); } },
  refund: { on: 'deposit', from: ['paid'], do: (c) => { c.deposit = 'refunded'; wrote(c); emit('deposit.moved', 'commission', c); } },
  grant: { from: ['asked'], do: (l, c) => { loanTo(l, 'out'); const at = now() + l.weeks * 168 * HOUR; l.due = iso(at); l.lent_by = c.id; armDue(l, at); emit('loan.moved', 'loan', l); } },
  decline: { from: ['asked'], do: (l) => { loanTo(l, 'declined'); emit('loan.moved', 'loan', l); } },
  extend: { from: ['out'], if: (l, b) => { const u = instant(b.until), d = Date.parse(l.due); return u > d || (F === 's8-extend-to-same' && u === d) ? null : 'not_longer'; }, do: (l, c, b) => { const u = instant(b.until); l.due = iso(u); l.extensions++; if (F !== 's4-old-due-stays') armDue(l, u); } },
  return: { from: F === 's5-no-return-when-overdue' ? ['out'] : ['out', 'overdue'], do: (l) => { loanTo(l, 'returned'); emit('loan.moved', 'loan', l); } },
};

// ---------------------------------------------------------------- permissions: user -> [scope, over resource]
const B = 'bench', O = 'order';
const mine = (c, r) => r.patron === c.id;
const PERM = {
  'list mould': 'anyone', 'read mould': 'anyone',
  'create mould': { keeper: { s: F === 'a6-no-scope-for-moulds' ? null : B } }, 'replace mould': { keeper: { s: B } }, 'delete mould': { keeper: { s: B } },
  'create commission': { patron: { s: O } }, 'list commission': { patron: {}, keeper: {}, curator: {} }, 'read commission': { patron: {}, keeper: {}, curator: {} },
  'update commission': { patron: { s: O, if: mine }, keeper: { s: B } }, 'place commission': { patron: { s: O, if: mine } }, 'withdraw commission': { patron: { s: O, if: mine } }, 'pay commission': { patron: { s: O, if: mine } },
  'begin commission': { keeper: { s: B } }, 'finish commission': { keeper: { s: B } }, 'rework commission': { keeper: { s: B } }, 'deliver commission': { keeper: { s: B } }, 'refund commission': { keeper: { s: B } },
  'create gore': { keeper: { s: B } }, 'list gore': { keeper: {}, patron: {} }, 'read gore': { keeper: {}, patron: {} },
  'create loan': { curator: {} }, 'list loan': { curator: {}, keeper: {} }, 'read loan': { curator: {}, keeper: {} },
  'extend loan': { curator: { if: (c, r) => r.borrower === c.id } }, 'return loan': { curator: { if: (c, r) => r.borrower === c.id || (F === 'a3-house-returns' && r.house === c.house) }, keeper: { s: B } },
  'grant loan': { keeper: { s: B } }, 'decline loan': { keeper: { s: B } },
  'create bell': { keeper: {}, patron: {}, curator: {} }, 'list bell': { keeper: {}, patron: {}, curator: {} }, 'read bell': { keeper: {}, patron: {}, curator: {} }, 'update bell': { keeper: {}, patron: {}, curator: {} }, 'delete bell': { keeper: {}, patron: {}, curator: {} },
  'list entry': { keeper: {} }, 'read entry': { keeper: {} },
};

// ---------------------------------------------------------------- routes
const PATHS = [];
function route(method, p, verb, res, x = {}) {
  let e = PATHS.find((q) => q.p === p); if (!e) PATHS.push(e = { p, seg: p.slice(1).split('/'), m: {} });
  e.m[method] = { method, verb, res, op: x.as || `${verb} ${res}`, ...x };
}
const moved = (m, o) => ({ move: m, params: {}, ...o });
route('GET', '/scales', 'reply', '', { as: 'tell scales', open: true, params: {} });
route('POST', '/moulds', 'create', 'mould', { body: 1, params: {} });
const P = {
  int: (min, max) => (v) => { if (!/^-?\d{1,15}$/.test(v)) return 'a whole number'; const n = Number(v); return n < min ? `at least ${min}` : n > max ? `at most ${max}` : { v: n }; },
  enum: (l) => (v) => l.includes(v) ? { v } : 'one of ' + l.join(', '),
  text: (min, max, re) => (v) => { const e = str(min, max, re)(v); return e || { v }; },
  date: (v) => { const t = instant(v); return Number.isNaN(t) ? 'a date-time' : { v: t }; },
};
route('GET', '/moulds', 'list', 'mould', {
  params: { sphere: P.enum(SPHERES), at_least: P.int(0, 5000), below: P.int(0, 5000), maker: P.text(2, 60), mark: P.text(0, 0), sort: P.enum(['code', '-code', 'diameter', '-diameter']) }, oldNo: ['at_least', 'below'],
  keep: (q) => (r) => (q.sphere === undefined || r.sphere === q.sphere) && (q.at_least === undefined || (F === 'e1-at-least-is-more' ? r.diameter > q.at_least : r.diameter >= q.at_least)) && (q.below === undefined || r.diameter < q.below) && (q.maker === undefined || (r.maker !== undefined && r.maker.startsWith(q.maker))) && (q.mark === undefined || (r.marks !== undefined && r.marks.includes(q.mark))),
  order: (q) => q.sort || 'code', page: { from: 'leaf', size: 'take', def: 10, max: 40, style: 'page', link: true },
});
route('GET', '/moulds/{code}', 'read', 'mould', { params: {}, etag: 1, cache: 'public, max-age=30' });
route('PUT', '/moulds/{code}', 'replace', 'mould', { body: 1, params: {}, match: 1 });
route('DELETE', '/moulds/{code}', 'delete', 'mould', { params: {} });
if (F === 'e8-patch-mould') PATHS.find((q) => q.p === '/moulds/{code}').m.PATCH = PATHS.find((q) => q.p === '/moulds/{code}').m.PUT;
route('POST', '/commissions', 'create', 'commission', { body: 1, params: {} });
route('GET', '/commissions', 'list', 'commission', {
  params: {
    stage: { many: true, f: (v) => { const l = v.split(','); if (l.length > 100) return 'at most 100 values'; for (const s of l) if (!STAGES.includes(s)) return 'one of ' + STAGES.join(', '); return { v: F === 'e2-first-stage-alone' ? l.slice(0, 1) : l }; } },
    mould: P.text(0, 0, CODE), until_price: P.int(0, Infinity), of_diameter: P.int(-Infinity, Infinity),
    words: (v) => { const e = str(2, 40)(v); if (e) return e; const l = v.split(/\s+/).filter(Boolean); return l.length > 16 ? 'at most 16 words' : { v: F === 'e11-words-mind-case' ? l : l.map((w) => w.toLowerCase()) }; },
    sort: P.enum(['price', '-price', 'changed_at', '-changed_at']),
  },
  keep: (q, ed) => (r) => {
    if (q.stage && !q.stage.includes(r.stage)) return false;
    if (q.mould !== undefined && r.mould !== q.mould) return false;
    if (q.until_price !== undefined && r.price > q.until_price) return false;
    if (q.of_diameter !== undefined) { const d = T.mould.get(r.mould).diameter; if ((ed === 1 ? d / 10 : d) !== q.of_diameter) return false; }
    if (q.words) { const low = (s) => F === 'e11-words-mind-case' ? s : s.toLowerCase(); const a = low(r.inscription), b = r.reference === undefined ? '' : low(r.reference); for (const w of q.words) if (!a.includes(w) && !b.includes(w)) return false; }
    return true;
  },
  order: (q) => q.sort || '-changed_at', page: { from: 'thread', size: 'take', def: 15, max: 60, style: 'cursor', clamp: true },
});
route('GET', '/commissions/{id}', 'read', 'commission', { params: {}, etag: 1, cache: 'private, no-cache' });
route('PATCH', '/commissions/{id}', 'update', 'commission', { body: 1, params: {}, match: 2 });
for (const m of ['place', 'begin', 'finish', 'rework', 'deliver', 'withdraw', 'pay', 'refund']) route('POST', `/commissions/{id}/${m}`, m, 'commission', moved(m, m === 'deliver' ? { match: 1 } : {}));
route('POST', '/commissions/{commission}/gores', 'create', 'gore', { body: 1, params: {}, parent: 1 });
route('GET', '/commissions/{commission}/gores', 'list', 'gore', { params: { paper: P.enum(PAPERS) }, parent: 1, keep: (q) => (r) => q.paper === undefined || r.paper === q.paper, order: () => F === 'e10-gores-as-made' ? 'id' : 'west', page: { style: 'none' } });
route('GET', '/gores/{id}', 'read', 'gore', { params: {} });
route('POST', '/loans', 'create', 'loan', { body: 1, params: {} });
route('GET', '/loans', 'list', 'loan', {
  params: { state: P.enum(LOANS), mould: P.text(0, 0, CODE), purpose: P.enum(PURPOSES), due_before: P.date, shelf: P.enum(['away', 'back']), by: P.enum(['age', '-age', 'length', '-length']), way: P.enum(['asc', 'desc']) }, oldNo: ['purpose'],
  keep: (q) => (r) => (q.state === undefined || r.state === q.state) && (q.mould === undefined || r.mould === q.mould) && (q.purpose === undefined || r.purpose !== q.purpose) && (q.due_before === undefined || (r.due !== undefined && Date.parse(r.due) < q.due_before)) && (q.shelf === undefined || (q.shelf === 'away' ? r.state === 'out' || r.state === 'overdue' : r.state === 'returned')),
  order: (q) => { let o = q.by ? q.by.replace('age', 'asked_at').replace('length', 'weeks') : 'asked_at'; if (q.way === 'desc' && (q.by || F !== 'e3-way-needs-by')) o = o[0] === '-' ? o.slice(1) : '-' + o; return o; },
  page: { from: 'leaf', size: 'take', def: 10, max: F === 'l1-one-more-loan' ? 41 : 40, style: 'page', link: true },
});
route('GET', '/loans/{id}', 'read', 'loan', { params: {}, etag: 1 });
for (const m of ['grant', 'decline', 'extend', 'return']) route('POST', `/loans/{id}/${m}`, m, 'loan', moved(m, m === 'extend' ? { body: 1 } : {}));
route('POST', '/bells', 'create', 'bell', { body: 1, params: {} });
route('GET', '/bells', 'list', 'bell', { params: {}, keep: () => () => true, order: () => 'hung_at', page: { from: 'leaf', size: 'take', def: 10, max: 40, style: 'page', link: true } });
route('GET', '/bells/{id}', 'read', 'bell', { params: {} });
route('PATCH', '/bells/{id}', 'update', 'bell', { body: 1, params: {} });
route('DELETE', '/bells/{id}', 'delete', 'bell', { params: {} });
route('GET', '/diary', 'list', 'entry', { params: { tune: P.text(0, 0), about: P.text(0, 0) }, fresh: true, keep: (q) => (r) => (q.tune === undefined || r.tune === q.tune) && (q.about === undefined || r.about === q.about), order: () => '-at', page: { from: 'from', size: 'take', def: 10, max: 50, style: 'row' } });
route('GET', '/diary/{id}', 'read', 'entry', { params: {} });
function find(p) {
  const seg = p.slice(1).split('/'); let best = null, vals = null, lit = -1;
  for (const e of PATHS) {
    if (e.seg.length !== seg.length) continue;
    let ok = true, v = [], n = 0;
    for (let i = 0; i < seg.length; i++) { if (e.seg[i][0] === '{') { if (seg[i] === '') { ok = false; break; } let d; try { d = decodeURIComponent(seg[i]); } catch { ok = false; break; } v.push(d); } else if (e.seg[i] === seg[i]) n++; else { ok = false; break; } }
    if (!ok) continue;
    if (n > lit) { best = e; vals = v; lit = n; }
  }
  if (!best) return null;
  return { m: best.m, v: vals };
}

// ---------------------------------------------------------------- rates
const R1 = new Map(), R2 = new Map(), R3 = new Map();
const SL = MIN / 64;
function sliding(who, t) {
  let s = R1.get(who); if (!s) R1.set(who, s = { q: [], n: 0 });
  while (s.q.length && (s.q[0].k + 1) * SL + MIN <= t) { s.n -= s.q[0].n; s.q.shift(); }
  const first = () => s.q.length ? (s.q[0].k + 1) * SL + MIN : t;
  return { limit: 6000, left: () => 6000 - s.n, reset: () => first() - t, ok: s.n < 6000, wait: () => first() - t, take() { const k = Math.floor(t / SL), l = s.q[s.q.length - 1]; if (l && l.k === k) l.n++; else s.q.push({ k, n: 1 }); s.n++; }, back() { const l = s.q[s.q.length - 1]; if (l && l.n > 0) { l.n--; s.n--; if (!l.n) s.q.pop(); } } };
}
function fixed(who, t) {
  let s = R2.get(who); if (!s || s.t + 20000 <= t) R2.set(who, s = { t, n: 0 });
  return { limit: 90, left: () => 90 - s.n, reset: () => s.t + 20000 - t, ok: s.n < 90, wait: () => s.t + 20000 - t, take() { s.n++; }, back() { s.n--; } };
}
function bucket(who, t) { // in units of 1/30000 of a token: 20 in 10 min = one each 30 s
  let s = R3.get(who); if (!s) R3.set(who, s = { t, v: 30 * 30000 });
  s.v = Math.min(30 * 30000, s.v + Math.max(0, t - s.t)); s.t = t;
  return { limit: 20, left: () => Math.floor(s.v / 30000), reset: () => 30000 - s.v % 30000, ok: s.v >= 30000, wait: () => 30000 - s.v, take() { s.v -= 30000; }, back() { s.v += 30000; } };
}
function rates(x) {
  const who = x.caller ? x.caller.user + ' ' + x.caller.id : '@' + x.req.socket.remoteAddress, t = now();
  const l = [sliding(who, t)];
  if (x.ep.op === 'tell scales') l.push(fixed(who, t)); else if (x.ep.op === 'extend loan') l.push(bucket(who, t));
  x.rates = l;
  let wait = -1; for (const r of l) if (!r.ok) wait = Math.max(wait, r.wait());
  if (wait >= 0) no('too_often', { headers: { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) } });
  for (const r of l) r.take(); x.counted = true;
}
const QUOTA = new Map();
const paris = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Paris', year: 'numeric', month: '2-digit', day: '2-digit' });
function quota(c) {
  const d = paris.format(now()), k = c.id + ' ' + d, n = QUOTA.get(k) || 0;
  if (n >= 40) { let t = Math.floor(now() / HOUR) * HOUR; while (paris.format(t) === d) t += HOUR; no('used_up', { headers: { 'Retry-After': String(Math.ceil((t - now()) / 1000)) } }); }
  return () => QUOTA.set(k, n + 1);
}

// ---------------------------------------------------------------- a request
const RID = rand(8, LOW); let ridSeq = 0;
const KEPT = new Map();
const SCALES = JSON.stringify({ scales: ['1:20000000', '1:40000000', '1:80000000'], base: 40 });
const CURSOR = crypto.randomBytes(32);
const UTF8 = new TextDecoder('utf-8', { fatal: true });

function send(x, status, body, headers) {
  const res = x.res; if (x.sent) return; x.sent = true;
  if (x.timer) { clearTimeout(x.timer); x.timer = null; }
  const h = { 'X-Globe-Ticket': x.ticket, ...headers };
  if (x.ep && !x.ep.open) h.Vary = 'Authorization, X-Wax, X-Wax-Key';
  if (x.rates) {
    if (status === 304 && x.counted) x.rates[0].back();
    let s = x.rates[0]; for (const r of x.rates) if (r.left() < s.left()) s = r;
    h['X-Bench-Limit'] = String(s.limit); h['X-Bench-Left'] = String(Math.max(0, s.left())); h['X-Bench-Reset'] = String(Math.max(0, Math.ceil(s.reset() / 1000)));
  }
  if (x.ed === 1 && !(F === 'n2-refusals-not-deprecated' && status >= 400)) {
    h.Deprecation = '@' + STATE_AT / 1000; h.Sunset = new Date(SUNSET_AT).toUTCString();
    const l = `<https://globes.example/editions>; rel="deprecation", <${x.path}${requery(x, { edition: 'second' })}>; rel="successor-version"`;
    h.Link = h.Link ? h.Link + ', ' + l : l;
  }
  if (body !== undefined) { h['Content-Type'] = 'application/json'; h['Content-Length'] = Buffer.byteLength(body); }
  else if (status !== 204 && status !== 304) h['Content-Length'] = 0;
  if (x.cut) h.Connection = 'close';
  res.writeHead(status, h);
  if (x.req.method === 'HEAD' || body === undefined) res.end(); else res.end(body);
}
function requery(x, set) {
  const p = new URLSearchParams(x.query); for (const k in set) p.set(k, set[k]);
  const s = p.toString(); return s ? '?' + s : '';
}
function refuse(x, r) {
  if (!(r instanceof Refusal)) { console.error(r); r = new Refusal('broken'); }
  const status = STATUS[r.code];
  let says = r.says || SAYS[r.code];
  const trouble = { word: r.code };
  if (says) trouble.says = says;
  trouble.grade = status; if (r.places && r.places.length) trouble.places = r.places; trouble.ticket = x.ticket;
  const body = JSON.stringify({ trouble }), h = { ...r.headers, 'X-Trouble': r.code };
  if (x.keep && OWN.has(r.code)) keepAnswer(x, status, body, { 'X-Trouble': r.code });
  send(x, status, body, h);
}
function keepAnswer(x, status, body, headers) { KEPT.set(x.keep.key, { fp: x.keep.fp, status, body, headers, until: now() + 12 * HOUR }); }

function credentials(x) { // what is shown, before a body is read
  const raw = x.req.rawHeaders; let auth, wax, key, n = 0;
  const bad = () => no('who_are_you', { headers: { 'WWW-Authenticate': `Stamp realm="${TITLE}", error="invalid_key", HMAC realm="${TITLE}"` } });
  x.bad = bad;
  for (let i = 0; i < raw.length; i += 2) {
    const l = raw[i].length; if (l !== 13 && l !== 5 && l !== 9) continue;
    const k = raw[i].toLowerCase();
    if (k === 'authorization') { if (auth !== undefined) bad(); auth = raw[i + 1]; }
    else if (k === 'x-wax') { if (wax !== undefined) bad(); wax = raw[i + 1]; }
    else if (k === 'x-wax-key') { if (key !== undefined) bad(); key = raw[i + 1]; }
  }
  if (auth === undefined && wax === undefined && key === undefined) {
    if (PERM[x.ep.op] === 'anyone') return;
    no('who_are_you', { headers: { 'WWW-Authenticate': `Stamp realm="${TITLE}", HMAC realm="${TITLE}"` } });
  }
  if (auth !== undefined) {
    const m = /^stamp +(\S+)$/i.exec(auth); const c = m && KEYS.get(F === 'a5-stamp-any-case' ? m[1].toLowerCase() : m[1]);
    if (!c) { if (F === 'a8-bad-stamp-as-nobody' && PERM[x.ep.op] === 'anyone') return; bad(); }
    x.caller = c;
  }
  if (wax !== undefined || key !== undefined) {
    const m = /^t=(\d{1,12}),w=([0-9a-f]{64})$/.exec(wax || ''), k = WAX.get(key || '');
    if (!m || !k || (Math.abs(now() - Number(m[1]) * 1000) > 300000 && F !== 'a4-wax-of-any-time')) bad();
    if (x.caller && (x.caller.id !== k.caller.id || x.caller.user !== k.caller.user)) bad();
    x.wax = { t: m[1], w: m[2], k };
  }
}
function verifyWax(x) {
  const { t, w, k } = x.wax;
  const h = crypto.createHmac('sha256', k.secret).update(`${x.req.method}\n${x.req.url}\n${t}\n`);
  if (x.raw) h.update(x.raw);
  if (!crypto.timingSafeEqual(h.digest(), Buffer.from(w, 'hex'))) x.bad();
  if (x.caller) x.caller = { ...k.caller, scopes: new Set([...k.caller.scopes, ...x.caller.scopes]) }; else x.caller = k.caller;
}
function collect(x, then) { // reads the body, up to its size
  if (x.raw !== undefined || !x.hasBody) { if (!x.hasBody) x.raw = null; return then(); }
  const req = x.req, parts = []; let n = 0, over = false;
  const cl = req.headers['content-length'];
  const big = () => { over = true; if (cl !== undefined && Number(cl) > 16777216) x.cut = true; req.removeAllListeners('data'); req.resume(); refuse(x, new Refusal('too_big')); };
  if (cl !== undefined && Number(cl) > 8192) return big();
  x.timer = setTimeout(() => { over = true; x.cut = true; x.timer = null; refuse(x, new Refusal('too_slow')); setTimeout(() => req.socket.destroy(), 200).unref(); }, 6000);
  req.on('data', (c) => { if (over) return; n += c.length; if (n > 8192 && !(F === 'l3-chunks-not-measured' && cl === undefined)) return big(); parts.push(c); });
  req.on('end', () => { if (over || x.sent) return; clearTimeout(x.timer); x.timer = null; x.raw = parts.length === 1 ? parts[0] : Buffer.concat(parts); then(); });
  req.on('error', () => { over = true; if (x.timer) clearTimeout(x.timer); });
}
function guard(x, fn) { try { fn(); } catch (e) { refuse(x, e); } }

function handle(req, res) {
  const x = { req, res, ticket: RID + (ridSeq++).toString(36), ed: 2 };
  guard(x, () => {
    const t = now(); if (t > lastTime) lastTime = t;
    if (heap.length && heap[0].at <= t) due(t);
    let url = req.url;
    if (Buffer.byteLength(url, 'latin1') > 2048) no('long_address');
    let hs = 0; const raw = req.rawHeaders; for (let i = 0; i < raw.length; i++) hs += raw[i].length + 2;
    if (hs > 8192) no('long_head');
    if (url[0] !== '/') { const m = /^https?:\/\/[^/?]*(.*)$/.exec(url); url = m ? (m[1] || '/') : '/'; if (url[0] !== '/') url = '/' + url; }
    const i = url.indexOf('?'); x.path = i < 0 ? url : url.slice(0, i); x.query = i < 0 ? '' : url.slice(i + 1);
    let p = x.path;
    if (p.startsWith(BASE + '/')) p = p.slice(BASE.length); else if (F === 'p1-without-base' && p.startsWith('/moulds')) ; else no('no_such_room');
    if (F === 'e9-slash-at-end' && p.length > 1 && p.endsWith('/')) p = p.slice(0, -1);
    const f = find(p); if (!f) no('no_such_room');
    const ed = x.query.includes('edition') ? new URLSearchParams(x.query).getAll('edition') : [];
    const old = ed.length === 1 && ed[0] === 'first';
    let methods = Object.keys(f.m);
    if (old) methods = methods.filter((m) => !f.m[m].fresh);
    if (!methods.length) { no('no_such_room'); }
    const allow = () => { const l = [...methods]; if (l.includes('GET')) l.push('HEAD'); l.push('OPTIONS'); return l.join(', '); };
    if (req.method === 'OPTIONS') { send(x, 204, undefined, { Allow: allow() }); return; }
    const ep = methods.includes(req.method === 'HEAD' ? 'GET' : req.method) ? f.m[req.method === 'HEAD' ? 'GET' : req.method] : null;
    if (!ep) no('not_that_way', { headers: { Allow: allow() } });
    x.ep = ep; x.v = f.v;
    if (ed.length) { if (ed.length > 1 || (ed[0] !== 'first' && ed[0] !== 'second')) no('no_such_edition'); if (old) { x.ed = 1; if (now() >= SUNSET_AT) no('out_of_print'); } }
    x.hasBody = req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] !== undefined && Number(req.headers['content-length']) > 0);
    if (!ep.open) credentials(x);
    if (x.wax) return collect(x, () => guard(x, () => { verifyWax(x); middle(x); }));
    middle(x);
  });
}
function middle(x) {
  const { ep, req } = x;
  rates(x);
  // user
  const perm = ep.open ? 'anyone' : PERM[ep.op];
  if (perm !== 'anyone') {
    x.rule = x.caller && perm[x.caller.user]; if (!x.rule) no('not_yours');
    if (x.rule.s && !x.caller.scopes.has(x.rule.s)) no('wants_scope');
  }
  parameters(x);
  if (ep.verb !== 'delete' && req.headers.accept !== undefined && !accepts(req.headers.accept)) no('cannot_show');
  x.key = req.method === 'POST' ? req.headers['once-key'] : undefined; if (x.key === '') x.key = undefined;
  if (ep.body) {
    if (x.hasBody) {
      const ct = req.headers['content-type'];
      const m = ct === undefined ? null : /^\s*([^;\s]+)\s*(?:;(.*))?$/.exec(ct), type = m && m[1].toLowerCase();
      const cs = m && m[2] && /charset\s*=\s*"?([^";\s]+)/i.exec(m[2]);
      if (!(type === 'application/json' || (ep.verb === 'update' && type === 'application/merge-patch+json')) || (cs && !/^utf-?8$/i.test(cs[1])) || (req.headers['content-encoding'] && req.headers['content-encoding'] !== 'identity')) { no('wrong_paper'); }
    }
    return collect(x, () => guard(x, () => {
      if (!x.raw || !x.raw.length) no('unwritten');
      let text; try { text = UTF8.decode(x.raw); x.body = JSON.parse(text); } catch { no('garbled'); }
      last(x);
    }));
  }
  if (x.key !== undefined) return collect(x, () => guard(x, () => last(x)));
  last(x);
}
function accepts(a) {
  let best = -1, q = 0;
  for (const part of a.split(',')) {
    const [t, ...ps] = part.split(';').map((s) => s.trim()); const type = t.toLowerCase();
    const rank = type === 'application/json' ? 2 : type === 'application/*' ? 1 : type === '*/*' || type === '*' ? 0 : -1; if (rank < 0) continue;
    let w = 1; for (const s of ps) { const m = /^q=([0-9.]+)$/i.exec(s); if (m) w = Number(m[1]); }
    if (rank > best) { best = rank; q = w; } else if (rank === best) q = Math.max(q, w);
  }
  return best >= 0 ? q > 0 : a.trim() === '';
}
function parameters(x) {
  const { ep } = x, q = {}; x.q = q; x.pg = {};
  if (!x.query) return;
  try { decodeURIComponent(x.query.replace(/\+/g, ' ')); } catch { badParam('', x.query, 'a query that can be read'); }
  const page = ep.page, seen = new Set(), pages = [];
  for (const [k, v] of new URLSearchParams(x.query)) {
    if (k === 'edition') continue;
    if (page && (k === page.from || k === page.size)) { if (seen.has(k)) badParam(k, v, 'one value'); seen.add(k); pages.push([k, v]); continue; }
    const d = Object.hasOwn(ep.params, k) ? ep.params[k] : undefined;
    if (!d) badParam(k, v, 'a parameter that is stated');
    if (x.ed === 1 && ep.oldNo && ep.oldNo.includes(k)) badParam(k, v, 'equality alone in this edition');
    if (d.many) { const r = d.f(v); if (typeof r === 'string') badParam(k, v, r); q[k] = q[k] ? [...q[k], ...r.v] : r.v; seen.add(k); continue; }
    if (seen.has(k)) badParam(k, v, 'one value'); seen.add(k);
    const r = d(v); if (typeof r === 'string') badParam(k, v, r); q[k] = r.v;
  }
  for (const [k, v] of pages) {
    if (k === page.size || page.style !== 'cursor') {
      if (!/^\d{1,12}$/.test(v) || Number(v) < 1) badPage(k, v, 'a whole number from 1');
      let n = Number(v); if (k === page.size && n > page.max) { if (page.clamp) n = page.max; else badPage(k, v, `at most ${page.max}`); }
      if (k === page.size) x.pg.size = n; else x.pg.from = n;
    } else x.pg.cursor = v;
  }
  if (x.pg.cursor !== undefined) x.pg.at = readCursor(x, x.pg.cursor);
}
const queryKey = (x) => crypto.createHash('sha1').update(JSON.stringify([x.ed, F === 'l4-cursor-for-all' ? 0 : Object.entries(x.q).sort((a, b) => a[0] < b[0] ? -1 : 1), x.caller.user, x.caller.id])).digest('base64url').slice(0, 12);
function makeCursor(x, v, n) { const b = Buffer.from(JSON.stringify([queryKey(x), v, n])).toString('base64url'); return b + '.' + crypto.createHmac('sha256', CURSOR).update(b).digest('base64url').slice(0, 22); }
function readCursor(x, c) {
  const i = c.indexOf('.'), b = c.slice(0, i); let d;
  if (i < 0 || crypto.createHmac('sha256', CURSOR).update(b).digest('base64url').slice(0, 22) !== c.slice(i + 1)) badPage('thread', c, 'a thread that was given');
  d = JSON.parse(Buffer.from(b, 'base64url').toString()); if (d[0] !== queryKey(x)) badPage('thread', c, 'a thread of this query');
  return d;
}
const tagOf = (res, row, user, ed) => {
  const v = view(res, row, user, ed); if (F === 'e4-tag-not-of-gores') delete v.gores;
  return '"' + crypto.createHash('sha1').update(ed + JSON.stringify(v)).digest('base64url').slice(0, 20) + '"';
};
function lookup(res, id) {
  if (res === 'gore') return /^[1-9]\d{0,14}$/.test(id) ? T.gore.get(Number(id)) : undefined;
  if (res === 'entry') purge();
  return T[res].get(id);
}
function answer(x, status, value, headers) {
  const body = value === undefined ? undefined : JSON.stringify(value);
  if (x.keep) keepAnswer(x, status, x.keepBody !== undefined && F !== 'r6-tongue-told-again' ? x.keepBody : body, headers || {});
  send(x, status, body, headers);
}
const LOCATE = { mould: 'moulds', commission: 'commissions', gore: 'gores', loan: 'loans', bell: 'bells' };

function last(x) {
  const { ep, caller } = x;
  if (ep.verb === 'reply') return answer(x, 200, JSON.parse(SCALES));
  // idempotency
  if (x.key !== undefined) {
    const key = (F === 'e6-key-of-everybody' && ep.op === 'create loan' ? '' : caller.user + ' ' + caller.id) + '\n' + ep.op + '\n' + x.key, fp = x.path + '\n' + x.query + '\n' + x.ed + '\n' + (x.raw ? x.raw.toString('latin1') : '');
    const k = KEPT.get(key);
    if (k && k.until > now()) { if (k.fp !== fp) no('key_reused'); return send(x, k.status, k.body, k.headers); }
    x.keep = { key, fp };
  }
  const user = caller ? caller.user : null;
  let parent, row;
  if (ep.parent) { parent = T.commission.get(x.v[0]); if (!parent || !mayRead(caller, 'commission', parent)) no('no_such_piece'); }
  if (ep.verb === 'list') return lists(x, parent);
  if (ep.verb !== 'create') {
    row = lookup(ep.res, x.v[0]);
    if (!row || !(mayRead(caller, ep.res, row) || (F === 'a1-read-of-others' && ep.op === 'read commission' && user === 'patron'))) no('no_such_piece');
    if (x.rule && x.rule.if && !x.rule.if(caller, row)) no('not_yours');
  }
  if (ep.verb === 'read') {
    const h = {}; if (ep.cache) h['Cache-Control'] = ep.cache;
    if (ep.etag) {
      const tag = h.ETag = tagOf(ep.res, row, user, x.ed), inm = x.req.headers['if-none-match'];
      if (inm !== undefined && (inm.trim() === '*' || inm.split(',').some((t) => t.trim().replace(/^W\//, '') === tag))) return send(x, 304, undefined, h);
    }
    return answer(x, 200, view(ep.res, row, user, x.ed), h);
  }
  // preconditions
  if (ep.match) {
    const im = x.req.headers['if-match'];
    if (im === undefined) { if (ep.match === 2 && F !== 'e5-tag-not-wanted') no('tag_wanted'); }
    else {
      const tags = im.split(',').map((t) => t.trim()), mineTag = tagOf(ep.res, row, user, x.ed);
      if (!tags.includes('*') && !tags.includes(mineTag) && !(ep.res === 'mould' && tags.includes(tagOf(ep.res, row, null, x.ed)))) no('stale');
    }
  }
  if (ep.move) return move(x, row);
  if (ep.verb === 'create') return create(x, parent);
  if (ep.verb === 'delete') return remove(x, row);
  return change(x, row);
}

// holds a body to its shape; gives what may be written, in the newest shape
function held(x, mode, row, bound) {
  const { ep, body } = x, res = ep.res, spec = x.ed === 1 ? OLD[res] : SPEC[res], places = [], o = {};
  let code = null;
  const bad = (c, p, v, expected) => { code = code || c; places.push({ in: 'body', path: p, found: found(v), expected }); };
  const sep = F === 'x3-places-as-pointers' ? '/' : '.';
  const at = (k, i) => sep === '/' ? '/' + k + (i === undefined ? '' : '/' + i) : k + (i === undefined ? '' : '.' + i);
  if (body === null || typeof body !== 'object' || Array.isArray(body)) no('ill_fitting', { places: [{ in: 'body', path: '', found: found(body), expected: 'a map' }] });
  for (const k of Object.keys(body)) {
    const f = Object.hasOwn(spec, k) ? spec[k] : undefined, v = body[k];
    if (!f) { bad('no_such_field', at(k), v, 'no such field'); continue; }
    if (f.ro || (f.who && f.who !== x.caller.user)) continue;
    if (v === null && mode === 'patch' && !f.req && !f.must) { o[k] = null; continue; }
    let e = f.w(v);
    if (F === 'r2-replace-too-large' && mode === 'put' && k === 'diameter' && v === 2001) e = null;
    if (e) { if (typeof e === 'object') bad('ill_fitting', at(k, e.at), v[e.at], e.expected); else bad('ill_fitting', at(k), v, e); continue; }
    if (bound && k in bound && bound[k] !== v) { bad('ill_fitting', at(k), v, bound[k]); continue; }
    o[k] = v;
  }
  let miss = null;
  if (mode !== 'patch') for (const k in spec) if (spec[k].req && !(bound && k in bound) && !Object.hasOwn(body, k)) { miss = miss || k; bad('left_blank', at(k), undefined, 'a value'); }
  const u = x.ed === 1 ? up(res, o, row) : o;
  if (res === 'gore' && !code && u.east <= u.west) bad('ill_fitting', at('east'), u.east, 'a meridian east of west');
  if (code) no(code, { places, says: code === 'left_blank' ? `${miss} is missing` : undefined });
  return u;
}
function ownErrors(ep, next) {
  const m = T.mould.get(next.mould);
  if (ep.res === 'commission') {
    if (m.sphere !== next.sphere) no('wrong_sphere');
    if (F === 'x1-underpriced-at-edge' ? next.price <= m.diameter * 2 : next.price < m.diameter * 2) no('underpriced');
  } else if (ep.res === 'loan') {
    if (m.$busy > 0) no('mould_busy');
    if (m.diameter > 1200 && next.weeks > 8) no('too_heavy');
  }
}
function refMould(code) { if (!T.mould.has(code)) no(F === 'x4-dangling-as-missing' ? 'no_such_piece' : 'dangling', { places: [{ in: 'body', path: F === 'x3-places-as-pointers' ? '/mould' : 'mould', found: found(code), expected: 'a mould that is there' }] }); }
function create(x, parent) {
  const { ep, caller } = x, res = ep.res, t = iso(now());
  const b = held(x, 'create', null, parent ? { commission: parent.id } : undefined);
  const spec = SPEC[res]; for (const k in spec) if (spec[k].def !== undefined && b[k] === undefined) b[k] = spec[k].def;
  let row;
  if (res === 'mould') {
    if (T.mould.has(b.code)) no('already_there');
    row = { ...b, added_at: t, changed_at: t, $casts: 0, $busy: 0, $refs: 0 };
  } else if (res === 'commission') {
    refMould(b.mould); ownErrors(ep, b);
    const uk = b.reference === undefined ? null : caller.id + '\n' + b.reference; if (uk && uniqRef.has(uk)) no('already_there');
    row = { ...b, id: 'com-' + rand(10, '0123456789abcdef'), patron: caller.id, deposit_due: depositDue(b.price), stage: 'drafted', deposit: 'unpaid', changed_at: t, $gores: 0, $strip: 0, $list: [] };
    if (F === 's9-dear-ones-begin-ordered' && b.price >= 50000) row.stage = 'ordered';
    if (uk) uniqRef.set(uk, row.id);
    T.mould.get(b.mould).$refs++;
    row.$timer = push(now() + (F === 's3-lapse-too-early' ? 20 : 21) * DAY, () => { row.$timer = null; stageTo(row, 'lapsed'); wrote(row); gone(row, 'drafted'); });
  } else if (res === 'gore') {
    if (parent.stage !== 'making' && parent.stage !== 'ordered' && F !== 'a7-gores-at-any-stage') no('not_yours');
    if (parent.$gores >= 24) no('used_up');
    row = { ...b, id: ++goreId, commission: parent.id, strip: F === 'r4-strip-over-all' ? ++stripAll : ++parent.$strip, width: b.east - b.west, printer: caller.id, printed_at: t };
    parent.$gores++; parent.$list.push(row);
  } else if (res === 'loan') {
    if (F === 'r11-insured-text' && typeof b.insured === 'string') b.insured = Number(b.insured);
    refMould(b.mould); ownErrors(ep, b);
    if (openLoan.has(b.mould)) no('already_there');
    row = { ...b, id: uuid7(), house: caller.house, borrower: caller.id, state: 'asked', extensions: 0, asked_at: t };
    openLoan.set(b.mould, row.id); T.mould.get(b.mould).$refs++;
    row.$timer = push(now() + 5 * DAY, () => { row.$timer = null; loanTo(row, 'declined'); if (F !== 'v2-forget-untold') emit('loan.moved', 'loan', row); });
  } else {
    const n = bellCount.get(caller.id) || 0; if (n >= 12) no('used_up');
    row = { ...b, id: 'bell_' + rand(12, LOW), owner: caller.id, tongue: 'tng_' + rand(32, ALNUM), hung_at: t, $maker: caller, $ed: x.ed, $q: new Map(), $flying: 0, $bad: 0, $hold: 0, $pump: false, $gone: false };
    bellCount.set(caller.id, n + 1);
  }
  row.$n = rowSeq++;
  const id = idOf(res, row); T[res].set(id, row);
  if (res === 'gore') emit('gore.printed', 'gore', row); else if (res === 'loan') emit('loan.asked', 'loan', row);
  const v = view(res, row, caller.user, x.ed);
  if (res === 'bell') { x.keepBody = JSON.stringify(v); v.tongue = row.tongue; }
  const dir = F === 'e7-location-elsewhere' && res === 'commission' ? 'commission' : LOCATE[res];
  answer(x, 201, v, { Location: `${BASE}/${dir}/${encodeURIComponent(id)}` });
}
const same = (a, b) => a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));
function change(x, row) {
  const { ep, caller } = x, res = ep.res, put = ep.verb === 'replace';
  const b = held(x, put ? 'put' : 'patch', row, put ? { code: row.code } : undefined), next = { ...row };
  if (put) {
    for (const k in SPEC[res]) { const f = SPEC[res][k]; if (f.ro || k === 'code' || (f.vis && f.vis !== caller.user) || (F === 'e12-maker-stays' && k === 'maker' && b[k] === undefined)) continue; if (b[k] !== undefined) next[k] = b[k]; else if (f.def !== undefined) next[k] = f.def; else delete next[k]; }
  } else for (const k of Object.keys(b)) if (b[k] === null) delete next[k]; else next[k] = b[k];
  if (res === 'commission') {
    refMould(next.mould);
    if (row.stage !== 'drafted') no('wrong_stage');
    ownErrors(ep, next);
    const uk = next.reference === undefined ? null : row.patron + '\n' + next.reference, was = row.reference === undefined ? null : row.patron + '\n' + row.reference;
    if (uk !== was) { if (uk && uniqRef.has(uk) && F !== 'r8-reference-twice-by-patch') no('already_there'); if (was) uniqRef.delete(was); if (uk) uniqRef.set(uk, row.id); }
    if (next.mould !== row.mould) { T.mould.get(row.mould).$refs--; T.mould.get(next.mould).$refs++; }
  }
  let differs = false; for (const k in SPEC[res]) if (!same(row[k], next[k])) { differs = true; break; }
  const wasPrice = row.price;
  if (differs || (F === 'v1-repriced-always' && res === 'commission')) {
    const wasOn = row.ringing;
    for (const k in SPEC[res]) if (next[k] === undefined) delete row[k]; else row[k] = next[k];
    if (differs) { if (res === 'mould') row.changed_at = iso(now()); if (res === 'commission') wrote(row); }
    if (res === 'commission' && (row.price !== wasPrice || F === 'v1-repriced-always')) emit('commission.repriced', 'commission', row, { commission: row.id, from: wasPrice, to: row.price });
    if (res === 'bell' && wasOn !== row.ringing) { row.$bad = 0; if (!row.ringing) row.$q.clear(); }
  }
  answer(x, 200, view(res, row, caller.user, x.ed));
}
function remove(x, row) {
  if (x.ep.res === 'mould') {
    if (row.$refs > 0) no('still_used');
    T.mould.delete(row.code); emit('mould.broken', 'mould', row);
  } else { row.$gone = true; row.$q.clear(); T.bell.delete(row.id); if (F !== 'l2-bells-never-freed') bellCount.set(row.owner, bellCount.get(row.owner) - 1); }
  answer(x, 204);
}
function move(x, row) {
  const { ep, caller } = x, m = MOVES[ep.move];
  if (F === 'p2-rework-is-a-stub' && ep.move === 'rework') { return send(x, 501, JSON.stringify({ trouble: { word: 'broken', grade: 501, ticket: x.ticket } }), {}); }
  if (ep.move === 'extend') {
    const b = x.body, places = []; let code = null;
    if (b === null || typeof b !== 'object' || Array.isArray(b)) no('ill_fitting', { places: [{ in: 'body', path: '', found: found(b), expected: 'a map' }] });
    const at = (k) => F === 'x3-places-as-pointers' ? '/' + k : k;
    for (const k of Object.keys(b)) { if (k !== 'until') { code = code || 'no_such_field'; places.push({ in: 'body', path: at(k), found: found(b[k]), expected: 'no such field' }); } else { const e = typeof b.until !== 'string' ? 'a text' : dt(b.until) || (instant(b.until) > 253402300799999 ? 'a time before the year 10000' : null); if (e) { code = code || 'ill_fitting'; places.push({ in: 'body', path: at(k), found: found(b[k]), expected: e }); } } }
    if (!Object.hasOwn(b, 'until')) { code = code || 'left_blank'; places.push({ in: 'body', path: at('until'), found: 'nothing', expected: 'a value' }); }
    if (code) no(code, { places, says: code === 'left_blank' ? 'until is missing' : undefined });
  }
  const state = ep.res === 'loan' ? row.state : m.on ? row.deposit : row.stage;
  if (!m.from.includes(state)) no(m.else || 'wrong_stage');
  if (m.if) { const e = m.if(row, x.body); if (e) no(e); }
  const use = ep.move === 'decline' && caller.user === 'keeper' ? quota(caller) : null;
  m.do(row, caller, x.body);
  if (use) use();
  answer(x, 200, view(ep.res, row, caller.user, x.ed));
}
const cmp = (a, b) => a < b ? -1 : a > b ? 1 : 0;
function lists(x, parent) {
  const { ep, caller } = x, res = ep.res, user = caller ? caller.user : null, keep = ep.keep(x.q, x.ed), pg = ep.page;
  let rows = [], other = 0;
  if (res === 'entry') purge();
  const src = parent ? parent.$list : res === 'entry' ? entries : T[res].values();
  const may = res === 'commission' && user === 'patron' ? (r) => r.patron === caller.id : (r) => mayRead(caller, res, r);
  for (const r of src) if (keep(r)) { if (may(r)) rows.push(r); else other++; }
  let key = ep.order(x.q), way = 1; if (key[0] === '-') { key = key.slice(1); way = -1; }
  rows.sort((a, b) => way * cmp(a[key], b[key]) || a.$n - b.$n);
  const show = (l) => l.map((r) => view(res, r, user, x.ed, true));
  if (pg.style === 'none') return answer(x, 200, { leaves: show(rows) });
  const size = x.pg.size || pg.def;
  if (pg.style === 'cursor') {
    let i = 0;
    if (x.pg.at) { const [, v, n] = x.pg.at; while (i < rows.length && (way * cmp(rows[i][key], v) || rows[i].$n - n) <= 0) i++; }
    const l = rows.slice(i, i + size), more = i + size < rows.length, z = l[l.length - 1];
    return answer(x, 200, { leaves: show(l), thread: more ? makeCursor(x, z[key], z.$n) : null, more });
  }
  const from = x.pg.from || 1, start = pg.style === 'row' ? from - 1 : (from - 1) * size, l = rows.slice(start, start + size), more = start + size < rows.length;
  const h = {};
  if (pg.link) {
    const ls = [`<${x.path}${requery(x, { leaf: 1 })}>; rel="first"`];
    if (from > 1) ls.push(`<${x.path}${requery(x, { leaf: from - 1 })}>; rel="prev"`);
    if (more) ls.push(`<${x.path}${requery(x, { leaf: from + 1 })}>; rel="next"`);
    h.Link = ls.join(', ');
  }
  answer(x, 200, { leaves: show(l), all: rows.length + (F === 'a2-total-of-others' && res === 'loan' ? other : 0), more }, h);
}

// ---------------------------------------------------------------- doors
const server = http.createServer({ maxHeaderSize: 262144, headersTimeout: 6000, requestTimeout: 6500, connectionsCheckingInterval: 250, keepAliveTimeout: 10000, keepAliveTimeoutBuffer: 0, noDelay: true }, handle);
server.timeout = 0; server.maxHeadersCount = 0;
server.on('clientError', (e, s) => {
  if (!s.writable || s.destroyed) return s.destroy();
  const code = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : e.code === 'HPE_HEADER_OVERFLOW' ? 'long_head' : 'garbled', status = STATUS[code], ticket = RID + (ridSeq++).toString(36);
  const body = JSON.stringify({ trouble: { word: code, says: SAYS[code], grade: status, ticket } });
  s.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Globe-Ticket: ${ticket}\r\nX-Trouble: ${code}\r\nConnection: close\r\n\r\n${body}`);
});
function plus(t, d) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(d);
  if (!m || d === 'P' || d.endsWith('T')) return NaN;
  const n = (i) => Number(m[i] || 0), c = new Date(t);
  if (n(1) || n(2)) { const day = c.getUTCDate(); c.setUTCDate(1); c.setUTCMonth(c.getUTCMonth() + n(1) * 12 + n(2)); c.setUTCDate(Math.min(day, new Date(Date.UTC(c.getUTCFullYear(), c.getUTCMonth() + 1, 0)).getUTCDate())); }
  return Math.round(c.getTime() + n(3) * 7 * DAY + n(4) * DAY + n(5) * HOUR + n(6) * MIN + n(7) * 1000);
}
const door = http.createServer((req, res) => {
  const out = (s, o) => { const b = JSON.stringify(o); res.writeHead(s, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(b) }); res.end(b); };
  if (req.method === 'GET') { req.resume(); return out(200, { now: iso(now()) }); }
  let s = ''; req.setEncoding('utf8'); req.on('data', (c) => { s += c; });
  req.on('end', () => {
    if (req.method !== 'POST') return out(400, { error: 'GET or POST' });
    let b; try { b = JSON.parse(s); } catch { return out(400, { error: 'no JSON' }); }
    const n = now(); let t = NaN;
    if (b && typeof b.advance === 'string' && b.now === undefined) t = plus(n, b.advance); else if (b && typeof b.now === 'string' && b.advance === undefined) t = instant(b.now);
    if (Number.isNaN(t)) return out(400, { error: 'advance or now' });
    if (t < n) return out(422, { error: 'the clock goes forward alone' });
    moveTo(t); setImmediate(() => out(200, { now: iso(now()) }));
  });
});
const say = () => server.listen(PORT, '127.0.0.1', () => console.log(`globe-makers listens on http://127.0.0.1:${server.address().port}${BASE}`));
if (CLOCK !== undefined) door.listen(Number(CLOCK), '127.0.0.1', say); else say();
