import { below } from '../../document/pointer.ts';
import { signatureKind } from '../../kinds/signatures/all.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { logOf } from '../../parts/event-telling.ts';
import { compileExpression } from '../../parts/expressions/compile.ts';
import type { Variable } from '../../parts/expressions/scope.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { leftOutOf, showingOperations } from '../../parts/left-out.ts';
import { namesOperation } from '../../parts/operations.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { loggedResources } from '../../parts/uses/events.ts';
import { type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What a reviewer asks of what is kept, shown and sent. */
export const dataRules: readonly Rule[] = [
  warning(
    'security/secret-shown',
    'A field is named like a secret, and is shown to whoever reads its resource.',
    'Make it `writeOnly: true`, `reveal: once` or `stored: false`, or say by `visible` who sees it.',
    (subject) =>
      eachField(subject, (field) =>
        /(?:^|_)(?:password|passwd|secret|private_key|token|pin|ssn|cvc|cvv|card_number)$/i.test(field.name) && isShown(field)
          ? [{ message: `\`${field.name}\` is shown.`, at: field.at, onKey: true }]
          : [],
      ),
  ),
  warning(
    'security/countable-identifier',
    'Identifiers count up: whoever has one knows how many there are, and the others.',
    'Write `generate: uuid`, `ulid` or a template, where that must not be known.',
    (subject) =>
      [...subject.resources.values()].flatMap((resource) => {
        const identifier = statedValue(resource.identifier);
        if (identifier?.generate !== 'integer') return [];
        return [{ message: `A ${resource.name} is known by its number.`, at: below(resource.identifier.at, 'generate') }];
      }),
  ),
  warning(
    'security/hidden-filter',
    'A list is filtered, sorted or ordered by a field that some of those who may read it do not see.',
    'Filter and order by what everybody sees who may list; those who do not see it are refused.',
    (subject) => subject.endpoints.flatMap((endpoint) => hiddenFilters(subject, endpoint)),
  ),
  warning(
    'security/whole-row',
    'A row is stored whole in a value that others see, with fields of it that not everybody sees.',
    'Name the fields that are meant: `{ "id": next.id, "title": next.title }`.',
    wholeRows,
  ),
  warning(
    'security/unsigned-webhook',
    'A receiver cannot tell who sent an event.',
    'Take `signature: none` out, or state another signature.',
    ({ spec }) => {
      const webhook = statedValue(spec.events.delivery)?.push;
      const stated = webhook?.signature;
      const isUnsigned = stated !== undefined && signatureKind(stated)?.usesSecret(stated.facts) === false;
      return webhook && isUnsigned ? [{ message: 'Events go out unsigned.', at: below(webhook.at, 'signature') }] : [];
    },
  ),
  warning(
    'security/free-fields',
    'A resource takes fields that it does not state, of any size and kind, and shows them to whoever reads it.',
    'State the fields, or a shape for those that are not known.',
    (subject) =>
      [...subject.resources.values()].flatMap(({ name, at, additionalProperties }) =>
        additionalProperties ? [{ message: `A ${name} takes whatever is sent.`, at: below(at, 'additionalProperties') }] : [],
      ),
  ),
];

function eachField({ resources }: Subject, find: (field: Field, resource: Resource) => readonly Wrong[]): Wrong[] {
  return [...resources.values()].flatMap((resource) => entriesOf(resource.fields).flatMap(([, field]) => find(field, resource)));
}

/** What is set to a row as it is, though some of it is not for everybody. */
function wholeRows({ spec, expressions, resources }: Subject): Wrong[] {
  return expressions.flatMap(({ use, problems }) => {
    if (use.role !== 'value' || problems.length > 0 || !/^\/(?:resources|states|events\/log)\//.test(use.at)) return [];
    const named = use.scopes.flatMap(({ scope }) => {
      const whole = compileExpression(spec, { ...use, scope }).reads.filter(({ path, follows }) => path.length === 0 && !follows);
      return whole.flatMap(({ root }) => rowOf(scope[root]) ?? []);
    });
    const hidden = [...new Set(named)].find((name) =>
      entriesOf(resources.get(name)?.fields).some(([, field]) => !isShown(field)),
    );
    return hidden === undefined
      ? []
      : [{ message: `A ${hidden} is stored whole, and some of it is not for everybody.`, at: use.at }];
  });
}

/** The resource that a variable is a row of. */
function rowOf(variable: Variable | undefined): string | undefined {
  if (!variable || !('shape' in variable)) return undefined;
  const { resource, title } = variable.shape;
  return typeof resource === 'string' ? resource : typeof title === 'string' ? title : undefined;
}

function isShown({ writeOnly, reveal, stored, visible }: Field): boolean {
  return !writeOnly && reveal === undefined && stored && visible === undefined;
}

function hiddenFilters({ spec, resources }: Subject, endpoint: Endpoint): Wrong[] {
  const effect = statedValue(endpoint.does);
  if (effect?.verb !== 'list') return [];
  const fields = new Map(entriesOf(resources.get(effect.resource)?.fields));
  const operation = { name: endpoint.operation, resource: effect.resource, endpoint };
  const allowed = (statedValue(spec.authentication.permissions) ?? []).filter(({ allow }) => namesOperation(allow, operation));
  const isForAll = namesOperation(spec.authentication.public, operation) || allowed.some(({ to }) => to === 'anyone');
  const users = allowed.flatMap(({ to }) => (to === 'anyone' ? [] : to));
  const blind = (name: string): string | undefined => {
    const field = fields.get(name);
    if (!field) return undefined;
    if (field.writeOnly || field.reveal === 'once') return 'nobody sees it';
    const left = users.find((user) => leftOutOf(spec, { user }).has(field));
    if (left !== undefined) return `a rule for a ${left} leaves it out`;
    if (isForAll && leftOutOf(spec, { user: undefined }).has(field)) return 'a rule for anyone leaves it out';
    if (field.visible === undefined) return undefined;
    const without = users.find((user) => !field.visible?.includes(user));
    return isForAll ? 'not everybody sees it' : without && `a ${without} does not see it`;
  };
  const found = (name: string | undefined, at: string): Wrong[] => {
    const why = name === undefined ? undefined : blind(name);
    return why === undefined ? [] : [{ message: `This list goes by \`${name}\`, and ${why}.`, at }];
  };
  return [
    ...endpoint.order.flatMap(({ field }) => found(field, below(endpoint.at, 'order'))),
    ...entriesOf(endpoint.parameters).flatMap(([, { filters, chooses, at }]) => [
      ...found(filters, at),
      ...(chooses?.by === 'search' ? chooses.fields : chooses?.by === 'path' ? [chooses.path] : []).flatMap((name) =>
        found(name, at),
      ),
    ]),
  ];
}

/** What the log of events shows of the rows that events are about. */
export const logSecurityRules: readonly Rule[] = [
  warning(
    'security/log-shows-more',
    'Who may read every row of the log of events reads there of rows that it may not read.',
    'Give the rule a condition, such as `resource.owner == caller.id` with `set: { owner: row.owner }`, or let the log hold `event.row` alone.',
    showsMore,
  ),
];

function showsMore(subject: Subject): Wrong[] {
  const { spec } = subject;
  const log = logOf(spec);
  if (!log || !isStated(spec.authentication.schemes) || !holdsRows(subject)) return [];
  const about = [...loggedResources(spec, subject.operations)].filter((one) => one !== undefined);
  const everything = [...readersOf(subject, log.resource)].filter(([, isAll]) => isAll);
  return everything.flatMap(([user]) => {
    const hidden = about.find((resource) => !mayReadAll(subject, resource, user));
    const who = user === undefined ? 'Whoever asks' : `A ${user}`;
    return hidden === undefined
      ? []
      : [{ message: `${who} may read every row of \`${log.resource}\`, and not every ${hidden}.`, at: log.at, onKey: true }];
  });
}

/** Whether a field of the log takes the payload, or something of the row itself, rather than its name alone. */
function holdsRows({ spec, expressions }: Subject): boolean {
  return expressions.some(
    ({ use, problems }) =>
      use.at.startsWith('/events/log/set/') &&
      problems.length === 0 &&
      use.scopes.some(({ scope }) =>
        compileExpression(spec, { ...use, scope }).reads.some(
          ({ root, path: [first] }) => root === 'event' && (first === 'payload' || first === undefined),
        ),
      ),
  );
}

/** The users who may read rows of a resource, and whether without a condition; nobody is whoever shows no credential. */
function readersOf({ spec }: Subject, resource: string): Map<string | undefined, boolean> {
  const { authentication, purpose } = spec;
  const operations = showingOperations(spec, resource);
  const found = new Map<string | undefined, boolean>();
  if (operations.some((one) => namesOperation(authentication.public, one))) found.set(undefined, true);
  if (authentication.permissions.standing === 'none') for (const [user] of entriesOf(purpose.users)) found.set(user, true);
  for (const { allow, to, if: condition } of statedValue(authentication.permissions) ?? []) {
    if (!operations.some((one) => namesOperation(allow, one))) continue;
    for (const user of to === 'anyone' ? [undefined] : to) found.set(user, found.get(user) === true || condition === undefined);
  }
  return found;
}

function mayReadAll(subject: Subject, resource: string, user: string | undefined): boolean {
  const readers = readersOf(subject, resource);
  return readers.get(undefined) === true || readers.get(user) === true;
}
