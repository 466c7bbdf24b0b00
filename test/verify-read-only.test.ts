import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

for (const document of ['examples/parcels.md', 'examples/library.md', 'examples/clinic.yaml']) {
  test(`nothing that could change something is sent to the service of ${document} with --read-only`, async () => {
    const sent: string[] = [];
    const stand = await openStand(document, { serve: { onExchange: ({ method }) => sent.push(method) } });
    try {
      const report = await stand.verify({ readOnly: true, seed: 1 });
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
