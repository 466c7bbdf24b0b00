/** A body of a request and its value, of several parts too (RFC 7578). */

import { isUtf8 } from 'node:buffer';
import { quotedText } from '../../kinds/http-token.ts';
import { compileCoercion, compileForm, type EmptyText, type FormPair, type ReadForm } from './form.ts';
import { parseJson } from './json.ts';
import { charsetOf, isJsonUnsaid, isUtf8Charset, isXml, type MediaType, matchesRange, parseMediaType } from './media-type.ts';
import type { Resolve, Schema } from './schema.ts';
import { decodeFormText } from './target.ts';
import { cut, type Violation, violationsMax, WireFile } from './violation.ts';
import { compileXmlReading, type ReadXml } from './xml-read.ts';

/**
 * A body's value, or why it has none: `missing`, `untyped` (without a Content-Type), `media` (a type, charset or coding that is not
 * taken), `malformed` (not what its type says) or `size` (a file too large, too many parts).
 */
export type DecodedBody =
  | { readonly kind: 'value'; readonly value: unknown; readonly repeated?: string }
  | { readonly kind: 'missing' | 'untyped' | 'media' | 'malformed' | 'size'; readonly violations: readonly Violation[] };

/** Decodes one request's whole body by its Content-Type and Content-Encoding headers. */
export type DecodeBody = (bytes: Buffer, contentType: string | undefined, contentEncoding?: string) => DecodedBody;

export interface BodyOptions extends PartLimits {
  /** The media types or ranges that the operation takes; `application/json` unless said otherwise. */
  readonly accepted?: readonly string[];
  /** The body's shape, by which the texts of forms and plain text are coerced. */
  readonly shape?: Schema;
  readonly resolve?: Resolve;
  /** Where a body is read as the first accepted type whatever it says that it is, or where it says nothing. */
  readonly typeIgnored?: 'any' | 'absent' | 'none';
  /** Whether a body that is read as it is may be called otherwise than it is stated, as an image that is sent where bytes are. */
  readonly takesOtherTypes?: boolean;
  /** What an empty text of a form is; a value unless said. */
  readonly empty?: EmptyText;
  /** Whether XML is read by the shape; bytes unless said. */
  readonly readsXml?: boolean;
  /** Whether JSON is taken that is sent as plain text, which `fetch` calls each text that nothing is said of (Fetch, section 5.3), as a form or a kind of one's own, as other clients do. */
  readonly takesTextAsJson?: boolean;
  /** Whether a key of JSON may come twice in one object; `repeated` names it then. */
  readonly takesRepeated?: boolean;
}

/**
 * Compiles the decoding of an operation's bodies: JSON (`application/json`, `+json`), forms with bracketed keys, multipart
 * forms with files, XML where it is to be read, text in UTF-8, US-ASCII or ISO-8859-1, and any other accepted type as a `WireFile`. Codings other than
 * identity are `media`: a small body that unpacks to a large one is nobody's need.
 */
export function compileBody(options: BodyOptions = {}): DecodeBody {
  const accepted = options.accepted ?? ['application/json'];
  const shape = options.shape ?? {};
  const resolve = options.resolve ?? (() => undefined);
  const readForm = compileForm(shape, resolve, options.empty);
  const coerce = compileCoercion(shape, resolve);
  const readXml = options.readsXml ? compileXmlReading(shape, resolve) : undefined;
  const ignored = options.typeIgnored ?? 'none';
  // A range names no type; what can be told of it is JSON.
  const assumed = accepted.find((range) => !range.includes('*')) ?? 'application/json';
  const isPlainText = shape.type === 'string' && shape.format === undefined;
  const isAccepted = (essence: string) => accepted.some((range) => matchesRange(essence, range));
  // Members that are sent where bytes are stated are another body.
  const mayBeCalled = (essence: string) => options.takesOtherTypes && (isPlainText || !/json|form/.test(essence));
  const plainJson = isAccepted('application/json');
  const takesText = options.takesTextAsJson === true && plainJson && !isAccepted('text/plain');
  return (bytes, stated, contentEncoding) => {
    const contentType = stated === '' ? undefined : stated;
    if (contentEncoding !== undefined && !/^\s*(?:identity)?\s*$/i.test(contentEncoding)) {
      return refuse('media', `the coding ${cut(contentEncoding, 64)}`, 'a body without a Content-Encoding');
    }
    if (contentType === 'application/json' && plainJson) return readJson(bytes, options);
    if (bytes.length === 0 && contentType === undefined) return noBody();
    const typeText = ignored === 'any' || (ignored === 'absent' && contentType === undefined) ? assumed : contentType;
    if (typeText === undefined) return refuse('untyped', 'no Content-Type', expectedTypes(accepted));
    const named = parseMediaType(typeText);
    // What is no media type at all (`false`) says as little as none.
    const isOther = named ? !isAccepted(named.essence) && mayBeCalled(named.essence) : ignored === 'absent';
    const type = isOther ? parseMediaType(assumed) : named;
    if (takesText && type && isUtf8Charset(type) && isJsonUnsaid(type.essence)) return readJson(bytes, options);
    if (type === undefined || !isAccepted(type.essence)) return refuse('media', cut(typeText, 64), expectedTypes(accepted));
    const { essence } = type;
    if (essence === 'application/json' || essence.endsWith('+json')) {
      return isUtf8Charset(type) ? readJson(bytes, options) : refuse('media', `the charset ${charsetOf(type)}`, 'JSON in UTF-8');
    }
    if (essence === 'application/x-www-form-urlencoded') {
      return (options.takesTextAsJson ? readJsonInForm(bytes, options) : undefined) ?? readUrlencoded(bytes, type, readForm);
    }
    if (essence === 'multipart/form-data') return readMultipart(bytes, type, readForm, options);
    if (readXml && isXml(essence)) return readMarkup(bytes, type, readXml);
    if (essence.startsWith('text/') || (isPlainText && isXml(essence))) return readText(bytes, type, coerce);
    return { kind: 'value', value: new WireFile(undefined, typeText, bytes) };
  };
}

function noBody(): DecodedBody {
  return refuse('missing', 'no body', 'a body');
}

function refuse(kind: 'missing' | 'untyped' | 'media' | 'malformed', found: string, expected: string): DecodedBody {
  return { kind, violations: [{ in: 'body', path: '', found, expected }] };
}

function expectedTypes(accepted: readonly string[]): string {
  return accepted.length === 1 ? (accepted[0] ?? '') : `one of ${accepted.join(', ')}`;
}

function readJson(bytes: Buffer, { takesRepeated = false }: BodyOptions): DecodedBody {
  if (bytes.length === 0) return noBody();
  const parsed = parseJson(bytes, { takesRepeated });
  return 'value' in parsed ? { kind: 'value', ...parsed } : { kind: 'malformed', violations: [parsed.problem] };
}

/** A map or a list of JSON that calls itself a form, of which it would be one name without a value. */
function readJsonInForm(bytes: Buffer, options: BodyOptions): DecodedBody | undefined {
  if (!/^\s*[[{]/.test(bytes.toString('latin1', 0, 64))) return undefined;
  const read = readJson(bytes, options);
  return read.kind === 'value' ? read : undefined;
}

function readMarkup(bytes: Buffer, type: MediaType, readXml: ReadXml): DecodedBody {
  if (bytes.length === 0) return noBody();
  if (!isUtf8Charset(type)) return refuse('media', `the charset ${charsetOf(type)}`, 'XML in UTF-8');
  const read = readXml(bytes);
  return 'value' in read ? { kind: 'value', value: read.value } : { kind: 'malformed', violations: [read.problem] };
}

function readUrlencoded(bytes: Buffer, type: MediaType, readForm: ReadForm): DecodedBody {
  if (!isUtf8Charset(type)) return refuse('media', `the charset ${charsetOf(type)}`, 'a form in UTF-8');
  const pairs: FormPair[] = [];
  // One character per octet: bare and encoded octets are decoded together.
  for (const piece of bytes.toString('latin1').split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const key = decodeFormText(equals === -1 ? piece : piece.slice(0, equals));
    const text = equals === -1 ? '' : decodeFormText(piece.slice(equals + 1));
    if (key === undefined || text === undefined) return refuse('malformed', 'a bad percent-encoding', 'UTF-8, percent-encoded');
    pairs.push([key, text]);
  }
  return readPairs(pairs, readForm);
}

function readPairs(pairs: readonly FormPair[], readForm: ReadForm): DecodedBody {
  const { value, violations } = readForm(pairs);
  return violations.length === 0 ? { kind: 'value', value } : { kind: 'malformed', violations };
}

function readMultipart(bytes: Buffer, type: MediaType, readForm: ReadForm, limits: PartLimits): DecodedBody {
  const parts = readParts(bytes, type.parameters.get('boundary'), limits);
  if ('problem' in parts) return { kind: parts.kind, violations: [parts.problem] };
  const pairs: FormPair[] = [];
  const violations: Violation[] = [];
  for (const { name, filename, type: partType, bytes: content } of parts.parts) {
    const leaf = readPart(name, filename, partType, content);
    if ('problem' in leaf) violations.push(leaf.problem);
    else pairs.push([name, leaf.value]);
  }
  if (violations.length > 0) return { kind: 'malformed', violations: violations.slice(0, violationsMax) };
  return readPairs(pairs, readForm);
}

function readPart(
  name: string,
  filename: string | undefined,
  partType: string,
  bytes: Buffer,
): { value: unknown } | { problem: Violation } {
  if (isFile({ filename, type: partType })) return { value: new WireFile(filename, partType, bytes) };
  const path = `/${cut(name, 64)}`;
  if (!parseMediaType(partType)?.essence.startsWith('text/')) {
    const parsed = parseJson(bytes);
    return 'value' in parsed ? parsed : { problem: { ...parsed.problem, path } };
  }
  if (!isUtf8(bytes)) return { problem: { in: 'body', path, found: 'octets that are no UTF-8', expected: 'text in UTF-8' } };
  return { value: bytes.toString('utf8') };
}

function readText(bytes: Buffer, type: MediaType, coerce: (text: string) => unknown): DecodedBody {
  const charset = charsetOf(type);
  if (isUtf8Charset(type)) {
    if (!isUtf8(bytes)) return refuse('malformed', 'octets that are no UTF-8', 'text in UTF-8');
    return { kind: 'value', value: coerce(bytes.toString('utf8')) };
  }
  if (charset === 'iso-8859-1' || charset === 'latin1') return { kind: 'value', value: coerce(bytes.toString('latin1')) };
  return refuse('media', `the charset ${charset}`, 'utf-8, us-ascii or iso-8859-1');
}

/** Bounds of a multipart body, within the bound of the whole. */
interface PartLimits {
  /** The bytes that one file may have; unbounded here unless said otherwise. */
  readonly fileBytes?: number;
  /** How many parts there may be; 200 unless said otherwise. */
  readonly partsMax?: number;
}

/** One part: its field's name, its file's name without folders, its media type (`text/plain` where none is said). */
interface MultipartPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string;
  readonly bytes: Buffer;
}

type MultipartParts = { readonly parts: readonly MultipartPart[] } | PartProblem;
type PartProblem = { readonly kind: 'malformed' | 'size'; readonly problem: Violation };

/**
 * Takes a whole multipart/form-data body apart (RFC 7578, RFC 2046 section 5.1.1), in one pass over its bytes. Preamble and
 * epilogue are nothing; a body that ends before its closing boundary, and a part without a name, are `malformed`.
 */
function readParts(bytes: Buffer, boundary: string | undefined, limits: PartLimits): MultipartParts {
  if (boundary === undefined || !BOUNDARY.test(boundary))
    return malformed('a type without its boundary', 'a boundary of 1 to 70 characters');
  const partsMax = limits.partsMax ?? 200;
  const border = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const parts: MultipartPart[] = [];
  let at = bytes.subarray(0, border.length - 2).equals(border.subarray(2))
    ? borderEnd(bytes, border.length - 2)
    : nextBorder(bytes, border, 0)?.after;
  while (at !== undefined) {
    if (at === CLOSED) return { parts };
    if (parts.length === partsMax) return problem('size', `more than ${partsMax} parts`, `at most ${partsMax} parts`);
    // The first line end stands in for the one that closed the boundary's line, so that a part may have no headers.
    const headersEnd = bytes.indexOf('\r\n\r\n', at - 2);
    const next = headersEnd === -1 ? undefined : nextBorder(bytes, border, headersEnd + 2);
    if (next === undefined) break;
    const part = readMultipartPart(
      bytes.toString('latin1', at, Math.max(at, headersEnd)),
      bytes.subarray(Math.min(headersEnd + 4, next.start), next.start),
    );
    if ('problem' in part) return part;
    if (limits.fileBytes !== undefined && part.bytes.length > limits.fileBytes && isFile(part)) {
      return problem('size', `${part.bytes.length} bytes`, `at most ${limits.fileBytes} bytes`, `/${cut(part.name, 64)}`);
    }
    parts.push(part);
    at = next.after;
  }
  return malformed('a body that ends too early', 'a closing boundary');
}

/** A part with a file name, or of a type that is neither text nor JSON, is a file (RFC 7578 section 4). */
function isFile({ filename, type }: Pick<MultipartPart, 'filename' | 'type'>): boolean {
  const essence = parseMediaType(type)?.essence ?? '';
  return filename !== undefined || !(essence.startsWith('text/') || essence === 'application/json' || essence.endsWith('+json'));
}

const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;
const CLOSED = -1;

function nextBorder(bytes: Buffer, border: Buffer, from: number): { start: number; after: number } | undefined {
  for (let start = bytes.indexOf(border, from); start !== -1; start = bytes.indexOf(border, start + 1)) {
    const after = borderEnd(bytes, start + border.length);
    if (after !== undefined) return { start, after };
  }
  return undefined;
}

/** Where the part after a boundary begins, or `CLOSED`; undefined where the text only begins like a boundary. */
function borderEnd(bytes: Buffer, from: number): number | undefined {
  if (bytes[from] === 45 && bytes[from + 1] === 45) return CLOSED;
  let at = from;
  while (bytes[at] === 32 || bytes[at] === 9) at++;
  return bytes[at] === 13 && bytes[at + 1] === 10 ? at + 2 : undefined;
}

function readMultipartPart(head: string, bytes: Buffer): MultipartPart | PartProblem {
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon !== -1) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const coding = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
  if (!['7bit', '8bit', 'binary'].includes(coding))
    return malformed(`the transfer encoding ${cut(coding, 64)}`, 'parts as they are');
  const octets = Buffer.from(headers.get('content-disposition') ?? '', 'latin1');
  const disposition = isUtf8(octets) ? readDisposition(octets.toString('utf8')) : undefined;
  const name = disposition?.get('name');
  if (name === undefined) return malformed('a part without a name', 'a Content-Disposition of form-data with a name');
  const filename = disposition?.get('filename');
  const type = headers.get('content-type') ?? (filename === undefined ? 'text/plain' : 'application/octet-stream');
  return { name, filename: filename?.replace(/^.*[/\\]/s, ''), type, bytes };
}

/** The parameters of `form-data; name="a"; filename="b"`. Browsers write a quote in a name as `%22`, others as `\"`. */
function readDisposition(text: string): Map<string, string> | undefined {
  if (!/^form-data[ \t]*(?:;|$)/i.test(text)) return undefined;
  const parameters = new Map<string, string>();
  for (const [, name, quoted, token] of text.matchAll(dispositionParameter)) {
    const value = token ?? (quoted ?? '').replaceAll('\\"', '"').replaceAll('%22', '"');
    if (name !== undefined && !parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  return parameters;
}

const dispositionParameter = new RegExp(`;[ \\t]*([\\w*-]+)=(?:"(${quotedText})"|([^\\s;"]+))`, 'g');

const malformed = (found: string, expected: string): PartProblem => problem('malformed', found, expected);

function problem(kind: 'malformed' | 'size', found: string, expected: string, path = ''): PartProblem {
  return { kind, problem: { in: 'body', path, found, expected } };
}
