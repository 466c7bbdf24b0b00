import type { Authentication, SchemeSet } from './authentication.ts';
import type { Endpoint } from './endpoints.ts';
import { entriesOf } from './fact.ts';
import type { Spec } from './spec.ts';

/** What callers may show at an endpoint: all of one of these sets. Without words of its own that is what the document accepts, else each stated scheme alone. */
export function acceptedSets(authentication: Authentication, endpoint?: Pick<Endpoint, 'accept'>): readonly SchemeSet[] {
  return endpoint?.accept ?? authentication.accept ?? entriesOf(authentication.schemes).map(([name]) => [name]);
}

const namesBySpec = new WeakMap<Spec, ReadonlySet<string>>();

/** The schemes that are accepted somewhere: by the document as a whole, or at one of its endpoints. */
export function acceptedNames(spec: Spec): ReadonlySet<string> {
  const known = namesBySpec.get(spec);
  if (known) return known;
  const own = entriesOf(spec.endpoints.all).flatMap(([, { accept }]) => accept ?? []);
  const names = new Set([...acceptedSets(spec.authentication), ...own].flat());
  namesBySpec.set(spec, names);
  return names;
}
