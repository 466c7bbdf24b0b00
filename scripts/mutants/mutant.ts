/** One small fault put into one source file. */
export interface Mutant {
  readonly operator: string;
  /** Offsets in the source text, and what stands there instead. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** A mutant and the file, from the root of the repository, that it lies in. */
export interface PlacedMutant extends Mutant {
  readonly path: string;
}

/** The text with the mutant in it. */
export function mutated(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** The number of the line that a mutant begins in. */
export function lineOf(text: string, { start }: Mutant): number {
  return text.slice(0, start).split('\n').length;
}

/** The lines that a mutant touches, as they are and as it leaves them, without the space around them and between their lines. */
export function change(text: string, mutant: Mutant): { readonly from: string; readonly to: string } {
  const first = text.lastIndexOf('\n', mutant.start - 1) + 1;
  const next = text.indexOf('\n', mutant.end);
  const last = next === -1 ? text.length : next;
  const from = text.slice(first, last);
  const to = text.slice(first, mutant.start) + mutant.replacement + text.slice(mutant.end, last);
  return { from: plain(from), to: plain(to) };
}

function plain(lines: string): string {
  return lines.trim().replace(/\s*\n\s*/g, ' ');
}
