import { createHmac } from 'node:crypto';
import type { Target } from './target.ts';

/** Something that must not succeed, and the same asked rightly, which must: else nothing is shown. */
export interface Attack {
  /** The risk of the OWASP API Security Top 10 (2023). */
  readonly risk: `API${number}`;
  readonly name: string;
  /** What was won; nothing where it failed. */
  attack(target: Target): Promise<string | undefined>;
  /** What went wrong with the right request; nothing where it was answered as it should be. */
  control(target: Target): Promise<string | undefined>;
}

type Made = { readonly id: string; readonly token: string };
let count = 0;

async function thing(target: Target, as: string, more: object = {}): Promise<Made> {
  count += 1;
  const { status, text } = await target.send('POST', '/things', { as, body: { name: `thing ${count}`, ...more } });
  if (status !== 201) throw new Error(`no thing was made: ${status} ${text}`);
  return JSON.parse(text) as Made;
}

const expect = (what: string, status: number, ...good: number[]) => (good.includes(status) ? undefined : `${what}: ${status}`);

const won = (what: string, isWon: boolean) => (isWon ? what : undefined);

const fine = async (target: Target) => expect('a good request', (await target.send('GET', '/things', { as: 'ann' })).status, 200);

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token as the vault takes it, altered. */
function token(secret: string, claims: object = {}, header: object = {}): string {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const said = { iss: 'vault', aud: 'vault', sub: 'ann', role: 'owner', iat: nowSeconds, exp: nowSeconds + 600, ...claims };
  const signed = `${part({ alg: 'HS256', ...header })}.${part(said)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });
const evil = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };

/** One after the other over the ten risks; those of a finding of the review before are named after it. */
export const attacks: readonly Attack[] = [
  {
    risk: 'API1',
    name: 'a row of somebody else is read, changed, deleted and fired by its identifier',
    async attack(target) {
      const { id } = await thing(target, 'ann');
      for (const [method, path, body] of [
        ['GET', `/things/${id}`],
        ['PATCH', `/things/${id}`, { name: 'mine' }],
        ['DELETE', `/things/${id}`],
        ['POST', `/things/${id}/finish`],
        ['POST', `/things/${id}/notes`, { text: 'hello' }],
        ['GET', `/things/${id}/notes`],
      ] as const) {
        const { status, text } = await target.send(method, path, { as: 'bob', ...(body && { body }) });
        if (status !== 404) return `${method} ${path}: ${status} ${text}`;
      }
      return undefined;
    },
    async control(target) {
      const { id } = await thing(target, 'ann');
      return expect('her own', (await target.send('GET', `/things/${id}`, { as: 'ann' })).status, 200);
    },
  },
  {
    risk: 'API1',
    name: 'a hidden row is told from a missing one by status, words, header fields or length',
    async attack(target) {
      const { id } = await thing(target, 'ann');
      const shape = async (path: string) => {
        const { status, headers, text } = await target.send('GET', path, { as: 'bob' });
        const names = [...headers.keys()].toSorted().join();
        return `${status} ${names} ${text.replace(/req_[\w-]+/, 'req')}`;
      };
      const [hidden, missing] = [await shape(`/things/${id}`), await shape(`/things/thg_${'0'.repeat(26)}`)];
      return won(`${hidden} against ${missing}`, hidden !== missing);
    },
    control: fine,
  },
  {
    risk: 'API1',
    name: 'a list, its cursor and its pages give rows of others',
    async attack(target) {
      for (let at = 0; at < 3; at++) await thing(target, 'ann');
      const first = await target.send('GET', '/things?limit=1', { as: 'ann' });
      const { next } = JSON.parse(first.text) as { next: string };
      const taken = await target.send('GET', `/things?limit=100&cursor=${encodeURIComponent(next)}`, { as: 'bob' });
      const own = await target.send('GET', '/things?limit=100', { as: 'bob' });
      return won(`${taken.text} ${own.text}`, /"owner":"ann"/.test(taken.text + own.text));
    },
    control: fine,
  },
  {
    risk: 'API1',
    name: 'S11: a cursor or a tag tells how many rows there are',
    async attack(target) {
      const tagOf = async () => {
        const { id } = await thing(target, 'ann');
        return (await target.send('GET', `/things/${id}`, { as: 'ann' })).headers.get('etag') ?? '';
      };
      const { next } = JSON.parse((await target.send('GET', '/things?limit=1', { as: 'ann' })).text) as { next: string };
      const readable = Buffer.from(next.split('.')[0] ?? '', 'base64url').toString('latin1');
      const tags = [await tagOf(), await tagOf()];
      return won(
        `${readable} ${tags.join()}`,
        /^\[\d/.test(readable) || tags.some((tag) => /^"\d+/.test(tag) && tag.length < 16),
      );
    },
    control: fine,
  },
  {
    risk: 'API1',
    name: 'S3: who may act may read by an empty change',
    async attack(target) {
      const { id } = await thing(target, 'ann');
      const { text } = await target.send('PATCH', `/things/${id}`, { as: 'bob', body: {} });
      return won(text, text.includes('"owner"'));
    },
    control: fine,
  },
  {
    risk: 'API2',
    name: 'tokens that are forged, foreign, unsigned, old or endless are taken',
    async attack(target) {
      const good = token(target.secret);
      const [head = '', said = '', signature = ''] = good.split('.');
      const nowSeconds = Math.floor(Date.now() / 1000);
      const bad: Readonly<Record<string, string>> = {
        'another secret': token('another secret of thirty-two bytes!'),
        'no signature': `${head}.${said}.`,
        'alg none': `${part({ alg: 'none' })}.${said}.`,
        'alg None with the signature': `${part({ alg: 'None' })}.${said}.${signature}`,
        'another algorithm': `${part({ alg: 'HS512' })}.${said}.${signature}`,
        'other claims': `${head}.${part({ iss: 'vault', aud: 'vault', sub: 'bob', role: 'clerk', exp: nowSeconds + 60 })}.${signature}`,
        'another issuer': token(target.secret, { iss: 'evil' }),
        'another audience': token(target.secret, { aud: 'evil' }),
        ended: token(target.secret, { exp: nowSeconds - 60 }),
        endless: token(target.secret, { exp: undefined }),
        'for a year': token(target.secret, { exp: nowSeconds + 31_536_000 }),
        'not yet': token(target.secret, { nbf: nowSeconds + 600 }),
        'of no user': token(target.secret, { role: 'root' }),
        'a key of its own': token(target.secret, {}, { alg: 'HS256', crit: ['b64'], b64: false }),
        'five parts': `${good}.a.b`,
        'a blank secret': token(''),
      };
      for (const [what, text] of Object.entries(bad)) {
        const { status } = await target.send('GET', '/things', bearer(text));
        if (status !== 401) return `${what}: ${status}`;
      }
      return undefined;
    },
    control: async (target) =>
      expect('a good token', (await target.send('GET', '/things', bearer(token(target.secret)))).status, 200),
  },
  {
    risk: 'API2',
    name: 'several credentials, repeated headers and near misses of keys name somebody',
    async attack(target) {
      const { ann = '', bob = '', cleo = '' } = target.keys;
      const bad: readonly Record<string, string>[] = [
        { 'x-key': '' },
        { 'x-key': ann.slice(0, -1) },
        { 'x-key': `${ann}a` },
        { 'x-key': ann.toUpperCase() === ann ? ann.toLowerCase() : ann.toUpperCase() },
        { 'x-key': `${ann}, ${bob}` },
        { 'x-key': ann, authorization: `Bearer ${token(target.secret, { sub: 'bob' })}` },
        { 'x-key': cleo, cookie: `session=${target.keys.annSession}` },
        { 'x-key': `' OR 1=1 --` },
        { 'x-key': '*' },
        { authorization: `Basic ${Buffer.from('ann:').toString('base64')}` },
        { authorization: 'Basic !!!' },
        { cookie: `session=${ann}` },
      ];
      for (const headers of bad) {
        const { status } = await target.send('GET', '/things', { headers });
        if (status !== 401) return `${JSON.stringify(headers).slice(0, 80)}: ${status}`;
      }
      const twice = await target.raw(
        `GET /things HTTP/1.1\r\nHost: a\r\nX-Key: ${ann}\r\nX-Key: ${bob}\r\nConnection: close\r\n\r\n`,
      );
      return won(twice.slice(0, 80), !twice.startsWith('HTTP/1.1 401'));
    },
    control: fine,
  },
  {
    risk: 'API2',
    name: 'S9: strangers with wrong passwords keep the right one out',
    async attack(target) {
      const basic = (password: string) => ({
        headers: { authorization: `Basic ${Buffer.from(`ann:${password}`).toString('base64')}` },
      });
      const wrong = await Promise.all(Array.from({ length: 40 }, (_, at) => target.send('GET', '/things', basic(`wrong ${at}`))));
      const statuses = new Set(wrong.map(({ status }) => status));
      for (const status of statuses) if (![401, 429, 503].includes(status)) return `a wrong password: ${status}`;
      return expect('who is known already', (await target.send('GET', '/things', { as: 'ann' })).status, 200);
    },
    control: fine,
  },
  {
    risk: 'API3',
    name: 'fields that are hidden, write-only, read-only or revealed once are read or written',
    async attack(target) {
      const { id, token: shown } = await thing(target, 'ann', { pin: '4711', risk: 9, owner: 'bob', status: 'done', id: 'mine' });
      const { text } = await target.send('GET', `/things/${id}`, { as: 'ann' });
      for (const word of ['"pin"', '"risk"', shown, '"owner":"bob"', '"status":"done"', '"id":"mine"'])
        if (text.includes(word)) return `${word} in ${text}`;
      const clerk = await target.send('GET', `/things/${id}`, { as: 'cleo' });
      if (!clerk.text.includes('"risk":3')) return `the risk was written: ${clerk.text}`;
      for (const query of ['?risk=3', '?sort=risk', '?pin=4711', '?sort=-pin'])
        if ((await target.send('GET', `/things${query}`, { as: 'ann' })).status === 200) {
          const { text: all } = await target.send('GET', `/things${query}`, { as: 'ann' });
          return `${query}: ${all.slice(0, 100)}`;
        }
      return undefined;
    },
    control: fine,
  },
  {
    risk: 'API3',
    name: 'names of the language in a body (`__proto__`, `constructor`) change anything',
    async attack(target) {
      const body = '{"name":"proto","__proto__":{"owner":"bob","status":"done"},"constructor":{"prototype":{"polluted":1}}}';
      const { status, text } = await target.send('POST', '/things', { as: 'ann', body });
      if (status === 201 && (text.includes('bob') || text.includes('done'))) return text;
      const { text: later } = await target.send('GET', '/count', { as: 'ann' });
      return won(later, later.includes('polluted'));
    },
    control: fine,
  },
  {
    risk: 'API4',
    name: 'S1: a text that makes a pattern backtrack keeps others waiting',
    async attack(target) {
      const slow = `${'a'.repeat(1900)}!`;
      const [{ status }, other] = await Promise.all([
        target.send('POST', '/things', { as: 'ann', body: { name: 'slow', code: slow, tags: Array(900).fill('a'.repeat(99)) } }),
        target.send('GET', '/status'),
      ]);
      return expect('a slow text', status, 422) ?? expect('another caller', other.status, 200);
    },
    control: async (target) =>
      expect(
        'a good code',
        (await target.send('POST', '/things', { as: 'bob', body: { name: 'quick', code: 'abc' } })).status,
        201,
      ),
  },
  {
    risk: 'API4',
    name: 'S2: one body that is wrong at a million places is answered with all of them',
    async attack(target) {
      const body = `{"name":"x","tags":[${'1,'.repeat(250_000)}1]}`;
      const { status, text } = await target.send('POST', '/things', { as: 'ann', body });
      return won(`${status}, ${text.length} bytes`, status !== 422 || text.length > 64 * 1024);
    },
    control: fine,
  },
  {
    risk: 'API4',
    name: 'S16: one caller opens more streams than are its',
    async attack(target) {
      const stops: AbortController[] = [];
      const statuses: number[] = [];
      for (let at = 0; at < 40; at++) {
        const stop = new AbortController();
        stops.push(stop);
        const answer = await fetch(`${target.url}/stream`, { headers: { 'x-key': target.keys.bob ?? '' }, signal: stop.signal });
        statuses.push(answer.status);
      }
      for (const stop of stops) stop.abort();
      return won(
        statuses.join(),
        statuses.filter((status) => status === 200).length !== 32 || statuses.some((status) => ![200, 429].includes(status)),
      );
    },
    control: fine,
  },
  {
    risk: 'API4',
    name: 'S8: strangers use up what everybody shares',
    async attack(target) {
      for (let at = 0; at < 50; at++) await target.send('GET', '/things/x', { headers: { 'x-key': `wrong-${at}` } });
      const { id } = await thing(target, 'ann');
      const { headers } = await target.send('GET', `/things/${id}`, { as: 'ann' });
      const left = Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? 0);
      return won(`${left} are left`, left < 99_900);
    },
    control: fine,
  },
  {
    risk: 'API5',
    name: 'an operation that no rule allows, or of another method, is done',
    async attack(target) {
      const { id } = await thing(target, 'ann');
      const tries: readonly (readonly [string, string, Record<string, string>?])[] = [
        ['PUT', `/things/${id}`],
        ['POST', `/things/${id}`, { 'x-http-method-override': 'DELETE' }],
        ['GET', `/things/${id}?_method=DELETE`],
        ['DELETE', '/things'],
        ['GET', '/hooks'],
        ['GET', '/.well-known/ninefold%2f..%2f..%2fthings'],
        ['GET', '//things'],
        ['GET', '/THINGS'],
        ['GET', '/things/%252e%252e/things'],
      ];
      for (const [method, path, headers = {}] of tries) {
        const { status, text } = await target.send(method, path, { as: 'bob', headers });
        if (status < 400) return `${method} ${path}: ${status} ${text.slice(0, 80)}`;
      }
      return expect('it is there still', (await target.send('GET', `/things/${id}`, { as: 'ann' })).status, 200);
    },
    control: fine,
  },
  {
    risk: 'API6',
    name: 'one idempotency key makes two, gives another caller its answer, or shows a secret again',
    async attack(target) {
      const headers = { 'idempotency-key': `key-${count}` };
      const body = { name: `once ${count}` };
      const all = await Promise.all(
        Array.from({ length: 10 }, () => target.send('POST', '/things', { as: 'ann', headers, body })),
      );
      const ids = new Set(all.filter(({ status }) => status === 201).map(({ text }) => (JSON.parse(text) as Made).id));
      if (ids.size !== 1) return `${ids.size} were made`;
      const again = await target.send('POST', '/things', { as: 'ann', headers, body });
      if (again.text.includes('tok_')) return `the secret again: ${again.text}`;
      const other = await target.send('POST', '/things', { as: 'bob', headers, body: { name: `bobs ${count}` } });
      return won(
        other.text,
        [...ids].some((id) => other.text.includes(id)),
      );
    },
    control: fine,
  },
  {
    risk: 'API6',
    name: 'a state is passed over, or passed twice',
    async attack(target) {
      const { id } = await thing(target, 'ann');
      const all = await Promise.all(Array.from({ length: 8 }, () => target.send('POST', `/things/${id}/finish`, { as: 'ann' })));
      return won(all.map(({ status }) => status).join(), all.filter(({ status }) => status === 200).length !== 1);
    },
    control: fine,
  },
  {
    risk: 'API7',
    name: 'a webhook is sent to this machine, its network or a cloud’s own service',
    async attack(target) {
      const { createServer } = await import('node:http');
      let reached = 0;
      const receiver = createServer((_request, response) => {
        reached += 1;
        response.end();
      });
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      const { port } = receiver.address() as { port: number };
      for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f000001', '127.1', '0'])
        await target.send('POST', '/hooks', { as: 'cleo', body: { url: `http://${host}:${port}/` } });
      await thing(target, 'cleo');
      await new Promise<void>((resolve) => setImmediate(resolve));
      await fine(target);
      const came = reached;
      receiver.close();
      return won(`${came} came`, came > 0);
    },
    control: async (target) =>
      expect(
        'a public address',
        (await target.send('POST', '/hooks', { as: 'ann', body: { url: 'https://hooks.invalid/' } })).status,
        201,
      ),
  },
  {
    risk: 'API7',
    name: 'S16: an address that nothing can be sent to is a subscriber’s',
    async attack(target) {
      for (const url of [
        'ftp://a.example',
        'file:///etc/passwd',
        'nothing',
        'https://a:b@c.example',
        'javascript:1',
        '//a.example',
      ])
        if ((await target.send('POST', '/hooks', { as: 'ann', body: { url } })).status !== 422) return url;
      return undefined;
    },
    control: fine,
  },
  {
    risk: 'API8',
    name: 'S4: a page of another site writes by cookie or by what a browser keeps',
    async attack(target) {
      const cookie = `session=${target.keys.annSession}`;
      const basic = `Basic ${Buffer.from('ann:correct horse battery').toString('base64')}`;
      for (const headers of [
        { cookie, ...evil },
        { cookie, origin: 'null' },
        { cookie, origin: 'https://evil.example' },
        { authorization: basic, ...evil },
      ]) {
        const { status } = await target.send('POST', '/things', { headers, body: { name: `by a page ${count++}` } });
        if (status !== 403 && status !== 503) return `${JSON.stringify(headers)}: ${status}`;
      }
      return undefined;
    },
    control: async (target) =>
      expect(
        'a stated origin',
        (
          await target.send('POST', '/things', {
            headers: {
              cookie: `session=${target.keys.annSession}`,
              'sec-fetch-site': 'cross-site',
              origin: 'https://app.vault.example',
            },
            body: { name: `by the app ${count++}` },
          })
        ).status,
        201,
      ),
  },
  {
    risk: 'API8',
    name: 'S12: who comes by a proxy, or by another name, reads the ledger',
    async attack(target) {
      for (const headers of [
        { 'x-forwarded-for': '192.0.2.1' },
        { forwarded: 'for=192.0.2.1' },
        { via: '1.1 proxy' },
        { 'x-real-ip': '192.0.2.1' },
      ]) {
        const { status } = await target.send('GET', '/.well-known/ninefold', { headers });
        if (status === 200) return JSON.stringify(headers);
      }
      const named = await target.raw('GET /.well-known/ninefold HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
      return won(named.slice(0, 80), named.startsWith('HTTP/1.1 200'));
    },
    control: async (target) => expect('from this machine', (await target.send('GET', '/.well-known/ninefold')).status, 200),
  },
  {
    risk: 'API8',
    name: 'an answer says what failed inside, or what it is made with',
    async attack(target) {
      const answers = await Promise.all([
        target.send('GET', '/nowhere'),
        target.send('POST', '/things', { as: 'ann', body: '{' }),
        target.send('GET', '/things?cursor=%00', { as: 'ann' }),
        target.send('GET', '/things/%E0%A4%A', { as: 'ann' }),
      ]);
      for (const { text, headers } of answers) {
        if (/node_modules|\.ts:\d|\bat \w+ \(|sqlite|SELECT /i.test(text)) return text;
        if (headers.get('server') !== null || headers.get('x-powered-by') !== null) return 'it names its server';
      }
      return undefined;
    },
    control: fine,
  },
  {
    risk: 'API8',
    name: 'S7 and header injection: what was sent gives an answer header fields of its own',
    async attack(target) {
      const { id } = await thing(target, 'ann', { name: `a\r\nSet-Cookie: x=1 ${count++}` });
      const read = await target.send('GET', `/things/${id}`, { as: 'ann' });
      if (read.headers.get('set-cookie') !== null) return 'a cookie was set';
      const raw = await target.raw('GET /things/a%0d%0aSet-Cookie:%20x=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      return won(raw, /^set-cookie/im.test(raw));
    },
    control: fine,
  },
  {
    risk: 'API8',
    name: 'one request is taken for two (request smuggling)',
    async attack(target) {
      const inner = 'GET /status HTTP/1.1\r\nHost: a\r\n\r\n';
      for (const head of [
        `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
        `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${inner}`,
        `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
        `Content-Length: 0\r\nContent-Length: 5\r\n\r\n${inner}`,
        `Content-Length: +4\r\n\r\nabcd${inner}`,
        `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
        `Content-Length: 0x4\r\n\r\nabcd${inner}`,
      ]) {
        const answer = await target.raw(`POST /things HTTP/1.1\r\nHost: a\r\n${head}`);
        if (/HTTP\/1\.1 200/.test(answer)) return `${JSON.stringify(head.slice(0, 60))}: ${answer.slice(0, 60)}`;
      }
      return undefined;
    },
    control: async (target) =>
      won(
        'no answer',
        !(await target.raw('GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).startsWith('HTTP/1.1 200'),
      ),
  },
  {
    risk: 'API9',
    name: 'an address that the document does not list answers',
    async attack(target) {
      const guesses = [
        '/admin',
        '/debug',
        '/metrics',
        '/health',
        '/v1/things',
        '/api/things',
        '/graphql',
        '/.env',
        '/.git/config',
        '/openapi.yaml',
        '/server-status',
        '/actuator',
        '/ninefold',
        '/.well-known/security.txt',
      ];
      for (const path of guesses) {
        const { status } = await target.send('GET', path);
        if (status !== 404) return `${path}: ${status}`;
      }
      return undefined;
    },
    control: fine,
  },
  {
    risk: 'API10',
    name: 'texts that are code elsewhere (SQL, expressions, templates, paths) are carried out',
    async attack(target) {
      const texts = [
        `' OR '1'='1`,
        `"; DROP TABLE thing; --`,
        '$' + '{7*7}',
        '{{7*7}}',
        '../../../etc/passwd',
        'resource.owner',
        '%27%20OR%201=1',
        '\u0000',
        '1; ATTACH DATABASE',
      ];
      for (const text of texts) {
        const { status, text: body } = await target.send('GET', `/things?name=${encodeURIComponent(text)}`, { as: 'bob' });
        if (status !== 200 && status !== 400 && status !== 416) return `${text}: ${status}`;
        if (/"owner":"ann"|root:|49/.test(body)) return `${text}: ${body.slice(0, 100)}`;
      }
      return fine(target);
    },
    control: fine,
  },
];
