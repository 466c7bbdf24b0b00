import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hunt } from '../bench/faults/hold.ts';
import { services } from '../bench/faults/services.ts';
import { oneOfEach } from './long.ts';

const hunts = [
  { name: 'shop', fault: 'customer-from-body' },
  { name: 'shop', fault: 'shipping-noted-twice' },
  { name: 'rooms', fault: 'number-given-again' },
  { name: 'rooms', fault: 'lapse-after-a-day' },
  { name: 'rooms', fault: 'changed-at-forgotten' },
];

for (const { name, fault } of oneOfEach(hunts, (hunt) => hunt.name)) {
  test(`${fault} of the ${name} is killed: its reproduction fails with it and passes without`, async () => {
    const service = services.find((one) => one.name === name)!;
    const hunted = await hunt(service, service.faults.find(({ id }) => id === fault)!, { seed: 1 }, true);
    assert.equal(hunted.remark, '');
    assert.ok(hunted.isKilled && hunted.steps > 0);
  });
}
