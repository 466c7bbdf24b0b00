'use strict';
// Trials: each passes on the right service and fails with its fault on. node faults-test.js [ID ...]
const http = require('node:http'), { spawn } = require('node:child_process'), assert = require('node:assert/strict'), crypto = require('node:crypto'), net = require('node:net');
const CALLERS = require('./stranger.json').callers;
const DIR = __dirname;
let base = 21000 + (process.pid % 900) * 20;
const agent = new http.Agent({ keepAlive: true });
function raw(port, method, path, headers, body) {
  return new Promise((ok, no) => {
    const r = http.request({ host: '127.0.0.1', port, method, path, headers, agent }, res => {
      const cs = []; res.on('data', c => cs.push(c)); res.on('end', () => { const t = Buffer.concat(cs).toString(); let j; try { j = JSON.parse(t); } catch { } ok({ status: res.statusCode, headers: res.headers, text: t, json: j, fault: j && j.fault }); });
    });
    r.on('error', no); r.end(body);
  });
}
const wait = ms => new Promise(r => setTimeout(r, ms));
class World {
  constructor(fault) { this.port = base++; this.clockPort = base++; this.fault = fault; this.n = 0; }
  async start() {
    const a = ['service.cjs', '--port', this.port, '--clock-port', this.clockPort]; if (this.fault) a.push('--fault', this.fault);
    this.child = spawn(process.execPath, a.map(String), { cwd: DIR, stdio: 'inherit' });
    for (let i = 0; i < 200; i++) { try { await raw(this.clockPort, 'GET', '/', {}); await raw(this.port, 'GET', '/', {}); return; } catch { await wait(20); } }
    throw new Error('did not start');
  }
  async stop() { this.child.kill(); if (this.sink) { this.sink.closeAllConnections(); this.sink.close(); } }
  key(who) { const c = CALLERS.find(c => c.id === who); if (!c) return {}; return c.scheme === 'spade' ? { Authorization: 'Spade ' + c.credential } : { 'X-Turf-Ticket': c.credential }; }
  async call(who, line, body, headers = {}) {
    const [method, path] = line.split(' '); const h = { ...this.key(who), ...headers };
    let b; if (body !== undefined) { b = typeof body === 'string' ? body : JSON.stringify(body); if (!h['Content-Type']) h['Content-Type'] = 'application/json'; h['Content-Length'] = Buffer.byteLength(b); }
    return raw(this.port, method, path.startsWith('/s1/') ? '/coop' + path : path.startsWith('//') ? path.slice(1) : '/coop/s2' + path, h, b);
  }
  async ok(who, line, body, headers) { const r = await this.call(who, line, body, headers); assert.ok(r.status < 300, `${line}: ${r.status} ${r.text}`); return r.json; }
  async no(status, fault, who, line, body, headers) { const r = await this.call(who, line, body, headers); assert.equal(r.status, status, `${line}: ${r.status} ${r.text}`); assert.equal(r.fault, fault); return r; }
  async move(advance) { const r = await raw(this.clockPort, 'POST', '/', {}, JSON.stringify({ advance })); assert.equal(r.status, 200); await wait(30); return r.json.now; }
  bank(o = {}, holder = 'ciaran') { this.n++; return this.ok('aoife', 'POST /banks', { townland: 'Derryadd', plot: 'A-' + this.n, holder, length_m: 100, depth_m: 2, ...o }); }
  async lot(o = {}, who = 'ciaran', bank) { bank = bank || await this.bank({}, who); return this.ok(who, `POST /banks/${bank.no}/lots`, { grade: 'TURF', label: 'Lot', volume_m3: 10, ...o }); }
  async stacked(o, who = 'ciaran', bank) { const l = await this.lot(o, who, bank); await this.ok(who, `POST /lots/${l.id}/foot`, { stooks: 4 }); return this.ok(who, `POST /lots/${l.id}/stack`); }
  async sold(o, who = 'ciaran', bank) { const l = await this.stacked(o, who, bank); await this.ok(who, `POST /lots/${l.id}/sell`, { buyer: 'Nora' }, { 'X-Turn': 't' + (++this.n) }); return l; }
  run(lot, o = {}, who = 'fiona') { return this.ok(who, 'POST /runs', { lot: lot.id, to: { name: 'Nora', road: 'Bog Road' }, due_on: '2027-06-01', ...o }); }
  check(lot, pct, o = {}) { return this.ok('aoife', `POST /lots/${lot.id}/checks`, { moisture_pct: pct, taken_on: '2027-05-01', ...o }); }
  async hears(who, events, ver = '') {
    if (!this.sink) {
      this.got = []; this.status = 200;
      this.sink = http.createServer((q, s) => { const cs = []; q.on('data', c => cs.push(c)); q.on('end', () => { const text = Buffer.concat(cs).toString(); this.got.push({ path: q.url, headers: q.headers, text, json: JSON.parse(text) }); s.writeHead(this.status); s.end(); }); });
      this.sinkPort = base++; await new Promise(r => this.sink.listen(this.sinkPort, '127.0.0.1', r));
    }
    return this.ok(who, `POST ${ver}/hooks`, { url: `http://127.0.0.1:${this.sinkPort}/${who}`, ...(events ? { events } : {}) });
  }
  async told(n) { for (let i = 0; i < 40 && this.got.length < n; i++) await wait(10); await wait(25); return this.got; }
}
const eq = assert.equal, deep = assert.deepEqual;
const T = {
  // purpose
  'checks-off-base': async w => { const l = await w.lot(), c = await w.check(l, 20); eq((await w.ok('aoife', 'GET /checks/' + c.id)).id, c.id); },
  'no-withdrawing': async w => { const l = await w.lot(); eq((await w.ok('ciaran', `POST /lots/${l.id}/withdraw`)).stage, 'withdrawn'); },
  'hauliers-hear-nothing': async w => { await w.ok('fiona', 'POST /hooks', { url: 'http://127.0.0.1:9/x' }); },
  'grades-stay': async w => { await w.ok('aoife', 'PUT /grades/OLD', { name: 'Old', price_cents: 100 }); const r = await w.call('aoife', 'DELETE /grades/OLD'); eq(r.status, 204); eq((await w.call('aoife', 'GET /grades/OLD')).status, 404); },
  // resources
  'tally-over-all': async w => { eq((await w.lot()).tally, 1); const b = await w.bank(); eq((await w.lot({}, 'ciaran', b)).tally, 1); eq((await w.lot({}, 'ciaran', b)).tally, 2); },
  'default-at-change': async w => { await w.ok('aoife', 'PUT /grades/AB', { name: 'Ab', price_cents: 100, wettest_pct: 20 }); eq((await w.ok('aoife', 'PUT /grades/AB', { name: 'Abc', price_cents: 100 })).wettest_pct, 35); },
  'rot-untouched': async w => { const l = await w.lot(); await w.move('P22D'); const r = await w.ok('ciaran', 'GET /lots/' + l.id); eq(r.stage, 'spoiled'); assert.ok(r.touched_at > l.touched_at); },
  'rule-at-update': async w => { const b = await w.bank({ length_m: 3 }), t = await w.call('aoife', 'GET /banks/' + b.no); const r = await w.no(422, 'unsound', 'aoife', 'PATCH /banks/' + b.no, { depth_m: 4 }, { 'If-Match': t.headers.etag }); eq(r.json.spots[0].path, '/depth_m'); },
  'secret-again': async w => { const h = await w.ok('fiona', 'POST /hooks', { url: 'http://127.0.0.1:9/x' }); assert.match(h.secret, /^seal_[A-Za-z0-9]{40}$/); eq((await w.ok('fiona', 'GET /hooks/' + h.id)).secret, undefined); },
  'second-run': async w => { const l = await w.sold(), r = await w.run(l); const again = { lot: l.id, to: { name: 'N', road: 'R' }, due_on: '2027-06-01' }; await w.no(409, 'taken', 'garrett', 'POST /runs', again); await w.ok('fiona', `POST /runs/${r.id}/load`); await w.no(409, 'taken', 'garrett', 'POST /runs', again); },
  'passed-below': async w => { const l = await w.lot(); eq((await w.check(l, 35)).passed, true); eq((await w.check(l, 35.1)).passed, false); },
  'label-by-units': async w => { const l = await w.lot({ label: '🔥'.repeat(40) }); eq(l.label.length, 80); },
  'held-not-open': async w => { const b = await w.bank(), l = await w.stacked({}, 'ciaran', b); await w.ok('ciaran', `POST /lots/${l.id}/hold`, { buyer: 'Nora' }); eq((await w.ok('aoife', 'GET /banks/' + b.no)).lots_open, 1); },
  // states
  'rot-a-day-early': async w => { const l = await w.lot(); await w.move('P20DT12H'); eq((await w.ok('ciaran', 'GET /lots/' + l.id)).stage, 'cut'); await w.move('PT13H'); eq((await w.ok('ciaran', 'GET /lots/' + l.id)).stage, 'spoiled'); },
  'withdraw-held': async w => { const l = await w.stacked(); await w.ok('ciaran', `POST /lots/${l.id}/hold`, { buyer: 'Nora' }); await w.no(409, 'too_late', 'ciaran', `POST /lots/${l.id}/withdraw`); },
  'loaded-missed': async w => { const l = await w.sold(), r = await w.run(l); await w.ok('fiona', `POST /runs/${r.id}/load`); await w.move('P2D'); eq((await w.ok('fiona', 'GET /runs/' + r.id)).leg, 'loaded'); },
  'exactly-ninety': async w => { const l = await w.sold(), r = await w.run(l); await w.ok('fiona', `POST /runs/${r.id}/load`); eq((await w.ok('fiona', `POST /runs/${r.id}/deliver`, { delivered_m3: 9 })).leg, 'delivered'); },
  'many-loads-unhauled': async w => { const l = await w.sold(), r = await w.run(l, { loads: 3 }); await w.ok('fiona', `POST /runs/${r.id}/load`); await w.ok('fiona', `POST /runs/${r.id}/deliver`, { delivered_m3: 10 }); eq((await w.ok('ciaran', 'GET /lots/' + l.id)).stage, 'hauled'); },
  'buyer-any-case': async w => { const l = await w.stacked(); await w.ok('ciaran', `POST /lots/${l.id}/hold`, { buyer: 'Nora' }); await w.no(409, 'held_for_another', 'ciaran', `POST /lots/${l.id}/sell`, { buyer: 'nora' }, { 'X-Turn': 'a' }); await w.ok('ciaran', `POST /lots/${l.id}/sell`, { buyer: 'Nora' }, { 'X-Turn': 'b' }); },
  'last-check-counts': async w => { const l = await w.lot(); await w.ok('ciaran', `POST /lots/${l.id}/foot`, { stooks: 1 }); await w.check(l, 80); await w.check(l, 10); await w.no(409, 'too_wet', 'ciaran', `POST /lots/${l.id}/stack`); },
  // endpoints
  'townland-by-case': async w => { await w.bank({ townland: 'Clonsast' }); eq((await w.ok('aoife', 'GET /banks?townland=clonSAST')).all, 1); eq((await w.ok('aoife', 'GET /banks?townland=clonsas')).all, 0); },
  'first-stage-only': async w => { const b = await w.bank(); await w.lot({}, 'ciaran', b); const l = await w.lot({}, 'ciaran', b); await w.ok('ciaran', `POST /lots/${l.id}/foot`, { stooks: 1 }); eq((await w.ok('ciaran', 'GET /lots?stage=cut,footed')).all, 2); eq((await w.ok('ciaran', 'GET /lots?stage=footed%2Csold')).all, 1); },
  'turn-of-another-body': async w => { const b = await w.bank(), p = `POST /banks/${b.no}/lots`, h = { 'X-Turn': 'x' }; const one = { grade: 'TURF', label: 'One', volume_m3: 1 }; const a = await w.ok('ciaran', p, one, h); deep(await w.ok('ciaran', p, one, h), a); await w.no(422, 'turn_reused', 'ciaran', p, { ...one, label: 'Two' }, h); },
  'delete-blindly': async w => { const b = await w.bank(); await w.no(412, 'stale', 'aoife', 'DELETE /banks/' + b.no, undefined, { 'If-Match': '"old"' }); const t = (await w.call('aoife', 'GET /banks/' + b.no)).headers.etag; eq((await w.call('aoife', 'DELETE /banks/' + b.no, undefined, { 'If-Match': t })).status, 204); },
  'tag-blind-to-checks': async w => { const l = await w.lot(), a = (await w.call('ciaran', 'GET /lots/' + l.id)).headers.etag; eq((await w.call('ciaran', 'GET /lots/' + l.id, undefined, { 'If-None-Match': a })).status, 304); await w.check(l, 20); const b = (await w.call('ciaran', 'GET /lots/' + l.id, undefined, { 'If-None-Match': a })); eq(b.status, 200); assert.notEqual(a, b.headers.etag); },
  'way-needs-sort': async w => { const b = await w.bank(); const a = await w.lot({}, 'ciaran', b); await w.move('PT1M'); const c = await w.lot({}, 'ciaran', b); deep((await w.ok('ciaran', 'GET /lots')).rows.map(r => r.id), [c.id, a.id]); deep((await w.ok('ciaran', 'GET /lots?way=desc')).rows.map(r => r.id), [a.id, c.id]); deep((await w.ok('ciaran', 'GET /lots?sort=cut&way=desc')).rows.map(r => r.id), [c.id, a.id]); },
  'run-params-loose': async w => { await w.no(400, 'bad_query', 'fiona', 'GET /runs?colour=red'); },
  'search-label-only': async w => { const b = await w.bank(); await w.lot({ label: 'By the drain', note: 'Good black Turf' }, 'ciaran', b); eq((await w.ok('ciaran', 'GET /lots?q=drain+turf')).all, 1); eq((await w.ok('ciaran', 'GET /lots?q=drain+moss')).all, 0); },
  'note-null': async w => { const l = await w.lot({ note: 'x' }); const r = await w.ok('ciaran', 'PATCH /lots/' + l.id, { note: null }); assert.ok(!('note' in r)); },
  // authentication
  'checks-of-others': async w => { const l = await w.lot(); await w.check(l, 20); await w.no(404, 'not_here', 'deirdre', `GET /lots/${l.id}/checks`); eq((await w.ok('ciaran', `GET /lots/${l.id}/checks`)).checks.length, 1); },
  'cutter-sees-run': async w => { const l = await w.sold(), r = await w.run(l); deep(Object.keys(await w.ok('ciaran', 'GET /runs/' + r.id)).sort(), ['docket', 'due_on', 'id', 'leg', 'loads', 'lot']); },
  'held-to-hauliers': async w => { const l = await w.stacked(); await w.ok('ciaran', `POST /lots/${l.id}/hold`, { buyer: 'Nora' }); await w.no(404, 'not_here', 'fiona', 'GET /lots/' + l.id); },
  'bank-there-but-not-yours': async w => { const b = await w.bank(); await w.no(404, 'not_here', 'deirdre', 'GET /banks/' + b.no); },
  'two-callers': async w => { await w.no(401, 'bad_key', 'aoife', 'GET /banks', undefined, w.key('deirdre')); },
  'foreign-hooks': async w => { const h = await w.ok('aoife', 'POST /hooks', { url: 'http://127.0.0.1:9/x' }); await w.no(404, 'not_here', 'brian', 'PATCH /hooks/' + h.id, { live: false }); },
  'cutter-asks-haulier': async w => { await w.ok('aoife', 'GET /runs?haulier=fiona'); await w.no(400, 'bad_query', 'ciaran', 'GET /runs?haulier=fiona'); },
  'townland-through-unread': async w => { const b = await w.bank({ townland: 'Lullymore' }); await w.sold({}, 'ciaran', b); eq((await w.ok('fiona', 'GET /lots')).all, 1); eq((await w.ok('fiona', 'GET /lots?townland=Lullymore')).all, 0); eq((await w.ok('ciaran', 'GET /lots?townland=Lullymore')).all, 1); },
  // events
  'told-to-all-cutters': async w => { await w.hears('deirdre'); await w.hears('aoife'); const l = await w.lot(); await w.ok('ciaran', `POST /lots/${l.id}/foot`, { stooks: 1 }); const g = await w.told(2); deep(g.map(e => e.path + e.json.what), ['/aoifelot.cut', '/aoifelot.moved']); },
  'seal-without-id': async w => { const h = await w.hears('ciaran', ['lot.cut']); await w.lot(); const [e] = await w.told(1); const [, at, mac] = /^at=(\d+),mac=([0-9a-f]{64})$/.exec(e.headers['turf-seal']); eq(mac, crypto.createHmac('sha256', h.secret).update(`${e.json.no}.${at}.${e.text}`).digest('hex')); eq(e.headers['x-turf-event'], 'lot.cut'); },
  'release-untold': async w => { await w.hears('ciaran', ['lot.moved']); const l = await w.stacked(); await w.ok('ciaran', `POST /lots/${l.id}/hold`, { buyer: 'Nora' }); await w.told(3); await w.move('P8D'); const g = await w.told(4); eq(g.length, 4); deep(g[3].json.about, { lot: l.id, was: 'held', is: 'stacked' }); const r = await w.ok('ciaran', 'GET /lots/' + l.id); eq(r.held_for, undefined); eq(r.stage, 'stacked'); },
  'closed-again': async w => { await w.hears('ciaran', ['bank.*']); const b = await w.bank(); await w.ok('aoife', 'PATCH /banks/' + b.no, { closed: true }, { 'If-Match': '*' }); await w.ok('aoife', 'PATCH /banks/' + b.no, { warden_note: 'x' }, { 'If-Match': '*' }); eq((await w.told(2)).length, 1); },
  'new-id-each-try': async w => { await w.hears('ciaran', ['lot.cut']); w.status = 500; await w.lot(); await w.told(1); w.status = 200; await w.move('PT20S'); eq((await w.told(1)).length, 1); await w.move('PT30S'); const g = await w.told(2); eq(g.length, 2); eq(g[0].json.no, g[1].json.no); },
  'short-told': async w => { await w.hears('fiona', ['run.*']); const l = await w.sold(), r = await w.run(l); await w.ok('fiona', `POST /runs/${r.id}/load`); eq((await w.ok('fiona', `POST /runs/${r.id}/deliver`, { delivered_m3: 3 })).leg, 'short'); deep((await w.told(2)).map(e => e.json.what), ['run.planned']); },
  'remark-told': async w => { await w.hears('ciaran', ['check.wet']); const l = await w.lot(); await w.check(l, 80, { remark: 'Idle fellow' }); const g = await w.told(1); eq(g.length, 1); eq(g[0].json.about.remark, undefined); },
  // errors
  'missing-unnamed': async w => { const r = await w.no(404, 'not_here', 'aoife', 'GET /banks/999'); eq(r.headers['x-turf-fault'], 'not_here'); },
  'too-late-as-stage': async w => { const l = await w.sold(); await w.no(409, 'too_late', 'ciaran', `POST /lots/${l.id}/withdraw`); },
  'whole-bank': async w => { const b = await w.bank({ length_m: 4, depth_m: 1 }); const p = `POST /banks/${b.no}/lots`; eq((await w.ok('ciaran', p, { grade: 'TURF', label: 'All', volume_m3: 6 })).volume_m3, 6); await w.no(422, 'over_bank', 'ciaran', p, { grade: 'TURF', label: 'All', volume_m3: 6.1 }); },
  'body-before-query': async w => { await w.no(400, 'bad_query', 'aoife', 'POST /banks?x=1', 'x', { 'Content-Type': 'text/plain' }); await w.no(415, 'wrong_type', 'aoife', 'POST /banks', 'x', { 'Content-Type': 'text/plain' }); },
  'nested-place': async w => { const r = await w.no(422, 'unsound', 'fiona', 'POST /runs', { lot: 'x', to: { name: 'N', road: 'R', eircode: 'nope' }, due_on: '2027-01-01' }); eq(r.json.spots[0].path, '/to/eircode'); },
  // limits
  'one-hook-more': async w => { for (let i = 0; i < 12; i++) await w.no(422, 'lacking', 'brian', 'POST /hooks', {}); const r = await w.no(429, 'slow_down', 'brian', 'POST /hooks', {}); assert.ok(+r.headers['retry-after'] > 0); await w.move('PT1M'); await w.no(422, 'lacking', 'brian', 'POST /hooks', {}); },
  'body-of-eight': async w => { const b = (n) => JSON.stringify({ lot: 'x', note: 'y', pad: '' }).replace('""', '"' + 'p'.repeat(n) + '"'); const at = n => b(n - b(0).length); await w.no(413, 'too_big', 'fiona', 'POST /runs', at(6145)); await w.no(422, 'unsound', 'fiona', 'POST /runs', at(6144)); },
  'all-of-everybody': async w => { await w.lot(); await w.lot({}, 'deirdre'); eq((await w.ok('deirdre', 'GET /lots')).all, 1); },
  'refused-sales-count': async w => { const b = await w.bank(), l = await w.stacked({}, 'ciaran', b), c = await w.lot({}, 'ciaran', b); for (let i = 0; i < 25; i++) await w.no(409, 'not_for_sale', 'ciaran', `POST /lots/${c.id}/sell`, { buyer: 'N' }, { 'X-Turn': 'k' + i }); await w.ok('ciaran', `POST /lots/${l.id}/sell`, { buyer: 'N' }, { 'X-Turn': 'z' }); },
  'live-again': async w => { const hs = []; for (let i = 0; i < 4; i++) hs.push(await w.ok('fiona', 'POST /hooks', { url: 'http://127.0.0.1:9/x' })); await w.no(429, 'used_up', 'fiona', 'POST /hooks', { url: 'http://127.0.0.1:9/x' }); const off = await w.ok('fiona', 'POST /hooks', { url: 'http://127.0.0.1:9/x', live: false }); await w.no(429, 'used_up', 'fiona', 'PATCH /hooks/' + off.id, { live: true }); },
  'one-check-more': async w => { const l = await w.lot(); await w.no(416, 'bad_page', 'ciaran', `GET /lots/${l.id}/checks?count=21`); await w.ok('ciaran', `GET /lots/${l.id}/checks?count=20`); },
  // versioning
  'list-new-words': async w => { await w.stacked(); eq((await w.ok('ciaran', 'GET /s1/lots')).rows[0].stage, 'ricked'); },
  'hold-before-its-time': async w => { const l = await w.stacked(); await w.no(404, 'no_path', 'ciaran', `POST /s1/lots/${l.id}/hold`, { buyer: 'N' }); },
  'sunset-kept-quiet': async w => { const r = await w.no(404, 'not_here', 'aoife', 'GET /s1/banks/77'); eq(r.headers.sunset, 'Sat, 01 Mar 2031 00:00:00 GMT'); eq(r.headers.deprecation, '@1740787200'); },
  'told-in-newest': async w => { await w.hears('ciaran', ['lot.cut'], '/s1'); await w.lot(); const [e] = await w.told(1); eq(e.json.about.amount, 10); eq(e.json.about.volume_m3, undefined); },
  'price-cut-off': async w => { await w.ok('aoife', 'PUT /s1/grades/XY', { name: 'Xy', price: 1.15 }); eq((await w.ok('aoife', 'GET /grades/XY')).price_cents, 115); eq((await w.ok('aoife', 'GET /s1/grades/XY')).price, 1.15); },
};
module.exports = { World, T };
if (require.main === module) (async () => {
  const only = process.argv.slice(2), faults = require('./stranger.json').faults;
  let good = 0, bad = 0;
  for (const f of faults) assert.ok(T[f.id], 'no trial for ' + f.id);
  for (const id of Object.keys(T)) {
    assert.ok(faults.some(f => f.id === id), 'no fault ' + id);
    if (only.length && !only.includes(id)) continue;
    const outcome = [];
    for (const fault of ['', id]) {
      const w = new World(fault);
      try { await w.start(); await T[id](w); outcome.push('passes'); } catch (e) { outcome.push('fails: ' + String(e.message).split('\n')[0]); } finally { await w.stop(); }
    }
    const fine = outcome[0] === 'passes' && outcome[1] !== 'passes';
    fine ? good++ : bad++;
    if (!fine) console.log('NOT SO', id, '| off:', outcome[0], '| on:', outcome[1]);
  }
  console.log(`${good} as they should be, ${bad} not`);
  process.exit(bad ? 1 : 0);
})();
