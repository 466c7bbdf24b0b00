/** The forms of resources and of the machines that their rows go through. */

import { Type } from 'typebox';
import { fieldWordForms, schemaWords } from './shape.ts';
import { cel, exampled, fact, followedForm, keys, listing, namedForm, thenForm, value, Words } from './standing.ts';

const FieldForm = value(
  Type.Union([
    Type.String({ description: 'A JSON type or a resource; a trailing ? makes it nullable.' }),
    Type.Array(Type.Unsafe<unknown>({ $ref: '#/$defs/shape' }), { minItems: 1, maxItems: 1 }),
    keys({ ...schemaWords, ...fieldWordForms }),
  ]),
);

const ResourceForm = exampled(
  keys({
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
  }),
  { fields: { id: 'string', name: 'string' } },
);

export const ResourcesForm = fact(
  listing(value(ResourceForm)),
  'Part 2: resources and their fields. `others` says that the list is not the whole.',
);

const TargetsForm = Type.Union([
  Type.String(),
  Type.Array(
    Type.Union([
      Type.String(),
      keys({
        if: cel('when this target is taken'),
        state: Type.String(),
        answer: value(Type.String(), 'The error that the change is answered with, though it is kept.'),
      }),
    ]),
  ),
]);

const TransitionForm = Type.Union([
  Type.String({ description: 'draft -> bought' }),
  keys({
    from: value(Words, 'The states it leaves; "*" = every state.'),
    to: value(TargetsForm, 'The state it enters, or a list of which the first that holds is taken.'),
    if: Type.Union([cel('when it may happen'), keys({ if: cel('when it may happen'), else: Type.String() })]),
    else: Type.String({ description: 'The error of a transition from a wrong state.' }),
    after: value(Type.String(), 'Fired by the clock so long after the state was entered.'),
    at: cel('the time at which the clock fires it'),
    on: value(Words, 'The updates that are this transition where they send its state: update issue.'),
    by: Type.Literal('service', { description: 'Fired by the service itself, never by a caller.' }),
    ...thenForm,
  }),
]);

const MachineForm = exampled(
  keys({
    field: value(Type.String(), 'The field that holds the state; not where the key says it: issue.locked.'),
    initial: value(TargetsForm, 'The state of what is created.'),
    states: fact(Words, 'All states.'),
    transitions: fact(listing(value(TransitionForm)), 'What leads from state to state.'),
  }),
  { field: 'status', transitions: { buy: 'draft -> bought' } },
);

export const StatesForm = fact(
  listing(fact(MachineForm)),
  'Part 3: states and transitions, by resource, or by resource and field where one has several machines: issue.locked.',
);
