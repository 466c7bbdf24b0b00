import { below } from '../document/pointer.ts';
import { valueAt } from '../document/source.ts';
import { type ErrorCondition, generalCondition, isCondition } from '../parts/conditions.ts';
import { type ErrorCode, type ErrorRule, impossibleStep, tellsViolation, unknownMarks } from '../parts/errors.ts';
import { entriesOf, type Fact, isStated, statedValue } from '../parts/fact.ts';
import { callableOperations, namesOperation } from '../parts/operations.ts';
import { arisesAt, arisingConditions, isNever, mightArise } from '../parts/possible-errors.ts';
import type { Spec } from '../parts/spec.ts';
import { dataMisfits, isExpression } from './subject/data.ts';
import { badHeaderNames, unstated } from './subject/names.ts';
import { itemPlace, unknownOperations } from './subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** Errors: what names them, and what gives them. */
export const errorsRules: readonly Rule[] = [
  error(
    'errors/unknown-error',
    'A transition, a permission or an endpoint names an error that is not stated.',
    'Write the code of a stated error, or state it under `errors.codes`.',
    (subject) => namedErrors(subject).flatMap(({ code, at }) => unstated(subject.names.errors, code, at)),
  ),
  error(
    'errors/unknown-operation',
    'An error is for an operation that is not there.',
    "Write the operation's name, or bind an endpoint to it.",
    (subject) => eachRule(subject, ({ on, at }) => (on ? unknownOperations(subject, on, below(at, 'on')) : [])),
  ),
  warning(
    'errors/cannot-arise',
    'An error answers a condition that cannot arise in this document.',
    'Take the condition out, or state what makes it arise.',
    (subject) => cannotArise(subject),
  ),
  warning(
    'errors/never-given',
    'An error has no condition, and nothing else names it, so it is never given.',
    'Say `when` or `if`, or name it under `else` or `errors` where it is given.',
    (subject) => {
      const named = new Set(namedErrors(subject).map(({ code }) => code));
      return entriesOf(subject.spec.errors.codes)
        .filter(([name, code]) => !named.has(name) && code.rules.every((rule) => isUnconditional(rule)))
        .map(([name, { at }]) => ({ message: `Nothing gives \`${name}\`.`, at, onKey: true }));
    },
  ),
  error(
    'errors/never-arises',
    'A condition that is said never to arise is made to arise by what the document states.',
    'Take `none` back, or take out what makes it arise.',
    (subject) => arisesAllTheSame(subject),
  ),
  error(
    'errors/order',
    'A step of the order of refusals stands before something that it needs, or is named twice.',
    'Put what is asked of the caller behind `caller`, and `precondition`, `request` and `state` behind all others.',
    orderProblems,
  ),
  error(
    'errors/two-for-one',
    'Two errors answer one condition of one operation, and neither is narrower.',
    'Narrow one of them with `on`, or take one out.',
    twoForOne,
  ),
  error(
    'errors/header',
    'A header field of refusals has a name that there is not, or is one that follows from the answer.',
    'Write a name of letters, digits and hyphens, and leave out what the answer has by itself.',
    ({ spec: { errors } }) => [
      ...badHeaderNames(Object.keys(errors.headers), below(errors.at, 'headers')),
      ...entriesOf(errors.codes).flatMap(([, { rules }]) =>
        rules.flatMap(({ at, headers }) => badHeaderNames(Object.keys(headers), below(at, 'headers'))),
      ),
    ],
  ),
  warning(
    'errors/message',
    'A message says something of a violation that it does not have, or where there is none.',
    'Write {path}, {name}, {in}, {found} or {expected}, in a message of what is wrong in a request.',
    (subject) => eachRule(subject, badMessage),
  ),
  warning(
    'errors/status',
    'An error answers a condition of the list with a status that is no refusal.',
    'Write a status from 400 to 599, if the interface is not like that.',
    (subject) =>
      eachRule(subject, ({ status, when, at }, { name }) => {
        const value = statedValue(status);
        if (value === undefined || !isStated(when) || (value >= 400 && value <= 599)) return [];
        if (when.value.every((one) => one === 'resource.moved')) return [];
        return [{ message: `\`${name}\` refuses with ${value}, which clients take for success.`, at: below(at, 'status') }];
      }),
  ),
  error(
    'errors/data-misfit',
    '`data` does not make what the shape of the error payload asks for.',
    'Name each required property, and none that the shape does not have.',
    (subject) => {
      const payload = statedValue(subject.spec.errors.payload);
      const shape = typeof payload === 'object' ? statedValue(payload.shape) : undefined;
      if (typeof payload !== 'object' || !shape || isExpression(payload.data)) return [];
      const at = below(below(subject.spec.errors.at, 'payload'), 'data');
      return valueAt(subject.spec.document.tree, at) === undefined ? [] : dataMisfits(subject, shape, payload.data, at);
    },
  ),
];

function eachRule({ spec }: Subject, find: (rule: ErrorRule, code: ErrorCode) => readonly Wrong[]): Wrong[] {
  return entriesOf(spec.errors.codes).flatMap(([, code]) => code.rules.flatMap((rule) => find(rule, code)));
}

function badMessage({ message = '', when, at }: ErrorRule): Wrong[] {
  const place = below(at, 'message');
  const [word] = unknownMarks(message);
  if (word !== undefined) return [{ message: `A violation has no \`${word}\`.`, at: place }];
  if (!tellsViolation(message) || (statedValue(when) ?? []).some(hasViolations)) return [];
  if (!isStated(when) && (when.standing === 'any' || when.question !== undefined)) return [];
  return [{ message: 'What it is given for has no violations, so nothing stands in these places.', at: place }];
}

/** Whether what a condition refuses tells what is wrong, and where. */
function hasViolations(condition: string): boolean {
  return condition.startsWith('request.') || violating.has(condition);
}

const violating: ReadonlySet<string> = new Set<ErrorCondition>([
  'resource.exists',
  'reference.missing',
  'limit.page',
  'version.unknown',
]);

/** Every place outside its own part at which an error is named. */
function namedErrors({ spec, machines, endpoints }: Subject): { readonly code: string; readonly at: string }[] {
  const { tree } = spec.document;
  const transitions = machines.flatMap((machine) => entriesOf(machine.transitions).map(([, transition]) => transition));
  const rules = statedValue(spec.authentication.permissions) ?? [];
  const targets = [...machines.flatMap(({ initial }) => initial), ...transitions.flatMap(({ to }) => to)];
  return [
    ...targets.flatMap(({ answer, at }) => (answer === undefined ? [] : [{ code: answer, at: below(at, 'answer') }])),
    ...transitions.flatMap(({ at, else: code, ifElse }) => [
      ...(code === undefined ? [] : [{ code, at: below(at, 'else') }]),
      ...(ifElse === undefined ? [] : [{ code: ifElse, at: below(below(at, 'if'), 'else') }]),
    ]),
    ...rules.flatMap(({ at, else: code }) => (code === undefined ? [] : [{ code, at: below(at, 'else') }])),
    ...endpoints.flatMap(({ at, errors = [] }) => {
      const list = below(at, 'errors');
      const isList = Array.isArray(valueAt(tree, list));
      return errors.map((code, index) => ({ code, at: isList ? below(list, index) : list }));
    }),
  ];
}

function isUnconditional({ when, if: condition }: ErrorRule): boolean {
  return !isStated(when) && when.standing !== 'any' && !('question' in when) && condition === undefined;
}

function cannotArise(subject: Subject): Wrong[] {
  const { spec } = subject;
  const arising = new Set<string>(arisingConditions(spec));
  const operations = callableOperations(spec);
  return eachRule(subject, ({ when, on }, { name }) => {
    const words = statedValue(when) ?? [];
    return words.flatMap((condition, index) => {
      if (!isCondition(condition)) return [];
      const at = itemPlace(subject, when.at, words, index);
      if (isNever(spec, condition))
        return [{ message: `\`${condition}\` is said never to arise, so it never gives \`${name}\`.`, at }];
      if (mayArise(subject, condition)) return [];
      if (!arising.has(condition))
        return [{ message: `\`${condition}\` cannot arise in this document, so it never gives \`${name}\`.`, at }];
      if (!on) return [];
      const own = operations.filter((operation) => namesOperation(on, operation));
      if (own.length === 0 || own.some((operation) => arisesAt(spec, condition, operation))) return [];
      return [{ message: `\`${condition}\` cannot arise at ${on.map((word) => `\`${word}\``).join(', ')}.`, at }];
    });
  });
}

interface Claim {
  readonly code: string;
  readonly at: string;
  readonly on: readonly string[] | undefined;
}

function twoForOne(subject: Subject): Wrong[] {
  const claims = new Map<string, Claim[]>();
  eachRule(subject, ({ when, on, if: condition }, { name }) => {
    const words = condition ? [] : (statedValue(when) ?? []);
    for (const [index, word] of words.entries()) {
      const claim = { code: name, at: itemPlace(subject, when.at, words, index), on };
      claims.set(word, [...(claims.get(word) ?? []), claim]);
    }
    return [];
  });
  return [...claims].flatMap(([condition, rivals]) => (rivals.length < 2 ? [] : equals(subject, condition, rivals)));
}

/** Without `on`, one condition can have one error; with it, one for each operation that is named, and for each resource's `all`. */
function equals(subject: Subject, condition: string, rivals: readonly Claim[]): Wrong[] {
  const first = new Map<string, Claim>();
  return rivals.flatMap((claim) => {
    const places = claim.on === undefined ? ['every operation'] : claim.on.map((word) => `\`${word}\``);
    const taken = places.flatMap((place) => {
      const rival = first.get(place);
      if (!rival) first.set(place, claim);
      return rival && rival !== claim ? [{ place, rival }] : [];
    });
    const [clash] = taken;
    if (!clash || subject.isBroken(claim.at)) return [];
    const message = `\`${condition}\` at ${clash.place} gives \`${clash.rival.code}\` and \`${claim.code}\`.`;
    return [{ message, at: claim.at, also: [{ message: 'The other one.', at: clash.rival.at }] }];
  });
}

function orderProblems({ spec }: Subject): Wrong[] {
  const { order } = spec.errors;
  const named = statedValue(order) ?? [];
  const twice = named.flatMap((word, index) =>
    named.indexOf(word) === index ? [] : [{ message: `\`${word}\` is named twice.`, at: below(order.at, index) }],
  );
  const [word, behind] = impossibleStep(named) ?? [];
  const wrong = { message: `\`${word}\` stands before \`${behind}\`, behind which it has to stand.`, at: order.at };
  return word === undefined ? twice : [...twice, wrong];
}

/** What this language lets a service never refuse: it passes over what it would be refused for, or refuses it as something else. */
const passedOver: ReadonlySet<ErrorCondition> = new Set<ErrorCondition>([
  'request.accept',
  'request.media',
  'request.untyped',
  'request.missing',
  'method.unsupported',
  'idempotency.busy',
  'write.conflict',
  'service.unavailable',
  'internal',
]);

/** Each condition of which `none` is said, and that something in the document makes arise. */
function arisesAllTheSame({ spec }: Subject): Wrong[] {
  const operations = callableOperations(spec);
  return Object.entries(spec.errors.conditions).flatMap(([condition, { standing, at }]) => {
    if (standing !== 'none' || !isCondition(condition) || passedOver.has(condition)) return [];
    if (condition === 'limit.time') {
      const { requestMs } = statedValue(spec.limits.timeout) ?? {};
      return requestMs === undefined ? [] : [{ message: 'A time-out of requests makes `limit.time` arise.', at }];
    }
    const where = operations.find((operation) => mightArise(spec, condition, operation));
    return where ? [{ message: `\`${condition}\` arises at \`${where.name}\`.`, at }] : [];
  });
}

/** Whether something open, or a list that is not the whole, may make a condition arise; then nothing is known about it. */
function mayArise({ spec, names }: Subject, condition: ErrorCondition): boolean {
  return !names.operations.closed || deciding[generalCondition(condition)]?.(spec) === true;
}

type Undecided = (spec: Spec) => boolean;
const requests: Undecided = ({ resources }) => resources.others !== undefined || fieldsAreOpen({ resources });

/** What each condition depends on, where that can be open. */
const deciding: Readonly<Partial<Record<ErrorCondition, Undecided>>> = {
  'request.malformed': requests,
  'request.media': requests,
  'request.invalid': requests,
  'caller.unknown': ({ authentication }) => isOpen(authentication.schemes),
  'caller.forbidden': ({ authentication }) => isOpen(authentication.permissions) || isOpen(authentication.schemes),
  'resource.exists': requests,
  'reference.missing': (spec) => requests(spec) || setsReference(spec),
  'reference.held': requests,
  'transition.illegal': ({ states }) =>
    isOpen(states.all) || states.others !== undefined || entriesOf(states.all).some(([, machine]) => isOpen(machine)),
  'limit.rate': ({ limits }) => isOpen(limits.rate),
  'limit.quota': ({ limits }) => isOpen(limits.quota),
  'limit.size': ({ limits }) => isOpen(limits.size),
  'limit.page': ({ limits, endpoints }) =>
    isOpen(limits.pagination) ||
    entriesOf(endpoints.all).some(([, { pagination }]) => pagination !== undefined && isOpen(pagination)),
  'version.unknown': ({ versioning }) => isOpen(versioning.versions) || isOpen(versioning.select),
  'version.sunset': ({ versioning }) =>
    isOpen(versioning.versions) ||
    versioning.others !== undefined ||
    entriesOf(versioning.versions).some(([, { deprecation, current }]) => isOpen(deprecation) && !current),
};

/** Whether the service sets a reference, which may lead to a row that is not there. */
function setsReference({ resources }: Spec): boolean {
  const fields = entriesOf(resources.all).flatMap(([, resource]) => entriesOf(resource.fields));
  return fields.some(([, { ref, set }]) => ref !== undefined && Object.keys(set).length > 0);
}

function isOpen(fact: Fact<unknown>): boolean {
  return !isStated(fact) && fact.standing !== 'none';
}

function fieldsAreOpen({ resources }: Pick<Spec, 'resources'>): boolean {
  return (
    isOpen(resources.all) ||
    entriesOf(resources.all).some(([, { fields }]) => isOpen(fields) || entriesOf(fields).some(([, { shape }]) => isOpen(shape)))
  );
}
