import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { shareProcesses } from './run/processes.ts';
import { chooseStore } from './stores/chosen.ts';

/**
 * `npm test`: what whoever changes something waits for, stage by stage, stopping at the first stage that fails.
 * `npm run test:long`: the files that take longer (`leftToLong`), the laws of the others at length (`test/long.ts`), and all on a
 * store that waits. Continuous integration runs both.
 * `NINEFOLD_TEST_STORE=reluctant npm test`: the same on a store that answers later and runs every body twice.
 * With `-- word …` both run only the stages and test files whose names contain a word, or else the tests whose names do.
 */
const root = join(import.meta.dirname, '..');
process.chdir(root);
// Every process of a run loads much the same modules: they are compiled once. This is the folder that Node itself would take.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');
const [isLong, words] = process.argv[2] === '--long' ? [true, process.argv.slice(3)] : [false, process.argv.slice(2)];
chooseStore(process.env);
if (isLong) process.env.NINEFOLD_LONG = '1';

type Stage = { readonly title: string } & (
  | { readonly command: readonly string[] }
  | {
      readonly files: readonly string[];
      /** Whether it runs on a store that answers later and runs every body twice. */
      readonly isReluctant?: true;
      /** Whether it is as short in the long run as in the other. */
      readonly isShort?: boolean;
    }
);

const asksHowLong = /from '(?:\.\.?\/)+long\.ts'/;
const everyFile = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] })
  .map((file) => file.replaceAll(sep, '/'))
  .sort();
/** Whole files that take seconds each: trials of services from end to end, processes that are started and killed, clients of others, the corpus. */
const leftToLong = [
  /^test\/verify-(?:bounds|changes|cli|endpoints|engine|examples|faults|flaky|hostile|listeners|lists|no-credentials|openapi-alone|own-rows)\./,
  /^test\/verify-(?:read-only|refill|reproductions|rewriting|rows|seeded|silence|skips|stand-ins|stated|strange|tenants|trouble|workshop)\./,
  /^test\/(?:clients\/|crash\.|cli-running\.|authentication-cli\.|faults-(?:calm|hunts|rooms|shop)\.)/,
  /^test\/(?:attack|foreign-hostile|stored-kills|export-openapi-(?:corpus|edits|words)|import-corpus|bench-drawn|bounded-memory|kinds-toys-delivered)\./,
];
const isLeft = (file: string) => leftToLong.some((pattern) => pattern.test(file));
const isOfVerify = (file: string) => file.startsWith('test/verify-');
const isChosen = (file: string) => (isLong ? isLeft(file) || asksHowLong.test(readFileSync(file, 'utf8')) : !isLeft(file));
// What is named is run whatever it takes.
const files = everyFile.filter((file) => words.length > 0 || isChosen(file));
const takes = (pattern: RegExp, from = files) => from.filter((file) => pattern.test(file));
const isApart = (file: string) => Object.values(apart).some((pattern) => pattern.test(file));
const apart = {
  walls: /^test\/house\./,
  stories: /^test\/stories[./]/,
  docs: /^test\/docs[^/]*[./]/,
  package: /^test\/package\./,
};

const isOfStore = (file: string) =>
  (!isApart(file) || apart.stories.test(file)) &&
  !isLeft(file) &&
  !/^test\/(?:verify|faults|import|export|convert|document)\b/.test(file);

/** What is run on the reluctant store at once; the long run takes every test and every story to it. */
const waiting = /^test\/(store-waits|access)\.test\./;

const commands: readonly Stage[] = [
  { title: 'format and lint', command: ['@biomejs/biome/bin/biome', 'check', '--error-on-warnings'] },
  { title: 'types', command: ['typescript/bin/tsc', '--noEmit'] },
];
const stages: readonly Stage[] = [
  ...(isLong ? [] : commands),
  { title: 'walls', files: takes(apart.walls) },
  { title: 'unit tests', files: files.filter((file) => !isApart(file) && !(isLong && isOfVerify(file))) },
  // Every fault and every seed takes longer than all the rest: they are tried where they are asked for, `npm run test:long -- verify`.
  { title: 'verify', files: isLong ? files.filter((file) => isOfVerify(file)) : [], isShort: words.length === 0 },
  { title: 'stories', files: takes(apart.stories) },
  {
    title: 'on a reluctant store',
    // What `verify` asks of a service, and what documents are read and written as, is the same whatever a store does.
    files: isLong ? everyFile.filter((file) => isOfStore(file)) : takes(waiting),
    isReluctant: true,
  },
  { title: 'docs', files: takes(apart.docs) },
  { title: 'package', files: takes(apart.package) },
];

// More processes than there are cores: many wait for what does not come.
const concurrency = 2 * availableParallelism() + 1;
const countLine = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;
const totals = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
const started = performance.now();
const { chosen, names } = choose(words);
let stopped: string | undefined;

for (const stage of chosen) {
  console.log(`\n== ${stage.title}`);
  const from = performance.now();
  const ok = 'command' in stage ? runCommand(stage.command) : await runStage(stage, names);
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

/** On the reluctant store, as in a short stage, each case is tried once for every sort, also in the long run. */
async function runStage(stage: Extract<Stage, { files: unknown }>, names: readonly string[]): Promise<boolean> {
  if (!stage.isReluctant && !stage.isShort) return runTests(stage.files, names);
  const { NODE_OPTIONS, NINEFOLD_LONG, NINEFOLD_TEST_STORE } = process.env;
  if (stage.isReluctant) {
    process.env.NINEFOLD_TEST_STORE = 'reluctant';
    chooseStore(process.env);
  }
  delete process.env.NINEFOLD_LONG;
  try {
    return await runTests(stage.files, names);
  } finally {
    for (const [name, value] of Object.entries({ NODE_OPTIONS, NINEFOLD_LONG, NINEFOLD_TEST_STORE })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** Runs test files, shows them as `node --test` does, and keeps the closing counts for the sum at the end. */
async function runTests(paths: readonly string[], names: readonly string[]): Promise<boolean> {
  const patterns = names.map((name) => new RegExp(RegExp.escape(name)));
  const { modules, close } = shareProcesses(paths, isLong ? 4 : 10);
  const stream = run({
    files: [...modules],
    concurrency,
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
    named ||= !modules.includes(name);
  });
  for await (const text of Readable.from(withoutCounts(stream)).pipe(spec())) process.stdout.write(text);
  close();
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
