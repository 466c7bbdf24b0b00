// A community cider press. node service.mjs --port N --clock-port M [--fault ID]
import http from 'node:http';
import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';

const argument = (name) => { const i = process.argv.indexOf(name); return i < 0 ? undefined : process.argv[i + 1]; };
const PORT = Number(argument('--port') ?? 8080), CLOCK = Number(argument('--clock-port') ?? 8081), FAULT = argument('--fault');
const F = (id) => FAULT === id;
const BASE = '/press', TITLE = 'Cider press';
const DAY = 86400000, HOUR = 3600000, MINUTE = 60000;

// ---------------------------------------------------------------- callers
const ACCOUNTS = [
  { user: 'grower', id: 'g_ida', scopes: ['book'], key: 'pk_idaIdaIdaIdaIdaIdaIda001', password: 'Russet-and-Rain' },
  { user: 'grower', id: 'g_tom', scopes: ['book'], key: 'pk_tomTomTomTomTomTomTom002' },
  { user: 'grower', id: 'g_una', scopes: [], key: 'pk_unaUnaUnaUnaUnaUnaUna003' },
  { user: 'keeper', id: 'k_bram', scopes: ['cellar'], key: 'pk_bramBramBramBramBram0004' },
  { user: 'keeper', id: 'k_wyn', scopes: ['cellar'], password: 'Stoke-the-Press' },
  { user: 'keeper', id: 'k_new', scopes: [], key: 'pk_newNewNewNewNewNewNew005' },
  { user: 'merchant', id: 'm_pip', scopes: [], key: 'pk_pipPipPipPipPipPipPip006' },
  { user: 'merchant', id: 'm_rosa', scopes: [], password: 'Bottles-by-Cart', key: 'pk_rosaRosaRosaRosaRosa0007' },
];
const BY_KEY = new Map(ACCOUNTS.filter((a) => a.key).map((a) => [a.key, a]));
const BY_NAME = new Map(ACCOUNTS.filter((a) => a.password).map((a) => [a.id, a]));

// ---------------------------------------------------------------- time
let offset = 0, frozen = null;
const now = () => frozen ?? Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();
const timers = new Map();
let nextDue = Infinity, timerSeq = 0;
function setTimer(key, due, run) { timers.set(key, { due, seq: timerSeq++, run }); if (due < nextDue) nextDue = due; }
function dropTimer(key) { timers.delete(key); }
function runDue(upTo) {
  while (nextDue <= upTo) {
    let best = null, bestKey = null;
    for (const [key, t] of timers) if (!best || t.due < best.due || (t.due === best.due && t.seq < best.seq)) { best = t; bestKey = key; }
    if (!best || best.due > upTo) { nextDue = best ? best.due : Infinity; return; }
    timers.delete(bestKey);
    const before = frozen;
    frozen = Math.max(best.due, lastMoment);
    lastMoment = frozen;
    try { best.run(); } finally { frozen = before; }
  }
}
let lastMoment = 0;
function tick() { const t = now(); runDue(t); lastMoment = Math.max(lastMoment, t); }
setInterval(tick, 50).unref();

// ---------------------------------------------------------------- errors
const CODES = {
  malformed: [400, 'The body cannot be read.'], wrong_media: [415, 'Bodies are JSON.'], not_acceptable: [406, 'Answers are JSON.'],
  bad_parameter: [400, 'A parameter is not as it has to be.'], bad_page: [400, 'There is no such page.'],
  missing_field: [400, ''], invalid: [422, 'Something in the body is not as it has to be.'],
  no_credential: [401, 'Say who you are.'], bad_credential: [401, 'That credential is not known.'],
  missing_scope: [403, 'Your credential is not for this.'], forbidden: [403, 'That is not for you.'],
  no_such_path: [404, 'There is no such path.'], not_found: [404, 'There is no such thing.'], bad_reference: [422, 'It refers to what is not there.'],
  wrong_method: [405, 'Not by this method.'], taken: [F('x-status') ? 422 : 409, 'There is one already.'], in_use: [409, 'Something refers to it.'],
  wrong_state: [409, 'Not in this state.'], changed: [412, 'It was changed meanwhile.'], tag_needed: [428, 'Send If-Match.'],
  key_reused: [422, 'That key was used for another request.'], too_many: [429, 'Not so fast.'], used_up: [429, 'There is no more of that for now.'],
  too_large: [413, 'That is too large.'], url_too_long: [414, 'That address is too long.'], headers_too_large: [431, 'Those headers are too large.'],
  timed_out: [408, 'That took too long.'], no_version: [400, 'There is no such version.'], old_version: [410, 'That version is no longer served.'],
  unavailable: [503, 'Come again later.'], failed: [500, 'Something went wrong here.'],
  too_small: [409, 'Less than fifty kilograms are pressed in the basket alone.'], yield_too_high: [422, 'No apple gives more than its weight.'],
  too_late: [409, 'It was begun or is over.'], overflow: [409, 'The barrel does not hold so much.'], not_enough: [409, 'There is not so much in the barrel.'],
  barrel_low: [409, 'The barrel is not ready or does not have that much.'], lot_is_gone: [409, 'The lot was reserved or is over.'],
  too_much_fruit: [422, 'An orchard has a hundred kilograms a tree.'], closes_in_past: [422, 'A lot cannot close before now.'],
  below_level: [409, 'There is more than that in the barrel.'],
};
const OWN = new Set(['too_small', 'yield_too_high', 'too_late', 'overflow', 'not_enough', 'barrel_low', 'lot_is_gone', 'too_much_fruit', 'closes_in_past', 'below_level']);
class Refusal extends Error {
  constructor(code, { details, headers, message } = {}) { super(code); this.code = code; this.details = details; this.headers = headers ?? {}; this.text = message; }
}
const refuse = (code, more) => { throw new Refusal(code, more); };
function errorBody(e, requestId) {
  const [status, text] = CODES[e.code];
  const error = { code: e.code, status, message: e.text ?? text, request: requestId };
  if (F('x-request') && status >= 422) delete error.request;
  if (e.details?.length) error.details = e.details;
  return { error };
}

// ---------------------------------------------------------------- shapes
const string = (min, max) => ({ expected: `a text of ${min} to ${max} characters`, ok: (v) => typeof v === 'string' && [...v].length >= min && [...v].length <= max });
const integer = (min, max) => ({ integer: true, expected: `an integer from ${min} to ${max}`, ok: (v) => Number.isSafeInteger(v) && v >= min && v <= max });
const number = (min, max) => ({ expected: `a number from ${min} to ${max}`, ok: (v) => typeof v === 'number' && v >= min && v <= max });
const oneOf = (...values) => ({ values, expected: `one of ${values.join(', ')}`, ok: (v) => values.includes(v) });
const boolean = { boolean: true, expected: 'true or false', ok: (v) => typeof v === 'boolean' };
const isDate = (v) => {
  const m = typeof v === 'string' && /^(\d{4})-(\d\d)-(\d\d)$/.exec(v);
  if (!m) return false;
  const d = new Date(Date.UTC(2000, 0, 1)); d.setUTCFullYear(+m[1], +m[2] - 1, +m[3]);
  return d.getUTCFullYear() === +m[1] && d.getUTCMonth() === +m[2] - 1 && d.getUTCDate() === +m[3];
};
const date = { expected: 'a date', ok: isDate };
const dateTime = { expected: 'a date-time', ok: (v) => {
  const m = typeof v === 'string' && /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(v);
  return Boolean(m) && isDate(m[1]) && +m[2] < 24 && +m[3] < 60 && +m[4] < 60 && !Number.isNaN(Date.parse(v));
} };
const uri = { expected: 'an absolute address', ok: (v) => typeof v === 'string' && v.length <= 300 && /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/.test(v) && URL.canParse(v) };
const text = { expected: 'a text', ok: (v) => typeof v === 'string' };
const VARIETIES = ['bittersweet', 'bittersharp', 'sharp', 'sweet'];
const varieties = { expected: 'one to four varieties, each once', ok: (v) => Array.isArray(v) && v.length >= 1 && v.length <= 4 && v.every((x) => VARIETIES.includes(x)) && new Set(v).size === v.length };
const KINDS = ['orchard.renamed', 'pressing.booked', 'pressing.finished', 'pressing.off', 'barrel.level', 'barrel.ready', 'tasting.removed', 'lot.released', 'lot.reserved'];
const knownKind = (k) => k === '*' || KINDS.includes(k) || (k.endsWith('.*') && KINDS.some((x) => x.startsWith(k.slice(0, -1))));
const kinds = { expected: 'up to ten kinds of event', ok: (v) => Array.isArray(v) && v.length <= 10 && v.every((x) => typeof x === 'string'),
  inner: (v) => v.flatMap((x, i) => (knownKind(x) ? [] : [{ path: `/${i}`, expected: 'a kind of event' }])) };

// field: { shape, required, readOnly, immutable, default, visible, writable, ref, derive }
const ro = { readOnly: true };
const rowsOf = (resource) => [...store[resource].values()];
const refering = (resource, field, id) => rowsOf(resource).filter((r) => r[field] === id);
const RESOURCES = {
  orchard: { prefix: 'orc', fields: {
    id: ro, grower: ro, name: { shape: string(2, 40), required: true }, parish: { shape: string(2, 40), required: true },
    trees: { shape: integer(1, F('r-trees') ? 50000 : 5000), required: true }, varieties: { shape: varieties, required: true },
    organic: { shape: boolean, default: false, required: true }, keeperNote: { shape: string(0, 120), visible: F('r-note-seen') ? undefined : ['keeper'], writable: ['keeper'] },
    pressings: { readOnly: true, derive: (o) => refering('pressing', 'orchard', o.id).length },
    pressedKilograms: { readOnly: true, derive: (o) => refering('pressing', 'orchard', o.id).filter((p) => p.status === 'pressed' || (F('r-pressedkg') && p.status === 'pressing')).reduce((n, p) => n + p.kilograms, 0) },
    createdAt: ro, updatedAt: ro } },
  pressing: { prefix: 'prs', fields: {
    id: ro, number: ro, orchard: { shape: text, ref: 'orchard', immutable: true, required: true }, grower: ro, day: { shape: date, required: true },
    kilograms: { shape: integer(20, 4000), required: true }, method: { shape: oneOf('rack', 'belt', 'basket'), default: 'rack', required: true },
    note: { shape: string(0, 200) }, status: ro, reason: ro, litres: ro, bookedAt: ro, finishedAt: ro } },
  barrel: { prefix: 'brl', fields: {
    id: ro, name: { shape: string(2, 30), required: true }, wood: { shape: oneOf('oak', 'chestnut', 'steel'), required: true },
    capacity: { shape: integer(50, 1000), required: true }, level: ro, status: ro,
    tastings: { readOnly: true, derive: (b) => refering('tasting', 'barrel', b.id).length },
    bestScore: { readOnly: true, derive: (b) => { const all = refering('tasting', 'barrel', b.id); return all.length ? Math.max(...all.map((t) => t.score)) : undefined; } },
    filledAt: ro, readyAt: ro, updatedAt: ro } },
  movement: { prefix: 'mov', fields: { id: ro, number: ro, barrel: ro, kind: ro, litres: ro, levelAfter: ro, at: ro } },
  tasting: { prefix: 'tst', fields: {
    id: ro, barrel: { shape: text, ref: 'barrel', immutable: true, required: true }, taster: ro, score: { shape: integer(1, 10), required: true },
    dryness: { shape: oneOf('dry', 'medium', 'sweet'), required: true }, words: { shape: string(0, 300) }, tastedOn: { shape: date, required: true }, createdAt: ro } },
  lot: { prefix: 'lot', fields: {
    id: ro, code: ro, title: { shape: string(2, 60), required: true }, barrel: { shape: text, ref: 'barrel', immutable: true, required: true },
    bottles: { shape: integer(1, 400), required: true }, bottleMl: { shape: oneOf(330, 500, 750), default: 750, required: true },
    litres: { readOnly: true, derive: (l) => litresOf(l) }, price: { shape: integer(100, 10000), required: true },
    cost: { shape: integer(0, 10000), visible: ['keeper'] }, status: ro, holder: { readOnly: true, visible: ['keeper', 'merchant'] },
    closesAt: { shape: dateTime }, releasedAt: ro, createdAt: ro } },
  hook: { prefix: 'hok', fields: {
    id: ro, owner: ro, url: { shape: uri, required: true }, events: { shape: kinds }, active: { shape: boolean, default: true, required: true },
    secret: { readOnly: true, once: true }, createdAt: ro } },
};
const litresOf = (l) => Math.floor((l.bottles * l.bottleMl + (F('r-litres') ? 0 : 999)) / 1000);
const store = Object.fromEntries(Object.keys(RESOURCES).map((r) => [r, new Map()]));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (n) => Array.from({ length: n }, () => LETTERS[randomInt(62)]).join('');
const counters = new Map();
const count = (name) => { const n = (counters.get(name) ?? 0) + 1; counters.set(name, n); return n; };
let rowSeq = 0;

// ---------------------------------------------------------------- versions
const OLDEST = '2025-01-15', OLD = '2025-09-01', CURRENT = '2026-03-01';
const VERSIONS = {
  [OLDEST]: { deprecated: '2025-06-01', sunset: '2026-06-01', alternative: CURRENT },
  [OLD]: { deprecated: '2026-09-01', sunset: '2027-09-01', alternative: CURRENT, link: 'https://press.example/upgrade' },
  [CURRENT]: {},
};
const older = (v) => v !== CURRENT;
const nameIn = (resource, field, v) => (older(v) && resource === 'pressing' && field === 'kilograms' ? 'weight' : field);
function fieldIn(resource, name, v) { // the newest name of what that version calls so
  if (older(v)) {
    if (resource === 'pressing' && name === 'weight') return 'kilograms';
    if (resource === 'pressing' && name === 'kilograms') return undefined;
    if (resource === 'orchard' && name === 'organic') return undefined;
  }
  return Object.hasOwn(RESOURCES[resource].fields, name) ? name : undefined;
}
function shapeIn(resource, field, v) {
  if (older(v)) {
    if (resource === 'barrel' && field === 'wood') return oneOf('oak', 'chestnut', 'metal');
    if (resource === 'lot' && field === 'price') return number(1, 100);
  }
  return RESOURCES[resource].fields[field].shape;
}
const roundAway = (x) => Math.sign(x) * Math.floor(Math.abs(x) + 0.5);
function up(resource, field, value, v) {
  if (older(v)) {
    if (resource === 'barrel' && field === 'wood' && value === 'metal') return 'steel';
    if (resource === 'lot' && field === 'price') return F('w-round') ? Math.trunc(value * 100) : roundAway(value * 100);
  }
  return value;
}
function down(resource, field, value, v) {
  if (older(v)) {
    if (resource === 'barrel' && field === 'wood' && value === 'steel') return 'metal';
    if (resource === 'lot' && field === 'price') return value / 100;
  }
  return value;
}
function versionHeaders(v, target) {
  const h = { 'Press-Version': v };
  const about = VERSIONS[v];
  if (about.deprecated) {
    h.Deprecation = F('w-deprecation') ? about.deprecated : `@${Date.parse(about.deprecated) / 1000}`;
    h.Sunset = new Date(about.sunset).toUTCString();
    h.Link = [...(about.link ? [`<${about.link}>; rel="deprecation"`] : []), `<${target}>; rel="successor-version"`].join(', ');
  }
  return h;
}

// ---------------------------------------------------------------- what is shown
function view(resource, row, caller, v, reveal = false, unhidden = false) {
  const out = {};
  for (const [field, f] of Object.entries(RESOURCES[resource].fields)) {
    if (f.visible && !unhidden && !(caller && f.visible.includes(caller.user))) continue;
    if (f.once && !reveal && !(F('r-secret') && caller?.id === row.owner && !unhidden && row.active)) continue;
    if (older(v) && resource === 'orchard' && field === 'organic') continue;
    const value = f.derive ? f.derive(row) : row[field];
    if (value === undefined || value === null) continue;
    out[nameIn(resource, field, v)] = down(resource, field, value, v);
  }
  return out;
}
const tagOf = (body, v) => `"${createHash('sha256').update(v + JSON.stringify(body)).digest('base64url').slice(0, 27)}"`;

// ---------------------------------------------------------------- permissions
const all = (resource, ...verbs) => verbs.map((verb) => `${verb} ${resource}`);
const holds = (r, c) => Boolean(r.holder) && r.holder === c?.id;
const own = (field) => (r, c) => r[field] === c.id;
const RULES = [
  { allow: ['create orchard'], to: ['grower'] },
  { allow: all('orchard', 'list', 'read', 'update', 'delete'), to: ['grower'], if: own('grower'), name: 'own orchard' },
  { allow: all('orchard', 'list', 'read', 'update'), to: ['keeper'] },
  { allow: ['create pressing'], to: ['grower'], scopes: F('a-scope') ? [] : ['book'] },
  { allow: all('pressing', 'list', 'update', 'cancel'), to: ['grower'], if: own('grower') },
  { allow: ['read pressing'], to: ['grower'], if: F('a-read') ? () => true : own('grower') },
  { allow: all('pressing', 'list', 'read', 'confirm', 'start', 'finish', 'cancel'), to: ['keeper'] },
  { allow: all('barrel', 'list', 'read'), to: ['grower', 'keeper'] },
  { allow: [...all('barrel', 'create', 'update', 'delete', 'fill', 'rest', 'draw'), 'list movement'], to: ['keeper'], scopes: ['cellar'] },
  { allow: all('tasting', 'create', 'list', 'read'), to: ['grower', 'keeper'] },
  { allow: ['replace tasting'], to: ['grower', 'keeper'], if: F('a-replace') ? (r, c) => r.taster === c.id || c.user === 'keeper' : own('taster') },
  { allow: ['delete tasting'], to: ['grower', 'keeper'], if: own('taster') },
  { allow: [...all('lot', 'create', 'list', 'read', 'update', 'release', 'withdraw'), 'read lot card'], to: ['keeper'] },
  { allow: [...all('lot', 'list', 'read'), 'read lot card'], to: ['anyone'], if: (r) => r.status === 'released' },
  { allow: [...all('lot', 'list', 'read'), 'read lot card'], to: ['merchant'], if: holds },
  { allow: ['reserve lot'], to: ['merchant'] },
  { allow: ['collect lot'], to: ['merchant'], if: holds },
  { allow: ['create hook'], to: ['grower', 'keeper', 'merchant'] },
  { allow: all('hook', 'list', 'read', 'update', 'delete'), to: ['grower', 'keeper', 'merchant'], if: own('owner') },
];
const forUser = (op, c) => RULES.filter((r) => r.allow.includes(op) && (r.to.includes('anyone') || (c && r.to.includes(c.user))));
const scoped = (op, c) => forUser(op, c).filter((r) => !r.scopes || r.scopes.every((s) => c?.scopes.includes(s)));
const may = (op, row, c) => scoped(op, c).some((r) => !r.if || r.if(row, c));
const READS = { orchard: ['read orchard'], pressing: ['read pressing'], barrel: ['read barrel'], movement: ['list movement'], tasting: ['read tasting'], lot: ['read lot', 'read lot card'], hook: ['read hook'] };
const mayRead = (resource, row, c) => READS[resource].some((op) => may(op, row, c));

// ---------------------------------------------------------------- events
const WAITS = [10000, MINUTE, 10 * MINUTE, 6 * HOUR];
const queues = new Map();
let underWay = 0;
function subscribed(hook, kind) {
  return !hook.events || hook.events.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))));
}
function record(kind, resource, before, next, payload, to) {
  const row = next ?? before, at = iso(now()), id = `evt_${random(16)}`;
  for (const hook of store.hook.values()) {
    if (!hook.active || !subscribed(hook, kind)) continue;
    if (to ? !to(hook) : !mayRead(resource, row, hook._maker)) continue;
    const v = F('w-pin') ? CURRENT : hook._version;
    const body = JSON.stringify({ id, kind, at, data: payload ?? view(resource, row, hook._maker, v, false, F('v-cost') && kind === 'lot.released') });
    enqueue({ hook: hook.id, row: row.id, id, kind, body, tries: 0 });
  }
}
function enqueue(job) {
  const key = `${job.hook}|${job.row}`;
  const queue = queues.get(key) ?? [];
  queues.set(key, queue);
  queue.push(job);
  if (queue.length === 1) begin(key);
}
function begin(key) { const t = now(); setImmediate(() => attempt(key, t)); underWay++; }
function attempt(key, startedAt) {
  const queue = queues.get(key), job = queue?.[0];
  const hook = job && store.hook.get(job.hook);
  if (!job || !hook || !hook.active) { queues.delete(key); underWay--; return; }
  const t = Math.floor(Math.max(startedAt, 0) / 1000);
  const signed = F('v-sig') ? job.body : `${t}.${job.body}`;
  const signature = createHmac('sha256', hook.secret).update(signed).digest('hex');
  let over = false;
  const done = (good, status, retryAfter) => {
    if (over) return;
    over = true; underWay--;
    if (good) { hook._failing = undefined; queue.shift(); } else {
      hook._failing ??= now();
      if (status === 410 || now() - hook._failing >= 3 * DAY) { hook.active = false; queues.delete(key); return; }
      if (job.tries >= WAITS.length) queue.shift();
      else {
        const due = now() + Math.max(WAITS[job.tries++], retryAfter ?? 0);
        setTimer(`try ${key}`, due, () => begin(key));
        return;
      }
    }
    if (queue.length) begin(key); else queues.delete(key);
  };
  try {
    const q = http.request(hook.url, { method: 'POST', agent: false, timeout: 5000, headers: {
      'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(job.body), 'Press-Signature': `t=${t},v1=${signature}`,
      'Press-Event': job.kind, 'Press-Event-Id': F('v-id') && job.tries ? `evt_${random(16)}` : job.id } }, (a) => {
      a.resume();
      const wait = Number(a.headers['retry-after']);
      done(a.statusCode >= 200 && a.statusCode < 300, a.statusCode, wait > 0 ? Math.min(wait * 1000, DAY) : undefined);
    });
    q.on('timeout', () => q.destroy(new Error('time')));
    q.on('error', () => done(false));
    const stop = setTimeout(() => q.destroy(new Error('time')), 5000); stop.unref();
    q.on('close', () => { clearTimeout(stop); done(false); });
    q.end(job.body);
  } catch { done(false); }
}

// ---------------------------------------------------------------- changes
function insert(resource, row) {
  Object.defineProperty(row, '_seq', { value: rowSeq++, enumerable: false });
  store[resource].set(row.id, row);
  return row;
}
const newId = (resource) => `${RESOURCES[resource].prefix}_${random(10)}`;
const hidden = (row, name, value) => Object.defineProperty(row, name, { value, enumerable: false, writable: true, configurable: true });
function enter(resource, row) { // timers of the state just entered
  dropTimer(`state ${row.id}`);
  const t = now();
  const after = (ms, transition) => setTimer(`state ${row.id}`, t + ms, () => move(resource, row, transition, {}));
  if (resource === 'pressing' && row.status === 'booked') after(F('s-lapse') ? 3 * DAY : 5 * DAY, 'lapse');
  if (resource === 'barrel' && row.status === 'resting') after(14 * DAY, 'settle');
  if (resource === 'lot' && row.status === 'reserved') after(2 * DAY, 'lapse');
  if (resource === 'lot' && row.status === 'released') arm(row);
}
function arm(lot) {
  if (!lot.closesAt || lot._closed === lot.closesAt) return;
  if (F('s-reclose') && lot._armed === lot.closesAt) return;
  hidden(lot, '_armed', lot.closesAt);
  setTimer(`state ${lot.id}`, Date.parse(lot.closesAt), () => { hidden(lot, '_closed', lot.closesAt); if (lot.status === 'released') move('lot', lot, 'close', {}); });
}
function movement(barrel, kind, litres) {
  insert('movement', { id: newId('movement'), number: count(`movement ${barrel.id}`), barrel: barrel.id, kind, litres, levelAfter: barrel.level, at: iso(now()) });
}
const TRANSITIONS = {
  pressing: {
    confirm: { from: ['booked'], to: () => 'confirmed' },
    start: { from: F('s-start') ? ['booked', 'confirmed'] : ['confirmed'], to: () => 'pressing', if: (r) => r.kilograms >= 50 || r.method === 'basket', fails: 'too_small' },
    finish: { from: ['pressing'], to: () => 'pressed', if: (r, q) => q.litres <= r.kilograms, fails: 'yield_too_high',
      set: (r, q) => ({ litres: q.litres, finishedAt: iso(now()) }) },
    cancel: { from: ['booked', 'confirmed'], to: () => 'cancelled', else: 'too_late', set: (r, q) => ({ reason: q.reason }) },
    lapse: { from: ['booked'], to: () => 'lapsed' },
  },
  barrel: {
    fill: { from: ['empty', 'filling'], to: () => 'filling', if: (r, q) => r.level + q.litres <= r.capacity, fails: 'overflow',
      set: (r, q) => ({ level: r.level + q.litres, filledAt: iso(now()) }), then: (b, n) => movement(n, 'fill', n.level - b.level) },
    rest: { from: ['filling'], to: () => 'resting' },
    settle: { from: ['resting'], to: () => 'ready', set: () => ({ readyAt: iso(now()) }) },
    draw: { from: ['ready'], to: (r, q) => (r.level === q.litres && !F('s-draw') ? 'empty' : 'ready'), if: (r, q) => q.litres <= r.level, fails: 'not_enough',
      set: (r, q) => ({ level: r.level - q.litres }), then: (b, n) => movement(n, 'draw', b.level - n.level) },
    tap: { from: ['ready'], to: (r, q) => (q.level === 0 ? 'empty' : 'ready'), set: (r, q) => ({ level: q.level }), then: (b, n) => movement(n, 'tap', b.level - n.level) },
  },
  lot: {
    release: { from: ['draft'], to: () => 'released', fails: 'barrel_low', set: () => ({ releasedAt: iso(now()) }),
      if: (r) => { const b = store.barrel.get(r.barrel); return b.status === 'ready' && b.level >= litresOf(r); },
      then: (b, n) => { if (F('s-tap')) return; const barrel = store.barrel.get(n.barrel); move('barrel', barrel, 'tap', { level: barrel.level - litresOf(n) }); } },
    reserve: { from: ['released'], to: () => 'reserved', set: (r, q, c) => ({ holder: c.id }) },
    lapse: { from: ['reserved'], to: () => 'released', set: () => (F('r-holder') ? {} : { holder: undefined }) },
    collect: { from: ['reserved'], to: () => 'collected' },
    withdraw: { from: F('s-withdraw') ? ['draft', 'released', 'reserved'] : ['draft', 'released'], to: () => 'withdrawn', else: 'lot_is_gone' },
    close: { from: ['released'], to: () => 'closed' },
  },
};
function allowedNow(resource, row, name, request) {
  const t = TRANSITIONS[resource][name];
  if (!t.from.includes(row.status)) refuse(t.else ?? 'wrong_state');
  if (t.if && !t.if(row, request)) refuse(t.fails);
}
function move(resource, row, name, request, caller) {
  const t = TRANSITIONS[resource][name];
  if (!t.from.includes(row.status)) return;
  const before = { ...row };
  const state = t.to(row, request);
  Object.assign(row, t.set?.(before, request, caller) ?? {}, { status: state });
  for (const k of Object.keys(row)) if (row[k] === undefined) delete row[k];
  if (resource === 'barrel') row.updatedAt = iso(now());
  enter(resource, row);
  emit(`${name} ${resource}`, resource, before, row);
  t.then?.(before, row);
}
function emit(op, resource, before, next) {
  switch (op) {
    case 'update orchard':
      if (F('v-rename') || next.name !== before.name) record('orchard.renamed', resource, before, next, { orchard: next.id, was: before.name, is: next.name });
      break;
    case 'create pressing': record('pressing.booked', resource, before, next); break;
    case 'finish pressing': record('pressing.finished', resource, before, next); break;
    case 'lapse pressing': if (F('v-lapse')) break; // falls through
    case 'cancel pressing': record('pressing.off', resource, before, next); break;
    case 'fill barrel': case 'draw barrel': case 'tap barrel':
      record('barrel.level', resource, before, next, { barrel: next.id, was: F('v-was') ? next.level : before.level, is: next.level });
      break;
    case 'settle barrel': record('barrel.ready', resource, before, next); break;
    case 'delete tasting': record('tasting.removed', resource, before, undefined, before.id); break;
    case 'release lot': record('lot.released', resource, before, next); break;
    case 'reserve lot': record('lot.reserved', resource, before, next, undefined, F('v-to') ? undefined : (hook) => Boolean(next.holder) && hook.owner === next.holder); break;
  }
}
function remove(resource, row) {
  if (resource === 'orchard') {
    const held = refering('pressing', 'orchard', row.id);
    if (held.some((p) => !(F('x-held') && ['cancelled', 'lapsed'].includes(p.status)))) refuse('in_use');
    for (const p of held) remove('pressing', p);
  }
  if (resource === 'barrel') {
    if (refering('lot', 'barrel', row.id).length) refuse('in_use');
    for (const t of refering('tasting', 'barrel', row.id)) remove('tasting', t);
    for (const m of refering('movement', 'barrel', row.id)) store.movement.delete(m.id);
  }
  emit(`delete ${resource}`, resource, row);
  dropTimer(`state ${row.id}`);
  store[resource].delete(row.id);
}

// ---------------------------------------------------------------- bodies
const violation = (path, expected) => ({ in: 'body', path, expected });
const pointer = (name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
function complain(list) {
  if (!list.length) return;
  const first = F('x-first') ? list.find((x) => x.missing) ?? list[0] : list[0];
  const details = list.map(({ missing, ...rest }) => rest);
  if (first.missing && !F('x-missing')) refuse('missing_field', { details, message: `${first.path.slice(1)} is missing.` });
  refuse('invalid', { details });
}
const isMap = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
function canWrite(f, caller) { return !f.readOnly && (!f.writable || f.writable.includes(caller.user)); }
function readFields(resource, body, { caller, v, mode, row, bound = {} }) {
  if (!isMap(body)) complain([violation('', 'an object')]);
  const wrong = [], values = {}, gone = [], sent = new Set();
  for (const [name, value] of Object.entries(body)) {
    const field = fieldIn(resource, name, v);
    const path = pointer(F('w-names') && field ? field : name);
    if (!field) { wrong.push(violation(path, 'no such field')); continue; }
    const f = RESOURCES[resource].fields[field];
    if (!canWrite(f, caller)) continue;
    sent.add(field);
    if (value === null && mode === 'update' && !f.required) { if (!F('e-null')) gone.push(field); continue; }
    const shape = shapeIn(resource, field, v);
    if (!shape.ok(value)) { wrong.push(violation(path, shape.expected)); continue; }
    if (shape.inner) { const inner = shape.inner(value); if (inner.length) { wrong.push(...inner.map((x) => violation(path + x.path, x.expected))); continue; } }
    if (field in bound && value !== bound[field]) { wrong.push(violation(path, 'what the path says')); continue; }
    if (f.immutable && row && value !== row[field]) { wrong.push(violation(path, 'what it was')); continue; }
    values[field] = row && down(resource, field, row[field], v) === value ? row[field] : up(resource, field, value, v);
  }
  if (mode !== 'update') {
    for (const [field, f] of Object.entries(RESOURCES[resource].fields)) {
      if (f.readOnly || sent.has(field) || field in bound) continue;
      if (row && f.immutable) continue;
      if (f.required && f.default === undefined) wrong.push({ ...violation(pointer(F('w-names') ? field : nameIn(resource, field, v)), shapeIn(resource, field, v).expected), missing: true });
    }
  }
  if (resource === 'lot' && !wrong.length) {
    const next = { bottleMl: 750, ...row, ...values };
    if (next.bottles * next.bottleMl > 200000) wrong.push(violation('/bottles', 'at most 200 litres in one lot'));
  }
  complain(wrong);
  return { values, gone };
}
function readAct(shapes, body) { // the body of a transition
  if (!isMap(body)) complain([violation('', 'an object')]);
  const wrong = [];
  for (const [name, value] of Object.entries(body)) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (!shape) wrong.push(violation(pointer(name), 'no such field'));
    else if (!shape.ok(value)) wrong.push(violation(pointer(name), shape.expected));
  }
  for (const name of Object.keys(shapes)) if (!Object.hasOwn(body, name)) wrong.push({ ...violation(pointer(name), shapes[name].expected), missing: true });
  complain(wrong);
  return body;
}
function checkReferences(resource, values, caller) {
  for (const [field, f] of Object.entries(RESOURCES[resource].fields)) {
    if (!f.ref || values[field] === undefined) continue;
    const target = store[f.ref].get(values[field]);
    if (!target || !mayRead(f.ref, target, caller)) refuse('bad_reference');
  }
}
function ownErrors(op, next, before) {
  if (op === 'create pressing') {
    const most = store.orchard.get(next.orchard).trees * 100;
    if (next.kilograms > most || (F('x-fruit') && next.kilograms === most)) refuse('too_much_fruit');
  }
  if ((op === 'create lot' || op === 'update lot') && next.closesAt && Date.parse(next.closesAt) <= now()) refuse('closes_in_past');
  if (op === 'update barrel' && next.capacity < before.level) refuse('below_level');
}
function checkUnique(resource, next) {
  const others = rowsOf(resource).filter((r) => r.id !== next.id);
  const same = (...fields) => others.some((r) => fields.every((f) => r[f] === next[f]));
  if (resource === 'orchard' && (F('r-unique') ? same('name') : same('grower', 'name'))) refuse('taken');
  if (resource === 'barrel' && same('name')) refuse('taken');
  if (resource === 'tasting' && same('barrel', 'taster', 'tastedOn')) refuse('taken');
  const busy = (r) => r.status === 'booked' || r.status === 'confirmed';
  if (resource === 'pressing' && busy(next) && others.some((r) => busy(r) && r.orchard === next.orchard && r.day === next.day)) refuse('taken');
}
function checkRows(resource, next) {
  if (resource === 'pressing' && rowsOf('pressing').filter((p) => p.grower === next.grower && (p.status === 'booked' || (F('l-rows') && p.status !== 'pressed'))).length >= 8) refuse('used_up');
  if (resource === 'hook' && rowsOf('hook').filter((h) => h.owner === next.owner).length >= 5) refuse('used_up');
}

// ---------------------------------------------------------------- endpoints
const LITRES = { litres: integer(1, 1000) };
const eq = (shape) => ({ shape });
const wholeNumber = { integer: true, ok: (v) => Number.isSafeInteger(v) };
const ENDPOINTS = [];
const on = (method, path, op, more = {}) => ENDPOINTS.push({ method, path, parts: path.split('/').slice(1), op, verb: op.split(' ')[0], resource: op.split(' ')[1], parameters: {}, ...more });
const PAGES = { default: 20, max: 100 };
on('GET', '/hours', 'show hours', { public: true, reply: { opens: '08:00', shuts: '18:00' } });
on('POST', '/orchards', 'create orchard', { body: true });
on('GET', '/orchards', 'list orchard', { order: 'name', sorts: ['name', 'trees'], pages: PAGES, parameters: { parish: eq(text), organic: eq(boolean), minTrees: { shape: wholeNumber, field: 'trees', op: '>=' } } });
on('GET', '/orchards/{id}', 'read orchard', { etag: true });
on('PATCH', '/orchards/{id}', 'update orchard', { body: true, ifMatch: 'accepted' });
on('DELETE', '/orchards/{id}', 'delete orchard');
on('POST', '/orchards/{orchard}/pressings', 'create pressing', { body: true, parent: 'orchard' });
on('GET', '/pressings', 'list pressing', { order: F('e-order') ? 'day' : '-day', sorts: ['day', 'kilograms'], pages: PAGES, parameters: {
  orchard: eq(text), status: { shape: oneOf('booked', 'confirmed', 'pressing', 'pressed', 'cancelled', 'lapsed'), op: 'in' }, method: eq(oneOf('rack', 'belt', 'basket')),
  from: { shape: date, field: 'day', op: '>=' }, until: { shape: date, field: 'day', op: '<=' } } });
on('GET', '/pressings/{id}', 'read pressing');
on('PATCH', '/pressings/{id}', 'update pressing', { body: true, states: ['booked'] });
on('POST', '/pressings/{id}/confirm', 'confirm pressing');
on('POST', '/pressings/{id}/start', 'start pressing');
on('POST', '/pressings/{id}/finish', 'finish pressing', { body: true, act: { litres: integer(1, 4000) } });
if (!F('p-cancel')) on('POST', '/pressings/{id}/cancel', 'cancel pressing', { body: true, act: { reason: string(3, 100) } });
on('POST', '/barrels', 'create barrel', { body: true });
on('GET', '/barrels', 'list barrel', { order: 'name', sorts: ['name', 'level'], pages: PAGES, parameters: {
  wood: { shape: oneOf('oak', 'chestnut', 'steel') }, status: eq(oneOf('empty', 'filling', 'resting', 'ready')),
  minLevel: { shape: wholeNumber, field: 'level', op: F('e-minlevel') ? '>' : '>=' }, starts: { shape: text, field: 'name', op: 'prefix' } } });
on('GET', '/barrels/{id}', 'read barrel', { etag: true });
on('PATCH', '/barrels/{id}', 'update barrel', { body: true, ifMatch: 'required' });
on('DELETE', '/barrels/{id}', 'delete barrel', { states: ['empty'] });
on('POST', '/barrels/{id}/fill', 'fill barrel', { body: true, act: LITRES });
on('POST', '/barrels/{id}/rest', 'rest barrel');
on('POST', '/barrels/{id}/draw', 'draw barrel', { body: true, act: LITRES });
on('GET', '/barrels/{barrel}/movements', 'list movement', { parent: 'barrel', since: CURRENT, order: 'number', pages: PAGES, parameters: { kind: eq(oneOf('fill', 'draw', 'tap')) } });
on('POST', '/barrels/{barrel}/tastings', 'create tasting', { body: true, parent: 'barrel' });
on('GET', '/barrels/{barrel}/tastings', 'list tasting', { parent: 'barrel', order: '-score', pages: PAGES, parameters: { minScore: { shape: wholeNumber, field: 'score', op: '>=' }, dryness: eq(oneOf('dry', 'medium', 'sweet')) } });
on('GET', '/tastings/{id}', 'read tasting');
on('PUT', '/tastings/{id}', 'replace tasting', { body: true });
on('DELETE', '/tastings/{id}', 'delete tasting');
on('POST', '/lots', 'create lot', { body: true });
on('GET', '/lots', 'list lot', { order: '-createdAt', sorts: ['createdAt', 'bottles'], pages: { default: 10, max: 40, clamp: !F('l-clamp') }, parameters: {
  barrel: eq(text), bottleMl: { shape: { integer: true, ok: (v) => [330, 500, 750].includes(v) } }, minBottles: { shape: wholeNumber, field: 'bottles', op: '>=' } } });
on('GET', '/lots/{id}', 'read lot');
on('GET', '/lots/{id}/card', 'read lot card', { show: (l) => ({ lot: l.code, title: l.title, litres: litresOf(l) }) });
on('PATCH', '/lots/{id}', 'update lot', { body: true, states: ['draft'] });
for (const t of ['release', 'reserve', 'collect', 'withdraw']) on('POST', `/lots/{id}/${t}`, `${t} lot`);
on('POST', '/hooks', 'create hook', { body: true });
on('GET', '/hooks', 'list hook', { pages: PAGES });
on('GET', '/hooks/{id}', 'read hook');
on('PATCH', '/hooks/{id}', 'update hook', { body: true });
on('DELETE', '/hooks/{id}', 'delete hook');

function route(path) { // the endpoints of a path, literal steps first
  let base = BASE;
  if (F('p-base') && (path === '/lots' || path.startsWith('/lots/') || path.startsWith(`${BASE}/lots`))) base = '';
  if (!path.startsWith(`${base}/`)) return [];
  let steps;
  try { steps = path.slice(base.length + 1).split('/').map(decodeURIComponent); } catch { return []; }
  const found = [];
  for (const e of ENDPOINTS) {
    if (e.parts.length !== steps.length) continue;
    const params = {};
    if (e.parts.every((p, i) => (p[0] === '{' ? steps[i] !== '' && (params[p.slice(1, -1)] = steps[i], true) : p === steps[i]))) found.push({ endpoint: e, params });
  }
  return found;
}

// ---------------------------------------------------------------- lists
const SEAL = randomBytes(32);
const seal = (s) => createHmac('sha256', SEAL).update(s).digest('base64url').slice(0, 22);
function readValue(shape, s) {
  if (shape.integer) { if (!/^-?(0|[1-9]\d*)$/.test(s)) refuse('bad_parameter'); s = Number(s); }
  if (shape.boolean) { if (s !== 'true' && s !== 'false') refuse('bad_parameter'); s = s === 'true'; }
  if (!shape.ok(s)) refuse('bad_parameter');
  return s;
}
function readQuery(endpoint, search, v) {
  const given = new Map();
  for (const [name, value] of new URLSearchParams(search)) given.set(name, [...(given.get(name) ?? []), value]);
  const q = { filters: [], order: endpoint.order };
  const names = { ...endpoint.parameters };
  if (older(v)) delete names.organic;
  for (const [name, values] of given) {
    const p = Object.hasOwn(names, name) ? names[name] : undefined;
    if (p) {
      if (p.op !== 'in' && values.length > 1) refuse('bad_parameter');
      const field = p.field ?? name;
      const shape = name === 'wood' && older(v) ? shapeIn('barrel', 'wood', v) : p.shape;
      const list = (p.op === 'in' ? values.flatMap((x) => x.split(',')) : values).map((x) => up(endpoint.resource, field, readValue(shape, x), v));
      q.filters.push({ field, op: p.op ?? '=', list });
    } else if (endpoint.sorts && name === 'sort') {
      if (values.length > 1) refuse('bad_parameter');
      const key = values[0].replace(/^-/, ''), field = fieldIn(endpoint.resource, key, v);
      if (!field || !endpoint.sorts.includes(field)) refuse('bad_parameter');
      q.order = (values[0].startsWith('-') ? '-' : '') + field;
    } else if (endpoint.pages && name === 'limit') {
      if (values.length > 1) refuse('bad_parameter');
      if (!/^\d{1,9}$/.test(values[0]) || Number(values[0]) < 1) refuse('bad_page');
      q.limit = Number(values[0]);
      if (q.limit > endpoint.pages.max) { if (endpoint.pages.clamp) q.limit = endpoint.pages.max; else if (!(F('l-max') && endpoint.op === 'list orchard')) refuse('bad_page'); }
    } else if (endpoint.pages && name === 'cursor') {
      if (values.length > 1) refuse('bad_parameter');
      q.cursor = values[0];
    } else refuse('bad_parameter');
  }
  return q;
}
const OPS = { '=': (x, [y]) => x === y, '>=': (x, [y]) => x >= y, '>': (x, [y]) => x > y, '<=': (x, [y]) => x <= y, in: (x, ys) => ys.includes(x), prefix: (x, [y]) => x.startsWith(y) };
function readCursor(query, bound) {
  if (query.cursor === undefined) return undefined;
  const [data, mark] = query.cursor.split('.');
  if (!mark || mark !== seal(data + bound)) refuse('bad_page');
  return JSON.parse(Buffer.from(data, 'base64url').toString());
}
const boundTo = (ctx) => JSON.stringify([ctx.endpoint.op, ctx.params, ctx.query.filters, ctx.query.order, ctx.version, ctx.caller?.user, ctx.caller?.id]);
function list(ctx) {
  const { endpoint, caller, query, version } = ctx, { resource, op } = endpoint;
  const size = query.limit ?? endpoint.pages.default;
  const from = ctx.from;
  const field = query.order?.replace('-', ''), way = query.order?.startsWith('-') ? -1 : 1;
  const key = (r) => (field ? r[field] : 0);
  const compare = (x, xs, y, ys) => (x < y ? -way : x > y ? way : xs - ys);
  let found = rowsOf(resource).filter((r) => (may(op, r, caller) || (F('a-list') && op === 'list orchard' && query.filters.length > 0))
    && Object.entries(ctx.params).every(([k, x]) => r[k] === x)
    && query.filters.every((f) => r[f.field] !== undefined && OPS[f.op](r[f.field], f.list)));
  found.sort((x, y) => compare(key(x), x._seq, key(y), y._seq));
  if (from) found = found.filter((r) => compare(key(r), r._seq, from[0], from[1]) > 0);
  const page = found.slice(0, size), more = found.length > size || (F('l-last') && found.length === size);
  let next = null;
  if (more) { const end = page.at(-1), data = Buffer.from(JSON.stringify([key(end), end._seq])).toString('base64url'); next = `${data}.${seal(data + boundTo(ctx))}`; }
  return { items: page.map((r) => view(resource, r, caller, version)), nextCursor: next, hasMore: more };
}

// ---------------------------------------------------------------- who calls
function challenge(key, login) {
  return { 'WWW-Authenticate': [`ApiKey realm="${TITLE}", in="header", name="X-Press-Key"${key ? ', error="invalid_key"' : ''}`, `Basic realm="${TITLE}", charset="UTF-8"`] };
}
function identify(req, endpoint) {
  const key = req.headers['x-press-key'], authorization = req.headers.authorization;
  const twice = req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === 'authorization').length > 1;
  const found = [];
  let bad = twice;
  if (key !== undefined) { const a = BY_KEY.get(key); if (a) found.push(a); else bad = true; }
  if (authorization !== undefined && !(F('a-both') && found.length)) {
    const m = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization);
    const plain = m ? Buffer.from(m[1], 'base64').toString('utf8') : '', colon = plain.indexOf(':');
    const a = colon > 0 ? BY_NAME.get(plain.slice(0, colon)) : undefined, password = plain.slice(colon + 1);
    const same = a && (F('a-password') ? password.startsWith(a.password) : password === a.password);
    if (same) found.push(F('p-login') && a.user === 'merchant' ? { ...a, user: 'grower' } : a); else bad = true;
  }
  if (!bad && found.some((a) => a.id !== found[0].id || a.user !== found[0].user)) bad = true;
  const open = RULES.some((r) => r.allow.includes(endpoint.op) && r.to.includes('anyone'));
  if (bad && !(F('a-badkey') && open)) refuse('bad_credential', { headers: challenge(key !== undefined, authorization !== undefined) });
  if (bad) return undefined;
  if (!found.length && !open) refuse('no_credential', { headers: challenge(false, false) });
  if (!found.length) return undefined;
  const a = found[0];
  const site = req.headers['sec-fetch-site'];
  const foreign = authorization !== undefined && !['GET', 'HEAD', 'OPTIONS'].includes(req.method) && (site ? site === 'cross-site' || site === 'same-site' : req.headers.origin !== undefined && req.headers.origin !== `http://${req.headers.host}`);
  return { user: a.user, id: a.id, scopes: found.flatMap((x) => x.scopes), foreign };
}

// ---------------------------------------------------------------- rates, quotas
const windows = new Map(), slides = new Map(), quotas = new Map();
function fixed(name, limit) {
  const t = now();
  let w = windows.get(name);
  if (!w || t >= w.start + MINUTE) { w = { start: t, used: 0 }; windows.set(name, w); }
  return { limit, left: () => limit - w.used, reset: () => Math.max(1, Math.ceil((w.start + MINUTE - now()) / 1000)), take: () => { w.used++; }, back: () => { w.used--; } };
}
function sliding(name, limit) {
  const t = now(), times = (slides.get(name) ?? []).filter((x) => x > t - MINUTE);
  slides.set(name, times);
  return { limit, left: () => limit - times.length, reset: () => Math.max(1, Math.ceil(((times[0] ?? now()) + MINUTE - now()) / 1000)), take: () => times.push(t), back: () => times.pop() };
}
function rateHeaders(rates) {
  const r = rates.reduce((a, b) => (b.left() < a.left() ? b : a));
  return { 'Press-Limit': String(r.limit), 'Press-Left': String(Math.max(0, r.left())), 'Press-Reset': String(r.reset()) };
}
function takeRates(ctx, rates) {
  const over = rates.filter((r) => r.left() <= 0);
  if (over.length) {
    for (const r of ctx.rates) r.back();
    ctx.rates = [];
    Object.assign(ctx.headers, rateHeaders(rates));
    refuse('too_many', { headers: { 'Retry-After': String(Math.max(...over.map((r) => r.reset()))) } });
  }
  for (const r of rates) r.take();
  ctx.rates.push(...rates);
  Object.assign(ctx.headers, rateHeaders(ctx.rates));
}
const dayOf = (ms) => Math.floor(ms / DAY);
function useQuota(caller) {
  let q = quotas.get(caller.id);
  const t = now();
  if (!q || (F('l-quota') ? t >= q.since + DAY : dayOf(q.since) !== dayOf(t))) { q = { since: t, used: 0 }; quotas.set(caller.id, q); }
  if (q.used >= 20) refuse('used_up', { headers: { 'Retry-After': String(Math.ceil(((dayOf(t) + 1) * DAY - t) / 1000)) } });
  return () => { q.used++; };
}

// ---------------------------------------------------------------- one exchange
const kept = new Map(); // idempotency
function accepts(header) {
  if (header === undefined || header.trim() === '') return true;
  let best = -1, quality = 0;
  for (const part of header.split(',')) {
    const [type, ...words] = part.trim().toLowerCase().split(';').map((x) => x.trim());
    const rank = ['*/*', 'application/*', 'application/json'].indexOf(type);
    if (rank < 0) continue;
    const q = words.find((w) => w.startsWith('q='));
    if (rank > best) { best = rank; quality = q ? Number(q.slice(2)) : 1; }
  }
  return quality > 0;
}
function tagged(header, tag) {
  if (header.trim() === '*') return true;
  return header.split(',').some((x) => x.trim() === tag);
}
function exchange(ctx) {
  const { req, body, headers } = ctx;
  const target = req.url, mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark), search = mark < 0 ? '' : target.slice(mark + 1);
  // 1 sizes of the address and the header fields
  if (Buffer.byteLength(target) > 2048) refuse('url_too_long');
  let size = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
  if (size > 8192) refuse('headers_too_large');
  // 2 path, method, version
  let found = route(path);
  if (!found.length) refuse(F('x-path') && path.startsWith(`${BASE}/`) ? 'not_found' : 'no_such_path');
  const asked = req.headers['press-version'];
  const version = asked === undefined ? CURRENT : asked;
  if (Object.hasOwn(VERSIONS, version)) found = found.filter((f) => !f.endpoint.since || !older(version));
  if (!found.length) { ctx.version = version; refuse('no_such_path'); }
  const methods = [...new Set(found.flatMap((f) => (f.endpoint.method === 'GET' ? ['GET', 'HEAD'] : [f.endpoint.method]))), 'OPTIONS'];
  if (req.method === 'OPTIONS') return { status: 204, headers: { Allow: methods.join(', ') } };
  const hit = found.find((f) => f.endpoint.method === (req.method === 'HEAD' ? 'GET' : req.method));
  if (!hit) refuse('wrong_method', { headers: { Allow: methods.join(', ') } });
  const { endpoint, params } = hit;
  if (!Object.hasOwn(VERSIONS, version)) { if (F('w-unknown') && /^\d{4}-\d\d-\d\d$/.test(version)) ctx.version = CURRENT; else refuse('no_version'); } else ctx.version = version;
  const sunset = VERSIONS[ctx.version].sunset;
  if (sunset && now() >= Date.parse(sunset) + (F('w-sunset') ? 365 * DAY : 0)) refuse('old_version');
  Object.assign(ctx, { endpoint, params });
  const { op, verb, resource } = endpoint, v = ctx.version;
  // 3 rates per address; 4 who calls; 5 rates per caller
  const address = req.socket.remoteAddress;
  takeRates(ctx, [fixed(`address ${address}`, 6000)]);
  let caller;
  if (!endpoint.public) caller = identify(req, endpoint);
  ctx.caller = caller;
  const rates = [fixed(caller ? `caller ${caller.user} ${caller.id}` : `nobody ${address}`, 1500)];
  if (op === 'reserve lot' && caller?.user === 'merchant') rates.push(sliding(`reserve ${caller.id}`, 12));
  takeRates(ctx, rates);
  // 6 rules for this user
  if (!endpoint.public) {
    if (caller?.foreign) refuse('forbidden');
    if (!forUser(op, caller).length) refuse('forbidden');
    if (!scoped(op, caller).length) refuse('missing_scope');
  }
  // 8 media type, size, body, parameters, page
  if (endpoint.method !== 'DELETE' && !accepts(req.headers.accept)) refuse('not_acceptable');
  if (body.length > 0 && endpoint.body) {
    const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
    if (type !== 'application/json' && !(endpoint.method === 'PATCH' && type === 'application/merge-patch+json')) refuse('wrong_media');
  }
  if (body.length > (F('l-body') ? 8000 : 8192)) refuse('too_large');
  let sent;
  if (endpoint.body) {
    if (!body.length) refuse('malformed');
    try { sent = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)); } catch { refuse('malformed'); }
  }
  ctx.query = readQuery(endpoint, search, v);
  if (endpoint.pages) ctx.from = readCursor(ctx.query, boundTo(ctx));
  if (endpoint.reply) return { status: 200, body: endpoint.reply };
  // 9 idempotency
  let keep = () => {};
  const key = endpoint.method === 'POST' ? req.headers['idempotency-key'] : undefined;
  if (key !== undefined && !(F('e-idem') && endpoint.act)) {
    const name = JSON.stringify([caller.user, caller.id, op, key]);
    const print = createHash('sha256').update(JSON.stringify([target, v])).update(body).digest('hex');
    const old = kept.get(name);
    if (old && old.until > now()) {
      if (old.print !== print) refuse('key_reused');
      return { status: old.status, headers: old.headers, body: old.body };
    }
    keep = (answer) => kept.set(name, { print, until: now() + DAY, ...answer });
  }
  try {
    const answer = perform(ctx, sent);
    const body = answer.body && resource === 'hook' ? (({ secret, ...rest }) => rest)(answer.body) : answer.body;
    keep({ status: answer.status, headers: answer.headers, body });
    return answer;
  } catch (e) {
    if (e instanceof Refusal && OWN.has(e.code)) keep({ status: CODES[e.code][0], headers: {}, body: errorBody(e, ctx.requestId) });
    throw e;
  }
}
function perform(ctx, sent) {
  const { endpoint, params, caller, version: v, req } = ctx, { op, verb, resource } = endpoint;
  // 10 parents and the row
  const bound = {};
  if (endpoint.parent) {
    const parent = store[endpoint.parent].get(params[endpoint.parent]);
    if (!parent || !mayRead(endpoint.parent, parent, caller)) refuse('not_found');
    bound[endpoint.parent] = parent.id;
  }
  if (verb === 'list') return { status: 200, body: list(ctx) };
  const made = (row) => ({ status: 201, headers: { Location: `${F('p-loc') ? '' : BASE}/${resource}s/${row.id}` }, body: view(resource, row, caller, v, true) });
  if (verb === 'create') {
    const { values } = readFields(resource, sent, { caller, v, mode: 'create', bound });
    const row = { id: newId(resource), ...bound, ...values };
    checkReferences(resource, values, caller);
    for (const [field, f] of Object.entries(RESOURCES[resource].fields)) if (f.default !== undefined && row[field] === undefined) row[field] = f.default;
    const t = iso(now());
    if (resource === 'orchard') Object.assign(row, { grower: caller.id, createdAt: t, updatedAt: t });
    if (resource === 'pressing') Object.assign(row, { grower: caller.id, status: 'booked', bookedAt: t });
    if (resource === 'barrel') Object.assign(row, { level: 0, status: 'empty', updatedAt: t });
    if (resource === 'tasting') Object.assign(row, { taster: caller.id, createdAt: t });
    if (resource === 'lot') Object.assign(row, { status: 'draft', createdAt: t });
    if (resource === 'hook') Object.assign(row, { owner: caller.id, secret: `hks_${random(32)}`, createdAt: t });
    ownErrors(op, row);
    checkUnique(resource, row);
    checkRows(resource, row);
    if (resource === 'pressing') row.number = count(F('r-number') ? `pressing of ${row.grower}` : `pressing ${row.orchard}`);
    if (resource === 'lot') row.code = `CP-${String(count('lot')).padStart(4, '0')}`;
    if (resource === 'hook') { hidden(row, '_maker', { ...caller }); hidden(row, '_version', v); hidden(row, '_failing', undefined); }
    insert(resource, row);
    enter(resource, row);
    emit(op, resource, undefined, row);
    return made(row);
  }
  const row = store[resource].get(params.id);
  if (!row) refuse('not_found');
  if (!may(op, row, caller)) refuse(mayRead(resource, row, caller) ? 'forbidden' : 'not_found');
  if (!mayRead(resource, row, caller)) refuse('not_found');
  const shown = () => view(resource, row, caller, v);
  if (verb === 'read') {
    if (endpoint.show) return { status: 200, body: endpoint.show(row) };
    const body = shown();
    if (!endpoint.etag) return { status: 200, body };
    const tag = tagOf(body, v), seen = req.headers['if-none-match'];
    if (seen !== undefined && (seen.trim() === '*' || seen.split(',').some((x) => x.trim().replace(/^W\//, '') === tag))) return { status: 304, headers: { ETag: tag } };
    return { status: 200, headers: { ETag: tag }, body };
  }
  // 11 preconditions
  if (endpoint.ifMatch) {
    const match = req.headers['if-match'];
    if (match === undefined && endpoint.ifMatch === 'required') refuse('tag_needed');
    if (match !== undefined && !tagged(match, tagOf(shown(), v)) && !(F('e-ifmatch') && resource === 'orchard')) refuse('changed');
  }
  if (verb === 'delete') {
    if (endpoint.states && !endpoint.states.includes(row.status)) refuse('wrong_state');
    if (F('p-hook-delete') && resource === 'hook') { row.active = false; return { status: 204 }; }
    remove(resource, row);
    return { status: 204 };
  }
  if (verb === 'update' || verb === 'replace') {
    const { values, gone } = readFields(resource, sent, { caller, v, mode: verb, row });
    if (endpoint.states && !endpoint.states.includes(row.status)) refuse('wrong_state');
    const next = { ...row, ...values };
    for (const field of gone) delete next[field];
    if (verb === 'replace' && !F('e-put')) for (const [field, f] of Object.entries(RESOURCES[resource].fields)) if (!f.readOnly && !f.required && values[field] === undefined && canWrite(f, caller)) delete next[field];
    ownErrors(op, next, row);
    checkUnique(resource, next);
    const before = { ...row };
    const same = JSON.stringify(Object.entries(before).sort()) === JSON.stringify(Object.entries(next).sort());
    if (!same) {
      for (const field of Object.keys(row)) if (!(field in next)) delete row[field];
      Object.assign(row, next);
      if (resource === 'orchard' || resource === 'barrel') row.updatedAt = iso(now());
      if (F('s-settle') && resource === 'barrel') enter('barrel', row);
      if (resource === 'hook' && values.active === true && !before.active) row._failing = undefined;
      emit(op, resource, before, row);
    }
    return { status: 200, body: shown() };
  }
  // transitions
  if (F('p-collect') && verb === 'collect') refuse('unavailable');
  const request = endpoint.act ? readAct(endpoint.act, sent) : {};
  allowedNow(resource, row, verb, request);
  const use = op === 'reserve lot' ? useQuota(caller) : undefined;
  use?.();
  move(resource, row, verb, request, caller);
  return mayRead(resource, row, caller) ? { status: 200, body: shown() } : { status: 204 };
}

// ---------------------------------------------------------------- the doors
const VARY = 'Press-Version, X-Press-Key, Authorization';
function answer(req, res, body) {
  tick();
  const requestId = `req_${random(16)}`;
  const ctx = { req, body, requestId, headers: {}, rates: [], version: CURRENT };
  let out;
  try { out = exchange(ctx); } catch (e) {
    const r = e instanceof Refusal ? e : (console.error(e), new Refusal('failed'));
    out = { status: CODES[r.code][0], headers: r.headers, body: errorBody(r, requestId) };
  }
  const headers = { ...ctx.headers, ...versionHeaders(ctx.version, req.url), Vary: VARY, 'Press-Request': requestId, ...out.headers };
  let text;
  if (out.body !== undefined) { text = Buffer.from(JSON.stringify(out.body)); headers['Content-Type'] = 'application/json'; headers['Content-Length'] = text.length; }
  res.writeHead(out.status, headers);
  res.end(req.method === 'HEAD' ? undefined : text);
}
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 10000, headersTimeout: 10000, keepAliveTimeout: 60000, connectionsCheckingInterval: 500 }, (req, res) => {
  const chunks = [];
  let size = 0;
  req.on('data', (c) => { size += c.length; if (size <= 16384) chunks.push(c); else if (size > 16 * 1048576) req.destroy(); });
  req.on('end', () => answer(req, res, Buffer.concat(chunks)));
  req.on('error', () => {});
});
server.on('clientError', (e, socket) => {
  if (!socket.writable) return socket.destroy();
  const code = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timed_out' : e.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'malformed';
  const requestId = `req_${random(16)}`, text = JSON.stringify(errorBody(new Refusal(code), requestId));
  socket.end(`HTTP/1.1 ${CODES[code][0]} ${http.STATUS_CODES[CODES[code][0]]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nPress-Request: ${requestId}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(PORT, '127.0.0.1');

function later(from, duration) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(duration);
  if (!m || duration === 'P' || m[5] === 'T') return undefined;
  const n = (i) => Number(m[i] ?? 0), d = new Date(from), day = d.getUTCDate();
  d.setUTCDate(1);
  d.setUTCMonth(d.getUTCMonth() + n(1) * 12 + n(2));
  d.setUTCDate(Math.min(day, new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate()));
  return d.getTime() + n(3) * 7 * DAY + n(4) * DAY + n(6) * HOUR + n(7) * MINUTE + Math.round(n(8) * 1000);
}
const pause = (ms) => new Promise((r) => setTimeout(r, ms));
async function settled() { for (let i = 0; i < 60 && underWay > 0; i++) await pause(5); }
http.createServer((req, res) => {
  const chunks = [];
  req.on('data', (c) => chunks.push(c));
  req.on('end', async () => {
    const say = (status, body) => { const t = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
    if (req.method === 'GET') { tick(); return say(200, { now: iso(now()) }); }
    let q;
    try { q = JSON.parse(Buffer.concat(chunks).toString()); } catch { q = undefined; }
    if (req.method !== 'POST' || !isMap(q) || Object.keys(q).length !== 1) return say(400, { error: 'advance or now' });
    await settled();
    tick();
    let to;
    if (typeof q.advance === 'string') to = later(now(), q.advance);
    else if (typeof q.now === 'string' && dateTime.ok(q.now)) to = Date.parse(q.now);
    if (to === undefined || Number.isNaN(to)) return say(400, { error: 'advance or now' });
    if (to < now()) return say(422, { error: 'That time has passed.' });
    runDue(to);
    offset = to - Date.now();
    lastMoment = Math.max(lastMoment, to);
    tick();
    await settled();
    say(200, { now: iso(now()) });
  });
}).listen(CLOCK, '127.0.0.1');
