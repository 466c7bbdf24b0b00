import { below } from '../document/pointer.ts';
import { valueAt } from '../document/source.ts';
import { isMap, isStanding } from '../document/values.ts';
import { isToken } from '../kinds/http-token.ts';
import { rateKind } from '../kinds/limits/all.ts';
import { sizeBytes } from '../kinds/measures.ts';
import { isCallerKnown } from '../parts/expressions/operation-scope.ts';
import { statedValue } from '../parts/fact.ts';
import type { AtOnce, LimitScope, Quota, Rate } from '../parts/limits.ts';
import { callableOperations, namesOperation } from '../parts/operations.ts';
import { pagesRules, rowLimitRules } from './pages.ts';
import { notADuration } from './subject/data.ts';
import { isZone, unstated } from './subject/names.ts';
import { itemPlace, unknownOperations } from './subject/operation-names.ts';
import { error, problemsOf, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** Limits: what they count, and how much is nothing. */
export const limitsRules: readonly Rule[] = [
  error(
    'limits/unknown-operation',
    'A limit counts an operation that is not there.',
    "Write the operation's name, or bind an endpoint to it.",
    (subject) =>
      eachLimit(subject, (limit) => [
        ...(limit.on ? unknownOperations(subject, limit.on, below(limit.at, 'on')) : []),
        ...('cost' in limit
          ? Object.keys(limit.cost).flatMap((name) =>
              unknownOperations(subject, [name], below(below(limit.at, 'cost'), name)).map((wrong) => ({
                ...wrong,
                onKey: true,
              })),
            )
          : []),
      ]),
  ),
  error(
    'limits/unknown-user',
    'A limit is for a user that is not stated.',
    'Write the name of a user, or state the user under `purpose.users`.',
    (subject) =>
      eachLimit(subject, ({ at, to = [] }) =>
        to.flatMap((user, index) =>
          user === 'anyone' ? [] : unstated(subject.names.users, user, itemPlace(subject, below(at, 'to'), to, index)),
        ),
      ),
  ),
  error(
    'limits/duration',
    'A window or a time-out is no duration.',
    'Write a number and a unit: `1m`, `30s`, `24h`.',
    (subject) => {
      const { limits } = subject.spec;
      return [
        ...(statedValue(limits.rate) ?? []).flatMap(({ at }) => notADuration(subject, below(at, 'window'))),
        ...['request', 'idle'].flatMap((word) => notADuration(subject, below(limits.timeout.at, word), 'or none')),
      ];
    },
  ),
  error(
    'limits/header',
    'A header field that tells of a rate has a name that there is not, or two of them have one.',
    'Write a name of letters, digits and hyphens for each.',
    ({ spec: { limits } }) => {
      const { limit, remaining, reset } = statedValue(limits.headers) ?? {};
      const words = { limit, remaining, reset: reset?.name };
      const named = Object.entries(words).flatMap(([word, name]) => (name === undefined ? [] : [[word, name] as const]));
      return named.flatMap(([word, name], index) => {
        const at = below(limits.headers.at, word);
        if (!isToken(name)) return [{ message: `\`${name}\` is no header name.`, at }];
        const isTwice = named.slice(0, index).some(([, other]) => other.toLowerCase() === name.toLowerCase());
        return isTwice ? [{ message: `\`${name}\` tells something else already.`, at }] : [];
      });
    },
  ),
  error('limits/size', 'A size is no number of bytes.', 'Write a number and a unit: `64KiB`, `5MiB`, `512`.', (subject) =>
    eachSize(subject, (text, at) => (sizeBytes(text) === undefined ? [{ message: `\`${text}\` is no size.`, at }] : [])),
  ),
  error(
    'limits/calendar',
    'A quota counts over something that is no calendar window, or in a time zone that there is not.',
    'Write hour, day, week, month or year, and a zone such as `UTC` or `Europe/Amsterdam`.',
    ({ spec }) =>
      (statedValue(spec.limits.quota) ?? []).flatMap(({ at, window, zone }) => [
        ...(window === '' || windows.has(window)
          ? []
          : [{ message: `\`${window}\` is no calendar window.`, at: below(at, 'window') }]),
        ...(isZone(zone) ? [] : [{ message: `\`${zone}\` is no time zone.`, at: below(at, 'zone') }]),
      ]),
  ),
  error(
    'limits/incomplete',
    'A rate or a quota does not say how many, or over which time.',
    'State both `limit` and `window`.',
    (subject) =>
      eachLimit(subject, ({ at }) =>
        (at.startsWith(subject.spec.limits.atOnce.at) ? ['limit'] : ['limit', 'window'])
          .filter(
            (word) =>
              isMap(valueAt(subject.spec.document.tree, at)) &&
              valueAt(subject.spec.document.tree, below(at, word)) === undefined,
          )
          .map((word) => ({ message: `There is no \`${word}\` here.`, at })),
      ),
  ),
  warning(
    'limits/of-nothing',
    'A limit of nothing lets no request through.',
    'Write how much is allowed; to allow nothing, take the endpoint out.',
    ofNothing,
  ),
  error(
    'limits/burst',
    'A bucket is smaller than what one request takes from it, so that request never passes.',
    'Write a `burst` that is at least the greatest `cost`, or take the cost down.',
    ({ spec }) =>
      (statedValue(spec.limits.rate) ?? []).flatMap((rate) => {
        const { at, kind, cost } = rate;
        const capacity = rateKind(kind).capacity(rate);
        const [name, most = 1] = Object.entries(cost).toSorted(([, a], [, b]) => b - a)[0] ?? [];
        if (name === undefined || !(capacity > 0) || most <= capacity) return [];
        return [
          {
            message: `\`${name}\` costs ${most}, and there are never more than ${capacity}.`,
            at: below(below(at, 'cost'), name),
          },
        ];
      }),
  ),
  warning(
    'limits/idle-burst',
    '`burst` stands on a rate that is no bucket, or is less than its limit.',
    'Add `kind: bucket`, and write a capacity of at least one; or take `burst` out.',
    ({ spec }) =>
      (statedValue(spec.limits.rate) ?? []).flatMap(({ at, kind, own }) => {
        const { noun, members } = rateKind(kind);
        return Object.keys(own)
          .filter((word) => !Object.hasOwn(members, word))
          .map((word) => ({ message: `A ${noun} has no ${word}.`, at: below(at, word) }));
      }),
  ),
  warning(
    'limits/file-above-body',
    'A file may be larger than the body that it comes in.',
    'Write a `body` of at least the size of a `file`.',
    ({ spec }) => {
      const { body, file } = statedValue(spec.limits.size) ?? {};
      if (body === undefined || file === undefined || file <= body) return [];
      return [{ message: `A file of ${file} bytes never fits into a body of ${body}.`, at: below(spec.limits.size.at, 'file') }];
    },
  ),
  error(
    'limits/before-credentials',
    'A rate is to be counted before it is known who calls, and counts callers, users or one user alone.',
    'Take `before` out: rates per address are always counted before, and only those for everyone have the choice.',
    ({ spec }) =>
      (statedValue(spec.limits.rate) ?? []).flatMap(({ at, per, to, if: condition, isBeforeCredentials }) =>
        isBeforeCredentials && (to !== undefined || condition || (per !== 'everyone' && per !== 'address'))
          ? [{ message: 'Before credentials are looked at nobody knows who calls.', at: below(at, 'before') }]
          : [],
      ),
  ),
  warning(
    'limits/nobody',
    'A limit is for whoever shows no credential, and whatever it counts asks for one.',
    'Take `to` out, write a user, or let `anyone` in by a permission.',
    (subject) => eachLimit(subject, (limit) => (isForNobody(subject, limit) ? [nobody(subject, limit)] : [])),
  ),
  error('limits/proxy', 'A trusted proxy is no address.', 'Write an IP address or a range: `10.0.0.0/8`.', (subject) => {
    const { trustProxies } = subject.spec.limits;
    const list = statedValue(trustProxies) ?? [];
    return list.flatMap((word, index) =>
      isAddress(word) ? [] : [{ message: `\`${word}\` is no IP address.`, at: itemPlace(subject, trustProxies.at, list, index) }],
    );
  }),
  ...pagesRules,
  ...rowLimitRules,
];

/** Whether a limit is for those alone who show no credential, and none of its operations goes on without. */
function isForNobody({ spec, names }: Subject, { to = [], on }: LimitScope): boolean {
  if (!names.operations.closed || to.length === 0 || to.some((user) => user !== 'anyone')) return false;
  const counted = callableOperations(spec).filter((operation) => on === undefined || namesOperation(on, operation));
  return counted.length > 0 && counted.every((operation) => isCallerKnown(spec, operation));
}

function nobody(subject: Subject, { at, to = [] }: Rate | Quota | AtOnce): Wrong {
  return { message: 'Nobody is counted by it.', at: itemPlace(subject, below(at, 'to'), to, 0) };
}

const windows: ReadonlySet<string> = new Set(['hour', 'day', 'week', 'month', 'year']);

function eachLimit({ spec: { limits } }: Subject, find: (limit: Rate | Quota | AtOnce) => readonly Wrong[]): Wrong[] {
  const all = [limits.rate, limits.quota, limits.atOnce].flatMap(
    (one): readonly (Rate | Quota | AtOnce)[] => statedValue<readonly (Rate | Quota | AtOnce)[]>(one) ?? [],
  );
  return all.flatMap(find);
}

function eachSize({ spec }: Subject, find: (text: string, at: string) => readonly Wrong[]): Wrong[] {
  const { size } = spec.limits;
  return ['body', 'url', 'headers', 'file'].flatMap((word) => {
    const at = below(size.at, word);
    const value = valueAt(spec.document.tree, at);
    if (value === undefined || isMap(value) || isStanding(value) || value === 'none') return [];
    return find(typeof value === 'string' ? value : JSON.stringify(value), at);
  });
}

function ofNothing(subject: Subject): Wrong[] {
  const { limits } = subject.spec;
  const timeouts = statedValue(limits.timeout);
  const rates = statedValue(limits.rate) ?? [];
  const nothing = (at: string): Wrong[] => [{ message: 'This is nothing.', at }];
  return [
    ...eachLimit(subject, (limit) => [
      ...(limit.limit === 0 ? [{ message: 'Nothing is ever let through.', at: below(limit.at, 'limit') }] : []),
      ...('windowMs' in limit && limit.windowMs === 0
        ? [{ message: 'A window of nothing counts nothing.', at: below(limit.at, 'window') }]
        : []),
    ]),
    ...rates.flatMap(({ at, uncounted = [] }) =>
      uncounted.flatMap((status, index) =>
        status === '2XX' ? [{ message: 'What succeeds counts nothing then.', at: below(below(at, 'uncounted'), index) }] : [],
      ),
    ),
    ...rates.flatMap((rate) => problemsOf(rateKind(rate.kind).problems(rate), rate.at, 'limits/of-nothing')),
    ...eachSize(subject, (text, at) => (sizeBytes(text) === 0 ? nothing(at) : [])),
    ...(timeouts?.requestMs === 0 ? nothing(below(limits.timeout.at, 'request')) : []),
    ...(timeouts?.idleMs === 0 ? nothing(below(limits.timeout.at, 'idle')) : []),
  ];
}

function isAddress(word: string): boolean {
  const [address = '', bits] = word.split('/');
  const isV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(address);
  const isV6 = address.includes(':') && URL.canParse(`http://[${address}]/`);
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= (isV6 ? 128 : 32))) return false;
  return isV4 || isV6;
}
