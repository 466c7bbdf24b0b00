import { isUtf8 } from 'node:buffer';
import { findDuplicate, scanJson } from './json-scan.ts';
import { cut, type Violation } from './violation.ts';

export interface JsonLimits {
  /** How deep lists and objects may nest; 64 unless said otherwise. */
  readonly depth?: number;
}

/** A JSON text's value, or the one thing that is wrong with it. Integers past 2^53 are BigInts, so that they stay exact. */
export type ParsedJson = { readonly value: unknown } | { readonly problem: Violation };

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
  if (count.members !== scan.members) {
    return problem(
      `the key ${JSON.stringify(cut(findDuplicate(text) ?? '', 64))} twice in one object`,
      'each key once in an object',
    );
  }
  if (count.infinite) return problem('a number that is too large', 'numbers within the range of a double');
  if (count.lone) return problem('half a surrogate pair', 'text that is Unicode');
  return { value };
}

/** Writes a value as JSON, BigInts as the integers they are. Costs what JSON.stringify costs where there is none. */
export function stringifyJson(value: unknown): string {
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
