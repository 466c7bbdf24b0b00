import { Buffer } from 'node:buffer';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { signedMessage } from '../request-signatures/signer.ts';
import { callerHeader } from './callers.ts';

/** One request as it goes out: the target is the path and query exactly as written. */
export interface StoryRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

export const bodyWords = ['body', 'text', 'form', 'multipart', 'bytes'] as const;

const boundary = 'a-story-never-says-this';
const mediaTypes = {
  body: 'application/json',
  text: 'text/plain; charset=utf-8',
  form: 'application/x-www-form-urlencoded',
  multipart: `multipart/form-data; boundary=${boundary}`,
  bytes: 'application/octet-stream',
};

/** Makes a request of a step: `send: POST /parcels` with `headers`, and at most one of the kinds of body. */
export function requestOf(step: JsonMap): StoryRequest {
  const line = String(step.send);
  const space = line.indexOf(' ');
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries((step.headers ?? {}) as JsonMap)) headers[name.toLowerCase()] = String(value);
  if (step.as !== undefined) headers[callerHeader] = JSON.stringify(step.as);
  const kind = bodyWords.find((word) => Object.hasOwn(step, word));
  const request = { method: line.slice(0, space), target: line.slice(space + 1), headers };
  if (!kind) return signed(step, request);
  headers['content-type'] ??= mediaTypes[kind];
  if (headers['content-type'] === 'none') delete headers['content-type'];
  return signed(step, { ...request, body: new Uint8Array(bodyOf(kind, step[kind] as Json)) });
}

/**
 * Signs as RFC 9421 says where a step has `signed: { key, secret, algorithm, at, covers }`, and `line` where another one is signed than is sent. `at` is
 * in seconds since 1970.
 */
function signed(step: JsonMap, request: StoryRequest): StoryRequest {
  const how = step.signed as JsonMap | undefined;
  if (!how) return request;
  const [method = '', target = ''] = how.line === undefined ? [request.method, request.target] : String(how.line).split(' ');
  const body = request.body && Buffer.from(request.body).toString('utf8');
  const asked = { method, target, headers: request.headers, ...(body !== undefined && { body }) };
  const held = { keyId: String(how.key), secret: String(how.secret), algorithm: String(how.algorithm) };
  const headers = signedMessage(asked, held, '', how.covers as string[], { created: Number(how.at) });
  return { ...request, headers };
}

function bodyOf(kind: (typeof bodyWords)[number], value: Json): Buffer {
  if (kind === 'body') return Buffer.from(JSON.stringify(value));
  if (kind === 'text') return Buffer.from(String(value));
  if (kind === 'bytes') return Buffer.from(String(value).replaceAll(/\s/g, ''), 'hex');
  if (kind === 'form') return Buffer.from(typeof value === 'string' ? value : formText(value as JsonMap));
  return multipart(value as JsonMap);
}

/** Keys are taken as written: `address[city]`. */
function formText(fields: JsonMap): string {
  const pairs = Object.entries(fields).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((item) => [key, String(item)] as [string, string]),
  );
  return new URLSearchParams(pairs).toString();
}

/** A field is its text, or a file `{ filename, type, text }` or `{ filename, type, bytes }` with bytes in hex. */
function multipart(fields: JsonMap): Buffer {
  const parts = Object.entries(fields).flatMap(([name, field]) => {
    const file = typeof field === 'object' && field !== null ? (field as JsonMap) : undefined;
    const disposition = `Content-Disposition: form-data; name="${name}"${file ? `; filename="${String(file.filename)}"` : ''}`;
    const type = file?.type === undefined ? '' : `\r\nContent-Type: ${String(file.type)}`;
    const content = file ? bodyOf(file.bytes === undefined ? 'text' : 'bytes', (file.bytes ?? file.text) as Json) : String(field);
    return [Buffer.from(`--${boundary}\r\n${disposition}${type}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}
