'use strict';
// Scion Yard: the town's old apples. node service.cjs --port N --clock-port M [--fault ID]
const http = require('node:http');
const crypto = require('node:crypto');
const { P, SECRET } = require('./people.cjs');

const arg = (name) => { const i = process.argv.indexOf('--' + name); return i < 0 ? undefined : process.argv[i + 1]; };
const FAULT = arg('fault');
const F = (id) => FAULT === id;
const BASE = '/yard';
const DAY = 86400e3;

// ---------------------------------------------------------------- clock
let offset = 0;
const now = () => Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();

// ---------------------------------------------------------------- errors
const CODES = {
  garbled: [400, 'The body cannot be read.'], empty_hands: [400, 'A body is wanted.'], wrong_basket: [415, 'Not that media type.'],
  odd_question: [400, 'A parameter does not fit.'], no_such_page: [422, 'There is no such page.'], stray_word: [400, 'There is no such field.'],
  not_so: [422, 'Something that was sent does not fit.'], who_goes: [401, 'Show a leaf, a tag or a badge.'], not_yours: [403, 'That is not for you.'],
  beyond_badge: [403, 'Your scopes do not reach so far.'], no_path: [404, 'No path leads there.'], not_here: [404, 'There is none.'],
  composted: [410, 'It was thrown away.'], wrong_tool: [405, 'Not by this method.'], already: [409, 'There is one already.'],
  dangling: [422, 'It refers to what is not there.'], rooted: [409, 'Something refers to it.'], not_now: [409, 'Not in this state.'],
  stale: [412, 'It has changed.'], tagless: [428, 'Say which one you have read.'], once_other: [422, 'That key was used for something else.'],
  once_busy: [503, 'Busy.'], slow_down: [429, 'Too many.'], used_up: [403, 'No more of these.'], too_big: [413, 'Too large.'],
  long_address: [414, 'That address is too long.'], dawdled: [408, 'That took too long.'], edition_strange: [400, 'No such edition.'],
  edition_over: [410, 'That edition is over.'], broken: [500, 'Something broke.'],
  knife_was_quicker: [409, 'The knife was quicker.', 1], bare_tree: [409, 'The tree has not so many sticks left.', 1],
  fee_is_due: [402, 'Pay at the gate first.', 1], too_few_coins: [402, 'That does not cover the price.', 1],
  packet_is_empty: [409, 'The packet has too few seeds left.', 1], tree_is_bare_wood: [409, 'Scions are cut of bearing trees alone.', 1],
  day_is_past: [422, 'That day is past.', 1], dwarf_pots: [422, 'At most eight pots on M9.', 1],
};
if (F('x_stray_status')) CODES.stray_word[0] = 422;
if (F('x_fee_status')) CODES.fee_is_due[0] = 409;
if (F('x_used_up_status')) CODES.used_up[0] = 429;
class Trouble extends Error {
  constructor(code, spots, headers) { super(code); this.code = code; this.spots = spots && spots.length ? spots : undefined; this.headers = headers; }
}
const fail = (code, spots, headers) => { throw new Trouble(code, spots, headers); };

// ---------------------------------------------------------------- shapes
const len = (s) => { let n = 0; for (const _ of s) n++; return n; };
const str = (o = {}) => ({ t: 'string', ...o });
const int = (o = {}) => ({ t: 'int', ...o });
const DT = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
function instant(s) {
  const m = DT.exec(s);
  if (!m || s[10] === ' ') return NaN;
  const [y, mo, d, h, mi, se] = m.slice(1, 7).map(Number);
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(2000 + (y % 400), mo, 0)).getUTCDate() || h > 23 || mi > 59 || se > 59) return NaN;
  if (m[8].length > 1 && (Number(m[8].slice(1, 3)) > 23 || Number(m[8].slice(4)) > 59)) return NaN;
  return Date.parse(s.toUpperCase());
}
// what is wrong with a value, as a text, or undefined; `at` collects the path
function wrong(f, v, path, out) {
  const bad = (expected, p = path) => { out.push({ path: p, found: v === null ? 'null' : Array.isArray(v) ? 'a list' : typeof v === 'object' ? 'a map' : JSON.stringify(v), expected, kind: 'value' }); };
  switch (f.t) {
    case 'string': case 'ref':
      if (typeof v !== 'string') return bad('a text');
      if (f.enum && !f.enum.includes(v)) return bad('one of ' + f.enum.join(', '));
      if (f.min !== undefined && len(v) < f.min) return bad(`at least ${f.min} characters`);
      if (f.max !== undefined && len(v) > f.max) return bad(`at most ${f.max} characters`);
      if (f.pattern && !f.pattern.test(v)) return bad('a text like ' + f.pattern.source);
      if (f.format === 'date-time' && Number.isNaN(instant(v))) return bad('a date-time');
      if (f.format === 'uri' && !uri(v)) return bad('an address');
      return;
    case 'int':
      if (typeof v !== 'number' || !Number.isInteger(v)) return bad('a whole number');
      if (f.min !== undefined && v < f.min) return bad(`at least ${f.min}`);
      if (f.max !== undefined && v > f.max) return bad(`at most ${f.max}`);
      return;
    case 'bool': return typeof v === 'boolean' ? undefined : bad('true or false');
    case 'list': {
      if (!Array.isArray(v)) return bad('a list');
      if (f.maxItems !== undefined && v.length > f.maxItems) return bad(`at most ${f.maxItems} items`);
      if (f.unique && new Set(v.map((x) => JSON.stringify(x))).size < v.length) return bad('items that differ');
      v.forEach((x, i) => wrong(f.items, x, path + '.' + i, out));
      return;
    }
    case 'value': {
      if (v === null || typeof v !== 'object' || Array.isArray(v)) return bad('a map');
      for (const k of Object.keys(v)) {
        if (!Object.hasOwn(f.fields, k)) out.push({ path: path + '.' + k, found: 'a field', expected: 'no such field', kind: 'unknown' });
        else wrong(f.fields[k], v[k], path + '.' + k, out);
      }
      for (const k of Object.keys(f.fields)) if (f.fields[k].req && !Object.hasOwn(v, k)) out.push({ path: path + '.' + k, found: 'nothing', expected: 'a value', kind: 'missing' });
    }
  }
}
function uri(s) {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/.test(s) || /%(?![0-9A-Fa-f]{2})/.test(s)) return false;
  try { return new URL(s).hostname !== ''; } catch { return false; }
}
const req = true, ro = true, imm = true;
const KINDS = ['cutting.held', 'cutting.gone', 'tree.felled', 'graft.moved', 'fee.settled', 'variety.reseasoned', 'minder.left'];
const ROOTS = ['m9', 'm26', 'mm106', 'seedling'];
const RES = {
  variety: { id: 'slug', fields: {
    slug: str({ pattern: F('r_slug_15') ? /^[a-z]{3,15}$/u : /^[a-z]{3,14}$/u, req, imm }),
    name: str({ min: 2, max: 60, req }),
    synonyms: { t: 'list', items: str({ min: 2, max: 40 }), maxItems: 5, unique: true },
    season: str({ enum: ['early', 'mid', 'late', 'keeping'], req }),
    vigour: int({ min: 1, max: 5, req, def: F('r_vigour_default') ? 1 : 3 }),
    origin: { t: 'value', fields: { county: str({ max: 40, req }) } },
    keeps_weeks: int({ min: 0, max: 60 }),
    ledger_note: str({ max: 200, visible: ['curator', 'grafter'], writable: ['curator'] }),
    trees: { t: 'int', req, ro, derive: (r) => refs('tree', 'variety', r.f.slug).filter((t) => t.f.stage !== 'felled').length },
    touched_at: str({ req, ro }),
  } },
  tree: { id: 'id', make: () => 'tr-' + hex(10), machines: ['stage'], fields: {
    id: str({ req, ro }), variety: { t: 'ref', to: 'variety', req, imm },
    row: str({ pattern: /^[A-H]$/u, req }), spot: int({ min: 1, max: 40, req }),
    ward: str({ req, ro }), girth_mm: int({ min: 10, max: 3000 }),
    sticks_left: { t: 'int', req, ro, derive: (r) => 20 - refs('cutting', 'tree', r.f.id).reduce((n, c) => n + (c.f.status === 'cut' ? c.f.sticks : 0), 0) },
    stage: str({ enum: ['young', 'bearing', 'felled'], req, ro }),
  } },
  minder: { id: 'id', make: () => 'mi.' + pick(8, 'abcdefghijklmnopqrstuvwxyz'), fields: {
    id: str({ req, ro }), tree: { t: 'ref', to: 'tree', req, imm }, person: str({ min: 2, max: 30, req, imm }),
    role: str({ enum: ['lead', 'helper'], req, def: 'helper' }),
  } },
  cutting: { id: 'id', make: () => 'cut_' + ulid(), machines: ['status'], fields: {
    id: str({ req, ro }), nr: int({ req, ro }), tree: { t: 'ref', to: 'tree', req, imm }, grower: str({ req, ro }),
    sticks: int({ min: 1, max: 10, req }), wanted_by: str({ format: 'date-time', req }), note: str({ max: 120 }),
    pin: str({ req, ro, once: true }), status: str({ enum: ['held', 'cut', 'lapsed', 'withdrawn'], req, ro }),
    weight_g: int({ ro, visible: F('r_weight_seen') ? undefined : ['grafter', 'curator'] }),
  } },
  graft: { id: 'id', make: () => 'gft' + pick(9, '0123456789ABCDEF'), machines: ['work', 'fee'], fields: {
    id: str({ req, ro }), variety: { t: 'ref', to: 'variety', req, imm }, rootstock: str({ enum: ROOTS, req }),
    pots: int({ min: 1, max: 12, req, def: 1 }), grower: str({ req, ro }), ward: str({ req, ro }), price_cents: int({ req, ro }),
    bench_note: str({ max: 80, visible: ['grafter', 'curator'], writable: F('r_bench_writable') ? undefined : ['grafter'] }),
    placed_at: str({ req, ro }), takes: int({ ro }),
    work: str({ enum: ['queued', 'grafted', 'taken', 'failed', 'collected', 'cancelled'], req, ro }),
    fee: str({ enum: ['unpaid', 'overdue', 'paid'], req, ro }),
  } },
  packet: { id: 'id', make: () => 'pk-' + hex(8), fields: {
    id: str({ req, ro }), lot: str({ req, ro }), variety: { t: 'ref', to: 'variety', req }, harvested: int({ min: 1990, max: 2100, req }),
    seeds_total: int({ min: 0, max: 5000, req }),
    seeds_out: { t: 'int', req, ro, derive: (r) => refs('loan', 'packet', r.f.id).reduce((n, l) => n + (l.f.status === 'out' || (F('r_out_lost') && l.f.status === 'lost') ? l.f.seeds : 0), 0) },
    seeds_free: { t: 'int', req, ro, derive: (r) => r.f.seeds_total - derived('packet', r, 'seeds_out') },
  } },
  loan: { id: 'id', make: () => ++loanIds, machines: ['status'], fields: {
    id: int({ req, ro }), packet: { t: 'ref', to: 'packet', req, imm }, grower: str({ req, ro }), seeds: int({ min: 1, max: 60, req }),
    status: str({ enum: ['asked', 'out', 'lost', 'dropped'], req, ro }), due_at: str({ ro }),
  } },
  hook: { id: 'id', make: () => 'hk' + pick(10, 'abcdefghijklmnopqrstuvwxyz0123456789'), fields: {
    id: str({ req, ro }), owner: str({ req, ro }), target: str({ format: 'uri', pattern: /^http:\/\//u, req }), secret: str({ req, ro, once: true }),
    kinds: { t: 'list', items: str(), maxItems: 10 }, live: { t: 'bool', req, def: true },
  } },
};
let loanIds = 0;
const hex = (n) => crypto.randomBytes(n).toString('hex').slice(0, n);
const pick = (n, from) => { let s = ''; for (let i = 0; i < n; i++) s += from[crypto.randomInt(from.length)]; return s; };
const AZ = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
function ulid() { let t = now(), s = ''; for (let i = 0; i < 10; i++) { s = B32[t % 32] + s; t = Math.floor(t / 32); } return s + pick(16, B32); }

// ---------------------------------------------------------------- store
const rows = {}, byRef = {}, counters = new Map();
for (const r of Object.keys(RES)) rows[r] = new Map();
for (const [r, d] of Object.entries(RES)) for (const [k, f] of Object.entries(d.fields)) if (f.t === 'ref') byRef[r + '.' + k] = new Map();
const gone = new Map(); // packets that were thrown away: id -> { rec, until }
let serial = 0;
const count = (name) => { const n = (counters.get(name) ?? 0) + 1; counters.set(name, n); return n; };
function refs(res, field, id) { const s = byRef[res + '.' + field].get(id); return s ? [...s] : []; }
function link(res, rec, add) {
  for (const [k, f] of Object.entries(RES[res].fields)) if (f.t === 'ref') {
    const m = byRef[res + '.' + k]; let s = m.get(rec.f[k]);
    if (add) { if (!s) m.set(rec.f[k], s = new Set()); s.add(rec); } else if (s) { s.delete(rec); if (!s.size) m.delete(rec.f[k]); }
  }
}
const idOf = (res, rec) => rec.f[RES[res].id];
const find = (res, id) => rows[res].get(id);
const derived = (res, rec, k) => RES[res].fields[k].derive(rec);
const minderOf = (tree, person) => refs('minder', 'tree', tree).find((m) => m.f.person === person);

// timers of the clock: due -> what
const timers = new Map(); let soonest = Infinity;
function setTimer(key, due, res, rec, name) { timers.set(key, { due, res, rec, name }); if (due < soonest) soonest = due; }
function armed(res, rec, machine, state, t0) {
  const key = res + ':' + idOf(res, rec) + ':' + machine;
  timers.delete(key);
  const set = (due, name) => setTimer(key, due, res, rec, name);
  if (res === 'tree' && state === 'young') set(t0 + 400 * DAY, 'ripen');
  if (res === 'cutting' && state === 'held') set(instant(rec.f.wanted_by) + (F('s_lapse_late') ? 3600e3 : 0), 'lapse');
  if (res === 'graft' && state === 'grafted') set(t0 + 40 * DAY, 'heal');
  if (res === 'graft' && state === 'unpaid') set(t0 + (F('s_chase_13') ? 13 : 14) * DAY, 'chase');
  if (res === 'loan' && state === 'asked' && !(F('s_drop_form') && rec.byForm)) set(t0 + 7 * DAY, 'drop');
  if (res === 'loan' && state === 'out') set(instant(rec.f.due_at), 'lose');
}
const TIMED = {
  ripen: ['stage', 'bearing'], lapse: ['status', 'lapsed'], heal: ['work', 'taken'], chase: ['fee', 'overdue'], drop: ['status', 'dropped'], lose: ['status', 'lost'],
};
function runDue() {
  const t = now();
  if (t < soonest) return;
  for (;;) {
    let first;
    for (const [key, x] of timers) if (x.due <= t && (!first || x.due < first.x.due)) first = { key, x };
    if (!first) break;
    timers.delete(first.key);
    const { res, rec, name } = first.x;
    if (rows[res].get(idOf(res, rec)) !== rec) continue;
    const [machine, to] = TIMED[name];
    const before = { ...rec.f };
    rec.f[machine] = to;
    armed(res, rec, machine, to, t);
    emit(name + ' ' + res, res, rec, before);
  }
  soonest = Infinity;
  for (const x of timers.values()) if (x.due < soonest) soonest = x.due;
}

// ---------------------------------------------------------------- permissions
const own = (field) => (c, r) => r.f[field] === c.id;
const ward = (c, r) => r.f.ward === c.ward;
const lead = (tree) => (c, r) => { const m = minderOf(tree(r), c.id); return !!m && m.f.role === 'lead'; };
const RULES = [
  [['list variety', 'read variety'], 'anyone'],
  [['upsert variety', 'delete variety'], ['curator'], { scopes: ['pomology'] }],
  [['list tree', 'read tree'], ['grower'], { fields: ['id', 'variety', 'row', 'spot', 'stage', 'sticks_left'] }],
  [['list tree', 'read tree'], ['grafter', 'curator']],
  [['create tree', 'mature tree', 'delete tree'], ['curator']],
  [['update tree'], ['curator'], { if: ward }],
  [['fell tree'], ['curator'], { if: F('a_fell_ward') ? undefined : ward }],
  [['update tree'], ['grafter'], { if: lead((r) => r.f.id) }],
  [['list minder', 'read minder'], ['grafter', 'curator']],
  [['create minder', 'delete minder'], ['curator']],
  [['create minder'], ['grafter'], { next: lead((r) => r.f.tree) }],
  [['create cutting'], ['grower'], { scopes: ['sticks'] }],
  [['list cutting', 'read cutting', 'update cutting', 'withdraw cutting'], ['grower'], { if: own('grower') }],
  [['list cutting', 'read cutting'], ['grafter'], { if: (c, r) => !!minderOf(r.f.tree, c.id) }],
  [['cut cutting'], ['grafter'], { if: F('a_cut_helper') ? (c, r) => !!minderOf(r.f.tree, c.id) : lead((r) => r.f.tree) }],
  [['list cutting', 'read cutting'], ['curator']],
  [['create graft'], ['grower'], { scopes: ['grafts'] }],
  [['read graft', 'update graft', 'cancel graft', 'pay graft', 'list graft'], ['grower'], { if: own('grower') }],
  [['read graft', 'update graft', 'bind graft', 'inspect graft', 'collect graft'], ['grafter'], { if: ward }],
  [['list graft'], ['grafter'], { if: F('a_list_wards') ? undefined : ward }],
  [['list graft', 'read graft'], ['curator']],
  [['list packet', 'read packet', 'look up lot'], ['grower', 'grafter', 'curator']],
  [['create packet', 'replace packet', 'delete packet'], ['curator'], { scopes: ['seeds'] }],
  [['create loan'], ['grower']],
  [['list loan', 'read loan'], ['grower'], { if: own('grower') }],
  [['list loan', 'read loan', 'lend loan'], ['curator']],
  [['create hook'], ['grower', 'curator']],
  [['list hook', 'read hook', 'delete hook'], ['grower', 'curator'], { if: F('a_hook_read') ? (c, r, op) => op === 'read hook' || r.f.owner === c.id : own('owner') }],
].map(([ops, to, more = {}]) => ({ ops: new Set(ops), to, ...more }));
const rulesOf = new Map();
function rulesFor(op, caller) {
  const key = op + '|' + (caller ? caller.user : '');
  let l = rulesOf.get(key);
  if (!l) rulesOf.set(key, l = RULES.filter((r) => r.ops.has(op) && (r.to === 'anyone' || (caller && r.to.includes(caller.user)))));
  return l;
}
const scoped = (r, caller) => !r.scopes || (caller && r.scopes.every((s) => caller.scopes.includes(s)));
const holds = (op, caller, rec) => rulesFor(op, caller).filter((r) => scoped(r, caller) && (!r.if || r.if(caller, rec, op)));
const mayRead = (res, caller, rec) => holds('read ' + res, caller, rec).length > 0;

// ---------------------------------------------------------------- what is shown
function fieldsShown(rules) { return rules.some((r) => !r.fields) ? undefined : new Set(rules.flatMap((r) => r.fields)); }
function shown(res, rec, caller, old, { once = false, forEvent = false } = {}) {
  const only = forEvent
    ? (() => { const l = rulesFor('read ' + res, caller).filter((r) => r.fields); return l.length && !F('v_felled_all') ? new Set(l[0].fields) : undefined; })()
    : fieldsShown(holds('read ' + res, caller, rec));
  const out = {};
  for (const [k, f] of Object.entries(RES[res].fields)) {
    if (only && !only.has(k)) continue;
    if (f.visible && !(caller && f.visible.includes(caller.user))) continue;
    if (f.once && !once) continue;
    const v = f.derive ? f.derive(rec) : rec.f[k];
    if (v === undefined) continue;
    if (old) {
      if (res === 'variety' && k === 'keeps_weeks') continue;
      if (res === 'cutting' && k === 'sticks') { out.pieces = v; continue; }
      if (res === 'graft' && k === 'rootstock' && v === 'mm106') { out[k] = 'halfstandard'; continue; }
    }
    out[k] = v;
  }
  return out;
}
const tagOf = (body, old) => '"' + crypto.createHash('sha1').update((old ? 'p' : 'r') + JSON.stringify(body)).digest('base64url') + '"';
// names of fields in the old edition
function upName(res, k) {
  if (res === 'variety' && k === 'keeps_weeks') return undefined;
  if (res === 'cutting') { if (k === 'pieces') return 'sticks'; if (k === 'sticks') return undefined; }
  return k;
}
const downName = (res, k) => (res === 'cutting' && k === 'sticks' ? 'pieces' : k);
const ROOTS_OLD = str({ enum: ['m9', 'm26', 'halfstandard', 'seedling'], req });

// ---------------------------------------------------------------- bodies of rows
// returns the fields that were sent (in newest names), null = take away; throws what is wrong
function readFields(x, res, body, mode, current, bound = {}) {
  const d = RES[res], out = [], sent = {};
  const { caller, old, ep } = x;
  if (body === null || typeof body !== 'object' || Array.isArray(body)) fail('not_so', [{ in: 'body', path: '', found: Array.isArray(body) ? 'a list' : String(body), expected: 'a map' }]);
  const badFields = new Set();
  for (const key of Object.keys(body)) {
    const k = old ? upName(res, key) : key, v = body[key];
    const told = F('n_pieces_spot') && k ? k : key;
    if (k === undefined || !Object.hasOwn(d.fields, k)) { out.push({ path: key, found: 'a field', expected: 'no such field', kind: 'unknown' }); continue; }
    let f = d.fields[k];
    if (f.ro || (f.writable && !f.writable.includes(caller.user))) {
      if (ep.refuseReadOnly) out.push({ path: told, found: 'a field', expected: 'not sent', kind: 'read_only' });
      continue;
    }
    if (old && res === 'graft' && k === 'rootstock') f = ROOTS_OLD;
    if (F('r_spot_41') && mode === 'update' && res === 'tree' && k === 'spot') f = { ...f, max: 41 };
    if (v === null) {
      if (mode === 'update' && !f.req) { if (!(F('r_note_null') && k === 'note')) sent[k] = null; } else { out.push({ path: told, found: 'null', expected: 'a value', kind: 'value' }); badFields.add(k); }
      continue;
    }
    const n = out.length;
    wrong(f, v, told, out);
    if (out.length > n) { badFields.add(k); continue; }
    const w = old && f === ROOTS_OLD && v === 'halfstandard' ? 'mm106' : v;
    if (Object.hasOwn(bound, k) && bound[k] !== w) { out.push({ path: told, found: JSON.stringify(v), expected: JSON.stringify(bound[k]), kind: 'value' }); continue; }
    if (f.imm && current && current.f[k] !== w && !(F('r_tree_moved') && res === 'tree')) { out.push({ path: told, found: JSON.stringify(v), expected: 'as it is', kind: 'value' }); continue; }
    sent[k] = w;
    if (res === 'hook' && k === 'kinds') v.forEach((kind, i) => { if (!kindKnown(kind)) out.push({ path: told + '.' + i, found: JSON.stringify(kind), expected: 'a kind of event', kind: 'value' }); });
  }
  if (mode !== 'update') for (const [k, f] of Object.entries(d.fields)) {
    const named = old ? downName(res, k) : k;
    if (f.req && !f.ro && f.def === undefined && !Object.hasOwn(bound, k) && !Object.hasOwn(body, named) && !(f.imm && current)) out.push({ path: named, found: 'nothing', expected: 'a value', kind: 'missing' });
  }
  if (res === 'variety') {
    const seas = sent.season, keeps = sent.keeps_weeks ?? (old ? current?.f.keeps_weeks : undefined);
    if (seas === 'early' && keeps > 6 && !(F('r_soft_rule') && current)) out.push({ path: 'keeps_weeks', found: String(keeps), expected: 'at most 6 for early fruit', kind: 'value' });
  }
  spots(out);
  return sent;
}
function spots(out) {
  if (!out.length) return;
  if (F('x_spots_pointer')) for (const o of out) o.path = o.path === '' ? '' : '/' + o.path.split('.').join('/');
  fail(out[0].kind === 'unknown' ? 'stray_word' : 'not_so', out.map(({ path, found, expected }) => ({ in: 'body', path, found, expected })));
}
const kindKnown = (k) => k === '*' || KINDS.includes(k) || (k.endsWith('.*') && KINDS.some((n) => n.startsWith(k.slice(0, -1))));
function inline(body, fields) {
  const out = [];
  if (body === null || typeof body !== 'object' || Array.isArray(body)) fail('not_so', [{ in: 'body', path: '', found: String(body), expected: 'a map' }]);
  for (const k of Object.keys(body)) if (Object.hasOwn(fields, k)) wrong(fields[k], body[k], k, out);
  for (const k of Object.keys(fields)) if (!Object.hasOwn(body, k)) out.push({ path: k, found: 'nothing', expected: 'a value', kind: 'missing' });
  spots(out);
}
function checkRefs(x, res, next, sent) {
  for (const [k, f] of Object.entries(RES[res].fields)) if (f.t === 'ref' && Object.hasOwn(sent, k)) {
    const target = find(f.to, next[k]);
    if (!target || !mayRead(f.to, x.caller, target)) fail('dangling', [{ in: 'body', path: k, found: JSON.stringify(next[k]), expected: 'one that is there' }]);
  }
}
function checkUnique(res, f, rec) {
  const clash = (o) => o !== rec;
  if (res === 'variety') {
    const n = F('r_name_case') ? (s) => s : (s) => s.toLowerCase();
    for (const o of rows.variety.values()) if (clash(o) && n(o.f.name) === n(f.name)) fail('already');
  }
  if (res === 'tree' && (f.stage !== 'felled' || F('r_spot_felled'))) for (const o of rows.tree.values()) if (clash(o) && (o.f.stage !== 'felled' || F('r_spot_felled')) && o.f.row === f.row && o.f.spot === f.spot) fail('already');
  if (res === 'minder') { const o = minderOf(f.tree, f.person); if (o && o !== rec) return o; }
}
const PRICE = (f) => f.pots * (f.rootstock === 'seedling' ? 900 : 1450);
const OWN = [
  ['tree_is_bare_wood', ['create cutting'], (f) => find('tree', f.tree).f.stage !== 'bearing'],
  ['day_is_past', F('x_day_update') ? ['create cutting'] : ['create cutting', 'update cutting'], (f) => instant(f.wanted_by) <= now()],
  ['dwarf_pots', ['create graft', 'update graft'], (f) => f.rootstock === 'm9' && (F('x_dwarf_8') ? f.pots >= 8 : f.pots > 8)],
];
function ownErrors(op, next) { for (const [code, on, when] of OWN) if (on.includes(op) && when(next)) fail(code); }

// ---------------------------------------------------------------- doing things
function insert(x, res, f) {
  const rec = { f, n: ++serial, ent: {} };
  rows[res].set(idOf(res, rec), rec);
  link(res, rec, true);
  return rec;
}
function createRow(x, body, bound = {}) {
  const { res, caller } = x, d = RES[res];
  const sent = readFields(x, res, body, 'create', undefined, bound);
  const t = now();
  const f = { ...sent, ...bound };
  for (const [k, s] of Object.entries(d.fields)) if (f[k] === undefined && s.def !== undefined) f[k] = s.def;
  for (const k of ['grower', 'ward', 'owner']) if (d.fields[k]) f[k] = k === 'ward' ? caller.ward : caller.id;
  if (res === 'graft') { f.placed_at = iso(t); f.price_cents = PRICE(f); f.work = 'queued'; f.fee = 'unpaid'; }
  if (res === 'tree') f.stage = 'young';
  if (res === 'cutting') f.status = 'held';
  if (res === 'loan') f.status = 'asked';
  checkRefs(x, res, f, sent);
  const cands = rulesFor(x.op, caller).filter((r) => scoped(r, caller));
  if (!cands.some((r) => !r.next || r.next(caller, { f }))) fail('not_yours');
  ownErrors(x.op, f);
  const twin = checkUnique(res, f, undefined);
  if (twin) {
    if (!x.ep.exists || !mayRead(res, caller, twin)) fail('already');
    if (F('e_exists_role') && sent.role) twin.f.role = sent.role;
    return { status: 200, body: shown(res, twin, caller, x.old) };
  }
  quotas(x, res, f);
  // drawn once nothing refuses any more
  f[d.id] = d.make();
  if (res === 'cutting') { f.nr = count(F('r_nr_all') ? 'nr' : 'nr:' + f.tree); f.pin = pick(6, '0123456789'); }
  if (res === 'packet') f.lot = 'LOT-' + String(count('lot')).padStart(5, '0');
  if (res === 'hook') { f.secret = 'yard_' + pick(30, AZ); }
  const rec = insert(x, res, f);
  rec.byForm = x.form;
  if (res === 'hook') Object.assign(rec, { maker: caller, old: x.old, queue: [], failing: 0, firstFail: 0, notBefore: 0 });
  for (const m of d.machines ?? []) armed(res, rec, m, f[m], t);
  emit(x.op, res, rec, undefined);
  const headers = {};
  if (!(F('e_location_loan') && res === 'loan')) headers.Location = BASE + '/' + plural(res) + '/' + encodeURIComponent(f[d.id]);
  const answer = { status: 201, headers, body: shown(res, rec, caller, x.old, { once: true }) };
  answer.kept = F('e_replay_pin') ? answer.body : shown(res, rec, caller, x.old);
  return answer;
}
const plural = (res) => (res === 'variety' ? 'varieties' : res + 's');
function weekKey(ms, zone = 'Europe/Amsterdam') {
  const p = Object.fromEntries(ZONE.formatToParts(new Date(ms)).map((y) => [y.type, y.value]));
  const days = Math.floor(Date.UTC(+p.year, +p.month - 1, +p.day) / DAY);
  return Math.floor((days + 3) / 7); // 1970-01-01 was a Thursday; weeks begin on Monday
}
const ZONE = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Amsterdam', year: 'numeric', month: '2-digit', day: '2-digit' });
const used = new Map();
function quotas(x, res, f) {
  const waits = [];
  if (res === 'loan') {
    let n = 0;
    for (const l of rows.loan.values()) if (l.f.grower === f.grower && (l.f.status === 'asked' || (l.f.status === 'out' && !F('l_rows_out')))) n++;
    if (n >= (F('l_rows_7') ? 7 : 6)) fail('used_up');
  }
  if (res === 'hook') {
    let n = 0;
    for (const h of rows.hook.values()) if (h.f.owner === f.owner) n++;
    if (n >= 8) fail('used_up');
  }
  if (x.op === 'create graft') {
    const t = now(), week = weekKey(t), key = x.caller.user + ' ' + x.caller.id + ' ' + week;
    if ((used.get(key) ?? 0) >= 30) {
      let lo = t, hi = t + 8 * DAY;
      while (hi - lo > 1) { const mid = Math.floor((lo + hi) / 2); if (weekKey(mid) === week) lo = mid; else hi = mid; }
      fail('used_up', undefined, { 'Retry-After': String(Math.ceil((hi - t) / 1000)) });
    }
    x.useQuota = key;
  }
}
function same(a, b) {
  const ka = Object.keys(a).filter((k) => a[k] !== undefined), kb = Object.keys(b).filter((k) => b[k] !== undefined);
  return ka.length === kb.length && ka.every((k) => equal(a[k], b[k]));
}
function equal(a, b) {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => equal(v, b[i]));
  return !!a && !!b && typeof a === 'object' && typeof b === 'object' && !Array.isArray(b) && same(a, b);
}
function storeChange(x, res, rec, f) {
  const before = rec.f;
  if (same(before, f) && !(F('e_put_touch') && res === 'variety')) return false;
  if (res === 'variety') f.touched_at = iso(now());
  checkUnique(res, f, rec);
  link(res, rec, false);
  rec.f = f;
  link(res, rec, true);
  return before;
}
function updateRow(x, body) {
  const { res, rec, caller } = x;
  const sent = readFields(x, res, body, 'update', rec);
  const f = { ...rec.f };
  for (const [k, v] of Object.entries(sent)) if (v === null) delete f[k]; else f[k] = v;
  if (res === 'graft' && !(F('r_price_update') && sent.pots !== undefined && sent.rootstock === undefined)) f.price_cents = PRICE(f);
  checkRefs(x, res, f, sent);
  inStates(x, rec);
  ownErrors(x.op, f);
  const moved = res === 'cutting' && f.wanted_by !== rec.f.wanted_by && instant(f.wanted_by) !== instant(rec.f.wanted_by);
  const before = storeChange(x, res, rec, f);
  if (before) {
    if (moved && !F('s_lapse_moved')) armed(res, rec, 'status', 'held', now());
    emit(x.op, res, rec, before);
  }
  return { status: 200, body: shown(res, rec, caller, x.old) };
}
function inStates(x, rec) {
  if (!x.ep.in) return;
  for (const [field, states] of Object.entries(x.ep.in)) {
    if (F('s_update_paid') && field === 'fee') continue;
    if (!states.includes(rec.f[field])) fail('not_now');
  }
}
function replaceRow(x, body) {
  const { res, rec, caller } = x, d = RES[res];
  const sent = readFields(x, res, body, 'replace', rec);
  const f = { ...sent };
  for (const [k, s] of Object.entries(d.fields)) {
    if (f[k] === undefined && s.def !== undefined) f[k] = s.def;
    if (s.ro && !s.derive && rec.f[k] !== undefined) f[k] = rec.f[k];
  }
  checkRefs(x, res, f, sent);
  const before = storeChange(x, res, rec, f);
  if (before) emit(x.op, res, rec, before);
  return { status: 200, body: shown(res, rec, caller, x.old) };
}
function upsertVariety(x, body) {
  const slug = x.path.slug, rec = find('variety', slug), out = [];
  wrong(RES.variety.fields.slug, slug, 'slug', out);
  if (out.length) fail('not_so', out.map((o) => ({ in: 'path', path: 'slug', found: o.found, expected: o.expected })));
  const sent = readFields(x, 'variety', body, 'upsert', rec, { slug });
  const f = { ...sent, slug };
  if (f.vigour === undefined) f.vigour = RES.variety.fields.vigour.def;
  if (rec) {
    if (x.old && rec.f.keeps_weeks !== undefined && !F('n_put_wipes')) f.keeps_weeks = rec.f.keeps_weeks;
    f.touched_at = rec.f.touched_at;
    const before = storeChange(x, 'variety', rec, f);
    if (before) emit(x.op, 'variety', rec, before);
    return { status: 200, body: shown('variety', rec, x.caller, x.old) };
  }
  checkUnique('variety', f, undefined);
  f.touched_at = iso(now());
  const made = insert(x, 'variety', f);
  emit(x.op, 'variety', made, undefined);
  return { status: 201, headers: { Location: BASE + '/varieties/' + slug }, body: shown('variety', made, x.caller, x.old) };
}
function deleteRow(x) {
  const { res, rec } = x;
  inStates(x, rec);
  const id = idOf(res, rec);
  const held = { variety: [['tree', 'variety'], ['graft', 'variety'], ['packet', 'variety']], tree: [['cutting', 'tree']], packet: [['loan', 'packet']] }[res] ?? [];
  for (const [r, k] of held) if (byRef[r + '.' + k].has(id) && !(F('x_rooted_packets') && res === 'variety' && r === 'packet')) fail('rooted');
  const drop = (r, row) => {
    rows[r].delete(idOf(r, row)); link(r, row, false);
    for (const m of RES[r].machines ?? []) timers.delete(r + ':' + idOf(r, row) + ':' + m);
  };
  drop(res, rec);
  if (res === 'packet') gone.set(id, { rec, until: now() + 30 * DAY });
  if (res === 'tree') for (const m of refs('minder', 'tree', id)) { if (F('r_cascade')) break; drop('minder', m); if (!F('v_cascade_silent')) emit('delete minder', 'minder', m, m.f); }
  if (res === 'hook') rec.dead = true;
  emit(x.op, res, rec, rec.f);
  return { status: 204 };
}
const coming = {
  'mature tree': { m: 'stage', from: ['young'], to: 'bearing', if: (r) => (r.girth_mm !== undefined && (F('s_mature_60') ? r.girth_mm > 60 : r.girth_mm >= 60)) || 'not_now' },
  'fell tree': { m: 'stage', from: ['young', 'bearing'], to: 'felled' },
  'cut cutting': { m: 'status', from: ['held'], to: 'cut', body: { weight_g: int({ min: 1, max: 900 }) },
    if: (r) => (F('s_bare_strict') ? derived('tree', find('tree', r.tree), 'sticks_left') > r.sticks : derived('tree', find('tree', r.tree), 'sticks_left') >= r.sticks) || 'bare_tree', set: (f, x) => { f.weight_g = x.request.weight_g; } },
  'withdraw cutting': { m: 'status', from: F('s_withdraw_cut') ? ['held', 'cut'] : ['held'], to: 'withdrawn', else: 'knife_was_quicker' },
  'bind graft': { m: 'work', from: ['queued'], to: 'grafted' },
  'inspect graft': { m: 'work', from: ['grafted'], to: (r, x) => ((F('s_inspect_50') ? x.request.takes > 50 : x.request.takes >= 50) ? 'taken' : 'failed'), body: { takes: int({ min: 0, max: 100 }) }, set: (f, x) => { f.takes = x.request.takes; } },
  'collect graft': { m: 'work', from: ['taken'], to: 'collected', if: (r) => r.fee === 'paid' || (F('s_collect_overdue') && r.fee === 'overdue') || 'fee_is_due' },
  'cancel graft': { m: 'work', from: ['queued'], to: 'cancelled', else: 'knife_was_quicker' },
  'pay graft': { m: 'fee', from: ['unpaid', 'overdue'], to: 'paid', body: { coins: int({ min: 0, max: 1000000 }) }, if: (r, x) => x.request.coins >= r.price_cents || 'too_few_coins' },
  'lend loan': { m: 'status', from: ['asked'], to: 'out', if: (r) => derived('packet', find('packet', r.packet), 'seeds_free') >= r.seeds || 'packet_is_empty', set: (f) => { f.due_at = iso(now() + 120 * DAY); } },
};
function move(x, op, res, rec, t) {
  const k = coming[op];
  if (!k.from.includes(rec.f[k.m])) fail(k.else ?? 'not_now');
  const to = typeof k.to === 'function' ? k.to(rec.f, x) : k.to;
  if (k.if) { const r = k.if(rec.f, x); if (r !== true) fail(r); }
  const before = rec.f;
  rec.f = { ...rec.f, [k.m]: to };
  if (k.set) k.set(rec.f, x);
  armed(res, rec, k.m, to, t);
  emit(op, res, rec, before);
}
function transition(x) {
  const { res, rec, op, caller } = x, k = coming[op];
  if (k.body) inline(x.request, k.body);
  move(x, op, res, rec, now());
  if (op === 'fell tree' && !F('s_fell_keep')) for (const c of refs('cutting', 'tree', rec.f.id).sort((a, b) => a.n - b.n)) {
    try { move({}, 'withdraw cutting', 'cutting', c, now()); } catch (e) { if (!(e instanceof Trouble)) throw e; }
  }
  const body = shown(res, rec, caller, x.old);
  if (op === 'pay graft') return { status: 200, body: { receipt: rec.f.id + '/paid', change: F('e_pay_change') ? 0 : x.request.coins - rec.f.price_cents, graft: body } };
  return { status: 200, body };
}

// ---------------------------------------------------------------- lists
const LISTS = {
  variety: { order: ['slug', 1], page: 'offset' }, tree: { page: 'offset' }, minder: { order: ['person', 1], page: 'none' },
  cutting: { order: ['wanted_by', -1, instant], page: 'cursor' }, graft: { order: ['placed_at', -1, instant], page: 'page' },
  packet: { order: ['harvested', -1], page: 'offset' }, loan: { page: 'starting_at' }, hook: { page: 'offset' },
};
function listRows(x) {
  const { res, caller, q, old } = x, L = LISTS[res];
  let keep = [];
  const tests = x.tests;
  const rules = rulesFor(x.op, caller).filter((r) => scoped(r, caller));
  for (const r of rows[res].values()) {
    if (x.parent && r.f[x.parent.field] !== x.parent.id) continue;
    if (!rules.some((u) => !u.if || u.if(caller, r, x.op))) continue;
    if (tests.every((t) => t(r))) keep.push(r);
  }
  let order = x.sort ?? L.order;
  if (x.turn && !(F('e_way_plain') && !x.sort)) order = order && [order[0], -order[1], order[2]];
  const keyOf = (r) => { const f = RES[res].fields[order[0]]; const v = f.derive ? f.derive(r) : r.f[order[0]]; return order[2] ? order[2](v) : v; };
  if (order) {
    const ks = new Map(keep.map((r) => [r, keyOf(r)]));
    keep.sort((a, b) => { const u = ks.get(a), v = ks.get(b); return u < v ? -order[1] : u > v ? order[1] : a.n - b.n; });
  } else keep.sort((a, b) => a.n - b.n);
  const show = (l) => l.map((r) => {
    const o = shown(res, r, caller, old);
    if (!x.chosen) return o;
    return Object.fromEntries(Object.entries(o).filter(([k]) => (k === 'id' && !F('e_show_id')) || x.chosen.has(k)));
  });
  const take = x.take;
  switch (L.page) {
    case 'none': return { status: 200, body: show(keep) };
    case 'offset': return { status: 200, body: { crate: show(keep.slice(x.skip, x.skip + take)), more: x.skip + take < keep.length, altogether: F('l_total_page') ? keep.slice(x.skip).length : keep.length, here: BASE + '/' + plural(res) } };
    case 'page': { const a = (x.sheet - 1) * take; return { status: 200, body: { grafts: show(keep.slice(a, a + take)), more: F('l_more_exact') ? a + take <= keep.length : a + take < keep.length } }; }
    case 'starting_at': {
      if (x.from !== undefined) {
        const at = find('loan', x.from);
        if (!at || !rules.some((u) => !u.if || u.if(caller, at, x.op))) fail('no_such_page', [{ in: 'query', path: 'from', found: String(x.from), expected: 'the identifier of a loan' }]);
        keep = keep.filter((r) => r.n >= at.n);
      }
      return { status: 200, body: { slips: show(keep.slice(0, take)), next_slip: keep.length > take ? idOf(res, keep[take]) : null } };
    }
    case 'cursor': {
      const bind = crypto.createHmac('sha256', SECRET).update(JSON.stringify([x.op, old, x.filterText, caller.user, caller.user === 'curator' ? '' : caller.id])).digest('base64url').slice(0, 12);
      if (x.mark !== undefined) {
        const bad = () => fail('no_such_page', [{ in: 'query', path: 'mark', found: x.mark.slice(0, 50), expected: 'a mark of this list' }]);
        const m = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(x.mark);
        if (!m || seal(m[1]) !== m[2]) bad();
        const [b, k, n] = JSON.parse(Buffer.from(m[1], 'base64url').toString());
        if (b !== bind) bad();
        keep = keep.filter((r) => { const v = keyOf(r); return order[1] > 0 ? v > k || (v === k && r.n > n) : v < k || (v === k && r.n > n); });
      }
      let next = null;
      if (keep.length > take) { const last = keep[take - 1]; const p = Buffer.from(JSON.stringify([bind, keyOf(last), last.n])).toString('base64url'); next = p + '.' + seal(p); }
      return { status: 200, body: { bundle: show(keep.slice(0, take)), next_mark: next } };
    }
  }
}
const seal = (p) => crypto.createHmac('sha256', SECRET).update('mark ' + p).digest('base64url').slice(0, 16);

// parameters: name -> (x, value) => test or nothing; throws by odd()
const odd = (name, found, expected) => fail('odd_question', [{ in: 'query', path: name, found: String(found).slice(0, 100), expected }]);
function fits(f, v, name) { const out = []; wrong(f, v, name, out); if (out.length) odd(name, v, out[0].expected); return v; }
function whole(v, name, f = {}) { if (!/^-?\d{1,15}$/.test(v)) odd(name, v, 'a whole number'); return fits(int(f), Number(v), name); }
const eq = (res, field) => (x, v, name) => { const f = RES[res].fields[field]; const w = f.t === 'int' ? whole(v, name, f) : fits(f, v, name); return (r) => r.f[field] === w; };
const many = (res, field, sep) => (x, v, name) => {
  let vs = v.split(sep);
  if (vs.length > 100) odd(name, v, 'at most 100 values');
  for (const w of vs) fits(RES[res].fields[field], w, name);
  if (F('e_split_first') && res === 'variety') vs = vs.slice(0, 1);
  return (r) => vs.includes(r.f[field]);
};
const sorts = (map) => (x, v, name) => {
  const down = v.startsWith('-'), k = down ? v.slice(1) : v;
  if (!Object.hasOwn(map, k)) odd(name, v, 'a way to sort');
  const [field, conv] = [].concat(map[k]);
  x.sort = [field, down ? -1 : 1, conv];
};
const slugOnly = { t: 'string', pattern: /^[a-z]{3,14}$/u };
const bySlug = () => (x, v, name) => { fits(slugOnly, v, name); return (r) => r.f.variety === v; };
const PARAMS = {
  'list variety': {
    season: many('variety', 'season', ','),
    min_vigour: (x, v, name) => { const n = whole(v, name, { min: 1, max: 5 }); return (r) => r.f.vigour >= n; },
    county: (x, v, name) => { fits(str({ max: 40 }), v, name); return (r) => r.f.origin?.county === v; },
    synonym: (x, v, name) => { fits(str({ min: 2, max: 40 }), v, name); return (r) => (F('e_synonym_first') ? r.f.synonyms?.[0] === v : !!r.f.synonyms?.includes(v)); },
    q: (x, v, name) => {
      const words = v.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length > 16) odd(name, v, 'at most 16 words');
      return (r) => { const n = r.f.name.toLowerCase(); return words.every((w) => n.includes(w)); };
    },
    sort: sorts({ vigour: 'vigour', touched: ['touched_at', instant], slug: 'slug' }),
    way: (x, v, name) => { if (v !== 'asc' && v !== 'desc') odd(name, v, 'asc or desc'); x.turn = v === 'desc'; },
  },
  'list tree': {
    variety: bySlug(), stage: eq('tree', 'stage'), row: eq('tree', 'row'),
    roomy: (x, v, name) => { if (v !== 'true' && v !== 'false') odd(name, v, 'true or false'); return v === 'true' ? (r) => derived('tree', r, 'sticks_left') > 0 : () => true; },
    sort: sorts({ spot: 'spot' }),
  },
  'list minder': { role: eq('minder', 'role') },
  'list cutting': {
    status: many('cutting', 'status', '|'),
    sticks: eq('cutting', 'sticks'),
    before: (x, v, name) => { fits(str({ format: 'date-time' }), v, name); const t = instant(v); return F('e_before_text') ? (r) => r.f.wanted_by < v : (r) => instant(r.f.wanted_by) < t; },
  },
  'list graft': {
    work: eq('graft', 'work'), fee: eq('graft', 'fee'),
    rootstock: (x, v, name) => { fits(x.old && !F('n_enum_filter') ? ROOTS_OLD : RES.graft.fields.rootstock, v, name); const w = v === 'halfstandard' ? 'mm106' : v; return (r) => r.f.rootstock === w; },
    since: (x, v, name) => { fits(str({ format: 'date-time' }), v, name); const t = instant(v); return F('e_since_gt') ? (r) => instant(r.f.placed_at) > t : (r) => instant(r.f.placed_at) >= t; },
    sort: sorts({ price_cents: 'price_cents', pots: 'pots' }),
  },
  'list packet': {
    variety: bySlug(),
    from_year: (x, v, name) => { const n = whole(v, name, { min: 1990, max: 2100 }); return (r) => r.f.harvested >= n; },
    sort: sorts({ harvested: 'harvested', seeds_free: 'seeds_free' }),
    show: (x, v, name) => {
      x.chosen ??= new Set();
      for (const w of v.split(',')) { if (!Object.hasOwn(RES.packet.fields, w)) odd(name, w, 'a field of a packet'); x.chosen.add(w); }
      if (x.chosen.size > 100) odd(name, v, 'at most 100');
    },
  },
  'list loan': { status: eq('loan', 'status') },
  'list hook': {},
};
const PAGES = {
  offset: { names: ['skip', 'take'], default: 12, max: 60 }, page: { names: ['sheet', 'take'], default: 10, max: 50 },
  cursor: { names: ['mark', 'take'], default: 8, max: 30, clamp: true }, starting_at: { names: ['from', 'take'], default: 5, max: 20 }, none: { names: [] },
};
function readParams(x) {
  const { op, url } = x;
  const list = op.startsWith('list ');
  const declared = list ? PARAMS[op] : {};
  const page = list ? PAGES[LISTS[x.res].page] : { names: [] };
  const raw = x.query, seen = new Map();
  if (raw) for (const part of raw.split('&')) {
    if (part === '') continue;
    const i = part.indexOf('=');
    let k, v;
    try { k = decodeURIComponent((i < 0 ? part : part.slice(0, i)).replace(/\+/g, ' ')); v = i < 0 ? '' : decodeURIComponent(part.slice(i + 1).replace(/\+/g, ' ')); } catch { odd(part.slice(0, 40), part, 'percent-encoded UTF-8'); }
    let name = k;
    if (op === 'list cutting' && x.old) name = k === 'pieces' ? 'sticks' : k === 'sticks' ? ' ' : k;
    if (!Object.hasOwn(declared, name) && !page.names.includes(name)) odd(k, v, 'no such parameter');
    if (seen.has(name) && name !== 'show') odd(k, v, 'once');
    if (seen.has(name)) seen.get(name).push(v); else seen.set(name, [v]);
  }
  if (!list) return;
  x.tests = [];
  const text = [];
  for (const [name, vs] of seen) if (Object.hasOwn(declared, name)) for (const v of vs) { const t = declared[name](x, v, name); if (t) x.tests.push(t); text.push([name, v]); }
  x.filterText = text.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  const bad = (name, v) => fail('no_such_page', [{ in: 'query', path: name, found: String(v).slice(0, 100), expected: 'a whole number in its range' }]);
  const number = (name, min, max) => { const v = seen.get(name)?.[0]; if (v === undefined) return undefined; if (!/^\d{1,15}$/.test(v) || Number(v) < min) bad(name, v); if (Number(v) > max) { if (page.clamp && name === 'take' && !F('l_clamp')) return max; bad(name, v); } return Number(v); };
  if (page.names.includes('take')) x.take = number('take', 1, page.max + (F('l_take_61') && x.res === 'tree' ? 1 : 0)) ?? (F('l_default_loans') && x.res === 'loan' ? 6 : page.default);
  x.skip = number('skip', 0, 1e15) ?? 0;
  x.sheet = number('sheet', 1, 1e12) ?? 1;
  x.mark = seen.get('mark')?.[0];
  if (seen.has('from')) { const v = seen.get('from')[0]; if (!/^[1-9]\d{0,14}$/.test(v)) bad('from', v); x.from = Number(v); }
}

// ---------------------------------------------------------------- events
function emit(op, res, rec, before) {
  const next = rec.f;
  const tell = (kind, data, to) => {
    const t = now(), id = 'ev' + hex(18);
    for (const h of [...rows.hook.values()]) {
      if (!h.f.live) continue;
      if (h.f.kinds && !h.f.kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))))) continue;
      if (to ? !to(h) : !mayRead(res, h.maker, { f: op.startsWith('delete ') ? before : next })) continue;
      const fruit = data ? data() : shown(res, rec, h.maker, h.old && !F('n_hook_edition'), { forEvent: true });
      h.queue.push({ id, kind, row: res + ' ' + idOf(res, rec), body: JSON.stringify({ ref: id, what: kind, at: iso(t), fruit }), due: t, tries: 0 });
    }
    setImmediate(pump);
  };
  switch (op) {
    case 'create cutting': return tell('cutting.held');
    case 'lapse cutting': if (F('v_lapse_silent')) return; // falls through
    case 'withdraw cutting': return tell('cutting.gone');
    case 'fell tree': return tell('tree.felled');
    case 'heal graft': if (F('v_heal_silent')) return; // falls through
    case 'bind graft': case 'inspect graft': case 'collect graft':
      return tell('graft.moved', () => ({ graft: next.id, was: F('v_moved_was') ? next.work : before.work, is: next.work }));
    case 'pay graft': return tell('fee.settled', undefined, (h) => F('v_any_hook') || h.f.owner === next.grower);
    case 'upsert variety':
      if ((before && before.season !== next.season) || (F('v_reseason_new') && !before)) tell('variety.reseasoned', () => ({ slug: next.slug, was: before?.season ?? '', is: next.season }));
      return;
    case 'delete minder': return tell('minder.left', () => next.id);
  }
}
const RETRY = [10e3, 120e3, 1200e3];
let flying = 0;
const agents = new http.Agent({ keepAlive: false });
function pump() {
  const t = now();
  for (const h of rows.hook.values()) {
    if (!h.queue.length || t < h.notBefore) continue;
    const busy = new Set();
    for (const d of [...h.queue]) {
      if (busy.has(d.row)) continue;
      busy.add(d.row);
      if (d.out || d.due > t || (h.out ?? 0) >= (h.failing ? 1 : 32)) continue;
      attempt(h, d);
    }
  }
}
function attempt(h, d) {
  d.out = true; h.out = (h.out ?? 0) + 1; flying++;
  const ts = Math.floor(now() / 1000);
  const signed = F('v_seal_body') ? `${ts}|${d.body}` : `${d.id}|${ts}|${d.body}`;
  const mac = crypto.createHmac('sha256', h.f.secret).update(signed).digest('hex');
  let done = false;
  const end = (status, headers = {}) => {
    if (done) return;
    done = true; clearTimeout(timer); flying--; h.out--; d.out = false; d.tries++;
    const out = () => { h.queue = h.queue.filter((o) => o !== d); };
    if (h.dead) return;
    if (status >= 200 && status < 300) { h.failing = 0; out(); } else {
      const t = now();
      if (!h.failing) h.firstFail = t;
      h.failing++;
      if (status === 410 || t - h.firstFail >= 2 * DAY) { h.f = { ...h.f, live: false }; h.queue = []; } else if (d.tries > RETRY.length || F('v_no_retry')) out();
      else {
        d.due = t + RETRY[d.tries - 1] * (0.9 + Math.random() * 0.2);
        const ra = headers['retry-after'];
        if (ra) { const w = /^\d+$/.test(ra) ? Number(ra) * 1000 : Date.parse(ra) - t; if (w > 0) h.notBefore = t + Math.min(w, DAY); }
      }
    }
    setImmediate(pump);
  };
  const timer = setTimeout(() => { r.destroy(); end(0); }, 5000);
  const body = Buffer.from(d.body);
  let r;
  try {
    r = http.request(h.f.target, { method: 'POST', agent: agents, headers: { 'Content-Type': 'application/json', 'Content-Length': body.length, 'Yard-Event': d.kind, 'Yard-Seal': `at=${ts},mac=${mac}` } }, (a) => { a.resume(); end(a.statusCode, a.headers); });
    r.on('error', () => end(0));
    r.end(body);
  } catch { r = { destroy() {} }; end(0); }
}
setInterval(() => { runDue(); pump(); }, 100).unref();

// ---------------------------------------------------------------- rates
const RATES = [
  { per: (c, a) => c ? c.user + ' ' + c.id : 'at ' + a, limit: 3000, window: 60e3, kind: 'fixed' },
  { per: (c) => c.user + ' ' + c.id, on: 'list packet', to: ['grower', 'grafter'], limit: 60, window: 60e3, burst: F('l_burst_26') ? 26 : 25, kind: 'bucket' },
  { per: (c) => (F('l_ward_rate') ? c.id : c.ward), on: 'list graft', to: ['grafter'], limit: 40, window: 60e3, kind: 'sliding' },
].map((r) => ({ ...r, state: new Map() }));
function rate(x) {
  const t = now(), apply = [];
  for (const r of RATES) {
    if (r.on && r.on !== x.op) continue;
    if (r.to && !(x.caller && r.to.includes(x.caller.user))) continue;
    const key = r.per(x.caller, x.address);
    let s = r.state.get(key);
    if (r.kind === 'fixed') {
      if (!s || t >= s.t + r.window) r.state.set(key, s = { t, n: 0, fresh: true });
      apply.push({ r, ok: s.n < r.limit, wait: s.t + r.window - t, use: () => { s.n++; }, left: () => r.limit - s.n, more: () => s.t + r.window - t });
    } else if (r.kind === 'bucket') {
      // counted in units of limit per window: tokens * window
      if (!s) r.state.set(key, s = { t, n: r.burst * r.window });
      s.n = Math.min(r.burst * r.window, s.n + Math.max(0, t - s.t) * r.limit); s.t = Math.max(t, s.t);
      const until = () => { const whole = (Math.floor(s.n / r.window) + 1) * r.window; return s.n >= r.burst * r.window ? 0 : Math.ceil((whole - s.n) / r.limit); };
      apply.push({ r, ok: s.n >= r.window, wait: until(), use: () => { s.n -= r.window; }, left: () => Math.floor(s.n / r.window), more: until });
    } else {
      if (!s) r.state.set(key, s = []);
      while (s.length && s[0] <= t - r.window) s.shift();
      apply.push({ r, ok: s.length < r.limit, wait: s.length ? s[0] + r.window - t : 0, use: () => { s.push(t); }, left: () => r.limit - s.length, more: () => (s.length ? s[0] + r.window - t : 0) });
    }
  }
  const refused = apply.filter((a) => !a.ok);
  if (!refused.length) for (const a of apply) a.use();
  const strict = (refused.length ? refused : apply).reduce((a, b) => (b.left() < a.left() ? b : a));
  x.headers['Yard-Rate-Limit'] = String(strict.r.limit);
  x.headers['Yard-Rate-Left'] = String(Math.max(0, strict.left()));
  x.headers['Yard-Rate-Reset'] = String(Math.ceil(strict.more() / 1000));
  if (refused.length) fail('slow_down', undefined, { 'Retry-After': String(Math.max(1, Math.ceil(Math.max(...refused.map((a) => a.wait)) / 1000))) });
}
const under = new Map();

// ---------------------------------------------------------------- credentials
const KEYS = { leaf: new Map(), tag: new Map() };
for (const p of P) if (KEYS[p.scheme]) KEYS[p.scheme].set(p.credential, { user: p.user, id: p.id, ward: p.ward, scopes: p.scopes });
const CHALLENGE = {
  leaf: (bad) => 'Leaf realm="Scion Yard"' + (bad ? ', error="invalid_key"' : ''),
  tag: (bad) => 'ApiKey realm="Scion Yard", in="header", name="X-Yard-Tag"' + (bad ? ', error="invalid_key"' : ''),
  badge: (bad) => 'Bearer realm="Scion Yard"' + (bad ? ', error="invalid_token"' : ''),
};
function token(text) {
  const m = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text);
  if (!m) return;
  try {
    const head = JSON.parse(Buffer.from(m[1], 'base64url')), c = JSON.parse(Buffer.from(m[2], 'base64url'));
    if (head.alg !== 'HS256' || head.crit !== undefined) return;
    const mac = crypto.createHmac('sha256', SECRET).update(m[1] + '.' + m[2]).digest(), got = Buffer.from(m[3], 'base64url');
    if (!F('a_badge_forged') && (mac.length !== got.length || !crypto.timingSafeEqual(mac, got))) return;
    if (c.iss !== 'https://town.example') return;
    if (!(Array.isArray(c.aud) ? c.aud : [c.aud]).includes('scion-yard') && !F('a_badge_aud')) return;
    const t = now() / 1000;
    if (c.exp !== undefined && !(typeof c.exp === 'number' && (c.exp + 5 > t || F('a_badge_exp')))) return;
    if (c.nbf !== undefined && !(typeof c.nbf === 'number' && c.nbf - 5 <= t)) return;
    if (typeof c.sub !== 'string' || !c.sub || typeof c.ward !== 'string') return;
    const user = [].concat(c.office).find((u) => ['grower', 'grafter', 'curator'].includes(u));
    if (!user) return;
    return { user, id: c.sub, ward: c.ward, scopes: typeof c.scope === 'string' ? c.scope.split(' ').filter(Boolean) : [] };
  } catch { /* no token */ }
}
function authenticate(x, req) {
  const accept = x.ep.accept && !F('a_delete_leaf') ? x.ep.accept : ['leaf', 'tag', 'badge'];
  const deny = (bad) => fail('who_goes', undefined, { 'WWW-Authenticate': accept.map((s) => CHALLENGE[s](bad)).join(', ') });
  const got = [];
  const heads = { authorization: [], 'x-yard-tag': [] };
  for (let i = 0; i < req.rawHeaders.length; i += 2) { const k = req.rawHeaders[i].toLowerCase(); if (Object.hasOwn(heads, k)) heads[k].push(req.rawHeaders[i + 1]); }
  const auth = heads.authorization;
  if (auth.length > 1) deny(true);
  if (auth.length) {
    const m = /^(\S+) +(\S+)$/.exec(auth[0].trim());
    const scheme = m && { leaf: 'leaf', bearer: 'badge' }[m[1].toLowerCase()];
    if (!scheme || !accept.includes(scheme)) deny(true);
    const c = scheme === 'leaf' ? KEYS.leaf.get(m[2]) : token(m[2]);
    if (!c) deny(true);
    if (scheme === 'badge') x.byToken = true;
    got.push(c);
  }
  if (accept.includes('tag') && heads['x-yard-tag'].length) {
    if (heads['x-yard-tag'].length > 1) deny(true);
    const c = KEYS.tag.get(heads['x-yard-tag'][0].trim());
    if (!c) deny(true);
    got.push(c);
  }
  if (!got.length) { if (rulesFor(x.op, undefined).length) return undefined; deny(false); }
  for (const c of got) {
    if ((c.user !== got[0].user || c.id !== got[0].id || c.ward !== got[0].ward) && !F('a_two_people')) deny(true);
    if (F('p_grafter_unknown') && c.user === 'grafter') deny(true);
  }
  return { ...got[0], scopes: [...new Set(got.flatMap((c) => c.scopes))] };
}

// ---------------------------------------------------------------- endpoints
const EP = [
  ['GET', '/almanac', 'read almanac', { public: true, added: true }],
  ['GET', '/varieties', 'list variety'], ['GET', '/varieties/{slug}', 'read variety', { etag: true, cache: 'max-age=30' }],
  ['PUT', '/varieties/{slug}', 'upsert variety', { body: true }], ['DELETE', '/varieties/{slug}', 'delete variety', { accept: ['badge'] }],
  ['POST', '/trees', 'create tree', { body: true }], ['GET', '/trees', 'list tree'], ['GET', '/trees/{id}', 'read tree', { etag: true }],
  ['PATCH', '/trees/{id}', 'update tree', { body: true, in: { stage: ['young', 'bearing'] }, ifMatch: 'required', refuseReadOnly: true }],
  ['DELETE', '/trees/{id}', 'delete tree', { in: { stage: ['felled'] } }],
  ['POST', '/trees/{id}/mature', 'mature tree'], ['POST', '/trees/{id}/fell', 'fell tree'],
  ['POST', '/trees/{tree}/minders', 'create minder', { body: true, parent: 'tree', exists: true }], ['GET', '/trees/{tree}/minders', 'list minder', { parent: 'tree' }],
  ['GET', '/minders/{id}', 'read minder'], ['DELETE', '/minders/{id}', 'delete minder'],
  ['POST', '/trees/{tree}/cuttings', 'create cutting', { body: true, parent: 'tree' }], ['GET', '/cuttings', 'list cutting'],
  ['GET', '/cuttings/{id}', 'read cutting', { etag: true }], ['PATCH', '/cuttings/{id}', 'update cutting', { body: true, in: { status: ['held'] }, ifMatch: 'accepted' }],
  ['POST', '/cuttings/{id}/cut', 'cut cutting', { body: true }], ['POST', '/cuttings/{id}/withdraw', 'withdraw cutting'],
  ['POST', '/grafts', 'create graft', { body: true }], ['GET', '/grafts', 'list graft'], ['GET', '/grafts/{id}', 'read graft', { etag: true }],
  ['PATCH', '/grafts/{id}', 'update graft', { body: true, in: { work: ['queued'], fee: ['unpaid'] }, ifMatch: 'accepted' }],
  ['POST', '/grafts/{id}/bind', 'bind graft'], ['POST', '/grafts/{id}/inspect', 'inspect graft', { body: true }], ['POST', '/grafts/{id}/collect', 'collect graft'],
  ['POST', '/grafts/{id}/cancel', 'cancel graft'], ['POST', '/grafts/{id}/pay', 'pay graft', { body: true, once: true }],
  ['POST', '/packets', 'create packet', { body: true }], ['GET', '/packets', 'list packet'], ['GET', '/packets/{id}', 'read packet', { etag: true }],
  ['GET', '/lots/{lot}', 'look up lot', { deprecated: true }], ['PUT', '/packets/{id}', 'replace packet', { body: true, ifMatch: 'required' }],
  ['DELETE', '/packets/{id}', 'delete packet', { ifMatch: 'accepted' }],
  ['POST', '/loans', 'create loan', { body: true, form: true }], ['GET', '/loans', 'list loan'], ['GET', '/loans/{id}', 'read loan'], ['POST', '/loans/{id}/lend', 'lend loan'],
  ['POST', '/hooks', 'create hook', { body: true }], ['GET', '/hooks', 'list hook'], ['GET', '/hooks/{id}', 'read hook'], ['DELETE', '/hooks/{id}', 'delete hook'],
].filter(([m, p]) => !(F('p_no_inspect') && p === '/grafts/{id}/inspect') && !(F('e_no_unmind') && m === 'DELETE' && p === '/minders/{id}'))
  .map(([method, path, op, more = {}]) => ({ method, path, steps: path.slice(1).split('/'), op, verb: op.split(' ')[0], res: op === 'look up lot' ? 'packet' : op === 'read almanac' ? undefined : op.split(' ')[1], ...more }));
const byPath = new Map();
for (const e of EP) { if (!byPath.has(e.path)) byPath.set(e.path, { steps: e.steps, eps: [] }); byPath.get(e.path).eps.push(e); }
const shapes = [...byPath.values()];
function route(path) {
  let steps;
  try { steps = path.slice(1).split('/').map(decodeURIComponent); } catch { return; }
  let best;
  for (const s of shapes) {
    if (s.steps.length !== steps.length) continue;
    const at = {}; let lit = 0, ok = true;
    s.steps.forEach((p, i) => { if (p[0] === '{') { if (steps[i] === '') ok = false; at[p.slice(1, -1)] = steps[i]; } else if (p === steps[i]) lit++; else ok = false; });
    if (ok && (!best || lit > best.lit)) best = { eps: s.eps, at, lit };
  }
  return best;
}

// ---------------------------------------------------------------- editions
const EDITIONS = ['pippin', 'russet'];
const SUNSET = Date.UTC(2035, 0, 1), DEPRECATED = Date.UTC(2025, 5, 1);
const httpDate = (ms) => new Date(ms).toUTCString();
function deprecations(x) {
  const links = [], dates = [];
  if (x.edition === 'pippin') {
    dates.push(DEPRECATED);
    x.headers.Sunset = httpDate(F('n_sunset_told') ? SUNSET + DAY : SUNSET);
    links.push('<https://scions.example/pippin-to-russet>; rel="deprecation"', `<${x.target}>; rel="successor-version"`);
  }
  if (x.ep?.deprecated) { if (!F('n_lot_undated')) dates.push(Date.UTC(2025, 2, 1)); links.push('<https://scions.example/lots-go>; rel="deprecation"'); }
  if (dates.length) x.headers.Deprecation = '@' + Math.min(...dates) / 1000;
  if (links.length) x.headers.Link = links.join(', ');
}

// ---------------------------------------------------------------- one exchange
const once = new Map();
let requests = 0;
function finish(x, req, res, answer) {
  if (x.done) return;
  x.done = true;
  if (x.releases) x.releases();
  const headers = { ...x.headers, ...answer.headers };
  headers['Yard-Trace'] = answer.trace ?? x.trace;
  headers.Vary = 'Yard-Edition, Authorization, X-Yard-Tag';
  let text;
  if (answer.body !== undefined && answer.status !== 204 && answer.status !== 304) { text = Buffer.from(JSON.stringify(answer.body)); headers['Content-Type'] = 'application/json'; headers['Content-Length'] = text.length; }
  res.writeHead(answer.status, headers);
  res.end(req.method === 'HEAD' ? undefined : text);
}
function troubleAnswer(x, e) {
  if (!(e instanceof Trouble)) { console.error(e); e = new Trouble('broken'); }
  const [status, says, ownCode] = CODES[e.code];
  const headers = { 'Yard-Trouble': e.code, ...e.headers };
  if (F('x_no_trouble_head') && (e.code === 'no_path' || e.code === 'wrong_tool')) delete headers['Yard-Trouble'];
  return { status, headers, body: { trouble: { word: e.code, says, trace: x.trace, spots: e.spots } }, own: !!ownCode };
}
function wireSize(raw) { let n = 0; for (let i = 0; i < raw.length; i++) n += Buffer.byteLength(raw[i], 'latin1') + 2; return n; }

function handle(req, res) {
  runDue();
  const x = { headers: {}, trace: 'rq' + (++requests).toString(36).padStart(5, '0') + pick(5, B32), target: req.url, address: req.socket.remoteAddress };
  const answerWith = (e) => finish(x, req, res, troubleAnswer(x, e));
  try {
    if (Buffer.byteLength(req.url, 'latin1') > 2048) fail('long_address');
    if (wireSize(req.rawHeaders) > 8192) fail('too_big');
    const said = req.headers['yard-edition'];
    x.edition = said === undefined ? 'russet' : EDITIONS.includes(said) ? said : undefined;
    if (x.edition) x.headers['Yard-Edition'] = x.edition;
    x.old = x.edition === 'pippin';
    const i = req.url.indexOf('?');
    const path = i < 0 ? req.url : req.url.slice(0, i);
    x.query = i < 0 ? '' : req.url.slice(i + 1);
    let inner = path.startsWith(BASE + '/') ? path.slice(BASE.length) : undefined;
    if (F('p_base_root') && path.startsWith('/packets')) inner = path;
    if (F('p_lots_bare') && /^(\/yard)?\/lots\//.test(path)) inner = path.startsWith('/lots/') ? path : undefined;
    const at = inner && route(inner);
    if (!at) { deprecations(x); fail('no_path'); }
    const eps = at.eps.filter((e) => !(e.added && x.old && !F('n_almanac_old')));
    if (!eps.length) { deprecations(x); fail('no_path'); }
    const allow = [...new Set(eps.flatMap((e) => (e.method === 'GET' ? ['GET', 'HEAD'] : [e.method])).concat('OPTIONS'))].join(', ');
    if (req.method === 'OPTIONS') { finish(x, req, res, { status: 204, headers: { Allow: allow } }); return; }
    const ep = eps.find((e) => e.method === (req.method === 'HEAD' ? 'GET' : req.method));
    x.ep = ep;
    if (!ep) { deprecations(x); fail('wrong_tool', undefined, { Allow: allow }); }
    if (!x.edition) fail('edition_strange');
    deprecations(x);
    if (F('n_refusal_undated')) { const d = ['Deprecation', 'Sunset', 'Link']; x.undate = () => { for (const h of d) delete x.headers[h]; }; }
    if (x.old && now() >= SUNSET + (F('n_sunset_late') ? DAY : 0)) fail('edition_over');
    x.op = ep.op; x.res = ep.res; x.path = at.at;
    // caller
    if (!ep.public) x.caller = authenticate(x, req);
    // rates
    const who = x.caller ? x.caller.user + ' ' + x.caller.id : 'at ' + x.address;
    if ((under.get(who) ?? 0) >= (F('l_at_once') ? 13 : 12)) fail('slow_down', undefined, { 'Retry-After': '1' });
    rate(x);
    under.set(who, (under.get(who) ?? 0) + 1);
    x.releases = () => { x.releases = undefined; const n = under.get(who) - 1; if (n) under.set(who, n); else under.delete(who); };
    res.on('close', () => { if (x.releases) x.releases(); });
    // user
    if (!ep.public) {
      const cands = rulesFor(x.op, x.caller);
      if (!cands.length) fail('not_yours');
      if (!cands.some((r) => scoped(r, x.caller)) && !(F('a_tag_scope') && x.op === 'create cutting' && req.headers['x-yard-tag'])) fail('beyond_badge', undefined, x.byToken ? { 'WWW-Authenticate': 'Bearer realm="Scion Yard", error="insufficient_scope"' } : undefined);
      if (F('a_tag_scope') && x.op === 'create cutting' && req.headers['x-yard-tag']) x.caller = { ...x.caller, scopes: ['sticks'] };
    }
    readParams(x);
    if (ep.method === 'POST') {
      x.key = req.headers['yard-once'];
      if (x.key === undefined && ep.once) fail('odd_question', [{ in: 'header', path: 'Yard-Once', found: 'nothing', expected: 'a key' }]);
    }
    if (!ep.body) { if (ep.method === 'POST' || ep.method === 'DELETE') { if (hasBody(req)) return drain(req, x, answerWith, () => proceed(x, req, res, answerWith)); } proceed(x, req, res, answerWith); return; }
    if (!hasBody(req)) fail('empty_hands');
    const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
    if (hasBody(req) === 'length') media(ep, type);
    const size = Number(req.headers['content-length']);
    const most = F('l_body_8193') ? 8193 : 8192;
    if (size > most) fail('too_big');
    const parts = []; let n = 0, over = false;
    req.on('data', (c) => { if (over) return; n += c.length; if (n > most) { over = true; let code = 'too_big'; try { media(ep, type); } catch { code = 'wrong_basket'; } answerWith(new Trouble(code)); return; } parts.push(c); });
    req.on('end', () => {
      if (over || x.done) return;
      try {
        const raw = Buffer.concat(parts);
        if (!raw.length) fail('empty_hands');
        media(ep, type);
        x.raw = raw;
        let text;
        try { text = new TextDecoder('utf-8', { fatal: true }).decode(raw); } catch { fail('garbled'); }
        if (type === 'application/x-www-form-urlencoded') { x.request = form(text); x.form = true; } else try { x.request = JSON.parse(text); } catch { fail('garbled'); }
        proceed(x, req, res, answerWith);
      } catch (e) { answerWith(e); }
    });
    x.late = () => answerWith(new Trouble('dawdled', undefined, { Connection: 'close' }));
    req.socket.late = x.late;
  } catch (e) { if (x.undate) x.undate(); answerWith(e); }
}
function hasBody(req) { if (req.headers['transfer-encoding'] !== undefined) return 'chunks'; return Number(req.headers['content-length'] ?? 0) > 0 ? 'length' : undefined; }
function media(ep, type) {
  const ok = type === 'application/json' || (ep.verb === 'update' && type === 'application/merge-patch+json') || (ep.form && type === 'application/x-www-form-urlencoded');
  if (!ok) fail('wrong_basket');
}
function drain(req, x, answerWith, then) {
  req.on('end', () => { if (!x.done) then(); });
  req.resume();
  req.socket.late = () => answerWith(new Trouble('dawdled', undefined, { Connection: 'close' }));
}
function form(text) {
  const out = {};
  for (const part of text.split('&')) {
    if (part === '') continue;
    const i = part.indexOf('=');
    let k, v;
    try { k = decodeURIComponent((i < 0 ? part : part.slice(0, i)).replace(/\+/g, ' ')); v = i < 0 ? '' : decodeURIComponent(part.slice(i + 1).replace(/\+/g, ' ')); } catch { fail('garbled'); }
    const w = k === 'seeds' && /^-?\d{1,15}(\.0+)?$/.test(v) ? Number(v) : v;
    if (Object.hasOwn(out, k)) out[k] = [].concat(out[k], w); else Object.defineProperty(out, k, { value: w, enumerable: true, writable: true, configurable: true });
  }
  return out;
}
function matches(header, tag, weak) {
  if (header.trim() === '*') return true;
  for (const m of header.matchAll(/(W\/)?("[^"]*")/g)) if (m[2] === tag && (weak || !m[1] || F('e_weak_match'))) return true;
  return false;
}
function proceed(x, req, res, answerWith) {
  if (x.done) return;
  let rec1, replay;
  try {
    runDue();
    // idempotency
    if (x.key !== undefined) {
      const t = now();
      rec1 = x.caller.user + ' ' + x.caller.id + ' ' + x.op + ' ' + x.key;
      x.print = crypto.createHash('sha1').update(x.target + '\n' + x.edition + '\n').update(x.raw ?? '').digest('hex');
      if (F('e_once_path')) x.print = crypto.createHash('sha1').update(x.edition + '\n').update(x.raw ?? '').digest('hex');
      const had = once.get(rec1);
      if (had && had.until > t) { if (had.print !== x.print) fail('once_other'); replay = had.answer; } else once.delete(rec1);
    }
    const answer = replay ?? perform(x, req);
    if (x.key !== undefined && !replay) keep(x, rec1, answer);
    if (x.useQuota && !replay) used.set(x.useQuota, (used.get(x.useQuota) ?? 0) + 1);
    finish(x, req, res, answer);
  } catch (e) {
    if (F('l_quota_refused') && x.op === 'create graft' && e.code === 'dwarf_pots') { const k = x.caller.user + ' ' + x.caller.id + ' ' + weekKey(now()); used.set(k, (used.get(k) ?? 0) + 1); }
    if (x.undate) x.undate();
    const a = troubleAnswer(x, e);
    if (a.own && x.key !== undefined && rec1) keep(x, rec1, a);
    finish(x, req, res, a);
  }
}
function keep(x, key, a) { once.set(key, { print: x.print, until: now() + 12 * 3600e3, answer: { status: a.status, headers: a.headers, body: a.kept ?? a.body, trace: x.trace } }); }
const oldBodyFirst = (x) => { // a fault: the body is looked at before the precondition
  readFields(x, x.res, x.request, x.ep.verb === 'update' ? 'update' : 'replace', x.rec);
};
function perform(x, req) {
  const { ep, res, caller } = x;
  if (ep.op === 'read almanac') return { status: 200, body: { month: 'February', task: 'Cut scions before the buds swell.', frost: true } };
  if (ep.parent) {
    const p = find(ep.parent, x.path.tree);
    if (!p || !mayRead(ep.parent, caller, p)) fail('not_here');
    x.parent = { field: 'tree', id: x.path.tree };
  }
  if (ep.verb === 'list') return listRows(x);
  if (ep.verb === 'create') return createRow(x, x.request, x.parent ? { tree: x.parent.id } : {});
  if (ep.verb === 'upsert') return upsertVariety(x, x.request);
  // a row of its own
  let id = x.path.id ?? x.path.slug;
  if (x.path.lot !== undefined) { for (const [k, r] of rows.packet) if (r.f.lot === x.path.lot) id = k; if (id === undefined) for (const [k, g] of gone) if (g.rec.f.lot === x.path.lot) id = k; }
  if (res === 'loan') id = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
  const rec = find(res, id);
  if (!rec && res === 'packet' && gone.has(id) && !(F('x_gone_404') && ep.verb !== 'read')) { if (gone.get(id).until > now()) { if (mayRead('packet', caller, gone.get(id).rec)) fail('composted'); } else gone.delete(id); }
  if (!rec || !mayRead(res, caller, rec)) fail('not_here');
  x.rec = rec;
  if (!holds(x.op, caller, rec).length) fail('not_yours');
  if (ep.verb === 'read' || ep.op === 'look up lot') {
    const body = shown(res, rec, caller, x.old), headers = {};
    if (F('r_pin_again') && res === 'cutting' && rec.f.status === 'cut') body.pin = rec.f.pin;
    if (ep.cache) headers['Cache-Control'] = ep.cache;
    if (ep.etag) {
      headers.ETag = tagOf(body, x.old);
      const inm = req.headers['if-none-match'];
      if (inm !== undefined && matches(inm, headers.ETag, true)) return { status: 304, headers };
    }
    return { status: 200, headers, body };
  }
  if (F('x_order_body') && ep.ifMatch === 'required' && ep.verb === 'update') oldBodyFirst(x);
  if (ep.ifMatch) {
    const im = req.headers['if-match'];
    if (im === undefined) { if (ep.ifMatch === 'required') fail('tagless'); } else if (!matches(im, tagOf(shown(res, rec, caller, x.old), x.old), false)) fail('stale');
  }
  if (ep.verb === 'update') return updateRow(x, x.request);
  if (ep.verb === 'replace') return replaceRow(x, x.request);
  if (ep.verb === 'delete') return deleteRow(x);
  return transition(x);
}

// ---------------------------------------------------------------- rows from the start
for (const f of [
  { slug: 'boskoop', name: 'Schone van Boskoop', season: 'keeping', vigour: 5, keeps_weeks: 24, origin: { county: 'Boskoop' } },
  { slug: 'grafenstein', name: 'Gravensteiner', season: 'early', vigour: 4, synonyms: ['Gravenstein', 'Ohio Nonpareil'] },
]) insert({}, 'variety', { ...f, touched_at: iso(now()) });

// ---------------------------------------------------------------- the doors
const server = http.createServer({ maxHeaderSize: 262144, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 }, (req, res) => {
  const s = req.socket;
  s.late = undefined; s.busy = true;
  if (req.complete) clearTimeout(s.wait);
  req.on('end', () => { clearTimeout(s.wait); s.late = undefined; });
  res.on('close', () => { s.busy = false; if (!s.destroyed) idle(s); });
  handle(req, res);
});
const IDLE = 60e3, PATIENCE = 8e3;
function idle(s) { clearTimeout(s.wait); s.reading = false; s.wait = setTimeout(() => s.destroy(), IDLE); }
server.on('connection', (s) => {
  s.setNoDelay(true);
  idle(s);
  s.prependListener('data', () => {
    if (s.reading || s.busy) return;
    s.reading = true; clearTimeout(s.wait);
    s.wait = setTimeout(() => {
      if (s.late) { s.late(); return; }
      raw(s, 'dawdled');
    }, PATIENCE);
  });
  s.on('close', () => clearTimeout(s.wait));
});
function raw(s, code) {
  if (s.destroyed || !s.writable) return s.destroy();
  const trace = 'rq' + (++requests).toString(36) + pick(5, B32);
  const body = JSON.stringify({ trouble: { word: code, says: CODES[code][1], trace } });
  s.end(`HTTP/1.1 ${CODES[code][0]} ${http.STATUS_CODES[CODES[code][0]]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nYard-Trouble: ${code}\r\nYard-Trace: ${trace}\r\nConnection: close\r\n\r\n${body}`);
}
server.on('clientError', (e, s) => { if (e.code === 'ECONNRESET') s.destroy(); else raw(s, e.code === 'HPE_HEADER_OVERFLOW' ? 'too_big' : 'garbled'); });
server.listen(Number(arg('port')), '127.0.0.1');

function advance(ms, text) {
  const m = /^P(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!m || text === 'P' || text.endsWith('T')) return NaN;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((v) => Number(v ?? 0));
  const at = new Date(ms), day = at.getUTCDate();
  at.setUTCDate(1); at.setUTCMonth(at.getUTCMonth() + y * 12 + mo);
  at.setUTCDate(Math.min(day, new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()));
  return at.getTime() + (w * 7 + d) * DAY + h * 3600e3 + mi * 60e3 + s * 1e3;
}
http.createServer((req, res) => {
  const say = (status, body) => { const t = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
  const told = () => say(200, { now: iso(now()) });
  if (req.method === 'GET') return told();
  if (req.method !== 'POST') { req.resume(); return say(400, { error: 'GET or POST' }); }
  let text = '';
  req.on('data', (c) => { text += c; });
  req.on('end', () => {
    let to = NaN;
    try {
      const b = JSON.parse(text), keys = b && typeof b === 'object' ? Object.keys(b) : [];
      if (keys.length === 1 && typeof b.advance === 'string') to = advance(now(), b.advance);
      else if (keys.length === 1 && typeof b.now === 'string') to = instant(b.now);
    } catch { /* 400 */ }
    if (!Number.isFinite(to)) return say(400, { error: 'advance or now' });
    const t = now();
    if (to < t) return say(422, { error: 'the clock goes forward alone' });
    offset += to - t;
    runDue(); pump();
    const until = Date.now() + 400;
    const wait = () => { if ((flying || [...rows.hook.values()].some((h) => h.queue.some((d) => d.due <= now() && now() >= h.notBefore))) && Date.now() < until) setTimeout(wait, 5); else told(); };
    setImmediate(wait);
  });
}).listen(Number(arg('clock-port')), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
process.on('uncaughtException', (e) => console.error(e));
