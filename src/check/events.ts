import type { JsonMap, Pointer } from '../document/document.ts';
import { valueAt } from '../document/place.ts';
import { below } from '../document/pointer.ts';
import { isMap } from '../document/values.ts';
import { deliveryKinds, pullKind } from '../kinds/deliveries/all.ts';
import { signatureKind } from '../kinds/signatures/all.ts';
import { type EventKind, type Push, pullOf } from '../parts/events.ts';
import { entriesOf, isStated, statedValue } from '../parts/fact.ts';
import { namesOperation, type Operation } from '../parts/operations.ts';
import { dataMisfits, isExpression, notADuration, objectPropertiesOf } from './subject/data.ts';
import { onlyType } from './subject/json-types.ts';
import { fieldOf, fieldVocabulary, listed, unstated } from './subject/names.ts';
import { unknownOperations } from './subject/operation-names.ts';
import { problemsOf } from './subject/problems.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

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
    `State ${deliveryKinds.map(({ word }) => `\`${word}\``).join(' or ')} under \`delivery\`, or take the events out.`,
    ({ spec }) => {
      const { kinds, delivery } = spec.events;
      const ways = statedValue(delivery);
      const isNone =
        delivery.standing === 'none' || (ways && !ways.push && !ways.pull && !hasOpenWay(ways.at, spec.document.tree));
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
function hasOpenWay(at: Pointer, tree: JsonMap): boolean {
  return deliveryKinds.some(({ word }) => {
    const way = valueAt(tree, below(at, word));
    return isMap(way) && ('$open' in way || '$any' in way);
  });
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
  if (emitters.length === 0 || emitters.some((operation) => stores(subject, operation))) return [];
  return [
    {
      message: `Nothing is stored by ${listed(emitters.map((operation) => operation.name))}, so \`${name}\` is never emitted.`,
      at: on.at,
    },
  ];
}

function stores({ spec }: Subject, { name, endpoint }: Operation): boolean {
  const pull = pullOf(spec.events)?.operation.name;
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return verb !== 'read' && verb !== 'list' && verb !== 'reply' && name !== pull && name !== 'read ledger';
}

/** Without `data` the payload is the resource that the operation stored. */
function misfits(subject: Subject, kind: EventKind): Wrong[] {
  const { payload, data, on } = kind;
  const shape = statedValue(payload);
  if (!shape) return [];
  if (data) return isExpression(data) ? [] : dataMisfits(subject, shape, data, below(kind.at, 'data'));
  const stored = new Map<string, string[]>();
  for (const operation of emittersOf(subject, statedValue(on) ?? [])) {
    const { name, resource } = operation;
    if (resource === undefined || !stores(subject, operation) || shape.resource === resource) continue;
    stored.set(resource, [...(stored.get(resource) ?? []), name]);
  }
  return [...stored].flatMap(([resource, names]) => {
    const which = `\`${resource}\`, stored by ${listed(names)},`;
    if (typeof shape.resource === 'string') return [{ message: `A ${which} is no \`${shape.resource}\`.`, at: payload.at }];
    const fields = objectPropertiesOf(subject, { resource });
    const asked = objectPropertiesOf(subject, shape);
    const missing = asked && fields?.closed ? asked.required.filter((property) => !fields.names.has(property)) : [];
    return missing.length === 0 ? [] : [{ message: `A ${which} has no ${listed(missing)}.`, at: payload.at }];
  });
}

/** How events reach whoever listens. */
export const deliveryRules: readonly Rule[] = [
  error(
    'events/unknown-subscribers',
    'Subscribers are kept in a resource that is not stated.',
    'Write the name of a stated resource.',
    (subject) =>
      eachSubscribers(subject, ({ at, resource }) => unstated(subject.names.resources, resource, below(at, 'resource'))),
  ),
  error(
    'events/unknown-subscriber-field',
    'A field of subscribers is not one of their resource.',
    'Write the name of a field.',
    (subject) =>
      eachSubscribers(subject, (subscribers) => {
        const resource = subject.resources.get(subscribers.resource);
        return subscriberWords.flatMap((word) => {
          const field = subscribers[word];
          return resource && field !== undefined ? unstated(fieldVocabulary(resource), field, below(subscribers.at, word)) : [];
        });
      }),
  ),
  error(
    'events/subscriber-field-type',
    'A field of subscribers is of a type that cannot hold what is kept there.',
    'Let `url` and `secret` be text, `events` a list of text, and `enabled` true or false.',
    (subject) =>
      eachSubscribers(subject, (subscribers) => {
        const resource = subject.resources.get(subscribers.resource);
        return subscriberWords.flatMap((word) => {
          const field = fieldOf(resource, subscribers[word] ?? '');
          const type = field && onlyType(statedValue(field.shape) ?? {});
          if (!field || !type || type === subscriberTypes[word]) return [];
          const message = `\`${field.name}\` is of type ${type}, and \`${word}\` is of type ${subscriberTypes[word]}.`;
          return [{ message, at: below(subscribers.at, word), also: [{ message: 'The field stands here.', at: field.at }] }];
        });
      }),
  ),
  error(
    'events/subscriber-field-missing',
    'Subscribers lack a field without which nothing can be sent to them.',
    'Name the field that holds the `url`, and for signatures the `secret`.',
    (subject) =>
      eachSubscribers(subject, (subscribers, { signature }) => {
        const has = (word: string): boolean => valueAt(subject.spec.document.tree, below(subscribers.at, word)) !== undefined;
        const signs = signature !== undefined && signatureKind(signature)?.usesSecret(signature.facts) === true;
        return [
          ...(has('url')
            ? []
            : [{ message: 'Nothing says where to send: there is no `url`.', remedy: 'Add `url: FIELD`.', at: subscribers.at }]),
          ...(!signs || has('secret')
            ? []
            : [
                {
                  message: 'Nothing is there to sign with: there is no `secret`.',
                  remedy: 'Add `secret: FIELD`.',
                  at: subscribers.at,
                },
              ]),
        ];
      }),
  ),
  warning(
    'events/retry-of-nothing',
    'The list of waits between tries is empty.',
    'Write the waits, or `retry: none`.',
    (subject) =>
      eachPush(subject, ({ at }) => {
        const retry = valueAt(subject.spec.document.tree, below(at, 'retry'));
        return Array.isArray(retry) && retry.length === 0
          ? [{ message: 'Nothing is said about tries.', at: below(at, 'retry') }]
          : [];
      }),
  ),
  error(
    'events/duration',
    'A wait, a time-out or a time of keeping is no duration.',
    'Write a number and a unit: `5s`, `30m`, `24h`.',
    (subject) => {
      const pull = pullOf(subject.spec.events);
      return [
        ...eachPush(subject, ({ at }) => {
          const retry = below(at, 'retry');
          const list = valueAt(subject.spec.document.tree, retry);
          const waits = Array.isArray(list)
            ? list.map((_, index) => below(retry, index))
            : list === 'none' || list === 'any'
              ? []
              : [retry];
          return [
            ...[...waits, below(at, 'timeout')].flatMap((place) => notADuration(subject, place)),
            ...notADuration(subject, below(at, 'disable_after'), 'or none'),
          ];
        }),
        ...(pull ? notADuration(subject, below(pull.at, 'keep')) : []),
      ];
    },
  ),
  error(
    'events/signature-template',
    'The template of a signature has a word that there is not, or signs nothing.',
    'Words: `{timestamp}`, `{id}`, `{body}`, and in `value` `{hmac-sha256:hex}` or `{hmac-sha256:base64}`.',
    (subject) =>
      eachPush(subject, ({ signature }) => {
        const problems = signature && signatureKind(signature)?.problems(signature.facts);
        return problems ? problemsOf(problems, signature.at, 'events/signature-template') : [];
      }),
  ),
  error(
    'events/stream-path',
    'The path of the stream is not a path that is read with GET.',
    'Write `path: GET /events`.',
    ({ spec }) => {
      const pull = pullOf(spec.events);
      if (!pull || typeof valueAt(spec.document.tree, below(pull.at, 'path')) !== 'string') return [];
      return problemsOf(pullKind(pull.word).problems(pull), pull.at, 'events/stream-path');
    },
  ),
];

const subscriberWords = ['url', 'secret', 'events', 'enabled'] as const;
const subscriberTypes = { url: 'string', secret: 'string', events: 'array', enabled: 'boolean' } as const;

function eachPush({ spec }: Subject, find: (push: Push) => readonly Wrong[]): Wrong[] {
  const push = statedValue(spec.events.delivery)?.push;
  return push ? [...find(push)] : [];
}

function eachSubscribers(
  subject: Subject,
  find: (subscribers: NonNullable<Push['subscribers']>, push: Push) => readonly Wrong[],
): Wrong[] {
  return eachPush(subject, (push) => {
    const { subscribers } = push;
    const written = subscribers && valueAt(subject.spec.document.tree, subscribers.at);
    return subscribers && isMap(written) && written.resource !== undefined ? find(subscribers, push) : [];
  });
}
