// For each fault a proof by hand: passes on the correct service, fails with the fault. Run: node faults-test.mjs [ID ...]
import { spawn } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
const here = dirname(fileURLToPath(import.meta.url));
const { faults, callers } = JSON.parse(readFileSync(join(here, 'stranger.json'), 'utf8'));
const who = {};
for (const c of callers) who[c.id.slice(4)] = c.scheme === 'staff' ? 'Basic ' + Buffer.from(c.credential).toString('base64') : 'Bearer ' + c.credential;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const ok = (x, what) => { if (!x) throw new Error('not so: ' + what); };
const is = (a, b, what = '') => { if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${what} is ${JSON.stringify(a)}, not ${JSON.stringify(b)}`); };
const freePort = () => new Promise((r) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => r(p)); }); });

function call(port, method, path, by, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const h = { ...headers };
    if (by) h.Authorization = who[by] || by;
    if (text !== undefined) { h['Content-Type'] ??= 'application/json'; h['Content-Length'] = Buffer.byteLength(text); }
    const req = http.request({ host: '127.0.0.1', port, method, path, headers: h, agent: false }, (res) => {
      let t = '';
      res.on('data', (c) => { t += c; });
      res.on('end', () => { let b; try { b = JSON.parse(t); } catch {} resolve({ status: res.statusCode, headers: res.headers, body: b, code: b?.errors?.[0]?.code }); });
    });
    req.on('error', reject);
    req.end(text);
  });
}
class Run {
  n = 0;
  constructor(port, clock) { this.port = port; this.clock = clock; }
  raw(method, path, by, body, headers) { return call(this.port, method, path, by, body, headers); }
  v2(method, path, by, body, headers) { return this.raw(method, '/vault/v2' + path, by, body, headers); }
  v1(method, path, by, body, headers) { return this.raw(method, '/vault/v1' + path, by, body, headers); }
  async must(method, path, by, body, headers) { const r = await this.v2(method, path, by, body, headers); ok(r.status < 300, `${method} ${path} answers ${r.status} ${r.code}`); return r.body; }
  async advance(d) { const r = await call(this.clock, 'POST', '/', null, { advance: d }); ok(r.status === 200, 'the clock moves'); await sleep(60); }
  shelf(o = {}) { return this.must('POST', '/shelves', 'ada', { code: `F-${++this.n}`, kind: 'freezer', temperature: -20, ...o }); }
  lotBody(shelf, o = {}) { return { barcode: String(10000000 + ++this.n), species: 'Avena sativa', family: 'poaceae', origin: { country: 'NL', locality: 'Wageningen' }, shelf: shelf.id, seedCount: 1000, ...o }; }
  async lot(o = {}, shelf) { return this.must('POST', '/accessions', 'ada', this.lotBody(shelf || (await this.shelf()), o)); }
  async stored(o, shelf) { const a = await this.lot(o, shelf); return this.must('POST', `/accessions/${a.id}/store`, 'ada', { moisture: 5 }); }
  ask(a, by = 'gil', o = {}) { return this.must('POST', '/requests', by, { accession: a.id, packets: 2, purpose: 'garden', ...o }); }
  async sow(by = 'dee', o = {}) { const a = await this.stored(); return this.must('POST', `/accessions/${a.id}/tests`, by, { medium: 'paper', ...o }); }
  async listen(by, events, status = () => 204) {
    const got = [];
    const s = http.createServer((req, res) => { let t = ''; req.on('data', (c) => { t += c; }); req.on('end', () => { got.push({ ...JSON.parse(t), headers: req.headers }); res.writeHead(status(got.length)); res.end(); }); });
    await new Promise((r) => s.listen(0, '127.0.0.1', r));
    (this.open ??= []).push(s);
    await this.must('POST', '/hooks', by, { url: `http://127.0.0.1:${s.address().port}/in`, events });
    return got;
  }
}
const wait = async (got, n) => { for (let i = 0; i < 40 && got.length < n; i++) await sleep(10); await sleep(50); };

const P = {
  'p-base-moved': async (r) => is((await r.v2('GET', '/shelves', 'ada')).status, 200),
  'p-base-bare': async (r) => is((await r.raw('GET', '/v2/accessions', 'ada')).code, 'pathUnknown'),
  'p-function-void': async (r) => { const t = await r.sow(); is((await r.v2('POST', `/tests/${t.id}/void`, 'dee')).status, 200); },
  'p-function-trace': async (r) => { const a = await r.lot(); is((await r.v2('GET', `/accessions/${a.id}/withdrawals`, 'dee')).status, 200); },
  'p-user-technician': async (r) => { const a = await r.lot(); is((await r.v2('POST', `/accessions/${a.id}/tests`, 'fay', { medium: 'agar' })).status, 201); },
  'p-user-grower': async (r) => is((await r.v2('POST', '/hooks', 'gil', { url: 'http://127.0.0.1:9/x' })).status, 201),
  'r-uuid': async (r) => { const a = await r.lot(); const w = await r.must('POST', `/accessions/${a.id}/withdrawals`, 'ada', { seeds: 5, cause: 'loss' }); ok(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(w.id), 'a uuid'); },
  'r-percent': async (r) => { const t = await r.sow('dee', { sampleSize: 30 }); is((await r.must('POST', `/tests/${t.id}/count`, 'dee', { germinated: 10 })).percent, 33); },
  'r-country': async (r) => { const s = await r.shelf(); is((await r.v2('POST', '/accessions', 'ada', r.lotBody(s, { origin: { country: 'nl', locality: 'Ede' } }))).code, 'invalid'); },
  'r-collected': async (r) => { const s = await r.shelf(); is((await r.v2('POST', '/accessions', 'ada', r.lotBody(s, { collectedOn: '2025-02-30' }))).code, 'invalid'); },
  'r-donor': async (r) => { const a = await r.lot({ donorNote: 'Mrs Vos' }); is(a.donorNote, 'Mrs Vos'); is((await r.must('GET', `/accessions/${a.id}`, 'dee')).donorNote, undefined); },
  'r-extra': async (r) => { await r.sow(); const w = (await r.must('GET', '/withdrawals', 'ada')).items[0]; is(Object.keys(w).sort(), ['accession', 'cause', 'id', 'seeds', 'takenAt', 'takenBy']); },
  'r-updated': async (r) => { const q = await r.ask(await r.stored()); await sleep(5); const p = await r.must('PATCH', `/requests/${q.id}`, 'gil', { packets: 3 }); ok(p.updatedAt > q.updatedAt, 'updatedAt moves'); },
  'r-used': async (r) => { const s = await r.shelf(); const a = await r.stored({}, s); is((await r.must('GET', `/shelves/${s.id}`, 'ada')).used, 1); await r.must('POST', `/accessions/${a.id}/retire`, 'ada'); is((await r.must('GET', `/shelves/${s.id}`, 'ada')).used, 0); },
  's-discard': async (r) => { const a = await r.lot(); await r.must('POST', `/accessions/${a.id}/quarantine`, 'ada', { reason: 'smut' }); await r.advance('P89D'); is((await r.must('GET', `/accessions/${a.id}`, 'ada')).status, 'quarantined'); await r.advance('P1DT1M'); is((await r.must('GET', `/accessions/${a.id}`, 'ada')).status, 'retired'); },
  's-initial': async (r) => is((await r.lot()).status, 'drying'),
  's-retire': async (r) => { const a = await r.stored(); await r.ask(a); is((await r.v2('POST', `/accessions/${a.id}/retire`, 'ada')).code, 'stillWanted'); },
  's-count': async (r) => { const t = await r.sow(); await r.advance('P15D'); is((await r.must('GET', `/tests/${t.id}`, 'dee')).status, 'overdue'); is((await r.must('POST', `/tests/${t.id}/count`, 'dee', { germinated: 20 })).status, 'counted'); },
  's-overrun': async (r) => { const t = await r.sow(); await r.advance('P13D'); is((await r.must('GET', `/tests/${t.id}`, 'dee')).status, 'sown'); await r.advance('P1DT1M'); is((await r.must('GET', `/tests/${t.id}`, 'dee')).status, 'overdue'); },
  's-cancel': async (r) => { const q = await r.ask(await r.stored()); await r.must('POST', `/requests/${q.id}/approve`, 'ada'); await r.must('POST', `/requests/${q.id}/pack`, 'dee'); is((await r.v2('POST', `/requests/${q.id}/cancel`, 'gil')).code, 'alreadyDecided'); },
  's-lapse': async (r) => { const q = await r.ask(await r.stored()); await r.must('POST', `/requests/${q.id}/approve`, 'ada'); await r.advance('P14DT1M'); is((await r.must('GET', `/requests/${q.id}`, 'gil')).status, 'lapsed'); },
  'e-slash': async (r) => is((await r.v2('GET', '/shelves/', 'ada')).code, 'pathUnknown'),
  'e-head': async (r) => { const s = await r.shelf(); is((await r.v2('HEAD', `/shelves/${s.id}`, 'ada')).status, 200); },
  'e-min': async (r) => { await r.lot({ seedCount: 700 }); is((await r.must('GET', '/accessions?minSeeds=700', 'ada')).total, 1); },
  'e-unknown': async (r) => is((await r.v2('GET', '/withdrawals?colour=red', 'ada')).code, 'parameterInvalid'),
  'e-etag': async (r) => { const q = await r.ask(await r.stored()); const a = await r.v2('GET', `/requests/${q.id}`, 'gil'); await r.must('PATCH', `/requests/${q.id}`, 'gil', { packets: 4 }); const b = await r.v2('GET', `/requests/${q.id}`, 'gil'); ok(a.headers.etag && a.headers.etag !== b.headers.etag, 'another tag'); },
  'e-count': async (r) => { const t = await r.sow(); is((await r.v2('POST', `/tests/${t.id}/count`, 'dee', {})).code, 'memberMissing'); },
  'e-replay': async (r) => { const a = await r.lot(); const h = { 'Idempotency-Key': 'k1' }; const b = { seeds: 5, cause: 'loss' }; const x = await r.must('POST', `/accessions/${a.id}/withdrawals`, 'ada', b, h); is((await r.must('POST', `/accessions/${a.id}/withdrawals`, 'ada', b, h)).id, x.id); },
  'e-replace': async (r) => { const s = await r.shelf({ room: 'Cellar' }); is(s.room, 'Cellar'); is((await r.must('PUT', `/shelves/${s.id}`, 'ada', { code: s.code, kind: 'freezer', temperature: -18 })).room, undefined); },
  'a-list-others': async (r) => { await r.ask(await r.stored(), 'gil'); is((await r.must('GET', '/requests', 'hal')).items, []); },
  'a-scope': async (r) => is((await r.v2('PATCH', '/requests/00000000-0000-4000-8000-000000000000', 'jon', { packets: 2 })).code, 'scopeMissing'),
  'a-region': async (r) => { const a = await r.lot(); is((await r.v2('POST', `/accessions/${a.id}/quarantine`, 'eli', { reason: 'smut' })).code, 'forbidden'); },
  'a-delete': async (r) => { const s = await r.shelf(); is((await r.v2('DELETE', `/shelves/${s.id}`, 'cy')).code, 'unauthenticated'); },
  'a-anonymous': async (r) => { const a = await r.stored(); is((await r.v2('GET', `/accessions/${a.id}`)).status, 200); await r.must('POST', `/accessions/${a.id}/quarantine`, 'ada', { reason: 'smut' }); is((await r.v2('GET', `/accessions/${a.id}`)).code, 'notFound'); },
  'a-password': async (r) => is((await r.v2('GET', '/shelves', 'Basic ' + Buffer.from('cur-ada:ada-keeps').toString('base64'))).code, 'unauthenticated'),
  'a-prefix': async (r) => is((await r.v2('GET', '/accessions', who.dee.replace('Bearer', 'bearer'))).status, 200),
  'v-twice': async (r) => { const got = await r.listen('ada', ['request.decided']); const q = await r.ask(await r.stored()); await r.must('POST', `/requests/${q.id}/decline`, 'ada', { reason: 'too few' }); await wait(got, 1); is(got.length, 1, 'events'); },
  'v-held': async (r) => { const got = await r.listen('ada', ['accession.held']); const a = await r.lot(); await r.must('POST', `/accessions/${a.id}/quarantine`, 'ada', { reason: 'smut' }); await wait(got, 1); is(got[0].data, { accession: a.id, number: a.number, reason: 'smut' }); },
  'v-moved': async (r) => { const got = await r.listen('ada', ['accession.moved']); const a = await r.lot(); await r.must('PATCH', `/accessions/${a.id}`, 'ada', { commonName: 'Oat' }, { 'If-Match': '*' }); const s = await r.shelf(); await r.must('PATCH', `/accessions/${a.id}`, 'ada', { shelf: s.id }, { 'If-Match': '*' }); await wait(got, 1); is(got.map((e) => e.data.to), [s.id]); },
  'v-retry': async (r) => { const got = await r.listen('ada', ['request.submitted'], (n) => (n === 1 ? 500 : 204)); await r.ask(await r.stored()); await wait(got, 1); is(got.length, 1); await r.advance('PT40S'); await wait(got, 2); is(got.length, 2, 'tries'); is(got[0].id, got[1].id); },
  'v-due': async (r) => { const got = await r.listen('ada', ['test.due']); await r.sow(); await r.advance('P12DT23H'); is(got.length, 0); await r.advance('PT1H1M'); await wait(got, 1); is(got.map((e) => e.kind), ['test.due']); },
  'v-foreign': async (r) => { const got = await r.listen('hal', ['request.*']); const a = await r.stored(); await r.ask(a, 'gil'); const own = await r.ask(a, 'hal'); await wait(got, 1); is(got.map((e) => e.data.id), [own.id]); },
  'x-in-use': async (r) => { const s = await r.shelf(); await r.lot({}, s); const x = await r.v2('DELETE', `/shelves/${s.id}`, 'ada'); is([x.status, x.code], [409, 'inUse']); },
  'x-already-asked': async (r) => { const a = await r.stored(); await r.ask(a); is((await r.v2('POST', '/requests', 'gil', { accession: a.id, packets: 1, purpose: 'research' })).code, 'alreadyAsked'); },
  'x-missing': async (r) => is((await r.v2('POST', '/shelves', 'ada', { kind: 'cooler', temperature: 4 })).code, 'memberMissing'),
  'x-at': async (r) => { const s = await r.shelf(); is((await r.v2('POST', '/accessions', 'ada', r.lotBody(s, { origin: { country: 'NL', locality: 'x' } }))).body.errors[0].at, '/origin/locality'); },
  'x-shelf-full': async (r) => { const s = await r.shelf({ capacity: 1 }); await r.lot({}, s); const a = await r.lot(); is((await r.v2('PATCH', `/accessions/${a.id}`, 'ada', { shelf: s.id }, { 'If-Match': '*' })).code, 'shelfFull'); },
  'x-moist': async (r) => { const a = await r.lot(); is((await r.v2('POST', `/accessions/${a.id}/store`, 'ada', { moisture: 8 })).status, 200); },
  'l-rate': async (r) => { for (let i = 0; i < 15; i++) is((await r.v2('POST', '/requests', 'gil', {})).status, 422); is((await r.v2('POST', '/requests', 'gil', {})).code, 'tooManyRequests'); },
  'l-remaining': async (r) => is((await r.v2('GET', '/shelves', 'ada')).headers['x-ratelimit-remaining'], '599'),
  'l-body': async (r) => { const b = JSON.stringify({ code: 'A-1', kind: 'cooler', temperature: 4 }); is((await r.v2('POST', '/shelves', 'ada', b.padEnd(16384))).status, 201); is((await r.v2('POST', '/shelves', 'ada', b.replace('A-1', 'A-2').padEnd(16385))).code, 'tooLarge'); },
  'l-max': async (r) => is((await r.v2('GET', '/shelves?pageSize=101', 'ada')).code, 'pageInvalid'),
  'l-has-more': async (r) => { const s = await r.shelf(); await r.lot({}, s); await r.lot({}, s); is((await r.must('GET', '/accessions?pageSize=1', 'ada')).hasMore, true); is((await r.must('GET', '/accessions?pageSize=2', 'ada')).hasMore, false); },
  'l-open': async (r) => { const s = await r.shelf(); for (let i = 0; i < 4; i++) await r.ask(await r.stored({}, s)); const a = await r.stored({}, s); is((await r.v2('POST', '/requests', 'gil', { accession: a.id, packets: 1, purpose: 'garden' })).code, 'quotaExceeded'); },
  'n-rename': async (r) => { const a = await r.lot(); const b = (await r.v1('GET', `/accessions/${a.id}`, 'ada')).body; is([b.quantity, b.seedCount, b.tags], [1000, undefined, undefined]); },
  'n-temperature': async (r) => { await r.shelf(); is((await r.v1('GET', '/shelves', 'ada')).body.items[0].temperature, 253); },
  'n-enum': async (r) => { const q = await r.ask(await r.stored()); is((await r.v1('GET', `/requests/${q.id}`, 'gil')).body.purpose, 'hobby'); },
  'n-sunset': async (r) => is((await r.v1('GET', '/accessions', 'ada')).headers.sunset, 'Sat, 30 Jun 2029 00:00:00 GMT'),
  'n-default': async (r) => is((await r.raw('GET', '/vault/accessions', 'ada')).code, 'versionUnknown'),
  'n-endpoint': async (r) => { const a = await r.lot(); is((await r.v1('GET', `/accessions/${a.id}/withdrawals`, 'ada')).code, 'methodUnsupported'); },
};

async function once(proof, fault) {
  const port = await freePort(), clock = await freePort();
  const child = spawn(process.execPath, [join(here, 'service.cjs'), '--port', port, '--clock-port', clock, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'ignore', 'inherit'] });
  const run = new Run(port, clock);
  try {
    for (let i = 0; ; i++) { try { await call(clock, 'GET', '/'); await call(port, 'GET', '/'); break; } catch (e) { if (i > 100) throw e; await sleep(20); } }
    await proof(run);
    return null;
  } catch (e) { return e; } finally { child.kill(); for (const s of run.open || []) { s.close(); s.closeAllConnections(); } }
}
const only = process.argv.slice(2);
const todo = faults.filter((f) => !only.length || only.includes(f.id));
let held = 0;
const work = async () => {
  for (let f; (f = todo.shift()); ) {
    const proof = P[f.id];
    const good = proof ? await once(proof, null) : new Error('no proof');
    const bad = proof ? await once(proof, f.id) : null;
    const holds = !good && bad && /^(not so|.* is )/s.test(bad.message) || (!good && bad && / answers /.test(bad.message));
    if (holds) held++;
    console.log(`${holds ? 'holds' : 'FAILS'}  ${f.id}  ${good ? 'correct service: ' + good.stack : bad ? bad.message : 'the fault is not seen'}`);
  }
};
const total = todo.length;
await Promise.all([work(), work()]);
console.log(`${held} of ${total} hold`);
process.exit(held === total ? 0 : 1);
