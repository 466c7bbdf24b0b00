import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { compareSchemes, prefixOf, schemeKind, schemeKinds, schemeWord } from '../src/kinds/schemes/all.ts';
import type { PlacedScheme, SchemeKind } from '../src/kinds/schemes/kind.ts';
import { readToken } from '../src/kinds/schemes/token.ts';

const kinds: readonly SchemeKind[] = schemeKinds;
type Stated = Parameters<typeof compareSchemes>[0];

const plain: PlacedScheme = { name: 'one', in: 'header', flows: {}, scopes: {}, own: {} };
const flows = { client_credentials: { token_url: 'https://id.example/token' } };
const forge = (_algorithm: string, signed: string) =>
  sign('sha256', Buffer.from(signed), {
    key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    dsaEncoding: 'ieee-p1363',
  }).toString('base64url');
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = `${encoded({ alg: 'ES256' })}.${encoded({ sub: 'ann' })}.${'A'.repeat(86)}`;

for (const kind of kinds) {
  const word = schemeWord(kind.word);
  const stated = { ...plain, type: word, carriedIn: kind.usualHeader ?? 'X-Key' };
  const good =
    kind.proof?.by === 'token'
      ? token
      : kind.proof?.by === 'password'
        ? 'ann:secret'
        : kind.proof?.by === 'signing'
          ? 'k_4f2kQ7:secret'
          : 'k_4f2kQ7';

  test(`a near miss is another credential, and nobody gave out the invented one: ${kind.word}`, () => {
    assert.ok(kind.takes(good));
    const { text } = kind.presented(good);
    const misses = kind.nearMisses({ generate: 'k_{random:6}' }, text, forge);
    assert.ok(misses.length > 3);
    assert.equal(new Set([text, kind.invented, ...misses.map((one) => one.text)]).size >= misses.length + 1, true);
    for (const { how, text: miss } of misses) assert.notEqual(miss, text, how);
    if (kind.proof?.by !== 'password') return;
    const { read, write } = kind.proof;
    assert.deepEqual(read(text), { name: 'ann', password: 'secret' });
    assert.equal(write('ann', 'secret'), text);
    assert.ok(read(kind.invented));
  });

  if (kind.proof?.by === 'password')
    test(`a name and a password are taken as they are, and as they are sent, with the word before them or without: ${kind.word}`, () => {
      const { text } = kind.presented('ann:secret');
      const word = kind.prefix === undefined ? '' : `${kind.prefix} `;
      for (const given of ['ann:secret', text, `${word}${text}`]) {
        assert.ok(kind.takes(given), given);
        assert.deepEqual(kind.presented(given), { text: given === 'ann:secret' ? text : given, name: 'ann' });
      }
      // Base64 of what has no colon in it is no name and no password.
      assert.ok(!kind.takes(btoa('ann')));
    });

  test(`its challenge names the realm, and says what is wrong with what came: ${kind.word}`, () => {
    const asked = { realm: 'A "b"', in: 'header', name: stated.carriedIn, prefix: prefixOf(stated), isBad: false } as const;
    assert.match(kind.challenge(asked), /^[\w!#$%&'*+.^`|~-]+ realm="A \\"b\\""/);
  });

  test(`what is written of it elsewhere is read as it, or says its kind beside: ${kind.word}`, () => {
    const { written, isKindTold } = kind.toOpenApi({ ...stated, flows });
    const read = kinds.find((other) => other.isInOpenApi(written));
    if (isKindTold) assert.equal(read, kind);
    const foreign = kinds.flatMap((other) => other.ofForeign(written) ?? []);
    assert.equal(foreign.length, 1, 'one kind knows it');
    for (const key of foreign[0]?.read ?? []) assert.ok(['type', 'scheme', 'in', 'name', 'bearerFormat'].includes(key), key);
  });
}

/** Schemes, each of which is tighter than the one before it in its list. */
const tighter: readonly (readonly Stated[])[] = [
  [
    { ...plain, type: 'jwt', carriedIn: 'Authorization' },
    { ...plain, type: 'jwt', carriedIn: 'Authorization', algorithms: ['ES256', 'RS256'] },
    { ...plain, type: 'jwt', carriedIn: 'Authorization', algorithms: ['ES256'] },
    { ...plain, type: 'jwt', carriedIn: 'authorization', prefix: 'bearer', algorithms: ['ES256'], audience: 'parcels' },
  ],
  [
    { ...plain, type: 'oauth2', carriedIn: 'Authorization', flows: { ...flows, implicit: {} }, scopes: { a: '', b: '' } },
    { ...plain, type: 'oauth2', carriedIn: 'Authorization', flows, scopes: { a: '', b: '' } },
    { ...plain, type: 'oauth2', carriedIn: 'Authorization', flows, scopes: { b: '' } },
  ],
  [{ ...plain, type: 'api_key', carriedIn: 'X-Key' }],
  [{ ...plain, type: 'api_key', carriedIn: 'X-Other-Key' }],
  [{ ...plain, type: 'api_key', in: 'query', carriedIn: 'X-Key' }],
  [{ ...plain, type: 'basic', carriedIn: 'Authorization' }],
  [{ ...plain, type: 'jwt', carriedIn: 'Authorization', issuer: 'https://a.example', audience: 'x' }],
];

test('schemes compare by what they ask of callers: the same of itself, and the other way round from the other side', () => {
  for (const list of tighter)
    for (const [at, one] of list.entries())
      for (const others of tighter)
        for (const [to, other] of others.entries()) {
          if (list !== others && list[0]?.type === 'jwt' && others[0]?.type === 'jwt') continue;
          const wanted = list !== others ? 'other' : at === to ? 'same' : at < to ? 'tighter' : 'looser';
          assert.equal(compareSchemes(one, other), wanted, `${JSON.stringify(one)} to ${JSON.stringify(other)}`);
        }
});

test('another issuer is another thing, and a kind that there is none of cannot be compared', () => {
  const of = (issuer: string): Stated => ({ ...plain, type: 'jwt', issuer });
  assert.equal(compareSchemes(of('https://a.example'), of('https://b.example')), 'other');
  assert.equal(compareSchemes({ ...plain, type: undefined }, { ...plain, type: undefined }), 'other');
  assert.equal(schemeWord('apikey'), undefined);
  assert.equal(schemeKind(undefined), undefined);
});

test('a token of somebody else has the claims of the good one', () => {
  const misses = schemeKind('jwt')?.nearMisses({}, token, forge) ?? [];
  const others = misses.find(({ how }) => how.includes('somebody else'));
  assert.deepEqual(readToken(others?.text ?? '')?.claims, { sub: 'ann' });
});

test('a token that is accepted is held to its type and its end, and who states them takes fewer', () => {
  const kind = schemeKind('jwt') as SchemeKind;
  const typed = `${encoded({ alg: 'ES256', typ: 'at+jwt' })}.${encoded({ exp: 1 })}.${'A'.repeat(86)}`;
  const seen = (own: PlacedScheme['own'], text: string) => {
    const flaw = kind.formFlaw({ ...plain, own }, text);
    return flaw && 'seen' in flaw ? flaw.seen : undefined;
  };
  assert.equal(seen({ typ: 'application/AT+JWT', expires: 'required' }, typed), undefined);
  assert.equal(seen({ typ: 'JWT' }, typed), 'the one that is accepted says at+jwt');
  assert.equal(seen({ expires: 'required' }, token), 'the one that is accepted says none');
  const jwt: Stated = { ...plain, type: 'jwt', carriedIn: 'Authorization' };
  for (const own of [{ typ: 'at+jwt' }, { expires: 'required' }])
    assert.deepEqual([compareSchemes(jwt, { ...jwt, own }), compareSchemes({ ...jwt, own }, jwt)], ['tighter', 'looser']);
});
