import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Breach } from '../../src/verify/report.ts';
import { openStand, type StandOptions } from './stand.ts';

/** A line of the document that is served otherwise than stated, and the fact that is then said to be broken, for this reason. */
export type Otherwise = readonly [fault: string, stated: string, served: string, breaks: string, reason: RegExp];

/** Serves a document with one line of it otherwise, and holds it to the document as it is: that fact has to be found broken. */
export function servedOtherwise(document: string, rows: readonly Otherwise[], serve: StandOptions['serve'] = {}): void {
  // What a fact promises is not looked at again and again: each fault is looked for where it has to be found.
  // Most of the time goes into waiting for what does not come, which many can do at once.
  describe('a service that keeps another document', { concurrency: 6 }, () => {
    for (const [fault, stated, served, breaks, reason] of rows) {
      test(`${breaks} is said to be broken where ${fault}`, async () => {
        assert.ok(document.includes(stated), 'the document states it');
        const changed = document.replaceAll(stated, () => served);
        const stand = await openStand(document, { served: changed, inPairs: true, serve });
        try {
          const isBroken = ({ kind, subject }: Breach) => `${kind}:${subject}` === breaks;
          const until = (breach: Breach) => isBroken(breach) && reason.test(breach.reason);
          const { breaches, facts } = await stand.verify({ only: [breaks], until });
          const found = breaches.filter(isBroken);
          const [kind, subject] = breaks.split(/:(.*)/);
          const verdict = facts.find((fact) => fact.kind === kind && fact.subject === subject);
          assert.ok(
            found.some((breach) => reason.test(breach.reason)),
            `${verdict?.verdict} ${verdict?.why ?? ''}; ${breaches.map((breach) => `${breach.kind}:${breach.subject} ${breach.reason}`).join('; ')}`,
          );
          assert.ok(found.every((breach) => breach.steps.length > 0 && breach.promised !== '' && breach.seen !== ''));
        } finally {
          await stand.close();
        }
      });
    }
  });
}
