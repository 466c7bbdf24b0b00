import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong } from './long.ts';
import { smallService } from './verify/small-service.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** The service without its stream, so that who listens does so by web hook. */
const hooked = smallService.replace(/\n {4}stream:.*/, '').replace(/\n.*stream events.*/, '');
const serve = { allowPrivateWebhooks: true };

/** What is found, and what its reproduction finds at a fresh service where nothing has come before. */
async function foundTwice(faulty: StandOptions, only: string): Promise<readonly string[][]> {
  const reasons: string[][] = [];
  let replay: string | undefined;
  for (const turn of ['found', 'again']) {
    const stand = await openStand(hooked, { serve, inPairs: true, ...faulty });
    try {
      const { breaches } = await stand.verify(replay === undefined ? { only: [only] } : { replay });
      const own = breaches.filter(({ kind, subject }) => `${kind}:${subject}` === only);
      reasons.push(own.map(({ reason }) => reason));
      replay = own[0]?.id;
      assert.ok(turn === 'again' || replay !== undefined, 'it is found');
    } finally {
      await stand.close();
    }
  }
  return reasons;
}

// Each waits for a time in which nothing comes.
if (isLong) {
  test('what the clock does and nobody is told of comes again where nothing else is told', async () => {
    const served = hooked.replace('on: [rot note], payload: note', 'on: [rot note], if: "false", payload: note');
    const reasons = await foundTwice({ served }, 'emitting operations:note.stale');
    assert.deepEqual(reasons, [['rot note'], ['rot note']]);
  });

  test('what is made and nobody is told of comes again where nothing else is told', async () => {
    const served = hooked.replace('on: [create note], payload: note', 'on: [create note], if: "false", payload: note');
    const reasons = await foundTwice({ served }, 'emitting operations:note.made');
    assert.deepEqual(reasons, [['emitted'], ['emitted']]);
  });

  test('an update with the values that are there is not told of', async () => {
    const texts = new Set<string>();
    const bend: StandOptions['bend'] = ({ method, text }) => {
      if (!text.startsWith('{"')) return {};
      const body: { text?: unknown } = JSON.parse(text);
      if (method !== 'PATCH' || !texts.has(String(body.text))) texts.add(String(body.text));
      // What is sent again comes to the service as something else.
      else return { text: JSON.stringify({ ...body, text: 'something else' }) };
      return {};
    };
    const reasons = await foundTwice({ bend }, 'emitting operations:note.changed');
    assert.ok(reasons.every((found) => found.includes('unchanged')));
  });
}
