import { test } from 'node:test';
import { chosenChanges } from './recorded/case-changes.ts';
import { findings, found, strangeOthers, strangeServices } from './recorded/check.ts';

test('what is found in some of the recorded documents is what is written down', () => {
  findings.hold(found(strangeServices(16)));
  findings.hold(found(chosenChanges(25)));
  findings.hold(found(strangeOthers(16)));
});
