import assert from 'node:assert/strict';
import { createPublicKey, createSecretKey } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { parseDocument, serve } from '../src/index.ts';
import { statedComponent } from '../src/kinds/schemes/message-components.ts';
import { isDigestOf, readMessage } from '../src/kinds/schemes/message-signatures.ts';
import type { RequestAlgorithm } from '../src/kinds/schemes/request-keys.ts';
import { readValue, valueTemplate } from '../src/kinds/schemes/signing-template.ts';
import { readDictionary } from '../src/kinds/schemes/structured-fields.ts';
import { settableClock } from '../src/serve/http/clock.ts';
import { type Asked, type Held, signedByHmac, signedMessage } from './request-signatures/signer.ts';
import { byHmac, byMessage, vault } from './request-signatures/vault.ts';

async function started(scheme: string) {
  const clock = settableClock();
  const service = await serve(parseDocument(vault(scheme), 'vault.yaml'), {
    clock,
    onFailure: (failure) => assert.fail(String(failure)),
  });
  const server = await service.listen({ port: 0, host: '127.0.0.1' });
  const host = `127.0.0.1:${server.port}`;
  return {
    host,
    clock,
    service,
    seconds: () => Math.floor(clock.now() / 1000),
    async key(id: string, secret?: string): Promise<Held> {
      const told = await service.administer('keys add', { user: 'machine', id, ...(secret !== undefined && { secret }) });
      // What `keys add` gives.
      const { key, secret: made } = told as { readonly key: string; readonly secret: string };
      return { keyId: key, secret: made };
    },
    /** Asks, and says the status and the code of the answer. */
    async ask(asked: Asked, headers: Readonly<Record<string, string | string[]>>) {
      return new Promise<string>((resolve, reject) => {
        const sent = httpRequest(
          {
            host: '127.0.0.1',
            port: server.port,
            method: asked.method,
            path: asked.target,
            headers: {
              ...(asked.body !== undefined && {
                'content-type': 'application/json',
                'content-length': Buffer.byteLength(asked.body),
              }),
              ...headers,
            },
          },
          async (response) => {
            let text = '';
            for await (const piece of response) text += String(piece);
            const code = text === '' ? undefined : JSON.parse(text).code;
            resolve(code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`);
          },
        );
        sent.on('error', reject);
        sent.end(asked.body);
      });
    },
    async close() {
      await server.close();
      await service.close();
    },
  };
}

const posted: Asked = { method: 'POST', target: '/v1/notes', body: '{"text":"hello"}' };
const listed: Asked = { method: 'GET', target: '/v1/notes?text=hello' };

test('a request that is signed by an HMAC over its parts is taken, and nothing that differs in one of them', async () => {
  const { key, ask, close, clock, seconds, service } = await started(byHmac);
  try {
    const held = await key('m1');
    const now = () => ({ seconds: seconds() });
    const good = signedByHmac(posted, held, now());
    assert.equal(await ask(posted, good), '201');
    assert.equal(await ask(posted, good), '401 bad', 'a nonce is taken once');
    assert.equal(await ask(listed, signedByHmac(listed, held, now())), '200');
    const other = (asked: Partial<Asked>) => signedByHmac({ ...posted, ...asked }, held, now());
    assert.equal(await ask(posted, other({ body: '{"text":"hallo"}' })), '401 bad');
    assert.equal(await ask(posted, other({ method: 'PUT' })), '401 bad');
    assert.equal(await ask(listed, signedByHmac({ ...listed, target: '/v1/notes?text=hallo' }, held, now())), '401 bad');
    assert.equal(await ask(posted, signedByHmac(posted, { ...held, secret: `${held.secret}x` }, now())), '401 bad');
    assert.equal(await ask(posted, signedByHmac(posted, { ...held, keyId: 'key_nobody' }, now())), '401 bad');
    assert.equal(await ask(posted, signedByHmac(posted, held, { seconds: seconds() - 121 })), '401 over');
    assert.equal(await ask(posted, signedByHmac(posted, held, { seconds: seconds() + 122 })), '401 bad');
    assert.equal(await ask(posted, signedByHmac(posted, held, { seconds: seconds() - 118 })), '201');
    assert.equal(await ask(posted, {}), '401 none');
    const { 'x-nonce': _left, ...without } = signedByHmac(posted, held, now());
    assert.equal(await ask(posted, without), '401 bad');
    const twice = signedByHmac(posted, held, now());
    assert.equal(
      await ask(posted, { ...twice, 'x-nonce': [twice['x-nonce'], twice['x-nonce']] }),
      '401 bad',
      'a header that comes twice',
    );
    for (const value of [
      '',
      't=1,v1=',
      `t=1,v1=${'0'.repeat(64)},`,
      `t=1,v1=${'g'.repeat(64)}`,
      `t=,v1=${'0'.repeat(64)}`,
      'x'.repeat(4000),
    ])
      assert.match(await ask(posted, { ...signedByHmac(posted, held, now()), 'x-signature': value }), /^401/, value.slice(0, 80));
    // A nonce is forgotten with its time, in which the request is over anyhow.
    const again = signedByHmac(posted, held, { ...now(), nonce: 'again' });
    assert.equal(await ask(posted, again), '201');
    clock.set(clock.now() + 400_000);
    await service.settled();
    assert.equal(await ask(posted, again), '401 over');
    assert.equal(await ask(posted, signedByHmac(posted, held, { ...now(), nonce: 'again' })), '201');
  } finally {
    await close();
  }
});

test('a key is rotated and revoked like any other, and its secret is shown once', async () => {
  const { key, ask, close, seconds, service } = await started(byHmac);
  try {
    const held = await key('m1');
    const rotated = (await service.administer('keys rotate', { key: held.keyId })) as { readonly secret: string };
    const asks = (secret: string) => ask(listed, signedByHmac(listed, { ...held, secret }, { seconds: seconds() }));
    assert.deepEqual([await asks(held.secret), await asks(rotated.secret)], ['200', '200'], 'the old one holds for a while');
    assert.ok(!JSON.stringify(await service.administer('keys list', {})).includes(rotated.secret.slice(0, -4)));
    await service.administer('keys revoke', { key: held.keyId });
    assert.deepEqual([await asks(held.secret), await asks(rotated.secret)], ['401 bad', '401 bad']);
    await assert.rejects(service.administer('keys add', { user: 'machine', id: 'm2', secret: 'short' }), /16 to 512/);
    await assert.rejects(
      service.administer('keys add', { user: 'machine', id: 'm2', secret: '-----BEGIN PRIVATE KEY-----' }),
      /private|bring/i,
    );
  } finally {
    await close();
  }
});

test('where it is open what is signed, nobody can sign, and the scheme is refused by its name', async () => {
  for (const scheme of [
    byHmac.replace(/value: "[^"]*"/, 'value: !open "how?"'),
    byMessage.replace(/covers: .*]/, 'covers: !open "what?"'),
  ]) {
    const { ask, close } = await started(scheme);
    try {
      assert.match(await ask(listed, { 'x-signature': 'abc', signature: 'sig=:AAAA:' }), /^501/);
    } finally {
      await close();
    }
  }
});

test('the size of a body comes before its signature, and a body that nobody has signed is not waited for', async () => {
  const { key, ask, close, seconds, host } = await started(byHmac);
  try {
    const held = await key('m1');
    const large = { ...posted, body: JSON.stringify({ text: 'x'.repeat(300) }) };
    assert.equal(await ask(large, signedByHmac(large, held, { seconds: seconds() })), '413');
    assert.equal(await ask(large, {}), '401 none');
    // Of a body of 100 bytes not one is sent: who waits for it has no answer.
    const [hostname, port] = host.split(':');
    const first = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const sent = httpRequest(
          { host: hostname, port, method: 'POST', path: '/v1/notes', headers: { ...headers, 'content-length': 100 } },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
            sent.destroy();
          },
        );
        sent.on('error', reject);
        sent.flushHeaders();
      });
    const good = signedByHmac(posted, held, { seconds: seconds() });
    const { 'x-signature': _left, ...unsigned } = good;
    assert.equal(await first(unsigned), 401);
    assert.equal(await first({ ...good, 'x-key': 'key_nobody' }), 401);
    assert.equal(await first({ ...good, 'x-signature': `t=1,v1=${'0'.repeat(64)}` }), 401);
  } finally {
    await close();
  }
});

const covers = ['@method', '@target-uri', 'content-digest'];

test('a message that is signed as RFC 9421 says is taken, by each stated algorithm', async () => {
  for (const algorithm of ['hmac-sha256', 'ed25519', 'ecdsa-p256-sha256', 'rsa-pss-sha512']) {
    const { key, ask, close, seconds, host } = await started(
      byMessage.replace(/algorithms: \[[^\]]*\]/, `algorithms: [${algorithm}]`),
    );
    try {
      const held = { ...(await key('m1')), algorithm };
      const now = { created: seconds() };
      assert.equal(await ask(posted, signedMessage(posted, held, host, covers, now)), '201', algorithm);
      assert.equal(await ask(listed, signedMessage(listed, held, host, covers.slice(0, 2), now)), '200', algorithm);
      const changed = { ...posted, body: '{"text":"hallo"}' };
      assert.equal(await ask(changed, signedMessage(posted, held, host, covers, now)), '401 bad', algorithm);
      const cut = signedMessage(posted, held, host, covers, now);
      assert.equal(await ask(posted, { ...cut, signature: cut.signature.replace(/.{8}:$/, 'AAAAAAAA:') }), '401 bad', algorithm);
    } finally {
      await close();
    }
  }
});

test('a message is refused that lacks a component, comes late, names another algorithm, or differs from what was signed', async () => {
  const { key, ask, close, seconds, host } = await started(byMessage);
  try {
    const held = await key('m1');
    const pair = await key('m2', 'MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=');
    const now = { created: seconds() };
    const signs = (more: object = {}, asked: Asked = posted, by: Held = held) =>
      signedMessage(asked, by, host, covers, { ...now, ...more });
    const of = async (headers: Record<string, string | string[]>, asked = posted) => ask(asked, headers);
    assert.equal(await of(signs()), '201');
    assert.equal(await of(signs({ alg: 'hmac-sha256', nonce: 'n1', expires: seconds() + 60 })), '201');
    assert.equal(await of(signs({ scheme: 'https' })), '201', 'a proxy may have ended its TLS');
    assert.equal(
      await of(
        signs({ components: [...covers, 'content-type'] }, { ...posted, headers: { 'content-type': 'application/json' } }),
      ),
      '201',
    );
    const bad: readonly (readonly [string, Record<string, string | string[]>])[] = [
      ['a component is missing', signs({ components: ['@method', '@target-uri'] })],
      ['no digest', signs({ components: ['@method'] })],
      ['a component twice', signs({ components: [...covers, '@method'] })],
      ['a header that is not there', signs({ components: [...covers, 'x-other'] })],
      ['a component that there is none of', signs({ components: [...covers, '@status'] })],
      ['another host', signs({ host: 'other.example' })],
      ['another method', signs({}, { ...posted, method: 'PUT' })],
      ['another query', signs({}, { ...posted, target: '/v1/notes?a=b' })],
      ['another body', signs({}, { ...posted, body: '{"text":"hallo"}' })],
      ['another algorithm', signs({ alg: 'ed25519' })],
      ['an unknown algorithm', signs({ alg: 'none' })],
      ['another key', signs({}, posted, { ...held, secret: 'x'.repeat(32) })],
      ['nobody', signs({}, posted, { ...held, keyId: 'key_nobody' })],
      ['a secret that is the public key', signs({}, posted, { ...pair, secret: pair.secret })],
      ['two signatures', { ...signs(), signature: [signs().signature, signs().signature] }],
      [
        'two labels',
        { ...signs(), 'signature-input': `${signs()['signature-input']}, b=()`, signature: `${signs().signature}, b=:AAAA:` },
      ],
      ['an input more', { ...signs(), 'signature-input': `${signs()['signature-input']}, b=()` }],
      [
        'a covered header that comes twice, though both are signed',
        { ...signs({ components: [...covers, 'x-a'] }, { ...posted, headers: { 'x-a': '1, 1' } }), 'x-a': ['1', '1'] },
      ],
      ['no input', { ...signs(), 'signature-input': '' }],
      ['a time to come', signs({ created: seconds() + 400 })],
      ['no time', { ...signs(), 'signature-input': signs()['signature-input'].replace(/created=\d+;/, '') }],
      [
        'a covered header twice',
        { ...signs({ components: [...covers, 'x-a'] }, { ...posted, headers: { 'x-a': '1' } }), 'x-a': ['1', '1'] },
      ],
    ];
    for (const [what, headers] of bad) assert.equal(await of(headers), '401 bad', what);
    assert.equal(await of(signs({ created: seconds() - 400 })), '401 over');
    assert.equal(await of(signs({ expires: seconds() - 1 })), '401 over');
    const { signature: _left, ...unsigned } = signs();
    assert.equal(await of(unsigned), '401 none');
  } finally {
    await close();
  }
});

/** The examples of RFC 9421, appendix B.2, and the keys of B.1. */
const shared = Buffer.from('uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==', 'base64');
const ed25519 = Buffer.from('MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=', 'base64');
const appendix: readonly (readonly [RequestAlgorithm, string, string, ReturnType<typeof createSecretKey>])[] = [
  [
    'hmac-sha256',
    'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    'sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:',
    createSecretKey(shared),
  ],
  [
    'ed25519',
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
    createPublicKey({ key: ed25519, format: 'der', type: 'spki' }),
  ],
];

test('the examples of RFC 9421 are good, and no longer where one letter differs', () => {
  const body = Buffer.from('{"hello": "world"}');
  const digest = 'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:';
  assert.ok(isDigestOf(digest, body));
  assert.ok(!isDigestOf(digest, Buffer.from('{"hello": "World"}')));
  assert.ok(!isDigestOf('md5=:AAAA:', body), 'a digest that there are no means for shows nothing');
  const headers: Record<string, string> = {
    host: 'example.com',
    date: 'Tue, 20 Apr 2021 02:07:55 GMT',
    'content-type': 'application/json',
    'content-digest': digest,
    'content-length': '18',
  };
  for (const [algorithm, input, signature, key] of appendix) {
    const read = (more: Record<string, string>, method = 'POST') => {
      const all: Record<string, string> = { ...headers, 'signature-input': input, ...more };
      const head = { method, path: '/foo', query: 'param=Value&Pet=dog', hasBody: true, header: (name: string) => all[name] };
      return readMessage({ wanted: () => [], algorithms: [algorithm], isTakenOnce: false }, head, signature)?.isBy(
        { algorithm, key },
        body,
      );
    };
    assert.equal(read({}), true, algorithm);
    assert.equal(read({ date: 'Tue, 20 Apr 2021 02:07:56 GMT' }), false, algorithm);
    assert.equal(read({ 'signature-input': input.replace('3;keyid', '4;keyid') }), false, algorithm);
  }
});

test('a value is read by the whole of its template, in whatever order its words stand', () => {
  const read = (template: string, value: string) => {
    const parsed = valueTemplate(template);
    const said: Record<string, string> = {};
    return 'wrong' in parsed ? parsed.wrong : readValue(parsed, value, said) && { ...said };
  };
  assert.deepEqual(read('k={key_id};t={timestamp:ms}', 'k=a.b;t=1500'), { key_id: 'a.b', timestamp: '1500', atMs: '1500' });
  assert.deepEqual(read('{timestamp:http-date}', 'Thu, 01 Jan 1970 00:00:01 GMT'), {
    timestamp: 'Thu, 01 Jan 1970 00:00:01 GMT',
    atMs: '1000',
  });
  assert.deepEqual(read('v1', 'v1'), {});
  for (const [template, value] of [
    ['v1', 'v1x'],
    ['k={key_id}', 'k='],
    ['k={key_id}', 'xk=a'],
    ['k={key_id};', 'k=a'],
    ['k={key_id};t={timestamp}', 'k=a;t=1x'],
    ['k={key_id};t={timestamp}', 'k=a;b;t=1'],
    ['{timestamp:http-date}', 'Fri, 01 Jan 1970 00:00:01 GMT'],
    ['{nonce}', 'x'.repeat(200)],
  ] as const)
    assert.equal(read(template, value), false, `${template} ${value}`);
});

test('structured fields are read as they are written, and nothing else', () => {
  const read = readDictionary('a=("x" "y";q=1);n=2;s="a\\"b", b=:AAEC:, c, d;x=?0, e=tok/en, f=-1.5');
  assert.deepEqual([...(read?.keys() ?? [])], ['a', 'b', 'c', 'd', 'e', 'f']);
  assert.equal(read?.get('a')?.text, '("x" "y";q=1);n=2;s="a\\"b"');
  assert.equal(read?.get('a')?.parameters.get('s'), 'a"b');
  assert.deepEqual(read?.get('b')?.value, Buffer.from([0, 1, 2]));
  for (const text of [
    'a=',
    'a=(',
    'a=("x"',
    'a=("x""y")',
    'a,',
    'A=1',
    'a="é"',
    'a="',
    'a=:A:',
    'a;b;b',
    'a=1 b=2',
    `a="${'x'.repeat(20_000)}"`,
  ])
    assert.equal(readDictionary(text), undefined, text.slice(0, 40));
  assert.equal(statedComponent('@query-param;name="page"')?.text, '"@query-param";name="page"');
  for (const text of ['@status', 'Date', '@query-param', 'date;sf', '']) assert.equal(statedComponent(text), undefined, text);
});
