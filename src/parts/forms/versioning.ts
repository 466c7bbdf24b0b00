import { Type } from 'typebox';
import { shapeRef } from './shape.ts';
import { cel, fact, keys, listing, namedForm, value } from './standing.ts';

const text = Type.String();

const VersionForm = keys({
  current: Type.Boolean({ description: 'Whether it is the newest.' }),
  deprecated: fact(Type.Union([text, Type.Boolean()]), 'The date from which it is deprecated.'),
  sunset: value(
    Type.Union([
      text,
      keys({
        on: value(text, 'The date that is announced.'),
        // biome-ignore lint/suspicious/noThenProperty: a form of a document's own word.
        then: Type.Literal('serves', { description: 'It is announced, and served all the same.' }),
      }),
    ]),
    'The date from which it is gone.',
  ),
  alternative: value(text),
  link: value(text),
});

const ChangeForm = keys({
  rename: Type.String({ description: 'parcel.weight' }),
  to: text,
  add: text,
  default: Type.Unknown(),
  remove: text,
  was: Type.Unsafe<unknown>({ ...shapeRef }),
  down: cel('over value: the older version’s value'),
  up: cel('over value: the newer version’s value'),
  map: text,
  monotone: Type.Boolean(),
  enum: text,
  values: namedForm(Type.Unknown()),
  endpoint: text,
  added: Type.Boolean(),
  removed: Type.Boolean(),
});

export const VersioningForm = fact(
  keys({
    versions: fact(listing(value(VersionForm)), 'The versions, oldest first.'),
    select: fact(
      keys({
        header: text,
        path: text,
        query: text,
        default: Type.Union(['oldest', 'current', 'pinned', 'none'].map((word) => Type.Literal(word))),
      }),
      'How a request chooses one.',
    ),
    guarantee: value(
      Type.Union([Type.Literal('nothing'), Type.Literal('additive'), Type.Literal('anything')]),
      'What may change inside a version.',
    ),
    changes: fact(namedForm(fact(Type.Array(ChangeForm))), 'What each version changed.'),
  }),
  'Part 9: versions.',
);
