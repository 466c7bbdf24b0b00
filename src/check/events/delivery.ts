import type { JsonMap } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { pullKind } from '../../kinds/deliveries/all.ts';
import { brokerKind, brokerKinds } from '../../kinds/deliveries/all-brokers.ts';
import { signatureKind } from '../../kinds/signatures/all.ts';
import { type Broker, type Push, pullOf } from '../../parts/events.ts';
import { statedValue } from '../../parts/fact.ts';
import { shapeAlong } from '../../parts/uses/states.ts';
import { notADuration } from '../subject/data.ts';
import { onlyType } from '../subject/json-types.ts';
import { fieldOf, fieldVocabulary, unstated } from '../subject/names.ts';
import { error, problemsOf, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

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
          if (!resource || field === undefined) return [];
          const [first = '', ...inner] = field.split('.');
          const unknown = unstated(fieldVocabulary(resource), first, below(subscribers.at, word));
          if (unknown.length > 0 || inner.length === 0 || pathShape(subject, resource.name, field)) return unknown;
          return [{ message: `\`${field}\` leads to no field.`, at: below(subscribers.at, word) }];
        });
      }),
  ),
  error(
    'events/subscriber-field-type',
    'A field of subscribers is of a type that cannot hold what is kept there.',
    'Let `url` and `secret` be text, `events` a list of text, and `enabled` and `confirmed` true or false.',
    (subject) =>
      eachSubscribers(subject, (subscribers) => {
        const resource = subject.resources.get(subscribers.resource);
        return subscriberWords.flatMap((word) => {
          const path = subscribers[word];
          const field = fieldOf(resource, path?.split('.')[0] ?? '');
          const shape = resource && path !== undefined && pathShape(subject, resource.name, path);
          const type = shape && onlyType(shape);
          if (!field || !type || type === subscriberTypes[word]) return [];
          const message = `\`${path}\` is of type ${type}, and \`${word}\` is of type ${subscriberTypes[word]}.`;
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

/** The shape at the end of a path of fields; nothing where it leads to none. */
function pathShape({ spec }: Subject, resource: string, path: string): JsonMap | undefined {
  return shapeAlong(spec, { row: { shape: { resource } } }, `row.${path}`);
}

const subscriberWords = ['url', 'secret', 'events', 'enabled', 'confirmed'] as const;
const subscriberTypes = { url: 'string', secret: 'string', events: 'array', enabled: 'boolean', confirmed: 'boolean' } as const;

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

/** The broker that events are published to. */
export const brokerRules: readonly Rule[] = [
  error(
    'events/broker-kind',
    'A broker is stated without its kind, or with words of another kind.',
    `Write \`kind: ${brokerKinds[0].word}\`, and beside it the words of that kind alone.`,
    (subject) =>
      eachBroker(subject, ({ word, at, own }) => {
        const kind = brokerKind(word);
        const written = valueAt(subject.spec.document.tree, at);
        if (!kind) return isMap(written) && written.kind === undefined ? [{ message: 'There is no `kind`.', at }] : [];
        return Object.keys(own)
          .filter((name) => kind.members[name] === undefined)
          .map((name) => ({ message: `\`${name}\` is no word of \`${kind.word}\`.`, at: below(at, name), onKey: true }));
      }),
  ),
  error(
    'events/broker-member',
    'A broker lacks what its kind needs, or that is not of its form.',
    'Write what its kind asks for.',
    (subject) =>
      eachBroker(subject, (broker) =>
        problemsOf(brokerKind(broker.word)?.problems(broker) ?? [], broker.at, 'events/broker-member'),
      ),
  ),
];

function eachBroker({ spec }: Subject, find: (broker: Broker) => readonly Wrong[]): Wrong[] {
  const broker = statedValue(spec.events.delivery)?.broker;
  return broker ? [...find(broker)] : [];
}
