import { nearest } from '../../document/nearest.ts';
import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { kindOfScheme, type Scheme } from '../../parts/authentication.ts';
import { itemPlace } from '../operation-names.ts';
import { problemsOf } from '../problems.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../rule.ts';
import { eachScheme } from './schemes.ts';

/** What tokens are verified with (RFC 7515, RFC 7518). */
export const tokenRules: readonly Rule[] = [
  error(
    'authentication/unverifiable-token',
    'A JWT cannot be verified: its algorithms or its keys are not stated.',
    'State `algorithms`, and `jwks` or `secret_env`.',
    (subject) => eachScheme(subject.spec, (scheme) => unverifiable(subject, scheme)),
  ),
  error(
    'authentication/algorithm-none',
    'A token may go without a signature, so anybody could make one.',
    'Take `none` out of the algorithms.',
    (subject) =>
      eachAlgorithm(subject, (name, at) =>
        name.toLowerCase() === 'none' ? [{ message: 'The algorithm `none` proves nothing.', at }] : [],
      ),
  ),
  warning(
    'authentication/unknown-algorithm',
    'A signature algorithm is none that JSON Web Algorithms registers.',
    'Write for example ES256, RS256, PS256, EdDSA or HS256.',
    (subject) =>
      eachAlgorithm(subject, (name, at) => {
        if (algorithms.includes(name) || name.toLowerCase() === 'none') return [];
        const meant = nearest(name, algorithms);
        return [{ message: `\`${name}\` is not known.`, ...(meant !== undefined && { remedy: `Write \`${meant}\`.` }), at }];
      }),
  ),
  error(
    'authentication/algorithm-without-key',
    'An algorithm has no key of its kind: a shared secret serves HS algorithms alone, and a public key set the others.',
    'State `secret_env` for HS256 and the like, `jwks` for the others.',
    (subject) =>
      eachAlgorithm(subject, (name, at, { jwks, secretEnv }) => {
        if (!algorithms.includes(name) || (jwks === undefined) === (secretEnv === undefined)) return [];
        const isShared = name.startsWith('HS');
        if (isShared === (secretEnv !== undefined)) return [];
        const message = isShared
          ? `\`${name}\` needs a shared secret, and a key set is public.`
          : `\`${name}\` needs a key pair, and a secret is none.`;
        return [{ message, at }];
      }),
  ),
];

const algorithms: readonly string[] = [
  ...['HS', 'RS', 'ES', 'PS'].flatMap((family) => [256, 384, 512].map((bits) => `${family}${bits}`)),
  'EdDSA',
  'Ed25519',
  'Ed448',
  'ES256K',
];

function unverifiable({ spec }: Subject, scheme: Scheme): Wrong[] {
  const written = valueAt(spec.document.tree, scheme.at);
  const words = isMap(written) ? Object.keys(written) : [];
  const problems = kindOfScheme(scheme)?.problems(scheme, words) ?? [];
  return problemsOf(problems, scheme.at, 'authentication/unverifiable-token');
}

function eachAlgorithm(subject: Subject, find: (name: string, at: string, scheme: Scheme) => readonly Wrong[]): Wrong[] {
  return eachScheme(subject.spec, (scheme) => {
    const names = scheme.algorithms ?? [];
    const list = below(scheme.at, 'algorithms');
    return names.flatMap((name, index) => find(name, itemPlace(subject, list, names, index), scheme));
  });
}
