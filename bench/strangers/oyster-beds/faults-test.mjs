// Each fault by hand: the same requests to the right service and to the faulty one. `node faults-test.mjs [ID...]`
import { spawn } from 'node:child_process';
import http from 'node:http';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
const here = dirname(fileURLToPath(import.meta.url)), { faults, callers } = JSON.parse(readFileSync(here + '/stranger.json', 'utf8'));
const agent = new http.Agent({ keepAlive: true });
const freePort = () => new Promise(ok => { const s = http.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => ok(port)); }); });
const cred = (id, scheme) => { const c = callers.find(x => x.id === id && (!scheme || x.scheme === scheme)); return c.scheme === 'key' ? { 'X-Beds-Key': c.credential } : { Authorization: 'Basic ' + Buffer.from(c.credential).toString('base64') }; };
const raw = (port, method, path, headers, body) => new Promise((ok, no) => {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const r = http.request({ port, host: '127.0.0.1', method, path, agent, headers: { ...headers, ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }) } }, res => { let t = ''; res.on('data', d => { t += d; }); res.on('end', () => ok({ status: res.statusCode, headers: res.headers, body: t ? JSON.parse(t) : undefined, code: res.headers['x-fault'] })); });
  r.on('error', no); r.end(text);
});
async function start(fault) {
  const port = await freePort(), clock = await freePort(), p = spawn(process.execPath, [here + '/service.mjs', '--port', port, '--clock-port', clock, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise(ok => p.stdout.once('data', ok));
  let n = 100;
  const s = {
    stop: () => p.kill(), port,
    call: (who, method, path, body, headers = {}) => raw(port, method, '/coop' + path, { ...(who ? typeof who === 'string' ? cred(who) : cred(...who) : {}), ...headers }, body),
    clock: body => raw(clock, 'POST', '/', {}, body), now: async () => (await raw(clock, 'GET', '/', {})).body.now,
    in: async hours => new Date(Date.parse(await s.now()) + hours * 36e5).toISOString(),
    parcel: async (more = {}) => made(await s.call('s-office', 'POST', '/parcels', { code: 'AB-' + n++, house: 'morvan', water: 'B', area_m2: 900, ...more })),
    batch: async (p, more = {}, who = 'g-morvan') => made(await s.call(who, 'POST', `/parcels/${p.id ?? p}/batches`, { label: 'Fines', dozens: 100, price_cents: 1250, ...more })),
    harvest: (b, counted = 100, who = 'g-morvan') => s.call(who, 'POST', `/batches/${b.id}/harvest`, { counted }),
    cleared: async () => { const b = await s.batch(await s.parcel({ water: 'A' })); const h = await s.harvest(b); return h.body; },
    order: async (b, dozens = 10, who = 'b-comptoir', more = {}, headers = {}) => s.call(who, 'POST', '/orders', { batch: b.id, dozens, deliver_to: { line: 'Quai 2', town: 'Cancale' }, ...more }, headers),
    closure: async (p, hours = 48) => s.call('i-petit', 'POST', `/parcels/${p.id}/closures`, { reason: 'norovirus', until: await s.in(hours) }),
    journal: async kind => (await s.call('s-office', 'GET', '/journal' + (kind ? '?kind=' + kind : ''))).body.items,
    inspect: (b, verdict = 'pass', amount = 10, more = {}, who = 'i-petit') => s.call([who, 'login'], 'POST', `/batches/${b.id}/inspections`, { readings: [{ test: 'ecoli', amount }], verdict, ...more }),
  };
  return s;
}
const made = r => { if (r.status !== 201) throw new Error('not made: ' + JSON.stringify(r.body)); return r.body; };
const all = async (n, f) => { const out = []; for (let i = 0; i < n; i++) out.push(await f(i)); return out; };
const etag = async (s, p) => (await s.call('s-office', 'GET', '/parcels/' + p.id)).headers.etag;
/** What each fault is seen by: true at the right service. */
const proofs = {
  'lift-lost': async s => { const c = made(await s.closure(await s.parcel())); return (await s.call('i-petit', 'POST', `/closures/${c.id}/lift`)).body.state === 'lifted'; },
  'steward-login': async s => (await s.call('s-desk', 'GET', '/parcels')).status === 200,
  'base-lost': async s => { const r = await s.call('s-office', 'POST', '/parcels', { code: 'ZZ-001', house: 'morvan', water: 'A', area_m2: 50 }); return r.headers.location === '/coop/parcels/' + r.body.id; },
  'zeros-named': async s => { const c = made(await s.closure(await s.parcel())); return (await s.call('s-office', 'GET', '/closures/' + c.id)).status === 200 && (await s.call('s-office', 'GET', '/closures/00' + c.id)).status === 404; },
  'unknown-passes': async s => { const r = await s.inspect(await s.batch(await s.parcel()), 'pass', 1, { mood: 'fair' }); return r.status === 422 && r.code === 'invalid' && r.body.fault.wrong[0].path === 'mood'; },
  'total-text': async s => { const o = made(await s.order(await s.cleared())); return (await s.call('b-comptoir', 'GET', '/orders/' + o.id)).body.total_cents === 12500; },
  'stamp-plain': async s => { const b = await s.batch(await s.parcel()); await s.harvest(b); await s.call('s-office', 'PUT', '/tanks/T01', { capacity: 500 }); const r = await s.call('g-morvan', 'POST', `/batches/${b.id}/soak`, { tank: 'T01' }); return r.status === 200 && /^\d{4}-.*T.*Z$/.test(r.body.changed_at); },
  'address-line': async s => { const r = await s.order(await s.cleared(), 5, 'b-comptoir', { deliver_to: { town: 'Cancale' } }); return r.status === 422 && r.code === 'missing_field' && r.body.fault.wrong[0].path === 'deliver_to.line'; },
  'code-mutable': async s => { const p = await s.parcel(); return (await s.call('s-office', 'PATCH', '/parcels/' + p.id, { code: 'XY-999' }, { 'If-Match': await etag(s, p) })).status === 422; },
  'stale-changed': async s => { const b = await s.batch(await s.parcel()); await s.clock({ advance: 'PT1H' }); return (await s.harvest(b)).body.changed_at > b.changed_at; },
  'cost-to-steward': async s => { const b = await s.batch(await s.parcel(), { cost_cents: 400 }); return b.cost_cents === 400 && !('cost_cents' in (await s.call('s-office', 'GET', '/batches/' + b.id)).body); },
  'total-stale': async s => { const o = made(await s.order(await s.cleared())); return (await s.call('b-comptoir', 'PATCH', '/orders/' + o.id, { dozens: 20 })).body.total_cents === 25000; },
  'door-code-shown': async s => { const o = made(await s.order(await s.cleared(), 3, 'b-comptoir', { door_code: '12A' })); return !('door_code' in (await s.call('b-comptoir', 'GET', '/orders/' + o.id)).body); },
  'a-not-cleared': async s => (await s.cleared()).state === 'cleared',
  'wilts-late': async s => { const b = await s.batch(await s.parcel()); await s.harvest(b); await s.clock({ advance: 'PT71H' }); const a = (await s.call('s-office', 'GET', '/batches/' + b.id)).body.state; await s.clock({ advance: 'PT1H5M' }); return a === 'harvested' && (await s.call('s-office', 'GET', '/batches/' + b.id)).body.state === 'spoiled'; },
  'no-recall': async s => { const b = await s.cleared(), o = made(await s.order(b)); made(await s.inspect(b, 'fail', 900)); return (await s.call('b-comptoir', 'GET', '/orders/' + o.id)).body.state === 'recalled'; },
  'confirm-short': async s => { const o = made(await s.order(await s.cleared(), 100)); return (await s.call('g-morvan', 'POST', `/orders/${o.id}/confirm`)).status === 200; },
  'until-not-retimed': async s => { const c = made(await s.closure(await s.parcel(), 48)); await s.call('i-petit', 'PATCH', '/closures/' + c.id, { until: await s.in(10) }); await s.clock({ advance: 'PT11H' }); return (await s.call('s-office', 'GET', '/closures/' + c.id)).body.state === 'lapsed'; },
  'reopens-early': async s => { const p = await s.parcel(), c = made(await s.closure(p)); made(await s.closure(p)); await s.call('i-petit', 'POST', `/closures/${c.id}/lift`); const r = (await s.call('s-office', 'GET', '/parcels/' + p.id)).body; return r.standing === 'closed' && r.closures === 1; },
  'head-refused': async s => (await s.call('s-office', 'HEAD', '/parcels/' + (await s.parcel()).id)).status === 200,
  'slash-passes': async s => (await s.call('s-office', 'GET', '/parcels/')).status === 404,
  'split-first': async s => { const p = await s.parcel(), b = await s.batch(p); await s.batch(p); await s.harvest(b); return (await s.call('s-office', 'GET', '/batches?state=growing%7Charvested')).body.items.length === 2; },
  'way-ignored': async s => { const b = await s.cleared(); await s.order(b, 2); await s.order(b, 7); return (await s.call('b-comptoir', 'GET', '/orders?sort=size&way=desc')).body.items.map(o => o.dozens).join() === '7,2'; },
  'next-on-last': async s => { await s.order(await s.cleared()); const r = (await s.call('b-comptoir', 'GET', '/orders')).body; return r.items.length === 1 && r.next === null && r.more === false; },
  'patch-stale': async s => { const p = await s.parcel(); return (await s.call('s-office', 'PATCH', '/parcels/' + p.id, { area_m2: 1234 }, { 'If-Match': await etag(s, p) })).body.area_m2 === 1234; },
  'tag-blind': async s => { const p = await s.parcel(), tag = await etag(s, p); await s.closure(p); return (await s.call('s-office', 'GET', '/parcels/' + p.id, undefined, { 'If-None-Match': tag })).status === 200; },
  'keys-shared': async s => { const b = await s.cleared(), k = { 'Idempotency-Key': 'k-1' }, a = await s.order(b, 4, 'b-comptoir', {}, k), again = await s.order(b, 4, 'b-comptoir', {}, k), o = await s.order(b, 4, 'b-halles', {}, k); return again.body.id === a.body.id && o.status === 201 && o.body.id !== a.body.id; },
  'key-inspects': async s => (await s.call(['i-petit', 'key'], 'POST', `/batches/${(await s.batch(await s.parcel())).id}/inspections`, { readings: [{ test: 'lead', amount: 0 }], verdict: 'pass' })).status === 401,
  'closure-no-scope': async s => { const c = made(await s.closure(await s.parcel())); const r = await s.call('i-trainee', 'PATCH', '/closures/' + c.id, { until: await s.in(20) }); return r.status === 403 && r.code === 'forbidden'; },
  'inspections-of-all': async s => { made(await s.inspect(await s.batch(await s.parcel()))); return (await s.call('g-kerbrat', 'GET', '/inspections')).body.items.length === 0 && (await s.call('g-morvan', 'GET', '/inspections')).body.items.length === 1; },
  'order-of-others': async s => { const o = made(await s.order(await s.cleared())); return (await s.call('b-halles', 'GET', '/orders/' + o.id)).status === 404; },
  'harvest-not-cleared': async s => { const b = await s.cleared(); return (await s.journal('batch.cleared')).some(e => e.about === b.id); },
  'cancel-told-twice': async s => { const o = made(await s.order(await s.cleared())); await s.call('b-comptoir', 'POST', `/orders/${o.id}/cancel`); return (await s.journal('order.moved')).length === 1; },
  'was-is': async s => { const got = await hooked(s, 's-office', ['batch.condemned'], async () => { const b = await s.batch(await s.parcel()); await s.harvest(b); made(await s.inspect(b, 'fail', 500)); }); return got.length === 1 && JSON.parse(got[0].text).body.was === 'harvested'; },
  'ending-5h': async s => { await s.closure(await s.parcel(), 24); await s.clock({ advance: 'PT18H1M' }); return (await s.journal('closure.ending')).length === 1; },
  'sign-no-id': async s => { const got = await hooked(s, 'b-comptoir', undefined, async () => { await s.order(await s.cleared()); }), g = got.find(x => x.headers['beds-event'] === 'order.placed'), [, t, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(g.headers['beds-signature']); return mac === createHmac('sha256', g.secret).update(`${t}.${JSON.parse(g.text).id}.${g.text}`).digest('hex'); },
  'until-past-400': async s => { const r = await s.closure(await s.parcel(), -1); return r.code === 'until_past' && r.status === 422; },
  'pointer-paths': async s => { const r = await s.order(await s.cleared(), 5, 'b-comptoir', { deliver_to: { line: 'x', town: '' } }); return r.status === 422 && r.body.fault.wrong[0].path === 'deliver_to.town'; },
  'user-first': async s => (await s.call('b-comptoir', 'GET', '/parcels?tide=low')).status === 400,
  'held-lost': async s => { const b = await s.batch(await s.parcel()); await s.harvest(b); await s.call('s-office', 'PUT', '/tanks/T01', { capacity: 500 }); await s.call('g-morvan', 'POST', `/batches/${b.id}/soak`, { tank: 'T01' }); const r = await s.call('s-office', 'DELETE', '/tanks/T01'); return r.status === 409 && r.code === 'taken'; },
  'limit-101': async s => (await s.call('s-office', 'GET', '/batches?limit=101')).status === 400 && (await s.call('s-office', 'GET', '/batches?limit=100')).status === 200,
  'rate-41': async s => { const b = await s.cleared(), r = await all(41, () => s.order(b, 1)); return r[39].status === 201 && r[39].headers['x-rate-remaining'] === '0' && r[40].status === 429 && r[40].code === 'too_much' && r[40].headers['retry-after'] > 0; },
  'url-2049': async s => { const at = n => '/parcels?house=' + 'a'.repeat(n - 20); return (await s.call('s-office', 'GET', at(2048))).status === 400 && (await s.call('s-office', 'GET', at(2049))).status === 413; },
  'hooks-9': async s => { const r = await all(9, () => s.call('g-morvan', 'POST', '/hooks', { url: 'http://127.0.0.1:9/x' })); return r[7].status === 201 && r[8].status === 403 && r[8].code === 'too_much'; },
  'quota-utc': async s => { const day = (await s.in(24)).slice(0, 10); await s.clock({ now: day + 'T12:00:00Z' }); const b = await s.batch(await s.parcel()), r = await all(26, () => s.inspect(b)); await s.clock({ now: day + 'T23:10:00Z' }); return r[24].status === 201 && r[25].status === 403 && (await s.inspect(b)).status === 201; },
  'old-price-cents': async s => { const b = await s.batch(await s.parcel()); return (await s.call('g-morvan', 'GET', '/batches/' + b.id, undefined, { 'Beds-Edition': '2025-12' })).body.price_cents === 12.5; },
  'edition-guessed': async s => { const r = await s.call('s-office', 'GET', '/parcels', undefined, { 'Beds-Edition': '2024-01' }); return r.status === 400 && r.code === 'no_edition'; },
  'sunset-unsaid': async s => { const r = await s.call('s-office', 'GET', '/parcels/par_none', undefined, { 'Beds-Edition': '2025-04' }); return r.status === 404 && r.headers.sunset === 'Wed, 01 Jan 2031 00:00:00 GMT' && r.headers.deprecation === '@1767225600'; },
};
async function hooked(s, who, events, act) {
  const got = [], server = http.createServer((q, r) => { let text = ''; q.on('data', d => { text += d; }); q.on('end', () => { got.push({ headers: q.headers, text, secret }); r.writeHead(204).end(); }); });
  await new Promise(ok => server.listen(0, '127.0.0.1', ok));
  const { secret } = made(await s.call(who, 'POST', '/hooks', { url: `http://127.0.0.1:${server.address().port}/in`, ...(events ? { events } : {}) }));
  await act();
  for (let i = 0; i < 40 && !got.length; i++) await new Promise(ok => setTimeout(ok, 25));
  await s.clock({ advance: 'PT1S' });
  server.closeAllConnections(); server.close();
  return got;
}
let proven = 0;
const wanted = process.argv.slice(2);
for (const f of faults) {
  if (wanted.length && !wanted.includes(f.id)) continue;
  const said = {};
  for (const fault of [null, f.id]) {
    const s = await start(fault);
    try { said[fault ? 'faulty' : 'right'] = await proofs[f.id](s); } catch (e) { said[fault ? 'faulty' : 'right'] = 'threw ' + e.message; } finally { s.stop(); }
  }
  const ok = said.right === true && said.faulty === false;
  if (ok) proven++;
  console.log((ok ? 'proven   ' : 'NOT      ') + f.id + (ok ? '' : ' ' + JSON.stringify(said)));
}
console.log(`${proven} of ${wanted.length || faults.length} proven`);
process.exit(proven === (wanted.length || faults.length) ? 0 : 1);
