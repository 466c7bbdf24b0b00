import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Files that need a process of their own, with the reason. */
const alone: Readonly<Record<string, string>> = {
  'test/limits-counters.test.ts': 'measures the memory of its process',
  'test/kinds-toys.test.ts': 'adds kinds for everything that its process loads',
  'test/kinds-toys-delivered.test.ts': 'adds kinds for everything that its process loads',
  'test/hostile.test.ts': 'looks at its service after each test of its process',
};

/** Modules to be run, each in a process of its own: a test file, or one made for this run that imports several. */
export interface Processes {
  readonly modules: readonly string[];
  /** Takes away what was made for this run. */
  close(): void;
}

/**
 * Puts test files together so that a process runs several, one after the other: so many neighbours share its start and the modules that most
 * of them load.
 */
export function shareProcesses(files: readonly string[], neighbours: number): Processes {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-tests-'));
  const shared = files.filter((file) => alone[file] === undefined);
  const modules = files.filter((file) => alone[file] !== undefined);
  for (let at = 0; at < shared.length; at += neighbours) {
    const together = shared.slice(at, at + neighbours);
    const [first = '', last = first] = [together[0], together.at(-1)].map((file = '') => basename(file, '.test.ts'));
    const module = join(folder, `${first}-to-${last}.mjs`);
    writeFileSync(module, together.map((file) => `import ${JSON.stringify(pathToFileURL(resolve(file)).href)};\n`).join(''));
    modules.push(together.length === 1 ? (together[0] ?? '') : module);
  }
  return { modules, close: () => rmSync(folder, { recursive: true, force: true }) };
}
