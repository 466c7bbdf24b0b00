// Crown Lab: a dental laboratory. One file, node:* only.
// State is immutable; a change is a pure function (state, context) -> { state, events, timers, result }.
// A request runs through a pipeline of middlewares: next => exchange => answer.
import http from 'node:http';
import https from 'node:https';
import { createHash, createHmac, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';

const option = (name) => { const i = process.argv.indexOf('--' + name); return i < 0 ? undefined : process.argv[i + 1]; };
const FAULT = option('fault');
const bug = (id) => FAULT === id;

// ---------------------------------------------------------------- clock and agenda (the only mutable corner beside `world`)
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const clock = { offset: 0 };
const nowMs = () => Date.now() + clock.offset;
const iso = (ms) => new Date(ms).toISOString();

const agenda = (() => {
  let heap = [], seq = 0;
  const less = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
  const add = (at, run) => {
    const item = { at, run, seq: seq++ };
    let i = heap.push(item) - 1;
    while (i > 0) { const p = (i - 1) >> 1; if (!less(heap[i], heap[p])) break; [heap[i], heap[p]] = [heap[p], heap[i]]; i = p; }
    arm();
  };
  const peek = () => heap[0];
  const pop = () => {
    const top = heap[0], last = heap.pop();
    if (heap.length) {
      heap[0] = last;
      for (let i = 0; ;) {
        let m = i; const l = 2 * i + 1, r = l + 1;
        if (l < heap.length && less(heap[l], heap[m])) m = l;
        if (r < heap.length && less(heap[r], heap[m])) m = r;
        if (m === i) break;
        [heap[i], heap[m]] = [heap[m], heap[i]]; i = m;
      }
    }
    return top;
  };
  let handle = null, armedFor = Infinity;
  function arm() {
    const top = peek();
    if (!top) return;
    if (handle && armedFor <= top.at) return;
    if (handle) clearTimeout(handle);
    armedFor = top.at;
    handle = setTimeout(() => { handle = null; armedFor = Infinity; due(); }, Math.min(Math.max(top.at - nowMs(), 0), 2 ** 31 - 1));
  }
  const rearm = () => { if (handle) clearTimeout(handle); handle = null; armedFor = Infinity; arm(); };
  let busy = false;
  function due() {
    if (busy) return;
    busy = true;
    try { while (peek() && peek().at <= nowMs()) pop().run(); } finally { busy = false; arm(); }
  }
  return { add, peek, pop, due, rearm };
})();

// ---------------------------------------------------------------- a persistent table: buckets by hash, copied on write
const WIDTH = 512;
const hash = (s) => { let h = 2166136261; for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 16777619); return (h >>> 0) % WIDTH; };
const table = { next: 1, buckets: Object.freeze(Array(WIDTH).fill(Object.freeze([]))) };
const sorted = new WeakMap();
const rowsOf = (t) => {
  let all = sorted.get(t);
  if (!all) { all = t.buckets.flat().sort((a, b) => a._seq - b._seq); sorted.set(t, all); }
  return all;
};
const getRow = (t, key) => (typeof key === 'string' ? t.buckets[hash(key)].find((r) => r._key === key) : undefined);
const withBucket = (t, h, bucket, next = t.next) => ({ next, buckets: Object.freeze(t.buckets.map((b, i) => (i === h ? Object.freeze(bucket) : b))) });
const putRow = (t, row) => {
  const h = hash(row._key), old = t.buckets[h].find((r) => r._key === row._key);
  const kept = Object.freeze({ ...row, _seq: old ? old._seq : t.next });
  return withBucket(t, h, old ? t.buckets[h].map((r) => (r === old ? kept : r)) : [...t.buckets[h], kept], old ? t.next : t.next + 1);
};
const dropRow = (t, key) => withBucket(t, hash(key), t.buckets[hash(key)].filter((r) => r._key !== key));

// ---------------------------------------------------------------- values
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SMALL = 'abcdefghijklmnopqrstuvwxyz0123456789';
const randomText = (n, letters) => Array.from({ length: n }, () => letters[randomInt(letters.length)]).join('');
const same = (a, b) => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false;
  const ka = Object.keys(a), kb = Object.keys(b);
  return ka.length === kb.length && ka.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]));
};
const isMap = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
const monthDays = (y, m) => new Date(Date.UTC(y, m, 0)).getUTCDate();
const isDate = (s) => { const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s); return !!m && +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= monthDays(+m[1] || 4, +m[2]); };
const isDateTime = (s) => {
  const m = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-](\d\d):(\d\d))$/.exec(s);
  return !!m && isDate(m[1]) && +m[2] < 24 && +m[3] < 60 && +m[4] < 60 && (m[7] === undefined || (+m[7] < 24 && +m[8] < 60));
};
const instant = (s) => Date.parse(s.toUpperCase().replace(/(\.\d{3})\d+/, '$1'));
const isUri = (s) => /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(s) && (s.match(/#/g) ?? []).length < 2;
const isHttpUrl = (s) => { try { return ['http:', 'https:'].includes(new URL(s).protocol) && /^https?:\/\/[^/?#]/i.test(s); } catch { return false; } };

// A check is a function value -> list of { at: [steps], kind, expected }
const fail = (expected, kind = 'value', at = []) => [{ at, kind, expected }];
const text = ({ min = 0, max = Infinity, pattern, format, expected } = {}) => (v) => {
  if (typeof v !== 'string') return fail('string', 'type');
  const n = [...v].length;
  if (n < min) return fail(`at least ${min} characters`);
  if (n > max) return fail(`at most ${max} characters`);
  if (pattern && !pattern.test(v)) return fail(`a text like ${pattern.source}`);
  if (format && !format(v)) return fail(expected);
  return [];
};
const whole = (min, max) => (v) => (typeof v !== 'number' ? fail('integer', 'type') : !Number.isInteger(v) ? fail('integer', 'type') : v < min ? fail(`at least ${min}`) : v > max ? fail(`at most ${max}`) : []);
const bool = (v) => (typeof v === 'boolean' ? [] : fail('boolean', 'type'));
const oneOf = (...values) => Object.assign((v) => (typeof v !== 'string' ? fail('string', 'type') : values.includes(v) ? [] : fail('one of ' + values.join(', '))), { values });
const listOf = (item, min, max, unique) => (v) => {
  if (!Array.isArray(v)) return fail('array', 'type');
  if (v.length < min) return fail(`at least ${min} items`);
  if (v.length > max) return fail(`at most ${max} items`);
  const inner = v.flatMap((x, i) => item(x).map((f) => ({ ...f, at: [i, ...f.at] })));
  if (inner.length) return inner;
  return unique && v.some((x, i) => v.findIndex((y) => same(x, y)) < i) ? fail('items that differ') : [];
};
const mapOf = (fields, required, closed = true) => (v) => {
  if (!isMap(v)) return fail('object', 'type');
  const sent = Object.keys(v).flatMap((k) => (Object.hasOwn(fields, k) ? fields[k](v[k]).map((f) => ({ ...f, at: [k, ...f.at] })) : closed ? fail('no such field', 'unknown', [k]) : []));
  return [...sent, ...required.filter((k) => !Object.hasOwn(v, k)).flatMap((k) => fail('a value', bug('x-nested-missing') && closed ? 'value' : 'missing', [k]))];
};

// ---------------------------------------------------------------- resources
const KINDS = ['case.ordered', 'case.moved', 'case.shipped', 'remake.asked', 'remake.answered', 'lot.expiring', 'case.unpaid', 'material.repriced', 'pickup.ended'];
const kindWanted = (wanted, kind) => wanted === undefined || wanted.some((w) => w === '*' || w === kind
  || (w.endsWith('.*') && (bug('v-star') ? kind === w.slice(0, -2) + '.ordered' : kind.startsWith(w.slice(0, -1)))));
const isKind = (v) => (typeof v !== 'string' ? fail('string', 'type') : v === '*' || KINDS.includes(v) || (v.endsWith('.*') && KINDS.some((k) => k.startsWith(v.slice(0, -1)))) ? [] : fail('a kind of event'));
const dateTime = text({ format: isDateTime, expected: 'date-time' });
const refTo = (resource) => Object.assign(text(), { ref: resource });
const scanShape = mapOf({ url: text({ max: 200, format: isUri, expected: 'uri' }), scanner: oneOf('trios', 'itero', 'primescan', 'other') }, ['url', 'scanner']);

// A field: { check } is written by callers; { own: true } is not. Also: immutable, fallback (a default), optional, seen, written (by whom), derive, once
const RESOURCES = {
  material: {
    id: 'code', path: '/materials/',
    fields: {
      code: { check: text({ pattern: /^[a-z][a-z0-9-]{2,23}$/ }), immutable: true },
      name: { check: text({ min: 2, max: 60 }) },
      family: { check: oneOf('zirconia', 'glass_ceramic', 'alloy', 'resin') },
      cents_per_unit: { check: whole(100, 200000) },
    },
  },
  lot: {
    id: 'id', path: '/lots/', make: () => 'lot_' + randomText(10, SMALL), tagged: true,
    fields: {
      id: { own: true },
      material: { check: refTo('material'), immutable: true },
      batch: { check: text({ pattern: /^[A-Z0-9-]{4,16}$/ }), immutable: true },
      units: { check: whole(0, bug('r-units-max') ? 501 : 500) },
      expires_at: { check: dateTime },
      state: { own: true },
    },
  },
  case: {
    id: 'id', path: '/cases/', make: () => 'case_' + randomText(12, SMALL), tagged: true,
    fields: {
      id: { own: true }, number: { own: true }, dentist: { own: true }, practice: { own: true },
      patient: { check: text({ pattern: /^P-[0-9]{4,8}$/ }) },
      kind: { check: oneOf('crown', 'bridge', 'veneer', 'inlay'), immutable: true },
      teeth: { check: listOf(whole(11, 48), 1, 14, true), immutable: true },
      shade: { check: text({ pattern: bug('r-shade-open') ? /^[A-D][1-4]/ : /^[A-D][1-4]$/ }) },
      material: { check: refTo('material'), immutable: true },
      scan: { check: scanShape, merged: true },
      due_on: { check: text({ format: isDate, expected: 'date' }) },
      rush: { check: bool, fallback: false, immutable: !bug('r-rush-changes') },
      bench_note: { check: text({ max: 300 }), optional: true, seen: ['technician', 'manager'], written: ['technician', 'manager'] },
      price_cents: { own: true, seen: ['dentist', 'manager'] },
      state: { own: true }, technician: { own: true }, lot: { own: true },
      remakes: { own: true, derive: (state, row) => rowsOf(state.remake).filter((r) => r.case === row.id && r.state === 'accepted').length },
      shipped_at: { own: true }, paid_at: { own: true },
    },
    rules: [{ field: 'teeth', reads: ['kind', 'teeth'], broken: (n) => n.kind === 'bridge' && n.teeth.length < 2, expected: 'two teeth at the least for a bridge' }],
  },
  remake: {
    id: 'id', path: '/remakes/', make: () => 'rmk_' + randomText(bug('r-remake-id') ? 8 : 10, SMALL),
    fields: { id: { own: true }, case: { check: refTo('case'), immutable: true }, reason: { check: oneOf('shade', 'fit', 'fracture', 'contour') }, state: { own: true } },
  },
  pickup: {
    id: 'id', path: '/pickups/', make: () => 'pck_' + randomText(10, SMALL),
    fields: {
      id: { own: true }, dentist: { own: true },
      address: { check: text({ min: 5, max: 120 }) },
      from_at: { check: dateTime }, until_at: { check: dateTime },
      parcels: { check: whole(1, 20), fallback: 1 },
      courier: { own: true }, state: { own: true },
    },
    rules: [{ field: 'until_at', reads: ['from_at', 'until_at'], broken: (n) => instant(n.until_at) <= instant(n.from_at), expected: 'a time after from_at' }],
  },
  hook: {
    id: 'id', path: '/hooks/', make: () => 'hook_' + randomText(12, SMALL),
    fields: {
      id: { own: true }, owner: { own: true },
      url: { check: text({ max: 300, format: (s) => isUri(s) && isHttpUrl(s), expected: 'uri' }) },
      events: { check: listOf(isKind, 1, 12, false), optional: true },
      secret: { own: true, once: true },
      enabled: { check: bool, fallback: true },
    },
  },
};

// ---------------------------------------------------------------- versions: lenses between the stored shape and older ones
const VERSIONS = ['2024-11', '2025-06', '2026-02'];
const CURRENT = '2026-02';
const NOTICES = {
  '2024-11': { deprecated: Date.UTC(2025, 8, 1), sunset: Date.UTC(2027, 8, 1), link: 'https://crownlab.example/upgrade', successor: true },
  '2025-06': { deprecated: Date.UTC(2026, 2, 1) },
};
const euros = { price_cents: { name: 'price', down: (v) => v / 100 } };
const phone = { phone: { check: text({ max: 20 }), down: 'none' } };
const REASONS = { shade: 'colour' };
const LENSES = {
  '2024-11': {
    case: { renamed: { shade: { name: 'tooth_shade' }, ...euros }, absent: bug('w-rush-old') ? [] : ['rush'] },
    remake: { renamed: { reason: { name: 'reason', down: (v) => REASONS[v] ?? v, up: (v) => Object.keys(REASONS).find((k) => REASONS[k] === v) ?? v, check: oneOf('colour', 'fit', 'fracture', 'contour') } } },
    pickup: { extra: phone },
  },
  '2025-06': { case: { renamed: euros }, pickup: { extra: phone } },
  '2026-02': {},
};
const lensOf = (version, resource) => ({ renamed: {}, absent: [], extra: {}, ...LENSES[version][resource] });
const downward = (version, resource, shown) => {
  const { renamed, absent, extra } = lensOf(version, resource);
  const carried = Object.entries(shown).filter(([k]) => !absent.includes(k)).map(([k, v]) => (renamed[k] ? [renamed[k].name, renamed[k].down ? renamed[k].down(v) : v] : [k, v]));
  return Object.fromEntries([...carried, ...Object.entries(extra).map(([k, e]) => [k, e.down])]);
};
// name in that version -> { field, spec, check, up } ; what was removed since is { gone: true }
const namesIn = (version, resource) => {
  const { renamed, absent, extra } = lensOf(version, resource);
  return new Map([
    ...Object.entries(RESOURCES[resource].fields).filter(([f]) => !absent.includes(f)).map(([f, spec]) => [renamed[f]?.name ?? f, { field: f, spec, check: renamed[f]?.check ?? spec.check, up: renamed[f]?.up }]),
    ...Object.entries(extra).map(([name, e]) => [name, { gone: true, check: e.check, spec: { optional: true } }]),
  ]);
};
const NAMES = Object.fromEntries(VERSIONS.map((v) => [v, Object.fromEntries(Object.keys(RESOURCES).map((r) => [r, namesIn(v, r)]))]));

const show = (state, resource, row, user, version, { revealed = false } = {}) => {
  const shown = {};
  for (const [f, spec] of Object.entries(RESOURCES[resource].fields)) {
    if (spec.seen && !spec.seen.includes(user)) continue;
    if (spec.once && !revealed) continue;
    const v = spec.derive ? spec.derive(state, row) : row[f];
    if (v !== undefined) shown[f] = v;
  }
  if (bug('r-shipped-format') && shown.shipped_at) shown.shipped_at = shown.shipped_at.slice(0, 19).replace('T', ' ');
  if (bug('r-enabled-absent') && resource === 'hook' && shown.enabled === true) delete shown.enabled;
  return downward(version, resource, shown);
};
const tagOf = (shown, version) => {
  const of = bug('e-etag-derived') && 'remakes' in shown ? { ...shown, remakes: 0, state: 0 } : shown;
  return '"' + createHash('sha1').update(version + JSON.stringify(of)).digest('base64url') + '"';
};

// ---------------------------------------------------------------- refusals
const CODES = {
  unreadable: [400, 'The body cannot be read as JSON.'], wrong_media: [415, 'Bodies are application/json.'],
  bad_parameter: [400, 'A parameter is not as it has to be.'], field_missing: [422, 'Something is missing.'], invalid: [422, 'Something is not as it has to be.'],
  no_such_path: [404, 'There is no such path.'], no_such_method: [405, 'This path has no such method.'], who_are_you: [401, 'Show a credential that is good here.'],
  scope_missing: [403, 'The credential lacks a scope.'], not_yours: [403, 'This is not for you to do.'], not_found: [404, 'There is no such thing.'],
  taken: [409, 'There is one already.'], dead_reference: [422, 'What it refers to is not there.'], in_use: [409, 'Others refer to it.'], wrong_state: [409, 'Its state does not let this be done.'],
  too_late: [409, 'Work on it has begun or it is over.'], lot_unfit: [409, 'The lot is not open, of another material, or too small.'],
  already_expired: [422, 'A lot that has expired is not taken in.'], not_shipped: [409, 'Only a case that was shipped can be sent back.'], pickup_past: [422, 'Nobody comes yesterday.'],
  changed: [412, 'It has changed since it was read.'], tag_missing: [bug('x-tag-status') ? 400 : 428, 'Say by If-Match which one you have read.'], key_reused: [409, 'The key was used for another request.'],
  slow_down: [429, 'Too many requests.'], enough: [429, 'That is as many as there may be.'], too_large: [413, 'That is too large.'], too_slow: [408, 'The request did not arrive in time.'],
  no_version: [400, 'There is no such version.'], version_over: [410, 'This version is over.'], broken: [500, 'Something went wrong here.'],
};
const OWN = new Set(['too_late', 'lot_unfit', 'already_expired', 'not_shipped', 'pickup_past']);
class Refusal extends Error { constructor(code, { status, breaches, headers } = {}) { super(code); Object.assign(this, { code, status: status ?? CODES[code][0], breaches, headers: headers ?? {} }); } }
const refuse = (code, more) => { throw new Refusal(code, more); };
const refusalBody = (r, x) => ({
  type: 'https://crownlab.example/problems/' + r.code, title: CODES[r.code][1], status: r.status, code: r.code, instance: x.path, trace: x.trace,
  ...(r.breaches?.length ? { breaches: r.breaches } : {}),
});
const dotted = (steps) => (bug('x-pointer') && steps.length > 1 ? '/' + steps.join('/') : steps.join('.'));

// ---------------------------------------------------------------- who may do what
const RULES = [
  { of: ['list material', 'read material'], to: 'anyone' },
  { of: ['create material', 'update material', 'delete material', 'create lot', 'update lot'], to: ['manager'] },
  { of: ['list lot', 'read lot', 'open lot'], to: ['technician', 'manager'] },
  { of: ['create case'], to: ['dentist'], scopes: ['cases'] },
  { of: ['list case', 'read case'], to: ['dentist'], where: (r, c) => r.practice === c.house },
  { of: ['list case', 'read case'], to: ['technician', 'manager'] },
  { of: ['update case', 'cancel case'], to: ['dentist'], where: (r, c, s, op) => (bug('a-colleague') && op === 'update case' ? r.practice === c.house : r.dentist === c.id) },
  { of: ['update case', 'mill case', 'glaze case'], to: ['technician'], where: (r, c) => r.technician === c.id },
  { of: ['take case'], to: ['technician'] },
  { of: ['inspect case'], to: ['technician'], where: (r, c) => r.technician !== undefined && (bug('a-own-inspect') || r.technician !== c.id) },
  { of: ['inspect case', 'ship case', 'pay case'], to: ['manager'] },
  { of: ['create remake'], to: ['dentist'], scopes: ['cases'] },
  { of: ['read remake'], to: ['dentist'], where: (r, c, state) => getRow(state.case, r.case)?.practice === c.house },
  { of: ['read remake'], to: ['technician', 'manager'] },
  { of: ['accept remake', 'decline remake'], to: ['manager'] },
  { of: ['create pickup'], to: ['dentist'] },
  { of: ['list pickup', 'read pickup', 'replace pickup'], to: ['dentist'], where: (r, c) => r.dentist === c.id },
  { of: ['list pickup', 'read pickup'], to: ['manager'] },
  { of: ['list pickup', 'read pickup'], to: ['courier'], where: (r, c) => r.state === 'booked' || r.courier === c.id },
  { of: ['claim pickup'], to: ['courier'], scopes: bug('a-claim-scope') ? undefined : ['pickups'] },
  { of: ['collect pickup'], to: ['courier'], where: (r, c) => r.courier === c.id },
  { of: ['create hook'], to: ['dentist', 'manager'] },
  { of: ['read hook', 'delete hook'], to: ['dentist', 'manager'], where: (r, c) => r.owner === c.id },
];
const RULES_OF = RULES.reduce((m, r) => r.of.reduce((n, op) => n.set(op, [...(n.get(op) ?? []), r]), m), new Map());
const NONE = Object.freeze([]);
const rulesFor = (op, caller) => (RULES_OF.get(op) ?? NONE).filter((r) => r.to === 'anyone' || (caller && r.to.includes(caller.user)));
const scoped = (rules, caller) => rules.filter((r) => !r.scopes || r.scopes.every((s) => caller.scopes.includes(s)));
const allows = (op, caller, row, state) => scoped(rulesFor(op, caller), caller).some((r) => !r.where || r.where(row, caller, state, op));

// ---------------------------------------------------------------- changes (pure): draft = { state, events, timers }
const emit = (draft, kind, resource, row, body, before) => ({ ...draft, events: [...draft.events, { kind, resource, row, body }] });
const timer = (draft, at, what, resource, key, mark) => ({ ...draft, timers: [...draft.timers, { at, what, resource, key, mark }] });
const store = (draft, resource, row) => ({ ...draft, state: { ...draft.state, [resource]: putRow(draft.state[resource], row) } });
const moved = (draft, was, is) => emit(draft, 'case.moved', 'case', is, { data: { case: is.id, was: was.state, is: is.state } });

const lotTimers = (draft, before, row) => {
  if (before && instant(before.expires_at) === instant(row.expires_at)) return draft;
  const at = instant(row.expires_at);
  return timer(timer(draft, at - 168 * HOUR, 'lot.expiring', 'lot', row._key, at), at, 'expire', 'lot', row._key, at);
};
const pickupTimers = (draft, before, row) => (before && instant(before.until_at) === instant(row.until_at) ? draft : timer(draft, instant(row.until_at), 'miss', 'pickup', row._key, instant(row.until_at)));

const MOVES = {
  open: { resource: 'lot', from: ['sealed'], to: () => 'open' },
  take: { resource: 'case', from: bug('s-take-milled') ? ['ordered', 'returned', 'milled'] : ['ordered', 'returned'], to: () => 'on_bench', set: (r, x) => ({ technician: x.caller.id }), told: true },
  mill: {
    resource: 'case', from: ['on_bench'], to: () => 'milled', set: (r, x) => ({ lot: x.body.lot }), told: true,
    guard: (next, state) => { const lot = getRow(state.lot, next.lot); return (lot && lot.state === 'open' && (bug('s-mill-material') || lot.material === next.material) && lot.units >= next.teeth.length) || refuse('lot_unfit'); },
    then: (draft, row) => { const lot = getRow(draft.state.lot, row.lot); return store(draft, 'lot', { ...lot, units: lot.units - row.teeth.length }); },
  },
  glaze: { resource: 'case', from: ['milled'], to: () => 'glazed', told: !bug('v-glaze-silent') },
  inspect: { resource: 'case', from: ['glazed'], to: (r, x) => (x.body.passed ? 'checked' : bug('s-fail-milled') ? 'milled' : 'on_bench'), told: true },
  ship: {
    resource: 'case', from: ['checked'], to: (r) => (r.paid_at !== undefined && !bug('s-ship-paid') ? 'settled' : 'shipped'), set: (r, x) => ({ shipped_at: iso(x.now) }),
    then: (draft, row, x) => {
      const told = emit(draft, 'case.shipped', 'case', row, { nested: 'case', data: bug('v-shipped-at') ? {} : { at: iso(x.now) } });
      return row.paid_at === undefined ? timer(told, instant(row.shipped_at) + 30 * DAY, 'case.unpaid', 'case', row._key, row.shipped_at) : told;
    },
  },
  pay: { resource: 'case', from: ['shipped'], to: () => 'settled', set: (r, x) => ({ paid_at: iso(x.now) }), told: true },
  cancel: { resource: 'case', from: ['ordered'], to: () => 'cancelled', otherwise: bug('x-too-late') ? 'wrong_state' : 'too_late', told: true },
  reopen: { resource: 'case', from: bug('s-reopen-settled') ? ['shipped'] : ['shipped', 'settled'], to: () => 'returned', told: true },
  accept: { resource: 'remake', from: ['asked'], to: () => 'accepted', answered: true, then: (draft, row, x) => (bug('s-reopen-settled') && getRow(draft.state.case, row.case).state === 'settled' ? draft : move(draft, 'reopen', getRow(draft.state.case, row.case), x)) },
  decline: { resource: 'remake', from: ['asked'], to: () => 'declined', answered: true },
  claim: { resource: 'pickup', from: ['booked'], to: () => 'claimed', set: (r, x) => ({ courier: x.caller.id }) },
  collect: { resource: 'pickup', from: ['claimed'], to: () => 'collected', ended: true },
};
function move(draft, name, row, x) {
  const m = MOVES[name];
  if (!m.from.includes(row.state)) refuse(m.otherwise ?? 'wrong_state');
  const set = { ...row, ...(m.set ? m.set(row, x) : {}) };
  if (m.guard) m.guard(set, draft.state);
  const next = { ...set, state: m.to(row, x) };
  const stored = store(draft, m.resource, next);
  const told = m.told ? moved(stored, row, next)
    : m.answered ? emit(stored, 'remake.answered', 'remake', bug('v-answer-stale') ? row : next, {})
      : m.ended ? emit(stored, 'pickup.ended', 'pickup', next, {}) : stored;
  return m.then ? m.then(told, next, x) : told;
}

// What the clock does: name -> (draft, row, mark, now) -> draft. A false condition when due cancels it.
const CLOCKED = {
  expire: (d, r, mark) => (['sealed', 'open'].includes(r.state) && instant(r.expires_at) === mark ? store(d, 'lot', { ...r, state: 'expired' }) : d),
  'lot.expiring': (d, r, mark) => (instant(r.expires_at) === mark ? emit(d, 'lot.expiring', 'lot', r, {}) : d),
  miss: (d, r, mark) => {
    if (!(bug('s-miss-claimed') ? ['booked'] : ['booked', 'claimed']).includes(r.state) || instant(r.until_at) !== mark) return d;
    const next = { ...r, state: 'missed' };
    return emit(store(d, 'pickup', next), 'pickup.ended', 'pickup', next, {});
  },
  'lapse case': (d, r) => { if (r.state !== 'ordered') return d; const next = { ...r, state: bug('s-lapsed-state') ? 'lapsed' : 'cancelled' }; return moved(store(d, 'case', next), r, next); },
  'lapse remake': (d, r) => { if (r.state !== 'asked') return d; const next = { ...r, state: 'declined' }; return emit(store(d, 'remake', next), 'remake.answered', 'remake', next, {}); },
  'case.unpaid': (d, r, mark) => (r.shipped_at === mark && (r.paid_at === undefined || bug('v-unpaid-paid')) ? emit(d, 'case.unpaid', 'case', r, { bare: r.id }) : d),
};

// Steps 14 (own errors) and 15 (unique, quota) and what is set, of each creation
const exists = (state, resource, test) => rowsOf(state[resource]).some(test);
const CREATE = {
  material: {
    fill: (n) => ({ ...n, _key: n.code }),
    unique: (n, s) => getRow(s.material, n.code) !== undefined || exists(s, 'material', (r) => r.name === n.name),
  },
  lot: {
    fill: (n) => ({ ...n, state: 'sealed' }),
    own: (n, s, x) => instant(n.expires_at) <= x.now && 'already_expired',
    unique: (n, s) => exists(s, 'lot', (r) => r.material === n.material && r.batch === n.batch && !(bug('r-batch-open') && r.state === 'open')),
    after: (d, row) => lotTimers(d, null, row),
  },
  case: {
    fill: (n, s, x) => ({
      ...n, number: 'L-' + String(s.cases + 1).padStart(5, '0'), dentist: x.caller.id, practice: x.caller.house, state: 'ordered',
      price_cents: getRow(s.material, n.material).cents_per_unit * n.teeth.length + (n.rush ? 5000 : 0),
    }),
    after: (d, row, x) => emit(timer({ ...d, state: { ...d.state, cases: d.state.cases + 1 } }, x.now + (bug('s-lapse-late') ? 15 : 14) * DAY, 'lapse case', 'case', row._key), 'case.ordered', 'case', row, {}),
  },
  remake: {
    fill: (n) => ({ ...n, state: 'asked' }),
    own: (n, s) => !(bug('x-settled') ? ['shipped'] : ['shipped', 'settled']).includes(getRow(s.case, n.case).state) && 'not_shipped',
    unique: (n, s) => exists(s, 'remake', (r) => r.case === n.case && r.state === 'asked'),
    after: (d, row, x) => emit(timer(d, x.now + 10 * DAY, 'lapse remake', 'remake', row._key), 'remake.asked', 'remake', row, {}),
  },
  pickup: {
    fill: (n, s, x) => ({ ...n, dentist: x.caller.id, state: 'booked' }),
    own: (n, s, x) => instant(n.from_at) < x.now && 'pickup_past',
    full: (n, s) => rowsOf(s.pickup).filter((r) => r.dentist === n.dentist && r.state === 'booked').length >= 8,
    after: (d, row) => pickupTimers(d, null, row),
  },
  hook: {
    fill: (n, s, x) => ({ ...n, owner: x.caller.id, secret: 'hks_' + randomText(32, ALNUM), _maker: x.caller, _version: x.version }),
    full: (n, s, x) => rowsOf(s.hook).filter((r) => r.owner === n.owner).length >= (bug('l-hooks') ? 5 : 4),
  },
};
const CHANGE = {
  material: {
    unique: (n, s) => exists(s, 'material', (r) => r._key !== n._key && r.name === n.name),
    after: (d, was, is) => (was.cents_per_unit !== is.cents_per_unit || bug('v-repriced') ? emit(d, 'material.repriced', 'material', is, { data: { material: is.code, was: was.cents_per_unit, is: is.cents_per_unit } }) : d),
  },
  lot: { own: (n, s, x) => instant(n.expires_at) <= x.now && 'already_expired', after: (d, was, is) => lotTimers(d, was, is) },
  case: {},
  pickup: { own: (n, s, x) => !bug('x-past-replace') && instant(n.from_at) < x.now && 'pickup_past', after: (d, was, is) => pickupTimers(d, was, is) },
};

const beginning = () => {
  const empty = { material: table, lot: table, case: table, remake: table, pickup: table, hook: table, cases: 0 };
  return [['zirconia-ht', 'Zirconia HT', 'zirconia', 4200], ['disilicate', 'Lithium disilicate', 'glass_ceramic', 3900], ['cobalt-chrome', 'Cobalt chrome', 'alloy', 2700]]
    .reduce((s, [code, name, family, cents_per_unit]) => ({ ...s, material: putRow(s.material, { _key: code, code, name, family, cents_per_unit }) }), empty);
};
let world = beginning();

// ---------------------------------------------------------------- committing: the one place where `world` becomes another
const commit = (draft) => {
  world = draft.state;
  for (const t of draft.timers) agenda.add(t.at, () => ring(t));
  for (const e of draft.events) tell(e);
};
const blank = () => ({ state: world, events: [], timers: [] });
function ring(t) {
  const row = getRow(world[t.resource], t.key);
  if (row) commit(CLOCKED[t.what](blank(), row, t.mark));
}

// ---------------------------------------------------------------- telling subscribers
const RETRY = [10 * SECOND, 2 * MINUTE, 15 * MINUTE];
const receivers = new Map();           // hook -> { chains: row -> deliveries, failingSince, notBefore, active }
let underWay = 0;
const mayHear = (state, maker, e) => bug('v-other-house') && e.kind === 'case.ordered' ? true : allows('read ' + e.resource, maker, e.row, state);
const bodyFor = (state, e, hook) => {
  const version = bug('w-hook-version') ? CURRENT : hook._version;
  if (e.body.bare) return e.body.bare;
  if (e.body.nested) return { [e.body.nested]: show(state, e.resource, e.row, hook._maker.user, version), ...e.body.data };
  return e.body.data ?? show(state, e.resource, e.row, hook._maker.user, version);
};
function tell(e) {
  const at = iso(nowMs()), id = 'ev_' + randomUUID();
  for (const hook of rowsOf(world.hook)) {
    if (!hook.enabled || !kindWanted(hook.events, e.kind) || !mayHear(world, hook._maker, e)) continue;
    const body = bodyFor(world, e, hook), chain = e.resource + ' ' + e.row._key;
    for (let n = bug('v-asked-twice') && e.kind === 'remake.asked' ? 2 : 1; n > 0; n--) {
      const r = receivers.get(hook.id) ?? receivers.set(hook.id, { chains: new Map(), notBefore: 0, active: 0 }).get(hook.id);
      const envelope = { event: n > 1 ? 'ev_' + randomUUID() : id, kind: e.kind, at, body };
      r.chains.set(chain, [...(r.chains.get(chain) ?? []), { envelope, tries: 0, nextAt: 0, flying: false }]);
      pump(hook.id);
    }
  }
}
function pump(hookId) {
  const r = receivers.get(hookId), hook = getRow(world.hook, hookId);
  if (!r) return;
  if (!hook || !hook.enabled) { receivers.delete(hookId); return; }
  const now = nowMs();
  for (const [chain, [head]] of r.chains) {
    if (r.active >= (r.failingSince === undefined ? 32 : 1)) return;
    if (!head.flying && Math.max(head.nextAt, r.notBefore) <= now) send(hook, r, chain, head);
  }
}
function send(hook, r, chain, d) {
  d.flying = true; r.active++; underWay++;
  if (bug('v-retry-id') && d.tries > 0) d.envelope = { ...d.envelope, event: 'ev_' + randomUUID() };
  const body = JSON.stringify(d.envelope), t = Math.floor(nowMs() / 1000);
  const signed = createHmac('sha256', hook.secret).update(bug('v-signature') ? body : `${t}.${body}`).digest('hex');
  let over = false;
  const done = (status, headers = {}) => {
    if (over) return;
    over = true; clearTimeout(patience); d.flying = false; r.active--; underWay--;
    landed(hook.id, r, chain, d, status, headers);
  };
  const patience = setTimeout(() => { req?.destroy(); done(0); }, 5000);
  let req;
  try {
    req = (hook.url.startsWith('https') ? https : http).request(hook.url, {
      method: 'POST', agent: false,
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Lab-Signature': `t=${t},v1=${signed}`, 'X-Lab-Event': d.envelope.kind },
    }, (res) => { done(res.statusCode, res.headers); res.resume(); setTimeout(() => res.destroy(), 1000).unref(); });
    req.on('error', () => done(0));
    req.end(body);
  } catch { done(0); }
}
const retryAfter = (value, now) => (value === undefined ? 0 : /^\d+$/.test(value) ? +value * 1000 : Math.max(0, (Date.parse(value) || 0) - now));
function landed(hookId, r, chain, d, status, headers) {
  const now = nowMs(), off = () => { receivers.delete(hookId); const hook = getRow(world.hook, hookId); if (hook) commit(store(blank(), 'hook', { ...hook, enabled: false })); };
  if (receivers.get(hookId) !== r) return;
  const advance = () => { const rest = r.chains.get(chain).slice(1); if (rest.length) r.chains.set(chain, rest); else r.chains.delete(chain); };
  if (status >= 200 && status < 300) { r.failingSince = undefined; advance(); return pump(hookId); }
  if (status === 410) return off();
  r.failingSince ??= now;
  if (now - r.failingSince >= DAY) return off();
  r.notBefore = Math.max(r.notBefore, now + Math.min(retryAfter(headers['retry-after'], now), DAY));
  if (d.tries >= (bug('v-one-retry') ? 1 : RETRY.length)) { advance(); }
  else { d.nextAt = now + RETRY[d.tries]; d.tries++; agenda.add(Math.max(d.nextAt, r.notBefore), () => pump(hookId)); }
  if (r.notBefore > now) agenda.add(r.notBefore, () => pump(hookId));
  pump(hookId);
}

// ---------------------------------------------------------------- who calls
const TOKEN_SECRET = process.env.CROWN_LAB_PASS_SECRET ?? 'crown-lab-pass-secret-for-trials-only';
const person = (user, id, house, scopes) => Object.freeze({ user, id, house, scopes: Object.freeze(scopes) });
const KEYS = new Map([
  ['clk_MqBe1IIqdDV532xrJRwK5Rkk', person('dentist', 'd-linden-1', 'linden', ['cases'])],
  ['clk_RpU6kZacQeK7JCUjETVhz0xC', person('dentist', 'd-linden-2', 'linden', ['cases'])],
  ['clk_Ea60JePk5LbWEW8ZinJEEare', person('dentist', 'd-harbor-1', 'harbor', ['cases'])],
  ['clk_9LbvYzAGU2WVp7GmspQqKrvk', person('dentist', 'd-harbor-2', 'harbor', [])],
  ['clk_16dvAQ8wQwuOcR4S0aeukCGe', person('manager', 'm-1', 'lab', [])],
  ['clk_3EBz0rfs0uhORlBm1R1QXIxz', person('manager', 'm-2', 'lab', [])],
  ['clk_S57Xznza91flU8IikDrsWuUo', person('manager', 'm-3', 'lab', [])],
]);
const BENCH = new Map([
  ['bench_IDOzJdo2VuzsThlgYtWk', person('technician', 't-1', 'lab', [])],
  ['bench_iiKQJioXiTXYsYSu9ZHx', person('technician', 't-2', 'lab', [])],
  ['bench_Irm0qaJSjIDbep59hzpM', person('technician', 't-3', 'lab', [])],
]);
const unb64 = (s) => (/^[A-Za-z0-9_-]+$/.test(s) ? JSON.parse(Buffer.from(s, 'base64url').toString('utf8')) : null);
const ofToken = (token, now) => {
  try {
    const parts = token.split('.');
    if (parts.length !== 3) return null;
    const head = unb64(parts[0]), claims = unb64(parts[1]);
    if (head?.alg !== 'HS256' || !isMap(claims) || head.crit !== undefined) return null;
    const right = createHmac('sha256', TOKEN_SECRET).update(parts[0] + '.' + parts[1]).digest(), sent = Buffer.from(parts[2], 'base64url');
    if (!bug('a-signature') && (parts[2] !== sent.toString('base64url') || sent.length !== right.length || !timingSafeEqual(sent, right))) return null;
    if (claims.iss !== 'https://couriers.example' || ![claims.aud].flat().includes('crown-lab')) return null;
    if (claims.exp !== undefined && !(typeof claims.exp === 'number' && now / 1000 < claims.exp + 5)) return null;
    if (claims.nbf !== undefined && !(typeof claims.nbf === 'number' && now / 1000 >= claims.nbf - 5)) return null;
    if (typeof claims.sub !== 'string' || typeof claims.depot !== 'string' || (claims.scope !== undefined && typeof claims.scope !== 'string')) return null;
    if (bug('p-courier-user')) return null;
    return person('courier', claims.sub, claims.depot, claims.scope ? claims.scope.split(' ') : []);
  } catch { return null; }
};
const REALM = 'realm="Crown Lab"';
const challenges = (bad) => [
  `ApiKey ${REALM}, in="header", name="X-Lab-Key"${bad ? ', error="invalid_key"' : ''}`,
  ...(bug('a-challenge') ? [] : [`Bench ${REALM}${bad ? ', error="invalid_key"' : ''}`]),
  `Bearer ${REALM}${bad ? ', error="invalid_token"' : ''}`,
].join(', ');
const unknown = (bad) => refuse('who_are_you', { headers: { 'WWW-Authenticate': challenges(bad) } });
const sentHeaders = (raw, name) => raw.flatMap((v, i) => (i % 2 === 0 && v.toLowerCase() === name ? [raw[i + 1]] : []));
const callerOf = (x) => {
  const keys = sentHeaders(x.raw, 'x-lab-key'), auths = sentHeaders(x.raw, 'authorization');
  if (!keys.length && !auths.length) return undefined;
  if (keys.length > 1 || auths.length > 1) unknown(true);
  const [scheme, credential] = auths.length ? (/^(\S+) +(\S+)$/.exec(auths[0].trim()) ?? [, '', '']).slice(1) : ['', ''];
  const word = bug('a-prefix-case') && scheme !== 'Bench' ? scheme.replace(/^bench$/i, '') : scheme.toLowerCase();
  const ofAuth = word.toLowerCase() === 'bench' ? BENCH.get(credential) : word.toLowerCase() === 'bearer' ? ofToken(credential, x.now) : null;
  const found = [...keys.map((k) => KEYS.get(k)), ...auths.map(() => ofAuth)];
  if (found.some((c) => !c) || found.some((c) => c.user !== found[0].user || c.id !== found[0].id)) {
    if (bug('a-bad-is-nobody') && x.route.op === 'list material') return undefined;
    unknown(true);
  }
  return found[0];
};

// ---------------------------------------------------------------- rates
const counters = new Map();
const slot = (name, fresh) => counters.get(name) ?? counters.set(name, fresh()).get(name);
const seconds = (ms) => Math.max(0, Math.ceil(ms / 1000));
const fixed = (name, limit, window, cost) => {
  const c = slot(name, () => ({ start: -Infinity, used: 0 }));
  const open = (now) => { if (now >= c.start + window) { c.start = now; c.used = 0; } };
  return {
    wait: (now) => { open(now); return c.used + cost > limit ? c.start + window - now : 0; },
    take: (now) => { open(now); c.used += cost; }, give: () => { c.used = Math.max(0, c.used - cost); },
    told: (now) => ({ limit, remaining: Math.max(0, limit - c.used), reset: seconds(c.start + window - now) }),
  };
};
const sliding = (name, limit, window) => {
  const c = slot(name, () => ({ at: [] }));
  const trim = (now) => { c.at = c.at.filter((t) => t + window > now); };
  return {
    wait: (now) => { trim(now); return c.at.length + 1 > limit ? c.at[c.at.length - limit] + window - now : 0; },
    take: (now) => { c.at.push(now); }, give: () => { c.at.pop(); },
    told: (now) => ({ limit, remaining: Math.max(0, limit - c.at.length), reset: c.at.length ? seconds(c.at[0] + window - now) : 0 }),
  };
};
const bucket = (name, limit, window, burst) => {
  const c = slot(name, () => ({ level: burst * window, at: -Infinity }));           // in units of 1/window of a request
  const fill = (now) => { if (now > c.at) { c.level = c.at === -Infinity ? burst * window : Math.min(burst * window, c.level + (now - c.at) * limit); c.at = now; } };
  return {
    wait: (now) => { fill(now); return c.level < window ? Math.ceil((window - c.level) / limit) : 0; },
    take: (now) => { fill(now); c.level -= window; }, give: () => { c.level = Math.min(burst * window, c.level + window); },
    told: (now) => { fill(now); const rest = Math.floor(c.level / window); return { limit, remaining: rest, reset: seconds(((rest + 1) * window - c.level) / limit) }; },
  };
};
const tellRates = (rates, now) => {
  const strictest = rates.map((r) => r.told(now)).sort((a, b) => a.remaining - b.remaining)[0];
  return strictest ? { 'X-Lab-Limit': strictest.limit, 'X-Lab-Remaining': strictest.remaining, 'X-Lab-Reset': strictest.reset } : {};
};
const counted = (rates, now, given = [], silent = false) => {
  const waits = rates.map((r) => r.wait(now)), longest = Math.max(0, ...waits);
  if (longest > 0) {
    given.forEach((r) => r.give());
    refuse('slow_down', { headers: { ...tellRates(rates, now), ...(silent ? {} : { 'Retry-After': seconds(longest) }) } });
  }
  rates.forEach((r) => r.take(now));
};

// ---------------------------------------------------------------- a quota by the calendar of Zurich
const zone = new Intl.DateTimeFormat('en-CA', { timeZone: bug('l-quota-zone') ? 'UTC' : 'Europe/Zurich', hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' });
const local = (ms) => Object.fromEntries(zone.formatToParts(ms).map((p) => [p.type, p.value]));
const dayOf = (ms) => { const p = local(ms); return `${p.year}-${p.month}-${p.day}`; };
const ahead = (ms) => { const p = local(ms); return Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second) - Math.floor(ms / 1000) * 1000; };
const dayEnd = (ms) => { const p = local(ms), midnight = Date.UTC(p.year, p.month - 1, +p.day + 1), guess = midnight - ahead(ms); return midnight - ahead(guess); };
const useQuota = (state, x) => {
  const day = dayOf(x.now), was = state.pickupsOf?.[x.caller.id], used = was?.day === day ? was.used : 0;
  if (used >= 25) refuse('enough', { headers: { 'Retry-After': seconds(dayEnd(x.now) - x.now) } });
  return { ...state, pickupsOf: { ...state.pickupsOf, [x.caller.id]: { day, used: used + 1 } } };
};

// ---------------------------------------------------------------- what is sent: held to the shape of its version, carried up
const breach = (steps, expected, place = 'body') => ({ in: place, path: dotted(steps), expected });
const held = (groups) => {
  const all = groups.flat();
  if (all.length) refuse(all[0].kind === 'missing' ? 'field_missing' : 'invalid', { breaches: all.map((f) => breach(f.at, f.expected)) });
};
const merge = (old, patch) => {
  if (!isMap(patch)) return patch;
  return Object.entries(patch).reduce((m, [k, v]) => { if (v === null) { const { [k]: gone, ...rest } = m; return rest; } return { ...m, [k]: v }; }, isMap(old) ? old : {});
};
function accept(x, resource, mode, row, bound = {}) {
  const names = NAMES[x.version][resource], spec = RESOURCES[resource], body = x.body;
  if (!isMap(body)) held([fail('object', 'type')]);
  const user = x.caller.user, order = Object.keys(body);
  const groups = order.map(() => []), taken = {}, removed = [];
  order.forEach((name, i) => {
    const n = names.get(name), v = body[name], wrong = (list) => { groups[i] = list.map((f) => ({ ...f, at: [name, ...f.at] })); };
    if (!n) return wrong(fail('no such field', 'unknown'));
    if (n.spec.own || (n.spec.written && !n.spec.written.includes(user))) return;
    if (v === null && mode === 'update') {
      if (n.spec.optional) { if (!n.gone) removed.push(n.field); return; }
      if (bug('r-null-due') && n.field === 'due_on') return;
      return wrong(fail('a value'));
    }
    const value = mode === 'update' && n.spec.merged ? merge(row[n.field], v) : v;
    const found = n.check(value);
    if (found.length) return wrong(found);
    if (n.gone) return;
    const carried = n.up ? n.up(value) : value;
    if (n.field in bound && bound[n.field] !== carried) return wrong(fail('as in the path'));
    if (row && n.spec.immutable && !same(row[n.field], carried)) return wrong(fail('as it was, it is immutable'));
    taken[n.field] = carried;
  });
  const missing = mode === 'update' ? [] : [...names].filter(([name, n]) => !Object.hasOwn(body, name) && !n.gone && !n.spec.own && !n.spec.optional && n.spec.fallback === undefined && !(n.field in bound) && !(row && n.spec.immutable))
    .flatMap(([name]) => fail('a value', 'missing', [name]));
  const base = mode === 'create' ? {} : mode === 'update' ? row
    : Object.fromEntries(Object.entries(row).filter(([f]) => { const s = spec.fields[f]; return !s || s.own || s.immutable || (s.seen && !s.seen.includes(user)); }));
  const defaults = mode === 'update' ? {} : Object.fromEntries(Object.entries(spec.fields).filter(([f, s]) => s.fallback !== undefined && base[f] === undefined).map(([f, s]) => [f, s.fallback]));
  const whole = { ...defaults, ...base, ...bound, ...taken };
  const next = Object.fromEntries(Object.entries(whole).filter(([f]) => !removed.includes(f)));
  const at = (field) => order.findIndex((name) => names.get(name)?.field === field);
  for (const rule of spec.rules ?? []) {
    if (rule.reads.some((f) => next[f] === undefined || (at(f) >= 0 && groups[at(f)].length)) || !rule.broken(next)) continue;
    const i = Math.max(at(rule.field), ...(at(rule.field) < 0 ? rule.reads.map(at) : [-1]));
    if (i >= 0) groups[i].push({ at: [[...names].find(([, n]) => n.field === rule.field)[0]], kind: 'value', expected: rule.expected });
  }
  held([...groups, missing]);
  for (const [f, v] of Object.entries(taken)) {
    const to = spec.fields[f].check.ref;
    if (to && !(f in bound) && !(row && row[f] === v)) existing(x, to, v);
  }
  return next;
}
const existing = (x, resource, key) => {
  const row = getRow(world[resource], key);
  return row && allows('read ' + resource, x.caller, row, world) ? row : refuse('dead_reference');
};
const inline = (check) => (x) => { held([isMap(x.body) ? check(x.body) : fail('object', 'type')]); };

// ---------------------------------------------------------------- operations: exchange -> answer
const json = (status, value, headers = {}) => ({ status, body: JSON.stringify(value), headers });
const BASE = '/lab';
const shown = (x, resource, row, more) => show(world, resource, row, x.caller?.user, x.version, more);
const tags = (x, resource, view) => (RESOURCES[resource].tagged ? { ETag: tagOf(view, x.version) } : {});
const load = (x, resource, key, op = x.route.op) => {
  const row = getRow(world[resource], key);
  if (!row || !allows('read ' + resource, x.caller, row, world)) return refuse(bug('a-pickup-403') && row && op === 'read pickup' ? 'not_yours' : 'not_found');
  if (bug('x-order') && op === 'update case' && x.headers['if-match'] === undefined) refuse('tag_missing');
  if (op && !allows(op, x.caller, row, world)) refuse('not_yours');
  return row;
};
const matches = (list, tag, weak) => list.trim() === '*' || (list.match(/(?:W\/)?"[^"]*"/g) ?? []).some((t) => t === tag || (weak && t.replace(/^W\//, '') === tag));

const create = (resource, parent) => (x) => {
  const bound = parent ? { [parent]: x.params[parent] } : {};
  if (parent) load(x, parent, x.params[parent], null);
  const c = CREATE[resource], spec = RESOURCES[resource];
  let sent;
  try { sent = accept(x, resource, 'create', undefined, bound); } catch (r) {
    if (bug('r-number-gap') && r.code === 'dead_reference' && resource === 'case') world = { ...world, cases: world.cases + 1 };
    throw r;
  }
  const key = spec.make?.();
  const next = c.fill({ ...sent, ...(key ? { id: key, _key: key } : {}) }, world, x);
  const own = c.own?.(next, world, x);
  if (own) refuse(own);
  if (c.unique?.(next, world)) refuse('taken');
  if (c.full?.(next, world, x)) refuse('enough');
  const draft = resource === 'pickup' ? { ...blank(), state: useQuota(world, x) } : blank();
  const stored = store(draft, resource, next);
  commit(c.after ? c.after(stored, next, x) : stored);
  const view = shown(x, resource, getRow(world[resource], next._key), { revealed: true });
  const location = bug('e-location') && parent === 'material' ? `${x.path}/${next._key}` : BASE + spec.path + encodeURIComponent(next._key);
  return { ...json(201, view, { Location: location, ...tags(x, resource, view) }), unrevealed: resource === 'hook' ? JSON.stringify(shown(x, resource, next)) : undefined };
};
const read = (resource, cache) => (x) => {
  const row = load(x, resource, x.params.id ?? x.params.code), view = shown(x, resource, row), headers = { ...tags(x, resource, view), ...(cache ? { 'Cache-Control': cache } : {}) };
  const asked = x.headers['if-none-match'];
  return headers.ETag && asked !== undefined && matches(asked, headers.ETag, true) ? { status: 304, headers } : json(200, view, headers);
};
const change = (resource, { mode = 'update', within, ifMatch } = {}) => (x) => {
  const row = load(x, resource, x.params.id ?? x.params.code), asked = x.headers['if-match'];
  if (ifMatch) {
    if (asked === undefined) { if (ifMatch === 'required') refuse('tag_missing'); }
    else if (!matches(asked, tagOf(shown(x, resource, row), x.version), false)) refuse('changed');
  }
  const next = accept(x, resource, mode, row), c = CHANGE[resource];
  if (within && !within.includes(row.state)) refuse('wrong_state');
  const own = c.own?.(next, world, x);
  if (own) refuse(own);
  if (c.unique?.(next, world)) refuse('taken');
  if (!same(row, next)) { const stored = store(blank(), resource, next); commit(c.after ? c.after(stored, row, next) : stored); }
  const view = shown(x, resource, getRow(world[resource], row._key));
  return json(200, view, tags(x, resource, view));
};
const remove = (resource, isHeld) => (x) => {
  const row = load(x, resource, x.params.id ?? x.params.code);
  if (isHeld?.(world, row)) refuse('in_use');
  commit({ ...blank(), state: { ...world, [resource]: dropRow(world[resource], row._key) } });
  return { status: 204, headers: {} };
};
const act = (name, { sent, refs, answer } = {}) => (x) => {
  const resource = MOVES[name].resource, row = load(x, resource, x.params.id);
  if (sent) sent(x);
  if (refs) refs(x);
  commit(move(blank(), name, row, x));
  const after = getRow(world[resource], row._key);
  if (answer) return json(200, answer(after, row));
  const view = shown(x, resource, after);
  return json(200, view, tags(x, resource, view));
};
const badParameter = (name, expected, place = 'query') => refuse('bad_parameter', { breaches: [breach([name], expected, place)] });
const wholeIn = (x, name, fallback, min, max, clamp) => {
  const v = x.query[name];
  if (v === undefined) return fallback;
  if (!/^\d{1,15}$/.test(v) || +v < min || (+v > max && !clamp)) badParameter(name, `a whole number from ${min} to ${max}`);
  return Math.min(+v, max);
};
const CURSOR_SECRET = randomUUID();
const seal = (bind, place) => { const p = Buffer.from(JSON.stringify(place)).toString('base64url'); return p + '.' + createHmac('sha256', CURSOR_SECRET).update(bind + '|' + p).digest('base64url').slice(0, 22); };
const unseal = (bind, mark) => { const [p] = mark.split('.'); try { const place = JSON.parse(Buffer.from(p, 'base64url').toString()); return seal(bind, place) === mark ? place : null; } catch { return null; } };
const kept = (x, resource, filters) => rowsOf(world[resource]).filter((r) => (bug('a-list-filtered') && x.query.kind !== undefined && resource === 'case' ? true : allows('list ' + resource, x.caller, r, world)) && filters.every((f) => f(r)));
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const ordered = (key, down) => (a, b) => (down ? compare(key(b), key(a)) : compare(key(a), key(b))) || a._seq - b._seq;
const listed = (resource, { filters, order, bind }) => (x) => {
  const size = x.page.size, [key, down] = order(x);
  const binding = [x.version, x.route.op, JSON.stringify(Object.entries(x.query).filter(([k]) => k !== 'mark' && k !== 'take').sort()), x.caller.user, bind(x.caller)].join('|');
  const place = x.query.mark === undefined ? undefined : unseal(binding, x.query.mark) ?? badParameter('mark', 'a mark of this list');
  const all = kept(x, resource, filters(x)).sort(ordered(key, down));
  const from = place === undefined ? 0 : all.findIndex((r) => ordered((y) => y.k ?? key(y), down)(r, { k: place[0], _seq: place[1] }) > 0);
  const page = from < 0 ? [] : all.slice(from, from + size), last = page[page.length - 1];
  const more = from >= 0 && from + size < all.length;
  const views = page.map((r) => {
    const plain = show(world, resource, r, x.caller.user, bug('w-price-list') ? (x.version === '2025-06' ? CURRENT : x.version) : x.version);
    const view = bug('r-note-in-list') && resource === 'case' && r.bench_note !== undefined ? { ...plain, bench_note: r.bench_note } : plain;
    if (bug('r-pickup-until') && resource === 'pickup') { const { until_at, ...rest } = view; return { ...rest, until: until_at }; }
    return view;
  });
  return json(200, { rows: views, next_mark: more ? seal(binding, [key(last), last._seq]) : null });
};
const by = (x, name, test) => (x.query[name] === undefined ? [] : [(r) => test(r, x.query[name])]);
const SHADES = JSON.stringify({ system: 'classical', shades: ['A1', 'A2', 'A3', 'A4', 'B1', 'B2', 'B3', 'B4', 'C1', 'C2', 'C3', 'C4', 'D1', 'D2', 'D3', 'D4'] });

// ---------------------------------------------------------------- endpoints
const valued = (...values) => (v) => values.includes(v) || 'one of ' + values.join(', ');
const anything = () => true;
const dated = (v) => isDate(v) || 'date';
const timed = (v) => isDateTime(v) || 'date-time';
const CASE_STATES = ['ordered', 'on_bench', 'milled', 'glazed', 'checked', 'shipped', 'settled', 'returned', 'cancelled'];
const marks = (x) => ({ size: wholeIn(x, 'take', 20, 1, 60, bug('l-take-clamp')) });
const markWords = { mark: anything, take: anything };
const E = (line, op, run, more = {}) => ({ line, op, run, query: {}, ...more });
const ENDPOINTS = [
  E('GET /shades', 'shade guide', () => ({ status: 200, body: SHADES, headers: {} }), { public: true }),
  E('POST /materials', 'create material', create('material'), { body: true }),
  E('GET /materials', 'list material', (x) => json(200, kept(x, 'material', by(x, 'family', (r, v) => r.family === v)).sort(ordered((r) => r.name)).map((r) => shown(x, 'material', r)), { 'Cache-Control': 'public, max-age=60' }),
    { query: { family: valued('zirconia', 'glass_ceramic', 'alloy', 'resin') } }),
  E('GET /materials/{code}', 'read material', read('material')),
  E('PATCH /materials/{code}', 'update material', change('material'), { body: true, patch: true }),
  E('DELETE /materials/{code}', 'delete material', remove('material', (s, row) => (!bug('x-held') && exists(s, 'lot', (r) => r.material === row.code)) || exists(s, 'case', (r) => r.material === row.code))),
  E('POST /materials/{material}/lots', 'create lot', create('lot', 'material'), { body: true }),
  E('GET /lots', 'list lot', (x) => {
    const { page, size } = x.page;
    const all = kept(x, 'lot', [...by(x, 'material', (r, v) => r.material === v), ...by(x, 'state', (r, v) => r.state === v), ...by(x, 'expires_before', (r, v) => instant(r.expires_at) < instant(v))]).sort(ordered((r) => instant(r.expires_at)));
    const lots = all.slice((page - 1) * size, page * size).map((r) => shown(x, 'lot', r));
    return json(200, { lots: bug('r-units-text') ? lots.map((l) => ({ ...l, units: String(l.units) })) : lots, total: bug('l-total') ? lots.length : all.length, more: page * size < all.length });
  }, {
    query: { material: anything, state: valued('sealed', 'open', 'expired'), expires_before: timed, page: anything, per_page: anything },
    paging: (x) => { const page = wholeIn(x, 'page', 1, 1, 1e15, false); return { page, size: wholeIn(x, 'per_page', 10, 1, 50, true) }; },
    since: '2026-02',
  }),
  E('GET /lots/{id}', 'read lot', read('lot')),
  E('PATCH /lots/{id}', 'update lot', change('lot', { within: ['sealed', 'open'], ifMatch: 'accepted' }), { body: true, patch: true }),
  E('POST /lots/{id}/open', 'open lot', act('open')),
  E('POST /cases', 'create case', create('case'), { body: true }),
  E('GET /cases', 'list case', listed('case', {
    filters: (x) => [...by(x, 'state', (r, v) => v.split(',').includes(r.state)), ...by(x, 'kind', (r, v) => r.kind === v), ...by(x, 'material', (r, v) => r.material === v), ...by(x, 'due_by', (r, v) => (bug('e-due-by') ? r.due_on < v : r.due_on <= v))],
    order: (x) => { const s = x.query.sort ?? 'due_on', f = s.replace(/^-/, ''); return [(r) => r[f], s.startsWith('-') && !(bug('e-sort-down') && f === 'number')]; },
    bind: (c) => (c.user === 'dentist' ? c.house : ''),
  }), {
    query: { state: (v) => (v.split(',').length <= 100 && v.split(',').every((s) => CASE_STATES.includes(s))) || 'states with commas between', kind: valued('crown', 'bridge', 'veneer', 'inlay'), material: anything, due_by: dated, sort: valued('due_on', '-due_on', 'number', '-number'), ...markWords }, paging: marks,
  }),
  E('GET /cases/{id}', 'read case', read('case', 'private, no-cache')),
  E('PATCH /cases/{id}', 'update case', change('case', { within: ['ordered', 'on_bench', 'returned'], ifMatch: 'required' }), { body: true, patch: true }),
  E('POST /cases/{id}/take', 'take case', act('take')),
  E('POST /cases/{id}/mill', 'mill case', act('mill', { sent: inline(mapOf({ lot: text() }, ['lot'], false)), refs: (x) => existing(x, 'lot', x.body.lot) }), { body: true }),
  E('POST /cases/{id}/glaze', 'glaze case', act('glaze')),
  E('POST /cases/{id}/inspect', 'inspect case', act('inspect', { sent: inline(bug('e-passed-missing') ? mapOf({ passed: bool }, [], false) : mapOf({ passed: bool }, ['passed'], false)) }), { body: true }),
  E('POST /cases/{id}/ship', 'ship case', act('ship')),
  E('POST /cases/{id}/pay', 'pay case', act('pay', { answer: (after, before) => ({ case: after.id, cents: after.price_cents, state: bug('e-pay-stale') ? before.state : after.state }) }), bug('p-pay-current') ? { since: '2026-02' } : {}),
  E('POST /cases/{id}/cancel', 'cancel case', act('cancel')),
  E('POST /cases/{case}/remakes', 'create remake', create('remake', 'case'), { body: true }),
  E('GET /remakes/{id}', 'read remake', read('remake')),
  E('POST /remakes/{id}/accept', 'accept remake', act('accept')),
  ...(bug('p-no-decline') ? [] : [E('POST /remakes/{id}/decline', 'decline remake', act('decline'))]),
  E('POST /pickups', 'create pickup', create('pickup'), { body: true, keyed: true }),
  E('GET /pickups', 'list pickup', listed('pickup', { filters: (x) => by(x, 'state', (r, v) => r.state === v), order: () => [(r) => instant(r.from_at), false], bind: (c) => (c.user === 'manager' ? '' : c.id) }),
    { query: { state: valued('booked', 'claimed', 'collected', 'missed'), ...markWords }, paging: marks }),
  E('GET /pickups/{id}', 'read pickup', read('pickup')),
  E('PUT /pickups/{id}', 'replace pickup', change('pickup', { mode: 'replace', within: ['booked'] }), { body: true }),
  E('POST /pickups/{id}/claim', 'claim pickup', act('claim')),
  E('POST /pickups/{id}/collect', 'collect pickup', act('collect')),
  E('POST /hooks', 'create hook', create('hook'), { body: true }),
  E('GET /hooks/{id}', 'read hook', read('hook')),
  E('DELETE /hooks/{id}', 'delete hook', remove('hook')),
];
const ROUTES = ENDPOINTS.map((e) => {
  const [method, path] = e.line.split(' ');
  const steps = ((bug('p-hooks-root') && e.op.endsWith(' hook') ? '' : BASE) + path).split('/').slice(1).map((s) => (s.startsWith('{') ? { name: s.slice(1, -1) } : { word: s }));
  return Object.freeze({ ...e, method, steps });
});
const BY_LENGTH = ROUTES.reduce((m, r) => m.set(r.steps.length, [...(m.get(r.steps.length) ?? []), r]), new Map());
const decoded = (s) => { try { return decodeURIComponent(s); } catch { return s; } };
const fits = (route, steps) => route.steps.every((s, i) => (s.word === undefined ? steps[i] !== '' : s.word === steps[i]));

// ---------------------------------------------------------------- the pipeline
const present = (headers) => Object.fromEntries(Object.entries(headers).filter(([, v]) => v !== undefined));
const ORIGIN = 'https://bench.crownlab.example';
const EXPOSED = 'Lab-Version, Location, ETag, Deprecation, Sunset, Link, Retry-After, WWW-Authenticate, Allow, X-Lab-Trace, X-Lab-Problem, X-Lab-Limit, X-Lab-Remaining, X-Lab-Reset, Cache-Control';
const notices = (version, path) => {
  const n = NOTICES[version];
  if (!n) return {};
  const links = [n.link && `<${n.link}>; rel="deprecation"`, n.successor && `<${path}>; rel="successor-version"`].filter(Boolean);
  return present({ Deprecation: '@' + n.deprecated / 1000, Sunset: n.sunset && !bug('w-no-sunset') ? new Date(n.sunset).toUTCString() : undefined, Link: links.length ? links.join(', ') : undefined });
};
const dress = (next) => async (x) => {
  const answer = await next(x);
  const version = VERSIONS.includes(x.asked) ? x.asked : CURRENT;
  return {
    ...answer,
    headers: {
      ...(answer.body !== undefined ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer.body) } : {}),
      'X-Lab-Trace': x.trace, ...(bug('w-unnamed') && x.asked === undefined ? {} : { 'Lab-Version': version }), Vary: 'Lab-Version, X-Lab-Key, Authorization, Origin', ...notices(version, x.path),
      ...(x.headers.origin === ORIGIN ? { 'Access-Control-Allow-Origin': ORIGIN, 'Access-Control-Expose-Headers': EXPOSED } : {}),
      ...answer.headers,
    },
  };
};
const catching = (next) => async (x) => {
  try { return await next(x); } catch (e) {
    if (!(e instanceof Refusal)) console.error(e);
    const r = e instanceof Refusal ? e : new Refusal('broken');
    return { status: r.status, body: JSON.stringify(refusalBody(r, x)), headers: { ...(bug('x-problem-header') && r.code === 'no_such_path' ? {} : { 'X-Lab-Problem': r.code }), ...r.headers } };
  }
};
const sizes = (next) => (x) => {
  if (Buffer.byteLength(bug('l-url-path') ? x.path : x.target) > 2048) refuse('too_large');
  if (x.raw.reduce((n, v) => n + Buffer.byteLength(v, 'latin1') + 2, 0) > 8192) refuse('too_large');
  return next(x);
};
const routing = (next) => (x) => {
  const bare = bug('e-trailing') && x.path.length > 1 ? x.path.replace(/\/$/, '') : x.path;
  const steps = bare.split('/').slice(1).map(decoded), version = VERSIONS.includes(x.asked) ? x.asked : CURRENT;
  const here = (BY_LENGTH.get(steps.length) ?? NONE).filter((r) => fits(r, steps) && (!r.since || r.since <= version || (bug('w-lots-old') && r.op === 'list lot')));
  if (!here.length) refuse('no_such_path');
  const methods = [...new Set(here.flatMap((r) => (r.method === 'GET' ? ['GET', 'HEAD'] : [r.method]))), 'OPTIONS'].join(', ');
  if (x.method === 'OPTIONS') {
    return { status: 204, headers: { Allow: methods, ...(x.headers.origin === ORIGIN ? { 'Access-Control-Allow-Methods': methods, 'Access-Control-Allow-Headers': x.headers['access-control-request-headers'] ?? 'Content-Type, X-Lab-Key, Authorization, Lab-Version, Idempotency-Key, If-Match, If-None-Match', 'Access-Control-Max-Age': 600 } : {}) } };
  }
  const route = here.find((r) => r.method === (x.method === 'HEAD' && !bug('e-head') ? 'GET' : x.method));
  if (!route) refuse('no_such_method', { headers: { Allow: methods } });
  if (x.asked !== undefined && !VERSIONS.includes(x.asked) && !bug('w-any-version')) refuse('no_version');
  if (NOTICES[version]?.sunset <= x.now && !bug('w-no-end')) refuse('version_over');
  return next({ ...x, route, version, params: Object.fromEntries(route.steps.flatMap((s, i) => (s.name ? [[s.name, steps[i]]] : []))) });
};
const addressRates = (next) => (x) => {
  const rates = x.route.op === 'list material' ? [bucket('materials ' + x.address, 60, MINUTE, 90)] : [];
  counted(rates, x.now, [], bug('l-retry-after'));
  return withRates(next, { ...x, rates }, rates);
};
const withRates = async (next, x, rates, settle) => {
  try {
    const answer = await next(x);
    if (settle) settle(answer);
    return { ...answer, headers: { ...tellRates(rates, nowMs()), ...answer.headers } };
  } catch (e) {
    const r = e instanceof Refusal ? e : (console.error(e), new Refusal('broken'));
    if (!('X-Lab-Limit' in r.headers)) r.headers = { ...tellRates(rates, nowMs()), ...r.headers };
    throw r;
  }
};
const calling = (next) => (x) => {
  if (x.route.public) return next(x);
  const caller = callerOf(x);
  if (!caller && !(RULES_OF.get(x.route.op) ?? NONE).some((r) => r.to === 'anyone')) unknown(false);
  return next({ ...x, caller });
};
const callerRates = (next) => (x) => {
  const who = x.caller ? x.caller.user + ' ' + x.caller.id : 'address ' + x.address;
  const all = fixed('all ' + who, 1200, MINUTE, x.route.op === 'list case' && !bug('l-cost') ? 3 : 1);
  const rates = x.route.op === 'create remake' && x.caller?.user === 'dentist' ? [all, sliding('remakes ' + (bug('l-shared') ? x.caller.house : who), 12, 10 * MINUTE)] : [all];
  counted(rates, x.now, x.rates);
  return withRates(next, x, [...x.rates, ...rates], (answer) => { if (answer.status === 304 && !bug('l-304')) all.give(); });
};
const ruling = (next) => (x) => {
  if (x.route.public) return next(x);
  const rules = rulesFor(x.route.op, x.caller);
  if (!rules.length) refuse('not_yours');
  if (!scoped(rules, x.caller).length) refuse('scope_missing', { headers: x.caller.user === 'courier' ? { 'WWW-Authenticate': `Bearer ${REALM}, error="insufficient_scope"` } : {} });
  return next(x);
};
const utf8 = new TextDecoder('utf-8', { fatal: true });
const BODY_MAX = bug('l-body') ? 16000 + 1024 : 16 * 1024;
const receiving = (next) => async (x) => {
  const carries = x.headers['transfer-encoding'] !== undefined || +(x.headers['content-length'] ?? 0) > 0;
  if (!carries) { if (x.route.body) refuse(x.headers['content-type'] !== undefined && !mediaFits(x) ? 'wrong_media' : 'unreadable'); return next({ ...x, text: '' }); }
  if (x.route.body && !mediaFits(x)) { await x.read(); refuse('wrong_media'); }
  const bytes = await x.read();
  if (bytes === null) refuse('too_large');
  if (!x.route.body) return next({ ...x, text: bytes.toString('latin1') });
  if (!bytes.length) refuse('unreadable');
  let body, raw;
  try { raw = utf8.decode(bytes); body = JSON.parse(raw); } catch { refuse('unreadable'); }
  return next({ ...x, body, text: raw });
};
const mediaFits = (x) => { const t = (x.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase(); return t === 'application/json' || (x.route.patch && t === 'application/merge-patch+json'); };
const parameters = (next) => (x) => {
  const query = {};
  for (const [k, v] of new URLSearchParams(x.search)) {
    if (!Object.hasOwn(x.route.query, k)) { if (bug('e-undeclared') && x.route.op === 'list pickup') continue; badParameter(k, 'no such parameter'); }
    if (Object.hasOwn(query, k)) badParameter(k, 'one value');
    const good = x.route.query[k](v);
    if (good !== true) badParameter(k, good);
    query[k] = v;
  }
  if (x.route.keyed && !x.headers['idempotency-key']) badParameter('Idempotency-Key', 'a key', 'header');
  const asked = { ...x, query };
  return next({ ...asked, page: x.route.paging?.(asked) });
};
const remembered = new Map();
const onceOnly = (next) => async (x) => {
  const key = x.headers['idempotency-key'];
  if (x.route.method !== 'POST' || !key || !x.caller) return next(x);
  const name = JSON.stringify([x.caller.user, x.caller.id, x.route.op, key]);
  const print = createHash('sha256').update(JSON.stringify([x.target, x.version, x.text])).digest('base64');
  const old = remembered.get(name);
  if (old && old.until > x.now) { if (old.print !== print) refuse('key_reused'); if (old.answer) return old.answer; throw new Refusal(old.refused.code, old.refused); }
  const keep = (what) => remembered.set(name, { print, until: x.now + DAY, ...what });
  try {
    const answer = await next(x);
    keep({ answer: { ...answer, body: answer.unrevealed ?? answer.body } });
    return answer;
  } catch (e) { if (e instanceof Refusal && OWN.has(e.code)) keep({ refused: { code: e.code, breaches: e.breaches } }); throw e; }
};
const operating = (x) => x.route.run({ ...x, now: nowMs() });
const pipeline = [dress, catching, sizes, routing, addressRates, calling, callerRates, ruling, receiving, parameters, onceOnly].reduceRight((next, layer) => layer(next), operating);

// ---------------------------------------------------------------- the door to the network
const sockets = new Map();
const reader = (req) => () => new Promise((resolve) => {
  const chunks = []; let size = 0, settled = false;
  const end = () => { if (!settled) { settled = true; resolve(size > BODY_MAX ? null : Buffer.concat(chunks)); } };
  req.on('data', (c) => { size += c.length; if (size <= BODY_MAX) chunks.push(c); else chunks.length = 0; if (size > 4 * 1024 * 1024) { end(); req.destroy(); } });
  req.on('end', end); req.on('error', end); req.on('close', end);
});
const serve = async (req, res) => {
  agenda.due();
  const s = sockets.get(req.socket);
  if (s) { if (s.phase === 'idle') s.since = Date.now(); s.phase = req.headers['content-length'] > 0 || req.headers['transfer-encoding'] ? 'receiving' : 'answering'; s.res = res; req.on('end', () => { if (s.phase !== 'receiving') return; if (res.writableFinished) Object.assign(s, { phase: 'idle', since: Date.now(), bytes: req.socket.bytesRead }); else s.phase = 'answering'; }); }
  const q = req.url.indexOf('?');
  const x = {
    method: req.method, target: req.url, path: q < 0 ? req.url : req.url.slice(0, q), search: q < 0 ? '' : req.url.slice(q + 1), headers: req.headers, raw: req.rawHeaders,
    asked: req.headers['lab-version'], address: req.socket.remoteAddress, now: nowMs(), trace: randomUUID(), read: reader(req), rates: NONE,
  };
  const answer = await pipeline(x);
  if (res.writableEnded || res.destroyed) return;
  res.writeHead(answer.status, answer.headers);
  res.end(req.method === 'HEAD' ? undefined : answer.body);
};
const server = http.createServer({ maxHeaderSize: 256 * 1024, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 }, serve);
server.on('connection', (socket) => {
  sockets.set(socket, { phase: 'idle', since: Date.now(), bytes: 0 });
  socket.on('close', () => sockets.delete(socket));
  socket.setNoDelay(true);
});
server.on('request', (req, res) => res.on('finish', () => { const s = sockets.get(req.socket); if (s) Object.assign(s, { phase: 'idle', since: Date.now(), bytes: req.socket.bytesRead }); }));
const rawRefusal = (code) => {
  const x = { path: '', trace: randomUUID() }, r = new Refusal(code), body = JSON.stringify(refusalBody(r, x));
  return `HTTP/1.1 ${r.status} ${http.STATUS_CODES[r.status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\nX-Lab-Trace: ${x.trace}\r\nX-Lab-Problem: ${code}\r\nLab-Version: ${CURRENT}\r\n\r\n${body}`;
};
server.on('clientError', (e, socket) => { if (socket.writable) socket.end(rawRefusal(e.code === 'HPE_HEADER_OVERFLOW' ? 'too_large' : 'unreadable')); else socket.destroy(); });
setInterval(() => {
  const now = Date.now();
  for (const [socket, s] of sockets) {
    if (s.phase === 'idle' && socket.bytesRead > s.bytes) Object.assign(s, { phase: 'receiving', since: now, res: null });
    if (s.phase === 'idle' && now - s.since >= 30 * SECOND) socket.destroy();
    else if (s.phase === 'receiving' && now - s.since >= 8 * SECOND) { if (!s.res?.headersSent) socket.end(rawRefusal('too_slow'), () => socket.destroy()); else socket.destroy(); s.phase = 'over'; }
  }
}, 200).unref();

// ---------------------------------------------------------------- the door to the clock
const settled = async (patience) => { const end = Date.now() + patience; while (underWay > 0 && Date.now() < end) await new Promise((r) => setTimeout(r, 3)); };
const advanceTo = async (target) => {
  let patience = 2000;
  const rest = async () => { if (underWay === 0 || patience <= 0) return; const t = Date.now(); await settled(Math.min(300, patience)); patience -= Date.now() - t; };
  for (let top = agenda.peek(); top && top.at <= target; top = agenda.peek()) {
    if (top.at > nowMs()) clock.offset = top.at - Date.now();
    agenda.due();
    await rest();
  }
  if (nowMs() < target) clock.offset = target - Date.now();
  agenda.due();
  await rest();
  agenda.rearm();
};
const plusDuration = (ms, s) => {
  const m = /^P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(s);
  if (!m) return null;
  const [y, mo, w, d, h, mi, sec] = m.slice(1).map((v) => +(v ?? 0)), at = new Date(ms);
  const month = at.getUTCMonth() + mo + 12 * y, year = at.getUTCFullYear() + Math.floor(month / 12), mm = ((month % 12) + 12) % 12;
  const base = Date.UTC(year, mm, Math.min(at.getUTCDate(), monthDays(year, mm + 1)), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), at.getUTCMilliseconds());
  return base + (w * 7 + d) * DAY + h * HOUR + mi * MINUTE + Math.round(sec * 1000);
};
let turn = Promise.resolve();
const door = http.createServer((req, res) => {
  const say = (status, value) => { const body = JSON.stringify(value); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }); res.end(body); };
  const told = () => ({ now: iso(nowMs()) });
  if (req.method === 'GET') return say(200, told());
  const chunks = [];
  req.on('data', (c) => chunks.push(c));
  req.on('end', () => {
    turn = turn.then(async () => {
      let body = null;
      try { body = JSON.parse(Buffer.concat(chunks).toString()); } catch { /* answered below */ }
      const one = req.method === 'POST' && isMap(body) && Object.keys(body).length === 1;
      const target = !one ? null : typeof body.advance === 'string' ? plusDuration(nowMs(), body.advance) : typeof body.now === 'string' && isDateTime(body.now) ? instant(body.now) : null;
      if (target === null || !Number.isFinite(target)) return say(400, { error: 'advance or now' });
      if (target < nowMs() && body.now !== undefined) return say(422, { error: 'the clock goes forward alone' });
      await advanceTo(target);
      say(200, told());
    }).catch((e) => { console.error(e); if (!res.headersSent) say(500, { error: 'broken' }); });
  });
});
server.listen(+(option('port') ?? 25000), '127.0.0.1');
if (option('clock-port')) door.listen(+option('clock-port'), '127.0.0.1');
