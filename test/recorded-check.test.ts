import { test } from 'node:test';
import { findings, found, strangeCases, strangeOthers, strangeServices } from './recorded/check.ts';

test('what is found in some of the recorded documents is what is written down', () => {
  findings.hold(found(strangeServices(12)));
  findings.hold(found(strangeCases(10)));
  findings.hold(found(strangeOthers(12)));
});
