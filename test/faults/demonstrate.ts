import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Start } from '../../bench/faults/command.ts';
import type { Demonstration } from '../../bench/faults/demonstration.ts';
import type { Fault } from '../../bench/faults/fault.ts';
import { play } from '../../bench/faults/play.ts';
import { oneOfEach } from '../long.ts';

/** Every fault shows in its demonstration, and nothing does while it is off; of those of one kind of fact the first, but in the long run. */
export function demonstrate(
  name: string,
  faults: readonly Fault[],
  start: Start,
  demonstrations: Readonly<Record<string, Demonstration>>,
  credentials: (who: string) => Readonly<Record<string, string>>,
): void {
  test(`each fault of the ${name} shows, and only while it is on`, { concurrency: 16 }, async (t) => {
    const played = oneOfEach(faults, ({ kind }) => kind).map(({ id: fault }) =>
      t.test(fault, async () => {
        const demonstration = demonstrations[fault];
        assert.ok(demonstration, `${fault} has no demonstration`);
        const shown = async (on: string | undefined) => {
          const service = await start({ fault: on });
          try {
            const { isRight, seen } = await play(demonstration, service, credentials);
            return { isRight, heard: JSON.stringify({ answers: seen.answers.slice(-3), told: seen.told }, undefined, 1) };
          } finally {
            await service.close();
          }
        };
        const calm = await shown(undefined);
        assert.equal(calm.isRight, true, `without the fault: ${calm.heard}`);
        let faulty = await shown(fault);
        // What goes by the minute hides where the minute turns meanwhile.
        if (faulty.isRight) faulty = await shown(fault);
        assert.equal(faulty.isRight, false, `with the fault: ${faulty.heard}`);
      }),
    );
    await Promise.all(played);
  });
}
