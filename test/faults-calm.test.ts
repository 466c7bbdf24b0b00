import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hold } from '../bench/faults/hold.ts';
import { services } from '../bench/faults/services.ts';
import { times } from './long.ts';

const seeds = Array.from({ length: times(1, 1, 2) }, (_, at) => at + 1);

// Much of the time goes into waiting for what does not come, which several can do at once.
describe('services that keep their documents', { concurrency: 4 }, () => {
  for (const service of services) {
    for (const seed of seeds) {
      test(`nothing is found broken in the ${service.name} while nothing is, under seed ${seed}`, async () => {
        const { report } = await hold(service, undefined, { seed, requests: times(800, 800, 1500) });
        const told = [...report.breaches, ...report.unsteady].map(
          (one) => `${one.kind} (${one.subject}), ${one.reason}: ${one.seen}`,
        );
        assert.deepEqual(told, []);
        assert.ok(report.total.held > 0);
      });
    }
  }
});
