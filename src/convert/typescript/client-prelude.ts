/** What every client is made of, whatever the document: it stands on the types and the table that the document makes. */
export const clientPrelude = `/** What one call may say besides. */
export type CallOptions = {
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
};

/** An answer of success: its body, as it is typed, and what came with it. */
export type Answer<T> = { readonly ok: true; readonly status: number; readonly data: T; readonly headers: globalThis.Headers };

/** A refusal that the document states: \`code\` and \`status\` tell which one. */
export type Refusal<Status extends number, Code extends string | undefined> = {
  readonly ok: false;
  readonly status: Status;
  readonly code: Code;
  readonly error: ErrorBody;
  readonly headers: globalThis.Headers;
};

/** An answer that the document does not state for this operation, such as one of a proxy in between. */
export type Unexpected = Refusal<number, undefined>;

/** How the service is called. */
export type ClientOptions = {
  /** Where the service is; the base address of the document, where it states one. */
  readonly baseUrl?: string;
  readonly credential?: Credential | (() => Credential | undefined | Promise<Credential | undefined>);
  /** The version that is asked for; the one that these types are of, unless this says otherwise. */
  readonly version?: string;
  /** Headers of every call. */
  readonly headers?: { readonly [name: string]: string };
  /** What sends the requests; the platform's own, unless this says otherwise. */
  readonly fetch?: typeof globalThis.fetch;
};

/** A client of the service. It throws where no answer came; what the service refuses is an answer. */
export function createClient(options: ClientOptions = {}): Client {
  const calls = Object.entries(operations).map(
    ([name, operation]) => [name, (input: Input = {}) => send(operation, input, options)] as const,
  );
  // Every name of the type is one of the table, from which both are made.
  return Object.fromEntries(calls) as unknown as Client;
}

type Input = CallOptions & {
  readonly params?: { readonly [name: string]: unknown };
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
};

type Carrier = { readonly in: string; readonly style?: string; readonly explode?: boolean };

type Operation = {
  readonly method: string;
  readonly path: string;
  readonly params: { readonly [name: string]: Carrier };
  readonly media?: string;
  readonly key?: string;
  readonly codes: readonly string[];
};

type Outgoing = { path: string; readonly query: string[]; readonly headers: globalThis.Headers; readonly cookies: string[] };

async function send(operation: Operation, input: Input, options: ClientOptions): Promise<unknown> {
  const outgoing: Outgoing = { path: operation.path, query: [], headers: new globalThis.Headers(options.headers), cookies: [] };
  for (const [name, carrier] of Object.entries(operation.params)) carry(outgoing, name, input.params?.[name], carrier);
  const version = options.version ?? service.version?.current;
  if (version !== undefined && service.version && service.version.in !== 'path')
    carry(outgoing, service.version.name, version, { in: service.version.in });
  if (operation.key !== undefined && input.idempotencyKey !== undefined) outgoing.headers.set(operation.key, input.idempotencyKey);
  if (input.ifMatch !== undefined) outgoing.headers.set('If-Match', input.ifMatch);
  const credential = typeof options.credential === 'function' ? await options.credential() : options.credential;
  for (const [scheme, value] of Object.entries(credential ?? {})) present(outgoing, scheme, value);
  const body = input.body === undefined || operation.media === undefined ? undefined : bodyOf(input.body, operation.media, outgoing);
  if (outgoing.cookies.length > 0) outgoing.headers.set('Cookie', outgoing.cookies.join('; '));
  for (const [name, value] of Object.entries(input.headers ?? {})) outgoing.headers.set(name, value);
  const response = await (options.fetch ?? globalThis.fetch)(addressOf(outgoing, options, version), {
    method: operation.method,
    headers: outgoing.headers,
    ...(body !== undefined && { body }),
    ...(input.signal !== undefined && { signal: input.signal }),
  });
  return answerOf(response, operation);
}

function addressOf({ path, query }: Outgoing, { baseUrl = service.baseUrl }: ClientOptions, version: string | undefined): string {
  if (baseUrl === undefined) throw new TypeError('createClient needs a baseUrl: the document states none.');
  const chosen = service.version?.in === 'path' && version !== undefined ? service.version.name.replace('{version}', version) : '';
  const more = query.length === 0 ? '' : (path.includes('?') ? '&' : '?') + query.join('&');
  return baseUrl.replace(/\\/+$/, '') + chosen + path + more;
}

async function answerOf(response: Awaited<ReturnType<typeof globalThis.fetch>>, operation: Operation): Promise<unknown> {
  const { ok, status, headers } = response;
  const type = headers.get('Content-Type') ?? '';
  const isJson = /^application\\/(?:json|[^;]*\\+json)/i.test(type);
  const text = isJson || /^text\\//i.test(type) || type === '' ? await response.text() : undefined;
  const body = text === undefined ? new Uint8Array(await response.arrayBuffer()) : isJson && text !== '' ? JSON.parse(text) : text === '' ? undefined : text;
  const found: unknown = service.codeAt?.reduce<any>((at, name) => (typeof at !== 'object' || at === null ? undefined : at[name]), body);
  const code = operation.codes.find((one) => one === found);
  if (ok && code === undefined) return { ok: true, status, data: body, headers };
  return { ok: false, status, code, error: body, headers };
}

/** A parameter where it is carried, in its style (OpenAPI 3.1, section 4.8.12). */
function carry(outgoing: Outgoing, name: string, value: unknown, { in: place, style, explode }: Carrier): void {
  if (value === undefined || value === null) return;
  if (place === 'path') outgoing.path = outgoing.path.replace(\`{\${name}}\`, () => pathText(name, value, style ?? 'simple', explode ?? false));
  else if (place === 'header') outgoing.headers.set(name, plainText(value, explode ?? false));
  else if (place === 'cookie') outgoing.cookies.push(\`\${name}=\${encodeURIComponent(plainText(value, false))}\`);
  else outgoing.query.push(...queryTexts(name, value, style ?? 'form', explode ?? (style ?? 'form') === 'form'));
}

function plainText(value: unknown, explode: boolean): string {
  if (Array.isArray(value)) return value.map(String).join(',');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value).map(([key, inner]) => \`\${key}\${explode ? '=' : ','}\${String(inner)}\`).join(',');
}

function pathText(name: string, value: unknown, style: string, explode: boolean): string {
  const separator = style === 'label' && explode ? '.' : style === 'matrix' && explode ? ';' : ',';
  const encoded = (inner: unknown) => encodeURIComponent(String(inner));
  const named = (inner: unknown) => (style === 'matrix' && explode ? \`\${name}=\${encoded(inner)}\` : encoded(inner));
  const joined = Array.isArray(value)
    ? value.map(named).join(separator)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, inner]) => \`\${encoded(key)}\${explode ? '=' : ','}\${encoded(inner)}\`).join(separator)
      : encoded(value);
  if (style === 'label') return \`.\${joined}\`;
  if (style !== 'matrix') return joined;
  return explode && typeof value === 'object' ? \`;\${joined}\` : \`;\${name}=\${joined}\`;
}

function queryTexts(name: string, value: unknown, style: string, explode: boolean): string[] {
  const encoded = encodeURIComponent;
  if (typeof value !== 'object' || value === null) return [\`\${encoded(name)}=\${encoded(String(value))}\`];
  const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => \`\${encoded(name)}=\${encoded(String(item))}\`);
    return [\`\${encoded(name)}=\${value.map((item) => encoded(String(item))).join(separator)}\`];
  }
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  if (style === 'deepObject') return members.map(([key, inner]) => \`\${encoded(name)}[\${encoded(key)}]=\${encoded(String(inner))}\`);
  if (explode) return members.map(([key, inner]) => \`\${encoded(key)}=\${encoded(String(inner))}\`);
  return [\`\${encoded(name)}=\${members.flatMap(([key, inner]) => [encoded(key), encoded(String(inner))]).join(separator)}\`];
}

/** A credential where its scheme has it. */
function present(outgoing: Outgoing, scheme: string, value: unknown): void {
  const found = service.schemes[scheme];
  if (found === undefined || value === undefined) return;
  const isPair = typeof value === 'object' && value !== null && 'name' in value && 'password' in value;
  const text = isPair ? base64(\`\${String(value.name)}:\${String(value.password)}\`) : found.isName === true ? base64(\`\${String(value)}:\`) : String(value);
  const whole = found.prefix === undefined || found.prefix === '' ? text : \`\${found.prefix} \${text}\`;
  carry(outgoing, found.name, whole, { in: found.in });
}

function base64(text: string): string {
  return globalThis.btoa(String.fromCharCode(...new globalThis.TextEncoder().encode(text)));
}

type Body = NonNullable<NonNullable<Parameters<typeof globalThis.fetch>[1]>['body']>;

function bodyOf(value: unknown, media: string, { headers }: Outgoing): Body {
  if (media === 'multipart/form-data') return multipart(value);
  headers.set('Content-Type', media);
  if (media === 'application/x-www-form-urlencoded')
    return fields(value, '').map(([name, inner]) => \`\${encodeURIComponent(name)}=\${encodeURIComponent(String(inner))}\`).join('&');
  // Bytes are taken as they are.
  if (value instanceof Uint8Array) return value as unknown as ArrayBuffer;
  if (/^text\\//i.test(media) || (typeof value === 'string' && !/[/+]json/i.test(media))) return String(value);
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? exact(inner) : inner));
}

/** An integer with all its digits, where the platform can write them. */
function exact(value: bigint): unknown {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  return rawJSON ? rawJSON(String(value)) : Number(value);
}

function multipart(value: unknown): Body {
  const form = new globalThis.FormData();
  for (const [name, inner] of fields(value, '')) {
    // Bytes are taken as they are.
    if (inner instanceof Uint8Array) form.append(name, new globalThis.Blob([inner as unknown as ArrayBuffer]));
    else form.append(name, String(inner));
  }
  return form;
}

/** The fields of a form, those inside others by bracketed names. */
function fields(value: unknown, name: string): [name: string, value: unknown][] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => fields(item, \`\${name}[\${index}]\`));
  if (typeof value !== 'object' || value instanceof Uint8Array) return [[name, value]];
  return Object.entries(value).flatMap(([key, inner]) => fields(inner, name === '' ? key : \`\${name}[\${key}]\`));
}`;
