'use strict';
// Affinage: ripens wheels of cheese. Plain node:http, data in memory.
const http = require('node:http'), https = require('node:https'), crypto = require('node:crypto');

const arg = (name, other) => { const i = process.argv.indexOf('--' + name); return i < 0 ? other : process.argv[i + 1]; };
const PORT = Number(arg('port', 0)), CLOCK_PORT = arg('clock-port'), FAULT = arg('fault', '');
const F = id => FAULT === id;

/* ---------- clock ---------- */
let skew = 0, frozen = null;
const now = () => frozen ?? Date.now() + skew;
const iso = t => new Date(t).toISOString();
const heap = [];
let heapSeq = 0;
const before = (a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq);
function later(at, fn) {
  const e = { at, seq: heapSeq++, fn }; let i = heap.push(e) - 1;
  while (i > 0) { const p = (i - 1) >> 1; if (before(heap[p], heap[i])) break; [heap[p], heap[i]] = [heap[i], heap[p]]; i = p; }
}
function popDue() {
  const top = heap[0], last = heap.pop();
  if (heap.length) {
    heap[0] = last; let i = 0;
    for (;;) {
      let c = 2 * i + 1; if (c >= heap.length) break;
      if (c + 1 < heap.length && before(heap[c + 1], heap[c])) c++;
      if (before(heap[i], heap[c])) break;
      [heap[c], heap[i]] = [heap[i], heap[c]]; i = c;
    }
  }
  return top;
}
function runDue(target) {
  while (heap.length && heap[0].at <= target) {
    const e = popDue();
    frozen = Math.max(e.at, floor); floor = frozen;
    try { e.fn(); } catch (err) { console.error(err); }
  }
  frozen = null;
}
let floor = 0;
setInterval(() => { const t = now(); floor = Math.max(floor, t - 60000); if (heap.length && heap[0].at <= t) runDue(t); }, 15);

const HOUR = 3600e3, DAY = 24 * HOUR;

/* ---------- callers ---------- */
const CALLERS = {
  anton:  { id: 'anton', user: 'cellarer', house: 'tunnel', password: 'mould-7781-rind' },
  berta:  { id: 'berta', user: 'cellarer', house: 'tunnel', password: 'brine-2204-salt' },
};
const KEYS = {
  key_alp:    { id: 'alp', user: 'farm', house: 'alp', secret: 'sk-alp-5d0f1c77aa90b3e2' },
  key_brunni: { id: 'brunni', user: 'farm', house: 'brunni', secret: 'sk-brunni-91b7c4e0f2d81a63' },
  key_vera:   { id: 'vera', user: 'dealer', house: 'north', secret: 'sk-vera-3be8a7c5d9014f26' },
  key_willi:  { id: 'willi', user: 'dealer', house: 'north', secret: 'sk-willi-c2a64d18e70b95f3' },
  key_xaver:  { id: 'xaver', user: 'dealer', house: 'south', secret: 'sk-xaver-08f3d6b1a4c72e95' },
};

/* ---------- shapes ---------- */
const COUNTRIES = new Set(('AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ ' +
  'DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ ' +
  'LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW ' +
  'SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW').split(' '));
const str = (min, max, more) => ({ t: 'string', min, max, ...more });
const int = (min, max, more) => ({ t: 'int', min, max, ...more });
const RO = { ro: true };
const R = {
  climate: { fields: { celsius: { t: 'number', min: 2, max: 18 }, humidity: int(60, F('humidity-over') ? 101 : 100) }, required: ['celsius', 'humidity'] },
  address: { fields: { name: str(1, 60), street: str(1, 80), city: str(1, 60), country: { t: 'string', country: true } }, required: ['name', 'street', 'city', 'country'] },
  praise: { fields: { kind: { t: 'enum', of: ['praise'] }, words: str(3, 100) }, required: ['kind', 'words'] },
  blemish: { fields: { kind: { t: 'enum', of: ['blemish'] }, place: { t: 'enum', of: ['rind', 'paste'] }, severity: int(1, 5) }, required: ['kind', 'place', 'severity'] },
  cave: {
    id: 'no',
    fields: { no: { t: 'int', ro: true }, name: str(F('cave-name-short') ? 1 : 3, 40), climate: { t: 'value', of: 'climate' }, capacity: int(1, 500), memo: str(0, 200, { visible: ['cellarer'] }),
      status: { t: 'string', ro: true }, laid: { t: 'int', ro: true }, free: { t: 'int', ro: true }, sealedAt: { t: 'string', ro: true } },
    required: ['no', 'name', 'climate', 'capacity', 'status', 'laid', 'free'],
  },
  recipe: {
    id: 'code',
    fields: { code: { t: 'string', pattern: /^[a-z][a-z-]{1,18}[a-z]$/u }, title: str(2, 60), days: int(1, 400), maxDays: int(1, 800), wash: { t: 'enum', of: ['brine', 'beer', 'marc', 'dry'], default: 'dry' } },
    required: F('title-optional') ? ['code', 'days', 'wash'] : ['code', 'title', 'days', 'wash'],
  },
  wheel: {
    id: 'no',
    fields: { no: { t: 'int', ro: true }, cave: { t: 'ref', of: 'cave', immutable: true }, recipe: { t: 'ref', of: 'recipe' }, farm: { t: 'string', ro: true },
      mark: { t: 'string', pattern: F('mark-loose') ? /[A-Z]{2}-[0-9]{4}/u : /^[A-Z]{2}-[0-9]{4}$/u }, milk: { t: 'enum', of: ['cow', 'goat', 'ewe', 'buffalo'] },
      weightGrams: int(500, F('weight-open') ? 1e9 : 60000), madeOn: { t: 'string', date: !F('date-loose') }, floorCents: int(0, 10000000, { visible: ['farm', 'cellarer'], writable: ['farm'] }),
      tags: { t: 'array', items: str(1, 20), max: 5, unique: !F('tags-twice') }, state: { t: 'string', ro: true, enum: ['green', 'ripening', 'ripe', 'promised', 'gone', 'spoiled'] },
      laidAt: { t: 'string', ro: true }, ripeAt: { t: 'string', ro: true }, cause: { t: 'string', ro: true }, buyer: { t: 'string', ro: true }, turns: { t: 'int', ro: true }, points: { t: 'int', ro: true } },
    required: ['no', 'cave', 'recipe', 'farm', 'mark', 'milk', 'weightGrams', 'madeOn', 'state', 'turns'],
  },
  turning: {
    id: 'id',
    fields: { id: { t: 'string', ro: true }, wheel: { t: 'ref', of: 'wheel', immutable: true }, nr: { t: 'int', ro: true }, keeper: { t: 'string', ro: true }, brine: { t: 'bool', default: false },
      remark: str(1, 140), at: { t: 'string', ro: true } },
    required: ['id', 'wheel', 'nr', 'keeper', 'brine', 'at'],
  },
  grading: {
    id: 'id',
    fields: { id: { t: 'string', ro: true }, wheel: { t: 'ref', of: 'wheel', immutable: true }, taster: { t: 'string', ro: true }, points: int(0, 100), finding: { t: 'union', of: ['praise', 'blemish'] }, at: { t: 'string', ro: true } },
    required: ['id', 'wheel', 'taster', 'points', 'at'],
  },
  claim: {
    id: 'id',
    fields: { id: { t: 'string', ro: true }, wheel: { t: 'ref', of: 'wheel', immutable: true }, dealer: { t: 'string', ro: true }, house: { t: 'string', ro: true },
      offerCents: int(1, 10000000), limitCents: int(1, 20000000, { visible: ['dealer'] }), shipTo: { t: 'value', of: 'address' },
      state: { t: 'string', ro: true, enum: ['offered', 'accepted', 'refused', 'outbid', 'withdrawn', 'lapsed', 'collected'] },
      reason: { t: 'string', ro: true }, madeAt: { t: 'string', ro: true }, decidedAt: { t: 'string', ro: true } },
    required: ['id', 'wheel', 'dealer', 'house', 'offerCents', 'shipTo', 'state', 'madeAt'],
  },
  hook: {
    id: 'id',
    fields: { id: { t: 'string', ro: true }, owner: { t: 'string', ro: true }, url: { t: 'string', uri: true, max: 300 }, kinds: { t: 'array', items: { t: 'string', kind: true }, max: 12 },
      live: { t: 'bool', default: true }, secret: { t: 'string', ro: true, once: true } },
    required: ['id', 'owner', 'url', 'live'],
  },
};
const roundAway = x => x < 0 ? -Math.round(-x) : Math.round(x);
// what edition e1 calls and shows otherwise
const OLD = {
  cave: { extra: { keyholder: { t: 'string', gone: true, down: () => 'the office' } } },
  wheel: {
    weightGrams: { name: 'grams' },
    milk: F('old-milk') ? {} : { def: { t: 'enum', of: ['cow', 'goat', 'sheep', 'buffalo'] }, down: v => v === 'ewe' ? 'sheep' : v, up: v => v === 'sheep' ? 'ewe' : v },
  },
  turning: F('old-brine') ? {} : { brine: { absent: true } },
  claim: { offerCents: { name: 'offer', def: { t: 'number' }, down: v => F('old-offer') ? v : v / 100, up: v => roundAway(v * 100) } },
};
const specCache = {};
function specs(res, ed) {                       // name in this edition -> definition, its newest name, ways up and down
  return specCache[res + ed] ??= (() => {
    const out = new Map(), old = ed === 'e1' ? OLD[res] ?? {} : {};
    for (const [name, def] of Object.entries(R[res].fields)) {
      const o = old[name] ?? {};
      if (o.absent) continue;
      out.set(o.name ?? name, { name: o.name ?? name, field: name, def: o.def ? { ...def, min: undefined, max: undefined, ...o.def } : def, newest: def, mapped: Boolean(o.def), up: o.up, down: o.down });
    }
    for (const [name, def] of Object.entries(old.extra ?? {})) out.set(name, { name, field: null, def, newest: def, down: def.down });
    return out;
  })();
}
const nameIn = (res, field, ed) => { for (const s of specs(res, ed).values()) if (s.field === field) return s.name; return field; };

const short = v => { const s = JSON.stringify(v); return s === undefined ? 'nothing' : s.length > 80 ? s.slice(0, 77) + '...' : s; };
const bad = (out, path, v, expected, k = 'value') => { out.push({ in: 'body', path, found: short(v), expected, k }); return false; };
const isMap = v => v !== null && typeof v === 'object' && !Array.isArray(v);
const len = s => { let n = 0; for (const _ of s) n++; return n; };
const realDate = s => { const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s); if (!m) return false; const d = new Date(Date.UTC(+m[1], m[2] - 1, +m[3])); if (+m[1] < 100) d.setUTCFullYear(+m[1]); return d.getUTCMonth() === m[2] - 1 && d.getUTCDate() === +m[3]; };
const realUri = s => { if (!/^https?:\/\/[^\s"<>\\^`{|}]+$/i.test(s) || /[^\x21-\x7e]/.test(s) || /%(?![0-9a-f]{2})/i.test(s)) return false; try { return Boolean(new URL(s).hostname); } catch { return false; } };
const KINDS = ['wheel.laid', 'wheel.ripe', 'wheel.spoiled', 'wheel.weighed', 'claim.made', 'claim.decided', 'claim.forfeited', 'claim.collected', 'cave.status'];
const kindKnown = k => k === '*' || KINDS.includes(k) || (k.endsWith('.*') && KINDS.some(x => x.startsWith(k.slice(0, -1))));

function fits(def, v, path, out) {
  switch (def.t) {
    case 'string':
      if (typeof v !== 'string') return bad(out, path, v, 'text', 'type');
      if (def.min !== undefined && len(v) < def.min) return bad(out, path, v, `at least ${def.min} characters`);
      if (def.max !== undefined && len(v) > def.max) return bad(out, path, v, `at most ${def.max} characters`);
      if (def.pattern && !def.pattern.test(v)) return bad(out, path, v, `text like ${def.pattern.source}`);
      if (def.date && !realDate(v)) return bad(out, path, v, 'a date');
      if (def.uri && !realUri(v)) return bad(out, path, v, 'an address');
      if (def.country && !COUNTRIES.has(F('country-any') ? v.toUpperCase() : v)) return bad(out, path, v, 'a country');
      if (def.kind && !kindKnown(v)) return bad(out, path, v, 'a kind of event');
      return true;
    case 'int':
      if (typeof v !== 'number' || !Number.isInteger(v)) return bad(out, path, v, 'a whole number', 'type');
      if (def.min !== undefined && v < def.min) return bad(out, path, v, `at least ${def.min}`);
      if (def.max !== undefined && v > def.max) return bad(out, path, v, `at most ${def.max}`);
      return true;
    case 'number':
      if (typeof v !== 'number') return bad(out, path, v, 'a number', 'type');
      if (def.min !== undefined && v < def.min) return bad(out, path, v, `at least ${def.min}`);
      if (def.max !== undefined && v > def.max) return bad(out, path, v, `at most ${def.max}`);
      return true;
    case 'bool': return typeof v === 'boolean' || bad(out, path, v, 'true or false', 'type');
    case 'enum': return def.of.includes(v) || bad(out, path, v, 'one of ' + def.of.join(', '), typeof v === 'string' ? 'value' : 'type');
    case 'ref': {
      const d = R[def.of].fields[R[def.of].id];
      return d.t === 'int' ? (Number.isInteger(v) || bad(out, path, v, 'a whole number', 'type')) : (typeof v === 'string' || bad(out, path, v, 'text', 'type'));
    }
    case 'array': {
      if (!Array.isArray(v)) return bad(out, path, v, 'a list', 'type');
      let ok = true;
      if (def.max !== undefined && v.length > def.max) ok = bad(out, path, v, `at most ${def.max} of them`);
      if (def.unique && new Set(v.map(x => JSON.stringify(x))).size < v.length) ok = bad(out, path, v, 'each once');
      v.forEach((x, i) => { ok = fits(def.items, x, `${path}.${i}`, out) && ok; });
      return ok;
    }
    case 'value': return fitsMap(R[def.of], v, path, out);
    case 'union': {
      if (!isMap(v)) return bad(out, path, v, 'a map', 'type');
      if (!def.of.includes(v.kind)) return F('finding-any') || (v.kind === undefined ? bad(out, path + '.kind', undefined, 'one of ' + def.of.join(', '), 'missing') : bad(out, path + '.kind', v.kind, 'one of ' + def.of.join(', ')));
      return fitsMap(R[v.kind], v, path, out);
    }
  }
}
function fitsMap(res, v, path, out) {
  if (!isMap(v)) return bad(out, path, v, 'a map', 'type');
  let ok = true;
  for (const [k, x] of Object.entries(v)) {
    const def = Object.hasOwn(res.fields, k) ? res.fields[k] : null;
    if (!def) ok = bad(out, `${path}.${k}`, x, 'nothing of this name', 'unknown');
    else ok = fits(def, x, `${path}.${k}`, out) && ok;
  }
  for (const k of res.required) if (!Object.hasOwn(v, k)) ok = bad(out, `${path}.${k}`, undefined, 'a value', 'missing');
  return ok;
}

/* ---------- rows ---------- */
const DB = {};
for (const n of ['cave', 'recipe', 'wheel', 'turning', 'grading', 'claim', 'hook']) DB[n] = new Map();
const byWheel = { turning: new Map(), grading: new Map(), claim: new Map() };
const byCave = new Map(), marks = new Map(), names = new Map(), byRecipe = new Map(), tombs = new Map(), nrs = new Map();
let caveNo = 0, wheelNo = 0, rowSeq = 0, allNr = 0;
const setOf = (map, key) => { let s = map.get(key); if (!s) map.set(key, s = new Set()); return s; };
const hex = n => crypto.randomBytes(n).toString('hex');
const word = (n, abc) => { let s = ''; while (s.length < n) for (const b of crypto.randomBytes(n)) if (b < 256 - 256 % abc.length && s.length < n) s += abc[b % abc.length]; return s; };

function derived(res, row) {
  if (res === 'cave') {
    let laid = 0;
    for (const w of byCave.get(row.no) ?? []) if (w.state === 'ripening' || w.state === 'ripe' || (w.state === 'promised' && !F('laid-unpromised'))) laid++;
    return { laid, free: row.capacity - laid };
  }
  if (res === 'wheel') {
    const d = { turns: byWheel.turning.get(row.no)?.size ?? 0 };
    for (const g of byWheel.grading.get(row.no) ?? []) d.points = d.points === undefined ? g.points : (F('points-least') ? Math.min : Math.max)(d.points, g.points);
    return d;
  }
  return {};
}
const whole = (res, row) => ({ ...row, ...derived(res, row) });

function restrict(res, full, caller, shown) {           // what this caller sees of it, in the newest words
  const out = {};
  for (const [name, def] of Object.entries(R[res].fields)) {
    const v = full[name];
    if (v === undefined || v === null) continue;
    if (def.once && !F('secret-again')) continue;
    if (def.visible && !(caller && def.visible.includes(caller.user))) {
      if (!(F('floor-seen') && name === 'floorCents') && !(F('memo-seen') && name === 'memo') && !(F('limit-seen') && name === 'limitCents')) continue;
    }
    if (shown && name !== R[res].id && !shown.includes(name)) continue;
    out[name] = v;
  }
  return out;
}
function down(res, obj, ed, shown) {
  if (ed === 'e2') return obj;
  const out = {};
  for (const s of specs(res, ed).values()) {
    if (s.field === null) { if (!shown && !F('old-keyholder')) out[s.name] = s.down(); continue; }
    if (obj[s.field] === undefined) continue;
    const name = F('old-new-word') && s.name === 'grams' ? s.field : s.name;
    out[name] = s.down ? s.down(obj[s.field]) : obj[s.field];
  }
  return out;
}
function shownFields(op, row, caller) {                   // null = all
  let all = [];
  for (const r of RULES[op] ?? []) if (forUser(r, caller) && (!r.if || r.if(row, caller))) { if (!r.fields || F('fields-all')) return null; all = all.concat(r.fields); }
  return all;
}
function show(res, row, caller, ed, op = 'read ' + res, extra) {
  const shown = shownFields(op, row, caller);
  const out = restrict(res, whole(res, row), caller, shown);
  if (extra) Object.assign(out, extra);
  if (F('cave-no-text') && res === 'cave') out.no = String(out.no);
  return down(res, out, ed, shown);
}

/* ---------- who may ---------- */
const farmOf = row => DB.wheel.get(row.wheel)?.farm ?? tombs.get(row.wheel)?.farm;
const RULES = {};
const allow = (ops, to, cond, fields) => { for (const op of ops) (RULES[op] ??= []).push({ to: [].concat(to), if: cond, fields }); };
allow(['list recipe', 'read recipe'], 'anyone');
allow(['upsert recipe', 'delete recipe'], 'cellarer');
allow(['create cave', 'list cave', 'read cave', 'update cave', 'delete cave', 'seal cave', 'unseal cave'], 'cellarer');
allow(['list cave', 'read cave'], 'farm');
allow(['list wheel', 'read wheel', 'lay wheel', 'spoil wheel'], 'cellarer');
allow(['create wheel'], 'farm');
allow(['read wheel', 'update wheel', 'delete wheel'], 'farm', (w, c) => w.farm === c.id || F('farm-reads-all'));
allow(['list wheel'], 'farm', (w, c) => w.farm === c.id || F('farm-lists-all'));
allow(['list wheel', 'read wheel'], 'dealer', (w, c) => ['ripening', 'ripe'].includes(w.state) || w.buyer === c.id || F('dealer-sees-green'));
allow(['create turning', 'list turning', 'read turning', 'create grading', 'list grading', 'read grading'], 'cellarer');
allow(['list turning', 'read turning', 'list grading', 'read grading'], 'farm', (t, c) => farmOf(t) === c.id || F('turning-open'));
allow(['create claim'], 'dealer');
allow(['list claim', 'read claim'], 'dealer', (k, c) => k.house === c.house || F('claims-open'));
allow(['withdraw claim'], 'dealer', (k, c) => k.dealer === c.id || F('withdraw-house'));
allow(['list claim', 'read claim', 'accept claim', 'refuse claim'], 'farm', (k, c) => farmOf(k) === c.id);
allow(['list claim', 'read claim'], 'cellarer', null, ['wheel', 'state', 'shipTo']);
allow(['collect claim'], F('farm-collects') ? ['cellarer', 'farm'] : 'cellarer');
allow(['create hook', 'stream events'], ['cellarer', 'farm', 'dealer']);
allow(['list hook'], ['cellarer', 'farm', 'dealer'], (h, c) => h.owner === c.id || F('hooks-open'));
allow(['read hook', 'update hook', 'delete hook'], ['cellarer', 'farm', 'dealer'], (h, c) => h.owner === c.id);
const forUser = (r, caller) => r.to.includes('anyone') || (caller && r.to.includes(caller.user));
const may = (op, row, caller) => (RULES[op] ?? []).some(r => forUser(r, caller) && (!r.if || r.if(row, caller)));

/* ---------- refusals ---------- */
const CODES = {
  'no-body': [400, 'A body is needed here.'], garbled: [400, 'The body is no JSON.'], 'wrong-media': [415, 'Send JSON.'], unacceptable: [406, 'There is only JSON here.'],
  'bad-parameter': [400, '{name} cannot be asked for so'], 'bad-page': [416, 'There is no such page.'], lacking: [400, '{name} is missing'], stray: [400, '{name} is not known here'], unfit: [422, '{name} does not fit'],
  'no-route': [404, 'There is nothing at this path.'], 'no-method': [405, 'Not with this method.'], 'who-are-you': [401, 'Show a seal or a password that is good.'], 'stale-seal': [401, 'The seal is of another time.'],
  'not-yours': [403, 'That is not for you to do.'], 'hands-off': [403, 'You may look at this and not touch it.'], 'no-such': [404, 'There is no such thing.'], 'cleared-away': [410, 'It was here and is gone.'],
  dangling: [F('dangling-404') ? 404 : 422, 'What is referred to is not there.'], 'still-used': [409, 'Something refers to this.'], twice: [F('twice-422') ? 422 : 409, 'There is one like this.'], 'wrong-state': [409, 'Not in the state that it is in.'],
  'cave-in-use': [409, 'There are wheels in this cave.', true], 'no-room': [409, 'The cave is full or sealed.', true], 'too-late': [409, 'This claim has been decided.', true], 'wheel-not-ripe': [409, 'The wheel is not to be had.', true],
  changed: [412, 'It has changed since.'], 'tag-needed': [428, 'Say which one you have seen.'], 'once-reused': [422, 'That key was for another request.'], busy: [409, 'Somebody is at it.'],
  'too-many': [429, 'Slower.'], 'used-up': [403, 'No more of these.'], 'too-large': [413, 'Too large.'], 'too-slow': [408, 'Too slow.'], 'no-edition': [404, 'There is no such edition.'], 'old-edition': [410, 'This edition has ended.'],
  closed: [503, 'Come again later.'], broken: [500, 'Something broke here.'],
  'cave-sealed': [409, 'Nothing goes into a sealed cave.', true], 'too-small': [422, 'More wheels lie there than that.', true], 'too-green': [409, 'It cannot be tasted yet.', true], unripe: [409, 'Only ripe wheels are claimed.', true], underbid: [422, 'The farm wants more.', true],
};
class Refusal { constructor(code, places, headers) { this.code = code; this.places = places; this.headers = headers ?? {}; this.own = Boolean(CODES[code][2]); } }
const refuse = (code, places, headers) => { throw new Refusal(code, places, headers); };
function refusalBody(r, trace) {
  let [, text] = CODES[r.code];
  const first = r.places?.[0];
  if (first) text = text.replaceAll('{name}', first.path || 'the body');
  const places = r.places?.length && !F('places-missing') ? r.places.map(({ k, ...p }) => F('path-pointer') ? { ...p, path: '/' + p.path.replaceAll('.', '/') } : p) : undefined;
  const code = F('underbid-code') && r.code === 'underbid' ? 'unfit' : r.code;
  const one = { kind: code, text, trace: F('trace-differs') ? trace + 'x' : trace, ...(places ? { places } : {}) };
  return F('error-bare') ? one : { faults: [one] };
}
const invalid = places => {
  const k = places[0].k;
  refuse(k === 'missing' && !F('lacking-422') ? 'lacking' : k === 'unknown' ? 'stray' : 'unfit', places);
};

/* ---------- rates ---------- */
const RATES = {
  caller: { kind: 'fixed', limit: F('rate-off') ? 1e9 : 400, window: 60e3, cost: F('cost-one') ? {} : { 'list wheel': 2 }, seen: new Map() },
  turning: { kind: 'bucket', limit: 240, burst: F('burst-200') ? 200 : 60, window: 60e3, seen: new Map() },
  stranger: { kind: 'sliding', limit: F('stranger-rate') ? 1e9 : 200, window: 60e3, seen: new Map() },
  address: { kind: 'fixed', limit: 9000, window: 60e3, seen: new Map() },
};
function look(rate, key, cost) {               // what is left of it, and when there is more
  const t = now(); let s = rate.seen.get(key);
  if (rate.kind === 'fixed') {
    if (!s || t >= s.start + rate.window) { s = { start: t, used: 0, fresh: true }; }
    return { s, ok: s.used + cost <= rate.limit, left: () => rate.limit - s.used, ms: () => s.start + rate.window - t, take() { rate.seen.set(key, s); s.used += cost; }, give() { s.used -= cost; } };
  }
  if (rate.kind === 'sliding') {
    if (!s) rate.seen.set(key, s = { at: [] });
    while (s.at.length && s.at[0] <= t - rate.window) s.at.shift();
    return { s, ok: s.at.length + cost <= rate.limit, left: () => rate.limit - s.at.length, ms: () => s.at.length ? s.at[0] + rate.window - t : 0, take() { s.at.push(t); }, give() { s.at.pop(); } };
  }
  if (!s) rate.seen.set(key, s = { have: rate.burst, at: t });
  const gained = (t - s.at) * rate.limit / rate.window;
  s.have = Math.min(rate.burst, s.have + gained); s.at = t;
  return { s, ok: s.have >= cost, left: () => Math.floor(s.have), ms: () => (Math.floor(s.have) + 1 - s.have) * rate.window / rate.limit, take() { s.have -= cost; }, give() { s.have += cost; } };
}
function tell(ctx, list) {
  if (F('pace-untold') || !list.length) return;
  let best = list[0];
  for (const x of list) if (x.l.left() < best.l.left()) best = x;
  ctx.pace = { 'X-Pace-Limit': String(best.rate.limit), 'X-Pace-Left': String(Math.max(0, best.l.left())), 'X-Pace-Reset': String(Math.max(0, Math.ceil(best.l.ms() / 1000))) };
}
function count(ctx, wanted) {
  const looked = wanted.map(([rate, key]) => ({ rate, l: look(rate, key, rate.cost?.[ctx.ep.op] ?? 1) }));
  const no = looked.filter(x => !x.l.ok);
  if (no.length) {
    for (const x of ctx.counted) x.l.give();
    ctx.counted = [];
    tell(ctx, looked);
    const wait = Math.max(...no.map(x => Math.ceil(x.l.ms() / 1000)), 1);
    refuse('too-many', undefined, F('no-retry-after') ? {} : { 'Retry-After': String(wait) });
  }
  for (const x of looked) x.l.take();
  ctx.counted.push(...looked);
  tell(ctx, ctx.counted);
}
const quotas = new Map();

/* ---------- events ---------- */
const events = [];                              // kept twelve hours, for the feed
const streams = new Set();
let eventSeq = 0;
function snapshot(res, row) { return { ...row, ...derived(res, row) }; }
function payloadFor(ev, caller, ed) {
  if (ev.data !== undefined) return ev.data;
  const rules = (RULES['read ' + ev.res] ?? []).filter(r => forUser(r, caller));
  let shown = null;
  if (!F('fields-all')) for (const r of rules) if (r.fields) shown = shown ? shown.filter(f => r.fields.includes(f)) : r.fields;
  const out = restrict(ev.res, ev.full, caller, shown);
  return down(ev.res, out, F('old-event') ? 'e2' : ed, shown);
}
const envelope = (ev, caller, ed) => JSON.stringify({ event: ev.id, what: ev.kind, ...(F('when-missing') ? {} : { when: iso(ev.at) }), about: payloadFor(ev, caller, ed) });
const wants = (hook, kind) => !hook.kinds || F('kinds-ignored') || hook.kinds.some(k => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1))));
function emit(kind, res, row, { data, to } = {}) {
  if (F('claim-made-never') && kind === 'claim.made') return;
  if (F('ripe-silent') && kind === 'wheel.ripe') return;
  const ev = { id: 'ev' + String(++eventSeq).padStart(8, '0') + hex(4), n: eventSeq, kind, at: now(), res, full: snapshot(res, row), data, to };
  events.push(ev);
  while (events.length && events[0].at < now() - 12 * HOUR) events.shift();
  for (const hook of DB.hook.values()) {
    if (!hook.live && !F('dead-hook')) continue;
    if (!wants(hook, kind)) continue;
    const maker = hook.$maker;
    if (to ? !(to(hook) || F('collected-all')) : !(may('read ' + res, ev.full, maker) || F('hook-unread'))) continue;
    const job = { hook, ev, body: envelope(ev, maker, hook.$ed), tries: 0 };
    queue(job);
    if (F('event-twice') && kind === 'claim.decided') queue({ ...job, ev: { ...ev, id: ev.id + 'b' }, body: job.body.replace(ev.id, ev.id + 'b') });
  }
  for (const s of streams) toStream(s, ev);
}
function toStream(s, ev) {
  if (ev.to || !may('read ' + ev.res, ev.full, s.caller)) return;
  s.res.write(`id: ${ev.id}\nevent: ${ev.kind}\ndata: ${envelope(ev, s.caller, s.ed)}\n\n`);
  if (s.res.writableLength > 256 * 1024) s.res.destroy();
}
let underway = 0;
const lanes = new Map();                        // one hook and one row: in order
function queue(job) {
  const key = job.hook.id + ' ' + job.ev.res + ' ' + job.ev.full[R[job.ev.res].id];
  job.lane = key;
  const lane = lanes.get(key);
  if (lane) lane.push(job); else { lanes.set(key, [job]); attempt(job); }
}
function doneWith(job) {
  const lane = lanes.get(job.lane);
  if (!lane) return;
  lane.shift();
  if (lane.length) attempt(lane[0]); else lanes.delete(job.lane);
}
const WAITS = [10e3, 120e3, 1200e3];
function attempt(job) {
  const { hook, ev } = job;
  if (!DB.hook.has(hook.id) || (!hook.live && !F('dead-hook'))) return doneWith(job);
  job.tries++;
  const ts = String(Math.floor(now() / 1000));
  const signed = F('seal-body-alone') ? job.body : `${ev.id}.${ts}.${job.body}`;
  const mac = crypto.createHmac('sha256', hook.secret).update(signed).digest('hex');
  let ended = false;
  const end = (ok, status, wait) => {
    if (ended) return; ended = true; underway--;
    if (ok) { hook.$failing = null; return doneWith(job); }
    if (status === 410 && !F('gone-goes-on')) { disable(hook); return doneWith(job); }
    hook.$failing ??= now();
    if (now() - hook.$failing >= 2 * DAY && !F('never-disabled')) { disable(hook); return doneWith(job); }
    if (job.tries > WAITS.length || F('no-retry')) return doneWith(job);
    later(now() + Math.max(WAITS[job.tries - 1], wait ?? 0), () => attempt(job));
  };
  underway++;
  try {
    const url = new URL(hook.url), lib = url.protocol === 'https:' ? https : http;
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(job.body), 'X-Cave-Seal': `at=${ts},mac=${mac}`, 'X-Cave-Event': ev.id, ...(F('kind-untold') ? {} : { 'X-Cave-Kind': ev.kind }) };
    const rq = lib.request(url, { method: 'POST', headers, agent: false }, rs => {
      rs.resume();
      const after = Number(rs.headers['retry-after']);
      end(rs.statusCode >= 200 && rs.statusCode < 300, rs.statusCode, after > 0 ? Math.min(after * 1000, DAY) : 0);
      setTimeout(() => rq.destroy(), 5000).unref();
    });
    rq.setTimeout(5000, () => rq.destroy());
    setTimeout(() => { if (!ended) rq.destroy(); }, 5000).unref();
    rq.on('error', () => end(false, 0));
    rq.on('close', () => end(false, 0));
    rq.end(job.body);
  } catch { end(false, 0); }
}
function disable(hook) { hook.live = false; }

/* ---------- what is done ---------- */
function enter(res, row, field, state) {
  row[field] = state;
  const stamp = row.$stamp = (row.$stamp ?? 0) + 1;
  const still = () => row.$stamp === stamp && DB[res].get(row[R[res].id]) === row;
  if (res === 'cave' && state === 'sealed' && !F('air-never')) later(now() + (F('air-early') ? 24 : 48) * HOUR, () => { if (still()) move.air(row); });
  if (res === 'wheel' && state === 'ripening' && !F('ripen-never')) later(Date.parse(row.ripeAt), () => { if (still()) move.ripen(row); });
  if (res === 'claim' && state === 'offered') later(now() + (F('lapse-late') ? 96 : 72) * HOUR, () => { if (still()) move.lapse(row); });
  if (res === 'claim' && state === 'accepted' && !F('forfeit-never')) later(now() + 7 * DAY, () => { if (still()) move.forfeit(row); });
}
const decided = k => emit('claim.decided', 'claim', k);
function outbidAll(w) { if (!F('outbid-forgotten')) for (const k of [...byWheel.claim.get(w.no) ?? []]) if (k.state === 'offered') move.outbid(k); }
const move = {
  seal(c) { c.sealedAt = iso(now()); enter('cave', c, 'status', 'sealed'); emit('cave.status', 'cave', c); },
  unseal(c) { enter('cave', c, 'status', 'open'); emit('cave.status', 'cave', c); },
  air(c) { enter('cave', c, 'status', 'open'); emit('cave.status', 'cave', c); },
  lay(w) {
    w.laidAt = iso(now());
    w.ripeAt = iso(now() + (DB.recipe.get(w.recipe).days - (F('ripe-day-less') ? 1 : 0)) * DAY);
    enter('wheel', w, 'state', 'ripening'); emit('wheel.laid', 'wheel', w);
  },
  ripen(w) { enter('wheel', w, 'state', 'ripe'); emit('wheel.ripe', 'wheel', w); },
  spoil(w, body) { w.cause = body.cause; enter('wheel', w, 'state', 'spoiled'); emit('wheel.spoiled', 'wheel', w, { data: { wheel: w.no, farm: w.farm, cause: w.cause } }); },
  promise(w, buyer) { if (!F('buyer-unset')) w.buyer = buyer; enter('wheel', w, 'state', 'promised'); outbidAll(w); },
  release(w) { w.buyer = ''; enter('wheel', w, 'state', 'ripe'); },
  ship(w) { enter('wheel', w, 'state', 'gone'); },
  accept(k) { k.decidedAt = iso(now()); enter('claim', k, 'state', 'accepted'); decided(k); const w = DB.wheel.get(k.wheel); move.promise(w, k.dealer); },
  refuse(k, body) { k.decidedAt = iso(now()); k.reason = body?.reason !== undefined ? body.reason : 'not this time'; enter('claim', k, 'state', 'refused'); decided(k); },
  outbid(k) { k.decidedAt = iso(now()); enter('claim', k, 'state', 'outbid'); decided(k); },
  withdraw(k) { if (!F('decided-unset')) k.decidedAt = iso(now()); enter('claim', k, 'state', 'withdrawn'); decided(k); },
  lapse(k) { k.decidedAt = iso(now()); enter('claim', k, 'state', 'lapsed'); decided(k); },
  collect(k) { enter('claim', k, 'state', 'collected'); emit('claim.collected', 'claim', k, { to: h => h.owner === k.dealer }); if (!F('ship-forgotten')) move.ship(DB.wheel.get(k.wheel)); },
  forfeit(k) { enter('claim', k, 'state', 'lapsed'); emit('claim.forfeited', 'claim', k, { data: k.id }); if (!F('release-forgotten')) move.release(DB.wheel.get(k.wheel)); },
};
const FROM = { seal: ['open'], unseal: ['sealed'], lay: ['green'], spoil: F('spoil-green') ? ['green', 'ripening', 'ripe'] : ['ripening', 'ripe'], accept: ['offered'], refuse: ['offered'], withdraw: F('withdraw-decided') ? ['offered', 'accepted'] : ['offered'], collect: F('collect-offered') ? ['accepted', 'offered'] : ['accepted'] };
function guard(name, row) {
  const field = 'status' in row ? 'status' : 'state';
  if (!FROM[name].includes(row[field])) refuse(name === 'withdraw' ? 'too-late' : 'wrong-state');
  if (name === 'seal' && derived('cave', row).laid > 0 && !F('seal-in-use')) refuse('cave-in-use');
  if (name === 'lay') {
    const c = DB.cave.get(row.cave), { free } = derived('cave', c);
    if ((free <= 0 && !F('lay-full')) || (c.status !== 'open' && !F('lay-sealed'))) refuse('no-room');
  }
  if (name === 'accept' && DB.wheel.get(row.wheel).state !== 'ripe' && !F('accept-unripe')) refuse('wheel-not-ripe');
}

/* ---------- bodies ---------- */
const notWritable = (def, caller) => def.ro || (def.writable && !(caller && def.writable.includes(caller.user)));
function order(places, body) {
  const keys = Object.keys(body), at = p => { const i = keys.indexOf(p.path.split('.')[0]); return i < 0 ? keys.length : i; };
  return places.sort((a, b) => at(a) - at(b) || (a.k === 'missing') - (b.k === 'missing'));
}
// what was sent, in the newest words; makes = a whole row is made of it
function take(res, body, ed, caller, { bound = {}, row = null, makes = true } = {}) {
  if (!isMap(body)) invalid([{ in: 'body', path: '', found: short(body), expected: 'a map', k: 'type' }]);
  const out = [], got = {}, sp = specs(res, ed);
  for (const [k, v] of Object.entries(body)) {
    const s = sp.get(k);
    if (!s) { if (!F('stray-taken')) bad(out, k, v, 'nothing of this name', 'unknown'); continue; }
    if (notWritable(s.def, caller)) { if (F('house-sent') && k === 'house' && typeof v === 'string') got.house = v; continue; }
    if (s.field === null) { if (v !== null || makes) fits(s.def, v, k, out); continue; }
    if (v === null) {
      if (makes || R[res].required.includes(s.field)) { bad(out, k, v, 'a value'); continue; }
      got[s.field] = null; continue;
    }
    let value = v;
    if (!makes && row && isMap(v) && isMap(row[s.field])) value = merge(row[s.field], v);
    const n = out.length;
    if (!fits(s.def, value, k, out)) continue;
    if (s.up) value = s.up(value);
    if (s.mapped && !fits(s.newest, value, k, out)) { out[n].found = short(v); continue; }
    if (s.field in bound && JSON.stringify(value) !== JSON.stringify(bound[s.field])) { bad(out, k, v, `${bound[s.field]}, as the path says`); continue; }
    if (row && s.def.immutable && JSON.stringify(value) !== JSON.stringify(row[s.field]) && !F('cave-moves')) { bad(out, k, v, 'what it is'); continue; }
    got[s.field] = value;
  }
  if (makes) for (const f of R[res].required) {
    const name = nameIn(res, f, ed), s = sp.get(name);
    if (!s || notWritable(s.def, caller) || s.def.default !== undefined || f in bound) continue;
    if (!Object.hasOwn(body, name)) bad(out, name, undefined, 'a value', 'missing');
  }
  const next = makes ? { ...bound } : { ...row };
  if (makes) for (const [f, def] of Object.entries(R[res].fields)) if (def.default !== undefined && !(f in got)) next[f] = F('wash-default') && f === 'wash' ? 'brine' : def.default;
  for (const [f, v] of Object.entries(got)) if (v === null) delete next[f]; else next[f] = v;
  // rules over fields
  const wrong = f => out.some(p => p.path.split('.')[0] === nameIn(res, f, ed));
  if (res === 'recipe' && next.maxDays !== undefined && next.days !== undefined && !wrong('days') && !wrong('maxDays') && next.maxDays < next.days && !F('rule-forgotten')) bad(out, 'maxDays', next.maxDays, 'no fewer than the days');
  if (res === 'claim' && next.limitCents !== undefined && next.offerCents !== undefined && !wrong('offerCents') && !wrong('limitCents') && next.limitCents < next.offerCents) bad(out, 'limitCents', next.limitCents, 'no less than the offer');
  if (out.length) invalid(order(out, body));
  return { next, got };
}
function merge(a, b) {
  const out = { ...a };
  for (const [k, v] of Object.entries(b)) if (v === null) delete out[k]; else out[k] = isMap(v) && isMap(out[k]) ? merge(out[k], v) : v;
  return out;
}
const same = (a, b) => { const clean = o => JSON.stringify(Object.entries(o).filter(([k, v]) => !k.startsWith('$') && v !== undefined).sort(([x], [y]) => x < y ? -1 : 1).map(([k, v]) => [k, sorted(v)])); return clean(a) === clean(b); };
const sorted = v => isMap(v) ? Object.fromEntries(Object.entries(v).sort(([x], [y]) => x < y ? -1 : 1).map(([k, x]) => [k, sorted(x)])) : v;

/* ---------- routes ---------- */
const EP = [];
const idem = { kept: new Map() };
function on(key, op, more = {}) {
  const [method, tmpl] = key.split(' ');
  const names = [];
  const re = new RegExp('^' + tmpl.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, (_, n) => { names.push(n); return '([^/]+)'; }) + '$');
  const [verb, res] = op.split(' ');
  EP.push({ key, method, tmpl, re, names, op, verb, res, weight: tmpl.replace(/\{\w+\}/g, '').length, body: 'none', params: {}, idem: method === 'POST', ...more });
}
const PAGE = { style: 'cursor' };
on('GET /placard', 'show placard', { public: true });
on('POST /caves', 'create cave', { body: 'json' });
on('GET /caves', 'list cave', { page: PAGE, order: 'name', params: { status: { filter: 'status', of: { t: 'enum', of: ['open', 'sealed'] } }, minFree: { filter: 'free', op: '>=', of: { t: 'int' } } } });
on('GET /caves/{no}', 'read cave', { etag: true });
on('PATCH /caves/{no}', 'update cave', { body: 'patch', ifMatch: 'required' });
on('DELETE /caves/{no}', 'delete cave');
on('POST /caves/{no}:seal', 'seal cave');
on('POST /caves/{no}:unseal', 'unseal cave');
on('GET /recipes', 'list recipe', { page: { style: 'offset' }, order: 'code', params: { wash: { filter: 'wash', split: true, of: { t: 'enum', of: ['brine', 'beer', 'marc', 'dry'] } }, q: { search: 'title', of: str(2) } } });
on('GET /recipes/{code}', 'read recipe', { etag: true, cache: 'public, max-age=120' });
on('PUT /recipes/{code}', 'upsert recipe', { body: 'json', ifMatch: 'accepted' });
on('DELETE /recipes/{code}', 'delete recipe');
on('POST /caves/{cave}/wheels', 'create wheel', { body: 'json', parent: 'cave' });
on('GET /wheels', 'list wheel', { page: PAGE, order: 'no', sorts: { weight: 'weightGrams', made: 'madeOn' }, params: {
  cave: { filter: 'cave', of: { t: 'int' } }, milk: { filter: 'milk', versioned: true }, state: { filter: 'state', split: true, of: { t: 'enum', of: R.wheel.fields.state.enum } },
  heavier: { filter: 'weightGrams', op: '>', of: int(0, 100000) }, since: { filter: 'madeOn', op: '>=', of: { t: 'string', date: true } }, tag: { filter: 'tags', op: 'has', of: str(1, 20) }, sort: { of: { t: 'enum', of: ['weight', '-weight', 'made', '-made'] } } } });
on('GET /wheels/{no}', 'read wheel', { etag: true });
on('PATCH /wheels/{no}', 'update wheel', { body: 'patch', ifMatch: 'accepted', in: ['green', 'ripening'] });
on('DELETE /wheels/{no}', 'delete wheel', { in: F('delete-laid') ? ['green', 'ripening'] : ['green'] });
on('POST /wheels/{no}:lay', 'lay wheel');
on('POST /wheels/{no}:spoil', 'spoil wheel', { body: 'json' });
on('POST /wheels/{wheel}/turnings', 'create turning', { body: 'json', parent: 'wheel' });
on('GET /wheels/{wheel}/turnings', 'list turning', { page: PAGE, order: '-nr', parent: 'wheel', params: { brine: { filter: 'brine', of: { t: 'bool' }, notIn: 'e1' } } });
on('GET /turnings/{id}', 'read turning', { notIn: 'e1' });
on('POST /wheels/{wheel}/gradings', 'create grading', { body: 'json', parent: 'wheel' });
on('GET /wheels/{wheel}/gradings', 'list grading', { page: PAGE, order: '-points', parent: 'wheel', notIn: 'e1' });
on('GET /gradings/{id}', 'read grading');
on('POST /wheels/{wheel}/claims', 'create claim', { body: 'json', parent: 'wheel', idemRequired: !F('once-optional') });
on('GET /claims', 'list claim', { page: PAGE, order: '-madeAt', params: { state: { filter: 'state', of: { t: 'enum', of: R.claim.fields.state.enum } }, wheel: { filter: 'wheel', of: { t: 'int' } } } });
on('GET /claims/{id}', 'read claim', { expand: 'with', params: { with: { of: { t: 'enum', of: ['wheel'] } } } });
on('POST /claims/{id}:accept', 'accept claim');
on('POST /claims/{id}:refuse', 'refuse claim', { body: F('refuse-needs-body') ? 'json' : 'optional' });
if (!F('no-withdraw')) on('POST /claims/{id}:withdraw', 'withdraw claim');
on('POST /claims/{id}:collect', 'collect claim');
on('POST /hooks', 'create hook', { body: 'json' });
on('GET /hooks', 'list hook', { page: PAGE });
on('GET /hooks/{id}', 'read hook');
on('PATCH /hooks/{id}', 'update hook', { body: 'patch' });
on('DELETE /hooks/{id}', 'delete hook');
on('GET /feed', 'stream events', { stream: true });
EP.sort((a, b) => b.weight - a.weight);

const BASE = F('base-moved') ? '/affinage' : '/api';
function match(path, ed) {                     // the endpoints of the most literal path that fits
  let found = null;
  for (const ep of EP) {
    if (ed && ep.notIn === ed && !F('old-endpoint')) continue;
    const m = ep.re.exec(path);
    if (!m) continue;
    if (!found) found = { tmpl: ep.tmpl, eps: [], m };
    if (ep.tmpl === found.tmpl || ep.re.source === found.re) found.eps.push([ep, m]);
    found.re ??= ep.re.source;
  }
  return found;
}
const allowOf = f => { const s = new Set(['OPTIONS']); for (const [e] of f.eps) { s.add(e.method); if (e.method === 'GET') s.add('HEAD'); } return [...s].sort().join(', '); };

function route(ctx) {
  const { path } = ctx;
  if (path !== BASE && !path.startsWith(BASE + '/')) refuse('no-route');
  const rest = path.slice(BASE.length), seg = /^\/([^/]*)(\/.*)?$/.exec(rest);
  let ed = seg?.[1], tail = seg?.[2] ?? '';
  let f = null;
  if (ed === 'e1' || ed === 'e2') { ctx.ed = ed; f = match(tail, ed); }
  else if ((f = match(rest))) { ed = F('no-edition-needed') ? 'e2' : null; tail = rest; }
  else { ed = null; f = match(tail); }
  if (!f) refuse('no-route');
  const method = ctx.req.method === 'HEAD' ? 'GET' : ctx.req.method;
  const hit = f.eps.find(([e]) => e.method === method);
  if (!hit && ctx.req.method !== 'OPTIONS') refuse(F('method-404') ? 'no-route' : 'no-method', undefined, F('allow-untold') ? {} : { Allow: allowOf(f) });
  if (!ed) refuse('no-edition');
  ctx.ed = ed;
  if (ed === 'e1' && now() >= Date.UTC(2027, 10, 1) && !F('sunset-ignored')) refuse('old-edition');
  if (!hit) { ctx.options = allowOf(f); return; }
  ctx.ep = hit[0];
  ctx.args = {};
  ctx.tail = tail;
  try { hit[0].names.forEach((n, i) => { ctx.args[n] = decodeURIComponent(hit[1][i + 1]); }); } catch { refuse('no-such'); }
}

function parameters(ctx) {
  const { ep, ed } = ctx, raw = new Map(), out = [], q = ctx.query;
  const no = (name, found, expected) => out.push({ in: 'query', path: name, found: short(found), expected, k: 'value' });
  if (q) for (const piece of q.split('&')) {
    if (piece === '') continue;
    const i = piece.indexOf('='); let k = i < 0 ? piece : piece.slice(0, i), v = i < 0 ? '' : piece.slice(i + 1);
    try { k = decodeURIComponent(k.replaceAll('+', ' ')); v = decodeURIComponent(v.replaceAll('+', ' ')); } catch { no(k, v, 'something that is encoded well'); continue; }
    if (!raw.has(k)) raw.set(k, []); raw.get(k).push(v);
  }
  const P = ctx.params = {};
  const paging = ep.page ? (ep.page.style === 'cursor' ? ['from', 'take'] : ['skip', 'take']) : [];
  for (const [k, vs] of raw) {
    const def = ep.params[k];
    if (paging.includes(k)) { if (vs.length > 1) no(k, vs, 'one value'); else ctx['page_' + k] = vs[0]; continue; }
    if (!def || (def.notIn === ed && !F('old-brine'))) { if (!F('unknown-parameter')) no(k, vs[0], 'no such parameter'); continue; }
    if (vs.length > 1) { no(k, vs, 'one value'); continue; }
    const d = def.versioned ? specs(ep.res, ed).get(nameIn(ep.res, def.filter, ed)) : { def: def.of };
    const pieces = def.split ? vs[0].split(',') : [vs[0]];
    if (pieces.length > 100) { no(k, vs[0], 'at most 100 values'); continue; }
    const vals = [];
    for (const p of pieces) {
      let v = p;
      if (d.def.t === 'int') v = /^-?(0|[1-9][0-9]{0,14})$/.test(p) ? Number(p) : NaN;
      if (d.def.t === 'bool') v = p === 'true' ? true : p === 'false' ? false : NaN;
      const w = [];
      if (Number.isNaN(v) || !fits(d.def, v, k, w)) { no(k, p, w[0]?.expected ?? (d.def.t === 'bool' ? 'true or false' : 'a whole number')); continue; }
      vals.push(d.up ? d.up(v) : v);
    }
    P[k] = def.split ? vals : vals[0];
  }
  const key = ctx.req.headers['x-once'];
  if (ep.idemRequired && (key === undefined || key === '')) out.push({ in: 'header', path: 'X-Once', found: 'nothing', expected: 'a key', k: 'missing' });
  if (out.length) refuse('bad-parameter', out);
  if (ep.page) {
    const MAX = F('take-100') ? 100 : 80;
    let size = 25;
    if (ctx.page_take !== undefined) {
      if (!/^[1-9][0-9]{0,9}$/.test(ctx.page_take)) refuse('bad-page');
      size = Number(ctx.page_take);
      if (size > MAX) { if (ep.page.style === 'offset' && !F('offset-clamps') || F('clamp-refuses')) refuse('bad-page'); size = MAX; }
    }
    ctx.size = F('page-short') ? Math.max(1, size - 1) : size;
    if (ep.page.style === 'offset') { if (ctx.page_skip !== undefined && !/^(0|[1-9][0-9]{0,9})$/.test(ctx.page_skip)) refuse('bad-page'); ctx.skip = Number(ctx.page_skip ?? 0); }
    else if (ctx.page_from !== undefined) ctx.cursor = readCursor(ctx);
  }
}
const CURSOR_KEY = crypto.randomBytes(32);
const cursorBond = ctx => F('cursor-loose') ? '' : JSON.stringify([ctx.ep.key, ctx.ed, ctx.args, Object.entries(ctx.params).sort()]);
function makeCursor(ctx, place) {
  const body = Buffer.from(JSON.stringify(place)).toString('base64url');
  return body + '.' + crypto.createHmac('sha256', CURSOR_KEY).update(body + cursorBond(ctx)).digest('base64url').slice(0, 22);
}
function readCursor(ctx) {
  const [body, mac] = ctx.page_from.split('.');
  if (!mac || crypto.createHmac('sha256', CURSOR_KEY).update(body + cursorBond(ctx)).digest('base64url').slice(0, 22) !== mac) refuse('bad-page');
  return JSON.parse(Buffer.from(body, 'base64url'));
}

function accepts(ctx) {
  const a = ctx.req.headers.accept;
  if (a === undefined || a.trim() === '') return;
  const type = ctx.ep.stream ? ['text', 'event-stream'] : ['application', 'json'];
  let best = -1, q = 0;
  for (const part of a.split(',')) {
    const [range, ...ps] = part.split(';').map(s => s.trim().toLowerCase());
    const [x, y] = range.split('/');
    const fit = x === '*' && y === '*' ? 0 : x === type[0] && y === '*' ? 1 : x === type[0] && y === type[1] ? 2 : -1;
    if (fit < 0) continue;
    let w = 1;
    for (const p of ps) if (p.startsWith('q=')) w = Number(p.slice(2));
    if (fit > best) { best = fit; q = w; } else if (fit === best) q = Math.max(q, w);
  }
  if (!(best >= 0 && q > 0) && !F('accept-ignored')) refuse('unacceptable');
}

const equal = (a, b) => { const x = crypto.createHash('sha256').update(a).digest(), y = crypto.createHash('sha256').update(b).digest(); return crypto.timingSafeEqual(x, y); };
const CHALLENGE = 'Caveseal realm="Affinage", Basic realm="Affinage", charset="UTF-8"';
function caller(ctx) {
  const { ep, req } = ctx;
  if (ep.public) { ctx.caller = null; return; }
  const shown = []; for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === 'authorization') shown.push(req.rawHeaders[i + 1]);
  const say = F('no-challenge') ? {} : { 'WWW-Authenticate': CHALLENGE };
  const no = code => refuse(code ?? 'who-are-you', undefined, say);
  const open = (RULES[ep.op] ?? []).some(r => r.to.includes('anyone'));
  if (!shown.length) { if (open) { ctx.caller = null; return; } no(); }
  if (F('bad-as-stranger') && open) { ctx.caller = null; return; }
  if (shown.length > 1) no();
  const h = shown[0], basic = /^basic +(\S+)$/i.exec(h), seal = /^caveseal +(.*)$/i.exec(h);
  if (basic) {
    const text = Buffer.from(basic[1], 'base64').toString('utf8'), i = text.indexOf(':');
    const c = i > 0 && Object.hasOwn(CALLERS, text.slice(0, i)) ? CALLERS[text.slice(0, i)] : null;
    if (!c || !(equal(text.slice(i + 1), c.password) || (F('password-prefix') && text.slice(i + 1).startsWith(c.password.slice(0, 8))))) no();
    ctx.caller = c; return;
  }
  if (seal) {
    const m = /^key=([A-Za-z0-9_-]+);at=(\d{1,12});mac=([0-9a-f]{64})$/.exec(seal[1]);
    if (!m || !Object.hasOwn(KEYS, m[1])) no();
    const c = KEYS[m[1]];
    if (F('dealers-unknown') && c.user === 'dealer') no();
    const t = Number(m[2]) * 1000, tolerance = F('tolerance-wide') ? 3600e3 : 300e3;
    if (t < now() - tolerance) no(F('stale-same') ? 'who-are-you' : 'stale-seal');
    if (t > now() + tolerance) no();
    if (ctx.tooBig) refuse('too-large');
    const signed = `${m[2]}\n${req.method}\n${F('query-unsigned') ? ctx.path : req.url}\n${crypto.createHash('sha256').update(ctx.raw).digest('hex')}`;
    const mac = crypto.createHmac('sha256', c.secret).update(signed).digest('hex');
    if (!equal(mac, m[3]) && !(F('body-unsigned') && ctx.raw.length)) no();
    ctx.caller = c; return;
  }
  no();
}

function readBody(ctx) {
  const { ep, req, raw } = ctx;
  if (ctx.tooBig) refuse('too-large');
  if (ep.body === 'none') { ctx.body = {}; return; }
  if (!raw.length) { if (ep.body === 'optional') { ctx.body = {}; return; } refuse('no-body'); }
  const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  const good = ['application/json', ...(ep.body === 'patch' ? ['application/merge-patch+json'] : [])];
  if (!good.includes(type) && !F('media-any')) refuse('wrong-media');
  if (req.headers['content-encoding'] && req.headers['content-encoding'] !== 'identity') refuse('wrong-media');
  try { ctx.body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)); } catch { refuse('garbled'); }
}

function byId(res, text) {
  if (R[res].fields[R[res].id].t === 'int') return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : NaN;
  return text;
}
function load(res, text, caller) {
  const id = byId(res, text), row = DB[res].get(id);
  if (row) { if (!may('read ' + res, row, caller)) refuse('no-such'); return row; }
  if (res === 'wheel' && tombs.has(id) && !F('gone-404') && may('read wheel', tombs.get(id), caller)) refuse('cleared-away');
  refuse('no-such');
}
const tagOf = (obj, ed) => '"' + crypto.createHash('sha1').update(ed + JSON.stringify(F('tag-still') ? obj.no ?? obj.code : obj)).digest('base64url') + '"';
function precondition(ctx, row) {
  const { ep, req } = ctx, m = req.headers['if-match'];
  if (!ep.ifMatch) return;
  if (m === undefined) { if (ep.ifMatch === 'required' && !F('tag-optional')) refuse('tag-needed'); return; }
  if (F('tag-ignored')) return;
  if (m.trim() === '*') { if (!row) refuse('changed'); return; }
  if (!row) refuse('changed');
  const tag = tagOf(show(ep.res, row, ctx.caller, ctx.ed), ctx.ed);
  if (!m.split(',').map(s => s.trim()).includes(tag)) refuse('changed');
}
const link = (ctx, res, row) => ({ cave: n => `/caves/${n}`, wheel: n => `/wheels/${n}`, recipe: n => `/recipes/${n}`, turning: n => ctx.ed === 'e1' ? null : `/turnings/${n}`, grading: n => `/gradings/${n}`, claim: n => `/claims/${n}`, hook: n => `/hooks/${n}` })[res](encodeURIComponent(row[R[res].id]));
function made(ctx, res, row, extra) {
  const l = link(ctx, res, row);
  return { status: 201, headers: l && !F('no-location') ? { Location: `${BASE}/${ctx.ed}${l}` } : {}, body: show(res, row, ctx.caller, ctx.ed, 'read ' + res, extra), row: [res, row] };
}
const cmp = (a, b) => typeof a === 'string' && typeof b === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : a - b;

function list(ctx) {
  const { ep, params } = ctx, res = ep.res;
  let rows = [];
  const source = ep.parent ? byWheel[res].get(ctx.parent.no) ?? [] : DB[res].values();
  each: for (const row of source) {
    if (!may(ep.op, row, ctx.caller)) continue;
    let full = null;
    for (const [k, v] of Object.entries(params)) {
      const p = ep.params[k];
      if (p.search) {
        const text = row[p.search].toLowerCase(), words = v.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 16);
        if (!(F('q-any') ? words.some(w => text.includes(w)) : words.every(w => text.includes(w)))) continue each;
        continue;
      }
      if (!p.filter) continue;
      full ??= whole(res, row);
      const x = full[p.filter];
      if (x === undefined) continue each;
      if (p.split) { if (!(F('state-first') ? v[0] === x : v.includes(x))) continue each; }
      else if (p.op === 'has') { if (!x.includes(v) && !F('tag-unfiltered')) continue each; }
      else if (p.op === '>') { if (!(F('heavier-equal') ? x >= v : x > v)) continue each; }
      else if (p.op === '>=') { if (!(F('since-after') && k === 'since' ? x > v : x >= v)) continue each; }
      else if (x !== v) continue each;
    }
    rows.push(row);
  }
  let by = params.sort ? params.sort.replace(/^-?/, s => s) : ep.order ?? null;
  let desc = by?.startsWith('-') ?? false; if (desc) by = by.slice(1);
  if (params.sort) { by = ep.sorts[by]; if (F('sort-up')) desc = false; }
  if (F('caves-unsorted') && res === 'cave') by = null;
  if (F('turnings-up') && res === 'turning') desc = false;
  const key = row => by ? row[by] : 0;
  const rank = (a, b) => (desc ? -1 : 1) * cmp(key(a), key(b)) || a.$seq - b.$seq;
  rows.sort(rank);
  if (ep.page.style === 'offset') {
    const part = rows.slice(ctx.skip, ctx.skip + ctx.size);
    return { status: 200, body: { rows: part.map(r => show(res, r, ctx.caller, ctx.ed, ep.op)), total: F('total-page') ? part.length : rows.length, sort: 'page' } };
  }
  const bond = bondOf(ep.op, ctx.caller);
  if (ctx.cursor) { const [k, seq, of] = ctx.cursor; if (of !== bond && !F('cursor-loose')) refuse('bad-page'); rows = rows.filter(r => ((desc ? -1 : 1) * cmp(key(r), k) || r.$seq - seq) > (F('page-overlap') ? -1 : 0)); }
  const more = rows.length > ctx.size, part = rows.slice(0, ctx.size), last = part.at(-1);
  return { status: 200, body: { rows: part.map(r => show(res, r, ctx.caller, ctx.ed, ep.op)), more: more || (F('more-always') && last) ? makeCursor(ctx, [key(last), last.$seq, bond]) : null, hasMore: F('has-more-wrong') ? true : more, sort: 'page' } };
}
// a cursor is good for whoever the rules show the same rows
const bondOf = (op, c) => !c ? '' : c.user + ' ' + (!RULES[op].some(r => forUser(r, c) && r.if) ? '' : op === 'list claim' && c.user === 'dealer' ? c.house : c.id);
const own_ = (name, holds) => { if (holds && !F('own-' + name)) refuse(name); };
function refers(ctx, res, field, id) { if (!DB[res].has(id) || !may('read ' + res, DB[res].get(id), ctx.caller)) refuse('dangling', [{ in: 'body', path: nameIn(ctx.ep.res, field, ctx.ed), found: short(id), expected: `a ${res} that is there`, k: 'value' }]); }
const dayOf = t => Math.floor(t / DAY);

function act(ctx) {
  const { ep, args, caller: who, ed } = ctx;
  // the row step
  if (ep.parent) ctx.parent = load(ep.parent, args[ep.parent], who);
  let row = null;
  const last = ep.names.at(-1);
  const named = last && !ep.parent;
  if (ep.verb === 'upsert') row = DB.recipe.get(args.code) ?? null;
  else if (named) { row = load(ep.res, args[last], who); if (!may(ep.op, row, who)) refuse('hands-off'); }
  const shift = ['seal', 'unseal', 'lay', 'spoil', 'accept', 'refuse', 'withdraw', 'collect'].includes(ep.verb);
  // the state step
  if (shift) guard(ep.verb, row);
  if (ep.in && !ep.in.includes(row.state)) refuse('wrong-state');
  precondition(ctx, row);
  // the request step and after
  if (ep.verb === 'list') return list(ctx);
  if (ep.verb === 'read') {
    const extra = {};
    let body = show(ep.res, row, who, ed);
    if (ctx.params.with === 'wheel' && body.wheel !== undefined && !F('expand-ignored')) { const w = DB.wheel.get(row.wheel); if (w && may('read wheel', w, who)) body = { ...body, wheel: show('wheel', w, who, ed) }; }
    if (!ep.etag) return { status: 200, body };
    const tag = tagOf(body, ed), headers = { ETag: tag, ...(ep.cache && !F('cache-untold') ? { 'Cache-Control': ep.cache } : {}) };
    const none = ctx.req.headers['if-none-match'];
    if (none !== undefined && !F('never-304') && (none.trim() === '*' || none.split(',').map(s => s.trim().replace(/^W\//, '')).includes(tag))) return { status: 304, headers };
    return { status: 200, headers, body };
  }
  if (shift) {
    if (ep.verb === 'spoil') inline(ctx.body, { cause: str(3, 120) }, ['cause']);
    if (ep.verb === 'refuse') inline(ctx.body, { reason: str(1, 120) }, []);
    move[ep.verb](row, ctx.body);
    if (!may('read ' + ep.res, row, who)) return { status: 204 };
    return { status: 200, body: show(ep.res, row, who, ed), row: [ep.res, row] };
  }
  switch (ep.op) {
    case 'create cave': {
      const { next } = take('cave', ctx.body, ed, who);
      if (names_(next.name)) refuse('twice');
      const c = { no: ++caveNo, ...next, $seq: ++rowSeq };
      DB.cave.set(c.no, c); byCave.set(c.no, new Set()); names.set(c.name, c.no); enter('cave', c, 'status', 'open');
      return made(ctx, 'cave', c);
    }
    case 'update cave': {
      const { next } = take('cave', F('patch-wipes') ? { memo: null, ...ctx.body } : ctx.body, ed, who, { row, makes: false });
      if (same(next, row)) return { status: 200, body: show('cave', row, who, ed) };
      own_('too-small', next.capacity < derived('cave', row).laid);
      if (next.name !== row.name && names_(next.name)) refuse('twice');
      names.delete(row.name); names.set(next.name, row.no);
      replaceRow(row, next);
      return { status: 200, body: show('cave', row, who, ed) };
    }
    case 'delete cave': {
      if (byCave.get(row.no).size && !F('cave-goes')) refuse('still-used');
      DB.cave.delete(row.no); names.delete(row.name);
      return { status: F('delete-200') ? 200 : 204, body: F('delete-200') ? {} : undefined };
    }
    case 'upsert recipe': {
      if (!R.recipe.fields.code.pattern.test(args.code)) invalid([{ in: 'path', path: 'code', found: short(args.code), expected: 'text like ' + R.recipe.fields.code.pattern.source, k: 'value' }]);
      const { next } = take('recipe', ctx.body, ed, who, { bound: { code: args.code } });
      if (!row) {
        const r = { ...next, $seq: ++rowSeq };
        DB.recipe.set(r.code, r); setOf(byRecipe, r.code);
        const a = made(ctx, 'recipe', r); if (F('upsert-200')) a.status = 200; return a;
      }
      if (!same(next, row)) replaceRow(row, F('put-keeps') ? { ...row, ...next } : next);
      return { status: 200, body: show('recipe', row, who, ed) };
    }
    case 'delete recipe': {
      if (byRecipe.get(row.code).size) refuse('still-used');
      DB.recipe.delete(row.code); byRecipe.delete(row.code);
      return { status: 204 };
    }
    case 'create wheel': {
      const c = ctx.parent, { next } = take('wheel', ctx.body, ed, who, { bound: { cave: c.no } });
      refers(ctx, 'recipe', 'recipe', next.recipe);
      own_('cave-sealed', c.status === 'sealed');
      const mark = who.id + ' ' + next.mark;
      if (marks.has(mark) && !F('mark-twice')) refuse('twice');
      const w = { no: ++wheelNo, ...next, farm: who.id, $seq: ++rowSeq };
      DB.wheel.set(w.no, w); byCave.get(w.cave).add(w); marks.set(mark, w.no); setOf(byRecipe, w.recipe).add(w); enter('wheel', w, 'state', 'green');
      return made(ctx, 'wheel', w);
    }
    case 'update wheel': {
      const { next, got } = take('wheel', ctx.body, ed, who, { row, makes: false });
      if (got.recipe !== undefined && got.recipe !== row.recipe) refers(ctx, 'recipe', 'recipe', got.recipe);
      if (same(next, row)) return { status: 200, body: show('wheel', row, who, ed) };
      const mark = who.id + ' ' + next.mark;
      if (next.mark !== row.mark && marks.has(mark)) refuse('twice');
      const was = row.weightGrams;
      marks.delete(who.id + ' ' + row.mark); marks.set(mark, row.no);
      byRecipe.get(row.recipe)?.delete(row); setOf(byRecipe, next.recipe).add(row);
      if (next.cave !== row.cave) { byCave.get(row.cave).delete(row); byCave.get(next.cave)?.add(row); }
      replaceRow(row, next);
      if (was !== row.weightGrams || F('weighed-always')) emit('wheel.weighed', 'wheel', row, { data: F('was-is') ? { wheel: row.no, was: row.weightGrams, is: was } : { wheel: row.no, was, is: row.weightGrams } });
      return { status: 200, body: show('wheel', row, who, ed) };
    }
    case 'delete wheel': {
      if (byWheel.claim.get(row.no)?.size) refuse('still-used');
      DB.wheel.delete(row.no); byCave.get(row.cave).delete(row); byRecipe.get(row.recipe).delete(row); marks.delete(row.farm + ' ' + row.mark);
      if (!F('turnings-stay')) for (const n of ['turning', 'grading']) { for (const t of byWheel[n].get(row.no) ?? []) DB[n].delete(t.id); byWheel[n].delete(row.no); }
      tombs.set(row.no, row); const no = row.no; later(now() + (F('kept-short') ? 2 : 20) * DAY, () => tombs.delete(no));
      return { status: 204 };
    }
    case 'create turning': {
      const { next } = take('turning', ctx.body, ed, who, { bound: { wheel: ctx.parent.no } });
      const n = F('nr-overall') ? ++allNr : (nrs.get(next.wheel) ?? 0) + 1; nrs.set(next.wheel, n);
      const t = { id: 'trn-' + hex(6), ...next, nr: n, keeper: who.id, at: iso(now()), $seq: ++rowSeq };
      DB.turning.set(t.id, t); setOf(byWheel.turning, t.wheel).add(t);
      return made(ctx, 'turning', t);
    }
    case 'create grading': {
      const { next } = take('grading', ctx.body, ed, who, { bound: { wheel: ctx.parent.no } });
      own_('too-green', ctx.parent.state === 'green');
      for (const g of byWheel.grading.get(next.wheel) ?? []) if (g.taster === who.id && !F('graded-twice')) refuse('twice');
      const g = { id: 'grd-' + hex(6), ...next, taster: who.id, at: iso(now()), $seq: ++rowSeq };
      DB.grading.set(g.id, g); setOf(byWheel.grading, g.wheel).add(g);
      return made(ctx, 'grading', g);
    }
    case 'create claim': {
      const w = ctx.parent, { next, got } = take('claim', ctx.body, ed, who, { bound: { wheel: w.no } });
      own_('unripe', w.state !== 'ripe');
      own_('underbid', w.floorCents !== undefined && next.offerCents < w.floorCents);
      const q = who.id + ' ' + dayOf(now());
      let open = 0;
      for (const k of DB.claim.values()) if (k.dealer === who.id && (k.state === 'offered' || F('rows-all'))) open++;
      if (open >= 12) refuse('used-up');
      if ((quotas.get(q) ?? 0) >= (F('quota-off') ? 1e9 : 60)) refuse('used-up', undefined, { 'Retry-After': String(Math.ceil(((dayOf(now()) + 1) * DAY - now()) / 1000)) });
      quotas.set(q, (quotas.get(q) ?? 0) + 1);
      const k = { id: 'clm-' + hex(6), ...next, dealer: who.id, house: got.house ?? who.house, madeAt: iso(now()), $seq: ++rowSeq };
      DB.claim.set(k.id, k); setOf(byWheel.claim, k.wheel).add(k); enter('claim', k, 'state', 'offered');
      emit('claim.made', 'claim', k);
      return made(ctx, 'claim', k);
    }
    case 'create hook': {
      const { next } = take('hook', ctx.body, ed, who);
      let n = 0; for (const h of DB.hook.values()) if (h.owner === who.id) n++;
      if (n >= (F('hooks-seven') ? 7 : 6)) refuse('used-up');
      const h = { id: 'hk-' + word(16, 'abcdefghijklmnopqrstuvwxyz0123456789'), ...next, owner: who.id, secret: hex(20), $seq: ++rowSeq, $maker: who, $ed: ed };
      DB.hook.set(h.id, h);
      return { ...made(ctx, 'hook', h, { secret: h.secret }), again: F('replay-reveals') ? undefined : show('hook', h, who, ed) };
    }
    case 'update hook': {
      const { next } = take('hook', ctx.body, ed, who, { row, makes: false });
      if (!same(next, row)) { if (next.live && !row.live) row.$failing = null; replaceRow(row, next); }
      return { status: 200, body: show('hook', row, who, ed) };
    }
    case 'delete hook': DB.hook.delete(row.id); return { status: 204 };
  }
}
const names_ = name => names.has(name) && !F('name-twice');
function replaceRow(row, next) { for (const k of Object.keys(row)) if (!k.startsWith('$') && !(k in next)) delete row[k]; for (const [k, v] of Object.entries(next)) if (!k.startsWith('$')) row[k] = v; }
function inline(body, fields, required) {
  const out = [];
  if (!isMap(body)) invalid([{ in: 'body', path: '', found: short(body), expected: 'a map', k: 'type' }]);
  for (const [k, v] of Object.entries(body)) if (Object.hasOwn(fields, k)) fits(fields[k], v, k, out); else bad(out, k, v, 'nothing of this name', 'unknown');
  for (const k of required) if (!Object.hasOwn(body, k)) bad(out, k, undefined, 'a value', 'missing');
  if (out.length) invalid(out);
}

/* ---------- one request ---------- */
let traceNo = 0;
const traceBase = hex(4);
function send(ctx, status, headers, body) {
  const { res, req } = ctx;
  const h = { Vary: 'Authorization', ...(ctx.pace ?? {}), ...headers };
  if (!F('trace-untold')) h['X-Trace'] = ctx.trace;
  if (ctx.ed === 'e1') {
    if (!F('deprecation-untold')) h.Deprecation = '@' + Date.UTC(2026, 4, 1) / 1000;
    h.Sunset = new Date(Date.UTC(2027, 10, 1)).toUTCString();
    if (F('sunset-untold')) delete h.Sunset;
    h.Link = `<https://affinage.example/editions>; rel="deprecation", <${BASE}/e2${req.url.slice((BASE + '/e1').length)}>; rel="successor-version"`;
  }
  if (body !== undefined) { const text = JSON.stringify(body); h['Content-Type'] = 'application/json'; h['Content-Length'] = Buffer.byteLength(text); res.writeHead(status, h); res.end(req.method === 'HEAD' ? undefined : text); }
  else { if (status !== 204 && status !== 304) h['Content-Length'] = 0; res.writeHead(status, h); res.end(); }
}
function handle(ctx) {
  const { req } = ctx;
  let slot = null, out;
  try {
    const i = req.url.indexOf('?');
    ctx.path = i < 0 ? req.url : req.url.slice(0, i); ctx.query = i < 0 ? '' : req.url.slice(i + 1);
    if (Buffer.byteLength(req.url) > 2048 && !F('url-open')) refuse('too-large');
    let n = 0; for (let j = 0; j < req.rawHeaders.length; j += 2) n += req.rawHeaders[j].length + req.rawHeaders[j + 1].length + 4;
    if (n > 8192 && !F('headers-open')) refuse('too-large');
    route(ctx);
    if (ctx.options) return send(ctx, 204, { Allow: ctx.options });
    const ep = ctx.ep, address = req.socket.remoteAddress;
    count(ctx, [[RATES.address, address]]);
    const steps = {
      parameters: () => parameters(ctx), accept: () => accepts(ctx), caller: () => caller(ctx),
      rates: () => {
        const key = ctx.caller ? ctx.caller.user + ' ' + ctx.caller.id : '@' + address, w = [[RATES.caller, key]];
        if (ep.op === 'create turning') w.push([RATES.turning, key]);
        if (!ctx.caller) w.push([RATES.stranger, address]);
        count(ctx, w);
      },
      user: () => { if (!ep.public && !(RULES[ep.op] ?? []).some(r => forUser(r, ctx.caller))) refuse('not-yours'); },
      body: () => readBody(ctx),
    };
    for (const s of F('caller-first') ? ['caller', 'rates', 'user', 'parameters', 'accept', 'body'] : ['parameters', 'accept', 'caller', 'rates', 'user', 'body']) steps[s]();
    if (ep.public) return send(ctx, 200, {}, { house: 'Affinage of the old railway tunnel', caves: F('placard-text') ? '7' : 7 });
    if (ep.stream) return stream(ctx);
    const key = req.headers['x-once'];
    if (ep.idem && key !== undefined && key !== '' && !F('once-ignored')) {
      const name = [ctx.caller.user, F('once-shared') ? '' : ctx.caller.id, ep.op, key].join('\n'), print = crypto.createHash('sha256').update([ctx.ed, req.url, ''].join('\n')).update(ctx.raw).digest('hex');
      const old = idem.kept.get(name);
      if (old && old.until > now()) {
        if (old.print !== print && !F('once-unprinted')) refuse('once-reused');
        return send(ctx, old.status, old.headers, old.code ? refusalBody(old.refusal, ctx.trace) : old.body);
      }
      slot = { name, print };
    }
    out = act(ctx);
    if (slot) idem.kept.set(slot.name, { print: slot.print, until: now() + (F('once-short') ? 1 : 12) * HOUR, status: out.status, headers: out.headers, body: out.again ?? out.body });
    if (F('last-etag') && out.headers?.ETag) out.headers.ETag = 'W/' + out.headers.ETag;
    send(ctx, out.status, out.headers ?? {}, out.body);
  } catch (e) {
    let r = e;
    if (!(e instanceof Refusal)) { console.error(e); r = new Refusal('broken'); }
    if (slot && r.own) idem.kept.set(slot.name, { print: slot.print, until: now() + 12 * HOUR, status: CODES[r.code][0], headers: r.headers, code: r.code, refusal: r });
    send(ctx, CODES[r.code][0], r.headers, refusalBody(r, ctx.trace));
  }
}
function stream(ctx) {
  const { req, res } = ctx;
  let n = 0; for (const s of streams) if (s.caller === ctx.caller) n++;
  if (n >= 32) refuse('too-many', undefined, { 'Retry-After': '1' });
  const h = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', Vary: 'Authorization', 'X-Trace': ctx.trace, ...(ctx.pace ?? {}) };
  if (ctx.ed === 'e1') { h.Deprecation = '@' + Date.UTC(2026, 4, 1) / 1000; h.Sunset = new Date(Date.UTC(2027, 10, 1)).toUTCString(); h.Link = `<https://affinage.example/editions>; rel="deprecation", <${BASE}/e2/feed>; rel="successor-version"`; }
  res.writeHead(200, h); res.flushHeaders();
  if (req.method === 'HEAD') return res.end();
  res.write(': hello\n\n');
  const s = { res, caller: ctx.caller, ed: ctx.ed };
  const lastId = req.headers['last-event-id'];
  if (lastId !== undefined && !F('feed-forgets')) {
    const i = events.findIndex(e => e.id === lastId);
    const old = events.filter(e => e.at >= now() - 12 * HOUR);
    for (const e of i < 0 ? old : events.slice(i + 1)) toStream(s, e);
  }
  streams.add(s);
  res.on('close', () => streams.delete(s));
}
setInterval(() => { for (const s of streams) s.res.write(': still here\n\n'); }, 15000).unref();
setInterval(() => { const t = now(); for (const [k, v] of idem.kept) if (v.until < t) idem.kept.delete(k); }, 60000).unref();

const BODY_MAX = F('body-short') ? 8191 : F('body-open') ? 1e7 : 8192;
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 10000, headersTimeout: 10000, keepAliveTimeout: 30000, connectionsCheckingInterval: 500 }, (req, res) => {
  const ctx = { req, res, trace: `tr-${traceBase}-${++traceNo}`, counted: [], raw: Buffer.alloc(0), tooBig: false };
  const parts = []; let size = 0;
  req.on('data', d => { size += d.length; if (size > BODY_MAX) { ctx.tooBig = true; parts.length = 0; } else parts.push(d); });
  req.on('end', () => { ctx.raw = ctx.tooBig ? Buffer.alloc(0) : Buffer.concat(parts); handle(ctx); });
  req.on('error', () => {});
});
server.on('clientError', (err, socket) => {
  if (!socket.writable) return socket.destroy();
  const code = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too-slow' : err.code === 'HPE_HEADER_OVERFLOW' ? 'too-large' : 'garbled';
  const trace = `tr-${traceBase}-${++traceNo}`, body = JSON.stringify(refusalBody(new Refusal(code), trace)), status = CODES[code][0];
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Trace: ${trace}\r\nConnection: close\r\n\r\n${body}`);
});
server.listen(PORT, '127.0.0.1');

/* ---------- the door of the clock ---------- */
function advance(t, text) {
  const m = /^P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!m) return NaN;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map(x => Number(x ?? 0));
  const date = new Date(t);
  if (y || mo) { const day = date.getUTCDate(); date.setUTCDate(1); date.setUTCMonth(date.getUTCMonth() + y * 12 + mo); const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(); date.setUTCDate(Math.min(day, lastDay)); }
  return date.getTime() + ((w * 7 + d) * 24 + h) * HOUR + mi * 60e3 + s * 1000;
}
if (CLOCK_PORT !== undefined) http.createServer((req, res) => {
  const say = (status, body) => { const t = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); res.end(t); };
  const parts = [];
  req.on('data', d => parts.push(d));
  req.on('end', async () => {
    if (req.method === 'GET') return say(200, { now: iso(now()) });
    let to = NaN;
    try {
      const b = JSON.parse(Buffer.concat(parts).toString());
      if (req.method !== 'POST' || !isMap(b) || Object.keys(b).length !== 1) return say(400, { error: 'advance or now' });
      if (typeof b.advance === 'string') to = advance(now(), b.advance);
      else if (typeof b.now === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(b.now)) to = Date.parse(b.now);
    } catch { /* no JSON */ }
    if (Number.isNaN(to)) return say(400, { error: 'advance or now' });
    if (to < now()) return say(422, { error: 'that time has passed' });
    runDue(to);
    skew = to - Date.now();
    const until = Date.now() + 400;
    while (underway && Date.now() < until) await new Promise(r => setTimeout(r, 4));
    const t = now(); runDue(t);
    say(200, { now: iso(t) });
  });
}).listen(Number(CLOCK_PORT), '127.0.0.1');
