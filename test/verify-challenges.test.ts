import assert from 'node:assert/strict';
import { test } from 'node:test';
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
