'use strict';
// Starts the service once sound and once per fault. Each probe comes to a value; sound it has to be `want`, and under its fault another one.
// node faults-test.cjs [FAULT …]
const { spawn } = require('node:child_process');
const http = require('node:http');
const net = require('node:net');
const crypto = require('node:crypto');
const path = require('node:path');
const assert = require('node:assert');
const listed = require('./stranger.json');

const PAIRS = { 'r-anouk': 'aK', 'r-bastien': 'bT', 'r-corentin': 'cQ', 'f-dunstan': 'dN', 'f-elspeth': 'eP', 'f-gwenael': 'gL', 'w-hedwig': 'hW', 'w-ivo': 'iV' };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let count = 0;
const fresh = () => `pa-${++count}`;

const free = () => new Promise((resolve) => { const it = net.createServer().listen(0, '127.0.0.1', () => { const { port } = it.address(); it.close(() => resolve(port)); }); });
const start = async (fault) => {
  const port = await free(), clockPort = await free();
  const child = spawn(process.execPath, [path.join(__dirname, 'service.cjs'), '--port', port, '--clock-port', clockPort, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'inherit', 'inherit'] });
  const send = (method, target, headers, body, at = port) => new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: at, method, path: target, headers: { ...headers, ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }) }, agent: false }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        let json;
        try { json = JSON.parse(text); } catch { json = text; }
        resolve({ status: answer.statusCode, headers: answer.headers, body: json, text });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
  for (let i = 0; ; i += 1) {
    try { await send('GET', '/brine/flood/almanac', {}); await send('GET', '/', {}, undefined, clockPort); break; } catch (error) { if (i > 100) throw error; await pause(20); }
  }
  const sealed = (id, method, target, body, more = {}) => {
    const at = Math.floor((more.at ?? Date.now()) / 1000), nonce = more.nonce ?? crypto.randomUUID();
    const digest = crypto.createHash('sha256').update(more.signedBody ?? body ?? '').digest('hex');
    const mac = crypto.createHmac('sha256', `hush-${id}-${PAIRS[id].repeat(8)}`).update(`${method} ${target}\n${at} ${nonce}\n${digest}`).digest('hex');
    return { 'Saltern-Seal': `at=${at};by=${mac}`, 'Saltern-Seal-Key': `key_${id}`, 'Saltern-Seal-Nonce': nonce };
  };
  const api = async (as, method, rest, body, more = {}) => {
    const target = more.whole ?? `/brine/${more.edition ?? 'flood'}${rest}`;
    const text = more.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const headers = { ...(text === undefined ? {} : { 'Content-Type': 'application/json' }) };
    const scheme = more.scheme ?? 'tally';
    if (as && scheme === 'tally') headers.Authorization = `Tally tly_${PAIRS[as].repeat(14)}`;
    if (as && scheme === 'purse') headers.Authorization = `Basic ${Buffer.from(`prs_${PAIRS[as].repeat(14)}:${more.password ?? ''}`).toString('base64')}`;
    if (as && scheme === 'seal') Object.assign(headers, sealed(as, method, target, text, { at: Date.parse((await clock()).now), ...more }));
    return send(method, target, { ...headers, ...more.headers }, text);
  };
  const clock = async (body) => (await send(body ? 'POST' : 'GET', '/', {}, body && JSON.stringify(body), clockPort)).body;
  const t = { api, clock, advance: (advance) => clock({ advance }), send, port };
  t.pan = async (more = {}, edition) => {
    const code = fresh();
    const made = await api('w-hedwig', 'POST', '/pans', { code, name: `Pan ${code}`, kind: 'aderne', [edition === 'ebb' ? 'area' : 'area_m2']: edition === 'ebb' ? 2 : 200, ...more }, { edition });
    assert.equal(made.status, 201, made.text);
    return code;
  };
  t.raking = async (as = 'r-anouk', more = {}, pan) => {
    const made = await api(as, 'POST', `/pans/${pan ?? await t.pan()}/rakings`, { wet_kg: 100, ...more });
    assert.equal(made.status, 201, made.text);
    return made.body;
  };
  t.lot = async (as = 'r-anouk', more = {}) => {
    const raking = await t.raking(as, more);
    await api(as, 'POST', `/rakings/${raking.id}/weigh`, { dry_kg: more.wet_kg ? more.wet_kg - 1 : 80 });
    await api(as, 'POST', `/rakings/${raking.id}/sack`);
    const lots = await api(as, 'GET', '/lots?rows=40&market=stored');
    return lots.body.rows.find((it) => it.raking === raking.id).id;
  };
  t.offered = async (as = 'r-anouk', asking = 1000, hours = 24) => {
    const id = await t.lot(as);
    const offer = await api(as, 'POST', `/lots/${id}/offer`, { asking_cents: asking, hours });
    assert.equal(offer.status, 200, offer.text);
    return id;
  };
  t.bid = (as, lot, cents, more) => api(as, 'POST', `/lots/${lot}/bids`, { cents }, { headers: { 'Once-Key': crypto.randomUUID() }, ...more });
  // an ear with a receiver of its own
  t.ear = async (as, words, answers = [], edition) => {
    const heard = [];
    const server = http.createServer((req, res) => {
      const chunks = [];
      req.on('data', (chunk) => chunks.push(chunk));
      req.on('end', () => { heard.push({ headers: req.headers, text: Buffer.concat(chunks).toString() }); res.writeHead(answers.shift() ?? 204); res.end(); });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const made = await api(as, 'POST', '/ears', { url: `http://127.0.0.1:${server.address().port}/ear`, ...(words ? { words } : {}) }, { edition });
    assert.equal(made.status, 201, made.text);
    return { heard, id: made.body.id, secret: made.body.secret, close: async () => { await api(as, 'DELETE', `/ears/${made.body.id}`); server.close(); server.closeAllConnections(); } };
  };
  t.stream = (as, last) => new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path: '/brine/flood/tide', agent: false, headers: { Authorization: `Tally tly_${PAIRS[as].repeat(14)}`, ...(last ? { 'Last-Event-ID': last } : {}) } }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => { text += chunk; });
      answer.on('error', () => {});
      resolve({ events: () => text.split('\n\n').filter((it) => it.startsWith('id: ')).map((it) => ({ id: /^id: (.*)$/m.exec(it)[1], word: /^event: (.*)$/m.exec(it)[1], ...JSON.parse(/^data: (.*)$/m.exec(it)[1]) })), close: () => request.destroy() });
    });
    request.on('error', (error) => reject(error));
    request.end();
  });
  t.stop = () => new Promise((resolve) => { child.on('exit', resolve); child.kill('SIGTERM'); });
  return t;
};

const P = {}; // by fault: { want, probe }
const probe = (id, want, run) => { P[id] = { want, run }; };

// purpose
probe('duty-off-base', 200, async (t) => (await t.api('r-anouk', 'GET', '/duty?kg=5')).status);
probe('warden-no-duty', 200, async (t) => (await t.api('w-hedwig', 'GET', '/duty?kg=5')).status);
probe('withdraw-unwired', [200, 'withdrawn'], async (t) => {
  const lot = await t.offered();
  const bid = await t.bid('f-dunstan', lot, 2000);
  const done = await t.api('f-dunstan', 'POST', `/bids/${bid.body.number}/withdraw`);
  return [done.status, done.body.standing];
});
// resources
probe('pan-name-41', [201, 422], async (t) => {
  const out = [];
  for (const size of [40, 41]) { const code = fresh(); out.push((await t.api('w-ivo', 'POST', '/pans', { code, name: code.padEnd(size, 'x'), kind: 'cobier', area_m2: 50 })).status); }
  return out;
});
probe('secret-again', [true, false], async (t) => {
  const made = await t.api('f-dunstan', 'POST', '/ears', { url: 'http://127.0.0.1:9/' });
  const read = await t.api('f-dunstan', 'GET', `/ears/${made.body.id}`);
  await t.api('f-dunstan', 'DELETE', `/ears/${made.body.id}`);
  return ['secret' in made.body, 'secret' in read.body];
});
probe('note-in-list', [true, false, false], async (t) => {
  const code = await t.pan({ keeper_note: 'The sill is cracked.' });
  const seen = async (as) => 'keeper_note' in (await t.api(as, 'GET', `/pans?q=${code}`)).body.rows[0];
  return [await seen('w-hedwig'), await seen('r-anouk'), await seen(null)];
});
probe('drawn-at-plain', true, async (t) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test((await t.raking()).drawn_at));
probe('zero-left-out', 0, async (t) => (await t.api(null, 'GET', `/pans/${await t.pan()}`)).body.open_rakings);
probe('kg-text', 80, async (t) => (await t.api('r-anouk', 'GET', `/lots/${await t.lot()}`)).body.kg);
probe('number-over-all', [1, 2, 1], async (t) => {
  const one = await t.pan(), two = await t.pan();
  return [(await t.raking('r-anouk', {}, one)).number, (await t.raking('r-bastien', {}, one)).number, (await t.raking('r-anouk', {}, two)).number];
});
probe('raking-id-short', true, async (t) => /^rk-[0-9a-f]{12}$/.test((await t.raking()).id));
probe('name-twice-patched', [409, 'taken'], async (t) => {
  const one = await t.pan(), two = await t.pan();
  const tag = (await t.api('w-hedwig', 'GET', `/pans/${two}`)).headers.etag;
  const done = await t.api('w-hedwig', 'PATCH', `/pans/${two}`, { name: `Pan ${one}` }, { headers: { 'If-Match': tag } });
  return [done.status, done.body.fault?.word];
});
probe('oeillet-large-put', [200, 422], async (t) => {
  const code = await t.pan();
  const out = [];
  for (const area of [900, 901]) out.push((await t.api('w-hedwig', 'PUT', `/pans/${code}`, { name: `Pan ${code}`, kind: 'oeillet', area_m2: area }, { headers: { 'If-Match': '*' } })).status);
  return out;
});
// states
probe('drain-in-work', [409, 'pan_in_work'], async (t) => {
  const code = await t.pan();
  await t.api('w-hedwig', 'POST', `/pans/${code}/flood`);
  await t.raking('r-anouk', {}, code);
  const done = await t.api('w-hedwig', 'POST', `/pans/${code}/drain`);
  return [done.status, done.body.fault?.word];
});
probe('ripen-late', ['flooded', 'ripe'], async (t) => {
  const code = await t.pan();
  await t.api('w-hedwig', 'POST', `/pans/${code}/flood`);
  await t.advance('PT71H');
  const before = (await t.api(null, 'GET', `/pans/${code}`)).body.level;
  await t.advance('PT2H');
  return [before, (await t.api(null, 'GET', `/pans/${code}`)).body.level];
});
probe('reopen-old-timer', ['drawn', 'spoiled'], async (t) => {
  const { id } = await t.raking();
  await t.advance('PT40H');
  await t.api('r-anouk', 'POST', `/rakings/${id}/weigh`, { dry_kg: 90 });
  await t.api('r-anouk', 'POST', `/rakings/${id}/reopen`);
  await t.advance('PT40H');
  const before = (await t.api('r-anouk', 'GET', `/rakings/${id}`)).body.stage;
  await t.advance('PT9H');
  return [before, (await t.api('r-anouk', 'GET', `/rakings/${id}`)).body.stage];
});
probe('close-never-sells', ['sold', 'stored'], async (t) => {
  const one = await t.offered('r-anouk', 500, 2), two = await t.offered('r-anouk', 500, 2);
  await t.bid('f-gwenael', one, 700);
  await t.advance('PT3H');
  return [(await t.api('w-ivo', 'GET', `/lots/${one}`)).body.standing, (await t.api('w-ivo', 'GET', `/lots/${two}`)).body.standing];
});
probe('all-won', ['lost', 'won'], async (t) => {
  const lot = await t.offered('r-anouk', 500, 2);
  const a = await t.bid('f-dunstan', lot, 700), b = await t.bid('f-gwenael', lot, 900);
  await t.advance('PT3H');
  return [(await t.api('w-ivo', 'GET', `/bids/${a.body.number}`)).body.standing, (await t.api('w-ivo', 'GET', `/bids/${b.body.number}`)).body.standing];
});
probe('sack-unweighed', [409, 'wrong_stage'], async (t) => {
  const done = await t.api('r-anouk', 'POST', `/rakings/${(await t.raking()).id}/sack`);
  return [done.status, done.body.fault?.word];
});
probe('spoilt', 'spoiled', async (t) => {
  const { id } = await t.raking();
  await t.advance('P2DT1S');
  return (await t.api('r-anouk', 'GET', `/rakings/${id}`)).body.stage;
});
// endpoints
probe('min-area-above', [1, 0], async (t) => {
  const code = await t.pan({ area_m2: 7777 });
  const found = async (least) => (await t.api(null, 'GET', `/pans?q=${code}&min_area=${least}`)).body.in_all;
  return [await found(7777), await found(7778)];
});
probe('stage-first-alone', 2, async (t) => {
  const code = await t.pan();
  await t.raking('r-bastien', {}, code);
  await t.api('r-bastien', 'POST', `/rakings/${(await t.raking('r-bastien', {}, code)).id}/weigh`, { dry_kg: 5 });
  return (await t.api('r-bastien', 'GET', `/rakings?pan=${code}&stage=drawn,weighed`)).body.rakings.length;
});
probe('location-no-edition', [201, 200], async (t) => {
  const code = fresh();
  const made = await t.api('w-hedwig', 'POST', '/pans', { code, name: `Pan ${code}`, kind: 'aderne', area_m2: 20 });
  return [made.status, (await t.api(null, 'GET', '', undefined, { whole: made.headers.location })).status];
});
probe('raking-key-ignored', [201, 201, true, 1], async (t) => {
  const code = await t.pan();
  const more = { headers: { 'Once-Key': crypto.randomUUID() } };
  const one = await t.api('r-anouk', 'POST', `/pans/${code}/rakings`, { wet_kg: 30 }, more);
  const two = await t.api('r-anouk', 'POST', `/pans/${code}/rakings`, { wet_kg: 30 }, more);
  return [one.status, two.status, one.body.id === two.body.id, (await t.api('r-anouk', 'GET', `/rakings?pan=${code}`)).body.rakings.length];
});
probe('lots-lightest-first', true, async (t) => {
  await t.lot('r-corentin', { wet_kg: 31 });
  await t.lot('r-corentin', { wet_kg: 3001 });
  const kilos = (await t.api('r-corentin', 'GET', '/lots')).body.rows.map((it) => it.kg);
  return kilos.length > 1 && kilos.every((kg, i) => i === 0 || kg <= kilos[i - 1]);
});
probe('chosen-without-id', ['grade', 'id'], async (t) => {
  const { pan } = await t.raking();
  return Object.keys((await t.api('r-anouk', 'GET', `/rakings?pan=${pan}&fields=grade`)).body.rakings[0]).sort();
});
probe('no-put', [200, 60], async (t) => {
  const code = await t.pan();
  const done = await t.api('w-ivo', 'PUT', `/pans/${code}`, { name: `Pan ${code}`, kind: 'cobier', area_m2: 60 }, { headers: { 'If-Match': '*' } });
  return [done.status, done.body.area_m2];
});
probe('null-keeps-remark', [200, false], async (t) => {
  const { id } = await t.raking('r-anouk', { remark: 'Fog all morning.' });
  const done = await t.api('r-anouk', 'PATCH', `/rakings/${id}`, { remark: null });
  return [done.status, 'remark' in done.body];
});
// authentication
probe('all-rakings-listed', 0, async (t) => {
  const { pan } = await t.raking('r-anouk');
  return (await t.api('r-bastien', 'GET', `/rakings?pan=${pan}`)).body.rakings.length;
});
probe('house-bids-read', [200, 404], async (t) => {
  const { body } = await t.bid('f-dunstan', await t.offered(), 3000);
  return [(await t.api('f-elspeth', 'GET', `/bids/${body.number}`)).status, (await t.api('f-gwenael', 'GET', `/bids/${body.number}`)).status];
});
probe('house-withdraws', [403, 'not_your_bid'], async (t) => {
  const { body } = await t.bid('f-dunstan', await t.offered(), 3000);
  const done = await t.api('f-elspeth', 'POST', `/bids/${body.number}/withdraw`);
  return [done.status, done.body.fault?.word];
});
probe('drain-no-scope', [403, 'no_sluice_key', 403], async (t) => {
  const code = await t.pan();
  await t.api('w-hedwig', 'POST', `/pans/${code}/flood`);
  const done = await t.api('r-corentin', 'POST', `/pans/${code}/drain`);
  return [done.status, done.body.fault?.word, (await t.api('r-corentin', 'POST', `/pans/${await t.pan()}/flood`)).status];
});
probe('seal-body-unread', [201, 401], async (t) => {
  const code = await t.pan();
  const one = await t.api('r-anouk', 'POST', `/pans/${code}/rakings`, { wet_kg: 10 }, { scheme: 'seal' });
  const two = await t.api('r-anouk', 'POST', `/pans/${code}/rakings`, { wet_kg: 4000 }, { scheme: 'seal', signedBody: '{"wet_kg":10}' });
  return [one.status, two.status];
});
probe('seal-replayed', [200, 401], async (t) => {
  const more = { scheme: 'seal', nonce: crypto.randomUUID() };
  return [(await t.api('r-anouk', 'GET', '/rakings', undefined, more)).status, (await t.api('r-anouk', 'GET', '/rakings', undefined, more)).status];
});
probe('purse-any-password', [200, 401], async (t) => [
  (await t.api('w-ivo', 'GET', '/lots', undefined, { scheme: 'purse' })).status, (await t.api('w-ivo', 'GET', '/lots', undefined, { scheme: 'purse', password: 'x' })).status,
]);
probe('factor-sees-raker', [200, ['drawn_at', 'grade', 'id', 'number', 'pan', 'shared', 'stage']], async (t) => {
  const { id } = await t.raking('r-anouk', { shared: true });
  const read = await t.api('f-dunstan', 'GET', `/rakings/${id}`);
  return [read.status, Object.keys(read.body).sort()];
});
// events
const told = async (t, as, words, act, answers) => {
  const ear = await t.ear(as, words, answers);
  await act(ear);
  await pause(120);
  await ear.close();
  return ear.heard;
};
probe('drawn-told-twice', ['raking.drawn'], async (t) => (await told(t, 'r-anouk', ['raking.*'], () => t.raking())).map((it) => JSON.parse(it.text).word));
probe('renamed-always', ['New name'], async (t) => {
  const code = await t.pan();
  const heard = await told(t, 'f-elspeth', ['pan.renamed'], async () => {
    await t.api('w-hedwig', 'PATCH', `/pans/${code}`, { area_m2: 333 }, { headers: { 'If-Match': '*' } });
    await t.api('w-hedwig', 'PATCH', `/pans/${code}`, { name: `New name ${code}` }, { headers: { 'If-Match': '*' } });
  });
  return heard.map((it) => JSON.parse(it.text).salt.is.slice(0, 8));
});
probe('ripen-untold', [['dry', 'flooded'], ['flooded', 'ripe']], async (t) => {
  const code = await t.pan();
  const heard = await told(t, 'r-bastien', ['pan.level'], async () => { await t.api('w-hedwig', 'POST', `/pans/${code}/flood`); await pause(60); await t.advance('PT73H'); });
  return heard.map((it) => JSON.parse(it.text).salt).filter((it) => it.pan === code).map((it) => [it.was, it.is]);
});
probe('closed-sold-text', [false], async (t) => (await told(t, 'r-anouk', ['lot.closed'], async () => { await t.offered('r-anouk', 500, 1); await t.advance('PT2H'); })).map((it) => JSON.parse(it.text).salt.sold));
probe('bid-told-to-all', [[], 1], async (t) => {
  const lot = await t.offered('r-anouk');
  const ear = await t.ear('r-anouk', ['bid.placed']);
  const heard = await told(t, 'f-gwenael', ['bid.placed'], () => t.bid('f-dunstan', lot, 4000));
  await ear.close();
  return [heard.map((it) => it.text), ear.heard.length];
});
probe('mac-without-id', [true], async (t) => {
  let secret;
  const heard = await told(t, 'r-anouk', ['raking.drawn'], async (ear) => { secret = ear.secret; await t.raking(); });
  return heard.map((it) => {
    const m = /^at=(\d+);mac=(.+)$/.exec(it.headers['saltern-mac']);
    return m[2] === crypto.createHmac('sha256', secret).update(`${JSON.parse(it.text).no}|${m[1]}|${it.text}`).digest('base64');
  });
});
probe('no-retry', [1, 2, true], async (t) => {
  let before;
  const heard = await told(t, 'r-anouk', ['raking.drawn'], async (ear) => { await t.raking(); await pause(120); before = ear.heard.length; await t.advance('PT40S'); }, [500]);
  return [before, heard.length, heard.length === 2 && JSON.parse(heard[0].text).no === JSON.parse(heard[1].text).no];
});
probe('resume-skips', [3, 2], async (t) => {
  const first = await t.stream('r-bastien');
  for (let i = 0; i < 3; i += 1) await t.raking('r-bastien');
  await pause(60);
  const events = first.events();
  first.close();
  const second = await t.stream('r-bastien', events[0]?.id);
  await pause(60);
  const again = second.events();
  second.close();
  return [events.length, again.length];
});
// errors
probe('bid-taken-400', [409, 'taken'], async (t) => {
  const lot = await t.offered();
  await t.bid('f-dunstan', lot, 3000);
  const done = await t.bid('f-gwenael', lot, 3000);
  return [done.status, done.body.fault.word];
});
probe('no-request-in-404', ['request', 'says', 'word'], async (t) => Object.keys((await t.api('r-anouk', 'GET', '/rakings/rk-000000000000')).body.fault).sort());
probe('weigh-wanting-unfit', [422, 'wanting', 'dry_kg is wanting.'], async (t) => {
  const done = await t.api('r-anouk', 'POST', `/rakings/${(await t.raking()).id}/weigh`, {});
  return [done.status, done.body.fault.word, done.body.fault.says];
});
probe('weigh-state-first', [422, 'unfit'], async (t) => {
  const { id } = await t.raking();
  await t.api('r-anouk', 'POST', `/rakings/${id}/weigh`, { dry_kg: 50 });
  const done = await t.api('r-anouk', 'POST', `/rakings/${id}/weigh`, { dry_kg: 'much' });
  return [done.status, done.body.fault.word];
});
probe('equal-too-low', [409, 201], async (t) => {
  const lot = await t.offered('r-anouk', 1500);
  return [(await t.bid('f-dunstan', lot, 1499)).status, (await t.bid('f-dunstan', lot, 1500)).status];
});
probe('put-stale-taken', [412, 'changed'], async (t) => {
  const code = await t.pan();
  const { etag } = (await t.api('w-hedwig', 'GET', `/pans/${code}`)).headers;
  const body = { name: `Pan ${code}`, kind: 'aderne', area_m2: 210 };
  await t.api('w-hedwig', 'PUT', `/pans/${code}`, body, { headers: { 'If-Match': etag } });
  const done = await t.api('w-ivo', 'PUT', `/pans/${code}`, { ...body, area_m2: 220 }, { headers: { 'If-Match': etag } });
  return [done.status, done.body.fault?.word];
});
// limits
probe('duty-nine', [200, 200, 200, 200, 200, 200, 200, 200, 429], async (t) => {
  await t.advance('PT31S');
  const out = [];
  for (let i = 0; i < 9; i += 1) out.push((await t.api('f-elspeth', 'GET', '/duty?kg=1')).status);
  return out;
});
probe('body-limit-exact', [201, 413], async (t) => {
  const code = await t.pan();
  const out = [];
  for (const size of [8192, 8193]) out.push((await t.api('r-anouk', 'POST', `/pans/${code}/rakings`, undefined, { raw: '{"wet_kg":5}'.padEnd(size, ' ') })).status);
  return out;
});
probe('rows-above-max', [200, 400], async (t) => [(await t.api(null, 'GET', '/pans?rows=40')).status, (await t.api(null, 'GET', '/pans?rows=41')).status]);
probe('nine-ears', [201, 201, 201, 201, 201, 201, 201, 201, 429], async (t) => {
  const out = [], made = [];
  for (let i = 0; i < 9; i += 1) { const one = await t.api('f-gwenael', 'POST', '/ears', { url: 'http://127.0.0.1:9/' }); out.push(one.status); made.push(one.body.id); }
  for (const id of made) if (id) await t.api('f-gwenael', 'DELETE', `/ears/${id}`);
  return out;
});
probe('withdrawn-counted', 201, async (t) => {
  const lot = await t.offered();
  for (let i = 0; i < 10; i += 1) {
    const { body } = await t.bid('f-elspeth', lot, 5000 + i);
    await t.api('f-elspeth', 'POST', `/bids/${body.number}/withdraw`);
  }
  return (await t.bid('f-elspeth', lot, 6000)).status;
});
// versioning
probe('ebb-list-new-names', [true, false, 'fine'], async (t) => {
  const { pan } = await t.raking('r-anouk', { grade: 'flower' });
  const [row] = (await t.api('r-anouk', 'GET', `/rakings?pan=${pan}`, undefined, { edition: 'ebb' })).body.rakings;
  return ['wet_weight' in row, 'shared' in row, row.grade];
});
probe('ebb-area-not-up', [4.5, 450], async (t) => {
  const code = await t.pan({}, 'ebb');
  const done = await t.api('w-hedwig', 'PATCH', `/pans/${code}`, { area: 4.5 }, { edition: 'ebb', headers: { 'If-Match': '*' } });
  return [done.body.area, (await t.api(null, 'GET', `/pans/${code}`)).body.area_m2];
});
probe('ebb-lists-undeprecated', ['@1788220800', 'Wed, 01 Mar 2028 00:00:00 GMT'], async (t) => {
  const { headers } = await t.api(null, 'GET', '/pans', undefined, { edition: 'ebb' });
  return [headers.deprecation, headers.sunset];
});
probe('any-edition', [404, 'no_edition'], async (t) => {
  const done = await t.api(null, 'GET', '/pans', undefined, { edition: 'slack' });
  return [done.status, done.body.fault?.word];
});
probe('ebb-after-sunset', [410, 'old_edition', 200], async (t) => {
  await t.clock({ now: '2028-03-01T00:00:01Z' });
  const done = await t.api(null, 'GET', '/pans', undefined, { edition: 'ebb' });
  return [done.status, done.body.fault?.word, (await t.api(null, 'GET', '/pans')).status];
});

(async () => {
  const ids = process.argv.length > 2 ? process.argv.slice(2) : listed.faults.map((it) => it.id);
  const equal = (a, b) => { try { assert.deepStrictEqual(a, b); return true; } catch { return false; } };
  const value = async (t, id) => { try { return await P[id].run(t); } catch (error) { return `failed: ${error.message}`; } };
  let bad = 0;
  const sound = await start();
  for (const id of ids) {
    if (!P[id]) { bad += 1; console.log(`NO PROBE ${id}`); continue; }
    await sound.advance('P1DT1S'); // quotas and rates begin anew
    const got = await value(sound, id);
    if (!equal(got, P[id].want)) { bad += 1; console.log(`SOUND DIFFERS ${id}: ${JSON.stringify(got)}, not ${JSON.stringify(P[id].want)}`); }
  }
  await sound.stop();
  let shown = 0;
  for (const id of ids) {
    if (!P[id]) continue;
    const t = await start(id);
    const got = await value(t, id);
    await t.stop();
    if (equal(got, P[id].want) || (typeof got === 'string' && got.startsWith('failed'))) { bad += 1; console.log(`NOT SHOWN ${id}: ${JSON.stringify(got)}`); } else { shown += 1; console.log(`shown ${id}: ${JSON.stringify(got)} in place of ${JSON.stringify(P[id].want)}`); }
  }
  const extra = Object.keys(P).filter((id) => !listed.faults.some((it) => it.id === id));
  if (extra.length) { bad += 1; console.log(`NOT LISTED ${extra.join(', ')}`); }
  console.log(`${shown} of ${ids.length} faults shown, ${bad} wrong`);
  process.exit(bad ? 1 : 0);
})();
