import { test } from 'node:test';
import { chosenChanges } from './recorded/case-changes.ts';
import { findings, found } from './recorded/check.ts';

test('what is found where cases of check are made otherwise is what is written down, third third', () => {
  findings.hold(found(chosenChanges(3, 2)));
});
