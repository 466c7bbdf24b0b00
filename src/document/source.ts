import type { Place } from './document.ts';

/** A file's text and its lines. Columns count UTF-16 code units, as editors and language servers do. */
export interface Source {
  readonly file: string;
  readonly text: string;
  /** The place between two offsets, the second exclusive. */
  place(start: number, end: number): Place;
}

/** A source over a file's text; a line ends with LF, CR LF or CR. */
export function sourceOf(file: string, text: string): Source {
  // Many texts are read without a single place being asked for.
  let known: readonly number[] | undefined;
  let hint = 0;
  const lineOf = (starts: readonly number[], offset: number): number => {
    if (!holds(starts, hint, offset)) hint = holds(starts, hint + 1, offset) ? hint + 1 : search(starts, offset);
    return hint;
  };
  return {
    file,
    text,
    place(start, end) {
      known ??= lineStarts(text);
      const starts = known;
      const line = lineOf(starts, start);
      const endLine = lineOf(starts, Math.max(start, end));
      return {
        file,
        line: line + 1,
        column: start - (starts[line] ?? 0) + 1,
        endLine: endLine + 1,
        endColumn: Math.max(start, end) - (starts[endLine] ?? 0) + 1,
      };
    },
  };
}

/** A piece of a source that holds values: its text, and the place in the file of any part of it. */
export type Snippet = Pick<Source, 'text' | 'place'>;

/** The snippet that some stretches of a source make when they are put together; between them stands what is not part of it. */
export function snippetOf(source: Source, stretches: readonly SourceRange[]): Snippet {
  const [first] = stretches;
  if (first !== undefined && stretches.length === 1) {
    const [from, to] = first;
    return { text: source.text.slice(from, to), place: (start, end) => source.place(from + start, from + end) };
  }
  const text = stretches.map(([from, to]) => source.text.slice(from, to)).join('');
  let length = 0;
  const begins = stretches.map(([from, to]) => {
    length += to - from;
    return length - (to - from);
  });
  const offset = (at: number): number => {
    const index = search(begins, at);
    return (stretches[index]?.[0] ?? 0) + at - (begins[index] ?? 0);
  };
  return { text, place: (start, end) => source.place(offset(start), end > start ? offset(end - 1) + 1 : offset(start)) };
}

/** Two offsets of a source, the second exclusive. */
export type SourceRange = readonly [from: number, to: number];

/** The offsets at which the lines of a text begin. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return starts;
}

function holds(starts: readonly number[], line: number, offset: number): boolean {
  const start = starts[line];
  return start !== undefined && start <= offset && offset < (starts[line + 1] ?? Number.POSITIVE_INFINITY);
}

/** The last index whose start is not after the offset. */
function search(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
