/** Alterations of refusals, of limits, and of what versions are told. */
import { entriesOf, statedValue } from '../../src/parts/fact.ts';
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
  const isOf = (passing: Passing, code: string): boolean => passing.status >= 400 && passing.text.includes(`"${code}"`);
  return [
    ...codes.flatMap(([code]) => [
      of(`another status: ${code}`, (passing) => (isOf(passing, code) ? { status: passing.status === 400 ? 422 : 400 } : {})),
      of(`another code: ${code}`, (passing) =>
        isOf(passing, code) ? { text: passing.text.replaceAll(`"${code}"`, '"other_code"') } : {},
      ),
      of(`it is a success: ${code}`, (passing) => (isOf(passing, code) ? { status: 200 } : {})),
    ]),
    ...['type', 'title', 'status', 'code'].map((member) =>
      refused(`${member} is left out`, (body) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== member))),
    ),
    refused('the status in the body is another', (body) => ({ ...body, status: 499 })),
    refused('the inside is told', (body) => ({
      ...body,
      detail: 'TypeError: x is undefined\n    at handle (/srv/app/lib/handle.js:12:7)',
    })),
    of('it is no problem document', (passing) =>
      passing.status >= 400 ? { headers: { ...passing.headers, 'content-type': 'application/json' } } : {},
    ),
    of('it is a page for people', (passing) =>
      passing.status >= 400 ? { headers: { ...passing.headers, 'content-type': 'text/html' }, text: '<h1>Sorry</h1>' } : {},
    ),
  ];
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
