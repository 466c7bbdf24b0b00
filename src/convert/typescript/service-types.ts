import { entriesOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { machinesOf, transitionsOf } from '../../parts/states.ts';
import { literal, type TypeNames, unsettledLine } from '../spec/words.ts';
import { type OperationTypes, operationWord } from './operation-types.ts';
import { isIdentifierOrState, neededFields, type ResourceTypes } from './resource-types.ts';
import { shapeType } from './shape-type.ts';
import {
  anyString,
  applied,
  neverType,
  type ObjectMember,
  objectOf,
  type Type,
  undefinedType,
  union,
  unknownType,
  word,
} from './syntax.ts';
import { declaration, flat } from './write.ts';

/** Who calls: the stated users, and the scopes that the document speaks of. */
export function callerTypes(spec: Spec): string[] {
  const { users } = spec.purpose;
  const { schemes, permissions } = spec.authentication;
  const asked = isStated(permissions) ? permissions.value.flatMap((rule) => rule.scopes) : [];
  const scopes = [...new Set([...entriesOf(schemes).flatMap(([, scheme]) => Object.keys(scheme.scopes)), ...asked])];
  const user = isStated(users) ? literals(Object.keys(users.value)) : word('string');
  return [
    declaration('CallerUser', user, ['The users of the service.', ...unsettled(users, 'the users')]),
    declaration(
      'CallerScope',
      union([...scopes.map((scope) => word(literal(scope))), scopes.length > 0 ? anyString : word('string')]),
      ['What a credential is good for. Others may come too.'],
    ),
  ];
}

/** The error codes that the service's own code may fail with. */
export function errorCodes(spec: Spec): string {
  const { codes } = spec.errors;
  const type = isStated(codes) ? literals(Object.keys(codes.value)) : codes.standing === 'none' ? neverType : word('string');
  return declaration('ErrorCode', type, ['The codes of the errors.', ...unsettled(codes, 'the error codes')]);
}

/** The payload of each kind of event, and what it is called by. */
export function eventTypes(types: ResourceTypes): string[] {
  const { kinds } = types.reading.spec.events;
  const members = entriesOf(kinds).map(([name, { payload, at }]): ObjectMember => {
    const type = isStated(payload) ? shapeType(payload.value, types.shapes('shown')) : unknownType;
    return { name, type, doc: [...types.reading.prose(at), ...unsettled(payload, `the payload shape of ${name}`)] };
  });
  const isUnknown = kinds.standing === 'open' || kinds.standing === 'any';
  return [
    declaration('EventPayloads', objectOf(members, isUnknown ? unknownType : undefined), [
      'What each kind of event carries.',
      ...unsettled(kinds, 'the kinds of event'),
    ]),
    declaration('EventKind', isUnknown ? word('string') : keysOf('EventPayloads', members)),
  ];
}

/** The transitions of each resource that has a machine. */
export function transitionTypes(spec: Spec): string {
  const members = entriesOf(spec.resources.all).flatMap(([name]): ObjectMember[] => {
    const machines = machinesOf(spec.states, name);
    if (machines.length === 0) return [];
    const isAnyStated = machines.some(({ transitions }) => isStated(transitions));
    const type = isAnyStated ? literals(transitionsOf(spec.states, name).map(([one]) => one)) : neverType;
    return [{ name, type, doc: machines.flatMap(({ key, transitions }) => unsettled(transitions, `the transitions of ${key}`)) }];
  });
  return declaration('Transitions', objectOf(members), [
    'The transitions of each resource that has states.',
    ...unsettled(spec.states.all, 'the states'),
  ]);
}

/** What the store keeps: each thing as it is read, made and changed by the service's own code. */
export function storedTypes(types: ResourceTypes): string[] {
  const { spec } = types.reading;
  const kept = entriesOf(spec.resources.all).flatMap(([name, resource]) => {
    const row = isStated(resource.identifier) ? types.named(name, 'row') : undefined;
    if (!row) return [];
    const fields = entriesOf(resource.fields).filter(([, field]) => field.stored);
    const given = fields.filter(([, field]) => isIdentifierOrState(spec, resource, field, 'generated'));
    const fixed = fields.filter(([, field]) => isIdentifierOrState(spec, resource, field));
    const needed = neededFields(spec, resource);
    const identifier = statedValue(resource.identifier)?.field ?? '';
    const isKept = fields.some(([field]) => field === identifier);
    const made = applied('NewRow', row, literals(needed), literals(given.map(([field]) => field)));
    const created = applied('NewRow', row, literals(isKept ? [identifier, ...needed] : needed), neverType);
    const patch = applied('RowPatch', row, literals(fixed.map(([field]) => field)));
    return [{ name, row, made, created, patch }];
  });
  const members = (pick: (one: (typeof kept)[number]) => Type) =>
    kept.map((one): ObjectMember => ({ name: one.name, type: pick(one) }));
  return [
    declaration('StoredRows', objectOf(members(({ row }) => row)), [
      'What the store keeps, by resource.',
      ...unsettled(spec.resources.all, 'the resources'),
    ]),
    declaration('NewRows', objectOf(members(({ made }) => made)), [
      'What makes a row. The store sets the rest: the identifier, the first state, defaults, and what is set or generated.',
    ]),
    declaration('CreatedRows', objectOf(members(({ created }) => created)), [
      'What is known of a row that was made just now: what was given, and its identifier. The rest is set when it is stored.',
    ]),
    declaration('RowPatches', objectOf(members(({ patch }) => patch)), [
      'What changes a row: null removes a field. Transitions alone change the state.',
    ]),
  ];
}

function unsettled(fact: Fact<unknown>, what: string): string[] {
  return isStated(fact) ? [] : [unsettledLine(what, fact)];
}

function literals(words: readonly string[]): Type {
  return union(words.map((text) => word(literal(text))));
}

function keysOf(name: string, members: readonly ObjectMember[]): Type {
  return members.length === 0 ? neverType : word(`keyof ${name}`);
}

/** `Handlers`, with a context for each: one property for every `handler NAME` of the document. */
export function handlerTypes(operations: readonly OperationTypes[], types: ResourceTypes, names: TypeNames): string[] {
  const contexts: string[] = [];
  const byName = new Map<string, { readonly context: Type[]; readonly result: Type[]; readonly doc: string[] }>();
  for (const operation of operations) {
    const { effect, endpoint, params, received, result } = operation;
    if (effect?.verb !== 'handler') continue;
    const name = names.claim(operationWord(endpoint), 'Context', 'Operation');
    const caller = callerOf(operation, types.reading.spec);
    contexts.push(
      declaration(name, applied('HandlerContext', received, params, caller), [
        `What the handler of \`${endpoint.key}\` is given.`,
      ]),
    );
    const known = byName.get(effect.name) ?? { context: [], result: [], doc: [] };
    byName.set(effect.name, known);
    known.context.push(word(name));
    known.result.push(result === undefinedType ? word('void') : result);
    known.doc.push(...types.reading.prose(endpoint.at), `\`${endpoint.key}\``);
  }
  const members = [...byName].map(([name, { context, result, doc }]): ObjectMember => {
    const answer = union(result);
    return { name, type: functionType(union(context), answer), doc };
  });
  return [...contexts, declaration('Handlers', closed(members), ["The service's own operations."])];
}

/** `BeforeHandlers`, with a context for each: one property, that may be left out, for every operation that changes something. */
export function beforeTypes(operations: readonly OperationTypes[], types: ResourceTypes, names: TypeNames): string[] {
  const contexts: string[] = [];
  const members = operations.flatMap((operation): ObjectMember[] => {
    const { endpoint } = operation;
    const context = beforeContext(operation, types);
    if (!context) return [];
    const name = names.claim(operationWord(endpoint), 'Context', 'Operation');
    contexts.push(declaration(name, context, [`What stands before \`${endpoint.key}\` is given.`]));
    const doc = [...types.reading.prose(endpoint.at), `\`${endpoint.key}\``];
    return [{ name: operation.operation, type: functionType(word(name), word('void')), optional: true, doc }];
  });
  const distinct = members.filter(({ name }, index) => members.findIndex((other) => other.name === name) === index);
  return [
    ...contexts,
    declaration('BeforeHandlers', closed(distinct), [
      'What stands in front of the stated operations: it may fail, or change what would be stored.',
    ]),
  ];
}

function beforeContext(operation: OperationTypes, types: ResourceTypes): Type | undefined {
  const { effect, params, request, received } = operation;
  if (!effect || !('resource' in effect) || effect.verb === 'read' || effect.verb === 'list') return undefined;
  const { resource, verb } = effect;
  const row = types.named(resource, 'row');
  if (!row) return undefined;
  const makes = verb === 'create' || verb === 'upsert';
  const before = verb === 'create' ? undefinedType : verb === 'upsert' ? union([row, undefinedType]) : row;
  const takesBody = verb === 'update' || verb === 'replace';
  const next = makes || (takesBody && types.passesThrough(resource)) ? types.named(resource, 'next') : row;
  const body = verb === 'transition' || verb === 'delete' ? received : request;
  return applied('BeforeContext', body, params, callerOf(operation, types.reading.spec), before, next ?? row);
}

/** Who calls: somebody known, unless anyone may. */
function callerOf({ operation, endpoint, effect }: OperationTypes, spec: Spec): Type {
  const { schemes, permissions, public: open } = spec.authentication;
  const resource = effect && 'resource' in effect ? effect.resource : undefined;
  const one = { name: operation, endpoint, ...(resource !== undefined && { resource }) };
  const rules = statedValue(permissions) ?? [];
  const isForAnyone = rules.some((rule) => rule.to === 'anyone' && namesOperation(rule.allow, one));
  const isKnown = isStated(schemes) && !namesOperation(open, one) && !isForAnyone;
  return isKnown ? word('Caller') : union([word('Caller'), undefinedType]);
}

/** An object of these members and no other, also where there are none. */
function closed(members: readonly ObjectMember[]): Type {
  return objectOf(members, members.length === 0 ? neverType : undefined);
}

function functionType(context: Type, answer: Type): Type {
  const result = union([answer, applied('Promise', answer)]);
  return word(`(context: ${flat(context)}) => ${flat(result)}`);
}
