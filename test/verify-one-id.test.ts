import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { entryOf } from '../src/parts/fact.ts';
import { Model } from '../src/verify/model/model.ts';
import { oneIdJudgement } from '../src/verify/trials/events/delivering.ts';
import type { ReceivedDelivery } from '../src/verify/trials/events/receiver.ts';

const document = `title: Presses
purpose: { purpose: Presses apples., users: { keeper: Runs it. } }
resources:
  lot: { identifier: { field: id, generate: "lot_{ulid}" }, fields: { id: string, name: string }, required: [id] }
  hook: { identifier: { field: id, generate: "hook_{ulid}" }, fields: { id: string, url: { type: string, format: uri } }, required: [id, url] }
states: { lot: none, hook: none }
endpoints: { POST /lots: { does: create lot }, POST /hooks: { does: create hook } }
authentication: none
events:
  delivery:
    webhook: { signature: none, headers: { Press-Event-Id: event.id }, retry: [5s], subscribers: { resource: hook, url: url } }
  kinds:
    lot.made: { on: [create lot], payload: lot }
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid } } }
limits: { rate: none }
versioning: { versions: none }
`;

test('a try that tells another identifier of the event in a stated header is found', () => {
  const model = new Model(check(parseDocument(document, 'presses.yaml')).spec, [], '');
  const first = entryOf(model.spec.events.kinds, 'lot.made');
  assert.ok(first);
  const body = { id: 'evt_1', type: 'lot.made', timestamp: '2026-11-29T09:00:00Z', data: { id: 'lot_1' } };
  const tried = (id: string, status: number) =>
    ({ headers: { 'press-event-id': id }, body, text: JSON.stringify(body), status }) as unknown as ReceivedDelivery;
  assert.equal(oneIdJudgement(model, { first }, [tried('evt_1', 503), tried('evt_1', 200)]), undefined);
  assert.deepEqual(oneIdJudgement(model, { first }, [tried('evt_1', 503), tried('evt_2', 200)]), {
    promised: 'every try has one press-event-id: evt_1',
    seen: 'evt_2',
  });
});
