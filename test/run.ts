import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { partOfCheckout } from './run/parts.ts';
import { runSideBySide, type Stage } from './run/side-by-side.ts';
import { chooseStore } from './stores/chosen.ts';
import { makeDatabase } from './stores/database.ts';

/**
 * `npm test`: what whoever changes something waits for: first what is quick and says most, then all tests; it stops after what fails.
 * `npm run test:long`: the files that take longer (`leftToLong`), the laws of the others at length (`test/long.ts`), and all on a
 * store that waits. `npm run test:whole`: the same with every kill, fault and document that there is.
 * `NINEFOLD_TEST_STORE=reluctant npm test`: the same on a store that answers later and runs every body twice; `postgres` and `pglite` likewise,
 * with the words of what can be run there, as `-- store timers following`.
 * `npm run test:long -- --part`: of the long run the part that the commit draws, as `run/parts.ts` says; continuous integration waits for that.
 * With `-- word …` both run only the stages and test files whose names contain a word, or else the tests whose names do.
 */
const root = join(import.meta.dirname, '..');
process.chdir(root);
// Every process of a run loads much the same modules: they are compiled once. This is the folder that Node itself would take.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');
const isWhole = process.argv[2] === '--whole';
const isLong = isWhole || process.argv[2] === '--long';
const isPart = process.argv[3] === '--part';
const words = process.argv.slice(isPart ? 4 : isLong ? 3 : 2);
chooseStore(process.env);
// What is named is tried as often as there are cases.
if (isLong) process.env.NINEFOLD_TEST_LONG = isWhole || words.length > 0 ? 'whole' : '1';

const asksHowLong = /from '(?:\.\.?\/)+long\.ts'/;
const isOfPart = isPart ? partOfCheckout() : () => true;
const everyFile = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] })
  .map((file) => file.replaceAll(sep, '/'))
  .filter(isOfPart)
  .sort();
/** Whole files that take seconds each: trials of services from end to end, processes that are started and killed, clients of others, the corpus. */
const leftToLong = [
  /^test\/verify-(?!(?:evidence|keys|payload|rate-model|shrinking|tally|telltale|untried)\.)/,
  /^test\/(?:clients\/|crash\.|chaos\.|deploy(?:-image)?\.|following-kills\.|cli-(?:running|doors)\.|workers\.|authentication-cli\.|faults-(?:calm|hunts|rooms|shop)\.)/,
  /^test\/(?:attack|foreign-hostile|stored-kills|export-openapi-(?:corpus|edits|words)|import-corpus|foreign-corpus|bench-drawn|real-servers|bounded-(?:memory|documents)|postgres-asked|derived-laws|kinds-toys-delivered)\./,
];
/** Files that take a few seconds of the processor each, so that `npm test` has an end soon; a store that waits is asked all of them too. */
const leftForTime =
  /^test\/(?:export-openapi|convert-(?:asyncapi-law|json-schema|json-schema-views|typescript-compile)|json-schema-behaviour|examples-(?:depot|issues|payments|trains)|house-waiting|sound-runs|access-lists|(?:moves|find|following|inner)-laws|auth(?:entication|orization)-matrix|kinds-toys|stored-rows|store-queries|introspection|basic-keys|surroundings|renamed-members|children-changed|hostile|parcels-errors|mistake-laws|events-(?:stream|webhooks|receivers)|recorded-(?:check|parts|serve)-[\w-]+|doors-socket|refusals|unseen|event-words|limits-rates)\./;
/** What needs a PostgreSQL, or another server. */
const needsPostgres =
  /^test\/(?:postgres-(?:backup|collation|processes|lost-answers|long-reads|online|plans|rates|spoken)|redis-rates|broker|workers|chaos|deploy)\./;
const isLeft = (file: string) => leftToLong.some((pattern) => pattern.test(file));
const isOfVerify = (file: string) => file.startsWith('test/verify-');
const isLater = (file: string) => isLeft(file) || leftForTime.test(file);
const isChosen = (file: string) => (isLong ? isLater(file) || asksHowLong.test(readFileSync(file, 'utf8')) : !isLater(file));
// What is named is run whatever it takes.
const files = everyFile.filter((file) => words.length > 0 || (isChosen(file) && !needsPostgres.test(file)));
const takes = (pattern: RegExp, from = files) => from.filter((file) => pattern.test(file));
const isApart = (file: string) => Object.values(apart).some((pattern) => pattern.test(file));
const apart = {
  walls: /^test\/house\./,
  stories: /^test\/stories[./]/,
  docs: /^test\/docs[^/]*[./]/,
  package: /^test\/package\./,
};

/** Tests that open no store by a service, or stores of their own alone, a reluctant one among them: on another they would be the same once more. */
const opensNone =
  /^test\/(?:store(?:-(?!waits|copy)\w[\w-]*)?|doors-\w+|wire-(?:body|formats|json|negotiation|route|validation)|limits-(?:calendar|counters|kinds)|(?:chaos-checker|chaos-listeners|cli-docs|finding-creates|house-waiting|language-answers|language-questions|launcher|long|patterns|sampling|sampling-forgiving|own-statements|planned|postgres-address|release-materials|samples|shared-processes))\.test\./;

const isOfStore = (file: string) =>
  (!isApart(file) || apart.stories.test(file)) &&
  !isLeft(file) &&
  !opensNone.test(file) &&
  !/^test\/(?:verify|faults|import|export|convert|document|check|expressions|kinds-(?!toys)\w+|form|json-schema|mistake|nine-parts|recorded|shapes?|parts|mutants|untold|run)[-.]/.test(
    file,
  );

/** Whether `verify` is tried once of each sort. Files of which `npm test` tries just that are left to it. */
const isVerifyShort = words.length === 0;
const isTriedHere = (file: string) => !isVerifyShort || isLeft(file);

/** Of the store's contract, what is run on PGlite at once: PostgreSQL's dialect and the engine over it, with nothing to install. */
const dialect = /^test\/store(?:-outbox)?\.test\./;

/** The tests of the store's contract and of what stands on it, which are run on PostgreSQL too. */
const onPostgres =
  /^test\/(?:store(?:-(?:changes|counters|credentials|outbox|queries|tables))?|postgres-(?:backup|collation|processes|lost-answers|long-reads|online|plans|rates|spoken)|redis-rates|broker|workers|chaos|deploy|timers|limits-(?:at-once|quotas|rates))\./;

/** What is run on the reluctant store at once; the long run takes every test and every story to it. */
const waiting = /^test\/(store-waits|access)\.test\./;

/** What the compiler found before of files that have not changed since. */
const kept = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo'];
const commands: readonly Stage[] = [
  { title: 'format and lint', command: ['@biomejs/biome/bin/biome', 'check', '--error-on-warnings'] },
  { title: 'types', command: ['typescript/bin/tsc', '--noEmit', '--checkers', '1', ...kept] },
];
/** Files that take long share a process with fewer others, so that none of them is left over at the end, and those that wait with fewer still. */
const [few, fewer] = isLong ? [{ neighbours: 8 }, { neighbours: 4 }] : [{}, {}];

/** What is run side by side, one round after the other: what is quick and says most is asked before anything else is begun. */
const rounds: readonly (readonly Stage[])[] = [
  [...(isLong ? [] : commands), { title: 'walls', files: takes(apart.walls) }],
  [
    { title: 'unit tests', files: files.filter((file) => !isApart(file) && !(isLong && isOfVerify(file))), ...few },
    { title: 'stories', files: takes(apart.stories) },
    { title: 'docs', files: takes(apart.docs) },
    { title: 'package', files: takes(apart.package) },
    // Most of these wait: for processes that are killed, for leases that run out.
    ...(isLong ? [{ title: 'on PostgreSQL', files: takes(onPostgres, everyFile), store: 'postgres' as const, ...fewer }] : []),
    ...(isLong ? [] : [{ title: 'on a reluctant store', files: takes(waiting), store: 'reluctant' as const }]),
    ...(isLong ? [] : [{ title: 'on PGlite', files: takes(dialect), store: 'pglite' as const }]),
  ],
  // Every fault and every seed takes longer than all the rest: they are tried where they are asked for, `npm run test:long -- verify`.
  // Nothing is run beside it: what has no time to wait for what does not come sees less.
  ...(isLong ? [[{ title: 'verify', files: files.filter(isOfVerify).filter(isTriedHere), isShort: isVerifyShort, ...few }]] : []),
  // What `verify` asks of a service, and what documents are read, checked and written as, is the same whatever a store does.
  ...(isLong
    ? [
        [
          {
            title: 'on a reluctant store',
            files: everyFile.filter((file) => isOfStore(file) && !needsPostgres.test(file)),
            store: 'reluctant' as const,
          },
        ],
      ]
    : []),
];

const totals = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
const started = performance.now();
const { chosen, names } = choose(words);
let stopped: string | undefined;
const unsteady: string[] = [];

// The long run does not do without it.
const asksForIt =
  process.env.NINEFOLD_TEST_STORE === 'postgres' || chosen.flat().some((stage) => 'store' in stage && stage.store === 'postgres');
const database = asksForIt ? await makeDatabase() : undefined;
if (database) process.env.NINEFOLD_TEST_DATABASE = database.address;
for (const round of chosen) {
  const failed = await runSideBySide(round, {
    names,
    // More than there are cores: many wait for what does not come.
    processes: 2 * availableParallelism() + 1,
    counted,
    unsteady: (files) => unsteady.push(...files),
  });
  if (failed.length === 0) continue;
  stopped = failed.join(', ');
  // A command has no tests.
  if (totals.failed + totals.cancelled === 0) totals.failed = failed.length;
  break;
}

await database?.drop();
report();
if (isPart)
  console.log(
    `Of the tests at length ${everyFile.length} files were asked, the part that this commit draws. npm run test:long asks all.`,
  );
if (!isLong && words.length === 0)
  console.log(
    'Left out: what takes long, and PostgreSQL itself, of which PGlite spoke the dialect. npm run test:long has both, on the server of NINEFOLD_TEST_POSTGRES, of port 5432, or one that it starts.',
  );
process.exitCode = stopped === undefined ? 0 : 1;

/** What the words on the command line ask for. */
function choose(words: readonly string[]): { readonly chosen: readonly (readonly Stage[])[]; readonly names: readonly string[] } {
  const isThere = (stage: Stage) => 'command' in stage || stage.files.length > 0;
  if (words.length === 0) return { chosen: rounds.map((round) => round.filter(isThere)), names: [] };
  const named = (name: string) => words.some((word) => name.includes(word));
  const byFile = rounds.map((round) =>
    round
      .flatMap((stage) => {
        if (named(stage.title)) return [stage];
        return 'command' in stage ? [] : [{ ...stage, files: stage.files.filter(named) }];
      })
      .filter(isThere),
  );
  if (byFile.some((round) => round.length > 0)) return { chosen: byFile, names: [] };
  return {
    chosen: [[{ title: `tests named ${words.join(', ')}`, files: files.filter((file) => mayName(file, words)) }]],
    names: words,
  };
}

/** Whether a file may have a test that is named so: it has each part of one of the words. Nobody else's hooks are run for nothing. */
function mayName(file: string, words: readonly string[]): boolean {
  const text = readFileSync(file, 'utf8');
  return words.some((word) => word.split(/[^\p{L}\p{N}]+/u).every((part) => text.includes(part)));
}

function counted(counts: Readonly<Record<'tests' | 'suites' | 'passed' | 'cancelled' | 'skipped' | 'todo', number>>): void {
  totals.tests += counts.tests;
  totals.suites += counts.suites;
  totals.passed += counts.passed;
  totals.failed += counts.tests - counts.passed - counts.cancelled - counts.skipped - counts.todo;
  totals.cancelled += counts.cancelled;
  totals.skipped += counts.skipped;
  totals.todo += counts.todo;
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
  if (unsteady.length > 0) console.log(`\nUnsteady, to be mended: ${unsteady.join(', ')} failed beside others and passed alone.`);
  console.log(
    `\n${Object.entries(counts)
      .map(([name, count]) => `ℹ ${name} ${count}\n`)
      .join('')}`,
  );
  console.log(`${passed} passed, ${failed + cancelled} failed`);
}
