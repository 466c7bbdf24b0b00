import type { SourceRange } from '../source.ts';
import {
  beginsBlock,
  columnsBetween,
  type Fence,
  fenceOf,
  headingOf,
  htmlEnd,
  isBlank,
  isBreak,
  itemWidth,
  linesOf,
  type MarkdownLine,
  setextDepth,
} from './block-starts.ts';
import { cellsOf, columnsOf } from './table.ts';

/** A block at the top level of a Markdown text (CommonMark 0.31 with GFM tables), as stretches of the text. */
export type Block =
  | { readonly kind: 'heading'; readonly depth: number; readonly text: SourceRange; readonly all: SourceRange }
  | { readonly kind: 'break' | 'comment' | 'prose'; readonly all: SourceRange }
  /** A quote or a list: prose with everything in it. `fences` are those of its fences that look as if they stated something. */
  | { readonly kind: 'container'; readonly all: SourceRange; readonly fences: readonly SourceRange[] }
  | {
      readonly kind: 'fence';
      readonly info: string;
      readonly content: readonly SourceRange[];
      readonly closed: boolean;
      readonly open: SourceRange;
      readonly all: SourceRange;
    }
  | {
      readonly kind: 'table';
      readonly header: readonly SourceRange[];
      readonly rows: readonly (readonly SourceRange[])[];
      readonly all: SourceRange;
    };

/**
 * The blocks of a Markdown text in their order. Only what can state something is taken apart: a quote, a list or an HTML block
 * is one piece, and text inside a line is not looked at. Time is linear in the text, whatever the text.
 */
export function blocksOf(text: string): Block[] {
  const scan: Scan = { text, lines: linesOf(text), at: 0, blocks: [], paragraph: undefined };
  for (let line = scan.lines[scan.at]; line !== undefined; line = scan.lines[scan.at]) readBlock(scan, line);
  closeParagraph(scan);
  return scan.blocks;
}

interface Scan {
  readonly text: string;
  readonly lines: readonly MarkdownLine[];
  at: number;
  readonly blocks: Block[];
  /** The first line of the paragraph that is open. */
  paragraph: number | undefined;
}

/** Takes the block that begins at the current line, or adds the line to the open paragraph. */
function readBlock(scan: Scan, line: MarkdownLine): void {
  const inParagraph = scan.paragraph !== undefined;
  if (line.rest === '') {
    closeParagraph(scan);
    scan.at += 1;
  } else if (line.indent >= 4) {
    if (inParagraph) scan.at += 1;
    else take(scan, 1, (all) => ({ kind: 'prose', all }));
  } else if (inParagraph && setextDepth(line.rest) !== undefined) setextHeading(scan, line);
  else if (isBreak(line.rest)) take(scan, 1, (all) => ({ kind: 'break', all }));
  else if (headingOf(line.rest) !== undefined) atxHeading(scan, line);
  else if (fenceOf(line.rest) !== undefined) fence(scan, line);
  else if (htmlEnd(line.rest, inParagraph) !== undefined) html(scan, line);
  else if (line.rest.startsWith('>') || itemWidth(line, inParagraph) !== undefined) {
    const { end, fences } = containerEnd(scan.lines, scan.at);
    take(scan, end - scan.at, (all) => ({ kind: 'container', all, fences }));
  } else if (!table(scan, line)) {
    scan.paragraph ??= scan.at;
    scan.at += 1;
  }
}

/** Closes the paragraph before, and adds the block that the next lines are. */
function take(scan: Scan, lines: number, made: (all: SourceRange) => Block): void {
  closeParagraph(scan);
  scan.blocks.push(made(across(scan, scan.at, scan.at + lines)));
  scan.at += lines;
}

function closeParagraph(scan: Scan): void {
  if (scan.paragraph !== undefined) scan.blocks.push({ kind: 'prose', all: across(scan, scan.paragraph, scan.at) });
  scan.paragraph = undefined;
}

function across(scan: Scan, from: number, to: number): SourceRange {
  const first = scan.lines[from];
  return [(first?.end ?? 0) - (first?.rest.length ?? 0), scan.lines[to - 1]?.end ?? 0];
}

function setextHeading(scan: Scan, line: MarkdownLine): void {
  const from = scan.paragraph ?? scan.at;
  const [start, end] = across(scan, from, scan.at);
  const text: SourceRange = [start, start + scan.text.slice(start, end).trimEnd().length];
  scan.paragraph = undefined;
  scan.at += 1;
  scan.blocks.push({ kind: 'heading', depth: setextDepth(line.rest) ?? 2, text, all: across(scan, from, scan.at) });
}

function atxHeading(scan: Scan, line: MarkdownLine): void {
  const { depth, from, to } = headingOf(line.rest) ?? { depth: 1, from: 0, to: 0 };
  const start = line.end - line.rest.length;
  take(scan, 1, (all) => ({ kind: 'heading', depth, text: [start + from, start + to], all }));
}

function fence(scan: Scan, line: MarkdownLine): void {
  const opening = fenceOf(line.rest) as Fence;
  let end = scan.at + 1;
  while (end < scan.lines.length && !closes(scan.lines[end], opening)) end += 1;
  const closed = end < scan.lines.length;
  const content: SourceRange[] = [];
  for (let index = scan.at + 1; index < end; index++) {
    const { start, indent, rest, end: lineEnd } = scan.lines[index] as MarkdownLine;
    const stripped = Math.min(line.indent, indent, lineEnd - rest.length - start);
    const next = scan.lines[index + 1]?.start ?? scan.text.length;
    const before = content.at(-1);
    if (before !== undefined && before[1] === start + stripped) content[content.length - 1] = [before[0], next];
    else content.push([start + stripped, next]);
  }
  const open: SourceRange = [line.end - line.rest.length, line.end];
  take(scan, end - scan.at + (closed ? 1 : 0), (all) => ({ kind: 'fence', info: opening.info, content, closed, open, all }));
}

function closes(line: MarkdownLine | undefined, opening: Fence): boolean {
  if (line === undefined || line.indent >= 4 || line.rest[0] !== opening.mark) return false;
  const marks = line.rest.trimEnd();
  return marks.length >= opening.length && marks === opening.mark.repeat(marks.length);
}

function html(scan: Scan, line: MarkdownLine): void {
  const ends = htmlEnd(line.rest, scan.paragraph !== undefined);
  let end = scan.at;
  if (ends === 'blank') while (end < scan.lines.length && scan.lines[end]?.rest !== '') end += 1;
  else {
    while (end < scan.lines.length && !ends?.test(scan.lines[end]?.rest ?? '')) end += 1;
    end = Math.min(end + 1, scan.lines.length);
  }
  take(scan, end - scan.at, (all) => {
    const written = scan.text.slice(...all).trimEnd();
    return { kind: written.startsWith('<!--') && written.indexOf('-->') === written.length - 3 ? 'comment' : 'prose', all };
  });
}

/** A table, if this line is the header of one: the line below it marks as many columns. */
function table(scan: Scan, line: MarkdownLine): boolean {
  const below = scan.lines[scan.at + 1];
  const columns = below === undefined || below.indent >= 4 || beginsBlock(below) ? undefined : columnsOf(below.rest);
  if (columns === undefined || htmlEnd(line.rest, false) !== undefined) return false;
  const header = cellsOf(scan.text, line);
  if (header.length !== columns) return false;
  let end = scan.at + 2;
  for (let row = scan.lines[end]; row !== undefined && goesOn(row); row = scan.lines[++end]);
  const rows = scan.lines.slice(scan.at + 2, end).map((row) => cellsOf(scan.text, row));
  take(scan, end - scan.at, (all) => ({ kind: 'table', header, rows, all }));
  return true;
}

/** True of a line that is a row of the table above it; a table is ended by all that ends a paragraph, and by more. */
function goesOn(row: MarkdownLine): boolean {
  return row.rest !== '' && row.indent < 4 && !beginsBlock(row) && htmlEnd(row.rest, false) === undefined;
}

/**
 * The line after the last one of the quote or list item (CommonMark section 5) that begins at a line, and the fences in it that
 * are marked as if they stated something. What a line ends is known from its indentation and from whether text may go on.
 */
function containerEnd(lines: readonly MarkdownLine[], from: number): { end: number; fences: SourceRange[] } {
  const first = lines[from] as MarkdownLine;
  const width = first.rest.startsWith('>') ? undefined : itemWidth(first, false);
  const inner: Inner = { textOpen: false, fence: undefined, fences: [] };
  follow(inner, first);
  let end = from + 1;
  if (width !== undefined && isEmptyItem(first) && lines[end]?.rest === '') return { end, fences: inner.fences };
  for (let line = lines[end]; line !== undefined && belongs(line, width, inner); line = lines[++end]) follow(inner, line);
  return { end, fences: inner.fences };
}

interface Inner {
  /** A paragraph is open inside, and a line of text goes on with it without any mark (a lazy continuation line). */
  textOpen: boolean;
  fence: Fence | undefined;
  readonly fences: SourceRange[];
}

function belongs(line: MarkdownLine, width: number | undefined, inner: Inner): boolean {
  if (line.rest === '') return width !== undefined;
  if (width === undefined ? line.rest.startsWith('>') && line.indent < 4 : line.indent >= width) return true;
  if (!inner.textOpen || beginsBlock(line)) return false;
  return true;
}

function isEmptyItem(line: MarkdownLine): boolean {
  return /^(?:[-+*]|\d{1,9}[.)])[ \t]*$/.test(line.rest);
}

/** Takes notice of what a line does inside the container. */
function follow(inner: Inner, line: MarkdownLine): void {
  const { rest, indent } = insideOf(line);
  if (inner.fence !== undefined) {
    const closing = fenceOf(rest);
    if (closing?.mark === inner.fence.mark && closing.length >= inner.fence.length && closing.info === '')
      inner.fence = undefined;
    return;
  }
  const fence = indent < 4 || !inner.textOpen ? fenceOf(rest) : undefined;
  if (fence !== undefined) {
    inner.fence = fence;
    inner.textOpen = false;
    if (/^(?:yaml|json)$/i.test(fence.info)) inner.fences.push([line.end - rest.length, line.end]);
    return;
  }
  if (rest === '' || isBreak(rest) || headingOf(rest) !== undefined || htmlEnd(rest, inner.textOpen) !== undefined)
    inner.textOpen = false;
  else inner.textOpen ||= indent < 4;
}

/** What stands on a line after all marks of quotes and items, a bounded number of them. */
function insideOf(line: MarkdownLine): { rest: string; indent: number } {
  let { rest, indent } = line;
  for (let marks = 0; marks < 100; marks++) {
    const mark = isBreak(rest) ? undefined : /^(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))/.exec(rest)?.[0];
    if (mark === undefined) break;
    let at = mark.length;
    while (at < rest.length && isBlank(rest.charCodeAt(at))) at += 1;
    indent = Math.max(0, columnsBetween(rest, mark.length, at, indent + mark.length) - 1);
    rest = rest.slice(at);
  }
  return { rest, indent };
}
