/** The facts of how a service deals with its callers: who may call, what they are told, refused and allowed, and what changes for them: parts 5 to 9. */

import { kindOfScheme, type Scheme } from '../authentication.ts';
import { isNarrow } from '../conditions.ts';
import type { EventKind } from '../events.ts';
import { type Fact, isStated, statedValue } from '../fact.ts';
import type { Limits } from '../limits.ts';
import { callableOperations, namesOperation } from '../operations.ts';
import { arisingConditions, isGivenInParts } from '../possible-errors.ts';
import type { Spec } from '../spec.ts';
import { historyOf } from '../versions/carry.ts';
import { type FactInstance, type FactKind, instance, stated } from './kind.ts';

/** Schemes once; placeholders, header names and token formats per scheme; permission rules per operation that is not public. */
export const authenticationFacts: readonly FactKind[] = [
  {
    part: 'authentication',
    kind: 'schemes',
    arises: (spec) => [instance('service', spec.authentication.schemes)],
    whenOpen:
      'With permissions stated, every operation that is not public answers 501; else serving goes on, on a loopback address only.',
  },
  {
    part: 'authentication',
    kind: 'credential placeholders',
    arises: (spec) => perScheme(spec, (scheme) => instance(scheme.name, scheme.placeholder)),
    whenOpen: 'Nothing: examples show none.',
  },
  {
    part: 'authentication',
    kind: 'header names',
    arises: (spec) => perScheme(spec, (scheme) => instance(scheme.name, scheme.carrier)),
    whenOpen: 'The scheme is not accepted.',
  },
  {
    part: 'authentication',
    kind: 'token formats',
    arises: (spec) => perScheme(spec, tokenFormat),
    whenOpen: 'Keys are made of 32 random characters.',
  },
  {
    part: 'authentication',
    kind: 'permission rules',
    arises: permissionRules,
    whenOpen: 'Where schemes are stated, every operation that is not public answers 501.',
  },
];

function perScheme(spec: Spec, arise: (scheme: Scheme) => FactInstance): FactInstance[] {
  const { schemes } = spec.authentication;
  if (isStated(schemes)) return Object.values(schemes.value).map(arise);
  return schemes.standing === 'none' ? [] : [instance('service', schemes)];
}

/** A JWT, a basic credential and an OAuth token have the form of their standard; a key has the one that `generate` says. */
function tokenFormat(scheme: Scheme): FactInstance {
  const at = `${scheme.at}/generate`;
  if (kindOfScheme(scheme)?.hasStandardForm) return stated(scheme.name, scheme.at);
  return scheme.generate !== undefined ? stated(scheme.name, at) : { subject: scheme.name, at, standing: 'open' };
}

function permissionRules(spec: Spec): FactInstance[] {
  const { permissions } = spec.authentication;
  if (!isStated(spec.endpoints.all)) return spec.endpoints.all.standing === 'none' ? [] : [instance('service', permissions)];
  const guarded = callableOperations(spec).filter((operation) => !namesOperation(spec.authentication.public, operation));
  return guarded.map((operation) => instance(operation.name, permissions));
}

const noEvents = 'Nothing: no events are sent.';

/** Kinds of event and the delivery mechanism once each; payload shapes and emitting operations per kind. */
export const eventFacts: readonly FactKind[] = [
  {
    part: 'events',
    kind: 'kinds of event',
    arises: ({ events }) => [instance('service', events.kinds), ...(events.others ? [instance('others', events.others)] : [])],
    whenOpen: noEvents,
  },
  {
    part: 'events',
    kind: 'delivery mechanism',
    arises: ({ events }) => [instance('service', events.delivery)],
    whenOpen: noEvents,
  },
  {
    part: 'events',
    kind: 'payload shapes',
    arises: (spec) => perKind(spec, (kind) => instance(kind.name, kind.payload)),
    whenOpen: noEvents,
  },
  {
    part: 'events',
    kind: 'emitting operations',
    arises: (spec) => perKind(spec, (kind) => instance(kind.name, kind.on)),
    whenOpen: noEvents,
  },
];

function perKind(spec: Spec, arise: (kind: EventKind) => FactInstance): FactInstance[] {
  const { kinds } = spec.events;
  if (isStated(kinds)) return Object.values(kinds.value).map(arise);
  return kinds.standing === 'none' ? [] : [instance('service', kinds)];
}

/** Codes and payload once each; status per code; conditions per code, and per condition that can arise and has no code. */
export const errorFacts: readonly FactKind[] = [
  {
    part: 'errors',
    kind: 'error codes',
    arises: ({ errors }) => [instance('service', errors.codes), ...(errors.others ? [instance('others', errors.others)] : [])],
    whenOpen: "Refusals carry HTTP's own status and no code, and name the open fact.",
  },
  {
    part: 'errors',
    kind: 'status codes',
    arises: statusCodes,
    whenOpen: "The refusal carries HTTP's own status, and names the open fact.",
  },
  {
    part: 'errors',
    kind: 'error payload shapes',
    arises: ({ errors }) => [instance('service', errors.payload)],
    whenOpen: 'Refusals carry an RFC 9457 problem that names the open fact.',
  },
  {
    part: 'errors',
    kind: 'conditions',
    arises: conditions,
    whenOpen: "The refusal is certain: it carries HTTP's own status and no code, and names the open fact.",
  },
];

function statusCodes(spec: Spec): FactInstance[] {
  const { codes } = spec.errors;
  if (!isStated(codes)) return codes.standing === 'none' ? [] : [instance('service', codes)];
  return Object.values(codes.value).flatMap((code) => code.rules.map((rule) => instance(code.name, rule.status)));
}

function conditions(spec: Spec): FactInstance[] {
  const { codes } = spec.errors;
  if (!isStated(codes)) return codes.standing === 'none' ? [] : [instance('service', codes)];
  const named = new Set(
    Object.values(codes.value).flatMap((code) => code.rules.flatMap((rule) => (isStated(rule.when) ? rule.when.value : []))),
  );
  const perCode = Object.values(codes.value).map((code) => stated(code.name, code.at));
  const settled = spec.errors.conditions;
  const unanswered = arisingConditions(spec).filter(
    (condition) =>
      !named.has(condition) &&
      !isNarrow(condition) &&
      !Object.hasOwn(settled, condition) &&
      !isGivenInParts(spec, condition, named),
  );
  return [
    ...perCode,
    // Nobody has to say in which order it is refused.
    ...(spec.errors.order.standing === 'open' && spec.errors.order.question === undefined
      ? []
      : [instance('order', spec.errors.order)]),
    ...Object.entries(settled).map(([condition, standing]) => instance(condition, standing)),
    ...unanswered.map((condition): FactInstance => ({ subject: condition, at: codes.at, standing: 'open' })),
  ];
}

const unlimited = 'Nothing: there is no such limit but those that protect the process, printed at start.';

/** Rates, sizes, time-outs and quotas once each, quotas of rows per limit of them, and requests at once; pagination bounds per list. */
export const limitFacts: readonly FactKind[] = [
  {
    part: 'limits',
    kind: 'rate limits',
    arises: ({ limits }) => [
      instance('service', limits.rate),
      ...(isStated(limits.atOnce) ? [stated('at once', limits.atOnce.at)] : []),
    ],
    whenOpen: unlimited,
  },
  once('size limits', (limits) => limits.size),
  once('time-outs', (limits) => limits.timeout),
  {
    part: 'limits',
    kind: 'pagination bounds',
    arises: paginationBounds,
    whenOpen: 'A list of more than 100 rows answers 501; a shorter one is a bare array.',
  },
  {
    part: 'limits',
    kind: 'quotas',
    arises: ({ limits }) => [
      instance('service', limits.quota),
      ...(statedValue(limits.rows) ?? []).map(({ of, at }) => stated(`rows of ${of}`, at)),
    ],
    whenOpen: unlimited,
  },
];

function once(kind: string, pick: (limits: Limits) => Fact<unknown>): FactKind {
  return { part: 'limits', kind, arises: (spec) => [instance('service', pick(spec.limits))], whenOpen: unlimited };
}

function paginationBounds(spec: Spec): FactInstance[] {
  const { all } = spec.endpoints;
  if (!isStated(all)) return all.standing === 'none' ? [] : [instance('service', spec.limits.pagination)];
  const lists = Object.values(all.value).filter((endpoint) => statedValue(endpoint.does)?.verb === 'list');
  return lists.map((endpoint) => instance(endpoint.key, endpoint.pagination ?? spec.limits.pagination));
}

const unversioned = 'Nothing: one version without a name is served.';

/** Identifiers, selection and guarantees once each, identifiers again for each version that does not say what it changed; deprecation rules per version. */
export const versioningFacts: readonly FactKind[] = [
  {
    part: 'versioning',
    kind: 'version identifiers',
    arises: (spec) => [
      instance('service', spec.versioning.versions),
      ...(spec.versioning.others ? [instance('others', spec.versioning.others)] : []),
      ...openChanges(spec),
    ],
    whenOpen: `${unversioned} What a listed version changed: requests in older versions answer 501.`,
  },
  {
    part: 'versioning',
    kind: 'version selection',
    arises: ({ versioning }) => [instance('service', versioning.select)],
    whenOpen: unversioned,
  },
  { part: 'versioning', kind: 'deprecation rules', arises: deprecationRules, whenOpen: 'Nothing: no deprecation is announced.' },
  {
    part: 'versioning',
    kind: 'compatibility guarantees',
    arises: ({ versioning }) => [
      versioning.versions.standing === 'none' && versioning.guarantee.standing === 'open'
        ? instance('service', versioning.versions)
        : instance('service', versioning.guarantee),
    ],
    whenOpen: 'Nothing: it is a promise about later documents.',
  },
];

function deprecationRules(spec: Spec): FactInstance[] {
  const { versions } = spec.versioning;
  if (!isStated(versions)) return versions.standing === 'none' ? [] : [instance('service', versions)];
  return Object.values(versions.value).map((version) => instance(version.name, version.deprecation));
}

/** Versions that changed nobody knows what, without which those before them cannot be served. */
function openChanges(spec: Spec): FactInstance[] {
  const history = historyOf(spec);
  const oldest = history?.versions[0]?.name;
  return oldest === undefined || !history
    ? []
    : history.openAbove(oldest).map(({ version, at, question }) => ({
        subject: `changes of ${version}`,
        at,
        standing: 'open',
        ...(question !== undefined && { question }),
      }));
}
