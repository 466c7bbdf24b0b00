// For each fault: the right service does it right, the one with the fault does it wrong. node faults-test.mjs [ID ...]
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'

const here = new URL('.', import.meta.url).pathname
const { faults } = JSON.parse(readFileSync(`${here}stranger.json`))
const free = () => new Promise(done => { const s = http.createServer(); s.listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => done(port)) }) })
const sleep = ms => new Promise(done => setTimeout(done, ms))
const call = (port, method, path, headers, body) => new Promise((done, fail) => {
  const req = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false }, res => {
    const chunks = []
    res.on('data', c => chunks.push(c))
    res.on('end', () => { const t = Buffer.concat(chunks).toString(); done({ status: res.statusCode, headers: res.headers, body: t ? JSON.parse(t) : undefined }) })
  })
  req.on('error', fail)
  req.end(body)
})
const start = async fault => {
  const [port, clockPort] = [await free(), await free()]
  const child = spawn(process.execPath, ['service.mjs', '--port', port, '--clock-port', clockPort, ...(fault ? ['--fault', fault] : [])], { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise(done => child.stdout.once('data', done))
  const receivers = []
  const as = (who, edition = 'e2') => async (method, path, body, headers = {}) => {
    const credential = who === null ? {} : who.startsWith('coin:') ? { Authorization: `Basic ${Buffer.from(who.slice(5)).toString('base64')}` } : { 'X-Bench-Pass': `pass-${who.repeat(5)}1` }
    return call(port, method, `/bureau/${edition}${path}`, { ...credential, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers }, body === undefined ? undefined : JSON.stringify(body))
  }
  let n = 0
  const s = {
    port, as, ann: as('ann'), bob: as('bob'), cas: as('cas'), pia: as('pia'), pol: as('pol'), nobody: as(null), sleep,
    raw: (method, path, headers = {}) => call(port, method, path, headers),
    later: async advance => (await call(clockPort, 'POST', '/', {}, JSON.stringify({ advance }))).body,
    at: async now => (await call(clockPort, 'POST', '/', {}, JSON.stringify({ now }))).body,
    time: async () => (await call(clockPort, 'GET', '/', {})).body.now,
    order: async (who = s.ann, more = {}) => (await who('POST', '/books', { scale: 'limonaire-52', title: `Book ${++n}`, metres: 20, bars: 40, ...more })).body,
    proofed: async (who = s.ann, more = {}) => { const b = await s.order(who, more); return (await who('POST', `/books/${b.id}/propose`)).body },
    folded: async () => { const b = await s.proofed(); await s.ann('POST', `/books/${b.id}/approve`); return (await s.pol('POST', `/books/${b.id}/fold`)).body },
    mark: async (book, bar, who = s.ann) => (await who('POST', `/books/${book.id}/corrections`, { bar, remark: 'flat' })).body,
    book: async (b, who = s.ann) => (await who('GET', `/books/${b.id}`)),
    patch: async (b, body, who = s.ann) => who('PATCH', `/books/${b.id}`, body, { 'If-Match': (await s.book(b, who)).headers.etag }),
    receiver: async (status = 204) => {
      const got = []
      const server = http.createServer((req, res) => { const c = []; req.on('data', x => c.push(x)); req.on('end', () => { const raw = Buffer.concat(c).toString(); got.push({ raw, headers: req.headers, body: JSON.parse(raw) }); res.writeHead(status).end() }) })
      await new Promise(done => server.listen(0, '127.0.0.1', done))
      receivers.push(server)
      return { url: `http://127.0.0.1:${server.address().port}/hear`, got, wait: async (count, ms = 1500) => { for (let i = 0; i < ms / 20 && got.length < count; i++) await sleep(20); return got.length } }
    },
    stop: async () => { for (const r of receivers) { r.closeAllConnections(); r.close() } const gone = new Promise(done => child.once('exit', done)); child.kill(); await gone },
  }
  return s
}
const titles = r => r.body.map(b => b.title).join()

const RIGHT = {
  'location-without-base': async s => (await s.ann('POST', '/books', { scale: 'limonaire-52', title: 'L', metres: 2 })).headers.location.startsWith('/bureau/e2/books/bk_'),
  'scopeless-punchers-unknown': async s => (await s.pol('GET', '/books')).status === 200,
  'nobody-can-prolong': async s => { const b = await s.folded(); const p = (await s.ann('POST', `/books/${b.id}/prolong`)).body; return Date.parse(p.keep_until) - Date.parse(b.keep_until) === 10 * 86400000 },
  'numbers-over-all': async s => { await s.order(); return (await s.order(s.ann, { scale: 'gavioli-89' })).number === 1 && (await s.order()).number === 2 },
  'note-shown-by-number': async s => { const b = await s.order(); await s.patch(b, { bench_note: 'hm' }, s.pia); const r = await s.ann('GET', '/scales/limonaire-52/books/1'); return r.status === 200 && !('bench_note' in r.body) && (await s.pia('GET', '/scales/limonaire-52/books/1')).body.bench_note === 'hm' },
  'secret-shown-again': async s => { const l = (await s.ann('POST', '/listeners', { url: 'http://127.0.0.1:9/x' })).body; return /^whk_\w{32}$/.test(l.secret) && !('secret' in (await s.ann('GET', `/listeners/${l.id}`)).body) },
  'rule-for-orders-alone': async s => { const b = await s.order(s.ann, { board: 'light' }); const r = await s.patch(b, { metres: 61 }); return r.status === 422 && r.body.fault === 'out_of_tune' && r.body.where[0].path === 'metres' },
  'withdrawn-keep-titles': async s => { const b = await s.order(s.ann, { title: 'T' }); const two = await s.bob('POST', '/books', { scale: 'gavioli-89', title: 'T', metres: 2 }); await s.ann('POST', `/books/${b.id}/withdraw`); return two.status === 409 && two.body.fault === 'twice' && (await s.bob('POST', '/books', { scale: 'gavioli-89', title: 'T', metres: 2 })).status === 201 },
  'settled-count-as-open': async s => { const b = await s.proofed(); const c = await s.mark(b, 3); await s.mark(b, 4); await s.ann('PATCH', `/corrections/${c.id}`, { mark: 'settled' }); return (await s.book(b)).body.open_marks === 1 },
  'lapse-keeps-stamp': async s => { const b = await s.proofed(); await s.later('P15D'); const r = (await s.book(b)).body; return r.stage === 'sketched' && r.changed_at > b.changed_at },
  'deleted-books-counted': async s => { const b = await s.order(); const r = await s.ann('DELETE', `/books/${b.id}`); return r.status === 204 && (await s.nobody('GET', '/scales/limonaire-52')).body.books === 0 },
  'gone-for-ever': async s => { const b = await s.order(); await s.ann('DELETE', `/books/${b.id}`); const one = (await s.book(b)).status; await s.later('P8D'); return one === 410 && (await s.book(b)).status === 404 },
  'lapse-a-day-early': async s => { const b = await s.proofed(); await s.later('P13DT12H'); const one = (await s.book(b)).body.stage; await s.later('PT13H'); return one === 'proofed' && (await s.book(b)).body.stage === 'sketched' },
  'lapse-from-first-proof': async s => { const b = await s.proofed(); await s.later('P5D'); await s.ann('POST', `/books/${b.id}/approve`); await s.pia('POST', `/books/${b.id}/spoil`, { reason: 'torn' }); await s.ann('POST', `/books/${b.id}/propose`); await s.later('P10D'); return (await s.book(b)).body.stage === 'proofed' },
  'prolong-leaves-timer': async s => { const b = await s.folded(); await s.ann('POST', `/books/${b.id}/prolong`); await s.later('P31D'); const one = (await s.book(b)).body.stage; await s.later('P10D'); return one === 'folded' && (await s.book(b)).body.stage === 'pulped' },
  'waives-one-alone': async s => { const b = await s.proofed(); await s.mark(b, 3); await s.mark(b, 4); const r = await s.ann('POST', `/books/${b.id}/withdraw`); return r.body.open_marks === 0 && (await s.ann('GET', `/books/${b.id}/corrections?mark=waived`)).body.length === 2 },
  'reopens-any-time': async s => { const b = await s.proofed(); const c = await s.mark(b, 3); await s.ann('PATCH', `/corrections/${c.id}`, { mark: 'settled' }); await s.ann('POST', `/books/${b.id}/approve`); const r = await s.ann('PATCH', `/corrections/${c.id}`, { mark: 'open' }); return r.status === 409 && r.body.fault === 'wrong_stage' },
  'mark-at-birth': async s => { const b = await s.proofed(); return (await s.ann('POST', `/books/${b.id}/corrections`, { bar: 2, remark: 'x', mark: 'settled' })).body.mark === 'open' },
  'patch-replaces-pitch': async s => { const b = await s.order(s.ann, { pitch: { hertz: 440, temper: 'meantone' } }); const r = await s.patch(b, { pitch: { hertz: 435 } }); return r.body.pitch.hertz === 435 && r.body.pitch.temper === 'meantone' },
  'nothing-changes-stamp': async s => { const b = await s.order(); await sleep(5); return (await s.patch(b, { metres: b.metres })).body.changed_at === b.changed_at },
  'proofed-may-be-deleted': async s => { const b = await s.proofed(); const r = await s.ann('DELETE', `/books/${b.id}`); return r.status === 409 && r.body.fault === 'out_of_turn' },
  'tag-blind-to-marks': async s => { const b = await s.proofed(); const one = (await s.book(b)).headers.etag; await s.mark(b, 1); return (await s.book(b)).headers.etag !== one && (await s.ann('PATCH', `/books/${b.id}`, { metres: 3 }, { 'If-Match': one })).status === 412 },
  'once-for-everybody': async s => { const body = { scale: 'limonaire-52', title: 'K', metres: 2 }, k = { 'Once-Key': 'k1' }; const a = await s.ann('POST', '/books', body, k); const again = await s.ann('POST', '/books', body, k); const c = await s.cas('POST', '/books', body, k); return again.body.id === a.body.id && c.status === 201 && c.body.owner === 'cas' },
  'once-forgets-refusals': async s => { const body = { scale: 'marenghi-67', title: 'K', metres: 2 }, k = { 'Once-Key': 'k1' }; const a = await s.ann('POST', '/books', body, k); await s.pia('PUT', '/scales/marenghi-67', { maker: 'Marenghi', keys: 67 }); const b = await s.ann('POST', '/books', body, k); return a.body.fault === 'retired' && b.status === 409 && b.body.fault === 'retired' && (await s.ann('POST', '/books', body)).status === 201 },
  'once-kept-an-hour': async s => { const body = { scale: 'limonaire-52', title: 'K', metres: 2 }, k = { 'Once-Key': 'k1' }; const a = await s.ann('POST', '/books', body, k); await s.later('PT5H'); const b = await s.ann('POST', '/books', body, k); await s.later('PT2H'); return b.status === 201 && b.body.id === a.body.id && (await s.ann('POST', '/books', body, k)).status === 409 },
  'corrections-as-raised': async s => { const b = await s.proofed(); for (const bar of [9, 2, 5]) await s.mark(b, bar); return (await s.ann('GET', `/books/${b.id}/corrections`)).body.map(c => c.bar).join() === '2,5,9' },
  'choice-without-id': async s => { const b = await s.order(); return Object.keys((await s.ann('GET', '/books?only=title,stage')).body[0]).join() === 'id,title,stage' && !!b.id },
  'coins-may-listen': async s => { const coin = s.as('coin:coin-annannannannann1:'); return (await coin('GET', '/listeners')).status === 200 && (await coin('POST', '/listeners', { url: 'http://127.0.0.1:9/' })).status === 401 },
  'coin-with-any-password': async s => { const r = await s.as('coin:coin-annannannannann1:pw')('GET', '/books'); return r.status === 401 && r.body.fault === 'bad_pass' && (await s.as('coin:coin-annannannannann1:')('GET', '/books')).status === 200 },
  'second-credential-unseen': async s => (await s.ann('GET', '/books', undefined, { Authorization: `Basic ${Buffer.from('coin-no:').toString('base64')}` })).status === 401,
  'house-mates-may-update': async s => { const b = await s.order(); const r = await s.patch(b, { metres: 5 }, s.bob); return r.status === 403 && r.body.fault === 'not_for_you' },
  'number-opens-every-house': async s => { await s.order(); return (await s.cas('GET', '/scales/limonaire-52/books/1')).status === 404 && (await s.bob('GET', '/scales/limonaire-52/books/1')).status === 200 },
  'parents-of-others': async s => { const b = await s.order(); return (await s.cas('GET', `/books/${b.id}/corrections`)).status === 404 && (await s.bob('GET', `/books/${b.id}/corrections`)).status === 200 },
  'lapse-untold': async s => { const b = await s.proofed(); await s.later('P15D'); const e = (await s.ann('GET', `/entries?kind=book.moved&about=${b.id}`)).body.items; return e.length === 1 && e[0].body.was === 'proofed' && e[0].body.is === 'sketched' && !('actor' in e[0]) },
  'shortened-is-lengthened': async s => { const b = await s.order(); await s.patch(b, { metres: 25 }); await s.patch(b, { metres: 24 }); return (await s.ann('GET', '/entries?kind=book.lengthened')).body.items.length === 1 },
  'cascade-untold': async s => { const b = await s.proofed(); await s.mark(b, 7); await s.ann('POST', `/books/${b.id}/withdraw`); await s.ann('DELETE', `/books/${b.id}`); const e = (await s.ann('GET', '/entries?kind=correction.dropped')).body.items; return e.length === 1 && e[0].body.bar === 7 },
  'seal-without-entry': async s => { const r = await s.receiver(); const l = (await s.ann('POST', '/listeners', { url: r.url })).body; await s.order(); await r.wait(1); const { raw, body, headers } = r.got[0]; const [, at, seal] = /^at=(\d+);seal=(.+)$/.exec(headers['x-bureau-seal']); return seal === createHmac('sha256', l.secret).update(`${body.entry}:${at}:${raw}`).digest('base64') && headers['x-bureau-kind'] === 'book.ordered' },
  'gives-up-early': async s => { const r = await s.receiver(500); await s.ann('POST', '/listeners', { url: r.url }); await s.order(); for (const [i, w] of ['PT25S', 'PT4M', 'PT50M'].entries()) { await r.wait(i + 1); await sleep(60); await s.later(w) } return await r.wait(4) === 4 && new Set(r.got.map(g => g.body.entry)).size === 1 },
  'family-not-heard': async s => { const r = await s.receiver(); await s.ann('POST', '/listeners', { url: r.url, kinds: ['correction.*'] }); const b = await s.proofed(); await s.mark(b, 3); await r.wait(1, 800); return r.got.length === 1 && r.got[0].body.what === 'correction.raised' },
  'other-houses-hear': async s => { const r = await s.receiver(); await s.ann('POST', '/listeners', { url: r.url }); await s.order(s.cas); await s.order(s.bob); await r.wait(2, 500); return r.got.length === 1 && r.got[0].body.content.owner === 'bob' },
  'log-never-ends': async s => { await s.order(); await s.later('P9D'); const one = (await s.ann('GET', '/entries')).body.items.length; await s.later('P2D'); return one === 1 && (await s.ann('GET', '/entries')).body.items.length === 0 },
  'gone-is-lost': async s => { const b = await s.order(); await s.ann('DELETE', `/books/${b.id}`); const r = await s.book(b); return r.status === 410 && r.body.fault === 'pulped_row' && (await s.book(b, s.cas)).status === 404 },
  'too-late-unnamed': async s => { const b = await s.folded(); const r = await s.ann('POST', `/books/${b.id}/withdraw`); return r.status === 410 && r.body.fault === 'too_late' },
  'places-as-pointers': async s => (await s.ann('POST', '/books', { scale: 'gavioli-89', title: 'P', metres: 2, pitch: { hertz: 12 } })).body.where[0].path === 'pitch.hertz',
  'missing-names-first': async s => { const r = await s.ann('POST', '/books', { scale: 'gavioli-89', metres: 'two' }); return r.body.fault === 'out_of_tune' && r.body.where.length === 2 },
  'strays-let-in': async s => { const r = await s.ann('POST', '/books', { scale: 'gavioli-89', title: 'P', metres: 2, colour: 'red' }); return r.status === 422 && r.body.fault === 'stray' },
  'take-not-clamped': async s => { for (let i = 0; i < 22; i++) await s.order(); return (await s.ann('GET', '/scales/limonaire-52/books?take=40')).body.items.length === 20 },
  'total-of-page': async s => { for (let i = 0; i < 7; i++) await s.order(); const r = (await s.ann('GET', '/scales/limonaire-52/books')).body; return r.total === 7 && r.items.length === 5 && r.more === true },
  'next-after-the-last': async s => { for (let i = 0; i < 4; i++) await s.order(); const a = await s.ann('GET', '/books?per_page=2'), b = await s.ann('GET', '/books?per_page=2&page=2'); return a.headers.link.includes('rel="next"') && !b.headers.link.includes('rel="next"') && titles(a) + titles(b) === 'Book 4,Book 3Book 2,Book 1' },
  'ahead-from-the-start': async s => { for (let i = 0; i < 5; i++) await s.order(); const all = (await s.ann('GET', '/entries')).body.items; const r = (await s.ann('GET', `/entries?ahead_of=${all[4].id}&limit=2`)).body; return r.items.map(e => e.id).join() === `${all[2].id},${all[3].id}` && r.more === true },
  'quota-counts-refusals': async s => { for (let i = 0; i < 3; i++) await s.ann('POST', '/books', {}); for (let i = 0; i < 40; i++) if (!(await s.order()).id) return false; const r = await s.ann('POST', '/books', { scale: 'limonaire-52', title: 'Z', metres: 2 }); return r.status === 403 && r.body.fault === 'full' && Number(r.headers['retry-after']) > 0 },
  'quota-day-by-utc': async s => { await s.at(`${new Date(Date.now() + 86400000).toISOString().slice(0, 10)}T21:30:00Z`); for (let i = 0; i < 40; i++) await s.order(); await s.later('PT2H'); return !!(await s.order()).id },
  'closed-fill-the-book': async s => { const b = await s.proofed(); for (let i = 1; i <= 5; i++) { const c = await s.mark(b, i); if (i < 3) await s.ann('PATCH', `/corrections/${c.id}`, { mark: 'settled' }) } const six = await s.mark(b, 6), seven = await s.mark(b, 7), eight = await s.mark(b, 8); return six.mark === 'open' && seven.mark === 'open' && eight.fault === 'full' },
  'list-costs-one': async s => { const a = await s.ann('GET', '/books'), b = await s.ann('GET', '/listeners'); return a.headers['x-turns-left'] === '148' && b.headers['x-turns-left'] === '147' },
  'lists-forget-stiff': async s => { await s.order(); const e1 = s.as('ann', 'e1'); return (await e1('GET', '/books')).body[0].board === 'stiff' && (await e1('GET', '/books?board=stiff')).body.length === 1 && (await e1('GET', '/books?board=heavy')).status === 400 },
  'list-of-scale-in-e1': async s => (await s.as('ann', 'e1')('GET', '/scales/limonaire-52/books')).status === 404,
  'hooks-forget-edition': async s => { const r = await s.receiver(); await s.as('ann', 'e1')('POST', '/listeners', { url: r.url }); const b = await s.order(); await r.wait(1); const c = r.got[0].body.content; return c.name === b.title && c.board === 'stiff' && !('crank' in c) },
  'current-by-default': async s => { const r = await s.raw('GET', '/bureau/books', { 'X-Bench-Pass': 'pass-annannannannann1' }); return r.status === 404 && r.body.fault === 'no_edition' },
  'sunset-still-open': async s => { await s.at('2027-11-02T00:00:00Z'); const r = await s.as('ann', 'e1')('GET', '/books'); return r.status === 410 && r.body.fault === 'old_edition' && (await s.ann('GET', '/books')).status === 200 },
  'deprecation-of-good-news': async s => { const r = await s.as('ann', 'e1')('GET', '/books/bk_none'); return r.status === 404 && r.headers.deprecation === '@1777593600' && r.headers.sunset === 'Mon, 01 Nov 2027 00:00:00 GMT' && r.headers.link.includes('successor-version') },
}

const chosen = process.argv.slice(2)
let bad = 0
for (const { id } of faults.filter(f => !chosen.length || chosen.includes(f.id))) {
  const told = []
  for (const fault of [null, id]) {
    const s = await start(fault)
    try { told.push(await RIGHT[id](s)) } catch (error) { told.push(fault ? false : `threw ${error.message}`) } finally { await s.stop() }
  }
  if (told[0] !== true || told[1] !== false) { bad++; console.log(`${id}: right service ${told[0]}, with the fault ${told[1]}`) }
}
console.log(`${faults.length} faults, ${bad} not shown`)
process.exitCode = bad ? 1 : 0
