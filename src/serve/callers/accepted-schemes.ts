import type { SchemeKind } from '../../kinds/schemes/kind.ts';
import { acceptedNames, kindOfScheme, type Scheme, schemePrefix } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';

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
