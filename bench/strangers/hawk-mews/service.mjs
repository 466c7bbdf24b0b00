// Hawk Mews: lodges hawks, lends moors, keeps the book of flights. node:http alone; all in memory, all by one clock.
import http from 'node:http';
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const args = process.argv.slice(2);
const arg = (name) => { const i = args.indexOf('--' + name); return i < 0 ? undefined : args[i + 1]; };
const FAULT = arg('fault');
const F = (id) => FAULT === id;
const BASE = '/perch', REALM = 'Hawk Mews';
const S = 1000, M = 60 * S, H = 60 * M, D = 24 * H;

class Refusal extends Error {
  constructor(condition, { message, spots, headers, own } = {}) {
    super(message ?? condition);
    Object.assign(this, { condition, spots, headers: headers ?? {}, own: own ?? false });
  }
}
const CODES = {
  'request.malformed': ['garbled', 400, 'The request cannot be read.'], 'request.parameter': ['garbled', 400, 'A parameter is not right.'],
  'limit.page': ['bad_page', 400, 'There is no such page.'], 'request.media': ['wrong_type', 415, 'Send application/json.'],
  'request.invalid.missing': [F('x-lacking') ? 'unfit' : 'lacking', 422], 'request.invalid.read_only': ['not_writable', 422, 'That is not yours to write.'],
  'request.invalid': ['unfit', 422, 'What was sent does not fit.'], 'route.unknown': ['no_such_path', 404, 'There is no such path.'],
  'resource.missing': ['no_such_thing', 404, 'There is no such thing.'], 'reference.missing': ['no_such_ref', F('x-ref') ? 404 : 422, 'What it refers to is not there.'],
  'method.unsupported': ['no_such_method', 405, 'Not by this method.'], 'caller.unknown': ['who_are_you', 401, 'Show a ring or a seal.'],
  'caller.forbidden.scope': ['scope_lacking', 403, 'Your ring has not the scope.'], 'caller.forbidden': ['not_yours', 403, 'You may not do this.'],
  'resource.exists': ['taken', 409, 'Another one has that already.'], 'reference.held': ['held', 409, 'Something refers to it.'],
  'transition.illegal': ['wrong_phase', 409, 'Not in its phase.'],
  too_late: ['too_late', 409, 'It is aloft or over.'], too_thin: ['too_thin', 409, 'Under 120 grams no hawk is set down to moult.'],
  hawk_not_fit: ['hawk_not_fit', 409, 'The hawk was not cleared.'], too_soon: ['too_soon', 422, 'That time is over.'],
  gale: ['gale', 422, 'Nobody flies in such a wind.'], moor_shut: ['moor_shut', F('x-shut') ? 422 : 409, 'The moor is shut.'],
  'precondition.failed': ['stale', 412, 'It has changed.'], 'precondition.required': ['tag_wanted', 428, 'Send If-Match.'],
  'idempotency.reused': ['key_reused', 422, 'The key was used for something else.'], 'limit.rate': ['too_often', 429, 'Too often.'],
  'limit.quota': ['used_up', 429, 'Used up.'], 'limit.size': ['too_large', 413, 'Too large.'], 'limit.size.url': ['too_long', 414, 'The address is too long.'],
  'limit.size.headers': ['too_many_fields', 431, 'Too many header fields.'], 'limit.time': ['too_slow', 408, 'Too slow.'],
  'version.unknown': ['no_such_edition', 400, 'There is no such edition.'], 'version.sunset': ['edition_over', 410, 'That edition is over.'], internal: ['broken', 500, 'Something broke.'],
};

// ---- the clock ------------------------------------------------------------------------------------------------------------------
class Clock {
  offset = 0; held = null;
  now() { return this.held ?? Date.now() + this.offset; }
  iso() { return new Date(this.now()).toISOString(); }
  set(at) { this.held = null; this.offset = at - Date.now(); }
  at(moment, act) { // something of an earlier moment is done as if it were that one
    const before = this.held; this.held = moment;
    try { return act(); } finally { this.held = before; }
  }
  later(text) {
    const m = /^P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
    if (!m) return null;
    const [y, mo, w, d, h, mi, s] = m.slice(1).map((x) => Number(x ?? 0));
    const at = new Date(this.now());
    if (y || mo) {
      const day = at.getUTCDate(); at.setUTCDate(1); at.setUTCMonth(at.getUTCMonth() + 12 * y + mo);
      at.setUTCDate(Math.min(day, new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()));
    }
    return at.getTime() + w * 7 * D + d * D + h * H + mi * M + Math.round(s * S);
  }
}
const clock = new Clock();
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/, STAMP = /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const stamp = (t) => Date.parse(t.toUpperCase());
const isDate = (t) => { const m = DATE.exec(t); return !!m && +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= new Date(Date.UTC(+m[1], +m[2], 0)).getUTCDate(); };
const isStamp = (t) => { const m = STAMP.exec(t); return !!m && isDate(m[1]); };

// ---- what there is: fields and their bounds ---------------------------------------------------------------------------------------
const text = (minL, maxL, more) => ({ type: 'string', minL, maxL, ...more });
const whole = (min, max, more) => ({ type: 'integer', min, max, ...more });
const made = (more) => ({ type: 'string', ro: true, req: true, ...more });
const FORMATS = {
  date: isDate, 'date-time': isStamp, email: (t) => /^[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(t) && !/\.\.|^\.|\.@/.test(t),
  uri: (t) => /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/.test(t) && URL.canParse(t),
};
const KINDS = ['moor.set', 'hawk.lodged', 'hawk.moved', 'hawk.weighed', 'hawk.left', 'flight.booked', 'flight.launched', 'flight.ended', 'flight.strayed', 'flight.soon', 'listener.muted'];
const isTopic = (t) => t === '*' || KINDS.includes(t) || (t.endsWith('.*') && KINDS.some((k) => k.startsWith(t.slice(0, -1))));
const FIELDS = {
  moor: {
    code: text(0, 12, { req: true, pattern: /^[a-z]{2,12}$/, key: true }), title: text(3, 50, { req: true }), acres: whole(1, 5000, { req: true }),
    surface: { type: 'string', enum: ['heath', 'marsh', 'fell', 'pasture'], req: true }, lowest_c: { type: 'number', min: -20, max: 15 },
    open: { type: 'boolean', def: true, req: true }, contact: text(0, 60, { format: 'email', visible: ['warden'], writable: ['warden'] }),
    aloft: { type: 'integer', ro: true, req: true, derive: (r) => mews.rows.flight.filter((f) => f.moor === r.code && f.phase === 'aloft').length },
  },
  hawk: {
    id: made(), keeper: made(), name: text(2, F('r-name') ? 25 : 24, { req: true }),
    ring_no: text(0, 6, { req: true, imm: !F('r-imm'), pattern: F('r-ring') ? /^[A-Z]{2}[0-9]{4}$/i : /^[A-Z]{2}[0-9]{4}$/ }),
    species: { type: 'string', enum: ['merlin', 'peregrine', 'saker', 'goshawk'], req: true, imm: true }, weight_g: whole(F('r-weight') ? 91 : 90, 2400, { req: true }),
    temper: { type: 'string', enum: ['steady', 'keen', 'shy'], def: 'steady', req: true }, hatched_on: { type: 'string', format: 'date' }, remarks: text(0, 160),
    chip: text(4, 16, { wo: true }), dossier: text(0, 80, { visible: ['warden'], writable: F('r-dossier') ? null : ['warden'] }), moult_weeks: whole(1, 30, { ro: true }),
    phase: made(), lodged_at: made(), changed_at: made(),
    flown: { type: 'integer', ro: true, req: true, derive: (r) => flightsOf(r).filter((f) => f.phase === 'landed' || (F('r-flown') && f.phase === 'strayed')).length },
    bagged: { type: 'integer', ro: true, req: true, derive: (r) => {
      const bags = flightsOf(r).filter((f) => f.phase === 'landed').map((f) => f.bag);
      return F('r-bagged') ? Math.max(0, ...bags) : bags.reduce((a, b) => a + b, 0);
    } },
  },
  flight: {
    id: made(), number: whole(1, Infinity, { ro: true, req: true }), hawk: { type: 'string', ref: 'hawk', req: true, imm: true }, moor: { type: 'string', ref: 'moor', req: true },
    flyer: made(), launch_by: { type: 'string', format: 'date-time', req: true }, minutes: whole(5, 180, { def: F('r-minutes') ? 45 : 30, req: true }),
    lure: { type: 'string', enum: ['swung', 'kite', 'none'], def: 'swung', req: true },
    party: { type: 'array', items: text(1, 20), maxItems: 4, unique: !F('r-party') }, wind_kn: { type: 'number', min: 0, below: 60 },
    phase: made(), launched_at: { type: 'string', ro: true }, bag: whole(0, 12, { ro: true }),
  },
  listener: {
    id: made(), owner: made(), url: text(0, 200, { format: 'uri', req: true, fits: (t) => /^https?:/i.test(t) }),
    topics: { type: 'array', items: { type: 'string', fits: isTopic }, minItems: 1, maxItems: 6 }, on: { type: 'boolean', def: true, req: true },
    seal_key: made({ once: true }), made_at: made(),
  },
};
const KEY = { moor: 'code', hawk: 'id', flight: 'id', listener: 'id' };
const UNIQUE = { moor: [['title']], hawk: [['ring_no'], F('r-keeper') ? ['name'] : ['keeper', 'name']], flight: [], listener: [] };
const REQUESTS = { 'moult hawk': { weeks: whole(1, 30, { req: true }) }, 'land flight': { bag: whole(0, 12, { req: true }) } };
const flightsOf = (hawk) => mews.rows.flight.filter((f) => f.hawk === hawk.id);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Why a value does not fit: 'type', 'value' and what was expected, with the step within it; or null. */
function misfit(f, v) {
  const bad = (kind, expected, at = '', found = v) => ({ kind, expected, at, found });
  const is = { string: typeof v === 'string', integer: Number.isInteger(v), number: typeof v === 'number', boolean: typeof v === 'boolean', array: Array.isArray(v) }[f.type];
  if (!is) return bad('type', f.type);
  if (f.type === 'string') {
    const size = [...v].length;
    if (f.enum && !f.enum.includes(v)) return bad('value', 'one of ' + f.enum.join(', '));
    if (size < (f.minL ?? 0)) return bad('value', `at least ${f.minL} characters`);
    if (size > (f.maxL ?? Infinity)) return bad('value', `at most ${f.maxL} characters`);
    if (f.pattern && !f.pattern.test(v)) return bad('value', `a text like ${f.pattern.source}`);
    if (f.format && !FORMATS[f.format](v)) return bad('value', f.format);
    if (f.fits && !f.fits(v)) return bad('value', 'another text');
  } else if (f.type === 'array') {
    if (v.length < (f.minItems ?? 0) || v.length > (f.maxItems ?? Infinity)) return bad('value', `${f.minItems ?? 0} to ${f.maxItems} items`);
    if (f.unique && new Set(v.map((x) => JSON.stringify(x))).size < v.length) return bad('value', 'items that differ');
    for (const [i, item] of v.entries()) { const m = misfit(f.items, item); if (m) return bad(m.kind, m.expected, `/${i}${m.at}`, m.found); }
  } else if (f.type !== 'boolean') {
    if (v < (f.min ?? -Infinity)) return bad('value', `at least ${f.min}`);
    if (v > (f.max ?? Infinity)) return bad('value', `at most ${f.max}`);
    if (f.below !== undefined && v >= f.below) return bad('value', `less than ${f.below}`);
  }
  return null;
}

// ---- editions: e2 is stored, e1 is carried -----------------------------------------------------------------------------------------
const EDITIONS = { e1: { deprecated: Date.UTC(2026, 2, 1), sunset: Date.UTC(2028, 5, 30) }, e2: {} };
const wireName = (version, res, field) => (version === 'e1' && res === 'hawk' && field === 'weight_g' ? 'grams' : field);
const up = (version, res, field, v) => (version === 'e1' && res === 'hawk' && field === 'temper' && v === 'calm' ? 'steady' : v);
const down = (version, res, field, v) => (version === 'e1' && res === 'hawk' && field === 'temper' && v === 'steady' ? 'calm' : v);
/** The fields of a resource under the names, and with the values, of an edition: [wire name, stored name, field]. */
function wire(version, res) {
  const out = [];
  for (const [name, f] of Object.entries(FIELDS[res])) {
    if (version === 'e1' && res === 'flight' && name === 'lure') continue;
    out.push([wireName(version, res, name), name, version === 'e1' && name === 'temper' ? { ...f, enum: ['calm', 'keen', 'shy'] } : f]);
  }
  if (version === 'e1' && res === 'moor') out.push(['parish', null, text(0, 30)]);
  return out;
}

// ---- who calls and what they may -------------------------------------------------------------------------------------------------
const CALLERS = JSON.parse(readFileSync(new URL('./stranger.json', import.meta.url), 'utf8')).callers.map((c) => ({ scopes: [], ...c }));
const mine = (field) => (row, caller) => row[field] === caller.id;
const RULES = [];
const allow = (ops, to, more = {}) => RULES.push({ ops: ops.split(', '), to, ...more });
allow('list moor, read moor', ['anyone']);
allow('create moor, replace moor, delete moor', ['warden']);
allow('create hawk', ['falconer'], { scope: 'birds' });
allow('list hawk, read hawk, update hawk', ['falconer'], { if: mine('keeper') });
allow('moult hawk', ['falconer'], { if: mine('keeper') });
allow('depart hawk, delete hawk', ['falconer'], { scope: F('a-depart') ? undefined : 'birds', if: mine('keeper') });
allow('list hawk, read hawk, update hawk, clear hawk, moult hawk', ['warden']);
allow('list hawk, read hawk', ['assessor'], { fields: ['id', 'keeper', 'ring_no', 'species', 'phase', ...(F('a-fields') ? ['weight_g'] : [])] });
allow('create flight', ['falconer'], { scope: 'air', if: (row, caller) => mews.find('hawk', row.hawk)?.keeper === caller.id });
allow('update flight', ['falconer'], { scope: 'air', if: mine('flyer') });
allow('launch flight', ['falconer'], { scope: F('a-air') ? undefined : 'air', if: mine('flyer') });
allow('list flight, roster, read flight, land flight, scrub flight', ['falconer'], { if: mine('flyer') });
allow('list flight, roster, read flight, land flight', ['warden']);
allow('list flight, roster', ['assessor'], { if: (row) => row.phase !== 'booked' });
allow('read flight', ['assessor'], { if: (row) => F('a-booked') || row.phase !== 'booked' });
allow('create listener', ['falconer', 'warden']);
allow('list listener, read listener, update listener', ['falconer', 'warden'], { if: mine('owner') });
allow('delete listener', ['falconer', 'warden'], { if: (row, caller) => F('a-listener') || row.owner === caller.id });
if (F('a-clear')) allow('clear hawk', ['falconer'], { if: mine('keeper') });
const rulesFor = (op, caller) => RULES.filter((r) => r.ops.includes(op) && (r.to.includes('anyone') || (caller && r.to.includes(caller.user))));
const may = (op, caller, row) => rulesFor(op, caller).some((r) => (!r.scope || caller.scopes.includes(r.scope)) && (!r.if || r.if(row, caller)));
const shownFields = (res, caller) => { const r = rulesFor('read ' + res, caller); return r.length && r.every((x) => x.fields) ? r.flatMap((x) => x.fields) : null; };

function identify(req) {
  const sent = []; for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === 'authorization') sent.push(req.rawHeaders[i + 1]);
  const refuse = (error) => {
    const challenges = [`Ring realm="${REALM}"${error ? ', error="invalid_key"' : ''}`];
    if (!F('a-challenge')) challenges.push(`Basic realm="${REALM}", charset="UTF-8"`);
    return new Refusal('caller.unknown', { headers: { 'WWW-Authenticate': challenges } });
  };
  if (!sent.length) return { caller: null, refuse };
  if (sent.length > 1) throw refuse(true);
  const [, prefix, rest] = /^(\S+) +(\S+) *$/.exec(sent[0]) ?? [];
  let found;
  if (F('a-prefix') ? prefix === 'Ring' : prefix?.toLowerCase() === 'ring') found = CALLERS.find((c) => c.scheme === 'ring' && c.credential === rest);
  else if (prefix?.toLowerCase() === 'basic') { const plain = Buffer.from(rest, 'base64').toString(); found = CALLERS.find((c) => c.scheme === 'seal' && c.credential === plain); }
  if (found && F('p-users') && found.user === 'assessor') found = undefined;
  if (!found) throw refuse(true);
  return { caller: found, refuse };
}

// ---- rates and quotas --------------------------------------------------------------------------------------------------------------
class Rate {
  seen = new Map();
  constructor(words) { Object.assign(this, words); }
  counts(op, caller) { return (!this.on || this.on === op) && (!this.to || !caller); }
  who(caller, address) { return caller && this.per === 'caller' ? `${caller.user} ${caller.id}` : `@${address}`; }
  /** What is used, and when there will be more. */
  look(who, now) {
    let s = this.seen.get(who);
    if (this.sliding) { s = (s ?? []).filter((t) => t > now - this.window); this.seen.set(who, s); return { used: s.length, until: (s[0] ?? now) + this.window }; }
    if (!s || now >= s.start + this.window) this.seen.set(who, s = { start: now, used: 0, fresh: true });
    return { used: s.used, until: s.start + this.window };
  }
  use(who, now) { const s = this.seen.get(who); if (this.sliding) s.push(now); else { if (!s.used) s.start = now; s.used++; } }
}
const RATES = [
  new Rate({ per: 'caller', limit: F('l-rate') ? 241 : 240, window: M }),
  new Rate({ per: 'caller', on: 'launch flight', limit: 6, window: F('l-launch') ? 5 * M : 10 * M, sliding: true }),
  new Rate({ per: 'address', to: 'anyone', limit: 90, window: M }),
];
function takeRates(op, caller, address) {
  const now = clock.now();
  const all = RATES.filter((r) => r.counts(op, caller)).map((r) => ({ r, who: r.who(caller, address), ...r.look(r.who(caller, address), now) }));
  const full = all.filter((x) => x.used >= x.r.limit);
  if (!full.length) for (const x of all) { x.r.use(x.who, now); Object.assign(x, x.r.look(x.who, now)); }
  const strict = all.map((x) => ({ limit: x.r.limit, left: Math.max(0, x.r.limit - x.used), wait: Math.ceil((x.until - now) / S) })).sort((a, b) => a.left - b.left || b.wait - a.wait)[0];
  const headers = strict ? { 'Mews-Rate-Limit': strict.limit, 'Mews-Rate-Left': strict.left + (F('l-left') && !full.length ? 1 : 0), 'Mews-Rate-Reset': strict.wait } : {};
  if (full.length) throw new Refusal('limit.rate', { headers: { ...headers, 'Retry-After': Math.max(1, Math.ceil((Math.max(...full.map((x) => x.until)) - now) / S)) } });
  return headers;
}
class Quota {
  used = new Map();
  zone = new Intl.DateTimeFormat('en-CA', { timeZone: F('l-zone') ? 'America/Lima' : 'Europe/Lisbon', year: 'numeric', month: '2-digit', day: '2-digit' });
  day(at) { return this.zone.format(at); }
  key(caller) { return `${this.day(clock.now())} ${caller.user} ${caller.id}`; }
  ask(caller) {
    if (caller.user !== 'falconer' || (this.used.get(this.key(caller)) ?? 0) < 40) return;
    const now = clock.now(); let low = now, high = now + 26 * H;
    while (high - low > 1) { const mid = Math.floor((low + high) / 2); if (this.day(mid) === this.day(now)) low = mid; else high = mid; }
    throw new Refusal('limit.quota', { headers: { 'Retry-After': Math.max(1, Math.ceil((high - now) / S)) } });
  }
  use(caller) { this.used.set(this.key(caller), (this.used.get(this.key(caller)) ?? 0) + 1); }
}
const quota = new Quota();

// ---- web hooks ---------------------------------------------------------------------------------------------------------------------
class Courier {
  waiting = []; flying = new Set(); failing = new Map(); // deliveries in order; since when a listener failed
  static WAITS = [10 * S, F('v-retry') ? 3 * M : 2 * M, H];
  post(listener, event, about, payload) { this.waiting.push({ listener, event, about, payload, tries: 0, due: clock.now(), busy: false }); }
  forget(id) { this.waiting = this.waiting.filter((d) => d.listener !== id); this.failing.delete(id); }
  heads() { const first = new Map(); for (const d of this.waiting) { const k = d.listener + ' ' + d.about; if (!first.has(k)) first.set(k, d); } return [...first.values()].filter((d) => !d.busy); }
  next() { return Math.min(Infinity, ...this.heads().map((d) => d.due)); }
  pump() {
    for (const d of this.heads()) if (d.due <= clock.now()) {
      d.busy = true;
      const p = this.send(d).catch(() => ({ ok: false })).then((r) => this.done(d, r)).finally(() => this.flying.delete(p));
      this.flying.add(p);
    }
  }
  async send(d) {
    const l = mews.find('listener', d.listener); if (!l) return { ok: true };
    const id = F('v-newid') && d.tries ? randomUUID() : d.event.id;
    const body = JSON.stringify({ ref: id, topic: d.event.kind, when: d.event.at, about: d.payload }), at = Math.floor(clock.now() / S);
    const mac = createHmac('sha256', l.seal_key).update(F('v-signs') ? `${at}.${body}` : `${id}.${at}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'Mews-Seal': `at=${at},mac=${mac}`, ...(F('v-topic') ? {} : { 'Mews-Topic': d.event.kind }) };
    const answer = await fetch(l.url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(5 * S) });
    answer.body?.cancel().catch(() => {});
    return { ok: answer.status >= 200 && answer.status < 300, gone: answer.status === 410, retryAfter: Number(answer.headers.get('retry-after')) || 0 };
  }
  done(d, { ok, gone, retryAfter }) {
    d.busy = false; if (!this.waiting.includes(d)) return;
    const drop = () => { this.waiting.splice(this.waiting.indexOf(d), 1); }, now = clock.now();
    if (ok) { this.failing.delete(d.listener); drop(); return this.pump(); }
    if (!this.failing.has(d.listener)) this.failing.set(d.listener, now);
    if (gone || (!F('v-disable') && now - this.failing.get(d.listener) >= 45 * M)) return mews.disable(d.listener);
    if (d.tries >= Courier.WAITS.length) drop();
    else d.due = now + Math.max(Courier.WAITS[d.tries++], Math.min(retryAfter * S, D));
    if (retryAfter) for (const o of this.waiting) if (o.listener === d.listener) o.due = Math.max(o.due, now + Math.min(retryAfter * S, D));
    this.pump();
  }
}
const courier = new Courier();

// ---- the mews: rows, changes, states, events ------------------------------------------------------------------------------------------
const random = (n) => { const a = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'; return Array.from({ length: n }, () => a[randomInt(62)]).join(''); };
const ulid = () => { let t = clock.now(), s = ''; const a = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; for (let i = 0; i < 10; i++) { s = a[t % 32] + s; t = Math.floor(t / 32); } return s + Array.from({ length: 16 }, () => a[randomInt(32)]).join(''); };
const TRANSITIONS = {
  'clear hawk': { from: ['lodged'], to: 'fit' },
  'moult hawk': { from: ['lodged', 'fit'], to: 'moulting', if: (h) => (F('s-thin') ? h.weight_g > 120 : h.weight_g >= 120), else: 'too_thin', set: (h, body) => { h.moult_weeks = body.weeks; } },
  'emerge hawk': { from: ['moulting'], to: 'fit' },
  'depart hawk': { from: F('s-depart') ? ['lodged', 'fit', 'moulting'] : ['lodged', 'fit'], to: 'gone' },
  'launch flight': { from: ['booked'], to: 'aloft', if: (f) => { const p = mews.find('hawk', f.hawk).phase; return p === 'fit' || (F('s-fit') && p === 'lodged'); }, else: 'hawk_not_fit', set: (f) => { f.launched_at = clock.iso(); } },
  'land flight': { from: F('s-land') ? ['aloft'] : ['aloft', 'strayed'], to: 'landed', set: (f, body) => { f.bag = body.bag; } },
  'scrub flight': { from: F('s-scrub') ? ['booked', 'strayed'] : ['booked'], to: 'scrubbed', orElse: 'too_late' },
  'stray flight': { from: ['aloft'], to: 'strayed' },
  'lapse flight': { from: ['booked'], to: 'scrubbed' },
};
class Mews {
  rows = { moor: [], hawk: [], flight: [], listener: [] };
  counters = new Map(); meta = new WeakMap(); outbox = []; kept = new Map();
  find(res, id) { return this.rows[res].find((r) => r[KEY[res]] === id); }
  unique(res, next, self) {
    for (const keys of UNIQUE[res]) if (this.rows[res].some((r) => r !== self && keys.every((k) => next[k] !== undefined && r[k] === next[k]))) throw new Refusal('resource.exists');
  }
  create(res, values, caller) {
    const row = {};
    if (res === 'moor') row.code = values.code;
    if (res === 'hawk') Object.assign(row, { id: 'hk-' + randomBytes(5).toString('hex'), keeper: caller.id, phase: 'lodged', lodged_at: clock.iso() });
    if (res === 'flight') Object.assign(row, { id: randomUUID(), flyer: caller.id, phase: 'booked' });
    if (res === 'listener') Object.assign(row, { id: 'lis_' + ulid(), owner: caller.id, seal_key: random(40), made_at: clock.iso() });
    for (const [name, f] of Object.entries(FIELDS[res])) if (!f.ro && values[name] === undefined && f.def !== undefined) row[name] = f.def;
    return Object.assign(row, values);
  }
  /** Stores a row that was made, and what follows. */
  insert(res, row, caller, version) {
    if (res === 'flight') { const k = F('r-number') ? '' : row.hawk; this.counters.set(k, (this.counters.get(k) ?? 0) + 1); row.number = this.counters.get(k); }
    if (res === 'hawk') row.changed_at = clock.iso();
    this.rows[res].push(row);
    this.meta.set(row, { entered: clock.now(), told: new Set(), caller, version });
    this.emit('create ' + res, res, undefined, row);
  }
  store(op, res, row, next) {
    const before = { ...row };
    for (const k of Object.keys(row)) if (!(k in next)) delete row[k];
    Object.assign(row, next);
    if (res === 'hawk' && !(F('r-changed') && op === 'clear hawk')) row.changed_at = clock.iso();
    this.emit(op, res, before, row);
  }
  /** Whether it may be, in its own order: the state, then its condition. */
  ask(op, row) {
    const t = TRANSITIONS[op];
    if (!t.from.includes(row.phase)) throw t.orElse ? new Refusal(t.orElse, { own: true }) : new Refusal('transition.illegal');
    if (t.if && !t.if(row)) throw new Refusal(t.else, { own: true });
  }
  fire(op, row, body) {
    const t = TRANSITIONS[op], res = op.split(' ')[1], next = { ...row, phase: t.to };
    t.set?.(next, body);
    this.meta.get(row).entered = clock.now();
    this.store(op, res, row, next);
    if (op === 'depart hawk' && !F('s-then')) for (const f of flightsOf(row)) if (f.phase === 'booked') this.fire('scrub flight', f);
  }
  remove(res, row) { this.rows[res].splice(this.rows[res].indexOf(row), 1); if (res === 'listener') courier.forget(row.id); this.emit('delete ' + res, res, { ...row }, row); }
  disable(id) { const l = this.find('listener', id); if (!l || !l.on) return; courier.forget(id); this.store('disable listener', 'listener', l, { ...l, on: false }); this.flush(); }

  emit(op, res, before, row) {
    const tell = (kind, about, written) => this.outbox.push({ kind, res, row: { ...row }, live: row, at: clock.now(), about, written });
    if (op === 'create moor' || op === 'replace moor') tell('moor.set', row);
    if (op === 'create hawk') tell('hawk.lodged', row);
    if (['clear hawk', 'moult hawk', 'emerge hawk', 'depart hawk'].includes(op)) tell('hawk.moved', null, { hawk: row.id, was: before.phase, is: row.phase, at: clock.iso() });
    if (op === 'update hawk' && (F('v-weighed') || row.weight_g !== before.weight_g)) tell('hawk.weighed', null, { hawk: row.id, grams_before: before.weight_g, grams_now: row.weight_g });
    if (op === 'delete hawk' && !F('v-left')) tell('hawk.left', null, row.id);
    if (op === 'create flight') { tell('flight.booked', row); if (F('v-twice')) tell('flight.booked', row); }
    if (op === 'launch flight') tell('flight.launched', row);
    if (op === 'land flight' || op === 'scrub flight' || (op === 'lapse flight' && !F('v-lapse'))) tell('flight.ended', row);
    if (op === 'stray flight') tell('flight.strayed', row);
    if (op === 'soon flight') tell('flight.soon', row);
    if (op === 'disable listener') tell('listener.muted', null, row.id);
  }
  /** What a change has told goes to whoever hears of it, once all of it is stored. */
  flush() {
    for (const e of this.outbox.splice(0)) {
      const event = { id: 'evt-' + randomUUID(), kind: e.kind, at: new Date(e.at).toISOString() };
      for (const l of this.rows.listener) {
        const { caller, version } = this.meta.get(l);
        const lists = !l.topics || l.topics.some((t) => t === '*' || t === e.kind || (t.endsWith('.*') && !F('v-star') && e.kind.startsWith(t.slice(0, -1))));
        if (!(l.on || F('v-off')) || !lists || !may('read ' + e.res, caller, e.row)) continue;
        courier.post(l.id, event, e.res + e.row[KEY[e.res]], e.about ? show(e.res, e.row, caller, F('v-edition') ? 'e2' : version) : e.written);
      }
    }
    setImmediate(() => courier.pump());
  }

  /** The next thing that the clock does: [when, what]. */
  due() {
    let at = Infinity, act = null;
    const see = (t, f) => { if (t < at) { at = t; act = f; } };
    for (const h of this.rows.hawk) if (h.phase === 'moulting') see(this.meta.get(h).entered + (F('s-emerge') ? 22 : 21) * D, () => this.fire('emerge hawk', h));
    for (const f of this.rows.flight) {
      const meta = this.meta.get(f), by = stamp(F('s-lapse') ? (meta.first ??= f.launch_by) : f.launch_by), soon = stamp(f.launch_by) - H;
      if (!meta.told.has(soon)) see(soon, () => { meta.told.add(soon); this.emit('soon flight', 'flight', f, f); });
      if (f.phase === 'booked') see(by, () => this.fire('lapse flight', f));
      if (f.phase === 'aloft') see(meta.entered + 6 * H, () => this.fire('stray flight', f));
    }
    return [at, act];
  }
  /** Whatever has fallen due by now, in its order. */
  tick() {
    const now = clock.now(); let any = false;
    for (;;) { const [at, act] = this.due(); if (!(at <= now)) break; any = true; clock.at(Math.max(at, this.last ?? 0), () => { act(); this.flush(); }); this.last = Math.max(at, this.last ?? 0); }
    this.last = now; if (any) courier.pump();
  }
}
const mews = new Mews();

/** A row as its caller is shown it, in an edition. */
function show(res, row, caller, version, { first = false, op } = {}) {
  const out = {}, fields = shownFields(res, caller);
  const rowVersion = F('n-list') && op === 'list' && res === 'hawk' ? 'e2' : version;
  for (const [name, field, f] of wire(rowVersion, res)) {
    if (field === null) { if (!F('n-parish')) out.parish = 'unrecorded'; continue; }
    if (fields && !fields.includes(field)) continue;
    if (f.wo && !(F('r-chip') && first)) continue;
    if (f.once && !first && !(F('r-once') && op === 'read')) continue;
    if (f.visible && !(caller && f.visible.includes(caller.user)) && !(F('r-hidden') && op === 'list' && field === 'dossier')) continue;
    const v = f.derive ? f.derive(row) : row[field];
    if (v !== undefined) out[name] = down(rowVersion, res, field, v);
  }
  return out;
}

/** What was sent, under the stored names; or a refusal that tells of all that is wrong. */
function readBody(x, res, verb, stored, bound) {
  const { body, caller, version } = x, spots = [], values = {}, fields = wire(version, res);
  const wrong = (kind, name, found, expected) => spots.push({ kind, name, spot: { in: 'body', path: (F('x-path') ? '' : '/') + name, ...(found !== undefined && { found }), expected } });
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw new Refusal('request.invalid', { spots: [{ in: 'body', path: '', found: body, expected: 'a map' }] });
  const bad = new Set();
  for (const [name, v] of Object.entries(body)) {
    const [, field, f] = fields.find(([n]) => n === name) ?? [];
    if (f === undefined) { wrong('unknown', name, v, 'no such field'); continue; }
    const fixed = f.ro || (f.writable && !f.writable.includes(caller.user));
    if (fixed) { if (x.route.refuse && !F('e-readonly')) wrong('read_only', name, v, 'nothing to be sent'); continue; }
    if (v === null && verb === 'update') { if (f.req && !F('r-null')) { bad.add(field); wrong('value', name, null, 'a value'); } else if (!f.req) values[field] = undefined; continue; }
    const m = misfit(f, v);
    if (m) { bad.add(field); wrong(m.kind, name + m.at, m.found, m.expected); continue; }
    if (field === null) continue;
    const value = up(version, res, field, v);
    if (bound && field in bound && !same(bound[field], value)) { bad.add(field); wrong('value', name, v, String(bound[field])); continue; }
    if (f.imm && stored && !same(stored[field], value)) { bad.add(field); wrong('value', name, v, 'what it was made with'); continue; }
    values[field] = value;
  }
  Object.assign(values, bound);
  if (verb !== 'update') for (const [name, field, f] of fields) if (field && f.req && !f.ro && f.def === undefined && !(field in values) && !bad.has(field)) wrong('missing', name, undefined, 'a value');
  let next;
  if (verb === 'create') next = mews.create(res, values, caller);
  else if (verb === 'update') { next = { ...stored, ...values }; for (const k of Object.keys(next)) if (next[k] === undefined) delete next[k]; }
  else { // what replaces: optional fields that are not sent go, defaults come, what is hidden stays
    next = { ...stored };
    for (const [, field, f] of fields) if (field && !f.ro && !f.imm && !(f.writable && !f.writable.includes(caller.user)) && !(field in values)) { if (f.def !== undefined) next[field] = f.def; else if (!(F('e-replace') && field === 'lowest_c')) delete next[field]; }
    Object.assign(next, values);
  }
  if (res === 'hawk' && next.species === 'merlin' && next.weight_g > 300 && !bad.has('weight_g') && !bad.has('species') && !(F('r-merlin') && verb === 'update'))
    wrong('value', wireName(version, 'hawk', 'weight_g'), next.weight_g, 'at most 300 of a merlin');
  refuseAll(spots);
  for (const [field, f] of Object.entries(FIELDS[res])) if (f.ref && field in values && !(bound && field in bound)) {
    const there = mews.find(f.ref, values[field]);
    if (!there || !may('read ' + f.ref, caller, there)) throw new Refusal('reference.missing', { spots: [{ in: 'body', path: '/' + field, found: values[field], expected: `a ${f.ref} that is there` }] });
  }
  return next;
}
function refuseAll(spots) {
  if (!spots.length) return;
  const first = spots[0], condition = { missing: 'request.invalid.missing', read_only: 'request.invalid.read_only' }[first.kind] ?? 'request.invalid';
  throw new Refusal(condition, { message: first.kind === 'missing' ? `${first.name} is lacking` : CODES['request.invalid'][2], spots: spots.map((s) => s.spot) });
}
function readForm(x, fields) { // the stated body of a transition; what it does not name passes
  const spots = [], { body } = x;
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw new Refusal('request.invalid', { spots: [{ in: 'body', path: '', found: body, expected: 'a map' }] });
  for (const [name, v] of Object.entries(body)) if (fields[name]) { const m = misfit(fields[name], v); if (m) spots.push({ kind: m.kind, name, spot: { in: 'body', path: '/' + name + m.at, found: v, expected: m.expected } }); }
  for (const [name, f] of Object.entries(fields)) if (f.req && !(name in body)) spots.push({ kind: 'missing', name, spot: { in: 'body', path: '/' + name, expected: 'a value' } });
  refuseAll(spots);
}
/** The service's own errors, in their order. */
function ownErrors(op, next) {
  if (op !== 'create flight' && op !== 'update flight') return;
  if (stamp(next.launch_by) <= clock.now()) throw new Refusal('too_soon', { own: true });
  if (next.wind_kn !== undefined && (F('x-gale') ? next.wind_kn >= 28 : next.wind_kn > 28) && !(F('x-galeup') && op === 'update flight')) throw new Refusal('gale', { own: true });
  if (op === 'create flight' && !mews.find('moor', next.moor).open) throw new Refusal('moor_shut', { own: true });
}

// ---- lists ---------------------------------------------------------------------------------------------------------------------------
const param = (name, value, expected) => new Refusal('request.parameter', { spots: [{ in: 'query', path: name, found: value, expected }] });
const int = (t) => (/^-?(0|[1-9]\d*)$/.test(t) && Number.isSafeInteger(Number(t)) ? Number(t) : NaN);
const each = (field, sep) => ({ field, read: (t, name, x) => {
  const list = sep ? t.split(sep) : [t], f = wire(x.version, x.route.res).find(([, n]) => n === field)[2];
  const allowed = field === 'phase' ? (x.route.res === 'hawk' ? ['lodged', 'fit', 'moulting', 'gone'] : ['booked', 'aloft', 'strayed', 'landed', 'scrubbed']) : f.enum;
  if (list.length > 100 || !list.every((v) => allowed.includes(v))) throw param(name, t, allowed.join(', '));
  const wanted = F('n-filter') ? list : list.map((v) => up(x.version, x.route.res, field, v));
  return (r) => (F('e-split') && sep === ',' ? wanted[0] === r[field] : wanted.includes(r[field]));
} });
const number = (field, test) => ({ field, read: (t, name) => { const n = int(t); if (Number.isNaN(n)) throw param(name, t, 'an integer'); return (r) => test(r[field], n); } });
const moment = (field, test) => ({ field, read: (t, name) => { if (!isStamp(t)) throw param(name, t, 'a date-time'); return (r) => test(stamp(r[field]), stamp(t)); } });
const by = (field, sign = 1) => { const v = (r) => (field === 'launch_by' || field === 'lodged_at' ? stamp(r[field]) : r[field]); return (a, b) => sign * (v(a) < v(b) ? -1 : v(a) > v(b) ? 1 : 0); };
const LISTS = {
  'list moor': { order: by('title'), params: {
    surface: each('surface', ','), least_acres: number('acres', (a, n) => a >= n),
    open: { field: 'open', read: (t) => { if (t !== 'true' && t !== 'false') throw param('open', t, 'true or false'); return (r) => (F('e-open') && t === 'false') || r.open === (t === 'true'); } },
  } },
  'list hawk': { order: by('lodged_at', F('e-order') ? 1 : -1), params: {
    species: each('species', ','), temper: each('temper'), phase: each('phase'), heavier: number('weight_g', (w, n) => (F('e-heavier') ? w >= n : w > n)),
    called: { field: 'name', read: (t) => (r) => (F('e-called') ? r.name.includes(t) : r.name.startsWith(t)) },
    find: { field: 'name', read: (t) => { const words = t.toLowerCase().split(/\s+/).filter(Boolean); if (words.length > 16) throw param('find', t, 'up to 16 words'); return (r) => words.every((w) => r.name.toLowerCase().includes(w) || (!F('e-find') && r.ring_no.toLowerCase().includes(w))); } },
    by: { sorts: { weight: 'weight_g', lodged: 'lodged_at', name: 'name' } },
  } },
  roster: { order: by('number', F('e-roster') ? 1 : -1), params: {} },
  'list flight': { order: by('launch_by'), after: true, params: {
    moor: { field: 'moor', read: (t) => { if (!FIELDS.moor.code.pattern.test(t)) throw param('moor', t, 'a code'); return (r) => r.moor === t; } },
    phase: each('phase', '|'), from: moment('launch_by', (a, b) => (F('e-from') ? a > b : a >= b)), until: moment('launch_by', (a, b) => (F('e-until') ? a <= b : a < b)),
    with: { field: 'party', read: (t) => (r) => r.party?.includes(t) ?? false },
  } },
  'list listener': { order: () => 0, params: {} },
};
function readQuery(x) {
  const list = LISTS[x.route.op], known = new Map([['edition', null], ...Object.entries(list?.params ?? {})]), keeps = [];
  if (list) for (const p of list.after ? ['past', 'prior', 'span'] : ['leaf', 'span']) known.set(p, null);
  let order = list?.order; const shown = list && x.caller ? shownFields(x.route.res, x.caller) : null;
  for (const name of new Set(x.query.keys())) {
    const values = x.query.getAll(name), p = known.get(name);
    if (!known.has(name)) { if (F('e-unknown')) continue; throw param(name, values[0], 'no such parameter'); }
    if (values.length > 1) throw ['leaf', 'span', 'past', 'prior'].includes(name) ? new Refusal('limit.page') : param(name, values.join(), 'one value');
    if (!p) continue;
    const field = p.sorts ? p.sorts[values[0].replace(/^-/, '')] : p.field;
    if (!field || (shown && !shown.includes(field))) throw param(name, values[0], 'something else');
    if (p.sorts) order = by(field, values[0].startsWith('-') && !F('e-sort') ? -1 : 1); else keeps.push(p.read(values[0], name, x));
  }
  if (!list) return null;
  const page = { size: list.after ? 5 : 8, leaf: 1, past: x.query.get('past'), prior: x.query.get('prior') }, bad = (name) => new Refusal('limit.page', { spots: [{ in: 'query', path: name, found: x.query.get(name), expected: 'a whole number in its range' }] });
  const [max, clamps] = list.after ? [30, F('l-refuse')] : [F('l-clamp') ? 39 : 40, true];
  if (x.query.has('span')) { const n = int(x.query.get('span')); if (!(n >= 1) || (n > max && !clamps)) throw bad('span'); page.size = Math.min(n, max); }
  if (!list.after && x.query.has('leaf')) { page.leaf = int(x.query.get('leaf')); if (!(page.leaf >= 1)) throw bad('leaf'); }
  if (page.past !== null && page.prior !== null) throw bad('prior');
  return { keeps, order, page, after: list.after };
}
function listRows(x, chosen, parent) {
  const { res, op } = x.route, { page, order } = chosen;
  const sorted = (rows) => rows.map((r, i) => [r, i]).sort(([a, i], [b, j]) => order(a, b) || i - j).map(([r]) => r);
  const readable = sorted(mews.rows[res].filter((r) => may(op, x.caller, r) && (!parent || r.hawk === parent.id)));
  const rows = readable.filter((r) => chosen.keeps.every((k) => k(r)));
  const tell = (r) => show(res, r, x.caller, x.version, { op: 'list' });
  if (!chosen.after) { const from = (page.leaf - 1) * page.size; return { entries: rows.slice(from, from + page.size).map(tell), tally: F('l-tally') ? Math.min(rows.length, page.size) : rows.length, more: from + page.size < rows.length }; }
  const mark = page.past ?? page.prior;
  if (mark === null) return { entries: rows.slice(0, page.size).map(tell), more: rows.length > page.size };
  const at = readable.findIndex((r) => r[KEY[res]] === mark);
  if (at < 0) throw new Refusal('limit.page', { spots: [{ in: 'query', path: page.past !== null ? 'past' : 'prior', found: mark, expected: 'an identifier that there is' }] });
  const place = new Map(readable.map((r, i) => [r, i]));
  if (page.past !== null) { const rest = rows.filter((r) => (F('l-past') ? place.get(r) >= at : place.get(r) > at)); return { entries: rest.slice(0, page.size).map(tell), more: rest.length > page.size }; }
  const rest = rows.filter((r) => place.get(r) < at); return { entries: rest.slice(-page.size).map(tell), more: rest.length > page.size };
}

// ---- endpoints -----------------------------------------------------------------------------------------------------------------------
class Router {
  routes = [];
  add(line, op, more = {}) { const [method, path] = line.split(' '), verb = op.split(' ')[0]; this.routes.push({ method, parts: (BASE + path).split('/'), op, verb: more.as ?? verb, res: op.split(' ')[1], ...more }); }
  match(path) {
    const parts = path.split('/'); const hits = [];
    for (const r of this.routes) {
      if (r.parts.length !== parts.length) continue;
      const params = {};
      if (r.parts.every((p, i) => { if (!p.startsWith('{')) return p === parts[i]; try { params[p.slice(1, -1)] = decodeURIComponent(parts[i]); } catch { params[p.slice(1, -1)] = '\0'; } return parts[i] !== ''; })) hits.push({ route: r, params });
    }
    return hits;
  }
}
const router = new Router();
router.add('POST /moors', 'create moor'); router.add('GET /moors', 'list moor');
router.add('GET /moors/{code}', 'read moor', { etag: true, cache: 'public, max-age=30' });
router.add('PUT /moors/{code}', 'replace moor', { etag: true, ifMatch: 'accepted' }); router.add('DELETE /moors/{code}', 'delete moor');
router.add('POST /hawks', 'create hawk'); router.add('GET /hawks', 'list hawk'); router.add('GET /hawks/{id}', 'read hawk', { etag: true });
router.add('PATCH /hawks/{id}', 'update hawk', { etag: true, ifMatch: F('e-ifmatch') ? 'accepted' : 'required', in: ['lodged', 'fit', 'moulting'] });
router.add('DELETE /hawks/{id}', 'delete hawk', { in: F('s-delete') ? ['lodged', 'fit', 'gone'] : ['lodged', 'gone'] });
router.add('POST /hawks/{id}/clearance', 'clear hawk'); router.add('POST /hawks/{id}/moult', 'moult hawk'); router.add('POST /hawks/{id}/departure', 'depart hawk');
router.add('POST /hawks/{hawk}/flights', 'create flight'); router.add('GET /hawks/{hawk}/flights', 'roster', { as: 'list', res: 'flight', since: 'e2' });
router.add('GET /flights', 'list flight'); router.add('GET /flights/{id}', 'read flight');
router.add('PATCH /flights/{id}', 'update flight', { in: F('s-update') ? ['booked', 'aloft'] : ['booked'], refuse: true });
router.add('POST /flights/{id}/launch', 'launch flight'); router.add('POST /flights/{id}/landing', 'land flight');
if (!F('p-function')) router.add('POST /flights/{id}/scrub', 'scrub flight');
router.add('POST /listeners', 'create listener'); router.add('GET /listeners', 'list listener'); router.add('GET /listeners/{id}', 'read listener');
router.add('PATCH /listeners/{id}', 'update listener'); router.add('DELETE /listeners/{id}', 'delete listener');

const PATHS = { moor: '/moors/', hawk: '/hawks/', flight: '/flights/', listener: '/listeners/' };
const tag = (x, shown) => '"' + createHash('sha256').update(x.version + JSON.stringify(shown)).digest('base64url').slice(0, 24) + '"';
const tags = (header) => header.split(',').map((t) => t.trim());

function enter(x) { // steps 1 to 8, then what is asked for
  const { req } = x;
  let size = 0; for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
  if (Buffer.byteLength(req.url) > 1024) throw new Refusal('limit.size.url');
  if (size > 8192) throw new Refusal('limit.size.headers');
  const [path, query = ''] = [req.url.split('?')[0], req.url.split('?').slice(1).join('?')];
  x.path = path; x.query = new URLSearchParams(query); x.version = 'e2';
  const hits = router.match(path), asked = x.query.getAll('edition');
  if (asked.length === 1 && Object.hasOwn(EDITIONS, asked[0])) x.version = asked[0];
  const here = hits.filter((h) => !h.route.since || x.version >= h.route.since || F('n-roster'));
  if (!here.length) throw new Refusal('route.unknown');
  const methods = [...new Set(here.flatMap((h) => (h.route.method === 'GET' ? ['GET', 'HEAD'] : [h.route.method])))].concat('OPTIONS').join(', ');
  if (req.method === 'OPTIONS') return { status: 204, headers: { Allow: methods } };
  const hit = here.find((h) => h.route.method === (req.method === 'HEAD' ? 'GET' : req.method));
  if (!hit) throw new Refusal('method.unsupported', { headers: { Allow: methods } });
  Object.assign(x, hit);
  if (asked.length && (asked.length > 1 || !Object.hasOwn(EDITIONS, asked[0]))) throw new Refusal('version.unknown');
  if (clock.now() >= (EDITIONS[x.version].sunset ?? Infinity) && !F('n-sunset')) throw new Refusal('version.sunset');
  const { op, verb, res } = x.route, open = RULES.some((r) => r.ops.includes(op) && r.to.includes('anyone'));
  let known; try { known = identify(req); } catch (e) { if (!(F('a-public') && open)) throw e; known = { caller: null }; }
  x.caller = known.caller;
  if (!x.caller && !open) throw known.refuse(false);
  Object.assign(x.headers, takeRates(op, x.caller, req.socket.remoteAddress));
  const rules = rulesFor(op, x.caller);
  if (!rules.length) throw new Refusal('caller.forbidden');
  if (rules.every((r) => r.scope && !x.caller.scopes.includes(r.scope))) throw new Refusal('caller.forbidden.scope');
  const form = REQUESTS[op], takes = ['create', 'update', 'replace'].includes(verb) || form;
  const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  if (takes && x.raw.length && type !== 'application/json' && !(verb === 'update' && type === 'application/merge-patch+json')) throw new Refusal('request.media');
  if (F('l-body') ? x.raw.length >= 4096 : x.raw.length > 4096) throw new Refusal('limit.size');
  if (takes) { try { x.body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(x.raw)); } catch { throw new Refusal('request.malformed'); } }
  const chosen = readQuery(x);
  const key = req.method === 'POST' ? req.headers['repeat-key'] : undefined;
  if (key === undefined) return perform(x, op, verb, res, form, chosen);
  const name = `${F('e-keys') ? '' : x.caller.user + ' ' + x.caller.id} ${op} ${key}`, print = createHash('sha256').update(`${path}?${query}\n${x.version}\n`).update(x.raw).digest('hex');
  const kept = mews.kept.get(name);
  if (kept && clock.now() < kept.until) {
    if (kept.print !== print && !F('e-reused')) throw new Refusal('idempotency.reused');
    if (kept.refused) throw kept.refused;
    return { ...kept.answer };
  }
  const keep = (what) => mews.kept.set(name, { until: clock.now() + (F('e-keep') ? 24 : 12) * H, print, ...what });
  try {
    const answer = perform(x, op, verb, res, form, chosen), shown = { ...answer.body };
    for (const [f, words] of Object.entries(FIELDS[res])) if (words.once) delete shown[f];
    keep({ answer: { ...answer, body: shown } });
    return answer;
  } catch (e) { if (e instanceof Refusal && e.own) keep({ refused: e }); throw e; }
}

function perform(x, op, verb, res, form, chosen) { // steps 10 to 15
  const { caller, version, params, req, route } = x;
  const answer = (row, status = 200, more = {}) => {
    const body = show(res, row, caller, version, { op: verb, ...more }), headers = {};
    if (route.etag) headers.ETag = tag(x, body);
    if (route.cache && !F('e-cache')) headers['Cache-Control'] = route.cache;
    if (status === 201 && !(F('e-location') && res === 'flight')) headers.Location = (F('p-base') ? '' : BASE) + PATHS[res] + encodeURIComponent(row[KEY[res]]);
    return { status, headers, body };
  };
  const parent = params.hawk === undefined ? undefined : mews.find('hawk', params.hawk);
  if (params.hawk !== undefined && !(parent && may('read hawk', caller, parent))) throw new Refusal('resource.missing');
  if (verb === 'list') return { status: 200, headers: {}, body: listRows(x, chosen, parent) };
  if (verb === 'create') {
    const next = readBody(x, res, 'create', undefined, parent && { hawk: parent.id });
    if (!may(op, caller, next)) throw new Refusal('caller.forbidden');
    ownErrors(op, next);
    if (res === 'moor' && mews.find('moor', next.code)) throw new Refusal('resource.exists');
    mews.unique(res, next);
    if (op === 'create flight') quota.ask(caller);
    if (res === 'listener' && mews.rows.listener.filter((l) => l.owner === caller.id).length >= (F('l-rows') ? 4 : 3)) throw new Refusal('limit.quota');
    mews.insert(res, next, caller, version);
    if (op === 'create flight') quota.use(caller);
    mews.tick(); mews.flush();
    return answer(next, F('e-status') && res === 'listener' ? 200 : 201, { first: true });
  }
  const row = mews.find(res, params[KEY[res]]);
  if (!row || !(may('read ' + res, caller, row) || (F('a-listener') && op === 'delete listener'))) throw new Refusal(row && F('a-missing') && res === 'hawk' ? 'caller.forbidden' : 'resource.missing');
  if (!may(op, caller, row)) throw new Refusal('caller.forbidden');
  if (verb === 'read') {
    const got = answer(row), wanted = req.headers['if-none-match'];
    if (route.etag && wanted !== undefined && !F('e-304') && tags(wanted).some((t) => t === '*' || t.replace(/^W\//, '') === got.headers.ETag)) return { status: 304, headers: got.headers };
    return got;
  }
  if (route.ifMatch) {
    const wanted = req.headers['if-match'];
    if (wanted === undefined && route.ifMatch === 'required') throw new Refusal('precondition.required');
    if (wanted !== undefined && !(F('e-put') && verb === 'replace') && !tags(wanted).some((t) => t === '*' || t === tag(x, show(res, row, caller, version)))) throw new Refusal('precondition.failed');
  }
  const inState = () => { if (route.in && !route.in.includes(row.phase)) throw new Refusal('transition.illegal'); };
  if (verb === 'update' || verb === 'replace') {
    const next = readBody(x, res, verb, row, verb === 'replace' ? { code: row.code } : undefined);
    if (!may(op, caller, next)) throw new Refusal('caller.forbidden');
    inState();
    ownErrors(op, next);
    if (!(F('r-title') && res === 'moor')) mews.unique(res, next, row);
    if (Object.keys({ ...row, ...next }).some((k) => !same(row[k], next[k]))) {
      if (res === 'listener' && next.on && !row.on) courier.failing.delete(row.id);
      mews.store(op, res, row, next);
      if (res === 'listener' && !row.on) courier.forget(row.id);
      mews.tick(); mews.flush();
    }
    return answer(row);
  }
  if (verb === 'delete') {
    inState();
    if (mews.rows.flight.some((f) => (res === 'hawk' && f.hawk === row.id) || (res === 'moor' && f.moor === row.code && !(F('r-held') && f.phase === 'scrubbed')))) throw new Refusal('reference.held');
    mews.remove(res, row); mews.flush();
    return { status: F('e-delete') && res === 'moor' ? 200 : 204, headers: {} };
  }
  if (form) readForm(x, form);
  mews.ask(op, row);
  mews.fire(op, row, x.body); mews.flush();
  return answer(row);
}

// ---- the doors -----------------------------------------------------------------------------------------------------------------------
function payload(e, trace) {
  const [code, status, says] = CODES[e.condition];
  return { code, status, body: { mishap: { code, says: e.condition === 'request.invalid.missing' ? e.message : says, trace: F('x-trace') ? randomUUID() : trace, ...(e.spots?.length && { spots: e.spots }) } } };
}
function finish(x, res, { status, headers, body, code }) {
  const all = { ...x.headers, Vary: 'Authorization', 'Mews-Trace': x.trace, ...headers };
  if (code && !(F('x-header') && status === 401)) all['Mews-Mishap'] = code;
  if (x.version === 'e1' && !(F('n-refused') && status >= 400)) {
    const query = new URLSearchParams(x.query); query.set('edition', 'e2');
    all.Deprecation = '@' + EDITIONS.e1.deprecated / 1000;
    if (!F('n-header')) all.Sunset = new Date(EDITIONS.e1.sunset).toUTCString();
    all.Link = `<https://mews.example/editions>; rel="deprecation", <${x.path}?${query}>; rel="successor-version"`;
  }
  const bytes = body === undefined || status === 204 || status === 304 ? null : Buffer.from(JSON.stringify(body));
  if (bytes) { all['Content-Type'] = 'application/json'; all['Content-Length'] = bytes.length; }
  for (const [k, v] of Object.entries(all)) res.setHeader(k, v);
  res.writeHead(status); res.end(x.req.method === 'HEAD' || !bytes ? undefined : bytes);
}
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 6 * S, headersTimeout: 6 * S, keepAliveTimeout: 20 * S, keepAliveTimeoutBuffer: 0, connectionsCheckingInterval: 500 }, (req, res) => {
  const x = { req, trace: randomUUID(), headers: {}, version: 'e2' }, parts = []; let size = 0;
  req.on('error', () => {});
  req.on('data', (d) => { size += d.length; if (size <= 1 << 16) parts.push(d); else parts.full = true; });
  req.on('end', () => {
    x.raw = Buffer.concat(parts);
    mews.tick();
    try { finish(x, res, enter(x)); } catch (e) {
      if (!(e instanceof Refusal)) console.error(e);
      const r = e instanceof Refusal ? e : new Refusal('internal');
      finish(x, res, { ...payload(r, x.trace), headers: r.headers });
    }
  });
});
server.on('clientError', (e, socket) => {
  if (!socket.writable) return socket.destroy();
  const r = new Refusal(e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'limit.time' : e.code === 'HPE_HEADER_OVERFLOW' ? 'limit.size.headers' : 'request.malformed'), trace = randomUUID(), p = payload(r, trace), body = JSON.stringify(p.body);
  socket.end(`HTTP/1.1 ${p.status} ${http.STATUS_CODES[p.status]}\r\nContent-Type: application/json\r\nMews-Trace: ${trace}\r\nMews-Mishap: ${p.code}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
});

const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const landed = () => Promise.race([pause(1000), (async () => { for (;;) { courier.pump(); if (!courier.flying.size) return; await Promise.all(courier.flying); } })()]);
let moving = Promise.resolve();
async function moveTo(target) {
  for (;;) { // what falls due on the way is done in its order, at its time
    await pause(0); await landed();
    const at = Math.min(mews.due()[0], courier.next());
    if (!(at <= target)) break;
    clock.held = Math.max(at, clock.now()); mews.tick(); courier.pump();
  }
  clock.set(target); mews.tick(); await landed();
}
const door = http.createServer((req, res) => {
  const parts = []; req.on('data', (d) => parts.push(d)); req.on('end', async () => {
    const say = (status, body) => { res.writeHead(status, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(body)); };
    if (req.method === 'GET') return say(200, { now: clock.iso() });
    let sent; try { sent = JSON.parse(Buffer.concat(parts).toString()); } catch { /* said below */ }
    const words = sent && typeof sent === 'object' ? Object.keys(sent) : [];
    if (req.method !== 'POST' || words.length !== 1) return say(400, { error: 'advance or now' });
    await moving;
    const target = typeof sent.advance === 'string' ? clock.later(sent.advance) : typeof sent.now === 'string' && isStamp(sent.now) ? stamp(sent.now) : null;
    if (target === null || Number.isNaN(target)) return say(400, { error: 'advance or now' });
    if (target < clock.now()) return say(422, { error: 'That time has passed.' });
    moving = moveTo(target).catch((e) => { console.error(e); clock.held = null; });
    await moving; say(200, { now: clock.iso() });
  });
});
setInterval(() => { if (clock.held === null) { mews.tick(); courier.pump(); } }, 25);
server.listen(Number(arg('port')), '127.0.0.1');
door.listen(Number(arg('clock-port')), '127.0.0.1');
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
