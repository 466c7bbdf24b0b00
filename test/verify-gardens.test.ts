import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import type { GivenCaller } from '../src/verify/exchange/callers.ts';
import { openStand, type Passing } from './verify/stand.ts';

/** Wardens let the gardens of their own district; whoever has one waters it. */
const gardens = `title: Gardens
purpose: { purpose: Lets gardens., users: { warden: Lets gardens., gardener: Has one. } }
resources:
  garden:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      district: { type: string, readOnly: true, set: { create: caller.district } }
      tenant: { type: string, readOnly: true, set: { let: request.tenant } }
      turns: { type: integer, derive: "count(turn.garden)" }
      state: { type: string, readOnly: true }
    required: [id, district, turns, state]
  turn:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      garden: { ref: garden, immutable: true, onDelete: cascade }
      litres: { type: integer, minimum: 1, maximum: 500 }
      gardener: { type: string, readOnly: true, set: { create: caller.id } }
    required: [id, garden, litres, gardener]
states:
  garden: { field: state, initial: vacant, states: [vacant, taken], transitions: { let: vacant -> taken } }
  turn: none
endpoints:
  POST /gardens: { does: create garden }
  GET /gardens/{id}: { does: read garden }
  DELETE /gardens/{id}: { does: delete garden }
  POST /gardens/{id}/let:
    does: let garden
    request: { type: object, properties: { tenant: { type: string, minLength: 1, maxLength: 60 } }, required: [tenant], additionalProperties: false }
  POST /gardens/{garden}/turns: { does: create turn }
  GET /turns/{id}: { does: read turn }
  DELETE /turns/{id}: { does: delete turn }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  attributes: { district: Where it gardens. }
  permissions:
    - { allow: [create garden], to: warden }
    - { allow: [read garden], to: [warden, gardener], if: "resource.district == caller.district" }
    - { allow: [delete garden, let garden], to: warden, if: "resource.district == caller.district" }
    - { allow: [create turn], to: gardener, if: "has(next.garden.tenant) && next.garden.tenant == caller.id" }
    - { allow: [read turn, delete turn], to: gardener, if: "resource.gardener == caller.id" }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    spent: { status: 403, when: limit.quota }
limits:
  rate: none
  quota: [{ per: caller, to: gardener, on: [create turn], limit: 5, window: day, zone: UTC }]
versioning: { versions: none }
`;

/** Two of each user, of whom each has a district of its own with one of the others. */
async function ofDistricts(service: Service): Promise<readonly GivenCaller[]> {
  const all = ['warden', 'gardener'].flatMap((user) => ['north', 'south'].map((district) => ({ user, district })));
  return Promise.all(
    all.map(async ({ user, district }) => {
      const id = `${user}-of-${district}`;
      const { secret } = (await service.administer('keys add', { user, id, attributes: { district } })) as { secret: string };
      return { user, id, scheme: 'key', credential: secret, attributes: { district } };
    }),
  );
}

test('what is let to somebody is made where that one can see it, and nobody else is asked to use it once the own quota is used up', async () => {
  const seen: string[] = [];
  const spoil = ({ method, target, status }: Passing): Partial<Passing> => {
    if (method === 'POST' && target.endsWith('/turns')) seen.push(status < 300 ? 'made' : String(status));
    return {};
  };
  const stand = await openStand(gardens, { besides: ofDistricts, spoil });
  try {
    const callers = stand.callers.filter(({ id = '' }) => id.includes('-of-'));
    const { breaches, facts } = await stand.verify({
      callers,
      only: ['resources/stored', 'resources/identifiers', 'resources/derived', 'endpoints/bodies'],
    });
    assert.deepEqual(breaches, []);
    const unmade = facts.filter(({ why = '' }) => why.includes('no turn could be made'));
    assert.deepEqual(
      unmade.map(({ kind, subject, why }) => `${kind}:${subject} ${why}`),
      [],
    );
    assert.ok(seen.filter((one) => one === 'made').length >= 10, seen.join(' '));
    assert.deepEqual(
      seen.filter((one) => one === '404'),
      [],
    );
  } finally {
    await stand.close();
  }
});
