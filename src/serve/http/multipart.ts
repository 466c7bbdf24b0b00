import { isUtf8 } from 'node:buffer';
import { quotedText } from '../../kinds/http-token.ts';
import { parseMediaType } from './media-type.ts';
import { cut, type Violation } from './violation.ts';

/** Bounds of a multipart body, within the bound of the whole. */
export interface PartLimits {
  /** The bytes that one file may have; unbounded here unless said otherwise. */
  readonly fileBytes?: number;
  /** How many parts there may be; 200 unless said otherwise. */
  readonly partsMax?: number;
}

/** One part: its field's name, its file's name without folders, its media type (`text/plain` where none is said). */
export interface MultipartPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string;
  readonly bytes: Buffer;
}

export type MultipartParts = { readonly parts: readonly MultipartPart[] } | PartProblem;
interface PartProblem {
  readonly kind: 'malformed' | 'size';
  readonly problem: Violation;
}

/**
 * Takes a whole multipart/form-data body apart (RFC 7578, RFC 2046 section 5.1.1), in one pass over its bytes. Preamble and
 * epilogue are nothing; a body that ends before its closing boundary, and a part without a name, are `malformed`.
 */
export function readParts(bytes: Buffer, boundary: string | undefined, limits: PartLimits): MultipartParts {
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
    const part = readPart(
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
export function isFile({ filename, type }: Pick<MultipartPart, 'filename' | 'type'>): boolean {
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

function readPart(head: string, bytes: Buffer): MultipartPart | PartProblem {
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

function malformed(found: string, expected: string): PartProblem {
  return problem('malformed', found, expected);
}

function problem(kind: 'malformed' | 'size', found: string, expected: string, path = ''): PartProblem {
  return { kind, problem: { in: 'body', path, found, expected } };
}
