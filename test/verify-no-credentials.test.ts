import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verify } from '../src/index.ts';
import { isLong, times } from './long.ts';
import { openStand } from './verify/stand.ts';

/** Whoever gives no credential learns little, and nothing that is wrong. */
for (const document of ['examples/clinic.yaml', ...(isLong ? ['examples/parcels.md', 'examples/library.md'] : [])]) {
  test(`nothing of ${document} is broken where no credential is given`, async () => {
    const stand = await openStand(document);
    try {
      const report = await verify(document, { url: stand.url, seed: 1, requests: times(400, 1_500) });
      const broken = report.breaches.map(({ found, promised, seen }) => `${found}: ${promised}, ${seen}`);
      assert.deepEqual(broken, []);
      assert.ok(report.total.held > 0);
    } finally {
      await stand.close();
    }
  });
}
