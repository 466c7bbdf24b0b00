import { Type } from 'typebox';
import { shapeRef } from './shape.ts';
import { cel, exampled, fact, keys, listing, namedForm, ref, value, Words } from './standing.ts';

const text = Type.String();
const DataForm = Type.Union([namedForm(ref<unknown>('made')), cel('the whole')]);
/** What may stand around a payload. */
export const EnvelopeForm = fact(ref<unknown>('envelope'), 'What stands around a payload; none = it is sent as it is.');

/** What may stand under the word of a way in which events are sent. */
export const PushForm = keys({
  signature: value(ref<unknown>('signature'), 'How deliveries are signed: a word, or an own template.'),
  confirm: value(
    ref<unknown>('handshake'),
    'How an address is asked before anything is delivered to it: a word, or a request of its own.',
  ),
  headers: namedForm(cel('over event')),
  retry: fact(Words, 'The waits between tries: [5s, 5m, 30m].'),
  timeout: value(text),
  disable_after: value(text, 'Of nothing but failures.'),
  order: Type.Union([Type.Literal('any'), Type.Literal('resource')]),
  subscribers: fact(
    keys({
      resource: text,
      url: text,
      secret: text,
      events: text,
      confirmed: Type.String({ description: 'A field that says whether its address was asked and has confirmed.' }),
      enabled: Type.String({ description: 'A field, or CEL over subscriber: whether it is told of anything.' }),
      if: cel('over subscriber and event: whether it is told of this one'),
    }),
    'The resource that holds the subscribers.',
  ),
});

/** What may stand under the word of a way in which events are listened to. */
export const PullForm = keys({
  path: value(Type.String({ description: 'GET /events' })),
  format: value(ref<string>('streamFormat')),
  keep: value(text),
});

/** What may stand under `broker`, without the words that belong to its kinds. */
export const BrokerForm = keys({ kind: ref<string>('brokerKind') });

const KindForm = exampled(
  keys({
    name: Type.String({ description: 'What it is called where it is told; its key unless stated. Several kinds may share one.' }),
    action: Type.String({ description: 'What tells it from others of its name: closed.' }),
    on: fact(Words, 'The operations that emit it.'),
    of: Type.String({ description: 'The resource of whose rows the clock tells it.' }),
    at: cel('over resource: the time at which it is told of a row; null = never'),
    each: cel('a list, for each `item` of which one is emitted'),
    if: cel('when it is emitted'),
    payload: fact(Type.Unsafe<unknown>({ ...shapeRef }), 'The shape of what it carries.'),
    data: DataForm,
    to: cel('over subscriber and event: who receives it'),
  }),
  { on: 'create parcel' },
);

export const EventsForm = fact(
  keys({
    kinds: fact(listing(value(KindForm)), 'The kinds of event.'),
    delivery: fact(ref<unknown>('delivery'), 'How they reach whoever listens.'),
    envelope: EnvelopeForm,
    log: fact(
      keys({
        resource: text,
        keep: value(Type.String({ description: 'How long a row is kept: 30d, or forever.' })),
        set: namedForm(ref<unknown>('made')),
      }),
      'The resource of which every event is a row too.',
    ),
  }),
  'Part 6: events.',
);
