import { below } from '../../document/pointer.ts';
import type { EventKind } from '../../parts/events.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { dataMisfits, isExpression, propertiesOf } from '../data.ts';
import { listed } from '../names.ts';
import { unknownOperations } from '../operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../rule.ts';

/** What emits events, and what they carry. */
export const kindRules: readonly Rule[] = [
  error(
    'events/unknown-operation',
    'An event is emitted by an operation that is not there.',
    "Write the operation's name, or bind an endpoint to it.",
    (subject) => eachKind(subject, ({ on }) => unknownOperations(subject, statedValue(on) ?? [], on.at)),
  ),
  warning(
    'events/never-emitted',
    'No operation emits an event: none is named, or only such as store nothing.',
    'Name an operation that stores something, or take the event out.',
    (subject) => eachKind(subject, (kind) => neverEmitted(subject, kind)),
  ),
  error(
    'events/payload-misfit',
    'What an operation gives does not fit the payload of the event.',
    'Say under `data` what each required property is, and no other.',
    (subject) => eachKind(subject, (kind) => misfits(subject, kind)),
  ),
  warning(
    'events/undelivered',
    'Events are stated, and nothing delivers them.',
    'State `webhook` or `stream` under `delivery`, or take the events out.',
    ({ spec }) => {
      const { kinds, delivery } = spec.events;
      const ways = statedValue(delivery);
      const isNone =
        delivery.standing === 'none' || (ways && !ways.webhook && !ways.stream && !hasOpenWay(spec.document.tree.events));
      return isNone && entriesOf(kinds).length > 0
        ? [{ message: 'Nothing delivers these events.', at: kinds.at, onKey: true }]
        : [];
    },
  ),
];

function eachKind({ spec }: Subject, find: (kind: EventKind) => readonly Wrong[]): Wrong[] {
  return entriesOf(spec.events.kinds).flatMap(([, kind]) => find(kind));
}

/** A way of delivery that is open stands in the tree, and not in the model. */
function hasOpenWay(events: unknown): boolean {
  return typeof events === 'object' && /"(?:webhook|stream)":\{"\$(?:open|any)"/.test(JSON.stringify(events));
}

function emittersOf({ operations }: Subject, names: readonly string[]): Operation[] {
  return operations.filter((operation) => namesOperation(names, operation, 'event'));
}

/** Handlers emit by themselves, so an event without operations may be one of theirs. */
function neverEmitted(subject: Subject, { name, at, on }: EventKind): Wrong[] {
  const names = statedValue(on);
  if (!names || unknownOperations(subject, names, on.at).length > 0) return [];
  const hasHandlers = subject.endpoints.some(({ does }) => !isStated(does) || does.value.verb === 'handler');
  if (names.length === 0) return hasHandlers ? [] : [{ message: `No operation emits \`${name}\`.`, at, onKey: true }];
  const emitters = emittersOf(subject, names);
  if (emitters.length === 0 || emitters.some(stores)) return [];
  return [
    {
      message: `Nothing is stored by ${listed(emitters.map((operation) => operation.name))}, so \`${name}\` is never emitted.`,
      at: on.at,
    },
  ];
}

function stores({ name, endpoint }: Operation): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return verb !== 'read' && verb !== 'list' && verb !== 'reply' && name !== 'stream events' && name !== 'read ledger';
}

/** Without `data` the payload is the resource that the operation stored. */
function misfits(subject: Subject, kind: EventKind): Wrong[] {
  const { payload, data, on } = kind;
  const shape = statedValue(payload);
  if (!shape) return [];
  if (data) return isExpression(data) ? [] : dataMisfits(subject, shape, Object.keys(data), below(kind.at, 'data'));
  const stored = new Map<string, string[]>();
  for (const operation of emittersOf(subject, statedValue(on) ?? [])) {
    const { name, resource } = operation;
    if (resource === undefined || !stores(operation) || shape.resource === resource) continue;
    stored.set(resource, [...(stored.get(resource) ?? []), name]);
  }
  return [...stored].flatMap(([resource, names]) => {
    const which = `\`${resource}\`, stored by ${listed(names)},`;
    if (typeof shape.resource === 'string') return [{ message: `A ${which} is no \`${shape.resource}\`.`, at: payload.at }];
    const fields = propertiesOf(subject, { resource });
    const asked = propertiesOf(subject, shape);
    const missing = asked && fields?.closed ? asked.required.filter((property) => !fields.names.has(property)) : [];
    return missing.length === 0 ? [] : [{ message: `A ${which} has no ${listed(missing)}.`, at: payload.at }];
  });
}
