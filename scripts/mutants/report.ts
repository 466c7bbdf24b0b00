import type { Outcome, Verdict } from './trial.ts';

export interface Tally {
  readonly room: string;
  readonly killed: number;
  readonly timeout: number;
  readonly survived: number;
  readonly uncovered: number;
  /** Killed and timed out, of all that were tried. */
  readonly share: number;
}

/** How many mutants of each room were killed. What no test reaches counts as alive. */
export function tallies(outcomes: readonly Outcome[]): Tally[] {
  return [...Map.groupBy(outcomes, ({ path }) => roomOf(path))].map(([room, its]) => {
    const count = (verdict: Verdict) => its.filter((outcome) => outcome.verdict === verdict).length;
    const [killed, timeout] = [count('killed'), count('timeout')];
    return {
      room,
      killed,
      timeout,
      survived: count('survived'),
      uncovered: count('no coverage'),
      share: (killed + timeout) / its.length,
    };
  });
}

/** The room of `src` that a file lies in. */
export function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** A table by room, then each mutant that is alive as two lines of a difference. */
export function reportText(outcomes: readonly Outcome[], threshold: number): string {
  const rows = tallies(outcomes).map(({ room, killed, timeout, survived, uncovered, share }) =>
    [
      room,
      killed,
      timeout,
      survived,
      uncovered,
      `${(share * 100).toFixed(1)} %${share * 100 < threshold ? ' (too few)' : ''}`,
    ].map(String),
  );
  const table = [['room', 'killed', 'timeout', 'survived', 'no coverage', 'share'], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...outcomes.filter(isAlive).map(survivorText), lines.join('\n'), byOperator(outcomes)].join('\n\n');
}

export function isAlive({ verdict }: Outcome): boolean {
  return verdict === 'survived' || verdict === 'no coverage';
}

function survivorText({ path, line, operator, verdict, from, to }: Outcome): string {
  return `${path}:${line}  ${operator}, ${verdict}\n- ${shortened(from)}\n+ ${shortened(to)}`;
}

/** Lines that a whole table or function was taken out of would fill the page. */
function shortened(line: string): string {
  return line.length <= 400 ? line : `${line.slice(0, 400)} …`;
}

function byOperator(outcomes: readonly Outcome[]): string {
  const groups = [...Map.groupBy(outcomes, ({ operator }) => operator)].sort(([a], [b]) => a.localeCompare(b));
  return groups.map(([name, its]) => `${name} ${its.filter((outcome) => !isAlive(outcome)).length}/${its.length}`).join(', ');
}
