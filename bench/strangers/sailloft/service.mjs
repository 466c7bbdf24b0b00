// The Sail Loft: one process of Node, nothing but its own modules. Every request is one transaction of a database in memory.
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { createServer, request as ask } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';

const { values: given } = parseArgs({
  options: { port: { type: 'string' }, 'clock-port': { type: 'string' }, fault: { type: 'string', default: '' } },
});
const F = (name) => given.fault === name; // a switch for one planted fault

const PREFIX = '/loft';
const KEYS = {
  sk_alder5Qm2VxTe8Kp: { user: 'skipper', id: 's1', scopes: [] },
  sk_beech7Rn4WyUf1Lq: { user: 'skipper', id: 's2', scopes: [] },
  sk_cedar9So6XzVg3Mr: { user: 'sailmaker', id: 'm1', scopes: ['prices'] },
  sk_dogwd2Tp8YaWh5Ns: { user: 'sailmaker', id: 'm2', scopes: [] },
  sk_elder4Uq1ZbXi7Ot: { user: 'skipper', id: 's3', scopes: [], revoked: true },
};
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// ---- the clock
let base = Date.now();
let mark = performance.now();
const now = () => base + Math.floor(performance.now() - mark);
const setClock = (ms) => {
  if (ms > now()) [base, mark] = [ms, performance.now()];
};
const iso = (ms) => new Date(ms).toISOString();
const LASTING = /^P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
function lasting(text) {
  const found = LASTING.exec(text);
  if (!found) throw new Error('no duration');
  const [w, d, h, m, s] = found.slice(1).map((part) => Number(part ?? 0));
  return ((w * 7 + d) * 24 + h) * HOUR + m * 60_000 + Math.round(s * 1000);
}

// ---- refusals
const CODES = {
  torn: [400, 'The body cannot be read.'],
  not_json: [415, 'Send application/json.'],
  json_only: [406, 'Answers are application/json.'],
  bad_query: [400, 'A query parameter is wrong.'],
  bad_page: [400, 'There is no such page.'],
  ill_cut: [422, 'The body does not fit.'],
  no_path: [404, 'There is no such path.'],
  no_method: [405, 'The path does not take this method.'],
  who: [401, 'Show a good key.'],
  not_yours: [403, 'This is not yours to do.'],
  not_found: [404, 'It is not here.'],
  taken: [409, 'That is taken.'],
  no_such_ref: [422, 'It refers to nothing.'],
  in_use: [409, 'Something still refers to it.'],
  wrong_state: [409, 'Not in this state.'],
  too_late: [410, 'It can no longer be called off.'],
  no_cloth: [424, 'Choose the cloth first.'],
  unmeasured: [424, 'Measure all three edges first.'],
  too_light: [422, 'A sail of this size needs heavier cloth.'],
  stale: [412, 'It has changed since.'],
  say_which: [428, 'Send If-Match.'],
  key_reused: [422, 'The key was used for something else.'],
  slow_down: [429, 'Too many requests.'],
  full_book: [403, 'No more of these.'],
  too_big: [413, 'Too big.'],
  no_edition: [400, 'There is no such edition.'],
  old_edition: [410, 'That edition is gone.'],
  broken: [500, 'Something broke.'],
};

class Refusal extends Error {
  constructor(code, at = [], headers = {}) {
    super(code);
    Object.assign(this, { code, at, headers });
  }
  answer(call) {
    let [status, text] = CODES[this.code];
    if (F('light-409-on-update') && this.code === 'too_light' && call?.op === 'update sail') status = 409;
    const body = { fault: this.code, text, status, at: this.at };
    if (F('status-says-400') && this.code === 'in_use') body.status = 400;
    if (F('no-at-at-401') && this.code === 'who') delete body.at;
    return { status, body, headers: { ...this.headers } };
  }
}

// ---- shapes
const text = (least = 0, most = Number.POSITIVE_INFINITY, pattern) => (value) => {
  if (typeof value !== 'string' || !value.isWellFormed()) return false;
  const size = F('name-in-bytes') ? Buffer.byteLength(value) : [...value].length;
  return size >= least && size <= most && (!pattern || pattern.test(value));
};
const whole =
  (least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER) =>
  (value) =>
    Number.isInteger(value) && value >= least && value <= most;
const among = (words) => (value) => words.includes(value);
const yesNo = (value) => typeof value === 'boolean';
const list = (most, item) => Object.assign((value) => Array.isArray(value) && value.length <= most, { item });
const uri = (value) =>
  typeof value === 'string' && value.length <= 300 && /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$/.test(value) && URL.canParse(value);

const COLOURS = ['white', 'cream', 'tan', 'red'];
const SAILS = ['main', 'jib', 'genoa', 'spinnaker'];
const STATES = ['asked', 'quoted', 'cutting', 'ready', 'collected', 'called_off'];
const KINDS = ['sail.asked', 'sail.changed', 'sail.moved', 'sail.removed', 'fitting.taken', 'cloth.kept'];
const TOPICS = [...KINDS, 'sail.*', 'fitting.*', 'cloth.*', '*'];
const ro = { ro: true };
const SHAPES = {
  cloth: {
    code: { fits: text(0, 99, /^[A-Z]{2}[0-9]{3}$/), required: true },
    name: { fits: text(1, 40), required: true },
    weight_gsm: { fits: whole(40, 600), required: true },
    colour: { fits: among(COLOURS), required: true, default: 'white' },
    remark: { fits: text(0, 100) },
  },
  sail: {
    id: ro,
    name: { fits: text(3, 50), required: true },
    boat: { fits: text(0, 99, F('boat-any-case') ? /^[A-Z]{3}[0-9]{1,5}$/i : /^[A-Z]{3}[0-9]{1,5}$/), required: true, immutable: true },
    kind: { fits: among(SAILS), required: true },
    area_m2: { fits: whole(1, F('area-edge') ? 399 : 400), required: true },
    reefs: { fits: F('reefs-rounded') ? (value) => typeof value === 'number' && value >= 0 && value <= 4 : whole(0, 4), required: true, default: 0 },
    cloth: { fits: text() },
    extras: { fits: list(3, text(1, 20)) },
    wish: { fits: text(0, 60), wo: true },
    status: ro,
    price: ro,
    hours: { ro: true, visible: 'sailmaker' },
    edges: ro,
    owner: { ro: true, hidden: true },
    asked_at: ro,
    changed_at: ro,
  },
  fitting: {
    id: ro,
    sail: { fits: text() },
    edge: { fits: among(['luff', 'leech', 'foot']), required: true },
    length_mm: { fits: whole(100, 40_000), required: true },
    by: ro,
    taken_at: ro,
  },
  hook: {
    id: ro,
    url: { fits: uri, required: true },
    secret: { ro: true, once: true },
    events: { fits: list(Number.POSITIVE_INFINITY, among(TOPICS)) },
    enabled: { fits: yesNo, required: true, default: true },
    keeper: { ro: true, hidden: true },
  },
};

const toNew = (res, name, ed) => {
  if (res !== 'sail' || ed !== '1') return name;
  return name === 'area_m2' || name === 'reefs' ? undefined : name === 'size' ? 'area_m2' : name;
};
const toOld = (res, name, ed) => (res === 'sail' && ed === '1' && name === 'area_m2' ? 'size' : name);
const kindIn = (value, ed) => (ed !== '1' ? value : value === 'kite' ? 'spinnaker' : value === 'spinnaker' ? 'no such kind' : value);
const kindOut = (value, ed) => (ed === '1' && value === 'spinnaker' ? 'kite' : value);
const pointer = (name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** What a body says of a resource, in today's names; null takes a field away. */
function take(res, body, mode, ed) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Refusal('ill_cut', ['']);
  const said = Object.create(null);
  const bad = [];
  for (const [key, sent] of Object.entries(body)) {
    const name = toNew(res, key, ed);
    const field = name !== undefined && Object.hasOwn(SHAPES[res], name) ? SHAPES[res][name] : undefined;
    let value = res === 'sail' && name === 'kind' ? kindIn(sent, ed) : sent;
    if (F('numbers-as-texts') && name === 'length_mm' && typeof value === 'string' && /^\d+$/.test(value)) value = Number(value);
    if (!field) {
      if (!(F('unknown-on-upsert') && mode === 'replace')) bad.push(pointer(key));
    } else if (field.ro) {
    } else if (value === null) {
      if (mode === 'update' && !field.required) {
        if (!(F('extras-stay') && name === 'extras')) said[name] = null;
      } else if (!(F('null-passes') && mode === 'update' && name === 'name')) bad.push(pointer(key));
    } else if (F('extras-on-update') && mode === 'update' && name === 'extras' && Array.isArray(value)) said[name] = value;
    else if (!field.fits(value)) bad.push(pointer(key));
    else if (field.fits.item && !value.every(field.fits.item)) {
      value.forEach((item, at) => {
        if (!field.fits.item(item)) bad.push(`${pointer(key)}/${at}`);
      });
    } else said[name] = F('reefs-rounded') && name === 'reefs' ? Math.floor(value) : value;
  }
  if (mode !== 'update') {
    for (const [name, field] of Object.entries(SHAPES[res])) {
      if (field.default !== undefined) said[name] ??= field.default;
      const at = pointer(toOld(res, name, ed));
      if (field.required && said[name] === undefined && !bad.includes(at)) bad.push(at);
    }
  }
  return { said, bad };
}
const fit = ({ said, bad }) => {
  if (bad.length > 0) throw new Refusal('ill_cut', bad);
  return said;
};

/** A row as this user sees it in this edition. */
function show(res, row, ed, user, { where = '', first = false } = {}) {
  const seen = {};
  for (const [name, field] of Object.entries(SHAPES[res])) {
    let value = row[name];
    if (res === 'sail' && name === 'edges') value = edgesOf(row);
    if (value === undefined || (field.once && !first)) continue;
    if (field.hidden && !(F('owner-on-second-page') && where === 'later')) continue;
    if (field.wo && !(F('wish-in-update') && where === 'update') && !(F('wish-in-event') && where === 'event')) continue;
    if (field.visible && field.visible !== user && !(F('hours-in-lists') && (where === 'list' || where === 'later'))) continue;
    if (res === 'sail' && ed === '1' && name === 'reefs') continue;
    if (res === 'sail' && name === 'kind') value = kindOut(value, ed);
    seen[F('old-list-new-name') && (where === 'list' || where === 'later') ? name : toOld(res, name, ed)] = value;
  }
  return seen;
}

// ---- what is kept
const db = new DatabaseSync(':memory:');
db.exec(`CREATE TABLE row (seq INTEGER PRIMARY KEY AUTOINCREMENT, res TEXT NOT NULL, id TEXT NOT NULL, doc TEXT NOT NULL, UNIQUE (res, id));
  CREATE TABLE kept (place TEXT PRIMARY KEY, print TEXT NOT NULL, answer TEXT NOT NULL, until INTEGER NOT NULL);
  CREATE TABLE spent (place TEXT PRIMARY KEY, times INTEGER NOT NULL)`);
const Q = Object.fromEntries(
  Object.entries({
    get: 'SELECT doc FROM row WHERE res = ? AND id = ?',
    all: 'SELECT doc FROM row WHERE res = ? ORDER BY seq',
    add: 'INSERT INTO row (res, id, doc) VALUES (?, ?, ?)',
    put: 'UPDATE row SET doc = ? WHERE res = ? AND id = ?',
    drop: 'DELETE FROM row WHERE res = ? AND id = ?',
    kept: 'SELECT print, answer, until FROM kept WHERE place = ?',
    keep: 'INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)',
    spent: 'SELECT times FROM spent WHERE place = ?',
    spend: 'INSERT INTO spent VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1',
  }).map(([name, sql]) => [name, db.prepare(sql)]),
);
const idOf = (res, row) => String(res === 'cloth' ? row.code : row.id);
const get = (res, id) => {
  const found = Q.get.get(res, String(id));
  return found && JSON.parse(found.doc);
};
const all = (res) => Q.all.all(res).map(({ doc }) => JSON.parse(doc));
const add = (res, row) => Q.add.run(res, idOf(res, row), JSON.stringify(row));
const put = (res, row) => Q.put.run(JSON.stringify(row), res, idOf(res, row));
const drop = (res, row) => Q.drop.run(res, idOf(res, row));
const fittingsOf = (sail) => all('fitting').filter((one) => one.sail === sail);
function edgesOf(sail) {
  return F('edges-never-fall') ? (sail._taken ?? 0) : fittingsOf(sail.id).length;
}
let hooksMade = 0;
let sailsMade = 0;
const word = (size) =>
  Array.from({ length: size }, () => 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'[randomInt(62)]).join('');

function mayRead(caller, res, row) {
  if (res === 'hook') return row.keeper === caller.id && row._user === caller.user;
  if (caller.user === 'sailmaker' || res === 'cloth') return true;
  return (res === 'sail' ? row : get('sail', row.sail))?.owner === caller.id;
}

// ---- events: collected in a transaction, queued when it is kept
let pending = [];
const queues = new Map();
const tasks = new Set();
function emit(kind, res, row, tell) {
  const number = `evt_${word(20)}`;
  for (const hook of all('hook')) {
    const asked = hook.events;
    const wanted = !asked || asked.includes('*') || asked.includes(kind) || asked.includes(`${kind.split('.')[0]}.*`);
    if (!wanted && !(F('sail-star-takes-all') && asked.includes('sail.*'))) continue;
    if (!hook.enabled && !F('told-when-off')) continue;
    const maker = { user: hook._user, id: hook.keeper };
    if (!mayRead(maker, res, row) && !(F('foreign-fittings') && res === 'fitting')) continue;
    const body = { number, news: kind, at: iso(now()), of: tell(hook) };
    pending.push({ place: `${hook.id}|${res}|${idOf(res, row)}`, hook: hook.id, kind, body, tries: 0, due: now() });
  }
}
const tellRow = (res, row) => (hook) => show(res, row, F('hook-not-pinned') ? '2' : hook._edition, hook._user, { where: 'event' });
function moved(before, row) {
  const was = F('before-is-after') && row.status === 'cutting' ? row.status : before.status;
  emit('sail.moved', 'sail', row, () => ({ sail: row.id, before: was, after: row.status }));
}
function transact(work) {
  db.exec('BEGIN');
  pending = [];
  try {
    const answer = work();
    db.exec('COMMIT');
    queueUp();
    return answer;
  } catch (error) {
    db.exec('ROLLBACK');
    if (F('asked-though-taken') && error.code === 'taken') queueUp();
    throw error;
  }
}
function queueUp() {
  for (const item of pending) {
    if (!queues.has(item.place)) queues.set(item.place, []);
    queues.get(item.place).push(item);
  }
  pending = [];
}
const WAITS = F('gives-up-early') ? [30_000] : [30_000, 300_000];

const deliver = (url, raw, headers) =>
  new Promise((resolve) => {
    const sent = ask(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json', 'content-length': raw.length }, agent: false, timeout: 5000 });
    const end = setTimeout(() => sent.destroy(new Error('late')), 5000);
    const done = (good) => {
      clearTimeout(end);
      resolve(good);
    };
    sent.on('response', (answer) => {
      answer.resume();
      done(answer.statusCode >= 200 && answer.statusCode < 300);
    });
    sent.on('error', () => done(false));
    sent.end(raw);
  });
async function attempt(queue, item) {
  const hook = get('hook', item.hook);
  if (!hook) {
    queues.delete(item.place);
    return;
  }
  if (F('new-number-on-retry') && item.tries > 0) item.body.number = `evt_${word(20)}`;
  const said = JSON.stringify(item.body);
  const stamp = Math.floor(now() / 1000);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII is what is meant
  const signed = F('sign-of-ascii') ? said.replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : said;
  const mac = createHmac('sha256', hook.secret).update(`${stamp}.${signed}`).digest('hex');
  let good = false;
  try {
    good = await deliver(hook.url, Buffer.from(said), { 'Loft-Sign': `ts=${stamp},sig=${mac}`, 'Loft-Kind': item.kind });
  } catch {
    good = false;
  }
  item.busy = false;
  item.tries += 1;
  if (good || item.tries > WAITS.length) queue.splice(queue.indexOf(item), 1);
  else item.due = now() + WAITS[item.tries - 1];
  if (queue.length === 0) queues.delete(item.place);
}
function startDue() {
  let later;
  for (const queue of [...queues.values()]) {
    const item = (F('overtaking') ? queue.find(({ due, busy }) => !busy && due <= now()) : undefined) ?? queue[0];
    if (!item || item.busy) continue;
    if (item.due <= now()) {
      item.busy = true;
      const task = attempt(queue, item).finally(() => tasks.delete(task));
      tasks.add(task);
    } else later = Math.min(later ?? item.due, item.due);
  }
  return later;
}
const FORTNIGHT = 14 * DAY;
const nextLapse = () => all('sail').filter((sail) => sail._due).sort((a, b) => a._due - b._due)[0];
function lapseDue() {
  for (let sail = nextLapse(); sail && sail._due <= now(); sail = nextLapse()) {
    const before = { ...sail };
    transact(() => {
      sail.status = 'called_off';
      delete sail._due;
      if (!F('lapse-untouched')) sail.changed_at = iso(now());
      put('sail', sail);
      if (!F('silent-lapse')) moved(before, sail);
    });
  }
}
let moving = false;
async function moveTo(target) {
  moving = true;
  for (;;) {
    lapseDue();
    const later = startDue();
    if (tasks.size > 0) {
      await Promise.all(tasks);
      continue;
    }
    const due = Math.min(later ?? Number.POSITIVE_INFINITY, nextLapse()?._due ?? Number.POSITIVE_INFINITY);
    if (due > target) break;
    setClock(due);
  }
  setClock(target);
  lapseDue();
  startDue();
  moving = false;
}
setInterval(() => {
  if (moving) return;
  lapseDue();
  startDue();
}, 25);

// ---- routes
const ROUTES = [
  ['GET', '/about', 'about'],
  ['GET', '/cloths', 'list cloth'],
  ['PUT', '/cloths/{code}', 'upsert cloth'],
  ['GET', '/cloths/{code}', 'read cloth'],
  ['DELETE', '/cloths/{code}', 'delete cloth'],
  ['POST', '/sails', 'create sail'],
  ['GET', '/sails', 'list sail'],
  ['GET', '/sails/{id}', 'read sail'],
  ['PATCH', '/sails/{id}', 'update sail'],
  ['DELETE', '/sails/{id}', 'delete sail'],
  ['POST', '/sails/{id}/quote', 'quote sail'],
  ['POST', '/sails/{id}/requote', 'requote sail'],
  ['POST', '/sails/{id}/accept', 'accept sail'],
  ['POST', '/sails/{id}/finish', 'finish sail'],
  ['POST', '/sails/{id}/collect', 'collect sail'],
  ['POST', '/sails/{id}/call-off', 'call_off sail'],
  ['POST', '/sails/{sail}/fittings', 'create fitting'],
  ['GET', '/sails/{sail}/fittings', 'list fitting'],
  ['GET', '/sails/{sail}/fittings/{id}', 'read fitting'],
  ['DELETE', '/sails/{sail}/fittings/{id}', 'delete fitting'],
  ['POST', '/hooks', 'create hook'],
  ['GET', '/hooks', 'list hook'],
  ['GET', '/hooks/{id}', 'read hook'],
  ['DELETE', '/hooks/{id}', 'delete hook'],
].map(([method, path, op]) => ({ method, op, pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) }));
const BOTH = ['list cloth', 'read cloth', 'create fitting', 'list fitting', 'read fitting', 'delete fitting', 'create hook', 'list hook', 'read hook', 'delete hook', 'list sail', 'read sail'];
const RULES = {
  skipper: new Set([...BOTH, 'create sail', 'update sail', 'delete sail', 'accept sail', 'collect sail', 'call_off sail']),
  sailmaker: new Set([...BOTH, 'finish sail', 'quote sail', 'requote sail', 'upsert cloth', 'delete cloth']),
};
const BODIES = new Set(['upsert cloth', 'create sail', 'update sail', 'quote sail', 'requote sail', 'create fitting', 'create hook']);
const QUERY = { 'list cloth': ['colour', 'from', 'count'], 'list sail': ['kind', 'status', 'max_area', 'word', 'sort', 'page', 'per'] };
const PAGING = ['from', 'count', 'page', 'per'];
const SUNSET = Date.parse('2027-12-31T00:00:00Z');
const DEPRECATION = {
  Deprecation: `@${Date.parse('2026-03-01T00:00:00Z') / 1000}`,
  Sunset: new Date(SUNSET).toUTCString(),
  Link: '<https://sailloft.example/editions>; rel="deprecation"',
};

const part = (said) => {
  try {
    return decodeURIComponent(said);
  } catch {
    return '\uFFFF';
  }
};
function route(call) {
  let path = call.path;
  if (F('cloths-at-root') && call.method === 'DELETE') {
    if (path.startsWith(`${PREFIX}/cloths/`)) throw new Refusal('no_path');
    if (path.startsWith('/cloths/')) path = PREFIX + path;
  }
  if (!path.startsWith(`${PREFIX}/`)) throw new Refusal('no_path');
  const method = call.method === 'HEAD' && !F('no-head') ? 'GET' : call.method;
  const allowed = [];
  for (const one of ROUTES) {
    const found = one.pattern.exec(path.slice(PREFIX.length));
    if (!found) continue;
    allowed.push(one.method, ...(one.method === 'GET' ? ['HEAD'] : []));
    if (one.method !== method) continue;
    call.op = one.op;
    call.at = Object.fromEntries(Object.entries(found.groups ?? {}).map(([name, said]) => [name, part(said)]));
  }
  if (allowed.length === 0) throw new Refusal('no_path');
  const Allow = [...allowed, 'OPTIONS'].join(', ');
  if (call.method === 'OPTIONS') return { status: 204, headers: { Allow } };
  if (!call.op) throw new Refusal('no_method', [], { Allow });
  const asked = call.headers['loft-edition'] ?? '2';
  if (asked !== '1' && asked !== '2' && !F('any-edition')) throw new Refusal('no_edition');
  call.ed = asked === '1' ? '1' : '2';
  if (call.ed === '1' && now() >= SUNSET && !F('never-sunset')) throw new Refusal('old_edition');
}
function whoami(call) {
  if (call.op === 'about') return;
  const key = /^Sail +(\S+)$/i.exec(call.headers.authorization ?? '')?.[1] ?? '';
  let known = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
  if (F('keys-any-case')) known ??= Object.entries(KEYS).find(([one]) => one.toLowerCase() === key.toLowerCase())?.[1];
  if (!known || (known.revoked && !(F('revoked-may-read') && call.op.startsWith('read')))) throw new Refusal('who', [], { 'WWW-Authenticate': 'Sail' });
  call.caller = { ...known };
  if (F('old-edition-skipper') && call.ed === '1') call.caller.user = 'skipper';
}
const asked = new Map();
function rate(call) {
  const at = now();
  const who = call.caller ? `${call.caller.user} ${call.caller.id}` : call.peer;
  const counted = [[`all ${who}`, 600]];
  if (call.op === 'create fitting') counted.push([F('rate-per-user') ? `fit ${call.caller.user}` : `fit ${who}`, 25]);
  for (const [place, limit] of counted) {
    const old = F('minute-of-the-clock') && limit === 25 ? (time) => Math.floor(time / 60_000) !== Math.floor(at / 60_000) : (time) => time <= at - 60_000;
    const times = (asked.get(place) ?? []).filter((time) => !old(time));
    asked.set(place, times);
    if (times.length >= limit) throw new Refusal('slow_down', [], { 'Retry-After': String(Math.max(1, Math.ceil((times[0] + 60_000 - at) / 1000))) });
  }
  for (const [place] of counted) asked.get(place).push(at);
}
function permit({ op, caller }) {
  if (op === 'about') return;
  if (!RULES[caller.user].has(op)) throw new Refusal('not_yours');
  if (/^(re)?quote sail$/.test(op) && !caller.scopes.includes('prices') && !(F('requote-without-scope') && op === 'requote sail')) throw new Refusal('not_yours');
}
/** Media types, size, body and parameters: all that can be said before anything is looked up. */
function readable(call) {
  const accept = call.headers.accept;
  const taken = (one) => /^\s*(\*\/\*|application\/(\*|json))\s*(;|$)/i.test(one) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(one);
  if (accept !== undefined && !accept.split(',').some(taken)) throw new Refusal('json_only');
  const media = (call.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  if (BODIES.has(call.op)) {
    const takes = media === 'application/json' || (call.op === 'update sail' && media === 'application/merge-patch+json');
    if (call.raw.length > 0 && !takes) throw new Refusal('not_json');
  }
  if (call.raw.length > 8192 && !(F('chunked-any-size') && call.headers['transfer-encoding'])) throw new Refusal('too_big');
  if (BODIES.has(call.op)) {
    let told;
    try {
      told = new TextDecoder('utf-8', { fatal: !F('latin-breaks') }).decode(call.raw);
      if (F('latin-breaks') && told.includes('\uFFFD')) throw new TypeError('not UTF-8');
      call.body = JSON.parse(told);
    } catch (error) {
      throw new Refusal(F('latin-breaks') && error.message === 'not UTF-8' ? 'broken' : 'torn');
    }
  }
  for (const [name, value] of new URLSearchParams(call.search)) {
    const anything = F('fittings-any-query') && call.op === 'list fitting';
    if (!(QUERY[call.op] ?? []).includes(name) && !anything) throw new Refusal('bad_query', [name]);
    if (Object.hasOwn(call.query, name)) throw new Refusal(PAGING.includes(name) ? 'bad_page' : 'bad_query', [name]);
    call.query[name] = value;
  }
  parameters(call);
}
function parameters({ query: q, ed }) {
  if ('kind' in q && !(F('kite-not-known') && q.kind === 'kite')) q.kind = kindIn(q.kind, ed);
  for (const [name, words] of Object.entries({ colour: COLOURS, kind: F('kite-not-known') ? [...SAILS, 'kite'] : SAILS, status: STATES, sort: ['name', '-name', 'asked_at'] })) {
    if (name in q && !words.includes(q[name])) throw new Refusal('bad_query', [name]);
  }
  if ('max_area' in q && !(/^\d{1,9}$/.test(q.max_area) && whole(1, 400)(Number(q.max_area)))) throw new Refusal('bad_query', ['max_area']);
  if ('word' in q && !([...q.word].length >= 1 && [...q.word].length <= 50)) throw new Refusal('bad_query', ['word']);
  for (const [name, least] of Object.entries({ count: 1, per: 1, page: 0 })) {
    if (!(name in q)) continue;
    if (!/^\d{1,9}$/.test(q[name]) || Number(q[name]) < least) throw new Refusal('bad_page', [name]);
    q[name] = Number(q[name]);
  }
  if (q.per > 40 && !F('per-clamped')) throw new Refusal('bad_page', ['per']);
  if (q.per > 40) q.per = 40;
  if (q.count > 20) q.count = F('count-not-clamped') ? Math.min(q.count, 100) : 20;
}

/** The row that the path names, if this caller may read it and act on it. */
function load({ op, at, caller }) {
  const res = op.split(' ')[1];
  let row;
  if (res === 'fitting') {
    const parent = get('sail', at.sail);
    if (!parent || !(mayRead(caller, 'sail', parent) || (F('measures-anyones') && op === 'create fitting'))) throw new Refusal('not_found');
    if (at.id === undefined) return parent;
    row = get('fitting', at.id);
    if (row && row.sail !== parent.id && !(F('any-parent') && op === 'read fitting')) row = undefined;
  } else if (at.id === undefined && at.code === undefined) return;
  else row = get(res, res === 'cloth' ? at.code : at.id);
  if (op === 'upsert cloth') return row;
  if (!row) throw new Refusal('not_found');
  if (!mayRead(caller, res, row)) {
    if (F('others-403') && op === 'update sail') throw new Refusal('not_yours');
    if (!(F('hook-of-anyone') && op === 'delete hook') && !(F('accept-anyones') && op === 'accept sail')) throw new Refusal('not_found');
  }
  if (op === 'delete fitting' && row.by !== caller.id && !F('fitting-of-anyone')) throw new Refusal('not_yours');
  return row;
}

function tag(row, { ed, caller }) {
  const seen = show('sail', row, ed, caller.user);
  if (F('tag-without-edges')) delete seen.edges;
  return `"${createHash('sha256').update(JSON.stringify([ed, seen])).digest('hex').slice(0, 24)}"`;
}
const tagged = (header, own, weak = false) =>
  header.trim() === '*' || [...header.matchAll(/(W\/)?("[^"]*")/g)].some(([, soft, one]) => one === own && (weak || !soft || F('weak-tags-match')));

// ---- lists
const byText = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
function listSails({ query: q, ed, caller }) {
  let rows = all('sail').filter((row) => mayRead(caller, 'sail', row) || (F('status-shows-all') && 'status' in q));
  if ('kind' in q) rows = rows.filter(({ kind }) => kind === q.kind);
  if ('status' in q) rows = rows.filter(({ status }) => status === q.status);
  if ('max_area' in q) rows = rows.filter(({ area_m2: area }) => (F('below-only') ? area < Number(q.max_area) : area <= Number(q.max_area)));
  if ('word' in q) {
    const has = F('word-any-case') ? (name) => name.toLowerCase().includes(q.word.toLowerCase()) : (name) => name.includes(q.word);
    rows = rows.filter(({ name }) => has(name));
  }
  const { page = 0, per = 10 } = q;
  const sort = F('sort-first-page-only') && page > 0 ? '-asked_at' : (q.sort ?? '-asked_at');
  const field = sort.replace('-', '');
  rows.sort((a, b) => byText(a[field], b[field]) * (sort.startsWith('-') ? -1 : 1));
  const from = page * per - (F('pages-overlap') && page > 0 ? 1 : 0);
  const where = page > 0 ? 'later' : 'list';
  const sails = rows.slice(from, from + per).map((row) => show('sail', row, ed, caller.user, { where }));
  const total = F('total-of-all') && Object.keys(q).length === 0 ? all('sail').length : rows.length;
  return { status: 200, body: { sails, total, more: F('more-on-last') ? rows.length >= from + per : rows.length > from + per } };
}
const seal = randomBytes(16);
const cursor = (said) => {
  const told = Buffer.from(JSON.stringify(said)).toString('base64url');
  return `${told}.${createHmac('sha256', seal).update(told).digest('base64url').slice(0, 16)}`;
};
function listCloths({ query: q, ed, caller }) {
  let after = '';
  if ('from' in q) {
    let said;
    try {
      said = JSON.parse(Buffer.from(q.from.split('.')[0], 'base64url').toString());
    } catch {
      throw new Refusal('bad_page', ['from']);
    }
    if (cursor(said) !== q.from || (said.colour !== (q.colour ?? null) && !F('cursor-any-query'))) throw new Refusal('bad_page', ['from']);
    after = said.after;
  }
  const rows = all('cloth').filter(({ code, colour }) => code > after && (!('colour' in q) || colour === q.colour));
  rows.sort((a, b) => byText(a.code, b.code));
  const count = q.count ?? 4;
  const cloths = rows.slice(0, count).map((row) => show('cloth', row, ed, caller.user));
  const onward = rows.length > count ? cursor({ after: cloths.at(-1).code, colour: q.colour ?? null }) : null;
  return { status: 200, body: { cloths, onward } };
}

// ---- what each operation does
const clean = (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));
const same = (a, b) => JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
function consider(call, { said, bad }, next) {
  if (next.kind === 'spinnaker' && next.reefs > 0 && !bad.includes('/reefs') && !(F('flat-on-creation') && call.op === 'update sail')) bad.push('/reefs');
  fit({ said, bad });
  if (said.cloth != null && !get('cloth', said.cloth)) throw F('ref-404-on-update') && call.op === 'update sail' ? new Refusal('not_found') : new Refusal('no_such_ref', ['/cloth']);
}
function tooLight(next) {
  if (next.cloth && next.area_m2 > 100 && get('cloth', next.cloth).weight_gsm < 200) throw new Refusal('too_light');
}
const clash = (owner, name, but) =>
  all('sail').some((row) => row.owner === owner && row.name === name && row.id !== but && (row.status !== 'called_off' || F('names-stay-taken')));
function unique(row) {
  if (clash(row.owner, row.name, row.id)) throw new Refusal('taken', ['/name']);
}
function createSail(call) {
  const sent = take('sail', call.body, 'create', call.ed);
  consider(call, sent, sent.said);
  const { said } = sent;
  tooLight(said);
  const at = now();
  sailsMade += 1;
  const stamp = F('no-milliseconds') ? iso(at).replace(/\.\d+Z/, 'Z') : iso(at);
  const id = `sail_${word(F('short-ids') && sailsMade % 3 === 0 ? 9 : 10)}`;
  const row = clean({ id, ...said, status: 'asked', owner: call.caller.id, asked_at: stamp, changed_at: iso(at), _asked: at });
  const day = `${F('quota-of-everyone') ? '' : call.caller.id} ${Math.floor((at + (F('day-from-noon') ? DAY / 2 : 0)) / DAY)}`;
  emit('sail.asked', 'sail', row, tellRow('sail', row));
  if (F('refused-spend-quota')) unkept.push(day);
  if (!call.unheld) unique(row);
  if ((Q.spent.get(day)?.times ?? 0) >= 60) throw new Refusal('full_book');
  if (!F('refused-spend-quota')) Q.spend.run(day);
  add('sail', row);
  return { status: 201, body: show('sail', row, call.ed, call.caller.user), headers: { Location: `${F('location-at-root') ? '' : PREFIX}/sails/${id}` } };
}
const unkept = [];
function updateSail(call, row) {
  const header = call.headers['if-match'];
  if (header !== undefined && !tagged(header, tag(row, call))) throw new Refusal('stale');
  const sent = take('sail', call.body, 'update', call.ed);
  const { said, bad } = sent;
  const next = clean({ ...row, ...said });
  if (said.boat !== undefined && said.boat !== row.boat && !F('boat-changes')) bad.push('/boat');
  consider(call, sent, next);
  if (!['asked', 'quoted'].includes(row.status)) throw new Refusal('wrong_state');
  tooLight(next);
  unique(next);
  if (F('old-edition-reefs') && call.ed === '1') next.reefs = 0;
  if (F('reefs-reset') && 'name' in said) next.reefs = 0;
  if (!same(row, next) || F('touched-for-nothing')) {
    next.changed_at = iso(now());
    if (F('patch-restarts-lapse') && next._due) next._due = now() + FORTNIGHT;
    put('sail', next);
    if (next.cloth && (next.cloth !== row.cloth || (F('changed-to-same') && said.cloth))) emit('sail.changed', 'sail', next, tellRow('sail', next));
  }
  return { status: 200, body: show('sail', next, call.ed, call.caller.user, { where: 'update' }) };
}
function deleteSail(call, row) {
  const header = call.headers['if-match'];
  if (header === undefined) throw new Refusal('say_which');
  if (!tagged(header, tag(row, call))) throw new Refusal('stale');
  if (!['asked', 'called_off', ...(F('deletes-quoted') ? ['quoted'] : [])].includes(row.status)) throw new Refusal('wrong_state');
  emit('sail.removed', 'sail', row, () => ({ sail: row.id }));
  for (const one of fittingsOf(row.id)) drop('fitting', one);
  drop('sail', row);
  return { status: 204 };
}
function move(call, row, status, more = {}) {
  const before = { ...row };
  Object.assign(row, more, { status, changed_at: iso(now()) });
  if (status !== 'quoted') delete row._due;
  else if (!(F('requote-keeps-time') && before.status === 'quoted')) row._due = (F('lapse-from-asking') ? row._asked : now()) + FORTNIGHT;
  put('sail', row);
  if (!(F('silent-requote') && call.op === 'requote sail')) moved(before, row);
  return { status: 200, body: show('sail', row, call.ed, call.caller.user) };
}
function priced(call) {
  const { body, op } = call;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Refusal('ill_cut', ['']);
  const fits = { price: whole(1, 1_000_000), ...(op === 'quote sail' && { hours: whole(1, 500) }) };
  const bad = Object.entries(body).filter(([key, value]) => !Object.hasOwn(fits, key) || !fits[key](value)).map(([key]) => pointer(key));
  if (body.price === undefined) bad.push('/price');
  if (bad.length > 0) throw new Refusal('ill_cut', bad);
}
const MOVES = {
  'quote sail'(call, row) {
    priced(call);
    if (row.status !== 'asked') throw new Refusal('wrong_state');
    return move(call, row, 'quoted', { price: call.body.price, hours: call.body.hours ?? 1 });
  },
  'requote sail'(call, row) {
    priced(call);
    if (row.status !== 'quoted') throw new Refusal('wrong_state');
    return move(call, row, 'quoted', { price: call.body.price });
  },
  'accept sail'(call, row) {
    if (row.status !== 'quoted' && !(F('accept-asked') && row.status === 'asked')) throw new Refusal('wrong_state');
    if (!row.cloth) {
      if (F('half-accepted')) halves.push({ ...row, status: 'cutting' });
      throw new Refusal('no_cloth');
    }
    return move(call, row, 'cutting');
  },
  'finish sail'(call, row) {
    if (row.status !== 'cutting') throw new Refusal('wrong_state');
    if (edgesOf(row) < (F('finish-with-two') ? 2 : 3)) throw new Refusal('unmeasured');
    return move(call, row, 'ready');
  },
  'collect sail'(call, row) {
    if (F('collect-breaks')) throw new Error('a planted fault');
    if (row.status !== 'ready' && !(F('collect-unready') && row.status === 'cutting')) throw new Refusal('wrong_state');
    return move(call, row, 'collected');
  },
  'call_off sail'(call, row) {
    if (F('second-call-off') && row.status === 'called_off') throw new Refusal('wrong_state');
    if (!['asked', 'quoted', ...(F('call-off-cutting') ? ['cutting'] : [])].includes(row.status)) throw new Refusal('too_late');
    return move(call, row, 'called_off');
  },
};
const halves = [];
function createFitting(call, sail) {
  const said = fit(take('fitting', call.body, 'create', call.ed));
  if (said.sail !== undefined && said.sail !== sail.id) throw new Refusal('ill_cut', ['/sail']);
  if (fittingsOf(sail.id).some(({ edge }) => edge === said.edge)) throw new Refusal('taken', ['/edge']);
  const row = { id: randomUUID(), ...said, sail: sail.id, by: call.caller.id, taken_at: iso(now()) };
  add('fitting', row);
  if (F('edges-never-fall')) put('sail', { ...sail, _taken: (sail._taken ?? 0) + 1 });
  emit('fitting.taken', 'fitting', row, tellRow('fitting', row));
  return { status: 201, body: show('fitting', row, call.ed, call.caller.user), headers: { Location: `${PREFIX}/sails/${sail.id}/fittings/${row.id}` } };
}
function createHook(call) {
  const said = fit(take('hook', call.body, 'create', call.ed));
  const held = all('hook').filter(({ keeper }) => keeper === call.caller.id || F('hooks-counted-together'));
  if (held.length >= 6) throw new Refusal('full_book');
  hooksMade += 1;
  const row = { id: hooksMade, ...said, secret: `ls_${word(24)}`, keeper: call.caller.id, _user: call.caller.user, _edition: call.ed };
  add('hook', row);
  return { status: 201, body: show('hook', row, call.ed, call.caller.user, { first: true }), headers: { Location: `${PREFIX}/hooks/${row.id}` } };
}
function upsertCloth(call, row) {
  const { body } = call;
  const whole = typeof body === 'object' && body !== null && !Array.isArray(body) && !('code' in body) ? { code: call.at.code, ...body } : body;
  const sent = take('cloth', whole, 'replace', call.ed);
  if (sent.said.code !== undefined && sent.said.code !== call.at.code) sent.bad.push('/code');
  const said = { ...fit(sent) };
  if (row && F('remark-survives')) said.remark ??= row.remark;
  const next = clean(said);
  if (!row) add('cloth', next);
  else if (!same(row, next)) put('cloth', next);
  if (!row || !same(row, next)) emit('cloth.kept', 'cloth', next, tellRow('cloth', next));
  const made = !row || F('upsert-always-201');
  return { status: made ? 201 : 200, body: show('cloth', next, call.ed, call.caller.user), headers: made ? { Location: `${PREFIX}/cloths/${next.code}` } : {} };
}
function deleteCloth(_call, row) {
  const holding = all('sail').filter(({ cloth }) => cloth === row.code);
  if (holding.some(({ status }) => !(F('called-off-not-held') && status === 'called_off'))) throw new Refusal('in_use');
  for (const { cloth, ...rest } of holding) put('sail', rest);
  drop('cloth', row);
  return { status: 204 };
}
function read(call, row) {
  const res = call.op.split(' ')[1];
  const body = show(res, row, call.ed, call.caller.user, { first: F('secret-when-read') });
  if (res !== 'sail') return { status: 200, body };
  const ETag = tag(row, call);
  const none = call.headers['if-none-match'];
  return none !== undefined && tagged(none, ETag, true) ? { status: 304, headers: { ETag } } : { status: 200, body, headers: { ETag } };
}
const bare = (res, rows) => (call) => ({ status: 200, body: rows(call).map((row) => show(res, row, call.ed, call.caller.user)) });
const DOES = {
  ...MOVES,
  'list cloth': listCloths,
  'upsert cloth': upsertCloth,
  'delete cloth': deleteCloth,
  'create sail': createSail,
  'list sail': listSails,
  'update sail': updateSail,
  'delete sail': deleteSail,
  'create fitting': createFitting,
  'list fitting': bare('fitting', ({ at }) => fittingsOf(at.sail)),
  'delete fitting': (_call, row) => {
    drop('fitting', row);
    return { status: 204 };
  },
  'create hook': createHook,
  'list hook': bare('hook', ({ caller }) => all('hook').filter((row) => mayRead(caller, 'hook', row))),
  'delete hook': (_call, row) => {
    drop('hook', row);
    return { status: 204 };
  },
};
const perform = (call) => {
  if (call.op === 'about') return { status: 200, body: { loft: 'Quay Street Sails', floor_m2: 320 } };
  const row = load(call);
  return (DOES[call.op] ?? read)(call, row);
};

/** A creation under a Once-Key is done once; the service's own refusals are kept as well. */
function once(call) {
  const key = call.op === 'create sail' ? call.headers['once-key'] : undefined;
  if (!key) return perform(call);
  const place = JSON.stringify([F('key-of-everyone') ? '' : [call.caller.user, call.caller.id], key]);
  const print = createHash('sha256')
    .update(JSON.stringify([call.path, call.search, call.ed]))
    .update(F('key-ignores-body') ? '' : call.raw)
    .digest('hex');
  const known = Q.kept.get(place);
  if (known && known.until > now() && !call.unkeyed) {
    if (known.print !== print) throw new Refusal('key_reused');
    return JSON.parse(known.answer);
  }
  let answer;
  try {
    answer = perform(call);
  } catch (error) {
    if (error.code !== 'too_light') throw error;
    pending = [];
    answer = error.answer(call);
  }
  Q.keep.run(place, print, JSON.stringify(answer), now() + (F('key-six-hours') ? 6 : 12) * HOUR);
  return answer;
}

async function exchange(call) {
  lapseDue();
  let answer;
  try {
    if (call.target.length > 2048 || call.head > 16_384) throw new Refusal('too_big');
    answer = route(call);
    if (!answer) {
      whoami(call);
      rate(call);
      permit(call);
      readable(call);
      if (F('names-raced') && call.op === 'create sail') {
        if (clash(call.caller.id, call.body?.name)) throw new Refusal('taken', ['/name']);
        call.unheld = true;
        await sleep(150);
      }
      if (F('key-raced') && call.op === 'create sail' && call.headers['once-key']) {
        const place = JSON.stringify([[call.caller.user, call.caller.id], call.headers['once-key']]);
        call.unkeyed = !Q.kept.get(place);
        await sleep(150);
      }
      answer = transact(() => once(call));
    }
  } catch (error) {
    if (!(error instanceof Refusal)) console.error('broken:', error);
    answer = (error instanceof Refusal ? error : new Refusal('broken')).answer(call);
  }
  for (const half of halves.splice(0)) put('sail', half);
  for (const day of unkept.splice(0)) Q.spend.run(day);
  const headers = { Vary: 'Loft-Edition, Authorization', ...answer.headers };
  const silent = F('no-sunset-on-lists') && call.op?.startsWith('list');
  if (call.ed === '1' && !silent) Object.assign(headers, DEPRECATION);
  return { ...answer, headers };
}

// ---- the wire
function write(out, { status, body, headers = {} }, head = false) {
  if (out.destroyed) return;
  if (body === undefined) {
    out.writeHead(status, headers);
    out.end();
    return;
  }
  const raw = Buffer.from(JSON.stringify(body));
  out.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Content-Length': raw.length });
  out.end(head ? undefined : raw);
}
const MOST = 1_048_576;
async function gather(input) {
  const pieces = [];
  let size = 0;
  for await (const piece of input) {
    size += piece.length;
    if (size <= MOST) pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
const served = createServer({ maxHeaderSize: 65_536 }, async (input, out) => {
  try {
    const raw = await gather(input);
    const [path, search = ''] = input.url.split(/\?(.*)/s);
    const head = input.rawHeaders.reduce((sum, one) => sum + Buffer.byteLength(one) + 2, 0);
    const peer = input.socket.remoteAddress;
    const call = { method: input.method, target: input.url, path, search, headers: input.headers, raw, head, peer, query: Object.create(null), at: {} };
    write(out, await exchange(call), input.method === 'HEAD');
  } catch {
    out.destroy();
  }
});
served.listen(Number(given.port ?? 4860), '127.0.0.1', () => console.log(`sailloft on http://127.0.0.1:${served.address().port}${PREFIX}`));

if (given['clock-port']) {
  const door = createServer(async (input, out) => {
    const raw = await gather(input);
    if (input.method === 'GET') return write(out, { status: 200, body: { now: iso(now()) } });
    let target;
    try {
      const said = JSON.parse(raw.toString());
      target = said.advance === undefined ? Date.parse(said.now) : now() + lasting(said.advance);
      if (!(target < Date.parse('8000-01-01T00:00:00Z'))) throw new Error('no such time');
      if (said.advance === undefined && target < now()) return write(out, { status: 422, body: { text: 'That time is gone by.' } });
    } catch {
      return write(out, { status: 400, body: { text: 'Send {"advance":"PT1H"} or {"now":"2026-06-01T09:00:00.000Z"}.' } });
    }
    await moveTo(target);
    return write(out, { status: 200, body: { now: iso(now()) } });
  });
  door.listen(Number(given['clock-port']), '127.0.0.1');
}
