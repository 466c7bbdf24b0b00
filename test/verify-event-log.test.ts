import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { logged } from './values/logged.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const text = `title: Parcels\n${logged}`;

const rows: readonly Otherwise[] = [
  [
    'a change makes no row of the log',
    'parcel.updated: { on: [update parcel]',
    'parcel.updated: { on: [update parcel], if: "next.to == \'nobody\'"',
    'emitting operations:parcel.updated',
    /rows of the log/,
  ],
  [
    'a change makes a row of another kind',
    'note.created: { on: [create note]',
    'note.created: { on: [create note], name: note.made',
    'emitting operations:note.created',
    /rows of the log/,
  ],
  [
    'rows say another kind than any that is stated',
    'type: event.kind',
    'type: "event.kind + \'!\'"',
    'kinds of event:service',
    /rows of the log/,
  ],
  [
    'what an event says is not what was changed',
    'data: { parcel: next.id, to: next.to }',
    'data: { parcel: next.id, to: next.status }',
    'payload shapes:parcel.sent',
    /rows of the log/,
  ],
  [
    'a row says something else of what it is about',
    'about: event.resource',
    'about: event.kind',
    'delivery mechanism:service',
    /rows of the log/,
  ],
  [
    'nobody is said to have done it',
    'by: "has(caller.id) ? caller.id : null"',
    'by: "null"',
    'delivery mechanism:service',
    /rows/,
  ],
  ['a row goes too soon', 'keep: 30d', 'keep: 20d', 'delivery mechanism:service', /kept in the log/],
  ['a row stays', 'keep: 30d', 'keep: forever', 'delivery mechanism:service', /kept in the log/],
];

servedOtherwise(
  text,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

test('a service with a log of events is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(text, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const of = (kind: string) => facts.filter((fact) => fact.kind === kind).map(({ verdict }) => verdict);
    assert.deepEqual([of('delivery mechanism'), of('kinds of event')], [['held'], ['held']]);
  } finally {
    await stand.close();
  }
});
