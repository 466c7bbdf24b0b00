import { test } from 'node:test';
import { drawn } from './recorded/drawn.ts';
import { readings } from './recorded/parts.ts';

test('what drawn expressions come to, where drawn patterns are found and what words of others mean is what is written down', () => {
  readings.hold(drawn(), /^drawn/);
});
