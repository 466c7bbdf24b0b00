import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { sentAs, type Taking } from '../../parts/answers.ts';
import { type Effect, readEffect, resourceVerbs } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { ownRow } from '../../parts/path-keys.ts';
import { boundByPath, fieldParameters, isSuppliedByService } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { isComposed } from '../../parts/shapes/branches.ts';
import { isPlainMap } from '../../parts/source.ts';
import { machinesOf } from '../../parts/states.ts';
import { fieldOf, fieldVocabulary, knownTransitions, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What endpoints do. */
export const effectRules: readonly Rule[] = [
  error(
    'endpoints/does',
    'What an endpoint does cannot be read.',
    'Write a verb and a resource, a transition and a resource, `handler NAME`, or `reply`.',
    ({ endpoints, spec }) =>
      endpoints.flatMap((endpoint) => {
        const at = below(endpoint.at, 'does');
        const text = valueAt(spec.document.tree, at);
        if (typeof text !== 'string' || readEffect(text)) return [];
        return [{ message: `\`${text}\` does not say what is done to what.`, at }];
      }),
  ),
  error(
    'endpoints/unknown-resource',
    'An endpoint acts on a resource that is not stated.',
    'Write the name of a stated resource.',
    (subject) =>
      eachEffect(subject, (effect, at) => ('resource' in effect ? unstated(subject.names.resources, effect.resource, at) : [])),
  ),
  error(
    'endpoints/unknown-transition',
    'An endpoint fires a transition that its resource does not have.',
    'Write the name of a transition, or a verb: create, read, list, update, replace, upsert, delete.',
    (subject) =>
      eachEffect(subject, (effect, at) => (effect.verb === 'transition' ? unknownTransition(subject, effect, at) : [])),
  ),
  error(
    'endpoints/impossible',
    'An endpoint does what its resource cannot do.',
    'Give the resource what it lacks, or let the endpoint do something else.',
    (subject) => eachEffect(subject, (effect, at) => impossible(subject, effect, at)),
  ),
  error(
    'endpoints/no-row',
    'An endpoint acts on one thing, and nothing says which.',
    'Put its identifier into the path, or state `identity: caller.id` or the like.',
    (subject) =>
      eachEffect(subject, (effect, at, endpoint) => {
        const isOne = ['read', 'update', 'replace', 'upsert', 'delete', 'transition'].includes(effect.verb);
        if (!isOne || !('resource' in effect) || endpoint.identity || ownRow(endpoint) || fieldParameters(endpoint).length > 0)
          return [];
        if (valueAt(subject.spec.document.tree, below(endpoint.at, 'identity')) !== undefined) return [];
        return [{ message: `Nothing says which \`${effect.resource}\` is meant.`, at }];
      }),
  ),
  error(
    'endpoints/service-transition',
    'An endpoint fires a transition that the service alone fires.',
    'Take `by: service` from the transition, or the endpoint out.',
    (subject) =>
      subject.operations.flatMap(({ endpoint, transition }) =>
        endpoint && transition?.by
          ? [
              {
                message: `\`${transition.name}\` is fired by the service, never by a caller.`,
                at: below(endpoint.at, 'does'),
                also: [{ message: 'The transition stands here.', at: transition.at }],
              },
            ]
          : [],
      ),
  ),
  error(
    'endpoints/operation-twice',
    'Two endpoints have the same operation, so what speaks of it means both.',
    'Give one of them a name of its own: `as: NAME`.',
    ({ operationsByName }) =>
      [...operationsByName].flatMap(([name, operations]) => {
        const [first, ...others] = operations.flatMap(({ endpoint }) => endpoint ?? []);
        return others.map((endpoint) => ({
          message: `\`${endpoint.key}\` and \`${first?.key}\` are both \`${name}\`.`,
          at: endpoint.at,
          onKey: true,
          ...(first && { also: [{ message: 'The other one.', at: `${first.at}#` }] }),
        }));
      }),
  ),
  error(
    'endpoints/takes',
    '`takes` speaks of a body that is not stated, or of a field or member that is not there.',
    'State `request` at a create, update, replace or upsert, and name a member of it and a field of the resource.',
    (subject) => subject.endpoints.flatMap((endpoint) => (endpoint.takes ? wrongTaking(subject, endpoint, endpoint.takes) : [])),
  ),
];

function eachEffect({ endpoints }: Subject, find: (effect: Effect, at: string, endpoint: Endpoint) => readonly Wrong[]): Wrong[] {
  return endpoints.flatMap((endpoint) => {
    const effect = statedValue(endpoint.does);
    return effect ? find(effect, below(endpoint.at, 'does'), endpoint) : [];
  });
}

type Transitioning = Extract<Effect, { verb: 'transition' }>;

function unknownTransition({ spec, resources }: Subject, { transition, resource }: Transitioning, at: string): Wrong[] {
  const names = resources.has(resource) ? knownTransitions(spec, resource) : undefined;
  if (!names || names.includes(transition)) return [];
  const meant = nearest(transition, [...names, ...resourceVerbs]);
  const remedy = meant
    ? `Write \`${meant} ${resource}\`.`
    : `Write one of ${listed(names)}, or a verb: ${listed(resourceVerbs)}.`;
  if (machinesOf(spec.states, resource).length > 0)
    return [{ message: `\`${resource}\` has no transition \`${transition}\`.`, remedy, at }];
  const message = `\`${resource}\` has no states, so it has no transition \`${transition}\`.`;
  const also = isStated(spec.states.all)
    ? [{ message: 'It is said to have none here.', at: below(spec.states.at, resource) }]
    : [];
  return [{ message, remedy: meant ? remedy : `State its machine, or write a verb: ${listed(resourceVerbs)}.`, at, also }];
}

/** A value has no rows of its own that could be made, found or changed. */
function impossible({ resources }: Subject, effect: Effect, at: string): Wrong[] {
  const resource = 'resource' in effect ? resources.get(effect.resource) : undefined;
  if (resource?.identifier.standing !== 'none') return [];
  const also = [{ message: 'It is said to have no identifier here.', at: resource.identifier.at }];
  const verb = effect.verb === 'transition' ? effect.transition : effect.verb;
  return [{ message: `\`${resource.name}\` is a value without an identifier: there is none to ${verb}.`, at, also }];
}

/** What is wrong with where an endpoint takes the fields of its row from. */
function wrongTaking(subject: Subject, { does, request, at: from }: Endpoint, { path, fields }: Taking): Wrong[] {
  const effect = statedValue(does);
  const at = below(from, 'takes');
  if (effect !== undefined && !writing.has(effect.verb))
    return [{ message: 'No fields of a row are sent here.', at, onKey: true }];
  if (!isStated(request)) return [{ message: 'It says how to read a body of which nothing is stated.', at, onKey: true }];
  const members = bodyMembersOf(subject, request.value);
  const [first] = path;
  if (first !== undefined) return members && !members.includes(first) ? [{ message: noMember(first), at }] : [];
  const resource = effect && 'resource' in effect ? subject.resources.get(effect.resource) : undefined;
  // A member that is not named is the field of its own name.
  const taken = new Map(members?.flatMap((member) => (Object.hasOwn(fields, member) ? [] : [[member, member] as const])));
  return Object.entries(fields).flatMap(([member, field]) => {
    const place = below(at, member);
    if (members && !members.includes(member)) return [{ message: noMember(member), at: place, onKey: true }];
    const other = taken.get(field);
    taken.set(field, member);
    if (other !== undefined) return [{ message: `\`${other}\` of the body is the field \`${field}\` too.`, at: place }];
    return resource ? unstated(fieldVocabulary(resource), field.split('.')[0] ?? field, place) : [];
  });
}

const writing: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert']);

/** The members of a body, where one map lists them all. */
function bodyMembersOf({ resources }: Subject, shape: Shape): readonly string[] | undefined {
  if (typeof shape.resource === 'string') {
    const named = resources.get(shape.resource);
    return named && isStated(named.fields) ? Object.keys(named.fields.value) : undefined;
  }
  return !isComposed(shape) && isPlainMap(shape.properties) ? Object.keys(shape.properties) : undefined;
}

function noMember(name: string): string {
  return `The body has no member \`${name}\`.`;
}

/** Identifiers that the client makes, where a stated body says what it may send. */
export const sentIdentifierRules: readonly Rule[] = [
  error(
    'endpoints/identifier-unsent',
    'A creation refuses whatever is sent, because its stated body has no place for the identifier that its client has to make.',
    'State the identifier among the properties of the `request`, let the path name it, `set` it, or let the service generate it.',
    (subject) => subject.endpoints.flatMap((endpoint) => unsent(subject, endpoint, true)),
  ),
  warning(
    'endpoints/identifier-unnamed',
    'A stated body does not name the identifier that its client has to make, so that whatever it describes is refused.',
    'State the identifier among the properties of the `request`.',
    (subject) => subject.endpoints.flatMap((endpoint) => unsent(subject, endpoint, false)),
  ),
];

/** `isClosed`: whether the body lets nothing pass but what it names. */
function unsent(subject: Subject, endpoint: Endpoint, isClosed: boolean): Wrong[] {
  const { does, request, takes } = endpoint;
  const effect = statedValue(does);
  if (effect?.verb !== 'create') return [];
  const resource = subject.resources.get(effect.resource);
  const identifier = resource?.identifier.standing === 'stated' ? resource.identifier.value : undefined;
  const field = fieldOf(resource, identifier?.field ?? '');
  if (identifier?.generate !== 'client' || !field || field.readOnly || isSuppliedByService(field, 'create')) return [];
  if (boundByPath(subject.spec, endpoint).includes(field.name)) return [];
  const at = below(endpoint.at, 'request');
  if (request.standing === 'none' && isClosed)
    return [{ message: `\`${field.name}\` is to be made by the client, which sends nothing.`, at }];
  if (!isStated(request)) return [];
  const shape = innerShape(request.value, takes?.path ?? []);
  const members = shape && bodyMembersOf(subject, shape);
  const [member = ''] = Object.keys(sentAs(endpoint, { [field.name]: true }));
  if (!members || members.includes(member) || isClosedShape(shape) !== isClosed) return [];
  return [{ message: `\`${member}\` is to be made by the client, and is not among what it sends.`, at, onKey: true }];
}

/** The shape of the member that holds the fields; nothing where that cannot be told. */
function innerShape(shape: Shape, [first, ...rest]: readonly string[]): Shape | undefined {
  if (first === undefined) return shape;
  const inner = isPlainMap(shape.properties) ? shape.properties[first] : undefined;
  return isPlainMap(inner) ? innerShape(inner, rest) : undefined;
}

function isClosedShape({ resource, additionalProperties, unevaluatedProperties }: Shape): boolean {
  return typeof resource === 'string' || additionalProperties === false || unevaluatedProperties === false;
}
