import { test } from 'node:test';
import { findings, found } from './recorded/check.ts';
import { undecided } from './recorded/others.ts';

test('what is found where something is open, and in what was taken over, is what is written down', () => {
  findings.hold(found(undecided(1)), /^(?:undecided|taken)/);
});
