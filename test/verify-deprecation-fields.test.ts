import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deprecationFlaw, linksIn, saysDeprecated } from '../src/verify/make/versions.ts';
import { challengeFlaw } from '../src/verify/trials/authentication/challenges.ts';

const stated = { at: '', deprecated: '2026-06-01', sunset: '2027-06-01', link: 'https://a.example/b', alternative: '2' };
const good = {
  deprecation: '@1780272000',
  sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
  link: '<https://a.example/b>; rel="deprecation", </c>; rel="successor-version"',
};

const cases: readonly (readonly [string, Partial<Record<keyof typeof good, string | undefined>>, RegExp | undefined])[] = [
  ['as stated', {}, undefined],
  ['no Deprecation', { deprecation: undefined }, /there is no Deprecation/],
  ['a Deprecation of the draft', { deprecation: 'Mon, 01 Jun 2026 00:00:00 GMT' }, /no date of RFC 9745/],
  ['true', { deprecation: 'true' }, /no date of RFC 9745/],
  ['milliseconds', { deprecation: '@1780272000000' }, /Deprecation is @1780272000000/],
  ['another day', { deprecation: '@1780358400' }, /2026-06-02/],
  ['no Sunset', { sunset: undefined }, /there is no Sunset/],
  ['a Sunset in the form of ISO', { sunset: '2027-06-01T00:00:00Z' }, /no HTTP date/],
  ['another Sunset', { sunset: 'Wed, 02 Jun 2027 00:00:00 GMT' }, /Sunset is Wed/],
  ['no Link', { link: undefined }, /there is no Link to https:\/\/a\.example\/b/],
  ['a Link of another relation', { link: '<https://a.example/b>; rel="help"' }, /no Link/],
  ['a Link with several relations', { link: '<https://a.example/b>; title="x, y"; rel="help deprecation"' }, undefined],
];
for (const [name, changed, flaw] of cases) {
  test(`fields of a deprecation: ${name}`, () => {
    const headers = Object.fromEntries(Object.entries({ ...good, ...changed }).filter(([, value]) => value !== undefined));
    const found = deprecationFlaw([stated], headers as Record<string, string>);
    if (flaw) assert.match(found ?? 'none', flaw);
    else assert.equal(found, undefined);
    // What is stated twice may be told by either.
    assert.equal(deprecationFlaw([{ at: '' }], {}), undefined);
  });
}

test('links are read with their relations', () => {
  assert.deepEqual(linksIn('<a>; rel=next, <b,c>;rel="prev  last" , <d>'), [
    { href: 'a', rel: ['next'] },
    { href: 'b,c', rel: ['prev', 'last'] },
    { href: 'd', rel: [''] },
  ]);
  assert.ok(saysDeprecated({ sunset: '' }));
});

test('a 401 has a challenge, which begins with a scheme', () => {
  for (const field of ['Bearer', 'Bearer realm="x", error="invalid_token"', 'ApiKey realm="a", Basic realm="b"'])
    assert.equal(challengeFlaw(field), undefined, field);
  for (const field of [undefined, '', ' ', 'realm="x"', '"Bearer"'])
    assert.notEqual(challengeFlaw(field), undefined, String(field));
});
