// A proof by hand of every fault: it has to pass on the right service and to fail on the one with the fault.
// node faults-test.mjs [ID ...]
import http from 'node:http';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { callers, faults } = JSON.parse(readFileSync(join(here, 'stranger.json'), 'utf8'));
const credential = Object.fromEntries(callers.map((c) => [c.scheme === 'key' ? c.id + (c.id[0] === 'w' ? ':key' : '') : c.id,
  c.scheme === 'key' ? { 'X-Waterway-Key': c.credential } : { Authorization: 'Basic ' + Buffer.from(c.credential).toString('base64') }]));
const ada = credential.s_ada, ben = credential.s_ben, kim = credential.k_kim, lou = credential.k_lou, mia = credential.k_mia, wes = credential.w_wes;

class Failed extends Error {}
const is = (found, expected, what) => { if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Failed(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`); };
const OLD = { 'Waterway-Version': '2025-03-01' }, MIDDLE = { 'Waterway-Version': '2026-02-01' };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const until = async (test, ms = 1500) => { for (const end = Date.now() + ms; Date.now() < end; await pause(15)) if (test()) return true; return Boolean(test()); };

function raw(port, method, path, headers = {}, body, agent) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      const pieces = [];
      response.on('data', (p) => pieces.push(p));
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        let json;
        try { json = JSON.parse(text); } catch { json = undefined; }
        resolve({ status: response.statusCode, headers: response.headers, body: json, text });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
class Service {
  constructor(fault) {
    this.port = 20000 + Math.floor(Math.random() * 20000);
    this.clock = 20000 + Math.floor(Math.random() * 20000);
    this.agent = new http.Agent({ keepAlive: true });
    this.child = spawn(process.execPath, [join(here, 'service.mjs'), '--port', this.port, '--clock-port', this.clock, ...(fault ? ['--fault', fault] : [])], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.errors = '';
    this.child.stderr.on('data', (d) => { this.errors += d; });
    this.exited = new Promise((done) => this.child.on('exit', done));
    this.receivers = [];
    this.n = 0;
  }
  async ready() {
    for (let i = 0; i < 200; i++) {
      if (this.child.exitCode !== null) throw new Error('port taken');
      try { await raw(this.clock, 'GET', '/'); await raw(this.port, 'GET', '/'); return; } catch { await pause(20); }
    }
    throw new Error('does not start: ' + this.errors);
  }
  async stop() {
    this.agent.destroy();
    for (const r of this.receivers) { r.closeAllConnections(); r.close(); }
    this.child.kill();
    await this.exited;
  }
  call(who, method, path, body, headers = {}) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return raw(this.port, method, '/waterway' + path, { ...who, ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }), ...headers }, text, this.agent);
  }
  /** A call of which a proof needs that it goes well. */
  async do(who, method, path, body, headers) {
    const answer = await this.call(who, method, path, body, headers);
    if (answer.status >= 300) throw new Failed(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }
  async now() { return Date.parse((await raw(this.clock, 'GET', '/')).body.now); }
  async at(ms) { return new Date((await this.now()) + ms).toISOString(); }
  async advance(duration) { is((await raw(this.clock, 'POST', '/', {}, JSON.stringify({ advance: duration }))).status, 200, 'the clock moves'); }
  lock(more) { this.n++; return this.do(wes, 'POST', '/locks', { name: 'Lock ' + this.n, reach: 'lower', position: this.n, riseCm: 200, maxLengthCm: 2200, ...more }); }
  boat(more, who = ada) { return this.do(who, 'POST', '/boats', { name: 'Heron', registration: 'AB' + (1000 + ++this.n), lengthCm: 1700, ...more }); }
  mooring(lock, more) { return this.do(wes, 'POST', `/locks/${lock.id}/moorings`, { code: 'MO-' + (10 + ++this.n), lengthCm: 1800, nightlyPence: 600, ...more }); }
  async passage(lock, boat, more, who = ada) { return this.do(who, 'POST', '/passages', { boat: boat.id, lock: lock.id, direction: 'up', plannedAt: await this.at(3_600_000), ...more }); }
  async closure(lock, more, who = wes) { return this.do(who, 'POST', '/closures', { lock: lock.id, title: 'New gates', cause: 'works', startsAt: await this.at(3_600_000), endsAt: await this.at(7_200_000), ...more }); }
  async left(lock, boat, more) {
    const p = await this.passage(lock, boat, more);
    await this.do(ada, 'POST', `/passages/${p.id}/arrive`);
    await this.do(kim, 'POST', `/passages/${p.id}/start`);
    return this.do(kim, 'POST', `/passages/${p.id}/leave`);
  }
  async hook(who, more, answers = () => 204) {
    const got = [];
    const receiver = http.createServer((request, response) => {
      let text = '';
      request.on('data', (d) => { text += d; });
      request.on('end', () => { got.push({ headers: request.headers, text, body: JSON.parse(text) }); response.writeHead(answers(got.length)); response.end(); });
    });
    this.receivers.push(receiver);
    await new Promise((done) => receiver.listen(0, '127.0.0.1', done));
    const hook = await this.do(who, 'POST', '/hooks', { url: `http://127.0.0.1:${receiver.address().port}/in`, ...more });
    return { hook, got };
  }
}

const PROOFS = {
  'p-base': async (s) => is((await s.call({}, 'GET', '/locks')).status, 200, 'the locks'),
  'p-mooring-mount': async (s) => is((await s.call(ada, 'GET', '/moorings')).status, 200, 'the moorings'),
  'p-lift-method': async (s) => {
    const c = await s.closure(await s.lock());
    await s.advance('PT61M');
    is((await s.call(wes, 'POST', `/closures/${c.id}/lift`)).status, 200, 'lifting');
  },
  'p-mooring-kept': async (s) => {
    const m = await s.mooring(await s.lock());
    await s.do(wes, 'DELETE', '/moorings/' + m.id);
    is((await s.call(wes, 'GET', '/moorings/' + m.id)).status, 404, 'the mooring afterwards');
  },
  'p-user-unknown': async (s) => is((await s.call(wes, 'GET', '/tolls')).status, 200, 'a warden lists tolls'),
  'p-user-barred': async (s) => is((await s.call(kim, 'GET', '/passages')).status, 200, 'a keeper lists passages'),

  'r-name-length': async (s) => {
    const sent = { reach: 'lower', position: 50, riseCm: 200, maxLengthCm: 2200 };
    is((await s.call(wes, 'POST', '/locks', { ...sent, name: 'x'.repeat(40) })).status, 201, '40 characters');
    is((await s.call(wes, 'POST', '/locks', { ...sent, position: 51, name: 'x'.repeat(41) })).status, 422, '41 characters');
  },
  'r-code-optional': async (s) => {
    const lock = await s.lock();
    is((await s.call(wes, 'POST', `/locks/${lock.id}/moorings`, { lengthCm: 900, nightlyPence: 5 })).body.code, 'missingField', 'no code');
  },
  'r-date-format': async (s) => {
    const sent = { name: 'Heron', registration: 'AB0001', lengthCm: 900 };
    is((await s.call(ada, 'POST', '/boats', { ...sent, insuredUntil: '2027-02-30' })).status, 422, 'the 30th of February');
    is((await s.call(ada, 'POST', '/boats', { ...sent, insuredUntil: '2028-02-29' })).status, 201, 'a leap day');
  },
  'r-registration-mutable': async (s) => {
    const boat = await s.boat();
    is((await s.call(ada, 'PATCH', '/boats/' + boat.id, { registration: 'ZZ0001' })).status, 422, 'another registration');
    is((await s.call(ada, 'PATCH', '/boats/' + boat.id, { registration: boat.registration, name: 'Teal' })).status, 200, 'the same one');
  },
  'r-note-in-lists': async (s) => {
    await s.lock({ keeperNote: 'the paddle sticks' });
    is('keeperNote' in (await s.do(ada, 'GET', '/locks')).items[0], false, 'a skipper sees the note');
    is((await s.do(kim, 'GET', '/locks')).items[0].keeperNote, 'the paddle sticks', 'a keeper sees it');
  },
  'r-toll-sum': async (s) => {
    const p = await s.left(await s.lock(), await s.boat());
    is((await s.do(ada, 'GET', '/passages/' + p.id)).tollPence, 3400, 'the toll');
    await s.do(wes, 'POST', `/tolls/${p.tolls[0].id}/waive`);
    is((await s.do(ada, 'GET', '/passages/' + p.id)).tollPence, 0, 'the toll once waived');
  },
  'r-number-over-all': async (s) => {
    const one = await s.lock(), two = await s.lock(), boat = await s.boat();
    is((await s.passage(one, boat)).number, 1, 'the first of one lock');
    is((await s.passage(two, boat)).number, 1, 'the first of the other');
    is((await s.passage(one, boat)).number, 2, 'the second of the one');
  },
  'r-null-mooring': async (s) => is('homeMooring' in (await s.boat()), false, 'an absent field is shown'),
  'r-mooring-dangles': async (s) => {
    const m = await s.mooring(await s.lock()), boat = await s.boat({ homeMooring: m.id });
    is(boat.homeMooring, m.id, 'the home mooring');
    await s.do(wes, 'DELETE', '/moorings/' + m.id);
    is('homeMooring' in (await s.do(ada, 'GET', '/boats/' + boat.id)), false, 'still there');
  },

  's-patch-status': async (s) => {
    const p = await s.passage(await s.lock(), await s.boat());
    is((await s.do(ada, 'PATCH', '/passages/' + p.id, { status: 'passed', crew: 3 })).status, 'booked', 'the status');
  },
  's-no-guard': async (s) => {
    const lock = await s.lock(), p = await s.passage(lock, await s.boat());
    await s.do(ada, 'POST', `/passages/${p.id}/arrive`);
    await s.do(wes, 'POST', `/locks/${lock.id}/shut`);
    is((await s.call(kim, 'POST', `/passages/${p.id}/start`)).status, 409, 'starting at a shut lock');
    await s.do(wes, 'POST', `/locks/${lock.id}/reopen`);
    is((await s.call(kim, 'POST', `/passages/${p.id}/start`)).status, 200, 'starting once it works');
  },
  's-lapse-waiting': async (s) => {
    const lock = await s.lock(), boat = await s.boat(), p = await s.passage(lock, boat), q = await s.passage(lock, boat);
    await s.do(ada, 'POST', `/passages/${p.id}/arrive`);
    await s.advance('PT49H');
    is((await s.do(ada, 'GET', '/passages/' + q.id)).status, 'lapsed', 'one that did not arrive');
    is((await s.do(ada, 'GET', '/passages/' + p.id)).status, 'waiting', 'one that arrived');
  },
  's-no-assistance': async (s) => is((await s.left(await s.lock(), await s.boat(), { assisted: true })).tolls[0].amountPence, 3900, 'the toll with assistance'),
  's-pay-overdue': async (s) => {
    const p = await s.left(await s.lock(), await s.boat()), toll = p.tolls[0].id;
    await s.advance('P15D');
    is((await s.do(ada, 'GET', '/tolls/' + toll)).status, 'overdue', 'after its time');
    is((await s.call(ada, 'POST', `/tolls/${toll}/pay`, { method: 'card' })).status, 200, 'paying it');
  },
  's-no-reschedule': async (s) => {
    const c = await s.closure(await s.lock());
    await s.do(wes, 'PATCH', '/closures/' + c.id, { startsAt: await s.at(18_000_000), endsAt: await s.at(36_000_000) });
    await s.advance('PT2H');
    is((await s.do(wes, 'GET', '/closures/' + c.id)).status, 'planned', 'before its new time');
    await s.advance('PT4H');
    is((await s.do(wes, 'GET', '/closures/' + c.id)).status, 'inForce', 'after its new time');
  },
  's-lift-leaves-shut': async (s) => {
    const lock = await s.lock(), c = await s.closure(lock);
    await s.advance('PT61M');
    is((await s.do({}, 'GET', '/locks/' + lock.id)).status, 'shut', 'while it is in force');
    await s.do(wes, 'POST', `/closures/${c.id}/lift`);
    is((await s.do({}, 'GET', '/locks/' + lock.id)).status, 'working', 'once it is lifted');
  },

  'e-min-rise': async (s) => {
    await s.lock({ riseCm: 300 });
    is((await s.do({}, 'GET', '/locks?minRise=300')).total, 1, 'minRise=300');
    is((await s.do({}, 'GET', '/locks?minRise=301')).total, 0, 'minRise=301');
  },
  'e-split-first': async (s) => {
    const lock = await s.lock(), boat = await s.boat(), p = await s.passage(lock, boat);
    await s.passage(lock, boat);
    await s.do(ada, 'POST', `/passages/${p.id}/arrive`);
    is((await s.do(ada, 'GET', '/passages?status=booked,waiting')).total, 2, 'two states');
  },
  'e-prefix-case': async (s) => {
    await s.boat({ name: 'Heron' });
    is((await s.do(ada, 'GET', '/boats?name=Her')).total, 1, 'name=Her');
    is((await s.do(ada, 'GET', '/boats?name=her')).total, 0, 'name=her');
  },
  'e-put-merges': async (s) => {
    const m = await s.mooring(await s.lock(), { remarks: 'muddy' });
    is('remarks' in (await s.do(wes, 'PUT', '/moorings/' + m.id, { code: m.code, lengthCm: 1500, nightlyPence: 500 })), false, 'what is left out');
  },
  'e-cancel-reason': async (s) => {
    const p = await s.passage(await s.lock(), await s.boat());
    is((await s.call(ada, 'POST', `/passages/${p.id}/cancel`, { reason: '' })).status, 422, 'an empty reason');
    is((await s.call(ada, 'POST', `/passages/${p.id}/cancel`, { reason: 'ill' })).status, 200, 'a short one');
  },
  'e-location': async (s) => {
    const a = await s.call(ada, 'POST', '/boats', { name: 'Heron', registration: 'AB0001', lengthCm: 900 });
    is(a.headers.location, '/waterway/boats/' + a.body.id, 'Location');
  },
  'e-closure-order': async (s) => {
    const lock = await s.lock();
    const one = await s.closure(lock), two = await s.closure(lock, { startsAt: await s.at(5_000_000) });
    is((await s.do(ada, 'GET', '/closures')).items.map((c) => c.id), [two.id, one.id], 'the order');
  },

  'a-keeper-any-reach': async (s) => {
    const p = await s.passage(await s.lock(), await s.boat());
    await s.do(ada, 'POST', `/passages/${p.id}/arrive`);
    is((await s.call(lou, 'POST', `/passages/${p.id}/start`)).status, 404, 'a keeper of another reach');
    is((await s.call(kim, 'POST', `/passages/${p.id}/start`)).status, 200, 'a keeper of this reach');
  },
  'a-closure-same-reach': async (s) => {
    const c = await s.closure(await s.lock(), {}, kim);
    is((await s.call(mia, 'PATCH', '/closures/' + c.id, { title: 'Ours now' })).status, 403, 'another keeper');
    is((await s.call(kim, 'PATCH', '/closures/' + c.id, { title: 'Old gates' })).status, 200, 'the one who made it');
  },
  'a-list-filtered': async (s) => {
    await s.boat();
    is((await s.do(ada, 'GET', '/boats?kind=narrowboat')).total, 1, 'whose it is');
    is((await s.do(ben, 'GET', '/boats?kind=narrowboat')).total, 0, 'somebody else');
  },
  'a-toll-forbidden': async (s) => {
    const p = await s.left(await s.lock(), await s.boat());
    is((await s.call(ben, 'POST', `/tolls/${p.tolls[0].id}/pay`, { method: 'cash' })).status, 404, 'the toll of somebody else');
  },
  'a-key-prefix': async (s) => {
    const key = ada['X-Waterway-Key'];
    is((await s.call({ 'X-Waterway-Key': key.slice(0, -3) + 'xyz' }, 'GET', '/boats')).status, 401, 'a key with another end');
    is((await s.call(ada, 'GET', '/boats')).status, 200, 'the key');
  },
  'a-legacy-header': async (s) => is((await s.call({ 'X-Api-Key': ada['X-Waterway-Key'] }, 'GET', '/boats')).status, 401, 'a key in another header field'),
  'a-bad-as-nobody': async (s) => is((await s.call({ 'X-Waterway-Key': 'wk_wrong' }, 'GET', '/locks')).status, 401, 'a wrong key where anyone may call'),

  'ev-signs-body': async (s) => {
    const lock = await s.lock(), { hook, got } = await s.hook(ada, { topics: ['lock.*'] });
    await s.do(wes, 'POST', `/locks/${lock.id}/shut`);
    is(await until(() => got.length), true, 'it arrives');
    const [, t, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(got[0].headers['waterway-signature']);
    is(mac, createHmac('sha256', hook.secret).update(`${t}.${got[0].text}`).digest('hex'), 'the signature');
  },
  'ev-no-retry-5xx': async (s) => {
    const lock = await s.lock(), { got } = await s.hook(ada, {}, (n) => (n === 1 ? 503 : 200));
    await s.do(wes, 'POST', `/locks/${lock.id}/shut`);
    is(await until(() => got.length), true, 'it arrives');
    await pause(60);
    await s.advance('PT13S');
    is(await until(() => got.length === 2), true, 'it comes again');
    is(got[1].body.eventId, got[0].body.eventId, 'under its identifier');
  },
  'ev-lapse-silent': async (s) => {
    const p = await s.passage(await s.lock(), await s.boat()), { got } = await s.hook(ada, { topics: ['passage.dropped'] });
    await s.advance('PT49H');
    is(await until(() => got.length), true, 'it is told of');
    is(got[0].body.data.passage, p.id, 'of which');
  },
  'ev-regauged-always': async (s) => {
    const lock = await s.lock(), { got } = await s.hook(ada, { topics: ['lock.regauged'] });
    await s.do(wes, 'PATCH', '/locks/' + lock.id, { riseCm: 210 }, { 'If-Match': '*' });
    await s.do(wes, 'PATCH', '/locks/' + lock.id, { maxLengthCm: 2300 }, { 'If-Match': '*' });
    await until(() => got.length >= 1 && got.at(-1).body.data.is === 2300);
    is(got.map((g) => g.body.data), [{ lock: lock.id, was: 2200, is: 2300 }], 'what was told');
  },
  'ev-hidden-note': async (s) => {
    const lock = await s.lock({ keeperNote: 'leaks' }), { got } = await s.hook(ada), keepers = await s.hook(kim);
    await s.do(wes, 'POST', `/locks/${lock.id}/shut`);
    is(await until(() => got.length && keepers.got.length), true, 'it arrives');
    is([got[0].body.data.keeperNote, keepers.got[0].body.data.keeperNote], [undefined, 'leaks'], 'the note, to a skipper and to a keeper');
  },
  'ev-reason-left-out': async (s) => {
    await s.passage(await s.lock(), await s.boat());
    const { got } = await s.hook(ada, { topics: ['passage.dropped'] });
    await s.advance('PT49H');
    is(await until(() => got.length), true, 'it is told of');
    is(got[0].body.data.reason, 'not arrived', 'the reason');
  },

  'er-missing-status': async (s) => {
    const a = await s.call(ada, 'POST', '/boats', { name: 'Heron', lengthCm: 900 });
    is([a.status, a.body.code], [422, 'missingField'], 'no registration');
  },
  'er-media-type': async (s) => is((await s.call(ada, 'GET', '/nothing')).headers['content-type'], 'application/problem+json', 'the media type'),
  'er-lock-shut-code': async (s) => {
    const lock = await s.lock(), p = await s.passage(lock, await s.boat());
    await s.do(ada, 'POST', `/passages/${p.id}/arrive`);
    await s.do(wes, 'POST', `/locks/${lock.id}/shut`);
    is((await s.call(kim, 'POST', `/passages/${p.id}/start`)).body.code, 'lockShut', 'the code');
  },
  'er-boat-length': async (s) => {
    const lock = await s.lock({ maxLengthCm: 1700 });
    await s.passage(lock, await s.boat({ lengthCm: 1700 }));
    const long = await s.boat({ lengthCm: 1701 });
    is((await s.call(ada, 'POST', '/passages', { boat: long.id, lock: lock.id, direction: 'up', plannedAt: await s.at(1e6) })).body.code, 'boatTooLong', 'one longer');
  },
  'er-past-update': async (s) => {
    const p = await s.passage(await s.lock(), await s.boat());
    is((await s.call(ada, 'PATCH', '/passages/' + p.id, { plannedAt: await s.at(-60_000) })).body.code, 'plannedInPast', 'a time that is over');
  },
  'er-weak-match': async (s) => {
    const lock = await s.lock(), { etag } = (await s.call(wes, 'GET', '/locks/' + lock.id)).headers;
    is((await s.call(wes, 'PATCH', '/locks/' + lock.id, { riseCm: 210 }, { 'If-Match': 'W/' + etag })).status, 412, 'a weak tag');
    is((await s.call(wes, 'PATCH', '/locks/' + lock.id, { riseCm: 210 }, { 'If-Match': etag })).status, 200, 'the tag');
  },

  'l-clamps': async (s) => {
    is((await s.call({}, 'GET', '/locks?limit=100')).status, 200, 'limit=100');
    is((await s.call({}, 'GET', '/locks?limit=101')).body.code, 'badPage', 'limit=101');
  },
  'l-default-page': async (s) => {
    const lock = await s.lock();
    for (let i = 0; i < 4; i++) { const boat = await s.boat(); for (let j = 0; j < 3; j++) await s.passage(lock, boat); }
    const page = await s.do(ada, 'GET', '/passages');
    is([page.items.length, page.hasMore, page.total], [10, true, 12], 'the first page');
  },
  'l-body-declared': async (s) => {
    const text = JSON.stringify({ name: 'Heron', registration: 'AB0001', lengthCm: 900 }) + ' '.repeat(17_000);
    is((await s.call(ada, 'POST', '/boats', { name: 'x'.repeat(17_000) })).status, 413, 'with its length');
    is((await raw(s.port, 'POST', '/waterway/boats', { ...ada, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }, text)).status, 413, 'in chunks');
  },
  'l-rows-all-states': async (s) => {
    const lock = await s.lock(), boat = await s.boat(), p = await s.passage(lock, boat);
    await s.passage(lock, boat);
    await s.passage(lock, boat);
    is((await s.call(ada, 'POST', '/passages', { boat: boat.id, lock: lock.id, direction: 'up', plannedAt: await s.at(1e6) })).body.code, 'allowanceUsed', 'a fourth');
    await s.do(ada, 'POST', `/passages/${p.id}/cancel`, { reason: 'engine' });
    await s.passage(lock, boat);
  },
  'l-hook-rows': async (s) => {
    for (let i = 0; i < 8; i++) await s.do(ben, 'POST', '/hooks', { url: 'http://127.0.0.1:9/in' });
    is((await s.call(ben, 'POST', '/hooks', { url: 'http://127.0.0.1:9/in' })).body.code, 'allowanceUsed', 'a ninth');
  },
  'l-closure-shared': async (s) => {
    for (let i = 0; i < 40; i++) is((await s.call(kim, 'POST', '/closures', {})).status, 422, 'one of forty');
    is((await s.call(kim, 'POST', '/closures', {})).status, 429, 'one more');
    is((await s.call(lou, 'POST', '/closures', {})).status, 422, 'another keeper');
  },

  'vn-map-truncates': async (s) => {
    const lock = await s.lock(), m = await s.do(wes, 'POST', `/locks/${lock.id}/moorings`, { code: 'MO-99', lengthCm: 900, nightlyRate: 4.35 }, OLD);
    is(m.nightlyRate, 4.35, 'what was sent');
    is((await s.do(wes, 'GET', '/moorings/' + m.id)).nightlyPence, 435, 'in the newest version');
  },
  'vn-filter-enum': async (s) => {
    const p = await s.passage(await s.lock(), await s.boat());
    const page = await s.call(ada, 'GET', '/passages?direction=ascending', undefined, OLD);
    is([page.status, page.body.items?.[0]?.id, page.body.items?.[0]?.direction], [200, p.id, 'ascending'], 'direction=ascending');
  },
  'vn-waive-everywhere': async (s) => {
    const p = await s.left(await s.lock(), await s.boat());
    is((await s.call(wes, 'POST', `/tolls/${p.tolls[0].id}/waive`, undefined, MIDDLE)).status, 404, 'before it was added');
    is((await s.call(wes, 'POST', `/tolls/${p.tolls[0].id}/waive`)).status, 200, 'since');
  },
  'vn-unknown-current': async (s) => is((await s.call({}, 'GET', '/locks', undefined, { 'Waterway-Version': '2024-01-01' })).body.code, 'unknownVersion', 'a version that there is not'),
  'vn-after-sunset': async (s) => {
    is((await s.call({}, 'GET', '/locks', undefined, OLD)).status, 200, 'before');
    is((await raw(s.clock, 'POST', '/', {}, JSON.stringify({ now: '2027-12-01T00:00:01Z' }))).status, 200, 'the clock moves');
    is((await s.call({}, 'GET', '/locks', undefined, OLD)).body.code, 'versionGone', 'after');
  },
  'vn-refusal-undated': async (s) => {
    const a = await s.call(ada, 'GET', '/boats/none', undefined, OLD);
    is([a.status, a.headers.deprecation, a.headers.sunset], [404, '@1772323200', 'Wed, 01 Dec 2027 00:00:00 GMT'], 'a refusal');
  },
};

async function prove(id, fault) {
  for (let again = 0; ; again++) {
    const service = new Service(fault);
    try {
      await service.ready();
      await PROOFS[id](service);
      return null;
    } catch (error) {
      if (!(error instanceof Failed)) { if (again < 3) continue; throw error; }
      return error.message;
    } finally { await service.stop(); }
  }
}

const chosen = process.argv.slice(2);
let good = 0, bad = 0;
for (const { id } of faults) {
  if (chosen.length && !chosen.includes(id)) continue;
  if (!PROOFS[id]) { console.log(`${id}: no proof`); bad++; continue; }
  const right = await prove(id), faulty = await prove(id, id);
  const fine = right === null && faulty !== null;
  if (fine) good++; else bad++;
  console.log(`${fine ? 'ok  ' : 'FAIL'} ${id}: ${right === null ? 'right passes' : 'right fails: ' + right}; ${faulty === null ? 'faulty passes' : 'faulty fails: ' + faulty}`);
}
console.log(`${good} of ${good + bad} faults proved${bad ? `, ${bad} not` : ''}`);
process.exitCode = bad ? 1 : 0;
