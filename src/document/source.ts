import { report } from './catalogue.ts';
import type { Document, Json, Place, Pointer } from './document.ts';
import { above, pathOf } from './pointer.ts';
import type { ReadContext } from './read-context.ts';
import { isMap } from './values.ts';

/** A file's text and its lines. Columns count UTF-16 code units, as editors and language servers do. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** The place between two offsets, the second exclusive. */
  place(start: number, end: number): Place;
}

/** A source over a file's text; a line ends with LF, CR LF or CR. */
export function sourceOf(file: string, text: string): SourceText {
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
export type Snippet = Pick<SourceText, 'text' | 'place'>;

/** The snippet that some stretches of a source make when they are put together; between them stands what is not part of it. */
export function snippetOf(source: SourceText, stretches: readonly SourceRange[]): Snippet {
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

/** Where a value stands (or its key, for a pointer ending in `#`): its own place, else that of the nearest thing around it. */
export function placeOf(document: Pick<Document, 'places' | 'sources'>, pointer: Pointer): Place {
  const exact = document.places.get(pointer);
  if (exact !== undefined) return exact;
  for (let at: Pointer | undefined = pointer.endsWith('#') ? pointer.slice(0, -1) : pointer; at !== undefined; at = above(at)) {
    const place = document.places.get(at) ?? document.places.get(`${at}#`);
    if (place !== undefined) return place;
  }
  const file = document.sources.keys().next().value ?? '';
  return { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
}

/** Where the key of a value stands, else the value itself, else what is around it. */
export function keyPlaceOf(document: Pick<Document, 'places' | 'sources'>, pointer: Pointer): Place {
  return placeOf(document, `${pointer}#`);
}

/** The value that stands at a pointer, or undefined where nothing is stated. */
export function valueAt(tree: Json, pointer: Pointer): Json | undefined {
  let value: Json | undefined = tree;
  for (const key of pathOf(pointer)) {
    if (isMap(value)) value = Object.hasOwn(value, key) ? value[key] : undefined;
    else if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
    else return undefined;
  }
  return value;
}

/** Takes a file's bytes or text into the gathering as a source; what is wrong with it as text is a finding. */
export function takeSource(content: string | Uint8Array, file: string, gathering: ReadContext): SourceText {
  const { bounds } = gathering;
  if (content.length > bounds.bytes) {
    const empty = sourceOf(file, '');
    gathering.sources.set(file, '');
    report(gathering, 'document/too-large', empty.place(0, 0), `The file is larger than ${bounds.bytes} bytes.`);
    return empty;
  }
  const { text, isBroken } = decoded(content);
  const source = sourceOf(file, text);
  gathering.sources.set(file, text);
  if (isBroken) {
    const at = Math.max(0, text.indexOf('\uFFFD'));
    report(gathering, 'document/bad-utf8', source.place(at, at + 1), 'The file is not UTF-8 text.');
  }
  const control = controlCharacter.exec(text);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(4, '0').toUpperCase();
    const place = source.place(control.index, control.index + 1);
    report(gathering, 'document/control-character', place, `The control character U+${code} stands in the text.`);
  }
  return source;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controlCharacter = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/** The text without its byte order mark, and whether the bytes were no UTF-8. */
function decoded(content: string | Uint8Array): { text: string; isBroken: boolean } {
  if (typeof content === 'string') return { text: content.startsWith('\uFEFF') ? content.slice(1) : content, isBroken: false };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(content), isBroken: false };
  } catch {
    return { text: new TextDecoder('utf-8').decode(content), isBroken: true };
  }
}
