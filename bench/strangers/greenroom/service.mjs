// The Greenroom. One process, one table per thing, all in memory; node:http and nothing above it.
import http from 'node:http';
import https from 'node:https';
import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';

const argument = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const BROKEN = argument('fault');
/** Whether the fault of this name is switched on. */
const f = (name) => BROKEN === name;

// ------------------------------------------------------------------ time

const SEC = 1000, MIN = 60 * SEC, HOUR = 60 * MIN, DAY = 24 * HOUR;
let ahead = 0;
const clock = () => Date.now() + ahead;
const stamp = (ms = clock()) => new Date(ms).toISOString();

// ------------------------------------------------------------------ tables, and changes that are all or nothing

const tables = { troupe: new Map(), member: new Map(), production: new Map(), cue: new Map(), prop: new Map(), loan: new Map(), hook: new Map() };
const counters = new Map();
let made = 0;
let journal = null; // { undo: [], events: [] } while a change is under way

function put(kind, key, row) {
  const table = tables[kind], old = table.get(key);
  journal.undo.push(() => (old === undefined ? table.delete(key) : table.set(key, old)));
  table.set(key, row);
}
function drop(kind, key) {
  const table = tables[kind], before = [...table];
  journal.undo.push(() => {
    table.clear();
    for (const [k, v] of before) table.set(k, v);
  });
  table.delete(key);
}
function count(name) {
  const old = counters.get(name) ?? 0;
  journal.undo.push(() => counters.set(name, old));
  counters.set(name, old + 1);
  return old + 1;
}
function change(work) {
  journal = { undo: [], events: [] };
  const mine = journal;
  try {
    const out = work();
    journal = null;
    for (const event of mine.events) publish(event);
    return out;
  } catch (error) {
    for (const undo of mine.undo.reverse()) undo();
    journal = null;
    throw error;
  }
}
const all = (kind) => [...tables[kind].values()];
const rowsOf = (kind, field, key) => all(kind).filter((row) => row[field] === key);

// ------------------------------------------------------------------ refusals

const CODES = {
  unreadable: 400, wrong_kind: 415, wrong_answer: 406, bad_question: 400, bad_page: 400, not_right: 422, no_such_place: 404, no_such_way: 405,
  who_is_there: 401, not_yours: 403, not_a_lead: 403, not_here: 404, taken: 409, already_lent: 409, dangling: 422, in_use: 409, wrong_moment: 409,
  too_late: 409, no_cues: 409, house_dark: 409, needs_dolly: 422, last_lead: 409, stale: 412, tag_wanted: 428, other_attempt: 422, same_attempt: 409,
  slow_down: 429, enough_today: 429, too_big: 413, too_slow: 408, unknown_edition: 400, edition_over: 410, closed_house: 503, broken: 500,
};
const WORDS = {
  unreadable: 'The body cannot be read.', wrong_kind: 'This kind of body is not taken.', wrong_answer: 'This kind of answer is not given.',
  bad_question: 'A parameter is not right.', bad_page: 'There is no such page.', not_right: 'What was sent is not right.', no_such_place: 'There is nothing here.',
  no_such_way: 'Not with this method.', who_is_there: 'Who is there?', not_yours: 'This is not for you to do.', not_a_lead: 'Only a lead of the troupe may do this.',
  not_here: 'There is no such thing.', taken: 'There is one already.', already_lent: 'The property is with somebody else.', dangling: 'What it refers to is not there.',
  in_use: 'Something still refers to it.', wrong_moment: 'Not in this state.', too_late: 'The production can be cancelled no more.',
  no_cues: 'Nothing can be rehearsed without a cue.', house_dark: 'The production borrows nothing more.', needs_dolly: 'Above 50 kg a dolly is needed.',
  last_lead: 'A troupe keeps one lead.', stale: 'It has changed since.', tag_wanted: 'Say which one you have read (If-Match).',
  other_attempt: 'This attempt was another one.', same_attempt: 'This attempt is under way.', slow_down: 'Too fast.', enough_today: 'Enough for today.',
  too_big: 'Too big.', too_slow: 'Too slow.', unknown_edition: 'There is no such edition.', edition_over: 'This edition is over.',
  closed_house: 'The house is closed.', broken: 'Something broke.',
};
class Oops extends Error {
  constructor(code, { spots, headers, keep } = {}) {
    super(code);
    Object.assign(this, { code, spots, headers: headers ?? {}, keep: keep ?? false });
  }
}
const no = (code, more) => {
  throw new Oops(code, more);
};

// ------------------------------------------------------------------ people

const PEOPLE = [
  { user: 'hand', id: 'ha-lu', key: 'sk_LuPlaysHamletTwice000001', word: 'curtain-4' },
  { user: 'hand', id: 'ha-mo', key: 'sk_MoKnowsEveryCue000000002' },
  { user: 'hand', id: 'ha-pip', key: 'sk_PipSweepsTheStage0000003' },
  { user: 'warden', id: 'wa-ines', scopes: ['store'], key: 'sk_InesHasTheStoreKeys00011', word: 'lantern-9' },
  { user: 'warden', id: 'wa-joss', scopes: ['store'], key: 'sk_JossCountsTheChairs00012' },
  { user: 'warden', id: 'wa-kit', scopes: [], key: 'sk_KitOnlyLooksAround000013' },
];
const GONE = { user: 'hand', id: 'ha-former', key: 'sk_FormerHandHasLeft0000099' };
const same = (a, b) => timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

function identify(req) {
  const twice = (name) => req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === name).length > 1;
  const key = req.headers['stage-key'], pass = req.headers.authorization;
  if (key === undefined && pass === undefined) return undefined;
  const unknown = () => no('who_is_there', { headers: challenge(true) });
  if (twice('stage-key') || twice('authorization')) unknown();
  const found = [];
  if (key !== undefined) {
    const person = PEOPLE.find((p) => p.key === key) ?? (f('auth-left-but-let-in') && key === GONE.key ? GONE : undefined);
    if (!person) unknown();
    found.push(person);
  }
  if (pass !== undefined && !(f('auth-one-is-enough') && found.length > 0)) {
    const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(pass)?.[1] ?? unknown();
    const text = Buffer.from(encoded, 'base64').toString('utf8'), colon = text.indexOf(':');
    if (colon < 0) unknown();
    const person = PEOPLE.find((p) => p.word !== undefined && p.id === text.slice(0, colon)) ?? unknown();
    const word = text.slice(colon + 1);
    const right = f('auth-word-begins') ? word.length > 0 && word.slice(0, -1) === person.word.slice(0, -1) : same(word, person.word);
    if (!right) unknown();
    found.push(person);
  }
  if (found.some((p) => p !== found[0])) unknown();
  if (f('users-wardens-out') && found[0].user === 'warden') unknown();
  return found[0];
}
function challenge(bad) {
  const apiKey = `ApiKey realm="The Greenroom", in="header", name="Stage-Key"${bad ? ', error="invalid_key"' : ''}`;
  return { 'WWW-Authenticate': f('auth-one-challenge') ? [apiKey] : [apiKey, 'Basic realm="The Greenroom", charset="UTF-8"'] };
}

// ------------------------------------------------------------------ who may do what

const seat = (troupe, who) => all('member').find((m) => m.troupe === troupe && m.person === who.id);
const belongs = (troupe, who) => who.user === 'hand' && seat(troupe, who) !== undefined;
const leads = (troupe, who) =>
  who.user === 'hand' &&
  (f('auth-lead-anywhere') ? belongs(troupe, who) && all('member').some((m) => m.person === who.id && m.role === 'lead') : seat(troupe, who)?.role === 'lead');
const troupeOf = { troupe: (r) => r.id, member: (r) => r.troupe, production: (r) => r.troupe, cue: (r) => r.$troupe, loan: (r) => r.$troupe };

/** Whether this caller may read this row: what the read rules of its resource come to. */
function mayRead(kind, row, who) {
  if (kind === 'prop') return row.displayed || who?.user === 'warden';
  if (!who) return false;
  if (kind === 'hook') return row.owner === who.id;
  return who.user === 'warden' || belongs(troupeOf[kind](row), who);
}

/** Step 6: who has a rule for this operation at all; the scopes that it asks for. */
const RULES = {
  'create troupe': ['hand'], 'read troupe': ['hand', 'warden'], 'list troupe': ['hand', 'warden'], 'update troupe': ['hand'], 'delete troupe': ['hand'],
  'create member': ['hand'], 'list member': ['hand', 'warden'], 'delete member': ['hand'],
  'create production': ['hand'], 'read production': ['hand', 'warden'], 'list production': ['hand', 'warden'], 'update production': ['hand', 'warden'],
  'delete production': ['hand'], 'rehearse production': ['hand'], 'premiere production': ['hand'], 'close production': ['hand'], 'cancel production': ['hand'],
  'create cue': ['hand'], 'read cue': ['hand', 'warden'], 'list cue': ['hand', 'warden'], 'update cue': ['hand'], 'delete cue': ['hand'],
  'create prop': ['warden'], 'read prop': ['hand', 'warden', 'nobody'], 'list prop': ['hand', 'warden', 'nobody'], 'update prop': ['warden'],
  'replace prop': ['warden'], 'delete prop': ['warden'],
  'create loan': ['hand'], 'read loan': ['hand', 'warden'], 'list loan': ['hand', 'warden'], 'list loan of prop': ['warden'], 'withdraw loan': ['hand'],
  'hand_over loan': ['warden:store'], 'give_back loan': ['warden:store'], 'extend loan': ['warden'],
  'create hook': ['hand', 'warden'], 'read hook': ['hand', 'warden'], 'list hook': ['hand', 'warden'], 'update hook': ['hand', 'warden'], 'delete hook': ['hand', 'warden'],
  'stream events': ['hand', 'warden'],
};
/** A browser keeps a name and its word, and sends them along for any page: from elsewhere they change nothing. */
function fromElsewhere(req) {
  if (req.headers.authorization === undefined || ['GET', 'HEAD', 'OPTIONS'].includes(req.method)) return false;
  const site = req.headers['sec-fetch-site'], origin = req.headers.origin;
  if (site !== undefined) return !['same-origin', 'none'].includes(site);
  return origin !== undefined && origin.replace(/^https?:\/\//, '') !== req.headers.host;
}
function admit(operation, who) {
  const ok = RULES[operation].some((rule) => {
    const [user, scope] = rule.split(':');
    if (user !== (who?.user ?? 'nobody')) return false;
    return scope === undefined || (who.scopes ?? []).includes(scope) || (f('auth-scope-forgotten') && operation === 'give_back loan');
  });
  if (!ok) no('not_yours');
}

// ------------------------------------------------------------------ what is reckoned

const LENT = ['out', 'overdue'];
const cuesOf = (id) => rowsOf('cue', 'production', id);
const runningOf = (id) => cuesOf(id).filter((c) => c.kind !== 'blackout' || f('res-blackouts-run')).reduce((n, c) => n + c.length_s, 0);
const cueCount = (id) => (f('res-count-of-ever') ? counters.get(`cue ${id}`) ?? 0 : cuesOf(id).length);
const longest = (id) => cuesOf(id).reduce((n, c) => (n === undefined || c.length_s > n ? c.length_s : n), f('res-longest-zero') ? 0 : undefined);
const borrowing = (id) => rowsOf('loan', 'production', id).some((l) => (f('res-overdue-not-borrowing') ? l.status === 'out' : LENT.includes(l.status)));
const away = (code) => rowsOf('loan', 'prop', code).some((l) => (f('res-late-is-home') ? l.status === 'out' : LENT.includes(l.status)));
const leadsOf = (id) => rowsOf('member', 'troupe', id).filter((m) => m.role === 'lead').length;

// ------------------------------------------------------------------ how a row reads, for whom, in which edition

const OLD = '2025-09', NEW = '2026-02';
const tidy = (o) => {
  for (const k of Object.keys(o)) if (o[k] === undefined || o[k] === null) delete o[k];
  return o;
};
const VIEWS = {
  troupe: (r, who, old) => ({
    id: r.id, name: r.name, town: r.town, founder: r.founder, leads: f('res-leads-and-players') ? rowsOf('member', 'troupe', r.id).length : leadsOf(r.id),
    productions: rowsOf('production', 'troupe', r.id).length, ...(old && !f('ver-motto-lost') && { motto: 'ad astra' }),
  }),
  member: (r) => ({ id: r.id, troupe: r.troupe, person: r.person, role: r.role }),
  production: (r, who, old, how) => ({
    id: r.id, troupe: r.troupe, title: r.title, [old && !(f('ver-list-not-carried') && how === 'list') ? 'opens' : 'opens_on']: r.opens_on, closes_on: r.closes_on, seats: r.seats, tags: r.tags, stage: r.stage,
    ...(who?.user === 'warden' || (f('res-rating-in-lists') && how === 'list') ? { rating: r.rating } : {}),
    ...(f('res-code-told') && how === 'update' ? { door_code: r.door_code } : {}),
    cue_count: cueCount(r.id), running_s: runningOf(r.id), longest_s: longest(r.id), borrowing: borrowing(r.id), made_by: r.made_by, touched_at: r.touched_at,
  }),
  cue: (r, who, old) => ({ id: r.id, production: r.production, number: r.number, kind: r.kind, length_s: old ? r.length_s / 60 : r.length_s, line: r.line, mark: r.mark }),
  prop: (r, who, old, how) => ({
    code: r.code, name: r.name, weight_g: r.weight_g, fragile: r.fragile, ...(!old && { displayed: r.displayed }), note: r.note,
    ...(who?.user === 'warden' || (f('res-value-for-strangers') && !who) || (f('ev-value-told') && how === 'event') ? { value_cents: r.value_cents } : {}), away: away(r.code),
  }),
  loan: (r, who, old, how) => ({
    id: r.id, slip: r.slip, production: r.production, prop: r.prop, purpose: r.purpose,
    status: old && r.status === 'asked' && !(f('ver-status-in-lists') && how === 'list') ? 'requested' : r.status, fee_cents: r.fee_cents, asked_by: r.asked_by, out_at: r.out_at, extended: r.extended, changed_at: r.changed_at,
  }),
  hook: (r, who, old, how) => ({ id: r.id, owner: r.owner, url: r.url, ...(how === 'made' || (f('res-secret-again') && how === 'update') ? { secret: r.secret } : {}), kinds: r.kinds, live: r.live }),
};
const view = (kind, row, who, edition, how) => tidy(VIEWS[kind](row, who, edition === OLD, how));

function tagOf(kind, row, who, edition) {
  const shown = view(kind, row, who, edition);
  if (f('end-tag-of-stored')) for (const k of ['cue_count', 'running_s', 'longest_s', 'borrowing', 'away', 'leads', 'productions']) delete shown[k];
  return `"${createHash('sha256').update(`${edition} ${kind} ${JSON.stringify(shown)}`).digest('base64url').slice(0, 22)}"`;
}

// ------------------------------------------------------------------ shapes of what is sent

const long = (v) => (f('res-bytes-for-letters') ? Buffer.byteLength(v) : [...v].length);
const text = (min, max, re) => (v) =>
  typeof v !== 'string' ? 'a text' : long(v) < min ? `at least ${min} letters` : long(v) > max ? `at most ${max} letters` : re && !re.test(v) ? `a text like ${re.source}` : undefined;
const whole = (min, max) => (v) => (!Number.isInteger(v) ? 'a whole number' : v < min ? `at least ${min}` : v > max ? `at most ${max}` : undefined);
const number = (min, max) => (v) => (typeof v !== 'number' ? 'a number' : v < min || v > max ? `from ${min} to ${max}` : undefined);
const yesno = (v) => (typeof v !== 'boolean' ? 'true or false' : undefined);
const oneOf = (...names) => (v) => (names.includes(v) ? undefined : `one of ${names.join(', ')}`);
const isDay = (v) => {
  const m = typeof v === 'string' && /^(\d{4})-(\d\d)-(\d\d)$/.exec(v);
  if (!m) return 'a date';
  const [y, mo, d] = [Number(m[1]), Number(m[2]), Number(m[3])];
  const days = f('res-thirty-first') ? 31 : [31, (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1];
  return mo < 1 || mo > 12 || d < 1 || d > days ? 'a date' : undefined;
};
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const CODE = /^[a-z]{2,4}-[0-9]{3}$/;
const isUrl = (v) => {
  const wrong = text(1, 400)(v);
  if (wrong) return wrong;
  if (!/^https?:\/\/[^\s"<>\\^`{|}]+$/i.test(v) || !URL.canParse(v)) return 'an address of http or https';
};
const isMark = { act: { is: whole(1, 9), need: true }, page: { is: whole(1, 999) } };

const KINDS = ['troupe.founded', 'member.joined', 'production.planned', 'production.changed', 'production.moved', 'cue.written', 'cue.cut', 'prop.changed', 'loan.asked', 'loan.moved', 'hook.stopped'];
const knownKind = (k) => k === '*' || KINDS.includes(k) || KINDS.some((one) => k === `${one.split('.')[0]}.*`);
const each = (is) => (v, at) => v.flatMap((one, i) => (is(one) ? [{ in: 'body', path: `${at}/${i}`, expected: is(one) }] : []));

const FORMS = {
  troupe: { name: { is: text(2, 40), need: true }, town: { is: text(0, 60) } },
  member: { troupe: { is: text(0, 99), bound: true, fixed: true }, person: { is: text(1, 40), need: true, fixed: true }, role: { is: oneOf('lead', 'player'), def: 'player' } },
  production: {
    troupe: { is: text(0, 99), bound: true, fixed: !f('res-troupe-moves') }, title: { is: text(1, 80), need: true }, opens_on: { is: isDay, need: true }, closes_on: { is: isDay },
    seats: { is: whole(1, 900), def: 120 },
    tags: { is: (v) => (!Array.isArray(v) ? 'a list' : v.length > 4 ? 'at most 4' : new Set(v.map((x) => JSON.stringify(x))).size < v.length && !f('res-tags-twice') ? 'each once' : undefined), items: each(text(1, 12)) },
    door_code: { is: text(0, 9999, /^[0-9]{4}$/) }, rating: { is: oneOf('a', 'b', 'c'), only: 'warden' },
  },
  cue: {
    production: { is: text(0, 99), bound: true, fixed: true }, kind: { is: oneOf('light', 'sound', 'blackout'), need: true }, length_s: { is: whole(0, 3600), need: true },
    line: { is: text(0, 120) }, mark: { parts: isMark },
  },
  prop: {
    code: { is: text(0, 99, CODE), need: true, own: true }, name: { is: text(1, 60), need: true }, weight_g: { is: whole(1, 500000), need: true }, fragile: { is: yesno, def: false },
    displayed: { is: yesno, def: true }, note: { is: text(0, 200) }, value_cents: { is: whole(0, 100000000) },
  },
  loan: { production: { is: text(0, 99), bound: true, fixed: true }, prop: { is: text(0, 99), need: true, fixed: true }, purpose: { is: text(0, 100) } },
  hook: {
    url: { is: isUrl, need: true },
    kinds: { is: (v) => (Array.isArray(v) ? undefined : 'a list'), items: each((k) => (typeof k === 'string' && knownKind(k) ? undefined : 'a kind of event')) }, live: { is: yesno, def: true },
  },
};
const READ_ONLY = {
  troupe: ['id', 'founder', 'leads', 'productions'], member: ['id'],
  production: ['id', 'stage', 'cue_count', 'running_s', 'longest_s', 'borrowing', 'made_by', 'touched_at'], cue: ['id', 'number'], prop: ['away'],
  loan: ['id', 'slip', 'status', 'fee_cents', 'asked_by', 'out_at', 'extended', 'changed_at'], hook: ['id', 'owner', 'secret'],
};

/** The form of a resource in an edition: what each sent name is, and which field it becomes. */
function formIn(kind, old) {
  const form = Object.fromEntries(Object.entries(FORMS[kind]).map(([name, one]) => [name, { ...one, field: name, up: (v) => v, down: (v) => v }]));
  if (!old) return form;
  if (kind === 'production') {
    const { opens_on: opens, ...rest } = form;
    return { ...rest, opens };
  }
  if (kind === 'prop') delete form.displayed;
  if (kind === 'cue') Object.assign(form.length_s, { is: number(0, 60), up: (v) => (f('ver-minutes-cut') ? Math.trunc(v * 60) : Math.round(v * 60)), down: (v) => v / 60 });
  return form;
}

const isMap = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
const spot = (path, expected) => ({ in: 'body', path, expected });
const equal = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (v) => (Array.isArray(v) ? v.map(sorted) : isMap(v) ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v);

/**
 * Reads a body against its form. `how` is create, update (a merge patch over `row`) or replace.
 * Gives the fields as they are to be stored, under the newest names.
 */
function readBody(kind, body, { how, row, who, edition, bound = {}, refuseReadOnly = false }) {
  if (!isMap(body)) no('not_right', { spots: [spot('', 'a map')] });
  const old = edition === OLD, form = formIn(kind, old), spots = [];
  const readOnly = [...READ_ONLY[kind], ...(old && kind === 'troupe' ? ['motto'] : [])];
  const fields = how === 'update' ? { ...row } : {};
  for (const [name, value] of Object.entries(body)) {
    const at = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const one = Object.hasOwn(form, name) ? form[name] : undefined;
    if (readOnly.includes(name)) {
      if (refuseReadOnly && !f('end-read-only-passes')) spots.push(spot(at, 'nothing: it is only read'));
      if (f('res-founder-as-sent') && name === 'founder' && typeof value === 'string') fields.$sent = value;
      continue;
    }
    if (!one) {
      spots.push(spot(at, 'no such field'));
      continue;
    }
    if (one.only && who.user !== one.only && !f('res-rating-by-all')) continue;
    const before = row?.[one.field];
    let next = value;
    if (one.parts) next = how === 'update' && isMap(value) && !f('res-mark-not-merged') ? mergePatch(before ?? {}, value) : value;
    if (value === null && how === 'update' && !one.need && one.def === undefined && !one.bound) {
      delete fields[one.field];
      continue;
    }
    const wrong = value === null ? 'a value' : one.parts ? undefined : one.is(value);
    if (wrong) {
      spots.push(spot(at, wrong));
      continue;
    }
    if (one.parts) {
      const inner = readParts(next, one.parts, at);
      if (inner.length > 0) {
        spots.push(...inner);
        continue;
      }
    }
    const inner = one.items?.(value, at) ?? [];
    if (inner.length > 0) {
      spots.push(...inner);
      continue;
    }
    if (Object.hasOwn(bound, one.field) && value !== bound[one.field]) {
      spots.push(spot(at, `${bound[one.field]}, as the path says`));
      continue;
    }
    if (how === 'update' && one.fixed && !equal(before, value)) {
      spots.push(spot(at, 'what it was: it cannot be changed'));
      continue;
    }
    fields[one.field] = how !== 'create' && before !== undefined && equal(one.down(before), next) ? before : one.up(next);
  }
  for (const [name, one] of Object.entries(form)) {
    if (how === 'update' || Object.hasOwn(body, name)) continue;
    if (Object.hasOwn(bound, one.field)) fields[one.field] = bound[one.field];
    else if (one.def !== undefined) fields[one.field] = one.def;
    else if (one.need) spots.push(spot(`/${name}`, 'a value'));
  }
  if (how === 'create' && old && kind === 'prop') fields.displayed = true;
  if (how === 'replace' && old && kind === 'prop') fields.displayed = f('ver-put-shows-again') ? true : row.displayed;
  if (how === 'replace' && f('res-put-keeps-note') && row.note !== undefined && fields.note === undefined) fields.note = row.note;
  if (kind === 'production' && fields.closes_on !== undefined && fields.opens_on !== undefined && !spots.some((s) => /^\/(closes_on|opens)/.test(s.path))) {
    const wrong = f('res-one-day-run') ? fields.closes_on <= fields.opens_on : fields.closes_on < fields.opens_on;
    if (wrong) spots.push(spot('/closes_on', 'a day not before the opening'));
  }
  if (spots.length > 0) no('not_right', { spots: f('err-first-spot-only') ? spots.slice(0, 1) : spots });
  return fields;
}
function readParts(value, parts, at) {
  if (!isMap(value)) return [spot(at, 'a map')];
  const spots = [];
  for (const [k, v] of Object.entries(value)) {
    if (!Object.hasOwn(parts, k)) {
      if (!f('res-mark-takes-all')) spots.push(spot(`${at}/${k}`, 'no such field'));
    } else if (parts[k].is(v)) spots.push(spot(`${at}/${k}`, parts[k].is(v)));
  }
  for (const [k, part] of Object.entries(parts)) if (part.need && !Object.hasOwn(value, k)) spots.push(spot(`${at}/${k}`, 'a value'));
  return spots;
}
function mergePatch(target, patch) {
  const out = Object.assign(Object.create(null), target);
  for (const [k, v] of Object.entries(patch)) {
    if (v === null) delete out[k];
    else out[k] = isMap(v) && isMap(out[k]) ? mergePatch(out[k], v) : v;
  }
  return out;
}

// ------------------------------------------------------------------ events

const KEEP = 6 * HOUR;
const told = []; // what the stream keeps
let toldSeq = 0;
const streams = new Set();

/** Notes an event of the change that is under way; who hears of it is asked now, of the rows as they are. */
function tell(kind, rowKind, row, data) {
  const event = { n: 0, id: '', kind, at: clock(), rowKind, row: { ...row }, data };
  event.shown = {};
  for (const user of ['hand', 'warden'])
    for (const edition of [OLD, NEW]) event.shown[`${user} ${edition}`] = data ?? view(rowKind, row, { user }, edition, 'event');
  event.hooks = all('hook').filter((hook) => {
    if (!hook.live && !f('ev-dead-hooks-hear')) return false;
    if (!wants(hook.kinds, kind)) return false;
    if (kind === 'troupe.founded') return hook.$maker.id === row.founder || hook.$maker.user === 'warden';
    return mayRead(rowKind, row, hook.$maker) || (f('ev-loans-for-all') && rowKind === 'loan');
  }).map((hook) => hook.id);
  journal.events.push(event);
}
const wants = (kinds, kind) => kinds === undefined || kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1)) && !f('ev-wildcard-deaf')));
const envelope = (event, user, edition) =>
  JSON.stringify({ ref: event.id, kind: event.kind, at: stamp(event.at), about: event.shown[`${user} ${edition}`] });
const mayHear = (event, who) => {
  if (event.kind === 'troupe.founded') return who.id === event.row.founder || who.user === 'warden';
  return mayRead(event.rowKind, event.row, who);
};

/** After the change is stored: its event goes on its way. */
function publish(event) {
  event.n = ++toldSeq;
  event.id = `ev_${String(event.n).padStart(8, '0')}`;
  told.push(event);
  while (told.length > 0 && told[0].at < clock() - KEEP) told.shift();
  for (const stream of streams) stream.offer(event);
  for (const id of event.hooks) {
    const hook = tables.hook.get(id);
    if (hook) post(hook, event, envelope(event, hook.$maker.user, f('ev-newest-to-all') ? NEW : hook.$edition));
  }
}

// Deliveries: for one hook and one row a queue, whose head alone is tried.
const queues = new Map();
const WAITS = f('ev-gives-up-early') ? [10 * SEC, 2 * MIN] : [10 * SEC, 2 * MIN, 30 * MIN];
const failing = new Map(); // hook -> since when there are nothing but failures

function post(hook, event, body) {
  const rowKey = event.row.code ?? event.row.id;
  const name = f('ev-any-order') ? `${hook.id} ${event.id}` : `${hook.id} ${event.rowKind} ${rowKey}`;
  const queue = queues.get(name) ?? [];
  queues.set(name, queue);
  queue.push({ hook: hook.id, event, body, tries: 0, due: clock(), busy: false });
  if (queue.length === 1) setImmediate(pump);
}
function pump() {
  for (const [name, queue] of queues) {
    const head = queue[0];
    if (!head) queues.delete(name);
    else if (!head.busy && head.due <= clock()) attempt(name, queue, head);
  }
}
function attempt(name, queue, job) {
  const hook = tables.hook.get(job.hook);
  const done = () => {
    queue.shift();
    setImmediate(pump);
  };
  if (!hook || !hook.live && !f('ev-dead-hooks-hear')) return done();
  job.busy = true;
  const t = String(Math.floor((f('ev-seal-of-first-try') ? job.event.at : clock()) / 1000));
  const shownTime = String(Math.floor(clock() / 1000));
  const id = f('ev-new-id-each-try') && job.tries > 0 ? `${job.event.id}_${job.tries}` : job.event.id;
  const body = id === job.event.id ? job.body : job.body.replace(job.event.id, id);
  const signed = f('ev-seal-without-id') ? `${t}.${body}` : `${id}.${t}.${body}`;
  const key = f('ev-seal-key-decoded') ? Buffer.from(hook.secret, 'base64') : hook.secret;
  const seal = createHmac('sha256', key).update(signed).digest('hex');
  send(hook.url, body, { 'Greenroom-Seal': `t=${shownTime},s=${seal}`, 'Greenroom-Event': job.event.kind }).then(({ status, after }) => {
    job.busy = false;
    if ((status >= 200 && status < 300) || (f('ev-redirect-is-fine') && status >= 300 && status < 400)) {
      failing.delete(hook.id);
      return done();
    }
    if (!failing.has(hook.id)) failing.set(hook.id, clock());
    if ((status === 410 && !f('ev-gone-goes-on')) || clock() - failing.get(hook.id) >= 2 * DAY) {
      disable(hook.id);
      return done();
    }
    if (job.tries >= WAITS.length) return done();
    job.due = clock() + Math.max(WAITS[job.tries++], Math.min(after * SEC, DAY));
    arm();
  });
}
function send(url, body, headers) {
  return new Promise((resolve) => {
    const lib = url.toLowerCase().startsWith('https:') ? https : http;
    let settled = false;
    const end = (status, after = 0) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      resolve({ status, after });
    };
    const timer = setTimeout(() => {
      end(0);
      req?.destroy();
    }, 5 * SEC);
    let req;
    try {
      req = lib.request(url, { method: 'POST', agent: false, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers } }, (res) => {
        res.resume();
        end(res.statusCode, Number(res.headers['retry-after']) || 0);
      });
      req.on('error', () => end(0));
      req.end(body);
    } catch {
      end(0);
    }
  });
}
function disable(id) {
  failing.delete(id);
  const hook = tables.hook.get(id);
  if (!hook?.live) return;
  change(() => {
    const row = { ...hook, live: false };
    put('hook', id, row);
    tell('hook.stopped', 'hook', row);
  });
  for (const [name, queue] of queues) if (name.startsWith(`${id} `)) queue.length = queue[0]?.busy ? 1 : 0;
}

// ------------------------------------------------------------------ changes

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (n, letters = LETTERS) => Array.from({ length: n }, () => letters[randomInt(letters.length)]).join('');

function add(kind, key, row) {
  const stored = { ...row, $n: ++made };
  put(kind, key, stored);
  return stored;
}
function foundTroupe(fields, who) {
  const id = `tr_${random(f('res-short-name') ? 11 : 12, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  const { $sent, ...rest } = fields;
  const row = add('troupe', id, { id, ...rest, founder: $sent ?? who.id });
  tell('troupe.founded', 'troupe', row, { troupe: id, name: row.name });
  joinTroupe({ troupe: id, person: row.founder, role: 'lead' }, f('ev-founder-joins-silently'));
  return row;
}
let memberIds = 0, cueIds = 0;
function joinTroupe(fields, silent = false) {
  if (all('member').some((m) => m.troupe === fields.troupe && m.person === fields.person)) no('taken');
  const id = ++memberIds, row = add('member', id, { id, ...fields });
  if (!silent) tell('member.joined', 'member', row);
  return row;
}
function titleFree(fields, except) {
  const key = (t) => (f('res-title-any-case') ? t.toLowerCase() : t);
  if (all('production').some((p) => p.id !== except && p.troupe === fields.troupe && key(p.title) === key(fields.title))) no('taken');
}
function planProduction(fields, who) {
  titleFree(fields);
  const id = randomUUID();
  const row = add('production', id, { id, ...fields, stage: 'draft', made_by: who.id, touched_at: stamp(), $entered: clock() });
  tell('production.planned', 'production', row);
  return row;
}
function writeCue(fields, troupe) {
  const scope = f('res-one-count') ? 'cue' : `cue ${fields.production}`;
  const id = ++cueIds;
  let n = count(scope);
  if (f('res-number-again')) n = cuesOf(fields.production).reduce((m, c) => Math.max(m, c.number), 0) + 1;
  const row = add('cue', id, { id, ...fields, number: n, $troupe: troupe });
  tell('cue.written', 'cue', row);
  return row;
}
function cutCue(row, silent = false) {
  if (!silent) tell('cue.cut', 'cue', row);
  drop('cue', row.id);
}
function askLoan(fields, who, production, prop) {
  const id = `ln_${randomBytes(6).toString('hex')}`;
  const n = count('slip');
  const row = add('loan', id, {
    id, slip: `S-${String(n).padStart(f('res-slip-bare') ? 1 : 4, '0')}`, ...fields, status: 'asked', fee_cents: prop.fragile && !f('res-flat-fee') ? 500 : 200, asked_by: who.id,
    extended: 0, changed_at: stamp(), $troupe: production.troupe, $entered: clock(),
  });
  tell('loan.asked', 'loan', row);
  return row;
}

const MOVES = {
  production: {
    rehearse: { from: ['draft'], to: 'rehearsing' }, premiere: { from: f('st-premiere-unrehearsed') ? ['draft', 'rehearsing'] : ['rehearsing'], to: 'running' }, close: { from: ['running'], to: 'closed' },
    cancel: { from: f('st-cancel-running') ? ['draft', 'rehearsing', 'running'] : ['draft', 'rehearsing'], to: 'cancelled', wrong: f('err-too-late-unnamed') ? 'wrong_moment' : 'too_late' }, lapse: { from: ['draft'], to: 'cancelled' },
  },
  loan: {
    hand_over: { from: ['asked'], to: 'out' }, extend: { from: f('st-extend-late') ? ['out', 'overdue'] : ['out'], to: 'out' }, give_back: { from: f('st-late-stays-out') ? ['out'] : ['out', 'overdue'], to: 'back' },
    withdraw: { from: ['asked'], to: 'lapsed' }, lapse: { from: ['asked'], to: 'lapsed' }, run_late: { from: ['out'], to: 'overdue' },
  },
};
/** Step 13: the state it is in, then the condition. */
function guard(kind, name, row) {
  const move = MOVES[kind][name], state = kind === 'loan' ? row.status : row.stage;
  if (!move.from.includes(state)) no(move.wrong ?? 'wrong_moment');
  if (name === 'rehearse' && !(cueCount(row.id) > 0) && !f('st-rehearse-nothing')) no('no_cues');
  if (name === 'extend' && !(row.extended < (f('st-extend-thrice') ? 3 : 2))) no('wrong_moment');
}
/** Moves a row: what it sets, its event, and what follows. By a caller or by the clock. */
function move(kind, name, row, byClock = false) {
  const to = MOVES[kind][name].to, at = clock();
  if (kind === 'production') {
    const next = { ...row, stage: to, touched_at: f('res-clock-does-not-touch') && byClock ? row.touched_at : stamp(at), $entered: at };
    put('production', row.id, next);
    const data = { production: row.id, was: f('ev-was-is-is') ? to : row.stage, is: to };
    tell('production.moved', 'production', next, data);
    if (name === 'premiere' && f('ev-premiere-twice')) tell('production.moved', 'production', next, data);
    if ((name === 'cancel' && !f('st-cancel-leaves-loans')) || (name === 'lapse' && !f('st-lapse-leaves-loans')))
      for (const loan of rowsOf('loan', 'production', row.id)) if (loan.status === 'asked') move('loan', 'withdraw', loan, byClock);
    return next;
  }
  const next = { ...row, status: to, changed_at: stamp(at), $entered: name === 'extend' && f('st-extend-old-term') ? row.$entered : at };
  if (name === 'hand_over') next.out_at = stamp(at);
  if (name === 'extend') next.extended = row.extended + 1;
  put('loan', row.id, next);
  if (!(byClock && f('ev-clock-is-silent'))) tell('loan.moved', 'loan', next);
  return next;
}
const content = (row) => Object.fromEntries(Object.entries(row).filter(([k]) => !k.startsWith('$')));
/** Stores an update or a replacement, unless it changes nothing. */
function revise(kind, key, row, fields, event) {
  const next = { ...fields };
  for (const k of Object.keys(row)) if (k.startsWith('$')) next[k] = row[k];
  if (equal(content(next), content(row))) {
    if (f('res-touch-on-nothing') && kind === 'production') put(kind, key, { ...row, touched_at: stamp() });
    if (f('ev-nothing-is-told') && event) tell(event, kind, row);
    return tables[kind].get(key);
  }
  if (kind === 'production') {
    if (!f('res-retitle-freely') && (next.title !== row.title || next.troupe !== row.troupe)) titleFree(next, row.id);
    next.touched_at = stamp();
    if (f('st-update-restarts')) next.$entered = clock();
  }
  put(kind, key, next);
  if (event) tell(event, kind, next);
  return next;
}

// ------------------------------------------------------------------ what the clock does

const TERMS = [
  ['production', 'draft', 'lapse', 30 * DAY], ['loan', 'asked', 'lapse', f('st-loan-lapses-early') ? 47 * HOUR : 48 * HOUR], ['loan', 'out', 'run_late', f('st-late-a-day-later') ? 8 * DAY : 7 * DAY],
];
function nextDue() {
  let best;
  for (const [kind, state, name, term] of TERMS)
    for (const row of tables[kind].values()) {
      if ((kind === 'loan' ? row.status : row.stage) !== state) continue;
      const due = row.$entered + term;
      if (!best || due < best.due) best = { due, kind, name, id: row.id };
    }
  for (const queue of queues.values()) {
    const head = queue[0];
    if (head && !head.busy && (!best || head.due < best.due)) best = { due: head.due, head };
  }
  return best;
}
let alarm;
function arm() {
  clearTimeout(alarm);
  const due = nextDue();
  if (due) alarm = setTimeout(ring, Math.min(Math.max(due.due - clock(), 0), DAY));
}
function ring() {
  fire(clock());
  arm();
}
function fire(until) {
  for (let due = nextDue(); due && due.due <= until; due = nextDue()) {
    if (due.head) pump();
    else change(() => move(due.kind, due.name, tables[due.kind].get(due.id), true));
  }
}
setInterval(ring, 400).unref();

/** Moves the clock on, stopping at whatever falls due on the way. */
function moveClock(to) {
  for (let due = nextDue(); due && due.due <= to; due = nextDue()) {
    if (due.due > clock()) ahead += due.due - clock();
    fire(clock());
  }
  if (to > clock()) ahead += to - clock();
  ring();
}

// ------------------------------------------------------------------ rates and quota

const RATES = [
  { per: 'address', kind: 'fixed', limit: 6000, window: MIN },
  { per: 'caller', kind: 'fixed', limit: 1500, window: MIN },
  { per: 'caller', kind: f('lim-sliding-is-fixed') ? 'fixed' : 'sliding', limit: 40, window: 20 * SEC, on: 'list member' },
  { per: 'caller', to: 'hand', kind: 'bucket', limit: 60, burst: f('lim-bucket-too-deep') ? 60 : 30, window: MIN, on: 'list loan' },
].map((rate) => ({ ...rate, used: new Map() }));

/** What a rate would say to one more of `who`, and how to count it. */
function look(rate, who) {
  const now = clock();
  if (rate.kind === 'fixed') {
    let w = rate.used.get(who);
    if (!w || now >= w.start + rate.window) w = { start: now, n: 0 };
    const over = Math.ceil((w.start + rate.window - now) / SEC);
    return { ok: w.n < rate.limit, wait: over, left: () => rate.limit - w.n, reset: () => over, take: () => (w.n++, rate.used.set(who, w)), untake: () => w.n-- };
  }
  if (rate.kind === 'sliding') {
    const times = (rate.used.get(who) ?? []).filter((t) => t + rate.window > now);
    rate.used.set(who, times);
    const wait = () => (times.length ? Math.ceil((times[0] + rate.window - now) / SEC) : 0);
    const limit = f('lim-one-more') ? rate.limit + 1 : rate.limit;
    return { ok: times.length < limit, wait: wait(), left: () => Math.max(rate.limit - times.length, 0), reset: wait, take: () => times.push(now), untake: () => times.pop(), refused: () => f('lim-refused-count') && (times.shift(), times.push(now)) };
  }
  const b = rate.used.get(who) ?? { level: rate.burst, at: now };
  b.level = Math.min(rate.burst, b.level + ((now - b.at) * rate.limit) / rate.window);
  b.at = now;
  rate.used.set(who, b);
  const wait = () => Math.ceil(((Math.floor(b.level) + 1 - b.level) * rate.window) / rate.limit / SEC);
  return { ok: b.level >= 1, wait: wait(), left: () => Math.floor(b.level), reset: wait, take: () => (b.level -= 1), untake: () => (b.level += 1) };
}
function pace(rates, call) {
  const looks = rates.map((rate) => ({ rate, ...look(rate, rate.per === 'address' ? call.address : call.who ? `${call.who.user} ${call.who.id}` : call.address) }));
  const refusing = looks.filter((one) => !one.ok);
  if (refusing.length > 0) {
    for (const one of refusing) one.refused?.();
    for (const one of call.paced) one.untake();
    call.paced = refusing;
    const wait = Math.max(...refusing.map((one) => one.wait));
    no('slow_down', { headers: { 'Retry-After': String(f('lim-wait-too-short') ? Math.max(Math.floor(wait / 2), 1) : wait) } });
  }
  for (const one of looks) one.take();
  call.paced = [...call.paced, ...looks];
}
function paceHeaders(call) {
  const strictest = [...call.paced].sort((a, b) => a.left() - b.left())[0];
  if (!strictest) return {};
  return { 'X-Pace-Limit': String(strictest.rate.limit), 'X-Pace-Left': String(Math.max(strictest.left() + (f('lim-left-before') ? 1 : 0), 0)), 'X-Pace-Reset': String(strictest.reset()) };
}
const hooksMade = new Map();
const quotaName = (who) => (f('lim-quota-for-all') ? `${who.user} ${stamp().slice(0, 10)}` : `${who.id} ${stamp().slice(0, 10)}`);
const useQuota = (who) => hooksMade.set(quotaName(who), (hooksMade.get(quotaName(who)) ?? 0) + 1);
/** Refuses what is too much of a day (UTC), and counts this one with the change that it is part of. */
function quota(who) {
  const name = quotaName(who), used = hooksMade.get(name) ?? 0;
  if (used >= 60) {
    const end = Date.parse(`${stamp().slice(0, 10)}T00:00:00Z`) + DAY;
    no(f('err-quota-as-rate') ? 'slow_down' : 'enough_today', { headers: { 'Retry-After': String(Math.ceil((end - clock()) / SEC)) } });
  }
  journal.undo.push(() => hooksMade.set(name, used));
  if (!f('lim-refusals-use-quota')) useQuota(who);
}

// ------------------------------------------------------------------ lists

const secretOfCursors = randomBytes(16);
const sealOf = (s) => createHmac('sha256', secretOfCursors).update(s).digest('base64url').slice(0, 20);
const refOk = (re) => (v) => (re.test(v) ? undefined : 'an identifier');
const fromText = {
  text: (is) => (s) => (is?.(s) ? no('bad_question') : s),
  whole: (is) => (s) => (/^-?(0|[1-9]\d*)$/.test(s) && Number.isSafeInteger(Number(s)) && !is?.(Number(s)) ? Number(s) : no('bad_question')),
  number: (is) => (s) => (/^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(s) && !is?.(Number(s)) ? Number(s) : no('bad_question')),
  yesno: () => (s) => (s === 'true' ? true : s === 'false' ? false : no('bad_question')),
};
const STAGES = ['draft', 'rehearsing', 'running', 'closed', 'cancelled'], STATUSES = ['asked', 'out', 'overdue', 'back', 'lapsed'];
const by = (field, op = (a, b) => a === b) => (row, v) => row[field] !== undefined && op(row[field], v);
const atLeast = (a, b) => (f('end-more-than') ? a > b : a >= b);

/** The lists: their parameters in an edition, their sorts, their order. */
const LISTS = {
  'list troupe': () => ({
    kind: 'troupe', order: 'name',
    filters: { town: [fromText.text(text(0, 60)), by('town')], name_starts: [fromText.text(), by('name', (a, b) => (f('end-prefix-any-case') ? a.toLowerCase().startsWith(b.toLowerCase()) : a.startsWith(b)))] },
  }),
  'list member': () => ({ kind: 'member', filters: { role: [fromText.text(oneOf('lead', 'player')), by('role')] } }),
  'list production': (old) => ({
    kind: 'production', order: '-opens_on',
    filters: {
      troupe: [fromText.text(), by('troupe')], stage: [fromText.text(oneOf(...STAGES)), by('stage')],
      stages: [(s) => s.split(',').map(fromText.text(oneOf(...STAGES))), by('stage', (a, b) => (f('end-first-stage-only') ? b[0] === a : b.includes(a)))],
      [old ? 'opens' : 'opens_on']: [fromText.text(isDay), by('opens_on')], opens_from: [fromText.text(isDay), by('opens_on', (a, b) => a >= b)],
      min_cues: [fromText.whole(), (row, v) => atLeast(cueCount(row.id), v)], title_has: [fromText.text(), by('title', (a, b) => a.includes(b))],
    },
    sorts: { title: 'title', [old ? 'opens' : 'opens_on']: 'opens_on', running_s: 'running_s' }, signs: ['', '-'],
  }),
  'list cue': (old) => ({
    kind: 'cue', order: 'number',
    filters: {
      kind: [fromText.text(oneOf('light', 'sound', 'blackout')), by('kind')],
      length_s: old && !f('ver-filter-in-seconds') ? [fromText.number(number(0, 60)), (row, v) => row.length_s / 60 === v] : [fromText.whole(whole(0, 3600)), by('length_s')],
    },
    sorts: { number: 'number', ...((!old || f('ver-sorts-mapped')) && { length_s: 'length_s' }) }, signs: ['', '-'],
  }),
  'list prop': () => ({
    kind: 'prop', order: 'name', offset: true,
    filters: { fragile: [fromText.yesno(), by('fragile')], away: [fromText.yesno(), (row, v) => away(row.code) === v], max_weight: [fromText.whole(), by('weight_g', (a, b) => a <= b)] },
    sorts: { weight_g: 'weight_g', name: 'name' }, only: ['weight_g', '-weight_g', 'name'],
  }),
  'list loan': (old) => ({
    kind: 'loan', order: '-changed_at',
    filters: {
      production: [fromText.text(refOk(UUID)), by('production')], prop: [fromText.text(refOk(CODE)), by('prop')],
      status: [(s) => (old && s === 'requested' && !f('ver-status-filter') ? 'asked' : fromText.text(old && !f('ver-status-filter') ? oneOf(...STATUSES.slice(1)) : oneOf(...STATUSES))(s)), by('status')],
    },
  }),
  'list loan of prop': () => ({ kind: 'loan', filters: {} }),
  'list hook': () => ({ kind: 'hook', filters: {} }),
};
const valueOf = (row, field) => (field === 'running_s' ? runningOf(row.id) : row[field]);

/** Reads the parameters of a list (step 8). */
function readQuestion(operation, query, edition) {
  const list = LISTS[operation]?.(edition === OLD);
  const one = {};
  for (const [name, value] of query) {
    if (Object.hasOwn(one, name)) no('bad_question', { spots: [{ in: 'query', path: name, expected: 'once' }] });
    one[name] = value;
  }
  const question = { list, tests: [], take: 10 };
  const wrong = (name) => no('bad_question', { spots: [{ in: 'query', path: name, expected: 'another value' }] });
  const pageWords = list ? (list.offset ? ['skip', 'take'] : ['from', 'take']) : [];
  for (const [name, value] of Object.entries(one)) {
    if (pageWords.includes(name)) continue;
    if (list && name === 'sort' && list.sorts) {
      const allowed = list.only ?? Object.keys(list.sorts).flatMap((s) => [s, `-${s}`]);
      if (!allowed.includes(value)) wrong(name);
      question.sort = (value.startsWith('-') ? '-' : '') + list.sorts[value.replace(/^-/, '')];
    } else if (list && Object.hasOwn(list.filters, name)) {
      const [read, test] = list.filters[name];
      let v;
      try {
        v = read(value);
      } catch {
        wrong(name);
      }
      question.tests.push((row) => test(row, v));
    } else if (!(f('end-any-parameter') && operation === 'list loan')) no('bad_question', { spots: [{ in: 'query', path: name, expected: 'no such parameter' }] });
  }
  if (!list) return question;
  question.order = question.sort ?? list.order;
  if (one.take !== undefined) {
    const max = list.offset ? 40 : f('lim-forty-nine') ? 49 : 50;
    if (!/^[1-9]\d{0,8}$/.test(one.take)) no('bad_page');
    question.take = Number(one.take);
    if (question.take > max) {
      if (list.offset && !f('lim-clamp-refuses') || f('lim-refuse-clamps')) question.take = max;
      else no('bad_page');
    }
  }
  const bound = JSON.stringify([operation, edition, Object.entries(one).filter(([n]) => n !== 'from' && n !== 'take').sort()]);
  question.bound = bound;
  if (list.offset) {
    if (one.skip !== undefined && !/^(0|[1-9]\d{0,12})$/.test(one.skip)) no('bad_page');
    question.skip = Number(one.skip ?? 0);
  } else if (one.from !== undefined) {
    const [data, seal] = one.from.split('.');
    if (!data || seal !== sealOf(f('lim-loose-cursor') ? data : `${data} ${bound}`)) no('bad_page');
    question.after = JSON.parse(Buffer.from(data, 'base64url').toString());
  }
  return question;
}
/** A page of the rows that this caller may see. */
function answerList(question, call, { within = () => true, path = '' } = {}) {
  const { list } = question, descending = question.order?.startsWith('-'), field = question.order?.replace(/^-/, '');
  const open = all(list.kind).filter((row) => within(row) && question.tests.every((t) => t(row)));
  const mine = open.filter((row) => mayRead(list.kind, row, call.who) || (f('auth-loans-by-prop') && list.kind === 'loan' && call.query.has('prop')));
  const keyed = mine.map((row) => ({ row, key: field ? valueOf(row, field) : 0 }));
  const compare = (a, b) => {
    const order = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
    return order !== 0 ? (descending ? -order : order) : f('end-ties-newest') ? b.row.$n - a.row.$n : a.row.$n - b.row.$n;
  };
  keyed.sort(compare);
  let start = question.skip ?? 0;
  if (question.after) {
    const [key, n] = question.after;
    const at = keyed.findIndex((one) => compare(one, { key, row: { $n: n } }) > 0 && !(f('end-cursor-skips-ties') && one.key === key && field));
    start = at < 0 ? keyed.length : at;
  }
  const page = keyed.slice(start, start + question.take), more = f('lim-more-when-full') ? page.length === question.take : start + page.length < keyed.length;
  const body = { rows: page.map(({ row }) => view(list.kind, row, call.who, call.edition, 'list')) };
  const last = page.at(-1);
  if (!list.offset) {
    const data = more && last ? Buffer.from(JSON.stringify([last.key, last.row.$n])).toString('base64url') : undefined;
    body.next_from = data ? `${data}.${sealOf(f('lim-loose-cursor') ? data : `${data} ${question.bound}`)}` : null;
  }
  body.more = more;
  body.total = f('lim-total-of-hidden') ? open.length : mine.length;
  return { status: 200, body };
}

// ------------------------------------------------------------------ finding rows

const idOf = {
  troupe: (s) => s, production: (s) => (UUID.test(s) ? s : undefined), member: (s) => (/^[1-9]\d{0,14}$/.test(s) ? Number(s) : undefined),
  cue: (s) => (/^[1-9]\d{0,14}$/.test(s) ? Number(s) : undefined), prop: (s) => s, loan: (s) => s, hook: (s) => s,
};
/** The row, if it is there and this caller may read it. */
function seen(kind, given, who) {
  const row = tables[kind].get(idOf[kind](given));
  if (!row || (!mayRead(kind, row, who) && !(f('auth-hooks-of-others') && kind === 'hook'))) {
    if (row && f('auth-hidden-is-forbidden') && kind === 'production') no('not_yours');
    no('not_here');
  }
  return row;
}
const lead = (row, who, code = 'not_yours') => leads(troupeOf.troupeId?.(row) ?? row.troupe ?? row.id, who) || no(code);

function ifMatch(call, kind, row, required) {
  const sent = call.headers['if-match'];
  if (sent === undefined) return required && !f('end-tag-not-wanted') ? no('tag_wanted') : undefined;
  if (sent.trim() === '*') return;
  if (f('end-delete-unmatched') && call.method === 'DELETE') return;
  const tags = sent.match(/(W\/)?"[^"]*"/g) ?? [];
  const current = [tagOf(kind, row, call.who, call.edition)];
  if (mayRead(kind, row, undefined)) current.push(tagOf(kind, row, undefined, call.edition));
  if (!tags.some((tag) => current.includes(tag))) no('stale');
}
const TAGGED = ['troupe', 'production', 'cue', 'prop', 'loan'];
const PLACES = { troupe: 'troupes', production: 'productions', cue: 'cues', prop: 'props', loan: 'loans', hook: 'hooks' };

function showRow(kind, row, call, how, status = 200) {
  const headers = {};
  if (TAGGED.includes(kind)) headers.ETag = tagOf(kind, row, call.who, call.edition);
  if (status === 201 && PLACES[kind]) headers.Location = `${f('end-location-bare') && kind === 'loan' ? '' : '/gr'}/${PLACES[kind]}/${row.code ?? row.id}`;
  return { status, headers, body: view(kind, row, call.who, call.edition, how) };
}
function readRow(kind, row, call) {
  const answer = showRow(kind, row, call, 'read');
  if (kind === 'production') answer.headers['Cache-Control'] = 'private, no-cache';
  const sent = call.headers['if-none-match'];
  if (sent !== undefined && answer.headers.ETag) {
    let tags = sent.match(/(W\/)?"[^"]*"/g) ?? [];
    if (f('end-first-tag-only')) tags = tags.slice(0, 1);
    if (sent.trim() === '*' || tags.some((tag) => tag.replace(/^W\//, '') === answer.headers.ETag)) return { status: 304, headers: answer.headers };
  }
  return answer;
}

// ------------------------------------------------------------------ the operations
// Each is called with its step-8 checks done; `keyed` wraps what stores (steps 9 to 15).

const ops = {};
const op = (name, method, path, run, more = {}) => {
  ops[name] = { name, method, path, parts: path.split('/').slice(1), run, ...more };
};
const gone = () => ({ status: f('end-gone-with-body') ? 200 : 204, ...(f('end-gone-with-body') && { body: {} }) });

op('reply house', 'GET', '/house', () => ({ status: 200, body: { name: 'The Greenroom', stages: 3 } }), { open: true });

op('create troupe', 'POST', '/troupes', (c) => showRow('troupe', foundTroupe(readBody('troupe', c.body, { how: 'create', ...c }), c.who), c, 'made', 201), { body: true });
op('list troupe', 'GET', '/troupes', (c) => answerList(c.question, c));
op('read troupe', 'GET', '/troupes/{id}', (c) => readRow('troupe', seen('troupe', c.ids.id, c.who), c));
op('update troupe', 'PATCH', '/troupes/{id}', (c) => {
  const row = seen('troupe', c.ids.id, c.who);
  leads(row.id, c.who) || no('not_yours');
  const early = f('err-body-before-tag') ? readBody('troupe', c.body, { how: 'update', row, ...c }) : undefined;
  ifMatch(c, 'troupe', row, false);
  return showRow('troupe', revise('troupe', row.id, row, early ?? readBody('troupe', c.body, { how: 'update', row, ...c })), c, 'update');
}, { body: true, patch: true });
op('delete troupe', 'DELETE', '/troupes/{id}', (c) => {
  const row = seen('troupe', c.ids.id, c.who);
  leads(row.id, c.who) || no('not_yours');
  if (rowsOf('production', 'troupe', row.id).length > 0 && !f('res-troupe-goes-anyway')) no('in_use');
  for (const m of rowsOf('member', 'troupe', row.id)) drop('member', m.id);
  drop('troupe', row.id);
  return gone();
});

op('create member', 'POST', '/troupes/{troupe}/members', (c) => {
  const troupe = seen('troupe', c.ids.troupe, c.who);
  const fields = readBody('member', c.body, { how: 'create', bound: { troupe: troupe.id }, ...c });
  if (!leads(troupe.id, c.who) && !f('auth-players-invite')) no('not_yours');
  return showRow('member', joinTroupe(fields), c, 'made', 201);
}, { body: true });
op('list member', 'GET', '/troupes/{troupe}/members', (c) => {
  const troupe = seen('troupe', c.ids.troupe, c.who);
  return answerList(c.question, c, { within: (m) => m.troupe === troupe.id });
});
op('delete member', 'DELETE', '/members/{id}', (c) => {
  const row = seen('member', c.ids.id, c.who);
  leads(row.troupe, c.who) || no('not_yours');
  if (row.role === 'lead' && leadsOf(row.troupe) < 2 && !f('err-last-lead-leaves')) no('last_lead');
  drop('member', row.id);
  return gone();
});

op('create production', 'POST', '/troupes/{troupe}/productions', (c) => {
  const troupe = seen('troupe', c.ids.troupe, c.who);
  return showRow('production', planProduction(readBody('production', c.body, { how: 'create', bound: { troupe: troupe.id }, ...c }), c.who), c, 'made', 201);
}, { body: true });
op('list production', 'GET', '/productions', (c) => answerList(c.question, c));
op('read production', 'GET', '/productions/{id}', (c) => readRow('production', seen('production', c.ids.id, c.who), c));
op('update production', 'PATCH', '/productions/{id}', (c) => {
  const row = seen('production', c.ids.id, c.who);
  ifMatch(c, 'production', row, true);
  const fields = readBody('production', c.body, { how: 'update', row, ...c });
  if (!tables.troupe.has(fields.troupe)) no('dangling');
  if (!(f('st-running-is-changed') ? ['draft', 'rehearsing', 'running'] : ['draft', 'rehearsing']).includes(row.stage)) no('wrong_moment');
  return showRow('production', revise('production', row.id, row, fields, 'production.changed'), c, 'update');
}, { body: true, patch: true });
op('delete production', 'DELETE', '/productions/{id}', (c) => {
  const row = seen('production', c.ids.id, c.who);
  lead(row, c.who, 'not_a_lead');
  ifMatch(c, 'production', row, false);
  if (!['draft', 'closed', 'cancelled'].includes(row.stage)) no('wrong_moment');
  for (const cue of cuesOf(row.id)) if (!f('res-cues-stay')) cutCue(cue, f('ev-cascade-is-silent'));
  for (const loan of rowsOf('loan', 'production', row.id)) drop('loan', loan.id);
  drop('production', row.id);
  return gone();
});
for (const name of ['rehearse', 'premiere', 'close', 'cancel'])
  op(`${name} production`, 'POST', `/productions/{id}/${name}`, (c) => {
    const row = seen('production', c.ids.id, c.who);
    if (name !== 'rehearse' && !(f('auth-players-cancel') && name === 'cancel')) lead(row, c.who, f('err-lead-unnamed') ? 'not_yours' : 'not_a_lead');
    guard('production', name, row);
    return showRow('production', move('production', name, row), c, 'move');
  });

op('create cue', 'POST', '/productions/{production}/cues', (c) => {
  const production = seen('production', c.ids.production, c.who);
  return showRow('cue', writeCue(readBody('cue', c.body, { how: 'create', bound: { production: production.id }, ...c }), production.troupe), c, 'made', 201);
}, { body: true });
op('list cue', 'GET', '/productions/{production}/cues', (c) => {
  const production = f('auth-parent-unasked') ? tables.production.get(c.ids.production) ?? no('not_here') : seen('production', c.ids.production, c.who);
  return answerList(c.question, c, { within: (cue) => cue.production === production.id });
});
op('read cue', 'GET', '/cues/{id}', (c) => readRow('cue', seen('cue', c.ids.id, c.who), c));
op('update cue', 'PATCH', '/cues/{id}', (c) => {
  const row = seen('cue', c.ids.id, c.who);
  ifMatch(c, 'cue', row, false);
  return showRow('cue', revise('cue', row.id, row, readBody('cue', c.body, { how: 'update', row, ...c }), 'cue.written'), c, 'update');
}, { body: true, patch: true });
op('delete cue', 'DELETE', '/cues/{id}', (c) => {
  cutCue(seen('cue', c.ids.id, c.who));
  return gone();
});

op('create prop', 'POST', '/props', (c) => {
  const fields = readBody('prop', c.body, { how: 'create', ...c });
  if (tables.prop.has(fields.code) && !f('res-code-taken-over')) no('taken');
  return showRow('prop', add('prop', fields.code, fields), c, 'made', 201);
}, { body: true });
op('list prop', 'GET', '/props', (c) => answerList(c.question, c));
op('read prop', 'GET', '/props/{code}', (c) => readRow('prop', seen('prop', c.ids.code, c.who), c));
op('update prop', 'PATCH', '/props/{code}', (c) => {
  const row = seen('prop', c.ids.code, c.who);
  ifMatch(c, 'prop', row, false);
  const fields = readBody('prop', c.body, { how: 'update', row, bound: { code: row.code }, refuseReadOnly: true, ...c });
  return showRow('prop', revise('prop', row.code, row, fields, 'prop.changed'), c, 'update');
}, { body: true, patch: true });
op('replace prop', 'PUT', '/props/{code}', (c) => {
  const row = seen('prop', c.ids.code, c.who);
  ifMatch(c, 'prop', row, false);
  const fields = readBody('prop', c.body, { how: 'replace', row, bound: { code: row.code }, ...c });
  return showRow('prop', revise('prop', row.code, row, fields, f('ev-put-is-silent') ? undefined : 'prop.changed'), c, 'update');
}, { body: true });
op('delete prop', 'DELETE', '/props/{code}', (c) => {
  const row = seen('prop', c.ids.code, c.who);
  if (rowsOf('loan', 'prop', row.code).some((l) => !f('res-only-lent-holds') || LENT.includes(l.status))) no('in_use');
  drop('prop', row.code);
  return gone();
});
op('list loan of prop', 'GET', '/props/{prop}/loans', (c) => {
  const prop = seen('prop', c.ids.prop, c.who);
  return answerList(c.question, c, { within: (loan) => loan.prop === prop.code });
}, { since: NEW });

op('create loan', 'POST', '/productions/{production}/loans', (c) => {
  const production = seen('production', c.ids.production, c.who);
  const fields = readBody('loan', c.body, { how: 'create', bound: { production: production.id }, ...c });
  const prop = tables.prop.get(fields.prop);
  if (!prop || !(mayRead('prop', prop, c.who) || f('auth-hidden-prop-lent'))) no('dangling');
  if (['closed', ...(f('err-cancelled-borrows') ? [] : ['cancelled'])].includes(production.stage)) no('house_dark', { keep: true });
  return showRow('loan', askLoan(fields, c.who, production, prop), c, 'made', 201);
}, { body: true });
op('list loan', 'GET', '/loans', (c) => answerList(c.question, c));
op('read loan', 'GET', '/loans/{id}', (c) => readRow('loan', seen('loan', c.ids.id, c.who), c));
for (const name of ['hand_over', 'extend', 'give_back', 'withdraw'])
  op(`${name} loan`, 'POST', `/loans/{id}/${name.replace('_', '-')}`, (c) => {
    const row = seen('loan', c.ids.id, c.who);
    if (name === 'withdraw' && row.asked_by !== c.who.id && !f('auth-anybody-withdraws')) no('not_yours');
    if (name === 'hand_over') {
      if (!isMap(c.body)) no('not_right', { spots: [spot('', 'a map')] });
      if (Object.hasOwn(c.body, 'dolly') && typeof c.body.dolly !== 'boolean') no('not_right', { spots: [spot('/dolly', 'true or false')] });
    }
    guard('loan', name, row);
    if (name === 'hand_over') {
      const heavy = tables.prop.get(row.prop)?.weight_g > (f('err-dolly-from-fifty') ? 49999 : 50000);
      if (heavy && c.body.dolly !== true) no('needs_dolly', { keep: true, headers: f('err-no-hint') ? {} : { 'Greenroom-Hint': 'dolly' } });
      if (rowsOf('loan', 'prop', row.prop).some((l) => (f('res-late-is-free') ? l.status === 'out' : LENT.includes(l.status)))) no('already_lent');
    }
    return showRow('loan', move('loan', name, row), c, 'move');
  }, name === 'hand_over' ? { body: 'optional' } : {});

op('create hook', 'POST', '/hooks', (c) => {
  if (f('lim-refusals-use-quota')) useQuota(c.who);
  const fields = readBody('hook', c.body, { how: 'create', ...c });
  quota(c.who);
  const id = `hk_${random(16)}`;
  const row = add('hook', id, { id, owner: c.who.id, ...fields, secret: randomBytes(32).toString('base64'), $maker: { user: c.who.user, id: c.who.id }, $edition: c.edition });
  return showRow('hook', row, c, 'made', 201);
}, { body: true });
op('list hook', 'GET', '/hooks', (c) => answerList(c.question, c));
op('read hook', 'GET', '/hooks/{id}', (c) => readRow('hook', seen('hook', c.ids.id, c.who), c));
op('update hook', 'PATCH', '/hooks/{id}', (c) => {
  const row = seen('hook', c.ids.id, c.who);
  return showRow('hook', revise('hook', row.id, row, readBody('hook', c.body, { how: 'update', row, ...c })), c, 'update');
}, { body: true, patch: true });
op('delete hook', 'DELETE', '/hooks/{id}', (c) => {
  drop('hook', seen('hook', c.ids.id, c.who).id);
  return gone();
});
op('stream events', 'GET', '/happenings', undefined, { stream: true });

if (f('functions-no-extend')) delete ops['extend loan'];
if (f('functions-no-cut')) delete ops['delete cue'];

// ------------------------------------------------------------------ attempts (idempotency keys)

const attempts = new Map();
function keyed(call, operation, work) {
  const key = operation.method === 'POST' ? call.headers['attempt-key'] : undefined;
  if (key === undefined) return change(work);
  const name = JSON.stringify([f('end-attempts-shared') ? '' : `${call.who.user} ${call.who.id}`, f('end-attempt-any-operation') ? '' : operation.name, key]);
  const print = createHash('sha256').update(JSON.stringify([call.path, call.search, f('ver-attempt-any-edition') ? '' : call.edition, operation.body && !f('end-attempt-body-unread') ? call.text : ''])).digest('hex');
  const old = attempts.get(name);
  if (old && clock() < old.at + (f('end-attempt-one-hour') ? HOUR : 12 * HOUR)) {
    if (old.print !== print) no('other_attempt');
    if (old.oops) throw old.oops;
    return old.answer;
  }
  const keep = (more) => attempts.set(name, { print, at: clock(), ...more });
  try {
    const answer = change(work);
    const body = { ...answer.body };
    if (!f('end-secret-again')) delete body.secret;
    keep({ answer: { ...answer, ...(answer.body && { body }) } });
    return answer;
  } catch (error) {
    if (error instanceof Oops && error.keep && !f('end-own-errors-forgotten')) keep({ oops: error });
    throw error;
  }
}

// ------------------------------------------------------------------ the stream

function openStream(req, res, call, headers) {
  const mine = [...streams].filter((s) => s.who === call.who);
  if (mine.length >= 32) no('slow_down');
  res.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  if (call.method === 'HEAD') return res.end();
  res.flushHeaders();
  const write = (event) => {
    if (!mayHear(event, call.who) && !f('ev-stream-for-all')) return;
    res.write(`id: ${event.id}\n${f('ev-stream-nameless') ? '' : `event: ${event.kind}\n`}data: ${envelope(event, call.who.user, call.edition)}\n\n`);
  };
  const stream = { who: call.who, offer: write };
  streams.add(stream);
  const beat = setInterval(() => res.write(': still here\n\n'), 15 * SEC);
  res.on('close', () => {
    clearInterval(beat);
    streams.delete(stream);
  });
  const last = call.headers['last-event-id'];
  if (last === undefined) return;
  const kept = told.filter((event) => event.at >= clock() - KEEP);
  const at = kept.findIndex((event) => event.id === last);
  for (const event of kept.slice(at < 0 ? 0 : at + (f('ev-stream-last-again') ? 0 : 1))) write(event);
}

// ------------------------------------------------------------------ requests

const SUNSET = Date.parse('2028-06-01T00:00:00Z'), DEPRECATED = Date.parse('2026-06-01T00:00:00Z');
const BASE = '/gr';

function route(path, method, edition) {
  const bare = f('base-cues-bare') && path.startsWith('/cues/');
  if (!path.startsWith(`${BASE}/`) && !bare) no('no_such_place');
  if (f('base-cues-bare') && path.startsWith(`${BASE}/cues/`)) no('no_such_place');
  const parts = (bare ? path : path.slice(BASE.length)).split('/').slice(1);
  const fitting = Object.values(ops).filter((one) => {
    if (one.since && edition === OLD && !f('ver-new-place-in-old')) return false;
    return one.parts.length === parts.length && one.parts.every((p, i) => (p.startsWith('{') ? parts[i] !== '' : p === parts[i]));
  });
  if (fitting.length === 0) no('no_such_place');
  const methods = [...new Set(fitting.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]))), 'OPTIONS'];
  if (method === 'OPTIONS') return { allow: methods };
  const found = fitting.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (!found) no('no_such_way', { headers: f('err-no-allow') ? {} : { Allow: methods.join(', ') } });
  const ids = {};
  found.parts.forEach((p, i) => {
    if (!p.startsWith('{')) return;
    try {
      ids[p.slice(1, -1)] = decodeURIComponent(parts[i]);
    } catch {
      ids[p.slice(1, -1)] = '\0';
    }
  });
  return { operation: found, ids };
}
function acceptable(header, type) {
  if (header === undefined || header.trim() === '') return true;
  const [family] = type.split('/');
  let best = { rank: -1, q: 0 };
  for (const one of header.split(',')) {
    const [range, ...params] = one.split(';').map((s) => s.trim().toLowerCase());
    const rank = range === type ? 2 : range === `${family}/*` ? 1 : range === '*/*' ? 0 : -1;
    const q = Number(params.find((p) => p.startsWith('q='))?.slice(2) ?? 1);
    if (rank > best.rank) best = { rank, q };
    else if (rank >= 0 && rank === best.rank) best.q = Math.max(best.q, q);
  }
  return best.rank >= 0 && best.q > 0;
}
const BODY_MAX = f('lim-body-one-less') ? 16383 : 16384;
function readAll(req) {
  return new Promise((resolve, reject) => {
    const pieces = [];
    let size = 0;
    if (Number(req.headers['content-length']) > BODY_MAX) return reject(new Oops('too_big'));
    req.on('data', (piece) => {
      size += piece.length;
      if (size > BODY_MAX) reject(new Oops('too_big'));
      else pieces.push(piece);
    });
    req.on('end', () => resolve(Buffer.concat(pieces)));
    req.on('error', () => reject(new Oops('unreadable')));
  });
}
function parseBody(call, operation, bytes) {
  const none = bytes.length === 0;
  if (none && operation.body === 'optional') return {};
  if (none) no('unreadable');
  const type = call.headers['content-type'];
  const media = type?.split(';')[0].trim().toLowerCase();
  const taken = ['application/json', ...(operation.patch ? ['application/merge-patch+json'] : [])];
  if (!taken.includes(media) && !(f('err-any-media') && media?.startsWith('text/'))) no('wrong_kind');
  if (!['', 'identity', undefined].includes(call.headers['content-encoding'])) no('wrong_kind');
  try {
    call.text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return JSON.parse(call.text);
  } catch {
    return no(f('err-broken-json-422') ? 'not_right' : 'unreadable');
  }
}

async function handle(req, call) {
  // (1) sizes
  const lines = req.rawHeaders.reduce((n, s) => n + Buffer.byteLength(s, 'latin1') + 2, 0);
  if (Buffer.byteLength(req.url) > (f('lim-longer-target') ? 2560 : 2048) || lines > 8192) no('too_big');
  // (2) route, method, version
  const edition = call.headers['greenroom-edition'];
  const named = edition === undefined ? (f('ver-default-oldest') ? OLD : NEW) : edition;
  const { operation, ids, allow } = route(call.path, call.method, named);
  if (edition !== undefined && ![OLD, NEW].includes(edition)) no('unknown_edition');
  call.edition = named;
  if (named === OLD && clock() >= SUNSET + (f('ver-sunset-a-day-late') ? DAY : 0)) no('edition_over');
  if (allow) return { status: 204, headers: { Allow: allow.join(', ') } };
  call.ids = ids;
  call.operation = operation;
  // (3) rates per address
  pace(RATES.filter((rate) => rate.per === 'address'), call);
  // (4) the caller
  if (!operation.open) {
    call.who = identify(req);
    if (!call.who && !RULES[operation.name].includes('nobody')) no('who_is_there', { headers: challenge(false) });
  }
  // (5) rates per caller
  pace(RATES.filter((rate) => rate.per === 'caller' && (!rate.on || rate.on === operation.name) && (!rate.to || rate.to === call.who?.user)), call);
  // (6) Accept, (7) parameters, (8) the user, (9) the body: in the order that the document states
  if (!acceptable(call.headers.accept, operation.stream ? 'text/event-stream' : 'application/json')) no('wrong_answer');
  if (f('err-user-before-parameters') && !operation.open) admit(operation.name, call.who);
  call.question = readQuestion(operation.name, call.query, call.edition);
  if (!operation.open) admit(operation.name, call.who);
  if (!operation.open && fromElsewhere(req)) no('not_yours');
  const bytes = await readAll(req);
  call.body = operation.body ? parseBody(call, operation, bytes) : undefined;
  call.text ??= '';
  if (operation.stream) return { stream: true };
  // the rest in one go
  return keyed(call, operation, () => operation.run(call));
}

let asked = 0;
function baseHeaders(call) {
  const headers = { 'Greenroom-Ref': call.ref, 'Greenroom-Edition': call.edition, Vary: 'Greenroom-Edition, Stage-Key, Authorization', ...paceHeaders(call) };
  if (call.edition === OLD && clock() >= DEPRECATED) {
    headers.Deprecation = `@${DEPRECATED / 1000}`;
    headers.Sunset = f('ver-sunset-as-iso') ? stamp(SUNSET) : new Date(SUNSET).toUTCString();
    headers.Link = ['<https://greenroom.example/moving>; rel="deprecation"', `<${call.target}>; rel="successor-version"`];
  }
  return headers;
}
function send400(call, error) {
  const oops = error instanceof Oops ? error : new Oops('broken');
  if (!(error instanceof Oops)) process.stderr.write(`${error?.stack ?? error}\n`);
  const status = f('err-dangling-404') && oops.code === 'dangling' ? 404 : f('err-dark-422') && oops.code === 'house_dark' ? 422 : CODES[oops.code];
  const headers = { ...baseHeaders(call), ...oops.headers, 'Greenroom-Fault': oops.code };
  if (f('end-ref-not-in-refusals')) delete headers['Greenroom-Ref'];
  if (f('err-fault-not-for-404') && status === 404) delete headers['Greenroom-Fault'];
  if (f('ver-refusals-not-deprecated')) delete headers.Deprecation;
  const body = { oops: f('err-missing-as-place') && oops.code === 'not_here' ? 'no_such_place' : oops.code, status, why: WORDS[oops.code], ref: f('err-other-ref') ? randomBytes(6).toString('hex') : call.ref, ...(oops.spots?.length && { spots: oops.spots }) };
  return { status, headers, body };
}
const server = http.createServer({ maxHeaderSize: 128 * 1024, requestTimeout: f('lim-slow-is-waited-for') ? 25 * SEC : 10 * SEC, headersTimeout: 10 * SEC, connectionsCheckingInterval: 500, keepAliveTimeout: 30 * SEC }, async (req, res) => {
  const at = req.url.indexOf('?'), path = at < 0 ? req.url : req.url.slice(0, at), search = at < 0 ? '' : req.url.slice(at + 1);
  const call = { ref: `rq-${(++asked).toString(36)}-${randomBytes(3).toString('hex')}`, method: req.method, target: req.url, path, search, query: new URLSearchParams(search), headers: req.headers, edition: NEW, paced: [], address: req.socket.remoteAddress };
  let answer;
  try {
    answer = await handle(req, call);
    if (answer.stream) return void openStream(req, res, call, baseHeaders(call));
    answer = { ...answer, headers: { ...baseHeaders(call), ...answer.headers } };
  } catch (error) {
    answer = send400(call, error);
  }
  if (res.destroyed) return;
  req.resume();
  const { status, headers, body } = answer;
  if (body === undefined) {
    res.writeHead(status, headers);
    res.end();
  } else {
    const text = JSON.stringify(body);
    res.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    res.end(req.method === 'HEAD' ? undefined : text);
  }
  arm();
});
server.setTimeout(30 * SEC);
server.keepAliveTimeoutBuffer = 0;
server.on('clientError', (error, socket) => {
  if (!socket.writable) return socket.destroy();
  const code = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : error.code === 'HPE_HEADER_OVERFLOW' ? 'too_big' : 'unreadable';
  const ref = `rq-${(++asked).toString(36)}`, body = JSON.stringify({ oops: code, status: CODES[code], why: WORDS[code], ref });
  socket.end(
    `HTTP/1.1 ${CODES[code]} ${http.STATUS_CODES[CODES[code]]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nGreenroom-Ref: ${ref}\r\nGreenroom-Fault: ${code}\r\nConnection: close\r\n\r\n${body}`,
  );
});
server.listen(Number(argument('port') ?? 8080), '127.0.0.1');

// ------------------------------------------------------------------ the door to the clock

function duration(text) {
  const m = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!m || text === 'P' || text.endsWith('T')) return undefined;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((x) => Number(x ?? 0));
  const start = new Date(clock()), end = new Date(start);
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + y * 12 + mo);
  end.setUTCDate(Math.min(start.getUTCDate(), new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()));
  return end.getTime() + (w * 7 + d) * DAY + h * HOUR + mi * MIN + s * SEC;
}
if (argument('clock-port') !== undefined)
  http.createServer((req, res) => {
    let text = '';
    req.on('data', (piece) => (text += piece));
    req.on('end', () => {
      const say = (status, body) => {
        res.writeHead(status, { 'Content-Type': 'application/json' });
        res.end(JSON.stringify(body));
      };
      if (req.method === 'GET') return say(200, { now: stamp() });
      let to;
      try {
        const body = JSON.parse(text);
        if (typeof body.advance === 'string' && req.method === 'POST') to = duration(body.advance);
        else if (req.method === 'POST' && /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(body.now)) to = Date.parse(body.now);
      } catch {}
      if (to === undefined || Number.isNaN(to)) return say(400, { why: 'advance or now' });
      if (to < clock() - (to === undefined ? 0 : 0)) return say(422, { why: 'the clock goes forward' });
      moveClock(to);
      // What was begun may need a moment to leave.
      setTimeout(() => say(200, { now: stamp() }), 20);
    });
  }).listen(Number(argument('clock-port')), '127.0.0.1');
