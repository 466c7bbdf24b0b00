import { test } from 'node:test';
import { read, readings, readServices } from './recorded/parts.ts';

test('what reading makes of one half of the services, a little changed, is what is written down', () => {
  readings.hold(read(readServices(2, 0)));
});
