// A trial for each fault: passes on the right service, fails on the faulty one. `node faults-test.mjs [ID …]`
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { createHmac } from 'node:crypto';
import assert from 'node:assert/strict';
import net from 'node:net';
const { callers, faults } = JSON.parse(readFileSync('stranger.json'));
const hold = () => new Promise((ok) => { const s = net.createServer().listen(0, '127.0.0.1', () => ok(s)); });
const free = async () => { const held = [await hold(), await hold()], ports = held.map((h) => h.address().port); for (const h of held) await new Promise((ok) => h.close(ok)); return ports; };
const sleep = (ms) => new Promise((ok) => setTimeout(ok, ms));
const cred = (id) => { const c = callers.find((k) => k.id === id); return !c ? {} : c.scheme === 'deposit' ? { 'X-Deposit-Key': c.credential } : { Authorization: (c.scheme === 'warrant' ? 'Warrant ' : 'Bearer ') + c.credential }; };
async function start(fault) {
  const ear = http.createServer((q, r) => { let t = ''; q.on('data', (c) => (t += c)).on('end', () => { s.got.push({ to: q.url, h: q.headers, t, b: JSON.parse(t) }); r.writeHead(s.reply(), { 'Content-Length': 0 }); r.end(); }); });
  await new Promise((ok) => ear.listen(0, '127.0.0.1', ok));
  const [port, door] = await free(), child = spawn(process.execPath, ['service.mjs', '--port', port, '--clock-port', door, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'inherit', 'inherit'] });
  const s = {
    got: [], reply: () => 200,
    async raw(path, o = {}) { const r = await fetch(`http://127.0.0.1:${port}${path}`, o), t = await r.text(); return { s: r.status, h: r.headers, b: t ? JSON.parse(t) : undefined }; },
    as: (id, method, path, body, headers = {}) => s.raw('/office' + path, { method, headers: { ...cred(id), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers }, body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) }),
    async move(b) { const r = await fetch(`http://127.0.0.1:${door}/`, { method: 'POST', body: JSON.stringify(typeof b === 'string' ? { advance: b } : b) }); assert.equal(r.status, 200); await sleep(120); return (await r.json()).now; },
    async piece(o = {}, by = 'arnold', h) { const r = await s.as(by, 'POST', '/chronometers', { serial: 'AB' + (1000 + ++s.n), calibre: 'deck', jewels: 15, ...o }, h); assert.equal(r.s, 201, JSON.stringify(r.b)); return r.b; },
    async trial(o = {}, by = 'arnold', of) { const r = await s.as(by, 'POST', `/chronometers/${of ?? (await s.piece({}, by)).id}/trials`, { class: 'B', ...o }); assert.equal(r.s, 201, JSON.stringify(r.b)); return r.b; },
    async go(t, ...names) { let r; for (const n of names) { r = await s.as('airy', 'POST', `/trials/${t.id}/${n}`, n === 'annul' ? { reason: 'none' } : undefined); assert.equal(r.s, 200, JSON.stringify(r.b)); } return r.b; },
    async note(t, o = {}, by = 'airy', h = {}) { return s.as(by, 'POST', `/trials/${t.id}/readings`, { day: 1, error_ms: 100, taken_at: '2026-11-28T08:00:00Z', ...o }, { 'Once-Key': 'k' + ++s.n, ...h }); },
    async hook(by = 'arnold', o = {}, h = {}) { return s.as(by, 'POST', '/hooks', { url: `http://127.0.0.1:${s.ear}/${by}`, ...o }, h); },
    list: async (by, path, h) => { const r = await s.as(by, 'GET', path, undefined, h); assert.equal(r.s, 200, JSON.stringify(r.b)); return r.b; },
    heard: async (n) => { for (let i = 0; i < 20 && s.got.length < n; i++) await sleep(20); await sleep(60); return s.got; },
    n: 0, ear: ear.address().port,
  };
  s.stop = () => { child.kill(); ear.closeAllConnections(); ear.close(); };
  for (let i = 0; i < 200; i++) { try { await fetch(`http://127.0.0.1:${door}/`); await fetch(`http://127.0.0.1:${port}/`); break; } catch { await sleep(20); } }
  return s;
}
const eq = assert.equal, bad = async (s, o, n = 422) => eq((await s.as('arnold', 'POST', '/chronometers', { serial: 'AB1000', calibre: 'deck', jewels: 15, ...o })).s, n);
const finished = async (s, e = [100, 100], o = {}, by) => { const t = await s.trial(o, by); await s.go(t, 'open'); for (let i = 0; i < e.length; i++) eq((await s.note(t, { day: i + 1, error_ms: e[i] })).s, 201); await s.go(t, 'finish'); return t; };
const T = {
  'no-base': async (s) => { eq((await s.raw('/notice')).s, 404); eq((await s.raw('/office/notice')).s, 200); },
  'serial-short': (s) => bad(s, { serial: 'AB12' }),
  'jewels-max': async (s) => { await bad(s, { jewels: 32 }); await s.piece({ jewels: 31 }); },
  'beat-step': async (s) => { await bad(s, { beat_hz: 1.25 }); await s.piece({ beat_hz: 2.5 }); },
  'remark-long': async (s) => { await bad(s, { remark: 'x'.repeat(61) }); await s.piece({ remark: 'x'.repeat(60) }); },
  'pin-shown': async (s) => { const t = await s.trial(); await s.go(t, 'open'); const r = await s.note(t, { pin: '1234' }); eq(r.s, 201); eq((await s.list('airy', '/readings/' + r.b.id)).pin, undefined); },
  'secret-again': async (s) => { const h = await s.hook(); eq(h.s, 201); eq(h.b.secret.length, 40); eq((await s.list('arnold', '/hooks/' + h.b.id)).secret, undefined); },
  'price-to-rater': async (s) => { const c = await s.piece({ asking_price: 5 }); eq(c.asking_price, 5); eq((await s.list('airy', '/chronometers/' + c.id)).asking_price, undefined); eq((await s.list('deptford', '/chronometers/' + c.id)).asking_price, 5); },
  'serial-of-all': async (s) => { await s.piece({ serial: 'ZZ777' }); await s.piece({ serial: 'ZZ777' }, 'kendall'); await bad(s, { serial: 'ZZ777' }, 409); },
  'number-of-all': async (s) => { eq((await s.trial()).number, 1); const t = await s.trial(); eq(t.number, 1); eq((await s.trial({}, 'arnold', t.chronometer)).number, 2); },
  'gross-absolute': async (s) => { const t = await finished(s, [300, -100]); eq((await s.list('arnold', '/trials/' + t.id)).gross_ms, 200); },
  'put-merges': async (s) => { const t = await s.trial(); await s.go(t, 'open'); const { b } = await s.note(t, { temp_c: 4, sky: 'fog' }); const r = await s.as('airy', 'PUT', '/readings/' + b.id, { day: 1, error_ms: 7, taken_at: b.taken_at }); eq(r.s, 200); eq(r.b.temp_c, undefined); eq(r.b.error_ms, 7); },
  'rule-at-birth-only': async (s) => { const t = await s.trial({ class: 'A', days: 20 }); const r = await s.as('arnold', 'PATCH', '/trials/' + t.id, { days: 19 }); eq(r.s, 422); eq(r.b.fault.slips[0].path, '/days'); },
  'amended-by-hand-only': async (s) => { const c = await s.piece(); await s.move('PT1M'); const r = await s.as('arnold', 'POST', `/chronometers/${c.id}/withdraw`); eq(r.s, 200); assert.notEqual(r.b.amended_at, c.amended_at); eq(r.b.deposited_at, c.deposited_at); },
  'withdraw-on-test': async (s) => { const t = await s.trial(); await s.go(t, 'open'); eq((await s.as('arnold', 'POST', `/chronometers/${t.chronometer}/withdraw`)).s, 409); },
  'readmit-three': async (s) => { const t = await s.trial(); for (let i = 0; i < 2; i++) await s.trial({}, 'arnold', t.chronometer); eq((await s.as('arnold', 'POST', `/chronometers/${t.chronometer}/withdraw`)).s, 200); eq((await s.as('arnold', 'POST', `/chronometers/${t.chronometer}/readmit`)).b.fault?.name, 'worn_out'); },
  'finish-one': async (s) => { const t = await s.trial(); await s.go(t, 'open'); await s.note(t); eq((await s.as('airy', 'POST', `/trials/${t.id}/finish`)).b.fault?.name, 'too_few'); },
  'certify-low': async (s) => { const t = await finished(s, [-4000, -1]); const r = await s.go(t, 'certify'); eq(r.phase, 'failed'); assert(r.valid_until); eq((await s.go(await finished(s, [-4000, 0]), 'certify')).phase, 'certified'); eq((await s.go(await finished(s, [4000, 0]), 'certify')).phase, 'certified'); },
  'annul-finished': async (s) => { const t = await finished(s); eq((await s.as('arnold', 'POST', `/trials/${t.id}/annul`, { reason: 'lost' })).b.fault?.name, 'too_late'); },
  'annul-keeps-piece': async (s) => { const t = await s.trial(); await s.go(t, 'open'); eq((await s.list('arnold', '/chronometers/' + t.chronometer)).condition, 'on_test'); eq((await s.go(t, 'annul')).void_reason, 'none'); eq((await s.list('arnold', '/chronometers/' + t.chronometer)).condition, 'shelved'); },
  'lapse-late': async (s) => { const t = await s.trial(); await s.move('P13DT23H'); eq((await s.list('arnold', '/trials/' + t.id)).phase, 'planned'); await s.move('PT1H1M'); eq((await s.list('arnold', '/trials/' + t.id)).phase, 'void'); },
  'back-from-deposit': async (s) => { const c = await s.piece(); await s.move('P10D'); await s.as('arnold', 'POST', `/chronometers/${c.id}/withdraw`); await s.move('P20D'); eq((await s.list('arnold', '/chronometers/' + c.id)).condition, 'withdrawn'); await s.move('P2D'); eq((await s.list('arnold', '/chronometers/' + c.id)).condition, 'returned'); },
  'stall-always': async (s) => { const t = await s.trial(), u = await s.trial(); await s.go(t, 'open'); await s.go(u, 'open'); await s.note(t); await s.move('P21D'); eq((await s.list('arnold', '/trials/' + t.id)).phase, 'running'); eq((await s.list('arnold', '/trials/' + u.id)).phase, 'failed'); eq((await s.list('arnold', '/chronometers/' + u.chronometer)).condition, 'shelved'); },
  'min-exclusive': async (s) => { await s.piece({ jewels: 9 }); await s.piece({ jewels: 8 }); eq((await s.list('arnold', '/chronometers?jewels_min=9')).tally, 1); },
  'remark-any-case': async (s) => { await s.piece({ remark: 'Gold case' }); eq((await s.list('arnold', '/chronometers?remark_has=gold')).tally, 0); eq((await s.list('arnold', '/chronometers?remark_has=old%20c')).tally, 1); },
  'first-of-split': async (s) => { await s.trial(); await s.go(await s.trial(), 'open'); eq((await s.list('arnold', '/trials?phase=planned,running')).tally, 2); eq((await s.list('arnold', '/trials?phase=running')).tally, 1); },
  'oven-first': async (s) => { await s.trial({ oven_temps: [5, 40] }); eq((await s.list('arnold', '/trials?oven=40')).tally, 1); eq((await s.list('arnold', '/trials?oven=6')).tally, 0); },
  'way-ignored': async (s) => { for (const days of [3, 9, 5]) await s.trial({ days }); eq(String((await s.list('arnold', '/trials?by=length&way=desc')).rows.map((r) => r.days)), '9,5,3'); eq(String((await s.list('arnold', '/trials?by=-length&way=desc')).rows.map((r) => r.days)), '3,5,9'); eq(String((await s.list('arnold', '/trials?way=asc')).rows.map((r) => r.days)), '3,9,5'); },
  'mark-repeats': async (s) => { for (let i = 0; i < 5; i++) await s.piece({ jewels: 10 }); const all = []; let m = ''; do { const p = await s.list('arnold', '/chronometers?sort=-jewels&take=2' + m); all.push(...p.rows.map((r) => r.id)); m = p.onward && '&mark=' + p.onward; eq(p.tally, 5); eq(p.more, !!m); } while (m && all.length < 12); eq(all.length, 5); eq(new Set(all).size, 5); },
  'tag-forgotten': async (s) => { const c = await s.piece(); eq((await s.as('arnold', 'PATCH', '/chronometers/' + c.id, { jewels: 9 })).s, 428); const tag = (await s.as('arnold', 'GET', '/chronometers/' + c.id)).h.get('etag'); eq((await s.as('arnold', 'PATCH', '/chronometers/' + c.id, { jewels: 9 }, { 'If-Match': tag })).s, 200); eq((await s.as('arnold', 'PATCH', '/chronometers/' + c.id, { jewels: 8 }, { 'If-Match': tag })).s, 412); },
  'no-location': async (s) => { const t = await s.trial(); await s.go(t, 'open'); const r = await s.note(t); eq(r.h.get('location'), '/office/readings/' + r.b.id); },
  'key-bodyless': async (s) => { const c = await s.piece({ serial: 'KK100' }, 'arnold', { 'Once-Key': 'a' }); eq((await s.piece({ serial: 'KK100' }, 'arnold', { 'Once-Key': 'a' })).id, c.id); const r = await s.as('arnold', 'POST', '/chronometers', { serial: 'KK101', calibre: 'deck', jewels: 15 }, { 'Once-Key': 'a' }); eq(r.b.fault?.name, 'key_reused'); },
  'stray-query': async (s) => eq((await s.as('arnold', 'GET', '/trials?colour=red')).s, 400),
  'any-grade': async (s) => { await s.go(await finished(s), 'certify'); eq((await s.list('deptford', '/trials')).tally, 0); eq((await s.list('portsea', '/trials')).tally, 1); },
  'list-all-trials': async (s) => { await s.trial(); await s.trial({}, 'kendall'); eq((await s.list('arnold', '/trials')).tally, 1); eq((await s.list('airy', '/trials')).tally, 2); },
  'purser-sees-days': async (s) => { const t = await finished(s); await s.go(t, 'certify'); eq(Object.keys(await s.list('portsea', '/trials/' + t.id)).join(), 'id,chronometer,number,class,phase,valid_until,gross_ms,booked_at'); eq((await s.as('portsea', 'GET', '/trials?by=length')).s, 400); },
  'scope-ignored': async (s) => { const r = await s.as('harrison', 'POST', '/chronometers', { serial: 'AB1000', calibre: 'deck', jewels: 15 }); eq(r.s, 403); eq(r.b.fault.name, 'no_scope'); },
  'strike-any': async (s) => { const t = await s.trial(); await s.go(t, 'open'); const r = await s.note(t); eq((await s.as('dunkin', 'DELETE', '/readings/' + r.b.id)).s, 403); eq((await s.as('airy', 'DELETE', '/readings/' + r.b.id)).s, 204); },
  'certify-any-scheme': async (s) => { const t = await finished(s); eq((await s.as('arnold', 'POST', `/trials/${t.id}/certify`)).s, 401); },
  'opened-twice': async (s) => { await s.hook('arnold', { topics: ['trial.*'] }); await s.go(await s.trial(), 'open'); eq((await s.heard(1)).length, 1); eq(s.got[0].b.what, 'trial.opened'); },
  'judged-silent-failed': async (s) => { await s.hook('airy', { topics: ['trial.judged'] }); await s.go(await finished(s, [9000, 1]), 'certify'); const g = await s.heard(1); eq(g.length, 1); eq(g[0].b.body.passed, false); },
  'seal-no-id': async (s) => { const { b } = await s.hook(); await s.piece(); const [g] = await s.heard(1); const [, ts, mac] = /^ts=(\d+),mac=([0-9a-f]{64})$/.exec(g.h['observatory-seal']); eq(mac, createHmac('sha256', b.secret).update(`${g.b.ref}:${ts}:${g.t}`).digest('hex')); eq(g.h['observatory-event'], g.b.ref); },
  'note-in-event': async (s) => { await s.hook('arnold', { topics: ['trial.opened'] }); await s.hook('airy', { topics: ['trial.opened'] }); const t = await s.trial({ sealed_note: 'mine' }); eq((await s.as('airy', 'PATCH', '/trials/' + t.id, { sealed_note: 'slow' })).b.sealed_note, 'slow'); await s.go(t, 'open'); const g = await s.heard(2); eq(g.length, 2); eq(g.find((d) => d.to === '/arnold').b.body.sealed_note, undefined); eq(g.find((d) => d.to === '/airy').b.body.sealed_note, 'slow'); },
  'noted-to-all': async (s) => { await s.hook('airy', { topics: ['reading.noted'] }); await s.hook('arnold', { topics: ['reading.noted'] }); const t = await s.trial(); await s.go(t, 'open'); await s.note(t); eq(String((await s.heard(2)).map((g) => g.to)), '/arnold'); },
  'two-retries': async (s) => { s.reply = () => 500; await s.hook(); await s.piece(); await s.heard(1); await s.move('PT11S'); await s.move('PT3M'); eq(s.got.length, 3); await s.move('PT61M'); await s.move('P1D'); eq(s.got.length, 4); eq(new Set(s.got.map((g) => g.b.ref)).size, 1); },
  'hidden-403': async (s) => { const c = await s.piece(); eq((await s.as('kendall', 'GET', '/chronometers/' + c.id)).s, 404); },
  'lacking-422': async (s) => { const r = await s.as('arnold', 'POST', '/chronometers', { serial: 'AB1000' }); eq(r.b.fault.name, 'lacking'); eq(r.s, 400); eq(r.b.fault.http, 400); },
  'docket-other': async (s) => { const r = await s.as('arnold', 'GET', '/chronometers/none'); eq(r.b.fault.docket, r.h.get('docket')); eq(r.h.get('fault'), 'not_found'); },
  'hand-plain': async (s) => { const t = await s.trial(); await s.go(t, 'open'); const { b } = await s.note(t); eq((await s.as('dunkin', 'PUT', '/readings/' + b.id, { day: 1, error_ms: 7, taken_at: b.taken_at })).b.fault.name, 'not_your_hand'); },
  'no-retry-after': async (s) => { for (let i = 0; i < 12; i++) await s.hook(); const r = await s.hook(); eq(r.s, 429); assert(Number(r.h.get('retry-after')) > 3500); eq(r.h.get('allowance-left'), '0'); },
  'rate-241': async (s) => { for (let i = 0; i < 240; i++) eq((await s.as('mudge', 'GET', '/hooks')).s, 200); eq((await s.as('mudge', 'GET', '/hooks')).s, 429); await s.move('PT1M'); eq((await s.as('mudge', 'GET', '/hooks')).s, 200); },
  'quota-utc': async (s) => { await s.move({ now: '2026-12-05T17:00:00Z' }); const c = await s.piece(); for (let i = 0; i < 20; i++) await s.trial({}, 'arnold', c.id); const r = await s.as('arnold', 'POST', `/chronometers/${c.id}/trials`, { class: 'B' }); eq(r.b.fault?.name, 'spent'); eq(r.s, 403); await s.move({ now: '2026-12-05T18:31:00Z' }); await s.trial({}, 'arnold', c.id); },
  'idle-hooks-count': async (s) => { for (let i = 0; i < 3; i++) eq((await s.hook('mudge', { active: false })).s, 201); for (let i = 0; i < 2; i++) eq((await s.hook('mudge')).s, 201); eq((await s.hook('mudge')).b.fault.name, 'spent'); },
  'no-clamp': async (s) => { await s.list('arnold', '/chronometers?take=26'); eq((await s.as('arnold', 'GET', '/trials?take=41')).s, 400); },
  'body-4097': async (s) => { const b = JSON.stringify({ serial: 'AB1000', calibre: 'deck', jewels: 15 }); eq((await s.as('arnold', 'POST', '/chronometers', b.padEnd(4097))).s, 413); eq((await s.as('arnold', 'POST', '/chronometers', b.padEnd(4096))).s, 201); },
  'escapement-early': async (s) => { const c = await s.piece({ calibre: 'marine_box' }), r = await s.as('arnold', 'GET', '/chronometers/' + c.id, undefined, { 'Rates-Edition': 'r1' }); eq(r.b.escapement, undefined); eq(r.b.number, c.serial); eq(r.b.calibre, 'box'); eq(r.h.get('deprecation'), '@1790812800'); eq(r.h.get('sunset'), 'Tue, 01 Jun 2027 00:00:00 GMT'); },
  'old-filter': async (s) => { await s.piece({ calibre: 'marine_box' }); eq((await s.list('arnold', '/chronometers?calibre=box,deck', { 'Rates-Edition': 'r1' })).tally, 1); eq((await s.as('arnold', 'GET', '/chronometers?calibre=marine_box', undefined, { 'Rates-Edition': 'r1' })).s, 400); },
  'event-newest': async (s) => { await s.hook('arnold', { topics: ['reading.noted'] }, { 'Rates-Edition': 'r1' }); const t = await s.trial(); await s.go(t, 'open'); eq((await s.note(t, { error_ms: undefined, error: -1.5 }, 'airy', { 'Rates-Edition': 'r1' })).b.error, -1.5); const [g] = await s.heard(1); eq(g.b.body.error, -1.5); eq(g.b.body.error_ms, undefined); },
  'readmit-early': async (s) => { const c = await s.piece(); await s.as('arnold', 'POST', `/chronometers/${c.id}/withdraw`); eq((await s.as('arnold', 'POST', `/chronometers/${c.id}/readmit`, undefined, { 'Rates-Edition': 'r1' })).s, 404); eq((await s.as('arnold', 'POST', `/chronometers/${c.id}/readmit`)).s, 200); },
  'sunset-serves': async (s) => { await s.list('arnold', '/chronometers', { 'Rates-Edition': 'r1' }); await s.move({ now: '2027-06-01T00:00:00Z' }); eq((await s.as('arnold', 'GET', '/chronometers', undefined, { 'Rates-Edition': 'r1' })).s, 410); await s.list('arnold', '/chronometers'); },
};
const trial = async (id, fault) => { const s = await start(fault); try { await T[id](s); return null; } catch (e) { return e; } finally { s.stop(); } };
let wrong = 0;
for (const { id } of faults) {
  if (process.argv.length > 2 && !process.argv.includes(id)) continue;
  const right = T[id] ? await trial(id) : new Error('no trial'), faulty = T[id] && await trial(id, id);
  if (right || !faulty || faulty.code !== 'ERR_ASSERTION') { wrong++; console.log(id, right ? 'RIGHT SERVICE FAILS: ' + right.stack.slice(0, 400) : faulty ? 'ODD: ' + faulty.stack : 'NOT SEEN'); }
}
console.log(wrong ? `${wrong} wrong` : 'every trial passes on the right service and fails on its fault');
process.exit(wrong ? 1 : 0);
