// For every fault one trial: it passes on the right service and fails on the faulty one. `node faults-test.mjs [ID ...]`
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const stranger = JSON.parse(readFileSync(here + 'stranger.json', 'utf8'));
const pass = Object.fromEntries(stranger.callers.map((c) => [c.id.slice(2), c.credential]));
const OLD = { 'X-Room-Edition': '2025-09' };
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const freePort = () => new Promise((done) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => done(port)); }); });

class Room {
  async start(fault) {
    [this.port, this.clockPort] = [await freePort(), await freePort()];
    this.agent = new http.Agent({ keepAlive: true });
    this.child = spawn(process.execPath, ['service.mjs', '--port', this.port, '--clock-port', this.clockPort, ...(fault ? ['--fault', fault] : [])], { cwd: here, stdio: ['ignore', 'ignore', 'pipe'] });
    this.err = ''; this.child.stderr.on('data', (d) => { this.err += d; });
    this.closers = []; this.n = 0;
    for (let i = 0; ; i++) { try { await this.clock(); await this.raw('GET', '/room/specimens'); break; } catch (e) { if (i > 200) throw e; await sleep(15); } }
    return this;
  }
  async stop() { for (const c of this.closers) c(); this.agent.destroy(); const gone = new Promise((r) => this.child.once('exit', r)); this.child.kill(); await gone; if (this.err) throw Error('stderr: ' + this.err); }
  raw(method, path, headers = {}, data, port = this.port) {
    return new Promise((done, bad) => {
      const req = http.request({ host: '127.0.0.1', port, method, path, headers: { ...headers, ...(data !== undefined ? { 'content-length': Buffer.byteLength(data) } : {}) }, agent: port === this.port ? this.agent : undefined }, (res) => {
        const chunks = []; res.on('data', (c) => chunks.push(c));
        res.on('end', () => { const text = Buffer.concat(chunks).toString(); let body; try { body = JSON.parse(text); } catch { } done({ status: res.statusCode, headers: res.headers, text, body, code: body?.fault?.code }); });
      });
      req.on('error', bad); req.end(data);
    });
  }
  call(who, method, path, body, headers = {}) {
    const h = { ...headers }; if (who) h.authorization = 'RoomPass ' + pass[who];
    if (body !== undefined && !h['content-type']) h['content-type'] = 'application/json';
    return this.raw(method, '/room' + path, h, body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  }
  async clock(body) { const r = await this.raw(body ? 'POST' : 'GET', '/', {}, body ? JSON.stringify(body) : undefined, this.clockPort); return body ? r : Date.parse(r.body.now); }
  advance(d) { return this.clock({ advance: d }); }
  async in(d) { return new Date(await this.clock() + d * 86400000).toISOString(); }
  async ok(status, ...a) { const r = await this.call(...a); assert.equal(r.status, status, `${a.slice(0, 3).join(' ')}: ${r.status} ${r.text}`); return r.body; }
  specimen(more = {}, who = 'ada') { return this.ok(201, who, 'POST', '/specimens', { name: 'Stone ' + ++this.n, class: 'iron', mass_mg: 100000, origin: { country: 'NA' }, ...more }); }
  slice(s, more = {}) { return this.ok(201, 'ada', 'POST', `/specimens/${s.id}/slices`, { code: 'A-' + ++this.n, mass_mg: 1000, ...more }); }
  loan(s, who = 'ina', more = {}, days = 30) { return this.in(days).then((due_at) => this.ok(201, who, 'POST', '/loans', { slice: s.id, aim: 'to look closely', method: 'dating', due_at, ...more }, { 'X-Room-Once': 'k' + ++this.n })); }
  do(who, loan, verb, body, status = 200) { return this.ok(status, who, 'POST', `/loans/${loan.id}/${verb}`, body); }
  async lent(who = 'ina', days = 30) { const sp = await this.specimen(), sl = await this.slice(sp), l = await this.loan(sl, who, {}, days); await this.do('ada', l, 'approve'); return { sp, sl, l: await this.do('ada', l, 'hand-over') }; }
  state(l) { return this.ok(200, 'ada', 'GET', '/loans/' + l.id).then((r) => r.state); }
  /** A receiver of web hooks; `answers` are the statuses it gives, the last one for ever. */
  async hook(who, kinds, answers = [200], headers = {}) {
    const got = [];
    const server = http.createServer((req, res) => { let t = ''; req.on('data', (c) => { t += c; }); req.on('end', () => { got.push({ headers: req.headers, text: t, body: JSON.parse(t) }); res.writeHead(answers[Math.min(got.length, answers.length) - 1]); res.end(); }); });
    await new Promise((r) => server.listen(0, '127.0.0.1', r));
    this.closers.push(() => { server.closeAllConnections(); server.close(); });
    const hook = await this.ok(201, who, 'POST', '/hooks', { address: `http://127.0.0.1:${server.address().port}/in`, ...(kinds ? { kinds } : {}) }, headers);
    return { hook, got, wait: async (n) => { for (let i = 0; i < 150 && got.length < n; i++) await sleep(10); assert.ok(got.length >= n, `${got.length} of ${n} deliveries`); return got; } };
  }
}
const is = (r, status, code) => { assert.equal(r.status, status, r.text); if (code) assert.equal(r.code, code); return r; };

const trials = {
  'base-also-bare': async (s) => is(await s.raw('GET', '/specimens'), 404, 'no_such_route'),
  'base-lost-in-location': async (s) => { const r = is(await s.call('ada', 'POST', '/specimens', { name: 'Hoba', class: 'iron', mass_mg: 5, origin: { country: 'NA' } }), 201); assert.equal(r.headers.location, '/room/specimens/' + r.body.id); },
  'function-inspections-lost': async (s) => { const r = is(await s.call('max', 'GET', '/inspections'), 200); assert.deepEqual(r.body, { items: [], more: false, total: 0 }); },
  'function-give-back-not-built': async (s) => { const { l } = await s.lent(); const r = await s.do('bo', l, 'give-back', { condition: 'sound' }); assert.equal(r.state, 'returned'); assert.ok(r.given_back_at); },
  'users-auditor-unknown': async (s) => { for (const w of ['max', 'nell', 'oto']) is(await s.call(w, 'GET', '/loans'), 200); },
  'users-auditor-may-curate': async (s) => is(await s.call('max', 'POST', '/specimens', { name: 'Hoba', class: 'iron', mass_mg: 5, origin: { country: 'NA' } }), 403, 'not_yours'),

  'mass-one-too-many': async (s) => { await s.specimen({ mass_mg: 50000000 }); is(await s.call('ada', 'POST', '/specimens', { name: 'Too heavy', class: 'iron', mass_mg: 50000001, origin: { country: 'NA' } }), 422, 'field_wrong'); },
  'name-taken-when-changed': async (s) => { await s.specimen({ name: 'Gibeon' }); const b = await s.specimen(); is(await s.call('ada', 'PATCH', '/specimens/' + b.id, { name: 'Gibeon' }, { 'If-Match': '*' }), 409, 'already_there'); },
  'vault-shown-in-lists': async (s) => { await s.specimen({ vault: 'B3' }); const one = async (w) => (await s.ok(200, w, 'GET', '/specimens')).items[0].vault; assert.equal(await one('max'), 'B3'); assert.equal(await one('ina'), undefined); assert.equal(await one(null), undefined); },
  'cut-mg-keeps-deleted': async (s) => { const a = await s.specimen(), x = await s.slice(a); await s.slice(a); await s.ok(204, 'ada', 'DELETE', '/slices/' + x.id); const r = await s.ok(200, 'ada', 'GET', '/specimens/' + a.id); assert.deepEqual([r.slices, r.cut_mg], [1, 1000]); },
  'slice-number-again': async (s) => { const a = await s.specimen(); await s.slice(a); const x = await s.slice(a); assert.equal(x.number, 2); await s.ok(204, 'ada', 'DELETE', '/slices/' + x.id); assert.equal((await s.slice(a)).number, 3); },
  'found-before-fall-when-changed': async (s) => { const a = await s.specimen({ seen_falling_on: '2000-05-05' }); const r = is(await s.call('ada', 'PATCH', '/specimens/' + a.id, { found_on: '2000-05-04' }, { 'If-Match': '*' }), 422, 'field_wrong'); assert.equal(r.body.fault.places[0].path, 'found_on'); },
  'due-without-zone': async (s) => { const sl = await s.slice(await s.specimen()); const due_at = (await s.in(30)).slice(0, 19); is(await s.call('ina', 'POST', '/loans', { slice: sl.id, aim: 'to look closely', method: 'dating', due_at }, { 'X-Room-Once': 'a' }), 422, 'field_wrong'); },
  'seal-shown-again': async (s) => { const { hook } = await s.hook('ina'); assert.match(hook.seal, /^seal_[A-Za-z0-9]{40}$/); assert.equal((await s.ok(200, 'ina', 'GET', '/hooks/' + hook.id)).seal, undefined); },

  'slice-lent-twice': async (s) => { const sl = await s.slice(await s.specimen()), a = await s.loan(sl), b = await s.loan(sl, 'kim'); await s.do('ada', a, 'approve'); is(await s.call('ada', 'POST', `/loans/${b.id}/approve`), 409, 'slice_taken'); },
  'withdrawn-when-out': async (s) => { const { l } = await s.lent(); is(await s.call('ina', 'POST', `/loans/${l.id}/withdraw`), 409, 'too_late'); assert.equal(await s.state(l), 'out'); },
  'lapse-a-day-late': async (s) => { const l = await s.loan(await s.slice(await s.specimen())); await s.advance('P13DT23H'); assert.equal(await s.state(l), 'requested'); await s.advance('PT2H'); assert.equal(await s.state(l), 'lapsed'); },
  'forfeit-never': async (s) => { const l = await s.loan(await s.slice(await s.specimen())); await s.do('ada', l, 'approve'); await s.advance('P6DT23H'); assert.equal(await s.state(l), 'approved'); await s.advance('PT2H'); assert.equal(await s.state(l), 'lapsed'); },
  'returned-runs-over': async (s) => { const { l } = await s.lent(); await s.do('ada', l, 'give-back', { condition: 'sound' }); await s.advance('P31D'); assert.equal(await s.state(l), 'returned'); },
  'renewed-runs-over-at-old-time': async (s) => { const { l } = await s.lent(); await s.do('ina', l, 'renew', { due_at: await s.in(60) }); await s.advance('P31D'); assert.equal(await s.state(l), 'out'); await s.advance('P30D'); assert.equal(await s.state(l), 'overdue'); },
  'returned-uninspected': async (s) => { const { l, sl } = await s.lent(); await s.do('ada', l, 'give-back', { condition: 'chipped' }); const r = await s.ok(200, 'ina', 'GET', '/inspections?slice=' + sl.id); assert.equal(r.total, 1); assert.deepEqual([r.items[0].loan, r.items[0].condition, r.items[0].lab], [l.id, 'chipped', 'nordlab']); },

  'tag-not-asked-for': async (s) => { const a = await s.specimen(); is(await s.call('ada', 'PATCH', '/specimens/' + a.id, { on_view: true }), 428, 'tag_missing'); },
  'never-304': async (s) => { const a = await s.specimen(), r = await s.call('ada', 'GET', '/specimens/' + a.id); const n = is(await s.call('ada', 'GET', '/specimens/' + a.id, undefined, { 'If-None-Match': r.headers.etag }), 304); assert.equal(n.text, ''); },
  'null-removes-nothing': async (s) => { const a = await s.specimen({ remarks: 'rusty' }); const r = await s.ok(200, 'ada', 'PATCH', '/specimens/' + a.id, { remarks: null }, { 'If-Match': '*' }); assert.equal(r.remarks, undefined); },
  'found-since-leaves-out-the-day': async (s) => { await s.specimen({ found_on: '1999-01-01' }); await s.specimen({ found_on: '1998-12-31' }); await s.specimen(); assert.equal((await s.ok(200, null, 'GET', '/specimens?found_since=1999-01-01')).total, 1); },
  'any-word-is-enough': async (s) => { await s.specimen({ remarks: 'black crust' }); await s.specimen({ remarks: 'black inside' }); assert.equal((await s.ok(200, null, 'GET', '/specimens?words=CRUST+stone')).total, 1); },
  'once-means-nothing': async (s) => { const sl = await s.slice(await s.specimen()), b = { slice: sl.id, aim: 'to look closely', method: 'dating', due_at: await s.in(9) }; const a = await s.call('ina', 'POST', '/loans', b, { 'X-Room-Once': 'x' }), c = await s.call('ina', 'POST', '/loans', b, { 'X-Room-Once': 'x' }); is(a, 201); is(c, 201); assert.equal(a.text, c.text); assert.equal((await s.ok(200, 'ina', 'GET', '/loans')).total, 1); },
  'replace-keeps-thickness': async (s) => { const x = await s.slice(await s.specimen(), { thickness_um: 40, polish: 'polished' }); const r = await s.ok(200, 'bo', 'PUT', '/slices/' + x.id, { code: 'B-1', mass_mg: 900 }); assert.deepEqual([r.thickness_um, r.polish, r.code, r.specimen], [undefined, 'raw', 'B-1', x.specimen]); },

  'colleagues-withdraw': async (s) => { const l = await s.loan(await s.slice(await s.specimen())); is(await s.call('jon', 'POST', `/loans/${l.id}/withdraw`), 403, 'not_yours'); is(await s.call('kim', 'POST', `/loans/${l.id}/withdraw`), 404, 'no_such_row'); assert.equal(await s.state(l), 'requested'); },
  'own-lab-approved': async (s) => { const l = await s.loan(await s.slice(await s.specimen())); is(await s.call('cy', 'POST', `/loans/${l.id}/approve`), 403, 'not_yours'); await s.do('bo', l, 'approve'); },
  'slices-deleted-without-scope': async (s) => { const x = await s.slice(await s.specimen()); is(await s.call('bo', 'DELETE', '/slices/' + x.id), 403, 'scope_lacking'); await s.ok(204, 'cy', 'DELETE', '/slices/' + x.id); },
  'unlendable-slices-listed': async (s) => { const a = await s.specimen(); await s.slice(a, { lendable: false }); await s.slice(a); const t = async (w) => (await s.ok(200, w, 'GET', `/specimens/${a.id}/slices`)).total; assert.deepEqual([await t('max'), await t('ina')], [2, 1]); },
  'any-prefix': async (s) => { is(await s.raw('GET', '/room/loans', { authorization: 'Bearer ' + pass.ada }), 401, 'bad_pass'); is(await s.raw('GET', '/room/loans', { authorization: 'roompass ' + pass.ada }), 200); },
  'bad-pass-is-nobody': async (s) => { is(await s.raw('GET', '/room/specimens', { authorization: 'RoomPass rp_' + 'x'.repeat(30) }), 401, 'bad_pass'); is(await s.raw('GET', '/room/specimens'), 200); },
  'hooks-of-others-listed': async (s) => { await s.hook('ina'); await s.hook('jon'); const r = await s.ok(200, 'ina', 'GET', '/hooks'); assert.deepEqual(r.map((h) => h.owner), ['s-ina']); },

  'lapse-not-told': async (s) => { const h = await s.hook('ina', ['loan.*']); const l = await s.loan(await s.slice(await s.specimen())); await s.advance('P15D'); await h.wait(1); assert.deepEqual([h.got[0].body.kind, h.got[0].body.body.state, h.got[0].body.body.id], ['loan.closed', 'lapsed', l.id]); const e = await s.ok(200, 'max', 'GET', '/entries?kind=loan.closed'); assert.equal(e.rows[0].by, 'the clock'); assert.equal(e.rows[0].id, h.got[0].body.entry); },
  'reweighed-tells-new-as-old': async (s) => { const h = await s.hook('ina', ['specimen.reweighed']); const a = await s.specimen(); await s.ok(200, 'ada', 'PATCH', '/specimens/' + a.id, { on_view: true }, { 'If-Match': '*' }); await s.ok(200, 'ada', 'PATCH', '/specimens/' + a.id, { mass_mg: 90000 }, { 'If-Match': '*' }); await h.wait(1); assert.deepEqual(h.got[0].body.body, { specimen: a.id, was: 100000, is: 90000 }); },
  'seal-without-id': async (s) => { const h = await s.hook('ina', ['specimen.catalogued']); await s.specimen(); const [g] = await h.wait(1); const m = /^at=(\d+);mac=([0-9a-f]{64})$/.exec(g.headers['x-room-seal']); assert.equal(m[2], createHmac('sha256', h.hook.seal).update(`${g.body.entry}.${m[1]}.${g.text}`).digest('hex')); assert.equal(g.headers['x-room-event'], 'specimen.catalogued'); assert.equal(g.headers['x-room-entry'], g.body.entry); },
  'last-try-left-out': async (s) => { const h = await s.hook('ina', ['specimen.catalogued'], [500]); await s.specimen(); await h.wait(1); await s.advance('PT15S'); assert.equal(h.got.length, 1); await s.advance('PT10S'); await h.wait(2); await s.advance('PT4M'); await h.wait(3); await s.advance('PT80M'); await h.wait(4); await s.advance('PT20H'); assert.equal(h.got.length, 4); assert.equal(new Set(h.got.map((g) => g.headers['x-room-entry'])).size, 1); },
  'requests-told-to-scholars': async (s) => { const h = await s.hook('ina', ['loan.requested']), c = await s.hook('ada', ['loan.requested']); await s.loan(await s.slice(await s.specimen())); await c.wait(1); await sleep(60); assert.equal(h.got.length, 0); },
  'desk-note-in-events': async (s) => { const h = await s.hook('ina', ['loan.decided']), c = await s.hook('bo', ['loan.decided']); const l = await s.loan(await s.slice(await s.specimen())); await s.do('ada', l, 'approve', { desk_note: 'hm' }); const [g] = await h.wait(1), [k] = await c.wait(1); assert.equal(g.body.body.desk_note, undefined); assert.equal(k.body.body.desk_note, 'hm'); },
  'struck-off-though-held': async (s) => { const a = await s.specimen(); const x = await s.slice(a); is(await s.call('ada', 'DELETE', '/specimens/' + a.id), 409, 'still_referred_to'); const n = async () => (await s.ok(200, 'max', 'GET', '/entries?kind=specimen.struck_off')).rows.length; assert.equal(await n(), 0); await s.ok(204, 'ada', 'DELETE', '/slices/' + x.id); await s.ok(204, 'ada', 'DELETE', '/specimens/' + a.id); assert.equal(await n(), 1); },

  'unknown-field-is-400': async (s) => is(await s.call('ada', 'POST', '/specimens', { name: 'Hoba', colour: 'red', class: 'iron', mass_mg: 5, origin: { country: 'NA' } }), 422, 'field_unknown'),
  'too-late-is-wrong-state': async (s) => { const { l } = await s.lent(); is(await s.call('ina', 'POST', `/loans/${l.id}/withdraw`), 409, 'too_late'); },
  'places-as-pointers': async (s) => { const r = is(await s.call('ada', 'POST', '/specimens', { name: 'Hoba', class: 'iron', mass_mg: 5, origin: { country: 'nowhere' } }), 422, 'field_wrong'); assert.equal(r.body.fault.places[0].path, 'origin.country'); assert.match(r.body.fault.says, /^origin\.country is "nowhere", not /); },
  'parameters-before-row': async (s) => is(await s.call('ada', 'GET', '/specimens/mtr_aaaaaaaaaaaa?bogus=1'), 404, 'no_such_row'),
  'no-cut-to-the-last': async (s) => { const a = await s.specimen({ mass_mg: 3000 }); await s.slice(a); await s.slice(a, { mass_mg: 2000 }); is(await s.call('ada', 'POST', `/specimens/${a.id}/slices`, { code: 'Z-1', mass_mg: 1 }), 422, 'over_cut'); },
  'no-fault-header': async (s) => { const r = is(await s.call('ada', 'GET', '/specimens/mtr_aaaaaaaaaaaa'), 404, 'no_such_row'); assert.equal(r.headers['x-room-fault'], 'no_such_row'); assert.equal(r.headers['x-room-request'], r.body.fault.request); },

  'rate-one-too-many': async (s) => { for (let i = 0; i < 400; i++) { const r = is(await s.call('kim', 'GET', '/specimens'), 200); assert.deepEqual([r.headers['x-room-limit'], r.headers['x-room-left']], ['400', String(399 - i)]); } const r = is(await s.call('kim', 'GET', '/specimens'), 429, 'too_often'); const w = Number(r.headers['retry-after']); assert.ok(w > 0 && w <= 60); await s.advance(`PT${w}S`); is(await s.call('kim', 'GET', '/specimens'), 200); },
  'refused-loans-use-quota': async (s) => {
    const sl = await s.slice(await s.specimen()), open = [];
    const ask = async () => s.call('lu', 'POST', '/loans', { slice: sl.id, aim: 'to look closely', method: 'dating', due_at: await s.in(30) }, { 'X-Room-Once': 'q' + ++s.n });
    await s.clock({ now: new Date(await s.clock() + 86400000 * 33).toISOString().slice(0, 8) + '02T00:00:00Z' });
    for (let i = 0; i < 6; i++) open.push(is(await ask(), 201).body);
    for (let i = 0; i < 5; i++) assert.equal(is(await ask(), 429, 'used_up').headers['retry-after'], undefined);
    for (let i = 6; i < 30; i++) { await s.do('lu', open.shift(), 'withdraw'); open.push(is(await ask(), 201).body); }
    await s.do('lu', open.shift(), 'withdraw');
    const r = is(await ask(), 429, 'used_up'); assert.ok(Number(r.headers['retry-after']) > 86400);
    await s.advance('P31D'); is(await ask(), 201);
  },
  'page-over-max': async (s) => { is(await s.call(null, 'GET', '/specimens?per=60'), 200); is(await s.call(null, 'GET', '/specimens?per=61'), 400, 'bad_page'); },
  'take-not-clamped': async (s) => { for (let i = 0; i < 32; i++) await s.specimen(); const r = await s.ok(200, 'max', 'GET', '/entries?take=31'); assert.deepEqual([r.rows.length, r.more], [30, true]); assert.equal((await s.ok(200, 'max', 'GET', '/entries?skip=30&take=30')).more, false); },
  'closed-loans-count': async (s) => { const sl = await s.slice(await s.specimen()); for (let i = 0; i < 6; i++) { const l = await s.loan(sl); if (i < 1) await s.do('ina', l, 'withdraw'); } await s.loan(sl); is(await s.call('ina', 'POST', '/loans', { slice: sl.id, aim: 'to look closely', method: 'dating', due_at: await s.in(30) }, { 'X-Room-Once': 'z' }), 429, 'used_up'); },
  'body-limit-off-by-one': async (s) => { const b = JSON.stringify({ name: 'Hoba', class: 'iron', mass_mg: 5, origin: { country: 'NA' } }); is(await s.call('ada', 'POST', '/specimens', b.padEnd(6145)), 413, 'body_too_large'); is(await s.call('ada', 'POST', '/specimens', b.padEnd(6144)), 201); },

  'grams-not-mapped-in-lists': async (s) => { await s.specimen({ mass_mg: 12345 }); const r = await s.ok(200, null, 'GET', '/specimens', undefined, OLD); assert.equal(r.items[0].grams, 12.345); assert.equal(r.items[0].mass_mg, undefined); },
  'polish-in-old-edition': async (s) => { const x = await s.slice(await s.specimen()); assert.equal((await s.ok(200, 'ada', 'GET', '/slices/' + x.id)).polish, 'raw'); assert.equal((await s.ok(200, 'ada', 'GET', '/slices/' + x.id, undefined, OLD)).polish, undefined); },
  'hooks-follow-newest-edition': async (s) => { const h = await s.hook('ina', ['specimen.*'], [200], OLD); await s.specimen({ class: 'stony' }); const [g] = await h.wait(1); assert.deepEqual([g.body.body.class, g.body.body.grams, g.body.body.mass_mg], ['chondrite', 100, undefined]); },
  'unknown-edition-served': async (s) => is(await s.call(null, 'GET', '/specimens', undefined, { 'X-Room-Edition': '2024-01' }), 400, 'edition_unknown'),
  'sunset-passes': async (s) => { is(await s.call(null, 'GET', '/specimens', undefined, OLD), 200); await s.clock({ now: '2028-03-01T00:00:00Z' }); is(await s.call(null, 'GET', '/specimens', undefined, OLD), 410, 'edition_over'); is(await s.call(null, 'GET', '/specimens'), 200); },
  'deprecation-not-on-refusals': async (s) => { const r = is(await s.call('ada', 'GET', '/specimens/mtr_aaaaaaaaaaaa', undefined, OLD), 404, 'no_such_row'); assert.equal(r.headers.deprecation, '@1772323200'); assert.equal(r.headers.sunset, 'Wed, 01 Mar 2028 00:00:00 GMT'); assert.match(r.headers.link, /rel="deprecation".*rel="successor-version"/); assert.equal(r.headers['x-room-edition'], '2025-09'); },
};

/** What no fault breaks, looked at once on the right service. */
async function right(s) {
  const a = await s.specimen({ labels: ['x'], class: 'stony', origin: { country: 'CL', latitude: -23.5 } });
  // bodies
  const bad = async (b, code, path) => { const r = is(await s.call('ada', 'POST', '/specimens', b), 422, code); if (path !== undefined) assert.equal(r.body.fault.places[0].path, path); };
  const good = { name: 'Ok', class: 'iron', mass_mg: 5, origin: { country: 'NA' } };
  await bad([], 'field_wrong', ''); await bad({ ...good, mass_mg: 1.5 }, 'field_wrong', 'mass_mg'); await bad({ ...good, labels: ['a', 'a'] }, 'field_wrong', 'labels');
  await bad({ ...good, labels: ['a', ''] }, 'field_wrong', 'labels.1'); await bad({ ...good, origin: { country: 'NA', moon: 1 } }, 'field_unknown', 'origin.moon'); await bad({ name: 'Ok' }, 'field_wrong', 'class');
  await bad({ ...good, seen_falling_on: '2001-02-29' }, 'field_wrong', 'seen_falling_on'); await bad({ ...good, remarks: null }, 'field_wrong', 'remarks');
  assert.equal((await s.ok(201, 'bo', 'POST', '/specimens', { ...good, id: 'mine', slices: 9, catalogued_by: 'me' })).catalogued_by, 'c-bo');
  is(await s.call('ada', 'POST', '/specimens', good), 409, 'already_there');
  is(await s.call('ada', 'POST', '/specimens', '{'), 400, 'unreadable_body'); is(await s.call('ada', 'POST', '/specimens'), 400, 'unreadable_body');
  is(await s.call('ada', 'POST', '/specimens', '{}', { 'content-type': 'text/plain' }), 415, 'wrong_media');
  is(await s.call('ada', 'GET', '/specimens', undefined, { accept: 'text/html' }), 406, 'cannot_produce'); is(await s.call('ada', 'GET', '/specimens', undefined, { accept: 'text/html, */*;q=0.1' }), 200);
  // routes, methods, sizes, refusals
  is(await s.call('ada', 'GET', '/nothing'), 404, 'no_such_route'); const m = is(await s.call('ada', 'DELETE', '/loans'), 405, 'no_such_method'); assert.equal(m.headers.allow, 'GET, HEAD, POST, OPTIONS'.split(', ').sort().join(', ') === m.headers.allow.split(', ').sort().join(', ') ? m.headers.allow : '');
  is(await s.call(null, 'OPTIONS', '/loans'), 204); const hd = is(await s.call(null, 'HEAD', '/specimens'), 200); assert.equal(hd.text, '');
  const w = is(await s.call(null, 'GET', '/loans'), 401, 'no_pass'); assert.equal(w.headers['www-authenticate'], 'RoomPass realm="Meteorite Loan Room"'); assert.equal(w.headers['x-room-limit'], undefined);
  is(await s.raw('GET', '/room/specimens?words=' + 'x'.repeat(2048 - 22)), 400, 'bad_parameter'); is(await s.raw('GET', '/room/specimens?words=' + 'x'.repeat(2048 - 21)), 414, 'address_too_long');
  is(await s.raw('GET', '/room/specimens', { x: 'y'.repeat(8192) }), 431, 'headers_too_large');
  is(await s.call('ina', 'POST', '/specimens', '{'), 403, 'not_yours');
  // lists
  const page = await s.call(null, 'GET', '/specimens?per=1&sort=-name'); assert.deepEqual([page.body.items.length, page.body.more, page.body.total], [1, true, 2]); assert.equal(page.body.items[0].id, a.id);
  assert.match(page.headers.link, /<\/room\/specimens\?sort=-name&per=1&page=2>; rel="next"/);
  const p2 = await s.call(null, 'GET', '/specimens?sort=-name&per=1&page=2'); assert.deepEqual([p2.body.items.length, p2.body.more], [1, false]); assert.doesNotMatch(p2.headers.link, /next/);
  for (const q of ['class=rock', 'on_view=yes', 'country=chile', 'bogus=1', 'sort=id', 'class=iron&class=iron', 'found_since=soon', 'words=']) is(await s.call(null, 'GET', '/specimens?' + q), 400, 'bad_parameter');
  for (const q of ['page=0', 'per=0', 'page=x']) is(await s.call(null, 'GET', '/specimens?' + q), 400, 'bad_page');
  for (const [q, n] of [['class=iron,stony', 2], ['country=CL', 1], ['label=x', 1], ['on_view=true', 0], ['page=9', 2]]) assert.equal((await s.ok(200, null, 'GET', '/specimens?' + q)).total, n, q);
  // editions
  is(await s.call(null, 'GET', '/house-rules'), 200); is(await s.call(null, 'GET', '/house-rules', undefined, OLD), 404, 'no_such_route');
  assert.equal((await s.ok(200, null, 'GET', '/specimens?class=chondrite', undefined, OLD)).total, 1); is(await s.call(null, 'GET', '/specimens?class=stony', undefined, OLD), 400, 'bad_parameter');
  const o = await s.ok(201, 'ada', 'POST', '/specimens', { name: 'Elder', class: 'chondrite', grams: 1.5, origin: { country: 'FR' } }, OLD); assert.equal(o.grams, 1.5); assert.deepEqual([(await s.ok(200, 'ada', 'GET', '/specimens/' + o.id)).mass_mg, (await s.ok(200, 'ada', 'GET', '/specimens/' + o.id)).class], [1500, 'stony']);
  // tags and patches
  const t = await s.call('ada', 'GET', '/specimens/' + a.id); assert.equal(t.headers['cache-control'], 'private, max-age=30'); assert.equal(t.headers.vary, 'X-Room-Edition, Authorization');
  const u = await s.ok(200, 'ada', 'PATCH', '/specimens/' + a.id, { origin: { latitude: null, longitude: 3 } }, { 'If-Match': t.headers.etag, 'content-type': 'application/merge-patch+json' }); assert.deepEqual(u.origin, { country: 'CL', longitude: 3 });
  is(await s.call('ada', 'PATCH', '/specimens/' + a.id, { on_view: true }, { 'If-Match': t.headers.etag }), 412, 'tag_differs');
  const same = await s.ok(200, 'ada', 'PATCH', '/specimens/' + a.id, { on_view: false }, { 'If-Match': '*' }); assert.equal(same.revised_at, u.revised_at);
  is(await s.call('ada', 'PATCH', '/specimens/' + a.id, { name: null }, { 'If-Match': '*' }), 422, 'field_wrong');
  // slices
  const x = await s.slice(a, { worth_cents: 5 }); assert.equal((await s.ok(200, 'max', 'GET', '/slices/' + x.id)).worth_cents, undefined);
  is(await s.call('ada', 'POST', `/specimens/${a.id}/slices`, { code: x.code, mass_mg: 1 }), 409, 'already_there'); is(await s.call('ada', 'POST', `/specimens/${a.id}/slices`, { code: 'A-1', mass_mg: 1, specimen: 'mtr_x' }), 422, 'field_wrong');
  is(await s.call('ada', 'PATCH', '/specimens/' + a.id, { mass_mg: 999 }, { 'If-Match': '*' }), 422, 'under_cut'); is(await s.call('ada', 'PUT', '/slices/' + x.id, { code: 'A-1', mass_mg: 1 }, { 'If-Match': '"no"' }), 412, 'tag_differs');
  const hid = await s.slice(a, { lendable: false }); is(await s.call('ina', 'GET', '/slices/' + hid.id), 404, 'no_such_row');
  // loans
  const ask = (b, k = 'r' + ++s.n) => s.call('ina', 'POST', '/loans', b, k ? { 'X-Room-Once': k } : {}); const L = { slice: x.id, aim: 'to look closely', method: 'dating', due_at: await s.in(30) };
  is(await ask(L, null), 400, 'bad_parameter'); is(await ask({ ...L, slice: hid.id }), 422, 'no_such_reference'); is(await ask({ ...L, due_at: await s.in(0.5) }), 422, 'due_too_soon'); is(await ask({ ...L, due_at: await s.in(181) }), 422, 'due_too_far'); is(await ask({ ...L, method: 'display' }), 422, 'display_needs_curation');
  const l = is(await ask(L, 'one'), 201).body; is(await ask({ ...L, method: 'microscopy' }, 'one'), 409, 'once_reused');
  is(await ask({ ...L, due_at: await s.in(0.5) }, 'soon'), 422); assert.equal((await ask({ ...L, due_at: await s.in(0.4) }, 'soon')).code, 'once_reused');
  is(await s.call('ina', 'PATCH', '/loans/' + l.id, { slice: hid.id }), 422, 'field_wrong'); assert.equal((await s.ok(200, 'ina', 'PATCH', '/loans/' + l.id, { purpose: 'something else' }, OLD)).purpose, 'something else');
  is(await s.call('kim', 'GET', '/loans/' + l.id), 404, 'no_such_row'); is(await s.call('jon', 'GET', '/loans/' + l.id), 200);
  is(await s.call('ada', 'POST', `/loans/${l.id}/decline`, {}), 422, 'field_wrong'); is(await s.call('ada', 'POST', `/loans/${l.id}/hand-over`), 409, 'wrong_state');
  const ap = await s.do('ada', l, 'approve'); assert.equal(ap.desk_note, ''); assert.equal((await s.ok(200, 'ina', 'GET', '/loans/' + l.id)).desk_note, undefined); assert.equal((await s.ok(200, 'ina', 'GET', '/slices/' + x.id)).taken, true);
  is(await s.call('ina', 'PATCH', '/loans/' + l.id, { aim: 'something else again' }), 409, 'wrong_state'); await s.do('ada', l, 'hand-over');
  is(await s.call('ina', 'POST', `/loans/${l.id}/renew`, { due_at: await s.in(20) }), 422, 'renewal_backward'); await s.do('ina', l, 'renew', { due_at: await s.in(40) }); await s.do('ina', l, 'renew', { due_at: await s.in(50) }); is(await s.call('ina', 'POST', `/loans/${l.id}/renew`, { due_at: await s.in(60) }), 409, 'renewed_out');
  const due = (await s.ok(200, 'ina', 'GET', '/loans/' + l.id)).due_at; const iso = Date.parse(due);
  const h = await s.hook('jon', ['loan.*', 'hook.silenced']), gone = await s.hook('jon', ['loan.overdue'], [410]);
  await s.clock({ now: new Date(iso - 1000).toISOString() }); assert.equal(await s.state(l), 'out'); await s.advance('PT2S'); assert.equal(await s.state(l), 'overdue'); await h.wait(2);
  assert.deepEqual(h.got.map((g) => g.body.kind).sort(), ['hook.silenced', 'loan.overdue']); assert.equal((await s.ok(200, 'jon', 'GET', '/hooks/' + gone.hook.id)).active, false);
  is(await s.call('ina', 'POST', `/loans/${l.id}/renew`, { due_at: await s.in(60) }), 409, 'wrong_state'); await s.do('bo', l, 'give-back', { condition: 'lost' });
  assert.equal((await s.ok(200, 'ina', 'GET', '/slices/' + x.id)).times_lent, 1); is(await s.call('ada', 'DELETE', '/slices/' + x.id), 409, 'still_referred_to');
  const e = await s.ok(200, 'max', 'GET', '/entries?take=4'); assert.deepEqual(e.rows.map((r) => r.kind).sort(), ['hook.silenced', 'inspection.damage', 'loan.closed', 'loan.overdue']); is(await s.call('ina', 'GET', '/entries'), 403, 'not_yours'); is(await s.call('max', 'GET', '/entries/' + e.rows[0].id), 200);
  // hooks
  is(await s.call('jon', 'POST', '/hooks', { address: 'ftp://x.example/' }), 422, 'field_wrong'); is(await s.call('jon', 'POST', '/hooks', { address: 'http://127.0.0.1:9/', kinds: ['loan.lost'] }), 422, 'field_wrong');
  for (let i = 0; i < 2; i++) await s.hook('jon'); is(await s.call('jon', 'POST', '/hooks', { address: 'http://127.0.0.1:9/' }), 429, 'used_up'); is(await s.call('ina', 'GET', '/hooks/' + h.hook.id), 404, 'no_such_row'); await s.ok(204, 'jon', 'DELETE', '/hooks/' + h.hook.id);
  // a receiver that fails for two days is silenced; the log forgets after 45 days
  const f = await s.hook('max', ['specimen.*'], [503]); await s.specimen(); await f.wait(1); await s.advance('P1D'); await s.specimen(); await s.advance('PT23H'); await s.specimen(); await s.advance('PT2H'); assert.equal((await s.ok(200, 'max', 'GET', '/hooks/' + f.hook.id)).active, false);
  await s.advance('P45D'); assert.equal((await s.ok(200, 'max', 'GET', '/entries')).rows.length, 0);
  // the clock's door
  is(await s.clock({ now: '2020-01-01T00:00:00Z' }), 422); is(await s.clock({ later: 1 }), 400); is(await s.clock({ advance: 'soon' }), 400);
  // a rate for whoever shows no pass, and one for curators
  for (let i = 0; i < 90; i++) is(await s.raw('GET', '/room/specimens'), 200); is(await s.raw('GET', '/room/specimens'), 429, 'too_often'); is(await s.call('ina', 'GET', '/specimens'), 200); await s.advance('PT61S'); is(await s.raw('GET', '/room/specimens'), 200);
  const c = is(await s.call('nell', 'GET', '/entries'), 200); assert.equal(c.headers['x-room-left'], '396');
  // many at once, one slice
  const sl = await s.slice(await s.specimen()), ls = await Promise.all(['ina', 'jon', 'kim', 'lu'].map((who) => s.loan(sl, who))); const rs = await Promise.all(ls.map((y) => s.call('ada', 'POST', `/loans/${y.id}/approve`))); assert.deepEqual(rs.map((r) => r.status).sort(), [200, 409, 409, 409]);
  // a body that does not arrive
  const slow = await new Promise((done) => { const k = net.connect(s.port, '127.0.0.1', () => k.write(`POST /room/hooks HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{`)); let got = ''; k.on('data', (d) => { got += d; }); k.on('close', () => done(got)); k.on('error', () => {}); }); assert.match(slow, /^HTTP\/1\.1 408 [\s\S]*"too_slow"/);
}

const only = process.argv.slice(2);
const attempt = async (fault, trial) => { const s = await new Room().start(fault); let failed = null; try { await trial(s); } catch (e) { failed = e; } try { await s.stop(); } catch (e) { failed ??= e; } return failed; };
let wrong = 0;
if (!only.length || only.includes('right')) { const e = await attempt(undefined, right); if (e) { wrong++; console.log('right service:', e.stack); } else console.log('right service: ok'); }
for (const { id } of stranger.faults) {
  if (only.length && !only.includes(id)) continue;
  if (!trials[id]) { wrong++; console.log(id, 'has no trial'); continue; }
  const onRight = await attempt(undefined, trials[id]), onFaulty = await attempt(id, trials[id]);
  const fine = !onRight && onFaulty instanceof assert.AssertionError;
  if (!fine) { wrong++; console.log('NOT OK', id, onRight ? 'fails on the right service: ' + onRight.stack : onFaulty ? 'breaks: ' + onFaulty.stack : 'passes on the faulty one'); } else console.log('ok', id, '-', onFaulty.message.split('\n')[0].slice(0, 90));
}
console.log(wrong ? `${wrong} not ok` : 'all ok');
process.exit(wrong ? 1 : 0);
