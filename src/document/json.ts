import { quoted, report, reportRepeated } from './catalogue.ts';
import type { Json, Place, Pointer } from './document.ts';
import { below } from './pointer.ts';
import { countValue, type Located, type ReadContext, Stop } from './read-context.ts';
import type { Snippet } from './source.ts';
import { newMap, type OpenMap } from './values.ts';

/**
 * Reads strict JSON (RFC 8259) into a value with the place of everything in it. A trailing comma is a finding and reading goes
 * on; any other fault is a finding and what was read before it is kept. `at` is where the value will stand, `depth` how deep that is.
 */
export function readJson(snippet: Snippet, at: Pointer, depth: number, gathering: ReadContext): Located | undefined {
  const scan: Scan = { text: snippet.text, snippet, gathering, places: new Map(), at: 0 };
  let root: Json | undefined;
  skip(scan);
  if (scan.at === scan.text.length) return undefined;
  try {
    readValue(scan, at, depth, (value) => {
      root = value;
    });
    skip(scan);
    if (scan.at < scan.text.length) fail(scan, 'Nothing may follow the value.');
  } catch (cause) {
    if (!(cause instanceof Stop)) throw cause;
  }
  return root === undefined ? undefined : { value: root, places: scan.places };
}

interface Scan {
  readonly text: string;
  readonly snippet: Snippet;
  readonly gathering: ReadContext;
  places: Map<string, Place>;
  at: number;
}

/** Reads one value and hands it over; a container before it is filled, so that a fault inside keeps what is whole. */
function readValue(scan: Scan, pointer: Pointer, depth: number, put: (value: Json) => void): void {
  const start = scan.at;
  countValue(scan.gathering, () => scan.snippet.place(start, start + 1));
  const code = scan.text.charCodeAt(start);
  if (code === braceOpen) readMap(scan, pointer, depth, put);
  else if (code === bracketOpen) readList(scan, pointer, depth, put);
  else put(code === quote ? readText(scan) : readWord(scan, pointer));
  scan.places.set(pointer, scan.snippet.place(start, scan.at));
}

function readMap(scan: Scan, pointer: Pointer, depth: number, put: (value: Json) => void): void {
  const filled: OpenMap = newMap();
  put(filled);
  readEntries(scan, depth, braceClose, '}', () => {
    const start = scan.at;
    if (scan.text.charCodeAt(start) !== quote) fail(scan, 'A key in double quotes should stand here.');
    const key = readText(scan);
    const place = scan.snippet.place(start, scan.at);
    skip(scan);
    if (scan.text.charCodeAt(scan.at) !== colon) fail(scan, `A ":" should stand after the key ${quoted(key)}.`);
    scan.at += 1;
    skip(scan);
    const inner = below(pointer, key);
    if (Object.hasOwn(filled, key)) {
      reportRepeated(scan.gathering, scan.places, key, inner, place);
      const { places } = scan;
      scan.places = new Map();
      readValue(scan, inner, depth + 1, () => {});
      scan.places = places;
    } else {
      scan.places.set(`${inner}#`, place);
      readValue(scan, inner, depth + 1, (value) => {
        filled[key] = value;
      });
    }
  });
}

function readList(scan: Scan, pointer: Pointer, depth: number, put: (value: Json) => void): void {
  const filled: Json[] = [];
  put(filled);
  readEntries(scan, depth, bracketClose, ']', () => {
    const index = filled.length;
    readValue(scan, below(pointer, index), depth + 1, (value) => {
      filled[index] = value;
    });
  });
}

/** Reads what stands between the brackets of a map or a list, commas included. */
function readEntries(scan: Scan, depth: number, close: number, closeText: string, entry: () => void): void {
  if (depth >= scan.gathering.bounds.depth) tooDeep(scan);
  scan.at += 1;
  skip(scan);
  while (scan.text.charCodeAt(scan.at) !== close) {
    entry();
    skip(scan);
    const comma = scan.at;
    if (scan.text.charCodeAt(comma) === commaCode) {
      scan.at += 1;
      skip(scan);
      if (scan.text.charCodeAt(scan.at) === close) {
        const place = scan.snippet.place(comma, comma + 1);
        report(scan.gathering, 'document/json-syntax', place, 'JSON has no trailing comma.', { remedy: 'Delete the comma.' });
      }
    } else if (scan.text.charCodeAt(comma) !== close) fail(scan, `A "," or "${closeText}" should stand here.`);
  }
  scan.at += 1;
}

function readText(scan: Scan): string {
  const { text } = scan;
  const start = scan.at;
  let escaped = false;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      scan.at = at + 1;
      if (!escaped) return text.slice(start + 1, at);
      return unescaped(scan, start, at + 1);
    }
    if (code === backslash) {
      escaped = true;
      at += 1;
    } else if (code < space) {
      scan.at = at;
      fail(scan, code === 10 || code === 13 ? 'A string ends on its own line.' : 'A control character in a string is escaped.');
    }
  }
  scan.at = start;
  return fail(scan, 'The string has no closing quote.');
}

/** The text of a string with escapes, by the platform's own reader of them. */
function unescaped(scan: Scan, start: number, end: number): string {
  try {
    return String(JSON.parse(scan.text.slice(start, end)));
  } catch {
    scan.at = start;
    return fail(scan, 'The string holds an escape that JSON does not have.', end);
  }
}

function readWord(scan: Scan, pointer: Pointer): Json {
  const start = scan.at;
  numberWord.lastIndex = start;
  const number = numberWord.exec(scan.text)?.[0];
  if (number !== undefined) {
    scan.at += number.length;
    if (wordCode(scan.text.charCodeAt(scan.at))) fail(scan, 'A number ends here, and something else follows it.');
    return checkNumber(Number(number), number, pointer, scan.snippet.place(start, scan.at), scan.gathering);
  }
  for (const [word, value] of words) {
    if (scan.text.startsWith(word, start) && !wordCode(scan.text.charCodeAt(start + word.length))) {
      scan.at += word.length;
      return value;
    }
  }
  if (start >= scan.text.length) return fail(scan, 'The text ends where a value should stand.');
  if (scan.text[start] === '/') return fail(scan, 'JSON has no comments.');
  return fail(scan, 'A value should stand here: a string in double quotes, a number, true, false, null, a list or a map.');
}

function tooDeep(scan: Scan): never {
  const place = scan.snippet.place(scan.at, scan.at + 1);
  report(scan.gathering, 'document/too-deep', place, `Values are nested more than ${scan.gathering.bounds.depth} deep.`);
  throw new Stop();
}

function fail(scan: Scan, message: string, end = scan.at + 1): never {
  const place = scan.snippet.place(Math.min(scan.at, scan.text.length), Math.min(end, scan.text.length));
  report(scan.gathering, 'document/json-syntax', place, message);
  throw new Stop();
}

function skip(scan: Scan): void {
  const { text } = scan;
  let code = text.charCodeAt(scan.at);
  while (code === space || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++scan.at);
}

function wordCode(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 46 || code === 95;
}

const numberWord = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const [braceOpen, braceClose, bracketOpen, bracketClose, quote, colon, commaCode, backslash, space] = [
  123, 125, 91, 93, 34, 58, 44, 92, 32,
] as const;

/** A number as it was written, held to what a JSON number (an IEEE 754 double) can keep: null where it is not finite. */
export function checkNumber(value: number, written: string, at: Pointer, place: Place, gathering: ReadContext): Json {
  if (!Number.isFinite(value)) {
    report(gathering, 'document/number-not-finite', place, `\`${shown(written)}\` is no number that a document can hold.`, {
      at,
    });
    return null;
  }
  if (Number.isSafeInteger(value) || !integer.test(written) || isExact(value, written)) return value;
  const message = `\`${shown(written)}\` is beyond what a JSON number keeps exactly, and is read as ${value}.`;
  report(gathering, 'document/number-inexact', place, message, { at });
  return value;
}

const integer = /^[-+]?(?:\d+|0x[\da-f]+|0o[0-7]+)$/i;

function isExact(value: number, written: string): boolean {
  const sign = written.startsWith('-') ? -1n : 1n;
  const digits = written.replace(/^[-+]/, '');
  // A double of that size has at most 309 digits; a longer one is not finite.
  return digits.length <= 400 && BigInt(digits) * sign === BigInt(value);
}

function shown(written: string): string {
  return written.length > 40 ? `${written.slice(0, 37)}…` : written;
}
