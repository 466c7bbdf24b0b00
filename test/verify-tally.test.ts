import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import type { Claim } from '../src/verify/exchange/claim.ts';
import { Model } from '../src/verify/model/model.ts';
import { Tally } from '../src/verify/tally.ts';
import { outOfReach } from '../src/verify/verify.ts';
import { notes } from './verify/notes.ts';
import { answered } from './verify/recorded.ts';

const { spec } = check(parseDocument(notes, 'notes.yaml'));
const fact = { kind: 'identifiers', subject: 'note' };
const model = new Model(spec, callersOf(spec, []), '');
const nothing = { exchanges: [], controls: new Map() };

/** That a note has an identifier, of one that was read. */
const shown: Claim = {
  fact,
  reason: 'shown',
  of: [{ step: 0, value: answered(model, 'GET /notes/{id}', { body: { id: 'n1' } }) }],
  judge: (seen) => ((seen as { body?: { id?: unknown } }).body?.id === 'n1' ? undefined : { promised: 'n1', seen: 'another' }),
};

function verdictAfter(cases: (tally: Tally) => void) {
  const tally = new Tally(model);
  cases(tally);
  const { verdict, why } = tally.verdicts().find(({ kind, subject }) => kind === fact.kind && subject === fact.subject)!;
  return { verdict, ...(why !== undefined && { why }) };
}

function hold(tally: Tally, trial: string): void {
  const course = tally.courseOf(trial, [fact]);
  course.held(shown);
  course.end(nothing);
}

test('a fact is held where each trial that is about it looked at it', () => {
  const verdict = verdictAfter((tally) => {
    for (const trial of ['resources/identifiers', 'resources/stored']) hold(tally, trial);
  });
  assert.deepEqual(verdict, { verdict: 'held' });
});

test('one case of a trial is enough, whatever kept the others from it', () => {
  const verdict = verdictAfter((tally) => {
    tally.courseOf('resources/identifiers', [fact]).end(nothing, 'nobody may delete one');
    hold(tally, 'resources/identifiers');
  });
  assert.deepEqual(verdict, { verdict: 'held' });
});

test('a fact is partly shown where a trial that is about it came to nothing', () => {
  const verdict = verdictAfter((tally) => {
    hold(tally, 'resources/stored');
    tally.courseOf('resources/identifiers', [fact]).end(nothing, 'nobody may delete one');
  });
  const why = '1 of 2 looks; missing: resources/identifiers (nobody may delete one)';
  assert.deepEqual(verdict, { verdict: 'partly', why });
});

test('what does not bear on a fact is no look at it, and says why', () => {
  const verdict = verdictAfter((tally) => {
    const course = tally.courseOf('resources/identifiers', [fact]);
    course.moot(fact, 'it was refused');
    course.end(nothing);
  });
  assert.deepEqual(verdict, { verdict: 'not testable', why: 'resources/identifiers: it was refused' });
});

test('a claim that failed was a look, and what is broken stays so', () => {
  const looked = verdictAfter((tally) => {
    const course = tally.courseOf('resources/identifiers', [fact]);
    course.held(shown);
    course.looked(fact);
    course.end(nothing);
  });
  assert.deepEqual(looked, { verdict: 'held' });
  const broken = verdictAfter((tally) => {
    tally.broken(fact);
    tally.courseOf('resources/identifiers', [fact]).end(nothing, 'nobody may delete one');
  });
  assert.deepEqual(broken, { verdict: 'broken' });
});

test('what looked broken once, and could not be looked at again, is not held in part either', () => {
  const verdict = verdictAfter((tally) => {
    hold(tally, 'resources/stored');
    tally.doubted(fact, 'it is unsteady');
  });
  assert.deepEqual(verdict, { verdict: 'not testable', why: 'it is unsteady' });
});

test('what no request can show says so', () => {
  const whyOf = (kind: string, subject: string): string | undefined =>
    outOfReach(spec, model.facts.all.find((one) => one.kind === kind && one.subject === subject)!);
  assert.equal(whyOf('purpose', 'service'), 'it is words for people');
  assert.equal(whyOf('conditions', 'broken'), 'nobody can bring it about from outside');
  assert.equal(whyOf('conditions', 'busy'), 'nobody can bring it about from outside');
  assert.equal(whyOf('conditions', 'late'), undefined, 'a time-out can be brought about');
  assert.equal(whyOf('conditions', 'taken'), undefined);
  const { why } = new Tally(model, () => 'never').verdicts().find(({ kind }) => kind === 'purpose')!;
  assert.equal(why, 'never');
});
