/** Alterations of refusals, of limits, and of what versions are told. */
import type { ErrorCode, ErrorPayload } from '../../src/parts/errors.ts';
import { entriesOf, statedValue } from '../../src/parts/fact.ts';
import type { Shape } from '../../src/parts/shape.ts';
import type { Bent, Passing } from '../../test/verify/stand.ts';
import { type Alteration, type Row, type Setting, withJson } from './alteration.ts';

type Change = (passing: Passing) => Partial<Passing>;

/** Conditions that nobody brings about from outside in a short time. */
const inward = new Set(['internal', 'service.unavailable', 'write.conflict', 'idempotency.busy', 'limit.time', 'version.sunset']);

/** What goes wrong with each code that can be brought about, and with every payload. */
export function ofErrors({ spec }: Setting): Alteration[] {
  const quotas = statedValue(spec.limits.quota) ?? [];
  const isOutward = (when: string): boolean =>
    !inward.has(when) && !(when === 'limit.quota' && quotas.every(({ limit }) => limit > 1000));
  const codes = entriesOf(spec.errors.codes).filter(([, { rules }]) =>
    rules.some(
      (rule) =>
        rule.if !== undefined || (statedValue(rule.when) ?? []).length === 0 || (statedValue(rule.when) ?? []).some(isOutward),
    ),
  );
  const of = (id: string, change: Change): Alteration => ({ id, part: 'errors', altering: { spoil: change } });
  const refused = (id: string, change: (body: Row) => Row): Alteration =>
    of(id, (passing) => (passing.status >= 400 ? { text: withJson(passing.text, change) } : {}));
  const payload = statedValue(spec.errors.payload);
  const members = membersOf(payload);
  const isOf = ({ status, text }: Passing, code: ErrorCode): boolean =>
    status >= 400 && marksOf(code).some((mark) => text.includes(mark));
  return [
    ...codes.flatMap(([name, code]) => [
      of(`another status: ${name}`, (passing) => (isOf(passing, code) ? { status: passing.status === 400 ? 422 : 400 } : {})),
      of(`another code: ${name}`, (passing) =>
        isOf(passing, code) ? { text: marksOf(code).reduce(unmarked, passing.text) } : {},
      ),
      of(`it is a success: ${name}`, (passing) => (isOf(passing, code) ? { status: 200 } : {})),
    ]),
    ...members.map((member) => refused(`${member} is left out`, (body) => withoutMember(body, member.split('/')))),
    ...(members.includes('status') ? [refused('the status in the body is another', (body) => ({ ...body, status: 499 }))] : []),
    refused('the inside is told', (body) => ({
      ...body,
      detail: 'TypeError: x is undefined\n    at handle (/srv/app/lib/handle.js:12:7)',
    })),
    of('it is of another media type', (passing) =>
      passing.status >= 400
        ? { headers: { ...passing.headers, 'content-type': payload === 'problem' ? 'application/json' : 'text/plain' } }
        : {},
    ),
    of('it is a page for people', (passing) =>
      passing.status >= 400 ? { headers: { ...passing.headers, 'content-type': 'text/html' }, text: '<h1>Sorry</h1>' } : {},
    ),
  ];
}

/** What tells of a code in a refusal: its name, or a constant of it. */
function marksOf({ name, constants }: ErrorCode): string[] {
  return [JSON.stringify(name), ...Object.values(constants).map((value) => `:${JSON.stringify(value)}`)];
}

const unmarked = (text: string, mark: string): string =>
  text.replaceAll(mark, mark.endsWith('"') ? mark.replace(/"$/, '_too"') : `${mark}9`);

/** The members that a refusal always has, those of maps in it as paths. */
function membersOf(payload: ErrorPayload | undefined): string[] {
  if (payload === undefined) return [];
  if (payload === 'problem') return ['type', 'title', 'status', 'code'];
  const within = (shape: Shape | undefined, above: string): string[] => {
    const { properties = {}, required = [] } = (shape ?? {}) as {
      readonly properties?: Readonly<Record<string, Shape>>;
      readonly required?: readonly string[];
    };
    return required.flatMap((name) => [`${above}${name}`, ...within(properties[name], `${above}${name}/`)]);
  };
  return within(statedValue(payload.shape), '');
}

function withoutMember(body: Row, [name = '', ...below]: readonly string[]): Row {
  const inner = body[name];
  if (below.length === 0) return Object.fromEntries(Object.entries(body).filter(([one]) => one !== name));
  if (typeof inner !== 'object' || inner === null) return body;
  // What is neither null nor a text or number is a map or a list, and a list has none of these names.
  return { ...body, [name]: withoutMember(inner as Row, below) };
}

/** What goes wrong with rates and sizes. */
export function ofLimits({ spec }: Setting): Alteration[] {
  const of = (id: string, altering: Alteration['altering']): Alteration => ({ id, part: 'limits', altering });
  const bent = (id: string, bend: (request: Bent) => Partial<Bent>): Alteration => of(id, { bend });
  const size = statedValue(spec.limits.size);
  const rates = statedValue(spec.limits.rate) ?? [];
  let count = 0;
  return [
    ...(size?.body !== undefined
      ? [bent('a body is cut to its size', ({ text }) => (text.length > 60_000 ? { text: shortened(text) } : {}))]
      : []),
    ...(size?.url !== undefined
      ? [
          bent('an address is cut to its size', ({ target }) =>
            target.length > 8000 ? { target: target.split('?')[0] ?? '' } : {},
          ),
        ]
      : []),
    ...(size?.headers !== undefined
      ? [
          bent('long headers are passed over', ({ headers }) => ({
            headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => String(value).length < 2000)),
          })),
        ]
      : []),
    ...(rates.length > 0
      ? [
          of('it is not said how long to wait', {
            spoil: ({ status, headers }) => (status === 429 ? { headers: without(headers, 'retry-after') } : {}),
          }),
          of('a rate is never used up', { spoil: ({ status }) => (status === 429 ? { status: 201, text: '{}' } : {}) }),
          of('a rate is soon used up', {
            spoil: ({ status, headers }) => {
              count += 1;
              return status < 300 && count % 15 === 0
                ? { status: 429, headers: { ...headers, 'retry-after': '1' }, text: '{"status":429,"code":"slow_down"}' }
                : {};
            },
          }),
        ]
      : []),
  ];
}

/** A body with its texts shortened. */
function shortened(text: string): string {
  return text
    .replaceAll(/"([^"]{100})[^"]*"/g, '"$1"')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 60_000);
}

function without(headers: Passing['headers'], name: string): Passing['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
}

/** What goes wrong with versions that a header chooses. */
export function ofVersions({ spec }: Setting): Alteration[] {
  const select = statedValue(spec.versioning.select);
  if (!select) return [];
  const header = (select?.by === 'header' ? select.carrier : '').toLowerCase();
  const known = entriesOf(spec.versioning.versions).map(([name]) => name);
  const [oldest = '', newest = ''] = [known[0], known.at(-1)];
  const renames = entriesOf(spec.versioning.changes).flatMap(([, changes]) => statedValue(changes) ?? []);
  const of = (id: string, altering: Alteration['altering']): Alteration => ({ id, part: 'versioning', altering });
  const chosen = (id: string, change: (value: string) => string | undefined): Alteration =>
    of(id, {
      bend: ({ headers }) => {
        const value = headers[header];
        if (typeof value !== 'string') return {};
        const next = change(value);
        const { [header]: _given, ...rest } = headers;
        return { headers: next === undefined ? rest : { ...rest, [header]: next } };
      },
    });
  const told = ['deprecation', 'sunset', 'link'].map((name) =>
    of(`${name} is not told`, { spoil: ({ headers }) => ({ headers: without(headers, name) }) }),
  );
  const members = renames.flatMap((change) => ('to' in change && typeof change.to === 'string' ? [change.to] : []));
  return [
    chosen('the version is passed over', () => undefined),
    chosen('a version that is unknown is the newest', (value) => (known.includes(value) ? value : newest)),
    chosen('the oldest is the newest', (value) => (value === oldest ? newest : value)),
    chosen('the newest is the oldest', (value) => (value === newest ? oldest : value)),
    ...told,
    of('every version is said to end', { spoil: ({ headers }) => ({ headers: { ...headers, deprecation: '@1780272000' } }) }),
    of('a version ends on another day', {
      spoil: ({ headers }) => ('sunset' in headers ? { headers: { ...headers, sunset: 'Sat, 01 Jan 2050 00:00:00 GMT' } } : {}),
    }),
    of('a version is deprecated from another day', {
      spoil: ({ headers }) => ('deprecation' in headers ? { headers: { ...headers, deprecation: '@1' } } : {}),
    }),
    of('a version leads elsewhere', {
      spoil: ({ headers }) =>
        'link' in headers ? { headers: { ...headers, link: '<https://elsewhere.example/>; rel="deprecation"' } } : {},
    }),
    ...members.map((name) =>
      of(`${name} is called so in every version`, {
        spoil: ({ text, headers }) => ('deprecation' in headers ? { text: text.replaceAll('"weight":', `"${name}":`) } : {}),
      }),
    ),
  ];
}
