/** What the forms of several parts are made of: how a fact stands, and the acts that follow a change. */

import { type Static, type TSchema, Type } from 'typebox';

/** `!open "the question"` in its JSON form. */
export const OpenForm = Type.Object(
  { $open: Type.String({ description: 'The question that has to be answered first; may be empty.' }) },
  { additionalProperties: false, description: 'Open: not decided, or not known. Written `!open "the question"` in YAML.' },
);
/** `!none` in its JSON form. */
export const NoneForm = Type.Object(
  { $none: Type.Literal(true) },
  { additionalProperties: false, description: 'None: the interface promises that there is none of this.' },
);
/** `!any` in its JSON form. */
export const AnyForm = Type.Object(
  { $any: Type.Literal(true) },
  { additionalProperties: false, description: 'Any: left to the implementation on purpose.' },
);

/** Refers to a form that stands once under `$defs`. */
export function ref<T>(name: string) {
  return Type.Unsafe<T>({ $ref: `#/$defs/${name}` });
}

const standings = [
  ref<Static<typeof OpenForm>>('open'),
  ref<Static<typeof NoneForm>>('none'),
  ref<Static<typeof AnyForm>>('any'),
] as const;

/** A map, a list or a rule, where the bare words `none` and `any` are standings too. */
export function fact<T extends TSchema>(form: T, description?: string) {
  return Type.Union([form, Type.Literal('none'), Type.Literal('any'), ...standings], described(description));
}

/** A value, where a standing needs its tag: `none` is a word like any other. */
export function value<T extends TSchema>(form: T, description?: string) {
  return Type.Union([form, ...standings], described(description));
}

/** One word or a list of them. */
export const Words = Type.Union([Type.String(), Type.Array(Type.String())]);

/** A map from the author's own words. */
export function namedForm<T extends TSchema>(form: T, description?: string) {
  return Type.Record(Type.String(), form, described(description));
}

/** A map from the author's own words that may say, by `others`, that it is not the whole. */
export function listing<T extends TSchema>(form: T, extra: Record<string, TSchema> = {}) {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    properties: { ...extra, others: ref('others') },
    additionalProperties: form,
  });
}

/** What `others` may be: left to the implementation, or not yet written down. */
export const OthersForm = Type.Unsafe<unknown>({
  anyOf: [{ const: 'any' }, { $ref: '#/$defs/open' }, { $ref: '#/$defs/any' }],
  description: 'Says that this list is not the whole: !open "190 more", or any.',
});

/** A map of the given keys and no others, each of them optional. */
export function keys<T extends Record<string, TSchema>>(properties: T, description?: string) {
  return Type.Partial(Type.Object(properties, { additionalProperties: false }), {
    additionalProperties: false,
    ...described(description),
  });
}

/** A form with a value of it, which whoever wrote something else there is shown. */
export function exampled<T extends TSchema>(form: T, example: Static<T>): T {
  return { ...form, examples: [example] };
}

/** A CEL expression. */
export function cel(description: string) {
  return Type.String({ description: `CEL: ${description}` });
}

/** Values that are made: each by an expression, or a map or a list of such. */
export const MadeForm = Type.Unsafe<unknown>({
  anyOf: [
    cel('the value of this field'),
    { type: 'number' },
    { type: 'boolean' },
    { type: 'object', additionalProperties: { $ref: '#/$defs/made' } },
    { type: 'array', items: { $ref: '#/$defs/made' } },
  ],
});

function described(description: string | undefined) {
  return description === undefined ? {} : { description };
}

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
