import { test } from 'node:test';
import { read, readCases, readings, readServices } from './recorded/parts.ts';

test('what reading makes of the changes that check is tried with is what is written down', () => {
  readings.hold(read(readCases()));
});

test('every reading that is recorded is made still', () => {
  readings.holdNames([...readServices(), ...readCases()].map(({ name }) => name));
});
