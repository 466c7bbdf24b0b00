import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { ledgerOf } from '../src/parts/facts/ledger.ts';
import { Facts } from '../src/verify/model/facts.ts';
import { Tally } from '../src/verify/tally.ts';
import { outOfReach } from '../src/verify/verify.ts';
import { notes } from './verify/notes.ts';

const { spec } = check(parseDocument(notes, 'notes.yaml'));
const fact = { kind: 'identifiers', subject: 'note' };

function verdictAfter(cases: (tally: Tally) => void): { readonly verdict: string; readonly why?: string } {
  const tally = new Tally(new Facts(ledgerOf(spec)));
  cases(tally);
  const { verdict, why } = tally.verdicts().find(({ kind, subject }) => kind === fact.kind && subject === fact.subject)!;
  return { verdict, ...(why !== undefined && { why }) };
}

test('a fact is held where each trial that is about it looked at it', () => {
  const verdict = verdictAfter((tally) => {
    for (const trial of ['resources/identifiers', 'resources/stored']) {
      const course = tally.courseOf(trial, [fact]);
      course.held(fact, 'new');
      course.end();
    }
  });
  assert.deepEqual(verdict, { verdict: 'held' });
});

test('one case of a trial is enough, whatever kept the others from it', () => {
  const verdict = verdictAfter((tally) => {
    tally.courseOf('resources/identifiers', [fact]).end('nobody may delete one');
    const course = tally.courseOf('resources/identifiers', [fact]);
    course.held(fact, 'new');
    course.end();
  });
  assert.deepEqual(verdict, { verdict: 'held' });
});

test('a fact is not testable where a trial that is about it came to nothing, whatever others showed', () => {
  const verdict = verdictAfter((tally) => {
    const course = tally.courseOf('resources/stored', [fact]);
    course.held(fact, 'shown');
    course.end();
    tally.courseOf('resources/identifiers', [fact]).end('nobody may delete one');
  });
  assert.deepEqual(verdict, { verdict: 'not testable', why: 'resources/identifiers: nobody may delete one' });
});

test('what does not bear on a fact is no look at it, and says why', () => {
  const verdict = verdictAfter((tally) => {
    const course = tally.courseOf('resources/identifiers', [fact]);
    course.moot(fact, 'it was refused');
    course.end();
  });
  assert.deepEqual(verdict, { verdict: 'not testable', why: 'resources/identifiers: it was refused' });
});

test('a claim that failed was a look, and what is broken stays so', () => {
  const looked = verdictAfter((tally) => {
    const course = tally.courseOf('resources/identifiers', [fact]);
    course.held(fact, 'form');
    course.looked(fact);
    course.end();
  });
  assert.deepEqual(looked, { verdict: 'held' });
  const broken = verdictAfter((tally) => {
    tally.broken(fact);
    tally.courseOf('resources/identifiers', [fact]).end('nobody may delete one');
  });
  assert.deepEqual(broken, { verdict: 'broken' });
});

test('what no request can show says so', () => {
  const facts = new Facts(ledgerOf(spec));
  const whyOf = (kind: string, subject: string): string | undefined =>
    outOfReach(spec, facts.all.find((one) => one.kind === kind && one.subject === subject)!);
  assert.equal(whyOf('purpose', 'service'), 'it is words for people');
  assert.equal(whyOf('conditions', 'broken'), 'nobody can bring it about from outside');
  assert.equal(whyOf('conditions', 'busy'), 'nobody can bring it about from outside');
  assert.equal(whyOf('conditions', 'late'), undefined, 'a time-out can be brought about');
  assert.equal(whyOf('conditions', 'taken'), undefined);
  const { why } = new Tally(facts, () => 'never').verdicts().find(({ kind }) => kind === 'purpose')!;
  assert.equal(why, 'never');
});
