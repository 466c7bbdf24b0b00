// Starts the service right and once with each fault, and asks the same question of both: `true` is what the document says.
// node faults-test.mjs [ID ...]
import http from 'node:http';
import { createHmac } from 'node:crypto';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const { faults, callers } = JSON.parse(readFileSync(join(HERE, 'stranger.json'), 'utf8'));
const KEY = Object.fromEntries(callers.filter((c) => c.scheme === 'key').map((c) => [c.id, c.credential]));
const LOGIN = Object.fromEntries(callers.filter((c) => c.scheme === 'login').map((c) => [c.id, c.credential]));
const OLD = { 'Docket-Version': '2026-03-01' };

const freePort = () => new Promise((resolve) => { const s = http.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => resolve(port)); }); });
const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const plainCall = (port, method, path, headers, body) => new Promise((resolve, reject) => {
  const request = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
    const parts = [];
    answer.on('data', (p) => parts.push(p));
    answer.on('end', () => { const text = Buffer.concat(parts).toString(); let json; try { json = JSON.parse(text); } catch { /* none */ } resolve({ status: answer.statusCode, headers: answer.headers, text, json }); });
  });
  request.on('error', reject);
  request.end(body);
});

const start = async (fault) => {
  const [port, clockPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [join(HERE, 'service.mjs'), '--port', port, '--clock-port', clockPort, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => { child.stdout.once('data', resolve); });
  const call = (method, path, { as = 'ada', body, headers = {}, raw } = {}) => {
    const bytes = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    return plainCall(port, method, path.startsWith('//') ? path.slice(1) : `/v1${path}`, {
      ...(as ? { 'X-Docket-Key': KEY[as] ?? as } : {}), ...(bytes === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(bytes) }), ...headers,
    }, bytes);
  };
  const t = {
    call,
    get: (path, more) => call('GET', path, more), post: (path, body, more) => call('POST', path, { body, ...more }),
    patch: (path, body, more) => call('PATCH', path, { body, ...more }), put: (path, body, more) => call('PUT', path, { body, ...more }), del: (path, more) => call('DELETE', path, more),
    clock: async (body) => (await plainCall(clockPort, 'POST', '/', {}, JSON.stringify(body))).json?.now,
    now: async () => Date.parse((await plainCall(clockPort, 'GET', '/', {})).json.now),
    make: async (path, body, more) => { const a = await t.post(path, body, more); if (a.status !== 201) throw new Error(`${path} ${a.status} ${a.text}`); return a.json; },
    contact: (body = {}, more) => t.make('/contacts', { kind: 'person', name: 'Nora Quill', ...body }, more),
    matter: async (body = {}, more) => t.make('/matters', { client: (await t.contact({}, more)).id, title: 'Quill v. Ink', practice: 'civil', ...body }, more),
    active: async (body, more) => { const m = await t.matter(body, more); await t.post(`/matters/${m.id}/activate`, undefined, more); return m; },
    soon: async (days = 5) => new Date(await t.now() + days * 86400000).toISOString(),
    deadline: async (m, body = {}, more) => t.make(`/matters/${m.id}/deadlines`, { title: 'Answer due', kind: 'filing', due_at: await t.soon(), ...body }, more),
    filing: (m, body = {}, more) => t.make(`/matters/${m.id}/filings`, { title: 'Complaint', docket_no: `26-CV-${String(1000 + filings++)}`, parties: [{ name: 'Nora Quill', role: 'plaintiff' }], ...body }, more),
    entry: (m, body = {}, more) => t.make(`/matters/${m.id}/entries`, { day: '2026-11-20', minutes: 60, narrative: 'Read the file', ...body }, more),
    records: async (query = '') => (await t.get(`/records?limit=50${query}`)).json.data,
    until: async (ask) => { for (let i = 0; i < 40; i++) { if (ask()) return true; await wait(25); } return false; },
    receivers: [],
    receiver: async (answer = () => 204) => {
      const got = [];
      const server = http.createServer((request, response) => {
        const parts = [];
        request.on('data', (p) => parts.push(p));
        request.on('end', () => { const body = Buffer.concat(parts).toString(); got.push({ headers: request.headers, body, json: JSON.parse(body) }); response.writeHead(answer(got.length)); response.end(); });
      });
      await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
      t.receivers.push(server);
      return { got, url: `http://127.0.0.1:${server.address().port}/in` };
    },
    end: async () => { t.receivers.forEach((s) => { s.close(); s.closeAllConnections(); }); const gone = new Promise((resolve) => { child.once('exit', resolve); }); child.kill(); await gone; },
  };
  let filings = 0;
  return t;
};
const code = (a) => a.json?.error?.code;

const TESTS = {
  // purpose
  'base-lost': async (t) => (await t.get('/ping')).status === 200,
  'paralegals-unknown': async (t) => (await t.get('/contacts', { as: 'pia' })).status === 200,
  'client-is-paralegal': async (t) => code(await t.get('/contacts', { as: 'cleo' })) === 'forbidden',
  'hours-dead': async (t) => (await t.get('/entries')).status === 200,
  // resources
  'name-81': async (t) => (await t.contact({ name: 'n'.repeat(80) })) && (await t.post('/contacts', { kind: 'person', name: 'n'.repeat(81) })).status === 422,
  'minutes-any': async (t) => code(await t.post(`/matters/${(await t.matter()).id}/entries`, { day: '2026-11-20', minutes: 61, narrative: 'Read the file' })) === 'invalid',
  'day-any-31': async (t) => code(await t.post(`/matters/${(await t.matter()).id}/entries`, { day: '2026-02-30', minutes: 60, narrative: 'Read the file' })) === 'invalid',
  'filing-id-bare': async (t) => /^fil_[0-9A-HJKMNP-TV-Z]{26}$/.test((await t.filing(await t.matter())).id),
  'false-left-out': async (t) => (await t.deadline(await t.matter())).critical === false,
  'minutes-as-text': async (t) => (await t.matter()).minutes === 0,
  'kind-changes': async (t) => { const c = await t.contact(); return code(await t.patch(`/contacts/${c.id}`, { kind: 'company' })) === 'invalid' && (await t.get(`/contacts/${c.id}`)).json.kind === 'person'; },
  'email-case': async (t) => { await t.contact({ email: 'Nora@quill.example' }); return code(await t.post('/contacts', { kind: 'person', name: 'Other', email: 'nora@QUILL.example' })) === 'taken'; },
  'numbers-for-all': async (t) => { await t.matter(); await t.matter(); return (await t.matter({}, { as: 'sol' })).number === 'M-00001' && (await t.matter()).number === 'M-00003'; },
  'pending-counts-missed': async (t) => { const m = await t.matter(); await t.deadline(m); await t.clock({ advance: 'P6D' }); return (await t.get(`/matters/${m.id}`)).json.pending === 0; },
  'secret-again': async (t) => { const h = await t.make('/hooks', { url: 'http://127.0.0.1:9/x' }); return h.secret.startsWith('whsec_') && (await t.get(`/hooks/${h.id}`)).json.secret === undefined; },
  'unknown-passes': async (t) => code(await t.post('/contacts', { kind: 'person', name: 'Nora', nickname: 'N' })) === 'field_unknown',
  'strategy-shown': async (t) => { const m = await t.matter({ strategy: 'Settle early' }); return m.strategy === 'Settle early' && (await t.get(`/matters/${m.id}`, { as: 'pia' })).json.strategy === undefined; },
  'critical-meeting': async (t) => code(await t.post(`/matters/${(await t.matter()).id}/deadlines`, { title: 'Meet them', kind: 'meeting', critical: true, due_at: await t.soon() })) === 'invalid',
  'docket-unanchored': async (t) => code(await t.post(`/matters/${(await t.matter()).id}/filings`, { title: 'Complaint', docket_no: '26-CV-10001', parties: [{ name: 'Nora', role: 'witness' }] })) === 'invalid',
  'no-parties': async (t) => code(await t.post(`/matters/${(await t.matter()).id}/filings`, { title: 'Complaint', docket_no: '26-CV-1000', parties: [] })) === 'invalid',
  'tags-twice': async (t) => code(await t.post('/contacts', { kind: 'person', name: 'Nora', tags: ['vip', 'vip'] })) === 'invalid',
  'docket-no-per-office': async (t) => { await t.filing(await t.matter(), { docket_no: '26-CV-7777' }); return (await t.filing(await t.matter(), { docket_no: '26-CV-7777' })).docket_no === '26-CV-7777'; },
  'updated-at-stays': async (t) => { const c = await t.contact(); await t.clock({ advance: 'PT1H' }); return (await t.patch(`/contacts/${c.id}`, { name: 'Nora Feather' })).json.updated_at > c.updated_at; },
  'orphans': async (t) => { const m = await t.matter(); const d = await t.deadline(m); await t.del(`/matters/${m.id}`); return (await t.get(`/deadlines/${d.id}`)).status === 404; },
  'foreign-client': async (t) => { const c = await t.contact({}, { as: 'sol' }); return code(await t.post('/matters', { client: c.id, title: 'Theirs', practice: 'tax' })) === 'bad_reference'; },
  // states
  'approve-draft': async (t) => { const m = await t.matter(); const e = await t.entry(m, {}, { as: 'pia' }); return code(await t.post(`/entries/${e.id}/approve`)) === 'wrong_state'; },
  'extended-never-missed': async (t) => {
    const d = await t.deadline(await t.matter()); await t.clock({ advance: 'P6D' });
    const a = await t.post(`/deadlines/${d.id}/extend`, { due_at: await t.soon(2) }); await t.clock({ advance: 'P3D' });
    return a.json.status === 'pending' && (await t.get(`/deadlines/${d.id}`)).json.status === 'missed';
  },
  'deem-from-draft': async (t) => { const f = await t.filing(await t.active()); await t.clock({ advance: 'P10D' }); await t.post(`/filings/${f.id}/file`); await t.clock({ advance: 'P5D' }); return (await t.get(`/filings/${f.id}`)).json.status === 'filed'; },
  'seal-other-word': async (t) => (await t.post(`/filings/${(await t.filing(await t.matter())).id}/seal`)).json.access === 'sealed',
  'close-keeps-drafts': async (t) => { const m = await t.active(); const f = await t.filing(m); await t.post(`/matters/${m.id}/close`); return (await t.get(`/filings/${f.id}`)).json.status === 'withdrawn'; },
  'close-ignores-pending': async (t) => { const m = await t.active(); await t.deadline(m); return code(await t.post(`/matters/${m.id}/close`)) === 'deadlines_pending'; },
  'waive-critical': async (t) => code(await t.post(`/deadlines/${(await t.deadline(await t.matter(), { critical: true })).id}/waive`)) === 'critical_deadline',
  'entry-born-submitted': async (t) => (await t.entry(await t.matter())).status === 'draft',
  'activate-declined': async (t) => { const m = await t.matter(); await t.clock({ advance: 'P31D' }); return code(await t.post(`/matters/${m.id}/activate`)) === 'wrong_state'; },
  'lapse-31d': async (t) => { const m = await t.matter(); await t.clock({ advance: 'P29D' }); const before = (await t.get(`/matters/${m.id}`)).json.status; await t.clock({ advance: 'P1D' }); return before === 'intake' && (await t.get(`/matters/${m.id}`)).json.status === 'declined'; },
  // endpoints
  'city-ignored': async (t) => { await t.contact({ address: { city: 'Oslo', country: 'NO' } }); await t.contact(); return (await t.get('/contacts?city=Oslo')).json.data.length === 1; },
  'until-takes-the-day': async (t) => { const due = await t.soon(); await t.deadline(await t.matter(), { due_at: due }); return (await t.get(`/agenda?until=${due}`)).json.data.length === 0 && (await t.get(`/agenda?from=${due}`)).json.data.length === 1; },
  'first-kind-only': async (t) => { const m = await t.active(); await t.deadline(m); return (await t.records('&kind=matter.opened,deadline.set')).length === 2; },
  'no-location': async (t) => { const c = await t.contact(); const a = await t.post('/matters', { client: c.id, title: 'Place', practice: 'tax' }); return a.headers.location === `/v1/matters/${a.json.id}`; },
  'never-304': async (t) => { const f = await t.filing(await t.matter()); const a = await t.get(`/filings/${f.id}`); return (await t.get(`/filings/${f.id}`, { headers: { 'If-None-Match': a.headers.etag } })).status === 304; },
  'address-not-merged': async (t) => { const c = await t.contact({ address: { city: 'Oslo', postcode: '0150', country: 'NO' } }); const a = await t.patch(`/contacts/${c.id}`, { address: { city: 'Bergen', country: 'NO' } }); return a.json.address.postcode === '0150' && a.json.address.city === 'Bergen'; },
  'put-keeps': async (t) => { const c = await t.contact({ tags: ['vip'] }); return (await t.put(`/contacts/${c.id}`, { name: 'Nora Quill' })).json.tags === undefined; },
  'no-head': async (t) => { const a = await t.call('HEAD', '/contacts'); return a.status === 200 && a.text === ''; },
  'deadlines-stay': async (t) => (await t.del(`/deadlines/${(await t.deadline(await t.matter())).id}`)).status === 204,
  'title-one-way': async (t) => { await t.matter({ title: 'Aaa' }); await t.matter({ title: 'Bbb' }); return (await t.get('/matters?sort=-title')).json.data[0].title === 'Bbb'; },
  'contacts-made-twice': async (t) => { const headers = { 'Idempotency-Key': 'k1' }; const body = { kind: 'person', name: 'Nora' }; const a = await t.post('/contacts', body, { headers }); const b = await t.post('/contacts', body, { headers }); return a.json.id === b.json.id; },
  'tag-forgets-derived': async (t) => { const m = await t.matter(); const a = await t.get(`/matters/${m.id}`); await t.deadline(m); return (await t.get(`/matters/${m.id}`)).headers.etag !== a.headers.etag; },
  'name-any-case': async (t) => { await t.contact(); return (await t.get('/contacts?name=quill')).json.data.length === 0 && (await t.get('/contacts?name=Quill')).json.data.length === 1; },
  'title-anywhere': async (t) => { await t.matter(); return (await t.get('/matters?title=v.')).json.data.length === 0 && (await t.get('/matters?title=Qui')).json.data.length === 1; },
  'reject-without-reason': async (t) => { const f = await t.filing(await t.active()); await t.post(`/filings/${f.id}/file`); return code(await t.post(`/filings/${f.id}/reject`, {})) === 'field_missing'; },
  // authentication
  'foreign-contact': async (t) => (await t.get(`/contacts/${(await t.contact()).id}`, { as: 'sol' })).status === 404,
  'colleagues-hours': async (t) => (await t.get(`/entries/${(await t.entry(await t.matter())).id}`, { as: 'pia' })).status === 404,
  'anybody-closes': async (t) => { const m = await t.active(); return code(await t.post(`/matters/${m.id}/close`, undefined, { as: 'abe' })) === 'forbidden'; },
  'file-without-scope': async (t) => { const f = await t.filing(await t.active()); return code(await t.post(`/filings/${f.id}/file`, undefined, { as: 'noa' })) === 'scope_lacking'; },
  'sealed-listed': async (t) => {
    const c = await t.contact({ portal: 'cleo' }); const m = await t.matter({ client: c.id }); const f = await t.filing(m); await t.filing(m); await t.post(`/filings/${f.id}/seal`);
    return (await t.get(`/matters/${m.id}/filings`, { as: 'cleo' })).json.data.length === 1;
  },
  'password-tail': async (t) => { const basic = (s) => ({ as: null, headers: { Authorization: `Basic ${Buffer.from(s).toString('base64')}` } }); return (await t.get('/contacts', basic(LOGIN.ada))).status === 200 && (await t.get('/contacts', basic(`${LOGIN.ada}x`))).status === 401; },
  'key-any-case': async (t) => (await t.get('/contacts', { as: KEY.ada.toLowerCase() })).status === 401,
  'key-header-renamed': async (t) => (await t.get('/contacts')).status === 200,
  'two-callers': async (t) => (await t.get('/contacts', { headers: { Authorization: `Basic ${Buffer.from(LOGIN.pia).toString('base64')}` } })).status === 401,
  'agenda-of-all': async (t) => { await t.deadline(await t.matter()); return (await t.get('/agenda', { as: 'per' })).json.data.length === 0; },
  'paralegal-deletes': async (t) => code(await t.del(`/contacts/${(await t.contact()).id}`, { as: 'pia' })) === 'forbidden',
  // events
  'reopen-silent': async (t) => { const m = await t.active(); await t.post(`/matters/${m.id}/close`); await t.post(`/matters/${m.id}/reopen`); return (await t.records('&kind=matter.opened')).length === 2; },
  'withdrawn-only-asked': async (t) => { const m = await t.active(); await t.filing(m); await t.post(`/matters/${m.id}/close`); return (await t.records('&kind=filing.withdrawn')).length === 1; },
  'renamed-was': async (t) => {
    const m = await t.matter(); const { headers } = await t.get(`/matters/${m.id}`); await t.patch(`/matters/${m.id}`, { title: 'Ink v. Quill' }, { headers: { 'If-Match': headers.etag } });
    const [r] = await t.records('&kind=matter.renamed'); return r.data.was === 'Quill v. Ink' && r.data.is === 'Ink v. Quill' && r.data.matter === m.id;
  },
  'renamed-always': async (t) => { const m = await t.matter(); const { headers } = await t.get(`/matters/${m.id}`); const a = await t.patch(`/matters/${m.id}`, { practice: 'tax' }, { headers: { 'If-Match': headers.etag } }); return a.json.practice === 'tax' && (await t.records('&kind=matter.renamed')).length === 0; },
  'rate-told': async (t) => {
    const r = await t.receiver(); await t.make('/hooks', { url: r.url, events: ['entry.*'] }, { as: 'pia' });
    const e = await t.entry(await t.matter(), {}, { as: 'pia' }); await t.post(`/entries/${e.id}/submit`, undefined, { as: 'pia' }); await t.post(`/entries/${e.id}/approve`);
    return (await t.until(() => r.got.length === 1)) && r.got[0].json.data.id === e.id && r.got[0].json.data.rate_cents === undefined;
  },
  'approved-to-all': async (t) => {
    const r = await t.receiver(); await t.make('/hooks', { url: r.url, events: ['entry.approved', 'matter.closed'] });
    const m = await t.active(); const e = await t.entry(m, {}, { as: 'pia' }); await t.post(`/entries/${e.id}/submit`, undefined, { as: 'pia' }); await t.post(`/entries/${e.id}/approve`); await t.post(`/matters/${m.id}/close`);
    return (await t.until(() => r.got.length >= 1)) && (await wait(100), r.got.length === 1) && r.got[0].json.type === 'matter.closed';
  },
  'signs-body-alone': async (t) => {
    const r = await t.receiver(); const h = await t.make('/hooks', { url: r.url }); await t.active(); if (!await t.until(() => r.got.length)) return false;
    const { headers, body } = r.got[0];
    return headers['webhook-signature'] === `v1,${createHmac('sha256', Buffer.from(h.secret.slice(6), 'base64')).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`;
  },
  'new-id-each-try': async (t) => { const r = await t.receiver((n) => (n === 1 ? 500 : 204)); await t.make('/hooks', { url: r.url }); await t.active(); await t.until(() => r.got.length === 1); await wait(50); await t.clock({ advance: 'PT20S' }); return (await t.until(() => r.got.length === 2)) && r.got[0].headers['webhook-id'] === r.got[1].headers['webhook-id']; },
  'no-second-try': async (t) => { const r = await t.receiver((n) => (n === 1 ? 500 : 204)); await t.make('/hooks', { url: r.url }); await t.active(); await t.until(() => r.got.length === 1); await wait(50); await t.clock({ advance: 'PT20S' }); return t.until(() => r.got.length === 2); },
  'no-event-header': async (t) => { const r = await t.receiver(); await t.make('/hooks', { url: r.url }); await t.active(); return (await t.until(() => r.got.length)) && r.got[0].headers['x-docket-event'] === 'matter.opened'; },
  'missed-twice': async (t) => { await t.deadline(await t.matter()); await t.clock({ advance: 'P6D' }); return (await t.records('&kind=deadline.missed')).length === 1; },
  'wildcard-deaf': async (t) => { const r = await t.receiver(); await t.make('/hooks', { url: r.url, events: ['matter.*'] }); await t.active(); return t.until(() => r.got.length === 1); },
  'approved-unbillable': async (t) => { const e = await t.entry(await t.matter(), { billable: false }, { as: 'pia' }); await t.post(`/entries/${e.id}/submit`, undefined, { as: 'pia' }); const a = await t.post(`/entries/${e.id}/approve`); return a.json.status === 'approved' && (await t.records('&kind=entry.approved')).length === 0; },
  'waive-silent': async (t) => { await t.post(`/deadlines/${(await t.deadline(await t.matter())).id}/waive`); return (await t.records('&kind=deadline.settled')).length === 1; },
  'filed-as-it-was': async (t) => { const f = await t.filing(await t.active()); await t.post(`/filings/${f.id}/file`); const [r] = await t.records('&kind=filing.filed'); return r.data.status === 'filed' && r.data.filed_at !== undefined; },
  'gone-goes-on': async (t) => { const r = await t.receiver(() => 410); const h = await t.make('/hooks', { url: r.url }); await t.active(); await t.until(() => r.got.length); await wait(80); return (await t.get(`/hooks/${h.id}`)).json.enabled === false && (await t.records('&kind=hook.disabled')).length === 1; },
  // errors
  'tag-missing-412': async (t) => (await t.patch(`/matters/${(await t.matter()).id}`, { title: 'Other' })).status === 428,
  'taken-400': async (t) => { await t.contact({ email: 'a@b.example' }); return (await t.post('/contacts', { kind: 'person', name: 'Other', email: 'a@b.example' })).status === 409; },
  'reference-404': async (t) => (await t.post('/matters', { client: 'con_none', title: 'Other', practice: 'tax' })).status === 422,
  'removed-is-missing': async (t) => { const c = await t.contact(); await t.del(`/contacts/${c.id}`); return code(await t.get(`/contacts/${c.id}`)) === 'removed'; },
  'no-request-id': async (t) => typeof (await t.get('/nothing')).json.error.request_id === 'string',
  'violations-unplaced': async (t) => (await t.post('/contacts', { kind: 'person', name: 'N' })).json.error.violations[0].path === '/name',
  'error-header-lost': async (t) => (await t.get('/nothing')).headers['x-docket-error'] === 'no_route',
  'contact-in-use-goes': async (t) => { const c = await t.contact(); await t.matter({ client: c.id }); return code(await t.del(`/contacts/${c.id}`)) === 'in_use'; },
  'unknown-is-invalid': async (t) => code(await t.post('/contacts', { kind: 'person', name: 'Nora', nickname: 'N' })) === 'field_unknown',
  'cap-reached-early': async (t) => { const m = await t.matter({ cap_minutes: 60 }); const e = await t.entry(m); const a = await t.post(`/entries/${e.id}/submit`); const f = await t.entry(m, { minutes: 6 }); return a.status === 200 && code(await t.post(`/entries/${f.id}/submit`)) === 'over_cap'; },
  'self-approval': async (t) => { const e = await t.entry(await t.matter()); await t.post(`/entries/${e.id}/submit`); return code(await t.post(`/entries/${e.id}/approve`)) === 'self_approval'; },
  'extends-backwards': async (t) => { const d = await t.deadline(await t.matter()); return code(await t.post(`/deadlines/${d.id}/extend`, { due_at: await t.soon(4) })) === 'extends_backwards'; },
  'over-only-closed': async (t) => { const m = await t.matter(); await t.clock({ advance: 'P31D' }); return code(await t.post(`/matters/${m.id}/entries`, { day: '2026-11-20', minutes: 60, narrative: 'Read the file' })) === 'matter_over'; },
  'stale-tag-passes': async (t) => { const f = await t.filing(await t.matter()); const { headers } = await t.get(`/filings/${f.id}`); await t.patch(`/filings/${f.id}`, { pages: 2 }); return code(await t.patch(`/filings/${f.id}`, { pages: 3 }, { headers: { 'If-Match': headers.etag } })) === 'changed'; },
  'key-forgets-body': async (t) => { const headers = { 'Idempotency-Key': 'k2' }; await t.post('/contacts', { kind: 'person', name: 'Nora' }, { headers }); return code(await t.post('/contacts', { kind: 'person', name: 'Nils' }, { headers })) === 'key_reused'; },
  'accept-anything': async (t) => code(await t.get('/contacts', { headers: { Accept: 'text/html' } })) === 'unacceptable',
  'any-media': async (t) => code(await t.post('/contacts', undefined, { raw: '{"kind":"person","name":"Nora"}', headers: { 'Content-Type': 'text/plain' } })) === 'wrong_media',
  'scope-is-forbidden': async (t) => code(await t.post(`/matters/${(await t.matter()).id}/filings`, {}, { as: 'pim' })) === 'scope_lacking',
  'unknown-parameter-passes': async (t) => code(await t.get('/contacts?colour=red')) === 'bad_parameter',
  // limits
  'agenda-21': async (t) => { for (let i = 0; i < 20; i++) if ((await t.get('/agenda')).status !== 200) return false; return (await t.get('/agenda')).status === 429; },
  'agenda-by-user': async (t) => { for (let i = 0; i < 20; i++) await t.get('/agenda'); return (await t.get('/agenda', { as: 'abe' })).status === 200; },
  'bucket-never-fills': async (t) => { for (let i = 0; i < 40; i++) await t.get('/matters', { as: 'carl' }); const over = await t.get('/matters', { as: 'carl' }); await t.clock({ advance: 'PT1M' }); return over.status === 429 && (await t.get('/matters', { as: 'carl' })).status === 200; },
  'no-retry-after': async (t) => { for (let i = 0; i < 20; i++) await t.get('/agenda'); const a = await t.get('/agenda'); return a.status === 429 && Number(a.headers['retry-after']) > 0; },
  'body-limit-off': async (t) => code(await t.post('/contacts', { kind: 'person', name: 'N'.repeat(16400) })) === 'too_large',
  'limit-51': async (t) => (await t.get('/contacts?limit=50')).status === 200 && code(await t.get('/contacts?limit=51')) === 'bad_page',
  'per-page-refused': async (t) => (await t.get('/entries?per_page=41')).status === 200,
  'more-when-full': async (t) => { const m = await t.matter(); await t.entry(m); await t.entry(m); return (await t.get('/entries?per_page=2')).json.more === false && (await t.get('/entries?per_page=1')).json.more === true; },
  'total-of-page': async (t) => { const m = await t.matter(); await t.entry(m); await t.entry(m); return (await t.get('/entries?per_page=1')).json.total === 2; },
  'dead-hooks-count': async (t) => { for (let i = 0; i < 4; i++) { const h = await t.make('/hooks', { url: 'http://127.0.0.1:9/x' }); await t.del(`/hooks/${h.id}`); } return (await t.post('/hooks', { url: 'http://127.0.0.1:9/x' })).status === 201; },
  'done-deadlines-count': async (t) => { const m = await t.matter(); for (let i = 0; i < 12; i++) { const d = await t.deadline(m); await t.post(`/deadlines/${d.id}/meet`); } return (await t.post(`/matters/${m.id}/deadlines`, { title: 'One more', kind: 'filing', due_at: await t.soon() })).status === 201; },
  'quota-by-office': async (t) => { const m = await t.active(); for (let i = 0; i < 25; i++) { const f = await t.filing(m); await t.post(`/filings/${f.id}/file`); } const f = await t.filing(m); return code(await t.post(`/filings/${f.id}/file`)) === 'used_up' && (await t.post(`/filings/${f.id}/file`, undefined, { as: 'abe' })).status === 200; },
  'records-skip-one': async (t) => { for (let i = 0; i < 4; i++) await t.active(); const a = (await t.get('/records?limit=2')).json; const b = (await t.get(`/records?limit=2&cursor=${a.next_cursor}`)).json; return b.data.length === 2 && b.next_cursor === null; },
  // versioning
  'old-list-new-names': async (t) => { await t.matter(); const [m] = (await t.get('/matters', { headers: OLD })).json.data; return m.area === 'civil' && m.practice === undefined; },
  'sunset-unsaid': async (t) => (await t.get('/contacts', { headers: OLD })).headers.sunset === 'Wed, 01 Sep 2027 00:00:00 GMT',
  'no-deprecation': async (t) => (await t.get('/contacts', { headers: OLD })).headers.deprecation === '@1788220800',
  'no-sunset': async (t) => { await t.clock({ now: '2027-09-02T00:00:00Z' }); return code(await t.get('/contacts', { headers: OLD })) === 'old_version'; },
  'any-version': async (t) => code(await t.get('/contacts', { headers: { 'Docket-Version': '2025-01-01' } })) === 'no_version',
  'old-kind-unmapped': async (t) => { await t.contact(); return (await t.get('/contacts?kind=individual', { headers: OLD })).json.data.length === 1; },
  'oldest-by-default': async (t) => (await t.contact()).kind === 'person',
  'version-unsaid': async (t) => (await t.get('/contacts')).headers['docket-version'] === '2026-10-01',
  'court-null': async (t) => (await t.filing(await t.matter(), {}, { headers: OLD })).court === 'district',
  'agenda-always': async (t) => code(await t.get('/agenda', { headers: OLD })) === 'no_route',
};

const wanted = process.argv.slice(2);
let bad = 0;
for (const { id, bug } of faults) {
  if (wanted.length && !wanted.includes(id)) continue;
  const seen = [];
  for (const fault of [undefined, id]) {
    const t = await start(fault);
    try { seen.push(await TESTS[id](t)); } catch (e) { seen.push(fault ? false : e.message); } finally { await t.end(); }
  }
  const ok = seen[0] === true && seen[1] === false;
  if (!ok) { bad++; console.log(`NOT SHOWN ${id}: right=${seen[0]} faulty=${seen[1]} (${bug})`); }
}
console.log(bad ? `${bad} not shown` : `all ${wanted.length || faults.length} faults are shown`);
process.exitCode = bad ? 1 : 0;
