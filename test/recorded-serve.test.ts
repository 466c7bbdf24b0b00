import { test } from 'node:test';
import { conversations, servedDocuments, spokenWith } from './recorded/serve.ts';

test('what one service answers in its recorded conversations is what is written down', async () => {
  conversations.hold(await spokenWith(servedDocuments(24, 7)));
});
