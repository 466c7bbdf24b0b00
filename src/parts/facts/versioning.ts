import { isStated } from '../fact.ts';
import type { Spec } from '../spec.ts';
import { type FactInstance, type FactKind, instance } from './kind.ts';

const unversioned = 'Nothing: one version without a name is served.';

/** Identifiers, selection and guarantees once each; deprecation rules per version. */
export const versioningFacts: readonly FactKind[] = [
  {
    part: 'versioning',
    kind: 'version identifiers',
    arises: ({ versioning }) => [
      instance('service', versioning.versions),
      ...(versioning.others ? [instance('others', versioning.others)] : []),
    ],
    whenOpen: unversioned,
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
