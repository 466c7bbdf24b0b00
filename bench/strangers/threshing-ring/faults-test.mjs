// For each fault: a client that passes on the right service and fails on the faulty one.  node faults-test.mjs [id ...]
import http from 'node:http';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { FAULTS } from './faults.mjs';

const here = new URL('.', import.meta.url).pathname;
const K = { anna: 'ring.annaAAAA1111bbbb2222cccc', bert: 'ring.bertAAAA1111bbbb2222dddd', dolf: 'ring.dolfAAAA1111bbbb2222eeee', emil: 'ring.emilAAAA1111bbbb2222ffff', gust: 'ring.gustAAAA1111bbbb2222gggg', hedi: 'ring.hediAAAA1111bbbb2222hhhh', jutta: 'ring.juttaAAA1111bbbb2222iiii' };
const W = { cilli: 'hof-cilli:red-clover', frida: 'mec-frida:oil-can-7', ivo: 'vogt-ivo:ledger-1911' };
class Wrong extends Error {}
const ok = (c, say) => { if (!c) throw new Wrong(say); };
const eq = (a, b, say) => ok(JSON.stringify(a) === JSON.stringify(b), `${say ?? ''}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
const sleep = ms => new Promise(r => setTimeout(r, ms));

export async function start(fault) {
  const child = spawn(process.execPath, ['service.mjs', '--port', '0', '--clock-port', '0', ...(fault ? ['--fault', fault] : [])], { cwd: here });
  let text = '', err = '';
  child.stderr.on('data', d => { err += d; });
  const [port, door] = await new Promise((done, fail) => {
    child.stdout.on('data', d => { text += d; const m = [...text.matchAll(/127\.0\.0\.1:(\d+)/g)]; if (m.length >= 2) done(m.map(x => x[1])); });
    child.on('exit', c => fail(new Error('ended ' + c + err)));
  });
  const agent = new http.Agent({ keepAlive: true });
  const call = (who, method, path, { body, ed, headers = {}, raw } = {}) => new Promise((done, fail) => {
    const h = { ...headers };
    if (K[who]) h['Ring-Key'] = K[who];
    if (W[who]) h.Authorization = 'Basic ' + Buffer.from(W[who]).toString('base64');
    if (ed) h['Ring-Edition'] = ed;
    const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    if (text !== undefined) { h['Content-Type'] ??= 'application/json'; h['Content-Length'] = Buffer.byteLength(text); }
    const q = http.request({ port, host: '127.0.0.1', method, path: path.startsWith('!') ? path.slice(1) : '/ring' + path, headers: h, agent }, a => {
      let t = '';
      a.on('data', d => { t += d; });
      a.on('end', () => { let b; try { b = JSON.parse(t); } catch { } done({ status: a.statusCode, headers: a.headers, body: b, word: b?.jam?.word }); });
    });
    q.on('error', fail);
    q.end(text);
  });
  const clock = b => new Promise((done, fail) => {
    const q = http.request({ port: door, host: '127.0.0.1', method: b ? 'POST' : 'GET' }, a => { let t = ''; a.on('data', d => { t += d; }); a.on('end', () => done(Date.parse(JSON.parse(t).now))); });
    q.on('error', fail);
    q.end(b ? JSON.stringify(b) : undefined);
  });
  const must = async (status, ...a) => { const r = await call(...a); ok(r.status === status, `${a.slice(0, 3).join(' ')} is ${r.status} ${r.word ?? ''}, not ${status}`); return r; };
  const s = { call, must, clock, port, err: () => err, stop: () => { agent.destroy(); child.kill('SIGTERM'); } };
  s.farm = (code, o = {}) => must(201, 'hedi', 'PUT', '/farms/' + code, { body: { name: 'Farm ' + code, yard: { lane: 'Lower lane', bank: 'sunny' }, acres: 40, holder: 'hof-anna', ...o } }).then(r => r.body);
  s.machine = (o = {}, opt = {}) => must(201, 'hedi', 'POST', '/machines', { body: { kind: 'baler', name: 'Old ' + Math.random().toString(36).slice(2, 8), width: 250, home: 'oberhof', fee_cents: 900, ...o }, ...opt }).then(r => r.body);
  s.at = async h => new Date(await clock() + h * 3600000).toISOString();
  s.turnBody = async (h = 24, o = {}) => ({ farm: 'oberhof', starts_at: await s.at(h), ends_at: await s.at(h + 5), ...o });
  s.turn = async (m, h = 24, o = {}, who = 'anna') => (await must(201, who, 'POST', `/machines/${m}/turns`, { body: await s.turnBody(h, o) })).body;
  s.repair = (m, o = {}, who = 'anna') => must(201, who, 'POST', '/repairs', { body: { machine: m, fault: 'belt slips', ...o } }).then(r => r.body);
  s.base = async () => { await s.farm('oberhof'); return s.machine(); };
  s.done = async (m, h = 1) => { const t = await s.turn(m, h); await must(200, 'hedi', 'POST', `/turns/${t.id}/grant`); await must(200, 'anna', 'POST', `/turns/${t.id}/collect`); return t; };
  s.receiver = async () => {
    const got = [], r = { got, status: () => 204 };
    const srv = http.createServer((q, a) => { let t = ''; q.on('data', d => { t += d; }); q.on('end', () => { const e = JSON.parse(t); got.push({ ...e, headers: q.headers, text: t }); a.writeHead(r.status(e, got.length)); a.end(); }); });
    await new Promise(d => srv.listen(0, '127.0.0.1', d));
    r.url = `http://127.0.0.1:${srv.address().port}/in`;
    r.close = () => { srv.close(); srv.closeAllConnections(); };
    (s.rs ??= []).push(r);
    return r;
  };
  s.end = () => { for (const r of s.rs ?? []) r.close(); s.stop(); };
  return s;
}
const wait = async (f, ms = 1500) => { const end = Date.now() + ms; while (Date.now() < end) { if (f()) return true; await sleep(10); } return f(); };

const P = {
  async 'pu-location-base'(s) { const m = await s.base(); const r = await s.must(201, 'anna', 'POST', `/machines/${m.id}/turns`, { body: await s.turnBody() }); eq(r.headers.location, '/ring/turns/' + r.body.id, 'Location'); },
  async 'pu-sheet-base'(s) { const m = await s.base(), r = await s.repair(m.id); eq(r.sheet, 'https://rota.valley.example/ring/repairs/' + r.id, 'sheet'); },
  async 'pu-links-base'(s) { await s.base(); await s.machine(); const r = await s.must(200, 'anna', 'GET', '/machines?rows=1'); ok(r.headers.link.includes('</ring/machines?rows=1&from=2>; rel="next"'), r.headers.link); },
  async 'pu-successor-base'(s) { await s.base(); const r = await s.must(200, 'hedi', 'GET', '/farms/oberhof', { ed: 'second-cut' }); ok(r.headers.link.includes('</ring/farms/oberhof>; rel="successor-version"'), r.headers.link); },
  async 'pu-no-prefix'(s) { await s.must(200, null, 'GET', '/crops'); await s.must(404, null, 'GET', '!/crops'); },
  async 'pu-farmer-bring'(s) { const m = await s.base(), t = await s.done(m.id); await s.must(200, 'anna', 'POST', `/turns/${t.id}/bring`); },
  async 'pu-steward-refuse'(s) { const m = await s.base(), t = await s.turn(m.id); await s.must(200, 'hedi', 'POST', `/turns/${t.id}/refuse`, { body: { why: 'too wet' } }); },
  async 're-name-case'(s) { await s.farm('oberhof'); eq((await s.call('hedi', 'PUT', '/farms/niederhof', { body: { name: 'FARM OBERHOF', yard: { lane: 'x', bank: 'shady' }, acres: 3, holder: 'hof-bert' } })).word, 'already-there'); },
  async 're-hours-settled'(s) { const m = await s.base(), t = await s.done(m.id); await s.must(200, 'anna', 'POST', `/turns/${t.id}/bring`); eq((await s.call('anna', 'GET', '/machines/' + m.id)).body.hours_run, 4); await s.must(200, 'hedi', 'POST', `/turns/${t.id}/settle`); eq((await s.call('anna', 'GET', '/machines/' + m.id)).body.hours_run, 4, 'hours_run'); },
  async 're-open-claimed'(s) { const m = await s.base(), r = await s.repair(m.id); await s.must(200, 'emil', 'POST', `/repairs/${r.id}/claim`); eq((await s.call('anna', 'GET', '/machines/' + m.id)).body.open_repairs, 1, 'open_repairs'); },
  async 're-noop-writes'(s) { const m = await s.base(), t = await s.turn(m.id); await s.clock({ advance: 'PT1M' }); const r = await s.must(200, 'anna', 'PATCH', '/turns/' + t.id, { body: { hours: t.hours } }); eq(r.body.updated_at, t.updated_at, 'updated_at'); },
  async 're-plate-gap'(s) { await s.farm('oberhof'); const a = await s.machine({ name: 'Twin' }); await s.must(409, 'hedi', 'POST', '/machines', { body: { kind: 'drill', name: 'Twin', width: 300, home: 'oberhof', fee_cents: 1 } }); const b = await s.machine(); eq([a.plate, b.plate], ['PL-0001', 'PL-0002'], 'plates'); },
  async 're-number-all'(s) { const m = await s.base(), n = await s.machine(); await s.turn(m.id); eq((await s.turn(n.id)).number, 1, 'number'); },
  async 're-parts-order'(s) { const m = await s.base(), r = await s.repair(m.id, { parts: [{ position: 7, name: 'belt', cents: 5 }, { position: 2, name: 'pin', cents: 6 }] }); eq((await s.call('emil', 'GET', '/repairs/' + r.id)).body.parts.map(p => p.position), [2, 7], 'parts'); },
  async 'st-collect-early'(s) { const m = await s.base(), t = await s.turn(m.id, 2.5); await s.must(200, 'hedi', 'POST', `/turns/${t.id}/grant`); eq((await s.call('anna', 'POST', `/turns/${t.id}/collect`)).word, 'not-yet'); await s.clock({ advance: 'PT31M' }); await s.must(200, 'anna', 'POST', `/turns/${t.id}/collect`); },
  async 'st-condemn-mend'(s) { const m = await s.base(), r = await s.repair(m.id, { urgency: 'stopped' }); await s.must(200, 'emil', 'POST', `/repairs/${r.id}/claim`); eq((await s.call('emil', 'POST', `/repairs/${r.id}/fix`, { body: { runs: false } })).word, 'beyond_repair'); eq((await s.call('emil', 'GET', '/repairs/' + r.id)).body.state, 'condemned'); eq((await s.call('anna', 'GET', '/machines/' + m.id)).body.condition, 'broken', 'condition'); },
  async 'st-grant-due'(s) { const m = await s.base(); await s.clock({ advance: 'P91D' }); eq((await s.call('anna', 'GET', '/machines/' + m.id)).body.condition, 'due'); const t = await s.turn(m.id); eq((await s.call('hedi', 'POST', `/turns/${t.id}/grant`)).word, 'not_fit'); },
  async 'st-pass-due'(s) { const m = await s.base(); await s.clock({ advance: 'P91D' }); await s.must(201, 'emil', 'POST', `/machines/${m.id}/inspections`, { body: { verdict: 'fit' } }); eq((await s.call('anna', 'GET', '/machines/' + m.id)).body.condition, 'ready'); await s.clock({ advance: 'P91D' }); eq((await s.call('anna', 'GET', '/machines/' + m.id)).body.condition, 'due', 'condition'); },
  async 'st-patch-granted'(s) { const m = await s.base(), t = await s.turn(m.id); await s.must(200, 'hedi', 'POST', `/turns/${t.id}/grant`); eq((await s.call('anna', 'PATCH', '/turns/' + t.id, { body: { hours: 9 } })).word, 'wrong-stage'); },
  async 'st-release-since'(s) { const m = await s.base(), r = await s.repair(m.id); await s.clock({ advance: 'PT47H' }); await s.must(200, 'emil', 'POST', `/repairs/${r.id}/claim`); await s.clock({ advance: 'PT2H' }); eq((await s.call('emil', 'GET', '/repairs/' + r.id)).body.state, 'claimed', 'early'); await s.clock({ advance: 'PT47H' }); eq((await s.call('emil', 'GET', '/repairs/' + r.id)).body.state, 'open', 'late'); },
  async 'st-update-restarts'(s) { const m = await s.base(), t = await s.turn(m.id, 200); await s.clock({ advance: 'PT48H' }); await s.must(200, 'anna', 'PATCH', '/turns/' + t.id, { body: { hours: 5 } }); await s.clock({ advance: 'PT25H' }); eq((await s.call('anna', 'GET', '/turns/' + t.id)).body.state, 'lapsed', 'state'); },
  async 'en-before-edge'(s) { const m = await s.base(), t = await s.turn(m.id); eq((await s.must(200, 'anna', 'GET', '/turns?before=' + t.starts_at)).body.all, 0, 'rows'); },
  async 'en-once-body'(s) { const m = await s.base(), b = await s.turnBody(), h = { 'Ring-Once': 'k1' }; await s.must(201, 'anna', 'POST', `/machines/${m.id}/turns`, { body: b, headers: h }); eq((await s.call('anna', 'POST', `/machines/${m.id}/turns`, { body: { ...b, hours: 7 }, headers: h })).word, 'once-already'); },
  async 'en-once-secret'(s) { const h = { 'Ring-Once': 'k2' }, b = { url: 'http://127.0.0.1:9/x' }; const a = await s.must(201, 'anna', 'POST', '/hooks', { body: b, headers: h }); ok(a.body.secret, 'no secret at all'); const c = await s.must(201, 'anna', 'POST', '/hooks', { body: b, headers: h }); eq([c.body.id, c.body.secret], [a.body.id, undefined], 'replayed'); },
  async 'en-parent-body'(s) { const m = await s.base(), n = await s.machine(); eq((await s.call('anna', 'POST', `/machines/${m.id}/turns`, { body: await s.turnBody(24, { machine: n.id }) })).word, 'misfit'); },
  async 'en-weak-match'(s) { await s.farm('oberhof'); const tag = (await s.call('hedi', 'GET', '/farms/oberhof')).headers.etag; eq((await s.call('hedi', 'PATCH', '/farms/oberhof', { body: { acres: 41 }, headers: { 'If-Match': 'W/' + tag } })).word, 'stale-tag'); await s.must(200, 'hedi', 'PATCH', '/farms/oberhof', { body: { acres: 41 }, headers: { 'If-Match': tag } }); },
  async 'en-way-order'(s) { const m = await s.base(), n = await s.machine(); eq((await s.must(200, 'anna', 'GET', '/machines?way=desc')).body.sheaves.map(x => x.plate), [n.plate, m.plate], 'order'); },
  async 'en-search-any'(s) { await s.farm('oberhof'); await s.machine({ name: 'Blue thresher' }); await s.machine({ name: 'Blue baler' }); eq((await s.must(200, 'anna', 'GET', '/machines?q=blue+baler')).body.all, 1, 'rows'); },
  async 'au-collect-scope'(s) { const m = await s.base(), t = await s.turn(m.id, 1); await s.must(200, 'hedi', 'POST', `/turns/${t.id}/grant`); eq((await s.call('dolf', 'POST', `/turns/${t.id}/collect`)).word, 'no-ticket'); },
  async 'au-fields-list'(s) { const m = await s.base(); await s.repair(m.id); eq(Object.keys((await s.must(200, 'bert', 'GET', '/repairs')).body.sheaves[0]), ['id', 'machine', 'urgency', 'state'], 'fields'); },
  async 'au-holder-acts'(s) { // the farm changes hands while a turn waits: its new holder reads the turn and may not act on it
    const m = await s.base(), t = await s.turn(m.id);
    eq((await s.call('bert', 'POST', `/turns/${t.id}/withdraw`)).word, 'not-found');
    await s.must(200, 'hedi', 'PATCH', '/farms/oberhof', { body: { holder: 'hof-bert' }, headers: { 'If-Match': '*' } });
    await s.must(200, 'bert', 'GET', '/turns/' + t.id);
    eq((await s.call('bert', 'POST', `/turns/${t.id}/withdraw`)).word, 'not-yours'); },
  async 'au-list-farm'(s) { const m = await s.base(); await s.turn(m.id); eq((await s.must(200, 'bert', 'GET', '/turns?farm=oberhof')).body.all, 0, 'rows'); },
  async 'au-phone-list'(s) { await s.farm('oberhof', { phone: '0660 1234' }); eq((await s.must(200, 'emil', 'GET', '/farms')).body.sheaves[0].phone, undefined, 'phone'); eq((await s.must(200, 'anna', 'GET', '/farms')).body.sheaves[0].phone, '0660 1234'); },
  async 'au-two-callers'(s) { eq((await s.call('hedi', 'GET', '/farms', { headers: { Authorization: 'Basic ' + Buffer.from(W.frida).toString('base64') } })).word, 'stranger'); await s.must(200, 'hedi', 'GET', '/farms'); },
  async 'ev-retry-id'(s) { const m = await s.base(), r = await s.receiver(); r.status = (e, n) => n === 1 ? 500 : 204; const h = (await s.must(201, 'anna', 'POST', '/hooks', { body: { url: r.url, kinds: ['turn.*'] } })).body; await s.turn(m.id); ok(await wait(() => r.got.length === 1), 'no first try'); const [, at, seal] = /^at=(\d+);seal=([0-9a-f]{64})$/.exec(r.got[0].headers['ring-seal']); eq(seal, createHmac('sha256', h.secret).update(`${r.got[0].ref}|${at}|${r.got[0].text}`).digest('hex'), 'seal'); await sleep(50); await s.clock({ advance: 'PT25S' }); ok(await wait(() => r.got.length === 2), 'no second try'); eq(r.got[1].ref, r.got[0].ref, 'ref'); },
  async 'ev-forfeit-twice'(s) { const m = await s.base(), t = await s.turn(m.id, 10); await s.must(200, 'hedi', 'POST', `/turns/${t.id}/grant`); await s.clock({ advance: 'PT16H' }); const e = await s.must(200, 'hedi', 'GET', '/entries?kind=turn.ended'); eq(e.body.entries.map(x => [x.about, x.by, x.data.was, x.data.is]), [[String(t.id), 'clock', 'granted', 'lapsed']], 'entries'); },
  async 'ev-newest'(s) { const m = await s.base(), r = await s.receiver(); await s.must(201, 'emil', 'POST', '/hooks', { body: { url: r.url, kinds: ['repair.reported'] }, ed: 'first-cut' }); await s.repair(m.id, { urgency: 'stopped' }); ok(await wait(() => r.got.length), 'nothing came'); eq([r.got[0].load.trouble, r.got[0].load.urgency], ['belt slips', 'high'], 'load'); },
  async 'ev-order'(s) { const m = await s.base(), r = await s.receiver(); r.status = () => 500; await s.must(201, 'anna', 'POST', '/hooks', { body: { url: r.url, kinds: ['turn.*'] } }); const t = await s.turn(m.id); ok(await wait(() => r.got.length === 1), 'no first'); await s.must(200, 'anna', 'POST', `/turns/${t.id}/withdraw`); await sleep(150); eq(r.got.map(x => x.kind), ['turn.asked'], 'told'); r.status = () => 204; await s.clock({ advance: 'PT30S' }); ok(await wait(() => r.got.length === 3), 'not told later'); },
  async 'ev-priced-always'(s) { const m = await s.base(); await s.must(200, 'hedi', 'PATCH', '/machines/' + m.id, { body: { name: 'New name' } }); eq((await s.must(200, 'hedi', 'GET', '/entries?kind=machine.priced')).body.entries.length, 0, 'entries'); await s.must(200, 'hedi', 'PATCH', '/machines/' + m.id, { body: { fee_cents: 1200 } }); eq((await s.must(200, 'hedi', 'GET', '/entries?kind=machine.priced')).body.entries.map(e => e.data), [{ machine: m.id, was: 900, is: 1200 }]); },
  async 'ev-whole-repair'(s) { const m = await s.base(), r = await s.receiver(); await s.must(201, 'bert', 'POST', '/hooks', { body: { url: r.url, kinds: ['repair.*'] } }); await s.repair(m.id); ok(await wait(() => r.got.length), 'nothing came'); eq(Object.keys(r.got[0].load), ['id', 'machine', 'urgency', 'state'], 'load'); },
  async 'ev-soon-again'(s) { const m = await s.base(); await s.clock({ advance: 'P84D' }); eq((await s.must(200, 'hedi', 'GET', '/entries?kind=machine.due_soon')).body.entries.length, 1); await s.clock({ advance: 'PT1M' }); await s.must(200, 'hedi', 'PATCH', '/machines/' + m.id, { body: { name: 'Renamed' } }); await s.clock({ advance: 'PT1M' }); eq((await s.must(200, 'hedi', 'GET', '/entries?kind=machine.due_soon')).body.entries.length, 1, 'entries'); },
  async 'er-first-sent'(s) { await s.farm('oberhof'); const r = await s.must(422, 'hedi', 'POST', '/machines', { body: { kind: 'plough', width: 250, home: 'oberhof', fee_cents: 1 } }); eq([r.word, r.body.jam.says, r.body.snags.map(x => x.path)], ['misfit', 'kind does not fit', ['kind', 'name']]); },
  async 'er-dotted'(s) { const r = await s.must(422, 'hedi', 'PUT', '/farms/oberhof', { body: { name: 'Oberhof', yard: { lane: 'x', bank: 'north' }, acres: 1, holder: 'a' } }); eq(r.body.snags[0].path, 'yard.bank', 'path'); },
  async 'er-else-lost'(s) { const m = await s.base(), t = await s.done(m.id); eq((await s.call('anna', 'POST', `/turns/${t.id}/withdraw`)).word, 'too_late'); },
  async 'er-gone'(s) { const m = await s.base(), r = await s.repair(m.id); await s.must(204, 'hedi', 'DELETE', '/repairs/' + r.id); eq((await s.call('emil', 'GET', '/repairs/' + r.id)).word, 'carted-off'); await s.clock({ advance: 'P31D' }); eq((await s.call('emil', 'GET', '/repairs/' + r.id)).word, 'not-found'); },
  async 'er-order'(s) { eq((await s.call('anna', 'GET', '/entries?colour=red')).word, 'not-your-trade'); eq((await s.call('hedi', 'GET', '/entries?colour=red')).word, 'odd-question'); },
  async 'er-scope-code'(s) { const m = await s.base(); eq((await s.call('dolf', 'POST', `/machines/${m.id}/turns`, { body: {} })).word, 'no-ticket'); },
  async 'li-304'(s) { await s.farm('oberhof'); const a = await s.call('emil', 'GET', '/farms/oberhof'), b = await s.must(304, 'emil', 'GET', '/farms/oberhof', { headers: { 'If-None-Match': a.headers.etag } }); eq(b.headers['ring-left'], a.headers['ring-left'], 'left'); },
  async 'li-insp-user'(s) { const m = await s.base(), go = who => s.call(who, 'POST', `/machines/${m.id}/inspections`, { body: { verdict: 'fit' } }); for (let i = 0; i < 5; i++) eq((await go('emil')).status, 201); const r = await go('emil'); eq([r.status, r.word, r.headers['retry-after'] > 0], [429, 'slow-down', true]); eq((await go('frida')).status, 201, 'the other one'); },
  async 'li-mark-free'(s) { const m = await s.base(); for (let i = 0; i < 4; i++) await s.turn(m.id, 20 + i); const r = await s.must(200, 'hedi', 'GET', '/entries?take=2&kind=turn.asked'); await s.must(200, 'hedi', 'GET', '/entries?take=1&kind=turn.asked&mark=' + r.body.mark); eq((await s.call('hedi', 'GET', '/entries?take=2&mark=' + r.body.mark)).word, 'odd-leaf'); },
  async 'li-week-utc'(s) { // 23:30 UTC on a Sunday is 00:30 on Monday in Vienna
    await s.clock({ now: '2027-01-17T22:30:00Z' }); const m = await s.base();
    for (let i = 0; i < 25; i++) { const t = await s.turn(m.id, 24 + i); await s.must(200, 'anna', 'POST', `/turns/${t.id}/withdraw`); }
    const r = await s.call('anna', 'POST', `/machines/${m.id}/turns`, { body: await s.turnBody(80) }); eq(r.word, 'used-up'); ok(r.headers['retry-after'] <= 1800, 'Retry-After ' + r.headers['retry-after']);
    await s.clock({ now: '2027-01-17T23:05:00Z' }); await s.turn(m.id, 80); },
  async 'li-quota-refused'(s) { const m = await s.base(); for (let i = 0; i < 3; i++) eq((await s.call('anna', 'POST', `/machines/${m.id}/turns`, { body: await s.turnBody(-3) })).word, 'bygone'); for (let i = 0; i < 25; i++) { const t = await s.turn(m.id, 24 + i); await s.must(200, 'anna', 'POST', `/turns/${t.id}/withdraw`); } eq((await s.call('anna', 'POST', `/machines/${m.id}/turns`, { body: await s.turnBody(80) })).word, 'used-up'); },
  async 'li-rows-while'(s) { const m = await s.base(); for (let i = 0; i < 8; i++) { const t = await s.turn(m.id, 24 + i); if (i < 2) await s.must(200, 'anna', 'POST', `/turns/${t.id}/withdraw`); } await s.turn(m.id, 50); await s.turn(m.id, 51); eq((await s.call('anna', 'POST', `/machines/${m.id}/turns`, { body: await s.turnBody(52) })).word, 'used-up'); },
  async 'li-page-max'(s) { await s.must(200, 'anna', 'GET', '/machines?rows=40'); eq((await s.call('anna', 'GET', '/machines?rows=41')).word, 'odd-leaf'); },
  async 've-crop-param'(s) { await s.must(200, 'anna', 'GET', '/turns?crop=rye', { ed: 'second-cut' }); eq((await s.call('anna', 'GET', '/turns?crop=rye', { ed: 'first-cut' })).word, 'odd-question'); },
  async 've-urgency-filter'(s) { const m = await s.base(); await s.repair(m.id, { urgency: 'idle' }); const r = await s.must(200, 'emil', 'GET', '/repairs?urgency=low', { ed: 'second-cut' }); eq(r.body.sheaves.map(x => x.urgency), ['low'], 'rows'); },
  async 've-tag-edition'(s) { const m = await s.base(), t = await s.turn(m.id), a = await s.must(200, 'anna', 'GET', '/turns/' + t.id, { ed: 'second-cut' }); eq((await s.call('anna', 'PATCH', '/turns/' + t.id, { body: { hours: 3 }, headers: { 'If-Match': a.headers.etag } })).word, 'stale-tag'); await s.must(200, 'anna', 'PATCH', '/turns/' + t.id, { body: { hours: 3 }, headers: { 'If-Match': a.headers.etag }, ed: 'second-cut' }); },
  async 've-snag-name'(s) { const m = await s.base(), r = await s.must(422, 'anna', 'POST', '/repairs', { body: { machine: m.id }, ed: 'first-cut' }); eq([r.body.jam.says, r.body.snags[0].path], ['trouble is missing', 'trouble']); },
  async 've-refusal-quiet'(s) { const r = await s.must(404, 'hedi', 'GET', '/farms/nowhere', { ed: 'first-cut' }); eq([r.headers.deprecation, r.headers.sunset], ['@1740787200', 'Fri, 01 Oct 2027 00:00:00 GMT'], 'headers'); },
  async 've-sunset-edge'(s) { await s.clock({ now: '2027-09-30T23:59:00Z' }); await s.must(200, null, 'GET', '/crops', { ed: 'first-cut' }); await s.clock({ now: '2027-10-01T00:00:01Z' }); eq((await s.call(null, 'GET', '/crops', { ed: 'first-cut' })).word, 'old-cut'); await s.must(200, null, 'GET', '/crops', { ed: 'second-cut' }); },
};

export { ok, eq, wait, sleep };
const asked = process.argv[1] === new URL(import.meta.url).pathname;
const only = process.argv.slice(2);
let good = 0, bad = 0;
async function run(id, fault) {
  const s = await start(fault);
  try { await P[id](s); return s.err() ? 'stderr: ' + s.err().slice(0, 300) : null; } catch (e) { return e instanceof Wrong ? e.message : 'BROKE ' + (e.stack ?? e); } finally { s.end(); }
}
if (asked) for (const f of FAULTS) {
  if (only.length && !only.includes(f.id)) continue;
  if (!P[f.id]) { bad++; console.log('no proof', f.id); continue; }
  const right = await run(f.id), wrong = await run(f.id, f.id);
  if (right === null && wrong !== null && !wrong.startsWith('BROKE') && !wrong.startsWith('stderr')) { good++; console.log('proved ', f.id, ' ', wrong.slice(0, 110)); } else { bad++; console.log('NOT    ', f.id, '\n   right:', right, '\n   faulty:', wrong); }
}
if (asked) console.log(`${good} of ${good + bad} proved`);
if (asked) process.exit(bad ? 1 : 0);
