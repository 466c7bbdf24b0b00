// For each fault: the right service and the faulty one are asked the same; the answers have to be `good` and `bad`.
//   node faults-test.mjs [ID ...]
import { spawn } from 'node:child_process'
import { createServer, request } from 'node:http'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
const DIR = new URL('.', import.meta.url)
const stranger = JSON.parse(readFileSync(new URL('stranger.json', DIR)))
const auth = {}
for (const c of stranger.callers) {
  const h = (auth[c.id] ??= {})
  if (c.scheme === 'card') h.card = { authorization: 'Racket ' + c.credential }
  if (c.scheme === 'desk') h.desk = { authorization: 'Basic ' + c.credential }
  if (c.scheme === 'terminal') h.terminal = { 'x-terminal': c.credential }
}
const heard = []
const ear = createServer((q, r) => { let b = ''; q.on('data', (x) => { b += x }); q.on('end', () => { heard.push({ path: q.url, headers: q.headers, body: b }); r.end('ok') }) })
await new Promise((ok) => ear.listen(0, '127.0.0.1', ok))
const EAR = 'http://127.0.0.1:' + ear.address().port
let port = 4800 + (process.pid % 1000) * 2
const sleep = (ms) => new Promise((ok) => setTimeout(ok, ms))
function send(p, method, path, headers, body) {
  return new Promise((ok, no) => {
    const data = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const r = request({ host: '127.0.0.1', port: p, method, path, agent: false, headers: { ...(data !== undefined ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) } : {}), ...headers } }, (a) => {
      let t = ''; a.on('data', (x) => { t += x }); a.on('end', () => { let j; try { j = JSON.parse(t) } catch {} ; ok({ status: a.statusCode, headers: a.headers, j, t }) })
    })
    r.on('error', no); r.end(data)
  })
}
async function start(fault) {
  const p = port++, d = port++
  const child = spawn(process.execPath, ['service.mjs', '--port', p, '--clock-port', d, ...(fault ? ['--fault', fault] : [])], { cwd: DIR, stdio: ['ignore', 'inherit', 'inherit'] })
  for (let i = 0; ; i++) { try { await send(d, 'GET', '/', {}); await send(p, 'GET', '/club/courts', {}); break } catch (e) { if (i > 100) throw e; await sleep(30) } }
  const s = {
    p, stop: () => new Promise((ok) => { child.on('exit', ok); child.kill() }),
    ask: (who, method, path, body, headers = {}) => send(p, method, '/club' + path, { ...(who ? auth[who].card ?? auth[who].desk : {}), ...headers }, body),
    raw: (method, path, headers = {}, body) => send(p, method, path, headers, body),
    move: (o) => send(d, 'POST', '/', {}, typeof o === 'string' && o.startsWith('P') ? { advance: o } : { now: o }),
    court: (code = 'aa1', more = {}) => s.ask('sol', 'PUT', '/courts/' + code, { name: 'Centre', rate_cents: 1000, ...more }),
    book: async (who = 'ana', at = '2026-05-05T10:00:00Z', more = {}, court = 'aa1') => (await s.ask(who, 'POST', `/courts/${court}/bookings`, { starts_at: at, ...more })).j,
    close: (until = '2026-05-06T00:00:00Z', headers = auth.sol.terminal) => s.ask('sol', 'POST', '/courts/aa1/closures', { reason: 'rain', until }, headers),
    duel: async (who = 'ana', opponent = 'ben', ladder = 'singles') => (await s.ask(who, 'POST', '/challenges', { ladder, opponent })).j,
    lesson: async (starts = '2026-05-08T10:00:00Z', ends = '2026-05-08T11:00:00Z') => (await s.ask('kim', 'POST', '/lessons', { title: 'Slices', starts_at: starts, ends_at: ends })),
    job: (more = {}, headers) => s.ask('ana', 'POST', '/jobs', { racket: 'Dunlop', tension: 24, ...more }, headers),
    hook: async (who, topics, headers = {}) => (await s.ask(who, 'POST', '/hooks', { url: EAR + '/' + p, topics }, headers)).j,
    news: async () => { await sleep(150); return heard.filter((h) => h.path === '/' + p).map((h) => ({ ...h, j: JSON.parse(h.body) })) },
    condition: async () => (await s.ask(null, 'GET', '/courts/aa1')).j.condition,
  }
  return s
}
const T = {
  'bare-base': [async (s) => (await s.raw('GET', '/courts')).status, 404, 200],
  'location-bare': [async (s) => { const a = await s.lesson(); return a.headers.location.replace(a.j.id, 'ID') }, '/club/lessons/ID', '/lessons/ID'],
  'finish-unrouted': [async (s) => { await s.court(); const b = await s.book(); await s.ask('ana', 'POST', `/bookings/${b.id}/start`); return (await s.ask('sol', 'POST', `/bookings/${b.id}/finish`)).status }, 200, 404],
  'coach-as-member': [async (s) => (await s.lesson()).status, 201, 403],
  'slip-four': [async (s) => { await s.court(); return (await s.book()).slip }, 'S-00001', 'S-0001'],
  'price-one-hour': [async (s) => { await s.court(); return (await s.book('ana', undefined, { hours: 2 })).price_cents }, 2000, 1000],
  'ends-stale': [async (s) => { await s.court(); const b = await s.book(); const e = (await s.ask('ana', 'GET', '/bookings/' + b.id)).headers.etag
    return (await s.ask('ana', 'PATCH', '/bookings/' + b.id, { hours: 3 }, { 'if-match': e })).j.ends_at }, '2026-05-05T13:00:00.000Z', '2026-05-05T11:00:00.000Z'],
  'booked-counts-played': [async (s) => { await s.court(); const b = await s.book(); await s.ask('ana', 'POST', `/bookings/${b.id}/start`); const one = (await s.ask(null, 'GET', '/courts/aa1')).j.booked
    await s.ask('sol', 'POST', `/bookings/${b.id}/finish`); return [one, (await s.ask(null, 'GET', '/courts/aa1')).j.booked] }, [1, 0], [1, 1]],
  'pin-again': [async (s) => { const a = await s.job(); return [/^\d{6}$/.test(a.j.pin), 'pin' in (await s.ask('ana', 'GET', '/jobs/' + a.j.id)).j] }, [true, false], [true, true]],
  'memo-shown': [async (s) => { const a = await s.court('aa1', { memo: 'new lines' }); return [a.j.memo, (await s.ask('ana', 'GET', '/courts/aa1')).j.memo] }, ['new lines', undefined], ['new lines', 'new lines']],
  'number-overall': [async (s) => [(await s.duel()).number, (await s.duel('ana', 'ben', 'doubles')).number, (await s.duel()).number], [1, 1, 2], [1, 2, 3]],
  'dry-thirty': [async (s) => { await s.court(); await s.ask('sol', 'POST', '/courts/aa1/water'); await s.move('PT24M'); const a = await s.condition(); await s.move('PT2M'); const b = await s.condition(); await s.move('PT5M'); return [a, b, await s.condition()] },
    ['damp', 'playable', 'playable'], ['damp', 'damp', 'playable']],
  'roll-shut': [async (s) => { await s.court(); const a = await s.close(); return [a.status, (await s.ask('sol', 'POST', '/courts/aa1/roll')).status] }, [201, 409], [201, 200]],
  'cancel-one-hour': [async (s) => { await s.court(); const b = await s.book(); await s.move('2026-05-05T06:00:00Z'); const a = await s.ask('ana', 'POST', `/bookings/${b.id}/cancel`); return [a.status, a.headers['x-fault']] }, [409, 'too_late'], [200, undefined]],
  'miss-early': [async (s) => { await s.court(); const b = await s.book(); const at = async () => (await s.ask('ana', 'GET', '/bookings/' + b.id)).j.status; await s.move('2026-05-05T10:30:00Z'); const a = await at(); await s.move('2026-05-05T11:00:01Z'); return [a, await at()] },
    ['booked', 'missed'], ['missed', 'missed']],
  'tie-is-lost': [async (s) => { const d = await s.duel(); await s.ask('ben', 'POST', `/challenges/${d.id}/accept`); return (await s.ask('ana', 'POST', `/challenges/${d.id}/report`, { won: 1, lost: 1 })).status }, 409, 200],
  'elapse-stays-shut': [async (s) => { await s.court(); await s.close(); const a = await s.condition(); await s.move('2026-05-06T00:00:01Z'); const l = (await s.ask('ana', 'GET', '/closures')).j.lines[0].stage; return [a, l, await s.condition()] },
    ['shut', 'lifted', 'playable'], ['shut', 'lifted', 'shut']],
  'way-alone': [async (s) => { await s.court('aa1', { name: 'Ash' }); await s.court('bb1', { name: 'Birch' }); return (await s.ask(null, 'GET', '/courts?way=desc')).j.lines.map((x) => x.name) }, ['Birch', 'Ash'], ['Ash', 'Birch']],
  'before-inclusive': [async (s) => { await s.court(); await s.book(); return (await s.ask('ana', 'GET', '/bookings?before=2026-05-05T12%3A00%3A00%2B02%3A00')).j.total }, 0, 1],
  'head-refused': [async (s) => (await s.ask(null, 'HEAD', '/courts')).status, 200, 405],
  'never-304': [async (s) => { await s.court(); const e = (await s.ask(null, 'GET', '/courts/aa1')).headers.etag; return (await s.ask(null, 'GET', '/courts/aa1', undefined, { 'if-none-match': e })).status }, 304, 200],
  'put-two-hundred': [async (s) => [(await s.court()).status, (await s.court()).status], [201, 200], [200, 200]],
  'key-forgotten': [async (s) => { const k = { 'idempotency-key': 'k1' }; const a = await s.job({}, k), b = await s.job({}, k); return [a.status, b.status, a.j.id === b.j.id, 'pin' in b.j] }, [201, 201, true, false], [201, 201, false, true]],
  'mate-cancels': [async (s) => { await s.court(); const b = await s.book(); return (await s.ask('ben', 'POST', `/bookings/${b.id}/cancel`)).status }, 403, 200],
  'mate-sees-all': [async (s) => { await s.court(); const b = await s.book(); const a = await s.ask('ben', 'GET', '/bookings/' + b.id); return [Object.keys(a.j).length, 'holder' in a.j, (await s.ask('cleo', 'GET', '/bookings/' + b.id)).status] }, [5, false, 404], [10, true, 404]],
  'guests-scope': [async (s) => (await s.ask('eve', 'POST', '/vouchers', { guest: 'Fay' })).status, 403, 201],
  'desk-alone': [async (s) => { await s.court(); return (await s.close(undefined, {})).status }, 401, 201],
  'prefix-case': [async (s) => (await s.ask('ana', 'GET', '/bookings', undefined, { authorization: auth.ana.card.authorization.replace('Racket', 'RACKET') })).status, 200, 401],
  'sign-without-ref': [async (s) => { await s.court(); const h = await s.hook('sol', ['court.turned']); await s.ask('sol', 'POST', '/courts/aa1/water'); const [n] = await s.news()
    const [, at, sig] = /^at=(\d+),sig=([0-9a-f]{64})$/.exec(n.headers['clay-signature']); const mac = (t) => createHmac('sha256', h.secret).update(t).digest('hex')
    return [sig === mac(`${n.j.ref}.${at}.${n.body}`), sig === mac(`${at}.${n.body}`)] }, [true, false], [false, true]],
  'turned-same': [async (s) => { await s.court(); await s.hook('sol', ['court.*']); await s.ask('sol', 'POST', '/courts/aa1/roll'); await s.ask('sol', 'POST', '/courts/aa1/water'); return (await s.news()).map((n) => n.j.news.was + '>' + n.j.news.is) },
    ['playable>damp'], ['playable>playable', 'playable>damp']],
  'miss-silent': [async (s) => { await s.court(); const b = await s.book(); const c = await s.book('ana', '2026-05-06T10:00:00Z'); await s.hook('ana', ['booking.off']); await s.ask('ana', 'POST', `/bookings/${c.id}/cancel`); await s.news(); await s.move('2026-05-05T12:00:00Z'); void b
    return (await s.news()).map((n) => n.j.news.end) }, ['cancelled', 'missed'], ['cancelled']],
  'settled-whole': [async (s) => { const d = await s.duel(); await s.hook('ben', ['challenge.settled']); await s.ask('ben', 'POST', `/challenges/${d.id}/accept`); await s.ask('ana', 'POST', `/challenges/${d.id}/report`, { won: 2, lost: 1 }); const [n] = await s.news()
    return [n.j.news === d.id, typeof n.j.news] }, [true, 'string'], [false, 'object']],
  'made-unmasked': [async (s) => { await s.court(); await s.hook('ana', ['booking.made']); await s.book(); const [n] = await s.news(); return Object.keys(n.j.news).sort().join() },
    'court,ends_at,id,starts_at,status', 'court,ends_at,holder,hours,id,price_cents,slip,squad,starts_at,status'],
  'soon-twelve': [async (s) => { await s.hook('lou', ['lesson.soon']); await s.lesson(); await s.move('2026-05-07T09:59:00Z'); const a = (await s.news()).length; await s.move('2026-05-07T10:00:01Z'); const b = (await s.news()).length; await s.move('2026-05-07T22:00:01Z'); return [a, b, (await s.news()).length] },
    [0, 1, 1], [0, 0, 1]],
  'left-out-400': [async (s) => { const a = await s.ask('ana', 'POST', '/jobs', { racket: 'Dunlop' }); return [a.status, a.headers['x-fault']] }, [422, 'left_out'], [400, 'left_out']],
  'unknown-is-unfit': [async (s) => (await s.job({ colour: 'red' })).j.fault.name, 'not_a_field', 'unfit'],
  'slash-places': [async (s) => (await s.ask('ana', 'POST', '/hooks', { url: EAR, topics: ['*', 'nope'] })).j.fault.places.map((p) => p.path), ['topics.1'], ['topics/1']],
  'body-first': [async (s) => (await s.ask('ana', 'POST', '/jobs?x=1', '{')).j.fault.name, 'odd_parameter', 'unreadable'],
  'key-any-body': [async (s) => { const k = { 'idempotency-key': 'k2' }; await s.job({}, k); const a = await s.job({ tension: 30 }, k); return [a.status, a.headers['x-fault']] }, [422, 'key_reused'], [201, undefined]],
  'bucket-seven': [async (s) => { const out = []; for (let i = 0; i < 7; i++) out.push((await s.job()).status); return out.slice(5) }, [201, 429], [201, 201]],
  'water-404-counts': [async (s) => { const a = await s.ask('sol', 'POST', '/courts/zz9/water'); return [a.status, a.headers['club-limit'], a.headers['club-left']] }, [404, '8', '8'], [404, '8', '7']],
  'quota-utc': [async (s) => { for (let i = 0; i < 12; i++) await s.duel(); const a = (await s.ask('ana', 'POST', '/challenges', { ladder: 'singles', opponent: 'ben' })).status; await s.move('2026-05-04T22:30:00Z')
    return [a, (await s.ask('ana', 'POST', '/challenges', { ladder: 'singles', opponent: 'ben' })).status] }, [403, 201], [403, 403]],
  'take-clamps': [async (s) => (await s.ask('ana', 'GET', '/challenges?take=21')).status, 400, 200],
  'used-count': [async (s) => { let v; for (let i = 0; i < 4; i++) v = (await s.ask('ana', 'POST', '/vouchers', { guest: 'Fay' })).j; const a = (await s.ask('ana', 'POST', '/vouchers', { guest: 'Fay' })).status
    await s.ask('sol', 'POST', `/vouchers/${v.code}/redeem`); return [a, (await s.ask('ana', 'POST', '/vouchers', { guest: 'Fay' })).status] }, [403, 201], [403, 403]],
  'slots-forgotten': [async (s) => { await s.court(); await s.book(); const r = (await s.ask('ana', 'GET', '/bookings', undefined, { 'club-edition': '2025.1' })).j.lines[0]; return [r.slots, r.hours] }, [1, undefined], [undefined, 1]],
  'euros-floor': [async (s) => { await s.ask('sol', 'PUT', '/courts/aa1', { name: 'Centre', rate_cents: 19.99 }, { 'club-edition': '2025.2' }); return (await s.ask(null, 'GET', '/courts/aa1')).j.rate_cents }, 1999, 1998],
  'sunset-serves': [async (s) => { await s.move('2027-09-30T00:00:01Z'); return (await s.ask(null, 'GET', '/courts', undefined, { 'club-edition': '2025.1' })).status }, 410, 200],
  'hook-current': [async (s) => { await s.hook('kim', ['lesson.offered'], { 'club-edition': '2025.2' }); const l = (await s.lesson()).j; await s.ask('kim', 'PATCH', '/lessons/' + l.id, { stage: 'offered' }); const [n] = await s.news(); return [n.j.news.name, n.j.news.title] },
    ['Slices', undefined], [undefined, 'Slices']],
}
const only = process.argv.slice(2)
let passed = 0, failed = 0
for (const f of stranger.faults) {
  if (only.length && !only.includes(f.id)) continue
  const [fn, good, bad] = T[f.id]
  const got = []
  for (const x of [null, f.id]) {
    const s = await start(x)
    try { got.push(await fn(s)) } catch (e) { got.push('threw ' + e.message) } finally { await s.stop() }
  }
  if (isDeepStrictEqual(got[0], good) && isDeepStrictEqual(got[1], bad)) passed++
  else { failed++; console.log('NOT SHOWN', f.id, JSON.stringify(got), 'expected', JSON.stringify([good, bad])) }
}
console.log(`${passed} shown, ${failed} not`)
ear.close()
process.exit(failed ? 1 : 0)
