import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong } from './long.ts';
import { notes } from './verify/notes.ts';
import { openStand } from './verify/stand.ts';

for (const document of ['examples/clinic.yaml', ...(isLong ? ['examples/parcels.md', 'examples/library.md'] : [])]) {
  test(`nothing that could change something is sent to the service of ${document} with --read-only`, async () => {
    const sent: string[] = [];
    const stand = await openStand(document, { serve: { onExchange: ({ method }) => sent.push(method) } });
    try {
      const report = await stand.verify({ readOnly: true, seed: 1, requests: 250 });
      assert.deepEqual(
        [...new Set(sent)].filter((method) => !['GET', 'HEAD', 'OPTIONS'].includes(method)),
        [],
      );
      assert.ok(report.total.held > 0);
      assert.deepEqual(report.breaches, []);
      assert.ok(report.facts.some(({ why }) => why?.endsWith('is not sent with --read-only')));
    } finally {
      await stand.close();
    }
  });
}

test('what can be seen without changing anything is held with --read-only, on rows that are there already', async () => {
  const stand = await openStand(notes);
  try {
    const post = async (path: string, body: unknown) => {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(`${stand.url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      // The cast holds: what is created is answered with its fields.
      return (await answer.json()) as { readonly id: string };
    };
    const book = await post('/books', { name: 'First' });
    for (const stars of [1, 3, 3, 5]) await post('/notes', { book: book.id, text: `With ${stars}`, stars });
    const report = await stand.verify({ readOnly: true });
    assert.deepEqual(report.breaches, []);
    const shown = new Set(
      report.facts
        .filter(({ verdict }) => verdict === 'held' || verdict === 'partly')
        .map(({ kind, subject }) => `${kind}:${subject}`),
    );
    const wanted = [
      'types:note.text',
      'parameters:GET /notes',
      'response payload shapes:GET /notes',
      'response payload shapes:GET /notes/{id}',
    ];
    for (const fact of wanted) {
      const why = report.facts.find(({ kind, subject }) => `${kind}:${subject}` === fact)?.why;
      assert.ok(shown.has(fact), `${fact}: ${why}`);
    }
  } finally {
    await stand.close();
  }
});
