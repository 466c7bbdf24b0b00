import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/**
 * A garden is let to whom a warden names, who alone waters it; of those who wait each waits once, and is let what was offered. Crates are taken by
 * pickers as they are picked, once they have ripened, in sheds with few places.
 */
const gardens = `title: Gardens
purpose: { purpose: Lets gardens., users: { gardener: Has a garden., warden: Lets them. } }
resources:
  garden:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      name: { type: string, minLength: 1, maxLength: 30 }
      tenant: { type: string, readOnly: true, set: { let: request.tenant, vacate: "null" } }
      status: { type: string, readOnly: true }
    required: [id, name, status]
  watering:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      garden: { ref: garden, immutable: true, onDelete: cascade }
      litres: { type: integer, minimum: 1, maximum: 500 }
    required: [id, garden, litres]
  visit:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      garden: { ref: garden, immutable: true, onDelete: restrict }
      plea: { type: string, readOnly: true, set: { appeal: request.plea } }
      status: { type: string, readOnly: true }
    required: [id, garden, status]
  place:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      waits: { type: string, readOnly: true, set: { create: caller.id } }
      note: { type: string, maxLength: 50 }
      offered: { ref: garden, readOnly: true, onDelete: restrict, set: { offer: request.garden } }
      status: { type: string, readOnly: true }
    required: [id, waits, status]
    unique: [{ fields: [waits], while: "next.status in ['waiting', 'offered']" }]
  shed:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      places: { type: integer, minimum: 3, maximum: 9 }
      room: { type: integer, derive: "resource.places - count(crate.shed, item.status != 'picked')" }
    required: [id, places, room]
  crate:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      shed: { ref: shed, immutable: true, onDelete: cascade }
      status: { type: string, readOnly: true }
    required: [id, shed, status]
  basket:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      lines: { children: line.basket, minItems: 1, maxItems: 4 }
    required: [id, lines]
  line:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      basket: { ref: basket, immutable: true, onDelete: cascade }
      crate: { ref: crate, immutable: true, onDelete: restrict }
    required: [id, basket, crate]
    created: { then: { do: take crate, to: next.crate } }
states:
  garden:
    field: status
    initial: vacant
    states: [vacant, let]
    transitions: { let: vacant -> let, award: vacant -> let, vacate: let -> vacant }
  visit:
    field: status
    initial: told
    states: [told, appealed]
    transitions: { appeal: told -> appealed }
  place:
    field: status
    initial: waiting
    states: [waiting, offered, taken, left]
    transitions:
      offer: waiting -> offered
      accept: { from: offered, to: taken, then: { do: award garden, to: "has(next.offered) ? next.offered : null", set: { tenant: next.waits } } }
      leave: { from: [waiting, offered], to: left }
  crate:
    field: status
    initial: green
    states: [green, stored, ripe, picked]
    transitions:
      store: { from: green, to: stored, if: resource.shed.room > 0 }
      ripen: { from: stored, to: ripe, after: 10d }
      take: ripe -> picked
  shed: none
  basket: none
  line: none
  watering: none
endpoints:
  POST /gardens: { does: create garden }
  GET /gardens/{id}: { does: read garden }
  DELETE /gardens/{id}: { does: delete garden, in: [vacant] }
  POST /gardens/{id}/let:
    does: let garden
    request: { type: object, properties: { tenant: { type: string, minLength: 1, maxLength: 80 } }, required: [tenant] }
  POST /gardens/{id}/vacate: { does: vacate garden }
  POST /gardens/{garden}/waterings: { does: create watering }
  GET /waterings/{id}: { does: read watering }
  POST /visits: { does: create visit }
  GET /visits/{id}: { does: read visit }
  POST /visits/{id}/appeal:
    does: appeal visit
    request: { type: object, properties: { plea: { type: string, minLength: 3, maxLength: 40 } }, required: [plea] }
  POST /places: { does: create place }
  GET /places/{id}: { does: read place }
  PATCH /places/{id}: { does: update place }
  POST /places/{id}/offer:
    does: offer place
    request: { type: object, properties: { garden: { ref: garden } }, required: [garden] }
  POST /places/{id}/accept: { does: accept place }
  POST /places/{id}/leave: { does: leave place }
  POST /sheds: { does: create shed }
  GET /sheds/{id}: { does: read shed }
  POST /crates: { does: create crate }
  GET /crates/{id}: { does: read crate }
  POST /crates/{id}/store: { does: store crate }
  POST /baskets: { does: create basket }
  GET /baskets/{id}: { does: read basket }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create garden, delete garden, let garden, vacate garden, create visit, offer place], to: warden }
    - { allow: [read garden, read place, read visit], to: warden }
    - { allow: read garden, to: gardener }
    - { allow: create watering, to: gardener, if: "has(next.garden.tenant) && next.garden.tenant == caller.id" }
    - { allow: read watering, to: [gardener, warden] }
    - { allow: [read visit, appeal visit], to: gardener, if: "has(resource.garden.tenant) && resource.garden.tenant == caller.id" }
    - { allow: create place, to: gardener }
    - { allow: [read place, update place, accept place, leave place], to: gardener, if: resource.waits == caller.id }
    - { allow: [create shed, read shed, create crate, read crate, store crate, create basket, read basket], to: [gardener, warden] }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    forbidden: { status: 403, when: caller.forbidden }
    no_such: { status: 422, when: reference.missing }
    held: { status: 409, when: reference.held }
    taken: { status: 409, when: resource.exists }
    not_now: { status: 409, when: transition.illegal }
limits: { rate: none }
versioning: { versions: none }
`;

test('what is let to whom somebody names, waits once for each, ripens and is taken by others is come to, and nothing is broken', async () => {
  const stand = await openStand(gardens, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    for (const name of [
      'allowed values:watering.litres',
      'permission rules:appeal visit',
      'permission rules:read visit',
      'transitions:visit',
      'types:place.offered',
      'conditions:held',
    ]) {
      const fact = facts.find(({ kind, subject }) => `${kind}:${subject}` === name);
      assert.equal(fact?.verdict, 'held', `${name}: ${fact?.why}`);
    }
    const lines = facts.find(({ kind, subject }) => kind === 'request payload shapes' && subject === 'POST /baskets');
    assert.notEqual(lines?.verdict, 'not testable', lines?.why);
  } finally {
    await stand.close();
  }
});

const told = async (served: string, only: readonly string[]): Promise<string[]> => {
  const stand = await openStand(gardens, { inPairs: true, served });
  try {
    const { breaches } = await stand.verify({ only });
    return breaches.map(({ kind, subject }) => `${kind}:${subject}`);
  } finally {
    await stand.close();
  }
};

test('whoever waters what is let to another is seen', async () => {
  const served = gardens.replace('next.garden.tenant == caller.id', "next.garden.tenant != ''");
  assert.ok((await told(served, ['authentication'])).includes('permission rules:create watering'));
});

test('a reference that comes with a transition holds what it refers to, in each state of its row', async () => {
  const held = 'offered: { ref: garden, readOnly: true, onDelete: restrict';
  assert.ok(gardens.includes(held));
  const served = gardens.replace(held, 'offered: { ref: garden, readOnly: true, onDelete: clear');
  assert.ok((await told(served, ['resources/references'])).includes('types:place.offered'));
});

test('what nobody can bring about is not held for others: each reference that holds something has its look', async () => {
  const stand = await openStand(gardens, { inPairs: true });
  try {
    const { facts } = await stand.verify({ only: ['conditions:held'] });
    const looks = facts.find(({ kind, subject }) => kind === 'conditions' && subject === 'held')?.evidence?.looks ?? [];
    assert.deepEqual(
      looks
        .map(({ name }) => name)
        .filter((name) => name.startsWith('held by'))
        .sort(),
      ['held by place.offered', 'held by visit.garden'],
    );
  } finally {
    await stand.close();
  }
});
