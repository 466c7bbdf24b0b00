import { acceptedSets } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Call } from '../http/call.ts';
import { decodeFormText } from '../http/target.ts';
import { acceptedSchemes } from './accepted-schemes.ts';

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
