// Linnaea Herbarium Exchange: the service that service.yaml states. In memory, nothing but Node.
import http from 'node:http';
import https from 'node:https';
import crypto from 'node:crypto';

const arg = (n) => { const i = process.argv.indexOf(n); return i > 0 ? process.argv[i + 1] : undefined; };
const FAULT = arg('--fault') || '';
const f = (id) => FAULT === id;

// ---------------------------------------------------------------- clock
let offset = 0;
let tx = null; // the change that is being made: it has one moment
const now = () => (tx ? tx.now : Date.now() + offset);
const iso = (t) => new Date(t).toISOString();
const DAY = 86400000;
const httpDate = (t) => new Date(t).toUTCString();

// ---------------------------------------------------------------- callers
const TITLE = 'Linnaea Herbarium Exchange';
const C = (user, id, house, scopes) => ({ user, id, house, scopes });
const people = {
  alva: C('keeper', 'k-alva', 'UPS', ['curate']), bror: C('keeper', 'k-bror', 'GB', ['curate']), cleo: C('keeper', 'k-cleo', 'UPS', []),
  dan: C('scholar', 's-dan', 'UPS', ['loans', 'opine']), eva: C('scholar', 's-eva', 'GB', ['loans', 'opine']),
  fia: C('scholar', 's-fia', 'UPS', ['loans', 'opine']), gus: C('scholar', 's-gus', 'GB', ['loans']),
  hal: C('auditor', 'a-hal', 'UPS', []), ida: C('auditor', 'a-ida', 'GB', []),
};
const tickets = new Map([['tk_alva0000aaaa1111bbbb2222', people.alva], ['tk_bror0000aaaa1111bbbb2222', people.bror], ['tk_dan00000aaaa1111bbbb2222', people.dan],
  ['tk_gus00000aaaa1111bbbb2222', people.gus], ['tk_ida00000aaaa1111bbbb2222', people.ida]]);
const badges = new Map([['bd_cleo0000cccc3333dddd4444', people.cleo], ['bd_eva00000cccc3333dddd4444', people.eva], ['bd_hal00000cccc3333dddd4444', people.hal]]);
const seals = new Map([['key_fia', { secret: 'seal-secret-of-fia-0123456789abcdef', caller: people.fia }]]);
if (f('users-merged')) seals.get('key_fia').caller = { ...people.fia, user: 'keeper' };

// ---------------------------------------------------------------- errors
const CODES = {};
const code = (name, status, grade, when, message, on) => { CODES[name] = { name, status, grade, when: when || [], message, on }; };
code('no_body', 400, 'form', ['request.missing'], 'A body is asked for.');
code('bad_body', 400, 'form', ['request.malformed']);
code('wrong_media', 415, 'form', ['request.media']);
code('unacceptable', 406, 'form', ['request.accept']);
code('bad_parameter', 400, 'form', ['request.parameter']);
code('bad_page', 416, 'form', ['limit.page']);
code('field_missing', 422, 'form', ['request.invalid.missing'], '{name} is missing');
code('field_unknown', 422, 'form', ['request.invalid.unknown'], '{name} is not known');
code('field_invalid', 422, 'form', ['request.invalid'], '{name} is {found}, not {expected}');
code('no_such_path', 404, 'form', ['route.unknown']);
code('no_such_method', 405, 'form', ['method.unsupported']);
code('who_are_you', 401, 'caller', ['caller.unknown.missing']);
code('seal_is_old', 401, 'caller', ['caller.unknown.expired']);
code('bad_credential', 401, 'caller', ['caller.unknown']);
code('scope_lacking', 403, 'caller', ['caller.forbidden.scope']);
code('not_for_you', 403, 'caller', ['caller.forbidden']);
code('foreign_house', 403, 'caller', [], 'Another house keeps this sheet.');
code('not_found', 404, 'row', ['resource.missing']);
code('withdrawn', 410, 'row', ['resource.gone']);
code('exists', 409, 'row', ['resource.exists']);
code('dangling', f('er-dangling-status') ? 404 : 422, 'row', ['reference.missing']);
code('held', 409, 'row', ['reference.held']);
code('sheet_away', 409, 'state', ['transition.illegal'], undefined, ['lend sheet']);
code('wrong_state', 409, 'state', ['transition.illegal']);
code('not_ready', 422, 'state', ['transition.illegal.condition']);
code('tag_changed', 412, 'row', ['precondition.failed']);
code('tag_missing', 428, 'row', ['precondition.required']);
code('key_reused', 422, 'form', ['idempotency.reused']);
code('too_fast', 429, 'limit', ['limit.rate']);
code('used_up', 403, 'limit', ['limit.quota']);
code('long_address', 414, 'limit', ['limit.size.url']);
code('long_headers', 431, 'limit', ['limit.size.headers']);
code('too_large', 413, 'limit', ['limit.size']);
code('too_slow', 408, 'limit', ['limit.time']);
code('no_edition', 404, 'form', ['version.unknown']);
code('old_edition', 410, 'form', ['version.sunset']);
code('broken', 500, 'service', ['internal']);
code('too_late', 409, 'state', [], 'The loan was sent or is over.');
code('not_at_hand', 409, 'state', [], 'The sheet is lent.');
code('extended_enough', 409, 'state', [], 'A loan is extended twice at the most.');
code('too_long', 409, 'rule', [], 'A loan of more than 120 days is declined.');
code('not_yet_gathered', 422, 'rule', [], 'It was gathered after today.');
code('cabinet_shut', 409, 'rule', [], 'The cabinet is shut.');
code('too_full', 409, 'rule', [], 'More sheets are in it.');
code('no_freezer', 409, 'rule', [], 'The house has no cabinet F1.');
code('other_house', 409, 'rule', [], 'Another house keeps this sheet.');

const SAYS = {
  bad_body: 'The body cannot be read.', wrong_media: 'This media type is not taken.', unacceptable: 'Only application/json is given.', bad_parameter: 'A parameter is wrong.',
  bad_page: 'There is no such page.', no_such_path: 'There is no such path.', no_such_method: 'There is no such method here.', who_are_you: 'A credential is asked for.',
  seal_is_old: 'The seal is too old.', bad_credential: 'The credential is not good.', scope_lacking: 'A scope is lacking.', not_for_you: 'This is not for you.', not_found: 'There is none.',
  withdrawn: 'It was deleted.', exists: 'There is one already.', dangling: 'What it refers to is not there.', held: 'Others refer to it.', sheet_away: 'A sheet is not in its cabinet.',
  wrong_state: 'It is in another state.', not_ready: 'It is not ready for this.', tag_changed: 'It was changed.', tag_missing: 'If-Match is asked for.', key_reused: 'The key was used for another request.',
  too_fast: 'Too many requests.', used_up: 'No more of these.', long_address: 'The address is too long.', long_headers: 'The headers are too large.', too_large: 'The body is too large.',
  too_slow: 'It took too long.', no_edition: 'There is no such edition.', old_edition: 'This edition has ended.', broken: 'Something broke.',
};
class Refusal extends Error {
  constructor(cond, o = {}) { super(cond); this.cond = cond; Object.assign(this, o); }
}
const refuse = (cond, o) => { throw new Refusal(cond, o); };
const own = (name, o = {}) => { throw new Refusal('own', { code: name, own: true, ...o }); };
function codeOf(e) {
  if (e.code) return CODES[e.code];
  for (let c = e.cond; c; c = c.includes('.') ? c.slice(0, c.lastIndexOf('.')) : '') {
    for (const k of Object.values(CODES)) if (k.when.includes(c) && k.on && k.on.includes(e.op)) return k;
    for (const k of Object.values(CODES)) if (k.when.includes(c) && !k.on) return k;
  }
  return CODES.broken;
}

// ---------------------------------------------------------------- resources
const rnd = (n, alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789') => {
  let s = ''; for (let i = 0; i < n; i++) s += alphabet[crypto.randomInt(alphabet.length)]; return s;
};
const CROCK = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ulid = () => { let t = now(), s = ''; for (let i = 0; i < 10; i++) { s = CROCK[t % 32] + s; t = Math.floor(t / 32); } return s + rnd(16, CROCK); };
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789';

const str = (o = {}) => ({ t: 'string', ...o });
const int = (o = {}) => ({ t: 'integer', ...o });
const bool = (o = {}) => ({ t: 'boolean', ...o });
const ref = (to, o = {}) => ({ t: 'string', ref: to, ...o });
const time = (o = {}) => ({ t: 'string', format: 'date-time', ...o });

const KINDS = ['sheet.made', 'sheet.renamed', 'sheet.lent', 'loan.sent', 'loan.late', 'loan.ended', 'loan.soon', 'determination.decided'];
const topicOk = (x) => x === '*' || KINDS.includes(x) || (x.endsWith('.*') && KINDS.some((k) => k.startsWith(x.slice(0, -1))));

const R = {
  place: { fields: { country: str({ pattern: /^[A-Z]{2}$/, req: 1 }), region: str({ min: 1, max: 60 }), label: str({ ro: 1, req: 1 }) } },
  taxon: {
    idf: 'code', fields: {
      code: str({ pattern: /^[a-z][a-z0-9-]{1,39}$/, req: 1 }), name: str({ min: 3, max: 80, req: 1 }), rank: str({ enum: ['family', 'genus', 'species'], req: 1 }),
      parent: ref('taxon', { od: 'restrict' }), protected: bool({ def: false, req: 1 }), synonyms: { t: 'array', items: str({ min: 1, max: 80 }), maxItems: 5, unique: 1 },
      sheets: int({ ro: 1, req: 1, derive: (r) => count('sheet', 'taxon', r.code) }),
    },
    unique: [{ fields: ['name'], fold: !f('res-name-case') }],
    rules: [{ if: (n) => n.rank === 'species' && n.parent === undefined, field: 'parent', message: 'a genus above the species' }],
  },
  cabinet: {
    idf: 'id', id: () => 'cab_' + crypto.randomBytes(5).toString('hex'), fields: {
      id: str({ ro: 1, req: 1 }), house: str({ ro: 1, req: 1, set: { create: (x) => x.caller.house } }), label: str({ pattern: /^[A-Z][0-9]{1,3}$/, imm: 1, req: 1 }),
      ordinal: int({ ro: 1, req: 1, count: 'house' }), capacity: int({ lo: 1, hi: 200, def: 20, req: 1 }), shut: bool({ def: false, req: 1 }),
      held: int({ ro: 1, req: 1, derive: (r) => count('sheet', 'cabinet', r.id) }), free: int({ ro: 1, req: 1, derive: (r) => r.capacity - count('sheet', 'cabinet', r.id) }),
    },
    unique: [{ fields: ['house', 'label'] }],
  },
  sheet: {
    idf: 'id', id: () => 'SH' + rnd(10, UPPER), fields: {
      id: str({ ro: 1, req: 1 }), house: str({ ro: 1, req: 1, set: { create: (x) => x.caller.house } }),
      accession: str({ ro: 1, req: 1, count: f('res-accession') ? '*' : 'house', text: (n) => 'ACC-' + String(n).padStart(5, '0') }),
      barcode: str({ pattern: /^[A-Z]{2,3}[0-9]{6}$/, imm: f('res-barcode') ? 0 : 1, req: 1 }), taxon: ref('taxon', { od: 'restrict', req: 1 }), cabinet: ref('cabinet', { od: 'clear' }),
      gathered_on: str({ format: 'date', req: 1 }), gathered_by: str({ min: 2, max: 60, req: 1 }), place: { t: 'place', req: 1 }, size_mm: int({ lo: 50, hi: 900, req: 1 }),
      exact_spot: str({ min: 1, max: 120, vis: ['keeper'], wr: ['keeper'] }), location: str({ ro: 1, req: 1, enum: ['in_cabinet', 'lent', 'quarantine'] }),
      review: str({ state: 1, req: 1, enum: ['unseen', 'verified', 'doubted'] }), opinions: int({ ro: 1, req: 1, derive: (r) => count('determination', 'sheet', r.id) }),
      best: int({ ro: 1, derive: (r) => { const a = refs('determination', 'sheet', r.id).filter((d) => f('res-best') || d.standing !== 'rejected').map((d) => d.confidence); return a.length ? Math.max(...a) : undefined; } }),
      changed_at: time({ ro: 1, req: 1, set: { write: () => iso(now()) } }),
    },
    unique: [{ fields: ['house', 'barcode'] }],
  },
  loan: {
    idf: 'id', id: () => 'ln_' + ulid(), fields: {
      id: str({ ro: 1, req: 1 }), house: str({ pattern: /^[A-Z]{2,3}$/, imm: 1, req: 1 }), borrower: str({ ro: 1, req: 1, set: { create: (x) => x.caller.id } }), aim: str({ min: 5, max: 200, req: 1 }),
      reference: str({ min: 1, max: 20 }), days: int({ lo: 7, hi: 180, def: 60, req: 1 }), lines: { t: 'lines', minItems: 1, maxItems: 6, req: 1 },
      valuation: int({ lo: 0, hi: 1000000, vis: ['keeper'], wr: ['keeper'] }), status: str({ ro: 1, req: 1, enum: ['requested', 'approved', 'declined', 'sent', 'overdue', 'returned', 'returned_late', 'cancelled', 'lapsed'] }),
      extensions: int({ ro: 1, req: 1, def: 0, set: { extend: (x) => x.resource.extensions + 1 } }), asked_at: time({ ro: 1, req: 1, set: { create: () => iso(now()) } }),
      due_at: time({ ro: 1, set: { send: (x) => iso(now() + x.next.days * DAY), extend: (x) => iso((x.resource.due_at !== undefined ? Date.parse(x.resource.due_at) : now()) + x.request.days * DAY) } }),
      ended_at: time({ ro: 1, set: { return: () => iso(now()), cancel: () => iso(now()) } }),
    },
    unique: [{ fields: ['borrower', 'reference'], while: (n) => ['requested', 'approved', 'sent', 'overdue'].includes(n.status) }],
  },
  line: {
    idf: 'id', id: () => 'li_' + rnd(12), fields: {
      id: str({ ro: 1, req: 1 }), loan: ref('loan', { od: 'cascade', req: 1 }), sheet: ref('sheet', { od: 'restrict', req: 1 }), position: int({ lo: 1, hi: 50, req: 1 }),
    },
    unique: [{ fields: ['loan', 'sheet'] }],
  },
  determination: {
    idf: 'id', id: () => 'det_' + crypto.randomUUID(), keep: 30 * DAY, fields: {
      id: str({ ro: 1, req: 1 }), sheet: ref('sheet', { imm: 1, od: 'cascade', req: 1 }), house: str({ ro: 1, req: 1, set: { create: (x) => T.sheet.get(x.next.sheet).house } }),
      by: str({ ro: 1, req: 1, set: { create: (x) => x.caller.id } }), taxon: ref('taxon', { od: 'restrict', req: 1 }), confidence: int({ lo: 1, hi: 5, req: 1 }),
      standing: str({ ro: 1, req: 1 }), made_at: time({ ro: 1, req: 1, set: { create: () => iso(now()) } }),
      decided_by: str({ ro: 1, set: { accept: (x) => x.caller.id, reject: (x) => x.caller.id } }),
    },
    unique: [{ fields: ['sheet', 'by'] }],
  },
  watch: {
    idf: 'id', id: () => 'wat_' + rnd(16, LOWER), fields: {
      id: str({ ro: 1, req: 1 }), owner: str({ ro: 1, req: 1, set: { create: (x) => x.caller.id } }), url: str({ format: 'uri', max: 300, web: 1, req: 1 }),
      topics: { t: 'array', items: str({ topic: 1 }), minItems: 1, maxItems: 10 }, enabled: bool({ def: true, req: 1 }), secret: str({ ro: 1, req: 1, reveal: 1, gen: (r) => r.id + '.' + rnd(32) }),
    },
    unique: [],
  },
  entry: {
    idf: 'id', id: () => 'evt_' + rnd(20), fields: {
      id: str({ ro: 1, req: 1 }), kind: str({ req: 1 }), row: str({ req: 1 }), house: str({ req: 1 }), who: str(), at: time({ req: 1 }), detail: { t: 'object', req: 1 },
    },
    unique: [],
  },
};
for (const [n, r] of Object.entries(R)) { r.name = n; r.list = Object.entries(r.fields); }

// ---------------------------------------------------------------- versions
const VERSIONS = ['e1', 'e2', 'e3'];
const LIFE = {
  e1: { deprecated: Date.UTC(2025, 2, 1), sunset: Date.UTC(2031, 2, 1), ends: true, alternative: 'e3', link: 'https://linnaea.example/editions' },
  e2: { deprecated: Date.UTC(2025, 8, 1), sunset: Date.UTC(2030, 8, 1), ends: false, alternative: 'e3' },
  e3: {},
};
const flip = (m) => Object.fromEntries(Object.entries(m).map(([a, b]) => [b, a]));
const enumMap = (values, all) => { const back = flip(values); return { enum: all.map((v) => back[v] ?? v), down: (v) => back[v] ?? v, up: (v) => values[v] ?? v }; };
// For each version and resource: what a field is called and looks like there.
function fieldsIn(ver, res) {
  const out = [];
  for (const [name, sp] of R[res].list) {
    let v = { name, canon: name, sp, down: (x) => x, up: (x) => x, mapped: false };
    if (ver === 'e1' && res === 'sheet') {
      if (name === 'gathered_by') v.name = 'collector';
      if (name === 'size_mm') v = { ...v, name: 'size_cm', sp: { t: 'number', lo: 5, hi: 90, step: 0.1, req: 1 }, down: (x) => x / 10, up: (x) => Math.round(x * 10), mapped: true };
      if (name === 'location') { const m = enumMap({ housed: 'in_cabinet' }, sp.enum); v = { ...v, sp: { ...sp, enum: m.enum }, down: m.down, up: m.up, mapped: true }; }
    }
    if (ver !== 'e3') {
      if (res === 'loan' && name === 'days') continue;
      if (res === 'taxon' && name === 'rank') { const m = enumMap({ sp: 'species' }, sp.enum); v = { ...v, sp: { ...sp, enum: m.enum }, down: m.down, up: m.up, mapped: true }; }
    }
    out.push(v);
  }
  if (ver !== 'e3' && res === 'taxon') out.push({ name: 'vernacular', canon: null, sp: str({ max: 40 }), constant: 'unrecorded' });
  return out;
}
const VF = {}, VBY = {}, VCANON = {};
for (const ver of VERSIONS) {
  VF[ver] = {}; VBY[ver] = {}; VCANON[ver] = {};
  for (const res of Object.keys(R)) {
    VF[ver][res] = fieldsIn(ver, res);
    VBY[ver][res] = new Map(VF[ver][res].map((v) => [v.name, v]));
    VCANON[ver][res] = new Map(VF[ver][res].filter((v) => v.canon).map((v) => [v.canon, v]));
  }
}

// ---------------------------------------------------------------- store
const T = {}; for (const n of Object.keys(R)) T[n] = new Map();
const index = {}; // RES.FIELD -> value -> Set of ids
for (const [n, r] of Object.entries(R)) for (const [k, sp] of r.list) if (sp.ref) index[n + '.' + k] = new Map();
const gone = new Map(); // deleted determinations
const makers = new Map(); // watch id -> { caller, version }
const counters = new Map();
const hidden = new WeakMap();
let seq = 0;

function reindex(res, old, row) {
  for (const [k, sp] of R[res].list) {
    if (!sp.ref) continue;
    const a = old && old[k], b = row && row[k];
    if (a === b) continue;
    const m = index[res + '.' + k];
    if (a !== undefined) m.get(a)?.delete(old[R[res].idf]);
    if (b !== undefined) { if (!m.has(b)) m.set(b, new Set()); m.get(b).add(row[R[res].idf]); }
  }
}
function rawPut(res, id, row) { const old = T[res].get(id); reindex(res, old, row); if (row) T[res].set(id, row); else T[res].delete(id); return old; }
function put(res, row) { const id = row[R[res].idf]; const old = rawPut(res, id, row); tx.undo.push(() => rawPut(res, id, old)); }
function drop(res, id) { const old = rawPut(res, id, undefined); tx.undo.push(() => rawPut(res, id, old)); }
function setMap(map, key, val) { const had = map.has(key), old = map.get(key); map.set(key, val); tx.undo.push(() => { if (had) map.set(key, old); else map.delete(key); }); }
function delMap(map, key) { if (!map.has(key)) return; const old = map.get(key); map.delete(key); tx.undo.push(() => map.set(key, old)); }
const refs = (res, field, id) => { const s = index[res + '.' + field].get(id); return s ? [...s].map((i) => T[res].get(i)).sort((a, b) => a._n - b._n) : []; };
const count = (res, field, id) => index[res + '.' + field].get(id)?.size ?? 0;
const all = (res) => { const t = now(), a = [...T[res].values()]; return (res === 'entry' ? a.filter((e) => Date.parse(e.at) + 90 * DAY > t) : a).sort((x, y) => x._n - y._n); };
const alive = (res, id) => { const r = T[res].get(id); if (r && res === 'entry' && Date.parse(r.at) + 90 * DAY <= now()) return undefined; return r; };

function transact(fn) {
  tx = { now: now(), undo: [], events: [], after: [] };
  const t = tx;
  try {
    const out = fn();
    flushEvents();
    tx = null;
    for (const a of t.after) a();
    return out;
  } catch (e) {
    if (e.kept) { flushEvents(); tx = null; for (const a of t.after) a(); throw e; }
    if (f('st-partial') && e.op === 'lend sheet') { tx = null; throw e; }
    for (let i = t.undo.length - 1; i >= 0; i--) t.undo[i]();
    tx = null;
    throw e;
  }
}

// ---------------------------------------------------------------- timers
const timers = [];
function timer(at, fire) {
  const item = { at, fire }; let lo = 0, hi = timers.length;
  while (lo < hi) { const m = (lo + hi) >> 1; if (timers[m].at <= at) lo = m + 1; else hi = m; }
  timers.splice(lo, 0, item);
}
function later(at, fire) { if (tx) tx.after.push(() => timer(at, fire)); else timer(at, fire); }
let running = false;
function runDue() {
  if (running) return;
  running = true;
  try {
    while (timers.length && timers[0].at <= now()) { const t = timers.shift(); try { t.fire(); } catch (e) { /* blocked when due: cancelled */ } }
  } finally { running = false; }
}

function setTimers(res, before, row) {
  const id = row[R[res].idf];
  if (res === 'loan') {
    if (row.status === 'requested' && (!before || before.status !== 'requested' || f('st-lapse-restarts'))) {
      const mark = row._since_status = ++seq;
      later(now() + 14 * DAY, () => { const r = T.loan.get(id); if (r && r.status === 'requested' && r._since_status === mark) transact(() => transition('loan', r, 'lapse', {})); });
    }
    if (row.due_at !== undefined && (!before || before.due_at !== row.due_at)) {
      const due = row.due_at, at = Date.parse(due);
      if (!(f('st-extend-timer') && before && before.due_at !== undefined)) later(at, () => { const r = T.loan.get(id); if (r && r.due_at === due && r.status === 'sent') transact(() => transition('loan', r, 'overdue_now', {})); });
      later(at - (f('ev-soon') ? 24 : 72) * 3600000, () => { const r = T.loan.get(id); if (r && r.due_at === due && r.status === 'sent') transact(() => tx.events.push({ kind: 'loan.soon', res: 'loan', row: r, before: r, ctx: {} })); });
    }
  }
  if (res === 'sheet' && row.location === 'quarantine' && (!before || before.location !== 'quarantine')) {
    const mark = row._since_location = ++seq;
    later(now() + 3 * DAY, () => { const r = T.sheet.get(id); if (r && r.location === 'quarantine' && r._since_location === mark) transact(() => transition('sheet', r, 'thaw', {})); });
  }
}

// ---------------------------------------------------------------- who may what
const RULES = [];
const allow = (ops, to, o = {}) => RULES.push({ ops, to, ...o });
const sameHouse = (r, c) => r.house === c.house;
allow(['handler census'], 'anyone');
allow(['upsert taxon', 'delete taxon'], ['keeper'], { scopes: ['curate'] });
allow(['create cabinet'], ['keeper'], { scopes: ['curate'] });
allow(['list cabinet', 'read cabinet'], ['keeper'], { if: sameHouse });
allow(['replace cabinet', 'delete cabinet'], ['keeper'], { scopes: ['curate'], if: sameHouse });
allow(['create sheet'], ['keeper'], { scopes: ['curate'] });
allow(['list sheet', 'read sheet'], ['keeper']);
const openSheet = (r, c) => !T.taxon.get(r.taxon)?.protected || r.house === c.house;
allow(['list sheet'], ['scholar'], { if: f('au-list-protected') ? () => true : openSheet });
allow(['read sheet'], ['scholar'], { if: openSheet });
const AUDITED = new Set(['id', 'house', 'accession', 'barcode', 'taxon', 'gathered_on', 'location', 'review']);
allow(['list sheet', 'read sheet'], ['auditor'], { if: sameHouse, fields: AUDITED });
allow(['update sheet', 'delete sheet', 'verify sheet', 'freeze sheet'], ['keeper'], { scopes: ['curate'], if: sameHouse });
allow(['create loan'], ['scholar'], { scopes: ['loans'] });
allow(['list loan', 'read loan', 'update loan', 'cancel loan'], ['scholar'], { if: (r, c) => r.borrower === c.id });
allow(['list loan', 'read loan', 'update loan', 'approve loan', 'decline loan', 'send loan', 'return loan', 'extend loan'], ['keeper'], { if: sameHouse });
allow(['create determination'], ['scholar'], { scopes: f('au-scope') ? undefined : ['opine'] });
allow(['list determination', 'read determination'], ['keeper']);
allow(['list determination', 'read determination'], ['scholar'], { if: (r, c) => r.by === c.id || r.standing === 'accepted' });
allow(['update determination', 'delete determination', 'reinstate determination'], ['scholar'], { if: (r, c) => r.by === c.id });
allow(['accept determination', 'reject determination'], ['keeper'], { if: f('au-foreign') ? () => true : sameHouse, else: 'foreign_house' });
allow(['create watch'], ['keeper', 'scholar']);
allow(['read watch', 'update watch', 'delete watch'], ['keeper', 'scholar'], { if: (r, c) => r.owner === c.id });
allow(['list entry', 'read entry'], ['keeper', 'auditor'], { if: sameHouse });
const PUBLIC = new Set(['list taxon', 'read taxon', 'reply hours']);
const ruleCache = new Map();
function rulesFor(op, user) {
  const k = op + '/' + user; let r = ruleCache.get(k);
  if (!r) { r = RULES.filter((x) => x.ops.includes(op) && (x.to === 'anyone' || x.to.includes(user))); ruleCache.set(k, r); }
  return r;
}
const scoped = (rule, c) => !rule.scopes || rule.scopes.every((s) => c && c.scopes.includes(s));
const holds = (rule, row, c) => scoped(rule, c) && (!rule.if || (c && rule.if(row, c)));
const readable = (res, row, c) => PUBLIC.has('read ' + res) || (c ? rulesFor('read ' + res, c.user).some((r) => holds(r, row, c)) : false);
const listable = (res, row, c) => PUBLIC.has('list ' + res) || rulesFor('list ' + res, c.user).some((r) => holds(r, row, c));
// The fields that a caller sees of a row; undefined = all of them.
function seen(res, row, c) {
  if (PUBLIC.has('read ' + res) || !c) return undefined;
  const held = [...rulesFor('read ' + res, c.user), ...rulesFor('list ' + res, c.user)].filter((r) => holds(r, row, c));
  if (!held.length || held.some((r) => !r.fields)) return undefined;
  const s = new Set(); for (const r of held) for (const x of r.fields) s.add(x); return s;
}

// ---------------------------------------------------------------- showing rows
function show(res, row, c, ver, o = {}) {
  const out = {}, fields = res === 'line' ? undefined : seen(res, row, c), user = c ? c.user : undefined;
  for (const v of VF[ver][res]) {
    if (!v.canon) { out[v.name] = v.constant; continue; }
    const sp = v.sp;
    if (fields && !fields.has(v.canon)) continue;
    if (sp.vis && !sp.vis.includes(user) && !(f('res-spot') && v.canon === 'exact_spot' && !o.event)) continue;
    if (sp.reveal && !o.reveal) continue;
    if (sp.t === 'lines') { if (!o.event) out[v.name] = refs('line', 'loan', row.id).sort((a, b) => a.position - b.position || a._n - b._n).map((l) => show('line', l, c, ver)); continue; }
    const val = R[res].fields[v.canon].derive ? R[res].fields[v.canon].derive(row) : row[v.canon];
    if (val === undefined) continue;
    if (o.expand && sp.ref && o.expand[v.name]) {
      const r = T[sp.ref].get(val);
      out[v.name] = r && readable(sp.ref, r, c) ? show(sp.ref, r, c, ver, { expand: o.expand[v.name] }) : val;
      continue;
    }
    out[v.name] = v.down(val);
  }
  return out;
}
const tagOf = (obj, ver) => '"' + crypto.createHash('sha1').update(ver + JSON.stringify(obj)).digest('base64url') + '"';

// ---------------------------------------------------------------- validating
const brief = (v) => { const s = v === undefined ? 'nothing' : JSON.stringify(v); return s.length > 200 ? s.slice(0, 200) : s; };
const bad = (out, path, found, expected, kind = 'value') => { out.push({ in: 'body', path, found: typeof found === 'string' && kind === 'missing' ? found : brief(found), expected, kind }); };
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
function dateOk(s) { const m = DATE.exec(s); if (!m) return false; const d = new Date(Date.UTC(+m[1], +m[2] - 1, +m[3])); d.setUTCFullYear(+m[1]); return d.getUTCMonth() === +m[2] - 1 && d.getUTCDate() === +m[3]; }
function uriOk(s) { if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`\u0000-\u0020\u007f-\uffff]*$/.test(s)) return false; try { new URL(s); return true; } catch { return false; } }
function fits(sp, v, path, out) {
  switch (sp.t) {
    case 'string': {
      if (typeof v !== 'string') return bad(out, path, v, 'a text', 'type');
      if (sp.enum && !sp.enum.includes(v)) return bad(out, path, v, 'one of ' + sp.enum.join(', '));
      const len = [...v].length;
      if (sp.min !== undefined && len < sp.min) return bad(out, path, v, 'at least ' + sp.min + ' characters');
      if (sp.max !== undefined && len > sp.max) return bad(out, path, v, 'at most ' + sp.max + ' characters');
      if (sp.pattern && !sp.pattern.test(v)) return bad(out, path, v, 'like ' + sp.pattern.source);
      if (sp.format === 'date' && !dateOk(v)) return bad(out, path, v, 'a date');
      if (sp.format === 'uri' && !uriOk(v)) return bad(out, path, v, 'an address');
      if (sp.web && !/^https?:\/\/[^/]/i.test(v)) return bad(out, path, v, 'an address of http or https');
      if (sp.topic && !topicOk(v)) return bad(out, path, v, 'a kind of event');
      return;
    }
    case 'integer': case 'number':
      if (typeof v !== 'number' || (sp.t === 'integer' && !Number.isInteger(v))) return bad(out, path, v, sp.t === 'integer' ? 'a whole number' : 'a number', 'type');
      if (sp.lo !== undefined && v < sp.lo) return bad(out, path, v, 'at least ' + sp.lo);
      if (sp.hi !== undefined && v > sp.hi) return bad(out, path, v, 'at most ' + sp.hi);
      if (sp.step && Math.abs(Math.round(v / sp.step) - v / sp.step) > 1e-9) return bad(out, path, v, 'a multiple of ' + sp.step);
      return;
    case 'boolean': if (typeof v !== 'boolean') bad(out, path, v, 'true or false', 'type'); return;
    case 'array':
      if (!Array.isArray(v)) return bad(out, path, v, 'a list', 'type');
      if (sp.minItems !== undefined && v.length < sp.minItems) return bad(out, path, v, 'at least ' + sp.minItems + ' items');
      if (sp.maxItems !== undefined && v.length > sp.maxItems) return bad(out, path, v, 'at most ' + sp.maxItems + ' items');
      v.forEach((x, i) => fits(sp.items, x, path + '.' + i, out));
      if (sp.unique && new Set(v.map((x) => JSON.stringify(x))).size !== v.length) bad(out, path, v, 'no item twice');
      return;
  }
}
const isMap = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
function readPlace(v, path, out, merge) {
  if (!isMap(v)) { bad(out, path, v, 'a map', 'type'); return undefined; }
  const r = merge ? { ...merge } : {}; const fs = R.place.fields; const broken = new Set();
  for (const k of Object.keys(v)) {
    const sp = fs[k];
    if (!sp) { bad(out, path + '.' + k, v[k], 'no such field', 'unknown'); continue; }
    if (sp.ro) continue;
    if (v[k] === null && merge) { if (sp.req) { bad(out, path + '.' + k, null, 'a value', 'type'); broken.add(k); } else delete r[k]; continue; }
    const n = out.length; fits(sp, v[k], path + '.' + k, out); if (out.length === n) r[k] = v[k]; else broken.add(k);
  }
  if (r.country === undefined && !broken.has('country') && !('country' in v)) bad(out, path + '.country', 'nothing', 'a text', 'missing');
  return r;
}
const labelOf = (p) => (p.region !== undefined ? p.region + ', ' + p.country : p.country);
function finishPlace(p, before) {
  const bare = (x) => x && JSON.stringify([x.country, x.region]);
  if (before && bare(before) === bare(p)) return before;
  const out = { country: p.country }; if (p.region !== undefined) out.region = p.region;
  out.label = f('res-label') && before ? before.label : labelOf(p);
  return out;
}
// Reads the body of a request in its version, and carries it up.
function readBody(res, body, x, mode, o = {}) {
  const out = [], vals = {}, removed = new Set(), sent = new Set(), ver = x.ver, by = VBY[ver][res], pre = o.prefix ? o.prefix + '.' : '';
  if (!isMap(body)) { bad(out, o.prefix || '', body, 'a map', 'type'); return { out, vals, removed, sent }; }
  for (const k of Object.keys(body)) {
    const v = by.get(k), val = body[k], path = pre + (f('ve-violation-name') && v && v.canon ? v.canon : k);
    if (!v || (o.less && o.less === k)) { bad(out, path, val, 'no such field', 'unknown'); continue; }
    const sp = v.sp, canon = v.canon;
    const writable = !(sp.ro || (sp.state && mode !== 'update') || (sp.wr && !sp.wr.includes(x.caller.user)) || (sp.t === 'lines' && mode !== 'create'));
    if (!writable) { if (o.refuseReadOnly) bad(out, path, val, 'a field that is left out', 'read_only'); continue; }
    if (canon) sent.add(canon);
    if (val === null && mode === 'update') {
      if (sp.req) bad(out, path, null, 'a value', 'type'); else if (canon) removed.add(canon);
      continue;
    }
    if (sp.t === 'place') { const p = readPlace(val, path, out, mode === 'update' ? o.row.place : undefined); if (p) vals[canon] = p; continue; }
    if (sp.t === 'lines') {
      if (!Array.isArray(val)) { bad(out, path, val, 'a list', 'type'); continue; }
      if (val.length < 1 || val.length > 6) { bad(out, path, val, '1 to 6 items'); continue; }
      vals.lines = val.map((l, i) => { const r = readBody('line', l, x, 'create', { prefix: path + '.' + i, less: 'loan', bound: ['loan'] }); out.push(...r.out); return r.vals; });
      continue;
    }
    const n = out.length; fits(sp, val, path, out);
    if (out.length > n || !canon) continue;
    const up = v.up(val);
    if (v.mapped) { const m = []; fits(R[res].fields[canon], up, path, m); if (m.length) { out.push(...m); continue; } }
    if (sp.imm && o.row && o.row[canon] !== up) { bad(out, path, val, 'as it was made'); continue; }
    if (o.bind && canon in o.bind && o.bind[canon] !== up) { bad(out, path, val, o.bind[canon]); continue; }
    // What reads as before stays as it is stored.
    vals[canon] = v.mapped && o.row && o.row[canon] !== undefined && v.down(o.row[canon]) === val ? o.row[canon] : up;
  }
  if (mode !== 'update') for (const v of VF[ver][res]) {
    const sp = v.sp;
    if (!v.canon || !sp.req || sp.ro || sp.state || sp.def !== undefined || sent.has(v.canon)) continue;
    if (o.bound && o.bound.includes(v.canon)) continue;
    if (o.row && sp.imm) continue;
    if (sp.wr && !sp.wr.includes(x.caller.user)) continue;
    bad(out, pre + v.name, 'nothing', 'a value', 'missing');
  }
  return { out, vals, removed, sent };
}
function checkRules(res, next, out, ver) {
  if (out.length) return;
  for (const r of R[res].rules || []) if (r.if(next)) { const v = VCANON[ver][res].get(r.field); out.push({ in: 'body', path: v ? v.name : r.field, found: brief(next[r.field]), expected: r.message, kind: 'value' }); }
}
function invalid(out) {
  if (!out.length) return;
  let first = out[0];
  if (f('er-missing-first')) first = out.find((v) => v.kind === 'missing') || first;
  const names = { missing: 'request.invalid.missing', unknown: 'request.invalid.unknown', type: 'request.invalid.type', read_only: 'request.invalid.read_only', value: 'request.invalid.value' };
  refuse(names[first.kind], { violations: out.map(({ kind, ...v }) => v), first });
}
function checkRefs(res, vals, c, o = {}) {
  for (const [k, sp] of R[res].list) {
    if (!sp.ref || vals[k] === undefined || (o.skip && o.skip.includes(k))) continue;
    const r = T[sp.ref].get(vals[k]);
    if (!r || (c && sp.ref !== 'loan' && !readable(sp.ref, r, c))) refuse('reference.missing', { violations: [{ in: 'body', path: o.prefix ? o.prefix + '.' + k : (VCANON[o.ver || 'e3'][res].get(k)?.name ?? k), found: brief(vals[k]), expected: 'a ' + sp.ref + ' that is there' }] });
  }
}
function checkUnique(res, next) {
  const id = next[R[res].idf];
  for (const u of R[res].unique) {
    if (u.fields.some((k) => next[k] === undefined) || (u.while && !u.while(next))) continue;
    const key = (r) => JSON.stringify(u.fields.map((k) => (u.fold && typeof r[k] === 'string' ? r[k].toLowerCase() : r[k])));
    const mine = key(next);
    for (const r of T[res].values()) if (r[R[res].idf] !== id && (!u.while || u.while(r)) && u.fields.every((k) => r[k] !== undefined) && key(r) === mine) return r;
  }
  return null;
}
const OWN = [
  { code: 'not_yet_gathered', on: ['create sheet', 'update sheet'], if: (n) => (f('er-today') ? Date.parse(n.gathered_on + 'T23:59:59Z') > now() : Date.parse(n.gathered_on + 'T00:00:00Z') > now()) },
  { code: 'cabinet_shut', on: ['create sheet', 'update sheet'], if: (n) => n.cabinet !== undefined && !!T.cabinet.get(n.cabinet)?.shut },
  { code: 'too_full', on: ['replace cabinet'], if: (n) => n.capacity < count('sheet', 'cabinet', n.id) },
  { code: 'no_freezer', on: ['freeze sheet'], if: (n, r) => ![...T.cabinet.values()].some((c) => c.house === r.house && c.label === 'F1') },
  { code: 'other_house', on: ['create line'], if: (n, r, loan) => T.sheet.get(n.sheet).house !== loan.house },
];
function ownErrors(op, next, before, extra) { for (const e of OWN) if (e.on.includes(op) && e.if(next, before, extra)) own(e.code); }
const openLoan = (l) => (f('li-rows') ? l.status === 'requested' : ['requested', 'approved'].includes(l.status));
function checkRowLimits(res, next) {
  if (res === 'watch') { let n = 0; for (const w of T.watch.values()) if (w.owner === next.owner) n++; if (n >= 4) refuse('limit.quota'); }
  if (res === 'loan' && openLoan(next)) { let n = 0; for (const l of T.loan.values()) if (l.borrower === next.borrower && openLoan(l)) n++; if (n >= 6) refuse('limit.quota'); }
}

// ---------------------------------------------------------------- changes
const clean = (r) => { const o = {}; for (const k of Object.keys(r)) if (k[0] !== '_') o[k] = r[k]; return JSON.stringify(o, Object.keys(o).sort().concat(['country', 'region', 'label'])); };
const same = (a, b) => clean(a) === clean(b);

function makeRow(res, vals, x, id) {
  const row = { _n: ++seq };
  row[R[res].idf] = id ?? R[res].id();
  for (const [k, sp] of R[res].list) {
    if (k === R[res].idf) continue;
    if (sp.t === 'lines') continue;
    if (vals[k] !== undefined) row[k] = sp.t === 'place' ? finishPlace(vals[k]) : vals[k];
    else if (sp.def !== undefined) row[k] = sp.def;
  }
  for (const [k, sp] of R[res].list) if (sp.gen) row[k] = sp.gen(row);
  return row;
}
function applySets(res, row, keys, x, before) {
  const asSent = { ...row };
  for (const [k, sp] of R[res].list) {
    if (!sp.set) continue;
    for (const key of keys) if (sp.set[key]) row[k] = sp.set[key]({ ...x, next: asSent, resource: before });
  }
}
function drawNumbers(res, row) {
  for (const [k, sp] of R[res].list) if (sp.count) {
    const key = res + '.' + k + '/' + (sp.count === '*' ? '' : row[sp.count]), n = (counters.get(key) || 0) + 1;
    setMap(counters, key, n); row[k] = sp.text ? sp.text(n) : n;
  }
}
function startStates(res, row) {
  if (res === 'sheet') { row.location = row.cabinet !== undefined ? 'in_cabinet' : 'quarantine'; row.review = 'unseen'; }
  if (res === 'loan') row.status = 'requested';
  if (res === 'determination') row.standing = 'offered';
}
function emit(op, res, row, before, x) {
  const push = (kind) => tx.events.push({ kind, res, row, before, ctx: x });
  if (op === 'create sheet') push('sheet.made');
  if (op === 'update sheet' && (f('ev-renamed') || before.taxon !== row.taxon)) push('sheet.renamed');
  if (op === 'lend sheet') push('sheet.lent');
  if (op === 'send loan') push('loan.sent');
  if (op === 'overdue_now loan') push('loan.late');
  if (op === 'return loan' || op === 'cancel loan' || (op === 'lapse loan' && !f('ev-lapse'))) push('loan.ended');
  if (op === 'accept determination' || op === 'reject determination') push('determination.decided');
}
function createRow(res, row, x) {
  drawNumbers(res, row);
  setTimers(res, null, row);
  put(res, row);
  emit('create ' + res, res, row, null, x);
  return row;
}
// A change to fields; gives the row as it then is.
function changeRow(res, before, next, op, keys, x) {
  applySets(res, next, keys, x, before);
  setTimers(res, before, next);
  put(res, next);
  emit(op, res, next, before, x);
  return next;
}
function updateRow(res, before, next, x) { // by an act
  ownErrors('update ' + res, next, before);
  const hit = checkUnique(res, next); if (hit) refuse('resource.exists', { op: 'update ' + res });
  if (same(before, next)) return before;
  return changeRow(res, before, next, 'update ' + res, ['write', 'update'], x);
}
const MACHINES = {
  'sheet/freeze': { field: 'location', from: ['in_cabinet'], to: 'quarantine' },
  'sheet/lend': { field: 'location', from: ['in_cabinet'], to: 'lent' },
  'sheet/take_back': { field: 'location', from: ['lent'], to: 'quarantine' },
  'sheet/thaw': { field: 'location', from: ['quarantine'], to: 'in_cabinet', if: (r) => f('st-thaw') || r.cabinet !== undefined },
  'sheet/verify': { field: 'review', from: ['unseen', 'doubted'], to: 'verified', if: (r) => r.location !== 'lent', ifElse: 'not_at_hand' },
  'loan/approve': { field: 'status', from: ['requested'], if: (r) => r.valuation !== undefined, pick: (r) => (r.days <= 120 ? { state: 'approved' } : { state: 'declined', answer: 'too_long' }) },
  'loan/decline': { field: 'status', from: ['requested'], to: 'declined' },
  'loan/cancel': { field: 'status', from: ['requested', 'approved'], to: 'cancelled', else: 'too_late' },
  'loan/lapse': { field: 'status', from: ['requested'], to: 'lapsed' },
  'loan/send': { field: 'status', from: ['approved'], to: 'sent', then: (n, x) => { for (const l of refs('line', 'loan', n.id)) act('sheet', l.sheet, 'lend', x); } },
  'loan/overdue_now': { field: 'status', from: ['sent'], to: 'overdue' },
  'loan/extend': { field: 'status', from: ['sent', 'overdue'], to: 'sent', if: (r) => r.extensions < 2, ifElse: 'extended_enough' },
  'loan/return': { field: 'status', from: ['sent', 'overdue'], pick: (r) => (r.due_at !== undefined && now() > Date.parse(r.due_at) && !f('st-late') ? { state: 'returned_late' } : { state: 'returned' }),
    then: (n, x) => { for (const l of refs('line', 'loan', n.id)) act('sheet', l.sheet, 'take_back', x, true); } },
  'determination/accept': { field: 'standing', from: ['offered'], to: 'accepted', then: (n, x) => {
    const s = T.sheet.get(n.sheet); if (!s) refuse('reference.missing');
    updateRow('sheet', s, { ...s, taxon: n.taxon }, x);
    act('sheet', n.sheet, 'verify', x, true);
  } },
  'determination/reject': { field: 'standing', from: ['offered'], to: 'rejected' },
  'determination/reinstate': { field: 'standing', from: ['withdrawn'], to: 'offered' },
};
function act(res, id, name, x, skip) {
  const r = T[res].get(id);
  if (!r) refuse('reference.missing', { op: name + ' ' + res });
  try { transition(res, r, name, x); } catch (e) { if (skip && e instanceof Refusal) return; throw e; }
}
function transition(res, row, name, x) {
  const m = MACHINES[res + '/' + name], op = name + ' ' + res;
  if (!m.from.includes(row[m.field])) { if (m.else) own(m.else); refuse('transition.illegal.state', { op }); }
  if (m.if && !m.if(row)) { if (m.ifElse) own(m.ifElse); refuse('transition.illegal.condition', { op }); }
  const target = m.pick ? m.pick(row) : { state: m.to };
  ownErrors(op, row, row);
  if (target.answer && f('st-answer')) own(target.answer);
  const next = { ...row, [m.field]: target.state };
  changeRow(res, row, next, op, [name, 'write'], x);
  if (m.then) m.then(next, x);
  if (target.answer) own(target.answer, { kept: true });
  return T[res].get(row[R[res].idf]);
}
function deleteRow(res, row, x) {
  const id = row[R[res].idf];
  for (const [n, r] of Object.entries(R)) for (const [k, sp] of r.list) if (sp.ref === res && sp.od === 'restrict' && refs(n, k, id).some((o) => !(n === res && o[r.idf] === id))) refuse('reference.held');
  for (const [n, r] of Object.entries(R)) for (const [k, sp] of r.list) {
    if (sp.ref !== res) continue;
    if (sp.od === 'cascade') for (const o of refs(n, k, id)) deleteRow(n, o, x);
    if (sp.od === 'clear' && !f('res-clear')) for (const o of refs(n, k, id)) { const next = { ...o }; delete next[k]; changeRow(n, o, next, 'update ' + n, ['write', 'update'], x); }
  }
  drop(res, id);
  if (R[res].keep) setMap(gone, id, { row, at: now() });
  if (res === 'watch') delMap(makers, id);
}

// ---------------------------------------------------------------- events
const LOGGED_SHEET = [...AUDITED];
function payloadFor(ev, c, ver) {
  const r = ev.row;
  switch (ev.kind) {
    case 'sheet.made': return ver === null ? logShow('sheet', r) : show('sheet', r, c, ver, { event: 1 });
    case 'sheet.renamed': return { sheet: r.id, was: ev.before.taxon, is: r.taxon };
    case 'sheet.lent': return r.id;
    case 'loan.ended': return { loan: r.id, status: r.status };
    case 'determination.decided': return ver === null ? logShow('determination', r) : show('determination', r, c, ver, { event: 1 });
    default: return ver === null ? logShow('loan', r) : show('loan', r, c, ver, { event: 1 });
  }
}
function logShow(res, row) {
  const o = {};
  for (const v of VF.e3[res]) {
    const sp = v.sp; if (sp.t === 'lines') continue;
    if (!f('ev-log-leak')) { if (sp.vis) continue; if (res === 'sheet' && !AUDITED.has(v.canon)) continue; }
    const val = sp.derive ? sp.derive(row) : row[v.canon]; if (val !== undefined) o[v.canon] = val;
  }
  return o;
}
const topicHit = (topics, kind) => !topics || topics.some((t) => t === '*' || t === kind || (t.endsWith('.*') && kind.startsWith(t.slice(0, -1))));
function flushEvents() {
  for (const ev of tx.events) {
    const id = R.entry.id(), at = iso(now());
    const entry = { _n: ++seq, id, kind: ev.kind, row: ev.row.id, house: ev.row.house, at, detail: { body: payloadFor(ev, null, null) } };
    if (ev.ctx.caller) entry.who = ev.ctx.caller.id;
    put('entry', entry);
    for (const w of [...T.watch.values()].sort((a, b) => a._n - b._n)) {
      if (!w.enabled || !topicHit(w.topics, ev.kind)) continue;
      const mk = makers.get(w.id); if (!mk) continue;
      if (ev.kind === 'loan.late' && !f('ev-late-to')) { if (w.owner !== ev.row.borrower) continue; }
      else if (!readable(ev.res, ev.row, mk.caller)) continue;
      const json = JSON.stringify({ id, topic: ev.kind, happened: at, body: payloadFor(ev, mk.caller, f('ve-webhook') ? 'e3' : mk.version) });
      const d = { watch: w.id, event: id, kind: ev.kind, lane: w.id + '/' + ev.res + '/' + ev.row.id, json, body: new URLSearchParams({ payload: json }).toString(), tries: 0 };
      tx.after.push(() => enqueue(d));
    }
  }
  tx.events = [];
}
const lanes = new Map(), subs = new Map();
const sub = (id) => { let s = subs.get(id); if (!s) subs.set(id, s = { failing: null, notBefore: 0 }); return s; };
function enqueue(d) {
  const q = lanes.get(d.lane);
  if (q) q.push(d); else { lanes.set(d.lane, [d]); attempt(d); }
}
function done(d) {
  const q = lanes.get(d.lane); if (!q) return;
  q.shift();
  if (!q.length) lanes.delete(d.lane); else attempt(q[0]);
}
const RETRY = [10000, 60000, 600000];
function attempt(d) {
  const w = T.watch.get(d.watch);
  if (!w || !w.enabled) return done(d);
  const wait = sub(d.watch).notBefore; if (wait > now()) return timer(wait, () => attempt(d));
  d.tries++;
  const ts = Math.floor(now() / 1000);
  const mac = crypto.createHmac('sha256', w.secret).update(`${d.event}.${ts}.${f('ev-sign') ? d.json : d.body}`).digest('hex');
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(d.body), 'X-Herb-Event': d.kind, 'X-Herb-Delivery': d.event, 'X-Herb-Signature': `ts=${ts},v1=${mac}` };
  let over = false, kill;
  const end = (status, retryAfter) => {
    if (over) return; over = true; clearTimeout(kill);
    try {
      const s = sub(d.watch);
      if (status >= 200 && status < 300) { s.failing = null; return done(d); }
      if (s.failing === null) s.failing = now();
      if (status === 410 || now() - s.failing >= 2 * DAY) { disable(d.watch); return done(d); }
      if (d.tries > RETRY.length) return done(d);
      let next = now() + RETRY[d.tries - 1];
      if (retryAfter) { const ra = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now(); if (ra > 0) { s.notBefore = now() + Math.min(ra, DAY); next = Math.max(next, s.notBefore); } }
      timer(next, () => attempt(d));
    } catch { /* nothing of a delivery stops the service */ }
  };
  try {
    const u = new URL(w.url);
    const rq = (u.protocol === 'https:' ? https : http).request(u, { method: 'POST', headers, agent: false }, (rs) => { rs.on('error', () => {}); rs.resume(); end(rs.statusCode, rs.headers['retry-after']); });
    kill = setTimeout(() => { rq.destroy(); end(0); }, 5000); kill.unref();
    rq.on('error', () => end(0));
    rq.end(d.body);
  } catch { setImmediate(() => end(0)); }
}
function disable(id) { const w = T.watch.get(id); if (w && w.enabled) transact(() => { put('watch', { ...w, enabled: false }); }); }

// ---------------------------------------------------------------- rates and quotas
const buckets = { caller: new Map(), address: new Map(), house: new Map() };
const secs = (ms) => Math.max(0, Math.ceil(ms / 1000));
const rates = {
  caller: {
    key: (x) => (x.caller ? x.caller.user + ' ' + x.caller.id : 'ip ' + x.addr), applies: () => true, cost: (x) => (x.ep.op === 'list sheet' ? 3 : 1),
    take(k, n) {
      const t = now(); let w = buckets.caller.get(k); if (!w || t >= w.start + 60000) { w = { start: t, used: 0 }; buckets.caller.set(k, w); }
      const tell = () => ({ limit: 2400, left: Math.max(0, 2400 - w.used), reset: secs(w.start + 60000 - now()) });
      if (w.used + n > 2400) return { ok: false, wait: secs(w.start + 60000 - t), tell };
      w.used += n; return { ok: true, back() { w.used -= n; }, tell };
    },
  },
  address: {
    key: (x) => x.addr, applies: (x) => x.ep.op === 'handler census', cost: () => 1,
    take(k) {
      const t = now(); let a = buckets.address.get(k) || [];
      if (f('li-sliding')) { if (a.length && t >= a[0] + 30000) a = []; } else a = a.filter((s) => s + 30000 > t);
      buckets.address.set(k, a);
      const tell = () => ({ limit: 8, left: Math.max(0, 8 - a.length), reset: a.length ? secs(a[0] + 30000 - now()) : 0 });
      if (a.length >= 8) return { ok: false, wait: secs(a[0] + 30000 - t), tell };
      a.push(t); return { ok: true, back() { const i = a.lastIndexOf(t); if (i >= 0) a.splice(i, 1); }, tell };
    },
  },
  house: {
    key: (x) => (x.caller ? x.caller.house : 'ip ' + x.addr), applies: (x) => x.ep.op === 'create determination', cost: () => 1,
    take(k) {
      const t = now(); let b = buckets.house.get(k); if (!b) { b = { at: t, tok: 30 * 60000 }; buckets.house.set(k, b); }
      b.tok = Math.min(30 * 60000, b.tok + Math.max(0, t - b.at) * 20); b.at = Math.max(t, b.at);
      const tell = () => ({ limit: 20, left: Math.floor(b.tok / 60000), reset: secs((60000 - (b.tok % 60000)) / 20) });
      if (b.tok < 60000) return { ok: false, wait: secs((60000 - b.tok) / 20), tell };
      b.tok -= 60000; return { ok: true, back() { b.tok += 60000; }, tell };
    },
  },
};
function takeRates(x, names) {
  const got = [], refused = [];
  for (const n of names) {
    const r = rates[n]; if (!r.applies(x)) continue;
    const g = r.take(r.key(x), r.cost(x)); g.name = n;
    (g.ok ? got : refused).push(g);
  }
  if (refused.length) {
    for (const g of got) g.back();
    for (const g of x.counted) g.back();
    x.counted = [];
    x.told = refused;
    refuse('limit.rate', { headers: { 'Retry-After': String(Math.max(1, ...refused.map((g) => g.wait))) } });
  }
  x.counted.push(...got); x.told = x.counted;
}
const ZONE = new Intl.DateTimeFormat('en-CA', { timeZone: f('li-zone') ? 'UTC' : 'Europe/Stockholm', year: 'numeric', month: '2-digit', day: '2-digit' });
const quotaUsed = new Map();
function useQuota(x) {
  if (x.ep.op !== 'create loan' || x.caller.user !== 'scholar') return;
  const day = ZONE.format(new Date(now())), k = x.caller.id + ' ' + day, n = quotaUsed.get(k) || 0;
  if (n >= 20) {
    let lo = now(), hi = now() + 26 * 3600000;
    while (hi - lo > 500) { const m = (lo + hi) / 2; if (ZONE.format(new Date(m)) === day) lo = m; else hi = m; }
    refuse('limit.quota', { headers: { 'Retry-After': String(Math.max(1, secs(hi - now()))) } });
  }
  setMap(quotaUsed, k, n + 1);
}

// ---------------------------------------------------------------- endpoints
const EPS = [];
const ep = (method, path, op, o = {}) => { const segs = path.slice(1).split('/'); const [verb, res] = op.split(' '); EPS.push({ method, path, segs, op, verb, res, versions: VERSIONS, ...o }); };
ep('GET', '/hours', 'reply hours', { run: () => ({ status: 200, body: { opens: '09:30', shuts: '16:00' } }) });
ep('GET', '/census', 'handler census', { anyone: 1, run: () => ({ status: 200, body: { sheets: T.sheet.size, lent: [...T.sheet.values()].filter((s) => s.location === 'lent').length } }) });
ep('GET', '/taxa', 'list taxon');
ep('GET', '/taxa/{code}', 'read taxon', { cache: 'public, max-age=30' });
ep('PUT', '/taxa/{code}', 'upsert taxon');
ep('DELETE', '/taxa/{code}', 'delete taxon');
ep('POST', '/cabinets', 'create cabinet', { exists: 1 });
ep('GET', '/cabinets', 'list cabinet');
ep('GET', '/cabinets/{house}/{label}', 'read cabinet');
ep('PUT', '/cabinets/{house}/{label}', 'replace cabinet');
ep('DELETE', '/cabinets/{house}/{label}', 'delete cabinet');
ep('POST', '/sheets', 'create sheet');
ep('GET', '/sheets', 'list sheet');
ep('GET', '/sheets/{id}', 'read sheet', { etag: 1, cache: 'private, no-cache' });
ep('PATCH', '/sheets/{id}', 'update sheet', { ifMatch: 'required' });
ep('DELETE', '/sheets/{id}', 'delete sheet', { in: ['location', ['in_cabinet', 'quarantine']], ifMatch: 'accepted' });
ep('POST', '/sheets/{id}/verify', 'verify sheet');
ep('POST', '/sheets/{id}/freeze', 'freeze sheet');
ep('POST', '/loans', 'create loan');
ep('GET', '/loans', 'list loan');
ep('GET', '/loans/{id}', 'read loan', { etag: 1 });
ep('PATCH', '/loans/{id}', 'update loan', { in: ['status', ['requested', 'approved']], ifMatch: 'accepted' });
ep('POST', '/loans/{id}/approve', 'approve loan');
ep('POST', '/loans/{id}/decline', 'decline loan', { versions: ['e1', 'e2'], life: { deprecated: Date.UTC(2025, 4, 1), link: 'https://linnaea.example/decline' } });
ep('POST', '/loans/{id}/send', 'send loan', { accept: f('au-send-badge') ? undefined : ['ticket'] });
ep('POST', '/loans/{id}/return', 'return loan');
ep('POST', '/loans/{id}/extend', 'extend loan', { versions: ['e3'], takesBody: 1 });
ep('POST', '/loans/{id}/cancel', 'cancel loan');
ep('POST', '/sheets/{sheet}/determinations', 'create determination', { form: 1 });
ep('GET', '/determinations', 'list determination');
ep('GET', '/determinations/{id}', 'read determination', { expand: 1 });
ep('PATCH', '/determinations/{id}', 'update determination', { in: ['standing', ['offered']] });
ep('DELETE', '/determinations/{id}', 'delete determination');
ep('POST', '/determinations/{id}/accept', 'accept determination');
if (!f('fn-reject')) ep('POST', '/determinations/{id}/reject', 'reject determination');
ep('POST', '/determinations/{id}/reinstate', 'reinstate determination');
ep('POST', '/watches', 'create watch');
ep('GET', '/watches/{id}', 'read watch');
ep('PATCH', '/watches/{id}', 'update watch');
ep('DELETE', '/watches/{id}', 'delete watch');
ep('GET', '/entries', 'list entry');
ep('GET', '/entries/{id}', 'read entry', { versions: ['e2', 'e3'] });
const isTransition = (e) => !['create', 'read', 'list', 'update', 'replace', 'upsert', 'delete', 'reply', 'handler'].includes(e.verb);

function matchSegs(pattern, segs) {
  if (pattern.length !== segs.length) return null;
  const p = {};
  for (let i = 0; i < segs.length; i++) {
    if (pattern[i][0] === '{') { if (segs[i] === '') return null; p[pattern[i].slice(1, -1)] = segs[i]; } else if (pattern[i] !== segs[i]) return null;
  }
  return p;
}
function route(x, path) {
  let parts = path.split('/').slice(1);
  if (parts[0] !== 'flora') { if (!(f('base-bare') && VERSIONS.includes(parts[0]))) refuse('route.unknown'); } else parts = parts.slice(1);
  try { parts = parts.map(decodeURIComponent); } catch { refuse('route.unknown'); }
  const find = (segs, list) => { const a = []; for (const e of list) { const p = matchSegs(e.segs, segs); if (p) a.push({ e, p }); } return a; };
  const settle = (hits) => {
    const methods = new Set(hits.map((h) => h.e.method));
    x.allow = [...methods].concat(methods.has('GET') ? ['HEAD'] : [], ['OPTIONS']);
    if (x.method === 'OPTIONS') return null;
    const want = x.method === 'HEAD' ? 'GET' : x.method;
    const h = hits.find((y) => y.e.method === want);
    if (!h) refuse('method.unsupported', { headers: { Allow: f('er-allow') ? hits[0].e.method : x.allow.join(', ') } });
    return h;
  };
  if (VERSIONS.includes(parts[0])) {
    x.ver = parts[0]; x.rest = path.slice(path.indexOf('/' + parts[0]) + 1 + parts[0].length); x.known = true;
    const hits = find(parts.slice(1), EPS.filter((e) => e.versions.includes(x.ver)));
    if (!hits.length) refuse('route.unknown');
    const h = settle(hits);
    if (h) x.ep = h.e; else x.ep = null;
    if (LIFE[x.ver].ends && now() >= LIFE[x.ver].sunset && !(f('ve-sunset') && x.ver === 'e1')) refuse('version.sunset');
    if (h) x.params = h.p;
    return;
  }
  const loose = find(parts, EPS).length ? find(parts, EPS) : find(parts.slice(1), EPS);
  if (!loose.length) refuse('route.unknown');
  const h = settle(loose);
  if (f('ve-default') && h && find(parts, EPS).length) { x.ver = 'e3'; x.rest = '/' + parts.join('/'); x.known = true; x.ep = h.e; x.params = h.p; return; }
  refuse('version.unknown');
}

// ---------------------------------------------------------------- credentials
const ALL = ['ticket', 'badge', 'seal'];
const nonces = new Map();
function rawValues(x, name) { const out = []; for (let i = 0; i < x.raw.length; i += 2) if (x.raw[i].toLowerCase() === name) out.push(x.raw[i + 1]); return out; }
function challenges(accepted, error) {
  const e = error ? ', error="invalid_key"' : '';
  return accepted.map((s) => (s === 'ticket' ? `Ticket realm="${TITLE}"${e}` : s === 'badge' ? `Basic realm="${TITLE}", charset="UTF-8"` : `Seal realm="${TITLE}"`)).join(', ');
}
function authenticate(x) {
  const accepted = x.ep.accept || ALL;
  const no = (kind) => refuse('caller.unknown.' + kind, { headers: { 'WWW-Authenticate': challenges(accepted, kind !== 'missing') } });
  const found = [];
  if (accepted.includes('ticket') || accepted.includes('badge')) {
    const auth = rawValues(x, 'authorization');
    if (auth.length > 1) no('bad');
    if (auth.length === 1) {
      const m = /^([^ ]+) +([^ ]+) *$/.exec(auth[0]); if (!m) no('bad');
      const scheme = m[1].toLowerCase();
      if (scheme === 'ticket' && accepted.includes('ticket')) { const c = tickets.get(m[2]); if (!c) no('bad'); found.push(c); }
      else if (scheme === 'basic' && accepted.includes('badge')) {
        const s = Buffer.from(m[2], 'base64').toString('utf8'), i = s.indexOf(':');
        if (i < 0 || (i !== s.length - 1 && !f('au-password'))) no('bad');
        const c = badges.get(s.slice(0, i)); if (!c) no('bad'); if (f('users-auditor') && c.user === 'auditor') no('bad');
        found.push(c); x.browserKeeps = true;
      } else no('bad');
    }
  }
  if (accepted.includes('seal')) {
    const seal = rawValues(x, 'x-herb-seal'), key = rawValues(x, 'x-herb-key');
    if (seal.length) {
      if (seal.length > 1 || key.length !== 1) no('bad');
      const m = /^t=(\d{1,12}),n=([^,\s]{1,200}),s=([0-9a-f]{64})$/.exec(seal[0]), k = seals.get(key[0]);
      if (!m || !k) no('bad');
      const t = Number(m[1]) * 1000, n = now();
      if (t < n - 180000) no('expired');
      if (t > n + 180000) no('bad');
      if (x.bodySize > 8192) refuse('limit.size');
      const signed = `${x.method}\n${x.target}\n${m[1]}\n${m[2]}\n${crypto.createHash('sha256').update(x.bytes).digest('hex')}`;
      const mac = crypto.createHmac('sha256', k.secret).update(signed).digest();
      if (!crypto.timingSafeEqual(mac, Buffer.from(m[3], 'hex'))) no('bad');
      const nk = key[0] + ' ' + m[2], till = nonces.get(nk);
      if (till !== undefined && till >= n && !f('au-replay')) no('bad');
      nonces.set(nk, t + 180000 + 1000);
      if (nonces.size > 5000) for (const [a, b] of nonces) if (b < n) nonces.delete(a);
      found.push(k.caller);
    } else if (key.length) no('bad');
  }
  if (!found.length) { if (x.ep.anyone) return null; no('missing'); }
  if (found.some((c) => c.id !== found[0].id || c.user !== found[0].user)) no('bad');
  return found[0];
}
function crossSite(x) {
  if (!x.browserKeeps || ['GET', 'HEAD'].includes(x.method)) return false;
  const origin = x.headers.origin, site = x.headers['sec-fetch-site'];
  if (origin === 'https://floristics.example') return false;
  if (site) return site !== 'same-origin' && site !== 'none';
  if (!origin) return false;
  try { return new URL(origin).host !== x.headers.host; } catch { return true; }
}

// ---------------------------------------------------------------- parameters
const badParam = (name, found, expected) => refuse('request.parameter', { violations: [{ in: 'query', path: name, found: brief(found), expected }] });
const badPage = (name, found) => refuse('limit.page', { violations: [{ in: 'query', path: name, found: brief(found), expected: 'a page that there is' }] });
function coerce(sp, text, name) {
  let v = text;
  if (sp.t === 'integer' || sp.t === 'number') { if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) badParam(name, text, 'a number'); v = Number(text); }
  if (sp.t === 'boolean') { if (text !== 'true' && text !== 'false') badParam(name, text, 'true or false'); v = text === 'true'; }
  const out = []; fits(sp, v, name, out); if (out.length) badParam(name, text, out[0].expected);
  return v;
}
// A parameter that is called like a field: in its version's name and shape.
const byField = (res, canon, o = {}) => ({ field: canon, res, ...o });
const LISTS = {
  taxon: {
    params: {
      rank: byField('taxon', 'rank'), parent: byField('taxon', 'parent'), protected: byField('taxon', 'protected'),
      begins: { make: (t) => (r) => r.code.startsWith(t) },
    },
    order: [['code', 1]], page: 'starting_at',
  },
  cabinet: { params: { shut: byField('cabinet', 'shut'), holds: { make: (t, x) => (r) => refs('sheet', 'cabinet', r.id).some((s) => s.taxon === t && listable('sheet', s, x.caller)) } }, order: [['label', 1]], page: 'none' },
  sheet: {
    params: {
      taxon: byField('sheet', 'taxon'), location: byField('sheet', 'location'), gathered_by: byField('sheet', 'gathered_by', { fold: 1 }), size_mm: byField('sheet', 'size_mm'),
      genus: { needs: ['taxon'], make: (t) => (r) => T.taxon.get(r.taxon)?.parent === t },
      countries: { needs: ['place'], make: (t, x) => { const a = t.split(','); if (a.length > 100) badParam('countries', t, 'up to 100'); for (const c of a) if (!/^[A-Z]{2}$/.test(c)) badParam('countries', c, 'a country'); return (r) => a.includes(r.place.country); } },
      since: { needs: ['gathered_on'], make: (t) => { if (!dateOk(t)) badParam('since', t, 'a date'); return (r) => r.gathered_on >= t; } },
      words: { needs: ['gathered_by', 'barcode'], make: (t) => { const w = t.toLowerCase().split(/\s+/).filter(Boolean); if (w.length > 16) badParam('words', t, 'up to 16 words'); return (r) => w.every((y) => r.gathered_by.toLowerCase().includes(y) || r.barcode.toLowerCase().includes(y)); } },
      at_hand: { needs: ['location'], make: (t) => { const b = coerce({ t: 'boolean' }, t, 'at_hand'); return (r) => (r.location === 'in_cabinet') === b; } },
    },
    sorts: { gathered: 'gathered_on', accession: 'accession' }, order: [['gathered_on', -1]], newest: !f('ep-ties'), page: 'first_row', select: 'fields',
  },
  loan: {
    params: {
      status: { make: (t) => { const a = t.split(','); for (const s of a) if (!R.loan.fields.status.enum.includes(s)) badParam('status', s, 'a state'); return (r) => a.includes(r.status); } },
      house: byField('loan', 'house'),
    },
    order: [['asked_at', 1]], page: 'first_row',
  },
  determination: {
    params: { sheet: byField('determination', 'sheet'), by: byField('determination', 'by'), least: { make: (t) => { const n = coerce(R.determination.fields.confidence, t, 'least'); return (r) => r.confidence >= n; } } },
    order: [['made_at', -1]], page: 'first_row',
  },
  entry: { params: { kind: byField('entry', 'kind'), row: byField('entry', 'row') }, order: [['at', -1]], newest: 1, page: 'first_row' },
};
// For each version, what the parameters of a list are called.
const LISTV = {};
for (const ver of VERSIONS) {
  LISTV[ver] = {};
  for (const [res, l] of Object.entries(LISTS)) {
    const m = new Map();
    for (const [n, p] of Object.entries(l.params)) {
      if (!p.field) { m.set(n, p); continue; }
      const v = VCANON[ver][p.res].get(p.field); if (!v) continue;
      m.set(v.name, { ...p, v });
    }
    LISTV[ver][res] = m;
  }
}
const userSees = (res, canon, c) => { // may rows be chosen by this field?
  const sp = R[res].fields[canon]; if (sp.vis && !sp.vis.includes(c?.user)) return false;
  if (!c) return true;
  return [...rulesFor('list ' + res, c.user)].every((r) => !r.fields || r.fields.has(canon));
};
function parseQuery(x) {
  const q = new Map();
  if (x.query) for (const [k, v] of new URLSearchParams(x.query)) { if (!q.has(k)) q.set(k, []); q.get(k).push(v); }
  return q;
}
function readParameters(x) {
  const q = parseQuery(x), e = x.ep, known = new Set();
  const one = (n) => { const a = q.get(n); if (!a) return undefined; known.add(n); if (a.length > 1) badParam(n, a, 'once'); return a[0]; };
  if (e.verb === 'list') {
    const l = LISTS[e.res];
    const preds = [];
    for (const [n, p] of LISTV[x.ver][e.res]) {
      const t = one(n); if (t === undefined) continue;
      for (const c of p.field ? [p.field] : p.needs || []) if (!userSees(e.res, c, x.caller)) badParam(n, t, 'a parameter that there is');
      if (p.field) {
        if (f('ve-enum-filter') && p.v.mapped && p.v.sp.enum) p.v = { ...p.v, sp: R[e.res].fields[p.field], down: (y) => y };
        const want = coerce(p.v.sp, t, n), down = p.v.down;
        preds.push(p.fold ? (r) => r[p.field] !== undefined && r[p.field].toLowerCase() === want.toLowerCase() : (r) => r[p.field] !== undefined && down(r[p.field]) === want);
      } else preds.push(p.make(t, x));
    }
    let order = l.order;
    if (l.sorts) {
      const s = one('sort'), way = one('way');
      if (s !== undefined) {
        const neg = s[0] === '-', name = neg ? s.slice(1) : s;
        if (!Object.hasOwn(l.sorts, name)) badParam('sort', s, 'one of ' + Object.keys(l.sorts).join(', '));
        order = [[l.sorts[name], neg ? -1 : 1]];
      }
      if (way !== undefined) { if (way !== 'asc' && way !== 'desc') badParam('way', way, 'asc or desc'); if (way === 'desc') order = order.map(([k, d]) => [k, -d]); }
    }
    x.list = { preds, order, newest: l.newest };
    if (l.select && q.has(l.select)) {
      known.add(l.select);
      const paths = q.get(l.select).flatMap((s) => s.split(','));
      if (paths.length > 100) badParam(l.select, paths.length, 'up to 100 names');
      const tree = {};
      for (const p of paths) {
        const [a, b, ...more] = p.split('.');
        const v = VBY[x.ver][e.res].get(a);
        if (!v || (v.canon && !userSees(e.res, v.canon, x.caller))) badParam(l.select, p, 'a field that there is');
        if (b !== undefined) { if (v.sp.t !== 'place' || !Object.hasOwn(R.place.fields, b) || more.length) badParam(l.select, p, 'a field that there is'); if (tree[a] !== true) (tree[a] ||= {})[b] = true; } else tree[a] = true;
      }
      x.list.tree = tree;
    }
    const whole = (n, t) => { if (!/^\d+$/.test(t) || !Number.isSafeInteger(+t) || +t < 1) badPage(n, t); return +t; };
    if (l.page === 'first_row') {
      const first = one('first'), rows = one('rows');
      x.list.first = first === undefined ? 1 : whole('first', first);
      const max = 60; x.list.size = rows === undefined ? 15 : whole('rows', rows);
      if (x.list.size > max) { if (f('li-clamp') && e.res === 'loan') badPage('rows', rows); x.list.size = max; }
    }
    if (l.page === 'starting_at') {
      const from = one('from'), size = one('size');
      x.list.size = size === undefined ? 10 : whole('size', size);
      if (x.list.size > 50) badPage('size', size);
      if (from !== undefined) { const r = T.taxon.get(from); if (!r) badPage('from', from); x.list.from = r; }
    }
  }
  if (e.expand) {
    const tree = {};
    for (const k of ['expand', 'expand[]']) if (q.has(k)) {
      known.add(k);
      for (const p of q.get(k).flatMap((s) => s.split(','))) {
        const steps = p.split('.'); if (steps.length > 2) badParam('expand', p, 'at most two steps');
        let res = e.res, at = tree;
        for (const s of steps) { const v = VBY[x.ver][res].get(s); if (!v || !v.sp.ref) badParam('expand', p, 'a reference'); at = at[s] ||= {}; res = v.sp.ref; }
      }
    }
    x.expandTree = tree;
  }
  if (!(f('ep-unknown-param') && e.op === 'list loan')) for (const k of q.keys()) if (!known.has(k)) badParam(k, q.get(k)[0], 'a parameter that there is');
}
function readAccept(x) {
  const a = x.headers.accept; if (a === undefined || a.trim() === '' || x.ep.verb === 'delete') return;
  let best = -1, q = 0;
  for (const part of a.split(',')) {
    const [type, ...ps] = part.split(';').map((s) => s.trim().toLowerCase()); let w = 1;
    for (const p of ps) { const m = /^q=([\d.]+)$/.exec(p); if (m) w = Number(m[1]); }
    const rank = type === 'application/json' ? 2 : type === 'application/*' ? 1 : type === '*/*' ? 0 : -1;
    if (rank > best) { best = rank; q = w; }
  }
  if (best < 0 || !(q > 0)) refuse('request.accept');
}
function readRequestBody(x) {
  const e = x.ep, verb = e.verb;
  if (!(['create', 'update', 'replace', 'upsert'].includes(verb) || e.takesBody)) return;
  if (x.bodySize === 0) refuse('request.missing');
  const ct = x.headers['content-type'];
  if (ct === undefined || ct.trim() === '') refuse('request.untyped');
  const type = ct.split(';')[0].trim().toLowerCase();
  const ok = type === 'application/json' || (verb === 'update' && type === 'application/merge-patch+json') || (e.form && type === 'application/x-www-form-urlencoded');
  if (!ok) refuse('request.media');
  if (x.bodySize > 8192 - (f('li-body') ? 1 : 0)) refuse('limit.size');
  let text;
  try { text = new TextDecoder('utf-8', { fatal: true }).decode(x.bytes); } catch { refuse('request.malformed'); }
  if (type === 'application/x-www-form-urlencoded') {
    const o = {};
    for (const [k, v] of new URLSearchParams(text)) {
      const sp = VBY[x.ver][e.res].get(k)?.sp; let val = v;
      if (sp && sp.t === 'integer' && /^-?\d+$/.test(v) && !f('ep-form')) val = Number(v);
      o[k] = Object.hasOwn(o, k) ? [].concat(o[k], val) : val;
    }
    x.body = o; return;
  }
  try { x.body = JSON.parse(text); } catch { refuse('request.malformed'); }
}

// ---------------------------------------------------------------- doing it
const BASE = '/flora';
const enc = encodeURIComponent;
const addressOf = (res, row, ver) => {
  const p = { taxon: () => '/taxa/' + enc(row.code), cabinet: () => `/cabinets/${enc(row.house)}/${enc(row.label)}`, sheet: () => '/sheets/' + row.id, loan: () => '/loans/' + row.id, determination: () => '/determinations/' + row.id, watch: () => '/watches/' + row.id }[res]();
  return BASE + '/' + ver + p;
};
function findRow(x) {
  const e = x.ep;
  if (e.res === 'cabinet') { for (const c of T.cabinet.values()) if (c.house === x.params.house && c.label === x.params.label) return c; return undefined; }
  return alive(e.res, x.params[e.segs.filter((s) => s[0] === '{').at(-1).slice(1, -1)]);
}
function permit(x, res, row) {
  if (PUBLIC.has(x.ep.op)) return;
  const rules = rulesFor(x.ep.op, x.caller.user);
  if (rules.some((r) => holds(r, row, x.caller))) return;
  if (x.ep.verb !== 'read') {
    const other = rules.find((r) => r.else); if (other) refuse('caller.forbidden.row', { code: other.else });
    if (readable(res, row, x.caller)) refuse('caller.forbidden.row');
  }
  if (f('au-read-403') && res === 'loan' && x.ep.verb === 'read') refuse('caller.forbidden.row');
  refuse('resource.missing');
}
function precondition(x, row) {
  const e = x.ep; if (!e.ifMatch) return;
  const h = x.headers['if-match'];
  if (h === undefined) { if (e.ifMatch === 'required') refuse('precondition.required'); return; }
  if (h.trim() === '*') return;
  const tag = tagOf(show(e.res, row, x.caller, x.ver), x.ver);
  if (f('ep-stale-loan') && e.op === 'update loan') return;
  if (!h.split(',').map((s) => s.trim()).includes(tag)) refuse('precondition.failed');
}
function inStates(x, row) { const i = x.ep.in; if (i && !i[1].includes(row[i[0]])) refuse('transition.illegal.state', { op: x.ep.op }); }

function perform(x) {
  const e = x.ep, { res, verb } = e, c = x.caller, ver = x.ver;
  if (e.run) return e.run(x);
  if (verb === 'list') return listRows(x);
  if (verb === 'create') {
    const bind = {};
    if (res === 'determination') {
      const s = T.sheet.get(x.params.sheet);
      if (!s || !readable('sheet', s, c)) refuse('resource.missing');
      bind.sheet = s.id;
    }
    const r = readBody(res, x.body, x, 'create', { bind, bound: Object.keys(bind) });
    const vals = { ...r.vals, ...bind };
    checkRules(res, vals, r.out, ver);
    invalid(r.out);
    checkRefs(res, vals, c, { skip: Object.keys(bind), ver });
    (vals.lines || []).forEach((l, i) => checkRefs('line', l, c, { prefix: 'lines.' + i }));
    const row = makeRow(res, vals, x);
    startStates(res, row);
    applySets(res, row, ['create', 'write'], x);
    ownErrors('create ' + res, row, null);
    const lines = (vals.lines || []).map((l) => { const n = makeRow('line', { ...l, loan: row.id }, x); ownErrors('create line', n, null, row); return n; });
    const hit = checkUnique(res, row);
    if (hit) {
      if (e.exists && readable(res, hit, c)) return { status: 200, body: show(res, hit, c, ver) };
      refuse('resource.exists');
    }
    if (new Set(lines.map((l) => l.sheet)).size !== lines.length) refuse('resource.exists', { op: 'create line' });
    checkRowLimits(res, row);
    useQuota(x);
    createRow(res, row, x);
    for (const l of lines) createRow('line', l, x);
    if (res === 'watch') setMap(makers, row.id, { caller: c, version: ver });
    return { status: 201, body: show(res, T[res].get(row[R[res].idf]), c, ver, { reveal: 1 }), headers: { Location: addressOf(res, row, ver) }, replay: res === 'watch' ? show(res, row, c, ver) : undefined };
  }
  if (verb === 'upsert') {
    const id = x.params.code, old = T.taxon.get(id), pre = [];
    if (!R.taxon.fields.code.pattern.test(id)) pre.push({ in: 'path', path: 'code', found: brief(id), expected: 'a code', kind: 'value' });
    const r = readBody(res, x.body, x, 'replace', { bind: { code: id }, bound: ['code'], row: old });
    r.out.unshift(...pre);
    const vals = { ...r.vals, code: id };
    const row = old ? { _n: old._n, code: id } : makeRow(res, vals, x, id);
    if (old) for (const [k, sp] of R.taxon.list) { if (vals[k] !== undefined) row[k] = vals[k]; else if (sp.def !== undefined) row[k] = sp.def; else if (f('ep-put-keeps') && old[k] !== undefined) row[k] = old[k]; }
    checkRules(res, row, r.out, ver);
    invalid(r.out);
    if (!(old && vals.parent === id)) checkRefs(res, vals, c, { ver });
    ownErrors('upsert taxon', row, old);
    if (checkUnique(res, row)) refuse('resource.exists');
    if (!old) { createRow(res, row, x); return { status: 201, body: show(res, row, c, ver), headers: { Location: addressOf(res, row, ver) } }; }
    if (!same(old, row)) changeRow(res, old, row, 'upsert taxon', ['write', 'update'], x);
    return { status: 200, body: show(res, T.taxon.get(id), c, ver) };
  }
  // The others have a row.
  let row = findRow(x);
  if (!row && res === 'determination') {
    const g = gone.get(x.params.id);
    if (g && now() < g.at + R.determination.keep && T.determination.get(x.params.id) === undefined) {
      if (verb === 'reinstate') return reinstate(x, g.row);
      if (readable(res, g.row, c) && !f('er-gone')) refuse('resource.gone');
    }
  }
  if (!row) refuse('resource.missing');
  permit(x, res, row);
  precondition(x, row);
  if (verb === 'read') {
    const body = show(res, row, c, ver, { expand: x.expandTree });
    const headers = {};
    if (e.etag) {
      const tag = tagOf(body, ver); headers.ETag = tag;
      const inm = x.headers['if-none-match'];
      if (inm !== undefined && !(f('ep-304') && res === 'loan') && (inm.trim() === '*' || inm.split(',').map((s) => s.trim().replace(/^W\//, '')).includes(tag))) return { status: 304, headers };
    }
    return { status: 200, body, headers };
  }
  if (verb === 'update') {
    const r = readBody(res, x.body, x, 'update', { row });
    const next = { ...row };
    for (const [k, v] of Object.entries(r.vals)) next[k] = R[res].fields[k].t === 'place' ? finishPlace(v, row[k]) : v;
    for (const k of r.removed) delete next[k];
    checkRules(res, next, r.out, ver);
    invalid(r.out);
    checkRefs(res, Object.fromEntries(Object.entries(r.vals).filter(([k, v]) => row[k] !== v)), c, { ver });
    inStates(x, row);
    let moved = false;
    if (res === 'sheet' && next.review !== row.review) {
      if (next.review !== 'doubted') refuse('transition.illegal.state', { op: 'update sheet' });
      moved = true;
    }
    ownErrors('update ' + res, next, row);
    if (checkUnique(res, next)) refuse('resource.exists');
    if (f('fn-watch') && res === 'watch') return { status: 200, body: show(res, next, c, ver) };
    if (moved || !same(row, next)) changeRow(res, row, next, 'update ' + res, ['write', 'update'].concat(moved ? ['doubt'] : []), x);
    return { status: 200, body: show(res, T[res].get(row.id), c, ver) };
  }
  if (verb === 'replace') {
    const r = readBody(res, x.body, x, 'replace', { row, refuseReadOnly: true });
    invalid(r.out);
    const next = { ...row };
    for (const [k, sp] of R.cabinet.list) { if (sp.ro || sp.imm) continue; if (r.vals[k] !== undefined) next[k] = r.vals[k]; else if (sp.def !== undefined) next[k] = sp.def; else delete next[k]; }
    ownErrors('replace cabinet', next, row);
    if (!same(row, next)) changeRow(res, row, next, 'replace cabinet', ['write', 'replace'], x);
    return { status: 200, body: show(res, T.cabinet.get(row.id), c, ver) };
  }
  if (verb === 'delete') { inStates(x, row); deleteRow(res, row, x); return { status: 204 }; }
  // A transition.
  if (e.takesBody) {
    const out = [];
    if (!isMap(x.body)) bad(out, '', x.body, 'a map', 'type');
    else if (!('days' in x.body)) bad(out, 'days', 'nothing', 'a whole number', 'missing');
    else fits(int({ lo: 1, hi: 30 }), x.body.days, 'days', out);
    invalid(out); x.request = x.body;
  }
  const after = transition(res, row, verb, x);
  if (verb === 'cancel') return { status: 200, body: { loan: after.id, state: after.status } };
  return readable(res, after, c) ? { status: 200, body: show(res, after, c, ver) } : { status: 204 };
}
function reinstate(x, row) {
  permit(x, 'determination', row);
  const next = { ...row, standing: f('st-reinstate') ? row.standing : 'offered' };
  if (!T.sheet.get(next.sheet) || !T.taxon.get(next.taxon)) refuse('reference.missing');
  if (checkUnique('determination', next)) refuse('resource.exists');
  put('determination', next); delMap(gone, row.id);
  return { status: 200, body: show('determination', next, x.caller, x.ver) };
}
function prune(obj, tree, idName) {
  const o = {};
  for (const k of Object.keys(obj)) {
    if (k === idName || tree[k] === true) o[k] = obj[k];
    else if (tree[k]) { o[k] = {}; for (const b of Object.keys(obj[k])) if (tree[k][b]) o[k][b] = obj[k][b]; }
  }
  return o;
}
function listRows(x) {
  const { res } = x.ep, l = x.list, spec = LISTS[res], c = x.caller, ver = x.ver;
  let rows = all(res).filter((r) => listable(res, r, c) && l.preds.every((p) => p(r)));
  const cmp = (a, b) => { for (const [k, d] of l.order) { if (a[k] < b[k]) return -d; if (a[k] > b[k]) return d; } return l.newest ? b._n - a._n : a._n - b._n; };
  rows.sort(cmp);
  const total = rows.length, self = BASE + '/' + ver + x.ep.path, headers = {};
  const view = (r) => { const o = show(res, r, c, ver); return l.tree ? prune(o, l.tree, 'id') : o; };
  if (spec.page === 'none') return { status: 200, body: { cabinets: rows.map(view), tally: total, self, kind: 'cabinets' } };
  if (spec.page === 'starting_at') {
    let at = 0; if (l.from) { at = rows.findIndex((r) => (f('li-from') ? cmp(r, l.from) > 0 : cmp(r, l.from) >= 0)); if (at < 0) at = rows.length; }
    const page = rows.slice(at, at + l.size), next = rows[at + l.size];
    return { status: 200, body: { taxa: page.map(view), onward: next ? next.code : null, tally: total, more: !!next, self, kind: 'taxa' } };
  }
  const at = l.first - 1, page = rows.slice(at, at + l.size), more = at + l.size < total;
  const link = (first, rel) => { const p = new URLSearchParams(x.query || ''); p.delete('first'); p.delete('rows'); p.set('first', first); p.set('rows', l.size); return `<${f('base-link') ? '/' + ver + x.ep.path : self}?${p}>; rel="${rel}"`; };
  x.links.push(link(1, 'first'));
  if (l.first > 1) x.links.push(link(Math.max(1, l.first - l.size), 'prev'));
  if (more) x.links.push(link(l.first + l.size, 'next'));
  return { status: 200, body: { rows: page.map(view), tally: total, more, self, kind: 'page' }, headers };
}

// ---------------------------------------------------------------- idempotency
const kept = new Map();
function withKey(x) {
  const key = x.method === 'POST' ? x.headers['idempotency-key'] : undefined;
  if (key === undefined || !x.caller) return transact(() => perform(x));
  const k = JSON.stringify([f('ep-key-shared') ? '' : x.caller.user + '/' + x.caller.id, x.ep.op, key]);
  const fp = crypto.createHash('sha256').update(x.target + '\n').update(x.bytes).digest('hex');
  const old = kept.get(k);
  if (old && now() < old.at + DAY) { if (old.fp !== fp) refuse('idempotency.reused'); return old.answer; }
  const keep = (answer) => { kept.set(k, { fp, at: now(), answer }); if (kept.size > 20000) kept.delete(kept.keys().next().value); };
  try {
    const a = transact(() => perform(x));
    keep({ status: a.status, headers: a.headers, body: a.replay || a.body });
    return a;
  } catch (e) {
    if (e instanceof Refusal && e.own) { const a = refusalAnswer(x, e); keep(a); return a; }
    throw e;
  }
}

// ---------------------------------------------------------------- answers
function refusalAnswer(x, e) {
  const k = codeOf(e), first = e.first;
  let says = k.message || SAYS[k.name] || k.name;
  if (first) says = says.replace('{name}', first.path).replace('{found}', first.found).replace('{expected}', first.expected);
  const fault = { code: k.name, says, grade: k.grade, request: x.rid };
  if (e.violations && e.violations.length) fault.where = f('er-pointer') ? e.violations.map((v) => ({ ...v, path: v.in === 'body' ? '/' + v.path.replaceAll('.', '/') : v.path })) : e.violations;
  return { status: k.status, body: { fault }, headers: { ...(e.headers || {}), 'X-Herb-Fault': k.name } };
}
function lifeHeaders(x, h) {
  if (!x.known) return;
  const lives = [{ ...LIFE[x.ver], version: 1 }]; if (x.ep && x.ep.life && !f('ve-endpoint-life')) lives.push(x.ep.life);
  const dep = lives.map((l) => l.deprecated).filter(Boolean), sun = lives.map((l) => l.sunset).filter(Boolean);
  if (dep.length) h.Deprecation = '@' + Math.min(...dep) / 1000;
  if (sun.length) h.Sunset = httpDate(Math.min(...sun));
  for (const l of lives) {
    if (l.link) x.links.push(`<${l.link}>; rel="deprecation"`);
    if (l.alternative) x.links.push(`<${BASE}/${l.alternative}${x.rest}${x.query !== undefined ? '?' + x.query : ''}>; rel="successor-version"`);
  }
}
function respond(x, a) {
  const h = { ...(a.headers || {}) };
  if (a.status === 304 && !f('li-304')) for (const g of x.counted) if (g.name === 'caller') g.back();
  if (x.told.length) {
    const t = x.told.map((g) => g.tell()).sort((p, q) => p.left - q.left || q.reset - p.reset)[0];
    h['X-Herb-Limit'] = String(t.limit); h['X-Herb-Left'] = String(t.left); h['X-Herb-Reset'] = String(t.reset);
  }
  lifeHeaders(x, h);
  if (x.links.length) h.Link = x.links.join(', ');
  h['X-Herb-Request'] = x.rid;
  if (x.ep && x.ep.cache && (a.status === 200 || a.status === 304)) h['Cache-Control'] = x.ep.cache;
  const vary = [];
  if (x.ep && !PUBLIC.has(x.ep.op)) { const acc = x.ep.accept || ALL; if (acc.includes('ticket') || acc.includes('badge')) vary.push('Authorization'); if (acc.includes('seal')) vary.push('X-Herb-Seal', 'X-Herb-Key'); }
  vary.push('Origin'); h.Vary = vary.join(', ');
  if (x.headers.origin === 'https://floristics.example') {
    h['Access-Control-Allow-Origin'] = 'https://floristics.example';
    if (x.preflight) { h['Access-Control-Allow-Methods'] = x.allow.join(', '); const want = x.headers['access-control-request-headers']; if (want) h['Access-Control-Allow-Headers'] = want; } else h['Access-Control-Expose-Headers'] = [...Object.keys(h).filter((k) => !k.startsWith('Access-')), 'Date', 'Content-Type', 'Content-Length'].join(', ');
  }
  let text = a.body === undefined ? undefined : JSON.stringify(a.body);
  if (text !== undefined) { h['Content-Type'] = 'application/json'; h['Content-Length'] = String(Buffer.byteLength(text)); } else if (a.status !== 204 && a.status !== 304) h['Content-Length'] = '0';
  if (x.close) h.Connection = 'close';
  x.res.writeHead(a.status, h);
  x.res.end(x.method === 'HEAD' ? undefined : text);
}
function steps(x) {
  if (Buffer.byteLength(x.target, 'latin1') > 1024) refuse('limit.size.url');
  let hs = 0; for (let i = 0; i < x.raw.length; i += 2) hs += x.raw[i].length + 2 + x.raw[i + 1].length + 2;
  if (hs > 8192) refuse('limit.size.headers');
  const i = x.target.indexOf('?'), path = i < 0 ? x.target : x.target.slice(0, i);
  x.query = i < 0 ? undefined : x.target.slice(i + 1);
  route(x, path);
  if (x.method === 'OPTIONS') { x.preflight = x.headers['access-control-request-method'] !== undefined; x.ep = null; return { status: 204, headers: { Allow: x.allow.join(', ') } }; }
  takeRates(x, ['address']);
  x.caller = PUBLIC.has(x.ep.op) ? null : authenticate(x);
  takeRates(x, ['caller', 'house']);
  if (crossSite(x)) refuse('caller.forbidden');
  const user = () => {
    if (PUBLIC.has(x.ep.op)) return;
    const rules = rulesFor(x.ep.op, x.caller ? x.caller.user : undefined);
    if (!rules.length) refuse('caller.forbidden.user');
    if (!rules.some((r) => scoped(r, x.caller))) refuse('caller.forbidden.scope');
  };
  if (f('er-order')) { readParameters(x); user(); } else { user(); readParameters(x); }
  readAccept(x);
  readRequestBody(x);
  return withKey(x);
}
function serve(req, res) {
  const x = { res, method: req.method, target: req.url, raw: req.rawHeaders, headers: req.headers, addr: req.socket.remoteAddress || '', rid: 'rq_' + rnd(16), counted: [], told: [], links: [], bodySize: 0, bytes: Buffer.alloc(0), ver: 'e3', ep: null };
  const chunks = [];
  let fin = false;
  const go = () => {
    if (fin) return; fin = true;
    x.bytes = Buffer.concat(chunks);
    let a;
    try { runDue(); a = steps(x); runDueSoon(); } catch (e) {
      if (!(e instanceof Refusal)) { console.error(e); e = new Refusal('internal'); }
      a = refusalAnswer(x, e);
    }
    try { respond(x, a); } catch (e) { console.error(e); res.destroy(); }
  };
  req.on('data', (d) => { x.bodySize += d.length; if (x.bodySize <= 65536) chunks.push(d); else if (x.bodySize > 16 * 1048576) { x.close = true; go(); req.destroy(); } });
  req.on('end', go);
  req.on('error', () => { fin = true; });
  res.on('error', () => {});
}
let soon = false;
function runDueSoon() { if (soon) return; soon = true; setImmediate(() => { soon = false; try { runDue(); } catch (e) { console.error(e); } }); }

const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 10000, headersTimeout: 10000, keepAliveTimeout: 60000, connectionsCheckingInterval: 500, noDelay: true, insecureHTTPParser: false }, serve);
server.on('clientError', (err, socket) => {
  if (!socket.writable || socket.destroyed) { socket.destroy(); return; }
  const c = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'limit.time' : err.code === 'HPE_HEADER_OVERFLOW' ? 'limit.size.headers' : 'request.malformed';
  const a = refusalAnswer({ rid: 'rq_' + rnd(16) }, new Refusal(c)), text = JSON.stringify(a.body);
  socket.end(`HTTP/1.1 ${a.status} ${http.STATUS_CODES[a.status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nX-Herb-Fault: ${a.body.fault.code}\r\nX-Herb-Request: ${a.body.fault.request}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(Number(arg('--port')), '127.0.0.1');

// ---------------------------------------------------------------- the door of the clock
function addDuration(t, s) {
  const m = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(s); if (!m) return null;
  const [y, mo, w, d, h, mi, se] = m.slice(1).map((v) => Number(v || 0));
  const a = new Date(t);
  if (y || mo) { const day = a.getUTCDate(); a.setUTCDate(1); a.setUTCMonth(a.getUTCMonth() + mo + 12 * y); a.setUTCDate(Math.min(day, new Date(Date.UTC(a.getUTCFullYear(), a.getUTCMonth() + 1, 0)).getUTCDate())); }
  return a.getTime() + (w * 7 + d) * DAY + h * 3600000 + mi * 60000 + Math.round(se * 1000);
}
const door = http.createServer({ noDelay: true }, (req, res) => {
  const chunks = []; req.on('data', (d) => chunks.push(d)); req.on('error', () => {});
  req.on('end', () => {
    const say = (s, o) => { const t = JSON.stringify(o); res.writeHead(s, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
    const told = () => say(200, { now: iso(now()) });
    if (req.method === 'GET') return told();
    if (req.method !== 'POST') return say(400, { error: 'GET or POST' });
    let b; try { b = JSON.parse(Buffer.concat(chunks).toString()); } catch { return say(400, { error: 'no JSON' }); }
    if (!isMap(b) || Object.keys(b).length !== 1) return say(400, { error: 'advance or now' });
    let to = null;
    if (typeof b.advance === 'string') to = addDuration(now(), b.advance);
    else if (typeof b.now === 'string' && /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(b.now)) to = Date.parse(b.now.toUpperCase());
    if (to === null || Number.isNaN(to)) return say(400, { error: 'no time' });
    if (to < now()) return say(422, { error: 'the clock goes forward alone' });
    try {
      offset += to - now();
      runDue();
    } catch (e) { console.error(e); }
    setTimeout(told, 5);
  });
});
door.listen(Number(arg('--clock-port')), '127.0.0.1');
setInterval(() => { try { runDue(); } catch (e) { console.error(e); } }, 100);
process.on('uncaughtException', (e) => console.error(e));
process.on('unhandledRejection', (e) => console.error(e));
