import { kindOfScheme, type Scheme } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { error, type Rule } from '../subject/rule.ts';

/** How a proxy tells who has called it. */
export const certificateRules: readonly Rule[] = [
  error(
    'authentication/certificate-of-anyone',
    'A proxy tells the certificates of callers, and none is trusted, so that nobody can show one.',
    'State the addresses of the proxies that end TLS: `trust_proxies: [10.0.0.0/8]`, under limits.',
    ({ spec }) =>
      (statedValue(spec.limits.trustProxies) ?? []).length > 0
        ? []
        : toldByProxies(spec).map(({ at }) => ({ message: 'Nobody is trusted to tell them.', at, onKey: true })),
  ),
  error(
    'authentication/certificate-place',
    'A proxy tells a certificate in a header, and in nothing that its caller writes.',
    'Write `header: Client-Cert`.',
    ({ spec }) =>
      toldByProxies(spec).flatMap(({ at, in: place }) =>
        place === 'header' ? [] : [{ message: `No proxy writes it into a ${place}.`, at, onKey: true }],
      ),
  ),
];

function toldByProxies({ authentication }: Spec): Scheme[] {
  return entriesOf(authentication.schemes)
    .map(([, scheme]) => scheme)
    .filter((scheme) => {
      const proof = kindOfScheme(scheme)?.proof;
      return proof?.by === 'key' && proof.isToldByProxy;
    });
}
