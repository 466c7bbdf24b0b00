import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VerifyReport } from '../src/verify/report.ts';
import { smallService } from './verify/small-service.ts';
import { openStand } from './verify/stand.ts';

const document = smallService.replace('disable_after: 2d', 'disable_after: 5d');
const serve = { open: 'accept', allowPrivateWebhooks: true } as const;

async function verified(only: readonly string[], served: string): Promise<VerifyReport> {
  const stand = await openStand(document, { inPairs: true, serve, served });
  try {
    return await stand.verify({ only, seed: 5 });
  } finally {
    await stand.close();
  }
}

const reasons = ({ breaches }: VerifyReport): string[] => [...new Set(breaches.map(({ reason }) => reason))].sort();

test('what is never accepted is looked at after each stated wait, and who asks for a family hears of it', async () => {
  const report = await verified(['events/tries', 'events/families'], document);
  assert.deepEqual(reasons(report), []);
  const delivery = report.facts.find(({ kind }) => kind === 'delivery mechanism');
  const met = (delivery?.evidence?.looks ?? []).filter(({ isMet }) => isMet).map(({ name }) => name);
  assert.ok(met.includes('a family of kinds') && met.includes('tried as often as stated'), met.join());
});

test('a delivery that is given up a try too early is a breach', async () => {
  const report = await verified(['events/tries'], document.replace('retry: [1s, 1s]', 'retry: [1s]'));
  assert.deepEqual(reasons(report), ['tried as often as stated']);
});
