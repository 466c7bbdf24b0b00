import { Type } from 'typebox';
import { cel, fact, keys, listing, thenForm, value, Words } from './standing.ts';

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

const MachineForm = keys({
  field: value(Type.String(), 'The field that holds the state; not where the key says it: issue.locked.'),
  initial: value(TargetsForm, 'The state of what is created.'),
  states: fact(Words, 'All states.'),
  transitions: fact(listing(value(TransitionForm)), 'What leads from state to state.'),
});

export const StatesForm = fact(
  listing(fact(MachineForm)),
  'Part 3: states and transitions, by resource, or by resource and field where one has several machines: issue.locked.',
);
