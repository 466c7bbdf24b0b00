import { test } from 'node:test';
import { findings, found, strangeCases, strangeOthers, strangeServices } from './recorded/check.ts';

test('what is found where the cases of check are made otherwise is what is written down', () => {
  findings.hold(found(strangeCases()));
});

test('every recorded document is there still', () => {
  findings.holdNames([...strangeServices(), ...strangeCases(), ...strangeOthers()].map(({ name }) => name));
});
