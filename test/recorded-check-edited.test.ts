import { test } from 'node:test';
import { caseChanges } from './recorded/case-changes.ts';
import { findings, found } from './recorded/check.ts';

test('what is found where the cases of check are made otherwise is what is written down', () => {
  findings.hold(found(caseChanges('edited')), /^edited/);
});
