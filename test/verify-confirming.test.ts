import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { confirmed } from './values/confirmed.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/** What is listened to here is on this machine. */
const serve = { allowPrivateWebhooks: true };
const text = `title: Notes\n${confirmed}`;
const challenge = 'confirm: challenge';
const fact = 'delivery mechanism:service';

const rows: readonly Otherwise[] = [
  [
    'any success confirms an address',
    challenge,
    'confirm: { body: { type: url_verification, challenge: "{challenge}" } }',
    fact,
    /nothing to who did not confirm/,
  ],
  [
    'addresses are not asked',
    ', confirmed: confirmed }\n      confirm: challenge',
    ' }',
    fact,
    /asked before the first delivery|nothing to who did not confirm/,
  ],
  [
    'addresses are asked something else',
    challenge,
    'confirm: { body: { type: verification, challenge: "{challenge}" } }',
    fact,
    /asked before the first delivery|sent as stated/,
  ],
  ['the row never says that its address has confirmed', ', confirmed: confirmed }', ' }', fact, /told as confirmed/],
];

servedOtherwise(
  text,
  oneOfEach(rows, ([, , , breaks]) => breaks),
  serve,
);

const hub = confirmed.replace(
  challenge,
  'confirm: { method: GET, parameters: { hub.mode: subscribe, hub.challenge: "{challenge}" }, answer: "{challenge}" }',
);

for (const [how, document] of [
  ['a challenge', confirmed],
  ['a GET of its own', hub],
  ['a ping', confirmed.replace(challenge, 'confirm: ping')],
] as const)
  test(`a service that asks addresses by ${how} is found without a fault`, { skip: !isLong }, async () => {
    const stand = await openStand(`title: Notes\n${document}`, { serve });
    try {
      const { breaches } = await stand.verify(how === 'a challenge' ? {} : { only: [fact] });
      assert.deepEqual(breaches, []);
    } finally {
      await stand.close();
    }
  });
