import { columnsOfCharacter } from './columns.ts';

/** A source line as it is drawn, and where in it the marked stretch stands. */
export interface ShownLine {
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
