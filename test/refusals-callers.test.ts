import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caller, type ToldService, tellService } from './serving/callers.ts';
import type { Answered } from './serving/tried.ts';

/** Section 6 of the language, steps 1 to 8: what is looked at before anything is read or stored, by pairs. */
const document = `
purpose:
  purpose: Has a version, rates, schemes and permissions to be refused by.
  base_url: none
  users: { merchant: Sells., courier: Carries. }
  functions: none
resources:
  parcel:
    identifier: { field: id, generate: integer }
    fields: { id: integer, weight: { type: integer, minimum: 1 } }
    required: [id, weight]
states: none
endpoints:
  POST /parcels: { does: create parcel, parameters: &parameters { count: { in: query, type: integer } } }
  POST /wishes: { as: wish, parameters: *parameters, request: { type: object } }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  accept: [key]
  public: none
  origins: none
  permissions: [{ allow: [create parcel, wish], to: merchant }]
events: none
errors:
  payload: problem
  codes:
    too_large: { status: 413, when: limit.size }
    no_route: { status: 404, when: route.unknown }
    no_method: { status: 405, when: method.unsupported }
    no_version: { status: 421, when: version.unknown }
    hurried: { status: 429, when: limit.rate }
    nobody: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    no_media: { status: 415, when: request.media }
    bad_parameter: { status: 400, when: request.parameter }
    invalid: { status: 422, when: request.invalid }
    others: any
limits:
  size: { url: 2KiB }
  rate: [{ per: address, kind: fixed, limit: 6, window: 1h }, { per: caller, kind: fixed, limit: 2, window: 1m }]
versioning:
  versions: { "1": { current: true } }
  select: { header: Version, default: current }
`;

interface Draft {
  method: string;
  path: string;
  query: string;
  user: string | undefined;
  readonly headers: Record<string, string>;
  body: unknown;
}

interface Wrong {
  readonly name: string;
  readonly status: number;
  readonly code?: string;
  /** Tells the rates apart, whose code is one; in seconds. */
  readonly retryAfter?: string;
  /** Two wrongs that need the same one thing cannot meet. */
  readonly needs?: string;
  readonly change?: (draft: Draft) => void;
  /** Prepares the service, with the request as it will be sent. */
  readonly prepare?: (service: ToldService, draft: Draft) => Promise<void>;
}

/** In the order in which they have to answer. */
const wrongs: readonly Wrong[] = [
  wrong('URL size', 413, 'too_large', (it) => (it.query += `&pad=${'a'.repeat(2100)}`)),
  { ...wrong('unknown route', 404, 'no_route', (it) => (it.path = `/nowhere${it.path}`)), needs: 'route' },
  wrong('unknown method', 405, 'no_method', (it) => (it.method = 'BREW')),
  wrong('unknown version', 421, 'no_version', (it) => (it.headers.version = '0')),
  {
    name: 'rate of an address',
    status: 429,
    code: 'hurried',
    retryAfter: '3600',
    async prepare(service) {
      for (let n = 0; n < 6; n++) await service.as(caller('merchant', `other${n}`), 'POST', '/parcels', { weight: 1 });
    },
  },
  { ...wrong('unknown caller', 401, 'nobody', (it) => (it.user = undefined)), needs: 'caller' },
  {
    name: 'rate of a caller',
    status: 429,
    code: 'hurried',
    retryAfter: '60',
    needs: 'caller',
    async prepare(service, { user = '' }) {
      for (let n = 0; n < 2; n++) await service.as(caller(user, 'own'), 'POST', '/parcels', { weight: 1 });
    },
  },
  // Needs a caller only beside one who is nobody.
  wrong('no rule for this user', 403, 'forbidden', (it) => (it.user &&= 'courier')),
  { name: 'open effect', status: 501, needs: 'route', change: (it) => (it.path = '/wishes') },
  wrong('media type', 415, 'no_media', (it) => (it.headers['content-type'] = 'text/csv')),
  wrong('parameter', 400, 'bad_parameter', (it) => (it.query += '&count=many')),
  wrong('invalid body', 422, 'invalid', (it) => (it.body = { weight: 0 })),
];

test('a request with nothing wrong is answered', async () => {
  assert.equal((await answerTo([])).status, 201);
});

for (const [index, first] of wrongs.entries()) {
  test(`${first.name} is refused for, whatever later step has something to say too`, async () => {
    demand(first, await answerTo([first]), 'alone');
    for (const later of wrongs.slice(index + 1)) {
      if (first.needs !== undefined && first.needs === later.needs) continue;
      demand(first, await answerTo([first, later]), `with ${later.name}`);
    }
  });
}

function wrong(name: string, status: number, code: string, change: (draft: Draft) => unknown): Wrong {
  return { name, status, code, change: (draft) => void change(draft) };
}

/** Sends one request that is wrong in these ways to a service of its own. */
async function answerTo(ways: readonly Wrong[]): Promise<Answered> {
  const service = await tellService(document);
  try {
    const draft: Draft = { method: 'POST', path: '/parcels', query: '', user: 'merchant', headers: {}, body: { weight: 1 } };
    for (const { change } of ways) change?.(draft);
    for (const { prepare } of ways.toReversed()) await prepare?.(service, draft);
    const { method, path, query, user, headers, body } = draft;
    const target = query === '' ? path : `${path}?${query.slice(1)}`;
    const answer = await service.as(user === undefined ? undefined : caller(user, 'own'), method, target, body, headers);
    assert.deepEqual(service.failures, []);
    return answer;
  } finally {
    await service.close();
  }
}

function demand({ status, code, retryAfter }: Wrong, answer: Answered, what: string): void {
  const told = { status: answer.status, code: (answer.json as { code?: string } | undefined)?.code };
  assert.deepEqual(told, { status, code }, `${what}: ${answer.text}`);
  if (retryAfter !== undefined) assert.equal(answer.headers['retry-after'], retryAfter, what);
}
