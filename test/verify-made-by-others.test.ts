import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Nobody bids for what he offers himself, and a bid is answered by whoever offered. */
const market = `title: Market
purpose: { purpose: Sells seeds., users: { grower: Offers and bids., warden: Looks on. } }
resources:
  lot:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      grower: { type: string, readOnly: true, set: { create: caller.id } }
      grams: { type: integer, minimum: 1, maximum: 1000 }
      status: { type: string, readOnly: true }
    required: [id, grower, grams, status]
  bid:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      lot: { ref: lot, immutable: true, onDelete: cascade }
      bidder: { type: string, readOnly: true, set: { create: caller.id } }
      giver: { type: string, readOnly: true, set: { create: next.lot.grower } }
      status: { type: string, readOnly: true }
    required: [id, lot, bidder, giver, status]
states:
  lot:
    field: status
    initial: hidden
    states: [hidden, offered]
    transitions: { offer: hidden -> offered }
  bid:
    field: status
    initial: pending
    states: [pending, agreed]
    transitions: { agree: pending -> agreed }
endpoints:
  POST /lots: { does: create lot }
  GET /lots/{id}: { does: read lot }
  POST /lots/{id}/offer: { does: offer lot }
  POST /lots/{lot}/bids: { does: create bid }
  GET /bids/{id}: { does: read bid }
  POST /bids/{id}/agree: { does: agree bid }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: create lot, to: grower }
    - { allow: read lot, to: [grower, warden] }
    - { allow: offer lot, to: grower, if: resource.grower == caller.id }
    - { allow: create bid, to: grower }
    - { allow: read bid, to: grower, if: "resource.bidder == caller.id || resource.giver == caller.id" }
    - { allow: agree bid, to: grower, if: resource.giver == caller.id }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, caller.forbidden] }
    no_such: { status: 422, when: reference.missing }
    not_now: { status: 409, when: transition.illegal }
    own_lot: { status: 422, on: [create bid], if: next.lot.grower == caller.id }
    not_offered: { status: 409, on: [create bid], if: "next.lot.status != 'offered'" }
limits: { rate: none }
versioning: { versions: none }
`;

test('what nobody may refer to who made it is made by somebody else', async () => {
  const bids = { made: 0, own: 0 };
  const stand = await openStand(market, {
    inPairs: true,
    spoil: ({ method, target, status, text }) => {
      if (method === 'POST' && target.endsWith('/bids')) bids.made += status === 201 ? 1 : 0;
      if (text.includes('own_lot')) bids.own += 1;
      return {};
    },
  });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    for (const name of ['transitions:bid', 'permission rules:agree bid', 'allowed values:bid.giver']) {
      const fact = facts.find(({ kind, subject }) => `${kind}:${subject}` === name);
      assert.equal(fact?.verdict, 'held', `${name}: ${fact?.why}`);
    }
    assert.ok(bids.made > 20 && bids.own < bids.made, JSON.stringify(bids));
  } finally {
    await stand.close();
  }
});

const lots = '  POST /lots/{id}/offer: { does: offer lot }';
/** The same, where a bid can also be taken back, and not by whoever made it. */
const withdrawn = market
  .replace('agree: pending -> agreed }', 'agree: pending -> agreed, drop: pending -> dropped }')
  .replace('states: [pending, agreed]', 'states: [pending, agreed, dropped]')
  .replace(lots, `${lots}\n  POST /bids/{id}/drop: { does: drop bid }`)
  .replace('allow: agree bid, to: grower, if: resource.giver == caller.id', 'allow: [agree bid, drop bid], to: grower')
  .replace(
    '    not_offered:',
    '    own_bid: { status: 403, on: [drop bid], if: resource.bidder == caller.id }\n    not_offered:',
  );

test('an error that refuses who made a row is brought about by its maker, and what it refuses is done by others', async () => {
  const stand = await openStand(withdrawn, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['errors/own', 'states/transitions', 'endpoints/idempotency'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    const verdicts = ['own_lot', 'own_bid'].map((name) =>
      facts.find(({ kind, subject }) => kind === 'conditions' && subject === name),
    );
    assert.deepEqual(
      verdicts.map((fact) => fact?.verdict),
      ['held', 'held'],
      verdicts.map((fact) => fact?.why).join('; '),
    );
    assert.equal(facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'bid')?.verdict, 'held');
  } finally {
    await stand.close();
  }
});

test('an error that refuses nobody for what he made is told', async () => {
  const served = withdrawn.replace('if: resource.bidder == caller.id }', "if: resource.bidder == 'nobody' }");
  const stand = await openStand(withdrawn, { inPairs: true, served });
  try {
    const { breaches } = await stand.verify({ only: ['errors/own'] });
    assert.ok(breaches.some(({ kind, subject }) => kind === 'conditions' && subject === 'own_bid'));
  } finally {
    await stand.close();
  }
});
