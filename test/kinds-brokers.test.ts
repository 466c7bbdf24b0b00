import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';
import { check, parseDocument } from '../src/index.ts';
import { brokerKind, brokerKinds, compareBrokers } from '../src/kinds/deliveries/all-brokers.ts';
import type { PublishedEvent } from '../src/kinds/deliveries/broker.ts';

const event: PublishedEvent = {
  id: 'evt_1',
  kind: 'lamp.set',
  at: '2026-06-01T09:00:00.000Z',
  row: 'lamp/a',
  payload: '{"id":"a","n":12345678901234567890}',
  enveloped: '{"id":"evt_1","data":{"id":"a"}}',
};
const stated = { nats: { subject: 'lamps.events' }, cloudevents: { source: '/lamps' } } as const;

for (const { word } of brokerKinds) {
  const kind = brokerKind(word) ?? assert.fail();
  const own: Readonly<Record<string, unknown>> = stated[word];

  test(`${word}: what is stated as it asks for has no problem, and nothing else is enough`, () => {
    assert.deepEqual(kind.problems({ own }), []);
    assert.equal(kind.problems({ own: {} }).length, 1);
    for (const bad of ['', ' ', 'a b', 'é', 7])
      assert.equal(kind.problems({ own: { [Object.keys(own)[0]!]: bad } }).length, 1, String(bad));
    assert.ok(Object.keys(own).every((name) => name in kind.members));
  });

  test(`${word}: a message is as it is described`, () => {
    const { body, headers } = kind.message({ own }, event);
    const described = kind.describes({ own }, event.kind, { type: 'object' });
    for (const name of Object.keys(described.headers)) assert.equal(headers[name], event.id);
    if (!described.payload) return assert.equal(body, event.enveloped);
    assert.equal(headers['content-type'], described.contentType);
    const ajv = new Ajv();
    ajvFormats.default(ajv);
    const validate = ajv.compile(described.payload);
    assert.ok(validate(JSON.parse(body)), JSON.stringify(validate.errors));
    assert.ok(body.includes('12345678901234567890'), 'numbers are passed on as they are');
  });

  test(`${word}: another place is another broker`, () => {
    const other = { word, own: Object.fromEntries(Object.keys(own).map((name) => [name, 'other'])) };
    assert.equal(compareBrokers({ word, own }, { word, own }), 'same');
    assert.equal(compareBrokers({ word, own }, other), 'other');
    assert.equal(compareBrokers(other, { word, own }), 'other');
  });
}

test('a kind goes under its subject, whatever letters it has', () => {
  const { subject } = brokerKind('nats')!.message({ own: stated.nats }, { ...event, kind: 'lamp >*' });
  assert.equal(subject, 'lamps.events.lamp___');
});

test('a broker whose protocol is not spoken is refused by its name, and the kinds that there are are named instead', () => {
  const document = parseDocument('title: Lamps\nevents: { delivery: { broker: { kind: kafka } } }\n', 'lamps.yaml');
  const { findings } = check(document);
  const [found, ...more] = findings.filter(({ code }) => code.startsWith('form/'));
  assert.deepEqual(more, []);
  assert.match(found?.message ?? '', /`kafka`/);
  assert.match(JSON.stringify(found), /\bnats\b.*\bcloudevents\b/);
});
