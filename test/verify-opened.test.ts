import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/**
 * A loan is only given once a clerk has put the thing on a rack that is not locked, which its owner cannot do, and is over once what was paid
 * comes to it; payments are sent inside of a member whose map says nothing of what is in it.
 */
const pledges = `title: Pledges
purpose: { purpose: Lends money on things., users: { pledger: Brings them., clerk: Keeps them. } }
resources:
  rack:
    identifier: { field: id, generate: uuid }
    fields: { id: string, locked: { type: boolean, default: false } }
    required: [id, locked]
  pledge:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      item: { type: string, minLength: 3, maxLength: 20 }
      rack: { ref: rack, onDelete: restrict, writable: [clerk] }
      loan: { type: integer, readOnly: true, set: { offer: request.loan } }
      paid: { type: integer, derive: "sum(payment.pledge, item.amount)" }
      lent_at: { type: string, format: date-time, readOnly: true, set: { accept: now } }
      status: { type: string, readOnly: true }
    required: [id, item, paid, status]
  payment:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      pledge: { ref: pledge, onDelete: cascade }
      amount: { type: integer, minimum: 1, maximum: 5000000 }
      method: { enum: [cash, card], default: cash }
    required: [id, pledge, amount, method]
states:
  rack: none
  payment: none
  pledge:
    field: status
    initial: brought
    states: [brought, offered, pawned, redeemed]
    transitions:
      offer: brought -> offered
      accept: { from: offered, to: pawned, if: { if: has(resource.rack), else: no_rack } }
      redeem: { from: pawned, to: redeemed, if: { if: "has(resource.loan) && resource.paid >= resource.loan", else: unpaid } }
endpoints:
  POST /racks: { does: create rack }
  GET /racks/{id}: { does: read rack }
  POST /pledges: { does: create pledge }
  GET /pledges/{id}: { does: read pledge }
  PATCH /pledges/{id}: { does: update pledge, in: [brought, offered] }
  POST /pledges/{id}/offer:
    does: offer pledge
    request: { type: object, properties: { loan: { type: integer, minimum: 100, maximum: 4000000 } }, required: [loan] }
  POST /pledges/{id}/accept: { does: accept pledge }
  POST /pledges/{id}/redeem: { does: redeem pledge }
  POST /pledges/{pledge}/payments:
    does: create payment
    takes: payment
    request: { type: object, properties: { payment: { type: object } }, required: [payment] }
  GET /payments/{id}: { does: read payment }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create pledge, read pledge, update pledge, accept pledge, redeem pledge], to: pledger }
    - { allow: [read pledge, update pledge, offer pledge], to: clerk }
    - { allow: [create payment, read payment], to: pledger }
    - { allow: [create rack, read rack], to: clerk }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    no_such: { status: 422, when: reference.missing }
    not_now: { status: 409, when: transition.illegal }
    no_rack: { status: 409 }
    unpaid: { status: 402 }
    locked: { status: 409, on: [update pledge], if: "has(next.rack) && next.rack.locked" }
    not_pawned: { status: 409, on: [create payment], if: "next.pledge.status != 'pawned'" }
    too_much: { status: 422, on: [create payment], if: "has(next.pledge.loan) && next.amount > next.pledge.loan" }
limits: { rate: none }
versioning: { versions: none }
`;

const faults: readonly Otherwise[] = [
  [
    'what may be accepted once it has a place is not moved on',
    'from: offered, to: pawned',
    'from: offered, to: brought',
    'transitions:pledge',
    /accept leads/,
  ],
  [
    'what is set once it is accepted is not',
    'readOnly: true, set: { accept: now }',
    'readOnly: true, set: { offer: now }',
    'allowed values:pledge.lent_at',
    /set|answered|stored/,
  ],
  [
    'what was paid as far as it was lent is not enough',
    'resource.paid >= resource.loan',
    'resource.paid > resource.loan',
    'transitions:pledge',
    /redeem/,
  ],
  [
    'what stands inside of a member of any shape has another default',
    'enum: [cash, card], default: cash',
    'enum: [cash, card], default: card',
    'allowed values:payment.method',
    /default|stored|answered/,
  ],
];

servedOtherwise(pledges, faults);

test('what a transition asks of a row is brought about by whoever may', async () => {
  const stand = await openStand(pledges, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['states/transitions', 'states/guards', 'resources/stored'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    for (const name of ['transitions:pledge', 'allowed values:payment.amount']) {
      const fact = facts.find(({ kind, subject }) => `${kind}:${subject}` === name);
      const looks = fact?.evidence?.looks ?? [];
      const missing = looks.filter(({ isMet, name: look }) => !isMet && /^(?:accept|redeem) from|amount/.test(look));
      assert.deepEqual([fact?.why ?? '', missing], ['', []], name);
    }
  } finally {
    await stand.close();
  }
});
