import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Ending, runTestFile } from './test-process.ts';

/** What one test file runs, in its own process and in those that it starts. */
export interface Reach {
  readonly test: string;
  /** How long the processor is at work for it, which a busy machine does not change. */
  readonly seconds: number;
  readonly ending: Ending;
  /** By file of the repository: what its text was, and the stretches of `src` that ran, as offsets in turn from and to. */
  readonly files: Readonly<Record<string, { readonly hash: string; readonly ran: readonly number[] }>>;
}

interface Measuring {
  readonly root: string;
  /** The file that keeps what was measured. */
  readonly kept: string;
  readonly secondsAtMost: number;
  readonly told: (line: string) => void;
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface CoverageReport {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: readonly Range[] }[] }[];
}

/**
 * What every test file reaches. Measured once and kept in a file: a test file is run again when a file that it loads has
 * another text. A test file that fails without any mutant cannot judge one, and neither can one that runs longer than it may;
 * `ending` says so.
 */
export async function reachOf(tests: readonly string[], { root, kept, secondsAtMost, told }: Measuring): Promise<Reach[]> {
  const known = new Map(existsSync(kept) ? readKept(kept).map((reach) => [reach.test, reach]) : []);
  const hashes = new Map<string, string>();
  const hashOf = (path: string): string => {
    const hash = hashes.get(path) ?? textHash(join(root, path));
    hashes.set(path, hash);
    return hash;
  };
  const isFresh = ({ ending, files }: Reach) =>
    ending !== 'failed' && Object.entries(files).every(([path, { hash }]) => hashOf(path) === hash);
  const all: Reach[] = [];
  for (const [at, test] of tests.entries()) {
    const before = known.get(test);
    if (before !== undefined && isFresh(before)) {
      all.push(before);
      continue;
    }
    told(`what tests reach: ${at + 1} of ${tests.length}, ${test}`);
    const reach = await measured(test, { root, secondsAtMost, hashOf });
    known.set(test, reach);
    all.push(reach);
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, JSON.stringify([...known.values()]));
  }
  return all;
}

/** Whether a test file runs the place in a file. */
export function reaches({ files }: Reach, path: string, offset: number): boolean {
  const ran = files[path]?.ran ?? [];
  return ran.findLastIndex((edge) => edge <= offset) % 2 === 0;
}

/**
 * How much each test file is about a file: each character that it runs counts as a share of one, divided among all that run it.
 * What a file runs merely because something imports it is run by many, and counts for little.
 */
export function rarities(all: readonly Reach[], path: string): ReadonlyMap<Reach, number> {
  const reaching = all.filter(({ files }) => (files[path]?.ran.length ?? 0) > 0);
  const counts = new Uint32Array(Math.max(0, ...reaching.map(({ files }) => files[path]?.ran.at(-1) ?? 0)));
  const eachStretch = (reach: Reach, visit: (at: number) => void): void => {
    const ran = reach.files[path]?.ran ?? [];
    for (let edge = 0; edge + 1 < ran.length; edge += 2) for (let at = ran[edge] ?? 0; at < (ran[edge + 1] ?? 0); at++) visit(at);
  };
  for (const reach of reaching) eachStretch(reach, (at) => counts[at]!++);
  return new Map(
    reaching.map((reach) => {
      let sum = 0;
      eachStretch(reach, (at) => {
        sum += 1 / counts[at]!;
      });
      return [reach, sum];
    }),
  );
}

async function measured(
  test: string,
  { root, secondsAtMost, hashOf }: Pick<Measuring, 'root' | 'secondsAtMost'> & { readonly hashOf: (path: string) => string },
): Promise<Reach> {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-reach-'));
  // What the compile cache hands out is counted by function only, not by block.
  const hook = pathToFileURL(join(import.meta.dirname, 'processor-time.ts')).href;
  const environment = {
    NODE_V8_COVERAGE: folder,
    NODE_DISABLE_COMPILE_CACHE: '1',
    NODE_OPTIONS: `--import=${hook}`,
    NINEFOLD_PROCESSOR_TIME: folder,
  };
  const { ending } = await runTestFile(test, { root, environment, secondsAtMost });
  const marks = new Map<string, Uint8Array>();
  let seconds = 0.1;
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.time')) seconds += Number(readFileSync(join(folder, name), 'utf8'));
    if (!name.endsWith('.json')) continue;
    const report: CoverageReport | undefined = parsed(readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of report?.result ?? []) {
      const path = url.startsWith('file:') ? relative(root, fileURLToPath(url)).replaceAll(sep, '/') : '..';
      if (path.startsWith('..') || path.includes('node_modules/') || !path.endsWith('.ts')) continue;
      mark(marks, path, functions);
    }
  }
  rmSync(folder, { recursive: true });
  const files = [...marks].map(([path, ran]) => [path, { hash: hashOf(path), ran: path.startsWith('src/') ? edges(ran) : [] }]);
  return { test, seconds, ending, files: { [test]: { hash: hashOf(test), ran: [] }, ...Object.fromEntries(files) } };
}

/** Adds what one process ran: the ranges of a function lie inside each other, the inner one being right. */
function mark(marks: Map<string, Uint8Array>, path: string, functions: CoverageReport['result'][number]['functions']): void {
  const ranges = functions.flatMap((one) => one.ranges);
  const length = Math.max(0, ...ranges.map(({ endOffset }) => endOffset));
  const here = new Uint8Array(length);
  for (const { startOffset, endOffset, count } of ranges) here.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  const before = marks.get(path);
  marks.set(path, before === undefined ? here : here.map((ran, at) => ran | (before[at] ?? 0)));
}

function edges(ran: Uint8Array): number[] {
  const found: number[] = [];
  ran.forEach((value, at) => {
    if (value !== (ran[at - 1] ?? 0)) found.push(at);
  });
  if (ran.at(-1) === 1) found.push(ran.length);
  return found;
}

/** A process that was killed may leave half a report, which says nothing. */
function parsed(text: string): CoverageReport | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readKept(kept: string): Reach[] {
  return JSON.parse(readFileSync(kept, 'utf8'));
}

function textHash(path: string): string {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('base64').slice(0, 16) : '';
}
