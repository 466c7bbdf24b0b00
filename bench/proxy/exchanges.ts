/** Alterations of what endpoints answer, of who may ask them, and of what is asked. */
import type { Endpoint } from '../../src/parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../src/parts/fact.ts';
import { requestShape } from '../../src/parts/payload.ts';
import type { Bent, Passing } from '../../test/verify/stand.ts';
import { type Alteration, callerOf, isOf, type Row, type Setting, shownAs, withJson } from './alteration.ts';

type Change = (passing: Passing) => Partial<Passing>;

/** What goes wrong with the answers of each endpoint, and with what it is asked. */
export function ofEndpoints(setting: Setting): Alteration[] {
  return setting.endpoints.flatMap((endpoint) => [
    ...ofAnswers(setting, endpoint),
    ...ofRequests(setting, endpoint),
    ...(statedValue(endpoint.does)?.verb === 'list' ? ofLists(setting, endpoint) : []),
  ]);
}

function spoiling(setting: Setting, endpoint: Endpoint, id: string, change: Change, part = 'endpoints'): Alteration {
  const spoil: Change = (passing) => (isOf(setting, endpoint, passing) && passing.status < 300 ? change(passing) : {});
  return { id: `${id} (${endpoint.operation})`, part, altering: { spoil } };
}

function ofAnswers(setting: Setting, endpoint: Endpoint): Alteration[] {
  const { method } = endpoint;
  const verb = statedValue(endpoint.does)?.verb;
  return [
    spoiling(setting, endpoint, 'another status', ({ status }) => ({ status: status === 202 ? 200 : 202 })),
    spoiling(setting, endpoint, 'another media type', ({ headers }) => ({
      headers: { ...headers, 'content-type': 'text/html' },
    })),
    spoiling(setting, endpoint, 'it is not there', () => ({ status: 404, text: '{}' }), 'purpose'),
    ...(verb === 'create'
      ? [spoiling(setting, endpoint, 'no Location', ({ headers }) => ({ headers: omitted(headers, 'location') }))]
      : []),
    ...(endpoint.etag !== undefined
      ? [
          spoiling(setting, endpoint, 'no ETag', ({ headers }) => ({ headers: omitted(headers, 'etag') })),
          spoiling(setting, endpoint, 'one ETag for all', ({ headers }) => ({ headers: { ...headers, etag: '"1"' } })),
        ]
      : []),
    ...(method === 'DELETE'
      ? [bending(setting, endpoint, 'nothing is deleted', ({ headers }) => ({ method: 'HEAD', headers }))]
      : [spoiling(setting, endpoint, 'no body', () => ({ text: '' }))]),
  ];
}

function omitted(headers: Passing['headers'], name: string): Passing['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
}

function bending(
  setting: Setting,
  endpoint: Endpoint,
  id: string,
  change: (request: Bent) => Partial<Bent>,
  part = 'endpoints',
): Alteration {
  const bend = (request: Bent): Partial<Bent> => (isOf(setting, endpoint, request) ? change(request) : {});
  return { id: `${id} (${endpoint.operation})`, part, altering: { bend } };
}

function ofRequests(setting: Setting, endpoint: Endpoint): Alteration[] {
  const asked = entriesOf(endpoint.parameters).filter(([, one]) => one.in === 'query');
  const dropped = asked.map(([name]) =>
    bending(setting, endpoint, `${name} is passed over`, ({ target }) => ({ target: withoutQuery(target, name) })),
  );
  const header = (id: string, name: string): Alteration =>
    bending(setting, endpoint, id, ({ headers }) => ({ headers: omitted(headers, name.toLowerCase()) }));
  return [
    ...dropped,
    ...(endpoint.idempotency ? [header('keys are passed over', endpoint.idempotency.header)] : []),
    ...(endpoint.ifMatch === 'accepted' || endpoint.ifMatch === 'required' ? [header('tags are passed over', 'if-match')] : []),
    ...(['POST', 'PATCH'].includes(endpoint.method) && isStated(requestShape(setting.spec, endpoint))
      ? [
          bending(setting, endpoint, 'every body is JSON', ({ headers, text }) =>
            text === '' ? {} : { headers: { ...headers, 'content-type': 'application/json' } },
          ),
        ]
      : []),
  ];
}

function withoutQuery(target: string, name: string): string {
  const [path = '', query = ''] = target.split('?');
  const kept = query.split('&').filter((piece) => piece !== '' && decodeURIComponent(piece.split('=')[0] ?? '') !== name);
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

/** What goes wrong with pages; `items` and `next` are found by what they hold. */
function ofLists(setting: Setting, endpoint: Endpoint): Alteration[] {
  const listed = (id: string, change: (items: unknown[], body: Row) => Row, part = 'endpoints'): Alteration =>
    spoiling(setting, endpoint, id, ({ text }) => ({ text: withJson(text, (body) => changedList(body, change)) }), part);
  const page = statedValue(setting.spec.limits.pagination);
  const size = page?.size ?? 'limit';
  const next = page?.next ?? 'next';
  return [
    listed('the first row is lost', (items, body) => ({ ...body, [itemsIn(body)]: items.slice(1) })),
    listed('the last row is lost', (items, body) => ({ ...body, [itemsIn(body)]: items.slice(0, -1) })),
    listed('a row comes twice', (items, body) => ({ ...body, [itemsIn(body)]: [...items, ...items.slice(-1)] })),
    listed('the order is turned', (items, body) => ({ ...body, [itemsIn(body)]: items.toReversed() })),
    listed('nothing leads on', (_items, body) => ({ ...body, [next]: null }), 'limits'),
    listed('the rows stand elsewhere', (items, body) => ({
      rows_: items,
      ...Object.fromEntries(Object.entries(body).filter(([key]) => key !== itemsIn(body))),
    })),
    bending(
      setting,
      endpoint,
      'the size of a page is passed over',
      ({ target }) => ({ target: withoutQuery(target, size) }),
      'limits',
    ),
    bending(
      setting,
      endpoint,
      'the cursor is passed over',
      ({ target }) => ({ target: withoutQuery(target, 'cursor') }),
      'limits',
    ),
    bending(
      setting,
      endpoint,
      'pages are small by themselves',
      ({ target }) => (target.includes(`${size}=`) ? {} : { target: `${target}${target.includes('?') ? '&' : '?'}${size}=2` }),
      'limits',
    ),
    bending(
      setting,
      endpoint,
      'too large a page is a smaller one',
      ({ target }) => ({ target: target.replace(new RegExp(`([?&]${size}=)\\d{3,}`), '$1100') }),
      'limits',
    ),
  ];
}

function itemsIn(body: Row): string {
  return Object.entries(body).find(([, value]) => Array.isArray(value))?.[0] ?? 'data';
}

function changedList(body: Row, change: (items: unknown[], body: Row) => Row): Row {
  const items = body[itemsIn(body)];
  return Array.isArray(items) ? change(items, body) : body;
}

/** What goes wrong with who may ask. */
export function ofCallers(setting: Setting): Alteration[] {
  const { spec, endpoints } = setting;
  const publicOnes = new Set(spec.authentication.public);
  const guarded = endpoints.filter(({ operation }) => !publicOnes.has(operation));
  const isGood = (request: Bent): boolean => callerOf(setting, request) !== undefined;
  const as = (headers: Bent['headers'], at: number): Bent['headers'] => shownAs(setting, headers, setting.callers[at]);
  const users = Object.keys(statedValue(spec.purpose.users) ?? {});
  const perUser = users.map(
    (user): Alteration => ({
      id: `${user} is not known`,
      part: 'purpose',
      altering: {
        bend: (request) =>
          callerOf(setting, request)?.user === user ? { headers: shownAs(setting, request.headers, undefined) } : {},
      },
    }),
  );
  return [
    ...guarded.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'no credential is asked for',
        (request) => (isGood(request) ? {} : { headers: as(request.headers, 0) }),
        'authentication',
      ),
    ),
    ...guarded.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'everybody is the first caller',
        (request) => (isGood(request) ? { headers: as(request.headers, 0) } : {}),
        'authentication',
      ),
    ),
    ...guarded.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'everybody is the second caller',
        (request) => (isGood(request) ? { headers: as(request.headers, 1) } : {}),
        'authentication',
      ),
    ),
    ...guarded.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'nobody is known',
        (request) => ({ headers: shownAs(setting, request.headers, undefined) }),
        'authentication',
      ),
    ),
    ...perUser,
  ];
}
