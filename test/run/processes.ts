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

/**
 * Files that keep a processor for eight seconds and more in one of the runs, or wait for so long, the longest first. Each has a process of its own,
 * begun before those that several share: what is begun last is short, so that no core is left without work at the end of a stage.
 */
export const longest: readonly string[] = [
  'test/chaos.test.ts',
  'test/crash.test.ts',
  'test/attack.test.ts',
  'test/bounded-documents.test.ts',
  'test/verify-changes.test.ts',
  'test/cli-running.test.ts',
  'test/verify-event-words.test.ts',
  'test/package.test.ts',
  'test/foreign-corpus.test.ts',
  'test/faults-calm.test.ts',
  'test/verify-openapi-alone.test.ts',
  'test/verify-seeded.test.ts',
  'test/verify-bounds.test.ts',
  'test/verify-strange.test.ts',
  'test/verify-reproductions.test.ts',
  'test/verify-hostile.test.ts',
  'test/verify-endpoints.test.ts',
  'test/verify-confirming.test.ts',
  'test/convert-asyncapi-law.test.ts',
  'test/stories.test.ts',
  'test/export-openapi-corpus.test.ts',
  'test/export-openapi.test.ts',
  'test/import-corpus.test.ts',
  'test/verify-derived.test.ts',
  'test/verify-quay.test.ts',
  'test/store-queries.test.ts',
  'test/mistake-laws.test.ts',
  'test/refusals.test.ts',
  'test/workers.test.ts',
  'test/verify-chosen.test.ts',
  'test/verify-selected.test.ts',
  'test/verify-engine.test.ts',
  'test/unseen.test.ts',
  'test/authentication-cli.test.ts',
  'test/deploy.test.ts',
  'test/verify-cli.test.ts',
  'test/derived-laws.test.ts',
  'test/convert-typescript-compile.test.ts',
  'test/foreign-hostile.test.ts',
  'test/basic-keys.test.ts',
  'test/json-schema-behaviour.test.ts',
  'test/introspection.test.ts',
];

/** Modules to be run, each in a process of its own: a test file, or one made for this run that imports several. */
export interface Processes {
  readonly modules: readonly string[];
  /** The test files of a module; undefined where there is none of that name. */
  filesOf(module: string): readonly string[] | undefined;
  /** Takes away what was made for this run. */
  close(): void;
}

/**
 * Puts test files together so that a process runs several, one after the other: so many neighbours share its start, the modules that most
 * of them load, and what is compiled of these.
 */
export function shareProcesses(files: readonly string[], neighbours: number): Processes {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-tests-'));
  const isFirst = (file: string) => longest.includes(file);
  const isAlone = (file: string) => !isFirst(file) && alone[file] !== undefined;
  const shared = files.filter((file) => !isFirst(file) && !isAlone(file));
  const processes = new Map(longest.filter((file) => files.includes(file)).map((file) => [file, [file]]));
  const count = Math.ceil(shared.length / neighbours);
  for (let at = 0; at < count; at++) {
    // Files about one thing take long alike: they are dealt out, so that no process has all of them.
    const together = shared.filter((_, index) => index % count === at);
    const [first = ''] = together;
    const module = join(folder, `${basename(first, '.test.ts')}-and-${together.length - 1}-others.mjs`);
    writeFileSync(module, importing(together));
    processes.set(together.length === 1 ? first : module, together);
  }
  for (const file of files.filter(isAlone)) processes.set(file, [file]);
  return {
    modules: [...processes.keys()],
    filesOf: (module) => processes.get(module),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A module that has the tests of several files. A file may wait before it has its tests: the first test of any begins once all are there. */
function importing(files: readonly string[]): string {
  const imports = files.map((file) => `  await import(${JSON.stringify(pathToFileURL(resolve(file)).href)});\n`);
  return `import { before } from 'node:test';\nconst load = async () => {\n${imports.join('')}};\nconst loaded = load();\nbefore(() => loaded);\nawait loaded;\n`;
}
