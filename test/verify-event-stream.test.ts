import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventStreamReader } from '../src/kinds/streams/sse.ts';
import type { Client } from '../src/verify/exchange/client.ts';
import { quietFor } from '../src/verify/trials/events/ear.ts';

const cases: readonly (readonly [string, string, readonly (readonly [string, string, string])[]])[] = [
  ['an event', 'id: 1\nevent: a\ndata: x\n\n', [['1', 'a', 'x']]],
  [
    'line ends of all sorts',
    'id: 1\r\ndata: x\r\n\r\nid: 2\rdata: y\r\rid: 3\ndata: z\n\n',
    [
      ['1', '', 'x'],
      ['2', '', 'y'],
      ['3', '', 'z'],
    ],
  ],
  ['data of several lines', 'data: x\ndata:y\ndata\n\n', [['', '', 'x\ny\n']]],
  ['comments and unknown fields', ': hello\n\nretry: 10\nother: 1\ndata: x\n\n:\n\n', [['', '', 'x']]],
  ['no event without data', 'id: 1\nevent: a\n\ndata: x\n\n', [['1', '', 'x']]],
  [
    'an id stays until another comes',
    'id: 1\ndata: x\n\ndata: y\n\n',
    [
      ['1', '', 'x'],
      ['1', '', 'y'],
    ],
  ],
  ['a byte order mark', '\uFEFFdata: x\n\n', [['', '', 'x']]],
  ['an event that is not complete', 'data: x\n', []],
];
for (const [name, text, heard] of cases) {
  test(`a stream of events is read, whole and piece by piece: ${name}`, () => {
    const expected = heard.map(([id, event, data]) => ({ id, event, data }));
    // A return at the end of all that came may have a line feed behind it.
    const all = `${text}${text.endsWith('\r') ? ':\n' : ''}`;
    assert.deepEqual(new EventStreamReader().push(all), expected);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: all.length }), { maxLength: 6 }), (cuts) => {
        const reader = new EventStreamReader();
        const places = [0, ...cuts.toSorted((one, other) => one - other), all.length];
        const pieces = places.slice(1).map((end, at) => all.slice(places[at], end));
        assert.deepEqual(
          pieces.flatMap((piece) => reader.push(piece)),
          expected,
        );
      }),
      { seed: 1, numRuns: 50 },
    );
  });
}
test('comments are counted, as signs that the service is still there', () => {
  const reader = new EventStreamReader();
  reader.push(': one\n\n:two\ndata: x\n\n');
  assert.equal(reader.comments, 2);
});

test('who listens behind others waits no second time, but where the others may be left out', () => {
  const waiting = { isEnough: () => true, ms: 0, quietMs: 120, isAfterOthers: true };
  // The cast holds: it is only looked up by what it is.
  const client = {} as Client;
  assert.deepEqual(
    [{ client }, { client, errand: 'trial' } as const, { client, errand: 'again' } as const].map((run) => quietFor(run, waiting)),
    [0, 0, 120],
  );
  assert.equal(quietFor({ client }, { ...waiting, isAfterOthers: false }), 120);
});
