// Clay Courts: the service that service.yaml states. In memory, node:* alone.
import http from 'node:http'
import https from 'node:https'
import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { readFileSync } from 'node:fs'

const arg = (name) => { const i = process.argv.indexOf('--' + name); return i < 0 ? undefined : process.argv[i + 1] }
const fault = arg('fault')
const F = (id) => fault === id
const BASE = '/club'
const REALM = 'Clay Courts'

// ---------------------------------------------------------------- the clock
const START = Date.parse('2026-05-04T08:00:00Z')
let offset = 0
let virtual = null
const now = () => virtual ?? Math.floor(START + offset + performance.now())
const iso = (ms) => new Date(ms).toISOString()
const SEC = 1000, MIN = 60000, HOUR = 3600000, DAY = 86400000
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-](\d\d):(\d\d))$/
function instant(text) {
  const m = typeof text === 'string' ? RFC3339.exec(text) : null
  if (!m) return NaN
  const [, y, mo, d, h, mi, s] = m.map(Number)
  if (mo < 1 || mo > 12 || d < 1 || d > new Date(Date.UTC(2000, mo, 0)).getUTCDate() + (mo === 2 ? 0 : 0)) return NaN
  if (mo === 2 && d === 29 && !((y % 4 === 0 && y % 100 !== 0) || y % 400 === 0)) return NaN
  if (h > 23 || mi > 59 || s > 59 || Number(m[9] ?? 0) > 23 || Number(m[10] ?? 0) > 59) return NaN
  return Date.parse(text.toUpperCase())
}

// ---------------------------------------------------------------- identifiers
const CROCK = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
let lastUlid = { t: 0, r: 0n }
function ulid() {
  let t = now()
  if (t <= lastUlid.t) { t = lastUlid.t; lastUlid.r += 1n } else lastUlid = { t, r: BigInt('0x' + randomBytes(9).toString('hex')) }
  let out = '', x = t
  for (let i = 0; i < 10; i++) { out = CROCK[x % 32] + out; x = Math.floor(x / 32) }
  let r = lastUlid.r, tail = ''
  for (let i = 0; i < 16; i++) { tail = CROCK[Number(r & 31n)] + tail; r >>= 5n }
  return out + tail
}
const random = (n, letters) => Array.from({ length: n }, () => letters[randomInt(letters.length)]).join('')
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

// ---------------------------------------------------------------- resources
const REASONS = ['rain', 'frost', 'wind', 'repair']
const S = (o = {}) => ({ t: 'string', ...o })
const DT = (o = {}) => ({ t: 'string', fmt: 'date-time', ...o })
const RES = {
  court: { id: 'code', state: 'condition', fields: {
    code: S({ pattern: /^[a-z]{2,8}[0-9]{0,2}$/u, req: 1 }), name: S({ min: 2, max: 40, req: 1 }),
    rate_cents: { t: 'integer', min: 0, max: 20000, req: 1 }, lights: { t: 'boolean', def: false, req: 1 },
    condition: S({ ro: 1, req: 1 }), memo: S({ max: 120, visible: ['steward'], writable: ['steward'] }), booked: { t: 'integer', ro: 1, req: 1 } } },
  closure: { id: 'id', prefix: 'clo_', state: 'stage', fields: {
    id: S({ ro: 1, req: 1 }), court: S({ imm: 1, req: 1 }), reason: S({ en: REASONS, req: 1 }), until: DT({ req: 1 }), stage: S({ ro: 1, req: 1 }) } },
  booking: { id: 'id', prefix: 'bkg_', state: 'status', fields: {
    id: S({ ro: 1, req: 1 }), slip: S({ ro: 1, req: 1 }), court: S({ imm: 1, req: 1 }), holder: S({ ro: 1, req: 1 }), squad: S({ ro: 1, req: 1 }),
    starts_at: DT({ req: 1 }), hours: { t: 'integer', min: 1, max: 3, def: 1, req: 1 }, ends_at: DT({ ro: 1, req: 1 }),
    price_cents: { t: 'integer', ro: 1, req: 1 }, status: S({ ro: 1, req: 1 }) } },
  challenge: { id: 'id', prefix: 'chl_', state: 'state', fields: {
    id: S({ ro: 1, req: 1 }), ladder: S({ en: ['singles', 'doubles', 'veterans'], imm: 1, req: 1 }), number: { t: 'integer', ro: 1, req: 1 },
    challenger: S({ ro: 1, req: 1 }), opponent: S({ min: 1, max: 40, imm: 1, req: 1 }), score: S({ ro: 1 }), state: S({ ro: 1, req: 1 }) } },
  lesson: { id: 'id', prefix: 'les_', state: 'stage', keep: 10 * DAY, fields: {
    id: S({ ro: 1, req: 1 }), coach: S({ ro: 1, req: 1 }), title: S({ min: 3, max: 60, req: 1 }), starts_at: DT({ req: 1 }), ends_at: DT({ req: 1 }),
    pupil: S({ ro: 1 }), stage: S({ en: ['draft', 'offered', 'taken'], moved: 1, req: 1 }) } },
  job: { id: 'id', prefix: 'job_', state: 'status', fields: {
    id: S({ ro: 1, req: 1 }), owner: S({ ro: 1, req: 1 }), racket: S({ min: 1, max: 50, req: 1 }), tension: { t: 'integer', min: 15, max: 35, req: 1 },
    pin: S({ ro: 1, once: 1, req: 1 }), status: S({ ro: 1, req: 1 }) } },
  voucher: { id: 'id', prefix: 'gvo_', state: 'state', fields: {
    id: S({ ro: 1, req: 1 }), code: S({ ro: 1, req: 1 }), host: S({ ro: 1, req: 1 }), guest: S({ min: 1, max: 60, req: 1 }), state: S({ ro: 1, req: 1 }) } },
  hook: { id: 'id', prefix: 'hok_', fields: {
    id: S({ ro: 1, req: 1 }), owner: S({ ro: 1, req: 1 }), url: S({ fmt: 'uri', imm: 1, req: 1 }), secret: S({ ro: 1, once: 1, req: 1 }),
    topics: { t: 'array', minItems: 1, maxItems: 8 }, active: { t: 'boolean', def: true, req: 1 } } },
}
const STATES = {
  closure: ['standing', 'lifted'], court: ['playable', 'damp', 'shut'], booking: ['booked', 'playing', 'played', 'cancelled', 'missed'],
  challenge: ['issued', 'accepted', 'lapsed', 'won', 'lost'], lesson: ['draft', 'offered', 'taken'], voucher: ['issued', 'used', 'lapsed'],
}
const store = Object.fromEntries(Object.keys(RES).map((k) => [k, new Map()]))
const gone = new Map() // id of a lesson -> { row, until }
let seq = 0
const counters = new Map()
const count = (key) => { const n = (counters.get(key) ?? 0) + 1; counters.set(key, n); return n }
const booked = (code) => [...store.booking.values()].filter((b) => b.court === code && ['booked', 'playing'].concat(F('booked-counts-played') ? ['played'] : []).includes(b.status)).length

// ---------------------------------------------------------------- versions
const VERSIONS = ['2025.1', '2025.2', '2026.1']
const SUNSET = Date.parse('2027-09-30T00:00:00Z'), DEPRECATED = Date.parse('2026-01-10T00:00:00Z') / 1000
function oldName(res, field, vi) {
  if (res === 'booking' && field === 'hours' && vi < 1) return 'slots'
  if (res === 'lesson' && field === 'title' && vi < 2) return 'name'
  if (res === 'court' && field === 'lights' && vi < 2) return null
  return field
}
const newName = (res, name, vi) => Object.keys(RES[res].fields).find((f) => oldName(res, f, vi) === name)
function down(res, field, v, vi) {
  if (res === 'court' && field === 'rate_cents' && vi < 2) return v / 100
  if (res === 'closure' && field === 'reason' && vi < 1 && v === 'wind') return 'storm'
  return v
}
function reasonUp(v, vi) { return vi < 1 ? (v === 'storm' ? 'wind' : v === 'wind' ? undefined : v) : v }
const reasons = (vi) => REASONS.map((r) => down('closure', 'reason', r, vi))
function carryDown(res, row, vi, fields) {
  const out = {}
  for (const f of fields) {
    const v = row[f]
    if (v === undefined || v === null) continue
    let n = oldName(res, f, vi)
    if (F('slots-forgotten') && n === 'slots' && fields.listed) n = 'hours'
    if (n) out[n] = down(res, f, v, vi)
  }
  return out
}

// ---------------------------------------------------------------- who may do what
const own = (k) => (r, c) => r[k] === c.id
const M = ['member'], C = ['coach'], ST = ['steward'], MC = ['member', 'coach'], ALL = ['member', 'coach', 'steward']
const MATE = ['court', 'starts_at', 'ends_at', 'status']
const RULES = []
const allow = (ops, to, more = {}) => { for (const op of ops) RULES.push({ op, to, ...more }) }
allow(['list court', 'read court'], 'anyone')
allow(['upsert court', 'water court', 'roll court'], ST)
allow(['create closure', 'lift closure'], ST)
allow(['list closure'], ALL)
allow(['create booking'], M, { scopes: ['play'] })
allow(['create booking'], C)
allow(['list booking', 'read booking'], MC, { if: own('holder') })
allow(['list booking', 'read booking'], M, { if: (r, c) => r.squad === c.squad, fields: F('mate-sees-all') ? undefined : MATE })
allow(['update booking', 'cancel booking', 'start booking'], MC, { if: own('holder') })
if (F('mate-cancels')) allow(['cancel booking'], M, { if: (r, c) => r.squad === c.squad })
allow(['list booking', 'read booking', 'finish booking'], ST)
allow(['create challenge'], M, { scopes: ['play'] })
allow(['list challenge', 'read challenge'], M, { if: (r, c) => r.challenger === c.id || r.opponent === c.id })
allow(['accept challenge'], M, { if: own('opponent') })
allow(['report challenge'], M, { if: own('challenger') })
allow(['create lesson'], C)
allow(['list lesson', 'read lesson'], C)
allow(['update lesson', 'delete lesson'], C, { if: own('coach') })
allow(['list lesson', 'read lesson'], M, { if: (r) => r.stage !== 'draft' })
allow(['take lesson'], M)
allow(['create job'], MC)
allow(['read job'], MC, { if: own('owner') })
allow(['read job', 'finish job', 'collect job'], ST)
allow(['create voucher'], M, { scopes: F('guests-scope') ? [] : ['guests'] })
allow(['list voucher'], M, { if: own('host') })
allow(['list voucher', 'redeem voucher'], ST)
allow(['create hook'], ALL)
allow(['read hook', 'delete hook'], ALL, { if: own('owner') })

const bears = (rule, caller) => rule.to === 'anyone' || (caller && rule.to.includes(caller.user))
const scoped = (rule, caller) => (rule.scopes ?? []).every((s) => caller.scopes.includes(s))
const rulesFor = (op, caller) => RULES.filter((r) => r.op === op && bears(r, caller) && scoped(r, caller))
const readOp = (res) => (RULES.some((r) => r.op === 'read ' + res) ? 'read ' : 'list ') + res
const holds = (rule, row, caller) => !rule.if || rule.if(row, caller)
const mayRead = (res, row, caller) => rulesFor(readOp(res), caller).some((r) => holds(r, row, caller))
function shownFields(res, row, caller, first, rules) {
  const all = Object.keys(RES[res].fields)
  const some = new Set([RES[res].id])
  for (const r of rules) for (const f of r.fields ?? all) some.add(f)
  return all.filter((f) => some.has(f)).filter((f) => {
    const d = RES[res].fields[f]
    if (d.once && !first && !(F('pin-again') && f === 'pin')) return false
    if (d.visible && !(caller && d.visible.includes(caller.user)) && !F('memo-shown')) return false
    return true
  })
}
function show(res, row, caller, vi, { first = false, op, listed = false } = {}) {
  const rules = rulesFor(op ?? readOp(res), caller).filter((r) => holds(r, row, caller))
  const fields = shownFields(res, row, caller, first, rules)
  fields.listed = listed
  return carryDown(res, res === 'court' ? { ...row, booked: booked(row.code) } : row, vi, fields)
}

// ---------------------------------------------------------------- refusals
const CODES = {
  left_out: [F('left-out-400') ? 400 : 422, '{name} is left out'], not_a_field: [422, '{name} is no field'], unfit: [422, '{name} does not fit'],
  unreadable: [400, 'The body cannot be read.'], wrong_type: [415, 'This type is not taken.'], wrong_answer: [406, 'No such type is given.'],
  odd_parameter: [400, 'A parameter does not fit.'], who_are_you: [401, 'Show a good credential.'], not_yours: [403, 'That is not for you to do.'],
  not_there: [404, 'There is no such thing.'], was_there: [410, 'It was deleted.'], no_reference: [422, 'It refers to nothing.'],
  wrong_method: [405, 'Not by this method.'], hour_taken: [409, 'Somebody has it already.'], not_now: [409, 'Not in its state.'],
  court_is_shut: [409, 'The court is shut already.'], clay_not_ready: [409, 'The clay is not ready.'], too_late: [409, 'It is too late for that.'],
  wrong_pin: [403, 'The pin is another.'], voucher_spent: [410, 'The voucher is spent.'], in_the_past: [422, 'That hour is over.'],
  own_opponent: [422, 'Nobody challenges themself.'], tag_differs: [412, 'It has changed since.'], tag_missing: [428, 'Say If-Match.'],
  key_reused: [422, 'That key was for something else.'], key_busy: [409, 'That key is under way.'], too_often: [429, 'Slow down.'],
  used_up: [403, 'You have had your share.'], too_large: [413, 'That is too large.'], too_slow: [408, 'That took too long.'],
  edition_odd: [400, 'There is no such edition.'], edition_over: [410, 'This edition is over.'], broken: [500, 'Something broke.'],
}
const OWN = new Set(['clay_not_ready', 'too_late', 'wrong_pin', 'voucher_spent', 'in_the_past', 'own_opponent'])
class Refusal extends Error {
  constructor(code, { places, headers } = {}) { super(code); this.code = code; this.places = places; this.headers = headers ?? {} }
}
const refuse = (code, more) => { throw new Refusal(code, more) }
function faultBody(e, rid) {
  const [status, text] = CODES[e.code]
  const first = e.places?.[0]
  const say = text.replace('{name}', first ? first.path || 'body' : '')
  const places = e.places?.length ? e.places.map(({ kind, ...p }) => p) : undefined
  return { status, body: JSON.stringify({ fault: { name: e.code, http: status, say, trace: rid, places } }) }
}

// ---------------------------------------------------------------- callers
const people = JSON.parse(readFileSync(new URL('./stranger.json', import.meta.url))).callers
const creds = { card: new Map(), desk: new Map(), terminal: new Map() }
for (const p of people) {
  const key = p.scheme === 'desk' ? p.id : p.credential
  creds[p.scheme].set(key, { user: p.user, id: p.id, scopes: p.scopes, squad: p.attributes.squad, credential: p.scheme === 'desk' ? Buffer.from(p.credential, 'base64').toString() : p.credential })
}
const same = (a, b) => { const x = createHash('sha256').update(a).digest(), y = createHash('sha256').update(b).digest(); return timingSafeEqual(x, y) }
const headerCount = (req, name) => req.rawHeaders.filter((_, i) => i % 2 === 0 && req.rawHeaders[i].toLowerCase() === name).length
function challenges(schemes, bad) {
  const out = []
  if (schemes.includes('card')) out.push(`Racket realm="${REALM}"` + (bad ? ', error="invalid_key"' : ''))
  if (schemes.includes('desk')) out.push(`Basic realm="${REALM}", charset="UTF-8"`)
  if (schemes.includes('terminal')) out.push(`ApiKey realm="${REALM}", in="header", name="X-Terminal"` + (bad ? ', error="invalid_key"' : ''))
  return out.join(', ')
}
// the credentials of a request: { callers: [...], any, bad }
function lookAt(req, schemes) {
  const found = {}
  let any = false, bad = false
  const auth = req.headers.authorization
  if (auth !== undefined) {
    any = true
    const m = /^([^ ]+) +(.*)$/.exec(auth)
    const word = m ? (F('prefix-case') ? m[1].replace('Racket', 'racket').replace('Basic', 'basic') : m[1].toLowerCase()) : ''
    if (headerCount(req, 'authorization') > 1) bad = true
    else if (word === 'racket' && schemes.includes('card')) { found.card = creds.card.get(m[2].trim()); if (!found.card) bad = true }
    else if (word === 'basic' && schemes.includes('desk')) {
      const raw = m[2].trim(), text = Buffer.from(raw, 'base64').toString('utf8'), i = text.indexOf(':')
      const who = /^[A-Za-z0-9+/]+=*$/.test(raw) && i >= 0 ? creds.desk.get(text.slice(0, i)) : undefined
      if (who && same(who.credential.slice(who.credential.indexOf(':') + 1), text.slice(i + 1))) found.desk = who
      else bad = true
    } else bad = true
  }
  if (schemes.includes('terminal') && req.headers['x-terminal'] !== undefined) {
    any = true
    found.terminal = headerCount(req, 'x-terminal') > 1 ? undefined : creds.terminal.get(req.headers['x-terminal'].trim())
    if (!found.terminal) bad = true
  }
  return { found, any, bad }
}
function whoCalls(c) {
  const alternatives = c.route.accept ?? [['card'], ['desk']]
  const schemes = alternatives.flat()
  const { found, any, bad } = lookAt(c.req, schemes)
  const no = (isBad) => refuse('who_are_you', { headers: { 'WWW-Authenticate': challenges(schemes, isBad) } })
  if (bad) no(true)
  const open = RULES.some((r) => r.op === c.op && r.to === 'anyone')
  if (!any) { if (open) return null; no(false) }
  const shown = Object.values(found)
  if (shown.some((x) => x.id !== shown[0].id || x.user !== shown[0].user)) no(true)
  if (!alternatives.some((alt) => alt.every((s) => found[s] || (F('desk-alone') && s === 'terminal')))) no(false)
  c.scheme = Object.keys(found)
  const { credential, ...caller } = shown[0]
  caller.scopes = shown.flatMap((x) => x.scopes)
  if (F('coach-as-member') && caller.user === 'coach') caller.user = 'member'
  return caller
}

// ---------------------------------------------------------------- rates and quotas
const fixed = new Map(), buckets = new Map(), slides = new Map()
const JOB = { cap: F('bucket-seven') ? 7 : 6, window: HOUR }, WATER = { limit: 8, window: 10 * MIN }
function rates(c) {
  const t = now(), who = c.caller ? c.caller.user + ' ' + c.caller.id : '@' + c.req.socket.remoteAddress
  const list = []
  let w = fixed.get(who)
  if (!w || t >= w.from + MIN) { w = { from: t, n: 0 }; fixed.set(who, w) }
  list.push({ limit: 240, can: w.n < 240, wait: w.from + MIN - t, use: () => { w.n++ }, left: () => 240 - w.n, reset: () => w.from + MIN - now() })
  if (c.caller?.user === 'member' && c.op === 'create job') {
    const b = buckets.get(who) ?? { level: JOB.cap, at: t }
    const each = HOUR / 6
    b.level = Math.min(JOB.cap, b.level + (t - b.at) / each); b.at = t
    buckets.set(who, b)
    const can = b.level >= 1 - 1e-9
    list.push({ limit: 6, can, wait: (1 - b.level) * each, use: () => { b.level -= 1 }, left: () => Math.max(0, Math.floor(b.level + 1e-9)), reset: () => (Math.floor(b.level + 1e-9) + 1 - b.level) * each })
  }
  if (c.caller?.user === 'steward' && c.op === 'water court') {
    const s = (slides.get(who) ?? []).filter((x) => x.t > t - WATER.window)
    slides.set(who, s)
    const mine = { t }
    list.push({ limit: 8, can: s.length < 8, wait: s.length ? s[0].t + WATER.window - t : 0, use: () => s.push(mine), left: () => 8 - s.length,
      reset: () => (s.length ? s[0].t + WATER.window - now() : 0), back: () => { const i = s.indexOf(mine); if (i >= 0) s.splice(i, 1) } })
  }
  const over = list.filter((r) => !r.can)
  c.rates = over.length ? over : list
  if (over.length) refuse('too_often', { headers: { 'Retry-After': String(Math.max(1, Math.ceil(Math.max(...over.map((r) => r.wait)) / SEC))) } })
  for (const r of list) r.use()
}
function rateHeaders(c, status) {
  if (!c.rates) return {}
  if (status === 404 && !F('water-404-counts')) for (const r of c.rates) r.back?.()
  const strict = c.rates.reduce((a, b) => (b.left() < a.left() ? b : a))
  return { 'Club-Limit': String(strict.limit), 'Club-Left': String(Math.max(0, strict.left())), 'Club-Reset': String(Math.max(0, Math.ceil(strict.reset() / SEC))) }
}
const madrid = new Intl.DateTimeFormat('en-CA', { timeZone: F('quota-utc') ? 'UTC' : 'Europe/Madrid', year: 'numeric', month: '2-digit', day: '2-digit' })
const quotas = new Map()
function quota(c) {
  const t = now(), day = madrid.format(t), key = day + ' ' + c.caller.user + ' ' + c.caller.id
  const n = quotas.get(key) ?? 0
  if (n >= 12) {
    let lo = t, hi = t + 26 * HOUR
    while (hi - lo > 1) { const mid = Math.floor((lo + hi) / 2); if (madrid.format(mid) === day) lo = mid; else hi = mid }
    refuse('used_up', { headers: { 'Retry-After': String(Math.ceil((hi - t) / SEC)) } })
  }
  quotas.set(key, n + 1)
}

// ---------------------------------------------------------------- events
const KINDS = ['booking.made', 'booking.off', 'court.turned', 'challenge.issued', 'challenge.settled', 'lesson.offered', 'lesson.soon']
const topicFits = (topic) => topic === '*' || KINDS.includes(topic) || (topic.endsWith('.*') && KINDS.some((k) => k.startsWith(topic.slice(0, -1))))
const listens = (hook, kind) => !hook.topics || hook.topics.some((t) => t === '*' || t === kind || (t.endsWith('.*') && kind.startsWith(t.slice(0, -1))))
let deliveries = []
// what every rule for the receiver's user shows of a row
function everyRule(res, row, caller, vi) {
  const rules = rulesFor(readOp(res), caller)
  const all = Object.keys(RES[res].fields)
  let fields = shownFields(res, row, caller, false, [{}])
  for (const r of rules) if (r.fields && !F('made-unmasked')) fields = fields.filter((f) => r.fields.includes(f) || f === RES[res].id)
  void all
  return carryDown(res, row, vi, fields)
}
function emit(kind, res, row, { data, to } = {}) {
  const at = now(), ref = 'evt_' + ulid()
  for (const hook of store.hook.values()) {
    if (!hook.active || !listens(hook, kind)) continue
    const maker = hook._maker
    if (to ? !to(hook) : !mayRead(res, row, maker)) continue
    const vi = F('hook-current') ? 2 : hook._vi
    const news = data ? data : everyRule(res, row, maker, vi)
    deliveries.push({ hook, row: res + '/' + row[RES[res].id], ref, kind, body: JSON.stringify({ ref, topic: kind, at: iso(at), news }), tries: 0, due: at })
  }
  setImmediate(pump)
}
const RETRY = [10 * SEC, 2 * MIN, 20 * MIN]
const drop = (d) => { deliveries = deliveries.filter((x) => x !== d) }
function pump() {
  const t = now(), blocked = new Set()
  for (const d of [...deliveries]) {
    const hook = d.hook
    if (!store.hook.has(hook.id) || !hook.active) { drop(d); continue }
    const lane = hook.id + ' ' + d.row
    if (blocked.has(lane)) continue
    blocked.add(lane)
    if (d.busy || d.due > t || (hook._wait ?? 0) > t) continue
    if (hook._failing !== undefined && hook._busy > 0) continue
    attempt(d)
  }
  schedule()
}
function attempt(d) {
  const hook = d.hook
  d.busy = true; hook._busy = (hook._busy ?? 0) + 1
  const stamp = String(Math.floor(now() / SEC))
  const signed = F('sign-without-ref') ? `${stamp}.${d.body}` : `${d.ref}.${stamp}.${d.body}`
  const sig = createHmac('sha256', hook.secret).update(signed).digest('hex')
  let done = false
  const end = (status, retryAfter) => {
    if (done) return
    done = true; clearTimeout(timer)
    d.busy = false; hook._busy--
    const t = now()
    if (status >= 200 && status < 300) { hook._failing = undefined; drop(d); setImmediate(pump); return }
    hook._failing ??= t
    if (status === 410 || t - hook._failing >= HOUR) { hook.active = false; deliveries = deliveries.filter((x) => x.hook !== hook); return }
    const wait = RETRY[d.tries++]
    if (wait === undefined) drop(d)
    else {
      d.due = t + wait
      const ra = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * SEC : Date.parse(retryAfter ?? '') - t
      if (ra > 0) { hook._wait = t + Math.min(ra, DAY); if (hook._wait > d.due) d.due = hook._wait }
    }
    setImmediate(pump)
  }
  const timer = setTimeout(() => { end(0); try { r?.destroy() } catch {} }, 4000)
  let r
  try {
    const u = new URL(hook.url)
    r = (u.protocol === 'https:' ? https : http).request(u, { method: 'POST', agent: false, headers: {
      'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(d.body), 'Clay-Event': d.kind, 'Clay-Signature': `at=${stamp},sig=${sig}` } }, (a) => {
      end(a.statusCode, a.headers['retry-after']); a.on('error', () => {}); a.resume(); setTimeout(() => r.destroy(), 1000).unref()
    })
    r.on('error', () => end(0))
    r.end(d.body)
  } catch { end(0) }
}

// ---------------------------------------------------------------- transitions and timers
const AFTER = { court: { damp: ['dry', F('dry-thirty') ? 30 * MIN : 25 * MIN] }, booking: { playing: ['run_out', 4 * HOUR] }, challenge: { issued: ['lapse', 5 * DAY] },
  job: { strung: ['bin', 60 * DAY] }, voucher: { issued: ['lapse', 30 * DAY] } }
const CLOCKED = { dry: ['court', 'damp', 'playable'], run_out: ['booking', 'playing', 'played'], miss: ['booking', 'booked', 'missed'], elapse: ['closure', 'standing', 'lifted'], bin: ['job', 'strung', 'binned'] }
function enter(res, row, state) {
  row[RES[res].state] = state
  for (const name of ['dry', 'run_out', 'lapse', 'bin']) delete row._timers[name]
  const a = AFTER[res]?.[state]
  if (a) row._timers[a[0]] = now() + a[1]
}
function armAt(res, row) { // times in fields, once per value
  const at = (name, due) => { if (row._times[name] !== due) { row._times[name] = due; row._timers[name] = Math.max(due, now()) } }
  if (res === 'closure') at('elapse', instant(row.until))
  if (res === 'booking') at('miss', instant(F('miss-early') ? row.starts_at : row.ends_at))
  if (res === 'lesson') {
    const due = instant(row.starts_at) - (F('soon-twelve') ? 12 : 24) * HOUR
    if (!row._told.has(due)) row._timers.soon = Math.max(due, now()); else delete row._timers.soon
  }
}
function turned(before, row) {
  if (before !== row.condition || F('turned-same')) emit('court.turned', 'court', row, { data: { court: row.code, was: before, is: row.condition } })
}
function moveCourt(code, from, to, { code: refusal = 'not_now' } = {}) {
  const court = store.court.get(code)
  if (!court || !from.includes(court.condition)) refuse(refusal)
  const before = court.condition
  enter('court', court, to)
  turned(before, court)
}
function off(row) { emit('booking.off', 'booking', row, { data: { booking: row.id, court: row.court, end: row.status } }) }
function fire(res, row, name) {
  delete row._timers[name]
  if (name === 'soon') { row._told.add(instant(row.starts_at) - (F('soon-twelve') ? 12 : 24) * HOUR); emit('lesson.soon', 'lesson', row); return }
  if (name === 'lapse') { if (row.state === 'issued') enter(res, row, 'lapsed'); return }
  const [r, from, to] = CLOCKED[name]
  if (row[RES[r].state] !== from) return
  if (name === 'dry') { moveCourt(row.code, ['damp'], 'playable'); return }
  enter(r, row, to)
  if (name === 'miss' && !F('miss-silent')) off(row)
  if (name === 'elapse' && !F('elapse-stays-shut')) { try { moveCourt(row.court, ['shut'], 'playable') } catch {} }
}
function earliest(limit) {
  let best = null
  for (const res of Object.keys(store)) for (const row of store[res].values()) for (const [name, due] of Object.entries(row._timers ?? {}))
    if (due <= limit && (!best || due < best.due)) best = { due, res, row, name }
  return best
}
function runDue(target) {
  for (let i = 0; i < 1e5; i++) {
    const d = earliest(target)
    if (!d) break
    virtual = Math.max(d.due, floor); floor = virtual
    try { fire(d.res, d.row, d.name) } finally { virtual = null }
  }
  for (const [id, g] of gone) if (g.until <= target) gone.delete(id)
}
let floor = START, wake = null
function schedule() {
  clearTimeout(wake)
  const t = now()
  let next = earliest(Infinity)?.due ?? Infinity
  for (const d of deliveries) if (!d.busy) { const due = Math.max(d.due, d.hook._wait ?? 0); if (due > t) next = Math.min(next, due) }
  if (next !== Infinity) wake = setTimeout(tick, Math.min(Math.max(next - t, 5), 3600000))
}
function tick() { runDue(now()); pump() }

// ---------------------------------------------------------------- bodies
const typeOf = (v) => (v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'number' ? (Number.isInteger(v) ? 'integer' : 'number') : typeof v)
const len = (s) => [...s].length
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/
const place = (kind, path, found, expected) => ({ kind, in: 'body', path, found: String(found).slice(0, 60), expected })
const sep = F('slash-places') ? '/' : '.'
function checkValue(d, v, path) {
  const out = []
  const t = typeOf(v)
  if (d.t === 'array') {
    if (t !== 'array') return [place('type', path, t, 'array')]
    v.forEach((x, i) => {
      if (typeof x !== 'string') out.push(place('type', path + sep + i, typeOf(x), 'string'))
      else if (!topicFits(x)) out.push(place('value', path + sep + i, x, 'a kind of event'))
    })
    if (v.length < d.minItems || v.length > d.maxItems) out.push(place('value', path, v.length + ' items', `${d.minItems} to ${d.maxItems} items`))
    return out
  }
  if (t !== d.t && !(d.t === 'number' && t === 'integer')) return [place('type', path, t, d.t)]
  if (d.t === 'string') {
    if (d.en && !d.en.includes(v)) return [place('value', path, v, d.en.join(', '))]
    if ((d.min !== undefined && len(v) < d.min) || (d.max !== undefined && len(v) > d.max)) return [place('value', path, `${len(v)} characters`, `${d.min ?? 0} to ${d.max} characters`)]
    if (d.pattern && !d.pattern.test(v)) return [place('value', path, v, 'another form')]
    if (d.fmt === 'date-time' && Number.isNaN(instant(v))) return [place('value', path, v, 'a date-time')]
    if (d.fmt === 'uri') {
      let ok = URI.test(v)
      if (ok) try { const u = new URL(v); ok = ['http:', 'https:'].includes(u.protocol) && !!u.hostname } catch { ok = false }
      if (!ok) return [place('value', path, v, 'an address by http or https')]
    }
  } else if (d.min !== undefined && (v < d.min || v > d.max)) return [place('value', path, v, `${d.min} to ${d.max}`)]
  return []
}
function violations(list) {
  if (!list.length) return
  const kind = list[0].kind
  const code = kind === 'missing' ? 'left_out' : kind === 'unknown' && !F('unknown-is-unfit') ? 'not_a_field' : 'unfit'
  refuse(code, { places: list })
}
// reads a body as a change of a row: mode create | replace | update
function readChange(c, res, mode, row, bound = {}) {
  const { body, vi, caller } = c, out = {}, bad = []
  if (typeOf(body) !== 'object') violations([place('type', '', typeOf(body), 'object')])
  for (const [name, sent] of Object.entries(body)) {
    const f = newName(res, name, vi)
    if (!f) { bad.push(place('unknown', name, name, 'no such field')); continue }
    const d = RES[res].fields[f]
    if (d.ro || (d.moved && mode !== 'update') || (d.writable && !d.writable.includes(caller.user))) continue
    if (mode === 'update' && sent === null) {
      if (d.req) bad.push(place('value', name, 'null', d.t)); else out[f] = undefined
      continue
    }
    let v = sent, shape = d
    if (res === 'court' && f === 'rate_cents' && vi < 2) shape = { t: 'number' }
    if (res === 'closure' && f === 'reason' && vi < 1) shape = { ...d, en: reasons(vi) }
    let wrong = checkValue(shape, v, name)
    if (!wrong.length && shape !== d) {
      if (f === 'rate_cents') {
        if (row && row[f] / 100 === v) v = row[f]
        else { v = F('euros-floor') ? Math.floor(v * 100) : Math.sign(v) * Math.round(Math.abs(v * 100)); v = v === 0 ? 0 : v }
      } else v = reasonUp(v, vi)
      if (checkValue(d, v, name).length) wrong = [place('value', name, sent, 'a value that fits')]
    }
    if (wrong.length) { bad.push(...wrong); continue }
    if (f in bound && bound[f] !== v) { bad.push(place('value', name, v, bound[f])); continue }
    if (mode === 'update' && d.imm) {
      if (JSON.stringify(v) !== JSON.stringify(row[f])) bad.push(place('value', name, v, 'what it was'))
      continue
    }
    out[f] = v
  }
  if (mode !== 'update') {
    for (const [f, d] of Object.entries(RES[res].fields)) {
      if (f in out || d.ro || d.moved) continue
      if (f in bound) { out[f] = bound[f]; continue }
      const n = oldName(res, f, vi)
      if (!n) { if (row) out[f] = row[f]; else if (d.def !== undefined) out[f] = d.def; continue }
      if (d.def !== undefined) out[f] = d.def
      else if (d.req && !(n in body)) bad.push(place('missing', n, 'nothing', d.t))
    }
  }
  if (!bad.length && res === 'lesson') {
    const next = { ...row, ...out }
    if (instant(next.ends_at) <= instant(next.starts_at)) bad.push(place('value', 'ends_at', next.ends_at, 'a time after it starts'))
  }
  violations(bad)
  return out
}
function add(res, row) {
  row._seq = ++seq; row._timers ??= {}; row._times ??= {}; row._told ??= new Set()
  store[res].set(row[RES[res].id], row)
}

// ---------------------------------------------------------------- operations
const tag = (text) => '"' + createHash('sha256').update(text).digest('base64url').slice(0, 27) + '"'
const etagOf = (c, res, row) => tag(c.vi + ' ' + JSON.stringify(show(res, row, c.caller, c.vi)))
function load(c, res, id) {
  const row = store[res].get(id)
  if (row) { if (!mayRead(res, row, c.caller)) refuse('not_there'); return row }
  const g = res === 'lesson' ? gone.get(id) : undefined
  if (g && g.until > now() && mayRead(res, g.row, c.caller)) refuse('was_there')
  refuse('not_there')
}
function permit(c, row) { if (!rulesFor(c.op, c.caller).some((r) => holds(r, row, c.caller))) refuse('not_yours') }
function ifMatch(c, res, row, required) {
  const h = c.req.headers['if-match']
  if (h === undefined) { if (required) refuse('tag_missing'); return }
  if (!row) refuse('tag_differs')
  if (h.trim() === '*') return
  const mine = etagOf(c, res, row)
  if (!h.split(',').some((x) => x.trim() === mine)) refuse('tag_differs')
}
const shownAfter = (c, res, row, first) => (mayRead(res, row, c.caller) ? { status: 200, body: show(res, row, c.caller, c.vi, { first }), once: first ? show(res, row, c.caller, c.vi) : undefined } : { status: 204 })
function made(c, res, row, path) {
  const a = shownAfter(c, res, row, true)
  if (a.status === 200) a.status = 201
  if (path) a.headers = { Location: (F('location-bare') ? '' : BASE) + path + '/' + encodeURIComponent(row[RES[res].id]) }
  return a
}
const ends = (c, starts, hours) => {
  const t = instant(starts) + hours * HOUR
  if (t > Date.parse('9999-12-31T23:59:59.999Z')) violations([place('value', 'ends_at', starts, 'a time')])
  return iso(t)
}
const parent = (c) => { const court = store.court.get(c.params.court); if (!court) refuse('not_there'); return court }
const clash = (row, starts) => [...store.booking.values()].some((b) => b !== row && b.court === row.court && instant(b.starts_at) === instant(starts) && ['booked', 'playing'].includes(b.status))

const OPS = {
  'list court': (c) => {
    const q = c.query
    let rows = [...store.court.values()]
    if (q.condition !== undefined) rows = rows.filter((r) => r.condition === q.condition)
    if (q.text !== undefined) { const words = q.text.toLowerCase().split(/\s+/).filter(Boolean); rows = rows.filter((r) => words.every((w) => r.name.toLowerCase().includes(w))) }
    const by = q.by ?? 'name', key = by.replace(/^-/, '') === 'price' ? 'rate_cents' : 'name'
    const turn = q.way === 'desc' && !(F('way-alone') && q.by === undefined)
    const sign = (by.startsWith('-') ? -1 : 1) * (turn ? -1 : 1)
    return { rows, cmp: (a, b) => sign * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) }
  },
  'read court': (c) => ({ read: load(c, 'court', c.params.code) }),
  'upsert court': (c) => {
    const code = c.params.code, row = store.court.get(code)
    ifMatch(c, 'court', row, false)
    const idBad = !RES.court.fields.code.pattern.test(code)
    if (idBad) violations([{ kind: 'value', in: 'path', path: 'code', found: code.slice(0, 60), expected: 'another form' }])
    const next = readChange(c, 'court', 'replace', row, { code })
    if (!row) {
      const fresh = { ...next, condition: 'playable' }
      add('court', fresh)
      const a = made(c, 'court', fresh, '/courts')
      if (F('put-two-hundred')) a.status = 200
      return a
    }
    for (const f of ['name', 'rate_cents', 'lights', 'memo']) if (next[f] === undefined) delete row[f]; else row[f] = next[f]
    return shownAfter(c, 'court', row)
  },
  'water court': (c) => { const r = load(c, 'court', c.params.code); moveCourt(r.code, ['playable'], 'damp'); return shownAfter(c, 'court', r) },
  'roll court': (c) => { const r = load(c, 'court', c.params.code); moveCourt(r.code, F('roll-shut') ? ['playable', 'damp', 'shut'] : ['playable', 'damp'], 'playable'); return shownAfter(c, 'court', r) },
  'create closure': (c) => {
    const court = parent(c)
    const next = readChange(c, 'closure', 'create', undefined, { court: court.code })
    const row = { id: 'clo_' + ulid(), ...next, stage: 'standing' }
    moveCourt(court.code, ['playable', 'damp'], 'shut', { code: 'court_is_shut' })
    add('closure', row); armAt('closure', row)
    return made(c, 'closure', row)
  },
  'list closure': (c) => {
    let rows = [...store.closure.values()]
    if (c.query.court !== undefined) rows = rows.filter((r) => r.court === c.query.court)
    if (c.query.reason !== undefined) rows = rows.filter((r) => c.query.reason.includes(r.reason))
    return { rows }
  },
  'lift closure': (c) => {
    const r = load(c, 'closure', c.params.id)
    if (r.stage !== 'standing') refuse('not_now')
    enter('closure', r, 'lifted'); delete r._timers.elapse
    moveCourt(r.court, ['shut'], 'playable')
    return shownAfter(c, 'closure', r)
  },
  'create booking': (c) => {
    const court = parent(c)
    const next = readChange(c, 'booking', 'create', undefined, { court: court.code })
    const ends_at = ends(c, next.starts_at, next.hours)
    if (instant(next.starts_at) <= now()) refuse('in_the_past')
    const row = { id: 'bkg_' + ulid(), ...next, holder: c.caller.id, squad: c.caller.squad, ends_at, price_cents: (F('price-one-hour') ? 1 : next.hours) * court.rate_cents, status: 'booked' }
    if (clash(row, row.starts_at)) refuse('hour_taken')
    row.slip = 'S-' + String(count('slip')).padStart(F('slip-four') ? 4 : 5, '0')
    add('booking', row); armAt('booking', row)
    emit('booking.made', 'booking', row)
    return made(c, 'booking', row, '/bookings')
  },
  'list booking': (c) => {
    const q = c.query
    let rows = [...store.booking.values()]
    if (q.court !== undefined) rows = rows.filter((r) => r.court === q.court)
    if (q.status !== undefined) rows = rows.filter((r) => q.status.includes(r.status))
    if (q.from !== undefined) rows = rows.filter((r) => instant(r.starts_at) >= instant(q.from))
    if (q.before !== undefined) rows = rows.filter((r) => (F('before-inclusive') ? instant(r.starts_at) <= instant(q.before) : instant(r.starts_at) < instant(q.before)))
    const sign = (q.sort ?? '-starts_at').startsWith('-') ? -1 : 1
    return { rows, cmp: (a, b) => sign * (instant(a.starts_at) - instant(b.starts_at)) }
  },
  'read booking': (c) => ({ read: load(c, 'booking', c.params.id) }),
  'update booking': (c) => {
    const r = load(c, 'booking', c.params.id)
    permit(c, r)
    ifMatch(c, 'booking', r, true)
    const next = readChange(c, 'booking', 'update', r)
    const starts = next.starts_at ?? r.starts_at, hours = next.hours ?? r.hours
    const ends_at = ends(c, starts, hours)
    if (r.status !== 'booked') refuse('not_now')
    if (instant(starts) <= now()) refuse('in_the_past')
    if (clash(r, starts)) refuse('hour_taken')
    if (starts !== r.starts_at || hours !== r.hours) {
      r.starts_at = starts; r.hours = hours; if (!F('ends-stale')) r.ends_at = ends_at
      armAt('booking', r)
    }
    return shownAfter(c, 'booking', r)
  },
  'cancel booking': (c) => {
    const r = load(c, 'booking', c.params.id)
    permit(c, r)
    if (r.status !== 'booked') refuse('not_now')
    if (!(now() < instant(r.starts_at) - (F('cancel-one-hour') ? 1 : 6) * HOUR)) refuse('too_late')
    enter('booking', r, 'cancelled'); off(r)
    return shownAfter(c, 'booking', r)
  },
  'start booking': (c) => {
    const r = load(c, 'booking', c.params.id)
    permit(c, r)
    if (r.status !== 'booked') refuse('not_now')
    if (store.court.get(r.court).condition !== 'playable') refuse('clay_not_ready')
    enter('booking', r, 'playing')
    return shownAfter(c, 'booking', r)
  },
  'finish booking': (c) => {
    const r = load(c, 'booking', c.params.id)
    if (r.status !== 'playing') refuse('not_now')
    enter('booking', r, 'played')
    return shownAfter(c, 'booking', r)
  },
  'create challenge': (c) => {
    const next = readChange(c, 'challenge', 'create')
    if (next.opponent === c.caller.id) refuse('own_opponent')
    quota(c)
    const row = { id: 'chl_' + ulid(), ...next, number: count('challenge ' + (F('number-overall') ? '' : next.ladder)), challenger: c.caller.id }
    row._timers = {}
    enter('challenge', row, 'issued')
    add('challenge', row)
    emit('challenge.issued', 'challenge', row, { to: (h) => h.owner === row.opponent })
    return made(c, 'challenge', row, '/challenges')
  },
  'list challenge': (c) => {
    let rows = [...store.challenge.values()]
    if (c.query.ladder !== undefined) rows = rows.filter((r) => r.ladder === c.query.ladder)
    if (c.query.state !== undefined) rows = rows.filter((r) => r.state !== c.query.state)
    return { rows, cmp: (a, b) => b.number - a.number }
  },
  'read challenge': (c) => ({ read: load(c, 'challenge', c.params.id) }),
  'accept challenge': (c) => {
    const r = load(c, 'challenge', c.params.id)
    permit(c, r)
    if (r.state !== 'issued') refuse('not_now')
    enter('challenge', r, 'accepted')
    return shownAfter(c, 'challenge', r)
  },
  'report challenge': (c) => {
    const r = load(c, 'challenge', c.params.id)
    permit(c, r)
    const { won, lost } = stated(c, { won: { t: 'integer', min: 0, max: 3 }, lost: { t: 'integer', min: 0, max: 3 } })
    if (r.state !== 'accepted') refuse('not_now')
    if (won === lost && !F('tie-is-lost')) refuse('not_now')
    r.score = won + ':' + lost
    enter('challenge', r, won > lost ? 'won' : 'lost')
    emit('challenge.settled', 'challenge', r, { data: F('settled-whole') ? carryDown('challenge', r, 2, Object.keys(RES.challenge.fields)) : r.id })
    return shownAfter(c, 'challenge', r)
  },
  'create lesson': (c) => {
    const next = readChange(c, 'lesson', 'create')
    const row = { id: 'les_' + ulid(), coach: c.caller.id, ...next, stage: 'draft' }
    add('lesson', row); armAt('lesson', row)
    return made(c, 'lesson', row, '/lessons')
  },
  'list lesson': (c) => {
    let rows = [...store.lesson.values()]
    if (c.query.stage !== undefined) rows = rows.filter((r) => r.stage === c.query.stage)
    if (c.query.title !== undefined) rows = rows.filter((r) => r.title.includes(c.query.title))
    return { rows, cmp: (a, b) => instant(a.starts_at) - instant(b.starts_at) }
  },
  'read lesson': (c) => ({ read: load(c, 'lesson', c.params.id) }),
  'update lesson': (c) => {
    const r = load(c, 'lesson', c.params.id)
    permit(c, r)
    ifMatch(c, 'lesson', r, false)
    const next = readChange(c, 'lesson', 'update', r)
    const to = next.stage ?? r.stage
    const moved = to !== r.stage
    if (moved && !((r.stage === 'draft' && to === 'offered') || (r.stage === 'offered' && to === 'draft'))) refuse('not_now')
    for (const f of ['title', 'starts_at', 'ends_at']) if (f in next) r[f] = next[f]
    if (moved) enter('lesson', r, to)
    armAt('lesson', r)
    if (moved && to === 'offered') emit('lesson.offered', 'lesson', r)
    return shownAfter(c, 'lesson', r)
  },
  'take lesson': (c) => {
    const r = load(c, 'lesson', c.params.id)
    permit(c, r)
    if (r.stage !== 'offered') refuse('not_now')
    if (!(now() < instant(r.starts_at))) refuse('too_late')
    r.pupil = c.caller.id
    enter('lesson', r, 'taken')
    return shownAfter(c, 'lesson', r)
  },
  'delete lesson': (c) => {
    const r = load(c, 'lesson', c.params.id)
    permit(c, r)
    if (!['draft', 'offered'].includes(r.stage)) refuse('not_now')
    store.lesson.delete(r.id)
    if (!F('gone-is-missing')) gone.set(r.id, { row: r, until: now() + RES.lesson.keep })
    return { status: 204 }
  },
  'create job': (c) => {
    const next = readChange(c, 'job', 'create')
    const row = { id: 'job_' + ulid(), owner: c.caller.id, ...next, pin: random(6, '0123456789'), status: 'brought' }
    add('job', row)
    return made(c, 'job', row, '/jobs')
  },
  'read job': (c) => ({ read: load(c, 'job', c.params.id) }),
  'finish job': (c) => {
    const r = load(c, 'job', c.params.id)
    if (r.status !== 'brought') refuse('not_now')
    enter('job', r, 'strung')
    return shownAfter(c, 'job', r)
  },
  'collect job': (c) => {
    const r = load(c, 'job', c.params.id)
    const { pin } = stated(c, { pin: { t: 'string' } })
    if (r.status !== 'strung') refuse('not_now')
    if (pin !== r.pin) refuse('wrong_pin')
    enter('job', r, 'collected')
    return { status: 200, body: { job: r.id, handed_over: iso(now()) } }
  },
  'create voucher': (c) => {
    const next = readChange(c, 'voucher', 'create')
    if ([...store.voucher.values()].filter((v) => v.host === c.caller.id && (v.state === 'issued' || (F('used-count') && v.state === 'used'))).length >= 4) refuse('used_up')
    const row = { id: 'gvo_' + ulid(), code: 'GV-' + random(8, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'), host: c.caller.id, ...next }
    row._timers = {}
    enter('voucher', row, 'issued')
    add('voucher', row)
    return made(c, 'voucher', row)
  },
  'list voucher': (c) => ({ rows: [...store.voucher.values()].filter((r) => c.query.state === undefined || r.state === c.query.state) }),
  'redeem voucher': (c) => {
    const r = [...store.voucher.values()].find((v) => v.code === c.params.code)
    if (!r) refuse('not_there')
    if (r.state !== 'issued') refuse('voucher_spent')
    enter('voucher', r, 'used')
    return shownAfter(c, 'voucher', r)
  },
  'create hook': (c) => {
    const next = readChange(c, 'hook', 'create')
    if ([...store.hook.values()].filter((h) => h.owner === c.caller.id).length >= 3) refuse('used_up')
    const row = { id: 'hok_' + ulid(), owner: c.caller.id, ...next, secret: 'clay_' + random(32, ALNUM), _maker: c.caller, _vi: c.vi }
    add('hook', row)
    return made(c, 'hook', row, '/hooks')
  },
  'read hook': (c) => ({ read: load(c, 'hook', c.params.id) }),
  'delete hook': (c) => { const r = load(c, 'hook', c.params.id); store.hook.delete(r.id); return { status: 204 } },
}
// a body of a shape of its own: unnamed members pass
function stated(c, shape) {
  if (typeOf(c.body) !== 'object') violations([place('type', '', typeOf(c.body), 'object')])
  const bad = []
  for (const [k, v] of Object.entries(c.body)) if (Object.hasOwn(shape, k)) bad.push(...checkValue(shape[k], v, k))
  for (const k of Object.keys(shape)) if (!Object.hasOwn(c.body, k)) bad.push(place('missing', k, 'nothing', shape[k].t))
  violations(bad)
  return c.body
}

// ---------------------------------------------------------------- endpoints
const COURT_ID = RES.court.fields.code.pattern
const isEnum = (list) => (v, vi) => { const l = typeof list === 'function' ? list(vi) : list; return l.includes(v) ? v : undefined }
const someOf = (list, up) => (v, vi) => {
  const l = typeof list === 'function' ? list(vi) : list, parts = v.split(',')
  return parts.length <= 100 && parts.every((p) => l.includes(p)) ? parts.map((p) => (up ? up(p, vi) : p)) : undefined
}
const text = (v) => v
const courtId = (v) => (COURT_ID.test(v) ? v : undefined)
const time = (v) => (Number.isNaN(instant(v)) ? undefined : v)
const ROUTES = []
const route = (method, path, op, more = {}) => ROUTES.push({ method, path, parts: path.split('/').slice(1), op, ...more })
route('GET', '/courts', 'list court', { cache: 'public, max-age=20', query: { condition: isEnum(STATES.court), text, by: (v, vi) => (['name', '-name'].includes(v) || (vi === 2 && ['price', '-price'].includes(v)) ? v : undefined), way: isEnum(['asc', 'desc']) } })
route('GET', '/courts/{code}', 'read court', { etag: 1, cache: 'public, max-age=20' })
route('PUT', '/courts/{code}', 'upsert court', { body: 1 })
route('POST', '/courts/{code}/water', 'water court')
route('POST', '/courts/{code}/roll', 'roll court', { since: 1 })
route('POST', '/courts/{court}/closures', 'create closure', { body: 1, accept: [['desk', 'terminal']] })
route('GET', '/closures', 'list closure', { query: { court: courtId, reason: someOf(reasons, reasonUp) } })
route('POST', '/closures/{id}/lift', 'lift closure')
route('POST', '/courts/{court}/bookings', 'create booking', { body: 1 })
route('GET', '/bookings', 'list booking', { query: { court: courtId, status: someOf(STATES.booking), from: time, before: time, sort: isEnum(['starts_at', '-starts_at']) } })
route('GET', '/bookings/{id}', 'read booking', { etag: 1, cache: 'private, no-cache' })
route('PATCH', '/bookings/{id}', 'update booking', { body: 1 })
route('POST', '/bookings/{id}/cancel', 'cancel booking')
route('POST', '/bookings/{id}/start', 'start booking')
if (!F('finish-unrouted')) route('POST', '/bookings/{id}/finish', 'finish booking')
route('POST', '/challenges', 'create challenge', { body: 1 })
route('GET', '/challenges', 'list challenge', { cursor: 1, query: { ladder: isEnum(['singles', 'doubles', 'veterans']), state: isEnum(STATES.challenge) } })
route('GET', '/challenges/{id}', 'read challenge', { etag: 1 })
route('POST', '/challenges/{id}/accept', 'accept challenge')
route('POST', '/challenges/{id}/report', 'report challenge', { body: 1 })
route('POST', '/lessons', 'create lesson', { body: 1 })
route('GET', '/lessons', 'list lesson', { query: { stage: isEnum(STATES.lesson), title: text } })
route('GET', '/lessons/{id}', 'read lesson', { etag: 1 })
route('PATCH', '/lessons/{id}', 'update lesson', { body: 1 })
route('POST', '/lessons/{id}/take', 'take lesson')
route('DELETE', '/lessons/{id}', 'delete lesson')
route('POST', '/jobs', 'create job', { body: 1 })
route('GET', '/jobs/{id}', 'read job', { etag: 1 })
route('POST', '/jobs/{id}/finish', 'finish job')
route('POST', '/jobs/{id}/collect', 'collect job', { body: 1 })
route('POST', '/vouchers', 'create voucher', { body: 1 })
route('GET', '/vouchers', 'list voucher', { query: { state: isEnum(STATES.voucher) } })
route('POST', '/vouchers/{code}/redeem', 'redeem voucher')
route('POST', '/hooks', 'create hook', { body: 1 })
route('GET', '/hooks/{id}', 'read hook')
route('DELETE', '/hooks/{id}', 'delete hook')

function findRoutes(path, vi) {
  let rest = path.startsWith(BASE + '/') ? path.slice(BASE.length) : F('bare-base') ? path : null
  if (rest === null) return []
  const segs = rest.split('/').slice(1)
  const out = []
  for (const r of ROUTES) {
    if (r.parts.length !== segs.length || (r.since ?? 0) > vi) continue
    const params = {}
    let ok = true
    for (let i = 0; i < segs.length && ok; i++) {
      const p = r.parts[i]
      let s
      try { s = decodeURIComponent(segs[i]) } catch { ok = false; break }
      if (p.startsWith('{')) { if (s === '') ok = false; params[p.slice(1, -1)] = s } else ok = p === s
    }
    if (ok) out.push({ ...r, params })
  }
  return out
}
function accepts(header) {
  if (header === undefined || header.trim() === '') return true
  let best = -1, q = 0
  for (const part of header.split(',')) {
    const [type, ...ps] = part.trim().toLowerCase().split(';').map((x) => x.trim())
    const rank = type === 'application/json' ? 2 : type === 'application/*' ? 1 : type === '*/*' ? 0 : -1
    if (rank < 0) continue
    const w = ps.find((p) => p.startsWith('q='))
    const v = w ? Number(w.slice(2)) : 1
    if (rank > best) { best = rank; q = v }
  }
  return best >= 0 && q > 0
}
const oddPlace = (name, found) => refuse('odd_parameter', { places: [{ in: 'query', path: name, found: String(found).slice(0, 60), expected: 'another value' }] })
function readQuery(c) {
  const { route: r, vi } = c, out = {}, at = c.req.url.indexOf('?')
  const given = []
  if (at >= 0) for (const piece of c.req.url.slice(at + 1).split('&')) {
    if (piece === '') continue
    const i = piece.indexOf('='), un = (s) => { try { return decodeURIComponent(s.replaceAll('+', ' ')) } catch { oddPlace(s, s) } }
    given.push([un(i < 0 ? piece : piece.slice(0, i)), i < 0 ? '' : un(piece.slice(i + 1))])
  }
  const isList = c.op.startsWith('list ')
  const pages = !isList ? [] : r.cursor ? ['after', 'take'] : ['row', 'rows']
  const seen = new Set(), res = c.res
  c.page = {}
  for (const [name, v] of given) {
    if (seen.has(name)) oddPlace(name, v)
    seen.add(name)
    if (pages.includes(name)) {
      if (name === 'after') { c.page.after = v; continue }
      const n = /^\d{1,15}$/.test(v) ? Number(v) : 0
      if (n < 1) oddPlace(name, v)
      if (name === 'take' && n > 20 && !F('take-clamps')) oddPlace(name, v)
      c.page[name] = n
      continue
    }
    const key = Object.keys(r.query ?? {}).find((k) => (Object.hasOwn(RES[res].fields, k) ? oldName(res, k, vi) : k) === name)
    if (!key) oddPlace(name, v)
    const value = r.query[key](v, vi)
    if (value === undefined) oddPlace(name, v)
    out[key] = value
  }
  c.given = given
  c.query = out
  if (r.cursor && c.page.after !== undefined) c.place = openCursor(c)
}
const SECRET = randomBytes(32)
const bound = (c) => JSON.stringify([c.op, c.vi, c.query.ladder ?? null, c.query.state ?? null, c.caller?.id ?? null])
function cursorFor(c, row) {
  const p = Buffer.from(JSON.stringify([row.number, row._seq])).toString('base64url')
  return p + '.' + createHmac('sha256', SECRET).update(p + bound(c)).digest('base64url').slice(0, 22)
}
function openCursor(c) {
  const [p, s, more] = c.page.after.split('.')
  if (!p || !s || more !== undefined || createHmac('sha256', SECRET).update(p + bound(c)).digest('base64url').slice(0, 22) !== s) oddPlace('after', c.page.after)
  return JSON.parse(Buffer.from(p, 'base64url'))
}
function listAnswer(c, { rows, cmp }) {
  const res = c.res
  rows = rows.filter((r) => rulesFor(c.op, c.caller).some((x) => holds(x, r, c.caller)))
  rows.sort((a, b) => (cmp?.(a, b) || a._seq - b._seq))
  const shown = (r) => show(res, r, c.caller, c.vi, { op: c.op, listed: true })
  if (c.route.cursor) {
    const take = Math.min(c.page.take ?? 5, 20)
    if (c.place) rows = rows.filter((r) => r.number < c.place[0] || (r.number === c.place[0] && r._seq > c.place[1]))
    const page = rows.slice(0, take)
    return { status: 200, body: { challenges: page.map(shown), onward: rows.length > take ? cursorFor(c, page.at(-1)) : null } }
  }
  const size = Math.min(c.page.rows ?? 10, 40), from = c.page.row ?? 1
  const page = rows.slice(from - 1, from - 1 + size), more = rows.length > from - 1 + size
  const here = BASE + c.route.path
  const address = (row) => here + '?' + [...c.given.filter(([k]) => k !== 'row' && k !== 'rows'), ['row', row], ...(c.page.rows ? [['rows', size]] : [])].map(([k, v]) => encodeURIComponent(k) + '=' + encodeURIComponent(v)).join('&')
  const links = []
  if (more) links.push(`<${address(from + size)}>; rel="next"`)
  if (from > 1) links.push(`<${address(Math.max(1, from - size))}>; rel="prev"`)
  links.push(`<${address(1)}>; rel="first"`)
  return { status: 200, body: { lines: page.map(shown), total: rows.length, more, here }, links }
}

const MAX_BODY = 8192
function readBody(c) {
  return new Promise((resolve, reject) => {
    const { req } = c
    const chunks = []
    let n = 0
    const over = () => { req.removeListener('data', data); req.resume(); c.close = true; reject(new Refusal('too_large')) }
    const data = (b) => { n += b.length; if (n > MAX_BODY) over(); else chunks.push(b) }
    const timer = setTimeout(() => { c.close = true; reject(new Refusal('too_slow')) }, Math.max(1, 5000 - (performance.now() - c.began)))
    req.on('data', data)
    req.on('end', () => { clearTimeout(timer); resolve(Buffer.concat(chunks)) })
    req.on('error', () => { clearTimeout(timer); reject(new Refusal('unreadable')) })
    req.on('close', () => clearTimeout(timer))
  })
}
async function takeBody(c) {
  const h = c.req.headers
  const type = h['content-type']
  const has = h['transfer-encoding'] !== undefined || Number(h['content-length'] ?? 0) > 0
  if (type !== undefined) {
    const [name, ...ps] = type.toLowerCase().split(';').map((x) => x.trim())
    const good = name === 'application/json' || (c.req.method === 'PATCH' && name === 'application/merge-patch+json')
    const cs = ps.find((p) => p.startsWith('charset='))
    if (!good || (cs && !/^charset="?utf-?8"?$/.test(cs))) refuse('wrong_type')
  } else if (has) refuse('wrong_type')
  if (h['content-encoding'] !== undefined && h['content-encoding'] !== 'identity') refuse('wrong_type')
  if (Number(h['content-length'] ?? 0) > MAX_BODY) { c.close = true; refuse('too_large') }
  const raw = await readBody(c)
  if (!raw.length) refuse('unreadable')
  try { c.body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)) } catch { refuse('unreadable') }
}

const keys = new Map()
function answer(c, a) {
  const { res: _r, req, out } = c
  const head = { ...c.headers, ...(a.headers ?? {}) }
  const links = [...(a.links ?? [])]
  if (c.vi === 0 && c.known) {
    head.Deprecation = '@' + DEPRECATED
    head.Sunset = new Date(SUNSET).toUTCString()
    links.push('<https://clay.example/moving>; rel="deprecation"', `<${req.url}>; rel="successor-version"`)
  }
  if (links.length) head.Link = links.join(', ')
  Object.assign(head, rateHeaders(c, a.status))
  let body = a.body === undefined ? null : typeof a.body === 'string' ? a.body : JSON.stringify(a.body)
  if (body !== null) { head['Content-Type'] = 'application/json'; head['Content-Length'] = Buffer.byteLength(body) }
  else if (a.status !== 204 && a.status !== 304) head['Content-Length'] = 0
  if (c.close) head.Connection = 'close'
  out.writeHead(a.status, head)
  out.end(req.method === 'HEAD' ? undefined : body ?? undefined)
  if (!req.complete) req.resume()
}
async function handle(req, out) {
  const c = { req, out, rid: 'trc_' + randomBytes(9).toString('hex'), began: performance.now(), vi: 2, known: false }
  c.headers = { 'X-Trace': c.rid, 'Club-Edition': VERSIONS[2], Vary: 'Club-Edition, Authorization' }
  try {
    runDue(now())
    // 1
    let bytes = 0
    for (let i = 0; i < req.rawHeaders.length; i += 2) bytes += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4
    if (Buffer.byteLength(req.url) > 2048 || bytes > 8192) { c.close = true; refuse('too_large') }
    // 2
    const asked = req.headers['club-edition']
    const vi = asked === undefined ? 2 : VERSIONS.indexOf(asked)
    if (vi >= 0) { c.vi = vi; c.headers['Club-Edition'] = VERSIONS[vi]; c.known = true }
    const path = req.url.split('?')[0]
    const routes = findRoutes(path, vi < 0 ? 2 : vi)
    if (!routes.length) refuse('not_there')
    const methods = routes.map((r) => r.method)
    const allowed = [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])].join(', ')
    const method = req.method === 'HEAD' && !F('head-refused') ? 'GET' : req.method
    if (method !== 'OPTIONS') { c.route = routes.find((r) => r.method === method); if (!c.route) refuse('wrong_method', { headers: { Allow: allowed } }) }
    if (vi < 0) refuse('edition_odd')
    if (vi === 0 && now() >= SUNSET && !F('sunset-serves')) refuse('edition_over')
    if (method === 'OPTIONS') { answer(c, { status: 204, headers: { Allow: allowed } }); return }
    c.op = c.route.op; c.res = c.op.split(' ')[1]; c.params = c.route.params
    if (c.route.accept) c.headers.Vary = 'Club-Edition, Authorization, X-Terminal'
    // 4, 5, 6
    c.caller = whoCalls(c)
    rates(c)
    const forUser = RULES.filter((r) => r.op === c.op && bears(r, c.caller))
    if (!forUser.length || !forUser.some((r) => scoped(r, c.caller))) refuse('not_yours')
    if (c.scheme?.includes('desk') && method !== 'GET') {
      const site = req.headers['sec-fetch-site'], origin = req.headers.origin
      if (site !== undefined ? site === 'cross-site' : origin !== undefined && origin.replace(/^https?:\/\//, '') !== req.headers.host) refuse('not_yours')
    }
    // 8
    if (method !== 'DELETE' && !accepts(req.headers.accept)) refuse('wrong_answer')
    if (F('body-first') && c.route.body) await takeBody(c)
    readQuery(c)
    if (c.route.body && c.body === undefined) await takeBody(c)
    runDue(now())
    // 9
    const key = method === 'POST' ? req.headers['idempotency-key'] : undefined
    let slot, print
    if (key) {
      slot = JSON.stringify([c.caller.user, c.caller.id, c.op, key])
      print = JSON.stringify([req.url, c.vi, c.route.body ? c.body : null])
      const kept = keys.get(slot)
      if (kept && kept.until > now()) {
        if (kept.print !== print && !F('key-any-body')) refuse('key_reused')
        const a = kept.answer
        if (a.fault) refuse(a.fault)
        answer(c, { status: a.status, body: a.once ?? a.body, headers: a.headers })
        return
      }
    }
    const keep = (a) => { if (slot && !F('key-forgotten')) keys.set(slot, { print, answer: a, until: now() + 12 * HOUR }) }
    let a
    try {
      a = OPS[c.op](c)
    } catch (e) {
      if (e instanceof Refusal && OWN.has(e.code)) keep({ fault: e.code })
      throw e
    } finally { setImmediate(tick) }
    if (a.rows) a = listAnswer(c, a)
    else if (a.read) {
      a = { status: 200, body: show(c.res, a.read, c.caller, c.vi), headers: {} }
      if (c.route.etag) {
        const mine = tag(c.vi + ' ' + JSON.stringify(a.body))
        a.headers.ETag = mine
        const inm = req.headers['if-none-match']
        if (inm !== undefined && !F('never-304') && (inm.trim() === '*' || inm.split(',').some((x) => x.trim().replace(/^W\//, '') === mine))) a = { status: 304, headers: a.headers }
      }
    }
    if (c.route.cache) a.headers = { ...a.headers, 'Cache-Control': c.route.cache }
    if (a.status < 300 && slot) keep(a)
    answer(c, a)
  } catch (e) {
    const r = e instanceof Refusal ? e : new Refusal('broken')
    if (!(e instanceof Refusal)) console.error(e)
    if (out.headersSent) return
    const { status, body } = faultBody(r, c.rid)
    answer(c, { status, body, headers: { 'X-Fault': r.code, ...r.headers } })
  }
}

const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 0, headersTimeout: 5000, keepAliveTimeout: 30000, connectionsCheckingInterval: 500 }, handle)
server.on('clientError', (e, socket) => {
  if (!socket.writable) return
  const slow = e.code === 'ERR_HTTP_REQUEST_TIMEOUT', large = e.code === 'HPE_HEADER_OVERFLOW'
  const rid = 'trc_' + randomBytes(9).toString('hex'), code = slow ? 'too_slow' : large ? 'too_large' : 'unreadable'
  const { status, body } = faultBody({ code }, rid)
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Trace: ${rid}\r\nX-Fault: ${code}\r\nClub-Edition: 2026.1\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
})

// ---------------------------------------------------------------- the door of the clock
function later(from, text) {
  const m = /^P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text)
  if (!m) return NaN
  const [, y, mo, w, d, h, mi, s] = m.map((x) => Number(x ?? 0))
  const date = new Date(from)
  if (y || mo) {
    const day = date.getUTCDate()
    date.setUTCDate(1); date.setUTCMonth(date.getUTCMonth() + mo + 12 * y)
    date.setUTCDate(Math.min(day, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()))
  }
  return date.getTime() + w * 7 * DAY + d * DAY + h * HOUR + mi * MIN + s * SEC
}
const door = http.createServer((req, res) => {
  const say = (status, o) => { const b = JSON.stringify(o); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(b) }); res.end(b) }
  if (req.method === 'GET') { runDue(now()); say(200, { now: iso(now()) }); return }
  let raw = ''
  req.on('data', (b) => { raw += b })
  req.on('end', () => {
    let o
    try { o = JSON.parse(raw) } catch { o = null }
    const t = now()
    const to = req.method !== 'POST' || !o ? NaN : typeof o.advance === 'string' && o.now === undefined ? later(t, o.advance) : typeof o.now === 'string' && o.advance === undefined ? instant(o.now) : NaN
    if (Number.isNaN(to) || !Number.isFinite(to) || to > 253402300799999) { say(400, { error: 'advance or now' }); return }
    if (to < t) { say(422, { error: 'the clock goes forward alone' }); return }
    runDue(to)
    offset += to - now()
    runDue(now())
    pump()
    setTimeout(() => say(200, { now: iso(now()) }), 15)
  })
})
server.listen(Number(arg('port')), '127.0.0.1')
door.listen(Number(arg('clock-port')), '127.0.0.1')
const stop = () => { server.closeAllConnections(); door.closeAllConnections(); process.exit(0) }
process.on('SIGTERM', stop); process.on('SIGINT', stop)
