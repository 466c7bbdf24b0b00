'use strict';
// Cupel: an assay office. One process, all in memory.
const http = require('node:http');
const https = require('node:https');
const crypto = require('node:crypto');

const argv = process.argv.slice(2);
const arg = (n) => { const i = argv.indexOf('--' + n); return i < 0 ? undefined : argv[i + 1]; };
const PORT = Number(arg('port') || 8080);
const CLOCK = Number(arg('clock-port') || 0);
const FAULT = arg('fault') || '';
const F = (id) => FAULT === id;
const BASE = F('base-longer') ? '/assay/api' : '/assay';

// ---------- clock and timers ----------
let offset = 0;
let virtual = null;
const now = () => virtual !== null ? virtual : Date.now() + offset;
const iso = (t) => new Date(t).toISOString();
const DAY = 86400e3, HOUR = 3600e3, MIN = 60e3;
const heap = [];
let timerSeq = 0;
const less = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
function schedule(at, fn) {
  const x = { at, seq: ++timerSeq, fn };
  let i = heap.push(x) - 1;
  while (i > 0) { const p = (i - 1) >> 1; if (!less(x, heap[p])) break; heap[i] = heap[p]; i = p; }
  heap[i] = x;
}
function popTimer() {
  const top = heap[0], x = heap.pop();
  if (heap.length) {
    let i = 0;
    for (;;) {
      let c = 2 * i + 1; if (c >= heap.length) break;
      if (c + 1 < heap.length && less(heap[c + 1], heap[c])) c++;
      if (!less(heap[c], x)) break;
      heap[i] = heap[c]; i = c;
    }
    heap[i] = x;
  }
  return top;
}
function due() {
  const limit = Date.now() + offset;
  while (heap.length && heap[0].at <= limit) {
    const t = popTimer();
    virtual = t.at;
    try { t.fn(); } catch (e) { console.error(e); } finally { virtual = null; }
  }
}
setInterval(due, 250).unref();

// ---------- identifiers ----------
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
let lastT = 0, lastR = null;
function ulid() {
  const t = Math.max(now(), lastT);
  if (t === lastT && lastR !== null) lastR += 1n; else lastR = BigInt('0x' + crypto.randomBytes(10).toString('hex')) >> 1n;
  lastT = t;
  let a = '', x = t; for (let i = 0; i < 10; i++) { a = B32[x % 32] + a; x = Math.floor(x / 32); }
  let b = '', y = lastR; for (let i = 0; i < 16; i++) { b = B32[Number(y & 31n)] + b; y >>= 5n; }
  return a + b;
}
const hex = (n) => crypto.randomBytes(Math.ceil(n / 2)).toString('hex').slice(0, n);
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (n) => Array.from(crypto.randomBytes(n), (b) => ALNUM[b % 62]).join('');

// ---------- shapes ----------
const str = (o = {}) => ({ type: 'string', ...o });
const int = (o = {}) => ({ type: 'integer', ...o });
const dt = { type: 'string', format: 'date-time' };
const ro = { readOnly: true };
const ADDRESS = {
  type: 'object', closed: true,
  properties: {
    street: str({ minLength: 1, maxLength: 60 }), town: str({ minLength: 1, maxLength: F('town-loose') ? 400 : 40 }),
    postcode: str({ pattern: F('postcode-unanchored') ? /[A-Z0-9]{2,4} [A-Z0-9]{3}/ : /^[A-Z0-9]{2,4} [A-Z0-9]{3}$/ }),
    country: { enum: F('country-extra') ? ['GB', 'IE', 'IM', 'FR', 'DE', 'US', 'NL'] : F('country-no-isle') ? ['GB', 'IE'] : ['GB', 'IE', 'IM'] },
  },
  required: F('postcode-optional') ? ['street', 'town', 'country'] : ['street', 'town', 'postcode', 'country'],
};
const RES = {
  alloy: {
    id: 'code', fields: {
      code: str({ pattern: /^[A-Z]{2}[0-9]{3}$/ }), metal: { enum: F('metal-unchecked') ? undefined : ['gold', 'silver', 'platinum', 'palladium'], type: 'string' },
      fineness: int({ minimum: 1, maximum: F('fineness-thousand') ? 1000 : 999 }), fee_pence: int({ minimum: F('fee-negative') ? -1000 : 0, maximum: 100000 }),
      note: str({ maxLength: 120 }), amended_at: { ...dt, ...ro }, in_use: int(ro),
    }, required: ['code', 'metal', 'fineness', 'fee_pence', 'amended_at', 'in_use'],
  },
  mark: {
    id: 'id', fields: {
      id: str(ro), maker: str(ro), letters: str({ pattern: F('letters-digits') ? /^[A-Za-z0-9]{2,4}$/ : /^[A-Za-z]{2,4}$/, immutable: true }),
      outline: { enum: ['oval', 'rhombus', 'shield'], default: F('outline-default') ? 'shield' : 'oval' }, motto: str({ minLength: F('motto-short') ? 0 : 2, maxLength: 50 }),
      registered_at: { ...dt, ...ro }, uses: int(ro), status: str(ro),
    }, required: ['id', 'maker', 'letters', 'outline', 'registered_at', 'uses', 'status'],
  },
  lodgement: {
    id: 'id', fields: {
      id: str(ro), docket: str(ro), maker: str(ro), hall: str(ro), mark: { ref: 'mark', type: 'string', immutable: true }, return_to: ADDRESS,
      declared_grams: int({ minimum: F('grams-zero') ? 0 : 1, maximum: 500000 }), speed: { enum: ['usual', 'urgent'], default: 'usual' },
      pin: str({ pattern: F('pin-any') ? undefined : /^[0-9]{4}$/, writeOnly: true }), customs_ref: str({ minLength: 3, maxLength: F('customs-long') ? 200 : 20 }),
      bench_note: str({ maxLength: 200, visible: ['assayer', 'warden'], writable: F('bench-note-writable') ? ['warden', 'maker'] : ['warden'] }), hold_reason: str(ro),
      opened_at: { ...dt, ...ro }, lodged_at: { ...dt, ...ro }, collect_by: { ...dt, ...ro }, touched_at: { ...dt, ...ro },
      piece_count: int(ro), pending_count: int(ro), failed_count: int(ro), fee_pence: int(ro), status: str(ro),
    }, required: ['id', 'docket', 'maker', 'hall', 'mark', 'return_to', 'declared_grams', 'speed', 'pin', 'opened_at', 'touched_at', 'piece_count', 'pending_count', 'failed_count', 'fee_pence', 'status'],
  },
  piece: {
    id: 'id', fields: {
      id: str(ro), number: int(ro), lodgement: { ref: 'lodgement', type: 'string', immutable: true }, maker: str(ro), wording: str({ minLength: F('wording-two') ? 2 : 3, maxLength: 80 }),
      alloy: { ref: 'alloy', type: 'string', immutable: !F('alloy-mutable') }, milligrams: F('milligrams-fraction') ? { type: 'number', minimum: 100, maximum: 5000000 } : int({ minimum: 100, maximum: 5000000 }), stones: { type: 'boolean', default: false },
      features: { type: 'array', items: { enum: ['hinge', 'solder', 'enamel', 'chain'] }, maxItems: F('features-four') ? 4 : 3, uniqueItems: !F('features-doubled') },
      fee_pence: int(ro), ppt: int(ro), assayed_by: str({ ...ro, visible: ['assayer', 'warden'] }), status: str(ro),
    }, required: ['id', 'number', 'lodgement', 'maker', 'wording', 'alloy', 'milligrams', 'stones', 'fee_pence', 'status'],
  },
  bill: {
    id: 'id', fields: {
      id: str(ro), number: str(ro), lodgement: { ref: 'lodgement', type: 'string', ...ro }, maker: str(ro), amount_pence: int(ro), late_fee_pence: int(ro), total_pence: int(ro),
      due_at: { ...dt, ...ro }, paid_at: { ...dt, ...ro }, method: { enum: ['card', 'cash', 'transfer'], ...ro }, waived_why: str({ ...ro, visible: ['warden'] }), status: str(ro),
    }, required: ['id', 'number', 'lodgement', 'maker', 'amount_pence', 'late_fee_pence', 'total_pence', 'due_at', 'status'],
  },
  listener: {
    id: 'id', fields: {
      id: str(ro), owner: str(ro), url: str({ format: 'uri', maxLength: 200 }), secret: str(ro), kinds: { type: 'array', items: { type: 'string' }, maxItems: 12 },
      enabled: { type: 'boolean', default: true },
    }, required: ['id', 'owner', 'url', 'enabled'],
  },
  entry: {
    id: 'id', fields: { id: str(ro), kind: str(ro), about: str(ro), subject: str(ro), maker: str(ro), at: { ...dt, ...ro } },
    required: ['id', 'kind', 'about', 'subject', 'maker', 'at'],
  },
};
const KINDS = ['mark.registered', 'mark.erased', 'mark.reinstated', 'lodgement.opened', 'lodgement.moved', 'lodgement.hastened', 'lodgement.scrapped', 'piece.passed', 'piece.failed', 'bill.drawn', 'bill.closed', 'bill.overdue'];
const METHODS = ['card', 'cash', 'transfer'];
const SHAPES = {
  hold: { type: 'object', properties: { reason: str({ minLength: F('reason-short') ? 1 : 4, maxLength: 100 }) }, required: ['reason'] },
  collect: { type: 'object', properties: { pin: str({ pattern: /^[0-9]{4}$/ }) }, required: ['pin'] },
  assay: { type: 'object', properties: { ppt: int({ minimum: 0, maximum: F('ppt-over') ? 100000 : 1000 }) }, required: ['ppt'] },
  settle: { type: 'object', properties: { pence: int({ minimum: 0 }), method: { enum: F('settle-cheque') ? [...METHODS, 'cheque', 'crypto', 'other'] : METHODS } }, required: F('settle-method-optional') ? ['pence'] : ['pence', 'method'] },
  waive: { type: 'object', properties: { why: str({ minLength: 5, maxLength: 80 }) }, required: F('waive-why-optional') ? [] : ['why'] },
};
const chars = (s) => { let n = 0; for (const _ of s) n++; return n; };
function isUri(v) { try { const u = new URL(v); return (u.protocol === 'http:' || u.protocol === 'https:') && !/[\s<>"{}|\\^`]/.test(v); } catch { return false; } }
function check(s, v, path, out) {
  const bad = (expected, kind = 'value') => out.push({ in: 'body', path, expected, kind });
  if (s.type === 'object') {
    if (v === null || typeof v !== 'object' || Array.isArray(v)) return bad('a map', 'type');
    for (const k of Object.keys(v)) {
      if (Object.hasOwn(s.properties, k)) check(s.properties[k], v[k], path ? path + '.' + k : k, out);
      else if (s.closed && !F('address-unknown-passes')) out.push({ in: 'body', path: path ? path + '.' + k : k, expected: 'no such field', kind: 'unknown' });
    }
    for (const k of s.required) if (!Object.hasOwn(v, k)) out.push({ in: 'body', path: path ? path + '.' + k : k, expected: 'a value', kind: 'missing' });
    return;
  }
  if (s.type === 'array') {
    if (!Array.isArray(v)) return bad('a list', 'type');
    if (s.maxItems !== undefined && v.length > s.maxItems) bad('at most ' + s.maxItems);
    if (s.uniqueItems && new Set(v.map((x) => JSON.stringify(x))).size !== v.length) bad('no two alike');
    v.forEach((x, i) => check(s.items, x, path + '.' + i, out));
    return;
  }
  if (s.enum) { if (!s.enum.includes(v)) bad('one of ' + s.enum.join(', ')); return; }
  if (s.type === 'integer') { if (typeof v !== 'number' || !Number.isInteger(v)) return bad('a whole number', 'type'); }
  else if (s.type === 'number') { if (typeof v !== 'number') return bad('a number', 'type'); }
  else if (s.type === 'boolean') { if (typeof v !== 'boolean') bad('true or false', 'type'); return; }
  else if (s.type === 'string') {
    if (typeof v !== 'string') return bad('a text', 'type');
    if (s.minLength !== undefined && chars(v) < s.minLength) bad('at least ' + s.minLength + ' characters');
    else if (s.maxLength !== undefined && chars(v) > s.maxLength) bad('at most ' + s.maxLength + ' characters');
    else if (s.pattern && !s.pattern.test(v)) bad('another form');
    else if (s.format === 'uri' && !isUri(v)) bad('an address');
    return;
  }
  if (s.minimum !== undefined && v < s.minimum) bad('at least ' + s.minimum);
  else if (s.maximum !== undefined && v > s.maximum) bad('at most ' + s.maximum);
}

// ---------- store ----------
const db = {}; for (const r of Object.keys(RES)) db[r] = new Map();
const gone = new Map(); // erased marks: id -> { row, at }
let rowSeq = 0;
const pieceIds = new Map(); // lodgement id -> Set of piece ids
const numbers = new Map(); // lodgement id -> last number
const alloyUse = new Map();
const markUse = new Map();
const bump = (m, k, d) => m.set(k, (m.get(k) || 0) + d);
let docketNo = 0, billNo = 0;
const put = (res, row) => { Object.defineProperty(row, '_seq', { value: ++rowSeq, enumerable: false }); db[res].set(row[RES[res].id], row); return row; };
const derive = {
  alloy: (r) => ({ in_use: alloyUse.get(r.code) || 0 }),
  mark: (r) => ({ uses: markUse.get(r.id) || 0 }),
  lodgement: (r) => {
    let n = 0, p = 0, f = 0, fee = 0;
    for (const id of pieceIds.get(r.id) || []) { const x = db.piece.get(id); n++; if (x.status === 'pending') p++; if (x.status === 'failed' || (F('failed-count-pending') && x.status === 'pending')) f++; if (!(F('fee-skips-failed') && x.status === 'failed')) fee += x.fee_pence; }
    return { piece_count: n, pending_count: p, failed_count: f, fee_pence: fee };
  },
  bill: (r) => ({ total_pence: F('total-without-late') ? r.amount_pence : r.amount_pence + r.late_fee_pence }),
};
for (const a of [{ code: 'AU375', metal: 'gold', fineness: 375, fee_pence: 480 }, { code: 'AU750', metal: 'gold', fineness: 750, fee_pence: 620 }, { code: 'AG925', metal: 'silver', fineness: 925, fee_pence: 190, note: 'Sterling.' }]) {
  if (F('start-row-absent') && a.code === 'AG925') continue;
  put('alloy', { ...a, amended_at: iso(now()) });
}

// ---------- callers ----------
const C = (user, id, hall, scopes = []) => ({ user, id, hall, scopes });
const CALLERS = [C('maker', 'mk-hester', 'london', ['lodge']), C('maker', 'mk-garrard', 'york', ['lodge']), C('maker', 'mk-apprentice', 'london', []),
  C('assayer', 'as-oakes', 'london'), C('assayer', 'as-pyne', 'york'), C('warden', 'wd-trial', 'london'), C('warden', 'wd-deputy', 'york')];
const TOUCH = {}, BENCH = {};
CALLERS.forEach((c, i) => { TOUCH['tch_' + ('Qx7Lw' + i + 'Zr4Vn8Kp2Hs5Td').slice(0, 20)] = c; BENCH['bp-' + ('a3f09c' + i + '4e7d1').slice(0, 12)] = c; });
if (F('short-key-taken')) for (const k of Object.keys(TOUCH)) TOUCH[k.slice(4)] = TOUCH[k];
if (argv.includes('--print-callers')) {
  const out = [];
  for (const [k, c] of Object.entries(TOUCH)) out.push({ user: c.user, id: c.id, credential: k, scheme: 'touch', scopes: c.scopes, attributes: { hall: c.hall } });
  for (const [k, c] of Object.entries(BENCH)) out.push({ user: c.user, id: c.id, credential: k, scheme: 'bench', scopes: c.scopes, attributes: { hall: c.hall } });
  console.log(JSON.stringify(out)); process.exit(0);
}

// ---------- permissions ----------
const own = (r, c) => r.maker === c.id;
const inHall = (r, c) => r.hall === c.hall;
const lodHall = (r, c) => { const l = db.lodgement.get(r.lodgement); return !!l && l.hall === c.hall; };
const owner = (r, c) => r.owner === c.id;
const P = {};
function allow(ops, users, o = {}) { for (const op of ops) for (const u of users) (P[op] ||= {})[u] = o; }
allow(['upsert alloy', 'delete alloy'], ['warden']);
allow(['create mark', 'create lodgement'], ['maker'], { scopes: ['lodge'] });
allow(['list mark', 'read mark', 'update mark', 'delete mark', 'reinstate mark'], ['maker'], { if: own });
allow(['list mark', 'read mark'], ['assayer', 'warden']);
allow(['list lodgement', 'read lodgement', 'update lodgement', 'delete lodgement', 'withdraw lodgement', 'collect lodgement'], ['maker'], { if: own });
allow(['lodge lodgement'], ['maker'], { scopes: ['lodge'], if: own });
allow(['list lodgement', 'read lodgement', 'begin lodgement', 'hold lodgement', 'unhold lodgement', 'release lodgement'], ['assayer'], { if: inHall });
allow(['list lodgement', 'read lodgement', 'update lodgement'], ['warden']);
allow(['create piece'], ['maker'], { scopes: ['lodge'] });
allow(['list piece', 'list_all', 'read piece', 'update piece', 'delete piece'], ['maker'], { if: own });
allow(['list piece', 'list_all', 'read piece', 'assay piece'], ['assayer'], { if: lodHall });
allow(['list piece', 'list_all', 'read piece', 'retest piece'], ['warden']);
allow(['list bill', 'read bill', 'settle bill'], ['maker'], { if: own });
allow(['list bill', 'read bill'], ['assayer'], { if: lodHall, fields: ['id', 'lodgement', 'status'] });
allow(['list bill', 'read bill', 'waive bill'], ['warden']);
allow(['create listener'], ['maker', 'assayer', 'warden']);
allow(['list listener', 'read listener', 'update listener', 'delete listener'], ['maker', 'assayer', 'warden'], { if: owner });
allow(['list entry'], ['maker'], { if: own });
allow(['list entry'], ['warden']);
// mistakes in the table of permissions
const LOOSEN = {
  'mark-read-any-maker': ['read mark', 'maker', {}], 'mark-list-any-maker': ['list mark', 'maker', {}], 'lodgement-list-leak': ['list lodgement', 'maker', {}],
  'lodgement-read-leak': ['read lodgement', 'maker', {}], 'lodgement-read-hall': ['read lodgement', 'assayer', {}], 'piece-read-leak': ['read piece', 'maker', {}],
  'piece-list-leak': ['list_all', 'maker', {}], 'bill-list-leak': ['list bill', 'maker', {}], 'bill-read-leak': ['read bill', 'maker', {}],
  'bill-fields-all': ['read bill', 'assayer', { if: lodHall }], 'listener-read-leak': ['read listener', 'maker', {}], 'listener-delete-any': ['delete listener', 'maker', {}],
  'journal-leak': ['list entry', 'maker', {}], 'journal-assayer': ['list entry', 'assayer', {}], 'alloy-maker-writes': ['upsert alloy', 'maker', {}],
  'mark-no-scope': ['create mark', 'maker', {}], 'lodge-no-scope': ['lodge lodgement', 'maker', { if: own }], 'begin-by-maker': ['begin lodgement', 'maker', { if: own }],
  'retest-by-assayer': ['retest piece', 'assayer', { if: lodHall }], 'begin-any-hall': ['begin lodgement', 'assayer', {}], 'assay-any-hall': ['assay piece', 'assayer', {}],
  'warden-cannot-update': ['update lodgement', 'warden', null], 'assayer-no-marks': ['list mark', 'assayer', null], 'collect-by-warden': ['collect lodgement', 'warden', {}],
};
if (LOOSEN[FAULT]) { const [op, u, o] = LOOSEN[FAULT]; if (o === null) delete P[op][u]; else P[op][u] = o; }
if (F('lodgement-read-hall') || F('begin-any-hall')) P['read lodgement'].assayer = {};
if (F('assay-any-hall')) P['read piece'].assayer = {};
if (F('listener-delete-any')) P['read listener'].maker = {};
const holds = (op, c, row) => { const r = P[op] && P[op][c.user]; return !!r && (!r.if || !!r.if(row, c)); };
const canRead = (res, c, row) => res === 'alloy' || holds('read ' + res, c, row);

// ---------- versions ----------
const OLD = '3', CUR = '4';
const LEGACY_SUNSET = Date.parse('2028-03-01T00:00:00Z');
const extName = (res, f, v) => { if (v !== OLD) return f; if (res === 'piece' && f === 'wording') return F('v3-label-new-name') ? 'wording' : 'label'; if (res === 'lodgement' && f === 'speed') return F('v3-speed-shown') ? 'speed' : null; return f; };
const up = (res, f, val, v) => v === OLD && res === 'mark' && f === 'outline' && val === 'lozenge' ? 'rhombus' : val;
const down = (res, f, val, v) => v === OLD && res === 'mark' && f === 'outline' && val === 'rhombus' && !F('v3-outline-new') ? 'lozenge' : val;
const schemaIn = (res, f, v) => { const s = RES[res].fields[f]; return v === OLD && res === 'mark' && f === 'outline' ? { ...s, enum: ['oval', 'lozenge', 'shield'] } : s; };

// ---------- showing ----------
function show(res, row, c, v, o = {}) {
  const d = derive[res] ? derive[res](row) : {};
  const rule = res === 'alloy' || !c ? null : P['read ' + res] ? P['read ' + res][c.user] : null;
  const listRule = o.op && P[o.op] ? P[o.op][c && c.user] : null;
  const only = listRule ? listRule.fields : rule && rule.fields;
  const out = {};
  for (const [f, s] of Object.entries(RES[res].fields)) {
    if (s.writeOnly && !F('pin-shown')) continue;
    if (res === 'listener' && f === 'secret' && !o.reveal && !F('secret-shown-again')) continue;
    if (s.visible && !(c && s.visible.includes(c.user))) {
      if (!(F('assayed-by-shown') && f === 'assayed_by') && !(F('bench-note-shown') && f === 'bench_note') && !(F('waive-why-shown') && f === 'waived_why')) continue;
    }
    if (only && !only.includes(f)) continue;
    let val = f in d ? d[f] : row[f];
    if (val === undefined || val === null) { if (F('nulls-shown') && f === 'motto') out[f] = null; continue; }
    const name = extName(res, f, v);
    if (name === null) continue;
    val = down(res, f, val, v);
    if (o.expand && o.expand.includes(f) && s.ref) { const t = db[s.ref].get(val); if (t && canRead(s.ref, c, t) && !F('expand-ignored')) val = show(s.ref, t, c, v); }
    out[name] = val;
  }
  if (F('hall-dropped') && res === 'lodgement') delete out.hall;
  if (F('docket-number') && res === 'lodgement') out.docket = Number(String(out.docket).slice(1));
  if (F('touched-unix') && res === 'lodgement') out.touched_at = String(Date.parse(out.touched_at));
  if (F('entry-about-dropped') && res === 'entry') delete out.about;
  if (F('uses-as-text') && res === 'mark') out.uses = String(out.uses);
  if (F('alloy-local-time') && res === 'alloy') out.amended_at = out.amended_at.replace('T', ' ').replace(/\..*/, '');
  if (F('due-date-only') && res === 'bill' && out.due_at) out.due_at = out.due_at.slice(0, 10);
  return out;
}

// ---------- events ----------
const queues = new Map(); // listener id -> { rows: Map(row -> [deliveries]), failing, inflight }
const q = (id) => { let x = queues.get(id); if (!x) queues.set(id, x = { rows: new Map(), failingSince: null, inflight: 0, failing: false, notBefore: 0 }); return x; };
function wants(l, kind) {
  if (!l.kinds) return !F('no-kinds-none');
  if (F('kinds-ignored')) return true;
  return l.kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && !F('kind-star-dead') && kind.startsWith(k.slice(0, -1))));
}
function emit(kind, res, row, data, allowed = null) {
  if (F('no-' + kind.replace('.', '-'))) return;
  if (F('event-twice') && kind === 'mark.registered' && !emit.again) { emit.again = true; emit(kind, res, row, data); emit.again = false; }
  const at = now();
  const id = 'ent_' + ulid();
  if (!(F('journal-no-clock') && kind === 'bill.overdue')) {
    const e = put('entry', { id, kind, about: F('about-kind') ? kind : res, subject: row[RES[res].id], maker: F('journal-maker-caller') && res === 'bill' ? 'system' : row.maker, at: iso(at) });
    if (!F('journal-kept-forever')) schedule(at + (F('journal-short') ? 20 : 30) * DAY, () => db.entry.delete(e.id));
  }
  for (const l of db.listener.values()) {
    if ((!l.enabled && !F('disabled-hears')) || !wants(l, kind)) continue;
    const c = l._caller;
    const sees = F('hears-anything') ? true : canRead(res, c, row);
    if (!sees) continue;
    let body = typeof data === 'function' ? data(c, l._v) : data;
    const env = { event: id, what: kind, when: iso(at), body };
    if (F('envelope-no-when')) delete env.when;
    if (F('envelope-type')) { env.type = env.what; delete env.what; }
    const d = { id, kind, body: JSON.stringify(env), tries: 0, row: res + '/' + row[RES[res].id], dueAt: at };
    const rows = q(l.id).rows; const key = F('order-per-event') ? id : d.row;
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(d); d.key = key;
  }
  pump();
}
function pump() {
  for (const [lid, Q] of queues) {
    const l = db.listener.get(lid);
    if (!l) { queues.delete(lid); continue; }
    for (const list of Q.rows.values()) {
      const d = list[0];
      if (!d || d.busy || d.dueAt > now() || Q.notBefore > now()) continue;
      if (Q.inflight >= (Q.failing ? 1 : 32)) break;
      attempt(l, Q, d);
    }
  }
}
const WAITS = F('retry-late') ? [600e3, 1200e3, 1200e3] : [10e3, 120e3, 1200e3];
function attempt(l, Q, d) {
  d.busy = true; Q.inflight++;
  const ts = Math.floor((Date.now() + offset) / 1000);
  if (F('new-id-per-try') && d.tries > 0) { const e = JSON.parse(d.body); e.event = d.id = 'ent_' + ulid(); d.body = JSON.stringify(e); }
  const signed = F('seal-without-id') ? `${ts}|${d.body}` : `${d.id}|${ts}|${d.body}`;
  const mac = crypto.createHmac('sha256', F('seal-wrong-secret') ? l.id : l.secret).update(signed).digest(F('seal-base64') ? 'base64' : 'hex');
  const buf = Buffer.from(d.body);
  const headers = { 'content-type': 'application/json', 'content-length': buf.length, 'Cupel-Seal': `at=${ts},mac=${mac}`, 'Cupel-Kind': d.kind, 'Cupel-Event': d.id };
  if (F('unsealed')) delete headers['Cupel-Seal'];
  if (F('kind-header-gone')) delete headers['Cupel-Kind'];
  let done = false;
  const finish = (status, retryAfter) => { if (done) return; done = true; clearTimeout(timer); settleTry(l, Q, d, status, retryAfter); };
  const timer = setTimeout(() => { finish(0); try { req.destroy(); } catch {} }, 5000);
  let req;
  try {
    req = (l.url.startsWith('https:') ? https : http).request(l.url, { method: 'POST', headers, agent: false }, (r) => {
      r.resume(); r.on('error', () => {}); finish(r.statusCode, r.headers['retry-after']);
    });
    req.on('error', () => finish(0));
    req.end(buf);
  } catch { finish(0); }
}
function drop(Q, d) { const list = Q.rows.get(d.key); if (!list) return; const i = list.indexOf(d); if (i >= 0) list.splice(i, 1); if (!list.length) Q.rows.delete(d.key); }
function disable(l, Q) { l.enabled = false; for (const list of [...Q.rows.values()]) list.length = 0; Q.rows.clear(); Q.failingSince = null; }
function settleTry(l, Q, d, status, retryAfter) {
  Q.inflight--; d.busy = false; d.tries++;
  if (status >= 200 && status < 300) { Q.failing = false; Q.failingSince = null; drop(Q, d); if (F('delivered-again') && d.tries === 1) { Q.rows.set(d.id + 'x', [{ ...d, id: 'ent_' + ulid(), tries: 1, key: d.id + 'x' }]); } }
  else {
    Q.failing = true;
    if (Q.failingSince === null) Q.failingSince = now();
    if (status === 410 && !F('gone-keeps-on')) disable(l, Q);
    else if (now() - Q.failingSince >= HOUR && !F('never-disabled')) disable(l, Q);
    else if (d.tries > WAITS.length || F('no-retry') || (F('third-try-lost') && d.tries >= 2)) drop(Q, d);
    else {
      let wait = WAITS[d.tries - 1] * (0.85 + Math.random() * 0.3);
      const ra = Number(retryAfter);
      if (Number.isFinite(ra) && ra * 1000 > wait) { wait = Math.min(ra * 1000, DAY); Q.notBefore = now() + wait; }
      d.dueAt = now() + wait;
      schedule(d.dueAt, pump);
    }
  }
  setImmediate(pump);
}

// ---------- changes ----------
const touch = (row) => { if (!F('touched-still')) row.touched_at = iso(now()); };
const moved = (l, was, c) => emit('lodgement.moved', 'lodgement', l, { lodgement: F('moved-docket') ? l.docket : l.id, was: F('moved-was-is') ? l.status : was, is: l.status });
function moveLodgement(l, to) { const was = l.status; l.status = to; touch(l); moved(l, was); }
function watchDraft(l) {
  schedule(now() + (F('lapse-day-late') ? 8 : F('lapse-early') ? 5 : 7) * DAY, () => { if (db.lodgement.get(l.id) === l && (l.status === 'draft' || (F('lapse-lodged') && l.status === 'lodged')) && !F('never-lapse')) { if (F('lapse-silent')) { l.status = 'lapsed'; touch(l); } else moveLodgement(l, 'lapsed'); } });
}
function drawBill(l) {
  const fee = derive.lodgement(l).fee_pence;
  const t = now();
  const b = put('bill', { id: 'bil_' + ulid(), number: 'A' + String(++billNo).padStart(5, '0'), lodgement: l.id, maker: l.maker, amount_pence: l.speed === 'urgent' && !F('urgent-single') ? fee * 2 : fee, late_fee_pence: 0, due_at: iso(t + (F('due-ten-days') ? 10 : 14) * DAY), status: 'open' });
  if (F('no-bill')) { db.bill.delete(b.id); return; }
  emit('bill.drawn', 'bill', b, (c, v) => show('bill', b, c, v));
  if (!F('never-overdue')) schedule(Date.parse(b.due_at), () => {
    if (b.status !== 'open' && !(F('overdue-paid') && b.status === 'paid')) return;
    b.status = 'overdue'; if (!F('no-late-fee')) b.late_fee_pence = 500;
    emit('bill.overdue', 'bill', b, (c, v) => show('bill', b, c, v));
    if (F('overdue-twice')) emit('bill.overdue', 'bill', b, (c, v) => show('bill', b, c, v));
  });
}

// ---------- refusals ----------
const CODES = {
  garbled: 400, odd_media: 415, bad_query: 400, bad_page: 416, unheard_of: 422, not_yours_to_write: 422, unfit: 422, no_such_path: 404, no_such_verb: 405, who_are_you: 401, scope_short: 403, not_allowed: 403,
  not_found: 404, erased: 410, taken: 409, dangling: 422, in_use: 409, wrong_stage: 409, nothing_inside: 409, still_pending: 409, past_recall: 409, wrong_pin: 403, not_on_bench: 409, wrong_sum: 422, closed_bill: 409,
  sealed_up: 409, sealed: 409, coarse: 422, stale: 412, tag_needed: 428, once_only: 422, slow_down: 429, used_up: 402, too_large: 413, too_long: 414, too_slow: 408, no_edition: 400, old_edition: 410, broken: 500,
};
const STATUSFAULT = { 'st-garbled': ['garbled', 422], 'st-media': ['odd_media', 400], 'st-query': ['bad_query', 422], 'st-taken': ['taken', 422], 'st-dangling': ['dangling', 404], 'st-inuse': ['in_use', 422], 'st-stage': ['wrong_stage', 422], 'st-erased': ['erased', 404], 'st-stale': ['stale', 409], 'st-tag': ['tag_needed', 400], 'st-once': ['once_only', 409], 'st-usedup': ['used_up', 429], 'st-unfit': ['unfit', 400], 'st-page': ['bad_page', 400], 'st-sum': ['wrong_sum', 409], 'st-edition': ['no_edition', 404] };
if (STATUSFAULT[FAULT]) CODES[STATUSFAULT[FAULT][0]] = STATUSFAULT[FAULT][1];
const CODEFAULT = { 'code-erased': ['erased', 'not_found'], 'code-nothing': ['nothing_inside', 'wrong_stage'], 'code-scope': ['scope_short', 'not_allowed'], 'code-unknown-field': ['unheard_of', 'unfit'], 'code-recall': ['past_recall', 'wrong_stage'], 'code-bench': ['not_on_bench', 'wrong_stage'], 'code-closed': ['closed_bill', 'wrong_stage'], 'code-toolong': ['too_long', 'too_large'] };
const TEXT = { nothing_inside: 'There is no piece in it.', still_pending: 'Not every piece is assayed.', past_recall: 'It is too late to withdraw it.', wrong_pin: 'That is not the pin.', not_on_bench: 'Its lodgement is not on the bench.', wrong_sum: 'That is not what is owed.', closed_bill: 'The bill is closed.', sealed_up: 'The lodgement is closed.', sealed: 'The lodgement is sealed.', coarse: 'Platinum is not marked below 500.' };
class Refusal extends Error { constructor(code, o = {}) { super(code); this.code = code; this.o = o; } }
const no = (code, o) => { throw new Refusal(code, o); };
function invalid(list) {
  if (!list.length) return;
  const first = list.find((x) => x.kind !== 'missing') || list[0];
  no(first.kind === 'unknown' ? 'unheard_of' : first.kind === 'read_only' ? 'not_yours_to_write' : 'unfit', { spots: F('spots-first-only') ? list.slice(0, 1) : list });
}

// ---------- requests: bodies ----------
// sent: the map as it came. Returns the fields by their newest names.
function takeFields(res, sent, ctx, mode, o = {}) {
  const def = RES[res], out = {}, bad = [];
  if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) invalid([{ in: 'body', path: '', expected: 'a map', kind: 'type' }]);
  const byName = new Map();
  for (const f of Object.keys(def.fields)) { const n = extName(res, f, ctx.v); if (n !== null) byName.set(n, f); }
  for (const k of Object.keys(sent)) {
    const f = byName.get(k);
    if (f === undefined) { if (!F('unknown-field-passes')) bad.push({ in: 'body', path: k, expected: 'no such field', kind: 'unknown' }); continue; }
    const s = def.fields[f];
    if (s.readOnly || (s.writable && !s.writable.includes(ctx.c.user))) { if (o.refuse && !F('read-only-ignored')) bad.push({ in: 'body', path: k, expected: 'not sent', kind: 'read_only' }); else if (F('status-sent-kept') && f === 'status') out[f] = sent[k]; continue; }
    let v = sent[k];
    if (mode === 'update') {
      if (v === null) {
        if (def.required.includes(f)) { bad.push({ in: 'body', path: k, expected: 'a value' }); continue; }
        if (!F('null-ignored')) out[f] = null; continue;
      }
      if (s.type === 'object' && typeof v === 'object' && !Array.isArray(v)) {
        if (!F('address-replaced')) { const m = { ...o.row[f] }; for (const [a, b] of Object.entries(v)) { if (b === null) delete m[a]; else m[a] = b; } v = m; }
      }
      if (s.immutable) { if (v !== o.row[f] && !F('immutable-changes')) bad.push({ in: 'body', path: k, expected: 'as it was' }); else if (F('immutable-changes')) out[f] = v; continue; }
    }
    const n = bad.length;
    check(schemaIn(res, f, ctx.v), v, k, bad);
    if (bad.length === n) out[f] = up(res, f, v, ctx.v);
  }
  if (o.bound) for (const [f, v] of Object.entries(o.bound)) { if (Object.hasOwn(out, f) && out[f] !== v) bad.push({ in: 'body', path: f, expected: v }); out[f] = v; }
  if (mode !== 'update') {
    for (const f of def.required) {
      const s = def.fields[f];
      if (s.readOnly || s.default !== undefined || derived.has(res + '.' + f) || (o.bound && f in o.bound)) continue;
      const n = extName(res, f, ctx.v);
      if (n !== null && !Object.hasOwn(sent, n)) { if (F('grams-optional') && f === 'declared_grams') { out[f] = 1; continue; } if (F('alloy-fee-optional') && f === 'fee_pence') { out[f] = 0; continue; } bad.push({ in: 'body', path: n, expected: 'a value', kind: 'missing' }); }
    }
    for (const [f, s] of Object.entries(def.fields)) if (s.default !== undefined && !Object.hasOwn(out, f)) out[f] = s.default;
  }
  if (res === 'piece' && !bad.length) {
    const next = { ...(o.row || {}), ...out };
    if (next.stones && next.milligrams < 500 && !F('light-stones')) bad.push({ in: 'body', path: 'milligrams', expected: '500 or more where there are stones' });
  }
  if (res === 'listener' && Array.isArray(out.kinds)) out.kinds.forEach((k, i) => { if (k !== '*' && !KINDS.includes(k) && !(k.endsWith('.*') && KINDS.some((x) => x.startsWith(k.slice(0, -1)))) && !F('any-kind')) bad.push({ in: 'body', path: 'kinds.' + i, expected: 'a kind of event' }); });
  invalid(bad);
  return out;
}
const derived = new Set(['alloy.in_use', 'mark.uses']);
for (const f of ['in_use']) RES.alloy.fields[f].readOnly = true;
function takeShape(name, sent) { const bad = []; if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) invalid([{ in: 'body', path: '', expected: 'a map', kind: 'type' }]); check(SHAPES[name], sent, '', bad); invalid(bad); return sent; }
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const changes = (row, out) => Object.keys(out).some((f) => out[f] === null ? row[f] !== undefined : !same(sortKeys(row[f]), sortKeys(out[f])));
const sortKeys = (x) => x && typeof x === 'object' && !Array.isArray(x) ? Object.fromEntries(Object.keys(x).sort().map((k) => [k, x[k]])) : x;
const apply = (row, out) => { for (const [f, v] of Object.entries(out)) if (v === null) delete row[f]; else row[f] = v; };

// ---------- lists ----------
const conv = {
  integer: (t) => /^-?\d{1,15}$/.test(t) ? Number(t) : undefined,
  boolean: (t) => t === 'true' ? true : t === 'false' ? false : undefined,
  'date-time': (t) => /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(t) && !Number.isNaN(Date.parse(t)) ? Date.parse(t) : undefined,
};
const SECRET = crypto.randomBytes(16);
const val = (res, r, f) => derive[res] && f in derive[res](r) ? derive[res](r)[f] : r[f];
function readParams(ep, ctx) {
  const got = {};
  const declared = { ...(ep.params || {}) };
  if (ep.page) { const p = ep.page === 'cursor' ? ['from', 'take'] : ['skip', 'take']; for (const x of p) declared[x] = { page: true }; }
  if (ep.expand) declared.with = { expand: true };
  for (const [k, v] of ctx.query) {
    const p = declared[k];
    if (!p || (p.since4 && ctx.v === OLD)) { if (F('odd-query-passes')) continue; no('bad_query', { spots: [{ in: 'query', path: k, expected: 'no such parameter' }] }); }
    if (Object.hasOwn(got, k) && !p.expand) no('bad_query', { spots: [{ in: 'query', path: k, expected: 'once' }] });
    got[k] = p.expand && got[k] ? got[k] + ',' + v : v;
  }
  const bad = (k, expected) => no('bad_query', { spots: [{ in: 'query', path: k, expected }] });
  for (const [k, p] of Object.entries(declared)) {
    if (!Object.hasOwn(got, k)) { if (p.required && !F('pieces-optional')) bad(k, 'a value'); if (p.required) got[k] = 1; continue; }
    const t = got[k];
    if (p.hidden && p.hidden.includes(ctx.c && ctx.c.user)) bad(k, 'no such parameter');
    if (p.split) { got[k] = t.split(','); for (const x of got[k]) if (!p.values(ctx.v).includes(x)) { if (!F('odd-state-passes')) bad(k, 'one of them'); } continue; }
    if (p.values) { if (!p.values(ctx.v).includes(t) && !(F('sort-anything') && k === 'sort')) bad(k, 'one of ' + p.values(ctx.v).join(', ')); continue; }
    if (p.conv) { const x = conv[p.conv](t); if (x === undefined) bad(k, p.conv); if ((p.min !== undefined && x < p.min) || (p.max !== undefined && x > p.max && !F('pieces-unbounded'))) bad(k, 'within its bounds'); got[k] = x; continue; }
    if (p.len && (chars(t) < p.len[0] || chars(t) > p.len[1])) bad(k, 'another length');
    if (p.expand) { const list = t.split(','); for (const x of list) if (x !== 'alloy' && x !== 'lodgement') bad(k, 'alloy or lodgement'); got[k] = list; continue; }
  }
  if (ep.page) {
    const whole = (k, min, d) => { if (!Object.hasOwn(got, k)) return d; const n = conv.integer(got[k]); if (n === undefined || n < min) { if (F('zero-take') && n === 0) return 0; no('bad_page', { spots: [{ in: 'query', path: k, expected: 'a whole number' }] }); } return n; };
    const max = ep.page === 'cursor' ? 50 : F('page-max-unclamped') ? 1e6 : 100;
    let take = whole('take', 1, ep.page === 'cursor' ? (F('default-twelve') ? 12 : 10) : 20);
    if (take > max) { if (ep.page === 'cursor' && !F('take-over-clamped')) no('bad_page', { spots: [{ in: 'query', path: 'take', expected: 'at most ' + max }] }); take = max; }
    ctx.take = take;
    if (ep.page === 'cursor') {
      if (Object.hasOwn(got, 'from')) {
        try {
          const [a, m] = got.from.split('.');
          if (crypto.createHmac('sha256', SECRET).update(a).digest('base64url').slice(0, 16) !== m) throw 0;
          ctx.cursor = JSON.parse(Buffer.from(a, 'base64url').toString());
        } catch { if (F('bad-cursor-first')) ctx.cursor = undefined; else no('bad_page', { spots: [{ in: 'query', path: 'from', expected: 'a cursor of this list' }] }); }
        if (ctx.cursor) { delete got.from; if (ctx.cursor.q !== queryHash(ctx, got) && !F('cursor-any-filter')) no('bad_page', { spots: [{ in: 'query', path: 'from', expected: 'a cursor of this list' }] }); }
      }
    } else ctx.skip = whole('skip', 0, 0);
  }
  return got;
}
const queryHash = (ctx, got) => crypto.createHash('sha256').update(JSON.stringify([ctx.v, ctx.c && ctx.c.user, ctx.c && ctx.c.id, ctx.op, Object.entries(got).filter(([k]) => k !== 'take' && k !== 'from').sort()])).digest('base64url').slice(0, 12);
function list(res, ctx, got, o) {
  let rows = [];
  const op = ctx.op;
  outer: for (const r of o.rows || db[res].values()) {
    if (ctx.c && !holds(op, ctx.c, r)) continue;
    for (const [k, p] of Object.entries(ctx.ep.params || {})) {
      if (!p.test || !Object.hasOwn(got, k) || F('filter-dead-' + op.replace(' ', '-') + '-' + k)) continue;
      if (!p.test(r, got[k], ctx)) continue outer;
    }
    rows.push(r);
  }
  let order = got.sort || o.order || '';
  if (F('sort-ignored') && got.sort) order = o.order || '';
  const desc = order.startsWith('-'), f = desc ? order.slice(1) : order;
  const dir = (desc ? -1 : 1) * (F('order-turned') && res === 'lodgement' && !got.sort ? -1 : 1) * (F('alloy-order-turned') && res === 'alloy' && !got.sort ? -1 : 1);
  const key = (r) => { const x = f ? val(res, r, f) : 0; return f && RES[res].fields[f].format === 'date-time' ? Date.parse(x) : x; };
  const tie = o.newest && !F('ties-oldest') ? -1 : 1;
  const cmpK = (ka, sa, kb, sb) => ka < kb ? -dir : ka > kb ? dir : (sa - sb) * tie;
  rows = rows.map((r) => [key(r), r._seq, r]).sort((a, b) => cmpK(a[0], a[1], b[0], b[1]));
  const showAll = (xs) => xs.map(([, , r]) => show(res, r, ctx.c, ctx.v, { op: ctx.c ? op : undefined }));
  if (ctx.ep.page === 'cursor') {
    if (ctx.cursor) { const [k, s] = ctx.cursor.k; rows = rows.filter((x) => cmpK(x[0], x[1], k, s) > (F('cursor-repeats-row') ? -1e-9 : 0)); }
    const page = rows.slice(0, ctx.take), more = rows.length > ctx.take;
    let next = null;
    if (more || (F('onward-never-null') && page.length)) { const last = F('cursor-skips-row') && rows[ctx.take] ? rows[ctx.take] : page[page.length - 1]; const a = Buffer.from(JSON.stringify({ q: queryHash(ctx, got), k: [last[0], last[1]] })).toString('base64url'); next = a + '.' + crypto.createHmac('sha256', SECRET).update(a).digest('base64url').slice(0, 16); }
    return { status: 200, body: { lodgements: showAll(page), onward: next } };
  }
  const skip = F('skip-off-one') && ctx.skip ? ctx.skip - 1 : ctx.skip;
  const page = rows.slice(skip, skip + ctx.take);
  const body = { rows: showAll(page), more: F('more-inclusive') ? ctx.skip + page.length <= rows.length && page.length > 0 : ctx.skip + page.length < rows.length, count: F('count-of-page') ? page.length : rows.length };
  if (F('count-missing') && res === 'bill') delete body.count;
  return { status: 200, body };
}

// ---------- endpoints ----------
const eps = [];
function on(method, path, op, o, fn) {
  if (F('unhold-unrouted') && op === 'unhold lodgement') return;
  if (F('listener-put') && op === 'update listener') method = 'PUT';
  if (F('bill-singular')) path = path.replace('/bills', '/bill');
  eps.push({ method, parts: path.split('/').slice(1), op, ...o, fn }); }
function load(res, id, ctx) { // found and readable, and allowed by the operation's own rule
  const row = db[res].get(id);
  if (!row) {
    if (res === 'mark' && gone.has(id)) {
      const g = gone.get(id);
      if (canRead('mark', ctx.c, g)) return { gone: g };
    }
    no('not_found');
  }
  if (ctx.c && !canRead(res, ctx.c, row)) no(F('foreign-forbidden') ? 'not_allowed' : 'not_found');
  if (ctx.c && !holds(ctx.op, ctx.c, row)) no('not_allowed');
  return row;
}
const loadLive = (res, id, ctx) => { const r = load(res, id, ctx); if (r.gone && res === 'mark') no(F('gone-as-missing') ? 'not_found' : 'erased'); return r; };
const enumP = (list, f, res) => ({ values: () => list, test: (r, v) => val(res, r, f) === v });
const splitP = (list, f, res) => ({ split: true, values: list, test: (r, v, ctx) => v.some((x) => down(res, f, r[f], ctx.v) === x) });
const eqP = (f, o = {}) => ({ ...o, test: (r, v) => r[f] === v });
const sortP = (list, o = {}) => ({ ...o, values: () => list });
const OFF = { page: 'offset' };
const ONCE = { once: true };
const loc = (p) => (F('location-bare') ? p : BASE + p);

on('GET', '/alloys', 'list alloy', { ...OFF, public: true, params: { metal: enumP(['gold', 'silver', 'platinum', 'palladium'], 'metal', 'alloy'), finer_than: { conv: 'integer', test: (r, v) => F('finer-inclusive') ? r.fineness >= v : r.fineness > v }, sort: sortP(['fineness', '-fineness', 'fee_pence', '-fee_pence']) } }, (ctx, got) => list('alloy', ctx, got, { order: 'code' }));
on('GET', '/alloys/{code}', 'read alloy', { public: true, etag: true, cache: 'public, max-age=30' }, (ctx) => { const r = db.alloy.get(ctx.path.code); if (!r) no('not_found'); return { status: 200, body: show('alloy', r, null, ctx.v) }; });
const checkMatch = (ctx, row, res) => {
  const m = ctx.req.headers['if-match'];
  if (m === undefined) return;
  if (F('if-match-ignored')) return;
  if (!row) no('stale');
  if (m.trim() === '*') return;
  const tags = [tagOf(show(res, row, ctx.c, ctx.v), ctx.v)]; if (res === 'alloy') tags.push(tagOf(show(res, row, null, ctx.v), ctx.v));
  if (!m.split(',').map((x) => x.trim()).some((x) => tags.includes(x))) no('stale');
};
const tagOf = (body, v) => '"' + crypto.createHash('sha256').update(v + JSON.stringify(body)).digest('base64url').slice(0, 20) + '"';
on('PUT', '/alloys/{code}', 'upsert alloy', { body: 'alloy' }, (ctx) => {
  const code = ctx.path.code, row = db.alloy.get(code);
  checkMatch(ctx, row, 'alloy');
  if (!RES.alloy.fields.code.pattern.test(code)) invalid([{ in: 'path', path: 'code', expected: 'two letters and three digits' }]);
  const out = takeFields('alloy', ctx.body, ctx, 'replace', { bound: { code } });
  if (out.metal === 'platinum' && out.fineness < (F('coarse-at-400') ? 400 : 500) && !F('coarse-passes')) no('coarse');
  if (!F('fineness-twice')) for (const a of db.alloy.values()) if (a.code !== code && a.metal === out.metal && a.fineness === out.fineness) no('taken');
  if (!row) { put('alloy', { ...out, amended_at: iso(now()) }); return { status: F('put-200') ? 200 : 201, body: show('alloy', db.alloy.get(code), ctx.c, ctx.v), location: loc('/alloys/' + code) }; }
  const next = { code, ...out };
  const { amended_at, ...was } = row;
  if (!same(sortKeys(was), sortKeys(next))) { if (!F('put-merges')) for (const f of ['note']) delete row[f]; Object.assign(row, next); if (!F('amended-still')) row.amended_at = iso(now()); }
  else if (F('idle-put-amends')) row.amended_at = iso(now());
  return { status: 200, body: show('alloy', row, ctx.c, ctx.v) };
});
on('DELETE', '/alloys/{code}', 'delete alloy', {}, (ctx) => { const r = loadLive('alloy', ctx.path.code, ctx); if (alloyUse.get(r.code) && !F('alloy-delete-used')) no('in_use'); db.alloy.delete(r.code); return { status: 204 }; });
on('GET', '/quote', 'handler quote', { public: true, since4: true, params: { pieces: { conv: 'integer', min: 1, max: 500, required: true }, speed: { values: () => ['usual', 'urgent'] } } }, (ctx, got) => {
  const speed = got.speed || 'usual';
  const body = { pieces: got.pieces, speed, pence: got.pieces * 450 * (speed === 'urgent' ? 2 : 1), days: speed === 'urgent' ? 1 : 5 };
  if (F('quote-no-days')) delete body.days;
  if (F('quote-pounds')) body.pence = body.pence / 100 + 0.25;
  return { status: 200, body };
});

on('POST', '/marks', 'create mark', { ...ONCE, body: 'mark', rate2: true }, (ctx) => {
  const out = takeFields('mark', ctx.body, ctx, 'create');
  const lower = out.letters.toLowerCase();
  if (!F('letters-twice')) for (const m of db.mark.values()) if (F('letters-case') ? m.letters === out.letters : m.letters.toLowerCase() === lower) no('taken');
  const m = put('mark', { id: 'mrk_' + (F('mark-id-upper') ? hex(10).toUpperCase().slice(0, 8) : hex(10)), maker: ctx.c.id, ...out, registered_at: iso(now()), status: 'live' });
  emit('mark.registered', 'mark', m, (c, v) => { const b = show('mark', m, c, v); if (F('registered-no-letters')) delete b.letters; return b; });
  return { status: 201, body: show('mark', m, ctx.c, ctx.v), location: loc('/marks/' + m.id) };
});
on('GET', '/marks', 'list mark', { ...OFF, params: { outline: splitP((v) => v === OLD ? ['oval', 'lozenge', 'shield'] : ['oval', 'rhombus', 'shield'], 'outline', 'mark') } }, (ctx, got) => list('mark', ctx, got, F('erased-listed') ? { rows: [...db.mark.values(), ...gone.values()] } : {}));
on('GET', '/marks/{id}', 'read mark', {}, (ctx) => ({ status: 200, body: show('mark', loadLive('mark', ctx.path.id, ctx), ctx.c, ctx.v) }));
on('PATCH', '/marks/{id}', 'update mark', { body: 'mark', merge: true }, (ctx) => {
  const m = loadLive('mark', ctx.path.id, ctx);
  const out = takeFields('mark', ctx.body, ctx, 'update', { row: m, refuse: true });
  if (changes(m, out)) apply(m, out);
  return { status: 200, body: show('mark', m, ctx.c, ctx.v) };
});
on('DELETE', '/marks/{id}', 'delete mark', {}, (ctx) => {
  const m = loadLive('mark', ctx.path.id, ctx);
  if (markUse.get(m.id) && !F('mark-delete-used')) no('in_use');
  db.mark.delete(m.id); m.status = 'erased';
  if (!F('erased-not-kept')) { gone.set(m.id, m); const mine = m._goneAt = now(); Object.defineProperty(m, '_goneAt', { enumerable: false }); schedule(now() + (F('kept-longer') ? 45 : F('kept-ten-days') ? 10 : 30) * DAY, () => { if (gone.get(m.id) === m && m._goneAt === mine) gone.delete(m.id); }); }
  emit('mark.erased', 'mark', m, F('erased-whole') ? (c, v) => show('mark', m, c, v) : m.id);
  return { status: F('delete-200') ? 200 : 204, body: F('delete-200') ? {} : undefined };
});
on('POST', '/marks/{id}/reinstate', 'reinstate mark', {}, (ctx) => {
  const r = load('mark', ctx.path.id, ctx);
  if (!r.gone) no('wrong_stage');
  const m = r.gone;
  if (!holds('reinstate mark', ctx.c, m)) no('not_allowed');
  if (!F('reinstate-twin')) for (const x of db.mark.values()) if (x.letters.toLowerCase() === m.letters.toLowerCase()) no('taken');
  gone.delete(m.id); db.mark.set(m.id, m);
  if (!F('reinstate-status')) m.status = 'live';
  emit('mark.reinstated', 'mark', m, (c, v) => show('mark', m, c, v));
  return { status: 200, body: show('mark', m, ctx.c, ctx.v) };
});

const LSTATES = ['draft', 'lodged', 'assaying', 'held', 'released', 'rejected', 'collected', 'forfeited', 'withdrawn', 'lapsed'];
const customsTaken = (maker, ref, not) => { if (ref === undefined || ref === null || F('customs-twice')) return; for (const l of db.lodgement.values()) if (l !== not && l.maker === maker && l.customs_ref === ref) no('taken'); };
on('POST', '/lodgements', 'create lodgement', { ...ONCE, body: 'lodgement' }, (ctx) => {
  const out = takeFields('lodgement', ctx.body, ctx, 'create');
  const m = db.mark.get(out.mark);
  if ((!m || (!canRead('mark', ctx.c, m) && !F('foreign-mark'))) && !F('dangling-mark')) no('dangling', { spots: [{ in: 'body', path: 'mark', expected: 'a mark that is there' }] });
  customsTaken(ctx.c.id, out.customs_ref);
  const t = iso(now());
  const l = put('lodgement', { id: 'lod_' + ulid(), docket: 'C' + String(F('docket-stuck') ? 1 : ++docketNo).padStart(F('docket-short') ? 4 : 6, '0'), maker: ctx.c.id, hall: F('hall-fixed') ? 'london' : ctx.c.hall, ...out, opened_at: t, touched_at: t, status: F('born-lodged') ? 'lodged' : 'draft' });
  if (out.status && F('status-sent-kept')) l.status = out.status;
  bump(markUse, l.mark, 1);
  watchDraft(l);
  emit('lodgement.opened', 'lodgement', l, (c, v) => { const b = show('lodgement', l, c, v); if (F('opened-leaks-pin')) b.pin = l.pin; if (F('opened-note-leak') && l.bench_note) b.bench_note = l.bench_note; return b; });
  return { status: F('create-200') ? 200 : 201, body: show('lodgement', l, ctx.c, ctx.v), location: F('no-location') ? undefined : loc('/lodgements/' + l.id) };
});
on('GET', '/lodgements', 'list lodgement', {
  page: 'cursor', params: {
    status: splitP(() => LSTATES, 'status', 'lodgement'), speed: { ...enumP(['usual', 'urgent'], 'speed', 'lodgement'), since4: true }, mark: eqP('mark'), town: { len: [1, 40], test: (r, v) => F('town-prefix') ? r.return_to.town.startsWith(v[0]) : r.return_to.town === v },
    lightest: { conv: 'integer', test: (r, v) => F('lightest-strict') ? r.declared_grams > v : r.declared_grams >= v }, heaviest: { conv: 'integer', test: (r, v) => F('heaviest-strict') ? r.declared_grams < v : r.declared_grams <= v },
    sort: sortP(['declared_grams', '-declared_grams', 'opened_at', '-opened_at']),
  },
}, (ctx, got) => list('lodgement', ctx, got, { order: '-opened_at', newest: true }));
on('GET', '/lodgements/{id}', 'read lodgement', { etag: true }, (ctx) => ({ status: 200, body: show('lodgement', loadLive('lodgement', ctx.path.id, ctx), ctx.c, ctx.v) }));
on('PATCH', '/lodgements/{id}', 'update lodgement', { body: 'lodgement', merge: true }, (ctx) => {
  const l = loadLive('lodgement', ctx.path.id, ctx);
  if (ctx.req.headers['if-match'] === undefined && !F('tag-not-needed')) no('tag_needed');
  checkMatch(ctx, l, 'lodgement');
  const out = takeFields('lodgement', ctx.body, ctx, 'update', { row: l });
  if (l.status !== 'draft' && !F('patch-any-state')) no('wrong_stage');
  customsTaken(l.maker, out.customs_ref, l);
  if (changes(l, out) || F('idle-patch-touches')) {
    const was = l.speed;
    apply(l, out); touch(l);
    if ((l.speed === 'urgent' && was !== 'urgent') || F('hastened-always')) emit('lodgement.hastened', 'lodgement', l, (c, v) => show('lodgement', l, c, v));
  }
  return { status: 200, body: show('lodgement', l, ctx.c, ctx.v) };
});
function dropPiece(p) { db.piece.delete(p.id); const s = pieceIds.get(p.lodgement); if (s) s.delete(p.id); bump(alloyUse, p.alloy, -1); }
on('DELETE', '/lodgements/{id}', 'delete lodgement', {}, (ctx) => {
  const l = loadLive('lodgement', ctx.path.id, ctx);
  if (!['draft', 'lapsed', 'withdrawn', F('delete-lodged') ? 'lodged' : 'draft'].includes(l.status)) no('wrong_stage');
  if (F('delete-lapsed-refused') && l.status === 'lapsed') no('wrong_stage');
  if (!F('pieces-orphaned')) for (const id of [...(pieceIds.get(l.id) || [])]) dropPiece(db.piece.get(id));
  db.lodgement.delete(l.id); pieceIds.delete(l.id); numbers.delete(l.id); bump(markUse, l.mark, -1);
  emit('lodgement.scrapped', 'lodgement', l, l.id);
  return { status: 204 };
});
const lodgeQuota = new Map();
function transition(name, from, o) {
  on('POST', `/lodgements/{id}/${name}`, name + ' lodgement', { body: o.shape, quota: o.quota }, (ctx) => {
    const l = loadLive('lodgement', ctx.path.id, ctx);
    const sent = o.shape ? takeShape(o.shape, ctx.body) : {};
    if (!from.includes(l.status)) no(o.else || 'wrong_stage');
    if (o.guard) o.guard(l, sent);
    if (o.quota) useQuota(ctx);
    if (o.set) o.set(l, sent);
    moveLodgement(l, typeof o.to === 'function' ? o.to(l) : o.to);
    if (o.then) o.then(l);
    return { status: 200, body: show('lodgement', l, ctx.c, ctx.v) };
  });
}
function useQuota(ctx) {
  const day = iso(now()).slice(0, 10);
  const k = (F('quota-shared') ? '' : ctx.c.id) + '|' + day;
  const n = lodgeQuota.get(k) || 0;
  if (n >= (F('quota-off-one') ? 61 : 60) && !F('no-quota')) no('used_up', { retry: Math.max(1, Math.ceil((Date.parse(day) + DAY - now()) / 1000)) });
  lodgeQuota.set(k, n + 1);
}
transition('lodge', ['draft', ...(F('lodge-again') ? ['lapsed', 'withdrawn'] : [])], { to: 'lodged', quota: true, guard: (l) => { if (!derive.lodgement(l).piece_count && !F('lodge-empty')) no('nothing_inside'); }, set: (l) => { if (!F('lodged-at-unset')) l.lodged_at = iso(now()); } });
transition('begin', ['lodged', ...(F('begin-held') ? ['held'] : [])], { to: 'assaying' });
transition('hold', ['lodged', ...(F('hold-only-lodged') ? [] : ['assaying'])], { to: 'held', shape: 'hold', set: (l, s) => { if (!F('hold-reason-lost')) l.hold_reason = s.reason; } });
transition('unhold', ['held'], { to: F('unhold-to-assaying') ? 'assaying' : 'lodged' });
transition('release', ['assaying'], {
  to: (l) => derive.lodgement(l).failed_count === 0 || F('never-rejected') ? 'released' : 'rejected', guard: (l) => { if (derive.lodgement(l).pending_count && !F('release-pending')) no('still_pending'); },
  set: (l) => { l.collect_by = iso(now() + 30 * DAY); const by = Date.parse(l.collect_by); schedule(F('forfeit-week-late') ? by + 7 * DAY : by, () => { if ((l.status === 'released' || (l.status === 'rejected' && !F('rejected-never-forfeited'))) && !F('never-forfeit')) moveLodgement(l, 'forfeited'); }); },
  then: drawBill,
});
transition('withdraw', ['draft', 'lodged', ...(F('withdraw-assaying') ? ['assaying'] : [])], { to: 'withdrawn', else: 'past_recall' });
transition('collect', ['released', ...(F('collect-released-only') ? [] : ['rejected'])], { to: 'collected', shape: 'collect', guard: (l, s) => { if (s.pin !== l.pin && !F('any-pin')) no('wrong_pin'); } });

on('POST', '/lodgements/{lodgement}/pieces', 'create piece', { ...ONCE, body: 'piece' }, (ctx) => {
  const l = db.lodgement.get(ctx.path.lodgement);
  if (!l || !canRead('lodgement', ctx.c, l)) no('not_found');
  const out = takeFields('piece', ctx.body, ctx, 'create', { bound: { lodgement: l.id } });
  const a = db.alloy.get(out.alloy);
  if (!a && !F('dangling-alloy')) no('dangling', { spots: [{ in: 'body', path: 'alloy', expected: 'an alloy that is there' }] });
  if (l.status !== 'draft' && !F('piece-any-state')) no('sealed_up');
  const n = F('number-global') ? (numbers.set('*', (numbers.get('*') || 0) + 1), numbers.get('*')) : F('number-reused') ? (pieceIds.get(l.id) || new Set()).size + 1 : (numbers.get(l.id) || 0) + 1;
  numbers.set(l.id, n);
  const p = put('piece', { id: F('piece-id-plain') ? 'pc' + hex(8) : crypto.randomUUID(), number: n, maker: ctx.c.id, ...out, fee_pence: a ? (F('fee-flat') ? 500 : a.fee_pence) : 0, status: 'pending' });
  if (!pieceIds.has(l.id)) pieceIds.set(l.id, new Set());
  pieceIds.get(l.id).add(p.id); bump(alloyUse, p.alloy, 1);
  return { status: 201, body: show('piece', p, ctx.c, ctx.v), location: loc('/pieces/' + p.id) };
});
on('GET', '/lodgements/{lodgement}/pieces', 'list piece', OFF, (ctx, got) => {
  const l = db.lodgement.get(ctx.path.lodgement);
  if (!l || !canRead('lodgement', ctx.c, l)) { if (F('parent-unchecked')) return list('piece', ctx, got, { rows: [], order: 'number' }); no('not_found'); }
  return list('piece', ctx, got, { rows: F('siblings-all') ? [...db.piece.values()] : [...(pieceIds.get(l.id) || [])].map((id) => db.piece.get(id)), order: 'number' });
});
on('GET', '/pieces', 'list_all', {
  ...OFF, params: {
    lodgement: eqP('lodgement'), status: enumP(['pending', 'passed', 'failed'], 'status', 'piece'), stones: { conv: 'boolean', test: (r, v) => r.stones === v },
    says: { test: (r, v) => F('says-any-case') ? r.wording.toLowerCase().includes(v.toLowerCase()) : F('says-prefix') ? r.wording.startsWith(v) : r.wording.includes(v) }, heavier_than: { conv: 'integer', test: (r, v) => F('heavier-inclusive') ? r.milligrams >= v : r.milligrams > v }, sort: sortP(['milligrams', '-milligrams']),
  },
}, (ctx, got) => list('piece', ctx, got, {}));
on('GET', '/pieces/{id}', 'read piece', { expand: true }, (ctx, got) => ({ status: 200, body: show('piece', loadLive('piece', ctx.path.id, ctx), ctx.c, ctx.v, { expand: got.with }) }));
const draftOnly = (p) => { if (db.lodgement.get(p.lodgement).status !== 'draft' && !F('sealed-open')) no('sealed'); };
on('PATCH', '/pieces/{id}', 'update piece', { body: 'piece', merge: true }, (ctx) => {
  const p = loadLive('piece', ctx.path.id, ctx);
  const out = takeFields('piece', ctx.body, ctx, 'update', { row: p });
  if (p.status !== 'pending') no('wrong_stage');
  draftOnly(p);
  if (F('alloy-mutable') && out.alloy && db.alloy.has(out.alloy)) { bump(alloyUse, p.alloy, -1); bump(alloyUse, out.alloy, 1); } 
  if (changes(p, out)) apply(p, out);
  return { status: 200, body: show('piece', p, ctx.c, ctx.v) };
});
on('DELETE', '/pieces/{id}', 'delete piece', {}, (ctx) => {
  const p = loadLive('piece', ctx.path.id, ctx);
  if (p.status !== 'pending') no('wrong_stage');
  draftOnly(p);
  if (!F('delete-does-nothing')) dropPiece(p);
  return { status: 204 };
});
const onBench = (p) => { if (db.lodgement.get(p.lodgement).status !== 'assaying') no('not_on_bench'); };
on('POST', '/pieces/{id}/assay', 'assay piece', { body: 'assay', accept: F('assay-with-touch') ? undefined : [['bench']] }, (ctx) => {
  const p = loadLive('piece', ctx.path.id, ctx);
  const s = takeShape('assay', ctx.body);
  if (p.status !== 'pending' && !(F('assay-again') && p.status === 'failed')) no('wrong_stage');
  if (!F('assay-anywhere')) onBench(p);
  const fine = db.alloy.get(p.alloy).fineness;
  if (!F('ppt-unset')) p.ppt = s.ppt;
  p.assayed_by = F('assayed-by-hall') ? ctx.c.hall : ctx.c.id;
  p.status = (F('pass-strict') ? s.ppt > fine : s.ppt >= fine) ? 'passed' : 'failed';
  emit(F('kinds-swapped') ? (p.status === 'passed' ? 'piece.failed' : 'piece.passed') : 'piece.' + p.status, 'piece', p, (c, v) => { const b = show('piece', p, c, v); if (F('passed-no-ppt')) delete b.ppt; if (F('passed-number-text')) b.number = String(b.number); return b; });
  return { status: 200, body: show('piece', p, ctx.c, ctx.v) };
});
on('POST', '/pieces/{id}/retest', 'retest piece', {}, (ctx) => {
  const p = loadLive('piece', ctx.path.id, ctx);
  if (p.status !== 'failed' && !(F('retest-passed') && p.status === 'passed')) no('wrong_stage');
  onBench(p);
  p.status = 'pending';
  return { status: 200, body: show('piece', p, ctx.c, ctx.v) };
});

const hid = { hidden: F('assayer-sorts-money') ? [] : ['assayer'] };
on('GET', '/bills', 'list bill', { ...OFF, params: { status: enumP(['open', 'overdue', 'paid', 'waived'], 'status', 'bill'), lodgement: eqP('lodgement'), due_before: { ...hid, conv: 'date-time', test: (r, v) => F('due-after') ? Date.parse(r.due_at) > v : Date.parse(r.due_at) < v }, sort: sortP(['due_at', '-due_at', 'amount_pence', '-amount_pence'], hid) } }, (ctx, got) => list('bill', ctx, got, {}));
on('GET', '/bills/{id}', 'read bill', {}, (ctx) => ({ status: 200, body: show('bill', loadLive('bill', ctx.path.id, ctx), ctx.c, ctx.v) }));
const openBill = (b, more = []) => { if (!['open', 'overdue', ...more].includes(b.status)) no('closed_bill'); };
on('POST', '/bills/{id}/settle', 'settle bill', { ...ONCE, onceNeeded: !F('once-not-needed'), body: 'settle' }, (ctx) => {
  const b = loadLive('bill', ctx.path.id, ctx);
  const s = takeShape('settle', ctx.body);
  if (F('settle-open-only') && b.status === 'overdue') no('closed_bill');
  openBill(b, F('pay-waived') ? ['waived'] : []);
  const owed = derive.bill(b).total_pence;
  if (F('overpay-passes') ? s.pence < owed : F('underpay-passes') ? s.pence > owed : s.pence !== owed) no('wrong_sum');
  b.status = 'paid'; if (!F('method-lost')) b.method = s.method; if (!F('paid-at-unset')) b.paid_at = iso(now());
  emit('bill.closed', 'bill', b, (c, v) => show('bill', b, c, v));
  return { status: 200, body: show('bill', b, ctx.c, ctx.v) };
});
on('POST', '/bills/{id}/waive', 'waive bill', { body: 'waive', accept: F('waive-either') ? undefined : [['touch', 'bench']] }, (ctx) => {
  const b = loadLive('bill', ctx.path.id, ctx);
  const s = takeShape('waive', ctx.body);
  openBill(b, F('waive-paid') ? ['paid'] : []);
  b.status = F('waive-as-paid') ? 'paid' : 'waived'; b.waived_why = s.why;
  if (!F('waive-silent')) emit('bill.closed', 'bill', b, (c, v) => show('bill', b, c, v));
  return { status: 200, body: show('bill', b, ctx.c, ctx.v) };
});

on('POST', '/listeners', 'create listener', { ...ONCE, body: 'listener' }, (ctx) => {
  const out = takeFields('listener', ctx.body, ctx, 'create');
  let n = 0; for (const l of db.listener.values()) if (l.owner === ctx.c.id) n++;
  if (n >= (F('seven-listeners') ? 7 : F('five-listeners') ? 5 : 6)) no('used_up');
  const l = put('listener', { id: 'lst_' + hex(12), owner: ctx.c.id, ...out, secret: F('secret-fixed') ? 'changeme' : random(32) });
  Object.defineProperty(l, '_caller', { value: ctx.c, enumerable: false }); Object.defineProperty(l, '_v', { value: F('listener-always-current') ? CUR : ctx.v, enumerable: false });
  return { status: 201, body: show('listener', l, ctx.c, ctx.v, { reveal: !F('secret-never') }), again: show('listener', l, ctx.c, ctx.v, { reveal: F('secret-replayed') }), location: loc('/listeners/' + l.id) };
});
on('GET', '/listeners', 'list listener', OFF, (ctx, got) => list('listener', ctx, got, {}));
on('GET', '/listeners/{id}', 'read listener', {}, (ctx) => ({ status: 200, body: show('listener', loadLive('listener', ctx.path.id, ctx), ctx.c, ctx.v) }));
on('PATCH', '/listeners/{id}', 'update listener', { body: 'listener', merge: true }, (ctx) => {
  const l = loadLive('listener', ctx.path.id, ctx);
  const out = takeFields('listener', ctx.body, ctx, 'update', { row: l });
  if (changes(l, out)) apply(l, out);
  return { status: 200, body: show('listener', l, ctx.c, ctx.v) };
});
on('DELETE', '/listeners/{id}', 'delete listener', {}, (ctx) => { const l = loadLive('listener', ctx.path.id, ctx); db.listener.delete(l.id); queues.delete(l.id); return { status: 204 }; });
on('GET', '/journal', 'list entry', { ...OFF, params: { kind: eqP('kind'), subject: eqP('subject') } }, (ctx, got) => list('entry', ctx, got, { order: '-at', newest: true }));

// ---------- routing ----------
function findRoute(pathname) {
  if (pathname !== BASE && !pathname.startsWith(BASE + '/')) return null;
  const parts = pathname.slice(BASE.length + 1).split('/');
  const found = [];
  for (const ep of eps) {
    if (ep.parts.length !== parts.length) continue;
    const path = {}; let ok = true;
    for (let i = 0; i < parts.length; i++) {
      const p = ep.parts[i];
      if (p[0] === '{') { let d; try { d = decodeURIComponent(parts[i]); } catch { ok = false; break; } if (d === '') { ok = false; break; } path[p.slice(1, -1)] = d; } else if (p !== parts[i]) { ok = false; break; }
    }
    if (ok) found.push({ ep, path });
  }
  return found.length ? found : null;
}

// ---------- rates ----------
const RATES = [{ limit: F('rate-double') ? 2400 : 1200, window: MIN, use: new Map() }, { limit: F('mark-rate-off-one') ? 151 : 150, window: F('mark-rate-hour') ? HOUR : 10 * MIN, use: new Map(), on: (op) => op === 'create mark' }];
function countRates(ctx) {
  const who = F('rate-for-all') ? '*' : ctx.c ? ctx.c.user + '/' + ctx.c.id : '@' + ctx.req.socket.remoteAddress;
  const t = now();
  const hit = RATES.filter((r) => !r.on || r.on(ctx.op)).map((r) => {
    let w = r.use.get(who);
    if (!w || t - w.at >= r.window) { w = { at: t, n: 0 }; r.use.set(who, w); }
    return { r, w };
  });
  const over = hit.filter(({ r, w }) => w.n >= r.limit && !(F('no-mark-rate') && r.on));
  const tell = (xs) => {
    const { r, w } = xs.reduce((a, b) => (b.r.limit - b.w.n < a.r.limit - a.w.n ? b : a));
    if (F('no-rate-headers')) return;
    ctx.headers['Cupel-Allowance'] = r.limit; ctx.headers['Cupel-Left'] = F('left-stuck') ? r.limit : Math.max(0, r.limit - w.n); ctx.headers['Cupel-Reset'] = F('reset-unix') ? Math.ceil((w.at + r.window) / 1000) : Math.max(0, Math.ceil((w.at + r.window - t) / 1000));
  };
  if (over.length) { tell(over); no('slow_down', { retry: F('no-retry-after') ? undefined : Math.max(1, ...over.map(({ r, w }) => Math.ceil((w.at + r.window - t) / 1000))) }); }
  for (const x of hit) x.w.n++;
  tell(hit);
}

// ---------- authentication ----------
const CHALLENGE = { touch: (bad) => 'Touch realm="Cupel"' + (bad ? ', error="invalid_key"' : ''), bench: (bad) => 'ApiKey realm="Cupel", in="header", name="X-Bench-Pass"' + (bad ? ', error="invalid_key"' : '') };
function authenticate(ctx) {
  const alts = ctx.ep.accept || [['touch'], ['bench']];
  const schemes = [...new Set(alts.flat())];
  const raw = ctx.req.rawHeaders;
  const all = (n) => { const o = []; for (let i = 0; i < raw.length; i += 2) if (raw[i].toLowerCase() === n) o.push(raw[i + 1]); return o; };
  const shown = {}; const badOnes = {};
  if (schemes.includes('touch')) {
    const h = all('authorization');
    if (h.length) { const m = h.length === 1 && /^touch +(\S+) *$/i.exec(h[0]); const c = m && Object.hasOwn(TOUCH, m[1]) ? TOUCH[m[1]] : F('any-touch') && m ? CALLERS[0] : null; if (c) shown.touch = c; else badOnes.touch = true; }
  }
  if (schemes.includes('bench')) {
    const h = all('x-bench-pass');
    if (h.length) { const c = h.length === 1 && Object.hasOwn(BENCH, h[0].trim()) ? BENCH[h[0].trim()] : null; if (c) shown.bench = c; else badOnes.bench = true; }
  }
  const deny = () => no('who_are_you', { challenge: schemes.map((s) => CHALLENGE[s](Object.keys(badOnes).length > 0)) });
  if (Object.keys(badOnes).length && !(F('bad-bench-ignored') && shown.touch)) deny();
  if (F('no-wardens')) for (const x of Object.values(shown)) if (x.user === 'warden') deny();
  const cs = [...new Set(Object.values(shown))];
  if (cs.length > 1 && !F('two-callers')) deny();
  if (F('anonymous-lists') && !cs.length && ctx.op === 'list mark') return CALLERS[5];
  if (!alts.some((a) => a.every((s) => shown[s]))) deny();
  return cs[0];
}

// ---------- idempotency ----------
const onceStore = new Map();

// ---------- the server ----------
const TRACE = () => 'tr' + hex(14);
function answer(ctx, res, status, body, extra = {}) {
  if (res.headersSent || res.writableEnded) return;
  const h = { ...ctx.headers };
  if (!F('no-trace')) h['Cupel-Trace'] = ctx.trace;
  if (!F('edition-unnamed')) h['Cupel-Edition'] = F('edition-always-4') ? CUR : ctx.v;
  h.Vary = F('vary-short') ? 'Authorization, X-Bench-Pass' : 'Cupel-Edition, Authorization, X-Bench-Pass';
  if (ctx.v === OLD && ctx.vKnown) {
    if (!F('no-deprecation')) h.Deprecation = F('deprecation-wrong-day') ? '@' + Date.parse('2026-06-01T00:00:00Z') / 1000 : '@' + Date.parse('2026-05-01T00:00:00Z') / 1000;
    if (!F('no-sunset')) h.Sunset = new Date(LEGACY_SUNSET).toUTCString();
    if (!F('no-successor')) h.Link = `<https://cupel.example/editions>; rel="deprecation", <${ctx.target}>; rel="successor-version"`;
  } else if (F('current-deprecated')) h.Deprecation = '@' + Date.parse('2026-05-01T00:00:00Z') / 1000;
  Object.assign(h, extra);
  for (const k of Object.keys(h)) if (h[k] === undefined) delete h[k];
  if (body === undefined) { if (status !== 204 && status !== 304) h['Content-Length'] = 0; res.writeHead(status, h); res.end(); return; }
  const buf = Buffer.from(JSON.stringify(body));
  h['Content-Type'] = F('text-plain') ? 'text/plain' : 'application/json'; h['Content-Length'] = buf.length;
  res.writeHead(status, h);
  res.end(ctx.req.method === 'HEAD' ? undefined : buf);
}
function refusalOf(e, ctx) {
  let code = e.code; const status = CODES[code];
  if (CODEFAULT[FAULT] && CODEFAULT[FAULT][0] === code) code = CODEFAULT[FAULT][1];
  const spots = e.o.spots && e.o.spots.length ? e.o.spots.map((x) => ({ in: x.in, path: F('paths-pointer') ? '/' + x.path.replaceAll('.', '/') : x.path, expected: x.expected })) : undefined;
  let body = { refusal: { code, text: F('wrong-message') && code === 'nothing_inside' ? 'Refused.' : TEXT[code] || code.replaceAll('_', ' '), spots }, trace: ctx.trace };
  if (F('error-flat')) body = { code, text: body.refusal.text, trace: ctx.trace };
  if (F('error-no-text')) delete body.refusal.text;
  if (F('error-no-trace')) delete body.trace;
  if (F('error-no-spots') && body.refusal) delete body.refusal.spots;
  const extra = {};
  if (!F('no-refusal-header')) extra['Cupel-Refusal'] = code;
  if (e.o.retry) extra['Retry-After'] = e.o.retry;
  if (e.o.challenge && !F('no-challenge')) extra['WWW-Authenticate'] = e.o.challenge;
  if (e.o.allow && !F('no-allow')) extra.Allow = e.o.allow;
  return { status, body, extra };
}
function refuse(e, ctx, res) {
  if (!(e instanceof Refusal)) { console.error(e); e = new Refusal('broken'); }
  const r = refusalOf(e, ctx);
  answer(ctx, res, r.status, r.body, r.extra);
  ctx.req.resume();
}
const BODY_MAX = F('body-nine') ? 9216 : F('body-small') ? 4096 : 8192;
function handle(req, res) {
  due();
  const ctx = { req, trace: TRACE(), headers: {}, v: CUR, vKnown: false, target: req.url };
  try {
    // 1: sizes
    if (Buffer.byteLength(req.url) > (F('url-four') ? 4096 : 2048)) no('too_long');
    let hs = 0; for (let i = 0; i < req.rawHeaders.length; i += 2) hs += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
    if (hs > 8192 && !F('headers-unbounded')) no('too_large');
    // 2: route, method, version
    const qi = req.url.indexOf('?');
    const pathname = qi < 0 ? req.url : req.url.slice(0, qi);
    ctx.query = [...new URLSearchParams(qi < 0 ? '' : req.url.slice(qi + 1))];
    const wanted = req.headers['cupel-edition'];
    if (wanted === OLD && !(now() >= LEGACY_SUNSET)) { ctx.v = OLD; ctx.vKnown = true; }
    let found = findRoute(pathname);
    if (found && ctx.v === OLD && !F('v3-quote')) { found = found.filter((x) => !x.ep.since4); if (!found.length) found = null; }
    if (!found) no('no_such_path');
    const methods = [...new Set(found.flatMap((x) => x.ep.method === 'GET' ? ['GET', 'HEAD'] : [x.ep.method]))]; methods.push('OPTIONS');
    if (req.method === 'OPTIONS') { req.resume(); return answer(ctx, res, 204, undefined, { Allow: methods.join(', ') }); }
    const hit = found.find((x) => x.ep.method === (req.method === 'HEAD' && !F('head-405') ? 'GET' : req.method));
    if (!hit) no(F('method-as-path') ? 'no_such_path' : 'no_such_verb', { allow: methods.join(', ') });
    ctx.ep = hit.ep; ctx.path = hit.path; ctx.op = hit.ep.op;
    if (wanted !== undefined && wanted !== OLD && wanted !== CUR && !F('edition-anything')) no('no_edition');
    if (wanted === OLD && now() >= LEGACY_SUNSET) { ctx.v = OLD; ctx.vKnown = true; if (!F('sunset-serves')) no('old_edition'); }
    if (wanted === undefined && F('default-oldest')) { ctx.v = OLD; ctx.vKnown = true; }
    // 4-6
    if (!ctx.ep.public || (F('alloys-need-key') && ctx.op === 'list alloy')) ctx.c = authenticate(ctx);
    countRates(ctx);
    if (F('parameters-before-user')) readParams(ctx.ep, ctx);
    if (ctx.c && !ctx.ep.public) {
      const r = P[ctx.op] && P[ctx.op][ctx.c.user];
      if (!r) no('not_allowed');
      if (r.scopes && !r.scopes.every((s) => ctx.c.scopes.includes(s))) no('scope_short');
    }
    // 8: parameters, then the body
    let got = null;
    if (!F('body-before-parameters')) got = readParams(ctx.ep, ctx);
    const key = req.headers['cupel-once'];
    if (ctx.ep.onceNeeded && key === undefined) no('bad_query', { spots: [{ in: 'header', path: 'Cupel-Once', expected: 'a value' }] });
    const rest = (raw) => { try { const r = after(ctx, got, raw, key); answer(ctx, res, r.status, r.body, r.extra); } catch (e) { refuse(e, ctx, res); } };
    if (req.method === 'GET' || req.method === 'HEAD') { req.resume(); return rest(null); }
    // the body
    const chunks = []; let size = 0, done = false;
    const stop = (e) => { if (done) return; done = true; clearTimeout(timer); refuse(e, ctx, res); };
    const timer = setTimeout(() => { res.setHeader('Connection', 'close'); stop(new Refusal('too_slow')); setTimeout(() => req.socket.destroy(), 500).unref(); }, F('slow-body-allowed') ? 60000 : 10000);
    if (ctx.ep.body && req.headers['content-type'] !== undefined && !mediaOk(req.headers['content-type'], ctx.ep)) return stop(new Refusal('odd_media'));
    if (ctx.ep.body && req.headers['content-type'] === undefined && (Number(req.headers['content-length']) > 0 || req.headers['transfer-encoding']) && !F('any-media')) return stop(new Refusal('odd_media'));
    const len = Number(req.headers['content-length']);
    if (len > BODY_MAX) return stop(new Refusal('too_large'));
    req.on('data', (c) => { if (done) return; size += c.length; if (size > BODY_MAX) return stop(new Refusal('too_large')); chunks.push(c); });
    req.on('end', () => { if (done) return; done = true; clearTimeout(timer); due(); rest(Buffer.concat(chunks)); });
    req.on('error', () => { done = true; clearTimeout(timer); });
    req.on('close', () => clearTimeout(timer));
  } catch (e) { refuse(e, ctx, res); }
}
function mediaOk(t, ep) { if (F('any-media')) return true; const m = t.split(';')[0].trim().toLowerCase(); return m === 'application/json' || (ep.merge && m === 'application/merge-patch+json' && !F('no-merge-patch')); }
const utf8 = new TextDecoder('utf-8', { fatal: true });
function after(ctx, got, raw, key) {
  const { ep, req } = ctx;
  if (ep.body) {
    if (!raw || !raw.length) { if (F('empty-body-map')) raw = Buffer.from('{}'); else no('garbled'); }
    try { ctx.body = JSON.parse(utf8.decode(raw)); } catch { no('garbled'); }
  }
  if (got === null) got = readParams(ep, ctx);
  // 9: keys
  let slot = null;
  const keyed = ep.once && key !== undefined && !F('once-ignored') && !(F('once-ignored-settle') && ctx.op === 'settle bill') && !(F('once-ignored-piece') && ctx.op === 'create piece');
  if (keyed) {
    const id = (F('once-shared') ? '' : ctx.c.user + '/' + ctx.c.id) + '|' + ctx.op + '|' + key;
    const print = crypto.createHash('sha256').update(JSON.stringify([req.url, ctx.v, ctx.body === undefined ? null : ctx.body])).digest('hex');
    const old = onceStore.get(id);
    if (old && now() - old.at < (F('once-short') ? HOUR : F('once-forever') ? 1e15 : 12 * HOUR)) {
      if (old.print !== print && !F('once-any-body')) no('once_only');
      return { status: old.status, body: old.body, extra: { ...old.extra } };
    }
    slot = (r) => onceStore.set(id, { at: now(), print, ...r });
  }
  let r;
  try { r = ep.fn(ctx, got); } catch (e) {
    if (slot && e instanceof Refusal && TEXT[e.code]) { const f = refusalOf(e, ctx); if (!F('once-forgets-refusals')) slot({ status: f.status, body: f.body, extra: f.extra }); }
    throw e;
  }
  const extra = {};
  if (r.location) extra.Location = r.location;
  if (ep.cache && !F('no-cache-control')) extra['Cache-Control'] = ep.cache;
  if (ep.etag && !F('no-etag')) {
    const tag = F('etag-weak') ? 'W/' + tagOf(r.body, ctx.v) : F('etag-constant') ? '"v1"' : tagOf(r.body, ctx.v);
    extra.ETag = tag;
    const inm = req.headers['if-none-match'];
    if (inm !== undefined && !F('never-304') && (inm.trim() === '*' || inm.split(',').map((x) => x.trim().replace(/^W\//, '')).includes(tag.replace(/^W\//, '')))) return { status: 304, body: undefined, extra };
  }
  if (slot) slot({ status: r.status, body: r.again || r.body, extra });
  return { status: r.status, body: r.body, extra };
}
const server = http.createServer({ maxHeaderSize: 64 * 1024, requestTimeout: 0, headersTimeout: 10000, keepAliveTimeout: 60000, connectionsCheckingInterval: 1000 }, handle);
server.on('clientError', (e, socket) => {
  if (!socket.writable) return socket.destroy();
  const slow = e.code === 'ERR_HTTP_REQUEST_TIMEOUT', big = e.code === 'HPE_HEADER_OVERFLOW';
  const code = slow ? 'too_slow' : big ? 'too_large' : 'garbled', trace = TRACE();
  const body = JSON.stringify({ refusal: { code, text: code.replaceAll('_', ' ') }, trace });
  socket.end(`HTTP/1.1 ${CODES[code]} X\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nCupel-Trace: ${trace}\r\nCupel-Refusal: ${code}\r\nCupel-Edition: 4\r\nConnection: close\r\n\r\n${body}`);
});
server.listen(PORT, '127.0.0.1');

// ---------- the door to the clock ----------
function addDuration(t, d) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(d);
  if (!m || d === 'P' || d.endsWith('T')) return null;
  const n = m.slice(1).map((x) => Number(x || 0));
  const x = new Date(t);
  if (n[0] || n[1]) { const day = x.getUTCDate(); x.setUTCDate(1); x.setUTCMonth(x.getUTCMonth() + n[1] + 12 * n[0]); const last = new Date(Date.UTC(x.getUTCFullYear(), x.getUTCMonth() + 1, 0)).getUTCDate(); x.setUTCDate(Math.min(day, last)); }
  return x.getTime() + n[2] * 7 * DAY + n[3] * DAY + n[4] * HOUR + n[5] * MIN + n[6] * 1000;
}
if (CLOCK) http.createServer((req, res) => {
  const chunks = [];
  const say = (s, b) => { const t = JSON.stringify(b); res.writeHead(s, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
  req.on('data', (c) => chunks.push(c));
  req.on('end', () => {
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    if (req.method !== 'POST') return say(400, { error: 'GET or POST' });
    let b; try { b = JSON.parse(Buffer.concat(chunks).toString()); } catch { return say(400, { error: 'no JSON' }); }
    let to = null;
    const t = now();
    if (b && typeof b.advance === 'string') to = addDuration(t, b.advance);
    else if (b && typeof b.now === 'string' && conv['date-time'](b.now) !== undefined) to = conv['date-time'](b.now);
    if (to === null) return say(400, { error: 'advance or now' });
    if (to < t - (b.now ? 0 : 0)) return say(422, { error: 'that time has passed' });
    offset += to - t;
    due(); pump();
    setTimeout(() => { due(); say(200, { now: iso(now()) }); }, 30);
  });
}).listen(CLOCK, '127.0.0.1');
