import type { SourceRange } from '../source.ts';
import { isBlank, type MarkdownLine } from './block-starts.ts';

/** How many columns a delimiter row of a table (GFM section 4.10) marks, or undefined for another line. */
export function columnsOf(rest: string): number | undefined {
  if (!/^[-:| \t]+$/.test(rest) || !/[|:]/.test(rest)) return undefined;
  const cells = rest.split('|').map((cell) => cell.trim());
  if (cells.at(-1) === '') cells.pop();
  if (cells[0] === '') cells.shift();
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell)) ? cells.length : undefined;
}

/** The cells of a row, without the blanks around them. `\|` belongs to a cell. */
export function cellsOf(text: string, line: MarkdownLine): SourceRange[] {
  const cells: SourceRange[] = [];
  let from = line.end - line.rest.length;
  let at = from;
  if (text[at] === '|') from = ++at;
  for (; at < line.end; at++) {
    const mark = text[at];
    if (mark === '\\' && (text[at + 1] === '|' || text[at + 1] === '\\')) at += 1;
    else if (mark === '|') {
      cells.push(trimmed(text, from, at));
      from = at + 1;
    }
  }
  const last = trimmed(text, from, line.end);
  if (last[0] < last[1]) cells.push(last);
  return cells;
}

/** What a cell says, as stretches of the text: the backslash of `\|` is left out. */
export function cellStretches(text: string, [from, to]: SourceRange): SourceRange[] {
  const stretches: SourceRange[] = [];
  let start = from;
  for (let at = from; at < to; at++) {
    if (text[at] !== '\\') continue;
    if (text[at + 1] === '|') {
      if (at > start) stretches.push([start, at]);
      start = at + 1;
    }
    at += 1;
  }
  stretches.push([start, to]);
  return stretches;
}

function trimmed(text: string, from: number, to: number): SourceRange {
  let [start, end] = [from, to];
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return [start, end];
}
