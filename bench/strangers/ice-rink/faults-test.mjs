// Each fault by hand: the same requests to the right service and to the faulty one. node faults-test.mjs [ID ...]
import { spawn } from 'node:child_process';
import http from 'node:http';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import crypto from 'node:crypto';
const dir = fileURLToPath(new URL('.', import.meta.url));
const doc = JSON.parse(readFileSync(dir + 'stranger.json', 'utf8'));
let port = 20000 + (process.pid % 200) * 40;
class Not extends Error {}
const is = (a, b, what = '') => { if (JSON.stringify(a) !== JSON.stringify(b)) throw new Not(`${what} ${JSON.stringify(a)} is not ${JSON.stringify(b)}`); };
const wait = ms => new Promise(r => setTimeout(r, ms));
function cred(who) { const [id, scheme = 'pass'] = who.split('/'), c = doc.callers.find(x => x.id === id && x.scheme === scheme); return scheme === 'desk' ? 'Basic ' + Buffer.from(c.credential).toString('base64') : 'Pass ' + c.credential; }
function raw(p, method, path, headers, body) {
  return new Promise((yes, nay) => {
    const q = http.request({ host: '127.0.0.1', port: p, method, path, headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) }, agent: false }, r => { let s = ''; r.setEncoding('utf8'); r.on('data', d => s += d); r.on('end', () => { let b; try { b = JSON.parse(s); } catch { b = s; } yes({ status: r.statusCode, headers: r.headers, body: b, code: b?.fault?.code }); }); });
    q.on('error', nay); q.end(body);
  });
}
async function start(fault) {
  const p = port++, c = port++;
  const child = spawn('node', ['service.mjs', '--port', p, '--clock-port', c, ...(fault ? ['--fault', fault] : [])], { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  for (let i = 0; ; i++) { try { await raw(c, 'GET', '/', {}); await raw(p, 'GET', '/', {}); break; } catch { if (i > 200) throw new Error('does not start'); await wait(50); } }
  const sinks = [];
  const s = {
    call: (who, method, path, body, headers = {}) => raw(p, method, path.startsWith('//') ? path.slice(1) : '/desk' + path, { ...(who && { Authorization: cred(who) }), ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers }, body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)),
    clock: advance => raw(c, 'POST', '/', {}, JSON.stringify(advance.includes('Z') ? { now: advance } : { advance })),
    time: async () => Date.parse((await raw(c, 'GET', '/', {})).body.now),
    async sink(status = () => 200) {
      const got = [], srv = http.createServer((q, r) => { let b = ''; q.on('data', d => b += d); q.on('end', () => { got.push({ body: JSON.parse(b), raw: b, headers: q.headers }); r.writeHead(status(got.length)); r.end(); }); });
      await new Promise(r => srv.listen(port++, '127.0.0.1', r)); sinks.push(srv);
      return { got, url: `http://127.0.0.1:${srv.address().port}/in`, async until(n) { for (let i = 0; i < 30 && got.length < n; i++) await wait(40); } };
    },
    stop() { child.kill(); sinks.forEach(x => x.close()); },
  };
  // what most proofs begin with
  const must = async (st, ...a) => { const r = await s.call(...a); if (r.status !== st) throw new Not(`${a[1]} ${a[2]}: ${r.status} ${JSON.stringify(r.body)}, not ${st}`); return r.body; };
  s.must = must;
  s.sheet = (code = 'ice-1', hall = 'north') => must(201, 'wil', 'PUT', '/sheets/' + code, { hall, places: 50 });
  s.session = async (o = {}, headers = {}) => must(201, 'sol', 'POST', '/sessions', { sheet: 'ice-1', title: 'Evening skate', kind: 'open', starts_at: new Date(await s.time() + 3 * 3600e3).toISOString(), places: 20, ...o }, headers);
  s.up = async o => { const x = await s.session(o); return must(200, 'sol', 'POST', `/sessions/${x.id}/announce`); };
  s.book = (who, id, body = {}, st = 201, key = crypto.randomUUID()) => must(st, who, 'POST', `/sessions/${id}/bookings`, body, { 'Idempotency-Key': key });
  s.club = async (...members) => { const c = await must(201, 'wil', 'POST', '/clubs', { name: 'Blades' }); for (const [person, role] of members) await must(201, 'wil', 'POST', `/clubs/${c.id}/members`, { person, role }); return c; };
  s.incident = (who = 'ana', o = {}) => must(201, who, 'POST', '/incidents', { sheet: 'ice-1', what: 'A deep crack.', gravity: 'slight', ...o });
  return s;
}
const P = {
  async 'location-bare'(s) { await s.sheet(); const r = await s.call('sol', 'POST', '/sessions', { sheet: 'ice-1', title: 'Morning', kind: 'open', starts_at: '2040-01-01T10:00:00Z', places: 3 }); is(r.headers.location, '/desk/sessions/' + r.body.id); },
  async 'no-look'(s) { await s.sheet(); const i = await s.incident(); is((await s.call('wil', 'POST', `/incidents/${i.id}/look`)).status, 200); },
  async 'hook-stays'(s) { const h = await s.must(201, 'ana', 'POST', '/hooks', { url: 'http://127.0.0.1:9/' }); await s.must(204, 'ana', 'DELETE', '/hooks/' + h.id); is((await s.call('ana', 'GET', '/hooks/' + h.id)).status, 404); },
  async 'desk-stewards'(s) { await s.sheet(); const i = await s.incident(); is((await s.call('wil/desk', 'GET', '/incidents/' + i.id)).status, 200); },
  async 'places-edge'(s) { await s.sheet(); await s.session({ places: 400 }); },
  async 'short-id'(s) { await s.sheet(); is(/^S[A-Z0-9]{10}$/.test((await s.session()).id), true); },
  async 'people-left-out'(s) { await s.sheet(); const x = await s.up(), b = await s.book('ana', x.id); is((await s.must(200, 'ana', 'GET', '/bookings/' + b.id)).people, 1); },
  async 'incident-orphan'(s) { await s.sheet(); await s.incident(); await s.must(200, 'wil', 'POST', '/sheets/ice-1/shut'); is((await s.call('wil', 'DELETE', '/sheets/ice-1')).code, 'needed'); },
  async 'number-overall'(s) { await s.sheet(); await s.sheet('ice-2'); is((await s.session()).number, 1); is((await s.session({ sheet: 'ice-2' })).number, 1); is((await s.session()).number, 2); },
  async 'locker-kept'(s) { await s.sheet(); const x = await s.up(), b = await s.book('ana', x.id, { locker: 7 }); await s.book('bo', x.id, { locker: 7 }, 409); await s.must(200, 'ana', 'POST', `/bookings/${b.id}/release`); await s.book('bo', x.id, { locker: 7 }); },
  async 'pay-last-place'(s) { await s.sheet(); const x = await s.up({ places: 3 }), a = await s.book('ana', x.id, { people: 2 }), b = await s.book('bo', x.id, { people: 2 }); await s.must(200, 'ana', 'POST', `/bookings/${a.id}/pay`); is((await s.call('bo', 'POST', `/bookings/${b.id}/pay`)).code, 'full'); },
  async 'release-paid'(s) { await s.sheet(); const x = await s.up(), a = await s.book('ana', x.id, { people: 2 }); await s.must(200, 'ana', 'POST', `/bookings/${a.id}/pay`); is((await s.call('ana', 'POST', `/bookings/${a.id}/release`)).body, { booking: a.id, given_up: 2 }); },
  async 'scrap-held-only'(s) { await s.sheet(); const x = await s.up(), a = await s.book('ana', x.id), b = await s.book('bo', x.id); await s.must(200, 'ana', 'POST', `/bookings/${a.id}/pay`); await s.must(200, 'sol', 'POST', `/sessions/${x.id}/scrap`, { why: 'no power' }); is((await s.must(200, 'bo', 'GET', '/bookings/' + b.id)).status, 'released'); is((await s.must(200, 'ana', 'GET', '/bookings/' + a.id)).status, 'released'); },
  async 'ready-anyway'(s) { await s.sheet(); await s.must(200, 'sol', 'POST', '/sheets/ice-1/resurface'); await s.must(200, 'sol', 'POST', '/sheets/ice-1/shut'); await s.clock('PT30M'); is((await s.call(null, 'GET', '/sheets/ice-1')).body.condition, 'shut'); },
  async 'begins-shut'(s) { is((await s.sheet()).condition, 'open'); },
  async 'first-condition'(s) { await s.sheet(); await s.sheet('ice-2'); await s.must(200, 'wil', 'POST', '/sheets/ice-2/shut'); is((await s.call(null, 'GET', '/sheets?condition=open,shut')).body.rows.map(r => r.code), ['ice-1', 'ice-2']); },
  async 'null-kept'(s) { await s.sheet(); const c = await s.club(), x = await s.session({ club: c.id }), g = await s.call('sol', 'GET', '/sessions/' + x.id); is((await s.must(200, 'sol', 'PATCH', '/sessions/' + x.id, { club: null }, { 'If-Match': g.headers.etag })).club, undefined); },
  async 'club-again-201'(s) { const c = await s.club(), r = await s.call('wil', 'POST', '/clubs', { name: 'Blades' }); is([r.status, r.body.id], [200, c.id]); },
  async 'key-shared'(s) { await s.sheet(); const x = await s.up(); await s.book('ana', x.id, {}, 201, 'k1'); is((await s.book('bo', x.id, {}, 201, 'k1')).skater, 'bo'); },
  async 'sort-as-text'(s) { await s.sheet(); const a = await s.up({ starts_at: '2040-05-01T12:00:00+09:00' }), b = await s.up({ starts_at: '2040-05-01T09:00:00Z' }); is((await s.call(null, 'GET', '/sessions')).body.rows.map(r => r.id), [b.id, a.id]); },
  async 'scope-unasked'(s) { await s.sheet(); await s.must(200, 'wil', 'POST', '/sheets/ice-1/shut'); const r = await s.call('wen', 'DELETE', '/sheets/ice-1'); is([r.status, r.code], [403, 'no_scope']); },
  async 'grind-by-pass'(s) { await s.must(201, 'sol', 'POST', '/skates', { size: 40, style: 'hockey' }); is((await s.call('sol', 'POST', '/skates/1/grind')).status, 401); is((await s.call('sol/desk', 'POST', '/skates/1/grind')).status, 200); },
  async 'any-case'(s) { is((await s.call(null, 'GET', '/clubs', undefined, { Authorization: cred('ana').replace('ice_', 'ICE_') })).status, 401); },
  async 'player-host'(s) { await s.sheet(); const c = await s.club(['ana', 'captain'], ['bo', 'player']), x = { sheet: 'ice-1', club: c.id, title: 'Training', kind: 'hockey', starts_at: '2040-01-01T10:00:00Z', places: 12 }; await s.must(201, 'ana', 'POST', '/sessions', x); is((await s.call('bo', 'POST', '/sessions', x)).code, 'not_yours'); },
  async 'booking-any'(s) { await s.sheet(); const x = await s.up(), b = await s.book('ana', x.id); is((await s.call('bo', 'GET', '/bookings/' + b.id)).status, 404); },
  async 'skate-all'(s) { await s.must(201, 'sol', 'POST', '/skates', { size: 40, style: 'hockey' }); await s.must(200, 'ana', 'POST', '/skates/1/lend'); is((await s.must(200, 'ana', 'GET', '/skates')).rows[0].borrower, 'ana'); is((await s.must(200, 'bo', 'GET', '/skates')).rows[0], { number: 1, size: 40, style: 'hockey', status: 'lent' }); },
  async 'lapse-silent'(s) { await s.sheet(); const x = await s.up(), k = await s.sink(); await s.must(201, 'ana', 'POST', '/hooks', { url: k.url, events: ['booking.*'] }); const b = await s.book('ana', x.id); await s.clock('PT16M'); await k.until(1); is(k.got.map(g => g.body.about), [{ booking: b.id, was: 'held', is: 'lapsed' }]); },
  async 'hook-edition'(s) {
    await s.sheet(); const k = await s.sink(), h = await s.must(201, 'ana', 'POST', '/hooks', { url: k.url }, { 'Rink-Edition': 'winter-25' }); await s.up({ pence: 450 }); await k.until(1);
    is([k.got[0]?.body.about.name, k.got[0]?.body.about.pence], ['Evening skate', 4.5]);
    const m = /^at=(\d+),mac=(.*)$/.exec(k.got[0].headers['x-rink-seal']); is(m[2], crypto.createHmac('sha256', h.secret).update(`${m[1]}.${k.got[0].body.no}.${k.got[0].raw}`).digest('hex'));
  },
  async 'retry-new-id'(s) { await s.sheet(); const k = await s.sink(n => n === 1 ? 500 : 200); await s.must(201, 'ana', 'POST', '/hooks', { url: k.url }); await s.up(); await k.until(1); await wait(100); await s.clock('PT13S'); await k.until(2); is(k.got.length, 2); is(k.got[1].body, k.got[0].body); },
  async 'no-order'(s) { await s.sheet(); const k = await s.sink(n => n === 1 ? 500 : 200); await s.must(201, 'ana', 'POST', '/hooks', { url: k.url }); await s.must(200, 'sol', 'POST', '/sheets/ice-1/shut'); await k.until(1); await s.must(200, 'sol', 'POST', '/sheets/ice-1/reopen'); await wait(400); is(k.got.length, 1); await s.clock('PT13S'); await k.until(3); is(k.got.map(g => g.body.about.condition), ['shut', 'shut', 'open']); },
  async 'grave-to-stewards'(s) { await s.sheet(); const k = await s.sink(), w = await s.sink(); await s.must(201, 'tam', 'POST', '/hooks', { url: k.url }); await s.must(201, 'wil', 'POST', '/hooks', { url: w.url }); await s.incident('ana', { gravity: 'grave' }); await w.until(1); await wait(300); is([w.got.length, k.got.length], [1, 0]); },
  async 'full-422'(s) { await s.sheet(); const x = await s.up({ places: 1 }), a = await s.book('ana', x.id, { people: 2 }), r = await s.call('ana', 'POST', `/bookings/${a.id}/pay`); is([r.status, r.code], [409, 'full']); },
  async 'patch-wrong'(s) { await s.sheet(); const x = await s.session(), r = await s.call('sol', 'PATCH', '/sessions/' + x.id, { places: 0 }, { 'If-Match': '*' }); is([r.status, r.code, r.body.fault.wrong?.[0]?.path], [422, 'unfit', 'places']); },
  async 'key-any-body'(s) { await s.sheet(); const x = await s.up(); await s.book('ana', x.id, {}, 201, 'k'); is((await s.call('ana', 'POST', `/sessions/${x.id}/bookings`, { people: 2 }, { 'Idempotency-Key': 'k' })).code, 'key_reused'); },
  async 'stale-tag'(s) { await s.sheet(); const i = await s.incident(), g = await s.call('wil', 'GET', '/incidents/' + i.id), m = { 'If-Match': g.headers.etag }; await s.must(200, 'wil', 'PATCH', '/incidents/' + i.id, { findings: 'Worn.' }, m); is((await s.call('wil', 'PATCH', '/incidents/' + i.id, { findings: 'Torn.' }, m)).code, 'changed'); },
  async 'own-anew'(s) { await s.sheet(); const x = await s.session(); is((await s.call('sol', 'POST', `/sessions/${x.id}/bookings`, {}, { 'Idempotency-Key': 'k' })).code, 'not_on'); await s.must(200, 'sol', 'POST', `/sessions/${x.id}/announce`); is((await s.call('sol', 'POST', `/sessions/${x.id}/bookings`, {}, { 'Idempotency-Key': 'k' })).code, 'not_on'); },
  async 'clamp-refuses'(s) { await s.sheet(); await s.up(); const r = await s.call(null, 'GET', '/sessions?take=41'); is([r.status, r.body.rows?.length, r.body.after], [200, 1, null]); },
  async 'cursor-repeats'(s) { await s.sheet(); for (let i = 0; i < 5; i++) await s.up({ title: 'Skate ' + i, starts_at: `2040-01-0${5 - i}T10:00:00Z` }); const seen = []; let after; for (let i = 0; i < 4; i++) { const r = await s.call(null, 'GET', '/sessions?take=2' + (after ? '&after=' + encodeURIComponent(after) : '')); seen.push(...r.body.rows.map(x => x.title)); after = r.body.after; if (!after) break; } is(seen, [0, 1, 2, 3, 4].map(i => 'Skate ' + i)); },
  async 'second-page'(s) { await s.sheet(); const x = await s.up(), ids = []; for (let i = 0; i < 3; i++) ids.push((await s.book('ana', x.id)).id); const a = await s.must(200, 'ana', 'GET', '/bookings?take=2'), b = await s.must(200, 'ana', 'GET', '/bookings?take=2&skip=2'); is([a.more, a.all, ...a.rows.map(r => r.id)], [true, 3, ids[0], ids[1]]); is([b.more, b.all, ...b.rows.map(r => r.id)], [false, 3, ids[2]]); },
  async 'seventh-incident'(s) { await s.sheet(); for (let i = 0; i < 6; i++) await s.incident(); const r = await s.call('ana', 'POST', '/incidents', { sheet: 'ice-1', what: 'Again.', gravity: 'slight' }); is([r.status, r.code], [429, 'slow_down']); await s.clock('PT10M1S'); await s.incident(); },
  async 'lapsed-count'(s) { await s.sheet(); const x = await s.up(); for (let i = 0; i < 4; i++) await s.book('ana', x.id); await s.book('ana', x.id, {}, 403); await s.clock('PT16M'); await s.book('ana', x.id); },
  async 'body-4095'(s) { await s.sheet(); const b = JSON.stringify({ sheet: 'ice-1', what: 'A deep crack.', gravity: 'slight' }); await s.must(201, 'ana', 'POST', '/incidents', b.padEnd(4096)); is((await s.call('ana', 'POST', '/incidents', b.padEnd(4097))).status, 413); },
  async 'quota-refused'(s) { await s.sheet(); const d = await s.session(), x = await s.up(); await s.must(200, 'sol', 'GET', '/sessions/' + d.id); const w = await s.up({ places: 1 }); await s.must(200, 'sol', 'POST', `/sessions/${w.id}/scrap`, { why: 'no heat' }); await s.book('ana', w.id, {}, 409); for (let i = 0; i < 25; i++) { const b = await s.book('ana', x.id); await s.must(200, 'ana', 'POST', `/bookings/${b.id}/release`); } is((await s.call('ana', 'POST', `/sessions/${x.id}/bookings`, {}, { 'Idempotency-Key': 'z' })).code, 'enough'); },
  async 'refusal-sunset'(s) { const r = await s.call('ana', 'GET', '/sessions/Snone', undefined, { 'Rink-Edition': 'winter-25' }); is([r.status, r.headers.sunset, r.headers.deprecation], [404, new Date('2031-05-01').toUTCString(), '@1777593600']); },
  async 'edition-any'(s) { const r = await s.call(null, 'GET', '/sheets', undefined, { 'Rink-Edition': 'winter-24' }); is([r.status, r.code], [400, 'bad_query']); },
  async 'old-pence-patch'(s) { await s.sheet(); const x = await s.session({ pence: 300 }); const r = await s.must(200, 'sol', 'PATCH', '/sessions/' + x.id, { pence: 4.5 }, { 'If-Match': '*', 'Rink-Edition': 'winter-25' }); is([r.pence, (await s.must(200, 'sol', 'GET', '/sessions/' + x.id)).pence], [4.5, 450]); },
  async 'style-words'(s) { await s.must(201, 'sol', 'POST', '/skates', { size: 40, style: 'leisure' }); is((await s.must(200, 'ana', 'GET', '/skates?style=recreation', undefined, { 'Rink-Edition': 'winter-25' })).rows.map(r => r.style), ['recreation']); },
  async 'past-sunset'(s) { await s.clock('2031-05-01T00:00:01Z'); is((await s.call(null, 'GET', '/sheets', undefined, { 'Rink-Edition': 'winter-25' })).code, 'old_edition'); },
};
const ids = process.argv.slice(2).length ? process.argv.slice(2) : doc.faults.map(f => f.id);
let bad = 0;
for (const id of ids) {
  const run = async fault => { let s; try { s = await start(fault); await P[id](s); return null; } catch (x) { return x; } finally { s?.stop(); } };
  const [right, faulty] = await Promise.all([run(null), run(id)]);
  const ok = right === null && faulty instanceof Not;
  if (!ok) bad++;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${id}${right ? ' | right: ' + (right.stack ?? right) : ''}${!ok ? ' | faulty: ' + (faulty ?? 'as the right one') : ''}`);
}
console.log(`${ids.length - bad} of ${ids.length}`);
process.exit(bad ? 1 : 0);
