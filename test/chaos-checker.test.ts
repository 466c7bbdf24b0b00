import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { plantedInAnswers } from './chaos/planted-answers.ts';
import { plantedInRows } from './chaos/planted-rows.ts';
import { judged, readRecord } from './chaos/recorded.ts';
import { seeded } from './crash/chance.ts';
import { checks } from './crash/checks.ts';
import { History } from './crash/history.ts';
import type { Entry } from './crash/journal.ts';
import type { Observed } from './crash/records.ts';

/** A run of three processes with kills and cuts: `npm run chaos -- --kills 2 --record test/chaos/recorded.json.gz`. */
const recorded = readRecord(join(import.meta.dirname, 'chaos/recorded.json.gz'));
const entriesOf = (): Entry[] => JSON.parse(recorded) as Entry[];
const leastShare = 0.95;

test('the checker finds nothing in a run in which nothing was wrong', () => {
  assert.deepEqual(judged(entriesOf()), []);
});

test('the checker finds what is planted in a run', (t) => {
  const missed: string[] = [];
  const all = [...plantedInRows, ...plantedInAnswers];
  for (const [index, { name, plant }] of all.entries()) {
    const entries = entriesOf();
    assert.ok(plant({ entries, chance: seeded(index) }), `the run has no place for: ${name}`);
    if (judged(entries).length === 0) missed.push(name);
  }
  const share = 1 - missed.length / all.length;
  t.diagnostic(`${all.length - missed.length} of ${all.length} planted violations found (${Math.round(share * 1000) / 10} %)`);
  for (const name of missed) t.diagnostic(`not found: ${name}`);
  assert.ok(share >= leastShare, missed.join('\n'));
});

test('the checker lets a quota be used up in the hour before the refusal arrived, and in no hour in which less was made', () => {
  const hour = 497_000;
  const made = (before: number, since: number): Observed => {
    const at = (ms: number) => ({ place: '10.0.2.2', created_at: new Date(hour * 3_600_000 + ms).toISOString() });
    const ticket = [...Array.from({ length: before }, () => at(-1)), ...Array.from({ length: since }, () => at(1))];
    // The check of quotas reads nothing else.
    return { rows: { ticket } } as unknown as Observed;
  };
  const history = new History();
  history.usedUp.set('10.0.2.2', { op: 'r11', hour });
  const wrong = (observed: Observed): number =>
    checks.filter(({ name }) => name.startsWith('a quota')).flatMap(({ check }) => [...check(history, observed)]).length;
  assert.deepEqual([made(5, 2), made(0, 5), made(5, 0), made(4, 2), made(4, 0), made(0, 0)].map(wrong), [0, 0, 0, 1, 1, 1]);
});
