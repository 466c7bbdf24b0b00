import { kindOfScheme, type Scheme } from '../authentication.ts';
import { isStated } from '../fact.ts';
import { callableOperations, namesOperation } from '../operations.ts';
import type { Spec } from '../spec.ts';
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
