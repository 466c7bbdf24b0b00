import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import { Model } from '../src/verify/model/model.ts';
import { quotaCounts } from '../src/verify/trials/limits/refilled.ts';

const document = `title: Permits
purpose: { purpose: Gives permits., users: { caver: Asks for them. } }
resources:
  permit:
    identifier: { field: id, generate: "permit_{ulid}" }
    fields: { id: string, text: { type: string, maxLength: 20 } }
    required: [id, text]
states: { permit: none }
endpoints:
  POST /permits: { does: create permit }
authentication:
  attributes: { club: Whose club it is. }
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [create permit], to: caver }]
events: none
errors: { payload: problem }
limits: { quota: [{ per: caller.club, on: [create permit], limit: 20, window: day }] }
versioning: { versions: none }
`;

test('a quota that counts by what whoever asks has counts those together who have the same', () => {
  const { spec } = check(parseDocument(document, 'permits.yaml'));
  const given = [
    ['ana', 'krka'],
    ['bor', 'krka'],
    ['dana', 'soca'],
    ['eva', undefined],
  ] as const;
  const callers = callersOf(
    spec,
    given.map(([id, club]) => ({ user: 'caver', id, credential: id, ...(club && { attributes: { club } }) })),
  );
  const model = new Model(spec, callers, '');
  const endpoint = model.endpoints.find(({ key }) => key === 'POST /permits');
  assert.ok(endpoint);
  const [ana, bor, dana, eva] = callers.map((caller) => quotaCounts(model, { endpoint, caller }).map(({ key }) => key));
  assert.equal(ana?.length, 1);
  assert.deepEqual(ana, bor);
  assert.notDeepEqual(ana, dana);
  assert.deepEqual(eva, [], 'of whom it is not known nothing is counted');
});
