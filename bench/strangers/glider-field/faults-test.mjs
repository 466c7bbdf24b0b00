// A proof for each fault: the same requests against the right service and the faulty one.
import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
const HERE = path.dirname(fileURLToPath(import.meta.url));
const cfg = JSON.parse(fs.readFileSync(path.join(HERE, 'stranger.json'), 'utf8'));
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let port = 20000 + (process.pid % 400) * 10;

const auth = (who) => {
  if (!who) return {};
  if (typeof who === 'object') return who;
  const [id, scheme] = who.split('/'); const c = cfg.callers.find((x) => x.id === id && (!scheme || x.scheme === scheme));
  return c.scheme === 'badge' ? { 'X-Field-Badge': c.credential } : { Authorization: c.scheme === 'desk' ? 'Basic ' + Buffer.from(c.credential).toString('base64') : 'Tablet ' + c.credential };
};
function call(p, method, url, headers = {}, body) {
  return new Promise((ok, bad) => {
    const b = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const r = http.request({ host: '127.0.0.1', port: p, method, path: url, agent: false, headers: { ...(b !== undefined ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(b) } : {}), ...headers } }, (res) => {
      let t = ''; res.on('data', (d) => { t += d; }); res.on('end', () => { let j; try { j = JSON.parse(t); } catch { /* none */ } ok({ s: res.statusCode, h: res.headers, b: j }); });
    });
    r.on('error', bad); r.end(b);
  });
}
async function start(fault) {
  const p = port++, m = port++;
  const child = spawn(process.execPath, ['service.mjs', '--port', String(p), '--clock-port', String(m), ...(fault ? ['--fault', fault] : [])], { cwd: HERE, stdio: ['ignore', 'ignore', 'inherit'] });
  let n = 0; for (;;) { try { await call(m, 'GET', '/'); await call(p, 'GET', '/field/nothing'); break; } catch { if (++n > 200) throw new Error('did not start'); await sleep(30); } }
  const s = {
    q: (who, method, url, body, headers) => call(p, method, url.startsWith('!') ? url.slice(1) : '/field' + url, { ...auth(who), ...headers }, body),
    clock: async (d) => { await call(m, 'POST', '/', {}, { advance: d }); await sleep(60); },
    now: async () => Date.parse((await call(m, 'GET', '/')).b.now),
    in: async (ms) => new Date(await s.now() + ms).toISOString(),
    stop: async () => { for (const r of s.receivers) r.close(); child.kill(); await new Promise((r) => child.once('exit', r)); },
    receivers: [], n: 0,
  };
  return s;
}
const H = 3600e3, D = 24 * H;
const must = (r, st) => { if (r.s !== st) throw new Error(`set up: ${r.s} ${JSON.stringify(r.b)} instead of ${st}`); return r; };
const glider = async (s, tail = 'G-AAA' + s.n++, more = {}) => must(await s.q('ida/desk', 'POST', '/gliders', { tail, model: 'ASK 21', seats: 2, inspected_until: await s.in(90 * D), ...more }), 201).b;
const member = async (s, login, ratings = ['winch', 'aerotow']) => must(await s.q('mona', 'POST', '/members', { login, name: login, ratings }), 201).b;
const day = async (s, date = '2031-05-01', open = true, who = 'mona') => { const d = must(await s.q(who, 'POST', '/days', { date }), 201).b; if (open) must(await s.q(who, 'POST', `/days/${d.id}/open`), 200); return d; };
const flight = async (s, d, g, m, more = {}) => must(await s.q('mona', 'POST', `/days/${d.id}/flights`, { glider: g.tail, pilot: m.number, ...more }), 201).b;
const voucher = async (s, m, more = {}) => must(await s.q('mona', 'POST', '/vouchers', { holder: m.number, price_cents: 2500, valid_until: await s.in(30 * D), ...more }, { 'Idempotency-Key': 'v' + s.n++ }), 201).b;
const field = async (s) => { const m = await member(s, 'anna'), g = await glider(s), d = await day(s); return { m, g, d, f: await flight(s, d, g, m) }; };
async function hook(s, who, kinds, headers = {}, answer = () => 200) {
  const got = []; const srv = http.createServer((q, a) => { let t = ''; q.on('data', (x) => { t += x; }); q.on('end', () => { const e = { h: q.headers, t, b: JSON.parse(t) }; got.push(e); a.writeHead(answer(e, got.length)); a.end(); }); });
  await new Promise((r) => srv.listen(0, '127.0.0.1', r)); s.receivers.push(srv);
  const made = must(await s.q(who, 'POST', '/hooks', { url: `http://127.0.0.1:${srv.address().port}/`, kinds }, headers), 201).b;
  return { got, made };
}
const PROOFS = {
  'location-without-base': async (s) => { const r = must(await s.q('ida/desk', 'POST', '/gliders', { tail: 'D-1234', model: 'Ka 8', seats: 1, inspected_until: await s.in(D) }), 201); return r.h.location.endsWith('/field/gliders/D-1234'); },
  'served-without-base': async (s) => (await s.q(null, 'GET', '!/gliders')).s === 404 && (await s.q(null, 'GET', '/gliders')).s === 200,
  'daily-list-not-for-marshal': async (s) => { const { d } = await field(s); return (await s.q('mona', 'GET', `/days/${d.id}/flights`)).b?.list?.length === 1; },
  'users-tablet-inspector': async (s) => (await s.q('ida/tablet', 'POST', '/gliders', { tail: 'D-1234', model: 'Ka 8', seats: 1, inspected_until: await s.in(D) })).s === 201,
  'winch-600-refused': async (s) => { const m = await member(s, 'anna'), g = await glider(s), d = await day(s); const go = (r) => s.q('mona', 'POST', `/days/${d.id}/flights`, { glider: g.tail, pilot: m.number, release_m: r }); return (await go(601)).s === 422 && (await go(600)).s === 201; },
  'tail-upper-cased': async (s) => { const r = await s.q('ida/desk', 'POST', '/gliders', { tail: 'd-1234', model: 'Ka 8', seats: 1, inspected_until: await s.in(D) }); return r.s === 422 && r.b.where[0].path === 'tail'; },
  'airborne-left-out': async (s) => { await glider(s); return (await s.q(null, 'GET', '/gliders')).b.rows[0].airborne === 0; },
  'landed-do-not-hold': async (s) => { const { f, g } = await field(s); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); must(await s.q('mona', 'POST', `/flights/${f.id}/land`), 200); const r = await s.q('ida/desk', 'DELETE', `/gliders/${g.tail}`); return r.s === 409 && r.b.fault === 'in_use'; },
  'login-changes': async (s) => { const m = await member(s, 'anna'); const r = await s.q('mona', 'PATCH', `/members/${m.number}`, { login: 'other' }); return r.s === 422 && (await s.q('mona', 'PATCH', `/members/${m.number}`, { login: 'anna' })).s === 200; },
  'pin-in-list': async (s) => { const m = await member(s, 'anna'), v = await voucher(s, m); return v.pin.length === 6 && (await s.q('mona', 'GET', '/vouchers')).b.rows[0].pin === undefined; },
  'launch-twice': async (s) => { const { d, g, m, f } = await field(s); const f2 = await flight(s, d, g, m); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); const r = await s.q('mona', 'POST', `/flights/${f2.id}/launch`); return r.s === 409 && r.b.fault === 'glider_not_free'; },
  'overdue-cannot-land': async (s) => { const { f } = await field(s); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); await s.clock('PT7H'); return (await s.q('mona', 'GET', `/flights/${f.id}`)).b.phase === 'overdue' && (await s.q('mona', 'POST', `/flights/${f.id}/land`)).s === 200; },
  'overdue-from-queueing': async (s) => { const { f } = await field(s); await s.clock('PT4H'); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); await s.clock('PT3H'); return (await s.q('mona', 'GET', `/flights/${f.id}`)).b.phase === 'airborne'; },
  'close-leaves-last': async (s) => { const { d, g, m } = await field(s); await flight(s, d, g, m); must(await s.q('mona', 'POST', `/days/${d.id}/close`), 200); return (await s.q('mona', 'GET', `/days/${d.id}/flights`)).b.list.every((f) => f.phase === 'scrubbed'); },
  'today-begins-open': async (s) => (await day(s, (await s.in(0)).slice(0, 10), false)).state === 'planned',
  'no-more-after-first': async (s) => { for (let i = 0; i < 5; i++) await glider(s); const r = await s.q(null, 'GET', '/gliders?skip=2&take=2'); return r.b.more === true && r.b.total === 5 && r.b.rows.length === 2; },
  'to-shuts-out-its-day': async (s) => { await day(s, '2031-05-01', false); await day(s, '2031-05-02', false); return (await s.q('anna', 'GET', '/days?to=2031-05-02')).b.rows.map((d) => d.date).join() === '2031-05-02,2031-05-01'; },
  'until-sorts-one-way': async (s) => { const m = await member(s, 'anna'); const a = await voucher(s, m, { valid_until: await s.in(20 * D) }), b = await voucher(s, m, { valid_until: await s.in(40 * D) }); return (await s.q('mona', 'GET', '/vouchers?sort=-until')).b.rows.map((v) => v.id).join() === [b.id, a.id].join(); },
  'minutes-rounded-up': async (s) => { const { f } = await field(s); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); await s.clock('PT10M30S'); return (await s.q('mona', 'POST', `/flights/${f.id}/land`)).b.minutes === 10; },
  'null-not-taken-away': async (s) => { const { d, g, m } = await field(s); const f = await flight(s, d, g, m, { remark: 'check flight' }); const r = must(await s.q('anna', 'PATCH', `/flights/${f.id}`, { remark: null }), 200); return !('remark' in r.b); },
  'no-such-day-is-empty': async (s) => (await s.q('mona', 'GET', '/days/day_00000000000000000000000000/flights')).s === 404,
  'scrub-any-site': async (s) => { const { f } = await field(s); return (await s.q('mats', 'POST', `/flights/${f.id}/scrub`)).s === 403 && (await s.q('mona', 'POST', `/flights/${f.id}/scrub`)).s === 200; },
  'roster-scope-unasked': async (s) => { const m = await member(s, 'anna'); const r = await s.q('mila', 'PATCH', `/members/${m.number}`, { name: 'A' }); return r.s === 403 && r.b.fault === 'lacks_scope'; },
  'retire-by-badge': async (s) => { const g = await glider(s); return (await s.q('ida/badge', 'POST', `/gliders/${g.tail}/retire`)).s === 401 && (await s.q('ida/desk', 'POST', `/gliders/${g.tail}/retire`)).s === 200; },
  'tablet-word-minds-case': async (s) => { const c = cfg.callers.find((x) => x.id === 'mats').credential; return (await s.q({ Authorization: 'tablet ' + c }, 'GET', '/days')).s === 200; },
  'pilot-sees-all-vouchers': async (s) => { const a = await member(s, 'anna'), b = await member(s, 'ben'); await voucher(s, a); await voucher(s, b); const r = await s.q('anna', 'GET', '/vouchers'); return r.b.total === 1 && r.b.rows.every((v) => v.holder === a.number); },
  'bad-badge-let-in': async (s) => { const r = await s.q({ 'X-Field-Badge': 'bdg_wrong' }, 'GET', '/gliders'); return r.s === 401 && r.b.fault === 'stranger'; },
  'lapse-not-told': async (s) => { const h = await hook(s, 'anna', ['glider.*']); const g = await glider(s, 'G-LAPS', { inspected_until: await s.in(2 * H) }); await s.clock('PT3H'); await sleep(150); return (await s.q(null, 'GET', `/gliders/${g.tail}`)).b.condition === 'grounded' && h.got.length === 1 && h.got[0].b.kind === 'glider.grounded' && h.got[0].b.body.tail === g.tail; },
  'event-shows-hourly': async (s) => { const p = await hook(s, 'anna', ['glider.cleared']), m = await hook(s, 'mona', ['glider.cleared']); const g = await glider(s, 'G-CLR', { hourly_cents: 1200 }); must(await s.q('mona', 'POST', `/gliders/${g.tail}/ground`, { defect: 'flat tyre' }), 200); must(await s.q('ida/desk', 'POST', `/gliders/${g.tail}/clear`), 200); await sleep(200); return p.got.length === 1 && m.got[0].b.body.hourly_cents === 1200 && !('hourly_cents' in p.got[0].b.body); },
  'timestamp-unsigned': async (s) => { const h = await hook(s, 'anna', ['*']); await field(s); await sleep(200); const e = h.got[0], m = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(e.h['field-signature']); return createHmac('sha256', h.made.secret).update(m[1] + '.' + e.t).digest('hex') === m[2]; },
  'third-retry-left-out': async (s) => { const h = await hook(s, 'anna', ['flight.queued'], {}, () => 500); await field(s); await sleep(120); for (const d of ['PT13S', 'PT73S', 'PT13M', 'PT2H']) { await s.clock(d); await sleep(120); } return h.got.length === 4 && new Set(h.got.map((e) => e.b.id)).size === 1; },
  'row-order-lost': async (s) => { const h = await hook(s, 'anna', ['flight.*'], {}, (e, n) => n === 1 ? 500 : 200); const { f } = await field(s); await sleep(120); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); await sleep(150); const early = h.got.length; await s.clock('PT13S'); await sleep(200); return early === 1 && h.got.map((e) => e.b.kind).join() === 'flight.queued,flight.queued,flight.launched'; },
  'reassigned-by-any-update': async (s) => { const h = await hook(s, 'mona', ['flight.reassigned']); const { f, g } = await field(s); const g2 = await glider(s); must(await s.q('anna', 'PATCH', `/flights/${f.id}`, { remark: 'hello' }), 200); must(await s.q('anna', 'PATCH', `/flights/${f.id}`, { glider: g2.tail }), 200); await sleep(200); return h.got.length === 1 && h.got[0].b.body.was === g.tail && h.got[0].b.body.is === g2.tail; },
  'told-to-one-too-many': async (s) => { const b = await hook(s, 'ben', ['*']), a = await hook(s, 'anna', ['*']); const { f } = await field(s); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); await sleep(250); return a.got.length === 2 && b.got.length === 0; },
  'reference-404-on-update': async (s) => { const { f } = await field(s); const r = await s.q('anna', 'PATCH', `/flights/${f.id}`, { glider: 'G-NONE' }); return r.s === 422 && r.b.fault === 'not_on_file'; },
  'missing-told-first': async (s) => { const r = await s.q('ida/desk', 'POST', '/gliders', { seats: 7, tail: 'D-1234' }); return r.s === 422 && r.b.fault === 'not_right' && r.b.where[0].path === 'seats'; },
  'bad-password-told-missing': async (s) => { const r = await s.q({ Authorization: 'Basic ' + Buffer.from('ida:wrong').toString('base64') }, 'GET', '/days'); return r.s === 401 && r.b.fault === 'stranger' && (await s.q(null, 'GET', '/days')).b.fault === 'show_badge'; },
  'rating-unasked-on-update': async (s) => { const m = await member(s, 'anna', ['winch']), g = await glider(s), d = await day(s), f = await flight(s, d, g, m); const r = await s.q('anna', 'PATCH', `/flights/${f.id}`, { launch: 'aerotow' }); return r.s === 422 && r.b.fault === 'not_rated'; },
  'fault-header-left-out': async (s) => { const r = await s.q('mona', 'GET', '/flights/flt_none'); return r.s === 404 && r.h['field-fault'] === 'not_found'; },
  'refused-vouchers-use-quota': async (s) => { const m = await member(s, 'anna'); const past = '2020-01-01T00:00:00Z'; for (let i = 0; i < 3; i++) if ((await s.q('mona', 'POST', '/vouchers', { holder: m.number, price_cents: 500, valid_until: past }, { 'Idempotency-Key': 'p' + i })).b.fault !== 'voucher_dated') return false; for (let i = 0; i < 60; i++) { const r = await s.q('mona', 'POST', '/vouchers', { holder: m.number, price_cents: 500, valid_until: '2040-01-01T00:00:00Z' }, { 'Idempotency-Key': 'q' + i }); if (r.s !== 201) return false; } const r = await s.q('mona', 'POST', '/vouchers', { holder: m.number, price_cents: 500, valid_until: '2040-01-01T00:00:00Z' }, { 'Idempotency-Key': 'last' }); return r.s === 403 && r.b.fault === 'enough'; },
  'clamp-refuses': async (s) => { await glider(s); return (await s.q(null, 'GET', '/gliders?take=101')).s === 200; },
  'scrubbed-still-counts': async (s) => { const { d, g, m, f } = await field(s); await flight(s, d, g, m); await flight(s, d, g, m); const more = () => s.q('mona', 'POST', `/days/${d.id}/flights`, { glider: g.tail, pilot: m.number }); if ((await more()).s !== 403) return false; must(await s.q('anna', 'POST', `/flights/${f.id}/scrub`), 200); return (await more()).s === 201; },
  'refused-launches-count': async (s) => { const go = () => s.q('mona', 'POST', '/flights/flt_none/launch'); for (let i = 0; i < 30; i++) if ((await go()).s !== 404) return false; await s.clock('PT40S'); for (let i = 0; i < 30; i++) if ((await go()).s !== 429) return false; await s.clock('PT25S'); return (await go()).s === 404; },
  'flights-page-of-twenty': async (s) => { const g = await glider(s), d = await day(s); for (let i = 0; i < 4; i++) { const m = await member(s, 'pil' + i); for (let j = 0; j < 3; j++) await flight(s, d, g, m); } const r = await s.q('mona', 'GET', '/flights'); if (r.b.flights.length !== 10) return false; const r2 = await s.q('mona', 'GET', '/flights?from=' + r.b.onward); return r2.b.flights.length === 2 && r2.b.onward === null; },
  'event-not-carried-down': async (s) => { const h = await hook(s, 'mona', ['voucher.spent'], { 'Field-Edition': '2026-03' }); const m = await member(s, 'anna'), g = await glider(s), d = await day(s), v = await voucher(s, m), f = await flight(s, d, g, m, { launch: 'aerotow', voucher: v.id }); must(await s.q('mona', 'POST', `/flights/${f.id}/launch`), 200); await sleep(200); return h.got.length === 1 && h.got[0].b.body.price_cents === 25 && h.got[0].b.body.state === 'spent'; },
  'refusals-not-deprecated': async (s) => { const r = await s.q('mona', 'GET', '/flights/flt_none', undefined, { 'Field-Edition': '2025-04' }); return r.s === 404 && r.h.deprecation === '@1772323200' && /successor-version/.test(r.h.link); },
  'unknown-edition-is-current': async (s) => { const r = await s.q(null, 'GET', '/gliders', undefined, { 'Field-Edition': '2024-01' }); return r.s === 400 && r.b.fault === 'no_such_edition'; },
  'tow-filter-not-carried': async (s) => { const { d, g, m } = await field(s); const f = await flight(s, d, g, m, { launch: 'aerotow' }); const r = await s.q('mona', 'GET', '/flights?launch=tow', undefined, { 'Field-Edition': '2026-03' }); return r.s === 200 && r.b.flights.length === 1 && r.b.flights[0].id === f.id && r.b.flights[0].launch === 'tow'; },
};
const ids = process.argv.length > 2 ? process.argv.slice(2) : cfg.faults.map((f) => f.id);
let bad = 0;
const run = async (fault, proof) => { const s = await start(fault); try { return await proof(s); } catch (e) { return e.message.startsWith('set up') || !fault ? 'error: ' + e.message : false; } finally { await s.stop(); } };
for (const id of ids) {
  const proof = PROOFS[id]; let say;
  if (!proof || !cfg.faults.some((f) => f.id === id)) say = 'FAIL no proof';
  else { const [right, wrong] = [await run('', proof), await run(id, proof)]; say = right === true && wrong === false ? 'pass' : `FAIL right: ${right}, faulty: ${wrong}`; }
  if (say !== 'pass') bad++;
  console.log(`${id}: ${say}`);
}
console.log(`${ids.length - bad} of ${ids.length} pass`);
process.exit(bad ? 1 : 0);
