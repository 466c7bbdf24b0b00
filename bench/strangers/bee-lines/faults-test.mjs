// Shows each fault: the right service and the faulty one are asked the same; the first answers rightly, the second wrongly.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { createHmac } from 'node:crypto';
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const stranger = JSON.parse(readFileSync(here + 'stranger.json', 'utf8'));
const cred = Object.fromEntries(stranger.callers.map((c) => [`${c.id}/${c.scheme}`, c]));
const port = () => new Promise((r) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => r(p)); }); });

async function start(fault) {
  const p = await port(), d = await port();
  const child = spawn(process.execPath, [here + 'service.mjs', '--port', p, '--clock-port', d, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((r, j) => { child.stdout.once('data', r); child.once('exit', () => j(new Error('did not start'))); });
  const S = { child };
  const auth = (who) => { // "tova", "tilde/pass", or both with a plus
    const h = {};
    for (const w of who ? who.split('+') : []) {
      const c = w.includes('/') ? cred[w] : stranger.callers.find((x) => x.id === w);
      if (c.scheme === 'badge') h.Authorization = 'Badge ' + c.credential; else h['Isle-Pass'] = c.credential;
    }
    return h;
  };
  S.call = async (who, method, path, body, headers = {}) => {
    const r = await fetch(`http://127.0.0.1:${p}/quay${path}`, { method, headers: { ...auth(who), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await r.text();
    return { status: r.status, headers: r.headers, json: text ? JSON.parse(text) : undefined, signal: text ? JSON.parse(text).foghorn?.signal : undefined };
  };
  S.door = async (b) => (await (await fetch(`http://127.0.0.1:${d}/`, b ? { method: 'POST', body: JSON.stringify(b) } : {})).json()).now;
  S.move = (advance) => S.door({ advance });
  S.to = (now) => S.door({ now });
  S.ok = async (...a) => { const r = await S.call(...a); assert.ok(r.status < 300, `${a[1]} ${a[2]}: ${r.status} ${JSON.stringify(r.json)}`); return r.json; };
  let keys = 0;
  S.line = (code = 'sk-1', more = {}, who = 'hedda') => S.ok(who, 'PUT', `/lines/${code}`, { name: 'Line ' + code, kind: 'ferry', ...more });
  S.sailing = async (more = {}, { code = 'sk-1', who = 'hedda', opens = '-PT0H', hours = 6, departs = 2 } = {}) => {
    const t = Date.parse(await S.door()), at = (h) => new Date(t + h * 3600e3).toISOString();
    return S.ok(who, 'POST', `/lines/${code}/sailings`, { vessel: 'Alka', departs_at: at(departs), tide: { opens_at: at(-1), closes_at: at(hours) }, berths: 10, ...more });
  };
  S.world = async (more, o) => { await S.line(); return S.sailing(more, o); };
  S.people = (n) => Array.from({ length: n }, (_, i) => ({ name: 'P' + i }));
  S.book = (s, n = 1, who = 'tova') => S.ok(who, 'POST', `/sailings/${s}/bookings`, { passengers: S.people(n) });
  S.pay = (id, who = 'tova', voucher = 'BEE-1') => S.call(who, 'POST', `/bookings/${id}/settle`, { voucher }, { 'Crossing-Key': 'k' + ++keys });
  S.slip = (s, more = {}, who = 'sela', headers) => S.ok(who, 'POST', '/slips', { sailing: s, goods: 'wool', weight: 4000, ...more }, headers);
  S.watch = (s, mate) => S.ok('hedda', 'POST', '/watches', { sailing: s, mate, post: 'bridge' });
  S.receiver = async (status = () => 204) => {
    const got = [];
    const server = http.createServer((q, a) => { let b = ''; q.on('data', (x) => (b += x)); q.on('end', () => { got.push({ headers: q.headers, text: b, json: JSON.parse(b) }); a.writeHead(status()); a.end(); }); });
    await new Promise((r) => server.listen(0, '127.0.0.1', r));
    S.closing = [...(S.closing ?? []), () => { server.closeAllConnections(); server.close(); }];
    return { url: `http://127.0.0.1:${server.address().port}/in`, got };
  };
  S.stop = async () => { for (const c of S.closing ?? []) c(); const gone = new Promise((r) => child.once('exit', r)); process.kill(child.pid); await gone; };
  return S;
}

// [what is seen, what the right service shows, what the faulty one shows]
const proofs = {
  'p-no-withdraw': [async (S) => { const s = await S.world(), x = await S.slip(s.id); const r = await S.call('sela', 'POST', `/slips/${x.id}/withdraw`); return [r.status, r.json.stage ?? r.signal]; }, [200, 'withdrawn'], [404, 'lost_at_sea']],
  'p-no-lookup': [async (S) => { const s = await S.world(), x = await S.slip(s.id); return (await S.call('sela', 'GET', `/slip-numbers/${x.number}`)).status; }, 200, 404],
  'p-mate-pass': [async (S) => (await S.call('mona/pass', 'GET', '/sailings')).status, 200, 401],
  'p-location-no-base': [async (S) => (await S.call('hedda', 'PUT', '/lines/sk-9', { name: 'Nine', kind: 'ferry' }, {})).headers.get('location') , '/quay/lines/sk-9', '/lines/sk-9'],
  'r-name-length': [async (S) => (await S.call('hedda', 'PUT', '/lines/sk-2', { name: 'n'.repeat(61), kind: 'ferry' })).status, 422, 201],
  'r-kind-mutable': [async (S) => { await S.line(); return (await S.call('hedda', 'PATCH', '/lines/sk-1', { kind: 'cable_car' }, { 'If-Match': '*' })).status; }, 422, 200],
  'r-cabin-default': [async (S) => { const s = await S.world(); return (await S.book(s.id)).passengers[0].cabin; }, 'deck', 'berth'],
  'r-berths-held': [async (S) => { const s = await S.world(); await S.book(s.id, 3); return (await S.ok('tova', 'GET', `/sailings/${s.id}`)).berths_left; }, 10, 7],
  'r-price-mate': [async (S) => { const s = await S.world(); await S.watch(s.id, 'mona'); const b = await S.book(s.id); return 'price' in (await S.ok('mona', 'GET', `/bookings/${b.id}`)); }, false, true],
  'r-touched-late': [async (S) => { const s = await S.world(), x = await S.slip(s.id); await S.move('PT5M'); const y = await S.ok('hedda', 'POST', `/slips/${x.id}/accept`); return y.touched_at === x.touched_at; }, false, true],
  's-lapse-late': [async (S) => { const s = await S.world(), b = await S.book(s.id); await S.move('PT21M'); return (await S.ok('tova', 'GET', `/bookings/${b.id}`)).state; }, 'lapsed', 'held'],
  's-tide-keeps-paid': [async (S) => { const s = await S.world(), b = await S.book(s.id); await S.pay(b.id); await S.move('PT7H'); const t = await S.ok('tova', 'GET', `/sailings/${s.id}`); return [t.state, (await S.ok('tova', 'GET', `/bookings/${b.id}`)).state]; }, ['scrubbed', 'annulled'], ['scrubbed', 'paid']],
  's-scrub-underway': [async (S) => { const s = await S.world(); await S.ok('hedda', 'POST', `/sailings/${s.id}/board`); await S.ok('hedda', 'POST', `/sailings/${s.id}/cast-off`); const r = await S.call('hedda', 'POST', `/sailings/${s.id}/scrub`, { reason: 'fog' }); return r.signal ?? r.json.state; }, 'already_sailed', 'scrubbed'],
  's-last-berth': [async (S) => { const s = await S.world({ berths: 2 }), b = await S.book(s.id, 2); const r = await S.pay(b.id); return r.signal ?? r.json.state; }, 'paid', 'sold_out'],
  's-declined-held': [async (S) => { const s = await S.world(), b = await S.book(s.id); const r = await S.pay(b.id, 'tova', 'FAKE-1'); return [r.status, (await S.ok('tova', 'GET', `/bookings/${b.id}`)).state]; }, [402, 'declined'], [402, 'held']],
  's-duty-skips': [async (S) => { const s = await S.world(), w = await S.watch(s.id, 'mona'); return (await S.call('mona', 'PATCH', `/watches/${w.id}`, { duty: 'relieved' })).status; }, 409, 200],
  'e-before-through': [async (S) => { const s = await S.world(); return (await S.ok('tova', 'GET', '/sailings?before=' + encodeURIComponent(s.departs_at))).rows.length; }, 0, 1],
  'e-state-first': [async (S) => { const s = await S.world(); await S.ok('hedda', 'POST', `/sailings/${s.id}/board`); return (await S.ok('tova', 'GET', '/sailings?state=planned,boarding')).rows.length; }, 1, 0],
  'e-null-kept': [async (S) => { await S.line('sk-1', { blurb: 'A short hop.' }); return 'blurb' in (await S.ok('hedda', 'PATCH', '/lines/sk-1', { blurb: null }, { 'If-Match': '*' })); }, false, true],
  'e-put-keeps': [async (S) => { await S.line('sk-1', { blurb: 'A short hop.' }); await S.line('sk-1'); return 'blurb' in (await S.ok(null, 'GET', '/lines/sk-1')); }, false, true],
  'e-key-body': [async (S) => { const s = await S.world(), k = { 'Crossing-Key': 'same' }; await S.slip(s.id, {}, 'sela', k); const r = await S.call('sela', 'POST', '/slips', { sailing: s.id, goods: 'salt', weight: 9 }, k); return [r.status, r.signal ?? r.json.goods]; }, [409, 'key_twice'], [201, 'wool']],
  'e-select-no-id': [async (S) => { await S.world(); return Object.keys((await S.ok('tova', 'GET', '/sailings?only=vessel')).rows[0]).sort(); }, ['id', 'vessel'], ['vessel']],
  'a-manifest-isle': [async (S) => { const s = await S.world(), b = await S.book(s.id); return (await S.call('mikkel', 'GET', `/bookings/${b.id}`)).status; }, 404, 200],
  'a-lookup-any-isle': [async (S) => { const s = await S.world(), x = await S.slip(s.id); return (await S.call('siri', 'GET', `/slip-numbers/${x.number}`)).status; }, 404, 200],
  'a-scope-skipped': [async (S) => { const s = await S.world(), x = await S.slip(s.id); const r = await S.call('solo', 'PATCH', `/slips/${x.id}`, { goods: 'tar' }); return r.signal; }, 'wrong_ticket', 'barred'],
  'a-watch-pass': [async (S) => { const s = await S.world(), w = await S.watch(s.id, 'mona'); return [(await S.call('mona/badge', 'GET', `/watches/${w.id}`)).status, (await S.call('mona/pass', 'GET', `/watches/${w.id}`)).status]; }, [200, 401], [200, 200]],
  'a-two-callers': [async (S) => (await S.call('tova/badge+tarn/pass', 'GET', '/sailings')).status, 401, 200],
  'a-castoff-any-duty': [async (S) => { const s = await S.world(); await S.watch(s.id, 'mona'); await S.ok('hedda', 'POST', `/sailings/${s.id}/board`); const r = await S.call('mona', 'POST', `/sailings/${s.id}/cast-off`); return r.signal ?? r.json.state; }, 'not_on_watch', 'underway'],
  'v-sign-no-id': [async (S) => {
    const r = await S.receiver(), h = await S.ok('tova', 'POST', '/hooks', { url: r.url }); await S.world(); await S.move('PT1S');
    const [, t, s] = /^t=(\d+),s=([0-9a-f]{64})$/.exec(r.got[0].headers['bee-sting']);
    return createHmac('sha256', h.secret).update(`${r.got[0].json.buzz}.${t}.${r.got[0].text}`).digest('hex') === s;
  }, true, false],
  'v-second-wait': [async (S) => { const r = await S.receiver(() => 500); await S.ok('tova', 'POST', '/hooks', { url: r.url }); await S.world(); await S.move('PT15S'); await S.move('PT3M'); return r.got.length; }, 3, 2],
  'v-new-id': [async (S) => { const r = await S.receiver(() => 500); await S.ok('tova', 'POST', '/hooks', { url: r.url }); await S.world(); await S.move('PT15S'); return [r.got.length, new Set(r.got.map((x) => x.json.buzz)).size]; }, [2, 1], [2, 2]],
  'v-slip-to-all': [async (S) => { const r = await S.receiver(); await S.ok('sten', 'POST', '/hooks', { url: r.url, kinds: ['slip.*'] }); const s = await S.world(), x = await S.slip(s.id); await S.ok('hedda', 'POST', `/slips/${x.id}/accept`); await S.move('PT1S'); return r.got.length; }, 0, 1],
  'v-turning-late': [async (S) => { const r = await S.receiver(); await S.ok('tova', 'POST', '/hooks', { url: r.url, kinds: ['tide.turning'] }); await S.world({}, { hours: 2 }); await S.move('PT1H20M'); return r.got.length; }, 1, 0],
  'v-newest-shape': [async (S) => { const r = await S.receiver(); await S.ok('tova', 'POST', '/hooks', { url: r.url }, { 'Bee-Chart': 'ebb' }); await S.world(); await S.move('PT1S'); return ['ship' in r.got[0].json.load, 'vessel' in r.got[0].json.load]; }, [true, false], [false, true]],
  'x-declined-status': [async (S) => { const s = await S.world(), b = await S.book(s.id); const r = await S.pay(b.id, 'tova', 'FAKE-1'); return [r.status, r.signal]; }, [402, 'voucher_declined'], [400, 'voucher_declined']],
  'x-pointer-paths': [async (S) => { const s = await S.world(); return (await S.call('tova', 'POST', `/sailings/${s.id}/bookings`, { passengers: [{ name: '' }] })).json.foghorn.marks[0].path; }, 'passengers.0.name', '/passengers/0/name'],
  'x-missing-first': [async (S) => { const r = await S.call('hedda', 'PUT', '/lines/sk-1', { name: 'Line', colour: 'red' }); return [r.signal, r.json.foghorn.says]; }, ['stowaway', 'colour is not known here'], ['gap', 'kind is missing']],
  'x-tide-update': [async (S) => { const s = await S.world(); const r = await S.call('hedda', 'PATCH', `/sailings/${s.id}`, { tide: { opens_at: '2031-01-01T00:00:00Z', closes_at: '2031-01-01T05:00:00Z' } }); return r.signal ?? 'taken'; }, 'tide_gone', 'taken'],
  'x-precondition-late': [async (S) => { await S.line(); return (await S.call('hedda', 'PATCH', '/lines/sk-1', { name: 5 })).status; }, 428, 422],
  'l-booking-rate': [async (S) => { const s = await S.world(); let r; for (let i = 0; i < 13; i++) r = await S.call('tova', 'POST', `/sailings/${s.id}/bookings`, {}); return r.signal; }, 'slow_down', 'gap'],
  'l-quota-utc': [async (S) => {
    await S.to('2031-04-10T22:10:00Z'); const s = await S.world({}, { hours: 60 }); // 23:10 on the Faroes
    for (let i = 0; i < 25; i++) { if (i && i % 12 === 0) await S.move('PT10M1S'); const b = await S.book(s.id); await S.pay(b.id, 'tova', 'FAKE-1'); }
    const full = await S.call('tova', 'POST', `/sailings/${s.id}/bookings`, { passengers: S.people(1) });
    await S.to('2031-04-10T23:05:00Z'); // the next day there
    return [full.signal, (await S.call('tova', 'POST', `/sailings/${s.id}/bookings`, { passengers: S.people(1) })).status];
  }, ['no_more_today', 201], ['no_more_today', 429]],
  'l-422-counts': [async (S) => { const s = await S.world(); for (let i = 0; i < 30; i++) await S.call('sela', 'POST', '/slips', { sailing: s.id }); return (await S.call('sela', 'POST', '/slips', { sailing: s.id, goods: 'wool', weight: 5 })).status; }, 201, 429],
  'l-held-counts-all': [async (S) => { const s = await S.world(); const b = await S.book(s.id); for (let i = 0; i < 3; i++) await S.book(s.id); await S.ok('tova', 'POST', `/bookings/${b.id}/release`); return (await S.call('tova', 'POST', `/sailings/${s.id}/bookings`, { passengers: S.people(1) })).status; }, 201, 429],
  'l-cursor-unbound': [async (S) => { for (const i of [1, 2, 3]) await S.line('sk-' + i); const p = await S.ok(null, 'GET', '/lines?kind=ferry&take=1'); return (await S.call(null, 'GET', '/lines?kind=cable_car&take=1&bookmark=' + encodeURIComponent(p.bookmark))).status; }, 400, 200],
  'n-weight-floor': [async (S) => { const s = await S.world(); const x = await S.slip(s.id, { weight: 1.005 }, 'sela', { 'Bee-Chart': 'ebb' }); return (await S.ok('sela', 'GET', `/slips/${x.id}`)).weight; }, 1005, 1004],
  'n-put-resets-fare': [async (S) => { await S.line('sk-1', { fare: 1500 }); await S.ok('hedda', 'PUT', '/lines/sk-1', { name: 'Renamed', kind: 'ferry' }, { 'Bee-Chart': 'slack' }); return (await S.ok(null, 'GET', '/lines/sk-1')).fare; }, 1500, 900],
  'n-sunset-serves': [async (S) => { await S.to('2032-10-01T00:00:01Z'); return (await S.call(null, 'GET', '/lines', undefined, { 'Bee-Chart': 'ebb' })).status; }, 410, 200],
  'n-unknown-current': [async (S) => (await S.call(null, 'GET', '/lines', undefined, { 'Bee-Chart': 'spring' })).status, 400, 200],
};

let good = 0, wrong = 0;
const only = process.argv.slice(2);
for (const f of stranger.faults) {
  if (only.length && !only.includes(f.id)) continue;
  const services = [];
  try {
    const [ask, right, faulty] = proofs[f.id];
    for (const [fault, expected] of [['', right], [f.id, faulty]]) {
      const S = await start(fault);
      services.push(S);
      assert.deepEqual(await ask(S), expected, fault ? 'the faulty service' : 'the right service');
    }
    good++;
    console.log('ok   ' + f.id);
  } catch (e) { wrong++; console.log('FAIL ' + f.id + ': ' + e.message); }
  for (const S of services) await S.stop();
}
console.log(`${good} of ${good + wrong} faults shown`);
process.exit(wrong ? 1 : 0);
