'use strict';
// node faults-test.cjs [ID…]: each proof passes on the sound service and fails with its fault switched on.
const { spawn } = require('node:child_process'), http = require('node:http'), crypto = require('node:crypto'), path = require('node:path');
const doc = require('./stranger.json'), KEY = {};
for (const c of doc.callers) KEY[c.id] = c.scheme === 'brand' ? { 'x-mill-brand': c.credential } : { authorization: 'Tally ' + c.credential };
const A = 'f-aldous', B = 'f-brida', M = 'm-corb', R = 'r-ede', R2 = 'r-fenn';
const free = () => new Promise(r => { const s = http.createServer().listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => r(p)); }); });
const eq = (a, b, what) => { if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${what || ''} ${JSON.stringify(a)} is not ${JSON.stringify(b)}`); };
async function start(fault) {
  const port = await free(), clock = await free(), agent = new http.Agent({ keepAlive: true });
  const p = spawn(process.execPath, [path.join(__dirname, 'service.cjs'), '--port', port, '--clock-port', clock, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((ok, no) => { p.stdout.once('data', ok); p.once('exit', no); });
  const raw = (port, method, url, headers, body) => new Promise((ok, no) => {
    const rq = http.request({ port, host: '127.0.0.1', method, path: url, headers, agent }, rs => { let t = ''; rs.on('data', d => t += d); rs.on('end', () => ok({ s: rs.statusCode, h: rs.headers, b: t ? JSON.parse(t) : undefined })); });
    rq.on('error', no); rq.end(body);
  });
  const k = {
    call(who, method, url, body, h = {}) { const t = body === undefined ? undefined : JSON.stringify(body); return raw(port, method, (h.root ? '' : '/creek') + url, { ...(who ? KEY[who] : {}), ...(t ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(t) } : {}), ...(h.root ? {} : h) }, t); },
    clock: d => raw(clock, 'POST', '/', {}, JSON.stringify({ advance: d })),
    n: 0, news: [], status: () => 200,
    async ok(s, ...a) { const r = await k.call(...a); if (r.s !== s) throw new Error(`${a[1]} ${a[2]}: ${r.s} ${JSON.stringify(r.b)}`); return r.b; },
    stone: (o = {}) => k.ok(201, R, 'POST', '/stones', { name: 'Stone ' + ++k.n, pair: 'cullin', diameter_cm: 120, cost_pence: 900, ...o }),
    async turning() { const s = await k.stone(); await k.ok(200, M, 'POST', `/stones/${s.id}/engage`); return s; },
    grist: (s, o = {}, who = A, h = {}) => k.ok(201, who, 'POST', '/grists', { stone: s.id, corn: 'wheat', bushels: 10, ...o }, { 'mill-docket': 'd' + ++k.n, ...h }),
    async ground(o, who = A) { const s = await k.turning(), g = await k.grist(s, o, who); await k.ok(200, M, 'POST', `/grists/${g.id}/start`); return k.ok(200, M, 'POST', `/grists/${g.id}/finish`); },
    async due(o, who) { const g = await k.ground(o, who); return (await k.ok(200, M, 'GET', '/dues?grist=' + g.id)).rows[0]; },
    load: (g, o = {}) => k.call(A, 'POST', `/grists/${g.id}/deliveries`, { sacks: 1, to: { lane: 'Mill Lane', village: 'Eling' }, ...o }),
    tide: (o = {}) => k.call(M, 'POST', '/tides', { key: '20261128-a', high_at: '2026-11-28T06:00:00Z', low_at: '2026-11-28T12:10:00Z', height_cm: 500, ...o }),
    async hear(who, o = {}) {
      k.hook = http.createServer((q, s) => { let t = ''; q.on('data', d => t += d); q.on('end', () => { k.news.push({ h: q.headers, t, b: JSON.parse(t) }); s.writeHead(k.status()); s.end(); }); });
      await new Promise(r => k.hook.listen(0, '127.0.0.1', r));
      return k.ok(201, who, 'POST', '/criers', { url: `http://127.0.0.1:${k.hook.address().port}/`, ...o });
    },
    async wait(n = 1, ms = 400) { const end = Date.now() + ms; while (k.news.length < n && Date.now() < end) await new Promise(r => setTimeout(r, 5)); return k.news; },
    still: () => new Promise(r => setTimeout(r, 80)),
    stop() { agent.destroy(); if (k.hook) { k.hook.close(); k.hook.closeAllConnections(); } return new Promise(r => { p.removeAllListeners('exit'); p.once('exit', r); p.kill(); }); },
  };
  return k;
}
const st = async (k, s, ...a) => { const r = await k.call(...a); eq(r.s, s, a[1] + ' ' + a[2]); return r; };
const PROOF = {
  async p1(k) { const g = await k.ground(); await st(k, 200, A, 'POST', `/grists/${g.id}/collect`); },
  async p2(k) { await st(k, 200, null, 'GET', '/hours'); },
  async r1(k) { eq((await k.tide({ height_cm: 480 })).b.span, 'spring'); },
  async r2(k) { const g = await k.grist(await k.stone()); eq((await k.ok(200, A, 'PATCH', '/grists/' + g.id, { bushels: 20 }, { 'if-match': '*' })).toll, 40); },
  async r3(k) { await k.stone({ name: 'Old Tom' }); await st(k, 409, R, 'POST', '/stones', { name: 'Old Tom', pair: 'cullin', diameter_cm: 90 }); },
  async r4(k) { const s = await k.stone(); eq((await k.ok(200, R, 'GET', '/stones/' + s.id)).cost_pence, 900); eq('cost_pence' in (await k.ok(200, M, 'GET', '/stones/' + s.id)), false); },
  async r5(k) { await k.grist(await k.stone()); eq((await k.grist(await k.stone())).turn, 1); },
  async r7(k) { const g = await k.ground(); await k.clock('P15D'); await st(k, 409, A, 'DELETE', '/grists/' + g.id); },
  async r8(k) { const c = await k.hear(A); eq(typeof c.secret, 'string'); eq('secret' in (await k.ok(200, A, 'GET', '/criers/' + c.id)), false); },
  async r9(k) { const r = await k.tide({ low_at: '2026-11-28T05:00:00Z' }); eq([r.s, r.b.wrong?.[0].path], [422, 'low_at']); },
  async r10(k) { const s = await k.stone(), t = await k.stone(), g = await k.grist(s); await st(k, 200, A, 'PATCH', '/grists/' + g.id, { stone: s.id }, { 'if-match': '*' }); await st(k, 422, A, 'PATCH', '/grists/' + g.id, { stone: t.id }, { 'if-match': '*' }); },
  async r11(k) { const g = await k.grist(await k.stone(), { note: 'dry' }); eq(g.note, 'dry'); eq('note' in (await k.ok(200, A, 'PATCH', '/grists/' + g.id, { note: null }, { 'if-match': '*' })), false); },
  async r12(k) { const r = await k.load(await k.ground(), { to: { lane: 'x' } }); eq([r.s, r.b.trouble, r.b.wrong?.[0].path], [400, 'lacks_field', 'to.village']); },
  async r13(k) { const s = await k.turning(), g = await k.grist(s); await k.grist(s); await k.ok(200, M, 'POST', `/grists/${g.id}/start`); eq((await k.ok(200, M, 'GET', '/stones/' + s.id)).waiting, 1); },
  async s1(k) { const g = await k.ground(); await k.clock('P13DT23H'); eq((await k.ok(200, A, 'GET', '/grists/' + g.id)).stage, 'ground'); await k.clock('PT2H'); eq((await k.ok(200, A, 'GET', '/grists/' + g.id)).stage, 'spoiled'); },
  async s2(k) { const s = await k.turning(); await k.clock('P60DT1M'); const r = await k.ok(200, M, 'GET', '/stones/' + s.id); eq([r.face, r.gear], ['worn', 'lifted']); },
  async s3(k) { const g = await k.grist(await k.stone()); eq((await st(k, 409, M, 'POST', `/grists/${g.id}/start`)).b.trouble, 'stone_idle'); },
  async s4(k) { const g = await k.grist(await k.turning()); await k.ok(200, M, 'POST', `/grists/${g.id}/start`); eq((await st(k, 409, A, 'POST', `/grists/${g.id}/withdraw`)).b.trouble, 'too_late'); },
  async s5(k) { const g = await k.ground(); const r = await k.ok(200, A, 'GET', '/dues?grist=' + g.id); eq([r.total, r.rows[0]?.pence], [1, 20]); },
  async s6(k) { const s = await k.stone(); await k.ok(200, M, 'POST', `/stones/${s.id}/dress`); eq((await st(k, 409, M, 'POST', `/stones/${s.id}/engage`)).b.trouble, 'blunt_stone'); },
  async s7(k) { const d = await k.due(); await k.clock('P22D'); eq((await st(k, 200, A, 'POST', `/dues/${d.no}/pay`)).b.status, 'paid'); },
  async s8(k) { const d = (await k.load(await k.ground())).b; await k.clock('P2D'); await k.ok(200, M, 'POST', `/deliveries/${d.id}/depart`); await k.clock('P2D'); eq((await k.ok(200, A, 'GET', '/deliveries/' + d.id)).status, 'on_road'); await k.clock('P1DT1M'); eq((await k.ok(200, A, 'GET', '/deliveries/' + d.id)).status, 'lost'); },
  async s9(k) { const d = await k.due(); await k.clock('P21DT1M'); eq((await k.ok(200, A, 'GET', '/dues/' + d.no)).status, 'overdue'); },
  async e1(k) { const s = await k.stone(), a = await k.grist(s); await k.clock('PT1S'); const b = await k.grist(s); eq((await k.ok(200, A, 'GET', '/grists')).rows.map(x => x.id), [b.id, a.id]); },
  async e2(k) { const s = await k.stone(), a = await k.grist(s); await k.grist(s); await k.ok(200, A, 'POST', `/grists/${a.id}/withdraw`); eq((await k.ok(200, A, 'GET', '/grists?stage=queued,withdrawn')).total, 2); },
  async e3(k) { const s = await k.stone(); await k.grist(s); await k.grist(s, { bushels: 9 }); eq((await k.ok(200, A, 'GET', '/grists?at_least=10')).total, 1); },
  async e4(k) { const g = await k.grist(await k.stone()), r = await k.call(A, 'GET', '/grists/' + g.id); await st(k, 304, A, 'GET', '/grists/' + g.id, undefined, { 'if-none-match': r.h.etag }); },
  async e5(k) { const g = await k.grist(await k.stone()), r = await k.call(A, 'GET', '/grists/' + g.id); await st(k, 200, A, 'PATCH', '/grists/' + g.id, { bushels: 11 }, { 'if-match': r.h.etag }); await st(k, 412, A, 'PATCH', '/grists/' + g.id, { bushels: 12 }, { 'if-match': r.h.etag }); },
  async e6(k) { const s = await k.stone(), a = await k.grist(s, {}, A, { 'mill-docket': 'same' }), b = await k.grist(s, {}, A, { 'mill-docket': 'same' }); eq(a.id, b.id); },
  async e7(k) { eq((await k.tide()).s, 201); const r = await k.tide({ height_cm: 200 }); eq([r.s, r.b.height_cm], [200, 500]); },
  async e8(k) { const s = await k.stone(); const r = await st(k, 204, R, 'DELETE', '/stones/' + s.id); eq(r.b, undefined); },
  async e9(k) { await st(k, 200, A, 'GET', '/dues?status=owing'); await st(k, 400, A, 'GET', '/dues?colour=red'); },
  async e10(k) { const s = await k.stone(); await st(k, 200, M, 'HEAD', '/stones/' + s.id); },
  async e11(k) { await k.stone({ name: 'Great Bess' }); eq((await k.ok(200, M, 'GET', '/stones?find=bess')).total, 1); },
  async a1(k) { const s = await k.stone(); await k.grist(s); await k.grist(s, {}, B); eq((await k.ok(200, A, 'GET', '/grists')).total, 1); },
  async a2(k) { const d = await k.due(); eq(Object.keys(await k.ok(200, M, 'GET', '/dues/' + d.no)), ['no', 'grist', 'status']); },
  async a3(k) { eq((await st(k, 403, 'r-gale', 'POST', '/stones', { name: 'Bold', pair: 'cullin', diameter_cm: 90 })).b.trouble, 'lacks_grant'); },
  async a4(k) { const g = await k.grist(await k.stone()); await st(k, 404, B, 'GET', '/grists/' + g.id); },
  async a5(k) { const d = await k.due(); await st(k, 404, R2, 'POST', `/dues/${d.no}/waive`, { reason: 'a bad year' }); },
  async a6(k) { await st(k, 200, null, 'GET', '/tides'); await st(k, 401, null, 'GET', '/tides', undefined, { 'x-mill-brand': 'brand_nobody' }); },
  async a7(k) { const h = { authorization: KEY[R].authorization.replace('Tally', 'tally') }; await st(k, 200, null, 'GET', '/stones', undefined, h); },
  async a8(k) { const c = await k.hear(A); await st(k, 404, B, 'PATCH', '/criers/' + c.id, { enabled: false }); },
  async v1(k) { const c = await k.hear(A); await k.grist(await k.stone()); const [n] = await k.wait(); const [, t, w] = /^at=(\d+),wax=([0-9a-f]+)$/.exec(n.h['mill-seal']); eq(w, crypto.createHmac('sha256', c.secret).update(`${t}.${n.b.news}.${n.t}`).digest('hex')); },
  async v2(k) { await k.hear(A, { kinds: ['grist.changed'] }); const g = await k.grist(await k.stone()); await k.ok(200, A, 'PATCH', '/grists/' + g.id, { note: 'wet' }, { 'if-match': '*' }); await k.still(); await k.ok(200, A, 'PATCH', '/grists/' + g.id, { bushels: 12 }, { 'if-match': '*' }); await k.wait(); await k.still(); eq(k.news.map(n => n.b.load), [{ grist: g.id, was: 10, is: 12 }]); },
  async v3(k) { await k.hear(A, { kinds: ['due.*'] }); const g = await k.ground(); const [n] = await k.wait(); eq([n.b.kind, n.b.load.grist, n.b.load.payer], ['due.raised', g.id, A]); },
  async v4(k) { await k.hear(A, { kinds: ['due.settled'] }); const d = await k.due(); await k.ok(200, R, 'POST', `/dues/${d.no}/waive`, { reason: 'a bad year' }); await k.wait(); eq(k.news.map(n => n.b.load.status), ['waived']); },
  async v5(k) { k.status = () => 500; await k.hear(A, { kinds: ['grist.brought'] }); await k.grist(await k.stone()); await k.wait(1); await k.clock('PT11S'); await k.wait(2); await k.clock('PT2M1S'); await k.wait(3); await k.clock('PT20M1S'); await k.wait(4); await k.clock('PT9H'); await k.still(); eq(k.news.length, 4); eq(new Set(k.news.map(n => n.b.news)).size, 1); },
  async v6(k) { await k.hear(A, { kinds: ['due.nearing'] }); await k.due(); await k.clock('P17DT23H'); await k.still(); eq(k.news.length, 0); await k.clock('PT2H'); await k.wait(); eq(k.news.length, 1); },
  async v7(k) { await k.hear(B); const s = await k.stone(); await k.grist(s); await k.still(); const g = await k.grist(s, {}, B); await k.wait(); await k.still(); eq(k.news.map(n => n.b.load.id), [g.id]); },
  async x1(k) { const g = await k.grist(await k.stone()); await k.ok(200, A, 'POST', `/grists/${g.id}/withdraw`); await st(k, 409, A, 'POST', `/grists/${g.id}/withdraw`); },
  async x2(k) { await st(k, 403, A, 'POST', '/stones'); },
  async x3(k) { const r = await st(k, 422, R, 'POST', '/stones', { name: 'x', pair: 'cullin', diameter_cm: 90 }); eq(r.b.wrong[0].path, 'name'); },
  async x4(k) { eq((await st(k, 404, M, 'GET', '/wheels')).b.trouble, 'no_road'); },
  async l1(k) { const s = await k.stone(); for (let i = 0; i < 25; i++) await k.grist(s); for (let i = 0; i < 20; i++) await k.grist(s, {}, B); eq((await k.ok(200, M, 'GET', '/grists?take=90')).rows.length, 40); },
  async l2(k) { const g = await k.ground({ bushels: 60 }); for (let i = 0; i < 30; i++) eq((await k.load(g)).s, 201); eq((await k.load(g)).s, 403); },
  async l3(k) { const b = { name: 'Wide', pair: 'cullin', diameter_cm: 90 }, n = JSON.stringify(b).length; const body = x => ({ ...b, name: 'Wide' + 'e'.repeat(x - n) }); eq((await k.call(R, 'POST', '/stones', body(8192))).s, 422); eq((await k.call(R, 'POST', '/stones', body(8193))).s, 413); },
  async l4(k) { for (let i = 0; i < 6; i++) await k.ok(201, A, 'POST', '/criers', { url: 'http://127.0.0.1:9/' }); await st(k, 403, A, 'POST', '/criers', { url: 'http://127.0.0.1:9/' }); },
  async w1(k) { await k.grist(await k.stone()); const r = (await k.ok(200, A, 'GET', '/grists', undefined, { 'mill-edition': 'spring' })).rows[0]; eq([r.measures, r.bushels, r.fineness], [10, undefined, undefined]); },
  async w2(k) { const s = await k.ok(201, R, 'POST', '/stones', { name: 'French', pair: 'french_burr', diameter_cm: 90 }); const r = await k.call(M, 'GET', '/stones/' + s.id); eq([r.b.pair, r.h['mill-edition']], ['french_burr', 'neap']); },
  async w3(k) { const s = await k.stone(), r = await k.call(M, 'GET', '/stones/' + s.id, undefined, { 'mill-edition': 'spring' }); eq(r.h.sunset, 'Fri, 01 Jun 2029 00:00:00 GMT'); eq(r.h.deprecation, '@1780272000'); },
};
(async () => {
  const only = process.argv.slice(2); let differ = 0, all = 0; const t0 = Date.now();
  for (const { id } of doc.faults) {
    if (only.length && !only.includes(id)) continue; all++;
    const run = async fault => { const k = await start(fault); try { await PROOF[id](k); return null; } catch (e) { return String(e.message || e); } finally { await k.stop(); } };
    const sound = await run(), broken = await run(id);
    if (sound === null && broken !== null) { differ++; if (only.length) console.log(id, 'differs:', broken); } else console.log(id, sound !== null ? 'FAILS ON THE SOUND SERVICE: ' + sound : 'IS NOT SEEN');
  }
  console.log(`${differ} of ${all} faults differ, ${((Date.now() - t0) / 1000).toFixed(1)} s`); process.exit(differ === all ? 0 : 1);
})();
