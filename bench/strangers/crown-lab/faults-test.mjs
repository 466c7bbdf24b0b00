// For each fault: the right service and the faulty one are started, asked the same, and have to differ exactly there.
import { spawn } from 'node:child_process';
import http from 'node:http';
import { readFileSync } from 'node:fs';
import { createHmac } from 'node:crypto';

const { faults, callers } = JSON.parse(readFileSync(new URL('./stranger.json', import.meta.url)));
const only = process.argv.slice(2);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const who = Object.fromEntries(callers.map((c) => [c.id, c.scheme === 'key' ? { 'X-Lab-Key': c.credential } : { Authorization: (c.scheme === 'bench' ? 'Bench ' : 'Bearer ') + c.credential }]));
const D1 = 'd-linden-1', D2 = 'd-linden-2', D3 = 'd-harbor-1', M = 'm-1', T1 = 't-1', T2 = 't-2', C1 = 'c-1', C2 = 'c-2', C4 = 'c-4';
let nextPort = 25100;

async function start(fault) {
  const port = nextPort++, doorPort = nextPort++, hookPort = nextPort++;
  if (nextPort > 25480) nextPort = 25100;
  const child = spawn(process.execPath, ['service.mjs', '--port', port, '--clock-port', doorPort, ...(fault ? ['--fault', fault] : [])], { cwd: new URL('.', import.meta.url), stdio: ['ignore', 'ignore', 'inherit'] });
  const got = [];
  const receiver = http.createServer((q, s) => { let d = ''; q.on('data', (c) => { d += c; }); q.on('end', () => { got.push({ ...JSON.parse(d), headers: q.headers, raw: d }); s.writeHead(svc.answer); s.end(); }); });
  const ask = (id, line, body, headers = {}) => new Promise((resolve, reject) => {
    const [method, path] = line.split(' '), text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const q = http.request({ host: '127.0.0.1', port, method, path: (path.startsWith('//') ? path.slice(1) : '/lab' + path), agent, headers: { ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }), ...(who[id] ?? {}), ...headers } }, (r) => {
      let d = ''; r.on('data', (c) => { d += c; }); r.on('end', () => resolve({ status: r.statusCode, headers: r.headers, text: d, body: d ? JSON.parse(d) : undefined, code: r.headers['x-lab-problem'] }));
    });
    q.on('error', reject); q.end(text);
  });
  const agent = new http.Agent({ keepAlive: true });
  const door = (body) => new Promise((resolve, reject) => { const q = http.request({ host: '127.0.0.1', port: doorPort, method: body ? 'POST' : 'GET', agent }, (r) => { let d = ''; r.on('data', (c) => { d += c; }); r.on('end', () => resolve(JSON.parse(d))); }); q.on('error', reject); q.end(body && JSON.stringify(body)); });
  const svc = {
    answer: 200, got, ask, door,
    hookUrl: `http://127.0.0.1:${hookPort}/in`,
    stop: async () => { agent.destroy(); receiver.close(); receiver.closeAllConnections(); child.kill(); await new Promise((r) => child.once('exit', r)); },
    order: async (over = {}, id = D1, headers = {}) => (await ask(id, 'POST /cases', { patient: 'P-1234', kind: 'crown', teeth: [11], shade: 'A2', material: 'zirconia-ht', scan: { url: 'https://scans.example/1', scanner: 'itero' }, due_on: '2027-01-10', ...over }, headers)),
    lot: async (material = 'zirconia-ht', batch = 'AB-01', days = 60) => { const l = await ask(M, `POST /materials/${material}/lots`, { batch, units: 50, expires_at: new Date(Date.parse((await door()).now) + days * 864e5).toISOString() }); await ask(T1, `POST /lots/${l.body.id}/open`); return l.body.id; },
    until: async (state, id) => {
      const lot = await svc.lot('zirconia-ht', 'L-' + Math.floor(Math.random() * 1e6));
      let r;
      for (const [to, by, act, body] of [['on_bench', T1, 'take'], ['milled', T1, 'mill', { lot }], ['glazed', T1, 'glaze'], ['checked', T2, 'inspect', { passed: true }], ['shipped', M, 'ship'], ['settled', M, 'pay']]) {
        r = await ask(by, `POST /cases/${id}/${act}`, body);
        if (to === state) return r;
      }
    },
    shipped: async () => { const id = (await svc.order()).body.id; await svc.until('shipped', id); return id; },
    remade: async (id) => { const r = await ask(D1, `POST /cases/${id}/remakes`, { reason: 'fit' }); return ask(M, `POST /remakes/${r.body.id}/accept`); },
    hook: async (id = D1, events, headers = {}) => (await ask(id, 'POST /hooks', { url: svc.hookUrl, ...(events ? { events } : {}) }, headers)).body,
    pickup: async (id = D1, key = 'k' + Math.random()) => { const n = Date.parse((await door()).now); return ask(id, 'POST /pickups', { address: 'Main street 1', from_at: new Date(n + 36e5).toISOString(), until_at: new Date(n + 72e5).toISOString() }, { 'Idempotency-Key': key }); },
    told: async (kind, least = 1) => { for (let i = 0; i < 40 && got.filter((g) => g.kind === kind).length < least; i++) await sleep(10); await sleep(60); return got.filter((g) => g.kind === kind); },
  };
  await new Promise((r) => receiver.listen(hookPort, '127.0.0.1', r));
  for (let i = 0; i < 100; i++) { try { await door(); await ask(null, 'GET /shades'); return svc; } catch { await sleep(20); } }
  throw new Error('did not start');
}

// id: [probe, what is right, what the bug makes of it]
const T = {
  'p-hooks-root': [async (s) => [(await s.ask(D1, 'POST /hooks', { url: s.hookUrl })).status, (await s.ask(D1, 'POST //hooks', { url: s.hookUrl })).status], [201, 404], [404, 201]],
  'p-courier-user': [async (s) => (await s.ask(C1, 'GET /pickups')).status, 200, 401],
  'p-no-decline': [async (s) => { const id = await s.shipped(), r = await s.ask(D1, `POST /cases/${id}/remakes`, { reason: 'fit' }); return (await s.ask(M, `POST /remakes/${r.body.id}/decline`)).status; }, 200, 404],
  'p-pay-current': [async (s) => { const id = await s.shipped(); return [(await s.ask(M, `POST /cases/${id}/pay`, undefined, { 'Lab-Version': '2025-06' })).status, (await s.ask(M, `POST /cases/${await s.shipped()}/pay`)).status]; }, [200, 200], [404, 200]],
  'r-pickup-until': [async (s) => { await s.pickup(); const p = (await s.ask(D1, 'GET /pickups')).body.rows[0]; return ['until_at' in p, 'until' in p]; }, [true, false], [false, true]],
  'r-units-text': [async (s) => { const id = await s.lot(); return [(await s.ask(M, 'GET /lots')).body.lots[0].units, (await s.ask(M, `GET /lots/${id}`)).body.units]; }, [50, 50], ['50', 50]],
  'r-shipped-format': [async (s) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test((await s.ask(M, `GET /cases/${await s.shipped()}`)).body.shipped_at), true, false],
  'r-note-in-list': [async (s) => { const id = (await s.order()).body.id; await s.ask(T1, `POST /cases/${id}/take`); await s.ask(T1, `PATCH /cases/${id}`, { bench_note: 'thin' }, { 'If-Match': '*' }); return ['bench_note' in (await s.ask(D1, 'GET /cases')).body.rows[0], 'bench_note' in (await s.ask(D1, `GET /cases/${id}`)).body]; }, [false, false], [true, false]],
  'r-shade-open': [async (s) => [(await s.order({ shade: 'A1x' })).status, (await s.order({ shade: 'E1' })).status], [422, 422], [201, 422]],
  'r-number-gap': [async (s) => { await s.order({ material: 'none-such' }); return (await s.order()).body.number; }, 'L-00001', 'L-00002'],
  's-take-milled': [async (s) => { const id = (await s.order()).body.id; await s.until('milled', id); return (await s.ask(T2, `POST /cases/${id}/take`)).status; }, 409, 200],
  's-lapsed-state': [async (s) => { const id = (await s.order()).body.id; await s.door({ advance: 'P14D' }); return (await s.ask(M, `GET /cases/${id}`)).body.state; }, 'cancelled', 'lapsed'],
  's-miss-claimed': [async (s) => { const a = (await s.pickup()).body.id, b = (await s.pickup()).body.id; await s.ask(C1, `POST /pickups/${a}/claim`); await s.door({ advance: 'PT2H1S' }); return [(await s.ask(M, `GET /pickups/${a}`)).body.state, (await s.ask(M, `GET /pickups/${b}`)).body.state]; }, ['missed', 'missed'], ['claimed', 'missed']],
  's-ship-paid': [async (s) => { const id = await s.shipped(); await s.ask(M, `POST /cases/${id}/pay`); await s.remade(id); return (await s.until('shipped', id)).body.state; }, 'settled', 'shipped'],
  's-mill-material': [async (s) => { const id = (await s.order()).body.id, lot = await s.lot('disilicate'); await s.ask(T1, `POST /cases/${id}/take`); return (await s.ask(T1, `POST /cases/${id}/mill`, { lot })).code ?? 200; }, 'lot_unfit', 200],
  'e-head': [async (s) => [(await s.ask(M, 'HEAD /cases')).status, (await s.ask(M, 'GET /cases')).status], [200, 200], [405, 200]],
  'e-trailing': [async (s) => (await s.ask(M, 'GET /cases/')).status, 404, 200],
  'e-due-by': [async (s) => { await s.order(); return [(await s.ask(M, 'GET /cases?due_by=2027-01-10')).body.rows.length, (await s.ask(M, 'GET /cases?due_by=2027-01-11')).body.rows.length, (await s.ask(M, 'GET /cases?due_by=2027-01-09')).body.rows.length]; }, [1, 1, 0], [0, 1, 0]],
  'e-passed-missing': [async (s) => { const id = (await s.order()).body.id; await s.until('glazed', id); return [(await s.ask(T2, `POST /cases/${id}/inspect`, {})).status, (await s.ask(T2, `POST /cases/${id}/inspect`, { passed: 'yes' })).status]; }, [422, 422], [200, 422]],
  'e-pay-stale': [async (s) => { const id = await s.shipped(), r = await s.ask(M, `POST /cases/${id}/pay`); return [r.body, (await s.ask(M, `GET /cases/${id}`)).body.state].map((v) => v.state ?? v); }, ['settled', 'settled'], ['shipped', 'settled']],
  'e-etag-derived': [async (s) => { const id = await s.shipped(), tag = (await s.ask(D1, `GET /cases/${id}`)).headers.etag; await s.remade(id); return (await s.ask(D1, `GET /cases/${id}`, undefined, { 'If-None-Match': tag })).status; }, 200, 304],
  'a-signature': [async (s) => { const t = callers.find((c) => c.id === C1).credential.split('.'); return (await s.ask(null, 'GET /pickups', undefined, { Authorization: `Bearer ${t[0]}.${t[1]}.${createHmac('sha256', 'x').update(t[1]).digest('base64url')}` })).status; }, 401, 200],
  'a-prefix-case': [async (s) => (await s.ask(null, 'GET /cases', undefined, { Authorization: who[T1].Authorization.replace('Bench', 'BENCH') })).status, 200, 401],
  'a-list-filtered': [async (s) => { await s.order(); return [(await s.ask(D3, 'GET /cases?kind=crown')).body.rows.length, (await s.ask(D3, 'GET /cases')).body.rows.length]; }, [0, 0], [1, 0]],
  'a-claim-scope': [async (s) => (await s.ask(C4, `POST /pickups/${(await s.pickup()).body.id}/claim`)).code ?? 200, 'scope_missing', 200],
  'a-own-inspect': [async (s) => { const id = (await s.order()).body.id; await s.until('glazed', id); return (await s.ask(T1, `POST /cases/${id}/inspect`, { passed: true })).status; }, 403, 200],
  'a-pickup-403': [async (s) => { const id = (await s.pickup()).body.id; await s.ask(C1, `POST /pickups/${id}/claim`); return [(await s.ask(C2, `GET /pickups/${id}`)).status, (await s.ask(C2, 'GET /pickups/pck_0000000000')).status]; }, [404, 404], [403, 404]],
  'v-glaze-silent': [async (s) => { await s.hook(); const id = (await s.order()).body.id; await s.until('checked', id); return (await s.told('case.moved', 4)).map((g) => g.body.is).filter((k) => k !== undefined); }, ['on_bench', 'milled', 'glazed', 'checked'], ['on_bench', 'milled', 'checked']],
  'v-asked-twice': [async (s) => { await s.hook(); const id = await s.shipped(); await s.ask(D1, `POST /cases/${id}/remakes`, { reason: 'fit' }); const t = await s.told('remake.asked'); return [t.length, new Set(t.map((g) => g.event)).size]; }, [1, 1], [2, 2]],
  'v-shipped-at': [async (s) => { await s.hook(); await s.shipped(); return Object.keys((await s.told('case.shipped'))[0].body); }, ['case', 'at'], ['case']],
  'v-retry-id': [async (s) => { s.answer = 500; await s.hook(); await s.order(); await s.told('case.ordered'); await s.door({ advance: 'PT13S' }); const t = await s.told('case.ordered', 2); return [t.length, t[0].event === t[1].event]; }, [2, true], [2, false]],
  'v-unpaid-paid': [async (s) => { const h = await s.hook(D1, ['case.unpaid']); const a = await s.shipped(), b = await s.shipped(); await s.ask(M, `POST /cases/${b}/pay`); await s.door({ advance: 'P30D' }); const t = await s.told('case.unpaid'); return t.map((g) => (g.body === a ? 'a' : g.body === b ? 'b' : '?')).sort(); }, ['a'], ['a', 'b']],
  'x-tag-status': [async (s) => { const r = await s.ask(D1, `PATCH /cases/${(await s.order()).body.id}`, { shade: 'B1' }); return [r.status, r.code]; }, [428, 'tag_missing'], [400, 'tag_missing']],
  'x-past-replace': [async (s) => { const p = (await s.pickup()).body; return (await s.ask(D1, `PUT /pickups/${p.id}`, { address: p.address, from_at: '2026-01-01T10:00:00Z', until_at: p.until_at })).code ?? 200; }, 'pickup_past', 200],
  'x-pointer': [async (s) => (await s.order({ teeth: [11, 99] })).body.breaches[0].path, 'teeth.1', '/teeth/1'],
  'x-held': [async (s) => { await s.lot('disilicate'); await s.order(); return [(await s.ask(M, 'DELETE /materials/disilicate')).status, (await s.ask(M, 'DELETE /materials/zirconia-ht')).status]; }, [409, 409], [204, 409]],
  'x-order': [async (s) => { const id = (await s.order()).body.id; return [(await s.ask(D2, `PATCH /cases/${id}`, { shade: 'B1' })).code, (await s.ask(D2, `PATCH /cases/${id}`, { shade: 'B1' }, { 'If-Match': '*' })).code]; }, ['not_yours', 'not_yours'], ['tag_missing', 'not_yours']],
  'l-shared': [async (s) => { for (let i = 0; i < 12; i++) await s.ask(D1, 'POST /cases/none/remakes', { reason: 'fit' }); return [(await s.ask(D1, 'POST /cases/none/remakes', { reason: 'fit' })).status, (await s.ask(D2, 'POST /cases/none/remakes', { reason: 'fit' })).status]; }, [429, 404], [429, 429]],
  'l-304': [async (s) => { const c = await s.order(), path = `GET /cases/${c.body.id}`; const a = await s.ask(D1, path), b = await s.ask(D1, path, undefined, { 'If-None-Match': a.headers.etag }); return [b.status, a.headers['x-lab-remaining'] - b.headers['x-lab-remaining']]; }, [304, 0], [304, 1]],
  'l-body': [async (s) => { const of = (n) => { const t = JSON.stringify({ code: 'x' }); return t + ' '.repeat(n - t.length); }; return [(await s.ask(M, 'POST /materials', of(16384))).status, (await s.ask(M, 'POST /materials', of(16385))).status, (await s.ask(M, 'POST /materials', of(18000))).status]; }, [422, 413, 413], [422, 422, 413]],
  'l-quota-zone': [async (s) => {
    await s.door({ now: '2027-01-15T22:00:00Z' });
    const book = async () => { const r = await s.pickup(); if (r.status === 201) await s.ask(C1, `POST /pickups/${r.body.id}/claim`); return r; };
    for (let i = 0; i < 25; i++) await book();
    const full = await book(); await s.door({ advance: 'PT1H10M' });
    return [full.status, +full.headers['retry-after'] <= 3600, (await book()).status];
  }, [429, true, 201], [429, false, 429]],
  'l-hooks': [async (s) => { const r = []; for (let i = 0; i < 6; i++) r.push((await s.ask(D1, 'POST /hooks', { url: s.hookUrl })).status); return r.slice(3); }, [201, 429, 429], [201, 201, 429]],
  'l-total': [async (s) => { for (const b of ['AAAA', 'BBBB', 'CCCC']) await s.lot('disilicate', b); const r = (await s.ask(M, 'GET /lots?per_page=2')).body; return [r.lots.length, r.total, r.more]; }, [2, 3, true], [2, 2, true]],
  'w-any-version': [async (s) => { const r = await s.ask(M, 'GET /cases', undefined, { 'Lab-Version': '2023-01' }); return r.code ?? r.status; }, 'no_version', 200],
  'w-rush-old': [async (s) => { const id = (await s.order()).body.id; return [await s.ask(D1, `GET /cases/${id}`, undefined, { 'Lab-Version': '2024-11' }), await s.ask(D1, `GET /cases/${id}`)].map((r) => 'rush' in r.body); }, [false, true], [true, true]],
  'w-no-sunset': [async (s) => { const r = await s.ask(M, 'GET /cases', undefined, { 'Lab-Version': '2024-11' }); return [r.headers.deprecation, r.headers.sunset]; }, ['@1756684800', 'Wed, 01 Sep 2027 00:00:00 GMT'], ['@1756684800', undefined]],
  'w-hook-version': [async (s) => { await s.hook(D1, undefined, { 'Lab-Version': '2024-11' }); await s.order(); const b = (await s.told('case.ordered'))[0].body; return ['tooth_shade' in b, 'shade' in b, b.price ?? 'none']; }, [true, false, 42], [false, true, 'none']],
  'w-no-end': [async (s) => { await s.door({ now: '2027-09-01T00:00:00Z' }); const r = await s.ask(M, 'GET /cases', undefined, { 'Lab-Version': '2024-11' }); return [r.code ?? r.status, (await s.ask(M, 'GET /cases')).status]; }, ['version_over', 200], [200, 200]],
};

let shown = 0;
for (const f of faults) {
  if (only.length && !only.includes(f.id)) continue;
  const [probe, right, wrong] = T[f.id] ?? [async () => 'no test', null, null], saw = [];
  for (const fault of [undefined, f.id]) { const s = await start(fault); try { saw.push(JSON.stringify(await probe(s))); } catch (e) { saw.push('failed: ' + e.message); } finally { await s.stop(); } }
  const good = saw[0] === JSON.stringify(right) && saw[1] === JSON.stringify(wrong);
  if (good) shown++;
  console.log(`${good ? 'shown ' : 'NOT   '} ${f.id}: ${saw[0]} -> ${saw[1]}`);
}
console.log(`${shown} of ${only.length || faults.length} shown`);
process.exit(shown === (only.length || faults.length) ? 0 : 1);
