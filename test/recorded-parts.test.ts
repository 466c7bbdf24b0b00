import { test } from 'node:test';
import { read, readCases, readings, readServices } from './recorded/parts.ts';

test('what reading makes of some of the recorded documents is what is written down', () => {
  readings.hold(read(readServices(12)));
  readings.hold(read(readCases(8)));
});
