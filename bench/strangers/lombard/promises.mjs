// What a client holds the service to, by hand. `node promises.mjs` asks the correct service; `node promises.mjs --faults [ID ...]` each faulty one,
// of which at least one promise has to be broken.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as listen } from 'node:net';

const [P1, P2, C1, C2, A1, GONE] = ['lk_AmberQ7fT2xWm9LdRv3s', 'lk_BerylK4hY8nZc1PgUj6t', 'lk_CoralM5jV3bXe7SkWn2q', 'lk_DiamdN6kB9cYf4TmXp1r', 'lk_EmeraP8mD5dZg2VnYq7w', 'lk_FluorR3nF6gAh9WpZs4x'];
const eq = assert.deepEqual;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function free() {
  const server = listen().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
const b64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
export function token(claims, { alg = 'HS256', secret = 'lombard-on-the-hill-lends-since-1623' } = {}) {
  const head = `${b64({ alg, typ: 'JWT' })}.${b64({ iss: 'https://id.lombard.example', aud: 'lombard', ...claims })}`;
  return `${head}.${alg === 'none' ? '' : createHmac('sha256', secret).update(head).digest('base64url')}`;
}

class Client {
  names = 0;
  boxes = [];
  static async start(fault) {
    const client = new Client();
    [client.port, client.door] = [await free(), await free()];
    const args = ['service.mjs', '--port', client.port, '--clock-port', client.door, ...(fault ? ['--fault', fault] : [])].map(String);
    client.child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'ignore'] });
    await once(client.child.stdout, 'data');
    return client;
  }
  stop() {
    this.child.kill('SIGKILL');
    for (const { server } of this.boxes) server.closeAllConnections(), server.close();
  }
  raw(port, method, path, headers, body, isChunked) {
    return new Promise((resolve, reject) => {
      const length = body === undefined || isChunked ? {} : { 'Content-Length': Buffer.byteLength(body) };
      const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...headers, ...length }, agent: false }, async (answer) => {
        const parts = [];
        for await (const part of answer) parts.push(part);
        const text = Buffer.concat(parts).toString();
        resolve({ status: answer.statusCode, headers: answer.headers, text, json: text ? JSON.parse(text) : undefined });
      });
      sent.on('error', reject);
      if (isChunked) sent.write(body);
      sent.end(isChunked ? undefined : body);
    });
  }
  call(method, path, { as = P1, json, text, v = 'v2', base = '/api', headers = {}, isChunked } = {}) {
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
    const own = { ...(as && (as.startsWith('ey') ? { Authorization: `Bearer ${as}` } : { 'X-Lombard-Key': as })), ...(body !== undefined && { 'Content-Type': 'application/json' }) };
    return this.raw(this.port, method, `${base}${v ? `/${v}` : ''}${path}`, { ...own, ...headers }, body, isChunked);
  }
  async ok(...asked) {
    const answer = await this.call(...asked);
    assert.ok(answer.status < 300, `${asked[0]} ${asked[1]}: ${answer.status} ${answer.text}`);
    return answer.json;
  }
  /** The status and code of a refusal, whose form is looked at too. */
  async no(...asked) {
    const { status, headers, json } = await this.call(...asked);
    assert.ok(status >= 400, `${asked[0]} ${asked[1]} was let through: ${status}`);
    eq(Object.keys(json).sort(), ['error', 'request_id']);
    eq(Object.keys(json.error).sort(), ['at', 'code', 'message']);
    assert.ok(Array.isArray(json.error.at) && typeof json.error.message === 'string');
    eq(headers['x-error-code'], json.error.code);
    eq(headers['x-request-id'], json.request_id);
    return `${status} ${json.error.code}${json.error.at.length > 0 ? ` ${json.error.at.join(',')}` : ''}`;
  }
  async clock(said) {
    eq((await this.raw(this.door, 'POST', '/', {}, JSON.stringify(said))).status, 200);
  }
  async now() {
    return Date.parse((await this.raw(this.door, 'GET', '/', {})).json.now);
  }
  item(more) {
    this.names += 1;
    return { item: `Thing ${this.names}`, category: 'watch', asking: 5000, ...more };
  }
  pledge(more, how) {
    return this.ok('POST', '/pledges', { json: this.item(more), ...how });
  }
  racks = 0;
  rack(more) {
    this.racks += 1;
    const code = `${String.fromCharCode(65 + Math.floor(this.racks / 100))}-${String(this.racks % 100).padStart(2, '0')}`;
    return this.ok('POST', '/racks', { as: C1, json: { code, label: `Rack ${this.racks}`, ...more } });
  }
  offer(id, loan = 1000) {
    return this.ok('POST', `/pledges/${id}/offer`, { as: C1, json: { loan } });
  }
  async offered(more) {
    const { id } = await this.pledge(more);
    await this.offer(id);
    return id;
  }
  async pawned(more) {
    const id = await this.offered(more);
    const { code } = await this.rack();
    await this.ok('PATCH', `/pledges/${id}`, { as: C1, json: { rack: code } });
    await this.ok('POST', `/pledges/${id}/accept`);
    return id;
  }
  keys = 0;
  pay(id, amount, { key, ...how } = {}) {
    this.keys += 1;
    return ['POST', `/pledges/${id}/payments`, { json: { payment: { amount } }, ...how, headers: { 'Idempotency-Key': key ?? `k${this.keys}`, ...how.headers } }];
  }
  read(id, how) {
    return this.ok('GET', `/pledges/${id}`, how);
  }
  async tag(id, how) {
    return (await this.call('GET', `/pledges/${id}`, how)).headers.etag;
  }
  async box(plan = []) {
    const box = { got: [] };
    box.server = createServer(async (incoming, outgoing) => {
      let text = '';
      for await (const part of incoming) text += part;
      const [status, headers] = [plan.shift() ?? 200].flat();
      box.got.push({ headers: incoming.headers, text, json: JSON.parse(text) });
      outgoing.writeHead(status, headers).end();
    }).listen(0, '127.0.0.1');
    await once(box.server, 'listening');
    box.url = `http://127.0.0.1:${box.server.address().port}/`;
    this.boxes.push(box);
    return box;
  }
  /** A box with a hook that tells it; it is taken away again by `drop`. */
  async heard(more = {}, { plan, ...how } = {}) {
    const box = await this.box(plan);
    box.hook = await this.ok('POST', '/hooks', { json: { url: box.url, ...more }, ...how });
    box.drop = () => this.ok('DELETE', `/hooks/${box.hook.id}`, how);
    return box;
  }
  async got(box, count) {
    for (let times = 0; times < 60 && box.got.length < count; times += 1) await pause(10);
    await pause(60);
    return box.got;
  }
}

const CHECKS = {
  async 'the terms are public and begin with v2'(c) {
    eq(await c.ok('GET', '/terms', { as: '' }), { house: 'Lombard on the Hill', monthly_rate: 2.5, days: 30 });
    eq(await c.no('GET', '/terms', { v: 'v1' }), '404 no_route');
    eq(await c.no('GET', '/terms?x=1', { as: '' }), '400 bad_parameter x');
    eq((await c.call('HEAD', '/terms', { as: '' })).status, 200);
    eq((await c.call('OPTIONS', '/pledges', { as: '' })).headers.allow, 'POST, GET, HEAD, OPTIONS');
  },
  async 'paths, methods and versions'(c) {
    eq(await c.no('GET', '/nothing'), '404 no_route');
    eq(await c.no('GET', '/hooks', { base: '' }), '404 no_route');
    eq(await c.no('GET', '/pledges', { v: 'v3' }), '404 no_version');
    eq(await c.no('GET', '/pledges', { v: '' }), '404 no_version');
    eq(await c.no('PUT', '/pledges', { v: 'v3' }), '405 no_method');
    const { headers } = await c.call('PUT', '/pledges');
    eq(headers.allow, 'POST, GET, HEAD, OPTIONS');
    eq(await c.no('GET', '/pledges', { v: 'V2' }), '404 no_version');
  },
  async 'who calls'(c) {
    eq(await c.no('GET', '/pledges', { as: '' }), '401 no_credential');
    for (const key of [GONE, 'lk_nobody', P1.toLowerCase(), `${P1.slice(0, -3)}abc`]) eq(await c.no('GET', '/pledges', { as: key }), '401 bad_credential');
    const exp = Math.floor((await c.now()) / 1000) + 3600;
    const good = token({ sub: 'p1', role: 'pledger', exp });
    const { id } = await c.pledge();
    eq((await c.read(id, { as: good })).id, id);
    const bad = [
      token({ sub: 'p1', role: 'pledger', exp: exp - 7200 }),
      token({ sub: 'p1', role: 'pledger', aud: 'other' }),
      token({ sub: 'p1', role: 'pledger', iss: 'https://other.example' }),
      token({ sub: 'p1', role: 'king' }),
      token({ sub: 'p1', role: 'pledger', nbf: exp }),
      token({ sub: 'p1', role: 'pledger' }, { alg: 'none' }),
      token({ sub: 'p1', role: 'pledger' }, { secret: 'guess' }),
    ];
    for (const one of bad) eq(await c.no('GET', `/pledges/${id}`, { as: one }), '401 bad_credential');
    eq(await c.no('GET', `/pledges/${id}`, { headers: { Authorization: `Bearer ${bad[0]}` } }), '401 bad_credential');
    eq(await c.no('GET', `/pledges/${id}`, { as: P2, headers: { Authorization: `Bearer ${good}` } }), '401 bad_credential');
    eq((await c.call('GET', `/pledges/${id}`, { headers: { Authorization: `Bearer ${good}` } })).status, 200);
    eq((await c.call('GET', `/racks`, { as: token({ sub: 'c9', role: 'clerk', scope: 'lend', aud: ['x', 'lombard'] }) })).status, 200);
  },
  async 'who may do what'(c) {
    const { id } = await c.pledge();
    for (const [verb, path, json] of [['GET', ''], ['PATCH', '', { asking: 1000 }], ['POST', '/accept'], ['POST', '/redeem'], ['POST', '/withdraw'], ['GET', '/payments']]) eq(await c.no(verb, `/pledges/${id}${path}`, { as: P2, json }), '404 not_found');
    eq(await c.no('POST', `/pledges/${id}/offer`, { json: { loan: 500 } }), '403 forbidden');
    eq(await c.no('POST', `/pledges/${id}/offer`, { as: C2, json: { loan: 500 } }), '403 scope_missing');
    eq(await c.no('POST', `/pledges/${id}/sell`, { as: C2 }), '403 scope_missing');
    eq(await c.no('POST', '/pledges', { as: C1, json: c.item() }), '403 forbidden');
    eq(await c.no('POST', `/pledges/${id}/withdraw`, { as: C1 }), '403 forbidden');
    eq(await c.no('GET', '/pledges', { as: A1 }), '403 forbidden');
    eq(await c.no('GET', '/racks', { as: A1 }), '403 forbidden');
    eq(await c.no('POST', '/racks', { json: { code: 'Z-01', label: 'Mine' } }), '403 forbidden');
    eq(await c.no('GET', `/pledges/${id.toUpperCase()}`), '404 not_found');
    eq(Object.keys(await c.read(id, { as: A1 })).sort(), ['brought_at', 'category', 'id', 'number', 'status']);
    eq((await c.read(id, { as: C1 })).id, id);
    assert.ok(!(await c.ok('GET', '/pledges?limit=30', { as: P2 })).pledges.some((one) => one.id === id));
    assert.ok((await c.ok('GET', '/pledges?limit=30', { as: C2 })).pledges.some((one) => one.id === id));
  },
  async 'a pledge is what was sent'(c) {
    const sent = { item: 'Gold watch', maker: 'É', category: 'watch', weight_g: 120, asking: 250000, insured: true, marks: ['a', 'b'], made_on: '2024-02-29', secret_mark: 'under the lid', remark: 'mine', rack: 'Q-99', status: 'sold', loan: 7, paid: 3, id: 'x', number: 'L-9', owner: 'me', renewals: 2 };
    const { status, headers, json } = await c.call('POST', '/pledges', { json: sent });
    eq(status, 201);
    eq(headers.location, `/api/v2/pledges/${json.id}`);
    assert.match(json.id, /^plg_[0-9a-f]{12}$/);
    assert.match(json.number, /^L-\d{6}$/);
    const { id, number, brought_at, touched_at, ...rest } = json;
    eq(rest, { item: 'Gold watch', maker: 'É', category: 'watch', weight_g: 120, asking: 250000, insured: true, marks: ['a', 'b'], made_on: '2024-02-29', status: 'brought', paid: 0, renewals: 0 });
    assert.match(brought_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    eq(touched_at, brought_at);
    eq(await c.read(id), json);
    const numbers = [];
    for (let n = 0; n < 4; n += 1) {
      const one = await c.pledge({ marks: ['x'] });
      assert.match(one.id, /^plg_[0-9a-f]{12}$/);
      numbers.push(Number(one.number.slice(2)));
      await c.no('POST', '/pledges', { json: { ...c.item(), item: one.item } });
    }
    eq(numbers, numbers.map((_, at) => numbers[0] + at));
    eq((await c.ok('GET', '/pledges?limit=1')).pledges[0].owner, undefined);
  },
  async 'what does not fit is refused'(c) {
    const cases = [
      [{ item: 'ab' }, 'item'], [{ item: 'x'.repeat(61) }, 'item'], [{ item: 3 }, 'item'], [{ maker: '' }, 'maker'], [{ maker: 'x'.repeat(41) }, 'maker'], [{ category: 'gem' }, 'category'],
      [{ weight_g: 0 }, 'weight_g'], [{ weight_g: 50001 }, 'weight_g'], [{ weight_g: 1.5 }, 'weight_g'], [{ asking: 99 }, 'asking'], [{ asking: 5000001 }, 'asking'], [{ asking: '500' }, 'asking'], [{ asking: 500.5 }, 'asking'],
      [{ insured: 'true' }, 'insured'], [{ insured: null }, 'insured'], [{ marks: ['1', '2', '3', '4', '5'] }, 'marks'], [{ marks: ['ok', ''] }, 'marks.1'], [{ marks: 'no' }, 'marks'], [{ made_on: '2025-02-29' }, 'made_on'], [{ made_on: '2025-02-30' }, 'made_on'], [{ made_on: 5 }, 'made_on'],
      [{ secret_mark: 'x'.repeat(41) }, 'secret_mark'], [{ maker: null }, 'maker'], [{ category: 'jewel', weight_g: 5001 }, 'weight_g'], [{ item: undefined }, 'item'], [{ asking: undefined }, 'asking'],
    ];
    for (const [more, at] of cases) eq(await c.no('POST', '/pledges', { json: c.item(more) }), `422 invalid ${at}`);
    eq(await c.no('POST', '/pledges', { json: c.item({ colour: 'red' }) }), '400 unknown_field colour');
    eq(await c.no('POST', '/pledges', { json: { maker: 3, colour: 1, ...c.item() } }), '422 invalid maker,colour');
    eq(await c.no('POST', '/pledges', { json: [] }), '422 invalid ');
    for (const more of [{ item: '🎻'.repeat(60) }, { item: 'abc' }, { asking: 100 }, { asking: 5000000 }, { weight_g: 50000 }, { category: 'jewel', weight_g: 5000 }, { marks: ['a', 'b', 'c', 'd'] }, { marks: [] }, { maker: 'x' }]) await c.pledge(more);
    const { id } = await c.pledge({ category: 'jewel', made_on: '2020-01-01', maker: 'Omega', marks: ['m'], secret_mark: 's' });
    const patch = (json, how) => c.no('PATCH', `/pledges/${id}`, { json, ...how });
    eq(await patch({ asking: null }), '422 invalid asking');
    eq(await patch({ weight_g: 6000 }), '422 invalid weight_g');
    eq(await patch({ made_on: '2020-01-02' }), '422 invalid made_on');
    eq(await patch({ made_on: null }), '422 invalid made_on');
    eq(await patch({ colour: 1 }), '400 unknown_field colour');
    eq(await patch({ rack: 'nowhere' }, { as: C1 }), '422 unknown_ref rack');
    const after = await c.ok('PATCH', `/pledges/${id}`, { json: { maker: null, made_on: '2020-01-01', item: 'Renamed thing', rack: 'nowhere', remark: 'no' } });
    eq([after.maker, after.made_on, after.item, after.marks, after.rack, after.secret_mark], [undefined, '2020-01-01', 'Renamed thing', ['m'], undefined, undefined]);
    const byClerk = await c.ok('PATCH', `/pledges/${id}`, { as: C1, json: { remark: 'dented' }, headers: { 'Content-Type': 'application/merge-patch+json' } });
    eq(byClerk.remark, 'dented');
    eq((await c.read(id)).remark, undefined);
    assert.ok((await c.ok('GET', '/pledges?limit=30')).pledges.every((one) => !('remark' in one) && !('owner' in one)));
  },
  async 'updates touch, and only if they change'(c) {
    const one = await c.pledge();
    await c.clock({ advance: 'PT5S' });
    const same = await c.ok('PATCH', `/pledges/${one.id}`, { json: { asking: one.asking } });
    eq(same.touched_at, one.touched_at);
    const other = await c.ok('PATCH', `/pledges/${one.id}`, { json: { asking: 4321 } });
    assert.ok(other.touched_at > one.touched_at);
    eq(other.asking, 4321);
  },
  async 'items are unique while they are here'(c) {
    const one = await c.pledge();
    eq(await c.no('POST', '/pledges', { json: c.item({ item: one.item }) }), '409 duplicate item');
    const other = await c.pledge();
    eq(await c.no('PATCH', `/pledges/${other.id}`, { json: { item: one.item } }), '409 duplicate item');
    await c.pledge({ item: one.item }, { as: P2 });
    await c.ok('POST', `/pledges/${one.id}/withdraw`);
    await c.pledge({ item: one.item });
    const json = c.item();
    const both = await Promise.all([c.call('POST', '/pledges', { json }), c.call('POST', '/pledges', { json })]);
    eq(both.map(({ status }) => status).sort(), [201, 409]);
  },
  async 'entity tags'(c) {
    const id = await c.pawned();
    const tag = await c.tag(id);
    assert.match(tag, /^"[^"]+"$/);
    eq((await c.call('GET', `/pledges/${id}`, { headers: { 'If-None-Match': tag } })).status, 304);
    await c.ok(...c.pay(id, 10));
    const next = await c.tag(id);
    assert.notEqual(next, tag);
    eq(await c.no('PATCH', `/pledges/${id}`, { json: { asking: 700 }, headers: { 'If-Match': tag } }), '412 etag_mismatch');
    eq(await c.no('PATCH', `/pledges/${id}`, { json: { asking: 700 }, headers: { 'If-Match': `W/${next}` } }), '412 etag_mismatch');
    await c.ok('PATCH', `/pledges/${id}`, { json: { asking: 700 }, headers: { 'If-Match': next } });
    await c.ok('PATCH', `/pledges/${id}`, { json: { asking: 701 }, headers: { 'If-Match': '*' } });
    assert.notEqual(await c.tag(id), await c.tag(id, { v: 'v1' }));
  },
  async 'deletions'(c) {
    const { id } = await c.pledge();
    const box = await c.heard({ events: ['pledge.erased'] });
    eq(await c.no('DELETE', `/pledges/${id}`), '403 forbidden');
    eq(await c.no('DELETE', `/pledges/${id}`, { as: C2 }), '428 etag_required');
    eq(await c.no('DELETE', `/pledges/${id}`, { as: C2, headers: { 'If-Match': '"no"' } }), '412 etag_mismatch');
    eq(await c.no('DELETE', `/pledges/${id}`, { as: C2, headers: { 'If-Match': await c.tag(id, { as: C2 }) } }), '409 wrong_status');
    const { number } = await c.ok('POST', `/pledges/${id}/withdraw`);
    eq((await c.call('DELETE', `/pledges/${id}`, { as: C2, headers: { 'If-Match': await c.tag(id, { as: C2 }) } })).status, 204);
    eq(await c.no('GET', `/pledges/${id}`), '404 not_found');
    eq((await c.got(box, 1)).map(({ json }) => json.payload), [{ pledge: id, number }]);
    await box.drop();
    const paid = await c.pawned();
    const { id: payment } = await c.ok(...c.pay(paid, 1000));
    await c.ok('POST', `/pledges/${paid}/redeem`);
    eq((await c.call('DELETE', `/pledges/${paid}`, { as: C2, headers: { 'If-Match': '*' } })).status, 204);
    eq(await c.no('GET', `/payments/${payment}`, { as: C1 }), '404 not_found');
  },
  async 'from the counter to the door'(c) {
    const { id } = await c.pledge();
    const go = (verb, how) => c.no('POST', `/pledges/${id}/${verb}`, how);
    for (const verb of ['accept', 'renew', 'redeem']) eq(await go(verb), '409 wrong_status');
    eq(await go('sell', { as: C1 }), '409 wrong_status');
    for (const [json, told] of [[{ loan: 99 }, '422 invalid loan'], [{ loan: 4000001 }, '422 invalid loan'], [{}, '422 invalid loan'], [{ loan: 500, x: 1 }, '400 unknown_field x'], [[], '422 invalid ']]) eq(await go('offer', { as: C1, json }), told);
    const offered = await c.offer(id, 1234);
    eq([offered.status, offered.loan, offered.due_at], ['offered', 1234, undefined]);
    eq(await go('offer', { as: C1, json: { loan: 500 } }), '409 wrong_status');
    eq(await go('accept'), '409 no_rack');
    eq((await c.read(id)).status, 'offered');
    const { code } = await c.rack();
    await c.ok('PATCH', `/pledges/${id}`, { as: C2, json: { rack: code } });
    eq((await c.ok('GET', `/racks/${code}`)).stored, 0);
    const pawned = await c.ok('POST', `/pledges/${id}/accept`);
    eq([pawned.status, pawned.rack, Date.parse(pawned.due_at) - Date.parse(pawned.touched_at)], ['pawned', code, 30 * 86_400_000]);
    eq((await c.ok('GET', `/racks/${code}`)).stored, 1);
    eq(await c.no('DELETE', `/racks/${code}`, { as: C1 }), '409 rack_in_use');
    for (const [verb, told] of [['accept', '409 wrong_status'], ['withdraw', '410 too_late'], ['redeem', '402 unpaid']]) eq(await go(verb), told);
    eq(await go('sell', { as: C1 }), '409 wrong_status');
    eq(await go('redeem', { as: P2 }), '404 not_found');
    await c.ok(...c.pay(id, 1233));
    eq(await go('redeem'), '402 unpaid');
    await c.ok(...c.pay(id, 1));
    const redeemed = await c.ok('POST', `/pledges/${id}/redeem`);
    eq([redeemed.status, redeemed.paid], ['redeemed', 1234]);
    eq(await go('redeem'), '409 wrong_status');
    eq(await go('redeem', { as: P2 }), '404 not_found');
    eq(await c.no('PATCH', `/pledges/${id}`, { json: { asking: 700 } }), '409 wrong_status');
    eq(await c.no('DELETE', `/racks/${code}`, { as: C1 }), '409 rack_in_use');
    const done = await c.pledge();
    await c.ok('POST', `/pledges/${done.id}/withdraw`);
    eq(await c.no('POST', `/pledges/${done.id}/withdraw`), '410 too_late');
    const other = await c.pawned();
    await c.ok(...c.pay(other, 1000));
    eq(await c.no('POST', `/pledges/${other}/redeem`, { as: P2 }), '404 not_found');
    eq((await c.ok('POST', `/pledges/${other}/redeem`, { as: C2 })).status, 'redeemed');
  },
  async 'terms end by the clock'(c) {
    const lapsing = await c.offered();
    await c.ok('PATCH', `/pledges/${lapsing}`, { json: { asking: 900 } });
    await c.clock({ advance: 'P6DT23H' });
    const { touched_at } = await c.ok('PATCH', `/pledges/${lapsing}`, { json: { asking: 901 } });
    eq((await c.read(lapsing)).status, 'offered');
    const box = await c.heard({ events: ['pledge.moved'] });
    await c.clock({ advance: 'PT2H' });
    const gone = await c.read(lapsing);
    eq(gone.status, 'withdrawn');
    assert.ok(gone.touched_at > touched_at);
    eq((await c.got(box, 1)).map(({ json }) => json.payload).filter(({ pledge }) => pledge === lapsing), [{ pledge: lapsing, from: 'offered', to: 'withdrawn' }]);
    const pawned = await c.pawned();
    await c.clock({ advance: 'P29D' });
    eq((await c.read(pawned)).status, 'pawned');
    const renewed = await c.ok('POST', `/pledges/${pawned}/renew`);
    eq([renewed.status, renewed.renewals, Date.parse(renewed.due_at) - Date.parse(renewed.touched_at)], ['pawned', 1, 30 * 86_400_000]);
    await c.clock({ advance: 'P29D' });
    eq((await c.read(pawned)).status, 'pawned');
    await c.ok('POST', `/pledges/${pawned}/renew`, { as: C2 });
    await c.ok('POST', `/pledges/${pawned}/renew`);
    eq(await c.no('POST', `/pledges/${pawned}/renew`), '409 renewed_enough');
    await c.clock({ advance: 'P20D' });
    await c.ok('PATCH', `/pledges/${pawned}`, { json: { asking: 999 } });
    await c.clock({ advance: 'P10DT1M' });
    const lost = await c.read(pawned);
    eq(lost.status, 'forfeited');
    eq(await c.no('PATCH', `/pledges/${pawned}`, { json: { asking: 700 } }), '409 wrong_status');
    eq(await c.no(...c.pay(pawned, 10)), '409 not_pawned');
    eq(await c.no('DELETE', `/pledges/${pawned}`, { as: C2, headers: { 'If-Match': '*' } }), '409 wrong_status');
    eq((await c.ok('POST', `/pledges/${pawned}/sell`, { as: C1 })).status, 'sold');
    const moves = (await c.got(box, 8)).filter(({ json }) => [lapsing, pawned].includes(json.payload.pledge)).map(({ json }) => `${json.payload.from} ${json.payload.to}`);
    eq(moves, ['offered withdrawn', 'brought offered', 'offered pawned', 'pawned pawned', 'pawned pawned', 'pawned pawned', 'pawned forfeited', 'forfeited sold']);
    await box.drop();
  },
  async 'payments'(c) {
    const id = await c.pawned();
    const { status, headers, json } = await c.call(...c.pay(id, 400, { json: { payment: { amount: 400, method: 'card', reference: 'r1' } } }));
    eq(status, 201);
    eq(headers.location, `/api/v2/payments/${json.id}`);
    eq({ ...json, id: 0, taken_at: 0 }, { id: 0, pledge: id, amount: 400, method: 'card', reference: 'r1', status: 'booked', taken_by: 'p1', taken_at: 0 });
    eq(await c.ok('GET', `/payments/${json.id}`), json);
    eq(await c.no('GET', `/payments/${json.id}`, { as: P2 }), '404 not_found');
    const second = await c.ok(...c.pay(id, 100, { as: C1 }));
    eq([second.taken_by, second.method], ['c1', 'cash']);
    eq((await c.ok('GET', `/pledges/${id}/payments`)).map(({ amount }) => amount), [400, 100]);
    eq(await c.no('GET', `/pledges/${id}/payments?x=1`), '400 bad_parameter x');
    eq(await c.no('GET', `/pledges/${id}/payments`, { as: P2 }), '404 not_found');
    eq(await c.no(...c.pay(id, 100, { as: P2 })), '404 not_found');
    eq((await c.read(id)).paid, 500);
    for (const [payment, told] of [[{ amount: 0 }, '422 invalid payment.amount'], [{}, '422 invalid payment.amount'], [{ amount: 1, method: 'gold' }, '422 invalid payment.method'], [{ amount: 1, x: 1 }, '400 unknown_field payment.x'], [{ amount: 1, pledge: 'plg_000000000000' }, '422 invalid payment.pledge'], [{ amount: 1001 }, '422 too_much'], [3, '422 invalid payment']]) eq(await c.no(...c.pay(id, 1, { json: { payment } })), told);
    eq(await c.no(...c.pay(id, 1, { json: { amount: 1 } })), '422 invalid payment');
    eq(await c.no('POST', `/pledges/${id}/payments`, { json: { payment: { amount: 1 } } }), '400 bad_parameter Idempotency-Key');
    const { id: fresh } = await c.pledge();
    eq(await c.no(...c.pay(fresh, 1)), '409 not_pawned');
    eq(await c.no('POST', `/payments/${second.id}/void`), '403 forbidden');
    eq(await c.no('POST', `/payments/${second.id}/void`, { as: C2 }), '403 forbidden');
    const box = await c.heard({ events: ['payment.*'] });
    eq((await c.ok('POST', `/payments/${second.id}/void`, { as: C1 })).status, 'voided');
    eq(await c.no('POST', `/payments/${second.id}/void`, { as: C1 }), '409 wrong_status');
    eq((await c.read(id)).paid, 400);
    const [told] = await c.got(box, 1);
    eq([told.json.topic, told.json.payload.status, told.json.payload.id], ['payment.voided', 'voided', second.id]);
    await box.drop();
  },
  async 'a key makes once'(c) {
    const json = c.item();
    const make = (how) => c.call('POST', '/pledges', { json, ...how, headers: { 'Idempotency-Key': 'once' } });
    const first = await make();
    const again = await make();
    eq([first.status, again.status, again.json], [201, 201, first.json]);
    eq(await c.no('POST', '/pledges', { json: c.item(), headers: { 'Idempotency-Key': 'once' } }), '422 key_reused');
    eq(await c.no('POST', '/pledges', { json, v: 'v1', headers: { 'Idempotency-Key': 'once' } }), '422 key_reused');
    assert.notEqual((await make({ as: P2 })).json.id, first.json.id);
    const raced = c.item();
    const both = await Promise.all([0, 1].map(() => c.call('POST', '/pledges', { json: raced, headers: { 'Idempotency-Key': 'raced' } })));
    eq(both[0].json.id ?? both[0].json.error.code, both[1].json.id ?? both[1].json.error.code);
    await c.clock({ advance: 'PT23H' });
    eq((await make()).json.id, first.json.id);
    await c.clock({ advance: 'PT2H' });
    eq((await make()).status, 409);
    const { id } = await c.pledge();
    eq(await c.no(...c.pay(id, 5, { key: 'own' })), '409 not_pawned');
    await c.offer(id);
    const { code } = await c.rack();
    await c.ok('PATCH', `/pledges/${id}`, { as: C1, json: { rack: code } });
    await c.ok('POST', `/pledges/${id}/accept`);
    eq(await c.no(...c.pay(id, 5, { key: 'own' })), '409 not_pawned');
  },
  async 'lists choose, sort and page'(c) {
    await c.clock({ advance: 'P7D' });
    const since = new Date(await c.now()).toISOString();
    const made = [];
    for (const [item, maker, category, asking, insured] of [['Violin old', 'Storioni', 'instrument', 300, true], ['Flute', 'Haynes', 'instrument', 100, false], ['Saw', 'Violinmaker', 'tool', 900, false], ['Ring', undefined, 'jewel', 500, true], ['Clock', 'Haynes', 'watch', 300, false], ['adze', 'Old Forge', 'tool', 200, true], ['Bow', undefined, 'instrument', 301, true]]) {
      made.push(await c.pledge({ item, maker, category, asking, insured }));
      await c.clock({ advance: 'PT1S' });
    }
    const find = async (query, how) => (await c.ok('GET', `/pledges?since=${since}&limit=30${query}`, how)).pledges.map(({ item }) => item);
    eq(await find(''), ['Bow', 'adze', 'Clock', 'Ring', 'Saw', 'Flute', 'Violin old']);
    eq(await find('&way=desc'), ['Violin old', 'Flute', 'Saw', 'Ring', 'Clock', 'adze', 'Bow']);
    eq(await find('&way=asc'), ['Bow', 'adze', 'Clock', 'Ring', 'Saw', 'Flute', 'Violin old']);
    eq(await find('&sort=asking'), ['Flute', 'adze', 'Violin old', 'Clock', 'Bow', 'Ring', 'Saw']);
    eq(await find('&sort=-asking'), ['Saw', 'Ring', 'Bow', 'Violin old', 'Clock', 'adze', 'Flute']);
    eq(await find('&sort=item'), ['Bow', 'Clock', 'Flute', 'Ring', 'Saw', 'Violin old', 'adze']);
    eq(await find('&sort=item&way=desc'), ['adze', 'Violin old', 'Saw', 'Ring', 'Flute', 'Clock', 'Bow']);
    eq(await find('&category=tool,jewel'), ['adze', 'Ring', 'Saw']);
    eq(await find('&insured=false'), ['Clock', 'Saw', 'Flute']);
    eq(await find('&min_asking=301'), ['Bow', 'Ring', 'Saw']);
    eq(await find('&status=brought&q=hay'), ['Clock', 'Flute']);
    eq(await find('&status=sold'), []);
    eq(await find('&q=OLD'), ['adze', 'Violin old']);
    eq(await find('&q=old%20vio'), ['Violin old']);
    eq(await find(`&number=${made[3].number}`), ['Ring']);
    eq(await find(`&number=${made[3].number}`, { as: P2 }), []);
    eq(await find(`&number=${made[3].number}`, { as: C2 }), ['Ring']);
    for (const [query, told] of [['insured=yes', 'bad_parameter insured'], ['category=gem', 'bad_parameter category'], ['category=tool,', 'bad_parameter category'], ['status=lost', 'bad_parameter status'], ['min_asking=99', 'bad_parameter min_asking'], ['min_asking=x', 'bad_parameter min_asking'], ['since=2026-13-01T00:00:00Z', 'bad_parameter since'], ['q=', 'bad_parameter q'], ['sort=number', 'bad_parameter sort'], ['way=up', 'bad_parameter way'], ['colour=red', 'bad_parameter colour'], ['status=sold&status=sold', 'bad_parameter status'], ['limit=31', 'bad_page limit'], ['limit=0', 'bad_page limit'], ['limit=x', 'bad_page limit'], ['offset=-1', 'bad_page offset']]) eq(await c.no('GET', `/pledges?${query}`), `400 ${told}`);
    const page = async (path) => {
      const answer = await c.raw(c.port, 'GET', path, { 'X-Lombard-Key': P1 });
      const links = Object.fromEntries([...(answer.headers.link ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, where, rel]) => [rel, where]));
      return { items: answer.json.pledges.map(({ item }) => item), total: answer.json.total, links };
    };
    const one = await page(`/api/v2/pledges?since=${since}&sort=item&limit=3`);
    eq([one.items, one.total, Object.keys(one.links).sort()], [['Bow', 'Clock', 'Flute'], 7, ['first', 'next']]);
    const two = await page(one.links.next);
    eq([two.items, two.total, Object.keys(two.links).sort()], [['Ring', 'Saw', 'Violin old'], 7, ['first', 'next', 'prev']]);
    const three = await page(two.links.next);
    eq([three.items, three.total, Object.keys(three.links).sort()], [['adze'], 7, ['first', 'prev']]);
    eq((await page(three.links.prev)).items, two.items);
    eq((await page(two.links.first)).items, one.items);
    eq((await page(`/api/v2/pledges?since=${since}&limit=7`)).links.next, undefined);
    eq((await page(`/api/v2/pledges?since=${since}`)).items.length, 5);
    eq((await page(`/api/v2/pledges?since=${since}&offset=99`)).items, []);
  },
  async 'racks are listed by code'(c) {
    for (let n = 0; n < 3; n += 1) await c.rack({ locked: n === 1 });
    const first = await c.ok('GET', '/racks');
    const codes = [];
    for (let after = ''; ; ) {
      const { racks, more } = await c.ok('GET', `/racks?count=3${after && `&after=${after}`}`);
      codes.push(...racks.map(({ code }) => code));
      if (!more) break;
      after = codes.at(-1);
    }
    eq(codes, codes.toSorted());
    eq(new Set(codes).size, codes.length);
    const all = codes.length;
    eq(first.racks.map(({ code }) => code), codes.slice(0, 4));
    const back = await c.ok('GET', `/racks?count=2&before=${codes[3]}`);
    eq([back.racks.map(({ code }) => code), back.more], [codes.slice(1, 3), true]);
    eq((await c.ok('GET', `/racks?count=3&before=${codes[3]}`)).more, false);
    while (c.racks < 22) await c.rack();
    eq((await c.ok('GET', '/racks?count=99')).racks.length, 20);
    eq((await c.ok('GET', `/racks?count=${Math.min(all, 20)}`)).racks.length, Math.min(all, 20));
    const { racks } = await c.ok('GET', '/racks?locked=true&count=20');
    assert.ok(racks.length > 0 && racks.every(({ locked }) => locked));
    const last = await c.ok('GET', `/racks?locked=true&count=${racks.length}`);
    eq(last.more, false);
    for (const query of ['count=0', 'count=x', 'after=Z-99', 'before=nothing']) eq(await c.no('GET', `/racks?${query}`), `400 bad_page ${query.split('=')[0]}`);
    eq(await c.no('GET', '/racks?locked=1'), '400 bad_parameter locked');
  },
  async 'racks'(c) {
    const rack = await c.rack({ note: 'by the door', label: 'Élan' });
    eq(rack, { code: rack.code, label: 'Élan', locked: false, note: 'by the door', stored: 0 });
    const post = (json) => c.no('POST', '/racks', { as: C1, json });
    eq(await post({ code: rack.code, label: 'Other' }), '409 duplicate code');
    eq(await post({ code: 'Z-50', label: 'éLAN' }), '409 duplicate label');
    eq(await post({ code: 'z-50', label: 'Other' }), '422 invalid code');
    eq(await post({ code: 'Z-500', label: 'Other' }), '422 invalid code');
    eq(await post({ label: 'Other' }), '422 invalid code');
    eq(await post({ code: 'Z-50', label: 'O' }), '422 invalid label');
    eq(await post({ code: 'Z-50', label: 'Other', note: 'x'.repeat(81) }), '422 invalid note');
    const put = (json, how) => c.call('PUT', `/racks/${rack.code}`, { as: C1, json, ...how });
    const box = await c.heard({ events: ['rack.changed'] });
    eq((await put({ label: 'Élan', note: 'by the door' })).json, rack);
    eq((await put({ label: 'New', locked: true })).json, { code: rack.code, label: 'New', locked: true, stored: 0 });
    eq((await put({ label: 'New', code: 'Z-51' })).json.error.at, ['code']);
    eq((await put({ label: 'New' })).json.locked, false);
    eq((await c.got(box, 2)).map(({ json }) => json.payload.locked), [true, false]);
    await box.drop();
    eq(await c.no('PUT', '/racks/Z-52', { as: C1, json: { label: 'None' } }), '404 not_found');
    const { id } = await c.pledge();
    await put({ label: 'New', locked: true });
    eq(await c.no('PATCH', `/pledges/${id}`, { as: C1, json: { rack: rack.code } }), '409 rack_locked');
    eq((await c.call('DELETE', `/racks/${rack.code}`, { as: C2 })).status, 204);
    eq(await c.no('GET', `/racks/${rack.code}`), '404 not_found');
  },
  async 'hooks belong to their keeper'(c) {
    const { status, headers, json } = await c.call('POST', '/hooks', { json: { url: 'http://127.0.0.1:9/x' } });
    eq([status, headers.location], [201, `/api/v2/hooks/${json.id}`]);
    assert.match(json.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    eq(json, { id: json.id, url: 'http://127.0.0.1:9/x', secret: json.secret, active: true });
    const { secret: _, ...rest } = json;
    eq(await c.ok('GET', `/hooks/${json.id}`), rest);
    eq(await c.ok('GET', '/hooks'), [rest]);
    for (const as of [P2, C1]) eq(await c.no('GET', `/hooks/${json.id}`, { as }), '404 not_found');
    eq(await c.ok('GET', '/hooks', { as: P2 }), []);
    eq(await c.no('DELETE', `/hooks/${json.id}`, { as: P2 }), '404 not_found');
    eq(await c.no('PATCH', `/hooks/${json.id}`, { as: P2, json: { active: false } }), '404 not_found');
    eq(await c.ok('PATCH', `/hooks/${json.id}`, { json: { active: false, url: 'http://127.0.0.1:9/y', events: ['*', 'rack.*'] } }), { ...rest, url: 'http://127.0.0.1:9/y', events: ['*', 'rack.*'], active: false });
    for (const [body, at] of [[{ url: 'nothing' }, 'url'], [{ url: 'http://x', events: ['no.such'] }, 'events.0'], [{ active: true }, 'url']]) eq(await c.no('POST', '/hooks', { json: body }), `422 invalid ${at}`);
    const ids = [json.id];
    for (let n = 0; n < 4; n += 1) ids.push((await c.ok('POST', '/hooks', { json: { url: 'http://127.0.0.1:9/x', active: false } })).id);
    const other = await c.ok('POST', '/hooks', { as: P2, json: { url: 'http://127.0.0.1:9/x' } });
    eq(await c.no('POST', '/hooks', { json: { url: 'http://127.0.0.1:9/x' } }), '429 quota_used');
    for (const id of ids) eq((await c.call('DELETE', `/hooks/${id}`)).status, 204);
    await c.ok('DELETE', `/hooks/${other.id}`, { as: P2 });
    eq(await c.no('GET', '/hooks/01'), '404 not_found');
  },
  async 'news are signed and told to those who may read'(c) {
    const all = await c.heard();
    const stars = await c.heard({ events: ['pledge.*'] });
    const off = await c.heard({ active: false });
    const foreign = await c.heard({}, { as: P2 });
    const clerk = await c.heard({}, { as: C2 });
    const one = await c.pledge({ item: 'Žlutý kůň', secret_mark: 'shh' });
    await c.ok('PATCH', `/pledges/${one.id}`, { as: C2, json: { remark: 'seen', asking: 5000 } });
    await c.ok('PATCH', `/pledges/${one.id}`, { json: { asking: 6000 } });
    await c.offer(one.id, 800);
    const { code } = await c.rack();
    await c.ok('PATCH', `/pledges/${one.id}`, { as: C1, json: { rack: code } });
    await c.ok('POST', `/pledges/${one.id}/accept`);
    await c.ok(...c.pay(one.id, 800));
    await c.ok('POST', `/pledges/${one.id}/redeem`);
    const got = await c.got(all, 7);
    const pledges = got.filter(({ json }) => json.topic.startsWith('pledge.'));
    eq(pledges.map(({ json }) => json.topic), ['pledge.brought', 'pledge.repriced', 'pledge.moved', 'pledge.moved', 'pledge.moved']);
    eq(got.map(({ json }) => json.topic).sort(), ['payment.booked', 'pledge.brought', 'pledge.moved', 'pledge.moved', 'pledge.moved', 'pledge.repriced', 'rack.changed']);
    eq(pledges[0].json.payload, one);
    eq(pledges[1].json.payload, { pledge: one.id, was: 5000, is: 6000 });
    eq(pledges.slice(2).map(({ json }) => json.payload), [['brought', 'offered'], ['offered', 'pawned'], ['pawned', 'redeemed']].map(([from, to]) => ({ pledge: one.id, from, to })));
    for (const { headers, text, json } of got) {
      eq(Object.keys(json), ['event', 'topic', 'happened', 'payload']);
      eq([headers['webhook-id'], headers['x-lombard-topic']], [json.event, json.topic]);
      assert.ok(Math.abs(Number(headers['webhook-timestamp']) - (await c.now()) / 1000) < 30);
      const mac = createHmac('sha256', Buffer.from(all.hook.secret.slice(6), 'base64')).update(`${json.event}.${headers['webhook-timestamp']}.${text}`).digest('base64');
      eq(headers['webhook-signature'], `v1,${mac}`);
    }
    eq((await c.got(stars, 5)).length, 5);
    eq((await c.got(off, 0)).length, 0);
    eq((await c.got(foreign, 1)).map(({ json }) => json.topic), ['rack.changed']);
    eq((await c.got(clerk, 7)).length, 7);
    await c.ok('PUT', `/racks/${code}`, { as: C1, json: { label: `Rack ${c.racks}`, note: 'n' } });
    const other = await c.pledge({}, { as: P2 });
    await c.offer(other.id);
    eq((await c.got(foreign, 4)).length, 4);
    eq((await c.got(all, 8)).length, 8);
    for (const box of [all, stars, off, foreign, clerk]) await box.drop();
  },
  async 'news are tried again, in order'(c) {
    const box = await c.heard({ events: ['pledge.*'] }, { plan: [500, 302, 500, 500] });
    const one = await c.pledge();
    await c.got(box, 1);
    await c.ok('PATCH', `/pledges/${one.id}`, { json: { asking: 777 } });
    eq((await c.got(box, 1)).length, 1);
    const two = await c.pledge();
    eq((await c.got(box, 2)).map(({ json }) => json.payload.id), [one.id, two.id]);
    await c.clock({ advance: 'PT61S' });
    await c.got(box, 4);
    await c.clock({ advance: 'PT10M' });
    await c.got(box, 6);
    await c.clock({ advance: 'PT1H' });
    const got = await c.got(box, 7);
    eq(got.length, 7);
    const ofOne = got.filter(({ json }) => json.payload.id === one.id || json.payload.pledge === one.id);
    eq(ofOne.at(-1).json.topic, 'pledge.repriced');
    eq(new Set(ofOne.slice(0, -1).map(({ headers }) => headers['webhook-id'])).size, 1);
    eq(new Set(ofOne.slice(0, -1).map(({ json }) => json.event)).size, 1);
    await box.drop();
    const never = await c.heard({}, { plan: Array(9).fill(500) });
    await c.pledge();
    await c.clock({ advance: 'P1D' });
    eq((await c.got(never, 4)).length, 4);
    await never.drop();
  },
  async 'bodies and types'(c) {
    const post = (how) => c.no('POST', '/pledges', how);
    eq(await post({ text: '{' }), '400 bad_json');
    eq(await post({ text: Buffer.from([123, 34, 0xff, 34, 58, 49, 125]) }), '400 bad_json');
    eq(await post({}), '400 bad_json');
    eq(await post({ json: c.item(), headers: { 'Content-Type': 'text/plain' } }), '415 bad_type');
    eq(await post({ json: c.item(), headers: { 'Content-Type': 'application/merge-patch+json' } }), '415 bad_type');
    eq(await post({ json: c.item(), headers: { Accept: 'text/html' } }), '406 not_acceptable');
    eq(await post({ text: `"${'x'.repeat(16_500)}"` }), '413 too_large');
    eq(await post({ text: `"${'x'.repeat(17_500)}"`, isChunked: true, headers: { 'Transfer-Encoding': 'chunked' } }), '413 too_large');
    eq(await post({ text: `"${'x'.repeat(16_382)}"` }), '422 invalid ');
    const { id } = await c.pledge();
    eq(await c.no('PATCH', `/pledges/${id}`, { text: '{"a":' }), '400 bad_json');
    eq(await c.no('GET', `/pledges/${id}?x=${'x'.repeat(2100)}`), '413 too_large');
    eq(await c.no('GET', `/pledges/${id}`, { headers: { 'X-Long': 'x'.repeat(17_000) } }), '413 too_large');
    eq(await c.no('GET', `/pledges/${id.toUpperCase().replace('PLG', 'plg')}`), '404 not_found');
  },
  async 'rates'(c) {
    const id = await c.pawned();
    await c.clock({ advance: 'PT2M' });
    const answer = await c.call('GET', '/hooks');
    eq([answer.headers['x-ratelimit-limit'], answer.headers['x-ratelimit-remaining'], answer.headers['x-ratelimit-reset']], ['900', '899', '60']);
    const asked = [];
    for (let n = 0; n < 30; n += 1) asked.push(await c.call(...c.pay(id, 1)));
    eq([asked[0].headers['x-ratelimit-limit'], asked[0].headers['x-ratelimit-remaining'], asked[0].headers['x-ratelimit-reset']], ['30', '29', '2']);
    assert.ok(asked.every(({ status }) => status === 201));
    let more = [];
    for (let n = 0; n < 3; n += 1) more.push(await c.call(...c.pay(id, 1)));
    assert.ok(more.some(({ status }) => status === 429));
    const refused = more.find(({ status }) => status === 429);
    eq([refused.json.error.code, refused.headers['retry-after'], refused.headers['x-ratelimit-remaining']], ['slow_down', '2', '0']);
    const { id: other } = await c.pledge({}, { as: P2 });
    eq((await c.call(...c.pay(other, 1, { as: P2 }))).status, 409);
    eq((await c.call(...c.pay(id, 1, { as: C1 }))).status, 201);
    await c.clock({ advance: 'PT10S' });
    more = [];
    for (let n = 0; n < 6; n += 1) more.push((await c.call(...c.pay(id, 1))).status);
    assert.ok(more.slice(0, 5).every((status) => status === 201), more.join());
    eq(more.includes(429), true);
  },
  async 'the order of refusals'(c) {
    await c.clock({ advance: 'PT2M' });
    const { id } = await c.pledge();
    const html = { Accept: 'text/html' };
    // The caller before the user, the user before parameters, these before Accept, Accept before the body, the body before the row.
    eq(await c.no('POST', '/pledges?x=1', { as: '', text: '{', headers: html }), '401 no_credential');
    eq(await c.no('POST', '/pledges?x=1', { as: C1, text: '{', headers: html }), '403 forbidden');
    eq(await c.no('PATCH', '/pledges/none?x=1', { text: '{', headers: html }), '400 bad_parameter x');
    eq(await c.no('PATCH', '/pledges/none', { text: '{', headers: html }), '406 not_acceptable');
    eq(await c.no('PATCH', '/pledges/none', { text: '{' }), '400 bad_json');
    eq(await c.no('PATCH', '/pledges/none', { json: { asking: 1 } }), '404 not_found');
    eq(await c.no('PATCH', `/pledges/${id}`, { json: { asking: 1 }, headers: { 'If-Match': '"no"' } }), '412 etag_mismatch');
    await c.ok('POST', `/pledges/${id}/withdraw`);
    eq(await c.no('PATCH', `/pledges/${id}`, { json: { asking: 1 } }), '422 invalid asking');
    eq(await c.no('PATCH', `/pledges/${id}`, { json: { asking: 700 } }), '409 wrong_status');
    eq(await c.no('POST', `/pledges/${id}/offer`, { as: C1, json: { loan: 1 } }), '422 invalid loan');
    eq(await c.no('POST', `/pledges/none/payments?x=1`, { json: { payment: { amount: 0 } } }), '400 bad_parameter x');
    eq(await c.no(...c.pay('none', 0)), '404 not_found');
    eq(await c.no(...c.pay(id, 0)), '422 invalid payment.amount');
    eq(await c.no('GET', '/pledges?limit=5&limit=5'), '400 bad_parameter limit');
  },
  async 'what is left of the edges'(c) {
    const one = await c.pledge({ made_on: '2020-02-02', weight_g: 1 });
    for (const path of ['/pledges', `/pledges/${one.id}`, '/racks', '/hooks']) {
      const { status, text } = await c.call('HEAD', path);
      eq([status, text], [200, '']);
    }
    // A body that nobody asked for is not read.
    eq((await c.call('POST', `/pledges/${one.id}/withdraw`, { text: '{', headers: { 'Content-Type': 'text/plain' } })).status, 200);
    const two = await c.pledge();
    const shown = await c.read(two.id, { as: A1, v: 'v1' });
    eq(Object.keys(shown).sort(), ['brought_at', 'category', 'id', 'number', 'status']);
    assert.notEqual(await c.tag(two.id, { as: A1 }), await c.tag(two.id));
    eq(await c.tag(two.id, { as: C1 }), await c.tag(two.id, { as: C2 }));
    eq(await c.no('GET', `/pledges/${two.id}/payments`, { as: A1 }), '403 forbidden');
    const hook = await c.ok('POST', '/hooks', { json: { url: 'http://127.0.0.1:9/x', events: ['pledge.*'] } });
    eq((await c.ok('PATCH', `/hooks/${hook.id}`, { json: { events: null } })).events, undefined);
    eq((await c.ok('PATCH', `/hooks/${hook.id}`, { json: { secret: 'mine', id: 9 } })).id, hook.id);
    eq(await c.no('PATCH', `/hooks/${hook.id}`, { json: { url: null } }), '422 invalid url');
    eq(await c.no('PATCH', `/hooks/${hook.id}`, { json: { keeper: 'me', colour: 1 } }), '400 unknown_field colour');
    await c.ok('DELETE', `/hooks/${hook.id}`);
    eq(await c.no('DELETE', `/hooks/${hook.id}`), '404 not_found');
    const old = await c.pledge({ weight_kg: 0.0014 }, { v: 'v1' });
    eq(old.weight_kg, 0.001);
    eq((await c.ok('PATCH', `/pledges/${old.id}`, { v: 'v1', json: { weight_kg: 0.001 } })).touched_at, old.touched_at);
    const { headers } = await c.call('GET', '/pledges?limit=1', { v: 'v1' });
    assert.ok(headers.link.includes('</api/v1/pledges?') && headers.link.includes('rel="next"'));
    for (const [verb, path, told] of [['GET', '/terms', 404], ['PUT', '/pledges', 405], ['GET', '/nothing', 404]]) {
      const answer = await c.call(verb, path, { v: 'v1' });
      eq([answer.status, answer.headers.deprecation], [told, '@1769904000']);
    }
    const key = { headers: { 'Idempotency-Key': 'edge' }, json: { payment: { amount: 20 } } };
    const id = await c.pawned();
    const first = await c.call('POST', `/pledges/${id}/payments`, key);
    eq((await c.call('POST', `/pledges/${id}/payments`, key)).json, first.json);
    eq((await c.read(id)).paid, 20);
    eq(await c.no('POST', `/pledges/${id}/payments`, { ...key, json: { payment: { amount: 21 } } }), '422 key_reused');
    // One key is of one operation.
    eq((await c.call('POST', '/pledges', { json: c.item(), headers: key.headers })).status, 201);
  },
  async 'nine hundred in a minute'(c) {
    await c.clock({ advance: 'PT3M' });
    let last;
    for (let n = 0; n < 900; n += 1) last = await c.call('GET', '/hooks', { as: A1 });
    eq([last.status, last.headers['x-ratelimit-remaining']], [403, '0']);
    const refused = await c.call('GET', '/hooks', { as: A1 });
    eq([refused.status, refused.json.error.code], [429, 'slow_down']);
    assert.ok(Number(refused.headers['retry-after']) > 0 && Number(refused.headers['retry-after']) <= 60);
    eq((await c.call('GET', '/hooks')).status, 200);
    await c.clock({ advance: `PT${refused.headers['retry-after']}S` });
    eq((await c.call('GET', '/hooks', { as: A1 })).status, 403);
  },
  async 'a quota by weeks'(c) {
    const monday = (ms) => Math.floor(ms / 86_400_000) * 86_400_000 + ((8 - new Date(ms).getUTCDay()) % 7 || 7) * 86_400_000;
    await c.clock({ now: new Date(monday(await c.now())).toISOString() });
    const sunday = monday(await c.now()) - 43_200_000;
    const one = await c.pledge();
    await c.no('POST', '/pledges', { json: c.item({ item: one.item }) });
    for (let n = 0; n < 78; n += 1) await c.pledge();
    eq((await c.call('POST', '/pledges', { json: c.item() })).status, 201);
    eq(await c.no('POST', '/pledges', { json: c.item() }), '429 quota_used');
    eq((await c.call('POST', '/pledges', { as: P2, json: c.item() })).status, 201);
    await c.clock({ now: new Date(sunday).toISOString() });
    const refused = await c.call('POST', '/pledges', { json: c.item() });
    eq(refused.status, 429);
    assert.ok(Math.abs(Number(refused.headers['retry-after']) - 43_200) < 30);
    await c.clock({ advance: 'PT12H' });
    await c.pledge();
  },
  async 'version one'(c) {
    const box = await c.heard({ events: ['pledge.brought'] }, { v: 'v1' });
    const v = 'v1';
    const { status, headers, json } = await c.call('POST', '/pledges', { v, json: c.item({ category: 'gem', weight_kg: 1.2345 }) });
    eq([status, headers.location, json.category, json.weight_kg, json.weight_g, json.insured], [201, `/api/v1/pledges/${json.id}`, 'gem', 1.235, undefined, undefined]);
    eq((await c.got(box, 1))[0].json.payload, json);
    await box.drop();
    const { id } = json;
    const now = await c.read(id);
    eq([now.category, now.weight_g, now.weight_kg, now.insured], ['jewel', 1235, undefined, false]);
    eq((await c.ok('GET', `/pledges?category=gem`, { v })).pledges[0], json);
    for (const [body, told] of [[{ category: 'jewel' }, '422 invalid category'], [{ weight_g: 1 }, '400 unknown_field weight_g'], [{ insured: true }, '400 unknown_field insured'], [{ weight_kg: 51 }, '422 invalid weight_kg'], [{ weight_kg: 0 }, '422 invalid weight_kg'], [{ category: 'gem', weight_kg: 5.5 }, '422 invalid weight_kg']]) eq(await c.no('POST', '/pledges', { v, json: c.item(body) }), told);
    eq(await c.no('GET', '/pledges?insured=true', { v }), '400 bad_parameter insured');
    eq(await c.no('GET', '/pledges?category=jewel', { v }), '400 bad_parameter category');
    await c.ok('PATCH', `/pledges/${id}`, { json: { insured: true } });
    await c.ok('PATCH', `/pledges/${id}`, { v, json: { asking: 444 } });
    eq((await c.read(id)).insured, true);
    for (const answer of [await c.call('GET', `/pledges/${id}?`, { v }), await c.call('GET', `/pledges`, { v }), await c.call('GET', `/pledges/nothing`, { v })]) {
      eq([answer.headers.deprecation, answer.headers.sunset], ['@1769904000', 'Fri, 30 Jun 2028 00:00:00 GMT']);
      assert.ok(answer.headers.link.includes('<https://lombard.example/docs/v2>; rel="deprecation"'));
      assert.ok(/<\/api\/v2\/pledges[^>]*>; rel="successor-version"/.test(answer.headers.link));
    }
    eq((await c.call('GET', `/pledges/${id}`)).headers.deprecation, undefined);
    eq(await c.no('POST', '/racks', { v, as: P1, json: {} }), '403 forbidden');
    eq((await c.call('POST', '/racks', { v, as: C1, json: { code: 'Y-77', label: 'Old' } })).status, 201);
  },
  async 'version one ends'(c) {
    await c.clock({ now: '2028-06-30T00:00:01.000Z' });
    eq(await c.no('GET', '/pledges', { v: 'v1' }), '410 version_gone');
    eq((await c.call('GET', '/pledges')).status, 200);
    const { id } = await c.pledge();
    const rack = await c.rack();
    await c.offer(id);
    await c.ok('PATCH', `/pledges/${id}`, { as: C1, json: { rack: rack.code } });
    await c.ok('POST', `/pledges/${id}/accept`);
    await c.clock({ advance: 'P31D' });
    eq((await c.ok('POST', `/pledges/${id}/sell`, { as: C1 })).status, 'sold');
  },
};

async function broken(fault, stopAtFirst) {
  const client = await Client.start(fault);
  const list = [];
  try {
    for (const [name, check] of Object.entries(CHECKS)) {
      try {
        await check(client);
      } catch (error) {
        list.push(`${name}: ${error.message.split('\n').slice(0, 14).join(' | ')} ${error.stack.split('\n').find((line) => line.includes('promises.mjs') && !line.includes('Client'))?.trim() ?? ''}`);
        if (stopAtFirst) break;
      }
      for (const { server } of client.boxes.splice(0)) server.closeAllConnections(), server.close();
    }
  } finally {
    client.stop();
  }
  return list;
}

const [flag, ...only] = process.argv.slice(2);
if (flag === undefined) {
  const list = await broken('');
  for (const one of list) console.log(one);
  console.log(`${Object.keys(CHECKS).length - list.length} of ${Object.keys(CHECKS).length} promises are kept`);
  process.exitCode = list.length > 0 ? 1 : 0;
} else {
  const { faults } = JSON.parse(readFileSync(new URL('stranger.json', import.meta.url), 'utf8'));
  const asked = faults.filter(({ id }) => only.length === 0 || only.includes(id));
  let unseen = 0;
  for (const { id } of asked) {
    const [first] = await broken(id, true);
    if (!first) unseen += 1;
    console.log(`${id}: ${first ? first.slice(0, 160) : 'NOT SEEN'}`);
  }
  console.log(`${asked.length - unseen} of ${asked.length} faults break a promise`);
  process.exitCode = unseen > 0 ? 1 : 0;
}
