import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { entriesOf } from '../src/parts/fact.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import { Model } from '../src/verify/model/model.ts';
import { isHeardBy } from '../src/verify/trials/events/expected.ts';

/** A transition whose answer does not show the row: who may read it once it is moved hears of it, and who might before does not count. */
const document = `title: Turf
purpose: { purpose: Sells lots., users: { cutter: Cuts., haulier: Hauls. } }
resources:
  lot:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, maxLength: 20 }, stage: { type: string, readOnly: true } }
    required: [id, name, stage]
  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      url: { type: string, format: uri }
      secret: { type: string, readOnly: true, generate: "{random:32}", reveal: once }
      events: { type: array, items: string }
    required: [id, url, events]
states:
  lot: { field: stage, initial: stacked, states: [stacked, sold], transitions: { sell: stacked -> sold } }
  hook: none
endpoints:
  POST /lots: { does: create lot }
  GET /lots/{id}: { does: read lot }
  DELETE /lots/{id}: { does: delete lot }
  POST /lots/{id}/sell:
    does: sell lot
    response: { 200: { shape: { type: object, properties: { lot: string }, required: [lot] }, data: { lot: result.id } } }
  POST /hooks: { does: create hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [all lot], to: cutter }
    - { allow: [read lot], to: haulier, if: "resource.stage == 'sold'" }
    - { allow: [create hook, delete hook], to: [cutter, haulier] }
events:
  kinds: { lot.sold: { on: [sell lot], payload: { type: object, properties: { lot: string }, required: [lot] }, data: { lot: next.id } } }
  delivery: { webhook: { signature: standard-webhooks, subscribers: { resource: hook, url: url, secret: secret, events: events } } }
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    wrong_state: { status: 409, when: transition.illegal }
    not_yours: { status: 403, when: caller.forbidden }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

test('who may read a row once it is moved hears of it, though its answer does not show the row', () => {
  const { spec } = check(parseDocument(document, 'turf.yaml'));
  const callers = callersOf(spec, [
    { user: 'haulier', id: 'fiona', credential: 'f' },
    { user: 'cutter', id: 'ciaran', credential: 'c' },
  ]);
  const model = new Model(spec, callers, '');
  const operation = model.operations.find(({ name }) => name === 'sell lot')!;
  const acted = {
    status: 200,
    caller: callers[1],
    sent: { path: {}, query: {}, headers: {} },
    json: { lot: '1' },
    endpoint: operation.endpoint,
  };
  const before = { id: '1', name: 'a', stage: 'stacked' };
  const change = { operation, acted, before, after: undefined, unseen: new Set(), beside: [] } as never;
  const kind = entriesOf(spec.events.kinds)[0]![1];
  assert.equal(isHeardBy(model, kind, change, callers[0], {}), 'yes');
  assert.equal(
    isHeardBy(model, kind, { ...(change as object), operation: { ...operation, endpoint: undefined } } as never, callers[0], {}),
    'unknown',
  );
});
