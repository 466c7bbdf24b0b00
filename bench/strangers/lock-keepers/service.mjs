// Lock Keepers: passages of boats through a flight of canal locks. Standard library only; everything is in memory.
import http from 'node:http';
import https from 'node:https';
import { createHash, createHmac, randomUUID, randomInt } from 'node:crypto';

const argument = (name, otherwise) => {
  const at = process.argv.indexOf('--' + name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const PORT = Number(argument('port', '0'));
const CLOCK_PORT = Number(argument('clock-port', '0'));
const FAULT = argument('fault', '');
const F = (id) => FAULT === id;

// ---------------------------------------------------------------- the clock
let offset = 0;
const now = () => Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();

class Heap {
  constructor() { this.a = []; }
  get size() { return this.a.length; }
  peek() { return this.a[0]; }
  push(item) {
    const a = this.a;
    let i = a.push(item) - 1;
    while (i > 0) {
      const p = (i - 1) >> 1;
      if (a[p].due < a[i].due || (a[p].due === a[i].due && a[p].order < a[i].order)) break;
      [a[p], a[i]] = [a[i], a[p]];
      i = p;
    }
  }
  pop() {
    const a = this.a, top = a[0], last = a.pop();
    if (a.length) {
      a[0] = last;
      let i = 0;
      for (;;) {
        let m = i;
        for (const c of [2 * i + 1, 2 * i + 2]) if (c < a.length && (a[c].due < a[m].due || (a[c].due === a[m].due && a[c].order < a[m].order))) m = c;
        if (m === i) break;
        [a[m], a[i]] = [a[i], a[m]];
        i = m;
      }
    }
    return top;
  }
}

// ---------------------------------------------------------------- callers
const BASE = F('p-base') ? '/canal' : '/waterway';
const REALM = 'Lock Keepers';
const KEY_HEADER = 'x-waterway-key';
const caller = (user, id, reach) => ({ user, id, reach });
const ada = caller('skipper', 's_ada', 'lower'), ben = caller('skipper', 's_ben', 'upper'), cleo = caller('skipper', 's_cleo', 'middle');
const kim = caller('keeper', 'k_kim', 'lower'), lou = caller('keeper', 'k_lou', 'upper'), mia = caller('keeper', 'k_mia', 'lower');
const wes = caller('warden', 'w_wes', 'lower'), ivy = caller('warden', 'w_ivy', 'middle');
const KEYS = new Map([
  ['wk_Ada7Qm2RkT9xLb4VnC8sPz3HwE6yJ1uG', ada],
  ['wk_Ben4Zt8YcW1pKd6MrX3vQf9LnS7hB2jA', ben],
  ['wk_Cle5Hn3UxJ7gRa2TbV9wMk6PdF4zE8qY', cleo],
  ['wk_Ivy9Lk6SvD2mXc8NfG4tBq1ZrW5jH7pU', ivy],
]);
const LOGINS = new Map([
  ['k_kim', { password: 'paddle-and-gate', who: kim }],
  ['k_lou', { password: 'sluice:number:9', who: lou }],
  ['k_mia', { password: 'windlass-42', who: mia }],
  ['w_wes', { password: 'top pound full', who: wes }],
  ['w_ivy', { password: 'long-staircase', who: ivy }],
]);
const USERS = new Set(['skipper', 'keeper', ...(F('p-user-unknown') ? [] : ['warden'])]);

// ---------------------------------------------------------------- shapes
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const isDate = (s) => {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s);
  if (!m) return false;
  const month = Number(m[2]), day = Number(m[3]), y = Number(m[1]);
  if (F('r-date-format')) return month >= 1 && month <= 12 && day >= 1 && day <= 31;
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000, month, 0)).getUTCDate() - (month === 2 && !(y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0)) ? 1 : 0);
};
const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const isDateTime = (s) => {
  const m = DATE_TIME.exec(s);
  if (!m || !isDate(m[1])) return false;
  const h = Number(m[2]), mi = Number(m[3]), se = Number(m[4]);
  if (h > 23 || mi > 59 || se > 60) return false;
  let zone = 0;
  if (m[6].length > 1) {
    const zh = Number(m[6].slice(1, 3)), zm = Number(m[6].slice(4));
    if (zh > 23 || zm > 59) return false;
    zone = (m[6][0] === '-' ? -1 : 1) * (zh * 60 + zm);
  }
  if (se === 60 && (((h * 60 + mi - zone) % 1440) + 1440) % 1440 !== 1439) return false;
  return true;
};
const instant = (s) => {
  const m = DATE_TIME.exec(s);
  const whole = Date.parse(`${m[1]}T${m[2]}:${m[3]}:${m[4] === '60' ? '59' : m[4]}${m[6].toUpperCase()}`) + (m[4] === '60' ? 1000 : 0);
  return whole + (m[5] ? Math.floor(Number('0' + m[5]) * 1000 + 1e-9) : 0);
};
const isEmail = (s) => /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/.test(s) && !/^\.|\.\.|\.@/.test(s);
const isUri = (s) => /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(s) && URL.canParse(s);
const FORMATS = { uuid: (s) => UUID.test(s), 'date-time': isDateTime, date: isDate, email: isEmail, uri: isUri };

/** What a value should be, where it is not that; else null. */
function mismatch(shape, value) {
  if (shape.enum && !shape.type) return shape.enum.includes(value) ? null : 'one of ' + shape.enum.join(', ');
  switch (shape.type) {
    case 'string': {
      if (typeof value !== 'string') return 'a string';
      const length = [...value].length;
      if (shape.minLength !== undefined && length < shape.minLength) return `at least ${shape.minLength} characters`;
      if (shape.maxLength !== undefined && length > shape.maxLength) return `at most ${shape.maxLength} characters`;
      if (shape.pattern && !shape.pattern.test(value)) return 'a text like ' + shape.pattern.source;
      if (shape.format && !FORMATS[shape.format](value)) return 'a ' + shape.format;
      if (shape.enum && !shape.enum.includes(value)) return 'one of ' + shape.enum.join(', ');
      return null;
    }
    case 'integer': case 'number':
      if (typeof value !== 'number' || !Number.isFinite(value) || (shape.type === 'integer' && !Number.isInteger(value))) return shape.type === 'integer' ? 'an integer' : 'a number';
      if (shape.minimum !== undefined && value < shape.minimum) return 'at least ' + shape.minimum;
      if (shape.maximum !== undefined && value > shape.maximum) return 'at most ' + shape.maximum;
      if (shape.exclusiveMinimum !== undefined && value <= shape.exclusiveMinimum) return 'more than ' + shape.exclusiveMinimum;
      return null;
    case 'boolean': return typeof value === 'boolean' ? null : 'true or false';
    case 'array':
      if (!Array.isArray(value)) return 'a list';
      if (shape.maxItems !== undefined && value.length > shape.maxItems) return `at most ${shape.maxItems} items`;
      return null;
  }
  return null;
}

const id = { name: 'id', type: 'string', format: 'uuid', required: true, readOnly: true };
const REACHES = ['lower', 'middle', 'upper'];
const STATES = {
  lock: ['working', 'shut'], passage: ['booked', 'waiting', 'locking', 'passed', 'cancelled', 'lapsed'],
  toll: ['due', 'overdue', 'paid', 'waived'], closure: ['planned', 'inForce', 'ended', 'withdrawn'],
};
const reference = (name, ref, more) => ({ name, ref, type: 'string', format: 'uuid', ...more });
const made = (name, more) => ({ name, type: 'string', readOnly: true, ...more });
const time = (name, more) => ({ name, type: 'string', format: 'date-time', ...more });
const state = (resource) => ({ name: 'status', type: 'string', enum: STATES[resource], readOnly: true, required: true });
const req = { required: true };

const RESOURCES = {
  lock: {
    fields: [id,
      { name: 'name', type: 'string', minLength: 2, maxLength: F('r-name-length') ? 50 : 40, ...req },
      { name: 'reach', enum: REACHES, immutable: true, ...req },
      { name: 'position', type: 'integer', minimum: 1, maximum: 60, ...req },
      { name: 'riseCm', type: 'integer', minimum: 10, maximum: 900, ...req },
      { name: 'maxLengthCm', type: 'integer', minimum: 300, maximum: 7500, ...req },
      { name: 'keeperNote', type: 'string', maxLength: 200, visible: ['keeper', 'warden'], writable: ['keeper', 'warden'] },
      state('lock'),
      { name: 'queue', type: 'integer', readOnly: true, ...req, derive: (row) => count(by.passageOfLock.get(row.id), (p) => p.status === 'booked' || p.status === 'waiting') },
      time('updatedAt', { readOnly: true, ...req })],
    unique: [['name'], ['reach', 'position']],
  },
  mooring: {
    fields: [id,
      reference('lock', 'lock', { immutable: true, ...req }),
      { name: 'code', type: 'string', pattern: /^[A-Z]{2}-[0-9]{2}$/, required: !F('r-code-optional') },
      { name: 'lengthCm', type: 'integer', minimum: 200, maximum: 7500, ...req },
      { name: 'nightlyPence', type: 'integer', minimum: 0, maximum: 50000, ...req },
      { name: 'hasPower', type: 'boolean', default: false, ...req },
      { name: 'remarks', type: 'string', maxLength: 120 },
      time('updatedAt', { readOnly: true, ...req })],
    unique: [['code']],
  },
  boat: {
    fields: [id, made('owner', req),
      { name: 'name', type: 'string', minLength: 1, maxLength: 60, ...req },
      { name: 'registration', type: 'string', pattern: /^[A-Z]{2}[0-9]{4}$/, immutable: !F('r-registration-mutable'), ...req },
      { name: 'kind', enum: ['narrowboat', 'widebeam', 'cruiser', 'tug'], default: 'narrowboat', ...req },
      { name: 'lengthCm', type: 'integer', minimum: 200, maximum: 3000, ...req },
      { name: 'draughtM', type: 'number', exclusiveMinimum: 0, maximum: 3 },
      { name: 'contactEmail', type: 'string', format: 'email', maxLength: 100, visible: ['skipper', 'warden'] },
      reference('homeMooring', 'mooring'),
      { name: 'insuredUntil', type: 'string', format: 'date' },
      time('createdAt', { readOnly: true, ...req })],
    unique: [['registration']],
  },
  passage: {
    fields: [id,
      { name: 'number', type: 'integer', readOnly: true, ...req },
      reference('boat', 'boat', { immutable: true, ...req }),
      reference('lock', 'lock', { immutable: true, ...req }),
      made('skipper', req),
      { name: 'direction', enum: ['up', 'down'], ...req },
      time('plannedAt', req),
      { name: 'crew', type: 'integer', minimum: 1, maximum: 12, default: 2, ...req },
      { name: 'assisted', type: 'boolean', default: false, ...req },
      { name: 'note', type: 'string', maxLength: 200 },
      state('passage'), made('reason', { maxLength: 100 }), time('enteredAt', { readOnly: true }), time('leftAt', { readOnly: true }),
      { name: 'tollPence', type: 'integer', readOnly: true, ...req, derive: (row) => sum(by.tollOfPassage.get(row.id), (t) => (t.status !== 'waived' || F('r-toll-sum') ? t.amountPence : 0)) },
      { name: 'tolls', children: true, readOnly: true, ...req }],
    unique: [],
  },
  toll: {
    fields: [id,
      { name: 'number', type: 'integer', readOnly: true, ...req },
      reference('passage', 'passage', { immutable: true, ...req }),
      made('skipper', req),
      { name: 'amountPence', type: 'integer', minimum: 0, ...req },
      state('toll'),
      { name: 'method', enum: ['card', 'cash', 'account'], readOnly: true, visible: ['skipper', 'warden'] },
      time('dueAt', { readOnly: true, ...req }), time('paidAt', { readOnly: true }), made('waivedBy', { visible: ['warden'] })],
    unique: [],
  },
  closure: {
    fields: [id,
      reference('lock', 'lock', { immutable: true, ...req }),
      { name: 'title', type: 'string', minLength: 3, maxLength: 80, ...req },
      { name: 'cause', enum: ['works', 'flood', 'drought', 'ice'], ...req },
      time('startsAt', req), time('endsAt', req), made('createdBy', req), state('closure'), time('endedAt', { readOnly: true })],
    unique: [],
  },
  hook: {
    fields: [id, made('owner', req),
      { name: 'url', type: 'string', format: 'uri', maxLength: 300, ...req },
      made('secret', { reveal: true }),
      { name: 'topics', type: 'array', maxItems: 20 },
      { name: 'enabled', type: 'boolean', default: true, ...req }],
    unique: [],
  },
};
const count = (set, test) => { let n = 0; if (set) for (const row of set) if (test(row)) n++; return n; };
const sum = (set, value) => { let n = 0; if (set) for (const row of set) n += value(row); return n; };

// ---------------------------------------------------------------- versions
const VERSIONS = ['2025-03-01', '2026-02-01', '2026-09-01'];
const CURRENT = 2;
const DEPRECATED = new Map([[0, { on: Date.UTC(2026, 2, 1), sunset: Date.UTC(2027, 11, 1), link: 'https://lock-keepers.example/upgrade' }]]);
const DIRECTIONS = { up: 'ascending', down: 'descending' };
const UP_DIRECTIONS = { ascending: 'up', descending: 'down' };

/** The fields of a resource as a version has them: each with its name there, its shape there, and the way up and down. */
const VIEWS = new Map();
for (const [name, { fields }] of Object.entries(RESOURCES)) {
  for (const v of [0, 1, 2]) {
    const entries = [];
    for (const field of fields) {
      const entry = { field, ext: field.name, shape: field, up: null, down: null };
      if (name === 'boat' && field.name === 'lengthCm' && v < 1) entry.ext = 'length';
      if (name === 'passage' && field.name === 'assisted' && v < 1) continue;
      if (name === 'passage' && field.name === 'direction' && v < 1) {
        entry.shape = { ...field, enum: ['ascending', 'descending'] };
        entry.up = (value) => UP_DIRECTIONS[value];
        entry.down = (value) => DIRECTIONS[value];
      }
      if (name === 'mooring' && field.name === 'nightlyPence' && v < 2) {
        entry.ext = 'nightlyRate';
        entry.shape = { ...field, type: 'number', minimum: 0, maximum: 500 };
        entry.up = (value) => (F('vn-map-truncates') ? Math.trunc(value * 100) : Math.round(value * 100));
        entry.down = (value) => value / 100;
      }
      entries.push(entry);
    }
    if (name === 'boat' && v < 2) entries.push({ field: null, ext: 'fuel', shape: { type: 'string', maxLength: 20 }, constant: 'unknown' });
    VIEWS.set(name + v, { entries, byExt: new Map(entries.map((e) => [e.ext, e])) });
  }
}
const view = (resource, v) => VIEWS.get(resource + v);

// ---------------------------------------------------------------- rows
const tables = Object.fromEntries(Object.keys(RESOURCES).map((r) => [r, new Map()]));
const by = { passageOfLock: new Map(), passageOfBoat: new Map(), tollOfPassage: new Map() };
const numbers = { toll: 0, passage: new Map() };
let sequence = 0;
const indexed = (map, key, row) => { let set = map.get(key); if (!set) map.set(key, (set = new Set())); set.add(row); };
function store(resource, row) {
  row.seq = ++sequence;
  tables[resource].set(row.id, row);
  if (resource === 'passage') { indexed(by.passageOfLock, row.lock, row); indexed(by.passageOfBoat, row.boat, row); }
  if (resource === 'toll') indexed(by.tollOfPassage, row.passage, row);
}
const newId = () => randomUUID();
const secret = () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  let s = 'lk_';
  for (let i = 0; i < 40; i++) s += letters[randomInt(62)];
  return s;
};

// ---------------------------------------------------------------- permissions
const reachOf = (lockId) => tables.lock.get(lockId)?.reach;
const RULES = [];
const allow = (operations, to, test) => RULES.push({ operations: new Set(operations), to: Array.isArray(to) ? to : [to], test });
const every = ['skipper', 'keeper', 'warden'];
allow(['list lock', 'read lock'], ['anyone']);
allow(['create lock', 'update lock', 'delete lock', 'shut lock', 'reopen lock'], 'warden');
allow(['update lock', 'shut lock', 'reopen lock'], 'keeper', (r, c) => r.reach === c.reach);
allow(['list mooring', 'read mooring'], every);
allow(['create mooring', 'replace mooring', 'delete mooring'], 'warden');
allow(['replace mooring'], 'keeper', (r, c) => reachOf(r.lock) === c.reach);
allow(['create boat'], 'skipper');
allow(['list boat', 'read boat', 'update boat', 'delete boat'], 'skipper', (r, c) => r.owner === c.id);
allow(['list boat', 'read boat'], ['keeper', 'warden']);
allow(['create passage'], 'skipper');
allow(['list passage', 'read passage', 'update passage', 'arrive passage', 'cancel passage'], 'skipper', (r, c) => r.skipper === c.id);
allow(['list passage', 'read passage', 'start passage', 'leave passage'], 'keeper', (r, c) => reachOf(r.lock) === c.reach);
if (F('a-keeper-any-reach')) allow(['read passage', 'start passage'], 'keeper');
allow(['list passage', 'read passage', 'cancel passage'], 'warden');
allow(['list toll', 'read toll', 'pay toll'], 'skipper', (r, c) => r.skipper === c.id);
allow(['list toll', 'read toll'], 'keeper', (r, c) => reachOf(tables.passage.get(r.passage)?.lock) === c.reach);
allow(['list toll', 'read toll', 'waive toll'], 'warden');
allow(['list closure', 'read closure'], every);
allow(['create closure'], 'keeper', (r, c) => reachOf(r.lock) === c.reach);
allow(['update closure', 'withdraw closure', 'lift closure'], 'keeper', (r, c) => r.createdBy === c.id || (F('a-closure-same-reach') && reachOf(r.lock) === c.reach));
allow(['create closure', 'update closure', 'withdraw closure', 'lift closure'], 'warden');
allow(['create hook'], every);
allow(['list hook', 'read hook', 'update hook', 'delete hook'], every, (r, c) => r.owner === c.id);

const rulesFor = new Map();
/** The rules of an operation for a user; no caller has those for anyone alone. */
function rules(operation, user) {
  const key = operation + '\0' + user;
  let found = rulesFor.get(key);
  if (!found) rulesFor.set(key, (found = RULES.filter((r) => r.operations.has(operation) && (r.to.includes('anyone') || (user !== undefined && r.to.includes(user))))));
  return found;
}
const holds = (operation, who, row) => rules(operation, who?.user).some((r) => !r.test || r.test(row, who));
const mayRead = (resource, who, row) => holds('read ' + resource, who, row);

// ---------------------------------------------------------------- what is shown
const hidden = (field, who) => field.visible && !(who && field.visible.includes(who.user));
const childrenOf = (row) => [...(by.tollOfPassage.get(row.id) ?? [])].sort((a, b) => a.number - b.number);

function show(resource, row, who, v, { reveal = false, children = true, event = false, list = false } = {}) {
  const out = {};
  for (const { field, ext, down, constant } of view(resource, v).entries) {
    if (!field) { out[ext] = constant; continue; }
    if (hidden(field, who) && !(F('r-note-in-lists') && list && field.name === 'keeperNote') && !(F('ev-hidden-note') && event && field.name === 'keeperNote')) continue;
    if (field.reveal && !reveal) continue;
    if (field.children) {
      if (children) out[ext] = childrenOf(row).filter((t) => mayRead('toll', who, t)).map((t) => show('toll', t, who, v));
      continue;
    }
    let value = field.derive ? field.derive(row) : row[field.name];
    if (value === undefined) {
      if (F('r-null-mooring') && field.name === 'homeMooring') out[ext] = null;
      continue;
    }
    if (down) value = down(value);
    out[ext] = value;
  }
  return out;
}
const hash = (text) => createHash('sha256').update(text).digest('base64url');
const tagOf = (resource, row, who, v) => '"' + hash(v + '\n' + JSON.stringify(show(resource, row, who, v))).slice(0, 27) + '"';
const TAGGED = new Set(['lock', 'boat']);

// ---------------------------------------------------------------- errors
const CODES = {
  malformedBody: [400, 'The body is no JSON.'], unsupportedMedia: [415, 'Bodies are JSON.'], notAcceptable: [406, 'Answers are JSON.'],
  badParameter: [400, 'A parameter is not as it should be.'], badPage: [400, 'There is no such page.'],
  missingField: [F('er-missing-status') ? 400 : 422, ''], invalidRequest: [422, ''], unknownPath: [404, 'Nothing is served here.'],
  methodNotAllowed: [405, 'The path does not take this method.'], credentialMissing: [401, 'Show a key or a name and password.'],
  credentialRefused: [401, 'The credential is not good.'], notAllowed: [403, 'The caller may not do this.'], notFound: [404, 'There is no such thing.'],
  noSuchReference: [422, 'What is referred to is not there.'], inUse: [409, 'Others refer to it.'], taken: [409, 'There is one like it already.'],
  wrongState: [409, 'Not in this state.'], changedSince: [412, 'It was changed meanwhile.'], tagRequired: [428, 'Send If-Match.'],
  keyReused: [422, 'The key was used for another request.'], busy: [409, 'Try again.'], slowDown: [429, 'Too many requests.'],
  allowanceUsed: [403, 'The allowance is used up.'], tooLarge: [413, 'The body is too large.'], addressTooLong: [414, 'The address is too long.'],
  headersTooLarge: [431, 'The header fields are too large.'], tooSlow: [408, 'It took too long.'], unknownVersion: [400, 'There is no such version.'],
  versionGone: [410, 'This version is served no more.'], unavailable: [503, 'Not available at present.'], failed: [500, 'Something went wrong.'],
  lockShut: [409, 'The lock is shut.'], tooLate: [409, 'It is too late for that.'], boatTooLong: [422, 'The boat does not fit into the lock.'],
  plannedInPast: [422, 'The time is over.'], closureTooLong: [422, 'A closure lasts 30 days at the most.'],
};
const OWN = new Set(['lockShut', 'tooLate', 'boatTooLong', 'plannedInPast', 'closureTooLong']);
class Refusal {
  constructor(code, { violations, headers = {}, message } = {}) { this.code = code; this.violations = violations; this.headers = headers; this.message = message; }
}
const refuse = (code, more) => { throw new Refusal(code, more); };
const told = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? 'nothing').slice(0, 200);
const violation = (where, path, found, expected) => ({ in: where, path, found: told(found), expected });

function problem(code, requestId, violations, message) {
  const [status, text] = CODES[code];
  const body = { type: 'about:blank', title: http.STATUS_CODES[status], status, detail: message ?? text, code, request_id: requestId };
  if (violations?.length) body.violations = violations;
  return body;
}
const badParameter = (name, found, expected) => refuse('badParameter', { violations: [violation('query', name, found, expected)] });
const badPage = (name, found, expected) => refuse('badPage', { violations: [violation('query', name, found, expected)] });

function invalid(violations) {
  const first = violations[0];
  const missing = violations.every((one) => one.missing);
  const name = first.path === '' ? 'the body' : first.path.slice(1).replaceAll('/', '.');
  refuse(missing ? 'missingField' : 'invalidRequest', {
    violations: violations.map(({ in: where, path, found, expected }) => ({ in: where, path, found, expected })),
    message: missing ? `${name} is missing` : `${name} is not ${first.expected}`,
  });
}

// ---------------------------------------------------------------- the web hooks
const KINDS = ['passage.booked', 'passage.entered', 'passage.left', 'passage.dropped', 'lock.shut', 'lock.reopened', 'lock.regauged', 'toll.raised',
  'toll.settled', 'toll.overdue', 'closure.planned', 'closure.ended', 'boat.removed'];
const TOPICS = new Set([...KINDS, '*', ...KINDS.map((k) => k.split('.')[0] + '.*')]);
const WAITS = [10_000, 60_000, 600_000];
const DAY = 86_400_000;
const waiting = new Heap();
const lines = new Map();
let deliveryOrder = 0;

const wants = (hook, kind) => {
  if (!hook.topics) return true;
  return hook.topics.includes(kind) || hook.topics.includes('*') || hook.topics.includes(kind.split('.')[0] + '.*');
};

function record(kind, resource, row, payload) {
  const at = iso(now()), eventId = randomUUID();
  for (const hook of tables.hook.values()) {
    if (!hook.enabled || !wants(hook, kind)) continue;
    if (!mayRead(resource, hook.maker, row)) continue;
    const data = typeof payload === 'function' ? payload(hook) : payload;
    enqueue(hook, resource + row.id, { eventId, kind, at, body: JSON.stringify({ eventId, kind, occurredAt: at, data }) });
  }
}
const showsRow = (resource, row) => (hook) => show(resource, row, hook.maker, hook.version, { children: false, event: true });

function enqueue(hook, row, event) {
  const line = hook.id + row;
  const delivery = { hook, line, event, tries: 0, due: now(), order: ++deliveryOrder };
  const queue = lines.get(line);
  if (queue) queue.push(delivery);
  else { lines.set(line, [delivery]); waiting.push(delivery); setImmediate(pump); }
}
function done(delivery) {
  const queue = lines.get(delivery.line);
  queue.shift();
  if (queue.length) { queue[0].due = now(); queue[0].order = ++deliveryOrder; waiting.push(queue[0]); setImmediate(pump); } else lines.delete(delivery.line);
}
const gone = (hook) => !tables.hook.has(hook.id) || !hook.enabled;
function pump() {
  while (waiting.size && waiting.peek().due <= now()) {
    const delivery = waiting.pop(), { hook } = delivery;
    if (gone(hook)) { done(delivery); continue; }
    if (hook.holdUntil > now()) { delivery.due = hook.holdUntil; waiting.push(delivery); continue; }
    if (hook.flying >= (hook.failingSince ? 1 : 32)) { hook.blocked.push(delivery); continue; }
    send(delivery);
  }
}
function send(delivery) {
  const { hook, event } = delivery;
  hook.flying++;
  delivery.tries++;
  const timestamp = String(Math.floor(now() / 1000));
  const mac = createHmac('sha256', hook.secret).update(F('ev-signs-body') ? event.body : timestamp + '.' + event.body).digest('hex');
  let settled = false, timer;
  const settle = (status, wait) => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    hook.flying--;
    answered(delivery, status, wait);
    const next = hook.blocked.shift();
    if (next) { next.due = Math.max(next.due, hook.holdUntil); waiting.push(next); }
    setImmediate(pump);
  };
  try {
    const url = new URL(hook.url);
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST', agent: false,
      headers: {
        'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(event.body), 'User-Agent': 'lock-keepers',
        'Waterway-Signature': `t=${timestamp},v1=${mac}`, 'Waterway-Event': event.kind, 'Waterway-Delivery': event.eventId,
      },
    }, (response) => {
      settle(response.statusCode, response.headers['retry-after']);
      response.on('error', () => {});
      response.resume();
      setTimeout(() => request.destroy(), 500).unref();
    });
    request.on('error', () => settle(0));
    timer = setTimeout(() => { settle(0); request.destroy(); }, 5000);
    timer.unref();
    request.end(event.body);
  } catch { setImmediate(settle, 0); }
}
function answered(delivery, status, retryAfter) {
  const { hook } = delivery;
  if (status >= 200 && status < 300) { hook.failingSince = 0; return done(delivery); }
  if (!tables.hook.has(hook.id)) return done(delivery);
  const t = now();
  if (!hook.failingSince) hook.failingSince = t;
  if (status === 410 || t - hook.failingSince >= 2 * DAY) { hook.enabled = false; return done(delivery); }
  if (retryAfter !== undefined) {
    const wait = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - t;
    if (wait > 0) hook.holdUntil = Math.max(hook.holdUntil, t + Math.min(wait, DAY));
  }
  if (delivery.tries > WAITS.length || (F('ev-no-retry-5xx') && status >= 500)) return done(delivery);
  delivery.due = Math.max(t + Math.round(WAITS[delivery.tries - 1] * (0.8 + Math.random() * 0.4)), hook.holdUntil);
  delivery.order = ++deliveryOrder;
  waiting.push(delivery);
}

// ---------------------------------------------------------------- changes
// What a change emits is told once all that follows from it is stored.
let pending = [];
function emit(kind, resource, row, payload) { pending.push([kind, resource, { ...row }, payload]); }
function commit() {
  const events = pending;
  pending = [];
  for (const [kind, resource, row, payload] of events) record(kind, resource, row, payload === undefined ? showsRow(resource, row) : payload);
}

const timers = new Heap();
let timerOrder = 0;
function schedule(resource, row, transition, due, still) { timers.push({ due, order: ++timerOrder, resource, id: row.id, transition, still }); }
function timersOf(resource, row, before) {
  if (resource === 'passage' && row.status === 'booked' && before?.status !== 'booked') {
    schedule('passage', row, 'lapse', now() + 48 * 3_600_000, (r) => r.status === 'booked' || (F('s-lapse-waiting') && r.status === 'waiting'));
  }
  if (resource === 'toll' && row.status === 'due' && before?.status !== 'due') schedule('toll', row, 'fallDue', instant(row.dueAt), (r) => r.status === 'due');
  if (resource === 'closure') {
    const startsAt = row.startsAt, endsAt = row.endsAt;
    if (row.status === 'planned' && (before?.status !== 'planned' || (before.startsAt !== startsAt && !F('s-no-reschedule')))) {
      schedule('closure', row, 'begin', instant(startsAt), (r) => r.status === 'planned' && (F('s-no-reschedule') || r.startsAt === startsAt));
    }
    if (row.status === 'inForce' && before?.status !== 'inForce') schedule('closure', row, 'expire', instant(endsAt), (r) => r.status === 'inForce' && r.endsAt === endsAt);
  }
}
/** What has fallen due by now, in its order. */
function tick() {
  const t = now();
  while (timers.size && timers.peek().due <= t) {
    const { resource, id: rowId, transition, still } = timers.pop();
    const row = tables[resource].get(rowId);
    if (!row || !still(row)) continue;
    move(resource, row, transition, {});
    commit();
  }
}

const TRANSITIONS = {
  lock: { shut: { from: ['working'], to: 'shut' }, reopen: { from: ['shut'], to: 'working' } },
  passage: {
    arrive: { from: ['booked'], to: 'waiting' },
    start: { from: ['waiting'], to: 'locking', test: (row) => (tables.lock.get(row.lock).status === 'working' || F('s-no-guard') ? null : F('er-lock-shut-code') ? 'wrongState' : 'lockShut') },
    leave: { from: ['locking'], to: 'passed' },
    cancel: { from: ['booked', 'waiting'], to: 'cancelled', otherwise: 'tooLate' },
    lapse: { from: ['booked', 'waiting'], to: 'lapsed' },
  },
  toll: { pay: { from: F('s-pay-overdue') ? ['due'] : ['due', 'overdue'], to: 'paid' }, waive: { from: ['due', 'overdue'], to: 'waived' }, fallDue: { from: ['due'], to: 'overdue' } },
  closure: {
    begin: { from: ['planned'], to: 'inForce' }, lift: { from: ['inForce'], to: 'ended' }, expire: { from: ['inForce'], to: 'ended' },
    withdraw: { from: ['planned'], to: 'withdrawn', otherwise: 'tooLate' },
  },
};

/** Makes a transition that may be made, with all that follows from it. */
function move(resource, row, name, { who, request }) {
  const before = { ...row };
  row.status = TRANSITIONS[resource][name].to;
  const at = iso(now());
  if (resource === 'lock') row.updatedAt = at;
  if (resource === 'passage') {
    if (name === 'cancel') row.reason = request.reason;
    if (name === 'start') row.enteredAt = at;
    if (name === 'leave') row.leftAt = at;
  }
  if (resource === 'toll') {
    if (name === 'pay') { row.paidAt = at; row.method = request.method; }
    if (name === 'waive') row.waivedBy = who.id;
  }
  if (resource === 'closure' && (name === 'lift' || name === 'expire')) row.endedAt = at;
  timersOf(resource, row, before);
  switch (resource + ' ' + name) {
    case 'lock shut': emit('lock.shut', 'lock', row); break;
    case 'lock reopen': emit('lock.reopened', 'lock', row); break;
    case 'passage start': emit('passage.entered', 'passage', row); break;
    case 'passage lapse': if (F('ev-lapse-silent')) break; // falls through
    case 'passage cancel': emit('passage.dropped', 'passage', row, F('ev-reason-left-out') && !row.reason
      ? { passage: row.id, lock: row.lock, outcome: row.status } : { passage: row.id, lock: row.lock, outcome: row.status, reason: row.reason ?? 'not arrived' }); break;
    case 'passage leave': {
      emit('passage.left', 'passage', row);
      const boat = tables.boat.get(row.boat);
      createToll({ passage: row.id, skipper: row.skipper, amountPence: boat.lengthCm * 2 + (row.assisted && !F('s-no-assistance') ? 500 : 0) });
      break;
    }
    case 'toll pay': emit('toll.settled', 'toll', row); break;
    case 'toll waive': emit('toll.settled', 'toll', row); break;
    case 'toll fallDue': emit('toll.overdue', 'toll', row); break;
    case 'closure begin': follow(row.lock, 'shut'); break;
    case 'closure lift': emit('closure.ended', 'closure', row); if (!F('s-lift-leaves-shut')) follow(row.lock, 'reopen'); break;
    case 'closure expire': emit('closure.ended', 'closure', row); follow(row.lock, 'reopen'); break;
  }
}
function follow(lockId, name) {
  const lock = tables.lock.get(lockId);
  if (lock && TRANSITIONS.lock[name].from.includes(lock.status)) move('lock', lock, name, {});
}
function createToll(values) {
  const row = { id: newId(), number: ++numbers.toll, ...values, status: 'due', dueAt: iso(now() + 14 * DAY) };
  store('toll', row);
  timersOf('toll', row);
  emit('toll.raised', 'toll', row);
}

// ---------------------------------------------------------------- rates
const windows = [];
class Rate {
  constructor({ limit, window, kind = 'sliding', burst }) { Object.assign(this, { limit, window, kind, burst: burst ?? limit }); this.of = new Map(); windows.push(this); }
  get(who) {
    let s = this.of.get(who);
    if (!s) this.of.set(who, (s = this.kind === 'sliding' ? { at: [], head: 0 } : this.kind === 'fixed' ? { start: -Infinity, used: 0 } : { tokens: this.burst, at: now() }));
    const t = now();
    if (this.kind === 'sliding') {
      while (s.head < s.at.length && s.at[s.head] <= t - this.window) s.head++;
      if (s.head > 4096) { s.at = s.at.slice(s.head); s.head = 0; }
    } else if (this.kind === 'fixed') {
      if (t >= s.start + this.window) { s.start = t; s.used = 0; }
    } else { s.tokens = Math.min(this.burst, s.tokens + ((t - s.at) * this.limit) / this.window); s.at = t; }
    return s;
  }
  left(s) { return this.kind === 'sliding' ? this.limit - (s.at.length - s.head) : this.kind === 'fixed' ? this.limit - s.used : Math.floor(s.tokens + 1e-9); }
  wait(s) {
    const t = now();
    if (this.kind === 'sliding') return s.head < s.at.length ? s.at[s.head] + this.window - t : 0;
    if (this.kind === 'fixed') return s.start + this.window - t;
    return s.tokens >= this.burst ? 0 : ((Math.floor(s.tokens + 1e-9) + 1 - s.tokens) * this.window) / this.limit;
  }
  take(s) { if (this.kind === 'sliding') s.at.push(now()); else if (this.kind === 'fixed') s.used++; else s.tokens--; }
  giveBack(s) { if (this.kind === 'sliding') s.at.pop(); else if (this.kind === 'fixed') s.used--; else s.tokens++; }
  seconds(s) { return Math.max(0, Math.ceil(this.wait(s) / 1000)); }
}
const perAddress = new Rate({ limit: 12000, window: 60_000, kind: 'fixed' });
const perCaller = new Rate({ limit: 3000, window: 60_000 });
const perHook = new Rate({ limit: 30, window: 60_000, kind: 'bucket', burst: 40 });
const perClosure = new Rate({ limit: 40, window: 60_000, kind: 'fixed' });

/** Asks rates in one step: all are counted, or none, and the first step's are given back. */
function countRates(context, list, earlier) {
  const asked = list.map(([rate, who]) => ({ rate, state: rate.get(who) }));
  const full = asked.filter(({ rate, state: s }) => rate.left(s) < 1);
  if (full.length) {
    for (const { rate, state: s } of earlier) rate.giveBack(s);
    context.rates = asked;
    refuse('slowDown', { headers: { 'Retry-After': String(Math.max(1, ...full.map(({ rate, state: s }) => rate.seconds(s)))) } });
  }
  for (const { rate, state: s } of asked) rate.take(s);
  context.rates = [...earlier, ...asked];
  return asked;
}
function rateHeaders(context) {
  if (!context.rates?.length) return {};
  let strictest = context.rates[0];
  for (const one of context.rates) if (one.rate.left(one.state) < strictest.rate.left(strictest.state)) strictest = one;
  const { rate, state: s } = strictest;
  return {
    'X-RateLimit-Limit': String(rate.limit), 'X-RateLimit-Remaining': String(Math.max(0, rate.left(s))),
    'X-RateLimit-Reset': String(rate.seconds(s)),
  };
}

// ---------------------------------------------------------------- quotas
const londonDay = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/London', year: 'numeric', month: '2-digit', day: '2-digit' });
const dayAt = { hour: NaN, day: '' };
function day(t) {
  const hour = Math.floor(t / 3_600_000);
  if (dayAt.hour !== hour) { dayAt.hour = hour; dayAt.day = londonDay.format(t); }
  return dayAt.day;
}
const quota = new Map();
const QUOTA = 100;
function quotaLeft(who) {
  const key = who.id, today = day(now());
  let used = quota.get(key);
  if (!used || used.day !== today) quota.set(key, (used = { day: today, n: 0 }));
  if (used.n < QUOTA) return used;
  let end = (Math.floor(now() / 3_600_000) + 1) * 3_600_000;
  while (londonDay.format(end) === today) end += 3_600_000;
  return refuse('allowanceUsed', { headers: { 'Retry-After': String(Math.ceil((end - now()) / 1000)) } });
}
const ACTIVE = new Set(['booked', 'waiting', 'locking']);

// ---------------------------------------------------------------- endpoints
const LIST = { size: 20, max: 100 };
const own = (field, op = '=') => ({ field, op });
const ENDPOINTS = [
  { method: 'GET', path: '/locks', does: 'list', resource: 'lock', order: 'position', sort: ['position', 'riseCm'],
    parameters: { reach: own('reach'), status: own('status'), minRise: { field: 'riseCm', op: '>=', shape: { type: 'integer', minimum: 10, maximum: 900 } } } },
  { method: 'POST', path: '/locks', does: 'create', resource: 'lock' },
  { method: 'GET', path: '/locks/{id}', does: 'read', resource: 'lock' },
  { method: 'PATCH', path: '/locks/{id}', does: 'update', resource: 'lock', ifMatch: 'required' },
  { method: 'DELETE', path: '/locks/{id}', does: 'delete', resource: 'lock' },
  { method: 'POST', path: '/locks/{id}/shut', does: 'shut', resource: 'lock' },
  { method: 'POST', path: '/locks/{id}/reopen', does: 'reopen', resource: 'lock' },
  { method: 'GET', path: '/moorings', does: 'list', resource: 'mooring', order: 'code',
    parameters: { lock: own('lock'), hasPower: own('hasPower'), minLength: { field: 'lengthCm', op: '>=', shape: { type: 'integer', minimum: 200, maximum: 7500 } } } },
  { method: 'POST', path: '/locks/{lock}/moorings', does: 'create', resource: 'mooring', parent: 'lock' },
  { method: 'GET', path: '/moorings/{id}', does: 'read', resource: 'mooring' },
  { method: 'PUT', path: '/moorings/{id}', does: 'replace', resource: 'mooring' },
  { method: 'DELETE', path: '/moorings/{id}', does: 'delete', resource: 'mooring' },
  { method: 'GET', path: '/boats', does: 'list', resource: 'boat', order: 'name', sort: ['name', 'lengthCm'], parameters: { kind: own('kind'), name: own('name', 'prefix') } },
  { method: 'POST', path: '/boats', does: 'create', resource: 'boat' },
  { method: 'GET', path: '/boats/{id}', does: 'read', resource: 'boat', cache: 'private, max-age=30' },
  { method: 'PATCH', path: '/boats/{id}', does: 'update', resource: 'boat' },
  { method: 'DELETE', path: '/boats/{id}', does: 'delete', resource: 'boat' },
  { method: 'GET', path: '/passages', does: 'list', resource: 'passage', order: 'plannedAt', sort: ['plannedAt', 'number'], page: { size: F('l-default-page') ? 20 : 10, max: 50 },
    parameters: { lock: own('lock'), boat: own('boat'), direction: own('direction'), status: { field: 'status', op: '=', split: ',' },
      plannedFrom: { field: 'plannedAt', op: '>=', shape: { type: 'string', format: 'date-time' } }, plannedBefore: { field: 'plannedAt', op: '<', shape: { type: 'string', format: 'date-time' } } } },
  { method: 'POST', path: '/passages', does: 'create', resource: 'passage' },
  { method: 'GET', path: '/passages/{id}', does: 'read', resource: 'passage' },
  { method: 'PATCH', path: '/passages/{id}', does: 'update', resource: 'passage', inStates: ['booked'] },
  { method: 'POST', path: '/passages/{id}/arrive', does: 'arrive', resource: 'passage' },
  { method: 'POST', path: '/passages/{id}/start', does: 'start', resource: 'passage' },
  { method: 'POST', path: '/passages/{id}/leave', does: 'leave', resource: 'passage' },
  { method: 'POST', path: '/passages/{id}/cancel', does: 'cancel', resource: 'passage', request: { reason: { type: 'string', minLength: 3, maxLength: 100 } } },
  { method: 'GET', path: '/tolls', does: 'list', resource: 'toll', order: '-number',
    parameters: { passage: own('passage'), status: own('status'), minAmount: { field: 'amountPence', op: '>=', shape: { type: 'integer', minimum: 0 } } } },
  { method: 'GET', path: '/tolls/{id}', does: 'read', resource: 'toll' },
  { method: 'POST', path: '/tolls/{id}/pay', does: 'pay', resource: 'toll', request: { method: { enum: ['card', 'cash', 'account'] } } },
  { method: 'POST', path: '/tolls/{id}/waive', does: 'waive', resource: 'toll', since: F('vn-waive-everywhere') ? 0 : 2 },
  { method: 'GET', path: '/closures', does: 'list', resource: 'closure', order: F('e-closure-order') ? 'startsAt' : '-startsAt',
    parameters: { lock: own('lock'), status: own('status'), cause: own('cause'), startsFrom: { field: 'startsAt', op: '>=', shape: { type: 'string', format: 'date-time' } } } },
  { method: 'POST', path: '/closures', does: 'create', resource: 'closure' },
  { method: 'GET', path: '/closures/{id}', does: 'read', resource: 'closure' },
  { method: 'PATCH', path: '/closures/{id}', does: 'update', resource: 'closure', inStates: ['planned'] },
  { method: 'POST', path: '/closures/{id}/withdraw', does: 'withdraw', resource: 'closure' },
  { method: F('p-lift-method') ? 'PUT' : 'POST', path: '/closures/{id}/lift', does: 'lift', resource: 'closure' },
  { method: 'GET', path: '/hooks', does: 'list', resource: 'hook' },
  { method: 'POST', path: '/hooks', does: 'create', resource: 'hook' },
  { method: 'GET', path: '/hooks/{id}', does: 'read', resource: 'hook' },
  { method: 'PATCH', path: '/hooks/{id}', does: 'update', resource: 'hook' },
  { method: 'DELETE', path: '/hooks/{id}', does: 'delete', resource: 'hook' },
  { method: 'GET', path: '/tariff', does: 'reply', operation: 'show tariff', public: true, since: 2 },
];
const TARIFF = { currency: 'GBP', pencePerCm: 2, assistancePence: 500 };
const WRITES = new Set(['create', 'update', 'replace']);
for (const e of ENDPOINTS) {
  e.operation ??= `${e.does} ${e.resource}`;
  e.steps = e.path.slice(1).split('/');
  e.takesBody = WRITES.has(e.does) || Boolean(e.request);
  e.page ??= LIST;
  e.parameters ??= {};
  e.transition = TRANSITIONS[e.resource]?.[e.does];
}
function route(path, v) {
  if (F('p-mooring-mount') && /^(\/waterway)?\/moorings/.test(path)) path = path.startsWith(BASE) ? '' : BASE + path;
  if (!path.startsWith(BASE + '/')) return [];
  const steps = path.slice(BASE.length + 1).split('/');
  const found = [];
  for (const e of ENDPOINTS) {
    if (e.steps.length !== steps.length || (e.since ?? 0) > v) continue;
    const params = {};
    if (e.steps.every((s, i) => (s[0] === '{' ? steps[i] !== '' && ((params[s.slice(1, -1)] = steps[i]), true) : s === steps[i]))) found.push({ endpoint: e, params });
  }
  return found;
}
const parsePath = (text) => { try { return decodeURIComponent(text); } catch { return '\0'; } };

// ---------------------------------------------------------------- what a request says
function authenticate(headers, raw) {
  const shown = [];
  const times = (name) => { let n = 0; for (let i = 0; i < raw.length; i += 2) if (raw[i].toLowerCase() === name) n++; return n; };
  const bad = (key, login) => { throw { bad: { key, login } }; };
  if (headers[KEY_HEADER] !== undefined) {
    let who = times(KEY_HEADER) === 1 ? KEYS.get(headers[KEY_HEADER]) : undefined;
    if (F('a-key-prefix') && !who) for (const [key, c] of KEYS) if (headers[KEY_HEADER].startsWith(key.slice(0, 20))) who = c;
    if (!who) bad(true, false);
    shown.push(who);
  } else if (F('a-legacy-header') && headers['x-api-key'] !== undefined && KEYS.has(headers['x-api-key'])) shown.push(KEYS.get(headers['x-api-key']));
  if (headers.authorization !== undefined) {
    const m = times('authorization') === 1 ? /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headers.authorization) : null;
    if (!m) bad(false, true);
    const text = Buffer.from(m[1], 'base64').toString('utf8');
    const at = text.indexOf(':');
    const password = text.slice(at + 1);
    const login = at < 0 ? undefined : LOGINS.get(text.slice(0, at));
    if (!login || login.password !== password) bad(false, true);
    shown.push(login.who);
  }
  if (shown.length > 1 && (shown[0].user !== shown[1].user || shown[0].id !== shown[1].id)) bad(true, true);
  if (shown.length && !USERS.has(shown[0].user)) bad(headers[KEY_HEADER] !== undefined, headers.authorization !== undefined);
  return { who: shown[0], basic: headers.authorization !== undefined };
}
const challenges = (bad) => {
  const key = `ApiKey realm="${REALM}", in="header", name="X-Waterway-Key"` + (bad?.key ? ', error="invalid_key"' : '');
  return { 'WWW-Authenticate': [key, `Basic realm="${REALM}", charset="UTF-8"`] };
};

function accepts(accept) {
  if (accept === undefined || accept.trim() === '') return true;
  let best = -1, quality = 0;
  for (const part of accept.split(',')) {
    const [range, ...words] = part.trim().toLowerCase().split(';').map((w) => w.trim());
    const rank = range === 'application/json' ? 2 : range === 'application/*' ? 1 : range === '*/*' ? 0 : -1;
    if (rank < 0) continue;
    const q = words.find((w) => w.startsWith('q='));
    const value = q ? Number(q.slice(2)) : 1;
    if (rank > best) { best = rank; quality = value; } else if (rank === best) quality = Math.max(quality, value);
  }
  return quality > 0;
}

function readBody(context) {
  const { endpoint, headers, body } = context;
  if (!endpoint.takesBody) { if (context.tooLarge) refuse('tooLarge'); return undefined; }
  if (context.length === 0) refuse('malformedBody');
  const type = (headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  if (type !== 'application/json' && !(endpoint.does === 'update' && type === 'application/merge-patch+json')) refuse('unsupportedMedia');
  if (context.tooLarge) refuse('tooLarge');
  try { return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)); } catch { return refuse('malformedBody'); }
}

function readQuery(context) {
  const { endpoint, query, v } = context;
  const sent = new Map();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = endpoint.does === 'list' && (Object.hasOwn(endpoint.parameters, name) || name === 'limit' || name === 'offset' || (name === 'sort' && endpoint.sort));
    if (!known) { badParameter(name, value, 'a parameter of it'); }
    if (sent.has(name)) badParameter(name, value, 'one value');
    sent.set(name, value);
  }
  if (endpoint.does !== 'list') return null;
  const plan = { tests: [], order: endpoint.order, limit: endpoint.page.size, offset: 0, sent };
  const entries = view(endpoint.resource, v).entries;
  for (const [name, text] of sent) {
    if (name === 'limit' || name === 'offset') continue;
    if (name === 'sort') {
      const field = text.replace(/^-/, '');
      const entry = entries.find((e) => e.ext === field && endpoint.sort.includes(e.field?.name));
      if (!entry) badParameter(name, text, 'a sort key');
      plan.order = (text[0] === '-' ? '-' : '') + entry.field.name;
      continue;
    }
    const parameter = endpoint.parameters[name];
    const entry = entries.find((e) => e.field?.name === parameter.field);
    const shape = parameter.shape ?? (F('vn-filter-enum') ? entry.field : entry.shape);
    let texts = parameter.split ? text.split(parameter.split) : [text];
    if (texts.length > 100) badParameter(name, text, 'at most 100 values');
    if (F('e-split-first')) texts = texts.slice(0, 1);
    const values = texts.map((t) => {
      let value = t;
      if (shape.type === 'integer' || shape.type === 'number') value = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(t) ? Number(t) : badParameter(name, t, 'a number');
      if (shape.type === 'boolean') value = t === 'true' ? true : t === 'false' ? false : badParameter(name, t, 'true or false');
      const expected = mismatch(shape, value);
      if (expected) badParameter(name, t, expected);
      if (entry.up && !parameter.shape) value = F('vn-filter-enum') ? value : entry.up(value);
      return shape.format === 'date-time' ? instant(value) : value;
    });
    const field = parameter.field, timed = shape.format === 'date-time';
    const of = (row) => (timed ? instant(row[field]) : row[field]);
    if (parameter.op === '>=') plan.tests.push(F('e-min-rise') && name === 'minRise' ? (row) => of(row) > values[0] : (row) => of(row) >= values[0]);
    else if (parameter.op === '<') plan.tests.push((row) => of(row) < values[0]);
    else if (parameter.op === 'prefix') plan.tests.push(F('e-prefix-case') ? (row) => of(row).toLowerCase().startsWith(values[0].toLowerCase()) : (row) => of(row).startsWith(values[0]));
    else plan.tests.push((row) => values.includes(of(row)));
  }
  for (const name of ['limit', 'offset']) {
    if (!sent.has(name)) continue;
    const text = sent.get(name);
    const n = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (Number.isNaN(n) || (name === 'limit' && n < 1)) badPage(name, text, 'a whole number');
    if (name === 'limit' && n > endpoint.page.max) {
      if (!F('l-clamps')) badPage(name, text, `at most ${endpoint.page.max}`);
      plan.limit = endpoint.page.max;
    } else plan[name] = n;
  }
  return plan;
}

/** Holds a body to its version's shape; gives the values by their newest names. `undefined` is what is taken away. */
function validate(context, body, mode, current) {
  const { endpoint, v, who } = context, { resource } = endpoint;
  if (body === null || typeof body !== 'object' || Array.isArray(body)) invalid([violation('body', '', body, 'a map')]);
  const { entries, byExt } = view(resource, v);
  const violations = [], values = {}, seen = new Set();
  for (const [ext, value] of Object.entries(body)) {
    const path = '/' + ext.replaceAll('~', '~0').replaceAll('/', '~1');
    const entry = byExt.get(ext);
    if (!entry) { violations.push(violation('body', path, value, 'a field of it')); continue; }
    const { field, shape } = entry;
    if (field && (field.readOnly || (field.writable && !field.writable.includes(who.user)))) {
      if (F('s-patch-status') && mode === 'update' && resource === 'passage' && ext === 'status' && STATES.passage.includes(value)) values.status = value;
      continue;
    }
    seen.add(field?.name ?? ext);
    if (value === null && mode === 'update') {
      if (field?.required) violations.push(violation('body', path, value, 'a value'));
      else if (field) values[field.name] = undefined;
      continue;
    }
    const expected = mismatch(shape, value);
    if (expected) { violations.push(violation('body', path, value, expected)); continue; }
    if (!field) continue;
    if (resource === 'hook' && ext === 'url' && !/^https?:\/\//i.test(value)) { violations.push(violation('body', path, value, 'an http address')); continue; }
    if (resource === 'hook' && ext === 'topics') {
      const bad = value.findIndex((t) => !TOPICS.has(t));
      if (bad >= 0) { violations.push(violation('body', `${path}/${bad}`, value[bad], typeof value[bad] === 'string' ? 'a kind of event' : 'a string')); continue; }
    }
    const stored = entry.up ? entry.up(value) : value;
    if (field.immutable && current && stored !== current[field.name]) { violations.push(violation('body', path, value, 'what it is')); continue; }
    if (endpoint.parent === field.name && value !== context.params[field.name]) { violations.push(violation('body', path, value, 'what the path says')); continue; }
    values[field.name] = stored;
  }
  if (resource === 'closure' && !violations.some((one) => one.path === '/startsAt' || one.path === '/endsAt')) {
    const startsAt = values.startsAt ?? current?.startsAt, endsAt = values.endsAt ?? current?.endsAt;
    if (startsAt && endsAt && instant(endsAt) <= instant(startsAt)) violations.push(violation('body', '/endsAt', endsAt, 'a time after startsAt'));
  }
  if (mode !== 'update') {
    for (const { field, ext } of entries) {
      if (!field || field.readOnly || seen.has(field.name)) continue;
      if (endpoint.parent === field.name) { values[field.name] = context.params[field.name]; continue; }
      if (mode === 'replace' && field.immutable) continue;
      if (field.default !== undefined) { values[field.name] = field.default; continue; }
      if (field.required) violations.push({ ...violation('body', '/' + ext, undefined, 'a value'), missing: true });
      else if (mode === 'replace' && !(F('e-put-merges')) && !hidden(field, who)) values[field.name] = undefined;
    }
  }
  if (violations.length) invalid(violations);
  for (const { field, ext } of entries) {
    if (!field?.ref || values[field.name] === undefined || field.name === endpoint.parent || current?.[field.name] === values[field.name]) continue;
    const row = tables[field.ref].get(values[field.name]);
    if (!row || !mayRead(field.ref, who, row)) refuse('noSuchReference', { violations: [violation('body', '/' + ext, values[field.name], 'a ' + field.ref)] });
  }
  return values;
}

function conditions(operation, next) {
  if (operation === 'create passage') {
    const boat = tables.boat.get(next.boat), lock = tables.lock.get(next.lock);
    if (F('er-boat-length') ? boat.lengthCm >= lock.maxLengthCm : boat.lengthCm > lock.maxLengthCm) refuse('boatTooLong');
  }
  if ((operation === 'create passage' || (operation === 'update passage' && !F('er-past-update'))) && instant(next.plannedAt) < now()) refuse('plannedInPast');
  if ((operation === 'create closure' || operation === 'update closure') && instant(next.endsAt) - instant(next.startsAt) > 720 * 3_600_000) refuse('closureTooLong');
}
function uniqueness(resource, next) {
  for (const names of RESOURCES[resource].unique) {
    for (const row of tables[resource].values()) if (row.id !== next.id && names.every((n) => next[n] !== undefined && row[n] === next[n])) refuse('taken');
  }
}

// ---------------------------------------------------------------- operations
const answer = (status, body, headers = {}, more = {}) => ({ status, body, headers, ...more });
const address = (resource, rowId) => `${F('e-location') && resource === 'boat' ? '' : BASE}/${resource}s/${rowId}`;
const tagged = (context, row) => (TAGGED.has(context.endpoint.resource) ? { ETag: tagOf(context.endpoint.resource, row, context.who, context.v) } : {});

function find(context) {
  const { endpoint, params, who } = context, { resource, operation } = endpoint;
  const row = tables[resource].get(parsePath(params.id));
  if (!row) refuse('notFound');
  if (!holds(operation, who, row)) refuse(mayRead(resource, who, row) || (F('a-toll-forbidden') && resource === 'toll') ? 'notAllowed' : 'notFound');
  return row;
}
function precondition(context, row) {
  const { endpoint, headers, who, v } = context, { resource } = endpoint;
  const sent = headers['if-match'];
  if (sent === undefined) { if (endpoint.ifMatch === 'required') refuse('tagRequired'); return; }
  if (!TAGGED.has(resource) || sent.trim() === '*') return;
  const good = new Set([tagOf(resource, row, who, v)]);
  if (mayRead(resource, undefined, row)) good.add(tagOf(resource, row, undefined, v));
  const tags = (sent.match(/(?:W\/)?"[^"]*"/g) ?? []).map((t) => (F('er-weak-match') ? t.replace('W/', '') : t));
  if (!tags.some((t) => good.has(t))) refuse('changedSince');
}

const OPERATIONS = {
  reply: () => answer(200, TARIFF),
  read(context) {
    const { endpoint, headers, who, v } = context, { resource } = endpoint;
    const row = find(context);
    const out = tagged(context, row);
    if (endpoint.cache) out['Cache-Control'] = endpoint.cache;
    const none = headers['if-none-match'];
    if (none !== undefined && out.ETag && (none.trim() === '*' || (none.match(/"[^"]*"/g) ?? []).includes(out.ETag))) return answer(304, undefined, out);
    return answer(200, show(resource, row, who, v), out);
  },
  list(context) {
    const { endpoint, who, v, plan, path } = context, { resource, operation } = endpoint;
    const unruled = F('a-list-filtered') && resource === 'boat' && plan.sent.has('kind') && who.user === 'skipper';
    let rows = [];
    for (const row of tables[resource].values()) if ((unruled || holds(operation, who, row)) && plan.tests.every((t) => t(row))) rows.push(row);
    if (plan.order) {
      const down = plan.order[0] === '-', name = plan.order.replace(/^-/, '');
      const timed = name === 'startsAt' || name === 'plannedAt';
      const keys = new Map(rows.map((r) => [r, timed ? instant(r[name]) : r[name]]));
      rows.sort((a, b) => {
        const x = keys.get(a), y = keys.get(b);
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || a.seq - b.seq;
      });
    }
    const total = rows.length, { limit, offset: start } = plan;
    rows = rows.slice(start, start + limit);
    const hasMore = start + rows.length < total;
    const to = (n) => {
      const q = new URLSearchParams(context.query);
      q.set('limit', String(limit));
      q.set('offset', String(n));
      return `${path}?${q}`;
    };
    const links = [`<${to(0)}>; rel="first"`];
    if (start > 0) links.push(`<${to(Math.max(0, start - limit))}>; rel="prev"`);
    if (start + rows.length < total && rows.length) links.push(`<${to(start + limit)}>; rel="next"`);
    return answer(200, { items: rows.map((r) => show(resource, r, who, v, { list: true })), hasMore, total: total }, {}, { links });
  },
  create(context) {
    const { endpoint, who, v, body } = context, { resource, operation } = endpoint;
    if (endpoint.parent) {
      context.params[endpoint.parent] = parsePath(context.params[endpoint.parent]);
      const parent = tables[endpoint.parent].get(context.params[endpoint.parent]);
      if (!parent || !mayRead(endpoint.parent, who, parent)) refuse('notFound');
    }
    const row = { id: newId(), ...validate(context, body, 'create') };
    const at = iso(now());
    if (resource === 'lock' || resource === 'mooring') row.updatedAt = at;
    if (resource === 'boat') { row.owner = who.id; row.createdAt = at; }
    if (resource === 'passage') row.skipper = who.id;
    if (resource === 'closure') row.createdBy = who.id;
    if (resource === 'hook') Object.assign(row, { owner: who.id, secret: secret() });
    if (STATES[resource]) row.status = STATES[resource][0];
    if (!holds(operation, who, row)) refuse('notAllowed');
    conditions(operation, row);
    uniqueness(resource, row);
    let used;
    if (resource === 'passage') {
      if (count(by.passageOfBoat.get(row.boat), (p) => ACTIVE.has(p.status) || F('l-rows-all-states')) >= 3) refuse('allowanceUsed');
      used = quotaLeft(who);
    }
    if (resource === 'hook' && count(tables.hook.values(), (h) => h.owner === who.id) >= (F('l-hook-rows') ? 9 : 8)) refuse('allowanceUsed');
    if (used) used.n++;
    if (resource === 'passage') {
      const within = F('r-number-over-all') ? '' : row.lock;
      row.number = (numbers.passage.get(within) ?? 0) + 1;
      numbers.passage.set(within, row.number);
    }
    if (resource === 'hook') Object.assign(row, { maker: who, version: v, flying: 0, blocked: [], failingSince: 0, holdUntil: 0 });
    store(resource, row);
    timersOf(resource, row);
    if (resource === 'passage') emit('passage.booked', 'passage', row);
    if (resource === 'closure') emit('closure.planned', 'closure', row);
    commit();
    const out = { Location: address(resource, row.id), ...tagged(context, row) };
    return answer(201, show(resource, row, who, v, { reveal: true }), out, resource === 'hook' ? { replay: show(resource, row, who, v) } : {});
  },
  update(context) { return OPERATIONS.change(context, 'update'); },
  replace(context) { return OPERATIONS.change(context, 'replace'); },
  change(context, mode) {
    const { endpoint, who, v, body } = context, { resource, operation } = endpoint;
    const row = find(context);
    precondition(context, row);
    const values = validate(context, body, mode, row);
    if (endpoint.inStates && !endpoint.inStates.includes(row.status)) refuse('wrongState');
    const next = { ...row, ...values };
    conditions(operation, next);
    uniqueness(resource, next);
    const changed = Object.keys(values).some((k) => JSON.stringify(values[k]) !== JSON.stringify(row[k]));
    if (changed) {
      const before = { ...row };
      for (const [k, value] of Object.entries(values)) if (value === undefined) delete row[k]; else row[k] = value;
      timersOf(resource, row, before);
      if (resource === 'hook' && row.enabled !== before.enabled) row.failingSince = 0;
      if (resource === 'lock' && (row.maxLengthCm !== before.maxLengthCm || F('ev-regauged-always'))) emit('lock.regauged', 'lock', row, { lock: row.id, was: before.maxLengthCm, is: row.maxLengthCm });
    }
    if (changed && (resource === 'lock' || resource === 'mooring')) row.updatedAt = iso(now());
    commit();
    return answer(200, show(resource, row, who, v), tagged(context, row));
  },
  delete(context) {
    const { endpoint } = context, { resource } = endpoint;
    const row = find(context);
    precondition(context, row);
    if (F('p-mooring-kept') && resource === 'mooring') return answer(204);
    if (resource === 'boat' && by.passageOfBoat.get(row.id)?.size) refuse('inUse');
    if (resource === 'lock' && (by.passageOfLock.get(row.id)?.size || count(tables.closure.values(), (c) => c.lock === row.id))) refuse('inUse');
    if (resource === 'lock') for (const m of [...tables.mooring.values()]) if (m.lock === row.id) removeMooring(m);
    if (resource === 'mooring') removeMooring(row);
    else tables[resource].delete(row.id);
    if (resource === 'boat') emit('boat.removed', 'boat', row, row.id);
    commit();
    return answer(204);
  },
  transition(context) {
    const { endpoint, who, v, body } = context, { resource, does, transition } = endpoint;
    const row = find(context);
    precondition(context, row);
    if (endpoint.request) {
      if (body === null || typeof body !== 'object' || Array.isArray(body)) invalid([violation('body', '', body, 'a map')]);
      const violations = [];
      for (const [name, shape] of Object.entries(endpoint.request)) {
        if (!Object.hasOwn(body, name)) { violations.push({ ...violation('body', '/' + name, undefined, 'a value'), missing: true }); continue; }
        const expected = mismatch(F('e-cancel-reason') && name === 'reason' ? { ...shape, minLength: 0 } : shape, body[name]);
        if (expected) violations.push(violation('body', '/' + name, body[name], expected));
      }
      if (violations.length) invalid(violations);
    }
    if (!transition.from.includes(row.status)) refuse(transition.otherwise ?? 'wrongState');
    const blocked = transition.test?.(row);
    if (blocked) refuse(blocked);
    move(resource, row, does, { who, request: body });
    commit();
    if (does === 'pay') return answer(200, { toll: row.id, receipt: 'R-' + row.number, amountPence: row.amountPence, paidAt: row.paidAt });
    return answer(200, show(resource, row, who, v), tagged(context, row));
  },
};
function removeMooring(row) {
  tables.mooring.delete(row.id);
  if (!F('r-mooring-dangles')) for (const boat of tables.boat.values()) if (boat.homeMooring === row.id) delete boat.homeMooring;
}

// ---------------------------------------------------------------- idempotency
const kept = new Map();
const fresh = () => { if (kept.size > 50_000) for (const [k, e] of kept) if (e.until <= now()) kept.delete(k); };

function operate(context) {
  const { endpoint, headers, who } = context;
  const key = endpoint.method === 'POST' ? headers['idempotency-key'] : undefined;
  const run = () => (OPERATIONS[endpoint.does] && !endpoint.transition ? OPERATIONS[endpoint.does](context) : OPERATIONS.transition(context));
  if (key === undefined || !who) return run();
  const name = [who.user + ' ' + who.id, endpoint.operation, key].join('\0');
  const print = hash([context.url, VERSIONS[context.v], context.body === undefined ? '' : context.raw.toString('latin1')].join('\n'));
  const known = kept.get(name);
  if (known && known.until > now()) {
    if (known.print !== print) refuse('keyReused');
    if (known.refusal) throw known.refusal;
    return known.answer;
  }
  fresh();
  const until = now() + 24 * 3_600_000;
  try {
    const result = run();
    kept.set(name, { print, until, answer: { ...result, body: result.replay ?? result.body } });
    return result;
  } catch (error) {
    if (error instanceof Refusal && OWN.has(error.code)) kept.set(name, { print, until, refusal: error });
    throw error;
  }
}

// ---------------------------------------------------------------- the road of a request
const SIZE = { body: 16 * 1024, url: 2048, headers: 8192 };
const versionOf = (context) => {
  const said = context.headers['waterway-version'];
  if (said === undefined) return CURRENT;
  const at = VERSIONS.indexOf(said);
  return at < 0 && F('vn-unknown-current') ? CURRENT : at;
};
const foreignSite = ({ headers }) => {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'cross-site' || site === 'same-site';
  const { origin } = headers;
  if (origin === undefined) return false;
  try { return new URL(origin).host !== headers.host; } catch { return true; }
};

function handle(context) {
  const { method, url, headers } = context;
  // (1) sizes of the address and of the header fields
  if (Buffer.byteLength(url) > SIZE.url) refuse('addressTooLong');
  let bytes = 0;
  for (let i = 0; i < context.rawHeaders.length; i += 2) bytes += context.rawHeaders[i].length + context.rawHeaders[i + 1].length + 4;
  if (bytes > SIZE.headers) refuse('headersTooLarge');
  // (2) route, method, version
  const mark = url.indexOf('?');
  context.path = mark < 0 ? url : url.slice(0, mark);
  context.query = mark < 0 ? '' : url.slice(mark + 1);
  const v = versionOf(context);
  const routes = route(context.path, v < 0 ? CURRENT : v);
  context.v = v < 0 ? CURRENT : v;
  if (!routes.length) refuse('unknownPath');
  const methods = routes.map((r) => r.endpoint.method);
  const allowed = [...new Set(methods.flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m]))), 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') return answer(204, undefined, { Allow: allowed });
  const found = routes.find((r) => r.endpoint.method === (method === 'HEAD' ? 'GET' : method));
  if (!found) refuse('methodNotAllowed', { headers: { Allow: allowed } });
  if (v < 0) refuse('unknownVersion');
  const deprecated = DEPRECATED.get(v);
  if (deprecated && now() >= deprecated.sunset && !F('vn-after-sunset')) refuse('versionGone');
  const { endpoint, params } = found;
  Object.assign(context, { endpoint, params });
  // (3) rates per address
  const first = countRates(context, [[perAddress, context.address]], []);
  // (4) who calls
  let who, basic = false;
  if (!endpoint.public) {
    try { ({ who, basic } = authenticate(headers, context.rawHeaders)); } catch (error) {
      if (!error.bad) throw error;
      if (!(F('a-bad-as-nobody') && rules(endpoint.operation, undefined).length)) refuse('credentialRefused', { headers: challenges(error.bad) });
    }
    if (!who && !rules(endpoint.operation, undefined).length) refuse('credentialMissing', { headers: challenges() });
  }
  context.who = who;
  // (5) rates per caller
  const name = who ? who.user + ' ' + who.id : 'address ' + context.address;
  const list = [[perCaller, name]];
  if (endpoint.operation === 'create hook') list.push([perHook, name]);
  if (endpoint.operation === 'create closure' && who.user === 'keeper') list.push([perClosure, F('l-closure-shared') ? 'keepers' : name]);
  countRates(context, list, first);
  // (6) may this user do it at all
  if (!endpoint.public && (!rules(endpoint.operation, who?.user).length || (F('p-user-barred') && who?.user === 'keeper' && endpoint.resource !== 'lock'))) refuse('notAllowed');
  if (basic && endpoint.method !== 'GET' && foreignSite(context)) refuse('notAllowed');
  // (8) what was sent
  if (endpoint.does !== 'delete' && !accepts(headers.accept)) refuse('notAcceptable');
  context.raw = context.body;
  context.body = readBody(context);
  context.plan = readQuery(context);
  return operate(context);
}

function respond(context, response) {
  const requestId = randomUUID();
  let result, type = 'application/json';
  try {
    tick();
    result = handle(context);
  } catch (error) {
    pending = [];
    let refusal = error;
    if (!(refusal instanceof Refusal)) { console.error(error); refusal = new Refusal('failed'); }
    result = answer(CODES[refusal.code][0], problem(refusal.code, requestId, refusal.violations, refusal.message), refusal.headers);
    type = F('er-media-type') ? 'application/json' : 'application/problem+json';
  }
  finish(context, response, requestId, result, type);
}
function finish(context, response, requestId, result, type) {
  const v = context.v ?? CURRENT;
  const out = { Vary: 'Waterway-Version, X-Waterway-Key, Authorization', 'X-Request-Id': requestId, ...result.headers, ...rateHeaders(context) };
  out['Waterway-Version'] = VERSIONS[v];
  const links = [...(result.links ?? [])];
  const deprecated = DEPRECATED.get(v);
  if (deprecated && !(F('vn-refusal-undated') && result.status >= 400)) {
    out.Deprecation = '@' + deprecated.on / 1000;
    out.Sunset = new Date(deprecated.sunset).toUTCString();
    links.push(`<${deprecated.link}>; rel="deprecation"`, `<${context.url}>; rel="successor-version"`);
  }
  if (links.length) out.Link = links.join(', ');
  if (context.close) out.Connection = 'close';
  if (result.body === undefined) {
    response.writeHead(result.status, out);
    response.end();
    return;
  }
  const text = JSON.stringify(result.body);
  out['Content-Type'] = type;
  out['Content-Length'] = Buffer.byteLength(text);
  response.writeHead(result.status, out);
  response.end(context.method === 'HEAD' ? undefined : text);
}

const open = new Set();
/** A refusal on a connection on which no request could be read. */
function hangUp(socket, code) {
  const [status] = CODES[code], requestId = randomUUID(), body = JSON.stringify(problem(code, requestId));
  const type = F('er-media-type') ? 'application/json' : 'application/problem+json';
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nX-Request-Id: ${requestId}\r\nWaterway-Version: ${VERSIONS[CURRENT]}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}
const server = http.createServer({ maxHeaderSize: 65536, keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, (request, response) => {
  const socket = request.socket, track = socket.track;
  track.busy = true;
  track.started = Date.now();
  track.seen = socket.bytesRead;
  const context = {
    method: request.method, url: request.url, headers: request.headers, rawHeaders: request.rawHeaders,
    address: socket.remoteAddress ?? '', length: 0, body: undefined, tooLarge: false,
  };
  let answeredAlready = false;
  const once = (work) => { if (!answeredAlready) { answeredAlready = true; track.expire = null; work(); } };
  response.on('close', () => { track.busy = false; track.idleSince = Date.now(); track.seen = socket.bytesRead; });
  request.on('error', () => {});
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) {
    context.body = Buffer.alloc(0);
    request.resume();
    return once(() => respond(context, response));
  }
  const pieces = [];
  const limit = F('l-body-declared') && request.headers['content-length'] === undefined ? 1024 * 1024 : SIZE.body;
  track.expire = () => once(() => {
    context.close = true;
    const requestId = randomUUID();
    finish(context, response, requestId, answer(408, problem('tooSlow', requestId)), 'application/problem+json');
    setTimeout(() => socket.destroy(), 200).unref();
  });
  request.on('data', (piece) => {
    context.length += piece.length;
    if (context.length > limit) {
      context.tooLarge = true;
      if (context.length > 4 * 1024 * 1024) once(() => { context.close = true; respond(context, response); setTimeout(() => socket.destroy(), 500).unref(); });
    } else pieces.push(piece);
  });
  request.on('end', () => once(() => { context.body = Buffer.concat(pieces); respond(context, response); }));
});
server.on('connection', (socket) => {
  socket.track = { busy: false, idleSince: Date.now(), seen: 0, started: 0, expire: null, headerSince: 0 };
  socket.setNoDelay(true);
  open.add(socket);
  socket.on('close', () => open.delete(socket));
});
server.on('clientError', (error, socket) => {
  if (!socket.writable) return socket.destroy();
  hangUp(socket, error.code === 'HPE_HEADER_OVERFLOW' ? 'headersTooLarge' : 'malformedBody');
});
// What does not arrive within 10 s is refused; a connection on which nothing is asked for 30 s is ended.
setInterval(() => {
  const t = Date.now();
  for (const socket of open) {
    const track = socket.track;
    if (track.busy) { track.headerSince = 0; if (track.expire && t - track.started >= 10_000) track.expire(); continue; }
    if (socket.bytesRead > track.seen) {
      if (!track.headerSince) track.headerSince = t;
      else if (t - track.headerSince >= 10_000) { hangUp(socket, 'tooSlow'); track.idleSince = t + 1e9; track.seen = Infinity; }
    } else if (t - track.idleSince >= 30_000) socket.end();
  }
}, 250).unref();
setInterval(() => { tick(); pump(); }, 200).unref();
setInterval(() => { // counters that are over
  for (const rate of windows) if (rate.of.size > 100_000) rate.of.clear();
}, 60_000).unref();

// ---------------------------------------------------------------- the clock door
const DURATION = /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
function later(t, text) {
  const m = DURATION.exec(text);
  if (!m) return null;
  const [, y = 0, mo = 0, w = 0, d = 0, h = 0, mi = 0, s = 0] = m.map((x) => (x === undefined ? undefined : Number(x)));
  const date = new Date(t);
  const dayOfMonth = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + y * 12 + mo);
  date.setUTCDate(Math.min(dayOfMonth, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()));
  return date.getTime() + ((w * 7 + d) * 86400 + h * 3600 + mi * 60) * 1000 + Math.round(s * 1000);
}
const door = http.createServer((request, response) => {
  const say = (status, body) => {
    const text = JSON.stringify(body);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  };
  if (request.method === 'GET') { request.resume(); return say(200, { now: iso(now()) }); }
  let text = '';
  request.on('data', (piece) => { text += piece; });
  request.on('end', () => {
    if (request.method !== 'POST') return say(400, { error: 'GET or POST' });
    let body;
    try { body = JSON.parse(text); } catch { return say(400, { error: 'no JSON' }); }
    if (body === null || typeof body !== 'object' || Array.isArray(body) || Object.keys(body).length !== 1) return say(400, { error: 'advance or now' });
    const from = now();
    let to = null;
    if (typeof body.advance === 'string') to = later(from, body.advance);
    else if (typeof body.now === 'string' && isDateTime(body.now)) to = instant(body.now);
    if (to === null || !Number.isFinite(to) || Math.abs(to) > 8e15) return say(400, { error: 'advance or now' });
    if (to < from) return say(422, { error: 'that has passed' });
    offset += to - from;
    tick();
    pump();
    setImmediate(() => { pump(); say(200, { now: iso(now()) }); });
  });
});
server.listen(PORT, '127.0.0.1', 1024);
door.listen(CLOCK_PORT, '127.0.0.1');
