import { quoted, report, reportRepeated } from '../catalogue.ts';
import type { Json, Place, Pointer } from '../document.ts';
import { below, pathOf } from '../pointer.ts';
import { countValue, type Located, type ReadContext, Stop } from '../read-context.ts';
import { type Snippet, type SourceRange, type SourceText, snippetOf } from '../source.ts';
import { newMap, type OpenMap } from '../values.ts';
import { readYaml } from '../yaml/yaml.ts';
import { isBlank, type MarkdownLine } from './block-starts.ts';

/** A table that states something: where its header's cells and its rows' cells are. */
interface Table {
  readonly header: readonly SourceRange[];
  readonly rows: readonly (readonly SourceRange[])[];
  readonly all: SourceRange;
}

/** The map of maps that a table states at a place of the tree: each row an entry, each other header a property, empty cells left out. */
export function readTable(table: Table, at: Pointer, source: SourceText, gathering: ReadContext): Located {
  const places: Located['places'] = new Map([[at, source.place(...table.all)]]);
  const value = newMap();
  const reading: Reading = { source, gathering, places, depth: pathOf(at).length };
  const words = headerWords(table, at, reading);
  try {
    for (const cells of table.rows) readRow(cells, words, at, value, reading);
  } catch (cause) {
    if (!(cause instanceof Stop)) throw cause;
  }
  return { value, places };
}

/** The word in the first cell of a table's header. */
export function headerOf(table: Table, source: SourceText): string {
  return cellText(table.header[0], source);
}

interface Reading {
  readonly source: SourceText;
  readonly gathering: ReadContext;
  readonly places: Located['places'];
  readonly depth: number;
}

/** A property's name and where its header writes it. */
interface Header {
  readonly word: string;
  readonly place: Place;
}

/** A property's name by column; undefined for the first column and for one that cannot be read. */
function headerWords({ header }: Table, at: Pointer, reading: Reading): (Header | undefined)[] {
  const seen = new Map<string, Place>();
  return header.map((cell, column) => {
    if (column === 0) return undefined;
    const word = cellText(cell, reading.source);
    const place = reading.source.place(...cell);
    const first = seen.get(word);
    if (word !== '' && first === undefined) {
      seen.set(word, place);
      return { word, place };
    }
    if (first !== undefined)
      reportRepeated(reading.gathering, new Map([[`${below(at, word)}#`, first]]), word, below(at, word), place);
    return undefined;
  });
}

function readRow(
  cells: readonly SourceRange[],
  words: readonly (Header | undefined)[],
  at: Pointer,
  filled: OpenMap,
  reading: Reading,
): void {
  const { source, gathering, places } = reading;
  const [first] = cells;
  const whole: Place | undefined = first && source.place(first[0], cells.at(-1)?.[1] ?? first[1]);
  if (first === undefined || whole === undefined || cells.every(([from, to]) => from === to)) return;
  const key = rowKey(snippetOf(source, cellStretches(source.text, first)), first, reading);
  if (key === undefined || key === '') {
    report(gathering, 'document/table-row', whole, 'The row has no name in its first cell.', { at });
    return;
  }
  const inner = below(at, key);
  const place = source.place(...first);
  if (Object.hasOwn(filled, key)) {
    reportRepeated(gathering, places, key, inner, place);
    return;
  }
  countValue(gathering, () => place);
  places.set(`${inner}#`, place);
  places.set(inner, whole);
  const row = newMap();
  filled[key] = row;
  for (const [column, cell] of cells.entries()) {
    const header = words[column];
    if (column === 0 || cell[0] === cell[1]) continue;
    if (header === undefined) {
      report(gathering, 'document/table-row', source.place(...cell), 'The cell stands under no header of its own.', {
        at: inner,
      });
      continue;
    }
    const { word, place: headerPlace } = header;
    const value = readCell(cell, below(inner, word), reading);
    if (value === undefined) continue;
    row[word] = value;
    places.set(`${below(inner, word)}#`, headerPlace);
  }
}

function readCell(cell: SourceRange, at: Pointer, { source, gathering, places, depth }: Reading): Json | undefined {
  const snippet = snippetOf(source, cellStretches(source.text, cell));
  const plain = plainValue(snippet.text);
  if (plain !== undefined) {
    places.set(at, source.place(...cell));
    return plain;
  }
  const found = gathering.findings.length;
  const located = readYaml(snippet, at, depth + 2, gathering, 'flow');
  if (located === undefined) {
    if (gathering.findings.length === found) reportCell(cell, source, gathering, at);
    return undefined;
  }
  for (const [pointer, place] of located.places) places.set(pointer, place);
  return located.value;
}

/** The value of a cell that needs no YAML reader to be understood: a few words, or a small number. Most cells are such. */
function plainValue(text: string): string | number | undefined {
  if (/^(?:0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  return /^[a-z_][\w.-]*(?: [a-z][\w.-]*)*$/i.test(text) && !/^(?:true|false|null)$/i.test(text) ? text : undefined;
}

function reportCell(cell: SourceRange, source: SourceText, gathering: ReadContext, at: Pointer): void {
  const text = source.text.slice(...cell);
  report(gathering, 'document/table-cell', source.place(...cell), `${quoted(text)} is not one YAML value on one line.`, { at });
}

/** The name of a row: as it stands there, or a YAML string if it stands in quotes. */
function rowKey(snippet: Snippet, cell: SourceRange, { source, gathering, depth }: Reading): string | undefined {
  if (!/^["']/.test(snippet.text)) return cellText(cell, source);
  const located = readYaml(snippet, '', depth + 1, gathering, 'flow');
  return typeof located?.value === 'string' ? located.value : undefined;
}

function cellText(cell: SourceRange | undefined, source: SourceText): string {
  if (cell === undefined) return '';
  return plainText(snippetOf(source, cellStretches(source.text, cell)).text);
}

/**
 * The text of a heading or a name in a table as it is meant: without the backticks of code, with Markdown's backslash escapes
 * (CommonMark section 2.4) undone outside of code, and everything else, such as braces and stars, as it stands there.
 */
export function plainText(written: string): string {
  let text = '';
  let code = 0;
  for (const [piece] of written.matchAll(/`+|\\.|[^`\\]+|\\/gs)) {
    if (piece.startsWith('`')) {
      if (code === 0) code = piece.length;
      else if (code === piece.length) code = 0;
    } else text += code === 0 && escaped.test(piece) ? piece.slice(1) : piece;
  }
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .join(' ')
    .trim();
}

const escaped = /^\\[!-/:-@[-`{-~]$/;

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
function cellStretches(text: string, [from, to]: SourceRange): SourceRange[] {
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
