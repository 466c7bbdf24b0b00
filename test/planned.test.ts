import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../src/parts/endpoints.ts';
import { type Plan, Planned } from '../src/serve/exchange/exchange.ts';

test('a plan is compiled when its endpoint is first called, and once', () => {
  // Nothing of either is looked at.
  const [endpoint, plan] = [{} as Endpoint, {} as Plan];
  let compiled = 0;
  const planned = new Planned(endpoint, () => {
    compiled += 1;
    return plan;
  });
  assert.equal(planned.endpoint, endpoint);
  assert.equal(compiled, 0);
  assert.equal(planned.plan, plan);
  assert.equal(planned.plan, plan);
  assert.equal(compiled, 1);
});

test('what cannot be compiled is tried again at the next call', () => {
  let tries = 0;
  const planned = new Planned({} as Endpoint, () => {
    tries += 1;
    throw new Error('not today');
  });
  assert.throws(() => planned.plan, /not today/);
  assert.throws(() => planned.plan, /not today/);
  assert.equal(tries, 2);
});
