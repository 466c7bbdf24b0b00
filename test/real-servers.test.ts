import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { settingOf } from '../bench/proxy/alteration.ts';
import { alterationsOf } from '../bench/proxy/alterations.ts';
import { openReal } from '../bench/proxy/opened.ts';
import { nameOf, tryAlteration } from '../bench/proxy/tried.ts';
import { check, readDocument } from '../src/index.ts';
import { isLong } from './long.ts';
import type { RealServer, RunningServer } from './servers/server.ts';
import { realServers, startReal } from './servers/servers.ts';

/** How many alterations of each server are tried, and how long one may take. */
const drawn = 6;
const timeMs = 20_000;

/** Holds a server that is started for it alone. */
async function over<T>(server: RealServer, use: (running: RunningServer) => Promise<T>): Promise<T> {
  const running = await startReal(server);
  try {
    return await use(running);
  } finally {
    await running.stop();
  }
}

/** What verify tells of a server with nothing altered, whether it came to all of it; what comes and goes is not among it. */
async function told(server: RealServer, running: RunningServer) {
  const opened = await openReal(server, running, {});
  try {
    const { breaches, stopped } = await opened.verify({ seed: 1, timeMs: 2 * timeMs });
    return { names: breaches.map(nameOf).sort(), isWhole: stopped === undefined };
  } finally {
    await opened.close();
  }
}

/** Some of the alterations that are found, from all over the document. */
async function drawnOf({ document, missed = [] }: RealServer): Promise<string[]> {
  const ids = alterationsOf(settingOf(check(await readDocument(document)).spec)).map(({ id }) => id);
  const found = ids.filter((id) => !missed.includes(id));
  return Array.from({ length: drawn }, (_, at) => found[Math.floor(((at + 0.5) * found.length) / drawn)] ?? '');
}

/** What the registry has is installed by the first run at length, and by nothing else. */
if (isLong && realServers.some((one) => one.lacks()?.includes('--prefix')))
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--prefix', 'test/servers'], { stdio: 'ignore' });

describe('real servers of others', { concurrency: true, skip: !isLong && 'they are left to the long run' }, () => {
  for (const server of realServers)
    test(`of ${server.name} the breaches are told that are noted, and what is altered on its way is found`, async () => {
      assert.equal(server.lacks(), undefined, 'it has to be installed');
      await over(server, async (running) => {
        const known = server.breaches.map(({ breach }) => breach).sort();
        const { names, isWhole } = await told(server, running);
        // Where the machine had no time for all of it, what was told is noted all the same.
        assert.deepEqual(names, isWhole ? known : known.filter((one) => names.includes(one)));
        for (const alteration of await drawnOf(server)) {
          const work = { document: server.document, handlers: '', seed: 1, alteration, known, timeMs };
          const { broken, altered } = await tryAlteration(work, (changes) => openReal(server, running, changes));
          assert.notDeepEqual(broken, [], `${alteration}, which came about ${altered} times`);
        }
      });
    });
});
