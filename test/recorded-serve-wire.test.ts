import { test } from 'node:test';
import { conversations } from './recorded/serve.ts';
import { wire } from './recorded/wire.ts';

test('what goes over the wire, drawn, is read, judged and written as is written down', () => {
  conversations.hold(wire(), /^wire/);
});
