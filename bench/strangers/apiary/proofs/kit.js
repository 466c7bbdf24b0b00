import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { signed } from '../keeping/callers.js';

const FOREVER = 4_102_444_800;
export const token = (claims) => signed({ iss: 'https://id.apiary.example', aud: 'apiary', exp: FOREVER, ...claims });

const key = (name) => ({ 'x-apiary-key': `apk_${name.repeat(6)}` });
const bearer = (claims) => ({ authorization: `Bearer ${token(claims)}` });

export const CREDENTIALS = {
  anna: key('anna'),
  bert: key('bert'),
  carl: key('carl'),
  ines: key('ines'),
  ivan: key('ivan'),
  greg: key('greg'),
  gina: key('gina'),
  tess: bearer({ sub: 'tess', role: 'keeper' }),
  theo: bearer({ sub: 'theo', role: 'inspector', scope: 'vet' }),
  toni: bearer({ sub: 'toni', role: 'grocer' }),
};

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

export const want = (found, expected, about) => assert.deepEqual(found, expected, about);
export const wants = (found, expected) =>
  want(Object.fromEntries(Object.keys(expected).map((name) => [name, found?.[name]])), expected);
export const code = (answer, status, name) => want([answer.status, answer.body?.code], [status, name]);

/** A service of its own, with a fault or with none, and those who call it. */
export async function world(fault) {
  const [port, clockPort] = [await freePort(), await freePort()];
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../server.js', import.meta.url)), '--port', port, '--clock-port', clockPort],
    {
      env: { ...process.env, APIARY_FAULT: fault ?? '' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const base = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    try {
      await fetch(`http://127.0.0.1:${clockPort}/`);
      break;
    } catch {
      if (tries > 400) throw new Error('the service did not start');
      await delay(25);
    }
  }
  const servers = [];
  let registers = 0;

  const raw = async (method, path, body, headers = {}) => {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(base + path, {
      method,
      body: text,
      headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
    });
    const said = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      text: said,
      body: said && answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(said) : undefined,
    };
  };
  const speaker = (credential) => {
    const one = (method) => (path, body, headers) => raw(method, `/api${path}`, body, { ...credential, ...headers });
    const self = {
      get: (path, headers) => one('GET')(path, undefined, headers),
      post: one('POST'),
      patch: one('PATCH'),
      del: one('DELETE'),
    };
    /** A change with the tag that was read before it. */
    self.change = async (path, body, headers) =>
      self.patch(path, body, { 'if-match': (await self.get(path, headers)).headers.get('etag') ?? '*', ...headers });
    self.with = (headers) => speaker({ ...credential, ...headers });
    self.old = () => self.with({ 'apiary-version': '2025-09' });
    return self;
  };
  const made = (answer) => {
    want(answer.status, 201, answer.text);
    return answer.body;
  };
  const w = {
    port,
    raw,
    nobody: speaker({}),
    ...Object.fromEntries(Object.entries(CREDENTIALS).map(([name, credential]) => [name, speaker(credential)])),
    register: () => `R${String(++registers).padStart(6, '0')}`,
    yardBody: (more) => ({ register: w.register(), name: 'Orchard', capacity: 20, ...more }),
    yard: async (more, who = w.anna) => made(await who.post('/yards', w.yardBody(more))),
    hive: async (yard, more, who = w.anna) =>
      made(await who.post(`/yards/${yard.id}/hives`, { kind: 'dadant', label: `No ${++registers}`, ...more })),
    /** A hive that is active, in a yard of its own unless told. */
    active: async (yard, more) => {
      const hive = await w.hive(yard ?? (await w.yard()), more);
      const answer = await w.anna.change(`/hives/${hive.id}`, { state: 'active' });
      want(answer.status, 200, answer.text);
      return answer.body;
    },
    inspection: async (hive, more, who = w.ines) =>
      made(await who.post(`/hives/${hive.id}/inspections`, { visited_on: '2026-05-01', mites: 3, sample: 300, ...more })),
    treatment: async (hive, more, who = w.anna) =>
      made(await who.post(`/hives/${hive.id}/treatments`, { remedy: 'oxalic', dose_ml: 30, ...more })),
    harvestBody: (more) => ({ weight_g: 10_000, moisture: 17.5, price: 900, ...more }),
    harvest: async (hive, more, headers) => made(await w.anna.post(`/hives/${hive.id}/harvests`, w.harvestBody(more), headers)),
    released: async (hive, more) => {
      const { id } = await w.harvest(hive ?? (await w.active()), more);
      const answer = await w.anna.post(`/harvests/${id}/release`);
      want(answer.status, 200, answer.text);
      return answer.body;
    },
    reservation: async (harvest, weight_g = 500, who = w.greg) =>
      made(await who.post(`/harvests/${harvest.id}/reservations`, { weight_g })),
    move: async (advance) => {
      await fetch(`http://127.0.0.1:${clockPort}/`, { method: 'POST', body: JSON.stringify({ advance }) });
      await delay(60);
    },
    moveTo: (now) => fetch(`http://127.0.0.1:${clockPort}/`, { method: 'POST', body: JSON.stringify({ now }) }),
    /** A subscriber's own service: what it got, and what it answers. */
    sink: async (answer = () => 200) => {
      const got = [];
      const server = createServer(async (request, response) => {
        let text = '';
        for await (const chunk of request) text += chunk;
        got.push({ headers: request.headers, text, ...JSON.parse(text) });
        const status = await answer(got.length, JSON.parse(text));
        response.writeHead(status).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      servers.push(server);
      return { got, url: `http://127.0.0.1:${server.address().port}/told` };
    },
    subscribe: async (who, events, answer, more) => {
      const sink = await w.sink(answer);
      sink.hook = made(await who.post('/hooks', { url: sink.url, ...(events && { events }), ...more }));
      return sink;
    },
    /** Waits for so many deliveries, and sees that no more come. */
    told: async ({ got }, count) => {
      for (let tries = 0; got.length < count && tries < 60; tries++) await delay(20);
      await delay(120);
      want(got.length, count, `told ${got.length} times, not ${count}`);
      return got;
    },
    stop: () => {
      child.kill('SIGKILL');
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
  return w;
}

/** The signature of Standard Webhooks over a delivery. */
export function signatureOf({ headers, text }, secret) {
  const signs = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  return `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(signs)
    .digest('base64')}`;
}

export { delay };
