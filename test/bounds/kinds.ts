import { gzipSync } from 'node:zlib';
import type { Target } from '../attack/target.ts';

type Send = (target: Target) => Promise<unknown>;

/** How each kind of request that asks for too much is sent, by what it is called. */
export type Kinds = Readonly<Record<string, Send>>;

const repeat = (text: string, times: number) => text.repeat(times);
const mebibyte = 1024 * 1024;

/** A body that is sent to the making of a thing; one that is over the bound may be cut off while it is sent. */
const body =
  (text: string | Uint8Array, headers: Record<string, string> = {}): Send =>
  (target) =>
    target.send('POST', '/things', { as: 'ann', body: text, headers }).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error;
    });

const patch =
  (text: string): Send =>
  async (target) => {
    const made = await target.send('POST', '/things', { as: 'ann', body: { name: `patched ${Math.random()}` } });
    const { id } = JSON.parse(made.text) as { id: string };
    await target.send('PATCH', `/things/${id}`, { as: 'ann', body: text });
  };

const query =
  (text: string): Send =>
  (target) =>
    target.send('GET', `/things?${text}`, { as: 'ann' });
const header =
  (name: string, value: string, path = '/things'): Send =>
  (target) =>
    target.send('GET', path, { as: 'ann', headers: { [name]: value } });
const raw =
  (...pieces: readonly (string | Uint8Array)[]): Send =>
  (target) =>
    target.raw(pieces, 120);
const head = (more: string, line = 'GET /status HTTP/1.1') => raw(`${line}\r\nHost: a\r\n${more}\r\n`);
const post = (more: string, text: string | Uint8Array): Send =>
  raw(`POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${more}\r\n\r\n`, text);
const many =
  (times: number, one: (target: Target, at: number) => Promise<unknown>): Send =>
  async (target) => {
    for (let at = 0; at < times; at += 100)
      await Promise.all(Array.from({ length: Math.min(100, times - at) }, (_, n) => one(target, at + n)));
  };

/** Maps of `name of the kind: how it is sent`, by what they ask too much of. */
const bodies: Readonly<Record<string, Send>> = {
  'lists nested a hundred thousand deep': body(repeat('[', 100_000) + repeat(']', 100_000)),
  'lists nested deep and never closed': body(repeat('[', 500_000)),
  'maps nested fifty thousand deep': body(`${repeat('{"a":', 50_000)}1${repeat('}', 50_000)}`),
  'a map nested deep in a free field': body(`{"name":"x","extra":${repeat('{"a":', 50_000)}1${repeat('}', 50_000)}}`),
  'a list nested deep in a free field': body(`{"name":"x","extra":{"a":${repeat('[', 200_000)}${repeat(']', 200_000)}}}`),
  'a list of half a million': body(`[${repeat('1,', 500_000)}1]`),
  'a field of half a million wrong items': body(`{"name":"x","tags":[${repeat('1,', 500_000)}1]}`),
  'a hundred thousand fields that nobody stated': body(`{${Array.from({ length: 90_000 }, (_, n) => `"f${n}":1`).join(',')}}`),
  'one field a hundred thousand times': body(`{${repeat('"name":"x",', 90_000)}"name":"y"}`),
  'a name of a mebibyte': body(`{"name":"${repeat('a', mebibyte - 20)}"}`),
  'a name of escapes': body(`{"name":"${repeat('\\u0061', 170_000)}"}`),
  'a name of half surrogates': body(`{"name":"${repeat('\\ud800', 170_000)}"}`),
  'a name of zeros': body(`{"name":"${repeat('\\u0000', 170_000)}"}`),
  'a name of combining letters': body(`{"name":"${repeat('a\u0301\u0302\u0303', 100_000)}"}`),
  'a field’s name of a mebibyte': body(`{"${repeat('a', mebibyte - 20)}":1}`),
  'a number of a million digits': body(`{"name":"x","price":${repeat('9', mebibyte - 40)}}`),
  'a number with an exponent beyond all': body('{"name":"x","price":1e999999999}'),
  'a fraction of a million digits': body(`{"name":"x","price":0.${repeat('1', mebibyte - 40)}}`),
  'a million blanks': body(`{"name":${repeat(' ', mebibyte - 40)}"x"}`),
  'sixteen mebibytes': body(`{"name":"${repeat('a', 16 * mebibyte)}"}`),
  'bytes that are no UTF-8': body(new Uint8Array(mebibyte - 1).fill(0xff)),
  'a mark of byte order and nothing': body('\ufeff'),
  nothing: body(''),
  'a free field of fifty thousand members': body(
    `{"name":"wide","extra":{${Array.from({ length: 50_000 }, (_, n) => `"f${n}":1`).join(',')}}}`,
  ),
  'a patch of fifty thousand removals': patch(
    `{"extra":{${Array.from({ length: 50_000 }, (_, n) => `"f${n}":null`).join(',')}}}`,
  ),
  'a patch nested deep': patch(`{"extra":${repeat('{"a":', 20_000)}null${repeat('}', 20_000)}}`),
  'a patch of names of the language': patch('{"__proto__":{"a":1},"constructor":1,"toString":1,"hasOwnProperty":1}'),
  'a form of a hundred thousand fields': body(repeat('a=1&', 100_000), { 'content-type': 'application/x-www-form-urlencoded' }),
  'a form of nested brackets': body(`a${repeat('[b]', 50_000)}=1`, { 'content-type': 'application/x-www-form-urlencoded' }),
  'a form of percents': body(repeat('%', mebibyte - 1), { 'content-type': 'application/x-www-form-urlencoded' }),
  'a form of ten thousand parts': body(`${repeat('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n', 10_000)}--x--`, {
    'content-type': 'multipart/form-data; boundary=x',
  }),
  'a form without a boundary': body('--x', { 'content-type': 'multipart/form-data' }),
  'a form whose boundary is everything': body(repeat('-', mebibyte - 1), {
    'content-type': `multipart/form-data; boundary=${repeat('-', 60)}`,
  }),
  'a form part of a thousand header fields': body(`--x\r\n${repeat('A: b\r\n', 50_000)}\r\n\r\n--x--`, {
    'content-type': 'multipart/form-data; boundary=x',
  }),
  'a bomb of gzip': body(gzipSync(Buffer.alloc(64 * mebibyte)), { 'content-encoding': 'gzip' }),
  'a bomb of gzip, twice': body(gzipSync(gzipSync(Buffer.alloc(64 * mebibyte))), { 'content-encoding': 'gzip, gzip' }),
  'a type of nobody': body('{}', { 'content-type': `application/${repeat('x', 8000)}` }),
  'a type of ten thousand parameters': body('{}', { 'content-type': `application/json${repeat(';a=b', 3000)}` }),
};

const patterns: Readonly<Record<string, Send>> = Object.fromEntries(
  [
    ['letters and a sign', `${repeat('a', 1_999)}!`],
    ['letters to the bound', repeat('a', 2_000)],
    ['letters beyond it', repeat('a', 200_000)],
    ['letters and a line end', `${repeat('a', 1_990)}\\n`],
  ].map(([what, text]) => [`a backtracking pattern, ${what}`, body(`{"name":"x","code":"${text}"}`)] as const),
);

const patternLists: Readonly<Record<string, Send>> = {
  'a thousand texts for a backtracking pattern': body(JSON.stringify({ name: 'x', tags: Array(1000).fill(repeat('a', 100)) })),
  'a thousand texts that nearly fit it': body(JSON.stringify({ name: 'x', tags: Array(1000).fill(`${repeat('a', 98)}c`) })),
};

const queries: Readonly<Record<string, Send>> = {
  'a thousand parameters': query(repeat('a=1&', 1000)),
  'one parameter a thousand times': query(repeat('name=a&', 1000)),
  'a parameter of eight thousand': query(`name=${repeat('a', 7000)}`),
  'a parameter of percents': query(`name=${repeat('%', 5000)}`),
  'a parameter of zeros': query(`name=${repeat('%00', 2000)}`),
  'a parameter in brackets': query(`name${repeat('[a]', 2000)}=1`),
  'a page of everything': query('limit=999999999999999999999'),
  'a page of less than nothing': query('limit=-1'),
  'a page of a fraction': query('limit=1.5'),
  'a page of no number': query('limit=NaN'),
  'a cursor of seven thousand': query(`cursor=${repeat('A', 7000)}`),
  'a cursor that was never given': query(`cursor=${Buffer.from('[1,0]').toString('base64url')}.${repeat('A', 22)}`),
  'a cursor of points': query(`cursor=${repeat('.', 1000)}`),
  'an order by everything': query(`sort=${repeat('name,', 1000)}`),
  'an order by nothing': query('sort='),
  'a query of marks': query(repeat('?', 5000)),
  'a query of ampersands': query(repeat('&', 5000)),
  'an address of nine thousand': (target) => target.send('GET', `/things/${repeat('a', 9000)}`, { as: 'ann' }),
  'an address of four thousand segments': (target) => target.send('GET', repeat('/a', 4000), { as: 'ann' }),
  'an address of slashes': raw(`GET ${repeat('/', 8000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
  'an address of percents': raw(`GET /things/${repeat('%2', 3000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
};

const headers: Readonly<Record<string, Send>> = {
  'two hundred header fields': head(Array.from({ length: 199 }, (_, n) => `A${n}: b\r\n`).join('')),
  'two thousand header fields': head(repeat('A: b\r\n', 2000)),
  'a header field of fifteen thousand': head(`A: ${repeat('b', 15_000)}\r\n`),
  'a header field of a mebibyte': head(`A: ${repeat('b', mebibyte)}\r\n`),
  'a header field of no end': raw(`GET /status HTTP/1.1\r\nHost: a\r\nA: ${repeat('b', 5000)}`),
  'header fields that come one by one': (target) =>
    target.raw(['GET /status HTTP/1.1\r\nHost: a\r\n', ...Array.from({ length: 150 }, () => 'A: b\r\n'), '\r\n'], 120),
  'three thousand accepted types': header('accept', repeat('text/html;q=0.1,', 900)),
  'accepted types of no end': header('accept', repeat('*/*;q=', 2000)),
  'three thousand tags': header('if-none-match', repeat('"a",', 3000)),
  'tags of no end': header('if-none-match', repeat('"', 10_000)),
  'tags of blanks': header('if-match', `"a"${repeat(' ', 10_000)}x`),
  'five thousand cookies': header('cookie', repeat('a=b;', 3500)),
  'a hundred sessions': header('cookie', repeat('session=x; ', 100)),
  'five thousand hops': header('x-forwarded-for', repeat('10.0.0.1,', 1500)),
  'forwarded by everybody': header('forwarded', repeat('for=10.0.0.1;by=x,', 700)),
  'a key of fourteen thousand': header('x-key', repeat('k', 14_000)),
  'a token of fourteen thousand': header('authorization', `Bearer ${repeat('a', 7000)}.${repeat('b', 6000)}.c`),
  'a token whose header is deep': header('authorization', `Bearer ${Buffer.from(repeat('[', 8000)).toString('base64url')}.e30.c`),
  'a name and password of ten thousand': header(
    'authorization',
    `Basic ${Buffer.from(`ann:${repeat('p', 8000)}`).toString('base64')}`,
  ),
  'authorization of blanks': header('authorization', `Bearer${repeat(' ', 10_000)}x`),
  'a preflight of ten thousand fields': (target) =>
    target.send('OPTIONS', '/things', {
      headers: {
        origin: 'https://app.vault.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': repeat('x-a,', 3000),
      },
    }),
  'a last event of ten thousand': (target) =>
    target.raw(
      `GET /stream HTTP/1.1\r\nHost: a\r\nX-Key: ${target.keys.ann}\r\nLast-Event-ID: ${repeat('e', 9000)}\r\n\r\n`,
      120,
    ),
  'an idempotency key of ten thousand': (target) =>
    target.send('POST', '/things', { as: 'ann', headers: { 'idempotency-key': repeat('k', 10_000) }, body: { name: 'x' } }),
};

const connections: Readonly<Record<string, Send>> = {
  'five thousand requests at once on one connection': raw(repeat('GET /status HTTP/1.1\r\nHost: a\r\n\r\n', 5000)),
  'requests that stop half-way, five hundred': many(500, (target) =>
    target.raw('POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{', 60),
  ),
  'connections on which nothing comes, five hundred': many(500, (target) => target.raw('', 60)),
  'a body that says it is larger than it is': post('Content-Length: 100000', '{}'),
  'a body that says it is a terabyte': post('Content-Length: 1099511627776', '{}'),
  'a length that is no number': post('Content-Length: 1e3', '{}'),
  'a length below nothing': post('Content-Length: -1', '{}'),
  'two lengths': post('Content-Length: 2\r\nContent-Length: 3', '{}'),
  'a length and chunks': post('Content-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
  'chunks of one byte, twenty thousand': post('Transfer-Encoding: chunked', `${repeat('1\r\na\r\n', 20_000)}0\r\n\r\n`),
  'a chunk of no end': post('Transfer-Encoding: chunked', `ffffffffffffffff\r\n${repeat('a', 1000)}`),
  'a chunk’s extension of a mebibyte': post('Transfer-Encoding: chunked', `1;${repeat('a', mebibyte)}\r\na\r\n0\r\n\r\n`),
  'trailers of a mebibyte': post('Transfer-Encoding: chunked', `0\r\n${repeat('A: b\r\n', 100_000)}\r\n`),
  'four mebibytes in chunks': post('Transfer-Encoding: chunked', `400000\r\n${repeat('a', 4 * mebibyte)}\r\n0\r\n\r\n`),
  'an expectation of something else': head('Expect: 200-ok\r\n'),
  'an expectation, and no body': raw('POST /things HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n'),
  'an upgrade': head('Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n'),
  'a tunnel': raw('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n'),
  'the preface of HTTP/2': raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'a hello of TLS': raw(Uint8Array.from([0x16, 3, 1, 0, 0xa5, 1, 0, 0, 0xa1, 3, 3])),
  'a mebibyte of zeros': raw(new Uint8Array(mebibyte)),
  'a mebibyte of line ends': raw(repeat('\r\n', mebibyte / 2)),
  'a method of eight thousand': raw(`${repeat('G', 8000)} / HTTP/1.1\r\nHost: a\r\n\r\n`),
  'a name of a host of ten thousand': raw(`GET /status HTTP/1.1\r\nHost: ${repeat('a', 10_000)}\r\n\r\n`),
};

const volumes: Readonly<Record<string, Send>> = {
  'two thousand keys that nobody has': many(2000, (target, at) =>
    target.send('GET', '/things', { headers: { 'x-key': `nobody-${at}` } }),
  ),
  'two hundred wrong passwords': many(200, (target, at) =>
    target.send('GET', '/things', { headers: { authorization: `Basic ${Buffer.from(`user${at}:wrong`).toString('base64')}` } }),
  ),
  'a thousand tokens that nobody signed': many(1000, (target, at) =>
    target.send('GET', '/things', { headers: { authorization: `Bearer eyJhbGciOiJIUzI1NiJ9.eyJ${at}.c` } }),
  ),
  'a thousand idempotency keys': many(1000, (target, at) =>
    target.send('POST', '/things', { as: 'bob', headers: { 'idempotency-key': `k${at}` }, body: { name: `key ${at}` } }),
  ),
  'three hundred subscribers': many(300, (target, at) =>
    target.send('POST', '/hooks', { as: 'bob', body: { url: `https://h${at}.invalid/` } }),
  ),
  'a hundred and fifty streams': many(150, (target) =>
    target.raw(`GET /stream HTTP/1.1\r\nHost: a\r\nX-Key: ${target.keys.cleo}\r\n\r\n`, 80),
  ),
  'five hundred things of forty kibibytes': many(500, (target, at) =>
    target.send('POST', '/things', { as: 'bob', body: { name: `large ${at}`, extra: { text: repeat('x', 40_000) } } }),
  ),
  'pages of a hundred large things, thirty at once': many(30, (target) => target.send('GET', '/things?limit=100', { as: 'bob' })),
};

/** Those that are a matter of one request each. */
export const quickKinds: Kinds = { ...bodies, ...patterns, ...patternLists, ...queries, ...headers };

/** Every kind of request that asks for too much. */
export const kinds: Kinds = {
  ...quickKinds,
  ...connections,
  ...volumes,
};
