
// more trials by hand on the right service:  node hand.mjs
import { start, ok, eq, wait, sleep } from './faults-test.mjs';
import net from 'node:net';
const s = await start();
const T = async (name, f) => { try { await f(); console.log('ok  ', name); } catch (e) { console.log('FAIL', name, e.message); } };
const m = await s.base();
await T('410 disables and tells others', async () => {
  const r = await s.receiver(), r2 = await s.receiver(); r.status = () => 410;
  const h = (await s.must(201, 'anna', 'POST', '/hooks', { body: { url: r.url, kinds: ['turn.asked'] } })).body;
  await s.must(201, 'anna', 'POST', '/hooks', { body: { url: r2.url, kinds: ['hook.*'] } });
  await s.turn(m.id, 30);
  ok(await wait(() => r2.got.length === 1), 'not told'); eq(r2.got[0].load, { hook: h.id });
  eq((await s.call('anna', 'GET', '/hooks/' + h.id)).body.on, false);
  await s.must(200, 'anna', 'PATCH', '/hooks/' + h.id, { body: { on: true } });
  await s.must(201, 'anna', 'POST', '/hooks', { body: { url: r.url } });
  eq((await s.call('anna', 'POST', '/hooks', { body: { url: r.url } })).word, 'used-up');
  eq((await s.call('bert', 'DELETE', '/hooks/' + h.id)).word, 'not-found');
  for (const x of (await s.call('anna', 'GET', '/hooks')).body.sheaves) await s.must(204, 'anna', 'DELETE', '/hooks/' + x.id);
});
await T('tries: 5, then disabled after 5h', async () => {
  const r = await s.receiver(); r.status = () => 500;
  const h = (await s.must(201, 'anna', 'POST', '/hooks', { body: { url: r.url, kinds: ['turn.asked'] } })).body;
  await s.turn(m.id, 40); await wait(() => r.got.length === 1);
  for (const [d, n] of [['PT10S', 1], ['PT14S', 2], ['PT2M', 2], ['PT96S', 3], ['PT48M', 4], ['PT4H', 4], ['PT4H', 5]]) { await s.clock({ advance: d }); await sleep(80); eq(r.got.length, n, d); }
  eq((await s.call('anna', 'GET', '/hooks/' + h.id)).body.on, false, 'on');
});
await T('editions', async () => {
  const n = (await s.must(201, 'hedi', 'POST', '/machines', { ed: 'first-cut', body: { kind: 'drill', name: 'Edi', width: 3.33, home: 'oberhof', fee_cents: 5 } })).body;
  eq(n.width, 3.33); eq((await s.call('anna', 'GET', '/machines/' + n.id)).body.width, 333);
  const w = await s.call('hedi', 'PATCH', '/machines/' + n.id, { ed: 'second-cut', body: { width: 333 } }); eq([w.word, w.body.snags[0].path], ['misfit', 'width']);
  eq((await s.must(200, 'hedi', 'PATCH', '/machines/' + n.id, { ed: 'second-cut', body: { width: 4.2 } })).body.width, 4.2);
  const r = (await s.must(201, 'anna', 'POST', '/repairs', { ed: 'first-cut', body: { machine: n.id, trouble: 'no spark', urgency: 'low', parts: [{ position: 1, name: 'plug', cents: 900 }] } })).body;
  eq([r.trouble, r.urgency, r.cost_cents, r.parts.length], ['no spark', 'low', 900, 1]);
  eq((await s.call('emil', 'GET', '/repairs/' + r.id)).body.urgency, 'idle');
  const bad = await s.call('anna', 'POST', '/repairs', { body: { machine: n.id, fault: 'no spark', parts: [{ position: 1, name: 'plug' }, { position: 0, name: 'x', cents: 1 }] } }); eq(bad.body.snags.map(x => x.path), ['parts.0.cents', 'parts.1.position']); eq(bad.word, 'left-out');
  eq((await s.call('anna', 'POST', '/repairs', { body: { machine: n.id, fault: 'no spark', parts: [{ position: 1, name: 'plug', cents: 1 }, { position: 1, name: 'x', cents: 1 }] } })).word, 'already-there');
  const p = await s.must(201, 'emil', 'POST', `/repairs/${r.id}/parts`, { body: { position: 2, name: 'wire', cents: 100 } }); ok(p.headers.location === undefined, 'Location of a part'); eq(p.body.repair, r.id);
  eq((await s.call('emil', 'GET', '/repairs/' + r.id)).body.cost_cents, 1000);
  eq((await s.call('emil', 'PATCH', '/repairs/' + r.id, { ed: 'first-cut', body: { trouble: 'x' } })).body.snags[0].path, 'trouble');
  eq((await s.must(200, 'emil', 'PATCH', '/repairs/' + r.id, { ed: 'first-cut', body: { urgency: 'high' } })).body.urgency, 'high');
  await s.must(204, 'emil', 'DELETE', '/parts/' + p.body.id); eq((await s.call('emil', 'DELETE', '/parts/' + p.body.id)).word, 'not-found');
  const b = await s.turnBody(60); const t = (await s.must(201, 'anna', 'POST', `/machines/${n.id}/turns`, { ed: 'first-cut', body: { ...b, remark: 'early' } })).body;
  eq([t.remark, t.crop, t.note], ['early', undefined, undefined]); const u = (await s.call('anna', 'GET', '/turns/' + t.id)).body; eq([u.note, u.crop], ['early', 'wheat']);
  eq((await s.must(200, 'anna', 'PATCH', '/turns/' + t.id, { body: { note: null } })).body.note, null);
  const x = await s.call('anna', 'PATCH', '/turns/' + t.id, { body: { ends_at: b.starts_at } }); eq([x.word, x.body.snags.length, x.body.snags[0].path], ['misfit', 1, 'ends_at']);
  eq((await s.call('anna', 'PATCH', '/turns/' + t.id, { body: { hours: null } })).word, 'misfit');
  eq((await s.call('anna', 'PATCH', '/turns/' + t.id, { body: { crop: 'maize' } })).word, 'points-nowhere');
  eq((await s.call('anna', 'PATCH', '/turns/' + t.id, { raw: '{"hours":5}', headers: { 'Content-Type': 'application/merge-patch+json' } })).status, 200);
  eq((await s.call('anna', 'PATCH', '/turns/0' + t.id, { body: {} })).word, 'not-found');
});
await T('stopped repair breaks, fix mends', async () => {
  const n = await s.machine(), r = await s.repair(n.id, { urgency: 'stopped' });
  eq((await s.call('anna', 'GET', '/machines/' + n.id)).body.condition, 'broken');
  await s.repair(n.id, { urgency: 'stopped' }, 'emil');
  eq((await s.call('gust', 'POST', `/repairs/${r.id}/claim`)).word, 'no-ticket'); eq((await s.call('anna', 'POST', `/repairs/${r.id}/claim`)).word, 'not-your-trade');
  eq((await s.must(200, 'frida', 'POST', `/repairs/${r.id}/claim`)).body.mechanic, 'mec-frida');
  eq((await s.call('emil', 'POST', `/repairs/${r.id}/fix`, { body: {} })).word, 'left-out');
  const f = await s.must(200, 'emil', 'POST', `/repairs/${r.id}/fix`, { body: { runs: true } }); eq(f.body.state, 'fixed');
  eq((await s.call('anna', 'GET', '/machines/' + n.id)).body.condition, 'ready');
  eq((await s.call('emil', 'POST', `/repairs/${r.id}/fix`, { body: { runs: true } })).word, 'wrong-stage');
  const e = (await s.must(200, 'emil', 'GET', '/entries?take=50&about=' + n.id)).body.entries; eq(e.map(x => [x.data.was, x.data.is]), [['ready', 'broken'], ['broken', 'ready']]);
});
await T('a key under beyond_repair replays', async () => {
  const n = await s.machine(), r = await s.repair(n.id); await s.must(200, 'frida', 'POST', `/repairs/${r.id}/claim`);
  for (let i = 0; i < 2; i++) eq((await s.call('emil', 'POST', `/repairs/${r.id}/fix`, { body: { runs: false }, headers: { 'Ring-Once': 'z' } })).word, 'beyond_repair');
});
await T('two turns out with one machine', async () => {
  await s.clock({ advance: 'PT2M' }); const n = await s.machine(), a = await s.done(n.id, 1), b = await s.turn(n.id, 1.5); await s.must(200, 'hedi', 'POST', `/turns/${b.id}/grant`);
  eq((await s.call('anna', 'POST', `/turns/${b.id}/collect`)).word, 'machine_out'); eq((await s.call('anna', 'GET', '/turns/' + b.id)).body.state, 'granted');
  await s.must(200, 'anna', 'POST', `/turns/${a.id}/bring`); eq((await s.call('hedi', 'GET', '/farms/oberhof')).body.owed_cents, 3600);
});
await T('pages', async () => {
  const r = await s.must(200, 'anna', 'GET', '/machines?rows=2&from=2'); ok(/from=4>; rel="next", <[^>]*from=1>; rel="prev", <[^>]*from=1>; rel="first"/.test(r.headers.link), r.headers.link);
  for (const q of ['from=0', 'from=x', 'rows=0', 'rows=41', 'rows=1.5']) eq((await s.call('anna', 'GET', '/machines?' + q)).word, 'odd-leaf', q);
  eq((await s.call('anna', 'GET', '/machines?kind=baler&kind=drill,thresher')).status, 200);
  for (const q of ['kind=plough', 'sort=x', 'max_fee=1.5', 'condition=gone', 'home=a&home=b', 'q=' + 'x'.repeat(61)]) eq((await s.call('anna', 'GET', '/machines?' + q)).word, 'odd-question', q);
  let mark = '', n = 0; do { const e = (await s.must(200, 'emil', 'GET', '/entries?take=3' + (mark && '&mark=' + mark))).body; n += e.entries.length; mark = e.mark; } while (mark);
  eq((await s.must(200, 'emil', 'GET', '/entries?take=999')).body.entries.length, Math.min(n, 50));
});
await T('at once', async () => {
  const socks = []; for (let i = 0; i < 12; i++) { const c = net.connect(s.port, '127.0.0.1'); c.on('error', () => { }); c.write('POST /ring/hooks HTTP/1.1\r\nHost: x\r\nRing-Key: ring.bertAAAA1111bbbb2222dddd\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'); socks.push(c); }
  await sleep(100); const r = await s.call('bert', 'GET', '/hooks'); eq([r.status, r.headers['retry-after']], [429, '1']); for (const c of socks) c.destroy(); await sleep(100); await s.must(200, 'bert', 'GET', '/hooks');
});
await T('rate of 600', async () => { for (let i = 0; i < 600; i++) await s.must(200, 'ivo', 'GET', '/crops'); });
await T('rate of a caller', async () => { let r; for (let i = 0; i < 601; i++) r = await s.call('ivo', 'GET', '/farms'); eq([r.status, r.word, r.headers['ring-left']], [429, 'slow-down', '0']); ok(r.headers['retry-after'] > 50, 'Retry-After'); await s.clock({ advance: 'PT1M' }); await s.must(200, 'ivo', 'GET', '/farms'); });
await T('burst', async () => { const n = await s.machine(); await s.clock({ advance: 'PT5M' }); for (let i = 0; i < 10; i++) await s.repair(n.id, {}, 'bert'); const r = await s.call('bert', 'POST', '/repairs', { body: {} }); eq([r.status, r.headers['retry-after']], [429, '10']); await s.clock({ advance: 'PT10S' }); await s.repair(n.id, {}, 'bert'); });
await T('log ends', async () => { await s.clock({ advance: 'P46D' }); const e = (await s.must(200, 'hedi', 'GET', '/entries?take=50')).body.entries; ok(e.every(x => Date.parse(x.at) > Date.now()), 'old'); });
await T('sunset serves', async () => { await s.clock({ now: '2028-01-01T00:00:00Z' }); await s.must(200, null, 'GET', '/crops', { ed: 'second-cut' }); });
console.log(s.err()); s.end();
