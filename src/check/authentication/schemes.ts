import type { Json, Pointer } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import { isToken } from '../../kinds/http-token.ts';
import {
  type Authentication,
  acceptedNames,
  kindOfScheme,
  placed,
  type Scheme,
  type SchemeSet,
  schemePrefix,
} from '../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { notADuration } from '../subject/data.ts';
import { listed, unstated } from '../subject/names.ts';
import { itemPlace } from '../subject/operation-names.ts';
import { error, problemsOf, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** How a caller shows who it is. */
export const schemeRules: readonly Rule[] = [
  error(
    'authentication/any',
    'Schemes or permissions are left to the implementation, which nobody could rely on.',
    'State them, write `none`, or `!open "the question"`.',
    ({ spec }) =>
      [['schemes', spec.authentication.schemes] as const, ['permissions', spec.authentication.permissions] as const]
        .filter(([, { standing }]) => standing === 'any')
        .map(([what, { at }]) => ({ message: `The ${what} cannot be \`any\`.`, at })),
  ),
  error(
    'authentication/unknown-scheme',
    'A scheme is accepted that is not stated.',
    'Write the name of a stated scheme.',
    (subject) => {
      const { authentication, endpoints } = subject.spec;
      const places = [authentication, ...entriesOf(endpoints.all).map(([, endpoint]) => endpoint)];
      return places.flatMap(({ at, accept = [] }) => unknownIn(subject, below(at, 'accept'), accept));
    },
  ),
  warning(
    'authentication/scheme-not-accepted',
    'A scheme is stated, and not accepted.',
    'Add it to `accept`, or take it out.',
    ({ spec }) => {
      const { schemes, accept } = spec.authentication;
      if (!accept || isMap(valueAt(spec.document.tree, below(spec.authentication.at, 'accept')))) return [];
      const accepted = acceptedNames(spec);
      return entriesOf(schemes)
        .filter(([name]) => !accepted.has(name))
        .map(([name, { at }]) => ({ message: `\`${name}\` is not among what is accepted.`, at, onKey: true }));
    },
  ),
  error(
    'authentication/two-carriers',
    'A scheme says two places where its credential stands.',
    'Keep one of header, query and cookie.',
    ({ spec }) =>
      eachScheme(spec, ({ at }) => {
        const written = valueAt(spec.document.tree, at);
        const places = ['header', 'query', 'cookie'].filter((word) => isMap(written) && Object.hasOwn(written, word));
        return places.length < 2
          ? []
          : [{ message: `${listed(places)} cannot all carry it.`, at: below(at, places[1] as string), onKey: true }];
      }),
  ),
  error(
    'authentication/carrier-name',
    'The header or cookie of a credential has no valid name.',
    'Write letters, digits and hyphens: `X-API-Key`.',
    ({ spec }) =>
      eachScheme(spec, ({ at, in: place, carrier }) => {
        const name = statedValue(carrier);
        if (name === undefined || place === 'query' || isToken(name)) return [];
        return [{ message: `\`${name}\` is no name of a ${place}.`, at: below(at, place) }];
      }),
  ),
  warning(
    'authentication/same-carrier',
    'Two schemes carry their credentials in the same place with the same prefix, so one cannot be told from the other.',
    'Give them different headers or prefixes.',
    ({ spec }) => sameCarriers(entriesOf(spec.authentication.schemes).map(([, scheme]) => scheme)),
  ),
  error(
    'authentication/generate-template',
    'The template of keys does not parse.',
    'Write text with `{random:32}` or the like in it.',
    ({ spec }) =>
      eachScheme(spec, ({ at, generate }) => {
        const read = generate === undefined ? undefined : readTemplate(generate);
        return read && 'wrong' in read ? [{ message: read.wrong, at: below(at, 'generate') }] : [];
      }),
  ),
  error(
    'authentication/attribute',
    'An attribute of callers has a name that expressions cannot read, or is given and not stated.',
    'Name it with small letters, digits and `_`, otherwise than `id`, `user`, `scopes`, `claims`, `key` and `attributes`, and state it under `attributes`.',
    ({ spec }) => attributeWrongs(spec.authentication),
  ),
  error(
    'authentication/origin',
    'An origin is not a scheme and a host, so no browser ever sends it.',
    'Write `https://app.example.com`, without a path, or `*`.',
    (subject) => {
      const { origins } = subject.spec.authentication;
      const list = statedValue(origins) ?? [];
      return list.flatMap((origin, index) =>
        origin === '*' || isOrigin(origin)
          ? []
          : [{ message: `\`${origin}\` is no origin.`, at: itemPlace(subject, origins.at, list, index) }],
      );
    },
  ),
  warning(
    'authentication/origins-any',
    'Which pages may read answers is left to the implementation, and ours lets none.',
    'Write `"*"` for the pages of every site, or list origins.',
    ({ spec }) =>
      spec.authentication.origins.standing === 'any'
        ? [
            {
              message: '`any` lets no page of another site read answers: it only says that some may.',
              at: spec.authentication.origins.at,
            },
          ]
        : [],
  ),
  error(
    'authentication/permissions-without-schemes',
    'Permissions are stated, and no caller can show who it is.',
    'State a scheme, let every rule be `to: anyone`, or write `permissions: none`.',
    ({ spec }) => {
      const { schemes, permissions } = spec.authentication;
      if (schemes.standing !== 'none' || !isStated(permissions)) return [];
      return permissions.value
        .filter(({ to }) => to !== 'anyone' && to.length > 0)
        .map(({ at, to }) => ({ message: `Nobody can show to be ${listed(to)}.`, at: below(at, 'to') }));
    },
  ),
];

/** The names of one list of alternatives, and of the lists inside it, that no scheme has. */
function unknownIn(subject: Subject, list: Pointer, sets: readonly SchemeSet[]): Wrong[] {
  const stated = valueAt(subject.spec.document.tree, list);
  if (isMap(stated)) return [];
  const items = Array.isArray(stated) ? (stated as readonly Json[]) : [stated];
  return sets.flatMap((set, index) => {
    const at = Array.isArray(stated) ? below(list, index) : list;
    return set.flatMap((name, inner) =>
      unstated(subject.names.schemes, name, Array.isArray(items[index]) ? below(at, inner) : at),
    );
  });
}

/** What is found at each scheme. */
function eachScheme({ authentication }: Subject['spec'], find: (scheme: Scheme) => readonly Wrong[]): Wrong[] {
  return entriesOf(authentication.schemes).flatMap(([, scheme]) => find(scheme));
}

function sameCarriers(schemes: readonly Scheme[]): Wrong[] {
  const first = new Map<string, Scheme>();
  return schemes.flatMap((scheme) => {
    const carrier = statedValue(scheme.carrier);
    if (carrier === undefined) return [];
    const prefix = schemePrefix(scheme) ?? '';
    const key = `${scheme.in} ${carrier.toLowerCase()} ${prefix.trim().toLowerCase()}`;
    const other = first.get(key);
    if (!other) {
      first.set(key, scheme);
      return [];
    }
    const also = [{ message: 'The other one.', at: `${other.at}#` }];
    return [{ message: `\`${other.name}\` and \`${scheme.name}\` look alike on the wire.`, at: scheme.at, onKey: true, also }];
  });
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/i.test(text);
}

/** What tokens are verified with (RFC 7515, RFC 7518). */
export const tokenRules: readonly Rule[] = [
  error(
    'authentication/unverifiable-token',
    'A JWT cannot be verified: its algorithms or its keys are not stated.',
    'State `algorithms`, and `jwks` or `secret_env`.',
    (subject) => eachScheme(subject.spec, (scheme) => problemsWith(subject, scheme, 'authentication/unverifiable-token')),
  ),
  error(
    'authentication/introspection',
    'Nobody can be asked about tokens, or not as it is stated.',
    'State `introspect: URL`, and `client` with `secret_env` where the server asks who asks.',
    (subject) => eachScheme(subject.spec, (scheme) => problemsWith(subject, scheme, 'authentication/introspection')),
  ),
  error(
    'authentication/request-signature',
    'Signed requests are stated so that nobody could sign or judge one.',
    'State what a signature is over and where it stands: `value` and `signs`, or `covers` and `algorithms`.',
    (subject) => eachScheme(subject.spec, (scheme) => problemsWith(subject, scheme, 'authentication/request-signature')),
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
    'authentication/lifetime',
    'How long a token holds at most is no duration.',
    'Write a number and a unit: `15m`, `1h`, `12h`.',
    (subject) => eachScheme(subject.spec, ({ at }) => notADuration(subject, below(at, 'lifetime'))),
  ),
  error(
    'authentication/token-type',
    'What tokens say that they are is no media type.',
    'Write it as tokens have it, `at+jwt`, or whole, `application/at+jwt`.',
    ({ spec }) =>
      eachScheme(spec, ({ at, own: { typ } }) =>
        typeof typ === 'string' && !/^(?:[\w!#$&^.+-]+\/)?[\w!#$&^.+-]+$/.test(typ)
          ? [{ message: `\`${typ}\` is none.`, at: below(at, 'typ') }]
          : [],
      ),
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

/** What every caller has, under names of its own. */
const callerWords: ReadonlySet<string> = new Set(['id', 'user', 'scopes', 'claims', 'key', 'attributes']);

function attributeWrongs({ at, attributes, schemes }: Authentication): Wrong[] {
  const named = Object.keys(attributes).flatMap((name) => {
    const place = below(below(at, 'attributes'), name);
    if (callerWords.has(name)) return [{ message: `Every caller has \`${name}\` already.`, at: place, onKey: true }];
    return /^[a-z_][a-z0-9_]*$/.test(name) ? [] : [{ message: `\`${name}\` is no name.`, at: place, onKey: true }];
  });
  const given = entriesOf(schemes).flatMap(([, { caller }]) =>
    Object.entries(caller.attributes).flatMap(([name, expression]) =>
      Object.hasOwn(attributes, name) ? [] : [{ message: `\`${name}\` is no stated attribute.`, at: expression.at, onKey: true }],
    ),
  );
  return [...named, ...given];
}

/** What the kind of a scheme finds wrong with how it is stated. */
export function problemsWith({ spec }: Subject, scheme: Scheme, code: Rule['code']): Wrong[] {
  const written = valueAt(spec.document.tree, scheme.at);
  const words = isMap(written) ? Object.keys(written) : [];
  const problems = kindOfScheme(scheme)?.problems(placed(scheme), words) ?? [];
  return problemsOf(problems, scheme.at, code);
}

function eachAlgorithm(subject: Subject, find: (name: string, at: string, scheme: Scheme) => readonly Wrong[]): Wrong[] {
  return eachScheme(subject.spec, (scheme) => {
    // Requests are signed by algorithms of other names, which their kind knows.
    const names = kindOfScheme(scheme)?.proof?.by === 'signing' ? [] : (scheme.algorithms ?? []);
    const list = below(scheme.at, 'algorithms');
    return names.flatMap((name, index) => find(name, itemPlace(subject, list, names, index), scheme));
  });
}
