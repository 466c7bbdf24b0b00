import { Type } from 'typebox';
import { fieldWordForms, schemaWords } from './shape.ts';
import { cel, fact, followedForm, keys, listing, namedForm, thenForm, value, Words } from './standing.ts';

const FieldForm = value(
  Type.Union([
    Type.String({ description: 'A JSON type or a resource; a trailing ? makes it nullable.' }),
    Type.Array(Type.Unsafe<unknown>({ $ref: '#/$defs/shape' }), { minItems: 1, maxItems: 1 }),
    keys({ ...schemaWords, ...fieldWordForms }),
  ]),
);

const ResourceForm = keys({
  identifier: fact(
    Type.Union([
      Type.String(),
      keys({
        field: value(Type.String(), 'The field that holds it.'),
        generate: value(Type.String(), 'uuid, uuidv7, ulid, integer, client, or a template such as pcl_{ulid}.'),
      }),
    ]),
    'What tells one from another; none = a value, not a thing of its own.',
  ),
  fields: fact(namedForm(FieldForm), 'Its fields.'),
  shape: value(
    Type.Unsafe<unknown>({ $ref: '#/$defs/shape' }),
    'What a value is, in place of fields: a union, a list, a word with bounds.',
  ),
  required: fact(Words, 'The fields that answers always carry; this list states the flag of every field.'),
  unique: fact(
    Type.Array(Type.Union([Words, keys({ fields: Words, while: cel('over next: when the rule holds') })])),
    'Fields of which no two may agree.',
  ),
  rules: namedForm(
    keys({
      if: cel('over next: true where the rule is broken'),
      field: value(Type.String(), 'The field at which that is told.'),
      message: value(Type.String(), 'What is expected instead, for people.'),
    }),
  ),
  one_of: value(Type.Array(Words), 'Lists of fields of which exactly one is there.'),
  additionalProperties: Type.Boolean({ description: 'Whether fields that are not stated pass.' }),
  rows: value(
    Type.Array(Type.Record(Type.String(), Type.Unknown())),
    'Rows that are there from the start, each with its identifier: made when a service starts, where it is not there.',
  ),
  created: followedForm('What follows where one is made.'),
  updated: followedForm('What follows where one is changed, other than by a transition.'),
  deleted: keys(
    {
      ...thenForm,
      keep: value(Type.String(), 'How long one is kept, such as 30d, or forever.'),
      read: value(
        Type.Union([Type.Literal(410), namedForm(Type.Unsafe<unknown>({ $ref: '#/$defs/answer' }))]),
        'What reading one answers: 410, that it is gone; or an answer of success, by status.',
      ),
      restore: value(Type.String(), 'The transition that brings one back.'),
    },
    'What follows where one is deleted, and whether it is kept.',
  ),
  deprecated: fieldWordForms.deprecated,
});

export const ResourcesForm = fact(
  listing(value(ResourceForm)),
  'Part 2: resources and their fields. `others` says that the list is not the whole.',
);
