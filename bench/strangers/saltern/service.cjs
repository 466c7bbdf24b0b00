'use strict';
// Saltern: the book of a sea-salt works. Node 24, standard library alone, everything in memory.
const http = require('node:http');
const https = require('node:https');
const crypto = require('node:crypto');

const argument = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const PORT = Number(argument('--port', '4700'));
const CLOCK_PORT = Number(argument('--clock-port', '4701'));
const FAULT = argument('--fault', '');
const wrong = (id) => FAULT === id;

// ---------------------------------------------------------------- the clock
let offset = 0;
let held = null; // while what fell due is done, the clock stands at the time of it
const now = () => held ?? Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// ---------------------------------------------------------------- who there is
const people = [];
const byTally = new Map(), byPurse = new Map(), bySeal = new Map();
const person = (user, id, house, scopes, letters) => {
  const caller = { user, id, house, scopes };
  people.push(caller);
  byTally.set(`tly_${letters.repeat(14)}`, caller);
  byPurse.set(`prs_${letters.repeat(14)}`, caller);
  bySeal.set(`key_${id}`, { caller, secret: `hush-${id}-${letters.repeat(8)}` });
};
person('raker', 'r-anouk', 'guerande', ['sluices'], 'aK');
person('raker', 'r-bastien', 'guerande', ['sluices'], 'bT');
person('raker', 'r-corentin', 'batz', [], 'cQ');
person('factor', 'f-dunstan', 'bourgneuf', [], 'dN');
person('factor', 'f-elspeth', 'bourgneuf', [], 'eP');
person('factor', 'f-gwenael', 'lubeck', [], 'gL');
person('warden', 'w-hedwig', 'saltern', [], 'hW');
person('warden', 'w-ivo', 'saltern', [], 'iV');

// ---------------------------------------------------------------- shapes of fields
const LEVELS = ['dry', 'flooded', 'ripe'];
const STAGES = ['drawn', 'weighed', 'sacked', 'spoiled'];
const STANDINGS = ['stored', 'offered', 'sold'];
const BID_STANDINGS = ['live', 'withdrawn', 'won', 'lost'];
const GRADES = ['coarse', 'grey', 'flower'];
const WORDS = ['raking.drawn', 'raking.weighed', 'raking.spoiled', 'pan.level', 'pan.renamed', 'lot.offered', 'lot.closing', 'lot.closed', 'bid.placed'];
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const isDateTime = (text) => {
  const m = DATE_TIME.exec(text);
  if (!m) return false;
  const days = new Date(Date.UTC(Number(m[1]), Number(m[2]), 0)).getUTCDate();
  return +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= days && +m[4] < 24 && +m[5] < 60 && +m[6] < 60 && !Number.isNaN(Date.parse(text));
};
const isAddress = (text) => {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(text) || /%(?![0-9A-Fa-f]{2})/.test(text)) return false;
  try { return /^https?:$/.test(new URL(text).protocol); } catch { return false; }
};
const CODE = /^[a-z]{2,4}-[0-9]{1,4}$/;

const FIELDS = {
  brine: {
    baume: { type: 'number', min: 0, max: 32, required: true },
    celsius: { type: 'integer', min: -5, max: 60 },
  },
  pan: {
    code: { type: 'string', pattern: CODE, required: true, key: true },
    name: { type: 'string', minLength: 2, maxLength: wrong('pan-name-41') ? 41 : 40, required: true },
    kind: { type: 'string', enum: ['vasiere', 'cobier', 'aderne', 'oeillet'], required: true },
    area_m2: { type: 'integer', min: 10, max: 20000, required: true },
    brine: { type: 'value', of: 'brine' },
    keeper_note: { type: 'string', maxLength: 120, visible: ['warden'], writable: ['warden'] },
    open_rakings: { type: 'integer', readOnly: true },
    level: { type: 'string', enum: LEVELS, readOnly: true },
    flooded_at: { type: 'string', format: 'date-time', readOnly: true },
    revised_at: { type: 'string', format: 'date-time', readOnly: true },
  },
  raking: {
    id: { type: 'string', readOnly: true },
    number: { type: 'integer', readOnly: true },
    pan: { type: 'string', pattern: CODE, required: true, immutable: true },
    raker: { type: 'string', readOnly: true },
    grade: { type: 'string', enum: GRADES, default: wrong('grade-default') ? 'grey' : 'coarse' },
    wet_kg: { type: 'integer', min: 1, max: 5000, required: true },
    dry_kg: { type: 'integer', min: 1, max: 5000, readOnly: true },
    loss_kg: { type: 'integer', readOnly: true },
    remark: { type: 'string', maxLength: 100 },
    marks: { type: 'array', items: { type: 'string', pattern: /^[a-z]{1,12}$/ }, maxItems: 5 },
    shared: { type: 'boolean', default: false },
    stage: { type: 'string', enum: STAGES, readOnly: true },
    drawn_at: { type: 'string', format: 'date-time', readOnly: true },
    weighed_at: { type: 'string', format: 'date-time', readOnly: true },
  },
  lot: {
    id: { type: 'string', readOnly: true },
    mark: { type: 'string', readOnly: true },
    raking: { type: 'string', readOnly: true },
    owner: { type: 'string', readOnly: true },
    grade: { type: 'string', enum: GRADES, readOnly: true },
    kg: { type: 'integer', min: 1, max: 5000, readOnly: true },
    blurb: { type: 'string', minLength: 1, maxLength: 140 },
    asking_cents: { type: 'integer', min: 100, max: 10000000, readOnly: true },
    closes_at: { type: 'string', format: 'date-time', readOnly: true },
    live_bids: { type: 'integer', readOnly: true },
    best_cents: { type: 'integer', readOnly: true, visible: ['raker', 'warden'] },
    standing: { type: 'string', enum: STANDINGS, readOnly: true },
  },
  bid: {
    number: { type: 'integer', readOnly: true },
    lot: { type: 'string', required: true, immutable: true },
    factor: { type: 'string', readOnly: true },
    house: { type: 'string', readOnly: true },
    cents: { type: 'integer', min: 100, max: 10000000, required: true },
    note: { type: 'string', maxLength: 80, visible: ['factor'] },
    standing: { type: 'string', enum: BID_STANDINGS, readOnly: true },
    placed_at: { type: 'string', format: 'date-time', readOnly: true },
  },
  ear: {
    id: { type: 'string', readOnly: true },
    owner: { type: 'string', readOnly: true },
    url: { type: 'string', format: 'address', required: true },
    words: { type: 'array', items: { type: 'string', word: true }, maxItems: 10 },
    secret: { type: 'string', readOnly: true, once: true },
    awake: { type: 'boolean', default: true },
  },
  weighing: { dry_kg: { type: 'integer', min: 1, max: 5000, required: true } },
  offering: {
    asking_cents: { type: 'integer', min: 100, max: 10000000, required: true },
    hours: { type: 'integer', min: 1, max: 240, required: true },
  },
};
const KEY = { pan: 'code', raking: 'id', lot: 'id', bid: 'number', ear: 'id' };

// what the edition `ebb` calls otherwise
const EBB_NAMES = { raking: { wet_kg: 'wet_weight' }, pan: { area_m2: 'area' } };
const EBB_LACKS = { raking: ['shared'] };
const EBB_AREA = { type: 'number', min: 0.1, max: 200, required: true };
const roundAway = (x) => Math.sign(x) * Math.round(Math.abs(x));
const ebbField = (resource, name) => EBB_NAMES[resource]?.[name] ?? name;
const fieldsIn = (version, resource) => {
  if (version !== 'ebb') return FIELDS[resource];
  const out = {};
  for (const [name, field] of Object.entries(FIELDS[resource])) {
    if (EBB_LACKS[resource]?.includes(name)) continue;
    let it = field;
    if (resource === 'pan' && name === 'area_m2') it = EBB_AREA;
    if (field.enum === GRADES) it = { ...field, enum: ['coarse', 'grey', 'fine'], default: field.default };
    out[ebbField(resource, name)] = it;
  }
  return out;
};
const newName = (version, resource, name) => {
  if (version === 'ebb') for (const [fresh, old] of Object.entries(EBB_NAMES[resource] ?? {})) if (old === name) return fresh;
  return name;
};
const valueDown = (version, resource, name, value) => {
  if (version !== 'ebb' || value === undefined || value === null) return value;
  if (resource === 'pan' && name === 'area_m2') return value / 100;
  if ((resource === 'raking' || resource === 'lot') && name === 'grade') return value === 'flower' ? 'fine' : value;
  return value;
};
const valueUp = (version, resource, name, value) => {
  if (version !== 'ebb' || value === undefined || value === null) return value;
  if (resource === 'pan' && name === 'area_m2') return roundAway(value * 100);
  if ((resource === 'raking' || resource === 'lot') && name === 'grade') return value === 'fine' ? 'flower' : value;
  return value;
};
const rowDown = (version, resource, shown) => {
  if (version !== 'ebb') return shown;
  const out = {};
  for (const [name, value] of Object.entries(shown)) {
    if (EBB_LACKS[resource]?.includes(name)) continue;
    out[ebbField(resource, name)] = valueDown(version, resource, name, value);
  }
  return out;
};

// ---------------------------------------------------------------- checking what was sent
const typeOf = (value) => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : typeof value);
const show = (value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
};
const spot = (kind, path, found, expected, where = 'body') => ({ kind, in: where, path, found: found === undefined ? 'nothing' : show(found), expected });
const judge = (field, value, path, out) => {
  const bad = (kind, expected) => out.push(spot(kind, path, value, expected));
  switch (field.type) {
    case 'string': {
      if (typeof value !== 'string') return bad('type', 'a text');
      const size = [...value].length;
      if (field.minLength !== undefined && size < field.minLength) return bad('value', `at least ${field.minLength} characters`);
      if (field.maxLength !== undefined && size > field.maxLength) return bad('value', `at most ${field.maxLength} characters`);
      if (field.enum && !field.enum.includes(value)) return bad('value', `one of ${field.enum.join(', ')}`);
      if (field.pattern && !field.pattern.test(value)) return bad('value', `a text like ${field.pattern.source}`);
      if (field.format === 'date-time' && !isDateTime(value)) return bad('value', 'a date-time');
      if (field.format === 'address' && !isAddress(value)) return bad('value', 'an http address');
      if (field.word && !(value === '*' || WORDS.includes(value) || (value.endsWith('.*') && WORDS.some((word) => word.startsWith(value.slice(0, -1)))))) return bad('value', 'a kind of event');
      return undefined;
    }
    case 'integer': case 'number': {
      if (typeof value !== 'number') return bad('type', field.type === 'integer' ? 'a whole number' : 'a number');
      if (field.type === 'integer' && !Number.isInteger(value)) return bad('type', 'a whole number');
      if (value < field.min) return bad('value', `at least ${field.min}`);
      if (value > field.max) return bad('value', `at most ${field.max}`);
      return undefined;
    }
    case 'boolean': return typeof value === 'boolean' ? undefined : bad('type', 'true or false');
    case 'array': {
      if (!Array.isArray(value)) return bad('type', 'a list');
      if (value.length > field.maxItems) return bad('value', `at most ${field.maxItems} items`);
      value.forEach((item, i) => judge(field.items, item, `${path}.${i}`, out));
      return undefined;
    }
    case 'value': {
      if (typeOf(value) !== 'map') return bad('type', 'a map');
      for (const [name, item] of Object.entries(value)) {
        const inner = FIELDS[field.of][name];
        if (!inner) out.push(spot('unknown', `${path}.${name}`, item, 'no such field'));
        else judge(inner, item, `${path}.${name}`, out);
      }
      for (const [name, inner] of Object.entries(FIELDS[field.of])) {
        if (inner.required && !(name in value)) out.push(spot('missing', `${path}.${name}`, undefined, 'a value'));
      }
      return undefined;
    }
  }
  return undefined;
};
const merge = (target, patch) => {
  if (typeOf(patch) !== 'map') return patch;
  const out = typeOf(target) === 'map' ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name];
    else out[name] = merge(out[name], value);
  }
  return out;
};
const same = (a, b) => {
  if (a === b) return true;
  if (typeOf(a) !== typeOf(b)) return false;
  if (Array.isArray(a)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (typeOf(a) === 'map') {
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => name in b && same(a[name], b[name]));
  }
  return false;
};

// ---------------------------------------------------------------- the rows
const tables = { pan: new Map(), raking: new Map(), lot: new Map(), bid: new Map(), ear: new Map() };
const counters = { raking: new Map(), lot: 0, bid: 0, seq: 0 };
const all = (resource) => [...tables[resource].values()].sort((a, b) => a._seq - b._seq);
const put = (resource, row) => {
  if (row._seq === undefined) Object.defineProperty(row, '_seq', { value: ++counters.seq, enumerable: false });
  tables[resource].set(row[KEY[resource]], row);
  return row;
};
const changed = (resource, row, patch) => {
  const next = { ...row, ...patch };
  for (const name of Object.keys(next)) if (next[name] === undefined) delete next[name];
  for (const hidden of ['_seq', '_due', '_notice', '_maker', '_since', '_entered']) if (row[hidden] !== undefined) Object.defineProperty(next, hidden, { value: row[hidden], enumerable: false, writable: true, configurable: true });
  tables[resource].set(next[KEY[resource]], next);
  return next;
};
const mind = (row, name, value) => Object.defineProperty(row, name, { value, enumerable: false, writable: true, configurable: true });
const derived = (resource, row) => {
  const out = {};
  if (resource === 'pan') out.open_rakings = all('raking').filter((r) => r.pan === row.code && (r.stage === 'drawn' || r.stage === 'weighed')).length;
  if (resource === 'raking') out.loss_kg = row.dry_kg === undefined ? 0 : row.wet_kg - row.dry_kg;
  if (resource === 'lot') {
    const bids = all('bid').filter((b) => b.lot === row.id);
    out.live_bids = bids.filter((b) => b.standing === 'live').length;
    const kept = bids.filter((b) => b.standing !== 'withdrawn').map((b) => b.cents);
    if (kept.length) out.best_cents = Math.max(...kept);
  }
  return out;
};
const whole = (resource, row) => {
  const reckoned = derived(resource, row);
  const out = {};
  for (const name of Object.keys(FIELDS[resource])) {
    const value = reckoned[name] ?? row[name];
    if (value !== undefined) out[name] = value;
  }
  return out;
};

// ---------------------------------------------------------------- what each may do
// A rule: { to, if(row, caller), scopes, fields, else }. `to: '*'` is anyone.
const ANY = () => true;
const own = (name) => (row, caller) => caller !== null && row[name] === caller.id;
const FACTOR_SEES = ['id', 'number', 'pan', 'grade', 'dry_kg', 'shared', 'stage', 'drawn_at'];
const ownsLot = (bid, caller) => tables.lot.get(bid.lot)?.owner === caller.id;
const RULES = {};
const allow = (operations, rule) => { for (const operation of operations) (RULES[operation] ??= []).push({ if: ANY, ...rule }); };
allow(['list pan', 'read pan'], { to: '*' });
allow(['create pan', 'update pan', 'replace pan', 'delete pan', 'flood pan', 'drain pan'], { to: 'warden' });
allow(['flood pan', 'drain pan'], { to: 'raker', scopes: ['sluices'] });
allow(['create raking'], { to: 'raker' });
allow(['list raking', 'list pan rakings', 'read raking', 'update raking', 'delete raking', 'weigh raking', 'reopen raking', 'sack raking'], { to: 'raker', if: own('raker') });
allow(['list raking', 'list pan rakings', 'read raking', 'weigh raking'], { to: 'warden' });
allow(['list raking', 'list pan rakings', 'read raking'], { to: 'factor', if: (row) => row.shared === true, fields: FACTOR_SEES });
allow(['list lot', 'read lot', 'read lot by mark', 'update lot', 'offer lot', 'recall lot'], { to: 'raker', if: own('owner') });
allow(['list lot', 'read lot', 'read lot by mark'], { to: 'factor', if: (row) => row.standing === 'offered' || row.standing === 'sold' });
allow(['list lot', 'read lot', 'read lot by mark'], { to: 'warden' });
allow(['create bid'], { to: 'factor' });
allow(['list bid', 'read bid'], { to: 'factor', if: (row, caller) => row.house === caller.house });
allow(['withdraw bid'], { to: 'factor', if: own('factor'), else: 'not_your_bid' });
allow(['list bid', 'read bid'], { to: 'raker', if: ownsLot });
allow(['list bid', 'read bid'], { to: 'warden' });
allow(['create ear'], { to: 'raker' });
allow(['create ear'], { to: 'factor' });
allow(['list ear', 'read ear', 'update ear', 'delete ear'], { to: 'raker', if: own('owner') });
allow(['list ear', 'read ear', 'update ear', 'delete ear'], { to: 'factor', if: own('owner') });
allow(['handler duty', 'stream events'], { to: 'raker' });
allow(['handler duty', 'stream events'], { to: 'factor' });
if (!wrong('warden-no-duty')) allow(['handler duty'], { to: 'warden' });
allow(['stream events'], { to: 'warden' });

const rulesFor = (operation, caller) => (RULES[operation] ?? []).filter((rule) => rule.to === '*' || (caller && rule.to === caller.user));
const granted = (operation, caller) => rulesFor(operation, caller).filter((rule) => {
  if (wrong('drain-no-scope') && operation === 'drain pan') return true;
  return (rule.scopes ?? []).every((scope) => caller.scopes.includes(scope));
});
const holds = (operation, caller, row) => granted(operation, caller).filter((rule) => rule.if(row, caller));
const mayRead = (resource, caller, row) => {
  if (wrong('house-bids-read') && resource === 'bid' && caller?.user === 'factor') return true;
  return holds(`read ${resource}`, caller, row).length > 0;
};

const shownTo = (resource, caller, row, operation) => {
  const full = whole(resource, row);
  const rules = holds(operation ?? `read ${resource}`, caller, row);
  const picked = rules.length && rules.every((rule) => rule.fields) ? new Set(rules.flatMap((rule) => rule.fields)) : null;
  const out = {};
  for (const [name, value] of Object.entries(full)) {
    const field = FIELDS[resource][name];
    if (field.once && !(wrong('secret-again') && operation === 'read ear')) continue;
    if (field.visible && !(caller && field.visible.includes(caller.user)) && !(wrong('note-in-list') && operation === 'list pan')) continue;
    if (picked && !picked.has(name) && !(wrong('factor-sees-raker') && operation === 'read raking' && name === 'raker')) continue;
    out[name] = value;
  }
  if (resource === 'raking') {
    if (wrong('seq-shown') && operation === 'read raking') out.seq = row._seq;
    if (wrong('drawn-at-plain') && out.drawn_at) out.drawn_at = out.drawn_at.slice(0, 19).replace('T', ' ');
    if (wrong('spoilt') && out.stage === 'spoiled') out.stage = 'spoilt';
  }
  if (resource === 'pan' && wrong('zero-left-out') && out.open_rakings === 0) delete out.open_rakings;
  if (resource === 'lot' && wrong('kg-text')) out.kg = String(out.kg);
  return out;
};
const render = (resource, caller, row, version, operation) => {
  const shown = shownTo(resource, caller, row, operation);
  if (wrong('ebb-list-new-names') && operation === 'list raking') return shown;
  return rowDown(version, resource, shown);
};

// ---------------------------------------------------------------- refusals
const CODES = {
  unreadable: [400, 'The body cannot be read.'], empty_body: [400, 'The body is wanting.'], wrong_media: [415, 'This type of body is not taken here.'],
  bad_query: [400, 'A parameter is not taken here.'], bad_page: [400, 'There is no such page.'], wanting: [422, '{name} is wanting.'],
  read_only: [422, '{name} is not yours to write.'], unfit: [422, 'What was sent does not fit.'], no_such: [404, 'There is no such thing.'],
  no_method: [405, 'This cannot be done here.'], unknown: [401, 'Nobody knows who asks.'], stale: [401, 'The seal is too old.'],
  not_yours: [403, 'This is not yours to do.'], no_sluice_key: [403, 'Who has no key leaves the sluices alone.'], taken: [409, 'That is taken.'],
  no_such_ref: [422, 'What is referred to is not there.'], in_use: [409, 'Something refers to it.'], wrong_stage: [409, 'It is not the time for that.'],
  changed: [412, 'It has changed since.'], unmatched: [428, 'Say which one you have seen.'], once_only: [422, 'That key was used for something else.'],
  busy: [409, 'Somebody else is at it.'], too_often: [429, 'Too often.'], used_up: [429, 'No more than that.'], too_large: [413, 'The body is too large.'],
  long_address: [414, 'The address is too long.'], many_headers: [431, 'The header fields are too large.'], too_slow: [408, 'It took too long.'],
  shut: [503, 'The book is shut.'], broken: [500, 'Something broke.'], no_edition: [404, 'There is no such edition.'], old_edition: [410, 'That edition is no more.'],
  wrong_pan: [409, 'No salt is drawn from a vasiere.'], heavier_dry: [409, 'Salt does not gain by drying.'], lot_closed: [409, 'Nobody bids for it now.'],
  bid_too_low: [409, 'More is asked.'], not_drawn: [409, 'It was weighed or is lost.'], pan_in_work: [409, 'Salt of this pan is being worked.'],
  pan_is_dry: [409, 'There is no brine in it.'], lot_has_bids: [409, 'Somebody has bid for it.'], not_your_bid: [403, 'Another of your house has bid.'],
};
const OWN = new Set(['wrong_pan', 'heavier_dry', 'lot_closed', 'bid_too_low', 'not_drawn', 'pan_in_work', 'pan_is_dry', 'lot_has_bids']);
class Refusal extends Error {
  constructor(code, { spots, headers } = {}) { super(code); this.code = code; this.spots = spots; this.headers = headers ?? {}; }
}
const refuse = (code, more) => { throw new Refusal(code, more); };
const refuseSpots = (spots, operation) => {
  const first = spots[0];
  let code = first.kind === 'missing' ? 'wanting' : first.kind === 'read_only' ? 'read_only' : 'unfit';
  if (wrong('weigh-wanting-unfit') && operation === 'weigh raking' && code === 'wanting') code = 'unfit';
  refuse(code, { spots });
};
const badQuery = (name, found, expected, where = 'query') => refuse('bad_query', { spots: [spot('value', name, found, expected, where)] });
const badPage = (name, found, expected) => refuse('bad_page', { spots: [spot('value', name, found, expected, 'query')] });

// ---------------------------------------------------------------- events
const LOG_KEEP = 12 * HOUR;
let log = [];
const streams = new Set();
const queues = new Map(); // ear and row -> deliveries that wait
let eventNumber = 0;
const asSubscriber = (ear) => ear._maker;
const listens = (ear, word) => wrong('words-ignored') || ear.words === undefined || ear.words.some((it) => it === '*' || it === word || (it.endsWith('.*') && word.startsWith(it.slice(0, -1))));

// about: { resource, row, key }; payload: (caller, version) => JSON; to: (caller) => boolean in place of who may read the row
const tell = (word, about, payload, to) => {
  const at = now();
  const event = { id: `tide-${String(++eventNumber).padStart(6, '0')}-${crypto.randomBytes(5).toString('hex')}`, word, at, about };
  // What is told is settled when it is recorded: for each that may hear of it, in either edition.
  const told = new Map();
  for (const caller of people) {
    const hears = to && !(wrong('bid-told-to-all')) ? to(caller) : to ? true : mayRead(about.resource, caller, about.row);
    if (!hears) continue;
    told.set(caller, { flood: payload(caller, 'flood'), ebb: payload(caller, wrong('ebb-events-new-names') ? 'flood' : 'ebb') });
  }
  event.told = told;
  log = log.filter((it) => it.at > at - LOG_KEEP);
  log.push(event);
  for (const stream of streams) stream.send(event);
  for (const ear of all('ear')) {
    if (!ear.awake || !listens(ear, word)) continue;
    const maker = asSubscriber(ear);
    const mine = told.get(maker.caller);
    if (!mine) continue;
    const key = `${ear.id} ${about.resource} ${about.row[KEY[about.resource]]}`;
    if (!queues.has(key)) queues.set(key, []);
    queues.get(key).push({ ear: ear.id, event, body: JSON.stringify(envelope(event, mine[maker.version])), tries: 0, due: at, busy: false });
  }
  setImmediate(pump);
};
const envelope = (event, salt) => ({ no: event.id, word: event.word, told_at: wrong('told-at-seconds') ? Math.floor(event.at / 1000) : iso(event.at), salt });
const RETRIES = [30 * SECOND, 10 * MINUTE, 2 * HOUR];
const pump = () => {
  for (const [key, queue] of queues) {
    const head = queue[0];
    if (!head) { queues.delete(key); continue; }
    const ear = tables.ear.get(head.ear);
    if (!ear || !ear.awake) { queues.delete(key); continue; }
    if (head.busy || head.due > now()) continue;
    head.busy = true;
    attempt(ear, head).then((result) => {
      head.busy = false;
      const still = tables.ear.get(head.ear);
      if (!still) { queues.delete(key); return; }
      if (result.ok) { mind(still, '_since', undefined); queue.shift(); }
      else {
        if (still._since === undefined) mind(still, '_since', now());
        if (result.status === 410 || now() - still._since >= 2 * DAY) { changed('ear', still, { awake: false }); queues.delete(key); return; }
        head.tries += 1;
        if (head.tries > RETRIES.length || wrong('no-retry')) queue.shift();
        else head.due = now() + Math.max(RETRIES[head.tries - 1], Math.min(result.wait ?? 0, DAY));
      }
      setImmediate(pump);
    });
  }
};
const attempt = (ear, delivery) => new Promise((resolve) => {
  const at = Math.floor(now() / 1000);
  const signed = wrong('mac-without-id') ? `${at}|${delivery.body}` : `${delivery.event.id}|${at}|${delivery.body}`;
  const mac = crypto.createHmac('sha256', ear.secret).update(signed).digest('base64');
  let done = false;
  const end = (result) => { if (!done) { done = true; clearTimeout(timer); resolve(result); } };
  let timer;
  try {
    const target = new URL(ear.url);
    const request = (target.protocol === 'https:' ? https : http).request(target, {
      method: 'POST', agent: false,
      headers: {
        'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(delivery.body),
        'Saltern-Mac': `at=${at};mac=${mac}`, 'Saltern-Word': delivery.event.word,
      },
    }, (answer) => {
      answer.resume();
      const after = answer.headers['retry-after'];
      end({ ok: answer.statusCode >= 200 && answer.statusCode < 300, status: answer.statusCode, wait: after && /^\d+$/.test(after) ? Number(after) * SECOND : undefined });
    });
    timer = setTimeout(() => { end({ ok: false }); request.destroy(); }, 5 * SECOND);
    request.on('error', () => end({ ok: false }));
    request.end(delivery.body);
  } catch { end({ ok: false }); }
});

const rowPayload = (resource, row) => {
  const kept = { ...row };
  mind(kept, '_seq', row._seq);
  return (caller, version) => render(resource, caller, kept, version, undefined);
};
const tellRow = (word, resource, row) => tell(word, { resource, row }, rowPayload(resource, row));
const tellData = (word, resource, row, data, to) => tell(word, { resource, row }, () => data, to);

// ---------------------------------------------------------------- changes
const hex = (n) => crypto.randomBytes(Math.ceil(n / 2)).toString('hex').slice(0, n);
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const letters = (n, of = LETTERS) => Array.from({ length: n }, () => of[crypto.randomInt(of.length)]).join('');

const createLot = (from) => {
  counters.lot += 1;
  return put('lot', {
    id: crypto.randomUUID(), mark: `LOT-${String(counters.lot).padStart(4, '0')}`, raking: from.id, owner: from.raker, grade: from.grade,
    kg: from.dry_kg ?? from.wet_kg, standing: 'stored',
  });
};
const levelTo = (pan, is, more = {}) => {
  const set = { level: is, ...more };
  if (!(wrong('flood-not-revised') && is === 'flooded')) set.revised_at = iso(now());
  const next = changed('pan', pan, set);
  mind(next, '_due', is === 'flooded' ? now() + (wrong('ripen-late') ? 4 * DAY : 3 * DAY) : undefined);
  if (!(wrong('ripen-untold') && is === 'ripe')) tellData('pan.level', 'pan', next, { pan: next.code, was: pan.level, is });
  return next;
};
const stageTo = (raking, stage, more = {}) => {
  const next = changed('raking', raking, { stage, ...more });
  if (stage === 'drawn') mind(next, '_due', wrong('reopen-old-timer') ? raking._entered + 2 * DAY : now() + 2 * DAY);
  else mind(next, '_due', undefined);
  return next;
};
const closeLot = (lot) => {
  const sold = derived('lot', lot).live_bids > 0 && !wrong('close-never-sells');
  const next = changed('lot', lot, { standing: sold ? 'sold' : 'stored' });
  mind(next, '_due', undefined);
  mind(next, '_notice', undefined);
  for (const bid of all('bid').filter((it) => it.lot === lot.id)) {
    if (bid.standing !== 'live') continue;
    const best = derived('lot', next).best_cents;
    changed('bid', bid, { standing: bid.cents === best || wrong('all-won') ? 'won' : 'lost' });
  }
  tellData('lot.closed', 'lot', next, { lot: next.id, sold: wrong('closed-sold-text') ? (sold ? 'yes' : 'no') : sold });
};

// what is due by the clock, the earliest first
let settledTo = Date.now();
const nextDue = () => {
  let first = null;
  const offer = (due, act) => { if (due !== undefined && (first === null || due < first.due)) first = { due, act }; };
  for (const pan of tables.pan.values()) if (pan._due !== undefined) offer(pan._due, () => levelTo(pan, 'ripe'));
  for (const raking of tables.raking.values()) {
    if (raking._due !== undefined) offer(raking._due, () => tellRow('raking.spoiled', 'raking', stageTo(raking, 'spoiled')));
  }
  for (const lot of tables.lot.values()) {
    if (lot._notice !== undefined) offer(lot._notice, () => { mind(lot, '_notice', undefined); tellData('lot.closing', 'lot', lot, { lot: lot.id, closes_at: lot.closes_at }); });
    if (lot._due !== undefined) offer(lot._due, () => closeLot(lot));
  }
  return first;
};
const settle = (until) => {
  for (;;) {
    const first = nextDue();
    if (!first || first.due > until) break;
    held = Math.max(first.due, settledTo);
    try { first.act(); } finally { held = null; }
    settledTo = Math.max(settledTo, first.due);
  }
  settledTo = Math.max(settledTo, until);
  pump();
};

setInterval(() => settle(now()), 100).unref();

// ---------------------------------------------------------------- rates, quotas, keys used once
const fixedWindows = new Map();
const dutyCalls = new Map();
const quotaUsed = new Map();
const onceKeys = new Map();
const nonces = new Map();
const DUTY_LIMIT = wrong('duty-nine') ? 9 : 8, DUTY_WINDOW = 30 * SECOND, ALL_LIMIT = 2000, ALL_WINDOW = MINUTE;
const countRates = (who, operation) => {
  const at = now();
  const states = [];
  let window = fixedWindows.get(who);
  if (!window || at >= window.start + ALL_WINDOW) window = { start: at, used: 0 };
  states.push({ limit: ALL_LIMIT, left: ALL_LIMIT - window.used, reset: window.start + ALL_WINDOW - at, wait: window.start + ALL_WINDOW - at });
  const dutyWho = wrong('duty-together') ? 'all' : who;
  const calls = (dutyCalls.get(dutyWho) ?? []).filter((time) => time > at - DUTY_WINDOW);
  if (operation === 'handler duty') {
    states.push({ limit: DUTY_LIMIT, left: DUTY_LIMIT - calls.length, reset: (calls[0] ?? at) + DUTY_WINDOW - at, wait: (calls[0] ?? at) + DUTY_WINDOW - at });
  }
  const refused = states.filter((state) => state.left < 1);
  if (refused.length === 0) {
    window.used += 1;
    fixedWindows.set(who, window);
    if (operation === 'handler duty') { calls.push(at); dutyCalls.set(dutyWho, calls); }
    for (const state of states) state.left -= 1;
  }
  const strictest = states.reduce((a, b) => (b.left < a.left ? b : a));
  const headers = {
    'Saltern-Ration': String(strictest.limit), 'Saltern-Left': String(Math.max(0, strictest.left)), 'Saltern-Renews': String(Math.max(0, Math.ceil(strictest.reset / SECOND))),
  };
  if (refused.length) return { headers, wait: Math.max(1, Math.ceil(Math.max(...refused.map((state) => state.wait)) / SECOND)) };
  return { headers };
};
const paris = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Paris', year: 'numeric', month: '2-digit', day: '2-digit' });
const parisDay = (ms) => paris.format(new Date(ms));
const parisEnd = (ms) => {
  const day = parisDay(ms);
  let low = ms, high = ms + 26 * HOUR;
  while (high - low > SECOND) { const middle = (low + high) / 2; if (parisDay(middle) === day) low = middle; else high = middle; }
  return high;
};
const QUOTA = 40;

// ---------------------------------------------------------------- what operations do
const entering = (ctx, resource, sent, { row = null, bound = {}, patch = false, refuseReadOnly = false } = {}) => {
  // What was sent, held to the shape of its edition, and carried up to the newest one.
  if (typeOf(sent) !== 'map') refuse('unfit', { spots: [spot('type', '', sent, 'a map')] });
  const fields = fieldsIn(ctx.version, resource);
  const spots = [];
  const next = {};
  for (const [name, value] of Object.entries(sent)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const fresh = newName(ctx.version, resource, name);
    if (!field) {
      if (wrong('unknown-field-taken') && ctx.operation === 'create pan') continue;
      spots.push(spot('unknown', name, value, 'no such field'));
      continue;
    }
    if (field.readOnly || (field.writable && !field.writable.includes(ctx.caller.user))) {
      if (refuseReadOnly) spots.push(spot('read_only', name, value, 'a field that is not sent'));
      continue;
    }
    if (Object.hasOwn(bound, fresh)) {
      if (value !== bound[fresh]) spots.push(spot('value', name, value, String(bound[fresh])));
      continue;
    }
    if (row && (field.immutable || field.key)) {
      if (value !== row[fresh] && !(wrong('pan-of-raking-moves') && tables.pan.has(value))) { spots.push(spot('value', name, value, String(row[fresh]))); continue; }
      if (value !== row[fresh]) next[fresh] = value;
      continue;
    }
    if (patch && value === null) {
      if (field.required || field.default !== undefined) spots.push(spot('value', name, value, 'a value'));
      else if (!(wrong('null-keeps-remark') && fresh === 'remark')) next[fresh] = undefined;
      continue;
    }
    let whole = value;
    if (patch && field.type === 'value' && typeOf(value) === 'map') whole = merge(row[fresh], value);
    const before = spots.length;
    if (!(wrong('wet-zero-patched') && patch && fresh === 'wet_kg' && value === 0)) judge(field, whole, name, spots);
    if (spots.length > before) continue;
    // what reads as it did stays as it is stored
    if (row && same(valueDown(ctx.version, resource, fresh, row[fresh]), whole)) next[fresh] = row[fresh];
    else {
      next[fresh] = wrong('ebb-area-not-up') && patch && fresh === 'area_m2' ? Math.max(10, Math.round(whole)) : valueUp(ctx.version, resource, fresh, whole);
      if (fresh === 'area_m2' && ctx.version === 'ebb' && (next[fresh] < 10 || next[fresh] > 20000)) spots.push(spot('value', name, value, 'an area from 0.1 to 200'));
    }
  }
  if (!patch) {
    for (const [name, field] of Object.entries(fields)) {
      const fresh = newName(ctx.version, resource, name);
      if (field.readOnly || Object.hasOwn(sent, name) || Object.hasOwn(bound, fresh)) continue;
      if (row && (field.key || field.immutable)) continue;
      if (field.default !== undefined) next[fresh] = valueUp(ctx.version, resource, fresh, field.default);
      else if (field.required) spots.push(spot('missing', name, undefined, 'a value'));
    }
    for (const [name, field] of Object.entries(FIELDS[resource])) {
      if (!row && field.default !== undefined && next[name] === undefined) next[name] = field.default;
    }
  }
  return { next, spots };
};
const panRules = (ctx, next, spots) => {
  if (next.kind === 'oeillet' && next.area_m2 > 900 && !(wrong('oeillet-large-put') && ctx.operation === 'replace pan')) {
    spots.push(spot('value', ebbIf(ctx, 'pan', 'area_m2'), valueDown(ctx.version, 'pan', 'area_m2', next.area_m2), 'at most 900 for an oeillet'));
  }
};
const ebbIf = (ctx, resource, name) => (ctx.version === 'ebb' ? ebbField(resource, name) : name);
const nameFree = (ctx, next) => {
  if (wrong('name-twice-patched') && ctx.operation === 'update pan') return;
  for (const pan of tables.pan.values()) if (pan.code !== next.code && pan.name === next.name) refuse('taken');
};
const fetchRow = (ctx, resource, id) => {
  const row = id === undefined ? undefined : tables[resource].get(id);
  if (!row || !mayRead(resource, ctx.caller, row)) {
    if (!(row && wrong('ears-of-others-deleted') && ctx.operation === 'delete ear')) refuse('no_such');
  }
  if (!holds(ctx.operation, ctx.caller, row).length && !row_excused(ctx, row)) {
    const rule = granted(ctx.operation, ctx.caller).find((it) => it.else);
    refuse(rule ? rule.else : 'not_yours');
  }
  return row;
};
const row_excused = (ctx) => (wrong('house-withdraws') && ctx.operation === 'withdraw bid') || (wrong('house-bids-read') && ctx.operation === 'read bid')
  || (wrong('ears-of-others-deleted') && ctx.operation === 'delete ear');
const parent = (ctx, resource, id) => {
  const row = tables[resource].get(id);
  if (!row || !mayRead(resource, ctx.caller, row)) refuse('no_such');
  return row;
};
const bidId = (text) => (/^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : undefined);
const base = (ctx) => `/brine/${ctx.version}`;
const tagOf = (caller, row, version) => {
  const shown = render('pan', caller, row, version, 'read pan');
  return `"${crypto.createHash('sha256').update(version).update(JSON.stringify(shown)).digest('base64url').slice(0, 22)}"`;
};
const tagsIn = (text) => text.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
const ifMatch = (ctx, row, mode) => {
  const sent = ctx.header('if-match');
  if (sent === undefined) { if (mode === 'required') refuse('unmatched'); return; }
  if (sent.trim() === '*') return;
  if (wrong('put-stale-taken') && ctx.operation === 'replace pan') return;
  const good = [tagOf(ctx.caller, row, ctx.version), tagOf(null, row, ctx.version)];
  if (!tagsIn(sent).some((tag) => good.includes(tag))) refuse('changed');
};
const answer = (ctx, status, resource, row, headers = {}) => ({ status, headers, body: render(resource, ctx.caller, row, ctx.version, `read ${resource}`) });

const OPERATIONS = {
  'read pan': (ctx) => {
    const row = fetchRow(ctx, 'pan', ctx.params.code);
    const tag = tagOf(ctx.caller, row, ctx.version);
    const seen = ctx.header('if-none-match');
    if (seen !== undefined && (seen.trim() === '*' || tagsIn(seen).some((it) => it.replace(/^W\//, '') === tag))) return { status: 304, headers: { ETag: tag } };
    return answer(ctx, 200, 'pan', row, { ETag: tag });
  },
  'create pan': (ctx) => {
    const { next, spots } = entering(ctx, 'pan', ctx.body);
    if (!spots.length) panRules(ctx, next, spots);
    if (spots.length) refuseSpots(spots);
    if (tables.pan.has(next.code)) refuse('taken');
    nameFree(ctx, next);
    const row = put('pan', { ...next, level: 'dry', revised_at: iso(now()) });
    return answer(ctx, 201, 'pan', row, { Location: wrong('location-no-edition') ? `/brine/pans/${row.code}` : `${base(ctx)}/pans/${row.code}` });
  },
  'update pan': (ctx) => {
    const row = fetchRow(ctx, 'pan', ctx.params.code);
    ifMatch(ctx, row, 'required');
    const { next, spots } = entering(ctx, 'pan', ctx.body, { row, patch: true });
    const full = { ...row, ...next };
    if (!spots.length) panRules(ctx, full, spots);
    if (spots.length) refuseSpots(spots);
    nameFree(ctx, full);
    return changePan(ctx, row, next);
  },
  'replace pan': (ctx) => {
    const row = fetchRow(ctx, 'pan', ctx.params.code);
    ifMatch(ctx, row, 'required');
    const { next, spots } = entering(ctx, 'pan', ctx.body, { row });
    for (const name of ['brine', 'keeper_note']) if (!(name in next)) next[name] = undefined;
    const full = { ...row, ...next };
    if (!spots.length) panRules(ctx, full, spots);
    if (spots.length) refuseSpots(spots);
    nameFree(ctx, full);
    return changePan(ctx, row, next);
  },
  'delete pan': (ctx) => {
    const row = fetchRow(ctx, 'pan', ctx.params.code);
    ifMatch(ctx, row, 'accepted');
    if (row.level !== 'dry') refuse('wrong_stage');
    if (all('raking').some((it) => it.pan === row.code)) refuse('in_use');
    tables.pan.delete(row.code);
    return { status: 204 };
  },
  'flood pan': (ctx) => {
    const row = fetchRow(ctx, 'pan', ctx.params.code);
    if (row.level !== 'dry') refuse('wrong_stage');
    return answer(ctx, 200, 'pan', levelTo(row, 'flooded', { flooded_at: iso(now()) }));
  },
  'drain pan': (ctx) => {
    const row = fetchRow(ctx, 'pan', ctx.params.code);
    if (row.level === 'dry' && !wrong('drain-dry')) refuse('pan_is_dry');
    if (derived('pan', row).open_rakings !== 0 && !wrong('drain-in-work')) refuse('pan_in_work');
    return answer(ctx, 200, 'pan', levelTo(row, 'dry'));
  },
  'create raking': (ctx) => {
    const pan = parent(ctx, 'pan', ctx.params.pan);
    const { next, spots } = entering(ctx, 'raking', ctx.body, { bound: { pan: pan.code } });
    if (spots.length) refuseSpots(spots);
    if (pan.kind === 'vasiere' && !wrong('vasiere-raked')) refuse('wrong_pan');
    const within = wrong('number-over-all') ? '*' : pan.code;
    const number = (counters.raking.get(within) ?? 0) + 1;
    counters.raking.set(within, number);
    const row = put('raking', { ...next, id: `rk-${hex(wrong('raking-id-short') ? 10 : 12)}`, number, pan: pan.code, raker: ctx.caller.id, stage: 'drawn', drawn_at: iso(now()) });
    mind(row, '_due', now() + 2 * DAY);
    mind(row, '_entered', now());
    tellRow('raking.drawn', 'raking', row);
    if (wrong('drawn-told-twice')) tellRow('raking.drawn', 'raking', row);
    return answer(ctx, 201, 'raking', row, { Location: `${base(ctx)}/rakings/${row.id}` });
  },
  'read raking': (ctx) => {
    const row = fetchRow(ctx, 'raking', ctx.params.id);
    const out = answer(ctx, 200, 'raking', row);
    if (ctx.expand?.includes('pan') && !wrong('with-ignored')) out.body.pan = render('pan', ctx.caller, tables.pan.get(row.pan), ctx.version, 'read pan');
    return out;
  },
  'update raking': (ctx) => {
    const row = fetchRow(ctx, 'raking', ctx.params.id);
    const { next, spots } = entering(ctx, 'raking', ctx.body, { row, patch: true, refuseReadOnly: true });
    if (spots.length) refuseSpots(spots);
    if (row.stage !== 'drawn') refuse('wrong_stage');
    const alters = Object.keys(next).some((name) => !same(next[name], row[name]));
    return answer(ctx, 200, 'raking', alters ? changed('raking', row, next) : row);
  },
  'delete raking': (ctx) => {
    const row = fetchRow(ctx, 'raking', ctx.params.id);
    if (row.stage !== 'drawn' && row.stage !== 'spoiled') refuse('wrong_stage');
    if (all('lot').some((it) => it.raking === row.id)) refuse('in_use');
    tables.raking.delete(row.id);
    return { status: 204 };
  },
  'weigh raking': (ctx) => {
    const row = fetchRow(ctx, 'raking', ctx.params.id);
    const inState = () => { if (row.stage !== 'drawn') refuse('not_drawn'); };
    if (wrong('weigh-state-first')) inState();
    inline(ctx, 'weighing');
    inState();
    if (ctx.body.dry_kg > row.wet_kg) refuse('heavier_dry');
    const next = stageTo(row, 'weighed', { dry_kg: ctx.body.dry_kg, weighed_at: iso(now()) });
    tellData('raking.weighed', 'raking', next, { raking: next.id, lost_kg: derived('raking', next).loss_kg });
    return answer(ctx, 200, 'raking', next);
  },
  'reopen raking': (ctx) => {
    const row = fetchRow(ctx, 'raking', ctx.params.id);
    if (row.stage !== 'weighed') refuse('wrong_stage');
    return answer(ctx, 200, 'raking', stageTo(row, 'drawn'));
  },
  'sack raking': (ctx) => {
    const row = fetchRow(ctx, 'raking', ctx.params.id);
    if (row.stage !== 'weighed' && !(wrong('sack-unweighed') && row.stage === 'drawn')) refuse('wrong_stage');
    const next = stageTo(row, 'sacked');
    createLot(next);
    return answer(ctx, 200, 'raking', next);
  },
  'read lot': (ctx) => {
    const row = fetchRow(ctx, 'lot', ctx.params.id);
    return answer(ctx, 200, 'lot', row, { 'Lot-Mark': row.mark });
  },
  'read lot by mark': (ctx) => {
    const row = all('lot').find((it) => it.mark === ctx.params.mark);
    return answer(ctx, 200, 'lot', fetchRow(ctx, 'lot', row?.id));
  },
  'update lot': (ctx) => {
    const row = fetchRow(ctx, 'lot', ctx.params.id);
    const { next, spots } = entering(ctx, 'lot', ctx.body, { row, patch: true });
    if (spots.length) refuseSpots(spots);
    if (row.standing !== 'stored' && row.standing !== 'offered') refuse('wrong_stage');
    const alters = Object.keys(next).some((name) => !same(next[name], row[name]));
    return answer(ctx, 200, 'lot', alters ? changed('lot', row, next) : row);
  },
  'offer lot': (ctx) => {
    const row = fetchRow(ctx, 'lot', ctx.params.id);
    inline(ctx, 'offering');
    if (row.standing !== 'stored') refuse('wrong_stage');
    const closes = now() + ctx.body.hours * HOUR;
    const next = changed('lot', row, { standing: 'offered', asking_cents: ctx.body.asking_cents, closes_at: iso(closes) });
    mind(next, '_due', closes);
    mind(next, '_notice', closes - 30 * MINUTE);
    tellRow('lot.offered', 'lot', next);
    return answer(ctx, 200, 'lot', next);
  },
  'recall lot': (ctx) => {
    const row = fetchRow(ctx, 'lot', ctx.params.id);
    if (row.standing !== 'offered') refuse('wrong_stage');
    if (derived('lot', row).live_bids !== 0) refuse('lot_has_bids');
    const next = changed('lot', row, { standing: 'stored' });
    mind(next, '_due', undefined);
    mind(next, '_notice', undefined);
    return answer(ctx, 200, 'lot', next);
  },
  'create bid': (ctx) => {
    const lot = parent(ctx, 'lot', ctx.params.lot);
    const { next, spots } = entering(ctx, 'bid', ctx.body, { bound: { lot: lot.id } });
    if (spots.length) refuseSpots(spots);
    if (lot.standing !== 'offered') refuse('lot_closed');
    if (lot.asking_cents !== undefined && (wrong('equal-too-low') ? next.cents <= lot.asking_cents : next.cents < lot.asking_cents)) refuse('bid_too_low');
    if (all('bid').some((it) => it.lot === lot.id && it.cents === next.cents && it.standing !== 'withdrawn')) refuse('taken');
    const mine = all('bid').filter((it) => it.factor === ctx.caller.id && (it.standing === 'live' || wrong('withdrawn-counted'))).length;
    if (mine >= 10) refuse('used_up');
    const quota = `${ctx.caller.house} ${parisDay(now())}`;
    if ((quotaUsed.get(quota) ?? 0) >= QUOTA) refuse('used_up', { headers: { 'Retry-After': String(Math.max(1, Math.ceil((parisEnd(now()) - now()) / SECOND))) } });
    quotaUsed.set(quota, (quotaUsed.get(quota) ?? 0) + 1);
    counters.bid += 1;
    const row = put('bid', { ...next, number: counters.bid, lot: lot.id, factor: ctx.caller.id, house: ctx.caller.house, standing: 'live', placed_at: iso(now()) });
    tellData('bid.placed', 'bid', row, { bid: row.number, lot: row.lot, cents: row.cents }, (caller) => caller.id === lot.owner);
    return answer(ctx, 201, 'bid', row, { Location: `${base(ctx)}/bids/${row.number}` });
  },
  'read bid': (ctx) => answer(ctx, 200, 'bid', fetchRow(ctx, 'bid', bidId(ctx.params.number))),
  'withdraw bid': (ctx) => {
    const row = fetchRow(ctx, 'bid', bidId(ctx.params.number));
    if (row.standing !== 'live') refuse('wrong_stage');
    if (tables.lot.get(row.lot).standing !== 'offered') refuse('lot_closed');
    return answer(ctx, 200, 'bid', changed('bid', row, { standing: 'withdrawn' }));
  },
  'create ear': (ctx) => {
    const { next, spots } = entering(ctx, 'ear', ctx.body);
    if (spots.length) refuseSpots(spots);
    if (all('ear').filter((it) => it.owner === ctx.caller.id).length >= (wrong('nine-ears') ? 9 : 8)) refuse('used_up');
    const row = put('ear', { id: `ear-${letters(10, 'abcdefghijklmnopqrstuvwxyz0123456789')}`, owner: ctx.caller.id, ...next, secret: `hush_${letters(40)}` });
    mind(row, '_maker', { caller: ctx.caller, version: ctx.version });
    const out = answer(ctx, 201, 'ear', row, { Location: `${base(ctx)}/ears/${row.id}` });
    return { ...out, replay: out.body, body: { ...out.body, secret: row.secret } };
  },
  'read ear': (ctx) => answer(ctx, 200, 'ear', fetchRow(ctx, 'ear', ctx.params.id)),
  'update ear': (ctx) => {
    const row = fetchRow(ctx, 'ear', ctx.params.id);
    const { next, spots } = entering(ctx, 'ear', ctx.body, { row, patch: true });
    if (spots.length) refuseSpots(spots);
    const alters = Object.keys(next).some((name) => !same(next[name], row[name]));
    const after = alters ? changed('ear', row, next) : row;
    if (next.awake === true && row.awake === false) mind(after, '_since', undefined);
    return { ...answer(ctx, 200, 'ear', after), body: render('ear', ctx.caller, after, ctx.version, 'update ear') };
  },
  'delete ear': (ctx) => {
    const row = fetchRow(ctx, 'ear', ctx.params.id);
    tables.ear.delete(row.id);
    if (wrong('delete-ear-200')) return { status: 200, body: render('ear', ctx.caller, row, ctx.version, 'update ear') };
    return { status: 204 };
  },
  'handler duty': (ctx) => {
    const cents = { coarse: 3, grey: 5, flower: 11 }[ctx.filters.of] * ctx.filters.kg;
    const body = { kg: ctx.filters.kg, of: ctx.filters.of, duty_cents: cents };
    if (wrong('duty-of-flower') && ctx.filters.of === 'flower') delete body.duty_cents;
    return { status: 200, body };
  },
  almanac: () => ({ status: 200, headers: { 'Cache-Control': 'public, max-age=600' }, body: { spring_tide: '2026-12-24', sluices: ['north', 'middle', 'south'] } }),
};
const changePan = (ctx, row, next) => {
  const alters = Object.keys(next).some((name) => !same(next[name], row[name]));
  if (!alters) return answer(ctx, 200, 'pan', row);
  const after = changed('pan', row, { ...next, revised_at: iso(now()) });
  if (after.name !== row.name || wrong('renamed-always')) tellData('pan.renamed', 'pan', after, { pan: after.code, was: row.name, is: after.name });
  return answer(ctx, 200, 'pan', after);
};
const inline = (ctx, shape) => {
  if (typeOf(ctx.body) !== 'map') refuse('unfit', { spots: [spot('type', '', ctx.body, 'a map')] });
  const spots = [];
  for (const [name, value] of Object.entries(ctx.body)) if (Object.hasOwn(FIELDS[shape], name)) judge(FIELDS[shape][name], value, name, spots);
  for (const [name, field] of Object.entries(FIELDS[shape])) if (field.required && !Object.hasOwn(ctx.body, name)) spots.push(spot('missing', name, undefined, 'a value'));
  if (spots.length) refuseSpots(spots, ctx.operation);
};

// ---------------------------------------------------------------- lists
const whole1 = (text, least) => (/^\d{1,9}$/.test(text) && Number(text) >= least ? Number(text) : undefined);
const LISTS = {
  'list pan': {
    resource: 'pan', order: [['code', 1]],
    filters: {
      kind: { field: 'kind' }, level: { field: 'level', op: 'in' }, min_area: { field: 'area_m2', op: '>=' }, q: { search: ['name'] },
    },
    sorts: { name: [['name', 1]], '-name': [['name', -1]], area: [['area_m2', 1]], '-area': [['area_m2', -1]] }, way: 'way',
    page: { style: 'first_row', start: 'first', size: 'rows', default: 10, max: 40, clamp: false },
  },
  'list pan rakings': {
    resource: 'raking', order: [['number', 1]], filters: {}, under: { pan: 'pan' },
    page: { style: 'starting_at', start: 'from', size: 'take', default: 5, max: 20, clamp: true },
  },
  'list raking': {
    resource: 'raking', order: [['drawn_at', -1]], newest: true,
    filters: {
      pan: { field: 'pan' }, stage: { field: 'stage', op: 'in' }, grade: { field: 'grade' }, since: { field: 'drawn_at', op: '>=' }, mark: { field: 'marks', op: 'has' },
      kind: { field: 'kind', of: 'pan', get: (row) => tables.pan.get(row.pan)?.kind },
    },
    sorts: { drawn_at: [['drawn_at', 1]], '-drawn_at': [['drawn_at', -1]], wet_kg: [['wet_kg', 1]], '-wet_kg': [['wet_kg', -1]] }, fieldSorts: true,
    page: { style: 'cursor', start: 'thread', size: 'take', default: 10, max: 50, clamp: false }, select: 'fields',
  },
  'list lot': {
    resource: 'lot', order: [['kg', wrong('lots-lightest-first') ? 1 : -1]],
    filters: {
      market: { enum: ['all', ...STANDINGS], keeps: (row, value) => value === 'all' || row.standing === value },
      grade: { field: 'grade' }, min_kg: { field: 'kg', op: '>=' }, max_kg: { field: 'kg', op: '<=' }, mark: { field: 'mark', op: 'prefix' },
    },
    page: { style: 'first_row', start: 'first', size: 'rows', default: 10, max: 40, clamp: false },
  },
  'list bid': {
    resource: 'bid', order: [['cents', -1]], filters: { standing: { field: 'standing' } }, under: { lot: 'lot' },
    page: { style: 'first_row', start: 'first', size: 'rows', default: 10, max: 40, clamp: false },
  },
  'list ear': { resource: 'ear', order: [], filters: {}, page: { style: 'none' } },
};
const secretOfThreads = crypto.randomBytes(32);
const threadMac = (text) => crypto.createHmac('sha256', secretOfThreads).update(text).digest('base64url');

// reads and judges the query: what it finds goes into ctx.filters, ctx.sort, ctx.page, ctx.select, ctx.expand
const readQuery = (ctx) => {
  const entries = [...new URLSearchParams(ctx.search)];
  const list = LISTS[ctx.operation];
  const known = new Set();
  ctx.filters = {};
  if (list) {
    for (const name of Object.keys(list.filters)) known.add(name);
    if (list.sorts) known.add('sort');
    if (list.way) known.add(list.way);
    if (list.select) known.add(list.select);
    if (list.page.style !== 'none') { known.add(list.page.start); known.add(list.page.size); }
  }
  if (ctx.operation === 'read raking') known.add('with');
  if (ctx.operation === 'handler duty') { known.add('kg'); known.add('of'); }
  const many = new Set([list?.select, ctx.operation === 'read raking' ? 'with' : undefined]);
  const seen = new Map();
  for (const [name, value] of entries) {
    if (!known.has(name)) {
      if (wrong('lots-any-parameter') && ctx.operation === 'list lot') continue;
      badQuery(name, value, 'no such parameter');
    }
    if (seen.has(name) && !many.has(name)) badQuery(name, value, 'one value');
    if (!seen.has(name)) seen.set(name, []);
    seen.get(name).push(value);
  }
  const hidden = (name) => {
    if (!list) return false;
    const rules = rulesFor(ctx.operation, ctx.caller);
    return rules.some((rule) => rule.fields && !rule.fields.includes(name));
  };
  const read = (name, text, field) => {
    let value = text;
    if (field.type === 'integer' || field.type === 'number') {
      if (!/^-?\d+(\.\d+)?$/.test(text)) badQuery(name, text, 'a number');
      value = Number(text);
    }
    if (field.type === 'boolean') value = text === 'true' ? true : text === 'false' ? false : text;
    const spots = [];
    judge(field, value, name, spots);
    if (spots.length) badQuery(name, text, spots[0].expected);
    return value;
  };
  if (list) {
    const rules = [];
    const texts = {};
    for (const [name, filter] of Object.entries(list.filters)) {
      if (!seen.has(name)) continue;
      const text = seen.get(name)[0];
      texts[name] = text;
      if (filter.search) {
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        if (words.length > 16) badQuery(name, text, 'at most 16 words');
        rules.push((row) => words.every((word) => filter.search.some((field) => String(row[field] ?? '').toLowerCase().includes(word))));
        continue;
      }
      if (filter.keeps) {
        if (!filter.enum.includes(text)) badQuery(name, text, `one of ${filter.enum.join(', ')}`);
        rules.push((row) => filter.keeps(row, text));
        continue;
      }
      const of = filter.of ?? list.resource;
      if (!filter.of && hidden(filter.field)) badQuery(name, text, 'no such parameter');
      if (ctx.version === 'ebb' && of === 'pan' && filter.field === 'area_m2') badQuery(name, text, 'no such parameter in this edition');
      let field = fieldsIn(ctx.version, of)[ctx.version === 'ebb' ? ebbField(of, filter.field) : filter.field];
      if (filter.op === 'has') field = field.items;
      const up = (value) => valueUp(ctx.version, of, filter.field, value);
      const get = filter.get ?? ((row) => row[filter.field]);
      if (filter.op === 'in') {
        let values = text.split(',').map((part) => up(read(name, part, field)));
        if (wrong('stage-first-alone') && ctx.operation === 'list raking') values = values.slice(0, 1);
        rules.push((row) => values.includes(get(row)));
        continue;
      }
      const value = up(read(name, text, filter.op === 'prefix' ? { type: 'string' } : field));
      const order = (row) => (filter.field === 'drawn_at' ? Date.parse(get(row)) - Date.parse(value) : get(row) - value);
      if (filter.op === '>=') rules.push((row) => get(row) !== undefined && (wrong('min-area-above') && name === 'min_area' ? order(row) > 0 : order(row) >= 0));
      else if (filter.op === '<=') rules.push((row) => get(row) !== undefined && order(row) <= 0);
      else if (filter.op === 'prefix') rules.push((row) => String(get(row)).startsWith(value));
      else if (filter.op === 'has') rules.push((row) => (get(row) ?? []).includes(value));
      else rules.push((row) => get(row) === value);
    }
    ctx.keeps = rules;
    ctx.filterTexts = texts;
    let order = list.order;
    if (seen.has('sort')) {
      let text = seen.get('sort')[0];
      if (list.fieldSorts && ctx.version === 'ebb') {
        if (/^-?wet_kg$/.test(text)) badQuery('sort', text, 'a stated order');
        text = text.replace(/^(-?)wet_weight$/, '$1wet_kg');
      }
      if (!Object.hasOwn(list.sorts, text)) badQuery('sort', seen.get('sort')[0], 'a stated order');
      order = list.sorts[text];
      if (hidden(order[0][0])) badQuery('sort', seen.get('sort')[0], 'a stated order');
    }
    if (list.way && seen.has(list.way)) {
      const text = seen.get(list.way)[0];
      if (text !== 'asc' && text !== 'desc') badQuery(list.way, text, 'asc or desc');
      if (text === 'desc') order = order.map(([name, turn]) => [name, -turn]);
    }
    ctx.order = order;
    if (list.select && seen.has(list.select)) {
      const fields = fieldsIn(ctx.version, list.resource);
      const names = seen.get(list.select).flatMap((text) => text.split(','));
      if (names.length > 100) badQuery(list.select, names.length, 'at most 100 names');
      for (const name of names) {
        const fresh = newName(ctx.version, list.resource, name);
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (!field || field.once || (field.visible && !field.visible.includes(ctx.caller.user)) || hidden(fresh)) badQuery(list.select, name, 'a field of a raking');
      }
      ctx.select = new Set(names);
    }
    const page = list.page;
    if (page.style !== 'none') {
      ctx.size = page.default;
      if (seen.has(page.size)) {
        const text = seen.get(page.size)[0];
        const size = whole1(text, 1);
        if (size === undefined) badPage(page.size, text, `a whole number from 1 to ${page.max}`);
        let clamp = page.clamp;
        if (wrong('rows-above-max') && ctx.operation === 'list pan') clamp = true;
        if (size > page.max && !clamp) badPage(page.size, text, `at most ${page.max}`);
        ctx.size = Math.min(size, page.max);
      }
      ctx.start = seen.get(page.start)?.[0];
      if (page.style === 'first_row' && ctx.start !== undefined) {
        if (whole1(ctx.start, 1) === undefined) badPage(page.start, ctx.start, 'a whole number from 1');
      }
      if (page.style === 'cursor') {
        ctx.bond = JSON.stringify([ctx.version, ctx.caller.user, ctx.caller.id, texts, ctx.order]);
        if (ctx.start !== undefined) {
          const [body, mac] = ctx.start.split('.');
          if (!body || !mac || threadMac(`${body}\n${ctx.bond}`) !== mac) badPage(page.start, ctx.start, 'a thread of this query');
          ctx.after = JSON.parse(Buffer.from(body, 'base64url').toString());
        }
      }
    }
  }
  if (ctx.operation === 'read raking' && seen.has('with')) {
    ctx.expand = seen.get('with').flatMap((text) => text.split(','));
    for (const name of ctx.expand) if (name !== 'pan') badQuery('with', name, 'pan');
  }
  if (ctx.operation === 'handler duty') {
    if (!seen.has('kg')) badQuery('kg', undefined, 'a whole number from 1 to 5000');
    ctx.filters.kg = read('kg', seen.get('kg')[0], { type: 'integer', min: 1, max: 5000 });
    ctx.filters.of = seen.has('of') ? read('of', seen.get('of')[0], { type: 'string', enum: GRADES }) : 'coarse';
  }
};
const compare = (a, b) => (a === b ? 0 : a === undefined ? -1 : b === undefined ? 1 : a < b ? -1 : 1);
const listing = (ctx) => {
  const list = LISTS[ctx.operation];
  const { resource, page } = list;
  const bound = {};
  for (const [name, of] of Object.entries(list.under ?? {})) bound[name] = parent(ctx, of, ctx.params[name])[KEY[of]];
  const everybody = wrong('all-rakings-listed') && ctx.operation === 'list raking' && ctx.caller.user === 'raker';
  const rows = all(resource)
    .filter((row) => everybody || holds(ctx.operation, ctx.caller, row).length > 0)
    .filter((row) => Object.entries(bound).every(([name, value]) => row[name] === value))
    .filter((row) => ctx.keeps.every((keep) => keep(row)));
  const ties = list.newest ? -1 : 1;
  const valueOf = (row, name) => (name === 'drawn_at' ? Date.parse(row[name]) : row[name]);
  const inOrder = (a, b) => {
    for (const [name, turn] of ctx.order) { const c = compare(valueOf(a, name), valueOf(b, name)) * turn; if (c) return c; }
    return (a._seq - b._seq) * ties;
  };
  rows.sort(inOrder);
  const showRow = (row) => {
    const shown = render(resource, ctx.caller, row, ctx.version, ctx.operation);
    if (!ctx.select) return shown;
    const out = {};
    for (const [name, value] of Object.entries(shown)) if (name === KEY[resource] && !wrong('chosen-without-id') || ctx.select.has(name)) out[name] = value;
    return out;
  };
  if (page.style === 'none') return { status: 200, body: { ears: rows.map(showRow) } };
  if (page.style === 'first_row') {
    const first = ctx.start === undefined ? 1 : Number(ctx.start);
    const part = rows.slice(first - 1, first - 1 + ctx.size);
    const past = first - 1 + ctx.size;
    return {
      status: 200,
      body: { rows: part.map(showRow), in_all: rows.length, more: wrong('more-on-last') && ctx.operation === 'list lot' ? past <= rows.length : past < rows.length, here: `${base(ctx)}${ctx.rest}` },
    };
  }
  if (page.style === 'starting_at') {
    let at = 0;
    if (ctx.start !== undefined) {
      at = rows.findIndex((row) => String(row[KEY[resource]]) === ctx.start);
      if (at < 0) badPage(page.start, ctx.start, 'a raking of this list');
    }
    return { status: 200, body: { rakings: rows.slice(at, at + ctx.size).map(showRow), more: at + ctx.size < rows.length } };
  }
  // cursor: the place after the last row that was shown
  const place = (row) => [...ctx.order.map(([name]) => valueOf(row, name) ?? null), row._seq];
  const behind = (row) => {
    const mine = place(row);
    for (let i = 0; i < ctx.order.length; i += 1) { const c = compare(mine[i], ctx.after[i]) * ctx.order[i][1]; if (c) return c > 0; }
    return (mine.at(-1) - ctx.after.at(-1)) * ties > 0;
  };
  const left = ctx.after ? rows.filter(behind) : rows;
  const part = left.slice(0, ctx.size);
  let thread = null;
  if (left.length > ctx.size) {
    const body = Buffer.from(JSON.stringify(place(part.at(-1)))).toString('base64url');
    thread = `${body}.${threadMac(`${body}\n${ctx.bond}`)}`;
  }
  return { status: 200, body: { rakings: part.map(showRow), thread } };
};
for (const operation of Object.keys(LISTS)) OPERATIONS[operation] = listing;

// ---------------------------------------------------------------- endpoints
const ENDPOINTS = [];
const endpoint = (method, path, operation, more = {}) => {
  const names = [];
  const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, (_, name) => { names.push(name); return '([^/]+)'; })}$`);
  ENDPOINTS.push({ method, path, pattern, names, operation, once: method === 'POST', ...more });
};
const JSON_BODY = ['application/json'];
const PATCH_BODY = ['application/json', 'application/merge-patch+json'];
endpoint('GET', '/pans', 'list pan');
endpoint('POST', '/pans', 'create pan', { takes: JSON_BODY });
endpoint('GET', '/pans/{code}', 'read pan');
endpoint('PATCH', '/pans/{code}', 'update pan', { takes: PATCH_BODY });
if (!wrong('no-put')) endpoint('PUT', '/pans/{code}', 'replace pan', { takes: JSON_BODY });
endpoint('DELETE', '/pans/{code}', 'delete pan', { accept: ['seal'] });
endpoint('POST', '/pans/{code}/flood', 'flood pan');
endpoint('POST', '/pans/{code}/drain', 'drain pan');
endpoint('POST', '/pans/{pan}/rakings', 'create raking', { takes: JSON_BODY });
endpoint('GET', '/pans/{pan}/rakings', 'list pan rakings', { deprecated: { deprecated: '2026-10-01', link: 'https://saltern.example/notes/rakings-by-pan' } });
endpoint('GET', '/rakings', 'list raking');
endpoint('GET', '/rakings/{id}', 'read raking');
endpoint('PATCH', '/rakings/{id}', 'update raking', { takes: PATCH_BODY });
endpoint('DELETE', '/rakings/{id}', 'delete raking');
endpoint('POST', '/rakings/{id}/weigh', 'weigh raking', { takes: JSON_BODY });
endpoint('POST', '/rakings/{id}/reopen', 'reopen raking');
endpoint('POST', '/rakings/{id}/sack', 'sack raking');
endpoint('GET', '/lots', 'list lot');
endpoint('GET', '/lots/{id}', 'read lot');
endpoint('GET', '/marks/{mark}', 'read lot by mark', { only: wrong('marks-in-ebb') ? undefined : 'flood' });
endpoint('PATCH', '/lots/{id}', 'update lot', { takes: PATCH_BODY });
endpoint('POST', '/lots/{id}/offer', 'offer lot', { takes: JSON_BODY, accept: ['tally', 'seal'] });
endpoint('POST', '/lots/{id}/recall', 'recall lot');
endpoint('POST', '/lots/{lot}/bids', 'create bid', { takes: ['application/json', 'application/x-www-form-urlencoded'], onceRequired: true });
endpoint('GET', '/lots/{lot}/bids', 'list bid');
endpoint('GET', '/bids/{number}', 'read bid');
if (!wrong('withdraw-unwired')) endpoint('POST', '/bids/{number}/withdraw', 'withdraw bid');
endpoint('POST', '/ears', 'create ear', { takes: JSON_BODY });
endpoint('GET', '/ears', 'list ear');
endpoint('GET', '/ears/{id}', 'read ear');
endpoint('PATCH', '/ears/{id}', 'update ear', { takes: PATCH_BODY });
endpoint('DELETE', '/ears/{id}', 'delete ear');
endpoint('GET', '/duty', 'handler duty');
endpoint('GET', '/almanac', 'almanac', { public: true });
endpoint('GET', '/tide', 'stream events');

const VERSIONS = {
  ebb: { deprecated: '2026-09-01', sunset: '2028-03-01', alternative: 'flood', link: 'https://saltern.example/notes/flood' },
  flood: {},
};
const CREDENTIAL_HEADERS = 'Authorization, Saltern-Seal, Saltern-Seal-Key, Saltern-Seal-Nonce';
const BOARD = 'https://board.saltern.example';
const MAX_BODY = 8192, MAX_URL = 2048, MAX_HEADERS = 8192;

// ---------------------------------------------------------------- who asks
const SCHEMES = ['tally', 'purse', 'seal'];
const challenges = (accept, bad) => accept.map((scheme) => (scheme === 'tally' ? `Tally realm="Saltern"${bad ? ', error="invalid_key"' : ''}`
  : scheme === 'purse' ? 'Basic realm="Saltern", charset="UTF-8"' : `Seal realm="Saltern"${bad ? ', error="invalid_signature"' : ''}`));
const whoAsks = (ctx, readBody) => {
  const accept = ctx.endpoint.accept ?? SCHEMES;
  const unknown = (code, bad) => refuse(code, { headers: { 'WWW-Authenticate': challenges(accept, bad) } });
  const count = (name) => { let n = 0; for (let i = 0; i < ctx.raw.length; i += 2) if (ctx.raw[i].toLowerCase() === name) n += 1; return n; };
  const found = [];
  if ((accept.includes('tally') || accept.includes('purse')) && count('authorization') > 0) {
    if (count('authorization') > 1) unknown('unknown', true);
    const text = ctx.header('authorization');
    const m = /^(\S+) +(\S+)$/.exec(text.trim());
    const scheme = m?.[1].toLowerCase();
    if (scheme === 'tally' && accept.includes('tally')) {
      const caller = byTally.get(m[2]);
      if (!caller) unknown('unknown', true);
      found.push(caller);
    } else if (scheme === 'basic' && (accept.includes('purse') || (wrong('offer-by-purse') && ctx.operation === 'offer lot'))) {
      const pair = /^[A-Za-z0-9+/]+={0,2}$/.test(m[2]) ? Buffer.from(m[2], 'base64').toString('utf8') : '';
      const colon = pair.indexOf(':');
      const caller = colon < 0 ? undefined : byPurse.get(pair.slice(0, colon));
      if (!caller || (colon !== pair.length - 1 && !wrong('purse-any-password'))) unknown('unknown', true);
      found.push(caller);
    } else unknown('unknown', true);
  }
  let sealed;
  if (accept.includes('seal') && count('saltern-seal') > 0) {
    for (const name of ['saltern-seal', 'saltern-seal-key', 'saltern-seal-nonce']) if (count(name) !== 1) unknown('unknown', true);
    const m = /^at=(\d{1,12});by=([0-9a-f]{64})$/.exec(ctx.header('saltern-seal'));
    const id = ctx.header('saltern-seal-key');
    const nonce = ctx.header('saltern-seal-nonce');
    const key = bySeal.get(id);
    if (!m || !key || nonce.length < 1 || nonce.length > 200) unknown('unknown', true);
    const age = now() - Number(m[1]) * SECOND;
    if (age > 180 * SECOND) unknown('stale', true);
    if (age < -180 * SECOND) unknown('unknown', true);
    sealed = { m, id, nonce, key };
  }
  if (!found.length && !sealed) {
    if (!rulesFor(ctx.operation, null).length) unknown('unknown', false);
    return null;
  }
  const finish = (body) => {
    if (sealed) {
      const { m, id, nonce, key } = sealed;
      const digest = crypto.createHash('sha256').update(body).digest('hex');
      const signed = crypto.createHmac('sha256', key.secret).update(`${ctx.method} ${ctx.target}\n${m[1]} ${nonce}\n${digest}`).digest();
      const good = crypto.timingSafeEqual(signed, Buffer.from(m[2], 'hex')) || (wrong('seal-body-unread') && body.length > 0);
      if (!good) unknown('unknown', true);
      const used = `${id}\n${nonce}`;
      for (const [it, until] of nonces) if (until < now()) nonces.delete(it);
      if (nonces.has(used) && !wrong('seal-replayed')) unknown('unknown', true);
      nonces.set(used, Number(m[1]) * SECOND + 181 * SECOND);
      found.push(key.caller);
    }
    if (found.some((caller) => caller !== found[0])) unknown('unknown', true);
    return found[0];
  };
  return sealed ? readBody().then(finish) : finish();
};

// ---------------------------------------------------------------- the door
const deprecation = (ctx) => {
  const said = [];
  if (ctx.version && VERSIONS[ctx.version].deprecated && !(wrong('ebb-lists-undeprecated') && LISTS[ctx.operation])) said.push({ ...VERSIONS[ctx.version], version: true });
  if (ctx.endpoint?.deprecated) said.push(ctx.endpoint.deprecated);
  if (!said.length) return {};
  const out = {};
  const least = (name) => { const times = said.map((it) => it[name]).filter(Boolean).map((it) => Date.parse(it)); return times.length ? Math.min(...times) : undefined; };
  const from = least('deprecated'), to = least('sunset');
  out.Deprecation = `@${Math.floor(from / 1000)}`;
  if (to !== undefined) out.Sunset = new Date(to).toUTCString();
  const links = [];
  for (const it of said) {
    if (it.link) links.push(`<${it.link}>; rel="deprecation"`);
    if (it.alternative) links.push(`</brine/${it.alternative}${ctx.rest}${ctx.search ? `?${ctx.search}` : ''}>; rel="successor-version"`);
  }
  out.Link = links.join(', ');
  return out;
};

const handle = (req, res) => {
  const id = `ask-${hex(16)}`;
  const ctx = {
    id, method: req.method, target: req.url, raw: req.rawHeaders, headers: { 'Saltern-Request': id },
    header: (name) => (req.headers[name] === undefined ? undefined : Array.isArray(req.headers[name]) ? req.headers[name].join(', ') : req.headers[name]),
  };
  let over = false;
  const respond = (status, headers, body) => {
    if (over || res.destroyed) return;
    over = true;
    clearTimeout(timer);
    const all = { ...ctx.headers, ...deprecation(ctx), ...headers };
    const vary = [];
    if (ctx.endpoint && !ctx.endpoint.public) vary.push(CREDENTIAL_HEADERS);
    vary.push('Origin');
    all.Vary = vary.join(', ');
    if (ctx.header('origin') === BOARD) {
      all['Access-Control-Allow-Origin'] = BOARD;
      all['Access-Control-Expose-Headers'] = [...Object.keys(all).filter((it) => !it.startsWith('Access-Control')), 'Content-Type'].join(', ');
    }
    for (const [name, value] of Object.entries(all)) res.setHeader(name, value);
    res.statusCode = status;
    if (body === undefined) { if (status !== 204 && status !== 304) res.setHeader('Content-Length', 0); res.end(); }
    else {
      const text = Buffer.from(JSON.stringify(body));
      res.setHeader('Content-Type', 'application/json');
      res.setHeader('Content-Length', text.length);
      if (req.method === 'HEAD') res.end(); else res.end(text);
    }
    if (!req.complete) { req.resume(); }
  };
  const refusal = (error) => {
    if (!(error instanceof Refusal)) { if (process.env.SALTERN_DEBUG) console.error(error); error = new Refusal('broken'); }
    let [status, message] = CODES[error.code];
    if (error.spots?.length) {
      const name = error.spots[0].path;
      message = message.replace('{name}', name);
    }
    if (wrong('bid-taken-400') && error.code === 'taken' && ctx.operation === 'create bid') status = 400;
    const fault = { word: error.code, says: message };
    if (error.spots?.length) fault.spots = error.spots.map(({ in: where, path, found, expected }) => ({ in: where, path: wrong('spots-pointer') ? `/${path.replaceAll('.', '/')}` : path, found, expected }));
    if (!(wrong('no-request-in-404') && status === 404)) fault.request = id;
    return { status, headers: { ...error.headers, 'Saltern-Fault': error.code }, body: { fault } };
  };
  const turnAway = (error) => { const it = refusal(error); respond(it.status, it.headers, it.body); };
  const timer = setTimeout(() => { turnAway(new Refusal('too_slow', { headers: { Connection: 'close' } })); }, 10 * SECOND);

  let bodyPromise;
  const readBody = () => {
    bodyPromise ??= new Promise((resolve, reject) => {
      const chunks = [];
      let size = 0;
      const limit = wrong('body-limit-exact') ? MAX_BODY - 1 : MAX_BODY;
      const declared = Number(req.headers['content-length'] ?? 0);
      if (declared > limit) { reject(new Refusal('too_large')); return; }
      req.on('data', (chunk) => { size += chunk.length; if (size > limit) reject(new Refusal('too_large')); else chunks.push(chunk); });
      req.on('end', () => resolve(Buffer.concat(chunks)));
      req.on('error', reject);
      req.on('close', () => reject(new Refusal('unreadable')));
    });
    bodyPromise.catch(() => {});
    return bodyPromise;
  };

  const go = async () => {
    settle(now());
    // (1) sizes
    if (Buffer.byteLength(req.url) > MAX_URL) refuse('long_address');
    let headerBytes = 0;
    for (let i = 0; i < req.rawHeaders.length; i += 2) headerBytes += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4;
    if (headerBytes > MAX_HEADERS) refuse('many_headers');
    // (2) route, method, version
    const question = req.url.indexOf('?');
    let path = question < 0 ? req.url : req.url.slice(0, question);
    ctx.search = question < 0 ? '' : req.url.slice(question + 1);
    if (wrong('duty-off-base')) path = path.replace(/^\/brine(\/\w+\/duty)$/, '/gone$1').replace(/^(\/\w+\/duty)$/, '/brine$1');
    if (!path.startsWith('/brine/')) refuse('no_such');
    const inner = path.slice('/brine'.length);
    const slash = inner.indexOf('/', 1);
    const candidates = [];
    if (slash > 0) candidates.push({ version: inner.slice(1, slash), rest: inner.slice(slash) });
    candidates.push({ version: undefined, rest: inner });
    let matches = [], chosen;
    for (const candidate of candidates) {
      matches = ENDPOINTS.filter((it) => it.pattern.test(candidate.rest) && !(it.only && Object.hasOwn(VERSIONS, candidate.version ?? '') && candidate.version !== it.only));
      if (matches.length) { chosen = candidate; break; }
    }
    if (!chosen) refuse('no_such');
    ctx.rest = chosen.rest;
    const methods = [...new Set(matches.flatMap((it) => (it.method === 'GET' ? ['GET', 'HEAD'] : [it.method]))), 'OPTIONS'];
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const found = matches.find((it) => it.method === method);
    if (!found && req.method !== 'OPTIONS') refuse('no_method', { headers: { Allow: methods.join(', ') } });
    let version = chosen.version;
    if (version === undefined || !Object.hasOwn(VERSIONS, version)) {
      if (wrong('any-edition') && version !== undefined) version = 'flood';
      else refuse('no_edition');
    }
    ctx.version = version;
    if (VERSIONS[version].sunset && now() >= Date.parse(VERSIONS[version].sunset) && !wrong('ebb-after-sunset')) refuse('old_edition');
    if (req.method === 'OPTIONS') {
      const headers = { Allow: methods.join(', ') };
      if (ctx.header('origin') === BOARD && ctx.header('access-control-request-method')) {
        headers['Access-Control-Allow-Methods'] = methods.join(', ');
        headers['Access-Control-Allow-Headers'] = ctx.header('access-control-request-headers') ?? CREDENTIAL_HEADERS;
      }
      return respond(204, headers);
    }
    ctx.endpoint = found;
    ctx.operation = found.operation;
    ctx.params = {};
    const values = found.pattern.exec(ctx.rest);
    found.names.forEach((name, i) => { try { ctx.params[name] = decodeURIComponent(values[i + 1]); } catch { ctx.params[name] = values[i + 1]; } });
    // (4) who asks
    ctx.caller = null;
    if (!found.public) ctx.caller = await whoAsks(ctx, readBody);
    // (6) whether anything lets this user do it
    if (!found.public) {
      const rules = rulesFor(ctx.operation, ctx.caller);
      if (!rules.length) refuse(ctx.caller ? 'not_yours' : 'unknown');
      if (!granted(ctx.operation, ctx.caller).length) refuse('no_sluice_key');
    }
    // (5) rates
    const who = ctx.caller ? `${ctx.caller.user} ${ctx.caller.id}` : `address ${req.socket.remoteAddress}`;
    const rates = countRates(who, ctx.operation);
    Object.assign(ctx.headers, rates.headers);
    if (rates.wait !== undefined) refuse('too_often', { headers: { 'Retry-After': String(rates.wait) } });
    // (8) parameters, then the body
    readQuery(ctx);
    const onceKey = found.once ? ctx.header('once-key') : undefined;
    if (found.onceRequired && (onceKey === undefined || onceKey === '')) badQuery('Once-Key', undefined, 'a key', 'header');
    if (found.takes) {
      const type = (ctx.header('content-type') ?? '').split(';')[0].trim().toLowerCase();
      const empty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
      if (empty) refuse('empty_body');
      if (!found.takes.includes(type)) refuse('wrong_media');
      const bytes = await readBody();
      if (bytes.length === 0) refuse('empty_body');
      ctx.bytes = bytes;
      let text;
      try { text = new TextDecoder('utf-8', { fatal: true }).decode(bytes); } catch { refuse('unreadable'); }
      if (type === 'application/x-www-form-urlencoded') {
        ctx.body = {};
        for (const [name, value] of new URLSearchParams(text)) {
          let it = value;
          if (FIELDS.bid[name]?.type === 'integer' && /^-?\d{1,15}$/.test(value)) it = Number(value);
          ctx.body[name] = Object.hasOwn(ctx.body, name) ? [ctx.body[name], it].flat() : it;
        }
      } else {
        try { ctx.body = JSON.parse(text); } catch { refuse('unreadable'); }
      }
    } else if (req.method !== 'GET' && req.method !== 'HEAD' && (Number(req.headers['content-length'] ?? 0) > 0 || req.headers['transfer-encoding'])) {
      await readBody();
    }
    settle(now());
    // (9) keys that are used once
    let slot;
    if (onceKey !== undefined && onceKey !== '' && !(wrong('raking-key-ignored') && ctx.operation === 'create raking')) {
      slot = `${who}\n${ctx.operation}\n${onceKey}`;
      const print = crypto.createHash('sha256').update(`${ctx.version}\n${ctx.rest}\n${ctx.search}\n`).update(found.takes ? ctx.bytes : '').digest('hex');
      for (const [it, kept] of onceKeys) if (kept.until <= now()) onceKeys.delete(it);
      const kept = onceKeys.get(slot);
      if (kept) {
        if (kept.print !== print) refuse('once_only');
        return respond(kept.status, kept.headers, kept.body && kept.body.fault ? { fault: { ...kept.body.fault, request: id } } : kept.body);
      }
      ctx.keep = (result) => onceKeys.set(slot, { print, until: now() + 12 * HOUR, status: result.status, headers: result.headers, body: result.replay ?? result.body });
    }
    if (ctx.operation === 'stream events') return openStream(ctx, req, res, () => { over = true; clearTimeout(timer); });
    // (10) to (15)
    try {
      const result = OPERATIONS[ctx.operation](ctx);
      ctx.keep?.({ status: result.status, headers: result.headers ?? {}, body: result.body, replay: result.replay });
      respond(result.status, result.headers ?? {}, result.body);
    } catch (error) {
      if (error instanceof Refusal && OWN.has(error.code) && ctx.keep) ctx.keep(refusal(error));
      throw error;
    }
    return undefined;
  };
  go().catch(turnAway);
};

const openStream = (ctx, req, res, begun) => {
  begun();
  const headers = {
    ...ctx.headers, ...deprecation(ctx), 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', Vary: `${CREDENTIAL_HEADERS}, Origin`,
  };
  if (ctx.header('origin') === BOARD) { headers['Access-Control-Allow-Origin'] = BOARD; headers['Access-Control-Expose-Headers'] = Object.keys(headers).join(', '); }
  res.writeHead(200, headers);
  if (req.method === 'HEAD') { res.end(); return; }
  res.flushHeaders();
  res.write(': tide\n\n');
  const stream = {
    send: (event) => {
      const mine = event.told.get(ctx.caller);
      if (!mine) return;
      res.write(`id: ${event.id}\nevent: ${event.word}\ndata: ${JSON.stringify(envelope(event, mine[ctx.version]))}\n\n`);
    },
  };
  const last = ctx.header('last-event-id');
  if (last !== undefined && last !== '') {
    const kept = log.filter((it) => it.at > now() - LOG_KEEP);
    const at = kept.findIndex((it) => it.id === last);
    for (const event of kept.slice(at < 0 ? 0 : at + (wrong('resume-skips') ? 2 : 1))) stream.send(event);
  }
  streams.add(stream);
  const comment = setInterval(() => res.write(': still\n\n'), 15 * SECOND);
  const end = () => { streams.delete(stream); clearInterval(comment); };
  req.on('close', end);
  res.on('close', end);
};

const server = http.createServer({ maxHeaderSize: 65536, keepAliveTimeout: 30 * SECOND, requestTimeout: 10 * SECOND, headersTimeout: 10 * SECOND, connectionsCheckingInterval: 1000 }, handle);
server.on('checkContinue', (req, res) => { res.writeContinue(); handle(req, res); });
server.on('clientError', (error, socket) => {
  if (!socket.writable) return;
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'many_headers' : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : 'unreadable';
  const [status, message] = CODES[code];
  const id = `ask-${hex(16)}`;
  const text = JSON.stringify({ fault: { word: code, says: message, request: id } });
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nSaltern-Fault: ${code}\r\nSaltern-Request: ${id}\r\nConnection: close\r\n\r\n${text}`);
});
server.listen(PORT, '127.0.0.1');

// ---------------------------------------------------------------- the door to the clock
const addDuration = (from, text) => {
  const m = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!m) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = m.slice(1).map((it) => Number(it ?? 0));
  const date = new Date(from);
  if (years || months) {
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + years * 12 + months);
    date.setUTCDate(Math.min(day, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()));
  }
  return date.getTime() + (weeks * 7 + days) * DAY + hours * HOUR + minutes * MINUTE + Math.round(seconds * SECOND);
};
http.createServer((req, res) => {
  const chunks = [];
  const say = (status, body) => { const text = JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }); res.end(text); };
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    if (req.method === 'GET') { say(200, { now: iso(now()) }); return; }
    if (req.method !== 'POST') { say(400, { error: 'GET or POST' }); return; }
    let body;
    try { body = JSON.parse(Buffer.concat(chunks).toString()); } catch { body = null; }
    let target;
    if (typeOf(body) === 'map' && Object.keys(body).length === 1) {
      if (typeof body.advance === 'string') target = addDuration(now(), body.advance);
      else if (typeof body.now === 'string' && isDateTime(body.now)) target = Date.parse(body.now);
    }
    if (target === undefined || Number.isNaN(target)) { say(400, { error: 'advance or now' }); return; }
    if (target < now()) { say(422, { error: 'the clock goes forward alone' }); return; }
    settle(target);
    offset = target - Date.now();
    pump();
    setImmediate(() => say(200, { now: iso(now()) }));
  });
}).listen(CLOCK_PORT, '127.0.0.1');

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
