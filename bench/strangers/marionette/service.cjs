'use strict';
// The marionette shed: one process, rows in memory. Usage:
//   node service.cjs --port N --clock-port M [--fault ID]

const http = require('node:http');
const crypto = require('node:crypto');

const args = {};
for (let i = 2; i < process.argv.length; i += 2) args[process.argv[i].replace(/^--/, '')] = process.argv[i + 1];
const fault = args.fault || '';
const F = (id) => fault === id;
const M = require('./shed-model.cjs')(fault);
const REALM = 'Marionette shed';

// ---------------------------------------------------------------- the clock

let ahead = 0;
const now = () => Date.now() + ahead;
const iso = (ms) => new Date(ms).toISOString();

// ---------------------------------------------------------------- rows

const store = {};
const buried = { part: new Map() };
for (const name of Object.keys(M.res)) store[name] = new Map();
const counters = {};
let sequence = 0;
let tx = null;

function begin() { tx = { undo: [], events: [] }; }
function rollback() { for (const u of tx.undo.reverse()) u(); tx = null; }
function put(res, id, row) {
  const before = store[res].get(id);
  tx.undo.push(() => { if (before) store[res].set(id, before); else store[res].delete(id); });
  store[res].set(id, row);
}
function drop(res, id) {
  const all = store[res];
  const copy = new Map(all);
  tx.undo.push(() => { store[res] = copy; });
  all.delete(id);
}
function count(name, undoable) {
  const n = (counters[name] || 0) + 1;
  if (undoable) tx.undo.push(() => { counters[name] = n - 1; });
  counters[name] = n;
  return n;
}
const META = Symbol('meta');
const same = (a, b) => JSON.stringify(sortKeys(a)) === JSON.stringify(sortKeys(b));
function sortKeys(v) {
  if (Array.isArray(v)) return v.map(sortKeys);
  if (v && typeof v === 'object') { const o = {}; for (const k of Object.keys(v).sort()) o[k] = sortKeys(v[k]); return o; }
  return v;
}

function stock(sku) {
  let sum = 0;
  for (const e of store.entry.values()) if (e.part === sku && (F('stock-counts-drafts') || e.status === 'posted')) sum += e.quantity;
  return sum;
}
function full(res, row) {
  const out = { ...row };
  if (res === 'puppet') {
    let n = 0;
    for (const r of store.repair.values()) if (r.puppet === row.slug && !(F('mends-skips-abandoned') && r.status === 'abandoned')) n++;
    out.mends = n;
  } else if (res === 'repair') {
    let n = 0;
    for (const e of store.entry.values()) if (e.repair === row.id && (F('used-counts-drafts') || e.status === 'posted')) n++;
    out.used = n;
  } else if (res === 'part') {
    out.stock = stock(row.sku);
    out.low = F('low-at-five') ? out.stock <= 5 : out.stock < 5;
  }
  return out;
}

// ---------------------------------------------------------------- refusals

class Refusal extends Error {
  constructor(condition, more = {}) { super(condition); this.condition = condition; Object.assign(this, more); }
}
const refuse = (condition, more) => { throw new Refusal(condition, more); };
const refuseOwn = (code) => { throw new Refusal('own', { code, kept: true }); };
const dotted = (v) => (v.in === 'body' ? v.path.replace(/^\//, '').replace(/\//g, '.') : v.path);

function refusalBody(e, requestId) {
  let [code, status, message] = e.code ? [e.code, ...M.own[e.code]] : M.conditions[e.condition];
  if (!e.code && M.conditions[e.condition][2].includes('{name}') && e.violations) message = message.replace('{name}', dotted(e.violations[0]));
  const body = { error: code, status, detail: message, request_id: requestId };
  if (e.violations && !F('error-without-where')) body.where = e.violations.map((v) => (F('where-dotted') ? dotted(v) : v.path));
  if (F('error-in-envelope')) return { code, status, body: { error: body } };
  if (F('error-status-text')) body.status = String(status);
  if (F('error-without-request-id')) delete body.request_id;
  if (F('error-detail-null')) body.detail = null;
  return { code, status, body };
}

// ---------------------------------------------------------------- shapes and versions

const RENAMES = { puppet: { height_mm: 'tall_mm' }, repair: { drying_hours: 'drying_minutes' }, part: { price_cents: 'cost_cents' } };

function fieldsIn(res, version) {
  const all = M.res[res].fields;
  if (version !== 'v1') return all;
  const out = {};
  for (const [name, f] of Object.entries(all)) {
    if ((M.versionAdds[res] || []).includes(name)) continue;
    const to = (RENAMES[res] || {})[name] || name;
    if (res === 'repair' && name === 'drying_hours') out[to] = { ...f, lo: 60, hi: 4320, multiple: 60, def: 720 };
    else if (res === 'repair' && name === 'urgency') out[to] = { ...f, enum: ['low', 'normal', 'rush'] };
    else out[to] = f;
  }
  if (res === 'puppet') out.cupboard = { t: 'string', max: 20, gone: 1 };
  return out;
}
function up(res, body, version) {
  if (version !== 'v1') return body;
  const out = {};
  for (const [k, v] of Object.entries(body)) {
    if (res === 'puppet' && k === 'cupboard') continue;
    const name = Object.keys(RENAMES[res] || {}).find((n) => RENAMES[res][n] === k) || k;
    if (name === 'drying_hours' && typeof v === 'number' && !F('v1-minutes-not-mapped-up')) out[name] = v / 60;
    else if (res === 'repair' && k === 'urgency' && v === 'rush') out[name] = 'urgent';
    else out[name] = v;
  }
  return out;
}
function down(res, shown, version) {
  if (version !== 'v1') return shown;
  const out = {};
  for (const [k, v] of Object.entries(shown)) {
    if (res === 'puppet' && k === 'mood' && !F('v1-shows-mood')) continue;
    const name = F('v1-height-not-renamed') && k === 'height_mm' ? k : F('v1-price-not-renamed') && k === 'price_cents' ? k : (RENAMES[res] || {})[k] || k;
    if (res === 'repair' && k === 'drying_hours') out[name] = F('v1-minutes-not-mapped') ? v : v * 60;
    else if (res === 'repair' && k === 'urgency' && v === 'urgent' && !F('v1-urgent-not-rush')) out[name] = 'rush';
    else out[name] = v;
  }
  if (res === 'puppet' && !F('v1-without-cupboard')) out.cupboard = 'unknown';
  return out;
}

const EMAIL = /^[^\s@"(),:;<>[\]\\]+@[a-z0-9-]+(\.[a-z0-9-]+)*$/i;
function isUri(v) {
  if (!/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(v)) return false;
  try { new URL(v); return true; } catch { return false; }
}
const length = (s) => [...s].length;

function check(f, v, path, out) {
  const bad = (kind = 'value') => { out.push({ in: 'body', path, kind }); };
  switch (f.t) {
    case 'string':
      if (typeof v !== 'string') return bad('type');
      if (f.min !== undefined && length(v) < f.min) return bad();
      if (f.max !== undefined && length(v) > f.max) return bad();
      if (f.pattern && !new RegExp(f.pattern, 'u').test(v)) return bad();
      if (f.enum && !f.enum.includes(v)) return bad();
      if (f.format === 'email' && !EMAIL.test(v)) return bad();
      if (f.format === 'uri' && !isUri(v)) return bad();
      return undefined;
    case 'integer':
      if (!Number.isInteger(v)) return bad('type');
      if (f.lo !== undefined && v < f.lo) return bad();
      if (f.hi !== undefined && v > f.hi) return bad();
      if (f.multiple && v % f.multiple) return bad();
      return undefined;
    case 'boolean': return typeof v === 'boolean' ? undefined : bad('type');
    case 'array':
      if (!Array.isArray(v)) return bad('type');
      if (f.maxItems !== undefined && v.length > f.maxItems) return bad();
      v.forEach((item, i) => check(f.items, item, `${path}/${i}`, out));
      if (f.unique && new Set(v.map((x) => JSON.stringify(x))).size < v.length) return bad();
      if (f.kinds) v.forEach((item, i) => { if (typeof item === 'string' && !knownKind(item)) out.push({ in: 'body', path: `${path}/${i}`, kind: 'value' }); });
      return undefined;
    case 'object':
      if (!v || typeof v !== 'object' || Array.isArray(v)) return bad('type');
      for (const [k, item] of Object.entries(v)) {
        if (!f.fields[k]) { if (!F('box-takes-anything')) out.push({ in: 'body', path: `${path}/${k}`, kind: 'unknown' }); } else check(f.fields[k], item, `${path}/${k}`, out);
      }
      for (const [k, g] of Object.entries(f.fields)) if (g.req && !(k in v)) out.push({ in: 'body', path: `${path}/${k}`, kind: 'missing' });
      return undefined;
    default: return undefined;
  }
}
function knownKind(k) {
  if (k === '*') return true;
  if (k.endsWith('.*')) return M.kinds.some((x) => x.kind.startsWith(k.slice(0, -1)));
  return M.kinds.some((x) => x.kind === k);
}
const wants = (hook, kind) => !hook.events || hook.events.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1)) && !F('wildcard-ignored')));

function invalid(violations) {
  if (!violations.length) return;
  const kind = violations[0].kind;
  const narrow = kind === 'missing' ? 'request.invalid.missing' : kind === 'unknown' ? 'request.invalid.unknown' : kind === 'read_only' ? 'request.invalid.read_only' : 'request.invalid';
  refuse(narrow, { violations });
}

// What a caller sent, held to the shape of its version; what comes back has the newest names.
function take(c, mode, current, bound) {
  const { res, body, version, route, caller } = c;
  const fields = fieldsIn(res, version);
  const out = [];
  if (!body || typeof body !== 'object' || Array.isArray(body)) invalid([{ in: 'body', path: '', kind: 'type' }]);
  const sent = {};
  const old = current ? down(res, current, version) : {};
  for (const [k, v] of Object.entries(body)) {
    const f = Object.prototype.hasOwnProperty.call(fields, k) ? fields[k] : undefined;
    const path = `/${k}`;
    if (!f) { if (!F('unknown-field-ignored')) out.push({ in: 'body', path, kind: 'unknown' }); continue; }
    const locked = f.ro && !(F('status-writable') && res === 'puppet' && k === 'status' && mode === 'update') && !(F('owner-writable') && k === 'owner');
    if (locked || (f.writable && !f.writable.includes(caller.user) && !F('stopped-writable'))) {
      if (route.refuseRo && f.ro) out.push({ in: 'body', path, kind: 'read_only' });
      continue;
    }
    if (bound && k in bound) {
      if (v !== bound[k] && !F('path-parent-not-compared')) out.push({ in: 'body', path, kind: 'value' });
      continue;
    }
    if (mode === 'update' && v === null) {
      if (f.req) out.push({ in: 'body', path, kind: 'value' });
      else sent[k] = F('null-ignored') ? old[k] : null;
      continue;
    }
    if (mode === 'update' && f.t === 'object' && v && typeof v === 'object' && !Array.isArray(v)) {
      const merged = F('box-replaced-in-patch') ? {} : { ...(old[k] || {}) };
      for (const [kk, vv] of Object.entries(v)) {
        if (vv === null && f.fields[kk]) out.push({ in: 'body', path: `${path}/${kk}`, kind: 'value' });
        else if (vv === null) continue;
        merged[kk] = vv;
      }
      if (!out.some((x) => x.path.startsWith(`${path}/`))) check(f, merged, path, out);
      sent[k] = merged;
      continue;
    }
    const before = out.length;
    check(f, v, path, out);
    if (out.length === before && f.immutable && current && !same(old[k], v) && !F(`${res}-puppet-mutable`)) out.push({ in: 'body', path, kind: 'value' });
    sent[k] = v;
  }
  if (mode !== 'update') {
    for (const [k, f] of Object.entries(fields)) {
      if (!f.req || f.ro || f.def !== undefined || k in body || (bound && k in bound)) continue;
      out.push({ in: 'body', path: `/${k}`, kind: 'missing' });
    }
  }
  const clean = up(res, sent, version);
  if (res === 'part' && F('put-ignores-price') && current) delete clean.price_cents;
  let next;
  if (mode === 'create' || mode === 'replace') {
    next = {};
    for (const [k, f] of Object.entries(M.res[res].fields)) {
      if (bound && k in bound) next[k] = bound[k];
      else if (k in clean) next[k] = clean[k];
      else if (mode === 'replace' && current && current[k] !== undefined
        && (f.ro || f.immutable || (f.writable && !f.writable.includes(caller.user)) || (version === 'v1' && (M.versionAdds[res] || []).includes(k) && !F('v1-put-resets-mood')))) next[k] = current[k];
      else if (mode === 'replace' && F('put-keeps-tags') && k === 'tags' && current && current.tags) next[k] = current[k];
      else if (f.def !== undefined) next[k] = f.def;
    }
  } else {
    next = { ...current };
    for (const [k, v] of Object.entries(clean)) { if (v === null) delete next[k]; else next[k] = v; }
  }
  if (current && current[META]) next[META] = current[META];
  for (const rule of M.res[res].rules || []) {
    const broken = rule.reads.some((r) => out.some((x) => x.path === `/${r}`)) || rule.reads.some((r) => next[r] === undefined);
    if (!broken && rule.if(next) && !(rule.onlyCreate && current)) out.push({ in: 'body', path: `/${rule.field}`, kind: 'value' });
  }
  invalid(out);
  for (const [k, f] of Object.entries(M.res[res].fields)) {
    if (!f.ref || next[k] === undefined || (bound && k in bound)) continue;
    if (f.loose || (current && same(current[k], next[k]))) continue;
    if (!store[f.ref].has(next[k])) refuse('reference.missing', { violations: [{ in: 'body', path: `/${k}`, kind: 'value' }] });
  }
  return next;
}

// ---------------------------------------------------------------- who may do and see what

function rulesFor(op, caller) {
  return M.rules.filter((r) => r.allow.includes(op) && (r.to.includes('anyone') || (caller && r.to.includes(caller.user))));
}
const holds = (r, row, caller) => !r.if || (caller && r.if(row, caller));
const hasScopes = (r, caller) => !r.scopes || (caller && r.scopes.every((s) => caller.scopes.includes(s)));
function readOps(res) { return res === 'card' ? ['read card', 'read own card'] : [`read ${res}`]; }
function readers(res, row, caller) {
  return readOps(res).flatMap((op) => rulesFor(op, caller)).filter((r) => hasScopes(r, caller) && holds(r, row, caller));
}
const mayRead = (res, row, caller) => readers(res, row, caller).length > 0;

function show(res, row, caller, version, made) {
  const rules = readers(res, row, caller);
  let only = null;
  if (rules.length && rules.every((r) => r.fields)) only = new Set(rules.flatMap((r) => r.fields));
  const out = {};
  for (const [k, f] of Object.entries(M.res[res].fields)) {
    if (row[k] === undefined) continue;
    if (f.once && !made) continue;
    if (f.visible && !(caller && f.visible.includes(caller.user))) continue;
    if (only && !only.has(k)) continue;
    if (f.hiddenBug) continue;
    out[k] = f.textBug ? String(row[k]) : row[k];
  }
  return down(res, out, version);
}

// ---------------------------------------------------------------- events

const log = [];
const streams = new Set();
const queues = new Map();
let eventNumber = 0;

function emit(op, res, before, next) {
  for (const k of M.kinds) {
    if (!k.on.includes(op)) continue;
    if (k.if && !k.if(before, next)) continue;
    tx.events.push({ k, res, before, next });
  }
}
function commit() {
  const events = tx.events;
  tx = null;
  for (const e of events) record(e);
}
function record({ k, res, before, next }) {
  const row = full(res, next);
  const event = { id: `evt-${String(++eventNumber).padStart(8, '0')}`, kind: k.kind, at: iso(now()), time: now(), k, res, before: before && full(res, before), row, key: `${res}/${next[M.res[res].id]}` };
  event.hears = (caller) => (k.to ? k.to(caller, row) : mayRead(res, row, caller)) || F('everybody-hears');
  log.push(event);
  for (const s of [...streams]) if (event.hears(s.caller)) s.send(event);
  for (const hook of store.hook.values()) {
    const maker = hook[META].maker;
    if (!hook.enabled && !F('disabled-hook-hears')) continue;
    if (!wants(hook, k.kind) && !F('hook-kinds-ignored')) continue;
    if (!event.hears(maker)) continue;
    if (!queues.has(hook.id)) queues.set(hook.id, []);
    queues.get(hook.id).push({ event, tries: 0, due: now(), busy: false });
  }
  pump();
}
function payloadOf(event, caller, version) {
  const { k, res, row, before } = event;
  if (k.payload === 'id') return F('overdue-payload-row') && k.kind === 'loan.overdue' ? show(res, row, caller, version) : row[M.res[res].id];
  if (k.payload === 'row') return show(res, row, F('event-shows-attic-note') && res === 'puppet' ? { user: 'curator', scopes: [] } : caller, version);
  return k.data(before || {}, row);
}
function envelope(event, caller, version) {
  const out = { event_id: event.id, kind: event.kind, at: event.at, body: payloadOf(event, caller, version) };
  if (F('envelope-without-at')) delete out.at;
  if (F('envelope-data')) { out.data = out.body; delete out.body; }
  return out;
}

function pump() {
  for (const [id, queue] of queues) {
    const hook = store.hook.get(id);
    if (!hook || !hook.enabled) { if (!F('disabled-hook-hears') || !hook) { queues.delete(id); continue; } }
    const seen = new Set();
    for (const d of [...queue]) {
      if (seen.has(d.event.key) && !F('deliveries-overtake')) continue;
      seen.add(d.event.key);
      if (d.busy || d.due > now()) continue;
      d.busy = true;
      attempt(hook, d).then((result) => settled(id, d, result));
    }
  }
}
function attempt(hook, d) {
  const meta = hook[META];
  const body = JSON.stringify(envelope(d.event, meta.maker, meta.version));
  const t = Math.floor(now() / 1000);
  const eventId = F('retry-new-id') && d.tries ? `${d.event.id}-${d.tries}` : d.event.id;
  const text = F('retry-new-id') && d.tries ? body.replace(d.event.id, eventId) : body;
  const secret = F('signed-with-id') ? String(hook.id) : hook.secret;
  const signed = F('signature-without-id') ? `${t}.${text}` : `${eventId}.${t}.${text}`;
  const mac = crypto.createHmac(F('signature-sha1') ? 'sha1' : 'sha256', secret).update(signed).digest('hex');
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), 'X-Shed-Signature': `t=${t},v1=${mac}` };
  if (!F('hook-without-kind-header')) headers['X-Shed-Kind'] = d.event.kind;
  return new Promise((resolve) => {
    let url;
    try { url = new URL(hook.url); } catch { return resolve({ ok: false }); }
    if (url.protocol !== 'http:' || !['127.0.0.1', 'localhost'].includes(url.hostname)) return resolve({ ok: false });
    const req = http.request({ host: '127.0.0.1', port: url.port || 80, path: url.pathname + url.search, method: F('hook-put') ? 'PUT' : 'POST', headers: { Host: url.host, ...headers }, agent: false, timeout: M.limits.tryTime }, (res) => {
      res.resume();
      resolve({ ok: res.statusCode >= 200 && res.statusCode < 300, gone: res.statusCode === 410 });
    });
    req.setTimeout(M.limits.tryTime, () => req.destroy(new Error('slow')));
    req.on('error', () => resolve({ ok: false }));
    req.end(text);
  });
}
function settled(id, d, result) {
  d.busy = false;
  const hook = store.hook.get(id);
  const queue = queues.get(id);
  if (!hook || !queue) return;
  const meta = hook[META];
  if (result.ok) {
    meta.failing = null;
    queue.splice(queue.indexOf(d), 1);
  } else {
    if (meta.failing == null) meta.failing = now();
    d.tries++;
    if (result.gone || now() - meta.failing >= M.limits.disableAfter) { disable(hook); queues.delete(id); return; }
    if (d.tries > M.limits.retry.length) queue.splice(queue.indexOf(d), 1);
    else d.due = now() + M.limits.retry[d.tries - 1];
  }
  pump();
}
function disable(hook) {
  if (F('failing-hook-stays')) return;
  const next = { ...hook, enabled: false };
  next[META] = hook[META];
  store.hook.set(hook.id, next);
}

// ---------------------------------------------------------------- changes

function stamp(res, row) { if (res === 'puppet' && !F('revised-at-stays')) row.revised_at = iso(now()); }

function create(res, next, c) {
  const spec = M.res[res];
  if (spec.state) next[spec.state] = spec.initial;
  if (res === 'loan') {
    next.id = count('loan');
    next.ticket = count(F('ticket-over-all') ? 'ticket' : `ticket/${next.puppet}`, true);
    next.troupe = c.caller.id;
  } else if (res === 'repair') {
    next.id = count('repair');
  } else if (res === 'entry') {
    next.id = count('entry');
    next.folio = `SL-${String(count('folio', true)).padStart(F('folio-unpadded') ? 1 : 4, '0')}`;
    next.booked_by = F('booked-by-user') ? c.caller.user : c.caller.id;
  } else if (res === 'hook') {
    next.id = count('hook');
    if (!(F('owner-writable') && next.owner)) next.owner = c.caller.id;
    next.secret = F('secret-short') ? `shd_${random(16)}` : `shd_${random(32)}`;
  }
  stamp(res, next);
  next[META] = { seq: ++sequence, entered: now(), fired: {} };
  if (res === 'hook') { next[META].maker = c.caller; next[META].version = c.version; next[META].failing = null; }
  uniqueness(res, next);
  put(res, next[spec.id], next);
  if (buried[res]) buried[res].delete(next[spec.id]);
  emit(c.emitAs || `create ${res}`, res, null, next);
  return next;
}
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
function random(n) { let s = ''; for (let i = 0; i < n; i++) s += LETTERS[crypto.randomInt(62)]; return s; }

function uniqueness(res, next) {
  const spec = M.res[res];
  for (const u of spec.unique || []) {
    if (u.while && !u.while(next)) continue;
    for (const other of store[res].values()) {
      if (other[spec.id] === next[spec.id] || (u.while && !u.while(other))) continue;
      if (u.fields.every((f) => (u.ignoreCase ? String(other[f]).toLowerCase() === String(next[f]).toLowerCase() : other[f] === next[f]))) refuse('resource.exists');
    }
  }
}
function change(res, before, next, op) {
  uniqueness(res, next);
  stamp(res, next);
  put(res, next[M.res[res].id], next);
  emit(op, res, before, next);
  return next;
}
function transition(res, row, name, c) {
  const spec = M.res[res];
  const t = spec.transitions[name];
  if (!t.from.includes(row[spec.state])) {
    if (t.else) refuseOwn(t.else);
    if (t.code) throw new Refusal('transition.illegal', { code: t.code });
    refuse('transition.illegal');
  }
  if (t.guard && !t.guard.ok(store, row, stock)) refuseOwn(t.guard.code);
  const next = { ...row };
  next[META] = { ...row[META], entered: now() };
  next[spec.state] = typeof t.to === 'function' ? t.to(c) : t.to;
  if (res === 'loan' && name === 'refuse' && !F('reason-not-kept')) next.reason = c.body.reason;
  if (res === 'loan' && name === 'collect') next.due_at = iso(now() + next.days * (F('due-in-weeks') ? 7 : 1) * 86400000 - (F('due-a-day-early') ? 86400000 : 0));
  if (res === 'repair' && name === 'start' && !F('mender-not-set')) next.mender = c.caller.id;
  if (res === 'repair' && name === 'glue') {
    if (!F('glue-not-kept')) next.glue = c.body.glue;
    next.dry_at = iso(now() + (F('drying-always-twelve') ? 12 : next.drying_hours) * 3600000);
  }
  if (res === 'entry' && name === 'post' && !F('posted-at-missing')) next.posted_at = iso(now());
  uniqueness(res, next);
  stamp(res, next);
  put(res, next[spec.id], next);
  emit(`${name} ${res}`, res, row, next);
  for (const act of t.then || []) {
    if (act.if && !act.if(row)) continue;
    transition(act.res, store[act.res].get(next[act.to]), act.do, c);
  }
  return next;
}
function removeRow(res, row) {
  const id = row[M.res[res].id];
  for (const [other, spec] of Object.entries(M.res)) {
    for (const [k, f] of Object.entries(spec.fields)) {
      if (f.ref !== res) continue;
      const held = [...store[other].values()].filter((r) => r[k] === id);
      if (!held.length) continue;
      if (other === 'loan' && F('loans-go-with-puppet')) { for (const r of held) drop(other, r.id); continue; }
      if (other === 'entry' && k === 'part' && F('entries-go-with-part')) { for (const r of held) drop(other, r.id); continue; }
      if (other === 'loan' || (other === 'entry' && k === 'part')) refuse('reference.held');
      if (other === 'repair' && F('repairs-hold-puppet')) refuse('reference.held');
      if (other === 'repair') for (const r of held) removeRow('repair', r);
      if (other === 'entry' && k === 'repair' && !F('entry-keeps-dead-repair')) {
        for (const r of held) { const n = { ...r }; delete n.repair; n[META] = r[META]; put('entry', r.id, n); }
      }
    }
  }
  drop(res, id);
  if (buried[res] && !F('part-not-kept')) {
    buried[res].set(id, { row, at: now() });
    tx.undo.push(() => buried[res].delete(id));
  }
}

// ---------------------------------------------------------------- what falls due

function tick() {
  const t = now();
  for (;;) {
    const due = [];
    for (const res of ['loan', 'repair']) {
      const spec = M.res[res];
      for (const row of store[res].values()) {
        const meta = row[META];
        for (const [name, tr] of Object.entries(spec.transitions)) {
          if (tr.after && tr.from.includes(row[spec.state]) && meta.entered + tr.after <= t) due.push({ at: meta.entered + tr.after, res, row, name });
          if (tr.at && tr.from.includes(row[spec.state]) && row[tr.at] && Date.parse(row[tr.at]) + (tr.late || 0) <= t && meta.fired[name] !== row[tr.at]) due.push({ at: Date.parse(row[tr.at]), res, row, name, value: row[tr.at] });
        }
        if (res === 'loan' && row.status === 'out' && row.due_at && !F('due-soon-never')) {
          const at = Date.parse(row.due_at) - (F('due-soon-early') ? 36 : 12) * 3600000;
          if (at <= t && meta.fired.due_soon !== row.due_at) due.push({ at, res, row, event: 'loan.due_soon', value: row.due_at });
        }
      }
    }
    if (!due.length) break;
    due.sort((a, b) => a.at - b.at);
    const d = due[0];
    if (d.value) d.row[META].fired[d.event ? 'due_soon' : d.name] = d.value;
    begin();
    if (d.event) tx.events.push({ k: M.kinds.find((k) => k.kind === d.event), res: d.res, before: d.row, next: d.row });
    else {
      try { transition(d.res, d.row, d.name, {}); } catch { rollback(); break; }
    }
    commit();
  }
  for (const [id, b] of buried.part) if (b.at + M.res.part.keep <= t) buried.part.delete(id);
  while (log.length && log[0].time + M.limits.streamKeep <= t) log.shift();
  for (const [k, v] of keys) if (v.at + v.keep <= t) keys.delete(k);
  pump();
}
const keys = new Map();

// ---------------------------------------------------------------- rates

const counted = M.limits.rates.map(() => new Map());
function rateState(i, who) {
  const rate = M.limits.rates[i];
  const t = now();
  let s = counted[i].get(who);
  if (!s) { s = rate.kind === 'bucket' ? { level: rate.limit, at: t } : rate.kind === 'fixed' ? { start: t, used: 0 } : { times: [] }; counted[i].set(who, s); }
  if (rate.kind === 'bucket') { s.level = Math.min(rate.limit, s.level + ((t - s.at) * rate.limit) / rate.window); s.at = t; }
  else if (rate.kind === 'fixed') { if (t >= s.start + rate.window) { s.start = t; s.used = 0; } }
  else s.times = s.times.filter((x) => x + rate.window > t);
  return s;
}
function tell(i, s) {
  const rate = M.limits.rates[i];
  const t = now();
  if (rate.kind === 'bucket') {
    const left = Math.floor(s.level + 1e-9);
    return { limit: rate.limit, left, reset: Math.max(1, Math.ceil(((left + 1 - s.level) * rate.window) / rate.limit / 1000)) };
  }
  if (rate.kind === 'fixed') return { limit: rate.limit, left: rate.limit - s.used, reset: Math.ceil((s.start + rate.window - t) / 1000) };
  return { limit: rate.limit, left: rate.limit - s.times.length, reset: s.times.length ? Math.ceil((s.times[0] + rate.window - t) / 1000) : 0 };
}
function rateStep(c, chosen) {
  const taken = [];
  const refused = [];
  for (const [i, who] of chosen) {
    const rate = M.limits.rates[i];
    const s = rateState(i, who);
    const cost = (rate.cost && rate.cost[c.route.op]) || 1;
    const room = rate.kind === 'bucket' ? s.level + 1e-9 >= cost : rate.kind === 'fixed' ? s.used + cost <= rate.limit : s.times.length + cost <= rate.limit;
    if (!room) {
      const wait = rate.kind === 'bucket' ? ((cost - s.level) * rate.window) / rate.limit : rate.kind === 'fixed' ? s.start + rate.window - now() : s.times[0] + rate.window - now();
      refused.push({ wait, told: tell(i, s) });
    }
    taken.push([i, s, cost]);
  }
  if (refused.length) {
    for (const back of c.giveBack) back();
    c.rate = refused.map((r) => r.told);
    const headers = F('no-retry-after') ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(Math.max(...refused.map((r) => r.wait)) / 1000))) };
    refuse('limit.rate', { headers });
  }
  for (const [i, s, cost] of taken) {
    const rate = M.limits.rates[i];
    if (rate.kind === 'bucket') { s.level -= cost; c.giveBack.push(() => { s.level += cost; }); }
    else if (rate.kind === 'fixed') { s.used += cost; c.giveBack.push(() => { s.used -= cost; }); }
    else { s.times.push(now()); c.giveBack.push(() => s.times.pop()); }
    c.rate.push(tell(i, s));
  }
}
function rateHeaders(c) {
  if (!c.rate.length || F('no-rate-headers')) return {};
  const r = c.rate.reduce((a, b) => (b.left < a.left ? b : a));
  return { 'X-Shed-Limit': String(r.limit), 'X-Shed-Left': String(F('left-never-falls') ? r.limit : Math.max(0, r.left)), 'X-Shed-Reset': String(F('reset-in-ms') ? r.reset * 1000 : F('reset-as-date') ? Math.floor(now() / 1000) + r.reset : r.reset) };
}
const quotaUsed = new Map();
const dayOf = (t) => iso(t).slice(0, 10);

// ---------------------------------------------------------------- routes

const compiled = M.routes.map((r) => ({ ...r, does: r.does || r.op, parts: r.p.split('/').slice(1) }));
function find(segments) {
  const hits = [];
  for (const r of compiled) {
    if (r.parts.length !== segments.length) continue;
    const params = {};
    if (r.parts.every((p, i) => (p[0] === '{' ? ((params[p.slice(1, -1)] = segments[i]), segments[i] !== '') : p === segments[i]))) hits.push({ r, params });
  }
  return hits;
}
function locate(c) {
  const raw = c.path.split('/').slice(1);
  let segs;
  try { segs = raw.map(decodeURIComponent); } catch { refuse('route.unknown'); }
  if (`/${segs[0]}` !== M.base) refuse('route.unknown');
  let version = segs[1];
  let hits = find(segs.slice(2));
  if (!hits.length) { hits = find(segs.slice(1)); version = undefined; }
  if (!hits.length && F('trailing-slash') && segs[segs.length - 1] === '') { version = segs[1]; hits = find(segs.slice(2, -1)); }
  if (version === 'v1') hits = hits.filter((h) => !h.r.since);
  if (!hits.length) refuse('route.unknown');
  c.version = version;
  if (version in M.versions) c.known = true;
  const methods = new Set(hits.map((h) => h.r.m));
  if (methods.has('GET')) methods.add('HEAD');
  methods.add('OPTIONS');
  const allow = [...methods].join(', ');
  const method = c.method === 'HEAD' ? 'GET' : c.method;
  if (c.method === 'OPTIONS') { c.options = allow; return; }
  const hit = hits.find((h) => h.r.m === method);
  if (!hit || (c.method === 'HEAD' && F('no-head'))) refuse('method.unsupported', { headers: F('no-allow') ? {} : { Allow: allow } });
  c.route = hit.r;
  c.params = hit.params;
  if (!c.known) {
    if (!version && F('version-defaults')) c.version = 'v2';
    else if (version && F('any-version-serves')) c.version = 'v2';
    else refuse('version.unknown');
  }
  const v = M.versions[c.version];
  if (v.sunset && now() >= Date.parse(v.sunset) && !F('v1-outlives-sunset')) refuse('version.sunset');
  const words = c.route.op;
  c.res = c.route.does === 'stream events' ? null : c.route.does.split(' ').pop();
  c.verb = c.route.does.split(' ')[0];
  c.op = words;
}

// ---------------------------------------------------------------- credentials

function challenge(c, bad) {
  const accept = c.route.accept || ['login', 'key'];
  const list = [];
  if (accept.includes('login')) list.push(`Basic realm="${REALM}", charset="UTF-8"${bad ? ', error="invalid_token"' : ''}`);
  if (accept.includes('key')) list.push(`Bearer realm="${REALM}"${bad ? ', error="invalid_key"' : ''}`);
  return F('no-challenge') ? {} : { 'WWW-Authenticate': list.join(', ') };
}
function identify(c) {
  const accept = c.route.accept || ['login', 'key'];
  const found = [];
  for (let i = 0; i < c.req.rawHeaders.length; i += 2) if (c.req.rawHeaders[i].toLowerCase() === 'authorization') found.push(c.req.rawHeaders[i + 1]);
  const bad = () => refuse('caller.unknown', { headers: challenge(c, true) });
  if (!found.length) {
    if (F('key-in-x-header') && c.req.headers['x-shed-key']) found.push(`Bearer ${c.req.headers['x-shed-key']}`);
    else {
      if (rulesFor(c.op, null).length) return null;
      refuse('caller.unknown.missing', { headers: challenge(c, false) });
    }
  }
  if (found.length > 1) bad();
  const m = /^(\S+) +(.*)$/.exec(found[0]);
  if (!m) bad();
  const kind = m[1].toLowerCase();
  let person;
  if (kind === 'basic' && accept.includes('login')) {
    let text;
    try { text = Buffer.from(m[2], 'base64').toString('utf8'); } catch { bad(); }
    person = M.people.find((p) => p.scheme === 'login' && (p.credential === text || (F('any-password') && p.id === text.split(':')[0])));
    c.basic = true;
  } else if ((kind === 'bearer' || (F('token-prefix') && kind === 'token')) && accept.includes('key')) {
    person = M.people.find((p) => p.scheme === 'key' && (p.credential === m[2] || (F('key-any-case') && p.credential.toLowerCase() === m[2].toLowerCase())));
  }
  if (!person && F('bad-key-is-nobody') && rulesFor(c.op, null).length) return null;
  if (!person) bad();
  return { id: person.id, user: person.user, scopes: person.scopes };
}

// ---------------------------------------------------------------- a request, step by step

function readBody(c) {
  const r = c.route;
  const takes = c.verb === 'create' || c.verb === 'update' || c.verb === 'upsert' || r.body;
  if (c.raw === null) refuse('limit.size');
  if (!takes) return undefined;
  if (!c.raw.length) {
    if (r.bodyOptional) return {};
    refuse('request.malformed');
  }
  const type = (c.req.headers['content-type'] || '').split(';')[0].trim().toLowerCase();
  const fine = type === 'application/json' || (c.verb === 'update' && type === 'application/merge-patch+json' && !F('no-merge-patch'));
  if (!fine && !F('any-media')) refuse('request.media');
  try { return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(c.raw)); } catch { return refuse('request.malformed'); }
}
function coerce(type, text) {
  if (type === 'integer') return /^-?(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  return text;
}
function readQuery(c) {
  const r = c.route;
  const fields = c.res ? fieldsIn(c.res, c.version) : {};
  const list = c.verb === 'list';
  const page = list ? r.page || M.limits.page : null;
  const bad = (name, condition = 'request.parameter') => refuse(condition, { violations: [{ in: 'query', path: name, kind: 'value' }] });
  const sent = new Map();
  const usp = new URLSearchParams(c.query);
  for (const [k, v] of usp) {
    const known = list && ((r.query && r.query[k]) || (r.sort && k === 'sort') || k === page.start || k === page.size);
    if (!known) { if (F('unknown-parameter-ignored')) continue; bad(k); }
    if (sent.has(k)) { if (!F('parameter-twice')) bad(k); }
    sent.set(k, v);
  }
  c.tests = [];
  const shown = (name) => {
    const rules = rulesFor(c.op, c.caller);
    return !rules.every((x) => x.fields) || rules.some((x) => x.fields.includes(name));
  };
  for (const [k, text] of sent) {
    const def = r.query && r.query[k];
    if (!def) continue;
    if (!shown(def.reads || def.field) && !F('mender-filters-hidden')) bad(k);
    if (def.field) {
      const f = fields[def.field];
      const values = def.split ? text.split(',') : [text];
      const made = values.map((t) => {
        const v = coerce(f.t, t);
        if (v === undefined || (f.enum && !f.enum.includes(v) && !F('filter-value-unchecked'))) bad(k);
        return up(c.res, { [def.field]: v }, c.version)[def.field];
      });
      if (F(`filter-${c.res}-${k}-ignored`)) continue;
      c.tests.push((row) => (F('split-first-only') && def.split ? row[def.field] === made[0] : made.includes(row[def.field])));
    } else {
      if (def.enum && !def.enum.includes(text)) bad(k);
      const v = coerce(def.type || 'string', text);
      if (v === undefined) bad(k);
      c.tests.push((row) => def.test(row, v));
    }
  }
  if (list) {
    c.order = r.order || null;
    if (sent.has('sort')) {
      const text = sent.get('sort');
      let name = text.replace(/^-/, '');
      if (r.renameSort && c.version === 'v1' && !F('v1-sort-new-name')) name = name === 'tall_mm' ? 'height_mm' : name === 'height_mm' ? '?' : name;
      if (!Object.prototype.hasOwnProperty.call(r.sort, name)) bad('sort');
      c.order = [r.sort[name], text[0] === '-' && !F('sort-never-descends') ? -1 : 1];
    }
    const num = (name, low) => {
      if (!sent.has(name)) return undefined;
      const v = coerce('integer', sent.get(name));
      if (v === undefined || v < low) bad(name, 'limit.page');
      return v;
    };
    let size = num(page.size, 1);
    const start = num(page.start, page.style === 'page' ? 1 : 0);
    if (size !== undefined && size > page.max) { if (page.clamp) size = page.max; else bad(page.size, 'limit.page'); }
    c.page = { ...page, n: size === undefined ? page.def : size, from: start };
    c.sent = [...sent];
  }
  if (r.key) {
    const k = c.req.headers[r.key.header];
    if (k === undefined && r.key.required && !F('key-not-required')) refuse('request.parameter', { violations: [{ in: 'header', path: 'Idempotency-Key', kind: 'missing' }] });
    c.key = k;
  }
}
function etagOf(c, body) {
  return `"${crypto.createHash('sha256').update(`${c.version}\n${F('tag-stays') ? body.slug || body.id : JSON.stringify(body)}`).digest('hex').slice(0, 24)}"`;
}
function parseTags(text) { return text.split(',').map((t) => t.trim()).filter(Boolean); }

function loadRow(c) {
  const { res } = c;
  const spec = M.res[res];
  let id;
  if (c.route.own) id = c.caller.id;
  else {
    const text = Object.values(c.params).pop();
    id = spec.fields[spec.id].t === 'integer' ? (/^[1-9]\d*$/.test(text) ? Number(text) : -1) : text;
  }
  const row = store[res].get(id);
  if (!row && buried[res] && buried[res].has(id) && mayRead(res, buried[res].get(id).row, c.caller)) refuse(F('gone-is-missing') ? 'resource.missing' : 'resource.gone');
  return { id, row };
}
function mustRow(c) {
  const { row } = loadRow(c);
  if (!row || !mayRead(c.res, row, c.caller)) {
    if (row && F('hidden-is-forbidden')) refuse('caller.forbidden');
    if (!(row && F('strangers-read-loans') && c.op === 'read loan')) refuse('resource.missing');
  }
  const rules = rulesFor(c.op, c.caller).filter((r) => hasScopes(r, c.caller));
  if (!rules.some((r) => holds(r, row, c.caller)) && !(F('strangers-read-loans') && c.op === 'read loan')) {
    const told = rules.find((r) => r.else);
    if (told) throw new Refusal('own', { code: told.else });
    refuse('caller.forbidden');
  }
  return row;
}
function precondition(c, row) {
  const r = c.route;
  if (!r.match) return;
  const text = c.req.headers['if-match'];
  if (text === undefined) {
    if (r.match === 'required') refuse('precondition.required');
    return;
  }
  if (!row) refuse('precondition.failed');
  if (text.trim() === '*') return;
  const mine = etagOf(c, show(c.res, full(c.res, row), c.caller, c.version));
  const open = etagOf(c, show(c.res, full(c.res, row), null, c.version));
  const tags = parseTags(text);
  if (!tags.includes(mine) && !(tags.includes(open) && mayRead(c.res, row, null)) && !(F('weak-tag-fits') && tags.includes(`W/${mine}`)) && !F('if-match-ignored')) refuse('precondition.failed');
}
function ownErrors(c, next) {
  if (c.op === 'create loan' || c.op === 'create repair') {
    if (store.puppet.get(next.puppet).status === 'retired' && !F(`retired-puppet-${c.res}`)) refuseOwn('puppet_retired');
  }
  if (c.op === 'create loan') {
    const card = store.card.get(c.caller.id);
    if (card && card.stopped && !F('stopped-card-borrows')) refuseOwn('card_stopped');
  }
  if (c.op === 'create loan' || (c.op === 'update loan' && !F('uninsured-by-update'))) {
    if (next.days > M.limits.uninsured && !next.insured) refuseOwn('long_uninsured');
  }
}
const linkTo = (c, res, id) => `${M.base}/${c.version}/${{ puppet: 'puppets', loan: 'loans', repair: 'repairs', part: 'parts', entry: 'entries', card: 'cards', hook: 'hooks' }[res]}/${id}`;

function answerRow(c, status, row, made) {
  const body = show(c.res, full(c.res, row), c.caller, c.version, made || F('secret-always-shown'));
  const out = { status, body, headers: {} };
  if (c.route.etag && !F('no-etag')) out.headers.ETag = etagOf(c, body);
  if (c.route.cache && !F('no-cache-header')) out.headers['Cache-Control'] = c.route.cache;
  if (status === 201 && !F('no-location')) out.headers.Location = F('location-without-version') ? linkTo(c, c.res, row[M.res[c.res].id]).replace(`/${c.version}`, '') : linkTo(c, c.res, row[M.res[c.res].id]);
  if (made && made !== 'upsert' && F('created-200')) out.status = 200;
  return out;
}

function perform(c) {
  const { res, verb } = c;
  if (verb === 'list') return list(c);
  if (verb === 'read') {
    const row = mustRow(c);
    return answerRow(c, 200, row);
  }
  if (verb === 'create') {
    let bound = null;
    if (c.route.parent) {
      const id = parentOf(c);
      bound = { [c.route.parent]: id };
    }
    const next = take(c, 'create', null, bound);
    ownErrors(c, next);
    const made = create(res, next, c);
    spend(c, made);
    return answerRow(c, 201, made, true);
  }
  if (verb === 'upsert') {
    const spec = M.res[res];
    const id = Object.values(c.params).pop();
    const row = store[res].get(id);
    precondition(c, row);
    const f = spec.fields[spec.id];
    const wrong = [];
    check(f, id, `/${spec.id}`, wrong);
    invalid(wrong);
    const next = take(c, row ? 'replace' : 'create', row || null, { [spec.id]: id });
    if (!row) {
      c.emitAs = `upsert ${res}`;
      return answerRow(c, F('upsert-always-200') ? 200 : 201, create(res, next, c), 'upsert');
    }
    const changed = same(row, next) && !F('same-put-counts') ? row : change(res, row, next, `upsert ${res}`);
    return answerRow(c, F('upsert-always-201') ? 201 : 200, changed);
  }
  const row = mustRow(c);
  if (verb === 'update') {
    precondition(c, row);
    const next = take(c, 'update', row, null);
    inStates(c, row);
    ownErrors(c, next);
    const changed = same(row, next) && !F('same-patch-counts') ? row : change(res, row, next, `update ${res}`);
    return answerRow(c, 200, F('patch-answers-old') && res === 'card' ? row : changed);
  }
  if (verb === 'delete') {
    precondition(c, row);
    inStates(c, row);
    removeRow(res, row);
    return { status: F('delete-200') ? 200 : 204, headers: {}, body: F('delete-200') ? {} : undefined };
  }
  if (c.route.body) {
    const out = [];
    if (!c.body || typeof c.body !== 'object' || Array.isArray(c.body)) invalid([{ in: 'body', path: '', kind: 'type' }]);
    for (const [k, v] of Object.entries(c.body)) if (c.route.body[k]) check(c.route.body[k], v, `/${k}`, out);
    for (const [k, f] of Object.entries(c.route.body)) if (f.req && !(k in c.body)) out.push({ in: 'body', path: `/${k}`, kind: 'missing' });
    invalid(out);
  }
  const moved = transition(res, row, verb, c);
  if (c.route.data) return { status: 200, headers: {}, body: c.route.data(row, moved) };
  return answerRow(c, 200, moved);
}
function inStates(c, row) {
  if (c.route.in && !c.route.in.includes(row.status)) refuse('transition.illegal');
}
function parentOf(c) {
  const id = c.params[c.route.parent];
  const res = c.route.parent;
  if (store[res].has(id)) return id;
  if (buried[res] && buried[res].has(id)) refuse('resource.gone');
  return refuse('resource.missing');
}
function spend(c, made) {
  const quota = M.limits.quota;
  if (c.op === quota.op && c.caller.user === quota.to) {
    const name = `${c.caller.id} ${F('quota-by-hour') ? iso(now()).slice(0, 13) : dayOf(now())}`;
    const used = quotaUsed.get(name) || 0;
    if (used >= quota.limit) {
      const day = new Date(now());
      const end = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + 1);
      refuse('limit.quota', { headers: F('quota-without-retry-after') ? {} : { 'Retry-After': String(Math.ceil((end - now()) / 1000)) } });
    }
    quotaUsed.set(name, used + 1);
    tx.undo.push(() => quotaUsed.set(name, used));
  }
  if (c.res === 'hook') {
    const mine = [...store.hook.values()].filter((h) => F('hooks-counted-together') || h.owner === made.owner).length;
    if (mine > M.limits.hooks) refuse('limit.quota');
  }
}
function list(c) {
  const { res } = c;
  let rows = [...store[res].values()];
  if (c.route.parent) { const id = parentOf(c); if (!F('entries-of-all-parts')) rows = rows.filter((r) => r[c.route.parent] === id); }
  const rules = rulesFor(c.op, c.caller).filter((r) => hasScopes(r, c.caller));
  rows = rows.filter((r) => rules.some((x) => holds(x, r, c.caller)) || (F('list-shows-all-loans') && res === 'loan'));
  rows = rows.map((r) => { const x = full(res, r); x[META] = r[META]; return x; });
  rows = rows.filter((r) => c.tests.every((t) => t(r)));
  rows.sort((a, b) => a[META].seq - b[META].seq);
  if (c.order) {
    const [field, way] = c.order;
    const cmp = (a, b) => (a[field] < b[field] ? -way : a[field] > b[field] ? way : 0);
    rows.sort(cmp);
  }
  const { page } = c;
  const total = rows.length;
  const from = page.style === 'page' ? ((page.from || 1) - 1) * page.n : page.from || 0;
  const items = rows.slice(from + (F('page-skips-one') && from ? 1 : 0), from + page.n).map((r) => show(res, r, c.caller, c.version));
  const out = { status: 200, headers: {} };
  if (page.style === 'page') {
    out.body = { [page.items]: items, [page.total]: F('total-of-page') ? items.length : total };
    out.body[page.more] = F('more-always') ? true : from + page.n < total;
    return out;
  }
  out.body = F('list-in-envelope') ? { items } : items;
  const address = (at) => {
    const q = new URLSearchParams(c.sent.filter(([k]) => k !== page.start && !(F('link-loses-filters') && k !== page.size)));
    if (at !== null) q.set(page.start, String(at));
    const s = q.toString();
    return c.path + (s ? `?${s}` : '');
  };
  const links = [];
  if (from + page.n < total) links.push(`<${address(from + page.n)}>; rel="next"`);
  if (from > 0 && !F('link-without-prev')) links.push(`<${address(Math.max(0, from - page.n))}>; rel="prev"`);
  if (!F('link-without-first')) links.push(`<${address(0)}>; rel="first"`);
  c.links.push(...(F('no-link') ? [] : links));
  return out;
}

function crossSite(c) {
  if (!c.basic || ['GET', 'HEAD', 'OPTIONS'].includes(c.method)) return false;
  const site = c.req.headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = c.req.headers.origin;
  if (origin === undefined) return false;
  try { return new URL(origin).host !== c.req.headers.host; } catch { return true; }
}

function run(c) {
  const { req } = c;
  if (Buffer.byteLength(req.url) > M.limits.url) refuse('limit.size.url');
  let size = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i]) + Buffer.byteLength(req.rawHeaders[i + 1]) + 4;
  if (size > M.limits.headers) refuse('limit.size');
  locate(c);
  if (c.options) return { status: 204, headers: { Allow: c.options } };
  rateStep(c, M.limits.rates.map((r, i) => [i, c.address, r]).filter(([, , r]) => r.per === 'address').map(([i, w]) => [i, w]));
  c.caller = identify(c);
  const who = c.caller ? `${c.caller.user} ${c.caller.id}` : c.address;
  rateStep(c, M.limits.rates.map((r, i) => [i, r]).filter(([, r]) => r.per === 'caller' && (!r.on || r.on.includes(c.op)) && (!r.to || (c.caller && c.caller.user === r.to))).map(([i]) => [i, F('hook-rate-shared') ? 'all' : who]));
  if (crossSite(c) && !F('cross-site-writes')) refuse('caller.forbidden');
  const rules = rulesFor(c.op, c.caller);
  if (!rules.length) refuse('caller.forbidden');
  if (!rules.some((r) => hasScopes(r, c.caller))) refuse('caller.forbidden.scope');
  c.body = readBody(c);
  readQuery(c);
  if (c.verb === 'stream') return { stream: true };
  let record = null;
  if (c.key !== undefined && !F('key-ignored')) {
    const name = `${F('key-shared') ? '' : who}\n${c.op}\n${c.key}`;
    const print = JSON.stringify([c.path, c.query, c.version, F('key-body-ignored') ? null : sortKeys(c.body)]);
    const kept = keys.get(name);
    if (kept && kept.print !== print) refuse('idempotency.reused');
    if (kept) return { ...kept.answer, headers: { ...kept.answer.headers } };
    record = (answer) => keys.set(name, { print, answer, at: now(), keep: c.route.key.keep });
  }
  begin();
  try {
    const answer = perform(c);
    commit();
    if (record) record(answer);
    return answer;
  } catch (e) {
    if (tx) rollback();
    if (record && e instanceof Refusal && e.kept && !F('own-errors-not-replayed')) {
      const b = refusalBody(e, c.id);
      record({ status: b.status, body: b.body, headers: { 'X-Shed-Error': b.code } });
    }
    throw e;
  }
}

function openStream(c, res) {
  const send = (event) => {
    const data = envelope(event, c.caller, c.version);
    res.write(`${F('stream-without-id') ? '' : `id: ${event.id}\n`}event: ${F('stream-event-message') ? 'message' : event.kind}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const me = { caller: c.caller, send };
  const last = c.req.headers['last-event-id'];
  if (last !== undefined && !F('last-event-id-ignored')) {
    const at = log.findIndex((e) => e.id === last);
    for (const e of log.slice(at + 1)) if (e.hears(c.caller)) send(e);
  }
  streams.add(me);
  const beat = setInterval(() => res.write(': still here\n\n'), 15000);
  res.on('close', () => { streams.delete(me); clearInterval(beat); });
}

function deprecation(c) {
  const v = c.known && M.versions[c.version];
  if (!v || !v.deprecated) return {};
  const headers = {};
  if (!F('no-deprecation')) headers.Deprecation = F('deprecation-true') ? 'true' : `@${Date.parse(v.deprecated) / 1000}`;
  if (!F('no-sunset')) headers.Sunset = new Date(Date.parse(v.sunset)).toUTCString();
  c.links.push(`<${v.link}>; rel="deprecation"`);
  if (!F('no-successor-link')) c.links.push(`<${c.req.url.replace(`${M.base}/v1`, `${M.base}/v2`)}>; rel="successor-version"`);
  return headers;
}

function handle(req, res, raw) {
  tick();
  const [path, ...rest] = req.url.split('?');
  const c = { req, raw, method: req.method, path, query: rest.join('?'), address: req.socket.remoteAddress, id: crypto.randomUUID(), rate: [], links: [], giveBack: [] };
  let answer;
  try {
    answer = run(c);
  } catch (e) {
    const r = e instanceof Refusal ? e : new Refusal('internal');
    if (!(e instanceof Refusal)) process.stderr.write(`${e.stack}\n`);
    const b = refusalBody(r, c.id);
    c.links = [];
    answer = { status: b.status, body: b.body, headers: { ...r.headers, ...(F('no-error-header') ? {} : { 'X-Shed-Error': b.code }) } };
  }
  const headers = { ...(F('no-request-header') ? {} : { 'X-Shed-Request': c.id }), ...deprecation(c), ...rateHeaders(c), ...(F('no-vary') ? {} : { Vary: 'Authorization' }), ...answer.headers };
  if (c.links.length) headers.Link = c.links.join(', ');
  if (answer.stream) {
    if (req.method === 'HEAD') { res.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' }); res.end(); return; }
    res.writeHead(200, { ...headers, 'Content-Type': F('stream-as-json') ? 'application/json' : 'text/event-stream', 'Cache-Control': 'no-store' });
    res.write(': open\n\n');
    openStream(c, res);
    return;
  }
  const tag = headers.ETag;
  const given = req.headers['if-none-match'];
  if (tag && given !== undefined && answer.status === 200 && (req.method === 'GET' || req.method === 'HEAD') && !F('no-304')) {
    const fits = given.trim() === '*' || parseTags(given).some((t) => t.replace(/^W\//, '') === tag);
    if (fits) { res.writeHead(304, headers); res.end(); tick(); return; }
  }
  if (answer.body === undefined) { res.writeHead(answer.status, headers); res.end(); } else {
    const text = JSON.stringify(answer.body);
    res.writeHead(answer.status, { ...headers, 'Content-Type': F('content-type-text') ? 'text/plain' : 'application/json', 'Content-Length': Buffer.byteLength(text) });
    res.end(req.method === 'HEAD' ? undefined : text);
  }
  tick();
}

const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: M.limits.request, headersTimeout: M.limits.request, keepAliveTimeout: M.limits.idle, connectionsCheckingInterval: 500 }, (req, res) => {
  const parts = [];
  let size = 0;
  req.on('data', (d) => { size += d.length; if (size <= M.limits.body) parts.push(d); });
  req.on('end', () => handle(req, res, size > M.limits.body ? null : Buffer.concat(parts)));
});
server.on('clientError', (e, socket) => {
  if (!socket.writable) { socket.destroy(); return; }
  const late = e.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const big = e.code === 'HPE_HEADER_OVERFLOW';
  const id = crypto.randomUUID();
  const b = refusalBody(new Refusal(late ? 'limit.time' : big ? 'limit.size' : 'request.malformed'), id);
  const text = JSON.stringify(b.body);
  socket.end(`HTTP/1.1 ${b.status} ${http.STATUS_CODES[b.status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nX-Shed-Error: ${b.code}\r\nX-Shed-Request: ${id}\r\nConnection: close\r\n\r\n${text}`);
});
server.on('checkContinue', (req, res) => { res.writeContinue(); server.emit('request', req, res); });

// ---------------------------------------------------------------- the clock door

function later(ms, text) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!m || text === 'P' || text.endsWith('T')) return null;
  const n = m.slice(1).map((x) => Number(x || 0));
  const d = new Date(ms);
  if (n[0] || n[1]) {
    const day = d.getUTCDate();
    d.setUTCDate(1);
    d.setUTCMonth(d.getUTCMonth() + n[0] * 12 + n[1]);
    const last = new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate();
    d.setUTCDate(Math.min(day, last));
  }
  return d.getTime() + (n[2] * 7 + n[3]) * 86400000 + n[4] * 3600000 + n[5] * 60000 + n[6] * 1000;
}
const door = http.createServer((req, res) => {
  let text = '';
  req.on('data', (d) => { text += d; });
  req.on('end', () => {
    const say = (status, body) => { res.writeHead(status, { 'Content-Type': 'application/json' }); res.end(JSON.stringify(body)); };
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    if (req.method !== 'POST') return say(400, { error: 'GET or POST' });
    let ask;
    try { ask = JSON.parse(text); } catch { return say(400, { error: 'no JSON' }); }
    let to = null;
    if (ask && typeof ask.advance === 'string') to = later(now(), ask.advance);
    else if (ask && typeof ask.now === 'string' && /^\d{4}-\d\d-\d\dT/.test(ask.now)) to = Date.parse(ask.now);
    if (to === null || Number.isNaN(to)) return say(400, { error: 'advance or now' });
    if (to < now()) return say(422, { error: 'that time has passed' });
    ahead += to - now();
    tick();
    setTimeout(() => { tick(); say(200, { now: iso(now()) }); }, 25);
    return undefined;
  });
});

begin();
for (const card of M.cards) { const row = { ...card }; row[META] = { seq: ++sequence, entered: now(), fired: {} }; put('card', row.id, row); }
commit();
setInterval(tick, 250).unref();
server.listen(Number(args.port), '127.0.0.1', () => {
  if (args['clock-port']) door.listen(Number(args['clock-port']), '127.0.0.1', () => process.stdout.write('listening\n'));
  else process.stdout.write('listening\n');
});
