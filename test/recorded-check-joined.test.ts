import { test } from 'node:test';
import { caseChanges } from './recorded/case-changes.ts';
import { findings, found } from './recorded/check.ts';

test('what is found where the cases of check have entries of each other is what is written down', () => {
  findings.hold(found(caseChanges('joined')), /^joined/);
});
