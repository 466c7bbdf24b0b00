// Kartonage: a bureau that punches cardboard music. State lives in Maps; the routes are a table at the end.
import http from 'node:http'
import https from 'node:https'
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto'

const argv = process.argv.slice(2)
const option = name => { const at = argv.indexOf(`--${name}`); return at < 0 ? undefined : argv[at + 1] }
const FAULT = option('fault')
const bug = id => FAULT === id
const TITLE = 'Kartonage, a bureau that punches cardboard music for fairground organs'
const BASE = '/bureau'
const SEC = 1000, MIN = 60 * SEC, HOUR = 60 * MIN, DAY = 24 * HOUR

// ---- the clock
let offset = 0
let held = null // while the clock is moved it stands at what falls due
const now = () => held ?? Date.now() + offset
const iso = ms => new Date(ms).toISOString()

// ---- state
const scales = new Map(), books = new Map(), corrections = new Map(), listeners = new Map(), entries = new Map()
const buried = new Map() // id of a deleted book -> { row, until }
const numbers = new Map(), onceKeys = new Map(), windows = new Map(), buckets = new Map(), quotas = new Map()
const queues = new Map() // listener + row -> deliveries, in order
let seq = 0
const born = row => { Object.defineProperty(row, 'seq', { value: ++seq, enumerable: false, writable: true }); return row }
const copy = row => Object.defineProperty({ ...row }, 'seq', { value: row.seq, enumerable: false, writable: true })
for (const [code, maker, keys, stops, retired] of [['gavioli-89', 'Gavioli', 89, ['flute', 'violin', 'trombone'], false],
  ['limonaire-52', 'Limonaire', 52, ['flute'], false], ['marenghi-67', 'Marenghi', 67, [], true]]) scales.set(code, born({ code, maker, keys, stops, retired }))

const people = [
  { user: 'arranger', id: 'ann', house: 'quai', scopes: [], pass: 'pass-annannannannann1', coin: 'coin-annannannannann1' },
  { user: 'arranger', id: 'bob', house: 'quai', scopes: [], pass: 'pass-bobbobbobbobbob1' },
  { user: 'arranger', id: 'cas', house: 'dune', scopes: [], pass: 'pass-cascascascascas1', coin: 'coin-cascascascascas1' },
  { user: 'puncher', id: 'pia', house: 'bench', scopes: ['stock'], pass: 'pass-piapiapiapiapia1', coin: 'coin-piapiapiapiapia1' },
  { user: 'puncher', id: 'pol', house: 'bench', scopes: [], pass: 'pass-polpolpolpolpol1' },
]
const byPass = new Map(people.map(p => [p.pass, p]))
const byCoin = new Map(people.filter(p => p.coin).map(p => [p.coin, p]))

const pick = (alphabet, n) => Array.from({ length: n }, () => alphabet[randomInt(alphabet.length)]).join('')
const LOWER = 'abcdefghijklmnopqrstuvwxyz', DIGITS = '0123456789', ALNUM = LOWER.toUpperCase() + LOWER + DIGITS

// ---- refusals
const STATUS = { unreadable: 400, no_body: 400, wrong_paper: 415, bad_query: 400, bad_page: 416, gap: 422, stray: 422, sealed: 409, out_of_tune: 422,
  lost: 404, pulped_row: 410, no_such: 422, wrong_method: 405, no_pass: 401, bad_pass: 401, not_for_you: 403, no_key_to_stock: 403, twice: 409, in_use: 409,
  out_of_turn: 409, too_late: 410, no_bars: 422, marks_open: 409, wrong_stage: 409, bar_beyond: 422, retired: 409, slow_light: 422, changed: 412,
  tag_wanted: 428, key_reused: 422, at_work: 409, slow_down: 429, full: 403, too_thick: 413, long_address: 414, long_headers: 431, too_slow: 408,
  no_edition: 404, old_edition: 410, resting: 503, broken: 500 }
const SAID = { unreadable: 'The body cannot be read.', out_of_tune: 'A value does not fit.', too_late: 'The bench has begun.',
  no_bars: 'Nobody knows how many bars it has.', marks_open: 'There are corrections that are open.', wrong_stage: 'A book is corrected while it is proofed.',
  bar_beyond: 'The book is shorter.', retired: 'Nobody punches for this organ any more.', slow_light: 'Light board wants a brisk crank.' }
const OWN = new Set(['too_late', 'no_bars', 'marks_open', 'wrong_stage', 'bar_beyond', 'retired', 'slow_light'])
class Refusal extends Error {
  constructor(code, { said, where, headers } = {}) { super(code); Object.assign(this, { code, said: said ?? SAID[code] ?? http.STATUS_CODES[STATUS[code]], where, headers: headers ?? {} }) }
}
const refuse = (code, more) => { throw new Refusal(code, more) }

// ---- shapes
const text = (min, max, more = {}) => ({ type: 'string', min, max, ...more })
const whole = (min, max, more = {}) => ({ type: 'integer', min, max, ...more })
const KINDS = ['book.ordered', 'book.moved', 'book.lengthened', 'correction.raised', 'correction.closed', 'correction.dropped']
const SHAPES = {
  scale: { code: text(0, 99, { pattern: /^[a-z]{3,12}-[0-9]{2,3}$/, required: true }), maker: text(2, 40, { required: true }), keys: whole(20, 124, { required: true }),
    stops: { type: 'array', items: text(1, 20), max: 12, unique: true, default: [], required: true }, retired: { type: 'boolean', default: false, required: true }, books: { readOnly: true } },
  book: { id: { readOnly: true }, number: { readOnly: true }, owner: { readOnly: true }, house: { readOnly: true }, scale: { type: 'string', immutable: true, required: true },
    title: text(1, 80, { required: true }), composer: text(0, 60), board: { type: 'string', enum: ['light', 'heavy', 'shellac'], default: 'heavy', required: true },
    metres: whole(1, 400, { required: true }), bars: whole(1, 999), crank: whole(30, 90, { default: 60, required: true }),
    pitch: { type: 'object', fields: { hertz: whole(392, 466, { required: true }), temper: { type: 'string', enum: ['equal', 'meantone'] } } },
    bench_note: text(0, 120, { only: 'puncher' }), stage: { readOnly: true }, open_marks: { readOnly: true }, spoil_reason: { readOnly: true }, keep_until: { readOnly: true },
    made_at: { readOnly: true }, changed_at: { readOnly: true } },
  correction: { id: { readOnly: true }, book: { type: 'string', immutable: true, required: true, bound: true }, house: { readOnly: true }, by: { readOnly: true },
    bar: whole(1, 999, { required: true }), remark: text(1, 200, { required: true }), mark: { type: 'string', enum: ['open', 'settled', 'waived'], state: true }, settled_at: { readOnly: true } },
  listener: { id: { readOnly: true }, owner: { readOnly: true }, url: text(0, 300, { uri: true, required: true }), secret: { readOnly: true },
    kinds: { type: 'array', items: { type: 'string', kind: true }, max: 8 }, live: { type: 'boolean', default: true, required: true } },
  reason: { reason: text(3, 100, { required: true }) },
}
const ORDER = { book: ['id', 'number', 'owner', 'house', 'scale', 'title', 'composer', 'board', 'metres', 'bars', 'crank', 'pitch', 'bench_note', 'stage', 'open_marks', 'spoil_reason', 'keep_until', 'made_at', 'changed_at'] }
const typeOf = v => v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'object' ? 'object' : typeof v === 'number' ? (Number.isInteger(v) ? 'integer' : 'number') : typeof v
const len = s => [...s].length
const isMap = v => typeOf(v) === 'object'
const wrong = (path, kind, found, expected) => ({ path, kind, found: found === undefined ? 'nothing' : typeof found === 'object' ? typeOf(found) : found, expected })

const faultsOf = (shape, v, path) => {
  if (typeOf(v) !== shape.type) return [wrong(path, 'type', v, shape.type)]
  if (shape.enum && !shape.enum.includes(v)) return [wrong(path, 'value', v, `one of ${shape.enum.join(', ')}`)]
  if (shape.kind && !(v === '*' || KINDS.includes(v) || KINDS.some(k => `${k.split('.')[0]}.*` === v))) return [wrong(path, 'value', v, 'a kind of event')]
  if (shape.type === 'string' && (len(v) < (shape.min ?? 0) || len(v) > (shape.max ?? Infinity))) return [wrong(path, 'value', v, `${shape.min} to ${shape.max} characters`)]
  if (shape.pattern && !shape.pattern.test(v)) return [wrong(path, 'value', v, 'a text of the pattern')]
  if (shape.uri && !(URL.canParse(v) && /^https?:\/\/[^/]/i.test(v) && !/[\s<>"{}|\\^`]/.test(v))) return [wrong(path, 'value', v, 'an address')]
  if (shape.type === 'integer' && (v < shape.min || v > shape.max)) return [wrong(path, 'value', v, `${shape.min} to ${shape.max}`)]
  if (shape.type === 'array') {
    if (v.length > shape.max) return [wrong(path, 'value', v, `at most ${shape.max} items`)]
    const inside = v.flatMap((item, i) => faultsOf(shape.items, item, `${path}.${i}`))
    return inside.length || !shape.unique || new Set(v).size === v.length ? inside : [wrong(path, 'value', v, 'items that differ')]
  }
  if (shape.fields) return faultsInMap(shape.fields, v, `${path}.`)
  return []
}
const faultsInMap = (fields, v, prefix) => [
  ...Object.entries(v).flatMap(([k, x]) => Object.hasOwn(fields, k) ? faultsOf(fields[k], x, prefix + k) : [wrong(prefix + k, 'unknown', x, 'no such field')]),
  ...Object.entries(fields).filter(([k, s]) => s.required && s.default === undefined && !Object.hasOwn(v, k)).map(([k, s]) => wrong(prefix + k, 'missing', undefined, s.type)),
]
const CODE_OF = { missing: 'gap', unknown: 'stray', read_only: 'sealed', type: 'out_of_tune', value: 'out_of_tune' }
const invalid = violations => {
  if (!violations.length) return
  const first = (bug('missing-names-first') && violations.find(v => v.kind === 'missing')) || violations[0]
  const code = CODE_OF[first.kind]
  const said = { gap: `${first.path} is missing`, stray: `there is no ${first.path} here`, sealed: `${first.path} is not yours to write` }[code]
  refuse(code, { said, where: violations.map(v => ({ in: 'body', path: bug('places-as-pointers') ? `/${v.path.replaceAll('.', '/')}` : v.path, found: v.found, expected: v.expected })) })
}

// ---- editions: e1 says name for title, stiff for heavy, and knows no crank
const e1Name = f => f === 'title' ? 'name' : f
const nameIn = (version, resource, f) => version === 'e1' && resource === 'book' ? (f === 'crank' ? null : e1Name(f)) : f
const fieldIn = (version, resource, name) => {
  if (version !== 'e1' || resource !== 'book') return Object.hasOwn(SHAPES[resource], name) ? name : null
  return name === 'name' ? 'title' : name === 'title' || name === 'crank' ? null : Object.hasOwn(SHAPES.book, name) ? name : null
}
const shapeIn = (version, resource, f) => version === 'e1' && resource === 'book' && f === 'board' ? { ...SHAPES.book.board, enum: ['light', 'stiff', 'shellac'] } : SHAPES[resource][f]
const up = (version, f, v) => version === 'e1' && f === 'board' && v === 'stiff' ? 'heavy' : v
const down = (version, f, v) => version === 'e1' && f === 'board' && v === 'heavy' ? 'stiff' : v

// ---- what rows look like
const marksOf = id => [...corrections.values()].filter(c => c.book === id)
const openMarks = id => marksOf(id).filter(c => bug('settled-count-as-open') ? c.mark !== 'waived' : c.mark === 'open').length
const booksOn = code => [...books.values(), ...(bug('deleted-books-counted') ? [...buried.values()].map(g => g.row) : [])].filter(b => b.scale === code).length
const clean = o => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined))
const show = {
  scale: s => ({ code: s.code, maker: s.maker, keys: s.keys, stops: s.stops, retired: s.retired, books: booksOn(s.code) }),
  book: (b, caller, version, place) => {
    const row = { ...b, open_marks: openMarks(b.id) }
    if (caller?.user !== 'puncher' && !(bug('note-shown-by-number') && place === 'number')) delete row.bench_note
    return clean(Object.fromEntries(ORDER.book.map(f => [nameIn(version, 'book', f), f === 'board' && bug('lists-forget-stiff') && place === 'list' ? row[f] : down(version, f, row[f])]).filter(([k]) => k)))
  },
  correction: c => clean({ id: c.id, book: c.book, house: c.house, by: c.by, bar: c.bar, remark: c.remark, mark: c.mark, settled_at: c.settled_at }),
  listener: (l, first) => clean({ id: l.id, owner: l.owner, url: l.url, secret: first ? l.secret : undefined, kinds: l.kinds, live: l.live }),
  entry: e => clean({ id: e.id, kind: e.kind, about: e.about, house: e.house, actor: e.actor, at: e.at, body: e.body }),
}
const tagOf = shown => `"${createHash('sha256').update(JSON.stringify(bug('tag-blind-to-marks') ? { ...shown, open_marks: 0 } : shown)).digest('hex').slice(0, 24)}"`

// ---- who may
const mayRead = {
  book: (p, b) => p.user === 'puncher' || b.house === p.house,
  correction: (p, c) => p.user === 'puncher' || c.house === p.house,
  listener: (p, l) => l.owner === p.id && l.user === p.user,
  entry: (p, e) => p.user === 'puncher' || e.house === p.house,
}

// ---- one change: rows that were touched, and what is told of it at its end
const change = (caller, work) => {
  const told = []
  const result = work((kind, resource, row, payload) => told.push({ kind, resource, row, payload }))
  for (const t of told) record(t, caller)
  return result
}
const record = ({ kind, resource, row, payload }, caller) => {
  const at = iso(now())
  const id = `ent_${pick(ALNUM, 20)}`
  const plain = (version, person) => typeof payload === 'object' ? payload : show[resource](resource === 'book' ? books.get(row.id) ?? row : row, person, version)
  const frozen = new Map()
  const bodyFor = (version, person) => { const k = `${version} ${person?.user}`; if (!frozen.has(k)) frozen.set(k, plain(version, person)); return frozen.get(k) }
  entries.set(id, born({ id, kind, about: row.id, house: row.house, actor: caller?.id, at, body: bodyFor('e2', null), until: now() + 10 * DAY }))
  for (const l of listeners.values()) {
    if (!l.live || !wants(l, kind)) continue
    const maker = people.find(p => p.id === l.owner && p.user === l.user)
    if (!mayRead[resource](maker, row) && !bug('other-houses-hear')) continue
    const version = bug('hooks-forget-edition') ? 'e2' : l.version
    const body = JSON.stringify({ entry: id, what: kind, when: at, content: bodyFor(version, maker) })
    const key = `${l.id} ${row.id}`
    if (!queues.has(key)) queues.set(key, [])
    queues.get(key).push({ id, kind, body, listener: l.id, tries: 0, due: now(), busy: false })
  }
}
const wants = (l, kind) => l.kinds === undefined || l.kinds.some(k => k === '*' || k === kind || (k.endsWith('.*') && !bug('family-not-heard') && kind.startsWith(k.slice(0, -1))))

// ---- deliveries
const WAITS = [20 * SEC, 3 * MIN, 40 * MIN]
const send = (d, key) => {
  d.busy = true
  const l = listeners.get(d.listener)
  const at = Math.floor(now() / 1000)
  const signed = bug('seal-without-entry') ? `${at}:${d.body}` : `${d.id}:${at}:${d.body}`
  const seal = createHmac('sha256', l.secret).update(signed).digest('base64')
  const done = (ok, status, after) => {
    if (!d.busy) return
    d.busy = false
    const queue = queues.get(key)
    if (!queue || queue[0] !== d) return
    const row = listeners.get(d.listener)
    if (ok) { if (row) row.failing = null; queue.shift() } else {
      if (row) row.failing ??= now()
      d.tries++
      const wait = bug('gives-up-early') && d.tries >= 2 ? undefined : WAITS[d.tries - 1]
      if (row && (status === 410 || now() - row.failing >= 2 * DAY)) { row.live = false; row.failing = null; drop(row.id); return }
      if (wait === undefined) queue.shift()
      else d.due = now() + Math.max(wait, after ?? 0)
    }
    if (!queue.length) queues.delete(key)
    pump()
  }
  const url = new URL(l.url)
  const req = (url.protocol === 'https:' ? https : http).request(url, { method: 'POST', agent: false, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(d.body),
    'X-Bureau-Seal': `at=${at};seal=${seal}`, 'X-Bureau-Kind': d.kind } }, res => {
    res.resume()
    const after = Number(res.headers['retry-after'])
    done(res.statusCode >= 200 && res.statusCode < 300, res.statusCode, Number.isFinite(after) ? Math.min(after * SEC, DAY) : 0)
  })
  const timer = setTimeout(() => req.destroy(new Error('too slow')), 4000)
  req.on('close', () => clearTimeout(timer))
  req.on('error', () => done(false, 0))
  req.end(d.body)
}
const drop = id => { for (const key of [...queues.keys()]) if (key.startsWith(`${id} `)) queues.delete(key) }
const pump = () => { for (const [key, queue] of [...queues]) { const d = queue[0]; if (d && !d.busy && d.due <= now()) { if (listeners.get(d.listener)?.live) send(d, key); else queues.delete(key) } } }

// ---- the machine of a book
const moved = (tell, row, was) => tell('book.moved', 'book', row, { book: row.id, was, is: row.stage })
const enter = (row, stage) => {
  row.stage = stage
  if (stage === 'proofed') { if (!(bug('lapse-from-first-proof') && row.lapseAt)) row.lapseAt = now() + (bug('lapse-a-day-early') ? 13 : 14) * DAY } else if (!bug('lapse-from-first-proof')) row.lapseAt = undefined
}
const hide = row => { for (const k of ['lapseAt', 'pulpAt', 'firedAt']) if (!Object.getOwnPropertyDescriptor(row, k) || Object.getOwnPropertyDescriptor(row, k).enumerable) Object.defineProperty(row, k, { value: row[k], writable: true, enumerable: false }); return row }
const duePulp = b => b.stage === 'folded' && b.pulpAt !== undefined ? b.pulpAt : Infinity
const dueLapse = b => b.stage === 'proofed' && b.lapseAt !== undefined ? b.lapseAt : Infinity
const nextDue = () => {
  let best = { at: Infinity }
  for (const b of books.values()) {
    if (dueLapse(b) < best.at) best = { at: dueLapse(b), run: () => change(null, tell => { enter(b, 'sketched'); if (!bug('lapse-keeps-stamp')) b.changed_at = iso(now()); if (!bug('lapse-untold')) moved(tell, b, 'proofed') }) }
    if (duePulp(b) < best.at) best = { at: duePulp(b), run: () => change(null, tell => { enter(b, 'pulped'); b.pulpAt = undefined; b.changed_at = iso(now()); moved(tell, b, 'folded') }) }
  }
  if (!bug('log-never-ends')) for (const e of entries.values()) { if (e.until < best.at) best = { at: e.until, run: () => entries.delete(e.id) }; break }
  return best
}
const settle = until => {
  for (let next = nextDue(); next.at <= until; next = nextDue()) { held = Math.max(held ?? 0, next.at); next.run() }
}
const tick = () => { const t = now(); settle(t); held = null; pump() }

// ---- reading requests
const lost = () => refuse('lost')
const findBook = (ctx, id) => {
  const row = books.get(id)
  if (row) return mayRead.book(ctx.caller, row) ? row : lost()
  const grave = buried.get(id)
  if (grave && (grave.until > now() || bug('gone-for-ever')) && mayRead.book(ctx.caller, grave.row)) refuse(bug('gone-is-lost') ? 'lost' : 'pulped_row')
  return lost()
}
const findIn = (map, resource) => (ctx, id) => { const row = map.get(id); return row && mayRead[resource](ctx.caller, row) ? row : lost() }
const findCorrection = findIn(corrections, 'correction'), findListener = findIn(listeners, 'listener'), findEntry = findIn(entries, 'entry')
const findScale = id => scales.get(id) ?? lost()
const mine = (ctx, yes) => { if (!yes) refuse('not_for_you') }
const ownBook = ctx => { const row = findBook(ctx, ctx.params.id); mine(ctx, ctx.caller.user === 'puncher' || row.owner === ctx.caller.id); return row }
const ifMatch = (ctx, row, required) => {
  const sent = ctx.headers['if-match']
  if (sent === undefined) { if (required) refuse('tag_wanted'); return }
  if (sent.trim() === '*') return
  const tag = tagOf(show.book(row, ctx.caller, ctx.version))
  if (!sent.split(',').some(t => t.trim() === tag)) refuse('changed')
}

// what was sent, under the names of the fields; `base` is the row that a patch is merged with
const readBody = (ctx, resource, { base, replace, bound = {}, refuseReadOnly } = {}) => {
  const sent = ctx.body
  if (!isMap(sent)) refuse('out_of_tune', { where: [{ in: 'body', path: '', found: typeOf(sent), expected: 'object' }] })
  const { version } = ctx, patch = base && !replace
  const violations = [], next = patch ? { ...base } : {}
  const place = new Map()
  for (const [name, raw] of Object.entries(sent)) {
    const f = fieldIn(version, resource, name)
    const shape = f && shapeIn(version, resource, f)
    place.set(f, name)
    if (!f) { if (!bug('strays-let-in')) violations.push(wrong(name, 'unknown', raw, 'no such field')); continue }
    if (shape.readOnly || (shape.state && !patch && !bug('mark-at-birth')) || (shape.only && shape.only !== ctx.caller.user)) {
      if (refuseReadOnly) violations.push(wrong(name, 'read_only', raw, 'nothing'))
      continue
    }
    if (raw === null && patch) { if (shape.required || shape.state) violations.push(wrong(name, 'value', raw, shape.type)); else delete next[f]; continue }
    if (Object.hasOwn(bound, f)) { if (raw !== bound[f]) violations.push(wrong(name, 'value', raw, bound[f])); continue }
    let value = raw
    if (patch && shape.fields && isMap(raw) && !bug('patch-replaces-pitch')) {
      value = { ...base[f] }
      for (const [k, v] of Object.entries(raw)) if (v === null && !shape.fields[k]?.required) delete value[k]; else value[k] = v
    }
    const found = faultsOf(shape, value, name)
    if (found.length) violations.push(...found)
    else if (patch && shape.immutable && value !== base[f]) violations.push(wrong(name, 'value', raw, base[f]))
    else next[f] = up(version, f, value)
  }
  for (const [f, shape] of Object.entries(SHAPES[resource])) {
    if (patch || next[f] !== undefined || Object.hasOwn(bound, f) || shape.readOnly) continue
    if (place.has(f) && violations.some(v => v.path === place.get(f) || v.path.startsWith(`${place.get(f)}.`))) continue
    if (shape.default !== undefined) next[f] = shape.default
    else if (shape.required) violations.push(wrong(nameIn(version, resource, f), 'missing', undefined, shape.type))
  }
  if (resource === 'book' && next.board === 'light' && next.metres > 60 && !(patch && bug('rule-for-orders-alone')) && !violations.some(v => v.path === 'metres')) {
    const order = Object.keys(sent)
    const rank = v => { const i = order.indexOf(v.path.split('.')[0]); return i < 0 || v.kind === 'missing' && !v.path.includes('.') ? 1e6 : i }
    violations.push(wrong('metres', 'value', next.metres, 'at most 60 on light board'))
    violations.sort((a, b) => rank(a) - rank(b))
  }
  invalid(violations)
  return { ...next, ...bound }
}
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)
const assign = (row, next) => { for (const k of Object.keys(row)) if (next[k] === undefined) delete row[k]; for (const [k, v] of Object.entries(next)) if (v !== undefined) row[k] = v }
const location = (ctx, path) => `${bug('location-without-base') ? '' : BASE}/${ctx.version}${path}`
const OK = (body, headers = {}) => ({ status: 200, body, headers })
const NONE = { status: 204, headers: {} }

// ---- books
const titleTaken = (row, next) => [...books.values()].some(b => b.id !== row?.id && b.house === next.house && b.title === next.title && (b.stage !== 'withdrawn' || bug('withdrawn-keep-titles')))
const slow = next => { if (next.board === 'light' && next.crank < 45) refuse('slow_light') }
const dayIn = zone => { const f = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }); return ms => f.format(ms) }
const brussels = dayIn('Europe/Brussels'), utc = dayIn('UTC')
const dayOf = ms => (bug('quota-day-by-utc') ? utc : brussels)(ms)
const dayEnds = ms => { let lo = ms, hi = ms + 26 * HOUR; const d = dayOf(ms); while (hi - lo > 1) { const m = Math.floor((lo + hi) / 2); if (dayOf(m) === d) lo = m; else hi = m } return hi }
const quotaKey = ctx => `${ctx.caller.user} ${ctx.caller.id} ${dayOf(now())}`
const createBook = ctx => {
  const { caller } = ctx
  if (bug('quota-counts-refusals')) quotas.set(quotaKey(ctx), (quotas.get(quotaKey(ctx)) ?? 0) + 1)
  const next = readBody(ctx, 'book')
  const scale = scales.get(next.scale) ?? refuse('no_such')
  if (scale.retired) refuse('retired')
  slow(next)
  next.house = caller.house
  if (titleTaken(null, next)) refuse('twice')
  const used = quotas.get(quotaKey(ctx)) ?? 0
  if (used >= (bug('quota-counts-refusals') ? 41 : 40)) refuse('full', { headers: { 'Retry-After': String(Math.ceil((dayEnds(now()) - now()) / SEC)) } })
  if (!bug('quota-counts-refusals')) quotas.set(quotaKey(ctx), used + 1)
  const counted = bug('numbers-over-all') ? '' : next.scale
  numbers.set(counted, (numbers.get(counted) ?? 0) + 1)
  const at = iso(now())
  const row = hide(born({ id: `bk_${pick(LOWER + DIGITS, 10)}`, number: numbers.get(counted), owner: caller.id, ...next, stage: 'sketched', made_at: at, changed_at: at }))
  books.set(row.id, row)
  change(caller, tell => tell('book.ordered', 'book', row))
  return { status: 201, body: show.book(row, caller, ctx.version), headers: { Location: location(ctx, `/books/${row.id}`) } }
}
const updateBook = ctx => {
  const row = bug('house-mates-may-update') ? findBook(ctx, ctx.params.id) : ownBook(ctx)
  ifMatch(ctx, row, true)
  const next = readBody(ctx, 'book', { base: row })
  if (!['sketched', 'proofed'].includes(row.stage)) refuse('out_of_turn')
  slow(next)
  if (next.title !== row.title && next.stage !== 'withdrawn' && titleTaken(row, next)) refuse('twice')
  const keys = new Set([...Object.keys(row), ...Object.keys(next)])
  if ([...keys].every(k => same(row[k], next[k])) && !bug('nothing-changes-stamp')) return OK(show.book(row, ctx.caller, ctx.version))
  const was = row.metres
  assign(row, { ...next, changed_at: iso(now()) })
  change(ctx.caller, tell => { if (bug('shortened-is-lengthened') ? row.metres !== was : row.metres > was) tell('book.lengthened', 'book', row) })
  return OK(show.book(row, ctx.caller, ctx.version))
}
const deleteBook = ctx => {
  const row = ownBook(ctx)
  ifMatch(ctx, row, false)
  if (!['sketched', 'withdrawn'].includes(row.stage) && !(bug('proofed-may-be-deleted') && row.stage === 'proofed')) refuse('out_of_turn')
  change(ctx.caller, tell => {
    for (const c of marksOf(row.id)) { corrections.delete(c.id); if (!bug('cascade-untold')) tell('correction.dropped', 'correction', c, { correction: c.id, bar: c.bar }) }
    buried.set(row.id, { row, until: now() + 7 * DAY })
    books.delete(row.id)
  })
  return NONE
}
const MOVES = {
  propose: { from: ['sketched'], to: 'proofed', guard: b => b.bars === undefined ? 'no_bars' : null },
  approve: { from: ['proofed'], to: 'punching', guard: b => openMarks(b.id) > 0 ? 'marks_open' : null },
  fold: { from: ['punching'], to: 'folded', also: b => { b.keep_until = iso(now() + 30 * DAY); b.pulpAt = Date.parse(b.keep_until) } },
  spoil: { from: ['punching'], to: 'sketched', also: (b, ctx, body) => { b.spoil_reason = body.reason } },
  prolong: { from: ['folded'], to: 'folded', quiet: true, also: b => { b.keep_until = iso((b.keep_until ? Date.parse(b.keep_until) : now()) + 10 * DAY); if (!bug('prolong-leaves-timer')) b.pulpAt = Date.parse(b.keep_until) } },
  withdraw: { from: ['sketched', 'proofed'], to: 'withdrawn', otherwise: 'too_late' },
}
const closeMark = (c, mark, tell) => { c.mark = mark; tell('correction.closed', 'correction', c) }
const move = name => ctx => {
  const m = MOVES[name], row = ownBook(ctx)
  ifMatch(ctx, row, false)
  const body = name === 'spoil' ? reasonOf(ctx) : null
  if (!m.from.includes(row.stage)) refuse(m.otherwise && !bug('too-late-unnamed') ? m.otherwise : 'out_of_turn')
  const no = m.guard?.(row)
  if (no) refuse(no)
  const was = row.stage
  change(ctx.caller, tell => {
    if (!m.quiet) enter(row, m.to)
    m.also?.(row, ctx, body)
    row.changed_at = iso(now())
    if (!m.quiet) moved(tell, row, was)
    if (name === 'withdraw') { const open = marksOf(row.id).filter(c => c.mark === 'open'); for (const c of bug('waives-one-alone') ? open.slice(0, 1) : open) closeMark(c, 'waived', tell) }
  })
  return OK(show.book(row, ctx.caller, ctx.version))
}
const reasonOf = ctx => {
  if (!isMap(ctx.body)) refuse('out_of_tune', { where: [{ in: 'body', path: '', found: typeOf(ctx.body), expected: 'object' }] })
  invalid(faultsInMap(SHAPES.reason, ctx.body, ''))
  return ctx.body
}
const readBook = ctx => {
  const shown = show.book(findBook(ctx, ctx.params.id), ctx.caller, ctx.version)
  const tag = tagOf(shown), asked = ctx.headers['if-none-match']
  if (asked !== undefined && (asked.trim() === '*' || asked.split(',').some(t => t.trim().replace(/^W\//, '') === tag))) return { status: 304, headers: { ETag: tag } }
  return OK(shown, { ETag: tag })
}
const bookByNumber = ctx => {
  findScale(ctx.params.scale)
  const { number } = ctx.params
  const is = b => b.scale === ctx.params.scale && /^[1-9]\d*$/.test(number) && b.number === Number(number)
  const row = [...books.values()].find(is)
  if (!row) { const grave = [...buried.values()].find(g => is(g.row)); return grave ? findBook(ctx, grave.row.id) : lost() }
  if (!mayRead.book(ctx.caller, row) && !bug('number-opens-every-house')) lost()
  return OK(show.book(row, ctx.caller, ctx.version, 'number'))
}

// ---- scales
const upsertScale = ctx => {
  const { code } = ctx.params, row = scales.get(code)
  const sent = isMap(ctx.body) ? ctx.body : {}
  if (!SHAPES.scale.code.pattern.test(code)) refuse('out_of_tune', { where: [{ in: 'path', path: 'code', found: code, expected: 'a code' }] })
  const next = readBody({ ...ctx, body: isMap(ctx.body) ? sent : ctx.body }, 'scale', { base: row, replace: true, bound: { code } })
  if (row) { assign(row, next); return OK(show.scale(row)) }
  const made = born({ ...next })
  scales.set(code, made)
  return { status: 201, body: show.scale(made), headers: { Location: location(ctx, `/scales/${code}`) } }
}
const deleteScale = ctx => {
  const row = findScale(ctx.params.code)
  if ([...books.values()].some(b => b.scale === row.code)) refuse('in_use')
  scales.delete(row.code)
  return NONE
}

// ---- corrections
const barTaken = (c, book, bar) => marksOf(book).some(o => o.id !== c?.id && o.bar === bar)
const tooMany = (book, except) => marksOf(book).filter(c => c.id !== except && (c.mark === 'open' || bug('closed-fill-the-book'))).length >= 5
const createCorrection = ctx => {
  const book = findBook(ctx, ctx.params.book)
  const next = readBody(ctx, 'correction', { bound: { book: book.id } })
  if (book.stage !== 'proofed') refuse('wrong_stage')
  if (book.bars !== undefined && next.bar > book.bars) refuse('bar_beyond')
  if (barTaken(null, book.id, next.bar)) refuse('twice')
  if (tooMany(book.id)) refuse('full')
  const row = born({ id: randomUUID(), book: book.id, house: book.house, by: ctx.caller.id, bar: next.bar, remark: next.remark, mark: next.mark ?? 'open' })
  corrections.set(row.id, row)
  change(ctx.caller, tell => tell('correction.raised', 'correction', row))
  return { status: 201, body: show.correction(row), headers: { Location: location(ctx, `/corrections/${row.id}`) } }
}
const updateCorrection = ctx => {
  const row = findCorrection(ctx, ctx.params.id)
  mine(ctx, ctx.caller.user === 'puncher' || row.by === ctx.caller.id)
  const next = readBody(ctx, 'correction', { base: row })
  const step = next.mark === row.mark ? null : `${row.mark} ${next.mark}`
  if (step && !['open settled', 'settled open'].includes(step)) refuse('out_of_turn')
  if (step === 'settled open' && books.get(row.book).stage !== 'proofed' && !bug('reopens-any-time')) refuse('wrong_stage')
  if (next.bar !== row.bar && barTaken(row, row.book, next.bar)) refuse('twice')
  if (step === 'settled open' && tooMany(row.book, row.id)) refuse('full')
  if (step === 'open settled') next.settled_at = iso(now())
  assign(row, next)
  if (step === 'open settled') change(ctx.caller, tell => tell('correction.closed', 'correction', row))
  return OK(show.correction(row))
}
const deleteCorrection = ctx => {
  const row = findCorrection(ctx, ctx.params.id)
  mine(ctx, row.by === ctx.caller.id)
  if (row.mark !== 'open') refuse('out_of_turn')
  corrections.delete(row.id)
  change(ctx.caller, tell => tell('correction.dropped', 'correction', row, { correction: row.id, bar: row.bar }))
  return NONE
}

// ---- listeners
const createListener = ctx => {
  const next = readBody(ctx, 'listener')
  if ([...listeners.values()].filter(l => l.owner === ctx.caller.id).length >= 4) refuse('full')
  const row = born({ id: `lst_${randomBytes(8).toString('hex')}`, owner: ctx.caller.id, user: ctx.caller.user, version: ctx.version, ...next, secret: `whk_${pick(ALNUM, 32)}` })
  listeners.set(row.id, row)
  return { status: 201, body: show.listener(row, true), headers: { Location: location(ctx, `/listeners/${row.id}`) } }
}
const replaceListener = ctx => {
  const row = findListener(ctx, ctx.params.id)
  const next = readBody(ctx, 'listener', { base: row, replace: true, refuseReadOnly: true })
  const { id, owner, user, version, secret, failing } = row
  assign(row, { id, owner, user, version, secret, failing: next.live && !row.live ? undefined : failing, ...next })
  if (!row.live) drop(row.id)
  return OK(show.listener(row))
}

// ---- lists
const badQuery = (name, found, expected) => refuse('bad_query', { where: [{ in: 'query', path: name, found: found ?? 'nothing', expected }] })
const asWhole = (name, v) => /^-?\d{1,15}$/.test(v) ? Number(v) : badQuery(name, v, 'integer')
const asBool = (name, v) => v === 'true' ? true : v === 'false' ? false : badQuery(name, v, 'boolean')
const asShape = shape => (name, v) => faultsOf(shape, v, name).length ? badQuery(name, v, shape.enum?.join(', ') ?? shape.type) : v
const asText = (name, v) => v
const asBoard = (name, v, ctx) => up(ctx.version, 'board', asShape(shapeIn(ctx.version, 'book', 'board'))(name, v))
const STAGES = ['sketched', 'proofed', 'punching', 'folded', 'pulped', 'withdrawn']
const asStages = (name, v) => { const all = v.split(','); return all.length > 100 ? badQuery(name, v, 'up to 100') : all.map(s => asShape({ type: 'string', enum: STAGES })(name, s)) }
const words = s => s.toLowerCase().split(/\s+/).filter(Boolean)
const NAMES = ctx => [...ORDER.book.filter(f => f !== 'bench_note' || ctx.caller.user === 'puncher').map(f => nameIn(ctx.version, 'book', f)).filter(Boolean), 'pitch.hertz', 'pitch.temper']
const asNames = (name, v, ctx) => v.split(',').map(n => NAMES(ctx).includes(n) ? n : badQuery(name, n, 'a field'))
const LENGTHS = { length: b => b.metres, title: b => b.title, made: b => b.made_at }
const asSort = (name, v) => LENGTHS[v.replace(/^-/, '')] && Object.hasOwn(LENGTHS, v.replace(/^-/, '')) ? v : badQuery(name, v, 'length, title, made')
const keep = (parse, test) => ({ parse, test })
const less = (a, b) => a < b ? -1 : a > b ? 1 : 0

const BOOK_PARAMS = {
  stage: keep(asStages, (b, v) => v.includes(b.stage)),
  board: keep(asBoard, (b, v) => b.board === v),
  min_metres: keep(asWhole, (b, v) => b.metres >= v),
  under_metres: keep(asWhole, (b, v) => b.metres < v),
  min_keys: keep(asWhole, (b, v) => scales.get(b.scale).keys >= v),
  starts: keep(asText, (b, v) => b.title.startsWith(v)),
  q: keep(asText, (b, v) => words(v).slice(0, 16).every(w => b.title.toLowerCase().includes(w) || (b.composer ?? '').toLowerCase().includes(w))),
  mine: keep(asText, (b, v) => b.owner === v),
  sort: { parse: asSort }, way: { parse: asShape({ type: 'string', enum: ['asc', 'desc'] }) }, only: { parse: asNames, many: true },
}
const SCALE_PARAMS = {
  min_keys: keep(asWhole, (s, v) => s.keys >= v), stops: keep(asText, (s, v) => s.stops.includes(v)), retired: keep(asBool, (s, v) => s.retired === v),
  maker: keep(asShape(text(2, 40)), (s, v) => s.maker.toLowerCase() === v.toLowerCase()),
}
const chosen = (ctx, params, rows) => rows.filter(r => Object.entries(ctx.query).every(([k, v]) => !params[k]?.test || params[k].test(r, v)))
const select = (row, names) => {
  if (!names) return row
  const out = {}
  for (const [k, v] of Object.entries(row)) {
    if ((k === 'id' && !bug('choice-without-id')) || names.includes(k)) { out[k] = v; continue }
    if (k === 'pitch') { const inner = Object.fromEntries(Object.entries(v).filter(([f]) => names.includes(`pitch.${f}`))); if (names.some(n => n.startsWith('pitch.'))) out[k] = inner }
  }
  return out
}
const LISTS = {
  scales: ctx => OK(chosen(ctx, SCALE_PARAMS, [...scales.values()]).sort((a, b) => less(a.keys, b.keys) || a.seq - b.seq).map(show.scale), { 'Cache-Control': undefined }),
  books: ctx => {
    const sort = ctx.query.sort ?? '-made'
    const by = LENGTHS[sort.replace(/^-/, '')], sign = (sort.startsWith('-') ? -1 : 1) * (ctx.query.way === 'desc' ? -1 : 1)
    const rows = chosen(ctx, BOOK_PARAMS, [...books.values()].filter(b => mayRead.book(ctx.caller, b))).sort((a, b) => sign * less(by(a), by(b)) || b.seq - a.seq)
    return paged(ctx, rows, b => select(show.book(b, ctx.caller, ctx.version, 'list'), ctx.query.only))
  },
  booksOfScale: ctx => {
    findScale(ctx.params.scale)
    const rows = [...books.values()].filter(b => b.scale === ctx.params.scale && mayRead.book(ctx.caller, b)).sort((a, b) => a.number - b.number)
    const { skip, take } = ctx.page
    return OK({ items: rows.slice(skip, skip + take).map(b => show.book(b, ctx.caller, ctx.version, 'list')), total: bug('total-of-page') ? rows.slice(skip, skip + take).length : rows.length, more: skip + take < rows.length })
  },
  corrections: ctx => {
    const book = bug('parents-of-others') ? books.get(ctx.params.book) ?? findBook(ctx, ctx.params.book) : findBook(ctx, ctx.params.book)
    const rows = marksOf(book.id).filter(c => mayRead.correction(ctx.caller, c) && (ctx.query.mark === undefined || c.mark === ctx.query.mark)).sort((a, b) => a.bar - b.bar)
    if (bug('corrections-as-raised')) rows.sort((a, b) => a.seq - b.seq)
    return paged(ctx, rows, show.correction)
  },
  listeners: ctx => OK([...listeners.values()].filter(l => mayRead.listener(ctx.caller, l)).sort((a, b) => b.seq - a.seq).map(l => show.listener(l))),
  entries: ctx => {
    const rows = [...entries.values()].filter(e => mayRead.entry(ctx.caller, e))
    const { limit, past, ahead } = ctx.page
    const spot = id => { const e = rows.find(r => r.id === id); return e ? e.seq : refuse('bad_page') }
    const fits = rows.filter(e => (ctx.query.kind === undefined || e.kind === ctx.query.kind) && (ctx.query.about === undefined || e.about === ctx.query.about))
    if (ahead !== undefined) {
      const edge = spot(ahead), before = fits.filter(e => e.seq < edge)
      return OK({ items: (bug('ahead-from-the-start') ? before.slice(0, limit) : before.slice(-limit)).map(show.entry), more: before.length > limit })
    }
    const edge = past === undefined ? 0 : spot(past), after = fits.filter(e => e.seq > edge)
    return OK({ items: after.slice(0, limit).map(show.entry), more: after.length > limit })
  },
}
const paged = (ctx, rows, shown) => {
  const { page, size } = ctx.page
  const more = bug('next-after-the-last') ? page * size <= rows.length && rows.length > 0 : page * size < rows.length
  const at = n => { const q = new URLSearchParams(ctx.search); q.set('page', n); return `<${BASE}/${ctx.version}${ctx.rest}?${q}>` }
  const links = [`${at(1)}; rel="first"`, ...(page > 1 ? [`${at(page - 1)}; rel="prev"`] : []), ...(more ? [`${at(page + 1)}; rel="next"`] : [])]
  return OK(rows.slice((page - 1) * size, page * size).map(shown), { Link: links })
}
const natural = (v, least, most = 1e12) => /^\d{1,12}$/.test(v) && Number(v) >= least && Number(v) <= most ? Number(v) : refuse('bad_page', { where: [{ in: 'query', path: 'page', found: v, expected: 'a number in its range' }] })
const PAGES = {
  page: { names: ['page', 'per_page'], read: q => ({ page: natural(q.page ?? '1', 1), size: natural(q.per_page ?? '10', 1, 30) }) },
  offset: { names: ['skip', 'take'], read: q => ({ skip: natural(q.skip ?? '0', 0), take: bug('take-not-clamped') ? natural(q.take ?? '5', 1) : Math.min(20, natural(q.take ?? '5', 1)) }) },
  after: { names: ['past', 'ahead_of', 'limit'], read: q => (q.past !== undefined && q.ahead_of !== undefined ? refuse('bad_page') : { past: q.past, ahead: q.ahead_of, limit: natural(q.limit ?? '10', 1, 50) }) },
}

// ---- the table of routes
const ALL = { arranger: true, puncher: true }, ARRANGER = { arranger: true }, PUNCHER = { puncher: true }
const SCALE_CACHE = 'public, max-age=120'
const ROUTES = [
  ['GET', '/board-card', 'read board card', { open: true, run: () => OK({ light: 310, heavy: 480, shellac: 720, unit: 'grams per square metre' }, { 'Cache-Control': 'public, max-age=3600' }) }],
  ['GET', '/scales', 'list scale', { open: true, params: SCALE_PARAMS, run: LISTS.scales }],
  ['GET', '/scales/{code}', 'read scale', { open: true, run: ctx => OK(show.scale(findScale(ctx.params.code)), { 'Cache-Control': SCALE_CACHE }) }],
  ['PUT', '/scales/{code}', 'upsert scale', { may: PUNCHER, body: true, run: upsertScale }],
  ['DELETE', '/scales/{code}', 'delete scale', { may: PUNCHER, scope: 'stock', run: deleteScale }],
  ['POST', '/books', 'create book', { may: ARRANGER, body: true, once: true, run: createBook }],
  ['GET', '/books', 'list book', { may: ALL, params: BOOK_PARAMS, pages: PAGES.page, cost: 2, run: LISTS.books }],
  ['GET', '/books/{id}', 'read book', { may: ALL, run: readBook }],
  ['PATCH', '/books/{id}', 'update book', { may: ALL, body: true, run: updateBook }],
  ['DELETE', '/books/{id}', 'delete book', { may: ARRANGER, run: deleteBook }],
  ['POST', '/books/{id}/propose', 'propose book', { may: ARRANGER, run: move('propose') }],
  ['POST', '/books/{id}/approve', 'approve book', { may: ARRANGER, run: move('approve') }],
  ['POST', '/books/{id}/withdraw', 'withdraw book', { may: ARRANGER, run: move('withdraw') }],
  ['POST', '/books/{id}/fold', 'fold book', { may: PUNCHER, run: move('fold') }],
  ['POST', '/books/{id}/prolong', 'prolong book', { may: ARRANGER, run: move('prolong') }],
  ['POST', '/books/{id}/spoil', 'spoil book', { may: PUNCHER, body: true, run: move('spoil') }],
  ['GET', '/scales/{scale}/books', 'list books of scale', { may: ALL, pages: PAGES.offset, since: 'e2', run: LISTS.booksOfScale }],
  ['GET', '/scales/{scale}/books/{number}', 'read book by number', { may: ALL, run: bookByNumber }],
  ['POST', '/books/{book}/corrections', 'create correction', { may: ALL, body: true, run: createCorrection }],
  ['GET', '/books/{book}/corrections', 'list correction', { may: ALL, params: { mark: { parse: asShape(SHAPES.correction.mark) } }, pages: PAGES.page, run: LISTS.corrections }],
  ['GET', '/corrections/{id}', 'read correction', { may: ALL, run: ctx => OK(show.correction(findCorrection(ctx, ctx.params.id))) }],
  ['PATCH', '/corrections/{id}', 'update correction', { may: ALL, body: true, run: updateCorrection }],
  ['DELETE', '/corrections/{id}', 'delete correction', { may: ARRANGER, run: deleteCorrection }],
  ['POST', '/listeners', 'create listener', { may: ALL, body: true, accept: bug('coins-may-listen') ? ['pass', 'coin'] : ['pass'], run: createListener }],
  ['GET', '/listeners', 'list listener', { may: ALL, run: LISTS.listeners }],
  ['GET', '/listeners/{id}', 'read listener', { may: ALL, run: ctx => OK(show.listener(findListener(ctx, ctx.params.id), bug('secret-shown-again'))) }],
  ['PUT', '/listeners/{id}', 'replace listener', { may: ALL, body: true, run: replaceListener }],
  ['DELETE', '/listeners/{id}', 'delete listener', { may: ALL, run: ctx => { const row = findListener(ctx, ctx.params.id); listeners.delete(row.id); drop(row.id); return NONE } }],
  ['GET', '/entries', 'list entry', { may: ALL, params: { kind: { parse: asText }, about: { parse: asText } }, pages: PAGES.after, run: LISTS.entries }],
  ['GET', '/entries/{id}', 'read entry', { may: ALL, run: ctx => OK(show.entry(findEntry(ctx, ctx.params.id))) }],
].filter(([, , op]) => !(bug('nobody-can-prolong') && op === 'prolong book')).map(([method, path, op, more]) => ({ method, op, steps: path.split('/').slice(1), ...more }))

const fit = (steps, parts) => {
  if (steps.length !== parts.length) return null
  const params = {}
  for (const [i, s] of steps.entries()) {
    if (s.startsWith('{')) { if (!parts[i]) return null; params[s.slice(1, -1)] = parts[i] } else if (s !== parts[i]) return null
  }
  return params
}
const decode = s => { try { return decodeURIComponent(s) } catch { return '\0' } }
const matches = (parts, version) => ROUTES.flatMap(r => { const params = fit(r.steps, parts); return params && !(r.since && version === 'e1' && !bug('list-of-scale-in-e1')) ? [{ route: r, params }] : [] })

// ---- credentials
const challenges = (accept, bad) => accept.map(s => s === 'pass' ? `ApiKey realm="${TITLE}", in="header", name="X-Bench-Pass"${bad ? ', error="invalid_key"' : ''}` : `Basic realm="${TITLE}", charset="UTF-8"`)
const whoCalls = (req, accept) => {
  const fail = bad => refuse(bad ? 'bad_pass' : 'no_pass', { headers: { 'WWW-Authenticate': challenges(accept, bad) } })
  const all = name => req.rawHeaders.flatMap((h, i) => i % 2 === 0 && h.toLowerCase() === name ? [req.rawHeaders[i + 1]] : [])
  const found = []
  if (accept.includes('pass')) { const sent = all('x-bench-pass'); if (sent.length > 1) fail(true); if (sent.length) found.push(byPass.get(sent[0]) ?? null) }
  if (accept.includes('coin') && !(bug('second-credential-unseen') && found[0])) {
    const sent = all('authorization')
    if (sent.length > 1) fail(true)
    if (sent.length) {
      const basic = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(sent[0])
      const [, key, rest] = (basic && /^([^:]*):(.*)$/s.exec(Buffer.from(basic[1], 'base64').toString('utf8'))) ?? []
      found.push((key && (rest === '' || bug('coin-with-any-password')) && byCoin.get(key)) || null)
    }
  }
  if (!found.length) fail(false)
  if (found.some(p => !p || p !== found[0])) fail(true)
  if (bug('scopeless-punchers-unknown') && found[0].user === 'puncher' && !found[0].scopes.length) fail(true)
  return found[0]
}

// ---- rates
const turns = (limit, left, wait) => ({ 'X-Turns-Limit': String(limit), 'X-Turns-Left': String(Math.max(0, Math.floor(left))), 'X-Turns-Reset': String(Math.ceil(wait / SEC)) })
const countCaller = (person, cost) => {
  const key = `${person.user} ${person.id}`, t = now()
  let w = windows.get(key)
  if (!w || t >= w.start + MIN) windows.set(key, w = { start: t, used: 0 })
  const wait = w.start + MIN - t
  if (w.used + cost > 150) refuse('slow_down', { headers: { ...turns(150, 150 - w.used, wait), 'Retry-After': String(Math.ceil(wait / SEC)) } })
  w.used += cost
  return turns(150, 150 - w.used, wait)
}
const countAddress = address => {
  const t = now(), per = 20 * SEC / 40
  const b = buckets.get(address) ?? { level: 50, at: t }
  const level = Math.min(50, b.level + (t - b.at) / per)
  const wait = n => (n - Math.floor(level % 1 * 1e6) / 1e6) * per
  if (level < 1) { buckets.set(address, { level, at: t }); refuse('slow_down', { headers: { ...turns(40, 0, wait(1)), 'Retry-After': String(Math.max(1, Math.ceil(wait(1) / SEC))) } }) }
  buckets.set(address, { level: level - 1, at: t })
  return turns(40, level - 1, per - (level % 1) * per)
}

// ---- one exchange
const DEPRECATED = Date.UTC(2026, 4, 1) / 1000, SUNSET = Date.UTC(2027, 10, 1)
const deprecation = target => ({ Deprecation: `@${DEPRECATED}`, Sunset: new Date(SUNSET).toUTCString(),
  Link: ['<https://kartonage.example/editions>; rel="deprecation"', `<${target.replace(/^\/bureau\/e1/, '/bureau/e2')}>; rel="successor-version"`] })
const mergeHeaders = (into, more) => { for (const [k, v] of Object.entries(more)) if (v !== undefined) { if (k === 'Link') into.Link = [...(into.Link ?? []), ...[v].flat()]; else into[k] = v } return into }

const exchange = (req, raw, tooThick, headers) => {
  const target = req.url
  if (Buffer.byteLength(target) > 2048) refuse('long_address')
  let size = 0
  for (let i = 0; i < req.rawHeaders.length; i += 2) size += Buffer.byteLength(req.rawHeaders[i], 'latin1') + Buffer.byteLength(req.rawHeaders[i + 1], 'latin1') + 4
  if (size > 8192) refuse('long_headers')
  const [path, search = ''] = target.split(/\?(.*)/s)
  if (!path.startsWith(`${BASE}/`)) lost()
  const parts = path.slice(BASE.length + 1).split('/').map(decode)
  const named = ['e1', 'e2'].includes(parts[0]) ? parts[0] : null
  let version = named
  let found = matches(parts.slice(1), named)
  if (!found.length) found = matches(parts, null).map(m => ({ ...m, bare: true }))
  if (named === 'e1') mergeHeaders(headers, deprecation(target))
  if (!found.length) lost()
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const allow = [...new Set(found.flatMap(m => m.route.method === 'GET' ? ['GET', 'HEAD'] : [m.route.method])), 'OPTIONS'].join(', ')
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow } }
  const hit = found.find(m => m.route.method === method) ?? refuse('wrong_method', { headers: { Allow: allow } })
  if (hit.bare && bug('current-by-default')) version = 'e2'
  else if (!named || hit.bare) refuse('no_edition')
  if (version === 'e1' && now() >= SUNSET && !bug('sunset-still-open')) refuse('old_edition')
  const { route, params } = hit
  const ctx = { params, version, headers: req.headers, search, rest: hit.bare ? path.slice(BASE.length) : path.slice(BASE.length + 1 + parts[0].length) }
  if (route.open) mergeHeaders(headers, countAddress(req.socket.remoteAddress))
  else {
    const accept = route.accept ?? ['pass', 'coin']
    headers.Vary = accept.map(s => s === 'pass' ? 'X-Bench-Pass' : 'Authorization').join(', ')
    ctx.caller = whoCalls(req, accept)
    mergeHeaders(headers, countCaller(ctx.caller, bug('list-costs-one') ? 1 : route.cost ?? 1))
    if (!route.may[ctx.caller.user]) refuse('not_for_you')
    if (route.scope && !ctx.caller.scopes.includes(route.scope)) refuse('no_key_to_stock')
  }
  if (route.body) {
    if (raw.length || tooThick) {
      const type = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase()
      if (type !== 'application/json' && !(method === 'PATCH' && type === 'application/merge-patch+json')) refuse('wrong_paper')
    }
    if (tooThick) refuse('too_thick')
    if (!raw.length) refuse('no_body')
    try { ctx.body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)) } catch { refuse('unreadable') }
  } else if (tooThick) refuse('too_thick')
  ctx.query = {}
  const pages = {}
  for (const [name, value] of new URLSearchParams(search)) {
    const spec = Object.hasOwn(route.params ?? {}, name) ? route.params[name] : null
    if (spec) {
      if (Object.hasOwn(ctx.query, name) && !spec.many) badQuery(name, value, 'one value')
      const read = spec.parse(name, value, ctx)
      ctx.query[name] = spec.many ? [...(ctx.query[name] ?? []), ...read] : read
    } else if (route.pages?.names.includes(name)) {
      if (Object.hasOwn(pages, name)) badQuery(name, value, 'one value')
      pages[name] = value
    } else badQuery(name, value, 'no such parameter')
  }
  if (route.pages) ctx.page = route.pages.read(pages)
  return route.once && req.headers['once-key'] !== undefined ? once(ctx, route, target, raw) : route.run(ctx)
}
const once = (ctx, route, target, raw) => {
  const key = `${bug('once-for-everybody') ? '' : `${ctx.caller.user} ${ctx.caller.id}`} ${ctx.headers['once-key']}`
  const print = createHash('sha256').update(`${target}\n`).update(raw).digest('hex')
  const before = onceKeys.get(key)
  if (before && now() < before.until) {
    if (before.print !== print) refuse('key_reused')
    if (before.refusal) throw before.refusal
    return before.answer
  }
  try {
    const answer = route.run(ctx)
    onceKeys.set(key, { print, answer: { ...answer, body: JSON.parse(JSON.stringify(answer.body)) }, until: now() + (bug('once-kept-an-hour') ? 1 : 6) * HOUR })
    return answer
  } catch (error) {
    if (error instanceof Refusal && OWN.has(error.code) && !bug('once-forgets-refusals')) onceKeys.set(key, { print, refusal: error, until: now() + 6 * HOUR })
    throw error
  }
}

const write = (res, { status, body, headers }) => {
  for (const [k, v] of Object.entries(headers)) if (v !== undefined) res.setHeader(k, v)
  if (body === undefined) { res.writeHead(status); res.end(); return }
  const bytes = Buffer.from(JSON.stringify(body))
  res.setHeader('Content-Type', 'application/json')
  res.setHeader('Content-Length', bytes.length)
  res.writeHead(status)
  res.end(bytes)
}
const refusalOf = (error, headers, trace) => {
  const r = error instanceof Refusal ? error : (console.error(error), new Refusal('broken'))
  mergeHeaders(headers, r.headers)
  headers['X-Bureau-Fault'] = r.code
  if (bug('deprecation-of-good-news')) { delete headers.Deprecation; delete headers.Sunset; headers.Link = undefined }
  return { status: STATUS[r.code], headers, body: { fault: r.code, said: r.said, trace, where: r.where } }
}
const server = http.createServer({ maxHeaderSize: 65536, requestTimeout: 8000, headersTimeout: 8000, connectionsCheckingInterval: 500, keepAliveTimeout: 40000 }, (req, res) => {
  const trace = randomUUID(), headers = { 'X-Bureau-Trace': trace }
  const chunks = []
  let size = 0
  req.on('data', c => { size += c.length; if (size <= 6144) chunks.push(c) })
  req.on('error', () => {})
  req.on('end', () => {
    tick()
    let answer
    try { const a = exchange(req, Buffer.concat(chunks), size > 6144, headers); answer = { ...a, headers: mergeHeaders(headers, a.headers) } } catch (error) { answer = refusalOf(error, headers, trace) }
    write(res, answer)
    pump()
  })
})
server.on('clientError', (error, socket) => {
  if (!socket.writable) return
  const [status, code] = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? [408, 'too_slow'] : error.code === 'HPE_HEADER_OVERFLOW' ? [431, 'long_headers'] : [400, 'unreadable']
  const trace = randomUUID(), body = JSON.stringify({ fault: code, said: http.STATUS_CODES[status], trace })
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nX-Bureau-Trace: ${trace}\r\nX-Bureau-Fault: ${code}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
})

// ---- the door of the clock
const advanced = (from, duration) => {
  const m = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(duration)
  if (!m) return null
  const [y, mo, w, d, h, mi, s] = m.slice(1).map(x => Number(x ?? 0))
  const date = new Date(from), day = date.getUTCDate()
  date.setUTCDate(1); date.setUTCMonth(date.getUTCMonth() + y * 12 + mo)
  date.setUTCDate(Math.min(day, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()))
  return date.getTime() + (w * 7 + d) * DAY + h * HOUR + mi * MIN + s * SEC
}
const clock = http.createServer((req, res) => {
  const chunks = []
  req.on('data', c => chunks.push(c))
  req.on('end', () => {
    const say = (status, body = { now: iso(now()) }) => write(res, { status, body, headers: {} })
    if (req.method === 'GET') return say(200)
    let to = null
    if (req.method === 'POST') try {
      const { advance, now: at } = JSON.parse(Buffer.concat(chunks).toString())
      if (typeof advance === 'string') to = advanced(now(), advance)
      else if (typeof at === 'string' && /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(at)) to = Date.parse(at)
    } catch { to = null }
    if (to === null || Number.isNaN(to)) return say(400, { error: 'advance or now' })
    if (to < now()) return say(422, { error: 'the clock goes forward alone' })
    held = now()
    settle(to)
    held = null
    offset = to - Date.now()
    tick()
    say(200)
  })
})
setInterval(tick, 200).unref()
const listen = (s, port) => new Promise(done => s.listen(Number(port), '127.0.0.1', done))
await Promise.all([listen(server, option('port') ?? 8080), listen(clock, option('clock-port') ?? 8081)])
console.log(`kartonage is ready at ${option('port') ?? 8080}`)
