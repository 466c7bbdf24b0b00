/** Alterations of what endpoints answer, of who may ask them, and of what is asked. */
import type { Endpoint } from '../../src/parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../src/parts/fact.ts';
import { isCut } from '../../src/parts/limits.ts';
import { requestShape } from '../../src/parts/payload.ts';
import type { Bent, Passing } from '../../test/verify/stand.ts';
import { type Alteration, callerOf, isGood, isOf, type Row, type Setting, shownAs, withItems, withJson } from './alteration.ts';

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
  const ofBody = [
    spoiling(setting, endpoint, 'another media type', ({ headers }) => ({
      headers: { ...headers, 'content-type': 'text/html' },
    })),
    spoiling(setting, endpoint, 'no body', () => ({ text: '' })),
  ];
  return [
    spoiling(setting, endpoint, 'another status', ({ status }) => ({ status: status === 202 ? 200 : 202 })),
    spoiling(setting, endpoint, 'it is not there', () => ({ status: 404, text: '{}' }), 'purpose'),
    ...(hasBody(endpoint) ? ofBody : []),
    ...(verb === 'create' && !isStated(endpoint.response)
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
      : []),
  ];
}

/** Whether what is done is answered with something. */
function hasBody({ response, does }: Endpoint): boolean {
  const answers = statedValue(response);
  if (answers) return answers.some(({ status, shape }) => status.startsWith('2') && shape.standing !== 'none');
  return statedValue(does)?.verb !== 'delete';
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
    bending(setting, endpoint, `${name} is passed over`, ({ target }) => changed(target, withoutQuery(target, name))),
  );
  const header = (id: string, name: string): Alteration =>
    bending(setting, endpoint, id, ({ headers }) => ({ headers: omitted(headers, name.toLowerCase()) }));
  return [
    ...dropped,
    ...(endpoint.idempotency ? [header('keys are passed over', endpoint.idempotency.header)] : []),
    ...(endpoint.ifMatch === 'accepted' || endpoint.ifMatch === 'required' ? [header('tags are passed over', 'if-match')] : []),
    ...(['POST', 'PATCH'].includes(endpoint.method) && refusesMedia(setting) && isStated(requestShape(setting.spec, endpoint))
      ? [
          bending(setting, endpoint, 'every body is JSON', ({ headers, text }) =>
            text === '' ? {} : { headers: { ...headers, 'content-type': 'application/json' } },
          ),
        ]
      : []),
  ];
}

/** Whether other media types are promised to be refused. */
const refusesMedia = ({ spec }: Setting): boolean => !Object.hasOwn(spec.errors.conditions, 'request.media');

function changed(target: string, to: string): Partial<Bent> {
  return to === target ? {} : { target: to };
}

function withoutQuery(target: string, name: string): string {
  const [path = '', query = ''] = target.split('?');
  const kept = query.split('&').filter((piece) => piece !== '' && decodeURIComponent(piece.split('=')[0] ?? '') !== name);
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

/** What goes wrong with lists; `items` and `next` are found by what they hold. */
function ofLists(setting: Setting, endpoint: Endpoint): Alteration[] {
  const listed = (id: string, change: (items: readonly unknown[]) => readonly unknown[]): Alteration =>
    spoiling(setting, endpoint, id, ({ text }) => ({ text: withJson(text, (body) => withItems(body, change)) }));
  const pagination = endpoint.pagination ?? setting.spec.limits.pagination;
  return [
    listed('the first row is lost', (items) => items.slice(1)),
    listed('the last row is lost', (items) => items.slice(0, -1)),
    listed('a row comes twice', (items) => [...items, ...items.slice(-1)]),
    listed('the order is turned', (items) => items.toReversed()),
    spoiling(setting, endpoint, 'the rows stand elsewhere', ({ text }) => ({ text: withJson(text, elsewhere) })),
    ...(isCut(statedValue(pagination)) ? ofPages(setting, endpoint) : []),
  ];
}

function elsewhere(body: Row): unknown {
  if (Array.isArray(body)) return { rows_: body };
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [Array.isArray(value) ? 'rows_' : name, value]));
}

/** What goes wrong with what leads from page to page. */
function ofPages(setting: Setting, endpoint: Endpoint): Alteration[] {
  const page = statedValue(endpoint.pagination ?? setting.spec.limits.pagination);
  const { size = 'limit', next, overMax, default: usual } = page ?? {};
  const places = Object.values(page?.names ?? {});
  const bent = (id: string, change: (target: string) => string): Alteration =>
    bending(setting, endpoint, id, ({ target }) => changed(target, change(target)), 'limits');
  const withSize = (target: string): string => `${target}${target.includes('?') ? '&' : '?'}${size}=2`;
  const nothing = ({ text }: Passing): Partial<Passing> => ({
    text: withJson(text, (body) => (next === undefined || Array.isArray(body) ? body : { ...body, [next]: null })),
  });
  return [
    ...(next === undefined ? [] : [spoiling(setting, endpoint, 'nothing leads on', nothing, 'limits')]),
    bent('the size of a page is passed over', (target) => withoutQuery(target, size)),
    bent('the cursor is passed over', (target) => (places.length > 0 ? places : ['cursor']).reduce(withoutQuery, target)),
    ...(usual === undefined
      ? []
      : [bent('pages are small by themselves', (target) => (target.includes(`${size}=`) ? target : withSize(target)))]),
    ...(overMax === 'refuse'
      ? [bent('too large a page is a smaller one', (target) => target.replace(new RegExp(`([?&]${size}=)\\d{3,}`), '$1100'))]
      : []),
  ];
}

/** What goes wrong with who may ask. */
export function ofCallers(setting: Setting): Alteration[] {
  const { spec, endpoints } = setting;
  const publicOnes = new Set(spec.authentication.public);
  const isOpen = entriesOf(spec.authentication.schemes).length === 0;
  const guarded = isOpen ? [] : endpoints.filter(({ operation }) => !publicOnes.has(operation));
  const as = (request: Bent, at: number): Partial<Bent> => ({ headers: shownAs(setting, request, setting.callers[at]) });
  const users = Object.keys(statedValue(spec.purpose.users) ?? {});
  // Where there is one user alone, nobody can be taken for another.
  const several = users.length > 1 ? guarded : [];
  const perUser = users.map(
    (user): Alteration => ({
      id: `${user} is not known`,
      part: 'purpose',
      altering: {
        bend: (request) => (callerOf(setting, request)?.user === user ? { headers: shownAs(setting, request, undefined) } : {}),
      },
    }),
  );
  return [
    ...guarded.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'no credential is asked for',
        (request) => (isGood(setting, request) ? {} : as(request, 0)),
        'authentication',
      ),
    ),
    ...several.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'everybody is the first caller',
        (request) => (isGood(setting, request) ? as(request, 0) : {}),
        'authentication',
      ),
    ),
    ...several.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'everybody is the second caller',
        (request) => (isGood(setting, request) ? as(request, 1) : {}),
        'authentication',
      ),
    ),
    ...guarded.map((endpoint) =>
      bending(
        setting,
        endpoint,
        'nobody is known',
        (request) => ({ headers: shownAs(setting, request, undefined) }),
        'authentication',
      ),
    ),
    ...perUser,
  ];
}
