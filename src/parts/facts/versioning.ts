import { isStated } from '../fact.ts';
import type { Spec } from '../spec.ts';
import { historyOf } from '../versions/history.ts';
import { type FactInstance, type FactKind, instance } from './kind.ts';

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
