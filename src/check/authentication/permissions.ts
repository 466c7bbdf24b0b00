import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isStanding } from '../../document/values.ts';
import { kindOfScheme, type Permission } from '../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { showingOperations } from '../../parts/left-out.ts';
import { callableOperations, namesOperation } from '../../parts/operations.ts';
import type { Resource } from '../../parts/resources.ts';
import { fieldVocabulary, unstated } from '../subject/names.ts';
import { isSpokenOf, itemPlace, operationPlace, unknownOperations } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** Who may do what, rule by rule. */
export const permissionRules: readonly Rule[] = [
  error(
    'authentication/unknown-operation',
    'A permission, or the list of public operations, names an operation that is not there.',
    "Write the operation's name, or bind an endpoint to it.",
    (subject) => [
      ...eachPermission(subject, ({ at, allow }) => unknownOperations(subject, allow, below(at, 'allow'))),
      ...unknownOperations(subject, subject.spec.authentication.public, below(subject.spec.authentication.at, 'public')),
    ],
  ),
  warning(
    'authentication/not-callable',
    'A permission allows an operation that no caller reaches.',
    'Take it out, or bind an endpoint to it.',
    (subject) =>
      eachPermission(subject, ({ at, allow }) =>
        allow.flatMap((name, index) => {
          const operations = subject.operationsByName.get(name) ?? [];
          const [first] = operations;
          if (!first || operations.some(({ by }) => by === undefined)) return [];
          const message = `\`${name}\` is done by the ${first.by === 'clock' ? 'clock' : 'service itself'}, never by a caller.`;
          return [{ message, at: itemPlace(subject, below(at, 'allow'), allow, index) }];
        }),
      ),
  ),
  error(
    'authentication/unknown-user',
    'A permission is for a user that is not stated.',
    'Write the name of a user, or state the user under `purpose.users`.',
    (subject) =>
      eachPermission(subject, ({ at, to }) =>
        to === 'anyone'
          ? []
          : to.flatMap((user, index) =>
              user === 'anyone' ? [] : unstated(subject.names.users, user, itemPlace(subject, below(at, 'to'), to, index)),
            ),
      ),
  ),
  error(
    'authentication/allows-nobody',
    'A permission says for nobody that it allows something.',
    'Write `to: USER`, a list of users, or `to: anyone`.',
    (subject) => empty(subject, 'to', ({ to }) => to.length === 0, 'This allows something to nobody.'),
  ),
  error('authentication/allows-nothing', 'A permission names no operation.', 'Write `allow: [create parcel]`.', (subject) =>
    empty(subject, 'allow', ({ allow }) => allow.length === 0, 'This allows nothing.'),
  ),
  error(
    'authentication/unknown-shown-field',
    'A permission shows a field that a resource which it lets one read does not have.',
    'Write the names of fields of every resource that it shows, or make it two permissions.',
    (subject) => eachPermission(subject, (permission) => unknownShown(subject, permission)),
  ),
  error(
    'authentication/fields-of-nothing',
    'A permission says which fields it shows, and lets nobody read or list anything.',
    'Put `fields` on the permission that reads and lists, or take it out.',
    (subject) =>
      eachPermission(subject, ({ at, fields, allow }) =>
        fields === undefined || shownBy(subject, allow).length > 0
          ? []
          : [{ message: 'What is shown is a matter of the rules that read and list.', at: below(at, 'fields'), onKey: true }],
      ),
  ),
  warning(
    'authentication/unknown-scope',
    'A permission needs a scope that no scheme can give.',
    "State it under the scheme's `scopes`.",
    unknownScopes,
  ),
];

function eachPermission({ spec }: Subject, find: (permission: Permission) => readonly Wrong[]): Wrong[] {
  return (statedValue(spec.authentication.permissions) ?? []).flatMap(find);
}

/** The resources of which rows are shown by some of these operations. */
function shownBy({ spec, resources }: Subject, allow: readonly string[]): Resource[] {
  return [...resources.values()].filter(({ name }) =>
    showingOperations(spec, name).some((operation) => namesOperation(allow, operation)),
  );
}

function unknownShown(subject: Subject, { at, allow, fields = [] }: Permission): Wrong[] {
  const list = valueAt(subject.spec.document.tree, below(at, 'fields'));
  return shownBy(subject, allow).flatMap((resource) =>
    fields.flatMap((name, index) => {
      const place = Array.isArray(list) ? below(below(at, 'fields'), index) : below(at, 'fields');
      return unstated(fieldVocabulary(resource), name, place);
    }),
  );
}

function empty(subject: Subject, word: string, isEmpty: (permission: Permission) => boolean, message: string): Wrong[] {
  return eachPermission(subject, (permission) => {
    const at = below(permission.at, word);
    return isEmpty(permission) && !isStanding(valueAt(subject.spec.document.tree, at)) ? [{ message, at }] : [];
  });
}

/** Keys are made with any scopes, and what a token brings is known only where its scheme lists it. */
function unknownScopes(subject: Subject): Wrong[] {
  const { schemes } = subject.spec.authentication;
  const all = entriesOf(schemes).map(([, scheme]) => scheme);
  if (
    !isStated(schemes) ||
    all.length === 0 ||
    all.some((scheme) => !kindOfScheme(scheme)?.hasFlows || Object.keys(scheme.scopes).length === 0)
  )
    return [];
  const vocabulary = {
    what: 'scope',
    home: 'authentication.schemes',
    words: new Set(all.flatMap(({ scopes }) => Object.keys(scopes))),
    closed: true,
  };
  return eachPermission(subject, ({ at, scopes }) =>
    scopes.flatMap((scope, index) => unstated(vocabulary, scope, itemPlace(subject, below(at, 'scopes'), scopes, index))),
  );
}

/** Which operations somebody may call at all. */
export const reachRules: readonly Rule[] = [
  warning(
    'authentication/nobody-may-call',
    'No permission allows an operation, and it is not public, so every call is refused.',
    'Allow it to somebody, or take the endpoint out.',
    nobodyMayCall,
  ),
  warning(
    'authentication/public-and-permitted',
    'An operation is public, and a permission allows it to some: at a public one no credential is looked at.',
    'Take it out of `public`, or out of the permission.',
    publicAndPermitted,
  ),
];

function nobodyMayCall(subject: Subject): Wrong[] {
  const { spec } = subject;
  const { permissions, schemes } = spec.authentication;
  if (!isStated(permissions) || (!isStated(schemes) && schemes.standing !== 'none')) return [];
  const allowed = new Set([...permissions.value.flatMap(({ allow }) => allow), ...spec.authentication.public]);
  return callableOperations(spec)
    .filter(({ name, resource }) => !allowed.has(name) && !allowed.has(`all ${resource}`))
    .filter((operation) => isSpokenOf(subject, operation))
    .map((operation) => ({
      message: `Nobody may call \`${operation.name}\`.`,
      at: operationPlace(subject, operation),
      onKey: true,
    }));
}

function publicAndPermitted(subject: Subject): Wrong[] {
  const { spec } = subject;
  const open = callableOperations(spec).filter((operation) => namesOperation(spec.authentication.public, operation));
  const names = new Set(open.map(({ name }) => name));
  return (statedValue(spec.authentication.permissions) ?? []).flatMap(({ at, allow }) =>
    allow.flatMap((name, index) =>
      names.has(name)
        ? [
            {
              message: `\`${name}\` is public, so this rule is never asked.`,
              at: itemPlace(subject, below(at, 'allow'), allow, index),
              also: [{ message: 'It is public here.', at: below(spec.authentication.at, 'public') }],
            },
          ]
        : [],
    ),
  );
}
