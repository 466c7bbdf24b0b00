// Each fault by hand: one proof against the right service (passes) and the faulty one (fails). `node faults-test.mjs [ID …]`
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import assert from 'node:assert/strict';

const here = new URL('.', import.meta.url), { callers, faults } = JSON.parse(readFileSync(new URL('stranger.json', here)));
const eq = assert.deepEqual, DAY = 864e5;
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
let ports = 21000 + (process.pid % 2000) * 4;

async function world(fault) {
  const port = ports++, clockPort = ports++;
  const child = spawn(process.execPath, ['service.mjs', '--port', port, '--clock-port', clockPort, ...(fault ? ['--fault', fault] : [])], { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((r) => child.stdout.once('data', r));
  const w = { close: () => child.kill(), receivers: [] };
  w.call = async (who, line, body, headers = {}) => {
    const [method, path] = line.split(' '), c = callers.find((x) => x.id === who);
    const own = !c ? {} : c.scheme === 'key' ? { 'X-House-Key': c.credential } : { Authorization: 'Basic ' + Buffer.from(c.credential).toString('base64') };
    const r = await fetch(`http://127.0.0.1:${port}/house${path}`, { method, headers: { ...own, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });
    const text = await r.text();
    return { status: r.status, headers: r.headers, body: text ? JSON.parse(text) : undefined };
  };
  w.good = async (...a) => { const r = await w.call(...a); assert(r.status < 300, `${a[0]} ${a[1]}: ${r.status} ${JSON.stringify(r.body)}`); return r.body; };
  w.is = async (status, code, ...a) => { const r = await w.call(...a); eq([r.status, r.body?.error?.code], [status, code], a[1]); return r; };
  w.clock = async (b) => (await fetch(`http://127.0.0.1:${clockPort}/`, { method: 'POST', body: JSON.stringify(typeof b === 'string' ? { advance: b } : b) })).json();
  w.now = async () => Date.parse((await (await fetch(`http://127.0.0.1:${clockPort}/`)).json()).now);
  let n = 0;
  w.room = (o = {}, who = 'hal', h) => w.good(who, 'POST /rooms', { name: `Room ${++n}`, theme: 'heist', seats: 6, price_cents: 1000, ...o }, h);
  w.slot = async (room, inMs = 5 * DAY, long = 36e5, who = 'hal') => { const t = await w.now() + inMs; return w.good(who, `POST /rooms/${room.id}/slots`, { starts_at: new Date(t).toISOString(), ends_at: new Date(t + long).toISOString() }); };
  w.prop = (room, o = {}) => w.good('hal', 'POST /props', { room: room.id, name: `Prop ${++n}`, ...o });
  w.voucher = async (o = {}, who = 'hal') => w.good(who, 'POST /vouchers', { holder: 'ada', value_cents: 500, valid_until: new Date(await w.now() + 30 * DAY).toISOString(), ...o });
  w.book = (slot, o = {}, who = 'ada') => w.good(who, 'POST /bookings', { slot: slot.id, party: { name: 'Foxes', size: 3 }, ...o });
  w.game = async (inMs, o) => { const room = await w.room(), slot = await w.slot(room, inMs), b = await w.book(slot, o); await w.good('ada', `POST /bookings/${b.id}/confirm`); return { room, slot, b }; };
  w.play = async () => { const g = await w.game(); await w.good('eve', `POST /bookings/${g.b.id}/begin`); return g; };
  w.hook = async (events, who = 'eve') => {
    const got = [], s = http.createServer((q, r) => { let t = ''; q.on('data', (d) => { t += d; }); q.on('end', () => { got.push({ headers: q.headers, text: t, ...JSON.parse(t) }); r.end(); }); });
    await new Promise((r) => s.listen(0, '127.0.0.1', r));
    w.receivers.push(s);
    got.hook = await w.good(who, 'POST /hooks', { url: `http://127.0.0.1:${s.address().port}/in`, ...(events && { events }) });
    return got;
  };
  return w;
}

const proofs = {
  'no-reopen': async (w) => { const r = await w.room(); await w.good('hal', `POST /rooms/${r.id}/close`, { reason: 'paint' }); eq((await w.good('hal', `POST /rooms/${r.id}/reopen`)).state, 'open'); },
  'location-base': async (w) => { const s = await w.slot(await w.room()), r = await w.call('ada', 'POST /bookings', { slot: s.id, party: { name: 'A', size: 2 } }); eq(r.headers.get('location'), `/house/bookings/${r.body.id}`); },
  'booking-prefix': async (w) => assert.match((await w.book(await w.slot(await w.room()))).id, /^bkg_[0-9A-Z]{26}$/),
  'incident-unknown': async (w) => { const r = await w.room(); await w.is(422, 'field_wrong', 'eve', 'POST /incidents', { room: r.id, text: 'A fall', colour: 'red' }); },
  'seats-text': async (w) => { await w.is(422, 'field_wrong', 'hal', 'POST /rooms', { name: 'Crypt', theme: 'horror', seats: '6', price_cents: 900 }); },
  'date-alone': async (w) => { const r = await w.room(), d = new Date(await w.now() + 5 * DAY).toISOString(); await w.is(422, 'field_wrong', 'hal', `POST /rooms/${r.id}/slots`, { starts_at: d.slice(0, 10), ends_at: new Date(Date.parse(d) + DAY).toISOString() }); },
  'holder-optional': async (w) => { await w.is(422, 'field_missing', 'hal', 'POST /vouchers', { value_cents: 500, valid_until: '2040-01-01T00:00:00Z' }); },
  'code-again': async (w) => { const v = await w.voucher(); assert.match(v.code, /^RID-[A-Z0-9]{8}$/); eq((await w.good('ada', `GET /vouchers/${v.id}`)).code, undefined); },
  'price-stale': async (w) => { const b = await w.book(await w.slot(await w.room())); eq(b.price_cents, 3000); eq((await w.good('ada', `PATCH /bookings/${b.id}`, { party: { size: 5 } })).price_cents, 5000); },
  'broken-repair': async (w) => { const r = await w.room(), p = await w.prop(r); await w.good('eve', `POST /props/${p.id}/break`, { fault: 'split in two' }); eq((await w.good(null, `GET /rooms/${r.id}`)).broken_props, 1); await w.good('hal', `POST /props/${p.id}/repair`); eq((await w.good(null, `GET /rooms/${r.id}`)).broken_props, 0); },
  'cost-in-list': async (w) => { const r = await w.room(); await w.prop(r, { cost_cents: 70 }); eq((await w.good('hal', `GET /props?room=${r.id}`)).items[0].cost_cents, 70); eq((await w.good('eve', `GET /props?room=${r.id}`)).items[0].cost_cents, undefined); },
  'half-hour': async (w) => { const r = await w.room(); await w.slot(r, 5 * DAY, 18e5); },
  'slot-moves': async (w) => { const r = await w.room(), a = await w.slot(r), z = await w.slot(r, 6 * DAY), b = await w.book(a); await w.is(422, 'field_wrong', 'ada', `PATCH /bookings/${b.id}`, { slot: z.id }); },
  'number-gap': async (w) => { const r = await w.room(), a = await w.slot(r); eq((await w.book(a)).number, 'RH-00001'); await w.is(409, 'slot_taken', 'ada', 'POST /bookings', { slot: a.id, party: { name: 'B', size: 2 } }); eq((await w.book(await w.slot(r, 6 * DAY))).number, 'RH-00002'); },
  'cancel-by-end': async (w) => { const { b } = await w.game(DAY - 6e5); await w.is(409, 'too_late', 'ada', `POST /bookings/${b.id}/cancel`); },
  'cancel-keeps-slot': async (w) => { const { room, b } = await w.game(); await w.good('ada', `POST /bookings/${b.id}/cancel`); eq((await w.good(null, `GET /slots?room=${room.id}`)).items[0].state, 'free'); },
  'hint-no-restart': async (w) => { const { b } = await w.play(); await w.clock('PT2H'); await w.good('eve', `POST /bookings/${b.id}/hint`, { text: 'Look up' }); await w.clock('PT2H'); eq((await w.good('ada', `GET /bookings/${b.id}`)).state, 'playing'); await w.clock('PT1H1M'); eq((await w.good('ada', `GET /bookings/${b.id}`)).state, 'failed'); },
  'spent-expires': async (w) => { const v = await w.voucher(); await w.game(5 * DAY, { voucher: v.id }); await w.clock('P31D'); eq((await w.good('ada', `GET /vouchers/${v.id}`)).state, 'spent'); },
  'coming-playing': async (w) => { await w.play(); const { b } = await w.game(); eq((await w.good('ada', 'GET /bookings?show=coming')).items.map((x) => x.id), [b.id]); },
  'kind-kept': async (w) => { const p = await w.prop(await w.room(), { kind: 'maglock' }); eq((await w.good('hal', `PUT /props/${p.id}`, { name: 'Door' })).kind, 'padlock'); },
  'tag-derived': async (w) => {
    const r = await w.room(), p = await w.prop(r), tag = (await w.call(null, `GET /rooms/${r.id}`)).headers.get('etag');
    eq((await w.call(null, `GET /rooms/${r.id}`, undefined, { 'If-None-Match': tag })).status, 304);
    await w.good('eve', `POST /props/${p.id}/break`, { fault: 'snapped' });
    eq((await w.call(null, `GET /rooms/${r.id}`, undefined, { 'If-None-Match': tag })).status, 200);
  },
  'slash-end': async (w) => { await w.good(null, 'GET /rooms'); await w.is(404, 'not_there', null, 'GET /rooms/'); },
  'key-any-body': async (w) => {
    const s = await w.slot(await w.room()), k = { 'Idempotency-Key': 'k1' }, b = await w.good('ada', 'POST /bookings', { slot: s.id, party: { name: 'A', size: 2 } }, k);
    eq((await w.good('ada', 'POST /bookings', { slot: s.id, party: { name: 'A', size: 2 } }, k)).id, b.id);
    await w.is(422, 'key_clash', 'ada', 'POST /bookings', { slot: s.id, party: { name: 'A', size: 3 } }, k);
  },
  'vouchers-of-all': async (w) => { const v = await w.voucher(); await w.voucher({}, 'ida'); eq((await w.good('eve', 'GET /vouchers')).items, [{ id: v.id, house: 'north', value_cents: 500, valid_until: v.valid_until, state: 'active' }]); },
  'any-master': async (w) => { const { b } = await w.play(); await w.is(403, 'forbidden', 'gil', `POST /bookings/${b.id}/finish`, { solved: true }); eq(await w.good('eve', `POST /bookings/${b.id}/finish`, { solved: true }), { booking: b.id, escaped: true, hints: 0 }); },
  'slot-any-house': async (w) => { const r = await w.room(); await w.slot(r); await w.is(403, 'forbidden', 'ida', `POST /rooms/${r.id}/slots`, { starts_at: '2041-01-01T10:00:00Z', ends_at: '2041-01-01T11:00:00Z' }); },
  'hook-login': async (w) => { await w.good('eve', 'POST /hooks', { url: 'http://127.0.0.1:9/' }); await w.is(401, 'no_credential', 'gil', 'POST /hooks', { url: 'http://127.0.0.1:9/' }); },
  'closed-listed': async (w) => { const r = await w.room(); await w.good('hal', `POST /rooms/${r.id}/close`, { reason: 'paint' }); eq((await w.good('eve', 'GET /rooms')).items.length, 1); eq((await w.good('fay', 'GET /rooms')).items, []); },
  'key-case': async (w) => { const r = await w.room(), key = callers[0].credential; await w.good(null, `GET /rooms/${r.id}`, undefined, { 'X-House-Key': key }); await w.is(401, 'bad_credential', null, `GET /rooms/${r.id}`, undefined, { 'X-House-Key': key.toUpperCase() }); },
  'lapse-silent': async (w) => { const got = await w.hook(['booking.freed']), b = await w.book(await w.slot(await w.room())); await w.clock('PT16M'); await wait(60); eq(got.map((e) => [e.kind, e.body.id, e.body.state]), [['booking.freed', b.id, 'lapsed']]); },
  'made-twice': async (w) => { const got = await w.hook(['booking.made']); await w.book(await w.slot(await w.room())); await wait(150); eq(got.length, 1); },
  'repriced-was': async (w) => {
    const got = await w.hook(), r = await w.room(), tag = (await w.call('hal', `GET /rooms/${r.id}`)).headers.get('etag');
    await w.good('hal', `PATCH /rooms/${r.id}`, { price_cents: 1200 }, { 'If-Match': tag }); await wait(100);
    eq(got.map((e) => [e.kind, e.body]), [['room.repriced', { room: r.id, was: 1000, is: 1200 }]]);
  },
  'signs-body': async (w) => { const got = await w.hook(); await w.book(await w.slot(await w.room())); await wait(100); const [, t, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(got[0].headers['riddle-signature']); eq(mac, createHmac('sha256', got.hook.secret).update(`${t}.${got[0].text}`).digest('hex')); },
  'no-wildcard': async (w) => { const got = await w.hook(['booking.*']); await w.book(await w.slot(await w.room())); await wait(150); eq(got.map((e) => e.kind), ['booking.made']); },
  'slot-taken-status': async (w) => { const s = await w.slot(await w.room()); await w.book(s); await w.is(409, 'slot_taken', 'ben', 'POST /bookings', { slot: s.id, party: { name: 'B', size: 2 } }); },
  'crowd-later': async (w) => { const b = await w.book(await w.slot(await w.room({ seats: 4 }))); await w.is(422, 'too_many_players', 'ada', `PATCH /bookings/${b.id}`, { party: { size: 5 } }); },
  'weak-tag': async (w) => { const r = await w.room(), tag = (await w.call('hal', `GET /rooms/${r.id}`)).headers.get('etag'); await w.is(412, 'changed', 'hal', `PATCH /rooms/${r.id}`, { seats: 5 }, { 'If-Match': 'W/' + tag }); await w.good('hal', `PATCH /rooms/${r.id}`, { seats: 5 }, { 'If-Match': tag }); },
  'foreign-voucher': async (w) => { const s = await w.slot(await w.room()), v = await w.voucher({ holder: 'ben' }); await w.is(422, 'no_such_reference', 'ada', 'POST /bookings', { slot: s.id, party: { name: 'A', size: 2 }, voucher: v.id }); },
  'user-first': async (w) => { await w.is(403, 'forbidden', 'ada', 'GET /props'); await w.is(400, 'unreadable', 'ada', 'GET /props?colour=red'); },
  'no-trace': async (w) => { const r = await w.is(403, 'forbidden', 'ada', 'POST /rooms', { name: 'Mine', theme: 'heist', price_cents: 900 }); eq(r.body.error.trace, r.headers.get('x-trace')); },
  'thirteen-hints': async (w) => { const { b } = await w.play(); for (let i = 0; i < 12; i++) await w.good('eve', `POST /bookings/${b.id}/hint`, { text: 'No' }); const r = await w.is(429, 'slow_down', 'eve', `POST /bookings/${b.id}/hint`, { text: 'No' }); assert(r.headers.get('retry-after')); await w.clock('PT11S'); await w.good('eve', `POST /bookings/${b.id}/hint`, { text: 'No' }); },
  'seventh-booking': async (w) => { const r = await w.room(); for (let i = 0; i < 6; i++) await w.book(await w.slot(r, (5 + i) * DAY)); await w.is(429, 'slow_down', 'ada', 'POST /bookings', { slot: (await w.slot(r, 20 * DAY)).id, party: { name: 'A', size: 2 } }); },
  'quota-stays': async (w) => { for (let i = 0; i < 30; i++) await w.voucher(); await w.is(429, 'slow_down', 'hal', 'POST /vouchers', { holder: 'ada', value_cents: 500, valid_until: '2040-01-01T00:00:00Z' }); await w.clock('P1D'); await w.voucher(); },
  'body-8191': async (w) => { const r = await w.room(), text = JSON.stringify({ room: r.id, text: 'A fall' }); await w.good('eve', 'POST /incidents', text.padEnd(8192)); await w.is(413, 'too_large', 'eve', 'POST /incidents', text.padEnd(8193)); },
  'cursor-skips': async (w) => { for (const name of ['Aa', 'Bb', 'Cc', 'Dd', 'Ee']) await w.room({ name }); const seen = []; for (let q = ''; q !== null;) { const p = await w.good(null, `GET /rooms?limit=2${q}`); seen.push(...p.items.map((x) => x.name)); eq(p.more, p.next !== null); q = p.next && `&cursor=${p.next}`; } eq(seen, ['Aa', 'Bb', 'Cc', 'Dd', 'Ee']); },
  'version-any': async (w) => { await w.is(400, 'unreadable', null, 'GET /rooms', undefined, { 'Riddle-Version': '2024-01' }); eq((await w.call(null, 'GET /rooms')).headers.get('riddle-version'), '2026-01'); },
  'no-deprecation': async (w) => { const r = await w.is(404, 'not_there', null, 'GET /rooms/rom_x', undefined, { 'Riddle-Version': '2025-02' }); eq([r.headers.get('deprecation'), r.headers.get('sunset')], ['@1759276800', 'Sun, 01 Oct 2028 00:00:00 GMT']); },
  'value-in-list': async (w) => { await w.voucher({ value_cents: 1250 }); eq((await w.good('ada', 'GET /vouchers', undefined, { 'Riddle-Version': '2025-08' })).items[0].value, 12.5); },
};

let proven = 0;
const wanted = process.argv.slice(2);
eq(Object.keys(proofs).sort(), faults.map((f) => f.id).sort());
for (const id of wanted.length ? wanted : Object.keys(proofs)) {
  const seen = [];
  for (const f of [null, id]) {
    const w = await world(f);
    try { await proofs[id](w); seen.push('passes'); } catch (e) { seen.push('fails'); if (!f || e.code !== 'ERR_ASSERTION') console.log(id, f ? 'faulty' : 'right', e.message); }
    w.close();
    for (const s of w.receivers) { s.close(); s.closeAllConnections(); }
  }
  if (seen.join() === 'passes,fails') proven++; else console.log('NOT PROVEN', id, seen.join());
}
console.log(`${proven} of ${wanted.length || faults.length} proven`);
process.exit(proven === (wanted.length || faults.length) ? 0 : 1);
