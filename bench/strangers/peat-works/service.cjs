'use strict';
// Peat Works: the cooperative's service. One process, everything in memory. See service.yaml.
const http = require('node:http');
const crypto = require('node:crypto');

const arg = name => { const i = process.argv.indexOf('--' + name); return i > 0 ? process.argv[i + 1] : undefined; };
const PORT = Number(arg('port') || 4100), CLOCK_PORT = Number(arg('clock-port') || 4101), F = arg('fault') || '';

// ------------------------------------------------------------------ clock and timers
let offset = 0;
const now = () => Date.now() + offset;
const iso = ms => new Date(ms).toISOString();
const heap = [];
let timerSeq = 0, wake = null;
function later(at, fn) {
  const e = { at, seq: timerSeq++, fn };
  let i = heap.length; heap.push(e);
  while (i > 0) { const p = (i - 1) >> 1; if (before(heap[p], e)) break; heap[i] = heap[p]; i = p; }
  heap[i] = e;
  if (i === 0) arm();
}
const before = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
function popTimer() {
  const top = heap[0], last = heap.pop();
  if (heap.length) {
    let i = 0; const n = heap.length;
    for (;;) {
      let c = 2 * i + 1; if (c >= n) break;
      if (c + 1 < n && before(heap[c + 1], heap[c])) c++;
      if (before(last, heap[c])) break;
      heap[i] = heap[c]; i = c;
    }
    heap[i] = last;
  }
  return top;
}
function arm() {
  if (wake) { clearTimeout(wake); wake = null; }
  if (!heap.length) return;
  wake = setTimeout(() => { wake = null; runDue(); arm(); }, Math.min(Math.max(0, heap[0].at - now()), 0x3fffffff));
}
function runDue() {
  while (heap.length && heap[0].at <= now()) { const t = popTimer(); try { t.fn(); } catch { } }
}
const DAY = 86400000, HOUR = 3600000;

// ------------------------------------------------------------------ callers
const CALLERS = [
  ['spade', 'spd_wardenAoifeK3m9Qx7TzB1cR5vN8yL2', 'warden', 'aoife'],
  ['ticket', 'tkt_wardenBrianP4t7Wz2Xc9Vb6n', 'warden', 'brian'],
  ['spade', 'spd_cutterCiaranH6j2Mv8DqW4fS9kP1', 'cutter', 'ciaran'],
  ['ticket', 'tkt_cutterDeirdreL5r3Yh8Gf1Jd', 'cutter', 'deirdre'],
  ['spade', 'spd_cutterEoghanT7b4Nx9ZaE2gU6iO3', 'cutter', 'eoghan'],
  ['ticket', 'tkt_haulierFionaQ2w6Er9Ty4Ui8', 'haulier', 'fiona'],
  ['spade', 'spd_haulierGarrettA8s5Df2Gh7Jk4L1', 'haulier', 'garrett'],
];
const KEYS = { spade: new Map(), ticket: new Map() };
for (const [scheme, key, user, id] of CALLERS) KEYS[scheme].set(key, { user, id, k: user + '\n' + id });

// ------------------------------------------------------------------ errors
const CODES = {
  garbled: [400, 'The body is no JSON.'], no_body: [400, 'There is no body.'], wrong_type: [415, 'Bodies are JSON.'],
  wrong_answer: [406, 'Answers are JSON.'], bad_query: [400, 'A parameter is not what it should be.'], bad_page: [416, 'There is no such page.'],
  lacking: [422, 'Something is missing.'], not_yours_to_set: [422, 'This is not set by callers.'], unsound: [422, 'Something does not fit.'],
  no_path: [404, 'There is no such path.'], no_method: [405, 'Not by this method.'], no_key: [401, 'Show who you are.'], bad_key: [401, 'Nobody is known by this.'],
  forbidden: [403, 'This is not for you.'], not_here: [404, 'There is no such thing.'], no_such: [409, 'What is referred to is not there.'],
  in_use: [409, 'Something refers to it.'], taken: [409, 'There is one already.'], wrong_stage: [409, 'Not in this state.'], stale: [412, 'It has changed meanwhile.'],
  tag_needed: [428, 'Send If-Match.'], turn_reused: [422, 'This turn was another request.'], turn_busy: [409, 'Come again.'], slow_down: [429, 'Too often.'],
  used_up: [429, 'No more for now.'], too_big: [413, 'Too large.'], address_too_long: [414, 'The address is too long.'], headers_too_big: [431, 'The headers are too large.'],
  too_slow: [408, 'It took too long.'], no_version: [404, 'There is no such version.'], version_over: [410, 'This version has ended.'], away: [503, 'Not now.'],
  broken: [500, 'Something broke.'], too_wet: [409, 'A check found it too wet.'], held_for_another: [409, 'It is held for another buyer.'], not_for_sale: [409, 'It is not for sale.'],
  too_late: [409, 'It is too late to withdraw it.'], bank_closed: [409, 'This bank is closed.'], grade_retired: [422, 'This grade is cut no more.'],
  over_bank: [422, 'There is not so much in the bank.'], not_sold: [409, 'Only sold lots are hauled.'],
};
const OWN = new Set(['too_wet', 'held_for_another', 'not_for_sale', 'too_late', 'bank_closed', 'grade_retired', 'over_bank', 'not_sold']);
class Refusal { constructor(code, spots, headers) { this.code = code; this.spots = spots; this.headers = headers; } }
const refuse = (code, spots, headers) => { throw new Refusal(code, spots, headers); };
const spot = (where, path, found, expected) => ({ in: where, path, found: String(found).slice(0, 200), expected });

// ------------------------------------------------------------------ shapes
const S = (o = {}) => ({ t: 'string', ...o });
const N = (min, max) => ({ t: 'number', min, max }), I = (min, max) => ({ t: 'integer', min, max }), B = { t: 'boolean' };
const PLACE = { t: 'value', fields: { name: S({ min: 1, max: 60 }), road: S({ min: 1, max: 80 }), eircode: S({ pat: /^[A-Z][0-9][0-9W] ?[A-Z0-9]{4}$/u }) }, req: ['name', 'road'], def: {} };
const STANCE = { t: 'value', fields: { method: { t: 'string', enum: ['ground', 'rack', 'wind'] }, rows: I(1, 200) }, req: ['method', 'rows'], def: { rows: 1 } };
const KINDS = ['lot.cut', 'lot.moved', 'lot.spoiled', 'check.wet', 'run.planned', 'run.delivered', 'run.missed', 'bank.closed'];
const WILDS = new Set(['*', 'lot.*', 'check.*', 'run.*', 'bank.*']);
const STAGES = ['cut', 'footed', 'stacked', 'held', 'sold', 'hauled', 'withdrawn', 'spoiled'];
const LEGS = ['planned', 'loaded', 'delivered', 'short', 'missed'];

const own = (o, k) => Object.prototype.hasOwnProperty.call(o, k);
const isMap = v => v !== null && typeof v === 'object' && !Array.isArray(v);
const kindOf = v => v === null ? 'null' : Array.isArray(v) ? 'a list' : typeof v === 'object' ? 'a map' : typeof v === 'string' ? JSON.stringify(v.slice(0, 60)) : String(v);
const esc = s => s.replace(/~/g, '~0').replace(/\//g, '~1');
function chars(s) { let n = s.length; for (let i = 0; i < s.length - 1; i++) { const c = s.charCodeAt(i); if (c >= 0xd800 && c < 0xdc00) { const d = s.charCodeAt(i + 1); if (d >= 0xdc00 && d < 0xe000) { n--; i++; } } } return n; }
function isDate(s) {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s); if (!m) return false;
  const mo = +m[2], d = +m[3]; if (mo < 1 || mo > 12 || d < 1) return false;
  const y = +m[1], leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  return d <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1];
}
function instant(s) {
  const m = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(s);
  if (!m || !isDate(m[1]) || +m[2] > 23 || +m[3] > 59 || +m[4] > 59) return null;
  if (m[6].length > 1 && (+m[6].slice(1, 3) > 23 || +m[6].slice(4) > 59)) return null;
  const ms = Date.parse(`${m[1]}T${m[2]}:${m[3]}:${m[4]}${m[5] ? m[5].slice(0, 4).padEnd(4, '0') : ''}${m[6].toUpperCase()}`);
  return Number.isNaN(ms) ? null : ms;
}
function isUri(s) { if (!/^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/.test(s) || /%(?![0-9A-Fa-f]{2})/.test(s)) return false; try { new URL(s); return true; } catch { return false; } }
// what is wrong with a value: pushes spots, returns whether it fits
function fits(sh, v, path, out) {
  const bad = expected => { out.push({ ...spot('body', path, kindOf(v), expected), c: 'unsound' }); return false; };
  switch (sh.t) {
    case 'string': {
      if (typeof v !== 'string') return bad('a text');
      if (sh.enum && !sh.enum.includes(v)) return bad('one of ' + sh.enum.join(', '));
      if (sh.min !== undefined || sh.max !== undefined) {
        const n = F === 'label-by-units' && path === '/label' ? v.length : chars(v);
        if (sh.min !== undefined && n < sh.min) return bad(`at least ${sh.min} characters`);
        if (sh.max !== undefined && n > sh.max) return bad(`at most ${sh.max} characters`);
      }
      if (sh.pat && !sh.pat.test(v)) return bad('a text like ' + sh.pat.source);
      if (sh.date && !isDate(v)) return bad('a date');
      if (sh.uri && (!isUri(v) || !/^https?:\/\/[^/?#]/i.test(v))) return bad('an address');
      return true;
    }
    case 'integer': case 'number':
      if (typeof v !== 'number' || !Number.isFinite(v) || (sh.t === 'integer' && !Number.isInteger(v))) return bad(sh.t === 'integer' ? 'a whole number' : 'a number');
      if (sh.min !== undefined && v < sh.min) return bad(`at least ${sh.min}`);
      if (sh.max !== undefined && v > sh.max) return bad(`at most ${sh.max}`);
      return true;
    case 'boolean': return typeof v === 'boolean' || bad('true or false');
    case 'array': {
      if (!Array.isArray(v)) return bad('a list');
      if (sh.min !== undefined && v.length < sh.min) return bad(`at least ${sh.min} items`);
      if (sh.max !== undefined && v.length > sh.max) return bad(`at most ${sh.max} items`);
      const n = out.length;
      for (let i = 0; i < v.length; i++) {
        if (fits(sh.items, v[i], path + '/' + i, out) && sh.kinds && !KINDS.includes(v[i]) && !WILDS.has(v[i])) out.push({ ...spot('body', path + '/' + i, kindOf(v[i]), 'a kind of event'), c: 'unsound' });
      }
      if (sh.uniq && out.length === n && new Set(v).size !== v.length) return bad('items that differ');
      return out.length === n;
    }
    case 'value': {
      if (!isMap(v)) return bad('a map');
      const n = out.length;
      for (const k of Object.keys(v)) {
        if (!own(sh.fields, k)) { out.push({ ...spot('body', path + '/' + esc(k), kindOf(v[k]), 'nothing'), c: 'unsound' }); continue; }
        fits(sh.fields[k], v[k], (F === 'nested-place' && k === 'eircode' ? '' : path) + '/' + k, out);
      }
      for (const k of sh.req) if (!own(v, k) && !own(sh.def, k)) out.push({ ...spot('body', path + '/' + k, 'nothing', 'a value'), c: 'lacking' });
      return out.length === n;
    }
    case 'ref': return sh.int ? ((typeof v === 'number' && Number.isInteger(v)) || bad('an identifier')) : (typeof v === 'string' || bad('an identifier'));
  }
}
function shaped(sh, v) { // a value in the order of its fields, defaults filled in
  if (sh.t !== 'value') return v;
  const o = {};
  for (const k of Object.keys(sh.fields)) if (own(v, k)) o[k] = v[k]; else if (own(sh.def, k)) o[k] = sh.def[k];
  return o;
}

// ------------------------------------------------------------------ resources
const T = { grade: new Map(), bank: new Map(), lot: new Map(), check: new Map(), run: new Map(), hook: new Map() };
const lotsOfBank = new Map(), checksOfLot = new Map(), lotsOfGrade = new Map(), runsOfLot = new Map(), bankByPlot = new Map();
const setOf = (m, k) => { let s = m.get(k); if (!s) m.set(k, s = new Set()); return s; };
const ro = 1;
const FIELDS = {
  grade: [
    ['code', { sh: S({ pat: /^[A-Z]{2,4}[0-9]?$/u }), req: 1 }], ['name', { sh: S({ min: 2, max: 30 }), req: 1 }], ['price_cents', { sh: I(50, 100000), req: 1 }],
    ['wettest_pct', { sh: N(5, 60), req: 1, def: 35 }], ['retired', { sh: B, req: 1, def: false }], ['revised_at', { ro }]],
  bank: [
    ['no', { ro }], ['townland', { sh: S({ min: 2, max: 40 }), req: 1 }], ['plot', { sh: S({ pat: /^[A-Z]-[0-9]{1,3}$/u }), req: 1, imm: 1 }], ['holder', { sh: S({ min: 1, max: 40 }), req: 1 }],
    ['length_m', { sh: N(1, 400), req: 1 }], ['depth_m', { sh: N(0.5, 6), req: 1 }],
    ['volume_m3', { ro, get: r => bankVolume(r) }],
    ['lots_open', { ro, get: r => { let n = 0; for (const l of setOf(lotsOfBank, r.no)) if (l.stage === 'cut' || l.stage === 'footed' || l.stage === 'stacked' || (l.stage === 'held' && F !== 'held-not-open')) n++; return n; } }],
    ['closed', { sh: B, req: 1, def: false }], ['gate_code', { sh: S({ pat: /^[0-9]{4,6}$/u }), wo: 1 }], ['warden_note', { sh: S({ max: 200 }), vis: ['warden'], wr: ['warden'] }],
    ['allotted_at', { ro }], ['touched_at', { ro }]],
  lot: [
    ['id', { ro }], ['tally', { ro }], ['bank', { sh: { t: 'ref', int: 1 }, req: 1, imm: 1 }], ['cutter', { ro }], ['grade', { sh: { t: 'ref' }, req: 1, ref: 'grade' }],
    ['label', { sh: S({ min: 1, max: 60 }), req: 1 }], ['volume_m3', { sh: N(0.5, 900), req: 1 }], ['note', { sh: S({ max: 300 }) }],
    ['tags', { sh: { t: 'array', items: S({ min: 1, max: 20 }), max: 5, uniq: 1 } }], ['stance', { sh: STANCE }], ['stage', { ro }], ['stooks', { ro }],
    ['checks', { ro, get: r => { const s = checksOfLot.get(r.id); return s ? s.size : 0; } }], ['wet_checks', { ro, get: r => wetChecks(r) }],
    ['held_for', { ro }], ['held_until', { ro }], ['buyer', { ro }], ['paid_cents', { ro, vis: ['warden', 'cutter'] }], ['cut_at', { ro }], ['touched_at', { ro }]],
  check: [
    ['id', { ro }], ['lot', { sh: { t: 'ref' }, req: 1, imm: 1 }], ['number', { ro }], ['moisture_pct', { sh: N(0, 100), req: 1 }], ['passed', { ro }],
    ['weather', { sh: S({ enum: ['dry', 'mist', 'rain'] }), req: 1, def: 'dry' }], ['taken_on', { sh: S({ date: 1 }), req: 1 }], ['checker', { ro }],
    ['remark', { sh: S({ max: 120 }), vis: ['warden'], wr: ['warden'] }], ['made_at', { ro }]],
  run: [
    ['id', { ro }], ['lot', { sh: { t: 'ref' }, req: 1, imm: 1, ref: 'lot' }], ['haulier', { ro }], ['to', { sh: PLACE, req: 1 }], ['loads', { sh: I(1, 12), req: 1, def: 1 }],
    ['due_on', { sh: S({ date: 1 }), req: 1 }], ['note', { sh: S({ max: 200 }) }], ['leg', { ro }], ['delivered_m3', { ro }], ['docket', { ro }], ['ended_at', { ro }], ['made_at', { ro }]],
  hook: [
    ['id', { ro }], ['owner', { ro }], ['url', { sh: S({ uri: 1, max: 500 }), req: 1 }], ['secret', { ro, once: 1 }], ['events', { sh: { t: 'array', items: S(), min: 1, max: 12, kinds: 1 } }], ['live', { sh: B, req: 1, def: true }]],
};
const bankVolume = r => r.length_m * r.depth_m * 1.5;
function wetChecks(r) { let n = 0; const s = checksOfLot.get(r.id); if (s) for (const c of s) if (!c.passed) n++; return n; }
const roundHalf = x => x < 0 ? -Math.floor(-x + 0.5) : (Math.floor(x) + (x - Math.floor(x) >= 0.5 ? 1 : 0));

// fields by version: outward name -> field of the newest shape
const VIEW = { s1: {}, s2: {} };
for (const res of Object.keys(FIELDS)) {
  VIEW.s2[res] = FIELDS[res].map(([name, f]) => ({ name, field: name, f, sh: f.sh }));
  VIEW.s1[res] = VIEW.s2[res].filter(x => !((res === 'run' && x.name === 'note') || (res === 'bank' && x.name === 'closed'))).map(x => {
    if (res === 'lot' && x.name === 'volume_m3') return { ...x, name: 'amount' };
    if (res === 'lot' && x.name === 'stage') return { ...x, down: v => v === 'stacked' ? 'ricked' : v };
    if (res === 'grade' && x.name === 'price_cents') return { ...x, name: 'price', sh: N(0.5, 1000), down: v => v / 100, up: v => F === 'price-cut-off' ? Math.trunc(v * 100) : roundHalf(v * 100) };
    return x;
  });
}
VIEW.s1.check.splice(5, 0, { name: 'season', field: null, f: {}, sh: S(), down: () => 'summer' });
const BY = {};
for (const v of ['s1', 's2']) { BY[v] = {}; for (const res of Object.keys(FIELDS)) { const o = Object.create(null); for (const x of VIEW[v][res]) o[x.name] = x; BY[v][res] = o; } }

const RUN_OF_CUTTER = new Set(['id', 'lot', 'leg', 'due_on', 'loads', 'docket']);
function view(res, row, user, ver, once, how) {
  const o = {}, some = res === 'run' && user === 'cutter' && !(F === 'cutter-sees-run' && how === 'read');
  for (const x of VIEW[ver][res]) {
    const f = x.f;
    if (f.wo || (f.once && !once && !(F === 'secret-again' && how === 'read')) || (f.vis && !f.vis.includes(user) && !(F === 'remark-told' && how === 'event' && x.name === 'remark'))) continue;
    if (some && !RUN_OF_CUTTER.has(x.name)) continue;
    if (x.field === null) { o[x.name] = x.down(); continue; }
    let v = f.get ? f.get(row) : row[x.field];
    if (v === undefined || (v === null && !(F === 'note-null' && x.name === 'note'))) continue;
    o[x.name] = x.down && !(F === 'list-new-words' && how === 'list' && x.name === 'stage') ? x.down(v) : v;
  }
  return o;
}

// ------------------------------------------------------------------ bodies
const same = (a, b) => {
  if (a === b) return true;
  if (a === undefined || b === undefined || a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const ka = Object.keys(a), kb = Object.keys(b);
  return ka.length === kb.length && ka.every(k => own(b, k) && same(a[k], b[k]));
};
function throwSpots(out) {
  if (!out.length) return;
  const code = out[0].c;
  refuse(code, out.map(({ c, ...s }) => s));
}
// what is sent, held to its version's shape; returns the fields as they would be stored
function take(res, ver, body, mode, row, opt) {
  if (!isMap(body)) refuse('unsound', [spot('body', '', kindOf(body), 'a map')]);
  const out = [], next = {}, by = BY[ver][res], bound = opt.bound || {}, user = opt.user;
  const marks = []; // [place of a rule's field]
  let ok = new Set();
  if (mode === 'update') for (const [k, f] of FIELDS[res]) if (!f.get && row[k] !== undefined) next[k] = row[k];
  for (const k of Object.keys(body)) {
    const x = by[k], v = body[k], path = '/' + esc(k);
    if (k === 'depth_m') marks.push(out.length);
    if (!x) { out.push({ ...spot('body', path, kindOf(v), 'nothing'), c: 'unsound' }); continue; }
    const f = x.f;
    if (f.ro || (f.wr && !f.wr.includes(user))) { if (opt.refuseRO) out.push({ ...spot('body', path, kindOf(v), 'nothing'), c: 'not_yours_to_set' }); continue; }
    if (mode === 'update' && v === null) {
      if (f.req || f.imm) out.push({ ...spot('body', path, 'null', 'a value'), c: 'unsound' });
      else if (x.field) { if (F === 'note-null' && x.field === 'note') next.note = null; else delete next[x.field]; }
      continue;
    }
    let val = v;
    if (mode === 'update' && x.sh.t === 'value' && isMap(v)) {
      const was = row[x.field] || {}; val = {};
      for (const q of Object.keys(was)) val[q] = was[q];
      const gone = [];
      for (const q of Object.keys(v)) if (v[q] === null) { if (own(x.sh.fields, q)) { delete val[q]; if (x.sh.req.includes(q)) gone.push(q); } else if (!own(x.sh.fields, q)) out.push({ ...spot('body', path + '/' + esc(q), 'null', 'nothing'), c: 'unsound' }); } else val[q] = v[q];
      if (gone.length) { for (const q of gone) out.push({ ...spot('body', path + '/' + q, 'null', 'a value'), c: 'unsound' }); continue; }
    }
    if (!fits(x.sh, val, path, out)) continue;
    if (own(bound, k)) { if (bound[k] !== val) { out.push({ ...spot('body', path, kindOf(v), String(bound[k])), c: 'unsound' }); continue; } }
    if (mode === 'update' && f.imm) { if (!same(row[x.field], val)) out.push({ ...spot('body', path, kindOf(v), 'what it is'), c: 'unsound' }); continue; }
    if (x.field === null) continue;
    val = shaped(x.sh, val);
    if (x.up) {
      if (row && row[x.field] !== undefined && x.down(row[x.field]) === val) val = row[x.field];
      else { val = x.up(val); const o2 = []; if (!fits(f.sh, val, path, o2)) { out.push(...o2); continue; } }
    }
    next[x.field] = val; ok.add(x.field);
  }
  if (mode !== 'update') {
    for (const x of VIEW[ver][res]) {
      const f = x.f;
      if (x.field === null || f.ro || own(body, x.name)) continue;
      if (own(bound, x.name)) continue;
      if (f.req && f.def === undefined) out.push({ ...spot('body', '/' + x.name, 'nothing', 'a value'), c: 'lacking' });
    }
    for (const [k, f] of FIELDS[res]) if (f.def !== undefined && next[k] === undefined) next[k] = F === 'default-at-change' && row && k === 'wettest_pct' ? row[k] : f.def;
    for (const k of Object.keys(bound)) next[k] = bound[k];
  }
  if (res === 'bank' && (mode !== 'update' || ok.size) && (mode === 'update' || (ok.has('depth_m') && ok.has('length_m'))) && next.depth_m > next.length_m && !(F === 'rule-at-update' && mode === 'update')) {
    const s = { ...spot('body', '/depth_m', next.depth_m, 'no more than the length'), c: 'unsound' };
    if (marks.length) out.splice(marks[0], 0, s); else out.push(s);
  }
  throwSpots(out);
  return next;
}
function takeInline(fields, body) { // an inline shape: all of its fields are required, others pass
  if (!isMap(body)) refuse('unsound', [spot('body', '', kindOf(body), 'a map')]);
  const out = [];
  for (const k of Object.keys(body)) if (own(fields, k)) fits(fields[k], body[k], '/' + k, out);
  for (const k of Object.keys(fields)) if (!own(body, k)) out.push({ ...spot('body', '/' + k, 'nothing', 'a value'), c: 'lacking' });
  throwSpots(out);
  return body;
}

// ------------------------------------------------------------------ permissions
const yes = () => true;
const mineBank = (r, c) => r.holder === c.id, mineLot = (r, c) => r.cutter === c.id, soldLot = r => r.stage === 'sold' || r.stage === 'hauled';
const lotOf = r => T.lot.get(r.lot);
const checkOfMine = (r, c) => { const l = lotOf(r); return !!l && l.cutter === c.id; };
const mineRun = (r, c) => r.haulier === c.id, runOfMine = checkOfMine, mineHook = (r, c) => r.owner === c.id;
const CAN = {
  'list grade': { anyone: yes }, 'read grade': { anyone: yes }, 'upsert grade': { warden: yes }, 'delete grade': { warden: yes },
  'create bank': { warden: yes }, 'update bank': { warden: yes }, 'delete bank': { warden: yes },
  'list bank': { warden: yes, cutter: mineBank }, 'read bank': { warden: yes, cutter: mineBank },
  'list lot': { warden: yes, cutter: mineLot, haulier: soldLot }, 'read lot': { warden: yes, cutter: mineLot, haulier: F === 'held-to-hauliers' ? r => soldLot(r) || r.stage === 'held' : soldLot },
  'create lot': { cutter: yes }, 'update lot': { cutter: mineLot }, 'delete lot': { warden: yes },
  'foot lot': { cutter: mineLot }, 'stack lot': { cutter: mineLot }, 'withdraw lot': { warden: yes, cutter: mineLot }, 'hold lot': { warden: yes, cutter: mineLot }, 'sell lot': { warden: yes, cutter: mineLot },
  'create check': { warden: yes }, 'list check': { warden: yes, cutter: checkOfMine }, 'read check': { warden: yes, cutter: checkOfMine },
  'create run': { haulier: yes }, 'list run': { warden: yes, cutter: runOfMine, haulier: mineRun }, 'read run': { warden: yes, cutter: runOfMine, haulier: mineRun },
  'update run': { haulier: mineRun }, 'delete run': { haulier: mineRun }, 'load run': { haulier: mineRun }, 'deliver run': { haulier: mineRun },
  'create hook': F === 'hauliers-hear-nothing' ? { warden: yes, cutter: yes } : { warden: yes, cutter: yes, haulier: yes },
};
for (const v of ['list', 'read', 'update', 'delete']) CAN[v + ' hook'] = { warden: mineHook, cutter: mineHook, haulier: mineHook };
const ruleFor = (op, caller) => CAN[op].anyone || (caller ? CAN[op][caller.user] : undefined);
const may = (op, row, caller) => { const r = ruleFor(op, caller); return !!r && r(row, caller); };
const readable = (res, row, caller) => may('read ' + res, row, caller);

// ------------------------------------------------------------------ events
const agent = new http.Agent({ keepAlive: false, maxSockets: 64 });
let httpsMod = null;
const RETRY = [30000, 600000, 3 * HOUR];
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', LOWNUM = 'abcdefghijklmnopqrstuvwxyz0123456789';
function random(n, from) { let s = ''; for (let i = 0; i < n; i++) s += from[crypto.randomInt(from.length)]; return s; }
const evId = () => 'evt_' + crypto.randomBytes(10).toString('hex');
function wants(hook, kind) {
  const e = hook.events; if (e === undefined) return true;
  for (const w of e) if (w === '*' || w === kind || (w.endsWith('.*') && kind.startsWith(w.slice(0, -1)))) return true;
  return false;
}
function emit(kind, res, row, data, to) {
  if (!T.hook.size) return;
  let id = null; const at = now();
  for (const h of T.hook.values()) {
    if (!h.live || !wants(h, kind)) continue;
    if (to ? !to(h) : !(F === 'told-to-all-cutters' && kind === 'lot.moved' && h.maker.user === 'cutter') && !readable(res, row, h.maker)) continue;
    if (!id) id = evId();
    const about = data || view(res, row, h.maker.user, F === 'told-in-newest' ? 's2' : h.ver, false, 'event');
    push(h, res + '\n' + (row.id !== undefined ? row.id : row.no), { id, kind, body: JSON.stringify({ no: id, what: kind, when: iso(at), about }), tries: 0 });
  }
}
function push(h, key, d) {
  const q = h.queues.get(key);
  if (q) { q.push(d); return; }
  h.queues.set(key, [d]); setImmediate(send, h, key);
}
function nextOf(h, key) { const q = h.queues.get(key); if (!q) return; q.shift(); if (q.length) send(h, key); else h.queues.delete(key); }
function send(h, key) {
  const q = h.queues.get(key); if (!q) return;
  if (T.hook.get(h.id) !== h || !h.live) { h.queues.delete(key); return; }
  const wait = h.notBefore - now();
  if (wait > 0) { later(h.notBefore, () => send(h, key)); return; }
  const d = q[0], stamp = Math.floor(now() / 1000);
  if (F === 'new-id-each-try' && d.tries) { const old = d.id; d.id = evId(); d.body = d.body.replace(old, d.id); }
  const mac = crypto.createHmac('sha256', h.secret).update(F === 'seal-without-id' ? `${stamp}.${d.body}` : `${d.id}.${stamp}.${d.body}`).digest('hex');
  let done = false;
  const end = (status, retryAfter) => {
    if (done) return; done = true;
    if (status >= 200 && status < 300) { h.failing = 0; nextOf(h, key); return; }
    const t = now();
    if (!h.failing) h.failing = t;
    if (T.hook.get(h.id) === h && h.live && (status === 410 || t - h.failing >= 2 * DAY)) { h.live = false; h.queues.clear(); h.failing = 0; return; }
    if (retryAfter > 0) h.notBefore = Math.max(h.notBefore, t + Math.min(retryAfter, 86400) * 1000);
    if (d.tries >= RETRY.length) { nextOf(h, key); return; }
    const w = RETRY[d.tries++] * (0.82 + Math.random() * 0.36);
    later(t + w, () => send(h, key));
  };
  try {
    const u = new URL(h.url), tls = u.protocol === 'https:';
    if (tls && !httpsMod) httpsMod = require('node:https');
    const req = (tls ? httpsMod : http).request(u, {
      method: 'POST', agent: tls ? undefined : agent, timeout: 10000,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(d.body), 'x-turf-event': d.kind, 'turf-seal': `at=${stamp},mac=${mac}` },
    }, res => { const ra = Number(res.headers['retry-after']); res.on('error', () => { }); res.resume(); end(res.statusCode, ra); });
    const limit = setTimeout(() => { req.destroy(); end(0, 0); }, 10000);
    req.on('close', () => { clearTimeout(limit); end(0, 0); });
    req.on('timeout', () => { req.destroy(); end(0, 0); });
    req.on('error', () => end(0, 0));
    req.end(d.body);
  } catch { end(0, 0); }
}

// ------------------------------------------------------------------ rates and quotas
class Fixed {
  constructor(limit, win) { this.limit = limit; this.win = win; this.m = new Map(); }
  take(key, t) {
    let e = this.m.get(key);
    if (!e || t >= e.start + this.win) this.m.set(key, e = { start: t, n: 0 });
    const reset = Math.ceil((e.start + this.win - t) / 1000), max = this.limit + (F === 'one-hook-more' ? 1 : 0);
    if (e.n >= max) return { ok: false, limit: this.limit, left: 0, reset };
    e.n++;
    return { ok: true, limit: this.limit, left: Math.max(0, this.limit - e.n), reset };
  }
}
class Sliding {
  constructor(limit, win) { this.limit = limit; this.win = win; this.m = new Map(); }
  take(key, t) {
    let a = this.m.get(key); if (!a) this.m.set(key, a = []);
    while (a.length && t >= a[0] + this.win) a.shift();
    const ok = a.length < this.limit; if (ok) a.push(t);
    return { ok, limit: this.limit, left: this.limit - a.length, reset: Math.ceil((a[0] + this.win - t) / 1000) };
  }
}
class Bucket {
  constructor(limit, win, burst) { this.limit = limit; this.win = win; this.burst = burst; this.m = new Map(); }
  take(key, t) {
    let e = this.m.get(key); const cap = this.burst * this.win;
    if (!e) this.m.set(key, e = { level: cap, at: t });
    if (t > e.at) { e.level = Math.min(cap, e.level + (t - e.at) * this.limit); e.at = t; }
    const ok = e.level >= this.win; if (ok) e.level -= this.win;
    const left = Math.floor(e.level / this.win);
    return { ok, limit: this.limit, left, reset: Math.ceil(((left + 1) * this.win - e.level) / this.limit / 1000) };
  }
}
const RATES = { 'create hook': new Fixed(12, 60000), 'list run': new Sliding(60, 60000), 'delete grade': new Sliding(20, 30000) };
const ANON = new Bucket(30, 60000, 45);
const dublin = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Dublin', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
function local(t) { const p = {}; for (const { type, value } of dublin.formatToParts(t)) p[type] = +value; return p; }
function dayOf(t) { const p = local(t); return `${p.year}-${p.month}-${p.day}`; }
function dayEnd(t) {
  const p = local(t), want = Date.UTC(p.year, p.month - 1, p.day + 1);
  let g = want;
  for (let i = 0; i < 3; i++) { const q = local(g), off = Date.UTC(q.year, q.month - 1, q.day, q.hour, q.minute, q.second) - Math.floor(g / 1000) * 1000; g = want - off; }
  return g;
}
const quotas = new Map(); // caller -> { day, n }
function quotaLeft(c) { const d = dayOf(now()); let q = quotas.get(c.k); if (!q || q.day !== d) quotas.set(c.k, q = { day: d, n: 0 }); return q; }

// ------------------------------------------------------------------ what is done to rows
let seq = 0;
const tallies = new Map(), numbers = new Map();
let bankNo = 0, dockets = 0;
const ulidAlpha = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
function ulid() { let t = now(), s = ''; for (let i = 0; i < 10; i++) { s = ulidAlpha[t % 32] + s; t = Math.floor(t / 32); } return s + random(16, ulidAlpha); }
const count = (m, k) => { const n = (m.get(k) || 0) + 1; m.set(k, n); return n; };
const held = new Refusal('in_use');

function moveLot(lot, is, event, fields) {
  const was = lot.stage;
  if (fields) Object.assign(lot, fields);
  lot.stage = is; if (!(F === 'rot-untouched' && event === 'rot')) lot.touched_at = iso(now());
  if (event === 'rot') emit('lot.spoiled', 'lot', lot);
  else if (!(F === 'release-untold' && event === 'release')) emit('lot.moved', 'lot', lot, { lot: lot.id, was, is });
}
const alive = (res, row) => T[res].get(row.id) === row;
for (const [code, name, price, wet] of [['TURF', 'Black hand turf', 4200, 35], ['MOSS', 'Brown moss peat', 1800, 50]])
  T.grade.set(code, { code, name, price_cents: price, wettest_pct: wet, retired: false, revised_at: iso(now()), seq: seq++ });

const LOCATION = { grade: r => '/grades/' + encodeURIComponent(r.code), bank: r => '/banks/' + r.no, lot: r => '/lots/' + r.id, check: r => '/checks/' + r.id, run: r => '/runs/' + r.id, hook: r => '/hooks/' + r.id };
const MAKE = {
  bank(x, next) {
    if (bankByPlot.has(next.townland + '\n' + next.plot)) refuse('taken');
    const at = iso(now());
    const row = { no: ++bankNo, ...next, allotted_at: at, touched_at: at, seq: seq++ };
    T.bank.set(row.no, row); bankByPlot.set(row.townland + '\n' + row.plot, row);
    return row;
  },
  lot(x, next) {
    const g = T.grade.get(next.grade); if (!g) refuse('no_such', [spot('body', '/grade', JSON.stringify(next.grade), 'a grade that there is')]);
    const bank = T.bank.get(next.bank);
    if (bank.closed) refuse('bank_closed');
    if (g.retired) refuse('grade_retired');
    if (next.volume_m3 > bankVolume(bank) || (F === 'whole-bank' && next.volume_m3 === bankVolume(bank))) refuse('over_bank');
    const at = iso(now());
    const row = { id: 'lot-' + crypto.randomBytes(5).toString('hex'), tally: count(tallies, F === 'tally-over-all' ? 0 : bank.no), ...next, cutter: x.caller.id, stage: 'cut', cut_at: at, touched_at: at, seq: seq++ };
    T.lot.set(row.id, row); setOf(lotsOfBank, bank.no).add(row); setOf(lotsOfGrade, row.grade).add(row);
    later(now() + (F === 'rot-a-day-early' ? 20 : 21) * DAY, () => { if (alive('lot', row) && row.stage === 'cut') moveLot(row, 'spoiled', 'rot'); });
    emit('lot.cut', 'lot', row);
    return row;
  },
  check(x, next) {
    const lot = T.lot.get(next.lot), wettest = T.grade.get(lot.grade).wettest_pct;
    const row = { id: crypto.randomUUID(), number: count(numbers, lot.id), ...next, passed: F === 'passed-below' ? next.moisture_pct < wettest : next.moisture_pct <= wettest, checker: x.caller.id, made_at: iso(now()), seq: seq++ };
    T.check.set(row.id, row); setOf(checksOfLot, lot.id).add(row);
    if (!row.passed) emit('check.wet', 'check', row);
    return row;
  },
  run(x, next) {
    const lot = T.lot.get(next.lot);
    if (!lot || !readable('lot', lot, x.caller)) refuse('no_such', [spot('body', '/lot', JSON.stringify(next.lot), 'a lot that there is')]);
    if (lot.stage !== 'sold') refuse('not_sold');
    for (const r of setOf(runsOfLot, lot.id)) if (r.leg === 'planned' || (r.leg === 'loaded' && F !== 'second-run')) refuse('taken');
    const row = { id: 'run_' + ulid(), ...next, haulier: x.caller.id, leg: 'planned', docket: 'D-' + String(++dockets).padStart(5, '0'), made_at: iso(now()), seq: seq++ };
    T.run.set(row.id, row); setOf(runsOfLot, lot.id).add(row);
    later(now() + 36 * HOUR, () => {
      if (!alive('run', row) || !(row.leg === 'planned' || (F === 'loaded-missed' && row.leg === 'loaded'))) return;
      row.leg = 'missed'; row.ended_at = iso(now()); emit('run.missed', 'run', row);
    });
    emit('run.planned', 'run', row);
    return row;
  },
  hook(x, next) {
    if (next.live) hookRoom(x.caller.id, null);
    const row = { id: 'hook_' + random(16, LOWNUM), owner: x.caller.id, ...next, secret: 'seal_' + random(40, ALNUM), seq: seq++, maker: x.caller, ver: x.ver, queues: new Map(), failing: 0, notBefore: 0 };
    T.hook.set(row.id, row);
    return row;
  },
};
function hookRoom(owner, but) { let n = 0; for (const h of T.hook.values()) if (h !== but && h.owner === owner && h.live) n++; if (n >= 4) refuse('used_up'); }

function updated(res, row, next) { // whether anything differs
  for (const [k, f] of FIELDS[res]) if (!f.get && !f.ro && !same(row[k], next[k])) return true;
  return false;
}
const CHANGE = {
  bank(x, row, next) {
    if (!updated('bank', row, next)) return;
    const key = next.townland + '\n' + next.plot, other = bankByPlot.get(key);
    if (other && other !== row) refuse('taken');
    const was = row.closed;
    bankByPlot.delete(row.townland + '\n' + row.plot); bankByPlot.set(key, row);
    write(row, 'bank', next); row.touched_at = iso(now());
    if (row.closed && (!was || F === 'closed-again')) emit('bank.closed', 'bank', row, { bank: row.no, at: row.touched_at }, h => h.owner === row.holder);
  },
  lot(x, row, next) {
    if (next.grade !== row.grade && !T.grade.has(next.grade)) refuse('no_such', [spot('body', '/grade', JSON.stringify(next.grade), 'a grade that there is')]);
    inStates(row.stage, ['cut', 'footed']);
    if (!updated('lot', row, next)) return;
    setOf(lotsOfGrade, row.grade).delete(row); write(row, 'lot', next); setOf(lotsOfGrade, row.grade).add(row);
    row.touched_at = iso(now());
  },
  run(x, row, next) { inStates(row.leg, ['planned', 'loaded']); if (updated('run', row, next)) write(row, 'run', next); },
  hook(x, row, next) {
    if (!updated('hook', row, next)) return;
    if (next.live && !row.live) { if (F !== 'live-again') hookRoom(row.owner, row); row.failing = 0; }
    const off = row.live && !next.live;
    write(row, 'hook', next); if (off) row.queues.clear();
  },
};
function write(row, res, next) { for (const [k, f] of FIELDS[res]) if (!f.get && !f.ro) { if (next[k] === undefined) delete row[k]; else row[k] = next[k]; } }
function inStates(s, list) { if (!list.includes(s)) refuse('wrong_stage'); }
const REMOVE = {
  grade(x, row) { if (setOf(lotsOfGrade, row.code).size) throw held; T.grade.delete(row.code); },
  bank(x, row) { if (setOf(lotsOfBank, row.no).size) throw held; T.bank.delete(row.no); bankByPlot.delete(row.townland + '\n' + row.plot); },
  lot(x, row) {
    inStates(row.stage, ['cut', 'withdrawn', 'spoiled']);
    if (setOf(runsOfLot, row.id).size) throw held;
    for (const c of setOf(checksOfLot, row.id)) T.check.delete(c.id);
    checksOfLot.delete(row.id); numbers.delete(row.id);
    T.lot.delete(row.id); setOf(lotsOfBank, row.bank).delete(row); setOf(lotsOfGrade, row.grade).delete(row);
  },
  run(x, row) { inStates(row.leg, ['planned']); T.run.delete(row.id); setOf(runsOfLot, row.lot).delete(row); },
  hook(x, row) { T.hook.delete(row.id); row.queues.clear(); },
};
const BUYER = { buyer: S({ min: 1, max: 60 }) };
const MOVES = {
  'foot lot': { shape: { stooks: I(1, 500) }, do(x, r, b) { inStates(r.stage, ['cut']); moveLot(r, 'footed', 'foot', { stooks: b.stooks }); } },
  'stack lot': {
    do(x, r) {
      inStates(r.stage, ['footed']);
      let wet = wetChecks(r) > 0;
      if (F === 'last-check-counts') { const cs = [...setOf(checksOfLot, r.id)]; wet = cs.length > 0 && !cs[cs.length - 1].passed; }
      if (wet) refuse('too_wet');
      moveLot(r, 'stacked', 'stack');
    },
  },
  'hold lot': {
    shape: BUYER, do(x, r, b) {
      inStates(r.stage, ['stacked']);
      const t = now() + 7 * DAY, until = iso(t);
      moveLot(r, 'held', 'hold', { held_for: b.buyer, held_until: until });
      later(t, () => { if (alive('lot', r) && r.stage === 'held' && r.held_until === until) { delete r.held_for; delete r.held_until; moveLot(r, 'stacked', 'release'); } });
    },
  },
  'sell lot': {
    shape: BUYER, quota: true, do(x, r, b) {
      if (r.stage !== 'stacked' && r.stage !== 'held') refuse('not_for_sale');
      if (r.stage === 'held' && r.held_for !== b.buyer && !(F === 'buyer-any-case' && r.held_for.toLowerCase() === b.buyer.toLowerCase())) refuse('held_for_another');
      const q = quotaLeft(x.caller);
      if (q.n >= 25) { const t = now(); refuse('used_up', undefined, { 'Retry-After': String(Math.max(1, Math.ceil((dayEnd(t) - t) / 1000))) }); }
      q.n++;
      moveLot(r, 'sold', 'sell', { buyer: b.buyer, paid_cents: roundHalf(r.volume_m3 * T.grade.get(r.grade).price_cents) });
    },
  },
  'withdraw lot': { do(x, r) { if (r.stage !== 'cut' && r.stage !== 'footed' && r.stage !== 'stacked' && !(F === 'withdraw-held' && r.stage === 'held')) refuse(F === 'too-late-as-stage' ? 'wrong_stage' : 'too_late'); moveLot(r, 'withdrawn', 'withdraw'); } },
  'load run': { do(x, r) { inStates(r.leg, ['planned']); r.leg = 'loaded'; } },
  'deliver run': {
    shape: { delivered_m3: N(0, 1000) }, do(x, r, b) {
      inStates(r.leg, ['loaded']);
      const lot = T.lot.get(r.lot), least = lot.volume_m3 * 0.9;
      const enough = F === 'exactly-ninety' ? b.delivered_m3 > least : b.delivered_m3 >= least;
      r.delivered_m3 = b.delivered_m3; r.ended_at = iso(now()); r.leg = enough ? 'delivered' : 'short';
      if (enough || F === 'short-told') emit('run.delivered', 'run', r);
      if (enough && !(F === 'many-loads-unhauled' && r.loads > 1)) moveLot(lot, 'hauled', 'haul');
    },
  },
};

// ------------------------------------------------------------------ parameters
const bool = s => s === 'true' ? true : s === 'false' ? false : undefined;
const pInt = (min, max) => s => { if (!/^-?(0|[1-9][0-9]*)$/.test(s)) return undefined; const n = Number(s); return (min !== undefined && n < min) || (max !== undefined && n > max) ? undefined : n; };
const pNum = (min, max) => s => { if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(s)) return undefined; const n = Number(s); return !Number.isFinite(n) || n < min || n > max ? undefined : n; };
const pStr = (min, max) => s => { const n = chars(s); return (min !== undefined && n < min) || (max !== undefined && n > max) ? undefined : s; };
const pEnum = list => s => list.includes(s) ? s : undefined;
const eq = f => (v, r) => r[f] === v;
const stageIn = ver => s => ver === 's1' ? (s === 'ricked' ? 'stacked' : s === 'stacked' ? undefined : pEnum(STAGES)(s)) : pEnum(STAGES)(s);
const PARAMS = {
  'list grade': { retired: [bool, eq('retired')], wetter: [pNum(0, 100), (v, r) => r.wettest_pct >= v] },
  'list bank': {
    townland: [pStr(2, 40), (v, r) => F === 'townland-by-case' ? r.townland === v : r.townland.toLowerCase() === v.toLowerCase()],
    holder: [pStr(1, 40), eq('holder')], closed: [bool, eq('closed'), 's2'], plot_like: [pStr(1, 5), (v, r) => r.plot.startsWith(v)],
    deeper: [pNum(0, 10), (v, r) => r.depth_m > v], sort: [pEnum(['length', '-length', 'number', '-number'])],
  },
  'list lot': {
    bank: [pInt(), eq('bank')],
    stage: [(s, ver) => { const a = s.split(','); if (a.length > 100) return undefined; const f = stageIn(ver), o = a.map(f); return o.includes(undefined) ? undefined : new Set(F === 'first-stage-only' ? o.slice(0, 1) : o); }, (v, r) => v.has(r.stage)],
    tag: [pStr(1, 20), (v, r) => r.tags !== undefined && r.tags.includes(v)],
    least_m3: [pNum(0, 1000), (v, r) => r.volume_m3 >= v],
    cut_since: [s => { const t = instant(s); return t === null ? undefined : t; }, (v, r) => Date.parse(r.cut_at) >= v],
    townland: [pStr(2, 40), (v, r, c) => { const b = T.bank.get(r.bank); return b.townland === v && (readable('bank', b, c) || F === 'townland-through-unread'); }],
    q: [s => { const w = s.toLowerCase().split(/\s+/).filter(Boolean); return w.length > 16 ? undefined : w; }, (v, r) => { const l = r.label.toLowerCase(), n = r.note && F !== 'search-label-only' ? r.note.toLowerCase() : ''; return v.every(w => l.includes(w) || n.includes(w)); }],
    sort: [pEnum(['cut', '-cut', 'volume', '-volume'])], way: [pEnum(['asc', 'desc'])],
  },
  'list check': { passed: [bool, eq('passed')], after: [s => isDate(s) ? s : undefined, (v, r) => r.taken_on > v] },
  'list run': { leg: [pEnum(LEGS), eq('leg')], haulier: [pStr(), eq('haulier')], loads: [pInt(1, 12), (v, r) => v.includes(r.loads), undefined, 'many'] },
  'list hook': {},
};
const PAGES = {
  'list bank': { style: 'offset', at: 'skip', size: 'take', def: 10, max: 50, clamp: true }, 'list lot': { style: 'offset', at: 'skip', size: 'take', def: 10, max: 50, clamp: true },
  'list check': { style: 'cursor', at: 'from', size: 'count', def: 5, max: 20 }, 'list run': { style: 'page', at: 'sheet', size: 'per', def: 10, max: 50 },
  'list hook': { style: 'starting_at', at: 'first', size: 'take', def: 20, max: 40, clamp: true },
};
function queryOf(raw) { // [[name, value]]
  const out = []; if (!raw) return out;
  for (const piece of raw.split('&')) {
    if (piece === '') continue;
    const i = piece.indexOf('=');
    try { out.push([decodeURIComponent((i < 0 ? piece : piece.slice(0, i)).replace(/\+/g, ' ')), i < 0 ? '' : decodeURIComponent(piece.slice(i + 1).replace(/\+/g, ' '))]); } catch { refuse('bad_query', [spot('query', piece.slice(0, 100), 'a broken escape', 'a parameter')]); }
  }
  return out;
}
function parameters(x) {
  const given = queryOf(x.query), defs = PARAMS[x.op], page = PAGES[x.op], got = new Map();
  let pageBad = null;
  x.filters = []; x.page = page ? { size: page.def } : null; x.asked = {};
  for (const [k, v] of given) {
    if (page && (k === page.at || k === page.size)) {
      if (got.has(k)) refuse('bad_query', [spot('query', k, 'twice', 'one value')]);
      got.set(k, v);
      if (k === page.size) {
        let n = /^[0-9]+$/.test(v) ? Number(v) : 0;
        if (n > page.max) n = page.clamp || (F === 'one-check-more' && n === page.max + 1) ? (page.clamp ? page.max : n) : 0;
        if (n < 1) pageBad = pageBad || spot('query', k, JSON.stringify(v), `1 to ${page.max}`); else x.page.size = n;
      } else x.page.at = v;
      continue;
    }
    const d = defs && own(defs, k) ? defs[k] : undefined;
    if (!d || (d[2] && d[2] !== x.ver) || (x.op === 'list run' && k === 'haulier' && x.caller.user === 'cutter' && F !== 'cutter-asks-haulier')) { if (F === 'run-params-loose' && x.op === 'list run' && !d) continue; refuse('bad_query', [spot('query', k, JSON.stringify(v.slice(0, 60)), 'no such parameter')]); }
    const val = d[0](v, x.ver);
    if (val === undefined) refuse('bad_query', [spot('query', k, JSON.stringify(v.slice(0, 60)), 'another value')]);
    if (d[3]) { if (got.has(k)) got.get(k).push(val); else { const list = [val]; got.set(k, list); x.filters.push([d[1], list]); } continue; }
    if (got.has(k)) refuse('bad_query', [spot('query', k, 'twice', 'one value')]);
    got.set(k, v); x.asked[k] = val;
    if (d[1]) x.filters.push([d[1], val]);
  }
  if (x.route.turn) {
    const k = x.headers.get('x-turn');
    if (k) x.turn = k; else if (x.route.turn === 'required') refuse('bad_query', [spot('header', 'X-Turn', 'nothing', 'a key')]);
  }
  if (pageBad) refuse('bad_page', [pageBad]);
  if (page && x.page.at !== undefined) {
    const bad = () => refuse('bad_page', [spot('query', page.at, JSON.stringify(x.page.at.slice(0, 60)), 'a place in this list')]);
    if (page.style === 'offset') { if (!/^[0-9]+$/.test(x.page.at)) bad(); x.page.n = Number(x.page.at); }
    else if (page.style === 'page') { if (!/^[0-9]+$/.test(x.page.at) || Number(x.page.at) < 1) bad(); x.page.n = Number(x.page.at); }
    else if (page.style === 'starting_at') { const h = T.hook.get(x.page.at); if (!h || !may('list hook', h, x.caller)) bad(); x.page.n = h.seq; }
    else {
      const [n, mac] = x.page.at.split('.');
      if (mac === undefined || mac !== cursorMac(x, n)) bad();
      x.page.n = Number(n);
    }
  }
}
const CURSOR_KEY = crypto.randomBytes(32);
function cursorMac(x, n) {
  const asked = Object.keys(x.asked).sort().map(k => k + '=' + String(x.asked[k])).join('&');
  return crypto.createHmac('sha256', CURSOR_KEY).update([n, x.path, asked, x.caller.k, x.ver].join('\n')).digest('base64url').slice(0, 24);
}
function rowsOf(x, source, rule) {
  const out = [];
  next: for (const r of source) {
    if (!rule(r, x.caller)) continue;
    for (const [f, v] of x.filters) if (!f(v, r, x.caller)) continue next;
    out.push(r);
  }
  return out;
}

// ------------------------------------------------------------------ operations
const json = (status, body, headers) => ({ status, text: JSON.stringify(body), headers: headers || {} });
const tagOf = (text, ver, path) => '"' + crypto.createHash('sha1').update(ver + '\n' + (F === 'tag-blind-to-checks' ? text.replace(/"(wet_)?checks":\d+,/g, '') : text)).digest('base64url') + '"';
const here = (x, row, res) => '/coop/' + x.ver + LOCATION[res](row);
function idOf(res, raw) {
  let s; try { s = decodeURIComponent(raw); } catch { return undefined; }
  if (res === 'bank') return /^(0|[1-9][0-9]{0,14})$/.test(s) ? Number(s) : undefined;
  return s;
}
function loadRow(x, res, raw, op) {
  const row = T[res].get(idOf(res, raw));
  if (F === 'foreign-hooks' && op === 'update hook' && row && row.maker.user === x.caller.user) return row;
  if (!row) refuse('not_here');
  if (!readable(res, row, x.caller)) { if (F === 'bank-there-but-not-yours' && res === 'bank') refuse('forbidden'); refuse('not_here'); }
  if (op && !may(op, row, x.caller)) refuse('forbidden');
  return row;
}
function parent(x, res, raw) { const row = T[res].get(idOf(res, raw)); if (!row || (!readable(res, row, x.caller) && !(F === 'checks-of-others' && x.op === 'list check'))) refuse('not_here'); return row; }
function precondition(x, row, res, need) {
  const h = x.headers.get('if-match');
  if (h === undefined) { if (need === 'required') refuse('tag_needed'); return; }
  if (F === 'delete-blindly' && x.op === 'delete bank') return;
  if (h.trim() === '*') return;
  const tag = tagOf(JSON.stringify(view(res, row, x.caller.user, x.ver)), x.ver);
  if (!tags(h).includes(tag)) refuse('stale');
}
const tags = h => h.match(/(?:W\/)?"[^"]*"/g) || [];
const bodyOf = x => x.json;
function createOp(res, bound) {
  return x => {
    const b = bound ? { [bound]: bound === 'bank' ? parent(x, 'bank', x.params[0]).no : parent(x, 'lot', x.params[0]).id } : undefined;
    const next = take(res, x.ver, bodyOf(x), 'create', null, { bound: b, user: x.caller.user });
    const row = MAKE[res](x, next);
    return json(201, view(res, row, x.caller.user, x.ver, true), { Location: here(x, row, res) });
  };
}
function readOp(res, etag, cache) {
  return x => {
    const row = loadRow(x, res, x.params[0]);
    const text = JSON.stringify(view(res, row, x.caller ? x.caller.user : undefined, x.ver, false, 'read')), headers = {};
    if (cache) headers['Cache-Control'] = cache;
    if (etag) {
      const tag = headers.ETag = tagOf(text, x.ver), inm = x.headers.get('if-none-match');
      if (inm !== undefined && (inm.trim() === '*' || tags(inm).some(t => t.replace(/^W\//, '') === tag))) return { status: 304, text: null, headers };
    }
    return { status: 200, text, headers };
  };
}
function updateOp(res, need, refuseRO) {
  return x => {
    const row = loadRow(x, res, x.params[0], x.op);
    if (need) precondition(x, row, res, need);
    const next = take(res, x.ver, bodyOf(x), 'update', row, { user: x.caller.user, refuseRO });
    CHANGE[res](x, row, next);
    return json(200, view(res, row, x.caller.user, x.ver));
  };
}
function deleteOp(res, need) {
  return x => {
    const row = loadRow(x, res, x.params[0], x.op);
    if (need) precondition(x, row, res, need);
    REMOVE[res](x, row);
    return { status: 204, text: null, headers: {} };
  };
}
function moveOp(op, res) {
  const m = MOVES[op];
  return x => {
    const row = loadRow(x, res, x.params[0], op);
    const body = m.shape ? takeInline(m.shape, bodyOf(x)) : undefined;
    if (F === 'refused-sales-count' && m.quota) { const q = quotaLeft(x.caller), n = q.n; try { m.do(x, row, body); } catch (e) { if (e.code !== 'used_up') q.n = n + 1; throw e; } } else m.do(x, row, body);
    if (op === 'sell lot') {
      const o = { lot: row.id, stage: x.ver === 's1' && row.stage === 'stacked' ? 'ricked' : row.stage, buyer: row.buyer };
      if (row.paid_cents !== undefined) o.cents = row.paid_cents;
      return json(200, o);
    }
    return json(200, view(res, row, x.caller.user, x.ver));
  };
}
const cmp = (a, b) => a < b ? -1 : a > b ? 1 : 0;
const OPS = {
  'list grade': x => {
    const rows = rowsOf(x, T.grade.values(), yes).sort((a, b) => cmp(a.code, b.code) || a.seq - b.seq);
    return json(200, { grades: rows.map(r => view('grade', r, undefined, x.ver)) }, { 'Cache-Control': 'public, max-age=120' });
  },
  'read grade': readOp('grade', true),
  'upsert grade': x => {
    let code; try { code = decodeURIComponent(x.params[0]); } catch { code = x.params[0]; }
    const row = T.grade.get(code);
    const b = bodyOf(x);
    if (!isMap(b)) refuse('unsound', [spot('body', '', kindOf(b), 'a map')]);
    const out = []; if (!row && !fits(FIELDS.grade[0][1].sh, code, '/code', out)) refuse('unsound', [spot('path', 'code', JSON.stringify(code), 'a code of two to four letters')]);
    const next = take('grade', x.ver, b, 'replace', row || null, { bound: { code }, user: x.caller.user });
    if (row) {
      if (updated('grade', row, next)) { write(row, 'grade', next); row.revised_at = iso(now()); }
      return json(200, view('grade', row, x.caller.user, x.ver));
    }
    const made = { ...next, revised_at: iso(now()), seq: seq++ };
    T.grade.set(code, made);
    return json(201, view('grade', made, x.caller.user, x.ver), { Location: here(x, made, 'grade') });
  },
  'delete grade': deleteOp('grade'),
  'create bank': createOp('bank'), 'read bank': readOp('bank', true), 'update bank': updateOp('bank', 'required'), 'delete bank': deleteOp('bank', 'accepted'),
  'list bank': x => {
    const rows = rowsOf(x, T.bank.values(), ruleFor('list bank', x.caller)), s = x.asked.sort;
    if (s) { const d = s[0] === '-' ? -1 : 1, f = s.endsWith('length') ? 'length_m' : 'no'; rows.sort((a, b) => d * (a[f] - b[f]) || a.seq - b.seq); }
    return offsetPage(x, 'bank', rows, T.bank.size);
  },
  'create lot': createOp('lot', 'bank'), 'read lot': readOp('lot', true, 'private, no-cache'), 'update lot': updateOp('lot', 'accepted', true), 'delete lot': deleteOp('lot'),
  'list lot': x => {
    const rows = rowsOf(x, T.lot.values(), ruleFor('list lot', x.caller));
    const s = x.asked.sort || '-cut'; let d = s[0] === '-' ? -1 : 1;
    if (x.asked.way === 'desc' && !(F === 'way-needs-sort' && !x.asked.sort)) d = -d;
    if (s.endsWith('cut')) rows.sort((a, b) => d * cmp(a.cut_at, b.cut_at) || b.seq - a.seq); else rows.sort((a, b) => d * (a.volume_m3 - b.volume_m3) || b.seq - a.seq);
    return offsetPage(x, 'lot', rows, T.lot.size);
  },
  'create check': createOp('check', 'lot'), 'read check': readOp('check'),
  'list check': x => {
    const lot = parent(x, 'lot', x.params[0]);
    const rows = rowsOf(x, setOf(checksOfLot, lot.id), F === 'checks-of-others' ? yes : ruleFor('list check', x.caller));
    const from = x.page.n === undefined ? rows : rows.filter(r => r.seq > x.page.n), cut = from.slice(0, x.page.size);
    const n = String(cut.length ? cut[cut.length - 1].seq : 0);
    return json(200, { checks: cut.map(r => view('check', r, x.caller.user, x.ver, false, 'list')), onward: from.length > cut.length ? n + '.' + cursorMac(x, n) : null });
  },
  'create run': createOp('run'), 'read run': readOp('run', true), 'update run': updateOp('run'), 'delete run': deleteOp('run'),
  'list run': x => {
    const rows = rowsOf(x, T.run.values(), ruleFor('list run', x.caller)).sort((a, b) => cmp(a.due_on, b.due_on) || a.seq - b.seq);
    const n = x.page.n || 1, size = x.page.size, start = (n - 1) * size, cut = rows.slice(start, start + size);
    const kept = x.query ? x.query.split('&').filter(p => p && !/^(sheet)(=|$)/.test(p)).join('&') : '';
    const at = k => `</coop/${x.ver}/runs?${kept ? kept + '&' : ''}sheet=${k}>`, links = [];
    if (rows.length > start + size) links.push(at(n + 1) + '; rel="next"');
    if (n > 1) links.push(at(n - 1) + '; rel="prev"');
    links.push(at(1) + '; rel="first"');
    return json(200, cut.map(r => view('run', r, x.caller.user, x.ver, false, 'list')), { Link: links.join(', ') });
  },
  'create hook': createOp('hook'), 'read hook': readOp('hook'), 'update hook': updateOp('hook'), 'delete hook': deleteOp('hook'),
  'list hook': x => {
    const rows = rowsOf(x, T.hook.values(), ruleFor('list hook', x.caller)), from = x.page.n === undefined ? rows : rows.filter(r => r.seq >= x.page.n), cut = from.slice(0, x.page.size);
    return json(200, { hooks: cut.map(r => view('hook', r, x.caller.user, x.ver, false, 'list')), more: from.length > cut.length });
  },
};
for (const op of Object.keys(MOVES)) OPS[op] = moveOp(op, op.split(' ')[1]);
function offsetPage(x, res, rows, everything) {
  const skip = x.page.n || 0, cut = rows.slice(skip, skip + x.page.size);
  const all = F === 'all-of-everybody' && res === 'lot' && !x.filters.length ? everything : rows.length;
  return json(200, { rows: cut.map(r => view(res, r, x.caller.user, x.ver, false, 'list')), all, more: rows.length > skip + cut.length && cut.length > 0 });
}

// ------------------------------------------------------------------ routes
const ROUTES = [];
function route(method, path, op, o = {}) { ROUTES.push({ method, parts: path.split('/').slice(1), op, ...o }); }
route('GET', '/grades', 'list grade', { open: true }); route('GET', '/grades/{}', 'read grade'); route('PUT', '/grades/{}', 'upsert grade', { body: true });
if (F !== 'grades-stay') route('DELETE', '/grades/{}', 'delete grade');
route('POST', '/banks', 'create bank', { body: true }); route('GET', '/banks', 'list bank'); route('GET', '/banks/{}', 'read bank'); route('PATCH', '/banks/{}', 'update bank', { body: 'patch' }); route('DELETE', '/banks/{}', 'delete bank');
route('POST', '/banks/{}/lots', 'create lot', { body: true, turn: 'optional' }); route('GET', '/lots', 'list lot'); route('GET', '/lots/{}', 'read lot'); route('PATCH', '/lots/{}', 'update lot', { body: 'patch' }); route('DELETE', '/lots/{}', 'delete lot');
route('POST', '/lots/{}/foot', 'foot lot', { body: true }); route('POST', '/lots/{}/stack', 'stack lot'); route('POST', '/lots/{}/hold', 'hold lot', F === 'hold-before-its-time' ? { body: true } : { body: true, only: 's2' });
route('POST', '/lots/{}/sell', 'sell lot', { body: true, turn: 'required' });
if (F !== 'no-withdrawing') route('POST', '/lots/{}/withdraw', 'withdraw lot');
route('POST', '/lots/{}/checks', 'create check', { body: true }); route('GET', '/lots/{}/checks', 'list check'); if (F !== 'checks-off-base') route('GET', '/checks/{}', 'read check');
route('POST', '/runs', 'create run', { body: true, turn: 'optional' }); route('GET', '/runs', 'list run'); route('GET', '/runs/{}', 'read run'); route('PATCH', '/runs/{}', 'update run', { body: 'patch' }); route('DELETE', '/runs/{}', 'delete run');
route('POST', '/runs/{}/load', 'load run'); route('POST', '/runs/{}/deliver', 'deliver run', { body: true });
route('POST', '/hooks', 'create hook', { body: true }); route('GET', '/hooks', 'list hook'); route('GET', '/hooks/{}', 'read hook'); route('PATCH', '/hooks/{}', 'update hook', { body: 'patch' }); route('DELETE', '/hooks/{}', 'delete hook');
const shapes = new Map(); // "n:first:third" -> [{ parts, methods }]
for (const r of ROUTES) {
  const k = r.parts.join('/'); let s = shapes.get(k);
  if (!s) shapes.set(k, s = { parts: r.parts, methods: new Map() });
  s.methods.set(r.method, r);
}
function shapeOf(parts) {
  if (parts.length < 1 || parts.length > 3) return null;
  const key = parts.length === 1 ? parts[0] : parts.length === 2 ? parts[0] + '/{}' : parts[0] + '/{}/' + parts[2];
  if (parts.length > 1 && parts[1] === '') return null;
  return shapes.get(key) || null;
}
const SUNSET = Date.UTC(2031, 2, 1);
const S1_HEADERS = { Deprecation: '@' + Date.UTC(2025, 2, 1) / 1000, Sunset: new Date(SUNSET).toUTCString() };

// ------------------------------------------------------------------ the order of refusals
function acceptable(h) {
  if (h === undefined || h.trim() === '') return true;
  let best = -1, q = 0;
  for (const piece of h.split(',')) {
    const [type, ...ps] = piece.split(';').map(s => s.trim());
    const t = type.toLowerCase(), rank = t === 'application/json' ? 2 : t === 'application/*' ? 1 : t === '*/*' ? 0 : -1;
    if (rank < 0) continue;
    let w = 1, other = false;
    for (const p of ps) { const m = /^q=([0-9.]+)$/i.exec(p); if (m) w = Number(m[1]); else if (p && rank === 2 && !/^charset=("?)utf-8\1$/i.test(p)) other = true; }
    if (other) continue;
    if (rank > best || (rank === best && w > q)) { best = rank; q = w; }
  }
  return best >= 0 && q > 0;
}
const utf8 = new TextDecoder('utf-8', { fatal: true });
function identify(x) {
  const found = [];
  let bad = [];
  for (const [scheme, name] of [['spade', 'authorization'], ['ticket', 'x-turf-ticket']]) {
    const vs = x.many.get(name); if (!vs) continue;
    if (vs.length > 1) { bad.push(scheme); continue; }
    let v = vs[0];
    if (scheme === 'spade') { if (v === '') continue; const m = /^spade +(\S+)$/i.exec(v); if (!m) { bad.push(scheme); continue; } v = m[1]; } else if (v === '') continue;
    const c = KEYS[scheme].get(v);
    if (c) found.push(c); else bad.push(scheme);
  }
  if (found.length === 2 && found[0] !== found[1] && F !== 'two-callers') bad = ['spade', 'ticket'];
  const anyone = CAN[x.op].anyone;
  if (bad.length || (!found.length && !anyone)) {
    const e = s => bad.includes(s) ? ', error="invalid_key"' : '';
    refuse(bad.length ? 'bad_key' : 'no_key', undefined, { 'WWW-Authenticate': `Spade realm="Peat Works"${e('spade')}, ApiKey realm="Peat Works", in="header", name="X-Turf-Ticket"${e('ticket')}` });
  }
  x.caller = found[0] || null;
}
const turns = new Map();
let turnSweep = 0;
const LIMIT_BODY = F === 'body-of-eight' ? 8192 : 6144;
function readBody(x) {
  const need = x.route.body; if (!need) return;
  if (x.size === 0) refuse('no_body');
  const type = (x.headers.get('content-type') || '').split(';')[0].trim().toLowerCase();
  if (type !== 'application/json' && !(need === 'patch' && type === 'application/merge-patch+json')) refuse('wrong_type');
  if (x.size > LIMIT_BODY) refuse('too_big');
  try { x.json = JSON.parse(utf8.decode(x.body)); } catch { refuse('garbled'); }
}
function process1(x) {
  // (1) sizes of the address and the headers
  if (Buffer.byteLength(x.target) > 2048) refuse('address_too_long');
  if (x.headerBytes > 8192) refuse('headers_too_big');
  // (2) path, method, version
  const qi = x.target.indexOf('?');
  x.path = qi < 0 ? x.target : x.target.slice(0, qi); x.query = qi < 0 ? '' : x.target.slice(qi + 1);
  const p = x.path.split('/');
  if (p[0] !== '' || p[1] !== 'coop') refuse('no_path');
  let shape = shapeOf(p.slice(3)), ver = p[2], parts = p.slice(3);
  if (!shape) { shape = shapeOf(p.slice(2)); if (!shape) refuse('no_path'); ver = undefined; parts = p.slice(2); }
  const known = ver === 's1' || ver === 's2';
  if (known) { x.ver = ver; if (ver === 's1') x.old = '/coop/s2' + x.path.slice(8) + (qi < 0 ? '' : x.target.slice(qi)); }
  let methods = shape.methods;
  if (known) { let hidden = 0; for (const r of methods.values()) if (r.only && r.only !== ver) hidden++; if (hidden === methods.size) refuse('no_path'); }
  const allow = [...methods.keys()]; if (allow.includes('GET')) allow.push('HEAD'); allow.push('OPTIONS');
  let m = x.method; if (m === 'HEAD') m = 'GET';
  const r = methods.get(m);
  if (!r && m !== 'OPTIONS') refuse('no_method', undefined, { Allow: allow.join(', ') });
  if (!known) refuse('no_version');
  if (ver === 's1' && now() >= SUNSET) refuse('version_over');
  if (!r) return { status: 204, text: null, headers: { Allow: allow.join(', ') } };
  x.route = r; x.op = r.op; x.params = parts.length > 1 ? [parts[1]] : [];
  // (4) who calls
  if (!r.open) identify(x); else x.caller = null;
  // (5) rates
  const rate = x.op === 'read grade' ? (x.caller ? null : ANON.take(x.address, now())) : RATES[x.op] ? RATES[x.op].take(x.caller.k, now()) : null;
  if (rate) {
    x.rate = { 'X-Turf-Limit': String(rate.limit), 'X-Turf-Left': String(rate.left), 'X-Turf-Reset': String(rate.reset) };
    if (!rate.ok) refuse('slow_down', undefined, { 'Retry-After': String(rate.reset) });
  }
  // (6) the user's rules
  if (!ruleFor(x.op, x.caller)) refuse('forbidden');
  // (8) parameters, body, what is accepted
  if (F === 'body-before-query') { readBody(x); parameters(x); } else { parameters(x); readBody(x); }
  if (!acceptable(x.headers.get('accept'))) refuse('wrong_answer');
  // (9) turns
  if (x.turn === undefined) return OPS[x.op](x);
  const key = x.caller.k + '\n' + x.op + '\n' + x.turn, print = crypto.createHash('sha256').update(x.target + '\n' + x.ver + '\n').update(x.body).digest('base64'), t = now();
  if (++turnSweep % 512 === 0) for (const [k, e] of turns) if (e.until <= t) turns.delete(k);
  const was = turns.get(key);
  if (was && was.until > t) { if (was.print !== print && !(F === 'turn-of-another-body' && x.op === 'create lot')) refuse('turn_reused'); return was.answer; }
  let answer;
  try { answer = OPS[x.op](x); } catch (e) { if (e instanceof Refusal && OWN.has(e.code)) { answer = errorAnswer(x, e); answer.kept = true; } else throw e; }
  answer.trace = x.trace;
  turns.set(key, { print, until: t + 6 * HOUR, answer });
  return answer;
}
function errorAnswer(x, e) {
  const [status, text] = CODES[e.code];
  const body = { fault: e.code, text, status, trace: x.trace };
  if (e.spots && e.spots.length) body.spots = e.spots;
  const headers = { ...(e.headers || {}), 'X-Turf-Fault': e.code };
  if (F === 'missing-unnamed' && e.code === 'not_here') delete headers['X-Turf-Fault'];
  return { status, text: JSON.stringify(body), headers };
}
function answerOf(x) {
  try { runDue(); return process1(x); } catch (e) { return errorAnswer(x, e instanceof Refusal ? e : new Refusal('broken')); }
}
let traces = 0;
const traceHead = crypto.randomBytes(4).toString('hex');
const nextTrace = () => 'tr-' + traceHead + '-' + (++traces).toString(36);

function handle(req, res) {
  const x = { method: req.method, target: req.url, trace: nextTrace(), address: req.socket.remoteAddress || '', headers: new Map(), many: new Map(), headerBytes: 0, size: 0, body: null };
  const raw = req.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const n = raw[i].toLowerCase(), v = raw[i + 1];
    x.headerBytes += raw[i].length + v.length + 4;
    const had = x.headers.get(n); x.headers.set(n, had === undefined ? v : had + ', ' + v);
    const list = x.many.get(n); if (list) list.push(v); else x.many.set(n, [v]);
  }
  if (/^https?:\/\//i.test(x.target)) { const m = /^https?:\/\/[^/?#]*(.*)$/i.exec(x.target); x.target = m[1][0] === '/' ? m[1] : '/' + m[1]; }
  const chunks = [];
  let done = false;
  const finish = () => {
    if (done) return; done = true;
    x.body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    const a = answerOf(x);
    const h = { ...a.headers, 'X-Turf-Trace': a.trace || x.trace, Vary: 'Authorization, X-Turf-Ticket' };
    if (x.rate) Object.assign(h, x.rate);
    if (x.old !== undefined) {
      h.Deprecation = S1_HEADERS.Deprecation; if (!(F === 'sunset-kept-quiet' && a.status >= 400)) h.Sunset = S1_HEADERS.Sunset;
      const l = `<https://turf.example/seasons>; rel="deprecation", <${x.old}>; rel="successor-version"`;
      h.Link = h.Link ? h.Link + ', ' + l : l;
    }
    if (res.writableEnded || res.destroyed) return;
    if (a.text !== null && a.text !== undefined) {
      h['Content-Type'] = 'application/json'; h['Content-Length'] = Buffer.byteLength(a.text);
      res.writeHead(a.status, h); res.end(req.method === 'HEAD' ? undefined : a.text);
    } else { res.writeHead(a.status, h); res.end(); }
  };
  req.on('data', c => { x.size += c.length; if (x.size <= 16384) chunks.push(c); else if (x.size > 16 * 1024 * 1024 && !done) { res.shouldKeepAlive = false; finish(); req.destroy(); } });
  req.on('end', finish);
  req.on('error', () => { done = true; });
  res.on('error', () => { });
}
const server = http.createServer({ maxHeaderSize: 512 * 1024, requestTimeout: 10000, headersTimeout: 10000, keepAliveTimeout: 60000, keepAliveTimeoutBuffer: 0, connectionsCheckingInterval: 500, noDelay: true, insecureHTTPParser: false, requireHostHeader: false }, handle);
server.maxRequestsPerSocket = 0;
server.on('checkContinue', (req, res) => { res.writeContinue(); handle(req, res); });
server.on('clientError', (err, socket) => {
  if (socket.destroyed || !socket.writable) { socket.destroy(); return; }
  if (err.code === 'ECONNRESET') { socket.destroy(); return; }
  const code = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : err.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_big' : 'garbled';
  const a = errorAnswer({ trace: nextTrace() }, new Refusal(code)), trace = JSON.parse(a.text).trace;
  socket.end(`HTTP/1.1 ${a.status} ${http.STATUS_CODES[a.status]}\r\nContent-Type: application/json\r\nX-Turf-Fault: ${code}\r\nX-Turf-Trace: ${trace}\r\nContent-Length: ${Buffer.byteLength(a.text)}\r\nConnection: close\r\n\r\n${a.text}`);
});
server.on('error', () => process.exit(1));
server.listen(PORT, '127.0.0.1', 1024);

// ------------------------------------------------------------------ the clock's door
function advanced(from, s) {
  const m = /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(s);
  if (!m) return null;
  const d = new Date(from), months = (+m[1] || 0) * 12 + (+m[2] || 0);
  if (months) { const day = d.getUTCDate(); d.setUTCDate(1); d.setUTCMonth(d.getUTCMonth() + months); d.setUTCDate(Math.min(day, new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate())); }
  const t = d.getTime() + (+m[3] || 0) * 7 * DAY + (+m[4] || 0) * DAY + (+m[5] || 0) * HOUR + (+m[6] || 0) * 60000 + Math.round((+m[7] || 0) * 1000);
  return Number.isFinite(t) && t < 8.6e15 ? t : null;
}
http.createServer({ noDelay: true }, (req, res) => {
  let text = '';
  req.setEncoding('utf8'); req.on('data', c => { if (text.length < 10000) text += c; });
  req.on('error', () => { });
  req.on('end', () => {
    const say = (status, o) => { const t = JSON.stringify(o); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    if (req.method !== 'POST') return say(400, { error: 'GET or POST' });
    let b; try { b = JSON.parse(text); } catch { return say(400, { error: 'JSON' }); }
    if (!isMap(b) || (own(b, 'advance') === own(b, 'now'))) return say(400, { error: 'advance or now' });
    const v = own(b, 'advance') ? b.advance : b.now;
    const to = typeof v !== 'string' ? null : own(b, 'advance') ? advanced(now(), v) : instant(v);
    if (to === null) return say(400, { error: 'a duration or a time' });
    const is = now();
    if (to < is) return say(422, { error: 'that time has passed' });
    offset += to - is;
    runDue(); arm();
    // deliveries that came due are begun on the next turn of the loop
    setImmediate(() => setImmediate(() => say(200, { now: iso(now()) })));
  });
}).on('error', () => process.exit(1)).listen(CLOCK_PORT, '127.0.0.1');
process.on('uncaughtException', () => { });
