import { test } from 'node:test';
import { findings, found, strangeOthers } from './recorded/check.ts';

test('what is found in pages and in documents of other languages is what is written down', () => {
  findings.hold(found(strangeOthers()), /^(?:prose|page|foreign)/);
});
