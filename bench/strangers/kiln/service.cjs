'use strict'
// The Yard Kiln: one process, everything in memory, nothing but node's own modules.

const http = require('node:http')
const crypto = require('node:crypto')

// ---------------------------------------------------------------- switches

const argv = process.argv.slice(2)
const flag = (name, otherwise) => {
  const i = argv.indexOf('--' + name)
  return i < 0 ? otherwise : argv[i + 1]
}
const PORT = Number(flag('port', 8080))
const CLOCK_PORT = flag('clock-port') === undefined ? null : Number(flag('clock-port'))
const FLAW = flag('fault', '')
const bad = (id) => FLAW === id

// ---------------------------------------------------------------- the clock and what waits for it

let skew = 0
const nowMs = () => Date.now() + skew
const iso = (ms) => new Date(ms).toISOString()
const MINUTE = 60e3, HOUR = 3600e3, DAY = 24 * HOUR

const heap = []
let heapSeq = 0, heapTimer = null, heapArmed = Infinity
const before = (a, b) => a.due < b.due || (a.due === b.due && a.seq < b.seq)
function wait(due, fire) {
  const e = { due, seq: heapSeq++, fire }
  let i = heap.push(e) - 1
  while (i > 0) {
    const p = (i - 1) >> 1
    if (!before(heap[i], heap[p])) break
    ;[heap[i], heap[p]] = [heap[p], heap[i]]
    i = p
  }
  if (i === 0) arm()
}
function popHeap() {
  const top = heap[0], last = heap.pop()
  if (heap.length > 0) {
    heap[0] = last
    let i = 0
    for (;;) {
      let m = i
      const l = 2 * i + 1, r = l + 1
      if (l < heap.length && before(heap[l], heap[m])) m = l
      if (r < heap.length && before(heap[r], heap[m])) m = r
      if (m === i) break
      ;[heap[i], heap[m]] = [heap[m], heap[i]]
      i = m
    }
  }
  return top
}
function arm() {
  if (heapTimer) clearTimeout(heapTimer)
  heapTimer = null
  if (heap.length === 0) return
  heapArmed = heap[0].due
  heapTimer = setTimeout(ring, Math.min(Math.max(heapArmed - nowMs(), 0), 1e9))
}
function ring() {
  while (heap.length > 0 && heap[0].due <= nowMs()) popHeap().fire()
  arm()
}

// ---------------------------------------------------------------- who may come in

const people = [
  { user: 'potter', id: 'po-wanda', scopes: [], key: 'kk_W4nd4Pots000000000000001' },
  { user: 'potter', id: 'po-bruno', scopes: ['hot'], key: 'kk_Brun0H0tK1ln000000000002' },
  { user: 'potter', id: 'po-iris', scopes: [], key: 'kk_Ir1sTh1rdP0tter000000003' },
  { user: 'stoker', id: 'st-ada', scopes: [], key: 'kk_AdaF1res0000000000000011', word: 'embers-7' },
  { user: 'stoker', id: 'st-hugo', scopes: [], key: 'kk_Hug0F1res000000000000012', word: 'clinker-9' },
  { user: 'assayer', id: 'as-mina', scopes: ['strike'], key: 'kk_M1naL00ks000000000000021' },
  { user: 'assayer', id: 'as-vera', scopes: ['strike'], key: 'kk_VeraL00ks000000000000022' },
  { user: 'assayer', id: 'as-otto', scopes: [], key: 'kk_0tt0L00ks000000000000023' },
]
const revoked = new Set(['kk_0ldPotterG0ne00000000099'])
const byKey = new Map(), byBadge = new Map(), byId = new Map()
for (const p of people) {
  byKey.set(p.key, p)
  byId.set(p.id, p)
  if (p.word) byBadge.set(p.id, p)
}
const sameText = (a, b) => {
  const x = crypto.createHash('sha256').update(a).digest(), y = crypto.createHash('sha256').update(b).digest()
  return crypto.timingSafeEqual(x, y)
}

function whoIs(headers) {
  let found = null
  const key = headers['kiln-key']
  if (key !== undefined) {
    let p = revoked.has(key) ? null : byKey.get(key)
    if (bad('auth-revoked-key') && revoked.has(key)) p = people[0]
    if (!p) refuse('who-are-you')
    found = p
  }
  const auth = headers.authorization
  const m = auth === undefined ? null : /^basic +(.*)$/i.exec(auth)
  if (m) {
    if (bad('auth-second-credential') && found) return found
    const text = Buffer.from(m[1], 'base64').toString('utf8')
    const colon = text.indexOf(':')
    const p = colon < 0 ? null : byBadge.get(text.slice(0, colon))
    if (!p || (!sameText(text.slice(colon + 1), p.word) && !bad('auth-any-password'))) refuse('who-are-you')
    if (found && found !== p) refuse('who-are-you')
    found = p
  }
  if (!found) refuse('who-are-you')
  if (bad('users-assayer-unknown') && found.user === 'assayer') refuse('who-are-you')
  return found
}

// ---------------------------------------------------------------- refusals

const CODES = {
  'garbled': [400, 'The body cannot be read.'],
  'wrong-media': [415, 'Send application/json.'],
  'cannot-offer': [406, 'Only application/json is given.'],
  'bad-query': [400, 'A parameter of the query is wrong.'],
  'misshapen': [422, 'The body does not fit.'],
  'no-such-path': [404, 'There is nothing at this path.'],
  'no-such-method': [405, 'This path does not take this method.'],
  'who-are-you': [401, 'Show a good key or badge.'],
  'not-yours': [403, 'This is not for you to do.'],
  'not-here': [404, 'There is no such thing.'],
  'taken': [409, 'There is one like it already.'],
  'no-such-ref': [422, 'What is referred to is not there.'],
  'still-used': [409, 'Something still refers to it.'],
  'wrong-stage': [409, 'Not at this stage.'],
  'stale': [412, 'It has changed since.'],
  'say-which': [428, 'Send If-Match.'],
  'once-reused': [422, 'This Kiln-Once was used for something else.'],
  'too-often': [429, 'Slow down.'],
  'enough-today': [429, 'That is enough for today.'],
  'too-big': [413, 'Too big.'],
  'too-slow': [408, 'Too slow.'],
  'no-such-edition': [400, 'There is no such edition.'],
  'edition-gone': [410, 'This edition is no more.'],
  'mishap': [500, 'Something broke here.'],
  'too-late': [409, 'It burns already, or is over.'],
  'too-cold': [422, 'The kiln is not lit below 600 degrees.'],
  'porcelain-low': [422, 'Porcelain needs cone 6 or more.'],
  'shelves-shut': [409, 'The shelves are closed once the firing is taken.'],
  'leaded-bowl': [422, 'No lead where people eat.'],
  'span-backwards': [422, 'The span runs backwards.'],
}
const OWN = new Set(['porcelain-low', 'shelves-shut', 'leaded-bowl', 'span-backwards', 'too-late', 'too-cold'])
if (bad('errors-transition-status')) CODES['wrong-stage'][0] = 422
if (bad('errors-reference-code')) CODES['no-such-ref'] = [404, 'What is referred to is not there.']

class Refusal { constructor(code, spots, headers) { this.code = code; this.spots = spots || []; this.headers = headers } }
const refuse = (code, spots, headers) => { throw new Refusal(code, spots, headers) }

let traces = 0
function problem(code, spots) {
  const [status, says] = CODES[code]
  if (bad('errors-no-spots') && code === 'misshapen') return { wrong: code, status, says, trace: 'tr-' + ++traces }
  return { wrong: code, status, says, spots, trace: 'tr-' + ++traces }
}

// ---------------------------------------------------------------- shapes

const spot = (path, expected) => ({ in: 'body', path, expected })
const points = (s) => {
  let n = 0
  for (const _ of s) n++
  return n
}
const realDate = (s) => {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(s)
  if (!m) return false
  const y = +m[1], mo = +m[2], d = +m[3]
  if (bad('resources-lenient-date')) return mo >= 1 && mo <= 12 && d >= 1 && d <= 31
  if (mo < 1 || mo > 12 || d < 1) return false
  const leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0
  return d <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1]
}
const realInstant = (s) => {
  const m = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-](\d\d):(\d\d))$/.exec(s)
  if (!m || !realDate(m[1])) return false
  if (+m[2] > 23 || +m[3] > 59 || +m[4] > 60) return false
  if (m[7] !== undefined && (+m[7] > 23 || +m[8] > 59)) return false
  if (+m[4] < 60) return true
  const off = m[7] === undefined ? 0 : (+m[7] * 60 + +m[8]) * (m[6][0] === '-' ? -1 : 1)
  return (((+m[2] * 60 + +m[3] - off) % 1440) + 1440) % 1440 === 1439
}
// Milliseconds, with what a text says beyond them.
const instant = (s) => {
  const m = /^(.{17})(\d\d)(\.\d+)?(.+)$/.exec(s.toUpperCase())
  return Date.parse(`${m[1]}00${m[4]}`) + Number(m[2]) * 1000 + (m[3] ? Number('0' + m[3]) * 1000 : 0)
}
const realUri = (s) => /^[a-z][a-z0-9+.-]*:\/\/(?:(?:[\w\-.~!$&'()*+,;=:]|%[0-9a-f]{2})*@)?(?:\[[0-9a-f:.]+\]|(?:[\w\-.~!$&'()*+,;=]|%[0-9a-f]{2})*)(?::[0-9]*)?(?:\/(?:[\w\-.~!$&'()*+,;=:@]|%[0-9a-f]{2})*)*(?:\?(?:[\w\-.~!$&'()*+,;=:@/?]|%[0-9a-f]{2})*)?(?:#(?:[\w\-.~!$&'()*+,;=:@/?]|%[0-9a-f]{2})*)?$/i.test(s)

const text = (o = {}) => (v, at, out) => {
  if (typeof v !== 'string') return void out.push(spot(at, 'text'))
  if (o.min !== undefined || o.max !== undefined) {
    const n = bad('resources-length-in-bytes') ? Buffer.byteLength(v) : points(v)
    if (o.min !== undefined && n < o.min) return void out.push(spot(at, `at least ${o.min} characters`))
    if (o.max !== undefined && n > o.max) return void out.push(spot(at, `at most ${o.max} characters`))
  }
  if (o.like && !o.like.test(v)) return void out.push(spot(at, String(o.like)))
  if (o.real && !o.real(v)) out.push(spot(at, 'of its format'))
}
const whole = (min, max, lax) => (v, at, out) => {
  if (typeof v !== 'number' || !(Number.isInteger(v) || lax)) return void out.push(spot(at, 'a whole number'))
  if (v < min || v > max) out.push(spot(at, `from ${min} to ${max}`))
}
const number = (min, max) => (v, at, out) => {
  if (typeof v !== 'number') return void out.push(spot(at, 'a number'))
  if (v < min || v > max) out.push(spot(at, `from ${min} to ${max}`))
}
const oneOf = (...list) => (v, at, out) => { if (!list.includes(v)) out.push(spot(at, 'one of ' + list.join(', '))) }
const truth = (v, at, out) => { if (typeof v !== 'boolean') out.push(spot(at, 'true or false')) }
const list = (item, max, distinct) => (v, at, out) => {
  if (!Array.isArray(v)) return void out.push(spot(at, 'a list'))
  if (v.length > max) out.push(spot(at, `at most ${max} entries`))
  if (distinct && new Set(v).size !== v.length) out.push(spot(at, 'no entry twice'))
  v.forEach((x, i) => item(x, `${at}/${i}`, out))
}
const isMap = (v) => typeof v === 'object' && v !== null && !Array.isArray(v)
const esc = (k) => k.replace(/~/g, '~0').replace(/\//g, '~1')
const value = (fields, required) => {
  const known = new Map(Object.entries(fields))
  return (v, at, out) => {
    if (!isMap(v)) return void out.push(spot(at, 'a map'))
    for (const k of Object.keys(v)) {
      const f = known.get(k)
      if (f) f(v[k], `${at}/${esc(k)}`, out)
      else if (!bad('resources-open-nested')) out.push(spot(`${at}/${esc(k)}`, 'no such field'))
    }
    for (const k of required) if (!Object.hasOwn(v, k)) out.push(spot(`${at}/${k}`, 'required'))
  }
}

const soak = value({ 'minutes': whole(1, 600), 'hold-c': whole(100, 1400) }, ['minutes', 'hold-c'])
const shelf = value({ label: text({ min: 1, max: 12 }), gap: whole(20, 600), props: list(whole(10, 900), 3) }, ['label', 'gap'])
const part = value({ oxide: text({ like: /^[A-Z][A-Za-z0-9]{0,7}$/ }), percent: number(0.5, 100) }, ['oxide', 'percent'])
const span = value({ low: whole(1, 14), high: whole(1, 14) }, ['low', 'high'])

// A sheet says what may be sent: fields taken, fields ignored, what must be there, what is put in where nothing is sent.
const sheet = (take, ignore, must, fill) => ({ take: new Map(Object.entries(take)), ignore: new Set(ignore), must, fill })
const firingRest = {
  'mark': text({ min: 1, max: 24 }),
  'clay': bad('resources-any-clay') ? text({ min: 1 }) : oneOf('earthenware', 'stoneware', 'porcelain'),
  'notes': text({ max: 200 }),
  'wanted-by': text({ real: realInstant }),
  'gate-code': text({ like: /^[0-9]{4}$/ }),
  'shelves': list(shelf, 4),
}
const firingIgnore = ['no', 'docket', 'potter', 'stoker', 'stage', 'bay', 'reason', 'verdict', 'fee', 'holds', 'cools', 'asked-at', 'touched-at']
const startPace = bad('resources-wrong-default') ? 'brisk' : 'slow'
const SHEETS = {
  firing: {
    1: sheet(
      { ...firingRest, heat: whole(1, 14), pace: bad('versioning-enum-unmapped') ? oneOf('slow', 'brisk') : oneOf('gentle', 'quick') },
      [...firingIgnore, 'shop'], ['mark', 'clay', 'heat', 'pace'], { pace: startPace === 'slow' ? 'gentle' : 'quick' }),
    2: sheet(
      { ...firingRest, cone: whole(1, 14), pace: oneOf('slow', 'brisk'), soak },
      firingIgnore, ['mark', 'clay', 'cone', 'pace'], { pace: startPace }),
  },
  ware: {},
  glaze: {},
  hook: {},
}
const wareRest = {
  'firing': whole(1, Number.MAX_SAFE_INTEGER),
  'glaze': text(),
  'accent': text(),
  'name': text({ min: 1, max: 80 }),
  'form': oneOf('bowl', 'vase', 'tile'),
  'mass': whole(1, 20000, bad('resources-fractions')),
  'tags': list(text({ min: 1, max: 20 }), 5, true),
  'packed': truth,
  'made-on': text({ real: realDate }),
}
const wareMust = ['firing', 'glaze', 'name', 'form', 'height', 'mass', 'packed']
SHEETS.ware[1] = sheet({ ...wareRest, height: number(0.5, 90) }, ['no'], wareMust, { packed: false })
SHEETS.ware[2] = sheet({ ...wareRest, height: whole(5, 900) }, ['no'], wareMust, { packed: false })
SHEETS.glaze[1] = SHEETS.glaze[2] = sheet({
  code: text({ like: /^[a-z]{2,12}-[0-9]{2}$/ }),
  title: text({ min: 1, max: 60 }),
  symbol: text({ like: /^[A-Za-z]{2,6}$/ }),
  hazard: oneOf('safe', 'lead', 'barium'),
  span,
  recipe: list(part, 8),
  shown: truth,
  remark: text({ max: 120 }),
}, ['assayer', 'revised'], ['code', 'title', 'symbol', 'hazard', 'span', 'shown'], { hazard: 'safe', shown: false })

const KINDS = ['firing.asked', 'firing.accepted', 'firing.refused', 'firing.cooled', 'firing.lapsed', 'firing.fierce', 'ware.added', 'glaze.struck']
const KIND_WORDS = new Set(['*', ...KINDS, 'firing.*', 'ware.*', 'glaze.*'])
SHEETS.hook[1] = SHEETS.hook[2] = sheet({
  url: text({ max: 300, like: /^http:\/\/[^\s]+$/, real: realUri }),
  kinds: list((v, at, out) => { if (!KIND_WORDS.has(v)) out.push(spot(at, 'a kind of event')) }, 12),
  live: truth,
}, ['id', 'owner', 'secret'], ['url', 'live'], { live: true })

// What was sent, whole, in the words of its edition; undefined stands for not sent.
function readWhole(kind, edition, body, bound) {
  const s = SHEETS[kind][edition], out = [], got = {}
  if (!isMap(body)) refuse('misshapen', [spot('', 'a map')])
  for (const k of Object.keys(body)) {
    if (s.ignore.has(k)) continue
    const f = s.take.get(k)
    if (!f) {
      out.push(spot('/' + esc(k), 'no such field'))
      continue
    }
    f(body[k], '/' + esc(k), out)
    got[k] = body[k]
  }
  for (const [k, v] of Object.entries(bound || {})) {
    if (got[k] !== undefined && got[k] !== v && !out.some((o) => o.path === '/' + k)) out.push(spot('/' + k, 'what the path says'))
    got[k] = v
  }
  for (const [k, v] of Object.entries(s.fill)) if (got[k] === undefined) got[k] = v
  for (const k of s.must) if (!Object.hasOwn(got, k)) out.push(spot('/' + k, 'required'))
  if (out.length > 0) refuse('misshapen', out)
  return got
}
const merged = (into, patch) => {
  if (!isMap(patch)) return patch
  const base = isMap(into) && !bad('resources-shallow-merge') ? { ...into } : {}
  for (const k of Object.keys(patch)) {
    if (patch[k] === null) delete base[k]
    else Object.defineProperty(base, k, { value: merged(base[k], patch[k]), enumerable: true, configurable: true, writable: true })
  }
  return base
}
// A merge patch over what is stored: gives only the fields that were sent, null where one is to go.
function readPatch(kind, edition, body, stored, fixed) {
  const s = SHEETS[kind][edition], out = [], got = {}
  if (!isMap(body)) refuse('misshapen', [spot('', 'a map')])
  for (const k of Object.keys(body)) {
    if (s.ignore.has(k)) continue
    const f = s.take.get(k)
    if (!f) {
      out.push(spot('/' + esc(k), 'no such field'))
      continue
    }
    if (body[k] === null) {
      if (s.must.includes(k)) out.push(spot('/' + k, 'required'))
      else got[k] = null
      continue
    }
    const v = merged(stored[k], body[k])
    f(v, '/' + esc(k), out)
    if (fixed.includes(k) && v !== stored[k]) out.push(spot('/' + k, 'as it was'))
    got[k] = v
  }
  if (out.length > 0) refuse('misshapen', out)
  return got
}

// ---------------------------------------------------------------- editions

const PACE_UP = { gentle: 'slow', quick: 'brisk' }, PACE_DOWN = { slow: 'gentle', brisk: 'quick' }
const awayFromZero = (x) => Math.sign(x) * Math.round(Math.abs(x))
function up(kind, edition, got) {
  if (edition === 2) return got
  const row = { ...got }
  if (kind === 'firing') {
    if ('heat' in row) { row.cone = row.heat; delete row.heat }
    if (typeof row.pace === 'string') row.pace = PACE_UP[row.pace] || row.pace
  }
  if (kind === 'ware' && typeof row.height === 'number') {
    row.height = awayFromZero(row.height * 10)
  }
  return row
}
function down(kind, edition, row) {
  if (edition === 2) return row
  const got = { ...row }
  if (kind === 'firing') {
    got.heat = got.cone
    delete got.cone
    delete got.soak
    got.pace = PACE_DOWN[got.pace]
    got.shop = 'main'
  }
  if (kind === 'ware') got.height = bad('versioning-height-truncated') ? Math.floor(got.height / 10) : got.height / 10
  return got
}

const SHOW = {
  firing: {
    1: ['no', 'docket', 'potter', 'stoker', 'mark', 'clay', 'heat', 'pace', 'notes', 'wanted-by', 'shelves', 'stage', 'bay', 'reason', 'verdict', 'fee', 'shop', 'holds', 'cools', 'asked-at', 'touched-at'],
    2: ['no', 'docket', 'potter', 'stoker', 'mark', 'clay', 'cone', 'pace', 'notes', 'wanted-by', 'soak', 'shelves', 'stage', 'bay', 'reason', 'verdict', 'fee', 'holds', 'cools', 'asked-at', 'touched-at'],
  },
  ware: ['no', 'firing', 'glaze', 'accent', 'name', 'form', 'height', 'mass', 'tags', 'packed', 'made-on'],
  glaze: ['code', 'title', 'symbol', 'hazard', 'span', 'recipe', 'shown', 'remark', 'assayer', 'revised'],
  hook: ['id', 'owner', 'url', 'kinds', 'live'],
}
SHOW.ware = { 1: SHOW.ware, 2: SHOW.ware }
SHOW.glaze = { 1: SHOW.glaze, 2: SHOW.glaze }
SHOW.hook = { 1: SHOW.hook, 2: SHOW.hook }
function sees(kind, field, user) {
  if (kind === 'firing') {
    if (field === 'fee') return user !== 'assayer'
    if (field === 'bay') return user !== 'potter'
  }
  if (kind === 'glaze' && field === 'recipe') return user === 'assayer' || bad('resources-recipe-seen')
  return true
}
function view(kind, row, user, edition) {
  const as = bad('versioning-old-name-lost') && kind === 'firing' ? 2 : edition
  const src = down(kind, as, row), out = {}
  for (const f of SHOW[kind][as]) if (src[f] !== undefined && sees(kind, f, user)) out[f] = src[f]
  if (kind === 'ware') {
    if (bad('resources-false-left-out') && out.packed === false) delete out.packed
  }
  return out
}

// ---------------------------------------------------------------- what is kept

const firings = new Map(), wares = new Map(), glazes = new Map(), hooks = new Map()
const waresOf = new Map()      // firing -> Set of ware numbers
const marks = new Map()        // potter and mark, while it counts -> firing
const names = new Map()        // firing and name -> ware
const symbols = new Map()      // symbol -> glaze
const makers = new Map()       // hook -> { person, edition }
let firingNo = 0, wareNo = 0

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
let dice = crypto.randomBytes(8192), thrown = 0
const random = (n) => {
  let s = ''
  while (s.length < n) {
    if (thrown === dice.length) { dice = crypto.randomBytes(8192); thrown = 0 }
    const b = dice[thrown++]
    if (b < 248) s += LETTERS[b % 62]
  }
  return s
}
const markOf = (r) => (r.stage === 'asked' || r.stage === 'accepted' || r.stage === 'lit' ? `${r.potter}\n${r.mark}` : null)
const nameOf = (r) => `${r.firing}\n${r.name}`
const symbolOf = (r) => (bad('resources-symbol-case') ? r.symbol : r.symbol.toLowerCase())

function keepFiring(was, next) {
  const a = was && markOf(was), b = next && markOf(next)
  if (a && a !== b && marks.get(a) === was.no) marks.delete(a)
  if (b) marks.set(b, next.no)
  if (next) firings.set(next.no, next)
  else firings.delete(was.no)
}
function keepWare(was, next) {
  if (was && names.get(nameOf(was)) === was.no) names.delete(nameOf(was))
  if (next) {
    names.set(nameOf(next), next.no)
    wares.set(next.no, next)
    let set = waresOf.get(next.firing)
    if (!set) waresOf.set(next.firing, (set = new Set()))
    set.add(next.no)
  } else {
    wares.delete(was.no)
    const set = waresOf.get(was.firing)
    if (set) set.delete(was.no)
  }
}
function keepGlaze(was, next) {
  if (was) symbols.delete(symbolOf(was))
  if (next) { symbols.set(symbolOf(next), next.code); glazes.set(next.code, next) }
  else glazes.delete(was.code)
}

const feeOf = (cone, pace) => cone * (pace === 'brisk' ? 300 : 120)
const same = (a, b) => {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const x = Object.keys(a).filter((k) => a[k] !== undefined), y = Object.keys(b).filter((k) => b[k] !== undefined)
  return x.length === y.length && x.every((k) => same(a[k], b[k]))
}

// ---------------------------------------------------------------- who may read what

function mayRead(kind, row, who, parent) {
  if (kind === 'firing') {
    if (who.user === 'potter') return row.potter === who.id
    if (who.user === 'stoker') return row.stage === 'asked' || row.stoker === who.id || bad('auth-stoker-reads-all')
    return true
  }
  if (kind === 'ware') {
    if (who.user === 'assayer') return true
    const f = parent || firings.get(row.firing)
    if (!f) return false
    return who.user === 'potter' ? f.potter === who.id : f.stoker === who.id
  }
  if (kind === 'glaze') return who.user === 'assayer' || row.shown
  return row.owner === who.id
}

// ---------------------------------------------------------------- events

const log = []
let eventNo = 0
const streams = new Set()
const RETRY = [10e3, 2 * MINUTE, 30 * MINUTE]

const wants = (row, kind) => row.kinds === undefined ||
  row.kinds.some((k) => k === '*' || k === kind || (k.endsWith('.*') && kind.startsWith(k.slice(0, -1)) && !bad('events-no-wildcard')))

function happen(kind, about, row, data) {
  const ev = { n: ++eventNo, id: 'ev-' + eventNo, kind, at: iso(nowMs()), about, row, data, parent: about === 'ware' ? firings.get(row.firing) : undefined }
  log.push(ev)
  const old = nowMs() - 24 * HOUR
  while (log.length > 0 && Date.parse(log[0].at) < old) log.shift()
  for (const s of streams) if (mayRead(about, row, s.who, ev.parent) || bad('events-stream-of-others')) tell(s, ev)
  for (const hook of hooks.values()) {
    const maker = makers.get(hook.id)
    if (!hook.live || !wants(hook, kind)) continue
    if (!mayRead(about, row, maker.who, ev.parent) && !bad('events-hook-of-others')) continue
    post(hook.id, ev, maker)
  }
}
function envelope(ev, user, edition) {
  let body = ev.data || view(ev.about, ev.row, user, edition)
  if (bad('events-bay-leaks') && ev.about === 'firing' && !ev.data && ev.row.bay) body = { ...body, bay: ev.row.bay }
  return { ref: ev.id, what: ev.kind, at: ev.at, body }
}
const tell = (s, ev) => s.res.write(`id: ${ev.id}\nevent: ${ev.kind}\ndata: ${JSON.stringify(envelope(ev, s.who.user, s.edition))}\n\n`)

const lines = new Map()        // hook and thing -> what is still to be sent there, in order
function post(hookId, ev, maker) {
  const thing = ev.row.no === undefined ? ev.row.code : ev.row.no
  const lane = bad('events-out-of-order') ? `${hookId}|${ev.id}` : `${hookId}|${ev.about}|${thing}`
  const edition = bad('events-edition-lost') ? 2 : maker.edition
  const job = { hookId, ev, body: JSON.stringify(envelope(ev, maker.who.user, edition)), tries: 0 }
  const line = lines.get(lane)
  if (line) return void line.push(job)
  lines.set(lane, [job])
  setImmediate(attempt, lane)
}
function attempt(lane) {
  const line = lines.get(lane)
  if (!line) return
  const job = line[0], hook = hooks.get(job.hookId)
  if (!hook || !hook.live) return void advance(lane)
  const stamp = Math.floor(nowMs() / 1000)
  const id = bad('events-new-id') && job.tries > 0 ? `${job.ev.id}-${job.tries}` : job.ev.id
  const body = id === job.ev.id ? job.body : JSON.stringify({ ...JSON.parse(job.body), ref: id })
  const signed = bad('events-seal-body-only') ? body : `${id}:${stamp}:${body}`
  const seal = crypto.createHmac('sha256', hook.secret).update(signed).digest('base64')
  let done = false
  const settle = (ok) => {
    if (done) return
    done = true
    clearTimeout(timer)
    if (ok) return advance(lane)
    job.tries++
    if (job.tries > RETRY.length) return advance(lane)
    wait(nowMs() + RETRY[job.tries - 1], () => attempt(lane))
  }
  let req
  const timer = setTimeout(() => { settle(false); if (req) req.destroy() }, 3000)
  try {
    req = http.request(hook.url, {
      method: 'POST',
      agent: false,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'Kiln-Kind': job.ev.kind,
        'Kiln-Seal': `at=${stamp};seal=${seal}`,
      },
    }, (res) => {
      res.resume()
      settle(res.statusCode >= 200 && res.statusCode < 300)
      res.on('error', () => {})
    })
    req.on('error', () => settle(false))
    req.end(body)
  } catch {
    settle(false)
  }
}
function advance(lane) {
  const line = lines.get(lane)
  line.shift()
  if (line.length === 0) lines.delete(lane)
  else setImmediate(attempt, lane)
}

// ---------------------------------------------------------------- firings

const OUTPUT = (kind, row, ctx) => view(kind, row, ctx.who.user, ctx.edition)
const tagOf = (o, written) => {
  if (bad('endpoints-etag-ignores-shelves') && o.shelves) written = JSON.stringify({ ...o, 'shelves': 0, 'touched-at': 0 })
  return '"' + crypto.createHash('sha1').update(written || JSON.stringify(o)).digest('base64url') + '"'
}
const numberIn = (s) => (/^[1-9][0-9]{0,14}$/.test(s) ? Number(s) : null)

function theFiring(ctx, arg) {
  const n = numberIn(arg), row = n === null ? undefined : firings.get(n)
  if (!row) refuse('not-here')
  if (!mayRead('firing', row, ctx.who)) {
    if (bad('auth-others-forbidden')) refuse('not-yours')
    if (bad('auth-potter-reads-by-number') && ctx.op.name === 'read firing') return row
    refuse('not-here')
  }
  return row
}

function fierce(row) {
  if (row.cone > 10 || (bad('events-fierce-too-soon') && row.cone === 10)) happen('firing.fierce', 'firing', row)
}

function watchHolds(no, holds) {
  const due = bad('states-lapses-early') ? Date.parse(holds) - DAY : Date.parse(holds)
  wait(due, () => {
    const r = firings.get(no)
    if (!r || r.stage !== 'asked' || (r.holds !== holds && !bad('states-nudge-no-timer'))) return
    const next = { ...r, 'stage': 'lapsed', 'touched-at': iso(nowMs()) }
    keepFiring(r, next)
    if (!bad('events-lapse-silent')) happen('firing.lapsed', 'firing', next)
  })
}
function watchHeat(no, cools) {
  wait(Date.parse(cools), () => {
    const r = firings.get(no)
    if (!r || r.stage !== 'lit' || bad('states-never-cools')) return
    const next = { ...r, 'stage': 'cooled', 'touched-at': iso(nowMs()) }
    keepFiring(r, next)
    happen('firing.cooled', 'firing', next)
  })
}

function askFiring(ctx) {
  const row = up('firing', ctx.edition, readWhole('firing', ctx.edition, ctx.body))
  if (row.cone > 12 && !ctx.who.scopes.includes('hot')) refuse('not-yours')
  const t = nowMs()
  const next = {
    ...row,
    'no': firingNo + 1, 'docket': 'kd-' + random(10), 'potter': ctx.who.id, 'stage': 'asked', 'fee': feeOf(row.cone, row.pace),
    'holds': iso(t + 2 * DAY), 'asked-at': iso(t), 'touched-at': iso(t),
  }
  if (next.clay === 'porcelain' && next.cone < 6) {
    if (bad('events-of-refused')) happen('firing.asked', 'firing', next)
    refuse('porcelain-low')
  }
  if (marks.has(markOf({ ...next, stage: 'asked' })) && !bad('resources-mark-twice')) refuse('taken')
  firingNo++
  keepFiring(null, next)
  watchHolds(next.no, next.holds)
  happen('firing.asked', 'firing', next)
  fierce(next)
  return made('firing', next, `/yard/firings/${next.no}`, ctx)
}
function made(kind, row, where, ctx, extra) {
  const out = { ...OUTPUT(kind, row, ctx), ...extra }
  const headers = { Location: bad('endpoints-location-without-base') ? where.replace('/yard', '') : where }
  if (kind !== 'firing' && kind !== 'glaze') return { status: 201, body: out, headers }
  const written = JSON.stringify(out)
  headers.ETag = tagOf(out, written)
  return { status: 201, body: written, headers }
}
const shown = (kind, row, ctx, headers) => {
  const out = OUTPUT(kind, row, ctx)
  if (kind !== 'firing' && kind !== 'glaze') return { status: 200, body: out, headers }
  const written = JSON.stringify(out)
  return { status: 200, body: written, headers: { ...headers, ETag: tagOf(out, written) } }
}
function conditional(answer, ctx) {
  const want = ctx.req.headers['if-none-match']
  if (want !== undefined) {
    const tag = answer.headers.ETag
    if (want.trim() === '*' || want.split(',').some((t) => t.trim().replace(/^W\//, '') === tag)) return { status: 304, headers: answer.headers }
  }
  return answer
}
function ifMatch(ctx, kind, row, needed) {
  const want = ctx.req.headers['if-match']
  if (want === undefined) {
    if (needed) refuse('say-which')
    return
  }
  if (want.trim() === '*' || bad('endpoints-if-match-ignored')) return
  const tag = tagOf(OUTPUT(kind, row, ctx))
  if (!want.split(',').some((t) => t.trim() === tag)) refuse('stale')
}

function changeFiring(ctx) {
  const was = theFiring(ctx, ctx.args[0])
  ifMatch(ctx, 'firing', was, true)
  const stored = down('firing', ctx.edition, was)
  const got = up('firing', ctx.edition, readPatch('firing', ctx.edition, ctx.body, stored, bad('resources-clay-changes') ? [] : ['clay']))
  const next = { ...was }
  for (const k of Object.keys(got)) {
    if (got[k] === null) delete next[k]
    else next[k] = got[k]
  }
  if (bad('versioning-update-drops-soak') && ctx.edition === 1) delete next.soak
  if (next.cone > 12 && !ctx.who.scopes.includes('hot') && !bad('auth-hot-on-update')) refuse('not-yours')
  if (was.stage !== 'asked' && !(bad('endpoints-update-when-accepted') && was.stage === 'accepted')) refuse('wrong-stage')
  if (next.clay === 'porcelain' && next.cone < 6 && !bad('errors-porcelain-on-update')) refuse('porcelain-low')
  const held = marks.get(markOf(next) || '')
  if (held !== undefined && held !== was.no) refuse('taken')
  if (!same(was, next)) {
    if (!bad('resources-fee-stays')) next.fee = feeOf(next.cone, next.pace)
    next['touched-at'] = iso(nowMs())
    keepFiring(was, next)
    fierce(next)
  } else if (bad('resources-empty-change-counts')) {
    next['touched-at'] = iso(nowMs())
    keepFiring(was, next)
    return shown('firing', next, ctx)
  }
  return shown('firing', firings.get(was.no), ctx)
}
const OVER = ['asked', 'refused', 'withdrawn', 'lapsed']
function dropFiring(ctx) {
  const was = theFiring(ctx, ctx.args[0])
  if (!OVER.includes(was.stage)) refuse('wrong-stage')
  for (const n of [...(waresOf.get(was.no) || [])]) keepWare(wares.get(n), null)
  waresOf.delete(was.no)
  keepFiring(was, null)
  return { status: 204 }
}
const move = (was, stage, more, t) => {
  const next = { ...was, stage, ...more, 'touched-at': iso(t === undefined ? nowMs() : t) }
  keepFiring(was, next)
  return next
}
function small(ctx, fields, required) {
  const out = []
  if (!isMap(ctx.body)) refuse('misshapen', [spot('', 'a map')])
  for (const [k, f] of Object.entries(fields)) {
    if (Object.hasOwn(ctx.body, k)) f(ctx.body[k], '/' + k, out)
    else if (required.includes(k)) out.push(spot('/' + k, 'required'))
  }
  if (out.length > 0) refuse('misshapen', out)
  return ctx.body
}
const MOVES = {
  nudge(ctx) {
    const was = theFiring(ctx, ctx.args[0])
    if (was.stage !== 'asked') refuse('wrong-stage')
    const t = nowMs()
    const holds = bad('states-nudge-no-hold') ? was.holds : iso(t + 2 * DAY)
    const next = move(was, 'asked', { holds }, t)
    watchHolds(next.no, holds)
    return shown('firing', next, ctx)
  },
  withdraw(ctx) {
    const was = theFiring(ctx, ctx.args[0])
    const from = bad('states-withdraw-lit') ? ['asked', 'accepted', 'lit'] : ['asked', 'accepted']
    if (!from.includes(was.stage)) refuse(bad('errors-too-late-lost') ? 'wrong-stage' : 'too-late')
    return shown('firing', move(was, 'withdrawn'), ctx)
  },
  accept(ctx) {
    const was = theFiring(ctx, ctx.args[0])
    const body = small(ctx, { bay: text({ like: /^[A-Z][0-9]$/ }) }, ['bay'])
    if (was.stage !== 'asked') refuse('wrong-stage')
    const next = move(was, 'accepted', { stoker: ctx.who.id, bay: body.bay })
    happen('firing.accepted', 'firing', next)
    return shown('firing', next, ctx)
  },
  refuse(ctx) {
    const was = theFiring(ctx, ctx.args[0])
    const body = small(ctx, { reason: text({ min: 1, max: 120 }) }, ['reason'])
    if (was.stage !== 'asked') refuse('wrong-stage')
    const day = Math.floor(nowMs() / DAY), key = ctx.who.id
    let used = refusals.get(key)
    if (!used || (used.day !== day && !bad('limits-quota-never-resets'))) refusals.set(key, (used = { day, n: 0 }))
    if (used.n >= 12) refuse('enough-today')
    used.n++
    const next = move(was, bad('states-refuse-withdraws') ? 'withdrawn' : 'refused', { stoker: ctx.who.id, reason: body.reason })
    happen('firing.refused', 'firing', next, { firing: next.no, reason: body.reason })
    return shown('firing', next, ctx)
  },
  light(ctx) {
    const was = theFiring(ctx, ctx.args[0])
    if (was.stoker !== ctx.who.id) refuse('not-yours')
    const body = small(ctx, { degrees: whole(0, 1500) }, ['degrees'])
    if (was.stage !== 'accepted') refuse('wrong-stage')
    if (body.degrees < 600 && !bad('states-lights-cold')) refuse('too-cold')
    const t = nowMs()
    const next = move(was, 'lit', { cools: iso(t + 6 * HOUR) }, t)
    watchHeat(next.no, next.cools)
    return { status: 202, body: { firing: next.no, stage: next.stage }, headers: { 'Kiln-Docket': next.docket } }
  },
  draw(ctx) {
    const was = theFiring(ctx, ctx.args[0])
    const body = small(ctx, { verdict: text({ min: 1, max: 60 }) }, [])
    if (was.stage !== 'cooled') refuse('wrong-stage')
    return shown('firing', move(was, 'drawn', { verdict: body.verdict === undefined ? 'unsaid' : body.verdict }), ctx)
  },
}
const refusals = new Map()     // stoker -> how many on which day

// ---------------------------------------------------------------- lists

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
// Ties stay as they were made, oldest first, whichever way the rest is turned.
function inOrder(rows, f, backwards) {
  let rising = true
  for (let i = 1; i < rows.length && rising; i++) rising = rows[i - 1][f] <= rows[i][f]
  if (!rising) rows.sort((a, b) => compare(a[f], b[f]))
  const ties = bad('endpoints-ties-backwards')
  if (!backwards && !ties) return rows
  const out = []
  const put = (from, to) => {
    if (ties) for (let i = to - 1; i >= from; i--) out.push(rows[i])
    else for (let i = from; i < to; i++) out.push(rows[i])
  }
  if (backwards) {
    for (let to = rows.length; to > 0;) {
      let from = to - 1
      while (from > 0 && rows[from - 1][f] === rows[to - 1][f]) from--
      put(from, to)
      to = from
    }
  } else {
    for (let from = 0; from < rows.length;) {
      let to = from + 1
      while (to < rows.length && rows[to][f] === rows[from][f]) to++
      put(from, to)
      from = to
    }
  }
  return out
}
function sheetOf(kind, rows, ctx, order) {
  if (order) {
    const backwards = order.startsWith('-'), f = backwards ? order.slice(1) : order
    rows = inOrder(rows, f, backwards)
  }
  const { skip, take } = ctx.query
  const cut = rows.slice(skip, skip + take)
  return {
    status: 200,
    body: {
      kind: ctx.op.sheet.kind,
      rows: cut.map((r) => OUTPUT(kind, r, ctx)),
      tally: bad('limits-tally-of-page') ? cut.length : rows.length,
      more: skip + cut.length < rows.length,
    },
  }
}
function listFirings(ctx) {
  const q = ctx.query, rows = []
  const pace = q.pace === undefined ? undefined : ctx.edition === 1 ? PACE_UP[q.pace] : q.pace
  const since = q.since === undefined ? undefined : instant(q.since)
  for (const r of firings.values()) {
    if (!mayRead('firing', r, ctx.who) && !(bad('auth-list-of-others') && ctx.who.user === 'potter')) continue
    if (q.stage !== undefined && r.stage !== q.stage) continue
    if (q.clay !== undefined && r.clay !== q.clay) continue
    if (pace !== undefined && r.pace !== pace) continue
    if (q.hottest !== undefined && (bad('endpoints-filter-strict') ? r.cone >= q.hottest : r.cone > q.hottest)) continue
    if (since !== undefined && Date.parse(r['asked-at']) < since) continue
    rows.push(r)
  }
  let order = q.sort || '-asked-at'
  order = order.replace('heat', 'cone')
  return sheetOf('firing', rows, ctx, order)
}

// ---------------------------------------------------------------- ware

function refsOf(got, who) {
  for (const f of ['glaze', 'accent']) {
    const code = got[f]
    if (code === undefined || code === null) continue
    const g = glazes.get(code)
    if (!g || (!mayRead('glaze', g, who) && !bad('auth-hidden-glaze-used'))) refuse('no-such-ref', [spot('/' + f, 'a glaze')])
  }
}
function addWare(ctx) {
  const firing = theFiring(ctx, ctx.args[0])
  const row = up('ware', ctx.edition, readWhole('ware', ctx.edition, ctx.body, { firing: firing.no }))
  refsOf(row, ctx.who)
  if (firing.stage !== 'asked' && !bad('errors-shelves-open')) refuse('shelves-shut')
  if (row.form === 'bowl' && glazes.get(row.glaze).hazard === 'lead' && !bad('errors-lead-allowed')) refuse('leaded-bowl')
  if (names.has(nameOf(row))) refuse('taken')
  const next = { no: ++wareNo, ...row }
  keepWare(null, next)
  happen('ware.added', 'ware', next)
  return made('ware', next, `/yard/firings/${firing.no}/wares/${next.no}`, ctx)
}
function theWare(ctx) {
  const firing = theFiring(ctx, ctx.args[0])
  const n = numberIn(ctx.args[1]), row = n === null ? undefined : wares.get(n)
  if (!row || (row.firing !== firing.no && !bad('endpoints-parent-unchecked'))) refuse('not-here')
  if (!mayRead('ware', row, ctx.who)) refuse('not-here')
  return row
}
function listWares(ctx) {
  const firing = theFiring(ctx, ctx.args[0]), q = ctx.query, rows = []
  for (const n of waresOf.get(firing.no) || []) {
    const r = wares.get(n)
    if (!mayRead('ware', r, ctx.who)) continue
    if (q.form !== undefined && r.form !== q.form) continue
    if (q.packed !== undefined && r.packed !== q.packed) continue
    if (q.heaviest !== undefined && r.mass > q.heaviest) continue
    const hit = bad('endpoints-contains-any-case') ? r.name.toLowerCase().includes((q['name-has'] || '').toLowerCase()) : r.name.includes(q['name-has'] || '')
    if (q['name-has'] !== undefined && !hit) continue
    rows.push(r)
  }
  return sheetOf('ware', rows, ctx, q.sort || '-mass')
}
function changeWare(ctx) {
  const was = theWare(ctx)
  const got = up('ware', ctx.edition, readPatch('ware', ctx.edition, ctx.body, down('ware', ctx.edition, was), ['firing']))
  refsOf(got, ctx.who)
  const next = { ...was }
  for (const k of Object.keys(got)) {
    if (got[k] === null) delete next[k]
    else next[k] = got[k]
  }
  if (next.form === 'bowl' && glazes.get(next.glaze).hazard === 'lead' && !bad('errors-lead-allowed')) refuse('leaded-bowl')
  const held = names.get(nameOf(next))
  if (held !== undefined && held !== was.no) refuse('taken')
  if (!same(was, next)) keepWare(was, next)
  return shown('ware', wares.get(was.no), ctx)
}
function dropWare(ctx) {
  keepWare(theWare(ctx), null)
  return { status: 204 }
}

// ---------------------------------------------------------------- glazes

function theGlaze(ctx) {
  const row = glazes.get(ctx.args[0])
  if (!row || !mayRead('glaze', row, ctx.who)) refuse('not-here')
  return row
}
function addGlaze(ctx) {
  const row = readWhole('glaze', ctx.edition, ctx.body)
  if (row.span.low > row.span.high) refuse('span-backwards')
  if (glazes.has(row.code) && bad('resources-code-overwrites')) keepGlaze(glazes.get(row.code), null)
  const next = { ...row, assayer: ctx.who.id, revised: iso(nowMs()) }
  if (glazes.has(row.code) || symbols.has(symbolOf(next))) refuse('taken')
  keepGlaze(null, next)
  return made('glaze', next, `/yard/glazes/${next.code}`, ctx)
}
function listGlazes(ctx) {
  const q = ctx.query, rows = []
  for (const r of glazes.values()) {
    if (!mayRead('glaze', r, ctx.who)) continue
    if (q.hazard !== undefined && r.hazard !== q.hazard) continue
    if (q['title-starts'] !== undefined && !r.title.startsWith(q['title-starts'])) continue
    rows.push(r)
  }
  return sheetOf('glaze', rows, ctx, 'code')
}
function replaceGlaze(ctx) {
  const was = theGlaze(ctx)
  if (was.assayer !== ctx.who.id && !bad('auth-any-assayer-replaces')) refuse('not-yours')
  ifMatch(ctx, 'glaze', was, false)
  const row = readWhole('glaze', ctx.edition, ctx.body, { code: was.code })
  const next = { ...row, assayer: was.assayer, revised: was.revised }
  if (bad('endpoints-replace-merges')) for (const k of Object.keys(was)) if (next[k] === undefined) next[k] = was[k]
  if (next.span.low > next.span.high) refuse('span-backwards')
  const held = symbols.get(symbolOf(next))
  if (held !== undefined && held !== was.code) refuse('taken')
  if (!same(was, next)) {
    next.revised = iso(nowMs())
    keepGlaze(was, next)
  }
  return shown('glaze', glazes.get(was.code), ctx)
}
function strikeGlaze(ctx) {
  const was = theGlaze(ctx)
  if (was.assayer !== ctx.who.id) refuse('not-yours')
  const touched = []
  for (const w of wares.values()) {
    if (w.glaze === was.code) refuse('still-used')
    if (w.accent === was.code) touched.push(w)
  }
  for (const w of touched) {
    if (bad('resources-accent-dangles')) break
    const next = { ...w }
    delete next.accent
    keepWare(w, next)
  }
  keepGlaze(was, null)
  happen('glaze.struck', 'glaze', was)
  return { status: 204 }
}

// ---------------------------------------------------------------- hooks

function addHook(ctx) {
  const row = readWhole('hook', ctx.edition, ctx.body)
  const next = { id: 'hk-' + random(12), owner: ctx.who.id, ...row, secret: 'seal-' + random(40) }
  hooks.set(next.id, next)
  makers.set(next.id, { who: ctx.who, edition: ctx.edition })
  return made('hook', next, `/yard/hooks/${next.id}`, ctx, { secret: next.secret })
}
function theHook(ctx) {
  const row = hooks.get(ctx.args[0])
  if (!row || !mayRead('hook', row, ctx.who)) refuse('not-here')
  return row
}
function readHook(ctx) {
  const row = theHook(ctx), a = shown('hook', row, ctx)
  if (bad('resources-secret-again')) a.body.secret = row.secret
  return a
}
function changeHook(ctx) {
  const was = theHook(ctx)
  const got = readPatch('hook', ctx.edition, ctx.body, was, [])
  const next = { ...was }
  for (const k of Object.keys(got)) {
    if (got[k] === null) delete next[k]
    else next[k] = got[k]
  }
  hooks.set(next.id, next)
  return shown('hook', next, ctx)
}
function dropHook(ctx) {
  const was = theHook(ctx)
  hooks.delete(was.id)
  makers.delete(was.id)
  return { status: 204 }
}
const listHooks = (ctx) => sheetOf('hook', [...hooks.values()].filter((r) => mayRead('hook', r, ctx.who)), ctx, null)

// ---------------------------------------------------------------- the stream

function murmur(ctx) {
  const s = { res: ctx.res, who: ctx.who, edition: ctx.edition }
  ctx.res.writeHead(200, { ...ctx.headers, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
  ctx.res.write(': the kiln murmurs\n\n')
  const last = ctx.req.headers['last-event-id']
  if (last !== undefined && !bad('events-no-resume')) {
    const old = nowMs() - 24 * HOUR
    const kept = log.filter((e) => Date.parse(e.at) >= old)
    const i = kept.findIndex((e) => e.id === last)
    for (const ev of kept.slice(i + 1)) if (mayRead(ev.about, ev.row, s.who, ev.parent)) tell(s, ev)
  }
  streams.add(s)
  const beat = setInterval(() => ctx.res.write(': \n\n'), 15000)
  ctx.res.on('close', () => { clearInterval(beat); streams.delete(s) })
  return null
}

// ---------------------------------------------------------------- what can be asked for

const any3 = ['potter', 'stoker', 'assayer']
const wholeWord = (min, max) => (s) => {
  if (!/^-?(0|[1-9][0-9]*)$/.test(s)) return undefined
  const n = Number(s)
  return n >= min && n <= max ? n : undefined
}
const wordOf = (...l) => (s) => (l.includes(s) ? s : undefined)
const textOf = (min, max) => (s) => { const n = points(s); return n >= min && n <= max ? s : undefined }
const instantOf = (s) => (realInstant(s) ? s : undefined)
const truthOf = (s) => (s === 'true' ? true : s === 'false' ? false : undefined)
const STAGES = ['asked', 'accepted', 'lit', 'cooled', 'drawn', 'refused', 'withdrawn', 'lapsed']
const CLAYS = ['earthenware', 'stoneware', 'porcelain']
const SHEET = { kind: 'sheet', size: 10, max: 40, over: 'clamp' }
const SHELF_SHEET = { kind: 'shelf-sheet', size: 5, max: 20, over: 'refuse' }

const OPS = []
const op = (method, path, name, users, act, more) => OPS.push({ method, parts: path.split('/').slice(1), name, users, act, query: {}, ...more })
op('GET', '/pulse', 'reply pulse', null, () => ({ status: 200, body: { pulse: 'warm', cones: [1, 14] } }))
op('GET', '/estimate', 'handler estimate', null, (ctx) => ({ status: 200, body: { fee: feeOf(ctx.query.cone, ctx.query.pace || 'slow') } }),
  { query: { cone: wholeWord(1, 14), pace: wordOf('slow', 'brisk') }, needs: ['cone'], since: 2 })
op('POST', '/firings', 'create firing', ['potter'], askFiring, { body: 'json', once: true })
op('GET', '/firings', 'list firing', any3, listFirings, {
  sheet: SHEET,
  query: {
    stage: wordOf(...STAGES), clay: wordOf(...CLAYS),
    pace: (s, e) => (e === 1 ? wordOf('gentle', 'quick') : wordOf('slow', 'brisk'))(s),
    hottest: wholeWord(1, 14), since: instantOf,
    sort: (s, e) => (e === 1 ? wordOf('heat', '-heat', 'asked-at', '-asked-at') : wordOf('cone', '-cone', 'asked-at', '-asked-at'))(s),
  },
})
op('GET', '/firings/:', 'read firing', any3, (ctx) => conditional(shown('firing', theFiring(ctx, ctx.args[0]), ctx, { 'Cache-Control': 'private, no-cache' }), ctx))
op('PATCH', '/firings/:', 'update firing', ['potter'], changeFiring, { body: 'merge' })
op('DELETE', '/firings/:', 'delete firing', ['potter'], dropFiring)
for (const [verb, user, body] of [['nudge', 'potter'], ['withdraw', 'potter'], ['accept', 'stoker', 'json'], ['refuse', 'stoker', 'json'], ['light', 'stoker', 'json'], ['draw', 'potter', 'optional']]) {
  if (verb === 'draw' && bad('functions-no-draw')) continue
  op('POST', '/firings/:/' + verb, verb + ' firing', [user], MOVES[verb], { body })
}
op('POST', '/firings/:/wares', 'create ware', ['potter'], addWare, { body: 'json' })
op('GET', '/firings/:/wares', 'list ware', any3, listWares, {
  sheet: SHELF_SHEET,
  query: { 'form': wordOf('bowl', 'vase', 'tile'), 'packed': truthOf, 'heaviest': wholeWord(1, 20000), 'name-has': textOf(1, 80), 'sort': wordOf('mass', '-mass') },
})
op('GET', '/firings/:/wares/:', 'read ware', any3, (ctx) => shown('ware', theWare(ctx), ctx))
op('PATCH', '/firings/:/wares/:', 'update ware', ['potter'], changeWare, { body: 'merge' })
op('DELETE', '/firings/:/wares/:', 'delete ware', ['potter'], dropWare)
op('POST', '/glazes', 'create glaze', ['assayer'], addGlaze, { body: 'json' })
op('GET', '/glazes', 'list glaze', any3, listGlazes, { sheet: SHEET, query: { 'hazard': wordOf('safe', 'lead', 'barium'), 'title-starts': textOf(1, 60) } })
op('GET', '/glazes/:', 'read glaze', any3, (ctx) => conditional(shown('glaze', theGlaze(ctx), ctx), ctx))
op('PUT', '/glazes/:', 'replace glaze', ['assayer'], replaceGlaze, { body: 'json' })
op('DELETE', '/glazes/:', 'delete glaze', ['assayer'], strikeGlaze, { scope: 'strike' })
op('POST', '/hooks', 'create hook', any3, addHook, { body: 'json' })
op('GET', '/hooks', 'list hook', any3, listHooks, { sheet: SHEET })
op('GET', '/hooks/:', 'read hook', any3, readHook)
if (!bad('functions-no-hook-change')) op('PATCH', '/hooks/:', 'update hook', any3, changeHook, { body: 'merge' })
op('DELETE', '/hooks/:', 'delete hook', any3, dropHook)
op('GET', '/murmur', 'stream events', any3, murmur, { stream: true })

const bySize = new Map()
for (const o of OPS) {
  const k = o.parts.length
  if (!bySize.has(k)) bySize.set(k, [])
  bySize.get(k).push(o)
}

function route(method, path, edition) {
  if (bad('base-missing')) {
    if (!path.startsWith('/')) refuse('no-such-path')
  } else {
    if (!path.startsWith('/yard/')) refuse('no-such-path')
    path = path.slice(5)
  }
  const got = path.slice(1).split('/')
  if (bad('base-hooks-elsewhere') && got[0] === 'hooks') refuse('no-such-path')
  const allow = []
  for (const o of bySize.get(got.length) || []) {
    let fits = true
    for (let i = 0; i < got.length; i++) if (o.parts[i] === ':' ? got[i] === '' : o.parts[i] !== got[i]) { fits = false; break }
    if (!fits || (o.since > edition && !bad('versioning-estimate-too-old'))) continue
    if (o.method !== method) { allow.push(o.method); continue }
    const args = []
    for (let i = 0; i < got.length; i++) if (o.parts[i] === ':') { try { args.push(decodeURIComponent(got[i])) } catch { refuse('no-such-path') } }
    return { op: o, args }
  }
  if (allow.length > 0) refuse('no-such-method', [], { Allow: allow.join(', ') })
  refuse('no-such-path')
}

// ---------------------------------------------------------------- one exchange

const SUNSET = Date.parse('2031-01-01T00:00:00Z')
const OLD = {
  Deprecation: '@' + Date.parse('2026-06-01T00:00:00Z') / 1000,
  Sunset: new Date(SUNSET).toUTCString(),
  Link: '<https://kiln.example/editions>; rel="deprecation", <https://kiln.example/editions>; rel="sunset"',
}
const nudges = new Map()
const once = new Map()
setInterval(() => {
  const t = nowMs()
  for (const [k, v] of once) if (v.until <= t) once.delete(k)
}, 60e3).unref()

function pairsOf(raw) {
  const out = []
  if (raw === '') return out
  for (const bit of raw.split('&')) {
    if (bit === '') continue
    const eq = bit.indexOf('='), k = eq < 0 ? bit : bit.slice(0, eq), v = eq < 0 ? '' : bit.slice(eq + 1)
    try { out.push([decodeURIComponent(k.replace(/\+/g, ' ')), decodeURIComponent(v.replace(/\+/g, ' '))]) } catch { out.push([k, null]) }
  }
  return out
}
function accepts(header) {
  if (header === undefined || header.trim() === '') return true
  let best = -1, q = 0
  for (const bit of header.split(',')) {
    const [type, ...ps] = bit.trim().toLowerCase().split(/\s*;\s*/)
    const rank = type === 'application/json' ? 2 : type === 'application/*' ? 1 : type === '*/*' || type === '*' ? 0 : -1
    if (rank < 0) continue
    const w = ps.find((p) => p.startsWith('q='))
    const weight = w ? Number(w.slice(2)) : 1
    if (rank > best) { best = rank; q = weight } else if (rank === best) q = Math.max(q, weight)
  }
  return best >= 0 && q > 0
}

function queryOf(o, pairs, edition) {
  const got = {}, spots = []
  const wrong = (name) => spots.push({ in: 'query', path: name, expected: 'another value' })
  for (const [k, v] of pairs) {
    if (k === 'edition') continue
    if (v === null || Object.hasOwn(got, k)) { wrong(k); continue }
    if (Object.hasOwn(o.query, k)) {
      const x = o.query[k](v, edition)
      if (x === undefined) wrong(k)
      else got[k] = x
    } else if (o.sheet && k === 'skip') {
      const x = wholeWord(0, Number.MAX_SAFE_INTEGER)(v)
      if (x === undefined) wrong(k)
      else got[k] = x
    } else if (o.sheet && k === 'take') {
      const x = wholeWord(1, Number.MAX_SAFE_INTEGER)(v)
      const max = bad('limits-page-unbounded') ? 1e6 : o.sheet.max
      if (x === undefined || (x > max && o.sheet.over === 'refuse' && !bad('limits-over-max-clamped'))) wrong(k)
      else got[k] = Math.min(x, max)
    } else if (!bad('endpoints-loose-query')) {
      wrong(k)
    }
  }
  for (const k of o.needs || []) if (got[k] === undefined) wrong(k)
  if (spots.length > 0) refuse('bad-query', spots)
  if (o.sheet) {
    if (got.skip === undefined) got.skip = 0
    if (got.take === undefined) got.take = o.sheet.size
  }
  return got
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function serve(req, res, buffer, tooBig, tooSlow) {
  const headers = { Vary: 'Kiln-Key, Authorization' }
  let answer
  try {
    answer = exchange(req, res, buffer, tooBig, tooSlow, headers)
  } catch (e) {
    if (!(e instanceof Refusal)) console.error(e)
    const r = e instanceof Refusal ? e : new Refusal('mishap')
    answer = refused(r)
  }
  if (answer === null) return
  const out = answer.body === undefined ? '' : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
  Object.assign(headers, answer.headers)
  if (answer.status !== 204 && answer.status !== 304) {
    headers['Content-Type'] = 'application/json'
    headers['Content-Length'] = Buffer.byteLength(out)
  }
  if (tooSlow) headers.Connection = 'close'
  res.writeHead(answer.status, headers)
  res.end(out)
}
function refused(r) {
  const headers = { ...r.headers }
  if (r.code === 'who-are-you') headers['WWW-Authenticate'] = 'Basic realm="kiln", charset="UTF-8"'
  return { status: CODES[r.code][0], body: problem(r.code, r.spots), headers }
}

function exchange(req, res, buffer, tooBig, tooSlow, headers) {
  // sizes of what came first
  if (req.url.length > 2048) refuse('too-big')
  let sum = 0
  for (const h of req.rawHeaders) sum += h.length + 2
  if (sum > 8192) refuse('too-big')

  // route and edition
  const cut = req.url.indexOf('?')
  const path = cut < 0 ? req.url : req.url.slice(0, cut)
  const pairs = pairsOf(cut < 0 ? '' : req.url.slice(cut + 1))
  const said = pairs.filter((p) => p[0] === 'edition').map((p) => p[1])
  let edition = said.length === 0 ? (bad('versioning-default-oldest') ? 1 : 2) : said.length === 1 && said[0] === '1' ? 1 : said.length === 1 && said[0] === '2' ? 2 : 0
  if (edition === 0 && bad('versioning-unknown-is-current')) edition = 2
  if (edition === 1 && !bad('versioning-silent-deprecation')) Object.assign(headers, OLD)
  const { op: o, args } = route(req.method, path, edition || 2)
  if (edition === 0) refuse('no-such-edition')
  if (edition === 1 && nowMs() >= SUNSET && !bad('versioning-sunset-passes')) refuse('edition-gone')

  // who, how often, whether at all
  const ctx = { req, res, op: o, args, edition, headers, who: null }
  if (o.users) {
    ctx.who = whoIs(req.headers)
    if (o.name === 'nudge firing') {
      const t = nowMs(), who = bad('limits-rate-shared') ? '*' : ctx.who.id
      let seen = nudges.get(who)
      if (!seen) nudges.set(who, (seen = []))
      while (seen.length > 0 && seen[0] <= t - MINUTE) seen.shift()
      if (seen.length >= (bad('limits-rate-off') ? 12 : 10)) {
        if (bad('limits-refused-count')) seen.push(t)
        refuse('too-often', [], { 'Retry-After': String(Math.max(1, Math.ceil((seen[0] + MINUTE - t) / 1000))) })
      }
      seen.push(t)
    }
    if (!o.users.includes(ctx.who.user)) refuse('not-yours')
    if (bad('users-stoker-shut-out') && ctx.who.user === 'stoker') refuse('not-yours')
    if (o.scope && !ctx.who.scopes.includes(o.scope) && !bad('auth-strike-for-all')) refuse('not-yours')
  }

  // what was sent
  if (tooSlow) refuse('too-slow')
  if (!o.stream && !accepts(req.headers.accept)) refuse('cannot-offer')
  let media
  if (o.body) {
    const type = req.headers['content-type']
    media = type === undefined ? undefined : type.split(';')[0].trim().toLowerCase()
    const good = media === 'application/json' || (o.body === 'merge' && media === 'application/merge-patch+json')
    if (!good && !bad('errors-any-media') && (media !== undefined || buffer.length > 0)) refuse('wrong-media')
  }
  if (tooBig) refuse('too-big')
  if (o.body) {
    if (buffer.length === 0) {
      if (o.body !== 'optional') refuse('garbled')
      ctx.body = {}
    } else {
      try { ctx.body = JSON.parse(utf8.decode(buffer)) } catch { refuse(bad('errors-garbled-mishap') ? 'mishap' : 'garbled') }
    }
  }
  ctx.query = queryOf(o, pairs, edition)

  // the same again
  const word = o.once ? req.headers['kiln-once'] : undefined
  if (word === undefined) return o.act(ctx)
  const place = bad('endpoints-once-shared') ? word : `${ctx.who.user}\n${ctx.who.id}\n${o.name}\n${word}`
  const print = crypto.createHash('sha256').update(`${req.url}\n${edition}\n`).update(buffer).digest('base64')
  const had = once.get(place)
  if (had && had.until > nowMs()) {
    if (had.print !== print && !bad('endpoints-once-unchecked')) refuse('once-reused')
    return had.answer
  }
  const keep = (answer) => once.set(place, { print, answer, until: nowMs() + 12 * HOUR })
  try {
    const answer = o.act(ctx)
    keep(answer)
    return answer
  } catch (e) {
    if (e instanceof Refusal && OWN.has(e.code)) {
      const answer = refused(e)
      keep(answer)
      return answer
    }
    throw e
  }
}

const BODY = bad('limits-body-unbounded') ? 64 * 1024 * 1024 : 16 * 1024
const EMPTY = Buffer.alloc(0)
const server = http.createServer({ maxHeaderSize: 96 * 1024, connectionsCheckingInterval: 250, headersTimeout: 5000, requestTimeout: 0, keepAliveTimeout: 60000 }, (req, res) => {
  req.on('error', () => {})
  res.on('error', () => {})
  const length = req.headers['content-length']
  if (req.headers['transfer-encoding'] === undefined && (length === undefined || length === '0')) {
    req.resume()
    return serve(req, res, EMPTY, false)
  }
  if (length !== undefined && Number(length) > BODY) {
    req.resume()
    return serve(req, res, EMPTY, true)
  }
  const bits = []
  let size = 0, over = false
  const timer = setTimeout(() => {
    if (over || bad('limits-no-timeout')) return
    over = true
    serve(req, res, EMPTY, false, true)
    res.on('finish', () => setTimeout(() => req.destroy(), 100))
  }, 5000)
  req.on('data', (b) => {
    if (over) return
    size += b.length
    if (size > BODY) {
      over = true
      clearTimeout(timer)
      return serve(req, res, EMPTY, true)
    }
    bits.push(b)
  })
  req.on('end', () => {
    clearTimeout(timer)
    if (!over) { over = true; serve(req, res, Buffer.concat(bits), false) }
  })
  req.on('close', () => clearTimeout(timer))
})
server.on('clientError', (err, socket) => {
  if (err.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
    // nothing was asked yet: an idle connection, which may stay a minute
    setTimeout(() => { if (socket.bytesRead === 0) socket.destroy() }, 55000).unref()
    return
  }
  if (!socket.writable) return void socket.destroy()
  const code = err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too-slow' : err.code === 'HPE_HEADER_OVERFLOW' ? 'too-big' : 'garbled'
  const out = JSON.stringify(problem(code, []))
  const reason = http.STATUS_CODES[CODES[code][0]]
  socket.end(`HTTP/1.1 ${CODES[code][0]} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(out)}\r\nConnection: close\r\n\r\n${out}`)
})

// ---------------------------------------------------------------- the clock door

const door = http.createServer((req, res) => {
  const say = (status, o) => {
    res.writeHead(status, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify(o))
  }
  const bits = []
  req.on('data', (b) => bits.push(b))
  req.on('end', () => {
    if (req.url !== '/') return say(404, { wrong: 'no such door' })
    if (req.method === 'GET') return say(200, { now: iso(nowMs()) })
    if (req.method !== 'POST') return say(405, { wrong: 'GET or POST' })
    let b
    try { b = JSON.parse(Buffer.concat(bits).toString('utf8')) } catch { return say(400, { wrong: 'no JSON' }) }
    if (!isMap(b)) return say(400, { wrong: 'no map' })
    const names = Object.keys(b)
    if (names.length !== 1) return say(400, { wrong: 'advance or now' })
    // A duration of seconds in ISO 8601, or milliseconds.
    const ahead = /^PT(\d+(?:\.\d+)?)S$/.exec(b.advance)
    let by
    if (names[0] === 'advance' && ahead) by = Math.round(Number(ahead[1]) * 1000)
    else if (names[0] === 'advance' && typeof b.advance === 'number' && Number.isFinite(b.advance)) by = Math.round(b.advance)
    else if (names[0] === 'now' && typeof b.now === 'string' && realInstant(b.now)) by = Math.round(instant(b.now) - nowMs())
    else return say(400, { wrong: 'advance or now' })
    if (by < 0) return say(422, { wrong: 'only forward' })
    if (nowMs() + by > 253402300799000) return say(400, { wrong: 'too far' })
    skew += by
    ring()
    say(200, { now: iso(nowMs()) })
  })
})

server.listen(PORT, '127.0.0.1', 1024, () => {
  const ready = () => console.log(`the kiln listens on http://127.0.0.1:${server.address().port}/yard` + (CLOCK_PORT === null ? '' : `, its clock on http://127.0.0.1:${door.address().port}/`))
  if (CLOCK_PORT === null) ready()
  else door.listen(CLOCK_PORT, '127.0.0.1', ready)
})
