import type { Document, Finding, Place } from './document.ts';
import { lineStarts } from './source.ts';

/** How a finding is drawn. */
interface FrameOptions {
  /** With the escape codes of a terminal that shows colours. */
  readonly colour: boolean;
  /** Columns that a drawn line may take; longer source lines are cut around what is marked. */
  readonly width?: number;
}

/**
 * A finding as text for a person: its code and message, then the source lines at its place with a mark under it, the lines of
 * other places that belong to it, and what to write instead. No line feed at the end.
 */
export function renderFinding(
  sources: Pick<Document, 'sources'> | Document['sources'],
  finding: Finding,
  { colour, width = 120 }: FrameOptions,
): string {
  const files = 'sources' in sources ? sources.sources : sources;
  const paint: Paint = colour ? (name, text) => `\u001b[${codes[name]}m${text}\u001b[39;22m` : (_, text) => text;
  const places = [finding.place, ...(finding.also ?? []).map((also) => also.place)];
  const margin = String(Math.max(...places.map((place) => place.line + 1))).length;
  const drawing: Drawing = { files, paint, margin, width };
  const lines = [
    `${paint(finding.severity, `${finding.severity}[${oneLine(finding.code)}]`)}${paint('bold', `: ${oneLine(finding.message)}`)}`,
    ...frame(finding.place, finding.severity, '^', drawing),
  ];
  for (const { message, place } of finding.also ?? []) {
    lines.push(`${' '.repeat(margin)} ${paint('rule', '=')} ${paint('bold', 'note')}: ${oneLine(message)}`);
    lines.push(...frame(place, 'rule', '-', drawing));
  }
  if (finding.remedy !== undefined) {
    lines.push(`${' '.repeat(margin)} ${paint('rule', '=')} ${paint('bold', 'help')}: ${oneLine(finding.remedy)}`);
  }
  return lines.join('\n');
}

const codes = { error: '1;31', warning: '1;33', bold: '1', rule: '1;34' } as const;
type Paint = (name: keyof typeof codes, text: string) => string;

interface Drawing {
  readonly files: Document['sources'];
  readonly paint: Paint;
  /** Digits of the greatest line number. */
  readonly margin: number;
  readonly width: number;
}

function frame(place: Place, name: keyof typeof codes, mark: string, { files, paint, margin, width }: Drawing): string[] {
  const gutter = (number: string): string => paint('rule', `${number.padStart(margin)} |`);
  const lines = [`${' '.repeat(margin)}${paint('rule', '-->')} ${oneLine(place.file)}:${place.line}:${place.column}`];
  const text = files.get(place.file);
  if (text === undefined) return lines;
  const starts = startsOf(text);
  const lineAt = (number: number): string | undefined => {
    const start = starts[number - 1];
    return start === undefined ? undefined : text.slice(start, starts[number] ?? text.length).replace(/[\r\n]+$/, '');
  };
  const marked = lineAt(place.line);
  if (marked === undefined) return lines;
  const from = place.column - 1;
  const to = place.endLine > place.line ? Math.max(marked.trimEnd().length, from + 1) : Math.max(place.endColumn - 1, from + 1);
  const room = Math.max(20, width - margin - 3);
  const middle = shownLine(marked, from, to, room);
  lines.push(gutter(''));
  const before = lineAt(place.line - 1);
  if (before?.trim()) lines.push(row(gutter(String(place.line - 1)), shownLine(before, from, from, room, middle.cut).text));
  lines.push(row(gutter(String(place.line)), middle.text));
  lines.push(row(gutter(''), ' '.repeat(middle.column) + paint(name, mark.repeat(middle.columns))));
  const after = lineAt(place.line + 1);
  if (after?.trim()) lines.push(row(gutter(String(place.line + 1)), shownLine(after, from, from, room, middle.cut).text));
  return lines;
}

/** The line starts of a text; those of the last one are kept, since the findings of one file are drawn one after another. */
function startsOf(text: string): readonly number[] {
  if (last.text !== text) last = { text, starts: lineStarts(text) };
  return last.starts;
}

let last: { readonly text: string; readonly starts: readonly number[] } = { text: '', starts: [0] };

function row(gutter: string, text: string): string {
  return text === '' ? gutter : `${gutter} ${text}`;
}

/** Text for one line of a terminal: what would move its cursor or change its colours is shown as a sign. */
function oneLine(text: string): string {
  return shownLine(text.replace(/[\r\n]+/g, ' '), 0, 0, Number.POSITIVE_INFINITY).text;
}

/** A source line as it is drawn, and where in it the marked stretch stands. */
interface ShownLine {
  readonly text: string;
  readonly column: number;
  readonly columns: number;
  /** How many columns of the whole line were left out at its beginning. */
  readonly cut: number;
}

/**
 * A source line in at most `room` columns: tabs are written as blanks, control characters as signs, and a line that is too long
 * is cut around the stretch from one offset to another, or as many columns from its beginning as `cut` says.
 */
export function shownLine(line: string, from: number, to: number, room: number, cut?: number): ShownLine {
  const cells = cellsOf(line, Math.max(to, from + room * 2) + room);
  const total = cells.at(-1)?.end ?? 0;
  const start = columnAt(cells, from, total);
  const end = Math.max(start + 1, columnAt(cells, to, total));
  const left = cut ?? (total <= room ? 0 : Math.max(0, Math.min(start - Math.floor(room / 3), total - room + 1)));
  const lead = left > 0 && total > left ? '…' : '';
  const fits = total - left <= room - lead.length;
  const right = fits ? total : left + room - lead.length - 1;
  const text = `${lead}${written(cells, left, right)}${fits ? '' : '…'}`;
  const column = Math.max(0, start - left + lead.length);
  return { text, column, columns: Math.max(1, Math.min(end, Math.max(right, start + 1)) - Math.max(start, left)), cut: left };
}

/** A character of a line: where it begins in the line, what is drawn for it, and the columns it takes. */
interface Cell {
  readonly offset: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function cellsOf(line: string, limit: number): Cell[] {
  const cells: Cell[] = [];
  let offset = 0;
  let column = 0;
  for (const character of line) {
    if (offset > limit) break;
    const code = character.codePointAt(0) ?? 0;
    const isTab = code === 9;
    const columns = isTab ? tabColumns - (column % tabColumns) : columnsOfCharacter(code);
    cells.push({ offset, text: isTab ? ' '.repeat(columns) : signOf(code, character), start: column, end: column + columns });
    offset += character.length;
    column += columns;
  }
  return cells;
}

const tabColumns = 4;

/** C0 and C1 controls and marks that turn the direction of text could deceive the reader of a terminal. */
function signOf(code: number, character: string): string {
  if (code < 32) return String.fromCharCode(0x2400 + code);
  if (code === 127) return '\u2421';
  const isDeceiving = (code >= 0x80 && code < 0xa0) || (code >= 0xd800 && code <= 0xdfff);
  if (isDeceiving) return '\uFFFD';
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ? '' : character;
}

function columnAt(cells: readonly Cell[], offset: number, total: number): number {
  let low = 0;
  let high = cells.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cells[middle]?.offset ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return cells[low]?.start ?? total;
}

/** What is drawn between two columns; of a wide character that is cut in half, a blank is left. */
function written(cells: readonly Cell[], left: number, right: number): string {
  let text = '';
  for (const { text: drawn, start, end } of cells) {
    if (start >= left && end <= right) text += drawn;
    else if (end > left && start < right) text += ' '.repeat(Math.min(end, right) - Math.max(start, left));
  }
  return text;
}

/** How many columns of a terminal one character takes (Unicode Standard Annex 11, in rough ranges). */
function columnsOfCharacter(code: number): 0 | 1 | 2 {
  if (code < 0x300) return 1;
  if (within(code, widthless)) return 0;
  return within(code, wide) ? 2 : 1;
}

type Ranges = readonly (readonly [number, number])[];

function within(code: number, ranges: Ranges): boolean {
  return ranges.some(([from, to]) => code >= from && code <= to);
}

const widthless: Ranges = [
  [0x300, 0x36f],
  [0x483, 0x489],
  [0x591, 0x5bd],
  [0x610, 0x61a],
  [0x64b, 0x65f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x2069],
  [0x20d0, 0x20ff],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0xfeff, 0xfeff],
  [0x1f3fb, 0x1f3ff],
  [0xe0100, 0xe01ef],
];

const wide: Ranges = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x23e9, 0x23ec],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2648, 0x2653],
  [0x26aa, 0x26ab],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x274c],
  [0x2753, 0x2757],
  [0x2795, 0x2797],
  [0x2b50, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f004, 0x1f004],
  [0x1f0cf, 0x1f0cf],
  [0x1f18e, 0x1f19a],
  [0x1f200, 0x1f320],
  [0x1f32d, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f7e0, 0x1f7eb],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];
