import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { reachOf } from './mutants/coverage.ts';
import { exceptionFor } from './mutants/exceptions.ts';
import { change, type PlacedMutant } from './mutants/mutant.ts';
import { mutantsOf, operators } from './mutants/operators.ts';
import { isAlive, reportText, tallies } from './mutants/report.ts';
import { drawn } from './mutants/sample.ts';
import { Selection } from './mutants/selection.ts';
import { type Outcome, tried } from './mutants/trial.ts';

/**
 * `npm run mutants`: small faults are put into the sources one at a time, and the tests that reach each have to notice.
 * Exit code 1 when a room has a smaller share of killed mutants than the threshold.
 */
const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    room: { type: 'string', multiple: true, default: ['serve', 'parts', 'check'] },
    file: { type: 'string', multiple: true },
    operator: { type: 'string', multiple: true },
    test: { type: 'string', multiple: true },
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
    within: { type: 'string', default: '30' },
    threshold: { type: 'string', default: '90' },
    workers: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(help());
else await run();

async function run(): Promise<void> {
  const kept = join(root, 'node_modules', '.cache', 'mutants', 'reach.json');
  const asked = (test: string) => values.test === undefined || values.test.some((word) => test.includes(word));
  const tests = globSync('test/**/*.test.ts', { cwd: root }).map(withSlashes).filter(asked).sort();
  const within = Number(values.within);
  const reach = await reachOf(tests, { root, kept, secondsAtMost: 8 * within, told });
  for (const { test, ending } of reach) if (ending === 'failed') told(`${test} fails without any mutant and judges none`);
  const { chosen, excepted } = choice();
  const outcomes = await trials(chosen, new Selection(reach, within));
  if (values.json) console.log(JSON.stringify({ excepted, rooms: tallies(outcomes), outcomes }, undefined, 2));
  else console.log(`${reportText(outcomes, Number(values.threshold))}\nset aside as equivalent: ${excepted}`);
  if (tallies(outcomes).some(({ share }) => share * 100 < Number(values.threshold))) process.exitCode = 1;
}

/** What is drawn of each room, or of the files that are named; what is known to change nothing is set aside before. */
function choice(): { readonly chosen: PlacedMutant[]; readonly excepted: number } {
  const groups =
    values.file === undefined ? values.room.map((room) => globSync(`src/${room}/**/*.ts`, { cwd: root })) : [values.file];
  let excepted = 0;
  const chosen = groups.flatMap((paths) => {
    const all = paths.map(withSlashes).sort().flatMap(placed);
    const open = all.filter(({ mutant, text }) => exceptionFor(change(text, mutant)) === undefined).map(({ mutant }) => mutant);
    excepted += all.length - open.length;
    return values.all ? open : drawn(open, Number(values.sample), Number(values.seed));
  });
  return { chosen, excepted };
}

function placed(path: string): { readonly mutant: PlacedMutant; readonly text: string }[] {
  const text = readFileSync(join(root, path), 'utf8');
  const wanted = (name: string) => values.operator === undefined || values.operator.includes(name);
  return mutantsOf(text).flatMap((mutant) => (wanted(mutant.operator) ? [{ mutant: { path, ...mutant }, text }] : []));
}

/** Every mutant tried, some at once, in the order in which they were drawn. */
async function trials(mutants: readonly PlacedMutant[], selection: Selection): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-mutants-'));
  const outcomes: Outcome[] = [];
  const waiting = [...mutants.entries()];
  let done = 0;
  let alive = 0;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, mutant] = next;
      const outcome = await tried(mutant, selection, { root, folder });
      outcomes[at] = outcome;
      if (isAlive(outcome)) alive++;
      told(`${++done} of ${mutants.length}, ${alive} alive; ${outcome.verdict}: ${outcome.path}:${outcome.line}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, work));
  rmSync(folder, { recursive: true });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return outcomes;
}

/** One line in a terminal, rewritten; elsewhere one line each. */
function told(line: string): void {
  const width = process.stderr.columns ?? 80;
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line.slice(0, width - 1)}` : `${line}\n`);
}

function withSlashes(path: string): string {
  return path.replaceAll(sep, '/');
}

function help(): string {
  return `npm run mutants -- OPTIONS

  --sample 100      so many mutants of each room, drawn
  --seed 1          by this seed
  --all             every mutant instead
  --room serve      of this room (again for more; serve, parts and check if left out)
  --file src/…      of this file instead of rooms (again for more)
  --operator logic  made by this operator alone (again for more)
  --test check      asks only test files with this word in their path (again for more): what others would notice is not known
  --within 30       seconds of tests that one mutant may take, by their usual time
  --threshold 90    percent of each room that have to be killed
  --workers 2       so many at once
  --json            the outcome of every mutant

Operators:

${operators.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n')}`;
}
