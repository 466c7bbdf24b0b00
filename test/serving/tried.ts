import {
  type BeforeHandlers,
  type Document,
  type Handlers,
  movableClock,
  parseDocument,
  type ServeOptions,
  type Service,
  serve,
} from '../../src/index.ts';

/** What a test sends. A `body` that is no text and no bytes goes as JSON. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What came back; `json` is undefined where the body is none. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: unknown;
}

/** A service that a test tries, in process, with a clock that stands still and its failures gathered. */
export interface Tried {
  readonly service: Service;
  readonly clock: ReturnType<typeof movableClock>;
  readonly failures: unknown[];
  send(method: string, target: string, sent?: Sent): Promise<Answered>;
  close(): Promise<void>;
}

export interface TriedOptions {
  readonly handlers?: Handlers;
  readonly before?: BeforeHandlers;
  readonly as?: string;
  readonly open?: 'accept';
  readonly sample?: boolean;
  readonly seedValue?: string;
  readonly relax?: 'auth';
  readonly coverage?: boolean;
  readonly strict?: boolean;
  readonly onExchange?: NonNullable<ServeOptions['onExchange']>;
  readonly identify?: NonNullable<ServeOptions['identify']>;
  readonly rows?: NonNullable<ServeOptions['rows']>;
  readonly environment?: NonNullable<ServeOptions['environment']>;
  readonly store?: NonNullable<ServeOptions['store']>;
}

/** Starts a service from the text of a document, which has to be sound. */
export function tryService(text: string, options: TriedOptions = {}): Promise<Tried> {
  return tryDocument(parseDocument(text, 'tried.yaml'), options);
}

export async function tryDocument(document: Document, options: TriedOptions = {}): Promise<Tried> {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const failures: unknown[] = [];
  const service = await serve(document, { ...options, clock, onFailure: (failure) => failures.push(failure) });
  return {
    service,
    clock,
    failures,
    send: (method, target, sent) => send(service, method, target, sent),
    close: () => service.close(),
  };
}

async function send(service: Service, method: string, target: string, { headers = {}, body }: Sent = {}): Promise<Answered> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const request = new Request(`http://127.0.0.1${target}`, {
    method,
    headers: { ...type, ...headers },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const response = await service.fetch(request);
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
