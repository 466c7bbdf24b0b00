import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { plantedInAnswers } from './chaos/planted-answers.ts';
import { plantedInRows } from './chaos/planted-rows.ts';
import { judged, readRecord } from './chaos/recorded.ts';
import { seeded } from './crash/chance.ts';
import type { Entry } from './crash/journal.ts';

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
