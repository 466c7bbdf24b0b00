import { below } from '../document/pointer.ts';
import { valueAt } from '../document/source.ts';
import { isStanding } from '../document/values.ts';
import { entriesOf, isStated, statedValue } from '../parts/fact.ts';
import { callableOperations, namesOperation } from '../parts/operations.ts';
import { isSpokenOf, itemPlace, operationPlace, unknownOperations } from './subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** Purpose: functions name operations, operations serve functions, users can do something. */
export const purposeRules: readonly Rule[] = [
  error(
    'purpose/unknown-operation',
    'A function names an operation that no endpoint does.',
    "Write the operation's name, or bind an endpoint to it.",
    (subject) => functionsOf(subject).flatMap(({ at, names }) => unknownOperations(subject, names, at)),
  ),
  error(
    'purpose/function-without-operations',
    'A function has no operation that does it.',
    'Name the operations, or write `!open "which?"`.',
    (subject) =>
      functionsOf(subject)
        .filter(({ at, names }) => names.length === 0 && !isStanding(valueAt(subject.spec.document.tree, at)))
        .filter(({ at }) => valueAt(subject.spec.document.tree, at) !== 'none')
        .map(({ at, name }) => ({ message: `The function \`${name}\` has no operations.`, at })),
  ),
  warning(
    'purpose/operation-without-function',
    'An operation serves no function, so nothing says what it is for.',
    'Name it under a function that it serves.',
    operationsWithoutFunction,
  ),
  warning('purpose/idle-user', 'A user may call nothing.', 'Name the user in a permission, or take it out.', idleUsers),
  warning('purpose/user-twice', 'The list of users names one of them twice.', 'Keep one of the two.', usersTwice),
  error(
    'purpose/reserved-user',
    'A user has the name `anyone`, which stands for every caller.',
    'Give the user another name.',
    ({ spec }) =>
      entriesOf(spec.purpose.users)
        .filter(([name]) => name === 'anyone')
        .map(([name]) => ({ message: '`anyone` stands for every caller.', at: below(spec.purpose.users.at, name), onKey: true })),
  ),
  error(
    'purpose/base-url',
    'A base address is not an absolute `http` or `https` URL.',
    'Write the whole URL: `https://api.example.com/v1`.',
    (subject) =>
      baseUrlsOf(subject)
        .filter(({ url }) => !url.startsWith('/') && !isWebUrl(url))
        .map(({ url, at }) => ({ message: `\`${url}\` is not an absolute URL.`, at })),
  ),
  warning(
    'purpose/base-url-tail',
    'A base address has a query or a fragment, which no endpoint can stand below.',
    'End it with its path.',
    (subject) =>
      baseUrlsOf(subject)
        .filter(({ url }) => isWebUrl(url) && /[?#]/.test(url))
        .map(({ url, at }) => ({ message: `\`${url}\` goes on after its path.`, at })),
  ),
];

function functionsOf({ spec }: Subject) {
  const { functions } = spec.purpose;
  return entriesOf(functions).map(([name, names]) => ({ name, names, at: below(functions.at, name) }));
}

function operationsWithoutFunction(subject: Subject): Wrong[] {
  const { spec } = subject;
  const functions = functionsOf(subject);
  const isOpen = functions.some(({ at }) => isStanding(valueAt(spec.document.tree, at)));
  if (!isStated(spec.purpose.functions) || isOpen) return [];
  const words = new Set(functions.flatMap(({ names }) => names));
  const wholes = [...words].filter((name) => name.startsWith('all '));
  return callableOperations(spec)
    .filter((operation) => isSpokenOf(subject, operation) && !words.has(operation.name) && !namesOperation(wholes, operation))
    .map((operation) => ({
      message: `No function has the operation \`${operation.name}\`.`,
      at: operationPlace(subject, operation),
      onKey: true,
    }));
}

/** With no permissions stated, or with none, every user may call everything. */
function idleUsers({ spec }: Subject): Wrong[] {
  const rules = statedValue(spec.authentication.permissions);
  if (!rules || spec.authentication.public.length > 0) return [];
  const named = new Set(rules.flatMap(({ to }) => to));
  if (rules.some(({ to }) => to === 'anyone' || to.includes('anyone'))) return [];
  return entriesOf(spec.purpose.users)
    .map(([name]) => name)
    .filter((name) => !named.has(name))
    .map((name) => ({ message: `The user \`${name}\` may call nothing.`, at: below(spec.purpose.users.at, name), onKey: true }));
}

function usersTwice({ spec }: Subject): Wrong[] {
  const { users } = spec.purpose;
  const list = valueAt(spec.document.tree, users.at);
  if (!isStated(users) || !Array.isArray(list)) return [];
  return list.flatMap((name, index) => {
    const first = list.indexOf(name);
    if (first === index || typeof name !== 'string') return [];
    const also = [{ message: 'It is first named here.', at: below(users.at, first) }];
    return [{ message: `The user \`${name}\` is named twice.`, at: below(users.at, index), also }];
  });
}

function baseUrlsOf(subject: Subject) {
  const { baseUrls } = subject.spec.purpose;
  const urls = statedValue(baseUrls) ?? [];
  return urls.map((url, index) => ({ url, at: itemPlace(subject, baseUrls.at, urls, index) }));
}

/** A part of it may be left to who asks: `https://{tenant}.example.com:{port}`. */
function isWebUrl(url: string): boolean {
  const whole = url.replaceAll(/:\{[^{}]*\}/g, ':1').replaceAll(/\{[^{}]*\}/g, 'x');
  return /^https?:\/\/[^/?#\s]/i.test(url) && URL.canParse(whole);
}
