import { test } from 'node:test';
import { findings, found, strangeServices } from './recorded/check.ts';

test('what is found in the other half of the services where they were made wrong is what is written down', () => {
  findings.hold(found(strangeServices(2, 1)));
});
