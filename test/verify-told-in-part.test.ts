import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Crates with their fish, which are told to who packs them whole and to who counts them in part, in two versions. */
const crates = `title: Crates
purpose: { purpose: Keeps crates., base_url: https://crates.example/v1, users: { packer: Packs them., counter: Counts them. } }
resources:
  crate:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      mark: { type: string, minLength: 1, maxLength: 20 }
      weight: { type: integer, minimum: 1, maximum: 500 }
      packer: { type: string, readOnly: true, set: { create: caller.id } }
      fish: { children: fish.crate, minItems: 1, maxItems: 3 }
    required: [id, mark, weight, packer, fish]
  fish:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      crate: { ref: crate, onDelete: cascade, immutable: true }
      grams: { type: integer, minimum: 1, maximum: 900 }
    required: [id, crate, grams]
  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      url: { type: string, format: uri, maxLength: 200 }
      owner: { type: string, readOnly: true, set: { create: caller.id } }
    required: [id, url, owner]
states: { crate: none, fish: none, hook: none }
endpoints:
  POST /crates: { does: create crate }
  GET /crates/{id}: { does: read crate }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create crate, read crate], to: packer }
    - { allow: [read crate], to: counter, fields: [mark, fish] }
    - { allow: [create hook], to: [packer, counter] }
    - { allow: [read hook, delete hook], to: [packer, counter], if: resource.owner == caller.id }
events:
  delivery:
    webhook: { signature: none, retry: [5s], timeout: 2s, subscribers: { resource: hook, url: url } }
    stream: none
  kinds:
    crate.packed: { on: [create crate], payload: crate }
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: { rate: none, quota: none }
versioning:
  versions: { "1": { deprecated: 2026-02-01 }, "2": { current: true } }
  select: { header: Edition, default: current }
  changes:
    "2":
      - { rename: crate.sign, to: mark }
      - { rename: fish.weight, to: grams }
`;

async function broken(served: string, only: string): Promise<readonly string[]> {
  const stand = await openStand(crates, { serve: { allowPrivateWebhooks: true }, served });
  try {
    const { breaches, facts } = await stand.verify({ only: [only], until: () => true });
    const shown = facts.flatMap((fact) => Object.keys(fact.shown));
    assert.ok(
      breaches.length > 0 || shown.includes(only === 'events/emitted' ? 'payload' : 'events of a subscriber'),
      'nothing was shown',
    );
    return breaches.map(({ kind, subject, promised }) => `${kind}:${subject} ${promised}`);
  } finally {
    await stand.close();
  }
}

test('whoever may see some of the fields is told of those alone, and of no other', async () => {
  assert.deepEqual(await broken(crates, 'events/emitted'), []);
  const whole = crates.replace(', to: counter, fields: [mark, fish] }', ', to: counter }');
  const [first = ''] = await broken(whole, 'events/emitted');
  assert.match(first, /payload shapes:crate\.packed weight is not shown to counter/);
});

test('what a row has below it is told in no version', async () => {
  assert.deepEqual(await broken(crates, 'versioning/events'), []);
  const renamed = crates.replace('rename: crate.sign', 'rename: crate.signed');
  const [first = ''] = await broken(renamed, 'versioning/events');
  assert.match(first, /version identifiers:service sign in 1/);
});

test('a payload is held once another value of each member that is reckoned would have been noticed', async () => {
  const told = crates
    .replace('      fish: {', '      total: { type: integer, derive: "sum(fish.crate, item.grams)" }\n      fish: {')
    .replace(
      '  POST /hooks:',
      '  POST /crates/{crate}/fish: { does: create fish }\n  GET /fish/{id}: { does: read fish }\n  POST /hooks:',
    )
    .replace('[create crate, read crate]', '[create crate, read crate, create fish, read fish]')
    .replace(
      '    crate.packed:',
      () => `    fish.added:
      on: [create fish]
      payload: { type: object, properties: { fish: string, total: integer }, required: [fish, total] }
      data: { fish: next.id, total: "has(next.crate.total) ? next.crate.total : 0" }
    crate.packed:`,
    );
  const stand = await openStand(told, { serve: { allowPrivateWebhooks: true } });
  try {
    const { breaches, facts } = await stand.verify({ only: ['payload shapes:fish.added'] });
    assert.deepEqual(breaches, []);
    const fact = facts.find(({ kind, subject }) => kind === 'payload shapes' && subject === 'fish.added');
    const met = (fact?.evidence?.looks ?? []).filter(({ isMet }) => isMet).map(({ name }) => name);
    assert.equal(fact?.verdict, 'partly', fact?.why);
    assert.deepEqual(met, ['an event of it', 'fish, as it is reckoned']);
  } finally {
    await stand.close();
  }
});
