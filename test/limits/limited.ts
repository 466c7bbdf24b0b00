import { movableClock, parseDocument, type Service, serve } from '../../src/index.ts';

type ServeOptions = NonNullable<Parameters<typeof serve>[1]>;

/** What came back of one request. */
export interface Limited {
  readonly status: number;
  readonly headers: Headers;
  readonly json: { readonly [name: string]: unknown };
}

/** A service with these limits, and a clock that stands still. */
export interface LimitedService {
  readonly service: Service;
  readonly clock: ReturnType<typeof movableClock>;
  readonly failures: unknown[];
  send(line: string, sent?: Sent): Promise<Limited>;
  /** The statuses of so many requests, one after the other. */
  statuses(times: number, line: string, sent?: Sent): Promise<number[]>;
  replace(limits: string): Promise<void>;
  close(): Promise<void>;
}

/** `as` is a user and an id, `courier c1`, or nobody; `from` an address. */
export interface Sent {
  readonly as?: string;
  readonly from?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service of few operations, with limits as YAML in flow form. */
export function documentWith(limits: string, more = ''): string {
  return `
purpose:
  purpose: Tries limits.
  users: { merchant: Sells., courier: Carries. }
resources:
  parcel:
    identifier: { field: id, generate: "{uuid}" }
    fields: { id: string, weight: { type: integer, maximum: 10 }, status: { type: string, readOnly: true } }
    required: [id, weight, status]
states:
  parcel: { field: status, initial: draft, states: [draft, bought], transitions: { buy: draft -> bought } }
endpoints:
  POST /parcels: { does: create parcel, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /parcels/{id}: { does: read parcel, etag: strong }
  GET /parcels: { does: list parcel }
  POST /parcels/{id}/buy: { does: buy parcel }
  POST /weigh: { does: handler weigh, request: {}, response: { 200: {} }, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /about: { does: reply, as: read about, response: { 200: { shape: { type: object, example: { about: limits } } } } }
  GET /help: { does: reply, as: read help, response: { 200: { shape: { type: object, example: { help: none } } } } }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  accept: [key]
  public: [read about]
  permissions: none
errors:
  payload: problem
  codes:
    hurried: { status: 429, when: limit.rate }
    used_up: { status: 402, when: limit.quota }
    slow: { status: 504, when: limit.time }
limits: ${limits}
${more}`;
}

export async function serveWith(limits: string, options: ServeOptions = {}): Promise<LimitedService> {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const failures: unknown[] = [];
  const document = (text: string) => parseDocument(documentWith(text), 'limited.yaml');
  const service = await serve(document(limits), {
    clock,
    identify: ({ headers }) => {
      const [user, id] = String(headers['x-as'] ?? '').split(' ');
      return user && id ? { user, id, scopes: [] } : undefined;
    },
    onFailure: (failure) => failures.push(failure),
    ...options,
  });

  async function send(line: string, { as = 'merchant m1', from, body, headers }: Sent = {}): Promise<Limited> {
    const [method = '', path = ''] = line.split(' ');
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: {
        ...(as !== '' && { 'x-as': as }),
        ...(from !== undefined && { 'x-forwarded-for': from }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await service.fetch(request);
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? {} : JSON.parse(text) };
  }

  return {
    service,
    clock,
    failures,
    send,
    async statuses(times, line, sent) {
      const statuses: number[] = [];
      for (let n = 0; n < times; n++) statuses.push((await send(line, sent)).status);
      return statuses;
    },
    async replace(text) {
      const { readSpec } = await import('../../src/parts/spec.ts');
      await service.replace(readSpec(document(text)));
    },
    close: () => service.close(),
  };
}
