'use strict';
// node faults-test.cjs [ID ...]: each proof has to pass on the right service and to fail with its fault switched on.
const http = require('node:http');
const net = require('node:net');
const path = require('node:path');
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { P } = require('./people.cjs');

const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
function exchange(port, method, target, headers, body) {
  return new Promise((done, bad) => {
    const r = http.request({ host: '127.0.0.1', port, method, path: target, headers, agent }, (a) => {
      const parts = [];
      a.on('data', (c) => parts.push(c));
      a.on('end', () => { const text = Buffer.concat(parts).toString(); let json; try { json = JSON.parse(text); } catch { /* none */ } done({ status: a.statusCode, headers: a.headers, body: json, text }); });
    });
    r.on('error', bad);
    r.end(body);
  });
}
const free = () => new Promise((done) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => done(port)); }); });
function shows(who) {
  if (!who) return {};
  const [id, scheme] = who.split(':');
  const p = P.find((o) => o.id === id && (!scheme || o.scheme === scheme));
  return p.scheme === 'leaf' ? { Authorization: 'Leaf ' + p.credential } : p.scheme === 'tag' ? { 'X-Yard-Tag': p.credential } : { Authorization: 'Bearer ' + p.credential };
}
async function start(fault) {
  const port = await free(), clock = await free();
  const child = spawn(process.execPath, [path.join(__dirname, 'service.cjs'), '--port', port, '--clock-port', clock, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'inherit', 'inherit'], cwd: __dirname });
  for (let i = 0; i < 100; i++) { try { await exchange(clock, 'GET', '/', {}); await exchange(port, 'GET', '/', {}); break; } catch { await sleep(20); } }
  const y = { port, clock, stop: () => { child.kill(); for (const s of y.sinks) s.server.close(), s.server.closeAllConnections(); }, sinks: [] };
  y.raw = (who, method, target, body, headers = {}) => exchange(port, method, target, { ...shows(who), ...(body !== undefined ? { 'Content-Type': 'application/json' } : {}), ...headers }, body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  y.call = (who, method, target, body, headers) => y.raw(who, method, '/yard' + target, body, headers);
  y.ok = async (status, ...a) => { const r = await y.call(...a); assert.equal(r.status, status, a.slice(0, 3).join(' ') + ': ' + r.text); return r; };
  y.no = async (status, word, ...a) => { const r = await y.call(...a); assert.equal(r.status, status, a.slice(0, 3).join(' ') + ': ' + r.text); assert.equal(r.body.trouble.word, word); return r; };
  y.later = async (d) => { const r = await exchange(clock, 'POST', '/', {}, JSON.stringify({ advance: d })); assert.equal(r.status, 200); return r.body.now; };
  y.now = async () => Date.parse((await exchange(clock, 'GET', '/', {})).body.now);
  y.in = async (ms) => new Date((await y.now()) + ms).toISOString();
  y.sink = async (answer = () => 200) => {
    const got = [];
    const server = http.createServer((q, s) => { let t = ''; q.on('data', (c) => { t += c; }); q.on('end', () => { got.push({ headers: q.headers, text: t, body: JSON.parse(t) }); s.writeHead(answer(got.length)); s.end(); }); });
    await new Promise((r) => server.listen(0, '127.0.0.1', r));
    const sink = { server, got, url: `http://127.0.0.1:${server.address().port}/in`, wait: async (n) => { for (let i = 0; i < 60 && got.length < n; i++) await sleep(10); return got; } };
    y.sinks.push(sink);
    return sink;
  };
  let spot = 0;
  y.variety = async (slug, more = {}) => (await y.ok(201, 'adelheid', 'PUT', '/varieties/' + slug, { name: 'Apple ' + slug, season: 'mid', ...more })).body;
  y.tree = async (more = {}, who = 'adelheid') => { spot++; return (await y.ok(201, who, 'POST', '/trees', { variety: 'boskoop', row: 'ABCDEFGH'[Math.floor(spot / 40)], spot: (spot % 40) + 1, girth_mm: 90, ...more })).body; };
  y.bearing = async (more, who) => { const t = await y.tree(more, who); return (await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/mature`)).body; };
  y.minder = async (tree, person, role) => (await y.ok(201, 'adelheid', 'POST', `/trees/${tree}/minders`, { person, role })).body;
  y.cutting = async (tree, more = {}, who = 'wilma') => (await y.ok(201, who, 'POST', `/trees/${tree}/cuttings`, { sticks: 2, wanted_by: await y.in(5 * 864e5), ...more })).body;
  y.graft = async (more = {}, who = 'wilma') => (await y.ok(201, who, 'POST', '/grafts', { variety: 'boskoop', rootstock: 'm26', ...more })).body;
  y.packet = async (more = {}) => (await y.ok(201, 'adelheid', 'POST', '/packets', { variety: 'boskoop', harvested: 2020, seeds_total: 300, ...more })).body;
  y.loan = async (packet, seeds = 5, who = 'nel') => (await y.ok(201, who, 'POST', '/loans', { packet, seeds })).body;
  y.hook = async (who, sink, kinds, headers) => (await y.ok(201, who, 'POST', '/hooks', { target: sink.url, kinds }, headers)).body;
  let key = 0;
  y.pay = (id, coins, who = 'wilma') => y.call(who, 'POST', `/grafts/${id}/pay`, { coins }, { 'Yard-Once': 'k' + ++key });
  return y;
}
const tagOf = async (y, who, target) => (await y.ok(200, who, 'GET', target)).headers.etag;

const FAULTS = [];
const fault = (id, part, kind, subject, operation, bug, proof) => FAULTS.push({ id, part, kind, subject, operation, bug, proof });

// ---- purpose
fault('p_base_root', 'purpose', 'base address', 'service', 'read packet', 'the paths of packets are served at the host\'s root too, outside of the base path', async (y) => {
  const p = await y.packet();
  assert.equal((await y.raw('nel', 'GET', '/packets/' + p.id)).status, 404);
});
fault('p_lots_bare', 'purpose', 'base address', 'service', 'look up lot', 'GET /lots/{lot} is served at the host\'s root instead of below the base path', async (y) => {
  const p = await y.packet();
  await y.ok(200, 'nel', 'GET', '/lots/' + p.lot);
});
fault('p_grafter_unknown', 'purpose', 'users', 'service', 'list tree', 'callers of the user grafter are not known: 401', async (y) => { await y.ok(200, 'fien', 'GET', '/trees'); });
fault('p_no_inspect', 'purpose', 'functions', 'service', 'inspect graft', 'the operation inspect graft, which serves a function, was never routed', async (y) => {
  const g = await y.graft();
  await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/bind`);
  await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/inspect`, { takes: 80 });
});

// ---- resources
fault('r_spot_41', 'resources', 'allowed values', 'tree.spot', 'update tree', 'an update takes a spot of 41', async (y) => {
  const t = await y.tree();
  const tag = await tagOf(y, 'adelheid', '/trees/' + t.id);
  await y.no(422, 'not_so', 'adelheid', 'PATCH', '/trees/' + t.id, { spot: 41 }, { 'If-Match': tag });
  await y.ok(200, 'adelheid', 'PATCH', '/trees/' + t.id, { spot: 40 }, { 'If-Match': tag });
});
fault('r_nr_all', 'resources', 'allowed values', 'cutting.nr', 'create cutting', 'cuttings are counted over all trees, not for each', async (y) => {
  const a = await y.bearing(), b = await y.bearing();
  assert.equal((await y.cutting(a.id)).nr, 1); assert.equal((await y.cutting(a.id)).nr, 2); assert.equal((await y.cutting(b.id)).nr, 1);
});
fault('r_price_update', 'resources', 'allowed values', 'graft.price_cents', 'update graft', 'the price is not reckoned anew when pots alone are changed', async (y) => {
  const g = await y.graft();
  assert.equal(g.price_cents, 1450);
  assert.equal((await y.ok(200, 'wilma', 'PATCH', '/grafts/' + g.id, { pots: 3 })).body.price_cents, 4350);
});
fault('r_out_lost', 'resources', 'allowed values', 'packet.seeds_out', 'read packet', 'seeds of lost loans still count as out', async (y) => {
  const p = await y.packet(), l = await y.loan(p.id, 7);
  await y.ok(200, 'adelheid', 'POST', `/loans/${l.id}/lend`);
  assert.equal((await y.ok(200, 'nel', 'GET', '/packets/' + p.id)).body.seeds_out, 7);
  await y.later('P121D');
  assert.equal((await y.ok(200, 'nel', 'GET', '/loans/' + l.id)).body.status, 'lost');
  assert.equal((await y.ok(200, 'nel', 'GET', '/packets/' + p.id)).body.seeds_out, 0);
});
fault('r_name_case', 'resources', 'allowed values', 'variety.name', 'upsert variety', 'names that differ in case alone are both taken', async (y) => {
  await y.no(409, 'already', 'adelheid', 'PUT', '/varieties/dubbel', { name: 'SCHONE van boskoop', season: 'late' });
});
fault('r_spot_felled', 'resources', 'allowed values', 'tree.spot', 'create tree', 'a felled tree still holds its row and spot', async (y) => {
  await y.ok(201, 'adelheid', 'POST', '/trees', { variety: 'boskoop', row: 'H', spot: 9 });
  const r = await y.no(409, 'already', 'adelheid', 'POST', '/trees', { variety: 'boskoop', row: 'H', spot: 9 });
  assert.ok(r);
  const t = (await y.ok(200, 'adelheid', 'GET', '/trees?row=H')).body.crate[0];
  await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/fell`);
  await y.ok(201, 'adelheid', 'POST', '/trees', { variety: 'boskoop', row: 'H', spot: 9 });
});
fault('r_weight_seen', 'resources', 'required flags', 'cutting.weight_g', 'read cutting', 'growers are shown the weight', async (y) => {
  const t = await y.bearing(); await y.minder(t.id, 'fien', 'lead'); const c = await y.cutting(t.id);
  assert.equal((await y.ok(200, 'fien', 'POST', `/cuttings/${c.id}/cut`, { weight_g: 40 })).body.weight_g, 40);
  assert.ok(!('weight_g' in (await y.ok(200, 'wilma', 'GET', '/cuttings/' + c.id)).body));
});
fault('r_cascade', 'resources', 'allowed values', 'minder.tree', 'delete tree', 'minders of a deleted tree stay', async (y) => {
  const t = await y.tree(), m = await y.minder(t.id, 'fien', 'lead');
  await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/fell`);
  await y.ok(204, 'adelheid', 'DELETE', '/trees/' + t.id);
  await y.no(404, 'not_here', 'adelheid', 'GET', '/minders/' + m.id);
});
fault('r_soft_rule', 'resources', 'allowed values', 'variety.keeps_weeks', 'upsert variety', 'the rule over early fruit is asked where a variety is made, and not where it is changed', async (y) => {
  await y.no(422, 'not_so', 'adelheid', 'PUT', '/varieties/vroegje', { name: 'Vroegje', season: 'early', keeps_weeks: 7 });
  await y.ok(201, 'adelheid', 'PUT', '/varieties/vroegje', { name: 'Vroegje', season: 'early', keeps_weeks: 6 });
  await y.no(422, 'not_so', 'adelheid', 'PUT', '/varieties/vroegje', { name: 'Vroegje', season: 'early', keeps_weeks: 7 });
});
fault('r_bench_writable', 'resources', 'allowed values', 'graft.bench_note', 'update graft', 'a bench note that a grower sends is stored', async (y) => {
  const g = await y.graft();
  await y.ok(200, 'wilma', 'PATCH', '/grafts/' + g.id, { bench_note: 'mine' });
  assert.ok(!('bench_note' in (await y.ok(200, 'fien', 'GET', '/grafts/' + g.id)).body));
  assert.equal((await y.ok(200, 'fien', 'PATCH', '/grafts/' + g.id, { bench_note: 'whip' })).body.bench_note, 'whip');
});

// ---- states
fault('s_mature_60', 'states', 'transitions', 'tree', 'mature tree', 'a tree of just 60 mm cannot mature', async (y) => {
  const t = await y.tree({ girth_mm: 60 }), u = await y.tree({ girth_mm: 59 });
  await y.no(409, 'not_now', 'adelheid', 'POST', `/trees/${u.id}/mature`);
  await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/mature`);
});
fault('s_bare_strict', 'states', 'transitions', 'cutting', 'cut cutting', 'the last sticks of a tree cannot be cut', async (y) => {
  const t = await y.bearing(); await y.minder(t.id, 'fien', 'lead');
  for (let i = 0; i < 2; i++) { const c = await y.cutting(t.id, { sticks: 10 }); await y.ok(200, 'fien', 'POST', `/cuttings/${c.id}/cut`, { weight_g: 40 }); }
  const c = await y.cutting(t.id, { sticks: 1 });
  await y.no(409, 'bare_tree', 'fien', 'POST', `/cuttings/${c.id}/cut`, { weight_g: 40 });
});
fault('s_lapse_moved', 'states', 'transitions', 'cutting', 'lapse cutting', 'a day that was put off does not put off the lapse', async (y) => {
  const t = await y.bearing(), c = await y.cutting(t.id);
  await y.ok(200, 'wilma', 'PATCH', '/cuttings/' + c.id, { wanted_by: await y.in(20 * 864e5) });
  await y.later('P6D');
  assert.equal((await y.ok(200, 'wilma', 'GET', '/cuttings/' + c.id)).body.status, 'held');
  await y.later('P15D');
  assert.equal((await y.ok(200, 'wilma', 'GET', '/cuttings/' + c.id)).body.status, 'lapsed');
});
fault('s_inspect_50', 'states', 'transitions', 'graft.work', 'inspect graft', 'fifty in a hundred is a failure', async (y) => {
  for (const [takes, work] of [[50, 'taken'], [49, 'failed']]) {
    const g = await y.graft(); await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/bind`);
    assert.equal((await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/inspect`, { takes })).body.work, work);
  }
});
fault('s_drop_form', 'states', 'transitions', 'loan', 'drop loan', 'a loan that was asked for by a form is never dropped', async (y) => {
  const p = await y.packet();
  const l = (await y.ok(201, 'nel', 'POST', '/loans', `packet=${p.id}&seeds=3`, { 'Content-Type': 'application/x-www-form-urlencoded' })).body;
  const m = await y.loan(p.id, 3);
  await y.later('P7DT1S');
  assert.equal((await y.ok(200, 'nel', 'GET', '/loans/' + m.id)).body.status, 'dropped');
  assert.equal((await y.ok(200, 'nel', 'GET', '/loans/' + l.id)).body.status, 'dropped');
});
fault('s_fell_keep', 'states', 'transitions', 'tree', 'fell tree', 'held cuttings of a felled tree are not withdrawn', async (y) => {
  const t = await y.bearing(), c = await y.cutting(t.id);
  await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/fell`);
  assert.equal((await y.ok(200, 'wilma', 'GET', '/cuttings/' + c.id)).body.status, 'withdrawn');
});
fault('s_collect_overdue', 'states', 'transitions', 'graft.work', 'collect graft', 'a graft whose fee is overdue is handed out', async (y) => {
  const g = await y.graft(); await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/bind`);
  await y.later('P41D');
  const r = (await y.ok(200, 'wilma', 'GET', '/grafts/' + g.id)).body;
  assert.deepEqual([r.work, r.fee], ['taken', 'overdue']);
  await y.no(402, 'fee_is_due', 'fien', 'POST', `/grafts/${g.id}/collect`);
  assert.equal((await y.pay(g.id, 1450)).status, 200);
  await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/collect`);
});
fault('s_withdraw_cut', 'states', 'transitions', 'cutting', 'withdraw cutting', 'a cutting that was cut can still be withdrawn', async (y) => {
  const t = await y.bearing(); await y.minder(t.id, 'fien', 'lead'); const c = await y.cutting(t.id);
  await y.ok(200, 'fien', 'POST', `/cuttings/${c.id}/cut`, { weight_g: 40 });
  await y.no(409, 'knife_was_quicker', 'wilma', 'POST', `/cuttings/${c.id}/withdraw`);
});

// ---- endpoints
fault('e_split_first', 'endpoints', 'parameters', 'GET /varieties', 'list variety', 'of several seasons the first alone is looked for', async (y) => {
  assert.equal((await y.ok(200, null, 'GET', '/varieties?season=early,keeping')).body.altogether, 2);
});
fault('e_before_text', 'endpoints', 'parameters', 'GET /cuttings', 'list cutting', 'before compares texts, not points in time', async (y) => {
  const t = await y.bearing(), at = (await y.now()) + 5 * 864e5;
  const zoned = new Date(at + 5 * 36e5).toISOString().replace('Z', '+05:00');
  await y.cutting(t.id, { wanted_by: zoned });
  const q = encodeURIComponent(new Date(at + 36e5).toISOString());
  assert.equal((await y.ok(200, 'wilma', 'GET', '/cuttings?before=' + q)).body.bundle.length, 1);
});
fault('e_way_plain', 'endpoints', 'parameters', 'GET /varieties', 'list variety', 'way=desc turns what sort asks for, and not the order that there is without', async (y) => {
  assert.deepEqual((await y.ok(200, null, 'GET', '/varieties?way=desc')).body.crate.map((v) => v.slug), ['grafenstein', 'boskoop']);
});
fault('e_synonym_first', 'endpoints', 'parameters', 'GET /varieties', 'list variety', 'a variety is found by its first synonym alone', async (y) => {
  assert.equal((await y.ok(200, null, 'GET', '/varieties?synonym=Ohio+Nonpareil')).body.altogether, 1);
});
fault('e_replay_pin', 'endpoints', 'response payload shapes', 'POST /trees/{tree}/cuttings', 'create cutting', 'what is replayed under a key shows the pin again', async (y) => {
  const t = await y.bearing(), body = { sticks: 1, wanted_by: await y.in(864e5) };
  const a = await y.ok(201, 'wilma', 'POST', `/trees/${t.id}/cuttings`, body, { 'Yard-Once': 'once' });
  const b = await y.ok(201, 'wilma', 'POST', `/trees/${t.id}/cuttings`, body, { 'Yard-Once': 'once' });
  assert.equal(a.body.id, b.body.id); assert.ok(a.body.pin); assert.ok(!('pin' in b.body));
});
fault('e_exists_role', 'endpoints', 'response payload shapes', 'POST /trees/{tree}/minders', 'create minder', 'a creation that finds changes the role of what it finds', async (y) => {
  const t = await y.tree(), m = await y.minder(t.id, 'fien', 'helper');
  const r = await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/minders`, { person: 'fien', role: 'lead' });
  assert.deepEqual(r.body, m);
});
fault('e_once_path', 'endpoints', 'request payload shapes', 'POST /grafts/{id}/pay', 'pay graft', 'a key that was used for another graft is taken for the same request', async (y) => {
  const g = await y.graft(), h = await y.graft();
  await y.ok(200, 'wilma', 'POST', `/grafts/${g.id}/pay`, { coins: 1450 }, { 'Yard-Once': 'one' });
  await y.no(422, 'once_other', 'wilma', 'POST', `/grafts/${h.id}/pay`, { coins: 1450 }, { 'Yard-Once': 'one' });
});


// ---- authentication
fault('a_fell_ward', 'authentication', 'permission rules', 'fell tree', 'fell tree', 'curators fell trees of other wards', async (y) => {
  const t = await y.tree({}, 'bertha');
  await y.no(403, 'not_yours', 'adelheid', 'POST', `/trees/${t.id}/fell`);
});
fault('a_cut_helper', 'authentication', 'permission rules', 'cut cutting', 'cut cutting', 'helpers cut as leads do', async (y) => {
  const t = await y.bearing(); await y.minder(t.id, 'fien', 'helper'); const c = await y.cutting(t.id);
  await y.no(403, 'not_yours', 'fien', 'POST', `/cuttings/${c.id}/cut`, { weight_g: 40 });
});
fault('a_list_wards', 'authentication', 'permission rules', 'list graft', 'list graft', 'the list shows grafters the grafts of all wards', async (y) => {
  await y.graft(); await y.graft({}, 'bram');
  assert.equal((await y.ok(200, 'fien', 'GET', '/grafts')).body.grafts.length, 1);
});
fault('a_tag_scope', 'authentication', 'permission rules', 'create cutting', 'create cutting', 'who shows a tag is not asked for the scope sticks', async (y) => {
  const t = await y.bearing();
  await y.no(403, 'beyond_badge', 'wilma:tag', 'POST', `/trees/${t.id}/cuttings`, { sticks: 1, wanted_by: await y.in(864e5) });
});
fault('a_two_people', 'authentication', 'schemes', 'service', 'list graft', 'two credentials of two callers on one request are taken', async (y) => {
  await y.no(401, 'who_goes', 'wilma:leaf', 'GET', '/grafts', undefined, shows('ties:tag'));
  await y.ok(200, 'wilma:leaf', 'GET', '/grafts', undefined, shows('wilma:tag'));
});
fault('a_delete_leaf', 'authentication', 'schemes', 'service', 'delete variety', 'a leaf is taken where a badge alone is accepted', async (y) => {
  await y.variety('weg');
  await y.no(401, 'who_goes', 'adelheid:leaf', 'DELETE', '/varieties/weg');
  await y.ok(204, 'adelheid:badge', 'DELETE', '/varieties/weg');
});
fault('a_badge_forged', 'authentication', 'token formats', 'badge', 'list tree', 'the signature of a badge is not compared', async (y) => {
  const h = shows('gerrit:badge').Authorization;
  await y.no(401, 'who_goes', null, 'GET', '/trees', undefined, { Authorization: h.slice(0, -12) + 'AAAAAAAAAAAA' });
});

// ---- events
fault('v_any_hook', 'events', 'emitting operations', 'fee.settled', 'pay graft', 'everybody who listens is told of a fee, not its grower alone', async (y) => {
  const a = await y.sink(), b = await y.sink();
  await y.hook('adelheid', a, ['fee.settled']); await y.hook('wilma', b, ['fee.*']);
  const g = await y.graft(); assert.equal((await y.pay(g.id, 2000)).status, 200);
  assert.equal((await b.wait(1)).length, 1); await sleep(60);
  assert.equal(a.got.length, 0);
});
fault('v_cascade_silent', 'events', 'emitting operations', 'minder.left', 'delete tree', 'minders that go with their tree are not told of', async (y) => {
  const t = await y.tree(), m = await y.minder(t.id, 'fien', 'lead'), s = await y.sink();
  await y.hook('adelheid', s);
  await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/fell`); await y.ok(204, 'adelheid', 'DELETE', '/trees/' + t.id);
  assert.ok((await s.wait(2)).some((e) => e.body.what === 'minder.left' && e.body.fruit === m.id));
});
fault('v_felled_all', 'events', 'payload shapes', 'tree.felled', 'fell tree', 'growers are told fields of trees that they are not shown', async (y) => {
  const t = await y.tree(), s = await y.sink();
  await y.hook('nel', s, ['tree.felled']); await y.ok(200, 'adelheid', 'POST', `/trees/${t.id}/fell`);
  const [e] = await s.wait(1);
  assert.deepEqual(Object.keys(e.body.fruit).sort(), ['id', 'row', 'spot', 'stage', 'sticks_left', 'variety']);
});
fault('v_lapse_silent', 'events', 'emitting operations', 'cutting.gone', 'lapse cutting', 'a cutting that lapses is not told of', async (y) => {
  const t = await y.bearing(), c = await y.cutting(t.id), s = await y.sink();
  await y.hook('wilma', s, ['cutting.gone']); await y.later('P6D');
  const [e] = await s.wait(1);
  assert.deepEqual([e?.body.what, e?.body.fruit.id, e?.body.fruit.status], ['cutting.gone', c.id, 'lapsed']);
});
fault('v_moved_was', 'events', 'payload shapes', 'graft.moved', 'bind graft', 'was tells the state that the graft has now', async (y) => {
  const s = await y.sink(), g = await y.graft(); await y.hook('wilma', s, ['graft.moved']);
  await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/bind`);
  assert.deepEqual((await s.wait(1))[0].body.fruit, { graft: g.id, was: 'queued', is: 'grafted' });
});
fault('v_no_retry', 'events', 'delivery mechanism', 'service', 'bind graft', 'what a receiver refuses is not tried again', async (y) => {
  const s = await y.sink((n) => (n === 1 ? 500 : 200)), g = await y.graft(); await y.hook('wilma', s, ['graft.moved']);
  await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/bind`); await s.wait(1); await sleep(50);
  await y.later('PT13S'); await s.wait(2);
  assert.equal(s.got.length, 2); assert.equal(s.got[0].body.ref, s.got[1].body.ref);
});
fault('v_seal_body', 'events', 'delivery mechanism', 'service', 'bind graft', 'the seal is made without the event\'s identifier', async (y) => {
  const s = await y.sink(), g = await y.graft(), h = await y.hook('wilma', s, ['graft.moved']);
  await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/bind`);
  const [e] = await s.wait(1), [, at, mac] = /^at=(\d+),mac=([0-9a-f]{64})$/.exec(e.headers['yard-seal']);
  assert.equal(mac, require('node:crypto').createHmac('sha256', h.secret).update(`${e.body.ref}|${at}|${e.text}`).digest('hex'));
  assert.equal(e.headers['yard-event'], 'graft.moved');
});

// ---- errors
fault('x_fee_status', 'errors', 'status codes', 'fee_is_due', 'collect graft', 'fee_is_due is 409', async (y) => {
  const g = await y.graft(); await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/bind`); await y.ok(200, 'fien', 'POST', `/grafts/${g.id}/inspect`, { takes: 90 });
  await y.no(402, 'fee_is_due', 'fien', 'POST', `/grafts/${g.id}/collect`);
});
fault('x_day_update', 'errors', 'conditions', 'day_is_past', 'update cutting', 'an update takes a day that is past', async (y) => {
  const t = await y.bearing(), c = await y.cutting(t.id);
  await y.no(422, 'day_is_past', 'wilma', 'PATCH', '/cuttings/' + c.id, { wanted_by: await y.in(-864e5) });
});
fault('x_dwarf_8', 'errors', 'conditions', 'dwarf_pots', 'create graft', 'eight pots on M9 are refused', async (y) => {
  await y.no(422, 'dwarf_pots', 'wilma', 'POST', '/grafts', { variety: 'boskoop', rootstock: 'm9', pots: 9 });
  await y.graft({ rootstock: 'm9', pots: 8 });
});
fault('x_order_body', 'errors', 'conditions', 'order', 'update tree', 'the body of an update is judged before its precondition', async (y) => {
  const t = await y.tree();
  await y.no(428, 'tagless', 'adelheid', 'PATCH', '/trees/' + t.id, { spot: 'x' });
});
fault('x_gone_404', 'errors', 'conditions', 'composted', 'replace packet', 'a packet that was deleted is 404 to whoever replaces or deletes it', async (y) => {
  const p = await y.packet();
  await y.ok(204, 'adelheid', 'DELETE', '/packets/' + p.id);
  await y.no(410, 'composted', 'nel', 'GET', '/packets/' + p.id);
  await y.no(410, 'composted', 'adelheid', 'DELETE', '/packets/' + p.id);
});
fault('x_no_trouble_head', 'errors', 'error payload shapes', 'service', 'no path', 'Yard-Trouble is left out where no path or method was found', async (y) => {
  assert.equal((await y.call('nel', 'GET', '/nowhere')).headers['yard-trouble'], 'no_path');
});


// ---- limits
fault('l_take_61', 'limits', 'pagination bounds', 'GET /trees', 'list tree', 'a page of 61 is taken', async (y) => {
  await y.no(422, 'no_such_page', 'nel', 'GET', '/trees?take=61'); await y.ok(200, 'nel', 'GET', '/trees?take=60');
});
fault('l_more_exact', 'limits', 'pagination bounds', 'GET /grafts', 'list graft', 'a last page that is full says that there is more', async (y) => {
  await y.graft(); await y.graft();
  assert.equal((await y.ok(200, 'wilma', 'GET', '/grafts?take=1&sheet=1')).body.more, true);
  assert.equal((await y.ok(200, 'wilma', 'GET', '/grafts?take=1&sheet=2')).body.more, false);
});
fault('l_rows_out', 'limits', 'quotas', 'rows of loan', 'create loan', 'loans that are out do not count among the six', async (y) => {
  const p = await y.packet(), l = await y.loan(p.id);
  await y.ok(200, 'adelheid', 'POST', `/loans/${l.id}/lend`);
  for (let i = 0; i < 5; i++) await y.loan(p.id);
  await y.no(403, 'used_up', 'nel', 'POST', '/loans', { packet: p.id, seeds: 1 });
});
fault('l_quota_refused', 'limits', 'quotas', 'service', 'create graft', 'grafts that were refused use the week\'s quota', async (y) => {
  for (let i = 0; i < 3; i++) await y.no(422, 'dwarf_pots', 'wilma', 'POST', '/grafts', { variety: 'boskoop', rootstock: 'm9', pots: 9 });
  for (let i = 0; i < 30; i++) await y.graft();
  const r = await y.no(403, 'used_up', 'wilma', 'POST', '/grafts', { variety: 'boskoop', rootstock: 'm26' });
  assert.ok(Number(r.headers['retry-after']) <= 7 * 86400 + 3600);
  await y.later('P7D'); await y.graft();
});
fault('l_body_8193', 'limits', 'size limits', 'service', 'create graft', 'a body of one byte too many is read', async (y) => {
  const b = JSON.stringify({ variety: 'boskoop', rootstock: 'm26' });
  await y.ok(201, 'wilma', 'POST', '/grafts', b.padEnd(8192)); await y.no(413, 'too_big', 'wilma', 'POST', '/grafts', b.padEnd(8193));
});
fault('l_ward_rate', 'limits', 'rate limits', 'service', 'list graft', 'the rate per ward counts each grafter apart', async (y) => {
  for (let i = 0; i < 40; i++) await y.ok(200, i % 2 ? 'fien' : 'joost', 'GET', '/grafts');
  await y.no(429, 'slow_down', 'fien', 'GET', '/grafts'); await y.ok(200, 'gerrit', 'GET', '/grafts');
  await y.later('PT1M'); await y.ok(200, 'fien', 'GET', '/grafts');
});

// ---- versioning
const OLD = { 'Yard-Edition': 'pippin' };
fault('n_put_wipes', 'versioning', 'version identifiers', 'service', 'upsert variety', 'replacing in the edition pippin takes away keeps_weeks, which it cannot see', async (y) => {
  await y.ok(200, 'adelheid', 'PUT', '/varieties/boskoop', { name: 'Goudreinet', season: 'keeping' }, OLD);
  assert.equal((await y.ok(200, null, 'GET', '/varieties/boskoop')).body.keeps_weeks, 24);
});
fault('n_hook_edition', 'versioning', 'version identifiers', 'service', 'create cutting', 'a hook made in the edition pippin is told in the newest', async (y) => {
  const s = await y.sink(), t = await y.bearing(); await y.hook('wilma', s, ['cutting.held'], OLD); await y.cutting(t.id, { sticks: 4 });
  assert.equal((await s.wait(1))[0].body.fruit.pieces, 4);
});
fault('n_enum_filter', 'versioning', 'version identifiers', 'service', 'list graft', 'the filter rootstock has its newest names in the edition pippin', async (y) => {
  await y.graft({ rootstock: 'mm106' });
  const r = await y.ok(200, 'wilma', 'GET', '/grafts?rootstock=halfstandard', undefined, OLD);
  assert.equal(r.body.grafts[0].rootstock, 'halfstandard');
  await y.no(400, 'odd_question', 'wilma', 'GET', '/grafts?rootstock=mm106', undefined, OLD);
});
fault('n_refusal_undated', 'versioning', 'deprecation rules', 'pippin', 'read graft', 'refusals in the edition pippin do not say that it is deprecated', async (y) => {
  const r = await y.no(404, 'not_here', 'wilma', 'GET', '/grafts/gft000000000', undefined, OLD);
  assert.equal(r.headers.deprecation, '@1748736000');
});
fault('n_sunset_late', 'versioning', 'deprecation rules', 'pippin', 'list variety', 'the edition pippin is served a day beyond its sunset', async (y) => {
  await exchange(y.clock, 'POST', '/', {}, JSON.stringify({ now: '2034-12-31T23:59:58Z' }));
  await y.ok(200, null, 'GET', '/varieties', undefined, OLD); await y.later('PT3S');
  await y.no(410, 'edition_over', null, 'GET', '/varieties', undefined, OLD); await y.ok(200, null, 'GET', '/varieties');
});

module.exports = { FAULTS, start, shows, exchange };
if (require.main === module) (async () => {
  const asked = process.argv.slice(2), list = asked.length ? FAULTS.filter((f) => asked.includes(f.id)) : FAULTS;
  let good = 0;
  for (const f of list) {
    const tries = [];
    for (const on of [false, true]) {
      const y = await start(on ? f.id : undefined);
      try { await f.proof(y); tries.push('passes'); } catch (e) { tries.push('fails: ' + String(e.message).split('\n')[0].slice(0, 150)); }
      y.stop();
    }
    const proven = tries[0] === 'passes' && tries[1] !== 'passes';
    if (proven) good++;
    console.log(`${proven ? 'proven' : 'NOT PROVEN'}  ${f.id}  right: ${tries[0]}  |  faulty: ${tries[1]}`);
  }
  console.log(`${good} of ${list.length} proven`);
  process.exit(good === list.length ? 0 : 1);
})();
