'use strict';
// node faults-test.cjs [ID…]: each proof holds on the sound service and fails with its fault switched on
const { spawn } = require('node:child_process'), http = require('node:http'), path = require('node:path'), crypto = require('node:crypto');
const S = require('./stranger.json'), BASE = '/atelier';
let port, clock, seq = 0;
const agent = new http.Agent({ keepAlive: true });
function raw(p, method, target, headers, body, chunked) {
  return new Promise((ok, bad) => {
    const b = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const h = { ...headers }; if (b !== null && !h['Content-Type']) h['Content-Type'] = 'application/json'; if (b !== null) { if (chunked) h['Transfer-Encoding'] = 'chunked'; else h['Content-Length'] = Buffer.byteLength(b); }
    const r = http.request({ port: p, host: '127.0.0.1', method, path: target, headers: h, agent }, (res) => { let s = ''; res.setEncoding('utf8'); res.on('data', (c) => { s += c; }); res.on('end', () => { let j; try { j = JSON.parse(s); } catch { j = s; } ok({ s: res.statusCode, h: res.headers, b: j, w: j && j.trouble && j.trouble.word }); }); });
    r.on('error', bad); if (b !== null) r.end(b); else r.end();
  });
}
const who = (id) => S.callers.find((c) => c.id === id);
async function time() { return Date.parse((await raw(clock, 'GET', '/')).b.now); }
async function call(id, method, target, body, headers = {}, x = {}) {
  const t = (x.bare ? '' : BASE) + target, h = { ...headers };
  if (id) { const c = who(id); if (c.scheme === 'wax') { const [k, s] = c.credential.split(':'), at = Math.floor(await time() / 1000) - (x.ago || 0); h['X-Wax-Key'] = k; h['X-Wax'] = `t=${at},w=${crypto.createHmac('sha256', s).update(`${method}\n${t}\n${at}\n${body === undefined ? '' : JSON.stringify(body)}`).digest('hex')}`; } else h.Authorization = 'Stamp ' + (x.cred || c.credential); }
  return raw(port, method, t, h, body, x.chunked);
}
const is = (a, b, m) => { if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${m || ''} ${JSON.stringify(a)} is not ${JSON.stringify(b)}`); };
const ok = (a, m) => { if (!a) throw new Error(m || 'not so'); };
const advance = (d) => raw(clock, 'POST', '/', {}, { advance: d });
const K = 'k-anna', D = 'p-dora', E = 'p-emil', G = 'c-gus', H = 'c-hana', J = 'c-jo';
const code = () => 'QA-' + String(1000 + seq++);
async function mould(o = {}) { const r = await call(K, 'POST', '/moulds', { code: code(), sphere: 'terrestrial', diameter: 300, ...o }); is(r.s, 201, JSON.stringify(r.b)); return r.b; }
async function com(o = {}, by = D) { const m = o.mould || (await mould()).code; const r = await call(by, 'POST', '/commissions', { sphere: 'terrestrial', inscription: 'Orbis Novus', price: 4000, ...o, mould: m }); is(r.s, 201, JSON.stringify(r.b)); return r.b; }
const step = async (id, by, s, want = 200) => { const r = await call(by, 'POST', `/commissions/${id}/${s}`); is(r.s, want, s + JSON.stringify(r.b)); return r; };
async function making(o) { const c = await com(o); await step(c.id, D, 'place'); await step(c.id, D, 'pay'); await step(c.id, K, 'begin'); return c; }
const gore = (id, west = 0, by = K) => call(by, 'POST', `/commissions/${id}/gores`, { west, east: west + 15 });
async function loan(o = {}, by = H) { const m = o.mould || (await mould()).code; const r = await call(by, 'POST', '/loans', { purpose: 'study', weeks: 1, ...o, mould: m }); is(r.s, 201, JSON.stringify(r.b)); return r.b; }
const lstep = async (id, by, s, body) => call(by, 'POST', `/loans/${id}/${s}`, body);
async function out() { const l = await loan(); const r = await lstep(l.id, K, 'grant'); is(r.s, 200); return r.b; }
const patch = async (id, by, b) => { const g = await call(by, 'GET', '/commissions/' + id); return call(by, 'PATCH', '/commissions/' + id, b, { 'If-Match': g.h.etag }); };
async function receiver(by, tunes, fn, answers = []) {
  const got = []; let n = 0, wake;
  const srv = http.createServer((q, r) => { let s = ''; q.on('data', (c) => { s += c; }); q.on('end', () => { got.push({ h: q.headers, raw: s, b: JSON.parse(s) }); r.writeHead(answers[n++] || 204); r.end(); if (wake) wake(); }); });
  await new Promise((o) => srv.listen(0, '127.0.0.1', o));
  try { const r = await call(by, 'POST', '/bells', { address: `http://127.0.0.1:${srv.address().port}/ring`, ...(tunes ? { tunes } : {}) }); is(r.s, 201, JSON.stringify(r.b));
    await fn(got, r.b, async (k, ms = 400) => { const end = Date.now() + ms; while (got.length < k && Date.now() < end) await new Promise((o) => { wake = o; setTimeout(o, 15); }); }); } finally { srv.closeAllConnections(); srv.close(); }
}
const P = {
  'p1-without-base': async () => { is((await call(null, 'GET', '/moulds', undefined, {}, { bare: true })).s, 404); is((await call(null, 'GET', '/moulds')).s, 200); },
  'p2-rework-is-a-stub': async () => { const c = await making(); await gore(c.id); await gore(c.id); await step(c.id, K, 'finish'); await step(c.id, K, 'rework'); },
  'r1-marks-twice': async () => { const r = await call(K, 'POST', '/moulds', { code: code(), sphere: 'celestial', diameter: 60, marks: ['a', 'a'] }); is([r.s, r.w], [422, 'ill_fitting']); await mould({ marks: ['a', 'b'] }); },
  'r2-replace-too-large': async () => { const m = await mould(); is((await call(K, 'PUT', '/moulds/' + m.code, { sphere: 'celestial', diameter: 2001 })).s, 422); is((await call(K, 'PUT', '/moulds/' + m.code, { sphere: 'celestial', diameter: 2000 })).s, 200); },
  'r3-deposit-not-reckoned-anew': async () => { const c = await com({ price: 4001 }); is(c.deposit_due, 2000); const r = await patch(c.id, D, { price: 10003 }); is([r.s, r.b.deposit_due], [200, 2500]); },
  'r4-strip-over-all': async () => { const a = await making(), b = await making(); is((await gore(a.id)).b.strip, 1); is((await gore(a.id)).b.strip, 2); is((await gore(b.id)).b.strip, 1); },
  'r5-casts-not-delivered': async () => { const c = await making(); is((await call(K, 'GET', '/moulds/' + c.mould)).b.busy, true); await gore(c.id); await gore(c.id); await step(c.id, K, 'finish'); const n = async () => (await call(null, 'GET', '/moulds/' + c.mould)).b.casts; is(await n(), 1); await step(c.id, K, 'rework'); is(await n(), 0); await step(c.id, K, 'finish'); await step(c.id, K, 'deliver'); is(await n(), 1); },
  'r6-tongue-told-again': async () => { const f = () => call(D, 'POST', '/bells', { address: 'http://127.0.0.1:9/x' }, { 'Once-Key': 'one' }); const a = await f(), b = await f(); is([a.s, b.s, a.b.id, 'tongue' in a.b], [201, 201, b.b.id, true]); ok(!('tongue' in b.b)); ok(/^tng_[A-Za-z0-9]{32}$/.test(a.b.tongue)); ok(!('tongue' in (await call(D, 'GET', '/bells/' + a.b.id)).b)); },
  'r7-note-in-list': async () => { const c = await com(); is((await patch(c.id, K, { bench_note: 'cracked' })).b.bench_note, 'cracked'); const l = (await call(D, 'GET', '/commissions')).b.leaves; is(l.length, 1); ok(!('bench_note' in l[0])); is((await call(K, 'GET', '/commissions')).b.leaves[0].bench_note, 'cracked'); },
  'r8-reference-twice-by-patch': async () => { const a = await com({ reference: 'a/1' }), b = await com({ reference: 'a/2' }); is((await patch(b.id, D, { reference: 'a/1' })).w, 'already_there'); await com({ reference: 'a/1' }, E); is((await patch(a.id, D, { reference: null })).s, 200); is((await patch(b.id, D, { reference: 'a/1' })).s, 200); },
  'r9-loan-uuid4': async () => ok((await loan()).id[14] === '7'),
  'r10-overdue-frees-mould': async () => { const l = await out(); await advance('P7DT1S'); is((await call(H, 'GET', '/loans/' + l.id)).b.state, 'overdue'); is((await call(J, 'POST', '/loans', { mould: l.mould, purpose: 'study' })).w, 'already_there'); is((await lstep(l.id, H, 'return')).s, 200); is((await call(J, 'POST', '/loans', { mould: l.mould, purpose: 'study' })).s, 201); },
  'r11-insured-text': async () => { const m = await mould(); is((await call(H, 'POST', '/loans', { mould: m.code, purpose: 'study', insured: '12.5' })).w, 'ill_fitting'); is((await call(H, 'POST', '/loans', { mould: m.code, purpose: 'study', insured: 12.25 })).w, 'ill_fitting'); is((await call(H, 'POST', '/loans', { mould: m.code, purpose: 'study', insured: 12.5 })).s, 201); },
  'r12-due-with-space': async () => ok(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/.test((await out()).due)),
  's1-withdraw-from-making': async () => { const c = await making(); const r = await step(c.id, D, 'withdraw', 410); is(r.w, 'too_late'); },
  's2-one-gore-enough': async () => { const c = await making(); await gore(c.id); is((await step(c.id, K, 'finish', 409)).w, 'not_ready'); await gore(c.id); await step(c.id, K, 'finish'); },
  's3-lapse-too-early': async () => { const c = await com(); await advance('P20DT23H59M'); is((await call(D, 'GET', '/commissions/' + c.id)).b.stage, 'drafted'); await advance('PT2M'); is((await call(D, 'GET', '/commissions/' + c.id)).b.stage, 'lapsed'); },
  's4-old-due-stays': async () => { const l = await out(); const r = await lstep(l.id, H, 'extend', { until: new Date(Date.parse(l.due) + 864e5).toISOString() }); is([r.s, r.b.extensions], [200, 1]); await advance('P7DT1M'); is((await call(H, 'GET', '/loans/' + l.id)).b.state, 'out'); await advance('P1D'); is((await call(H, 'GET', '/loans/' + l.id)).b.state, 'overdue'); },
  's5-no-return-when-overdue': async () => { const l = await out(); await advance('P8D'); is((await lstep(l.id, H, 'return')).b.state, 'returned'); },
  's6-pay-at-any-stage': async () => { const c = await com(); is((await step(c.id, D, 'pay', 409)).w, 'not_ready'); },
  's7-no-refund': async () => { const c = await com(); await step(c.id, D, 'place'); await step(c.id, D, 'pay'); const r = await step(c.id, D, 'withdraw'); is([r.b.stage, r.b.deposit], ['withdrawn', 'refunded']); },
  's8-extend-to-same': async () => { const l = await out(); is((await lstep(l.id, H, 'extend', { until: l.due })).w, 'not_longer'); },
  's9-dear-ones-begin-ordered': async () => is((await com({ price: 60000 })).stage, 'drafted'),
  'e1-at-least-is-more': async () => { const m = await mould({ diameter: 777 }); is((await call(null, 'GET', '/moulds?at_least=777&below=778')).b.leaves.map((x) => x.code), [m.code]); is((await call(null, 'GET', '/moulds?at_least=1&below=777')).b.all, 0); },
  'e2-first-stage-alone': async () => { const a = await com(), b = await com(); await step(b.id, D, 'place'); is((await call(D, 'GET', '/commissions?stage=ordered,drafted')).b.leaves.map((x) => x.id).sort(), [a.id, b.id].sort()); is((await call(D, 'GET', '/commissions?stage=odd')).w, 'odd_question'); },
  'e3-way-needs-by': async () => { const a = await loan(); await advance('PT1S'); const b = await loan(); is((await call(K, 'GET', '/loans?way=desc')).b.leaves.map((x) => x.id), [b.id, a.id]); is((await call(K, 'GET', '/loans')).b.leaves.map((x) => x.id), [a.id, b.id]); },
  'e4-tag-not-of-gores': async () => { const c = await making(), t = async () => (await call(D, 'GET', '/commissions/' + c.id)).h.etag; const a = await t(); await gore(c.id); ok(a !== await t()); is((await call(D, 'GET', '/commissions/' + c.id, undefined, { 'If-None-Match': await t() })).s, 304); },
  'e5-tag-not-wanted': async () => { const c = await com(); is((await call(D, 'PATCH', '/commissions/' + c.id, { price: 5000 })).w, 'tag_wanted'); is((await call(D, 'PATCH', '/commissions/' + c.id, { price: 5000 }, { 'If-Match': '"x"' })).w, 'stale'); is((await patch(c.id, D, { price: 5000 })).s, 200); },
  'e6-key-of-everybody': async () => { const f = async (by) => call(by, 'POST', '/loans', { mould: (await mould()).code, purpose: 'study' }, { 'Once-Key': 'k1' }); is((await f(H)).s, 201); is((await f(J)).s, 201); is((await f(H)).w, 'key_reused'); },
  'e7-location-elsewhere': async () => { const m = await mould(); const r = await call(D, 'POST', '/commissions', { mould: m.code, sphere: 'terrestrial', inscription: 'abc', price: 4000 }); is((await call(D, 'GET', r.h.location, undefined, {}, { bare: true })).b.id, r.b.id); },
  'e8-patch-mould': async () => { const m = await mould(); const r = await call(K, 'PATCH', '/moulds/' + m.code, { sphere: 'celestial', diameter: 90 }); is([r.s, r.w, r.h.allow], [405, 'not_that_way', 'GET, PUT, DELETE, HEAD, OPTIONS']); },
  'e9-slash-at-end': async () => is((await call(null, 'GET', '/moulds/')).w, 'no_such_room'),
  'e10-gores-as-made': async () => { const c = await making(); await gore(c.id, 30); await gore(c.id, -30); is((await call(D, 'GET', `/commissions/${c.id}/gores`)).b.leaves.map((g) => g.west), [-30, 30]); },
  'e11-words-mind-case': async () => { const c = await com({ inscription: 'Orbis Novus', reference: 'zz/1' }); is((await call(D, 'GET', '/commissions?words=NOVUS+zz')).b.leaves.map((x) => x.id), [c.id]); is((await call(D, 'GET', '/commissions?words=novus+yy')).b.leaves, []); },
  'a1-read-of-others': async () => { const c = await com(); is((await call(E, 'GET', '/commissions/' + c.id)).w, 'no_such_piece'); is((await call(E, 'GET', '/commissions')).b.leaves, []); },
  'a2-total-of-others': async () => { await loan(); await loan({}, J); is((await call(J, 'GET', '/loans')).b.all, 1); is((await call(K, 'GET', '/loans')).b.all, 2); },
  'a3-house-returns': async () => { const l = await out(); is((await lstep(l.id, G, 'return')).w, 'not_yours'); is((await lstep(l.id, J, 'return')).w, 'no_such_piece'); is((await lstep(l.id, 'k-bert', 'return')).w, 'wants_scope'); },
  'a4-wax-of-any-time': async () => { const l = await loan({}, G); is((await call(G, 'GET', '/loans/' + l.id, undefined, {}, { ago: 290 })).s, 200); is((await call(G, 'GET', '/loans/' + l.id, undefined, {}, { ago: 320 })).w, 'who_are_you'); },
  'a5-stamp-any-case': async () => { const c = await com(), k = who(D).credential; is((await call(D, 'GET', '/commissions/' + c.id, undefined, {}, { cred: k.toLowerCase() })).w, 'who_are_you'); is((await call(D, 'GET', '/commissions/' + c.id)).s, 200); },
  'a6-no-scope-for-moulds': async () => is((await call('k-bert', 'POST', '/moulds', { code: code(), sphere: 'celestial', diameter: 60 })).w, 'wants_scope'),
  'a7-gores-at-any-stage': async () => { const c = await com(); is((await gore(c.id)).w, 'not_yours'); await step(c.id, D, 'place'); is((await gore(c.id)).s, 201); },
  'a8-bad-stamp-as-nobody': async () => { const r = await call(D, 'GET', '/moulds', undefined, {}, { cred: 'stamp_nobody' }); is(r.s, 401); ok(/^Stamp realm="Globe makers", error="invalid_key"/.test(r.h['www-authenticate'])); },
  'v1-repriced-always': async () => { const c = await com(); await receiver(D, ['commission.*'], async (got, bell, wait) => { await patch(c.id, D, { inscription: 'Other words' }); await patch(c.id, D, { price: 4100 }); await wait(1); await wait(2, 80); is(got.map((g) => [g.b.tune, g.b.about]), [['commission.repriced', { commission: c.id, from: 4000, to: 4100 }]]); }); },
  'v2-forget-untold': async () => { const l = await loan(); await receiver(K, ['loan.moved'], async (got, bell, wait) => { await advance('P5DT1M'); await wait(1); is(got.map((g) => [g.b.about.id, g.b.about.state]), [[l.id, 'declined']]); is((await call(K, 'GET', '/diary?tune=loan.moved&about=' + l.id)).b.all, 1); }); },
  'v3-was-is-new': async () => { const c = await com(); await step(c.id, D, 'place'); await step(c.id, D, 'withdraw'); is((await call(K, 'GET', '/diary?tune=commission.gone')).b.leaves[0].facts, { commission: c.id, was: 'ordered', is: 'withdrawn' }); },
  'v4-new-id-each-try': async () => { const c = await com(); await receiver(D, null, async (got, bell, wait) => { await step(c.id, D, 'place'); await wait(1); await step(c.id, D, 'pay'); await wait(2, 80); is(got.length, 1); await advance('PT3S'); await wait(3); is(got.map((g) => g.b.tune), ['commission.placed', 'commission.placed', 'deposit.moved']); is(got[0].b.ring, got[1].b.ring); }, [500]); },
  'v5-signs-without-id': async () => { const c = await com(); await receiver(D, null, async (got, bell, wait) => { await step(c.id, D, 'place'); await wait(1); const g = got[0], m = /^at=(\d+),sum=(.+)$/.exec(g.h['x-globe-seal']); is(m[2], crypto.createHmac('sha256', bell.tongue).update(`${g.b.ring}.${m[1]}.${g.raw}`).digest('base64')); is(g.h['x-globe-tune'], 'commission.placed'); is(Object.keys(g.b), ['ring', 'tune', 'rung', 'about']); }); },
  'v6-told-to-strangers': async () => { const c = await com(); await receiver(E, null, async (got, bell, wait) => { await step(c.id, D, 'place'); await wait(1, 120); is(got.length, 0); }); },
  'v7-cost-told': async () => { const m = await mould({ cost: 12 }); await receiver(D, ['mould.broken'], async (got, bell, wait) => { is((await call(K, 'DELETE', '/moulds/' + m.code)).s, 204); await wait(1); is([got[0].b.about.code, 'cost' in got[0].b.about], [m.code, false]); }); },
  'x1-underpriced-at-edge': async () => { const m = await mould({ diameter: 500 }); is((await call(D, 'POST', '/commissions', { mould: m.code, sphere: 'terrestrial', inscription: 'abc', price: 999 })).w, 'underpriced'); await com({ mould: m.code, price: 1000 }); },
  'x2-busy-409': async () => { const c = await making(); const r = await call(H, 'POST', '/loans', { mould: c.mould, purpose: 'study' }); is([r.s, r.w, r.h['x-trouble']], [423, 'mould_busy', 'mould_busy']); },
  'x3-places-as-pointers': async () => { const r = await call(K, 'POST', '/moulds', { code: code(), sphere: 'celestial', diameter: 60, marks: ['a', 7] }); is(r.b.trouble.places[0].path, 'marks.1'); is(r.b.trouble.ticket, r.h['x-globe-ticket']); },
  'x4-dangling-as-missing': async () => { const r = await call(D, 'POST', '/commissions', { mould: 'ZZ-999', sphere: 'terrestrial', inscription: 'abc', price: 4000 }); is([r.s, r.w], [422, 'dangling']); },
  'l1-one-more-loan': async () => { is((await call(K, 'GET', '/loans?take=41')).w, 'leaf_out_of_range'); is((await call(K, 'GET', '/loans?take=40')).s, 200); },
  'l2-bells-never-freed': async () => { const f = () => call(D, 'POST', '/bells', { address: 'http://127.0.0.1:9/x' }); let last; for (let i = 0; i < 12; i++) { last = await f(); is(last.s, 201); } is((await f()).w, 'used_up'); is((await call(D, 'DELETE', '/bells/' + last.b.id)).s, 204); is((await f()).s, 201); },
  'l3-chunks-not-measured': async () => { const b = JSON.stringify({ code: code(), sphere: 'celestial', diameter: 60 }); is((await call(K, 'POST', '/moulds', b.padEnd(8193), {}, { chunked: true })).w, 'too_big'); is((await call(K, 'POST', '/moulds', b.padEnd(8193))).w, 'too_big'); is((await call(K, 'POST', '/moulds', b.padEnd(8192), {}, { chunked: true })).s, 201); },
  'l4-cursor-for-all': async () => { for (let i = 0; i < 3; i++) await com(); const a = (await call(D, 'GET', '/commissions?take=2')).b; is([a.leaves.length, a.more], [2, true]); is((await call(D, 'GET', `/commissions?take=2&stage=drafted&thread=${a.thread}`)).w, 'leaf_out_of_range'); const b = (await call(D, 'GET', `/commissions?take=1&thread=${a.thread}`)).b; is([b.leaves.length, b.thread, b.more], [1, null, false]); },
  'n1-list-in-newest': async () => { const c = await com(); const l = (await call(D, 'GET', '/commissions?edition=first')).b.leaves[0]; is([l.legend, 'inscription' in l], ['Orbis Novus', false]); is((await call(D, 'GET', `/commissions/${c.id}?edition=first`)).b, l); },
  'n2-refusals-not-deprecated': async () => { for (const t of ['/moulds/ZZ-100?edition=first', '/moulds?edition=first']) { const r = await call(null, 'GET', t); is(r.h.deprecation, '@1772323200'); is(r.h.sunset, 'Wed, 01 Sep 2027 00:00:00 GMT'); ok(/rel="successor-version"/.test(r.h.link)); } is((await call(null, 'GET', '/moulds?edition=third')).w, 'no_such_edition'); },
  'n3-up-cut-off': async () => { const m = code(); const r = await call(K, 'POST', '/moulds?edition=first', { code: m, sphere: 'celestial', diameter: 28.97 }); is([r.s, r.b.diameter], [201, 29]); is((await call(null, 'GET', '/moulds/' + m)).b.diameter, 290); },
};
function start(fault) {
  return new Promise((go, bad) => {
    const p = 20000 + Math.floor(Math.random() * 20000); clock = p + 1; port = p;
    const c = spawn(process.execPath, [path.join(__dirname, 'service.cjs'), '--port', String(port), '--clock-port', String(clock), ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
    c.stdout.once('data', () => go(c)); c.once('exit', (s) => bad(new Error('ended ' + s)));
  });
}
async function run(id, fault) { const c = await start(fault); c.removeAllListeners('exit'); try { await P[id](); return null; } catch (e) { return e; } finally { c.kill(); } }
(async () => {
  const ids = process.argv.slice(2).length ? process.argv.slice(2) : S.faults.map((f) => f.id); let differ = 0;
  for (const id of ids) {
    if (!P[id]) { console.log('NO PROOF', id); continue; }
    const a = await run(id), b = await run(id, id);
    if (!a && b) differ++; else console.log('WRONG', id, a ? 'sound service fails: ' + a.stack : 'the fault is not seen');
  }
  console.log(`${differ} of ${ids.length} differ`); process.exit(differ === ids.length ? 0 : 1);
})();
