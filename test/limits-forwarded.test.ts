import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileAddressOf } from '../src/serve/limits/whom.ts';

const client = '203.0.113.9';
const proxies = ['10.0.0.0/8', '192.168.1.1', '2001:db8:ffff::/48'];

interface Case {
  readonly why: string;
  readonly trusted?: readonly string[];
  readonly from: string;
  readonly plain?: string | string[];
  readonly standard?: string;
  readonly is: string;
}

const cases: readonly Case[] = [
  { why: 'no proxy is trusted', trusted: [], from: '10.0.0.1', plain: client, is: '10.0.0.1' },
  { why: 'whoever connects is no trusted proxy', from: '198.51.100.1', plain: client, is: '198.51.100.1' },
  { why: 'a trusted proxy says who asked', from: '10.0.0.1', plain: client, is: client },
  { why: 'it says so in the standard way', from: '10.0.0.1', standard: `for=${client};proto=https;by=10.0.0.1`, is: client },
  { why: 'it says nothing', from: '10.0.0.1', is: '10.0.0.1' },
  { why: 'what the client wrote itself stands before', from: '10.0.0.1', plain: `1.1.1.1, ${client}`, is: client },
  {
    why: 'several trusted proxies follow each other',
    from: '10.0.0.1',
    plain: `1.1.1.1, ${client}, 192.168.1.1,10.2.3.4`,
    is: client,
  },
  { why: 'only trusted proxies are in between', from: '10.0.0.1', plain: '10.0.0.9', is: '10.0.0.9' },
  { why: 'several fields are one list', from: '10.0.0.1', plain: ['1.1.1.1', client], is: client },
  { why: 'a port and brackets are left out', from: '10.0.0.1', plain: `${client}:4711`, is: client },
  { why: 'an address of IPv6 has brackets and a port', from: '10.0.0.1', plain: '[2001:db8::9]:80', is: '2001:db8::9' },
  { why: 'an address of IPv6 is quoted', from: '2001:db8:ffff::1', standard: 'For="[2001:db8::9]:80"', is: '2001:db8::9' },
  { why: 'a trusted proxy is an address inside IPv6', from: '::ffff:10.0.0.1', plain: client, is: client },
  { why: 'an entry is no address', from: '10.0.0.1', plain: `${client}, unknown`, is: '10.0.0.1' },
  { why: 'an entry is hidden', from: '10.0.0.1', standard: `for=${client}, for=_hidden`, is: '10.0.0.1' },
  { why: 'an entry is empty', from: '10.0.0.1', plain: `${client},`, is: '10.0.0.1' },
  { why: 'both ways agree', from: '10.0.0.1', plain: client, standard: `for=${client}`, is: client },
  {
    why: 'both ways do not agree: the client wrote one',
    from: '10.0.0.1',
    plain: client,
    standard: 'for=1.1.1.1',
    is: '10.0.0.1',
  },
];

for (const { why, trusted = proxies, from, plain, standard, is } of cases) {
  test(`where ${why}, the call comes from ${is}`, () => {
    const headers = {
      ...(plain !== undefined && { 'x-forwarded-for': plain }),
      ...(standard !== undefined && { forwarded: standard }),
    };
    assert.equal(compileAddressOf(trusted)({ address: from, headers }), is);
  });
}

test('whatever a client writes before, the address is the one that the nearest trusted proxy saw', () => {
  const addressOf = compileAddressOf(proxies);
  const forged = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.constantFrom('', ',', '10.0.0.1', 'for="', '"'));
  const model = fc.property(
    fc.array(forged),
    fc.array(fc.constantFrom('10.0.0.1', '192.168.1.1'), { maxLength: 3 }),
    (words, hops) => {
      const list = [...words, client, ...hops].join(', ');
      assert.equal(addressOf({ address: '10.9.9.9', headers: { 'x-forwarded-for': list } }), client);
      const standard = [...words, ...[client, ...hops].map((hop) => `for=${hop}`)].join(', ');
      assert.equal(addressOf({ address: '10.9.9.9', headers: { forwarded: standard } }), client);
    },
  );
  fc.assert(model, { numRuns: 300 });
});

test('a range holds its addresses and no others', () => {
  const model = fc.property(fc.ipV4(), fc.nat(32), fc.ipV4(), (network, bits, address) => {
    const number = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    const isIn = Math.floor(number(network) / 2 ** (32 - bits)) === Math.floor(number(address) / 2 ** (32 - bits));
    const from = compileAddressOf([`${network}/${bits}`])({ address, headers: { 'x-forwarded-for': '2001:db8::1' } });
    assert.equal(from === '2001:db8::1', isIn);
  });
  fc.assert(model, { numRuns: 500 });
});
