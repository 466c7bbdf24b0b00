import { test } from 'node:test';
import { read, readCases, readings } from './recorded/parts.ts';

test('what reading makes of the changes that check is tried with is what is written down', () => {
  readings.hold(read(readCases()), /^edited/);
});
