import { Type } from 'typebox';
import { shapeRef } from './shape.ts';
import { cel, fact, keys, listing, namedForm, ref, value, Words } from './standing.ts';

const text = Type.String();
const DataForm = Type.Union([namedForm(ref<unknown>('made')), cel('the whole')]);
/** What may stand around a payload. */
export const EnvelopeForm = fact(ref<unknown>('envelope'), 'What stands around a payload; none = it is sent as it is.');

/** What may stand under the word of a way in which events are sent. */
export const PushForm = keys({
  signature: value(ref<unknown>('signature'), 'How deliveries are signed: a word, or an own template.'),
  headers: namedForm(cel('over event')),
  retry: fact(Words, 'The waits between tries: [5s, 5m, 30m].'),
  timeout: value(text),
  disable_after: value(text, 'Of nothing but failures.'),
  order: Type.Union([Type.Literal('any'), Type.Literal('resource')]),
  subscribers: fact(
    keys({ resource: text, url: text, secret: text, events: text, enabled: text }),
    'The resource that holds the subscribers.',
  ),
});

/** What may stand under the word of a way in which events are listened to. */
export const PullForm = keys({
  path: value(Type.String({ description: 'GET /events' })),
  format: value(ref<string>('streamFormat')),
  keep: value(text),
});

const KindForm = keys({
  on: fact(Words, 'The operations that emit it.'),
  if: cel('when it is emitted'),
  payload: fact(Type.Unsafe<unknown>({ ...shapeRef }), 'The shape of what it carries.'),
  data: DataForm,
  to: cel('over subscriber and event: who receives it'),
});

export const EventsForm = fact(
  keys({
    kinds: fact(listing(value(KindForm)), 'The kinds of event.'),
    delivery: fact(ref<unknown>('delivery'), 'How they reach whoever listens.'),
    envelope: EnvelopeForm,
  }),
  'Part 6: events.',
);
