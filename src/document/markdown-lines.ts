import { lineStarts } from './source.ts';

/** A line of a Markdown text: where it stands, how many columns it is indented by, and its text after that. */
export interface Line {
  readonly start: number;
  /** Where its text ends; the line ending follows. */
  readonly end: number;
  readonly indent: number;
  /** The text after the indentation, the empty string for a blank line. */
  readonly rest: string;
}

/** The lines of a text. A tab goes to the next column that four divides (CommonMark section 2.2). */
export function linesOf(text: string): Line[] {
  const starts = lineStarts(text);
  if (starts.at(-1) === text.length) starts.pop();
  return starts.map((start, index) => {
    let end = starts[index + 1] ?? text.length;
    while (end > start && isEnding(text.charCodeAt(end - 1))) end -= 1;
    let at = start;
    while (at < end && isBlank(text.charCodeAt(at))) at += 1;
    return { start, end, indent: columnsBetween(text, start, at, 0), rest: text.slice(at, end) };
  });
}

/** How many columns the blanks between two offsets are wide, when the first of them stands in the given column. */
export function columnsBetween(text: string, from: number, to: number, column: number): number {
  let reached = column;
  for (let at = from; at < to; at++) reached += text.charCodeAt(at) === tab ? 4 - (reached % 4) : 1;
  return reached - column;
}

/** True of the code of a space or a tab. */
export function isBlank(code: number): boolean {
  return code === 32 || code === tab;
}

function isEnding(code: number): boolean {
  return code === 10 || code === 13;
}

const tab = 9;
