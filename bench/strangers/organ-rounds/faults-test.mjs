// node faults-test.mjs            each fault: the right service and the faulty one, side by side
// node faults-test.mjs --write    writes stranger.json
// node faults-test.mjs ID ...     these faults alone
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import http from 'node:http';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const SECRET = 'organ-rounds-trial-secret-0123456789abcdef';
const b64 = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
const jwt = (sub, district, role = 'tuner') => {
  const s = b64({ alg: 'HS256', typ: 'JWT' }) + '.' + b64({ iss: 'https://id.organrounds.example', aud: 'organ-rounds', sub, role, district, exp: 4102444800 });
  return s + '.' + createHmac('sha256', SECRET).update(s).digest('base64url');
};
const who = {
  wren: { user: 'tuner', id: 'wren', credential: jwt('wren', 'north'), scheme: 'token', scopes: [], attributes: { district: 'north' } },
  byrd: { user: 'tuner', id: 'byrd', credential: jwt('byrd', 'north'), scheme: 'token', scopes: [], attributes: { district: 'north' } },
  tallis: { user: 'tuner', id: 'tallis', credential: jwt('tallis', 'south'), scheme: 'token', scopes: [], attributes: { district: 'south' } },
  margaret: { user: 'parish', id: 'st-margaret', credential: 'orgk_stMargaretNorth000000001', scheme: 'key', scopes: [], attributes: { district: 'north' } },
  peter: { user: 'parish', id: 'st-peter', credential: 'orgk_stPeterNorth00000000002x', scheme: 'key', scopes: [], attributes: { district: 'north' } },
  saints: { user: 'parish', id: 'all-saints', credential: 'orgk_allSaintsSouth0000000003', scheme: 'key', scopes: [], attributes: { district: 'south' } },
};

const agent = new http.Agent({ keepAlive: true });
function send(port, method, path, headers = {}, body) {
  return new Promise((ok, no) => {
    const req = http.request({ host: '127.0.0.1', port, method, path, headers, agent }, (res) => {
      let t = '';
      res.on('data', (x) => { t += x; });
      res.on('end', () => { let j; try { j = JSON.parse(t); } catch {} ok({ status: res.statusCode, headers: res.headers, body: j, text: t }); });
    });
    req.on('error', no);
    req.end(body);
  });
}
let port = 20400;
async function start(fault) {
  const p = port, q = port + 1;
  port = port + 2 > 20470 ? 20400 : port + 2;
  const child = spawn(process.execPath, ['service.mjs', '--port', p, '--clock-port', q, ...(fault ? ['--fault', fault] : [])], { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] });
  for (let i = 0; ; i++) { try { await send(q, 'GET', '/'); await send(p, 'GET', '/'); break; } catch (e) { if (i > 200) throw e; await new Promise((r) => setTimeout(r, 20)); } }
  let n = 0;
  const call = (as, method, path, body, headers = {}, v = 'v2') => {
    const w = who[as];
    const h = { ...headers };
    let target = `/organ/${v}${path}`;
    if (w?.scheme === 'token') h.Authorization ??= 'Bearer ' + w.credential;
    if (w?.scheme === 'key') target += (target.includes('?') ? '&' : '?') + 'key=' + w.credential;
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    if (text !== undefined) { h['Content-Type'] ??= 'application/json'; h['Content-Length'] = Buffer.byteLength(text); }
    return send(p, method, target, h, text);
  };
  const must = async (promise, status) => { const r = await promise; if (r.status !== status) throw new Error(`expected ${status}, got ${r.status} ${r.text}`); return r.body; };
  const t = {
    port: p, call, must,
    raw: (method, path, headers, body) => send(p, method, path, headers, body),
    now: async () => Date.parse((await send(q, 'GET', '/')).body.now),
    advance: (d) => send(q, 'POST', '/', {}, JSON.stringify({ advance: d })),
    to: (now) => send(q, 'POST', '/', {}, JSON.stringify({ now })),
    soon: async (ms = 86400000 * 3) => new Date(await t.now() + ms).toISOString(),
    organ: (code = 'marg-1', more = {}, as = 'wren', v = 'v2') => call(as, 'PUT', '/instruments/' + code, { name: 'Great organ', parish: 'st-margaret', stops: 30, pitch: 4400, action: 'mechanical', ...more }, {}, v),
    visit: async (more = {}, as = 'wren', headers = {}) => must(call(as, 'POST', '/visits', { instrument: 'marg-1', planned_for: await t.soon(), ...more }, headers), 201),
    note: (visit, more = {}, as = 'wren') => must(call(as, 'POST', `/visits/${visit}/findings`, { rank: 'reed', severity: 'grave', note: 'ciphers', ...more }), 201),
    order: (more = {}, as = 'wren') => call(as, 'POST', '/orders', { instrument: 'marg-1', lines: [{ part: 'tongue', quantity: 2, cents: 900 }], ...more }, { 'Rounds-Once': 'k' + ++n }),
    async hook(as, kinds, status = () => 204, v = 'v2') {
      const got = [];
      const server = http.createServer((req, res) => {
        let b = '';
        req.on('data', (x) => { b += x; });
        req.on('end', () => { got.push({ headers: req.headers, text: b, body: JSON.parse(b) }); res.writeHead(status(got.length)); res.end(); });
      });
      await new Promise((ok) => server.listen(port < 20436 ? 20480 : 20490, '127.0.0.1', ok));
      t.servers.push(server);
      const hook = await must(call(as, 'POST', '/hooks', { url: `http://127.0.0.1:${server.address().port}/in`, ...(kinds ? { kinds } : {}) }, {}, v), 201);
      return { got, hook };
    },
    rest: (ms = 80) => new Promise((r) => setTimeout(r, ms)),
    stream(as, ms, headers = {}) {
      return new Promise((ok) => {
        let text = '';
        const req = http.request({ host: '127.0.0.1', port: p, path: `/organ/v2/events`, headers: { Authorization: 'Bearer ' + who[as].credential, ...headers } }, (res) => { res.on('data', (x) => { text += x; }); res.on('error', () => {}); });
        req.on('error', () => {});
        req.end();
        setTimeout(() => { req.destroy(); ok([...text.matchAll(/^id: (.*)$/gm)].map((m) => m[1])); }, ms);
      });
    },
    servers: [],
    stop: () => { for (const s of t.servers) { s.closeAllConnections(); s.close(); } child.kill(); return new Promise((r) => child.on('exit', r)); },
  };
  return t;
}

const F = [];
const fault = (id, part, kind, subject, operation, bug, right, run) => F.push({ id, part, kind, subject, operation, bug, right, run });
const S = 'service';

// ------------------------------------------------------------------------------------------ purpose
fault('delivered-not-deliver', 'purpose', 'functions', S, 'deliver order', 'The route of deliver order is registered as /orders/{id}/delivered, so nobody can deliver an order.', 200, async (t) => {
  await t.organ(); const o = await t.must(t.order(), 201);
  await t.call('margaret', 'POST', `/orders/${o.id}/approve`);
  return (await t.call('wren', 'POST', `/orders/${o.id}/deliver`)).status;
});
fault('location-without-base', 'purpose', 'base address', S, 'create visit', 'Location of what was created leaves out the path of the base address.', true, async (t) => {
  await t.organ();
  const r = await t.call('wren', 'POST', '/visits', { instrument: 'marg-1', planned_for: await t.soon() });
  return r.headers.location === `/organ/v2/visits/${r.body.id}`;
});
fault('hooks-for-tuners', 'purpose', 'functions', S, 'create hook', 'Only tuners may subscribe; a parish is refused, though hearing of it is a function of both.', 201, async (t) =>
  (await t.call('margaret', 'POST', '/hooks', { url: 'http://127.0.0.1:20499/x' })).status);
fault('finding-changed-in-a-copy', 'purpose', 'functions', S, 'update finding', 'An update of a finding changes a copy: the answer shows it, and nothing is stored.', 'new', async (t) => {
  await t.organ(); const v = await t.visit(); const f = await t.note(v.id);
  await t.call('wren', 'PATCH', `/findings/${f.id}`, { note: 'new' });
  return (await t.call('wren', 'GET', `/findings/${f.id}`)).body.note;
});
fault('parish-lists-its-answers', 'purpose', 'users', S, 'list order', 'The list of orders shows a parish those alone that it has answered, not the drafted ones that wait for it.', 1, async (t) => {
  await t.organ(); await t.order();
  return (await t.call('margaret', 'GET', '/orders')).body.rows.length;
});

// ---------------------------------------------------------------------------------------- resources
fault('an-hour-by-default', 'resources', 'allowed values', 'visit.minutes', 'create visit', 'A visit without minutes is planned for 60 of them instead of 90.', 90, async (t) => { await t.organ(); return (await t.visit()).minutes; });
fault('one-stop-more', 'resources', 'allowed values', 'instrument.stops', 'upsert instrument', 'The upper bound of stops is off by one: 201 are taken.', [201, 422], async (t) => [(await t.organ('a-one-1', { stops: 200 })).status && (await t.organ('aone-1', { stops: 200 })).status, (await t.organ('aone-2', { stops: 201 })).status]);
fault('builder-null-stays', 'resources', 'required flags', 'instrument.builder', 'update instrument', 'Null for builder in a merge patch leaves the builder where it is.', undefined, async (t) => {
  await t.organ('marg-1', { builder: 'Willis' });
  return (await t.call('wren', 'PATCH', '/instruments/marg-1', { builder: null })).body.builder;
});
fault('put-keeps-builder', 'resources', 'required flags', 'instrument.builder', 'upsert instrument', 'Replacing an instrument without its builder keeps the old builder.', undefined, async (t) => {
  await t.organ('marg-1', { builder: 'Willis' });
  return (await t.organ()).body.builder;
});
fault('secret-again', 'resources', 'required flags', 'hook.secret', 'read hook', 'The secret of a web hook is shown whenever it is read, not once.', [true, undefined], async (t) => {
  const h = await t.must(t.call('wren', 'POST', '/hooks', { url: 'http://127.0.0.1:20499/x' }), 201);
  return [/^rs_[A-Za-z0-9]{32}$/.test(h.secret), (await t.call('wren', 'GET', `/hooks/${h.id}`)).body.secret];
});
fault('numbers-over-all', 'resources', 'allowed values', 'visit.number', 'create visit', 'Visits are numbered over all instruments instead of within each.', [1, 1, 2], async (t) => {
  await t.organ(); await t.organ('marg-2');
  return [(await t.visit()).number, (await t.visit({ instrument: 'marg-2' })).number, (await t.visit()).number];
});
fault('lines-counted-once', 'resources', 'allowed values', 'order.line_count', 'update order', 'The count of lines is set when the order is made, and stays when its lines change.', 2, async (t) => {
  await t.organ(); const o = await t.must(t.order(), 201);
  return (await t.call('wren', 'PATCH', `/orders/${o.id}`, { lines: [...o.lines, ...o.lines] })).body.line_count;
});
fault('deferred-counts-as-open', 'resources', 'allowed values', 'visit.grave_open', 'defer finding', 'A grave finding that was deferred still counts as open at its visit.', [1, 0], async (t) => {
  await t.organ(); const v = await t.visit(); const f = await t.note(v.id);
  const a = (await t.call('wren', 'GET', `/visits/${v.id}`)).body.grave_open;
  await t.must(t.call('wren', 'POST', `/findings/${f.id}/defer`, { until: await t.soon() }), 200);
  return [a, (await t.call('wren', 'GET', `/visits/${v.id}`)).body.grave_open];
});
fault('notes-for-all', 'resources', 'required flags', 'visit.notes', 'read visit', 'The notes of a tuner are shown to the parish too.', [true, false], async (t) => {
  await t.organ(); const v = await t.visit({ notes: 'the verger is deaf' });
  return ['notes' in (await t.call('wren', 'GET', `/visits/${v.id}`)).body, 'notes' in (await t.call('margaret', 'GET', `/visits/${v.id}`)).body];
});

// ------------------------------------------------------------------------------------------- states
fault('hand-keeps-the-time', 'states', 'transitions', 'visit', 'hand visit', 'Handing a visit on does not begin its fourteen days anew, so it lapses too early.', 'planned', async (t) => {
  await t.organ(); const v = await t.visit();
  await t.advance('P10D'); await t.must(t.call('wren', 'POST', `/visits/${v.id}/hand`, { to: 'byrd' }), 200); await t.advance('P5D');
  return (await t.call('byrd', 'GET', `/visits/${v.id}`)).body.status;
});
fault('abandoned-after-a-day', 'states', 'transitions', 'visit', 'abandon visit', 'A visit that was begun is given up after 24 hours instead of 12.', ['underway', 'abandoned'], async (t) => {
  await t.organ(); const v = await t.visit(); await t.call('wren', 'POST', `/visits/${v.id}/begin`);
  await t.advance('PT11H'); const a = (await t.call('wren', 'GET', `/visits/${v.id}`)).body.status;
  await t.advance('PT2H'); return [a, (await t.call('wren', 'GET', `/visits/${v.id}`)).body.status];
});
fault('cancel-underway', 'states', 'transitions', 'visit', 'cancel visit', 'A visit that is underway can still be cancelled.', [409, 'too_late'], async (t) => {
  await t.organ(); const v = await t.visit(); await t.call('wren', 'POST', `/visits/${v.id}/begin`);
  const r = await t.call('margaret', 'POST', `/visits/${v.id}/cancel`); return [r.status, r.body.faults?.[0].code];
});
fault('one-grave-is-none', 'states', 'transitions', 'visit', 'finish visit', 'The guard of finish lets one grave finding that is open pass, and refuses from two on.', 409, async (t) => {
  await t.organ(); const v = await t.visit(); await t.note(v.id); await t.call('wren', 'POST', `/visits/${v.id}/begin`);
  return (await t.call('wren', 'POST', `/visits/${v.id}/finish`, { pitch: 4400 })).status;
});
fault('resumes-once', 'states', 'transitions', 'finding', 'resume finding', 'A finding comes back from its deferral once; deferred a second time it stays deferred for ever.', ['noted', 'noted'], async (t) => {
  await t.organ(); const v = await t.visit(); const f = await t.note(v.id); const out = [];
  for (let i = 0; i < 2; i++) {
    await t.must(t.call('wren', 'POST', `/findings/${f.id}/defer`, { until: await t.soon() }), 200); await t.advance('P4D');
    out.push((await t.call('wren', 'GET', `/findings/${f.id}`)).body.status);
  }
  return out;
});
fault('stale-is-approved', 'states', 'transitions', 'order', 'approve order', 'An order that has gone stale can still be approved.', ['stale', 409], async (t) => {
  await t.organ(); const o = await t.must(t.order(), 201); await t.advance('P31D');
  return [(await t.call('wren', 'GET', `/orders/${o.id}`)).body.status, (await t.call('margaret', 'POST', `/orders/${o.id}/approve`)).status];
});

// ---------------------------------------------------------------------------------------- endpoints
fault('before-or-at', 'endpoints', 'parameters', 'GET /visits', 'list visit', 'The filter before takes visits that are planned for that very moment too.', 0, async (t) => {
  await t.organ(); const v = await t.visit();
  return (await t.call('wren', 'GET', '/visits?before=' + encodeURIComponent(v.planned_for))).body.length;
});
fault('findings-of-all-visits', 'endpoints', 'response payload shapes', 'GET /visits/{visit}/findings', 'list finding', 'The list below a visit shows the findings of every visit that the caller may read.', 1, async (t) => {
  await t.organ(); const a = await t.visit(), b = await t.visit(); await t.note(a.id); await t.note(b.id);
  return (await t.call('wren', 'GET', `/visits/${a.id}/findings`)).body.rows.length;
});
fault('body-beats-path', 'endpoints', 'request payload shapes', 'POST /visits/{visit}/findings', 'create finding', 'A visit named in the body wins over the one in the path instead of being refused.', 422, async (t) => {
  await t.organ(); const a = await t.visit(), b = await t.visit();
  return (await t.call('wren', 'POST', `/visits/${a.id}/findings`, { visit: b.id, rank: 'reed', severity: 'minor', note: 'x' })).status;
});
fault('once-forgets-the-body', 'endpoints', 'request payload shapes', 'POST /visits', 'create visit', 'The fingerprint of an idempotency key leaves out the body: another request under it is answered with the first answer.', [201, 409], async (t) => {
  await t.organ(); const at = await t.soon();
  const once = (minutes) => t.call('wren', 'POST', '/visits', { instrument: 'marg-1', planned_for: at, minutes }, { 'Rounds-Once': 'a' });
  return [(await once(30)).status, (await once(40)).status];
});
fault('keys-of-all-callers', 'endpoints', 'request payload shapes', 'POST /visits', 'create visit', 'Idempotency keys are kept for all callers together: another tuner who sends the same is answered with the visit of the first.', 'byrd', async (t) => {
  await t.organ(); const at = await t.soon();
  const once = (as) => t.call(as, 'POST', '/visits', { instrument: 'marg-1', planned_for: at }, { 'Rounds-Once': 'a' });
  await once('wren'); return (await once('byrd')).body.tuner;
});
fault('weak-tags-match', 'endpoints', 'request payload shapes', 'PATCH /visits/{id}', 'update visit', 'If-Match takes a weak tag for equal.', [412, 200], async (t) => {
  await t.organ(); const v = await t.visit(); const tag = (await t.call('wren', 'GET', `/visits/${v.id}`)).headers.etag;
  const a = (await t.call('wren', 'PATCH', `/visits/${v.id}`, { minutes: 30 }, { 'If-Match': 'W/' + tag })).status;
  const tag2 = (await t.call('wren', 'GET', `/visits/${v.id}`)).headers.etag;
  return [a, (await t.call('wren', 'PATCH', `/visits/${v.id}`, { minutes: 31 }, { 'If-Match': tag2 })).status];
});
fault('links-lose-filters', 'endpoints', 'response payload shapes', 'GET /visits', 'list visit', 'The Link to the next page loses the filters, so it leads to a cursor of another query.', 200, async (t) => {
  await t.organ(); for (let i = 0; i < 3; i++) await t.visit();
  const link = /<([^>]*)>; rel="next"/.exec((await t.call('wren', 'GET', '/visits?status=planned&count=1')).headers.link)[1];
  return (await t.raw('GET', link, { Authorization: 'Bearer ' + who.wren.credential })).status;
});

// ----------------------------------------------------------------------------------- authentication
fault('alg-none-is-good', 'authentication', 'token formats', 'token', 'list visit', 'A token whose header says that it is not signed (alg none) is good.', 401, async (t) => {
  const parts = who.wren.credential.split('.');
  return (await t.raw('GET', '/organ/v2/visits', { Authorization: `Bearer ${b64({ alg: 'none', typ: 'JWT' })}.${parts[1]}.` })).status;
});
fault('district-may-update', 'authentication', 'permission rules', 'update visit', 'update visit', 'Any tuner of the district may change a visit, not its tuner alone.', 403, async (t) => {
  await t.organ(); const v = await t.visit();
  return (await t.call('byrd', 'PATCH', `/visits/${v.id}`, { minutes: 30 }, { 'If-Match': '*' })).status;
});
fault('finding-for-any-parish', 'authentication', 'permission rules', 'read finding', 'read finding', 'A single finding is read by any parish that knows its identifier; the list alone looks whose organ it is.', 404, async (t) => {
  await t.organ(); const v = await t.visit(); const f = await t.note(v.id);
  return (await t.call('peter', 'GET', `/findings/${f.id}`)).status;
});
fault('any-parish-approves', 'authentication', 'permission rules', 'approve order', 'approve order', 'Approving looks at the district of the parish and not at whose organ it is.', 404, async (t) => {
  await t.organ(); const o = await t.must(t.order(), 201);
  return (await t.call('peter', 'POST', `/orders/${o.id}/approve`)).status;
});
fault('hidden-is-forbidden', 'authentication', 'permission rules', 'read order', 'read order', 'An order that the caller may not read is answered with 403 instead of 404, which tells that there is one.', 404, async (t) => {
  await t.organ(); const o = await t.must(t.order(), 201);
  return (await t.call('tallis', 'GET', `/orders/${o.id}`)).status;
});
fault('who-handed-begins', 'authentication', 'permission rules', 'begin visit', 'begin visit', 'Who has handed a visit on can still begin it.', 403, async (t) => {
  await t.organ(); const v = await t.visit(); await t.must(t.call('wren', 'POST', `/visits/${v.id}/hand`, { to: 'byrd' }), 200);
  return (await t.call('wren', 'POST', `/visits/${v.id}/begin`)).status;
});

// ------------------------------------------------------------------------------------------- events
fault('lapse-untold', 'events', 'emitting operations', 'visit.closed', 'lapse visit', 'A visit that lapses by the clock is not told of; only what callers close is.', ['lapsed'], async (t) => {
  await t.organ(); const { got } = await t.hook('wren', ['visit.closed']); await t.visit(); await t.advance('P15D'); await t.rest();
  return got.map((g) => g.body.body.status);
});
fault('handed-for-the-new-alone', 'events', 'emitting operations', 'visit.handed', 'hand visit', 'That a visit was handed on is told to the new tuner alone, not to the one who handed it.', 1, async (t) => {
  await t.organ(); const { got } = await t.hook('wren', ['visit.handed']); const v = await t.visit();
  await t.call('wren', 'POST', `/visits/${v.id}/hand`, { to: 'byrd' }); await t.rest(); return got.length;
});
fault('minor-mended-told', 'events', 'emitting operations', 'finding.mended', 'mend finding', 'The condition of finding.mended is forgotten: minor findings are told of too.', ['major'], async (t) => {
  await t.organ(); const { got } = await t.hook('wren', ['finding.mended']); const v = await t.visit();
  for (const severity of ['minor', 'major']) { const f = await t.note(v.id, { severity }); await t.call('wren', 'POST', `/findings/${f.id}/mend`); }
  await t.rest(); return got.map((g) => g.body.body.severity);
});
fault('id-not-signed', 'events', 'delivery mechanism', S, 'create visit', 'The signature of a web hook leaves out the identifier of the event.', true, async (t) => {
  await t.organ(); const { got, hook } = await t.hook('wren', ['visit.*']); await t.visit(); await t.rest();
  const m = /^t=(\d+),s=([0-9a-f]{64})$/.exec(got[0].headers['rounds-signature']);
  return createHmac('sha256', hook.secret).update(`${got[0].body.id}.${m[1]}.${got[0].text}`).digest('hex') === m[2];
});
fault('answers-for-all-parishes', 'events', 'emitting operations', 'order.answered', 'decline order', 'What one parish answers to an order is told to the web hooks of every parish.', 0, async (t) => {
  await t.organ(); const { got } = await t.hook('peter', ['order.answered']); const o = await t.must(t.order(), 201);
  await t.must(t.call('margaret', 'POST', `/orders/${o.id}/decline`, { reason: 'no money' }), 200); await t.rest(); return got.length;
});
fault('new-id-each-try', 'events', 'delivery mechanism', S, 'create visit', 'Each try of a delivery bears a new identifier.', [2, true], async (t) => {
  await t.organ(); const { got } = await t.hook('wren', ['visit.planned'], (n) => (n === 1 ? 500 : 204)); await t.visit(); await t.rest();
  await t.advance('PT30S'); await t.rest(); return [got.length, got[0].body.id === got[1]?.body.id];
});
fault('last-event-again', 'events', 'delivery mechanism', S, 'stream events', 'A stream that is resumed begins with the event that its reader has had, not after it.', 1, async (t) => {
  await t.organ(); const first = t.stream('wren', 300); await t.rest(100); await t.visit(); await t.visit();
  const ids = await first; return (await t.stream('wren', 150, { 'Last-Event-ID': ids[0] })).length;
});

// ------------------------------------------------------------------------------------------- errors
fault('unknown-is-unfit', 'errors', 'conditions', 'unknown_member', 'upsert instrument', 'A member that is not known is answered with the code of a value that does not fit.', [400, 'unknown_member'], async (t) => {
  const r = await t.organ('marg-1', { colour: 'red' }); return [r.status, r.body.faults[0].code];
});
fault('first-fault-alone', 'errors', 'error payload shapes', S, 'upsert instrument', 'Of several things that are wrong in a body only the first is told.', ['/name', '/stops'], async (t) => (await t.organ('marg-1', { name: 'x', stops: 0 })).body.faults.map((f) => f.at));
fault('dotted-places', 'errors', 'error payload shapes', S, 'create order', 'The place of a fault in a body is written with dots instead of as a JSON Pointer.', '/lines/0/quantity', async (t) => {
  await t.organ(); return (await t.order({ lines: [{ part: 'x', quantity: 0, cents: 1 }] })).body.faults[0].at;
});
fault('orders-do-not-hold', 'errors', 'conditions', 'in_use', 'delete instrument', 'An instrument for which something was ordered can be deleted; visits alone hold it.', 409, async (t) => {
  await t.organ(); await t.must(t.order(), 201); return (await t.call('wren', 'DELETE', '/instruments/marg-1')).status;
});
fault('urgent-by-update', 'errors', 'conditions', 'too_much_urgency', 'update order', 'That urgent orders have three lines at the most is looked at when one is made, not when it is changed.', 422, async (t) => {
  await t.organ(); const o = await t.must(t.order({ urgent: true }), 201);
  return (await t.call('wren', 'PATCH', `/orders/${o.id}`, { lines: Array(4).fill(o.lines[0]) })).status;
});
fault('note-when-finished', 'errors', 'conditions', 'visit_is_over', 'create finding', 'Something can still be noted at a visit that is finished.', 409, async (t) => {
  await t.organ(); const v = await t.visit(); await t.call('wren', 'POST', `/visits/${v.id}/begin`); await t.must(t.call('wren', 'POST', `/visits/${v.id}/finish`, { pitch: 4400 }), 200);
  return (await t.call('wren', 'POST', `/visits/${v.id}/findings`, { rank: 'reed', severity: 'minor', note: 'x' })).status;
});

// ------------------------------------------------------------------------------------------- limits
fault('clamped-to-default', 'limits', 'pagination bounds', 'GET /visits', 'list visit', 'A page that is asked for above the largest is cut down to the usual 10 rows instead of 50.', 12, async (t) => {
  await t.organ(); for (let i = 0; i < 12; i++) await t.visit(); return (await t.call('wren', 'GET', '/visits?count=51')).body.length;
});
fault('a-page-of-101', 'limits', 'pagination bounds', 'GET /instruments', 'list instrument', 'The largest page is off by one: 101 are taken.', [200, 400], async (t) => [(await t.call('wren', 'GET', '/instruments?page_size=100')).status, (await t.call('wren', 'GET', '/instruments?page_size=101')).status]);
fault('hands-without-a-cap', 'limits', 'quotas', 'rows of visit', 'hand visit', 'Handing a visit to a tuner who has twelve planned already is not refused; only creations are counted.', 403, async (t) => {
  await t.organ(); const v = await t.visit({}, 'wren'); for (let i = 0; i < 12; i++) await t.visit({}, 'byrd');
  return (await t.call('wren', 'POST', `/visits/${v.id}/hand`, { to: 'byrd' })).status;
});
fault('cancelled-still-counts', 'limits', 'quotas', 'rows of visit', 'create visit', 'A visit that was cancelled goes on counting among the twelve that a tuner may have planned.', [403, 201], async (t) => {
  await t.organ(); let v; for (let i = 0; i < 12; i++) v = await t.visit();
  const one = async () => (await t.call('wren', 'POST', '/visits', { instrument: 'marg-1', planned_for: await t.soon() })).status;
  const a = await one(); await t.must(t.call('wren', 'POST', `/visits/${v.id}/cancel`), 200); return [a, await one()];
});
fault('refused-orders-count', 'limits', 'quotas', S, 'create order', 'Orders that are refused by the rule on urgent ones use up the quota of the day.', [201, 403], async (t) => {
  await t.organ(); const four = { urgent: true, lines: Array(4).fill({ part: 'x', quantity: 1, cents: 1 }) };
  await t.order(four); for (let i = 0; i < 39; i++) await t.must(t.order(), 201);
  return [(await t.order()).status, (await t.order()).status];
});
fault('one-rate-for-parishes', 'limits', 'rate limits', S, 'list visit', 'All parishes are counted together in the rate that each of them has.', '239', async (t) => {
  await t.call('margaret', 'GET', '/visits'); return (await t.call('peter', 'GET', '/visits')).headers['rounds-left'];
});
fault('query-not-measured', 'limits', 'size limits', S, 'list instrument', 'The size of the address leaves out its query.', 414, async (t) => (await t.call('wren', 'GET', '/instruments?like=' + 'a'.repeat(2100))).status);

// --------------------------------------------------------------------------------------- versioning
fault('v1-duration-forgotten', 'versioning', 'version identifiers', S, 'list visit', 'In v1 the filter by duration is not known: the rename of minutes was made in bodies alone.', 200, async (t) => (await t.call('wren', 'GET', '/visits?duration=90', undefined, {}, 'v1')).status);
fault('severity-of-children', 'versioning', 'version identifiers', S, 'read visit', 'In v1 the findings inside of a visit show the severities of v2; findings by themselves are right.', 'slight', async (t) => {
  await t.organ(); const v = await t.visit({ findings: [{ rank: 'reed', severity: 'minor', note: 'x' }] });
  return (await t.call('wren', 'GET', `/visits/${v.id}`, undefined, {}, 'v1')).body.findings[0].severity;
});
fault('v1-patch-pitch-as-sent', 'versioning', 'version identifiers', S, 'update instrument', 'A patch in v1 stores the pitch as it was sent, in hertz, where the newest shape has tenths.', 4450, async (t) => {
  await t.organ(); await t.call('wren', 'PATCH', '/instruments/marg-1', { pitch: 445 }, {}, 'v1');
  return (await t.call('wren', 'GET', '/instruments/marg-1')).body.pitch;
});
fault('v1-put-resets-temperament', 'versioning', 'version identifiers', S, 'upsert instrument', 'Replacing in v1 resets the temperament, which v1 cannot see, to its default.', 'meantone', async (t) => {
  await t.organ('marg-1', { temperament: 'meantone' }); await t.organ('marg-1', { pitch: 440, stops: 31 }, 'wren', 'v1');
  return (await t.call('wren', 'GET', '/instruments/marg-1')).body.temperament;
});
fault('hand-in-v1', 'versioning', 'version identifiers', S, 'hand visit', 'Handing on, which v2 added, is there in v1 too.', 404, async (t) => {
  await t.organ(); const v = await t.visit(); return (await t.call('wren', 'POST', `/visits/${v.id}/hand`, { to: 'byrd' }, {}, 'v1')).status;
});
fault('sunset-a-day-late', 'versioning', 'deprecation rules', 'v1', 'list visit', 'v1 is served for a day longer than its sunset says.', [200, 410], async (t) => {
  await t.to('2028-02-29T23:00:00Z'); const a = (await t.call('wren', 'GET', '/visits', undefined, {}, 'v1')).status;
  await t.advance('PT2H'); return [a, (await t.call('wren', 'GET', '/visits', undefined, {}, 'v1')).status];
});
fault('refusals-not-deprecated', 'versioning', 'deprecation rules', 'v1', 'read visit', 'Refusals in v1 do not say that it is deprecated; only what succeeds does.', '@1788220800', async (t) =>
  (await t.call('wren', 'GET', '/visits/none', undefined, {}, 'v1')).headers.deprecation);

// ---------------------------------------------------------------------------------------------- run
const json = {
  command: ['node', 'service.mjs'], document: 'service.yaml', callers: Object.values(who),
  faults: F.map(({ id, part, kind, subject, operation, bug }) => ({ id, part, kind, subject, operation, bug })),
};
const ids = process.argv.slice(2);
if (ids[0] === '--write') {
  writeFileSync(here + 'stranger.json', JSON.stringify(json, null, 2) + '\n');
  console.log(F.length, 'faults');
} else {
  let shown = 0, bad = 0;
  const chosen = ids.length ? F.filter((f) => ids.includes(f.id)) : F;
  for (const f of chosen) {
    const see = async (id) => { const t = await start(id); try { return JSON.stringify(await f.run(t)) ?? 'absent'; } catch (e) { return 'failed: ' + e.message; } finally { await t.stop(); } };
    const want = JSON.stringify(f.right) ?? 'absent';
    const right = await see(), wrong = await see(f.id);
    if (right === want && wrong !== want) shown++;
    else { bad++; console.log(`NOT SHOWN ${f.id}: right ${right}, wanted ${want}, with the fault ${wrong}`); }
    if (wrong.startsWith('failed')) console.log(`(${f.id}: ${wrong})`);
  }
  console.log(`${shown} of ${chosen.length} faults shown`);
  agent.destroy();
  process.exit(bad ? 1 : 0);
}
