import { test } from 'node:test';
import { conversations, servedDocuments, spokenWith } from './recorded/serve.ts';

test('what the fourth quarter of the services answers in recorded conversations is what is written down', async () => {
  conversations.hold(await spokenWith(servedDocuments(4, 3)));
});
