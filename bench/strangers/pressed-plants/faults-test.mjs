// One proof by hand for each fault: it passes on the correct service and fails on the one with the fault.
// node faults-test.mjs [ID ...]
import http from 'node:http';
import net from 'node:net';
import fs from 'node:fs';
import path from 'node:path';
import crypto from 'node:crypto';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const stranger = JSON.parse(fs.readFileSync(path.join(HERE, 'stranger.json')));
const who = Object.fromEntries(stranger.callers.map((c) => [c.id.split('-')[1], c]));
const free = () => new Promise((ok) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => ok(p)); }); });
const wait = (ms) => new Promise((ok) => setTimeout(ok, ms));

async function start(fault) {
  const port = await free(), clock = await free();
  const child = spawn(process.execPath, [path.join(HERE, 'service.mjs'), '--port', port, '--clock-port', clock].concat(fault ? ['--fault', fault] : []), { stdio: ['ignore', 'ignore', 'inherit'] });
  const agent = new http.Agent({ keepAlive: true });
  const raw = (p, method, target, headers, body) => new Promise((ok, no) => {
    const rq = http.request({ host: '127.0.0.1', port: p, method, path: target, headers, agent }, (rs) => {
      const c = []; rs.on('data', (d) => c.push(d)); rs.on('end', () => { const t = Buffer.concat(c).toString(); let b; try { b = JSON.parse(t); } catch { b = t; } ok({ s: rs.statusCode, h: rs.headers, b }); });
    });
    rq.on('error', no); rq.end(body);
  });
  for (let i = 0; ; i++) { try { await raw(clock, 'GET', '/', {}); await raw(port, 'GET', '/', {}); break; } catch (e) { if (i > 100) throw e; await wait(20); } }
  const servers = [];
  const api = {
    advance: (d) => raw(clock, 'POST', '/', { 'Content-Type': 'application/json' }, JSON.stringify({ advance: d })),
    to: (t) => raw(clock, 'POST', '/', { 'Content-Type': 'application/json' }, JSON.stringify({ now: t })),
    now: async () => Date.parse((await raw(clock, 'GET', '/', {})).b.now),
    seal(c, method, target, body, o = {}) {
      const [key, secret] = c.credential.split(':'), t = Math.floor((o.at ?? Date.now() + (api.shift || 0)) / 1000), n = o.nonce || crypto.randomUUID();
      const signed = `${method}\n${target}\n${t}\n${n}\n${crypto.createHash('sha256').update(body || '').digest('hex')}`;
      return { 'X-Herb-Key': key, 'X-Herb-Seal': `t=${t},n=${n},s=${crypto.createHmac('sha256', secret).update(signed).digest('hex')}` };
    },
    async call(name, method, p, body, headers = {}, o = {}) {
      const target = (o.bare ? '' : '/flora/' + (o.ver || 'e3')) + p, c = name && who[name];
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const h = { ...(text !== undefined ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) } : {}) };
      if (c) Object.assign(h, c.scheme === 'ticket' ? { Authorization: 'Ticket ' + c.credential } : c.scheme === 'badge' ? { Authorization: 'Basic ' + Buffer.from(c.credential + ':').toString('base64') } : api.seal(c, method, target, text, o));
      return raw(port, method, target, { ...h, ...headers }, text);
    },
    async ok(...a) { const r = await api.call(...a); assert.ok(r.s >= 200 && r.s < 300, `${a.slice(0, 3).join(' ')}: ${r.s} ${JSON.stringify(r.b)}`); return r.b; },
    async receiver(answer = () => 204) {
      const got = [], s = http.createServer((q, r) => { const c = []; q.on('data', (d) => c.push(d)); q.on('end', () => { const body = Buffer.concat(c).toString(), m = { h: q.headers, body, json: JSON.parse(new URLSearchParams(body).get('payload')) }; got.push(m); r.writeHead(answer(m)); r.end(); }); });
      await new Promise((ok) => s.listen(0, '127.0.0.1', ok)); servers.push(s);
      return { url: `http://127.0.0.1:${s.address().port}/hear`, got };
    },
    // what most proofs need
    async taxon(code = 'rosa', o = {}) { return api.ok('alva', 'PUT', '/taxa/' + code, { name: 'Name of ' + code, rank: 'genus', ...o }); },
    async cabinet(label = 'A1', by = 'alva') { return api.ok(by, 'POST', '/cabinets', { label }); },
    sheetBody(o = {}) { return { barcode: 'UPS' + String(api.n = (api.n || 0) + 1).padStart(6, '0'), taxon: 'rosa', gathered_on: '2020-05-01', gathered_by: 'Anna Svensson', place: { country: 'SE' }, size_mm: 300, ...o }; },
    async sheet(o = {}, by = 'alva') { return api.ok(by, 'POST', '/sheets', api.sheetBody(o)); },
    async stock() { await api.taxon(); const c = await api.cabinet(); api.cab = c.id; return api.sheet({ cabinet: c.id }); },
    async loan(sheets, o = {}, by = 'dan') { return api.ok(by, 'POST', '/loans', { house: 'UPS', aim: 'To look at it', lines: sheets.map((s, i) => ({ sheet: s.id, position: i + 1 })), ...o }); },
    async sent(sheets, o = {}) {
      const l = await api.loan(sheets, o);
      await api.ok('alva', 'PATCH', '/loans/' + l.id, { valuation: 100 }); await api.ok('alva', 'POST', `/loans/${l.id}/approve`);
      return api.ok('alva', 'POST', `/loans/${l.id}/send`);
    },
    opinion: (s, o = {}, by = 'dan') => api.ok(by, 'POST', `/sheets/${s.id}/determinations`, { taxon: 'rosa', confidence: 3, ...o }),
    async patchSheet(id, body) { const r = await api.call('alva', 'GET', '/sheets/' + id); return api.call('alva', 'PATCH', '/sheets/' + id, body, { 'If-Match': r.h.etag }); },
    kinds: async () => (await api.ok('alva', 'GET', '/entries?rows=60')).rows.map((e) => e.kind),
    async until(fn) { for (let i = 0; i < 60; i++) { if (fn()) return true; await wait(20); } return false; },
    stop() { agent.destroy(); for (const s of servers) { s.closeAllConnections(); s.close(); } return new Promise((ok) => { child.on('exit', ok); child.kill(); }); },
  };
  return api;
}

const eq = assert.equal;
const proofs = {
  async 'base-bare'(a) { eq((await a.call(null, 'GET', '/e3/taxa', undefined, {}, { bare: 1 })).s, 404); },
  async 'base-link'(a) { const s = await a.stock(); for (let i = 0; i < 2; i++) await a.loan([s]); const r = await a.call('dan', 'GET', '/loans?rows=1'); assert.match(r.h.link, /<\/flora\/e3\/loans\?[^>]*>; rel="next"/); },
  async 'fn-reject'(a) { const s = await a.stock(), d = await a.opinion(s); eq((await a.ok('alva', 'POST', `/determinations/${d.id}/reject`)).standing, 'rejected'); },
  async 'fn-watch'(a) { const w = await a.ok('dan', 'POST', '/watches', { url: 'http://127.0.0.1:9/x' }); await a.ok('dan', 'PATCH', '/watches/' + w.id, { enabled: false }); eq((await a.ok('dan', 'GET', '/watches/' + w.id)).enabled, false); },
  async 'users-auditor'(a) { eq((await a.call('hal', 'GET', '/entries')).s, 200); eq((await a.call('ida', 'GET', '/entries')).s, 200); },
  async 'users-merged'(a) { const s = await a.stock(); eq((await a.loan([s], {}, 'fia')).borrower, 's-fia'); },

  async 'res-label'(a) { const s = await a.stock(); eq(s.place.label, 'SE'); const r = await a.patchSheet(s.id, { place: { region: 'Skåne' } }); eq(r.s, 200); eq(r.b.place.label, 'Skåne, SE'); },
  async 'res-name-case'(a) { await a.taxon('rosa', { name: 'Rosa' }); const r = await a.call('alva', 'PUT', '/taxa/rosa-2', { name: 'ROSA', rank: 'genus' }); eq(r.s, 409); eq(r.b.fault.code, 'exists'); },
  async 'res-barcode'(a) { const s = await a.stock(); eq((await a.patchSheet(s.id, { barcode: 'UPS999999' })).s, 422); eq((await a.patchSheet(s.id, { barcode: s.barcode })).s, 200); },
  async 'res-accession'(a) { await a.stock(); const s = await a.sheet({}, 'bror'); eq(s.accession, 'ACC-00001'); eq((await a.sheet({}, 'alva')).accession, 'ACC-00002'); },
  async 'res-spot'(a) { await a.stock(); const s = await a.sheet({ exact_spot: 'by the mill' }); eq(s.exact_spot, 'by the mill'); eq((await a.ok('dan', 'GET', '/sheets/' + s.id)).exact_spot, undefined); },
  async 'res-best'(a) { const s = await a.stock(); await a.opinion(s, { confidence: 2 }); const d = await a.opinion(s, { confidence: 5 }, 'eva'); eq((await a.ok('alva', 'GET', '/sheets/' + s.id)).best, 5); await a.ok('alva', 'POST', `/determinations/${d.id}/reject`); eq((await a.ok('alva', 'GET', '/sheets/' + s.id)).best, 2); },
  async 'res-clear'(a) { const s = await a.stock(); eq((await a.call('alva', 'DELETE', '/cabinets/UPS/A1')).s, 204); eq((await a.ok('alva', 'GET', '/sheets/' + s.id)).cabinet, undefined); },

  async 'st-lapse-restarts'(a) { const s = await a.stock(), l = await a.loan([s]); await a.advance('P10D'); await a.ok('dan', 'PATCH', '/loans/' + l.id, { aim: 'Something else' }); await a.advance('P5D'); eq((await a.ok('dan', 'GET', '/loans/' + l.id)).status, 'lapsed'); },
  async 'st-thaw'(a) { await a.stock(); const s = await a.sheet(); eq(s.location, 'quarantine'); await a.advance('P4D'); eq((await a.ok('alva', 'GET', '/sheets/' + s.id)).location, 'quarantine'); },
  async 'st-answer'(a) { const s = await a.stock(), l = await a.loan([s], { days: 150 }); await a.ok('alva', 'PATCH', '/loans/' + l.id, { valuation: 1 }); const r = await a.call('alva', 'POST', `/loans/${l.id}/approve`); eq(r.b.fault.code, 'too_long'); eq((await a.ok('dan', 'GET', '/loans/' + l.id)).status, 'declined'); },
  async 'st-partial'(a) {
    const s = await a.stock(), t = await a.sheet(), l = await a.loan([s, t]); await a.ok('alva', 'PATCH', '/loans/' + l.id, { valuation: 1 }); await a.ok('alva', 'POST', `/loans/${l.id}/approve`);
    const r = await a.call('alva', 'POST', `/loans/${l.id}/send`); eq(r.s, 409); eq(r.b.fault.code, 'sheet_away'); eq((await a.ok('alva', 'GET', '/sheets/' + s.id)).location, 'in_cabinet'); eq((await a.ok('alva', 'GET', '/loans/' + l.id)).status, 'approved');
  },
  async 'st-late'(a) { const s = await a.stock(), l = await a.sent([s], { days: 7 }); await a.advance('P8D'); eq((await a.ok('dan', 'GET', '/loans/' + l.id)).status, 'overdue'); eq((await a.ok('alva', 'POST', `/loans/${l.id}/return`)).status, 'returned_late'); eq((await a.ok('alva', 'GET', '/sheets/' + s.id)).location, 'quarantine'); },
  async 'st-reinstate'(a) {
    const s = await a.stock(), d = await a.opinion(s); await a.ok('alva', 'POST', `/determinations/${d.id}/accept`); eq((await a.ok('alva', 'GET', '/sheets/' + s.id)).review, 'verified');
    eq((await a.call('dan', 'DELETE', '/determinations/' + d.id)).s, 204); eq((await a.ok('dan', 'POST', `/determinations/${d.id}/reinstate`)).standing, 'offered');
  },
  async 'st-extend-timer'(a) { const s = await a.stock(), l = await a.sent([s], { days: 7 }); await a.ok('alva', 'POST', `/loans/${l.id}/extend`, { days: 5 }); await a.advance('P8D'); eq((await a.ok('dan', 'GET', '/loans/' + l.id)).status, 'sent'); await a.advance('P5D'); eq((await a.ok('dan', 'GET', '/loans/' + l.id)).status, 'overdue'); },

  async 'ep-ties'(a) { const s = await a.stock(), t = await a.sheet(), u = await a.sheet({ gathered_on: '2021-01-01' }); assert.deepEqual((await a.ok('alva', 'GET', '/sheets')).rows.map((r) => r.id), [u.id, t.id, s.id]); },
  async 'ep-unknown-param'(a) { const r = await a.call('dan', 'GET', '/loans?colour=red'); eq(r.s, 400); eq(r.b.fault.code, 'bad_parameter'); },
  async 'ep-304'(a) { const s = await a.stock(), l = await a.loan([s]), r = await a.call('dan', 'GET', '/loans/' + l.id); eq((await a.call('dan', 'GET', '/loans/' + l.id, undefined, { 'If-None-Match': r.h.etag })).s, 304); },
  async 'ep-stale-loan'(a) {
    const s = await a.stock(), l = await a.loan([s]), r = await a.call('dan', 'GET', '/loans/' + l.id);
    eq((await a.call('dan', 'PATCH', '/loans/' + l.id, { aim: 'Another aim' }, { 'If-Match': r.h.etag })).s, 200); eq((await a.call('dan', 'PATCH', '/loans/' + l.id, { aim: 'A third aim' }, { 'If-Match': r.h.etag })).s, 412);
  },
  async 'ep-key-shared'(a) {
    const s = await a.stock(), body = { house: 'UPS', aim: 'To look at it', lines: [{ sheet: s.id, position: 1 }] }, h = { 'Idempotency-Key': 'one' };
    const x = await a.call('dan', 'POST', '/loans', body, h), y = await a.call('dan', 'POST', '/loans', body, h), z = await a.call('eva', 'POST', '/loans', body, h);
    eq(x.s, 201); eq(y.b.id, x.b.id); eq(z.s, 201); assert.notEqual(z.b.id, x.b.id); eq((await a.call('dan', 'POST', '/loans', { ...body, days: 9 }, h)).s, 422);
  },
  async 'ep-put-keeps'(a) { await a.taxon('rosa', { synonyms: ['Rosae'] }); eq((await a.taxon('rosa')).synonyms, undefined); },
  async 'ep-form'(a) { const s = await a.stock(), r = await a.call('dan', 'POST', `/sheets/${s.id}/determinations`, 'taxon=rosa&confidence=4', { 'Content-Type': 'application/x-www-form-urlencoded' }); eq(r.s, 201); eq(r.b.confidence, 4); },

  async 'au-replay'(a) { const o = { nonce: 'once-only' }; eq((await a.call('fia', 'GET', '/sheets', undefined, {}, o)).s, 200); const r = await a.call('fia', 'GET', '/sheets', undefined, {}, o); eq(r.s, 401); eq(r.b.fault.code, 'bad_credential'); },
  async 'au-password'(a) { const r = await a.call(null, 'GET', '/sheets', undefined, { Authorization: 'Basic ' + Buffer.from(who.eva.credential + ':x').toString('base64') }); eq(r.s, 401); assert.match(r.h['www-authenticate'], /Basic realm="Linnaea Herbarium Exchange", charset="UTF-8"/); },
  async 'au-send-badge'(a) { const s = await a.stock(), l = await a.loan([s]); await a.ok('alva', 'PATCH', '/loans/' + l.id, { valuation: 1 }); await a.ok('cleo', 'POST', `/loans/${l.id}/approve`); eq((await a.call('cleo', 'POST', `/loans/${l.id}/send`)).s, 401); },
  async 'au-scope'(a) { const s = await a.stock(), r = await a.call('gus', 'POST', `/sheets/${s.id}/determinations`, { taxon: 'rosa', confidence: 1 }); eq(r.s, 403); eq(r.b.fault.code, 'scope_lacking'); },
  async 'au-list-protected'(a) { await a.stock(); await a.taxon('orchis', { protected: true }); const s = await a.sheet({ taxon: 'orchis' }); eq((await a.ok('dan', 'GET', '/sheets')).rows.length, 2); eq((await a.ok('eva', 'GET', '/sheets')).rows.length, 1); eq((await a.call('eva', 'GET', '/sheets/' + s.id)).s, 404); },
  async 'au-read-403'(a) { const s = await a.stock(), l = await a.loan([s]); const r = await a.call('eva', 'GET', '/loans/' + l.id); eq(r.s, 404); eq(r.b.fault.code, 'not_found'); },
  async 'au-foreign'(a) { const s = await a.stock(), d = await a.opinion(s); const r = await a.call('bror', 'POST', `/determinations/${d.id}/accept`); eq(r.s, 403); eq(r.b.fault.code, 'foreign_house'); },

  async 'ev-sign'(a) {
    const rc = await a.receiver(), w = await a.ok('alva', 'POST', '/watches', { url: rc.url, topics: ['sheet.*'] }); await a.stock(); assert.ok(await a.until(() => rc.got.length));
    const m = rc.got[0], [, ts, mac] = /^ts=(\d+),v1=([0-9a-f]+)$/.exec(m.h['x-herb-signature']);
    eq(m.h['x-herb-event'], 'sheet.made'); eq(m.json.id, m.h['x-herb-delivery']); eq(mac, crypto.createHmac('sha256', w.secret).update(`${m.json.id}.${ts}.${m.body}`).digest('hex'));
  },
  async 'ev-renamed'(a) { const s = await a.stock(); await a.taxon('orchis'); await a.patchSheet(s.id, { size_mm: 301 }); assert.deepEqual(await a.kinds(), ['sheet.made']); await a.patchSheet(s.id, { taxon: 'orchis' }); assert.deepEqual(await a.kinds(), ['sheet.renamed', 'sheet.made']); },
  async 'ev-log-leak'(a) { await a.stock(); await a.sheet({ exact_spot: 'by the mill' }); for (const e of (await a.ok('hal', 'GET', '/entries')).rows) { eq(e.detail.body.exact_spot, undefined); eq(e.detail.body.gathered_by, undefined); assert.ok(e.detail.body.barcode); } },
  async 'ev-late-to'(a) {
    const rc = await a.receiver(), mine = await a.receiver(); await a.ok('alva', 'POST', '/watches', { url: rc.url }); await a.ok('dan', 'POST', '/watches', { url: mine.url, topics: ['loan.late'] });
    const s = await a.stock(); await a.sent([s], { days: 7 }); await a.advance('P8D'); assert.ok(await a.until(() => mine.got.length)); await wait(150); assert.ok(rc.got.length >= 3); eq(rc.got.filter((m) => m.json.topic === 'loan.late').length, 0);
  },
  async 'ev-soon'(a) { const s = await a.stock(); await a.sent([s], { days: 7 }); await a.advance('P3DT23H'); eq((await a.kinds()).includes('loan.soon'), false); await a.advance('PT2H'); eq((await a.kinds()).includes('loan.soon'), true); },
  async 'ev-lapse'(a) { const s = await a.stock(), l = await a.loan([s]); await a.advance('P15D'); const e = (await a.ok('alva', 'GET', '/entries?kind=loan.ended')).rows; eq(e.length, 1); assert.deepEqual(e[0].detail, { body: { loan: l.id, status: 'lapsed' } }); eq(e[0].who, undefined); },

  async 'er-order'(a) { const r = await a.call('hal', 'GET', '/loans?colour=red'); eq(r.s, 403); eq(r.b.fault.code, 'not_for_you'); },
  async 'er-missing-first'(a) { await a.stock(); const b = a.sheetBody({ size_mm: 1 }); delete b.taxon; eq((await a.call('alva', 'POST', '/sheets', b)).b.fault.code, 'field_invalid'); },
  async 'er-pointer'(a) { await a.stock(); const r = await a.call('alva', 'POST', '/sheets', a.sheetBody({ place: { country: 'sweden' } })); eq(r.s, 422); eq(r.b.fault.where[0].path, 'place.country'); },
  async 'er-gone'(a) { const s = await a.stock(), d = await a.opinion(s); await a.call('dan', 'DELETE', '/determinations/' + d.id); eq((await a.call('dan', 'GET', '/determinations/' + d.id)).s, 410); eq((await a.call('eva', 'GET', '/determinations/' + d.id)).s, 404); await a.advance('P31D'); eq((await a.call('dan', 'GET', '/determinations/' + d.id)).s, 404); },
  async 'er-dangling-status'(a) { await a.stock(); const r = await a.call('alva', 'POST', '/sheets', a.sheetBody({ taxon: 'nothing-here' })); eq(r.s, 422); eq(r.b.fault.code, 'dangling'); },
  async 'er-allow'(a) { const r = await a.call('alva', 'POST', '/taxa/rosa', {}); eq(r.s, 405); assert.deepEqual(r.h.allow.split(', ').sort(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT']); },
  async 'er-today'(a) { await a.stock(); const day = new Date(await a.now()).toISOString().slice(0, 10); eq((await a.call('alva', 'POST', '/sheets', a.sheetBody({ gathered_on: day }))).s, 201); eq((await a.call('alva', 'POST', '/sheets', a.sheetBody({ gathered_on: '2999-01-01' }))).b.fault.code, 'not_yet_gathered'); },

  async 'li-304'(a) {
    const s = await a.stock(), r = await a.call('cleo', 'GET', '/sheets/' + s.id), left = Number(r.h['x-herb-left']);
    const n = await a.call('cleo', 'GET', '/sheets/' + s.id, undefined, { 'If-None-Match': r.h.etag }); eq(n.s, 304); eq(Number(n.h['x-herb-left']), left); eq(Number((await a.call('cleo', 'GET', '/sheets')).h['x-herb-left']), left - 3);
  },
  async 'li-sliding'(a) {
    eq((await a.call(null, 'GET', '/census')).s, 200); await a.advance('PT20S'); for (let i = 0; i < 7; i++) eq((await a.call('dan', 'GET', '/census')).s, 200);
    const r = await a.call('dan', 'GET', '/census'); eq(r.s, 429); eq(r.b.fault.code, 'too_fast'); assert.ok(Number(r.h['retry-after']) <= 10); await a.advance('PT11S');
    eq((await a.call(null, 'GET', '/census')).s, 200); eq((await a.call(null, 'GET', '/census')).s, 429);
  },
  async 'li-zone'(a) {
    const d = new Date(await a.now() + 86400000); await a.to(d.toISOString().slice(0, 10) + 'T23:40:00Z'); // after midnight in Stockholm, before it in UTC
    const s = await a.stock(); for (let i = 0; i < 20; i++) { const l = await a.loan([s]); await a.ok('dan', 'POST', `/loans/${l.id}/cancel`); }
    eq((await a.call('dan', 'POST', '/loans', { house: 'UPS', aim: 'To look at it', lines: [{ sheet: s.id, position: 1 }] })).b.fault.code, 'used_up');
    await a.advance('PT30M'); const r = await a.call('dan', 'POST', '/loans', { house: 'UPS', aim: 'To look at it', lines: [{ sheet: s.id, position: 1 }] }); eq(r.s, 403); assert.ok(Number(r.h['retry-after']) > 3600);
  },
  async 'li-rows'(a) {
    const s = await a.stock(), l = await a.loan([s]); await a.ok('alva', 'PATCH', '/loans/' + l.id, { valuation: 1 }); await a.ok('alva', 'POST', `/loans/${l.id}/approve`); for (let i = 0; i < 5; i++) await a.loan([s]);
    const r = await a.call('dan', 'POST', '/loans', { house: 'UPS', aim: 'To look at it', lines: [{ sheet: s.id, position: 1 }] }); eq(r.s, 403); eq(r.h['retry-after'], undefined);
  },
  async 'li-clamp'(a) { eq((await a.call('dan', 'GET', '/loans?rows=61')).s, 200); eq((await a.call('dan', 'GET', '/loans?rows=0')).s, 416); },
  async 'li-body'(a) { await a.stock(); const pad = (n) => { const t = JSON.stringify(a.sheetBody()); return t + ' '.repeat(n - t.length); }; eq((await a.call('alva', 'POST', '/sheets', pad(8192))).s, 201); eq((await a.call('alva', 'POST', '/sheets', pad(8193))).s, 413); },
  async 'li-from'(a) { for (const c of ['aa', 'bb', 'cc']) await a.taxon(c); const r = await a.ok(null, 'GET', '/taxa?size=1'); eq(r.onward, 'bb'); assert.deepEqual((await a.ok(null, 'GET', '/taxa?size=2&from=bb')).taxa.map((t) => t.code), ['bb', 'cc']); },

  async 've-violation-name'(a) { await a.stock(); const b = a.sheetBody(); delete b.size_mm; delete b.gathered_by; b.collector = 'Anna'; b.size_cm = 2; const r = await a.call('alva', 'POST', '/sheets', b, {}, { ver: 'e1' }); eq(r.s, 422); eq(r.b.fault.where[0].path, 'size_cm'); b.size_cm = 30.5; eq((await a.ok('alva', 'POST', '/sheets', b, {}, { ver: 'e1' })).size_cm, 30.5); },
  async 've-enum-filter'(a) { await a.stock(); const r = await a.ok('alva', 'GET', '/sheets?location=housed', undefined, {}, { ver: 'e1' }); eq(r.rows.length, 1); eq(r.rows[0].location, 'housed'); },
  async 've-sunset'(a) { const r = await a.call(null, 'GET', '/taxa', undefined, {}, { ver: 'e1' }); eq(r.s, 200); eq(r.h.deprecation, '@1740787200'); await a.to('2031-03-01T00:00:01Z'); eq((await a.call(null, 'GET', '/taxa', undefined, {}, { ver: 'e1' })).s, 410); eq((await a.call(null, 'GET', '/taxa', undefined, {}, { ver: 'e2' })).s, 200); },
  async 've-webhook'(a) { const rc = await a.receiver(); await a.ok('alva', 'POST', '/watches', { url: rc.url }, {}, { ver: 'e1' }); await a.stock(); assert.ok(await a.until(() => rc.got.length)); const b = rc.got[0].json.body; eq(b.size_cm, 30); eq(b.location, 'housed'); eq(b.collector, 'Anna Svensson'); },
  async 've-default'(a) { const r = await a.call(null, 'GET', '/flora/taxa', undefined, {}, { bare: 1 }); eq(r.s, 404); eq(r.b.fault.code, 'no_edition'); },
  async 've-endpoint-life'(a) { const s = await a.stock(), l = await a.loan([s]), r = await a.call('alva', 'POST', `/loans/${l.id}/decline`, undefined, {}, { ver: 'e2' }); eq(r.s, 200); eq(r.h.deprecation, '@' + Date.UTC(2025, 4, 1) / 1000); assert.match(r.h.link, /linnaea\.example\/decline/); },
};

const want = process.argv.slice(2), list = stranger.faults.filter((f) => !want.length || want.includes(f.id));
let good = 0;
async function run(fault, id) {
  const a = await start(fault);
  try { await proofs[id](a); return null; } catch (e) { if (e instanceof assert.AssertionError) return e; return Object.assign(e, { odd: true }); } finally { await a.stop(); }
}
for (const { id } of list) {
  if (!proofs[id]) { console.log('no proof      ' + id); continue; }
  const right = await run('', id), wrong = await run(id, id);
  if (right) console.log(`wrongly fails ${id}: ${right.stack.split('\n').slice(0, 12).join('\n')}`);
  else if (!wrong) console.log('not seen      ' + id);
  else if (wrong.odd) console.log(`oddly seen    ${id}: ${wrong.stack}`);
  else { good++; if (want.length) console.log(`seen          ${id}: ${wrong.message.replaceAll('\n', ' ').slice(0, 150)}`); }
}
console.log(`${good} of ${list.length} faults are proved.`);
process.exit(good === list.length ? 0 : 1);
