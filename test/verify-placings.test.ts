import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type Passing, type StandOptions } from './verify/stand.ts';

/** Orders that are placed, so many a day. */
const placings = `title: Placings
purpose: { purpose: Takes orders., users: { buyer: Orders. } }
resources:
  order:
    identifier: { field: id, generate: uuid }
    fields: { id: string, sheets: { type: integer, minimum: 1, maximum: 500 }, state: { type: string, readOnly: true } }
    required: [id, sheets, state]
states:
  order: { field: state, initial: drafted, states: [drafted, placed], transitions: { place: { from: drafted, to: placed } } }
endpoints:
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
  POST /orders/{id}/place: { does: place order }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: all order, to: buyer }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    placed_already: { status: 409, when: transition.illegal }
    enough: { status: 429, when: limit.quota }
limits: { rate: none, quota: [{ per: caller, on: [place order], limit: 4, window: day, zone: UTC }] }
versioning: none
`;

async function told(options: StandOptions = {}): Promise<string[]> {
  const stand = await openStand(placings, options);
  try {
    const { breaches } = await stand.verify({ only: ['limits/quotas'], clockUrl: stand.clockUrl, seed: 2 });
    return breaches.map(({ kind, reason }) => `${kind}: ${reason}`);
  } finally {
    await stand.close();
  }
}

test('a placing that is refused for the state of its order and uses up the quota of the day is a breach', async () => {
  assert.deepEqual(await told(), []);
  let [refused, done] = [0, 0];
  const text = JSON.stringify({ type: 'about:blank', title: 'Too Many Requests', status: 429, code: 'enough' });
  const spoil = ({ target, status }: Passing): Partial<Passing> => {
    if (!target.endsWith('/place')) return {};
    if (status === 409) refused += 1;
    if (status !== 200) return {};
    done += 1;
    return (done + refused - 1) % 4 === 0 && refused > 0 && done > 1 ? { status: 429, text } : {};
  };
  assert.ok((await told({ spoil })).includes('quotas: not earlier'));
});
