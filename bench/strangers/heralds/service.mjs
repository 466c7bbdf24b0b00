// College of Heralds: takes petitions for arms. See service.yaml.
import http from 'node:http';
import { randomBytes, createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

const arg = (n) => { const i = process.argv.indexOf('--' + n); return i < 0 ? undefined : process.argv[i + 1]; };
const PORT = Number(arg('port') ?? 0), CLOCK = arg('clock-port') === undefined ? null : Number(arg('clock-port')), FAULT = arg('fault');
const bad = (id) => FAULT === id;

// ---------- clock
let shift = 0, pinned = null;
const now = () => pinned ?? Date.now() + shift;
const iso = (t = now()) => new Date(t).toISOString();
const DAY = 86400000;

// ---------- callers
const callers = new Map();
for (const c of JSON.parse(readFileSync(new URL('./stranger.json', import.meta.url), 'utf8')).callers) callers.set(c.credential, { user: c.user, id: c.id, scopes: c.scopes ?? [] });

// ---------- store
const db = { armorial: new Map(), petition: new Map(), objection: new Map(), hook: new Map() };
const counters = new Map(), quotas = new Map(), rates = new Map(), keys = new Map();
const hex = (n) => randomBytes(Math.ceil(n / 2)).toString('hex').slice(0, n);
const AZ = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const rnd = (n) => { let s = ''; while (s.length < n) for (const b of randomBytes(n)) if (b < 248 && s.length < n) s += AZ[b % 62]; return s; };
const objectionsOf = (id) => { let n = 0; for (const o of db.objection.values()) if (o.petition === id) n++; return n; };
const grantedOf = (id) => { let n = 0; for (const p of db.petition.values()) if (p.armorial === id && (p.status === 'granted' || bad('granted-counts-refused') && p.status === 'refused')) n++; return n; };

const OLD = '2025-spring', NEW = '2026-autumn', SUNSET = Date.UTC(2027, 11, 31), DEPRECATED = Date.UTC(2026, 0, 10);
const STATES = ['draft', 'lodged', 'queried', 'granted', 'refused', 'withdrawn', 'lapsed'];
const TINCTURES = ['or', 'argent', 'gules', 'azure', 'sable', 'vert'];
const LIVE = ['draft', 'lodged', 'queried', 'granted'];
const KINDS = ['petition.lodged', 'petition.judged', 'petition.lapsed', 'objection.raised', 'armorial.closed'];

// ---------- refusals
const CODES = {
  incomplete: [400, 'Something is missing.'], unfit: [422, 'This cannot be entered.'], garbled: [400, 'This cannot be read.'], wrong_hand: [415, 'Write in JSON.'],
  bad_query: [400, 'The query cannot be read.'], stranger: [401, 'Show your seal.'], false_seal: [401, 'The seal is not known here.'], unscoped: [403, 'The seal does not grant arms.'],
  forbidden: [403, 'That is not for you.'], no_such_page: [404, 'There is no such page.'], not_found: [404, 'It is not in the rolls.'], no_reference: [422, 'It leads nowhere.'],
  wrong_verb: [405, 'Not in this way.'], borne_already: [409, 'Somebody has it already.'], in_use: [409, 'Petitions are in this roll.'], wrong_time: [409, 'It does not stand so.'],
  too_late: [bad('too-late-409') ? 409 : 410, 'It is judged or over.'], contested: [409, 'Somebody objects.'], roll_closed: [409, 'This roll is closed.'],
  crowded_shield: [422, 'So many charges want two tinctures.'], nothing_to_object: [409, 'It is not before the college.'], altered: [412, 'It was altered meanwhile.'],
  tag_wanted: [428, 'Say which state you have read.'], key_spent: [422, 'The key was used for something else.'], busy: [409, 'Once more please.'], too_often: [429, 'Too often.'],
  too_many: [403, 'Too many.'], too_large: [413, 'Too large.'], too_long: [414, 'The address is too long.'], heavy_head: [431, 'Too many header fields.'], too_slow: [408, 'Too slow.'],
  closed_now: [503, 'Not now.'], edition_unknown: [400, 'There is no such edition.'], edition_over: [410, 'This edition is over.'], failed: [500, 'It failed.'],
};
const OWN = new Set(['too_late', 'contested', 'roll_closed', 'crowded_shield', 'nothing_to_object']);
class Refusal extends Error { constructor(code, extra = {}) { super(code); this.code = code; Object.assign(this, extra); } }
const no = (code, extra) => { throw new Refusal(code, extra); };
const refusalBody = (code, ticket, faults) => ({ refusal: { code, says: CODES[code][1], ticket, ...(faults ? { faults } : {}) } });

// ---------- shapes
const len = (s) => [...s].length;
const str = (min, max) => (v) => typeof v !== 'string' ? 'a text' : len(v) < min || len(v) > max ? `${min} to ${max} characters` : null;
const int = (min, max) => (v) => !Number.isInteger(v) ? 'a whole number' : v < min || v > max ? `${min} to ${max}` : null;
const bool = (v) => typeof v === 'boolean' ? null : 'true or false';
const oneOf = (l) => (v) => l.includes(v) ? null : 'one of ' + l.join(', ');
const uri = (v) => { if (typeof v !== 'string') return 'a text'; if (len(v) > 300) return 'up to 300 characters'; try { const u = new URL(v); if (!/^https?:$/.test(u.protocol) || !/^[\x21-\x7e]+$/.test(v) || /[<>"{}|\\^`]/.test(v)) return 'an address'; } catch { return 'an address'; } return null; };
const list = (item, min, max, unique) => (v) => {
  if (!Array.isArray(v)) return 'a list';
  for (let i = 0; i < v.length; i++) { const e = item(v[i]); if (e) return [i, e]; }
  if (v.length < min || v.length > max) return `${min} to ${max} items`;
  if (unique && new Set(v).size < v.length) return 'items that differ';
  return null;
};
const kindOk = (v) => typeof v !== 'string' ? 'a text' : v === '*' || KINDS.includes(v) || (/\.\*$/.test(v) && KINDS.some((k) => k.startsWith(v.slice(0, -1)))) ? null : 'a kind of event';
const GROUNDS = ['copied', 'treason', 'taste'];
const groundDown = (g) => g === 'copied' ? 'plagiarised' : g, groundUp = (g) => g === 'plagiarised' ? 'copied' : g;
const REGIONS = ['north', 'south', 'march', 'isles'];
// w: what may be written; r: required in the row; ro: read-only, ignored when sent
const SHAPES = {
  armorial: { w: { name: str(3, 60), region: oneOf(REGIONS), open: bool }, d: { open: true }, r: ['name', 'region', 'open'], ro: ['id', 'granted', 'founded_at'] },
  petition: {
    w: { armorial: str(0, 1e9), blazon: str(5, 120), tinctures: list(oneOf(TINCTURES), 1, 4, !bad('tinctures-twice')), charges: int(0, 12), rank: oneOf(['gentle', 'baron', 'civic']), supporters: int(0, 2), motto: str(0, bad('motto-61') ? 61 : 60), remark: str(0, 200) },
    d: { charges: bad('charges-default-0') ? 0 : 1, supporters: 0 }, r: ['armorial', 'blazon', 'tinctures', 'charges', 'rank', 'supporters'], ro: ['id', 'roll', 'petitioner', 'fee', 'objections', 'status', 'lodged_at', 'changed_at'],
  },
  objection: { w: { petition: str(0, 1e9), ground: oneOf(GROUNDS), text: str(1, 300) }, d: {}, r: ['petition', 'ground'], ro: ['id', 'by', 'raised_at'] },
  hook: { w: { url: uri, events: list(kindOk, 0, 10, false), enabled: bool }, d: { enabled: true }, r: ['url', 'enabled'], ro: ['id', 'owner', 'secret'] },
};
const downName = (kind, f, v) => v === OLD && kind === 'petition' && f === 'blazon' ? 'device' : f;
const upName = (kind, f, v) => {
  if (v !== OLD || kind !== 'petition') return f;
  if (f === 'device') return 'blazon';
  if (f === 'blazon' || f === 'supporters') return null;
  return f;
};
const brief = (v) => { const s = JSON.stringify(v); return s.length > 200 ? s.slice(0, 200) : v; };

// what was sent, held to the shape; gives the row as it would be (without what is made)
function take(kind, body, c, before, bound = {}) {
  const S = SHAPES[kind], faults = [], sent = {};
  if (body === null || typeof body !== 'object' || Array.isArray(body)) no('unfit', { faults: [{ in: 'body', path: '', found: brief(body), expected: 'a map' }] });
  const fault = (name, found, expected) => faults.push({ in: 'body', path: (bad('path-pointer') ? '/' : '') + name, ...(found === undefined ? {} : { found: brief(found) }), expected });
  for (const [k, value] of Object.entries(body)) {
    const f = upName(kind, k, c.version);
    if (f && S.ro.includes(f)) continue;
    if (f === 'remark' && c.caller.user !== 'herald' && kind === 'petition' && !bad('remark-by-anyone')) continue;
    if (!f || !Object.hasOwn(S.w, f)) { if (!bad('unknown-field-taken')) fault(k, value, 'no such field'); continue; }
    if (value === null && before) {
      if (S.r.includes(f)) fault(k, null, 'a value'); else sent[f] = null;
      continue;
    }
    let v = value;
    if (kind === 'objection' && f === 'ground' && c.version === OLD) { if (v === 'copied') { fault(k, v, 'one of plagiarised, treason, taste'); continue; } v = groundUp(v); }
    const e = S.w[f](v);
    if (Array.isArray(e)) { fault(k + (bad('path-pointer') ? '/' : '.') + e[0], value[e[0]], e[1]); continue; }
    if (e) { fault(k, value, e); continue; }
    if (Object.hasOwn(bound, f) && bound[f] !== v) { fault(k, v, bound[f]); continue; }
    if (before && (f === 'armorial') && before[f] !== v) { fault(k, v, 'what it was'); continue; }
    sent[f] = v;
  }
  const sentBad = faults.length;
  const next = before ? { ...before } : { ...S.d };
  Object.assign(next, bound);
  for (const [f, v] of Object.entries(sent)) if (v === null) delete next[f]; else next[f] = v;
  for (const f of S.r) if (next[f] === undefined && !faults.some((x) => x.path === downName(kind, f, c.version) || x.path.startsWith(downName(kind, f, c.version) + '.'))) fault(downName(kind, f, c.version), undefined, 'a value');
  const ruleFault = kind === 'petition' && next.supporters > 0 && next.rank === 'gentle' && !(before && bad('rule-not-at-update'));
  if (ruleFault) {
    const x = { in: 'body', path: 'supporters', found: next.supporters, expected: 'none for a person of gentle rank' };
    faults.splice(sentBad, 0, x);
    no('unfit', { faults });
  }
  if (faults.length) no(sentBad || bad('missing-is-422') ? 'unfit' : 'incomplete', { faults });
  return next;
}

// ---------- views
function view(kind, row, caller, version, opt = {}) {
  const o = {};
  if (kind === 'armorial') Object.assign(o, { id: row.id, name: row.name, region: row.region, open: row.open, granted: grantedOf(row.id), founded_at: row.founded_at });
  else if (kind === 'petition') {
    const old = version === OLD;
    Object.assign(o, { id: row.id, roll: row.roll, armorial: row.armorial, petitioner: row.petitioner, [old ? 'device' : 'blazon']: row.blazon, tinctures: row.tinctures, charges: row.charges, rank: row.rank });
    if (!old || bad('old-shows-supporters')) o.supporters = row.supporters;
    if (row.motto !== undefined) o.motto = row.motto;
    if (row.remark !== undefined && (caller?.user === 'herald' || bad('remark-shown') || opt.event && bad('event-remark'))) o.remark = row.remark;
    if (row.fee !== undefined) o.fee = old && !bad('old-fee-unmapped') ? row.fee / 100 : row.fee;
    o.objections = objectionsOf(row.id); o.status = row.status;
    if (row.lodged_at) o.lodged_at = row.lodged_at;
    o.changed_at = row.changed_at;
  } else if (kind === 'objection') {
    Object.assign(o, { id: row.id, petition: row.petition, by: row.by, ground: version === OLD && !bad('old-ground-new') ? groundDown(row.ground) : row.ground });
    if (row.text !== undefined) o.text = row.text;
    o.raised_at = row.raised_at;
  } else {
    Object.assign(o, { id: row.id, owner: row.owner, url: row.url });
    if (row.events !== undefined) o.events = row.events;
    o.enabled = row.enabled;
    if (opt.first || bad('secret-again')) o.secret = row.secret;
  }
  return o;
}

// ---------- permissions
function mayRead(kind, row, caller, inList) {
  if (kind === 'armorial') return true;
  if (!caller) return false;
  if (kind === 'petition') {
    if (caller.user === 'herald') return row.status !== 'draft' || bad('herald-sees-drafts');
    return row.petitioner === caller.id || (inList ? bad('list-all') : bad('read-others'));
  }
  if (kind === 'objection') return caller.user === 'herald' || db.petition.get(row.petition)?.petitioner === caller.id;
  return row.owner === caller.id || bad('hooks-of-others');
}
const USERS = {
  'create armorial': ['herald'], 'update armorial': ['herald'], 'delete armorial': ['herald'], 'list armorial': null, 'read armorial': null,
  'create petition': ['petitioner'], 'list petition': ['petitioner', 'herald'], 'read petition': ['petitioner', 'herald'], 'update petition': ['petitioner', 'herald'],
  'lodge petition': ['petitioner'], 'withdraw petition': ['petitioner'], 'query petition': ['herald'], 'refuse petition': ['herald'], 'grant petition': ['herald'],
  'create objection': ['herald'], 'list objection': ['petitioner', 'herald'], 'read objection': ['petitioner', 'herald'], 'delete objection': ['herald'],
  'create hook': ['petitioner', 'herald'], 'list hook': ['petitioner', 'herald'], 'read hook': ['petitioner', 'herald'], 'delete hook': ['petitioner', 'herald'],
};
if (bad('petitioners-not-object')) USERS['list objection'] = ['herald'];
if (bad('withdraw-by-herald')) USERS['withdraw petition'] = ['herald'];
if (bad('petitioner-makes-rolls')) USERS['create armorial'] = ['herald', 'petitioner'];

// ---------- events
const pending = []; // deliveries: { hook, row, id, body, kind, tries, due, busy }
const failing = new Map(); // hook id -> since
const holdUntil = new Map();
const RETRY = [10e3, 120e3, 3600e3];
const makers = new Map(); // hook id -> { caller, version }
let outbox = [];
function emit(kind, about, row, payload) { // recorded with its change
  const event = { id: 'ev-' + hex(16), kind, at: iso() };
  for (const h of db.hook.values()) {
    if (!h.enabled) continue;
    const m = makers.get(h.id);
    if (!mayRead(about, row, m.caller) && !bad('event-to-anyone')) continue;
    if (h.events && !bad('events-unchosen') && !h.events.some((e) => e === '*' || e === kind || (e.endsWith('.*') && kind.startsWith(e.slice(0, -1))))) continue;
    const body = JSON.stringify({ no: event.id, what: kind, when: event.at, about: payload ?? view(about, row, m.caller, bad('event-version') ? NEW : m.version, { event: true }) });
    outbox.push({ hook: h.id, row: about + row.id, id: event.id, kind, body, tries: 0, due: now(), busy: false });
  }
}
function flush() { if (outbox.length) { pending.push(...outbox); outbox = []; pump(); } }
function drop(d) { const i = pending.indexOf(d); if (i >= 0) pending.splice(i, 1); }
function pump() {
  const seen = new Set(), busy = new Map(), t = now();
  for (const d of pending) if (d.busy) busy.set(d.hook, (busy.get(d.hook) ?? 0) + 1);
  for (const d of [...pending]) {
    const h = db.hook.get(d.hook);
    if (!h || !h.enabled) { if (!d.busy) drop(d); continue; }
    const chain = d.hook + ' ' + d.row;
    if (seen.has(chain)) continue;
    seen.add(chain);
    const n = busy.get(d.hook) ?? 0;
    if (d.busy || d.due > t || (holdUntil.get(d.hook) ?? 0) > t || n >= (failing.has(d.hook) ? 1 : 32)) continue;
    busy.set(d.hook, n + 1);
    send(d, h);
  }
}
const agent = new http.Agent({ keepAlive: false });
function send(d, h) {
  d.busy = true;
  let done = false;
  const ts = String(Math.floor(now() / 1000));
  const mac = createHmac('sha256', h.secret).update(bad('sign-body-alone') ? d.body : `${d.id}:${ts}:${d.body}`).digest('hex');
  const end = (status, wait) => {
    if (done) return;
    done = true; d.busy = false; d.tries++;
    const t = now();
    if (status >= 200 && status < 300) { failing.delete(d.hook); drop(d); } else {
      if (!failing.has(d.hook)) failing.set(d.hook, t);
      if (status === 410 && !bad('gone-goes-on') || t - failing.get(d.hook) >= 3 * DAY) { const row = db.hook.get(d.hook); if (row) row.enabled = false; for (const x of pending.filter((x) => x.hook === d.hook && !x.busy)) drop(x); failing.delete(d.hook); }
      else if (d.tries > (bad('retry-once') ? 1 : RETRY.length)) drop(d);
      else { d.due = t + RETRY[d.tries - 1] * (0.85 + Math.random() * 0.3); if (wait > 0) holdUntil.set(d.hook, t + Math.min(wait, DAY)); }
    }
    setImmediate(pump);
  };
  try {
    const u = new URL(h.url);
    if (u.protocol !== 'http:') { setTimeout(() => end(0), 5); return; }
    const r = http.request(u, { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(d.body), 'herald-seal': `at=${ts};mac=${mac}`, ...(bad('no-event-header') ? {} : { 'x-herald-event': d.kind }) } }, (res) => {
      const ra = res.headers['retry-after'];
      res.on('error', () => {}); res.resume();
      end(res.statusCode, ra ? (/^\d+$/.test(ra) ? ra * 1000 : Date.parse(ra) - now()) : 0);
      setTimeout(() => res.destroy(), 1000).unref();
    });
    r.setTimeout(5000); const k = setTimeout(() => r.destroy(new Error('slow')), 5000); k.unref();
    r.on('error', () => end(0)); r.on('timeout', () => r.destroy(new Error('slow'))); r.on('close', () => { clearTimeout(k); end(0); });
    r.end(d.body);
  } catch { setImmediate(() => end(0)); }
}

// ---------- the clock's work
const lapseAt = (p) => (p.status === 'draft' || p.status === 'queried') ? (bad('lapse-from-creation') ? p.made : p.entered) + (bad('lapse-31d') ? 31 : 30) * DAY : Infinity;
function due(t) { // what has fallen due until t, in order
  for (;;) {
    let first = null, at = Infinity;
    for (const p of db.petition.values()) { const x = lapseAt(p); if (x <= t && x < at) { at = x; first = p; } }
    if (!first) break;
    pinned = Math.max(at, 0);
    move(first, 'lapsed');
    if (!bad('lapse-untold')) emit('petition.lapsed', 'petition', first);
    pinned = null;
  }
  flush(); pump();
}
setInterval(() => due(now()), 250);
function move(p, to) { p.status = to; p.entered = now(); if (!bad('changed-at-stale')) p.changed_at = iso(); }

// ---------- helpers of operations
const clash = (kind, test, self) => { for (const r of db[kind].values()) if (r !== self && test(r)) no('borne_already'); };
const sameName = (a, b) => bad('name-minds-case') ? a === b : a.toLowerCase() === b.toLowerCase();
const blazonClash = (n, self) => { if (LIVE.includes(n.status)) clash('petition', (r) => r.armorial === n.armorial && r.blazon === n.blazon && (LIVE.includes(r.status) || bad('unique-of-the-dead')), self); };
const tagOf = (kind, row, c) => { const v = view(kind, row, c.caller, c.version); if (bad('tag-without-derived')) delete v.objections; return '"' + createHash('sha256').update(c.version + JSON.stringify(v)).digest('base64url').slice(0, 22) + '"'; };
const tags = (h) => h.split(',').map((s) => s.trim());
function ifMatch(c, kind, row, required) {
  const h = c.req.headers['if-match'];
  if (h === undefined) { if (required && !bad('tag-not-wanted')) no('tag_wanted'); return; }
  if (h.trim() === '*') return;
  if (!tags(h).includes(tagOf(kind, row, c)) && !(kind === 'petition' && bad('if-match-unread'))) no('altered');
}
const row = (c, kind, id) => { const r = db[kind].get(id); if (!r || !mayRead(kind, r, c.caller)) no('not_found'); return r; };
function page(c, kind, rows) {
  const skip = c.page.skip, take = c.page.take;
  const part = rows.slice(skip, skip + take);
  return { status: 200, body: { rolls: part.map((r) => view(kind, r, c.caller, c.version)), more: bad('more-off-by-one') ? skip + take <= rows.length : skip + take < rows.length, count: bad('count-of-page') ? part.length : rows.length } };
}
const shown = (c, kind, r) => {
  const tag = tagOf(kind, r, c), inm = c.req.headers['if-none-match'];
  if (inm !== undefined && !bad('never-304') && (inm.trim() === '*' || tags(inm).map((x) => x.replace(/^W\//, '')).includes(tag))) return { status: 304, headers: { ETag: tag } };
  return { status: 200, headers: { ETag: tag }, body: view(kind, r, c.caller, c.version) };
};
const made = (c, kind, r, where) => ({ status: 201, headers: { Location: (bad('location-bare') ? '' : '/college') + where + r.id }, body: view(kind, r, c.caller, c.version, { first: true }) });

// ---------- transitions
const FROM = { lodge: ['draft', 'queried'], query: ['lodged'], grant: ['lodged'], refuse: bad('refuse-lodged-alone') ? ['lodged'] : ['lodged', 'queried'], withdraw: bad('withdraw-granted') ? ['draft', 'lodged', 'queried', 'granted'] : ['draft', 'lodged', 'queried'] };
if (bad('lodge-not-again')) FROM.lodge = ['draft'];
const TO = { lodge: 'lodged', query: 'queried', grant: 'granted', refuse: 'refused', withdraw: 'withdrawn' };
function transition(name) {
  return (c) => {
    const p = row(c, 'petition', c.ids.id);
    if (!FROM[name].includes(p.status)) no(name === 'withdraw' ? 'too_late' : 'wrong_time');
    if (name === 'grant' && objectionsOf(p.id) > 0 && !bad('grant-contested')) no('contested');
    if (name === 'lodge') {
      if (p.charges > 6 && p.tinctures.length < 2 && !bad('crowded-passes')) no('crowded_shield');
      const k = 'lodge ' + c.caller.id, d = new Date(now()).toISOString().slice(0, 10), q = quotas.get(k);
      const used = q?.d === d ? q.n : 0;
      if (used >= (bad('quota-16') ? 16 : 15)) no('too_many', { retry: Math.ceil((Date.parse(d) + DAY - now()) / 1000) });
      quotas.set(k, { d, n: used + 1 });
      p.fee = 5000 + p.charges * 250 + (bad('fee-without-supporters') ? 0 : p.supporters * 1000);
      p.lodged_at = iso();
    }
    move(p, TO[name]);
    if (name === 'lodge') emit('petition.lodged', 'petition', p);
    if (name === 'grant' || name === 'refuse' && !bad('refusal-untold')) emit('petition.judged', 'petition', p);
    if (name === 'withdraw' && bad('withdrawal-judged')) emit('petition.judged', 'petition', p);
    return { status: 200, body: view('petition', p, c.caller, c.version) };
  };
}
const differs = (a, b) => JSON.stringify(Object.entries(a).sort()) !== JSON.stringify(Object.entries(b).sort());
const DO = {
  'create armorial': (c) => {
    const n = take('armorial', c.body, c);
    clash('armorial', (r) => sameName(r.name, n.name));
    const r = { id: 'arm-' + hex(10), ...n, founded_at: iso() };
    db.armorial.set(r.id, r);
    return made(c, 'armorial', r, '/armorials/');
  },
  'list armorial': (c) => page(c, 'armorial', [...db.armorial.values()].filter((r) => (!c.q.region || r.region === c.q.region) && (c.q.begins === undefined || (bad('begins-is-contains') ? r.name.toLowerCase().includes(c.q.begins.toLowerCase()) : r.name.toLowerCase().startsWith(c.q.begins.toLowerCase()))))),
  'read armorial': (c) => shown(c, 'armorial', row(c, 'armorial', c.ids.id)),
  'update armorial': (c) => {
    const r = row(c, 'armorial', c.ids.id);
    ifMatch(c, 'armorial', r, true);
    const n = take('armorial', c.body, c, r);
    clash('armorial', (x) => sameName(x.name, n.name), r);
    if (differs(r, n)) {
      const was = { ...r };
      Object.assign(r, n);
      if (bad('closed-again') ? !r.open : was.open && !r.open) emit('armorial.closed', 'armorial', r);
    }
    return { status: 200, body: view('armorial', r, c.caller, c.version) };
  },
  'delete armorial': (c) => {
    const r = row(c, 'armorial', c.ids.id);
    for (const p of db.petition.values()) if (p.armorial === r.id && !bad('delete-unheld')) no('in_use');
    db.armorial.delete(r.id);
    return { status: 204 };
  },
  'create petition': (c) => {
    const a = row(c, 'armorial', c.ids.armorial);
    const n = take('petition', c.body, c, null, { armorial: a.id });
    if (!a.open && !bad('closed-roll-open')) no('roll_closed');
    n.status = 'draft';
    blazonClash(n);
    let drafts = 0;
    for (const p of db.petition.values()) if (p.petitioner === c.caller.id && (p.status === 'draft' || bad('rows-of-all-states'))) drafts++;
    if (drafts >= 12) no('too_many');
    const ck = bad('roll-of-all') ? '*' : a.id, roll = (counters.get(ck) ?? 0) + 1;
    counters.set(ck, roll);
    const r = { id: 'ptn-' + hex(12), roll, petitioner: c.caller.id, ...n, changed_at: iso(), entered: now(), made: now() };
    db.petition.set(r.id, r);
    return made(c, 'petition', r, '/petitions/');
  },
  'list petition': (c) => {
    let l = [...db.petition.values()].filter((p) => mayRead('petition', p, c.caller, true)
      && (c.q.armorial === undefined || p.armorial === c.q.armorial) && (!c.q.status || (bad('status-first-alone') ? c.q.status[0] === p.status : c.q.status.includes(p.status)))
      && (c.q.min_charges === undefined || (bad('min-charges-more') ? p.charges > c.q.min_charges : p.charges >= c.q.min_charges)));
    if (c.q.sort) { const s = c.q.sort === 'charges' || bad('sort-one-way') ? 1 : -1; l.sort((a, b) => s * (a.charges - b.charges)); }
    return page(c, 'petition', l);
  },
  'read petition': (c) => shown(c, 'petition', row(c, 'petition', c.ids.id)),
  'update petition': (c) => {
    const p = row(c, 'petition', c.ids.id);
    ifMatch(c, 'petition', p, false);
    const n = take('petition', c.body, c, p);
    if (!['draft', 'lodged', 'queried'].includes(p.status) && !bad('update-judged')) no('wrong_time');
    blazonClash(n, p);
    if (differs(p, n) || bad('update-of-nothing')) { for (const k of Object.keys(p)) if (!(k in n)) delete p[k]; Object.assign(p, n); p.changed_at = iso(); }
    return { status: 200, body: view('petition', p, c.caller, c.version) };
  },
  'create objection': (c) => {
    const p = row(c, 'petition', c.ids.petition);
    const n = take('objection', c.body, c, null, { petition: p.id });
    if (!['lodged', 'queried'].includes(p.status) && !bad('object-late')) no('nothing_to_object');
    if (!bad('object-twice')) clash('objection', (o) => o.petition === p.id && o.by === c.caller.id);
    const r = { id: 'obj-' + hex(10), by: c.caller.id, ...n, raised_at: iso() };
    db.objection.set(r.id, r);
    emit('objection.raised', 'objection', r, { petition: r.petition, ground: r.ground, by: r.by });
    return made(c, 'objection', r, '/objections/');
  },
  'list objection': (c) => {
    const p = row(c, 'petition', c.ids.petition);
    return page(c, 'objection', [...db.objection.values()].filter((o) => o.petition === p.id && mayRead('objection', o, c.caller) && (!c.q.ground || o.ground === c.q.ground)));
  },
  'read objection': (c) => ({ status: 200, body: view('objection', row(c, 'objection', c.ids.id), c.caller, c.version) }),
  'delete objection': (c) => {
    const o = row(c, 'objection', c.ids.id);
    if (o.by !== c.caller.id && !bad('delete-any-objection')) no('forbidden');
    db.objection.delete(o.id);
    return { status: 204 };
  },
  'create hook': (c) => {
    const n = take('hook', c.body, c);
    let mine = 0;
    for (const h of db.hook.values()) if (h.owner === c.caller.id) mine++;
    if (mine >= (bad('hooks-7') ? 7 : 6)) no('too_many');
    const r = { id: 'hk-' + hex(12), owner: c.caller.id, ...n, secret: 'wax_' + rnd(32) };
    db.hook.set(r.id, r);
    makers.set(r.id, { caller: c.caller, version: c.version });
    return made(c, 'hook', r, '/hooks/');
  },
  'list hook': (c) => page(c, 'hook', [...db.hook.values()].filter((h) => mayRead('hook', h, c.caller))),
  'read hook': (c) => ({ status: 200, body: view('hook', row(c, 'hook', c.ids.id), c.caller, c.version) }),
  'delete hook': (c) => { const h = row(c, 'hook', c.ids.id); db.hook.delete(h.id); failing.delete(h.id); return { status: 204 }; },
};
for (const t of Object.keys(TO)) DO[t + ' petition'] = transition(t);

// ---------- routes
const ROUTES = [];
const at = (method, path, op, opt = {}) => ROUTES.push({ method, parts: path.split('/').slice(1), op, ...opt });
at('POST', '/armorials', 'create armorial', { body: true });
at('GET', '/armorials', 'list armorial', { q: ['region', 'begins'], list: true });
at('GET', '/armorials/{id}', 'read armorial');
at('PATCH', '/armorials/{id}', 'update armorial', { body: true });
at('DELETE', '/armorials/{id}', 'delete armorial');
at('POST', '/armorials/{armorial}/petitions', 'create petition', { body: true });
at('GET', '/petitions', 'list petition', { q: ['armorial', 'status', 'min_charges', 'sort'], list: true });
at('GET', '/petitions/{id}', 'read petition');
at('PATCH', '/petitions/{id}', 'update petition', { body: true });
for (const t of Object.keys(TO)) if (!(t === 'query' && bad('no-query'))) at('POST', `/petitions/{id}/${t}`, t + ' petition');
at('POST', '/petitions/{petition}/objections', 'create objection', { body: true });
at('GET', '/petitions/{petition}/objections', 'list objection', { q: ['ground'], list: true });
at('GET', '/objections/{id}', 'read objection');
if (!bad('objection-stays')) at('DELETE', '/objections/{id}', 'delete objection');
at('POST', '/hooks', 'create hook', { body: true });
at('GET', '/hooks', 'list hook', { list: true, newOnly: true });
at('GET', '/hooks/{id}', 'read hook');
at('DELETE', '/hooks/{id}', 'delete hook');
const BASE = bad('base-moved') ? '/arms' : '/college';

function parameters(c, route, query) {
  const allowed = new Set([...(route.q ?? []), ...(route.list ? ['skip', 'take'] : [])]), got = {};
  if (query) for (const [k, v] of new URLSearchParams(query)) {
    const fault = (expected) => no('bad_query', { faults: [{ in: 'query', path: k, found: v.slice(0, 200), expected }] });
    if (!allowed.has(k)) { if (bad('any-parameter')) continue; fault('no such parameter'); }
    if (Object.hasOwn(got, k)) fault('one value');
    if (k === 'skip') { if (!/^\d{1,15}$/.test(v)) fault('a number of rows'); got[k] = Number(v); }
    else if (k === 'take') { if (!/^\d{1,9}$/.test(v) || Number(v) < 1) fault('1 to 40'); got[k] = Number(v); if (got[k] > 40) { if (bad('take-clamped')) got[k] = 40; else fault('1 to 40'); } }
    else if (k === 'region') { if (!REGIONS.includes(v)) fault('a region'); got[k] = v; }
    else if (k === 'ground') { const g = c.version === OLD ? (v === 'copied' ? 'x' : groundUp(v)) : v; if (!GROUNDS.includes(g)) fault('a ground'); got[k] = g; }
    else if (k === 'status') { const l = v.split(','); if (l.length > 100 || l.some((x) => !STATES.includes(x))) fault('states'); got[k] = l; }
    else if (k === 'min_charges') { if (!/^-?\d{1,15}$/.test(v)) fault('a whole number'); got[k] = Number(v); }
    else if (k === 'sort') { if (v !== 'charges' && v !== '-charges') fault('charges or -charges'); got[k] = v; }
    else got[k] = v;
  }
  c.q = got;
  c.page = { skip: got.skip ?? 0, take: got.take ?? (bad('page-of-20') ? 20 : 10) };
}
const sorted = (v) => v && typeof v === 'object' ? Array.isArray(v) ? v.map(sorted) : Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v;
const utf8 = new TextDecoder('utf-8', { fatal: true });

function rate(c, address) {
  const k = c.caller ? 'c ' + c.caller.user + ' ' + c.caller.id : 'a ' + address, limit = c.caller ? (bad('rate-501') ? 501 : 500) : 90, t = now();
  let w = rates.get(k);
  if (!w || t >= w.end) { w = { end: t + 60000, n: 0 }; rates.set(k, w); }
  const told = () => { c.headers['X-Quill-Limit'] = String(c.caller ? 500 : 90); c.headers['X-Quill-Left'] = String(Math.max(0, limit - w.n - (bad('left-one-more') ? -1 : 0))); if (!bad('no-reset')) c.headers['X-Quill-Reset'] = String(Math.ceil((w.end - t) / 1000)); };
  if (w.n >= limit) { told(); no('too_often', bad('no-retry-after') ? {} : { retry: Math.max(1, Math.ceil((w.end - t) / 1000)) }); }
  w.n++;
  told();
}
setInterval(() => { const t = now(); for (const [k, w] of rates) if (w.end < t) rates.delete(k); for (const [k, r] of keys) if (r.until <= t) keys.delete(k); }, 60000).unref();

function handle(req, body, tooBig, c) {
  const target = req.url;
  if (Buffer.byteLength(target) > 2048) no('too_long');
  let size = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) size += req.rawHeaders[i].length + req.rawHeaders[i + 1].length + 4;
  if (size > 8192 && !bad('headers-unweighed')) no('heavy_head');
  const i = target.indexOf('?'), path = i < 0 ? target : target.slice(0, i), query = i < 0 ? '' : target.slice(i + 1);
  c.path = target;
  if (!path.startsWith(BASE + '/')) no('no_such_page');
  let parts;
  try { parts = path.slice(BASE.length + 1).split('/').map(decodeURIComponent); } catch { no('no_such_page'); }
  const fits = (r) => r.parts.length === parts.length && r.parts.every((p, j) => p[0] === '{' ? parts[j] !== '' : p === parts[j]);
  let found = ROUTES.filter(fits);
  if (!found.length) no('no_such_page');
  const asked = req.headers['heralds-edition'];
  const wanted = asked ?? (bad('default-oldest') ? OLD : NEW);
  if (wanted === OLD && !bad('old-lists-hooks')) { const o = found.filter((r) => !r.newOnly); if (o.length) found = o; }
  const allow = [...new Set([...found.flatMap((r) => r.method === 'GET' ? ['GET', 'HEAD'] : [r.method]), 'OPTIONS'])].join(', ');
  if (req.method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  const route = found.find((r) => r.method === method);
  if (!route) no('wrong_verb', { headers: bad('no-allow') ? {} : { Allow: allow } });
  if (wanted !== OLD && wanted !== NEW) { if (bad('any-edition')) c.version = NEW; else no('edition_unknown'); } else c.version = wanted;
  if (c.version === OLD && now() >= SUNSET && !bad('old-goes-on')) no('edition_over');
  // the caller
  const op = route.op;
  let auth = null;
  for (let j = 0; j < req.rawHeaders.length; j += 2) if (req.rawHeaders[j].toLowerCase() === 'authorization') { if (auth !== null) { no('false_seal', { challenge: 2 }); } auth = req.rawHeaders[j + 1]; }
  if (auth !== null) {
    const m = /^seal +(\S+)$/i.exec(auth.trim());
    c.caller = m ? callers.get(m[1]) : undefined;
    if (!c.caller && !(bad('bad-seal-as-nobody') && !USERS[op])) no('false_seal', { challenge: 2 });
    if (c.caller?.user === 'herald' && bad('heralds-are-petitioners')) c.caller = { ...c.caller, user: 'petitioner' };
  } else if (USERS[op]) no('stranger', { challenge: 1 });
  rate(c, req.socket.remoteAddress);
  const early = () => { if (USERS[op] && !USERS[op].includes(c.caller.user)) no('forbidden'); if (op === 'grant petition' && !c.caller.scopes.includes('grant') && !bad('grant-unscoped')) no(bad('unscoped-is-forbidden') ? 'forbidden' : 'unscoped'); };
  if (bad('user-before-parameters')) early();
  parameters(c, route, query);
  early();
  // the body
  if (route.body) {
    const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
    if (!body.length && !tooBig && !type) no('garbled');
    if (type !== 'application/json' && !(method === 'PATCH' && type === 'application/merge-patch+json') && !bad('any-media')) no('wrong_hand');
    if (tooBig || body.length > 8192 && !bad('body-unweighed')) no('too_large');
    try { c.body = JSON.parse(utf8.decode(body)); } catch { no('garbled'); }
  }
  c.ids = {};
  route.parts.forEach((p, j) => { if (p[0] === '{') c.ids[p.slice(1, -1)] = parts[j]; });
  // idempotency
  const key = method === 'POST' && !bad('key-unread') ? req.headers['idempotency-key'] : undefined;
  let slot, print;
  if (key !== undefined) {
    slot = JSON.stringify([c.caller.user, c.caller.id, op, key]);
    print = JSON.stringify([path, query, c.version, route.body && !bad('key-body-unread') ? sorted(c.body) : null]);
    const kept = keys.get(slot);
    if (kept && kept.until > now()) { if (kept.print !== print) no('key_spent'); return { ...kept.answer, raw: kept.raw }; }
  }
  const keep = (answer, raw) => { if (slot) keys.set(slot, { print, until: now() + 12 * 3600e3, answer: { status: answer.status, headers: answer.headers }, raw }); };
  try {
    const a = DO[op](c);
    if (slot) { let b = a.body; if (op === 'create hook' && !bad('secret-replayed')) { b = { ...b }; delete b.secret; } keep(a, b === undefined ? undefined : JSON.stringify(b)); }
    flush();
    return a;
  } catch (e) {
    outbox = [];
    if (e instanceof Refusal && OWN.has(e.code) && slot) keep({ status: CODES[e.code][0], headers: bad('no-refusal-header') ? {} : { 'X-Refusal': e.code } }, JSON.stringify(refusalBody(e.code, c.ticket)));
    throw e;
  }
}
function answer(req, res, body, tooBig) {
  const c = { req, headers: {}, ticket: 'tk-' + hex(16), version: NEW, caller: undefined, path: req.url };
  let a;
  try { a = handle(req, body, tooBig, c); } catch (e) {
    if (!(e instanceof Refusal)) { console.error(e); e = new Refusal('failed'); }
    const headers = { ...e.headers };
    if (!bad('no-refusal-header')) headers['X-Refusal'] = e.code;
    if (e.retry !== undefined) headers['Retry-After'] = String(e.retry);
    if (e.challenge && !bad('no-challenge')) headers['WWW-Authenticate'] = 'Seal realm="College of Heralds"' + (e.challenge === 2 ? ', error="invalid_key"' : '');
    a = { status: CODES[e.code][0], headers, body: refusalBody(e.code, c.ticket, e.faults) };
  }
  const h = { 'X-Ticket': c.ticket, 'Heralds-Edition': c.version, Vary: 'Heralds-Edition, Authorization', ...c.headers, ...a.headers };
  if (bad('no-ticket')) delete h['X-Ticket'];
  if (bad('edition-untold')) delete h['Heralds-Edition'];
  if (c.version === OLD) {
    h.Deprecation = '@' + DEPRECATED / 1000;
    if (!bad('no-sunset')) h.Sunset = new Date(SUNSET).toUTCString();
    h.Link = `<https://arms.heralds.example/editions>; rel="deprecation", <${c.path}>; rel="successor-version"`;
  }
  const text = a.raw ?? (a.body === undefined ? undefined : JSON.stringify(a.body));
  if (text !== undefined) { h['Content-Type'] = 'application/json'; h['Content-Length'] = Buffer.byteLength(text); }
  res.writeHead(a.status, h);
  res.end(req.method === 'HEAD' || text === undefined ? undefined : text);
}
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 10000, headersTimeout: 10000, keepAliveTimeout: 30000, keepAliveTimeoutBuffer: 0, connectionsCheckingInterval: 500 }, (req, res) => {
  const chunks = []; let n = 0, big = false;
  req.on('data', (x) => { n += x.length; if (n > 8192 && !(bad('body-unweighed') && n < 1e6)) big = true; else chunks.push(x); });
  req.on('end', () => answer(req, res, Buffer.concat(chunks), big));
  req.on('error', () => {});
  res.on('error', () => {});
});
server.maxRequestsPerSocket = 0;
server.on('clientError', (e, socket) => {
  if (!socket.writable || socket.bytesWritten && e.code === 'ECONNRESET') return socket.destroy();
  const code = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : e.code === 'HPE_HEADER_OVERFLOW' ? 'heavy_head' : 'garbled', t = 'tk-' + hex(16), b = JSON.stringify(refusalBody(code, t));
  socket.end(`HTTP/1.1 ${CODES[code][0]} ${http.STATUS_CODES[CODES[code][0]]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(b)}\r\nX-Ticket: ${t}\r\nX-Refusal: ${code}\r\nConnection: close\r\n\r\n${b}`);
});
server.listen(PORT, '127.0.0.1', () => console.log('listening on ' + server.address().port));

// ---------- the clock's door
function later(t, d) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(d);
  if (!m || d === 'P' || d.endsWith('T')) return null;
  const [y, mo, w, da, h, mi, s] = m.slice(1).map((x) => Number(x ?? 0)), x = new Date(t), day = x.getUTCDate();
  x.setUTCDate(1); x.setUTCMonth(x.getUTCMonth() + y * 12 + mo);
  x.setUTCDate(Math.min(day, new Date(Date.UTC(x.getUTCFullYear(), x.getUTCMonth() + 1, 0)).getUTCDate()));
  return x.getTime() + (w * 7 + da) * DAY + h * 3600e3 + mi * 60e3 + Math.round(s * 1000);
}
if (CLOCK !== null) http.createServer((req, res) => {
  const chunks = [];
  req.on('data', (x) => chunks.push(x));
  req.on('end', () => {
    const say = (s, o) => { res.writeHead(s, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(o)); };
    if (req.method === 'GET') return say(200, { now: iso() });
    if (req.method !== 'POST') return say(400, { error: 'GET or POST' });
    let b; try { b = JSON.parse(Buffer.concat(chunks).toString()); } catch { return say(400, { error: 'JSON' }); }
    let t = null;
    const from = now();
    if (typeof b?.advance === 'string' && b.now === undefined) t = later(from, b.advance);
    else if (typeof b?.now === 'string' && b.advance === undefined && /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(b.now)) t = Date.parse(b.now.toUpperCase());
    if (t === null || Number.isNaN(t)) return say(400, { error: 'advance or now' });
    if (t < from) return say(422, { error: 'the clock goes forward alone' });
    due(t);
    shift += Math.max(0, t - now());
    due(now());
    setTimeout(() => say(200, { now: iso() }), pending.length ? 30 : 0);
  });
}).listen(CLOCK, '127.0.0.1');
