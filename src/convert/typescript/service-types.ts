import { entriesOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { machineOf } from '../../parts/states.ts';
import { unsettledLine } from '../unsettled.ts';
import { literal } from './names.ts';
import { isIdentifierOrState, neededFields } from './resource-fields.ts';
import type { ResourceTypes } from './resource-types.ts';
import { shapeType } from './shape-type.ts';
import { anyString, applied, type Member, neverType, objectOf, type Type, union, unknownType, word } from './syntax.ts';
import { declaration } from './write.ts';

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
  const members = entriesOf(kinds).map(([name, { payload, at }]): Member => {
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
  const members = entriesOf(spec.resources.all).flatMap(([name]): Member[] => {
    const machine = machineOf(spec.states, name);
    if (!machine) return [];
    const { transitions } = machine;
    const type = isStated(transitions) ? literals(Object.keys(transitions.value)) : neverType;
    return [{ name, type, doc: unsettled(transitions, `the transitions of ${name}`) }];
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
    kept.map((one): Member => ({ name: one.name, type: pick(one) }));
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

function keysOf(name: string, members: readonly Member[]): Type {
  return members.length === 0 ? neverType : word(`keyof ${name}`);
}
