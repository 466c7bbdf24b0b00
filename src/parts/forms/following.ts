import { type Static, Type } from 'typebox';
import { cel, keys, namedForm, ref } from './standing.ts';

const ActForm = keys({
  create: Type.String({ description: 'The resource of which one is made.' }),
  do: Type.String({ description: 'The transition that is fired, with its resource: confirm booking.' }),
  update: Type.String({ description: 'The resource of which one is changed.' }),
  delete: Type.String({ description: 'The resource of which one is deleted.' }),
  each: Type.String({
    description: 'CEL: a list, for each `item` of which it is done; or `seat.order`: each row of seat whose order is this one.',
  }),
  to: cel('the identifier of the row that it is done to; nothing where there is none'),
  if: cel('when it is done'),
  set: namedForm(cel('what it gives to the row'), 'What it gives to the row, by field.'),
  else: Type.Literal('skip', { description: 'Where it is refused it is passed over, and the rest goes on.' }),
});

/** What the service does because something changed. */
export const FollowingForm = Type.Union([ActForm, Type.Array(ActForm, { minItems: 1 })], {
  description: 'What the service does because of it, in order and in the same transaction: all of it, or nothing at all.',
});

const word = 'then';
/** The same, under the word for it. */
export const thenForm = { [word]: ref<Static<typeof FollowingForm>>('following') };

/** What follows from a change that is no transition. */
export function followedForm(description: string) {
  return keys(thenForm, description);
}
