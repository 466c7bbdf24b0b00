import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { accounts } from './values/accounts.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  ['null is refused', 'maxLength: 40, null: kept', 'maxLength: 40', 'types:account.nickname', /taken/],
  [
    'null is left out',
    'minimum: 0, maximum: 900, null: kept',
    'minimum: 0, maximum: 900, null: kept, set: { update: "has(next.limit) ? next.limit : 0" }',
    'allowed values:account.limit',
    /./,
  ],
  ['what changes nothing counts for nothing', ', counts: always', '', 'emitting operations:account.saved', /unchanged/],
  ['what changes nothing sets nothing', ', counts: always', '', 'allowed values:account.saves', /./],
  ['its end comes', 'sunset: { on: 2020-01-01, then: serves }', 'sunset: 2020-01-01', 'deprecation rules:v1', /sunset/],
  ['no end is announced', ', sunset: { on: 2020-01-01, then: serves }', '', 'deprecation rules:v1', /./],
  [
    'another example is answered',
    'save: { tip: Save often. }, rest: { tip: Rest well. }',
    'save: { tip: Save never. }',
    'response payload shapes:GET /tip',
    /example/,
  ],
];

servedOtherwise(
  accounts,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

test('a service that was built otherwise is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(accounts);
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
