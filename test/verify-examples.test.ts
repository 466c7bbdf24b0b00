import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Our own service over each example holds its document: whatever a trial finds here is a fault of one of the two ends. */
const examples: readonly (readonly [document: string, handlers?: string])[] = [
  ['examples/parcels.md', 'examples/parcels.handlers.ts'],
  ['examples/library.md', 'examples/library.handlers.ts'],
  ['examples/clinic.yaml', 'examples/clinic.handlers.ts'],
  ['examples/unspecified.md'],
];

/** The parts whose trials are not held to examples elsewhere. */
const parts = ['resources', 'states', 'endpoints', 'errors'];

for (const [document, handlers] of examples) {
  for (const seed of document.includes('parcels') ? [1, 2] : [1]) {
    test(`${document} is held by our own service, seed ${seed}`, async () => {
      const stand = await openStand(document, handlers === undefined ? {} : { handlers });
      try {
        const report = await stand.verify({ seed, requests: 1500, only: parts });
        const told = [...report.breaches, ...report.unsteady].map(
          ({ id, promised, seen, steps }) => `${id}\n  promised ${promised}\n  seen ${seen}\n  ${JSON.stringify(steps)}`,
        );
        assert.deepEqual(told, []);
        assert.deepEqual(
          report.notes.filter((note) => note.includes('fault')),
          [],
        );
        assert.match(report.stopped ?? 'requests', /requests/);
        assert.deepEqual(stand.failures, []);
      } finally {
        await stand.close();
      }
    });
  }
}
