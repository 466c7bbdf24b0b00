import assert from 'node:assert/strict';
import { test } from 'node:test';
import { challengeWords } from '../src/verify/trials/authentication/challenges.ts';
import { openStand, type Passing } from './verify/stand.ts';

const jars = (scheme: string) => `
title: Jars
purpose: { purpose: Keeps jars., base_url: none, users: { cook: Cooks. }, functions: none }
resources:
  jar: { identifier: { field: id, generate: uuid }, fields: { id: string, label: string }, required: [id, label] }
states: none
endpoints:
  POST /jars: { does: create jar }
  GET /jars/{id}: { does: read jar }
authentication:
  schemes: { key: ${scheme} }
  permissions: [{ allow: [create jar, read jar], to: cook }]
events: none
limits: { rate: none }
versioning: none
`;

/** Refuses without a word of how to show who one is. */
function unchallenged({ headers }: Passing): Partial<Passing> {
  const { 'www-authenticate': _challenge, ...others } = headers;
  return { headers: others };
}

async function told(scheme: string, conventions = false): Promise<string[]> {
  const stand = await openStand(jars(scheme), { spoil: unchallenged });
  try {
    const { breaches } = await stand.verify({ only: ['authentication/who is calling'], conventions });
    return [...new Set(breaches.map(({ reason }) => reason))];
  } finally {
    await stand.close();
  }
}

const own = '{ type: api_key, header: Jar-Key, generate: "jar_{random:20}" }';

for (const scheme of ['{ type: basic_key }', '{ type: basic }'])
  test(`a 401 without a challenge is told where the scheme's own standard has one: ${scheme}`, async () => {
    assert.deepEqual(await told(scheme), ['challenge']);
  });

for (const scheme of [own, '{ type: api_key, header: Authorization, prefix: Jar, generate: "jar_{random:20}" }'])
  test(`a credential that stands where nothing has a challenge for it promises none: ${scheme}`, async () => {
    assert.deepEqual(await told(scheme), []);
  });

test('it is a convention there, held where that is asked for', async () => {
  assert.deepEqual(await told(own, true), ['challenge']);
});

test('each scheme that has a standard challenge is among those of a 401', async () => {
  const schemes = '{ type: api_key, header: Authorization, prefix: Jar, generate: "jar_{random:20}" }, word: { type: basic }';
  const ask = async (spoil?: (passing: Passing) => Partial<Passing>) => {
    const stand = await openStand(jars(schemes), spoil ? { spoil } : {});
    try {
      const { breaches } = await stand.verify({ only: ['authentication/who is calling'] });
      return breaches.map(({ reason, promised }) => `${reason}: ${promised}`);
    } finally {
      await stand.close();
    }
  };
  assert.deepEqual(await ask(), []);
  const keyAlone = ({ headers }: Passing) => ({
    headers: headers['www-authenticate'] === undefined ? headers : { ...headers, 'www-authenticate': 'Jar realm="Jars, Basic"' },
  });
  const [first, ...others] = await ask(keyAlone);
  assert.equal(first, 'challenge: a challenge of each scheme that may be shown, basic among them');
  assert.ok(others.every((one) => one === first));
});

test('the schemes of challenges are told from their parameters', () => {
  const field = 'Jar realm="a, Basic b", error="none \\" c", Basic realm="x", charset="UTF-8", Negotiate, Digest a = "x", b = c';
  assert.deepEqual(challengeWords(field), ['jar', 'basic', 'negotiate', 'digest']);
  assert.deepEqual(challengeWords(''), []);
});
