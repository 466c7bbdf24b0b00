import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { isLong, oneOfEach } from './long.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { addKey, guard, notes } from './serving/guarded.ts';
import { orders } from './values/orders.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

const scheme = 'schemes: { key: { type: basic_key, generate: "nk_{random:40}" } }';
const pair = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

test('a key is the name before an empty password, and nothing else of it is one', async () => {
  const guarded = await guard(notes(scheme));
  const { secret } = await addKey(guarded, {});
  const status = async (authorization: string) => (await guarded.ask({ authorization })).status;
  assert.equal(await status(pair(secret, '')), 200);
  assert.equal(await status(pair(secret, '').replace('Basic', 'basic')), 200);
  for (const other of [
    pair(secret, secret),
    pair('', secret),
    pair('somebody', secret),
    pair(`${secret}0`, ''),
    `Basic ${Buffer.from(secret).toString('base64')}`,
    `Basic ${secret}`,
    `Bearer ${secret}`,
    secret,
    'Basic %%%',
  ])
    assert.equal(await status(other), 401, other);
  const { headers } = await guarded.ask({});
  assert.match(String(headers.get('www-authenticate')), /^Basic realm="/);
  await guarded.close();
});

const document = orders.replace(/schemes: \{.*\}/, scheme);

test('a key before an empty password goes through OpenAPI and comes back', () => {
  const read = parseDocument(`title: Orders\n${document}`, 'orders.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(read, to)), plain(read.tree));
});

/** A service that reads the credential in another way than it says. */
function readAs(edit: (name: string, password: string) => string): Pick<StandOptions, 'bend'> {
  return {
    bend: ({ headers }) => {
      const sent = /^Basic (.+)$/.exec(String(headers.authorization ?? ''))?.[1];
      const [name = '', password = ''] = sent === undefined ? [] : Buffer.from(sent, 'base64').toString().split(':');
      return sent === undefined ? {} : { headers: { ...headers, authorization: edit(name, password) } };
    },
  };
}

const faults: readonly (readonly [what: string, wrong: Pick<StandOptions, 'bend' | 'spoil'>])[] = [
  ['the key is taken as the password too', readAs((name, password) => pair(password === '' ? name : password, ''))],
  ['what stands behind 43 characters is not looked at', readAs((name, password) => pair(name.slice(0, 43), password))],
  [
    'a word that nobody gave out is a key',
    (() => {
      let good = '';
      return readAs((name, password) => {
        if (name.startsWith('nk_') && name.length === 43) good ||= name;
        return pair(name === 'ninefold-verify' ? good : name, password);
      });
    })(),
  ],
];

for (const [what, wrong] of oneOfEach(faults, () => 'a credential')) {
  test(`verify finds that ${what}`, async () => {
    const stand = await openStand(document, { ...wrong, inPairs: true });
    try {
      const { breaches } = await stand.verify({ until: ({ kind }) => kind === 'schemes' });
      assert.ok(
        breaches.some(({ kind }) => kind === 'schemes'),
        breaches.map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`).join('; '),
      );
    } finally {
      await stand.close();
    }
  });
}

test('a service whose keys stand before an empty password is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(document, { inPairs: true });
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
