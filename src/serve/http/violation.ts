/** What sort of wrong a violation is, where errors tell sorts apart: `request.invalid.missing` and the like. A value is what none of the others is. */
export type ViolationSort = 'missing' | 'unknown' | 'type' | 'value' | 'read_only';

/** Where a violation says its sort; no answer shows it. */
export const sort = Symbol('sort');

/** One thing that is wrong with what a request carries; several of them answer a bad request at once. */
export interface Violation {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  /** A JSON Pointer (RFC 6901) in a body, else the parameter's name. */
  readonly path: string;
  /** What was sent, in a few words; never the whole value. */
  readonly found: string;
  /** What should have been sent. */
  readonly expected: string;
  /** Absent = a value. */
  readonly [sort]?: ViolationSort;
}

/** The list of a request that is right: one shared value, so that being right costs nothing. */
export const noViolations: readonly Violation[] = Object.freeze([]);

/** How many violations one answer carries at most. */
export const violationsMax = 50;

/** The words for a text without letters. */
export const emptyText = '""';

/** A few words for a value: the JSON of a scalar cut at 64 characters, else its kind and size. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(cut(value, 64));
  if (typeof value === 'bigint') return cut(String(value), 64);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof WireFile) return `a file of ${value.bytes.length} bytes`;
  return 'an object';
}

/** A value's kind alone, for what must not be echoed. */
export function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'a number';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A text of at most `length` UTF-16 code units, with `…` where the rest was; never half a character. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}

/**
 * Bytes that came in a request: a file of a form, or a body of any type that is neither JSON, a form nor text. It
 * stands in a value where the shape says `format: binary`; validation lets it pass there, in place of a string, and counts its
 * bytes as the string's length. In JSON it writes itself as base64.
 */
export class WireFile {
  /** The file's name without folders, where the sender gave one. */
  readonly filename: string | undefined;
  /** The media type it was sent with, parameters and all; `application/octet-stream` where it had none. */
  readonly type: string;
  readonly bytes: Uint8Array;

  constructor(filename: string | undefined, type: string, bytes: Uint8Array) {
    this.filename = filename;
    this.type = type;
    this.bytes = bytes;
  }

  toJSON(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString('base64');
  }
}
