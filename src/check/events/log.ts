import { below } from '../../document/pointer.ts';
import { type EventLog, logOf } from '../../parts/event-telling.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { followedOf, followingName } from '../../parts/followed.ts';
import { namesOperation, type Operation, verbOf } from '../../parts/operations.ts';
import { isSuppliedByService } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { machineOn, machinesOf } from '../../parts/states.ts';
import { typesOf } from '../subject/json-types.ts';
import { fieldVocabulary, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** The events as rows of a resource. */
export const logRules: readonly Rule[] = [
  error(
    'events/log-resource',
    'The log of events is kept in no resource whose rows can be events.',
    'Write the name of a stated resource, whose identifier is made: `identifier: { field: id, generate: "evt_{ulid}" }`.',
    (subject) => eachLog(subject, wrongResource),
  ),
  error(
    'events/log-keep',
    'It is not said how long the rows of the log of events are kept, or in two ways.',
    'Write `keep: 30d` or `keep: forever`.',
    (subject) => eachLog(subject, wrongKeep),
  ),
  error(
    'events/log-field',
    'The log of events gives a value to a field that it cannot give one to.',
    'Name a field of its resource; the identifier is that of the event.',
    (subject) => eachLog(subject, (_, log, resource) => (resource ? wrongFields(subject, log, resource) : [])),
  ),
  error(
    'events/log-lacks',
    'A row of the log of events lacks a field that answers must carry.',
    'Give it under `set`, or say what sets it when one is made.',
    (subject) => eachLog(subject, (_, log, resource) => (resource ? lackedFields(log, resource) : [])),
  ),
  error(
    'events/log-written',
    'Something other than the log makes, changes or deletes its rows.',
    'Take it out: the rows are the events, and go once they were kept for their time.',
    (subject) => eachLog(subject, (_, _log, resource) => (resource ? writtenOtherwise(subject, resource) : [])),
  ),
  error(
    'events/log-told',
    'Something comes of a row of the log of events: what comes of an event would be told of by events.',
    'Let it come of the change that emits the event.',
    (subject) => eachLog(subject, (_, _log, resource) => (resource ? toldOf(subject, resource) : [])),
  ),
  error(
    'events/log-held',
    'A row of the log of events keeps what it refers to from being deleted, or is kept longer by what refers to it.',
    'Write `onDelete: cascade` or `onDelete: clear`, or keep the identifier as a text.',
    (subject) => eachLog(subject, (_, _log, resource) => (resource ? heldRows(subject, resource) : [])),
  ),
  error(
    'events/log-payload',
    'The log of events keeps payloads in a field that cannot hold them all.',
    'Let the field hold what each event says, or give the event a payload of that type.',
    (subject) => eachLog(subject, (_, log, resource) => (resource ? misheldPayloads(subject, log, resource) : [])),
  ),
  warning(
    'events/log-unread',
    'No operation reads or lists the log of events.',
    'Add `GET /events: { does: list event }`, or take the log out.',
    (subject) =>
      eachLog(subject, ({ endpointsByResource }, { resource, at }, stated) => {
        const isShown = (endpointsByResource.get(resource) ?? []).some(({ does }) => {
          const verb = statedValue(does)?.verb;
          return verb === 'read' || verb === 'list' || verb === undefined;
        });
        return !stated || isShown ? [] : [{ message: `Nobody reads \`${resource}\`.`, at, onKey: true }];
      }),
  ),
];

function eachLog(
  subject: Subject,
  find: (subject: Subject, log: EventLog, resource: Resource | undefined) => readonly Wrong[],
): Wrong[] {
  const log = logOf(subject.spec);
  if (!log || subject.isBroken(log.at)) return [];
  const resource = subject.resources.get(log.resource);
  return [...find(subject, log, resource && isStated(resource.identifier) ? resource : undefined)];
}

function wrongResource({ names, resources }: Subject, { resource, at }: EventLog): Wrong[] {
  const place = below(at, 'resource');
  if (resource === '') return [{ message: 'No resource is named.', at, onKey: true }];
  const unknown = unstated(names.resources, resource, place);
  const stated = resources.get(resource);
  if (unknown.length > 0 || !stated) return unknown;
  if (stated.identifier.standing === 'none')
    return [{ message: `\`${resource}\` is a value, of which no rows are kept.`, at: place }];
  const identifier = statedValue(stated.identifier);
  const made = identifier?.generate;
  if (!identifier || (made !== undefined && made !== 'client' && made !== 'integer')) return [];
  const how = made === 'integer' ? 'counted' : 'not made by the service';
  return [
    {
      message: `The identifier of \`${resource}\` is ${how}, and an event has its own before anything is stored.`,
      at: place,
      also: [{ message: 'The identifier stands here.', at: stated.identifier.at }],
    },
  ];
}

function wrongKeep({ resources }: Subject, { at, keepMs, resource }: EventLog): Wrong[] {
  const kept = resources.get(resource)?.kept;
  return [
    ...(keepMs === undefined ? [{ message: 'It is not said how long.', at: below(at, 'keep') }] : []),
    ...(keepMs === 0 ? [{ message: 'A row is gone as soon as it is made.', at: below(at, 'keep') }] : []),
    ...(kept ? [{ message: 'Its rows are gone once their time is over.', at: kept.at, onKey: true }] : []),
  ];
}

function wrongFields({ spec }: Subject, { set, at }: EventLog, resource: Resource): Wrong[] {
  const fields = statedValue(resource.fields);
  return Object.keys(set).flatMap((name): Wrong[] => {
    const place = below(below(at, 'set'), name);
    const field = fields?.[name];
    if (!field) return unstated(fieldVocabulary(resource), name, place, { onKey: true });
    if (name === statedValue(resource.identifier)?.field)
      return [{ message: `\`${name}\` is the identifier of the event.`, at: place, onKey: true }];
    if (field.derive || field.children || machineOn(spec.states, resource.name, name))
      return [{ message: `\`${name}\` is reckoned, or moved by transitions.`, at: place, onKey: true }];
    return [];
  });
}

function lackedFields({ set, at }: EventLog, resource: Resource): Wrong[] {
  const own = statedValue(resource.identifier)?.field;
  const lacking = entriesOf(resource.fields).flatMap(([name, field]) => {
    const isGiven =
      name === own || set[name] !== undefined || isSuppliedByService(field, 'create') || field.derive || field.children;
    return isGiven || statedValue(field.required) !== true ? [] : [name];
  });
  return lacking.length === 0 ? [] : [{ message: `Nothing gives ${listed(lacking)}.`, at, onKey: true }];
}

/** Fields that are given whole payloads, and whose types are none of a payload that some event has. */
function misheldPayloads({ spec }: Subject, { set, at }: EventLog, resource: Resource): Wrong[] {
  return Object.entries(set).flatMap(([name, { source }]): Wrong[] => {
    const field = entryOf(resource.fields, name);
    const held = source.trim() === 'event.payload' && field ? typesOf(statedValue(field.shape) ?? {}) : undefined;
    const misheld = entriesOf(spec.events.kinds).flatMap(([kind, { payload }]) => {
      const types = held ? [...payloadTypes(spec, statedValue(payload))] : [];
      const isHeld = types.length === 0 || types.some((type) => held?.has(type) || (type === 'integer' && held?.has('number')));
      return isHeld ? [] : [`\`${kind}\` (${types.join(' or ')})`];
    });
    if (misheld.length === 0) return [];
    const message = `\`${name}\` holds ${[...(held ?? [])].join(' or ')}, and that is not the payload of ${misheld.join(', ')}.`;
    return [{ message, at: below(below(at, 'set'), name), onKey: true }];
  });
}

/** The types of a payload; none where they are not known. */
function payloadTypes(spec: Spec, payload: Shape | undefined): ReadonlySet<string> {
  if (payload?.resource !== undefined) return new Set(['object']);
  const target = payload?.ref === undefined ? undefined : entryOf(spec.resources.all, String(payload.ref));
  const identifier = target && statedValue(target.identifier);
  const named = identifier && entryOf(target.fields, identifier.field);
  return typesOf((named ? statedValue(named.shape) : payload) ?? {}) ?? new Set();
}

const writing: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert', 'delete', 'transition']);

function writtenOtherwise({ spec, endpointsByResource }: Subject, { name }: Resource): Wrong[] {
  const endpoints = (endpointsByResource.get(name) ?? []).flatMap((endpoint): Wrong[] => {
    const verb = statedValue(endpoint.does)?.verb;
    return verb !== undefined && writing.has(verb)
      ? [
          {
            message: `\`${endpoint.operation}\` would, and the rows of \`${name}\` are the events.`,
            at: below(endpoint.at, 'does'),
          },
        ]
      : [];
  });
  const acts = followedOf(spec).flatMap(({ acts: all }) =>
    all.flatMap(({ does, at }): Wrong[] =>
      does?.resource === name ? [{ message: `\`${followingName(does)}\` would.`, at, onKey: true }] : [],
    ),
  );
  const machines = machinesOf(spec.states, name).map(
    ({ at }): Wrong => ({ message: `A row of \`${name}\` is in no state, for nothing changes it.`, at, onKey: true }),
  );
  const subscribers = statedValue(spec.events.delivery)?.push?.subscribers;
  const isSubscribers = subscribers?.resource === name;
  return [
    ...endpoints,
    ...acts,
    ...machines,
    ...(isSubscribers ? [{ message: 'Subscribers are disabled there.', at: below(subscribers.at, 'resource') }] : []),
  ];
}

function toldOf({ spec, operations }: Subject, { name }: Resource): Wrong[] {
  const isOfLog = (operation: Operation) => operation.resource === name && !isShowing(operation);
  const own = operations.filter(isOfLog);
  const kinds = entriesOf(spec.events.kinds).flatMap(([kind, { on, clock, at }]): Wrong[] => {
    const names = statedValue(on) ?? [];
    const isTold = clock?.of === name || own.some((operation) => namesOperation(names, operation, 'event'));
    return isTold ? [{ message: `\`${kind}\` is told of a row of \`${name}\`.`, at, onKey: true }] : [];
  });
  const acts = followedOf(spec).flatMap(({ resource, at }): Wrong[] =>
    resource === name ? [{ message: `Something follows from a row of \`${name}\`.`, at, onKey: true }] : [],
  );
  return [...kinds, ...acts];
}

function isShowing(operation: Operation): boolean {
  const verb = verbOf(operation);
  return verb === 'read' || verb === 'list';
}

function heldRows({ resources }: Subject, { name }: Resource): Wrong[] {
  return [...resources.values()].flatMap((resource) =>
    entriesOf(resource.fields).flatMap(([field, { ref, onDelete, at }]): Wrong[] => {
      if (ref === undefined || !isStated(resource.identifier) || (resource.name !== name && ref !== name)) return [];
      if (onDelete === 'cascade' || onDelete === 'clear') return [];
      const message =
        resource.name === name
          ? `\`${field}\` keeps the ${ref} that it refers to.`
          : `\`${field}\` of \`${resource.name}\` keeps a row of the log.`;
      return [{ message, at, onKey: true }];
    }),
  );
}
