import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { isToken } from '../../kinds/http-token.ts';
import { kindOfScheme, type Scheme } from '../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Deprecation, Version } from '../../parts/versioning.ts';
import { listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** The order of versions, and when what is given up is gone. */
export const dateRules: readonly Rule[] = [
  error(
    'versioning/two-current',
    'Two versions are said to be the current one.',
    'Keep `current: true` on the newest.',
    ({ spec }) => {
      const [first, ...others] = entriesOf(spec.versioning.versions).filter(([, { current }]) => current);
      return others.map(([name, { at }]) => ({
        message: `\`${first?.[0]}\` and \`${name}\` cannot both be current.`,
        at: below(at, 'current'),
        ...(first && { also: [{ message: 'The other one.', at: below(first[1].at, 'current') }] }),
      }));
    },
  ),
  warning(
    'versioning/no-current',
    'No version is said to be the current one.',
    'Add `current: true` to the newest.',
    ({ spec, names }) => {
      const { versions } = spec.versioning;
      const all = entriesOf(versions);
      if (!names.versions.closed || all.length === 0 || all.some(([, { current }]) => current)) return [];
      return [{ message: 'None of these versions is current.', at: versions.at, onKey: true }];
    },
  ),
  error(
    'versioning/order',
    'The order of the versions contradicts their names or dates.',
    'List the oldest first and the current one last.',
    ({ spec }) => outOfOrder(entriesOf(spec.versioning.versions).map(([, version]) => version)),
  ),
  error('versioning/not-a-date', 'A date of a deprecation is no date.', 'Write `2026-06-01`, or a date with a time.', (subject) =>
    deprecationsOf(subject).flatMap((deprecation) =>
      (['deprecated', 'sunset'] as const)
        .filter(
          (word) => deprecation[word] !== undefined && deprecation[word] !== 'true' && dateMs(deprecation[word]) === undefined,
        )
        .map((word) => ({ message: `\`${deprecation[word]}\` is no date.`, at: below(deprecation.at, word) })),
    ),
  ),
  error(
    'versioning/sunset-before-deprecated',
    'Something is gone before it is deprecated.',
    'Write a `sunset` that is not before `deprecated`.',
    (subject) =>
      deprecationsOf(subject).flatMap(({ at, deprecated, sunset }) => {
        const [from, to] = [dateMs(deprecated), dateMs(sunset)];
        if (from === undefined || to === undefined || to >= from) return [];
        return [{ message: `It is gone on ${sunset}, and deprecated on ${deprecated}.`, at: below(at, 'sunset') }];
      }),
  ),
  error(
    'versioning/unknown-version',
    'A version is named that is not stated.',
    'Write the name of a stated version.',
    ({ spec, names }) => [
      ...entriesOf(spec.versioning.versions).flatMap(([, { deprecation }]) => {
        const { at, alternative } = statedValue(deprecation) ?? {};
        const isName = alternative !== undefined && !/[\s/:]/.test(alternative);
        return at !== undefined && isName ? unstated(names.versions, alternative, below(at, 'alternative')) : [];
      }),
      ...entriesOf(spec.versioning.changes).flatMap(([name]) =>
        unstated(names.versions, name, below(spec.versioning.changes.at, name), { onKey: true }),
      ),
    ],
  ),
  error(
    'versioning/own-alternative',
    'A version is to be replaced by itself.',
    'Name another version under `alternative`.',
    ({ spec }) =>
      entriesOf(spec.versioning.versions)
        .filter(([name, { deprecation }]) => statedValue(deprecation)?.alternative === name)
        .map(([name, { at }]) => ({ message: `\`${name}\` cannot stand in for itself.`, at: below(at, 'alternative') })),
  ),
];

/** Every deprecation: of versions, endpoints, parameters and fields. */
function deprecationsOf({ spec, endpoints, resources }: Subject): Deprecation[] {
  return [
    ...entriesOf(spec.versioning.versions).flatMap(([, { deprecation }]) => statedValue(deprecation) ?? []),
    ...[...resources.values()].flatMap(({ fields }) => entriesOf(fields).flatMap(([, { deprecated }]) => deprecated ?? [])),
    ...endpoints.flatMap(({ deprecated, parameters }) => [
      ...(deprecated ? [deprecated] : []),
      ...entriesOf(parameters).flatMap(([, parameter]) => parameter.deprecated ?? []),
    ]),
  ];
}

function outOfOrder(versions: readonly Version[]): Wrong[] {
  const wrongs: Wrong[] = [];
  const isOneCurrent = versions.filter(({ current }) => current).length === 1;
  for (const [index, version] of versions.entries()) {
    const before = versions[index - 1];
    if (before && isAfter(before.name, version.name)) {
      const also = [{ message: 'This one stands before it.', at: `${before.at}#` }];
      wrongs.push({
        message: `\`${version.name}\` stands after \`${before.name}\`, and is older.`,
        at: version.at,
        onKey: true,
        also,
      });
    }
    const last = versions.at(-1);
    if (isOneCurrent && version.current && last && last !== version) {
      const also = [{ message: 'This one stands last.', at: `${last.at}#` }];
      wrongs.push({ message: `\`${version.name}\` is current, and is not the last.`, at: below(version.at, 'current'), also });
    }
    const deprecation = statedValue(version.deprecation);
    for (const word of ['deprecated', 'sunset'] as const) {
      const [born, over] = [dateMs(version.name), dateMs(deprecation?.[word])];
      if (born === undefined || over === undefined || over >= born) continue;
      const what = word === 'sunset' ? 'gone' : 'deprecated';
      wrongs.push({
        message: `\`${version.name}\` is ${what} on ${deprecation?.[word]}, before it is there.`,
        at: below(version.at, word),
      });
    }
  }
  return wrongs;
}

/** Names that are dates, or numbers such as `v2.1`, have an order of their own; others have none. */
function isAfter(a: string, b: string): boolean {
  const [left, right] = [dateMs(a), dateMs(b)];
  if (left !== undefined && right !== undefined) return left > right;
  const [one, other] = [numbersOf(a), numbersOf(b)];
  if (!one || !other) return false;
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

function numbersOf(name: string): number[] | undefined {
  return /^v?\d+(?:\.\d+)*$/i.test(name) ? name.replace(/^v/i, '').split('.').map(Number) : undefined;
}

/** A date (RFC 3339), with or without a time; also a month. */
function dateMs(text: string | undefined): number | undefined {
  if (
    text === undefined ||
    !/^\d{4}-\d{2}(?:-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?)?$/.test(text)
  )
    return undefined;
  const ms = Date.parse(text.replace(' ', 'T'));
  if (Number.isNaN(ms)) return undefined;
  const day = Number(text.slice(8, 10) || 1);
  return day <= new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate() ? ms : undefined;
}

/** How a request chooses its version. */
export const selectionRules: readonly Rule[] = [
  error(
    'versioning/path-template',
    'The path by which a version is chosen has no `{version}` in it.',
    'Write `path: "/{version}"`.',
    ({ spec }) => {
      const select = statedValue(spec.versioning.select);
      if (select?.by !== 'path' || select.carrier.includes('{version}')) return [];
      return [{ message: `\`${select.carrier}\` is the same for every version.`, at: below(select.at, 'path') }];
    },
  ),
  error(
    'versioning/path-twice',
    'The version stands in the base address, and is chosen by a path after it.',
    'Take it out of `base_url`; `select` adds it to the path.',
    ({ spec }) => {
      if (statedValue(spec.versioning.select)?.by !== 'path') return [];
      const { baseUrls } = spec.purpose;
      return (statedValue(baseUrls) ?? [])
        .filter((url) => url.includes('{version}'))
        .map((url) => ({
          message: `\`${url}\` holds the version already, so no address has it where clients write it.`,
          at: baseUrls.at,
        }));
    },
  ),
  error(
    'versioning/two-selections',
    'A version is chosen in two ways, and nothing says which one counts.',
    'Keep one of header, path and query.',
    ({ spec }) => {
      const { select } = spec.versioning;
      const written = isStated(select) ? valueAt(spec.document.tree, select.at) : undefined;
      const ways = ['header', 'path', 'query'].filter((word) => isMap(written) && Object.hasOwn(written, word));
      return ways.length < 2
        ? []
        : [{ message: `${listed(ways)} all choose the version.`, at: below(select.at, ways[1] as string), onKey: true }];
    },
  ),
  error(
    'versioning/pinned-without-keys',
    "A version is pinned by a key's first call, and no scheme has keys.",
    'State a scheme of type api_key, or another `default`.',
    ({ spec }) => {
      const select = statedValue(spec.versioning.select);
      const { schemes } = spec.authentication;
      const isKnown = isStated(schemes) || schemes.standing === 'none';
      if (select?.default !== 'pinned' || !isKnown || entriesOf(schemes).some(([, scheme]) => mayHaveKeys(scheme))) return [];
      return [{ message: 'There are no keys that a version could be pinned to.', at: below(select.at, 'default') }];
    },
  ),
  error(
    'versioning/header',
    'The header that chooses a version is no header name.',
    'Write letters, digits and hyphens: `Parcels-Version`.',
    ({ spec }) => {
      const select = statedValue(spec.versioning.select);
      if (select?.by !== 'header' || isToken(select.carrier)) return [];
      return [{ message: `\`${select.carrier}\` is no header name.`, at: below(select.at, 'header') }];
    },
  ),
];

/** Whether keys are given out for a scheme, as far as its kind is known. */
function mayHaveKeys(scheme: Scheme): boolean {
  const kind = kindOfScheme(scheme);
  return kind === undefined || kind.proof?.by === 'key' || kind.proof?.by === 'signing';
}
