import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { schemeKinds } from '../../kinds/schemes/all.ts';
import type { SchemeKind } from '../../kinds/schemes/kind.ts';
import { kindOfScheme, type Scheme } from '../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { listed } from '../subject/names.ts';
import { namedTwice } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';
import { problemsWith } from './schemes.ts';

/** What stands beside the type of a scheme, and what a signature is over. */
export const schemeWordRules: readonly Rule[] = [
  error(
    'authentication/scheme-word',
    'A word of a scheme says something of schemes of another type, so that nothing keeps what it says.',
    'Take the word out, or write the type that it belongs to.',
    (subject) => eachScheme(subject, (scheme) => strangeWords(subject, scheme)),
  ),
  warning(
    'authentication/algorithm-twice',
    'The algorithms of a scheme name one of them twice.',
    'Keep one of the two.',
    (subject) =>
      eachScheme(subject, ({ at, algorithms = [] }) =>
        namedTwice(subject, below(at, 'algorithms'), algorithms, 'The algorithm '),
      ),
  ),
  warning(
    'authentication/signs-little',
    'A signature covers neither the method of a request nor its body, so that whoever sees one can send another request with it.',
    'Let it cover the method, and the body where there is one: `signs: "{method}{target}{timestamp}{body}"`, or `covers: ["@method", "@target-uri", "content-digest"]`.',
    (subject) => eachScheme(subject, (scheme) => problemsWith(subject, scheme, 'authentication/signs-little')),
  ),
];

function eachScheme({ spec }: Subject, find: (scheme: Scheme) => readonly Wrong[]): Wrong[] {
  return entriesOf(spec.authentication.schemes).flatMap(([, scheme]) => find(scheme));
}

const kinds: readonly SchemeKind[] = schemeKinds;

/** Words that belong to other types than the stated one; a word of every scheme belongs to none. */
function strangeWords({ spec }: Subject, scheme: Scheme): Wrong[] {
  const kind = kindOfScheme(scheme);
  const written = valueAt(spec.document.tree, scheme.at);
  if (!kind || !isMap(written)) return [];
  return Object.keys(written).flatMap((word): readonly Wrong[] => {
    const others = kinds.filter(({ members }) => Object.hasOwn(members, word));
    // What credentials look like is said of every type for which no standard says it.
    const isOfForm = word === 'generate' && !kind.hasStandardForm;
    if (others.length === 0 || others.includes(kind) || isOfForm) return [];
    return [
      {
        message: `\`${word}\` says nothing of the type \`${kind.word}\`.`,
        remedy: `Take it out, or write \`type: ${others[0]?.word}\`${others.length > 1 ? `: it is a word of ${listed(others.map((one) => one.word))}` : ''}.`,
        at: below(scheme.at, word),
        onKey: true,
      },
    ];
  });
}

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
