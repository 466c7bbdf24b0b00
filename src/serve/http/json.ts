import { isUtf8 } from 'node:buffer';
import { isOfType } from '../../document/values.ts';
import { isMultiple } from '../../kinds/multiples.ts';
import { cut, type Violation, WireFile } from './violation.ts';

/** The fields of a stored row; integers beyond 2^53 come back as bigint, exactly. */
export function parseStored(text: string): Record<string, unknown> {
  if (!/\d{16}/.test(text)) return withoutPrototype(JSON.parse(text) as Record<string, unknown>);
  const parsed = parseJson(Buffer.from(text), { depth: 1000 });
  // What was stored was made by toJson, so it parses.
  return withoutPrototype(('value' in parsed ? parsed.value : JSON.parse(text)) as Record<string, unknown>);
}

/** The same of any value: what an event tells may be a text, a number or a list. */
export function parseStoredValue(text: string): unknown {
  if (text.startsWith('{')) return parseStored(text);
  const parsed = parseJson(Buffer.from(text), { depth: 1000 });
  return 'value' in parsed ? parsed.value : (JSON.parse(text) as unknown);
}

/** The same fields in an object that inherits nothing: one that is named `constructor` is absent unless it is there. */
export function withoutPrototype(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.assign(new Bare(), fields);
}

/** A deep copy of a JSON value. */
export function copy<T>(value: T): T {
  return structuredClone(value);
}

interface JsonLimits {
  /** How deep lists and objects may nest; 64 unless said otherwise. */
  readonly depth?: number;
  /** Whether a key may come twice in one object: the last one counts then, as with most readers. */
  readonly takesRepeated?: boolean;
}

/** A JSON text's value, or the one thing that is wrong with it. Integers past 2^53 are BigInts, so that they stay exact. */
type ParsedJson = { readonly value: unknown; readonly repeated?: string } | { readonly problem: Violation };

/**
 * Parses JSON strictly (RFC 8259, and RFC 7493 where it is stricter): UTF-8 without a byte order mark, each key once in an
 * object, bounded depth, no lone surrogates, no number past the range of a double. A key `__proto__` is an own key like
 * any other; whoever copies the value must keep it so.
 */
export function parseJson(bytes: Buffer, limits: JsonLimits = {}): ParsedJson {
  const depthMax = limits.depth ?? 64;
  if (!isUtf8(bytes)) return problem('octets that are no UTF-8', 'JSON in UTF-8');
  const scan = scanJson(bytes, depthMax);
  if (scan.depth > depthMax) return problem(`more than ${depthMax} levels`, `at most ${depthMax} levels of lists and objects`);
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = scan.longDigits ? parseExact(text, exactInteger) : JSON.parse(text);
  } catch (error) {
    return problem(syntaxError(text, error), 'JSON');
  }
  const count: Count = { members: 0, infinite: false, lone: false, strings: scan.surrogates };
  countMembers(value, count);
  const repeated = count.members === scan.members ? undefined : repeatedKey(text);
  if (repeated !== undefined && !limits.takesRepeated) return problem(repeated, 'each key once in an object');
  if (count.infinite) return problem('a number that is too large', 'numbers within the range of a double');
  if (count.lone) return problem('half a surrogate pair', 'text that is Unicode');
  return repeated === undefined ? { value } : { value, repeated };
}

function repeatedKey(text: string): string {
  return `the key ${JSON.stringify(cut(findDuplicate(text) ?? '', 64))} twice in one object`;
}

/** JSON text of a value, BigInts as the integers they are. Costs what JSON.stringify costs where there is none. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    // A BigInt is the one thing of ours that JSON.stringify refuses; what else it refuses, it refuses again here.
    return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? rawJson(String(part)) : part)) ?? 'null';
  }
}

function problem(found: string, expected: string): { problem: Violation } {
  return { problem: { in: 'body', path: '', found, expected } };
}

// The casts hold: Node 24 has both by ECMA-262's "JSON.parse source text access", which TypeScript's library does not know yet.
const parseExact = JSON.parse as (text: string, reviver: typeof exactInteger) => unknown;
const { rawJSON: rawJson } = JSON as JSON & { rawJSON(text: string): unknown };

const INTEGER = /^-?\d+$/;

/** A reviver; digits past a double's range stay Infinity, to be refused. */
function exactInteger(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isFinite(value)) return value;
  const { source } = context;
  return source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
}

/** V8's message quotes the text, so that its position alone is kept. */
function syntaxError(text: string, error: unknown): string {
  if (text.trim() === '') return 'no text';
  const at = error instanceof SyntaxError ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return at === undefined ? 'text that is not JSON' : `text that is not JSON, at character ${Number(at) + 1}`;
}

interface Count {
  members: number;
  infinite: boolean;
  lone: boolean;
  readonly strings: boolean;
}

function countMembers(value: unknown, count: Count): void {
  if (typeof value === 'string') {
    if (count.strings && !value.isWellFormed()) count.lone = true;
  } else if (typeof value === 'number') {
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) count.infinite = true;
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) countMembers(value[i], count);
  } else if (typeof value === 'object' && value !== null) {
    // JSON.parse gives nothing enumerable to inherit, so `for in` sees own keys alone, `__proto__` included.
    for (const key in value) {
      count.members++;
      if (count.strings && !key.isWellFormed()) count.lone = true;
      // The cast holds: the key was just read off this object.
      countMembers((value as Record<string, unknown>)[key], count);
    }
  }
}

/** What a scan of JSON's bytes learns without reading a value: all of it cheap, none of it proof that the text is JSON. */
interface Scan {
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
function scanJson(bytes: Uint8Array, depthMax: number): Scan {
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
function findDuplicate(text: string): string | undefined {
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

/** An empty object that inherits no names; unlike one of `Object.create(null)`, it has the fast layout that V8 gives what `new` makes. */
// The cast holds: `new` on a function whose prototype inherits nothing gives an empty object that inherits nothing.
export const Bare = bareObject as unknown as new <Value = unknown>() => Record<string, Value>;

function bareObject(): void {}
bareObject.prototype = Object.create(null);

/** Whether a value holds a BigInt anywhere: an integer past 2^53. */
export function holdsBigInt(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null || value instanceof WireFile) return false;
  if (Array.isArray(value)) return value.some(holdsBigInt);
  // The cast holds: the value is an object, and its own keys are read.
  for (const key of Object.keys(value)) if (holdsBigInt((value as Record<string, unknown>)[key])) return true;
  return false;
}

/** JSON Schema's numeric keywords with BigInts among the numbers; every one passes what is no number. */
export const exactKeywords: Readonly<Record<string, (stated: unknown, value: unknown) => boolean>> = {
  exactType: (stated, value) => Array.isArray(stated) && stated.some((type) => isOfType(value, String(type))),
  exactMinimum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value >= stated,
  exactMaximum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value <= stated,
  exactExclusiveMinimum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value > stated,
  exactExclusiveMaximum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value < stated,
  exactMultipleOf: (stated, value) => !isNumeric(value) || !isNumeric(stated) || isMultiple(value, stated),
  exactEnum: (stated, value) => Array.isArray(stated) && stated.some((one) => sameValue(one, value)),
  exactConst: sameValue,
};

/** Whether two JSON values are equal, integers by value however they are held. */
function sameValue(a: unknown, b: unknown): boolean {
  if (isNumeric(a) && isNumeric(b)) return a >= b && a <= b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  }
  if (a instanceof WireFile || b instanceof WireFile) return false;
  const entries = Object.entries(a);
  const others = new Map(Object.entries(b));
  return entries.length === others.size && entries.every(([name, part]) => others.has(name) && sameValue(part, others.get(name)));
}

/** The first two equal items of a list, in time linear in its text; undefined where all differ. */
export function alikeItems(items: readonly unknown[]): readonly [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const text = canonical(item);
    const before = seen.get(text);
    if (before !== undefined) return [before, i];
    seen.set(text, i);
  }
  return undefined;
}

/** One text for all equal values: members in order, integers by value. */
function canonical(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || value instanceof WireFile)
    return value === 0 ? '0' : (JSON.stringify(value) ?? '');
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`);
  return `{${members.toSorted().join()}}`;
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
