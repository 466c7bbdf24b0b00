/** Requests of described operations to a service in the same process, so many and no more. */
import type { Json } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import type { DevelopmentCredential, Service } from '../../src/index.ts';
import type { Described, DescribedAnswer, DescribedOperation, DescribedParameter } from './description.ts';
import { plainName } from './families.ts';
import { CannotMake, madeOf } from './values.ts';

export interface Told {
  readonly status: number;
  readonly body: Json | undefined;
  readonly text: string;
  readonly headers: Headers;
}

export interface Asked {
  /** For the parameters of the path, in their order. */
  readonly path: readonly string[];
  readonly body?: Json | undefined;
  readonly query?: Readonly<Record<string, string>>;
  /** Shows no credential. */
  readonly isBare?: boolean;
}

export interface Asking {
  readonly described: Described;
  ask(operation: DescribedOperation, asked: Asked): Promise<Told>;
  /** Asks for an address of the service that an answer told. */
  follow(operation: DescribedOperation, address: string): Promise<Told>;
}

/** No more requests are left of those that a document may have. */
export class Spent extends Error {}

export function askingOf(service: Service, described: Described, requestsMax: number): Asking {
  let sent = 0;
  const credentials = service.credentials ?? [];
  const send = async (operation: DescribedOperation, url: URL, headers: Headers, body: string | undefined, isBare = false) => {
    if (++sent > requestsMax) throw new Spent();
    headers.set('accept', 'application/json');
    if (!isBare) showCredentials(operation, credentials, url, headers);
    const init: RequestInit = { method: operation.method, headers, ...(body !== undefined && { body }) };
    const response = await service.fetch(new Request(url, init));
    const text = await response.text();
    return { status: response.status, body: parsed(text), text, headers: response.headers };
  };
  return {
    described,
    async ask(operation, { path, body, query = {}, isBare }) {
      const url = new URL(`http://127.0.0.1${service.basePath}${filledPath(operation.path, path)}`);
      const headers = new Headers();
      for (const parameter of operation.parameters) put(described, parameter, url, headers, sent);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      if (body === undefined) return send(operation, url, headers, undefined, isBare);
      const type = operation.body?.mediaType ?? 'application/json';
      headers.set('content-type', type);
      return send(operation, url, headers, type.includes('urlencoded') ? formOf(body) : JSON.stringify(body), isBare);
    },
    follow(operation, address) {
      const url = new URL(address, `http://127.0.0.1${service.basePath}${operation.path.replaceAll(/[{}]/g, '')}`);
      const own = new URL(`http://127.0.0.1${url.pathname}${url.search}`);
      return send(operation, own, new Headers(), undefined);
    },
  };
}

function filledPath(path: string, values: readonly string[]): string {
  let at = 0;
  return path.replaceAll(/\{[^{}]*\}/g, () => encodeURIComponent(values[at++] ?? 'x'));
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Sends what is required besides the path. */
function put(described: Described, parameter: DescribedParameter, url: URL, headers: Headers, count: number): void {
  if (!parameter.isRequired || parameter.place === 'path' || parameter.place === 'cookie') return;
  const { name, place } = parameter;
  if (place === 'header' && /^(?:authorization|content-type|accept|content-length)$/i.test(name)) return;
  const value = /idempot|request-?id|correlation/i.test(name)
    ? `00000000-0000-4000-9000-${String(count).padStart(12, '0')}`
    : /^if-match$/i.test(name)
      ? '*'
      : (wholeList(described, parameter) ?? parameterValue(described, parameter, 0));
  if (place === 'query') url.searchParams.set(name, value);
  else headers.set(name, value.replaceAll(/[^\x20-\x7e]/g, ''));
}

/** What a required parameter takes that cuts a list, so that it has its things: nothing is left out before them, and many fit. */
function wholeList(described: Described, { name, place, schema }: DescribedParameter): string | undefined {
  const { type, minimum, maximum } = described.flat(schema);
  if (place !== 'query' || (type !== 'integer' && type !== 'number')) return undefined;
  const plain = plainName(name);
  if (/^(?:offset|skip)$/.test(plain)) return String(typeof minimum === 'number' ? minimum : 0);
  if (!/^(?:limit|count|pagesize|perpage|size|top|take)$/.test(plain)) return undefined;
  return String(typeof maximum === 'number' ? Math.min(maximum, 50) : 50);
}

/** What is sent for a parameter: its example, the version for one that is called so, or a value of its shape. */
export function parameterValue(described: Described, { name, schema, example }: DescribedParameter, n: number): string {
  const flat = described.flat(schema);
  const given = example ?? flat.example ?? flat['x-example'] ?? flat.default;
  if (n === 0 && given !== undefined && given !== null && typeof given !== 'object') return String(given);
  if (/version/i.test(name) && !Array.isArray(flat.enum) && flat.pattern === undefined) return described.version;
  try {
    const made = madeOf({ described, n, shown: new Set(), named: () => undefined }, schema, name);
    return isMap(made) ? JSON.stringify(made) : Array.isArray(made) ? made.map(String).join(',') : String(made);
  } catch (error) {
    if (error instanceof CannotMake) return 'x';
    throw error;
  }
}

function showCredentials(
  operation: DescribedOperation,
  credentials: readonly DevelopmentCredential[],
  url: URL,
  headers: Headers,
) {
  const by = (scheme: string) => credentials.find((one) => one.scheme === scheme);
  const whole = operation.security.find((names) => names.every((name) => by(name) !== undefined)) ?? operation.security[0] ?? [];
  const shown = whole.map(by).filter((one) => one !== undefined);
  // A scheme may be called otherwise by whoever gives them out; where nothing is said, clients show what they have.
  const isAny = operation.isSecurityUnsaid || operation.security.length > 0;
  const inHeaders = credentials.filter(({ in: place, name }) => place !== 'query' && operation.parameters.some(asks(name)));
  const some = inHeaders.length > 0 ? inHeaders : credentials.slice(0, 1);
  const given = shown.length === 0 && isAny ? some : shown;
  for (const { in: place, name, value } of given) {
    if (place === 'query') url.searchParams.set(name, value);
    else if (place === 'cookie') headers.append('cookie', `${name}=${value}`);
    else headers.set(name, value);
  }
}

/** Whether a parameter is the header of a credential: several of them may be asked for together. */
function asks(header: string) {
  return ({ place, name }: DescribedParameter) => place === 'header' && name.toLowerCase() === header.toLowerCase();
}

function formOf(body: Json): string {
  const form = new URLSearchParams();
  const add = (name: string, value: Json): void => {
    if (Array.isArray(value)) for (const item of value) add(name, item);
    else if (isMap(value)) for (const [inner, one] of Object.entries(value)) add(name === '' ? inner : `${name}[${inner}]`, one);
    else form.append(name, value === null ? '' : String(value));
  };
  add('', body);
  return form.toString();
}

/** What is stated of an answer of this status. */
export function statedAnswer({ answers }: DescribedOperation, status: number): DescribedAnswer | undefined {
  return answers.get(String(status)) ?? answers.get(`${Math.floor(status / 100)}XX`) ?? answers.get('DEFAULT');
}

/** A success that is stated. */
export function isGood(operation: DescribedOperation, { status }: Told): boolean {
  return status >= 200 && status < 300 && (operation.answers.size === 0 || statedAnswer(operation, status) !== undefined);
}

/** A refusal that comes as a success, with a flag that says so. */
export function isFlaggedRefusal({ body }: Told): boolean {
  return isMap(body) && (body.ok === false || body.success === false);
}
