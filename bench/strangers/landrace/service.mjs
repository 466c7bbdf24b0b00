// Landrace, a seed exchange. All that it knows is folded from one list of events (`journal`); nothing else is state.
import http from 'node:http'
import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'

const args = process.argv.slice(2)
const arg = name => { const i = args.indexOf('--' + name); return i < 0 ? undefined : args[i + 1] }
const FAULT = arg('fault')
const F = id => FAULT === id
const BASE = F('base-elsewhere') ? '/trade' : '/exchange'
const SEC = 1000, MIN = 60 * SEC, HOUR = 60 * MIN, DAY = 24 * HOUR
const sha = s => createHash('sha256').update(s).digest('hex')
const iso = ms => new Date(ms).toISOString()
const clone = v => v === undefined ? undefined : structuredClone(v)
const same = (a, b) => canon(a) === canon(b)
const canon = v => Array.isArray(v) ? '[' + v.map(canon).join(',') + ']' : v && typeof v === 'object' ? '{' + Object.keys(v).sort().map(k => JSON.stringify(k) + ':' + canon(v[k])).join(',') + '}' : JSON.stringify(v) ?? 'undefined'

// ---------------------------------------------------------------- callers
const CALLERS = [
  {"user": "grower", "id": "ada", "credential": "sd_AdaPlantsBeans0000000000000001", "scheme": "seed", "scopes": ["trade"], "attributes": {"region": "north"}},
  {"user": "grower", "id": "bo", "credential": "sd_BoSowsBarley00000000000000002x", "scheme": "seed", "scopes": ["trade"], "attributes": {"region": "south"}},
  {"user": "grower", "id": "cy", "credential": "sd_CyGrowsCabbage000000000000003y", "scheme": "seed", "scopes": [], "attributes": {"region": "north"}},
  {"user": "grower", "id": "dee", "credential": "sd_DeeDigsLeeks00000000000000004z", "scheme": "seed", "scopes": ["trade"], "attributes": {"region": "north"}},
  {"user": "curator", "id": "eve", "credential": "seal_eve:k8Jt2mQz7Rw4Xb9Vn3Lc6Hp1Sd5Gf0Ya", "scheme": "seal", "scopes": [], "attributes": {"region": "north"}},
  {"user": "curator", "id": "fay", "credential": "sd_FayKeepsTheBook0000000000005aa", "scheme": "seed", "scopes": [], "attributes": {"region": "south"}},
  {"user": "inspector", "id": "gus", "credential": "sd_GusLooksAround00000000000006bb", "scheme": "seed", "scopes": ["audit"], "attributes": {"region": "north"}},
  {"user": "inspector", "id": "hal", "credential": "sd_HalLooksElsewhere000000000007c", "scheme": "seed", "scopes": [], "attributes": {"region": "south"}},
]

// ---------------------------------------------------------------- clock
let shift = 0
let frozen = null // one change has one time
const now = () => frozen ?? Date.now() + shift

// ---------------------------------------------------------------- the journal and its fold
const journal = []
const state = { rows: {}, tombs: {}, counters: {}, rates: {}, quotas: {}, kept: {}, fired: {}, waits: new Map(), health: {}, seq: 0 }
for (const r of ['variety', 'lot', 'swap', 'sowing', 'beacon', 'entry']) { state.rows[r] = new Map(); state.tombs[r] = new Map() }
const put = (o, k, v) => { const had = Object.hasOwn(o, k), old = o[k]; o[k] = v; return () => { if (had) o[k] = old; else delete o[k] } }
const putM = (m, k, v) => { const had = m.has(k), old = m.get(k); m.set(k, v); return () => { if (had) m.set(k, old); else m.delete(k) } }
const delM = (m, k) => { const old = m.get(k), had = m.has(k); m.delete(k); return () => { if (had) m.set(k, old) } }
const fold = {
  stored: e => { const a = putM(state.rows[e.res], e.id, e.row), s = state.seq; state.seq++; return () => { a(); state.seq = s } },
  removed: e => { const a = delM(state.rows[e.res], e.id), b = e.keep ? putM(state.tombs[e.res], e.id, { row: e.row, until: e.at + e.keep }) : () => {}; return () => { b(); a() } },
  counted: e => put(state.counters, e.name, e.n),
  rated: e => put(state.rates, e.key, e.value),
  used: e => put(state.quotas, e.key, e.n),
  kept: e => put(state.kept, e.key, e.record),
  fired: e => put(state.fired, e.key, true),
  queued: e => putM(state.waits, e.delivery.key, e.delivery),
  tried: e => { const d = state.waits.get(e.key); return d ? putM(state.waits, e.key, { ...d, tries: e.tries, due: e.due }) : () => {} },
  done: e => delM(state.waits, e.key),
  health: e => put(state.health, e.id, e.value),
}
let undo = null
function happen(t, e) {
  const ev = { t, at: now(), ...e }
  const back = fold[t](ev)
  journal.push(ev)
  if (undo) undo.push(back)
}
function atomically(work) {
  const mark = journal.length
  undo = []
  frozen = now()
  try { const r = work(); undo = frozen = null; return r } catch (x) {
    const backs = undo; undo = frozen = null
    for (const b of backs.reverse()) b()
    journal.length = mark
    throw x
  }
}
const byAge = (a, b) => a.$seq - b.$seq
const all = res => [...state.rows[res].values()].sort(byAge)
const get = (res, id) => state.rows[res].get(String(id))
const next = name => { const n = (state.counters[name] ?? 0) + 1; happen('counted', { name, n }); return n }

// ---------------------------------------------------------------- refusals
class Refusal extends Error {
  constructor(code, more = {}) { super(code); this.code = code; Object.assign(this, more) }
}
const CODES = {
  garbled: [400, 'The body is no JSON.'], no_body: [400, 'A body is wanted.'], wrong_type: [415, 'That type is not taken.'], no_such_format: [406, 'That format is not made.'],
  odd_parameter: [400, 'A parameter is not as it should be.'], odd_page: [416, 'There is no such page.'], absent_field: [422, ' is missing'], strange_field: [422, ' is not known here'],
  sealed_field: [422, ' is not yours to write'], unfit: [422, 'That does not fit.'], stranger: [401, 'Who are you?'], stale_seal: [401, 'The seal is too old.'], not_your_trade: [403, 'That is for others to do.'],
  needs_scope: [403, 'A scope is lacking.'], not_yours: [403, 'That is not yours.'], not_here: [404, 'There is no such thing.'], composted: [410, 'It was deleted.'], wrong_verb: [405, 'Not by that method.'],
  dangling: [424, 'What it refers to is not there.'], rooted: [409, 'Others refer to it.'], taken: [409, 'There is one already.'], asked_already: [409, 'You asked for this already.'], wrong_season: [409, 'Not in its present state.'],
  lot_over: [409, 'The lot is gone or was never open.'], lot_short: [409, 'There is less left than was asked for.'], too_late: [409, 'The seed is on its way or the matter is closed.'], already_judged: [409, 'Its verdict stands.'],
  moved_on: [412, 'It has changed since.'], tag_wanted: [428, 'Send If-Match.'], key_spent: [422, 'The key was used for something else.'], in_hand: [409, 'It is under way.'], slow_down: [429, 'Too many requests.'], enough: [429, 'That is enough.'],
  too_bulky: [413, 'Too large.'], long_address: [414, 'The address is too long.'], long_headers: [431, 'The header is too large.'], dawdled: [408, 'It took too long.'], fallow: [503, 'Not now.'], lost_edition: [404, 'There is no such edition.'],
  past_edition: [410, 'That edition is over.'], broken: [500, 'Something broke.'], own_lot: [422, 'Nobody swaps with himself.'], not_offered: [409, 'The lot is not offered.'], over_ask: [422, 'That is more than is left.'],
  from_tomorrow: [422, 'It cannot be harvested yet.'], unripe: [409, 'The seed has not arrived.'],
}
const OWN = new Set(['own_lot', 'not_offered', 'over_ask', 'from_tomorrow', 'unripe', 'lot_over', 'lot_short', 'too_late', 'already_judged'])

// ---------------------------------------------------------------- shapes
const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
const NOCOUNTRY = new Set(['EU', 'EZ', 'UN', 'ZZ', 'UK', 'QO', 'XA', 'XB', 'XK', 'AC', 'CP', 'CQ', 'DG', 'EA', 'IC', 'TA', 'SU', 'AN', 'BU', 'CS', 'DD', 'FX', 'NT', 'TP', 'YD', 'YU', 'ZR'])
const isCountry = v => F('country-any-two-letters') ? /^[A-Z]{2}$/.test(v) : /^[A-Z]{2}$/.test(v) && !NOCOUNTRY.has(v) && regions.of(v) !== undefined
const isDate = v => { const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(v); if (!m) return false; if (F('date-february-thirtieth')) return +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= 31; const d = new Date(Date.UTC(+m[1], +m[2] - 1, +m[3])); return d.getUTCMonth() === +m[2] - 1 && d.getUTCDate() === +m[3] }
const isTime = v => /^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(v) && isDate(v.slice(0, 10))
const isUri = v => { try { return ['http:', 'https:'].includes(new URL(v).protocol) && !/\s/.test(v) } catch { return false } }
const str = (o = {}) => ({ type: 'string', ...o }), int = (o = {}) => ({ type: 'integer', ...o })
const STATES = {
  lot: ['draft', 'testing', 'offered', 'rejected', 'lapsed', 'withdrawn', 'spent'],
  swap: ['pending', 'agreed', 'shipped', 'received', 'declined', 'cancelled', 'expired', 'forfeited'],
  sowing: ['claimed', 'confirmed', 'refuted'],
}
const RO = { ro: true }
const ORIGIN = { type: 'object', closed: true, required: ['country'], properties: { country: str({ format: 'country' }), place: str({ maxLength: 60 }), since: int({ minimum: 1500, maximum: F('origin-since-2200') ? 2200 : 2100 }) } }
const PICKUP = { type: 'object', closed: true, required: ['city'], properties: { city: str({ minLength: 1, maxLength: 60 }), hint: str({ maxLength: 120 }), code: str({ pattern: '^[0-9]{4}$' }) } }
const FIELDS = {
  variety: {
    slug: str({ pattern: '^[a-z][a-z0-9-]{2,29}$', immutable: true }), name: str({ minLength: 2, maxLength: F('name-sixty-one') ? 61 : 60 }), latin: str({ maxLength: 80 }),
    kind: str({ enum: ['legume', 'brassica', 'cereal', 'allium', 'nightshade'] }),
    sow_months: { type: 'array', items: int({ minimum: F('month-zero') ? 0 : 1, maximum: 12 }), minItems: F('no-months-taken') ? 0 : 1, maxItems: 12, uniqueItems: true },
    keeps_days: int({ minimum: 30, maximum: 7300, default: F('keeps-default-365') ? 365 : 730 }), origin: ORIGIN,
    traits: { type: 'object', additional: str({ maxLength: 40 }), maxProperties: F('traits-unbounded') ? 99 : 8, properties: {} },
    registrar: RO, entered_at: RO, offers: RO,
  },
  lot: {
    id: RO, number: RO, variety: str({ ref: 'variety', immutable: true }), grower: RO, region: RO, grams: int({ minimum: 1, maximum: 5000 }), grams_left: RO,
    harvested: str({ format: 'date' }), gift: { type: 'boolean', const: true }, wants: str({ minLength: 1, maxLength: 80 }), pickup: PICKUP,
    tags: { type: 'array', items: str({ pattern: F('tag-upper-case') ? '^[A-Za-z]{2,12}$' : '^[a-z]{2,12}$' }), maxItems: F('six-tags') ? 6 : 5, uniqueItems: !F('tags-twice'), default: [] },
    keeper_note: str({ maxLength: 200, writable: ['curator'] }), germination: RO, status: RO, lapses_at: RO, made_at: RO, changed_at: RO,
  },
  swap: { id: RO, lot: str({ ref: 'lot', path: true }), turn: RO, asker: RO, giver: RO, grams: int({ minimum: 1, maximum: F('swap-501-grams') ? 501 : 500 }), word: str({ maxLength: 240, immutable: true }), status: RO, ship_by: RO, parcel: RO, closed_at: RO, asked_at: RO },
  sowing: { id: RO, swap: str({ ref: 'swap', path: true }), sower: RO, sown: int({ minimum: 1, maximum: 1000 }), sprouted: int({ minimum: 0, maximum: 1000 }), percent: RO, verdict: RO, judge: RO, told_at: RO },
  beacon: { id: RO, owner: RO, url: str({ format: 'uri', maxLength: 200 }), kinds: { type: 'array', items: str(), maxItems: 12, events: true }, label: str({ maxLength: 30, nullable: true }), lit: { type: 'boolean', default: !F('beacon-starts-dark') }, secret: RO },
}
const REQUIRED = {
  variety: ['slug', 'name', 'kind', 'sow_months'], lot: ['variety', 'grams', 'harvested'], swap: ['grams'], sowing: ['sown', 'sprouted'], beacon: ['url'],
}
const PASS = { percent: int({ minimum: 0, maximum: F('percent-over-100') ? 101 : 100 }), note: str({ maxLength: 200 }) }
const SHIP = { parcel: str({ minLength: F('parcel-three-signs') ? 3 : 4, maxLength: 30 }) }
const JUDGE = { verdict: str({ enum: ['sound', 'doubtful'] }) }
const KINDS = ['lot.offered', 'lot.rejected', 'lot.trimmed', 'lot.closed', 'lot.lapsing', 'lot.deleted', 'swap.asked', 'swap.moved', 'swap.timed_out', 'sowing.told', 'sowing.judged', 'beacon.silenced']

const kindOf = v => v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'object' ? 'object' : typeof v === 'number' ? (Number.isInteger(v) ? 'integer' : 'number') : typeof v
const brief = v => (JSON.stringify(v) ?? 'nothing').slice(0, 200)
function test(shape, v, path, out) {
  const bad = (sort, expected) => out.push({ sort, path, found: brief(v), expected })
  if (v === null && shape.nullable) return
  const t = kindOf(v)
  if (shape.type && t !== shape.type && !(F('grams-as-text') && shape.type === 'integer' && /^\d+$/.test(v))) return bad('type', shape.type)
  if ('const' in shape && v !== shape.const) return bad('value', brief(shape.const))
  if (shape.enum && !shape.enum.includes(v)) return bad('value', 'one of ' + shape.enum.join(', '))
  if (t === 'string') {
    const n = [...v].length
    if (n < (shape.minLength ?? 0)) return bad('value', `at least ${shape.minLength} characters`)
    if (n > (shape.maxLength ?? Infinity)) return bad('value', `at most ${shape.maxLength} characters`)
    if (shape.pattern && !new RegExp(shape.pattern, 'u').test(v)) return bad('value', 'a match of ' + shape.pattern)
    if (shape.format && !{ country: isCountry, date: isDate, uri: isUri, 'date-time': isTime }[shape.format](v)) return bad('value', 'a ' + shape.format)
  }
  if (t === 'integer') {
    if (v < (shape.minimum ?? -Infinity)) return bad('value', `at least ${shape.minimum}`)
    if (v > (shape.maximum ?? Infinity)) return bad('value', `at most ${shape.maximum}`)
  }
  if (t === 'array') {
    if (v.length < (shape.minItems ?? 0)) bad('value', `at least ${shape.minItems} items`)
    if (v.length > (shape.maxItems ?? Infinity)) bad('value', `at most ${shape.maxItems} items`)
    if (shape.uniqueItems && new Set(v.map(canon)).size !== v.length) bad('value', 'items that differ')
    v.forEach((x, i) => {
      test(shape.items, x, join(path, i), out)
      if (shape.events && typeof x === 'string' && !(x === '*' || KINDS.includes(x) || KINDS.some(k => k.split('.')[0] + '.*' === x)) && !F('unknown-kind-taken')) out.push({ sort: 'value', path: join(path, i), found: brief(x), expected: 'a kind of event' })
    })
  }
  if (t === 'object') {
    if (Object.keys(v).length > (shape.maxProperties ?? Infinity)) bad('value', `at most ${shape.maxProperties} members`)
    for (const [k, x] of Object.entries(v)) {
      if (Object.hasOwn(shape.properties, k)) test(shape.properties[k], x, join(path, k), out)
      else if (shape.additional) test(shape.additional, x, join(path, k), out)
      else if (shape.closed && !F('nested-unknown-taken')) out.push({ sort: 'unknown', path: join(path, k), found: brief(x), expected: 'no such field' })
    }
    for (const k of shape.required ?? []) if (!Object.hasOwn(v, k)) out.push({ sort: 'missing', path: join(path, k), found: 'nothing', expected: 'a value' })
  }
}
const join = (path, k) => F('paths-as-pointers') ? path + '/' + k : path === '' ? String(k) : path + '.' + k
function refuseInvalid(out) {
  if (!out.length) return
  const first = F('missing-named-first') ? out.at(-1) : out[0]
  const code = { missing: 'absent_field', unknown: 'strange_field', read_only: 'sealed_field' }[first.sort] ?? 'unfit'
  const told = F('only-first-violation') ? out.slice(0, 1) : out
  throw new Refusal(code, { why: ['unfit'].includes(code) ? undefined : (F('message-without-name') ? 'A field' : first.path) + CODES[code][1], places: told.map(({ path, found, expected }) => ({ in: 'body', path, found, expected })) })
}

// ---------------------------------------------------------------- editions
const SPRING = 'spring', AUTUMN = 'autumn'
const nameIn = (res, f, ed) => ed === SPRING && res === 'lot' && f === 'grams' ? 'weight' : f
const hiddenIn = (res, f, ed) => ed === SPRING && res === 'lot' && f === 'tags' && !F('spring-shows-tags')
function fieldsIn(res, ed) {
  const out = {}
  for (const [k, v] of Object.entries(FIELDS[res])) {
    if (hiddenIn(res, k, ed)) continue
    let s = v
    if (ed === SPRING && res === 'variety' && k === 'kind') s = { ...v, enum: v.enum.map(x => x === 'nightshade' ? 'tomato' : x) }
    out[nameIn(res, k, ed)] = { ...s, stored: k }
  }
  return out
}
const kindUp = (v, ed) => ed === SPRING && v === 'tomato' ? 'nightshade' : v
const kindDown = (v, ed) => ed === SPRING && v === 'nightshade' && !F('spring-kind-new') ? 'tomato' : v

// ---------------------------------------------------------------- what is seen
const spoken = ['agreed', 'shipped', 'received']
const remembered = new Map()
function derived(res, row) {
  if (F('offers-cached') && res === 'variety' && remembered.has(row.slug)) return remembered.get(row.slug)
  const d = reckoned(res, row)
  if (F('offers-cached') && res === 'variety') remembered.set(row.slug, d)
  return d
}
function reckoned(res, row) {
  if (res === 'variety') return { offers: all('lot').filter(l => l.variety === row.slug && (F('offers-count-testing') ? ['offered', 'testing'].includes(l.status) : l.status === 'offered')).length }
  if (res === 'lot') return { grams_left: row.grams - all('swap').filter(s => s.lot === row.id && (F('left-forgets-received') ? ['agreed', 'shipped'] : F('left-counts-pending') ? ['pending', ...spoken] : spoken).includes(s.status)).reduce((a, s) => a + s.grams, 0) }
  return {}
}
const left = lot => derived('lot', lot).grams_left
const ORDER = {
  variety: ['slug', 'name', 'latin', 'kind', 'sow_months', 'keeps_days', 'origin', 'traits', 'registrar', 'entered_at', 'offers'],
  lot: ['id', 'number', 'variety', 'grower', 'region', 'grams', 'grams_left', 'harvested', 'gift', 'wants', 'pickup', 'tags', 'keeper_note', 'germination', 'status', 'lapses_at', 'made_at', 'changed_at'],
  swap: ['id', 'lot', 'turn', 'asker', 'giver', 'grams', 'word', 'status', 'ship_by', 'parcel', 'closed_at', 'asked_at'],
  sowing: ['id', 'swap', 'sower', 'sown', 'sprouted', 'percent', 'verdict', 'judge', 'told_at'],
  beacon: ['id', 'owner', 'url', 'kinds', 'label', 'lit', 'secret'],
  entry: ['id', 'kind', 'of', 'about', 'actor', 'at'],
}
const INSPECTED = ['id', 'number', 'variety', 'region', 'grams', 'harvested', 'status', 'made_at']
function show(res, row, who, ed, { reveal = false } = {}) {
  const full = { ...row, ...derived(res, row) }
  const out = {}
  for (const f of ORDER[res]) {
    if (full[f] === undefined) continue
    if (res === 'lot') {
      if (f === 'keeper_note' && who?.user !== 'curator' && !(F('note-shown-to-owner') && who?.id === row.grower)) continue
      if (who?.user === 'inspector' && !INSPECTED.includes(f) && !(F('inspector-sees-grower') && f === 'grower')) continue
    }
    if (f === 'secret' && res === 'beacon' && !reveal && !F('secret-shown-again')) continue
    if (hiddenIn(res, f, ed)) continue
    let v = full[f]
    if (f === 'pickup' && !F('pickup-code-shown')) { v = { ...v }; delete v.code }
    if (res === 'variety' && f === 'kind') v = kindDown(v, ed)
    if (f === 'germination' && ed === SPRING && !F('spring-germination-whole')) v = v / 100
    out[F('spring-weight-new-name') ? f : nameIn(res, f, ed)] = v
  }
  return out
}
const tagOf = (res, row, who, ed) => {
  const seen = show(res, row, who, ed)
  return '"' + sha(canon([F('etag-any-edition') ? '' : ed, seen])).slice(0, 24) + '"'
}

// ---------------------------------------------------------------- who may
const U = (users, more = {}) => ({ to: users, ...more })
const RULES = {
  'create variety': [U(['curator'])], 'replace variety': [U(F('grower-replaces-variety') ? ['curator', 'grower'] : ['curator'])], 'delete variety': [U(['curator'])],
  'read variety': [U('anyone')], 'list variety': [U(F('varieties-need-key') ? ['grower', 'curator', 'inspector'] : 'anyone')],
  'create lot': [U(['grower'], { scopes: F('create-lot-no-scope') ? [] : ['trade'] })],
  'read lot': [U(['grower'], { if: (r, c) => r.grower === c.id || ['offered', 'spent', F('testing-lot-readable') ? 'testing' : ''].includes(r.status) }), U(['curator']), U(['inspector'], { if: (r, c) => r.region === c.region || F('inspector-all-regions') })],
  'list lot': [U(['grower'], { if: (r, c) => r.grower === c.id || ['offered', 'spent', F('drafts-in-list') ? 'draft' : ''].includes(r.status) }), U(['curator']), U(['inspector'], { if: (r, c) => r.region === c.region })],
  'pass lot': [U(['curator'])],
  'read swap': [U(['grower'], { if: (r, c) => r.asker === c.id || r.giver === c.id || F('swap-read-by-all') }), U(['curator'])],
  'create swap': [U(['grower'], { scopes: F('create-swap-no-scope') ? [] : ['trade'] })],
  'create sowing': [U(['grower'])], 'judge sowing': [U(F('grower-judges') ? ['curator', 'grower'] : ['curator'])],
  'read sowing': [U(['grower', 'curator', 'inspector'])], 'list sowing': [U(['grower', 'curator', F('inspector-no-sowings') ? '' : 'inspector'])],
  'create beacon': [U(F('inspector-makes-beacon') ? ['grower', 'curator', 'inspector'] : ['grower', 'curator'])],
  'read entry': [U(['grower'], { if: (r, c) => r.actor === c.id || F('entries-of-others') }), U(['curator']), U(['inspector'], { scopes: ['audit'] })],
}
RULES['list swap'] = RULES['lot swaps'] = [U(['grower'], { if: (r, c) => r.asker === c.id || (r.giver === c.id && !F('giver-misses-swaps')) }), U(['curator'])]
RULES['list entry'] = F('entries-without-audit') ? [...RULES['read entry'].slice(0, 2), U(['inspector'])] : RULES['read entry']
if (F('relisting-forbidden')) queueMicrotask(() => { RULES['relist lot'] = [] })
const ownLot = (r, c) => r.grower === c.id
for (const o of ['update', 'delete', 'submit', 'withdraw', 'relist']) RULES[o + ' lot'] = [U(['grower'], { if: F('others-withdraw') && o === 'withdraw' ? () => true : ownLot })]
for (const o of ['agree', 'decline', 'ship']) RULES[o + ' swap'] = [U(['grower'], { scopes: F('decline-no-scope') && o === 'decline' ? [] : ['trade'], if: (r, c) => r.giver === c.id || (F('asker-agrees') && o === 'agree') })]
for (const o of ['cancel', 'receive']) RULES[o + ' swap'] = [U(['grower'], { if: (r, c) => r.asker === c.id || (F('giver-receives') && o === 'receive') })]
for (const o of ['read', 'list', 'update', 'delete']) RULES[o + ' beacon'] = [U(['grower', 'curator'], { if: (r, c) => r.owner === c.id || (F('beacon-read-by-all') && o === 'read') })]
const forUser = (op, who) => (RULES[op] ?? []).filter(r => r.to === 'anyone' || (who && r.to.includes(who.user)))
const scoped = (rules, who) => rules.filter(r => !r.scopes || r.scopes.every(s => who.scopes.includes(s)))
const holds = (op, who, row) => scoped(forUser(op, who), who).some(r => !r.if || r.if(row, who))
const mayRead = (res, row, who) => holds('read ' + res, who, row)

// ---------------------------------------------------------------- events that are told
function tell(kind, res, row, cx, payload, before = null) {
  const id = 'evt_' + randomBytes(10).toString('hex')
  const t = now()
  if (!(F('log-misses-sowings') && kind === 'sowing.told') && !(F('log-misses-clock') && !cx.who))
    store('entry', id, { id, kind: F('log-kind-of-resource') ? res : kind, of: res, about: String(key(res, row)), actor: F('log-actor-owner') ? (row.grower ?? row.giver ?? 'clock') : cx.who?.id ?? 'clock', at: iso(t), $born: t })
  for (const b of all('beacon')) {
    if (!b.lit && !F('dark-beacon-told')) continue
    if (b.kinds && !b.kinds.some(k => k === '*' || k === kind || (k === kind.split('.')[0] + '.*' && !F('star-kinds-deaf')))) continue
    const maker = b.$maker, judged = F('closed-judged-before') && kind === 'lot.closed' ? { ...row, status: 'offered' } : before ?? row
    if (kind === 'lot.rejected' ? b.owner !== row.grower && !F('rejected-to-all') : !mayRead(res, judged, maker) && !(F('asked-to-everybody') && kind === 'swap.asked')) continue
    let about = payload(maker, b.$edition)
    if (F('event-in-autumn-always')) about = payload(maker, AUTUMN)
    const body = JSON.stringify(F('envelope-type-not-what') ? { id, type: kind, when: iso(t), about } : { id, what: kind, when: F('event-when-seconds') ? Math.floor(t / 1000) : iso(t), about })
    const one = n => happen('queued', { delivery: { key: id + '/' + b.id + (n || ''), id, kind, beacon: b.id, row: res + '/' + key(res, row), body, due: t, tries: 0, $seq: journal.length } })
    one()
    if (F('events-doubled') && kind === 'swap.moved') one('/2')
  }
}
const key = (res, row) => res === 'variety' ? row.slug : row.id
const asRow = (res, row) => (who, ed) => {
  const r = show(res, F('payload-of-before') && res === 'swap' && row.$before ? row.$before : row, who, ed)
  if (F('event-leaks-note') && row.keeper_note) r.keeper_note = row.keeper_note
  return r
}
const asId = row => () => F('closed-whole-row') ? { id: row.id } : row.id

function emitFor(op, res, before, after, cx) {
  const say = (kind, payload) => { if (!(F('cancel-untold') && op === 'cancel swap')) tell(kind, res, after ?? before, cx, payload, after ? null : before) }
  if ((op === 'pass lot' || (op === 'relist lot' && !F('relist-untold'))) && (after.status === 'offered' || (F('offered-for-rejected') && op === 'pass lot'))) say('lot.offered', asRow('lot', after))
  if (op === 'pass lot' && after.status === 'rejected') say('lot.rejected', () => ({ lot: after.id, percent: F('rejected-percent-zero') ? 0 : cx.request.percent }))
  if (op === 'update lot' && (F('trimmed-when-grown') ? after.grams !== before.grams : after.grams < before.grams)) say('lot.trimmed', () => ({ lot: after.id, was: F('trimmed-was-new') ? after.grams : before.grams, is: after.grams }))
  if (['withdraw lot', 'lapse lot', 'exhaust lot'].includes(op) && !(F('exhaust-untold') && op === 'exhaust lot')) say('lot.closed', asId(after))
  if (op === 'delete lot') say('lot.deleted', asRow('lot', before))
  if (op === 'create swap') say('swap.asked', asRow('swap', after))
  if (['agree swap', 'decline swap', 'ship swap', 'receive swap', 'cancel swap'].includes(op)) say('swap.moved', asRow('swap', { ...after, $before: before }))
  if (['expire swap', 'forfeit swap'].includes(op) && !(F('forfeit-untold') && op === 'forfeit swap')) say('swap.timed_out', asRow('swap', after))
  if (op === 'create sowing') say('sowing.told', asRow('sowing', after))
  if (op === 'judge sowing') say('sowing.judged', asRow('sowing', after))
  if (op === 'disable beacon') say('beacon.silenced', asRow('beacon', after))
}

// ---------------------------------------------------------------- changes
function store(res, id, row) {
  const old = get(res, id)
  happen('stored', { res, id: String(id), row: { ...row, $seq: old?.$seq ?? state.seq, $since: old && old.status === row.status ? old.$since : now() } })
  return get(res, id)
}
function change(op, res, before, after, cx) {
  if (res === 'lot' && !(F('changed-at-stale') && op === 'update lot')) after.changed_at = iso(now())
  const row = store(res, key(res, after), after)
  emitFor(op, res, before, row, cx)
  return row
}
const MOVES = {
  'submit lot': { from: F('submit-from-rejected') ? ['draft', 'rejected'] : ['draft'], to: () => 'testing' },
  'pass lot': {
    from: F('pass-from-draft') ? ['testing', 'draft'] : ['testing'], to: (r, q) => (F('pass-needs-more-than-60') ? q.percent > 60 : q.percent >= 60) ? 'offered' : 'rejected',
    set: (r, q) => ({ keeper_note: F('pass-forgets-note') ? r.keeper_note : q.note, germination: q.percent, lapses_at: iso(now() + (F('lapse-after-61-days') ? 61 : 60) * DAY) }),
  },
  'withdraw lot': { from: F('withdraw-lapsed') ? ['draft', 'testing', 'offered', 'lapsed'] : ['draft', 'testing', 'offered'], to: () => 'withdrawn', else: F('withdraw-plain-code') ? 'wrong_season' : 'lot_over' },
  'lapse lot': { from: ['offered'], to: () => F('lapse-into-withdrawn') ? 'withdrawn' : 'lapsed' },
  'relist lot': { from: ['lapsed'], to: () => 'offered', set: () => ({ lapses_at: iso(now() + (F('relist-60-days') ? 60 : 30) * DAY) }) },
  'exhaust lot': { from: ['offered'], to: () => 'spent', if: r => left(r) === 0 || (F('exhaust-too-early') && left(r) <= 10) },
  'agree swap': { from: ['pending'], to: () => 'agreed', if: r => left(get('lot', r.lot)) >= r.grams || F('agree-oversells'), ifElse: 'lot_short', set: () => ({ ship_by: iso(now() + (F('ship-by-four-days') ? 4 : 5) * DAY) }) },
  'decline swap': { from: F('decline-agreed') ? ['pending', 'agreed'] : ['pending'], to: () => 'declined', set: () => (F('decline-no-close') ? {} : { closed_at: iso(now()) }) },
  'cancel swap': { from: F('cancel-shipped') ? ['pending', 'agreed', 'shipped'] : F('cancel-only-pending') ? ['pending'] : ['pending', 'agreed'], to: () => 'cancelled', else: 'too_late', set: () => ({ closed_at: iso(now()) }) },
  'ship swap': { from: F('ship-before-agreed') ? ['agreed', 'pending'] : ['agreed'], to: () => 'shipped', set: (r, q) => ({ parcel: F('parcel-lower-case') ? q.parcel.toLowerCase() : q.parcel }) },
  'receive swap': { from: ['shipped'], to: () => 'received', set: () => ({ closed_at: iso(F('closed-at-asked') ? Date.now() - 90 * DAY : now()) }) },
  'expire swap': { from: ['pending'], to: () => F('expired-as-declined') ? 'declined' : 'expired', set: () => ({ closed_at: iso(now()) }) },
  'forfeit swap': { from: ['agreed'], to: () => 'forfeited', set: () => ({ closed_at: iso(now()) }) },
  'judge sowing': { from: F('judged-twice') ? STATES.sowing : ['claimed'], to: (r, q) => q.verdict === 'sound' !== F('verdicts-swapped') ? 'confirmed' : 'refuted', else: 'already_judged', set: (r, q, cx) => ({ judge: F('judge-is-sower') ? r.sower : cx.who.id }) },
}
const machineField = res => res === 'sowing' ? 'verdict' : 'status'
function mayMove(op, row) {
  const m = MOVES[op], f = machineField(op.split(' ')[1])
  if (!m.from.includes(row[f])) throw new Refusal(m.else ?? 'wrong_season')
  if (m.if && !m.if(row)) throw new Refusal(m.ifElse ?? 'wrong_season')
}
function move(op, id, cx) {
  const res = op.split(' ')[1], before = get(res, id)
  mayMove(op, before)
  const m = MOVES[op], q = cx.request ?? {}
  const after = { ...before, ...(m.set?.(before, q, cx) ?? {}), [machineField(res)]: m.to(before, q) }
  change(op, res, before, after, cx)
  const handed = { who: cx.who }
  if (op === 'withdraw lot' && !F('withdraw-leaves-pending')) for (const s of all('swap')) if (s.lot === id && (s.status === 'pending')) move('decline swap', s.id, handed)
  if (op === 'receive swap' && !F('never-spent')) { try { mayMove('exhaust lot', get('lot', before.lot)); move('exhaust lot', before.lot, F('spent-by-clock') ? {} : handed) } catch (x) { if (!(x instanceof Refusal)) throw x } }
  return get(res, id)
}
function remove(op, res, row, cx) {
  happen('removed', { res, id: String(key(res, row)), row, keep: res === 'lot' ? (F('kept-nine-days') ? 9 : 10) * DAY : 0 })
  emitFor(op, res, row, null, cx)
  if (res === 'lot' && !F('swaps-outlive-lot')) for (const s of all('swap')) if (s.lot === row.id) remove('delete swap', 'swap', s, cx)
  if (res === 'swap') for (const s of all('sowing')) if (s.swap === row.id) remove('delete sowing', 'sowing', s, cx)
  if (res === 'beacon') for (const d of [...state.waits.values()]) if (d.beacon === row.id) happen('done', { key: d.key })
}

// ---------------------------------------------------------------- what the clock does
function dues() {
  const out = []
  for (const s of state.rows.swap.values()) {
    if (s.status === 'pending') out.push({ at: s.$since + (F('expire-after-8-days') ? 8 : 7) * DAY, do: () => clockMove('expire swap', s.id) })
    if (s.status === 'agreed' && s.ship_by && !F('forfeit-never')) out.push({ at: Date.parse(s.ship_by), do: () => clockMove('forfeit swap', s.id) })
  }
  for (const l of state.rows.lot.values()) {
    if (l.status !== 'offered' || !l.lapses_at) continue
    const at = Date.parse(l.lapses_at), k = 'lapsing/' + l.id + '/' + l.lapses_at
    if (!state.fired[k]) out.push({ at: at - (F('lapsing-48h') ? 48 : 72) * HOUR, do: () => atomically(() => { happen('fired', { key: k }); tell('lot.lapsing', 'lot', l, {}, asId(l)) }) })
    out.push({ at, do: () => clockMove('lapse lot', l.id) })
  }
  for (const e of state.rows.entry.values()) { const at = e.$born + (F('entries-kept-60-days') ? 60 : 45) * DAY; out.push({ at, do: () => happen('removed', { res: 'entry', id: e.id, row: e, keep: 0 }) }) }
  for (const d of state.waits.values()) if (!flying.has(d.key) && !blocked(d)) out.push({ at: d.due, do: () => { deliver(d) } })
  return out
}
const clockMove = (op, id) => atomically(() => move(op, id, {}))
function soonest() { let best = null; for (const d of dues()) if (!best || d.at < best.at) best = d; return best }
let alarm = null
function wake() {
  clearTimeout(alarm)
  let d, n = 0
  while ((d = soonest()) && d.at <= now() && n++ < 500) d.do()
  if (d) { alarm = setTimeout(wake, Math.min(Math.max(d.at - now(), 1), 2 ** 30)); alarm.unref() }
}

// ---------------------------------------------------------------- deliveries
const flying = new Map()
function blocked(d) {
  const b = get('beacon', d.beacon)
  if (b && state.health[d.beacon]?.failing && [...flying.values()].some(f => f.beacon === d.beacon)) return true
  if (F('overtaking')) return false
  for (const o of state.waits.values()) if (o.beacon === d.beacon && o.row === d.row && o.$seq < d.$seq) return true
  return false
}
const WAITS = [10 * SEC, F('second-retry-5m') ? 5 * MIN : MIN, 10 * MIN]
function deliver(d) {
  const b = get('beacon', d.beacon)
  if (!b || (!b.lit && !F('dark-beacon-told'))) return happen('done', { key: d.key })
  const started = now()
  const ts = String(Math.floor((F('stamp-machine-time') ? Date.now() : started) / 1000))
  const id = F('new-id-each-try') && d.tries ? 'evt_' + randomBytes(10).toString('hex') : d.id
  const body = id === d.id ? d.body : d.body.replace(d.id, id)
  const mac = createHmac('sha256', b.secret).update(F('signs-without-id') ? `${ts}.${body}` : `${id}.${ts}.${body}`).digest(F('mac-in-hex') ? 'hex' : 'base64')
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'X-Furrow': `at=${ts},mac=${mac}`, 'X-Landrace-Kind': F('kind-header-family') ? d.kind.split('.')[0] : d.kind, 'X-Landrace-Event': id }
  if (F('no-event-header')) delete headers['X-Landrace-Event']
  const flight = { beacon: d.beacon, started }
  flight.done = new Promise(resolve => {
    let over = false
    const end = (status, retryAfter) => {
      if (over) return
      over = true
      clearTimeout(timer)
      flying.delete(d.key)
      req?.destroy()
      landed(d, status, retryAfter)
      resolve()
      wake()
    }
    const timer = setTimeout(() => end(0), 5 * SEC)
    flight.cut = () => end(0)
    let req
    try {
      req = http.request(new URL(b.url), { method: 'POST', headers, agent: false }, res => { res.resume(); end(res.statusCode, res.headers['retry-after']) })
      req.on('error', () => end(0))
      req.end(body)
    } catch { setImmediate(() => end(0)) }
  })
  flying.set(d.key, flight)
}
function landed(d, status, retryAfter) {
  const cur = state.waits.get(d.key)
  if (!cur) return
  const ok = F('redirect-counts') ? status >= 200 && status < 400 : status >= 200 && status < 300
  if (ok) { happen('health', { id: d.beacon, value: { failing: false } }); return happen('done', { key: d.key }) }
  const h = state.health[d.beacon], since = h?.failing ? h.since : now()
  happen('health', { id: d.beacon, value: { failing: true, since } })
  if ((status === 410 && !F('gone-not-silenced')) || now() - since >= DAY) return silence(d.beacon)
  const tries = cur.tries + 1
  if (F('no-retry') || tries > (F('two-retries-only') ? 2 : WAITS.length)) return happen('done', { key: d.key })
  let wait = WAITS[Math.min(tries, 3) - 1] * (0.8 + Math.random() * 0.4)
  if (retryAfter && !/^\d+$/.test(retryAfter)) { const t = Date.parse(retryAfter); retryAfter = t > now() ? String(Math.ceil((t - now()) / SEC)) : undefined }
  if (/^\d+$/.test(retryAfter ?? '') && !F('retry-after-unheard')) {
    wait = Math.max(wait, Math.min(+retryAfter * SEC, DAY))
    for (const o of [...state.waits.values()]) if (o.beacon === d.beacon && o.key !== d.key) happen('tried', { key: o.key, tries: o.tries, due: Math.max(o.due, now() + +retryAfter * SEC) })
  }
  happen('tried', { key: d.key, tries, due: now() + wait })
}
function silence(id) {
  atomically(() => {
    const before = get('beacon', id)
    if (!before) return
    for (const o of [...state.waits.values()]) if (o.beacon === id) happen('done', { key: o.key })
    happen('health', { id, value: { failing: false } })
    if (before.lit) change('disable beacon', 'beacon', before, { ...before, lit: false }, {})
  })
}
const sleep = ms => new Promise(r => setTimeout(r, ms))
async function settle() {
  for (let n = 0; flying.size && n < 5; n++) await Promise.race([Promise.all([...flying.values()].map(f => f.done)), sleep(n ? 300 : 700)])
}
async function moveTo(target) {
  await settle()
  for (;;) {
    const d = soonest()
    if (!d || d.at > target) { if (!flying.size) break; await cutLate(target); if (soonest()?.at <= target) continue; break }
    await cutLate(d.at)
    const again = soonest()
    if (!again || again.at > target) continue
    if (again.at > now()) shift += again.at - now()
    again.do()
    if (flying.size) await settle()
  }
  if (target > now()) shift += target - now()
  wake()
}
async function cutLate(at) { for (const f of [...flying.values()]) if (at - f.started > 5 * SEC) { f.cut(); await f.done } }

// ---------------------------------------------------------------- rates and quotas
function rates(op, who, addr) {
  const whom = who && !F('rate-by-user') ? who.user + '/' + who.id : who ? who.user : 'at ' + addr, list = [], t = now()
  const k1 = 'minute/' + whom, cost = op === 'list lot' && !F('list-lot-costs-one') ? 3 : 1, lim = F('rate-121') ? 121 : 120
  let w = state.rates[k1]
  if (!w || t >= w.end) w = { end: t + MIN, used: 0 }
  list.push({ key: k1, limit: lim, had: state.rates[k1], left: lim - w.used, cost, next: { ...w, used: w.used + cost }, after: { end: w.end, used: w.used }, renews: () => w.end - t, wait: () => w.end - t, remaining: v => lim - v.used })
  if (op === 'create swap' && who?.user === 'grower') {
    const k2 = 'asking/' + whom, cap = F('bucket-of-six') ? 6 : 8, per = (F('bucket-refills-fast') ? 60 : 600) * SEC / 6
    let b = state.rates[k2] ?? { level: cap * per, at: t }
    b = { level: Math.min(cap * per, b.level + Math.max(0, t - b.at)), at: t }
    list.push({ key: k2, limit: 6, had: state.rates[k2], left: Math.floor(b.level / per), cost: 1, next: { level: b.level - per, at: t }, after: b, renews: v => per - (v.level % per), wait: () => per - b.level, remaining: v => Math.floor(v.level / per) })
  }
  const short = list.filter(r => r.cost > r.left)
  const tell = (rs, pick) => { const s = rs.reduce((a, r) => !a || r.remaining(r[pick]) < a.remaining(a[pick]) ? r : a, null); return { limit: s.limit, left: Math.max(0, s.remaining(s[pick])) + (F('budget-left-before') && pick === 'next' ? 1 : 0), renews: Math.ceil(s.renews(s[pick]) / SEC) } }
  if (short.length) return { refused: Math.max(...short.map(r => Math.ceil(r.wait() / SEC))) || 1, told: tell(list, 'after') }
  for (const r of list) happen('rated', { key: r.key, value: r.next })
  return { told: tell(list, 'next'), back: () => { for (const r of list) happen('rated', { key: r.key, value: r.after }); return tell(list, 'after') } }
}
const dayOf = t => F('quota-local-noon') ? iso(t + 12 * HOUR).slice(0, 10) : iso(t).slice(0, 10)
function quota(op, who) {
  if (op !== 'create lot' || who.user !== 'grower') return
  const k = 'lots/' + who.id + '/' + dayOf(now()), n = state.quotas[k] ?? 0
  if (n >= (F('quota-26') || F('quota-counts-refused') ? 26 : 25)) throw new Refusal('enough', { retry: F('quota-no-retry') ? undefined : Math.ceil((Date.parse(iso(now()).slice(0, 10) + 'T00:00:00Z') + DAY - now()) / SEC) })
  if (!F('quota-counts-refused')) happen('used', { key: k, n: n + 1 })
}

// ---------------------------------------------------------------- endpoints
const E = (method, path, op, more = {}) => ({ method, parts: path.split('/').slice(1), path, op, res: more.res ?? op.split(' ')[1], verb: op.split(' ')[0], ...more })
const P = {
  lot: { variety: {}, status: { split: true, enum: STATES.lot }, kind: { enum: FIELDS.variety.kind.enum }, least: { int: [1, 5000] }, tag: { deny: 'inspector', pattern: /^[a-z]{2,12}$/ }, mine: { bool: true }, sort: { enum: ['heft', '-heft', 'age', '-age'] }, way: { enum: ['asc', 'desc'] } },
}
const ENDPOINTS = [
  E('POST', '/varieties', 'create variety', { body: 'variety' }),
  E('GET', '/varieties', 'list variety', { params: { kind: { kind: true }, month: { int: [1, 12] }, country: { country: true }, q: { words: true }, only: { many: true } } }),
  E('GET', '/varieties/{slug}', 'read variety', { etag: true }), E('PUT', '/varieties/{slug}', 'replace variety', { body: 'variety' }), E('DELETE', '/varieties/{slug}', 'delete variety'),
  E('POST', '/lots', 'create lot', { body: 'lot' }), E('GET', '/lots', 'list lot', { params: P.lot }), E('GET', '/lots/{id}', 'read lot', { etag: true }),
  E('PATCH', '/lots/{id}', 'update lot', { body: 'lot', patch: true, in: F('patch-testing-lot') ? ['draft', 'testing'] : ['draft'] }), E('DELETE', '/lots/{id}', 'delete lot', { in: F('delete-offered') ? ['draft', 'withdrawn', 'rejected', 'offered'] : ['draft', 'withdrawn', 'rejected'] }),
  E('POST', '/lots/{id}/submit', 'submit lot'), E('POST', '/lots/{id}/pass', 'pass lot', { shape: PASS }), E('POST', '/lots/{id}/withdraw', 'withdraw lot'),
  E('POST', '/lots/{id}/relist', 'relist lot', { since: AUTUMN }), E('POST', '/lots/{lot}/swaps', 'create swap', { body: 'swap', parent: 'lot' }), E('GET', '/lots/{lot}/swaps', 'lot swaps', { res: 'swap', verb: 'list', parent: 'lot', deprecated: true }),
  E('GET', '/swaps', 'list swap', { params: { status: { enum: STATES.swap }, role: { enum: ['open', 'closed'] }, since: { time: true } } }), E('GET', '/swaps/{id}', 'read swap', { params: { with: { enum: ['lot'] } } }),
  E('POST', '/swaps/{id}/agree', 'agree swap'), E('POST', '/swaps/{id}/decline', 'decline swap'), E('POST', '/swaps/{id}/cancel', 'cancel swap'), E('POST', '/swaps/{id}/ship', 'ship swap', { shape: SHIP }), E('POST', '/swaps/{id}/receive', 'receive swap'),
  E('POST', '/swaps/{swap}/sowings', 'create sowing', { body: 'sowing', parent: 'swap' }), E('GET', '/sowings', 'list sowing', { params: { verdict: { enum: STATES.sowing }, percent: { int: [-Infinity, Infinity] } } }),
  E('GET', '/sowings/{id}', 'read sowing'), E('POST', '/sowings/{id}/judge', 'judge sowing', { shape: JUDGE }),
  E('POST', '/beacons', 'create beacon', { body: 'beacon' }), E('GET', '/beacons', 'list beacon'), E('GET', '/beacons/{id}', 'read beacon'), E('PATCH', '/beacons/{id}', 'update beacon', { body: 'beacon', patch: true }), E('DELETE', '/beacons/{id}', 'delete beacon'),
  E('GET', '/entries', 'list entry', { params: { kind: {}, about: {} }, after: true }), E('GET', '/entries/{id}', 'read entry'),
]
const LISTPAGE = { skip: 1, take: 1 }, AFTERPAGE = { past: 1, ahead: 1, take: 1 }

function route(path) {
  if (!path.startsWith(BASE + '/')) return []
  const parts = path.slice(BASE.length + 1).split('/')
  return ENDPOINTS.filter(e => !(F('judging-unserved') && e.op === 'judge sowing') && e.parts.length === parts.length && e.parts.every((p, i) => p.startsWith('{') ? parts[i] !== '' : p === parts[i])).map(e => {
    const vars = {}
    e.parts.forEach((p, i) => { if (p.startsWith('{')) { try { vars[p.slice(1, -1)] = decodeURIComponent(parts[i]) } catch { vars[p.slice(1, -1)] = '\u0000' } } })
    return { e, vars }
  })
}

// ---------------------------------------------------------------- who calls
const challenge = bad => [`Seed realm="Landrace"${bad ? ', error="invalid_key"' : ''}`, 'Seal realm="Landrace"' + (bad ? ', error="invalid_key"' : '')]
function twice(req, name) { let n = 0; for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === name) n++; return n > 1 }
function identify(req, body) {
  const found = []
  const fail = (code = 'stranger') => { throw new Refusal(code, { challenge: challenge(true) }) }
  const auth = req.headers.authorization
  if (auth !== undefined) {
    if (twice(req, 'authorization')) fail()
    const m = /^seed (\S+)$/i.exec(auth)
    if (!m) fail()
    const c = CALLERS.find(c => c.scheme === 'seed' && (c.credential === m[1] || (F('key-case-blind') && c.credential.toLowerCase() === m[1].toLowerCase())))
    if (!c) { if (F('bad-key-is-nobody')) return null; fail() }
    found.push(c)
  }
  const seal = req.headers['x-seal'], keyId = req.headers['x-seal-key']
  if (seal !== undefined || keyId !== undefined) {
    if (seal === undefined || keyId === undefined || twice(req, 'x-seal') || twice(req, 'x-seal-key')) fail()
    const m = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(seal)
    const c = CALLERS.find(c => c.scheme === 'seal' && c.credential.split(':')[0] === keyId)
    if (!m || !c) fail()
    const tol = (F('seal-holds-ten-minutes') ? 10 : 3) * MIN, t = +m[1] * SEC
    if (t < now() - tol) fail(F('stale-seal-plain') ? 'stranger' : 'stale_seal')
    if (t > now() + tol && !F('seal-of-the-future')) fail()
    if (body.over) throw new Refusal('too_bulky')
    const target = F('seal-without-query') ? req.url.split('?')[0] : req.url
    const signs = (b) => createHmac('sha256', c.credential.slice(keyId.length + 1)).update(`${req.method} ${target}\n${m[1]}\n${sha(b)}`).digest('hex')
    const good = timingSafeEqual(Buffer.from(signs(body.bytes)), Buffer.from(m[2]))
    if (!good && !F('seal-body-unsigned')) fail()
    found.push(c)
  }
  if (!found.length) return null
  if (F('inspectors-unknown') && found[0].user === 'inspector') fail()
  if (found.some(c => c.user !== found[0].user || c.id !== found[0].id)) { if (F('two-callers-taken')) return caller(found[0]); fail() }
  const w = caller(found[0])
  w.scopes = [...new Set(found.flatMap(c => c.scopes))]
  return w
}
const caller = c => ({ id: c.id, user: c.user, scopes: c.scopes, region: c.attributes.region })

// ---------------------------------------------------------------- parameters and pages
function parameters(e, query, who, ed) {
  const odd = name => { throw new Refusal('odd_parameter', { places: [{ in: 'query', path: name, found: brief(query.get(name)), expected: 'a known parameter of a fitting value' }] }) }
  const isList = e.verb === 'list', defs = e.params ?? {}, pages = !isList ? {} : e.after ? AFTERPAGE : LISTPAGE
  const out = {}
  for (const name of new Set(query.keys())) {
    if (!Object.hasOwn(defs, name) && !Object.hasOwn(pages, name)) { if (F('unknown-parameter-passes')) continue; odd(name) }
    const vs = query.getAll(name), d = defs[name]
    if (vs.length > 1 && !d?.many && !(F('first-of-two') && d)) odd(name)
    if (!d) { out[name] = vs[0]; continue }
    const v = vs[0]
    if (d.deny && who?.user === d.deny && !F('inspector-picks-tag')) odd(name)
    if (d.split) { const xs = v.split(','); if (xs.length > 100 || xs.some(x => !d.enum.includes(x))) odd(name); out[name] = xs; continue }
    if (d.enum && !d.enum.includes(v)) odd(name)
    if (d.pattern && !d.pattern.test(v)) odd(name)
    if (d.kind) { const known = fieldsIn('variety', ed).kind.enum; if (!known.includes(v)) odd(name); out[name] = F('spring-filter-stored') ? v : kindUp(v, ed); continue }
    if (d.int) { if (!/^-?\d{1,15}$/.test(v) || +v < d.int[0] || +v > d.int[1]) odd(name); out[name] = +v; continue }
    if (d.bool) { if (!['true', 'false'].includes(v)) odd(name); out[name] = v === 'true'; continue }
    if (d.country && !isCountry(v)) odd(name)
    if (d.time) { if (!isTime(v)) odd(name); out[name] = Date.parse(v); continue }
    if (d.words) { const ws = v.split(/\s+/).filter(Boolean); if (ws.length > 16) odd(name); out[name] = ws.map(w => w.toLowerCase()); continue }
    if (d.many) {
      const paths = vs.flatMap(x => x.split(','))
      for (const p of paths) { const s = p.split('.'), top = ORDER.variety.includes(s[0]); if (!top || s.length > 2 || (s.length === 2 && !(s[0] === 'origin' && Object.hasOwn(ORIGIN.properties, s[1])) && s[0] !== 'traits')) odd(name) }
      if (paths.length > 100) odd(name)
      out[name] = paths; continue
    }
    out[name] = v
  }
  return out
}
function pageOf(e, q) {
  const bad = () => { throw new Refusal(F('page-as-parameter') ? 'odd_parameter' : 'odd_page') }
  const num = (v, lo) => { if (!/^\d{1,9}$/.test(v) || +v < lo) bad(); return +v }
  if (e.after) {
    const take = q.take === undefined ? 20 : num(q.take, 1)
    if (take > 100) { if (!F('entries-clamp')) bad() }
    if (q.past !== undefined && q.ahead !== undefined) bad()
    return { take: Math.min(take, 100), past: q.past, ahead: q.ahead }
  }
  const take = q.take === undefined ? (F('default-page-20') ? 20 : 10) : num(q.take, F('take-zero') ? 0 : 1)
  if (take > 50 && F('over-max-refused')) bad()
  return { skip: q.skip === undefined ? 0 : num(q.skip, 0), take: Math.min(take, 50) }
}

function listRows(e, q, who, ed, vars) {
  let rows = all(e.res).filter(r => holds(e.op, who, r))
  const cmp = f => (a, b) => f(a) < f(b) ? -1 : f(a) > f(b) ? 1 : 0
  const order = (f, dir, newest) => rows.sort((a, b) => dir * cmp(f)(a, b) || (newest ? b.$seq - a.$seq : a.$seq - b.$seq))
  if (e.op === 'list variety') {
    if (q.kind) rows = rows.filter(r => r.kind === q.kind)
    if (q.month) rows = rows.filter(r => F('month-first-only') ? r.sow_months[0] === q.month : r.sow_months.includes(q.month))
    if (q.country) rows = rows.filter(r => r.origin?.country === q.country)
    if (q.q) rows = rows.filter(r => { const t = [r.name, r.latin ?? ''].map(x => F('search-minds-case') ? x : x.toLowerCase()); return F('search-any-word') ? q.q.some(w => t.some(x => x.includes(w))) : q.q.every(w => t.some(x => x.includes(w))) })
    order(r => r.slug, F('varieties-backwards') ? -1 : 1)
  } else if (e.op === 'list lot') {
    if (q.variety) rows = rows.filter(r => r.variety === q.variety)
    if (q.status) rows = rows.filter(r => F('status-first-only') ? q.status[0] === r.status : q.status.includes(r.status))
    if (q.kind && !F('kind-filter-ignored')) rows = rows.filter(r => get('variety', r.variety).kind === q.kind)
    if (q.least) rows = rows.filter(r => F('least-excludes') ? r.grams > q.least : r.grams >= q.least)
    if (q.tag) rows = rows.filter(r => r.tags.includes(q.tag))
    if (q.mine && !F('mine-does-nothing')) rows = rows.filter(r => ['draft', 'testing', 'rejected', 'lapsed', 'withdrawn'].includes(r.status))
    const s = q.sort ?? '-age', desc = s.startsWith('-') !== (q.way === 'desc' && !F('way-ignored'))
    order(s.endsWith('heft') ? r => r.grams : r => r.made_at, desc ? -1 : 1, !F('ties-oldest'))
  } else if (e.op === 'lot swaps') {
    rows = rows.filter(r => r.lot === vars.lot || F('swaps-of-all-lots'))
    order(r => r.turn, 1)
  } else if (e.op === 'list swap') {
    if (q.status) rows = rows.filter(r => r.status === q.status)
    const open = ['pending', 'agreed', 'shipped']
    if (q.role) rows = rows.filter(r => open.includes(r.status) === (q.role === 'open') || (F('closed-with-shipped') && q.role === 'closed' && r.status === 'shipped'))
    if (q.since !== undefined) rows = rows.filter(r => F('since-excludes') ? Date.parse(r.asked_at) > q.since : Date.parse(r.asked_at) >= q.since)
    order(r => r.asked_at, F('swaps-oldest-first') ? 1 : -1, true)
  } else if (e.op === 'list sowing') {
    if (q.verdict) rows = rows.filter(r => r.verdict === q.verdict)
    if (q.percent !== undefined) rows = rows.filter(r => r.percent >= q.percent)
    order(r => r.percent, F('sowings-worst-first') ? 1 : -1)
  } else if (e.op === 'list entry') {
    if (q.kind !== undefined) rows = rows.filter(r => F('entry-kind-exact') ? r.kind === q.kind : r.kind.startsWith(q.kind))
    if (q.about !== undefined) rows = rows.filter(r => r.about === q.about)
    if (F('entries-newest-first')) rows.reverse()
  }
  return rows
}
function chosen(row, paths) {
  const out = {}
  for (const p of F('only-drops-slug') ? paths : ['slug', ...paths]) {
    const [a, b] = p.split('.')
    if (row[a] === undefined) continue
    if (b === undefined) out[a] = row[a]
    else if (row[a][b] !== undefined && !(a in out && Object.keys(out[a]).length === Object.keys(row[a]).length)) out[a] = { ...(out[a] ?? {}), [b]: row[a][b] }
  }
  const sorted = {}
  for (const k of Object.keys(row)) if (k in out) sorted[k] = out[k]
  return sorted
}

// ---------------------------------------------------------------- bodies
function readBody(e, req, body) {
  if (!e.body && !e.shape) return undefined
  const ct = req.headers['content-type']
  if (ct === undefined && !body.bytes.length && !body.over) throw new Refusal('no_body')
  const type = (ct ?? '').split(';')[0].trim().toLowerCase()
  if (!['application/json', ...(e.patch ? ['application/merge-patch+json'] : []), F('text-taken') ? 'text/plain' : '-'].includes(type)) throw new Refusal('wrong_type')
  if (body.over) throw new Refusal('too_bulky')
  if (!body.bytes.length) throw new Refusal('no_body')
  try { return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body.bytes)) } catch { throw new Refusal(F('garbled-as-unfit') ? 'unfit' : 'garbled') }
}
function fits(e, sent, who, ed, base, vars) {
  const out = []
  if (kindOf(sent) !== 'object') refuseInvalid([{ sort: 'type', path: '', found: brief(sent), expected: 'object' }])
  if (e.shape) {
    test({ type: 'object', closed: true, properties: e.shape, required: Object.keys(e.shape).filter(k => !(F('pass-note-optional') && k === 'note')) }, sent, '', out)
    refuseInvalid(out)
    return sent
  }
  const res = e.body, fields = fieldsIn(res, ed), row = base ? clone(base) : {}
  const given = {}
  for (const [name, v] of Object.entries(sent)) {
    const f = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!f) { if (!F('unknown-field-passes')) out.push({ sort: 'unknown', path: name, found: brief(v), expected: 'no such field' }); continue }
    if (f.ro || (f.writable && !f.writable.includes(who.user) && !F('grower-writes-note'))) { if (e.op === 'create variety' && f.ro && !F('read-only-ignored')) out.push({ sort: 'read_only', path: name, found: brief(v), expected: 'nothing' }); continue }
    if (f.path) { if (v !== vars[name]) out.push({ sort: 'value', path: name, found: brief(v), expected: 'that of the path' }); continue }
    if (e.patch && v === null && !f.nullable) {
      if (REQUIRED[res].includes(f.stored) || f.default !== undefined) { if (!F('null-clears-required')) out.push({ sort: 'value', path: name, found: 'null', expected: 'a value' }) } else given[f.stored] = null
      continue
    }
    let val = v
    if (e.patch && kindOf(v) === 'object' && f.type === 'object') val = mergePatch(F('patch-replaces-nested') ? {} : base[f.stored], v)
    if (e.op === 'replace variety' && f.stored === 'slug' && v !== base.slug) { if (!F('slug-changes')) out.push({ sort: 'value', path: name, found: brief(v), expected: 'what it is' }); continue }
    if (e.patch && f.immutable && v !== base[f.stored] && !F('variety-of-lot-changes')) { out.push({ sort: 'value', path: name, found: brief(v), expected: 'what it is' }); continue }
    test(f, val, F('paths-as-pointers') ? '/' + name : F('spring-violation-new-name') ? f.stored : name, out)
    given[f.stored] = res === 'variety' && f.stored === 'kind' ? kindUp(val, ed) : F('grams-as-text') && f.type === 'integer' ? Number(val) : clone(val)
  }
  if (!e.patch) for (const f of REQUIRED[res]) if (given[f] === undefined && !(e.op === 'replace variety' && f === 'slug') && !Object.hasOwn(sent, nameIn(res, f, ed))) out.push({ sort: 'missing', path: nameIn(res, f, ed), found: 'nothing', expected: 'a value' })
  for (const [k, v] of Object.entries(given)) { if (v === null && (!FIELDS[res][k].nullable || F('label-null-drops'))) delete row[k]; else row[k] = v }
  if (!e.patch) for (const [k, f] of Object.entries(FIELDS[res])) if (f.default !== undefined && row[k] === undefined) row[k] = F('put-keeps-default') && e.op === 'replace variety' ? get('variety', base.slug)[k] : clone(f.default)
  if (!out.length && res === 'lot' && (row.gift !== undefined) === (row.wants !== undefined) && !F('gift-and-wants')) out.push({ sort: 'value', path: 'gift', found: row.gift === undefined ? 'nothing' : 'both', expected: 'exactly one of gift and wants' })
  if (!out.length && res === 'sowing' && row.sprouted > row.sown && !F('more-sprouted')) out.push({ sort: 'value', path: 'sprouted', found: brief(row.sprouted), expected: 'no more than were sown' })
  refuseInvalid(out)
  return row
}
function mergePatch(base, p) {
  if (kindOf(p) !== 'object') return p
  const out = kindOf(base) === 'object' ? { ...base } : {}
  for (const [k, v] of Object.entries(p)) { if (v === null) delete out[k]; else out[k] = mergePatch(out[k], v) }
  return out
}

// ---------------------------------------------------------------- one exchange
function load(res, id, who) {
  const row = res === 'sowing' && F('leading-zero-found') ? get(res, String(+id)) : res === 'sowing' && !/^[1-9]\d*$/.test(id) ? undefined : get(res, id)
  if (row) { if (!mayRead(res, row, who)) throw new Refusal(F('hidden-is-forbidden') ? 'not_yours' : 'not_here'); return row }
  const tomb = state.tombs[res].get(String(id))
  if (tomb && tomb.until > now() && (mayRead(res, tomb.row, who) || F('gone-to-all')) && !F('gone-as-missing')) throw new Refusal('composted')
  throw new Refusal('not_here')
}
function matches(header, tag) {
  if (header.trim() === '*') return true
  return header.split(',').map(x => x.trim()).some(x => x === tag || (F('weak-tag-matches') && x === 'W/' + tag))
}
function act(cx) {
  const { e, vars, who, ed, req, q, sent } = cx
  const res = e.res, cxw = { who, request: sent }
  const parent = e.parent ? load(e.parent, vars[e.parent], who) : null
  const identified = !e.parent && e.parts.some(p => p.startsWith('{'))
  let row = null
  if (identified) {
    row = load(res, vars.slug ?? vars.id, who)
    if (!holds(e.op, who, row)) throw new Refusal('not_yours')
  }
  const reply = (status, body, headers = {}) => ({ status, body, headers })
  if (e.verb === 'read') {
    const body = show(res, row, who, ed)
    const headers = {}
    if (e.etag) {
      const tag = tagOf(res, row, who, ed)
      if (!F('no-etag-on-lots') || res !== 'lot') headers.ETag = tag
      if (e.op === 'read variety') headers['Cache-Control'] = F('cache-an-hour') ? 'public, max-age=3600' : 'public, max-age=120'
      const inm = req.headers['if-none-match']
      if (inm !== undefined && !F('no-304') && (inm.trim() === '*' || inm.split(',').map(x => x.trim().replace(/^W\//, '')).includes(tag))) return reply(304, undefined, headers)
    }
    if (q.with === 'lot' && !F('expand-ignored')) { const l = get('lot', row.lot); if (l && (mayRead('lot', l, who) || F('expand-leaks'))) body.lot = show('lot', l, who, ed) }
    return reply(200, body, headers)
  }
  if (e.verb === 'list') {
    const rows = listRows(e, q, who, ed, vars), p = cx.page
    const view = r => { const s = show(res, r, who, ed); return q.only ? chosen(s, q.only) : s }
    if (e.after) {
      let from = 0, to
      const at = id => { const i = rows.findIndex(r => r.id === id); if (i < 0) throw new Refusal('odd_page'); return i }
      let more
      if (p.ahead !== undefined) { to = at(p.ahead); from = Math.max(0, to - p.take); if (F('ahead-from-start')) { from = 0; to = Math.min(p.take, to) } more = from > 0 } else {
        if (p.past !== undefined) from = at(p.past) + (F('past-includes') ? 0 : 1)
        to = Math.min(rows.length, from + p.take); more = F('more-at-end') ? to <= rows.length : to < rows.length
      }
      return reply(200, { entries: rows.slice(from, to).map(view), more, form: 'slice' })
    }
    const slice = rows.slice(p.skip, p.skip + p.take)
    const body = { rows: slice.map(view), count: F('count-of-page') ? slice.length : F('count-of-all') ? state.rows[res].size : rows.length, more: p.skip + p.take < rows.length, form: 'page' }
    if (F('more-missing')) delete body.more
    if (F('form-missing')) delete body.form
    return reply(200, body)
  }
  // preconditions
  if (e.op === 'update lot' || e.op === 'replace variety') {
    const im = req.headers['if-match']
    if (im === undefined) { if (e.op === 'update lot' && !F('if-match-optional')) throw new Refusal('tag_wanted') } else if (!(F('put-ignores-if-match') && e.op === 'replace variety') && !matches(im, tagOf(res, row, who, ed))) throw new Refusal('moved_on')
  }
  // the request
  let after = null
  if (e.body || e.shape) {
    after = fits(e, sent, who, ed, e.patch ? strip(row) : e.op === 'replace variety' ? { slug: row.slug, registrar: row.registrar, entered_at: row.entered_at } : null, vars)
    if (e.body === 'lot' && after.variety !== undefined && (!row || row.variety !== after.variety) && !get('variety', after.variety)) throw new Refusal('dangling', { places: [{ in: 'body', path: 'variety', found: brief(after.variety), expected: 'a variety that is there' }] })
    if (e.op === 'create sowing' && parent.asker !== who.id && !F('giver-tells')) throw new Refusal('not_yours')
  }
  // states
  if (e.in && !e.in.includes(row.status)) throw new Refusal('wrong_season')
  if (MOVES[e.op]) { mayMove(e.op, row); const r = move(e.op, String(key(res, row)), cxw); return reply(200, show(res, r, who, ed)) }
  // the service's own errors
  if (e.op === 'create swap') {
    if (parent.grower === who.id && !F('swaps-with-himself')) throw new Refusal('own_lot')
    if (parent.status !== 'offered' && !F('spent-lot-askable')) throw new Refusal('not_offered')
    if (F('over-ask-at-equal') ? after.grams >= left(parent) : F('over-ask-of-whole') ? after.grams > parent.grams : after.grams > left(parent)) throw new Refusal('over_ask')
  }
  if (e.body === 'lot' && !(F('patch-future-harvest') && e.patch) && Date.parse(after.harvested + 'T00:00:00Z') > (F('harvest-by-machine') ? Date.now() : now())) throw new Refusal('from_tomorrow')
  if (e.op === 'create sowing' && parent.status !== 'received' && !F('sown-before-received')) throw new Refusal('unripe')
  // changes
  const t = iso(now())
  if (e.verb === 'delete') {
    if (res === 'variety' && [...all('lot'), ...(F('deleted-lot-roots') ? [...state.tombs.lot.values()].map(x => x.row) : [])].some(l => l.variety === row.slug) && !F('variety-uprooted')) throw new Refusal('rooted')
    remove(e.op, res, row, cxw)
    return reply(204)
  }
  if (e.op === 'create variety' || e.op === 'replace variety') {
    if (!row && get('variety', after.slug)) throw new Refusal('taken')
    const low = s => F('name-case-counts') ? s : s.toLowerCase()
    if (all('variety').some(v => v.slug !== (row?.slug ?? after.slug) && low(v.name) === low(after.name)) && !(F('put-takes-name') && row)) throw new Refusal('taken')
    if (!row) { after.registrar = who.id; after.entered_at = t }
    if (F('put-new-registrar') && row) after.registrar = who.id
    if (F('put-keeps-optional') && row) after = { ...strip(row), ...after }
    if (row && same(strip(row), after)) return reply(200, show(res, row, who, ed))
    const r = change(e.op, res, row, after, cxw)
    return row ? reply(200, show(res, r, who, ed)) : reply(201, show(res, r, who, ed), { Location: `${BASE}/varieties/${r.slug}` })
  }
  if (e.verb === 'update') {
    if (same(strip(row), after) && !(F('empty-patch-changes') && res === 'lot')) return reply(200, show(res, row, who, ed))
    if (F('spring-patch-loses-tags') && res === 'lot' && ed === SPRING) after.tags = []
    after = { ...after, $maker: row.$maker, $edition: row.$edition, $born: row.$born }
    for (const k of Object.keys(after)) if (after[k] === undefined) delete after[k]
    const r = change(e.op, res, row, after, cxw)
    return reply(200, show(res, r, who, ed))
  }
  let id, made
  if (res === 'lot') {
    id = 'lot_' + Array.from({ length: 12 }, () => 'abcdefghijklmnopqrstuvwxyz0123456789'[randomInt(36)]).join('')
    made = { ...after, id, number: 'L-' + String(next(F('number-per-grower') ? 'lots of ' + who.id : 'lot number')).padStart(4, '0'), grower: who.id, region: F('region-north-always') ? 'north' : who.region, status: 'draft', made_at: t }
  } else if (res === 'swap') {
    if (all('swap').some(s => s.lot === parent.id && s.asker === who.id && (F('again-after-agreed') ? ['pending'] : F('never-again') ? STATES.swap : ['pending', 'agreed', 'shipped']).includes(s.status))) throw new Refusal(F('asked-as-taken') ? 'taken' : 'asked_already')
    if (all('swap').filter(s => s.asker === who.id && (F('five-swaps-ever') || s.status === 'pending')).length >= (F('six-pending') ? 6 : 5)) throw new Refusal('enough')
    id = randomUUID()
    made = { ...after, id, lot: parent.id, turn: next(F('turn-over-all') ? 'turn' : 'turn/' + parent.id), asker: who.id, giver: parent.grower, status: 'pending', asked_at: t }
  } else if (res === 'sowing') {
    if (all('sowing').some(s => s.swap === parent.id) && !F('two-sowings')) throw new Refusal('taken')
    id = next('sowing')
    made = { ...after, id, swap: parent.id, sower: who.id, percent: F('percent-rounded') ? Math.round(after.sprouted * 100 / after.sown) : Math.floor(after.sprouted * 100 / after.sown), verdict: 'claimed', told_at: t }
  } else {
    if (all('beacon').filter(b => b.owner === who.id).length >= (F('five-beacons') ? 5 : 4)) throw new Refusal('enough')
    id = 'bcn_' + randomBytes(5).toString('hex')
    made = { ...after, id, owner: who.id, secret: 'fur_' + Array.from({ length: 28 }, () => 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'[randomInt(62)]).join(''), $maker: who, $edition: ed }
  }
  quota(e.op, who)
  const r = change(e.op, res, null, made, cxw)
  if (res === 'sowing') return reply(201, { sowing: show(res, r, who, ed), points: F('points-tenfold') ? r.percent : Math.floor(r.percent / 10) }, F('no-sowing-header') ? {} : { 'X-Sowing': String(r.id) })
  const at = { lot: 'lots', swap: 'swaps', beacon: 'beacons' }[res]
  return reply(F('swap-200') && res === 'swap' ? 200 : 201, show(res, r, who, ed, { reveal: true }), F('no-location') ? {} : { Location: `${F('no-location-base') ? '' : BASE}/${at}/${r.id}` })
}
const strip = row => { const out = {}; for (const [k, v] of Object.entries(row)) if (!k.startsWith('$')) out[k] = clone(v); return out }

const DEPRECATED = Date.parse('2026-03-01T00:00:00Z'), SUNSET = Date.parse(F('sunset-a-year-late') ? '2029-06-01T00:00:00Z' : '2028-06-01T00:00:00Z'), ENDPOINT_DEPRECATED = Date.parse('2026-05-01T00:00:00Z')
const ORIGINS = ['https://garden.landrace.example']
function serve(req, body) {
  const ticket = 'tk_' + randomBytes(9).toString('hex')
  const headers = { 'X-Ticket': ticket, Date: new Date(now()).toUTCString() }
  if (F('no-ticket-on-get') && req.method === 'GET') delete headers['X-Ticket']
  let ed = AUTUMN, e = null, who = null, rated = null, res
  const path = req.url.split('?')[0]
  try {
    if (Buffer.byteLength(req.url) > (F('url-3k') ? 3072 : 2048)) throw new Refusal('long_address')
    let size = 0
    for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4
    if (size > (F('headers-16k') ? 16384 : 8192)) throw new Refusal('long_headers')
    const found = route(path)
    if (!found.length) throw new Refusal('not_here')
    const want = req.headers.edition
    const editionOf = () => {
      if (want === undefined) { ed = F('default-spring') ? SPRING : AUTUMN; return }
      if (want !== SPRING && want !== AUTUMN) { if (F('unknown-edition-served')) return; throw new Refusal('lost_edition') }
      ed = want
      if (ed === SPRING && now() >= SUNSET && !F('never-sunset')) throw new Refusal('past_edition')
    }
    const known = x => !(x.e.since === AUTUMN && want === SPRING && !F('relist-in-spring'))
    const here = found.filter(known)
    const methods = () => [...new Set(here.flatMap(x => x.e.method === 'GET' ? ['GET', 'HEAD'] : [x.e.method]))].concat('OPTIONS').join(', ')
    if (!here.length) throw new Refusal('not_here')
    if (req.method === 'OPTIONS') {
      headers.Allow = methods()
      if (ORIGINS.includes(req.headers.origin) && req.headers['access-control-request-method']) { headers['Access-Control-Allow-Methods'] = methods(); headers['Access-Control-Allow-Headers'] = 'Authorization, Content-Type, Edition, If-Match, If-None-Match, Once-Key, X-Seal, X-Seal-Key' }
      editionOf()
      res = { status: 204, headers: {} }
    } else {
      const method = req.method === 'HEAD' ? 'GET' : req.method
      const hit = here.find(x => x.e.method === method)
      if (!hit) { if (!F('no-allow')) headers.Allow = methods(); throw new Refusal(F('wrong-verb-404') ? 'not_here' : 'wrong_verb') }
      e = hit.e
      editionOf()
      who = identify(req, body)
      if (!who && !forUser(e.op, null).length) throw new Refusal('stranger', { challenge: challenge(false) })
      rated = rates(e.op, who, req.socket.remoteAddress)
      if (rated.refused && !F('never-slowed')) throw new Refusal('slow_down', { retry: F('rate-no-retry') ? undefined : rated.refused })
      const rules = forUser(e.op, who)
      if (!rules.length) throw new Refusal(F('user-as-not-yours') ? 'not_yours' : 'not_your_trade')
      if (!scoped(rules, who).length) throw new Refusal(F('scope-as-trade') ? 'not_your_trade' : 'needs_scope')
      const accept = req.headers.accept
      if (accept !== undefined && !F('accept-ignored') && !accept.split(',').some(a => { const [t, ...ps] = a.split(';').map(x => x.trim().toLowerCase()); return ['application/json', 'application/*', '*/*'].includes(t) && !ps.some(p => /^q=0(\.0*)?$/.test(p)) })) throw new Refusal('no_such_format')
      const readParams = () => { const query = new URLSearchParams(req.url.includes('?') ? req.url.slice(req.url.indexOf('?') + 1) : ''); const q = parameters(e, query, who, ed); return { q, page: e.verb === 'list' ? pageOf(e, q) : null } }
      let sent, q, page
      if (F('body-before-parameters')) { sent = readBody(e, req, body); ({ q, page } = readParams()) } else { ({ q, page } = readParams()); sent = readBody(e, req, body) }
      const once = e.method === 'POST' ? req.headers['once-key'] : undefined
      const slot = once !== undefined && !F('keys-ignored') ? (F('keys-shared') ? e.op : who.user + '/' + who.id + ' ' + e.op) + ' ' + once : null
      const print = canon([path, req.url, F('key-any-edition') ? '' : ed, e.body || e.shape ? sent ?? null : body.bytes.toString('latin1')])
      const kept = slot && state.kept[slot]
      if (kept && now() < kept.until) {
        if (kept.print !== print && !F('key-any-body')) throw new Refusal('key_spent')
        if (kept.refused) throw new Refusal(kept.refused)
        res = clone(kept.reply)
      } else {
        const keep = r => { if (slot) happen('kept', { key: slot, record: { until: now() + (F('key-kept-a-day') ? 24 : F('key-kept-an-hour') ? 1 : 12) * HOUR, print, ...r } }) }
        if (F('quota-counts-refused') && e.op === 'create lot') { const k = 'lots/' + who.id + '/' + dayOf(now()); happen('used', { key: k, n: (state.quotas[k] ?? 0) + 1 }) }
        try {
          res = atomically(() => {
            const r = act({ e, vars: hit.vars, who, ed, req, q, page, sent })
            const saved = clone({ ...r })
            if (e.op === 'create beacon' && saved.body && !F('replay-reveals')) delete saved.body.secret
            keep({ reply: saved })
            return r
          })
        } catch (x) { if (F('number-gaps') && e.op === 'create lot') next('lot number'); if (x instanceof Refusal && (OWN.has(x.code) || F('refusals-all-replayed')) && !F('refusal-not-replayed')) keep({ refused: x.code }); throw x }
      }
      if (res.status === 304 && rated?.back && !F('counts-304')) rated.told = rated.back()
    }
  } catch (x) {
    if (!(x instanceof Refusal)) { console.error(x); x = new Refusal('broken') }
    const [status, text] = CODES[x.code]
    const refused = { name: x.code, status: F('status-in-body-500') ? 500 : status, why: x.why ?? text, ticket: F('other-ticket') ? 'tk_' + randomBytes(9).toString('hex') : ticket }
    if (x.places && !F('places-left-out')) refused.places = x.places
    res = { status: F('refused-with-200') && status === 409 ? 200 : F('invalid-is-400') && status === 422 ? 400 : status, body: F('flat-refusal') ? refused : { refused }, headers: {} }
    if (!F('no-refused-header')) res.headers['X-Refused'] = x.code
    if (x.retry) res.headers['Retry-After'] = String(x.retry)
    if (x.challenge && !F('no-challenge')) res.headers['WWW-Authenticate'] = x.challenge
  }
  Object.assign(headers, res.headers)
  if (rated && !F('no-budget')) { headers['X-Budget'] = String(rated.told.limit); headers['X-Budget-Left'] = String(rated.told.left); headers['X-Budget-Renews'] = String(F('renews-in-ms') ? rated.told.renews * 1000 : rated.told.renews) }
  if (!F('edition-not-named')) headers.Edition = ed
  headers.Vary = F('vary-forgets-edition') ? 'Authorization, X-Seal, X-Seal-Key, Origin' : 'Edition, Authorization, X-Seal, X-Seal-Key, Origin'
  if (ORIGINS.includes(req.headers.origin) || (F('any-origin') && req.headers.origin)) { headers['Access-Control-Allow-Origin'] = req.headers.origin; headers['Access-Control-Expose-Headers'] = Object.keys(headers).join(', ') }
  const old = ed === SPRING, ep = e?.deprecated && !F('endpoint-not-deprecated'), links = []
  if ((old || ep) && !F('no-deprecation')) headers.Deprecation = '@' + (F('deprecation-in-ms') ? 1000 : 1) * (old ? DEPRECATED : ENDPOINT_DEPRECATED) / SEC
  if (old) { if (!F('no-sunset-header')) headers.Sunset = new Date(SUNSET).toUTCString(); links.push('<https://landrace.example/notes/autumn>; rel="deprecation"', `<${req.url}>; rel="${F('successor-as-next') ? 'next' : 'successor-version'}"`) }
  if (ep) links.push('<https://landrace.example/notes/swaps>; rel="deprecation"')
  if (links.length && !F('no-links')) headers.Link = links.join(', ')
  let text
  if (res.body !== undefined) { text = Buffer.from(JSON.stringify(res.body)); headers['Content-Type'] = 'application/json'; headers['Content-Length'] = text.length }
  return { status: res.status, headers, text: req.method === 'HEAD' ? undefined : text }
}

const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: F('slow-body-waits') ? 0 : 10 * SEC, headersTimeout: F('slow-body-waits') ? 0 : 10 * SEC, keepAliveTimeout: 45 * SEC, keepAliveTimeoutBuffer: 0, connectionsCheckingInterval: 500 }, (req, out) => {
  const chunks = [], body = { over: false, bytes: Buffer.alloc(0) }, most = F('body-16k') ? 16384 : F('body-8191') ? 8191 : 8192
  let n = 0
  req.on('data', c => { n += c.length; if (n > most) { body.over = true; chunks.length = 0 } else chunks.push(c) })
  req.on('error', () => {})
  req.on('end', () => {
    body.bytes = Buffer.concat(chunks)
    wake()
    const r = serve(req, body)
    out.writeHead(r.status, r.headers)
    out.end(r.text)
    wake()
  })
})
server.on('clientError', (err, socket) => {
  if (!socket.writable) return socket.destroy()
  const code = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'dawdled' : err.code === 'HPE_HEADER_OVERFLOW' ? 'long_headers' : 'garbled'
  const ticket = 'tk_' + randomBytes(9).toString('hex'), [status, why] = CODES[code]
  const text = JSON.stringify({ refused: { name: code, status, why, ticket } })
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\nX-Ticket: ${ticket}\r\nX-Refused: ${code}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
})
server.listen(+arg('port'), '127.0.0.1')

// ---------------------------------------------------------------- the door of the clock
function later(t, text) {
  const m = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text)
  if (!m) return NaN
  const [y, mo, w, d, h, mi, s] = m.slice(1).map(x => +(x ?? 0))
  const at = new Date(t)
  if (y || mo) { const day = at.getUTCDate(); at.setUTCDate(1); at.setUTCMonth(at.getUTCMonth() + mo + 12 * y); at.setUTCDate(Math.min(day, new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate())) }
  return at.getTime() + w * 7 * DAY + d * DAY + h * HOUR + mi * MIN + s * SEC
}
const door = http.createServer((req, out) => {
  const chunks = []
  req.on('data', c => chunks.push(c))
  req.on('end', async () => {
    const say = (status, v) => { const t = JSON.stringify(v); out.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t) }); out.end(t) }
    if (req.method === 'GET') return say(200, { now: iso(now()) })
    let p
    try { p = JSON.parse(Buffer.concat(chunks)) } catch { return say(400, {}) }
    if (req.method !== 'POST' || kindOf(p) !== 'object' || Object.keys(p).length !== 1) return say(400, {})
    const target = typeof p.advance === 'string' ? later(now(), p.advance) : typeof p.now === 'string' && isTime(p.now) ? Date.parse(p.now) : NaN
    if (Number.isNaN(target)) return say(400, {})
    if (target < now()) return say(422, {})
    await moveTo(target)
    say(200, { now: iso(now()) })
  })
})
door.listen(+arg('clock-port'), '127.0.0.1')
