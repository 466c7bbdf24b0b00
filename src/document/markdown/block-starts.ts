import { lineStarts } from '../source.ts';

/** The opening of a fence: its mark, how many of them, and the words after them. */
export interface Fence {
  readonly mark: string;
  readonly length: number;
  readonly info: string;
}

/** True where a line (CommonMark sections 4 and 5) begins a block of its own, so that no paragraph or table goes on with it. */
export function beginsBlock(line: MarkdownLine): boolean {
  const { rest } = line;
  if (line.indent >= 4) return false;
  if (rest.startsWith('>') || isBreak(rest) || headingOf(rest) !== undefined || fenceOf(rest) !== undefined) return true;
  return htmlEnd(rest, true) !== undefined || itemWidth(line, false) !== undefined;
}

/** True of a thematic break (section 4.1). */
export function isBreak(rest: string): boolean {
  const mark = rest.charCodeAt(0);
  if (mark !== 42 && mark !== 45 && mark !== 95) return false;
  let marks = 0;
  for (let at = 0; at < rest.length; at++) {
    const code = rest.charCodeAt(at);
    if (code === mark) marks += 1;
    else if (!isBlank(code)) return false;
  }
  return marks >= 3;
}

/** The depth of an ATX heading (section 4.2) and where its text stands in the line. */
export function headingOf(rest: string): { depth: number; from: number; to: number } | undefined {
  const depth = /^#{1,6}(?=[ \t]|$)/.exec(rest)?.[0].length;
  if (depth === undefined) return undefined;
  let from = depth;
  while (from < rest.length && isBlank(rest.charCodeAt(from))) from += 1;
  let to = trimmed(rest, rest.length, from);
  let closing = to;
  while (closing > from && rest[closing - 1] === '#') closing -= 1;
  if (closing === from || isBlank(rest.charCodeAt(closing - 1))) to = trimmed(rest, closing, from);
  return { depth, from, to };
}

function trimmed(text: string, end: number, start: number): number {
  let to = end;
  while (to > start && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return to;
}

/** The depth of the heading that a paragraph becomes by the line under it (section 4.3). */
export function setextDepth(rest: string): 1 | 2 | undefined {
  if (/^=+[ \t]*$/.test(rest)) return 1;
  return /^-+[ \t]*$/.test(rest) ? 2 : undefined;
}

/** The opening of a fenced code block (section 4.5). */
export function fenceOf(rest: string): Fence | undefined {
  const [, marks, info] = /^(`{3,}|~{3,})(.*)$/s.exec(rest) ?? [];
  if (marks === undefined || info === undefined || (marks.startsWith('`') && info.includes('`'))) return undefined;
  return { mark: marks.charAt(0), length: marks.length, info: info.trim() };
}

/** What ends the HTML block that a line begins (section 4.6): a line that matches, or a blank one. */
export function htmlEnd(rest: string, inParagraph: boolean): RegExp | 'blank' | undefined {
  if (!rest.startsWith('<')) return undefined;
  for (const [start, end] of htmlUntil) if (start.test(rest)) return end;
  const name = /^<\/?([a-z][a-z\d]*)(?:[ \t]|\/?>|$)/i.exec(rest)?.[1]?.toLowerCase();
  if (name !== undefined && htmlBlocks.has(name)) return 'blank';
  return !inParagraph && isLonelyTag(rest) ? 'blank' : undefined;
}

/** The column at which the content of a list item stands (section 5.2), if the line begins one. */
export function itemWidth(line: MarkdownLine, inParagraph: boolean): number | undefined {
  const { rest, indent } = line;
  const marker = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/.exec(rest)?.[0];
  if (marker === undefined) return undefined;
  let at = marker.length;
  while (at < rest.length && isBlank(rest.charCodeAt(at))) at += 1;
  const isEmpty = at === rest.length;
  if (inParagraph && (isEmpty || (marker.length > 1 && Number.parseInt(marker, 10) !== 1))) return undefined;
  const column = indent + marker.length;
  const blanks = columnsBetween(rest, marker.length, at, column);
  return column + (isEmpty || blanks > 4 ? 1 : blanks);
}

const htmlUntil: readonly (readonly [RegExp, RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?:[ \t>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![a-z]/i, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
];

/** True of a line that is one whole tag. Attributes are taken one by one, for a regular expression over all of them has no bound. */
function isLonelyTag(rest: string): boolean {
  const open = /^<(\/?)[a-z][a-z\d-]*/i.exec(rest);
  if (open === null) return false;
  let at = open[0].length;
  while (open[1] === '') {
    attribute.lastIndex = at;
    if (!attribute.test(rest)) break;
    at = attribute.lastIndex;
  }
  const end = rest.slice(at).trim();
  return end === '>' || (end === '/>' && open[1] === '');
}

const attribute = /[ \t]+[a-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^ \t"'=<>`]+|'[^']*'|"[^"]*"))?/iy;

const htmlBlocks: ReadonlySet<string> = new Set(
  (
    'address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset ' +
    'figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem ' +
    'nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul'
  ).split(' '),
);

/** A line of a Markdown text: where it stands, how many columns it is indented by, and its text after that. */
export interface MarkdownLine {
  readonly start: number;
  /** Where its text ends; the line ending follows. */
  readonly end: number;
  readonly indent: number;
  /** The text after the indentation, the empty string for a blank line. */
  readonly rest: string;
}

/** The lines of a text. A tab goes to the next column that four divides (CommonMark section 2.2). */
export function linesOf(text: string): MarkdownLine[] {
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
