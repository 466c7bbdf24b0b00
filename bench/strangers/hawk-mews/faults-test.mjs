// A trial for each fault: it passes on the right service and fails on the faulty one.  node faults-test.mjs [ID…]
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';

const here = new URL('.', import.meta.url).pathname;
const stranger = JSON.parse(readFileSync(here + 'stranger.json', 'utf8'));
const auth = Object.fromEntries(stranger.callers.map((c) => [c.id, c.scheme === 'ring' ? 'Ring ' + c.credential : 'Basic ' + Buffer.from(c.credential).toString('base64')]));
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const free = () => new Promise((go) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => go(port)); }); });

class Service {
  static async start(fault) {
    const s = new Service(); [s.port, s.clock] = [await free(), await free()];
    s.child = spawn(process.execPath, ['service.mjs', '--port', s.port, '--clock-port', s.clock, ...(fault ? ['--fault', fault] : [])], { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] });
    for (let i = 0; ; i++) try { await fetch(`http://127.0.0.1:${s.clock}/`); break; } catch (e) { if (i > 100) throw e; await pause(30); }
    return s;
  }
  stop() { this.receiver?.closeAllConnections(); this.receiver?.close(); this.child.kill(); return new Promise((go) => this.child.once('exit', go)); }
  async call(who, line, body, headers = {}) {
    const [method, path] = line.split(' ');
    const r = await fetch(`http://127.0.0.1:${this.port}/perch${path}`, { method, headers: { ...(who && { authorization: auth[who] ?? who }), ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }, body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) });
    const t = await r.text(); return { status: r.status, body: t ? JSON.parse(t) : undefined, code: t ? JSON.parse(t).mishap?.code : undefined, headers: r.headers };
  }
  async is(status, who, line, body, headers) { const r = await this.call(who, line, body, headers); assert.equal(r.status, status, `${line}: ${JSON.stringify(r.body)}`); return r; }
  async door(body) { const r = await fetch(`http://127.0.0.1:${this.clock}/`, body && { method: 'POST', body: JSON.stringify(body) }); assert.equal(r.status, 200); return (await r.json()).now; }
  later(d) { return this.door({ advance: d }); }
  async at(h) { return new Date(Date.parse(await this.door()) + h * 3600e3).toISOString(); }
  moor = async (code = 'longdown', more) => (await this.is(201, 'wim', 'POST /moors', { code, title: 'Moor ' + code, acres: 40, surface: 'heath', ...more })).body;
  n = 1000;
  hawk = async (who = 'ada', more) => (await this.is(201, who, 'POST /hawks', { name: 'Bird ' + ++this.n, ring_no: 'AB' + this.n, species: 'saker', weight_g: 900, ...more })).body;
  flight = async (hawk, more) => (await this.is(201, hawk.keeper, `POST /hawks/${hawk.id}/flights`, { moor: 'longdown', launch_by: await this.at(48), ...more })).body;
  async fit(who, more) { const h = await this.hawk(who, more); await this.is(200, 'wim', `POST /hawks/${h.id}/clearance`); return h; }
  launch = (f) => this.is(200, f.flyer, `POST /flights/${f.id}/launch`);
  land = (f, bag = 1) => this.is(200, f.flyer, `POST /flights/${f.id}/landing`, { bag });
  async get(who, path) { return (await this.is(200, who, 'GET ' + path)).body; }
  patch = async (who, h, body) => this.call(who, `PATCH /hawks/${h.id}`, body, { 'if-match': '*' });
  async hear(who, more, answer = () => 204) {
    this.heard = []; this.receiver = http.createServer((q, a) => { let t = ''; q.on('data', (d) => { t += d; }); q.on('end', () => { this.heard.push({ text: t, ...JSON.parse(t), headers: q.headers }); a.writeHead(answer(this.heard.length)); a.end(); }); });
    await new Promise((go) => this.receiver.listen(0, '127.0.0.1', go));
    return (await this.is(201, who, 'POST /listeners', { url: `http://127.0.0.1:${this.receiver.address().port}/in`, ...more })).body;
  }
  async told(...topics) { for (let i = 0; i < 12 && this.heard.length < topics.length; i++) await pause(25); await pause(60); assert.deepEqual(this.heard.map((h) => h.topic), topics); return this.heard; }
}
const tally = async (s, who, path, names, field = 'code') => assert.deepEqual((await s.get(who, path)).entries.map((e) => e[field]).sort(), [...names].sort());

const trials = {
  'p-base': async (s) => { const r = await s.is(201, 'ada', 'POST /hawks', { name: 'Ann', ring_no: 'AA0001', species: 'saker', weight_g: 900 }); assert.equal(r.headers.get('location'), '/perch/hawks/' + r.body.id); },
  'p-function': async (s) => { await s.moor(); const f = await s.flight(await s.hawk()); assert.equal((await s.is(200, 'ada', `POST /flights/${f.id}/scrub`)).body.phase, 'scrubbed'); },
  'p-users': async (s) => { await s.get('ines', '/hawks'); },
  'r-name': async (s) => { await s.hawk('ada', { name: 'x'.repeat(24) }); assert.equal((await s.call('ada', 'POST /hawks', { name: 'x'.repeat(25), ring_no: 'AA0002', species: 'saker', weight_g: 900 })).code, 'unfit'); },
  'r-imm': async (s) => { const h = await s.hawk(); assert.equal((await s.patch('ada', h, { ring_no: h.ring_no })).status, 200); assert.equal((await s.patch('ada', h, { ring_no: 'ZZ0009' })).code, 'unfit'); },
  'r-weight': async (s) => { await s.hawk('ada', { weight_g: 90 }); },
  'r-dossier': async (s) => { const h = await s.hawk(); await s.patch('wim', h, { dossier: 'good' }); await s.patch('ada', h, { dossier: 'best' }); assert.equal((await s.get('wim', '/hawks/' + h.id)).dossier, 'good'); assert.equal((await s.get('ada', '/hawks/' + h.id)).dossier, undefined); },
  'r-chip': async (s) => { assert.equal((await s.hawk('ada', { chip: '99887' })).chip, undefined); },
  'r-flown': async (s) => { await s.moor(); const h = await s.fit(); const f = await s.flight(h), g = await s.flight(h); await s.launch(f); await s.launch(g); await s.land(g); await s.later('PT6H'); assert.equal((await s.get('ada', '/hawks/' + h.id)).flown, 1); },
  'r-bagged': async (s) => { await s.moor(); const h = await s.fit(); for (const bag of [2, 3]) { const f = await s.flight(h); await s.launch(f); await s.land(f, bag); } assert.equal((await s.get('ada', '/hawks/' + h.id)).bagged, 5); },
  'r-minutes': async (s) => { await s.moor(); assert.equal((await s.flight(await s.hawk())).minutes, 30); },
  'r-keeper': async (s) => { await s.hawk('ada', { name: 'Kes' }); await s.hawk('bram', { name: 'Kes' }); assert.equal((await s.call('ada', 'POST /hawks', { name: 'Kes', ring_no: 'AA0002', species: 'saker', weight_g: 900 })).code, 'taken'); },
  'r-number': async (s) => { await s.moor(); await s.flight(await s.hawk()); const h = await s.hawk(); assert.equal((await s.flight(h)).number, 1); assert.equal((await s.flight(h)).number, 2); },
  'r-merlin': async (s) => { const h = await s.hawk('ada', { species: 'merlin', weight_g: 300 }); assert.equal((await s.patch('ada', h, { weight_g: 301 })).code, 'unfit'); },
  'r-once': async (s) => { const l = await s.hear('ada'); assert.equal(l.seal_key.length, 40); assert.equal((await s.get('ada', '/listeners/' + l.id)).seal_key, undefined); },
  'r-changed': async (s) => { const h = await s.hawk(); await s.later('PT1H'); const c = (await s.is(200, 'wim', `POST /hawks/${h.id}/clearance`)).body; assert.ok(c.changed_at > h.changed_at); },
  'r-held': async (s) => { await s.moor(); const f = await s.flight(await s.hawk()); await s.is(200, 'ada', `POST /flights/${f.id}/scrub`); assert.equal((await s.call('wim', 'DELETE /moors/longdown')).code, 'held'); },
  's-emerge': async (s) => { const h = await s.hawk(); assert.equal((await s.is(200, 'ada', `POST /hawks/${h.id}/moult`, { weeks: 3 })).body.moult_weeks, 3); await s.later('P20D'); assert.equal((await s.get('ada', '/hawks/' + h.id)).phase, 'moulting'); await s.later('P1DT1M'); assert.equal((await s.get('ada', '/hawks/' + h.id)).phase, 'fit'); },
  's-then': async (s) => { await s.moor(); const h = await s.hawk(); const f = await s.flight(h); await s.is(200, 'ada', `POST /hawks/${h.id}/departure`); assert.equal((await s.get('ada', '/flights/' + f.id)).phase, 'scrubbed'); },
  's-thin': async (s) => { const h = await s.hawk('ada', { weight_g: 120 }), g = await s.hawk('ada', { weight_g: 119 }); await s.is(200, 'ada', `POST /hawks/${h.id}/moult`, { weeks: 3 }); assert.equal((await s.call('ada', `POST /hawks/${g.id}/moult`, { weeks: 3 })).code, 'too_thin'); },
  's-fit': async (s) => { await s.moor(); const f = await s.flight(await s.hawk()); assert.equal((await s.call('ada', `POST /flights/${f.id}/launch`)).code, 'hawk_not_fit'); },
  's-land': async (s) => { await s.moor(); const f = await s.flight(await s.fit()); await s.launch(f); await s.later('PT6H'); assert.equal((await s.get('ada', '/flights/' + f.id)).phase, 'strayed'); await s.land(f); },
  's-lapse': async (s) => { await s.moor(); const f = await s.flight(await s.hawk()); await s.is(200, 'ada', 'PATCH /flights/' + f.id, { launch_by: await s.at(96) }); await s.later('PT50H'); assert.equal((await s.get('ada', '/flights/' + f.id)).phase, 'booked'); await s.later('PT50H'); assert.equal((await s.get('ada', '/flights/' + f.id)).phase, 'scrubbed'); },
  's-scrub': async (s) => { await s.moor(); const f = await s.flight(await s.fit()); await s.launch(f); await s.later('PT6H'); assert.equal((await s.call('ada', `POST /flights/${f.id}/scrub`)).code, 'too_late'); },
  's-delete': async (s) => { const h = await s.fit(); assert.equal((await s.call('ada', 'DELETE /hawks/' + h.id)).code, 'wrong_phase'); await s.is(204, 'ada', 'DELETE /hawks/' + (await s.hawk()).id); },
  'e-split': async (s) => { await s.moor('aa'); await s.moor('bb', { surface: 'fell' }); await s.moor('cc', { surface: 'marsh' }); await tally(s, null, '/moors?surface=heath,fell', ['aa', 'bb']); },
  'e-open': async (s) => { await s.moor('aa'); await s.moor('bb', { open: false }); await tally(s, null, '/moors?open=false', ['bb']); await tally(s, null, '/moors?open=true', ['aa']); },
  'e-find': async (s) => { await s.hawk('ada', { name: 'Kes', ring_no: 'QX1234' }); await s.hawk(); await tally(s, 'ada', '/hawks?find=kes%20qx12', ['Kes'], 'name'); },
  'e-from': async (s) => { await s.moor(); const f = await s.flight(await s.hawk()); await tally(s, 'ada', '/flights?from=' + f.launch_by, [f.id], 'id'); await tally(s, 'ada', '/flights?until=' + f.launch_by, [], 'id'); },
  'e-ifmatch': async (s) => { const h = await s.hawk(); assert.equal((await s.call('ada', 'PATCH /hawks/' + h.id, { weight_g: 800 })).code, 'tag_wanted'); const t = (await s.call('ada', 'GET /hawks/' + h.id)).headers.get('etag'); await s.is(200, 'ada', 'PATCH /hawks/' + h.id, { weight_g: 800 }, { 'if-match': t }); await s.is(412, 'ada', 'PATCH /hawks/' + h.id, { weight_g: 801 }, { 'if-match': t }); },
  'e-304': async (s) => { const h = await s.hawk(); const t = (await s.call('ada', 'GET /hawks/' + h.id)).headers.get('etag'); await s.is(304, 'ada', 'GET /hawks/' + h.id, undefined, { 'if-none-match': t }); },
  'e-keys': async (s) => { const h = { name: 'Kes', ring_no: 'QX1234', species: 'saker', weight_g: 900 }, k = { 'repeat-key': 'k1' }; const a = await s.is(201, 'ada', 'POST /hawks', h, k); assert.equal((await s.is(201, 'ada', 'POST /hawks', h, k)).body.id, a.body.id); await s.is(422, 'ada', 'POST /hawks', { ...h, name: 'Kit' }, k); await s.is(409, 'bram', 'POST /hawks', h, k); },
  'e-location': async (s) => { await s.moor(); const h = await s.hawk(); const r = await s.is(201, 'ada', `POST /hawks/${h.id}/flights`, { moor: 'longdown', launch_by: await s.at(5) }); assert.equal(r.headers.get('location'), '/perch/flights/' + r.body.id); },
  'e-roster': async (s) => { await s.moor(); const h = await s.hawk(); await s.flight(h); await s.flight(h); const r = await s.get('ada', `/hawks/${h.id}/flights`); assert.deepEqual([r.tally, r.more, ...r.entries.map((e) => e.number)], [2, false, 2, 1]); },
  'e-replace': async (s) => { const m = await s.moor('aa', { lowest_c: -3.5, contact: 'a@b.example', open: false }); assert.equal(m.lowest_c, -3.5); const r = await s.is(200, 'wanda', 'PUT /moors/aa', { title: 'Other', acres: 3, surface: 'fell' }); assert.deepEqual(r.body, { code: 'aa', title: 'Other', acres: 3, surface: 'fell', open: true, aloft: 0 }); },
  'a-depart': async (s) => { assert.equal((await s.call('dirk', 'POST /hawks/hk-0000000000/departure')).code, 'scope_lacking'); },
  'a-air': async (s) => { assert.equal((await s.call('dirk', 'POST /flights/2b1e0c6e-8f7c-4b7a-9d38-000000000000/launch')).code, 'scope_lacking'); },
  'a-booked': async (s) => { await s.moor(); const f = await s.flight(await s.hawk()); await s.is(404, 'ines', 'GET /flights/' + f.id); await s.is(200, 'ada', `POST /flights/${f.id}/scrub`); await s.is(200, 'ines', 'GET /flights/' + f.id); },
  'a-missing': async (s) => { const h = await s.hawk(); await s.is(404, 'bram', 'GET /hawks/' + h.id); const seen = (await s.is(200, 'ivo', 'GET /hawks/' + h.id)).body; assert.deepEqual(Object.keys(seen), ['id', 'keeper', 'ring_no', 'species', 'phase']); },
  'a-public': async (s) => { await s.get(null, '/moors'); const r = await s.is(401, 'Ring mws.wrong', 'GET /moors'); assert.match(r.headers.get('www-authenticate'), /Ring realm="Hawk Mews".*Basic realm/); },
  'a-listener': async (s) => { const l = await s.hear('ada'); await s.is(404, 'bram', 'DELETE /listeners/' + l.id); await s.is(204, 'ada', 'DELETE /listeners/' + l.id); },
  'v-weighed': async (s) => { const h = await s.hawk(); await s.hear('ada', { topics: ['hawk.weighed'] }); await s.patch('ada', h, { remarks: 'calm' }); await s.patch('ada', h, { weight_g: 880 }); const [e] = await s.told('hawk.weighed'); assert.deepEqual(e.about, { hawk: h.id, grams_before: 900, grams_now: 880 }); },
  'v-lapse': async (s) => { await s.moor(); const f = await s.flight(await s.hawk()); await s.hear('ada', { topics: ['flight.ended', 'flight.soon'] }); await s.later('P3D'); assert.equal((await s.told('flight.soon', 'flight.ended'))[1].about.id, f.id); },
  'v-signs': async (s) => { const l = await s.hear('ada'); await s.hawk(); const [e] = await s.told('hawk.lodged'); const [, at, mac] = /^at=(\d+),mac=([0-9a-f]{64})$/.exec(e.headers['mews-seal']); assert.equal(mac, createHmac('sha256', l.seal_key).update(`${e.ref}.${at}.${e.text}`).digest('hex')); assert.equal(e.headers['mews-topic'], 'hawk.lodged'); },
  'v-off': async (s) => { const l = await s.hear('ada'); await s.is(200, 'ada', 'PATCH /listeners/' + l.id, { on: false }); await s.hawk(); await s.told(); await s.is(200, 'ada', 'PATCH /listeners/' + l.id, { on: true }); await s.hawk(); await s.told('hawk.lodged'); },
  'v-twice': async (s) => { await s.moor(); const h = await s.hawk(); await s.hear('wim'); await s.flight(h); await s.told('flight.booked'); },
  'v-star': async (s) => { const h = await s.hawk(); await s.hear('ada', { topics: ['hawk.*'] }); await s.hawk('bram'); await s.moor(); await s.is(204, 'ada', 'DELETE /hawks/' + h.id); assert.equal((await s.told('hawk.left'))[0].about, h.id); },
  'v-newid': async (s) => { const l = await s.hear('ada', {}, (n) => (n < 5 ? 500 : 204)); await s.hawk(); await s.told('hawk.lodged'); await s.later('PT10S'); const [a, b] = await s.told('hawk.lodged', 'hawk.lodged'); assert.equal(a.ref, b.ref); await s.later('PT2M'); await s.told(...Array(3).fill('hawk.lodged')); await s.later('PT1H'); await s.told(...Array(4).fill('hawk.lodged')); assert.equal((await s.get('ada', '/listeners/' + l.id)).on, false); },
  'x-lacking': async (s) => { const r = await s.is(422, 'ada', 'POST /hawks', { name: 'Kes', species: 'saker', weight_g: 900 }); assert.deepEqual([r.code, r.body.mishap.says], ['lacking', 'ring_no is lacking']); },
  'x-path': async (s) => { const r = await s.is(422, 'ada', 'POST /hawks?edition=e1', { name: 'Kes', ring_no: 'QX1234', species: 'saker', grams: 9 }); assert.equal(r.body.mishap.spots[0].path, '/grams'); assert.equal(r.body.mishap.trace, r.headers.get('mews-trace')); },
  'x-galeup': async (s) => { await s.moor(); const f = await s.flight(await s.hawk(), { wind_kn: 28 }); assert.equal((await s.call('ada', 'PATCH /flights/' + f.id, { wind_kn: 28.5 })).code, 'gale'); assert.equal((await s.call('ada', 'PATCH /flights/' + f.id, { bag: 2 })).code, 'not_writable'); },
  'x-header': async (s) => { assert.equal((await s.is(401, null, 'GET /hawks')).headers.get('mews-mishap'), 'who_are_you'); },
  'l-rate': async (s) => { for (let i = 0; i < 240; i++) await s.is(200, 'ada', 'GET /moors'); const r = await s.is(429, 'ada', 'GET /moors'); assert.ok(Number(r.headers.get('retry-after')) > 0); await s.is(200, 'bram', 'GET /moors'); await s.later('PT1M'); assert.equal((await s.is(200, 'ada', 'GET /moors')).headers.get('mews-rate-left'), '239'); },
  'l-rows': async (s) => { for (let i = 0; i < 3; i++) await s.is(201, 'ada', 'POST /listeners', { url: 'http://127.0.0.1:9/x' }); assert.equal((await s.call('ada', 'POST /listeners', { url: 'http://127.0.0.1:9/x' })).code, 'used_up'); },
  'l-clamp': async (s) => { for (let i = 0; i < 41; i++) await s.hawk(); const r = await s.get('ada', '/hawks?span=99'); assert.deepEqual([r.entries.length, r.tally, r.more], [40, 41, true]); assert.equal((await s.get('ada', '/hawks?span=40&leaf=2')).entries.length, 1); },
  'l-body': async (s) => { const t = JSON.stringify({ name: 'Kes', ring_no: 'QX1234', species: 'saker', weight_g: 900 }); await s.is(413, 'ada', 'POST /hawks', t.padEnd(4097)); await s.is(201, 'ada', 'POST /hawks', t.padEnd(4096)); },
  'n-filter': async (s) => { await s.hawk(); await s.hawk('ada', { temper: 'shy' }); const r = await s.get('ada', '/hawks?edition=e1&temper=calm'); assert.deepEqual(r.entries.map((h) => [h.temper, h.grams, h.weight_g]), [['calm', 900, undefined]]); },
  'n-sunset': async (s) => { await s.is(200, 'ada', 'GET /hawks?edition=e1'); await s.door({ now: '2028-06-30T00:00:00Z' }); await s.is(410, 'ada', 'GET /hawks?edition=e1'); },
  'n-refused': async (s) => { const r = await s.is(404, 'ada', 'GET /hawks/hk-0000000000?edition=e1'); assert.equal(r.headers.get('deprecation'), '@1772323200'); assert.equal(r.headers.get('sunset'), 'Fri, 30 Jun 2028 00:00:00 GMT'); },
  'n-roster': async (s) => { const h = await s.hawk(); await s.is(200, 'ada', `GET /hawks/${h.id}/flights`); await s.is(405, 'ada', `GET /hawks/${h.id}/flights?edition=e1`); },
};
const asked = process.argv.slice(2); let wrong = 0;
assert.deepEqual(Object.keys(trials).sort(), stranger.faults.map((f) => f.id).sort());
for (const id of asked.length ? asked : Object.keys(trials)) {
  const failed = async (fault) => { const s = await Service.start(fault); try { await trials[id](s); return null; } catch (e) { return e; } finally { await s.stop(); } };
  const right = await failed(), faulty = await failed(id);
  if (right) { wrong++; console.log(`${id}: FAILS ON THE RIGHT SERVICE: ${right.stack.split('\n').slice(0, 12).join('\n')}`); }
  if (!faulty) { wrong++; console.log(`${id}: NOT SEEN`); }
}
console.log(`${asked.length || Object.keys(trials).length} trials, ${wrong} wrong`); process.exit(wrong ? 1 : 0);
