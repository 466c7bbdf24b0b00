import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A rescue post: call-outs that volunteers read while they go on, reports that are kept once they are deleted, courses that end two days after their time. */
const post = `title: Rescue post
purpose: { purpose: Has people rescued., users: { dispatcher: Takes calls., volunteer: Goes out. } }
resources:
  callout:
    identifier: { field: id, generate: uuid }
    fields: { id: string, summary: { type: string, minLength: 2, maxLength: 60 }, state: { type: string, readOnly: true } }
    required: [id, summary, state]
  turnout:
    identifier: { field: id, generate: uuid }
    fields: { id: string, callout: { ref: callout, immutable: true }, volunteer: { type: string, readOnly: true, set: { create: caller.id } }, eta: { type: integer, minimum: 0, maximum: 90 } }
    required: [id, callout, volunteer]
    unique: [[callout, volunteer]]
  report:
    identifier: { field: id, generate: uuid }
    fields: { id: string, author: { type: string, readOnly: true, set: { create: caller.id } }, text: { type: string, minLength: 2, maxLength: 60 } }
    required: [id, author, text]
    deleted: { keep: 30d }
  course:
    identifier: { field: id, generate: uuid }
    fields: { id: string, starts_at: { type: string, format: date-time, immutable: true }, state: { type: string, readOnly: true } }
    required: [id, starts_at, state]
states:
  turnout: none
  report: none
  callout:
    field: state
    initial: raised
    states: [raised, active, closed]
    transitions: { deploy: { from: raised, to: active }, close: { from: active, to: closed } }
  course:
    field: state
    initial: planned
    states: [planned, running, held]
    transitions: { begin: { from: planned, to: running, at: resource.starts_at }, finish: { from: running, to: held, after: 2d } }
endpoints:
  POST /callouts: { does: create callout }
  GET /callouts/{id}: { does: read callout, etag: strong }
  PATCH /callouts/{id}: { does: update callout, etag: strong }
  POST /callouts/{id}/deploy: { does: deploy callout }
  POST /callouts/{id}/close: { does: close callout }
  POST /callouts/{callout}/turnouts: { does: create turnout, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /callouts/{callout}/turnouts: { does: list turnout }
  POST /reports: { does: create report }
  GET /reports/{id}: { does: read report }
  DELETE /reports/{id}: { does: delete report }
  POST /courses: { does: create course }
  GET /courses/{id}: { does: read course }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create callout, read callout, update callout, deploy callout, close callout, all course, list turnout], to: dispatcher }
    - { allow: [read callout], to: volunteer, if: "resource.state in ['raised', 'active']" }
    - { allow: [create turnout, list turnout, create report], to: volunteer }
    - { allow: [read report, delete report], to: volunteer, if: resource.author == caller.id }
events: none
errors:
  payload:
    shape: { type: object, properties: { refused: string?, wrong: { type: array, items: { type: object } } }, required: [refused] }
    data: { refused: code, wrong: violations }
  codes:
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    gone: { status: 410, when: resource.gone }
    conflict: { status: 409, when: [resource.exists, idempotency.reused, idempotency.busy] }
    not_now: { status: 409, when: transition.illegal }
limits: { rate: none, pagination: { style: page, page: page, size: take, default: 20, max: 50, items: rows } }
versioning: none
`;

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(post, { inPairs: true, ...options });
  try {
    const { breaches, facts } = await stand.verify({ only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).map(({ name, isMet }) => `${kind}, ${subject}: ${name}${isMet ? '' : ', not met'}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

const changed = (from: string, to: string): StandOptions => ({ served: post.replace(from, to) });

test('a rule that asks for states lets somebody in while a row is in them, and in no other', async () => {
  const { broken, looks } = await told(['authentication/states']);
  assert.deepEqual(broken, []);
  for (const look of ['let in in raised', 'let in in active', 'refused in closed'])
    assert.ok(looks.includes(`permission rules, read callout: a volunteer, ${look}`), looks.join('\n'));
  const longer = await told(['authentication/states'], changed("['raised', 'active']", "['raised', 'active', 'closed']"));
  assert.deepEqual(longer.broken, ['permission rules, read callout']);
  const shorter = await told(['authentication/states'], changed("['raised', 'active']", "['raised']"));
  assert.deepEqual(shorter.broken, ['permission rules, read callout']);
});

test('a code that stands for several conditions is looked at for each of them, and says nothing of one alone', async () => {
  const { broken, looks } = await told(['endpoints/idempotency', 'endpoints/keys later', 'resources/unique']);
  assert.deepEqual(broken, []);
  for (const look of ['resource.exists', 'idempotency.reused'])
    assert.ok(looks.includes(`conditions, conflict: ${look}`), looks.filter((one) => one.startsWith('conditions')).join('\n'));
  const unasked = await told(['resources/unique']);
  assert.ok(unasked.looks.includes('conditions, conflict: idempotency.reused, not met'), unasked.looks.join('\n'));
});

test('what is kept once it is deleted is gone, and not missing, to whoever may read it', async () => {
  const { broken, looks } = await told(['resources/missing']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('conditions, gone: a refusal with the code'), looks.join('\n'));
  const spoil: StandOptions['spoil'] = ({ method, target, status }) =>
    method === 'GET' && target.startsWith('/reports/') && status === 410 ? { status: 404, text: '{"refused":"missing"}' } : {};
  const { broken: found } = await told(['resources/missing'], { spoil });
  assert.deepEqual(found, ['conditions, gone']);
});

test('what answers a change shows the tag of the row as it is then', async () => {
  const { broken, looks } = await told(['resources/changed']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('response payload shapes, PATCH /callouts/{id}: another tag than before'), looks.join('\n'));
  const tags = new Map<string, string | string[] | undefined>();
  const spoil: StandOptions['spoil'] = ({ method, target, headers }) => {
    if (method === 'PATCH' && tags.has(target)) return { headers: { ...headers, etag: tags.get(target) } };
    if (method === 'GET' && headers.etag !== undefined) tags.set(target, headers.etag);
    return {};
  };
  const { broken: found } = await told(['resources/changed'], { spoil });
  assert.deepEqual(found, ['response payload shapes, PATCH /callouts/{id}']);
});

test('whoever is known at one operation is known at another', async () => {
  const { broken } = await told(['authentication/users']);
  assert.deepEqual(broken, []);
  const spoil: StandOptions['spoil'] = ({ method, target, status }) =>
    method === 'POST' && target === '/courses' && status === 201 ? { status: 401, text: '{"refused":"unknown"}' } : {};
  const { broken: found } = await told(['authentication/users'], { spoil });
  assert.ok(found.includes('permission rules, create course'), found.join('\n'));
});

test('a refusal has no member for what is wrong where nothing is told of it', async () => {
  const { broken } = await told(['resources/missing']);
  assert.deepEqual(broken, []);
  const spoil: StandOptions['spoil'] = ({ status, text }) =>
    status === 404 ? { text: JSON.stringify({ ...JSON.parse(text), wrong: [] }) } : {};
  const { broken: found } = await told(['resources/missing'], { spoil });
  assert.deepEqual(found, ['error payload shapes, service']);
});

test('what is over some time after the clock has begun it is not over before that', async () => {
  const { broken, looks } = await told(['states/timed']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('transitions, course: finish not before'), looks.join('\n'));
  const { broken: found } = await told(['states/timed'], changed('after: 2d', 'after: 1d'));
  assert.ok(found.includes('transitions, course'), found.join('\n'));
});
