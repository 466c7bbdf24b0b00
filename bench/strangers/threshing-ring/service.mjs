// Threshing ring: the machines of a valley, shared in turns. One file, node:http alone.
import http from 'node:http';

// ---------------------------------------------------------------- start
const args = {};
for (let i = 2; i < process.argv.length; i += 2) args[process.argv[i].replace(/^--/, '')] = process.argv[i + 1];
const F = id => args.fault === id;

const BASE = '/ring', HOST = 'https://rota.valley.example', REALM = 'Threshing ring';
const SEC = 1000, MIN = 60 * SEC, HOUR = 60 * MIN, DAY = 24 * HOUR;
const EDITIONS = ['first-cut', 'second-cut', 'third-cut'], CURRENT = 'third-cut';
const EDITION = {
  'first-cut': { deprecated: Date.UTC(2025, 2, 1), sunset: Date.UTC(2027, 9, 1), ends: true, alt: true, link: HOST + '/notes/first-cut' },
  'second-cut': { deprecated: Date.UTC(2025, 8, 1), sunset: Date.UTC(2027, 2, 1), ends: false, alt: true },
  'third-cut': {},
};

// ---------------------------------------------------------------- who there is
const CALLERS = [
  { user: 'farmer', id: 'hof-anna', scopes: ['book'], bank: 'sunny', key: 'ring.annaAAAA1111bbbb2222cccc', word: 'rye-and-oats' },
  { user: 'farmer', id: 'hof-bert', scopes: ['book'], bank: 'shady', key: 'ring.bertAAAA1111bbbb2222dddd' },
  { user: 'farmer', id: 'hof-cilli', scopes: ['book'], bank: 'sunny', word: 'red-clover' },
  { user: 'farmer', id: 'hof-dolf', scopes: [], bank: 'shady', key: 'ring.dolfAAAA1111bbbb2222eeee' },
  { user: 'mechanic', id: 'mec-emil', scopes: ['wrench'], bank: 'sunny', key: 'ring.emilAAAA1111bbbb2222ffff' },
  { user: 'mechanic', id: 'mec-frida', scopes: ['wrench'], bank: 'shady', word: 'oil-can-7' },
  { user: 'mechanic', id: 'mec-gust', scopes: [], bank: 'shady', key: 'ring.gustAAAA1111bbbb2222gggg' },
  { user: 'steward', id: 'vogt-hedi', scopes: ['yard', 'rota'], bank: 'sunny', key: 'ring.hediAAAA1111bbbb2222hhhh' },
  { user: 'steward', id: 'vogt-ivo', scopes: ['yard', 'rota'], bank: 'shady', word: 'ledger-1911' },
  { user: 'steward', id: 'vogt-jutta', scopes: ['rota'], bank: 'shady', key: 'ring.juttaAAA1111bbbb2222iiii' },
];
const byKey = new Map(CALLERS.filter(c => c.key).map(c => [c.key, c]));
const byName = new Map(CALLERS.filter(c => c.word).map(c => [c.id, c]));

// ---------------------------------------------------------------- small things
let shift = 0;
const now = () => Date.now() + shift;
const iso = ms => new Date(ms).toISOString();
const pick = (n, from) => { let s = ''; for (const b of crypto.getRandomValues(new Uint32Array(n))) s += from[b % from.length]; return s; };
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', LOWER = UPPER.toLowerCase(), DIGIT = '0123456789', ALNUM = UPPER + LOWER + DIGIT;
const same = (a, b) => {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const ka = Object.keys(a), kb = Object.keys(b);
  return ka.length === kb.length && ka.every(k => k in b && same(a[k], b[k]));
};
const isMap = v => v !== null && typeof v === 'object' && !Array.isArray(v);
const DT = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const isTime = v => {
  const m = typeof v === 'string' && DT.exec(v);
  if (!m) return false;
  const d = new Date(Date.UTC(+m[1], +m[2] - 1, +m[3]));
  if (+m[1] < 1000 || d.getUTCMonth() !== +m[2] - 1 || d.getUTCDate() !== +m[3]) return false;
  if (+m[4] > 23 || +m[5] > 59 || +m[6] > 59) return false;
  if (m[8].length > 1 && (+m[8].slice(1, 3) > 23 || +m[8].slice(4) > 59)) return false;
  return !Number.isNaN(Date.parse(v));
};
const at = v => Date.parse(v);
const isUri = v => { try { if (/[\s<>"{}|\\^`]/.test(v)) return false; new URL(v); return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(v); } catch { return false; } };
const chars = s => [...s].length;
const hash = s => {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let i = 0; i < s.length; i++) { const c = s.charCodeAt(i); a = Math.imul(a ^ c, 2654435761); b = Math.imul(b ^ c, 1597334677); }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (b >>> 0).toString(16).padStart(8, '0') + (a >>> 0).toString(16).padStart(8, '0');
};
const strong = s => hash(s) + hash('~' + s + s.length);

// ---------------------------------------------------------------- refusals
const CODES = {
  'route.unknown': ['no-such-gate', 404, 'There is nothing of that address.'],
  'method.unsupported': ['wrong-handle', 405, 'That cannot be done here.'],
  'request.malformed': ['garbled', 400, 'The body cannot be read.'],
  'request.media': ['odd-sack', 415, 'The body is of a type that is not taken.'],
  'request.accept': ['odd-basket', 406, 'There is no answer of that type.'],
  'request.parameter': ['odd-question', 400, 'A parameter does not fit.'],
  'limit.page': ['odd-leaf', 416, 'There is no such page.'],
  'request.invalid.missing': ['left-out', 422, '{name} is missing'],
  'request.invalid.unknown': ['not-ours', 422, '{name} is no field'],
  'request.invalid': ['misfit', 422, '{name} does not fit'],
  'caller.unknown': ['stranger', 401, 'Nobody knows who asks.'],
  'caller.forbidden.user': ['not-your-trade', 403, 'That is for others.'],
  'caller.forbidden.scope': ['no-ticket', 403, 'A scope is lacking.'],
  'caller.forbidden': ['not-yours', 403, 'That is not for you.'],
  'resource.missing': ['not-found', 404, 'There is no such thing.'],
  'resource.gone': ['carted-off', 410, 'It was taken away.'],
  'reference.missing': ['points-nowhere', 424, 'What it refers to is not there.'],
  'reference.held': ['still-hitched', 409, 'Something refers to it.'],
  'resource.exists': ['already-there', 409, 'There is such a one.'],
  'transition.illegal.state': ['wrong-stage', 409, 'Its state does not allow that.'],
  'transition.illegal.condition': ['not-yet', 423, 'That cannot be done now.'],
  'precondition.failed': ['stale-tag', 412, 'It was changed meanwhile.'],
  'precondition.required': ['tag-wanted', 428, 'Say which state of it you read.'],
  'idempotency.reused': ['once-already', 422, 'That key was for another request.'],
  'idempotency.busy': ['hold-on', 409, 'Another request is under way.'],
  'limit.rate': ['slow-down', 429, 'Too many requests.'],
  'limit.quota': ['used-up', 429, 'There are no more to be had.'],
  'limit.size.url': ['long-address', 414, 'The address is too long.'],
  'limit.size.headers': ['long-head', 431, 'The header is too long.'],
  'limit.size': ['overfull', 413, 'The body is too large.'],
  'limit.time': ['dawdled', 408, 'It took too long.'],
  'version.unknown': ['unknown-cut', 400, 'There is no such edition.'],
  'version.sunset': ['old-cut', 410, 'That edition is over.'],
  internal: ['broke-down', 500, 'Something broke.'],
};
const OWN = {
  not_fit: [409, 'The machine is not ready.'],
  not_home: [409, 'The machine is not in its yard or is retired.'],
  too_late: [409, 'The machine was collected or the turn is over.'],
  beyond_repair: [422, 'It does not run and is condemned.'],
  machine_out: [409, 'Somebody has the machine.'],
  scrap: [409, 'The machine is retired.'],
  bygone: [422, 'A turn starts in time to come.'],
  stuck: [409, 'The machine would sink on that track.'],
};
class Jam extends Error {
  constructor(when, more = {}) {
    super(when);
    const c = CODES[when];
    Object.assign(this, { when, word: c[0], status: c[1], says: c[2] }, more);
  }
}
const own = (word, kept = true) => { const j = new Jam('internal'); return Object.assign(j, { when: word, word, status: OWN[word][0], says: OWN[word][1], kept }); };
const snag = (where, path, found, expected, cls = 'request.invalid') => ({ where, path, found, expected, cls });
const tell = v => v === undefined ? undefined : (typeof v === 'string' ? v : JSON.stringify(v)).slice(0, 200);
const invalid = snags => {
  const s = snags[0], name = s.path || 'the body';
  const j = new Jam(s.cls);
  j.says = j.says.replace('{name}', name.slice(0, 200));
  j.snags = snags.map(x => { const o = { in: x.where, path: x.path }; if (x.found !== undefined) o.found = x.found; if (x.expected !== undefined) o.expected = x.expected; return o; });
  return j;
};

// ---------------------------------------------------------------- what there is
const str = (o = {}) => ({ t: 'string', ...o }), int = (o = {}) => ({ t: 'integer', ...o }), ro = { ro: true };
const time = (o = {}) => ({ t: 'string', time: true, ...o });
const RES = {
  farm: {
    id: 'code', client: /^[a-z]{3,12}$/,
    fields: {
      code: str({ pattern: /^[a-z]{3,12}$/, imm: true, req: true }),
      name: str({ minL: 2, maxL: 40, req: true }),
      yard: { t: 'map', req: true, fields: { lane: str({ minL: 1, maxL: 40, req: true }), bank: str({ enum: ['sunny', 'shady'], req: true }) } },
      acres: int({ min: 1, max: 4000, req: true }),
      track: str({ enum: ['tarred', 'gravel', 'mire'], def: 'gravel', req: true }),
      holder: str({ minL: 1, maxL: 40, writable: ['steward'], req: true }),
      phone: str({ maxL: 20, visible: ['steward', 'farmer'] }),
      remarks: str({ maxL: 200, visible: ['steward'], writable: ['steward'] }),
      owed_cents: int({ ...ro, derive: r => rows('turn').filter(t => t.farm === r.code && t.state === 'done').reduce((n, t) => n + (t.fee_cents ?? 0), 0) }),
      updated_at: time({ ...ro, write: true }),
    },
    unique: [{ fields: ['name'] }],
  },
  machine: {
    id: 'id', make: () => 'mch-' + pick(6, UPPER + DIGIT),
    fields: {
      id: str(ro),
      plate: str({ ...ro, count: n => 'PL-' + String(n).padStart(4, '0') }),
      kind: str({ enum: ['thresher', 'baler', 'drill'], imm: true, req: true }),
      name: str({ minL: 2, maxL: 40, req: true }),
      width: int({ min: 50, max: 900, req: true }),
      home: str({ ref: 'farm', req: true }),
      fee_cents: int({ min: 0, max: 100000, req: true }),
      crops: { t: 'array', items: str({ enum: ['wheat', 'rye', 'oats', 'hay'] }), maxI: 4, def: [], req: true },
      condition: str({ ...ro, states: ['ready', 'due', 'broken', 'retired'] }),
      stand: str({ ...ro, states: ['yard', 'field'] }),
      due_at: time({ ...ro, set: { create: () => iso(now() + 90 * DAY), pass: () => F('st-pass-due') ? undefined : iso(now() + 90 * DAY), mend: () => iso(now() + 90 * DAY) } }),
      hours_run: int({ ...ro, derive: r => rows('turn').filter(t => t.machine === r.id && (t.state === 'done' || (t.state === 'settled' && !F('re-hours-settled')))).reduce((n, t) => n + t.hours, 0) }),
      open_repairs: int({ ...ro, derive: r => rows('repair').filter(t => t.machine === r.id && (t.state === 'open' || (t.state === 'claimed' && !F('re-open-claimed')))).length }),
      updated_at: time({ ...ro, write: true }),
    },
    unique: [{ fields: ['home', 'name'] }],
    machines: { condition: 'ready', stand: 'yard' },
  },
  crop: {
    id: 'name', client: /^[a-z]{3,10}$/,
    fields: { name: str({ pattern: /^[a-z]{3,10}$/, req: true }), season: str({ enum: ['summer', 'autumn'], req: true }) },
  },
  turn: {
    id: 'id', make: () => ++turnId,
    fields: {
      id: int(ro),
      number: int({ ...ro, count: n => n, within: F('re-number-all') ? undefined : 'machine' }),
      machine: str({ ref: 'machine', imm: true, req: true }),
      farm: str({ ref: 'farm', imm: true, req: true }),
      crop: str({ ref: 'crop', def: 'wheat', req: true }),
      booker: str({ ...ro, set: { create: c => c.caller.id } }),
      bank: str({ ...ro, set: { create: c => c.caller.bank } }),
      starts_at: time({ req: true }),
      ends_at: time({ req: true }),
      hours: int({ min: 1, max: F('re-hours-edge') ? 17 : 16, def: 4, req: true }),
      note: str({ maxL: 120, nul: true }),
      refusal: str({ ...ro, set: { refuse: c => c.request.why } }),
      fee_cents: int({ ...ro, set: { bring: c => c.next.hours * get('machine', c.next.machine).fee_cents } }),
      state: str({ ...ro, states: ['asked', 'granted', 'out', 'done', 'settled', 'refused', 'withdrawn', 'lapsed'] }),
      granted_at: time({ ...ro, set: { grant: () => iso(now()) } }),
      updated_at: time({ ...ro, write: true }),
    },
    unique: [{ fields: ['machine', 'starts_at'], while: r => ['asked', 'granted', 'out'].includes(r.state) }],
    machines: { state: 'asked' },
    rules: r => F('re-rule-equal') ? at(r.ends_at) < at(r.starts_at) : at(r.ends_at) <= at(r.starts_at),
  },
  repair: {
    id: 'id', make: () => 'rep_' + pick(10, DIGIT + 'abcdef'), keep: 30 * DAY,
    fields: {
      id: str(ro),
      machine: str({ ref: 'machine', imm: true, req: true }),
      fault: str({ minL: 3, maxL: 200, req: true }),
      urgency: str({ enum: ['idle', 'soon', 'stopped'], def: 'soon', req: true }),
      reporter: str({ ...ro, set: { create: c => c.caller.id } }),
      mechanic: str({ ...ro, set: { claim: c => c.caller.id } }),
      sheet: str({ ...ro, set: { create: c => HOST + (F('pu-sheet-base') ? '' : BASE) + '/repairs/' + c.next.id } }),
      parts: { t: 'children', of: 'part', by: 'repair', order: 'position', maxI: 20 },
      cost_cents: int({ ...ro, derive: r => rows('part').filter(p => p.repair === r.id).reduce((n, p) => n + p.cents, 0) }),
      state: str({ ...ro, states: ['open', 'claimed', 'fixed', 'condemned', 'dismissed'] }),
      reported_at: time({ ...ro, set: { create: () => iso(now()) } }),
    },
    machines: { state: 'open' },
    created: (next, run) => { if (next.urgency === 'stopped') run.skip(() => run.move('break', 'machine', next.machine)); },
  },
  part: {
    id: 'id', make: () => crypto.randomUUID(),
    fields: {
      id: str(ro),
      repair: str({ ref: 'repair', imm: true, req: true }),
      position: int({ min: 1, max: 99, req: true }),
      name: str({ minL: 1, maxL: 60, req: true }),
      cents: int({ min: 0, max: 500000, req: true }),
    },
    unique: [{ fields: ['repair', 'position'] }],
  },
  inspection: {
    id: 'id',
    make: () => { const t = now().toString(16).padStart(12, '0'), r = crypto.randomUUID(); return `${t.slice(0, 8)}-${t.slice(8)}-7${r.slice(15)}`; },
    fields: {
      id: str(ro),
      machine: str({ ref: 'machine', imm: true, req: true }),
      number: int({ ...ro, count: n => n, within: 'machine' }),
      inspector: str({ ...ro, set: { create: c => c.caller.id } }),
      verdict: str({ enum: ['fit', 'unfit'], req: true }),
      findings: str({ maxL: 300 }),
      inspected_at: time({ ...ro, set: { create: () => iso(now()) } }),
    },
    created: (next, run) => { if (next.verdict === 'fit') run.skip(() => run.move('pass', 'machine', next.machine)); },
  },
  hook: {
    id: 'id', make: () => 'hk' + pick(12, ALNUM),
    fields: {
      id: str(ro),
      owner: str({ ...ro, set: { create: c => c.caller.id } }),
      url: str({ uri: true, maxL: 200, req: true }),
      secret: str({ ...ro, gen: () => 'seal-' + pick(32, ALNUM), once: true }),
      kinds: { t: 'array', items: str({ kinds: true }), maxI: 12 },
      on: { t: 'boolean', def: true, req: true },
    },
  },
  entry: {
    id: 'id',
    fields: { id: str(ro), kind: str(ro), topic: str(ro), about: str(ro), by: str(ro), data: { t: 'object', ro: true }, at: time(ro) },
  },
};
const HELD = { farm: [['machine', 'home'], ['turn', 'farm']], machine: [['turn', 'machine'], ['repair', 'machine']], crop: [['turn', 'crop']] };
const CASCADE = { machine: [['inspection', 'machine']], repair: [['part', 'repair']] };

// transitions: machine field, from, to, if, else, then, when the clock fires
const MOVES = {
  machine: {
    break: { f: 'condition', from: ['ready', 'due'], to: 'broken' },
    mend: { f: 'condition', from: ['broken'], to: 'ready' },
    pass: { f: 'condition', from: ['ready', 'due'], to: 'ready' },
    fall_due: { f: 'condition', from: ['ready'], to: 'due', at: r => r.due_at },
    retire: { f: 'condition', from: ['ready', 'due', 'broken', 'retired'], to: 'retired', if: c => c.resource.stand === 'yard' && c.resource.condition !== 'retired', else: 'not_home' },
    roll_out: { f: 'stand', from: ['yard'], to: 'field', code: 'machine_out' },
    roll_in: { f: 'stand', from: ['field'], to: 'yard' },
  },
  turn: {
    grant: { f: 'state', from: ['asked'], to: 'granted', if: c => { const k = get('machine', c.resource.machine).condition; return k === 'ready' || (k === 'due' && F('st-grant-due')); }, ifElse: 'not_fit' },
    refuse: { f: 'state', from: ['asked'], to: 'refused' },
    withdraw: { f: 'state', from: F('st-withdraw-out') ? ['asked', 'granted', 'out'] : ['asked', 'granted'], to: 'withdrawn', else: F('er-else-lost') ? undefined : 'too_late' },
    collect: {
      f: 'state', from: ['granted'], to: 'out', if: c => now() >= at(c.resource.starts_at) - (F('st-collect-early') ? 3 : 2) * HOUR,
      then: (c, run) => run.move('roll_out', 'machine', c.next.machine),
    },
    bring: { f: 'state', from: ['out'], to: 'done', then: (c, run) => { if (!F('st-roll-in')) run.move('roll_in', 'machine', c.next.machine); } },
    settle: { f: 'state', from: ['done'], to: 'settled' },
    lapse: { f: 'state', from: ['asked'], to: 'lapsed', after: 3 * DAY },
    forfeit: { f: 'state', from: ['granted'], to: 'lapsed', at: r => r.ends_at },
  },
  repair: {
    claim: { f: 'state', from: ['open'], to: 'claimed' },
    release: { f: 'state', from: ['claimed'], to: 'open', after: 2 * DAY },
    fix: {
      f: 'state', from: ['claimed'], to: c => c.request.runs ? ['fixed'] : ['condemned', 'beyond_repair'],
      then: (c, run) => { if (c.next.state === 'fixed' || F('st-condemn-mend')) run.skip(() => run.move('mend', 'machine', c.next.machine)); },
    },
    dismiss: { f: 'state', from: ['open'], to: 'dismissed' },
  },
};
MOVES.machine.retire.ifElse = 'not_home';

// ---------------------------------------------------------------- editions
// of each resource, per edition: [name there, name now or null, spec, down, up]
const URG_DOWN = { idle: 'low', stopped: 'high' }, URG_UP = { low: 'idle', high: 'stopped' };
const roundAway = x => Math.sign(x) * Math.floor(Math.abs(x) + 0.5);
const SHAPES = {};
for (const ed of EDITIONS) {
  SHAPES[ed] = {};
  for (const [res, def] of Object.entries(RES)) {
    const list = [];
    for (const [name, spec] of Object.entries(def.fields)) {
      let f = { name, base: name, spec, down: v => v, up: v => v };
      if (ed !== 'third-cut') {
        if (res === 'machine' && name === 'width') f = { ...f, spec: { t: 'number', min: 0.5, max: 9, req: true }, down: v => v / 100, up: v => roundAway(v * 100) };
        if (res === 'repair' && name === 'urgency') f = { ...f, spec: { ...spec, enum: ['low', 'soon', 'high'], def: 'soon' }, down: v => URG_DOWN[v] ?? v, up: v => URG_UP[v] ?? v };
        if (res === 'turn' && name === 'note') f.name = 'remark';
      }
      if (ed === 'first-cut') {
        if (res === 'repair' && name === 'fault') f.name = 'trouble';
        if (res === 'turn' && name === 'crop') continue;
      }
      list.push(f);
    }
    if (ed === 'first-cut' && res === 'farm') list.push({ name: 'fax', base: null, spec: str({ maxL: 20 }), down: () => 'none' });
    SHAPES[ed][res] = list;
  }
}

// ---------------------------------------------------------------- the store
const db = Object.fromEntries(Object.keys(RES).map(r => [r, new Map()]));
const gone = new Map();          // deleted repairs that are kept
const counters = new Map(), quotaUsed = new Map(), once = new Map();
let seq = 0, turnId = 0, lastCaller;
const rows = res => [...db[res].values()].map(x => x.r);
const recs = res => [...db[res].values()].sort((a, b) => a.seq - b.seq);
const get = (res, id) => db[res].get(id)?.r;
for (const [name, season] of [['wheat', 'summer'], ['rye', 'summer'], ['oats', 'autumn'], ['hay', 'summer']]) db.crop.set(name, { seq: ++seq, r: { name, season }, since: {}, fired: {} });

let undo = null, happened = null;
function put(map, k, v) {
  const had = map.has(k), old = map.get(k);
  undo?.push(() => { if (had) map.set(k, old); else map.delete(k); });
  if (v === undefined) map.delete(k); else map.set(k, v);
}
function transaction(work) {
  undo = []; happened = [];
  try {
    const out = work();
    const told = happened.flatMap(h => h());
    for (const ev of told) {
      put(db.entry, ev.id, { seq: ++seq, since: {}, fired: {}, r: ev.entry });
    }
    undo = null; happened = null;
    for (const ev of told) queueEvent(ev);
    return out;
  } catch (e) {
    for (const u of (undo ?? []).reverse()) u();
    undo = null; happened = null;
    throw e;
  }
}

// ---------------------------------------------------------------- rules
const ANYONE_OPS = new Set(['list crop', 'read crop', 'reply almanac']);
const allow = (ops, to, more = {}) => ({ ops, to, scopes: [], ...more });
const mine = f => (r, c) => r[f] === c.id;
const seesTurn = (r, c) => r.booker === c.id || get('farm', r.farm)?.holder === c.id;
const RULES = [
  allow(['upsert farm', 'list farm', 'read farm', 'update farm', 'delete farm'], ['steward']),
  allow(F('pu-mechanic-farms') ? ['read farm'] : ['list farm', 'read farm'], ['mechanic']),
  allow(['list farm', 'read farm', 'update farm'], ['farmer'], { if: mine('holder') }),
  allow(['list machine', 'read machine'], ['farmer', 'mechanic', 'steward']),
  allow(['create machine', 'update machine', 'replace machine', 'delete machine', 'retire machine'], ['steward'], { scopes: ['yard'] }),
  allow(['create turn'], ['farmer'], { scopes: ['book'] }),
  allow(['list turn', 'read turn'], ['farmer'], { if: seesTurn }),
  allow(['roster'], ['farmer'], F('au-roster-all') ? {} : { if: seesTurn }),
  allow(F('pu-farmer-bring') ? ['update turn', 'withdraw turn', 'collect turn'] : ['update turn', 'withdraw turn', 'bring turn'], ['farmer'], { scopes: ['book'], if: F('au-holder-acts') ? seesTurn : mine('booker') }),
  allow(['collect turn'], ['farmer'], { scopes: F('au-collect-scope') ? [] : ['book'], if: mine('booker') }),
  allow(['list turn', 'roster', 'read turn'], ['steward', 'mechanic']),
  allow(F('pu-steward-refuse') ? ['grant turn', 'settle turn'] : ['grant turn', 'refuse turn', 'settle turn'], ['steward'], { scopes: ['rota'] }),
  allow(['create repair'], ['farmer', 'mechanic', 'steward']),
  allow(['list repair', 'read repair'], ['mechanic', 'steward']),
  allow(['list repair', 'read repair'], ['farmer'], { if: mine('reporter') }),
  allow(['list repair', 'read repair'], ['farmer'], { fields: ['machine', 'urgency', 'state'] }),
  allow(['claim repair'], ['mechanic'], { scopes: ['wrench'] }),
  allow(['fix repair', 'update repair', 'create part', 'delete part'], ['mechanic'], { scopes: ['wrench'] }),
  allow(['dismiss repair', 'delete repair'], ['steward']),
  allow(['create inspection'], ['mechanic'], { scopes: ['wrench'] }),
  allow(['list inspection', 'read inspection'], ['mechanic', 'steward']),
  allow(['create hook'], ['farmer', 'mechanic', 'steward']),
  allow(['list hook', 'read hook'], ['farmer', 'mechanic', 'steward'], { if: mine('owner') }),
  allow(['update hook', 'delete hook'], ['farmer', 'mechanic', 'steward'], { if: mine('owner') }),
  allow(['list entry', 'read entry'], ['steward']),
  allow(['list entry', 'read entry'], ['mechanic'], { if: r => r.topic === 'repair' || r.topic === 'machine' }),
];
const rulesFor = (op, c) => RULES.filter(r => r.ops.includes(op) && r.to.includes(c.user));
const open = (op, c) => rulesFor(op, c).filter(r => r.scopes.every(s => c.scopes.includes(s)));
const holds = (op, c, row) => open(op, c).filter(r => !r.if || r.if(row, c));
const READ_OP = { part: null };
function mayRead(c, res, row) {
  if (res === 'crop') return true;
  if (!c) return false;
  return holds('read ' + res, c, row).length > 0;
}
// the fields of a row that its reader is shown: null = all
function fieldsShown(c, res, row, op) {
  if (res !== 'repair' || !c) return null;
  if (F('au-fields-list') && op === 'list') return null;
  const hold = holds('read repair', c, row);
  if (hold.some(r => !r.fields)) return null;
  return new Set(hold.flatMap(r => r.fields).concat('id'));
}

// ---------------------------------------------------------------- rows shown
function show(res, row, c, ed, { fresh = false, op = 'read', only, event = false, all = false } = {}) {
  const out = {};
  const part = only !== undefined ? only : fieldsShown(c, res, row, op);
  for (const f of SHAPES[ed][res]) {
    const s = f.spec;
    if (part && !(f.base && part.has(f.base))) continue;
    if (s.once && !fresh && !(F('re-secret-read') && op === 'read')) continue;
    if (s.visible && !all && !(c && s.visible.includes(c.user)) && !(F('au-phone-list') && op === 'list' && f.base === 'phone')) continue;
    if (f.base === null) { if (!F('ve-fax')) out[f.name] = f.down(); continue; }
    if (s.t === 'children') {
      if (event) continue;
      const kids = recs(s.of).filter(x => x.r[s.by] === row[RES[res].id]);
      if (!F('re-parts-order')) kids.sort((a, b) => a.r[s.order] - b.r[s.order] || a.seq - b.seq);
      out[f.name] = kids.slice(0, 20).map(k => show(s.of, k.r, c, ed));
      continue;
    }
    const v = s.derive ? s.derive(row) : row[f.base];
    if (v === undefined) continue;
    out[f.name] = v === null ? null : f.down(v);
  }
  return out;
}
function tagOf(res, row, c, ed) {
  const seen = JSON.stringify(show(res, row, c, ed));
  return '"' + strong((F('ve-tag-edition') ? '' : ed + ' ') + seen) + '"';
}

// ---------------------------------------------------------------- what is sent
function fits(s, v, path, where, out) {
  const bad = expected => { out.push(snag(where, path, tell(v), expected)); return false; };
  if (s.t === 'integer' && !(typeof v === 'number' && Number.isInteger(v))) return bad('an integer');
  if (s.t === 'number' && typeof v !== 'number') return bad('a number');
  if (s.t === 'string' && typeof v !== 'string') return bad('a text');
  if (s.t === 'boolean' && typeof v !== 'boolean') return bad('true or false');
  if (s.t === 'array') {
    if (!Array.isArray(v)) return bad('a list');
    if (s.maxI !== undefined && v.length > s.maxI) return bad(`at most ${s.maxI} items`);
    v.forEach((x, i) => fits(s.items, x, path + '.' + i, where, out));
    return;
  }
  if (s.t === 'map') { if (!isMap(v)) return bad('a map'); return whole(s.fields, v, path, where, out); }
  if (typeof v === 'number') {
    if (s.min !== undefined && v < s.min) return bad(`at least ${s.min}`);
    if (s.max !== undefined && v > s.max) return bad(`at most ${s.max}`);
  }
  if (typeof v === 'string') {
    if (s.minL !== undefined && chars(v) < s.minL) return bad(`at least ${s.minL} characters`);
    if (s.maxL !== undefined && chars(v) > s.maxL) return bad(`at most ${s.maxL} characters`);
    if (s.pattern && !s.pattern.test(v)) return bad(`like ${s.pattern.source}`);
    if (s.enum && !s.enum.includes(v)) return bad('one of ' + s.enum.join(', '));
    if (s.time && !isTime(v)) return bad('a date-time');
    if (s.uri && !(isUri(v) && /^https?:/i.test(v))) return bad('an address of the web');
    if (s.kinds && !knownKind(v)) return bad('a kind of event');
  }
  return true;
}
function whole(fields, v, path, where, out) {
  const sep = F('er-dotted') ? '/' : '.';
  for (const [k, x] of Object.entries(v)) {
    const p = path ? path + sep + k : k;
    if (!Object.hasOwn(fields, k)) { out.push(snag(where, p, tell(x), 'no such field', 'request.invalid.unknown')); continue; }
    fits(fields[k], x, p, where, out);
  }
  for (const [k, s] of Object.entries(fields)) if (s.req && !Object.hasOwn(v, k)) out.push(snag(where, path ? path + sep + k : k, undefined, 'a value', 'request.invalid.missing'));
}
const writes = (f, res, c, verb) => {
  const s = f.spec;
  if (s.ro || s.states) return false;
  if (s.t === 'children') return verb === 'create';
  if (s.writable && !s.writable.includes(c.user)) return false;
  return true;
};
// a body in the words of its edition becomes fields in the words of today, with the snags of it
function readBody(res, body, ctx, verb, bound = {}) {
  const { caller: c, edition: ed } = ctx, snags = [], out = {}, lacks = [];
  if (!isMap(body)) { throw invalid([snag('body', '', tell(body), 'a map')]); }
  const list = SHAPES[ed][res], byN = new Map(list.map(f => [f.name, f]));
  const base = ctx.rec ? ctx.rec.r : {};
  for (const [k, v] of Object.entries(body)) {
    const f = byN.get(k);
    if (!f) { snags.push(snag('body', k, tell(v), 'no such field', 'request.invalid.unknown')); continue; }
    if (!writes(f, res, c, verb)) {
      if (verb === 'replace' && res === 'machine' && !(f.base && f.spec.writable)) snags.push(snag('body', k, tell(v), 'nothing: it is read-only'));
      continue;
    }
    const s = f.spec, here = F('ve-snag-name') && f.base ? f.base : k;
    if (Object.hasOwn(bound, f.base)) {
      if (v !== bound[f.base] && !F('en-parent-body')) snags.push(snag('body', here, tell(v), 'what the path says'));
      continue;
    }
    if (s.t === 'children') { kids(s, v, k, ctx, snags, out, f); continue; }
    if (v === null) {
      if (s.nul) { if (F('re-note-null') && verb === 'update') out[f.base] = undefined; else out[f.base] = null; continue; }
      if (verb === 'update' && !s.req) { if (f.base) out[f.base] = undefined; continue; }
      snags.push(snag('body', here, 'null', 'a value'));
      continue;
    }
    let val = v;
    if (verb === 'update' && s.t === 'map' && isMap(v) && base[f.base]) { val = { ...base[f.base] }; for (const [a, b] of Object.entries(v)) if (b === null) delete val[a]; else val[a] = b; }
    const n = snags.length;
    fits(s, val, here, 'body', snags);
    if (snags.length > n || f.base === null) continue;
    const up = same(val, base[f.base] === undefined || base[f.base] === null ? undefined : f.down(base[f.base])) ? base[f.base] : f.up(val);
    if (s.imm && verb !== 'create' && !same(up, base[f.base])) { snags.push(snag('body', here, tell(v), 'what it is already')); continue; }
    out[f.base] = up;
  }
  if (verb !== 'update') {
    for (const f of list) {
      const s = f.spec;
      if (!f.base || !s.req || Object.hasOwn(body, f.name) || Object.hasOwn(bound, f.base) || !writes(f, res, c, verb)) continue;
      if (s.def !== undefined) continue;
      if (s.imm && verb === 'replace') continue;
      lacks.push(snag('body', F('ve-snag-name') ? f.base : f.name, undefined, 'a value', 'request.invalid.missing'));
    }
  }
  const told = F('er-first-sent') ? [...lacks, ...snags] : [...snags, ...lacks];
  return { fields: { ...out, ...bound }, snags: told, kids: out.__kids };
}
function kids(s, v, at0, ctx, snags, out, f) {
  if (!Array.isArray(v)) { snags.push(snag('body', at0, tell(v), 'a list')); return; }
  if (v.length > s.maxI) { snags.push(snag('body', at0, String(v.length), `at most ${s.maxI} items`)); return; }
  const fields = Object.fromEntries(Object.entries(RES.part.fields).filter(([k, x]) => !x.ro && k !== s.by));
  const list = [];
  v.forEach((x, i) => {
    const p = at0 + '.' + i;
    if (!isMap(x)) { snags.push(snag('body', p, tell(x), 'a map')); return; }
    const y = { ...x }; delete y.id; 
    whole(fields, y, p, 'body', snags);
    list.push(y);
  });
  out.__kids = list;
}
function afterShape(res, next, ctx, snags) {
  const R = RES[res];
  if (R.rules && isTime(next.starts_at) && isTime(next.ends_at) && R.rules(next)) snags.push(snag('body', 'ends_at', next.ends_at, 'a time after it starts'));
}
function checkRefs(res, sent, ctx) {
  for (const [k, v] of Object.entries(sent)) {
    const s = RES[res].fields[k];
    if (!s?.ref || v === null || v === undefined) continue;
    const there = get(s.ref, v);
    if (!there || !mayRead(ctx.caller, s.ref, there)) {
      if (F('er-ref-code')) throw new Jam('resource.missing');
      throw new Jam('reference.missing', {});
    }
  }
}

// ---------------------------------------------------------------- changes
const keyOf = (res, f, v) => RES[res].fields[f].time ? String(at(v)) : f === 'name' && res === 'farm' && !F('re-name-case') ? v.toLowerCase() : String(v);
function unique(res, row) {
  for (const u of RES[res].unique ?? []) {
    if (u.fields.some(f => row[f] === undefined || row[f] === null)) continue;
    if (u.while && !u.while(row)) continue;
    const id = row[RES[res].id];
    for (const o of rows(res)) {
      if (o[RES[res].id] === id) continue;
      if (u.while && !u.while(o)) continue;
      if (u.fields.every(f => o[f] !== undefined && o[f] !== null && keyOf(res, f, o[f]) === keyOf(res, f, row[f]))) throw new Jam('resource.exists');
    }
  }
}
function rowLimits(res, next, before) {
  if (res === 'hook') {
    if (!before && rows('hook').filter(h => h.owner === next.owner).length > 3) throw new Jam('limit.quota');
  }
  if (res === 'turn') {
    const counts = r => F('li-rows-while') ? r.state !== 'lapsed' : r.state === 'asked' || r.state === 'granted';
    if (counts(next) && !(before && counts(before)) && rows('turn').filter(t => t.farm === next.farm && counts(t)).length > 8) throw new Jam('limit.quota');
  }
}
const setBy = (res, keys, next, ctx, before) => {
  const made = {};
  for (const [k, s] of Object.entries(RES[res].fields)) {
    if (s.write) { made[k] = iso(now()); continue; }
    for (const key of keys) if (s.set?.[key]) { const v = s.set[key]({ ...ctx, next, resource: before }); if (v !== undefined) made[k] = v; }
  }
  return { ...next, ...made };
};
const runner = {
  move: (name, res, id) => move(name, res, id, {}, true),
  skip: work => { try { work(); } catch (e) { if (!(e instanceof Jam)) throw e; } },
};
function create(res, fields, ctx, { own: ownErrors, late, kids: children, id } = {}) {
  const R = RES[res];
  let next = {};
  const key = id ?? (R.client ? fields[R.id] : R.make());
  for (const [k, s] of Object.entries(R.fields)) {
    if (k === R.id) { next[k] = key; continue; }
    if (fields[k] !== undefined) next[k] = fields[k];
    else if (s.def !== undefined) next[k] = s.def;
    if (s.gen) next[k] = s.gen();
  }
  for (const [f, v] of Object.entries(R.machines ?? {})) next[f] = v;
  next = setBy(res, ['create'], next, ctx, undefined);
  ownErrors?.(next);
  const counted = () => {
    for (const [k, s] of Object.entries(R.fields)) if (s.count) {
      const c = `${res}.${k}.${s.within ? next[s.within] : ''}`, n = (counters.get(c) ?? 0) + 1;
      if (F('re-plate-gap')) counters.set(c, n); else put(counters, c, n);
      next[k] = s.count(n);
    }
  };
  counted();
  const order = {};
  for (const k of Object.keys(R.fields)) if (next[k] !== undefined) order[k] = next[k];
  next = order;
  const since = {};
  for (const f of Object.keys(R.machines ?? {})) since[f] = now();
  put(db[res], key, { seq: ++seq, r: next, since, fired: {}, maker: ctx.caller, edition: ctx.edition });
  unique(res, next);
  rowLimits(res, next);
  late?.(next);
  for (const x of children ?? []) create('part', { ...x, repair: key }, ctx);
  emit('create ' + res, res, undefined, next, ctx);
  R.created?.(next, runner);
  return db[res].get(key);
}
// stores another row in place of one; moved = fields of machines that were entered anew
function store(res, rec, next, moved = []) {
  const since = { ...rec.since };
  for (const f of moved) since[f] = now();
  put(db[res], next[RES[res].id], { ...rec, r: next, since });
}
function ordered(res, next) {
  const o = {};
  for (const k of Object.keys(RES[res].fields)) if (next[k] !== undefined) o[k] = next[k];
  return o;
}
function change(res, rec, next, ctx, verb) {
  const before = rec.r;
  next = ordered(res, next);
  if (same(before, next) && !F('re-noop-writes')) return rec;
  next = ordered(res, setBy(res, [verb], next, ctx, before));
  store(res, rec, next, F('st-update-restarts') && res === 'turn' ? ['state'] : []);
  unique(res, next);
  rowLimits(res, next, before);
  emit(`${verb} ${res}`, res, before, next, ctx);
  return db[res].get(next[RES[res].id]);
}
function move(name, res, id, ctx, inner = false) {
  const m = MOVES[res][name], rec = db[res].get(id);
  if (!rec) throw new Jam('reference.missing');
  const before = rec.r, c = { ...ctx, resource: before, next: before };
  if (!m.from.includes(before[m.f])) {
    if (m.else) throw own(m.else);
    if (m.code) throw own(m.code, false);
    throw new Jam('transition.illegal.state');
  }
  if (m.if && !m.if(c)) { if (m.ifElse) throw own(m.ifElse); throw new Jam(F('er-condition-code') ? 'transition.illegal.state' : 'transition.illegal.condition'); }
  const to = typeof m.to === 'function' ? m.to(c) : [m.to];
  let next = { ...before, [m.f]: to[0] };
  next = ordered(res, setBy(res, [name], next, ctx, before));
  store(res, rec, next, F('st-release-since') && name === 'claim' ? [] : [m.f]);
  unique(res, next);
  rowLimits(res, next, before);
  emit(`${name} ${res}`, res, before, next, ctx);
  m.then?.({ ...ctx, resource: before, next }, runner);
  return { rec: db[res].get(id), answer: to[1] };
}
function remove(res, rec, ctx) {
  const id = rec.r[RES[res].id];
  for (const [r, f] of HELD[res] ?? []) if (rows(r).some(x => x[f] === id)) throw new Jam('reference.held');
  for (const [r, f] of CASCADE[res] ?? []) for (const x of recs(r)) if (x.r[f] === id) remove(r, x, ctx);
  put(db[res], id, undefined);
  if (RES[res].keep) put(gone, id, { rec, until: now() + RES[res].keep });
  emit('delete ' + res, res, rec.r, undefined, ctx);
}

// ---------------------------------------------------------------- events
const payloadRow = res => ({ res });
const KINDS = {
  'turn.asked': { on: ['create turn'], row: true },
  'turn.changed': { on: ['update turn', 'grant turn', 'collect turn', 'bring turn', 'settle turn'], row: true },
  'turn.ended': { on: ['refuse turn', 'withdraw turn', 'lapse turn', 'forfeit turn'], data: (b, n) => ({ turn: n.id, was: F('ev-was-now') ? n.state : b.state, is: n.state, at: iso(now()) }) },
  'machine.condition': {
    on: ['break machine', 'mend machine', 'pass machine', 'fall_due machine', 'retire machine'],
    if: (b, n) => n.condition !== b.condition || F('ev-pass-same'), data: (b, n) => ({ machine: n.id, was: b.condition, is: n.condition }),
  },
  'machine.priced': {
    on: ['update machine', 'replace machine'], if: (b, n) => b.fee_cents !== n.fee_cents || F('ev-priced-always'),
    data: (b, n) => ({ machine: n.id, was: b.fee_cents, is: n.fee_cents }), to: m => m.user === 'farmer' || F('ev-priced-all'),
  },
  'machine.crop_added': { on: ['update machine'], each: (b, n) => n.crops.filter(c => !b.crops.includes(c)), data: (b, n, item) => ({ machine: n.id, crop: item }) },
  'machine.due_soon': { on: ['soon machine'], row: true },
  'repair.reported': { on: ['create repair'], row: true },
  'repair.moved': { on: F('ev-release-mute') ? ['claim repair', 'fix repair', 'dismiss repair'] : ['claim repair', 'release repair', 'fix repair', 'dismiss repair'], row: true },
  'repair.gone': { on: ['delete repair'], data: b => ({ repair: b.id, was: b.state }) },
  'hook.stopped': { on: ['disable hook'], data: (b, n) => ({ hook: n.id }) },
};
const knownKind = k => k === '*' || Object.hasOwn(KINDS, k) || (k.endsWith('.*') && Object.keys(KINDS).some(x => x.startsWith(k.slice(0, -1))));
const wants = (h, kind) => h.kinds === undefined || h.kinds.some(k => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))));
function emit(op, res, before, next, ctx) {
  const who = ctx.caller?.id ?? (F('ev-log-caller') && lastCaller ? lastCaller : 'clock');
  for (const [kind, k] of Object.entries(KINDS)) {
    if (!k.on.includes(op) || (k.if && !k.if(before, next))) continue;
    const items = k.each ? k.each(before, next) : [null];
    for (const item of F('ev-each-once') ? items.slice(0, 1) : items) {
      const when = now(), data = k.data?.(before, next, item);
      happened.push(() => {
        const row = next ?? before, id = String(row[RES[res].id]);
        const payload = ed => data ?? show(res, row, null, ed, { only: null, event: true, all: true });
        const ev = { id: 'ent~' + pick(20, ALNUM), kind, at: iso(when), res, row: id, key: res + '/' + id, full: row, data, k };
        ev.entry = { id: ev.id, kind, topic: res, about: id, by: who, data: payload(CURRENT), at: ev.at };
        if (!(F('ev-forfeit-twice') && op === 'forfeit turn')) return [ev];
        const again = 'ent~' + pick(20, ALNUM);
        return [ev, { ...ev, id: again, entry: { ...ev.entry, id: again } }];
      });
    }
  }
}
const deliveries = [];
const failing = new Map();       // hook -> { since, flying }
const flying = new Map();
function queueEvent(ev) {
  for (const h of recs('hook')) {
    if (!h.r.on || !wants(h.r, ev.kind)) continue;
    const m = h.maker;
    if (ev.k.to ? !ev.k.to(m) : !mayRead(m, ev.res, ev.full) && !F('ev-unread')) continue;
    let load = ev.data;
    if (!load) {
      let only = null;
      const rs = rulesFor('read ' + ev.res, m).filter(r => r.fields);
      if (rs.length && !F('ev-whole-repair')) only = new Set(rs.reduce((a, r) => a.filter(f => r.fields.includes(f)), rs[0].fields).concat('id'));
      load = show(ev.res, ev.full, m, F('ev-newest') ? CURRENT : h.edition, { only, event: true });
    }
    deliveries.push({ hook: h.r.id, ev, body: JSON.stringify({ ref: ev.id, kind: ev.kind, at: ev.at, load }), tries: 0, due: now() });
  }
  setImmediate(pump);
}
const WAITS = [20 * SEC, 3 * MIN, 40 * MIN, 6 * HOUR];
async function seal(secret, text) {
  const e = new TextEncoder(), k = await crypto.subtle.importKey('raw', e.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return Buffer.from(await crypto.subtle.sign('HMAC', k, e.encode(text))).toString('hex');
}
function pump() {
  const blocked = new Set();
  for (const d of [...deliveries]) {
    const h = get('hook', d.hook);
    if (!h || !h.on) { if (!d.flying) deliveries.splice(deliveries.indexOf(d), 1); continue; }
    const chain = d.hook + ' ' + d.ev.key;
    if (blocked.has(chain) && !F('ev-order')) continue;
    blocked.add(chain);
    const n = flying.get(d.hook) ?? 0, pause = failing.get(d.hook)?.pause ?? 0;
    if (d.flying || d.due > now() || pause > now() || n >= (failing.has(d.hook) ? 1 : 32)) continue;
    d.flying = true;
    flying.set(d.hook, n + 1);
    attempt(d, h).catch(() => {}).finally(() => { flying.set(d.hook, flying.get(d.hook) - 1); d.flying = false; setImmediate(pump); });
  }
}
async function attempt(d, h) {
  const ts = Math.floor((F('ev-seal-event-time') ? Date.parse(d.ev.at) : now()) / 1000);
  const id = F('ev-retry-id') && d.tries > 0 ? 'ent~' + pick(20, ALNUM) : d.ev.id;
  const body = id === d.ev.id ? d.body : d.body.replace(d.ev.id, id);
  const sig = `at=${ts};seal=${await seal(h.secret, `${id}|${ts}|${body}`)}`;
  const res = await new Promise(done => {
    let over = false;
    const end = v => { if (!over) { over = true; done(v); } };
    try {
      const u = new URL(h.url);
      if (u.protocol !== 'http:') return fetch(u, { method: 'POST', redirect: 'manual', body, signal: AbortSignal.timeout(5000), headers: { 'Content-Type': 'application/json', 'Ring-Seal': sig, 'Ring-Kind': d.ev.kind } }).then(a => end({ status: a.status, after: a.headers.get('retry-after') }), () => end({ status: 0 }));
      const q = http.request(u, { method: 'POST', agent: false, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'Ring-Seal': sig, 'Ring-Kind': d.ev.kind } }, a => {
        a.resume(); end({ status: a.statusCode, after: a.headers['retry-after'] });
      });
      q.setTimeout(5000, () => q.destroy());
      const t = setTimeout(() => q.destroy(), 5000); t.unref();
      q.on('error', () => end({ status: 0 }));
      q.on('close', () => { clearTimeout(t); end({ status: 0 }); });
      q.end(body);
    } catch { end({ status: 0 }); }
  });
  d.tries++;
  const drop = () => { const i = deliveries.indexOf(d); if (i >= 0) deliveries.splice(i, 1); };
  if (res.status >= 200 && res.status < 300) { failing.delete(d.hook); drop(); return; }
  const f = failing.get(d.hook) ?? { since: now() };
  failing.set(d.hook, f);
  if ((res.status === 410 && !F('ev-410')) || now() - f.since >= 5 * HOUR) { disable(d.hook); return; }
  if (/^\d+$/.test(res.after ?? '')) f.pause = Math.max(f.pause ?? 0, now() + Math.min(+res.after * SEC, DAY));
  if (d.tries > WAITS.length) { drop(); return; }
  d.due = now() + WAITS[d.tries - 1] * (0.8 + Math.random() * 0.4);
}
function disable(id) {
  for (const d of [...deliveries]) if (d.hook === id) deliveries.splice(deliveries.indexOf(d), 1);
  failing.delete(id);
  const rec = db.hook.get(id);
  if (!rec || !rec.r.on) return;
  transaction(() => { const next = { ...rec.r, on: false }; store('hook', rec, next); emit('disable hook', 'hook', rec.r, next, {}); });
}

// ---------------------------------------------------------------- the clock
function dueNext() {
  let best;
  const offer = (when, fire) => { if (!best || when < best.when) best = { when, fire }; };
  for (const res of Object.keys(MOVES)) for (const rec of db[res].values()) for (const [name, m] of Object.entries(MOVES[res])) {
    if (!m.after && !m.at) continue;
    const id = rec.r[RES[res].id];
    if (!m.from.includes(rec.r[m.f])) continue;
    if (m.after) offer(rec.since[m.f] + m.after, () => move(name, res, id, {}));
    else {
      const v = m.at(rec.r);
      if (rec.fired[name] === v) continue;
      offer(at(v), () => { rec.fired[name] = v; move(name, res, id, {}); });
    }
  }
  for (const rec of db.machine.values()) if (rec.fired.soon !== (F('ev-soon-again') ? rec.r.updated_at : rec.r.due_at)) {
    offer(at(rec.r.due_at) - 7 * DAY, () => { rec.fired.soon = F('ev-soon-again') ? rec.r.updated_at : rec.r.due_at; emit('soon machine', 'machine', undefined, rec.r, {}); });
  }
  return best;
}
function tick() {
  for (let i = 0; i < 100000; i++) {
    const d = dueNext();
    if (!d || d.when > now()) break;
    try { transaction(d.fire); } catch (e) { console.error(e); break; }
  }
  for (const [id, g] of gone) if (g.until <= now()) gone.delete(id);
  for (const [k, o] of once) if (o.until <= now()) once.delete(k);
  const keep = (F('ev-log-short') ? 30 : 45) * DAY;
  for (const [id, e] of db.entry) { if (at(e.r.at) + keep > now()) break; db.entry.delete(id); }
}
function moveTo(target) {
  for (let i = 0; i < 100000; i++) {
    const d = dueNext();
    if (!d || d.when > target) break;
    if (d.when > now()) shift += d.when - now();
    tick();
  }
  if (target > now()) shift += target - now();
  tick();
  pump();
}
setInterval(() => { tick(); pump(); }, 100).unref();

// ---------------------------------------------------------------- rates
class Sliding {
  constructor(limit, window) { Object.assign(this, { limit, window, at: new Map() }); }
  units(k) { const l = (this.at.get(k) ?? []).filter(u => u.t + this.window > now()); this.at.set(k, l); return l; }
  used(k) { return this.units(k).reduce((n, u) => n + u.n, 0); }
  left(k) { return this.limit - this.used(k); }
  take(k, n) { const u = { t: now(), n }; this.units(k).push(u); return () => { const l = this.at.get(k); const i = l.indexOf(u); if (i >= 0) l.splice(i, 1); }; }
  wait(k, n) { let free = this.left(k); for (const u of this.units(k)) { if (free >= n) break; free += u.n; if (free >= n) return u.t + this.window - now(); } return free >= n ? 0 : this.window; }
  again(k) { const l = this.units(k); return l.length ? l[0].t + this.window - now() : this.window; }
}
class Fixed {
  constructor(limit, window) { Object.assign(this, { limit, window, at: new Map() }); }
  w(k) { let w = this.at.get(k); if (!w || w.start + this.window <= now()) w = null; return w; }
  left(k) { return this.limit - (this.w(k)?.n ?? 0); }
  take(k, n) { let w = this.w(k); if (!w) this.at.set(k, w = { start: now(), n: 0 }); w.n += n; return () => { w.n -= n; }; }
  wait(k) { const w = this.w(k); return w ? w.start + this.window - now() : 0; }
  again(k) { const w = this.w(k); return w ? w.start + this.window - now() : this.window; }
}
class Bucket {
  constructor(limit, window, burst) { Object.assign(this, { limit, window, burst, at: new Map() }); }
  b(k) {
    let b = this.at.get(k);
    if (!b) this.at.set(k, b = { v: this.burst, t: now() });
    const v = Math.min(this.burst, b.v + (now() - b.t) * this.limit / this.window);
    b.v = v; b.t = now();
    return b;
  }
  left(k) { return Math.floor(this.b(k).v + 1e-9); }
  take(k, n) { const b = this.b(k); b.v -= n; return () => { b.v = Math.min(this.burst, b.v + n); }; }
  wait(k, n) { const b = this.b(k); return Math.max(0, (n - b.v) * this.window / this.limit); }
  again(k) { const b = this.b(k); const f = b.v - Math.floor(b.v + 1e-9); return Math.max(0, (1 - f) * this.window / this.limit); }
}
const who = c => c.caller ? c.caller.user + '/' + c.caller.id : 'addr ' + c.address;
const RATES = [
  { step: 'address', r: new Fixed(6000, MIN), for: () => true, key: c => c.address },
  { r: new Sliding(600, MIN), for: () => true, key: who, uncounted: F('li-304') ? [] : [304] },
  { r: new (F('li-insp-fixed') ? Fixed : Sliding)(5, 10 * MIN), for: c => c.op === 'create inspection', key: c => F('li-insp-user') ? c.caller.user : who(c) },
  { r: new Bucket(6, MIN, F('li-burst') ? 6 : 10), for: c => c.op === 'create repair', key: who },
  { r: new Fixed(12, MIN), for: c => c.op === 'reply almanac' && !c.caller, key: c => c.address },
  { r: new Sliding(60, MIN), for: c => c.op === 'list entry' && c.caller?.user === 'steward', key: who, cost: F('li-cost') ? 1 : 2 },
];
function takeRates(ctx, step) {
  const mineR = RATES.filter(x => (x.step ?? 'rates') === step && x.for(ctx));
  const refused = mineR.filter(x => x.r.left(x.key(ctx)) < (x.cost ?? 1));
  if (refused.length) {
    for (const t of ctx.taken) t.back();
    if (F('li-refused-counts')) for (const x of mineR) x.r.take(x.key(ctx), x.cost ?? 1);
    ctx.taken = [];
    ctx.shownRates = mineR;
    const wait = Math.max(...refused.map(x => x.r.wait(x.key(ctx), x.cost ?? 1)));
    throw new Jam('limit.rate', { retry: Math.max(1, Math.ceil(wait / 1000)) });
  }
  for (const x of mineR) { const back = x.r.take(x.key(ctx), x.cost ?? 1); ctx.taken.push({ x, back }); }
  ctx.shownRates.push(...mineR);
}
// the week of Vienna in which an instant lies: the day on which it began
const VIENNA = new Intl.DateTimeFormat('en-CA', { timeZone: F('li-week-utc') ? 'UTC' : 'Europe/Vienna', year: 'numeric', month: '2-digit', day: '2-digit' });
function weekOf(ms) {
  const [y, m, d] = VIENNA.format(ms).split('-').map(Number), day = Date.UTC(y, m - 1, d), back = (new Date(day).getUTCDay() + 6) % 7;
  return day - back * DAY;
}
function weekEnd(ms) {
  const w = weekOf(ms);
  let lo = ms, hi = ms + 8 * DAY;
  while (hi - lo > 1) { const mid = Math.floor((lo + hi) / 2); if (weekOf(mid) === w) lo = mid; else hi = mid; }
  return hi;
}

// ---------------------------------------------------------------- what can be asked
const E = (method, path, op, o = {}) => ({ method, path: path.split('/').slice(1), pattern: path, op, ...o });
const q = (o = {}) => o;
const states = (res, f) => RES[res].fields[f].states;
const PAGES = { style: 'first_row', start: 'from', size: 'rows', def: 10, max: 40, items: 'sheaves' };
const ENDPOINTS = [
  E('PUT', '/farms/{code}', 'upsert farm', { verb: 'upsert', res: 'farm' }),
  E('GET', '/farms', 'list farm', {
    verb: 'list', res: 'farm', order: ['name'],
    params: {
      track: { field: 'track', enum: RES.farm.fields.track.enum },
      name: { keep: (r, v) => F('en-prefix-case') ? r.name.startsWith(v) : r.name.toLowerCase().startsWith(v.toLowerCase()) },
      bank: { enum: ['sunny', 'shady'], keep: (r, v) => r.yard.bank === v },
    },
  }),
  E('GET', '/farms/{code}', 'read farm', { verb: 'read', res: 'farm', etag: true }),
  E('PATCH', '/farms/{code}', 'update farm', { verb: 'update', res: 'farm', match: 'required' }),
  E('DELETE', '/farms/{code}', 'delete farm', { verb: 'delete', res: 'farm' }),
  E('POST', '/machines', 'create machine', { verb: 'create', res: 'machine' }),
  E('GET', '/machines', 'list machine', {
    verb: 'list', res: 'machine', order: ['plate'], select: 'show',
    params: {
      kind: { field: 'kind', enum: RES.machine.fields.kind.enum, many: true, split: true },
      condition: { field: 'condition', enum: states('machine', 'condition') },
      home: { field: 'home' },
      crops: { enum: ['wheat', 'rye', 'oats', 'hay'], keep: (r, v) => r.crops.includes(v) },
      q: { maxL: 60, words: true, keep: (r, v) => { const w = v.toLowerCase().split(/\s+/).filter(Boolean), t = [r.name.toLowerCase(), r.plate.toLowerCase()], inRow = x => t.some(y => y.includes(x)); return F('en-search-any') && w.length ? w.some(inRow) : w.every(inRow); } },
      max_fee: { int: true, keep: (r, v) => F('en-max-fee') ? r.fee_cents < v : r.fee_cents <= v },
      sort: { sort: { fee: ['fee_cents'], '-fee': ['fee_cents', -1], made: ['plate'], '-made': ['plate', -1] } },
      way: { way: true, enum: ['asc', 'desc'] },
    },
  }),
  E('GET', '/machines/{id}', 'read machine', { verb: 'read', res: 'machine', etag: true, cache: 'private, max-age=20' }),
  E('PATCH', '/machines/{id}', 'update machine', { verb: 'update', res: 'machine', match: 'accepted' }),
  E('PUT', '/machines/{id}', 'replace machine', { verb: 'replace', res: 'machine', match: 'required' }),
  E('DELETE', '/machines/{id}', 'delete machine', { verb: 'delete', res: 'machine', in: ['condition', ['retired']] }),
  E('POST', '/machines/{id}/retire', 'retire machine', { verb: 'move', move: 'retire', res: 'machine' }),
  E('POST', '/machines/{machine}/inspections', 'create inspection', { verb: 'create', res: 'inspection', parent: ['machine', 'machine'] }),
  E('GET', '/machines/{machine}/inspections', 'list inspection', {
    verb: 'list', res: 'inspection', parent: ['machine', 'machine'], newest: !F('en-ties'), params: { verdict: { field: 'verdict', enum: ['fit', 'unfit'] } },
  }),
  E('GET', '/machines/{machine}/inspections/{number}', 'read inspection', { verb: 'read', res: 'inspection', parent: ['machine', 'machine'] }),
  E('GET', '/crops', 'list crop', { verb: 'list', res: 'crop', order: ['name'], bare: true }),
  E('GET', '/crops/{name}', 'read crop', { verb: 'read', res: 'crop', etag: true }),
  E('GET', '/almanac', 'reply almanac', { verb: 'reply', eds: ['third-cut'] }),
  E('POST', '/machines/{machine}/turns', 'create turn', { verb: 'create', res: 'turn', parent: ['machine', 'machine'] }),
  E('GET', '/turns', 'list turn', {
    verb: 'list', res: 'turn', order: ['starts_at', -1],
    params: {
      machine: { field: 'machine' }, farm: { field: 'farm' }, crop: { field: 'crop', not: F('ve-crop-param') ? [] : ['first-cut'] },
      state: { field: 'state', enum: states('turn', 'state'), many: true, split: true },
      kind: { enum: RES.machine.fields.kind.enum, keep: (r, v) => get('machine', r.machine)?.kind === v },
      since: { time: true, keep: (r, v) => F('en-since-text') ? r.starts_at >= v : at(r.starts_at) >= at(v) },
      before: { time: true, keep: (r, v) => F('en-before-edge') ? at(r.starts_at) <= at(v) : at(r.starts_at) < at(v) },
      short: { int: true, keep: (r, v) => r.hours <= v },
      sort: { sort: { starts_at: ['starts_at'], '-starts_at': ['starts_at', -1], hours: ['hours'], '-hours': ['hours', -1] } },
    },
  }),
  E('GET', '/roster', 'roster', {
    verb: 'list', res: 'turn', order: ['starts_at'], eds: F('ve-roster-stays') ? EDITIONS : ['first-cut', 'second-cut'],
    pages: { style: 'page', start: 'leaf', size: 'per', def: 5, max: 20, clamp: true, items: 'turns' },
  }),
  E('GET', '/turns/{id}', 'read turn', { verb: 'read', res: 'turn', etag: true }),
  E('PATCH', '/turns/{id}', 'update turn', { verb: 'update', res: 'turn', match: 'accepted', in: ['state', F('st-patch-granted') ? ['asked', 'granted'] : ['asked']] }),
  E('POST', '/turns/{id}/grant', 'grant turn', { verb: 'move', move: 'grant', res: 'turn' }),
  E('POST', '/turns/{id}/refuse', 'refuse turn', { verb: 'move', move: 'refuse', res: 'turn', body: { why: str({ minL: 3, maxL: 100, req: true }) } }),
  E('POST', '/turns/{id}/withdraw', 'withdraw turn', { verb: 'move', move: 'withdraw', res: 'turn' }),
  E('POST', '/turns/{id}/collect', 'collect turn', { verb: 'move', move: 'collect', res: 'turn' }),
  E('POST', '/turns/{id}/bring', 'bring turn', { verb: 'move', move: 'bring', res: 'turn' }),
  E('POST', '/turns/{id}/settle', 'settle turn', { verb: 'move', move: 'settle', res: 'turn', data: r => ({ turn: r.id, paid_cents: r.fee_cents ?? 0, at: iso(now()) }) }),
  E('POST', '/repairs', 'create repair', { verb: 'create', res: 'repair' }),
  E('GET', '/repairs', 'list repair', {
    verb: 'list', res: 'repair', newest: true,
    params: { machine: { field: 'machine' }, state: { field: 'state', enum: states('repair', 'state') }, urgency: { field: 'urgency', enum: RES.repair.fields.urgency.enum, many: true, carried: true } },
  }),
  E('GET', '/repairs/{id}', 'read repair', { verb: 'read', res: 'repair', etag: true }),
  E('PATCH', '/repairs/{id}', 'update repair', { verb: 'update', res: 'repair', in: ['state', ['open', 'claimed']], deprecated: Date.UTC(2025, 4, 1), dlink: HOST + '/notes/repairs' }),
  E('DELETE', '/repairs/{id}', 'delete repair', { verb: 'delete', res: 'repair' }),
  E('POST', '/repairs/{id}/claim', 'claim repair', { verb: 'move', move: 'claim', res: 'repair' }),
  E('POST', '/repairs/{id}/fix', 'fix repair', { verb: 'move', move: 'fix', res: 'repair', body: { runs: { t: 'boolean', req: true } } }),
  E('POST', '/repairs/{id}/dismiss', 'dismiss repair', { verb: 'move', move: 'dismiss', res: 'repair' }),
  E('POST', '/repairs/{repair}/parts', 'create part', { verb: 'create', res: 'part', parent: ['repair', 'repair'] }),
  E('DELETE', '/parts/{id}', 'delete part', { verb: 'delete', res: 'part' }),
  E('POST', '/hooks', 'create hook', { verb: 'create', res: 'hook' }),
  E('GET', '/hooks', 'list hook', { verb: 'list', res: 'hook' }),
  E('GET', '/hooks/{id}', 'read hook', { verb: 'read', res: 'hook' }),
  E('PATCH', '/hooks/{id}', 'update hook', { verb: 'update', res: 'hook' }),
  E('DELETE', '/hooks/{id}', 'delete hook', { verb: 'delete', res: 'hook' }),
  E('GET', '/entries', 'list entry', {
    verb: 'list', res: 'entry', params: { kind: { field: 'kind' }, topic: { field: 'topic' }, about: { field: 'about' } },
    pages: { style: 'cursor', start: 'mark', size: 'take', def: 8, max: 50, clamp: true, items: 'entries' },
  }),
  E('GET', '/entries/{id}', 'read entry', { verb: 'read', res: 'entry' }),
];
function route(path) {
  if (path !== BASE && !path.startsWith(BASE + '/')) {
    if (!F('pu-no-prefix')) return [];
  } else path = path.slice(BASE.length);
  const steps = path.split('/').slice(1);
  const found = [];
  for (const e of ENDPOINTS) {
    if (e.path.length !== steps.length) continue;
    const params = {};
    let lit = 0;
    const ok = e.path.every((p, i) => {
      if (p.startsWith('{')) { if (steps[i] === '') return false; try { params[p.slice(1, -1)] = decodeURIComponent(steps[i]); } catch { return false; } return true; }
      lit++;
      return p === steps[i];
    });
    if (ok) found.push({ e, params, lit });
  }
  const best = Math.max(0, ...found.map(f => f.lit));
  return found.filter(f => f.lit === best);
}

// ---------------------------------------------------------------- the door
const underWay = new Map();
const SECRET = pick(20, ALNUM);
function accepts(h) {
  if (h === undefined || h.trim() === '') return true;
  let best = [-1, 0];
  for (const p of h.split(',')) {
    const [type, ...ps] = p.trim().toLowerCase().split(';').map(x => x.trim());
    const qv = ps.find(x => x.startsWith('q='));
    const rank = type === 'application/json' ? 2 : type === 'application/*' ? 1 : type === '*/*' ? 0 : -1;
    if (rank > best[0]) best = [rank, qv ? Number(qv.slice(2)) : 1];
  }
  return best[0] >= 0 && best[1] > 0;
}
function identify(req, ctx) {
  const raw = req.rawHeaders, keys = [], auths = [];
  for (let i = 0; i < raw.length; i += 2) { const n = raw[i].toLowerCase(); if (n === 'ring-key') keys.push(raw[i + 1]); if (n === 'authorization') auths.push(raw[i + 1]); }
  if (!keys.length && !auths.length) throw new Jam('caller.unknown', { challenge: '' });
  const bad = () => new Jam('caller.unknown', { challenge: 'bad' });
  if (keys.length > 1 || auths.length > 1) throw bad();
  const found = [];
  if (keys.length) { const c = byKey.get(keys[0].trim()); if (!c) throw bad(); found.push(c); }
  if (auths.length) {
    const m = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(auths[0].trim());
    if (!m) throw bad();
    const text = Buffer.from(m[1], 'base64').toString('utf8'), cut = text.indexOf(':');
    const c = cut > 0 ? byName.get(text.slice(0, cut)) : undefined;
    if (!c || c.word !== text.slice(cut + 1)) throw bad();
    found.push(c);
  }
  if (found.some(c => c !== found[0]) && !F('au-two-callers')) throw bad();
  return found[0];
}
function readStream(req, ctx) {
  return new Promise((done, fail) => {
    const limit = 8192 + (F('li-body-edge') ? 1 : 0);
    if (Number(req.headers['content-length'] ?? 0) > limit) return fail(new Jam('limit.size', { close: true }));
    const chunks = [];
    let size = 0;
    const timer = setTimeout(() => fail(new Jam('limit.time', { close: true })), Math.max(0, 10000 - (Date.now() - ctx.began)));
    req.on('data', c => { size += c.length; if (size > limit) { clearTimeout(timer); req.pause(); fail(new Jam('limit.size', { close: true })); } else chunks.push(c); });
    req.on('end', () => { clearTimeout(timer); done(Buffer.concat(chunks)); });
    req.on('error', () => { clearTimeout(timer); fail(new Jam('request.malformed')); });
    req.on('aborted', () => { clearTimeout(timer); fail(new Jam('request.malformed')); });
  });
}
async function takeBody(req, ctx, patch) {
  const type = req.headers['content-type'];
  const none = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  if (type !== undefined) {
    const [t, ...ps] = type.split(';').map(x => x.trim().toLowerCase());
    const cs = ps.find(p => p.startsWith('charset='));
    if (!(t === 'application/json' || (patch && t === 'application/merge-patch+json')) || (cs && !/^charset="?utf-?8"?$/.test(cs))) throw new Jam('request.media');
  } else if (!none && !F('er-untyped')) throw new Jam('request.media');
  const raw = await readStream(req, ctx);
  if (!raw.length) throw new Jam('request.malformed');
  ctx.raw = raw.toString('latin1');
  try { return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)); } catch { throw new Jam('request.malformed'); }
}
// parameters of the query: [[name, value]]
function parseQuery(text) {
  if (!text) return [];
  return text.split('&').filter(Boolean).map(p => {
    const i = p.indexOf('='), dec = x => { try { return decodeURIComponent(x.replace(/\+/g, ' ')); } catch { throw new Jam('request.parameter'); } };
    return i < 0 ? [dec(p), ''] : [dec(p.slice(0, i)), dec(p.slice(i + 1))];
  });
}
function parameters(e, ctx, query) {
  const got = new Map();
  for (const [k, v] of query) { if (!got.has(k)) got.set(k, []); got.get(k).push(v); }
  const wrong = (name, v, expected) => { const j = new Jam('request.parameter'); j.snags = [{ in: 'query', path: name, ...(v === undefined ? {} : { found: tell(v) }), expected }]; return j; };
  const pages = e.verb === 'list' && !e.bare ? e.pages ?? PAGES : null;
  const out = { keeps: [], order: e.order, asked: [] };
  let turn = false;
  for (const [name, vals] of got) {
    if (pages && (name === pages.start || name === pages.size)) continue;
    if (e.select && name === e.select) {
      const names = vals.flatMap(v => v.split(','));
      const list = SHAPES[ctx.edition][e.res];
      if (names.length > 100) throw wrong(name, String(names.length), 'at most 100 names');
      out.only = new Set();
      for (const n of names) { const f = list.find(x => x.name === n); if (!f || f.spec.once || (f.spec.visible && !f.spec.visible.includes(ctx.caller.user))) throw wrong(name, n, 'a field'); out.only.add(f.base); }
      continue;
    }
    const p = Object.hasOwn(e.params ?? {}, name) ? e.params[name] : undefined;
    if (!p || p.not?.includes(ctx.edition)) throw wrong(name, vals[0], 'no such parameter');
    if (vals.length > 1 && !p.many) throw wrong(name, vals.join('&'), 'one value');
    let values = p.split ? vals.flatMap(v => v.split(',')) : vals;
    if (values.length > 100) throw wrong(name, String(values.length), 'at most 100 values');
    if (p.carried && ctx.edition !== 'third-cut' && !F('ve-urgency-filter')) {
      for (const v of values) if (!['low', 'soon', 'high'].includes(v)) throw wrong(name, v, 'one of low, soon, high');
      values = values.map(v => URG_UP[v] ?? v);
    }
    for (const v of values) {
      if (p.enum && !p.enum.includes(v)) throw wrong(name, v, 'one of ' + p.enum.join(', '));
      if (p.int && !/^-?(0|[1-9]\d{0,14})$/.test(v)) throw wrong(name, v, 'an integer');
      if (p.time && !isTime(v)) throw wrong(name, v, 'a date-time');
      if (p.maxL && chars(v) > p.maxL) throw wrong(name, v, `at most ${p.maxL} characters`);
      if (p.words && v.split(/\s+/).filter(Boolean).length > 16) throw wrong(name, v, 'at most 16 words');
      if (p.sort && !p.sort[v]) throw wrong(name, v, 'one of ' + Object.keys(p.sort).join(', '));
    }
    if (p.sort) { out.order = p.sort[values[0]]; out.sorted = true; continue; }
    if (p.way) { turn = values[0] === 'desc'; continue; }
    out.asked.push([name, [...values].sort()]);
    if (p.keep) { const v = p.int ? Number(values[0]) : values[0]; out.keeps.push(r => p.keep(r, v)); }
    else if (F('en-split-first') && p.split) out.keeps.push(r => values[0] === String(r[p.field]));
    else out.keeps.push(r => values.includes(String(r[p.field])));
  }
  if (turn && !(F('en-way-order') && !out.sorted)) out.order = [out.order[0], -(out.order[1] ?? 1)];
  if (pages) {
    const num = (name, def, least) => {
      const v = got.get(name);
      if (v === undefined) return def;
      if (v.length > 1) throw wrong(name, v.join('&'), 'one value');
      if (!/^\d{1,12}$/.test(v[0]) || Number(v[0]) < least) throw new Jam('limit.page');
      return Number(v[0]);
    };
    out.size = num(pages.size, pages.def, 1);
    if (out.size > pages.max) {
      if (pages.clamp && !F('li-no-clamp')) out.size = pages.max;
      else if (!(F('li-page-max') && out.size === pages.max + 1)) throw new Jam('limit.page');
    }
    if (pages.style === 'cursor') {
      const v = got.get(pages.start);
      if (v !== undefined) {
        if (v.length > 1) throw wrong(pages.start, v.join('&'), 'one value');
        const m = /^([0-9a-z]+)\.([0-9a-f]+)$/.exec(v[0]);
        if (!m || m[2] !== markOf(m[1], out, ctx)) throw new Jam('limit.page');
        out.start = parseInt(m[1], 36);
      } else out.start = 0;
    } else out.start = num(pages.start, pages.style === 'page' ? 0 : 1, pages.style === 'page' ? 0 : 1);
  }
  return out;
}
const markOf = (place, p, ctx) => hash(SECRET + place + (F('li-mark-free') ? '' : JSON.stringify([...p.asked].sort())) + ctx.edition + ctx.caller?.user + SECRET);

function matches(header, tag) { return header.split(',').map(x => x.trim()).some(x => x === '*' ? !F('en-match-star') : F('en-weak-match') ? x.replace(/^W\//, '') === tag : x === tag); }
function noneMatch(header, tag) { return header.split(',').map(x => x.trim().replace(/^W\//, '')).some(x => x === '*' || x === tag); }

const headersOf = ctx => {
  const h = { 'Ring-Slip': ctx.slip, 'Ring-Edition': ctx.edition, Vary: 'Ring-Edition, Ring-Key, Authorization' };
  const links = [...(ctx.links ?? [])], ed = EDITION[ctx.edition];
  let dep, sun;
  if (ed.deprecated) { dep = ed.deprecated; if (!F('ve-no-sunset-head')) sun = ed.sunset; }
  if (ed.link) links.push(`<${ed.link}>; rel="deprecation"`);
  if (ed.alt) links.push(`<${F('pu-successor-base') ? ctx.target.replace(BASE, '') : ctx.target}>; rel="successor-version"`);
  const e = ctx.e;
  if (e?.deprecated && ctx.routed) { dep = dep === undefined ? e.deprecated : Math.min(dep, e.deprecated); links.push(`<${e.dlink}>; rel="deprecation"`); }
  if (ctx.refused && F('ve-refusal-quiet')) dep = sun = undefined;
  if (dep !== undefined) h.Deprecation = '@' + Math.floor(dep / 1000);
  if (sun !== undefined) h.Sunset = new Date(sun).toUTCString();
  if (links.length) h.Link = links.join(', ');
  if (ctx.shownRates.length) {
    const tightest = ctx.shownRates.map(x => ({ x, left: Math.max(0, x.r.left(x.key(ctx))) })).sort((a, b) => a.left - b.left)[0];
    h['Ring-Allowed'] = String(tightest.x.r.limit);
    h['Ring-Left'] = String(tightest.left);
    h['Ring-Again'] = String(Math.max(0, Math.ceil(tightest.x.r.again(tightest.x.key(ctx)) / 1000)));
  }
  return h;
};

async function serve(req, ctx) {
  // 1: sizes
  let head = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) head += Buffer.byteLength(req.rawHeaders[i], 'latin1') + 2 + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 2;
  if (Buffer.byteLength(req.url) > 1024 - (F('li-url-edge') ? 1 : 0)) throw new Jam('limit.size.url');
  if (head > 8192) throw new Jam('limit.size.headers');
  // 2: route, method, version
  const cut = req.url.indexOf('?'), path = cut < 0 ? req.url : req.url.slice(0, cut), search = cut < 0 ? '' : req.url.slice(cut + 1);
  const found = route(path);
  if (!found.length) throw new Jam('route.unknown');
  const asked = req.headers['ring-edition'];
  const known = asked === undefined ? CURRENT : EDITIONS.includes(asked) ? asked : null;
  const here = known ? found.filter(f => !f.e.eds || f.e.eds.includes(known)) : found;
  if (!here.length) { if (known) ctx.edition = known; throw new Jam('route.unknown'); }
  const methods = [...new Set(here.flatMap(f => f.e.method === 'GET' ? ['GET', 'HEAD'] : [f.e.method]))].concat('OPTIONS');
  const allowed = (F('en-allow-short') ? methods.filter(m => m !== 'PATCH') : methods).join(', ');
  if (req.method === 'OPTIONS') { if (known) ctx.edition = known; return { status: 204, headers: { Allow: allowed } }; }
  const m = req.method === 'HEAD' && !F('en-head') ? 'GET' : req.method;
  const hit = here.find(f => f.e.method === m);
  if (!hit) { if (known) ctx.edition = known; throw new Jam('method.unsupported', { allow: allowed }); }
  const { e, params } = hit;
  ctx.e = e; ctx.op = e.op;
  if (!known) throw new Jam('version.unknown');
  ctx.edition = known; ctx.routed = true;
  const ends = EDITION[known];
  if (ends.sunset && (ends.ends || F('ve-serves')) && (F('ve-sunset-edge') ? now() >= ends.sunset + DAY : now() >= ends.sunset)) throw new Jam('version.sunset');
  // 3: rates per address
  takeRates(ctx, 'address');
  // then in the order that the document states
  const isPublic = ANYONE_OPS.has(e.op);
  const query = () => { ctx.p = parameters(e, ctx, parseQuery(search)); };
  if (!accepts(req.headers.accept) && !F('er-accept-last')) throw new Jam('request.accept');
  if (!isPublic) { ctx.caller = identify(req, ctx); lastCaller = ctx.caller.id; }
  if (F('er-order')) query();
  if (!isPublic) {
    const rs = rulesFor(e.op, ctx.caller);
    if (!rs.length) throw new Jam('caller.forbidden.user');
    if (!open(e.op, ctx.caller).length) throw new Jam(F('er-scope-code') ? 'caller.forbidden.user' : 'caller.forbidden.scope');
  }
  if (ctx.caller) {
    const k = who(ctx), n = underWay.get(k) ?? 0;
    if (n >= 12) { for (const t of ctx.taken) t.back(); ctx.taken = []; ctx.shownRates = []; throw new Jam('limit.rate', { retry: 1 }); }
    underWay.set(k, n + 1);
    ctx.leave = () => { underWay.set(k, underWay.get(k) - 1); ctx.leave = null; };
  }
  takeRates(ctx, 'rates');
  if (!accepts(req.headers.accept)) throw new Jam('request.accept');
  if (!F('er-order')) query();
  let body;
  const takes = ['create', 'update', 'replace', 'upsert'].includes(e.verb) || e.body;
  if (takes) body = await takeBody(req, ctx, e.verb === 'update');
  tick();
  // 9: the same once more
  const onceKey = e.method === 'POST' ? req.headers['ring-once'] : undefined;
  if (onceKey) {
    ctx.onceAt = `${F('en-once-shared') ? '' : who(ctx)}|${e.op}|${onceKey}`;
    ctx.print = JSON.stringify([path, search, ctx.edition, takes && !F('en-once-body') ? ctx.raw : '']);
    const had = once.get(ctx.onceAt);
    if (had && had.until > now()) {
      if (had.print !== ctx.print) throw new Jam('idempotency.reused');
      if (had.jam) throw had.jam;
      return had.answer;
    }
  }
  const keep = what => { if (ctx.onceAt) once.set(ctx.onceAt, { print: ctx.print, until: now() + (F('li-once-short') ? 1 : 6) * HOUR, ...what }); };
  try {
    const answer = act(e, ctx, params, body, req, path, search);
    keep({ answer: answer.replay ?? answer });
    return answer;
  } catch (j) {
    if (j instanceof Jam && j.kept) keep({ jam: j });
    throw j;
  }
}

function pathId(e, params) {
  const last = e.path.filter(p => p.startsWith('{')).pop().slice(1, -1), v = params[last];
  if (e.res === 'turn') return /^[1-9]\d{0,14}$/.test(v) ? Number(v) : undefined;
  return v;
}
function parentOf(e, ctx, params) {
  const [res, field] = e.parent, id = params[field], row = get(res, id);
  if (!row && res === 'repair' && gone.has(id) && gone.get(id).until > now() && mayRead(ctx.caller, res, gone.get(id).rec.r)) throw new Jam('resource.gone');
  if (!row || !mayRead(ctx.caller, res, row)) throw new Jam('resource.missing');
  return { [field]: id };
}
function load(e, ctx, params) {
  let rec;
  if (e.res === 'inspection') {
    const bound = parentOf(e, ctx, params);
    rec = /^[1-9]\d{0,14}$/.test(params.number) ? recs('inspection').find(x => x.r.machine === bound.machine && x.r.number === Number(params.number)) : undefined;
  } else rec = db[e.res].get(pathId(e, params));
  if (!rec && e.res === 'repair') {
    const g = gone.get(params.id);
    if (g && g.until > now() && mayRead(ctx.caller, 'repair', g.rec.r)) throw new Jam(F('er-gone') ? 'resource.missing' : 'resource.gone');
  }
  if (!rec) throw new Jam('resource.missing');
  if (e.res === 'part') return rec;
  if (e.op === 'delete hook' && F('au-hook-other')) return rec;
  if (!mayRead(ctx.caller, e.res, rec.r)) throw new Jam(F('au-told-forbidden') ? 'caller.forbidden' : 'resource.missing');
  if (e.verb !== 'read' && !holds(e.op, ctx.caller, rec.r).length) throw new Jam('caller.forbidden');
  return rec;
}
const addressOf = (res, r) => {
  const b = F('pu-location-base') ? '' : BASE;
  if (res === 'part') return undefined;
  if (res === 'inspection') return `${b}/machines/${r.machine}/inspections/${r.number}`;
  return `${b}/${res === 'entry' ? 'entrie' : res}s/${r[RES[res].id]}`;
};
function precondition(e, ctx, rec, req) {
  const want = req.headers['if-match'], not = req.headers['if-none-match'];
  const tag = rec && ['farm', 'machine', 'turn', 'repair'].includes(e.res) ? tagOf(e.res, rec.r, ctx.caller, ctx.edition) : undefined;
  if (want !== undefined && (tag !== undefined || !rec || e.match) && !(tag !== undefined && matches(want, tag))) throw new Jam('precondition.failed');
  if (not !== undefined && e.verb === 'upsert' && tag !== undefined && noneMatch(not, tag)) throw new Jam('precondition.failed');
  if (want === undefined && e.match === 'required') throw new Jam('precondition.required');
}

function act(e, ctx, params, body, req, path, search) {
  const { caller: c, edition: ed } = ctx, res = e.res, R = RES[res];
  if (e.verb === 'reply') return { status: 200, body: { sowing: 'after St Gall', reaping: 'before St James' } };
  if (e.verb === 'list') return list(e, ctx, params, path, search);
  if (e.verb === 'read') {
    const rec = res === 'crop' ? db.crop.get(params.name) : load(e, ctx, params);
    if (!rec) throw new Jam('resource.missing');
    const headers = {};
    if (e.cache) headers['Cache-Control'] = e.cache;
    if (e.etag) {
      headers.ETag = tagOf(res, rec.r, c, ed);
      const not = req.headers['if-none-match'];
      if (not !== undefined && noneMatch(not, headers.ETag)) return { status: 304, headers };
    }
    return { status: 200, headers, body: show(res, rec.r, c, ed) };
  }
  if (e.verb === 'create') {
    const bound = e.parent ? parentOf(e, ctx, params) : {};
    const sent = readBody(res, body, ctx, 'create', bound);
    const fields = { ...sent.fields }; delete fields.__kids;
    const trial = { ...fields };
    for (const [k, s] of Object.entries(R.fields)) if (trial[k] === undefined && s.def !== undefined) trial[k] = s.def;
    afterShape(res, trial, ctx, sent.snags);
    if (sent.snags.length) throw invalid(sent.snags);
    checkRefs(res, fields, ctx);
    const week = weekOf(now()), quotaKey = `turn ${who(ctx)} ${week}`;
    const overdrawn = () => {
      if (res !== 'turn' || c.user !== 'farmer') return;
      const used = quotaUsed.get(quotaKey) ?? 0;
      if (used >= 25) throw new Jam('limit.quota', { retry: Math.max(1, Math.ceil((weekEnd(now()) - now()) / 1000)) });
      put(quotaUsed, quotaKey, used + 1);
    };
    if (F('li-quota-refused') && res === 'turn') quotaUsed.set(quotaKey, (quotaUsed.get(quotaKey) ?? 0) + 1);
    const rec = transaction(() => create(res, fields, { ...ctx, request: body }, { kids: sent.kids, own: next => ownErrors(e.op, next), late: F('li-quota-refused') ? () => { if (res === 'turn' && quotaUsed.get(quotaKey) > 25) throw new Jam('limit.quota', { retry: 60 }); } : overdrawn }));
    const headers = {}, where = addressOf(res, rec.r);
    if (where) headers.Location = where;
    const shown = db[res].get(rec.r[R.id])?.r ?? rec.r;
    return { status: 201, headers, body: show(res, shown, c, ed, { fresh: true }), replay: { status: 201, headers, body: show(res, shown, c, ed, { fresh: F('en-once-secret') }) } };
  }
  if (e.verb === 'upsert') {
    const id = params.code, rec = db.farm.get(id);
    ctx.rec = rec;
    if (rec && !mayRead(c, 'farm', rec.r)) throw new Jam('resource.missing');
    precondition(e, ctx, rec, req);
    const sent = readBody('farm', body, ctx, rec ? 'replace' : 'create', { code: id });
    if (!rec && !R.client.test(id)) sent.snags.push(snag('path', 'code', id, 'like ' + R.client.source));
    if (sent.snags.length) throw invalid(sent.snags);
    if (!rec) {
      const made = transaction(() => create('farm', sent.fields, ctx));
      return { status: 201, headers: { Location: addressOf('farm', made.r) }, body: show('farm', made.r, c, ed) };
    }
    const out = transaction(() => change('farm', rec, replaced('farm', rec, sent.fields, ctx), ctx, 'upsert'));
    return { status: 200, body: show('farm', out.r, c, ed) };
  }
  const rec = load(e, ctx, params);
  ctx.rec = rec;
  precondition(e, ctx, rec, req);
  if (e.verb === 'delete') {
    inState(e, rec);
    transaction(() => remove(res, rec, ctx));
    return { status: 204 };
  }
  if (e.verb === 'move') {
    if (e.body) {
      if (!isMap(body)) throw invalid([snag('body', '', tell(body), 'a map')]);
      const snags = [];
      for (const [k, v] of Object.entries(body)) if (e.body[k]) fits(e.body[k], v, k, 'body', snags);
      for (const [k, s] of Object.entries(e.body)) if (s.req && !Object.hasOwn(body, k)) snags.push(snag('body', k, undefined, 'a value', 'request.invalid.missing'));
      if (snags.length) throw invalid(snags);
    }
    const out = transaction(() => move(e.move, res, rec.r[R.id], { ...ctx, request: body ?? {} }));
    if (out.answer) throw own(out.answer);
    const row = db[res].get(rec.r[R.id]).r;
    return { status: 200, body: e.data ? e.data(row) : show(res, row, c, ed) };
  }
  // update, replace
  const sent = readBody(res, body, ctx, e.verb === 'replace' ? 'replace' : 'update');
  const fields = { ...sent.fields }; delete fields.__kids;
  const next = e.verb === 'replace' ? replaced(res, rec, fields, ctx) : { ...rec.r, ...fields };
  if (!sent.snags.length || sent.snags.every(s => !['starts_at', 'ends_at'].includes(s.path))) afterShape(res, next, ctx, sent.snags);
  if (sent.snags.length) throw invalid(sent.snags);
  checkRefs(res, Object.fromEntries(Object.entries(fields).filter(([k, v]) => v !== rec.r[k])), ctx);
  inState(e, rec);
  const was = rec.r;
  const out = transaction(() => change(res, rec, next, ctx, e.verb));
  if (res === 'hook' && out.r.on && !was.on) failing.delete(was.id);
  return { status: 200, body: show(res, out.r, c, ed) };
}
function inState(e, rec) { if (e.in && !e.in[1].includes(rec.r[e.in[0]])) throw new Jam('transition.illegal.state'); }
function ownErrors(op, next) {
  if (op !== 'create turn' && op !== 'create repair') return;
  const m = get('machine', next.machine);
  if (m.condition === 'retired' && !(F('er-scrap-repair') && op === 'create repair')) throw own('scrap');
  if (op === 'create turn') {
    if (at(next.starts_at) < now()) throw own('bygone');
    if (get('farm', next.farm).track === 'mire' && m.width > 400) throw own('stuck');
  }
}
function replaced(res, rec, fields, ctx) {
  const next = { ...rec.r };
  for (const f of SHAPES[ctx.edition][res]) {
    const s = f.spec, k = f.base;
    if (!k || k === RES[res].id || !writes(f, res, ctx.caller, 'replace') || s.t === 'children') continue;
    if (s.visible && !s.visible.includes(ctx.caller.user)) continue;
    if (fields[k] !== undefined) { next[k] = fields[k]; continue; }
    if (s.imm) continue;
    if (s.def !== undefined) next[k] = RES[res].fields[k].def;
    else if (!s.req && !F('re-put-keeps')) next[k] = undefined;
  }
  return next;
}
function list(e, ctx, params, path, search) {
  const { caller: c, edition: ed, p } = ctx, res = e.res;
  const bound = e.parent ? parentOf(e, ctx, params) : {};
  let all = recs(res);
  for (const [k, v] of Object.entries(bound)) all = all.filter(x => x.r[k] === v);
  if (!ANYONE_OPS.has(e.op)) {
    const free = F('au-list-farm') && p.asked.some(([n]) => n === 'farm');
    if (!free) all = all.filter(x => holds(e.op, c, x.r).length);
  }
  for (const k of p.keeps) all = all.filter(x => k(x.r));
  if (e.newest) all.reverse();
  if (p.order) {
    const [f, way = 1] = p.order, s = RES[res].fields[f], val = r => s.time ? at(r[f]) : r[f];
    all = all.map((x, i) => [x, i]).sort(([a, i], [b, j]) => { const x = val(a.r), y = val(b.r); return (x < y ? -1 : x > y ? 1 : 0) * way || i - j; }).map(x => x[0]);
  }
  const shown = x => show(res, x.r, c, ed, { op: 'list', ...(p.only ? { only: new Set([...p.only, ...(F('en-show-id') ? [] : [RES[res].id])]) } : {}) });
  if (e.bare) return { status: 200, body: all.map(shown) };
  const pages = e.pages ?? PAGES;
  if (pages.style === 'cursor') {
    const rest = all.filter(x => x.seq > p.start), page = rest.slice(0, p.size);
    const place = rest.length > p.size ? page[page.length - 1].seq.toString(36) : null;
    return { status: 200, body: { entries: page.map(shown), mark: place === null ? null : place + '.' + markOf(place, p, ctx) } };
  }
  if (pages.style === 'page') {
    const page = all.slice(p.start * p.size, (p.start + 1) * p.size);
    return { status: 200, body: { turns: page.map(shown), more: all.length > (p.start + 1) * p.size } };
  }
  const page = all.slice(p.start - 1, p.start - 1 + p.size), more = all.length > p.start - 1 + p.size;
  const link = (n, rel) => {
    const rest = search.split('&').filter(x => x && x.split('=')[0] !== 'from');
    return `<${F('pu-links-base') ? path.slice(BASE.length) : path}?${[...rest, 'from=' + n].join('&')}>; rel="${rel}"`;
  };
  ctx.links = [];
  if (more) ctx.links.push(link(p.start + p.size, 'next'));
  if (p.start > 1) ctx.links.push(link(Math.max(1, p.start - p.size), 'prev'));
  ctx.links.push(link(1, 'first'));
  return { status: 200, body: { sheaves: page.map(shown), all: F('li-total-page') ? page.length : all.length, more } };
}

// ---------------------------------------------------------------- answers
function refusal(j, ctx) {
  if (!(j instanceof Jam)) { console.error(j); j = new Jam('internal'); }
  ctx.refused = true;
  const headers = { 'Ring-Jam': j.word };
  if (F('er-jam-head') && j.status === 403) delete headers['Ring-Jam'];
  if (j.allow) headers.Allow = j.allow;
  if (j.retry && !F('li-no-retry')) headers['Retry-After'] = String(j.retry);
  if (j.close) headers.Connection = 'close';
  if (j.status === 401) {
    const e = j.challenge ? ', error="invalid_key"' : '';
    headers['WWW-Authenticate'] = [`ApiKey realm="${REALM}", in="header", name="Ring-Key"${e}`];
    if (!F('au-challenge')) headers['WWW-Authenticate'].push(`Basic realm="${REALM}", charset="UTF-8"`);
  }
  const body = { jam: { word: j.word, says: j.says, slip: ctx.slip } };
  if (j.snags?.length) body.snags = j.snags;
  return { status: j.status, headers, body };
}
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 0, headersTimeout: 10000, keepAliveTimeout: 30000, connectionsCheckingInterval: 1000 }, async (req, out) => {
  const ctx = { slip: 'slip-' + pick(10, LOWER + DIGIT), edition: CURRENT, target: req.url, address: req.socket.remoteAddress, began: Date.now(), taken: [], shownRates: [] };
  let answer;
  tick();
  try { answer = await serve(req, ctx); } catch (j) { answer = refusal(j, ctx); }
  ctx.leave?.();
  for (const t of ctx.taken) if (t.x.uncounted?.includes(answer.status)) t.back();
  const headers = { ...headersOf(ctx), ...(answer.headers ?? {}) };
  if (answer.body !== undefined) {
    const text = Buffer.from(JSON.stringify(answer.body));
    headers['Content-Type'] = 'application/json';
    headers['Content-Length'] = text.length;
    out.writeHead(answer.status, headers);
    if (req.method === 'HEAD') out.end(); else out.end(text);
  } else { out.writeHead(answer.status, headers); out.end(); }
  if (!req.complete) { if (headers.Connection === 'close') { out.on('finish', () => setTimeout(() => req.destroy(), 200).unref()); req.resume(); } else req.resume(); }
});
server.on('clientError', (err, socket) => {
  if (!socket.writable) return;
  const [status, word, says] = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? [408, 'dawdled', CODES['limit.time'][2]] : err.code === 'HPE_HEADER_OVERFLOW' ? [431, 'long-head', CODES['limit.size.headers'][2]] : [400, 'garbled', CODES['request.malformed'][2]];
  const slip = 'slip-' + pick(10, LOWER + DIGIT), text = JSON.stringify({ jam: { word, says, slip } });
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nRing-Jam: ${word}\r\nRing-Slip: ${slip}\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(Number(args.port), '127.0.0.1', () => console.log(`threshing ring listens on http://127.0.0.1:${server.address().port}${BASE}`));

// ---------------------------------------------------------------- the door of the clock
const DUR = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const door = http.createServer(async (req, out) => {
  const say = (status, body) => { out.writeHead(status, { 'Content-Type': 'application/json' }); out.end(JSON.stringify(body)); };
  const time = () => ({ now: iso(now()) });
  if (req.method === 'GET') return say(200, time());
  if (req.method !== 'POST') return say(400, { error: 'GET or POST' });
  let text = '';
  for await (const c of req) text += c;
  let b;
  try { b = JSON.parse(text); } catch { return say(400, { error: 'no JSON' }); }
  let target;
  if (isMap(b) && Object.keys(b).length === 1 && typeof b.advance === 'string' && DUR.test(b.advance)) {
    const [, y, mo, w, d, h, mi, s] = DUR.exec(b.advance).map(x => Number(x ?? 0)), t = new Date(now());
    const day = t.getUTCDate();
    t.setUTCDate(1); t.setUTCMonth(t.getUTCMonth() + y * 12 + mo);
    t.setUTCDate(Math.min(day, new Date(Date.UTC(t.getUTCFullYear(), t.getUTCMonth() + 1, 0)).getUTCDate()));
    target = t.getTime() + (w * 7 + d) * DAY + h * HOUR + mi * MIN + s * SEC;
  } else if (isMap(b) && Object.keys(b).length === 1 && isTime(b.now)) target = at(b.now);
  else return say(400, { error: 'advance or now' });
  if (target < now()) return say(422, { error: 'the clock goes forward alone' });
  moveTo(target);
  const until = Date.now() + 300;
  await new Promise(r => setImmediate(r));
  while (Date.now() < until && deliveries.some(d => d.flying)) await new Promise(r => setTimeout(r, 5));
  say(200, time());
});
if (args['clock-port'] !== undefined) door.listen(Number(args['clock-port']), '127.0.0.1', () => console.log(`its clock is moved at http://127.0.0.1:${door.address().port}/`));
process.on('SIGTERM', () => process.exit(0));
process.on('SIGINT', () => process.exit(0));
