// Organ Rounds: tuning visits of an organ workshop. One process, in memory, node:http alone.
import http from 'node:http';
import { createHmac, createHash, randomBytes, timingSafeEqual } from 'node:crypto';

// ---------------------------------------------------------------- start
const args = process.argv.slice(2);
const arg = (name) => { const i = args.indexOf(name); return i < 0 ? undefined : args[i + 1]; };
const PORT = Number(arg('--port'));
const CLOCK_PORT = Number(arg('--clock-port'));
const FAULT = arg('--fault') ?? '';
const F = (id) => FAULT === id;

const BASE = '/organ';
const JWT_SECRET = 'organ-rounds-trial-secret-0123456789abcdef';
const ISSUER = 'https://id.organrounds.example';
const AUDIENCE = 'organ-rounds';
const KEYS = new Map([
  ['orgk_stMargaretNorth000000001', { user: 'parish', id: 'st-margaret', district: 'north' }],
  ['orgk_stPeterNorth00000000002x', { user: 'parish', id: 'st-peter', district: 'north' }],
  ['orgk_allSaintsSouth0000000003', { user: 'parish', id: 'all-saints', district: 'south' }],
]);

// ---------------------------------------------------------------- clock and timers
let offset = 0, vnow = null;
const now = () => vnow ?? Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();
const S = 1000, MIN = 60 * S, H = 60 * MIN, D = 24 * H;

const heap = [];
let timerSeq = 0;
const before = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
function timer(at, fn) {
  const e = { at, seq: timerSeq++, fn };
  let i = heap.push(e) - 1;
  while (i > 0) { const p = (i - 1) >> 1; if (!before(heap[i], heap[p])) break; [heap[i], heap[p]] = [heap[p], heap[i]]; i = p; }
}
function popTimer() {
  const top = heap[0], last = heap.pop();
  if (heap.length) {
    heap[0] = last;
    for (let i = 0; ;) {
      const l = 2 * i + 1, r = l + 1; let m = i;
      if (l < heap.length && before(heap[l], heap[m])) m = l;
      if (r < heap.length && before(heap[r], heap[m])) m = r;
      if (m === i) break;
      [heap[i], heap[m]] = [heap[m], heap[i]]; i = m;
    }
  }
  return top;
}
function runDue(target) {
  const floor = now();
  while (heap.length && heap[0].at <= target) {
    const e = popTimer();
    vnow = Math.max(e.at, floor);
    try { e.fn(); } catch (err) { console.error(err); }
  }
  vnow = null;
}
const tick = () => { if (heap.length && heap[0].at <= now()) runDue(now()); };
setInterval(tick, 100).unref();

// ---------------------------------------------------------------- identifiers
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
let lastUlidMs = 0, lastRand = 0n;
function ulid() {
  let ms = now();
  if (ms <= lastUlidMs) { ms = lastUlidMs; lastRand += 1n; }
  else { lastUlidMs = ms; lastRand = BigInt('0x' + randomBytes(9).toString('hex')); }
  let t = '', m = ms;
  for (let i = 0; i < 10; i++) { t = B32[m % 32] + t; m = Math.floor(m / 32); }
  let r = '', x = lastRand;
  for (let i = 0; i < 16; i++) { r = B32[Number(x & 31n)] + r; x >>= 5n; }
  return t + r;
}
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
function randomText(n) {
  let s = '';
  while (s.length < n) for (const b of randomBytes(n * 2)) if (b < 248 && s.length < n) s += ALNUM[b % 62];
  return s;
}

// ---------------------------------------------------------------- faults that are told
const CODES = {
  unreadable: [400, 'The body is missing or is no JSON.'], wrong_media: [415, 'The body has a type that is not taken here.'],
  bad_query: [400, 'A parameter is not as it should be.'], unfit: [422, 'The body does not fit.'],
  unknown_member: [400, 'The body has a member that is not known.'], who_are_you: [401, 'No good credential came with this request.'],
  not_yours: [403, 'This is not for you to do.'], not_there: [404, 'There is no such thing.'],
  no_such_link: [422, 'Something that is referred to is not there.'], not_that_way: [405, 'This method is not taken here.'],
  in_use: [409, 'Something still refers to this.'], wrong_moment: [409, 'It is in a state that does not allow this.'],
  stale_tag: [412, 'It was changed meanwhile.'], tag_wanted: [428, 'Send If-Match with the tag that you have read.'],
  once_reused: [409, 'This key was used for another request.'], too_fast: [429, 'Too many requests.'],
  too_many: [403, 'There may be no more of these.'], too_big: [413, 'The body is too large.'],
  target_too_long: [414, 'The address is too long.'], headers_too_big: [431, 'The header fields are too large.'],
  too_slow: [408, 'The request took too long to arrive.'], no_such_version: [404, 'There is no such version.'],
  version_over: [410, 'This version is served no more.'],
  too_late: [409, 'The visit was begun or is over.'], grave_left: [409, 'A grave finding is still open.'],
  until_is_over: [422, 'The time is not in the future.'], answered_already: [409, 'The order was answered before or has gone stale.'],
  in_the_past: [422, 'A visit is planned for a time to come.'], visit_is_over: [409, 'Nothing is noted at a visit that is over.'],
  too_much_urgency: [422, 'An urgent order has three lines at the most.'],
};
const OWN = new Set(['too_late', 'grave_left', 'until_is_over', 'answered_already', 'in_the_past', 'visit_is_over', 'too_much_urgency']);
class Refusal extends Error {
  constructor(code, violations = [], headers = {}) { super(code); this.code = code; this.violations = violations; this.headers = headers; }
}
const refuse = (code, violations, headers) => { throw new Refusal(code, violations, headers); };
function refusalBody(r, requestId) {
  const [, text] = CODES[r.code];
  let vs = r.violations;
  if (F('first-fault-alone')) vs = vs.slice(0, 1);
  const at = (p) => (F('dotted-places') && p.startsWith('/') ? p.slice(1).replaceAll('/', '.') : p);
  const faults = vs.length ? vs.map((v) => ({ code: r.code, at: at(v.path), says: v.expected })) : [{ code: r.code, says: text }];
  if (F('no-request-at-401') && r.code === 'who_are_you') return { faults };
  return { faults, request: requestId };
}

// ---------------------------------------------------------------- shapes
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|([+-])(\d\d):(\d\d))$/;
function instant(text) {
  const m = typeof text === 'string' && DATE_TIME.exec(text);
  if (!m) return NaN;
  const [y, mo, d, h, mi, s] = m.slice(1, 7).map(Number);
  if (mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || s > 60) return NaN;
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  if (date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d) return NaN;
  const oh = m[9] ? Number(m[10]) : 0, om = m[9] ? Number(m[11]) : 0;
  if (oh > 23 || om > 59) return NaN;
  const off = (m[9] === '-' ? -1 : 1) * (oh * 60 + om) * MIN;
  const t = date.getTime() + h * H + mi * MIN + s * S + (m[7] ? Math.floor(Number('0' + m[7]) * 1000) : 0) - off;
  if (s === 60) { const u = new Date(t - S); if (u.getUTCHours() !== 23 || u.getUTCMinutes() !== 59) return NaN; }
  return t;
}
const URI = /^[a-zA-Z][a-zA-Z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-fA-F]{2})*$/;
function isUri(s) {
  if (!URI.test(s)) return false;
  try { new URL(s); } catch { return false; }
  return s.split('#').length <= 2;
}
const len = (s) => { let n = 0; for (const _ of s) n++; return n; };
const esc = (k) => k.replaceAll('~', '~0').replaceAll('/', '~1');

function expectedOf(s) {
  if (s.enum) return 'one of ' + s.enum.join(', ');
  if (s.pat) return 'a text that matches ' + s.pat.source;
  if (s.fmt) return 'a text in the format ' + s.fmt;
  if (s.t === 'array') return `a list of ${s.min ?? 0} to ${s.max ?? 'any number of'} items`;
  if (s.t === 'object') return 'a map';
  const bounds = s.min !== undefined || s.max !== undefined ? ` from ${s.min ?? '-'} to ${s.max ?? '-'}` : '';
  return (s.t === 'string' ? 'a text' : s.t === 'integer' ? 'a whole number' : s.t === 'boolean' ? 'true or false' : 'a number') + (s.t === 'string' && bounds ? ' of a length' : '') + bounds;
}
/** Pushes what is wrong with a value; says whether it is all right. */
function check(s, v, path, out) {
  const bad = () => { out.push({ path, expected: expectedOf(s) }); return false; };
  switch (s.t) {
    case 'string': {
      if (typeof v !== 'string') return bad();
      if (s.enum && !s.enum.includes(v)) return bad();
      if (s.min !== undefined && len(v) < s.min) return bad();
      if (s.max !== undefined && len(v) > s.max) return bad();
      if (s.pat && !s.pat.test(v)) return bad();
      if (s.fmt === 'date-time' && Number.isNaN(instant(v))) return bad();
      if (s.fmt === 'uri' && !isUri(v)) return bad();
      return true;
    }
    case 'integer': case 'number':
      if (typeof v !== 'number' || !Number.isFinite(v) || (s.t === 'integer' && !Number.isInteger(v))) return bad();
      if (v < s.min || v > s.max) return bad();
      return true;
    case 'boolean': return typeof v === 'boolean' || bad();
    case 'array': {
      if (!Array.isArray(v)) return bad();
      let ok = true;
      if ((s.min !== undefined && v.length < s.min) || (s.max !== undefined && v.length > s.max)) ok = bad();
      v.forEach((x, i) => { if (!check(s.items, x, `${path}/${i}`, out)) ok = false; });
      return ok;
    }
    case 'object': {
      if (v === null || typeof v !== 'object' || Array.isArray(v)) return bad();
      let ok = true;
      for (const k of Object.keys(v)) {
        if (!Object.hasOwn(s.props, k)) {
          if (s.closed) { out.push({ path: `${path}/${esc(k)}`, expected: 'no such member', unknown: true }); ok = false; }
        } else if (!check(s.props[k], v[k], `${path}/${esc(k)}`, out)) ok = false;
      }
      for (const k of Object.keys(s.props)) if (s.props[k].req && !Object.hasOwn(v, k)) { out.push({ path: `${path}/${k}`, expected: expectedOf(s.props[k]) }); ok = false; }
      return ok;
    }
    case 'kinds': {
      if (typeof v !== 'string') { out.push({ path, expected: 'a text' }); return false; }
      const ok = v === '*' || Object.hasOwn(KINDS, v) || (v.endsWith('.*') && Object.keys(KINDS).some((k) => k.startsWith(v.slice(0, -1))));
      if (!ok) out.push({ path, expected: 'a kind of event' });
      return ok;
    }
  }
  return true;
}

const RANKS = ['principal', 'flute', 'string', 'reed', 'pedal'];
const VISIT_STATES = ['planned', 'underway', 'finished', 'cancelled', 'lapsed', 'abandoned'];
const FINDING_STATES = ['noted', 'deferred', 'mended'];
const ORDER_STATES = ['drafted', 'approved', 'declined', 'stale', 'delivered'];
const CODE_PATTERN = /^[a-z]{2,10}-[0-9]{1,3}$/;
const dt = { t: 'string', fmt: 'date-time' };
const LINE = { t: 'object', closed: true, props: { part: { t: 'string', min: 1, max: 60, req: true }, quantity: { t: 'integer', min: 1, max: F('hundred-of-a-part') ? 100 : 99, req: true }, cents: { t: 'integer', min: 0, max: 1000000, req: true } } };
const ro = { ro: true };

const FIELDS = {
  instrument: {
    code: { t: 'string', pat: CODE_PATTERN, req: true, imm: true }, name: { t: 'string', min: 2, max: 60, req: true }, parish: { t: 'string', min: 1, max: 40, req: true },
    builder: { t: 'string', min: 1, max: 60 }, stops: { t: 'integer', min: 1, max: F('one-stop-more') ? 201 : 200, req: true }, pitch: { t: 'integer', min: 3900, max: 4800, req: true },
    action: { t: 'string', enum: ['mechanical', 'pneumatic', 'electric'], req: true }, temperament: { t: 'string', enum: ['equal', 'meantone', 'werckmeister'], req: true, def: 'equal' },
    district: ro, planned: ro, updated_at: ro,
  },
  visit: {
    id: ro, number: ro, instrument: { t: 'string', req: true, imm: true }, tuner: ro, handed_by: ro, district: ro, planned_for: { ...dt, req: true },
    minutes: { t: 'integer', min: 15, max: 480, req: true, def: F('an-hour-by-default') ? 60 : 90 }, access: { t: 'string', min: 1, max: 120 }, notes: { t: 'string', min: 1, max: 400 },
    findings: { children: true }, status: ro, begun_at: ro, finished_at: ro, pitch_left: ro, grave_open: ro,
  },
  finding: {
    id: ro, visit: { t: 'string', req: true, imm: true }, rank: { t: 'string', enum: RANKS, req: true }, severity: { t: 'string', enum: ['minor', 'major', 'grave'], req: true },
    note: { t: 'string', min: 1, max: 300, req: true }, status: ro, until: ro, mended_by: ro,
  },
  order: {
    id: ro, number: ro, instrument: { t: 'string', req: true, imm: true }, buyer: ro, lines: { t: 'array', items: LINE, min: 1, max: 8, req: true }, line_count: ro,
    urgent: { t: 'boolean', req: true, def: false }, needed_from: { ...dt }, needed_by: { ...dt }, status: ro, approved_by: ro, reason: ro, delivered_at: ro,
  },
  hook: {
    id: ro, owner: ro, url: { t: 'string', fmt: 'uri', pat: /^https?:\/\//, max: 300, req: true }, secret: ro, kinds: { t: 'array', items: { t: 'kinds' }, min: 1, max: 12 },
  },
};

// ---------------------------------------------------------------- versions
const VERSIONS = ['v1', 'v2'];
const V1_DEPRECATED = Date.UTC(2026, 8, 1), V1_SUNSET = Date.UTC(2028, 2, 1);
const SEVERITY_DOWN = { minor: 'slight', major: 'serious', grave: 'grave' };
const SEVERITY_UP = { slight: 'minor', serious: 'major', grave: 'grave' };

/** The fields of a resource in a version: name there -> { spec, to: newest name, up }. */
function fieldsIn(res, v) {
  const out = {};
  for (const [name, spec] of Object.entries(FIELDS[res])) {
    if (v === 'v1') {
      if ((res === 'visit' && name === 'access' && !F('access-in-v1')) || (res === 'instrument' && name === 'temperament')) continue;
      if (res === 'visit' && name === 'minutes') { out.duration = { spec, to: 'minutes' }; continue; }
      if (res === 'instrument' && name === 'pitch') {
        out.pitch = { spec: { t: 'number', min: 390, max: 480, req: true }, to: 'pitch', up: (x) => (F('pitch-cut-off') ? Math.trunc(x * 10) : Math.round(x * 10)) };
        continue;
      }
      if (res === 'finding' && name === 'severity') { out.severity = { spec: { ...spec, enum: ['slight', 'serious', 'grave'] }, to: 'severity', up: (x) => SEVERITY_UP[x] }; continue; }
    }
    out[name] = { spec, to: name };
  }
  return out;
}
const IN = { v1: {}, v2: {} };
for (const v of VERSIONS) for (const res of Object.keys(FIELDS)) IN[v][res] = fieldsIn(res, v);

/**
 * Reads a body: mode is create, replace or patch. Gives values under their newest names (null = taken away)
 * and pushes what is wrong, in the order in which it was sent, what is missing last.
 */
function readBody(res, mode, v, body, out, { path = '', bound = {}, omit } = {}) {
  const vals = {}, fields = IN[v][res];
  if (body === null || typeof body !== 'object' || Array.isArray(body)) { out.push({ path, expected: 'a map' }); return vals; }
  for (const name of Object.keys(body)) {
    const at = `${path}/${esc(name)}`;
    const f = Object.hasOwn(fields, name) && name !== omit ? fields[name] : undefined;
    if (!f) { out.push({ path: at, expected: 'no such member', unknown: true }); continue; }
    if (f.spec.ro) continue;
    if (f.spec.children) {
      if (mode !== 'create') continue;
      const list = body[name];
      if (!Array.isArray(list) || list.length > 6) { out.push({ path: at, expected: 'a list of up to 6 items' }); if (!Array.isArray(list)) continue; }
      vals.findings = list.map((x, i) => readBody('finding', 'create', v, x, out, { path: `${at}/${i}`, omit: 'visit' }));
      continue;
    }
    const value = body[name];
    if (value === null && mode === 'patch' && !f.spec.req) { vals[f.to] = F('builder-null-stays') && name === 'builder' ? undefined : null; continue; }
    const shown = F('v1-place-of-minutes') && name === 'duration' ? `${path}/minutes` : at;
    if (value === null) { out.push({ path: shown, expected: expectedOf(f.spec) }); continue; }
    if (!check(f.spec, value, shown, out)) continue;
    const up = f.up && !(F('v1-patch-pitch-as-sent') && mode === 'patch' && name === 'pitch') ? f.up(value) : value;
    if (Object.hasOwn(bound, f.to) && bound[f.to] !== up) {
      if (F('body-beats-path') && res === 'finding' && visits.has(up)) { vals[f.to] = up; continue; }
      out.push({ path: at, expected: 'the same as before' });
      continue;
    }
    vals[f.to] = up;
  }
  if (mode !== 'patch') {
    for (const [name, f] of Object.entries(fields)) {
      if (!f.spec.req || f.spec.def !== undefined || name === omit || Object.hasOwn(body, name)) continue;
      if (Object.hasOwn(bound, f.to)) continue;
      out.push({ path: `${path}/${esc(name)}`, expected: expectedOf(f.spec) });
    }
  }
  return vals;
}
function refuseInvalid(vs) {
  if (!vs.length) return;
  const unknown = vs[0].unknown && !F('unknown-is-unfit');
  throw new Refusal(unknown ? 'unknown_member' : 'unfit', vs);
}

// ---------------------------------------------------------------- rows
const SEQ = Symbol('seq'), ENTERED = Symbol('entered');
let rowSeq = 0;
const instruments = new Map(), visits = new Map(), findings = new Map(), orders = new Map(), hooks = new Map();
const STORES = { instrument: instruments, visit: visits, finding: findings, order: orders, hook: hooks };
const visitsOf = new Map(), findingsOf = new Map(), ordersOf = new Map(), numberOf = new Map();
let orderNumber = 0, allVisits = 0;
const put = (map, key, row) => { let s = map.get(key); if (!s) map.set(key, s = new Set()); s.add(row); };

const derived = {
  instrument: (r) => {
    let planned = 0;
    for (const v of visitsOf.get(r.code) ?? []) if (v.status === 'planned' || (F('lapsed-still-planned') && v.status === 'lapsed')) planned++;
    return { planned };
  },
  visit: (r) => {
    let grave_open = 0;
    for (const f of findingsOf.get(r.id) ?? []) if (f.severity === 'grave' && (f.status === 'noted' || (F('deferred-counts-as-open') && f.status === 'deferred'))) grave_open++;
    return { grave_open };
  },
};
const full = (res, row) => (derived[res] ? { ...row, ...derived[res](row) } : row);

function present(res, r, v, user, { children = false, made = false, place } = {}) {
  const out = {};
  for (const name of Object.keys(FIELDS[res])) {
    if (name === 'notes' && user !== 'tuner' && !F('notes-for-all')) continue;
    if (name === 'secret' && !made && !F('secret-again')) continue;
    if (name === 'findings') {
      if (children) out.findings = [...(findingsOf.get(r.id) ?? [])].slice(0, 20).map((x) => present('finding', x, v, user, { place: 'child' }));
      continue;
    }
    const value = r[name];
    if (value === undefined || value === null) continue;
    if (v === 'v1') {
      if ((res === 'visit' && name === 'access' && !F('access-in-v1')) || (res === 'instrument' && name === 'temperament')) continue;
      if (res === 'visit' && name === 'minutes') { out.duration = value; continue; }
      if (res === 'instrument' && name === 'pitch') { out.pitch = value / 10; continue; }
      if (res === 'finding' && name === 'severity') { out.severity = F('severity-of-children') && place === 'child' ? value : SEVERITY_DOWN[value]; continue; }
    }
    out[name] = value;
  }
  return out;
}
const show = (res, row, c, extra = {}) => present(res, full(res, row), c.v, c.caller.user, { children: res === 'visit', ...extra });

const sha = (text) => createHash('sha256').update(text).digest('base64url').slice(0, 22);
/** A tag has two halves: the row, and the children shown in it. If-Match looks at the first alone. */
function tagOf(res, row, c) {
  const shown = show(res, row, c);
  const { findings: kids, ...own } = shown;
  return `"${sha(c.v + JSON.stringify(own))}.${kids ? sha(JSON.stringify(kids)) : '0'}"`;
}
function ifMatch(c, res, row, mode) {
  const sent = c.req.headers['if-match'];
  if (sent === undefined) { if (mode === 'required') refuse('tag_wanted'); return; }
  if (F('any-tag-deletes') && c.op === 'delete instrument') return;
  if (sent.trim() === '*') return;
  const mine = tagOf(res, row, c).split('.')[0];
  for (const t of sent.split(',')) if (t.trim().startsWith('"') && t.trim().split('.')[0] === mine && /^"[^"]*"$/.test(t.trim())) return;
  if (F('weak-tags-match') && sent.trim().startsWith('W/') && sent.trim().slice(2).split('.')[0] === mine) return;
  refuse('stale_tag');
}

// ---------------------------------------------------------------- who may read what
/** What the rules look at: the district and the parish that a row belongs to. */
function placeOf(res, row) {
  switch (res) {
    case 'instrument': return { district: row.district, parish: row.parish };
    case 'visit': return { district: row.district, parish: instruments.get(row.instrument)?.parish };
    case 'finding': { const v = visits.get(row.visit); return { district: v?.district, parish: instruments.get(v?.instrument)?.parish }; }
    case 'order': { const i = instruments.get(row.instrument); return { district: i?.district, parish: i?.parish }; }
    case 'hook': return { owner: row.owner };
  }
}
function mayRead(caller, res, place) {
  if (res === 'hook') return place.owner === caller.id;
  if (caller.user === 'tuner') return res === 'instrument' || place.district === caller.district;
  return place.parish === caller.id;
}
function readable(c, res, id) {
  const row = STORES[res].get(id);
  if (!row) refuse('not_there');
  if (F('finding-for-any-parish') && c.op === 'read finding' && c.caller.user === 'parish') return row;
  if (F('any-parish-approves') && c.op === 'approve order' && placeOf('order', row).district === c.caller.district) return row;
  if (!mayRead(c.caller, res, placeOf(res, row))) refuse(F('hidden-is-forbidden') && res === 'order' ? 'not_yours' : 'not_there');
  return row;
}
const own = (c, holds) => { if (!holds) refuse('not_yours'); };

// ---------------------------------------------------------------- events
const KINDS = {
  'instrument.registered': {}, 'visit.planned': {},
  'visit.handed': {
    data: (e) => ({ visit: e.next.id, from: e.resource.tuner, to: e.next.tuner }),
    to: (caller, e) => (!F('handed-for-the-new-alone') && caller.id === e.resource.tuner) || caller.id === e.next.tuner,
  },
  'visit.closed': {},
  'visit.removed': { data: (e) => ({ visit: e.resource.id, number: e.resource.number }) },
  'finding.noted': {}, 'finding.due': {}, 'finding.mended': {}, 'order.drafted': {}, 'order.answered': {},
  'order.stale': { to: (caller, e) => caller.id === (F('stale-for-the-parish') ? e.place.parish : e.next.buyer) },
};
let pending = [];
function emit(kind, res, next, resource) {
  const row = next ?? resource;
  pending.push({ kind, res, row: { ...row }, next: next && { ...next }, resource: resource && { ...resource }, place: placeOf(res, row), t: now() });
}
let log = [];
const streams = new Set();
const receives = (caller, e) => {
  const to = KINDS[e.kind].to;
  if (to) return to(caller, e);
  if (F('answers-for-all-parishes') && e.kind === 'order.answered' && caller.user === 'parish') return true;
  return mayRead(caller, e.res, e.place);
};
function envelope(e, v, user) {
  const data = KINDS[e.kind].data;
  const body = data ? data(e) : present(e.res, e.full, F('v1-hooks-told-in-v2') ? 'v2' : v, user);
  return JSON.stringify({ id: e.id, kind: e.kind, at: e.at, body });
}
const wants = (kinds, kind) => !kinds || kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1)) && !F('no-stars')));
function flush() {
  const list = pending; pending = [];
  for (const e of list) {
    const stored = STORES[e.res].get(e.res === 'instrument' ? e.row.code : e.row.id);
    e.full = stored ? full(e.res, e.row) : { ...e.row };
    e.id = 'evt_' + ulid(); e.at = iso(e.t);
    e.rowId = e.res + '/' + (e.res === 'instrument' ? e.row.code : e.row.id);
    log.push(e);
    for (const s of streams) if (receives(s.caller, e)) s.send(e);
    for (const h of hooks.values()) {
      const m = h[MAKER];
      if (wants(h.kinds, e.kind) && receives(m.caller, e)) enqueue(h, e, envelope(e, m.v, m.caller.user));
    }
  }
  const keep = F('stream-keeps-an-hour') ? H : 24 * H;
  if (log.length && log[0].t <= now() - keep) log = log.filter((e) => e.t > now() - keep);
}

// ---------------------------------------------------------------- web hooks
const MAKER = Symbol('maker');
const RETRY = [20 * S, 5 * MIN, 1 * H];
const queues = new Map();
const agent = new http.Agent({ keepAlive: false });
function enqueue(hook, e, body) {
  const key = hook.id + '|' + e.rowId;
  let q = queues.get(key);
  if (!q) queues.set(key, q = []);
  q.push({ hook, id: e.id, kind: e.kind, body, tries: 0 });
  if (q.length === 1) attempt(key, q);
}
function done(key, q) {
  q.shift();
  if (q.length) attempt(key, q); else queues.delete(key);
}
function attempt(key, q) {
  const d = q[0];
  if (!hooks.has(d.hook.id) || d.hook[MAKER].off) { q.length = 0; queues.delete(key); return; }
  const hold = d.hook[MAKER].notBefore;
  if (hold > now()) { timer(hold, () => attempt(key, q)); return; }
  d.tries++;
  const id = F('new-id-each-try') && d.tries > 1 ? 'evt_' + ulid() : d.id;
  const body = id === d.id ? d.body : d.body.replace(d.id, id);
  post(d.hook, id, d.kind, body, (status, wait = 0) => {
    if (status >= 200 && status < 300) return done(key, q);
    if (status === 410) { d.hook[MAKER].off = true; q.length = 0; queues.delete(key); return; }
    if (F('refused-is-given-up') && status >= 400 && status < 500) return done(key, q);
    if (d.tries > RETRY.length) return done(key, q);
    const m = d.hook[MAKER];
    if (wait) m.notBefore = Math.max(m.notBefore, now() + Math.min(wait, 86400) * 1000);
    timer(Math.max(now() + RETRY[d.tries - 1], m.notBefore), () => attempt(key, q));
  });
}
function post(hook, id, kind, body, result) {
  let settled = false;
  const end = (status, wait) => { if (!settled) { settled = true; clearTimeout(t); result(status, wait); } };
  const t = setTimeout(() => { req?.destroy(); end(0); }, 5000);
  let req;
  try {
    const url = new URL(hook.url);
    if (url.protocol !== 'http:' || !/^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname)) { setImmediate(end, 0); return; }
    const ts = Math.floor(now() / 1000);
    const signed = F('id-not-signed') ? `${ts}.${body}` : `${id}.${ts}.${body}`;
    const mac = createHmac('sha256', hook.secret).update(signed).digest('hex');
    req = http.request(url, {
      method: 'POST', agent,
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'Rounds-Event': kind, 'Rounds-Delivery': id, 'Rounds-Signature': `t=${ts},s=${mac}` },
    }, (res) => { res.on('error', () => {}); res.resume(); end(res.statusCode, Number(res.headers['retry-after']) || 0); });
    req.on('error', () => end(0));
    req.end(body);
  } catch { setImmediate(end, 0); }
}

// ---------------------------------------------------------------- states
function enter(res, row, state) {
  row.status = state;
  row[ENTERED] = (row[ENTERED] ?? 0) + 1;
  const token = row[ENTERED];
  const after = (ms, fn) => timer(now() + ms, () => { if (row[ENTERED] === token && STORES[res].get(row.id) === row) { fn(); flush(); } });
  if (res === 'visit' && state === 'planned') after(14 * D, () => lapse(row));
  if (res === 'visit' && state === 'underway') {
    after((F('abandoned-after-a-day') ? 24 : 12) * H, () => { const was = { ...row }; enter('visit', row, 'abandoned'); emit('visit.closed', 'visit', row, was); });
  }
  if (res === 'order' && state === 'drafted') after(F('stale-after-a-month-of-31') ? 31 * D : 30 * D, () => { const was = { ...row }; enter('order', row, 'stale'); emit('order.stale', 'order', row, was); });
  if (res === 'finding' && state === 'deferred') {
    const at = instant(row.until);
    if (F('resumes-once') && row[RESUMED]) return;
    timer(at, () => {
      if (row[ENTERED] !== token || findings.get(row.id) !== row) return;
      const was = { ...row };
      row[RESUMED] = true;
      enter('finding', row, 'noted'); emit('finding.due', 'finding', row, was); flush();
    });
  }
}
const RESUMED = Symbol('resumed');
function lapse(row) {
  const was = { ...row };
  enter('visit', row, 'lapsed');
  if (!F('lapse-untold')) emit('visit.closed', 'visit', row, was);
}

// ---------------------------------------------------------------- limits
const rates = new Map();
function rate(caller) {
  const limit = caller.user === 'tuner' ? 600 : 240;
  const key = F('one-rate-for-parishes') && caller.user === 'parish' ? 'parish' : caller.user + ' ' + caller.id;
  const t = now();
  let w = rates.get(key);
  if (!w || t >= w.start + MIN) { if (rates.size > 10000) rates.clear(); rates.set(key, w = { start: t, used: 0 }); }
  const reset = Math.max(1, Math.ceil((w.start + MIN - t) / 1000));
  const headers = (left) => ({ 'Rounds-Limit': String(limit), 'Rounds-Left': String(left), 'Rounds-Reset': String(reset) });
  if (w.used >= (F('one-request-more') && caller.user === 'parish' ? limit + 1 : limit)) return { refused: true, headers: { ...headers(0), 'Retry-After': String(reset) } };
  w.used++;
  return { headers: headers(Math.max(0, limit - w.used)) };
}
const viennaDay = new Intl.DateTimeFormat('en-CA', { timeZone: F('day-of-utc') ? 'UTC' : 'Europe/Vienna', year: 'numeric', month: '2-digit', day: '2-digit' });
const dayOf = (ms) => viennaDay.format(ms);
function secondsToNextDay() {
  const t = now(), day = dayOf(t);
  let lo = t, hi = t + 26 * H;
  while (hi - lo > 1) { const mid = Math.floor((lo + hi) / 2); if (dayOf(mid) === day) lo = mid; else hi = mid; }
  return Math.max(1, Math.ceil((hi - t) / 1000));
}
const quota = new Map();
function useQuota(caller, refusedOnly) {
  const key = caller.user + ' ' + caller.id + ' ' + dayOf(now());
  const used = quota.get(key) ?? 0;
  if (used >= 40) refuse('too_many', [], { 'Retry-After': String(secondsToNextDay()) });
  if (!refusedOnly) quota.set(key, used + 1);
}
function plannedBy(tuner, except) {
  let n = 0;
  for (const v of visits.values()) if (v !== except && (F('handed-still-counts') ? v[FIRST] : v.tuner) === tuner && (v.status === 'planned' || (F('cancelled-still-counts') && v.status === 'cancelled'))) n++;
  return n;
}
const FIRST = Symbol('first');

// ---------------------------------------------------------------- pages
const CURSOR_SECRET = randomBytes(32);
const mac = (s) => createHmac('sha256', CURSOR_SECRET).update(s).digest('base64url').slice(0, 16);
function encodeCursor(query, dir, row, key) {
  const s = Buffer.from(JSON.stringify([query, dir, key, row[SEQ]])).toString('base64url');
  return s + '.' + mac(s);
}
function decodeCursor(text, query, name) {
  const bad = () => refuse('bad_query', [{ path: name, expected: 'a cursor of this list' }]);
  const m = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{16})$/.exec(text);
  if (!m || mac(m[1]) !== m[2]) bad();
  const [q, dir, key, seq] = JSON.parse(Buffer.from(m[1], 'base64url').toString());
  if (q !== query && !F('cursor-of-any-filter')) bad();
  return { dir, key, seq };
}
const PAGE = { cursor: 'page_token', size: 'page_size', def: 20, max: 100 };
const VISIT_PAGE = { cursor: 'from', size: 'count', def: 10, max: 50, clamp: true };
/** Step 8: the size and cursor of a list. */
function readPage(c) {
  const p = c.route.page;
  const wrong = (name) => refuse('bad_query', [{ path: name, expected: 'a whole number in its range' }]);
  let size = p.def;
  if (Object.hasOwn(c.query, p.size)) {
    if (!/^[0-9]+$/.test(c.query[p.size])) wrong(p.size);
    size = Number(c.query[p.size]);
    if (size < 1) wrong(p.size);
    if (size > p.max) {
      if (p.clamp) size = F('clamped-to-default') ? p.def : p.max;
      else if (!(F('a-page-of-101') && size === p.max + 1)) wrong(p.size);
    }
  }
  const shape = Object.entries(c.query).filter(([k]) => k !== p.cursor && k !== p.size).sort(([a], [b]) => (a < b ? -1 : 1));
  const query = sha(JSON.stringify([c.op, c.v, c.caller.user, c.caller.id, c.caller.district, c.params, shape]));
  const at = Object.hasOwn(c.query, p.cursor) ? decodeCursor(c.query[p.cursor], query, p.cursor) : null;
  return { size, query, at };
}
function cut(c, rows, key = () => 0, desc = false, newest = false) {
  const { size, query, at } = c.page;
  const way = (ak, as, bk, bs) => {
    if (ak !== bk) return (ak < bk ? -1 : 1) * (desc ? -1 : 1);
    return (as - bs) * (newest ? -1 : 1);
  };
  rows.sort((a, b) => way(key(a), a[SEQ], key(b), b[SEQ]));
  let start = 0, end;
  if (at) {
    const cmp = (r) => way(key(r), r[SEQ], at.key, at.seq);
    if (at.dir === 'n') { start = rows.findIndex((r) => cmp(r) > 0); if (start < 0) start = rows.length; }
    else { end = rows.findIndex((r) => cmp(r) >= 0); if (end < 0) end = rows.length; start = Math.max(0, end - size); }
  }
  end ??= Math.min(rows.length, start + size);
  const items = rows.slice(start, end);
  const more = F('one-page-too-many') ? items.length === size : end < rows.length;
  const next = more && items.length ? encodeCursor(query, 'n', items.at(-1), key(items.at(-1))) : null;
  const prev = start > 0 && items.length ? encodeCursor(query, 'p', items[0], key(items[0])) : null;
  return { items, next, prev, total: rows.length };
}
function tokenPage(c, res, rows, ...how) {
  const all = [...rows];
  const { items, next, total } = cut(c, all, ...how);
  return { status: 200, body: { rows: items.map((r) => show(res, r, c)), next_page_token: next, total: F('total-of-the-page') ? items.length : total } };
}
function linkPage(c, res, rows, ...how) {
  const { items, next, prev } = cut(c, [...rows], ...how);
  const p = c.route.page, links = [];
  const link = (cursor, rel) => {
    const q = Object.entries(c.query).filter(([k]) => k !== p.cursor).map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`);
    if (F('links-lose-filters')) q.splice(0, q.length, ...q.filter((x) => x.startsWith('count=')));
    if (cursor) q.push(`${p.cursor}=${encodeURIComponent(cursor)}`);
    links.push(`<${BASE}/${c.v}${c.route.path}${q.length ? '?' + q.join('&') : ''}>; rel="${rel}"`);
  };
  if (next) link(next, 'next');
  if (prev) link(prev, 'prev');
  link(null, 'first');
  return { status: 200, body: items.map((r) => show(res, r, c)), links };
}

// ---------------------------------------------------------------- operations
const idOf = (res, row) => (res === 'instrument' ? row.code : row.id);
const PATHS = { instrument: 'instruments', visit: 'visits', finding: 'findings', order: 'orders', hook: 'hooks' };
const made = (c, res, row, extra) => ({
  status: 201, body: show(res, row, c, extra),
  headers: { Location: `${F('location-without-base') && res !== 'instrument' ? '' : BASE}/${c.v}/${PATHS[res]}/${encodeURIComponent(idOf(res, row))}` },
});
const shown = (c, res, row) => ({ status: 200, body: show(res, row, c) });
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const canon = (res, r) => Object.keys(FIELDS[res]).map((k) => {
  const v = r[k];
  return v === undefined || v === null ? null : res === 'order' && k === 'lines' ? v.map((l) => [l.part, l.quantity, l.cents]) : v;
});
function merged(row, vals) {
  const next = { ...row };
  for (const [k, v] of Object.entries(vals)) if (v === null) delete next[k]; else if (v !== undefined) next[k] = v;
  return next;
}
const isMap = (b) => b !== null && typeof b === 'object' && !Array.isArray(b);
function spanRule(next, vs) {
  if (next.needed_from == null || next.needed_by == null) return;
  const a = instant(next.needed_from), b = instant(next.needed_by);
  if (F('span-of-nothing') ? b < a : b <= a) vs.push({ path: '/needed_by', expected: 'a time after needed_from' });
}

const OPS = {
  'upsert instrument'(c) {
    const code = c.params.code, vs = [];
    if (!CODE_PATTERN.test(code)) vs.push({ path: '/code', expected: expectedOf(FIELDS.instrument.code) });
    const row = instruments.get(code);
    const vals = readBody('instrument', 'replace', c.v, c.body, vs, { bound: { code } });
    refuseInvalid(vs);
    if (!row) {
      const next = { code, ...vals };
      next.temperament ??= 'equal';
      next.district = c.caller.district;
      next.updated_at = iso(now());
      next[SEQ] = ++rowSeq;
      instruments.set(code, next);
      emit('instrument.registered', 'instrument', next);
      return made(c, 'instrument', next);
    }
    own(c, row.district === c.caller.district);
    const next = { code, ...vals, district: row.district, updated_at: row.updated_at };
    if (c.v === 'v1' && !F('v1-put-resets-temperament')) next.temperament = row.temperament;
    next.temperament ??= 'equal';
    if (F('put-keeps-builder') && next.builder === undefined) next.builder = row.builder;
    store(row, next, 'instrument', F('registered-without-change'));
    return F('put-is-always-201') ? made(c, 'instrument', row) : shown(c, 'instrument', row);
  },
  'read instrument': (c) => shown(c, 'instrument', c.row = readable(c, 'instrument', c.params.code)),
  'list instrument'(c) {
    const q = c.q;
    const rows = [...instruments.values()].filter((r) => mayRead(c.caller, 'instrument', placeOf('instrument', r))
      && (q.action === undefined || r.action === q.action)
      && (q.min_stops === undefined || (F('more-stops-than') ? r.stops > q.min_stops : r.stops >= q.min_stops))
      && (q.like === undefined || (F('like-in-any-case') ? r.name.toLowerCase().includes(q.like.toLowerCase()) : r.name.includes(q.like))));
    return tokenPage(c, 'instrument', rows, (r) => r.name);
  },
  'update instrument'(c) {
    const row = readable(c, 'instrument', c.params.code);
    own(c, row.district === c.caller.district);
    ifMatch(c, 'instrument', row);
    const vs = [], vals = readBody('instrument', 'patch', c.v, c.body, vs, { bound: { code: row.code } });
    refuseInvalid(vs);
    store(row, merged(row, vals), 'instrument');
    return shown(c, 'instrument', row);
  },
  'delete instrument'(c) {
    const row = readable(c, 'instrument', c.params.code);
    own(c, row.district === c.caller.district);
    ifMatch(c, 'instrument', row);
    const held = (F('only-planned-hold') ? derived.instrument(row).planned : visitsOf.get(row.code)?.size) || (ordersOf.get(row.code)?.size && !F('orders-do-not-hold'));
    if (held) refuse('in_use');
    instruments.delete(row.code);
    return { status: 204 };
  },

  'create visit'(c) {
    const vs = [], vals = readBody('visit', 'create', c.v, c.body, vs);
    refuseInvalid(vs);
    const inst = instruments.get(vals.instrument);
    if (!inst) refuse('no_such_link', [{ path: '/instrument', expected: 'an instrument that there is' }]);
    own(c, inst.district === c.caller.district || F('visits-in-any-district'));
    if (instant(vals.planned_for) < (F('today-is-not-past') ? Math.floor(now() / D) * D : now())) refuse('in_the_past');
    if (plannedBy(c.caller.id) >= 12) refuse('too_many');
    const { findings: kids = [], ...rest } = vals;
    const number = F('numbers-over-all') ? ++allVisits : (numberOf.get(inst.code) ?? 0) + 1;
    numberOf.set(inst.code, number);
    const row = { id: ulid(), number, tuner: c.caller.id, district: c.caller.district, ...rest };
    row.minutes ??= FIELDS.visit.minutes.def;
    row[SEQ] = ++rowSeq;
    row[FIRST] = c.caller.id;
    visits.set(row.id, row);
    put(visitsOf, inst.code, row);
    enter('visit', row, 'planned');
    emit('visit.planned', 'visit', row);
    for (const k of kids) addFinding({ ...k, visit: row.id }, F('children-untold'));
    return made(c, 'visit', row);
  },
  'list visit'(c) {
    const q = c.q;
    const rows = [...visits.values()].filter((r) => mayRead(c.caller, 'visit', placeOf('visit', r))
      && (q.status === undefined || r.status === q.status) && (q.tuner === undefined || r.tuner === q.tuner) && (q.minutes === undefined || r.minutes === q.minutes)
      && (q.before === undefined || (F('before-or-at') ? instant(r.planned_for) <= instant(q.before) : instant(r.planned_for) < instant(q.before))));
    const sort = (q.sort ?? 'planned_for').replace('duration', 'minutes');
    const desc = sort.startsWith('-'), field = sort.replace('-', '');
    const key = field === 'minutes' ? (r) => (F('minutes-as-text') ? String(r.minutes) : r.minutes) : (r) => (F('times-as-text') ? r.planned_for : instant(r.planned_for));
    return linkPage(c, 'visit', rows, key, desc);
  },
  'read visit': (c) => shown(c, 'visit', c.row = readable(c, 'visit', c.params.id)),
  'update visit'(c) {
    const row = readable(c, 'visit', c.params.id);
    own(c, F('district-may-update') ? true : row.tuner === c.caller.id);
    ifMatch(c, 'visit', row, 'required');
    const vs = [], vals = readBody('visit', 'patch', c.v, c.body, vs, { bound: { instrument: row.instrument } });
    refuseInvalid(vs);
    if (row.status !== 'planned') refuse('wrong_moment');
    store(row, merged(row, vals), 'visit');
    return shown(c, 'visit', row);
  },
  'delete visit'(c) {
    const row = readable(c, 'visit', c.params.id);
    own(c, row.tuner === c.caller.id);
    if (row.status !== 'cancelled' && row.status !== 'lapsed') refuse('wrong_moment');
    emit('visit.removed', 'visit', null, row);
    visits.delete(row.id);
    visitsOf.get(row.instrument)?.delete(row);
    if (!F('findings-left-behind')) {
      for (const f of findingsOf.get(row.id) ?? []) findings.delete(f.id);
      findingsOf.delete(row.id);
    }
    return F('deletion-is-200') ? { status: 200, body: {} } : { status: 204 };
  },
  'hand visit'(c) {
    const row = readable(c, 'visit', c.params.id);
    own(c, row.tuner === c.caller.id);
    refuseInvalid(bodyOf(c));
    if (row.status !== 'planned') refuse('wrong_moment');
    if (plannedBy(c.body.to, row) >= 12 && !F('hands-without-a-cap')) refuse('too_many');
    const was = { ...row };
    row.handed_by = F('handed-by-the-new') ? c.body.to : row.tuner;
    row.tuner = c.body.to;
    if (!F('hand-keeps-the-time')) enter('visit', row, 'planned');
    emit('visit.handed', 'visit', row, was);
    return shown(c, 'visit', row);
  },
  'begin visit'(c) {
    const row = readable(c, 'visit', c.params.id);
    own(c, row.tuner === c.caller.id || (F('who-handed-begins') && row.handed_by === c.caller.id));
    if (row.status !== 'planned') refuse('wrong_moment');
    row.begun_at = iso(now());
    enter('visit', row, 'underway');
    return shown(c, 'visit', row);
  },
  'finish visit'(c) {
    const row = readable(c, 'visit', c.params.id);
    own(c, row.tuner === c.caller.id);
    refuseInvalid(bodyOf(c));
    if (row.status !== 'underway') refuse('wrong_moment');
    if (derived.visit(row).grave_open > (F('one-grave-is-none') ? 1 : 0)) refuse('grave_left');
    const was = { ...row };
    row.finished_at = iso(now());
    row.pitch_left = c.body.pitch;
    enter('visit', row, 'finished');
    emit('visit.closed', 'visit', row, was);
    return shown(c, 'visit', row);
  },
  'cancel visit'(c) {
    const row = readable(c, 'visit', c.params.id);
    own(c, c.caller.user === 'parish' ? true : row.tuner === c.caller.id);
    if (row.status !== 'planned' && !(F('cancel-underway') && row.status === 'underway')) refuse('too_late');
    const was = { ...row };
    enter('visit', row, 'cancelled');
    emit('visit.closed', 'visit', row, was);
    return shown(c, 'visit', row);
  },

  'create finding'(c) {
    const visit = readable(c, 'visit', c.params.visit);
    const vs = [], vals = readBody('finding', 'create', c.v, c.body, vs, { bound: { visit: visit.id } });
    refuseInvalid(vs);
    own(c, visit.tuner === c.caller.id);
    if (visit.status !== 'planned' && visit.status !== 'underway' && !(F('note-when-finished') && visit.status === 'finished')) refuse('visit_is_over');
    if ((findingsOf.get(visit.id)?.size ?? 0) >= (F('eleven-findings') ? 11 : 10)) refuse('too_many');
    return made(c, 'finding', addFinding({ ...vals, visit: vals.visit ?? visit.id }));
  },
  'list finding'(c) {
    const visit = readable(c, 'visit', c.params.visit), q = c.q;
    const from = F('findings-of-all-visits') ? [...findings.values()].filter((f) => mayRead(c.caller, 'finding', placeOf('finding', f))) : [...(findingsOf.get(visit.id) ?? [])];
    const sev = c.v === 'v1' && q.severity !== undefined && !F('v1-severity-filter-as-sent') ? SEVERITY_UP[q.severity] : q.severity;
    return tokenPage(c, 'finding', from.filter((r) => (sev === undefined || r.severity === sev) && (q.status === undefined || r.status === q.status)));
  },
  'read finding': (c) => shown(c, 'finding', readable(c, 'finding', c.params.id)),
  'update finding'(c) {
    const row = readable(c, 'finding', c.params.id);
    own(c, visits.get(row.visit).tuner === c.caller.id);
    const vs = [], vals = readBody('finding', 'patch', c.v, c.body, vs, { bound: { visit: row.visit } });
    refuseInvalid(vs);
    if (row.status !== 'noted' && !(F('mended-are-changed') && row.status === 'mended')) refuse('wrong_moment');
    if (F('finding-changed-in-a-copy')) return shown(c, 'finding', merged(row, vals));
    store(row, merged(row, vals), 'finding');
    return shown(c, 'finding', row);
  },
  'mend finding'(c) {
    const row = readable(c, 'finding', c.params.id);
    own(c, visits.get(row.visit).tuner === c.caller.id);
    if (row.status === 'mended' || (F('deferred-is-not-mended') && row.status === 'deferred')) refuse('wrong_moment');
    const was = { ...row };
    row.mended_by = F('mended-by-the-first') ? visits.get(row.visit)[FIRST] : c.caller.id;
    enter('finding', row, 'mended');
    if (was.severity !== 'minor' || F('minor-mended-told')) emit('finding.mended', 'finding', row, was);
    return shown(c, 'finding', row);
  },
  'defer finding'(c) {
    const row = readable(c, 'finding', c.params.id);
    own(c, visits.get(row.visit).tuner === c.caller.id);
    refuseInvalid(bodyOf(c));
    if (row.status !== 'noted') refuse('wrong_moment');
    if (!(instant(c.body.until) > now())) refuse('until_is_over');
    row.until = c.body.until;
    enter('finding', row, 'deferred');
    return shown(c, 'finding', row);
  },

  'create order'(c) {
    const vs = [], vals = readBody('order', 'create', c.v, c.body, vs);
    if (isMap(c.body)) spanRule(vals, vs);
    refuseInvalid(vs);
    const inst = instruments.get(vals.instrument);
    if (!inst) refuse('no_such_link', [{ path: '/instrument', expected: 'an instrument that there is' }]);
    own(c, inst.district === c.caller.district);
    if (F('refused-orders-count')) useQuota(c.caller);
    const urgent = vals.urgent ?? false;
    if (urgent && vals.lines.length > 3) refuse('too_much_urgency');
    if (!F('refused-orders-count')) useQuota(c.caller);
    const row = { id: 'ord_' + ulid(), number: 'PO-' + String(++orderNumber).padStart(4, '0'), buyer: c.caller.id, ...vals, urgent, line_count: vals.lines.length };
    row[SEQ] = ++rowSeq;
    orders.set(row.id, row);
    put(ordersOf, inst.code, row);
    enter('order', row, 'drafted');
    emit('order.drafted', 'order', row);
    return made(c, 'order', row);
  },
  'list order'(c) {
    const q = c.q;
    const rows = [...orders.values()].filter((r) => mayRead(c.caller, 'order', placeOf('order', r))
      && !(F('parish-lists-its-answers') && c.caller.user === 'parish' && r.status === 'drafted')
      && (q.status === undefined || r.status === q.status) && (q.urgent === undefined || r.urgent === q.urgent));
    return tokenPage(c, 'order', rows, () => 0, false, !F('oldest-orders-first'));
  },
  'read order': (c) => shown(c, 'order', c.row = readable(c, 'order', c.params.id)),
  'update order'(c) {
    const row = readable(c, 'order', c.params.id);
    own(c, row.buyer === c.caller.id);
    ifMatch(c, 'order', row);
    const vs = [], vals = readBody('order', 'patch', c.v, c.body, vs, { bound: { instrument: row.instrument } });
    const next = merged(row, vals);
    if (isMap(c.body)) spanRule(next, vs);
    refuseInvalid(vs);
    if (row.status !== 'drafted' && !(F('approved-is-changed') && row.status === 'approved')) refuse('wrong_moment');
    if (next.urgent && next.lines.length > 3 && !F('urgent-by-update')) refuse('too_much_urgency');
    if (!same(canon('order', row), canon('order', next))) {
      if (!F('lines-counted-once')) next.line_count = next.lines.length;
      replaceRow(row, next);
    }
    return shown(c, 'order', row);
  },
  'approve order'(c) {
    const row = readable(c, 'order', c.params.id);
    if (row.status !== 'drafted' && !(F('stale-is-approved') && row.status === 'stale')) refuse('answered_already');
    const was = { ...row };
    row.approved_by = c.caller.id;
    enter('order', row, 'approved');
    emit('order.answered', 'order', row, was);
    return shown(c, 'order', row);
  },
  'decline order'(c) {
    const row = readable(c, 'order', c.params.id);
    refuseInvalid(bodyOf(c));
    if (row.status !== 'drafted') refuse('answered_already');
    const was = { ...row };
    row.reason = c.body.reason;
    enter('order', row, 'declined');
    if (!F('no-is-untold')) emit('order.answered', 'order', row, was);
    return shown(c, 'order', row);
  },
  'deliver order'(c) {
    const row = readable(c, 'order', c.params.id);
    own(c, row.buyer === c.caller.id);
    if (row.status !== 'approved') refuse('wrong_moment');
    row.delivered_at = iso(now());
    enter('order', row, 'delivered');
    return shown(c, 'order', row);
  },

  'create hook'(c) {
    const vs = [], vals = readBody('hook', 'create', c.v, c.body, vs);
    refuseInvalid(vs);
    let mine = 0;
    for (const h of hooks.values()) if (h.owner === c.caller.id) mine++;
    if (mine >= (F('six-hooks') ? 6 : 5)) refuse('too_many');
    const row = { id: ulid(), owner: c.caller.id, secret: 'rs_' + randomText(32), ...vals };
    row[SEQ] = ++rowSeq;
    row[MAKER] = { caller: { ...c.caller }, v: c.v, off: false, notBefore: 0 };
    hooks.set(row.id, row);
    return made(c, 'hook', row, { made: true });
  },
  'list hook': (c) => tokenPage(c, 'hook', [...hooks.values()].filter((h) => h.owner === c.caller.id)),
  'read hook': (c) => shown(c, 'hook', readable(c, 'hook', c.params.id)),
  'delete hook'(c) {
    const row = readable(c, 'hook', c.params.id);
    hooks.delete(row.id);
    return { status: 204 };
  },
  'stream events'(c) {
    let open = 0;
    for (const s of streams) if (s.caller.user === c.caller.user && s.caller.id === c.caller.id) open++;
    if (open >= 32) refuse('too_fast', [], { 'Retry-After': '1' });
    return { stream: true };
  },
};
function bodyOf(c) {
  const vs = [];
  check(c.route.body, c.body, '', vs);
  return vs;
}
function addFinding(vals, untold) {
  const row = { id: ulid(), ...vals };
  row[SEQ] = ++rowSeq;
  findings.set(row.id, row);
  put(findingsOf, row.visit, row);
  enter('finding', row, 'noted');
  if (!untold) emit('finding.noted', 'finding', row);
  return row;
}
function replaceRow(row, next) {
  for (const k of Object.keys(row)) if (!Object.hasOwn(next, k)) delete row[k];
  for (const k of Object.keys(next)) row[k] = next[k];
}
/** Stores a changed row, unless nothing has changed. */
function store(row, next, res, always = false) {
  if (same(canon(res, row), canon(res, next)) && !always) return;
  const was = { ...row };
  if (res === 'instrument' && !(F('updated-at-stands') && row.name === next.name)) next.updated_at = iso(now());
  replaceRow(row, next);
  if (res === 'instrument') emit('instrument.registered', 'instrument', row, was);
}

// ---------------------------------------------------------------- routes
const T = ['tuner'], P = ['parish'], TP = ['tuner', 'parish'];
const map = (props) => ({ t: 'object', props });
const RB = (res) => ({ res });
const ROUTES = [
  ['PUT', '/instruments/{code}', 'upsert instrument', T, { body: RB('instrument') }],
  ['GET', '/instruments/{code}', 'read instrument', TP, { etag: 'instrument' }],
  ['GET', '/instruments', 'list instrument', TP, { page: PAGE, query: { action: FIELDS.instrument.action, min_stops: { t: 'integer', min: 1, max: 200 }, like: { t: 'string', min: 2, max: 60 } } }],
  ['PATCH', '/instruments/{code}', 'update instrument', T, { body: RB('instrument') }],
  ['DELETE', '/instruments/{code}', 'delete instrument', T, {}],
  ['POST', '/visits', 'create visit', T, { body: RB('visit'), once: 'accepted' }],
  ['GET', '/visits', 'list visit', TP, { page: VISIT_PAGE, query: { status: { t: 'string', enum: VISIT_STATES }, tuner: { t: 'string' }, minutes: { t: 'integer', min: 15, max: 480 }, before: dt, sort: { t: 'string', enum: ['planned_for', '-planned_for', 'minutes', '-minutes'] } } }],
  ['GET', '/visits/{id}', 'read visit', TP, { etag: 'visit' }],
  ['PATCH', '/visits/{id}', 'update visit', T, { body: RB('visit') }],
  ['DELETE', '/visits/{id}', 'delete visit', T, {}],
  ['POST', '/visits/{id}/hand', 'hand visit', T, { body: map({ to: { t: 'string', min: 1, max: 40, req: true } }), since: 'v2' }],
  ['POST', '/visits/{id}/begin', 'begin visit', T, {}],
  ['POST', '/visits/{id}/finish', 'finish visit', T, { body: map({ pitch: { t: 'integer', min: 3900, max: 4800, req: true } }) }],
  ['POST', '/visits/{id}/cancel', 'cancel visit', TP, {}],
  ['POST', '/visits/{visit}/findings', 'create finding', T, { body: RB('finding') }],
  ['GET', '/visits/{visit}/findings', 'list finding', TP, { page: PAGE, query: { severity: { t: 'string', enum: ['minor', 'major', 'grave'] }, status: { t: 'string', enum: FINDING_STATES } } }],
  ['GET', '/findings/{id}', 'read finding', TP, {}],
  ['PATCH', '/findings/{id}', 'update finding', T, { body: RB('finding') }],
  ['POST', '/findings/{id}/mend', 'mend finding', T, {}],
  ['POST', '/findings/{id}/defer', 'defer finding', T, { body: map({ until: { ...dt, req: true } }) }],
  ['POST', '/orders', 'create order', T, { body: RB('order'), once: 'required' }],
  ['GET', '/orders', 'list order', TP, { page: PAGE, query: { status: { t: 'string', enum: ORDER_STATES }, urgent: { t: 'boolean' } } }],
  ['GET', '/orders/{id}', 'read order', TP, { etag: 'order' }],
  ['PATCH', '/orders/{id}', 'update order', T, { body: RB('order') }],
  ['POST', '/orders/{id}/approve', 'approve order', P, {}],
  ['POST', '/orders/{id}/decline', 'decline order', P, { body: map({ reason: { t: 'string', min: 3, max: 200, req: true } }) }],
  ['POST', F('delivered-not-deliver') ? '/orders/{id}/delivered' : '/orders/{id}/deliver', 'deliver order', T, {}],
  ['POST', '/hooks', 'create hook', F('hooks-for-tuners') ? T : TP, { body: RB('hook') }],
  ['GET', '/hooks', 'list hook', TP, { page: PAGE }],
  ['GET', '/hooks/{id}', 'read hook', TP, {}],
  ['DELETE', '/hooks/{id}', 'delete hook', TP, {}],
  ['GET', '/events', 'stream events', F('no-stream-for-parishes') ? T : TP, { stream: true }],
].map(([method, path, op, users, more]) => ({ method, path, op, users, query: {}, ...more, segs: path.slice(1).split('/') }));

function matches(segs, v) {
  const found = [];
  let params;
  for (const r of ROUTES) {
    if (r.segs.length !== segs.length) continue;
    if (v === 'v1' && r.since === 'v2' && !F('hand-in-v1')) continue;
    const p = {};
    let ok = true;
    for (let i = 0; i < segs.length && ok; i++) {
      if (r.segs[i].startsWith('{')) {
        if (segs[i] === '') { ok = false; break; }
        try { p[r.segs[i].slice(1, -1)] = decodeURIComponent(segs[i]); } catch { p[r.segs[i].slice(1, -1)] = '\u0000'; }
      } else if (r.segs[i] !== segs[i]) ok = false;
    }
    if (ok) { found.push({ route: r, params: p }); params = p; }
  }
  return found;
}
const allowOf = (found) => { const ms = new Set(found.map((f) => f.route.method)); if (ms.has('GET')) ms.add('HEAD'); ms.add('OPTIONS'); return [...ms].join(', '); };

// ---------------------------------------------------------------- credentials
const b64 = (s) => (/^[A-Za-z0-9_-]+$/.test(s) ? Buffer.from(s, 'base64url') : null);
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const tokens = new Map();
function byToken(text) {
  const known = tokens.get(text);
  const claims = known ?? verifyToken(text);
  if (!claims) return null;
  const t = now() / 1000;
  for (const k of ['exp', 'nbf']) if (claims[k] !== undefined && typeof claims[k] !== 'number') return null;
  if (claims.exp !== undefined && t >= claims.exp + 5) return null;
  if (claims.nbf !== undefined && t < claims.nbf - 5) return null;
  if (!known) { if (tokens.size > 1000) tokens.clear(); tokens.set(text, claims); }
  const { sub, role, district } = claims;
  if (typeof sub !== 'string' || !sub || (role !== 'tuner' && role !== 'parish') || typeof district !== 'string') return null;
  return { user: role, id: sub, district };
}
function verifyToken(text) {
  const parts = text.split('.');
  if (parts.length !== 3) return null;
  const [h, p, s] = parts.map(b64);
  if (!h || !p || (!s && parts[2] !== '')) return null;
  let head, claims;
  try { head = JSON.parse(strict.decode(h)); claims = JSON.parse(strict.decode(p)); } catch { return null; }
  if (!isMap(head) || !isMap(claims)) return null;
  if (!(F('alg-none-is-good') && head.alg === 'none')) {
    if (head.alg !== 'HS256' || head.crit !== undefined || !s) return null;
    const want = createHmac('sha256', JWT_SECRET).update(parts[0] + '.' + parts[1]).digest();
    const given = F('half-a-signature') ? s.subarray(0, 16) : s, wanted = F('half-a-signature') ? want.subarray(0, 16) : want;
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
    if (!F('half-a-signature') && s.toString('base64url') !== parts[2]) return null;
  }
  if (claims.iss !== ISSUER) return null;
  const aud = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  if (!aud.includes(AUDIENCE)) return null;
  return claims;
}
function callerOf(req, keys) {
  const found = [];
  const bad = (invalid) => refuse('who_are_you', [], {
    'WWW-Authenticate': `ApiKey realm="Organ Rounds", in="query", name="key"${invalid ? ', error="invalid_key"' : ''}, Bearer realm="Organ Rounds"${invalid ? ', error="invalid_token"' : ''}`,
  });
  for (const k of keys) {
    const c = KEYS.get(k) ?? (F('keys-in-any-case') ? [...KEYS].find(([x]) => x.toLowerCase() === k.toLowerCase())?.[1] : undefined);
    if (!c) bad(true);
    found.push(c);
  }
  const auths = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === 'authorization') auths.push(req.rawHeaders[i + 1]);
  if (auths.length > 1) bad(true);
  if (auths.length === 1 && !(F('key-hides-token') && found.length)) {
    const m = /^Bearer +([^\s]+)$/i.exec(auths[0].trim());
    const c = m && byToken(m[1]);
    if (!c) bad(true);
    found.push(c);
  }
  if (!found.length) bad(false);
  for (const c of found) if (c.user !== found[0].user || c.id !== found[0].id) bad(true);
  return found[0];
}

// ---------------------------------------------------------------- one request
function readQuery(text) {
  const pairs = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const i = part.indexOf('=');
    const dec = (s) => { try { return decodeURIComponent(s.replaceAll('+', ' ')); } catch { return '\uFFFD'; } };
    pairs.push(i < 0 ? [dec(part), ''] : [dec(part.slice(0, i)), dec(part.slice(i + 1))]);
  }
  return pairs;
}
/** Step 8: parameters, typed. */
function readParameters(c, pairs) {
  const known = c.route.query, page = c.route.page;
  const vs = [];
  c.query = Object.create(null); c.q = {};
  const v1 = c.v === 'v1';
  for (const [name, value] of pairs) {
    let to = name;
    if (c.op === 'list visit' && v1) { if (name === 'minutes') to = '\u0000'; if (name === 'duration') to = F('v1-duration-forgotten') ? '\u0000' : 'minutes'; }
    const isPage = page && (name === page.cursor || name === page.size);
    if (!isPage && !Object.hasOwn(known, to)) { if (!F('stray-parameters-pass')) vs.push({ path: name, expected: 'no such parameter' }); continue; }
    if (name in c.query) { vs.push({ path: name, expected: 'one value' }); continue; }
    c.query[name] = value;
    if (isPage) continue;
    let s = known[to], typed = value;
    if (s.t === 'integer') typed = /^-?(0|[1-9][0-9]*)$/.test(value) ? Number(value) : NaN;
    if (s.t === 'boolean') typed = value === 'true' ? true : value === 'false' ? false : value;
    if (v1 && to === 'severity') s = { ...s, enum: ['slight', 'serious', 'grave'] };
    if (v1 && to === 'sort') s = { ...s, enum: ['planned_for', '-planned_for', 'duration', '-duration'] };
    if (check(s, typed, name, vs)) c.q[to] = typed;
  }
  if (vs.length) refuse('bad_query', vs);
}
const onces = new Map();
function handle(req, res, body, tooBig) {
  tick();
  const requestId = 'req_' + randomBytes(9).toString('hex');
  let extra = {}, links = [];
  const c = { req };
  const answer = (status, obj, headers = {}) => {
    const all = { ...headers, ...extra, Vary: 'Authorization' };
    if (links.length) all.Link = links.join(', ');
    const text = obj === undefined ? undefined : JSON.stringify(obj);
    if (text !== undefined) { all['Content-Type'] = 'application/json'; all['Content-Length'] = Buffer.byteLength(text); }
    res.writeHead(status, all);
    res.end(text);
  };
  try {
    // 1: sizes
    let target = req.url;
    const counted = F('query-not-measured') ? target.split('?')[0] : target;
    if (Buffer.byteLength(counted) > 2048) refuse('target_too_long');
    let hs = 0;
    for (let i = 0; i < req.rawHeaders.length; i += 2) hs += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
    if (hs > 8192) refuse('headers_too_big');
    // 2: route, method, version
    target = target.replace(/^https?:\/\/[^/?#]*/i, '').split('#')[0];
    const qi = target.indexOf('?');
    const path = qi < 0 ? target : target.slice(0, qi);
    const pairs = readQuery(qi < 0 ? '' : target.slice(qi + 1));
    const keys = pairs.filter(([k]) => k === 'key').map(([, v]) => v);
    const query = pairs.filter(([k]) => k !== 'key');
    let rest;
    if (path.startsWith(BASE + '/')) rest = path.slice(BASE.length + 1).split('/');
    else if (F('base-is-optional') && /^\/v[12]\//.test(path)) rest = path.slice(1).split('/');
    else refuse('not_there');
    const version = VERSIONS.includes(rest[0]) ? rest[0] : undefined;
    let found = matches(rest.slice(1), version);
    if (!version && !found.length) found = matches(rest);
    if (version === 'v1') deprecate();
    if (!found.length) refuse('not_there');
    if (req.method === 'OPTIONS') { res.writeHead(204, { Allow: allowOf(found), ...extra, ...(links.length ? { Link: links.join(', ') } : {}) }); res.end(); return; }
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const hit = found.find((f) => f.route.method === method);
    if (!hit) F('wrong-method-is-404') ? refuse('not_there') : refuse('not_that_way', [], { Allow: allowOf(found) });
    c.v = version;
    if (!version) { if (F('unknown-version-is-current')) c.v = 'v2'; else refuse('no_such_version'); }
    if (version === 'v1' && now() >= V1_SUNSET + (F('sunset-a-day-late') ? D : 0)) refuse('version_over');
    c.route = hit.route; c.op = hit.route.op; c.params = hit.params;
    function deprecate() {
      extra.Deprecation = '@' + V1_DEPRECATED / 1000;
      extra.Sunset = new Date(V1_SUNSET).toUTCString();
      const q = query.map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join('&');
      const next = `${BASE}/v2/${rest.slice(1).join('/')}${q ? '?' + q : ''}`.replace(/[<>"\s]/g, encodeURIComponent);
      links.push('<https://organrounds.example/to-v2>; rel="deprecation"', `<${next}>; rel="successor-version"`);
    }
    // 4, 5, 6: caller, rates, user
    c.caller = callerOf(req, keys);
    const r = rate(c.caller);
    Object.assign(extra, r.headers);
    if (r.refused) refuse('too_fast');
    if (!c.route.users.includes(c.caller.user)) refuse('not_yours');
    // 8: body, parameters, page
    if (c.route.body) {
      if (body.length || tooBig) {
        const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
        if (type !== 'application/json' && !(method === 'PATCH' && type === 'application/merge-patch+json') && !(F('any-text-is-json') && type === 'text/plain')) refuse('wrong_media');
      }
      if (tooBig || (F('a-byte-less') && body.length >= 16384)) refuse('too_big');
      if (!body.length) refuse('unreadable');
      try { c.body = JSON.parse(strict.decode(body)); } catch { refuse('unreadable'); }
    }
    readParameters(c, query);
    const once = c.route.once ? req.headers['rounds-once'] : undefined;
    if (c.route.once === 'required' && (once === undefined || once === '')) refuse('bad_query', [{ path: 'Rounds-Once', expected: 'a key' }]);
    if (c.route.page) c.page = readPage(c);
    // 9: idempotency
    let record;
    if (once) {
      const key = JSON.stringify([F('keys-of-all-callers') ? '' : c.caller.user + ' ' + c.caller.id, c.op, once]);
      const print = sha(JSON.stringify([path, query, c.v, F('once-forgets-the-body') ? '' : body.toString('latin1')]));
      const old = onces.get(key);
      const keep = F('once-for-an-hour') ? H : 12 * H;
      if (old && now() < old.at + keep) {
        if (old.print !== print) refuse('once_reused');
        return answer(old.status, old.body, old.headers);
      }
      record = (status, b, headers) => {
        if (onces.size > 20000) for (const [k, o] of onces) if (now() >= o.at + keep) onces.delete(k);
        onces.set(key, { at: now(), print, status, body: b, headers });
      };
    }
    // 10 to 15
    let out;
    try { out = OPS[c.op](c); } catch (e) {
      if (record && e instanceof Refusal && OWN.has(e.code)) record(CODES[e.code][0], refusalBody(e, requestId), {});
      throw e;
    }
    flush();
    if (out.stream) return openStream(c, req, res, extra, links);
    if (out.links) links.push(...out.links);
    const headers = out.headers ?? {};
    if (c.route.etag) {
      headers.ETag = tagOf(c.route.etag, c.row, c);
      const inm = req.headers['if-none-match'];
      if (inm !== undefined && (inm.trim() === '*' || inm.split(',').some((t) => t.trim().replace(/^W\//, '') === headers.ETag))) {
        res.writeHead(304, { ...headers, ...extra, Vary: 'Authorization', ...(links.length ? { Link: links.join(', ') } : {}) });
        res.end();
        return;
      }
    }
    if (record && out.status < 300) record(out.status, out.body, headers);
    answer(out.status, out.body, headers);
  } catch (e) {
    pending = [];
    if (!(e instanceof Refusal)) { console.error(e); answer(500, { faults: [{ code: 'internal', says: 'It failed.' }], request: requestId }); return; }
    let [status] = CODES[e.code];
    if (F('lost-link-is-404') && e.code === 'no_such_link') status = 404;
    if (F('refusals-not-deprecated') && status >= 400) { delete extra.Deprecation; delete extra.Sunset; links.length = 0; }
    answer(status, refusalBody(e, requestId), e.headers);
  }
}
function openStream(c, req, res, extra, links) {
  res.writeHead(200, { ...extra, ...(links.length ? { Link: links.join(', ') } : {}), 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', Vary: 'Authorization' });
  if (req.method === 'HEAD') { res.end(); return; }
  const s = {
    caller: c.caller,
    send(e) {
      if (res.writableLength > 256 * 1024) { res.destroy(); return; }
      res.write(`id: ${e.id}\nevent: ${e.kind}\ndata: ${envelope(e, c.v, c.caller.user)}\n\n`);
    },
  };
  res.write(': open\n\n');
  const last = req.headers['last-event-id'];
  if (last) {
    const i = log.findIndex((e) => e.id === last);
    const keep = F('stream-keeps-an-hour') ? H : 24 * H;
    for (const e of log.slice(F('last-event-again') ? Math.max(0, i) : i + 1)) if (e.t > now() - keep && receives(c.caller, e)) s.send(e);
  }
  streams.add(s);
  const beat = setInterval(() => res.write(': still here\n\n'), 15000);
  res.on('close', () => { clearInterval(beat); streams.delete(s); });
  res.on('error', () => {});
}

// ---------------------------------------------------------------- doors
const BODY_MAX = 16 * 1024;
const server = http.createServer({ maxHeaderSize: 256 * 1024, requestTimeout: 0, headersTimeout: 10000, keepAliveTimeout: 60000, connectionsCheckingInterval: 1000 }, (req, res) => {
  const chunks = [];
  let size = 0, over = false;
  const late = setTimeout(() => {
    if (over || res.headersSent) return;
    over = true;
    const text = JSON.stringify(refusalBody(new Refusal('too_slow'), 'req_' + randomBytes(9).toString('hex')));
    res.writeHead(408, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), Connection: 'close' });
    res.end(text, () => req.destroy());
  }, 10000);
  req.on('data', (x) => { size += x.length; if (size <= BODY_MAX) chunks.push(x); else if (size > 64 * 1024 * 1024) req.destroy(); });
  req.on('end', () => { clearTimeout(late); if (!over) { over = true; handle(req, res, size > BODY_MAX ? Buffer.alloc(0) : Buffer.concat(chunks), size > BODY_MAX); } });
  req.on('error', () => clearTimeout(late));
  req.on('close', () => clearTimeout(late));
  res.on('error', () => {});
});
server.on('clientError', (err, socket) => {
  if (!socket.writable) return socket.destroy();
  const code = err.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_big' : err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : 'unreadable';
  const text = JSON.stringify(refusalBody(new Refusal(code), 'req_' + randomBytes(9).toString('hex')));
  socket.end(`HTTP/1.1 ${CODES[code][0]} ${http.STATUS_CODES[CODES[code][0]]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(PORT, '127.0.0.1');

const DURATION = /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
function plus(ms, text) {
  const m = DURATION.exec(text);
  if (!m) return NaN;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((x) => Number(x ?? 0));
  const t = new Date(ms), day = t.getUTCDate();
  t.setUTCDate(1);
  t.setUTCMonth(t.getUTCMonth() + y * 12 + mo);
  t.setUTCDate(Math.min(day, new Date(Date.UTC(t.getUTCFullYear(), t.getUTCMonth() + 1, 0)).getUTCDate()));
  return t.getTime() + (w * 7 + d) * D + h * H + mi * MIN + Math.round(s * 1000);
}
http.createServer((req, res) => {
  let text = '';
  req.on('data', (x) => { text += x; });
  req.on('end', () => {
    const say = (status, obj) => { res.writeHead(status, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(obj)); };
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    let b;
    try { b = JSON.parse(text); } catch { return say(400, { error: 'no JSON' }); }
    if (req.method !== 'POST' || !isMap(b) || Object.keys(b).length !== 1) return say(400, { error: 'advance or now' });
    const t = now();
    const target = typeof b.advance === 'string' ? plus(t, b.advance) : typeof b.now === 'string' ? instant(b.now) : NaN;
    if (!(target < 8.6e15)) return say(400, { error: 'no such time' });
    if (target < t) return say(422, { error: 'that has passed' });
    runDue(target);
    offset += Math.max(0, target - now());
    tick();
    setTimeout(() => say(200, { now: iso(now()) }), 5);
  });
}).listen(CLOCK_PORT, '127.0.0.1');
process.on('uncaughtException', (e) => console.error(e));
