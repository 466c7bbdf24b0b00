import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { chooseStore, onReluctant } from './stores/chosen.ts';

/**
 * `npm test`: everything that has to hold, stage by stage, stopping at the first stage that fails.
 * `npm test -- word …` runs only the stages and test files whose names contain a word, or else the tests whose names do.
 * `NINEFOLD_TEST_STORE=reluctant npm test`: the same on a store that answers later and runs every body twice.
 */
const root = join(import.meta.dirname, '..');
process.chdir(root);
chooseStore(process.env);

type Stage = { readonly title: string } & (
  | { readonly command: readonly string[] }
  | { readonly files: readonly string[]; readonly execArgv?: readonly string[] }
);

const files = globSync('test/**/*.test.ts').map((file) => file.replaceAll(sep, '/'));
const takes = (pattern: RegExp) => files.filter((file) => pattern.test(file)).sort();
const apart = {
  walls: /^test\/house\./,
  stories: /^test\/stories[./]/,
  docs: /^test\/docs[^/]*[./]/,
  package: /^test\/package\./,
};

/** What is run on a store that answers later too; all the rest by `NINEFOLD_TEST_STORE`. */
const waiting = /^test\/(stories|access|access-lists|authorization-matrix|events-stream)\.test\./;

const stages: readonly Stage[] = [
  { title: 'format and lint', command: ['@biomejs/biome/bin/biome', 'check', '--error-on-warnings'] },
  { title: 'types', command: ['typescript/bin/tsc', '--noEmit'] },
  { title: 'walls', files: takes(apart.walls) },
  { title: 'unit tests', files: files.filter((file) => !Object.values(apart).some((pattern) => pattern.test(file))).sort() },
  { title: 'stories', files: takes(apart.stories) },
  { title: 'on a reluctant store', files: takes(waiting), execArgv: onReluctant },
  { title: 'docs', files: takes(apart.docs) },
  { title: 'package', files: takes(apart.package) },
];

// Two at a time: the machines that check changes have two cores, and each test file is a process of its own.
const concurrency = 2;
const countLine = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;
const totals = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
const started = performance.now();
const { chosen, names } = choose(process.argv.slice(2));
let stopped: string | undefined;

for (const stage of chosen) {
  console.log(`\n== ${stage.title}`);
  const from = performance.now();
  const ok = 'command' in stage ? runCommand(stage.command) : await runTests(stage.files, stage.execArgv ?? [], names);
  console.log(`== ${stage.title}: ${ok ? 'passed' : 'FAILED'} in ${seconds(from)} s`);
  if (ok) continue;
  stopped = stage.title;
  if ('command' in stage) totals.failed++;
  break;
}

report();
process.exitCode = stopped === undefined ? 0 : 1;

/** What the words on the command line ask for. */
function choose(words: readonly string[]): { readonly chosen: readonly Stage[]; readonly names: readonly string[] } {
  if (words.length === 0) return { chosen: stages.filter((stage) => 'command' in stage || stage.files.length > 0), names: [] };
  const named = (name: string) => words.some((word) => name.includes(word));
  const byFile = stages.flatMap((stage) => {
    if (named(stage.title)) return 'command' in stage || stage.files.length > 0 ? [stage] : [];
    if ('command' in stage) return [];
    const some = stage.files.filter(named);
    return some.length > 0 ? [{ ...stage, files: some }] : [];
  });
  if (byFile.length > 0) return { chosen: byFile, names: [] };
  return { chosen: [{ title: `tests named ${words.join(', ')}`, files }], names: words };
}

function runCommand([script, ...args]: readonly string[]): boolean {
  const { status } = spawnSync(process.execPath, [join('node_modules', script ?? ''), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0;
}

/** Runs test files, shows them as `node --test` does, and keeps the closing counts for the sum at the end. */
async function runTests(paths: readonly string[], execArgv: readonly string[], names: readonly string[]): Promise<boolean> {
  const patterns = names.map((name) => new RegExp(RegExp.escape(name)));
  const stream = run({
    files: [...paths],
    concurrency,
    execArgv: [...execArgv],
    ...(patterns.length > 0 && { testNamePatterns: patterns }),
  });
  let ok = true;
  stream.on('test:summary', ({ file, counts, success }) => {
    if (file !== undefined) return;
    ok &&= success;
    totals.tests += counts.tests;
    totals.suites += counts.suites;
    totals.passed += counts.passed;
    totals.failed += counts.tests - counts.passed - counts.cancelled - counts.skipped - counts.todo;
    totals.cancelled += counts.cancelled;
    totals.skipped += counts.skipped;
    totals.todo += counts.todo;
  });
  stream.on('test:fail', () => {
    ok = false;
  });
  let named = patterns.length === 0;
  stream.on('test:pass', ({ name }) => {
    named ||= !paths.includes(name);
  });
  for await (const text of Readable.from(withoutCounts(stream)).pipe(spec())) process.stdout.write(text);
  if (ok && !named) console.log(`No test and no test file is named like ${names.join(' or ')}.`);
  return ok && named;
}

async function* withoutCounts(events: AsyncIterable<{ type: string; data: { message?: string; nesting?: number } }>) {
  for await (const event of events) {
    const isCount = event.type === 'test:diagnostic' && event.data.nesting === 0 && countLine.test(event.data.message ?? '');
    if (!isCount) yield event;
  }
}

/** The closing lines of `node --test`, summed over the stages, and the sum once more in plain words. */
function report(): void {
  const { tests, suites, passed, failed, cancelled, skipped, todo } = totals;
  const counts = {
    tests,
    suites,
    pass: passed,
    fail: failed,
    cancelled,
    skipped,
    todo,
    duration_ms: Math.round(performance.now() - started),
  };
  if (stopped !== undefined) console.log(`\nStopped at: ${stopped}`);
  console.log(
    `\n${Object.entries(counts)
      .map(([name, count]) => `ℹ ${name} ${count}\n`)
      .join('')}`,
  );
  console.log(`${passed} passed, ${failed + cancelled} failed`);
}

function seconds(from: number): string {
  return ((performance.now() - from) / 1000).toFixed(1);
}
