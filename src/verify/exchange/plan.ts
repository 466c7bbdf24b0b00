import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf } from '../../parts/fact.ts';
import type { TrialCaller } from './callers.ts';
import { renumbered, type Symbolic } from './symbol.ts';

/** A request that is to be sent, with values in it that only a run knows. `Model.request` begins one for an endpoint. */
export interface RequestPlan {
  readonly method: string;
  /** The path's template from the prefix on, and the values for it. A template without braces is sent as it is. */
  readonly template: string;
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly query: Readonly<Record<string, Symbolic>>;
  readonly headers: Readonly<Record<string, Symbolic>>;
  readonly body?: SentBody;
  readonly caller?: TrialCaller;
  readonly endpoint?: Endpoint;
  /** Where its caller shows credentials, where its endpoint is left out: another version has other shapes, and accepts the same. */
  readonly shownAt?: Endpoint;
  /** The address, where it is not that of the service under the prefix of its version. */
  readonly prefix?: string;
  /** How long is waited before it is sent, in milliseconds. */
  readonly afterMs?: number;
  /** Whether it says what it means only as a whole, such as one page of many, and is not made smaller. */
  readonly isWhole?: boolean;
}

/** What is sent: a value in a media type, which may go unsaid, or a text as it is, of a length that is told or in chunks (RFC 9112 section 7.1), in UTF-8 or otherwise. */
export type SentBody =
  | { readonly value: Symbolic; readonly type: string; readonly isUntold?: true }
  | { readonly text: string; readonly type?: string | undefined; readonly isChunked?: true; readonly octets?: 'latin1' };

/** The same request where the answers that it takes values from have other numbers. */
export function renumberedPlan(plan: RequestPlan, numbers: ReadonlyMap<number, number>): RequestPlan {
  // A map of values stays one.
  const map = (values: Readonly<Record<string, Symbolic>>) => renumbered(values, numbers) as Readonly<Record<string, Symbolic>>;
  const { body } = plan;
  return {
    ...plan,
    path: map(plan.path),
    query: map(plan.query),
    headers: map(plan.headers),
    ...(body && { body: 'value' in body ? { ...body, value: renumbered(body.value, numbers) } : body }),
  };
}

/** Every value of a request, as it is to be found in a run. */
export function valuesSent({ path, query, headers, body }: RequestPlan): Symbolic[] {
  return [path, query, headers, ...(body && 'value' in body ? [body.value] : [])];
}

/** A request as bytes. */
export interface Outgoing {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Whether the body comes in chunks, of a length that nobody tells before. */
  readonly isChunked?: boolean;
  /** The same once more, where it is signed and would not be taken twice. */
  readonly again?: () => Outgoing;
}

/** Path and query: the template with its values in it, each one segment's worth. */
export function writeTarget(plan: RequestPlan, path: Readonly<Record<string, Json>>, pairs: readonly string[]): string {
  const [template = '', stated] = plan.template.split('?');
  const filled = template.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = path[name];
    return value === undefined ? whole : encodeURIComponent(textOf(value));
  });
  const query = [...(stated === undefined ? [] : [stated]), ...pairs].join('&');
  return `${plan.prefix ?? ''}${filled}${query === '' ? '' : `?${query}`}`;
}

/** The query's pairs, each parameter in its style (OpenAPI 3.1 section 4.8.12.2). */
export function writeQuery(query: Readonly<Record<string, Json>>, endpoint: Endpoint | undefined): string[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const parameter = endpoint && entryOf(endpoint.parameters, name);
    const style = parameter?.style ?? 'form';
    return pairsOf(name, value, style, parameter?.explode ?? style === 'form');
  });
}

function pairsOf(name: string, value: Json, style: string, explode: boolean): string[] {
  const key = encodeName(name);
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => encodeURIComponent(textOf(item)));
    if (explode) return items.map((item) => `${key}=${item}`);
    const delimiter = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
    return [`${key}=${items.join(delimiter)}`];
  }
  if (!isMap(value)) return [`${key}=${encodeURIComponent(textOf(value))}`];
  const members = Object.entries(value).map(([member, item]) => [member, encodeURIComponent(textOf(item))] as const);
  if (style === 'deepObject') return members.map(([member, item]) => `${key}%5B${encodeName(member)}%5D=${item}`);
  if (explode) return members.map(([member, item]) => `${encodeName(member)}=${item}`);
  return [`${key}=${members.map(([member, item]) => `${encodeName(member)},${item}`).join(',')}`];
}

function encodeName(name: string): string {
  return encodeURIComponent(name);
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A body in its media type. */
export function writeBody(
  body: SentBody,
  json: Json | undefined,
): { readonly bytes: Uint8Array; readonly text: string; readonly type: string | undefined } {
  if ('text' in body) return { bytes: Buffer.from(body.text, body.octets ?? 'utf8'), text: body.text, type: body.type };
  const { type } = body;
  if (type === 'application/x-www-form-urlencoded') {
    const text = formPairs('', json ?? {}).join('&');
    return { bytes: Buffer.from(text), text, type: body.isUntold ? undefined : type };
  }
  if (type.startsWith('multipart/form-data')) return writeMultipart(json ?? {});
  const text = type.startsWith('text/') || type === 'application/octet-stream' ? textOf(json ?? '') : JSON.stringify(json);
  return { bytes: Buffer.from(text), text, type: body.isUntold ? undefined : type };
}

/** A form's pairs, with bracketed keys for what is inside. */
function formPairs(prefix: string, value: Json): string[] {
  if (isMap(value)) {
    return Object.entries(value).flatMap(([name, item]) => formPairs(prefix === '' ? name : `${prefix}[${name}]`, item));
  }
  // What is inside an item says which one it is of: without its number, items that lack a member would run into each other.
  const isDeep = (item: Json) => isMap(item) || Array.isArray(item);
  if (Array.isArray(value))
    return value.flatMap((item: Json, at) => formPairs(`${prefix}[${value.some(isDeep) ? at : ''}]`, item));
  // In a form null is said by a text that is empty.
  return [`${encodeURIComponent(prefix)}=${encodeURIComponent(value === null ? '' : textOf(value))}`];
}

const boundary = 'ninefold-part-boundary';

function writeMultipart(value: Json) {
  const parts = Object.entries(isMap(value) ? value : {}).map(
    ([name, item]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${textOf(item)}\r\n`,
  );
  const text = `${parts.join('')}--${boundary}--\r\n`;
  return { bytes: Buffer.from(text), text, type: `multipart/form-data; boundary=${boundary}` };
}
