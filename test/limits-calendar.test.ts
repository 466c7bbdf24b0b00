import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CalendarWindow, compileCalendar } from '../src/kinds/limits/calendar.ts';

const stretches: readonly (readonly [window: CalendarWindow, zone: string, at: string, start: string, end: string])[] = [
  ['hour', 'UTC', '2026-06-01T09:59:59.999Z', '2026-06-01T09:00:00Z', '2026-06-01T10:00:00Z'],
  ['day', 'UTC', '2026-06-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z'],
  ['week', 'UTC', '2026-06-07T23:59:59Z', '2026-06-01T00:00:00Z', '2026-06-08T00:00:00Z'],
  ['month', 'UTC', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
  ['month', 'UTC', '2026-12-31T12:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['year', 'UTC', '2026-06-01T00:00:00Z', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  // Half an hour beside UTC.
  ['hour', 'Asia/Kolkata', '2026-06-01T09:29:59Z', '2026-06-01T08:30:00Z', '2026-06-01T09:30:00Z'],
  ['day', 'Asia/Kolkata', '2026-06-01T18:30:00Z', '2026-06-01T18:30:00Z', '2026-06-02T18:30:00Z'],
  // Clocks go forward at 2 on 29 March: a day of 23 hours; back at 3 on 25 October: one of 25, with two hours from 2 to 3.
  ['day', 'Europe/Amsterdam', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['day', 'Europe/Amsterdam', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  ['month', 'Europe/Amsterdam', '2026-03-15T12:00:00Z', '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
  ['hour', 'Europe/Amsterdam', '2026-10-25T00:30:00Z', '2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z'],
  ['hour', 'Europe/Amsterdam', '2026-10-25T01:30:00Z', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00Z'],
  // Midnight does not come: clocks go from 0 to 1 at the start of 8 September 2024 in Santiago, and to 26 April 2024 in Cairo.
  ['day', 'America/Santiago', '2024-09-08T12:00:00Z', '2024-09-08T04:00:00Z', '2024-09-09T03:00:00Z'],
  ['day', 'Africa/Cairo', '2024-04-26T12:00:00Z', '2024-04-25T22:00:00Z', '2024-04-26T21:00:00Z'],
  // Midnight comes twice: clocks go back from 24 to 23 at the end of 6 April 2024 in Santiago.
  ['day', 'America/Santiago', '2024-04-06T12:00:00Z', '2024-04-06T03:00:00Z', '2024-04-07T04:00:00Z'],
  // Clocks go back from 1 to 0 on 3 November 2024 in Havana.
  ['day', 'America/Havana', '2024-11-03T12:00:00Z', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z'],
  // 30 December 2011 never was in Samoa.
  ['day', 'Pacific/Apia', '2011-12-30T09:00:00Z', '2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z'],
  ['day', 'Pacific/Apia', '2011-12-30T11:00:00Z', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
];

for (const [window, zone, at, start, end] of stretches) {
  test(`the ${window} of ${at} in ${zone} is from ${start} to ${end}`, () => {
    const { startMs, endMs } = compileCalendar(window, zone)(Date.parse(at));
    const told = [startMs, endMs].map((ms) => new Date(ms).toISOString().replace('.000Z', 'Z'));
    assert.deepEqual(told, [start, end]);
  });
}

test('windows follow each other without gaps, hold their times, and begin when the clocks of the zone show it', () => {
  const zones = [
    'UTC',
    'Europe/Amsterdam',
    'America/New_York',
    'America/Santiago',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'Africa/Cairo',
  ];
  const from = Date.parse('2015-01-01T00:00:00Z');
  const time = fc.integer({ min: from, max: Date.parse('2035-01-01T00:00:00Z') });
  const window = fc.constantFrom<Exclude<CalendarWindow, 'hour'>>('day', 'week', 'month', 'year');
  const model = fc.property(window, fc.constantFrom(...zones), time, (word, zone, at) => {
    const find = compileCalendar(word, zone);
    const { startMs, endMs } = find(at);
    assert.ok(startMs <= at && at < endMs);
    assert.deepEqual(find(startMs), { startMs, endMs });
    assert.deepEqual(find(endMs - 1), { startMs, endMs });
    assert.equal(find(startMs - 1).endMs, startMs);
    assert.equal(find(endMs).startMs, endMs);
    const date = (ms: number) => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(ms);
    assert.notEqual(date(startMs - 1), date(startMs));
    if (word === 'month') assert.ok(date(startMs).endsWith('-01'));
    if (word === 'year') assert.ok(date(startMs).endsWith('-01-01'));
    if (word === 'week') assert.equal(new Date(`${date(startMs)}T12:00:00Z`).getUTCDay(), 1);
  });
  fc.assert(model, { numRuns: 300 });
});
