import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inspect } from 'node:util';
import { addKey, type Guarded, guard, notes, serveKeySet, tokenKey, tokenScheme } from './serving/guarded.ts';

/** A credential is in the request that shows it and nowhere else: not in the log, not in answers, not in failures. */
const open: { close(): Promise<unknown> }[] = [];
after(() => Promise.all(open.map((one) => one.close())));

const [ours, theirs] = await Promise.all([tokenKey('k1'), tokenKey('k1')]);
const set = await serveKeySet([ours.jwk]);
open.push(set);
const secret = 'a shared secret of more than thirty-two bytes';
const schemes = `schemes:
  key: { type: api_key, header: X-API-Key }
  link: { type: api_key, query: access_key }
  session: { type: api_key, cookie: session }
  login: { type: basic, header: X-Login }
  ${tokenScheme(`algorithms: [ES256], jwks: ${set.url}`)}
  ${tokenScheme('header: X-Shared, algorithms: [HS256], secret_env: S', 'shared')}`;

async function start(): Promise<{ guarded: Guarded; everything(): string }> {
  let text = '';
  const lines: string[] = [];
  const guarded = await guard(notes(schemes), {
    environment: { S: secret },
    handlers: {
      who: () => {
        throw new Error('The handler fails.', { cause: new Error('inner') });
      },
    },
  });
  open.push(guarded);
  const ask = guarded.ask;
  Object.assign(guarded, {
    ask: async (...sent: Parameters<Guarded['ask']>) => {
      const said = await ask(...sent);
      text += `${said.status} ${JSON.stringify([...said.headers])} ${JSON.stringify(said.body)}\n`;
      return said;
    },
  });
  return {
    guarded,
    everything: () => {
      lines.push(
        text,
        inspect(guarded.failures, { depth: 9 }),
        JSON.stringify(guarded.log),
        JSON.stringify(guarded.service.notes),
      );
      return lines.join('\n');
    },
  };
}

test('no credential, good or bad, in whatever place, leaves a trace', async () => {
  const { guarded, everything } = await start();
  const given = await Promise.all(['key', 'link', 'session', 'login'].map((scheme) => addKey(guarded, { scheme })));
  const secrets = given.map((one) => one.secret);
  const [key = '', link = '', session = '', password = ''] = secrets;
  const basic = Buffer.from(`r1:${password}`).toString('base64');
  const tokens = [await ours.sign({ sub: 'r1' }), await theirs.sign({ sub: 'r1' }), await ours.sign({ sub: 'r1', exp: 1 })];
  const bad = ['Bad0123456789Secret', 'Ünfit-secret'];
  const lines = [
    'GET /who',
    'GET /notes',
    'GET /notes?nothing=x',
    'POST /notes',
    'GET /nowhere',
    'DELETE /notes',
    'GET /free',
    'GET /open',
  ];
  for (const line of lines) {
    const body = line.startsWith('POST') ? { id: 'n1' } : undefined;
    const joined = (query: string) => line + (line.includes('?') ? '&' : '?') + query;
    await guarded.ask({ 'x-api-key': key }, line, body);
    await guarded.ask({ 'x-api-key': key, accept: 'image/png' }, line, body);
    await guarded.ask({ 'x-api-key': bad[0] ?? '' }, line, body);
    await guarded.ask({}, joined(`access_key=${link}`), body);
    await guarded.ask({}, joined(`access_key=${link}&access_key=${bad[0]}`), body);
    await guarded.ask({}, joined(`%61ccess_key=${bad[0]}`), body);
    await guarded.ask({ cookie: `session=${session}` }, line, body);
    await guarded.ask({ cookie: `session=${session}`, 'sec-fetch-site': 'cross-site' }, line, body);
    await guarded.ask({ 'x-login': `Basic ${basic}` }, line, body);
    await guarded.ask({ 'x-login': basic }, line, body);
    for (const token of tokens) await guarded.ask({ authorization: `Bearer ${token}` }, line, body);
    for (const token of tokens) await guarded.ask({ 'x-shared': token, authorization: token }, line, body);
  }
  const told = everything();
  assert.match(told, /access_key=…/);
  assert.ok(
    told.includes('GET') && told.includes('"status":500') && told.includes('"status":401'),
    'there was something to look through',
  );
  const pieces = tokens.flatMap((token) => token.split('.')).filter((piece) => piece.length > 16);
  for (const hidden of [...secrets, basic, secret, ...bad, ...pieces]) assert.ok(!told.includes(hidden), `${hidden} was told`);
});

test('where a key set fails, the failure names its address and no token', async () => {
  const { guarded, everything } = await start();
  set.status = 500;
  const token = await ours.sign({});
  assert.equal((await guarded.ask({ authorization: `Bearer ${token}` })).status, 503);
  set.status = 200;
  const told = everything();
  assert.ok(told.includes(set.url));
  for (const piece of token.split('.')) assert.ok(!told.includes(piece));
});
