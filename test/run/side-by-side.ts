import { spawn } from 'node:child_process';
import { join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { chooseStore, type OtherStore } from '../stores/chosen.ts';
import { shareProcesses } from './processes.ts';

/** What is run as one, and what a word on the command line may name. */
export type Stage = CommandStage | TestStage;

interface CommandStage {
  readonly title: string;
  /** A script of a package, and its arguments. */
  readonly command: readonly string[];
}

interface TestStage {
  readonly title: string;
  readonly files: readonly string[];
  /** The store that it runs on in place of SQLite. */
  readonly store?: OtherStore;
  /** Whether it is as short in the long run as in the other. */
  readonly isShort?: boolean;
  /** How many files share a process, whose start takes a second: unless stated, as many as leave each process that runs at once one of its own. */
  readonly neighbours?: number;
}

export interface RunOptions {
  /** The names of the tests to be run, or pieces of them; none = all. */
  readonly names: readonly string[];
  /** How many processes the files of one environment have at once. */
  readonly processes: number;
  /** Counts what the tests of a process came to. */
  readonly counted: (counts: Counts) => void;
  /** Is told of files that failed beside others and passed alone. */
  readonly unsteady: (files: readonly string[]) => void;
}

type Counts = Readonly<Record<'tests' | 'suites' | 'passed' | 'cancelled' | 'skipped' | 'todo', number>>;
type Write = (text: string) => void;

/** So many files, or processes of them, are run once more, each file alone, when they fail: where more do, something is broken. */
const againMost = 3;

/** Runs stages side by side, those in one environment as one, and gives the titles of those that fail. */
export async function runSideBySide(stages: readonly Stage[], options: RunOptions): Promise<string[]> {
  const tests = Map.groupBy(
    stages.flatMap((stage) => ('files' in stage ? [stage] : [])),
    ({ store, isShort }) => `${store} ${isShort}`,
  );
  const together = [...tests.values()].map((alike) => ({
    ...alike[0],
    title: alike.map(({ title }) => title).join(', '),
    files: alike.flatMap(({ files }) => files),
  }));
  const turns = new Turns();
  const failed = await Promise.all(
    [...together, ...stages.filter((stage) => 'command' in stage)].map(async (stage) => {
      const { write, end } = turns.take();
      const from = performance.now();
      write(`\n== ${stage.title}\n`);
      const ok = 'command' in stage ? await runCommand(stage, write) : await runTests(stage, options, write);
      write(`== ${stage.title}: ${ok ? 'passed' : 'FAILED'} in ${((performance.now() - from) / 1000).toFixed(1)} s\n`);
      end();
      return ok ? [] : [stage.title];
    }),
  );
  return failed.flat();
}

/** Several write at once: the first of them is shown as it writes, another once those before it have ended. */
class Turns {
  readonly #waiting: { text: string; isOver: boolean }[] = [];

  take(): { readonly write: Write; readonly end: () => void } {
    const one = { text: '', isOver: false };
    this.#waiting.push(one);
    return {
      write: (text) => {
        one.text += text;
        this.#show();
      },
      end: () => {
        one.isOver = true;
        this.#show();
      },
    };
  }

  #show(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      process.stdout.write(first.text);
      first.text = '';
      if (!first.isOver) return;
      this.#waiting.shift();
    }
  }
}

function runCommand({ command: [script = '', ...args] }: CommandStage, write: Write): Promise<boolean> {
  const child = spawn(process.execPath, [join('node_modules', script), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
}

/** On another store, as in a short stage, each case is tried once for every sort, also in the long run. */
function environmentOf({ store, isShort = false }: TestStage): NodeJS.ProcessEnv {
  if (store === undefined && !isShort) return process.env;
  const { NINEFOLD_TEST_LONG: _long, ...env } = process.env;
  if (store !== undefined && env.NINEFOLD_TEST_STORE !== store) {
    env.NINEFOLD_TEST_STORE = store;
    chooseStore(env);
  }
  return env;
}

const countLine = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/**
 * Runs test files, and shows them as `node --test` does but for the closing counts. A few that fail are run once more, each alone: one that
 * passes then depends on what else the machine does, which is told, as that is to be mended too.
 */
async function runTests(stage: TestStage, options: RunOptions, write: Write): Promise<boolean> {
  const first = await runFiles(stage, options, write);
  const failed = first.failed.flat();
  // What is looked for by its name is looked at by somebody.
  if (options.names.length > 0 || failed.length === 0 || first.failed.length > againMost) {
    options.counted(first.counts);
    return first.ok;
  }
  write(`\n== once more, alone: ${failed.join(', ')}\n`);
  const again = await runFiles({ ...stage, files: failed, neighbours: 1 }, { ...options, processes: 1 }, write);
  // What the second time says of these files stands in place of the first.
  options.counted(
    again.ok
      ? { ...first.counts, passed: first.counts.tests - first.counts.skipped - first.counts.todo, cancelled: 0 }
      : first.counts,
  );
  if (again.ok) options.unsteady(failed);
  return again.ok;
}

interface Outcome {
  readonly ok: boolean;
  readonly counts: Counts;
  /** For each file in which a test failed it alone, from the project's root; all of a process, where it is not known which. */
  readonly failed: readonly (readonly string[])[];
}

async function runFiles(stage: TestStage, { names, processes }: RunOptions, write: Write): Promise<Outcome> {
  const patterns = names.map((name) => new RegExp(RegExp.escape(name)));
  const { modules, filesOf, close } = shareProcesses(
    stage.files,
    stage.neighbours ?? Math.max(15, Math.ceil(stage.files.length / (processes - 1))),
  );
  const stream = run({
    files: [...modules],
    concurrency: processes,
    env: environmentOf(stage),
    ...(patterns.length > 0 && { testNamePatterns: patterns }),
  });
  let ok = true;
  let counts: Counts = { tests: 0, suites: 0, passed: 0, cancelled: 0, skipped: 0, todo: 0 };
  const failed = new Set<string>();
  const broken: (readonly string[])[] = [];
  const fromRoot = (file: string) => relative('', file).replaceAll(sep, '/');
  const took = new Map<string, number>();
  stream.on('test:summary', ({ file, counts: found, success }) => {
    if (file === undefined) {
      ok &&= success;
      counts = found;
    } else if (!success) broken.push(filesOf(file) ?? filesOf(fromRoot(file)) ?? []);
  });
  stream.on('test:fail', ({ file }) => {
    ok = false;
    if (file !== undefined) failed.add(fromRoot(file));
  });
  let named = patterns.length === 0;
  stream.on('test:pass', ({ name }) => {
    named ||= filesOf(name) === undefined;
  });
  for (const outcome of ['test:pass', 'test:fail'] as const)
    stream.on(outcome, ({ file, nesting, details }) => {
      if (nesting === 0 && file !== undefined && filesOf(file) === undefined)
        took.set(fromRoot(file), (took.get(fromRoot(file)) ?? 0) + details.duration_ms / 1000);
    });
  for await (const text of Readable.from(withoutCounts(stream)).pipe(spec())) write(String(text));
  close();
  if (took.size > 1) write(`\nlongest: ${longest(took)}\n`);
  if (ok && !named) write(`No test and no test file is named like ${names.join(' or ')}.\n`);
  // A test that is written down in a file which several test files share says nothing of the one that it is of: any of its process may be.
  const known = stage.files.filter((file) => failed.has(file)).map((file) => [file]);
  return { ok: ok && named, counts, failed: [...known, ...broken.filter((files) => !files.some((file) => failed.has(file)))] };
}

/** The test files that a stage waits for, and how long the tests of each took, beside the others. */
function longest(took: ReadonlyMap<string, number>): string {
  const most = [...took].toSorted(([, a], [, b]) => b - a).slice(0, Number(process.env.NINEFOLD_TEST_LONGEST ?? 5));
  return most.map(([file, seconds]) => `${file} ${seconds.toFixed(1)} s`).join(', ');
}

async function* withoutCounts(events: AsyncIterable<{ type: string; data: { message?: string; nesting?: number } }>) {
  for await (const event of events) {
    const isCount = event.type === 'test:diagnostic' && event.data.nesting === 0 && countLine.test(event.data.message ?? '');
    if (!isCount) yield event;
  }
}
