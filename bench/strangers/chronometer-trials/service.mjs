// The trials office: node:http, one event loop, all in memory, one clock.
import http from 'node:http';
import { createHmac, createHash, randomBytes, randomInt } from 'node:crypto';

const arg = (n) => { const i = process.argv.indexOf(n); return i < 0 ? undefined : process.argv[i + 1]; };
const PORT = Number(arg('--port')), DOOR = Number(arg('--clock-port')), FAULT = arg('--fault');
const bug = (id) => FAULT === id;

// ------------------------------------------------------------------ clock
let offset = 0, frozen = null;
const S = 1000, M = 60 * S, H = 60 * M, D = 24 * H;
const now = () => frozen ?? Date.now() + offset;
const iso = (t) => new Date(t).toISOString();

// ------------------------------------------------------------------ callers
const SECRET = process.env.DOCKYARD_SECRET ?? 'longitude-act-1714-twenty-thousand-pounds';
const KEYS = {
  deposit: {
    dep_A7rnoldChronoMaker00aa01: { user: 'maker', id: 'arnold', scopes: ['deposit', 'trials'], claims: {} },
    dep_K3ndallLarcumMaker00bb02: { user: 'maker', id: 'kendall', scopes: ['deposit', 'trials'], claims: {} },
    dep_M9udgeThomasMaker000cc03: { user: 'maker', id: 'mudge', scopes: ['deposit', 'trials'], claims: {} },
    dep_H1arrisonJohnMaker00dd04: { user: 'maker', id: 'harrison', scopes: ['trials'], claims: {} },
  },
  warrant: {
    war_A1ryGeorgeObserver00ee05: { user: 'rater', id: 'airy', scopes: [], claims: {} },
    war_D2unkinEdwinObserver0ff06: { user: 'rater', id: 'dunkin', scopes: [], claims: {} },
  },
};
const USERS = ['maker', 'rater', 'purser'];
function readPass(token) {
  const p = token.split('.');
  if (p.length !== 3) return null;
  let head, claims;
  try { head = JSON.parse(Buffer.from(p[0], 'base64url')); claims = JSON.parse(Buffer.from(p[1], 'base64url')); } catch { return null; }
  if (!head || head.alg !== 'HS256' || !claims || typeof claims !== 'object') return null;
  if (createHmac('sha256', SECRET).update(p[0] + '.' + p[1]).digest('base64url') !== p[2]) return null;
  if (claims.iss !== 'https://dockyards.example') return null;
  if (![].concat(claims.aud).includes('chronometers') && !bug('aud-any')) return null;
  const t = now() / 1000;
  if (typeof claims.exp !== 'number' || (claims.nbf !== undefined && !(claims.nbf <= t + 5))) return null;
  if (typeof claims.sub !== 'string' || !claims.sub || !USERS.includes(claims.post)) return null;
  if (claims.exp <= t - 5 && !bug('pass-for-ever')) return 'expired';
  return { user: claims.post, id: claims.sub, scopes: typeof claims.scope === 'string' ? claims.scope.split(' ') : [], claims };
}
const rawCount = (req, name) => req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === name).length;
function identify(req, accept) {
  const found = [], bad = new Set();
  let expired = false;
  if (accept.includes('deposit') && req.headers['x-deposit-key'] !== undefined) {
    const c = rawCount(req, 'x-deposit-key') === 1 && Object.hasOwn(KEYS.deposit, req.headers['x-deposit-key']) ? KEYS.deposit[req.headers['x-deposit-key']] : null;
    if (c) found.push(c); else bad.add('deposit');
  }
  const a = req.headers.authorization;
  if (a !== undefined) {
    const m = /^(\S+) +(\S+)$/.exec(a), word = m ? m[1].toLowerCase() : a.toLowerCase().trim();
    const scheme = word === 'warrant' ? 'warrant' : word === 'bearer' ? 'pass' : 'none';
    let c = null;
    if (rawCount(req, 'authorization') === 1 && m && accept.includes(scheme)) c = scheme === 'warrant' ? (Object.hasOwn(KEYS.warrant, m[2]) ? KEYS.warrant[m[2]] : null) : readPass(m[2]);
    if (c === 'expired') { expired = true; bad.add(scheme); } else if (c) found.push(c); else bad.add(scheme);
  }
  const same = found.every((c) => c.user === found[0].user && c.id === found[0].id);
  if (bad.size === 0 && found.length && same) return { caller: { ...found[0], scopes: found.flatMap((c) => c.scopes) } };
  if (!same) { bad.add('deposit'); bad.add('warrant'); }
  const realm = 'realm="Chronometer Trials"', e = (s, w) => (bad.has(s) ? `, error="${w}"` : '');
  const challenge = { deposit: `ApiKey ${realm}, in="header", name="X-Deposit-Key"${e('deposit', 'invalid_key')}`, warrant: `Warrant ${realm}${e('warrant', 'invalid_key')}`, pass: `Bearer ${realm}${e('pass', 'invalid_token')}` };
  return { code: expired && bad.size === 1 && !bug('stale-plain') ? 'stale_pass' : 'who_goes', challenge: accept.map((s) => challenge[s]).join(', ') };
}

// ------------------------------------------------------------------ shapes
const str = (o) => ({ t: 'string', ...o }), int = (o) => ({ t: 'integer', ...o }), num = (o) => ({ t: 'number', ...o });
const RO = { ro: true }, stamp = { t: 'string', format: 'date-time', ro: true };
const SHAPES = {
  chronometer: {
    id: str({ ro: true, req: true }), serial: str({ req: true, pattern: bug('serial-short') ? /^[A-Z]{2}[0-9]{2,6}$/ : /^[A-Z]{2}[0-9]{3,6}$/, old: 'number' }), maker: str({ ...RO, req: true }),
    calibre: { t: 'string', enum: ['marine_box', 'deck', 'pocket'], req: true, oldEnum: { marine_box: 'box' } },
    escapement: { t: 'string', enum: ['detent', 'lever'], def: bug('lever-default') ? 'lever' : 'detent', req: true, since: true },
    jewels: int({ min: 7, max: bug('jewels-max') ? 32 : 31, req: true }), beat_hz: num({ above: bug('beat-zero') ? -0.25 : 0, max: 10, step: bug('beat-step') ? 0.25 : 0.5 }), remark: str({ minLen: 1, maxLen: bug('remark-long') ? 61 : 60 }),
    asking_price: int({ min: 0, max: 900000, vis: ['maker', 'purser'] }), cased_on: str({ format: 'date' }), condition: str({ ...RO, req: true, enum: ['shelved', 'on_test', 'withdrawn', 'returned'] }),
    trials_run: int({ ...RO, req: true }), deposited_at: { ...stamp, req: true }, amended_at: { ...stamp, req: true },
  },
  trial: {
    id: str({ ...RO, req: true }), chronometer: str({ ref: 'chronometer', imm: true, req: true }), owner: str({ ...RO, req: true }), number: int({ ...RO, req: true }), class: { t: 'string', enum: ['A', 'B', 'C'], req: true },
    days: int({ min: 1, max: 45, def: 30, req: true }), oven_temps: { t: 'array', items: int({ min: 0, max: 45 }), minItems: 1, maxItems: bug('oven-five') ? 5 : 4, unique: !bug('oven-twice') },
    sealed_note: str({ maxLen: 80, vis: ['rater'], wr: bug('note-by-maker') ? ['rater', 'maker'] : ['rater'] }), phase: str({ ...RO, req: true, enum: ['planned', 'running', 'finished', 'certified', 'failed', 'void', 'expired'] }),
    void_reason: str(RO), opened_by: str(RO), opened_at: stamp, valid_until: stamp, readings_taken: int({ ...RO, req: true }), gross_ms: int({ ...RO, req: true }), booked_at: { ...stamp, req: true },
  },
  reading: {
    id: str({ ...RO, req: true }), trial: str({ ref: 'trial', imm: true, req: true }), owner: str({ ...RO, req: true }), day: int({ min: 1, max: 45, req: true }), error_ms: int({ min: -600000, max: 600000, req: true, old: 'error', milli: true }),
    temp_c: num({ min: -10, max: 50 }), sky: { t: 'string', enum: ['clear', 'cloud', 'fog'] }, pin: str({ pattern: /^[0-9]{4}$/, wo: true }), observer: str({ ...RO, req: true }),
    taken_at: str({ format: 'date-time', req: true }), noted_at: { ...stamp, req: true },
  },
  hook: {
    id: str({ ...RO, req: true }), owner: str({ ...RO, req: true }), url: str({ format: 'uri', maxLen: 200, req: true }), secret: str({ ...RO, once: true }), topics: { t: 'array', items: str({ topic: true }), maxItems: 10 },
    active: { t: 'boolean', def: true, req: true }, label: str({ maxLen: 30 }), made_at: { ...stamp, req: true },
  },
};
const TOPICS = ['chronometer.deposited', 'chronometer.rejewelled', 'trial.opened', 'trial.judged', 'trial.ended', 'reading.noted', 'reading.struck'];
const isDate = (s) => {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s);
  if (!m) return false;
  if (bug('date-loose')) return +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= 31;
  const d = new Date(Date.UTC(+m[1], +m[2] - 1, +m[3]));
  if (+m[1] < 100) d.setUTCFullYear(+m[1]);
  return d.getUTCMonth() === +m[2] - 1 && d.getUTCDate() === +m[3] && +m[3] > 0;
};
const isDateTime = (s) => {
  const m = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(s);
  return !!m && isDate(m[1]) && +m[2] < 24 && +m[3] < 60 && +m[4] < 60 && (m[6].length === 1 || (+m[6].slice(1, 3) < 24 && +m[6].slice(4) < 60));
};
const isUri = (s) => { if (!/^https?:\/\/[^\s<>"{}|\\^`]+$/i.test(s)) return false; try { return !!new URL(s).hostname; } catch { return false; } };
const kind = (v) => (v === null ? 'null' : Array.isArray(v) ? 'a list' : typeof v === 'object' ? 'a map' : typeof v === 'string' ? JSON.stringify(v).slice(0, 60) : String(v));
const FORMATS = { date: isDate, 'date-time': isDateTime, uri: isUri };
/** What is wrong with a value: a list of [path, what is expected]. */
function wrongs(f, v, path = '') {
  const no = (expected) => [[path, expected, v]];
  if (f.t === 'string') {
    if (typeof v !== 'string') return no('a text');
    if (f.enum && !f.enum.includes(v)) return no('one of ' + f.enum.join(', '));
    const n = [...v].length;
    if (f.minLen > n) return no(`${f.minLen} characters or more`);
    if (f.maxLen < n) return no(`${f.maxLen} characters at the most`);
    if (f.pattern && !f.pattern.test(v)) return no('a text like ' + f.pattern.source);
    if (f.format && !FORMATS[f.format](v)) return no('a ' + f.format);
    if (f.topic && !(v === '*' || TOPICS.includes(v) || (v.endsWith('.*') && TOPICS.some((k) => k.startsWith(v.slice(0, -1)))))) return no('a kind of event');
  } else if (f.t === 'integer' || f.t === 'number') {
    if (typeof v !== 'number' || (f.t === 'integer' && !Number.isInteger(v))) return no('a ' + f.t);
    if (v < f.min || v > f.max || v <= f.above) return no('a number within its bounds');
    if (f.step && !Number.isInteger(v / f.step)) return no('a multiple of ' + f.step);
  } else if (f.t === 'boolean') { if (typeof v !== 'boolean') return no('true or false');
  } else if (f.t === 'array') {
    if (!Array.isArray(v)) return no('a list');
    if (v.length < f.minItems || v.length > f.maxItems) return no('a list of another length');
    const inner = v.flatMap((x, i) => wrongs(f.items, x, `${path}/${i}`));
    if (!inner.length && f.unique && new Set(v).size < v.length) return no('items that differ');
    return inner;
  }
  return [];
}
const halfAway = (x) => Math.sign(x) * Math.round(Math.abs(x)) || 0;
const outName = (name, f, ed) => (ed === 'r1' && f.old ? f.old : name);
/** The shape of a field as the edition has it. */
function inEdition(f, ed) {
  if (ed !== 'r1') return f;
  if (f.oldEnum) return { ...f, enum: f.enum.map((v) => f.oldEnum[v] ?? v) };
  if (f.milli) return { ...f, t: 'number', min: -600, max: 600 };
  return f;
}
const up = (f, v, ed) => (ed !== 'r1' ? v : f.oldEnum ? (Object.keys(f.oldEnum).find((k) => f.oldEnum[k] === v) ?? v) : f.milli ? halfAway(v * 1000) : v);
const down = (f, v, ed) => (ed !== 'r1' ? v : f.oldEnum ? (f.oldEnum[v] ?? v) : f.milli ? v / 1000 : v);

// ------------------------------------------------------------------ rows
const rows = { chronometer: new Map(), trial: new Map(), reading: new Map(), hook: new Map() };
const counters = new Map();
let seq = 0;
const pick = (n, set) => Array.from({ length: n }, () => set[randomInt(set.length)]).join('');
const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789', ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ' + LOWER;
const NEWID = { chronometer: () => 'CH-' + randomBytes(5).toString('hex'), trial: () => 'tr_' + randomBytes(6).toString('hex'), reading: () => 'rd_' + pick(10, LOWER), hook: () => 'hk_' + randomBytes(4).toString('hex') };
const readingsOf = (id) => [...rows.reading.values()].filter((r) => r.f.trial === id);
const trialsOf = (id) => [...rows.trial.values()].filter((r) => r.f.chronometer === id);
/** The fields of a row with what is derived. */
function full(res, row) {
  if (res === 'chronometer') return { ...row.f, trials_run: trialsOf(row.id).filter((t) => !bug('void-uncounted') || t.f.phase !== 'void').length };
  if (res === 'trial') {
    const rs = readingsOf(row.id).map((r) => r.f);
    return { ...row.f, readings_taken: rs.length, gross_ms: rs.reduce((s, r) => s + (bug('gross-absolute') ? Math.abs(r.error_ms) : r.error_ms), 0) };
  }
  return row.f;
}
const PURSER_SEES = ['id', 'chronometer', 'number', 'class', 'phase', 'valid_until', 'gross_ms', 'booked_at'];
/** May this user ever see the field? */
const sees = (res, name, user) => { const f = SHAPES[res][name]; return !f.wo && (!f.vis || f.vis.includes(user)) && !(res === 'trial' && user === 'purser' && !PURSER_SEES.includes(name)); };
function view(res, row, caller, ed, first) {
  const all = full(res, row), out = {};
  for (const [name, f] of Object.entries(SHAPES[res])) {
    const v = all[name];
    if (v === undefined || (f.once && !first && !(bug('secret-again') && first === undefined))) continue;
    if (ed === 'r1' && f.since && !bug('escapement-early')) continue;
    let shown = sees(res, name, caller.user);
    if (bug('price-to-rater') && name === 'asking_price') shown = true;
    if (bug('pin-shown') && name === 'pin') shown = true;
    if (bug('purser-sees-days') && name === 'days') shown = true;
    if (shown) out[outName(name, f, ed)] = down(f, v, ed);
  }
  return out;
}
function mayRead(c, res, row) {
  const f = row.f;
  if (res === 'chronometer') return c.user === 'maker' ? f.maker === c.id : c.user === 'rater' || f.condition === 'shelved' || (bug('purser-sees-tested') && f.condition === 'on_test');
  if (res === 'trial') return c.user === 'maker' ? f.owner === c.id : c.user === 'rater' || ((bug('any-grade') || f.class === c.claims.grade) && (f.phase === 'certified' || (bug('purser-sees-expired') && f.phase === 'expired')));
  if (res === 'reading') return c.user === 'maker' ? f.owner === c.id : c.user === 'rater';
  return c.user !== 'purser' && f.owner === c.id;
}
const etagOf = (res, row, caller, ed) => '"' + createHash('sha256').update(ed + caller.user + JSON.stringify(bug('tag-blind') ? { ...view(res, row, caller, ed), remark: 0 } : view(res, row, caller, ed))).digest('base64url').slice(0, 22) + '"';

// ------------------------------------------------------------------ events
const deliveries = [];
function emit(topic, res, row, payload, to) {
  if (topic === 'trial.judged' && bug('judged-silent-failed') && row.f.phase === 'failed') return;
  const at = iso(now()), id = 'ev_' + randomBytes(9).toString('hex');
  for (const h of rows.hook.values()) {
    if (!h.f.active) continue;
    if (h.f.topics && !h.f.topics.some((t) => t === '*' || t === topic || (t.endsWith('.*') && topic.startsWith(t.slice(0, -1))) || bug('topics-unread'))) continue;
    if (!(to ? to(h) : mayRead(h.caller, res, row))) continue;
    const body = payload((r, w) => view(r, w, bug('note-in-event') ? { ...h.caller, user: 'rater' } : h.caller, bug('event-newest') ? 'r2' : h.ed));
    const env = { ref: id, what: topic, when: at, body };
    const d = { hook: h.id, about: res + row.id, event: id, topic, text: JSON.stringify(env), tries: 0, due: now(), flying: false };
    deliveries.push(d);
    if (bug('opened-twice') && topic === 'trial.opened') deliveries.push({ ...d, event: id + 'b', text: JSON.stringify({ ...env, ref: id + 'b' }) });
  }
}
const WAITS = [10 * S, 2 * M, H];
function drop(d) { const i = deliveries.indexOf(d); if (i >= 0) deliveries.splice(i, 1); }
function pump() {
  const t = now(), ahead = new Set();
  for (const d of [...deliveries]) {
    const h = rows.hook.get(d.hook);
    if (!h || !h.f.active) { if (!d.flying) drop(d); continue; }
    const lane = d.hook + d.about, first = !ahead.has(lane);
    ahead.add(lane);
    if (!first || d.flying || d.due > t || (h.notBefore ?? 0) > t) continue;
    if (h.failing !== undefined && deliveries.some((o) => o.flying && o.hook === d.hook)) continue;
    d.flying = true;
    send(d, h);
  }
}
async function send(d, h) {
  const ts = Math.floor((bug('seal-old-time') && d.tries ? d.born : now()) / 1000);
  d.born ??= now();
  const mac = createHmac('sha256', h.f.secret).update(bug('seal-no-id') ? `${ts}:${d.text}` : `${d.event}:${ts}:${d.text}`).digest('hex');
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(d.text), 'Observatory-Topic': d.topic, 'Observatory-Event': d.event, 'Observatory-Seal': `ts=${ts},mac=${mac}` };
  const lib = h.f.url.toLowerCase().startsWith('https:') ? await import('node:https') : http;
  let status = 0, after = 0, over = false;
  const done = () => {
    if (over) return;
    over = true; d.flying = false;
    const live = rows.hook.get(d.hook);
    if (!live) return drop(d);
    if (status >= 200 && status < 300) { delete live.failing; drop(d); } else {
      live.failing ??= now();
      d.tries++;
      if (status === 410 || now() - live.failing >= 2 * D) { if (status !== 410 || !bug('gone-kept')) live.f = { ...live.f, active: false }; if (bug('gone-kept')) drop(d); }
      else if (d.tries > (bug('two-retries') ? 2 : 3)) drop(d);
      else d.due = now() + Math.max(WAITS[d.tries - 1], 0);
      if (after > 0) live.notBefore = now() + Math.min(after, D);
    }
    setImmediate(pump);
  };
  const quit = setTimeout(() => { r.destroy(); done(); }, 5 * S);
  const r = lib.request(h.f.url, { method: 'POST', headers, agent: false }, (res) => {
    status = res.statusCode; clearTimeout(quit);
    const ra = res.headers['retry-after'];
    if (ra !== undefined) after = /^\d+$/.test(ra) ? +ra * S : Date.parse(ra) - now() || 0;
    res.resume(); res.on('error', () => {});
    setTimeout(() => res.destroy(), 2 * S).unref();
    done();
  });
  r.on('error', () => { clearTimeout(quit); done(); });
  r.end(d.text);
}

// ------------------------------------------------------------------ states
class Refusal extends Error { constructor(code, more = {}) { super(code); this.code = code; Object.assign(this, more); } }
const no = (code, more) => { throw new Refusal(code, more); };
function touch(row) { if (row.f.amended_at !== undefined) row.f = { ...row.f, amended_at: iso(now()) }; }
const piece = (trial) => rows.chronometer.get(trial.f.chronometer);
function release(trial) { const c = piece(trial); if (c.f.condition !== 'on_test') { if (FAULT) return; no('not_now'); } enter(c, 'condition', 'shelved'); }
function enter(row, field, state) { row.f = { ...row.f, [field]: state }; row.entered = now(); if (!bug('amended-by-hand-only') || field !== 'condition') touch(row); }
const MOVES = {
  withdraw: { res: 'chronometer', from: bug('withdraw-on-test') ? ['shelved', 'on_test'] : ['shelved'], to: () => 'withdrawn' },
  readmit: { res: 'chronometer', from: ['withdrawn'], to: () => 'shelved', guard: (r) => full('chronometer', r).trials_run < (bug('readmit-three') ? 4 : 3), unless: 'worn_out' },
  open: {
    res: 'trial', from: ['planned'], to: () => 'running', set: (r, c) => ({ opened_by: c.id, opened_at: iso(now()) }),
    before: (r) => { if (piece(r).f.condition !== 'shelved' && !bug('open-anywhere')) no('piece_away'); },
    then: (r) => { enter(piece(r), 'condition', 'on_test'); },
    tell: (r) => emit('trial.opened', 'trial', r, (v) => v('trial', r)),
  },
  finish: { res: 'trial', from: ['running'], to: () => 'finished', wrong: 'not_running', guard: (r) => readingsOf(r.id).length >= (bug('finish-one') ? 1 : 2), unless: 'too_few', then: release },
  certify: {
    res: 'trial', from: ['finished'], to: (r) => { const g = full('trial', r).gross_ms, lim = bug('certify-edge') ? 3999 : 4000; return g <= lim && (bug('certify-low') || g >= -lim) ? 'certified' : 'failed'; },
    set: () => ({ valid_until: iso(now() + (bug('valid-31') ? 744 : 720) * H) }),
    tell: (r) => emit('trial.judged', 'trial', r, (v) => ({ trial: v('trial', r), passed: r.f.phase === 'certified' })),
  },
  annul: {
    res: 'trial', from: bug('annul-finished') ? ['planned', 'running', 'finished'] : ['planned', 'running'], to: () => 'void', wrong: 'too_late', set: (r, c, q) => ({ void_reason: q.reason }),
    then: (r, was) => { if (was === 'running' && !bug('annul-keeps-piece')) release(r); },
  },
};
const FIELD = { chronometer: 'condition', trial: 'phase' };
function move(name, row, caller, request) {
  const m = MOVES[name], field = FIELD[m.res], was = row.f[field];
  if (!m.from.includes(was)) no(m.wrong ?? 'not_now');
  if (m.guard && !m.guard(row)) no(m.unless);
  m.before?.(row);
  const state = m.to(row);
  if (m.set) row.f = { ...row.f, ...m.set(row, caller, request) };
  enter(row, field, state);
  m.then?.(row, was);
  m.tell?.(row);
}
/** What the clock has to do next: [time, row, what]. */
function* timed() {
  for (const c of rows.chronometer.values()) if (c.f.condition === 'withdrawn') yield [(bug('back-from-deposit') ? c.made : c.entered) + 21 * D, c, () => enter(c, 'condition', 'returned')];
  for (const t of rows.trial.values()) {
    const ended = () => { if (!bug('ended-untold')) emit('trial.ended', 'trial', t, (v) => v('trial', t)); };
    if (t.f.phase === 'planned') yield [t.entered + (bug('lapse-late') ? 15 : 14) * D, t, () => { enter(t, 'phase', 'void'); ended(); }];
    if (t.f.phase === 'running' && t.stalled !== t.entered) yield [t.entered + 20 * D, t, () => {
      t.stalled = t.entered;
      if (readingsOf(t.id).length && !bug('stall-always')) return;
      enter(t, 'phase', 'failed'); release(t); ended();
    }];
    if (t.f.phase === 'certified' && !bug('never-expires')) yield [Date.parse(t.f.valid_until), t, () => { enter(t, 'phase', 'expired'); ended(); }];
  }
}
function runDue(until) {
  for (let i = 0; i < 10000; i++) {
    let first = null;
    for (const x of timed()) if (x[0] <= until && (!first || x[0] < first[0])) first = x;
    if (!first) break;
    const keep = frozen;
    if (frozen !== null) { frozen = Math.max(frozen, first[0]); pump(); }
    first[2]();
    if (keep === null) frozen = null;
  }
  pump();
}

// ------------------------------------------------------------------ limits
const used = new Map();
const RATES = [
  { n: 0, step: 5, kind: 'sliding', limit: bug('rate-241') ? 241 : 240, window: M, on: () => true, who: (c, ip) => (c ? c.user + '/' + c.id : ip), free304: !bug('counts-304') },
  { n: 1, step: 5, kind: bug('hook-rate-none') ? 'none' : 'fixed', limit: 12, window: H, on: (op) => op === 'create hook', who: (c, ip) => (c ? c.user + '/' + c.id : ip) },
  { n: 2, step: 3, kind: 'bucket', limit: bug('refill-slow') ? 20 : 30, burst: 40, window: M, on: (op) => op === 'office notice', who: (c, ip) => ip },
];
function gauge(r, key, t) {
  let u = used.get(r.n + key);
  if (r.kind === 'sliding') { u ??= []; while (u.length && u[0] + r.window <= t) u.shift(); }
  else if (r.kind === 'fixed') { if (!u || t >= u.start + r.window) u = { start: t, n: 0, fresh: true }; }
  else {
    u ??= { left: r.burst, at: t };
    u = { left: Math.min(r.burst, u.left + (t - u.at) * r.limit / r.window), at: t };
  }
  used.set(r.n + key, u);
  return u;
}
function state(r, u, t) {
  if (r.kind === 'sliding') return { limit: r.limit, left: r.limit - u.length, wait: u.length ? u[0] + r.window - t : 0 };
  if (r.kind === 'fixed') return { limit: r.limit, left: r.limit - u.n, wait: u.start + r.window - t };
  const whole = Math.floor(u.left + 1e-9);
  return { limit: r.limit, left: whole, wait: whole >= r.burst ? 0 : (whole + 1 - u.left) * r.window / r.limit };
}
function countRates(x, step) {
  const t = now(), mine = RATES.filter((r) => r.step === step && r.kind !== 'none' && r.on(x.op)).map((r) => ({ r, key: r.who(x.caller, x.ip) }));
  const full = mine.filter(({ r, key }) => state(r, gauge(r, key, t), t).left < 1);
  if (full.length) {
    for (const back of x.counted) giveBack(back);
    x.counted = []; x.refusedBy = mine;
    const wait = Math.max(...full.map(({ r, key }) => state(r, gauge(r, key, t), t).wait));
    no('too_many', bug('no-retry-after') ? {} : { headers: { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) } });
  }
  for (const { r, key } of mine) {
    const u = gauge(r, key, t);
    if (r.kind === 'sliding') u.push(t); else if (r.kind === 'fixed') u.n++; else u.left -= 1;
    x.counted.push({ r, key, t });
  }
}
function giveBack({ r, key, t }) {
  const u = gauge(r, key, now());
  if (r.kind === 'sliding') { const i = u.lastIndexOf(t); if (i >= 0) u.splice(i, 1); } else if (r.kind === 'fixed') u.n--; else u.left = Math.min(r.burst, u.left + 1);
}
function rateFields(x) {
  const t = now(), told = (x.refusedBy ?? x.counted).map(({ r, key }) => state(r, gauge(r, key, t), t));
  if (!told.length) return {};
  const s = told.reduce((a, b) => (b.left < a.left ? b : a));
  return { Allowance: String(s.limit), 'Allowance-Left': String(s.left - (bug('left-one-less') && s.left > 0 ? 1 : 0)), 'Allowance-Renews': String(Math.ceil(s.wait / 1000)) };
}
const quota = new Map();
const SHIFT = bug('quota-utc') ? 0 : 5.5 * H;

// ------------------------------------------------------------------ answers
const STATUS = {
  garbled: 400, wrong_media: 415, unacceptable: 406, bad_query: 400, bad_page: 400, lacking: bug('lacking-422') ? 422 : 400, unfit: 422, no_such_place: 404, wrong_verb: 405, stale_pass: 401, who_goes: 401, no_scope: 403, not_for_you: 403,
  not_found: 404, no_referent: 422, twice: 409, held: 409, not_now: 409, changed: 412, tag_needed: 428, key_reused: 409, crossed: 409, too_many: 429, spent: bug('spent-429') ? 429 : 403, too_long_url: 414, too_long_headers: 431,
  too_large: 413, too_slow: 408, no_edition: 400, old_edition: 410, shut: 503, broken: 500, trial_shut: 409, day_beyond: 422, worn_out: 409, piece_away: 409, too_few: 409, not_running: 409, too_late: 409, not_your_hand: 403,
};
const SAYS = {
  trial_shut: 'The trial is not running.', day_beyond: 'The trial has fewer days.', worn_out: 'It was tried three times.', piece_away: 'The chronometer is not on its shelf.', too_few: 'Two readings at the least.',
  not_running: 'Only a running trial can be finished.', too_late: 'It is over.', not_your_hand: 'Another observer noted this.', not_found: 'There is no such thing.', not_for_you: 'This is not for you to do.', who_goes: 'Show who you are.',
  stale_pass: 'The pass is over.', too_many: 'Too many requests.', spent: 'The quota is used up.', unfit: 'Something sent does not fit.', lacking: 'Something is lacking.',
};
const KEPT = ['trial_shut', 'day_beyond'];
const httpDate = (t) => new Date(t).toUTCString();
function deprecation(x) {
  const from = [], till = [], link = [];
  if (x.ed === 'r1') { from.push('2026-10-01'); till.push('2027-06-01'); link.push('<https://rates.observatory.example/notes/r2>; rel="deprecation"', `<${x.req.url}>; rel="successor-version"`); }
  if (x.op === 'office notice') { from.push('2026-11-01'); link.push('<https://rates.observatory.example/notes/notice>; rel="deprecation"'); }
  if (x.oldParameter) { from.push('2026-09-01'); link.push('<https://rates.observatory.example/notes/serials>; rel="deprecation"'); }
  const h = {};
  if (from.length && !(bug('no-deprecation') && x.ed === 'r1')) h.Deprecation = '@' + Date.parse(from.sort()[0]) / 1000;
  if (till.length && !bug('no-sunset')) h.Sunset = httpDate(Date.parse(till.sort()[0]));
  if (link.length) h.Link = link.join(', ');
  return h;
}
function answer(x, status, body, headers = {}) {
  if (x.res.writableEnded || x.res.headersSent) return;
  if (status === 304) for (const c of x.counted) if (c.r.free304) giveBack(c);
  const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const h = { Docket: x.docket, Vary: 'Rates-Edition, X-Deposit-Key, Authorization', ...rateFields(x), ...deprecation(x), ...headers };
  if (x.ed && !bug('edition-untold')) h['Rates-Edition'] = x.ed;
  if (text) { h['Content-Type'] = 'application/json'; h['Content-Length'] = text.length; } else if (status !== 304 && status !== 204) h['Content-Length'] = 0;
  x.res.writeHead(status, h);
  x.res.end(x.req.method === 'HEAD' ? undefined : text);
}
const fault = (x, code, slips) => ({ fault: { name: code, http: STATUS[code], says: SAYS[code] ?? code.replaceAll('_', ' '), docket: bug('docket-other') ? randomBytes(8).toString('hex') : x.docket, ...(slips ? { slips } : {}) } });
function refuse(x, e) {
  const code = e instanceof Refusal ? e.code : 'broken';
  if (code === 'broken') console.error(e);
  answer(x, STATUS[code], fault(x, code, e.slips), { Fault: code, ...(e.headers ?? {}) });
}

// ------------------------------------------------------------------ endpoints
const ROUTES = [];
const route = (method, path, op, o = {}) => ROUTES.push({ method, parts: path.split('/').slice(1), op, accept: ['deposit', 'warrant', 'pass'], ...o });
const CH = 'chronometer', MR = ['maker', 'rater'];
route('POST', '/chronometers', 'create chronometer', { users: ['maker'], scope: 'deposit', body: true, key: 'Once-Key', run: create(CH) });
route('GET', '/chronometers', 'list chronometer', { users: USERS, run: list(CH), order: [['deposited_at', !bug('oldest-first')]], cursor: true, page: { default: 10, max: bug('page-26') ? 26 : 25, clamp: !bug('no-clamp') }, q: {
  calibre: { field: 'calibre', split: true }, condition: { field: 'condition' }, escapement: { field: 'escapement' }, jewels_min: { field: 'jewels', type: 'integer', test: (a, b) => (bug('min-exclusive') ? a > b : a >= b) },
  remark_has: { field: 'remark', type: 'string', test: (a, b) => (bug('remark-any-case') ? a.toLowerCase().includes(b.toLowerCase()) : a.includes(b)) }, maker_number: { field: 'serial', deprecated: true }, sort: { sorts: { jewels: 'jewels', serial: 'serial' }, bears: true } } });
route('GET', '/chronometers/{id}', 'read chronometer', { users: USERS, run: read(CH), tag: true, cache: 'private, max-age=30' });
route('PATCH', '/chronometers/{id}', 'update chronometer', { users: ['maker'], body: true, run: update(CH), tag: true, match: 'required', in: ['shelved'] });
route('DELETE', '/chronometers/{id}', 'delete chronometer', { users: ['maker'], run: remove(CH), in: ['shelved', 'withdrawn'] });
route('POST', '/chronometers/{id}/withdraw', 'withdraw chronometer', { users: ['maker'], run: fire('withdraw') });
route('POST', '/chronometers/{id}/readmit', 'readmit chronometer', { users: ['maker'], run: fire('readmit'), since: true });
route('POST', '/chronometers/{chronometer}/trials', 'create trial', { users: ['maker'], scope: 'trials', body: true, key: 'Once-Key', parent: CH, run: create('trial') });
route('GET', '/trials', 'list trial', { users: USERS, run: list('trial'), order: [['booked_at', false]], page: { default: 15, max: 40 }, q: {
  chronometer: { field: 'chronometer' }, class: { field: 'class' }, phase: { field: 'phase', split: true }, oven: { field: 'oven_temps', type: 'integer', oven: true, test: (a, b) => bug('oven-first') ? a[0] === b : a.includes(b) },
  booked_from: { field: 'booked_at', type: 'time', test: (a, b) => a >= b }, booked_before: { field: 'booked_at', type: 'time', test: (a, b) => (bug('before-inclusive') ? a <= b : a < b) },
  live: { field: 'phase', type: 'boolean', test: (a, b) => b === (a === 'planned' || (a === 'running' && !bug('live-planned'))) }, by: { sorts: { length: 'days', booking: 'booked_at' } }, way: { directs: true } } });
route('GET', '/trials/{id}', 'read trial', { users: USERS, run: read('trial'), tag: true });
route('PATCH', '/trials/{id}', 'update trial', { users: MR, body: true, run: update('trial'), match: 'accepted', in: bug('update-finished') ? ['planned', 'running', 'finished'] : ['planned', 'running'] });
route('DELETE', '/trials/{id}', 'delete trial', { users: ['maker'], run: remove('trial'), in: ['planned', 'void'] });
for (const t of ['open', 'finish', 'certify', 'annul']) route('POST', `/trials/{id}/${t}`, `${t} trial`, { users: t === 'annul' ? MR : ['rater'], run: fire(t), body: t === 'annul', ...(t === 'certify' && !bug('certify-any-scheme') ? { accept: ['warrant'] } : {}) });
route('POST', '/trials/{trial}/readings', 'create reading', { users: ['rater'], body: true, key: 'Once-Key', keyNeeded: !bug('once-key-free'), parent: 'trial', run: create('reading') });
route('GET', '/trials/{trial}/readings', 'list reading', { users: MR, run: list('reading'), parent: 'trial', order: [['day', false]], page: { default: 15, max: 40 }, q: {
  sky: { field: 'sky' }, day_to: { field: 'day', type: 'integer', test: (a, b) => a <= b }, since: { field: 'taken_at', type: 'time', test: (a, b) => (bug('since-text') ? a > b : a > b), text: bug('since-text') } } });
route('GET', '/readings/{id}', 'read reading', { users: MR, run: read('reading') });
route('PUT', '/readings/{id}', 'replace reading', { users: ['rater'], body: true, run: update('reading', true) });
route('DELETE', '/readings/{id}', 'delete reading', { users: ['rater'], run: remove('reading') });
route('POST', '/hooks', 'create hook', { users: MR, body: true, run: create('hook') });
route('GET', '/hooks', 'list hook', { users: MR, run: list('hook'), order: [['made_at', true]], newest: true, page: { default: 15, max: 40 }, q: {} });
route('GET', '/hooks/{id}', 'read hook', { users: MR, run: read('hook') });
route('PATCH', '/hooks/{id}', 'update hook', { users: MR, body: true, run: update('hook') });
route('DELETE', '/hooks/{id}', 'delete hook', { users: MR, run: remove('hook') });
route('GET', '/notice', 'office notice', { open: true, run: (x) => answer(x, 200, { office: 'Greenfield Hill', ovens: 4 }) });

const pathOf = { chronometer: 'chronometers', trial: 'trials', reading: 'readings', hook: 'hooks' };
/** The row that is meant, or resource.missing. */
function find(x, res, id) {
  const row = rows[res].get(id);
  if (!row || !(mayRead(x.caller, res, row) || (bug('read-any-trial') && x.op === 'read trial' && x.caller.user === 'maker'))) no(bug('hidden-403') && row ? 'not_for_you' : 'not_found');
  return row;
}
/** What was sent, held to the edition's shape; the row's fields as they would be. */
function take(x, res, row, replace, bound = {}) {
  const slips = [], missing = [], shape = SHAPES[res], sent = x.json, next = row ? { ...row.f } : { ...bound }, seen = new Set(), wrong = new Set();
  if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) no('unfit', { slips: [{ in: 'body', path: '', found: kind(sent), expected: 'a map' }] });
  const byOut = new Map(Object.entries(shape).filter(([, f]) => !(x.ed === 'r1' && f.since)).map(([n, f]) => [outName(n, f, x.ed), n]));
  for (const [out, v] of Object.entries(sent)) {
    const name = byOut.get(out), at = '/' + (bug('path-newest') && name ? name : out).replaceAll('~', '~0').replaceAll('/', '~1'), slip = (expected, path = at, found = v) => { slips.push({ in: 'body', path, found: kind(found), expected }); wrong.add(name); };
    if (!name) { if (!bug('unknown-passes')) slip('no such field'); continue; }
    const f = shape[name];
    if (f.ro || (f.wr && !f.wr.includes(x.caller.user))) continue;
    seen.add(name);
    if (v === null && row && !replace) {
      if (f.imm || f.req) slip('a value'); else if (!(bug('null-kept') && name === 'asking_price')) delete next[name];
      continue;
    }
    const w = wrongs(inEdition(f, x.ed), v, at);
    if (w.length) { for (const [p, e, found] of w) slip(e, p, found); continue; }
    if (f.imm && (row ? row.f[name] : bound[name]) !== v) { if (!bug('moved-quietly')) slip('the value that it has'); continue; }
    const value = up(f, v, x.ed);
    if (x.ed === 'r1' && wrongs(f, value).length) { slip('a value that fits'); continue; }
    next[name] = value;
  }
  for (const [name, f] of Object.entries(shape)) {
    if (f.ro || seen.has(name) || (row && !replace)) continue;
    const writable = !f.wr || f.wr.includes(x.caller.user);
    if (replace) { if (!f.req && !f.wo && writable && !(x.ed === 'r1' && f.since) && !bug('put-merges')) delete next[name]; if (f.def !== undefined && !(x.ed === 'r1' && f.since)) next[name] = f.def; }
    else if (f.def !== undefined) next[name] = f.def;
    if (f.req && f.def === undefined && bound[name] === undefined && !(replace && f.imm)) missing.push({ in: 'body', path: '/' + outName(name, f, x.ed), found: 'nothing', expected: 'a value' });
  }
  if (res === 'trial' && !wrong.has('class') && !wrong.has('days') && next.class === 'A' && next.days < 20 && !(bug('rule-at-birth-only') && row)) slips.push({ in: 'body', path: '/days', found: String(next.days), expected: '20 days or more in class A' });
  if (slips.length || missing.length) no(slips.length ? 'unfit' : 'lacking', { slips: [...slips, ...missing] });
  return next;
}
const clash = (res, f, id) => {
  const same = res === 'chronometer' ? (r) => (bug('serial-of-all') || r.f.maker === f.maker) && r.f.serial === f.serial : res === 'reading' ? (r) => r.f.trial === f.trial && r.f.day === f.day : () => false;
  if (bug('day-moves') && id && res === 'reading') return;
  for (const r of rows[res].values()) if (r.id !== id && same(r)) no('twice');
};
const hookRoom = (f, id) => { if (f.active && [...rows.hook.values()].filter((h) => h.id !== id && h.f.owner === f.owner && (h.f.active || bug('idle-hooks-count'))).length >= 2) no('spent'); };
function ownErrors(res, f) {
  if (res !== 'reading') return;
  const t = rows.trial.get(f.trial);
  if (t.f.phase !== 'running') no('trial_shut');
  if (f.day > t.f.days + (bug('day-after') ? 1 : 0)) no('day_beyond');
}
function create(res) {
  return (x) => {
    const bound = {};
    if (x.route.parent) bound[x.route.parent] = find(x, x.route.parent, x.params[x.route.parent]).id;
    const f = take(x, res, null, false, bound), t = iso(now()), id = NEWID[res]();
    let spend;
    if (res === 'chronometer') Object.assign(f, { maker: x.caller.id, condition: 'shelved', deposited_at: t, amended_at: t });
    if (res === 'trial') Object.assign(f, { owner: rows.chronometer.get(bound.chronometer).f.maker, phase: 'planned', booked_at: t });
    if (res === 'reading') Object.assign(f, { owner: rows.trial.get(bound.trial).f.owner, observer: x.caller.id, noted_at: t });
    if (res === 'hook') Object.assign(f, { owner: x.caller.id, made_at: t, secret: pick(40, ALNUM) });
    ownErrors(res, f);
    clash(res, f, null);
    if (res === 'hook') hookRoom(f, null);
    if (res === 'trial') {
      const day = Math.floor((now() + SHIFT) / D), key = x.caller.id + '/' + day, n = quota.get(key) ?? 0;
      if (n >= 20) no('spent', { headers: { 'Retry-After': String(Math.max(1, Math.ceil(((day + 1) * D - SHIFT - now()) / 1000))) } });
      spend = () => quota.set(key, (quota.get(key) ?? 0) + 1);
      const of = bug('number-of-all') ? 'all' : bound.chronometer;
      counters.set(of, (counters.get(of) ?? 0) + 1);
      f.number = counters.get(of);
    }
    const row = { id, f: { ...f, id }, seq: ++seq, made: now(), entered: now(), caller: x.caller, ed: x.ed };
    rows[res].set(id, row);
    spend?.();
    if (res === 'chronometer') emit('chronometer.deposited', res, row, (v) => v(res, row));
    if (res === 'reading') emit('reading.noted', res, row, (v) => v(res, row), bug('noted-to-all') ? null : (h) => h.f.owner === row.f.owner);
    done(x, 201, view(res, row, x.caller, x.ed, true), bug('no-location') && res === 'reading' ? {} : { Location: `/office/${pathOf[res]}/${id}` });
  };
}
/** Answers, and keeps the answer under the key that was sent. */
function done(x, status, body, headers) {
  x.keep?.(status, body, headers);
  answer(x, status, body, headers);
  setImmediate(pump);
}
function read(res) {
  return (x) => {
    const row = find(x, res, x.params.id), h = {};
    if (x.route.cache) h['Cache-Control'] = x.route.cache;
    if (x.route.tag) {
      h.ETag = etagOf(res, row, x.caller, x.ed);
      const m = x.req.headers['if-none-match'];
      if (m !== undefined && (m.trim() === '*' || (m.match(/"[^"]*"/g) ?? []).includes(h.ETag))) return answer(x, 304, undefined, h);
    }
    answer(x, 200, view(res, row, x.caller, x.ed, bug('secret-again') ? undefined : false), h);
  };
}
function precondition(x, res, row) {
  if (!x.route.match) return;
  const m = x.req.headers['if-match'];
  if (m === undefined) { if (x.route.match === 'required' && !bug('tag-forgotten')) no('tag_needed'); return; }
  if (m.trim() === '*') return;
  const tags = m.match(/(W\/)?"[^"]*"/g) ?? [];
  if (!tags.includes(etagOf(res, row, x.caller, x.ed)) && !(bug('match-ignored') && res === 'trial')) no('changed');
}
const mine = (x, row) => { if (x.caller.user === 'rater' && row.f.observer !== x.caller.id) no(bug('hand-plain') ? 'not_for_you' : 'not_your_hand'); };
function update(res, replace = false) {
  return (x) => {
    const row = find(x, res, x.params.id);
    if (res === 'reading') mine(x, row);
    precondition(x, res, row);
    const next = take(x, res, row, replace);
    if (x.route.in && !x.route.in.includes(row.f[FIELD[res]])) no('not_now');
    if (res === 'reading') { ownErrors(res, { ...next, trial: row.f.trial }); }
    clash(res, next, row.id);
    if (res === 'hook') hookRoom(next, row.id);
    const key = (o) => JSON.stringify(Object.entries(o).sort(([a], [b]) => (a < b ? -1 : 1)));
    if (key(next) !== key(row.f) || bug('idle-stamp')) {
      const was = row.f;
      row.f = next;
      if (res === 'chronometer') { touch(row); if (next.jewels !== was.jewels || (bug('rejewelled-always') && key(next) !== key(was))) emit('chronometer.rejewelled', res, row, () => ({ piece: row.id, was: bug('was-is') ? next.jewels : was.jewels, is: next.jewels })); }
      if (res === 'reading' && !bug('noted-once')) row.f = { ...next, noted_at: iso(now()) };
    }
    done(x, 200, view(res, row, x.caller, x.ed, false), x.route.tag ? { ETag: etagOf(res, row, x.caller, x.ed) } : {});
  };
}
function strike(row) { emit('reading.struck', 'reading', row, () => row.id); rows.reading.delete(row.id); }
function remove(res) {
  return (x) => {
    const row = find(x, res, x.params.id);
    if (res === 'reading' && !bug('strike-any')) mine(x, row);
    if (x.route.in && !x.route.in.includes(row.f[FIELD[res]])) no('not_now');
    if (res === 'reading' && rows.trial.get(row.f.trial).f.phase !== 'running' && !bug('strike-shut')) no('trial_shut');
    if (res === 'chronometer' && trialsOf(row.id).some((t) => !bug('held-loose') || t.f.phase !== 'void')) no('held');
    if (res === 'reading') strike(row);
    if (res === 'trial') for (const r of readingsOf(row.id)) if (bug('cascade-silent')) rows.reading.delete(r.id); else strike(r);
    rows[res].delete(row.id);
    done(x, 204);
  };
}
function fire(name) {
  return (x) => {
    const res = MOVES[name].res, row = find(x, res, x.params.id);
    if (name === 'annul') {
      const b = x.json, at = (path, found, expected, code = 'unfit') => no(code, { slips: [{ in: 'body', path, found, expected }] });
      if (b === null || typeof b !== 'object' || Array.isArray(b)) at('', kind(b), 'a map');
      if (b.reason === undefined) at('/reason', 'nothing', 'a value', 'lacking');
      const w = wrongs(str({ minLen: bug('reason-two') ? 2 : 3, maxLen: 40 }), b.reason, '/reason');
      if (w.length) at('/reason', kind(b.reason), w[0][1]);
    }
    move(name, row, x.caller, x.json);
    done(x, 200, view(res, row, x.caller, x.ed, false));
  };
}
const CURSOR_KEY = randomBytes(32);
const seal = (o) => { const b = Buffer.from(JSON.stringify(o)).toString('base64url'); return b + '.' + createHmac('sha256', CURSOR_KEY).update(b).digest('base64url').slice(0, 24); };
const unseal = (s) => { const [b, m, z] = s.split('.'); if (!m || z !== undefined || createHmac('sha256', CURSOR_KEY).update(b).digest('base64url').slice(0, 24) !== m) return null; return JSON.parse(Buffer.from(b, 'base64url')); };
/** Query parameters, read at step 8. */
function readQuery(x) {
  const r = x.route, bad = (name, found, expected) => no('bad_query', { slips: [{ in: 'query', path: name, found: kind(found), expected }] });
  x.filters = []; x.sort = r.order ?? []; let turn = false;
  const pages = r.page ? (r.cursor ? ['mark', 'take'] : ['from', 'take']) : [], seen = new Map();
  for (const [name, v] of x.query) {
    const p = r.q && Object.hasOwn(r.q, name) ? r.q[name] : null;
    if (!p && !pages.includes(name)) { if (bug('stray-query')) continue; bad(name, v, 'no such parameter'); }
    if (seen.has(name)) bad(name, v, 'one value');
    seen.set(name, v);
    if (!p) continue;
    const res = r.op.split(' ')[1];
    if (p.sorts) {
      const minus = v.startsWith('-'), word = minus ? v.slice(1) : v, names = Object.fromEntries(Object.entries(p.sorts).map(([n, f]) => [p.bears ? outName(f, SHAPES[res][f], x.ed) : n, f]));
      if (!Object.hasOwn(names, word) || !sees(res, names[word], x.caller.user)) bad(name, v, 'one of the stated orders');
      x.sort = [[names[word], minus && !bug('sort-up-only')]];
      continue;
    }
    if (p.directs) { if (v !== 'asc' && v !== 'desc') bad(name, v, 'asc or desc'); turn = v === 'desc'; continue; }
    const f = SHAPES[res][p.field];
    if (!sees(res, p.field, x.caller.user)) bad(name, v, 'a parameter that you may use');
    if (x.ed === 'r1' && f.since) bad(name, v, 'no such parameter');
    if (p.deprecated) x.oldParameter = true;
    let test;
    if (p.type === 'integer') { if (!/^-?\d+$/.test(v) || (p.oven && wrongs(f.items, +v).length)) bad(name, v, 'a whole number'); const n = +v; test = (a) => p.test(a, n); }
    else if (p.type === 'boolean') { if (v !== 'true' && v !== 'false') bad(name, v, 'true or false'); test = (a) => p.test(a, v === 'true'); }
    else if (p.type === 'time') { if (!isDateTime(v)) bad(name, v, 'a date-time'); const at = Date.parse(v); test = (a) => (p.text ? p.test(a, v) : p.test(Date.parse(a), at)); }
    else if (p.type === 'string') test = (a) => p.test(a, v);
    else {
      const ed = bug('old-filter') ? 'r2' : x.ed, many = p.split ? v.split(',') : [v];
      for (const one of many) if (wrongs(inEdition(f, ed), one).length) bad(name, v, 'a value that the field can have');
      if (many.length > 100) bad(name, v, 'a hundred values at the most');
      const set = (bug('first-of-split') ? many.slice(0, 1) : many).map((one) => up(f, one, ed));
      test = (a) => set.includes(a);
    }
    x.filters.push((all) => all[p.field] !== undefined && test(all[p.field]));
  }
  if (turn && !bug('way-ignored')) x.sort = x.sort.map(([n, d]) => [n, !d]);
  if (!r.page) return;
  const badPage = (name, v) => no('bad_page', { slips: [{ in: 'query', path: name, found: kind(v), expected: 'a place in this list' }] });
  x.take = r.page.default;
  const whole = (name) => { const v = seen.get(name); if (!/^\d{1,15}$/.test(v) || +v < 1) badPage(name, v); return +v; };
  if (seen.has('take')) { x.take = whole('take'); if (x.take > r.page.max) { if (!r.page.clamp) badPage('take', seen.get('take')); x.take = r.page.max; } }
  x.from = seen.has('from') ? whole('from') : 1;
  x.bound = createHash('sha256').update(JSON.stringify([x.ed, x.caller.user, x.caller.id, [...seen].filter(([n]) => !pages.includes(n)).sort()])).digest('base64url').slice(0, 16);
  if (seen.has('mark')) { let m = null; try { m = unseal(seen.get('mark')); } catch { /* none */ } if (!m || (m.q !== x.bound && !bug('mark-anywhere'))) badPage('mark', seen.get('mark')); x.mark = m; }
}
function list(res) {
  return (x) => {
    const parent = x.route.parent && find(x, x.route.parent, x.params[x.route.parent]).id;
    let all = [...rows[res].values()].filter((r) => (!parent || r.f[x.route.parent] === parent) && (mayRead(x.caller, res, r) || (bug('list-all-trials') && res === 'trial' && x.caller.user === 'maker')));
    all = all.map((row) => ({ row, f: full(res, row) })).filter(({ f }) => x.filters.every((t) => t(f)));
    const keyOf = ({ row, f }) => [...x.sort.map(([n]) => (SHAPES[res][n].format === 'date-time' ? Date.parse(f[n]) : f[n])), row.seq];
    const ways = [...x.sort.map(([, d]) => d), !!x.route.newest];
    const order = (a, b) => { for (let i = 0; i < ways.length; i++) if (a[i] !== b[i]) return (a[i] < b[i] ? -1 : 1) * (ways[i] ? -1 : 1); return 0; };
    all = all.map((r) => ({ ...r, k: keyOf(r) })).sort((a, b) => order(a.k, b.k));
    const tally = all.length;
    let page, rest, more;
    if (x.route.cursor) {
      rest = x.mark ? all.filter((r) => order(r.k, x.mark.k) > (bug('mark-repeats') ? -1 : 0)) : all;
      page = rest.slice(0, x.take); more = rest.length > page.length;
    } else { page = all.slice(x.from - 1, x.from - 1 + x.take); more = x.from - 1 + page.length < tally && page.length > 0; if (bug('more-at-end') && page.length === x.take) more = true; }
    const body = { rows: page.map(({ row }) => view(res, row, x.caller, x.ed, false)), tally: bug('tally-page') ? page.length : tally, more };
    if (x.route.cursor) body[`onward`] = more ? seal({ q: x.bound, k: page.at(-1).k }) : null;
    answer(x, 200, body);
  };
}

// ------------------------------------------------------------------ requests
const kept = new Map();
function keyed(x) {
  const r = x.route, key = x.req.headers['once-key'];
  if (!r.key || key === undefined) return false;
  const at = JSON.stringify([x.caller.user, x.caller.id, x.op, key]), had = kept.get(at), print = createHash('sha256').update(JSON.stringify([x.path, x.search, x.ed]) + (bug('key-bodyless') ? '' : x.text)).digest('hex');
  if (had && had.until > now() && !bug('key-forgets')) {
    if (had.print !== print) no('key_reused');
    answer(x, had.status, had.body, had.headers);
    return true;
  }
  x.keep = (status, body, headers) => kept.set(at, { print, status, body, headers, until: now() + (bug('key-hour') ? 1 : 6) * H });
  return false;
}
function match(x, method) {
  const hits = ROUTES.filter((r) => r.parts.length === x.parts.length && r.parts.every((p, i) => p[0] === '{' || p === x.parts[i]) && !(x.ed === 'r1' && r.since && !bug('readmit-early')));
  return { hits, route: hits.find((r) => r.method === (method === 'HEAD' ? 'GET' : method)) };
}
function bodyOf(x) {
  return new Promise((ok) => {
    const parts = []; let n = 0;
    x.req.on('data', (c) => { n += c.length; if (n <= 65536) parts.push(c); });
    x.req.on('end', () => ok({ n, bytes: Buffer.concat(parts) }));
    x.req.on('error', () => {});
  });
}
function acceptable(req) {
  const a = req.headers.accept;
  if (a === undefined) return true;
  let best = [-1, 0];
  for (const part of a.split(',')) {
    const [type, ...ps] = part.trim().toLowerCase().split(';').map((s) => s.trim()), q = ps.find((p) => p.startsWith('q='));
    const rank = { 'application/json': 2, 'application/*': 1, '*/*': 0 }[type];
    if (rank !== undefined && rank > best[0]) best = [rank, q ? Number(q.slice(2)) : 1];
  }
  return best[0] >= 0 && best[1] > 0;
}
async function handle(req, res) {
  const x = { req, res, docket: 'dk-' + randomBytes(8).toString('hex'), counted: [], ip: req.socket.remoteAddress, ed: null, caller: null };
  try {
    runDue(now());
    if (Buffer.byteLength(req.url) > 1024) no('too_long_url');
    let size = 0;
    for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i]) + Buffer.byteLength(req.rawHeaders[i + 1]) + 4;
    if (size > 6144) no('too_long_headers');
    const cut = req.url.indexOf('?');
    x.path = cut < 0 ? req.url : req.url.slice(0, cut); x.search = cut < 0 ? '' : req.url.slice(cut + 1);
    const named = req.headers['rates-edition'], known = rawCount(req, 'rates-edition') <= 1 && (named === undefined || named === 'r1' || named === 'r2');
    x.ed = known ? named ?? 'r2' : null;
    let below = x.path.startsWith('/office/') ? x.path.slice(8) : null;
    if (below === null && bug('no-base') && x.path.startsWith('/')) below = x.path.slice(1);
    if (below === null) no('no_such_place');
    try { x.parts = below.split('/').map(decodeURIComponent); } catch { no('no_such_place'); }
    const { hits, route: r } = match(x, req.method);
    if (!hits.length) no('no_such_place');
    const allow = () => [...new Set(hits.flatMap((h) => (h.method === 'GET' ? ['GET', 'HEAD'] : [h.method]))), 'OPTIONS'].join(', ');
    if (!r) { if (req.method === 'OPTIONS') return answer(x, 204, undefined, { Allow: allow() }); no('wrong_verb', { headers: { Allow: allow() } }); }
    x.route = r; x.op = r.op;
    if (!known) { if (!bug('edition-any')) no('no_edition'); x.ed = 'r2'; }
    if (x.ed === 'r1' && now() >= Date.parse('2027-06-01') && !bug('sunset-serves')) no('old_edition');
    x.params = {};
    r.parts.forEach((p, i) => { if (p[0] === '{') x.params[p.slice(1, -1)] = x.parts[i]; });
    countRates(x, 3);
    if (!r.open) {
      const who = identify(req, r.accept);
      if (who.code) no(who.code, { headers: { 'WWW-Authenticate': who.challenge } });
      x.caller = who.caller;
    }
    countRates(x, 5);
    if (!r.open) {
      if (!r.users.includes(x.caller.user) && !(bug('rater-deletes') && x.op === 'delete trial' && x.caller.user === 'rater') && !(bug('maker-finishes') && x.op === 'finish trial' && x.caller.user === 'maker')) no('not_for_you');
      if (r.scope && !x.caller.scopes.includes(r.scope) && !bug('scope-ignored')) no(bug('scope-plain') ? 'not_for_you' : 'no_scope', r.scope && x.caller.claims.iss ? { headers: { 'WWW-Authenticate': 'Bearer realm="Chronometer Trials", error="insufficient_scope"' } } : {});
    }
    const { n, bytes } = await bodyOf(x);
    if (res.writableEnded) return;
    runDue(now());
    if (r.body) {
      const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
      if (n > 0 && type !== 'application/json' && !(req.method === 'PATCH' && type === 'application/merge-patch+json')) no('wrong_media');
    }
    if (req.method !== 'DELETE' && !acceptable(req)) no('unacceptable');
    if (n > (bug('body-4097') ? 4097 : 4096)) no('too_large');
    if (r.body) {
      if (n === 0) no('garbled');
      try { x.text = new TextDecoder('utf-8', { fatal: true }).decode(bytes); x.json = JSON.parse(x.text); } catch { no('garbled'); }
    }
    x.query = x.search === '' ? [] : [...new URLSearchParams(x.search)];
    readQuery(x);
    if (r.keyNeeded && req.headers['once-key'] === undefined) no('bad_query', { slips: [{ in: 'header', path: 'Once-Key', found: 'nothing', expected: 'a key' }] });
    if (keyed(x)) return;
    try { r.run(x); } catch (e) {
      if (e instanceof Refusal && KEPT.includes(e.code)) x.keep?.(STATUS[e.code], fault(x, e.code), { Fault: e.code });
      throw e;
    }
  } catch (e) { refuse(x, e); }
}
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 8 * S, headersTimeout: 8 * S, keepAliveTimeout: 45 * S, connectionsCheckingInterval: 500 }, handle);
server.on('clientError', (e, socket) => {
  if (!socket.writable) return socket.destroy();
  const code = e.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : e.code === 'HPE_HEADER_OVERFLOW' ? 'too_long_headers' : 'garbled', docket = 'dk-' + randomBytes(8).toString('hex'), text = JSON.stringify(fault({ docket }, code));
  socket.end(`HTTP/1.1 ${STATUS[code]} ${http.STATUS_CODES[STATUS[code]]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nFault: ${code}\r\nDocket: ${docket}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(PORT, '127.0.0.1');
setInterval(() => runDue(now()), 50);

// ------------------------------------------------------------------ the door of the clock
function later(t, text) {
  const m = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!m) return null;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((v) => Number(v ?? 0)), date = new Date(t), day = date.getUTCDate();
  date.setUTCDate(1); date.setUTCMonth(date.getUTCMonth() + y * 12 + mo);
  date.setUTCDate(Math.min(day, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()));
  return date.getTime() + w * 7 * D + d * D + h * H + mi * M + s * S;
}
if (DOOR >= 0) http.createServer((req, res) => {
  const say = (status, body) => { const text = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }); res.end(text); };
  const parts = [];
  req.on('data', (c) => parts.push(c)).on('end', () => {
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    let to = null;
    try {
      const b = JSON.parse(Buffer.concat(parts));
      if (typeof b.advance === 'string' && b.now === undefined) to = later(now(), b.advance);
      else if (typeof b.now === 'string' && b.advance === undefined && isDateTime(b.now)) to = Date.parse(b.now);
    } catch { /* 400 */ }
    if (req.method !== 'POST' || to === null || Number.isNaN(to)) return say(400, { error: 'advance or now' });
    if (to < now()) return say(422, { error: 'that time has passed' });
    frozen = now();
    runDue(to);
    frozen = null;
    offset = to - Date.now();
    runDue(now());
    say(200, { now: iso(now()) });
  });
}).listen(DOOR, '127.0.0.1');
