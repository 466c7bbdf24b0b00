// One proof by hand for each fault: it passes on the correct service, and fails on the one with the fault.
//   node faults-test.mjs [ID ...]
import http from 'node:http';
import crypto from 'node:crypto';
import net from 'node:net';
import fs from 'node:fs';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const TALLY = { ana: 'tally_AnaKrka0000000000000001A', bor: 'tally_BorKrka0000000000000002B', cene: 'tally_CeneKrka000000000000003C', dana: 'tally_DanaSoca000000000000004D', drago: 'tally_DragoSoca00000000000005E',
  vid: 'tally_VidKrka0000000000000006F', vera: 'tally_VeraSoca000000000000007G', vlado: 'tally_VladoKrka00000000000008H', rok: 'tally_RokKrka0000000000000009I', rina: 'tally_RinaSoca000000000000010J' };
export const pass = (claims) => {
  const b = (o) => Buffer.from(JSON.stringify(o)).toString('base64url'), s = `${b({ alg: 'HS256', typ: 'JWT' })}.${b({ iss: 'https://id.underlog.example', aud: 'underlog', ...claims })}`;
  return `${s}.${crypto.createHmac('sha256', 'underlog-secret-of-the-trial-desk').update(s).digest('base64url')}`;
};
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const freePort = () => new Promise((r) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => r(port)); }); });
class Broken extends Error {}
const eq = (a, b, what) => { if (JSON.stringify(a) !== JSON.stringify(b)) throw new Broken(`${what}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`); };
const ok = (x, what) => { if (!x) throw new Broken(what); };
function call(port, method, p, headers, body) {
  return new Promise((res, rej) => {
    const r = http.request({ host: '127.0.0.1', port, method, path: p, headers, agent: false }, (m) => { let t = ''; m.on('data', (c) => { t += c; }); m.on('end', () => { let b; try { b = t ? JSON.parse(t) : undefined; } catch { b = t; } res({ status: m.statusCode, headers: m.headers, body: b }); }); });
    r.on('error', rej); r.end(body);
  });
}
async function start(fault) {
  const port = await freePort(), door = await freePort();
  const child = spawn(process.execPath, [path.join(here, 'service.mjs'), '--port', port, '--clock-port', door, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'inherit', 'inherit'] });
  for (let i = 0; ; i++) { try { await call(door, 'GET', '/', {}); await call(port, 'GET', '/', {}); break; } catch (e) { if (i > 100) throw e; await sleep(20); } }
  const hooks = [];
  const t = {
    port, door,
    async req(method, p, { as, body, headers = {}, v = 'v3', raw } = {}) {
      const h = { ...headers };
      if (as) h['X-Tally'] = TALLY[as];
      let text = raw;
      if (body !== undefined) { text = JSON.stringify(body); h['Content-Type'] = 'application/json'; }
      if (text !== undefined) h['Content-Length'] = Buffer.byteLength(text);
      return call(port, method, `/desk${v ? `/${v}` : ''}${p}`, h, text);
    },
    async need(status, method, p, o) { const r = await t.req(method, p, o); if (r.status !== status) throw new Broken(`${method} ${p}: ${r.status} ${JSON.stringify(r.body)} is not ${status}`); return r; },
    async now() { return Date.parse((await call(door, 'GET', '/', {})).body.now); },
    async advance(d) { const r = await call(door, 'POST', '/', {}, JSON.stringify({ advance: d })); if (r.status !== 200) throw new Error('door'); },
    async to(when) { const r = await call(door, 'POST', '/', {}, JSON.stringify({ now: when })); if (r.status !== 200) throw new Error(`door ${JSON.stringify(r.body)}`); },
    async cave(code = 'AB-001', more = {}, o = {}) { return (await t.need(201, 'POST', '/caves', { as: 'vid', body: { code, name: `Cave ${code}`, kind: 'maze', depth_cm: 12000, entrances: [{ label: 'main', lat: 46.1, lon: 14.2 }], ...more }, ...o })).body; },
    async tripBody(more = {}) { const n = await t.now(); return { cave: 'AB-001', title: `Trip ${crypto.randomBytes(3).toString('hex')}`, party: ['Ana', 'Bor'], enters_at: new Date(n + 3600e3).toISOString(), callout_at: new Date(n + 10 * 3600e3).toISOString(), ...more }; },
    async trip(more = {}, as = 'ana') { return (await t.need(201, 'POST', '/trips', { as, body: await t.tripBody(more) })).body; },
    async under(more, as = 'ana') { const r = await t.trip(more, as); return (await t.need(200, 'POST', `/trips/${r.id}/enter`, { as })).body; },
    leg: (more = {}) => ({ start: 'A1', end: 'A2', tape_cm: 500, compass: 10, clino: 0, ...more }),
    async permit(as = 'ana', more = {}, cave = 'AB-001', o = {}) { const n = await t.now(); return t.req('POST', `/caves/${cave}/permits`, { as, headers: { 'Once-Key': crypto.randomUUID() }, body: { purpose: 'to look around', days: 3, valid_until: new Date(n + 30 * 86400e3).toISOString(), ...more }, ...o }); },
    async hook(as, more = {}, o = {}) {
      const got = [], plan = { status: 200 };
      const srv = http.createServer((q, s) => { let b = ''; q.on('data', (c) => { b += c; }); q.on('end', () => { got.push({ headers: q.headers, raw: b, body: JSON.parse(b) }); s.writeHead(typeof plan.status === 'function' ? plan.status(got.at(-1)) : plan.status); s.end(); }); });
      await new Promise((r) => srv.listen(0, '127.0.0.1', r));
      hooks.push(srv);
      const l = (await t.need(201, 'POST', '/listeners', { as, body: { label: `l${hooks.length}`, url: `http://127.0.0.1:${srv.address().port}/in`, ...more }, ...o })).body;
      const wait = async (n, ms = 1500) => { for (let i = 0; i < ms / 20 && got.length < n; i++) await sleep(20); await sleep(60); };
      return { got, plan, l, wait };
    },
    async stop() { for (const s of hooks) { s.closeAllConnections(); s.close(); } const gone = new Promise((r) => child.once('exit', r)); process.kill(child.pid); await gone; },
  };
  return t;
}
const basic = (n, p) => ({ Authorization: `Basic ${Buffer.from(`${n}:${p}`).toString('base64')}` });
const bearer = (c) => ({ Authorization: `Bearer ${pass(c)}` });
const emil = { sub: 'emil', role: 'rescuer', club: 'soca' };

const PROOFS = {
  async p1(t) { const r = await t.req('POST', '/trips', { as: 'ana', body: (await t.cave(), await t.tripBody()) }); ok(new URL(r.headers.location, 'http://x').pathname === `/desk/v3/trips/${r.body.id}`, `location ${r.headers.location}`); },
  async p2(t) { for (let i = 1; i < 4; i++) await t.cave(`AB-00${i}`); const r = await t.req('GET', '/caves?rows=2', { as: 'vid' }); const next = /<([^>]*)>; rel="next"/.exec(r.headers.link)[1]; const n = await call(t.port, 'GET', next, { 'X-Tally': TALLY.vid }); eq(n.status, 200, 'next'); eq(n.body.entries.length, 1, 'rows'); },
  async p3(t) { eq((await t.req('GET', '/alerts', { headers: bearer(emil) })).status, 200, 'rescuer by pass'); },
  async p4(t) { await t.cave(); const r = await t.req('POST', '/caves', { headers: basic('rado', 'rope-and-pulley'), body: { code: 'AB-777', name: 'Nope', kind: 'maze', depth_cm: 1, entrances: [{ label: 'a', lat: 1, lon: 1 }] } }); eq([r.status, r.body.code], [403, 'not_yours'], 'rescuer at the desk'); },
  async p5(t) { await t.cave(); const tr = await t.trip(); const m = await t.need(201, 'POST', `/trips/${tr.id}/mates`, { as: 'ana', body: { caver: 'bor' } }); eq((await t.req('DELETE', `/mates/${m.body.id}`, { as: 'ana' })).status, 204, 'delete mate'); },
  async p6(t) { await t.cave(); await t.under(); await t.advance('PT11H'); const a = (await t.need(200, 'GET', '/alerts', { as: 'rok' })).body.entries[0]; eq((await t.req('GET', `/alerts/${a.id}`, { as: 'rok' })).status, 200, 'read alert'); },

  async r1(t) { await t.cave(); const tr = await t.under(); const r = await t.req('POST', `/trips/${tr.id}/legs`, { as: 'ana', body: t.leg({ compass: 360 }) }); eq([r.status, r.body.code], [422, 'wrong_field'], 'compass 360'); },
  async r2(t) { await t.cave(); const r = await t.req('POST', '/trips', { as: 'ana', body: await t.tripBody({ party: ['Ana', 'Ana'] }) }); eq([r.status, r.body.code], [422, 'wrong_field'], 'twice Ana'); },
  async r3(t) { await t.cave('AB-001', { access: 'permit' }); const p = (await t.permit()).body; const r = await t.need(200, 'POST', `/permits/${p.id}/decline`, { as: 'vid' }); eq(r.body.decided_by, 'vid', 'decided_by'); },
  async r4(t) { await t.cave(); await t.under(); const a = (await t.need(200, 'GET', '/caves/AB-001', { as: 'vid' })).body; eq(a.parties_in, 1, 'underground'); await t.advance('PT11H'); eq((await t.need(200, 'GET', '/caves/AB-001', { as: 'vid' })).body.parties_in, 1, 'overdue'); },
  async r5(t) { await t.cave(); const tr = await t.under(); await t.need(201, 'POST', `/trips/${tr.id}/legs`, { as: 'ana', body: t.leg() }); await t.need(201, 'POST', `/trips/${tr.id}/legs`, { as: 'ana', body: t.leg({ end: 'A3', splay: true }) }); eq((await t.need(200, 'GET', `/trips/${tr.id}`, { as: 'ana' })).body.surveyed_cm, 500, 'surveyed'); },
  async r6(t) { await t.cave(); const g = await t.req('GET', '/caves/AB-001', { as: 'vid' }); const r = await t.req('PATCH', '/caves/AB-001', { as: 'vid', headers: { 'If-Match': g.headers.etag }, body: { name: 'x'.repeat(61) } }); eq(r.status, 422, 'name of 61'); },
  async r7(t) { await t.cave('AB-001', { register_no: '0001/01' }); await t.cave('AB-002', { register_no: '0002/01' }); const g = await t.req('GET', '/caves/AB-002', { as: 'vid' }); const r = await t.req('PATCH', '/caves/AB-002', { as: 'vid', headers: { 'If-Match': g.headers.etag }, body: { register_no: '0001/01' } }); eq([r.status, r.body.code], [409, 'taken'], 'register_no'); },
  async r8(t) { await t.cave(); await t.cave('AB-002'); eq((await t.trip()).number, 1, 'first'); eq((await t.trip({ cave: 'AB-002' })).number, 1, 'first of the other'); eq((await t.trip()).number, 2, 'second'); },

  async s1(t) { await t.cave(); const tr = await t.under(); await t.advance('PT11H'); eq((await t.need(200, 'GET', `/trips/${tr.id}`, { as: 'ana' })).body.state, 'overdue', 'state'); eq((await t.req('POST', `/trips/${tr.id}/surface`, { as: 'ana' })).status, 200, 'surface'); },
  async s2(t) { await t.cave(); const tr = await t.trip(); await t.advance('P2D'); await t.need(200, 'PATCH', `/trips/${tr.id}`, { as: 'ana', body: { title: 'Another title' } }); await t.advance('PT25H'); eq((await t.need(200, 'GET', `/trips/${tr.id}`, { as: 'ana' })).body.state, 'lapsed', 'state'); },
  async s3(t) { await t.cave(); const tr = await t.under(); const r = await t.req('POST', `/trips/${tr.id}/extend`, { as: 'ana', body: { until: tr.due_at } }); eq([r.status, r.body.code], [422, 'not_longer'], 'same time'); },
  async s4(t) { await t.cave(); const tr = await t.under(); await t.need(200, 'POST', `/trips/${tr.id}/extend`, { as: 'ana', body: { until: new Date(Date.parse(tr.due_at) + 5 * 3600e3).toISOString() } }); await t.advance('PT11H'); eq((await t.need(200, 'GET', `/trips/${tr.id}`, { as: 'ana' })).body.state, 'underground', 'put off'); },
  async s5(t) { await t.cave(); const tr = await t.under(); await t.to(new Date(Date.parse(tr.due_at) + 1000).toISOString()); await t.advance('PT20M'); eq((await t.need(200, 'GET', '/alerts', { as: 'rok' })).body.entries[0].stage, 'raised', 'after 20m'); await t.advance('PT11M'); eq((await t.need(200, 'GET', '/alerts', { as: 'rok' })).body.entries[0].stage, 'urgent', 'after 31m'); },
  async s6(t) { await t.cave(); const p = (await t.permit()).body; eq(p.verdict, 'granted', 'at once'); await t.advance('P31D'); eq((await t.need(200, 'GET', `/permits/${p.id}`, { as: 'ana' })).body.verdict, 'expired', 'over'); },
  async s7(t) { await t.cave(); const tr = await t.under(); await t.advance('PT11H'); const a = (await t.need(200, 'GET', '/alerts', { as: 'rok' })).body.entries[0]; await t.need(200, 'POST', `/alerts/${a.id}/take`, { as: 'rok' }); await t.need(200, 'POST', `/trips/${tr.id}/account`, { as: 'rok', body: { outcome: 'safe' } }); eq((await t.need(200, 'GET', `/alerts/${a.id}`, { as: 'rok' })).body.stage, 'closed', 'alert'); },

  async e1(t) { await t.cave('AB-001', { name: 'Velika Jama' }); eq((await t.need(200, 'GET', '/caves?named=velika', { as: 'vid' })).body.total, 1, 'named'); },
  async e2(t) { await t.cave(); await t.cave('AB-002'); eq((await t.need(200, 'GET', '/caves?way=desc', { as: 'vid' })).body.entries.map((c) => c.code), ['AB-002', 'AB-001'], 'turned'); },
  async e3(t) { await t.cave(); const tr = await t.under(); const l = (await t.need(201, 'POST', `/trips/${tr.id}/legs`, { as: 'ana', body: t.leg({ splay: true }) })).body; eq((await t.need(200, 'PUT', `/legs/${l.id}`, { as: 'ana', body: t.leg() })).body.splay, false, 'splay'); },
  async e4(t) { await t.cave(); const tr = await t.trip(); eq((await t.need(200, 'GET', '/trips?only=title', { as: 'ana' })).body.entries, [{ id: tr.id, title: tr.title }], 'chosen'); },
  async e5(t) { await t.cave(); const tr = await t.under(); const l = (await t.need(201, 'POST', `/trips/${tr.id}/legs`, { as: 'ana', body: t.leg() })).body; const g = await t.need(200, 'GET', `/legs/${l.id}`, { as: 'ana' }); eq((await t.req('GET', `/legs/${l.id}`, { as: 'ana', headers: { 'If-None-Match': g.headers.etag } })).status, 304, 'same'); },
  async e6(t) { await t.cave(); const g = await t.req('GET', '/caves/AB-001', { as: 'vid' }); const r = await t.req('PATCH', '/caves/AB-001', { as: 'vid', headers: { 'If-Match': `W/${g.headers.etag}` }, body: { name: 'Other' } }); eq([r.status, r.body.code], [412, 'stale_copy'], 'weak'); },
  async e7(t) { const c = await t.cave(); const g = await t.req('GET', '/caves/AB-001', { as: 'vid' }); await t.advance('PT1M'); const r = await t.need(200, 'PATCH', '/caves/AB-001', { as: 'vid', headers: { 'If-Match': g.headers.etag }, body: { name: c.name } }); eq(r.body.changed_at, c.changed_at, 'changed_at'); },

  async a1(t) { await t.cave(); const tr = await t.trip(); eq((await t.req('GET', `/trips/${tr.id}`, { as: 'dana' })).status, 404, 'another club'); },
  async a2(t) { await t.cave(); const tr = await t.under(); const l = (await t.need(201, 'POST', `/trips/${tr.id}/legs`, { as: 'ana', body: t.leg() })).body; const r = await t.req('DELETE', `/legs/${l.id}`, { as: 'bor' }); eq([r.status, r.body?.code], [403, 'not_yours'], 'not the one who noted it'); },
  async a3(t) { const r = await t.req('GET', '/trips', { headers: { 'X-Tally': 'tally_wrong', ...basic('vojka', 'karst-and-lamp') } }); eq([r.status, r.body.code], [401, 'bad_tally'], 'one is bad'); },
  async a4(t) { await t.cave(); await t.permit('ana'); eq((await t.need(200, 'GET', '/permits', { as: 'bor' })).body.total, 0, 'of another caver'); eq((await t.need(200, 'GET', '/permits', { as: 'ana' })).body.total, 1, 'own'); },
  async a5(t) { await t.cave(); const tr = await t.under(); await t.need(201, 'POST', `/trips/${tr.id}/mates`, { as: 'ana', body: { caver: 'bor' } }); eq((await t.req('POST', `/trips/${tr.id}/legs`, { as: 'bor', body: t.leg() })).status, 201, 'mate'); },
  async a6(t) { await t.cave(); const r = await t.req('DELETE', '/caves/AB-001', { as: 'vera' }); eq([r.status, r.body?.code], [403, 'not_yours'], 'another club'); },
  async a7(t) { await t.cave('AB-001', { access: 'permit' }); const p = (await t.permit()).body; const r = await t.req('POST', `/permits/${p.id}/decline`, { as: 'vlado' }); eq([r.status, r.body.code], [403, 'scope_short'], 'without the scope'); },

  async v1(t) { const h = await t.hook('vid'); await t.cave(); await h.wait(1); const m = h.got[0], [, ts, seal] = /^at=(\d+),seal=(.+)$/.exec(m.headers['underlog-seal']); eq(seal, crypto.createHmac('sha256', h.l.secret).update(`${m.body.uid}|${ts}|${m.raw}`).digest('base64'), 'seal'); },
  async v2(t) { const h = await t.hook('vid'); h.plan.status = 500; await t.cave(); await h.wait(1); await t.advance('PT13S'); await h.wait(2); eq(h.got.length, 2, 'second try'); await t.advance('PT90S'); await sleep(150); eq(h.got.length, 2, 'none before 96 s'); await t.advance('PT60S'); await h.wait(3); eq(h.got.length, 3, 'third'); },
  async v3(t) { await t.cave(); const g = await t.req('GET', '/caves/AB-001', { as: 'vid' }); await t.need(200, 'PATCH', '/caves/AB-001', { as: 'vid', headers: { 'If-Match': g.headers.etag }, body: { access: 'shut' } }); eq((await t.need(200, 'GET', '/bulletins?topic=cave.access', { as: 'vid' })).body.entries[0].content, { cave: 'AB-001', was: 'free', is: 'shut' }, 'content'); },
  async v4(t) { await t.cave(); const tr = await t.trip(); eq((await t.need(200, 'GET', `/bulletins?topic=crew.named&about=${tr.id}`, { as: 'ana' })).body.entries.map((b) => b.content.name), ['Ana', 'Bor'], 'named'); },
  async v5(t) { await t.cave('AB-001', { access: 'permit' }); const p = (await t.permit()).body; await t.advance('P8D'); eq((await t.need(200, 'GET', `/permits/${p.id}`, { as: 'ana' })).body.verdict, 'declined', 'verdict'); eq((await t.need(200, 'GET', '/bulletins?topic=permit.decided', { as: 'vid' })).body.total, 1, 'told'); },
  async v6(t) { await t.cave('AB-001', { access: 'permit' }); const h = await t.hook('rok', { topics: ['permit.*'] }); const p = (await t.permit()).body; await t.need(200, 'POST', `/permits/${p.id}/grant`, { as: 'vid', body: {} }); await h.wait(1); eq(Object.keys(h.got[0].body.content).sort(), ['cave', 'holder', 'id', 'valid_until', 'verdict'], 'fields'); },
  async v7(t) { const h = await t.hook('vid'), g = await t.hook('vid'); await t.need(200, 'PATCH', `/listeners/${h.l.id}`, { as: 'vid', body: { active: false } }); await t.cave(); await g.wait(1); await sleep(150); eq([g.got.length, h.got.length], [1, 0], 'told'); },

  async x1(t) { const r = await t.req('GET', '/trips?nonsense=1'); eq([r.status, r.body.code], [400, 'bad_query'], 'parameters first'); },
  async x2(t) { const r = await t.req('POST', '/caves', { as: 'vid', body: { code: 'AB-001', colour: 'red' } }); eq([r.status, r.body.code], [400, 'unheard_of'], 'what was sent first'); },
  async x3(t) { await t.cave(); await t.need(204, 'DELETE', '/caves/AB-001', { as: 'vid' }); eq((await t.req('GET', '/caves/AB-001', { as: 'vid' })).status, 410, 'struck off'); await t.advance('P11D'); eq((await t.req('GET', '/caves/AB-001', { as: 'vid' })).status, 404, 'after ten days'); },
  async x4(t) { await t.cave('AB-001', { kind: 'sump' }); const r = await t.req('POST', '/trips', { as: 'ana', body: await t.tripBody({ party: ['a', 'b', 'c', 'd', 'e'] }) }); eq(r.body.code, 'sump_party', 'five'); eq((await t.req('POST', '/trips', { as: 'ana', body: await t.tripBody({ party: ['a', 'b', 'c', 'd'] }) })).status, 201, 'four'); },
  async x5(t) { await t.cave(); const tr = await t.trip(); await t.advance('P4D'); const r = await t.req('POST', `/trips/${tr.id}/legs`, { as: 'ana', body: t.leg() }); eq([r.status, r.body.code], [409, 'leg_early'], 'lapsed'); },
  async x6(t) { const r = await t.req('POST', '/caves', { as: 'vid', body: { code: 'AB-001', name: 'Cave', kind: 'maze', depth_cm: 1, entrances: [{ label: 'main', lat: 99, lon: 1 }] } }); eq(r.body.faults?.[0].path, 'entrances.0.lat', 'place'); },

  async l1(t) { await t.cave(); const tr = await t.trip(); const a = await t.req('GET', `/trips/${tr.id}`, { as: 'vlado' }), b = await t.req('GET', `/trips/${tr.id}/legs`, { as: 'vlado' }); eq(Number(a.headers['underlog-left']) - Number(b.headers['underlog-left']), 4, 'cost'); },
  async l2(t) { await t.cave(); for (let i = 0; i < 15; i++) eq((await t.permit()).status, 201, `permit ${i + 1}`); const r = await t.permit(); eq([r.status, r.body.code], [429, 'slow_down'], '16th'); await t.advance('PT7S'); eq((await t.permit()).status, 201, 'refilled'); },
  async l3(t) { const body = { code: 'AB-001', name: 'Cave', kind: 'maze', depth_cm: 1, entrances: [{ label: 'main', lat: 9, lon: 1 }] }; const text = JSON.stringify(body), pad = (n) => `${text.slice(0, -1)}${' '.repeat(n - text.length)}}`; const h = { 'Content-Type': 'application/json' }; eq((await t.req('POST', '/caves', { as: 'vid', headers: h, raw: pad(6145) })).status, 413, 'one more'); eq((await t.req('POST', '/caves', { as: 'vid', headers: h, raw: pad(6144) })).status, 201, 'exactly'); },
  async l4(t) { await t.cave(); const g = await t.req('GET', '/caves/AB-001'); const left = Number(g.headers['underlog-left']); await t.req('GET', '/caves/AB-001', { headers: { 'If-None-Match': g.headers.etag } }); const r = await t.req('GET', '/caves/AB-001'); eq(Number(r.headers['underlog-left']), left - 1, 'left'); },
  async l5(t) { await t.cave(); await t.under(); await t.advance('PT11H'); for (let i = 0; i < 5; i++) await t.trip(); const r = await t.req('POST', '/trips', { as: 'ana', body: await t.tripBody() }); eq([r.status, r.body.code], [403, 'spent'], 'the seventh'); },
  async l6(t) { await t.cave(); const y = new Date(await t.now()).getUTCFullYear() + 1; await t.to(`${y}-01-10T22:30:00Z`); for (let i = 0; i < 20; i++) { if (i === 14) await t.advance('PT2M'); eq((await t.permit()).status, 201, `permit ${i + 1}`); } const r = await t.permit(); eq([r.status, r.body.code], [403, 'spent'], '21st'); await t.to(`${y}-01-10T23:00:05Z`); eq((await t.permit()).status, 201, 'a new day in Ljubljana'); },

  async n1(t) { await t.cave(); const l = (await t.need(200, 'GET', '/caves', { as: 'vid', v: 'v1' })).body.entries[0]; ok(!('access' in l) && l.depth_m === 120, `v1 ${JSON.stringify(l)}`); },
  async n2(t) { await t.need(201, 'POST', '/caves', { as: 'vid', v: 'v2', body: { code: 'AB-001', name: 'Cave', kind: 'maze', depth_m: 1.15, entrances: [{ label: 'main', lat: 9, lon: 1 }] } }); eq((await t.need(200, 'GET', '/caves/AB-001', { as: 'vid' })).body.depth_cm, 115, 'depth'); },
  async n3(t) { await t.cave(); const r = await t.req('GET', '/caves', { as: 'vid', v: null }); eq([r.status, r.body.code], [404, 'no_edition'], 'without an edition'); },
  async n4(t) { await t.cave(); const h = await t.hook('ana', { topics: ['trip.entered'] }, { v: 'v1' }); await t.under(); await h.wait(1); eq([h.got[0].body.content.members, h.got[0].body.content.party], [['Ana', 'Bor'], undefined], 'members'); },
  async n5(t) { await t.to('2031-05-31T23:59:00Z'); eq((await t.req('GET', '/caves', { as: 'vid', v: 'v1' })).status, 200, 'before'); await t.to('2031-06-01T00:00:30Z'); eq((await t.req('GET', '/caves', { as: 'vid', v: 'v1' })).status, 410, 'over'); },
  async n6(t) { const r = await t.req('POST', '/caves', { as: 'vid', v: 'v2', body: { code: 'AB-001', name: 'Cave', kind: 'maze', depth_m: 9000, entrances: [{ label: 'main', lat: 9, lon: 1 }] } }); eq(r.body.faults?.[0].path, 'depth_m', 'its own word'); },
};

const only = process.argv.slice(2), stranger = JSON.parse(fs.readFileSync(path.join(here, 'stranger.json')));
const ids = stranger.faults.map((f) => f.id);
for (const id of ids) if (!PROOFS[id]) console.log(`no proof of ${id}`);
for (const id of Object.keys(PROOFS)) if (!ids.includes(id)) console.log(`no fault ${id}`);
let good = 0, bad = 0;
for (const id of ids.filter((i) => !only.length || only.includes(i))) {
  const run = async (fault) => { const t = await start(fault); try { await PROOFS[id](t); return null; } catch (e) { return e; } finally { await t.stop(); } };
  const right = await run(''), wrong = await run(id);
  const fine = right === null && wrong instanceof Broken;
  fine ? good++ : bad++;
  console.log(`${fine ? 'ok  ' : 'FAIL'} ${id}  ${right ? `correct: ${right.message}; ` : ''}faulty: ${wrong ? wrong.message : 'passes'}`);
}
console.log(`${good} proven, ${bad} not`);
process.exitCode = bad ? 1 : 0;
