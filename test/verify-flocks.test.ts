import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A sheep fair: flocks of which each owner has one of a name, haulage that lapses, which lists alone show, and is told of in older words. */
const fair = `title: Sheep fair
purpose: { purpose: Sells sheep., users: { breeder: Breeds sheep., steward: Runs the fair. } }
resources:
  flock:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      name: { type: string, minLength: 2, maxLength: 40 }
    required: [id, owner, name]
    unique: [[owner, name]]
  haul:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      head: { type: integer, minimum: 1, maximum: 400 }
      state: { type: string, readOnly: true }
    required: [id, head, state]
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: string, url: { type: string, format: uri, maxLength: 200 } }
    required: [id, url]
states:
  flock: none
  hook: none
  haul:
    field: state
    initial: ordered
    states: [ordered, taken, lapsed]
    transitions: { take: { from: ordered, to: taken }, lapse: { from: ordered, to: lapsed, after: 3d } }
endpoints:
  POST /flocks: { does: create flock }
  GET /flocks/{id}: { does: read flock }
  POST /hauls: { does: create haul }
  GET /hauls: { does: list haul }
  POST /hauls/{id}/take: { does: take haul }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create flock, read flock], to: breeder }
    - { allow: [all haul, all hook], to: breeder }
    - { allow: list haul, to: steward }
events:
  delivery: { webhook: { signature: none, retry: none, timeout: 2s, subscribers: { resource: hook, url: url } } }
  kinds:
    haul.taken: { on: [take haul], payload: haul }
    haul.lapsed: { on: [lapse haul], payload: haul }
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    already: { status: 409, when: resource.exists }
    not_now: { status: 409, when: transition.illegal }
    no_edition: { status: 400, when: version.unknown }
limits: { rate: none, pagination: { style: page, page: page, size: take, default: 20, max: 50, items: rows } }
versioning:
  versions: { v1: {}, v2: { current: true } }
  select: { header: X-Edition, default: current }
  guarantee: additive
  changes: { v2: [{ rename: haul.sheep, to: head }] }
`;

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(fair, { serve: { allowPrivateWebhooks: true }, inPairs: true, ...options });
  try {
    const { breaches, facts, requests } = await stand.verify({ only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).map(({ name, isMet }) => `${kind}, ${subject}: ${name}${isMet ? '' : ', not met'}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks, requests };
  } finally {
    await stand.close();
  }
}

test('what is unique by several fields together is not so by one of them', async () => {
  const only = ['resources/unique'];
  const { broken, looks } = await told(only);
  assert.deepEqual(broken, []);
  for (const name of ['owner', 'name'])
    assert.ok(looks.includes(`allowed values, flock.name: owner and name, with another ${name}`), looks.join('\n'));
  const byName = { served: fair.replace('unique: [[owner, name]]', 'unique: [[name]]') };
  assert.deepEqual((await told(only, byName)).broken, ['allowed values, flock.name']);
});

test('what the clock does to a row that lists alone show is told of it', async () => {
  const only = ['events/by the clock'];
  const { broken, looks } = await told(only);
  assert.deepEqual(broken, []);
  assert.ok(
    looks.includes('emitting operations, haul.lapsed: an event of it'),
    looks.filter((one) => one.includes('lapsed')).join('\n'),
  );
  const untold = { served: fair.replace('    haul.lapsed: { on: [lapse haul], payload: haul }\n', '') };
  assert.ok((await told(only, untold)).broken.includes('emitting operations, haul.lapsed'));
});

test('a subscriber of an older version hears of an act in its words, where nothing that is made is told of', async () => {
  const only = ['versioning/events'];
  const { broken, looks } = await told(only);
  assert.deepEqual(broken, []);
  assert.ok(looks.length > 0);
  const bent: StandOptions = {
    bend: ({ target, headers }) => (target.startsWith('/hooks') ? { headers: { ...headers, 'x-edition': 'v2' } } : {}),
  };
  assert.deepEqual((await told(only, bent)).broken, ['version identifiers, service']);
});

test('a trial that has no case of a document asks nothing of its service', async () => {
  const { requests } = await told(['events/families', 'resources/counted']);
  assert.ok(requests < 10, String(requests));
});
