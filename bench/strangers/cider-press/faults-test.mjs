// Proves each fault by hand: the proof holds of the right service and fails of the faulty one.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { faults, callers } = JSON.parse(readFileSync(join(here, 'stranger.json'), 'utf8'));
const agent = new http.Agent({ keepAlive: true });
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
function ask(port, method, path, { headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const q = http.request({ host: '127.0.0.1', port, method, path, headers, agent }, (a) => {
      let t = '';
      a.on('data', (c) => { t += c; });
      a.on('end', () => { let parsed; try { parsed = t ? JSON.parse(t) : undefined; } catch { parsed = t; } resolve({ status: a.statusCode, headers: a.headers, body: parsed, code: parsed?.error?.code }); });
    });
    q.on('error', reject);
    q.end(body);
  });
}
const credentials = (c) => (c.scheme === 'key' ? { 'X-Press-Key': c.credential } : { Authorization: `Basic ${Buffer.from(c.credential).toString('base64')}` });
function must(holds, what) { if (!holds) throw new Error(`not so: ${what}`); }
async function start(fault, tries = 5) {
  const port = 20000 + Math.floor(Math.random() * 12000), clock = port + 500;
  const child = spawn(process.execPath, [join(here, 'service.mjs'), '--port', String(port), '--clock-port', String(clock), ...(fault ? ['--fault', fault] : [])], { stdio: 'ignore' });
  for (let i = 0; ; i++) {
    if (child.exitCode !== null || i > 200) { child.kill(); if (tries > 0) return start(fault, tries - 1); throw new Error('the service does not start'); }
    try { await ask(clock, 'GET', '/'); await ask(port, 'GET', '/press/hours'); break; } catch { await wait(20); }
  }
  const s = { port, stop: () => child.kill() };
  const as = (caller) => (method, path, body, headers = {}) => ask(port, method, path.startsWith('//') ? path.slice(1) : `/press${path}`, {
    headers: { ...(caller ? credentials(caller) : {}), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers }, body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) });
  const who = (id, scheme) => as(callers.find((c) => c.id === id && (!scheme || c.scheme === scheme)));
  Object.assign(s, { ida: who('g_ida', 'key'), idaLogin: who('g_ida', 'login'), tom: who('g_tom'), una: who('g_una'), bram: who('k_bram'), wyn: who('k_wyn'), fresh: who('k_new'), pip: who('m_pip'), rosa: who('m_rosa', 'login'), rosaKey: who('m_rosa', 'key'), nobody: as(undefined) });
  s.clock = (move) => ask(clock, 'POST', '/', { body: JSON.stringify(move) });
  s.later = (advance) => s.clock({ advance });
  s.now = async () => Date.parse((await ask(clock, 'GET', '/')).body.now);
  let n = 0;
  const made = async (answer) => { const a = await answer; must(a.status === 201, `made: ${JSON.stringify(a.body)}`); return a.body; };
  const done = async (answer) => { const a = await answer; must(a.status === 200, `done: ${JSON.stringify(a.body)}`); return a.body; };
  s.done = done; s.made = made;
  s.orchard = (who = s.ida, more = {}) => made(who('POST', '/orchards', { name: `Orchard ${++n}`, parish: 'Much Marcle', trees: 50, varieties: ['sharp'], ...more }));
  s.pressing = (o, who = s.ida, more = {}) => made(who('POST', `/orchards/${o.id}/pressings`, { day: `2027-01-${String(1 + ++n).padStart(2, '0')}`, kilograms: 400, ...more }));
  s.barrel = (more = {}) => made(s.bram('POST', '/barrels', { name: `Barrel ${++n}`, wood: 'oak', capacity: 500, ...more }));
  s.ready = async (litres = 300, more = {}) => {
    const b = await s.barrel(more);
    await done(s.bram('POST', `/barrels/${b.id}/fill`, { litres }));
    await done(s.bram('POST', `/barrels/${b.id}/rest`));
    await s.later('P14DT1S');
    return done(s.bram('GET', `/barrels/${b.id}`));
  };
  s.lot = (b, more = {}) => made(s.bram('POST', '/lots', { title: `Lot ${++n}`, barrel: b.id, bottles: 20, price: 650, ...more }));
  s.released = async (more = {}) => { const b = await s.ready(); const l = await s.lot(b, more); return done(s.bram('POST', `/lots/${l.id}/release`)); };
  s.listen = async (status = 200) => {
    const got = [];
    const receiver = http.createServer((req, res) => { let t = ''; req.on('data', (c) => { t += c; }); req.on('end', () => { got.push({ headers: req.headers, text: t, body: JSON.parse(t) }); res.writeHead(typeof status === 'function' ? status(got.length) : status).end(); }); });
    await new Promise((r) => receiver.listen(0, '127.0.0.1', r));
    s.receivers.push(receiver);
    return { got, url: `http://127.0.0.1:${receiver.address().port}/`, seen: async (k) => { for (let i = 0; i < 60 && got.length < k; i++) await wait(10); return got; }, quiet: () => wait(150) };
  };
  s.receivers = [];
  return s;
}

const proofs = {
  // purpose
  'p-base': async (s) => { must((await s.bram('GET', '/lots')).status === 200, 'lots below /press'); },
  'p-loc': async (s) => { const a = await s.ida('POST', '/orchards', { name: 'Hill', parish: 'Putley', trees: 3, varieties: ['sweet'] }); must(new URL(a.headers.location, 'http://x/').pathname === `/press/orchards/${a.body.id}`, 'Location below the base'); },
  'p-cancel': async (s) => { const p = await s.pressing(await s.orchard()); must((await s.ida('POST', `/pressings/${p.id}/cancel`, { reason: 'hail' })).status === 200, 'cancelled'); },
  'p-collect': async (s) => { const l = await s.released(); await s.done(s.pip('POST', `/lots/${l.id}/reserve`)); must((await s.pip('POST', `/lots/${l.id}/collect`)).status === 200, 'collected'); },
  'p-login': async (s) => { const l = await s.released(); must((await s.rosa('POST', `/lots/${l.id}/reserve`)).status === 200, 'a merchant by login reserves'); },
  'p-hook-delete': async (s) => { const h = await s.made(s.ida('POST', '/hooks', { url: 'http://127.0.0.1:9/' })); must((await s.ida('DELETE', `/hooks/${h.id}`)).status === 204, '204'); must((await s.ida('GET', `/hooks/${h.id}`)).status === 404, 'it is gone'); },
  // resources
  'r-trees': async (s) => { must((await s.ida('POST', '/orchards', { name: 'Big', parish: 'Putley', trees: 5001, varieties: ['sweet'] })).status === 422, '5001 trees'); },
  'r-unique': async (s) => { await s.orchard(s.ida, { name: 'Home' }); must((await s.tom('POST', '/orchards', { name: 'Home', parish: 'Putley', trees: 5, varieties: ['sweet'] })).status === 201, 'another grower has that name'); },
  'r-pressedkg': async (s) => { const o = await s.orchard(), p = await s.pressing(o); await s.done(s.bram('POST', `/pressings/${p.id}/confirm`)); await s.done(s.bram('POST', `/pressings/${p.id}/start`)); must((await s.ida('GET', `/orchards/${o.id}`)).body.pressedKilograms === 0, 'nothing pressed yet'); await s.done(s.bram('POST', `/pressings/${p.id}/finish`, { litres: 200 })); must((await s.ida('GET', `/orchards/${o.id}`)).body.pressedKilograms === 400, '400 pressed'); },
  'r-number': async (s) => { const a = await s.orchard(), b = await s.orchard(); await s.pressing(a); must((await s.pressing(b)).number === 1, 'first of its orchard'); },
  'r-note-seen': async (s) => { const o = await s.orchard(); await s.done(s.bram('PATCH', `/orchards/${o.id}`, { keeperNote: 'pays late' })); must(!('keeperNote' in (await s.ida('GET', `/orchards/${o.id}`)).body), 'hidden from growers'); },
  'r-litres': async (s) => { must((await s.lot(await s.barrel(), { bottles: 1, bottleMl: 330 })).litres === 1, 'rounded up'); },
  'r-secret': async (s) => { const h = await s.made(s.ida('POST', '/hooks', { url: 'http://127.0.0.1:9/' })); must(/^hks_\w{32}$/.test(h.secret), 'shown once'); must(!('secret' in (await s.ida('GET', `/hooks/${h.id}`)).body), 'not again'); },
  'r-holder': async (s) => { const l = await s.released(); await s.done(s.pip('POST', `/lots/${l.id}/reserve`)); await s.later('P2DT1S'); const a = (await s.bram('GET', `/lots/${l.id}`)).body; must(a.status === 'released' && !('holder' in a), 'nobody holds it'); },
  // states
  's-start': async (s) => { const p = await s.pressing(await s.orchard()); must((await s.bram('POST', `/pressings/${p.id}/start`)).code === 'wrong_state', 'not confirmed'); },
  's-lapse': async (s) => { const p = await s.pressing(await s.orchard()); await s.later('P4D'); must((await s.ida('GET', `/pressings/${p.id}`)).body.status === 'booked', 'still booked'); await s.later('P1DT1S'); must((await s.ida('GET', `/pressings/${p.id}`)).body.status === 'lapsed', 'lapsed'); },
  's-settle': async (s) => { const b = await s.barrel(); await s.done(s.bram('POST', `/barrels/${b.id}/fill`, { litres: 50 })); await s.done(s.bram('POST', `/barrels/${b.id}/rest`)); await s.later('P10D'); await s.done(s.bram('PATCH', `/barrels/${b.id}`, { wood: 'steel' }, { 'If-Match': '*' })); await s.later('P4DT1S'); must((await s.bram('GET', `/barrels/${b.id}`)).body.status === 'ready', 'ready after 14 days of rest'); },
  's-draw': async (s) => { const b = await s.ready(100); must((await s.bram('POST', `/barrels/${b.id}/draw`, { litres: 100 })).body.status === 'empty', 'drawn dry'); },
  's-tap': async (s) => { const b = await s.ready(300), l = await s.lot(b); await s.done(s.bram('POST', `/lots/${l.id}/release`)); must((await s.bram('GET', `/barrels/${b.id}`)).body.level === 285, 'tapped'); },
  's-reclose': async (s) => { const b = await s.ready(), l = await s.lot(b, { closesAt: new Date(await s.now() + 86400000).toISOString() }); await s.done(s.bram('POST', `/lots/${l.id}/release`)); await s.done(s.pip('POST', `/lots/${l.id}/reserve`)); await s.later('P2DT2S'); must((await s.bram('GET', `/lots/${l.id}`)).body.status === 'closed', 'closed once it lapsed'); },
  's-withdraw': async (s) => { const l = await s.released(); await s.done(s.pip('POST', `/lots/${l.id}/reserve`)); must((await s.bram('POST', `/lots/${l.id}/withdraw`)).code === 'lot_is_gone', 'reserved'); },
  // endpoints
  'e-minlevel': async (s) => { const b = await s.barrel(); await s.done(s.bram('POST', `/barrels/${b.id}/fill`, { litres: 80 })); must((await s.bram('GET', '/barrels?minLevel=80')).body.items.length === 1, '80 is at least 80'); },
  'e-order': async (s) => { const o = await s.orchard(); await s.pressing(o, s.ida, { day: '2027-02-01' }); await s.pressing(o, s.ida, { day: '2027-02-09' }); must((await s.ida('GET', '/pressings')).body.items[0].day === '2027-02-09', 'latest first'); },
  'e-ifmatch': async (s) => { const o = await s.orchard(); must((await s.ida('PATCH', `/orchards/${o.id}`, { trees: 9 }, { 'If-Match': '"old"' })).code === 'changed', 'an old tag'); },
  'e-null': async (s) => { const p = await s.pressing(await s.orchard(), s.ida, { note: 'wet' }); must(!('note' in (await s.done(s.ida('PATCH', `/pressings/${p.id}`, { note: null })))), 'taken away'); },
  'e-put': async (s) => { const b = await s.barrel(), t = await s.made(s.ida('POST', `/barrels/${b.id}/tastings`, { score: 7, dryness: 'dry', tastedOn: '2026-11-20', words: 'smoky' })); must(!('words' in (await s.done(s.ida('PUT', `/tastings/${t.id}`, { score: 8, dryness: 'dry', tastedOn: '2026-11-20' })))), 'left out, gone'); },
  'e-idem': async (s) => { const b = await s.barrel(), once = () => s.bram('POST', `/barrels/${b.id}/fill`, { litres: 60 }, { 'Idempotency-Key': 'k1' }); await once(); must((await once()).body.level === 60, 'replayed'); must((await s.bram('GET', `/barrels/${b.id}`)).body.level === 60, 'filled once'); },
  // authentication
  'a-scope': async (s) => { const o = await s.orchard(s.una); must((await s.una('POST', `/orchards/${o.id}/pressings`, { day: '2027-01-05', kilograms: 100 })).code === 'missing_scope', 'no scope'); },
  'a-read': async (s) => { const p = await s.pressing(await s.orchard()); must((await s.tom('GET', `/pressings/${p.id}`)).status === 404, 'not of that grower'); },
  'a-list': async (s) => { await s.orchard(); must((await s.tom('GET', '/orchards?minTrees=1')).body.items.length === 0, 'own orchards alone'); },
  'a-replace': async (s) => { const b = await s.barrel(), t = await s.made(s.ida('POST', `/barrels/${b.id}/tastings`, { score: 7, dryness: 'dry', tastedOn: '2026-11-20' })); must((await s.wyn('PUT', `/tastings/${t.id}`, { score: 1, dryness: 'dry', tastedOn: '2026-11-20' })).code === 'forbidden', 'of another taster'); },
  'a-password': async (s) => { must((await s.nobody('GET', '/barrels', undefined, { Authorization: `Basic ${Buffer.from('k_wyn:Stoke-the-Pressx').toString('base64')}` })).status === 401, 'a longer password'); },
  'a-both': async (s) => { must((await s.ida('GET', '/orchards', undefined, { Authorization: `Basic ${Buffer.from('k_wyn:Stoke-the-Press').toString('base64')}` })).status === 401, 'two callers'); },
  'a-badkey': async (s) => { must((await s.nobody('GET', '/lots', undefined, { 'X-Press-Key': 'pk_wrong' })).status === 401, 'a bad key'); },
  // events
  'v-sig': async (s) => { const r = await s.listen(), h = await s.made(s.ida('POST', '/hooks', { url: r.url })); await s.pressing(await s.orchard()); const [d] = await r.seen(1); const [, t, v] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(d.headers['press-signature']); must(createHmac('sha256', h.secret).update(`${t}.${d.text}`).digest('hex') === v, 'signed'); },
  'v-id': async (s) => { const r = await s.listen((k) => (k < 2 ? 500 : 200)); await s.made(s.ida('POST', '/hooks', { url: r.url })); await s.pressing(await s.orchard()); await r.seen(1); await s.later('PT15S'); const [a, b] = await r.seen(2); must(b && a.headers['press-event-id'] === b.headers['press-event-id'] && a.text === b.text, 'one id over the tries'); },
  'v-cost': async (s) => { const r = await s.listen(); await s.made(s.pip('POST', '/hooks', { url: r.url })); await s.released({ cost: 300 }); const [d] = await r.seen(1); must(d.body.kind === 'lot.released' && !('cost' in d.body.data), 'no cost for merchants'); },
  'v-lapse': async (s) => { const r = await s.listen(); await s.made(s.ida('POST', '/hooks', { url: r.url, events: ['pressing.off'] })); await s.pressing(await s.orchard()); await s.later('P5DT1S'); must((await r.seen(1))[0]?.body.data.status === 'lapsed', 'told'); },
  'v-rename': async (s) => { const r = await s.listen(), o = await s.orchard(); await s.made(s.ida('POST', '/hooks', { url: r.url })); await s.done(s.ida('PATCH', `/orchards/${o.id}`, { trees: 51 })); await s.done(s.ida('PATCH', `/orchards/${o.id}`, { name: 'Other' })); await r.seen(1); await r.quiet(); must(r.got.length === 1 && r.got[0].body.data.is === 'Other', 'renamed once'); },
  'v-was': async (s) => { const r = await s.listen(), b = await s.barrel(); await s.made(s.bram('POST', '/hooks', { url: r.url })); await s.done(s.bram('POST', `/barrels/${b.id}/fill`, { litres: 70 })); const [d] = await r.seen(1); must(d.body.data.was === 0 && d.body.data.is === 70, 'was and is'); },
  'v-to': async (s) => { const r = await s.listen(); await s.made(s.bram('POST', '/hooks', { url: r.url, events: ['lot.reserved'] })); const l = await s.released(); await s.done(s.pip('POST', `/lots/${l.id}/reserve`)); await r.quiet(); must(r.got.length === 0, 'for its holder alone'); },
  // errors
  'x-status': async (s) => { await s.barrel({ name: 'Old Tom' }); const a = await s.bram('POST', '/barrels', { name: 'Old Tom', wood: 'oak', capacity: 100 }); must(a.status === 409 && a.code === 'taken', '409'); },
  'x-missing': async (s) => { const a = await s.bram('POST', '/barrels', { name: 'Ann', wood: 'oak' }); must(a.status === 400 && a.code === 'missing_field', 'missing_field'); },
  'x-fruit': async (s) => { const o = await s.orchard(s.ida, { trees: 2 }); must((await s.ida('POST', `/orchards/${o.id}/pressings`, { day: '2027-01-05', kilograms: 201 })).code === 'too_much_fruit', '201'); must((await s.ida('POST', `/orchards/${o.id}/pressings`, { day: '2027-01-05', kilograms: 200 })).status === 201, '200'); },
  'x-request': async (s) => { const a = await s.bram('POST', '/barrels', { name: 'A', wood: 'oak', capacity: 100 }); must(a.status === 422 && a.body.error.request === a.headers['press-request'], 'request'); },
  'x-path': async (s) => { must((await s.bram('GET', '/ciders')).code === 'no_such_path', 'no_such_path'); },
  'x-held': async (s) => { const o = await s.orchard(), p = await s.pressing(o); await s.done(s.ida('POST', `/pressings/${p.id}/cancel`, { reason: 'hail' })); must((await s.ida('DELETE', `/orchards/${o.id}`)).code === 'in_use', 'in use'); },
  'x-first': async (s) => { const a = await s.bram('POST', '/barrels', { name: 'Ann', wood: 'pine' }); must(a.status === 422 && a.code === 'invalid', 'the first that was sent'); },
  // limits
  'l-body': async (s) => { const pad = (n) => { const t = JSON.stringify({ name: 'Ann', wood: 'oak', capacity: 100 }); return t + ' '.repeat(n - t.length); }; must((await s.bram('POST', '/barrels', pad(8193))).status === 413, '8193'); must((await s.bram('POST', '/barrels', pad(8192))).status === 201, '8192'); },
  'l-max': async (s) => { must((await s.ida('GET', '/orchards?limit=101')).code === 'bad_page', '101'); },
  'l-clamp': async (s) => { must((await s.bram('GET', '/lots?limit=41')).status === 200, 'cut down'); },
  'l-rows': async (s) => { const o = await s.orchard(); for (let i = 0; i < 8; i++) { const p = await s.pressing(o); if (i === 0) await s.done(s.bram('POST', `/pressings/${p.id}/confirm`)); } await s.pressing(o); must((await s.ida('POST', `/orchards/${o.id}/pressings`, { day: '2027-03-09', kilograms: 100 })).code === 'used_up', 'the ninth booked'); },
  'l-quota': async (s) => {
    await s.clock({ now: '2027-01-10T18:00:00Z' });
    const b = await s.ready(400); const lots = [];
    await s.clock({ now: '2027-02-10T20:00:00Z' });
    for (let i = 0; i < 21; i++) { const l = await s.lot(b, { bottles: 1 }); await s.done(s.bram('POST', `/lots/${l.id}/release`)); lots.push(l); }
    for (let i = 0; i < 20; i++) { if (i % 10 === 9) await s.later('PT1M1S'); await s.done(s.pip('POST', `/lots/${lots[i].id}/reserve`)); }
    await s.later('PT2M');
    must((await s.pip('POST', `/lots/${lots[20].id}/reserve`)).code === 'used_up', 'used up');
    await s.clock({ now: '2027-02-11T00:01:00Z' });
    must((await s.pip('POST', `/lots/${lots[20].id}/reserve`)).status === 200, 'a new day');
  },
  'l-last': async (s) => { await s.barrel(); await s.barrel(); const a = (await s.bram('GET', '/barrels?limit=2')).body; must(a.nextCursor === null && a.hasMore === false, 'the last page'); },
  // versioning
  'w-unknown': async (s) => { must((await s.bram('GET', '/barrels', undefined, { 'Press-Version': '2025-12-24' })).code === 'no_version', 'no such version'); },
  'w-sunset': async (s) => { must((await s.bram('GET', '/barrels', undefined, { 'Press-Version': '2025-01-15' })).code === 'old_version', 'sunset'); },
  'w-deprecation': async (s) => { must((await s.bram('GET', '/barrels', undefined, { 'Press-Version': '2025-09-01' })).headers.deprecation === `@${Date.UTC(2026, 8, 1) / 1000}`, 'Deprecation'); },
  'w-names': async (s) => { const o = await s.orchard(), a = await s.ida('POST', `/orchards/${o.id}/pressings`, { day: '2027-01-05', weight: 1 }, { 'Press-Version': '2025-09-01' }); must(a.body.error.details[0].path === '/weight', 'in that version’s words'); },
  'w-round': async (s) => { const b = await s.barrel(), a = await s.made(s.bram('POST', '/lots', { title: 'Keeved', barrel: b.id, bottles: 5, price: 1.15 }, { 'Press-Version': '2025-09-01' })); must((await s.bram('GET', `/lots/${a.id}`)).body.price === 115, '1.15 is 115'); },
  'w-pin': async (s) => { const r = await s.listen(); await s.made(s.ida('POST', '/hooks', { url: r.url }, { 'Press-Version': '2025-09-01' })); await s.pressing(await s.orchard()); const [d] = await r.seen(1); must(d.body.data.weight === 400 && !('kilograms' in d.body.data), 'in the version of the hook'); },
};

async function holds(id, fault) {
  const s = await start(fault);
  try { await proofs[id](s); return undefined; } catch (e) { return e.message; } finally { for (const r of s.receivers) { r.closeAllConnections(); r.close(); } s.stop(); }
}
let good = 0;
for (const { id } of faults) {
  if (!proofs[id]) { console.log(`${id}: no proof`); continue; }
  const right = await holds(id), wrong = await holds(id, id);
  if (right === undefined && wrong?.startsWith('not so: ')) good++;
  else console.log(`${id}: right ${right ?? 'holds'}; faulty ${wrong ?? 'holds'}`);
}
for (const id of Object.keys(proofs)) if (!faults.some((f) => f.id === id)) console.log(`${id}: a proof of no fault`);
console.log(`${good} of ${faults.length} faults proven`);
agent.destroy();
process.exit(good === faults.length ? 0 : 1);
