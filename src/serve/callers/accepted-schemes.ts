import type { SchemeKind } from '../../kinds/schemes/kind.ts';
import { acceptedNames, acceptedSets, kindOfScheme, type Scheme, schemePrefix } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Call } from '../http/call.ts';
import { decodeFormText } from '../http/target.ts';

/** The schemes that a document states and accepts, and what their carriers mean to caches, to endpoints and to whoever notes a request down. */

/** A scheme that a document states and accepts, with what follows for it. */
export interface Accepted {
  readonly scheme: Scheme;
  readonly kind: SchemeKind;
  readonly in: Scheme['in'];
  /** The name of the header, query parameter or cookie. */
  readonly carrier: string;
  readonly prefix: string | undefined;
}

/** The schemes that a document accepts somewhere; one without a stated place for its credential is not accepted. */
export function acceptedSchemes(spec: Spec): Accepted[] {
  const accepted = acceptedNames(spec);
  return entriesOf(spec.authentication.schemes)
    .filter(([name]) => accepted.has(name))
    .flatMap(([, scheme]): Accepted[] => {
      const kind = kindOfScheme(scheme);
      const carrier = statedValue(scheme.carrier);
      if (!kind || carrier === undefined) return [];
      return [{ scheme, kind, in: scheme.in, carrier, prefix: schemePrefix(scheme) }];
    });
}

/** Why there are no means for a scheme here, where there are none. */
export function unsupportedBy(
  { scheme, kind }: Pick<Accepted, 'scheme' | 'kind'>,
  { signsAll }: { readonly signsAll?: boolean } = {},
): string | undefined {
  if (kind.proof === undefined)
    return `Credentials of the scheme "${scheme.name}" (${kind.word}) cannot be verified by this service.`;
  if (kind.proof.by === 'asking' && scheme.own.introspect === undefined)
    return `Nobody can be asked about tokens of the scheme "${scheme.name}".`;
  if (kind.proof.by === 'signing') {
    const lacking = kind.proof.lacks(scheme);
    return lacking && `Requests of the scheme "${scheme.name}" cannot be judged: the document does not state ${lacking}.`;
  }
  if (kind.proof.by !== 'token') return undefined;
  // A stand-in gives out tokens of its own where nobody else could.
  if (signsAll && scheme.jwks === undefined && scheme.secretEnv === undefined) return undefined;
  const hasKeys = scheme.jwks !== undefined || scheme.secretEnv !== undefined;
  if (hasKeys && (scheme.algorithms ?? []).length > 0) return undefined;
  return `Tokens of the scheme "${scheme.name}" cannot be verified: the document states no ${hasKeys ? 'algorithms' : 'keys'} for them.`;
}

/** The algorithms of tokens: those that are stated, else the one that this run signs with. */
export function algorithmsOf({ algorithms = [] }: Scheme, signsAll: boolean): readonly string[] {
  return algorithms.length === 0 && signsAll ? [ownAlgorithm] : algorithms;
}

const ownAlgorithm = 'ES256';

/** The headers that an answer depends on because they say who asks (RFC 9110 section 12.5.5); nothing where nobody is asked. */
export function varyByCredential(spec: Spec, operation: Operation): Readonly<Record<string, string>> | undefined {
  if (namesOperation(spec.authentication.public, operation)) return undefined;
  const accepted = new Set(acceptedSets(spec.authentication, operation.endpoint).flat());
  const names = acceptedSchemes(spec).flatMap((one) =>
    !accepted.has(one.scheme.name) ? [] : one.in === 'header' ? [one.carrier] : one.in === 'cookie' ? ['Cookie'] : [],
  );
  return names.length === 0 ? undefined : { vary: [...new Set(names)].join(', ') };
}

/** The query parameters that carry credentials; no endpoint needs to name them. */
export function credentialQueries(spec: Spec): string[] {
  return entriesOf(spec.authentication.schemes).flatMap(([, scheme]) => {
    const name = scheme.in === 'query' ? statedValue(scheme.carrier) : undefined;
    return name === undefined ? [] : [name];
  });
}

/** A call's target as it may be noted down: without the credentials in its query. */
export function compileTargets(spec: Spec): (call: Pick<Call, 'path' | 'query'>) => string {
  const names = new Set(credentialQueries(spec));
  const shown = (piece: string) => {
    const [name = ''] = piece.split('=', 1);
    return names.has(decodeFormText(name) ?? name) ? `${name}=…` : piece;
  };
  return ({ path, query }) => {
    if (query === '') return path;
    return `${path}?${names.size === 0 ? query : query.split('&').map(shown).join('&')}`;
  };
}

/** The schemes that some operation accepts by themselves; looked for once. */
export function schemesAlone(spec: Spec): ReadonlySet<string> {
  const known = alone.get(spec);
  if (known) return known;
  const sets = entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => acceptedSets(spec.authentication, endpoint));
  const names = new Set(sets.flatMap(([name, ...more]) => (name !== undefined && more.length === 0 ? [name] : [])));
  alone.set(spec, names);
  return names;
}

const alone = new WeakMap<Spec, ReadonlySet<string>>();
