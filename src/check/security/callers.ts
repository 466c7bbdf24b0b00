import { below } from '../../document/pointer.ts';
import { schemeKind } from '../../kinds/schemes/all.ts';
import type { RequestSigning } from '../../kinds/schemes/signing.ts';
import { kindOfScheme, placed, type Scheme } from '../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { callableOperations, namesOperation, type Operation } from '../../parts/operations.ts';
import { listed } from '../subject/names.ts';
import { itemPlace } from '../subject/operation-names.ts';
import { type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What a reviewer asks of how callers are known, and of what they may do. */
export const callerRules: readonly Rule[] = [
  warning(
    'security/keys-over-http',
    'The keys that tokens are verified with, or what is said of a token, come without encryption: whoever stands between makes tokens.',
    'Write an `https:` address, or for keys a file beside the document.',
    (subject) =>
      eachScheme(subject, ({ jwks, own, at }) =>
        Object.entries({ jwks, introspect: own.introspect }).flatMap(([word, address]) =>
          typeof address === 'string' && isPlain(address)
            ? [{ message: `\`${address}\` is not encrypted.`, at: below(at, word) }]
            : [],
        ),
      ),
  ),
  warning(
    'security/no-audience',
    'Tokens may be made for another service: one that gets them there can use them here.',
    'State `audience`.',
    (subject) => eachToken(subject, (scheme) => missing(scheme, 'audience', 'does not say for whom its tokens are')),
  ),
  warning('security/no-issuer', 'Tokens may be of anybody who has a key in the set.', 'State `issuer`.', (subject) =>
    eachToken(subject, (scheme) => missing(scheme, 'issuer', 'does not say who makes its tokens')),
  ),
  warning(
    'security/no-lifetime',
    'A token without an end is good for ever, and one with a far end nearly so.',
    'State `lifetime`, such as `1h`.',
    (subject) =>
      eachToken(subject, (scheme) =>
        scheme.own.lifetime === undefined
          ? [{ message: `\`${scheme.name}\` takes tokens that never end.`, at: scheme.at, onKey: true }]
          : [],
      ),
  ),
  warning(
    'security/credential-in-query',
    'A credential stands in the address: in logs, histories and the `Referer` of what follows.',
    'Let it stand in a header.',
    (subject) =>
      eachScheme(subject, (scheme) =>
        scheme.in === 'query'
          ? [{ message: `\`${scheme.name}\` stands in the address.`, at: below(scheme.at, 'query'), onKey: true }]
          : [],
      ),
  ),
  warning(
    'security/signature-for-ever',
    'A signed request is good for ever, and whoever has seen it can send it again.',
    'Let the time be told and signed, `{timestamp}`.',
    (subject) => eachSigned(subject, ({ toleranceMs }) => (toleranceMs === undefined ? 'tells no time' : undefined)),
  ),
  warning(
    'security/unsigned-part',
    'A part of the request is not signed: whoever stands between changes it, and the signature still holds.',
    'Let the method, path, query and body be signed.',
    (subject) =>
      eachSigned(subject, ({ signs }) => {
        const left = ['method', 'path', 'query', 'body'].filter((part) => !signs.has(part));
        return left.length === 0 ? undefined : `does not sign the ${listed(left)}`;
      }),
  ),
  warning(
    'security/any-origin',
    'The pages of every site may read the answers.',
    'List the origins that are meant.',
    ({ spec }) => {
      const { origins } = spec.authentication;
      const list = statedValue(origins) ?? [];
      return list.includes('*') ? [{ message: 'Every page may read what a caller may.', at: origins.at }] : [];
    },
  ),
  warning(
    'security/no-authentication',
    'Nobody shows who it is, and something can be changed.',
    'State `schemes`, and `permissions` for each user.',
    (subject) => {
      const { schemes, at } = subject.spec.authentication;
      const writes = callableOperations(subject.spec).filter(isWriting);
      if (schemes.standing !== 'none' || writes.length === 0) return [];
      return [
        { message: `Anybody may ${writes[0]?.name ?? ''}${writes.length > 1 ? `, and ${writes.length - 1} more` : ''}.`, at },
      ];
    },
  ),
  warning(
    'security/everybody-everything',
    'Every caller that is known may do everything, whatever its user.',
    'State what each user may do.',
    ({ spec }) => {
      const { permissions, schemes } = spec.authentication;
      const users = Object.keys(statedValue(spec.purpose.users) ?? {});
      if (permissions.standing !== 'none' || !isStated(schemes)) return [];
      return [
        { message: `${users.length > 1 ? users.join(' and ') : 'Whoever is known'} may do everything.`, at: permissions.at },
      ];
    },
  ),
  warning(
    'security/write-for-anyone',
    'Somebody without a credential may change something.',
    'Allow it to users, or bound it by a rate per address.',
    writesForAnyone,
  ),
  warning(
    'security/act-without-read',
    'A user may change rows that no rule lets it read: what it may change is all that it learns, and nobody has said whether that is meant.',
    'Add a rule that allows reading on the same condition, or waive this.',
    actsWithoutRead,
  ),
  warning(
    'security/write-to-all-rows',
    'A user may change every row of a resource, also those of others.',
    'Add `if: "resource.FIELD == caller.id"`, or waive this for users that look after all of them.',
    writesToAllRows,
  ),
];

function eachScheme({ spec }: Subject, find: (scheme: Scheme) => readonly Wrong[]): Wrong[] {
  return entriesOf(spec.authentication.schemes).flatMap(([, scheme]) => find(scheme));
}

function eachToken(subject: Subject, find: (scheme: Scheme) => readonly Wrong[]): Wrong[] {
  return eachScheme(subject, (scheme) => (schemeKind(scheme.type)?.proof?.by === 'token' ? find(scheme) : []));
}

/** What is found at each scheme by which requests are signed, and that is stated soundly. */
function eachSigned(subject: Subject, find: (signing: RequestSigning) => string | undefined): Wrong[] {
  return eachScheme(subject, (scheme) => {
    const kind = schemeKind(scheme.type);
    const says = kind?.proof?.by === 'signing' ? find(kind.proof.compile(placed(scheme))) : undefined;
    return says === undefined ? [] : [{ message: `\`${scheme.name}\` ${says}.`, at: scheme.at, onKey: true }];
  });
}

function missing(scheme: Scheme, word: 'audience' | 'issuer', says: string): Wrong[] {
  return scheme[word] === undefined && kindOfScheme(scheme) !== undefined
    ? [{ message: `\`${scheme.name}\` ${says}.`, at: scheme.at, onKey: true }]
    : [];
}

/** Whether an address of another machine is not encrypted. */
export function isPlain(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
}

const looking = new Set(['read', 'list', 'reply', 'handler']);

/** Whether an operation changes something, by what it does or, of a handler, by its method. */
function isWriting({ endpoint }: Operation): boolean {
  if (!endpoint) return false;
  const verb = statedValue(endpoint.does)?.verb;
  if (verb === undefined || verb === 'handler') return !['GET', 'HEAD', 'QUERY'].includes(endpoint.method);
  return !looking.has(verb);
}

function writesForAnyone({ spec }: Subject): Wrong[] {
  const { authentication } = spec;
  if (!isStated(authentication.schemes)) return [];
  const writes = callableOperations(spec).filter(isWriting);
  const isThrottled = (operation: Operation) =>
    (statedValue(spec.limits.rate) ?? []).some(
      ({ per, on }) => (per === 'address' || per === 'caller') && (on === undefined || namesOperation(on, operation)),
    );
  const open = writes.filter((operation) => !isThrottled(operation));
  const list = authentication.public;
  const shown = open
    .filter((operation) => namesOperation(list, operation))
    .map(({ name }) => ({
      message: `\`${name}\` asks for no credential, and has no rate per address.`,
      at: below(authentication.at, 'public'),
    }));
  const allowed = (statedValue(authentication.permissions) ?? [])
    .filter(({ to }) => to === 'anyone' || to.includes('anyone'))
    .flatMap(({ at, allow }) =>
      open
        .filter((operation) => namesOperation(allow, operation))
        .map(({ name }) => ({ message: `\`${name}\` is for anyone, and has no rate per address.`, at: below(at, 'to') })),
    );
  return [...shown, ...allowed];
}

/** The operations on rows that are there. */
function isOnRow({ endpoint, transition }: Operation): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return transition !== undefined || verb === 'update' || verb === 'replace' || verb === 'delete';
}

function actsWithoutRead(subject: Subject): Wrong[] {
  const { spec } = subject;
  const rules = statedValue(spec.authentication.permissions) ?? [];
  const operations = callableOperations(spec);
  const reads = (resource: string) =>
    operations.filter(
      (one) =>
        one.resource === resource && ['read', 'list'].includes(String(one.endpoint && statedValue(one.endpoint.does)?.verb)),
    );
  const mayRead = (resource: string, user: string) =>
    reads(resource).some(
      (read) =>
        namesOperation(spec.authentication.public, read) ||
        rules.some(({ allow, to }) => namesOperation(allow, read) && (to === 'anyone' || to.includes(user))),
    );
  return rules.flatMap(({ at, allow, to }) =>
    operations
      .filter((one) => isOnRow(one) && namesOperation(allow, one))
      .flatMap((one) =>
        (to === 'anyone' ? [] : to)
          .filter((user) => one.resource !== undefined && !mayRead(one.resource, user))
          .map((user) => ({
            message: `A ${user} may ${one.name}, and no rule lets it read one.`,
            at: itemPlace(subject, below(at, 'allow'), allow, Math.max(0, allow.indexOf(one.name))),
          })),
      ),
  );
}

function writesToAllRows(subject: Subject): Wrong[] {
  const { spec } = subject;
  const users = Object.keys(statedValue(spec.purpose.users) ?? {});
  if (users.length < 2) return [];
  const writes = callableOperations(spec).filter(isOnRow);
  return (statedValue(spec.authentication.permissions) ?? [])
    .filter(({ if: condition, to }) => condition === undefined && to !== 'anyone')
    .flatMap(({ at, allow, to }) => {
      const names = writes.filter((one) => namesOperation(allow, one)).map(({ name }) => name);
      if (names.length === 0 || to === 'anyone') return [];
      return [{ message: `Each ${to.join(' and ')} may ${names.join(', ')} of everybody.`, at }];
    });
}
