/** What a scan of JSON's bytes learns without reading a value: all of it cheap, none of it proof that the text is JSON. */
export interface Scan {
  /** How deep lists and objects nest. */
  readonly depth: number;
  /** How many members the text's objects state; a parsed value that has fewer had a key twice. */
  readonly members: number;
  /** Whether some run of digits may be past 2^53. */
  readonly longDigits: boolean;
  /** Whether some string escapes a surrogate. */
  readonly surrogates: boolean;
}

/** Scans a JSON text once, byte by byte. Stops where it nests deeper than `depthMax`, with a depth one past it. */
export function scanJson(bytes: Uint8Array, depthMax: number): Scan {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let digits = 0;
  let longDigits = false;
  let surrogates = false;
  for (let i = 0; i < bytes.length; i++) {
    // The cast holds: i is below the length.
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      digits = 0;
      for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) {
        if (bytes[i] === BACKSLASH) {
          i++;
          if (bytes[i] === LOWER_U && (bytes[i + 1] === UPPER_D || bytes[i + 1] === LOWER_D)) surrogates = true;
        }
      }
    } else if (byte >= ZERO && byte <= NINE) {
      if (++digits > 15) longDigits = true;
    } else {
      digits = 0;
      if (byte === COLON) members++;
      else if (byte === BRACE || byte === BRACKET) {
        if (++depth > deepest) deepest = depth;
        if (deepest > depthMax) break;
      } else if (byte === BRACE_END || byte === BRACKET_END) depth--;
    }
  }
  return { depth: deepest, members, longDigits, surrogates };
}

/** The first key that one object of a valid JSON text states twice. */
export function findDuplicate(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found, colon] = match;
    if (found === '{') open.push(new Set());
    else if (found === '[') open.push(undefined);
    else if (found === '}' || found === ']') open.pop();
    else if (colon !== undefined) {
      const key = String(JSON.parse(found.slice(0, -colon.length)));
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

const QUOTE = 34;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const UPPER_D = 68;
const BRACKET = 91;
const BACKSLASH = 92;
const BRACKET_END = 93;
const LOWER_D = 100;
const LOWER_U = 117;
const BRACE = 123;
const BRACE_END = 125;
