import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { isToken } from '../../kinds/http-token.ts';
import type { Webhook } from '../../parts/events.ts';
import { statedValue } from '../../parts/fact.ts';
import { notADuration } from '../durations.ts';
import { fieldOf, fieldsOf, unstated } from '../names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../rule.ts';
import { onlyType } from '../shapes/json-types.ts';

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
          return resource && field !== undefined ? unstated(fieldsOf(resource), field, below(subscribers.at, word)) : [];
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
        const signs = signature !== undefined && (signature === 'standard-webhooks' || /\{hmac/.test(signature.value));
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
      eachWebhook(subject, ({ at }) => {
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
      const stream = statedValue(subject.spec.events.delivery)?.stream;
      return [
        ...eachWebhook(subject, ({ at }) => {
          const retry = below(at, 'retry');
          const list = valueAt(subject.spec.document.tree, retry);
          const waits = Array.isArray(list)
            ? list.map((_, index) => below(retry, index))
            : list === 'none' || list === 'any'
              ? []
              : [retry];
          return [...waits, below(at, 'timeout'), below(at, 'disable_after')].flatMap((place) => notADuration(subject, place));
        }),
        ...(stream ? notADuration(subject, below(stream.at, 'keep')) : []),
      ];
    },
  ),
  error(
    'events/signature-template',
    'The template of a signature has a word that there is not, or signs nothing.',
    'Words: `{timestamp}`, `{id}`, `{body}`, and in `value` `{hmac-sha256:hex}` or `{hmac-sha256:base64}`.',
    (subject) => eachWebhook(subject, wrongSignature),
  ),
  error(
    'events/stream-path',
    'The path of the stream is not a path that is read with GET.',
    'Write `path: GET /events`.',
    ({ spec }) => {
      const stream = statedValue(spec.events.delivery)?.stream;
      const at = stream && below(stream.at, 'path');
      if (!stream || !at || typeof valueAt(spec.document.tree, at) !== 'string') return [];
      return stream.method === 'GET' && stream.path.startsWith('/')
        ? []
        : [{ message: `\`${stream.method} ${stream.path}\` cannot be streamed.`, at }];
    },
  ),
];

const subscriberWords = ['url', 'secret', 'events', 'enabled'] as const;
const subscriberTypes = { url: 'string', secret: 'string', events: 'array', enabled: 'boolean' } as const;

function eachWebhook({ spec }: Subject, find: (webhook: Webhook) => readonly Wrong[]): Wrong[] {
  const webhook = statedValue(spec.events.delivery)?.webhook;
  return webhook ? [...find(webhook)] : [];
}

function eachSubscribers(
  subject: Subject,
  find: (subscribers: NonNullable<Webhook['subscribers']>, webhook: Webhook) => readonly Wrong[],
): Wrong[] {
  return eachWebhook(subject, (webhook) => {
    const { subscribers } = webhook;
    const written = subscribers && valueAt(subject.spec.document.tree, subscribers.at);
    return subscribers && isMap(written) && written.resource !== undefined ? find(subscribers, webhook) : [];
  });
}

const hmac = /^hmac-sha(?:1|256|512):(?:hex|base64)$/;

function wrongSignature({ at, signature }: Webhook): Wrong[] {
  if (!signature || signature === 'standard-webhooks') return [];
  const strange = (['value', 'signs'] as const).flatMap((part) =>
    [...signature[part].matchAll(/\{([^{}]*)\}/g)]
      .map(([, word = '']) => word)
      .filter((word) => !['timestamp', 'id', 'body'].includes(word) && !(part === 'value' && hmac.test(word)))
      .map((word) => ({ message: `\`{${word}}\` is no word of a signature.`, at: below(below(at, 'signature'), part) })),
  );
  if (strange.length > 0) return strange;
  const place = below(at, 'signature');
  return [
    ...(/\{hmac/.test(signature.value)
      ? []
      : [{ message: 'The value has no HMAC in it, so nothing is signed.', at: below(place, 'value') }]),
    ...(signature.signs.includes('{body}')
      ? []
      : [{ message: 'The body is not among what is signed.', at: below(place, 'signs') }]),
    ...(isToken(signature.header) ? [] : [{ message: `\`${signature.header}\` is no header name.`, at: below(place, 'header') }]),
  ];
}
