// Underlog: the call-out desk of a caving union. One process, nothing kept, node:http alone.
import http from 'node:http';
import https from 'node:https';
import crypto from 'node:crypto';

const args = {};
for (let i = 2; i < process.argv.length; i += 2) args[process.argv[i].replace(/^--/, '')] = process.argv[i + 1];
const FAULT = args.fault ?? '';
const F = (id) => FAULT === id;
const SECRET = process.env.UNDERLOG_SECRET ?? 'underlog-secret-of-the-trial-desk';
const BASE = '/desk';
const VERSIONS = ['v1', 'v2', 'v3'];
const CURRENT = 'v3';
const SUNSET_V1 = Date.parse('2031-06-01T00:00:00Z');

// ---------------------------------------------------------------- clock
let offset = 0, stepping = null;
const now = () => stepping ?? Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();
const timers = []; // a heap by due, then by order
let timerSeq = 0;
const less = (a, b) => a.due < b.due || (a.due === b.due && a.n < b.n);
function at(due, fn) {
  const t = { due, n: ++timerSeq, fn };
  let i = timers.push(t) - 1;
  while (i > 0) { const p = (i - 1) >> 1; if (!less(timers[i], timers[p])) break; [timers[i], timers[p]] = [timers[p], timers[i]]; i = p; }
}
function popTimer() {
  const top = timers[0], last = timers.pop();
  if (timers.length) {
    timers[0] = last;
    for (let i = 0; ;) {
      let m = i; const l = 2 * i + 1, r = l + 1;
      if (l < timers.length && less(timers[l], timers[m])) m = l;
      if (r < timers.length && less(timers[r], timers[m])) m = r;
      if (m === i) break;
      [timers[i], timers[m]] = [timers[m], timers[i]]; i = m;
    }
  }
  return top;
}
let lastStep = 0;
function runDue() {
  const target = Date.now() + offset;
  while (timers.length && timers[0].due <= target) {
    const t = popTimer();
    stepping = lastStep = Math.max(t.due, lastStep);
    try { t.fn(); } finally { stepping = null; }
  }
  lastStep = Math.max(lastStep, target);
  pump();
}

// ---------------------------------------------------------------- resources
const DT = { type: 'string', format: 'date-time' };
const R = {
  entrance: { fields: {
    label: { type: 'string', minLength: 1, maxLength: 20, req: true },
    lat: { type: 'number', minimum: -90, maximum: 90, req: true },
    lon: { type: 'number', minimum: -180, maximum: 180, req: true } } },
  cave: { id: 'code', fields: {
    code: { type: 'string', pattern: /^[A-Z]{2}-[0-9]{3}$/u, req: true, imm: true },
    name: { type: 'string', minLength: 2, maxLength: 60, req: true },
    kind: { type: 'string', enum: ['shaft', 'stream', 'sump', 'maze'], req: true },
    depth_cm: { type: 'integer', minimum: 0, maximum: 250000, req: true },
    access: { type: 'string', enum: ['free', 'permit', 'shut'], def: 'free', req: true },
    entrances: { type: 'array', items: { res: 'entrance' }, minItems: 1, maxItems: 4, req: true },
    register_no: { type: 'string', pattern: /^[0-9]{4}\/[0-9]{2}$/u },
    remark: { type: 'string', maxLength: 200, vis: ['warden', 'rescuer'], writ: ['warden'] },
    club: { ro: true }, parties_in: { ro: true, derive: true }, surveyed_cm: { ro: true, derive: true }, changed_at: { ro: true } } },
  trip: { id: 'id', fields: {
    id: { ro: true }, number: { ro: true },
    cave: { type: 'string', ref: 'cave', imm: true, req: true },
    leader: { ro: true }, club: { ro: true },
    title: { type: 'string', minLength: 3, maxLength: 80, req: true },
    party: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 40 }, minItems: 2, maxItems: 10, uniqueItems: true, req: true },
    enters_at: { ...DT, req: true }, callout_at: { ...DT, req: true },
    due_at: { ro: true }, state: { ro: true }, entered_at: { ro: true }, ended_at: { ro: true }, outcome: { ro: true }, surveyed_cm: { ro: true, derive: true } },
    rules: [{ needs: ['enters_at', 'callout_at'], field: 'callout_at', expected: 'a time after enters_at', bad: (n) => Date.parse(n.callout_at) <= Date.parse(n.enters_at) }] },
  mate: { id: 'id', fields: {
    id: { ro: true },
    trip: { type: 'string', ref: 'trip', imm: true, req: true },
    caver: { type: 'string', minLength: 2, maxLength: 40, imm: true, req: true },
    task: { type: 'string', enum: ['survey', 'rig', 'photo'], def: 'survey', req: true } } },
  leg: { id: 'id', fields: {
    id: { ro: true },
    trip: { type: 'string', ref: 'trip', imm: true, req: true },
    start: { type: 'string', pattern: /^[A-Z][0-9]{1,3}$/u, req: true },
    end: { type: 'string', pattern: /^[A-Z][0-9]{1,3}$/u, req: true },
    tape_cm: { type: 'integer', minimum: 1, maximum: 10000, req: true },
    compass: { type: 'number', minimum: 0, exclusiveMaximum: 360, req: true },
    clino: { type: 'number', minimum: -90, maximum: 90, req: true },
    splay: { type: 'boolean', def: false, req: true },
    noted_by: { ro: true } },
    rules: [{ needs: ['start', 'end'], field: 'end', expected: 'another station than start', bad: (n) => n.start === n.end }] },
  permit: { id: 'id', fields: {
    id: { ro: true },
    cave: { type: 'string', ref: 'cave', imm: true, req: true },
    holder: { ro: true }, club: { ro: true },
    purpose: { type: 'string', minLength: 5, maxLength: 200, imm: true, req: true },
    days: { type: 'integer', minimum: 1, maximum: 14, imm: true, req: true },
    heads: { type: 'integer', minimum: 1, maximum: 10, def: 2, imm: true, req: true },
    fee_cents: { ro: true },
    valid_until: { ...DT, imm: true, req: true },
    verdict: { ro: true }, decided_by: { ro: true }, terms: { ro: true }, asked_at: { ro: true } } },
  alert: { id: 'id', fields: { id: { ro: true }, trip: { ro: true }, club: { ro: true }, heads: { ro: true }, stage: { ro: true }, raised_at: { ro: true }, taken_by: { ro: true } } },
  listener: { id: 'id', fields: {
    id: { ro: true }, owner: { ro: true },
    label: { type: 'string', minLength: 1, maxLength: 30, req: true },
    url: { type: 'string', format: 'uri', maxLength: 200, req: true },
    secret: { ro: true, once: true },
    topics: { type: 'array', items: { type: 'string', topic: true }, minItems: 1, maxItems: 12 },
    active: { type: 'boolean', def: true, req: true } } },
  bulletin: { id: 'id', fields: { id: { ro: true }, topic: { ro: true }, about: { ro: true }, club: { ro: true }, content: { ro: true }, told_at: { ro: true } } },
};
const KINDS = ['cave.listed', 'cave.access', 'trip.entered', 'trip.surfaced', 'trip.extended', 'trip.overdue', 'trip.due', 'crew.named', 'permit.decided', 'permit.expired', 'alert.raised', 'alert.closed'];
const TRIP_STATES = ['planned', 'underground', 'overdue', 'surfaced', 'accounted', 'cancelled', 'lapsed'];
const VERDICTS = ['applied', 'granted', 'declined', 'withdrawn', 'expired'];
const STAGES = ['raised', 'urgent', 'taken', 'closed'];

// ---------------------------------------------------------------- versions
const V1_VERDICT = { granted: 'approved', declined: 'refused' };
const V1_VERDICT_UP = { approved: 'granted', refused: 'declined' };
const old = (v) => VERSIONS.indexOf(v) < 2; // before v3
// what a version calls the fields that may be written: name -> { key, def, up }
const shapes = {};
function shapeOf(res, v) {
  const id = res + v;
  if (shapes[id]) return shapes[id];
  const m = new Map();
  for (const [key, def] of Object.entries(R[res].fields)) {
    if (res === 'cave' && key === 'depth_cm' && old(v)) {
      m.set('depth_m', { key, def: { type: 'number', minimum: 0, maximum: 2500, req: true }, up: (x) => F('n2') ? Math.trunc(x * 100) : Math.round(x * 100) });
    } else if (res === 'cave' && key === 'access' && v === 'v1') continue;
    else if (res === 'trip' && key === 'party' && v === 'v1') m.set('members', { key, def });
    else if (res === 'permit' && key === 'fee_cents' && old(v)) m.set('fee', { key, def });
    else m.set(key, { key, def });
  }
  if (res === 'leg' && old(v)) m.set('instrument', { key: null, def: { type: 'string' } });
  return (shapes[id] = m);
}
function down(res, o, v, inList) {
  if (v === 'v3') return o;
  const out = {};
  for (const [k, x] of Object.entries(o)) {
    if (res === 'cave' && k === 'depth_cm') out.depth_m = x / 100;
    else if (res === 'cave' && k === 'access' && v === 'v1') { if (F('n1') && inList) out.access = x; }
    else if (res === 'trip' && k === 'party' && v === 'v1') out.members = x;
    else if (res === 'trip' && k === 'cave' && typeof x === 'object') out.cave = down('cave', x, v);
    else if (res === 'permit' && k === 'fee_cents') out.fee = x / 100;
    else if (res === 'permit' && k === 'verdict' && v === 'v1') out.verdict = V1_VERDICT[x] ?? x;
    else out[k] = x;
  }
  if (res === 'leg') out.instrument = 'compass';
  return out;
}

// ---------------------------------------------------------------- store
const db = {}; let seq = 0;
for (const r of Object.keys(R)) db[r] = new Map();
const struck = new Map(); // deleted caves: code -> { row, until }
const kids = { 'trip.cave': new Map(), 'leg.trip': new Map(), 'mate.trip': new Map(), 'alert.trip': new Map(), 'permit.cave': new Map() };
const of = (link, id) => kids[link].get(id) ?? [];
const links = { trip: 'cave', leg: 'trip', mate: 'trip', alert: 'trip', permit: 'cave' };
function put(res, row) {
  Object.defineProperty(row, '_seq', { value: ++seq, enumerable: false });
  db[res].set(String(row[R[res].id]), row);
  const l = links[res];
  if (l) { const m = kids[`${res}.${l}`]; if (!m.has(row[l])) m.set(row[l], []); m.get(row[l]).push(row); }
}
function drop(res, row) {
  db[res].delete(String(row[R[res].id]));
  const l = links[res];
  if (l) { const a = kids[`${res}.${l}`].get(row[l]); a.splice(a.indexOf(row), 1); }
}
const tripNumbers = new Map(); let legIds = 0;
const tripCm = (t) => of('leg.trip', t.id).reduce((s, l) => s + (l.splay && !F('r5') ? 0 : l.tape_cm), 0);
const partiesIn = (c) => of('trip.cave', c.code).filter((t) => t.state === 'underground' || (t.state === 'overdue' && !F('r4'))).length;
// the row with all of its fields, derived ones too, in their order
function full(res, row) {
  if (res === 'cave') return { ...row, parties_in: partiesIn(row), surveyed_cm: of('trip.cave', row.code).reduce((s, t) => s + tripCm(t), 0) };
  if (res === 'trip') return { ...row, surveyed_cm: tripCm(row) };
  return { ...row };
}
const clone = (x) => (x === undefined ? undefined : JSON.parse(JSON.stringify(x)));

// ---------------------------------------------------------------- who may what
const rules = {};
const rule = (ops, to, more = {}) => { for (const op of ops.split(', ')) (rules[op] ??= []).push({ to: [].concat(to), ...more }); };
rule('list cave, read cave', 'anyone', { if: (r) => r.access !== 'shut' });
rule('list cave, read cave', ['caver', 'warden', 'rescuer']);
rule('create cave, update cave', 'warden', { scopes: ['register'] });
rule('delete cave', 'warden', { scopes: ['register'], if: (r, c) => r.club === c.club || F('a6') });
rule('create trip', 'caver', { scopes: ['trips'] });
rule('list trip', 'caver', { if: (r, c) => r.club === c.club });
rule('read trip', 'caver', { if: (r, c) => r.club === c.club || F('a1') });
rule('list trip, read trip', ['warden', 'rescuer']);
rule('update trip, enter trip, extend trip, surface trip, cancel trip', 'caver', { scopes: ['trips'], if: (r, c) => r.leader === c.id });
rule('account trip', 'rescuer');
rule('account trip', 'warden', { scopes: ['callout'] });
rule('create mate', 'caver', { if: (n, c) => db.trip.get(n.trip).leader === c.id });
rule('list mate', 'caver', { if: (r, c) => db.trip.get(r.trip).club === c.club });
rule('list mate', ['warden', 'rescuer']);
rule('delete mate', 'caver', { if: (r, c) => db.trip.get(r.trip).leader === c.id });
rule('create leg', 'caver', { scopes: ['survey'], if: (n, c) => db.trip.get(n.trip).leader === c.id || (!F('a5') && of('mate.trip', n.trip).some((m) => m.caver === c.id)) });
rule('list leg, read leg', 'caver', { if: (r, c) => db.trip.get(r.trip).club === c.club });
rule('list leg, read leg', 'warden');
rule('replace leg', 'caver', { scopes: ['survey'], if: (r, c) => r.noted_by === c.id });
rule('delete leg', 'caver', { scopes: ['survey'], if: (r, c) => r.noted_by === c.id || F('a2') });
rule('create permit', 'caver');
rule('list permit', 'caver', { if: (r, c) => r.holder === c.id || (F('a4') && r.club === c.club) });
rule('read permit', 'caver', { if: (r, c) => r.holder === c.id });
rule('list permit, read permit', 'warden');
rule('list permit, read permit', 'rescuer', { fields: ['cave', 'holder', 'verdict', 'valid_until'] });
rule('grant permit', 'warden', { scopes: ['register'] });
rule('decline permit', 'warden', { scopes: F('a7') ? [] : ['register'] });
rule('withdraw permit', 'caver', { if: (r, c) => r.holder === c.id });
rule('list alert, read alert', 'caver', { if: (r, c) => r.club === c.club });
rule('list alert, read alert', ['warden', 'rescuer']);
rule('take alert', 'rescuer');
rule('close alert', 'warden', { scopes: ['callout'] });
rule('close alert', 'rescuer', { if: (r, c) => ('taken_by' in r && r.taken_by === c.id), else: 'not_your_alert' });
rule('create listener', ['caver', 'warden', 'rescuer']);
rule('list listener, read listener, update listener, delete listener', ['caver', 'warden', 'rescuer'], { if: (r, c) => r.owner === c.id });
rule('list bulletin, read bulletin', 'caver', { if: (r, c) => r.club === c.club });
rule('list bulletin, read bulletin', 'warden');

const meant = (r, c) => r.to.includes('anyone') || (c && r.to.includes(c.user));
const scoped = (r, c) => !r.scopes || (c && r.scopes.every((s) => c.scopes.includes(s)));
const holds = (r, row, c) => !r.if || r.if(row, c ?? {});
const grants = (op, row, c) => (rules[op] ?? []).filter((r) => meant(r, c) && scoped(r, c) && holds(r, row, c));
const readOp = (res) => (rules[`read ${res}`] ? `read ${res}` : `list ${res}`);
const mayRead = (res, row, c) => grants(readOp(res), row, c).length > 0;

// what a caller sees of a row: visible fields, and those that the rules which hold show
function shown(res, row, c, op) {
  const held = grants(op ?? readOp(res), row, c);
  const some = held.length && held.every((r) => r.fields) ? new Set(held.flatMap((r) => r.fields).concat(R[res].id)) : null;
  return pick(res, row, c?.user, some);
}
function pick(res, row, user, some) {
  const all = full(res, row), out = {};
  for (const k of Object.keys(R[res].fields)) {
    const d = R[res].fields[k];
    if (all[k] === undefined || d.once || (d.vis && !d.vis.includes(user)) || (some && !some.has(k))) continue;
    out[k] = all[k];
  }
  return out;
}

// ---------------------------------------------------------------- errors
const CODES = {
  unreadable: [400, 'That is no JSON.'], empty_sheet: [400, 'A body is needed.'], not_json: [415, 'Only JSON is read here.'], bad_query: [400, 'A parameter is wrong.'],
  bad_page: [400, 'There is no such page.'], lacking: [422, 'A field is missing.'], unheard_of: [400, 'A field is not known.'], wrong_field: [422, 'A field is wrong.'],
  no_way: [404, 'No such path.'], no_verb: [405, 'No such method here.'], no_tally: [401, 'Show who you are.'], old_pass: [401, 'The pass is over.'], bad_tally: [401, 'That is nobody.'],
  not_yours: [403, 'Not for you.'], scope_short: [403, 'A scope is lacking.'], not_found: [404, 'Nothing is here.'], struck_off: [410, 'It was struck off.'], taken: [409, 'There is one already.'],
  dangling: [422, 'What it refers to is not there.'], held: [409, 'Trips hold it.'], wrong_stage: [409, 'Not in this state.'], not_underground: [409, 'The party is not underground.'],
  not_longer: [422, 'A call-out can only be put off.'], cave_shut: [423, 'The cave is shut.'], not_your_alert: [403, 'Whoever took it closes it.'], callout_past: [422, 'The call-out is over already.'],
  sump_party: [422, 'Four go into a sump.'], cave_barred: [423, 'Nobody is let in.'], leg_early: [409, 'Nobody was in there.'], stale_copy: [412, 'It has changed.'], copy_needed: [428, 'Say which copy.'],
  key_reused: [422, 'The key was for something else.'], busy: [409, 'It is being done.'], slow_down: [429, 'Too often.'], spent: [403, 'That was all.'], too_big: [413, 'Too large.'],
  long_address: [414, 'The address is too long.'], long_head: [431, 'The headers are too large.'], too_slow: [503, 'Later.'], no_edition: [404, 'No such edition.'], edition_over: [410, 'That edition is over.'], broken: [500, 'Something broke.'],
};
const OWN = new Set(['cave_shut', 'not_longer', 'not_underground', 'callout_past', 'sump_party', 'cave_barred', 'leg_early']);
class Refusal extends Error { constructor(code, { faults, headers } = {}) { super(code); this.code = code; this.faults = faults; this.headers = headers ?? {}; } }
const refuse = (code, more) => { throw new Refusal(code, more); };

// ---------------------------------------------------------------- what is sent
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function isDateTime(s) {
  const m = RFC3339.exec(s);
  if (!m) return false;
  const [y, mo, d, h, mi, se] = m.slice(1, 7).map(Number);
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(y, mo, 0)).getUTCDate() || h > 23 || mi > 59 || se > 59) return false;
  if (m[8].length > 1) { const [oh, om] = m[8].slice(1).split(':').map(Number); if (oh > 23 || om > 59) return false; }
  return !Number.isNaN(Date.parse(s.toUpperCase()));
}
function isUri(s) {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*$/.test(s) || /[^\x21-\x7e]/.test(s)) return false;
  try { const u = new URL(s); return (u.protocol === 'http:' || u.protocol === 'https:') && u.hostname !== ''; } catch { return false; }
}
const typeOf = (x) => (x === null ? 'null' : Array.isArray(x) ? 'array' : typeof x === 'number' ? (Number.isInteger(x) ? 'integer' : 'number') : typeof x);
const topicKnown = (t) => t === '*' || KINDS.includes(t) || (t.endsWith('.*') && KINDS.some((k) => k.startsWith(t.slice(0, -1))));

function check(def, x, path, out, v, mode) {
  const bad = (expected, k = 'value') => { out.push({ k, in: 'body', path, found: brief(x), expected }); return false; };
  if (def.res) {
    if (typeOf(x) !== 'object') return bad('object', 'type');
    const n = out.length, f = R[def.res].fields;
    for (const [key, val] of Object.entries(x)) {
      if (!Object.hasOwn(f, key)) out.push({ k: 'unknown', in: 'body', path: `${path}.${key}`, found: brief(val), expected: 'no such field' });
      else check(f[key], val, `${path}.${key}`, out, v, mode);
    }
    for (const key of Object.keys(f)) if (!Object.hasOwn(x, key)) out.push({ k: 'missing', in: 'body', path: `${path}.${key}`, found: 'nothing', expected: f[key].type });
    return out.length === n;
  }
  const t = typeOf(x);
  if (!(t === def.type || (def.type === 'number' && t === 'integer'))) return bad(def.type, 'type');
  if (def.enum && !def.enum.includes(x)) return bad(`one of ${def.enum.join(', ')}`);
  if (t === 'string') {
    const len = [...x].length;
    if (def.minLength !== undefined && len < def.minLength) return bad(`at least ${def.minLength} characters`);
    if (def.maxLength !== undefined && len > def.maxLength && !(F('r6') && mode === 'update' && def === R.cave.fields.name)) return bad(`at most ${def.maxLength} characters`);
    if (def.pattern && !def.pattern.test(x)) return bad(`text like ${def.pattern.source}`);
    if (def.format === 'date-time' && !isDateTime(x)) return bad('date-time');
    if (def.format === 'uri' && !isUri(x)) return bad('uri');
    if (def.topic && !topicKnown(x)) return bad('a kind of event');
  } else if (t === 'integer' || t === 'number') {
    if (def.minimum !== undefined && x < def.minimum) return bad(`at least ${def.minimum}`);
    if (def.maximum !== undefined && x > def.maximum) return bad(`at most ${def.maximum}`);
    if (def.exclusiveMaximum !== undefined && (F('r1') ? x > def.exclusiveMaximum : x >= def.exclusiveMaximum)) return bad(`less than ${def.exclusiveMaximum}`);
  } else if (t === 'array') {
    const n = out.length;
    if (def.minItems !== undefined && x.length < def.minItems) return bad(`at least ${def.minItems} items`);
    if (def.maxItems !== undefined && x.length > def.maxItems) return bad(`at most ${def.maxItems} items`);
    x.forEach((e, i) => check(def.items, e, `${path}.${i}`, out, v, mode));
    if (out.length > n) return false;
    if (def.uniqueItems && !F('r2') && new Set(x.map((e) => JSON.stringify(e))).size < x.length) return bad('items that differ');
  }
  return true;
}
const brief = (x) => { const s = typeof x === 'string' ? x : JSON.stringify(x) ?? 'nothing'; return s.slice(0, 200); };

function invalid(out) {
  let first = out[0];
  if (F('x2')) first = out.find((o) => o.k === 'missing') ?? first;
  const code = first.k === 'missing' ? 'lacking' : first.k === 'unknown' ? 'unheard_of' : 'wrong_field';
  refuse(code, { faults: out });
}
const asObject = (body) => { if (typeOf(body) !== 'object') invalid([{ k: 'type', in: 'body', path: '', found: brief(body), expected: 'object' }]); return body; };

// mode: create | update | replace. Gives the values in the newest words; undefined = take it away.
function read(res, body, v, mode, { stored, bound, caller }) {
  asObject(body);
  const shape = shapeOf(res, v), out = [], vals = {}, wrong = new Set(), sent = new Set();
  const seen = stored ? down(res, full(res, stored), v) : null;
  for (const [name, x] of Object.entries(body)) {
    const s = shape.get(name);
    if (!s) { out.push({ k: 'unknown', in: 'body', path: name, found: brief(x), expected: 'no such field' }); continue; }
    const d = s.def;
    if (d.ro || (d.writ && !d.writ.includes(caller.user))) continue;
    sent.add(s.key ?? name);
    if (x === null && mode === 'update' && !d.req) { if (s.key) vals[s.key] = undefined; continue; }
    if (!check(d, x, name, out, v, mode)) { wrong.add(s.key); if (F('n6') && name === 'depth_m') out.at(-1).path = 'depth_cm'; continue; }
    if (!s.key) continue;
    if (d.imm && stored) {
      if (JSON.stringify(stored[s.key]) !== JSON.stringify(x)) { out.push({ k: 'value', in: 'body', path: name, found: brief(x), expected: 'what it is' }); wrong.add(s.key); }
      continue;
    }
    if (bound && Object.hasOwn(bound, s.key)) {
      if (bound[s.key] !== x) { out.push({ k: 'value', in: 'body', path: name, found: brief(x), expected: 'what the path says' }); wrong.add(s.key); }
      continue;
    }
    if (s.up && seen && seen[name] === x) { vals[s.key] = stored[s.key]; continue; }
    vals[s.key] = s.up ? s.up(x) : x;
  }
  const next = mode === 'create' ? { ...bound, ...vals } : mode === 'update' ? { ...stored, ...vals } : { ...vals };
  for (const r of R[res].rules ?? []) {
    if (r.needs.every((k) => next[k] !== undefined && !wrong.has(k)) && r.bad(next)) {
      const name = [...shape].find(([, s]) => s.key === r.field)[0];
      out.push({ k: 'value', in: 'body', path: name, found: brief(next[r.field]), expected: r.expected });
    }
  }
  if (mode !== 'update') {
    for (const [name, s] of shape) {
      if (!s.def.req || sent.has(s.key) || s.def.def !== undefined || (bound && Object.hasOwn(bound, s.key)) || (stored && s.def.imm)) continue;
      out.push({ k: 'missing', in: 'body', path: name, found: 'nothing', expected: s.def.type });
    }
  }
  if (out.length) invalid(out);
  if (mode !== 'update') for (const [key, d] of Object.entries(R[res].fields)) if (d.def !== undefined && vals[key] === undefined && !(F('e3') && mode === 'replace')) vals[key] = clone(d.def);
  return vals;
}
function readInline(body, fields) {
  asObject(body);
  const out = [];
  for (const [k, x] of Object.entries(body)) if (fields[k]) check(fields[k], x, k, out);
  for (const [k, d] of Object.entries(fields)) if (d.req && !Object.hasOwn(body, k)) out.push({ k: 'missing', in: 'body', path: k, found: 'nothing', expected: d.type });
  if (out.length) invalid(out);
}

// ---------------------------------------------------------------- generated
const CHARS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (n, chars = CHARS) => { let s = ''; for (let i = 0; i < n; i++) s += chars[crypto.randomInt(chars.length)]; return s; };
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
function ulid() { let t = now(), s = ''; for (let i = 0; i < 10; i++) { s = B32[t % 32] + s; t = Math.floor(t / 32); } return s + random(16, B32); }
function uuidv7() {
  const b = crypto.randomBytes(16); b.writeUIntBE(now(), 0, 6); b[6] = (b[6] & 0x0f) | 0x70; b[8] = (b[8] & 0x3f) | 0x80;
  return b.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

// ---------------------------------------------------------------- events
// payloads: (for which user and with which fields is it cut, in which version) -> what is sent
const cut = (res, row) => { const snap = full(res, clone(row)); return (user, version, everyRule) => {
  const out = {};
  let some = null;
  if (everyRule) for (const r of rules[readOp(res)]) if (r.fields && r.to.includes(user) && !F('v6')) some = new Set(r.fields.concat(R[res].id));
  for (const k of Object.keys(R[res].fields)) {
    const d = R[res].fields[k];
    if (snap[k] === undefined || d.once || (d.vis && !(user === '*log' ? false : d.vis.includes(user))) || (some && !some.has(k))) continue;
    out[k] = snap[k];
  }
  return version ? down(res, out, version) : out;
}; };
function emit(kind, res, row, payload, toAll = false) {
  const t = now(), id = `blt_${random(20)}`, key = String(row[R[res].id]);
  put('bulletin', { id, topic: kind, about: key, club: row.club, content: payload('*log', null, false), told_at: iso(t) });
  for (const l of db.listener.values()) {
    if (!l.active && !F('v7')) continue;
    if (!listens(l, kind)) continue;
    const maker = l._maker;
    if (!toAll && !mayRead(res, row, maker)) continue;
    const v = F('n4') ? CURRENT : l._version;
    queue(l, `${res}/${key}`, { id, kind, body: JSON.stringify({ uid: id, topic: kind, told_at: iso(t), content: payload(maker.user, v, true) }) });
  }
}
const listens = (l, kind) => !l.topics || l.topics.some((t) => t === '*' || t === kind || (t.endsWith('.*') && kind.startsWith(t.slice(0, -1))));
const listening = new Map(); // listener id -> { lanes: Map(row -> [delivery]), failingSince }
const WAITS = [10e3, F('v2') ? 60e3 : 120e3, 1200e3, 7200e3];
function queue(l, lane, d) {
  const q = listening.get(l.id);
  if (!q.lanes.has(lane)) q.lanes.set(lane, []);
  q.lanes.get(lane).push({ ...d, tries: 0, due: now(), busy: false });
  setImmediate(pump);
}
const inFlight = new Set();
function pump() {
  const t = now();
  for (const [id, q] of listening) {
    const l = db.listener.get(id);
    if (!l) { listening.delete(id); continue; }
    for (const [lane, ds] of q.lanes) {
      if (!ds.length) { q.lanes.delete(lane); continue; }
      if (!l.active && !F('v7')) { q.lanes.delete(lane); continue; }
      const d = ds[0];
      if (!d.busy && d.due <= t && (q.pausedTo ?? 0) <= t) deliver(l, q, ds, d);
    }
  }
}
function deliver(l, q, ds, d) {
  d.busy = true;
  const ts = String(Math.floor(now() / 1000));
  const mac = crypto.createHmac('sha256', l.secret).update(F('v1') ? `${ts}|${d.body}` : `${d.id}|${ts}|${d.body}`).digest('base64');
  const url = new URL(l.url);
  let over = false, done;
  const p = new Promise((r) => { done = r; });
  inFlight.add(p);
  const end = (status, after) => {
    if (over) return;
    over = true; d.busy = false; clearTimeout(limit); inFlight.delete(p); done();
    const t = now();
    if (status >= 200 && status < 300) { q.failingSince = null; ds.splice(ds.indexOf(d), 1); }
    else {
      q.failingSince ??= t;
      if (status === 410 || t - q.failingSince >= 86400e3) { l.active = false; q.lanes.clear(); return; }
      if (d.tries >= WAITS.length) ds.splice(ds.indexOf(d), 1);
      else {
        d.due = t + WAITS[d.tries++];
        if (after && /^\d+$/.test(after)) q.pausedTo = Math.max(q.pausedTo ?? 0, t + Math.min(86400, Number(after)) * 1000);
      }
    }
    setImmediate(pump);
  };
  const limit = setTimeout(() => { end(0); req.destroy(); }, 5000);
  const req = (url.protocol === 'https:' ? https : http).request(url, { method: 'POST', agent: false, headers: {
    'content-type': 'application/json', 'content-length': Buffer.byteLength(d.body), 'underlog-topic': d.kind, 'underlog-seal': `at=${ts},seal=${mac}` } }, (res) => { end(res.statusCode, res.headers['retry-after']); res.resume(); res.on('error', () => {}); });
  req.on('error', () => end(0));
  req.end(d.body);
}

// ---------------------------------------------------------------- changes
const H = 3600e3, D = 86400e3;
function enterTripState(row, state) {
  row.state = state;
  const epoch = row._epoch = (row._epoch ?? 0) + 1;
  if (state === 'planned') at(now() + 3 * D, () => { if (row._epoch === epoch && row.state === 'planned') enterTripState(row, 'lapsed'); });
  if (state === 'underground') setAlarm(row, epoch);
}
function setAlarm(row, epoch) {
  at(Date.parse(F('s4') ? row.callout_at : row.due_at), () => {
    if (row._epoch !== epoch || row.state !== 'underground') return;
    enterTripState(row, 'overdue');
    const t = row;
    emit('trip.overdue', 'trip', t, ((c, heads) => (u, v, e) => ({ trip: c(u, v, e), heads }))(cut('trip', t), t.party.length));
    const a = { id: ulid(), trip: t.id, club: t.club, heads: t.party.length, stage: 'raised', raised_at: iso(now()) };
    hide(a, '_epoch'); put('alert', a);
    emit('alert.raised', 'alert', a, cut('alert', a));
    at(now() + (F('s5') ? 3 * 60e3 : 30 * 60e3), () => { if (a.stage === 'raised') a.stage = 'urgent'; });
  });
}
// told of an hour before the call-out
function setDue(row) {
  const when = row.due_at;
  at(Math.max(now(), Date.parse(when) - H), () => {
    if (row.due_at !== when || row.state !== 'underground' || row._toldDue === when) return;
    row._toldDue = when;
    const p = { trip: row.id, leader: row.leader };
    emit('trip.due', 'trip', row, () => p);
  });
}
const hide = (o, ...ks) => { for (const k of ks) Object.defineProperty(o, k, { value: undefined, writable: true, enumerable: false }); return o; };
function closeAlert(a) { a.stage = 'closed'; emit('alert.closed', 'alert', a, cut('alert', a), true); }
function closeAlerts(trip) { for (const a of [...of('alert.trip', trip.id)]) if (a.stage !== 'closed' && !(F('s7') && a.stage === 'taken')) closeAlert(a); }
function enterVerdict(p, verdict, atOnce) {
  p.verdict = verdict;
  const epoch = ++p._epoch;
  const still = () => p._epoch === epoch && db.permit.has(p.id);
  if (verdict === 'applied') at(now() + 7 * D, () => { if (still()) { enterVerdict(p, 'declined'); if (!F('v5')) emit('permit.decided', 'permit', p, cut('permit', p)); } });
  if (verdict === 'granted' && !(F('s6') && atOnce)) at(Date.parse(p.valid_until), () => {
    if (!still()) return;
    enterVerdict(p, 'expired');
    const data = { permit: p.id, holder: p.holder };
    emit('permit.expired', 'permit', p, () => data);
  });
}

// ---------------------------------------------------------------- rates
function makeRate(r) {
  const seen = new Map();
  const tidy = (key, t) => {
    let s = seen.get(key);
    if (r.kind === 'fixed') { if (!s || t >= s.start + r.window) { s = { start: t, used: 0 }; seen.set(key, s); } }
    else if (r.kind === 'bucket') {
      const cap = r.burst * r.window; // in units of 1/window of a token
      if (!s) { s = { level: cap, at: t }; seen.set(key, s); }
      if (t > s.at) { s.level = Math.min(cap, s.level + (t - s.at) * r.limit); s.at = t; }
    } else { if (!s) { s = { hits: [] }; seen.set(key, s); } while (s.hits.length && s.hits[0] + r.window <= t) s.hits.shift(); }
    return s;
  };
  return { ...r,
    wait(key, cost, t) { // 0 = may go on; ms to wait
      const s = tidy(key, t);
      if (r.kind === 'fixed') return s.used + cost <= r.limit ? 0 : s.start + r.window - t;
      if (r.kind === 'bucket') { const need = cost * r.window - s.level; return need <= 0 ? 0 : Math.ceil(need / r.limit); }
      const over = s.hits.length + cost - r.limit;
      return over <= 0 ? 0 : s.hits[over - 1] + r.window - t;
    },
    take(key, cost, t) { const s = tidy(key, t); if (r.kind === 'fixed') s.used += cost; else if (r.kind === 'bucket') s.level -= cost * r.window; else for (let i = 0; i < cost; i++) s.hits.push(t); },
    giveBack(key, cost, t) { const s = tidy(key, t); if (r.kind === 'fixed') s.used = Math.max(0, s.used - cost); },
    tell(key, t) {
      const s = tidy(key, t);
      if (r.kind === 'fixed') return { limit: r.limit, left: r.limit - s.used, reset: s.start + r.window - t };
      if (r.kind === 'bucket') { const left = Math.floor(s.level / r.window); return { limit: r.limit, left, reset: Math.ceil(((left + 1) * r.window - s.level) / r.limit) }; }
      return { limit: r.limit, left: r.limit - s.hits.length, reset: s.hits.length ? s.hits[0] + r.window - t : 0 };
    },
  };
}
const who = (x) => (x.caller ? `${x.caller.user} ${x.caller.id}` : `address ${x.address}`);
const RATES = [
  makeRate({ kind: 'fixed', limit: 400, window: 60e3, applies: () => true, key: who, cost: (x) => (x.op === 'list leg' && !F('l1') ? 4 : 1) }),
  makeRate({ kind: 'bucket', limit: 10, burst: F('l2') ? 10 : 15, window: 60e3, applies: (x) => x.op === 'create permit', key: (x) => x.caller.club, cost: () => 1 }),
  makeRate({ kind: 'sliding', limit: 12, window: 60e3, applies: (x) => x.op === 'create listener' || x.op === 'update listener', key: who, cost: () => 1 }),
  makeRate({ kind: 'fixed', limit: 200, window: 60e3, applies: (x) => !x.caller, key: (x) => x.address, cost: () => 1, uncounted: F('l4') ? [] : [304] }),
];
function rateHeaders(list, t) {
  let worst = null;
  for (const [r, key] of list) { const i = r.tell(key, t); if (!worst || i.left < worst.left) worst = i; }
  return worst ? { 'Underlog-Limit': String(worst.limit), 'Underlog-Left': String(Math.max(0, worst.left)), 'Underlog-Reset': String(Math.ceil(worst.reset / 1000)) } : {};
}
function askRates(x) {
  const t = now(), list = RATES.filter((r) => r.applies(x)).map((r) => [r, r.key(x), r.cost(x)]);
  x.rated = list;
  let wait = 0;
  for (const [r, key, cost] of list) wait = Math.max(wait, r.wait(key, cost, t));
  if (wait > 0) refuse('slow_down', { headers: { 'Retry-After': String(Math.ceil(wait / 1000)) } });
  for (const [r, key, cost] of list) r.take(key, cost, t);
}
// the quota of permits: 20 a day of a club, by the clocks of Ljubljana
const zoneParts = new Intl.DateTimeFormat('en-CA', { timeZone: F('l6') ? 'UTC' : 'Europe/Ljubljana', year: 'numeric', month: '2-digit', day: '2-digit' });
const dayOf = (t) => zoneParts.format(t);
function dayEnd(t) { const d = dayOf(t); let lo = t, hi = t + 26 * H; while (hi - lo > 1) { const m = Math.floor((lo + hi) / 2); if (dayOf(m) === d) lo = m; else hi = m; } return hi; }
const quota = new Map();

// ---------------------------------------------------------------- callers
const TALLY = {
  tally_AnaKrka0000000000000001A: { user: 'caver', id: 'ana', club: 'krka', scopes: ['trips', 'survey'] },
  tally_BorKrka0000000000000002B: { user: 'caver', id: 'bor', club: 'krka', scopes: ['trips', 'survey'] },
  tally_CeneKrka000000000000003C: { user: 'caver', id: 'cene', club: 'krka', scopes: [] },
  tally_DanaSoca000000000000004D: { user: 'caver', id: 'dana', club: 'soca', scopes: ['trips', 'survey'] },
  tally_DragoSoca00000000000005E: { user: 'caver', id: 'drago', club: 'soca', scopes: ['trips'] },
  tally_VidKrka0000000000000006F: { user: 'warden', id: 'vid', club: 'krka', scopes: ['register', 'callout'] },
  tally_VeraSoca000000000000007G: { user: 'warden', id: 'vera', club: 'soca', scopes: ['register'] },
  tally_VladoKrka00000000000008H: { user: 'warden', id: 'vlado', club: 'krka', scopes: [] },
  tally_RokKrka0000000000000009I: { user: 'rescuer', id: 'rok', club: 'krka', scopes: [] },
  tally_RinaSoca000000000000010J: { user: 'rescuer', id: 'rina', club: 'soca', scopes: [] },
};
const DESK = {
  vojka: { password: 'karst-and-lamp', user: 'warden', id: 'vojka', club: 'soca', scopes: ['register', 'callout'] },
  rado: { password: 'rope-and-pulley', user: 'rescuer', id: 'rado', club: 'krka', scopes: [] },
};
const hmac = (s) => crypto.createHmac('sha256', SECRET).update(s).digest('base64url');
function readPass(token) {
  const parts = token.split('.');
  if (parts.length !== 3) return 'bad';
  let head, c;
  try { head = JSON.parse(Buffer.from(parts[0], 'base64url')); c = JSON.parse(Buffer.from(parts[1], 'base64url')); } catch { return 'bad'; }
  if (!head || head.alg !== 'HS256' || !c || typeof c !== 'object') return 'bad';
  const a = Buffer.from(hmac(`${parts[0]}.${parts[1]}`)), b = Buffer.from(parts[2]);
  if (a.length !== b.length || !crypto.timingSafeEqual(a, b)) return 'bad';
  if (c.iss !== 'https://id.underlog.example' || ![].concat(c.aud ?? []).includes('underlog')) return 'bad';
  const t = now() / 1000;
  if (c.nbf !== undefined && !(typeof c.nbf === 'number' && c.nbf <= t + 5)) return 'bad';
  if (c.exp !== undefined && typeof c.exp !== 'number') return 'bad';
  const users = F('p3') ? ['caver', 'warden'] : ['caver', 'warden', 'rescuer'];
  const user = [].concat(c.role ?? []).find((u) => users.includes(u));
  if (typeof c.sub !== 'string' || !user || typeof c.club !== 'string' || (c.scope !== undefined && typeof c.scope !== 'string')) return 'bad';
  if (c.exp !== undefined && t >= c.exp + 5) return 'expired';
  return { user, id: c.sub, club: c.club, scopes: c.scope ? c.scope.split(' ').filter(Boolean) : [] };
}
const CHALLENGE = { tally: 'ApiKey realm="Underlog", in="header", name="X-Tally"', desk: 'Basic realm="Underlog", charset="UTF-8"', pass: 'Bearer realm="Underlog"' };
function findCaller(req) {
  const found = [], tried = {};
  const count = (n) => { let k = 0; for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === n) k++; return k; };
  const fail = (code) => refuse(code, { headers: { 'WWW-Authenticate': [
    CHALLENGE.tally + (tried.tally ? ', error="invalid_key"' : ''), CHALLENGE.desk, CHALLENGE.pass + (tried.pass ? ', error="invalid_token"' : '')] } });
  const tally = req.headers['x-tally'], auth = req.headers.authorization;
  if (tally !== undefined) { tried.tally = true; found.push(count('x-tally') > 1 || !Object.hasOwn(TALLY, tally) ? 'bad' : TALLY[tally]); }
  if (auth !== undefined) {
    const m = /^(\S+) +(\S+)$/.exec(auth);
    if (count('authorization') > 1 || !m) found.push('bad');
    else if (m[1].toLowerCase() === 'basic') {
      tried.desk = true;
      const s = Buffer.from(m[2], 'base64').toString('utf8'), i = s.indexOf(':');
      const d = i > 0 && Object.hasOwn(DESK, s.slice(0, i)) ? DESK[s.slice(0, i)] : null;
      found.push(d && d.password === s.slice(i + 1) ? (F('p4') ? { ...d, user: 'warden' } : d) : 'bad');
    } else if (m[1].toLowerCase() === 'bearer') { tried.pass = true; found.push(readPass(m[2])); }
    else found.push('bad');
    x_bearer.set(req, tried.pass);
  }
  if (!found.length) return { none: true, fail };
  const good = found.filter((f) => typeof f === 'object');
  if (found.includes('bad') && !(F('a3') && good.length)) fail('bad_tally');
  if (found.includes('expired')) fail('old_pass');
  const c = good[0];
  if (good.some((g) => g.user !== c.user || g.id !== c.id || g.club !== c.club)) fail('bad_tally');
  return { caller: { user: c.user, id: c.id, club: c.club, scopes: [...new Set(good.flatMap((g) => g.scopes))] }, fail };
}
const x_bearer = new WeakMap();

// ---------------------------------------------------------------- tags
const hash = (s) => crypto.createHash('sha256').update(s).digest('base64url').slice(0, 22);
const rowTag = (res, row, c, v) => hash(`${v} ${JSON.stringify(down(res, shown(res, row, c), v))}`);
const tagList = (h) => h.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
function ifMatch(x, res, row, need) {
  const h = x.req.headers['if-match'];
  if (h === undefined) { if (need) refuse('copy_needed'); return; }
  const mine = [rowTag(res, row, x.caller, x.v)];
  if (mayRead(res, row, null)) mine.push(rowTag(res, row, null, x.v));
  const ok = tagList(h).some((t) => {
    if (t === '*') return true;
    if (t.startsWith('W/')) { if (!F('e6')) return false; t = t.slice(2); }
    return mine.includes(t.slice(1, -1).split('.')[0]);
  });
  if (!ok) refuse('stale_copy');
}
function tagged(x, tag, body, headers = {}) {
  const h = x.req.headers['if-none-match'], etag = `"${tag}"`;
  if (h !== undefined && !(F('e5') && x.op === 'read leg') && tagList(h).some((t) => t === '*' || t.replace(/^W\//, '') === etag)) return { status: 304, headers: { ETag: etag, ...headers } };
  return { status: 200, body, headers: { ETag: etag, ...headers } };
}

// ---------------------------------------------------------------- doing it
function gate(x, res, row) { // rules over the row as it is
  const mine = (rules[x.op] ?? []).filter((r) => meant(r, x.caller) && scoped(r, x.caller));
  if (!mine.some((r) => holds(r, row, x.caller))) refuse(mine.find((r) => r.else)?.else ?? 'not_yours');
}
const gateNext = gate;
function find(x, res, id) {
  const row = db[res].get(id);
  if (row && mayRead(res, row, x.caller)) return row;
  if (!row && res === 'cave' && struck.has(id) && !F('x3')) {
    const s = struck.get(id);
    if (s.until > now() && mayRead('cave', s.row, x.caller)) refuse('struck_off');
  }
  refuse('not_found');
}
const load = (x, res) => { const row = find(x, res, x.p[x.idName]); gate(x, res, row); return row; };
const see = (x, res, row, op) => down(res, shown(res, row, x.caller, op), x.v);
const where = (x, path) => `${F('p1') ? '' : BASE}/${x.v}${path}`;
const made = (x, res, row, path) => ({ status: 201, body: see(x, res, row), headers: path ? { Location: where(x, path) } : {} });
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
function clash(res, row, fields, me) {
  if (fields.some((f) => row[f] === undefined)) return null;
  const pool = fields[0] === 'cave' ? of('trip.cave', row.cave) : fields[0] === 'trip' ? of(`${res}.trip`, row.trip) : db[res].values();
  for (const r of pool) if (r !== me && fields.every((f) => r[f] === row[f])) return r;
  return null;
}
const reference = (x, res, id) => { const r = db[res].get(id); if (!r || !mayRead(res, r, x.caller)) refuse('dangling'); return r; };
const LIVE = ['planned', 'underground', 'overdue'];
const liveTrips = (leader) => { let n = 0; for (const t of db.trip.values()) if (t.leader === leader && LIVE.includes(t.state) && !(F('l5') && t.state === 'overdue')) n++; return n; };

const OPS = {
  'create cave'(x) {
    const vals = read('cave', x.body, x.v, 'create', { caller: x.caller });
    gateNext(x, 'cave', vals);
    const row = { ...vals, club: x.caller.club, changed_at: iso(now()) };
    if (db.cave.has(row.code) || clash('cave', row, ['register_no'])) refuse('taken');
    struck.delete(row.code);
    put('cave', row);
    emit('cave.listed', 'cave', row, cut('cave', row));
    return made(x, 'cave', row, `/caves/${row.code}`);
  },
  'read cave'(x) {
    const row = load(x, 'cave');
    return tagged(x, rowTag('cave', row, x.caller, x.v), see(x, 'cave', row), { 'Cache-Control': 'private, max-age=30' });
  },
  'list cave'(x) {
    const q = x.q;
    let rows = [...db.cave.values()].filter((r) => grants('list cave', r, x.caller).length);
    if (q.kind) rows = rows.filter((r) => q.kind.includes(r.kind));
    if (q.access !== undefined) rows = rows.filter((r) => r.access === q.access);
    if (q.depth !== undefined) rows = rows.filter((r) => (old(x.v) ? r.depth_cm / 100 : r.depth_cm) === q.depth);
    if (q.named !== undefined) rows = rows.filter((r) => (F('e1') ? r.name.includes(q.named) : r.name.toLowerCase().includes(q.named.toLowerCase())));
    if (q.busy !== undefined) rows = rows.filter((r) => (partiesIn(r) > 0) === q.busy);
    let [key, desc] = q.by ?? ['code', false];
    if (q.way === 'desc' && !(F('e2') && !q.by)) desc = !desc;
    sortBy(rows, key, desc);
    return pageOf(x, 'cave', rows);
  },
  'update cave'(x) {
    const row = load(x, 'cave');
    ifMatch(x, 'cave', row, true);
    const vals = read('cave', x.body, x.v, 'update', { stored: row, caller: x.caller });
    const next = merged(row, vals);
    if (!F('r7') && clash('cave', next, ['register_no'], row)) refuse('taken');
    if (changed(row, next) || F('e7')) {
      const was = row.access;
      assign(row, next); row.changed_at = iso(now());
      if (row.access !== was) { const data = { cave: row.code, was: F('v3') ? row.access : was, is: row.access }; emit('cave.access', 'cave', row, () => data); }
    }
    return { status: 200, body: see(x, 'cave', row) };
  },
  'delete cave'(x) {
    const row = load(x, 'cave');
    ifMatch(x, 'cave', row, false);
    if (of('trip.cave', row.code).length) refuse('held');
    for (const p of [...of('permit.cave', row.code)]) drop('permit', p);
    drop('cave', row);
    struck.set(row.code, { row, until: now() + 10 * D });
    return { status: 204 };
  },
  'create trip'(x) {
    const vals = read('trip', x.body, x.v, 'create', { caller: x.caller });
    const cave = reference(x, 'cave', vals.cave);
    gateNext(x, 'trip', vals);
    if (Date.parse(vals.callout_at) <= now()) refuse('callout_past');
    if (cave.kind === 'sump' && (F('x4') ? vals.party.length >= 4 : vals.party.length > 4)) refuse('sump_party');
    if (clash('trip', vals, ['cave', 'title'])) refuse('taken');
    if (liveTrips(x.caller.id) >= 6) refuse('spent');
    const scope = F('r8') ? '*' : vals.cave, number = (tripNumbers.get(scope) ?? 0) + 1;
    tripNumbers.set(scope, number);
    const row = { id: `trip-${crypto.randomBytes(5).toString('hex')}`, number, ...vals, leader: x.caller.id, club: x.caller.club, due_at: iso(Date.parse(vals.callout_at)) };
    hide(row, '_epoch', '_toldDue');
    put('trip', row);
    enterTripState(row, 'planned');
    setDue(row);
    row.party.forEach((name, i) => { if (!(F('v4') && i === 0)) emit('crew.named', 'trip', row, ((d) => () => d)({ trip: row.id, name })); });
    return made(x, 'trip', row, `/trips/${row.id}`);
  },
  'list trip'(x) {
    const q = x.q;
    let rows = [...(q.cave !== undefined ? of('trip.cave', q.cave) : db.trip.values())].filter((r) => grants('list trip', r, x.caller).length);
    if (q.state) rows = rows.filter((r) => q.state.includes(r.state));
    if (q.leader !== undefined) rows = rows.filter((r) => r.leader === q.leader);
    if (q.entering_after !== undefined) rows = rows.filter((r) => Date.parse(r.enters_at) > q.entering_after);
    if (q.entering_by !== undefined) rows = rows.filter((r) => Date.parse(r.enters_at) <= q.entering_by);
    const [key, desc] = q.sort ?? ['enters_at', true];
    sortBy(rows, key, desc, Date.parse);
    return pageOf(x, 'trip', rows, q.only && ((o) => Object.fromEntries(Object.entries(o).filter(([k]) => q.only.has(k) || (k === 'id' && !F('e4'))))));
  },
  'read trip'(x) {
    const row = load(x, 'trip');
    let body = see(x, 'trip', row), tag = rowTag('trip', row, x.caller, x.v);
    if (x.q.with) {
      const cave = db.cave.get(row.cave);
      if (cave && mayRead('cave', cave, x.caller)) { body = { ...body, cave: see(x, 'cave', cave) }; tag += `.${hash(JSON.stringify(body.cave))}`; }
    }
    return tagged(x, tag, body);
  },
  'update trip'(x) {
    const row = load(x, 'trip');
    ifMatch(x, 'trip', row, false);
    const vals = read('trip', x.body, x.v, 'update', { stored: row, caller: x.caller });
    const next = merged(row, vals);
    if (row.state !== 'planned') refuse('wrong_stage');
    if (clash('trip', next, ['cave', 'title'], row)) refuse('taken');
    if (changed(row, next)) {
      assign(row, next);
      const due = iso(Date.parse(row.callout_at));
      if (due !== row.due_at) { row.due_at = due; setDue(row); }
      if (F('s2')) enterTripState(row, 'planned');
    }
    return { status: 200, body: see(x, 'trip', row) };
  },
  'enter trip'(x) {
    const row = load(x, 'trip');
    if (row.state !== 'planned') refuse('wrong_stage');
    if (db.cave.get(row.cave).access === 'shut') refuse('cave_shut');
    for (const t of db.trip.values()) if (t !== row && t.leader === row.leader && (t.state === 'underground' || t.state === 'overdue')) refuse('taken');
    row.entered_at = iso(now());
    enterTripState(row, 'underground');
    emit('trip.entered', 'trip', row, cut('trip', row));
    return { status: 200, body: see(x, 'trip', row) };
  },
  'extend trip'(x) {
    const row = load(x, 'trip');
    readInline(x.body, { until: { ...DT, req: true } });
    if (row.state !== 'underground') refuse('not_underground');
    const until = Date.parse(x.body.until), due = Date.parse(row.due_at);
    if (F('s3') ? until < due : until <= due) refuse('not_longer');
    const data = { trip: row.id, was: row.due_at, until: iso(until) };
    row.due_at = iso(until);
    enterTripState(row, 'underground');
    setDue(row);
    emit('trip.extended', 'trip', row, () => data);
    return { status: 200, body: { trip: row.id, until: row.due_at, heads: row.party.length } };
  },
  'surface trip'(x) {
    const row = load(x, 'trip');
    if (row.state !== 'underground' && !(row.state === 'overdue' && !F('s1'))) refuse('not_underground');
    row.ended_at = iso(now());
    enterTripState(row, 'surfaced');
    emit('trip.surfaced', 'trip', row, cut('trip', row));
    closeAlerts(row);
    return { status: 200, body: see(x, 'trip', row) };
  },
  'account trip'(x) {
    const row = load(x, 'trip');
    readInline(x.body, { outcome: { type: 'string', enum: ['safe', 'hurt', 'lost'], req: true } });
    if (row.state !== 'overdue') refuse('wrong_stage');
    row.ended_at = iso(now()); row.outcome = x.body.outcome;
    enterTripState(row, 'accounted');
    closeAlerts(row);
    return { status: 200, body: see(x, 'trip', row) };
  },
  'cancel trip'(x) {
    const row = load(x, 'trip');
    if (row.state !== 'planned') refuse('wrong_stage');
    enterTripState(row, 'cancelled');
    return { status: 200, body: see(x, 'trip', row) };
  },
  'create mate'(x) {
    const trip = find(x, 'trip', x.p.trip);
    const vals = read('mate', x.body, x.v, 'create', { bound: { trip: trip.id }, caller: x.caller });
    const row = { id: uuidv7(), trip: trip.id, ...vals };
    gateNext(x, 'mate', row);
    const there = clash('mate', row, ['trip', 'caver']);
    if (there) return { status: 200, body: see(x, 'mate', there) };
    put('mate', row);
    return made(x, 'mate', row);
  },
  'list mate'(x) {
    const trip = find(x, 'trip', x.p.trip);
    let rows = [...of('mate.trip', trip.id)].filter((r) => grants('list mate', r, x.caller).length);
    if (x.q.task !== undefined) rows = rows.filter((r) => r.task === x.q.task);
    sortBy(rows, 'caver', false);
    return { status: 200, body: { mates: rows.map((r) => see(x, 'mate', r)), size: rows.length } };
  },
  'delete mate'(x) { const row = load(x, 'mate'); drop('mate', row); return { status: 204 }; },
  'create leg'(x) {
    const trip = find(x, 'trip', x.p.trip);
    const vals = read('leg', x.body, x.v, 'create', { bound: { trip: trip.id }, caller: x.caller });
    gateNext(x, 'leg', { ...vals, trip: trip.id });
    if (['planned', 'cancelled', 'lapsed'].includes(trip.state) && !(F('x5') && trip.state === 'lapsed')) refuse('leg_early');
    const row = { id: legIds + 1, trip: trip.id, ...vals, noted_by: x.caller.id };
    if (clash('leg', row, ['trip', 'start', 'end'])) refuse('taken');
    legIds++;
    put('leg', row);
    return made(x, 'leg', row, `/legs/${row.id}`);
  },
  'list leg'(x) {
    const trip = find(x, 'trip', x.p.trip);
    let rows = [...of('leg.trip', trip.id)].filter((r) => grants('list leg', r, x.caller).length);
    const known = (id) => { const i = rows.findIndex((r) => String(r.id) === id); if (i < 0) refuse('bad_page', { faults: [{ in: 'query', path: 'after', expected: 'a leg of this trip' }] }); return rows[i]._seq; };
    const after = x.q.after === undefined ? null : known(x.q.after), before = x.q.before === undefined ? null : known(x.q.before);
    if (x.q.splay !== undefined) rows = rows.filter((r) => r.splay === x.q.splay);
    if (x.q.longer_than !== undefined) rows = rows.filter((r) => r.tape_cm > x.q.longer_than);
    if (after !== null) rows = rows.filter((r) => r._seq > after);
    if (before !== null) rows = rows.filter((r) => r._seq < before);
    const more = rows.length > x.q.size;
    rows = before !== null && after === null ? rows.slice(-x.q.size) : rows.slice(0, x.q.size);
    return { status: 200, body: { legs: rows.map((r) => down('leg', shown('leg', r, x.caller, 'list leg'), x.v, true)), more } };
  },
  'read leg'(x) { const row = load(x, 'leg'); return tagged(x, rowTag('leg', row, x.caller, x.v), see(x, 'leg', row)); },
  'replace leg'(x) {
    const row = load(x, 'leg');
    ifMatch(x, 'leg', row, false);
    const vals = read('leg', x.body, x.v, 'replace', { stored: row, caller: x.caller });
    const next = { ...row, ...vals };
    if (clash('leg', next, ['trip', 'start', 'end'], row)) refuse('taken');
    Object.assign(row, vals);
    return { status: 200, body: see(x, 'leg', row) };
  },
  'delete leg'(x) { const row = load(x, 'leg'); drop('leg', row); return { status: 204 }; },
  'create permit'(x) {
    const cave = find(x, 'cave', x.p.cave);
    const vals = read('permit', x.body, x.v, 'create', { bound: { cave: cave.code }, caller: x.caller });
    gateNext(x, 'permit', vals);
    if (cave.access === 'shut') refuse('cave_barred');
    const t = now(), key = `${x.caller.club} ${dayOf(t)}`, used = quota.get(key) ?? 0;
    if (used >= 20) refuse('spent', { headers: { 'Retry-After': String(Math.ceil((dayEnd(t) - t) / 1000)) } });
    quota.set(key, used + 1);
    const row = { id: crypto.randomUUID(), cave: cave.code, ...vals, holder: x.caller.id, club: x.caller.club, fee_cents: vals.days * vals.heads * 150, asked_at: iso(t) };
    hide(row, '_epoch'); row._epoch = 0;
    put('permit', row);
    enterVerdict(row, cave.access === 'free' ? 'granted' : 'applied', true);
    return made(x, 'permit', row, `/permits/${row.id}`);
  },
  'list permit'(x) {
    let rows = [...(x.q.cave !== undefined ? of('permit.cave', x.q.cave) : db.permit.values())].filter((r) => grants('list permit', r, x.caller).length);
    if (x.q.verdict) rows = rows.filter((r) => x.q.verdict.includes(r.verdict));
    sortBy(rows, 'asked_at', true, Date.parse);
    return pageOf(x, 'permit', rows);
  },
  'read permit'(x) { return { status: 200, body: see(x, 'permit', load(x, 'permit')) }; },
  'grant permit'(x) {
    const row = load(x, 'permit');
    readInline(x.body, { terms: { type: 'string', minLength: 1, maxLength: 120 } });
    if (row.verdict !== 'applied') refuse('wrong_stage');
    row.decided_by = x.caller.id; row.terms = x.body.terms ?? 'as usual';
    enterVerdict(row, 'granted');
    emit('permit.decided', 'permit', row, cut('permit', row));
    return { status: 200, body: see(x, 'permit', row) };
  },
  'decline permit'(x) {
    const row = load(x, 'permit');
    if (row.verdict !== 'applied') refuse('wrong_stage');
    if (!F('r3')) row.decided_by = x.caller.id;
    enterVerdict(row, 'declined');
    emit('permit.decided', 'permit', row, cut('permit', row));
    return { status: 200, body: see(x, 'permit', row) };
  },
  'withdraw permit'(x) {
    const row = load(x, 'permit');
    if (row.verdict !== 'applied' && row.verdict !== 'granted') refuse('wrong_stage');
    enterVerdict(row, 'withdrawn');
    return { status: 200, body: see(x, 'permit', row) };
  },
  'list alert'(x) {
    let rows = [...db.alert.values()].filter((r) => grants('list alert', r, x.caller).length);
    if (x.q.stage) rows = rows.filter((r) => x.q.stage.includes(r.stage));
    if (x.q.trip !== undefined) rows = rows.filter((r) => r.trip === x.q.trip);
    sortBy(rows, 'raised_at', true, Date.parse);
    return pageOf(x, 'alert', rows);
  },
  'read alert'(x) { return { status: 200, body: see(x, 'alert', load(x, 'alert')) }; },
  'take alert'(x) {
    const row = load(x, 'alert');
    if (row.stage !== 'raised' && row.stage !== 'urgent') refuse('wrong_stage');
    row.taken_by = x.caller.id; row.stage = 'taken';
    return { status: 200, body: see(x, 'alert', row) };
  },
  'close alert'(x) {
    const row = load(x, 'alert');
    if (row.stage === 'closed') refuse('wrong_stage');
    closeAlert(row);
    return { status: 200, body: see(x, 'alert', row) };
  },
  'create listener'(x) {
    const vals = read('listener', x.body, x.v, 'create', { caller: x.caller });
    const row = { id: `L-${random(8, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')}`, owner: x.caller.id, ...vals, secret: `lsn_${random(32)}` };
    if (clash('listener', row, ['owner', 'label'])) refuse('taken');
    let n = 0; for (const l of db.listener.values()) if (l.owner === row.owner) n++;
    if (n >= 4) refuse('spent');
    hide(row, '_maker', '_version'); row._maker = x.caller; row._version = x.v;
    put('listener', row);
    listening.set(row.id, { lanes: new Map(), failingSince: null });
    const a = made(x, 'listener', row, `/listeners/${row.id}`);
    a.kept = a.body; a.body = { ...a.body, secret: row.secret };
    return a;
  },
  'list listener'(x) {
    const rows = [...db.listener.values()].filter((r) => grants('list listener', r, x.caller).length);
    sortBy(rows, 'label', false);
    return pageOf(x, 'listener', rows);
  },
  'read listener'(x) { return { status: 200, body: see(x, 'listener', load(x, 'listener')) }; },
  'update listener'(x) {
    const row = load(x, 'listener');
    const vals = read('listener', x.body, x.v, 'update', { stored: row, caller: x.caller });
    const next = merged(row, vals);
    if (clash('listener', next, ['owner', 'label'], row)) refuse('taken');
    assign(row, next);
    return { status: 200, body: see(x, 'listener', row) };
  },
  'delete listener'(x) { const row = load(x, 'listener'); drop('listener', row); listening.delete(row.id); return { status: 204 }; },
  'list bulletin'(x) {
    let rows = [...db.bulletin.values()].filter((r) => grants('list bulletin', r, x.caller).length);
    if (x.q.topic !== undefined) rows = rows.filter((r) => r.topic === x.q.topic);
    if (x.q.about !== undefined) rows = rows.filter((r) => r.about === x.q.about);
    sortBy(rows, 'told_at', true, Date.parse);
    return pageOf(x, 'bulletin', rows);
  },
  'read bulletin'(x) { return { status: 200, body: see(x, 'bulletin', load(x, 'bulletin')) }; },
};
function purge() {
  const t = now();
  for (const [id, b] of db.bulletin) { if (Date.parse(b.told_at) + 20 * D > t) break; db.bulletin.delete(id); }
  for (const [code, s] of struck) if (s.until <= t) struck.delete(code);
}
function merged(row, vals) { const next = { ...row }; for (const [k, x] of Object.entries(vals)) if (x === undefined) delete next[k]; else next[k] = x; return next; }
const changed = (row, next) => { const a = Object.keys(row), b = Object.keys(next); return a.length !== b.length || b.some((k) => !same(row[k], next[k])); };
function assign(row, next) { for (const k of Object.keys(row)) if (!(k in next)) delete row[k]; Object.assign(row, next); }
function sortBy(rows, key, desc, by = (s) => s) {
  const cmp = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  rows.sort((a, b) => (desc ? cmp(by(b[key]), by(a[key])) : cmp(by(a[key]), by(b[key]))) || a._seq - b._seq);
}
function pageOf(x, res, rows, choose = (o) => o) {
  const { sheet, size } = x.q, start = (sheet - 1) * size, part = rows.slice(start, start + size), more = rows.length > start + size;
  const link = (n, rel) => { const u = new URLSearchParams(x.search); u.set('sheet', n); u.set('rows', size); return `<${F('p2') ? '' : BASE}/${x.v}${x.path}?${u}>; rel="${rel}"`; };
  const l = [];
  if (more) l.push(link(sheet + 1, 'next'));
  if (sheet > 1) l.push(link(sheet - 1, 'prev'));
  l.push(link(1, 'first'));
  return { status: 200, links: l, body: { entries: part.map((r) => choose(down(res, shown(res, r, x.caller, `list ${res}`), x.v, true))), total: rows.length, more } };
}

// ---------------------------------------------------------------- parameters
const P = {
  text: (s) => s,
  one: (list) => (s) => (list.includes(s) ? s : undefined),
  some: (list, up = {}) => (s) => { const a = s.split(','); return a.length <= 100 && a.every((e) => list.includes(e)) ? a.map((e) => up[e] ?? e) : undefined; },
  bool: (s) => (s === 'true' ? true : s === 'false' ? false : undefined),
  int: (s) => (/^-?(0|[1-9]\d{0,15})$/.test(s) ? Number(s) : undefined),
  num: (s) => (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(s) ? Number(s) : undefined),
  time: (s) => (isDateTime(s) ? Date.parse(s) : undefined),
};
const oldVerdicts = VERDICTS.map((v) => V1_VERDICT[v] ?? v);
const PARAMS = {
  'list cave': (v) => ({
    kind: P.some(R.cave.fields.kind.enum),
    ...(v === 'v1' ? {} : { access: P.one(R.cave.fields.access.enum) }),
    ...(old(v) ? { depth_m: [(s) => { const n = P.num(s); return n === undefined || n < 0 || n > 2500 ? undefined : n; }, 'depth'] } : { depth_cm: [(s) => { const n = P.int(s); return n === undefined || n < 0 || n > 250000 ? undefined : n; }, 'depth'] }),
    named: P.text, busy: P.bool,
    by: (s) => ({ name: ['name', false], '-name': ['name', true], depth: ['depth_cm', false], '-depth': ['depth_cm', true] })[s],
    way: P.one(['asc', 'desc']) }),
  'list trip': (v) => ({
    cave: P.text, state: P.some(TRIP_STATES), leader: P.text, entering_after: P.time, entering_by: P.time,
    sort: (s) => ({ enters_at: ['enters_at', false], '-enters_at': ['enters_at', true], callout_at: ['callout_at', false], '-callout_at': ['callout_at', true] })[s],
    only: (s) => { const names = s.split(','); return names.length <= 100 && names.every((n) => shapeOf('trip', v).has(n)) ? new Set(names) : undefined; } }),
  'read trip': () => ({ with: (s) => (s.split(',').every((e) => e === 'cave') ? true : undefined) }),
  'list mate': () => ({ task: P.one(R.mate.fields.task.enum) }),
  'list leg': () => ({ splay: P.bool, longer_than: P.int }),
  'list permit': (v) => ({ cave: P.text, verdict: v === 'v1' ? P.some(oldVerdicts, V1_VERDICT_UP) : P.some(VERDICTS) }),
  'list alert': () => ({ stage: P.some(STAGES), trip: P.text }),
  'list bulletin': () => ({ topic: P.text, about: P.text }),
};
const PAGED = new Set(['list cave', 'list trip', 'list permit', 'list alert', 'list listener', 'list bulletin']);
function parameters(x) {
  const q = {}, page = {}, wrong = [], badPage = [];
  const defs = PARAMS[x.op]?.(x.v) ?? {}, seen = new Set();
  const paging = PAGED.has(x.op) ? ['sheet', 'rows'] : x.op === 'list leg' ? ['after', 'before', 'count'] : [];
  for (const [k, s] of new URLSearchParams(x.search)) {
    if (paging.includes(k)) { if (k in page) badPage.push({ in: 'query', path: k, expected: 'once' }); page[k] = s; continue; }
    const bad = (expected) => wrong.push({ in: 'query', path: k, expected });
    if (!Object.hasOwn(defs, k)) { bad('no such parameter'); continue; }
    if (seen.has(k) && k !== 'only' && k !== 'with') { bad('once'); continue; }
    const [parse, name] = Array.isArray(defs[k]) ? defs[k] : [defs[k], k];
    const val = parse(s);
    if (val === undefined) { bad('another value'); continue; }
    q[name] = k === 'only' && seen.has(k) ? new Set([...(q.only ?? []), ...val]) : val;
    seen.add(k);
  }
  if (x.route.keyed === 'required' && !x.req.headers['once-key']) wrong.push({ in: 'header', path: 'Once-Key', expected: 'a key' });
  if (wrong.length) refuse('bad_query', { faults: wrong });
  if (paging.length) {
    const whole = (k, def, lo, hi) => {
      if (page[k] === undefined) return def;
      if (!/^\d{1,15}$/.test(page[k]) || Number(page[k]) < lo || Number(page[k]) > hi) { badPage.push({ in: 'query', path: k, expected: `a whole number from ${lo}` }); return def; }
      return Number(page[k]);
    };
    if (x.op === 'list leg') { q.size = whole('count', 25, 1, Infinity); if (q.size > 50) { q.size = 50; } q.after = page.after; q.before = page.before; }
    else { q.sheet = whole('sheet', 1, 1, Infinity); q.size = whole('rows', 10, 1, 40); }
    if (badPage.length) refuse('bad_page', { faults: badPage });
  }
  x.q = q;
}

// ---------------------------------------------------------------- routes
const ROUTES = [];
const route = (method, path, op, more = {}) => {
  const names = [];
  const rx = new RegExp(`^${path.replace(/\{(\w+)\}/g, (_, n) => { names.push(n); return '([^/]+)'; })}$`);
  ROUTES.push({ method, path, rx, names, op, keyed: method === 'POST' ? 'optional' : null, ...more });
};
route('POST', '/caves', 'create cave', { body: true });
route('GET', '/caves', 'list cave');
route('GET', '/caves/{code}', 'read cave');
route('PATCH', '/caves/{code}', 'update cave', { body: true });
route('DELETE', '/caves/{code}', 'delete cave');
route('POST', '/trips', 'create trip', { body: true });
route('GET', '/trips', 'list trip');
route('GET', '/trips/{id}', 'read trip');
route('PATCH', '/trips/{id}', 'update trip', { body: true });
route('POST', '/trips/{id}/enter', 'enter trip');
route('POST', '/trips/{id}/extend', 'extend trip', { body: true });
route('POST', '/trips/{id}/surface', 'surface trip');
route('POST', '/trips/{id}/account', 'account trip', { body: true });
route('POST', '/trips/{id}/cancel', 'cancel trip');
route('POST', '/trips/{trip}/mates', 'create mate', { body: true });
route('GET', '/trips/{trip}/mates', 'list mate');
if (!F('p5')) route('DELETE', '/mates/{id}', 'delete mate');
route('POST', '/trips/{trip}/legs', 'create leg', { body: true });
route('GET', '/trips/{trip}/legs', 'list leg');
route('GET', '/legs/{id}', 'read leg');
route('PUT', '/legs/{id}', 'replace leg', { body: true });
route('DELETE', '/legs/{id}', 'delete leg');
route('POST', '/caves/{cave}/permits', 'create permit', { body: true, keyed: 'required' });
route('GET', '/permits', 'list permit');
route('GET', '/permits/{id}', 'read permit');
route('POST', '/permits/{id}/grant', 'grant permit', { body: 'optional' });
route('POST', '/permits/{id}/decline', 'decline permit');
route('POST', '/permits/{id}/withdraw', 'withdraw permit');
route('GET', '/alerts', 'list alert');
if (!F('p6')) route('GET', '/alerts/{id}', 'read alert');
route('POST', '/alerts/{id}/take', 'take alert');
route('POST', '/alerts/{id}/close', 'close alert');
route('POST', '/listeners', 'create listener', { body: true });
route('GET', '/listeners', 'list listener');
route('GET', '/listeners/{id}', 'read listener');
route('PATCH', '/listeners/{id}', 'update listener', { body: true });
route('DELETE', '/listeners/{id}', 'delete listener');
route('GET', '/bulletins', 'list bulletin', { since: 'v2' });
route('GET', '/bulletins/{id}', 'read bulletin', { since: 'v2' });

const matching = (path, v) => ROUTES.filter((r) => r.rx.test(path) && !(r.since && v === 'v1'));
const allowed = (rs) => [...new Set(rs.flatMap((r) => (r.method === 'GET' ? ['GET', 'HEAD'] : [r.method])).concat('OPTIONS'))].join(', ');

// finds version and route; x.v is set as soon as it is known
function findRoute(x, path) {
  if (!path.startsWith(`${BASE}/`)) refuse('no_way');
  const rest = path.slice(BASE.length), m = /^\/([^/]+)(\/.*)$/.exec(rest);
  if (m && VERSIONS.includes(m[1])) x.v = m[1];
  let named = m?.[1], rs = m ? matching(m[2], m[1]) : [];
  x.path = m?.[2];
  if (!rs.length) { rs = matching(rest, CURRENT); named = null; x.path = rest; }
  if (!rs.length) { if (x.v) x.path = m[2]; refuse('no_way'); }
  const method = x.req.method === 'HEAD' ? 'GET' : x.req.method;
  const r = rs.find((k) => k.method === method);
  if (!r && method !== 'OPTIONS') refuse('no_verb', { headers: { Allow: allowed(rs) } });
  if (named === null && F('n3')) { x.v = CURRENT; named = CURRENT; }
  if (named === null || !VERSIONS.includes(named)) refuse('no_edition');
  if (named === 'v1' && now() >= SUNSET_V1 + (F('n5') ? D : 0)) refuse('edition_over');
  if (method === 'OPTIONS') return { options: allowed(rs) };
  const values = r.rx.exec(x.path).slice(1);
  x.p = {};
  r.names.forEach((n, i) => { try { x.p[n] = decodeURIComponent(values[i]); } catch { x.p[n] = '\0'; } });
  x.idName = r.names.at(-1);
  return r;
}

// ---------------------------------------------------------------- bodies
function readBody(x) {
  const r = x.route, mime = x.req.headers['content-type'], raw = x.raw;
  if (!r.body) { if (x.tooBig) refuse('too_big'); return; }
  const empty = raw.length === 0 && !x.tooBig;
  if (empty && r.body === 'optional') { x.body = {}; return; }
  if (empty) refuse('empty_sheet');
  const type = (mime ?? '').split(';')[0].trim().toLowerCase();
  if (type !== 'application/json' && !(r.method === 'PATCH' && type === 'application/merge-patch+json')) refuse('not_json');
  if (x.tooBig) refuse('too_big');
  try { x.body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)); } catch { refuse('unreadable'); }
}

// ---------------------------------------------------------------- one request
const kept = new Map(); // keys: caller + operation + key -> { print, until, answer }
const KEEP = 12 * H;
function answer(x) {
  if (Buffer.byteLength(x.req.url) > 1024) refuse('long_address');
  let head = 0;
  for (let i = 0; i < x.req.rawHeaders.length; i += 2) head += Buffer.byteLength(x.req.rawHeaders[i], 'latin1') + Buffer.byteLength(x.req.rawHeaders[i + 1], 'latin1') + 4;
  if (head > 8192) refuse('long_head');
  const qm = x.req.url.indexOf('?'), path = qm < 0 ? x.req.url : x.req.url.slice(0, qm);
  x.search = qm < 0 ? '' : x.req.url.slice(qm + 1);
  x.route = findRoute(x, path);
  if (x.route.options) return { status: 204, headers: { Allow: x.route.options } };
  x.op = x.route.op;
  const early = F('x1') && /^list/.test(x.op);
  if (!early) parameters(x);
  readBody(x);
  const c = findCaller(x.req);
  if (c.none && !(rules[x.op] ?? []).some((r) => r.to.includes('anyone'))) c.fail('no_tally');
  x.caller = c.caller ?? null;
  if (early) parameters(x);
  askRates(x);
  const mine = (rules[x.op] ?? []).filter((r) => meant(r, x.caller));
  if (!mine.length) refuse('not_yours');
  if (!mine.some((r) => scoped(r, x.caller))) refuse('scope_short', { headers: x_bearer.get(x.req) ? { 'WWW-Authenticate': 'Bearer realm="Underlog", error="insufficient_scope"' } : {} });
  const key = x.route.keyed ? x.req.headers['once-key'] : undefined;
  if (!key) return OPS[x.op](x);
  const id = `${x.caller.user} ${x.caller.id} ${x.op} ${key}`, print = hash(`${x.path}?${x.search} ${x.v} ${x.raw.toString('latin1')}`), t = now();
  const was = kept.get(id);
  if (was && was.until > t) {
    if (was.print !== print) refuse('key_reused');
    if (was.refusal) throw was.refusal;
    return was.answer;
  }
  try {
    const a = OPS[x.op](x);
    kept.set(id, { print, until: t + KEEP, answer: { ...a, body: a.kept ?? a.body } });
    return a;
  } catch (e) {
    if (e instanceof Refusal && OWN.has(e.code)) kept.set(id, { print, until: t + KEEP, refusal: e });
    throw e;
  }
}
function finish(x, res) {
  let a;
  const ticket = crypto.randomUUID();
  runDue(); purge();
  stepping = now(); // one request has one time
  try { a = answer(x); } catch (e) {
    if (!(e instanceof Refusal)) { console.error(e); e = new Refusal('broken'); }
    a = refusalOf(e, ticket);
  }
  try { send(x, res, a, ticket); } finally { stepping = null; }
}
function refusalOf(e, ticket) {
  const [status, says] = CODES[e.code];
  const faults = e.faults?.map(({ in: where, path, expected }) => ({ in: where, path: F('x6') ? `/${path.replaceAll('.', '/')}` : path, ...(expected ? { expected } : {}) }));
  return { status, body: { ok: false, code: e.code, says, ticket, ...(faults?.length ? { faults } : {}) }, headers: { ...e.headers, 'Underlog-Code': e.code }, refused: true };
}
function send(x, res, a, ticket) {
  const h = { 'Underlog-Ticket': ticket, Vary: 'X-Tally, Authorization', ...a.headers };
  const links = [...(a.links ?? [])];
  if (x.rated) {
    const t = now();
    for (const [r, key, cost] of x.rated) if (r.uncounted?.includes(a.status)) r.giveBack(key, cost, t);
    Object.assign(h, rateHeaders(x.rated, t));
  }
  if (x.v === 'v1') {
    h.Deprecation = `@${Date.parse('2024-02-01') / 1000}`;
    h.Sunset = new Date(SUNSET_V1).toUTCString();
    links.push('<https://underlog.example/moving>; rel="deprecation"', `<${BASE}/v3${x.path ?? ''}${x.search ? `?${x.search}` : ''}>; rel="successor-version"`);
  } else if (x.v === 'v2') h.Deprecation = `@${Date.parse('2025-05-01') / 1000}`;
  if (links.length) h.Link = links.join(', ');
  if (a.body === undefined) { res.writeHead(a.status, h); res.end(); return; }
  const text = Buffer.from(JSON.stringify(a.body));
  h['Content-Type'] = 'application/json'; h['Content-Length'] = text.length;
  res.writeHead(a.status, h);
  res.end(x.req.method === 'HEAD' ? undefined : text);
}
const MAX = 6 * 1024;
const server = http.createServer({ maxHeaderSize: 65536, headersTimeout: 5000, requestTimeout: 0, keepAliveTimeout: 30000, keepAliveTimeoutBuffer: 0, connectionsCheckingInterval: 500 }, (req, res) => {
  const x = { req, address: req.socket.remoteAddress };
  const chunks = []; let n = 0, over = false;
  const limit = setTimeout(() => { if (over) return; over = true; res.setHeader('Connection', 'close'); const t = crypto.randomUUID(); send(x, res, refusalOf(new Refusal('too_slow'), t), t); }, 5000);
  req.on('data', (c) => { n += c.length; if (n <= (F('l3') ? MAX - 1 : MAX)) chunks.push(c); else { x.tooBig = true; if (n > 16 << 20) req.destroy(); } });
  req.on('end', () => { clearTimeout(limit); if (over) return; over = true; x.raw = Buffer.concat(chunks); finish(x, res); });
  req.on('error', () => clearTimeout(limit));
  req.on('close', () => clearTimeout(limit));
});
server.on('clientError', (e, socket) => {
  if (!socket.writable) return socket.destroy();
  const code = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : e.code === 'HPE_HEADER_OVERFLOW' ? 'long_head' : 'unreadable';
  const a = refusalOf(new Refusal(code), crypto.randomUUID()), text = JSON.stringify(a.body);
  socket.end(`HTTP/1.1 ${a.status} ${http.STATUS_CODES[a.status]}\r\nContent-Type: application/json\r\nUnderlog-Code: ${code}\r\nUnderlog-Ticket: ${a.body.ticket}\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(Number(args.port), '127.0.0.1');

// ---------------------------------------------------------------- the clock's door
const DUR = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
function later(t, text) {
  const m = DUR.exec(text);
  if (!m) return null;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((k) => Number(k ?? 0)), b = new Date(t);
  if (y || mo) { const day = b.getUTCDate(); b.setUTCDate(1); b.setUTCMonth(b.getUTCMonth() + 12 * y + mo); b.setUTCDate(Math.min(day, new Date(Date.UTC(b.getUTCFullYear(), b.getUTCMonth() + 1, 0)).getUTCDate())); }
  return b.getTime() + (7 * w + d) * D + h * H + mi * 60e3 + Math.round(s * 1000);
}
const settle = async () => { for (const end = Date.now() + 900; Date.now() < end;) { await new Promise((r) => setImmediate(r)); if (!inFlight.size) return; await Promise.race([Promise.all(inFlight), new Promise((r) => setTimeout(r, 400))]); } };
http.createServer((req, res) => {
  let text = '';
  req.on('data', (c) => { text += c; });
  req.on('end', async () => {
    const say = (status, body) => { res.writeHead(status, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(body)); };
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    let b = null; try { b = JSON.parse(text); } catch { /* below */ }
    let to = null;
    if (req.method === 'POST' && b && typeof b === 'object' && Object.keys(b).length === 1) {
      if (typeof b.advance === 'string') to = later(now(), b.advance);
      else if (typeof b.now === 'string' && isDateTime(b.now)) to = Date.parse(b.now);
    }
    if (to === null) return say(400, { error: 'advance or now' });
    if (to < now()) return say(422, { error: 'the clock goes forward' });
    await settle(); // what is under way belongs to the time before
    offset = Math.max(offset, to - Date.now());
    runDue();
    await settle();
    say(200, { now: iso(now()) });
  });
}).listen(Number(args['clock-port']), '127.0.0.1');
setInterval(runDue, 100);
