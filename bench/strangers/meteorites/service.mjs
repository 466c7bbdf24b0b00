// Meteorite Loan Room: keeps service.yaml. Standard library alone; data in memory.
import http from 'node:http';
import https from 'node:https';
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';

const arg = (name) => { const i = process.argv.indexOf(name); return i < 0 ? undefined : process.argv[i + 1]; };
const PORT = Number(arg('--port') ?? 8080);
const CLOCK_PORT = arg('--clock-port') === undefined ? undefined : Number(arg('--clock-port'));
const FAULT = arg('--fault');
const fault = (id) => FAULT === id;

const BASE = '/room', REALM = 'Meteorite Loan Room';
const OLD = '2025-09', NEW = '2026-09';
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const SUNSET = Date.parse('2028-03-01T00:00:00Z'), DEPRECATED = Date.parse('2026-03-01T00:00:00Z');

// ---------------------------------------------------------------- callers
const CALLERS = new Map([
  ['rp_ada8Kq2LwZ5rTn7XvB3mYc6HsD9fGj', { user: 'curator', id: 'c-ada', lab: 'collection', scopes: ['vault'] }],
  ['rp_bo4Rt9WmN2xQe6Lk8ZvY1pUj3HcTaG', { user: 'curator', id: 'c-bo', lab: 'annex', scopes: [] }],
  ['rp_cy7Pd3VnK5sJb1Xh9MwQ2gRf8LzEtC', { user: 'curator', id: 'c-cy', lab: 'nordlab', scopes: ['vault'] }],
  ['rp_ina5Gh8TfS2kWq4Dm6ZxC9vNb1LpRj', { user: 'scholar', id: 's-ina', lab: 'nordlab', scopes: [] }],
  ['rp_jon2Yw6HcQ8eUt3Kr5PmX7nJd9BvFa', { user: 'scholar', id: 's-jon', lab: 'nordlab', scopes: [] }],
  ['rp_kim9Lz4RsV6oNp1Bg3TyW8qEk5HxMu', { user: 'scholar', id: 's-kim', lab: 'polar', scopes: [] }],
  ['rp_lu6Cx1JbT9iFm7Wd2SvR4kZq8PnYhE', { user: 'scholar', id: 's-lu', lab: 'polar', scopes: [] }],
  ['rp_max3Vb7NkL1dQs5Ht9GwP2rXj6CyUe', { user: 'auditor', id: 'a-max', lab: 'ministry', scopes: [] }],
  ['rp_nell8Fm2WtZ4hKx6Rb1YvS9pLc3DqG', { user: 'auditor', id: 'a-nell', lab: 'ministry', scopes: [] }],
  ['rp_oto1Qj5SgM8uVy3Nd7CfX6wTk2RzBh', { user: 'auditor', id: 'a-oto', lab: 'nordlab', scopes: [] }],
]);
if (fault('users-auditor-unknown')) for (const [k, c] of CALLERS) if (c.user === 'auditor') CALLERS.delete(k);
if (fault('users-auditor-may-curate')) for (const c of CALLERS.values()) if (c.user === 'auditor') c.acts = 'curator';

// ---------------------------------------------------------------- clock and timers
let offset = 0, frozen = null;
const now = () => frozen ?? Date.now() + offset;
const iso = (t = now()) => new Date(t).toISOString();

const heap = [];
let heapSeq = 0;
const before = (a, b) => a.due < b.due || (a.due === b.due && a.seq < b.seq);
function schedule(due, run) {
  const t = { due, run, seq: heapSeq++, off: false };
  let i = heap.push(t) - 1;
  while (i > 0) { const p = (i - 1) >> 1; if (!before(heap[i], heap[p])) break; [heap[i], heap[p]] = [heap[p], heap[i]]; i = p; }
  return t;
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
let inFlight = 0;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function settle(ms) { for (const end = Date.now() + ms; inFlight && Date.now() < end;) await sleep(3); }

function tick() {
  if (frozen !== null) return;
  const t = now();
  while (heap.length && heap[0].due <= t) { const x = popTimer(); if (!x.off) x.run(); }
  prune(t);
}
let moving = Promise.resolve();
function moveTo(target) { // one move at a time; what falls due on the way is done in its order
  moving = moving.then(async () => {
    await settle(400);
    frozen = now();
    while (true) {
      while (heap.length && heap[0].off) popTimer();
      if (!heap.length || heap[0].due > target) { if (inFlight) await settle(400); if (!heap.length || heap[0].due > target) break; }
      frozen = Math.max(frozen, heap[0].due);
      while (heap.length && heap[0].due <= frozen) { const x = popTimer(); if (!x.off) x.run(); }
      if (inFlight) await settle(800);
    }
    frozen = null;
    offset = target - Date.now();
    prune(target);
    await settle(150);
  });
  return moving;
}

// ---------------------------------------------------------------- shapes
const DATE = { type: 'string', format: 'date' }, TIME = { type: 'string', format: 'date-time' };
const ORIGIN = {
  type: 'object',
  fields: {
    country: { type: 'string', pattern: /^[A-Z]{2}$/u },
    latitude: { type: 'number', minimum: -90, maximum: 90 },
    longitude: { type: 'number', minimum: -180, maximum: 180 },
  },
  required: ['country'],
};
const RO = { readOnly: true };
const RES = {
  specimen: {
    id: RO,
    name: { type: 'string', minLength: 2, maxLength: 60, required: true },
    class: { type: 'string', enum: ['iron', 'stony', 'stony_iron', 'lunar', 'martian'], required: true },
    mass_mg: { type: 'integer', minimum: 1, maximum: fault('mass-one-too-many') ? 50000001 : 50000000, required: true },
    origin: { ...ORIGIN, required: true, nested: true },
    seen_falling_on: DATE, found_on: DATE,
    remarks: { type: 'string', maxLength: 500 },
    labels: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 20 }, maxItems: 6, uniqueItems: true },
    on_view: { type: 'boolean', default: false, required: true },
    vault: { type: 'string', maxLength: 30, visible: ['curator', 'auditor'] },
    catalogued_by: RO, catalogued_at: RO, revised_at: RO, slices: RO, cut_mg: RO,
  },
  slice: {
    id: RO,
    specimen: { ref: 'specimen', type: 'string', immutable: true, required: true },
    number: RO,
    code: { type: 'string', pattern: /^[A-Z]{1,3}-[0-9]{1,4}$/u, required: true },
    mass_mg: { type: 'integer', minimum: 1, maximum: 5000000, required: true },
    thickness_um: { type: 'integer', minimum: 20, maximum: 30000 },
    polish: { type: 'string', enum: ['raw', 'ground', 'polished'], default: 'raw', required: true },
    lendable: { type: 'boolean', default: true, required: true },
    worth_cents: { type: 'integer', minimum: 0, visible: ['curator'] },
    taken: RO, times_lent: RO, cut_at: RO,
  },
  loan: {
    id: RO,
    slice: { ref: 'slice', type: 'string', immutable: true, required: true },
    scholar: RO, lab: RO,
    aim: { type: 'string', minLength: 10, maxLength: 400, required: true },
    method: { type: 'string', enum: ['microscopy', 'spectrometry', 'dating', 'display'], required: true },
    due_at: { ...TIME, required: true },
    state: RO, reason: RO, desk_note: { readOnly: true, visible: ['curator'] }, decided_by: RO, collect_by: RO,
    renewals: RO, asked_at: RO, handed_over_at: RO, given_back_at: RO,
  },
  inspection: { id: RO, loan: RO, slice: RO, lab: RO, condition: RO, made_at: RO },
  hook: {
    id: RO, owner: RO,
    address: { type: 'string', format: 'uri', maxLength: 300, required: true },
    kinds: { type: 'array', items: { type: 'string', kind: true }, minItems: 1, maxItems: 12 },
    active: { type: 'boolean', default: true, required: true },
    seal: { readOnly: true, hidden: true },
  },
  entry: { id: RO, kind: RO, about: RO, of: RO, by: RO, body: RO, at: RO },
};
const KINDS = ['specimen.catalogued', 'specimen.reweighed', 'specimen.struck_off', 'slice.cut', 'loan.requested', 'loan.decided',
  'loan.closed', 'loan.overdue', 'inspection.damage', 'hook.silenced'];

// what was otherwise in the older edition: name there, value down, value up, shape there
const same = (v) => v;
const OLDER = {
  specimen: {
    mass_mg: { name: 'grams', shape: { type: 'number', minimum: 0.001, maximum: 50000, required: true }, down: (v) => v / 1000, up: (v) => Math.round(v * 1000) },
    class: { name: 'class', shape: { ...RES.specimen.class, enum: ['iron', 'chondrite', 'stony_iron', 'lunar', 'martian'] },
      down: (v) => (v === 'stony' ? 'chondrite' : v), up: (v) => (v === 'chondrite' ? 'stony' : v) },
  },
  slice: { polish: { gone: true } },
  loan: { aim: { name: 'purpose', down: same, up: same } },
};
const shapeIn = new Map();
/** The fields of a resource in an edition: name there -> { field, shape, down, up }. */
function fieldsIn(resource, edition) {
  const key = resource + edition;
  if (shapeIn.has(key)) return shapeIn.get(key);
  const out = new Map();
  for (const [field, shape] of Object.entries(RES[resource])) {
    const o = edition === OLD ? OLDER[resource]?.[field] : undefined;
    if (o?.gone) continue;
    out.set(o?.name ?? field, { field, shape: o?.shape ?? shape, down: o?.down ?? same, up: o?.up ?? same });
  }
  shapeIn.set(key, out);
  return out;
}

const days = (y, m) => new Date(Date.UTC(y, m, 0)).getUTCDate();
function isDate(s) {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s);
  return !!m && +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= days(+m[1], +m[2]);
}
function isTime(s) {
  const m = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-](\d\d):(\d\d))$/.exec(s);
  if (!m) return fault('due-without-zone') && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(s);
  return isDate(m[1]) && +m[2] < 24 && +m[3] < 60 && +m[4] < 60 && (m[7] === undefined || (+m[7] < 24 && +m[8] < 60));
}
const instant = (s) => Date.parse(s.toUpperCase());
function isUri(s) {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/.test(s) || /%(?![0-9A-Fa-f]{2})/.test(s)) return false;
  try { const u = new URL(s); return (u.protocol === 'http:' || u.protocol === 'https:') && u.hostname !== '' && !/^https?:(?!\/\/[^/])/i.test(s); } catch { return false; }
}
const knownKind = (k) => k === '*' || KINDS.includes(k) || (k.endsWith('.*') && KINDS.some((x) => x.startsWith(k.slice(0, -1))));

const show = (v) => { const t = JSON.stringify(v) ?? 'nothing'; return t.length > 80 ? t.slice(0, 79) + '…' : t; };
const kindOf = (v) => (v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v);
const article = { string: 'a text', integer: 'a whole number', number: 'a number', boolean: 'true or false', array: 'a list', object: 'a map' };

function check(value, s, path, out) {
  const bad = (expected, at = path, v = value, why = 'value') => { out.push({ in: 'body', path: at, found: show(v), expected, why }); };
  const t = kindOf(value);
  if (s.type && !(s.type === t || (s.type === 'integer' && t === 'number' && Number.isInteger(value)))) return bad(article[s.type]);
  if (s.enum && !s.enum.includes(value)) return bad('one of ' + s.enum.join(', '));
  if (t === 'string') {
    const n = [...value].length;
    if (s.minLength !== undefined && n < s.minLength) return bad(`${s.minLength} characters or more`);
    if (s.maxLength !== undefined && n > s.maxLength) return bad(`${s.maxLength} characters or fewer`);
    if (s.pattern && !s.pattern.test(value)) return bad('a text like ' + s.pattern.source);
    if (s.format === 'date' && !isDate(value)) return bad('a date');
    if (s.format === 'date-time' && !isTime(value)) return bad('a date and time with its zone');
    if (s.format === 'uri' && !isUri(value)) return bad('an address');
    if (s.kind && !knownKind(value)) return bad('a kind of event');
  } else if (t === 'number') {
    if (s.minimum !== undefined && value < s.minimum) return bad(`${s.minimum} or more`);
    if (s.maximum !== undefined && value > s.maximum) return bad(`${s.maximum} or less`);
  } else if (t === 'array') {
    if (s.minItems !== undefined && value.length < s.minItems) return bad(`${s.minItems} items or more`);
    if (s.maxItems !== undefined && value.length > s.maxItems) return bad(`${s.maxItems} items or fewer`);
    if (s.uniqueItems && new Set(value.map((x) => JSON.stringify(x))).size < value.length) return bad('items that differ');
    value.forEach((v, i) => check(v, s.items, `${path}.${i}`, out));
  } else if (t === 'object' && s.fields) {
    for (const [k, v] of Object.entries(value)) {
      if (!Object.hasOwn(s.fields, k)) bad('no such field', `${path}.${k}`, v, 'unknown'); else check(v, s.fields[k], `${path}.${k}`, out);
    }
    for (const k of s.required === true ? ['country'] : s.required) if (!Object.hasOwn(value, k)) bad('a value', `${path}.${k}`, undefined, 'missing');
  }
}

// ---------------------------------------------------------------- what is kept
const store = { specimen: new Map(), slice: new Map(), loan: new Map(), inspection: new Map(), hook: new Map(), entry: new Map() };
const counters = new Map(), once = new Map(), quota = new Map(), names = new Map();
const slicesOf = new Map(), loansOf = new Map(), inspectionsOf = new Map(), loansBy = new Map(), hooksBy = new Map(), codes = new Map();
const add = (index, key, id) => { let s = index.get(key); if (!s) index.set(key, s = new Set()); s.add(id); };
const each = (index, key) => [...(index.get(key) ?? [])];

const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
function ulid() {
  let t = now(), s = '';
  for (let i = 0; i < 10; i++) { s = B32[t % 32] + s; t = Math.floor(t / 32); }
  for (const b of randomBytes(16)) s += B32[b & 31];
  return s;
}
const ALL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (n, from = ALL) => Array.from({ length: n }, () => from[randomInt(from.length)]).join('');

const CLAIMS = ['approved', 'out', 'overdue'], OPEN = ['requested', ...CLAIMS], LENT = ['out', 'overdue', 'returned'];
const taken = (sliceId, but) => each(loansOf, sliceId).some((id) => id !== but && CLAIMS.includes(store.loan.get(id).state));
const cutMg = (specimenId, but) => each(slicesOf, specimenId).reduce((n, id) => n + (id === but ? 0 : store.slice.get(id).mass_mg), 0);
const staleCut = new Map();

function derived(resource, row, field) {
  if (resource === 'specimen') {
    if (field === 'slices') return slicesOf.get(row.id)?.size ?? 0;
    if (field === 'cut_mg') return cutMg(row.id) + (fault('cut-mg-keeps-deleted') ? staleCut.get(row.id) ?? 0 : 0);
  }
  if (resource === 'slice') {
    if (field === 'taken') return taken(row.id);
    if (field === 'times_lent') return each(loansOf, row.id).filter((id) => LENT.includes(store.loan.get(id).state)).length;
  }
  return row[field];
}

/** A row as somebody of this user is shown it, in an edition. */
function view(resource, row, user, edition, extra = {}) {
  const out = {};
  for (const [name, f] of fieldsIn(resource, edition)) {
    const s = RES[resource][f.field];
    if (s.hidden && !extra.reveal) { if (!(fault('seal-shown-again') && extra.alone)) continue; }
    if (s.visible && !(user && s.visible.includes(user))) {
      const leak = (fault('vault-shown-in-lists') && f.field === 'vault' && extra.list) || (fault('desk-note-in-events') && f.field === 'desk_note' && extra.event);
      if (!leak) continue;
    }
    const v = derived(resource, row, f.field);
    if (v === undefined || v === null) continue;
    out[name] = fault('grams-not-mapped-in-lists') && extra.list && name === 'grams' ? v : f.down(v);
  }
  if (edition === OLD && fault('polish-in-old-edition') && resource === 'slice') out.polish = row.polish;
  return out;
}

// ---------------------------------------------------------------- refusals
const CODES = {
  unreadable_body: [400, 'The body cannot be read as JSON.'], wrong_media: [415, 'The body has to be JSON.'],
  cannot_produce: [406, 'Answers are JSON.'], bad_parameter: [400, 'A parameter is wrong.'], bad_page: [400, 'There is no such page.'],
  field_unknown: [422, ''], field_wrong: [422, ''],
  no_pass: [401, 'Show a pass.'], bad_pass: [401, 'This pass is not good.'],
  scope_lacking: [403, 'This pass does not reach so far.'], not_yours: [403, 'This is not for you to do.'],
  no_such_route: [404, 'There is no such path.'], no_such_method: [405, 'This path has no such method.'], no_such_row: [404, 'There is no such thing.'],
  no_such_reference: [422, 'What is referred to is not there.'], still_referred_to: [409, 'Something refers to it.'],
  already_there: [409, 'There is one already.'], wrong_state: [409, 'It is in another state.'],
  tag_differs: [412, 'It has changed.'], tag_missing: [428, 'Send If-Match.'], once_reused: [409, 'This key was used for something else.'],
  busy: [503, 'Try again.'], too_often: [429, 'Too many requests.'], used_up: [429, 'No more of these.'],
  body_too_large: [413, 'The body is too large.'], address_too_long: [414, 'The address is too long.'], headers_too_large: [431, 'The headers are too large.'],
  too_slow: [408, 'The request did not arrive in time.'], edition_unknown: [400, 'There is no such edition.'], edition_over: [410, 'This edition is over.'],
  broken: [500, 'Something broke.'],
  slice_taken: [409, 'Somebody else has this slice.'], too_late: [409, 'It has been handed over or is over.'],
  renewed_out: [409, 'A loan is renewed twice at the most.'], over_cut: [422, 'The slices would weigh more than the specimen.'],
  under_cut: [422, 'It cannot weigh less than its slices.'], due_too_soon: [422, 'A loan takes a day at least.'], due_too_far: [422, 'A loan takes 180 days at most.'],
  renewal_backward: [422, 'A renewal ends later than what it renews.'], display_needs_curation: [422, 'Only specimens on view are lent for display.'],
};
if (fault('unknown-field-is-400')) CODES.field_unknown = [400, ''];
const OWN = new Set(['slice_taken', 'too_late', 'renewed_out', 'over_cut', 'under_cut', 'due_too_soon', 'due_too_far', 'renewal_backward', 'display_needs_curation']);
class Refusal extends Error { constructor(code, more = {}) { super(code); this.code = code; this.more = more; } }
const refuse = (code, more) => { throw new Refusal(code, more); };
const clip = (t) => (t.length > 200 ? t.slice(0, 200) : t);
function refuseBody(violations) {
  const v = violations[0];
  const unknown = v.why === 'unknown';
  refuse(unknown ? 'field_unknown' : 'field_wrong', {
    says: unknown ? `${clip(v.path)} is no field` : `${clip(v.path)} is ${clip(v.found)}, not ${clip(v.expected)}`,
    places: violations.map(({ in: i, path, found, expected }) => ({ in: i, path: fault('places-as-pointers') ? '/' + path.replaceAll('.', '/') : path, found, expected })),
  });
}
const badParameter = (name, found, expected, where = 'query') => refuse('bad_parameter', { places: [{ in: where, path: name, found: show(found), expected }] });

// ---------------------------------------------------------------- events and deliveries
const queues = new Map(); // hook and row -> deliveries in order
function readableBy(maker, resource, row) {
  if (resource === 'specimen') return true;
  if (resource === 'slice') return maker.user !== 'scholar' || row.lendable;
  if (resource === 'loan' || resource === 'inspection') return maker.user !== 'scholar' || row.lab === maker.lab;
  if (resource === 'hook') return row.owner === maker.id;
  return maker.user !== 'scholar';
}
const listens = (hook, kind) => !hook.kinds || hook.kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))));

function emit(kind, resource, row, by, payload) {
  const id = 'ent_' + ulid(), t = now(), at = iso(t);
  // in the log stands what every user sees who reads the log: curators and auditors
  const logged = payload ?? view(resource, row, 'auditor', NEW);
  store.entry.set(id, { id, kind, about: row.id, of: resource, by: by?.id ?? 'the clock', body: logged, at, t });
  for (const hook of store.hook.values()) {
    if (!hook.active || !listens(hook, kind)) continue;
    const maker = hook.maker;
    if (kind === 'loan.requested' && !fault('requests-told-to-scholars') ? maker.user !== 'curator' : !readableBy(maker, resource, row)) continue;
    const edition = fault('hooks-follow-newest-edition') ? NEW : hook.edition;
    const body = JSON.stringify({ entry: id, kind, at, body: payload ?? view(resource, row, maker.user, edition, { event: true }) });
    const key = hook.id + ' ' + row.id;
    let q = queues.get(key);
    if (!q) queues.set(key, q = []);
    q.push({ hook: hook.id, key, id, kind, body, tries: 0 });
    if (q.length === 1) attempt(q[0]);
  }
}
const RETRY = [20 * SECOND, 3 * MINUTE, HOUR];
function done(d) {
  const q = queues.get(d.key);
  if (!q || q[0] !== d) return;
  q.shift();
  if (q.length) attempt(q[0]); else queues.delete(d.key);
}
function attempt(d) {
  const hook = store.hook.get(d.hook);
  if (!hook || !hook.active) { queues.delete(d.key); return; }
  d.tries++;
  const at = Math.floor(now() / 1000);
  const id = d.id;
  const signed = fault('seal-without-id') ? `${at}.${d.body}` : `${id}.${at}.${d.body}`;
  const mac = createHmac('sha256', hook.seal).update(signed).digest('hex');
  const data = Buffer.from(d.body);
  let over = false, req;
  inFlight++;
  const end = (status, headers = {}) => {
    if (over) return;
    over = true; inFlight--; timer.off = true;
    answered(d, status, headers);
  };
  const timer = schedule(now() + 5 * SECOND, () => { req?.destroy(); end(0); });
  setImmediate(() => {
    if (over) return;
    try {
      const u = new URL(hook.address);
      req = (u.protocol === 'https:' ? https : http).request(u, {
        method: 'POST', agent: false,
        headers: { 'content-type': 'application/json', 'content-length': data.length, 'x-room-event': d.kind, 'x-room-entry': id, 'x-room-seal': `at=${at};mac=${mac}` },
      }, (res) => { res.on('error', () => {}); res.resume(); end(res.statusCode, res.headers); });
      req.on('error', () => end(0));
      req.end(data);
    } catch { end(0); }
  });
}
function answered(d, status, headers) {
  const hook = store.hook.get(d.hook);
  if (!hook) { queues.delete(d.key); return; }
  if (status >= 200 && status < 300) { hook.failing = null; done(d); return; }
  hook.failing ??= now();
  if (status === 410 || now() - hook.failing >= 2 * DAY) { silence(hook); return; }
  if (!hook.active) { queues.delete(d.key); return; }
  const wait = RETRY[d.tries - 1];
  if (wait === undefined || (fault('last-try-left-out') && d.tries === 3)) { done(d); return; }
  let ms = wait;
  const after = headers['retry-after'];
  if (after !== undefined) {
    const asked = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now();
    if (asked > ms) ms = Math.min(asked, DAY);
  }
  schedule(now() + ms, () => { if (queues.get(d.key)?.[0] === d) attempt(d); });
}
function silence(hook) {
  if (!hook.active) return;
  hook.active = false; hook.failing = null;
  for (const [key, q] of queues) if (q[0]?.hook === hook.id) queues.delete(key);
  emit('hook.silenced', 'hook', hook, null);
}
let pruned = 0;
function prune(t) {
  if (t - pruned < SECOND) return;
  pruned = t;
  for (const [id, e] of store.entry) { if (e.t + 45 * DAY > t) break; store.entry.delete(id); }
  for (const [key, o] of once) { if (o.until > t) break; once.delete(key); }
}

// ---------------------------------------------------------------- loans by the clock
function enter(loan, state) {
  if (loan.timer) { loan.timer.off = true; loan.timer = null; }
  loan.state = state;
  const later = (due, f) => { loan.timer = schedule(due, () => { loan.timer = null; f(); }); };
  if (state === 'requested') later(now() + (fault('lapse-a-day-late') ? 15 : 14) * DAY, () => { enter(loan, 'lapsed'); if (!fault('lapse-not-told')) emit('loan.closed', 'loan', loan, null); });
  if (state === 'approved' && !fault('forfeit-never')) later(now() + 7 * DAY, () => { enter(loan, 'lapsed'); emit('loan.closed', 'loan', loan, null); });
  if (state === 'out') later(instant(loan.due_at), () => { enter(loan, 'overdue'); emit('loan.overdue', 'loan', loan, null); });
}
const changed = (row, values) => { for (const [k, v] of Object.entries(values)) if (v === undefined) delete row[k]; else row[k] = v; };

// ---------------------------------------------------------------- rules
const ANY = () => true;
const own = (r, c) => r.owner === c.id, lab = (r, c) => r.lab === c.lab, mine = (r, c) => r.scholar === c.id;
const staff = { curator: ANY, auditor: ANY };
const everyone = { curator: ANY, scholar: ANY, auditor: ANY, anyone: ANY };
const myHook = { curator: own, scholar: own, auditor: own };
const RULES = {
  'list specimen': everyone, 'read specimen': everyone, 'create specimen': { curator: ANY }, 'update specimen': { curator: ANY }, 'delete specimen': { curator: ANY },
  'list slice': { ...staff, scholar: fault('unlendable-slices-listed') ? ANY : (r) => r.lendable }, 'read slice': { ...staff, scholar: (r) => r.lendable },
  'create slice': { curator: ANY }, 'replace slice': { curator: ANY }, 'delete slice': { curator: ANY },
  'create loan': { scholar: ANY }, 'list loan': { ...staff, scholar: lab }, 'read loan': { ...staff, scholar: lab },
  'update loan': { scholar: mine }, 'withdraw loan': { scholar: fault('colleagues-withdraw') ? lab : mine }, 'renew loan': { scholar: mine },
  'approve loan': { curator: fault('own-lab-approved') ? ANY : (r, c) => r.lab !== c.lab }, 'decline loan': { curator: (r, c) => r.lab !== c.lab },
  'hand_over loan': { curator: ANY }, 'give_back loan': { curator: ANY },
  'list inspection': { ...staff, scholar: lab }, 'read inspection': { ...staff, scholar: lab },
  'create hook': { curator: ANY, scholar: ANY, auditor: ANY },
  'list hook': fault('hooks-of-others-listed') ? { curator: ANY, scholar: ANY, auditor: ANY } : myHook, 'read hook': myHook, 'update hook': myHook, 'delete hook': myHook,
  'list entry': staff, 'read entry': staff,
};
const SCOPES = { 'delete specimen': 'vault', 'delete slice': fault('slices-deleted-without-scope') ? undefined : 'vault' };
const acts = (caller) => caller.acts ?? caller.user;
const ruleOf = (operation, caller) => RULES[operation][caller ? acts(caller) : 'anyone'];
const may = (operation, caller, row) => { const r = ruleOf(operation, caller); return !!r && r(row, caller); };

// ---------------------------------------------------------------- endpoints
const text = (min, max) => ({ type: 'string', minLength: min, maxLength: max });
const PAGE = { style: 'page', page: 'page', size: 'per', default: 15, max: 60 };
const SKIP = { style: 'offset', page: 'skip', size: 'take', default: 10, max: 30, clamp: true };
const eq = (field) => (row, v) => row[field] === v;
const PAIRS = /[\ud800-\udfff]/;
const byName = ({ name: a }, { name: b }) => (a === b ? 0 : PAIRS.test(a) || PAIRS.test(b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : 1);
const byTime = (f) => (a, b) => instant(a[f]) - instant(b[f]);
const byStamp = (f) => (a, b) => (a[f] === b[f] ? 0 : a[f] < b[f] ? -1 : 1); // what the service wrote itself
const ONCE = { header: 'x-room-once' };
const fieldParam = (resource, field, more = {}) => ({ of: [resource, field], test: eq(field), ...more });

const ENDPOINTS = [
  { at: 'GET /house-rules', op: 'read rules of the house', public: true, since: NEW, run: () => ({ status: 200, body: { longest_loan_days: 180, renewals: 2 } }) },
  { at: 'POST /specimens', op: 'create specimen', once: ONCE, takes: 'create', run: createSpecimen },
  { at: 'GET /specimens', op: 'list specimen', page: PAGE, run: list, order: byName, params: {
    class: fieldParam('specimen', 'class', { split: true }),
    on_view: fieldParam('specimen', 'on_view'),
    country: { shape: ORIGIN.fields.country, test: (r, v) => r.origin.country === v },
    label: { shape: text(1, 20), test: (r, v) => r.labels?.includes(v) },
    found_since: { shape: DATE, test: (r, v) => r.found_on !== undefined && (fault('found-since-leaves-out-the-day') ? r.found_on > v : r.found_on >= v) },
    words: { shape: text(1, 80), words: true, test: (r, v) => {
      const t = [r.name.toLowerCase(), (r.remarks ?? '').toLowerCase()], all = v.toLowerCase().split(/\s+/).filter(Boolean);
      const there = (w) => t.some((x) => x.includes(w));
      return fault('any-word-is-enough') ? all.some(there) : all.every(there);
    } },
    sort: { sorts: { name: byName, revised_at: byStamp('revised_at') } },
  } },
  { at: 'GET /specimens/{id}', op: 'read specimen', row: 'specimen', etag: true, cache: 'private, max-age=30', run: readRow },
  { at: 'PATCH /specimens/{id}', op: 'update specimen', row: 'specimen', ifMatch: fault('tag-not-asked-for') ? 'accepted' : 'required', takes: 'update', run: updateSpecimen },
  { at: 'DELETE /specimens/{id}', op: 'delete specimen', row: 'specimen', run: deleteSpecimen },
  { at: 'POST /specimens/{specimen}/slices', op: 'create slice', parent: 'specimen', takes: 'create', run: createSlice },
  { at: 'GET /specimens/{specimen}/slices', op: 'list slice', parent: 'specimen', page: PAGE, run: list, order: (a, b) => a.number - b.number, params: {
    polish: fieldParam('slice', 'polish'), lendable: fieldParam('slice', 'lendable'),
    thinner_than: { shape: RES.slice.thickness_um, test: (r, v) => r.thickness_um !== undefined && r.thickness_um < v },
  } },
  { at: 'GET /slices/{id}', op: 'read slice', row: 'slice', etag: true, run: readRow },
  { at: 'PUT /slices/{id}', op: 'replace slice', row: 'slice', ifMatch: 'accepted', takes: 'replace', run: replaceSlice },
  { at: 'DELETE /slices/{id}', op: 'delete slice', row: 'slice', run: deleteSlice },
  { at: 'POST /loans', op: 'create loan', once: { ...ONCE, required: true }, takes: 'create', run: createLoan },
  { at: 'GET /loans', op: 'list loan', page: PAGE, run: list, order: (a, b) => byStamp('asked_at')(b, a), params: {
    state: { shape: { type: 'string', enum: ['requested', 'approved', 'out', 'overdue', 'returned', 'declined', 'withdrawn', 'lapsed'] }, split: true, test: eq('state') },
    slice: { shape: text(), test: eq('slice') }, scholar: { shape: text(), test: eq('scholar') },
    due_before: { shape: TIME, test: (r, v) => instant(r.due_at) < instant(v) },
    sort: { sorts: { due_at: byTime('due_at') } },
  } },
  { at: 'GET /loans/{id}', op: 'read loan', row: 'loan', run: readRow },
  { at: 'PATCH /loans/{id}', op: 'update loan', row: 'loan', takes: 'update', run: updateLoan },
  { at: 'POST /loans/{id}/approve', op: 'approve loan', row: 'loan', optional: true, takes: { fields: { desk_note: { type: 'string', maxLength: 200 } }, required: [] }, run: approve },
  { at: 'POST /loans/{id}/decline', op: 'decline loan', row: 'loan', takes: { fields: { reason: text(3, 200) }, required: ['reason'] }, run: decline },
  { at: 'POST /loans/{id}/withdraw', op: 'withdraw loan', row: 'loan', run: withdraw },
  { at: 'POST /loans/{id}/hand-over', op: 'hand_over loan', row: 'loan', run: handOver },
  { at: 'POST /loans/{id}/renew', op: 'renew loan', row: 'loan', takes: { fields: { due_at: TIME }, required: ['due_at'] }, run: renew },
  { at: 'POST /loans/{id}/give-back', op: 'give_back loan', row: 'loan', takes: { fields: { condition: { type: 'string', enum: ['sound', 'chipped', 'lost'] } }, required: ['condition'] }, run: giveBack },
  { at: 'GET /inspections', op: 'list inspection', page: PAGE, run: list, params: {
    slice: { shape: text(), test: eq('slice') },
    condition: { shape: { type: 'string', enum: ['sound', 'chipped', 'lost'] }, test: eq('condition') },
  } },
  { at: 'GET /inspections/{id}', op: 'read inspection', row: 'inspection', run: readRow },
  { at: 'POST /hooks', op: 'create hook', takes: 'create', run: createHook },
  { at: 'GET /hooks', op: 'list hook', run: list },
  { at: 'GET /hooks/{id}', op: 'read hook', row: 'hook', run: readRow },
  { at: 'PATCH /hooks/{id}', op: 'update hook', row: 'hook', takes: 'update', run: updateHook },
  { at: 'DELETE /hooks/{id}', op: 'delete hook', row: 'hook', run: deleteHook },
  { at: 'GET /entries', op: 'list entry', page: SKIP, run: list, order: (a, b) => byStamp('at')(b, a), params: {
    kind: { shape: text(), test: eq('kind') }, about: { shape: text(), test: eq('about') },
    since: { shape: TIME, test: (r, v) => instant(r.at) >= instant(v) },
  } },
  { at: 'GET /entries/{id}', op: 'read entry', row: 'entry', run: readRow },
];
const routes = [];
for (const e of ENDPOINTS) {
  const [method, path] = e.at.split(' ');
  e.method = method;
  e.resource = e.op.split(' ').pop();
  if (fault('function-inspections-lost') && e.op === 'list inspection') continue;
  let route = routes.find((r) => r.path === path);
  if (!route) routes.push(route = { path, parts: path.slice(1).split('/'), methods: new Map() });
  route.methods.set(method, e);
}
function findRoute(path) {
  let inside = path;
  if (path.startsWith(BASE + '/')) inside = path.slice(BASE.length); else if (!fault('base-also-bare')) return null;
  const parts = inside.slice(1).split('/');
  for (const r of routes) {
    if (r.parts.length !== parts.length) continue;
    let value; let ok = true;
    for (let i = 0; i < parts.length; i++) {
      if (r.parts[i][0] === '{') { try { value = decodeURIComponent(parts[i]); } catch { ok = false; } if (value === '') ok = false; } else if (r.parts[i] !== parts[i]) ok = false;
      if (!ok) break;
    }
    if (ok) return { route: r, value };
  }
  return null;
}

// ---------------------------------------------------------------- reading what was sent
function bodyOf(x) {
  const { ep, raw, req } = x;
  const has = raw.length > 0;
  if (ep.takes) {
    const type = req.headers['content-type'];
    if (has) {
      const media = type?.split(';')[0].trim().toLowerCase();
      if (!(media === 'application/json' || (media === 'application/merge-patch+json' && ep.takes === 'update'))) refuse('wrong_media');
    }
  }
  if (x.size > (fault('body-limit-off-by-one') ? 6145 : 6144)) refuse('body_too_large');
  if (!ep.takes) return undefined;
  if (!has) { if (ep.optional) return {}; refuse('unreadable_body'); }
  let value;
  try { value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)); } catch { refuse('unreadable_body'); }
  return value;
}
const notMap = (b) => { if (kindOf(b) !== 'object') refuseBody([{ in: 'body', path: '', found: show(b), expected: 'a map', why: 'value' }]); };

/** A body of a resource, read in its edition: the values to store, carried up. */
function take(x, how, row, bound = {}) {
  const { body, edition } = x, resource = x.ep.resource;
  notMap(body);
  const fields = fieldsIn(resource, edition), out = [], values = {};
  for (const [name, sent] of Object.entries(body)) {
    const f = fields.get(name);
    if (!f) { out.push({ in: 'body', path: name, found: show(sent), expected: 'no such field', why: 'unknown' }); continue; }
    if (f.shape.readOnly) continue;
    if (f.field in bound) {
      if (sent !== bound[f.field]) out.push({ in: 'body', path: name, found: show(sent), expected: show(bound[f.field]), why: 'value' });
      continue;
    }
    if (f.shape.immutable && row) {
      if (sent !== row[f.field]) out.push({ in: 'body', path: name, found: show(sent), expected: show(row[f.field]), why: 'value' });
      continue;
    }
    let value = sent;
    if (how === 'update' && value === null) {
      if (f.shape.required) out.push({ in: 'body', path: name, found: 'null', expected: 'a value', why: 'value' }); else if (!fault('null-removes-nothing')) values[f.field] = undefined;
      continue;
    }
    if (how === 'update' && f.shape.nested && kindOf(value) === 'object') {
      const merged = { ...row[f.field] };
      for (const [k, v] of Object.entries(value)) {
        if (v === null && Object.hasOwn(f.shape.fields, k)) {
          if (k === 'country') out.push({ in: 'body', path: `${name}.${k}`, found: 'null', expected: 'a value', why: 'value' }); else delete merged[k];
        } else merged[k] = v;
      }
      value = merged;
    }
    const n = out.length;
    check(value, f.shape, name, out);
    if (out.length > n) continue;
    if (row && f.down !== same && row[f.field] !== undefined && f.down(row[f.field]) === value) { values[f.field] = row[f.field]; continue; }
    values[f.field] = f.up(value);
    if (f.up !== same) check(values[f.field], RES[resource][f.field], name, out);
  }
  if (how !== 'update') {
    for (const [name, f] of fields) {
      const s = f.shape;
      if (s.readOnly || Object.hasOwn(body, name) || f.field in bound || (row && s.immutable)) continue;
      if (s.default !== undefined) values[f.field] = s.default;
      else if (s.required) out.push({ in: 'body', path: name, found: 'nothing', expected: 'a value', why: 'missing' });
    }
    for (const [field, s] of Object.entries(RES[resource])) { // what this edition cannot see
      if ([...fields.values()].some((f) => f.field === field)) continue;
      if (row) values[field] = row[field]; else if (s.default !== undefined) values[field] = s.default;
    }
  }
  if (resource === 'specimen' && !(fault('found-before-fall-when-changed') && how === 'update')) {
    const next = { ...row, ...values };
    const ok = (v) => typeof v === 'string' && isDate(v);
    if (!out.some((o) => o.path === 'found_on' || o.path === 'seen_falling_on') && ok(next.seen_falling_on) && ok(next.found_on) && next.found_on < next.seen_falling_on) {
      out.push({ in: 'body', path: 'found_on', found: show(next.found_on), expected: 'a day on which it had fallen', why: 'value' });
    }
  }
  if (out.length) refuseBody(out);
  return values;
}
function takeRequest(x) {
  notMap(x.body);
  const out = [], s = x.ep.takes;
  for (const [k, v] of Object.entries(x.body)) {
    if (!Object.hasOwn(s.fields, k)) out.push({ in: 'body', path: k, found: show(v), expected: 'no such field', why: 'unknown' }); else check(v, s.fields[k], k, out);
  }
  for (const k of s.required) if (!Object.hasOwn(x.body, k)) out.push({ in: 'body', path: k, found: 'nothing', expected: 'a value', why: 'missing' });
  if (out.length) refuseBody(out);
  return x.body;
}

function parametersOf(x) {
  const { ep, edition } = x, given = new Map();
  if (x.query) {
    for (const piece of x.query.split('&')) {
      if (piece === '') continue;
      const i = piece.indexOf('=');
      let name, value;
      try {
        name = decodeURIComponent((i < 0 ? piece : piece.slice(0, i)).replaceAll('+', ' '));
        value = i < 0 ? '' : decodeURIComponent(piece.slice(i + 1).replaceAll('+', ' '));
      } catch { badParameter(piece, piece, 'a text that can be read'); }
      if (given.has(name)) badParameter(name, value, 'one value');
      given.set(name, value);
    }
  }
  const filters = []; let sort = null;
  const one = (name, p, textValue) => {
    let shape = p.shape, up = same;
    if (p.of) {
      const f = [...fieldsIn(p.of[0], edition).values()].find((y) => y.field === p.of[1]);
      shape = f.shape; up = f.up;
    }
    let v = textValue;
    if (shape.type === 'boolean') { if (v !== 'true' && v !== 'false') badParameter(name, v, 'true or false'); v = v === 'true'; }
    if (shape.type === 'integer') { if (!/^-?(0|[1-9]\d*)$/.test(v)) badParameter(name, v, 'a whole number'); v = Number(v); }
    const out = []; check(v, shape, name, out);
    if (out.length) badParameter(name, textValue, out[0].expected);
    if (p.words && v.split(/\s+/).filter(Boolean).length > 16) badParameter(name, textValue, '16 words at most');
    return up(v);
  };
  for (const [name, value] of given) {
    if (ep.page && (name === ep.page.page || name === ep.page.size)) continue;
    const p = ep.params?.[name];
    if (!p || (p.of && edition === OLD && OLDER[p.of[0]]?.[p.of[1]]?.gone)) badParameter(name, value, 'no such parameter');
    if (p.sorts) {
      const down = value.startsWith('-'), by = p.sorts[down ? value.slice(1) : value];
      if (!by) badParameter(name, value, 'one of ' + Object.keys(p.sorts).map((k) => `${k}, -${k}`).join(', '));
      sort = down ? (a, b) => by(b, a) : by;
      continue;
    }
    if (p.split) {
      const values = value.split(',');
      if (values.length > 100) badParameter(name, value, '100 values at most');
      const all = values.map((v) => one(name, p, v));
      filters.push((r) => all.some((v) => p.test(r, v)));
    } else { const v = one(name, p, value); filters.push((r) => p.test(r, v)); }
  }
  if (ep.once?.required && !x.req.headers[ep.once.header]) badParameter('X-Room-Once', undefined, 'a key', 'header');
  if (ep.page) {
    const P = ep.page, max = fault('page-over-max') && P === PAGE ? P.max + 1 : P.max;
    const number = (name, least, otherwise) => {
      if (!given.has(name)) return otherwise;
      const v = given.get(name);
      if (!/^(0|[1-9]\d{0,14})$/.test(v) || Number(v) < least) refuse('bad_page', { places: [{ in: 'query', path: name, found: show(v), expected: `a whole number from ${least}` }] });
      return Number(v);
    };
    const start = number(P.page, P.style === 'page' ? 1 : 0, P.style === 'page' ? 1 : 0);
    let size = number(P.size, 1, P.default);
    if (size > max) { if (!P.clamp || fault('take-not-clamped')) refuse('bad_page', { places: [{ in: 'query', path: P.size, found: String(size), expected: `${max} or less` }] }); size = max; }
    x.pageAt = P.style === 'page' ? (start - 1) * size : start;
    x.pageNumber = start; x.pageSize = size;
  }
  x.filters = filters; x.sort = sort; x.given = given;
}

// ---------------------------------------------------------------- operations
const shown = (x, resource, row, extra) => view(resource, row, x.caller?.user, x.edition, extra);
const tagOf = (resource, row, user, edition) => '"' + createHash('sha256').update(edition + JSON.stringify(view(resource, row, user, edition))).digest('base64url').slice(0, 24) + '"';
const made = (x, path, resource, row, extra) => ({
  status: 201, body: shown(x, resource, row, extra),
  headers: { Location: (fault('base-lost-in-location') ? '' : BASE) + path + '/' + row.id },
});
const updated = (x, resource, row) => ({ status: 200, body: shown(x, resource, row) });
const removed = () => ({ status: 204 });

function readRow(x) {
  const { ep, row, req } = x, headers = {};
  if (ep.cache) headers['Cache-Control'] = ep.cache;
  if (ep.etag) {
    const tag = tagOf(ep.row, row, x.caller?.user, x.edition);
    headers.ETag = tag;
    const none = req.headers['if-none-match'];
    if (none !== undefined && !fault('never-304') && (none.trim() === '*' || none.split(',').some((t) => t.trim().replace(/^W\//, '') === tag))) return { status: 304, headers };
  }
  return { status: 200, headers, body: shown(x, ep.row, row, { alone: true }) };
}

function list(x) {
  const { ep, caller } = x, resource = ep.resource;
  let rows = ep.parent ? each(slicesOf, x.parent.id).map((id) => store.slice.get(id)) : [...store[resource].values()];
  if (resource === 'entry') { const t = now(); rows = rows.filter((e) => e.t + 45 * DAY > t); }
  rows = rows.filter((r) => may(ep.op, caller, r) && x.filters.every((f) => f(r)));
  const order = x.sort ?? ep.order;
  if (order) rows.sort(order); // a stable sort: ties stay as they were made
  if (!ep.page) return { status: 200, body: rows.map((r) => shown(x, resource, r)) };
  const page = rows.slice(x.pageAt, x.pageAt + x.pageSize), items = page.map((r) => shown(x, resource, r, { list: true }));
  const more = x.pageAt + x.pageSize < rows.length;
  if (ep.page === SKIP) return { status: 200, body: { rows: items, more } };
  const link = (n, rel) => {
    const q = [...x.given].filter(([k]) => k !== 'page' && k !== 'per').map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`);
    if (x.given.has('per')) q.push('per=' + x.pageSize);
    q.push('page=' + n);
    return `<${x.path}?${q.join('&')}>; rel="${rel}"`;
  };
  const links = [];
  if (more) links.push(link(x.pageNumber + 1, 'next'));
  if (x.pageNumber > 1) links.push(link(x.pageNumber - 1, 'prev'));
  links.push(link(1, 'first'));
  return { status: 200, links, body: { items, more, total: rows.length } };
}

function createSpecimen(x) {
  const v = take(x, 'create'), t = iso();
  const row = { id: 'mtr_' + random(12, 'abcdefghijklmnopqrstuvwxyz0123456789'), ...v, catalogued_by: x.caller.id, catalogued_at: t, revised_at: t };
  if (names.has(row.name)) refuse('already_there');
  store.specimen.set(row.id, row); names.set(row.name, row.id);
  emit('specimen.catalogued', 'specimen', row, x.caller);
  return made(x, '/specimens', 'specimen', row);
}
const differs = (row, v) => Object.keys(v).some((k) => JSON.stringify(sorted(row[k])) !== JSON.stringify(sorted(v[k])));
const sorted = (v) => (kindOf(v) === 'object' ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v);

function updateSpecimen(x) {
  const { row } = x, v = take(x, 'update', row);
  const next = { ...row, ...v };
  if (cutMg(row.id) > next.mass_mg) refuse('under_cut');
  if (next.name !== row.name && names.has(next.name) && !fault('name-taken-when-changed')) refuse('already_there');
  if (!differs(row, v)) return updated(x, 'specimen', row);
  const was = row.mass_mg;
  if (names.get(row.name) === row.id) names.delete(row.name);
  changed(row, v);
  names.set(row.name, row.id);
  row.revised_at = iso();
  if (row.mass_mg !== was) emit('specimen.reweighed', 'specimen', row, x.caller, { specimen: row.id, was: fault('reweighed-tells-new-as-old') ? row.mass_mg : was, is: row.mass_mg });
  return updated(x, 'specimen', row);
}
function deleteSpecimen(x) {
  const { row } = x;
  const held = (slicesOf.get(row.id)?.size ?? 0) > 0;
  if (held && fault('struck-off-though-held')) emit('specimen.struck_off', 'specimen', row, x.caller);
  if (held) refuse('still_referred_to');
  store.specimen.delete(row.id); names.delete(row.name);
  emit('specimen.struck_off', 'specimen', row, x.caller);
  return removed();
}
const codeKey = (r) => r.specimen + ' ' + r.code;
const overCut = (sum, most) => (fault('no-cut-to-the-last') ? sum >= most : sum > most);
function createSlice(x) {
  const { parent } = x, v = take(x, 'create', undefined, { specimen: parent.id });
  if (overCut(cutMg(parent.id) + v.mass_mg, parent.mass_mg)) refuse('over_cut');
  const row = { id: 'slc_' + ulid(), specimen: parent.id, ...v, cut_at: iso() };
  if (codes.has(codeKey(row))) refuse('already_there');
  row.number = fault('slice-number-again') ? (slicesOf.get(parent.id)?.size ?? 0) + 1 : (counters.get(parent.id) ?? 0) + 1;
  counters.set(parent.id, row.number);
  store.slice.set(row.id, row); codes.set(codeKey(row), row.id); add(slicesOf, parent.id, row.id);
  emit('slice.cut', 'slice', row, x.caller);
  return made(x, '/slices', 'slice', row);
}
function replaceSlice(x) {
  const { row } = x, v = take(x, 'replace', row);
  for (const k of ['thickness_um', 'worth_cents']) if (!(k in v) && !(fault('replace-keeps-thickness') && k === 'thickness_um')) v[k] = undefined;
  const parent = store.specimen.get(row.specimen), next = { ...row, ...v };
  if (overCut(cutMg(parent.id, row.id) + next.mass_mg, parent.mass_mg)) refuse('over_cut');
  if (next.code !== row.code && codes.has(codeKey(next))) refuse('already_there');
  if (!differs(row, v)) return updated(x, 'slice', row);
  codes.delete(codeKey(row)); changed(row, v); codes.set(codeKey(row), row.id);
  return updated(x, 'slice', row);
}
function deleteSlice(x) {
  const { row } = x;
  if (loansOf.get(row.id)?.size || inspectionsOf.get(row.id)?.size) refuse('still_referred_to');
  staleCut.set(row.specimen, (staleCut.get(row.specimen) ?? 0) + row.mass_mg);
  store.slice.delete(row.id); codes.delete(codeKey(row)); slicesOf.get(row.specimen).delete(row.id);
  return removed();
}

function dueChecks(due) {
  if (instant(due) < now() + 24 * HOUR) refuse('due_too_soon');
  dueFar(due);
}
function dueFar(due) { if (instant(due) > now() + 4320 * HOUR) refuse('due_too_far'); }
const monthOf = (t) => new Date(t).toISOString().slice(0, 7);
function createLoan(x) {
  const { caller } = x, v = take(x, 'create');
  const slice = store.slice.get(v.slice);
  if (!slice || !may('read slice', caller, slice)) refuse('no_such_reference');
  dueChecks(v.due_at);
  if (v.method === 'display' && !store.specimen.get(slice.specimen).on_view) refuse('display_needs_curation');
  const month = monthOf(now()), key = caller.id + ' ' + month, used = quota.get(key) ?? 0;
  if (used >= 30) {
    const d = new Date(now()), end = Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 1);
    refuse('used_up', { headers: { 'Retry-After': Math.ceil((end - now()) / 1000) } });
  }
  const open = each(loansBy, caller.id).filter((id) => fault('closed-loans-count') || OPEN.includes(store.loan.get(id).state)).length;
  if (open >= 6) { if (fault('refused-loans-use-quota')) quota.set(key, used + 1); refuse('used_up'); }
  quota.set(key, used + 1);
  const row = { id: 'loan_' + ulid(), scholar: caller.id, lab: caller.lab, ...v, renewals: 0, asked_at: iso() };
  store.loan.set(row.id, row); add(loansOf, row.slice, row.id); add(loansBy, caller.id, row.id);
  enter(row, 'requested');
  emit('loan.requested', 'loan', row, caller);
  return made(x, '/loans', 'loan', row);
}
function updateLoan(x) {
  const { row } = x, v = take(x, 'update', row);
  if (row.state !== 'requested') refuse('wrong_state');
  dueChecks({ ...row, ...v }.due_at);
  if (v.slice !== undefined && v.slice !== row.slice && store.slice.has(v.slice)) { loansOf.get(row.slice).delete(row.id); add(loansOf, v.slice, row.id); }
  if (differs(row, v)) changed(row, v);
  return updated(x, 'loan', row);
}
function approve(x) {
  const { row } = x, r = takeRequest(x);
  if (row.state !== 'requested') refuse('wrong_state');
  if (taken(row.slice) && !fault('slice-lent-twice')) refuse('slice_taken');
  changed(row, { desk_note: r.desk_note ?? '', decided_by: x.caller.id, collect_by: iso(now() + 7 * DAY) });
  enter(row, 'approved');
  emit('loan.decided', 'loan', row, x.caller);
  return updated(x, 'loan', row);
}
function decline(x) {
  const { row } = x;
  const r = takeRequest(x);
  if (row.state !== 'requested') refuse('wrong_state');
  changed(row, { reason: r.reason, decided_by: x.caller.id });
  enter(row, 'declined');
  emit('loan.decided', 'loan', row, x.caller);
  return updated(x, 'loan', row);
}
function withdraw(x) {
  const { row } = x;
  if (!['requested', 'approved', ...(fault('withdrawn-when-out') ? ['out'] : [])].includes(row.state)) refuse(fault('too-late-is-wrong-state') ? 'wrong_state' : 'too_late');
  enter(row, 'withdrawn');
  emit('loan.closed', 'loan', row, x.caller);
  return updated(x, 'loan', row);
}
function handOver(x) {
  const { row } = x;
  if (row.state !== 'approved') refuse('wrong_state');
  row.handed_over_at = iso();
  enter(row, 'out');
  return updated(x, 'loan', row);
}
function renew(x) {
  const { row } = x, r = takeRequest(x);
  if (row.state !== 'out') refuse('wrong_state');
  if (row.renewals >= 2) refuse('renewed_out');
  dueFar(r.due_at);
  if (instant(r.due_at) <= instant(row.due_at)) refuse('renewal_backward');
  changed(row, { due_at: r.due_at, renewals: row.renewals + 1 });
  if (!fault('renewed-runs-over-at-old-time')) enter(row, 'out');
  return updated(x, 'loan', row);
}
function giveBack(x) {
  if (fault('function-give-back-not-built')) return { status: 501, body: { fault: { code: 'broken', says: 'Not yet.', request: x.id } } };
  const { row } = x, r = takeRequest(x);
  if (row.state !== 'out' && row.state !== 'overdue') refuse('wrong_state');
  row.given_back_at = iso();
  const timer = row.timer;
  enter(row, 'returned');
  if (timer && fault('returned-runs-over')) timer.off = false;
  emit('loan.closed', 'loan', row, x.caller);
  if (!fault('returned-uninspected')) {
    const i = { id: 'insp_' + ulid(), loan: row.id, slice: row.slice, lab: row.lab, condition: r.condition, made_at: iso() };
    store.inspection.set(i.id, i); add(inspectionsOf, i.slice, i.id);
    if (i.condition !== 'sound') emit('inspection.damage', 'inspection', i, x.caller);
  }
  return updated(x, 'loan', row);
}
function createHook(x) {
  const { caller } = x, v = take(x, 'create');
  if ((hooksBy.get(caller.id)?.size ?? 0) >= 4) refuse('used_up');
  const row = { id: 'hook_' + random(16), owner: caller.id, ...v, seal: 'seal_' + random(40), maker: caller, edition: x.edition, failing: null };
  store.hook.set(row.id, row); add(hooksBy, caller.id, row.id);
  return made(x, '/hooks', 'hook', row, { reveal: true });
}
function updateHook(x) {
  const { row } = x, v = take(x, 'update', row);
  if (differs(row, v)) { changed(row, v); row.failing = null; }
  return updated(x, 'hook', row);
}
function deleteHook(x) {
  store.hook.delete(x.row.id); hooksBy.get(x.row.owner).delete(x.row.id);
  for (const [key, q] of queues) if (q[0]?.hook === x.row.id) queues.delete(key);
  return removed();
}

// ---------------------------------------------------------------- rates
const windows = new Map();
function rate(x) {
  const { caller, ep } = x, t = now(), cost = ep.op === 'list entry' && caller?.user !== 'curator' ? 4 : 1;
  let left, until, limit, wait = 0;
  if (caller && caller.user !== 'curator') {
    limit = fault('rate-one-too-many') ? 401 : 400;
    const key = 's ' + caller.id;
    let w = windows.get(key);
    if (!w) windows.set(key, w = { list: [], from: 0, used: 0 });
    while (w.from < w.list.length && w.list[w.from][0] + MINUTE <= t) w.used -= w.list[w.from++][1];
    if (w.from > 512) { w.list.splice(0, w.from); w.from = 0; }
    if (w.used + cost > limit) {
      let need = w.used + cost - limit, i = w.from;
      while (need > 0 && i < w.list.length) { need -= w.list[i][1]; wait = w.list[i][0] + MINUTE - t; i++; }
    } else { w.list.push([t, cost]); w.used += cost; }
    left = 400 - w.used; until = w.list[w.from][0] + MINUTE;
  } else {
    limit = caller ? 600 : 90;
    const key = caller ? 'c ' + caller.id : 'a ' + x.req.socket.remoteAddress;
    let w = windows.get(key);
    if (!w || w.end <= t) windows.set(key, w = { end: t + MINUTE, used: 0 });
    if (w.used + cost > limit) wait = w.end - t; else w.used += cost;
    left = limit - w.used; until = w.end;
  }
  x.rate = { 'X-Room-Limit': Math.min(limit, caller && caller.user !== 'curator' ? 400 : limit), 'X-Room-Left': Math.max(0, left), 'X-Room-Reset': Math.max(0, Math.ceil((until - t) / 1000)) };
  if (wait > 0) refuse('too_often', { headers: { 'Retry-After': Math.ceil(wait / 1000) } });
}

// ---------------------------------------------------------------- the order of refusals
function accepts(header) {
  if (header === undefined || header.trim() === '') return true;
  let best = -1, q = 0;
  for (const part of header.split(',')) {
    const [type, ...ps] = part.split(';').map((s) => s.trim().toLowerCase());
    const rank = type === 'application/json' ? 2 : type === 'application/*' ? 1 : type === '*/*' ? 0 : -1;
    if (rank < 0 || rank < best) continue;
    const qp = ps.find((p) => p.startsWith('q='));
    const value = qp ? Number(qp.slice(2)) : 1;
    if (rank > best || value > q) { best = rank; q = value; }
  }
  return best >= 0 && q > 0;
}
function identify(x) {
  const { req, ep } = x;
  if (ep.public) return null;
  const header = req.headers.authorization;
  const challenge = `RoomPass realm="${REALM}"`;
  const refused = (code, c) => refuse(code, { headers: { 'WWW-Authenticate': c } });
  if (header === undefined) {
    if (RULES[ep.op].anyone) return null;
    refused('no_pass', challenge);
  }
  let count = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === 'authorization') count++;
  const m = (fault('any-prefix') ? /^[a-z]+ +(\S+)$/i : /^roompass +(\S+)$/i).exec(header);
  const caller = count === 1 && m ? CALLERS.get(m[1]) : undefined;
  if (!caller) {
    if (fault('bad-pass-is-nobody') && RULES[ep.op].anyone) return null;
    refused('bad_pass', challenge + ', error="invalid_key"');
  }
  return caller;
}
function process1(x) {
  const { req } = x;
  if (Buffer.byteLength(req.url) > 2048) refuse('address_too_long');
  let size = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
  if (size > 8192) refuse('headers_too_large');
  const cut = req.url.indexOf('?');
  x.path = cut < 0 ? req.url : req.url.slice(0, cut); x.query = cut < 0 ? '' : req.url.slice(cut + 1);
  const said = req.headers['x-room-edition'];
  if (said === OLD || said === NEW) x.edition = said;
  const found = findRoute(x.path);
  if (!found) refuse('no_such_route');
  const available = [...found.route.methods.values()].filter((e) => !(e.since && x.edition === OLD));
  if (!available.length) refuse('no_such_route');
  const allow = [...new Set(available.flatMap((e) => (e.method === 'GET' ? ['GET', 'HEAD'] : [e.method])).concat('OPTIONS'))].join(', ');
  if (req.method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  const ep = available.find((e) => e.method === method);
  if (!ep) refuse('no_such_method', { headers: { Allow: allow } });
  x.ep = ep;
  if (said !== undefined && said !== OLD && said !== NEW && !fault('unknown-edition-served')) refuse('edition_unknown');
  if (x.edition === OLD && now() >= SUNSET && !fault('sunset-passes')) refuse('edition_over');
  if (!accepts(req.headers.accept)) refuse('cannot_produce');
  const caller = x.caller = identify(x);
  if (!ep.public) {
    const rule = ruleOf(ep.op, caller);
    if (!rule) refuse(caller ? 'not_yours' : 'no_pass', caller ? {} : { headers: { 'WWW-Authenticate': `RoomPass realm="${REALM}"` } });
    const scope = SCOPES[ep.op];
    if (scope && !caller.scopes.includes(scope)) refuse('scope_lacking');
  }
  rate(x);
  if (fault('parameters-before-row')) parametersOf(x);
  if (ep.parent) {
    x.parent = store[ep.parent].get(found.value);
    if (!x.parent || !may('read ' + ep.parent, caller, x.parent)) refuse('no_such_row');
  }
  if (ep.row) {
    x.row = store[ep.row].get(found.value);
    if (x.row && ep.row === 'entry' && x.row.t + 45 * DAY <= now()) x.row = undefined;
    if (!x.row || !may('read ' + ep.row, caller, x.row)) refuse('no_such_row');
    if (!may(ep.op, caller, x.row)) refuse('not_yours');
  }
  parametersOf(x);
  x.body = bodyOf(x);
  let key;
  if (ep.once && req.headers[ep.once.header] !== undefined) {
    key = caller.id + '\n' + ep.op + '\n' + req.headers[ep.once.header];
    const print = createHash('sha256').update(x.edition + '\n' + req.url + '\n').update(x.raw).digest('hex');
    const kept = once.get(key);
    if (kept && kept.until > now() && !fault('once-means-nothing')) {
      if (kept.print !== print) refuse('once_reused');
      return { ...kept.answer, replayed: true };
    }
    once.delete(key);
    x.keep = (answer) => once.set(key, { print, until: now() + 48 * HOUR, answer });
  }
  if (ep.ifMatch) {
    const match = req.headers['if-match'];
    if (match === undefined) { if (ep.ifMatch === 'required') refuse('tag_missing'); } else if (match.trim() !== '*') {
      const tags = match.split(',').map((t) => t.trim());
      const good = [tagOf(ep.row, x.row, caller.user, x.edition)];
      if (may('read ' + ep.row, null, x.row)) good.push(tagOf(ep.row, x.row, undefined, x.edition));
      if (!tags.some((t) => good.includes(t))) refuse('tag_differs');
    }
  }
  return ep.run(x);
}
function common(x) {
  const headers = { 'X-Room-Request': x.id, 'X-Room-Edition': x.edition, Vary: 'X-Room-Edition, Authorization', ...x.rate };
  const links = [];
  if (x.edition === OLD) {
    headers.Deprecation = '@' + DEPRECATED / 1000;
    headers.Sunset = new Date(SUNSET).toUTCString();
    links.push('<https://loans.meteorites.example/editions>; rel="deprecation"', `<${x.req.url}>; rel="successor-version"`);
  }
  return { headers, links };
}
function refusal(code, more, x) {
  const [status, text] = CODES[code];
  const says = more.says ?? text;
  const f = { code, says, request: x.id };
  if (more.places?.length) f.places = more.places;
  return { status, body: { fault: f }, headers: { ...more.headers, ...(fault('no-fault-header') && status === 404 ? {} : { 'X-Room-Fault': code }) }, refused: true };
}
function send(x, res, answer) {
  const { headers, links } = common(x);
  if (answer.replayed) headers['X-Room-Request'] = answer.id;
  if (answer.refused && fault('deprecation-not-on-refusals')) { delete headers.Deprecation; delete headers.Sunset; links.length = 0; }
  Object.assign(headers, answer.headers);
  const all = [...(answer.links ?? []), ...links];
  if (all.length) headers.Link = all.join(', ');
  let data;
  if (answer.body !== undefined) { data = Buffer.from(JSON.stringify(answer.body)); headers['Content-Type'] = 'application/json'; headers['Content-Length'] = data.length; }
  else if (answer.status !== 204 && answer.status !== 304) headers['Content-Length'] = 0;
  res.writeHead(answer.status, headers);
  res.end(x.req.method === 'HEAD' ? undefined : data);
}
function handle(req, res) {
  const x = { req, id: randomUUID(), edition: NEW, rate: {}, raw: Buffer.alloc(0), size: 0 };
  const chunks = [];
  req.on('data', (c) => {
    x.size += c.length;
    if (x.size <= 65536) chunks.push(c); else if (x.size > 16 * 1024 * 1024) req.destroy();
  });
  req.on('error', () => {});
  res.on('error', () => {});
  req.on('end', () => {
    tick();
    x.raw = Buffer.concat(chunks);
    let answer;
    try { answer = process1(x); } catch (e) {
      if (e instanceof Refusal) answer = refusal(e.code, e.more, x);
      else { console.error(e); answer = refusal('broken', {}, x); }
      if (!(e instanceof Refusal && OWN.has(e.code))) x.keep = undefined;
    }
    if (x.keep) x.keep({ ...answer, id: x.id });
    send(x, res, answer);
  });
}

const server = http.createServer({ maxHeaderSize: 256 * 1024, requestTimeout: 10000, headersTimeout: 10000, keepAliveTimeout: 20000, connectionsCheckingInterval: 250 }, handle);
server.keepAliveTimeoutBuffer = 0;
server.maxHeadersCount = 0;
server.on('clientError', (e, socket) => {
  if (!socket.writable || socket.destroyed) return;
  if (e.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) { setTimeout(() => socket.destroy(), 10000).unref(); return; }
  const code = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : e.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'unreadable_body';
  const id = randomUUID(), status = CODES[code][0], body = JSON.stringify({ fault: { code, says: CODES[code][1], request: id } });
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Room-Fault: ${code}\r\nX-Room-Request: ${id}\r\nX-Room-Edition: ${NEW}\r\nVary: X-Room-Edition, Authorization\r\nConnection: close\r\n\r\n${body}`);
});
server.listen(PORT, '127.0.0.1');
setInterval(tick, 20);

// ---------------------------------------------------------------- the clock's door
function plus(t, d) {
  const m = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(d);
  if (!m) return null;
  const n = (i) => Number(m[i] ?? 0), at = new Date(t), months = n(1) * 12 + n(2);
  if (months) {
    const day = at.getUTCDate();
    at.setUTCDate(1); at.setUTCMonth(at.getUTCMonth() + months);
    at.setUTCDate(Math.min(day, days(at.getUTCFullYear(), at.getUTCMonth() + 1)));
  }
  return at.getTime() + (n(3) * 7 + n(4)) * DAY + n(5) * HOUR + n(6) * MINUTE + Math.round(n(7) * 1000);
}
if (CLOCK_PORT !== undefined) {
  http.createServer((req, res) => {
    const chunks = [];
    req.on('data', (c) => chunks.push(c));
    req.on('end', async () => {
      const answer = (status, body) => { res.writeHead(status, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(body)); };
      if (req.method === 'GET') return answer(200, { now: iso() });
      if (req.method !== 'POST') return answer(400, { error: 'GET or POST' });
      let b;
      try { b = JSON.parse(Buffer.concat(chunks).toString()); } catch { return answer(400, { error: 'no JSON' }); }
      if (kindOf(b) !== 'object' || Object.keys(b).length !== 1) return answer(400, { error: 'advance or now' });
      let target = null;
      if (typeof b.advance === 'string') target = plus(now(), b.advance);
      else if (typeof b.now === 'string' && isTime(b.now)) target = instant(b.now);
      if (target === null || Number.isNaN(target)) return answer(400, { error: 'advance or now' });
      if (target < now()) return answer(422, { error: 'the clock goes forward alone' });
      await moveTo(target);
      answer(200, { now: iso() });
    });
  }).listen(CLOCK_PORT, '127.0.0.1');
}
