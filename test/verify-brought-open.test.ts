import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VerifyReport } from '../src/index.ts';
import { openStand } from './verify/stand.ts';

/** A lot is put up once it was inspected, which another of its machines says; who wins one gets a bill, which a list of two on a page shows alone. */
const sale = `title: Sale
purpose: { purpose: Sells lots., users: { seller: Sells., inspector: Looks at them. } }
resources:
  lot:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      words: { type: string, minLength: 3, maxLength: 20 }
      state: { type: string, readOnly: true }
      check: { type: string, readOnly: true }
    required: [id, words, state, check]
  bid:
    identifier: { field: id, generate: uuid }
    fields: { id: string, lot: { ref: lot, onDelete: cascade, immutable: true }, pence: { type: integer, minimum: 1, maximum: 900 } }
    required: [id, lot, pence]
  bill:
    identifier: { field: id, generate: integer }
    fields: { id: integer, lot: { ref: lot, onDelete: cascade, readOnly: true }, state: { type: string, readOnly: true } }
    required: [id, lot, state]
states:
  bid: none
  lot.state:
    initial: landed
    states: [landed, up, sold]
    transitions:
      offer: { from: landed, to: up, if: "resource.check == 'cleared'" }
      knock: { from: up, to: sold, then: { create: bill, set: { lot: next.id } } }
  lot.check:
    initial: unseen
    states: [unseen, condemned, cleared]
    transitions:
      condemn: unseen -> condemned
      clear: unseen -> cleared
  bill:
    field: state
    initial: due
    states: [due, paid]
    transitions: { pay: due -> paid }
endpoints:
  POST /lots: { does: create lot }
  GET /lots/{id}: { does: read lot }
  POST /lots/{id}/offer: { does: offer lot }
  POST /lots/{id}/knock: { does: knock lot }
  POST /lots/{id}/clear: { does: clear lot }
  POST /lots/{id}/condemn: { does: condemn lot }
  POST /lots/{lot}/bids: { does: create bid }
  GET /bids/{id}: { does: read bid }
  GET /bills: { does: list bill, pagination: { style: page, page: page, size: per, default: 2, max: 2, items: bills } }
  GET /bills/{id}: { does: read bill }
  POST /bills/{id}/pay: { does: pay bill }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create lot, read lot, offer lot, knock lot, create bid, read bid, list bill, read bill, pay bill], to: seller }
    - { allow: [read lot, clear lot, condemn lot], to: inspector }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_now: { status: 409, when: transition.illegal }
    not_up: { status: 409, on: [create bid], if: "next.lot.state != 'up'" }
limits: { rate: none }
versioning: { versions: none }
`;

const verdictOf = ({ facts }: VerifyReport, name: string) => {
  const { verdict, why } = facts.find(({ kind, subject }) => `${kind}:${subject}` === name) ?? {};
  return why === undefined ? verdict : `${verdict}: ${why}`;
};

test('a transition that another machine of the row keeps shut is opened by that machine first', async () => {
  const stand = await openStand(sale);
  try {
    const report = await stand.verify({ only: ['states/transitions', 'resources/stored'] });
    assert.deepEqual(report.breaches, []);
    assert.doesNotMatch(verdictOf(report, 'allowed values:bid.pence') ?? '', /not testable/);
    assert.doesNotMatch(verdictOf(report, 'transitions:lot.state') ?? '', /(?:offer|knock) from/);
  } finally {
    await stand.close();
  }
});

test('what a transition makes is found on whichever page of a list it stands', async () => {
  const stand = await openStand(sale);
  try {
    const report = await stand.verify({ only: ['states/transitions', 'states/initial', 'authentication/users'] });
    assert.deepEqual(report.breaches, []);
    const without = report.facts.filter(({ why = '' }) => /shows no such bill/.test(why));
    assert.deepEqual(
      without.map(({ kind, subject, why }) => `${kind}:${subject}: ${why}`),
      [],
    );
    assert.equal(verdictOf(report, 'transitions:bill'), 'held');
  } finally {
    await stand.close();
  }
});

test('what was tried often enough, and came to nothing each time, is not made again for every case', async () => {
  // The document says who may offer it; the service does not let anybody.
  let made = 0;
  const stand = await openStand(sale, {
    bend: ({ method, target }) => {
      if (method === 'POST' && target === '/lots') made += 1;
      return target.endsWith('/offer') ? { target: target.replace('/offer', '/never') } : {};
    },
  });
  try {
    const report = await stand.verify({
      only: ['resources/stored', 'errors/odd values', 'endpoints/bodies', 'authentication/users'],
      beside: 1,
    });
    assert.match(verdictOf(report, 'allowed values:bid.pence') ?? '', /no bid could be made/);
    assert.ok(made < 200, `${made} lots were made`);
  } finally {
    await stand.close();
  }
});
